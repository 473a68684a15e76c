/* SPDX-License-Identifier: MIT */
/* The list of hosts and queues that events have touched since the last check of the invariants.
 * With this list the cost of a check depends on the number of changes, not on the size of the lab.
 */
#ifndef EMU_LAB_CHANGED_H
#define EMU_LAB_CHANGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/trace/schema.h"
#include "emu/trace/set.h"

struct ev;
struct ev_field;

struct lab_state;

/* A queue of the RDMA function.  QUEUE_CTRL stands for the host and everything in it except
 * completion queues, queue pairs and shared receive queues.  The send queue stands for its queue
 * pair.
 */
struct changed_queue {
    uint32_t host, queue;
};

struct changed_host {
    uint64_t *noted;  /* one bit for each queue: 1 if the queue is in the list */
    uint32_t n_words; /* length of @noted in words of 64 bits */
};

/* The fields of an event kind that identify the changed object.  NULL: the kind has no such field.
 */
struct changed_fields {
    const struct ev_field *host, *function, *queue, *cqn, *qpn, *number;
};

struct changed {
    const struct lab_state *state;
    struct changed_fields fields[EV_KINDS_MAX];
    struct changed_queue *v; /* each queue once, in the order of the first event */
    size_t n, cap;           /* number of queues in @v, and its capacity */
    struct changed_host *hosts;
    uint32_t n_hosts;
    bool all; /* everything counts as changed: after a restore, or memory was short */
};

/* Creates a list for @w in which everything counts as changed.  Returns NULL if memory is short.
 * The caller adds it to the trace as a sink.
 */
struct changed *changed_new(const struct lab_state *w);
void changed_free(struct changed *c);

/* Adds the objects that event @e names, of any kind, to the list of the struct changed @ctx.  Sets
 * its member `all` if memory is short.
 */
void changed_event(void *ctx, const struct ev *e);

/* Empties the list after everything in it was checked. */
void changed_clear(struct changed *c);

#endif
