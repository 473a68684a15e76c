/* SPDX-License-Identifier: MIT */
/* PVRDMA: registers, the shared region, versions, interrupts, commands and their refusals. */
#include "pv_rig.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/refusal.h"
#include "emu/hca/ctrl.h"

static bool seen[256]; /* by reason: a test has met it */

/* --- Function and region ---------------------------------------------------------------------- */

static void the_function_is_that_which_linux_looks_for(void **state)
{
    struct pv_rig *g = pvrig_new(0, 0);
    struct pci_fn *f = &g->d->fn;

    *state = g;
    assert_int_equal(fn_config_read(f, PCI_VENDOR_ID, 2), 0x15ad);
    assert_int_equal(fn_config_read(f, PCI_DEVICE_ID, 2), 0x0820);
    assert_int_equal(fn_config_read(f, PCI_CLASS_CODE, 1), 0); /* 0x028000: class in the third */
    assert_int_equal(f->bar_bytes[PV_BAR_REGS], 4096);
    assert_int_equal(f->bar_bytes[PV_BAR_UAR], 512 * 4096);
    assert_int_equal(f->config.n_vectors, 3);
    assert_int_equal(pvrig_in(g, PVR_VERSION), 20);
    assert_int_equal(pvrig_in(g, PVR_MACL), 2);
    assert_int_equal(pvrig_in(g, PVR_MACH), 0x0100);
    assert_null(pvrdma_of(&(struct rdma_device){.ops = NULL}));
    pvrig_tear_down(state);
}

static struct pv_caps caps_of(const struct pv_rig *g)
{
    struct pv_raw_caps raw;
    struct pv_caps c;

    pvrig_peek(g, DSR_AT + 72, &raw, sizeof(raw));
    pv_caps_get(&c, &raw);
    return c;
}

/* Everything that Linux checks before it registers the device. */
static void capabilities_are_there_when_dsrhigh_is_written(void **state)
{
    struct pv_rig *g = pvrig_new(0, 0);
    struct pv_caps c;

    *state = g;
    pvrig_write_region(g, PV_VERSION_MOST);
    pvrig_out(g, PVR_DSRLOW, DSR_AT);
    assert_int_equal(caps_of(g).max_qp, 0);
    pvrig_out(g, PVR_DSRHIGH, 0);
    c = caps_of(g);
    assert_int_equal(c.mode, 0);
    assert_int_equal(c.gid_types, PV_GID_ROCE_V2);
    assert_int_equal(c.max_uar & (c.max_uar - 1), 0);
    assert_true(c.max_uar > 1);
    assert_int_equal(c.phys_port_cnt, 1);
    assert_int_equal(c.max_qp, PVRIG_MAX_QP + 1);
    assert_int_equal(c.max_cq, PVRIG_MAX_CQ);
    assert_int_equal(c.max_srq, PVRIG_MAX_SRQ);
    assert_int_equal(c.bmme_flags, 7);
    assert_int_equal(c.max_fast_reg_page_list_len, 128); /* not the 512 of the RNIC */
    assert_int_equal(c.max_mw, 0);
    assert_int_equal(c.page_size_cap, 4096);
    assert_int_equal(c.max_qp_wr & (c.max_qp_wr - 1), 0);
    assert_int_equal(g->d->phase, PV_SHARED);
    pvrig_out(g, PVR_CTL, PV_CTL_UNQUIESCE); /* too early */
    assert_int_equal(pvrig_in(g, PVR_ERR), EINVAL);
    pvrig_out(g, PVR_CTL, PV_CTL_ACTIVATE);
    assert_int_equal(pvrig_in(g, PVR_ERR), 0);
    assert_int_equal(g->d->phase, PV_ACTIVE);
    pvrig_tear_down(state);
}

static void the_smaller_version_counts(void **state)
{
    static const struct {
        uint32_t device, driver, counts;
        uint8_t gid_types;
    } rows[] = {
        {0, 20, 20, 2},  {20, 17, 17, 1}, {17, 20, 17, 1}, {18, 20, 18, 2},
        {19, 20, 19, 2}, {20, 99, 20, 2}, {20, 0, 17, 1},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pv_rig *g = pvrig_new(rows[i].device, 0);

        *state = g;
        pvrig_start(g, rows[i].driver);
        assert_int_equal(g->d->version, rows[i].counts);
        assert_int_equal(caps_of(g).gid_types, rows[i].gid_types);
        assert_int_equal(pvrig_in(g, PVR_VERSION), rows[i].device ? rows[i].device : 20);
        assert_int_equal(pvrig_ask(g, CREATE_BIND, create_bind, .gid = {[15] = 1},
                                   .type = (uint8_t)(3 - rows[i].gid_types)),
                         refusal_errno(RFK_UNSUPPORTED));
        assert_int_equal(
            pvrig_ask(g, CREATE_BIND, create_bind, .gid = {[15] = 1}, .type = rows[i].gid_types),
            0);
        pvrig_tear_down(state);
    }
}

