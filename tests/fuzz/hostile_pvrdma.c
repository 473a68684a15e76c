/* SPDX-License-Identifier: MIT */
#include "hostile_pvrdma.h"

#include <string.h>

#include "bystanders.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/hca/key.h"
#include "emu/xport/xport.h"
#include "rdmalab/inspect.h"
#include "rdmalab/memory.h"
#include "rdmalab/pci.h"

#define H1_RAM_BYTES  (UINT64_C(16) << 20)
#define MESSAGE_BYTES 3000u
#define REGION_BYTES  16384u
#define GO_ON_TICKS   20000u /* at a time */
#define WAIT_TICKS    10000u
#define GROWTH_MAX    (UINT64_C(16) << 20)
#define OTHERS_MAX    64u /* requests that h2 and h3 take in a tick */

static struct pv_lab beds[PV_LABS];

/* --- The lab ---------------------------------------------------------------------------------- */

static const struct testbed_config small = {
    .mr_bytes = UINT64_C(2) * PV_MESSAGES * MESSAGE_BYTES,
    .max_wr = 16,
    .path_mtu = MTU_1024,
    .timeout = 8,
    .retry_cnt = 3,
    .rnr_retry = 3,
    .min_rnr_timer = 1,
};

static void add_hosts(struct pv_lab *h, unsigned version)
{
    const struct rdl_host_config c = {.name = "h1",
                                      .device = DEVICE_pvrdma,
                                      .version = version,
                                      .ram_bytes = H1_RAM_BYTES,
                                      .max_cq = 6,
                                      .max_qp = 6,
                                      .max_srq = 2,
                                      .limits.max_qp_wr = 64,
                                      .limits.max_cqe = 64};
    rdl_host hosts[BYSTANDER_HOSTS];

    bystanders_add_hosts(h->lab, &c, hosts);
    h->host = hosts[0];
    h->h1 = h->lab->state->hosts[0];
    h->d = pvrdma_of(&h->h1->device);
    h->other[0].host = hosts[1];
    h->other[1].host = hosts[2];
    FUZZ_CHECK(h->d && h->d->phase == PV_ACTIVE);
}

static void connect_services(struct pv_lab *h)
{
    static const uint32_t types[PV_SERVICES] = {QPT_RC, QPT_UD};
    struct testbed_config c = small;

    c.mr_bytes = REGION_BYTES;
    h->ours[0].host = h->host;
    must(testbed_side_memory(h->lab, &h->ours[0], &c));
    h->peer[0].host = h->other[0].host;
    must(testbed_side_memory(h->lab, &h->peer[0], &c));
    for (unsigned i = 0; i < PV_SERVICES; i++) {
        c.type = types[i];
        h->ours[i] = h->ours[0];
        h->peer[i] = h->peer[0];
        must(testbed_side_qp(h->lab, &h->ours[i], &c, false));
        must(testbed_side_qp(h->lab, &h->peer[i], &c, false));
        must(testbed_side_connect(h->lab, &h->ours[i], &h->peer[i], &c, 0));
        must(testbed_side_connect(h->lab, &h->peer[i], &h->ours[i], &c, 1));
        for (uint32_t k = 0; k < 8; k++)
            must(testbed_side_recv(h->lab, &h->peer[i], k, 1024 * (uint64_t)k, 1024));
    }
}

static void connect_others(struct pv_lab *h)
{
    for (unsigned i = 0; i < 2; i++) {
        struct testbed_side *s = &h->other[i];

        if (i == 0) /* h2 has memory for its connections with h1 already */
            *s = h->peer[0];
        else
            must(testbed_side_memory(h->lab, s, &small));
        must(testbed_side_qp(h->lab, s, &small, false));
    }
    must(testbed_side_connect(h->lab, &h->other[0], &h->other[1], &small, 0));
    must(testbed_side_connect(h->lab, &h->other[1], &h->other[0], &small, 1));
    for (unsigned i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < PV_MESSAGES; k++) {
            must(testbed_side_recv(h->lab, &h->other[i], k, 8192, MESSAGE_BYTES));
            must(testbed_side_send(h->lab, &h->other[i], k, 0, MESSAGE_BYTES, SF_SIGNALED));
        }
    }
}

