/* SPDX-License-Identifier: MIT */
/* Tests of `show live` with a simulated outside world: its texts about virtual machines, in each
 * form.
 */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "cli/printed.h"
#include "cli/show/show_live.h"
#include "golden.h"

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
         .transport = LIVE_VM_PROXY,
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
        const char *name;
    } forms[] = {{SHOW_TEXT, "text"}, {SHOW_JSON, "json"}, {SHOW_CSV, "csv"}};
    const struct rdl_lab_config config = {.seed = 1};
    struct rdl_lab *lab;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct printed p;

        show_live(printed_begin(&p)->out, lab, &ops, NULL, forms[i].form);
        assert_golden(forms[i].name, printed_text(&p));
        printed_end(&p);
    }
    rdl_lab_free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(virtual_machines_are_in_each_form),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests_name("show_live", tests, NULL, NULL);
}
