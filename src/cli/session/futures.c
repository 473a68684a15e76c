/* SPDX-License-Identifier: MIT */
#include "cli/session/futures.h"

#include <stdlib.h>
#include <string.h>

#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/session.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "process/must.h"
#include "rdmalab/trace.h"

/* --- Places with names ------------------------------------------------------------------------ */

static void marks_free(struct marks *all)
{
    free(all->v);
    *all = (struct marks){.v = NULL};
}

const struct place *marks_find(const struct marks *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++) {
        if (strcmp(all->v[i].name, name) == 0)
            return &all->v[i].place;
    }
    return NULL;
}

static void set_name(char to[RDL_NAME_BYTES], const char *name)
{
    struct text t = text_on(to, RDL_NAME_BYTES);

    text_add(&t, name);
}

static struct mark *add_mark(struct marks *all)
{
    all->v = must_grow(all->v, all->n, &all->room, sizeof(*all->v));
    return &all->v[all->n++];
}

void marks_put(struct marks *all, const char *name, const struct place *place)
{
    struct mark *mark = NULL;

    for (size_t i = 0; i < all->n; i++) {
        if (strcmp(all->v[i].name, name) == 0)
            mark = &all->v[i];
    }
    if (!mark)
        mark = add_mark(all);
    set_name(mark->name, name);
    mark->place = *place;
}

/* Returns a copy of the marks at @p or before it. */
static struct marks marks_until(const struct marks *all, const struct place *p)
{
    struct marks ret = {.v = NULL};

    for (size_t i = 0; i < all->n; i++) {
        if (place_compare(&all->v[i].place, p) <= 0)
            *add_mark(&ret) = all->v[i];
    }
    return ret;
}

/* --- The list --------------------------------------------------------------------------------- */

void future_done(struct future *f)
{
    journal_free(&f->journal);
    typed_lines_free(&f->typed);
    marks_free(&f->marks);
}

void futures_free(struct futures *all)
{
    snapshots_done(&all->set_aside);
    for (size_t i = 0; i < all->n; i++)
        future_done(&all->v[i]);
    free(all->v);
    marks_free(&all->marks);
    *all = (struct futures){.v = NULL};
}

const char *futures_current(const struct futures *all)
{
    return all->name[0] ? all->name : FUTURE_FIRST;
}

const struct future *futures_find(const struct futures *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++) {
        if (strcmp(all->v[i].name, name) == 0)
            return &all->v[i];
    }
    return NULL;
}

bool futures_has(const struct futures *all, const char *name)
{
    return strcmp(futures_current(all), name) == 0 || futures_find(all, name);
}

static void remove_at(struct futures *all, size_t i)
{
    all->n--;
    memmove(&all->v[i], &all->v[i + 1], (all->n - i) * sizeof(*all->v));
}

/* Forgets the oldest unnamed futures while there are too many. */
static void forget_oldest(struct futures *all)
{
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++)
        n += all->v[i].unnamed;
    for (size_t i = 0; n > FUTURES_UNNAMED_MAX;) {
        if (!all->v[i].unnamed) {
            i++;
            continue;
        }
        future_done(&all->v[i]);
        remove_at(all, i);
        n--;
    }
}

static struct future *add(struct futures *all, const struct future *f)
{
    all->v = must_grow(all->v, all->n, &all->room, sizeof(*all->v));
    all->v[all->n] = *f;
    return &all->v[all->n++];
}

void futures_put(struct futures *all, const struct future *f)
{
    add(all, f);
}

void futures_rename(struct futures *all, const char *name, bool unnamed)
{
    set_name(all->name, name);
    all->unnamed = unnamed;
}

uint64_t futures_hash_at_end(const struct session *s)
{
    const struct place end = position_end(s);
    const struct snapshot *last = snapshots_before(&s->history->snapshots, &end);

    if (!s->history->position.in_past)
        return rdl_hash(s->lab);
    return last && place_compare(&last->place, &end) == 0 ? last->hash : 0;
}

/* Takes the history out of the session, as a future that was left at @left. */
static struct future take(struct session *s, const char *name, bool unnamed,
                          const struct place *left)
{
    struct future f = {.unnamed = unnamed,
                       .journal = s->history->journal,
                       .typed = s->history->typed,
                       .marks = s->history->futures.marks,
                       .left = *left,
                       .hash = futures_hash_at_end(s)};

    set_name(f.name, name);
    s->history->journal = (struct journal){.marks = NULL};
    s->history->typed = (struct typed_lines){.n_runs = f.typed.n_runs};
    s->history->futures.marks = (struct marks){.v = NULL};
    return f;
}

/* Makes the part of @f up to @place the history of the session. */
static void begin_from(struct session *s, const struct future *f, const struct place *place)
{
    s->history->journal = journal_until(&f->journal, place, s->history->position.waited_ns);
    s->history->typed = typed_lines_until(&f->typed, place);
    s->history->futures.marks = marks_until(&f->marks, place);
    snapshots_forget_after(&s->history->snapshots, place);
    s->history->position.in_past = false;
}

