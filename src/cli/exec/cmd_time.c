/* SPDX-License-Identifier: MIT */
/* Time in both directions: back, goto, redo. */
#include <string.h>

#include "cli/exec/executing.h"
#include "cli/exec/travel.h"
#include "cli/lang/words.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/stop_look.h"
#include "emu/base/quantity.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"

static void say_place(struct session *s)
{
    const struct place end = position_end(s);
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    if (s->history->position.in_past)
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

static void say_no_event(struct session *s, ev_id id)
{
    const struct past past = past_of_lab(s->lab);
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));

    past_add_not_there(&t, &past, id);
    session_say(s, "%s\n", buf);
}

/* Prints event @id. */
static void say_event(struct session *s, ev_id id)
{
    const struct past past = past_of_lab(s->lab);
    const struct ev *e = past_find(&past, id);
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!e || e->id != id) {
        say_no_event(s, id);
        return;
    }
    past_add_line(&t, &past, e);
    session_say_plain(s, buf);
    session_say(s, "\n");
}

/* --- back ------------------------------------------------------------------------------------- */

static bool back_lines(struct session *s, const struct step *st, uint64_t count)
{
    const struct place here = position_here(s);
    const size_t n = typed_lines_before(&s->history->typed, &here);
    struct place to;

    if (count > n) {
        if (n == 0)
            return session_fail(s, st->at, "nothing was done before here");
        session_fail(s, st->at,
                     n == 1 ? "only one line before here did something"
                            : "only %zu lines before here did something",
                     n);
        return diag_remedy(&s->diag, "\"back 5 tick\", \"back 1 packet\" go back by less");
    }
    to = s->history->typed.v[n - count].at;
    for (size_t i = n - count; i < n; i++) {
        session_say(s, "%s", "back before: ");
        session_say_plain(s, s->history->typed.v[i].text);
        session_say(s, "\n");
    }
    return travel(s, &to, st->at);
}

/* A search for the place where the lab had made so much progress. */
struct progress_sought {
    enum rdl_step grain;
    uint64_t made;
};

static bool had_at_most(void *ctx, struct session *s, bool first)
{
    const struct progress_sought *sought = ctx;

    (void)first; /* it does not matter what was before */
    return rdl_progress(s->lab, sought->grain) <= sought->made;
}

/* Fails: the occurrence that is to be taken back happened only @had times. */
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

/* Goes to the end of tick @tick.  If a command made it together with later ticks, goes to before
 * the command.
 */
static bool back_to_tick(struct session *s, uint64_t tick, struct span at)
{
    struct place to = position_of_tick(s, tick);
    struct log_cursor c;

    if (!travel_to(s, &to, at))
        return false;
    if (rdl_tick(s->lab) > tick && log_at(&c, &s->history->journal.log, to.n_entries)) {
        to = (struct place){c.entry.i, c.entry.before};
        if (!travel_to(s, &to, at))
            return false;
    }
    say_place(s);
    return true;
}

/* Returns true if an event of @kind counts for @grain. */
static bool counts_for(enum ev_kind kind, enum rdl_step grain)
{
    switch (grain) {
    case RDL_STEP_CQE:
        return kind == EV_cqe;
    case RDL_STEP_WQE:
        return kind == EV_fetch;
    case RDL_STEP_PACKET:
        return kind == EV_tx || kind == EV_rx || kind == EV_lost;
    case RDL_STEP_TIMER:
        return kind == EV_timeout;
    default:
        return false;
    }
}

/* Prints the first event after tick @tick that is taken back. */
static void say_taken_back(struct session *s, uint64_t tick, enum rdl_step grain)
{
    const size_t n = rdl_record_count(s->lab);

    for (size_t i = 0; i < n; i++) {
        const struct ev *e = rdl_record_at(s->lab, i);

        if (ev_tick(e->id) <= tick || !counts_for(e->kind, grain))
            continue;
        session_say(s, "back before: ");
        say_event(s, e->id);
        return;
    }
}

