/* SPDX-License-Identifier: MIT */
/* diff: shows where two futures part, what is different there, and what happened then in each.
 * cli/diff compares; this file takes the lab to the places where it reads.
 */
#include <string.h>

#include "cli/diff/diff.h"
#include "cli/exec/executing.h"
#include "cli/exec/travel.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "print/show_text.h"

#define COLUMNS_OF_FILES 140u /* where no terminal says how many there are */

static bool go_to_end(struct session *s, const char *name, struct span at)
{
    struct place end;

    if (strcmp(name, futures_current(&s->history->futures)) != 0 && !travel_to_future(s, name, at))
        return false;
    end = position_end(s);
    return travel_to(s, &end, at);
}

/* Reads the lab at the end of @side, and its state where the futures part. */
static bool look_at_side(struct session *s, const struct diff *d, struct diff_side *side,
                         struct span at)
{
    struct place there;

    diff_take_end(s, d, side);
    if (side->parts) {
        there = position_of_tick(s, ev_tick(side->parts));
        if (!travel_to(s, &there, at))
            return false;
    }
    diff_take_state(s, side);
    return true;
}

static const struct journal *journal_of(const struct session *s, const char *name)
{
    const struct future *f = futures_find(&s->history->futures, name);

    return f ? &f->journal : &s->history->journal;
}

/* Reads both futures.  The lab ends in one of them. */
static bool see_both(struct session *s, struct diff *d, struct span at)
{
    struct diff_side *a = &d->a, *b = &d->b;
    const struct common common = futures_common(journal_of(s, a->name), journal_of(s, b->name));

    if (!go_to_end(s, a->name, at))
        return false;
    diff_take_events(s, common.a.at.tick, a);
    if (!go_to_end(s, b->name, at))
        return false;
    diff_take_events(s, common.b.at.tick, b);
    diff_find_parting(d);
    return look_at_side(s, d, b, at) && go_to_end(s, a->name, at) && look_at_side(s, d, a, at);
}

/* Restores the place where the future of @side was left: reading it does not count. */
static void put_left(struct session *s, const struct diff_side *side)
{
    for (size_t i = 0; i < s->history->futures.n; i++) {
        if (strcmp(s->history->futures.v[i].name, side->name) == 0)
            s->history->futures.v[i].left = side->left;
    }
}

static void note_left(const struct session *s, struct diff_side *side)
{
    const struct future *f = futures_find(&s->history->futures, side->name);

    side->left = f ? f->left : position_here(s);
}

/* Checks that the future exists that parameter @name of @st names. */
static bool is_future(struct session *s, const struct step *st, const char *name)
{
    if (!step_has(st, name) || futures_has(&s->history->futures, step_text(st, name)))
        return true;
    session_fail(s, step_span(st, name, 0), "no future is called \"%s\"", step_text(st, name));
    return diag_remedy(&s->diag, "\"futures\" lists them");
}

bool run_diff(struct session *s, const struct step *st)
{
    const unsigned columns = show_columns_of_terminal(s->config.out, COLUMNS_OF_FILES);
    const bool is_wide = columns / 2 >= DIFF_SIDE_COLUMNS_MIN + DIFF_BETWEEN_COLUMNS / 2;
    const struct place here = position_here(s);
    char origin[RDL_NAME_BYTES];
    struct text t = text_on(origin, sizeof(origin));
    struct diff d = {.a = {.name = step_text(st, "a")},
                     .b = {.name = step_has(st, "b") ? step_text(st, "b") : origin},
                     .all = step_has(st, "all"),
                     .side_by_side = is_wide,
                     .width = is_wide ? columns / 2 - DIFF_BETWEEN_COLUMNS / 2
                                      : show_columns(s->config.out)};
    bool ok;

    text_add(&t, futures_current(&s->history->futures));
    if (!position_may_move(s, st) || !is_future(s, st, "a") || !is_future(s, st, "b"))
        return false;
    if (strcmp(d.a.name, d.b.name) == 0)
        return session_fail(s, st->at, "these are the same future");
    note_left(s, &d.a);
    note_left(s, &d.b);
    ok = see_both(s, &d, st->at) && go_to_end(s, origin, st->at) && travel_to(s, &here, st->at);
    put_left(s, &d.a);
    put_left(s, &d.b);
    if (ok)
        diff_print(s, &d);
    diff_side_done(&d.a);
    diff_side_done(&d.b);
    return ok;
}
