/* SPDX-License-Identifier: MIT */
/* The events that each program gets of a connection, by their causes. */
#include "testing.h"

#include "guest/cm/cma_rig.h"

static void a_connection_as_its_programs_see_it(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_param welcome = param(18, "welcome");
    struct cma_id *listener = new_listener(h, PORT_SPACE_TCP, 1);
    struct cma_id *a = connect_to(h, PORT_SPACE_TCP), *b;
    const struct cma_event request = event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    struct cma_event response;

    b = request.id;
    assert_ptr_equal(request.listener, listener);
    assert_int_equal(request.param.private_bytes, 56);
    assert_string_equal((const char *)request.param.private_data, "hello");
    assert_int_equal(request.param.responder_resources, 2); /* the depth of the other side */
    assert_int_equal(request.param.initiator_depth, 1);
    assert_int_equal(request.param.qpn, 17);
    assert_int_equal(b->peer.port, a->local.port);
    assert_int_equal(b->local.port, PORT);
    assert_memory_equal(b->peer.gid, gids[A], GID_BYTES);

    assert_int_equal(cma_accept(b, &welcome), 0);
    pass(&h->rig, 1);
    response = event_of(h, A, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    assert_int_equal(response.param.private_bytes, 196);
    assert_string_equal((const char *)response.param.private_data, "welcome");
    assert_int_equal(response.param.qpn, 18);
    assert_int_equal(cma_accept(a, NULL), 0);
    pass(&h->rig, 1);
    (void)event_of(h, B, RDMA_CM_EVENT_ESTABLISHED, 0);

    assert_int_equal(cma_disconnect(a), 0);
    pass(&h->rig, 1);
    (void)event_of(h, B, RDMA_CM_EVENT_DISCONNECTED, 0);
    assert_int_equal(cma_disconnect(b), 0);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_DISCONNECTED, 0);
    pass(&h->rig, 3000);
    (void)event_of(h, A, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    (void)event_of(h, B, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    cma_destroy(a);
    cma_destroy(b);
    cma_destroy(listener);
    assert_int_equal(h->host[A].end.cm.n_ids, 0);
    assert_int_equal(h->host[B].end.cm.n_ids, 0);
    assert_quiet(h);
    assert_int_equal(h->rig.n_sent, 5);
}

/* Each side names the PSN that the other one begins with. */
static void queue_pairs_get_what_the_messages_say(void **state)
{
    struct hosts *h = *state;
    const struct both ids = connected(h);
    struct rdl_qp_attr a, b;
    uint32_t mask;

    assert_int_equal(cma_qp_attr(ids.a, QPS_INIT, &a, &mask), 0);
    assert_int_equal(mask, QPA_STATE | QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS);
    assert_int_equal(a.access, ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC);
    assert_int_equal(cma_qp_attr(ids.a, QPS_RTR, &a, &mask), 0);
    assert_int_equal(cma_qp_attr(ids.b, QPS_RTS, &b, &mask), 0);
    assert_int_equal(a.dest_qpn, 18);
    assert_int_equal(a.rq_psn, b.sq_psn);
    assert_int_equal(a.rq_psn, ids.a->psn);
    assert_int_equal(a.min_rnr_timer, 0); /* 655 ms */
    assert_int_equal(b.retry_cnt, 7);
    assert_int_equal(b.rnr_retry, 6);
    assert_int_equal(b.timeout, 19);
    assert_int_equal(cma_qp_attr(ids.b, QPS_RTR, &b, &mask), 0);
    assert_int_equal(cma_qp_attr(ids.a, QPS_RTS, &a, &mask), 0);
    assert_int_equal(b.dest_qpn, 17);
    assert_int_equal(b.rq_psn, a.sq_psn);
    assert_int_equal(b.path_mtu, 3);
    assert_memory_equal(b.ah.dgid, gids[A], GID_BYTES);
    assert_int_equal(cma_qp_attr(ids.a, QPS_SQD, &a, &mask), EINVAL);
}

static void nobody_listens(void **state)
{
    struct hosts *h = *state;

    (void)connect_to(h, PORT_SPACE_TCP);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_REJECTED, CM_REASON_INVALID_SERVICE_ID);
    assert_quiet(h);
}

static void a_program_rejects(void **state)
{
    struct hosts *h = *state;
    struct cma_event e;

    (void)new_listener(h, PORT_SPACE_TCP, 1);
    (void)connect_to(h, PORT_SPACE_TCP);
    assert_int_equal(cma_reject(event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).id, "go away", 8),
                     0);
    pass(&h->rig, 1);
    e = event_of(h, A, RDMA_CM_EVENT_REJECTED, CM_REASON_CONSUMER_DEFINED);
    assert_int_equal(e.param.private_bytes, 148);
    assert_string_equal((const char *)e.param.private_data, "go away");
}

