/* SPDX-License-Identifier: MIT */
/* A hostile driver of the extensions: addresses that are wrong, queues that come and go. */
#include "emu/device/internal.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/rules.h"
#include "emu/hca/key.h"
#include "machine.h"

#define LIST_AT       0x100000u
#define SMALL_AT      0x200000u /* the first page on the list; it begins a page of 2 MiB */
#define ROOM_PAGES    3u        /* of the fast region */
#define SMALL_BUFFERS 6u
#define RAM_END       ((uint64_t)MACHINE_RAM_BYTES)

static int set_up(void **state)
{
    return machine_set_up_extensions(state);
}

/* The CQN in the buffer that the device has completed, or 0. */
static uint32_t next_event(const struct machine *m, struct ring *r)
{
    struct raw_cq_event raw;
    struct rfc_cq_event event;
    uint32_t head, len;

    if (!ring_used(m, r, &head, &len))
        return 0;
    assert_int_equal(len, EVENT_BYTES);
    machine_peek(m, MACHINE_EVENT_AT(head), &raw, sizeof(raw));
    rfc_cq_event_get(&event, &raw);
    return event.cqn;
}

static void an_event(struct machine *m, uint32_t cqn)
{
    rdma_completed(&m->rdma, hca_cq(&m->rdma.nic.hca, cqn));
}

/* --- CREATE_CQ_EX ----------------------------------------------------------------------------- */

static void an_arming_is_eight_bytes_of_memory(void **state)
{
    static const struct {
        struct rfc_create_cq_ex r;
        enum refusal_reason why;
    } rows[] = {
        {{4, 0, RAM_END - 8}, REF_NONE},
        {{4, MACHINE_CEQS - 1, 0}, REF_NONE},
        {{4, 0, 4}, REF_CQ_ARM_MEMORY},
        {{4, 0, RAM_END - 4}, REF_CQ_ARM_MEMORY},
        {{4, 0, RAM_END}, REF_CQ_ARM_MEMORY},
        {{4, 0, UINT64_MAX - 7}, REF_CQ_ARM_MEMORY},
        {{4, 0, UINT64_MAX}, REF_CQ_ARM_MEMORY},
        {{4, MACHINE_CEQS, 0}, REF_CQ_CEQ},
        {{4, UINT32_MAX, 0}, REF_CQ_CEQ},
        {{0, 0, 8}, REF_CQ_ENTRIES},
        {{UINT32_MAX, 0, 8}, REF_CQ_ENTRIES},
        {{4, 1, 8}, REF_NONE},
        {{4, 0, 8}, REF_CQ_LIMIT},
    };
    struct machine *m = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const int rsp = machine_ask_create_cq_ex(m, CMD_CREATE_CQ_EX, &rows[i].r);

        assert_int_equal(rsp, refusal_rsp(rows[i].why));
        if (rows[i].why != REF_NONE)
            assert_int_equal(m->rdma.nic.hca.refused.why, rows[i].why);
    }
}

static void a_request_arms_no_queue_that_is_armed_in_memory(void **state)
{
    struct machine *m = *state;

    assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4, .arm = 8), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4), RSP_OK);
    assert_int_equal(
        ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = 1, .flags = NOTIFY_NEXT_COMPLETION),
        RSP_INVALID_ARG);
    assert_int_equal(
        ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = 2, .flags = NOTIFY_NEXT_COMPLETION), RSP_OK);
    assert_int_equal(ASK(m, CMD_DESTROY_CQ, cq_handle, .cqn = 1), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 4), RSP_OK);
    assert_int_equal(machine_number(m), 1); /* it does not inherit the arming */
    assert_int_equal(
        ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = 1, .flags = NOTIFY_NEXT_COMPLETION), RSP_OK);
}

/* --- Completion event queues ------------------------------------------------------------------ */

