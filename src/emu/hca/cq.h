/* SPDX-License-Identifier: MIT */
/* Completion queues: arming of completion events, and a log of completions.
 *
 * The ring itself is part of the device.  This file keeps the state that the ring does
 * not hold: whether an event is armed, whether the queue overflowed, and the latest completions,
 * polled or not.
 */
#ifndef EMU_HCA_CQ_H
#define EMU_HCA_CQ_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/compared.h"
#include "emu/hca/hca.h"

/* Sizes of the completion log.  Each queue keeps the last CQ_LOG_MAX completions.  The log grows by
 * blocks: CQ_LOG_FIRST entries in each of the first two, then twice as many in each further block.
 */
#define CQ_LOG_MAX    1024u
#define CQ_LOG_FIRST  16u
#define CQ_LOG_BLOCKS 7u

/* A completion.  It fits into one cache line, 64 bytes, because the log of each queue keeps up to
 * CQ_LOG_MAX completions.
 */
struct completion {
    uint64_t wr_id;
    struct compared values; /* values that `rule` compared; the guest does not see them */
    uint32_t bytes;         /* bytes received, or returned by a READ or atomic; else 0 */
    uint32_t qpn;
    uint32_t src_qpn;          /* UD: QPN of the sender */
    uint32_t invalidated_rkey; /* valid with WCF_WITH_INV */
    uint8_t imm[4];            /* immediate data as on the wire, valid with WCF_WITH_IMM */
    uint32_t rule;       /* enum rule that failed the request, or RULE_NONE; the CQE's vendor_err */
    uint16_t pkey_index; /* QPN 1: entry of the P_Key that a datagram came with; otherwise 0 */
    unsigned status : 8; /* enum wc_status */
    unsigned opcode : 8; /* enum wc_opcode */
    unsigned flags : 8;  /* set of enum wc_flag_bit */
    bool solicited : 1;  /* fires an arming for solicited completions */
    unsigned sl : 4;     /* of a datagram that came: CQE_SL_x; otherwise 0 */
    unsigned ip : 3;     /* of a datagram that came: version of its IP header; otherwise 0 */
};

enum cq_arm { CQ_IDLE, CQ_ARMED_SOLICITED, CQ_ARMED_ANY };

struct cq {
    uint32_t cqn;         /* CQN, 1 .. max_cq */
    uint32_t cqe;         /* requested number of entries */
    uint32_t users;       /* number of send and receive queues that use it */
    enum cq_arm arm;      /* completions that fire the event; CQ_IDLE: it is not armed */
    bool error;           /* overflowed: no more completions are delivered */
    uint64_t n_completed; /* total number of completions delivered */
    struct completion *log[CQ_LOG_BLOCKS]; /* NULL: block not allocated yet */
};

/* Returns the completion queue @cqn, or NULL if it does not exist. */
static inline struct cq *hca_cq(const struct hca *h, uint32_t cqn)
{
    return slots_at(&h->cqs, cqn - 1);
}

/* Arms the event for the next completion; with @solicited_only, for the next one that is solicited
 * or failed.  Without TRAIT_ERRORS_ARE_SOLICITED, of those that failed only flushed receives count.
 * Arming for any completion replaces arming for solicited ones.  The reverse has no effect.  [IBTA1
 * 11.4.2.2]
 */
void cq_arm(struct cq *cq, bool solicited_only);

/* Takes the arming back.  For a device that finds the arming in the memory of its driver. */
void cq_disarm(struct cq *cq);

/* Adds the delivered completion @wc to the log.  If it fires the armed event, disarms the queue and
 * returns true.
 */
bool cq_completed(struct hca *h, struct cq *cq, const struct completion *wc);

/* Returns completion number @n, counted from 0 since the queue was created.  Returns NULL if it has
 * not happened or is no longer in the log.  The pointer is valid until CQ_LOG_MAX further
 * completions are delivered.
 */
const struct completion *cq_log_at(const struct cq *cq, uint64_t n);

#endif
