/* SPDX-License-Identifier: MIT */
/* Queue pairs from outside: which packets they accept, and how attributes become a connection. */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/wr.h"
#include "emu/trace/event.h"
#include "emu/xport/admit.h"
#include "emu/xport/ctrl.h"
#include "emu/xport/internal.h"
#include "hca/full.h"
#include "rig.h"

static struct rig *rig_default(void)
{
    const struct rig_config c = rig_defaults();

    return rig_new(&c);
}

/* Shows B26, B44, B63, B112. */
static void strangers_are_not_let_in(void **state)
{
    struct rig *r = rig_default();
    const struct packet good = rig_packet(r, 1, OP_RC_SEND_ONLY, 100);
    struct packet p = good;
    struct qp *qp = NULL;
    const struct hca *h = &r->host[1].hca;

    (void)state;
    assert_int_equal(admit(h, NULL, &p, &qp), DROP_NONE);
    assert_ptr_equal(qp, r->host[1].qp);
    p.ip.dst[15] ^= 0x40;
    assert_int_equal(admit(h, NULL, &p, &qp), DROP_NO_SUCH_GID);
    p = good;
    p.ip.src[15] ^= 0x40;
    assert_int_equal(admit(h, NULL, &p, &qp), DROP_WRONG_SOURCE);
    p = good;
    p.bth.pkey = 0x7ffe;
    assert_int_equal(admit(h, NULL, &p, &qp), DROP_BAD_PKEY);
    p.bth.pkey = 0x7fff; /* a limited member may talk to a full one */
    assert_int_equal(admit(h, NULL, &p, &qp), DROP_NONE);
    for (uint32_t qpn = 0; qpn < 0x1000000; qpn += qpn < 16 ? 1 : 0x3ffff) {
        p = good;
        p.bth.dest_qpn = qpn;
        assert_int_equal(admit(h, NULL, &p, &qp),
                         qpn == r->host[1].qp->qpn ? DROP_NONE : DROP_NO_SUCH_QP);
    }
    p = rig_packet(r, 1, OP_UC_SEND_ONLY, 100);
    assert_int_equal(admit(h, NULL, &p, &qp), DROP_WRONG_SERVICE);
    p = rig_packet(r, 1, 0x2f, 100); /* reserved, of UC */
    assert_int_equal(admit(h, NULL, &p, &qp), DROP_BAD_OPCODE);
    p = rig_packet(r, 1, 0x15, 100); /* reserved, of RC: the responder answers */
    assert_int_equal(admit(h, NULL, &p, &qp), DROP_NONE);
    rig_free(r);
}

/* A connection is between two addresses: one of them is not enough, and what differs is told as far
 * as it is a number.
 */
static void another_address_of_the_same_port_is_not_the_connection_s(void **state)
{
    (void)state;
    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
        struct rig_config c = rig_defaults();
        struct hca *h;
        struct packet p;
        struct rig *r;
        struct qp *qp = NULL;
        struct compared told;
        uint8_t *other;

        c.ipv6 = ipv6;
        r = rig_new(&c);
        h = &r->host[1].hca;
        p = rig_packet(r, 1, OP_RC_SEND_ONLY, 100);
        other = h->gids[HCA_GIDS - 1].raw;
        memcpy(other, p.ip.dst, GID_BYTES);
        other[15] ^= 0x40;
        h->gids[HCA_GIDS - 1].valid = true;
        memcpy(p.ip.dst, other, GID_BYTES);
        assert_int_equal(admit(h, NULL, &p, &qp), DROP_WRONG_SOURCE);
        told = admit_compared(h, r->host[1].qp, &p, DROP_WRONG_SOURCE);
        assert_int_equal(told.least ^ told.found, ipv6 ? 0 : 0x40);
        assert_int_equal(told.found != 0, !ipv6);
        h->gids[HCA_GIDS - 1].valid = false;
        rig_free(r);
    }
}

