/* SPDX-License-Identifier: MIT */
/* Shared receive queues: receives that several queue pairs take from.
 *
 * A shared receive queue has its own protection domain.  The memory of its receives must belong to
 * that one, not to the protection domain of the queue pair that takes a receive.  A queue pair that
 * fails leaves the receives that it has not taken.  The ring itself is a virtqueue of the device
 * layer; this file keeps the state that the ring does not hold.
 *
 * Left out: resizing.
 */
#ifndef EMU_HCA_SRQ_H
#define EMU_HCA_SRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hca/hca.h"

struct srq {
    struct pd *pd;
    uint32_t srqn; /* 1 .. max_srq */
    uint32_t max_wr, max_sge;
    uint32_t limit; /* raises one event when fewer receives remain; 0: not armed */
    uint32_t users; /* number of queue pairs that use it */
    bool error;     /* its ring is broken or was reset: no receives any more */
    uint64_t taken; /* total number of receives taken */
};

struct srq_config {
    uint32_t pdn;
    uint32_t max_wr, max_sge;
};

/* The shared receive queue @srqn; NULL if it does not exist. */
static inline struct srq *hca_srq(const struct hca *h, uint32_t srqn)
{
    return slots_at(&h->srqs, srqn - 1);
}

/* Counts a receive that a queue pair has taken; @left remain.  Returns true if the event
 * SRQ_LIMIT_REACHED must be raised, and disarms it then.
 */
bool srq_take(struct srq *srq, uint32_t left);

#endif
