/* SPDX-License-Identifier: MIT */
/* Searches for a place in the history.  Backwards, it replays from the last snapshot to the end,
 * then from the one before it to that snapshot, and so on.  Forwards, it replays once.
 */
#include "cli/exec/travel.h"
#include "cli/session/history.h"
#include "cli/session/position.h"

static bool is_end(const struct travel_search *search, const struct place *p)
{
    return p->at.tick == search->end.at.tick && p->at.ns == search->end.at.ns;
}

static void look(void *ctx, struct session *s, const struct place *p)
{
    struct travel_search *search = ctx;
    const bool here = search->look(search->ctx, s, search->first);
    const bool at_end = search->before && is_end(search, p);

    search->first = false;
    search->at_end = search->at_end || (here && at_end);
    if (!here || (at_end && search->found))
        return;
    if (!at_end) {
        search->found = true;
        search->place = *p;
    }
    if (search->keep)
        search->keep(search->ctx);
}

/* Searches from the snapshot at @from to @to.  Returns false if the replay did not come to @to. */
static bool search_between(struct session *s, struct travel_search *search,
                           const struct place *from, const struct place *to)
{
    bool finished;

    search->first = true;
    s->history->replay.look = look;
    s->history->replay.look_ctx = search;
    s->history->replay.interrupted = s->config.interrupted;
    finished = travel_replay(s, snapshots_before(&s->history->snapshots, from), to);
    s->history->replay.look = NULL;
    s->history->replay.interrupted = NULL;
    return finished;
}

bool travel_search(struct session *s, struct travel_search *search, const struct place *end,
                   struct span at)
{
    const struct place origin = position_here(s);
    struct place to = *end;
    bool finished = true;

    search->found = search->at_end = false;
    search->end = *end;
    travel_snapshot(s, !s->history->position.in_past);
    for (size_t i = snapshots_until(&s->history->snapshots, end);
         i > 0 && finished && !search->found; i--) {
        const struct place from = s->history->snapshots.v[i - 1].place;

        finished = search_between(s, search, &from, &to);
        to = from;
    }
    s->history->position.in_past = true; /* wherever it stopped */
    if (!travel_to(s, &origin, at))
        return false;
    if (finished && !search->found)
        return session_fail(s, at, "%s", search->none);
    if (finished || session_interrupted(s, at))
        return finished;
    return travel_broken(s, at);
}

static void look_ahead(void *ctx, struct session *s, const struct place *p)
{
    struct travel_search *search = ctx;

    if (place_compare(p, &search->end) <= 0) {
        (void)search->look(search->ctx, s, true);
        return; /* it is not behind where the search began */
    }
    if (search->found || !search->look(search->ctx, s, false))
        return;
    search->found = s->history->replay.found = true;
    search->place = *p;
    if (search->keep)
        search->keep(search->ctx);
}

bool travel_search_ahead(struct session *s, struct travel_search *search, struct span at)
{
    const struct place origin = position_here(s), end = position_end(s);
    bool finished;

    search->found = search->at_end = false;
    search->end = origin;
    travel_snapshot(s, true);
    s->history->replay.look = look_ahead;
    s->history->replay.look_ctx = search;
    s->history->replay.interrupted = s->config.interrupted;
    finished = travel_replay(s, snapshots_before(&s->history->snapshots, &origin), &end);
    s->history->replay.look = NULL;
    s->history->replay.interrupted = NULL;
    s->history->replay.found = false;
    s->history->position.in_past = true; /* wherever it stopped */
    if (search->found)
        return true;
    if (!travel_to(s, &origin, at))
        return false;
    if (finished)
        return session_fail(s, at, "%s", search->none);
    return !session_interrupted(s, at) && travel_broken(s, at);
}
