/* SPDX-License-Identifier: MIT */
/* The event queue: order by (time, sequence), cancelling, causes. */
#include "testing.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/prng.h"
#include "emu/sim/sim.h"

#define N_MAX 2000u

struct world {
    struct sim sim;
    uint64_t order[N_MAX];
    uint32_t n;
    ev_id cause_seen;
};

static void on_item(void *ctx, struct sim_item item)
{
    struct world *w = ctx;

    w->order[w->n++] = item.arg;
    w->cause_seen = w->sim.trace->cause;
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {
    on_item, on_item, on_item, on_item, on_item, on_item,
};

struct fixture {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace trace;
    struct world w;
};

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->arena = arena_new((size_t)1 << 30);
    f->trace.sinks = &f->sinks;
    assert_true(sim_init(&f->w.sim, f->arena, &f->trace, handlers, &f->w));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_free(f->arena);
    test_free(f);
    return 0;
}

static void equal_times_go_in_the_order_of_scheduling(void **state)
{
    struct fixture *f = *state;

    for (uint64_t i = 0; i < 300; i++)
        sim_schedule(&f->w.sim, i % 3 * 10, SIM_DOORBELL, 0, i % 3 * 1000 + i);
    while (sim_next_ns(&f->w.sim) != UINT64_MAX)
        sim_dispatch(&f->w.sim);
    assert_int_equal(f->w.n, 300);
    for (uint32_t i = 1; i < f->w.n; i++)
        assert_true(f->w.order[i - 1] < f->w.order[i]);
    assert_int_equal(f->trace.tick, 300);
    assert_int_equal(f->trace.now_ns, 20);
}

static void cancelled_items_do_not_come_and_tickets_go_stale(void **state)
{
    struct fixture *f = *state;
    struct prng rng = prng_stream(5, 1);
    sim_ticket tickets[N_MAX];
    uint32_t kept = 0;

    for (uint64_t i = 0; i < N_MAX; i++)
        tickets[i] = sim_schedule(&f->w.sim, prng_below(&rng, 500), SIM_ARRIVE, 0, i);
    for (uint64_t i = 0; i < N_MAX; i++) {
        if (prng_below(&rng, 2)) {
            assert_true(sim_cancel(&f->w.sim, tickets[i]));
            assert_false(sim_cancel(&f->w.sim, tickets[i]));
        } else {
            kept++;
        }
    }
    for (uint64_t last = 0; sim_next_ns(&f->w.sim) != UINT64_MAX;) {
        assert_true(sim_next_ns(&f->w.sim) >= last);
        last = sim_next_ns(&f->w.sim);
        sim_dispatch(&f->w.sim);
    }
    assert_int_equal(f->w.n, kept);
    for (uint64_t i = 0; i < N_MAX; i++)
        assert_false(sim_cancel(&f->w.sim, tickets[i]));
    assert_false(sim_cancel(&f->w.sim, 0));
}

/* Rows that grow and end, what is too early for its row, and what may be taken back: what is
 * dispatched comes in the order of (time, scheduling), which the argument says.
 */
static void what_waits_in_rows_and_what_may_be_taken_back_come_in_one_order(void **state)
{
    struct fixture *f = *state;
    struct prng rng = prng_stream(6, 1);
    sim_ticket tickets[N_MAX];
    uint64_t last = 0;
    uint32_t taken = 0, cancelled = 0;

    for (uint64_t i = 0; i < N_MAX; i++) {
        static const enum sim_kind kinds[] = {SIM_ARRIVE, SIM_ARRIVE, SIM_EGRESS, SIM_QP_TIMER};
        const enum sim_kind kind = kinds[prng_below(&rng, ARRAY_LEN(kinds))];
        const uint64_t any = prng_below(&rng, 300);
        const uint64_t delay = kind == SIM_QP_TIMER || i % 20 == 0 ? any : 100u + (uint64_t)kind;
        const uint64_t at = sim_now(&f->w.sim) + delay;

        tickets[i] = 0;
        if (kind == SIM_QP_TIMER)
            tickets[i] = sim_schedule(&f->w.sim, at, kind, 0, at * N_MAX + i);
        else
            sim_enqueue(&f->w.sim, at, kind, 0, at * N_MAX + i);
        if (any % 8 == 0)
            cancelled += sim_cancel(&f->w.sim, tickets[prng_below(&rng, (uint32_t)i + 1)]);
        if (i % 400 > 200 && sim_next_ns(&f->w.sim) != UINT64_MAX)
            sim_dispatch(&f->w.sim);
        if (i % 400 == 399)
            while (sim_next_ns(&f->w.sim) != UINT64_MAX)
                sim_dispatch(&f->w.sim);
        for (; taken < f->w.n; taken++) {
            assert_true(f->w.order[taken] > last);
            last = f->w.order[taken];
        }
    }
    assert_int_equal(f->w.n + cancelled, N_MAX);
}

static void the_cause_is_the_event_that_was_handled_when_it_was_scheduled(void **state)
{
    struct fixture *f = *state;
    const ev_id cause = ev_id_of(7, 3);

    trace_because(&f->trace, cause);
    sim_schedule(&f->w.sim, 5, SIM_IRQ, 0, 0);
    trace_because(&f->trace, ev_id_of(9, 1));
    sim_dispatch(&f->w.sim);
    assert_true(f->w.cause_seen == cause);
}

static void late_work_happens_now_in_its_order_and_what_it_starts_counts_from_now(void **state)
{
    struct fixture *f = *state;

    for (uint64_t i = 0; i < 3; i++)
        sim_schedule(&f->w.sim, 100 * (i + 1), SIM_DOORBELL, 0, i);
    f->w.sim.floor_ns = 250;
    for (uint64_t i = 0; i < 2; i++) {
        sim_dispatch(&f->w.sim);
        assert_int_equal(f->w.order[i], i);
        assert_int_equal(f->trace.now_ns, 250);
    }
    assert_int_equal(sim_next_ns(&f->w.sim), 300);
    sim_dispatch(&f->w.sim);
    assert_int_equal(f->trace.now_ns, 300);
}

static void the_clock_moves_on_without_a_tick(void **state)
{
    struct fixture *f = *state;

    sim_advance(&f->w.sim, 1000);
    assert_int_equal(f->trace.now_ns, 1000);
    assert_int_equal(f->trace.tick, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_times_go_in_the_order_of_scheduling, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(cancelled_items_do_not_come_and_tickets_go_stale, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            what_waits_in_rows_and_what_may_be_taken_back_come_in_one_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_cause_is_the_event_that_was_handled_when_it_was_scheduled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            late_work_happens_now_in_its_order_and_what_it_starts_counts_from_now, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(the_clock_moves_on_without_a_tick, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}
