/* SPDX-License-Identifier: MIT */
/* Tests of the page of a timeline: its structure, and that texts of strangers do no harm. */
#include "testing.h"

#include <cjson/cJSON.h>

#include "cli/export/export.h"
#include "cli/lab_session.h"
#include "cli/printed.h"
#include "cli/timeline/timeline.h"
#include "emu/facts/enum/cm_call.h"
#include "emu/trace/event.h"
#include "tree/lab_past.h"

#define JSON_BEGIN "id=\"data\">"
#define JSON_END   "</script>"

/* Returns the JSON of a page as a string of its own. */
static char *json_text(const char *page)
{
    const char *begin = strstr(page, JSON_BEGIN), *end;
    char *text;

    assert_non_null(begin);
    begin += strlen(JSON_BEGIN);
    end = strstr(begin, JSON_END);
    assert_non_null(end);
    text = strndup(begin, (size_t)(end - begin));
    assert_non_null(text);
    return text;
}

static cJSON *json_of(const char *page)
{
    char *text = json_text(page);
    cJSON *json = cJSON_Parse(text);

    assert_non_null(json);
    free(text);
    return json;
}

static const cJSON *item(const cJSON *json, const char *name, int i)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItem(json, name), i);
}

static const char *text_at(const cJSON *array, int i)
{
    return cJSON_GetArrayItem(array, i)->valuestring;
}

static int number_at(const cJSON *array, int i)
{
    return cJSON_GetArrayItem(array, i)->valueint;
}

/* Writes the page of @l. */
static void write_page(struct printed *p, const struct lab *l,
                       const struct timeline_options *options)
{
    const struct past past = past_of_lab(l->s->lab);

    assert_int_equal(timeline_write(printed_begin(p)->out, &past, options), RDL_OK);
    fflush(p->out);
}

static void write_story(struct printed *p, const struct timeline_options *options)
{
    struct lab l;

    lab_open(&l, false);
    assert_true(lab_try(&l, STORY));
    write_page(p, &l, options);
    lab_close(&l);
}

static void the_page_has_what_the_ladder_has(void **state)
{
    const struct timeline_options options = {.title = "a story"};
    struct printed p;
    cJSON *json;
    const cJSON *arrow;

    (void)state;
    write_story(&p, &options);
    assert_memory_equal(p.text, TIMELINE_MARK, strlen(TIMELINE_MARK));
    assert_prints(&p, "<title>a story</title>");
    json = json_of(p.text);
    assert_string_equal(cJSON_GetObjectItem(json, "title")->valuestring, "a story");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "columns")), 2);
    assert_string_equal(text_at(item(json, "columns", 0), 0), "h1");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "arrows")), 3);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "frames")), 3);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "timers")), 1);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "notices")), 0);
    arrow = item(json, "arrows", 0);
    assert_string_equal(text_at(arrow, 7), "SEND_ONLY psn=100 ackreq");
    assert_string_equal(text_at(arrow, 8), "lost: f1");
    assert_non_null(strstr(text_at(arrow, 12), "was lost in #"));
    assert_non_null(strstr(text_at(item(json, "arrows", 1), 7), "2nd"));
    cJSON_Delete(json);
    printed_end(&p);
}

/* Following causes from the last event leads to the post of the send, over the second transmission,
 * the timeout and the first one.
 */
static void causes_lead_back_to_the_post(void **state)
{
    static const char *const kinds[] = {"cqe",     "rx", "tx",    "rx",   "tx",
                                        "timeout", "tx", "fetch", "kick", "post_send"};
    struct printed p;
    cJSON *json;
    int at;

    (void)state;
    write_story(&p, &(struct timeline_options){.title = NULL});
    json = json_of(p.text);
    at = cJSON_GetArraySize(cJSON_GetObjectItem(json, "events")) - 1;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const cJSON *e = item(json, "events", at);
        const int kind = number_at(e, 3), back = number_at(e, 5);

        assert_string_equal(text_at(cJSON_GetObjectItem(json, "kinds"), kind), kinds[i]);
        assert_true(i + 1 < ARRAY_LEN(kinds) ? back > 0 : back == 0);
        at -= back;
    }
    cJSON_Delete(json);
    printed_end(&p);
}

static void the_same_lab_gives_the_same_bytes(void **state)
{
    const struct timeline_options options = {.title = "twice"};
    struct printed a, b;

    (void)state;
    write_story(&a, &options);
    write_story(&b, &options);
    assert_int_equal(a.bytes, b.bytes);
    assert_memory_equal(a.text, b.text, a.bytes);
    printed_end(&a);
    printed_end(&b);
}

