/* SPDX-License-Identifier: MIT */
/* The asynchronous events of a queue pair: established, drained, refused, failed. */
#include "rig.h"

#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/qp_fsm.h"
#include "emu/trace/event.h"
#include "emu/xport/ctrl.h"
#include "testing.h"

#define PACKETS 100u

#define RW ACC_REMOTE_WRITE
#define RR ACC_REMOTE_READ
#define RA ACC_REMOTE_ATOMIC

static struct rig *rig_default(void)
{
    const struct rig_config c = rig_defaults();

    return rig_new(&c);
}

static enum refusal_reason modify(struct rig *r, uint32_t mask, struct qp_attr a)
{
    struct rig_host *h = &r->host[0];

    return xport_qp_modify(&h->x, h->qp, mask, &a);
}

/* To SQD, in the middle of a message of many packets. */
static struct rig *rig_draining(bool tell)
{
    struct rig *r = rig_default();
    const struct qp_attr a = {.state = QPS_SQD, .en_sqd_async_notify = tell};

    rig_recv(r, 7, 0, 65536);
    rig_recv(r, 8, 0, 65536);
    rig_send(r, 1, 0, 256 * PACKETS);
    rig_send(r, 2, 0, 64);
    rig_run_until(r, 10 * RIG_EACH_NS);
    assert_int_equal(modify(r, QPA_STATE | (tell ? QPA_EN_SQD_ASYNC_NOTIFY : 0), a), REF_NONE);
    assert_true(xport_is_draining(r->host[0].qp));
    return r;
}

/* Shows B88, I17. */
static void drained_is_told_once_if_asked_for(void **state)
{
    (void)state;
    for (uint32_t tell = 0; tell < 2; tell++) {
        struct rig *r = rig_draining(tell);

        rig_run(r);
        assert_false(xport_is_draining(r->host[0].qp));
        assert_int_equal(r->host[0].n_async[ASE_SQ_DRAINED], tell);
        assert_int_equal(r->host[0].n_wc[WQ_SEND], 1);
        rig_move(r, 0, QPS_RTS);
        rig_run(r);
        assert_int_equal(r->host[0].n_wc[WQ_SEND], 2);
        assert_int_equal(r->host[0].n_async[ASE_SQ_DRAINED], tell);
        rig_free(r);
    }
}

/* The last packet is lost: drained is when its repetition is acknowledged, not when it was sent. */
static void what_is_lost_is_not_drained(void **state)
{
    struct rig *r = rig_draining(true);

    (void)state;
    rig_rule(r, 0, OP_RC_SEND_LAST, ANY, 1, RIG_LOSE);
    rig_run_until(r, 60000); /* all packets are sent, and the timer still runs */
    assert_int_equal(req_nxt(&rig_rc(r, 0)->req).v, req_high(&rig_rc(r, 0)->req).v);
    assert_true(xport_is_draining(r->host[0].qp));
    rig_run(r);
    assert_int_equal(r->host[0].n_async[ASE_SQ_DRAINED], 1);
    assert_true(rig_count(r, EV_timeout, 0, NULL, 0) + rig_count(r, EV_retry, 0, NULL, 0) > 0);
    rig_free(r);
}

/* The attribute is given, and says no. */
static void who_refuses_the_event_is_not_told(void **state)
{
    struct rig *r = rig_default();
    const struct qp_attr a = {.state = QPS_SQD, .en_sqd_async_notify = 0};

    (void)state;
    assert_int_equal(modify(r, QPA_STATE | QPA_EN_SQD_ASYNC_NOTIFY, a), REF_NONE);
    rig_run(r);
    assert_false(xport_is_draining(r->host[0].qp));
    assert_int_equal(r->host[0].n_async[ASE_SQ_DRAINED], 0);
    rig_free(r);
}

/* No completion tells of a receive queue that cannot be read, so that an event does. */
static void a_broken_receive_queue_is_told_where_nothing_is_answered(void **state)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    (void)state;
    c.type = QPT_UC;
    r = rig_new(&c);
    r->host[1].queue[WQ_RECV].broken = true;
    rig_send(r, 1, 0, 64);
    rig_run(r);
    assert_int_equal(r->host[1].qp->state, QPS_ERR);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 0);
    assert_int_equal(r->host[1].n_async[ASE_QP_FATAL], 1);
    rig_free(r);
}

