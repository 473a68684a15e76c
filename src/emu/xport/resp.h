/* SPDX-License-Identifier: MIT */
/* Responder, RC: what to do with one request packet.
 *
 * Three questions, three functions.  resp_decide() asks what the packet says by itself,
 * resp_decide_memory() whether its key opens what it names; only if it may be executed and needs
 * one is a receive fetched for it, and resp_decide_delivery() asks whether that one can take it.  A
 * duplicate READ or atomic is looked at by resp_decide_again() instead.  All are pure.
 */
#ifndef EMU_XPORT_RESP_H
#define EMU_XPORT_RESP_H

#include "emu/base/cold.h"
#include "emu/facts/compared.h"
#include "emu/facts/psn.h"
#include "emu/xport/xport_qp.h"

/* What the rules of a packet look at. */
struct resp_view {
    struct psn expected;
    bool seq_nak_out, rnr_nak_out; /* a NAK was sent and the expected PSN has not come since */
    const struct op_info *open;    /* last packet of the message that is open, or NULL */
    uint32_t left;                 /* bytes that are to come of an open WRITE */
    uint32_t mtu;                  /* bytes */
    unsigned access;               /* that the queue pair allows its peer */
    uint32_t rds, max_rds;         /* READs and atomics that are not answered, and may be */
    enum profile profile;
};

/* A piece of memory that a packet names, and what it wants to do there. */
struct target_view {
    const struct hca *hca;
    struct key_user who;
    unsigned access; /* set of enum access_bit */
    struct sge at;   /* lkey: the R_Key */
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
    uint32_t lead;              /* bytes that come before the payload of a datagram */
    enum profile profile;
};

struct resp_verdict {
    enum pkt_act act;       /* ACCEPT, DUPLICATE, NAK_*, RNR, TAKE_AND_FAIL or DROP */
    enum syndrome nak;      /* of the answer to a NAK_* or RNR; NONE otherwise */
    enum rule rule;         /* which one objected */
    struct compared values; /* that it compared */
    enum drop_reason drop;
    /* How the receive ends with a NAK_* or TAKE_AND_FAIL; SUCCESS: it is flushed. */
    enum wc_status status;
    struct sge bad; /* with LOC_PROT_ERR: the piece of the receive whose key was refused */
};

/* The verdict that refuses a packet with @act, a NAK_* or RNR; @status: how the receive ends. */
RDL_COLD struct resp_verdict resp_nak(enum pkt_act act, enum wc_status status);

/* @p->op may be reserved: its name is NULL then. */
void resp_decide(const struct resp_view *v, const struct packet *p, struct resp_verdict *ret);
void resp_decide_memory(const struct target_view *v, struct resp_verdict *ret);

/* @ret is ACCEPT so far, and stays so if nothing objects. */
void resp_decide_delivery(const struct delivery_view *v, const struct packet *p,
                          struct resp_verdict *ret);

/* What @p does to memory that it names, one of enum access_bit; 0: it names none. */
unsigned resp_access(const struct packet *p);

/* The piece of memory that @p names, all of it, if it starts a message; otherwise what it touches
 * of the open WRITE @w.
 */
struct sge resp_target(const struct packet *p, const struct resp_write *w);

/* Does @p need a receive that is not held yet?  A WRITE with immediate does with its last packet.
 */
bool resp_needs_receive(const struct packet *p);

/* Does the receive that is held complete with @p, which ends a message?  On UC one may be held that
 * was taken for a message whose end was lost: a WRITE leaves it for the next.
 */
bool resp_ends_receive(const struct packet *p);

/* Is the duplicate @p what the READ or atomic @rd was, or the rest of it?  From which response on
 * is then in @ret_at.
 */
bool resp_asks_again(const struct resp_rd *rd, const struct packet *p, uint32_t mtu,
                     uint32_t *ret_at);

#endif