static void a_request_without_answer_is_unreachable(void **state)
{
    struct hosts *h = *state;

    h->rig.lose = CM_REQ;
    h->rig.n_lose = 100;
    (void)connect_to(h, PORT_SPACE_TCP);
    pass(&h->rig, 98302);
    assert_quiet(h);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

static void a_reply_without_answer_is_unreachable_for_the_server(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_param p = param(18, "");

    (void)new_listener(h, PORT_SPACE_TCP, 1);
    (void)connect_to(h, PORT_SPACE_TCP);
    h->rig.lose = CM_REP;
    h->rig.n_lose = 100;
    assert_int_equal(cma_accept(event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).id, &p), 0);
    pass(&h->rig, 65536);
    (void)event_of(h, B, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

/* The server needs longer than the first timeout: REQ, REQ, MRA. */
static void a_slow_server_is_waited_for(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_param p = param(18, "");
    struct cma_id *b;

    (void)new_listener(h, PORT_SPACE_TCP, 1);
    (void)connect_to(h, PORT_SPACE_TCP);
    b = event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).id;
    pass(&h->rig, 60000);
    assert_int_equal(count_sent(&h->rig, A, CM_REQ), 2);
    assert_int_equal(count_sent(&h->rig, B, CM_MRA), 1);
    assert_int_equal(cma_accept(b, &p), 0);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
}

/* A queue pair that its owner uses again while the peer has the old connection. */
static void a_queue_pair_that_is_used_again_is_stale(void **state)
{
    struct hosts *h = *state;
    const struct both ids = connected(h);

    (void)connect_to(h, PORT_SPACE_TCP);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_REJECTED, CM_REASON_STALE_CONN);
    (void)event_of(h, A, RDMA_CM_EVENT_DISCONNECTED, 0); /* the peer ends the old one */
    assert_int_equal(ids.a->state, CMA_DISCONNECT);
}

static void both_disconnect_at_once(void **state)
{
    struct hosts *h = *state;
    const struct both ids = connected(h);

    assert_int_equal(cma_disconnect(ids.a), 0);
    assert_int_equal(cma_disconnect(ids.b), 0);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_DISCONNECTED, 0);
    (void)event_of(h, B, RDMA_CM_EVENT_DISCONNECTED, 0);
    assert_int_equal(cma_disconnect(ids.a), 0); /* DREP */
    assert_int_equal(cma_disconnect(ids.b), 0);
    pass(&h->rig, 3000);
    (void)event_of(h, A, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    (void)event_of(h, B, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    assert_quiet(h);
}

static void a_peer_that_has_gone_disconnects_after_all_retries(void **state)
{
    struct hosts *h = *state;
    const struct both ids = connected(h);

    h->rig.lose = CM_DREQ;
    h->rig.n_lose = 100;
    assert_int_equal(cma_disconnect(ids.a), 0);
    pass(&h->rig, 98304);
    (void)event_of(h, A, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
}

static void a_datagram_service_tells_its_queue_pair(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_param p = param(18, "here");
    struct cma_event e;

    (void)new_listener(h, PORT_SPACE_UDP, 1);
    (void)connect_to(h, PORT_SPACE_UDP);
    e = event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    assert_int_equal(e.param.private_bytes, 180);
    assert_string_equal((const char *)e.param.private_data, "hello");
    assert_int_equal(cma_accept(e.id, &p), 0);
    pass(&h->rig, 1);
    e = event_of(h, A, RDMA_CM_EVENT_ESTABLISHED, 0);
    assert_int_equal(e.param.qpn, 18);
    assert_int_equal(e.param.qkey, 0x01234567);
    assert_int_equal(e.param.private_bytes, 136);
    assert_memory_equal(e.ah.dgid, gids[B], GID_BYTES);
    assert_quiet(h); /* the server gets no ESTABLISHED */
}

static void a_datagram_service_is_refused_as_unreachable(void **state)
{
    struct hosts *h = *state;

    (void)connect_to(h, PORT_SPACE_UDP);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_UNREACHABLE, SIDR_UNSUPPORTED);
    (void)new_listener(h, PORT_SPACE_UDP, 1);
    (void)connect_to(h, PORT_SPACE_UDP);
    assert_int_equal(cma_reject(event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).id, NULL, 0), 0);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_UNREACHABLE, SIDR_REJECT);
}

