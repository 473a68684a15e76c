/* SPDX-License-Identifier: MIT */
/* Travel in time: takes the lab of a session to any place in the session's history.
 *
 * Travel restores the nearest snapshot before the place and replays the log from there.  A command
 * that only lets time pass is replayed by letting time pass up to where it ended.  Any other
 * command is carried out again.  During a replay nothing is printed and no file is written.
 *
 * While the lab is in the past, the journal stays as it is.  Commands that only look do not change
 * that, nor do commands that let time pass on the way that it went.  Any other command begins
 * another future at that place (futures.h).
 */
#ifndef CLI_EXEC_TRAVEL_H
#define CLI_EXEC_TRAVEL_H

#include "cli/session/history.h"

/* Takes the lab to @to.  On failure s->diag says why; it is DIAG_BROKEN if the replay went another
 * way than the session did.
 */
bool travel_to(struct session *s, const struct place *to, struct span at);

/* Goes to the future called @name, which exists, at the place where it was left.  Fails like
 * travel_to().
 */
bool travel_to_future(struct session *s, const char *name, struct span at);

/* *@ret is the hash of all events up to the end of the history.  If no snapshot has it, the lab
 * goes there and comes back.  Fails like travel_to().
 */
bool travel_hash_at_end(struct session *s, uint64_t *ret);

/* A search for the last place up to @end where @look returns true.  Places are the ends of ticks.
 *
 * The search replays the history and calls @look at every place in order.  It begins as far back as
 * necessary, at some snapshot.  At the first place of each part that it replays, @first is true:
 * @look then cannot know what was before, and the search calls it there again if it goes back
 * further.
 */
struct travel_search {
    bool (*look)(void *ctx, struct session *s, bool first);
    void (*keep)(void *ctx); /* the last place that @look saw is the answer so far; may be NULL */
    void *ctx;
    bool before;      /* @end itself is no answer */
    const char *none; /* the message if there is no such place */
    bool found;       /* the result: @place is the answer */
    struct place place;
    bool at_end; /* with @before: @end would have been an answer */

    bool first;       /* for the search itself: the next look is the first of a part */
    struct place end; /* the end of the search, or forwards, its beginning */
};

/* Searches backwards from @end.  If it fails, s->diag says why.  In any case the lab returns to its
 * place, unless s->diag is DIAG_BROKEN.
 */
bool travel_search(struct session *s, struct travel_search *search, const struct place *end,
                   struct span at);

/* Searches forwards: finds the first place behind that of the lab where @look returns true. */
bool travel_search_ahead(struct session *s, struct travel_search *search, struct span at);

/* Takes the lab to its beginning in a session whose history is to be replaced.  Only the first
 * snapshot stays, and the recorded events are forgotten.
 */
void travel_start_over(struct session *s);

/* Restores @snapshot and replays the history from there to @to.  Returns false if the replay went
 * another way, or was ended by the search or by ^C.
 */
bool travel_replay(struct session *s, const struct snapshot *snapshot, const struct place *to);

/* Fails because a replay went another way: fills s->diag and returns false. */
bool travel_broken(struct session *s, struct span at);

/* Takes a snapshot where the lab is, if one is due there or if @must.  Takes none in the middle of
 * a command that could not go on from there.
 */
void travel_snapshot(struct session *s, bool must);

/* --- Steps in the past ------------------------------------------------------------------------ */

/* Call before @st is carried out.  In the past, unless @st may go the way that the lab went, the
 * history behind this place becomes another future (futures_leave()).  Then the result is true, and
 * travel_end_leave() has to be called after @st.
 */
bool travel_begin_leave(struct session *s, const struct step *st);

/* @st is over.  The lab was at @before; @did: @st did something, even if no time has passed.
 * Returns false if nothing was done: then the session is in the past again, as before @st.
 */
bool travel_end_leave(struct session *s, const struct step *st, const struct moment *before,
                      bool did);

/* @st is over; in the past, the lab was at @from before it.  Returns false if the journal has to be
 * told of @st.
 */
bool travel_stays(struct session *s, const struct step *st, const struct place *from);

#endif
