/* SPDX-License-Identifier: MIT */
#include "cli/exec/travel.h"

#include "cli/exec/command_run.h"
#include "cli/lang/words.h"
#include "cli/session/advance.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/remainder.h"
#include "emu/base/assert.h"
#include "process/must.h"
#include "rdmalab/trace.h"

#define CHUNK_TICKS 4096u

/* --- Replay ----------------------------------------------------------------------------------- */

/* The members of a session that a replay changes: it prints nothing, no stop is hit, and it does
 * not reach the world outside.
 */
struct quiet {
    struct session_config config;
    struct live *live;
    struct session_limits limits;
    struct step_progress step;
    struct stops stops;
    const struct block *in;
    struct diag diag;
};

static struct quiet become_quiet(struct session *s)
{
    const struct quiet q = {s->config, s->outside.live, s->limits, s->run.step,
                            s->stops,  s->run.block,    s->diag};

    s->config.out = fopen("/dev/null", "w");
    if (!s->config.out)
        must_fail();
    s->config.verbose = false;
    s->config.live_ops = NULL;
    s->outside.live = NULL;
    if (!s->history->replay.first_time)
        s->config.interrupted = NULL;
    s->limits = (struct session_limits){.n_lifted = q.limits.n_lifted};
    s->stops.hit = NULL;
    s->stops.ignored = true;
    s->history->replay.active = true;
    return q;
}

static void end_quiet(struct session *s, const struct quiet *q)
{
    fclose(s->config.out);
    s->config = q->config;
    s->outside.live = q->live;
    s->limits = q->limits;
    s->run.step = q->step;
    s->stops = q->stops;
    s->run.block = q->in;
    s->diag = q->diag;
    s->history->replay.active = false;
}

/* Returns true if the replay must end early. */
static bool is_to_end(const struct session *s)
{
    return s->history->replay.found ||
           (s->history->replay.interrupted && *s->history->replay.interrupted);
}

/* Takes a snapshot on the way if one is due.  A search must not change the list. */
static void pass(struct session *s, const struct log_entry *e)
{
    const struct place p = {e->i, session_now(s)};

    if (!s->history->replay.look && position_waited_in(s, e) == 0)
        snapshots_pass(&s->history->snapshots, s->lab, &p, false);
}

/* Lets time pass up to @to.  No tick is due before it, unless the replay goes another way. */
static void wait_to(struct session *s, const struct moment *to)
{
    const struct rdl_limits limits = {.ticks = s->history->replay.first_time ? 1 : CHUNK_TICKS};

    while (rdl_now_ns(s->lab) < to->ns && !is_to_end(s) &&
           !(s->history->replay.first_time && rdl_tick(s->lab) > to->tick)) {
        const uint64_t before = rdl_tick(s->lab);

        if (rdl_run(s->lab, to->ns, limits) != RDL_ERR_TIMEOUT || rdl_tick(s->lab) == before)
            return; /* the caller checks where it ended */
    }
}

/* Lets time pass in the command @e, up to @to. */
static void pass_to(struct session *s, const struct log_entry *e, const struct moment *to)
{
    while (rdl_tick(s->lab) < to->tick && !is_to_end(s)) {
        const uint64_t left = to->tick - rdl_tick(s->lab);
        const uint64_t most = s->history->replay.look ? 1 : CHUNK_TICKS;
        const struct rdl_limits limits = {.ticks = left < most ? left : most};
        const uint64_t before = rdl_tick(s->lab);

        pass(s, e);
        if (rdl_run(s->lab, RDL_NEVER, limits) != RDL_ERR_TIMEOUT && rdl_tick(s->lab) == before)
            return; /* the caller checks where it ended */
        if (rdl_tick(s->lab) < to->tick)
            position_notify(s);
    }
    wait_to(s, to);
}

/* Replays a `record`: recording on or off.  The limits of the record are not replayed: the user
 * set them for the future, too.
 */
static void record_again(struct session *s, const struct step *st)
{
    if (!step_has(st, "state"))
        return;
    if (step_number(st, "state") == RECORD_off)
        rdl_record_pause(s->lab);
    else
        rdl_record_resume(s->lab);
}

/* Replays the command @e, up to @to. */
static void replay_command(struct session *s, const struct log_entry *e, const struct moment *to)
{
    const bool cut = e->outcome == LOG_CUT || to->tick < e->after.tick;
    const struct source nowhere = {.text = ""};
    const struct block in = {.src = &nowhere,
                             .host = e->host,
                             .last_tick = cut ? to->tick
                                          : s->history->replay.first_time
                                              ? to->tick + 1 /* it may not end */
                                              : 0,
                             .n_lifted = s->limits.n_lifted,
                             .undisturbed = !s->history->replay.first_time};
    const struct block *outer = s->run.block;

    if (e->st->cmd->flags & CMD_PASSES) {
        pass_to(s, e, to);
        return;
    }
    if (e->st->cmd == &cmd_table[CMD_expect])
        return;
    if (e->st->cmd == &cmd_table[CMD_record] && !s->history->replay.first_time) {
        record_again(s, e->st);
        return;
    }
    if (e->outcome != LOG_DONE && e->after.tick == e->before.tick && e->after.ns == e->before.ns &&
        !(e->st->cmd->flags & CMD_PARTLY))
        return; /* it did nothing */
    s->run.block = &in;
    s->run.step.first_tick = rdl_tick(s->lab);
    s->diag.kind = DIAG_NONE;
    /* It may fail as it did before: the caller checks where it ended. */
    (void)command_run(s, e->st);
    s->run.block = outer;
}

