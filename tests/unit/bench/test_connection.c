/* SPDX-License-Identifier: MIT */
/* A thousand connections by rdma_cm, in the steps of the benchmark: nothing is left of them. */
#include "testing.h"

#include "bench/bench_connection.h"
#include "emu/lab/lab_state.h"
#include "rdmalab/inspect.h"

#define TOGETHER 100u /* connections that live at the same time */
#define ROUNDS   10u

/* Memory of the lab, and objects of both hosts. */
struct left {
    size_t bytes;
    uint32_t n_objects[2][VERBS_KINDS];
};

static void set_up_all(struct connection_lab *l, struct bench_connection *all)
{
    for (uint32_t i = 0; i < TOGETHER; i++)
        assert_int_equal(connection_dial(l, &all[i], i), RDL_OK);
    for (uint32_t i = 0; i < TOGETHER; i++)
        assert_int_equal(connection_accept(l, all, TOGETHER), RDL_OK);
    for (uint32_t i = 0; i < TOGETHER; i++)
        assert_int_equal(connection_finish(l, &all[i]), RDL_OK);
    for (uint32_t i = 0; i < TOGETHER; i++)
        assert_int_equal(connection_await(l, &all[i]), RDL_OK);
}

static struct rdl_cm_counts counts_of(const struct connection_lab *l, unsigned side)
{
    struct rdl_cm_counts n;

    assert_int_equal(rdl_cm_counts(l->lab, l->host[side].host, &n), RDL_OK);
    return n;
}

static const struct guest *guest_of(const struct connection_lab *l, unsigned side)
{
    return &lab_host(l->lab->state, l->host[side].host.raw)->guest;
}

/* Runs until nothing is scheduled, so that a timer that was left would find its ID gone. */
static void look(struct connection_lab *l, struct left *ret)
{
    const struct rdl_limits bounded = {.ticks = 1000000};

    assert_int_equal(rdl_run(l->lab, RDL_NEVER, bounded), RDL_OK);
    ret->bytes = rdl_used_bytes(l->lab);
    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t kind = 0; kind < VERBS_KINDS; kind++)
            ret->n_objects[side][kind] = guest_of(l, side)->verbs.objects[kind].used;
    }
}

/* The listener of h2 is all that there is. */
static void assert_nothing_is_left(const struct connection_lab *l)
{
    for (unsigned side = 0; side < 2; side++) {
        const struct rdl_cm_counts n = counts_of(l, side);
        const struct cm_agent *a = &guest_of(l, side)->cm;

        assert_int_equal(n.ids, side);
        assert_int_equal(n.comm_ids, side);
        assert_int_equal(n.services, side);
        assert_int_equal(n.messages, 0);
        assert_int_equal(a->cma.by_port.n, side);
        assert_int_equal(a->cma.by_number.n, side);
        assert_int_equal(a->cma.n_querying, 0);
        assert_int_equal(a->ib.by_remote.n + a->ib.by_qpn.n, 0);
        assert_int_equal(a->free_sends, UINT64_MAX);
    }
}

/* In the first rounds tables grow, and pages are written for the first time. */
static void connections_that_are_gone_leave_nothing(void **state)
{
    struct bench_connection *all = test_calloc(TOGETHER, sizeof(*all));
    struct left first, left;
    struct connection_lab l;

    (void)state;
    assert_int_equal(connection_lab_init(&l, TOGETHER, false), RDL_OK);
    for (unsigned round = 0; round < ROUNDS; round++) {
        set_up_all(&l, all);
        for (unsigned side = 0; side < 2; side++)
            assert_int_equal(counts_of(&l, side).ids, TOGETHER + side);
        for (uint32_t i = 0; i < TOGETHER; i++)
            assert_int_equal(connection_message(&l, &all[i]), RDL_OK);
        for (uint32_t i = 0; i < TOGETHER; i++)
            assert_int_equal(connection_end(&l, &all[i]), RDL_OK);
        look(&l, round < 2 ? &first : &left);
        assert_nothing_is_left(&l);
        if (round >= 2)
            assert_memory_equal(&left, &first, sizeof(left));
    }
    connection_lab_done(&l);
    test_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_that_are_gone_leave_nothing),
    };

    return cmocka_run_group_tests_name("connection", tests, NULL, NULL);
}
