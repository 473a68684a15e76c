/* SPDX-License-Identifier: MIT */
/* Tests of saved traces: every event and all names are read back unchanged.  Fields from a newer
 * rdmalab are skipped and reported.
 */
#include "testing.h"

#include "cli/export/export.h"
#include "cli/lang/expr.h"
#include "cli/printed.h"
#include "cli/show/show_events.h"
#include "cli/show/show_packet.h"
#include "cli/show/show_trace_file.h"
#include "cli/trace_file/trace_file.h"
#include "cli/trace_file/trace_text.h"
#include "emu/facts/enum/cm_call.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "lnet_frames.h"
#include "rdmalab/lab.h"

static const struct ev host = {
    .id = (ev_id)1 << EV_ROW_BITS | 1,
    .kind = EV_host_up,
    .u.host_up = {.host = 0, .name = {"h1"}, .mac = 0x020000000001, .addr = {"10.0.0.1"}},
};

/* Returns an event of @kind with every field set, numbers with all their bits. */
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

/* Writes @past and reads it back.  The caller frees the result. */
static struct trace_file *there_and_back(const struct past *past, const struct past_about *about)
{
    struct trace_file_error err;
    struct trace_file *s = NULL;
    FILE *f = tmpfile();

    assert_non_null(f);
    assert_int_equal(export_events(f, past, about), RDL_OK);
    rewind(f);
    if (trace_file_read(f, &s, &err) != RDL_OK)
        fail_msg("line %zu: %s", err.line, err.text);
    fclose(f);
    return s;
}

/* Writes @events, which set the names, and reads them back. */
static struct trace_file *round_trip(const struct ev *events, size_t n)
{
    const struct written w = {.events = events, .n = n};
    const struct past_about about = {.seed = 7};
    struct ev_names *names = ev_names_new();
    const struct past past = past_of_written(&w, names);
    struct trace_file *s = there_and_back(&past, &about);

    ev_names_free(names);
    return s;
}

/* Reads a text that must be a trace. */
static struct trace_file *read_text(const char *text)
{
    struct trace_file_error err;
    struct trace_file *s;

    if (read_bytes(text, strlen(text), &s, &err) != RDL_OK)
        fail_msg("line %zu: %s", err.line, err.text);
    return s;
}

static void every_kind_of_event_survives(void **state)
{
    static const uint64_t numbers[] = {0, 1, 0x123456789abcdef0u, UINT64_MAX};

    (void)state;
    for (unsigned k = 0; k < EV_COUNT; k++) {
        for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
            const struct ev events[] = {host, filled((enum ev_kind)k, numbers[i])};
            struct trace_file *s = round_trip(events, ARRAY_LEN(events));
            const struct past p = trace_file_past(s);

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
            trace_file_free(s);
        }
    }
}

/* A frame without a message of the connection manager has no word for it, for example. */
static void a_word_that_there_is_not_is_not_missing(void **state)
{
    (void)state;
    for (unsigned k = 0; k < EV_COUNT; k++) {
        struct ev events[] = {host, filled((enum ev_kind)k, 1)};
        const struct ev_schema *schema = ev_schema((enum ev_kind)k);
        struct trace_file *s;

        for (size_t i = 0; i < schema->n_fields; i++) {
            if (schema->fields[i].print == EVP_ENUM && !ev_field_takes_any(&schema->fields[i]))
                ev_field_set(&events[1], &schema->fields[i], 0);
        }
        s = round_trip(events, ARRAY_LEN(events));
        if (trace_file_info(s)->missing_fields != 0)
            fail_msg("%s: a field is missing", schema->name);
        trace_file_free(s);
    }
}

static void hosts_get_their_numbers_and_names_back(void **state)
{
    const struct ev events[] = {
        host,
        {.id = ev_id_of(2, 1), .kind = EV_host_up, .u.host_up = {.host = 1, .name = {"h2"}}},
        {.id = ev_id_of(3, 1), .kind = EV_kick, .u.kick = {.host = 1}},
    };
    struct trace_file *s = round_trip(events, ARRAY_LEN(events));
    const struct past p = trace_file_past(s);

    (void)state;
    assert_int_equal(past_at(&p, 2)->u.kick.host, 1);
    assert_int_equal(ev_names_find_host(p.names, "h2"), 1);
    trace_file_free(s);
}

static const struct past_call calls[] = {
    {.id = ID(7, 0), .at_ns = 5, .call = CM_CALL_rdma_accept, .host = 1, .cm_id = 2, .error = 22},
    {.id = ID(9, EV_ROW_MAX),
     .at_ns = (uint64_t)1 << 60,
     .call = CM_CALL_rdma_get_cm_event,
     .cm_id = 3,
     .event = RDMA_CM_EVENT_ESTABLISHED},
};

