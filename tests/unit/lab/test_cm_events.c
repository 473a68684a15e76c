/* SPDX-License-Identifier: MIT */
/* Every event of rdma_cm: a table of causes, with the events and statuses that the programs of both
 * sides get because of each, and nothing else.  Each event of the enumeration is in the table, or
 * in another one that says why this lab cannot have it.
 */
#include "testing.h"

#include <errno.h>

#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/sidr_status.h"
#include "emu/facts/enum_table.h"
#include "lab/cm_programs.h"

/* --- Causes ----------------------------------------------------------------------------------- */

static void the_address_is_known(struct cm_lab *l)
{
    const struct rdl_cm_addr to = address_of(l, PASSIVE);

    resolve_to(l, PORT_SPACE_TCP, &to);
}

static void no_station_has_the_address(struct cm_lab *l)
{
    struct rdl_cm_addr to = address_of(l, PASSIVE);

    to.gid[15] = 99;
    resolve_to(l, PORT_SPACE_TCP, &to);
}

static void the_path_is_resolved(struct cm_lab *l)
{
    resolve(l, PORT_SPACE_TCP);
}

static void a_request_arrives(struct cm_lab *l)
{
    ask_listener(l, PORT_SPACE_TCP);
    destroy(l, ACTIVE);
}

static void a_connection_is_made(struct cm_lab *l)
{
    connected(l);
}

static void a_connection_is_ended_by_the_active_side(struct cm_lab *l)
{
    connected(l);
    disconnect(l, ACTIVE);
    until(l, PASSIVE, RDMA_CM_EVENT_DISCONNECTED);
    disconnect(l, PASSIVE);
}

static void a_connection_is_ended_by_the_passive_side(struct cm_lab *l)
{
    connected(l);
    disconnect(l, PASSIVE);
    until(l, ACTIVE, RDMA_CM_EVENT_DISCONNECTED);
    disconnect(l, ACTIVE);
}

static void both_disconnect_at_once(struct cm_lab *l)
{
    connected(l);
    disconnect(l, ACTIVE);
    disconnect(l, PASSIVE);
    until(l, ACTIVE, RDMA_CM_EVENT_DISCONNECTED);
    disconnect(l, ACTIVE);
    disconnect(l, PASSIVE);
}

static void the_peer_of_a_disconnect_is_silent(struct cm_lab *l)
{
    connected(l);
    cut(l);
    disconnect(l, ACTIVE);
}

static void a_connected_id_is_destroyed(struct cm_lab *l)
{
    connected(l);
    destroy(l, ACTIVE);
    until(l, PASSIVE, RDMA_CM_EVENT_DISCONNECTED);
    disconnect(l, PASSIVE);
}

static void every_message_comes_twice(struct cm_lab *l)
{
    disturb(l, ACTIVE, FLT_DUPLICATE, RDL_ANY, 1000);
    disturb(l, PASSIVE, FLT_DUPLICATE, RDL_ANY, 1000);
    a_connection_is_ended_by_the_active_side(l);
}

/* In TIMEWAIT an ID has forgotten its peer, as in Linux: the copy is taken for a new request. */
static void a_copy_of_the_request_comes_in_timewait(struct cm_lab *l)
{
    resolve(l, PORT_SPACE_TCP);
    disturb(l, ACTIVE, FLT_DUPLICATE, 1, 1000000);
    listen_at(l, PORT_SPACE_TCP, 0);
    connect_from(l, ACTIVE_QPN);
    until(l, PASSIVE, RDMA_CM_EVENT_CONNECT_REQUEST);
    answer(l);
    until(l, ACTIVE, RDMA_CM_EVENT_CONNECT_RESPONSE);
    establish(l);
    until(l, PASSIVE, RDMA_CM_EVENT_ESTABLISHED);
    disconnect(l, ACTIVE);
    until(l, PASSIVE, RDMA_CM_EVENT_DISCONNECTED);
    disconnect(l, PASSIVE);
}

