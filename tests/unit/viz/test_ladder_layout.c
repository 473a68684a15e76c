/* SPDX-License-Identifier: MIT */
/* No text of a ladder touches a line, another text, or the edge of the picture. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/prng.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "traces.h"
#include "viz/ladder_layout.h"

static bool inside(const struct layout *o, const struct quad *q)
{
    for (size_t i = 0; i < 4; i++) {
        if (q->p[i].x < 0 || q->p[i].x > o->width || q->p[i].y < 0 || q->p[i].y > o->height)
            return false;
    }
    return true;
}

/* The text that is in the way of something, or NULL. */
static const struct layout_text *colliding(const struct layout *o)
{
    for (uint32_t i = 0; i < o->n_texts; i++) {
        const struct layout_text *t = &o->texts[i];

        if (!inside(o, &t->box))
            return t;
        for (uint32_t k = 0; k < o->n_lines; k++) {
            if (quad_hits_segment(&t->box, &o->lines[k]))
                return t;
        }
        for (uint32_t k = 0; k < o->n_solids; k++) {
            if (quads_overlap(&t->box, &o->solids[k]))
                return t;
        }
        for (uint32_t k = 0; k < i; k++) {
            if (quads_overlap(&t->box, &o->texts[k].box))
                return t;
        }
    }
    return NULL;
}

static bool is_said(const struct layout *o, const char *words)
{
    for (uint32_t i = 0; i < o->n_texts; i++) {
        if (strstr(o->texts[i].s, words))
            return true;
    }
    return false;
}

static void check(const char *name, const struct ladder *l)
{
    struct layout o;
    const struct layout_text *t;

    assert_int_equal(layout_init(&o, l), RDL_OK);
    t = colliding(&o);
    if (t)
        fail_msg("%s: \"%s\" collides", name, t->s);
    for (uint32_t i = 0; i < l->n_arrows; i++) {
        assert_true(is_said(&o, l->arrows[i].label));
        assert_true(is_said(&o, l->arrows[i].end));
        assert_true(is_said(&o, l->arrows[i].beyond));
    }
    for (uint32_t i = 1; i < l->n_stops; i++) {
        assert_true(is_said(&o, l->stops[i].note));
        assert_true(o.y[i] >= o.y[i - 1]);
    }
    layout_done(&o);
}

static void nothing_collides_in_any_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_trace_cases; i++) {
        struct ladder *l = trace_ladder(trace_cases[i].name, NULL);

        check(trace_cases[i].name, l);
        ladder_free(l);
    }
}

