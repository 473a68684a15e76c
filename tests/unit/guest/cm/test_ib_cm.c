/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/facts/enum/cm_answered.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/sidr_status.h"
#include "guest/cm/cm_rig.h"

#define SERVICE 0x01061d2fu
#define LIFE    18u /* of the path: Linux 6.1 */

struct event {
    enum ib_cm_event_kind kind;
    struct ib_cm_id *id;
    struct mad mad;
};

struct side {
    struct end end;
    struct event events[RECORDED_MAX];
    size_t n_events;
    bool is_full; /* has no room for requests */
};

/* A rig whose sides note the events. */
struct noted {
    struct rig rig;
    struct side sides[2];
};

static bool note_event(void *ctx, struct ib_cm_id *id, const struct ib_cm_event *e)
{
    struct side *s = ctx;

    assert_true(s->n_events < RECORDED_MAX);
    if (s->is_full && e->listener)
        return false;
    s->events[s->n_events].kind = e->kind;
    s->events[s->n_events].id = id;
    if (e->mad)
        s->events[s->n_events].mad = *e->mad;
    s->n_events++;
    return true;
}

static int set_up(void **state)
{
    struct noted *n = calloc(1, sizeof(*n));

    assert_non_null(n);
    rig_init(&n->rig, &n->sides[A].end, &n->sides[B].end, note_event);
    *state = n;
    return 0;
}

static int tear_down(void **state)
{
    struct noted *n = *state;

    arena_free(n->rig.arena);
    free(n);
    return 0;
}

/* The side with @number, which is a struct side. */
static struct side *side_of(const struct rig *r, unsigned number)
{
    return (struct side *)r->ends[number];
}

static const struct event *last(const struct rig *r, unsigned side)
{
    assert_true(side_of(r, side)->n_events > 0);
    return &side_of(r, side)->events[side_of(r, side)->n_events - 1];
}

static void listen_at(struct rig *r, unsigned side)
{
    struct ib_cm_id *id = ib_cm_create(&r->ends[side]->cm, NULL);

    assert_non_null(id);
    assert_int_equal(ib_cm_listen(id, SERVICE), RDL_OK);
}

static struct ib_cm_id *request(struct rig *r, unsigned side, uint32_t qpn)
{
    struct ib_cm_id *id = ib_cm_create(&r->ends[side]->cm, NULL);
    struct ib_cm_req req = {.path = {.hop_limit = 64},
                            .path_mtu = 3,
                            .packet_life = LIFE,
                            .service_id = SERVICE,
                            .qpn = qpn,
                            .starting_psn = 100,
                            .remote_cm_timeout = 20,
                            .local_cm_timeout = 20,
                            .max_cm_retries = 15,
                            .retry_count = 7,
                            .private_data = "hello",
                            .private_bytes = 6};

    assert_non_null(id);
    memcpy(req.path.sgid, gids[side], GID_BYTES);
    memcpy(req.path.dgid, gids[!side], GID_BYTES);
    assert_int_equal(ib_cm_send_req(id, &req), RDL_OK);
    return id;
}

static void reply(struct ib_cm_id *id, uint32_t qpn)
{
    const struct ib_cm_rep rep = {.qpn = qpn, .starting_psn = 200};

    assert_int_equal(ib_cm_send_rep(id, &rep), RDL_OK);
}

struct both {
    struct ib_cm_id *a, *b;
};

/* A connection of queue pair 17 at A with 18 at B. */
static struct both connect_them(struct rig *r)
{
    struct both ids;

    listen_at(r, B);
    ids.a = request(r, A, 17);
    pass(r, 1);
    assert_int_equal(last(r, B)->kind, IB_CM_REQ_RECEIVED);
    ids.b = last(r, B)->id;
    reply(ids.b, 18);
    pass(r, 1);
    assert_int_equal(last(r, A)->kind, IB_CM_REP_RECEIVED);
    assert_int_equal(ib_cm_send_rtu(ids.a, NULL, 0), RDL_OK);
    pass(r, 1);
    return ids;
}

/* --- Tests ------------------------------------------------------------------------------------ */