/* The field of 32 bits before version 19 has garbage behind it. */
static void page_frames_have_32_bits_before_version_19(void **state)
{
    for (uint32_t version = 18; version <= 19; version++) {
        struct pv_rig *g = pvrig_new(version, 0);
        const uint64_t pfn = PVRIG_UAR / PV_PAGE_BYTES + 5;

        *state = g;
        pvrig_start(g, 20);
        assert_int_equal(pvrig_ask(g, CREATE_UC, create_uc, .pfn = pfn | 7ull << 32),
                         version < 19 ? 0 : refusal_errno(RFK_INVALID));
        assert_int_equal(pvrig_ask(g, CREATE_UC, create_uc, .pfn = pfn), 0);
        pvrig_tear_down(state);
    }
}

/* Each field of the region that the device reads is broken once. */
static void a_wrong_region_is_refused(void **state)
{
    static const struct {
        uint32_t at;
        uint64_t value;
    } rows[] = {
        {16, 1},          {16, PVRIG_RAM}, {24, 8},          {24, UINT64_MAX - 4095},
        {24, COMMAND_AT}, {32, 1},         {32, UINT32_MAX}, {40, 1},
        {40, PVRIG_RAM},  {48, 0},         {56, UINT64_MAX}, {56, PVRIG_RAM},
    };
    struct pv_rig *g = pvrig_new(0, 0);
    uint8_t le[8];

    *state = g;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        pvrig_write_region(g, PV_VERSION_MOST);
        st_le64(le, rows[i].value);
        pvrig_poke(g, DSR_AT + rows[i].at, le, rows[i].at % 16 == 0 && rows[i].at >= 32 ? 4 : 8);
        pvrig_out(g, PVR_DSRLOW, DSR_AT);
        pvrig_out(g, PVR_DSRHIGH, 0);
        assert_int_equal(g->d->phase, PV_RESET);
        assert_int_not_equal(pvrig_in(g, PVR_ERR), 0);
        assert_int_equal(caps_of(g).max_qp, 0);
        pvrig_out(g, PVR_CTL, PV_CTL_ACTIVATE);
        assert_int_not_equal(pvrig_in(g, PVR_ERR), 0);
        assert_int_equal(arena_live_bytes(g->arena), g->bare_bytes);
    }
    pvrig_write_region(g, PV_VERSION_MOST);
    pvrig_out(g, PVR_DSRLOW, DSR_AT);
    pvrig_out(g, PVR_DSRHIGH, 1); /* outside of RAM */
    assert_int_equal(g->d->phase, PV_RESET);
    fn_config_write(&g->d->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY);
    pvrig_out(g, PVR_DSRHIGH, 0); /* without bus mastering */
    assert_int_equal(g->d->phase, PV_RESET);
    fn_config_write(&g->d->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    pvrig_tear_down(state);
}

/* Without a region nothing that a driver writes has an effect. */
static void nothing_works_before_it_is_active(void **state)
{
    struct pv_rig *g = pvrig_new(0, 0);

    *state = g;
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), EIO);
    assert_int_equal(g->rsp[0], 0xee);
    for (uint32_t at = 0; at < 16; at += 4)
        pvrig_doorbell(g, at, UINT32_MAX);
    assert_int_equal(g->d->count.uar_bad, 4);
    for (uint32_t at = 0x24; at < 4096; at += 4)
        pvrig_out(g, (enum pv_reg)at, UINT32_MAX);
    assert_int_equal(g->d->phase, PV_RESET);
    pvrig_tear_down(state);
}

/* After RESET the driver frees its region: the device reads and writes nothing of it. */
static void reset_forgets_everything(void **state)
{
    struct pv_rig *g;
    uint8_t before[280], after[280];

    (void)pvrig_set_up(state);
    g = *state;
    (void)pvrig_pair(g, QPT_RC, true);
    pvrig_peek(g, DSR_AT, before, sizeof(before));
    pvrig_out(g, PVR_CTL, PV_CTL_RESET);
    assert_int_equal(arena_live_bytes(g->arena), g->bare_bytes);
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), EIO);
    rnic_link_changed(&g->d->nic, true);
    pvrig_run(g);
    pvrig_peek(g, DSR_AT, after, sizeof(after));
    assert_memory_equal(before, after, sizeof(before));
    pvrig_start(g, 20); /* and again */
    (void)pvrig_ask(g, CREATE_PD, handle, .handle = 0);
    assert_int_equal(pvrig_handle(g), 1);
    fn_reset(&g->d->fn);
    assert_int_equal(g->d->phase, PV_RESET);
    assert_int_equal(arena_live_bytes(g->arena), g->bare_bytes);
    pvrig_tear_down(state);
}