/* Destroys each of three queues whose events wait: the first, the middle and the last one. */
static void a_queue_leaves_the_line_wherever_it_stands(void **state)
{
    struct machine *m = *state;
    const uint32_t queue = rdma_ceq(&m->rdma, 0);

    for (uint32_t gone = 1; gone <= 3; gone++) {
        struct ring r;

        machine_reset_queue(&m->rdma.pci, queue);
        for (uint32_t cqn = 1; cqn <= 3; cqn++)
            assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4), RSP_OK);
        for (uint32_t cqn = 1; cqn <= 3; cqn++)
            an_event(m, cqn);
        assert_int_equal(ASK(m, CMD_DESTROY_CQ, cq_handle, .cqn = gone), RSP_OK);
        assert_null(rdma_ceqs_invariant(&m->rdma));
        /* The number comes back with another queue of events. */
        assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4, .ceq = 1), RSP_OK);
        assert_int_equal(machine_number(m), gone);
        an_event(m, gone);
        assert_null(rdma_ceqs_invariant(&m->rdma));
        r = ring_enable(m, &m->rdma.pci, queue);
        for (uint32_t i = 0; i < 3; i++)
            ring_post_event(m, &r, i, EVENT_BYTES);
        ring_kick(&r);
        machine_run(m);
        for (uint32_t cqn = 1; cqn <= 3; cqn++) {
            if (cqn != gone)
                assert_int_equal(next_event(m, &r), cqn);
        }
        assert_int_equal(next_event(m, &r), 0);
        for (uint32_t cqn = 1; cqn <= 3; cqn++)
            assert_int_equal(ASK(m, CMD_DESTROY_CQ, cq_handle, .cqn = cqn), RSP_OK);
        assert_false(rdma_ceq_waits(&m->rdma, rdma_ceq(&m->rdma, 1)));
    }
}

/* The event that waits outlives each of the resets, and the buffers that were in the ring do not.
 */
static void events_outlive_a_reset_of_their_queue(void **state)
{
    struct machine *m = *state;
    const uint32_t queue = rdma_ceq(&m->rdma, 0);
    struct ring r = ring_enable(m, &m->rdma.pci, queue);

    assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4), RSP_OK);
    ring_post_event(m, &r, 0, EVENT_BYTES);
    an_event(m, 1);
    assert_int_equal(next_event(m, &r), 1);
    for (uint32_t i = 0; i < 4; i++) {
        an_event(m, 1);
        an_event(m, 2);
        ring_post_event(m, &r, 1, EVENT_BYTES);
        machine_reset_queue(&m->rdma.pci, queue);
        assert_true(rdma_ceq_waits(&m->rdma, queue));
        ring_kick(&r); /* of a queue that is not enabled */
        machine_run(m);
        assert_true(rdma_ceq_waits(&m->rdma, queue));
        r = ring_enable(m, &m->rdma.pci, queue);
    }
    ring_post_event(m, &r, 0, EVENT_BYTES);
    ring_post_event(m, &r, 1, EVENT_BYTES);
    ring_kick(&r);
    machine_run(m);
    assert_int_equal(next_event(m, &r), 1);
    assert_int_equal(next_event(m, &r), 2);
    assert_false(rdma_broken(&m->rdma));
}

/* The event stays until a buffer is large enough. */
static void buffers_that_fit_nothing_are_completed_and_interrupt(void **state)
{
    struct machine *m = *state;
    struct ring r = ring_enable(m, &m->rdma.pci, rdma_ceq(&m->rdma, 0));
    const struct seg small = {BUFFER_AT, EVENT_BYTES - 1};
    uint32_t head, len;

    assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4), RSP_OK);
    for (uint32_t i = 0; i < SMALL_BUFFERS; i++)
        (void)ring_post(m, &r, &small, i % 2, 1 - i % 2); /* too small, or to be read */
    m->n_irq = 0;
    an_event(m, 1);
    machine_run(m);
    for (uint32_t i = 0; i < SMALL_BUFFERS; i++) {
        assert_true(ring_used(m, &r, &head, &len));
        assert_int_equal(len, 0);
    }
    assert_true(m->n_irq > 0); /* the driver learns that it has them back */
    ring_post_event(m, &r, SMALL_BUFFERS, EVENT_BYTES);
    ring_kick(&r);
    machine_run(m);
    assert_int_equal(next_event(m, &r), 1);
}

/* Returns avail_event of @r: the device wants a kick for the chain behind that index. */
static uint16_t avail_event(const struct machine *m, const struct ring *r)
{
    uint8_t le[2];

    machine_peek(m, vring_avail_event_at(&r->at), le, sizeof(le));
    return ld_le16(le);
}

