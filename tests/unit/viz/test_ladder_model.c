/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "past/written.h"
#include "traces.h"
#include "viz/ladder_model.h"

/* The stop that says @note, or NULL. */
static const struct ladder_stop *saying(const struct ladder *l, const char *note)
{
    for (uint32_t i = 0; i < l->n_stops; i++) {
        if (strcmp(l->stops[i].note, note) == 0)
            return &l->stops[i];
    }
    return NULL;
}

static const struct ladder_arrow *labelled(const struct ladder *l, const char *label)
{
    for (uint32_t i = 0; i < l->n_arrows; i++) {
        if (strcmp(l->arrows[i].label, label) == 0)
            return &l->arrows[i];
    }
    return NULL;
}

static void each_packet_is_labelled_and_has_its_fate(void **state)
{
    static const struct {
        const char *trace, *label;
        enum frame_fate fate;
        enum ladder_tone tone;
        bool again;
        const char *end;
    } rows[] = {
        {"first_send", "SEND_ONLY psn=100 ackreq", FATE_ARRIVED, TONE_REQUEST, false, ""},
        {"first_send", "ACK psn=100 msn=1", FATE_ARRIVED, TONE_ANSWER, false, ""},
        {"lost_request", "SEND_ONLY psn=100 ackreq", FATE_LOST, TONE_REQUEST, false, "lost: f1"},
        {"lost_request", "SEND_ONLY psn=100 ackreq 2nd", FATE_ARRIVED, TONE_REQUEST, true, ""},
        {"lost_ack", "ACK psn=100 msn=1", FATE_LOST, TONE_ANSWER, false, "lost by chance"},
        {"lost_middle", "SEND_MIDDLE psn=101", FATE_LOST, TONE_REQUEST, false, "lost: f1"},
        {"lost_middle", "NAK_PSN_SEQUENCE psn=101 msn=0", FATE_ARRIVED, TONE_NAK, false, ""},
        {"receiver_not_ready", "RNR_NAK psn=100 msn=0 wait 640us", FATE_ARRIVED, TONE_NAK, false,
         ""},
        {"duplicate", "copy made by f1", FATE_ARRIVED, TONE_REQUEST, false, ""},
        {"faults", "SEND_FIRST psn=100, delayed 20us by f1", FATE_ARRIVED, TONE_REQUEST, false, ""},
        {"faults", "SEND_LAST psn=101 ackreq, corrupted by f2", FATE_DROPPED, TONE_REQUEST, false,
         ""},
        {"retries_exceeded", "SEND_ONLY psn=101 ackreq 3rd", FATE_LOST, TONE_REQUEST, true,
         "lost: f1"},
        {"injected", "injected at h1: SEND_ONLY psn=100 ackreq", FATE_ARRIVED, TONE_REQUEST, false,
         ""},
        {"injected", "injected at h1: SEND_ONLY psn=100 ackreq, wrong ICRC", FATE_DROPPED,
         TONE_REQUEST, false, ""},
        {"injected", "injected at h2: ACKNOWLEDGE psn=77", FATE_LOST, TONE_ANSWER, false,
         "lost: f2"},
        {"injected", "SEND_ONLY psn=100 ackreq", FATE_ARRIVED, TONE_REQUEST, false, ""},
        {"own_host", "SEND_ONLY psn=200", FATE_UNKNOWN, TONE_REQUEST, false, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ladder *l = trace_ladder(rows[i].trace, NULL);
        const struct ladder_arrow *a = labelled(l, rows[i].label);

        if (!a)
            fail_msg("%s: no \"%s\"", rows[i].trace, rows[i].label);
        assert_int_equal(a->fate, rows[i].fate);
        assert_int_equal(a->tone, rows[i].tone);
        assert_int_equal(a->again, rows[i].again);
        assert_string_equal(a->end, rows[i].end);
        ladder_free(l);
    }
}

/* Only packets that no queue pair of the lab sent, and not those from outside of it. */
static void injected_packets_are_told_from_those_of_a_host(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_trace_cases; i++) {
        struct ladder *l = trace_ladder(trace_cases[i].name, NULL);

        for (uint32_t k = 0; k < l->n_arrows; k++) {
            const struct ladder_arrow *a = &l->arrows[k];

            if (!a->copy)
                assert_int_equal(a->injected, strncmp(a->label, "injected at ", 12) == 0);
        }
        ladder_free(l);
    }
}