static void what_is_missing_is_said_in_full(void **state)
{
    static const char *const parts[] = {"the 12345678 oldest", "keeps more;", "is missing"};
    struct trace_of *t = calloc(1, sizeof(*t));
    struct ladder *l;
    struct layout o;
    struct text missing;

    (void)state;
    assert_non_null(t);
    trace_build(t, "first_send");
    l = trace_draw(t, 0, &(struct picture_options){.title = "some of it"});
    missing = text_on(l->missing, sizeof(l->missing));
    text_add(&missing,
             "the 12345678 oldest events are forgotten, this is complete from #12345678.12 on; "
             "\"record keep=64m\" as the first line of the lab file keeps more; recording was off "
             "at times from "
             "#12345678 to #123456789: what happened then is missing");
    check("missing", l);
    assert_int_equal(layout_init(&o, l), RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        assert_true(is_said(&o, parts[i]));
    layout_done(&o);
    ladder_free(l);
    free(t);
}

/* Simple exchanges need no label outside of the lifelines. */
static void labels_stand_at_their_arrows_where_there_is_room(void **state)
{
    static const char *const names[] = {"first_send",         "lost_request", "lost_ack",
                                        "lost_middle",        "duplicate",    "faults",
                                        "receiver_not_ready", "three_hosts",  "retries_exceeded"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct ladder *l = trace_ladder(names[i], NULL);
        struct layout o;

        assert_int_equal(layout_init(&o, l), RDL_OK);
        for (uint32_t k = 0; k < l->n_arrows; k++)
            assert_false(o.label_out[k] || o.end_out[k]);
        layout_done(&o);
        ladder_free(l);
    }
}

/* A trace that no lab would make: any host sends anything to any other, and anything happens to
 * it.
 */
static void random_trace(struct trace_of *t, uint64_t seed)
{
    struct prng r = prng_stream(seed, 0);
    const uint32_t n_hosts = 1 + (uint32_t)prng_below(&r, 6);
    uint64_t tick = 1;
    uint64_t at = 0;

    t->n = 0;
    while (t->n < 60) {
        const uint32_t host = (uint32_t)prng_below(&r, n_hosts);
        const uint32_t peer = (uint32_t)prng_below(&r, n_hosts);
        const size_t other = t->n ? prng_below(&r, t->n) : 0;
        const ev_id tx = t->n && t->e[other].kind == EV_tx ? t->e[other].id : 0;
        const uint64_t gap_ns = prng_below(&r, 4) == 0 ? 20000 : 300;
        struct ev *e = &t->e[t->n++];

        at += prng_below(&r, gap_ns);
        *e = (struct ev){.at_ns = at, .id = ev_id_of(tick++, 1)};
        switch (prng_below(&r, 9)) {
        case 0:
        case 1:
        case 2:
            e->kind = EV_tx;
            e->u.tx = (struct ev_tx){.host = host,
                                     .qpn = 2,
                                     .opcode = OP_RC_SEND_ONLY,
                                     .psn = (uint32_t)prng_below(&r, PSN_MASK),
                                     .ackreq = true};
            e->u.tx.attempt = (uint32_t)prng_below(&r, 4);
            e->u.tx.peer = prng_below(&r, 8) ? peer : EV_HOST_NONE;
            break;
        case 3:
        case 4:
            e->kind = EV_rx;
            e->u.rx = (struct ev_rx){.host = peer,
                                     .qpn = 2 + (uint32_t)prng_below(&r, 2),
                                     .opcode = OP_RC_ACKNOWLEDGE,
                                     .syndrome = SYN_ACK,
                                     .tx = tx};
            e->u.rx.act = (uint32_t)prng_below(&r, 12);
            break;
        case 5:
            e->kind = EV_lost;
            e->u.lost = (struct ev_lost){
                .host = host, .by = FLT_DROP, .fault = 1, .name = ev_str("f1"), .tx = tx};
            break;
        case 6:
            e->kind = EV_cqe;
            e->u.cqe = (struct ev_cqe){.host = host, .wr_id = at, .status = WCS_RETRY_EXC_ERR};
            break;
        case 7:
            e->kind = EV_timer;
            e->u.timer = (struct ev_timer){.host = host, .qpn = 2 + (uint32_t)prng_below(&r, 3)};
            break;
        default:
            e->kind = EV_timeout;
            e->u.timeout = (struct ev_timeout){
                .host = host, .qpn = 2 + (uint32_t)prng_below(&r, 3), .retry = 1, .limit = 7};
            break;
        }
    }
}

static void nothing_collides_in_random_traces(void **state)
{
    struct trace_of *t = calloc(1, sizeof(*t));

    (void)state;
    assert_non_null(t);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct picture_options options = {.n_packets = seed % 5 ? 0 : 4};
        struct ladder *l;
        char name[32];
        struct text words = text_on(name, sizeof(name));

        random_trace(t, seed);
        if (seed % 3 == 0)
            options.from = t->e[20].id;
        if (seed % 4 == 0)
            options.to = t->e[40].id;
        l = trace_draw(t, 0, &options);
        text_addf(&words, "seed %u", (unsigned)seed);
        check(name, l);
        ladder_free(l);
    }
    free(t);
}

