/* SPDX-License-Identifier: MIT */
/* What a queue pair knows: the requester's window, the responder's expectations.  An unreliable
 * one has the same; what it never waits for, it leaves alone.
 *
 * Requester.  Work requests are in a ring, numbered from 0 without end:
 *
 *	oldest               next                fetched
 *	| acked PSNs of it ... | sent_psns of it ... |
 *	PSN: una ............ nxt ............ high
 *	     |<------------ out_psns --------->|
 *	                       |<- again_psns ->|
 *
 * una is the oldest PSN without an acknowledge, high the next that was never sent, nxt the one that
 * is sent next: below high only while packets are sent again.  The two are counted from una and not
 * compared with it: 2^23 PSNs may be outstanding, which is where comparing ends.  nxt is PSN
 * sent_psns of work request next.  Going back (go-back-N) puts nxt to una and next to oldest; since
 * an acknowledge counts PSNs from the front, no request is ever searched by its PSN.
 *
 * A request takes PSNs, n_psns of them, and is sent in packets.  The two are counted apart, as a
 * packet is not always one PSN: that of a READ takes as many as its response has packets.  What is
 * acknowledged counts in PSNs.  Packets have numbers of their own, from 0 without end.  A request
 * without packets has no PSNs either: req_local.c.
 *
 * Responder.  expected is the PSN of the next request packet; wqe is the receive of the message
 * that is open, if it needs one, write where an RDMA WRITE goes on.  READs and atomics are in a
 * ring of max_dest_rd_atomic entries, numbered from 0 without end:
 *
 *	first             done              next
 *	| sent, for duplicates | to be sent |
 *
 * done is the oldest whose responses have not all been sent; a duplicate moves it back.  answered
 * does not move back: it is the oldest whose responses were never all sent.  A new request may take
 * the place of any before that, even of one that is sent again for a duplicate: who sends a new
 * request has its answer.
 *
 * Beside them one answer can wait to be sent: the newest acknowledge, or a NAK, which no
 * acknowledge replaces.  It leaves after the responses, so that all answers are in the order of
 * their PSNs.  A NAK that asks for a packet does not outlive its arrival.
 *
 * After a verdict that ends the queue pair the responder is closing: it takes nothing more, and the
 * queue pair is in ERR when the NAK has left.
 *
 * Writers: of the requester req.c, req_build.c, req_local.c, retry.c and comp_apply.c, of the
 * responder resp_apply.c, resp_answer.c and resp_rd.c; of both xport.c when a queue pair is made or
 * modified, and flush.c when it ends.  Reading is free.
 */
#ifndef EMU_XPORT_XPORT_QP_H
#define EMU_XPORT_XPORT_QP_H

#include "emu/facts/compared.h"
#include "emu/facts/psn.h"
#include "emu/facts/wr.h"
#include "emu/xport/service.h"
#include "emu/xport/sg.h"
#include "emu/xport/xport.h"

/* Request packets, and PSNs, that a requester may have outstanding.  With more PSNs a responder
 * could not tell a new request from a duplicate.  [IBTA1 9.7.4.1.1]
 */
#define REQ_WINDOW_PKTS 4096u
#define REQ_WINDOW_PSNS 0x800000u
#define REQ_SENDS_BYTES (REQ_WINDOW_PKTS * sizeof(uint32_t)) /* of requester.sends */

/* An acknowledge is asked for at the end of a message, and after so many packets without. */
#define REQ_ACKREQ_PKTS 64u

#define RESP_MSN_MASK 0xffffffu

/* rnr_retry with this value never ends.  [IBTA1 9.7.5.2.8]  retry_cnt with it does,
 * if the profile has TRAIT_RETRY_7_ENDS.
 */
#define REQ_RETRY_FOREVER 7u