/* The packet was injected before the picture, and its inject event may be forgotten. */
static void a_cut_arrow_of_an_injected_packet_says_so(void **state)
{
    struct trace_of *t = calloc(1, sizeof(*t));

    (void)state;
    assert_non_null(t);
    trace_build(t, "injected");
    for (size_t i = 0; i < t->n; i++) {
        struct picture_options options = {.from = 0};
        struct ladder *l;

        if (t->e[i].kind != EV_inject || !t->e[i].u.inject.bad_icrc)
            continue;
        options.from = t->e[i].id + 2; /* behind the tx event */
        l = trace_draw(t, 0, &options);
        assert_true(labelled(l, "injected at h1: SEND_ONLY psn=100 ackreq, wrong ICRC")->injected);
        ladder_free(l);
        l = trace_draw(t, i + 1, &options);
        assert_true(labelled(l, "injected at h1: SEND_ONLY psn=100 ackreq")->injected);
        ladder_free(l);
    }
    free(t);
}

static void each_stop_says_what_a_learner_must_know(void **state)
{
    static const struct {
        const char *trace, *note;
        enum ladder_tone tone;
    } rows[] = {
        {"first_send", "RESET -> INIT -> RTR -> RTS", TONE_STATE},
        {"first_send", "post SEND wr_id=1, 64 bytes, kick", TONE_POST},
        {"first_send", "post RECV wr_id=7, 1024 bytes, kick", TONE_POST},
        {"first_send", "CQE wr_id=7 SUCCESS RECV 64 bytes", TONE_DONE},
        {"first_send", "CQE wr_id=1 SUCCESS SEND", TONE_DONE},
        {"lost_request", "ACK timeout 65.53us, retry 1 of 7", TONE_TIMER},
        {"lost_ack", "duplicate, acknowledged again", TONE_PLAIN},
        {"lost_middle", "ahead of the expected PSN: sequence NAK", TONE_BAD},
        {"lost_middle", "goes back to psn=101", TONE_TIMER},
        {"receiver_not_ready", "RNR timer 640us, retry 1", TONE_TIMER},
        {"receiver_not_ready", "no receive posted: RNR NAK", TONE_BAD},
        {"crossing", "post RECV wr_id=70..75, 1024 bytes each, kick", TONE_POST},
        {"faults", "dropped: BAD_ICRC", TONE_BAD},
        {"retries_exceeded", "ACK timeout 65.53us, after 2 retries", TONE_TIMER},
        {"retries_exceeded", "CQE wr_id=1 RETRY_EXC_ERR", TONE_BAD},
        {"retries_exceeded", "CQE wr_id=2..4 WR_FLUSH_ERR", TONE_BAD},
        {"retries_exceeded", "RTS -> ERR", TONE_BAD},
        {"refused", "qpn9: RESET -> INIT", TONE_STATE},
        {"refused", "<q&\">: key 0x1a4 refused by MR_KEY", TONE_BAD},
        {"keys", "post BIND_MW wr_id=4", TONE_POST},
        {"keys", "window 0x24a shows 64 bytes", TONE_STATE},
        {"keys", "window 0x24b shows nothing", TONE_STATE},
        {"keys", "region 0x377 registered", TONE_STATE},
        {"keys", "key 0x377 is invalid now", TONE_STATE},
        {"keys", "window 0x249 not bound, by BIND_MW", TONE_BAD},
        {"keys", "region 0x378 not registered, by REG_STATE", TONE_BAD},
        {"keys", "key 0x14a stays valid, by INV_KIND", TONE_BAD},
        {"keys", "not sent: SQ_DATAGRAM_LENGTH", TONE_BAD},
        {"kick_later", "post SEND wr_id=1, 64 bytes", TONE_POST},
        {"kick_later", "kick queue 19", TONE_POST},
        {"credits_told", "the peer has receives up to message 2", TONE_STATE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ladder *l = trace_ladder(rows[i].trace, NULL);
        const struct ladder_stop *s = saying(l, rows[i].note);

        if (!s)
            fail_msg("%s: nothing says \"%s\"", rows[i].trace, rows[i].note);
        assert_int_equal(s->tone, rows[i].tone);
        ladder_free(l);
    }
}

/* News of credits is nothing bad, and is said once. */
static void news_of_credits_is_said_once(void **state)
{
    struct ladder *l = trace_ladder("credits_told", NULL);

    (void)state;
    assert_null(saying(l, "tells how many receives there are"));
    ladder_free(l);
}

static void hosts_have_lifelines_only_if_they_appear(void **state)
{
    static const struct {
        const char *trace;
        uint32_t n;
        const char *last;
    } rows[] = {{"first_send", 2, "h2"},
                {"three_hosts", 3, "h3"},
                {"refused", 1, "h1"},
                {"from_outside", 2, "outside"},
                {"nothing", 0, ""}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ladder *l = trace_ladder(rows[i].trace, NULL);

        assert_int_equal(l->n_columns, rows[i].n);
        if (l->n_columns)
            assert_string_equal(l->columns[l->n_columns - 1].name, rows[i].last);
        ladder_free(l);
    }
}

static void a_timer_has_a_bracket_only_if_it_ran_out(void **state)
{
    struct ladder *l = trace_ladder("first_send", NULL);

    (void)state;
    assert_int_equal(l->n_timers, 0);
    ladder_free(l);

    l = trace_ladder("lost_request", NULL);
    assert_int_equal(l->n_timers, 1);
    assert_int_equal(l->timers[0].armed, l->arrows[0].tail);
    assert_int_equal(l->stops[l->timers[0].fired].kind, EV_timeout);
    ladder_free(l);
}

static void a_pause_is_idle_only_if_nothing_at_all_happened(void **state)
{
    struct ladder *l = trace_ladder("lost_request", NULL);
    const struct ladder_stop *s = saying(l, "ACK timeout 65.53us, retry 1 of 7");

    (void)state;
    assert_int_equal(s->gap_ns, 65536);
    assert_true(s->idle);
    ladder_free(l);

    l = trace_ladder("faults", NULL); /* a packet is under way */
    s = &l->stops[labelled(l, "SEND_FIRST psn=100, delayed 20us by f1")->head];
    assert_true(s->gap_ns > 0);
    assert_false(s->idle);
    ladder_free(l);
}

/* The index of the @n-th event of @kind. */
static size_t index_of(const struct trace_of *t, enum ev_kind kind, unsigned n)
{
    size_t i = 0;

    while (t->e[i].kind != kind || n-- > 0) {
        i++;
        assert_true(i < t->n);
    }
    return i;
}

static void an_arrow_is_cut_where_the_picture_ends(void **state)
{
    static const struct {
        const char *trace;
        enum ev_kind from; /* the first event of this kind; EV_COUNT: the whole trace */
        enum ev_kind to;
        bool forgotten; /* what is before @from */
        enum ladder_cut cut;
        enum frame_fate fate;
        const char *label, *beyond, *where; /* of the first arrow, and of its other end */
        uint32_t columns;
    } rows[] = {
        {"first_send", EV_rx, EV_COUNT, false, CUT_TAIL, FATE_ARRIVED, "SEND_ONLY psn=100 ackreq",
         "sent in ", ", before this picture", 2},
        {"first_send", EV_rx, EV_COUNT, true, CUT_TAIL, FATE_ARRIVED, "SEND_ONLY psn=100",
         "sent in ", ", which is forgotten", 2},
        {"first_send", EV_COUNT, EV_tx, false, CUT_HEAD, FATE_UNKNOWN, "SEND_ONLY psn=100 ackreq",
         "arrives in ", ", after this picture", 2},
        /* It arrives twice: the second time it is a copy that does. */
        {"duplicate", EV_COUNT, EV_tx, false, CUT_HEAD, FATE_UNKNOWN, "SEND_ONLY psn=100 ackreq",
         "arrives in ", ", after this picture", 2},
        {"lost_request", EV_COUNT, EV_tx, false, CUT_HEAD, FATE_UNKNOWN, "SEND_ONLY psn=100 ackreq",
         "is lost in ", ", after this picture", 2},
        {"lost_request", EV_lost, EV_lost, false, CUT_TAIL, FATE_LOST, "SEND_ONLY psn=100 ackreq",
         "sent in ", ", before this picture", 2},
        {"lost_request", EV_lost, EV_lost, true, CUT_TAIL, FATE_LOST, "SEND_ONLY psn=100",
         "sent in ", ", which is forgotten", 1},
        {"own_host", EV_COUNT, EV_COUNT, false, CUT_NONE, FATE_ARRIVED, "SEND_ONLY psn=100 ackreq",
         "", "", 2},
    };
    struct trace_of *t = calloc(1, sizeof(*t));

    (void)state;
    assert_non_null(t);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct picture_options options = {0};
        size_t from = 0, other;
        struct ladder *l;
        char beyond[128];
        struct text words = text_on(beyond, sizeof(beyond));

        trace_build(t, rows[i].trace);
        if (rows[i].from < EV_COUNT) {
            from = index_of(t, rows[i].from, 0);
            options.from = t->e[from].id;
        }
        if (rows[i].to < EV_COUNT)
            options.to = t->e[index_of(t, rows[i].to, 0)].id;
        l = trace_draw(t, rows[i].forgotten ? from : 0, &options);
        other = index_of(t,
                         strstr(rows[i].beyond, "lost") ? EV_lost
                         : rows[i].cut == CUT_HEAD      ? EV_rx
                                                        : EV_tx,
                         0);
        text_add(&words, rows[i].beyond);
        if (rows[i].cut)
            ev_add_id(&words, t->e[other].id);
        text_add(&words, rows[i].where);
        assert_int_equal(l->arrows[0].cut, rows[i].cut);
        assert_int_equal(l->arrows[0].fate, rows[i].fate);
        assert_string_equal(l->arrows[0].label, rows[i].label);
        assert_string_equal(l->arrows[0].beyond, beyond);
        assert_int_equal(l->n_columns, rows[i].columns);
        ladder_free(l);
    }
    free(t);
}