/* Each at the height of the end that it has, and none reaches the other lifeline. */
static void cut_arrows_are_level_and_lie_one_below_the_other(void **state)
{
    struct trace_of *t = calloc(1, sizeof(*t));
    struct picture_options options = {0};
    struct ladder *l;
    struct layout o;
    size_t i = 0;

    (void)state;
    assert_non_null(t);
    trace_build(t, "thirty_packets");
    while (t->e[i].kind != EV_rx)
        i++;
    options.to = t->e[i - 1].id;
    l = trace_draw(t, 0, &options);
    assert_true(l->n_arrows > 2);
    assert_int_equal(layout_init(&o, l), RDL_OK);
    for (uint32_t k = 0; k < l->n_arrows; k++) {
        const struct segment *s = &o.arrows[k].seg[0];

        assert_int_equal(l->arrows[k].cut, CUT_HEAD);
        assert_int_equal(s->a.y, o.y[l->arrows[k].tail]);
        assert_int_equal(s->a.y, s->b.y);
        assert_in_range(s->b.x, o.x[0] + PX(50), o.x[1] - PX(50));
        assert_true(k == 0 || s->a.y >= o.arrows[k - 1].seg[0].a.y + LAYOUT_STEP_END);
        assert_false(o.label_out[k] || o.cut_out[k]);
    }
    layout_done(&o);
    ladder_free(l);
    free(t);
}

static void a_lost_packet_ends_between_the_lifelines_and_above_the_pause(void **state)
{
    struct ladder *l = trace_ladder("lost_request", NULL);
    struct layout o;
    struct point end;

    (void)state;
    assert_int_equal(layout_init(&o, l), RDL_OK);
    end = o.arrows[0].seg[0].b;
    assert_in_range(end.x, o.x[0] + PX(100), o.x[1] - PX(50));
    assert_true(end.y > o.arrows[0].seg[0].a.y);
    assert_int_equal(o.n_bands, 2);
    assert_true(end.y < o.bands[1].top);
    layout_done(&o);
    ladder_free(l);
}

static uint32_t count_names(const struct layout *o, uint32_t column)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < o->n_texts; i++)
        n +=
            o->texts[i].kind == TEXT_NAME && strcmp(o->texts[i].s, o->l->columns[column].name) == 0;
    return n;
}

/* A short ladder has the names at its top alone. */
static void the_names_of_the_hosts_come_again_far_below(void **state)
{
    struct ladder *l = trace_ladder("sixty_packets", NULL);
    int32_t last = 0;
    struct layout o;

    (void)state;
    assert_int_equal(layout_init(&o, l), RDL_OK);
    assert_true(o.n_heads > 0);
    for (uint32_t i = 0; i < o.n_heads; i++) {
        assert_true(o.heads[i].y - last >= PX(900));
        last = o.heads[i].y;
    }
    assert_true(o.bottom - last < PX(1100));
    for (uint32_t c = 0; c < l->n_columns; c++)
        assert_int_equal(count_names(&o, c), 1 + o.n_heads);
    layout_done(&o);
    ladder_free(l);
    l = trace_ladder("lost_request", NULL);
    assert_int_equal(layout_init(&o, l), RDL_OK);
    assert_int_equal(o.n_heads, 0);
    layout_done(&o);
    ladder_free(l);
}

/* A packet that is lost does not seem to overtake the one before it. */
static void arrows_of_one_direction_do_not_cross_the_lost_one(void **state)
{
    struct ladder *l = trace_ladder("lost_middle", NULL);
    struct layout o;
    const struct segment *before, *lost, *after;
    int32_t share;

    (void)state;
    assert_int_equal(layout_init(&o, l), RDL_OK);
    before = &o.arrows[0].seg[0];
    lost = &o.arrows[1].seg[0];
    after = &o.arrows[2].seg[0];
    share = (lost->b.x - lost->a.x) * 100 / (before->b.x - before->a.x);
    assert_true(lost->b.y > before->a.y + (before->b.y - before->a.y) * share / 100 + PX(5));
    assert_true(lost->b.y < after->a.y + (after->b.y - after->a.y) * share / 100 - PX(5));
    layout_done(&o);
    ladder_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_collides_in_any_case),
        cmocka_unit_test(what_is_missing_is_said_in_full),
        cmocka_unit_test(labels_stand_at_their_arrows_where_there_is_room),
        cmocka_unit_test(nothing_collides_in_random_traces),
        cmocka_unit_test(cut_arrows_are_level_and_lie_one_below_the_other),
        cmocka_unit_test(a_lost_packet_ends_between_the_lifelines_and_above_the_pause),
        cmocka_unit_test(the_names_of_the_hosts_come_again_far_below),
        cmocka_unit_test(arrows_of_one_direction_do_not_cross_the_lost_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
