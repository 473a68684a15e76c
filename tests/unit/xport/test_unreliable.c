/* SPDX-License-Identifier: MIT */
/* UC and UD: a message is delivered whole or not at all, without any notification. */
#include <string.h>

#include "emu/facts/device.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/hca/ctrl.h"
#include "emu/trace/event.h"
#include "emu/xport/ctrl.h"
#include "rig.h"
#include "testing.h"

#define REMOTE 65536u
#define GRH    40u

static struct rig *rig_of(enum qp_type type)
{
    struct rig_config c = rig_defaults();

    c.type = type;
    return rig_new(&c);
}

static void uc_write(struct rig *r, uint64_t wr_id, uint32_t bytes)
{
    rig_prepare_remote(r, WR_RDMA_WRITE, wr_id, 0, bytes, REMOTE);
    rig_post(r, 0, WQ_SEND);
}

/* A send completes when it has left, whatever becomes of it. */
static void a_lost_packet_takes_its_message_with_it(void **state)
{
    static const struct {
        uint32_t psn; /* that is lost, of 100 .. 103 */
        uint32_t drops;
    } rows[] = {{100, 3}, {101, 2}, {102, 1}, {103, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_of(QPT_UC);

        rig_fill(r, 0, 3);
        rig_rule(r, 0, ANY, rows[i].psn, 1, RIG_LOSE);
        rig_recv(r, 7, REMOTE, 1024);
        rig_recv(r, 8, REMOTE + 1024, 1024);
        rig_send(r, 1, 0, 1000);
        rig_send(r, 2, 1000, 600);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
        rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
        assert_int_equal(r->host[1].n_wc[WQ_RECV], 1); /* the receive is for the next message */
        rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
        assert_int_equal(r->host[1].wc[WQ_RECV][0].bytes, 600);
        assert_true(rig_same(r, 1000, REMOTE, 600));
        assert_int_equal(rig_count(r, EV_drop, 1, NULL, 0), rows[i].drops);
        assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 0);
        assert_int_equal(rig_count(r, EV_timer, ANY, NULL, 0), 0);
        assert_int_equal(r->host[1].qp->state, QPS_RTS);
        rig_free(r);
    }
}

/* The receive of a message whose end was lost is kept for the next that needs one; a WRITE does
 * not. Shows B42, I5.
 */
static void a_write_leaves_the_receive_that_is_held(void **state)
{
    struct rig *r = rig_of(QPT_UC);

    (void)state;
    rig_fill(r, 0, 3);
    rig_rule(r, 0, ANY, 101, 1, RIG_LOSE);
    rig_recv(r, 7, REMOTE + 1024, 1024);
    rig_send(r, 1, 0, 500);
    uc_write(r, 2, 600);
    rig_run(r);
    assert_true(rig_same(r, 0, REMOTE, 600));
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 0);
    rig_send(r, 3, 0, 200);
    rig_run(r);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
    assert_int_equal(r->host[1].wc[WQ_RECV][0].bytes, 200);
    rig_free(r);
}

/* Shows I7. */
static void a_wrong_request_changes_nothing_and_is_not_answered(void **state)
{
    struct rig *r = rig_of(QPT_UC);
    struct rig_post *p;
    uint8_t before[256], after[256];

    (void)state;
    rig_fill(r, 1, 5);
    rig_read(r, 1, REMOTE, before, sizeof(before));
    p = rig_prepare_remote(r, WR_RDMA_WRITE, 1, 0, 200, REMOTE);
    p->rkey ^= 0xff;
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_REFUSED), 1);
    assert_int_equal(rig_event(r, EV_rx, 1, 0)->u.rx.rule, RULE_MR_KEY);
    rig_read(r, 1, REMOTE, after, sizeof(after));
    assert_memory_equal(before, after, sizeof(before));
    uc_write(r, 2, 600);
    rig_run(r);
    assert_true(rig_same(r, 0, REMOTE, 600));
    rig_free(r);
}

/* A request that this side cannot carry out stops the send queue; receives go on.  Shows B7, B85,
 * I6.
 */
