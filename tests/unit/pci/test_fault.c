/* SPDX-License-Identifier: MIT */
/* Faults of a device: the occasions that they hit, and the one of several that does. */
#include "testing.h"

#include "emu/facts/enum/fault.h"
#include "emu/pci/fault.h"
#include "emu/trace/event.h"

struct fixture {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace trace;
    struct sim sim;
    struct device_fault *faults;
    struct fault_place place;
};

static sim_handler *const handlers[SIM_KIND_COUNT] = {NULL};

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->arena = arena_new((size_t)1 << 24);
    f->trace.sinks = &f->sinks;
    assert_true(sim_init(&f->sim, f->arena, &f->trace, handlers, f));
    f->place = (struct fault_place){.sim = &f->sim, .queue = 3};
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

static struct device_fault fault(uint32_t number, uint32_t nth, uint32_t count)
{
    return (struct device_fault){
        .kind = FLT_LOST_KICK, .number = number, .queue = 3, .nth = nth, .count = count};
}

/* The number of the fault that hits an occasion at @taken, or 0. */
static uint32_t hit(struct fixture *f, uint32_t taken)
{
    const struct device_fault *by;

    f->place.taken = taken;
    by = device_fault_hits(&f->faults, FLT_LOST_KICK, &f->place);
    return by ? by->number : 0;
}

/* One fault hits an occasion: the oldest that does.  Those behind it have not seen it. */
static void the_oldest_fault_hits_first(void **state)
{
    struct fixture *f = *state;
    struct device_fault a = fault(1, 2, 1), b = fault(2, 1, 2), c = fault(3, 1, FAULT_COUNT_ALL);

    device_fault_add(&f->faults, &a);
    device_fault_add(&f->faults, &b);
    device_fault_add(&f->faults, &c);
    assert_int_equal(hit(f, 0), 2); /* 1 lets it pass */
    assert_int_equal(hit(f, 0), 1);
    assert_int_equal(hit(f, 0), 2);
    assert_int_equal(hit(f, 0), 3);
    assert_int_equal(a.hits, 1);
    assert_int_equal(b.seen, 2);
    assert_int_equal(c.seen, 1);
    assert_ptr_equal(f->faults, &c);
    device_fault_take_off(&f->faults, &b); /* it is not there any more */
    device_fault_take_off(&f->faults, &c);
    assert_null(f->faults);
}

static bool is_odd(void *ctx, const struct ev *e)
{
    (void)ctx;
    return e->u.device_fault.avail_idx % 2 == 1;
}

/* An occasion for which the condition does not hold is none: `nth` and `every` do not count it. */
static void only_occasions_of_the_condition_count(void **state)
{
    struct fixture *f = *state;
    struct device_fault a = fault(1, 2, FAULT_COUNT_ALL);

    a.every = 2;
    a.where = is_odd;
    device_fault_add(&f->faults, &a);
    for (uint32_t taken = 0; taken < 12; taken++)
        assert_int_equal(hit(f, taken), taken == 3 || taken == 7 || taken == 11);
    assert_int_equal(a.seen, 6);
    assert_int_equal(a.hits, 3);
}

static void other_kinds_and_queues_are_no_occasion(void **state)
{
    struct fixture *f = *state;
    struct device_fault a = fault(1, 1, FAULT_COUNT_ALL), b = fault(2, 1, FAULT_COUNT_ALL);

    b.queue = FAULT_QUEUE_ANY;
    device_fault_add(&f->faults, &a);
    device_fault_add(&f->faults, &b);
    assert_null(device_fault_hits(&f->faults, FLT_LOST_CQE, &f->place));
    f->place.queue = 4;
    assert_int_equal(hit(f, 0), 2);
    assert_int_equal(a.seen, 0);
    f->place.queue = 3;
    assert_int_equal(hit(f, 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_oldest_fault_hits_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_occasions_of_the_condition_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_kinds_and_queues_are_no_occasion, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
