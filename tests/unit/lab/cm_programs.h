/* SPDX-License-Identifier: MIT */
/* Two programs that connect by rdma_cm, and write down the events that they get. */
#ifndef TESTS_UNIT_LAB_CM_PROGRAMS_H
#define TESTS_UNIT_LAB_CM_PROGRAMS_H

#include "testing.h"

#include <string.h>

#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/roce.h"
#include "emu/lab/lab_state.h"
#include "lab/cm_testbed.h"
#include "rdmalab/cm.h"

#define PORT      7471u
#define SEEN_MAX  12u
#define ENDS      UINT32_MAX /* ends a list of events */
#define ADDR_WAIT UINT64_C(2000000000)
#define ANY_ADDRESS                                                                                \
    {                                                                                              \
        .version = 4, .gid = {[10] = 0xff, [11] = 0xff}, .port = PORT                              \
    }
#define ACTIVE_QPN  100u
#define PASSIVE_QPN 200u

enum { ACTIVE, PASSIVE };

static const struct rdl_limits bounded = {.ticks = 10000000};

/* An event as its program sees it. */
struct seen {
    uint32_t kind; /* enum rdma_cm_event, or ENDS */
    int status;
};

struct cm_lab {
    struct testbed r;
    rdl_cm_channel channel[2];
    rdl_cm_id listener, id[2];
    struct seen seen[2][SEEN_MAX];
    size_t n[2];
};

/* Takes and acknowledges all events of both sides. */
static inline void collect(struct cm_lab *l)
{
    for (unsigned side = 0; side < 2; side++) {
        while (rdl_cm_pending(l->r.lab, l->channel[side]) > 0) {
            struct rdl_cm_event e;
            size_t n;

            assert_int_equal(rdl_cm_get_event(l->r.lab, l->channel[side], NULL, &e, &n), RDL_OK);
            assert_int_equal(rdl_cm_ack_event(l->r.lab, l->channel[side]), RDL_OK);
            assert_int_equal(n, 1);
            assert_true(l->n[side] < SEEN_MAX);
            l->seen[side][l->n[side]++] = (struct seen){e.kind, e.status};
            if (e.kind == RDMA_CM_EVENT_CONNECT_REQUEST)
                l->id[side] = e.id;
        }
    }
}

/* Runs until @side gets an event, which must be @kind. */
static inline void until(struct cm_lab *l, unsigned side, enum rdma_cm_event kind)
{
    const size_t n = l->n[side];

    collect(l);
    while (l->n[side] == n) {
        assert_int_equal(rdl_step(l->r.lab, RDL_STEP_TICK, bounded), RDL_OK);
        collect(l);
    }
    assert_int_equal(l->seen[side][n].kind, kind);
}

/* Runs until all timers have run out. */
static inline void run_out(struct cm_lab *l)
{
    collect(l);
    while (rdl_next_ns(l->r.lab) != RDL_NEVER) {
        assert_int_equal(rdl_step(l->r.lab, RDL_STEP_TICK, bounded), RDL_OK);
        collect(l);
    }
}

static inline struct rdl_cm_addr address_of(const struct cm_lab *l, unsigned side)
{
    struct rdl_cm_addr a = {.version = 4, .port = PORT};

    memcpy(a.gid, lab_host(l->r.lab->state, l->r.side[side].host.raw)->guest.config.gid[0], 16);
    return a;
}

static inline void create(struct cm_lab *l, unsigned side, enum port_space space, rdl_cm_id *ret)
{
    assert_int_equal(rdl_cm_create_id(l->r.lab, l->channel[side], space, NULL, ret), RDL_OK);
}

static inline void listen_at(struct cm_lab *l, enum port_space space, uint32_t backlog)
{
    const struct rdl_cm_addr any = ANY_ADDRESS;
    int error;

    create(l, PASSIVE, space, &l->listener);
    assert_int_equal(rdl_cm_bind(l->r.lab, l->listener, &any, &error), RDL_OK);
    assert_int_equal(rdl_cm_listen(l->r.lab, l->listener, backlog, &error), RDL_OK);
}

