/* SPDX-License-Identifier: MIT */
/* Queue pairs as the verbs see them: number, state, attributes.
 *
 * What a transport adds (windows, timers, rings) embeds struct qp as its first member; the table
 * here holds them all.
 *
 * QPNs are handed out in order from the device's first_qpn, then the rest from HCA_QPN_USER, and
 * after that the one that has been free for longest: a late packet of a connection that is gone
 * should find nobody.  A number that is free is never refused, so a device that has few of them
 * gives one back to the next queue pair at once; to wait until no packet can be under way is left
 * to whoever makes connections (the TimeWait of the CM).
 */
#ifndef EMU_HCA_QP_H
#define EMU_HCA_QP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hca/cq.h"
#include "emu/hca/hca.h"
#include "emu/hca/srq.h"

/* Address vector: how the other end is reached. */
struct av {
    uint8_t dgid[HCA_GID_BYTES];
    uint8_t dmac[6];
    uint8_t sgid_index;
    uint8_t hop_limit; /* 0: the default */
    uint8_t tclass;
    uint8_t sl;
    uint8_t static_rate; /* the code of a rate; frames are not paced by it */
    uint8_t port;        /* from 1; the one that the queue pair has */
    uint8_t flags; /* AH_FLAG_GRH: dgid and the fields around it are there, as RoCE needs them */
    uint32_t flow_label; /* 20 bits */
};

/* Attributes as they were set.  Widths are the guest's, so that any value can be judged. */
struct qp_attr {
    uint32_t state, cur_state; /* of a request; a QP's own state is qp->state */
    uint32_t path_mtu;         /* enum mtu */
    uint32_t access;           /* set of enum access_bit: what the far side may do */
    uint32_t pkey_index, port, qkey;
    uint32_t dest_qpn, rq_psn, sq_psn;
    uint32_t max_rd_atomic, max_dest_rd_atomic;
    uint32_t min_rnr_timer, timeout, retry_cnt, rnr_retry;
    uint32_t en_sqd_async_notify; /* of a move to SQD: tell when it is drained */
    bool credits; /* given, as QPA_CREDITS, or not: end-to-end credits are told and kept to */
    struct av av;
};

struct qp_config {
    uint32_t pdn;
    uint32_t type; /* enum qp_type */
    uint32_t send_cqn, recv_cqn;
    uint32_t max_send_wr, max_recv_wr; /* 0: none can be posted */
    uint32_t max_send_sge, max_recv_sge;
    uint32_t max_sge_rd; /* of a READ; follows from max_send_sge and the device's limit */
    uint32_t max_inline_data;
    bool sig_all;          /* every send is signaled */
    uint32_t create_flags; /* set of CREATE_..., facts/device.h */
    uint32_t srqn;         /* where its receives come from; 0: from a queue of its own */
};

struct qp {
    struct hca *hca;
    struct pd *pd;
    struct cq *send_cq, *recv_cq;
    struct srq *srq; /* NULL: it has a receive queue of its own */
    uint32_t qpn;
    enum qp_state state; /* written by qp_set_state() only */
    struct qp_config config;
    struct qp_attr attr;
    uint32_t n_groups; /* multicast groups that it is attached to */
    /* Set of 1u << enum wq: the driver may take the ring away once, and give another. */
    unsigned exchanged;
};

/* Creates a queue pair in RESET in a zeroed block of @qp_bytes, of which it is the first member.
 * With a shared receive queue max_recv_wr of @config is nothing, and max_recv_sge that queue's.
 *
 * Return: RSP_OK
 *	   RSP_BAD_HANDLE     no such PD, CQ or shared receive queue
 *	   RSP_INVALID_ARG    a queue is longer, an element larger than the limits
 *	   RSP_NO_RESOURCES   max_qp is reached, or the arena is full
 */
enum ctrl_rsp hca_qp_create(struct hca *h, const struct qp_config *config, size_t qp_bytes,
                            struct qp **ret);

/* Gives back the number and the block, which had @qp_bytes. */
void hca_qp_destroy(struct hca *h, struct qp *qp, size_t qp_bytes);

/* Place of a QPN in the table: 0 is first_qpn. */
static inline uint32_t hca_qpn_index(const struct hca *h, uint32_t qpn)
{
    return qpn >= h->first_qpn ? qpn - h->first_qpn
                               : h->limits.max_qp - h->first_qpn + 1 + qpn - HCA_QPN_USER;
}

/* NULL: there is none with this number. */
static inline struct qp *hca_qp(const struct hca *h, uint32_t qpn)
{
    return qpn >= HCA_QPN_USER && qpn <= h->limits.max_qp ? slots_at(&h->qps, hca_qpn_index(h, qpn))
                                                          : NULL;
}

/* May @qp be modified so?  @mask is a set of enum qp_attr_bit, valid in @attr.  Changes nothing.
 *
 * Return: RSP_OK
 *	   RSP_INVALID_ARG    no such move, an attribute is missing, one too many, or out of range
 *	   RSP_NOT_SUPPORTED  path migration
 *	   RSP_NO_RESOURCES   the device has no room for so many READs of peers, max_res_rd_atom
 */
enum ctrl_rsp hca_qp_check_modify(const struct qp *qp, uint32_t mask, const struct qp_attr *attr);

/* Does what hca_qp_check_modify() allowed: attributes first, then the state.  A queue pair in RESET
 * is as it was created: it has forgotten its attributes.
 */
void hca_qp_apply_modify(struct qp *qp, uint32_t mask, const struct qp_attr *attr);

/* The only writer of qp->state; traces. */
void qp_set_state(struct qp *qp, enum qp_state to);

#endif
