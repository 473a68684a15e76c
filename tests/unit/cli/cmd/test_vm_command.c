/* SPDX-License-Identifier: MIT */
/* Tests of the shell commands that `port vm` runs, as seen by a simulated outside world. */
#include "cli/lab_session.h"

#include <stdio.h>
#include <string.h>

#include "cli/live/live.h"

static char started[8192]; /* the command that was to be started last */

static struct live *open_live(struct rdl_lab *lab, bool is_virtual)
{
    (void)is_virtual;
    return (struct live *)lab; /* never dereferenced */
}

static void close_live(struct live *l)
{
    (void)l;
}

static bool nothing_attached(const struct live *l)
{
    (void)l;
    return false;
}

static bool start_vm(struct live *l, const struct live_vm_config *config, struct live_error *reterr)
{
    (void)l;
    (void)reterr;
    snprintf(started, sizeof(started), "%s", config->command);
    return true;
}

static void expect_part(const char *part)
{
    if (!strstr(started, part))
        fail_msg("%s has no %s", started, part);
}

static void words_reach_the_kernel_whole(void **state)
{
    static const struct live_ops ops = {
        .open = open_live, .close = close_live, .vm = start_vm, .attached = nothing_attached};
    char line[8192], many[3001];
    struct lab l;

    (void)state;
    memset(many, 'x', sizeof(many) - 1);
    many[sizeof(many) - 1] = '\0';
    lab_open(&l, false);
    l.s->config.live_ops = &ops;
    lab_run(&l, "host h1 vm; port vm h1 kernel=\"a b\"");
    expect_part(" -kernel 'a b' ");
    expect_part("console=ttyS0 panic=-1");
    assert_null(strstr(started, "-initrd"));
    lab_run(&l, "port vm h1 kernel=k initrd=i append=\"it's x=1\"");
    expect_part(" -initrd 'i' ");
    expect_part("it'\\''s x=1' $LAB");
    snprintf(line, sizeof(line), "port vm h1 kernel=k append=\"%s quiet\"", many);
    lab_run(&l, line);
    expect_part("x quiet'");
    snprintf(line, sizeof(line), "port vm h1 kernel=k append=\"%s%s\"", many, many);
    started[0] = '\0';
    assert_false(lab_try(&l, line)); /* a command that is too long is reported, not truncated */
    assert_string_equal(started, "");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_reach_the_kernel_whole)};

    return cmocka_run_group_tests_name("vm_command", tests, NULL, NULL);
}
