/* SPDX-License-Identifier: MIT */
/* Tests of a lab that follows a clock and is late.  The clock is simulated, and there is no outside
 * world.
 */
#include "cli/lab_session.h"

#include <stdio.h>

#include "cli/live/live.h"
#include "rdmalab/port.h"

#define LATE_NS   10000000u /* delay of the clock; the work was due within microseconds */
#define TURNS_MAX 10000u
#define N_FRAMES  300u /* more than a turn has ticks */

static struct rdl_lab *lab_of_live;
static bool is_attached;
static unsigned n_turns;

static struct live *open_live(struct rdl_lab *lab, bool is_virtual)
{
    (void)is_virtual;
    lab_of_live = lab;
    return (struct live *)lab; /* never dereferenced */
}

static void close_live(struct live *l)
{
    (void)l;
}

static void catch_up(struct live *l)
{
    (void)l;
}

static bool start_vm(struct live *l, const struct live_vm_config *config, struct live_error *reterr)
{
    (void)l;
    (void)config;
    (void)reterr;
    is_attached = true;
    return true;
}

static bool attached(const struct live *l)
{
    (void)l;
    return is_attached;
}

static uint64_t begin_turn(struct live *l)
{
    (void)l;
    assert_true(n_turns++ < TURNS_MAX);
    rdl_not_before(lab_of_live, LATE_NS);
    return LATE_NS;
}

static void pump(struct live *l, uint64_t until_ns, int input)
{
    (void)l;
    (void)until_ns;
    (void)input;
}

static bool is_open(const struct live *l)
{
    (void)l;
    return true;
}

static bool nothing_runs(const struct live *l)
{
    (void)l;
    return false;
}

static bool nothing_failed(struct live *l, struct live_error *reterr)
{
    (void)l;
    (void)reterr;
    return false;
}

static const char *nothing_said(struct live *l)
{
    (void)l;
    return NULL;
}

/* All frames are sent later than the run lasts, in several turns, and the run ends. */
static void a_run_that_ends_in_the_past_does_what_was_due_until_then(void **state)
{
    static const struct live_ops ops = {
        .open = open_live,
        .close = close_live,
        .catch_up = catch_up,
        .vm = start_vm,
        .attached = attached,
        .begin_turn = begin_turn,
        .pump = pump,
        .is_open = is_open,
        .programs_run = nothing_runs,
        .programs_failed = nothing_failed,
        .said = nothing_said,
    };
    static const struct rdl_port_config config = {"tap0"};
    static const struct rdl_link_config link = {.a = "tap0", .b = "s1"};
    static const uint8_t frame[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 1, 1, 8, 6};
    rdl_port port;
    char line[80];
    rdl_link ret;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    l.s->config.live_ops = &ops;
    lab_run(&l, "host h1; host h2 vm; switch s1; link h1 s1; "
                "port vm h2 command=c transport=vfio_user");
    assert_int_equal(rdl_port_add(l.s->lab, &config, &port), RDL_OK);
    assert_int_equal(rdl_link_add(l.s->lab, &link, &ret), RDL_OK);
    for (unsigned i = 0; i < N_FRAMES; i++)
        assert_int_equal(rdl_port_receive(l.s->lab, port, frame, sizeof(frame)), RDL_OK);
    lab_run(&l, "run 30us");
    assert_true(n_turns > 2);
    snprintf(line, sizeof(line), "expect count(flooded) == %u and t >= %uns", N_FRAMES, LATE_NS);
    lab_run(&l, line);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_ends_in_the_past_does_what_was_due_until_then)};

    return cmocka_run_group_tests_name("late", tests, NULL, NULL);
}