/* The ticks of the gap belong to it, the first and the last too. */
static void what_was_not_recorded_is_not_forgotten(void **state)
{
    static const struct {
        int from, to; /* of the gap, from the tick in which the packet was sent */
        const char *tail, *head;
    } rows[] = {
        {0, 0, "which was not recorded", "where it ends was not recorded"},
        {-1, 0, "which was not recorded", "where it ends was not recorded"},
        {0, 1, "which was not recorded", "where it ends was not recorded"},
        {1, 2, "which is forgotten", "where it ends was not recorded"},
        {-2, -1, "which is forgotten", "still under way"},
    };
    struct trace_of *t = calloc(1, sizeof(*t));

    (void)state;
    assert_non_null(t);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct picture_options options = {0};
        struct ladder *l;
        size_t rx;
        uint64_t sent;

        trace_build(t, "first_send");
        rx = index_of(t, EV_rx, 0);
        sent = ev_tick(t->e[index_of(t, EV_tx, 0)].id);
        t->gap_from = sent + (uint64_t)rows[i].from;
        t->gap_to = sent + (uint64_t)rows[i].to;
        l = trace_draw(t, rx, &options);
        assert_non_null(strstr(l->arrows[0].beyond, rows[i].tail));
        ladder_free(l);
        t->n = rx;
        l = trace_draw(t, 0, &options);
        assert_string_equal(l->arrows[0].beyond, rows[i].head);
        ladder_free(l);
    }
    free(t);
}

