/* SPDX-License-Identifier: MIT */
/* Time in both directions: takes the lab of a session to any place in what the session did.
 *
 * The way there is the nearest snapshot before it, and then what the log says was done from there
 * on, once more: a command that only lets the lab go on is replayed as going on to where it ended,
 * any other one as itself.  Nothing is printed and no file is written.
 *
 * In the past the journal stays as it is.  Commands that look, and those that let the lab go on the
 * way it went, leave it so; with anything else the session begins another future there.
 */
#ifndef CLI_SESSION_TRAVEL_H
#define CLI_SESSION_TRAVEL_H

#include "cli/session/session.h"

/* Where the lab is, and the end of all that was done. */
struct place travel_here(const struct session *s);
struct place travel_end(const struct session *s);

/* How long the lab, which is in the past, has let time pass there since the last tick, or since the
 * command that is under way began: `run 1us` may end between two ticks.
 */
uint64_t travel_waited_ns(const struct session *s);

/* The end of tick @tick, which was made. */
struct place travel_place_of(const struct session *s, uint64_t tick);

/* Can the session go back?  If not s->diag says why. */
bool travel_is_possible(struct session *s, struct span at);

/* The same for @st, which goes to another place in time or names one: that a block or a file would
 * not know.
 */
bool travel_is_alone(struct session *s, const struct step *st);

/* Goes there.  False: s->diag says why not; DIAG_BROKEN: what was done again went another way.
 */
bool travel_to(struct session *s, const struct place *to, struct span at);

/* Looks for the last place before @end, or at it, where @look is true; places are the ends of
 * ticks.
 * @look is asked at each of them in their order, from a place on that is as far back as it takes;
 * there, at the @first one, it cannot know what was before, and is asked again once it does.
 * False: s->diag says why not.  In any case the lab is where it was, or s->diag is DIAG_BROKEN.
 */
struct travel_search {
    bool (*look)(void *ctx, struct session *s, bool first);
    void (*keep)(void *ctx); /* the place that was looked at last is the answer so far; or NULL */
    void *ctx;
    bool before;      /* @end itself is not what is looked for */
    const char *none; /* what is said where there is no such place */
    bool found;
    struct place place;
    bool at_end; /* with @before: @end would have been an answer */

    bool first;       /* the next look is one */
    struct place end; /* where the search ends; ahead: where it begins */
};
bool travel_search(struct session *s, struct travel_search *search, const struct place *end,
                   struct span at);

/* The other way: the first place behind where the lab is, where @look is true. */
bool travel_search_ahead(struct session *s, struct travel_search *search, struct span at);

/* To where nothing was done yet, for a session that forgets what it did: its first snapshot is the
 * only one that stays, and nothing is recorded any more.
 */
void travel_start_over(struct session *s);

/* While something is done again: the end of a tick. */
void travel_look(struct session *s);

/* Does again what was done from the place of @snapshot to @to: what travel_to() and travel_search()
 * have in common.  False: it went another way, or ^C was pressed.
 */
bool travel_again(struct session *s, const struct snapshot *snapshot, const struct place *to);

/* What was done again went another way: s->diag says so.  Returns false. */
bool travel_broken(struct session *s, struct span at);

/* Takes a snapshot where the lab is, if one is due there or if it @must; but not in the middle of a
 * command that could not be gone on with from there.
 */
void travel_keep_here(struct session *s, bool must);

/* The lab has come to the end of a command, or of a chunk of one that only lets it go on. */
void travel_pass(struct session *s);

/* In the past @st is to be carried out.  Unless it may go the way that the lab went, what was done
 * behind here is left (futures_leave()), and the result is true: travel_parted() is to be called
 * when @st is over.
 */
bool travel_leave(struct session *s, const struct step *st);

/* @st, before which the lab was at @before, is over, and @did something, even if no time has
 * passed. False: nothing was done, and the session is where it was, in the past.
 */
bool travel_parted(struct session *s, const struct step *st, const struct moment *before, bool did);

/* @st, before which the lab was at @from in the past, is over.  False: it is to be written into the
 * journal.
 */
bool travel_stayed(struct session *s, const struct step *st, const struct place *from);

#endif