static struct past_call call_at(const void *ctx, size_t i)
{
    (void)ctx;
    return calls[i];
}

static void calls_of_programs_survive(void **state)
{
    const struct written none = {0};
    struct ev_names *names = ev_names_new();
    struct past past = past_of_written(&none, names), p;
    struct trace_file *s;

    (void)state;
    past.n_calls = ARRAY_LEN(calls);
    past.call = call_at;
    s = there_and_back(&past, &(struct past_about){0});
    p = trace_file_past(s);
    assert_int_equal(p.n_calls, ARRAY_LEN(calls));
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        const struct past_call c = p.call(p.ctx, i);

        assert_true(c.id == calls[i].id && c.at_ns == calls[i].at_ns);
        assert_true(c.call == calls[i].call && c.event == calls[i].event);
        assert_true(c.host == calls[i].host && c.cm_id == calls[i].cm_id);
        assert_int_equal(c.error, calls[i].error);
    }
    trace_file_free(s);
    ev_names_free(names);
}

/* A newer rdmalab may remember other calls, and know other events. */
static void calls_that_are_not_known_are_left_out(void **state)
{
    static const char text[] =
        HEADER ",\"calls\":[{\"before\":\"#7\",\"call\":\"rdma_later\",\"host\":0,\"cm_id\":1},"
               "{\"behind\":\"#7\",\"call\":\"rdma_get_cm_event\",\"host\":0,\"cm_id\":1,"
               "\"event\":\"LATER\"},"
               "{\"before\":\"#8\",\"call\":\"rdma_listen\",\"host\":0,\"cm_id\":1}]}\n";
    struct trace_file *s = read_text(text);
    const struct past p = trace_file_past(s);

    (void)state;
    assert_int_equal(p.n_calls, 1);
    assert_int_equal(p.call(p.ctx, 0).call, CM_CALL_rdma_listen);
    trace_file_free(s);
}

