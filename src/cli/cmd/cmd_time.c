/* SPDX-License-Identifier: MIT */
/* Time in both directions: back, goto, redo. */
#include <string.h>

#include "cli/cmd/dispatch.h"
#include "cli/lang/words.h"
#include "cli/session/travel.h"
#include "emu/base/quantity.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"

/* May the session go to another place?  A block would not know where it is then. */
static bool may_travel(struct session *s, const struct step *st)
{
    if (s->in->outer) {
        session_fail(s, st->at, "%s does not work in a block or a sourced file", st->cmd->name);
        return diag_remedy(&s->diag, "a line of its own takes back the whole block, or the file");
    }
    return travel_is_possible(s, st->at);
}

static void say_place(struct session *s)
{
    const struct place end = travel_end(s);
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    if (s->travel.in_past)
        session_say(s, "at #%llu of #%llu, t=%s\n", (unsigned long long)rdl_tick(s->lab),
                    (unsigned long long)end.at.tick, buf);
    else
        session_say(s, "at the end, #%llu, t=%s\n", (unsigned long long)rdl_tick(s->lab), buf);
}

static bool travel(struct session *s, const struct place *to, struct span at)
{
    if (!travel_to(s, to, at))
        return false;
    say_place(s);
    return true;
}

/* --- back ------------------------------------------------------------------------------------- */

static bool back_lines(struct session *s, const struct step *st, uint64_t count)
{
    const struct place here = travel_here(s);
    const size_t n = typed_lines_before(&s->typed, &here);
    struct place to;

    if (count > n) {
        session_fail(
            s, st->at,
            n ? "only %zu lines before here did something" : "nothing was done before here", n);
        return diag_remedy(&s->diag, "\"back 5 tick\", \"back 1 packet\" go back by less");
    }
    to = s->typed.v[n - count].at;
    for (size_t i = n - count; i < n; i++) {
        session_say(s, "%s", "back before: ");
        session_say_plain(s, s->typed.v[i].text);
        session_say(s, "\n");
    }
    return travel(s, &to, st->at);
}

/* The lab had made so much progress, or less. */
struct progress_sought {
    enum rdl_step grain;
    uint64_t most;
};

static bool had_at_most(void *ctx, struct session *s)
{
    const struct progress_sought *sought = ctx;

    return rdl_progress(s->lab, sought->grain) <= sought->most;
}

/* Fails: what is to be taken back happened only @had times. */
static bool too_far_back(struct session *s, const struct step *st, uint64_t had)
{
    const struct span at = step_span(st, "count", 0);

    if (had == 0)
        session_fail(s, at.len ? at : st->at, "nothing of that sort happened before here");
    else
        session_fail(s, at.len ? at : st->at, "that happened only %llu times before here",
                     (unsigned long long)had);
    return diag_remedy(&s->diag, "\"goto start\" goes to where nothing was done yet");
}

static bool back_by(struct session *s, const struct step *st, uint64_t count, enum rdl_step grain)
{
    const struct place here = travel_here(s);
    const uint64_t had = rdl_progress(s->lab, grain);
    struct progress_sought sought = {grain, had - count};
    struct travel_search search = {.look = had_at_most, .ctx = &sought};

    if (count > had)
        return too_far_back(s, st, had);
    if (grain == RDL_STEP_TICK) {
        const struct place to = travel_place_of(s, had - count);

        return travel(s, &to, st->at);
    }
    return travel_search(s, &search, &here, st->at) && travel(s, &search.place, st->at);
}

bool run_back(struct session *s, const struct step *st)
{
    const uint64_t count = step_number(st, "count");

    if (!may_travel(s, st))
        return false;
    if (!step_has(st, "grain"))
        return back_lines(s, st, count);
    return back_by(s, st, count, (enum rdl_step)step_number(st, "grain"));
}

/* --- goto ------------------------------------------------------------------------------------- */

