/* SPDX-License-Identifier: MIT */
/* Shared receive queues: receives that any of several queue pairs may take.
 *
 * Such a queue has a protection domain of its own, to which the memory of its receives must belong,
 * whatever that of the queue pair is which takes one.  A queue pair that fails leaves in it what it
 * has not taken.  The ring itself is a virtqueue of the device layer; here is what it does not say.
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
    uint32_t limit; /* fewer receives than this raise an event, once; 0: none does */
    uint32_t users; /* queue pairs */
    bool error;     /* its ring was broken or taken away: it gives nothing any more */
    uint64_t taken; /* receives that queue pairs took, ever */
};

struct srq_config {
    uint32_t pdn;
    uint32_t max_wr, max_sge;
};

/* RSP_OK, RSP_BAD_HANDLE (no such PD), RSP_INVALID_ARG (max_wr is 0, or a value above the limits),
 * RSP_NO_RESOURCES
 */
enum ctrl_rsp hca_srq_create(struct hca *h, const struct srq_config *config, struct srq **ret);

/* RSP_OK, RSP_BAD_HANDLE, RSP_BUSY: a queue pair uses it */
enum ctrl_rsp hca_srq_destroy(struct hca *h, uint32_t srqn);

/* NULL: there is none with this number. */
static inline struct srq *hca_srq(const struct hca *h, uint32_t srqn)
{
    return slots_at(&h->srqs, srqn - 1);
}

/* Arms the event SRQ_LIMIT_REACHED, which a receive that is taken raises; limit 0 takes it back.
 * RSP_OK, RSP_INVALID_ARG: there can never be so many receives
 */
enum ctrl_rsp srq_set_limit(struct hca *h, struct srq *srq, uint32_t limit);

/* A queue pair took a receive, and @left are there still.  True: that is the event which was asked
 * for; it is armed no more.
 */
bool srq_take(struct srq *srq, uint32_t left);

#endif
