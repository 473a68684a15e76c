/* SPDX-License-Identifier: MIT */
/* Rings of PVRDMA that no correct driver has: any index, any bytes of a request, any doorbell, at
 * any time, and changed directories of rings that are in use.
 *
 * They are those of h1 in the lab of hostile_pvrdma.h, which the first byte of an input selects.
 * Checked: what hostile_pvrdma.h lists.
 */
#include "emu/facts/pvrdma/structs.h"
#include "hostile_pvrdma.h"

#define DEEDS_MAX 64u
#define RINGS     8u

enum deed { INDEX, SLOT, DOORBELL, POST, WAIT, DEED_COUNT };

/* One of the rings that h1 has; NULL: it is not there any more. */
static const struct pv_ring *ring_of(const struct pv_lab *h, struct input *in)
{
    const struct pvrdma *d = h->d;
    const uint32_t which = input_u8(in) % RINGS, rc = h->ours[0].qpn, ud = h->ours[1].qpn;
    const struct pv_ring *rings[RINGS] = {&d->qps[rc].wq[WQ_SEND].ring,
                                          &d->qps[rc].wq[WQ_RECV].ring,
                                          &d->qps[ud].wq[WQ_SEND].ring,
                                          &d->qps[ud].wq[WQ_RECV].ring,
                                          &d->cqs[1].ring,
                                          &d->cqs[2].ring,
                                          &d->events.ring,
                                          &d->notes.ring};

    return rings[which]->pages ? rings[which] : NULL;
}

/* Writes an index: one of the driver's own, or of the device's. */
static void write_index(const struct pv_lab *h, struct input *in)
{
    const struct pv_ring *r = ring_of(h, in);
    const uint8_t how = input_u8(in);
    uint8_t le[4];

    if (!r)
        return;
    st_le32(le, how & 2 ? r->idx + how / 4 : (uint32_t)pv_lab_number(h, in));
    pv_lab_poke(h, r->pages->gpa[0] + r->state_at + (how & 1 ? PV_RING_HEAD : PV_RING_TAIL), le,
                sizeof(le));
}

/* Writes words into the slot that the device takes next, or one behind it. */
static void write_slot(const struct pv_lab *h, struct input *in)
{
    const struct pv_ring *r = ring_of(h, in);
    const uint8_t how = input_u8(in);
    uint64_t at;

    if (!r)
        return;
    at = (uint64_t)pv_idx_slot(r->idx + how % 4, r->n) * r->slot_bytes;
    at = r->pages->gpa[r->first_page + at / PV_PAGE_BYTES] + at % PV_PAGE_BYTES;
    for (uint32_t i = 0; i < 12 && in->n > 0; i++) {
        const uint8_t where = input_u8(in);
        uint8_t le[8];

        st_le64(le, pv_lab_number(h, in));
        pv_lab_poke(h, at + (where & 0x3fu) * 4 % r->slot_bytes, le, where & 0x80 ? 8 : 4);
        if (where & 0x40)
            return;
    }
}

static void ring_doorbell(const struct pv_lab *h, struct input *in)
{
    static const uint32_t bits[] = {PV_UAR_SEND, PV_UAR_RECV, PV_UAR_ARM_SOL,
                                    PV_UAR_SEND | PV_UAR_RECV};
    const uint8_t how = input_u8(in);
    const uint32_t handle = how & 1 ? h->ours[how / 2 % PV_SERVICES].qpn : input_u8(in);

    pv_lab_doorbell(h, (how >> 2 & 3u) * 4 + (how & 0x80 ? PV_UAR_BYTES : 0),
                    handle | bits[how >> 4 & 3u]);
}

static void deed(const struct pv_lab *h, struct input *in)
{
    switch ((enum deed)(input_u8(in) % DEED_COUNT)) {
    case INDEX:
        write_index(h, in);
        break;
    case SLOT:
        write_slot(h, in);
        break;
    case DOORBELL:
        ring_doorbell(h, in);
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
