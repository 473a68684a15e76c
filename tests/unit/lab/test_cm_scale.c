/* SPDX-License-Identifier: MIT */
/* The cost of many IDs on one host.  The sources of the connection manager are compiled for this
 * test so that each of their basic blocks counts itself (-fsanitize-coverage=trace-pc).  A hundred
 * times as many IDs must cost about a hundred times as many blocks and bytes.
 */
#include "testing.h"

#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "rdmalab/cm.h"
#include "rdmalab/inspect.h"

#define FEW        100u
#define TIMES      100u
#define MANY       (FEW * TIMES)
#define TIMES_MAX  (TIMES + TIMES / 4) /* hash tables double, and a free port is searched */
#define BLOCKS_MIN 20u                 /* of one ID: less would mean that nothing is counted */
#define PORT       7471u
#define BACKLOG    1000u /* requests that wait at a time */
#define QPN        2u    /* the first one in messages; there are no such queue pairs */
#define TIMEOUT_NS 2000000000u

static uint64_t n_blocks;

/* The compiler calls this in each basic block. */
void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    n_blocks++;
}

struct many {
    struct rdl_lab *lab;
    rdl_host host[2];
    rdl_cm_channel channel[2];
    struct rdl_cm_addr to;
    uint32_t n; /* IDs of each host */
    rdl_cm_id ids[2][MANY];
};

static int set_up(void **state)
{
    const struct rdl_lab_config lab = {.seed = 1};
    const struct rdl_link_config link = {.a = "h1", .b = "h2", .latency_ns = 1000};
    struct many *m = test_calloc(1, sizeof(*m));
    uint8_t mac[6];
    rdl_link made;

    assert_int_equal(rdl_lab_new(&lab, &m->lab), RDL_OK);
    for (unsigned i = 0; i < 2; i++) {
        const struct rdl_host_config c = {.name = i == 0 ? "h1" : "h2"};

        assert_int_equal(rdl_host_add(m->lab, &c, &m->host[i]), RDL_OK);
        assert_int_equal(rdl_cm_create_channel(m->lab, m->host[i], NULL, &m->channel[i]), RDL_OK);
    }
    assert_int_equal(rdl_link_add(m->lab, &link, &made), RDL_OK);
    m->to = (struct rdl_cm_addr){.version = 4, .port = PORT};
    assert_int_equal(rdl_host_address(m->lab, m->host[1], 0, m->to.gid, mac), RDL_OK);
    *state = m;
    return 0;
}

static int tear_down(void **state)
{
    struct many *m = *state;

    rdl_lab_free(m->lab);
    test_free(m);
    return 0;
}

static void create(struct many *m, uint32_t i)
{
    assert_int_equal(rdl_cm_create_id(m->lab, m->channel[0], PORT_SPACE_TCP, NULL, &m->ids[0][i]),
                     RDL_OK);
}

static void destroy(const struct many *m, unsigned side, uint32_t i)
{
    assert_int_equal(rdl_cm_destroy_id(m->lab, m->ids[side][i]), RDL_OK);
}

static void run(const struct many *m)
{
    const struct rdl_limits bounded = {.ticks = 10000000};
    const enum rdl_status st = rdl_run(m->lab, rdl_now_ns(m->lab) + 100000000u, bounded);

    assert_true(st == RDL_OK || st == RDL_ERR_IDLE);
}

/* Takes @n events of @side, each of @kind, and leaves their IDs in @ret, unless that is NULL.  The
 * events are acknowledged behind the last one.
 */
static void take(const struct many *m, unsigned side, enum rdma_cm_event kind, uint32_t n,
                 rdl_cm_id *ret)
{
    struct rdl_cm_event e;
    size_t one;

    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(rdl_cm_get_event(m->lab, m->channel[side], NULL, &e, &one), RDL_OK);
        assert_int_equal(one, 1);
        assert_int_equal(e.kind, kind);
        if (ret)
            ret[i] = e.id;
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(rdl_cm_ack_event(m->lab, m->channel[side]), RDL_OK);
}

