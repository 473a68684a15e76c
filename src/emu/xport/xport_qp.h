/* SPDX-License-Identifier: MIT */
/* State of a queue pair in the transport: requester and responder.  Unreliable services use the
 * same structures but not the parts that wait for answers.
 *
 * Requester.  Work requests are in a ring, numbered from 0 modulo 2^32:
 *
 *	oldest               next                fetched
 *	| acked PSNs of it ... | sent_psns of it ... |
 *	PSN: una ............ nxt ............ high
 *	     |<------------ out_psns --------->|
 *	                       |<- again_psns ->|
 *
 * una is the oldest unacknowledged PSN and high the next PSN that was never sent.  nxt is the next
 * PSN to send; it is below high only during retransmission.  nxt and high are stored as distances
 * from una and not compared with it, because up to 2^23 PSNs can be outstanding, where PSN
 * comparison becomes ambiguous.  nxt is PSN sent_psns of work request next.  Go-back-N sets nxt to
 * una and next to oldest.  Acknowledges count PSNs from the oldest one, so no request is searched
 * by its PSN.
 *
 * A request takes n_psns PSNs and is sent in packets.  The two are counted separately, because a
 * READ is one packet but takes as many PSNs as its response has packets.  Acknowledgement is
 * counted in PSNs.  Packets have their own numbers, from 0 modulo 2^32.  A request without packets
 * (req_local.c) has no PSNs either.
 *
 * Responder.  expected is the PSN of the next request packet.  wqe is the receive of the open
 * message, if it needs one.  write is the position in the open RDMA WRITE.  READs and atomics are
 * in a ring of max_dest_rd_atomic entries, numbered from 0 modulo 2^32:
 *
 *	first             done              next
 *	| sent, for duplicates | to be sent |
 *
 * done is the oldest entry with responses left to send; a duplicate moves it back.  answered is the
 * oldest entry whose responses were never all sent; it does not move back.  A new request may
 * replace any entry before answered, even one that is being sent again for a duplicate: a requester
 * that sends a new request has received that answer.
 *
 * In addition, one acknowledge or NAK can wait to be sent.  A newer acknowledge replaces an older
 * one, but no acknowledge replaces a NAK.  It is sent after the responses, so that all answers
 * leave in the order of their PSNs.  A NAK that asks for a packet is withdrawn when that packet
 * arrives.
 *
 * After a verdict that ends the queue pair, the responder is closing: it takes no more packets, and
 * the queue pair goes to ERR when the queued answer has been sent.
 *
 * Writers of the requester state: req.c, req_build.c, req_local.c, retry.c, credit.c and
 * comp_apply.c.  Writers of the responder state: resp_apply.c, resp_unreliable.c, resp_answer.c and
 * resp_rd.c.  Both are also written by xport.c when a queue pair is created, modified or kicked,
 * and by flush.c when it ends.  Any file may read them.
 */
#ifndef EMU_XPORT_XPORT_QP_H
#define EMU_XPORT_XPORT_QP_H

#include "emu/facts/compared.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/psn.h"
#include "emu/facts/wr.h"
#include "emu/xport/service.h"
#include "emu/xport/sg.h"
#include "emu/xport/xport.h"

/* Maximum numbers of outstanding request packets and of outstanding PSNs.  With more PSNs a
 * responder could not tell a new request from a duplicate.  [IBTA1 9.7.4.1.1]
 */
#define REQ_WINDOW_PKTS 4096u
#define REQ_WINDOW_PSNS 0x800000u
#define REQ_SENDS_BYTES (REQ_WINDOW_PKTS * sizeof(uint32_t)) /* size of requester.sends */

/* An acknowledge is requested at the end of a message, and at least once in this many packets. */
#define REQ_ACKREQ_PKTS 64u

#define RESP_MSN_MASK 0xffffffu

/* A work request of the send queue. */
struct req_wqe {
    struct send_wqe w;
    const struct wr_info *info; /* row of its opcode; NULL: wqe_decide() refused it */
    uint32_t bytes;             /* length of the message in bytes */
    uint32_t n_psns;            /* number of PSNs that it takes */
    uint32_t first_pkt;         /* number of its first packet; valid once that was sent */
    uint32_t ssn;               /* SSN, 24 bits; valid once its first packet was sent */
    enum wc_status status;      /* not SUCCESS: it is refused, and completes when it is oldest */
    struct objection by;        /* the rule that refused it */
    bool whole;                 /* it was first sent whole (whole.h): as one packet */
    bool carried_out; /* it has no packets and was executed; completes when it is the oldest */
};

