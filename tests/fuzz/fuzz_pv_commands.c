/* SPDX-License-Identifier: MIT */
/* Commands and registers of PVRDMA that no correct driver writes.
 *
 * They come from h1 in the lab of hostile_pvrdma.h, which the first byte of an input selects.  The
 * rest is a list of actions: commands whose fields are handles, addresses in the zone and borders;
 * page directories for them; writes of registers, and time.
 *
 * Checked: what hostile_pvrdma.h lists.  A refused command changes nothing that is counted; a
 * successful one makes or destroys one object, or none.
 */
#include <string.h>

#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/structs.h"
#include "hostile_pvrdma.h"

#define DEEDS_MAX   48u
#define COMMANDS    22u /* one more than there are */
#define BODY_FIELDS 14u

enum deed { COMMAND, DIRECTORY, REGISTER, POST, WAIT, DEED_COUNT };

/* The number of objects of the device. */
static uint32_t objects_of(const struct pv_lab *h)
{
    const struct hca *c = &h->d->nic.hca;
    uint32_t ucs = 0;

    for (uint32_t i = 0; i < PV_UAR_PAGES; i++)
        ucs += h->d->ucs[i].used;
    return c->pds.used + c->mkeys.used + hca_n_qps(c) + c->cqs.used + c->srqs.used + ucs;
}

/* Fields of 4 bytes, or two of them together for an address. */
static void command(const struct pv_lab *h, struct input *in)
{
    const uint32_t cmd = input_u8(in) % COMMANDS, before = objects_of(h);
    uint8_t body[PV_REQUEST_BYTES_MAX - PV_HEADER_BYTES] = {0};
    const uint64_t refused = h->d->count.commands_err;
    uint32_t after;

    for (uint32_t i = 0; i < BODY_FIELDS && in->n > 0; i++) {
        const uint8_t where = input_u8(in);
        const size_t at = (size_t)(where & 0x3f) * 4 % (sizeof(body) - 8);

        if (where & 0x80)
            st_le64(body + at, pv_lab_number(h, in));
        else
            st_le32(body + at, (uint32_t)pv_lab_number(h, in));
        if (where & 0x40)
            break;
    }
    pv_lab_command(h, cmd, body, sizeof(body));
    after = objects_of(h);
    if (h->d->count.commands_err > refused)
        FUZZ_CHECK(after == before);
    else if (h->d->phase == PV_ACTIVE)
        FUZZ_CHECK(after + 1 >= before && after <= before + 1);
}

/* Writes entries of a directory or a table into the zone. */
static void entries(const struct pv_lab *h, struct input *in)
{
    const uint64_t page = h->zone + (uint64_t)(input_u8(in) % PV_ZONE_PAGES) * RAM_PAGE_BYTES;
    const uint32_t n = input_u8(in) % 12;
    uint8_t le[8];

    for (uint32_t i = 0; i < n; i++) {
        st_le64(le, pv_lab_number(h, in));
        pv_lab_poke(h, page + 8 * (uint64_t)i, le, sizeof(le));
    }
}

static void deed(const struct pv_lab *h, struct input *in)
{
    switch ((enum deed)(input_u8(in) % DEED_COUNT)) {
    case COMMAND:
        command(h, in);
        break;
    case DIRECTORY:
        entries(h, in);
        break;
    case REGISTER:
        pv_lab_out(h, (enum pv_reg)(input_u8(in) % 16 * 4), (uint32_t)pv_lab_number(h, in));
        break;
    case POST:
        pv_lab_post(h, in);
        break;
    case WAIT:
        pv_lab_wait(h, in);
        break;
    case DEED_COUNT:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct input in = {data, n};
    const struct pv_lab *h = pv_lab_begin(input_u8(&in));

    for (unsigned i = 0; i < DEEDS_MAX && in.n > 0; i++)
        deed(h, &in);
    pv_lab_end(h);
    return 0;
}
