/* SPDX-License-Identifier: MIT */
/* QPN 1, the queue pair of type GSI: it exchanges management datagrams (MADs), each of which a
 * guest sends from two buffers, header and body, and receives into one.
 */
#include <string.h>

#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/roce.h"
#include "emu/hca/ctrl.h"
#include "emu/trace/event.h"
#include "emu/wire/mad.h"
#include "emu/xport/ctrl.h"
#include "rig.h"
#include "testing.h"

#define HEADER_AT 0u
#define BODY_AT   8192u /* deliberately not behind the header */
#define REMOTE    65536u
#define GRH       40u

static struct rig *gsi_rig(enum profile profile)
{
    struct rig_config c = rig_defaults();

    c.type = QPT_GSI;
    c.profile[0] = c.profile[1] = profile;
    return rig_new(&c);
}

/* A MAD from host 0 to QPN 1 of host 1. */
static struct rig_post *mad(struct rig *r, uint64_t wr_id)
{
    struct rig_post *p = rig_prepare(r, 0, WQ_SEND, wr_id, HEADER_AT, MAD_HEADER_BYTES);

    p->n_sge = 2;
    p->body_bytes = 2 * sizeof(struct sge);
    p->sge[1] = (struct sge){RIG_ADDR + BODY_AT, MAD_BODY_BYTES, r->host[0].mr->key};
    p->to = (struct datagram_to){.av = {.port = HCA_PORT, .hop_limit = 64, .flags = AH_FLAG_GRH},
                                 .av_pdn = r->host[0].qp->pd->pdn,
                                 .qpn = QPN_GSI,
                                 .qkey = QKEY_GSI};
    memcpy(p->to.av.dgid, r->host[1].hca.gids[0].raw, GID_BYTES);
    memcpy(p->to.av.dmac, r->host[1].x.mac, MAC_BYTES);
    return p;
}

/* Send and receive have the form that Linux gives them. */
static void a_mad_of_two_buffers_arrives_in_one(void **state)
{
    static const enum profile profiles[] = {PROFILE_iba, PROFILE_rxe, PROFILE_rxe_7_3};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
        struct rig *r = gsi_rig(profiles[i]);
        const struct completion *wc = &r->host[1].wc[WQ_RECV][0];
        const struct ev_tx *tx;
        uint8_t area[GRH];

        assert_int_equal(r->host[0].qp->qpn, QPN_GSI);
        rig_fill(r, 0, 3);
        rig_recv(r, 7, REMOTE, GRH + MAD_BYTES);
        mad(r, 1);
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
        rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
        assert_int_equal(wc->bytes, GRH + MAD_BYTES);
        assert_int_equal(wc->flags, WCF_GRH);
        assert_int_equal(wc->src_qpn, QPN_GSI);
        tx = &rig_event(r, EV_tx, 0, 0)->u.tx;
        assert_int_equal(tx->opcode, OP_UD_SEND_ONLY);
        assert_int_equal(tx->dest_qpn, QPN_GSI);
        rig_read(r, 1, REMOTE, area, sizeof(area));
        assert_int_equal(area[20] >> 4, 4);
        assert_true(rig_same(r, HEADER_AT, REMOTE + GRH, MAD_HEADER_BYTES));
        assert_true(rig_same(r, BODY_AT, REMOTE + GRH + MAD_HEADER_BYTES, MAD_BODY_BYTES));
        rig_free(r);
    }
}