static void each_first_message_is_lost(struct cm_lab *l)
{
    disturb(l, ACTIVE, FLT_DROP, 1, 0);
    disturb(l, PASSIVE, FLT_DROP, 1, 0);
    reply(l);
    disturb(l, ACTIVE, FLT_DROP, 1, 0); /* the RTU */
    establish(l);
    until(l, PASSIVE, RDMA_CM_EVENT_ESTABLISHED);
    disturb(l, ACTIVE, FLT_DROP, 1, 0); /* the DREQ */
    disturb(l, PASSIVE, FLT_DROP, 1, 0);
    disconnect(l, ACTIVE);
    until(l, PASSIVE, RDMA_CM_EVENT_DISCONNECTED);
    disconnect(l, PASSIVE);
    destroy(l, PASSIVE);
}

/* The DREQ comes again when the TIMEWAIT of the peer is over.  An ID that is still there ignores
 * it, as in Linux; for one that is unknown the kernel would answer.
 */
static void the_drep_is_lost(struct cm_lab *l)
{
    connected(l);
    disturb(l, PASSIVE, FLT_DROP, 1, 0);
    disconnect(l, ACTIVE);
    until(l, PASSIVE, RDMA_CM_EVENT_DISCONNECTED);
    disconnect(l, PASSIVE);
}

static void the_server_is_slow(struct cm_lab *l)
{
    ask_listener(l, PORT_SPACE_TCP);
    assert_int_equal(rdl_run(l->r.lab, rdl_now_ns(l->r.lab) + UINT64_C(30000000000), bounded),
                     RDL_OK);
    answer(l);
    until(l, ACTIVE, RDMA_CM_EVENT_CONNECT_RESPONSE);
    establish(l);
}

static void data_comes_before_the_rtu(struct cm_lab *l)
{
    int error;

    reply(l);
    disturb(l, ACTIVE, FLT_DROP, 1, 0);
    establish(l);
    assert_int_equal(rdl_cm_notify(l->r.lab, l->id[PASSIVE], &error), RDL_OK);
}

static void the_server_rejects(struct cm_lab *l)
{
    ask_listener(l, PORT_SPACE_TCP);
    reject(l, PASSIVE);
}

static void the_client_rejects_the_reply(struct cm_lab *l)
{
    reply(l);
    reject(l, ACTIVE);
}

static void the_request_is_destroyed(struct cm_lab *l)
{
    ask_listener(l, PORT_SPACE_TCP);
    destroy(l, PASSIVE);
}

static void the_server_goes_behind_its_reply(struct cm_lab *l)
{
    reply(l);
    destroy(l, PASSIVE);
}

static void the_client_goes_behind_the_reply(struct cm_lab *l)
{
    reply(l);
    destroy(l, ACTIVE);
}

static void nobody_listens(struct cm_lab *l)
{
    ask(l, PORT_SPACE_TCP);
}

static void the_listener_has_another_address(struct cm_lab *l)
{
    struct rdl_cm_addr at = {.version = 6, .port = PORT};
    int error;

    memcpy(at.gid, lab_host(l->r.lab->state, l->r.side[PASSIVE].host.raw)->guest.config.gid[1], 16);
    create(l, PASSIVE, PORT_SPACE_TCP, &l->listener);
    assert_int_equal(rdl_cm_bind(l->r.lab, l->listener, &at, &error), RDL_OK);
    assert_int_equal(rdl_cm_listen(l->r.lab, l->listener, 0, &error), RDL_OK);
    ask(l, PORT_SPACE_TCP);
}

static void the_queue_pair_is_used_again(struct cm_lab *l)
{
    connected(l);
    ask(l, PORT_SPACE_TCP);
}

static void the_request_is_not_answered(struct cm_lab *l)
{
    resolve(l, PORT_SPACE_TCP);
    cut(l);
    connect_from(l, ACTIVE_QPN);
}

static void the_reply_is_not_answered(struct cm_lab *l)
{
    ask_listener(l, PORT_SPACE_TCP);
    cut(l);
    answer(l);
}