static void a_reserved_opcode_is_dropped_where_nothing_is_answered(void **state)
{
    struct rig_config c = rig_defaults();
    struct qp *qp = NULL;
    struct packet p;
    struct rig *r;

    (void)state;
    c.type = QPT_UC;
    r = rig_new(&c);
    p = rig_packet(r, 1, 0x2f, 100);
    assert_int_equal(admit(&r->host[1].hca, NULL, &p, &qp), DROP_BAD_OPCODE);
    p = rig_packet(r, 1, OP_UC_SEND_ONLY, 100);
    assert_int_equal(admit(&r->host[1].hca, NULL, &p, &qp), DROP_NONE);
    rig_free(r);
}

/* Whatever memory is missing, nothing of it is left. */
static void no_queue_pair_is_half_made(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        const bool large_first = i & 1;
        struct rig *r = rig_default();
        struct rig_host *h = &r->host[0];
        struct qp_config config = h->qp->config;
        const uint32_t users = h->qp->pd->users;
        unsigned n_failed = 0;
        struct full full;
        struct qp *qp;

        config.max_send_sge = i & 2 ? 4 : 1; /* so that its parts are of other sizes */
        config.max_send_wr = i & 4 ? 1 : 64;
        config.max_inline_data = 64; /* what is lent at a time has room for all */
        full_make(&full, r->arena);
        for (;;) {
            const size_t live = arena_live_bytes(r->arena);
            const enum refusal_reason why = xport_qp_create(&h->x, &config, &qp);

            if (why == REF_NONE)
                break;
            assert_int_equal(refusal_kind(why), RFK_NO_ROOM);
            assert_int_equal(arena_live_bytes(r->arena), live);
            assert_int_equal(h->qp->pd->users, users);
            n_failed++;
            assert_true(full_lend(&full, large_first));
        }
        assert_true(n_failed > 0);
        assert_int_equal(h->qp->pd->users, users + 1);
        assert_int_equal(xport_qp_destroy(&h->x, qp->qpn), REF_NONE);
        rig_free(r);
    }
}

/* Shows B43. */
static void states_take_their_packets_only(void **state)
{
    static const struct {
        enum qp_state at;
        enum drop_reason request, response;
    } rows[] = {
        {QPS_RESET, DROP_QP_NOT_READY, DROP_QP_NOT_READY},
        {QPS_INIT, DROP_QP_NOT_READY, DROP_QP_NOT_READY},
        {QPS_RTR, DROP_NONE, DROP_QP_NOT_READY},
        {QPS_RTS, DROP_NONE, DROP_NONE},
        {QPS_SQD, DROP_NONE, DROP_NONE},
        {QPS_ERR, DROP_QP_NOT_READY, DROP_QP_NOT_READY},
    };
    struct rig *r = rig_default();
    const struct packet request = rig_packet(r, 1, OP_RC_SEND_ONLY, 100);
    const struct packet response = rig_packet(r, 1, OP_RC_ACKNOWLEDGE, 0);
    struct qp *qp;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        qp_set_state(r->host[1].qp, rows[i].at);
        assert_int_equal(admit(&r->host[1].hca, NULL, &request, &qp), rows[i].request);
        assert_int_equal(admit(&r->host[1].hca, NULL, &response, &qp), rows[i].response);
    }
    rig_free(r);
}

static void a_drop_is_an_event_with_its_reason(void **state)
{
    struct rig *r = rig_default();
    struct packet p = rig_packet(r, 1, OP_RC_SEND_ONLY, 100);

    (void)state;
    p.bth.dest_qpn = 99;
    assert_int_equal(xport_receive(&r->host[1].x, &p, &(struct rx_info){.wire_bytes = 70}),
                     DROP_NO_SUCH_QP);
    assert_int_equal(rig_event(r, EV_drop, 1, 0)->u.drop.reason, DROP_NO_SUCH_QP);
    assert_int_equal(rig_event(r, EV_drop, 1, 0)->u.drop.wire_bytes, 70);
    rig_free(r);
}