/* The label tells what faults did before the picture; a copy is told from its original. */
static void what_became_of_a_packet_before_the_picture_is_known(void **state)
{
    static const struct {
        const char *trace;
        enum ev_kind kind; /* the picture is the @n-th event of this kind */
        unsigned n;
        bool copy;
        const char *label;
    } rows[] = {
        {"faults", EV_drop, 0, false, "SEND_LAST psn=101 ackreq, corrupted by f2"},
        {"duplicate", EV_rx, 0, false, "SEND_ONLY psn=100 ackreq"},
        {"duplicate", EV_rx, 1, true, "SEND_ONLY psn=100 ackreq, copy made by f1"},
    };
    struct trace_of *t = calloc(1, sizeof(*t));

    (void)state;
    assert_non_null(t);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct picture_options options = {0};
        struct ladder *l;

        trace_build(t, rows[i].trace);
        options.from = options.to = t->e[index_of(t, rows[i].kind, rows[i].n)].id;
        l = trace_draw(t, 0, &options);
        assert_int_equal(l->n_arrows, 1);
        assert_int_equal(l->arrows[0].copy, rows[i].copy);
        assert_int_equal(l->arrows[0].cut, CUT_TAIL);
        assert_string_equal(l->arrows[0].label, rows[i].label);
        ladder_free(l);
    }
    free(t);
}