/* The last message of @from. */
static struct mad sent_by(struct hosts *h, unsigned from)
{
    struct mad m;

    assert_true(mad_parse(&m, h->rig.last_mad[from]));
    return m;
}

static void a_request_says_what_its_program_wants(void **state)
{
    struct hosts *h = *state;
    struct cma_id *id = routed(h, PORT_SPACE_TCP);
    struct rdl_cm_param p = param(17, "");
    struct cm_req req;

    p.retry_count = p.rnr_retry_count = 9;
    p.flow_control = p.srq = true;
    id->has_timeout = true; /* too late: the route is resolved */
    id->timeout = 20;
    id->tos = 64;
    id->packet_life = 14;
    id->traffic_class = 32;
    assert_int_equal(cma_connect(id, &p), 0);
    req = sent_by(h, A).u.req;
    assert_int_equal(req.service_id, 0x01060000 | PORT);
    assert_int_equal(req.retry_count, 7);
    assert_int_equal(req.rnr_retry_count, 7);
    assert_int_equal(req.flow_control, 1);
    assert_int_equal(req.srq, 1);
    assert_int_equal(req.responder_resources, 1);
    assert_int_equal(req.initiator_depth, 2);
    assert_int_equal(req.starting_psn, id->psn);
    assert_int_equal(req.remote_cm_timeout, 20);
    assert_int_equal(req.local_cm_timeout, 20);
    assert_int_equal(req.traffic_class, 32);
    assert_int_equal(req.flow_label, (31u * id->local.port + PORT) & 0xfffff);
    assert_int_equal(req.ack_timeout,
                     16); /* life 14 is 15 there and back, and the device delays by 15 */
    assert_int_equal(req.private_data[1], 0x40);
    assert_int_equal(req.private_data[2] << 8 | req.private_data[3], id->local.port);
}

static void an_event_has_what_the_request_says(void **state)
{
    struct hosts *h = *state;
    struct cma_id *listener = new_listener(h, PORT_SPACE_TCP, 1), *active;
    struct rdl_cm_param p = param(17, "");
    struct cma_event e;

    p.flow_control = p.srq = true;
    listener->tos = 8; /* of its own packets, and not of those of its connections */
    active = routed(h, PORT_SPACE_TCP);
    active->traffic_class = 32;
    assert_int_equal(cma_connect(active, &p), 0);
    pass(&h->rig, 1);
    e = event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    assert_true(e.param.flow_control && e.param.srq);
    assert_int_equal(e.param.retry_count, 7);
    assert_int_equal(e.param.rnr_retry_count, 6);
    assert_int_equal(e.id->traffic_class, 32);
    assert_int_equal(e.id->flow_label, active->flow_label);
    p = param(18, "");
    p.responder_resources = 3;
    p.initiator_depth = 4;
    p.rnr_retry_count = 5;
    p.flow_control = p.srq = true;
    assert_int_equal(cma_accept(e.id, &p), 0);
    pass(&h->rig, 1);
    e = event_of(h, A, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    assert_int_equal(e.param.responder_resources, 4);
    assert_int_equal(e.param.initiator_depth, 3);
    assert_int_equal(e.param.rnr_retry_count, 5);
    assert_true(e.param.flow_control && e.param.srq);
}

/* READs of the peer need resources here, and own READs those of the peer. */
static void resources_become_attributes(void **state)
{
    struct hosts *h = *state;
    struct rdl_cm_param p = param(18, "");
    struct rdl_qp_attr attr;
    struct cma_id *a, *b;
    uint32_t mask;

    (void)new_listener(h, PORT_SPACE_TCP, 1);
    a = connect_to(h, PORT_SPACE_TCP);
    b = event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).id;
    p.responder_resources = 0;
    p.initiator_depth = 5;
    p.rnr_retry_count = 3;
    p.srq = true;
    assert_int_equal(cma_accept(b, &p), 0);
    assert_int_equal(cma_qp_attr(b, QPS_INIT, &attr, &mask), 0);
    assert_int_equal(attr.access, ACC_REMOTE_WRITE);
    assert_int_equal(cma_qp_attr(b, QPS_RTR, &attr, &mask), 0);
    assert_int_equal(attr.max_dest_rd_atomic, 0);
    assert_int_equal(cma_qp_attr(b, QPS_RTS, &attr, &mask), 0);
    assert_int_equal(attr.max_rd_atomic, 5);
    pass(&h->rig, 1);
    assert_true(event_of(h, A, RDMA_CM_EVENT_CONNECT_RESPONSE, 0).param.srq); /* the peer's */
    assert_int_equal(cma_qp_attr(a, QPS_RTR, &attr, &mask), 0);
    assert_int_equal(attr.max_dest_rd_atomic, 5);
    assert_int_equal(cma_qp_attr(a, QPS_RTS, &attr, &mask), 0);
    assert_int_equal(attr.max_rd_atomic, 0);
    assert_int_equal(attr.rnr_retry, 3);
    assert_int_equal(attr.retry_cnt, 7);
}