/* The only place is taken by a request that nobody fetches. */
static void the_backlog_is_full(struct cm_lab *l)
{
    struct rdl_cm_addr at = ANY_ADDRESS;
    rdl_cm_channel closed;
    int error;

    assert_int_equal(rdl_cm_create_channel(l->r.lab, l->r.side[PASSIVE].host, NULL, &closed),
                     RDL_OK);
    assert_int_equal(rdl_cm_create_id(l->r.lab, closed, PORT_SPACE_TCP, NULL, &l->listener),
                     RDL_OK);
    assert_int_equal(rdl_cm_bind(l->r.lab, l->listener, &at, &error), RDL_OK);
    assert_int_equal(rdl_cm_listen(l->r.lab, l->listener, 1, &error), RDL_OK);
    ask(l, PORT_SPACE_TCP);
    assert_int_equal(rdl_run(l->r.lab, rdl_now_ns(l->r.lab) + 1000000, bounded), RDL_OK);
    assert_int_equal(rdl_cm_pending(l->r.lab, closed), 1);
    destroy(l, ACTIVE);
    assert_int_equal(rdl_run(l->r.lab, rdl_now_ns(l->r.lab) + 1000000, bounded), RDL_OK);
    resolve(l, PORT_SPACE_TCP);
    connect_from(l, ACTIVE_QPN + 1);
    run_out(l);
    assert_int_equal(rdl_cm_pending(l->r.lab, closed), 1);
}

/* A membership that is left takes its event along. */
static void a_group_is_joined(struct cm_lab *l)
{
    const struct rdl_cm_addr group = {.version = 4,
                                      .gid = {[10] = 0xff, [11] = 0xff, [12] = 239, [15] = 1}};
    const struct rdl_cm_addr v6 = {.version = 6, .gid = {0xff, 0x0e, [15] = 1}};
    struct rdl_cm_addr at = {.version = 4};
    struct rdl_cm_group found;
    uint32_t membership, other;
    uint8_t mac[6];
    int error;

    assert_int_equal(
        rdl_cm_create_id(l->r.lab, l->channel[ACTIVE], PORT_SPACE_UDP, NULL, &l->id[ACTIVE]),
        RDL_OK);
    assert_int_equal(rdl_cm_join(l->r.lab, l->id[ACTIVE], &group, false, &membership, &error),
                     RDL_ERR_ERRNO);
    assert_int_equal(error, EINVAL);
    assert_int_equal(rdl_host_address(l->r.lab, l->r.side[ACTIVE].host, 0, at.gid, mac), RDL_OK);
    assert_int_equal(rdl_cm_bind(l->r.lab, l->id[ACTIVE], &at, &error), RDL_OK);
    assert_int_equal(rdl_cm_join(l->r.lab, l->id[ACTIVE], &v6, false, &membership, &error),
                     RDL_ERR_ERRNO);
    assert_int_equal(error, 524);
    assert_int_equal(rdl_cm_join(l->r.lab, l->id[ACTIVE], &group, true, &other, &error), RDL_OK);
    assert_int_equal(rdl_cm_join(l->r.lab, l->id[ACTIVE], &group, false, &membership, &error),
                     RDL_OK);
    assert_int_equal(rdl_cm_pending(l->r.lab, l->channel[ACTIVE]), 2);
    assert_int_equal(rdl_cm_leave(l->r.lab, l->id[ACTIVE], other), RDL_OK);
    assert_int_equal(rdl_cm_pending(l->r.lab, l->channel[ACTIVE]), 1);
    assert_int_equal(rdl_cm_leave(l->r.lab, l->id[ACTIVE], other), RDL_ERR_NOT_FOUND);
    assert_int_equal(rdl_cm_group_at(l->r.lab, l->id[ACTIVE], 0, &found), RDL_OK);
    assert_true(found.number == membership && !found.sends_only && !found.is_attached);
    assert_int_equal(rdl_cm_group_at(l->r.lab, l->id[ACTIVE], 1, &found), RDL_ERR_NOT_FOUND);
}

static void a_datagram_service_answers(struct cm_lab *l)
{
    ask_listener(l, PORT_SPACE_UDP);
    answer(l);
}

static void no_datagram_service_listens(struct cm_lab *l)
{
    ask(l, PORT_SPACE_UDP);
}

static void a_datagram_service_rejects(struct cm_lab *l)
{
    ask_listener(l, PORT_SPACE_UDP);
    reject(l, PASSIVE);
}

