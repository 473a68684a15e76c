/* SPDX-License-Identifier: MIT */
/* An RNIC with a device that has nothing but counters: events, limits, and a CQ without room. */
#include "testing.h"

#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/roce.h"
#include "emu/hca/ctrl.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/event.h"
#include "emu/xport/ctrl.h"

#define RAM_BYTES (1u << 20)
#define MAX_CQ    4u
#define MAX_QP    8u

struct bench {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace trace;
    struct sim sim;
    struct ram ram;
    struct net net;
    struct progress progress;
    struct eth_port port;
    struct rnic_config config;
    struct rnic nic;
    bool driven, keeps;
    uint32_t n_told; /* calls of event() */
};

static bool is_driven(const void *ctx)
{
    return ((const struct bench *)ctx)->driven;
}

static enum fetch no_send(void *ctx, struct qp *qp, struct send_wqe *out)
{
    (void)ctx, (void)qp, (void)out;
    return FETCH_EMPTY;
}

static enum fetch no_recv(void *ctx, struct qp *qp, struct recv_wqe *out)
{
    (void)ctx, (void)qp, (void)out;
    return FETCH_EMPTY;
}

static uint32_t no_receives(void *ctx, struct qp *qp)
{
    (void)ctx, (void)qp;
    return 0;
}

static bool keeps_events(const void *ctx)
{
    return ((const struct bench *)ctx)->keeps;
}

static void event(void *ctx)
{
    ((struct bench *)ctx)->n_told++;
}

static void release(void *ctx, struct qp *qp, enum wq wq, uint32_t desc)
{
    (void)ctx, (void)qp, (void)wq, (void)desc;
}

static bool complete(void *ctx, struct cq *cq, const struct completion *wc)
{
    (void)ctx, (void)cq, (void)wc;
    return true;
}

static void completed(void *ctx, struct cq *cq)
{
    (void)ctx, (void)cq;
}

static const struct rnic_ops ops = {
    .is_driven = is_driven,
    .is_running = is_driven,
    .fetch_send = no_send,
    .fetch_recv = no_recv,
    .receives = no_receives,
    .keeps_events = keeps_events,
    .event = event,
    .release = release,
    .complete = complete,
    .completed = completed,
};

