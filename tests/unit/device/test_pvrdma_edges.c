/* SPDX-License-Identifier: MIT */
/* PVRDMA: the last of a range, the first of a second round, and what a reset keeps. */
#include "pv_rig.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/pvrdma/ring.h"
#include "emu/pci/fault.h"

#define SEND     2u
#define FAST_REG 11u
#define SIGNALED 2u
#define LATE_NS  20000u

static struct pv_sge part(const struct pv_pair *p, uint32_t at)
{
    return (struct pv_sge){.addr = p->mem + at, .length = 64, .lkey = p->lkey};
}

static void post_send(struct pv_rig *g, struct pv_pair *p, uint32_t i)
{
    const struct pv_sge from = part(p, 0);

    pvrig_post_send(
        g, p, i, (struct pv_sq_wqe){.opcode = SEND, .num_sge = 1, .send_flags = SIGNALED}, &from);
}

/* --- Registers and resets --------------------------------------------------------------------- */

static void a_wrong_control_hides_no_error(void **state)
{
    struct pv_rig *g = pvrig_new(0, 0);

    *state = g;
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), EIO);
    pvrig_out(g, PVR_CTL, PV_CTL_ACTIVATE); /* there is no region */
    assert_int_equal(pvrig_in(g, PVR_ERR), EIO);
    pvrig_out(g, PVR_CTL, PV_CTL_RESET);
    pvrig_out(g, PVR_CTL, PV_CTL_ACTIVATE);
    assert_int_equal(pvrig_in(g, PVR_ERR), EINVAL);
    pvrig_tear_down(state);
}

/* Only a reset of the function clears IMR. */
static void a_reset_by_control_keeps_imr(void **state)
{
    struct pv_rig *g = *state;

    pvrig_out(g, PVR_IMR, 5);
    pvrig_out(g, PVR_CTL, PV_CTL_RESET);
    assert_int_equal(pvrig_in(g, PVR_IMR), 5);
    fn_reset(&g->d->fn);
    assert_int_equal(g->d->imr, 0);
}

/* The driver that comes after a reset may have put its response slot at the same address. */
static void a_late_answer_does_not_outlive_a_reset(void **state)
{
    struct pv_rig *g = *state;
    struct device_fault f = {.kind = FLT_LATE_DATA,
                             .number = 1,
                             .queue = PV_QUEUE_COMMANDS,
                             .nth = 1,
                             .count = 1,
                             .time_ns = LATE_NS};

    device_fault_add(&g->d->faults, &f);
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), 0);
    pvrig_out(g, PVR_CTL, PV_CTL_RESET);
    pvrig_start(g, PV_VERSION_MOST);
    pvrig_run(g);
    pvrig_peek(g, RESPONSE_AT, g->rsp, sizeof(g->rsp));
    assert_int_equal(f.hits, 1);
    assert_int_equal(g->rsp[0], 0xee);
    assert_int_equal(g->irqs[PV_VECTOR_RESPONSE], 0);
}

/* --- The last of a range ---------------------------------------------------------------------- */

static void a_fault_knows_the_ring_of_the_last_cq(void **state)
{
    struct pv_rig *g = *state;
    const struct pv_drv_ring r = pvrig_pages(g, 2);
    struct device_fault f = {.kind = FLT_LOST_CQE,
                             .number = 1,
                             .queue = pv_queue_of_cq(PVRIG_MAX_QP, PVRIG_MAX_SRQ, PVRIG_MAX_CQ),
                             .nth = 2, /* the receive completes first */
                             .count = 1};
    struct pv_pair p;

    for (uint32_t i = 1; i < PVRIG_MAX_CQ; i++)
        assert_int_equal(pvrig_ask(g, CREATE_CQ, create_cq, .pdir = r.pdir, .cqe = 16, .pages = 2),
                         0);
    p = pvrig_pair(g, QPT_RC, false);
    assert_int_equal(p.cq, PVRIG_MAX_CQ - 1);
    device_fault_add(&g->d->faults, &f);
    pvrig_post_recv(g, &p, 1, 1, part(&p, PV_PAGE_BYTES));
    post_send(g, &p, 0);
    pvrig_kick(g, &p, 0, PV_UAR_SEND);
    pvrig_run(g);
    assert_int_equal(f.hits, 1);
    assert_int_equal(g->last[EV_device_fault].u.device_fault.avail_idx, 1);
}