/* The peer is told, instead of being left to wait. */
static void an_answer_has_too_much_data(struct cm_lab *l, enum port_space space)
{
    const struct rdl_cm_param p = {.qpn = PASSIVE_QPN, .private_bytes = RDL_CM_PRIVATE_MAX};
    int error;

    ask_listener(l, space);
    assert_int_equal(rdl_cm_accept(l->r.lab, l->id[PASSIVE], &p, &error), RDL_ERR_ERRNO);
    assert_int_equal(error, EINVAL);
}

static void the_reply_has_too_much_data(struct cm_lab *l)
{
    an_answer_has_too_much_data(l, PORT_SPACE_TCP);
}

static void the_answer_of_a_service_has_too_much_data(struct cm_lab *l)
{
    an_answer_has_too_much_data(l, PORT_SPACE_UDP);
}

static void the_server_accepts_twice(struct cm_lab *l)
{
    const struct rdl_cm_param p = {.qpn = PASSIVE_QPN + 1};
    int error;

    ask_listener(l, PORT_SPACE_TCP);
    answer(l);
    assert_int_equal(rdl_cm_accept(l->r.lab, l->id[PASSIVE], &p, &error), RDL_ERR_ERRNO);
    assert_int_equal(error, EINVAL);
}

static void a_connected_server_accepts_again(struct cm_lab *l)
{
    const struct rdl_cm_param p = {.qpn = PASSIVE_QPN, .initiator_depth = 9};
    struct rdl_qp_attr attr;
    uint32_t mask;
    int error;

    connected(l);
    assert_int_equal(rdl_cm_accept(l->r.lab, l->id[PASSIVE], &p, &error), RDL_ERR_ERRNO);
    assert_int_equal(rdl_cm_qp_attr(l->r.lab, l->id[PASSIVE], QPS_RTS, &attr, &mask, &error),
                     RDL_OK);
    assert_int_equal(attr.max_rd_atomic, 0);
}

static void a_datagram_service_is_silent(struct cm_lab *l)
{
    resolve(l, PORT_SPACE_UDP);
    cut(l);
    connect_from(l, ACTIVE_QPN);
}

static void an_id_is_not_connected(struct cm_lab *l)
{
    int error = 0;

    resolve(l, PORT_SPACE_TCP);
    assert_int_equal(rdl_cm_disconnect(l->r.lab, l->id[ACTIVE], &error), RDL_ERR_ERRNO);
    assert_int_equal(error, EINVAL);
}

/* --- The table -------------------------------------------------------------------------------- */

#define E(event, status)                                                                           \
    {                                                                                              \
        RDMA_CM_EVENT_##event, status                                                              \
    }
#define RESOLVED E(ADDR_RESOLVED, 0), E(ROUTE_RESOLVED, 0)
#define END                                                                                        \
    {                                                                                              \
        ENDS, 0                                                                                    \
    }
#define REQUESTED E(CONNECT_REQUEST, 0)
#define OVER      E(DISCONNECTED, 0), E(TIMEWAIT_EXIT, 0)

