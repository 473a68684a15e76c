/* SPDX-License-Identifier: MIT */
/* Lets the lab of a session go on, within its limits, and until ^C or a stop. */
#ifndef CLI_SESSION_ADVANCE_H
#define CLI_SESSION_ADVANCE_H

#include "cli/session/session.h"

enum advance_end {
    ADVANCE_DONE,    /* what was waited for has happened */
    ADVANCE_IDLE,    /* nothing is scheduled any more */
    ADVANCE_GOES_ON, /* the time given to it is over, and more is scheduled */
    ADVANCE_STOPPED, /* by a stop, or because the session is over */
    ADVANCE_FAILED   /* s->diag says why */
};

/* How it ended that the lab went on. */
struct advanced {
    enum advance_end end;
    const struct stop *stop; /* of ADVANCE_STOPPED; NULL: the session was over before */
};

/* A step is over: looks at the stops, unless it failed.  If one of them is hit the session ends, or
 * the line does.
 */
void advance_stop(struct session *s);

/* The lab is at another place: what holds there begins to hold nowhere behind it. */
void advance_arrive(struct session *s);

/* Lets the lab go on until @grain has happened once: ADVANCE_DONE, or ADVANCE_IDLE if it never
 * will.
 */
struct advanced advance_step(struct session *s, enum rdl_step grain, struct span at);

/* The same until something happens at @host. */
struct advanced advance_step_host(struct session *s, rdl_host host, struct span at);

/* Lets the lab go on until nothing is scheduled (ADVANCE_IDLE) or up to the time @until_ns
 * (ADVANCE_GOES_ON).
 */
struct advanced advance_run(struct session *s, uint64_t until_ns, struct span at);

/* Carries out one tick, if one is due by @until_ns; otherwise ADVANCE_GOES_ON.  A lab that follows
 * real time does all that is due now.
 */
struct advanced advance_tick(struct session *s, uint64_t until_ns, struct span at);

/* Lets the lab go on until the device of @host has answered the control request; ADVANCE_FAILED if
 * it refused, or never will.
 */
struct advanced advance_wait(struct session *s, rdl_host host, struct span at);

/* Fails because the device of @host answered a control request with @rsp: says so, and why. */
bool advance_refused(struct session *s, rdl_host host, struct span at, uint32_t rsp);

/* While a person thinks, a lab that follows real time goes on: does what is due, and waits for more
 * or for @input, a file descriptor.  False: there is input, or the lab follows no clock.
 */
bool advance_idle(struct session *s, int input);

/* Prints what live ports and programs have to say. */
void advance_tell(struct session *s);

/* Adds to the notes of s->diag who waits for what. */
void advance_note_waits(struct session *s);

#endif
