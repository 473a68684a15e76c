/* SPDX-License-Identifier: MIT */
/* A lab whose host h1 has another process as its guest: a machine, which is the test program
 * itself, started as "PROGRAM machine NAME $LAB".
 */
#ifndef UNIT_CLI_LIVE_VM_RIG_H
#define UNIT_CLI_LIVE_VM_RIG_H

#include "testing.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/live/live.h"
#include "rdmalab/inspect.h"
#include "rdmalab/vm.h"

/* --- The machine ------------------------------------------------------------------------------ */

#define MACHINE_FAIL 9 /* exit status if a check in the machine fails */

static inline void must(bool good, const char *what)
{
    if (good)
        return;
    printf("the machine misses: %s\n", what);
    fflush(stdout);
    _exit(MACHINE_FAIL);
}

/* --- The lab ---------------------------------------------------------------------------------- */

static const char *this_program; /* argv[0], for the command */

struct fixture {
    struct rdl_lab *lab;
    rdl_host h1;
    rdl_link link;
    struct live *live;
    enum live_vm_transport transport; /* of the machines that a test starts */
};

static inline int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    const struct rdl_lab_config config = {.seed = 1};
    const struct rdl_host_config host = {.name = "h1", .external = true};
    const struct rdl_link_config link = {.a = "h1", .b = "s1"};
    rdl_switch sw;

    assert_int_equal(rdl_lab_new(&config, &f->lab), RDL_OK);
    assert_int_equal(rdl_host_add(f->lab, &host, &f->h1), RDL_OK);
    assert_int_equal(rdl_switch_add(f->lab, "s1", &sw), RDL_OK);
    assert_int_equal(rdl_link_add(f->lab, &link, &f->link), RDL_OK);
    f->live = live_ops->open(f->lab, false);
    assert_non_null(f->live);
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    live_ops->close(f->live);
    rdl_lab_free(f->lab);
    test_free(f);
    return 0;
}

static inline void start_command(struct fixture *f, const char *command)
{
    const struct live_vm_config c = {
        .transport = f->transport, .host = f->h1, .host_name = "h1", .command = command};
    struct live_error error = {.message = ""};

    assert_true(live_ops->vm(f->live, &c, &error));
}

/* Starts this program as the machine @what; its next arguments are $LAB. */
static inline void start(struct fixture *f, const char *what)
{
    char command[4096];

    assert_true(snprintf(command, sizeof(command), "exec '%s' machine '%s' $LAB", this_program,
                         what) < (int)sizeof(command));
    start_command(f, command);
}

static inline struct live_vm_info info_of(const struct fixture *f)
{
    struct live_vm_info info;

    assert_true(live_ops->vm_at(f->live, 0, &info));
    return info;
}

static inline uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static inline void turn(struct fixture *f)
{
    const struct rdl_limits some = {.ticks = 128};
    const uint64_t until = live_ops->begin_turn(f->live);
    enum rdl_status st = rdl_run(f->lab, until, some);

    assert_true(st == RDL_OK || st == RDL_ERR_TIMEOUT);
    live_ops->pump(f->live, until + 50000000, -1);
}

/* Runs the lab until no machine runs, half a minute at most. */
static inline void run(struct fixture *f)
{
    const uint64_t end = now_ms() + 30000;

    while (live_ops->programs_run(f->live)) {
        assert_true(now_ms() < end);
        turn(f);
    }
}

/* Runs the lab until the machine has printed @line. */
static inline void run_to_line(struct fixture *f, const char *line)
{
    const uint64_t end = now_ms() + 30000;

    while (strcmp(info_of(f).line, line) != 0) {
        assert_true(now_ms() < end && live_ops->programs_run(f->live));
        turn(f);
    }
}

/* Checks that nothing is left of a machine that has ended. */
static inline void expect_switched_off(struct fixture *f)
{
    struct rdl_value v;
    uint8_t byte;
    size_t at;

    assert_false(info_of(f).runs);
    assert_int_equal(rdl_ram_read(f->lab, f->h1, 0, &byte, 1), RDL_ERR_FAULT);
    assert_int_equal(rdl_inspect(f->lab, "h1.net.status", &v, &at), RDL_OK);
    assert_int_equal(v.number, 0);
}

/* Checks that process group @pid soon has no process. */
static inline void expect_gone(int pid)
{
    for (unsigned i = 0; i < 1000 && kill(-pid, 0) == 0; i++)
        usleep(10000);
    assert_int_equal(kill(-pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

static inline void expect_failure(struct fixture *f, const char *part)
{
    struct live_error error = {.message = ""};

    assert_true(live_ops->programs_failed(f->live, &error));
    if (!strstr(error.message, part))
        fail_msg("\"%s\" has no \"%s\"", error.message, part);
    assert_true(error.remedy[0] != '\0');
    assert_false(live_ops->programs_failed(f->live, &error)); /* reported once */
    expect_switched_off(f);
}

#endif