static bool back_by(struct session *s, const struct step *st, uint64_t count, enum rdl_step grain)
{
    const struct place here = position_here(s);
    const uint64_t had = rdl_progress(s->lab, grain);
    struct progress_sought sought = {grain, had - count};
    struct travel_search search = {
        .look = had_at_most, .ctx = &sought, .none = "it is too far back"};

    if (count > had)
        return too_far_back(s, st, had);
    if (grain == RDL_STEP_TICK)
        return back_to_tick(s, had - count, st->at);
    if (!travel_search(s, &search, &here, st->at))
        return false;
    say_taken_back(s, search.place.at.tick, grain);
    return travel(s, &search.place, st->at);
}

/* A search for the last hit of the stop @one; NULL: of any stop of the session. */
struct hit_sought {
    struct stop *one;
    struct hit {
        ev_id at;
        char told[4 * DIAG_MESSAGE_BYTES]; /* a line for each stop */
        size_t told_bytes;
    } last, kept;
};

static void keep_hit(void *ctx)
{
    struct hit_sought *sought = ctx;

    sought->kept = sought->last;
}

static bool is_hit(struct hit_sought *sought, const struct session *s, struct stop *stop,
                   bool first)
{
    struct diag ignored;
    struct text t = {sought->last.told, sought->last.told_bytes, sizeof(sought->last.told), false};

    if (first) {
        (void)stop_arrive(s, stop, &ignored);
        return stop == sought->one && stop->held && rdl_tick(s->lab) == 0;
    }
    if (!stop->enabled || !stop_look(s, stop))
        return false;
    if (ev_row(stop->at) || !ev_row(sought->last.at))
        sought->last.at = stop->at;
    stop_add_hit(&t, stop);
    text_add(&t, "\n");
    sought->last.told_bytes = t.len;
    return true;
}

static bool is_any_hit(void *ctx, struct session *s, bool first)
{
    struct hit_sought *sought = ctx;
    bool any = false;

    sought->last.at = 0;
    sought->last.told_bytes = 0;
    sought->last.told[0] = '\0';
    if (sought->one)
        return is_hit(sought, s, sought->one, first);
    for (struct stop *stop = s->stops.first; stop; stop = stop->next) {
        if (is_hit(sought, s, stop, first))
            any = true; /* the others know then what there was, too */
    }
    return any;
}

/* Notes that the search found nothing before this place, but a hit at it, at @id. */
static void note_this_tick(struct session *s, ev_id id)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_id(&t, id);
    diag_remedy(&s->diag, "it did here, at %s; \"show events #%llu\" has the whole tick", buf,
                (unsigned long long)rdl_tick(s->lab));
}

/* Prints the hit at the place of the lab. */
static bool say_hit(struct session *s, const struct hit_sought *sought)
{
    if (!sought->one)
        session_say_plain(s, sought->kept.told);
    else if (ev_row(sought->kept.at))
        say_event(s, sought->kept.at);
    return true;
}

static bool back_to_hit(struct session *s, const struct step *st, struct hit_sought *sought,
                        const char *none)
{
    const struct place here = position_here(s);
    struct travel_search search = {
        .look = is_any_hit, .keep = keep_hit, .ctx = sought, .before = true, .none = none};

    if (!travel_search(s, &search, &here, st->at)) {
        if (search.at_end && s->diag.kind == DIAG_FAILED)
            note_this_tick(s, sought->kept.at);
        else if (s->diag.kind == DIAG_FAILED && s->history->position.in_past)
            diag_remedy(&s->diag, "\"redo to\" and \"redo stop\" look ahead");
        return false;
    }
    if (!travel(s, &search.place, st->at) || !say_hit(s, sought))
        return false;
    if (search.at_end)
        session_say(s, "  it did at #%llu, too, where you were: \"goto #%llu\" goes there again\n",
                    (unsigned long long)here.at.tick, (unsigned long long)here.at.tick);
    return true;
}

/* Goes to a hit, backwards or forwards.  If there is none, fails with the message @none. */
typedef bool go_to_hit(struct session *s, const struct step *st, struct hit_sought *sought,
                       const char *none);

