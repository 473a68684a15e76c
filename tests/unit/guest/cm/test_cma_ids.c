/* SPDX-License-Identifier: MIT */
/* IDs: addresses, ports, listeners and their backlog. */
#include "testing.h"

#include "guest/cm/cma_rig.h"

/* Somebody listens at the port, but at another address. */
static void a_listener_of_another_address_refuses(void **state)
{
    struct hosts *h = *state;
    struct rdl_cm_addr at = {.version = 6, .gid = {[0] = 0xfe, [15] = 2}, .port = PORT};
    struct cma_id *id = new_id(h, B, PORT_SPACE_TCP);

    assert_int_equal(cma_bind(id, &at), 0);
    assert_int_equal(cma_listen(id, 1), 0);
    (void)connect_to(h, PORT_SPACE_TCP);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_REJECTED, CM_REASON_CONSUMER_DEFINED);
}

static void a_full_backlog_is_silent(void **state)
{
    struct hosts *h = *state;

    (void)new_listener(h, PORT_SPACE_TCP, 1);
    (void)connect_with(h, PORT_SPACE_TCP, 17);
    (void)connect_with(h, PORT_SPACE_TCP, 19);
    pass(&h->rig, 100);
    (void)event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0); /* now there is room */
    assert_null(h->host[B].ch->first);
    pass(&h->rig, 6144);
    (void)event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    assert_null(h->host[A].ch->first);
}

static void a_listener_that_goes_takes_its_requests_with_it(void **state)
{
    struct hosts *h = *state;
    struct cma_id *listener = new_listener(h, PORT_SPACE_TCP, 8);

    (void)connect_to(h, PORT_SPACE_TCP);
    cma_destroy(listener);
    assert_null(h->host[B].ch->first);
    assert_int_equal(h->host[B].ch->n_events, 0);
    assert_int_equal(h->host[B].cma.n_ids, 0);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_REJECTED, CM_REASON_CONSUMER_DEFINED);
}

/* The requests to a listener are its events.  What is not about it stays, and so does the order. */
static void an_id_moves_to_another_channel_with_its_events(void **state)
{
    struct hosts *h = *state;
    struct cma_id *listener = new_listener(h, PORT_SPACE_TCP, 8);
    struct cma *cma = &h->host[B].cma;
    struct cma_channel *from = h->host[B].ch, *to = cma_channel_new(cma);
    const struct rdl_cm_addr self = any_address(PORT);
    struct cma_id *other = new_id(h, B, PORT_SPACE_UDP);
    const uint32_t qpns[] = {17, 19};

    assert_non_null(to);
    (void)connect_with(h, PORT_SPACE_TCP, qpns[0]);
    pass(&h->rig, 1);
    assert_int_equal(cma_resolve_addr(other, NULL, &self, MS), 0);
    (void)connect_with(h, PORT_SPACE_TCP, qpns[1]);
    pass(&h->rig, 1);
    assert_int_equal(from->n_events, 3);
    cma_migrate(listener, from); /* changes nothing */
    assert_int_equal(from->n_events, 3);
    cma_migrate(listener, to);
    assert_true(from->n_events == 1 && from->n_ids == 1 && from->last == from->first);
    assert_true(to->n_events == 2 && to->n_ids == 3);
    (void)event_of(h, B, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    h->host[B].ch = to;
    for (size_t i = 0; i < 2; i++) {
        const struct cma_event e = event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0);

        assert_int_equal(e.id->remote_qpn, qpns[i]);
        cma_destroy(e.id);
    }
    cma_destroy(listener);
    cma_channel_free(cma, to);
    h->host[B].ch = from;
    cma_destroy(other);
}