/* The receiver expects QKEY_GSI, and a P_Key of its table. */
static void what_a_mad_is_dropped_for(void **state)
{
    static const struct {
        uint32_t qkey;
        uint16_t pkeys[2]; /* of host 1; host 0 sends 0xffff */
        uint32_t receive;
        enum drop_reason drop;
        uint32_t least, found;
    } rows[] = {
        {QKEY_GSI, {0xffff, 0x8001}, GRH + MAD_BYTES, DROP_NONE, 0, 0},
        /* The highest bit stands for the Q_Key of the sender, which is the same. */
        {QKEY_OWN, {0xffff, 0x8001}, GRH + MAD_BYTES, DROP_NONE, 0, 0},
        {RIG_QKEY, {0xffff, 0x8001}, GRH + MAD_BYTES, DROP_BAD_QKEY, QKEY_GSI, RIG_QKEY},
        {0, {0xffff, 0x8001}, GRH + MAD_BYTES, DROP_BAD_QKEY, QKEY_GSI, 0},
        {0x10000, {0xffff, 0x8001}, GRH + MAD_BYTES, DROP_BAD_QKEY, QKEY_GSI, 0x10000},
        /* QPN 1 is in all partitions of the port. */
        {QKEY_GSI, {0x8001, 0x7fff}, GRH + MAD_BYTES, DROP_NONE, 0, 0},
        {QKEY_GSI, {0x8001, 0x8002}, GRH + MAD_BYTES, DROP_BAD_PKEY, 0x8001, 0xffff},
        {QKEY_GSI, {0xffff, 0x8001}, GRH + MAD_BYTES - 1, DROP_REFUSED, 0, 0},
        {QKEY_GSI, {0xffff, 0x8001}, 0, DROP_NO_RECEIVE, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = gsi_rig(PROFILE_iba);
        const bool arrives = rows[i].drop == DROP_NONE;

        r->host[1].hca.pkeys = (struct hca_pkeys){{rows[i].pkeys[0], rows[i].pkeys[1]}, 2};
        if (rows[i].receive)
            rig_recv(r, 7, REMOTE, rows[i].receive);
        mad(r, 1)->to.qkey = rows[i].qkey;
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS); /* the sender is not told */
        assert_int_equal(r->host[1].n_wc[WQ_RECV], arrives);
        assert_int_equal(rig_count(r, EV_drop, 1, NULL, 0), !arrives);
        if (arrives) /* the completion tells the entry of the P_Key table */
            assert_int_equal(r->host[1].wc[WQ_RECV][0].pkey_index, rows[i].pkeys[0] == 0x8001);
        if (!arrives) {
            const struct ev_drop *drop = &rig_event(r, EV_drop, 1, 0)->u.drop;

            assert_int_equal(drop->reason, rows[i].drop);
            assert_int_equal(drop->qpn, QPN_GSI);
            if (rows[i].least) {
                assert_int_equal(drop->least, rows[i].least);
                assert_int_equal(drop->found, rows[i].found);
            }
        }
        assert_int_equal(r->host[1].qp->state, QPS_RTS);
        rig_free(r);
    }
}

/* MODIFY_QP was given RIG_QKEY at both ends. */
static void the_q_key_is_not_that_of_modify_qp(void **state)
{
    struct rig *r = gsi_rig(PROFILE_iba);
    const struct qp_attr a = {.qkey = RIG_QKEY};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(r->host[i].qp->attr.qkey, QKEY_GSI);
        assert_int_equal(xport_qp_modify(&r->host[i].x, r->host[i].qp, QPA_QKEY, &a), REF_NONE);
        assert_int_equal(r->host[i].qp->attr.qkey, QKEY_GSI);
    }
    rig_recv(r, 7, REMOTE, GRH + MAD_BYTES);
    mad(r, 1);
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
    rig_free(r);
}

static void a_datagram_is_at_most_as_long_as_the_port_s_mtu(void **state)
{
    static const uint32_t bytes[] = {4096, 4097};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bytes); i++) {
        struct rig *r = gsi_rig(PROFILE_iba);
        struct rig_post *p = mad(r, 1);

        p->n_sge = 1;
        p->body_bytes = sizeof(struct sge);
        p->sge[0].bytes = bytes[i];
        rig_recv(r, 7, REMOTE, GRH + 5000);
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
        assert_int_equal(r->host[1].n_wc[WQ_RECV], bytes[i] == 4096);
        assert_int_equal(rig_count(r, EV_not_sent, 0, NULL, 0), bytes[i] != 4096);
        rig_free(r);
    }
}