static const struct cause {
    void (*act)(struct cm_lab *l);
    struct seen want[2][SEEN_MAX]; /* ACTIVE, PASSIVE */
} causes[] = {
    {the_address_is_known, {{E(ADDR_RESOLVED, 0), END}, {END}}},
    {no_station_has_the_address, {{E(ADDR_ERROR, -ETIMEDOUT), END}, {END}}},
    {the_path_is_resolved, {{RESOLVED, END}, {END}}},
    {a_request_arrives, {{RESOLVED, END}, {REQUESTED, END}}}, /* told only what it has accepted */
    {a_connection_is_made,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), END}, {REQUESTED, E(ESTABLISHED, 0), END}}},
    {a_connection_is_ended_by_the_active_side,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), OVER, END}, {REQUESTED, E(ESTABLISHED, 0), OVER, END}}},
    {a_connection_is_ended_by_the_passive_side,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), OVER, END}, {REQUESTED, E(ESTABLISHED, 0), OVER, END}}},
    {both_disconnect_at_once,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), OVER, END}, {REQUESTED, E(ESTABLISHED, 0), OVER, END}}},
    {the_peer_of_a_disconnect_is_silent,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), E(DISCONNECTED, -ETIMEDOUT), E(TIMEWAIT_EXIT, 0), END},
      {REQUESTED, E(ESTABLISHED, 0), END}}},
    {a_connected_id_is_destroyed,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), END}, {REQUESTED, E(ESTABLISHED, 0), OVER, END}}},
    {every_message_comes_twice,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), OVER, END}, {REQUESTED, E(ESTABLISHED, 0), OVER, END}}},
    {a_copy_of_the_request_comes_in_timewait,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), OVER, END},
      {REQUESTED, E(ESTABLISHED, 0), E(DISCONNECTED, 0), REQUESTED, E(TIMEWAIT_EXIT, 0), END}}},
    {each_first_message_is_lost,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), OVER, END},
      {REQUESTED, E(ESTABLISHED, 0), E(DISCONNECTED, 0), END}}},
    {the_drep_is_lost,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), E(DISCONNECTED, -ETIMEDOUT), E(TIMEWAIT_EXIT, 0), END},
      {REQUESTED, E(ESTABLISHED, 0), OVER, END}}},
    {the_server_is_slow,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), END}, {REQUESTED, E(ESTABLISHED, 0), END}}},
    {data_comes_before_the_rtu,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), END}, {REQUESTED, E(ESTABLISHED, 0), END}}},
    {the_server_rejects,
     {{RESOLVED, E(REJECTED, CM_REASON_CONSUMER_DEFINED), END}, {REQUESTED, END}}},
    {the_client_rejects_the_reply,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), END},
      {REQUESTED, E(REJECTED, CM_REASON_CONSUMER_DEFINED), END}}},
    {the_request_is_destroyed,
     {{RESOLVED, E(REJECTED, CM_REASON_CONSUMER_DEFINED), END}, {REQUESTED, END}}},
    {the_server_goes_behind_its_reply,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), E(REJECTED, CM_REASON_CONSUMER_DEFINED), END},
      {REQUESTED, END}}},
    {the_client_goes_behind_the_reply,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), END},
      {REQUESTED, E(REJECTED, CM_REASON_CONSUMER_DEFINED), END}}},
    {nobody_listens, {{RESOLVED, E(REJECTED, CM_REASON_INVALID_SERVICE_ID), END}, {END}}},
    {the_listener_has_another_address,
     {{RESOLVED, E(REJECTED, CM_REASON_CONSUMER_DEFINED), END}, {END}}},
    {the_queue_pair_is_used_again, /* the server's kernel ends the old connection */
     {{RESOLVED, E(CONNECT_RESPONSE, 0), RESOLVED, E(REJECTED, CM_REASON_STALE_CONN),
       E(DISCONNECTED, 0), END},
      {REQUESTED, E(ESTABLISHED, 0), E(DISCONNECTED, -ETIMEDOUT), E(TIMEWAIT_EXIT, 0), END}}},
    {the_request_is_not_answered, {{RESOLVED, E(UNREACHABLE, -ETIMEDOUT), END}, {END}}},
    {the_reply_is_not_answered,
     {{RESOLVED, E(UNREACHABLE, -ETIMEDOUT), END}, {REQUESTED, E(UNREACHABLE, -ETIMEDOUT), END}}},
    {the_backlog_is_full, {{RESOLVED, RESOLVED, E(UNREACHABLE, -ETIMEDOUT), END}, {END}}},
    {a_datagram_service_answers, {{RESOLVED, E(ESTABLISHED, 0), END}, {REQUESTED, END}}},
    {no_datagram_service_listens, {{RESOLVED, E(UNREACHABLE, SIDR_UNSUPPORTED), END}, {END}}},
    {a_datagram_service_rejects, {{RESOLVED, E(UNREACHABLE, SIDR_REJECT), END}, {REQUESTED, END}}},
    {the_answer_of_a_service_has_too_much_data,
     {{RESOLVED, E(UNREACHABLE, SIDR_REJECT), END}, {REQUESTED, END}}},
    {the_reply_has_too_much_data,
     {{RESOLVED, E(REJECTED, CM_REASON_CONSUMER_DEFINED), END}, {REQUESTED, END}}},
    {the_server_accepts_twice, /* which takes the first reply back */
     {{RESOLVED, E(CONNECT_RESPONSE, 0), E(REJECTED, CM_REASON_CONSUMER_DEFINED), END},
      {REQUESTED, END}}},
    {a_connected_server_accepts_again,
     {{RESOLVED, E(CONNECT_RESPONSE, 0), END}, {REQUESTED, E(ESTABLISHED, 0), END}}},
    {a_datagram_service_is_silent, {{RESOLVED, E(UNREACHABLE, -ETIMEDOUT), END}, {END}}},
    {an_id_is_not_connected, {{RESOLVED, END}, {END}}},
    {a_group_is_joined, {{E(MULTICAST_JOIN, 0), END}, {END}}},
};