static void nothing_is_drained_at_once(void **state)
{
    struct rig *r = rig_default();
    const struct qp_attr a = {.state = QPS_SQD, .en_sqd_async_notify = 1};

    (void)state;
    assert_int_equal(modify(r, QPA_STATE | QPA_EN_SQD_ASYNC_NOTIFY, a), REF_NONE);
    assert_false(xport_is_draining(r->host[0].qp));
    assert_int_equal(r->host[0].n_async[ASE_SQ_DRAINED], 1);
    rig_free(r);
}

/* Shows B88. */
static void nothing_changes_while_the_queue_drains(void **state)
{
    static const struct {
        uint32_t mask;
        enum qp_state to;
        enum refusal_reason why;
    } rows[] = {
        {QPA_STATE, QPS_RTS, REF_QP_DRAINING},   {QPA_STATE, QPS_SQD, REF_QP_DRAINING},
        {QPA_TIMEOUT, QPS_SQD, REF_QP_DRAINING}, {QPA_STATE, QPS_ERR, REF_NONE},
        {QPA_STATE, QPS_RESET, REF_NONE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_draining(true);
        const struct qp_attr a = {.state = rows[i].to, .timeout = 9};

        assert_int_equal(modify(r, rows[i].mask, a), rows[i].why);
        assert_int_equal(xport_is_draining(r->host[0].qp), rows[i].why != REF_NONE);
        rig_run(r);
        /* Whoever leaves SQD before is told nothing. */
        assert_int_equal(r->host[0].n_async[ASE_SQ_DRAINED], rows[i].why != REF_NONE);
        assert_int_equal(modify(r, QPA_TIMEOUT, a),
                         rows[i].why == REF_NONE ? REF_QP_ATTR_EXTRA : REF_NONE);
        rig_free(r);
    }
}

static void a_queue_pair_that_fails_is_not_drained(void **state)
{
    struct rig *r = rig_draining(true);

    (void)state;
    rig_rule(r, 0, ANY, ANY, ANY, RIG_LOSE);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_RETRY_EXC_ERR);
    assert_int_equal(r->host[0].n_async[ASE_SQ_DRAINED], 0);
    assert_false(xport_is_draining(r->host[0].qp));
    rig_free(r);
}

/* The responder of a connection whose other end was quicker. */
static struct rig *rig_in_rtr(void)
{
    struct rig *r = rig_default();
    struct rig_host *h = &r->host[1];
    struct qp_attr a = h->qp->attr;

    rig_move(r, 1, QPS_RESET);
    for (enum qp_state to = QPS_INIT; to <= QPS_RTR; to++) {
        a.state = to;
        assert_int_equal(xport_qp_modify(&h->x, h->qp, QPA_STATE | qp_fsm_needs(QPT_RC, to), &a),
                         REF_NONE);
    }
    return r;
}

/* Shows B87. */
static void the_first_packet_in_rtr_establishes(void **state)
{
    struct rig *r = rig_in_rtr();

    (void)state;
    assert_int_equal(r->host[1].n_async[ASE_COMM_EST], 0);
    rig_recv(r, 7, 0, 64);
    rig_recv(r, 8, 0, 64);
    rig_send(r, 1, 0, 64);
    rig_send(r, 2, 0, 64);
    rig_run(r);
    assert_int_equal(r->host[1].n_async[ASE_COMM_EST], 1);
    assert_int_equal(r->host[1].qp->state, QPS_RTR); /* that is the program's to change */
    assert_int_equal(r->host[0].n_async[ASE_COMM_EST], 0);
    rig_free(r);
}

static void in_rts_nothing_is_established_any_more(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 64);
    rig_send(r, 1, 0, 64);
    rig_run(r);
    assert_int_equal(r->host[1].n_async[ASE_COMM_EST], 0);
    rig_free(r);
}

