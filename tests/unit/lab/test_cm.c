/* SPDX-License-Identifier: MIT */
/* Connections through the whole lab: calls of programs, the connection managers of two guests,
 * their drivers, devices and frames.
 */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum/cm_call.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/lab/lab_state.h"
#include "emu/trace/event.h"
#include "lab/cm_testbed.h"
#include "rdmalab/cm.h"
#include "rdmalab/control.h"
#include "rdmalab/trace.h"

#define PORT 7471u
#define S    UINT64_C(1000000000)

static const struct rdl_limits bounded = {.ticks = 1000000};

struct cm_lab {
    struct testbed r;
    rdl_cm_channel channel[2];
    rdl_cm_id listener, id[2];
    rdl_qp qp[2];
    uint32_t qpn[2];
};

static int set_up(void **state)
{
    struct cm_lab *l = test_calloc(1, sizeof(*l));

    assert_int_equal(testbed_init(&l->r, &cm_testbed), RDL_OK);
    *state = l;
    return 0;
}

static int tear_down(void **state)
{
    struct cm_lab *l = *state;

    assert_null(rdl_broken_invariant(l->r.lab));
    testbed_done(&l->r);
    test_free(l);
    return 0;
}

static void run_for(const struct cm_lab *l, uint64_t ns)
{
    const enum rdl_status st = rdl_run(l->r.lab, rdl_now_ns(l->r.lab) + ns, bounded);

    assert_true(st == RDL_OK || st == RDL_ERR_IDLE);
}

/* Runs until there is an event at @side, which must be @kind, and acknowledges it. */
static struct rdl_cm_event event_of(const struct cm_lab *l, unsigned side, enum rdma_cm_event kind)
{
    struct rdl_cm_event e = {.kind = UINT32_MAX};
    size_t n = 0;

    while (rdl_cm_pending(l->r.lab, l->channel[side]) == 0)
        assert_int_equal(rdl_step(l->r.lab, RDL_STEP_TICK, bounded), RDL_OK);
    assert_int_equal(rdl_cm_get_event(l->r.lab, l->channel[side], NULL, &e, &n), RDL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(e.kind, kind);
    assert_int_equal(rdl_cm_ack_event(l->r.lab, l->channel[side]), RDL_OK);
    return e;
}

static struct rdl_cm_addr address_of(const struct cm_lab *l, unsigned side, uint16_t port)
{
    struct rdl_cm_addr a = {.version = 4, .port = port};