/* --- The work that is measured ---------------------------------------------------------------- */

static void bind_and_listen(struct many *m)
{
    const struct rdl_cm_addr any = {.version = 4, .gid = {[10] = 0xff, [11] = 0xff}};
    int error;

    for (uint32_t i = 0; i < m->n; i++) {
        create(m, i);
        assert_int_equal(rdl_cm_bind(m->lab, m->ids[0][i], &any, &error), RDL_OK);
        assert_int_equal(rdl_cm_listen(m->lab, m->ids[0][i], 0, &error), RDL_OK);
    }
    for (uint32_t i = 0; i < m->n; i++)
        destroy(m, 0, i);
}

/* Leaves the events of all IDs in the queue, where each has to be found. */
static void resolve_and_go(struct many *m)
{
    int error;

    for (uint32_t i = 0; i < m->n; i++) {
        create(m, i);
        assert_int_equal(
            rdl_cm_resolve_addr(m->lab, m->ids[0][i], NULL, &m->to, TIMEOUT_NS, &error), RDL_OK);
    }
    assert_int_equal(rdl_cm_pending(m->lab, m->channel[0]), m->n);
    for (uint32_t i = m->n; i-- > 0;)
        destroy(m, 0, i);
    assert_int_equal(rdl_cm_pending(m->lab, m->channel[0]), 0);
}

/* Moves the IDs, with an event each, to another channel and back. */
static void migrate(struct many *m)
{
    rdl_cm_channel other;
    int error;

    assert_int_equal(rdl_cm_create_channel(m->lab, m->host[0], NULL, &other), RDL_OK);
    for (uint32_t i = 0; i < m->n; i++) {
        create(m, i);
        assert_int_equal(
            rdl_cm_resolve_addr(m->lab, m->ids[0][i], NULL, &m->to, TIMEOUT_NS, &error), RDL_OK);
    }
    for (uint32_t i = m->n; i-- > 0;)
        assert_int_equal(rdl_cm_migrate_id(m->lab, m->ids[0][i], other), RDL_OK);
    for (uint32_t i = m->n; i-- > 0;)
        destroy(m, 0, i);
    assert_int_equal(rdl_cm_destroy_channel(m->lab, other), RDL_OK);
}

static void connect_some(struct many *m, uint32_t from, uint32_t n)
{
    struct rdl_cm_param p = {.retry_count = 7};
    int error;

    for (uint32_t i = 0; i < n; i++) {
        p.qpn = QPN + from + i;
        assert_int_equal(rdl_cm_connect(m->lab, m->ids[0][from + i], &p, &error), RDL_OK);
    }
    run(m);
    take(m, 1, RDMA_CM_EVENT_CONNECT_REQUEST, n, &m->ids[1][from]);
    for (uint32_t i = 0; i < n; i++) {
        p.qpn = QPN + from + i;
        assert_int_equal(rdl_cm_accept(m->lab, m->ids[1][from + i], &p, &error), RDL_OK);
    }
    run(m);
    take(m, 0, RDMA_CM_EVENT_CONNECT_RESPONSE, n, NULL);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(rdl_cm_accept(m->lab, m->ids[0][from + i], NULL, &error), RDL_OK);
    run(m);
    take(m, 1, RDMA_CM_EVENT_ESTABLISHED, n, NULL);
}

