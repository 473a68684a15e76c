/* SPDX-License-Identifier: MIT */
/* `show live` on an outside world that is made up: what it says of virtual machines, in each form.
 */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "cli/printed.h"
#include "cli/show/show_live.h"

static void clock_of(const struct live *l, struct live_clock *ret)
{
    (void)l;
    *ret = (struct live_clock){.lag_ns = 1000, .lag_max_ns = 2000};
}

static bool no_port(const struct live *l, uint32_t i, struct live_port_info *ret)
{
    (void)l;
    (void)i;
    (void)ret;
    return false;
}

static bool one_program(const struct live *l, uint32_t i, struct live_program_info *ret)
{
    (void)l;
    *ret = (struct live_program_info){.name = "pingpong",
                                      .host = "h3",
                                      .server = true,
                                      .state = "running",
                                      .counts = true,
                                      .n_sent = 1,
                                      .iters = 5};
    return i == 0;
}

static bool three_machines(const struct live *l, uint32_t i, struct live_vm_info *ret)
{
    static const struct live_vm_info vms[] = {
        {.host = "h1",
         .runs = true,
         .pid = 4711,
         .accesses = 745,
         .maps = 8,
         .interrupts = 3,
         .merged = 1,
         .log_error = ENOSPC,
         .line = "says \"hello\""},
        {.host = "h2", .failed = true},
        {.host = "h4"},
    };

    (void)l;
    if (i >= ARRAY_LEN(vms))
        return false;
    *ret = vms[i];
    return true;
}

static void virtual_machines_are_in_each_form(void **state)
{
    static const struct live_ops ops = {
        .clock = clock_of,
        .port_at = no_port,
        .program_at = one_program,
        .vm_at = three_machines,
    };
    static const struct {
        enum show_form form;
        const char *want;
    } forms[] = {
        {SHOW_TEXT,
         "clock    follows real time: t=0, late by 1us, at most 2us\n"
         "program  h3 pingpong server: running; sent 1, received 0 of 5\n"
         "guest    h1, a virtual machine, runs as process 4711: 745 accesses to its functions; "
         "said 8 times\n"
         "         where its memory is; got 3 interrupts, 1 more were merged with one that "
         "waited\n"
         "         last line: says \"hello\"\n"
         "         its log ends too early: No space left on device\n"
         "guest    h2, a virtual machine, failed: 0 accesses to its functions; said 0 times "
         "where its memory\n"
         "         is; got 0 interrupts, 0 more were merged with one that waited\n"
         "guest    h4, a virtual machine, has ended: 0 accesses to its functions; said 0 times "
         "where its\n"
         "         memory is; got 0 interrupts, 0 more were merged with one that waited\n"},
        {SHOW_JSON,
         "{\"t\":0,\"lag_ns\":1000,\"lag_max_ns\":2000,\"ports\":[],\"programs\":[{\"host\":\"h3\","
         "\"name\":\"pingpong\",\"role\":\"server\",\"state\":\"running\",\"sent\":1,\"received\":"
         "0,\"iters\":5,\"error\":\"\"}],\"guests\":[{\"host\":\"h1\",\"runs\":true,\"failed\":"
         "false,\"pid\":4711,\"accesses\":745,\"maps\":8,\"interrupts\":3,\"merged\":1,\"line\":"
         "\"says \\\"hello\\\"\",\"log_error\":\"No space left on "
         "device\"},{\"host\":\"h2\",\"runs\":false,\"failed\":true,\"pid\":0,"
         "\"accesses\":0,\"maps\":0,\"interrupts\":0,\"merged\":0,\"line\":\"\",\"log_error\":\"\"}"
         ",{\"host\":\"h4\","
         "\"runs\":false,\"failed\":false,\"pid\":0,\"accesses\":0,\"maps\":0,\"interrupts\":0,"
         "\"merged\":0,\"line\":\"\",\"log_error\":\"\"}]}\n"},
        {SHOW_CSV, "what,name,value\r\n"
                   "clock,t,0\r\nclock,lag_ns,1000\r\nclock,lag_max_ns,2000\r\n"
                   "h3,pingpong,running\r\n"
                   "h1,virtual machine,runs\r\nh1,accesses,745\r\nh1,maps,8\r\n"
                   "h1,interrupts,3\r\nh1,merged,1\r\nh1,log_error,No space left on device\r\n"
                   "h2,virtual machine,failed\r\nh2,accesses,0\r\nh2,maps,0\r\n"
                   "h2,interrupts,0\r\nh2,merged,0\r\n"
                   "h4,virtual machine,has ended\r\nh4,accesses,0\r\nh4,maps,0\r\n"
                   "h4,interrupts,0\r\nh4,merged,0\r\n"},
    };
    const struct rdl_lab_config config = {.seed = 1};
    struct rdl_lab *lab;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct printed p;

        show_live(printed_begin(&p)->out, lab, &ops, NULL, forms[i].form);
        assert_string_equal(printed_text(&p), forms[i].want);
        printed_end(&p);
    }
    rdl_lab_free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(virtual_machines_are_in_each_form)};

    return cmocka_run_group_tests_name("show_live", tests, NULL, NULL);
}