static void make_lab(struct pv_lab *h, unsigned version)
{
    const struct rdl_lab_config c = {.seed = 1, .check_invariants = true};

    must(rdl_lab_new(&c, &h->lab));
    add_hosts(h, version);
    h->zone = space_alloc_dma(&h->h1->guest.space, PV_ZONE_PAGES * RAM_PAGE_BYTES, RAM_PAGE_BYTES);
    FUZZ_CHECK(h->zone != 0);
    connect_services(h);
    must(rdl_run(h->lab, RDL_NEVER, (struct rdl_limits){.ticks = WAIT_TICKS}));
    connect_others(h);
    h->used_bytes = rdl_used_bytes(h->lab);
    must(rdl_checkpoint_save(h->lab, &h->start));
}

struct pv_lab *pv_lab_begin(unsigned which)
{
    struct pv_lab *h = &beds[which % PV_LABS];

    for (unsigned i = 0; !beds[0].lab && i < PV_LABS; i++) {
        const unsigned k = PV_LABS - 1 - i; /* beds[0] comes last: then there are all */

        make_lab(&beds[k], PV_VERSION_LEAST + k);
    }
    rdl_checkpoint_restore(h->lab, h->start);
    return h;
}

/* --- The hands of the driver ------------------------------------------------------------------ */

uint64_t pv_lab_number(const struct pv_lab *h, struct input *in)
{
    const uint8_t how = input_u8(in);

    switch (how % 4) {
    case 0:
        return h->zone + (uint64_t)(how / 4 % PV_ZONE_PAGES) * RAM_PAGE_BYTES;
    case 1:
        return how / 4;
    case 2:
        return UINT64_C(1) << how / 4;
    default:
        return input_u32(in);
    }
}

void pv_lab_poke(const struct pv_lab *h, uint64_t gpa, const void *bytes, size_t n)
{
    const enum rdl_status st = rdl_ram_write(h->lab, h->host, gpa, bytes, n);

    FUZZ_CHECK(st == RDL_OK || st == RDL_ERR_FAULT);
}

static struct rdl_pci_place place_of(uint32_t bar, uint32_t offset)
{
    return (struct rdl_pci_place){.number = pci_number_of(FN_RDMA),
                                  .space = RDL_PCI_BAR0 + (enum rdl_pci_space)bar,
                                  .offset = offset,
                                  .width = 4};
}

void pv_lab_out(const struct pv_lab *h, enum pv_reg reg, uint32_t value)
{
    const struct rdl_pci_place place = place_of(PV_BAR_REGS, (uint32_t)reg);

    must(rdl_pci_write(h->lab, h->host, &place, value));
}

uint32_t pv_lab_in(const struct pv_lab *h, enum pv_reg reg)
{
    const struct rdl_pci_place place = place_of(PV_BAR_REGS, (uint32_t)reg);
    uint64_t v;

    must(rdl_pci_read(h->lab, h->host, &place, &v));
    return (uint32_t)v;
}

void pv_lab_doorbell(const struct pv_lab *h, uint32_t offset, uint32_t value)
{
    const struct rdl_pci_place place =
        place_of(PV_BAR_UAR, offset % (PV_UAR_PAGES * PV_UAR_BYTES) & ~3u);

    must(rdl_pci_write(h->lab, h->host, &place, value));
}

void pv_lab_command(const struct pv_lab *h, uint32_t cmd, const uint8_t *body, size_t n)
{
    const struct pv_request header = {.response = 7, .cmd = cmd};
    struct pv_raw_request raw;

    pv_request_put(&raw, &header);
    if (h->d->command_slot) {
        pv_lab_poke(h, h->d->command_slot, &raw, sizeof(raw));
        pv_lab_poke(h, h->d->command_slot + sizeof(raw), body, n);
    }
    pv_lab_out(h, PVR_REQUEST, 0);
}