/* Several changes of a state are one stop.  It is that of the last one, as in a ladder. */
static void a_stop_of_several_states_is_the_last(void **state)
{
    struct printed p;
    cJSON *json;
    const cJSON *stop;
    const char *last;

    (void)state;
    write_story(&p, &(struct timeline_options){.title = NULL});
    json = json_of(p.text);
    stop = item(json, "stops", 0);
    assert_string_equal(text_at(stop, 3), "RESET -> INIT -> RTR -> RTS");
    last = text_at(item(json, "events", number_at(stop, 0)), 4);
    assert_non_null(strstr(last, "RTR -> RTS"));
    cJSON_Delete(json);
    printed_end(&p);
}

static cJSON *json_of_past(const struct past *past)
{
    struct printed p;
    cJSON *json;

    assert_int_equal(
        timeline_write(printed_begin(&p)->out, past, &(struct timeline_options){.title = NULL}),
        RDL_OK);
    json = json_of(printed_text(&p));
    printed_end(&p);
    return json;
}

static struct past_call connect_at(const void *ctx, size_t i)
{
    (void)ctx;
    (void)i;
    return (struct past_call){
        .id = ID(2, 0), .at_ns = 1500, .call = CM_CALL_rdma_connect, .cm_id = 1};
}

/* A call has a time of its own, and the event behind it.  Without events it has no place. */
static void a_call_has_the_time_when_it_was_made(void **state)
{
    struct ev events[] = {
        {.id = ID(1, 1), .kind = EV_host_up, .u.host_up = {.host = 0, .name = {"h1"}}},
        {.id = ID(2, 1),
         .at_ns = 2000,
         .kind = EV_qp_state,
         .u.qp_state = {.host = 0, .qpn = 2, .to = 1}},
    };
    const struct written all = {events, ARRAY_LEN(events), 0, NULL, 0};
    struct ev_names *names = ev_names_new();
    struct past past = past_of_written(&all, names);
    cJSON *json;

    (void)state;
    past.n_calls = 1;
    past.call = connect_at;
    json = json_of_past(&past);
    assert_int_equal(number_at(item(json, "stops", 0), 6), 1500);
    assert_int_equal(number_at(item(json, "stops", 1), 0), 0); /* the same event */
    cJSON_Delete(json);
    past.n = 0;
    json = json_of_past(&past);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "stops")), 0);
    cJSON_Delete(json);
    ev_names_free(names);
}

/* A past with a host of a hostile name, and a queue pair that changes its state. */
static void write_named(struct printed *p, const char *name, const char *title)
{
    struct ev events[] = {
        {.id = ID(1, 1), .kind = EV_host_up, .u.host_up = {.host = 0}},
        {.id = ID(2, 1), .kind = EV_qp_state, .u.qp_state = {.host = 0, .qpn = 2, .to = 1}},
    };
    const struct written all = {events, ARRAY_LEN(events), 0, NULL, 0};
    struct ev_names *names = ev_names_new();
    struct past past;

    events[0].u.host_up.name = ev_str(name);
    past = past_of_written(&all, names);
    assert_int_equal(
        timeline_write(printed_begin(p)->out, &past, &(struct timeline_options){.title = title}),
        RDL_OK);
    fflush(p->out);
    ev_names_free(names);
}

static void texts_of_strangers_are_text(void **state)
{
    static const char *const hostile[] = {
        "</script><b>",     "<!--<script>",  "]]>\"'&amp;",        "\\\"\\",
        "\x1b[31m\x01\r\n", "\xff\xfe<\x80", "${x}`{data}{script}"};
    struct printed plain;

    (void)state;
    write_named(&plain, "plain", "plain");
    for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
        struct printed p;
        char *text;
        cJSON *json;

        write_named(&p, hostile[i], hostile[i]);
        text = json_text(p.text);
        assert_null(strpbrk(text, "<>&"));
        json = cJSON_Parse(text);
        assert_non_null(json);
        assert_non_null(strstr(text_at(item(json, "events", 0), 4), ".qpn2 "));
        if (hostile[i][0] == '<') {
            assert_string_equal(cJSON_GetObjectItem(json, "title")->valuestring, hostile[i]);
            assert_string_equal(text_at(item(json, "columns", 0), 0), hostile[i]);
        }
        assert_int_equal(count_in(p.text, "<script"), count_in(plain.text, "<script"));
        assert_int_equal(count_in(p.text, "</script"), count_in(plain.text, "</script"));
        assert_int_equal(count_in(p.text, "<b>"), 0);
        cJSON_Delete(json);
        free(text);
        printed_end(&p);
    }
    printed_end(&plain);
}