static void the_last_queue_pair_waits_for_bus_mastering(void **state)
{
    struct pv_rig *g = *state;
    const struct pv_pair first = pvrig_pair(g, QPT_RC, false);
    const struct pv_drv_ring r = pvrig_pages(g, 3);
    struct pv_pair p;
    struct pv_cqe c;

    assert_int_equal(pvrig_ask(g, CREATE_QP, create_qp, .pdir = r.pdir, .pd = first.pd,
                               .send_cq = first.cq, .recv_cq = first.cq, .max_send_wr = 4,
                               .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
                               .total_pages = 3, .send_pages = 1, .type = QPT_RC),
                     0);
    p = pvrig_pair(g, QPT_RC, false);
    assert_int_equal(p.qp[1], PVRIG_MAX_QP);
    pvrig_post_recv(g, &p, 0, 7, part(&p, PV_PAGE_BYTES));
    fn_config_write(&g->d->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY);
    post_send(g, &p, 1);
    pvrig_kick(g, &p, 1, PV_UAR_SEND);
    pvrig_run(g);
    assert_false(pvrig_poll(g, &p, &c));
    fn_config_write(&g->d->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    pvrig_run(g);
    assert_true(pvrig_poll(g, &p, &c));
    assert_int_equal(c.wr_id, 7);
}

static void the_longest_page_list_can_be_registered(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const uint32_t most = g->d->nic.hca.limits.max_fast_pages;
    const struct pv_drv_ring list = pvrig_pages(g, most);
    struct pv_wr_fast_reg w = {.iova = 0x7000000,
                               .pdir = list.pdir,
                               .page_shift = 12,
                               .pages = most,
                               .length = most * PV_PAGE_BYTES,
                               .access = ACC_LOCAL_WRITE};
    struct pv_sq_wqe wqe = {.opcode = FAST_REG, .send_flags = SIGNALED};
    struct pv_raw_wr_fast_reg raw;
    struct pv_cqe c;

    assert_int_equal(
        pvrig_ask(g, CREATE_MR, create_mr, .pd = p.pd, .flags = PV_MR_FAST, .pages = most), 0);
    w.rkey = ld_le32(g->rsp + PV_HEADER_BYTES + 8);
    pv_wr_fast_reg_put(&raw, &w);
    memcpy(wqe.wr, &raw, sizeof(raw));
    pvrig_post_send(g, &p, 0, wqe, NULL);
    pvrig_kick(g, &p, 0, PV_UAR_SEND);
    pvrig_run(g);
    assert_true(pvrig_poll(g, &p, &c));
    assert_int_equal(c.status, WCS_SUCCESS);
}

static void a_shared_queue_may_be_armed_for_all_its_receives(void **state)
{
    struct pv_rig *g = *state;
    const struct pv_drv_ring r = pvrig_pages(g, 2);

    (void)pvrig_ask(g, CREATE_PD, handle, .handle = 0);
    assert_int_equal(pvrig_ask(g, CREATE_SRQ, create_srq, .pdir = r.pdir, .pd = 1, .pages = 2,
                               .max_wr = 4, .limit = 4),
                     0);
}

/* --- Answers ---------------------------------------------------------------------------------- */

static void only_a_region_with_remote_rights_has_an_rkey(void **state)
{
    static const struct {
        uint32_t access;
        bool remote;
    } rows[] = {{0, false},
                {ACC_LOCAL_WRITE, false},
                {ACC_REMOTE_READ, true},
                {ACC_LOCAL_WRITE | ACC_REMOTE_WRITE, true}};
    struct pv_rig *g = *state;
    const struct pv_drv_ring r = pvrig_pages(g, 1);

    (void)pvrig_ask(g, CREATE_PD, handle, .handle = 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(pvrig_ask(g, CREATE_MR, create_mr, .start = r.pages,
                                   .length = PV_PAGE_BYTES, .pdir = r.pdir, .pd = 1, .pages = 1,
                                   .access = rows[i].access),
                         0);
        assert_int_not_equal(ld_le32(g->rsp + PV_HEADER_BYTES + 4), 0);
        assert_int_equal(ld_le32(g->rsp + PV_HEADER_BYTES + 8),
                         rows[i].remote ? ld_le32(g->rsp + PV_HEADER_BYTES + 4) : 0);
    }
}

/* A program's send queue may begin within a page, and has one more; the receives are behind it. */
static void the_receives_are_behind_the_extra_page_of_sends(void **state)
{
    struct pv_rig *g = *state;
    const struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const struct pv_drv_ring r = pvrig_pages(g, 4);
    uint32_t qpn;

    assert_int_equal(pvrig_ask(g, CREATE_QP, create_qp, .pdir = r.pdir, .pd = p.pd, .send_cq = p.cq,
                               .recv_cq = p.cq, .max_send_wr = 4, .max_recv_wr = 4,
                               .max_send_sge = 1, .max_recv_sge = 1, .total_pages = 4,
                               .send_pages = 2, .type = QPT_RC),
                     0);
    qpn = pvrig_handle(g);
    assert_int_equal(g->d->qps[qpn].wq[0].ring.first_page, 1);
    assert_int_equal(g->d->qps[qpn].wq[1].ring.first_page, 3);
    assert_int_equal(g->d->qps[qpn].pages.n, 4);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, pvrig_set_up, pvrig_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_control_hides_no_error),
        WITH_RIG(a_reset_by_control_keeps_imr),
        WITH_RIG(a_late_answer_does_not_outlive_a_reset),
        WITH_RIG(a_fault_knows_the_ring_of_the_last_cq),
        WITH_RIG(the_last_queue_pair_waits_for_bus_mastering),
        WITH_RIG(the_longest_page_list_can_be_registered),
        WITH_RIG(a_shared_queue_may_be_armed_for_all_its_receives),
        WITH_RIG(only_a_region_with_remote_rights_has_an_rkey),
        WITH_RIG(the_receives_are_behind_the_extra_page_of_sends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
