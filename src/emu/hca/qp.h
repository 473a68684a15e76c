/* SPDX-License-Identifier: MIT */
/* Queue pairs as the verbs see them: number, state, attributes.
 *
 * The transport embeds struct qp as the first member of its own structure, which adds windows,
 * timers and rings.  The table of queue pairs is here.
 *
 * QPN_GSI is for the queue pair of type GSI alone, of which there is at most one.  It is a
 * queue pair of datagrams whose Q_Key is QKEY_GSI and whose P_Key is entry 0 of the table;
 * MODIFY_QP does not change them.
 *
 * All other QPNs are assigned in order from the device's first_qpn to max_qp, then from
 * HCA_QPN_USER to first_qpn - 1.  After that the QPN that has been free for longest is reused, so
 * that a late packet of a closed connection usually finds no queue pair.  A free QPN is always
 * usable, so a device with few of them can reuse one at once.  Waiting until no packet is in flight
 * is left to the connection manager (its TimeWait state).
 */
#ifndef EMU_HCA_QP_H
#define EMU_HCA_QP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hca/cq.h"
#include "emu/hca/hca.h"
#include "emu/hca/srq.h"

/* Address vector: the path to the peer. */
struct av {
    uint8_t dgid[HCA_GID_BYTES];
    uint8_t dmac[6];
    uint8_t sgid_index;
    uint8_t hop_limit; /* 0 means the default hop limit */
    uint8_t tclass;
    uint8_t sl;
    uint8_t static_rate; /* encoded rate; not used to pace frames */
    uint8_t port;        /* port of the queue pair, from 1 */
    uint8_t flags;       /* AH_FLAG_GRH: the GRH fields are valid, as RoCE requires */
    uint32_t flow_label; /* 20 bits */
};

/* Queue pair attributes.  The widths are those of the guest's request, so that out-of-range values
 * can be checked.
 */
struct qp_attr {
    uint32_t state, cur_state; /* used only in requests; the state of a QP is qp->state */
    uint32_t path_mtu;         /* enum mtu */
    uint32_t access;           /* set of enum access_bit: access that the peer has */
    uint32_t pkey_index, port, qkey;
    uint32_t dest_qpn, rq_psn, sq_psn;
    uint32_t max_rd_atomic, max_dest_rd_atomic;
    uint32_t min_rnr_timer, timeout, retry_cnt, rnr_retry;
    uint32_t en_sqd_async_notify; /* with a move to SQD: 1 requests the event SQ_DRAINED */
    bool credits;                 /* QPA_CREDITS was set: use end-to-end credits */
    struct av av;
};

struct qp_config {
    uint32_t pdn;
    uint32_t type; /* enum qp_type */
    uint32_t send_cqn, recv_cqn;
    uint32_t max_send_wr, max_recv_wr; /* 0: nothing can be posted */
    uint32_t max_send_sge, max_recv_sge;
    uint32_t max_sge_rd; /* SGEs of a READ: the smaller of max_send_sge and the device's limit */
    uint32_t max_inline_data;
    bool sig_all;          /* all sends are signaled */
    uint32_t create_flags; /* set of CREATE_... of facts/roce.h */
    uint32_t srqn;         /* shared receive queue; 0: none */
};

struct qp {
    struct hca *hca;
    struct pd *pd;
    struct cq *send_cq, *recv_cq;
    struct srq *srq; /* NULL: the queue pair has its own receive queue */
    uint32_t qpn;
    uint32_t state; /* enum qp_state; only written by qp_set_state() */
    struct qp_config config;
    struct qp_attr attr;
    /* The GID table of the port that the queue pair sends and receives by, and the MAC of this
     * port. NULL: those of the device.
     */
    struct hca_gid *gids;
    const uint8_t *mac;
    uint32_t n_groups; /* number of multicast groups that the queue pair is attached to */
    /* Set of 1u << enum wq: after RESIZE_QP the driver may reset this ring once and set up another.
     */
    unsigned exchanged;
};

/* Returns the GID table that @qp uses. */
static inline struct hca_gid *qp_gids(const struct qp *qp)
{
    return qp->gids ? qp->gids : qp->hca->gids;
}

/* Frees @qp, its QPN and its block of @qp_bytes.  Unbinds its windows, and detaches it from its
 * multicast groups.
 */
void hca_qp_destroy(struct hca *h, struct qp *qp, size_t qp_bytes);

/* Returns the index of @qpn in the table of queue pairs, which lacks the GSI.  Index 0 is
 * first_qpn.
 */
static inline uint32_t hca_qpn_index(const struct hca *h, uint32_t qpn)
{
    return qpn >= h->first_qpn ? qpn - h->first_qpn
                               : h->limits.max_qp - h->first_qpn + 1 + qpn - HCA_QPN_USER;
}

/* Returns the number of queue pairs, with that of type GSI. */
static inline uint32_t hca_n_qps(const struct hca *h)
{
    return h->qps.used + (h->gsi != NULL);
}

/* Returns the queue pair @qpn, or NULL if it does not exist. */
static inline struct qp *hca_qp(const struct hca *h, uint32_t qpn)
{
    if (qpn >= HCA_QPN_USER && qpn <= h->limits.max_qp)
        return slots_at(&h->qps, hca_qpn_index(h, qpn));
    return qpn == QPN_GSI ? h->gsi : NULL;
}

/* Applies a request that hca_qp_check_modify() has allowed: first the attributes, then the state.
 * A transition to RESET clears all attributes.
 */
void hca_qp_apply_modify(struct qp *qp, uint32_t mask, const struct qp_attr *attr);

/* Sets qp->state and emits qp_state.  No other function writes the state. */
void qp_set_state(struct qp *qp, uint32_t to);

#endif