/* A work request of the send queue. */
struct req_wqe {
    struct send_wqe w;
    const struct wr_info *info; /* of its opcode; NULL: it was refused */
    uint32_t bytes;             /* of the message */
    uint32_t n_psns;            /* that it takes */
    uint32_t first_pkt;         /* number of its first packet, once that was sent */
    uint32_t ssn;          /* its number among all that have packets, once that was sent: 24 bits */
    enum wc_status status; /* not SUCCESS: refused here; completes when it is the oldest */
    struct objection by;
    bool carried_out; /* a request without packets: it completes when it is the oldest */
};

struct requester {
    struct req_wqe *ring;
    uint8_t *bodies;   /* SGEs or inline data of each place of the ring */
    size_t body_bytes; /* of one of them */
    uint32_t size;     /* of the ring, a power of two */
    uint32_t oldest, next, fetched;
    uint32_t acked_psns;     /* of the oldest request */
    struct sge_cur sink;     /* where the next response to it goes */
    uint32_t sent_psns;      /* of request next: the next packet starts with that PSN of it */
    struct sge_cur next_sge; /* where the payload of that packet starts */
    struct psn una;
    uint32_t out_psns;   /* sent and not acknowledged */
    uint32_t again_psns; /* the last of them, to be sent again */
    uint32_t asked_psns; /* the first of them, to the last one that an answer was asked for */
    uint32_t sent_pkts;  /* number of the next packet that was never sent */
    uint32_t acked_pkts; /* number of the oldest one that was not acknowledged */
    uint32_t out_rds;    /* READs and atomics that were sent and are not complete */
    bool ran_on;         /* the ACK timer was late, and runs a little longer */
    bool implied_nak;    /* one was asked for again as its response is missing; none came since */
    uint32_t pkts_without_ackreq;
    uint32_t ssn;        /* of the last request that was begun, from 1 */
    uint32_t credit_ssn; /* the last that the responder has a receive for, as far as is known */
    bool uncredited;     /* the responder said that it counts no credits */
    bool kicked;         /* the ring may hold work requests that were not fetched */
    ev_id resend;        /* why packets are sent again */
    uint32_t *sends;     /* times that a packet was sent, by number % REQ_WINDOW_PKTS; NULL: once */
    uint32_t retries;    /* since the last progress */
    uint32_t rnr_naks;   /* since the last progress */
    bool rnr_wait;       /* nothing is sent until the RNR timer runs out */
    sim_ticket timer[2]; /* by enum timer_kind; 0: off */
    uint64_t due_ns[2];
};

/* An answer that waits to be sent. */
struct resp_answer {
    bool pending;
    uint8_t syndrome; /* as in the AETH */
    struct psn psn;
    uint32_t msn;
    ev_id cause;   /* the rx that it answers */
    bool owes_ack; /* a NAK: it speaks for an acknowledge that was asked for, too */
    /* A sequence or RNR NAK: the last PSN behind its own whose packet was thrown away, and the rx
     * of that; its own if none was.
     */
    struct psn beyond;
    ev_id beyond_rx;
};

/* A READ or an atomic that the responder took.  An atomic is carried out once: what it found is
 * kept for duplicates.
 */
struct resp_rd {
    uint8_t opcode; /* of its request */
    struct psn psn;
    uint32_t n_psns;
    uint32_t at;   /* responses that were sent: the next one has PSN psn + at */
    uint32_t from; /* the response that was asked for first when it was asked for last */
    uint64_t addr;
    uint32_t rkey, bytes;
    uint64_t found;
    uint32_t msn;
    ev_id cause; /* the rx that asked last */
};

struct resp_rds {
    struct resp_rd *ring;
    uint32_t size; /* entries: limits.max_dest_rd_atomic */
    uint32_t first, done, answered, next;
};

/* Where the open RDMA WRITE goes on. */
struct resp_write {
    uint64_t addr;
    uint32_t rkey;
    uint32_t left; /* bytes that are to come */
};

/* Why a request was refused for good. */
struct refusal {
    enum pkt_act act; /* NAK_* or FAIL */
    enum rule rule;
};