static void on_timer(void *ctx, struct sim_item item)
{
    (void)ctx, (void)item;
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {[SIM_QP_TIMER] = on_timer};
static const struct net_ops net_ops = {NULL, NULL, NULL, NULL};

static int set_up(void **state)
{
    static const uint8_t mac[MAC_BYTES] = {2, 0, 0, 0, 0, 1};
    struct bench *b = test_calloc(1, sizeof(*b));

    b->arena = arena_new((size_t)1 << 30);
    b->trace.sinks = &b->sinks;
    assert_true(sim_init(&b->sim, b->arena, &b->trace, handlers, b));
    assert_true(ram_init(&b->ram, b->arena, RAM_BYTES));
    net_init(&b->net, b->arena, &b->sim, &net_ops, b, 1);
    eth_port_init(&b->port, &b->net, &b->progress, 0, mac, ETHERNET_MTU_MIN);
    b->config = (struct rnic_config){
        .max_cq = MAX_CQ, .max_qp = MAX_QP, .first_qpn = HCA_QPN_USER, .max_mtu = MTU_4096};
    assert_true(rnic_init(&b->nic,
                          &(struct rnic_env){.arena = b->arena,
                                             .sim = &b->sim,
                                             .ram = &b->ram,
                                             .port = &b->port,
                                             .progress = &b->progress},
                          &b->config, &ops, b));
    b->driven = b->keeps = true;
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    rnic_reset(&b->nic);
    arena_free(b->arena);
    test_free(b);
    return 0;
}

static struct rnic_event front(const struct bench *b)
{
    return b->nic.events.ring[b->nic.events.first];
}

static void events_wait_in_order_until_they_are_told(void **state)
{
    struct bench *b = *state;

    rnic_event(&b->nic, ASE_CQ_ERR, 1);
    rnic_event(&b->nic, ASE_QP_FATAL, 5);
    assert_int_equal(b->n_told, 2);
    assert_int_equal(front(b).type, ASE_CQ_ERR);
    rnic_event_told(&b->nic);
    assert_int_equal(front(b).type, ASE_QP_FATAL);
    assert_int_equal(front(b).number, 5);
    rnic_event_told(&b->nic);
    assert_int_equal(b->nic.events.len, 0);
}

/* The ring turns, so that its end is not that of the array. */
static void an_event_without_room_is_lost_and_the_next_one_says_so(void **state)
{
    struct bench *b = *state;
    const struct rnic_events *e = &b->nic.events;

    for (uint32_t i = 0; i < 3; i++) {
        rnic_event(&b->nic, ASE_CQ_ERR, i);
        rnic_event_told(&b->nic);
    }
    for (uint32_t i = 0; i < RNIC_EVENTS_MAX; i++)
        rnic_event(&b->nic, ASE_QP_FATAL, i);
    assert_false(e->untold);
    rnic_event(&b->nic, ASE_QP_FATAL, 1000);
    assert_true(e->untold);
    assert_int_equal(e->lost, 1);
    assert_int_equal(e->raised, RNIC_EVENTS_MAX + 4);
    for (uint32_t i = 0; i < RNIC_EVENTS_MAX; i++) {
        assert_int_equal(front(b).number, i);
        assert_int_equal(e->untold, i == 0);
        rnic_event_told(&b->nic);
    }
    assert_int_equal(e->len, 0);
}

static void events_of_a_destroyed_object_are_forgotten(void **state)
{
    struct bench *b = *state;

    rnic_event(&b->nic, ASE_QP_FATAL, 5);
    rnic_event(&b->nic, ASE_CQ_ERR, 5);
    rnic_event(&b->nic, ASE_QP_FATAL, 6);
    rnic_events_forget(&b->nic, OBJ_QP, 5);
    assert_int_equal(b->nic.events.len, 2);
    assert_int_equal(front(b).type, ASE_CQ_ERR); /* the same number, another kind */
    rnic_event_told(&b->nic);
    assert_int_equal(front(b).number, 6);
}

static void an_event_is_only_counted_if_the_device_keeps_none(void **state)
{
    struct bench *b = *state;

    b->keeps = false;
    for (uint32_t i = 0; i < 2 * RNIC_EVENTS_MAX; i++)
        rnic_event(&b->nic, ASE_CQ_ERR, 1);
    assert_int_equal(b->n_told, 2 * RNIC_EVENTS_MAX);
    assert_int_equal(b->nic.events.raised, 2 * RNIC_EVENTS_MAX);
    assert_int_equal(b->nic.events.len + b->nic.events.lost, 0);
    b->driven = false;
    rnic_event(&b->nic, ASE_CQ_ERR, 1);
    assert_int_equal(b->n_told, 2 * RNIC_EVENTS_MAX);
    assert_int_equal(b->nic.events.raised, 2 * RNIC_EVENTS_MAX);
}

static void limits_change_below_those_at_power_on(void **state)
{
    struct bench *b = *state;
    const struct rdl_device_limits first = b->nic.limits;

    assert_int_equal(first.max_mr, b->nic.hca.limits.max_mr);
    assert_true(rnic_limit(&b->nic, &(struct rdl_device_limits){.max_mr = 3}));
    assert_int_equal(b->nic.hca.limits.max_mr, 3);
    assert_int_equal(b->nic.limits.max_pd, first.max_pd); /* 0: as it is */
    assert_false(
        rnic_limit(&b->nic, &(struct rdl_device_limits){.max_pd = 2, .max_mr = first.max_mr + 1}));
    assert_int_equal(b->nic.limits.max_pd, first.max_pd);
    rnic_reset(&b->nic);
    assert_int_equal(b->nic.hca.limits.max_mr, 3);
    assert_true(rnic_limit(&b->nic, &(struct rdl_device_limits){.max_mr = first.max_mr}));
    assert_int_equal(b->nic.hca.limits.max_mr, first.max_mr);
}

static struct cq *new_cq(struct bench *b)
{
    struct cq *cq = NULL;

    assert_int_equal(hca_cq_create(&b->nic.hca, 4, &cq), REF_NONE);
    return cq;
}

static struct qp *new_qp(struct bench *b, uint32_t pdn, const struct cq *send,
                         const struct cq *recv)
{
    const struct qp_config config = {.pdn = pdn,
                                     .type = QPT_RC,
                                     .send_cqn = send->cqn,
                                     .recv_cqn = recv->cqn,
                                     .max_send_wr = 1,
                                     .max_recv_wr = 1,
                                     .max_send_sge = 1,
                                     .max_recv_sge = 1};
    struct qp *qp = NULL;

    assert_int_equal(xport_qp_create(&b->nic.xport, &config, &qp), REF_NONE);
    return qp;
}

static void to_init(struct bench *b, struct qp *qp)
{
    const struct qp_attr attr = {.state = QPS_INIT, .port = HCA_PORT};

    assert_int_equal(xport_qp_modify(&b->nic.xport, qp,
                                     QPA_STATE | QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS,
                                     &attr),
                     REF_NONE);
}

/* Its queue pairs fail when the RNIC settles, not within the call that found no room. */
static void an_overflowed_cq_ends_the_queue_pairs_that_use_it(void **state)
{
    struct bench *b = *state;
    struct cq *full = new_cq(b), *other = new_cq(b);
    struct qp *sends, *receives, *resting, *neither;
    struct pd *pd;

    assert_int_equal(hca_pd_create(&b->nic.hca, &pd), REF_NONE);
    sends = new_qp(b, pd->pdn, full, other);
    receives = new_qp(b, pd->pdn, other, full);
    resting = new_qp(b, pd->pdn, full, full);
    neither = new_qp(b, pd->pdn, other, other);
    to_init(b, sends);
    to_init(b, receives);
    to_init(b, neither);
    rnic_cq_overflow(&b->nic, full);
    assert_true(full->error);
    assert_int_equal(sends->state, QPS_INIT);
    rnic_settle(&b->nic);
    assert_int_equal(sends->state, QPS_ERR);
    assert_int_equal(receives->state, QPS_ERR);
    assert_int_equal(resting->state, QPS_RESET);
    assert_int_equal(neither->state, QPS_INIT);
    assert_int_equal(b->nic.n_failed_cqs, 0);
    assert_int_equal(b->nic.events.len, 3); /* CQ_ERR, and QP_FATAL of two queue pairs */
    assert_int_equal(front(b).type, ASE_CQ_ERR);
    assert_int_equal(front(b).number, full->cqn);
}

static void a_queue_that_cannot_be_read_ends_its_queue_pair_once(void **state)
{
    struct bench *b = *state;
    struct cq *cq = new_cq(b);
    struct pd *pd;
    struct qp *qp;

    assert_int_equal(hca_pd_create(&b->nic.hca, &pd), REF_NONE);
    qp = new_qp(b, pd->pdn, cq, cq);
    rnic_qp_lost_queue(&b->nic, qp);
    assert_int_equal(qp->state, QPS_RESET);
    to_init(b, qp);
    rnic_qp_lost_queue(&b->nic, qp);
    rnic_qp_lost_queue(&b->nic, qp);
    assert_int_equal(qp->state, QPS_ERR);
    assert_int_equal(b->nic.events.len, 1);
    assert_int_equal(front(b).type, ASE_QP_FATAL);
    assert_int_equal(front(b).number, qp->qpn);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(events_wait_in_order_until_they_are_told),
        T(an_event_without_room_is_lost_and_the_next_one_says_so),
        T(events_of_a_destroyed_object_are_forgotten),
        T(an_event_is_only_counted_if_the_device_keeps_none),
        T(limits_change_below_those_at_power_on),
        T(an_overflowed_cq_ends_the_queue_pairs_that_use_it),
        T(a_queue_that_cannot_be_read_ends_its_queue_pair_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