/* What a completion tells is told by no event, and the other way round.  Shows B93. */
static void a_refusal_is_told_once(void **state)
{
    static const struct {
        uint32_t room; /* of the receive */
        uint32_t mtu;  /* of the responder */
        bool broken;   /* its receive queue */
        enum wc_status status;
        enum async_event event; /* ASYNC_EVENTS: none */
    } rows[] = {
        {64, MTU_256, false, WCS_LOC_LEN_ERR, ASYNC_EVENTS},
        {600, MTU_512, false, WCS_WR_FLUSH_ERR, ASE_QP_REQ_ERR},
        {600, MTU_256, true, WCS_SUCCESS, ASE_QP_FATAL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig_config c = rig_defaults();
        struct rig *r;
        uint32_t told = 0;

        c.peer_mtu = rows[i].mtu;
        r = rig_new(&c);
        rig_recv(r, 7, 0, rows[i].room);
        r->host[1].queue[WQ_RECV].broken = rows[i].broken;
        rig_send(r, 1, 0, 600);
        rig_run(r);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        assert_int_equal(r->host[1].n_wc[WQ_RECV], !rows[i].broken);
        if (!rows[i].broken)
            rig_expect(r, 1, WQ_RECV, 0, 7, rows[i].status);
        for (uint32_t type = 0; type < ASYNC_EVENTS; type++) {
            told += r->host[1].n_async[type];
            assert_int_equal(r->host[0].n_async[type], 0); /* its completion tells */
        }
        assert_int_equal(told, rows[i].event != ASYNC_EVENTS);
        if (told)
            assert_int_equal(r->host[1].n_async[rows[i].event], 1);
        rig_free(r);
    }
}

/* A WRITE takes no receive: no completion could tell of it.  Shows B16, B93. */
static void a_refused_access_is_told(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_prepare_remote(r, WR_RDMA_WRITE, 1, 0, 64, 0)->rkey ^= 1;
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    assert_int_equal(r->host[1].qp->state, QPS_ERR);
    assert_int_equal(r->host[1].n_async[ASE_QP_ACCESS_ERR], 1);
    assert_int_equal(r->host[1].n_async[ASE_QP_REQ_ERR] + r->host[1].n_async[ASE_QP_FATAL], 0);
    assert_int_equal(r->host[0].n_async[ASE_QP_ACCESS_ERR], 0);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_REM_ACCESS_ERR);
    rig_free(r);
}

/* A refused request, and who tells the responder's program: the receive that is related to it, or
 * an event.  The receive of an open SEND is held since its first packet; that of a WRITE with
 * immediate data is taken by its last one, and only that packet says that it takes one.
 * Shows B16, B32, B93.
 */
