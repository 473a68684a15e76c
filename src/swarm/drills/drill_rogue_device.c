/* SPDX-License-Identifier: MIT */
/* The drill of a rogue guest: registers, doorbells, rings and resets of its own device. */
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/regs.h"
#include "rdmalab/inspect.h"
#include "rdmalab/machine.h"
#include "rdmalab/pci.h"
#include "swarm/drills/drill_rogue.h"

#define DOORBELLS   200u
#define QUEUES      80u /* more than the device has */
#define PV_OBJECTS  64u
#define WQE_BYTES   128u /* of a work request that is searched for its SGE */
#define SGE_BYTES   16u
#define SGE_KEY_AT  12u
#define GARBAGE     64u
#define FIRST_VF    8u /* its number among the functions of the machine [decision 0068] */
#define RESET_BIT   0x8000u
#define RDMA_NUMBER 1u /* of the RDMA function of a host [decision 0032] */
#define FLOOD_BYTES 8192u
#define WORK        6u

static bool pci_put(struct drill *d, enum rdl_pci_space space, uint32_t at, uint32_t width,
                    uint64_t v)
{
    const struct rdl_pci_place place = {
        .number = RDMA_NUMBER, .space = space, .offset = at, .width = width};

    return drill_works(d, rdl_pci_write(d->lab, rogue_of(d)->guest.host, &place, v),
                       "a guest can write its registers");
}

bool rogue_doorbells(struct drill *d, const struct rogue_attack *a)
{
    const bool is_pvrdma = rogue_of(d)->guest.device == DEVICE_pvrdma;

    (void)a;
    for (uint32_t i = 0; i < DOORBELLS && !d->wrong; i++) {
        const uint32_t page = drill_below(d, PV_UAR_PAGES), kind = drill_below(d, 3);
        const uint32_t queue = drill_below(d, QUEUES), bits = drill_below(d, 4) << 30;

        if (is_pvrdma)
            (void)pci_put(d, RDL_PCI_BAR2, page * PV_UAR_BYTES + 4 * kind, 0,
                          bits | drill_below(d, PV_OBJECTS));
        else
            (void)pci_put(d, RDL_PCI_BAR0, BAR_NOTIFY + NOTIFY_MULTIPLIER * queue, 2, queue);
    }
    return !d->wrong;
}

bool rogue_beyond_bars(struct drill *d, const struct rogue_attack *a)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rdl_pci_place place = {.number = RDMA_NUMBER,
                                        .space = RDL_PCI_BAR0 + drill_below(d, 3),
                                        .offset = (1u << 24) * (1 + drill_below(d, 64)),
                                        .width = 4};
    uint64_t v;
    const enum rdl_status st = drill_one_in(d, 2) ? rdl_pci_read(d->lab, s->guest.host, &place, &v)
                                                  : rdl_pci_write(d->lab, s->guest.host, &place, 1);

    return drill_expect(d, (uint32_t)st == a->value, "a BAR ends", "%s", rdl_status_name(st));
}

/* --- Rings ------------------------------------------------------------------------------------ */

/* Reads the number at @leaf of the send queue of the rogue's connection. */
static bool sq_number(struct drill *d, const char *leaf, uint32_t i, uint64_t *ret)
{
    const struct rogue_guest *g = &rogue_of(d)->guest;
    char path[RDL_PATH_BYTES], at[64];

    snprintf(at, sizeof(at), leaf, i);
    snprintf(path, sizeof(path), "%s.%s.sq.%s", g->name, g->end.name, at);
    return drill_number(d, path, ret);
}

/* Finds the work request that is posted next. */
static bool next_entry(struct drill *d, uint64_t *ret)
{
    uint64_t slots, bytes, first, tail, at;

    if (rogue_of(d)->guest.device != DEVICE_pvrdma) {
        /* The driver takes the descriptors of an empty ring in their order. */
        return sq_number(d, "driver.avail_idx", 0, &tail) && sq_number(d, "size", 0, &slots) &&
               sq_number(d, "avail[%u]", (uint32_t)((tail - 1) % slots), &at) &&
               sq_number(d, "desc[%u].addr", (uint32_t)at, ret);
    }
    if (!sq_number(d, "slots", 0, &slots) || !sq_number(d, "slot_bytes", 0, &bytes) ||
        !sq_number(d, "first_page", 0, &first) || !sq_number(d, "tail", 0, &tail))
        return false;
    at = (tail - 1) % slots * bytes;
    if (!sq_number(d, "page[%u]", (uint32_t)(first + at / 4096), ret))
        return false;
    *ret += at % 4096;
    return true;
}

/* Writes another key over that of the SGE @sge in the work request at @at. */
static bool rewrite_key(struct drill *d, uint64_t at, const struct rdl_sge *sge)
{
    const rdl_host host = rogue_of(d)->guest.host;
    uint8_t wqe[WQE_BYTES], want[SGE_BYTES], other[4];
    uint32_t i = 0;

    st_le64(want, sge->addr); /* both devices have the same SGEs */
    st_le32(want + 8, sge->length);
    st_le32(want + SGE_KEY_AT, sge->lkey);
    st_le32(other, sge->lkey + 1 + drill_below(d, 1000));
    if (!drill_works(d, rdl_ram_read(d->lab, host, at, wqe, sizeof(wqe)), "RAM can be read"))
        return false;
    while (i + SGE_BYTES < WQE_BYTES && memcmp(wqe + i, want, SGE_BYTES) != 0)
        i++;
    return drill_expect(d, memcmp(wqe + i, want, SGE_BYTES) == 0, "a work request has an SGE",
                        "it has none") &&
           drill_works(d, rdl_ram_write(d->lab, host, at + i + SGE_KEY_AT, other, 4),
                       "RAM can be written");
}