/* --- Interrupts ------------------------------------------------------------------------------- */

/* Linux takes an interrupt for a command that it does not wait for as the answer to the next. */
static void only_commands_that_are_waited_for_interrupt(void **state)
{
    struct pv_rig *g = *state;

    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), 0);
    pvrig_run(g);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 1);
    assert_int_equal(pvrig_ask(g, DESTROY_PD, handle, .handle = pvrig_handle(g)), 0);
    assert_int_equal(pvrig_ack(g), PV_ACK | PV_CMD_DESTROY_PD);
    pvrig_run(g);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 1);
    assert_int_not_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 9), 0); /* ERR tells it */
    pvrig_run(g);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 1);
    assert_int_equal(pvrig_ask(g, MODIFY_QP, modify_qp, .handle = 9),
                     0); /* the response tells it */
    assert_int_not_equal(g->rsp[12], 0);
    pvrig_run(g);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 2);
    assert_int_equal(ld_le64(g->rsp), 0x1122334455667788 + PV_CMD_MODIFY_QP);
}

static void imr_holds_interrupts_back(void **state)
{
    struct pv_rig *g = *state;

    pvrig_out(g, PVR_IMR, UINT32_MAX);
    rnic_link_changed(&g->d->nic, false);
    (void)pvrig_ask(g, CREATE_PD, handle, .handle = 0);
    pvrig_run(g);
    assert_int_equal(g->irqs[0] + g->irqs[1] + g->irqs[2], 0);
    pvrig_out(g, PVR_IMR, 1u << PV_VECTOR_RESPONSE);
    pvrig_run(g);
    assert_int_equal(g->irqs[PV_VECTOR_ASYNC], 1);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 0);
    pvrig_out(g, PVR_IMR, 0);
    pvrig_run(g);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 1);
    assert_int_equal(g->irqs[PV_VECTOR_ASYNC], 1);
}

/* A vector that was masked when its interrupt was raised must not interrupt after a reset. */
static void reset_forgets_pending_interrupts(void **state)
{
    struct pv_rig *g = *state;
    struct pci_fn *f = &g->d->fn;

    fn_bar_write(f, PV_BAR_MSIX, PV_VECTOR_ASYNC * MSIX_ENTRY_BYTES + 12, 4, MSIX_ENTRY_MASK);
    rnic_link_changed(&g->d->nic, false);
    pvrig_run(g);
    assert_int_equal(f->n_pending, 1);
    pvrig_out(g, PVR_CTL, PV_CTL_RESET);
    fn_bar_write(f, PV_BAR_MSIX, PV_VECTOR_ASYNC * MSIX_ENTRY_BYTES + 12, 4, 0);
    pvrig_run(g);
    assert_int_equal(g->irqs[PV_VECTOR_ASYNC], 0);
}

static void without_msix_the_line_is_high_until_icr_is_read(void **state)
{
    struct pv_rig *g = *state;
    struct pci_fn *f = &g->d->fn;

    fn_config_write(f, 0x80 + MSIX_AT_CONTROL, 2, 0);
    (void)pvrig_ask(g, CREATE_PD, handle, .handle = 0);
    rnic_link_changed(&g->d->nic, false);
    pvrig_run(g);
    assert_int_equal(g->lines, 1);
    assert_true(fn_line_is_high(f));
    pvrig_out(g, PVR_IMR, UINT32_MAX);
    assert_false(fn_line_is_high(f));
    pvrig_out(g, PVR_IMR, 0);
    assert_true(fn_line_is_high(f));
    assert_int_equal(pvrig_in(g, PVR_ICR), 1u << PV_VECTOR_RESPONSE | 1u << PV_VECTOR_ASYNC);
    assert_false(fn_line_is_high(f));
    assert_int_equal(pvrig_in(g, PVR_ICR), 0);
}

/* With one vector Linux serves answers alone. */
static void with_one_vector_only_answers_interrupt(void **state)
{
    struct pv_rig *g = pvrig_new(0, 1);

    *state = g;
    pvrig_start(g, 20);
    rnic_link_changed(&g->d->nic, false);
    (void)pvrig_ask(g, CREATE_PD, handle, .handle = 0);
    pvrig_run(g);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 1);
    assert_int_equal(g->irqs[PV_VECTOR_ASYNC], 0);
    assert_int_equal(pvrig_peek32(g, g->async.pages + 8), 1); /* the event is in its ring */
    pvrig_tear_down(state);
}

/* --- Asynchronous events ---------------------------------------------------------------------- */

