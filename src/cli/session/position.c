/* SPDX-License-Identifier: MIT */
#include "cli/session/position.h"

#include "cli/session/history.h"
#include "rdmalab/lab.h"

struct place position_end(const struct session *s)
{
    const struct log *log = &s->history->journal.log;

    return (struct place){log->n, log->end};
}

struct place position_here(const struct session *s)
{
    const uint64_t n =
        s->history->position.in_past ? s->history->position.n_entries : s->history->journal.log.n;

    return (struct place){n, session_now(s)};
}

struct place position_of_tick(const struct session *s, uint64_t tick)
{
    struct log_cursor c;

    if (tick == 0 || !log_find(&c, &s->history->journal.log, tick))
        return (struct place){0, {0, 0}};
    if (c.entry.after.tick == tick)
        return (struct place){c.entry.i + 1, c.entry.after};
    return (struct place){c.entry.i, {tick, c.entry.before.ns}};
}

bool position_can_go_back(struct session *s, struct span at)
{
    if (s->outside.was_used) {
        session_fail(s, at, "this lab cannot go back: it has or had a live port or a program");
        return diag_remedy(&s->diag, "what came from outside does not come again");
    }
    if (s->history->snapshots.bytes_max == 0) {
        return session_fail(s, at, "this session cannot go back: it keeps no history");
    }
    if (s->history->snapshots.n == 0 ||
        place_units(&s->history->snapshots.v[0].place) > s->lab_info.first_tick) {
        session_fail(s, at,
                     "this session cannot go back: there was no memory to keep its beginning");
        return diag_remedy(&s->diag, "\"session save\" keeps what was done as a script");
    }
    return true;
}

bool position_may_move(struct session *s, const struct step *st)
{
    if (s->run.block->outer) {
        session_fail(s, st->at, "%s does not work in a block or a sourced file", st->cmd->name);
        return diag_remedy(&s->diag,
                           "make it a line of its own; \"back\" there takes back the whole "
                           "block, or the file");
    }
    return position_can_go_back(s, st->at);
}

uint64_t position_waited_in(const struct session *s, const struct log_entry *e)
{
    const uint64_t clock_ns = rdl_now_ns(s->lab), tick_ns = rdl_tick_ns(s->lab);
    const uint64_t since_ns = tick_ns > e->before.ns ? tick_ns : e->before.ns;

    return clock_ns > since_ns ? clock_ns - since_ns : 0;
}

uint64_t position_waited_ns(const struct session *s)
{
    struct log_cursor c;

    return log_at(&c, &s->history->journal.log, s->history->position.n_entries)
               ? position_waited_in(s, &c.entry)
               : 0;
}

void position_notify(struct session *s)
{
    const struct place p = {s->history->position.n_entries, session_now(s)};

    if (s->history->replay.look)
        s->history->replay.look(s->history->replay.look_ctx, s, &p);
}

void position_reached(struct session *s)
{
    const struct place p = position_here(s);

    if (!s->history->position.in_past && !s->history->replay.active)
        snapshots_pass(&s->history->snapshots, s->lab, &p, false);
}
