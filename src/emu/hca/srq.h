/* SPDX-License-Identifier: MIT */
/* Shared receive queues.  Several queue pairs take their receives from one such queue.
 *
 * A shared receive queue has its own protection domain.  The memory of its receives must belong to
 * this domain, not to the protection domain of the queue pair that takes a receive.  A queue pair
 * that fails leaves the receives that it has not taken.  The ring itself is part of the
 * device; this file keeps the state that the ring does not hold.
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
    uint32_t srqn; /* SRQN, 1 .. max_srq */
    uint32_t max_wr, max_sge;
    uint32_t limit; /* SRQ_LIMIT_REACHED is raised when fewer receives remain; 0: not armed */
    uint32_t users; /* number of queue pairs that use it */
    bool error;     /* the ring is broken, or was reset in use: no more receives are taken */
    uint64_t taken; /* total number of receives taken */
};

struct srq_config {
    uint32_t pdn;
    uint32_t max_wr, max_sge;
};

/* Returns the shared receive queue @srqn, or NULL if it does not exist. */
static inline struct srq *hca_srq(const struct hca *h, uint32_t srqn)
{
    return slots_at(&h->srqs, srqn - 1);
}

/* Counts a receive that a queue pair has taken; @left receives remain.  If the event
 * SRQ_LIMIT_REACHED must be raised, disarms it and returns true.  Otherwise returns false.
 */
bool srq_take(struct srq *srq, uint32_t left);

#endif
