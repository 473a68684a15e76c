/* SPDX-License-Identifier: MIT */
/* The contents of messages, and the fate of wrong ones. */
#include "testing.h"

#include "guest/cm/ib_cm_rig.h"

static void a_dreq_for_another_queue_pair_is_ignored(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);

    ids.a->remote_qpn = 99;
    assert_int_equal(ib_cm_send_dreq(ids.a, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(ids.b->state, CMS_ESTABLISHED);
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
    assert_memory_equal(last(r, A)->mad.u.rej.info, gids[B], GID_BYTES);
    assert_int_equal(side_of(r, B)->n_events, 0);
}

static void a_connection_that_is_established_is_not_rejected(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);

    assert_int_equal(ib_cm_send_rej(ids.a, 28, NULL, 0, NULL, 0), RDL_ERR_STATE);
    assert_int_equal(ib_cm_send_rej(ids.b, 28, NULL, 0, NULL, 0), RDL_ERR_STATE);
    assert_int_equal(ids.b->state, CMS_ESTABLISHED);
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

/* A MRA changes neither what is rejected nor what follows: both sides still know the REP. */
static void a_rej_behind_a_mra_is_as_one_without(void **state)
{
    struct rig *r = *state;
    struct ib_cm_id *a, *b;

    listen_at(r, B);
    for (unsigned side = A; side <= B; side++) {
        (void)request(r, A, 17 + side);
        pass(r, 1);
        b = last(r, B)->id;
        reply(b, 27 + side);
        pass(r, 1);
        a = last(r, A)->id;
        assert_int_equal(ib_cm_prepare_mra(a, 24), RDL_OK);
        pass(r, 4096 + 2); /* the REP is repeated, and answered with a MRA */
        assert_int_equal(b->state, CMS_MRA_REP_RCVD);
        assert_int_equal(
            ib_cm_send_rej(side == A ? a : b, CM_REASON_CONSUMER_DEFINED, NULL, 0, NULL, 0),
            RDL_OK);
        assert_int_equal(side == A ? a->state : b->state, side == A ? CMS_IDLE : CMS_TIMEWAIT);
        pass(r, 1);
        assert_int_equal(heard(r, side)->u.rej.answered,
                         side == A ? CM_ANSWERED_REP : CM_ANSWERED_OTHER);
    }
}

/* The ACK timeout of the active side is that of the path and of its peer's delay. */
static void a_rep_says_how_long_its_sender_delays(void **state)
{
    struct rig *r = *state;

    r->ends[B]->cm.config.ack_delay = 20;
    (void)connect_them(r);
    assert_int_equal(last(r, A)->id->ack_timeout, ib_cm_ack_timeout(20, LIFE));
    assert_int_not_equal(last(r, A)->id->ack_timeout, ib_cm_ack_timeout(ACK_DELAY, LIFE));
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

/* Its REP is one of a connection that this side has already. */
static void a_peer_that_is_known_is_not_learned_again(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);
    struct ib_cm_id *id = request(r, B, 19);
    struct mad m = forged(CM_REP);

    m.u.rep.remote_comm_id = id->local_id;
    m.u.rep.local_comm_id = ids.a->local_id;
    m.u.rep.local_ca_guid = r->ends[A]->cm.config.guid;
    m.u.rep.local_qpn = 99;
    inject(r, &m);
    assert_int_equal(id->state, CMS_REQ_SENT);
    m.u.rep.local_comm_id = ids.a->local_id + 1;
    inject(r, &m);
    assert_int_equal(id->state, CMS_REP_RCVD);
}

/* The message that this side has sent last is its own DREQ, which B does not repeat. */
static void a_dreq_in_timewait_gets_a_drep(void **state)
{
    struct rig *r = *state;
    const struct both ids = connect_them(r);
    struct mad m = forged(CM_DREQ);

    assert_int_equal(ib_cm_send_dreq(ids.b, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(ib_cm_send_drep(ids.a, NULL, 0), RDL_OK);
    pass(r, 1);
    assert_int_equal(ids.b->state, CMS_TIMEWAIT);
    m.u.dreq.local_comm_id = ids.a->local_id;
    m.u.dreq.remote_comm_id = ids.b->local_id;
    m.u.dreq.remote_qpn = 18;
    inject(r, &m);
    assert_int_equal(count_sent(r, B, CM_DREQ), 1);
    assert_int_equal(count_sent(r, B, CM_DREP), 1);
    assert_true(mad_parse(&m, r->last_mad[B]));
    assert_int_equal(m.u.drep.local_comm_id, ids.b->local_id);
    assert_int_equal(m.u.drep.remote_comm_id, ids.a->local_id);
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RIGGED(a_dreq_for_another_queue_pair_is_ignored),
        RIGGED(a_req_for_another_address_is_rejected),
        RIGGED(a_connection_that_is_established_is_not_rejected),
        RIGGED(calls_out_of_order_are_refused),
        RIGGED(a_rej_names_what_it_rejects),
        RIGGED(a_rej_behind_a_mra_is_as_one_without),
        RIGGED(a_rep_says_how_long_its_sender_delays),
        RIGGED(a_mra_says_what_it_answers),
        RIGGED(forged_messages_are_ignored),
        RIGGED(a_peer_that_is_known_is_not_learned_again),
        RIGGED(a_dreq_in_timewait_gets_a_drep),
        RIGGED(a_reply_goes_to_the_address_of_the_request),
        RIGGED(a_mra_for_another_message_is_ignored),
        RIGGED(a_drep_has_the_transaction_of_its_dreq),
        RIGGED(a_request_has_what_linux_puts_in),
        cmocka_unit_test(codes_are_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