static inline void resolve_to(struct cm_lab *l, enum port_space space, const struct rdl_cm_addr *to)
{
    int error;

    create(l, ACTIVE, space, &l->id[ACTIVE]);
    assert_int_equal(rdl_cm_resolve_addr(l->r.lab, l->id[ACTIVE], NULL, to, ADDR_WAIT, &error),
                     RDL_OK);
}

static inline void resolve(struct cm_lab *l, enum port_space space)
{
    const struct rdl_cm_addr to = address_of(l, PASSIVE);
    int error;

    resolve_to(l, space, &to);
    until(l, ACTIVE, RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(rdl_cm_resolve_route(l->r.lab, l->id[ACTIVE], &error), RDL_OK);
    until(l, ACTIVE, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static inline void connect_from(struct cm_lab *l, uint32_t qpn)
{
    const struct rdl_cm_param p = {.retry_count = 7, .rnr_retry_count = 7, .qpn = qpn};
    int error;

    assert_int_equal(rdl_cm_connect(l->r.lab, l->id[ACTIVE], &p, &error), RDL_OK);
}

/* The REQ, or SIDR_REQ, is under way. */
static inline void ask(struct cm_lab *l, enum port_space space)
{
    resolve(l, space);
    connect_from(l, ACTIVE_QPN);
}

/* The passive program has the request. */
static inline void ask_listener(struct cm_lab *l, enum port_space space)
{
    listen_at(l, space, 0);
    ask(l, space);
    until(l, PASSIVE, RDMA_CM_EVENT_CONNECT_REQUEST);
}

static inline void answer(struct cm_lab *l)
{
    const struct rdl_cm_param p = {.rnr_retry_count = 7, .qpn = PASSIVE_QPN};
    int error;

    assert_int_equal(rdl_cm_accept(l->r.lab, l->id[PASSIVE], &p, &error), RDL_OK);
}

static inline void establish(struct cm_lab *l)
{
    int error;

    assert_int_equal(rdl_cm_accept(l->r.lab, l->id[ACTIVE], NULL, &error), RDL_OK);
}

static inline void reply(struct cm_lab *l)
{
    ask_listener(l, PORT_SPACE_TCP);
    answer(l);
    until(l, ACTIVE, RDMA_CM_EVENT_CONNECT_RESPONSE);
}

static inline void connected(struct cm_lab *l)
{
    reply(l);
    establish(l);
    until(l, PASSIVE, RDMA_CM_EVENT_ESTABLISHED);
}

static inline void disconnect(struct cm_lab *l, unsigned side)
{
    int error;

    assert_int_equal(rdl_cm_disconnect(l->r.lab, l->id[side], &error), RDL_OK);
}

static inline void destroy(struct cm_lab *l, unsigned side)
{
    assert_int_equal(rdl_cm_destroy_id(l->r.lab, l->id[side]), RDL_OK);
}

static inline void reject(struct cm_lab *l, unsigned side)
{
    int error;

    assert_int_equal(rdl_cm_reject(l->r.lab, l->id[side], "no", 2, &error), RDL_OK);
}

static inline void cut(struct cm_lab *l)
{
    assert_int_equal(rdl_link_raise(l->r.lab, l->r.link, false), RDL_OK);
}

/* Adds a fault that the next @n messages of @side meet. */
static inline void disturb(struct cm_lab *l, unsigned side, enum fault_kind kind, uint32_t n,
                           uint64_t delay_ns)
{
    const struct rdl_fault_config c = {.kind = kind,
                                       .from = l->r.side[side].host,
                                       .opcode = RDL_ANY,
                                       .syndrome = RDL_ANY,
                                       .psn = RDL_ANY,
                                       .dest_qpn = QPN_GSI,
                                       .nth = 1,
                                       .count = n,
                                       .delay_ns = delay_ns};
    rdl_fault f;

    assert_int_equal(rdl_fault_add(l->r.lab, &c, &f), RDL_OK);
}

static inline struct cm_lab *start(void)
{
    struct cm_lab *l = test_calloc(1, sizeof(*l));

    assert_int_equal(testbed_init(&l->r, &cm_testbed), RDL_OK);
    for (unsigned side = 0; side < 2; side++)
        assert_int_equal(
            rdl_cm_create_channel(l->r.lab, l->r.side[side].host, NULL, &l->channel[side]), RDL_OK);
    return l;
}

#endif