void pv_lab_post(const struct pv_lab *h, struct input *in)
{
    const uint8_t how = input_u8(in);
    const struct testbed_side *s = &h->ours[how % PV_SERVICES];
    const uint64_t at = input_u16(in) % (REGION_BYTES / 2);
    const uint32_t n = input_u16(in) & 0x0fff;
    const enum rdl_status any =
        how & 0x80 ? testbed_side_recv(h->lab, s, how, at, n)
                   : testbed_side_send(h->lab, s, how, at, n, how & 0x40 ? SF_SIGNALED : 0);

    (void)any;
}

/* --- Time ------------------------------------------------------------------------------------- */

/* Requests that the device of h1 can take in a tick: the slots of all rings. */
static uint64_t slots_of(const struct pvrdma *d)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i <= d->config.nic.max_qp; i++) {
        for (unsigned w = 0; w < 2; w++)
            n += d->qps[i].wq[w].ring.pages ? d->qps[i].wq[w].ring.n : 0;
    }
    for (uint32_t i = 0; i <= d->config.nic.max_srq; i++)
        n += d->srqs[i].ring.pages ? d->srqs[i].ring.n : 0;
    return n;
}

/* One tick.  Returns false if nothing is due until @until_ns. */
static bool tick(const void *lab, uint64_t until_ns)
{
    const struct pv_lab *h = lab;
    const uint64_t before = rdl_progress(h->lab, RDL_STEP_WQE), at_h1 = slots_of(h->d);

    if (rdl_next_ns(h->lab) > until_ns)
        return false;
    must(rdl_step(h->lab, RDL_STEP_TICK, (struct rdl_limits){.ticks = 1}));
    FUZZ_CHECK(rdl_progress(h->lab, RDL_STEP_WQE) - before <= at_h1 + OTHERS_MAX);
    return true;
}

void pv_lab_wait(const struct pv_lab *h, struct input *in)
{
    static const uint64_t waits[] = {100, 1000, 10000, 1000000};
    const uint64_t until_ns = rdl_now_ns(h->lab) + waits[input_u8(in) % ARRAY_LEN(waits)];

    for (uint32_t i = 0; i < GO_ON_TICKS && tick(h, until_ns); i++)
        continue;
}

/* --- What must have come of it ---------------------------------------------------------------- */

static void check_ring(const struct pv_ring *r)
{
    if (!r->pages)
        return;
    FUZZ_CHECK(r->n > 0 && (r->n & (r->n - 1)) == 0 && r->most <= r->n);
    FUZZ_CHECK(pv_idx_is_valid(r->idx, r->n) && pv_idx_is_valid(r->over, r->n));
}

/* Counts that stand in two places are equal, and an object has a ring if it is there. */
static void check_objects(const struct pvrdma *d)
{
    const struct hca *h = &d->nic.hca;
    uint32_t keys = 0, of_pds = 0, of_ucs = 0;

    for (uint32_t i = 0; i < h->mkeys.len; i++)
        keys += slots_at(&h->mkeys, i) != NULL;
    FUZZ_CHECK(keys == h->mkeys.used && keys == h->n_mr + h->n_mw);
    for (uint32_t i = 0; i < h->pds.len; i++) {
        const struct pd *pd = slots_at(&h->pds, i);

        of_pds += pd ? pd->users : 0;
    }
    FUZZ_CHECK(of_pds == keys + hca_n_qps(h) + h->srqs.used);
    for (uint32_t i = 0; i < PV_UAR_PAGES; i++)
        of_ucs += d->ucs[i].users;
    FUZZ_CHECK(of_ucs == h->pds.used + h->cqs.used);
    for (uint32_t i = 1; i <= d->config.nic.max_qp; i++) {
        const struct qp *qp = hca_qp(h, i);

        FUZZ_CHECK((qp != NULL) == (d->qps[i].wq[WQ_SEND].ring.pages != NULL));
        FUZZ_CHECK(!qp || !xport_invariant(qp));
        check_ring(&d->qps[i].wq[WQ_SEND].ring);
        check_ring(&d->qps[i].wq[WQ_RECV].ring);
    }
    for (uint32_t i = 1; i <= d->config.nic.max_cq; i++) {
        FUZZ_CHECK((hca_cq(h, i) != NULL) == (d->cqs[i].ring.pages != NULL));
        check_ring(&d->cqs[i].ring);
    }
}