static void move_up(struct rig_host *h, struct qp_attr *a, enum qp_state to)
{
    const uint32_t mask = QPA_STATE | qp_fsm_needs(QPT_RC, to);

    a->state = to;
    assert_int_equal(xport_qp_modify(&h->x, h->qp, mask, a), REF_NONE);
}

/* Kicked before RTS: the device looks when it may send.  Shows B87. */
static void work_that_was_posted_too_early_waits_for_rts(void **state)
{
    struct rig *r = rig_default();
    struct qp_attr a = r->host[0].qp->attr;
    struct rig_host *h = &r->host[0];

    (void)state;
    rig_move(r, 0, QPS_RESET);
    move_up(h, &a, QPS_INIT);
    rig_recv(r, 7, 0, 64);
    rig_send(r, 1, 0, 64);
    move_up(h, &a, QPS_RTR);
    rig_run(r);
    assert_int_equal(h->queue[WQ_SEND].taken, 0);
    move_up(h, &a, QPS_RTS);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_free(r);
}

/* Shows B86. */
static void a_path_between_ip_versions_is_refused(void **state)
{
    struct rig *r = rig_default();
    struct qp_attr a = r->host[0].qp->attr;
    struct rig_host *h = &r->host[0];

    (void)state;
    rig_move(r, 0, QPS_SQD);
    a.av.dgid[0] = 0xfd;
    assert_int_equal(refusal_kind(xport_qp_modify(&h->x, h->qp, QPA_AV, &a)), RFK_INVALID);
    assert_int_equal(h->qp->attr.av.dgid[0], 0);
    rig_free(r);
}

/* Shows B86, B111. */
static void a_connection_to_a_group_is_refused(void **state)
{
    struct rig_config c = rig_defaults();

    (void)state;
    for (uint32_t v6 = 0; v6 < 2; v6++) {
        struct rig *r;
        struct rig_host *h;
        struct qp_attr a;

        c.ipv6 = v6 == 1;
        r = rig_new(&c);
        h = &r->host[0];
        a = h->qp->attr;
        a.av.dgid[v6 ? 0 : GID_IPV4_AT] = v6 ? 0xff : 224;
        rig_move(r, 0, QPS_SQD);
        assert_int_equal(refusal_kind(xport_qp_modify(&h->x, h->qp, QPA_AV, &a)), RFK_INVALID);
        assert_memory_equal(h->qp->attr.av.dgid, r->host[1].hca.gids[0].raw, GID_BYTES);
        rig_free(r);
    }
}

/* The RNIC is asked for each connection, when its queue pair gets an address. */
static void a_connection_that_is_forbidden_is_refused(void **state)
{
    static const enum qp_type types[] = {QPT_RC, QPT_UC};
    struct rig_config c = rig_defaults();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct rig *r;
        struct rig_host *h;
        struct qp_attr a;

        c.type = types[i];
        r = rig_new(&c);
        h = &r->host[0];
        a = h->qp->attr;
        rig_move(r, 0, QPS_SQD);
        h->is_alone = true;
        a.av.dgid[GID_IPV4_AT + 3] ^= 1;
        assert_int_equal(xport_qp_modify(&h->x, h->qp, QPA_AV, &a), REF_AV_FORBIDDEN);
        assert_memory_equal(h->qp->attr.av.dgid, r->host[1].hca.gids[0].raw, GID_BYTES);
        a.state = QPS_RTS; /* a move without an address is not asked about */
        assert_int_equal(xport_qp_modify(&h->x, h->qp, QPA_STATE, &a), REF_NONE);
        rig_free(r);
    }
}

static void in_reset_a_queue_pair_knows_no_peer(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    assert_int_equal(rig_rc(r, 0)->peer, 1);
    rig_move(r, 0, QPS_RESET);
    assert_int_equal(rig_rc(r, 0)->peer, EV_HOST_NONE);
    assert_int_equal(rig_rc(r, 0)->mtu, 0);
    assert_int_equal(r->host[0].qp->attr.dest_qpn, 0);
    rig_free(r);
}