/* A slow client: the REP comes again, and is answered with a MRA. */
static void a_slow_client_is_waited_for(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_param p = param(18, "");

    (void)new_listener(h, PORT_SPACE_TCP, 1);
    (void)connect_to(h, PORT_SPACE_TCP);
    assert_int_equal(cma_accept(event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).id, &p), 0);
    pass(&h->rig, 10000);
    assert_int_equal(count_sent(&h->rig, B, CM_REP), 2);
    assert_int_equal(count_sent(&h->rig, A, CM_MRA), 1);
    assert_int_equal(sent_by(h, A).u.mra.service_timeout, 24);
}

/* Retries are at most 7, and the path MTU is that of the REQ. */
static void both_sides_have_what_the_messages_have(void **state)
{
    struct hosts *h = *state;
    struct cma_id *listener = new_listener(h, PORT_SPACE_TCP, 1), *a = routed(h, PORT_SPACE_TCP),
                  *b;
    struct rdl_cm_param p = param(17, "");
    struct rdl_qp_attr attr;
    uint32_t mask;

    h->host[B].cma.config.path_mtu = 5;
    p.retry_count = 2;
    assert_int_equal(cma_connect(a, &p), 0);
    pass(&h->rig, 1);
    b = event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).id;
    p.rnr_retry_count = 9;
    assert_int_equal(cma_accept(b, &p), 0);
    assert_int_equal(sent_by(h, B).u.rep.rnr_retry_count, 7);
    assert_int_equal(cma_qp_attr(b, QPS_RTR, &attr, &mask), 0);
    assert_int_equal(attr.path_mtu, 3);
    pass(&h->rig, 1);
    assert_int_equal(cma_qp_attr(a, QPS_RTS, &attr, &mask), 0);
    assert_int_equal(attr.retry_cnt, 2);
    assert_int_equal(attr.rnr_retry, 7);
    cma_destroy(listener);
}

static void a_datagram_service_that_does_not_answer_is_unreachable(void **state)
{
    struct hosts *h = *state;

    h->rig.lose = CM_SIDR_REQ;
    h->rig.n_lose = 100;
    (void)connect_to(h, PORT_SPACE_UDP);
    pass(&h->rig, 16 * 4096 - 2);
    assert_quiet(h);
    assert_int_equal(count_sent(&h->rig, A, CM_SIDR_REQ), 16);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

static void a_service_of_the_other_kind_refuses(void **state)
{
    struct hosts *h = *state;
    (void)new_listener(h, PORT_SPACE_TCP, 1);
    (void)connect_to(h, PORT_SPACE_UDP); /* nobody listens in that port space */
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_UNREACHABLE, SIDR_UNSUPPORTED);
    assert_quiet(h);
}

/* A REQ of A's to @service_id of B, made by hand. */
static struct mad forged_req(uint64_t service_id)
{
    struct rdma_cm_header addresses = {.ip_version = 4, .port = 40000};
    struct mad m = {.head = {.base_version = 1,
                             .mgmt_class = 7,
                             .class_version = 2,
                             .method = 3,
                             .attr_id = CM_REQ}};

