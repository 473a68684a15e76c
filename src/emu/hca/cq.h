/* SPDX-License-Identifier: MIT */
/* Completion queues: the arming of their events, and a log of what was completed.
 *
 * The ring itself is a virtqueue of the device layer; here is what the ring does not say: whether
 * an event is wanted, whether the queue overflowed, and what its last completions were, polled or
 * not.
 */
#ifndef EMU_HCA_CQ_H
#define EMU_HCA_CQ_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/compared.h"
#include "emu/hca/hca.h"

/* Completions that are remembered: so many in the first block and in the second, twice as many in
 * the third, and so on.
 */
#define CQ_LOG_MAX    1024u
#define CQ_LOG_FIRST  16u
#define CQ_LOG_BLOCKS 7u

/* As large as a line of the processor's cache: of every queue a thousand are kept. */
struct completion {
    uint64_t wr_id;
    struct compared values; /* that the rule compared; the guest does not see them */
    uint32_t bytes;         /* received; 0 for sends */
    uint32_t qpn;
    uint32_t src_qpn;          /* UD: who sent it */
    uint32_t invalidated_rkey; /* with WCF_WITH_INV */
    uint8_t imm[4];            /* as on the wire, with WCF_WITH_IMM */
    enum rule rule;            /* which one refused: the CQE's vendor_err */
    enum wc_status status : 8;
    enum wc_opcode opcode : 8;
    unsigned flags : 8; /* set of enum wc_flag_bit */
    bool solicited : 1; /* wakes who waits for solicited completions only; errors do too */
};

enum cq_arm { CQ_IDLE, CQ_ARMED_SOLICITED, CQ_ARMED_ANY };

struct cq {
    uint32_t cqn;   /* 1 .. max_cq */
    uint32_t cqe;   /* entries that were asked for */
    uint32_t users; /* send and receive queues */
    enum cq_arm arm;
    bool error;                            /* overflowed: nothing is delivered any more */
    uint64_t n_completed;                  /* ever */
    struct completion *log[CQ_LOG_BLOCKS]; /* the last ones; NULL: not needed yet */
};

/* RSP_OK, RSP_INVALID_ARG: @cqe is 0 or above the limit, RSP_NO_RESOURCES */
enum ctrl_rsp hca_cq_create(struct hca *h, uint32_t cqe, struct cq **ret);

/* RSP_OK, RSP_BAD_HANDLE, RSP_BUSY: a queue pair uses it */
enum ctrl_rsp hca_cq_destroy(struct hca *h, uint32_t cqn);

/* From now on @cqe entries are asked for; the ring is the driver's to change.
 *
 * Return: RSP_OK
 *	   RSP_BAD_HANDLE   no such queue
 *	   RSP_INVALID_ARG  @cqe is 0 or above the limit, or the queue has overflowed
 */
enum ctrl_rsp hca_cq_resize(struct hca *h, uint32_t cqn, uint32_t cqe);

/* NULL: there is none with this number. */
static inline struct cq *hca_cq(const struct hca *h, uint32_t cqn)
{
    return slots_at(&h->cqs, cqn - 1);
}

/* One event at the next completion, or the next solicited one.  "Any" replaces "solicited"; the
 * other way round changes nothing.  [IBTA1 11.4.2.2]
 */
void cq_arm(struct cq *cq, bool solicited_only);

/* Notes a completion that was delivered.  True if it is the one that the armed queue waits for; the
 * queue is not armed any more then.
 */
bool cq_completed(struct hca *h, struct cq *cq, const struct completion *wc);

/* Completion number @n ever, from 0; NULL if there was none yet or it is forgotten. */
const struct completion *cq_log_at(const struct cq *cq, uint64_t n);

#endif