/* The header has names whose events were dropped. */
static void names_outlive_the_record(void **state)
{
    static const struct ev taught[] = {
        {.kind = EV_host_up,
         .u.host_up = {.host = 3, .name = {"host5"}, .mac = 0x020000000004, .addr = {"10.0.0.4"}}},
        {.kind = EV_host_up, .u.host_up = {.host = 5, .name = {"h\"6"}}},
        {.kind = EV_port_up, .u.port_up = {.host = EV_PORT_FIRST + 1, .name = {"wire"}}},
        {.kind = EV_named, .u.named = {.host = 5, .object = OBJ_QP, .number = 9, .name = {"qp"}}},
    };
    const struct ev events[] = {
        {.id = ev_id_of(8, 1), .kind = EV_kick, .u.kick = {.host = 5}},
        {.id = ev_id_of(8, 2), .kind = EV_kick, .u.kick = {.host = 3}},
        {.id = ev_id_of(8, 3), .kind = EV_eth_tx, .u.eth_tx = {.host = EV_PORT_FIRST + 1}},
        {.id = ev_id_of(8, 4), .kind = EV_qp_state, .u.qp_state = {.host = 5, .qpn = 9}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    const struct past_about about = {.title = "a \"title\"", .seed = UINT64_MAX};
    const struct event_filter all = event_filter_all();
    struct ev_names *names = ev_names_new();
    struct past past = past_of_written(&w, names), p;
    struct printed out;
    struct trace_file *s;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(taught); i++)
        ev_names_learn(names, &taught[i]);
    past.forgotten = 4711;
    past.gap_from = 4;
    past.gap_to = RDL_NEVER;
    s = there_and_back(&past, &about);
    p = trace_file_past(s);
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        assert_int_equal(past_host_of(past_at(&p, i)), past_host_of(&events[i]));
    assert_true(p.forgotten == 4711 && p.gap_from == 4 && p.gap_to == RDL_NEVER);
    assert_true(trace_file_info(s)->seed == UINT64_MAX);
    assert_string_equal(trace_file_info(s)->title, about.title);
    assert_false(trace_file_is_whole(s));
    show_trace_file(printed_begin(&out)->out, s);
    assert_prints(&out, "host5  10.0.0.4       02:00:00:00:00:04\n");
    assert_prints(&out, "wire   external port\n");
    assert_prints(&out, "missing   4711 older events are forgotten\n");
    assert_prints(&out, "missing   recording is off since #4\n");
    printed_end(&out);
    show_events(printed_begin(&out)->out, &p, &all, false, false);
    assert_prints(&out, "h\"6.qp RESET -> RESET");
    printed_end(&out);
    trace_file_free(s);
    ev_names_free(names);
}

/* Recording was off when a number got its last name: only the header has it. */
static void the_header_knows_names_better_than_events(void **state)
{
    struct trace_file *s = read_text(
        HEADER ",\"hosts\":[{\"number\":0,\"name\":\"h1\"}],"
               "\"objects\":[{\"host\":0,\"object\":\"QP\",\"number\":2,\"name\":\"later\"}]}\n"
               "{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"named\",\"host\":\"h1\",\"object\":\"QP\","
               "\"number\":2,\"name\":\"first\"}\n");
    const struct past p = trace_file_past(s);
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    ev_names_object(p.names, &t, 0, OBJ_QP, 2);
    assert_string_equal(buf, "h1.later");
    trace_file_free(s);
}

static void without_a_header_numbers_come_in_the_order_of_appearance(void **state)
{
    static const char text[] =
        "{\"at_ns\":1,\"id\":\"#1.1\",\"ev\":\"host_up\",\"host\":\"host5\",\"name\":\"host5\"}\n"
        "{\"at_ns\":1,\"id\":\"#1.2\",\"ev\":\"port_up\",\"host\":\"wire\",\"name\":\"wire\"}\n"
        "\r\n"
        "{\"at_ns\":1,\"id\":\"#2.1\",\"ev\":\"kick\",\"host\":\"h2\"}\n"
        "{\"at_ns\":1,\"id\":\"#2.2\",\"ev\":\"tx\",\"host\":\"host5\",\"peer\":\"none\"}";
    static const uint32_t numbers[] = {0, EV_PORT_FIRST, 1, 0};
    struct trace_file *s = read_text(text);
    const struct past p = trace_file_past(s);
    struct printed out;

    (void)state;
    assert_int_equal(p.n, ARRAY_LEN(numbers));
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        assert_int_equal(past_host_of(past_at(&p, i)), numbers[i]);
    assert_int_equal(ev_names_find_host(p.names, "host5"), 0);
    assert_true(past_at(&p, 3)->u.tx.peer == EV_HOST_NONE);
    assert_false(trace_file_is_whole(s));
    show_trace_file_notes(printed_begin(&out)->out, "t: ", s);
    assert_prints(&out, "t: the trace has no header: it cannot say what is missing in it\n");
    printed_end(&out);
    trace_file_free(s);
}

static void what_is_passed_over_is_told(void **state)
{
    static const struct {
        const char *text, *says;
        size_t n;
        bool whole;
    } rows[] = {
        {HEADER "}\n" GOOD, "", 1, true},
        {HEADER ",\"later\":[1]}\n" GOOD, "", 1, true},
        {HEADER ",\"events\":1}\n" GOOD, "", 1, true},
        {HEADER ",\"events\":1}\n", "1 event of which the header tells has no line", 0, false},
        {HEADER ",\"events\":3}\n" GOOD, "2 events of which the header tells have no lines", 1,
         false},
        {HEADER ",\"events\":2}\n" GOOD "{\"at_ns\":5,\"id\":\"#1.2\",\"ev\":\"rdma_read\"}\n",
         "1 event of an unknown kind was skipped", 1, true},
        {HEADER "}\n{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"rdma_read\",\"x\":1}\n",
         "1 event of an unknown kind was skipped", 0, true},
        {HEADER "}\n{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"a\"}\n{\"at_ns\":5,\"id\":\"#1.2\","
                "\"ev\":\"b\"}\n",
         "2 events of unknown kinds were skipped", 0, true},
        {HEADER "}\n{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"qp_state\",\"host\":\"h1\",\"qpn\":2,"
                "\"from\":\"RTS\",\"to\":\"NEW\"}\n",
         "1 event with an unknown word was skipped", 0, false},
        {HEADER "}\n{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"cq_event\",\"host\":\"h1\"}\n",
         "1 field is missing and reads as 0 or none", 1, true},
        {HEADER "}\n{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"cq_event\",\"cqn\":1,\"host\":\"h1\","
                "\"hue\":{\"a\":1}}\n",
         "1 unknown field was skipped", 1, true},
        {HEADER "}\n" GOOD "{\"at_ns\":6,\"id\":\"#2.1\",\"ev\":\"cq_ev",
         "the last line is not whole", 1, false},
        {HEADER "}\n" GOOD "{\"at_ns\":6,\"id\":\"\xc3", "the last line is not whole", 1, false},
        {HEADER "}\n" GOOD "[", "the last line is not whole", 1, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct trace_file *s = read_text(rows[i].text);
        struct printed out;

        assert_int_equal(trace_file_past(s).n, rows[i].n);
        assert_int_equal(trace_file_is_whole(s), rows[i].whole);
        show_trace_file_notes(printed_begin(&out)->out, "", s);
        if (rows[i].says[0])
            assert_prints(&out, rows[i].says);
        else
            assert_string_equal(printed_text(&out), "");
        printed_end(&out);
        trace_file_free(s);
    }
}

/* Names that are too long are truncated, and still name one host. */
static void long_names_name_one_host(void **state)
{
    struct trace_file *s =
        read_text("{\"at_ns\":1,\"id\":\"#1.1\",\"ev\":\"kick\",\"host\":\"a-name-of-"
                  "a-host-that-is-too-long\"}\n"
                  "{\"at_ns\":1,\"id\":\"#1.2\",\"ev\":\"kick\",\"host\":\"a-name-of-"
                  "a-host-that-is-too-long\"}\n");
    const struct past p = trace_file_past(s);

    (void)state;
    assert_int_equal(past_host_of(past_at(&p, 0)), 0);
    assert_int_equal(past_host_of(past_at(&p, 1)), 0);
    trace_file_free(s);
}

/* Names come from untrusted sources and go to terminals. */
static void control_characters_of_names_are_not_kept(void **state)
{
    struct trace_file *s = read_text(HEADER ",\"title\":\"\\u001b[2J\",\"hosts\":[{\"number\":0,"
                                            "\"name\":\"h\\u001b1\"}]}\n");
    struct printed out;

    (void)state;
    show_trace_file(printed_begin(&out)->out, s);
    assert_prints(&out, "?[2J");
    assert_prints(&out, "h?1");
    assert_null(strchr(printed_text(&out), '\033'));
    printed_end(&out);
    trace_file_free(s);
}

static void a_packet_is_told_without_its_bytes(void **state)
{
    const struct ev events[] = {
        host,
        {.id = ev_id_of(2, 1), .kind = EV_tx, .u.tx = {.psn = 17, .peer = EV_HOST_NONE}},
        {.id = ev_id_of(3, 1), .kind = EV_lost, .u.lost = {.name = {"f1"}, .tx = ev_id_of(2, 1)}},
    };
    struct trace_file *s = round_trip(events, ARRAY_LEN(events));
    const struct past p = trace_file_past(s);
    struct printed out;

    (void)state;
    assert_int_equal(show_packet(printed_begin(&out)->out, &p, 0, false), RDL_OK);
    assert_prints(&out, "  psn         17\n");
    assert_prints(&out, "  it was lost in #3.1, by f1\n");
    assert_prints(&out, "  a saved trace has no bytes of packets, so that it cannot know ");
    printed_end(&out);
    assert_int_equal(show_packet(printed_begin(&out)->out, &p, ev_id_of(2, 1), true), RDL_OK);
    assert_prints(&out, "\"psn\":17");
    printed_end(&out);
    trace_file_free(s);
}

/* A packet of a saved trace is compared with the previous packet of its flow, as in the lab.
 * Responses and packets of other queue pairs do not belong to a flow of requests.
 */
static void a_packet_is_told_with_what_is_different(void **state)
{
    const struct ev events[] = {
        host,
        {.id = ev_id_of(2, 1),
         .kind = EV_tx,
         .u.tx = {.qpn = 2, .psn = 16, .attempt = 1, .peer = EV_HOST_NONE}},
        {.id = ev_id_of(3, 1), .kind = EV_tx, .u.tx = {.qpn = 3, .psn = 7, .peer = EV_HOST_NONE}},
        {.id = ev_id_of(4, 1),
         .kind = EV_tx,
         .u.tx = {.qpn = 2, .opcode = OP_RC_ACKNOWLEDGE, .psn = 9, .peer = EV_HOST_NONE}},
        {.id = ev_id_of(5, 1),
         .kind = EV_tx,
         .u.tx = {.qpn = 2, .psn = 17, .attempt = 1, .peer = EV_HOST_NONE}},
    };
    struct trace_file *s = round_trip(events, ARRAY_LEN(events));
    const struct past p = trace_file_past(s);
    struct printed out;

    (void)state;
    assert_int_equal(show_packet(printed_begin(&out)->out, &p, 0, SHOW_TEXT), RDL_OK);
    assert_prints(&out, "* psn         17   was 16\n");
    assert_prints(&out, "  attempt     1\n");
    assert_prints(&out, "* is different from #2.1, the packet before it");
    printed_end(&out);
    assert_int_equal(show_packet(printed_begin(&out)->out, &p, 0, SHOW_JSON), RDL_OK);
    assert_prints(&out, ",\"before\":\"#2.1\",\"was\":{\"psn\":\"16\"}}\n");
    printed_end(&out);
    trace_file_free(s);
}

static void events_are_counted(void **state)
{
    static const struct {
        const char *expression;
        uint64_t n;
    } rows[] = {
        {"count(kick)", 3},
        {"count(kick, host==h2)", 1},
        {"count(kick, host!=h2)", 2},
        {"count(kick, host==h1, queue>3)", 1},
        {"count(host_up, name==\"h2\")", 1},
        {"count(host_up, mac==\"02:00:00:00:00:01\")", 1},
        {"count(tx)", 0},
    };
    const struct ev events[] = {
        host,
        {.id = ev_id_of(2, 1), .kind = EV_host_up, .u.host_up = {.host = 1, .name = {"h2"}}},
        {.id = ev_id_of(3, 1), .kind = EV_kick, .u.kick = {.host = 1, .queue = 4}},
        {.id = ev_id_of(3, 2), .kind = EV_kick, .u.kick = {.host = 0, .queue = 4}},
        {.id = ev_id_of(3, 3), .kind = EV_kick, .u.kick = {.host = 0, .queue = 3}},
    };
    struct trace_file *s = round_trip(events, ARRAY_LEN(events));
    const struct past p = trace_file_past(s);
    struct pool pool = {NULL};
    struct diag d;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *text = rows[i].expression;
        const struct expr *e = expr_parse(&pool, text, (struct span){0, strlen(text)}, &d);

        if (!e)
            fail_msg("%s: %s", text, d.message);
        assert_null(ev_filter_look_up(e->filter, p.names));
        assert_int_equal(past_count(&p, e->filter), rows[i].n);
    }
    pool_free(&pool);
    trace_file_free(s);
}

/* The words are in place of the frame: what is printed is the same. */
static void messages_of_o2iblnd_survive(void **state)
{
    const struct ev events[] = {
        host,
        {.id = ev_id_of(7, 1), .kind = EV_tx, .u.tx.opcode = OP_RC_SEND_ONLY},
        {.id = ev_id_of(7, 2), .kind = EV_tx, .u.tx.opcode = OP_RC_SEND_ONLY},
        {.id = ev_id_of(8, 1),
         .kind = EV_rx,
         .u.rx = {.opcode = OP_RC_SEND_ONLY, .tx = ev_id_of(7, 2)}},
    };
    const struct lnet_msg m = lnet_sample(LNET_MSG_GET_REQ, true);
    uint8_t frame[LNET_FRAME_MAX];
    const struct written w = {events, ARRAY_LEN(events), ev_id_of(7, 2), frame,
                              lnet_frame(&m, OP_RC_SEND_ONLY, UINT32_MAX, frame)};
    const struct past_about about = {.seed = 7};
    struct ev_names *names = ev_names_new();
    const struct past past = past_of_written(&w, names);
    struct trace_file *s = there_and_back(&past, &about);
    const struct past again = trace_file_past(s);

    (void)state;
    assert_int_equal(trace_file_info(s)->unknown_fields, 0);
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        char before[EV_TEXT_BYTES], after[EV_TEXT_BYTES];
        struct text b = text_on(before, sizeof(before)), a = text_on(after, sizeof(after));

        past_add_line(&b, &past, past_at(&past, i));
        past_add_line(&a, &again, past_at(&again, i));
        assert_string_equal(after, before);
        assert_int_equal(strstr(after, "GET_REQ credits=1 cookie=0x2a; GET bytes=8192") != NULL,
                         i >= 2);
    }
    trace_file_free(s);
    ev_names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_event_survives),
        cmocka_unit_test(a_word_that_there_is_not_is_not_missing),
        cmocka_unit_test(hosts_get_their_numbers_and_names_back),
        cmocka_unit_test(calls_of_programs_survive),
        cmocka_unit_test(calls_that_are_not_known_are_left_out),
        cmocka_unit_test(names_outlive_the_record),
        cmocka_unit_test(the_header_knows_names_better_than_events),
        cmocka_unit_test(without_a_header_numbers_come_in_the_order_of_appearance),
        cmocka_unit_test(what_is_passed_over_is_told),
        cmocka_unit_test(long_names_name_one_host),
        cmocka_unit_test(control_characters_of_names_are_not_kept),
        cmocka_unit_test(a_packet_is_told_without_its_bytes),
        cmocka_unit_test(a_packet_is_told_with_what_is_different),
        cmocka_unit_test(events_are_counted),
        cmocka_unit_test(messages_of_o2iblnd_survive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