static void an_error_of_a_send_leads_to_sqe(void **state)
{
    static const enum qp_type types[] = {QPT_UC, QPT_UD, QPT_GSI};
    struct qp_attr to_rts = {.state = QPS_RTS};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct rig *r = rig_of(types[i]);
        struct rig_post *p = rig_prepare(r, 0, WQ_SEND, 1, 0, 100);

        p->opcode = WR_RDMA_READ; /* none of them has it */
        rig_post(r, 0, WQ_SEND);
        rig_prepare(r, 0, WQ_SEND, 2, 0, 100);
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_LOC_QP_OP_ERR);
        rig_expect(r, 0, WQ_SEND, 1, 2, WCS_WR_FLUSH_ERR);
        assert_int_equal(r->host[0].qp->state, QPS_SQE);
        assert_int_equal(xport_qp_modify(&r->host[0].x, r->host[0].qp, QPA_STATE, &to_rts),
                         REF_NONE);
        assert_null(xport_invariant(r->host[0].qp));
        rig_free(r);
    }
}

/* A datagram of @bytes from host 0 to the queue pair of host 1. */
static struct rig_post *datagram(struct rig *r, uint64_t wr_id, uint32_t bytes)
{
    struct rig_post *p = rig_prepare(r, 0, WQ_SEND, wr_id, 0, bytes);

    p->to = (struct datagram_to){.av = {.port = HCA_PORT, .hop_limit = 9, .flags = AH_FLAG_GRH},
                                 .av_pdn = r->host[0].qp->pd->pdn,
                                 .qpn = r->host[1].qp->qpn,
                                 .qkey = RIG_QKEY};
    memcpy(p->to.av.dgid, r->host[1].hca.gids[0].raw, GID_BYTES);
    memcpy(p->to.av.dmac, r->host[1].x.mac, MAC_BYTES);
    return p;
}

/* Shows B110. */
static void the_service_level_says_which_ip_header_came(void **state)
{
    const enum profile profiles[] = {PROFILE_iba, PROFILE_rxe, PROFILE_rxe_7_3};

    (void)state;
    for (unsigned i = 0; i < 2 * ARRAY_LEN(profiles); i++) {
        const bool ipv6 = i % 2 == 1, is_iba = i / 2 == 0;
        struct rig_config c = rig_defaults();
        struct rig *r;

        c.type = QPT_UD;
        c.ipv6 = ipv6;
        c.profile[1] = profiles[i / 2];
        r = rig_new(&c);
        rig_recv(r, 7, REMOTE, GRH + 8);
        datagram(r, 1, 8);
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
        assert_int_equal(r->host[1].wc[WQ_RECV][0].sl, !is_iba ? 0
                                                       : ipv6  ? CQE_SL_IPV6
                                                               : CQE_SL_IPV4);
        rig_free(r);
    }
}

/* Shows B110. */
static void a_datagram_comes_behind_its_grh_area(void **state)
{
    struct rig *r = rig_of(QPT_UD);
    struct rig_post *p;
    uint8_t area[GRH];

    (void)state;
    rig_fill(r, 0, 3);
    rig_recv(r, 7, REMOTE, GRH + 1000);
    p = datagram(r, 1, 1000);
    p->opcode = WR_SEND_WITH_IMM;
    memcpy(p->imm, "\5\6\7\10", 4);
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
    assert_int_equal(r->host[1].wc[WQ_RECV][0].bytes, GRH + 1000);
    assert_int_equal(r->host[1].wc[WQ_RECV][0].flags, WCF_GRH | WCF_WITH_IMM);
    assert_int_equal(r->host[1].wc[WQ_RECV][0].sl, CQE_SL_IPV4);
    assert_int_equal(r->host[1].wc[WQ_RECV][0].src_qpn, r->host[0].qp->qpn);
    assert_memory_equal(r->host[1].wc[WQ_RECV][0].imm, "\5\6\7\10", 4);
    rig_read(r, 1, REMOTE, area, sizeof(area));
    assert_int_equal(area[20] >> 4, 4);
    assert_int_equal(area[28], 9); /* TTL */
    assert_true(rig_same(r, 0, REMOTE + GRH, 1000));
    rig_free(r);
}

