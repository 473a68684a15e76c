/* SPDX-License-Identifier: MIT */
/* Tests of the ranges and kinds of `show events`. */
#include "testing.h"

#include <cjson/cJSON.h>

#include "cli/printed.h"
#include "cli/show/show_events.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/trace/event.h"

static const struct ev events[] = {
    {.id = ID(1, 1), .at_ns = 0, .kind = EV_kick},
    {.id = ID(2, 1), .at_ns = 10, .kind = EV_tx},
    {.id = ID(2, 2), .at_ns = 10, .kind = EV_timer, .u.timer.host = 1},
    {.id = ID(3, 1), .at_ns = 20, .kind = EV_rx, .u.rx.host = 1},
    {.id = ID(5, 1), .at_ns = 20, .kind = EV_cqe, .u.cqe.status = WCS_WR_FLUSH_ERR},
};
static const struct written all = {.events = events, .n = ARRAY_LEN(events)};

static void ranges_are_read_or_refused(void **state)
{
    static const struct {
        const char *text;
        bool good;
        ev_id from, to;
    } rows[] = {
        {"#3", true, ID(3, 0), ID(3, 0)},
        {"#3.1", true, ID(3, 1), ID(3, 1)},
        {"#3..#9", true, ID(3, 0), ID(9, 0)},
        {"#3.2..#9.7", true, ID(3, 2), ID(9, 7)},
        {"#3..", true, ID(3, 0), 0},
        {"..#9", true, 0, ID(9, 0)},
        {"..", true, 0, 0},
        {"3", true, ID(3, 0), ID(3, 0)},
        {"3.1..9", true, ID(3, 1), ID(9, 0)},
        {"..9.7", true, 0, ID(9, 7)},
        {"x", false, 0, 0},
        {"##3", false, 0, 0},
        {"3.", false, 0, 0},
        {"-3", false, 0, 0},
        {"#", false, 0, 0},
        {"#3.", false, 0, 0},
        {"#3...#4", false, 0, 0},
        {"#3..#9x", false, 0, 0},
        {"#3.9999999", false, 0, 0},
        {"#99999999999999999999", false, 0, 0},
        {"", false, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct event_filter f = event_filter_all();

        assert_int_equal(event_filter_range(&f, rows[i].text), rows[i].good);
        assert_int_equal(f.from, rows[i].from);
        assert_int_equal(f.to, rows[i].to);
    }
}

static size_t lines_of(const struct event_filter *f)
{
    const struct past past = past_of_written(&all, NULL);
    struct printed p;
    size_t n = 0;

    show_events(printed_begin(&p)->out, &past, f, false, false);
    for (const char *s = printed_text(&p); *s; s++)
        n += *s == '#' && (s == p.text || s[-1] == ' ');
    printed_end(&p);
    return n;
}

static void each_filter_lets_its_events_through(void **state)
{
    static const struct {
        const char *range, *kinds;
        size_t last;
        uint32_t host;
        size_t want;
    } rows[] = {
        {NULL, NULL, 0, EV_HOST_NONE, 5},      {"#2", NULL, 0, EV_HOST_NONE, 2},
        {"#2.2", NULL, 0, EV_HOST_NONE, 1},    {"#2..#3", NULL, 0, EV_HOST_NONE, 3},
        {"..#2", NULL, 0, EV_HOST_NONE, 3},    {"#4..", NULL, 0, EV_HOST_NONE, 1},
        {NULL, "tx,rx", 0, EV_HOST_NONE, 2},   {NULL, NULL, 2, EV_HOST_NONE, 2},
        {NULL, "tx,kick", 1, EV_HOST_NONE, 1}, {NULL, NULL, 0, 1, 2},
        {"#7", NULL, 0, EV_HOST_NONE, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct event_filter f = event_filter_all();
        size_t at;

        if (rows[i].range)
            assert_true(event_filter_range(&f, rows[i].range));
        if (rows[i].kinds)
            assert_true(event_filter_kinds(&f, rows[i].kinds, &at));
        f.last = rows[i].last;
        f.host = rows[i].host;
        assert_int_equal(lines_of(&f), rows[i].want);
    }
}

static void an_unknown_kind_is_pointed_at(void **state)
{
    struct event_filter f = event_filter_all();
    size_t at = 99;

    (void)state;
    assert_false(event_filter_kinds(&f, "tx,packets", &at));
    assert_int_equal(at, 3);
    assert_true(ev_set_has(&f.kinds, EV_rx)); /* unchanged */
}

static void json_is_one_array(void **state)
{
    const struct past past = past_of_written(&all, NULL);
    const struct event_filter f = event_filter_all();
    struct printed p;
    cJSON *j;

    (void)state;
    show_events(printed_begin(&p)->out, &past, &f, true, false);
    j = cJSON_Parse(printed_text(&p));
    assert_int_equal(cJSON_GetArraySize(j), 5);
    cJSON_Delete(j);
    printed_end(&p);
}

static void colour_only_when_asked_for(void **state)
{
    const struct past past = past_of_written(&all, NULL);
    const struct event_filter f = event_filter_all();

    (void)state;
    for (unsigned colour = 0; colour < 2; colour++) {
        struct printed p;

        show_events(printed_begin(&p)->out, &past, &f, false, colour);
        assert_int_equal(strchr(printed_text(&p), '\033') != NULL, colour);
        printed_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_read_or_refused),
        cmocka_unit_test(each_filter_lets_its_events_through),
        cmocka_unit_test(an_unknown_kind_is_pointed_at),
        cmocka_unit_test(json_is_one_array),
        cmocka_unit_test(colour_only_when_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