void futures_leave(struct session *s, const struct place *place)
{
    const struct place end = position_end(s);
    char name[RDL_NAME_BYTES];
    struct future kept;
    struct text t;

    do {
        t = text_on(name, sizeof(name));
        text_addf(&t, "was%u", ++s->history->futures.n_unnamed);
    } while (futures_has(&s->history->futures, name));
    kept = take(s, name, true, &end);
    s->history->futures.set_aside = snapshots_take_after(&s->history->snapshots, place);
    begin_from(s, add(&s->history->futures, &kept), place);
    s->history->futures.left_at = *place;
    s->history->futures.undecided = true;
}

const char *futures_settle(struct session *s)
{
    s->history->futures.undecided = false;
    rdl_record_forget_ahead(s->lab);
    snapshots_done(&s->history->futures.set_aside);
    forget_oldest(&s->history->futures);
    return s->history->futures.v[s->history->futures.n - 1].name;
}

void futures_rejoin(struct session *s)
{
    struct future *f = &s->history->futures.v[s->history->futures.n - 1];
    const uint64_t n_runs = s->history->typed.n_runs;

    journal_free(&s->history->journal);
    typed_lines_free(&s->history->typed);
    marks_free(&s->history->futures.marks);
    s->history->journal = f->journal;
    f->typed.n_runs = n_runs;
    s->history->typed = f->typed;
    s->history->futures.marks = f->marks;
    s->history->futures.undecided = false;
    s->history->futures.n--;
    s->history->futures.n_unnamed--;
    snapshots_put_back(&s->history->snapshots, &s->history->futures.set_aside,
                       &s->history->futures.left_at);
    s->history->position.n_entries = s->history->futures.left_at.n_entries;
    s->history->position.in_past = true;
}

void futures_fork(struct session *s, const char *name)
{
    const uint64_t waited_ns = s->history->position.in_past ? position_waited_ns(s) : 0;
    const struct place here = position_here(s);
    const struct future kept =
        take(s, futures_current(&s->history->futures), s->history->futures.unnamed, &here);

    s->history->position.waited_ns = waited_ns;
    rdl_record_forget_ahead(s->lab);
    begin_from(s, add(&s->history->futures, &kept), &here);
    futures_rename(&s->history->futures, name, false);
}

/* --- Switching -------------------------------------------------------------------------------- */

static bool is_same(const struct log_entry *a, const struct log_entry *b)
{
    return a->outcome == b->outcome && a->after.tick == b->after.tick &&
           a->after.ns == b->after.ns && strcmp(a->host, b->host) == 0 && step_equal(a->st, b->st);
}

/* If two commands begin at the same place, end at different ones and only let time pass, the lab
 * goes the same way in both until the first one ends.
 */
static void go_on_together(const struct log_entry *a, const struct log_entry *b, struct common *ret)
{
    if (!(a->st->cmd->flags & CMD_PASSES) || !(b->st->cmd->flags & CMD_PASSES) ||
        a->after.tick == b->after.tick)
        return;
    if (a->after.tick < b->after.tick) {
        ret->a = (struct place){a->i + 1, a->after};
        ret->b = (struct place){b->i, a->after};
    } else {
        ret->a = (struct place){a->i, b->after};
        ret->b = (struct place){b->i + 1, b->after};
    }
}

struct common futures_common(const struct journal *a, const struct journal *b)
{
    struct common common = {{0, {0, 0}}, {0, {0, 0}}};
    struct log_cursor x, y;
    bool more = log_first(&x, &a->log) && log_first(&y, &b->log);

    while (more && is_same(&x.entry, &y.entry)) {
        common.a = common.b = (struct place){x.entry.i + 1, x.entry.after};
        more = log_next(&x) && log_next(&y);
    }
    if (more)
        go_on_together(&x.entry, &y.entry, &common);
    return common;
}

void futures_exchange(struct session *s, const char *name, const struct place *here,
                      const struct place *place, struct future *ret)
{
    const struct future *found = futures_find(&s->history->futures, name);
    const size_t i = (size_t)(found - s->history->futures.v);
    struct place end;

    RDL_ASSERT(found);
    *ret = *found;
    /* It takes the place of @name: the oldest futures come first. */
    s->history->futures.v[i] =
        take(s, futures_current(&s->history->futures), s->history->futures.unnamed, here);
    s->history->journal = ret->journal;
    s->history->typed = ret->typed;
    s->history->futures.marks = ret->marks;
    futures_rename(&s->history->futures, ret->name, ret->unnamed);
    snapshots_forget_after(&s->history->snapshots, place);
    rdl_record_forget_ahead(s->lab);
    end = position_end(s);
    s->history->position.n_entries = place->n_entries;
    s->history->position.in_past = place_compare(place, &end) < 0;
}

void futures_delete(struct futures *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++) {
        if (strcmp(all->v[i].name, name) != 0)
            continue;
        future_done(&all->v[i]);
        remove_at(all, i);
        return;
    }
}
