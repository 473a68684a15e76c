/* SPDX-License-Identifier: MIT */
/* Tests of drills: how a failing one ends and is reduced, and that each kind passes and is
 * repeatable.
 */
#include <string.h>

#include "rdmalab/verbs.h"
#include "swarm/drills/drill.h"
#include "testing.h"

#define STEPS 40u
#define FIRST 7u  /* the step that causes the failure */
#define SHOWS 31u /* the first step that detects it */
#define SEEDS 5u

/* A drill with an error: it fails at SHOWS if FIRST was taken. */
struct spoilt {
    bool is_spoilt;
    uint32_t n_taken, drawn[STEPS];
};

static struct spoilt last; /* its state at the end */

static void set_up(struct drill *d)
{
    const struct rdl_host_config c = {.name = "h1"};
    rdl_host host;

    drill_works(d, rdl_host_add(d->lab, &c, &host), "a host can be added");
}

static void take(struct drill *d)
{
    struct spoilt *s = d->own;

    s->n_taken++;
    s->drawn[d->step] = drill_below(d, 1u << 30);
    s->is_spoilt = s->is_spoilt || d->step == FIRST;
    drill_say(d, "# step %u", d->step);
    drill_expect(d, d->step < SHOWS || !s->is_spoilt, "nothing is spoilt", "step %u spoilt it",
                 FIRST);
    last = *s;
}

static const struct drill_kind with_a_mistake = {.name = "mistake",
                                                 .bytes = sizeof(struct spoilt),
                                                 .steps = STEPS,
                                                 .set_up = set_up,
                                                 .take = take};

static void a_drill_ends_with_its_first_mistake(void **state)
{
    struct drill_run run = {.seed = 3};

    (void)state;
    assert_false(drill_run(&with_a_mistake, &run));
    assert_string_equal(run.ret_wrong, "nothing is spoilt");
    assert_string_equal(run.ret_have, "step 7 spoilt it");
    assert_int_equal(run.ret_step, SHOWS);
    assert_int_equal(last.n_taken, SHOWS + 1);
}

static void a_drill_is_made_smaller(void **state)
{
    bool is_left_out[DRILL_STEPS_MAX];
    struct drill_run run = {.seed = 3}, smaller = {.seed = 3, .is_left_out = is_left_out};

    (void)state;
    assert_false(drill_run(&with_a_mistake, &run));
    assert_int_equal(drill_shrink(&with_a_mistake, &run, 400, is_left_out), 2);
    assert_false(is_left_out[FIRST]);
    assert_false(is_left_out[SHOWS]);
    assert_false(drill_run(&with_a_mistake, &smaller));
    assert_string_equal(smaller.ret_wrong, run.ret_wrong);
}

static void a_step_draws_the_same_whatever_is_left_out(void **state)
{
    bool is_left_out[DRILL_STEPS_MAX] = {[2] = true, [FIRST] = true};
    struct drill_run all = {.seed = 3}, some = {.seed = 3, .is_left_out = is_left_out};
    struct spoilt whole;

    (void)state;
    drill_run(&with_a_mistake, &all);
    whole = last;
    assert_true(drill_run(&with_a_mistake, &some));
    assert_int_equal(last.n_taken, STEPS - 2);
    assert_int_equal(last.drawn[2], 0);
    assert_int_equal(last.drawn[3], whole.drawn[3]);
    assert_int_equal(last.drawn[SHOWS], whole.drawn[SHOWS]);
}

static void each_kind_is_right_and_repeatable(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < DRILL_KINDS; i++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct drill_run run = {.seed = seed}, again = {.seed = seed};

            if (!drill_run(drill_kinds[i], &run))
                fail_msg("%s, seed %u: %s, but: %s", drill_kinds[i]->name, (unsigned)seed,
                         run.ret_wrong, run.ret_have);
            assert_true(drill_run(drill_kinds[i], &again));
            assert_int_not_equal(run.ret_hash, 0);
            assert_true(run.ret_hash == again.ret_hash);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drill_ends_with_its_first_mistake),
        cmocka_unit_test(a_drill_is_made_smaller),
        cmocka_unit_test(a_step_draws_the_same_whatever_is_left_out),
        cmocka_unit_test(each_kind_is_right_and_repeatable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