/* The page is one file: it names no other, and its policy allows none. */
static void the_page_needs_nothing_else(void **state)
{
    static const char *const never[] = {"src=",    "@import",   "url(",  "fetch(", "XMLHttpRequest",
                                        "import(", "innerHTML", "eval(", "<link",  "https://"};
    struct printed p;

    (void)state;
    write_story(&p, &(struct timeline_options){.title = NULL});
    for (size_t i = 0; i < ARRAY_LEN(never); i++) {
        if (strstr(p.text, never[i]))
            fail_msg("the page has %s", never[i]);
    }
    assert_int_equal(count_in(p.text, "http://"), count_in(p.text, "http://www.w3.org/2000/svg"));
    assert_prints(&p, "default-src 'none'; style-src 'sha256-");
    printed_end(&p);
}

/* Asserts that the page says @part among what it leaves out. */
static void assert_notice(struct printed *p, const char *part)
{
    cJSON *json = json_of(printed_text(p));
    const cJSON *notices = cJSON_GetObjectItem(json, "notices");
    bool found = false;

    for (int i = 0; i < cJSON_GetArraySize(notices); i++)
        found = found || strstr(text_at(notices, i), part);
    if (!found)
        fail_msg("no notice says \"%s\"", part);
    cJSON_Delete(json);
    printed_end(p);
}

static const uint8_t *no_frame(const void *ctx, ev_id tx, size_t *ret_bytes)
{
    (void)ctx;
    (void)tx;
    (void)ret_bytes;
    return NULL;
}

static void what_is_missing_is_said(void **state)
{
    const struct timeline_options one = {.n_packets = 1};
    struct printed p;
    struct past past;
    struct lab l;
    cJSON *json;

    (void)state;
    write_story(&p, &one);
    assert_notice(&p, "2 more packets, from #");
    lab_open(&l, false);
    assert_true(lab_try(&l, "record keep=64k frames=200\n" STORY));
    write_page(&p, &l, &(struct timeline_options){.title = NULL});
    assert_notice(&p, "the bytes of ");
    past = past_of_lab(l.s->lab);
    past.without_frames = true;
    past.frame = no_frame;
    assert_int_equal(timeline_write(printed_begin(&p)->out, &past,
                                    &(struct timeline_options){.no_bytes = "a reason"}),
                     RDL_OK);
    assert_notice(&p, "3 packets have no bytes here: a reason");
    past.forgotten = 5;
    assert_int_equal(
        timeline_write(printed_begin(&p)->out, &past, &(struct timeline_options){.title = NULL}),
        RDL_OK);
    assert_notice(&p, "the 5 oldest events are forgotten");
    lab_close(&l);
    lab_open(&l, false);
    assert_true(
        lab_try(&l, STORY "post_recv h2.qp sge=mr[0:1k]; post_send h1.qp sge=mr[0:300]; run\n"));
    write_page(&p, &l, &(struct timeline_options){.title = NULL});
    json = json_of(printed_text(&p));
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "kept")),
                        "Only the first 256 bytes of a payload are kept.");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "notices")), 0);
    cJSON_Delete(json);
    printed_end(&p);
    lab_close(&l);
}

/* 1,000 packets, half of them with 1,000 bytes that nobody can foretell. */
static void a_thousand_packets_stay_under_a_megabyte(void **state)
{
    struct printed p;
    struct lab l;
    cJSON *json;

    (void)state;
    lab_open(&l, false);
    assert_true(lab_try(
        &l,
        "host h1 h2; link h1 h2 latency=1us\n"
        "on h1,h2 { alloc_pd as pd; reg_mr pd len=1m access=lw as mr; create_cq cqe=2000 as cq\n"
        "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
        "connect h1.qp h2.qp\n"
        "foreach n in 0..499 { post_recv h2.qp sge=mr[0:1k]; write h1.mr[0:1000] pattern=$n\n"
        "  post_send h1.qp sge=mr[0:1000] signaled; run }\n"));
    write_page(&p, &l, &(struct timeline_options){.title = NULL});
    json = json_of(p.text);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "arrows")), 1000);
    assert_in_range(p.bytes, 300000, 1000000);
    cJSON_Delete(json);
    printed_end(&p);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_has_what_the_ladder_has),
        cmocka_unit_test(causes_lead_back_to_the_post),
        cmocka_unit_test(the_same_lab_gives_the_same_bytes),
        cmocka_unit_test(a_stop_of_several_states_is_the_last),
        cmocka_unit_test(a_call_has_the_time_when_it_was_made),
        cmocka_unit_test(texts_of_strangers_are_text),
        cmocka_unit_test(the_page_needs_nothing_else),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(a_thousand_packets_stay_under_a_megabyte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