static void check_state(const struct pv_lab *h)
{
    FUZZ_CHECK(!rdl_broken_invariant(h->lab));
    FUZZ_CHECK(!eth_port_invariant(&h->h1->port));
    FUZZ_CHECK(rdl_used_bytes(h->lab) <= h->used_bytes + GROWTH_MAX);
    FUZZ_CHECK(rdl_shortage(h->lab) == RDL_SHORT_OF_NOTHING);
    check_objects(h->d);
}

/* Writes a directory of @n pages from page @first of the zone on into the two pages before them. */
static uint64_t directory(const struct pv_lab *h, uint32_t first, uint32_t n)
{
    const uint64_t dir = h->zone + (uint64_t)first * RAM_PAGE_BYTES, table = dir + RAM_PAGE_BYTES;
    static const uint8_t zeros[RAM_PAGE_BYTES];
    uint8_t le[8];

    st_le64(le, table);
    pv_lab_poke(h, dir, le, sizeof(le));
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t page = table + (uint64_t)(i + 1) * RAM_PAGE_BYTES;

        st_le64(le, page);
        pv_lab_poke(h, table + 8 * (uint64_t)i, le, sizeof(le));
        pv_lab_poke(h, page, zeros, sizeof(zeros));
    }
    return dir;
}

static void describe(uint8_t out[16], uint64_t dir)
{
    const struct pv_ring_pages p = {.pages = PV_SHARED_RING_PAGES, .pdir = dir};

    pv_ring_pages_put((struct pv_raw_ring_pages *)out, &p);
}

/* A driver that trusts nothing of what was before: reset, region, activation, one object. */
static void check_new_driver(const struct pv_lab *h)
{
    const struct rdl_pci_place command = {.number = pci_number_of(FN_RDMA),
                                          .space = RDL_PCI_CONFIG,
                                          .offset = PCI_COMMAND,
                                          .width = 2};
    struct pv_dsr dsr = {.driver_version = PV_VERSION_MOST,
                         .command_slot = h->zone + RAM_PAGE_BYTES,
                         .response_slot = h->zone + 2 * RAM_PAGE_BYTES};
    struct pv_handle none = {0};
    struct pv_raw_handle body;
    struct pv_raw_dsr raw;

    must(rdl_pci_write(h->lab, h->host, &command,
                       PCI_CMD_MEMORY | PCI_CMD_MASTER | PCI_CMD_INTX_OFF));
    pv_lab_out(h, PVR_CTL, PV_CTL_RESET);
    FUZZ_CHECK(h->d->phase == PV_RESET && h->d->nic.hca.pds.used == 0);
    FUZZ_CHECK(h->d->nic.hca.mkeys.used == 0 && hca_n_qps(&h->d->nic.hca) == 0);
    describe(dsr.async, directory(h, 4, PV_SHARED_RING_PAGES));
    describe(dsr.cq, directory(h, 12, PV_SHARED_RING_PAGES));
    pv_dsr_put(&raw, &dsr);
    pv_lab_poke(h, h->zone, &raw, sizeof(raw));
    pv_lab_out(h, PVR_DSRLOW, (uint32_t)h->zone);
    pv_lab_out(h, PVR_DSRHIGH, (uint32_t)(h->zone >> 32));
    FUZZ_CHECK(pv_lab_in(h, PVR_ERR) == 0 && h->d->phase == PV_SHARED);
    pv_lab_out(h, PVR_CTL, PV_CTL_ACTIVATE);
    pv_handle_put(&body, &none);
    pv_lab_command(h, PV_CMD_CREATE_PD, (const uint8_t *)&body, sizeof(body));
    FUZZ_CHECK(pv_lab_in(h, PVR_ERR) == 0 && h->d->nic.hca.pds.used == 1);
}

void pv_lab_end(const struct pv_lab *h)
{
    bystanders_finish(h->lab, h->other, PV_MESSAGES, tick, h);
    check_state(h);
    check_new_driver(h);
    check_state(h);
}