/* A queue without waiting events needs no kick; one with a waiting event needs that of its first
 * buffer, also if it is enabled again.
 */
static void a_kick_is_wanted_while_an_event_waits(void **state)
{
    struct machine *m = *state;
    const uint32_t queue = rdma_ceq(&m->rdma, 0);
    struct ring r = ring_enable(m, &m->rdma.pci, queue);

    assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4), RSP_OK);
    assert_int_not_equal(avail_event(m, &r), 0);
    an_event(m, 1);
    assert_int_equal(avail_event(m, &r), 0);
    machine_reset_queue(&m->rdma.pci, queue);
    r = ring_enable(m, &m->rdma.pci, queue);
    assert_int_equal(avail_event(m, &r), 0);
}

static void events_wait_for_bus_mastering(void **state)
{
    struct machine *m = *state;
    struct ring r = ring_enable(m, &m->rdma.pci, rdma_ceq(&m->rdma, 0));
    struct raw_cq_arm raw;

    assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_CQ_EX, create_cq_ex, .cqe = 4, .arm = LIST_AT), RSP_OK);
    rfc_cq_arm_put(&raw, &(struct rfc_cq_arm){.arm = 4 | NOTIFY_NEXT_COMPLETION});
    machine_poke(m, LIST_AT, &raw, sizeof(raw));
    ring_post_event(m, &r, 0, EVENT_BYTES);
    assert_int_equal(rdma_cq_arm(&m->rdma, hca_cq(&m->rdma.nic.hca, 2)), CQ_ARMED_ANY);
    virtio_set_mastering(&m->rdma.pci, false);
    assert_int_equal(rdma_cq_arm(&m->rdma, hca_cq(&m->rdma.nic.hca, 2)), CQ_IDLE);
    an_event(m, 1);
    machine_run(m);
    assert_int_equal(next_event(m, &r), 0);
    virtio_set_mastering(&m->rdma.pci, true);
    machine_run(m);
    assert_int_equal(next_event(m, &r), 1);
}

/* --- REG_IN_WQE ------------------------------------------------------------------------------- */

static void put_list(struct machine *m, uint64_t at, const uint64_t *pages, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t le[8];

        st_le64(le, pages[i]);
        machine_poke(m, at + 8 * i, le, sizeof(le));
    }
}

/* Makes a fast region and posts a REG_MR of it with @list.  Returns its completion. */
static struct rfc_cqe reg(struct machine *m, struct pair *p, const struct rfc_wr_reg_list *list,
                          bool is_gone)
{
    struct rfc_wr_reg_list with = *list;
    struct rfc_sq_wqe wqe = {.opcode = WR_REG_MR, .send_flags = SF_SIGNALED, .wr_id = 7};
    struct rfc_mr_keys keys;
    struct rfc_cqe cqe;

    assert_int_equal(ASK(m, CMD_CREATE_MR, create_mr, .pdn = 1, .access_flags = ACC_LOCAL_WRITE,
                         .max_num_sg = ROOM_PAGES),
                     RSP_OK);
    rfc_mr_keys_get(&keys, (const struct raw_mr_keys *)(m->rsp + 1));
    with.mrn = keys.mrn;
    with.key = keys.lkey ^ 1;
    with.access = ACC_LOCAL_WRITE;
    rfc_wr_reg_list_put((struct raw_wr_reg_list *)wqe.wr, &with);
    pair_give_cqes(m, p, 1, sizeof(struct raw_cqe));
    pair_post_send(m, p, &wqe, NULL, 0);
    if (is_gone)
        assert_int_equal(ASK(m, CMD_DEREG_MR, mr_handle, .mrn = keys.mrn), RSP_OK);
    assert_int_equal(ASK(m, CMD_DESTROY_PD, pd_handle, .pdn = 99), RSP_BAD_HANDLE);
    ring_kick(&p->sq);
    machine_run(m);
    assert_true(pair_completion(m, p, 0, &cqe));
    assert_int_equal(cqe.status == WCS_SUCCESS, key_find(&m->rdma.nic.hca, with.key) != NULL);
    return cqe;
}

