/* SPDX-License-Identifier: MIT */
/* What events have touched since somebody last looked: hosts, and their queues.  So the invariants
 * of a large lab cost what happens in it, not what there is in it.
 */
#ifndef EMU_LAB_CHANGED_H
#define EMU_LAB_CHANGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/trace/event.h"

struct world;

/* A queue of the RDMA function.  QUEUE_CTRL stands for the host and all of it that is no queue pair
 * and no completion queue; a queue pair is named by its queue of sends.
 */
struct changed_queue {
    uint32_t host, queue;
};

struct changed_host {
    uint64_t *noted; /* bit set, by queue: it is in the list */
    uint32_t n_words;
};

/* Where an event of a kind says what it is about; NULL: it does not. */
struct changed_fields {
    const struct ev_field *host, *function, *queue, *cqn, *qpn, *number;
};

struct changed {
    const struct world *world;
    struct changed_fields fields[EV_COUNT];
    struct changed_queue *v; /* in the order in which they were touched, each once */
    size_t n, cap;
    struct changed_host *hosts;
    uint32_t n_hosts;
    bool all; /* anything may have changed: time went back, or memory was short */
};

/* Nothing is known of @w: anything may have changed.  NULL when memory is short.  The caller makes
 * it a sink of the trace.
 */
struct changed *changed_new(const struct world *w);
void changed_free(struct changed *c);

/* @e, of any kind, happened. */
void changed_event(void *ctx, const struct ev *e);

/* Somebody has looked at everything in the list, or at the whole lab if all may have changed, and
 * found nothing broken.
 */
void changed_clear(struct changed *c);

#endif