/* The ring has 1,536 slots, of which Linux's masks use 512; 511 may be outstanding. */
static void events_wait_for_room(void **state)
{
    struct pv_rig *g = *state;
    const uint64_t tail = g->async.pages + 8, head = g->async.pages + 12;
    uint32_t idx = pvrig_peek32(g, tail);

    pvrig_poke32(g, head, idx);
    for (uint32_t i = 0; i < 515; i++)
        rnic_link_changed(&g->d->nic, i % 2 == 0);
    assert_int_equal(pvrig_peek32(g, tail), idx + 511);
    assert_int_equal(g->d->nic.events.len, 4);
    pvrig_poke32(g, head, idx + 2);
    (void)pvrig_ask(g, CREATE_PD, handle, .handle = 0); /* the device looks again */
    assert_int_equal(g->d->nic.events.len, 2);
    pvrig_poke32(g, head, UINT32_MAX); /* no index: no room */
    rnic_link_changed(&g->d->nic, true);
    assert_int_equal(g->d->nic.events.len, 3);
    pvrig_poke32(g, head, idx + 513);
    (void)pvrig_ask(g, CREATE_PD, handle, .handle = 0);
    assert_int_equal(g->d->nic.events.len, 0);
    for (uint32_t i = 0; i < 3 * 1024; i++) { /* the index goes round at 1,024 */
        const uint32_t at = pvrig_peek32(g, tail);
        uint64_t slot = g->async.pages + PV_PAGE_BYTES + 8 * (uint64_t)(at & (1536 - 1));

        pvrig_poke32(g, head, at);
        rnic_link_changed(&g->d->nic, i % 2 == 0);
        assert_int_equal(pvrig_peek32(g, tail), (at + 1) & (2 * 1536 - 1));
        assert_int_equal(pvrig_peek32(g, slot), i % 2 == 0 ? 9 : 10); /* PORT_ACTIVE, PORT_ERR */
        assert_int_equal(pvrig_peek32(g, slot + 4), HCA_PORT);
        pvrig_run(g);
    }
}

/* Linux gives each ring 4 pages.  A driver that gives another number has rings of other lengths,
 * and the device follows them round.
 */
static void rings_are_as_long_as_the_region_says(void **state)
{
    static const struct {
        uint32_t pages, slots, used; /* of events */
    } rows[] = {{2, 512, 512}, {3, 1024, 1024}, {5, 2048, 2048}, {6, 2560, 512}};

    for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
        struct pv_rig *g = pvrig_new(0, 0);
        const struct pv_drv_ring ring = pvrig_pages(g, rows[r].pages);
        const uint64_t tail = ring.pages + 8, head = ring.pages + 12;

        *state = g;
        pvrig_write_region(g, PV_VERSION_MOST);
        pvrig_poke32(g, DSR_AT + 32, rows[r].pages);
        pvrig_poke32(g, DSR_AT + 40, (uint32_t)ring.pdir);
        pvrig_out(g, PVR_DSRLOW, DSR_AT);
        pvrig_out(g, PVR_DSRHIGH, 0);
        pvrig_out(g, PVR_CTL, PV_CTL_ACTIVATE);
        pvrig_out(g, PVR_CTL, PV_CTL_UNQUIESCE);
        assert_int_equal(pvrig_in(g, PVR_ERR), 0);
        for (uint32_t i = 0; i < 2 * rows[r].used + 3; i++) {
            const uint32_t at = pvrig_peek32(g, tail);
            const uint64_t slot =
                ring.pages + PV_PAGE_BYTES + 8 * (uint64_t)(at & (rows[r].slots - 1));

            pvrig_poke32(g, head, at);
            pvrig_poke32(g, slot, UINT32_MAX);
            rnic_link_changed(&g->d->nic, i % 2 == 0);
            assert_int_equal(pvrig_peek32(g, tail), (at + 1) & (2 * rows[r].slots - 1));
            assert_int_equal(pvrig_peek32(g, slot), i % 2 == 0 ? 9 : 10);
            pvrig_run(g);
        }
        assert_int_equal(pvrig_peek32(g, tail), 3);
        pvrig_tear_down(state);
    }
}

/* --- Commands --------------------------------------------------------------------------------- */

