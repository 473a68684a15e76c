/* SPDX-License-Identifier: MIT */
/* Paths through a whole lab that the usual two queue pairs on one CQ do not take. */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/qp_fsm.h"
#include "emu/net/net.h"
#include "emu/trace/event.h"
#include "testbed/testbed.h"

#define BYTES 64u

static const struct rdl_limits none = {0};

static struct testbed_config config(void)
{
    return (struct testbed_config){.seed = 1,
                                   .check_invariants = true,
                                   .record = true,
                                   .mr_bytes = 4096,
                                   .max_wr = 16,
                                   .path_mtu = MTU_256,
                                   .timeout = 14,
                                   .retry_cnt = 7,
                                   .rnr_retry = 7,
                                   .min_rnr_timer = 1};
}

static void answered(struct testbed *r, unsigned side)
{
    struct rdl_response rsp;

    assert_int_equal(rdl_wait(r->lab, r->side[side].host, none, &rsp), RDL_OK);
}

/* Another queue pair on @side, with a CQ each for sends and receives. */
static rdl_qp qp_with_two_cqs(struct testbed *r, unsigned side, rdl_cq *ret_send, rdl_cq *ret_recv)
{
    struct rdl_qp_config c = {.pd = r->side[side].pd, .type = QPT_RC};
    rdl_qp qp;

    assert_int_equal(rdl_create_cq(r->lab, r->side[side].host, 16, "scq", ret_send), RDL_OK);
    answered(r, side);
    assert_int_equal(rdl_create_cq(r->lab, r->side[side].host, 16, "rcq", ret_recv), RDL_OK);
    answered(r, side);
    c.send_cq = *ret_send;
    c.recv_cq = *ret_recv;
    assert_int_equal(rdl_create_qp(r->lab, &c, "two", &qp), RDL_OK);
    answered(r, side);
    return qp;
}

static void move(struct testbed *r, unsigned side, rdl_qp qp, struct rdl_qp_attr *a,
                 enum qp_state to)
{
    const uint32_t mask = QPA_STATE | qp_fsm_needs(QPT_RC, to);
    struct rdl_modify_error err;

    a->state = to;
    assert_int_equal(rdl_modify_qp(r->lab, qp, a, mask, false, &err), RDL_OK);
    answered(r, side);
}

/* Brings @qp on @side to RTS, connected to @peer on @peer_side. */
static void connect(struct testbed *r, unsigned side, rdl_qp qp, unsigned peer_side, rdl_qp peer)
{
    struct rdl_qp_attr a = {.path_mtu = MTU_256, .port = 1, .min_rnr_timer = 1, .timeout = 14};
    struct rdl_qp_info info;
    uint8_t mac[6];

    assert_int_equal(rdl_qp_info(r->lab, peer, &info), RDL_OK);
    a.dest_qpn = info.qpn;
    assert_int_equal(rdl_host_address(r->lab, r->side[peer_side].host, 0, a.ah.dgid, mac), RDL_OK);
    for (int to = QPS_INIT; to <= QPS_RTS; to++)
        move(r, side, qp, &a, (enum qp_state)to);
}

static void post(struct testbed *r, unsigned side, rdl_qp qp, uint64_t wr_id, bool send)
{
    const struct rdl_sge sge = {r->side[side].mem.addr, BYTES, r->side[side].mem.lkey};
    const struct rdl_send_wr s = {
        .wr_id = wr_id, .opcode = WR_SEND, .flags = SF_SIGNALED, .sge = &sge, .n_sge = 1};
    const struct rdl_recv_wr q = {.wr_id = wr_id, .sge = &sge, .n_sge = 1};

    assert_int_equal(
        send ? rdl_post_send(r->lab, qp, &s, false) : rdl_post_recv(r->lab, qp, &q, false), RDL_OK);
}

/* @cq holds one completion, of this request. */
static void holds(struct testbed *r, rdl_cq cq, uint64_t wr_id, enum wc_opcode opcode)
{
    struct rdl_wc wc[2];
    size_t n;

    assert_int_equal(rdl_poll_cq(r->lab, cq, 2, wc, &n), RDL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(wc[0].status, WCS_SUCCESS);
    assert_int_equal(wc[0].wr_id, wr_id);
    assert_int_equal(wc[0].opcode, opcode);
}

static void sends_and_receives_complete_where_each_belongs(void **state)
{
    const struct testbed_config c = config();
    rdl_cq send_cq[2], recv_cq[2];
    rdl_qp qp[2];
    struct testbed r;

    (void)state;
    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    for (unsigned i = 0; i < 2; i++)
        qp[i] = qp_with_two_cqs(&r, i, &send_cq[i], &recv_cq[i]);
    for (unsigned i = 0; i < 2; i++)
        connect(&r, i, qp[i], 1 - i, qp[1 - i]);
    for (unsigned i = 0; i < 2; i++) {
        post(&r, i, qp[i], 20 + i, false);
        post(&r, i, qp[i], 10 + i, true);
    }
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    for (unsigned i = 0; i < 2; i++) {
        holds(&r, send_cq[i], 10 + i, WC_SEND);
        holds(&r, recv_cq[i], 20 + i, WC_RECV);
    }
    testbed_done(&r);
}

/* A frame to the own MAC occupies the port as long as it takes to turn round. */
static void a_host_that_talks_to_itself_sends_one_frame_at_a_time(void **state)
{
    const struct testbed_config c = config();
    rdl_cq send_cq, recv_cq;
    uint64_t before = 0;
    uint32_t n = 0;
    struct testbed r;
    rdl_qp qp;

    (void)state;
    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    qp = qp_with_two_cqs(&r, 0, &send_cq, &recv_cq);
    connect(&r, 0, qp, 0, qp);
    for (uint64_t i = 0; i < 4; i++)
        post(&r, 0, qp, i, false);
    for (uint64_t i = 0; i < 4; i++)
        post(&r, 0, qp, i, true);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    for (size_t i = 0; i < rdl_record_count(r.lab); i++) {
        const struct ev *e = rdl_record_at(r.lab, i);

        if (e->kind != EV_tx)
            continue;
        assert_true(n == 0 || e->at_ns >= before + NET_LOOPBACK_NS);
        before = e->at_ns;
        n++;
    }
    assert_true(n >= 5); /* four SENDs, and an ACK at least */
    testbed_done(&r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_and_receives_complete_where_each_belongs),
        cmocka_unit_test(a_host_that_talks_to_itself_sends_one_frame_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