static void a_page_list_of_reg_mr_is_checked(void **state)
{
    static const uint64_t pages[ROOM_PAGES] = {SMALL_AT, SMALL_AT + 0x2000, SMALL_AT + 0x1000};
    static const uint64_t outside[] = {SMALL_AT, RAM_END}, wild[] = {UINT64_MAX - 4095},
                          ragged[] = {SMALL_AT + 8};
    static const struct {
        const uint64_t *pages;
        uint32_t n_pages;
        struct rfc_wr_reg_list r;
        enum rule rule;
        bool is_gone;
    } rows[] = {
        {pages, 3, {0, 0, 0, LIST_AT, 3, 0x10fff, 4098}, RULE_NONE, false},
        {pages, 1, {0, 0, 0, RAM_END - 8, 1, 0, 1}, RULE_NONE, false},
        {pages, 1, {0, 0, 0, LIST_AT + 3, 1, 0, 1}, RULE_NONE, false}, /* of any alignment */
        {pages, 1, {0, 0, 0, LIST_AT, 1, 0, 1}, RULE_REG_REGION, true},
        {pages, 0, {0, 0, 0, LIST_AT, 0, 0, 1}, RULE_REG_PAGES, false},
        {pages, 3, {0, 0, 0, LIST_AT, ROOM_PAGES + 1, 0, 3 * 4096 + 1}, RULE_REG_LIST_PAGES, false},
        {pages, 3, {0, 0, 0, LIST_AT, UINT32_MAX, 0, 1}, RULE_REG_LIST_PAGES, false},
        {pages, 2, {0, 0, 0, LIST_AT, 2, 0, 4096}, RULE_REG_LIST_PAGES, false},
        {pages, 1, {0, 0, 0, LIST_AT, 1, 0xfff, 2}, RULE_REG_LIST_PAGES, false},
        {pages, 1, {0, 0, 0, LIST_AT, 1, 0, 0}, RULE_REG_LIST_LENGTH, false},
        {pages, 1, {0, 0, 0, LIST_AT, 1, 0, UINT64_MAX}, RULE_REG_LIST_LENGTH, false},
        {pages, 1, {0, 0, 0, LIST_AT, 1, UINT64_MAX, 2}, RULE_REG_LIST_LENGTH, false},
        {pages, 0, {0, 0, 0, RAM_END - 8, 2, 0, 8192}, RULE_REG_LIST_MEMORY, false},
        {pages, 0, {0, 0, 0, UINT64_MAX - 7, 1, 0, 1}, RULE_REG_LIST_MEMORY, false},
        {pages, 0, {0, 0, 0, UINT64_MAX - 7, 3, 0, 3 * 4096}, RULE_REG_LIST_MEMORY, false},
        {outside, 2, {0, 0, 0, LIST_AT, 2, 0, 8192}, RULE_REG_LIST_MEMORY, false},
        {wild, 1, {0, 0, 0, LIST_AT, 1, 0, 4096}, RULE_REG_LIST_MEMORY, false},
        {ragged, 1, {0, 0, 0, LIST_AT, 1, 0, 1}, RULE_REG_LIST_MEMORY, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct machine *m;
        struct rfc_cqe cqe;
        struct pair p;

        set_up(state);
        m = *state;
        p = machine_pair(m, machine_mac);
        put_list(m, rows[i].r.pages, rows[i].pages, rows[i].n_pages);
        cqe = reg(m, &p, &rows[i].r, rows[i].is_gone);
        assert_int_equal(m->rdma.nic.hca.refused.why, REF_PD_HANDLE); /* of the last request */
        assert_int_equal(cqe.status, rows[i].rule == RULE_NONE ? WCS_SUCCESS : WCS_MW_BIND_ERR);
        assert_int_equal(cqe.vendor_err, rows[i].rule);
        machine_tear_down(state);
    }
}

/* --- QP_END ----------------------------------------------------------------------------------- */

/* Number of chains that the device has completed, each with length 0. */
static uint32_t returned(const struct machine *m, struct ring *r)
{
    uint32_t head, len, n = 0;

    while (ring_used(m, r, &head, &len)) {
        assert_int_equal(len, 0);
        n++;
    }
    return n;
}

/* Fills the send queue of the receiver, which never sends, and gives the device 2 receives. */
static struct pair with_work(struct machine *m)
{
    struct pair p = machine_pair(m, machine_mac);

    pair_post_recv(m, &p, 1, PAIR_MEM, 64);
    pair_post_recv(m, &p, 2, PAIR_MEM, 64);
    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND, .wr_id = 3}, NULL, 0);
    pair_give_cqes(m, &p, 4, sizeof(struct raw_cqe));
    return p;
}