/* Replays the command @e, or the remaining part of it, up to @to if that is before its
 * end.  Returns false if it went another way.  Only a command that lets time pass can end exactly
 * at @to: any other one makes its ticks at once.
 */
static bool replay_entry(struct session *s, const struct log_entry *e, const struct moment *to)
{
    bool over;

    s->history->position.n_entries = e->i;
    replay_command(s, e, to);
    over = rdl_tick(s->lab) == e->after.tick && rdl_now_ns(s->lab) == e->after.ns;
    s->history->position.n_entries = e->i + over;
    position_notify(s);
    return over || (to != &e->after && rdl_tick(s->lab) >= to->tick);
}

/* Replays the history from @from, where the lab is, to @to.  Returns false if it went another way.
 */
static bool replay(struct session *s, const struct place *from, const struct place *to)
{
    struct log_cursor c;
    bool more = log_at(&c, &s->history->journal.log, from->n_entries);

    s->history->position.n_entries = from->n_entries;
    for (; more && c.entry.i <= to->n_entries; more = log_next(&c)) {
        const bool last = c.entry.i == to->n_entries;

        if (last && to->at.tick == c.entry.before.tick && to->at.ns <= c.entry.before.ns)
            break; /* it had not begun there */
        pass(s, &c.entry);
        if (!replay_entry(s, &c.entry, last ? &to->at : &c.entry.after) || is_to_end(s))
            return false;
    }
    return rdl_tick(s->lab) >= to->at.tick;
}

/* --- Travel ----------------------------------------------------------------------------------- */

/* Finds the entry that is running at @p, or begins there.  Returns false if there is none. */
static bool entry_at(const struct session *s, const struct place *p, struct log_cursor *ret)
{
    return log_at(ret, &s->history->journal.log, p->n_entries);
}

/* Returns true if the command that was running at @p can be continued from there. */
static bool goes_on_from(const struct session *s, const struct place *p)
{
    struct log_cursor c;

    return !entry_at(s, p, &c) || c.entry.before.tick == p->at.tick ||
           (c.entry.st->cmd->flags & CMD_PASSES);
}

void travel_snapshot(struct session *s, bool must)
{
    const struct place here = position_here(s);

    if (!s->history->position.in_past || (goes_on_from(s, &here) && position_waited_ns(s) == 0))
        snapshots_pass(&s->history->snapshots, s->lab, &here, must);
}

/* Restores the lab, and whether recording was on there. */
static void restore(struct session *s, const struct snapshot *snapshot)
{
    rdl_checkpoint_restore(s->lab, snapshot->checkpoint);
    if (snapshot->paused)
        rdl_record_pause(s->lab);
    else
        rdl_record_resume(s->lab);
    s->lab_info.memory_full = rdl_shortage(s->lab) == RDL_SHORT_LAB;
}

void travel_start_over(struct session *s)
{
    const struct place start = {0, {0, 0}};

    RDL_ASSERT(s->history->snapshots.n > 0 && place_units(&s->history->snapshots.v[0].place) == 0);
    snapshots_forget_after(&s->history->snapshots, &start);
    restore(s, &s->history->snapshots.v[0]);
    rdl_record_forget_ahead(s->lab);
    s->history->position.n_entries = 0;
    s->history->position.in_past = false;
}

bool travel_broken(struct session *s, struct span at)
{
    diag_set(&s->diag, DIAG_BROKEN, at,
             "an invariant of the emulator broke: what was done again went another way");
    return diag_remedy(&s->diag, s->history->from_file
                                     ? "this is a bug of rdmalab, or the file was changed"
                                     : "this is a bug of rdmalab");
}

/* Returns true if the lab has the hash that it had at this place before, or if that is unknown. */
static bool is_as_then(const struct session *s)
{
    const struct place here = {s->history->position.n_entries, session_now(s)};
    const struct snapshot *snapshot = snapshots_before(&s->history->snapshots, &here);

    return place_compare(&snapshot->place, &here) != 0 || snapshot->hash == rdl_hash(s->lab);
}

bool travel_replay(struct session *s, const struct snapshot *snapshot, const struct place *to)
{
    const struct place from = snapshot->place;
    const struct quiet q = become_quiet(s);
    bool same;

    restore(s, snapshot);
    s->history->position.n_entries = from.n_entries;
    position_notify(s);
    same = replay(s, &from, to);
    end_quiet(s, &q);
    return same;
}