/* Events that no cause of this lab has. */
static const struct {
    enum rdma_cm_event event;
    const char *why;
} cannot[] = {
    {RDMA_CM_EVENT_ROUTE_ERROR, "RoCE asks nobody for a path"},
    {RDMA_CM_EVENT_CONNECT_ERROR, "librdmacm makes it, of a modify that has failed"},
    {RDMA_CM_EVENT_DEVICE_REMOVAL, "no device of a lab is removed"},
    {RDMA_CM_EVENT_MULTICAST_ERROR, "RoCE asks nobody for a group"},
    {RDMA_CM_EVENT_ADDR_CHANGE, "an address stays at its device"},
};

/* --- Tests ------------------------------------------------------------------------------------ */

static size_t length(const struct seen *list)
{
    size_t n = 0;

    while (list[n].kind != ENDS)
        n++;
    return n;
}

static void compare(const struct cm_lab *l, size_t row, unsigned side)
{
    const struct seen *want = causes[row].want[side], *have = l->seen[side];

    for (size_t i = 0; i < l->n[side] || i < length(want); i++) {
        if (i >= l->n[side] || i >= length(want) || want[i].kind != have[i].kind ||
            want[i].status != have[i].status)
            fail_msg("row %zu, side %u, event %zu of %zu: %s %d where %s %d is expected", row, side,
                     i, l->n[side],
                     i < l->n[side] ? enum_name(&enum_rdma_cm_event, have[i].kind) : "nothing",
                     i < l->n[side] ? have[i].status : 0,
                     i < length(want) ? enum_name(&enum_rdma_cm_event, want[i].kind) : "nothing",
                     i < length(want) ? want[i].status : 0);
    }
}

static void each_cause_has_its_events(void **state)
{
    (void)state;
    for (size_t row = 0; row < ARRAY_LEN(causes); row++) {
        struct cm_lab *l = start();

        causes[row].act(l);
        run_out(l);
        for (unsigned side = 0; side < 2; side++)
            compare(l, row, side);
        assert_null(rdl_broken_invariant(l->r.lab));
        testbed_done(&l->r);
        test_free(l);
    }
}

static bool is_caused(enum rdma_cm_event event)
{
    for (size_t row = 0; row < ARRAY_LEN(causes); row++) {
        for (unsigned side = 0; side < 2; side++) {
            const struct seen *want = causes[row].want[side];

            for (size_t i = 0; i < length(want); i++) {
                if (want[i].kind == (uint32_t)event)
                    return true;
            }
        }
    }
    return false;
}

/* An event in both tables, or in none, is an error of them. */
static void each_event_has_a_cause_or_cannot_be(void **state)
{
    (void)state;
    for (size_t i = 0; i < enum_rdma_cm_event.n_rows; i++) {
        const struct enum_row *r = &enum_rdma_cm_event.rows[i];
        bool excepted = false;

        for (size_t k = 0; k < ARRAY_LEN(cannot); k++)
            excepted |= (uint32_t)cannot[k].event == r->value && cannot[k].why[0];
        if (excepted == is_caused((enum rdma_cm_event)r->value))
            fail_msg("%s %s", r->name, excepted ? "cannot be, and has a cause" : "has no cause");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause_has_its_events),
        cmocka_unit_test(each_event_has_a_cause_or_cannot_be),
    };

    return cmocka_run_group_tests_name("cm_events", tests, NULL, NULL);
}