/* The UDP port is the one that Linux rxe takes for QPN 2. */
static void frames_have_the_headers_of_the_connection(void **state)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    (void)state;
    for (uint32_t v6 = 0; v6 < 2; v6++) {
        const struct packet *p;

        c.ipv6 = v6 == 1;
        r = rig_new(&c);
        p = &rig_rc(r, 0)->out;
        assert_int_equal(p->ip.version, v6 ? 6 : 4);
        assert_int_equal(p->ip.ttl, 64);
        assert_int_equal(p->bth.dest_qpn, 3);
        assert_int_equal(p->bth.pkey, 0xffff);
        assert_true(p->bth.migrated);
        assert_int_equal(p->udp_src_port, 0xf0e4);
        assert_memory_equal(p->eth.dst, r->host[1].x.mac, MAC_BYTES);
        assert_memory_equal(p->ip.src, r->host[0].hca.gids[0].raw, GID_BYTES);
        rig_free(r);
    }
}

static void the_address_vector_fills_the_ip_header(void **state)
{
    struct rig_config c = rig_defaults();

    (void)state;
    for (uint32_t v6 = 0; v6 < 2; v6++) {
        struct rig *r;
        struct qp_attr a;

        c.ipv6 = v6 == 1;
        r = rig_new(&c);
        a = r->host[0].qp->attr;
        a.av.tclass = 0x68;
        a.av.hop_limit = 3;
        a.av.flow_label = 0x12345;
        rig_move(r, 0, QPS_SQD);
        assert_int_equal(xport_qp_modify(&r->host[0].x, r->host[0].qp, QPA_AV, &a), REF_NONE);
        assert_int_equal(rig_rc(r, 0)->out.ip.tclass, 0x68);
        assert_int_equal(rig_rc(r, 0)->out.ip.ttl, 3);
        assert_int_equal(rig_rc(r, 0)->out.ip.flow_label, v6 ? 0x12345 : 0); /* IPv4 has none */
        rig_free(r);
    }
}

static void other_types_are_not_supported(void **state)
{
    struct rig *r = rig_default();
    struct rig_host *h = &r->host[0];
    struct qp_config c = h->qp->config;
    struct qp *qp;

    (void)state;
    c.type = QPT_SMI;
    assert_int_equal(refusal_kind(xport_qp_create(&h->x, &c, &qp)), RFK_UNSUPPORTED);
    c.type = QPT_RC;
    for (uint32_t i = 0; i < 6; i++) /* max_qp 8: 2 .. 8, and one is there */
        assert_int_equal(xport_qp_create(&h->x, &c, &qp), REF_NONE);
    assert_int_equal(refusal_kind(xport_qp_create(&h->x, &c, &qp)), RFK_NO_ROOM);
    assert_int_equal(xport_qp_destroy(&h->x, 5), REF_NONE);
    assert_int_equal(refusal_kind(xport_qp_destroy(&h->x, 5)), RFK_NO_OBJECT);
    assert_int_equal(xport_qp_create(&h->x, &c, &qp), REF_NONE);
    assert_int_equal(qp->qpn, 5);
    rig_free(r);
}

/* A timer that is still armed must not find its queue pair gone. */
static void destroying_takes_timers_back(void **state)
{
    struct rig *r = rig_default();
    struct qp *qp = r->host[0].qp;

    (void)state;
    rig_rule(r, 0, ANY, ANY, ANY, RIG_LOSE);
    rig_send(r, 1, 0, 64);
    rig_run_until(r, 1000);
    assert_int_equal(xport_qp_destroy(&r->host[0].x, qp->qpn), REF_NONE);
    assert_int_equal(sim_next_ns(&r->sim), UINT64_MAX);
    assert_int_equal(hca_cq(&r->host[0].hca, 1)->users, 0);
    rig_free(r);
}

/* Without a timeout nobody watches what is lost; and as long as it is under way, no new timeout can
 * be set: only ERR ends that.
 */