static void connect_all(struct many *m)
{
    struct rdl_cm_id_info info;
    rdl_cm_id listener;
    int error;

    assert_int_equal(rdl_cm_create_id(m->lab, m->channel[1], PORT_SPACE_TCP, "listener", &listener),
                     RDL_OK);
    assert_int_equal(rdl_cm_bind(m->lab, listener, &m->to, &error), RDL_OK);
    assert_int_equal(rdl_cm_listen(m->lab, listener, BACKLOG, &error), RDL_OK);
    for (uint32_t i = 0; i < m->n; i++) {
        create(m, i);
        assert_int_equal(
            rdl_cm_resolve_addr(m->lab, m->ids[0][i], NULL, &m->to, TIMEOUT_NS, &error), RDL_OK);
    }
    take(m, 0, RDMA_CM_EVENT_ADDR_RESOLVED, m->n, NULL);
    for (uint32_t i = 0; i < m->n; i++)
        assert_int_equal(rdl_cm_resolve_route(m->lab, m->ids[0][i], &error), RDL_OK);
    take(m, 0, RDMA_CM_EVENT_ROUTE_RESOLVED, m->n, NULL);
    for (uint32_t i = 0; i < m->n; i += BACKLOG)
        connect_some(m, i, m->n - i < BACKLOG ? m->n - i : BACKLOG);
    for (uint32_t i = 0; i < m->n; i++) {
        assert_int_equal(rdl_cm_id_info(m->lab, m->ids[1][i], &info), RDL_OK);
        assert_int_equal(info.state, CMA_CONNECT);
    }
    assert_int_equal(rdl_cm_destroy_id(m->lab, listener), RDL_OK);
}

static void disconnect_all(struct many *m)
{
    int error;

    for (uint32_t i = 0; i < m->n; i++)
        assert_int_equal(rdl_cm_disconnect(m->lab, m->ids[0][i], &error), RDL_OK);
    run(m);
    for (uint32_t i = 0; i < m->n; i++)
        assert_int_equal(rdl_cm_disconnect(m->lab, m->ids[1][i], &error), RDL_OK);
    run(m);
    for (uint32_t i = m->n; i-- > 0;) {
        destroy(m, 0, i);
        destroy(m, 1, i);
    }
}

/* --- Comparing -------------------------------------------------------------------------------- */

struct cost {
    uint64_t blocks;
    size_t bytes; /* used by the lab behind the work, which was not used before it */
};

static struct cost cost_of(struct many *m, uint32_t n, void (*work)(struct many *m))
{
    const size_t bytes = rdl_used_bytes(m->lab);
    const uint64_t blocks = n_blocks;

    m->n = n;
    work(m);
    return (struct cost){n_blocks - blocks, rdl_used_bytes(m->lab) - bytes};
}

static void assert_linear(struct cost few, struct cost many)
{
    print_message("%llu blocks per ID of few, %llu of many\n",
                  (unsigned long long)(few.blocks / FEW), (unsigned long long)(many.blocks / MANY));
    assert_true(few.blocks >= (uint64_t)BLOCKS_MIN * FEW);
    assert_true(many.blocks <= few.blocks * TIMES_MAX);
}

static void compare(struct many *m, void (*work)(struct many *m))
{
    const struct cost few = cost_of(m, FEW, work), many = cost_of(m, MANY, work);

    assert_linear(few, many);
}

static void many_listeners_cost_as_much_each_as_few(void **state)
{
    compare(*state, bind_and_listen);
}

static void many_waiting_events_cost_as_much_each_as_few(void **state)
{
    compare(*state, resolve_and_go);
}

static void many_ids_move_as_fast_as_few(void **state)
{
    compare(*state, migrate);
}

/* The memory is that of connections that live. */
static void many_connections_cost_as_much_each_as_few(void **state)
{
    struct many *m = *state;
    const struct cost few = cost_of(m, FEW, connect_all);
    const struct cost few_ends = cost_of(m, FEW, disconnect_all);
    const struct cost many = cost_of(m, MANY, connect_all);
    const struct cost many_ends = cost_of(m, MANY, disconnect_all);

    assert_linear(few, many);
    assert_linear(few_ends, many_ends);
    assert_true(few.bytes > 0);
    assert_true(many.bytes <= few.bytes * TIMES_MAX);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(many_listeners_cost_as_much_each_as_few),
        T(many_waiting_events_cost_as_much_each_as_few),
        T(many_ids_move_as_fast_as_few),
        T(many_connections_cost_as_much_each_as_few),
    };

    return cmocka_run_group_tests_name("cm_scale", tests, NULL, NULL);
}