static void a_port_is_down_until_it_is_unquiesced(void **state)
{
    struct pv_rig *g = pvrig_new(0, 0);
    struct pv_port_attr a;

    *state = g;
    pvrig_start(g, 20);
    assert_int_equal(pvrig_ask(g, QUERY_PORT, query_port, .port = 1), 0);
    pv_port_attr_get(&a, (const struct pv_raw_port_attr *)(g->rsp + PV_HEADER_BYTES));
    assert_int_equal(a.state, 4);
    assert_int_equal(a.gid_tbl_len, HCA_GIDS);
    assert_int_equal(a.port_cap_flags, 1u << 26);
    assert_int_equal(a.active_mtu, 3);
    assert_int_equal(a.max_vl_num, 1); /* as a code: 0 is reserved */
    rnic_link_changed(&g->d->nic, false);
    assert_int_equal(pvrig_peek32(g, g->async.pages + PV_RING_RX), 1); /* an event */
    /* Changes of the link are events only while the interface is up. */
    g->d->unquiesced = false;
    assert_int_equal(pvrig_ask(g, QUERY_PORT, query_port, .port = 1), 0);
    assert_int_equal(pvrig_handle(g), 1);
    rnic_link_changed(&g->d->nic, true);
    assert_int_equal(pvrig_peek32(g, g->async.pages + PV_RING_RX), 1);
    pvrig_out(g, PVR_CTL, PV_CTL_UNQUIESCE);
    /* The driver that has unquiesced the device tells its users itself. */
    assert_int_equal(pvrig_peek32(g, g->async.pages + PV_RING_RX), 1);
    rnic_link_changed(&g->d->nic, false);
    assert_int_equal(pvrig_peek32(g, g->async.pages + PV_RING_RX), 2);
    assert_int_equal(pvrig_ask(g, QUERY_PKEY, query_pkey, .port = 1), 0);
    assert_int_equal(ld_le16(g->rsp + PV_HEADER_BYTES), HCA_PKEY);
    pvrig_tear_down(state);
}

static void attributes_are_read_as_they_were_written(void **state)
{
    struct pv_rig *g = *state;
    const struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    struct pv_ah_attr ah;
    struct pv_qp_attr a;

    assert_int_equal(pvrig_ask(g, QUERY_QP, query_qp, .handle = p.qp[0]), 0);
    pv_qp_attr_get(&a, (const struct pv_raw_qp_attr *)(g->rsp + PV_HEADER_BYTES));
    pv_ah_attr_get(&ah, (const struct pv_raw_ah_attr *)a.ah);
    assert_int_equal(a.state, QPS_RTS);
    assert_int_equal(a.dest_qpn, p.qp[1]);
    assert_int_equal(a.path_mtu, 3);
    assert_int_equal(a.timeout, 10);
    assert_int_equal(a.max_send_wr, PAIR_WR);
    assert_int_equal(a.max_inline_data, 0);
    assert_memory_equal(ah.dgid, pvrig_gid, GID_BYTES);
    assert_memory_equal(ah.dmac, pvrig_mac, MAC_BYTES);
    assert_true(p.qp[0] < caps_of(g).max_qp && p.qp[1] < caps_of(g).max_qp);
}

static void answers_of_create_qp_depend_on_the_version(void **state)
{
    for (uint32_t version = 19; version <= 20; version++) {
        struct pv_rig *g = pvrig_new(version, 0);
        struct pv_drv_ring cq, qp;

        *state = g;
        pvrig_start(g, 20);
        cq = pvrig_pages(g, 2);
        qp = pvrig_pages(g, 3);
        (void)pvrig_ask(g, CREATE_PD, handle, .handle = 0);
        assert_int_equal(pvrig_ask(g, CREATE_CQ, create_cq, .pdir = cq.pdir, .cqe = 4, .pages = 2),
                         0);
        assert_int_equal(pvrig_handle(g), 0);
        assert_int_equal(pvrig_ask(g, CREATE_QP, create_qp, .pdir = qp.pdir, .pd = 1,
                                   .max_send_wr = 8, .max_recv_wr = 16, .max_send_sge = 1,
                                   .max_recv_sge = 1, .total_pages = 3, .send_pages = 1,
                                   .type = QPT_GSI),
                         0);
        assert_int_equal(pvrig_handle(g), QPN_GSI);
        assert_int_equal(ld_le32(g->rsp + PV_HEADER_BYTES + 4), version < 20 ? 8 : QPN_GSI);
        assert_int_equal(ld_le32(g->rsp + PV_HEADER_BYTES + 8), version < 20 ? 16 : 8);
        assert_int_equal(pvrig_ask(g, DESTROY_QP, handle, .handle = QPN_GSI), 0);
        pvrig_tear_down(state);
    }
}

/* --- Refusals --------------------------------------------------------------------------------- */

/* The last command was refused for @why, and nothing was allocated. */
static void was_refused(const struct pv_rig *g, enum refusal_reason why, uint32_t err, int line)
{
    const enum refusal_reason got = g->d->nic.hca.refused.why;

    if (got != why)
        fail_msg("line %d: reason %u and not %u", line, (unsigned)got, (unsigned)why);
    assert_int_equal(err, refusal_errno(refusal_kind(why)));
    seen[why] = true;
}