static void a_new_timeout_cannot_save_what_was_lost(void **state)
{
    struct rig_config c = rig_defaults();
    struct rig *r;
    struct qp_attr a;

    (void)state;
    c.timeout = 0;
    r = rig_new(&c);
    rig_rule(r, 0, ANY, 100, 1, RIG_LOSE);
    rig_recv(r, 7, 0, 64);
    rig_send(r, 1, 0, 64);
    rig_run(r);
    assert_int_equal(rig_count(r, EV_timer, 0, NULL, 0), 0);
    rig_move(r, 0, QPS_SQD);
    a = r->host[0].qp->attr;
    a.timeout = 4;
    assert_int_equal(refusal_kind(xport_qp_modify(&r->host[0].x, r->host[0].qp, QPA_TIMEOUT, &a)),
                     RFK_INVALID);
    rig_move(r, 0, QPS_ERR);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_WR_FLUSH_ERR);
    rig_free(r);
}

/* Shows B91. */
static void a_failed_cq_takes_its_queue_pairs_along(void **state)
{
    struct rig *r = rig_default();
    struct rig_host *h = &r->host[1];

    (void)state;
    rig_recv(r, 7, 0, 64);
    xport_cq_failed(&h->x, h->qp->recv_cq);
    assert_int_equal(h->qp->state, QPS_ERR);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_WR_FLUSH_ERR);
    rig_free(r);
}

/* However many packets its responses are: together with what is outstanding, their PSNs must stay
 * within half of the circle.
 */
static void a_read_starts_when_the_window_has_room_for_its_responses(void **state)
{
    static const struct {
        uint32_t outstanding, more;
        bool may;
    } rows[] = {
        {0, 1, true},
        {0, REQ_WINDOW_PSNS, true},
        {1, REQ_WINDOW_PSNS - 1, true},
        {1, REQ_WINDOW_PSNS, false},
        {REQ_WINDOW_PSNS - 1, 1, true},
        {REQ_WINDOW_PSNS - 1, 2, false},
        {REQ_WINDOW_PSNS, 1, false},
    };
    struct rig_config c = rig_defaults();
    struct xport_qp *xqp;
    struct req_wqe *q;
    struct rig *r;

    (void)state;
    c.rd_atomic = 4;
    r = rig_new(&c);
    xqp = xport_of(r->host[0].qp);
    q = req_fetch_place(xqp);
    q->info = wr_info(WR_RDMA_READ);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        xqp->req.out_psns = rows[i].outstanding;
        q->n_psns = rows[i].more;
        assert_int_equal(req_may_start(xqp), rows[i].may);
    }
    xqp->req.out_psns = 0;
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strangers_are_not_let_in),
        cmocka_unit_test(no_queue_pair_is_half_made),
        cmocka_unit_test(another_address_of_the_same_port_is_not_the_connection_s),
        cmocka_unit_test(a_reserved_opcode_is_dropped_where_nothing_is_answered),
        cmocka_unit_test(states_take_their_packets_only),
        cmocka_unit_test(a_drop_is_an_event_with_its_reason),
        cmocka_unit_test(work_that_was_posted_too_early_waits_for_rts),
        cmocka_unit_test(a_path_between_ip_versions_is_refused),
        cmocka_unit_test(a_connection_to_a_group_is_refused),
        cmocka_unit_test(a_connection_that_is_forbidden_is_refused),
        cmocka_unit_test(in_reset_a_queue_pair_knows_no_peer),
        cmocka_unit_test(frames_have_the_headers_of_the_connection),
        cmocka_unit_test(the_address_vector_fills_the_ip_header),
        cmocka_unit_test(other_types_are_not_supported),
        cmocka_unit_test(destroying_takes_timers_back),
        cmocka_unit_test(a_new_timeout_cannot_save_what_was_lost),
        cmocka_unit_test(a_failed_cq_takes_its_queue_pairs_along),
        cmocka_unit_test(a_read_starts_when_the_window_has_room_for_its_responses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
