/* SPDX-License-Identifier: MIT */
/* diff: where two futures part, what is different there, and what happened then in each. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/dispatch.h"
#include "cli/print/must.h"
#include "cli/print/show_text.h"
#include "cli/print/utf8.h"
#include "cli/session/travel.h"
#include "cli/tree/lab_past.h"
#include "cli/tree/tree_state.h"
#include "emu/trace/trace.h"
#include "rdmalab/trace.h"
#include "viz/picture.h"

#define STATES_SHOWN     24u
#define SIDE_COLUMNS_MIN 56u  /* of a ladder beside another one */
#define COLUMNS_OF_FILES 140u /* where no terminal says how many there are */

/* One of the two, and what was seen in it. */
struct side {
    const char *name;
    struct happened {
        ev_id id;
        uint64_t hash;
    } * v; /* behind the place that they have in common */
    size_t n;
    ev_id parts; /* the first event that the other one has not; 0: there is none */
    char event[512];
    struct tree_state state; /* behind the tick of that, or at the end */
    char *ladder;
    struct place left; /* where the lab was left in it */
};

/* --- Looking ---------------------------------------------------------------------------------- */

/* The events behind tick @common, as far as they are recorded. */
static void take_events(struct session *s, uint64_t common, struct side *side)
{
    const size_t n = rdl_record_count(s->lab);
    size_t first = n;

    while (first > 0 && ev_tick(rdl_record_at(s->lab, first - 1)->id) > common)
        first--;
    side->n = n - first;
    side->v = must_malloc((side->n + 1) * sizeof(*side->v));
    for (size_t i = 0; i < side->n; i++) {
        const struct ev *e = rdl_record_at(s->lab, first + i);
        struct trace_hash h = TRACE_HASH_START;

        trace_hash_event(&h, e);
        side->v[i] = (struct happened){e->id, h.value};
    }
}

static void put(void *ctx, const char *bytes, size_t n)
{
    fwrite(bytes, 1, n, ctx);
}

/* The ladder from the event on at which the two part. */
static void draw(struct session *s, struct side *side, unsigned width)
{
    const struct past past = past_of_lab(s->lab);
    const struct picture_options options = {.from = side->parts, .width = width, .n_packets = 40};
    size_t n;
    FILE *f = open_memstream(&side->ladder, &n);
    const struct viz_sink sink = {put, f};

    if (!f || ladder_draw(&past, &options, false, &sink) != RDL_OK || fclose(f) != 0)
        must_fail();
}

static void take_event_text(struct session *s, struct side *side)
{
    struct text t = text_on(side->event, sizeof(side->event));

    for (size_t i = rdl_record_count(s->lab); i > 0; i--) {
        const struct ev *e = rdl_record_at(s->lab, i - 1);

        if (e->id == side->parts)
            ev_add_line(&t, e, rdl_names(s->lab));
        if (e->id <= side->parts)
            return;
    }
}

static void side_done(struct side *side)
{
    tree_state_done(&side->state);
    free(side->v);
    free(side->ladder);
}

/* --- Going there ------------------------------------------------------------------------------ */

static bool go_to_end(struct session *s, const char *name, struct span at)
{
    struct place end;

    if (strcmp(name, futures_current(&s->futures)) != 0 && !futures_switch(s, name, at))
        return false;
    end = travel_end(s);
    return travel_to(s, &end, at);
}

/* The lab is at the end of @side: draws what came, and looks at the state where it parts. */
static bool look_at_side(struct session *s, struct side *side, unsigned width, struct span at)
{
    struct place there;

    take_event_text(s, side);
    draw(s, side, width);
    if (side->parts) {
        there = travel_place_of(s, ev_tick(side->parts));
        if (!travel_to(s, &there, at))
            return false;
    }
    tree_state_take(&side->state, s->lab);
    return true;
}

/* Where the events of the two are not the same any more. */
static void find_parting(struct side *a, struct side *b)
{
    size_t i = 0;

    while (i < a->n && i < b->n && a->v[i].hash == b->v[i].hash)
        i++;
    a->parts = i < a->n ? a->v[i].id : 0;
    b->parts = i < b->n ? b->v[i].id : 0;
}

static const struct journal *journal_of(const struct session *s, const char *name)
{
    const struct future *f = futures_find(&s->futures, name);

    return f ? &f->journal : &s->history.journal;
}

/* Sees both, and leaves the lab in one of them. */
static bool see_both(struct session *s, struct side *a, struct side *b, unsigned width,
                     struct span at)
{
    const struct common common = futures_common(journal_of(s, a->name), journal_of(s, b->name));

    if (!go_to_end(s, a->name, at))
        return false;
    take_events(s, common.a.at.tick, a);
    if (!go_to_end(s, b->name, at))
        return false;
    take_events(s, common.b.at.tick, b);
    find_parting(a, b);
    return look_at_side(s, b, width, at) && go_to_end(s, a->name, at) &&
           look_at_side(s, a, width, at);
}

/* --- Telling ---------------------------------------------------------------------------------- */

struct telling {
    struct session *s;
    size_t n;
};

