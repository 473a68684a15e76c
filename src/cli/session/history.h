/* SPDX-License-Identifier: MIT */
/* The history of a session: what was done, where the lab is in it, and how it is replayed.
 *
 * Only commands about the history include this header.  All others do not know its members.
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

/* The place of the lab in the history; see position.h. */
struct position {
    bool in_past;       /* false: the lab is at the end of the history */
    uint64_t n_entries; /* in the past: entries of the log that are over there */
    uint64_t waited_ns; /* position_waited_ns() before the running command */
};

/* A replay: commands of the history are carried out again.  Travel starts it, see
 * cli/exec/travel.h.
 */
struct replay {
    bool active;
    /* A search for a place looks at the end of each tick.  NULL: there is no search. */
    void (*look)(void *ctx, struct session *s, const struct place *p);
    void *look_ctx;
    bool found;                               /* the search has found its place: the replay ends */
    const volatile sig_atomic_t *interrupted; /* set by ^C: the replay ends; may be NULL */
    /* The commands come from a saved session, and this session never carried them out.  They may
     * take another way, and may not end.
     */
    bool first_time;
};

struct session_history {
    struct journal journal; /* what was done, and the log of when */
    struct typed_lines typed;
    struct snapshots snapshots;
    struct futures futures;
    struct position position;
    struct replay replay;
    bool from_file; /* a part of it was read from a saved session */

    struct pool header_pool;
    struct step *header; /* the line `scenario`; NULL: none was given */
};

#endif