#define REFUSED(why, cmd, name, ...)                                                               \
    do {                                                                                           \
        const size_t live_ = arena_live_bytes(g->arena);                                           \
        const uint32_t err_ = pvrig_ask(g, cmd, name, __VA_ARGS__);                                \
                                                                                                   \
        was_refused(g, REF_##why, err_, __LINE__);                                                 \
        assert_int_equal(arena_live_bytes(g->arena), live_);                                       \
    } while (0)

static void commands_of_regions_and_contexts_are_refused(void **state)
{
    struct pv_rig *g = *state;
    const uint64_t pfn = PVRIG_UAR / PV_PAGE_BYTES;
    const struct pv_drv_ring r = pvrig_pages(g, 4);
    uint32_t uc;

    REFUSED(COMMAND_UNKNOWN, RESIZE_CQ, cq_made, .handle = 0);
    was_refused(g, REF_COMMAND_UNKNOWN, pvrig_command(g, 21, "", 1), __LINE__);
    was_refused(g, REF_COMMAND_UNKNOWN, pvrig_command(g, UINT32_MAX, "", 1), __LINE__);
    REFUSED(PORT_NUMBER, QUERY_PORT, query_port, .port = 2);
    REFUSED(PORT_NUMBER, QUERY_PKEY, query_pkey, .port = 0);
    REFUSED(PKEY_INDEX, QUERY_PKEY, query_pkey, .port = 1, .index = 1);
    REFUSED(UC_PAGE, CREATE_UC, create_uc, .pfn = pfn - 1);
    REFUSED(UC_PAGE, CREATE_UC, create_uc, .pfn = pfn + PV_UAR_PAGES);
    for (uint32_t i = 1; i < PV_UAR_PAGES; i++)
        assert_int_equal(pvrig_ask(g, CREATE_UC, create_uc, .pfn = pfn + i), 0);
    uc = pvrig_handle(g);
    REFUSED(UC_LIMIT, CREATE_UC, create_uc, .pfn = pfn);
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = uc), 0);
    REFUSED(UC_IN_USE, DESTROY_UC, handle, .handle = uc);
    assert_int_equal(pvrig_ask(g, DESTROY_PD, handle, .handle = 1), 0);
    assert_int_equal(
        pvrig_ask(g, CREATE_CQ, create_cq, .pdir = r.pdir, .ctx = uc, .pages = 2, .cqe = 64), 0);
    REFUSED(UC_IN_USE, DESTROY_UC, handle, .handle = uc);
    assert_int_equal(pvrig_ask(g, DESTROY_CQ, handle, .handle = 0), 0);
    assert_int_equal(pvrig_ask(g, DESTROY_UC, handle, .handle = uc), 0);
    REFUSED(UC_HANDLE, DESTROY_UC, handle, .handle = uc);
    REFUSED(UC_HANDLE, DESTROY_UC, handle, .handle = 0); /* the kernel's */
    REFUSED(UC_HANDLE, CREATE_PD, handle, .handle = uc);
    REFUSED(UC_HANDLE, CREATE_PD, handle, .handle = UINT32_MAX);
    REFUSED(PD_HANDLE, DESTROY_PD, handle, .handle = 1);
    REFUSED(PD_HANDLE, DESTROY_PD, handle, .handle = UINT32_MAX);
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), 0);
    REFUSED(MR_FLAGS, CREATE_MR, create_mr, .pd = 1, .flags = 3);
    REFUSED(PAGE_LIST_LENGTH, CREATE_MR, create_mr, .pd = 1, .pdir = r.pdir);
    REFUSED(PAGE_LIST_LENGTH, CREATE_MR, create_mr, .pd = 1, .pdir = r.pdir, .pages = UINT32_MAX);
    REFUSED(PAGE_LIST_MEMORY, CREATE_MR, create_mr, .pd = 1, .pdir = 1, .pages = 1);
    pvrig_poke32(g, r.pages, DSR_AT); /* as a table: its first page is the driver's version */
    REFUSED(PAGE_MEMORY, CREATE_MR, create_mr, .pd = 1, .pdir = r.pages, .pages = 1);
    REFUSED(PD_HANDLE, CREATE_MR, create_mr, .pd = 2, .pdir = r.pdir, .pages = 4);
    REFUSED(MR_PAGE_COUNT, CREATE_MR, create_mr, .pd = 1, .pdir = r.pdir, .pages = 4, .length = 1);
    REFUSED(FAST_PAGES, CREATE_MR, create_mr, .pd = 1, .flags = PV_MR_FAST, .pages = 513);
    REFUSED(MR_HANDLE, DESTROY_MR, handle, .handle = 1);
    REFUSED(GID_INDEX, CREATE_BIND, create_bind, .index = 16, .gid = {1}, .type = 2);
    REFUSED(GID_ADDRESS, CREATE_BIND, create_bind, .type = 2);
    REFUSED(GID_ADDRESS, CREATE_BIND, create_bind, .type = 2, .gid = {0xff});
    REFUSED(GID_TYPE, CREATE_BIND, create_bind, .type = 1, .gid = {1});
    REFUSED(GID_OTHER, DESTROY_BIND, destroy_bind, .gid = {1});
    REFUSED(GID_OTHER, DESTROY_BIND, destroy_bind, .index = 1);
    REFUSED(GID_INDEX, DESTROY_BIND, destroy_bind, .index = UINT32_MAX);
}