static void addresses_are_resolved_or_not(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_addr to = address(B, PORT), self = any_address(PORT);
    struct cma_id *id = new_id(h, A, PORT_SPACE_TCP), *own = new_id(h, A, PORT_SPACE_TCP);

    h->host[A].resolve = EAGAIN;
    assert_int_equal(cma_resolve_addr(id, NULL, &to, 2000 * MS), 0);
    assert_int_equal(cma_resolve_addr(id, NULL, &to, 2000 * MS), EINVAL);
    assert_quiet(h);
    cma_resolved(&h->host[A].cma, gids[B], true);
    (void)event_of(h, A, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    cma_destroy(id);

    id = new_id(h, A, PORT_SPACE_TCP);
    assert_int_equal(cma_resolve_addr(id, NULL, &to, 2000 * MS), 0);
    pass(&h->rig, 2000);
    (void)event_of(h, A, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
    assert_int_equal(id->state, CMA_ADDR_BOUND);
    h->host[A].resolve = ENETUNREACH;
    assert_int_equal(cma_resolve_addr(id, NULL, &to, 2000 * MS), 0);
    (void)event_of(h, A, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH);

    assert_int_equal(cma_resolve_addr(own, NULL, &self, 2000 * MS), 0);
    (void)event_of(h, A, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    assert_memory_equal(own->peer.gid, gids[A], GID_BYTES);
}

/* One answer is for all that wait for the neighbour. */
static void all_ids_that_wait_for_a_neighbour_learn_it(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_addr to = address(B, PORT);
    struct cma_id *ids[3];

    h->host[A].resolve = EAGAIN;
    for (size_t i = 0; i < 3; i++) {
        ids[i] = new_id(h, A, PORT_SPACE_TCP);
        assert_int_equal(cma_resolve_addr(ids[i], NULL, &to, 2000 * MS), 0);
    }
    cma_resolved(&h->host[A].cma, gids[A], true); /* another one */
    assert_quiet(h);
    cma_resolved(&h->host[A].cma, gids[B], true);
    assert_int_equal(h->host[A].ch->n_events, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ids[i]->state, CMA_ADDR_RESOLVED);
}

/* Nobody is asked for the MAC of a group, nor for that of this host. */
static void groups_and_own_addresses_need_no_neighbour(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_addr to[] = {
        {.version = 4, .gid = {[10] = 0xff, [11] = 0xff, [12] = 239, [15] = 1}, .port = PORT},
        any_address(PORT),
        {.version = 6, .port = PORT}, /* :: */
    };

    h->host[A].resolve = EAGAIN;
    for (size_t i = 0; i < ARRAY_LEN(to); i++) {
        struct cma_id *id = new_id(h, A, PORT_SPACE_UDP);

        assert_int_equal(cma_resolve_addr(id, NULL, &to[i], 2000 * MS), 0);
        (void)event_of(h, A, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
        if (i > 0)
            assert_memory_equal(id->peer.gid, h->host[A].cma.config.gid[i - 1], GID_BYTES);
    }
}

/* Each row: an option, its value, the state of the ID, and the result. */
static void options_are_refused_when_they_are_late(void **state)
{
    static const struct {
        enum cm_option option;
        uint32_t value;
        enum cma_state in;
        int error;
    } rows[] = {
        {CM_OPTION_TOS, 255, CMA_CONNECT, 0},
        {CM_OPTION_TOS, 256, CMA_IDLE, EINVAL},
        {CM_OPTION_REUSEADDR, 0, CMA_IDLE, 0},
        {CM_OPTION_REUSEADDR, 1, CMA_ADDR_BOUND, 0},
        {CM_OPTION_REUSEADDR, 0, CMA_ADDR_BOUND, EINVAL},
        {CM_OPTION_REUSEADDR, 1, CMA_LISTEN, EINVAL},
        {CM_OPTION_AFONLY, 1, CMA_ADDR_BOUND, 0},
        {CM_OPTION_AFONLY, 1, CMA_LISTEN, EINVAL},
        {CM_OPTION_AFONLY, 1, CMA_ADDR_RESOLVED, EINVAL},
        {CM_OPTION_ACK_TIMEOUT, 31, CMA_ROUTE_RESOLVED, 0},
        {CM_OPTION_ACK_TIMEOUT, 32, CMA_IDLE, EINVAL},
    };
    struct hosts *h = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cma_id *id = new_id(h, A, PORT_SPACE_TCP);

        id->state = rows[i].in;
        assert_int_equal(cma_set_option(id, rows[i].option, rows[i].value), rows[i].error);
    }
    assert_int_equal(cma_set_option(new_id(h, A, PORT_SPACE_UDP), CM_OPTION_ACK_TIMEOUT, 14),
                     EINVAL);
}

/* The route has a packet life of one less than the timeout.  A timeout of 0, which is "never", is
 * none of a route.
 */
static void an_ack_timeout_of_0_leaves_the_route_as_it_is(void **state)
{
    struct hosts *h = *state;
    struct cma_id *id = new_id(h, A, PORT_SPACE_TCP);

    assert_int_equal(cma_packet_life(id), 18);
    assert_int_equal(cma_set_option(id, CM_OPTION_ACK_TIMEOUT, 14), 0);
    assert_int_equal(cma_packet_life(id), 13);
    assert_int_equal(cma_set_option(id, CM_OPTION_ACK_TIMEOUT, 0), 0);
    assert_int_equal(cma_packet_life(id), 18);
}

/* The events that stay are in their order, and later ones follow. */
static void a_group_that_is_left_takes_its_event_alone(void **state)
{
    struct hosts *h = *state;
    struct rdl_cm_addr at = address(A, 0),
                       group = {.version = 4, .gid = {[10] = 0xff, [11] = 0xff, [12] = 239}};
    struct cma_id *id = new_id(h, A, PORT_SPACE_UDP);
    struct cma_group *groups[4];

    assert_int_equal(cma_join(id, &group, false, &groups[0]), EINVAL);
    assert_int_equal(cma_bind(id, &at), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(cma_join(id, &group, false, &groups[i]), 0);
    cma_leave(id, groups[2]);
    assert_int_equal(cma_join(id, &group, false, &groups[3]), 0);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(event_of(h, A, RDMA_CM_EVENT_MULTICAST_JOIN, 0).group,
                         groups[i < 2 ? i : 3]);
    assert_quiet(h);
    at = address(B, PORT);
    assert_int_equal(cma_resolve_addr(id, NULL, &at, MS), 0);
    assert_int_equal(cma_join(id, &group, false, &groups[0]), 0);
    assert_int_equal(cma_resolve_route(id), 0);
    assert_int_equal(cma_join(id, &group, false, &groups[0]), EINVAL); /* it has a route */
}

static void ports_are_used_once(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_addr any = any_address(PORT), here = address(B, PORT),
                             there = address(A, PORT), none = any_address(0),
                             any6 = {.version = 6, .port = PORT};
    struct cma_id *first_id = new_id(h, B, PORT_SPACE_TCP), *second = new_id(h, B, PORT_SPACE_TCP);
    struct cma_id *datagrams = new_id(h, B, PORT_SPACE_UDP), *third = new_id(h, B, PORT_SPACE_TCP);

    assert_int_equal(cma_bind(second, &there), EADDRNOTAVAIL);
    assert_int_equal(second->local.version, 0);
    assert_int_equal(cma_bind(first_id, &any), 0);
    assert_int_equal(cma_bind(first_id, &any), EINVAL);
    assert_int_equal(cma_bind(second, &here), EADDRNOTAVAIL);
    assert_int_equal(second->local.version, 0);
    assert_int_equal(cma_bind(second, &any), EADDRNOTAVAIL);
    assert_int_equal(cma_bind(second, &any6), EADDRNOTAVAIL);
    assert_int_equal(cma_bind(datagrams, &here), 0); /* its ports are others */
    second->reuses = true;
    assert_int_equal(cma_bind(second, &here), EADDRNOTAVAIL);
    first_id->reuses = true;
    assert_int_equal(cma_bind(second, &here), 0);
    /* It does not want to share: of two conflicts, that with the youngest ID is told. */
    assert_int_equal(cma_bind(third, &here), EADDRINUSE);
    assert_int_equal(cma_listen(first_id, 1), EADDRNOTAVAIL);
    cma_destroy(second);
    assert_int_equal(cma_listen(first_id, 1), 0);
    second = new_id(h, B, PORT_SPACE_TCP);
    second->reuses = true; /* a listener shares its port with nobody */
    assert_int_equal(cma_bind(second, &here), EADDRNOTAVAIL);
    assert_int_equal(cma_bind(second, &none), 0);
    assert_true(second->local.port >= 32768 && second->local.port < 61000);
    assert_int_equal(cma_listen(second, 0), 0);
    assert_int_equal(second->backlog, 1024);
}

static void calls_out_of_order_are_refused(void **state)
{
    struct hosts *h = *state;
    struct cma_id *id = new_id(h, A, PORT_SPACE_TCP);
    const struct rdl_cm_param p = param(17, "");

    assert_int_equal(cma_resolve_route(id), EINVAL);
    assert_int_equal(cma_connect(id, &p), EINVAL);
    assert_int_equal(cma_accept(id, &p), EINVAL);
    assert_int_equal(cma_reject(id, NULL, 0), EINVAL);
    assert_int_equal(cma_disconnect(id), EINVAL);
    assert_int_equal(cma_notify(id), EINVAL);
    assert_quiet(h);
}

static void private_data_that_does_not_fit_is_refused(void **state)
{
    struct hosts *h = *state;
    struct cma_id *id = routed(h, PORT_SPACE_TCP);
    struct rdl_cm_param p = param(17, "");

    p.private_bytes = 57;
    assert_int_equal(cma_connect(id, &p), EINVAL);
    assert_int_equal(id->state, CMA_ROUTE_RESOLVED);
    p.private_bytes = 56;
    assert_int_equal(cma_connect(id, &p), 0);
}

/* So it is in answers. */
static void private_data_of_an_answer_that_does_not_fit_is_refused(void **state)
{
    struct hosts *h = *state;
    struct rdl_cm_param p = param(18, "");
    static const uint8_t data[149];
    struct cma_id *b;

    (void)new_listener(h, PORT_SPACE_TCP, 1);
    (void)connect_to(h, PORT_SPACE_TCP);
    b = event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).id;
    assert_int_equal(cma_reject(b, data, 149), EINVAL);
    p.private_bytes = 197;
    assert_int_equal(cma_accept(b, &p), EINVAL);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_REJECTED, CM_REASON_CONSUMER_DEFINED);
    (void)connect_to(h, PORT_SPACE_TCP);
    b = event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).id;
    p.private_bytes = 196;
    assert_int_equal(cma_accept(b, &p), 0);
}

/* Before it asks, an ID permits nothing to a peer. */
static void a_queue_pair_without_connection_has_no_access(void **state)
{
    struct hosts *h = *state;
    const struct cma_id *id = routed(h, PORT_SPACE_TCP);
    struct rdl_qp_attr attr;
    uint32_t mask;

    assert_int_equal(cma_qp_attr(id, QPS_INIT, &attr, &mask), 0);
    assert_int_equal(attr.access, 0);
}

/* So many are chosen that dozens of them would be alike by chance.  IDs go in any order. */
static void chosen_ports_differ(void **state)
{
    struct hosts *h = *state;
    struct cma_id *ids[1024];
    bool seen[65536] = {false};

    for (size_t i = 0; i < 1024; i++) {
        const struct rdl_cm_addr any = any_address(0);

        ids[i] = new_id(h, B, PORT_SPACE_TCP);
        assert_int_equal(cma_bind(ids[i], &any), 0);
        assert_true(ids[i]->local.port >= 32768 && ids[i]->local.port < 61000);
        assert_false(seen[ids[i]->local.port]);
        seen[ids[i]->local.port] = true;
    }
    for (size_t i = 0; i < 1024; i++)
        cma_destroy(ids[i * 37 % 1024]);
    assert_null(h->host[B].cma.ids);
    assert_int_equal(h->host[B].cma.n_ids, 0);
}

static void listeners_of_a_port_share_it(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_addr v4 = address(B, PORT),
                             v6 = {.version = 6, .gid = {[0] = 0xfe, [15] = 2}, .port = PORT};
    struct cma_id *on_v4 = new_id(h, B, PORT_SPACE_TCP), *on_v6 = new_id(h, B, PORT_SPACE_TCP);

    assert_int_equal(cma_bind(on_v4, &v4), 0);
    assert_int_equal(cma_bind(on_v6, &v6), 0);
    assert_int_equal(cma_listen(on_v4, 4), 0);
    assert_int_equal(cma_listen(on_v6, 4), 0);
    assert_int_equal(h->host[B].end.cm.n_ids, 1);
    cma_destroy(on_v6);
    (void)connect_to(h, PORT_SPACE_TCP);
    assert_ptr_equal(event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).listener, on_v4);
}