/* One difference, as long as there are not too many. */
static void say_difference(void *ctx, const struct tree_difference *d)
{
    struct telling *t = ctx;

    if (t->n++ >= STATES_SHOWN)
        return;
    if (d->a && d->b)
        session_say(t->s, "  %-36s  %s | %s\n", d->path, d->a, d->b);
    else
        session_say(t->s, "  %-36.*s  %s\n", (int)d->node_bytes, d->path,
                    d->a ? "there | not there" : "not there | there");
}

/* What differs between two states, in the order of their paths. */
static void say_states(struct session *s, const struct side *a, const struct side *b)
{
    struct telling t = {.s = s};

    session_say(s, "state there, %s | %s:\n", a->name, b->name);
    tree_state_compare(&a->state, &b->state, say_difference, &t);
    if (t.n == 0)
        session_say(s, "  no difference\n");
    else if (t.n > STATES_SHOWN)
        session_say(s, "  ... and %zu more\n", t.n - STATES_SHOWN);
}

/* One line of a picture, and blanks up to @width. */
static const char *say_line(struct session *s, const char *from, unsigned width)
{
    const size_t n = strcspn(from, "\n");
    size_t columns = 0;

    for (size_t i = 0; i < n; i++)
        columns += ((unsigned char)from[i] & 0xc0) != 0x80; /* a character, not the rest of one */
    session_say(s, "%.*s%*s", (int)n, from, columns < width ? (int)(width - columns) : 0, "");
    return from[n] ? from + n + 1 : from + n;
}

static void say_ladders(struct session *s, const struct side *a, const struct side *b,
                        unsigned columns)
{
    const unsigned width = columns / 2 - 2;
    const char *x = a->ladder, *y = b->ladder;

    session_say(s, "from there on:\n");
    if (columns < 2 * SIDE_COLUMNS_MIN) {
        session_say(s, "%s\n%s\n%s\n%s", a->name, a->ladder, b->name, b->ladder);
        return;
    }
    session_say(s, "%-*s    %s\n", (int)width, a->name, b->name);
    while (*x || *y) {
        x = say_line(s, x, width);
        session_say(s, " |  ");
        y = say_line(s, y, 0);
        session_say(s, "\n");
    }
}

static void say_side(struct session *s, const struct side *side)
{
    session_say(s, "  %-12s  ", side->name);
    session_say_plain(s, side->parts ? side->event : "nothing more happens");
    session_say(s, "\n");
}

static void tell(struct session *s, const struct side *a, const struct side *b, unsigned columns)
{
    const uint64_t tick =
        ev_tick(a->parts && (a->parts < b->parts || !b->parts) ? a->parts : b->parts);

    if (!a->parts && !b->parts) {
        session_say(s, "the same happened in %s and %s\n", a->name, b->name);
        return;
    }
    session_say(s, "%s and %s part in #%llu:\n", a->name, b->name, (unsigned long long)tick);
    say_side(s, a);
    say_side(s, b);
    say_states(s, a, b);
    say_ladders(s, a, b, columns);
}

/* To look is not to leave: a future that was looked at is left where it was. */
static void put_left(struct session *s, const struct side *side)
{
    for (size_t i = 0; i < s->futures.n; i++) {
        if (strcmp(s->futures.v[i].name, side->name) == 0)
            s->futures.v[i].left = side->left;
    }
}

static void note_left(const struct session *s, struct side *side)
{
    const struct future *f = futures_find(&s->futures, side->name);

    side->left = f ? f->left : travel_here(s);
}

/* Is there such a future?  @name is that of a parameter of @st. */
static bool is_future(struct session *s, const struct step *st, const char *name)
{
    if (!step_has(st, name) || futures_has(&s->futures, step_text(st, name)))
        return true;
    session_fail(s, step_span(st, name, 0), "no future is called \"%s\"", step_text(st, name));
    return diag_remedy(&s->diag, "\"futures\" lists them");
}

bool run_diff(struct session *s, const struct step *st)
{
    const unsigned columns = show_columns_of_terminal(s->config.out, COLUMNS_OF_FILES);
    const unsigned width =
        columns < 2 * SIDE_COLUMNS_MIN ? show_columns(s->config.out) : columns / 2 - 2;
    const struct place here = travel_here(s);
    char origin[RDL_NAME_BYTES];
    struct text t = text_on(origin, sizeof(origin));
    struct side a = {.name = step_text(st, "a")};
    struct side b = {.name = step_has(st, "b") ? step_text(st, "b") : origin};
    bool ok;

    text_add(&t, futures_current(&s->futures));
    if (s->in->outer)
        return session_fail(s, st->at, "diff does not work in a block or a sourced file");
    if (!travel_is_possible(s, st->at) || !is_future(s, st, "a") || !is_future(s, st, "b"))
        return false;
    if (strcmp(a.name, b.name) == 0)
        return session_fail(s, st->at, "these are the same future");
    note_left(s, &a);
    note_left(s, &b);
    ok = see_both(s, &a, &b, width, st->at) && go_to_end(s, origin, st->at) &&
         travel_to(s, &here, st->at);
    put_left(s, &a);
    put_left(s, &b);
    if (ok)
        tell(s, &a, &b, columns);
    side_done(&a);
    side_done(&b);
    return ok;
}