static void an_end_completes_all_buffers_and_writes_nothing_more(void **state)
{
    static const uint32_t ends[] = {CMD_DESTROY_QP, CMD_MODIFY_QP};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const struct rfc_qp_attr reset = {.qp_state = QPS_RESET};
        struct machine *m;
        struct rfc_cqe cqe;
        struct pair p;

        set_up(state);
        m = *state;
        p = with_work(m);
        for (uint32_t qpn = PAIR_SENDER; qpn <= PAIR_RECEIVER; qpn++) {
            assert_int_equal(ends[i] == CMD_DESTROY_QP
                                 ? ASK(m, CMD_DESTROY_QP, qp_handle, .qpn = qpn)
                                 : machine_modify(m, qpn, QPA_STATE, &reset),
                             RSP_OK);
        }
        assert_int_equal(returned(m, &p.sq), 1);
        assert_int_equal(returned(m, &p.rq), 2);
        ring_kick(&p.sq);
        ring_kick(&p.rq);
        machine_run(m);
        assert_false(pair_completion(m, &p, 0, &cqe));
        assert_int_equal(returned(m, &p.sq) + returned(m, &p.rq), 0);
        machine_tear_down(state);
    }
}

/* In each state, and with queues that were never enabled or have been reset. */
static void a_queue_pair_without_queues_ends(void **state)
{
    struct machine *m = *state;
    struct pair p = with_work(m);
    const struct rfc_qp_attr error = {.qp_state = QPS_ERR}, reset = {.qp_state = QPS_RESET};

    machine_reset_queue(&m->rdma.pci, rdma_sq(&m->rdma, PAIR_SENDER));
    assert_int_equal(machine_modify(m, PAIR_RECEIVER, QPA_STATE, &error), RSP_OK);
    machine_reset_queue(&m->rdma.pci, rdma_rq(&m->rdma, PAIR_RECEIVER));
    assert_int_equal(machine_modify(m, PAIR_RECEIVER, QPA_STATE, &reset), RSP_OK);
    assert_int_equal(machine_modify(m, PAIR_RECEIVER, QPA_STATE, &reset), RSP_OK);
    assert_int_equal(ASK(m, CMD_DESTROY_QP, qp_handle, .qpn = PAIR_SENDER), RSP_OK);
    assert_int_equal(ASK(m, CMD_DESTROY_QP, qp_handle, .qpn = PAIR_SENDER), RSP_BAD_HANDLE);
    assert_int_equal(ASK(m, CMD_DESTROY_QP, qp_handle, .qpn = PAIR_RECEIVER), RSP_OK);
    assert_int_equal(returned(m, &p.sq), 0);
    assert_false(rdma_broken(&m->rdma));
}

/* A ring with a wrong index breaks the device, as it does without the end of a queue pair. */
static void a_broken_ring_is_found_at_the_end(void **state)
{
    struct machine *m = *state;
    struct pair p = with_work(m);

    for (uint32_t i = 0; i < RING_SIZE + 1; i++)
        ring_offer(m, &p.sq, 0);
    (void)ASK(m, CMD_DESTROY_QP, qp_handle, .qpn = PAIR_SENDER);
    assert_true(rdma_broken(&m->rdma));
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_arming_is_eight_bytes_of_memory),
        T(a_request_arms_no_queue_that_is_armed_in_memory),
        T(a_queue_leaves_the_line_wherever_it_stands),
        T(events_outlive_a_reset_of_their_queue),
        T(buffers_that_fit_nothing_are_completed_and_interrupt),
        T(a_kick_is_wanted_while_an_event_waits),
        T(events_wait_for_bus_mastering),
        cmocka_unit_test(a_page_list_of_reg_mr_is_checked),
        cmocka_unit_test(an_end_completes_all_buffers_and_writes_nothing_more),
        T(a_queue_pair_without_queues_ends),
        T(a_broken_ring_is_found_at_the_end),
    };

    return cmocka_run_group_tests_name("extensions", tests, NULL, NULL);
}
