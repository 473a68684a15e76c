/* SPDX-License-Identifier: MIT */
/* Equal rounds are found if the lab repeats itself, and only then. */
#include "testing.h"

#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/send_flag.h"
#include "rdmalab/rounds.h"
#include "testbed/testbed.h"

#define TICKS_MAX 20000u
#define BYTES     64u

static const struct rdl_limits one_tick = {.ticks = 1};

/* A SEND for which there is no receive, and a number of retries for each kind of retry. */
static struct testbed start(uint32_t loss_ppm, uint32_t profile)
{
    const struct testbed_config c = {
        .seed = 3,
        .mr_bytes = 4096,
        .max_wr = 16,
        .path_mtu = MTU_1024,
        .timeout = 6,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 1,
        .latency_ns = 1000,
        .loss_ppm = loss_ppm,
        .profile = {profile, profile},
    };
    struct testbed r;

    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 1, 0, BYTES, SF_SIGNALED), RDL_OK);
    return r;
}

/* Runs the lab until it stands still or is idle, for at most @ticks.  Returns what was found. */
static struct rdl_round run(struct testbed *r, uint32_t ticks, uint64_t (*more)(void *ctx),
                            void *ctx, bool *ret_standstill)
{
    struct rdl_rounds *rounds;
    struct rdl_round found;

    assert_int_equal(rdl_rounds_new(r->lab, &rounds), RDL_OK);
    *ret_standstill = false;
    while (ticks-- > 0 && !*ret_standstill) {
        if (rdl_run(r->lab, RDL_NEVER, one_tick) != RDL_ERR_TIMEOUT)
            break;
        rdl_rounds_look(rounds, more, ctx);
        *ret_standstill = rdl_rounds_standstill(rounds);
    }
    found = rdl_rounds_found(rounds);
    rdl_rounds_free(rounds);
    return found;
}

static bool stands_still(struct testbed *r)
{
    bool ret;

    (void)run(r, TICKS_MAX, NULL, NULL, &ret);
    return ret;
}

static void rnr_retries_without_a_limit_are_a_standstill_after_a_thousand_rounds(void **state)
{
    struct testbed r = start(0, PROFILE_iba);
    const uint64_t before = rdl_tick(r.lab);
    struct rdl_round round;
    bool standstill;

    (void)state;
    round = run(&r, TICKS_MAX, NULL, NULL, &standstill);
    assert_true(standstill);
    assert_int_equal(round.n, RDL_ROUNDS_EQUAL);
    assert_int_equal(round.ticks, 3); /* the SEND arrives, the RNR NAK arrives, the timer expires */
    assert_true(round.ns > 10000 && round.ns < 20000);
    assert_true(rdl_tick(r.lab) - before < 3 * RDL_ROUNDS_EQUAL + 200);
    testbed_done(&r);
}

static void a_receive_ends_the_rounds(void **state)
{
    struct testbed r = start(0, PROFILE_iba);
    bool standstill;

    (void)state;
    assert_int_equal(run(&r, 2000, NULL, NULL, &standstill).ticks, 3);
    assert_false(standstill);
    assert_int_equal(testbed_recv(&r, 1, 1, 0, BYTES), RDL_OK);
    assert_int_equal(run(&r, TICKS_MAX, NULL, NULL, &standstill).n, 0);
    assert_false(standstill);
    assert_int_equal(rdl_next_ns(r.lab), RDL_NEVER);
    testbed_done(&r);
}

