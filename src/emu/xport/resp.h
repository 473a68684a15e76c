/* SPDX-License-Identifier: MIT */
/* Responder, RC: what to do with one request packet.
 *
 * Two questions, two functions.  resp_decide() asks what the packet says by itself; only if it may
 * be executed is a receive fetched for it, and resp_decide_delivery() asks whether that one can
 * take it.  Both are pure.
 */
#ifndef EMU_XPORT_RESP_H
#define EMU_XPORT_RESP_H

#include "emu/facts/compared.h"
#include "emu/facts/psn.h"
#include "emu/xport/rc.h"

/* What the rules of a packet look at. */
struct resp_view {
    struct psn expected;
    bool seq_nak_out, rnr_nak_out; /* a NAK was sent and the expected PSN has not come since */
    const struct op_info *open;    /* last packet of the message that is open, or NULL */
    uint32_t mtu;                  /* bytes */
    enum profile profile;
};

/* What the rules of a delivery look at. */
struct delivery_view {
    const struct hca *hca;
    struct key_user who;
    uint32_t max_recv_sge;
    enum fetch got;             /* is there a receive? */
    const struct recv_wqe *wqe; /* with FETCH_OK */
    struct sge_cur at;          /* where the payload goes in it */
    uint32_t received;          /* bytes before it */
    enum profile profile;
};

struct resp_verdict {
    enum pkt_act act;       /* ACCEPT, DUPLICATE, NAK_*, RNR or DROP */
    enum syndrome nak;      /* of the answer to a NAK_* or RNR; NONE otherwise */
    enum rule rule;         /* which one objected */
    struct compared values; /* that it compared */
    enum drop_reason drop;
    enum wc_status status; /* how the receive ends with a NAK_*; SUCCESS: it is flushed */
    struct sge bad;        /* with LOC_PROT_ERR: the piece of the receive whose key was refused */
};

/* The verdict that refuses a packet with @act, a NAK_* or RNR; @status: how the receive ends. */
struct resp_verdict resp_nak(enum pkt_act act, enum wc_status status);

/* @p->op may be reserved: its name is NULL then. */
struct resp_verdict resp_decide(const struct resp_view *v, const struct packet *p);
struct resp_verdict resp_decide_delivery(const struct delivery_view *v, const struct packet *p);

#endif
