/* SPDX-License-Identifier: MIT */
/* The history of a session: the executed commands, the position of the lab in the history, and the
 * state of a replay.
 *
 * Only commands about the history include this header.  Other commands do not know its members.
 */
#ifndef CLI_SESSION_HISTORY_H
#define CLI_SESSION_HISTORY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/lang/pool.h"
#include "cli/session/futures.h"
#include "cli/session/journal.h"
#include "cli/session/session.h"
#include "cli/session/snapshots.h"
#include "cli/session/typed_lines.h"

/* The position of the lab in the history; see position.h. */
struct position {
    bool in_past;       /* false: the lab is at the end of the history */
    uint64_t n_entries; /* if @in_past: number of log entries that are over at this place */
    uint64_t waited_ns; /* result of position_waited_ns() before the running command */
};

/* A replay: commands of the history are executed again, to take the lab to a place.  See
 * cli/exec/travel.h.
 */
struct replay {
    bool active; /* a replay is running */
    /* Called at the end of each tick, to search for a place.  NULL: there is no search. */
    void (*look)(void *ctx, struct session *s, const struct place *p);
    void *look_ctx;
    bool found; /* set by @look to end the replay: the search needs no further place */
    const volatile sig_atomic_t *interrupted; /* set by ^C, ends the replay; may be NULL */
    /* The commands are from a saved session and run for the first time in this process.  Their
     * events may differ from the saved ones, and they may run without an end.
     */
    bool first_time;
};

struct session_history {
    struct journal journal;   /* executed commands, and their log */
    struct typed_lines typed; /* the lines that `back` counts */
    struct snapshots snapshots;
    struct futures futures;
    struct position position;
    struct replay replay;
    bool from_file; /* a part of it was read from a saved session */

    struct pool header_pool; /* memory of @header */
    struct step *header;     /* the line `scenario`; NULL: none was given */
};

#endif