static bool to_stop(struct session *s, const struct step *st, go_to_hit *go, const char *none)
{
    struct hit_sought sought = {.one = NULL};

    if (!s->stops.first) {
        session_fail(s, st->at, "there is no stop");
        return diag_remedy(&s->diag, "\"break\" and \"watch\" make them");
    }
    return go(s, st, &sought, none);
}

/* @none_momentary: the message for an expression about an occurrence. */
static bool to_expression(struct session *s, const struct step *st, go_to_hit *go,
                          const char *none_momentary, const char *none)
{
    const struct span at = step_span(st, "that", 0);
    struct stops alone = {.first = NULL};
    struct stop *stop = stops_add_when(&alone, STOP_OF_PROMPT, step_text(st, "that"), at, &s->diag);
    struct hit_sought sought = {.one = stop};
    struct diag why;
    bool ok = stop && stop_attach(s, stop, at);
    bool known;

    if (ok) {
        known = stop_arrive(s, stop, &why);
        ok = go(s, st, &sought, stop->momentary ? none_momentary : none);
        if (!ok && !known && s->diag.kind == DIAG_FAILED) {
            why.at = why.at.len ? why.at : at; /* it may be a mistake, and it may have been true */
            s->diag = why;
        }
    }
    stops_free(&alone);
    return ok;
}

/* Checks that the operands of back or redo fit together. */
static bool are_together(struct session *s, const struct step *st, uint64_t grain)
{
    const char *name = st->cmd->name;

    if ((grain == BY_STOP || grain == BY_TO) && step_has(st, "count"))
        return session_fail(s, step_span(st, "count", 0), "%s %s takes no number", name,
                            grain == BY_TO ? "to" : "stop");
    if ((grain == BY_TO) == step_has(st, "that"))
        return true;
    if (grain == BY_TO)
        session_fail(s, st->at, "%s to what?", name);
    else
        session_fail(s, st->at, "only \"%s to\" takes an expression", name);
    return diag_remedy(&s->diag, "for example: %s to h1.qp.state == RTS, %s 3 packet", name, name);
}

bool run_back(struct session *s, const struct step *st)
{
    const uint64_t count = step_number(st, "count"), grain = step_number(st, "grain");

    if (!position_may_move(s, st) || !are_together(s, st, grain))
        return false;
    switch (grain) {
    case BY_LINES:
        return back_lines(s, st, count);
    case BY_TO:
        return to_expression(s, st, back_to_hit, "this did not happen before here",
                             "this did not begin to hold before here");
    case BY_STOP:
        return to_stop(s, st, back_to_hit, "no break and no watch was hit before here");
    default:
        return back_by(s, st, count, (enum rdl_step)grain);
    }
}

/* --- goto ------------------------------------------------------------------------------------- */

static bool goto_event(struct session *s, const struct step *st, ev_id id)
{
    const uint64_t last = position_end(s).at.tick;
    const struct place to = position_of_tick(s, ev_tick(id));

    if (ev_tick(id) > last) {
        session_fail(s, step_span(st, "where", 0), "the last tick that was made is #%llu",
                     (unsigned long long)last);
        return diag_remedy(&s->diag, "\"goto end\" goes there, \"step tick\" makes one more");
    }
    if (!travel(s, &to, st->at))
        return false;
    if (rdl_tick(s->lab) > ev_tick(id))
        session_say(s, "the lab cannot stop in #%llu, inside of one command; this is its end\n",
                    (unsigned long long)ev_tick(id));
    if (ev_row(id))
        say_event(s, id);
    return true;
}

static bool is_not_later(void *ctx, struct session *s, bool first)
{
    (void)first; /* it does not matter what was before */
    return rdl_now_ns(s->lab) <= *(const uint64_t *)ctx;
}

/* Goes to the end of the last tick up to the time @ns. */
static bool goto_time(struct session *s, const struct step *st, uint64_t ns)
{
    const struct place end = position_end(s);
    struct travel_search search = {.look = is_not_later, .ctx = &ns, .none = "it is too far back"};
    struct place before = end;
    struct log_cursor c;

    for (bool more = log_first(&c, &s->history->journal.log); more; more = log_next(&c)) {
        if (c.entry.after.ns <= ns)
            continue;
        before = (struct place){c.entry.i + 1, c.entry.after};
        break;
    }
    if (end.at.ns <= ns)
        return travel(s, &end, st->at);
    return travel_search(s, &search, &before, st->at) && travel(s, &search.place, st->at);
}

