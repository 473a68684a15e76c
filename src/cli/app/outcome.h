/* SPDX-License-Identifier: MIT */
/* What a run came to, as far as its programs can tell: the completions of every queue, and what is
 * in registered memory when nothing happens any more.
 *
 * Two runs of a scenario are compared by it.  How many packets it took is known too, and is no
 * difference.
 */
#ifndef CLI_APP_OUTCOME_H
#define CLI_APP_OUTCOME_H

#include "cli/session/session.h"
#include "emu/trace/event.h"
#include "rdmalab/inspect.h"

/* A packet that was sent, and how a fault finds it: it is the @nth with these coordinates. */
struct outcome_packet {
    struct ev tx;
    uint32_t nth;
    uint32_t at;         /* where it arrived first: host; EV_HOST_NONE: nowhere */
    uint64_t arrived_ns; /* and when */
};

struct outcome_memory {
    char path[RDL_VALUE_BYTES]; /* of the region */
    uint32_t sum;
};

struct outcome {
    struct outcome_packet *packets;
    struct ev *completions; /* cqe, of each queue in the order in which they were written */
    struct outcome_memory *memory;
    size_t n_packets; /* that were sent */
    size_t n_kept, packets_room;
    size_t n_completions, completions_room, n_memory, memory_room;
    const char *fault;  /* the name of one that is of interest; NULL: none is */
    uint64_t n_hit;     /* packets that it hit */
    size_t packets_max; /* that are kept: the first ones; the others are counted */
    bool is_idle;       /* nothing is due any more */
};

/* Hears all that happens in @lab from now on, and forgets what it knew of another one. */
enum rdl_status outcome_watch(struct outcome *o, struct rdl_lab *lab);

/* Lets the lab of @s go on until it is idle, within limits, and looks at memory. */
void outcome_end(struct outcome *o, struct session *s);

void outcome_free(struct outcome *o);

/* Appends the first difference that a program can see between @was and @is, "h1.qp wr_id=1:
 * RETRY_EXC_ERR; without the fault SUCCESS", and tells whether there is one.
 */
bool outcome_add_difference(struct text *t, const struct outcome *was, const struct outcome *is,
                            const struct ev_names *names);

#endif