/* Marks event @id among those of its tick. */
static void say_event(struct session *s, ev_id id)
{
    const size_t n = rdl_record_count(s->lab);

    for (size_t i = n; i > 0; i--) {
        const struct ev *e = rdl_record_at(s->lab, i - 1);
        char buf[512];
        struct text t = text_on(buf, sizeof(buf));

        if (e->id < id)
            break;
        if (e->id != id)
            continue;
        ev_add_line(&t, e, rdl_names(s->lab));
        session_say_plain(s, buf);
        session_say(s, "\n");
        return;
    }
    session_say(s, "that event is not recorded (any more)\n");
}

static bool goto_event(struct session *s, const struct step *st, ev_id id)
{
    const uint64_t last = travel_end(s).at.tick;
    const struct place to = travel_place_of(s, ev_tick(id));

    if (ev_tick(id) > last) {
        session_fail(s, step_span(st, "where", 0), "the last tick that was made is #%llu",
                     (unsigned long long)last);
        return diag_remedy(&s->diag, "\"goto end\" goes there, \"step tick\" makes one more");
    }
    if (!travel(s, &to, st->at))
        return false;
    if (ev_row(id))
        say_event(s, id);
    return true;
}

static bool is_not_later(void *ctx, struct session *s)
{
    return rdl_now_ns(s->lab) <= *(const uint64_t *)ctx;
}

/* To the end of the last tick that was not later than @ns. */
static bool goto_time(struct session *s, const struct step *st, uint64_t ns)
{
    const struct place end = travel_end(s);
    struct travel_search search = {.look = is_not_later, .ctx = &ns};
    struct place before = end;
    struct log_cursor c;

    for (bool more = log_first(&c, &s->history.journal.log); more; more = log_next(&c)) {
        if (c.entry.after.ns <= ns)
            continue;
        before = (struct place){c.entry.i + 1, c.entry.after};
        break;
    }
    if (end.at.ns <= ns)
        return travel(s, &end, st->at);
    return travel_search(s, &search, &before, st->at) && travel(s, &search.place, st->at);
}

/* "50%"; false: it is no share. */
static bool read_share(const char *text, uint64_t *ret)
{
    char digits[4] = "";
    const size_t n = strlen(text);

    if (n < 2 || n > sizeof(digits) || text[n - 1] != '%')
        return false;
    memcpy(digits, text, n - 1);
    return !quantity_parse(QUANTITY_NUMBER, digits, ret) && *ret <= 100;
}

bool run_goto(struct session *s, const struct step *st)
{
    const char *where = step_text(st, "where");
    const struct place start = {0, {0, 0}}, end = travel_end(s);
    uint64_t value;
    ev_id id;

    if (!may_travel(s, st))
        return false;
    if (strcmp(where, "start") == 0 || strcmp(where, "end") == 0)
        return travel(s, where[0] == 's' ? &start : &end, st->at);
    if (where[0] == '#' && ev_id_parse(where, &id))
        return goto_event(s, st, id);
    if (read_share(where, &value)) {
        const struct place to =
            travel_place_of(s, end.at.tick / 100 * value + end.at.tick % 100 * value / 100);

        return travel(s, value == 100 ? &end : &to, st->at);
    }
    if (!quantity_parse(QUANTITY_TIME, where, &value))
        return goto_time(s, st, value);
    session_fail(s, step_span(st, "where", 0), "\"%s\" is no place", where);
    return diag_remedy(&s->diag, "a place is like #12, #12.3, 85us, 50%%, start or end");
}

/* --- redo ------------------------------------------------------------------------------------- */

bool run_redo(struct session *s, const struct step *st)
{
    const uint64_t count = step_number(st, "count");
    const struct place here = travel_here(s), end = travel_end(s);
    size_t next = typed_lines_before(&s->typed, &here);
    struct place to = end;

    if (!may_travel(s, st))
        return false;
    if (!s->travel.in_past) {
        session_fail(s, st->at, "nothing was taken back");
        return diag_remedy(&s->diag, "redo goes forward where \"back\" or \"goto\" went back");
    }
    /* What was left in its middle is the first line that is done. */
    if (next > 0 && (next == s->typed.n || place_compare(&s->typed.v[next].at, &here) != 0))
        next--;
    if (count < s->typed.n - next)
        to = s->typed.v[next + count].at;
    return travel(s, &to, st->at);
}