bool rogue_work_rewritten(struct drill *d, const struct rogue_attack *a)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rdl_sge sge = {.addr = s->guest.base, .length = 64, .lkey = s->guest.lkey};
    const struct rdl_send_wr wr = {.opcode = WR_RDMA_WRITE,
                                   .flags = SF_SIGNALED,
                                   .sge = &sge,
                                   .n_sge = 1,
                                   .remote_addr = s->service.base,
                                   .rkey = s->service.rkey};
    uint64_t at;

    s->wants[s->n_wants++] = a->value;
    s->has_failed = true;
    return drill_works(d, rdl_post_send(d->lab, s->guest.end.qp, &wr, true),
                       "a request can be posted") &&
           next_entry(d, &at) && rewrite_key(d, at, &sge) &&
           drill_works(d, rdl_kick(d->lab, s->guest.end.qp, true), "a queue can be kicked");
}

/* Posts messages whose frames take a while. */
static bool begin_work(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rdl_sge sge = {
        .addr = s->guest.base, .length = FLOOD_BYTES, .lkey = s->guest.lkey};

    s->most_bytes = ROGUE_FRAME;
    rogue_uses_service(d);
    for (uint32_t i = 0; i < WORK; i++) {
        const struct rdl_send_wr wr = {.opcode = WR_RDMA_WRITE,
                                       .flags = SF_SIGNALED,
                                       .sge = &sge,
                                       .n_sge = 1,
                                       .remote_addr = s->service.base,
                                       .rkey = s->service.rkey};

        if (!drill_works(d, rdl_post_send(d->lab, s->guest.end.qp, &wr, false),
                         "a request can be posted"))
            return false;
    }
    return true;
}

/* Lets the lab with the rogue go on alone for a while, so that the device is in the middle. */
static bool wait_a_little(struct drill *d)
{
    return drill_run_for(d, drill_below(d, 8000));
}

/* The address of some part of the rogue's send queue that the device reads. */
static bool some_part(struct drill *d, uint64_t *ret)
{
    const bool is_pvrdma = rogue_of(d)->guest.device == DEVICE_pvrdma;
    static const char *const parts[] = {"desc_addr", "avail_addr"};
    uint64_t at;

    if (!sq_number(d, is_pvrdma ? "page[%u]" : parts[drill_below(d, 2)],
                   is_pvrdma ? drill_below(d, 2) : 0, &at))
        return false;
    *ret = at + drill_below(d, 128);
    return true;
}

bool rogue_rings_rewritten(struct drill *d, const struct rogue_attack *a)
{
    struct rogue_drill *s = rogue_of(d);
    uint8_t garbage[GARBAGE];
    uint64_t at;

    (void)a;
    s->guest.is_broken = true;
    if (!begin_work(d))
        return false;
    for (uint32_t i = 0; i < 1 + drill_below(d, 4); i++) {
        for (uint32_t k = 0; k < GARBAGE; k++)
            garbage[k] = (uint8_t)drill_below(d, drill_one_in(d, 2) ? 256 : 4);
        if (!wait_a_little(d) || !some_part(d, &at) ||
            !drill_works(
                d,
                rdl_ram_write(d->lab, s->guest.host, at, garbage, 1 + drill_below(d, GARBAGE - 1)),
                "RAM can be written") ||
            !rogue_doorbells(d, a))
            return false;
    }
    return true;
}

/* The machine resets the function of the rogue. */
static bool reset_function(struct drill *d)
{
    const struct rogue_drill *s = rogue_of(d);
    struct rdl_pci_place place;

    return drill_works(d,
                       rdl_pci_field(d->lab, s->machine, FIRST_VF + s->guest.vf,
                                     PCI_EXPRESS_CONTROL, &place),
                       "a function has PCI Express") &&
           drill_works(d, rdl_pci_write(d->lab, s->machine, &place, RESET_BIT),
                       "a function can be reset");
}

/* A virtual RNIC loses a function that the machine resets, and the next guest gets it.  So the
 * machine resets it in the twin, too.
 */
bool rogue_reset(struct drill *d, const struct rogue_attack *a)
{
    struct rogue_drill *s = rogue_of(d);
    bool right;

    (void)a;
    s->guest.is_broken = true;
    if (!begin_work(d) || !wait_a_little(d))
        return false;
    if (drill_one_in(d, 2))
        return s->guest.device == DEVICE_pvrdma ? pci_put(d, RDL_PCI_BAR1, PVR_CTL, 4, PV_CTL_RESET)
                                                : pci_put(d, RDL_PCI_BAR0, REG_DEVICE_STATUS, 1, 0);
    right = reset_function(d);
    if (right && s->guest.has_vrnic) {
        rogue_switch(d, 1);
        right = reset_function(d);
        rogue_switch(d, 0);
    }
    return right;
}