/* An address that means all of one version also conflicts with one of the other version, unless
 * both are of one version alone.  [Linux, cma_check_port()]
 */
static void any_ipv4_address_conflicts_with_ipv6(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_addr any = any_address(PORT), v4 = address(B, PORT),
                             v6 = {.version = 6, .gid = {[0] = 0xfe, [15] = 2}, .port = PORT};
    struct cma_id *on_any = new_id(h, B, PORT_SPACE_TCP), *on_v6 = new_id(h, B, PORT_SPACE_TCP),
                  *same = new_id(h, B, PORT_SPACE_TCP);

    assert_int_equal(cma_bind(on_any, &any), 0);
    assert_int_equal(cma_bind(on_v6, &v6), EADDRNOTAVAIL);
    on_v6->v6_only = true;
    assert_int_equal(cma_bind(on_v6, &v6), 0);
    cma_destroy(on_any);
    on_any = new_id(h, B, PORT_SPACE_TCP);
    assert_int_equal(cma_bind(on_any, &v4), 0);
    assert_int_equal(cma_bind(same, &v4), EADDRINUSE);
}

/* The address :: is that of IPv4, too, unless the program wants IPv6 only. */
static void any_ipv6_address_takes_ipv4(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_addr any = {.version = 6, .port = PORT}, v4 = address(B, PORT);
    struct cma_id *on_any = new_id(h, B, PORT_SPACE_TCP), *on_v4 = new_id(h, B, PORT_SPACE_TCP);

    assert_int_equal(cma_bind(on_any, &any), 0);
    assert_int_equal(cma_listen(on_any, 4), 0);
    assert_int_equal(cma_bind(on_v4, &v4), EADDRNOTAVAIL);
    (void)connect_to(h, PORT_SPACE_TCP);
    assert_ptr_equal(event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).listener, on_any);
    on_any->v6_only = true;
    (void)connect_with(h, PORT_SPACE_TCP, 19);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_REJECTED, CM_REASON_CONSUMER_DEFINED);
    assert_int_equal(cma_bind(on_v4, &v4), 0);
}