bool travel_to(struct session *s, const struct place *to, struct span at)
{
    struct place from = position_here(s), end;
    const struct snapshot *snapshot;
    struct quiet q;
    bool same;

    if (!s->history->position.in_past)
        travel_snapshot(s, true); /* so that the way back is short */
    snapshot = snapshots_before(&s->history->snapshots, to);
    RDL_ASSERT(snapshot);
    q = become_quiet(s);
    if (place_compare(&from, to) > 0 || !goes_on_from(s, &from) ||
        place_compare(&from, &snapshot->place) < 0) {
        restore(s, snapshot);
        from = snapshot->place;
    }
    same = replay(s, &from, to) && is_as_then(s);
    end_quiet(s, &q);
    from = (struct place){s->history->position.n_entries, session_now(s)};
    end = position_end(s);
    s->history->position.in_past = place_compare(&from, &end) < 0;
    advance_arrive(s);
    return same || travel_broken(s, at);
}

/* --- Another future --------------------------------------------------------------------------- */

/* Returns true if @st can change the lab.  If not, it does not leave the future. */
static bool may_change(const struct step *st)
{
    if (st->cmd == &cmd_table[CMD_record] && !step_has(st, "state"))
        return false; /* how much is kept holds for what is ahead, too */
    return !(step_flags(st) & (CMD_LOOKS | CMD_NOTE)) && st->cmd != &cmd_table[CMD_expect];
}

bool travel_begin_leave(struct session *s, const struct step *st)
{
    const struct place here = position_here(s);
    struct log_cursor c;

    if (!s->history->position.in_past || !may_change(st))
        return false;
    s->history->position.waited_ns = position_waited_ns(s);
    if ((step_flags(st) & CMD_PASSES) && entry_at(s, &here, &c) &&
        (c.entry.st->cmd->flags & CMD_PASSES))
        return false; /* where it ends will tell */
    futures_leave(s, &here);
    return true;
}

/* Prints that the session did something else after tick @tick, and drops the remainders of lines.
 */
static void say_parted(struct session *s, const struct step *st, uint64_t tick)
{
    session_say(s, "what was done behind #%llu stays as \"%s\"%s\n", (unsigned long long)tick,
                futures_settle(s),
                step_flags(st) & CMD_PASSES ? "; \"redo 1 tick\" goes forward in it" : "");
    remainders_abandon(s);
}

bool travel_end_leave(struct session *s, const struct step *st, const struct moment *before,
                      bool did)
{
    const bool passed = rdl_tick(s->lab) != before->tick || rdl_now_ns(s->lab) != before->ns;

    if (s->history->futures.n == 0)
        return true; /* it began with another lab */
    if (passed || did) {
        say_parted(s, st, before->tick);
        return true;
    }
    futures_rejoin(s);
    return false;
}

/* *@ret is the place of the lab if the lab came there from @from by letting time pass, as it did
 * before. Returns false if it went farther than the history.
 */
static bool place_on_the_way(const struct session *s, const struct place *from, struct place *ret)
{
    const struct moment here = session_now(s);
    struct log_cursor c;

    for (bool more = entry_at(s, from, &c); more && (c.entry.st->cmd->flags & CMD_PASSES);
         more = log_next(&c)) {
        const struct moment *after = &c.entry.after;

        if (here.tick > after->tick || here.ns > after->ns)
            continue;
        ret->n_entries = c.entry.i + (here.tick == after->tick && here.ns == after->ns);
        ret->at = here;
        return true;
    }
    return false;
}

bool travel_stays(struct session *s, const struct step *st, const struct place *from)
{
    const struct place end = position_end(s);
    struct place here;

    if (!s->history->position.in_past || !may_change(st))
        return s->history->position.in_past;
    if (place_on_the_way(s, from, &here)) {
        s->history->position.n_entries = here.n_entries;
        s->history->position.in_past = place_compare(&here, &end) < 0;
        return true;
    }
    futures_leave(s, from);
    say_parted(s, st, from->at.tick);
    return false;
}

bool travel_to_future(struct session *s, const char *name, struct span at)
{
    const struct future *found = futures_find(&s->history->futures, name);
    const struct place here = position_here(s);
    struct common common;
    struct future next;
    struct place end;

    RDL_ASSERT(found);
    common = futures_common(&s->history->journal, &found->journal);
    if (!s->history->position.in_past)
        snapshots_pass(&s->history->snapshots, s->lab, &here, true); /* so that its hash is known */
    if (!travel_to(s, &common.a, at))
        return false;
    futures_exchange(s, name, &here, &common.b, &next);
    end = position_end(s);
    if (!travel_to(s, &end, at))
        return false;
    if (next.hash && next.hash != rdl_hash(s->lab))
        return travel_broken(s, at);
    return travel_to(s, &next.left, at);
}

bool travel_hash_at_end(struct session *s, uint64_t *ret)
{
    const struct span nowhere = {0, 0};
    const struct place here = position_here(s), end = position_end(s);

    *ret = futures_hash_at_end(s);
    if (*ret)
        return true;
    if (!travel_to(s, &end, nowhere))
        return false;
    *ret = rdl_hash(s->lab);
    return travel_to(s, &here, nowhere);
}