struct requester {
    struct req_wqe *ring;
    uint8_t *bodies;                /* SGEs or inline data of each ring entry */
    size_t body_bytes;              /* size of the body of one entry */
    uint32_t size;                  /* entries of the ring, a power of two */
    uint32_t oldest, next, fetched; /* request numbers, see above */
    uint32_t acked_psns;            /* number of acknowledged PSNs of the oldest request */
    struct sge_cur sink;            /* position for the next response data of the oldest request */
    uint32_t sent_psns;             /* number of PSNs of request next before nxt */
    struct sge_cur next_sge;        /* position of the payload of the packet at nxt */
    struct psn una;
    uint32_t out_psns;            /* number of PSNs sent and not acknowledged */
    uint32_t again_psns;          /* number of PSNs from nxt to high, which will be retransmitted */
    uint32_t asked_psns;          /* number of PSNs from una to the last one with an ack request */
    uint32_t sent_pkts;           /* number of the next packet that was never sent */
    uint32_t acked_pkts;          /* number of the oldest unacknowledged packet */
    uint32_t out_rds;             /* number of READs and atomics sent and not complete */
    bool implied_nak;             /* went back for a missing response; nothing acknowledged since */
    uint64_t late_until_ns;       /* end of the extensions of a late ACK timer; 0: not extended */
    uint32_t pkts_without_ackreq; /* packets sent since the last one with an ack request */
    uint32_t ssn;                 /* SSN of the last request that was started; 0: none */
    uint32_t credit_ssn;          /* last SSN for which the responder has announced a receive */
    bool uncredited;              /* the responder does not use credits */
    bool kicked;                  /* the ring may hold work requests that are not fetched */
    ev_id resend;                 /* cause of the retransmission */
    uint32_t *sends;     /* transmissions of packet n at n % REQ_WINDOW_PKTS; NULL: 1 each */
    uint32_t retries;    /* retransmissions since the last progress */
    uint32_t rnr_naks;   /* RNR NAKs since the last progress */
    bool rnr_wait;       /* nothing is sent until the RNR timer expires */
    sim_ticket timer[2]; /* by enum timer_kind; 0: off; UINT64_MAX: expired, see retry_hold() */
    uint64_t due_ns[2];  /* time at which each timer expires; valid while it runs */
};

/* An acknowledge or NAK that waits to be sent. */
struct resp_answer {
    bool pending;
    uint8_t syndrome; /* syndrome byte of the AETH */
    struct psn psn;
    uint32_t msn;
    ev_id cause;   /* the rx event of the packet that is answered */
    bool owes_ack; /* a NAK that has replaced a requested acknowledge */
    /* For a sequence or RNR NAK: the last PSN after @psn whose packet was dropped, and the rx event
     * of that packet.  If no packet was dropped, @psn and @cause.
     */
    struct psn beyond;
    ev_id beyond_rx;
};

/* A READ or atomic that the responder has accepted.  An atomic is executed once; the original value
 * is kept for duplicates.
 */
struct resp_rd {
    uint8_t opcode; /* opcode of the request */
    struct psn psn;
    uint32_t n_psns;
    uint32_t at;   /* number of responses sent; the next one has PSN psn + at */
    uint32_t from; /* number of the first response that the latest request asks for */
    uint64_t addr;
    uint32_t rkey, bytes;
    uint8_t placement, level; /* of the FETH */
    uint64_t found;           /* atomic: original value of the memory */
    uint32_t msn;
    ev_id cause; /* rx event of the latest request or duplicate */
};

struct resp_rds {
    struct resp_rd *ring;
    uint32_t size; /* limits.max_dest_rd_atomic entries */
    uint32_t first, done, answered, next;
};

/* Position in the open RDMA WRITE. */
struct resp_write {
    uint64_t addr;
    uint32_t rkey;
    uint32_t left; /* bytes that have not arrived */
};

/* Reason of a refusal that ends the queue pair. */
struct refusal {
    enum pkt_act act; /* NAK_* or FAIL */
    enum rule rule;
};

