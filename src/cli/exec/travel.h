/* SPDX-License-Identifier: MIT */
/* Time travel: takes the lab of a session to any place in the session's history.
 *
 * Travel restores the nearest snapshot before the place and replays the log from there.  A command
 * that only lets time pass is replayed by running the lab up to the time where it ended.  Any other
 * command is executed again.  During a replay nothing is printed and no file is written.
 *
 * While the lab is in the past, a command leaves the journal unchanged if it only looks, or if it
 * lets time pass exactly as the history did.  Any other command begins another future at the place
 * of the lab (futures.h).
 */
#ifndef CLI_EXEC_TRAVEL_H
#define CLI_EXEC_TRAVEL_H

#include "cli/session/history.h"

/* Takes the lab to the place @to.  Returns false with the error in s->diag.  Its kind is
 * DIAG_BROKEN if the events of the replay differ from those of the session.  In all functions here,
 * @at is the position of the command in its line, for error messages.
 */
bool travel_to(struct session *s, const struct place *to, struct span at);

/* Goes to the future @name, which must exist, at the place where it was left.  Errors are those of
 * travel_to().
 */
bool travel_to_future(struct session *s, const char *name, struct span at);

/* *@ret is the hash of all events up to the end of the history.  If it is not known, the lab goes
 * to the end and comes back.  Errors are those of travel_to().
 */
bool travel_hash_at_end(struct session *s, uint64_t *ret);

/* A search for the last place up to @end where @look returns true.  Places are the ends of ticks.
 *
 * The search replays the history and calls @look at every place in order.  It begins at the last
 * snapshot, and again at an earlier one as long as nothing is found.  @first is true at the first
 * place of each part that it replays: @look does not know the state before that place.  If the
 * search goes back further, it calls @look there again.
 */
struct travel_search {
    bool (*look)(void *ctx, struct session *s, bool first);
    /* Called if @look has just returned true at the best place so far, so that the caller can save
     * data about it; may be NULL.
     */
    void (*keep)(void *ctx);
    void *ctx;
    bool before;      /* @end itself does not count */
    const char *none; /* error message if there is no such place */
    bool found;       /* result: there is such a place, and it is @place */
    struct place place;
    bool at_end; /* with @before: @look was true at @end */

    bool first;       /* internal: the next call of @look is the first of a part */
    struct place end; /* where the search ends; forwards, where it begins */
};

/* Searches backwards from @end.  The lab returns to its place in any case, unless s->diag is
 * DIAG_BROKEN.  Returns false, with the error in s->diag, if there is no such place, the replay
 * failed, or ^C ended it.
 */
bool travel_search(struct session *s, struct travel_search *search, const struct place *end,
                   struct span at);

/* Searches forwards: finds the first place after the place of the lab where @look returns true.
 * Then returns true, and the caller takes the lab to search->place with travel_to().  Otherwise
 * returns false, with the error in s->diag, and the lab returns to its place, unless s->diag is
 * DIAG_BROKEN.
 */
bool travel_search_ahead(struct session *s, struct travel_search *search, struct span at);

/* Takes the lab to its beginning, before another history replaces that of the session.  Frees all
 * snapshots but the first, and the recorded events.
 */
void travel_start_over(struct session *s);

/* Restores @snapshot and replays the history from there to @to.  Returns false if the events differ
 * from those of the session, or if ^C, or a search that has found its place (struct replay), ended
 * the replay.
 */
bool travel_replay(struct session *s, const struct snapshot *snapshot, const struct place *to);

/* Fills s->diag with a DIAG_BROKEN error: the events of a replay differed.  Returns false. */
bool travel_broken(struct session *s, struct span at);

/* Takes a snapshot at the place of the lab if one is due there or if @must.  Takes none in the
 * middle of a command that cannot be continued from there.
 */
void travel_snapshot(struct session *s, bool must);

/* --- Steps in the past ------------------------------------------------------------------------ */

/* If the lab is in the past and @st may change it, makes the history after this place another
 * future (futures_leave()) and returns true: call travel_end_leave() after @st.  Returns false
 * otherwise, also if @st may only let time pass as the history did.  Call before @st is executed.
 */
bool travel_begin_leave(struct session *s, const struct step *st);

/* Ends travel_begin_leave() after @st was executed.  @before is the time of the lab before @st;
 * @did means that @st did something even if no time has passed.  Returns true if @st did something:
 * the other future stays.  Otherwise returns false, and the session is in the past again, as before
 * @st.
 */
bool travel_end_leave(struct session *s, const struct step *st, const struct moment *before,
                      bool did);

/* Call after @st was executed at the place @from.  Returns true if that place is in the past and
 * @st did not leave the history.  Otherwise returns false: the caller must add @st to the journal.
 * If @st let time pass differently from the history, this function has begun another future.
 */
bool travel_stays(struct session *s, const struct step *st, const struct place *from);

#endif