struct responder {
    struct psn expected;
    struct psn taken;           /* of the last packet taken that an acknowledge answers */
    uint64_t n_psns, n_acked;   /* PSNs taken; of them, up to the one that was acknowledged last */
    uint32_t msn;               /* messages completed, 24 bits */
    const struct op_info *open; /* last packet of the message that is open; NULL: none is */
    bool seq_nak_out; /* a sequence NAK was decided on; the expected PSN has not come since */
    bool rnr_nak_out; /* an RNR NAK was decided on; the same holds */
    bool has_wqe;     /* wqe is the receive of the open message */
    struct recv_wqe wqe;
    struct sge_cur sge; /* where the next payload goes */
    uint32_t received;  /* bytes of the open message */
    struct resp_write write;
    struct resp_rds rds;
    struct resp_answer answer;
    bool closing;            /* when the answer, a NAK, has left, the queue pair ends, */
    struct completion fatal; /* and the receive that is held like this; SUCCESS: it is flushed */
    struct refusal refused;  /* because of this */
    bool untold;             /* and no completion tells of it: an event does */
    uint32_t seq_naks;       /* sent since the expected PSN came last: at most 1 */
    bool told_last;          /* the event that no shared receive is held any more was raised */
};

struct xport_qp {
    struct qp qp; /* first: the table of the hca knows it as this */
    struct xport *x;
    const struct service *service;
    uint32_t mtu;       /* bytes */
    uint32_t peer;      /* host, for traces */
    bool is_ready;      /* ops->ready() was called, and xport_has_more() did not deny it since */
    bool answered_last; /* the last frame was the responder's: the requester is next */
    bool established;   /* a packet has come since the move to RTR; written by events.c */
    bool draining;      /* in SQD: what was started is not done yet; written by drain.c */
    bool tell_drained;  /* an event shall say when it is; written by drain.c */
    struct requester req;
    struct responder resp;
    struct packet out;       /* the headers that all its packets have, */
    struct packet_path path; /* and the bytes that all begin with; both written by xport.c */
    struct xport_counters count;
};

static inline struct xport_qp *xport_of(struct qp *qp)
{
    return (struct xport_qp *)qp;
}

static inline const struct xport_qp *xport_of_const(const struct qp *qp)
{
    return (const struct xport_qp *)qp;
}

static inline struct trace *xport_trace(const struct xport_qp *xqp)
{
    return xqp->qp.hca->trace;
}

/* Request number @n, which was fetched: before the first one there is no ring. */
static inline struct req_wqe *req_wqe_at(const struct requester *r, uint32_t n)
{
    return &r->ring[n & (r->size - 1)];
}

/* The PSN that was never sent, and the one that is sent next. */
static inline struct psn req_high(const struct requester *r)
{
    return psn_add(r->una, r->out_psns);
}

static inline struct psn req_nxt(const struct requester *r)
{
    return psn_add(r->una, r->out_psns - r->again_psns);
}

/* A READ or an atomic: its answer brings data. */
static inline bool req_is_rd(const struct req_wqe *q)
{
    return q->info && q->info->data == WR_DATA_FILLS;
}

/* Packets sent and not acknowledged. */
static inline uint32_t req_out_pkts(const struct requester *r)
{
    return r->sent_pkts - r->acked_pkts;
}

/* A request was completed, or a READ taken.  [IBTA1 9.7.7.1] */
static inline void resp_next_msn(struct responder *r)
{
    r->msn = (r->msn + 1) & RESP_MSN_MASK;
}

/* The next @n PSNs are taken. */
static inline void resp_took(struct responder *r, uint32_t n)
{
    r->expected = psn_add(r->expected, n);
    r->n_psns += n;
}

/* Entry number @n of the ring of READs and atomics. */
static inline struct resp_rd *resp_rd_at(const struct resp_rds *r, uint32_t n)
{
    return &r->ring[n % r->size];
}

/* Has the responder something to send? */
static inline bool resp_owes_answer(const struct responder *r)
{
    return r->answer.pending || r->rds.done != r->rds.next;
}

#define XPORT_COUNT(xqp, name) ((xqp)->count.name++, (xqp)->x->count.name++)

#endif
