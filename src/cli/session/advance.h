/* SPDX-License-Identifier: MIT */
/* Lets the lab of a session go on, within its limits, and until ^C or the stop expression. */
#ifndef CLI_SESSION_ADVANCE_H
#define CLI_SESSION_ADVANCE_H

#include "cli/session/session.h"

enum advance_end {
    ADVANCE_DONE,    /* what was waited for has happened */
    ADVANCE_IDLE,    /* nothing is scheduled any more */
    ADVANCE_LATE,    /* the time given to it is over */
    ADVANCE_STOPPED, /* the stop expression holds, and the session ends */
    ADVANCE_FAILED   /* s->diag says why */
};

/* Ends the session if the stop expression holds. */
void advance_stop(struct session *s);

/* Until @grain has happened once. */
enum advance_end advance_step(struct session *s, enum rdl_step grain, struct span at);

/* Until nothing is scheduled (ADVANCE_IDLE) or the time @until_ns (ADVANCE_DONE). */
enum advance_end advance_run(struct session *s, uint64_t until_ns, struct span at);

/* One tick, if it is due by @until_ns; otherwise ADVANCE_LATE.  Of a lab that follows real time:
 * all that is due now.
 */
enum advance_end advance_tick(struct session *s, uint64_t until_ns, struct span at);

/* Until the device of @host has answered the control request; false if it refused, or never will.
 */
bool advance_wait(struct session *s, rdl_host host, struct span at);

/* While a person thinks, a lab that follows real time goes on: does what is due, and waits for more
 * or for @input, a file descriptor.  False: there is input, or the lab follows no clock.
 */
bool advance_idle(struct session *s, int input);

/* Prints what live ports and programs have to say. */
void advance_tell(struct session *s);

/* Adds to the notes of s->diag who waits for what. */
void advance_note_waits(struct session *s);

#endif