struct responder {
    struct psn expected;
    /* PSN to acknowledge: of the last SEND or WRITE packet taken, without
     * TRAIT_REPEAT_ACKS_NO_ATOMIC also of an atomic.
     */
    struct psn taken;
    uint64_t n_psns, n_acked;   /* total number of PSNs taken; total number acknowledged */
    uint32_t msn;               /* number of messages completed, 24 bits */
    const struct op_info *open; /* last packet of the open message; NULL: none is open */
    bool seq_nak_out; /* a sequence NAK was queued, and PSN `expected` has not come since */
    bool rnr_nak_out; /* an RNR NAK was queued, and PSN `expected` has not come since */
    bool has_wqe;     /* wqe is the receive of the open message */
    struct recv_wqe wqe;
    struct sge_cur sge; /* position for the next payload */
    uint32_t received;  /* bytes received of the open message */
    struct resp_write write;
    struct resp_rds rds;
    struct resp_answer answer;
    bool closing;            /* the queue pair goes to ERR when the answer was sent */
    struct completion fatal; /* completes the held receive in ERR; SUCCESS: flushes it */
    struct refusal refused;  /* reason of closing */
    bool untold;             /* raise an event for the refusal, as no completion reports it */
    uint32_t seq_naks;       /* sequence NAKs since PSN expected last arrived: 0 or 1 */
    bool told_last;          /* QP_LAST_WQE_REACHED was raised */
};

struct xport_qp {
    struct qp qp; /* must be first: the hca's table points to it */
    struct xport *x;
    const struct service *service;
    uint32_t mtu;       /* path MTU in bytes */
    uint32_t peer;      /* host index of the peer, for events */
    bool is_ready;      /* ops->ready() was called; cleared when xport_has_more() is false */
    bool answered_last; /* the last frame was the responder's */
    bool established;   /* a packet has arrived since RTR; written by events.c */
    bool draining;      /* SQD: started requests are not complete; written by drain.c */
    bool tell_drained;  /* raise SQ_DRAINED when drained; written by drain.c */
    struct requester req;
    struct responder resp;
    struct packet out; /* packet being built; xport.c sets the headers common to all packets */
    struct packet_path path; /* encoded form of the common headers; written by xport.c */
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

/* Returns the ring entry of request number @n.  The ring must exist: it is allocated when the first
 * request is fetched.
 */
static inline struct req_wqe *req_wqe_at(const struct requester *r, uint32_t n)
{
    return &r->ring[n & (r->size - 1)];
}

/* req_high() returns the next PSN that was never sent, req_nxt() the next PSN to send. */
static inline struct psn req_high(const struct requester *r)
{
    return psn_add(r->una, r->out_psns);
}

static inline struct psn req_nxt(const struct requester *r)
{
    return psn_add(r->una, r->out_psns - r->again_psns);
}

/* Returns true for a READ or an atomic, whose response carries data. */
static inline bool req_is_rd(const struct req_wqe *q)
{
    return q->info && q->info->data == WR_DATA_FILLS;
}

/* Returns true if @q is one packet, however many PSNs it takes. */
static inline bool req_is_one_packet(const struct req_wqe *q)
{
    return q->whole || req_is_rd(q);
}

/* Returns the number of packets sent and not acknowledged. */
static inline uint32_t req_out_pkts(const struct requester *r)
{
    return r->sent_pkts - r->acked_pkts;
}

/* Increments the MSN.  Call it when a request message is complete, or a READ or atomic was
 * accepted.  [IBTA1 9.7.7.1]
 */
static inline void resp_next_msn(struct responder *r)
{
    r->msn = (r->msn + 1) & RESP_MSN_MASK;
}

/* Advances the expected PSN by @n. */
static inline void resp_took(struct responder *r, uint32_t n)
{
    r->expected = psn_add(r->expected, n);
    r->n_psns += n;
}

/* Returns entry number @n of the ring of READs and atomics. */
static inline struct resp_rd *resp_rd_at(const struct resp_rds *r, uint32_t n)
{
    return &r->ring[n % r->size];
}

/* Returns true if the responder has something to send. */
static inline bool resp_owes_answer(const struct responder *r)
{
    return r->answer.pending || r->rds.done != r->rds.next;
}

/* XPORT_COUNT() increments counter @name of the queue pair and of the device, XPORT_ADD() adds @n.
 */
#define XPORT_ADD(xqp, name, n) ((xqp)->count.name += (n), (xqp)->x->count.name += (n))
#define XPORT_COUNT(xqp, name)  XPORT_ADD(xqp, name, 1u)

#endif
