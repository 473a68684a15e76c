/* SPDX-License-Identifier: MIT */
/* Device faults: invalid ones are refused, and adding and removing faults leaves nothing behind. */
#include "testing.h"

#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/lab/lab_state.h"
#include "plain_bed.h"

/* More than the completions that a queue remembers. */
#define MANY 2000u

static void set_up(struct testbed *r)
{
    const struct testbed_config config = plain_bed(0);

    assert_int_equal(testbed_init(r, &config), RDL_OK);
}

static struct rdl_device_fault_config lost_kick(const struct testbed *r)
{
    return (struct rdl_device_fault_config){.kind = FLT_LOST_KICK,
                                            .host = r->side[0].host,
                                            .queue = RDL_ANY,
                                            .nth = 1,
                                            .count = 1,
                                            .id = RDL_ANY};
}

static void a_fault_that_cannot_be_is_refused(void **state)
{
    struct rdl_device_fault_config bad[8];
    const enum rdl_status expected[ARRAY_LEN(bad)] = {
        RDL_ERR_INVAL, RDL_ERR_INVAL, RDL_ERR_INVAL,     RDL_ERR_INVAL,
        RDL_ERR_INVAL, RDL_ERR_STALE, RDL_ERR_NOT_FOUND, RDL_ERR_INVAL,
    };
    rdl_fault f;
    struct testbed r;

    (void)state;
    set_up(&r);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        bad[i] = lost_kick(&r);
    bad[0].kind = FLT_DROP;
    bad[1].nth = 0;
    bad[2].count = 0;
    bad[3].chance_ppm = 1000001;
    bad[4].kind = FLT_LATE_DATA; /* without a delay */
    bad[5].host.raw = 77;
    bad[6].net = true;
    bad[6].queue = 3;
    bad[7].kind = FLT_SPURIOUS;
    bad[7].id = 65536;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (rdl_device_fault_add(r.lab, &bad[i], &f) != expected[i])
            fail_msg("row %zu", i);
    }
    testbed_done(&r);
}

/* One message with a fault of each kind, which is removed in the middle or when all is over. */
static void one_round(struct testbed *r, uint32_t i)
{
    static const uint32_t kinds[] = {FLT_LOST_INTERRUPT, FLT_STUCK_QUEUE, FLT_LATE_DATA,
                                     FLT_LOST_KICK};
    struct rdl_device_fault_config c = lost_kick(r);
    const struct rdl_limits none = {0, 0};
    struct rdl_wc wc[4];
    rdl_fault f;
    size_t n;

    c.kind = kinds[i % ARRAY_LEN(kinds)];
    c.time_ns = c.kind == FLT_LATE_DATA ? 10 : c.kind == FLT_STUCK_QUEUE && i % 8 == 1 ? 50 : 0;
    assert_int_equal(rdl_device_fault_add(r->lab, &c, &f), RDL_OK);
    assert_int_equal(testbed_recv(r, 1, i, 0, 64), RDL_OK);
    assert_int_equal(testbed_send(r, 0, i, 0, 64, SF_SIGNALED), RDL_OK);
    if (c.kind != FLT_STUCK_QUEUE || c.time_ns)
        assert_int_equal(rdl_run(r->lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(rdl_fault_remove(r->lab, f), RDL_OK);
    assert_int_equal(rdl_fault_remove(r->lab, f), RDL_ERR_STALE);
    assert_int_equal(rdl_kick(r->lab, r->side[0].qp, true), RDL_OK);
    assert_int_equal(rdl_run(r->lab, RDL_NEVER, none), RDL_OK);
    for (unsigned side = 0; side < 2; side++) {
        assert_int_equal(rdl_poll_cq(r->lab, r->side[side].cq, ARRAY_LEN(wc), wc, &n), RDL_OK);
        assert_int_equal(n, 1);
    }
}

static void faults_come_and_go(void **state)
{
    size_t before = 0;
    struct testbed r;

    (void)state;
    set_up(&r);
    for (uint32_t i = 0; i < MANY; i++) {
        one_round(&r, i);
        if (i == MANY - 400)
            before = arena_live_bytes(r.lab->arena);
    }
    assert_int_equal(arena_live_bytes(r.lab->arena), before);
    testbed_done(&r);
}

/* The device gives back a send that it has just taken, and works on it: the driver uses its
 * descriptor again.  No invariant of ours is broken by that.
 */
static void nobody_answers_for_what_a_device_invents(void **state)
{
    struct rdl_device_fault_config c;
    const struct rdl_limits none = {0, 0};
    struct rdl_wc wc[4];
    rdl_fault f;
    struct testbed r;
    size_t n;

    (void)state;
    set_up(&r);
    c = lost_kick(&r);
    c.kind = FLT_SPURIOUS;
    c.id = 1;
    assert_int_equal(rdl_device_fault_add(r.lab, &c, &f), RDL_OK);
    assert_int_equal(testbed_recv(&r, 1, 1, 0, 64), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 2, 0, 64, SF_SIGNALED), RDL_OK);
    assert_int_equal(rdl_run(r.lab, rdl_now_ns(r.lab) + 100000, none), RDL_OK);
    assert_int_equal(rdl_poll_cq(r.lab, r.side[0].cq, ARRAY_LEN(wc), wc, &n), RDL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(testbed_send(&r, 0, 3, 0, 64, SF_SIGNALED), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 4, 0, 64, SF_SIGNALED), RDL_OK);
    assert_int_equal(rdl_run(r.lab, rdl_now_ns(r.lab) + 100000, none), RDL_OK);
    testbed_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_that_cannot_be_is_refused),
        cmocka_unit_test(faults_come_and_go),
        cmocka_unit_test(nobody_answers_for_what_a_device_invents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