static void a_request_that_is_destroyed_leaves_its_place(void **state)
{
    struct hosts *h = *state;
    struct cma_id *listener = new_listener(h, PORT_SPACE_TCP, 1);

    (void)connect_to(h, PORT_SPACE_TCP);
    assert_int_equal(listener->backlog, 0);
    cma_destroy(h->host[B].ch->first->id);
    assert_int_equal(listener->backlog, 1);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_REJECTED, CM_REASON_CONSUMER_DEFINED);
    (void)connect_with(h, PORT_SPACE_TCP, 19);
    (void)event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    assert_int_equal(listener->backlog, 1);
}

static void an_id_that_goes_is_not_resolved_any_more(void **state)
{
    struct hosts *h = *state;
    const struct rdl_cm_addr to = address(B, PORT),
                             v6 = {.version = 6, .gid = {[0] = 0xfe, [15] = 1}};
    struct cma_id *id = new_id(h, A, PORT_SPACE_TCP);

    assert_int_equal(cma_resolve_addr(id, &v6, &to, 2000 * MS), EINVAL);
    h->host[A].resolve = EAGAIN;
    assert_int_equal(cma_resolve_addr(id, NULL, &to, 2000 * MS), 0);
    cma_destroy(id);
    pass(&h->rig, 3000);
    cma_resolved(&h->host[A].cma, gids[B], true);
    assert_quiet(h);
    h->host[A].resolve = 0;
    id = new_id(h, A, PORT_SPACE_TCP);
    assert_int_equal(cma_bind(id, &v6), 0);
    assert_int_equal(cma_resolve_addr(id, NULL, &to, 2000 * MS), EINVAL); /* of the other version */
    id = new_id(h, A, PORT_SPACE_TCP);
    assert_int_equal(cma_resolve_addr(id, NULL, &to, 2000 * MS), 0);
    assert_memory_equal(id->local.gid, gids[A], GID_BYTES);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RIGGED(a_listener_of_another_address_refuses),
        RIGGED(a_full_backlog_is_silent),
        RIGGED(a_listener_that_goes_takes_its_requests_with_it),
        RIGGED(an_id_moves_to_another_channel_with_its_events),
        RIGGED(addresses_are_resolved_or_not),
        RIGGED(all_ids_that_wait_for_a_neighbour_learn_it),
        RIGGED(groups_and_own_addresses_need_no_neighbour),
        RIGGED(options_are_refused_when_they_are_late),
        RIGGED(an_ack_timeout_of_0_leaves_the_route_as_it_is),
        RIGGED(a_group_that_is_left_takes_its_event_alone),
        RIGGED(ports_are_used_once),
        RIGGED(chosen_ports_differ),
        RIGGED(calls_out_of_order_are_refused),
        RIGGED(private_data_that_does_not_fit_is_refused),
        RIGGED(private_data_of_an_answer_that_does_not_fit_is_refused),
        RIGGED(a_queue_pair_without_connection_has_no_access),
        RIGGED(listeners_of_a_port_share_it),
        RIGGED(any_ipv4_address_conflicts_with_ipv6),
        RIGGED(any_ipv6_address_takes_ipv4),
        RIGGED(a_request_that_is_destroyed_leaves_its_place),
        RIGGED(an_id_that_goes_is_not_resolved_any_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
