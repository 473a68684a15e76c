/* SPDX-License-Identifier: MIT */
/* Connections come and go, whatever is lost on the way. */
#include "testing.h"

#include "guest/cm/ib_cm_rig.h"

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
    assert_int_equal(last(r, B)->mad.u.rej.info_length, 8); /* the GUID of its node */
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
    assert_int_equal(last(r, A)->mad.u.sidr_rep.service_id, SERVICE);
    assert_int_equal(last(r, A)->mad.head.tid, (uint64_t)1 << 32 | id->local_id);
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

/* After a REP, packets of the peer may be under way. */
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

/* A request that is not to be repeated is sent once. */
static void a_message_is_repeated_as_often_as_it_says(void **state)
{
    struct rig *r = *state;
    struct ib_cm_sidr_req req = {.path = {.hop_limit = 64}, .service_id = SERVICE};
    struct ib_cm_id *id = ib_cm_create(&r->ends[A]->cm, NULL);

    memcpy(req.path.dgid, gids[B], GID_BYTES);
    req.timeout_ns = 100 * MS;
    r->lose = CM_SIDR_REQ;
    r->n_lose = 100;
    assert_int_equal(ib_cm_send_sidr_req(id, &req), RDL_OK);
    pass(r, 1000);
    assert_int_equal(count_sent(r, A, CM_SIDR_REQ), 1);
    assert_int_equal(last(r, A)->kind, IB_CM_SIDR_REQ_ERROR);
}

/* Packets of the passive side have the traffic class and the flow label of the REQ, and not those
 * of the packet that it came in.
 */
static void a_reply_goes_the_way_of_the_req(void **state)
{
    struct rig *r = *state;
    const struct ib_cm_req req = {
        .path = {.hop_limit = 64, .traffic_class = 96, .flow_label = 0x12345},
        .service_id = SERVICE,
        .qpn = 17};

    listen_at(r, B);
    (void)ask(r, A, req);
    pass(r, 1);
    assert_int_equal(last(r, B)->id->path.traffic_class, 96);
    assert_int_equal(last(r, B)->id->path.flow_label, 0x12345);
}

/* The passive side waits for the RTU as long as the REQ says of its sender. */
static void each_side_says_how_long_it_may_take(void **state)
{
    struct rig *r = *state;
    const struct ib_cm_req req = {.path = {.hop_limit = 64},
                                  .packet_life = LIFE,
                                  .service_id = SERVICE,
                                  .qpn = 17,
                                  .remote_cm_timeout = 20,
                                  .local_cm_timeout = 18,
                                  .max_cm_retries = 3};

    listen_at(r, B);
    (void)ask(r, A, req);
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
        RIGGED(a_lost_drep_is_repeated_in_timewait),
        RIGGED(who_gives_up_takes_its_req_back),
        RIGGED(a_full_backlog_is_silent),
        RIGGED(a_program_rejects),
        RIGGED(data_before_the_rtu_establishes),
        RIGGED(a_datagram_service_is_resolved),
        RIGGED(a_rej_behind_a_rep_leads_to_timewait),
        RIGGED(an_id_that_is_destroyed_tells_its_peer),
        RIGGED(a_peer_may_come_back_during_timewait),
        RIGGED(an_old_connection_of_the_replying_queue_pair_is_stale),
        RIGGED(a_message_is_repeated_as_often_as_it_says),
        RIGGED(a_reply_goes_the_way_of_the_req),
        RIGGED(each_side_says_how_long_it_may_take),
        RIGGED(ids_are_never_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
