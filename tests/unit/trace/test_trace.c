/* SPDX-License-Identifier: MIT */
/* The schema: every event prints as text and JSON, ids advance without listeners, and the hash
 * covers everything.
 */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"
#include "emu/trace/trace.h"

/* Every field set to a number that its type can hold. */
static struct ev filled(enum ev_kind kind, uint64_t v)
{
    struct ev e = {.kind = kind, .at_ns = 1500, .id = ev_id_of(3, 1), .cause = ev_id_of(2, 4)};
    const struct ev_schema *schema = ev_schema(kind);

    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct ev_field *f = &schema->fields[i];

        if (f->print == EVP_STR)
            memcpy((char *)&e + f->offset, "thing", 6);
        else if (f->print == EVP_ENUM && !enum_by_value(*f->words, (uint32_t)v))
            ev_field_set(&e, f, (*f->words)->rows[0].value);
        else
            ev_field_set(&e, f, v);
    }
    return e;
}

static void every_event_prints_its_sentence_and_its_json(void **state)
{
    (void)state;
    for (unsigned k = 0; k < EV_COUNT; k++) {
        const struct ev e = filled((enum ev_kind)k, 1);
        char line[EV_TEXT_BYTES], json[EV_JSON_BYTES];
        struct text t = text_on(line, sizeof(line)), j = text_on(json, sizeof(json));

        ev_add_line(&t, &e, NULL);
        ev_add_json(&j, &e, NULL);
        assert_false(t.cut || j.cut);
        assert_non_null(strstr(line, "#3.1"));
        assert_non_null(strstr(line, ev_schema((enum ev_kind)k)->name));
        assert_null(strchr(line, '{'));
        assert_null(strchr(line, '['));
        assert_null(strchr(line, '?'));
        for (size_t i = 0; i < ev_schema((enum ev_kind)k)->n_fields; i++)
            assert_non_null(strstr(json, ev_schema((enum ev_kind)k)->fields[i].name));
        assert_int_equal(ev_kind_find(ev_schema((enum ev_kind)k)->name), k);
    }
}

