/* SPDX-License-Identifier: MIT */
/* What every program of a host has, whatever it does: its host, its connection to the other side,
 * and the operations by which live_program.c lets it act.
 */
#ifndef CLI_LIVE_LIVE_PROGRAM_H
#define CLI_LIVE_LIVE_PROGRAM_H

#include "cli/live/live_internal.h"
#include "cli/live/live_tcp.h"

enum live_program_state {
    LIVE_PROGRAM_TALKS, /* it is in its exchange over TCP */
    LIVE_PROGRAM_RUNS,
    LIVE_PROGRAM_DONE,
    LIVE_PROGRAM_FAILED
};

struct live_program_ops {
    void (*go)(struct live_program *g); /* as far as it can */
    enum live_program_state (*state)(const struct live_program *g);
    bool (*asks)(const struct live_program *g); /* is a control request of it under way? */
    const char *(*error)(const struct live_program *g);
    const char *(*remedy)(const struct live_program *g); /* "": nothing can be said */
    void (*info)(const struct live_program *g,
                 struct live_program_info *ret); /* what it alone has */
    void (*free)(struct live_program *g);
};

/* The first member of each program. */
struct live_program {
    const struct live_program_ops *ops;
    const char *name; /* of its kind */
    struct live *live;
    struct live_program *next;
    rdl_host host;
    const char *host_name;
    struct live_tcp tcp;
    bool reported; /* its failure was told */
};

/* The new program acts from now on, and is freed by its operation.  tcp and what is told about the
 * host have been set.
 */
void live_program_add(struct live *l, struct live_program *g);

/* The remedy for a failure of its connection, whichever program it is. */
const char *live_program_tcp_remedy(const struct live_program *g);

/* The remedy for what has no better one. */
const char *live_program_look(const struct live_program *g);

#endif