static void a_timer_that_was_armed_before_the_picture_is_known(void **state)
{
    struct picture_options options = {0};
    struct trace_of *t = calloc(1, sizeof(*t));
    char note[64];
    struct text words = text_on(note, sizeof(note));
    struct ladder *l;

    (void)state;
    assert_non_null(t);
    trace_build(t, "lost_request");
    options.from = t->e[index_of(t, EV_timeout, 0)].id;
    l = trace_draw(t, 0, &options);
    text_add(&words, "ACK timeout 65.53us, armed in ");
    ev_add_id(&words, t->e[index_of(t, EV_timer, 0)].id);
    text_add(&words, ", retry 1 of 7");
    assert_non_null(saying(l, note));
    assert_int_equal(l->n_timers, 1);
    assert_int_equal(l->timers[0].armed, LADDER_NONE);
    ladder_free(l);

    l = trace_draw(t, index_of(t, EV_timeout, 0), &options); /* that is forgotten */
    assert_non_null(saying(l, "ACK timeout, retry 1 of 7"));
    assert_int_equal(l->n_timers, 0);
    ladder_free(l);
    free(t);
}

/* A lab that is late extends the timer: there is one more timer event before it runs out. */
static void a_timer_that_was_extended_is_drawn_from_where_it_was_armed(void **state)
{
    struct picture_options options = {0};
    struct trace_of *t = calloc(1, sizeof(*t));
    struct ladder *plain, *late;
    size_t armed, out;

    (void)state;
    assert_non_null(t);
    trace_build(t, "lost_request");
    plain = trace_draw(t, 0, &options);
    armed = index_of(t, EV_timer, 0);
    out = index_of(t, EV_timeout, 0);
    memmove(&t->e[out + 1], &t->e[out], (t->n - out) * sizeof(t->e[0]));
    t->n++;
    t->e[out] = t->e[armed];
    t->e[out].cause = t->e[armed].id;
    t->e[out].id = t->e[out - 1].id + 1;
    t->e[out].at_ns = t->e[out + 1].at_ns - 1000;
    late = trace_draw(t, 0, &options);
    assert_non_null(saying(late, "ACK timeout 65.53us, retry 1 of 7"));
    assert_int_equal(late->n_stops, plain->n_stops);
    ladder_free(plain);
    ladder_free(late);
    free(t);
}

/* A kick of a queue that was posted to before the picture. */
static void a_kick_in_the_picture_is_told(void **state)
{
    struct picture_options options = {0};
    struct trace_of *t = calloc(1, sizeof(*t));
    struct ladder *l;

    (void)state;
    assert_non_null(t);
    trace_build(t, "kick_later");
    options.from = t->e[index_of(t, EV_post_send, 0) + 1].id;
    l = trace_draw(t, 0, &options);
    assert_non_null(saying(l, "kick queue 19"));
    ladder_free(l);
    free(t);
}

