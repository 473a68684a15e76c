/* SPDX-License-Identifier: MIT */
/* Tests of files that are no traces: each is refused with its line. */
#include "testing.h"

#include <string.h>

#include "cli/printed.h"
#include "cli/trace_file/trace_text.h"
#include "emu/trace/event.h"
#include "rdmalab/lab.h"

/* A text that is not a trace. */
struct refused {
    const char *text;
    size_t line;
    const char *says;
};

static void refuses(const struct refused *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct trace_file_error err;
        struct trace_file *s;

        if (read_bytes(rows[i].text, strlen(rows[i].text), &s, &err) != RDL_ERR_INVAL)
            fail_msg("taken: %s", rows[i].text);
        assert_null(s);
        assert_int_equal(err.line, rows[i].line);
        if (!strstr(err.text, rows[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
    }
}

static void what_is_no_trace_is_refused(void **state)
{
    static const struct refused rows[] = {
        {"", 0, "no whole line"},
        {HEADER, 0, "no whole line"},
        {"hello\n", 1, "not JSON"},
        {"[]\n", 1, "not a JSON object"},
        {"\xff\n", 1, "not UTF-8"},
        {GOOD "{} {}\n", 2, "not JSON"},
        {GOOD "{}\n", 2, "at_ns"},
        {GOOD GOOD, 2, "#1.1 is not later than the event before it"},
        {GOOD "{\"at_ns\":5,\"id\":\"#0.9\",\"ev\":\"a\"}\n", 2, "not later"},
        {GOOD "{\"at_ns\":5,\"id\":\"#9.9\",\"ev\":\"a\"}\n"
              "{\"at_ns\":5,\"id\":\"#9.8\",\"ev\":\"a\"}\n",
         3, "not later"},
        {GOOD "\n{\"at_ns\":4,\"id\":\"#2.1\"}\n", 3, "not later"},
        {GOOD HEADER "}\n", 2, "a file holds one trace"},
        {"{\"at_ns\":5,\"id\":\"#1\",\"ev\":\"kick\"}\n", 1, "id"},
        {"{\"at_ns\":5,\"id\":\"#1.1\",\"cause\":1,\"ev\":\"kick\"}\n", 1, "cause"},
        {"{\"at_ns\":5,\"id\":\"#1.1\"}\n", 1, "the kind of event, is missing"},
        {"{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"cq_event\",\"host\":1}\n", 1,
         "\"host\" is no host"},
        {"{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"host_up\",\"host\":\"h\",\"name\":1}\n", 1,
         "\"name\" must be a string"},
        {"{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"cq_event\",\"host\":\"h1\",\"cqn\":-1}\n", 1,
         "cqn"},
        {"{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"cq_event\",\"host\":\"h1\",\"cqn\":1.5}\n", 1,
         "cqn"},
        {"{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"cq_event\",\"host\":\"h1\",\"cqn\":4294967296}\n",
         1, "cqn"},
        {"{\"at_ns\":1e300,\"id\":\"#1.1\",\"ev\":\"cq_event\",\"host\":\"h1\",\"cqn\":1}\n", 1,
         "at_ns"},
    };

    (void)state;
    refuses(rows, ARRAY_LEN(rows));
}

static void what_is_no_header_is_refused(void **state)
{
    static const struct refused rows[] = {
        {"{\"format\":\"pcap\"}\n", 1, "the header's format is not \"rdmalab-trace\""},
        {"{\"format\":\"rdmalab-trace\"}\n", 1, "\"version\" in the header is missing"},
        {"{\"format\":\"rdmalab-trace\",\"version\":2,\"rdmalab\":\"9.1\"}\n", 1,
         "format version 2, and this rdmalab reads version 1; read it with the rdmalab that wrote "
         "it, 9.1"},
        {HEADER ",\"rdmalab\":1}\n", 1, "\"rdmalab\" in the header is no string"},
        {HEADER ",\"seed\":-1}\n", 1, "\"seed\" in the header is no number"},
        {HEADER ",\"gap\":4}\n", 1, "\"gap\" in the header is no object"},
        {HEADER ",\"gap\":{\"from\":5,\"to\":4}}\n", 1, "\"gap\" in the header needs ticks"},
        {HEADER ",\"gap\":{\"to\":4}}\n", 1, "\"gap\" in the header needs ticks"},
        {HEADER ",\"hosts\":4}\n", 1, "\"hosts\" in the header is no list"},
        {HEADER ",\"hosts\":[4]}\n", 1, "a host in the header needs a \"number\" from 0 to 4095"},
        {HEADER ",\"hosts\":[{\"number\":4000000000,\"name\":\"h\"}]}\n", 1, "from 0 to 4095"},
        {HEADER ",\"hosts\":[{\"number\":4,\"name\":\"h\"},{\"number\":5,\"name\":\"h\"}]}\n", 1,
         "two hosts in the header are called h"},
        {HEADER ",\"hosts\":[{\"number\":4,\"name\":\"h\"},{\"number\":4,\"name\":\"i\"}]}\n", 1,
         "two hosts in the header have number 4"},
        {HEADER ",\"hosts\":[{\"number\":4}]}\n", 1, "host 4 in the header has no name"},
        {HEADER ",\"hosts\":[{\"number\":4,\"name\":\"h\",\"mac\":\"x\"}]}\n", 1, "is no MAC"},
        {HEADER ",\"ports\":[{\"number\":4,\"name\":\"p\"}]}\n", 1,
         "a port in the header needs a \"number\" from 4096 to 4159"},
        {HEADER ",\"objects\":[{\"host\":\"h1\"}]}\n", 1, "\"host\" in the header is no number"},
        {HEADER ",\"calls\":1}\n", 1, "\"calls\" in the header is no list"},
        {HEADER ",\"calls\":[{}]}\n", 1, "a call in the header needs a tick"},
        {HEADER ",\"calls\":[{\"before\":\"#7.1\"}]}\n", 1, "a call in the header needs a tick"},
        {HEADER ",\"calls\":[{\"before\":\"#7\",\"host\":1}]}\n", 1, "\"host\" and \"cm_id\""},
        {HEADER ",\"events\":-1}\n", 1, "\"events\" in the header is no number"},
        {HEADER ",\"objects\":[{\"host\":1,\"number\":1}]}\n", 1, "an object in the header needs"},
        {HEADER ",\"objects\":[{\"host\":1,\"number\":4294967296,\"name\":\"q\"}]}\n", 1,
         "an object in the header needs"},
    };

    (void)state;
    refuses(rows, ARRAY_LEN(rows));
}

static void a_nul_byte_is_refused(void **state)
{
    static const char text[] = GOOD "{\"at_ns\":6\0}\n";
    struct trace_file_error err;
    struct trace_file *s;

    (void)state;
    assert_int_equal(read_bytes(text, sizeof(text) - 1, &s, &err), RDL_ERR_INVAL);
    assert_int_equal(err.line, 2);
    assert_non_null(strstr(err.text, "a NUL byte"));
}

static void deep_nesting_is_refused(void **state)
{
    char text[4000];
    struct trace_file_error err;
    struct trace_file *s;

    (void)state;
    memset(text, '[', sizeof(text));
    text[sizeof(text) - 1] = '\n';
    assert_int_equal(read_bytes(text, sizeof(text), &s, &err), RDL_ERR_INVAL);
    assert_non_null(strstr(err.text, "nested too deeply"));
}

static void a_line_without_end_is_refused(void **state)
{
    static char text[sizeof(GOOD) + 10000];
    struct trace_file_error err;
    struct trace_file *s;

    (void)state;
    memset(text, ' ', sizeof(text));
    memcpy(text, GOOD, sizeof(GOOD) - 1);
    assert_int_equal(read_bytes(text, sizeof(text), &s, &err), RDL_ERR_LIMIT);
    assert_int_equal(err.line, 2);
    assert_non_null(strstr(err.text, "longer than any event"));
}

static void more_hosts_than_a_lab_can_have_are_refused(void **state)
{
    struct printed out;
    struct trace_file_error err;
    struct trace_file *s;
    const char *text;

    (void)state;
    printed_begin(&out);
    for (unsigned i = 1; i <= 5000; i++)
        fprintf(out.out, "{\"at_ns\":1,\"id\":\"#%u.1\",\"ev\":\"kick\",\"host\":\"a%u\"}\n", i, i);
    text = printed_text(&out);
    assert_int_equal(read_bytes(text, out.bytes, &s, &err), RDL_ERR_INVAL);
    assert_int_equal(err.line, EV_PORT_FIRST + 1);
    assert_non_null(strstr(err.text, "more hosts than a lab can have"));
    printed_end(&out);
}

static void a_message_that_is_no_text_is_refused(void **state)
{
    static const char event[] =
        HEADER "}\n{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"tx\",\"host\":\"h1\",";
    struct trace_file_error err;
    struct trace_file *s;
    char text[512];
    struct past p;
    int n = snprintf(text, sizeof(text), "%s\"lnet\":7}\n", event);

    (void)state;
    assert_int_equal(read_bytes(text, (size_t)n, &s, &err), RDL_ERR_INVAL);
    assert_int_equal(err.line, 2);
    n = snprintf(text, sizeof(text), "%s\"lnet\":\"a\\u001bb\"}\n", event);
    assert_int_equal(read_bytes(text, (size_t)n, &s, &err), RDL_OK);
    p = trace_file_past(s);
    assert_string_equal(p.lnet(p.ctx, ev_id_of(1, 1)), "a?b");
    assert_null(p.lnet(p.ctx, ev_id_of(1, 2)));
    trace_file_free(s);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_trace_is_refused),
        cmocka_unit_test(what_is_no_header_is_refused),
        cmocka_unit_test(a_nul_byte_is_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(a_line_without_end_is_refused),
        cmocka_unit_test(more_hosts_than_a_lab_can_have_are_refused),
        cmocka_unit_test(a_message_that_is_no_text_is_refused),
    };

    return cmocka_run_group_tests_name("trace_file_refused", tests, NULL, NULL);
}
