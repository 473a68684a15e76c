/* SPDX-License-Identifier: MIT */
/* Tests of `print` and `display`: values and expressions that people ask for as in gdb. */
#include "cli/lab_session.h"

#include "emu/base/assert.h"

static void an_expression_is_printed_with_its_value(void **state)
{
    (void)state;
    assert_line_prints(STORY, "print h1.qp.qpn", "h1.qp.qpn = 2\n");
    assert_line_prints(STORY, "print h1.qp.dest_qpn hex", "h1.qp.dest_qpn = 0x3\n");
    assert_line_prints(STORY, "print h1.qp.state == RTS", "h1.qp.state == RTS: yes\n");
    assert_line_prints(STORY, "print h1.cq.count > 5", "h1.cq.count > 5: no, it is 1\n");
    assert_line_prints(STORY, "print count(lost)", "count(lost): yes, it is 1\n");
    assert_line_refused(STORY, "print h1.qp", "h1.qp is no value");
    assert_line_refused(STORY, "print h1.xyzzy", "");
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

static void a_displayed_value_is_printed_behind_each_command(void **state)
{
    static const char lines[] = "display h1.qp.state\n"
                                "run 1us\n"
                                "modify_qp h1.qp state=ERR\n"
                                "display h1.qp.state off\n"
                                "run 1us\n";
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, STORY);
    lab_run(&l, lines);
    fflush(l.f);
    assert_int_equal(times(l.out, "  h1.qp.state = RTS\n"), 2);
    assert_int_equal(times(l.out, "  h1.qp.state = ERR\n"), 1);
    lab_run(&l, "display h1.cq.count; display h2.cq.count; display off; run 1us");
    fflush(l.f);
    assert_int_equal(times(l.out, "  h2.cq.count = "), 1);
    assert_int_equal(l.s->display.displays.n, 0);
    assert_false(lab_try(&l, "display h1.cq.count off"));
    assert_false(lab_try(&l, "display h1.xyzzy"));
    assert_false(lab_try(&l, "display h1.qp"));
    lab_close(&l);
}

static void displays_have_a_bound(void **state)
{
    struct displays d = {.n = 0};

    (void)state;
    for (unsigned i = 0; i < DISPLAYS_MAX; i++) {
        char path[16];

        snprintf(path, sizeof(path), "h%u", i);
        assert_true(displays_add(&d, path));
        assert_true(displays_add(&d, path)); /* it is there */
    }
    assert_int_equal(d.n, DISPLAYS_MAX);
    assert_false(displays_add(&d, "one more"));
    assert_true(displays_remove(&d, "h3"));
    assert_false(displays_remove(&d, "h3"));
    assert_string_equal(d.path[3], "h4");
    assert_true(displays_remove(&d, NULL));
    assert_int_equal(d.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_expression_is_printed_with_its_value),
        cmocka_unit_test(a_displayed_value_is_printed_behind_each_command),
        cmocka_unit_test(displays_have_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