/* CREATE_QP with one field of @good set to @value. */
#define REFUSED_QP(why, field, value)                                                              \
    do {                                                                                           \
        const size_t live_ = arena_live_bytes(g->arena);                                           \
        struct pv_create_qp r_ = good;                                                             \
                                                                                                   \
        r_.field = (value);                                                                        \
        was_refused(g, REF_##why, pvrig_ask_create_qp(g, PV_CMD_CREATE_QP, &r_), __LINE__);        \
        assert_int_equal(arena_live_bytes(g->arena), live_);                                       \
    } while (0)

static void create_qp_is_refused(struct pv_rig *g, uint64_t pdir)
{
    const struct pv_create_qp good = {.pdir = pdir,
                                      .pd = 1,
                                      .max_send_wr = 8,
                                      .max_recv_wr = 8,
                                      .max_send_sge = 1,
                                      .max_recv_sge = 1,
                                      .total_pages = 3,
                                      .send_pages = 1,
                                      .srq = UINT32_MAX,
                                      .type = QPT_RC};

    REFUSED_QP(QP_TYPE, type, QPT_UC);
    REFUSED_QP(QP_TYPE, type, 255);
    REFUSED_QP(QP_SEND_WR, max_send_wr, UINT32_MAX);
    REFUSED_QP(QP_RECV_WR, max_recv_wr, 8192);
    REFUSED_QP(QP_SEND_SGE, max_send_sge, UINT32_MAX);
    REFUSED_QP(QP_RECV_SGE, max_recv_sge, 33);
    REFUSED_QP(QP_INLINE_DATA, max_inline_data, 1);
    REFUSED_QP(RING_SLOTS, max_send_wr, 0);
    REFUSED_QP(RING_SLOTS, max_recv_wr, 9);
    REFUSED_QP(PAGE_LIST_LENGTH, send_pages, 0);
    REFUSED_QP(PAGE_LIST_LENGTH, send_pages, UINT16_MAX);
    REFUSED_QP(PAGE_LIST_LENGTH, total_pages, 2);
    REFUSED_QP(PAGE_LIST_MEMORY, pdir, 1);
    REFUSED_QP(PD_HANDLE, pd, 2);
    REFUSED_QP(QP_SEND_CQ, send_cq, 1);
    REFUSED_QP(QP_RECV_CQ, recv_cq, UINT32_MAX);
    REFUSED_QP(QP_SRQ, is_srq, 1);
    assert_int_equal(pvrig_ask_create_qp(g, PV_CMD_CREATE_QP, &good), 0);
    assert_int_equal(pvrig_ask(g, DESTROY_QP, handle, .handle = pvrig_handle(g)), 0);
}

static void commands_of_queues_are_refused(void **state)
{
    struct pv_rig *g = *state;
    const struct pv_drv_ring r = pvrig_pages(g, 4);

    (void)pvrig_ask(g, CREATE_PD, handle, .handle = 0);
    REFUSED(UC_HANDLE, CREATE_CQ, create_cq, .pdir = r.pdir, .ctx = 1, .pages = 2, .cqe = 64);
    REFUSED(UC_HANDLE, CREATE_CQ, create_cq, .pdir = r.pdir, .ctx = PV_UAR_PAGES, .pages = 2,
            .cqe = 64);
    REFUSED(CQ_ENTRIES, CREATE_CQ, create_cq, .pdir = r.pdir, .pages = 4);
    REFUSED(CQ_ENTRIES, CREATE_CQ, create_cq, .pdir = r.pdir, .pages = 4, .cqe = UINT32_MAX);
    REFUSED(RING_SLOTS, CREATE_CQ, create_cq, .pdir = r.pdir, .pages = 4, .cqe = 3);
    REFUSED(PAGE_LIST_LENGTH, CREATE_CQ, create_cq, .pdir = r.pdir, .pages = 2, .cqe = 128);
    REFUSED(CQ_HANDLE, DESTROY_CQ, handle, .handle = 0);
    REFUSED(CQ_HANDLE, DESTROY_CQ, handle, .handle = UINT32_MAX);
    assert_int_equal(pvrig_ask(g, CREATE_CQ, create_cq, .pdir = r.pdir, .pages = 2, .cqe = 64), 0);
    create_qp_is_refused(g, r.pdir);
    REFUSED(QP_HANDLE, DESTROY_QP, handle, .handle = 2);
    REFUSED(QP_HANDLE, QUERY_QP, query_qp, .handle = UINT32_MAX);
    REFUSED(SRQ_TYPE, CREATE_SRQ, create_srq, .type = 1);
    REFUSED(SRQ_WR, CREATE_SRQ, create_srq, .max_wr = 0);
    REFUSED(RING_SLOTS, CREATE_SRQ, create_srq, .max_wr = 5);
    REFUSED(SRQ_SGE, CREATE_SRQ, create_srq, .max_wr = 4, .max_sge = UINT32_MAX);
    REFUSED(SRQ_ARMED_LIMIT, CREATE_SRQ, create_srq, .max_wr = 4, .limit = 5);
    REFUSED(PAGE_LIST_LENGTH, CREATE_SRQ, create_srq, .max_wr = 4, .pages = 1);
    REFUSED(PD_HANDLE, CREATE_SRQ, create_srq, .pdir = r.pdir, .pages = 2, .max_wr = 4);
    REFUSED(SRQ_HANDLE, QUERY_SRQ, handle, .handle = 0);
    REFUSED(SRQ_HANDLE, DESTROY_SRQ, handle, .handle = UINT32_MAX);
    REFUSED(SRQ_HANDLE, MODIFY_SRQ, modify_srq, .handle = 0);
    assert_int_equal(pvrig_ask(g, CREATE_SRQ, create_srq, .pdir = r.pdir, .pd = 1, .pages = 2,
                               .max_wr = 4, .limit = 2),
                     0);
    REFUSED(SRQ_ATTR_OFFERED, MODIFY_SRQ, modify_srq, .mask = 1);
    REFUSED(SRQ_ATTR_MASK, MODIFY_SRQ, modify_srq, .mask = 4);
    assert_int_equal(pvrig_ask(g, QUERY_SRQ, handle, .handle = 0), 0);
    assert_int_equal(ld_le32(g->rsp + PV_HEADER_BYTES + 8), 2);
    assert_int_equal(pvrig_ask(g, DESTROY_SRQ, handle, .handle = 0), 0);
    assert_int_equal(pvrig_ask(g, DESTROY_CQ, handle, .handle = 0), 0);
}

/* A refusal of MODIFY_QP is in the response: ERR is 0. */
static void modify_qp_is_refused_in_its_response(void **state)
{
    struct pv_rig *g = *state;
    const struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const struct pv_qp_attr a = {.state = QPS_INIT};

    was_refused(g, REF_QP_MOVE, pvrig_modify(g, p.qp[0], QPA_STATE, &a), __LINE__);
    was_refused(g, REF_QP_ATTR_OFFERED, pvrig_modify(g, p.qp[0], (uint32_t)QPA_CREDITS, &a),
                __LINE__);
    was_refused(g, REF_QP_HANDLE, pvrig_modify(g, 99, QPA_STATE, &a), __LINE__);
}

static void no_reason_was_left_out(void **state)
{
    (void)state;
    for (uint32_t why = REF_RING_SLOTS; why <= REF_SRQ_TYPE; why++) {
        if (!seen[why])
            fail_msg("reason %u", why);
    }
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, pvrig_set_up, pvrig_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_function_is_that_which_linux_looks_for),
        cmocka_unit_test(capabilities_are_there_when_dsrhigh_is_written),
        cmocka_unit_test(the_smaller_version_counts),
        cmocka_unit_test(page_frames_have_32_bits_before_version_19),
        cmocka_unit_test(a_wrong_region_is_refused),
        cmocka_unit_test(nothing_works_before_it_is_active),
        cmocka_unit_test(reset_forgets_everything),
        WITH_RIG(only_commands_that_are_waited_for_interrupt),
        WITH_RIG(imr_holds_interrupts_back),
        WITH_RIG(reset_forgets_pending_interrupts),
        WITH_RIG(without_msix_the_line_is_high_until_icr_is_read),
        cmocka_unit_test(with_one_vector_only_answers_interrupt),
        WITH_RIG(events_wait_for_room),
        cmocka_unit_test(rings_are_as_long_as_the_region_says),
        cmocka_unit_test(a_port_is_down_until_it_is_unquiesced),
        WITH_RIG(attributes_are_read_as_they_were_written),
        cmocka_unit_test(answers_of_create_qp_depend_on_the_version),
        WITH_RIG(commands_of_regions_and_contexts_are_refused),
        WITH_RIG(commands_of_queues_are_refused),
        WITH_RIG(modify_qp_is_refused_in_its_response),
        cmocka_unit_test(no_reason_was_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