static void a_refusal_is_told_by_the_receive_that_it_concerns(void **state)
{
    enum { WHOLE = 64, BEGINS = 256 };
    static const uint8_t bytes[BEGINS];
    static const struct {
        uint8_t first, refused; /* opcodes; 0xff: no packet before the refused one */
        uint32_t payload_bytes;
        bool has_receive, broken;
        enum wc_status status;  /* of the receive */
        enum async_event event; /* ASYNC_EVENTS: none */
    } rows[] = {
        {0xff, OP_RC_RDMA_WRITE_ONLY_WITH_IMM, WHOLE, true, false, WCS_LOC_ACCESS_ERR,
         ASYNC_EVENTS},
        {0xff, OP_RC_RDMA_WRITE_ONLY_WITH_IMM, WHOLE, false, false, 0, ASE_QP_ACCESS_ERR},
        {0xff, OP_RC_RDMA_WRITE_ONLY_WITH_IMM, WHOLE, true, true, 0, ASE_QP_ACCESS_ERR},
        {0xff, OP_RC_RDMA_WRITE_ONLY, WHOLE, true, false, WCS_WR_FLUSH_ERR, ASE_QP_ACCESS_ERR},
        {0xff, OP_RC_RDMA_WRITE_FIRST, BEGINS, true, false, WCS_WR_FLUSH_ERR, ASE_QP_ACCESS_ERR},
        {OP_RC_RDMA_WRITE_FIRST, OP_RC_RDMA_WRITE_LAST_WITH_IMM, WHOLE, true, false,
         WCS_LOC_ACCESS_ERR, ASYNC_EVENTS},
        {OP_RC_RDMA_WRITE_FIRST, OP_RC_RDMA_WRITE_LAST, WHOLE, true, false, WCS_WR_FLUSH_ERR,
         ASE_QP_ACCESS_ERR},
        {OP_RC_SEND_FIRST, OP_RC_SEND_MIDDLE, WHOLE, true, false, WCS_REM_INV_REQ_ERR,
         ASYNC_EVENTS},
        {OP_RC_SEND_FIRST, OP_RC_RDMA_READ_REQUEST, 0, true, false, WCS_REM_INV_REQ_ERR,
         ASYNC_EVENTS},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const bool has_first = rows[i].first != 0xff;
        struct rig *r = rig_default();
        uint32_t told = 0;
        struct packet p;

        if (rows[i].has_receive)
            rig_recv(r, 7, 0, 1024);
        r->host[1].queue[WQ_RECV].broken = rows[i].broken;
        p = rig_packet(r, 1, has_first ? rows[i].first : rows[i].refused, 100);
        p.reth.va = RIG_ADDR;
        p.reth.rkey = r->host[1].mr->key;
        p.reth.dma_bytes = (has_first ? BEGINS : 0) + rows[i].payload_bytes;
        p.reth.dma_bytes += rows[i].refused == OP_RC_RDMA_WRITE_FIRST;
        p.payload = bytes;
        p.payload_bytes = BEGINS;
        if (has_first) {
            rig_inject(r, 1, &p);
            p.bth.opcode = rows[i].refused;
            p.op = op_info(rows[i].refused);
            p.bth.psn = psn_add(p.bth.psn, 1);
        }
        p.payload_bytes = rows[i].payload_bytes;
        r->host[1].mr->access = ACC_LOCAL_WRITE; /* the key opens nothing to the peer any more */
        rig_inject(r, 1, &p);
        rig_run(r);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        for (uint32_t type = 0; type < ASYNC_EVENTS; type++)
            told += r->host[1].n_async[type];
        assert_int_equal(told, rows[i].event != ASYNC_EVENTS);
        if (told)
            assert_int_equal(r->host[1].n_async[rows[i].event], 1);
        assert_int_equal(r->host[1].n_wc[WQ_RECV], rows[i].status != WCS_SUCCESS);
        if (rows[i].status != WCS_SUCCESS)
            rig_expect(r, 1, WQ_RECV, 0, 7, rows[i].status);
        rig_free(r);
    }
}

/* Shows B16, B18, B19, B23, B25, B26, B27, B93. */
static void each_rule_has_its_event(void **state)
{
    static const struct {
        uint8_t opcode;
        uint32_t va, dma_bytes, payload_bytes, access;
        enum rule rule;
        enum async_event event;
    } rows[] = {
        {0x1f, 0, 0, 0, RW, RULE_RESP_OPCODE, ASE_QP_REQ_ERR},
        {OP_RC_SEND_LAST, 0, 0, 8, RW, RULE_RESP_OP_SEQUENCE, ASE_QP_REQ_ERR},
        {OP_RC_SEND_ONLY, 0, 0, 300, RW, RULE_RESP_LENGTH, ASE_QP_REQ_ERR},
        {OP_RC_RDMA_WRITE_ONLY, 0, 8, 8, 0, RULE_RESP_QP_ACCESS, ASE_QP_ACCESS_ERR},
        {OP_RC_RDMA_READ_REQUEST, 0, 8, 0, RR, RULE_RESP_RD_ROOM, ASE_QP_ACCESS_ERR},
        {OP_RC_FETCH_ADD, 4, 0, 0, RA, RULE_RESP_ATOMIC_ALIGNED, ASE_QP_ACCESS_ERR},
        {OP_RC_RDMA_WRITE_ONLY, 0, 16, 8, RW, RULE_RESP_DMA_LENGTH, ASE_QP_ACCESS_ERR},
        {OP_RC_RDMA_WRITE_ONLY, 0, 8, 8, RW, RULE_MR_KEY, ASE_QP_ACCESS_ERR},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig_config c = rig_defaults();
        struct packet p;
        uint32_t told = 0;
        struct rig *r;

        c.access = rows[i].access;
        c.rd_atomic = rows[i].rule == RULE_RESP_RD_ROOM ? 0 : 1;
        r = rig_new(&c);
        p = rig_packet(r, 1, rows[i].opcode, 100);
        p.payload_bytes = rows[i].payload_bytes;
        p.bth.pad_bytes = (uint8_t)packet_pad_bytes(p.payload_bytes);
        p.reth.va = rows[i].va;
        p.reth.dma_bytes = rows[i].dma_bytes;
        p.atomic.va = rows[i].va;
        rig_inject(r, 1, &p);
        rig_run(r);
        assert_int_equal(rig_event(r, EV_rx, 1, 0)->u.rx.rule, rows[i].rule);
        for (uint32_t type = 0; type < ASYNC_EVENTS; type++)
            told += r->host[1].n_async[type];
        assert_int_equal(told, 1);
        assert_int_equal(r->host[1].n_async[rows[i].event], 1);
        rig_free(r);
    }
}