/* What may come late in a row of equal rounds, and makes them no standstill. */
static void no_standstill_while_a_fault_may_act_differently(void **state)
{
    static const struct {
        uint32_t nth, count, transmission;
        bool standstill;
    } faults[] = {
        {1, RDL_ANY, 0, true},        /* each transmission is lost */
        {1, 1000000, 0, false},       /* and the last of them is not */
        {1000000, RDL_ANY, 0, false}, /* or it will be lost */
        {1, RDL_ANY, 5, true},        /* it was lost long ago */
        {1, RDL_ANY, 1000000, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct testbed r = start(0, PROFILE_rxe);
        const struct rdl_fault_config fault = {
            .kind = FLT_DROP,
            .from = r.side[0].host,
            .opcode = RDL_ANY,
            .syndrome = RDL_ANY,
            .psn = RDL_ANY,
            .dest_qpn = RDL_ANY,
            .nth = faults[i].nth,
            .count = faults[i].count,
            .transmission = faults[i].transmission,
        };
        rdl_fault ret;

        assert_int_equal(rdl_fault_add(r.lab, &fault, &ret), RDL_OK);
        if (stands_still(&r) != faults[i].standstill)
            fail_msg("fault %zu", i);
        assert_int_equal(rdl_fault_remove(r.lab, ret), RDL_OK);
        assert_true(stands_still(&r));
        testbed_done(&r);
    }
}

static bool on_attempt(void *ctx, const struct ev *sent, const uint8_t *frame, size_t bytes)
{
    (void)frame;
    (void)bytes;
    (void)ctx;
    (void)sent;
    return false; /* so far */
}

static void no_standstill_while_a_condition_may_hold_later(void **state)
{
    struct testbed r = start(0, PROFILE_iba);
    const struct rdl_fault_config fault = {
        .kind = FLT_DROP,
        .opcode = RDL_ANY,
        .syndrome = RDL_ANY,
        .psn = RDL_ANY,
        .dest_qpn = RDL_ANY,
        .nth = 1,
        .count = 1,
        .where = on_attempt,
    };
    rdl_fault ret;

    (void)state;
    assert_int_equal(rdl_fault_add(r.lab, &fault, &ret), RDL_OK);
    assert_false(stands_still(&r));
    testbed_done(&r);
}

/* A link that loses one frame in a million draws a number for each. */
static void no_round_is_equal_if_a_random_number_is_drawn(void **state)
{
    struct testbed r = start(1, PROFILE_iba);
    bool standstill;

    (void)state;
    assert_int_equal(run(&r, TICKS_MAX, NULL, NULL, &standstill).n, 0);
    assert_false(standstill);
    testbed_done(&r);
}

/* The queue is stuck until long after the rounds began: a scheduled item comes nearer. */
static void no_round_is_equal_while_something_else_is_scheduled(void **state)
{
    struct testbed r = start(0, PROFILE_iba);
    const struct rdl_device_fault_config fault = {
        .kind = FLT_STUCK_QUEUE,
        .host = r.side[1].host,
        .queue = RDL_ANY,
        .nth = 1,
        .count = 1,
        .time_ns = UINT64_C(3600000000000),
    };
    bool standstill;
    rdl_fault ret;

    (void)state;
    assert_int_equal(rdl_device_fault_add(r.lab, &fault, &ret), RDL_OK);
    assert_int_equal(testbed_send(&r, 1, 2, 0, BYTES, SF_SIGNALED), RDL_OK);
    assert_int_equal(run(&r, TICKS_MAX, NULL, NULL, &standstill).n, 0);
    assert_false(standstill);
    assert_int_equal(rdl_fault_remove(r.lab, ret), RDL_OK);
    testbed_done(&r);
}

static uint64_t growing(void *ctx)
{
    uint64_t *n = ctx;

    return ++*n;
}

static uint64_t constant(void *ctx)
{
    (void)ctx;
    return 5;
}

static void the_caller_has_a_say(void **state)
{
    struct testbed r = start(0, PROFILE_iba);
    uint64_t n = 0;
    bool standstill;

    (void)state;
    (void)run(&r, TICKS_MAX, growing, &n, &standstill);
    assert_false(standstill);
    assert_true(n > 100);
    (void)run(&r, TICKS_MAX, constant, NULL, &standstill);
    assert_true(standstill);
    testbed_done(&r);
}

/* A tick without a look cannot be compared: the search begins again. */
static void a_missed_tick_begins_anew(void **state)
{
    struct testbed r = start(0, PROFILE_iba);
    struct rdl_rounds *rounds;

    (void)state;
    assert_int_equal(rdl_rounds_new(r.lab, &rounds), RDL_OK);
    for (uint32_t i = 0; i < TICKS_MAX; i++) {
        assert_int_equal(rdl_run(r.lab, RDL_NEVER, one_tick), RDL_ERR_TIMEOUT);
        if (i % 100 != 0)
            rdl_rounds_look(rounds, NULL, NULL);
        assert_false(rdl_rounds_standstill(rounds));
    }
    rdl_rounds_free(rounds);
    testbed_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rnr_retries_without_a_limit_are_a_standstill_after_a_thousand_rounds),
        cmocka_unit_test(a_receive_ends_the_rounds),
        cmocka_unit_test(no_standstill_while_a_fault_may_act_differently),
        cmocka_unit_test(no_standstill_while_a_condition_may_hold_later),
        cmocka_unit_test(no_round_is_equal_if_a_random_number_is_drawn),
        cmocka_unit_test(no_round_is_equal_while_something_else_is_scheduled),
        cmocka_unit_test(the_caller_has_a_say),
        cmocka_unit_test(a_missed_tick_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