static void a_connection_comes_and_goes(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);

    assert_int_equal(last(r, B)->kind, IB_CM_RTU_RECEIVED);
    assert_int_equal(ids.a->state, CMS_ESTABLISHED);
    assert_int_equal(ids.b->state, CMS_ESTABLISHED);
    assert_int_equal(ids.a->remote_id, ids.b->local_id);
    assert_int_equal(ids.b->remote_id, ids.a->local_id);
    assert_int_equal(side_of(r, B)->events[0].mad.u.req.local_ca_guid, 0x1111);
    assert_string_equal((const char *)side_of(r, B)->events[0].mad.u.req.private_data, "hello");
    assert_int_equal(side_of(r, A)->events[0].mad.u.rep.starting_psn, 200);

    assert_int_equal(ib_cm_send_dreq(ids.a, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(last(r, B)->kind, IB_CM_DREQ_RECEIVED);
    assert_int_equal(ib_cm_send_drep(ids.b, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(last(r, A)->kind, IB_CM_DREP_RECEIVED);
    assert_int_equal(ids.a->state, CMS_TIMEWAIT);
    assert_int_equal(ids.b->state, CMS_TIMEWAIT);
    pass(r, 2100); /* code 19 is 2048 ms */
    assert_int_equal(last(r, A)->kind, IB_CM_TIMEWAIT_EXIT);
    assert_int_equal(last(r, B)->kind, IB_CM_TIMEWAIT_EXIT);
    assert_int_equal(r->n_sent, 5); /* REQ, REP, RTU, DREQ, DREP */
}

static void nobody_listens(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *id = request(r, A, 17);

    pass(r, 2);
    assert_int_equal(last(r, A)->kind, IB_CM_REJ_RECEIVED);
    assert_int_equal(last(r, A)->mad.u.rej.reason, CM_REASON_INVALID_SERVICE_ID);
    assert_int_equal(last(r, A)->mad.u.rej.answered, CM_ANSWERED_REQ);
    assert_int_equal(last(r, A)->mad.u.rej.local_comm_id, 0);
    assert_int_equal(id->state, CMS_IDLE);
    pass(r, 200000);
    assert_int_equal(count_sent(r, A, CM_REQ), 1);
}

/* 2 * 1024 ms of the path and 4096 ms for the answer, sixteen times. */
static void a_request_without_answer_fails_after_98_seconds(void **state)
{
    struct rig *r = *state;

    r->lose = CM_REQ;
    r->n_lose = 100;
    (void)request(r, A, 17);
    pass(r, 98303);
    assert_int_equal(side_of(r, A)->n_events, 0);
    assert_int_equal(count_sent(r, A, CM_REQ), 16);
    assert_int_equal(r->sent[1].at_ns - r->sent[0].at_ns, 6144u * MS);
    pass(r, 1);
    assert_int_equal(last(r, A)->kind, IB_CM_REQ_ERROR);
    assert_int_equal(side_of(r, A)->events[0].id->state, CMS_IDLE);
}

static void a_lost_rep_and_a_lost_rtu_are_repeated(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *a, *b;

    listen_at(r, B);
    a = request(r, A, 17);
    pass(r, 1);
    b = last(r, B)->id;
    r->lose = CM_REP;
    r->n_lose = 1;
    reply(b, 18);
    pass(r, 4096); /* REP again, after 4096 ms */
    assert_int_equal(count_sent(r, B, CM_REP), 2);
    pass(r, 1);
    assert_int_equal(a->state, CMS_REP_RCVD);
    r->lose = CM_RTU;
    r->n_lose = 1;
    assert_int_equal(ib_cm_send_rtu(a, "bye", 4), RDL_OK);
    pass(r, 4096);
    assert_int_equal(count_sent(r, A, CM_RTU), 2); /* as the answer to a third REP */
    pass(r, 1);
    assert_int_equal(last(r, B)->kind, IB_CM_RTU_RECEIVED);
    assert_string_equal((const char *)last(r, B)->mad.u.rtu.private_data, "bye");
    assert_int_equal(b->state, CMS_ESTABLISHED);
}

static void a_slow_server_sends_a_mra_to_the_second_req(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *a, *b;

    listen_at(r, B);
    a = request(r, A, 17);
    pass(r, 1);
    b = last(r, B)->id;
    pass(r, 6144);
    assert_int_equal(count_sent(r, A, CM_REQ), 2);
    assert_int_equal(count_sent(r, B, CM_MRA), 0); /* it was not prepared */
    assert_int_equal(ib_cm_prepare_mra(b, 24), RDL_OK);
    pass(r, 6145);
    assert_int_equal(count_sent(r, B, CM_MRA), 1);
    assert_int_equal(last(r, A)->kind, IB_CM_MRA_RECEIVED);
    assert_int_equal(a->state, CMS_MRA_REQ_RCVD);
    pass(r, 60000); /* 65536 + 2048 ms */
    assert_int_equal(count_sent(r, A, CM_REQ), 3);
    reply(b, 18);
    pass(r, 1);
    assert_int_equal(last(r, A)->kind, IB_CM_REP_RECEIVED);
}

static void an_old_connection_of_the_queue_pair_is_stale(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);
    struct ib_cm_id *again;

    ib_cm_destroy(ids.a); /* and the DREQ is lost with the host */
    for (size_t i = 0; i < WAITING_MAX; i++)
        r->waiting[i].number = 0;
    again = request(r, A, 17);
    pass(r, 1);
    assert_int_equal(ids.b->state, CMS_DREQ_SENT);
    pass(r, 1);
    assert_int_equal(last(r, A)->kind, IB_CM_REJ_RECEIVED);
    assert_int_equal(last(r, A)->mad.u.rej.reason, CM_REASON_STALE_CONN);
    assert_int_equal(again->state, CMS_TIMEWAIT);
    pass(r, 1); /* A does not know that connection, and answers the DREQ all the same */
    assert_int_equal(count_sent(r, A, CM_DREP), 1);
    assert_int_equal(last(r, B)->kind, IB_CM_DREP_RECEIVED);
}

static void both_disconnect_at_once(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);

    assert_int_equal(ib_cm_send_dreq(ids.a, NULL, 0), RDL_OK);
    assert_int_equal(ib_cm_send_dreq(ids.b, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(ids.a->state, CMS_DREQ_RCVD);
    assert_int_equal(ids.b->state, CMS_DREQ_RCVD);
    assert_int_equal(ib_cm_send_drep(ids.a, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(ids.b->state, CMS_TIMEWAIT); /* its DREQ was answered */
    assert_int_equal(ib_cm_send_drep(ids.b, NULL, 0), RDL_ERR_STATE);
}

static void a_disconnect_without_answer_ends_in_timewait(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);

    r->lose = CM_DREQ;
    r->n_lose = 100;
    assert_int_equal(ib_cm_send_dreq(ids.a, NULL, 0), RDL_OK);
    pass(r, 98304);
    assert_int_equal(count_sent(r, A, CM_DREQ), 16);
    assert_int_equal(last(r, A)->kind, IB_CM_DREQ_ERROR);
    assert_int_equal(ids.a->state, CMS_TIMEWAIT);
}

static void a_dreq_for_another_queue_pair_is_ignored(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);

    ids.a->remote_qpn = 99;
    assert_int_equal(ib_cm_send_dreq(ids.a, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(ids.b->state, CMS_ESTABLISHED);
}

static void a_lost_drep_is_repeated_in_timewait(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);

    ids.a->timeout_ns = 100u * MS; /* sooner than the end of TIMEWAIT */
    assert_int_equal(ib_cm_send_dreq(ids.a, NULL, 0), RDL_OK);
    pass(r, 1);
    r->lose = CM_DREP;
    r->n_lose = 1;
    assert_int_equal(ib_cm_send_drep(ids.b, NULL, 0), RDL_OK);
    pass(r, 110);
    assert_int_equal(count_sent(r, B, CM_DREP), 2);
    assert_int_equal(last(r, A)->kind, IB_CM_DREP_RECEIVED);
}

static void who_gives_up_takes_its_req_back(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *a;

    listen_at(r, B);
    a = request(r, A, 17);
    pass(r, 1);
    ib_cm_destroy(a);
    pass(r, 1);
    assert_int_equal(last(r, B)->kind, IB_CM_REJ_RECEIVED);
    assert_int_equal(last(r, B)->mad.u.rej.reason, CM_REASON_TIMEOUT);
    assert_int_equal(last(r, B)->id->state, CMS_IDLE);
}

static void a_full_backlog_is_silent(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *a;

    listen_at(r, B);
    side_of(r, B)->is_full = true;
    a = request(r, A, 17);
    pass(r, 3000);
    assert_int_equal(a->state, CMS_REQ_SENT);
    assert_int_equal(r->ends[B]->cm.n_ids, 1); /* the listener */
    side_of(r, B)->is_full = false;
    pass(r, 3145); /* the REQ is repeated, and is no duplicate */
    assert_int_equal(last(r, B)->kind, IB_CM_REQ_RECEIVED);
}

static void a_program_rejects(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *a, *b;

    listen_at(r, B);
    a = request(r, A, 17);
    pass(r, 1);
    b = last(r, B)->id;
    assert_int_equal(ib_cm_send_rej(b, CM_REASON_CONSUMER_DEFINED, NULL, 0, "no", 3), RDL_OK);
    assert_int_equal(b->state, CMS_IDLE);
    pass(r, 1);
    assert_int_equal(last(r, A)->mad.u.rej.reason, CM_REASON_CONSUMER_DEFINED);
    assert_string_equal((const char *)last(r, A)->mad.u.rej.private_data, "no");
    assert_int_equal(a->state, CMS_IDLE);
}

static void a_req_for_another_address_is_rejected(void **state)
{
    struct rig *r = *state;

    listen_at(r, B);
    r->ends[B]->is_other = true;
    (void)request(r, A, 17);
    pass(r, 2);
    assert_int_equal(last(r, A)->mad.u.rej.reason, CM_REASON_INVALID_GID);
    assert_int_equal(last(r, A)->mad.u.rej.info_length, GID_BYTES);
    assert_int_equal(side_of(r, B)->n_events, 0);
}

static void data_before_the_rtu_establishes(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *a, *b;

    listen_at(r, B);
    a = request(r, A, 17);
    pass(r, 1);
    b = last(r, B)->id;
    reply(b, 18);
    pass(r, 1);
    r->lose = CM_RTU;
    r->n_lose = 1;
    assert_int_equal(ib_cm_send_rtu(a, NULL, 0), RDL_OK);
    assert_int_equal(ib_cm_notify(b), RDL_OK);
    assert_int_equal(last(r, B)->kind, IB_CM_USER_ESTABLISHED);
    assert_int_equal(ib_cm_notify(b), RDL_ERR_EXISTS);
    pass(r, 100000);
    assert_int_equal(count_sent(r, B, CM_REP), 1);
}

static void a_datagram_service_is_resolved(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *id = ib_cm_create(&r->ends[A]->cm, NULL);
    struct ib_cm_sidr_req req = {.path = {.hop_limit = 64},
                                 .service_id = SERVICE,
                                 .timeout_ns = 4096u * MS,
                                 .max_cm_retries = 15};

    memcpy(req.path.sgid, gids[A], GID_BYTES);
    memcpy(req.path.dgid, gids[B], GID_BYTES);
    assert_int_equal(ib_cm_send_sidr_req(id, &req), RDL_OK);
    pass(r, 2);
    assert_int_equal(last(r, A)->mad.u.sidr_rep.status, SIDR_UNSUPPORTED);
    assert_int_equal(id->state, CMS_IDLE);

    listen_at(r, B);
    assert_int_equal(ib_cm_send_sidr_req(id, &req), RDL_OK);
    pass(r, 4097); /* a duplicate, which the program has already */
    assert_int_equal(count_sent(r, A, CM_SIDR_REQ), 3);
    assert_int_equal(side_of(r, B)->n_events, 1);
    assert_int_equal(ib_cm_send_sidr_rep(last(r, B)->id, SIDR_SUCCESS, 18, 0x01234567, "hi", 3),
                     RDL_OK);
    pass(r, 1);
    assert_int_equal(last(r, A)->kind, IB_CM_SIDR_REP_RECEIVED);
    assert_int_equal(last(r, A)->mad.u.sidr_rep.qpn, 18);
    assert_int_equal(last(r, A)->mad.u.sidr_rep.qkey, 0x01234567);
    assert_string_equal((const char *)last(r, A)->mad.u.sidr_rep.private_data, "hi");
    assert_int_equal(last(r, A)->mad.u.sidr_rep.service_id, SERVICE);

    assert_int_equal(ib_cm_send_sidr_req(id, &req), RDL_OK);
    pass(r, 1);
    ib_cm_destroy(last(r, B)->id);
    pass(r, 1);
    assert_int_equal(last(r, A)->mad.u.sidr_rep.status, SIDR_REJECT);
    assert_int_equal(last(r, A)->mad.u.sidr_rep.qpn, 0);
}

/* Every call in a state that does not permit it changes nothing. */
static void calls_out_of_order_are_refused(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *id = ib_cm_create(&r->ends[A]->cm, NULL);
    const struct ib_cm_rep rep = {.qpn = 18};

    assert_int_equal(ib_cm_send_rep(id, &rep), RDL_ERR_STATE);
    assert_int_equal(ib_cm_send_rtu(id, NULL, 0), RDL_ERR_STATE);
    assert_int_equal(ib_cm_send_rej(id, 28, NULL, 0, NULL, 0), RDL_ERR_STATE);
    assert_int_equal(ib_cm_prepare_mra(id, 24), RDL_ERR_STATE);
    assert_int_equal(ib_cm_send_dreq(id, NULL, 0), RDL_ERR_STATE);
    assert_int_equal(ib_cm_send_drep(id, NULL, 0), RDL_ERR_STATE);
    assert_int_equal(ib_cm_notify(id), RDL_ERR_STATE);
    assert_int_equal(ib_cm_send_sidr_rep(id, 0, 0, 0, NULL, 0), RDL_ERR_STATE);
    assert_int_equal(ib_cm_listen(id, SERVICE), RDL_OK);
    assert_int_equal(ib_cm_listen(id, SERVICE), RDL_ERR_STATE);
    assert_int_equal(r->n_sent, 0);
}

static void codes_are_times(void **state)
{
    (void)state;
    assert_int_equal(ib_cm_time_ns(0), 1u * MS);
    assert_int_equal(ib_cm_time_ns(8), 1u * MS);
    assert_int_equal(ib_cm_time_ns(20), 4096u * MS);
    assert_int_equal(ib_cm_ack_timeout(15, 18), 19);
    assert_int_equal(ib_cm_ack_timeout(15, 16), 17);
    assert_int_equal(ib_cm_ack_timeout(15, 15), 17); /* 16, and 15 is within half */
    assert_int_equal(ib_cm_ack_timeout(20, 16), 20);
    assert_int_equal(ib_cm_ack_timeout(31, 31), 31);
}

/* The message that @side has sent last, as the other one got it. */
static const struct mad *heard(const struct rig *r, unsigned side)
{
    return &last(r, !side)->mad;
}

/* The REJ has no ID of this side while the program has not seen the request: the peer knows none.
 */
static void a_rej_names_what_it_rejects(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *a, *b;

    listen_at(r, B);
    a = request(r, A, 17);
    pass(r, 1);
    b = last(r, B)->id;
    assert_int_equal(ib_cm_send_rej(b, CM_REASON_CONSUMER_DEFINED, NULL, 0, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(heard(r, B)->u.rej.local_comm_id, 0);
    assert_int_equal(heard(r, B)->u.rej.remote_comm_id, a->local_id);
    assert_int_equal(heard(r, B)->u.rej.answered, CM_ANSWERED_REQ);
    assert_int_equal(heard(r, B)->head.tid, (uint64_t)1 << 32 | a->local_id);

    a = request(r, A, 17); /* the old one is forgotten */
    pass(r, 1);
    b = last(r, B)->id;
    assert_int_equal(ib_cm_prepare_mra(b, 24), RDL_OK);
    assert_int_equal(ib_cm_send_rej(b, CM_REASON_CONSUMER_DEFINED, NULL, 0, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(heard(r, B)->u.rej.local_comm_id, b->local_id);

    (void)request(r, A, 17);
    pass(r, 1);
    b = last(r, B)->id;
    reply(b, 18);
    pass(r, 1);
    a = last(r, A)->id;
    assert_int_equal(ib_cm_send_rej(a, CM_REASON_CONSUMER_DEFINED, NULL, 0, NULL, 0), RDL_OK);
    assert_int_equal(a->state, CMS_IDLE);
    pass(r, 1);
    assert_int_equal(heard(r, A)->u.rej.answered, CM_ANSWERED_REP);
    assert_int_equal(b->state, CMS_IDLE);
}

/* Who has sent a REP may have a packet of the peer under way. */
static void a_rej_behind_a_rep_leads_to_timewait(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *b;

    listen_at(r, B);
    (void)request(r, A, 17);
    pass(r, 1);
    b = last(r, B)->id;
    reply(b, 18);
    assert_int_equal(ib_cm_send_rej(b, CM_REASON_CONSUMER_DEFINED, NULL, 0, NULL, 0), RDL_OK);
    assert_int_equal(b->state, CMS_TIMEWAIT);
    pass(r, 1); /* A gets the REP, and the REJ */
    assert_int_equal(heard(r, B)->u.rej.answered, CM_ANSWERED_OTHER);
    assert_int_equal(last(r, A)->id->state, CMS_TIMEWAIT);
    pass(r, 2048);
    assert_int_equal(last(r, B)->kind, IB_CM_TIMEWAIT_EXIT);
    assert_int_equal(count_sent(r, B, CM_REP), 1); /* it is not repeated */
}

/* Each ID that is destroyed tells the peer in the way of its state. */
static void an_id_that_is_destroyed_tells_its_peer(void **state)
{
    struct rig *r = *state;
    struct both ids = connect_them(r);

    ib_cm_destroy(ids.a);
    pass(r, 1);
    assert_int_equal(last(r, B)->kind, IB_CM_DREQ_RECEIVED);
    ib_cm_destroy(ids.b);
    pass(r, 1);
    assert_int_equal(count_sent(r, A, CM_DREQ), 1);
    assert_int_equal(count_sent(r, B, CM_DREP), 1);

    ids.a = request(r, A, 19);
    pass(r, 1);
    ib_cm_destroy(last(r, B)->id);
    pass(r, 1);
    assert_int_equal(last(r, A)->kind, IB_CM_REJ_RECEIVED);
    assert_int_equal(last(r, A)->mad.u.rej.reason, CM_REASON_CONSUMER_DEFINED);
    ib_cm_destroy(ids.a);
    assert_int_equal(r->ends[A]->cm.n_ids, 0);
    assert_int_equal(r->ends[B]->cm.n_ids, 1); /* the listener */
    pass(r, 200000);                           /* no timer of a dead ID is due */
}

/* In TIMEWAIT the peer's numbers are free again. */
static void a_peer_may_come_back_during_timewait(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);

    assert_int_equal(ib_cm_send_dreq(ids.a, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(ib_cm_send_drep(ids.b, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(ids.b->state, CMS_TIMEWAIT);
    (void)request(r, A, 17);
    pass(r, 1);
    assert_int_equal(last(r, B)->kind, IB_CM_REQ_RECEIVED);
}

static void a_mra_says_what_it_answers(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *a, *b;

    listen_at(r, B);
    a = request(r, A, 17);
    pass(r, 1);
    b = last(r, B)->id;
    reply(b, 18);
    pass(r, 1);
    assert_int_equal(ib_cm_prepare_mra(a, 24), RDL_OK);
    assert_int_equal(a->state, CMS_MRA_REP_SENT);
    pass(r, 4096 + 2); /* the REP is repeated, and answered with a MRA */
    assert_int_equal(last(r, B)->kind, IB_CM_MRA_RECEIVED);
    assert_int_equal(heard(r, A)->u.mra.answered, CM_ANSWERED_REP);
    assert_int_equal(heard(r, A)->u.mra.service_timeout, 24);
    assert_int_equal(heard(r, A)->u.mra.local_comm_id, a->local_id);
    assert_int_equal(heard(r, A)->u.mra.remote_comm_id, b->local_id);
    assert_int_equal(b->state, CMS_MRA_REP_RCVD);
    /* 65536 ms of the MRA and 2048 ms of the path; the retries that are left take as long each. */
    assert_int_equal(b->wait_ns, (65536u + 2048u) * MS);
    assert_int_equal(b->retries, 14);
    assert_int_equal(ib_cm_send_rtu(a, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(last(r, B)->kind, IB_CM_RTU_RECEIVED);
}

/* Sends a message of A's to B that its state machine would not send. */
static void inject(struct rig *r, const struct mad *m)
{
    const struct ib_cm_path path = {.hop_limit = 64};
    uint8_t bytes[MAD_BYTES];

    mad_build(m, bytes);
    ib_cm_receive(&r->ends[B]->cm, &path, bytes);
}

static struct mad forged(enum cm_message message)
{
    struct mad m = {.head = {.base_version = 1,
                             .mgmt_class = 7,
                             .class_version = 2,
                             .method = 3,
                             .attr_id = message}};

    return m;
}

/* A reply goes where the REQ says, and not where the packet came from. */
static void a_reply_goes_to_the_address_of_the_request(void **state)
{
    struct rig *r = *state;
    struct mad m = forged(CM_REQ);

    listen_at(r, B);
    m.u.req.local_comm_id = 5;
    m.u.req.local_ca_guid = 0x1111;
    m.u.req.service_id = SERVICE;
    m.u.req.local_qpn = 17;
    memcpy(m.u.req.local_gid, gids[A], GID_BYTES);
    memcpy(m.u.req.remote_gid, gids[B], GID_BYTES);
    inject(r, &m);
    reply(last(r, B)->id, 18); /* the rig checks the address */
    assert_int_equal(count_sent(r, B, CM_REP), 1);
}

/* A MRA for another message than the one that was sent. */
static void a_mra_for_another_message_is_ignored(void **state)
{
    struct rig *r = *state;
    struct mad m = forged(CM_MRA);
    struct ib_cm_id *b;

    b = request(r, B, 18);
    m.u.mra.remote_comm_id = b->local_id;
    m.u.mra.answered = CM_ANSWERED_REP;
    inject(r, &m);
    assert_int_equal(b->state, CMS_REQ_SENT);
    m.u.mra.answered = CM_ANSWERED_REQ;
    inject(r, &m);
    assert_int_equal(b->state, CMS_MRA_REQ_RCVD);
}

static void a_drep_has_the_transaction_of_its_dreq(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);

    ids.b->cm->config.agent = 9; /* B's own transactions are others */
    assert_int_equal(ib_cm_send_dreq(ids.b, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(ib_cm_send_drep(ids.a, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(heard(r, A)->head.tid, (uint64_t)9 << 32 | ids.b->local_id);
}

/* A message with the wrong IDs, or for another state, changes nothing. */
static void forged_messages_are_ignored(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);
    const size_t n_events = side_of(r, B)->n_events, n_sent = r->n_sent;
    struct mad m = forged(CM_REP);

    m.u.rep.remote_comm_id = ids.b->local_id;
    m.u.rep.local_comm_id = ids.a->local_id + 1;
    inject(r, &m);
    m = forged(CM_RTU);
    m.u.rtu.remote_comm_id = ids.b->local_id;
    m.u.rtu.local_comm_id = ids.a->local_id;
    inject(r, &m); /* a duplicate */
    m = forged(CM_MRA);
    m.u.mra.remote_comm_id = ids.b->local_id;
    m.u.mra.local_comm_id = ids.a->local_id;
    m.u.mra.answered = CM_ANSWERED_REP;
    inject(r, &m);
    m = forged(CM_DREP);
    m.u.drep.remote_comm_id = ids.b->local_id;
    m.u.drep.local_comm_id = ids.a->local_id;
    inject(r, &m);
    m = forged(CM_REJ);
    m.u.rej.remote_comm_id = ids.b->local_id;
    m.u.rej.local_comm_id = ids.a->local_id + 1;
    m.u.rej.answered = CM_ANSWERED_OTHER;
    inject(r, &m);
    m = forged(CM_SIDR_REP);
    m.u.sidr_rep.request_id = ids.b->local_id;
    inject(r, &m);
    m = forged(CM_DREQ);
    m.head.method = 0x81; /* no Send */
    m.u.dreq.remote_comm_id = ids.b->local_id;
    m.u.dreq.local_comm_id = ids.a->local_id;
    m.u.dreq.remote_qpn = 18;
    inject(r, &m);
    assert_int_equal(ids.b->state, CMS_ESTABLISHED);
    assert_int_equal(side_of(r, B)->n_events, n_events);
    assert_int_equal(r->n_sent, n_sent);
}

/* The REP comes from a queue pair with which an older connection of this side is. */
static void an_old_connection_of_the_replying_queue_pair_is_stale(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);
    struct ib_cm_id *a = request(r, A, 19);

    pass(r, 1);
    reply(last(r, B)->id, 18); /* B uses its queue pair again */
    pass(r, 1);
    assert_int_equal(a->state, CMS_REQ_SENT);
    assert_int_equal(ids.a->state, CMS_DREQ_SENT);
    pass(r, 1);
    assert_int_equal(count_sent(r, A, CM_REJ), 1);
    assert_int_equal(side_of(r, B)->events[side_of(r, B)->n_events - 2].mad.u.rej.reason,
                     CM_REASON_STALE_CONN);
}

static void a_request_has_what_linux_puts_in(void **state)
{
    struct rig *r = *state;
    const struct cm_req *req;
    struct ib_cm_req local = {.path = {.hop_limit = 1}, .service_id = SERVICE, .qpn = 20};
    struct ib_cm_id *id;

    listen_at(r, B);
    (void)request(r, A, 17);
    pass(r, 1);
    req = &last(r, B)->mad.u.req;
    assert_int_equal(req->local_lid, 0xffff);
    assert_int_equal(req->remote_lid, 0xffff);
    assert_int_equal(req->subnet_local, 0);
    assert_int_equal(req->hop_limit, 64);
    assert_int_equal(req->pkey, 0xffff);
    assert_int_equal(req->path_mtu, 3);
    assert_int_equal(req->ack_timeout, 19);
    assert_int_equal(req->max_cm_retries, 15);
    assert_memory_equal(last(r, B)->id->path.dgid, gids[A], GID_BYTES);
    assert_int_equal(last(r, B)->id->path.hop_limit, 255);
    reply(last(r, B)->id, 18);
    pass(r, 1);
    assert_int_equal(last(r, A)->mad.u.rep.target_ack_delay, ACK_DELAY);
    assert_int_equal(last(r, A)->id->ack_timeout, 19);

    id = ib_cm_create(&r->ends[A]->cm, NULL); /* a path of one hop */
    memcpy(local.path.sgid, gids[A], GID_BYTES);
    memcpy(local.path.dgid, gids[B], GID_BYTES);
    assert_int_equal(ib_cm_send_req(id, &local), RDL_OK);
    pass(r, 1);
    req = &last(r, B)->mad.u.req;
    assert_int_equal(req->local_lid, 0);
    assert_int_equal(req->subnet_local, 1);
}

/* The passive side waits for the RTU as long as the REQ says of its sender. */
static void each_side_says_how_long_it_may_take(void **state)
{
    struct rig *r = *state;
    struct ib_cm_req req = {.path = {.hop_limit = 64},
                            .packet_life = LIFE,
                            .service_id = SERVICE,
                            .qpn = 17,
                            .remote_cm_timeout = 20,
                            .local_cm_timeout = 18,
                            .max_cm_retries = 3};
    struct ib_cm_id *id = ib_cm_create(&r->ends[A]->cm, NULL);

    listen_at(r, B);
    memcpy(req.path.sgid, gids[A], GID_BYTES);
    memcpy(req.path.dgid, gids[B], GID_BYTES);
    assert_int_equal(ib_cm_send_req(id, &req), RDL_OK);
    pass(r, 1);
    r->lose = CM_REP;
    r->n_lose = 100;
    reply(last(r, B)->id, 18);
    pass(r, 4 * 1024 - 1);
    assert_int_equal(count_sent(r, B, CM_REP), 4);
    pass(r, 1);
    assert_int_equal(last(r, B)->kind, IB_CM_REP_ERROR);
}

static void ids_are_never_0(void **state)
{
    struct rig *r = *state;
    struct ib_cm *cm = &r->ends[A]->cm;

    cm->next = cm->operand;
    assert_int_not_equal(ib_cm_create(cm, NULL)->local_id, 0);
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RIGGED(a_connection_comes_and_goes),
        RIGGED(nobody_listens),
        RIGGED(a_request_without_answer_fails_after_98_seconds),
        RIGGED(a_lost_rep_and_a_lost_rtu_are_repeated),
        RIGGED(a_slow_server_sends_a_mra_to_the_second_req),
        RIGGED(an_old_connection_of_the_queue_pair_is_stale),
        RIGGED(both_disconnect_at_once),
        RIGGED(a_disconnect_without_answer_ends_in_timewait),
        RIGGED(a_dreq_for_another_queue_pair_is_ignored),
        RIGGED(a_lost_drep_is_repeated_in_timewait),
        RIGGED(who_gives_up_takes_its_req_back),
        RIGGED(a_full_backlog_is_silent),
        RIGGED(a_program_rejects),
        RIGGED(a_req_for_another_address_is_rejected),
        RIGGED(data_before_the_rtu_establishes),
        RIGGED(a_datagram_service_is_resolved),
        RIGGED(calls_out_of_order_are_refused),
        RIGGED(a_rej_names_what_it_rejects),
        RIGGED(a_rej_behind_a_rep_leads_to_timewait),
        RIGGED(an_id_that_is_destroyed_tells_its_peer),
        RIGGED(a_peer_may_come_back_during_timewait),
        RIGGED(a_mra_says_what_it_answers),
        RIGGED(forged_messages_are_ignored),
        RIGGED(a_reply_goes_to_the_address_of_the_request),
        RIGGED(a_mra_for_another_message_is_ignored),
        RIGGED(a_drep_has_the_transaction_of_its_dreq),
        RIGGED(an_old_connection_of_the_replying_queue_pair_is_stale),
        RIGGED(a_request_has_what_linux_puts_in),
        RIGGED(each_side_says_how_long_it_may_take),
        RIGGED(ids_are_never_0),
        cmocka_unit_test(codes_are_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