/* Their queue overflowed: what a lost completion would have told is told by an event. */
static void lost_completions_are_made_up_for(void **state)
{
    static const struct {
        uint32_t room; /* of the receive */
        enum async_event event;
    } rows[] = {{64, ASE_QP_REQ_ERR}, {600, ASE_QP_FATAL}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_default();
        uint32_t told = 0;

        rig_recv(r, 7, 0, rows[i].room);
        rig_send(r, 1, 0, 600);
        r->host[1].cq_failed = true;
        rig_run(r);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        for (uint32_t type = 0; type < ASYNC_EVENTS; type++)
            told += r->host[1].n_async[type];
        assert_int_equal(told, 1);
        assert_int_equal(r->host[1].n_async[rows[i].event], 1);
        rig_free(r);
    }
}

/* A service without NAKs fails for what is wrong at this side alone, and tells of it as RC does. */
static void an_unreliable_service_tells_of_its_failure(void **state)
{
    static const struct {
        bool bad_key, cq_failed;
        uint32_t events;
    } rows[] = {{false, true, 1}, {true, true, 1}, {true, false, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig_config c = rig_defaults();
        struct rig *r;
        uint32_t told = 0;

        c.type = QPT_UC;
        r = rig_new(&c);
        rig_prepare(r, 1, WQ_RECV, 7, 0, 128)->sge[0].lkey ^= rows[i].bad_key;
        rig_post(r, 1, WQ_RECV);
        r->host[1].cq_failed = rows[i].cq_failed;
        rig_send(r, 1, 0, 64);
        rig_run(r);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        for (uint32_t type = 0; type < ASYNC_EVENTS; type++)
            told += r->host[1].n_async[type];
        assert_int_equal(told, rows[i].events);
        assert_int_equal(r->host[1].n_async[ASE_QP_FATAL], rows[i].events);
        assert_int_equal(r->host[1].n_wc[WQ_RECV], !rows[i].cq_failed);
        rig_free(r);
    }
}

static void a_failed_cq_is_the_end_of_its_queue_pairs(void **state)
{
    struct rig *r = rig_default();
    struct rig_host *h = &r->host[1];

    (void)state;
    xport_cq_failed(&h->x, h->qp->recv_cq);
    xport_cq_failed(&h->x, h->qp->recv_cq);
    assert_int_equal(h->n_async[ASE_QP_FATAL], 1);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drained_is_told_once_if_asked_for),
        cmocka_unit_test(what_is_lost_is_not_drained),
        cmocka_unit_test(nothing_is_drained_at_once),
        cmocka_unit_test(who_refuses_the_event_is_not_told),
        cmocka_unit_test(a_broken_receive_queue_is_told_where_nothing_is_answered),
        cmocka_unit_test(nothing_changes_while_the_queue_drains),
        cmocka_unit_test(a_queue_pair_that_fails_is_not_drained),
        cmocka_unit_test(the_first_packet_in_rtr_establishes),
        cmocka_unit_test(in_rts_nothing_is_established_any_more),
        cmocka_unit_test(a_refusal_is_told_once),
        cmocka_unit_test(a_refused_access_is_told),
        cmocka_unit_test(a_refusal_is_told_by_the_receive_that_it_concerns),
        cmocka_unit_test(each_rule_has_its_event),
        cmocka_unit_test(lost_completions_are_made_up_for),
        cmocka_unit_test(an_unreliable_service_tells_of_its_failure),
        cmocka_unit_test(a_failed_cq_is_the_end_of_its_queue_pairs),
    };

    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