/* Shows B5, B8, B42, B110, I18. */
static void what_a_datagram_is_refused_for(void **state)
{
    static const struct {
        uint32_t bytes, qkey_bits, pd_bits, gid_index, receive;
        enum wc_status status;
        enum rule rule;
        enum drop_reason drop;
        uint32_t sent;
    } rows[] = {
        {100, 0, 0, 0, 1000, WCS_SUCCESS, RULE_NONE, DROP_NONE, 1},
        {100, 1, 0, 0, 1000, WCS_SUCCESS, RULE_NONE, DROP_BAD_QKEY, 1},
        {100, 0, 0, 0, GRH + 99, WCS_SUCCESS, RULE_NONE, DROP_REFUSED, 1},
        {100, 0, 0, 0, GRH + 100, WCS_SUCCESS, RULE_NONE, DROP_NONE, 1},
        {100, 0, 0, 0, 0, WCS_SUCCESS, RULE_NONE, DROP_NO_RECEIVE, 1},
        {100, 0, 1, 0, 1000, WCS_LOC_QP_OP_ERR, RULE_SQ_AH_PD, DROP_NONE, 0},
        {100, 0, 0, 3, 1000, WCS_LOC_QP_OP_ERR, RULE_SQ_AH, DROP_NONE, 0},
        {4096, 0, 0, 0, GRH + 4096, WCS_SUCCESS, RULE_NONE, DROP_NONE, 1},
        {4097, 0, 0, 0, GRH + 5000, WCS_SUCCESS, RULE_NONE, DROP_NONE, 0}, /* C10-93.1.1 */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_of(QPT_UD);
        struct rig_post *p;
        const bool arrives = rows[i].sent && rows[i].drop == DROP_NONE;

        if (rows[i].receive)
            rig_recv(r, 7, REMOTE, rows[i].receive);
        p = datagram(r, 1, rows[i].bytes);
        p->to.qkey ^= rows[i].qkey_bits;
        p->to.av_pdn ^= rows[i].pd_bits;
        p->to.av.sgid_index = (uint8_t)rows[i].gid_index;
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, rows[i].status);
        assert_int_equal(r->host[0].wc[WQ_SEND][0].rule, rows[i].rule);
        assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), rows[i].sent);
        assert_int_equal(rig_count(r, EV_not_sent, 0, "rule", RULE_SQ_DATAGRAM_LENGTH),
                         !rows[i].sent && rows[i].status == WCS_SUCCESS);
        assert_int_equal(r->host[1].n_wc[WQ_RECV], arrives);
        assert_int_equal(rig_count(r, EV_drop, 1, NULL, 0), rows[i].sent && !arrives);
        if (rows[i].drop != DROP_NONE)
            assert_int_equal(rig_event(r, EV_drop, 1, 0)->u.drop.reason, rows[i].drop);
        rig_free(r);
    }
}

/* The highest bit stands for the Q_Key of the queue pair that sends.  Shows B110. */
static void a_privileged_q_key_is_that_of_the_queue_pair(void **state)
{
    struct rig *r = rig_of(QPT_UD);

    (void)state;
    rig_recv(r, 7, REMOTE, 1000);
    datagram(r, 1, 100)->to.qkey = QKEY_OWN | 0x77;
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
    rig_free(r);
}

/* The port passes on what is sent to any group that the device is in, or was a moment ago. */
static void a_datagram_to_a_group_of_nobody_is_thrown_away(void **state)
{
    static const uint8_t group[GID_BYTES] = {0xff, 0x0e, [15] = 1};
    struct rig *r = rig_of(QPT_UD);
    struct packet p = rig_packet(r, 1, OP_UD_SEND_ONLY, 0);
    struct hca_limits *limits = &r->host[1].hca.limits;

    (void)state;
    memcpy(p.ip.dst, group, GID_BYTES);
    p.bth.dest_qpn = QPN_MULTICAST;
    rig_inject(r, 1, &p);
    assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_NO_SUCH_GID), 1);
    limits->max_mcast_grp = limits->max_mcast_qp_attach = limits->max_total_mcast_qp_attach = 1;
    assert_int_equal(mcast_attach(&r->host[1].hca, r->host[1].qp, group), REF_NONE);
    p.bth.dest_qpn = r->host[1].qp->qpn;
    rig_inject(r, 1, &p);
    assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_NO_SUCH_QP), 1);
    assert_int_equal(rig_count(r, EV_rx, 1, NULL, 0), 0);
    assert_int_equal(mcast_detach(&r->host[1].hca, r->host[1].qp, group), REF_NONE);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_packet_takes_its_message_with_it),
        cmocka_unit_test(a_write_leaves_the_receive_that_is_held),
        cmocka_unit_test(a_wrong_request_changes_nothing_and_is_not_answered),
        cmocka_unit_test(an_error_of_a_send_leads_to_sqe),
        cmocka_unit_test(a_datagram_comes_behind_its_grh_area),
        cmocka_unit_test(the_service_level_says_which_ip_header_came),
        cmocka_unit_test(what_a_datagram_is_refused_for),
        cmocka_unit_test(a_privileged_q_key_is_that_of_the_queue_pair),
        cmocka_unit_test(a_datagram_to_a_group_of_nobody_is_thrown_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