/* Reads a share like "50%".  Returns false if it is none. */
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
    const struct place start = {0, {0, 0}}, end = position_end(s);
    uint64_t value;
    ev_id id;

    if (!position_may_move(s, st))
        return false;
    if (strcmp(where, "start") == 0 || strcmp(where, "end") == 0)
        return travel(s, where[0] == 's' ? &start : &end, st->at);
    if (where[0] == '#' && ev_id_parse(where, &id))
        return goto_event(s, st, id);
    if (read_share(where, &value)) {
        const struct place to =
            position_of_tick(s, end.at.tick / 100 * value + end.at.tick % 100 * value / 100);

        return travel(s, value == 100 ? &end : &to, st->at);
    }
    if (!quantity_parse(QUANTITY_TIME, where, &value))
        return goto_time(s, st, value);
    if (marks_find(&s->history->futures.marks, where))
        return travel(s, marks_find(&s->history->futures.marks, where), st->at);
    session_fail(s, step_span(st, "where", 0), "\"%s\" is no place", where);
    return diag_remedy(&s->diag, "a place is like #12, #12.3, 85us, 50%%, start, end or the name "
                                 "of a checkpoint");
}

/* --- redo ------------------------------------------------------------------------------------- */

static bool redo_lines(struct session *s, const struct step *st, uint64_t count)
{
    const struct place here = position_here(s);
    size_t next = typed_lines_before(&s->history->typed, &here);
    struct place to = position_end(s);

    /* A line that was left in its middle counts as the first one. */
    if (next > 0 &&
        (next == s->history->typed.n || place_compare(&s->history->typed.v[next].at, &here) != 0))
        next--;
    if (count < s->history->typed.n - next)
        to = s->history->typed.v[next + count].at;
    return travel(s, &to, st->at);
}

static bool has_at_least(void *ctx, struct session *s, bool first)
{
    const struct progress_sought *sought = ctx;

    (void)first; /* it does not matter what was before */
    return rdl_progress(s->lab, sought->grain) >= sought->made;
}

static bool redo_by(struct session *s, const struct step *st, uint64_t count, enum rdl_step grain)
{
    struct progress_sought sought = {grain, rdl_progress(s->lab, grain) + count};
    struct travel_search search = {
        .look = has_at_least, .ctx = &sought, .none = "that does not happen so often ahead"};

    if (travel_search_ahead(s, &search, st->at))
        return travel(s, &search.place, st->at);
    return s->diag.kind == DIAG_FAILED && diag_remedy(&s->diag, "\"goto end\" goes to the end");
}

static bool redo_to_hit(struct session *s, const struct step *st, struct hit_sought *sought,
                        const char *none)
{
    struct travel_search search = {
        .look = is_any_hit, .keep = keep_hit, .ctx = sought, .none = none};

    if (!travel_search_ahead(s, &search, st->at))
        return s->diag.kind == DIAG_FAILED &&
               diag_remedy(&s->diag, "\"goto end\" goes to the end of what was done");
    return travel(s, &search.place, st->at) && say_hit(s, sought);
}

bool run_redo(struct session *s, const struct step *st)
{
    const uint64_t count = step_number(st, "count"), grain = step_number(st, "grain");

    if (!position_may_move(s, st) || !are_together(s, st, grain))
        return false;
    if (!s->history->position.in_past) {
        session_fail(s, st->at, "nothing was taken back");
        return diag_remedy(&s->diag, "redo goes forward where \"back\" or \"goto\" went back");
    }
    switch (grain) {
    case BY_LINES:
        return redo_lines(s, st, count);
    case BY_TO:
        return to_expression(s, st, redo_to_hit, "this does not happen ahead",
                             "this does not begin to hold ahead");
    case BY_STOP:
        return to_stop(s, st, redo_to_hit, "no break and no watch is hit ahead");
    default:
        return redo_by(s, st, count, (enum rdl_step)grain);
    }
}