static void names_outlive_the_events_that_told_them(void **state)
{
    struct trace_of *t = calloc(1, sizeof(*t));
    struct ladder *l;

    (void)state;
    assert_non_null(t);
    trace_build(t, "first_send");
    l = trace_draw(t, index_of(t, EV_tx, 0), &(struct picture_options){0});
    assert_int_equal(l->n_columns, 2);
    assert_string_equal(l->columns[0].name, "h1");
    assert_string_equal(l->columns[1].name, "h2");
    assert_string_equal(l->columns[1].addr, "10.0.0.2");
    ladder_free(l);
    free(t);
}

static void a_pause_with_recording_off_is_not_called_idle(void **state)
{
    struct trace_of *t = calloc(1, sizeof(*t));
    struct ladder *l;
    size_t timeout;
    char buf[64];
    struct text words = text_on(buf, sizeof(buf));

    (void)state;
    assert_non_null(t);
    trace_build(t, "lost_request");
    timeout = index_of(t, EV_timeout, 0);
    t->gap_from = ev_tick(t->e[timeout - 1].id) + 1;
    t->gap_to = ev_tick(t->e[timeout].id);
    l = trace_draw(t, 0, &(struct picture_options){0});
    ladder_add_gap(&words, saying(l, "ACK timeout 65.53us, retry 1 of 7"));
    assert_string_equal(buf, "65.53us later, not all recorded");
    ladder_free(l);
    free(t);
}

static void what_is_left_out_is_counted_and_named(void **state)
{
    const struct picture_options options = {.n_packets = 10};
    struct ladder *l = trace_ladder("thirty_packets", &options);
    char buf[128];
    char expected[128];
    struct text t = text_on(buf, sizeof(buf));
    struct text want = text_on(expected, sizeof(expected));

    (void)state;
    assert_int_equal(l->n_arrows, 10);
    assert_int_equal(l->left.n_packets, 24); /* 20 of the message, 4 ACKs */
    assert_true(ladder_add_rest(&t, l));
    text_add(&want, "... 24 more packets, from ");
    ev_add_id(&want, l->left.from);
    text_add(&want, " on, are left out");
    assert_string_equal(buf, expected);
    ladder_free(l);
}

static void each_limit_has_its_sentence(void **state)
{
    static const struct {
        struct picture_left left;
        const char *text;
    } rows[] = {
        {{0, 0, 0, false}, ""},
        {{0, 0, 0, true}, "only the first 12 hosts are drawn"},
        {{0, 1, ID(9, 1), false}, "1 more packet, from #9.1 on, is left out"},
        {{0, 0, ID(9, 1), true},
         "only the first 12 hosts are drawn; more events, from #9.1 on, are left out"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[128];
        struct text t = text_on(buf, sizeof(buf));

        picture_add_left(&t, &rows[i].left);
        assert_string_equal(buf, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_packet_is_labelled_and_has_its_fate),
        cmocka_unit_test(injected_packets_are_told_from_those_of_a_host),
        cmocka_unit_test(a_cut_arrow_of_an_injected_packet_says_so),
        cmocka_unit_test(each_stop_says_what_a_learner_must_know),
        cmocka_unit_test(news_of_credits_is_said_once),
        cmocka_unit_test(hosts_have_lifelines_only_if_they_appear),
        cmocka_unit_test(a_timer_has_a_bracket_only_if_it_ran_out),
        cmocka_unit_test(a_pause_is_idle_only_if_nothing_at_all_happened),
        cmocka_unit_test(an_arrow_is_cut_where_the_picture_ends),
        cmocka_unit_test(what_was_not_recorded_is_not_forgotten),
        cmocka_unit_test(what_became_of_a_packet_before_the_picture_is_known),
        cmocka_unit_test(a_timer_that_was_armed_before_the_picture_is_known),
        cmocka_unit_test(a_timer_that_was_extended_is_drawn_from_where_it_was_armed),
        cmocka_unit_test(a_kick_in_the_picture_is_told),
        cmocka_unit_test(names_outlive_the_events_that_told_them),
        cmocka_unit_test(a_pause_with_recording_off_is_not_called_idle),
        cmocka_unit_test(what_is_left_out_is_counted_and_named),
        cmocka_unit_test(each_limit_has_its_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