static bool is_special(const char *name)
{
    static const char *const names[] = {"@qp",     "@cq",       "@host", "@peer", "@frame",
                                        "@object", "@compared", "@psn",  "@may"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* A part in brackets about a field that is not there would never be printed. */
static void sentences_speak_of_their_own_fields(void **state)
{
    (void)state;
    for (unsigned k = 0; k < EV_COUNT; k++) {
        const struct ev_schema *schema = ev_schema((enum ev_kind)k);
        size_t depth = 0, in_part = 0;

        for (const char *s = schema->text; *s; s++) {
            char name[EV_NAME_BYTES];
            struct text t = text_on(name, sizeof(name));

            if (*s == '[') {
                assert_int_equal(depth++, 0);
                in_part = 0;
            } else if (*s == ']') {
                assert_int_equal(--depth, 0);
                assert_true(in_part > 0);
            } else if (*s == '{') {
                text_addn(&t, s + 1, strcspn(s + 1, "} "));
                if (!is_special(name) && !ev_field_find((enum ev_kind)k, name))
                    fail_msg("%s has no field %s", schema->name, name);
                in_part++;
            }
        }
        assert_int_equal(depth, 0);
    }
}

static void sets_know_their_kinds(void **state)
{
    static const enum ev_kind kinds[] = {EV_host_up, EV_tx, (enum ev_kind)(EV_COUNT - 1)};
    const struct ev_set story = ev_set_for(EV_FOR_STORY), names = ev_set_for(EV_FOR_NAMES);
    struct ev_set some = ev_set_none;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        ev_set_add(&some, kinds[i]);
    for (unsigned k = 0; k < EV_COUNT; k++) {
        bool is_one = false;

        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
            is_one = is_one || kinds[i] == k;
        assert_true(ev_set_has(&some, (enum ev_kind)k) == is_one);
        assert_true(ev_set_has(&ev_set_all, (enum ev_kind)k));
        assert_false(ev_set_has(&ev_set_none, (enum ev_kind)k));
        assert_true(ev_set_has(&story, (enum ev_kind)k) ==
                    ((ev_schema((enum ev_kind)k)->whom & EV_FOR_STORY) != 0));
    }
    assert_true(ev_set_has(&story, EV_tx) && !ev_set_has(&story, EV_reg_read));
    assert_true(ev_set_has(&names, EV_named) && !ev_set_has(&names, EV_tx));
}

static void parts_in_brackets_appear_only_when_set(void **state)
{
    struct ev e = {.kind = EV_tx, .id = ev_id_of(34, 3)};
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    e.u.tx.opcode = 4;
    e.u.tx.psn = 100;
    e.u.tx.peer = EV_HOST_NONE;
    e.u.tx.dest_qpn = 3;
    ev_add_text(&t, &e, NULL);
    assert_string_equal(buf, "RC_SEND_ONLY psn=100 -> QPN 3");
    t = text_on(buf, sizeof(buf));
    e.u.tx.ackreq = 1;
    e.u.tx.attempt = 2;
    ev_add_text(&t, &e, NULL);
    assert_string_equal(buf, "RC_SEND_ONLY psn=100 ackreq -> QPN 3, attempt 2");
}

/* One of a thing has no plural. */
static void what_is_counted_is_one_or_several(void **state)
{
    static const struct {
        uint32_t writes, bytes;
        const char *text;
    } rows[] = {
        {0, 0, "h1 PUT_DONE to 10.0.0.2@o2ib"},
        {1, 1, "h1 PUT_DONE to 10.0.0.2@o2ib, 1 RDMA WRITE, 1 byte"},
        {2, 8192, "h1 PUT_DONE to 10.0.0.2@o2ib, 2 RDMA WRITEs, 8192 bytes"},
    };
    struct ev_names *names = ev_names_new();
    const struct ev up = {.id = ev_id_of(1, 1), .kind = EV_host_up, .u.host_up = {.name = {"h1"}}};

    (void)state;
    ev_names_learn(names, &up);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct ev e = {.kind = EV_lnet_sent,
                             .u.lnet_sent = {.message = LNET_MSG_PUT_DONE,
                                             .nid = {"10.0.0.2@o2ib"},
                                             .writes = rows[i].writes,
                                             .bytes = rows[i].bytes}};
        char buf[EV_TEXT_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        ev_add_text(&t, &e, names);
        assert_string_equal(buf, rows[i].text);
    }
    ev_names_free(names);
}

/* Each once, PSN 0 too, which the sentence of a drop leaves out as if it said none. */
static void a_drop_says_both_psns(void **state)
{
    static const struct {
        uint32_t psn;
        const char *want;
    } rows[] = {
        {7, "host1 OUT_OF_SEQUENCE, psn=7, expected psn=5"},
        {0, "host1 OUT_OF_SEQUENCE, expected psn=5, found psn=0"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct ev e = {.kind = EV_drop,
                             .id = ev_id_of(3, 1),
                             .u.drop = {.host = 1,
                                        .psn = rows[i].psn,
                                        .reason = DROP_OUT_OF_SEQUENCE,
                                        .least = 5,
                                        .most = 5,
                                        .found = rows[i].psn}};
        char buf[EV_TEXT_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        ev_add_text(&t, &e, NULL);
        assert_string_equal(buf, rows[i].want);
    }
}

static void what_a_fault_leaves_open_is_any(void **state)
{
    const struct ev e = {.kind = EV_fault_made,
                         .id = ev_id_of(3, 1),
                         .u.fault_made = {.fault = 1,
                                          .name = ev_str("f1"),
                                          .by = FLT_DROP,
                                          .host = EV_HOST_NONE,
                                          .opcode = EV_ANY,
                                          .syndrome = EV_ANY,
                                          .psn = 0,
                                          .dest_qpn = EV_ANY,
                                          .count = EV_ANY}};
    char line[EV_TEXT_BYTES], json[EV_JSON_BYTES];
    struct text t = text_on(line, sizeof(line)), j = text_on(json, sizeof(json));

    (void)state;
    ev_add_text(&t, &e, NULL);
    assert_string_equal(line, "f1: DROP psn=0"); /* PSN 0 is a PSN */
    ev_add_json(&j, &e, NULL);
    assert_non_null(strstr(json,
                           "\"host\":\"none\",\"opcode\":\"any\",\"syndrome\":\"any\",\"psn\":0,"
                           "\"dest_qpn\":\"any\",\"skip\":0,\"count\":\"any\""));
}

static void names_are_learnt_from_the_trace(void **state)
{
    struct ev_names *names = ev_names_new();
    struct ev up = {.kind = EV_host_up}, named = {.kind = EV_named}, cqe = {.kind = EV_qp_state};
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    up.u.host_up.host = 1;
    up.u.host_up.name = ev_str("h2");
    named.u.named = (struct ev_named){1, OBJ_QP, 3, ev_str("qp")};
    ev_names_learn(names, &up);
    ev_names_learn(names, &named);
    cqe.u.qp_state = (struct ev_qp_state){1, 3, QPS_INIT, QPS_RTR};
    ev_add_text(&t, &cqe, names);
    assert_string_equal(buf, "h2.qp INIT -> RTR");
    assert_int_equal(ev_names_find_host(names, "h2"), 1);
    assert_true(ev_names_find_host(names, "h3") == EV_HOST_NONE);
    ev_names_free(names);
}

/* Learns that CQ 1 of host 0 got the name @name in @tick. */
static void name_cq(struct ev_names *n, uint64_t tick, const char *name)
{
    struct ev e = {.kind = EV_named, .id = ev_id_of(tick, 1)};

    e.u.named = (struct ev_named){0, OBJ_CQ, 1, ev_str(name)};
    ev_names_learn(n, &e);
}

static void assert_cq(const struct ev_names *n, const char *want)
{
    char buf[EV_NAME_BYTES + 8];
    struct text t = text_on(buf, sizeof(buf));

    ev_names_object(n, &t, 0, OBJ_CQ, 1);
    assert_string_equal(buf, want);
}

/* A number is used again; the lab goes back, replays, jumps, and takes another way. */
static void names_are_those_of_the_position(void **state)
{
    struct ev_names *n = ev_names_new();
    struct ev e;
    size_t at = 0;

    (void)state;
    name_cq(n, 2, "a");
    name_cq(n, 4, "b");
    name_cq(n, 6, "c");
    assert_cq(n, "host0.c");
    ev_names_place(n, ev_id_of(3, 0));
    assert_cq(n, "host0.a");
    name_cq(n, 4, "b"); /* replayed */
    assert_cq(n, "host0.b");
    assert_true(ev_names_next(n, &at, &e));
    assert_string_equal(e.u.named.name.s, "b");
    assert_false(ev_names_next(n, &at, &e));
    ev_names_place(n, ev_id_of(9, 0));
    assert_cq(n, "host0.c");
    ev_names_place(n, ev_id_of(1, 0));
    assert_cq(n, "host0.cqn1");
    name_cq(n, 2, "a");
    name_cq(n, 4, "other");
    ev_names_place(n, ev_id_of(9, 0));
    assert_cq(n, "host0.other");
    ev_names_place(n, ev_id_of(3, 0));
    ev_names_forget_ahead(n);
    ev_names_place(n, ev_id_of(9, 0));
    assert_cq(n, "host0.a");
    ev_names_free(n);
}

/* Names that were replaced make room for others. */
static void a_number_may_have_many_names(void **state)
{
    struct ev_names *n = ev_names_new();
    char name[EV_NAME_BYTES], want[EV_NAME_BYTES + 8];
    struct text t = text_on(want, sizeof(want));

    (void)state;
    for (uint32_t i = 1; i <= 70000; i++) {
        struct text own = text_on(name, sizeof(name));

        text_addf(&own, "cq%u", i);
        name_cq(n, i, name);
    }
    text_addf(&t, "host0.%s", name);
    assert_cq(n, want);
    ev_names_place(n, ev_id_of(69000, 1));
    assert_cq(n, "host0.cq69000");
    ev_names_free(n);
}

static void names_tell_the_events_that_teach_them(void **state)
{
    static const struct ev taught[] = {
        {.kind = EV_host_up,
         .u.host_up = {.host = 2, .name = {"h2"}, .mac = 5, .addr = {"10.0.0.2"}, .first_qpn = 3}},
        {.kind = EV_host_up, .u.host_up = {.host = 7, .name = {"h7"}}},
        {.kind = EV_port_up, .u.port_up = {.host = EV_PORT_FIRST + 1, .name = {"p"}}},
        {.kind = EV_named, .u.named = {.host = 2, .object = OBJ_CQ, .number = 1, .name = {"cq"}}},
    };
    struct ev_names *names = ev_names_new();
    size_t at = 0, n = 0;
    struct ev e;

    (void)state;
    assert_false(ev_names_next(names, &at, &e));
    assert_false(ev_names_next(NULL, &at, &e));
    for (size_t i = ARRAY_LEN(taught); i > 0; i--)
        ev_names_learn(names, &taught[i - 1]);
    for (at = 0; ev_names_next(names, &at, &e); n++) {
        char got[EV_JSON_BYTES], want[EV_JSON_BYTES];
        struct text g = text_on(got, sizeof(got)), w = text_on(want, sizeof(want));

        assert_in_range(n, 0, ARRAY_LEN(taught) - 1);
        ev_add_json(&g, &e, NULL);
        ev_add_json(&w, &taught[n], NULL);
        assert_string_equal(got, want);
    }
    assert_int_equal(n, ARRAY_LEN(taught));
    ev_names_free(names);
}

static void a_number_has_the_name_of_its_present_object(void **state)
{
    static const char *const owners[] = {"first", "second"};
    struct ev_names *names = ev_names_new();
    struct ev named = {.kind = EV_named, .u.named = {.host = 0, .object = OBJ_CQ, .number = 1}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
        char buf[EV_TEXT_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        named.u.named.name = ev_str(owners[i]);
        ev_names_learn(names, &named);
        ev_names_object(names, &t, 0, OBJ_CQ, 1);
        assert_string_equal(strchr(buf, '.') + 1, owners[i]);
    }
    ev_names_free(names);
}

/* A trace from outside may tell of many, and a walk through all of them for each would take long.
 */
static void each_of_many_objects_has_its_name(void **state)
{
    const uint32_t many = 65536, step = 40503; /* odd: every number comes once, in no order */
    struct ev_names *names = ev_names_new();
    struct ev named = {.kind = EV_named};

    (void)state;
    for (uint32_t i = 0; i < many; i++) {
        struct text t = text_on(named.u.named.name.s, EV_NAME_BYTES);

        named.u.named.number = i * step % many;
        named.u.named.object = i % 2 ? OBJ_QP : OBJ_CQ;
        named.u.named.host = named.u.named.number % 3;
        text_addf(&t, "o%u", named.u.named.number);
        ev_names_learn(names, &named);
    }
    for (uint32_t i = 0; i < many; i++) {
        const uint32_t number = i * step % many;
        char got[EV_TEXT_BYTES], want[EV_TEXT_BYTES];
        struct text g = text_on(got, sizeof(got)), w = text_on(want, sizeof(want));

        ev_names_object(names, &g, number % 3, i % 2 ? OBJ_QP : OBJ_CQ, number);
        text_addf(&w, "host%u.o%u", number % 3, number);
        assert_string_equal(got, want);
    }
    ev_names_free(names);
}

static void numbers_beyond_a_double_are_strings_in_json(void **state)
{
    struct ev e = {.kind = EV_poll};
    char buf[EV_JSON_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    e.u.poll.wr_id = UINT64_MAX;
    ev_add_json(&t, &e, NULL);
    assert_non_null(strstr(buf, "\"wr_id\":\"18446744073709551615\""));
    t = text_on(buf, sizeof(buf));
    e.u.poll.wr_id = 7;
    ev_add_json(&t, &e, NULL);
    assert_non_null(strstr(buf, "\"wr_id\":7"));
}

static void count_one(void *ctx, const struct ev *e)
{
    (void)e;
    ++*(int *)ctx;
}

static void numbers_advance_whether_or_not_anybody_listens(void **state)
{
    struct trace_sinks sinks = {0};
    struct trace t = {.sinks = &sinks};
    struct ev_set kicks = ev_set_none;
    int heard = 0;
    struct trace_sink sink = {count_one, &heard, ev_set_none, NULL};
    ev_id id;

    (void)state;
    ev_set_add(&kicks, EV_kick);
    sink.kinds = kicks;
    trace_begin(&t, 0, 0);
    TRACE(&t, kick, .host = 0);
    TRACE_ID(&t, id, kick, .host = 0);
    assert_true(id == ev_id_of(1, 2));
    trace_sink_add(&sinks, &sink);
    TRACE_ID(&t, id, kick, .host = 0);
    assert_true(id == ev_id_of(1, 3));
    assert_int_equal(heard, 1);
    TRACE_ID(&t, id, irq, .host = 0); /* of a kind that the sink does not hear */
    assert_true(id == ev_id_of(1, 4));
    assert_int_equal(heard, 1);
    trace_sink_hear(&sinks, &sink, &ev_set_all);
    TRACE(&t, irq, .host = 0);
    assert_int_equal(heard, 2);
    trace_sink_hear(&sinks, &sink, &kicks);
    trace_sink_remove(&sinks, &sink);
    TRACE(&t, kick, .host = 0);
    assert_int_equal(heard, 2);
}

static void the_hash_sees_every_field_that_is_not_derived(void **state)
{
    (void)state;
    for (unsigned k = 0; k < EV_COUNT; k++) {
        const struct ev_schema *schema = ev_schema((enum ev_kind)k);
        struct trace_hash plain = TRACE_HASH_START;
        struct ev e = filled((enum ev_kind)k, 1);

        trace_hash_event(&plain, &e);
        for (size_t i = 0; i < schema->n_fields; i++) {
            struct trace_hash changed = TRACE_HASH_START;
            struct ev other = e;

            if (schema->fields[i].print == EVP_STR)
                memcpy((char *)&other + schema->fields[i].offset, "thinG", 6);
            else
                ev_field_set(&other, &schema->fields[i], 2);
            trace_hash_event(&changed, &other);
            assert_true((changed.value != plain.value) == schema->fields[i].hashed);
        }
    }
    assert_false(ev_field_find(EV_tx, "cm")->hashed);
    assert_true(ev_field_find(EV_tx, "psn")->hashed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_prints_its_sentence_and_its_json),
        cmocka_unit_test(sentences_speak_of_their_own_fields),
        cmocka_unit_test(sets_know_their_kinds),
        cmocka_unit_test(parts_in_brackets_appear_only_when_set),
        cmocka_unit_test(what_is_counted_is_one_or_several),
        cmocka_unit_test(a_drop_says_both_psns),
        cmocka_unit_test(what_a_fault_leaves_open_is_any),
        cmocka_unit_test(names_are_learnt_from_the_trace),
        cmocka_unit_test(names_are_those_of_the_position),
        cmocka_unit_test(a_number_may_have_many_names),
        cmocka_unit_test(names_tell_the_events_that_teach_them),
        cmocka_unit_test(a_number_has_the_name_of_its_present_object),
        cmocka_unit_test(each_of_many_objects_has_its_name),
        cmocka_unit_test(numbers_beyond_a_double_are_strings_in_json),
        cmocka_unit_test(numbers_advance_whether_or_not_anybody_listens),
        cmocka_unit_test(the_hash_sees_every_field_that_is_not_derived),
    };

    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