static void its_requests_are_those_of_datagrams(void **state)
{
    static const struct {
        enum wr_opcode opcode;
        uint32_t pd_bits;
        enum wc_status status;
        enum rule rule;
    } rows[] = {
        {WR_SEND, 0, WCS_SUCCESS, RULE_NONE},
        {WR_SEND_WITH_IMM, 0, WCS_SUCCESS, RULE_NONE},
        {WR_SEND_WITH_INV, 0, WCS_LOC_QP_OP_ERR, RULE_SQ_OPCODE},
        {WR_RDMA_WRITE, 0, WCS_LOC_QP_OP_ERR, RULE_SQ_OPCODE},
        {WR_RDMA_READ, 0, WCS_LOC_QP_OP_ERR, RULE_SQ_OPCODE},
        {WR_LOCAL_INV, 0, WCS_LOC_QP_OP_ERR, RULE_SQ_OPCODE},
        {WR_SEND, 1, WCS_LOC_QP_OP_ERR, RULE_SQ_AH_PD},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = gsi_rig(PROFILE_iba);
        struct rig_post *p = mad(r, 1);
        const bool arrives = rows[i].rule == RULE_NONE;

        p->opcode = (uint32_t)rows[i].opcode;
        p->to.av_pdn ^= rows[i].pd_bits;
        memcpy(p->imm, "\5\6\7\10", 4);
        rig_recv(r, 7, REMOTE, GRH + MAD_BYTES);
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, rows[i].status);
        assert_int_equal(r->host[0].wc[WQ_SEND][0].rule, rows[i].rule);
        assert_int_equal(r->host[0].qp->state, arrives ? QPS_RTS : QPS_SQE);
        assert_int_equal(r->host[1].n_wc[WQ_RECV], arrives);
        if (arrives && rows[i].opcode == WR_SEND_WITH_IMM) {
            assert_int_equal(r->host[1].wc[WQ_RECV][0].flags, WCF_GRH | WCF_WITH_IMM);
            assert_memory_equal(r->host[1].wc[WQ_RECV][0].imm, "\5\6\7\10", 4);
        }
        rig_free(r);
    }
}

static void advance(struct rig_host *h, enum qp_state to)
{
    const struct qp_attr a = {.state = to, .qkey = RIG_QKEY};

    assert_int_equal(xport_qp_modify(&h->x, h->qp, QPA_STATE | qp_fsm_needs(QPT_GSI, to), &a),
                     REF_NONE);
}

/* A device has one, and has it again when it was destroyed. */
static void there_is_one_at_a_time(void **state)
{
    struct rig *r = gsi_rig(PROFILE_iba);
    struct rig_host *h = &r->host[1];
    const struct qp_config c = h->qp->config;
    struct packet p = rig_packet(r, 1, OP_UD_SEND_ONLY, 0);
    struct qp *more;

    (void)state;
    memcpy(p.ip.dst, h->hca.gids[0].raw, GID_BYTES);
    p.bth.dest_qpn = QPN_GSI;
    p.deth.qkey = QKEY_GSI;
    assert_int_equal(xport_qp_create(&h->x, &c, &more), REF_QP_GSI_LIMIT);
    assert_int_equal(xport_qp_destroy(&h->x, QPN_GSI), REF_NONE);
    assert_null(hca_qp(&h->hca, QPN_GSI));
    assert_int_equal(xport_qp_destroy(&h->x, QPN_GSI), REF_QP_HANDLE);
    rig_inject(r, 1, &p);
    assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_NO_SUCH_QP), 1);
    assert_int_equal(xport_qp_create(&h->x, &c, &h->qp), REF_NONE);
    assert_int_equal(h->qp->qpn, QPN_GSI);
    rig_inject(r, 1, &p);
    assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_QP_NOT_READY), 1);
    advance(h, QPS_INIT);
    advance(h, QPS_RTR);
    rig_inject(r, 1, &p);
    assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_NO_RECEIVE), 1);
    rig_free(r);
}

/* The loops over all queue pairs of a device include QPN 1. */
static void a_failed_completion_queue_ends_it(void **state)
{
    struct rig *r = gsi_rig(PROFILE_iba);
    struct rig_host *h = &r->host[0];

    (void)state;
    xport_cq_failed(&h->x, h->qp->recv_cq);
    assert_int_equal(h->qp->state, QPS_ERR);
    assert_int_equal(h->n_async[ASE_QP_FATAL], 1);
    rig_free(r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mad_of_two_buffers_arrives_in_one),
        cmocka_unit_test(what_a_mad_is_dropped_for),
        cmocka_unit_test(the_q_key_is_not_that_of_modify_qp),
        cmocka_unit_test(a_datagram_is_at_most_as_long_as_the_port_s_mtu),
        cmocka_unit_test(its_requests_are_those_of_datagrams),
        cmocka_unit_test(there_is_one_at_a_time),
        cmocka_unit_test(a_failed_completion_queue_ends_it),
    };

    return cmocka_run_group_tests_name("gsi", tests, NULL, NULL);
}
