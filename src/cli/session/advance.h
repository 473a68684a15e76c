/* SPDX-License-Identifier: MIT */
/* Runs the lab of a session, within its limits, and until ^C or a stop. */
#ifndef CLI_SESSION_ADVANCE_H
#define CLI_SESSION_ADVANCE_H

#include "cli/lang/source.h"
#include "rdmalab/lab.h"

struct session;
struct stop;

enum advance_end {
    ADVANCE_DONE,    /* the awaited occurrence has happened */
    ADVANCE_IDLE,    /* nothing is scheduled any more */
    ADVANCE_GOES_ON, /* the given time is over, and more is scheduled */
    ADVANCE_STOPPED, /* a stop was hit, or the session is over */
    ADVANCE_FAILED   /* the error is in s->diag */
};

/* The end of a run of the lab. */
struct advanced {
    enum advance_end end;
    /* With ADVANCE_STOPPED: the first stop that was hit, or NULL if none was hit and the session is
     * over.  Otherwise NULL.
     */
    const struct stop *stop;
};

/* Checks all enabled stops (stops.h).  A hit is counted and ends the running line.  A hit of a
 * STOP_OF_PROMPT is also printed; a hit of a STOP_OF_PROGRAM also ends the session.  Call at the
 * end of each step.  Does nothing if the step has failed (s->diag).
 */
void advance_stop(struct session *s);

/* Evaluates all stops at the present place of the lab, but counts no hit.  A condition that already
 * holds there can be hit only after it has stopped holding.  Call after the lab went to another
 * place in time.
 */
void advance_arrive(struct session *s);

/* Runs the lab until @grain has happened once (ADVANCE_DONE), or until nothing is scheduled any
 * more (ADVANCE_IDLE).  For all functions below: @at is the position of the step in its source, for
 * error messages; and a run may also end with ADVANCE_STOPPED, or with ADVANCE_FAILED after an
 * error, ^C or a limit.
 */
struct advanced advance_step(struct session *s, enum rdl_step grain, struct span at);

/* Runs the lab until an event happens at @host (ADVANCE_DONE), or until nothing is scheduled any
 * more (ADVANCE_IDLE).
 */
struct advanced advance_step_host(struct session *s, rdl_host host, struct span at);

/* Runs the lab until nothing is scheduled (ADVANCE_IDLE), or up to the simulated time @until_ns
 * (ADVANCE_GOES_ON).  RDL_NEVER: there is no such time.
 */
struct advanced advance_run(struct session *s, uint64_t until_ns, struct span at);

/* Runs one tick if one is due by @until_ns (ADVANCE_DONE).  Otherwise runs nothing:
 * ADVANCE_GOES_ON, or ADVANCE_IDLE if nothing is scheduled.  A lab that follows real time may also
 * run none (ADVANCE_DONE): it lets programs and virtual machines act, and their ticks may be more.
 */
struct advanced advance_tick(struct session *s, uint64_t until_ns, struct span at);

/* Runs the lab until the device of @host has answered the control request (ADVANCE_DONE).  The
 * result is ADVANCE_FAILED, with the error in s->diag, if the device refused the request or will
 * never answer.
 */
struct advanced advance_wait(struct session *s, rdl_host host, struct span at);

/* Fills s->diag after the device of @host refused a control request with @rsp: the message has the
 * reason.  Returns false.
 */
bool advance_refused(struct session *s, rdl_host host, struct span at,
                     const struct rdl_response *rsp);

/* Runs a lab that follows real time while the prompt waits: runs what is due, then waits for more
 * or for input on the file descriptor @input.  Returns false if there is input, or if the lab does
 * not follow real time.
 */
bool advance_idle(struct session *s, int input);

/* Prints what live ports and programs have said since the last call (live_ops.said()). */
void advance_print_messages(struct session *s);

/* Adds a note to s->diag for each object that waits for something. */
void advance_note_waits(struct session *s);

#endif