    m.u.req.local_comm_id = 5;
    m.u.req.local_ca_guid = 0x1111;
    m.u.req.local_qpn = 17;
    m.u.req.service_id = service_id;
    memcpy(m.u.req.local_gid, gids[A], GID_BYTES);
    memcpy(m.u.req.remote_gid, gids[B], GID_BYTES);
    memcpy(addresses.source + 12, gids[A] + 12, 4);
    memcpy(addresses.destination + 12, gids[B] + 12, 4);
    rdma_cm_build(&addresses, m.u.req.private_data);
    return m;
}

static void inject(struct hosts *h, const struct mad *m)
{
    const struct ib_cm_path from = {.hop_limit = 64};
    uint8_t bytes[MAD_BYTES];

    mad_build(m, bytes);
    ib_cm_receive(&h->host[B].end.cm, &from, bytes);
}

/* A connection to a datagram service, or with a header that nobody knows. */
static void requests_that_make_no_sense_are_rejected(void **state)
{
    struct hosts *h = *state;
    struct mad m = forged_req((uint64_t)PORT_SPACE_UDP << 16 | PORT);

    (void)new_listener(h, PORT_SPACE_UDP, 1);
    (void)new_listener(h, PORT_SPACE_TCP, 1);
    inject(h, &m);
    assert_int_equal(sent_by(h, B).u.rej.reason, CM_REASON_CONSUMER_DEFINED);
    m = forged_req((uint64_t)PORT_SPACE_TCP << 16 | PORT);
    m.u.req.private_data[0] = 0x10; /* a version of the future */
    inject(h, &m);
    assert_int_equal(sent_by(h, B).u.rej.reason, CM_REASON_CONSUMER_DEFINED);
    m.u.req.private_data[0] = 0;
    m.u.req.private_data[1] = 0x50; /* no version of IP */
    inject(h, &m);
    assert_int_equal(count_sent(&h->rig, B, CM_REJ), 3);
    assert_null(h->host[B].ch->first);
    m.u.req.private_data[1] = 0x40;
    inject(h, &m);
    (void)event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
}

/* An event that belongs to another state of the ID is none. */
static void a_rejected_id_has_no_timewait(void **state)
{
    struct hosts *h = *state;
    const struct both ids = connected(h);

    (void)connect_to(h, PORT_SPACE_TCP); /* stale: its manager goes through TIMEWAIT */
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_REJECTED, CM_REASON_STALE_CONN);
    (void)event_of(h, A, RDMA_CM_EVENT_DISCONNECTED, 0);
    assert_int_equal(cma_disconnect(ids.a), 0);
    assert_int_equal(cma_disconnect(ids.a), 0); /* no more is said */
    pass(&h->rig, 5000);
    (void)event_of(h, A, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0); /* of the old one alone */
    assert_null(h->host[A].ch->first);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RIGGED(a_connection_as_its_programs_see_it),
        RIGGED(queue_pairs_get_what_the_messages_say),
        RIGGED(nobody_listens),
        RIGGED(a_program_rejects),
        RIGGED(a_request_without_answer_is_unreachable),
        RIGGED(a_reply_without_answer_is_unreachable_for_the_server),
        RIGGED(a_slow_server_is_waited_for),
        RIGGED(a_queue_pair_that_is_used_again_is_stale),
        RIGGED(both_disconnect_at_once),
        RIGGED(a_peer_that_has_gone_disconnects_after_all_retries),
        RIGGED(a_datagram_service_tells_its_queue_pair),
        RIGGED(a_datagram_service_is_refused_as_unreachable),
        RIGGED(a_request_says_what_its_program_wants),
        RIGGED(an_event_has_what_the_request_says),
        RIGGED(resources_become_attributes),
        RIGGED(a_slow_client_is_waited_for),
        RIGGED(both_sides_have_what_the_messages_have),
        RIGGED(a_datagram_service_that_does_not_answer_is_unreachable),
        RIGGED(a_service_of_the_other_kind_refuses),
        RIGGED(requests_that_make_no_sense_are_rejected),
        RIGGED(a_rejected_id_has_no_timewait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