    memcpy(a.gid, lab_host(l->r.lab->state, l->r.side[side].host.raw)->guest.config.gid[0], 16);
    return a;
}

static void create(struct cm_lab *l, unsigned side)
{
    assert_int_equal(
        rdl_cm_create_channel(l->r.lab, l->r.side[side].host, "events", &l->channel[side]), RDL_OK);
}

static void create_qp(struct cm_lab *l, unsigned side)
{
    const struct testbed_side *s = &l->r.side[side];
    const struct rdl_qp_config c = {
        .pd = s->pd, .type = QPT_RC, .send_cq = s->cq, .recv_cq = s->cq};
    struct rdl_qp_info info;

    assert_int_equal(rdl_create_qp(l->r.lab, &c, "mine", &l->qp[side]), RDL_OK);
    assert_int_equal(testbed_wait(&l->r, side), RDL_OK);
    assert_int_equal(rdl_qp_info(l->r.lab, l->qp[side], &info), RDL_OK);
    l->qpn[side] = info.qpn;
}

static void move(struct cm_lab *l, unsigned side, enum qp_state to)
{
    struct rdl_modify_error error;
    struct rdl_qp_attr attr;
    uint32_t mask;
    int e;

    assert_int_equal(rdl_cm_qp_attr(l->r.lab, l->id[side], to, &attr, &mask, &e), RDL_OK);
    assert_int_equal(rdl_modify_qp(l->r.lab, l->qp[side], &attr, mask, false, &error), RDL_OK);
    assert_int_equal(testbed_wait(&l->r, side), RDL_OK);
}

static void listen_at(struct cm_lab *l, unsigned side)
{
    const struct rdl_cm_addr any = {.version = 4, .gid = {[10] = 0xff, [11] = 0xff}, .port = PORT};
    int error;

    assert_int_equal(
        rdl_cm_create_id(l->r.lab, l->channel[side], PORT_SPACE_TCP, "listener", &l->listener),
        RDL_OK);
    assert_int_equal(rdl_cm_bind(l->r.lab, l->listener, &any, &error), RDL_OK);
    assert_int_equal(rdl_cm_listen(l->r.lab, l->listener, 0, &error), RDL_OK);
}

/* Sends a REQ from side 0 to side 1. */
static void dial(struct cm_lab *l)
{
    const struct rdl_cm_addr to = address_of(l, 1, PORT);
    struct rdl_cm_param p = {.private_data = "hello",
                             .private_bytes = 5,
                             .responder_resources = 1,
                             .initiator_depth = 1,
                             .retry_count = 7,
                             .rnr_retry_count = 7};
    int error;

    assert_int_equal(rdl_cm_create_id(l->r.lab, l->channel[0], PORT_SPACE_TCP, "client", &l->id[0]),
                     RDL_OK);
    assert_int_equal(rdl_cm_resolve_addr(l->r.lab, l->id[0], NULL, &to, 2000000000, &error),
                     RDL_OK);
    (void)event_of(l, 0, RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(rdl_cm_resolve_route(l->r.lab, l->id[0], &error), RDL_OK);
    (void)event_of(l, 0, RDMA_CM_EVENT_ROUTE_RESOLVED);
    create_qp(l, 0);
    move(l, 0, QPS_INIT);
    p.qpn = l->qpn[0];
    assert_int_equal(rdl_cm_connect(l->r.lab, l->id[0], &p, &error), RDL_OK);
}

static void connect_both(struct cm_lab *l)
{
    struct rdl_cm_param p = {.responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7};
    struct rdl_cm_event e;
    int error;

    dial(l);
    e = event_of(l, 1, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_int_equal(e.listener.raw, l->listener.raw);
    assert_string_equal((const char *)e.param.private_data, "hello");
    assert_int_equal(e.param.qpn, l->qpn[0]);
    l->id[1] = e.id;
    create_qp(l, 1);
    for (uint32_t to = QPS_INIT; to <= QPS_RTS; to++)
        move(l, 1, (enum qp_state)to);
    p.qpn = l->qpn[1];
    assert_int_equal(rdl_cm_accept(l->r.lab, l->id[1], &p, &error), RDL_OK);
    e = event_of(l, 0, RDMA_CM_EVENT_CONNECT_RESPONSE);
    assert_int_equal(e.param.qpn, l->qpn[1]);
    move(l, 0, QPS_RTR);
    move(l, 0, QPS_RTS);
    assert_int_equal(rdl_cm_accept(l->r.lab, l->id[0], NULL, &error), RDL_OK);
    (void)event_of(l, 1, RDMA_CM_EVENT_ESTABLISHED);
}

static void pass_data(struct cm_lab *l)
{
    struct testbed_side s[2] = {l->r.side[0], l->r.side[1]};
    struct rdl_wc wc[2];
    size_t n;

    s[0].qp = l->qp[0];
    s[1].qp = l->qp[1];
    assert_int_equal(testbed_side_recv(l->r.lab, &s[1], 1, 0, 64), RDL_OK);
    assert_int_equal(testbed_side_send(l->r.lab, &s[0], 2, 0, 64, 2), RDL_OK);
    run_for(l, 1000000);
    assert_int_equal(rdl_poll_cq(l->r.lab, s[1].cq, 2, wc, &n), RDL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(wc[0].status, WCS_SUCCESS);
}

static void messages_connect_and_disconnect(void **state)
{
    struct cm_lab *l = *state;
    struct rdl_cm_id_info info;
    int error;

    create(l, 0);
    create(l, 1);
    listen_at(l, 1);
    connect_both(l);
    assert_int_equal(rdl_cm_id_info(l->r.lab, l->id[1], &info), RDL_OK);
    assert_int_equal(info.ib_state, CMS_ESTABLISHED);
    assert_int_equal(info.remote_qpn, l->qpn[0]);
    assert_int_equal(info.local.port, PORT);
    pass_data(l);
    assert_int_equal(rdl_cm_disconnect(l->r.lab, l->id[0], &error), RDL_OK);
    (void)event_of(l, 1, RDMA_CM_EVENT_DISCONNECTED);
    assert_int_equal(rdl_cm_disconnect(l->r.lab, l->id[1], &error), RDL_OK);
    (void)event_of(l, 0, RDMA_CM_EVENT_DISCONNECTED);
    (void)event_of(l, 0, RDMA_CM_EVENT_TIMEWAIT_EXIT);
    (void)event_of(l, 1, RDMA_CM_EVENT_TIMEWAIT_EXIT);
    for (unsigned side = 0; side < 2; side++) {
        assert_int_equal(rdl_cm_destroy_channel(l->r.lab, l->channel[side]), RDL_ERR_BUSY);
        assert_int_equal(rdl_cm_destroy_id(l->r.lab, l->id[side]), RDL_OK);
        assert_int_equal(rdl_cm_destroy_id(l->r.lab, l->id[side]), RDL_ERR_STALE);
    }
    assert_int_equal(rdl_cm_destroy_id(l->r.lab, l->listener), RDL_OK);
    assert_int_equal(rdl_cm_destroy_channel(l->r.lab, l->channel[1]), RDL_OK);
}

/* All hosts have a connection manager from the first call on. */
static void nobody_listens_is_a_rejection(void **state)
{
    struct cm_lab *l = *state;
    struct rdl_cm_event e;
    uint64_t began;

    create(l, 0);
    dial(l);
    began = rdl_now_ns(l->r.lab);
    e = event_of(l, 0, RDMA_CM_EVENT_REJECTED);
    assert_int_equal(e.status, 8);
    assert_true(rdl_now_ns(l->r.lab) - began < 1000000);
}

/* The device answers the first arming at once, and the driver takes that with the next answer. */
static void take_first_arming(struct cm_lab *l, unsigned side)
{
    rdl_pd pd;

    assert_int_equal(rdl_alloc_pd(l->r.lab, l->r.side[side].host, NULL, &pd), RDL_OK);
    assert_int_equal(testbed_wait(&l->r, side), RDL_OK);
    assert_int_equal(rdl_control_under_way(l->r.lab, l->r.side[side].host), 0);
}

/* A program's request and that with which the kernel arms its queue are under way together. */
static void the_kernels_requests_hinder_nobody(void **state)
{
    struct cm_lab *l = *state;
    const rdl_host host = l->r.side[1].host;
    rdl_pd pd;

    create(l, 0);
    create(l, 1);
    listen_at(l, 1);
    take_first_arming(l, 1);
    dial(l);
    while (rdl_control_under_way(l->r.lab, host) == 0) /* the REQ has come */
        assert_int_equal(rdl_step(l->r.lab, RDL_STEP_TICK, bounded), RDL_OK);
    assert_int_equal(rdl_alloc_pd(l->r.lab, host, NULL, &pd), RDL_OK);
    assert_int_equal(rdl_control_under_way(l->r.lab, host), 1);
    assert_int_equal(testbed_wait(&l->r, 1), RDL_OK);
    assert_int_equal(rdl_control_under_way(l->r.lab, host), 0);
    (void)event_of(l, 1, RDMA_CM_EVENT_CONNECT_REQUEST);
}

/* The kernel arms its queue when there is room for the request.  Until then it hears nothing. */
static void a_full_control_queue_delays_the_kernel(void **state)
{
    struct cm_lab *l = *state;
    const struct rdl_control unknown = {.command = 0xff, .room = 1};
    const rdl_host host = l->r.side[1].host;
    uint32_t id;
    rdl_pd pd;

    create(l, 0);
    create(l, 1);
    listen_at(l, 1);
    take_first_arming(l, 1);
    while (rdl_control_send(l->r.lab, host, &unknown, false, &id) == RDL_OK) {
    }
    dial(l);
    (void)event_of(l, 1, RDMA_CM_EVENT_CONNECT_REQUEST);
    run_for(l, 7 * S);
    assert_int_equal(rdl_total(l->r.lab, EV_cm_sent), 2); /* the REQ, again */
    assert_int_equal(rdl_total(l->r.lab, EV_cm_received), 1);
    assert_int_equal(rdl_alloc_pd(l->r.lab, host, NULL, &pd), RDL_OK); /* notifies the device */
    assert_int_equal(testbed_wait(&l->r, 1), RDL_OK);
    run_for(l, S);
    assert_int_equal(rdl_total(l->r.lab, EV_cm_received), 3); /* the second REQ, and its MRA */
}

static void a_request_under_way_delays_the_start(void **state)
{
    struct cm_lab *l = *state;
    rdl_pd pd;

    assert_int_equal(rdl_alloc_pd(l->r.lab, l->r.side[1].host, NULL, &pd), RDL_OK);
    assert_int_equal(rdl_cm_create_channel(l->r.lab, l->r.side[0].host, NULL, &l->channel[0]),
                     RDL_ERR_BUSY);
    assert_int_equal(testbed_wait(&l->r, 1), RDL_OK);
    create(l, 0);
}

static void the_objects_of_the_kernel_stay(void **state)
{
    static const struct {
        const char *path;
        enum object_kind kind;
    } rows[] = {{"h2.cm_cq", OBJ_CQ}, {"h2.cm_gsi", OBJ_QP}};
    struct cm_lab *l = *state;
    uint64_t raw;

    create(l, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(rdl_find(l->r.lab, rows[i].path, rows[i].kind, &raw), RDL_OK);
        if (rows[i].kind == OBJ_CQ)
            assert_int_equal(rdl_destroy_cq(l->r.lab, (rdl_cq){raw}), RDL_ERR_KERNEL);
        else
            assert_int_equal(rdl_destroy_qp(l->r.lab, (rdl_qp){raw}), RDL_ERR_KERNEL);
    }
}

static void refuse(struct cm_lab *l)
{
    int error;

    assert_int_equal(rdl_cm_reject(l->r.lab, l->id[1], NULL, 0, &error), RDL_OK);
    run_for(l, 1000000);
}

/* A program acknowledges the event as librdmacm has changed it, and is told no end after that.  The
 * server refuses before, or after, the client's program is told that it cannot connect.
 */
static void hide_end(struct cm_lab *l, bool comes_before)
{
    struct rdl_cm_event e;
    int error;
    size_t n;

    create(l, 0);
    create(l, 1);
    listen_at(l, 1);
    assert_int_equal(rdl_cm_turn_event(l->r.lab, l->channel[0], RDMA_CM_EVENT_CONNECT_ERROR, -1),
                     RDL_ERR_STATE);
    dial(l);
    while (rdl_cm_pending(l->r.lab, l->channel[1]) == 0)
        assert_int_equal(rdl_step(l->r.lab, RDL_STEP_TICK, bounded), RDL_OK);
    assert_int_equal(rdl_cm_get_event(l->r.lab, l->channel[1], NULL, &e, &n), RDL_OK);
    assert_int_equal(rdl_cm_turn_event(l->r.lab, l->channel[1], RDMA_CM_EVENT_CONNECT_ERROR, -1),
                     RDL_ERR_INVAL); /* a CONNECT_REQUEST */
    assert_int_equal(rdl_cm_ack_event(l->r.lab, l->channel[1]), RDL_OK);
    l->id[1] = e.id;
    create_qp(l, 1);
    for (uint32_t to = QPS_INIT; to <= QPS_RTS; to++)
        move(l, 1, (enum qp_state)to);
    assert_int_equal(
        rdl_cm_accept(l->r.lab, l->id[1], &(struct rdl_cm_param){.qpn = l->qpn[1]}, &error),
        RDL_OK);
    run_for(l, 1000000);
    assert_int_equal(rdl_cm_get_event(l->r.lab, l->channel[0], NULL, &e, &n), RDL_OK);
    assert_int_equal(e.kind, RDMA_CM_EVENT_CONNECT_RESPONSE);
    if (comes_before)
        refuse(l);
    assert_int_equal(rdl_cm_pending(l->r.lab, l->channel[0]), comes_before);
    assert_int_equal(rdl_cm_turn_event(l->r.lab, l->channel[0], RDMA_CM_EVENT_CONNECT_ERROR, -1),
                     RDL_OK);
    assert_int_equal(rdl_cm_ack_event(l->r.lab, l->channel[0]), RDL_OK);
    if (!comes_before)
        refuse(l);
    assert_int_equal(rdl_cm_pending(l->r.lab, l->channel[0]), 0); /* no REJECTED */
    assert_int_equal(rdl_cm_get_event(l->r.lab, l->channel[0], NULL, &e, &n), RDL_OK);
    assert_int_equal(n, 0);
    assert_int_equal(rdl_cm_destroy_id(l->r.lab, l->id[0]), RDL_OK);
}

static void no_end_is_told_after_a_connect_error(void **state)
{
    hide_end(*state, false);
}

static void an_end_that_waits_is_not_told_after_a_connect_error(void **state)
{
    hide_end(*state, true);
}

static void an_id_moves_to_channels_of_its_host_alone(void **state)
{
    struct cm_lab *l = *state;
    rdl_cm_channel other, gone;

    create(l, 0);
    create(l, 1);
    listen_at(l, 1);
    assert_int_equal(rdl_cm_create_channel(l->r.lab, l->r.side[1].host, "other", &other), RDL_OK);
    assert_int_equal(rdl_cm_create_channel(l->r.lab, l->r.side[1].host, "gone", &gone), RDL_OK);
    assert_int_equal(rdl_cm_destroy_channel(l->r.lab, gone), RDL_OK);
    assert_int_equal(rdl_cm_migrate_id(l->r.lab, l->listener, l->channel[0]), RDL_ERR_INVAL);
    assert_int_equal(rdl_cm_migrate_id(l->r.lab, l->listener, gone), RDL_ERR_STALE);
    assert_int_equal(rdl_cm_migrate_id(l->r.lab, l->listener, other), RDL_OK);
    assert_int_equal(rdl_cm_destroy_channel(l->r.lab, other), RDL_ERR_BUSY);
    assert_int_equal(rdl_cm_destroy_channel(l->r.lab, l->channel[1]), RDL_OK);
    dial(l);
    l->channel[1] = other;
    (void)event_of(l, 1, RDMA_CM_EVENT_CONNECT_REQUEST);
}

/* A program cannot destroy the queue pair of the kernel, but it can reset it. */
static void nothing_is_told_to_be_sent_that_cannot_be_posted(void **state)
{
    struct cm_lab *l = *state;
    const struct rdl_qp_attr reset = {.state = QPS_RESET};
    struct rdl_modify_error why;
    uint64_t gsi;

    create(l, 0);
    create(l, 1);
    listen_at(l, 1);
    assert_int_equal(rdl_find(l->r.lab, "h1.cm_gsi", OBJ_QP, &gsi), RDL_OK);
    assert_int_equal(rdl_modify_qp(l->r.lab, (rdl_qp){gsi}, &reset, QPA_STATE, false, &why),
                     RDL_OK);
    run_for(l, 1000000);
    dial(l);
    run_for(l, 1000000);
    assert_int_equal(rdl_total(l->r.lab, EV_cm_sent), 0);
}

/* An event of an ID that has a name stays where it is. */
static void a_name_is_for_the_id_of_a_request(void **state)
{
    struct cm_lab *l = *state;
    const struct rdl_cm_addr to = address_of(l, 1, PORT);
    struct rdl_cm_event e;
    size_t n;
    int error;

    create(l, 0);
    assert_int_equal(rdl_cm_create_id(l->r.lab, l->channel[0], PORT_SPACE_TCP, "client", &l->id[0]),
                     RDL_OK);
    assert_int_equal(rdl_cm_resolve_addr(l->r.lab, l->id[0], NULL, &to, 2000000000, &error),
                     RDL_OK);
    run_for(l, 1000000);
    assert_int_equal(rdl_cm_get_event(l->r.lab, l->channel[0], "n", &e, &n), RDL_ERR_INVAL);
    assert_int_equal(rdl_cm_pending(l->r.lab, l->channel[0]), 1);
    (void)event_of(l, 0, RDMA_CM_EVENT_ADDR_RESOLVED);
}

/* Three calls, the second of which is refused. */
static void bind_twice_and_listen(struct cm_lab *l, rdl_cm_id id)
{
    const struct rdl_cm_addr any = {.version = 4, .gid = {[10] = 0xff, [11] = 0xff}, .port = PORT};
    int error;

    assert_int_equal(rdl_cm_bind(l->r.lab, id, &any, &error), RDL_OK);
    assert_int_equal(rdl_cm_bind(l->r.lab, id, &any, &error), RDL_ERR_ERRNO);
    assert_int_equal(rdl_cm_listen(l->r.lab, id, 0, &error), RDL_OK);
}

static void a_lab_remembers_the_last_calls_of_programs(void **state)
{
    struct cm_lab *l = *state;
    struct rdl_checkpoint *before = NULL;
    const struct rdl_cm_call *c;
    rdl_cm_id id;
    int error;

    create(l, 1);
    assert_int_equal(rdl_cm_create_id(l->r.lab, l->channel[1], PORT_SPACE_TCP, "x", &id), RDL_OK);
    assert_int_equal(rdl_cm_call_count(l->r.lab), 0);
    assert_int_equal(rdl_checkpoint_save(l->r.lab, &before), RDL_OK);
    bind_twice_and_listen(l, id);
    assert_int_equal(rdl_cm_call_count(l->r.lab), 3);
    c = rdl_cm_call_at(l->r.lab, 1);
    assert_int_equal(c->call, CM_CALL_rdma_bind_addr);
    assert_int_equal(c->error, EINVAL);
    assert_int_equal(c->at_ns, rdl_now_ns(l->r.lab));
    assert_int_equal(c->tick, rdl_tick(l->r.lab));
    assert_int_equal(rdl_cm_call_at(l->r.lab, 2)->call, CM_CALL_rdma_listen);
    rdl_checkpoint_restore(l->r.lab, before);
    rdl_checkpoint_free(before);
    assert_int_equal(rdl_cm_call_count(l->r.lab), 0);
    bind_twice_and_listen(l, id);
    for (unsigned i = 0; i < RDL_CM_CALLS_MAX; i++)
        assert_int_equal(rdl_cm_listen(l->r.lab, id, 0, &error), RDL_ERR_ERRNO);
    assert_int_equal(rdl_cm_call_count(l->r.lab), RDL_CM_CALLS_MAX);
    assert_int_equal(rdl_cm_call_at(l->r.lab, 0)->error, EINVAL);
}

/* librdmacm takes a CONNECT_RESPONSE, and its program gets ESTABLISHED when the RTU is sent. */
static void an_event_is_remembered_as_its_program_gets_it(void **state)
{
    struct cm_lab *l = *state;
    const struct rdl_cm_call *c, *accepts = NULL;
    unsigned n = 0;

    create(l, 0);
    create(l, 1);
    listen_at(l, 1);
    connect_both(l);
    for (size_t i = 0; i < rdl_cm_call_count(l->r.lab); i++) {
        c = rdl_cm_call_at(l->r.lab, i);
        if (c->call == CM_CALL_rdma_accept)
            accepts = c;
        if (c->call != CM_CALL_rdma_get_cm_event)
            continue;
        assert_int_not_equal(c->event, RDMA_CM_EVENT_CONNECT_RESPONSE);
        n += c->event == RDMA_CM_EVENT_ESTABLISHED;
        if (c->event == RDMA_CM_EVENT_ESTABLISHED)
            assert_true(accepts && c->tick > accepts->tick && c->at_ns > accepts->at_ns);
    }
    assert_int_equal(n, 2);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(messages_connect_and_disconnect),
        T(nobody_listens_is_a_rejection),
        T(the_kernels_requests_hinder_nobody),
        T(a_full_control_queue_delays_the_kernel),
        T(a_request_under_way_delays_the_start),
        T(the_objects_of_the_kernel_stay),
        T(no_end_is_told_after_a_connect_error),
        T(an_end_that_waits_is_not_told_after_a_connect_error),
        T(an_id_moves_to_channels_of_its_host_alone),
        T(nothing_is_told_to_be_sent_that_cannot_be_posted),
        T(a_lab_remembers_the_last_calls_of_programs),
        T(an_event_is_remembered_as_its_program_gets_it),
        T(a_name_is_for_the_id_of_a_request),
    };

    return cmocka_run_group_tests_name("cm", tests, NULL, NULL);
}
