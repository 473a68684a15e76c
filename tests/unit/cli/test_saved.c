/* SPDX-License-Identifier: MIT */
/* A saved trace reads back as it was, whatever the event; what is no trace is refused by line. */
#include "testing.h"

#include "cli/export.h"
#include "cli/saved.h"
#include "printed.h"

static const struct ev host = {
    .id = (ev_id)1 << EV_ROW_BITS | 1,
    .kind = EV_host_up,
    .u.host_up = {.host = 0, .name = {"h1"}, .mac = 0x020000000001, .addr = {"10.0.0.1"}},
};

/* Every field of @kind set, numbers to as many bits as they have. */
static struct ev filled(enum ev_kind kind, uint64_t number)
{
    struct ev e = {.at_ns = (uint64_t)1 << 60, .kind = kind};
    const struct ev_schema *schema = ev_schema(kind);

    e.id = ev_id_of(7, 3);
    e.cause = ev_id_of(6, 2);
    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct ev_field *f = &schema->fields[i];
        struct ev_str str = ev_str("a \"name\" \\");

        if (f->print == EVP_STR)
            memcpy((char *)&e + f->offset, &str, sizeof(str));
        else if (f->print == EVP_ENUM)
            ev_field_set(&e, f, (*f->words)->rows[(*f->words)->n_rows - 1].value);
        else if (f->print == EVP_HOST)
            ev_field_set(&e, f, number ? 0 : EV_HOST_NONE);
        else if (f->print == EVP_FLAG)
            ev_field_set(&e, f, number ? 1 : 0);
        else if (f->print == EVP_MAC)
            ev_field_set(&e, f, number & 0xffffffffffffu);
        else
            ev_field_set(&e, f, f->print == EVP_EVENT ? ev_id_of(5, 1) : number);
    }
    return e;
}

/* Writes @events, reads them back; the caller frees. */
static struct saved *round_trip(const struct ev *events, size_t n)
{
    const struct written w = {.events = events, .n = n};
    struct ev_names *names = ev_names_new();
    const struct past past = past_of_written(&w, names);
    struct saved_error err;
    struct saved *s = NULL;
    FILE *f = tmpfile();

    assert_non_null(f);
    export_events(f, &past);
    rewind(f);
    if (saved_read(f, &s, &err) != RDL_OK)
        fail_msg("line %zu: %s", err.line, err.text);
    fclose(f);
    ev_names_free(names);
    return s;
}

static void every_kind_of_event_survives(void **state)
{
    static const uint64_t numbers[] = {0, 1, 0x123456789abcdef0u, UINT64_MAX};

    (void)state;
    for (unsigned k = 0; k < EV_COUNT; k++) {
        for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
            const struct ev events[] = {host, filled((enum ev_kind)k, numbers[i])};
            struct saved *s = round_trip(events, ARRAY_LEN(events));
            const struct past p = saved_past(s);

            assert_int_equal(p.n, 2);
            assert_int_equal(past_at(&p, 1)->id, events[1].id);
            assert_int_equal(past_at(&p, 1)->cause, events[1].cause);
            assert_true(past_at(&p, 1)->at_ns == events[1].at_ns);
            assert_int_equal(past_at(&p, 1)->kind, k);
            for (size_t f = 0; f < ev_schema((enum ev_kind)k)->n_fields; f++) {
                const struct ev_field *field = &ev_schema((enum ev_kind)k)->fields[f];

                assert_memory_equal((const char *)past_at(&p, 1) + field->offset,
                                    (const char *)&events[1] + field->offset, field->bytes);
            }
            saved_free(s);
        }
    }
}

static void hosts_get_their_numbers_and_names_back(void **state)
{
    const struct ev events[] = {
        host,
        {.id = ev_id_of(2, 1), .kind = EV_host_up, .u.host_up = {.host = 1, .name = {"h2"}}},
        {.id = ev_id_of(3, 1), .kind = EV_kick, .u.kick = {.host = 1}},
    };
    struct saved *s = round_trip(events, ARRAY_LEN(events));
    const struct past p = saved_past(s);

    (void)state;
    assert_int_equal(past_at(&p, 2)->u.kick.host, 1);
    assert_int_equal(ev_names_find_host(p.names, "h2"), 1);
    saved_free(s);
}

static void what_is_no_trace_is_refused(void **state)
{
#define GOOD "{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"cq_event\",\"host\":\"h1\",\"cqn\":1}\n"
    static const struct {
        const char *text;
        size_t line;
        const char *says;
    } rows[] = {
        {"hello\n", 1, "not JSON"},
        {"[]\n", 1, "not a JSON object"},
        {GOOD "{}\n", 2, "at_ns"},
        {GOOD GOOD, 2, "not later"},
        {GOOD "\n{\"at_ns\":4,\"id\":\"#2.1\"}\n", 3, "not later"},
        {"{\"at_ns\":5,\"id\":\"#1\",\"ev\":\"kick\"}\n", 1, "id"},
        {"{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"nothing\"}\n", 1, "no kind of event: nothing"},
        {"{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"cq_event\",\"host\":\"h1\"}\n", 1, "needs \"cqn\""},
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
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        FILE *f = tmpfile();
        struct saved_error err;
        struct saved *s = NULL;

        assert_non_null(f);
        fputs(rows[i].text, f);
        rewind(f);
        assert_int_equal(saved_read(f, &s, &err), RDL_ERR_INVAL);
        assert_null(s);
        assert_int_equal(err.line, rows[i].line);
        if (!strstr(err.text, rows[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].says);
        fclose(f);
    }
}

static void a_line_without_end_is_refused(void **state)
{
    FILE *f = tmpfile();
    struct saved_error err;
    struct saved *s = NULL;

    (void)state;
    assert_non_null(f);
    for (unsigned i = 0; i < 10000; i++)
        fputc(' ', f);
    fputc('\n', f);
    rewind(f);
    assert_int_equal(saved_read(f, &s, &err), RDL_ERR_LIMIT);
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_event_survives),
        cmocka_unit_test(hosts_get_their_numbers_and_names_back),
        cmocka_unit_test(what_is_no_trace_is_refused),
        cmocka_unit_test(a_line_without_end_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
