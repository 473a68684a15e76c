/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "traces.h"
#include "viz/cells.h"
#include "viz/ladder_model.h"

static struct collected picture(const char *name, const struct picture_options *options)
{
    struct ladder *l = trace_ladder(name, options);
    struct collected c;
    const struct viz_sink sink = collect(&c);

    assert_int_equal(ladder_text(l, &sink), RDL_OK);
    ladder_free(l);
    return c;
}

static void a_lost_request_reads_from_top_to_bottom(void **state)
{
    const struct picture_options options = {.title = "a lost request", .width = 80};
    const struct collected c = picture("lost_request", &options);

    (void)state;
    assert_golden("a_lost_request", c.s);
    free(c.s);
}

/* One arrow that comes from before the picture and is lost in it, one that goes on behind it, and a
 * timer that was armed before.
 */
static void arrows_that_are_cut_say_where_they_come_from_and_go_to(void **state)
{
    struct picture_options options = {.width = 60, .ascii = true};
    struct trace_of *t = calloc(1, sizeof(*t));
    struct ladder *l;
    struct collected c;
    struct viz_sink sink = collect(&c);
    struct text missing;
    size_t i = 0;

    (void)state;
    assert_non_null(t);
    trace_build(t, "lost_request");
    while (t->e[i].kind != EV_lost)
        i++;
    options.from = t->e[i].id;
    while (t->e[i].kind != EV_tx)
        i++;
    options.to = t->e[i].id;
    l = trace_draw(t, 0, &options);
    missing = text_on(l->missing, sizeof(l->missing));
    text_add(&missing,
             "recording was off at times from #3 to #4; this sentence needs more than a row");
    assert_int_equal(ladder_text(l, &sink), RDL_OK);
    assert_golden("arrows_that_are_cut", c.s);
    free(c.s);
    ladder_free(l);
    free(t);
}

static void an_injected_packet_has_a_line_of_its_own(void **state)
{
    struct picture_options options = {.width = 100};
    struct collected c = picture("injected", &options);

    (void)state;
    assert_golden("injected", c.s);
    free(c.s);
    options.ascii = true;
    c = picture("injected", &options);
    assert_golden("injected_ascii", c.s);
    free(c.s);
}

/* Returns the number of lines of @s that begin with @word; *@ret_below is the number of those below
 * the last one.
 */
static unsigned lines_with(const char *s, const char *word, unsigned *ret_below)
{
    unsigned n = 0;

    for (*ret_below = 0; *s; s = strchr(s, '\n') + 1, ++*ret_below) {
        if (strncmp(s + strspn(s, " "), word, strlen(word)) == 0) {
            n++;
            *ret_below = 0;
        }
    }
    return n;
}

static void the_names_of_the_hosts_come_again_after_fifty_rows(void **state)
{
    struct collected c = picture("sixty_packets", NULL);
    unsigned below;

    (void)state;
    assert_int_equal(lines_with(c.s, "t/us", &below), 2);
    assert_in_range(below, 1, 50);
    free(c.s);
    c = picture("lost_request", NULL);
    assert_int_equal(lines_with(c.s, "t/us", &below), 1);
    free(c.s);
}

static void nothing_to_draw_is_said(void **state)
{
    const struct picture_options options = {.title = "empty", .from = ev_id_of(99, 1)};
    const struct collected c = picture("first_send", &options);

    (void)state;
    assert_golden("nothing_to_draw", c.s);
    free(c.s);
}

static void check_lines(const char *name, const char *s, uint32_t width)
{
    while (*s) {
        const char *end = strchr(s, '\n');
        char line[4 * LADDER_WIDTH_MAX + 1];
        const size_t n = (size_t)(end - s);

        assert_non_null(end);
        assert_true(n < sizeof(line));
        memcpy(line, s, n);
        line[n] = '\0';
        if (cells_of(line) > width)
            fail_msg("%s at %u: %s", name, width, line);
        assert_true(n == 0 || line[n - 1] != ' ');
        s = end + 1;
    }
}

static void no_line_is_wider_than_the_terminal(void **state)
{
    static const uint32_t widths[] = {60, 72, 80, 100, 120, 200};

    (void)state;
    for (size_t i = 0; i < n_trace_cases; i++) {
        for (size_t k = 0; k < ARRAY_LEN(widths); k++) {
            const struct picture_options options = {.width = widths[k]};
            const struct collected c = picture(trace_cases[i].name, &options);

            check_lines(trace_cases[i].name, c.s, widths[k]);
            free(c.s);
        }
    }
}

static void ascii_means_ascii_and_no_colours(void **state)
{
    const struct picture_options options = {.ascii = true};

    (void)state;
    for (size_t i = 0; i < n_trace_cases; i++) {
        const struct collected c = picture(trace_cases[i].name, &options);

        for (size_t k = 0; k < c.n; k++)
            assert_true(c.s[k] == '\n' || (c.s[k] >= ' ' && c.s[k] <= '~'));
        free(c.s);
    }
}

static void colours_change_nothing_else(void **state)
{
    const struct picture_options plain = {.width = 100};
    const struct picture_options coloured = {.width = 100, .colour = true};
    const struct collected a = picture("lost_middle", &plain);
    const struct collected b = picture("lost_middle", &coloured);
    const char *p = a.s;

    (void)state;
    assert_non_null(strchr(b.s, '\033'));
    for (const char *q = b.s; *q; q++) {
        if (*q == '\033')
            q = strchr(q, 'm');
        else
            assert_int_equal(*p++, *q);
    }
    assert_int_equal(*p, '\0');
    free(a.s);
    free(b.s);
}

/* On a wide terminal notes stand outside, between the times and the first lifeline. */
static void wide_terminals_have_the_notes_outside(void **state)
{
    const struct picture_options options = {.width = 140};
    const struct collected c = picture("first_send", &options);

    (void)state;
    assert_non_null(strstr(c.s, "post SEND wr_id=1, 64 bytes, kick  ○  "));
    assert_non_null(strstr(c.s, "●  CQE wr_id=7 SUCCESS RECV 64 bytes\n"));
    free(c.s);
}

static void what_is_left_out_is_said(void **state)
{
    const struct picture_options options = {.n_packets = 10};
    const struct collected c = picture("thirty_packets", &options);

    (void)state;
    assert_non_null(strstr(c.s, "\n... 24 more packets, from #"));
    free(c.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_request_reads_from_top_to_bottom),
        cmocka_unit_test(arrows_that_are_cut_say_where_they_come_from_and_go_to),
        cmocka_unit_test(an_injected_packet_has_a_line_of_its_own),
        cmocka_unit_test(the_names_of_the_hosts_come_again_after_fifty_rows),
        cmocka_unit_test(nothing_to_draw_is_said),
        cmocka_unit_test(no_line_is_wider_than_the_terminal),
        cmocka_unit_test(ascii_means_ascii_and_no_colours),
        cmocka_unit_test(colours_change_nothing_else),
        cmocka_unit_test(wide_terminals_have_the_notes_outside),
        cmocka_unit_test(what_is_left_out_is_said),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
