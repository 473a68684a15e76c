/* SPDX-License-Identifier: MIT */
/* The transport of one RNIC: turns work requests into packets and packets into completions.
 *
 * It is passive.  The RNIC passes in kicks, packets and timers, and pulls frames out:
 *
 *	xport_kick()      work was posted to a send or receive queue
 *	xport_receive()   a decoded packet arrived
 *	xport_timer()     a timer of SIM_QP_TIMER is due
 *	xport_build()     builds the next frame of a queue pair; called after ops->ready()
 *
 * The transport calls the RNIC through struct xport_ops.  These callbacks must not call back into
 * the transport.
 *
 * Work requests are fetched one at a time, when the requester can send the next one.  Decisions and
 * their effects are separate: the rules of wqe.c, resp.c and comp.c are pure functions.  xport_qp.h
 * lists the files that write the state.
 *
 * Causes of events: the fetch of a send is caused by the kick, the first transmission of a packet
 * by the fetch of its work request, the arming of a timer by that transmission, a retransmission by
 * the timeout or the `retry` event.  An answer, and everything else that a packet leads to, is
 * caused by its rx.
 *
 * Left out: services other than RC, UC and UD; path migration.
 */
#ifndef EMU_XPORT_XPORT_H
#define EMU_XPORT_XPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hca/key_request.h"
#include "emu/hca/qp.h"
#include "emu/wire/packet.h"

/* Minimum size of the buffer for xport_build(): headers over IPv6, the largest MTU and the ICRC,
 * rounded up.
 */
#define XPORT_FRAME_BYTES 4224u

struct sge {
    uint64_t addr;
    uint32_t bytes;
    uint32_t lkey;
};

/* The SGEs that a work request says to have, and those that it has. */
struct sge_count {
    uint32_t said;  /* may be above the limit */
    uint32_t found; /* whole SGEs behind the fixed part */
    bool ragged;    /* there are more bytes, which make no whole SGE */
};

/* The address and the destination of a datagram. */
struct datagram_to {
    struct av av;
    uint32_t av_pdn; /* number of the protection domain of the address */
    uint32_t qpn, qkey;
};

/* A send work request in the terms of verbs, as a device has read it from its queue.  The device
 * copies as much as fits and stores the original sizes; the transport judges whether the request is
 * valid.
 *
 * The caller of fetch_send() sets @sge (room for max_send_sge) and @inline_data (room for
 * max_inline_data) before the call.  Both may point to the same memory, because a WQE has one or
 * the other.
 *
 * wr_form() of the QP's type and the opcode tells which member of the union is valid.  A SEND that
 * is not on a UD queue pair uses none.
 */
struct send_wqe {
    uint64_t wr_id;
    uint32_t opcode; /* enum wr_opcode; not validated */
    uint32_t flags;  /* set of enum send_flag_bit; not validated */
    uint8_t imm[4];
    uint32_t invalidate_rkey; /* valid with opcodes with invalidate, which have no immediate data */
    union {
        struct {
            uint64_t remote_addr;       /* WRITE, READ and atomics */
            uint64_t compare_add, swap; /* atomics */
            uint32_t rkey;
        };
        struct datagram_to to;
        struct reg_request reg;
        struct bind_request bind;
    };
    uint32_t desc;  /* the device's name of the request: argument of ops->complete() */
    bool truncated; /* the device cannot parse it, e.g. because it is too short */
    struct sge_count n_sge;
    uint32_t inline_bytes; /* with SF_INLINE: length of the inline data; may be above the limit */
    ev_id fetched;         /* the `fetch` event of the request */
    struct sge *sge;
    uint8_t *inline_data; /* valid with SF_INLINE: inline_bytes bytes, as far as there is room */
};

/* A receive work request.  The members are as in struct send_wqe. */
struct recv_wqe {
    uint64_t wr_id;
    uint32_t desc;
    bool truncated;
    struct sge_count n_sge;
    struct sge *sge;
    uint64_t holds_bytes; /* sum of the lengths of all SGEs; written by the transport */
};

/* FETCH_BROKEN: the queue cannot be read any more. */
enum fetch { FETCH_OK, FETCH_EMPTY, FETCH_BROKEN };

enum wq { WQ_SEND, WQ_RECV };

struct xport_ops {
    /* Takes the next work request of the queue, or of the shared receive queue, and decodes it
     * into @out.  Emits `fetch`.  Its cause is the kick for a send, and for a receive the packet
     * that needs it.
     */
    enum fetch (*fetch_send)(void *ctx, struct qp *qp, struct send_wqe *out);
    enum fetch (*fetch_recv)(void *ctx, struct qp *qp, struct recv_wqe *out);

    /* Ends work request @desc of the work queue, then delivers @wc to the queue's CQ.  @wc is NULL
     * if there is no completion: the request succeeded unsignaled or its queue was reset.  Returns
     * false if the CQ could not take @wc.  The completion is lost then, and the QPs of the CQ go to
     * ERR: see xport_cq_failed().
     */
    bool (*complete)(void *ctx, struct qp *qp, enum wq wq, uint32_t desc,
                     const struct completion *wc);

    /* Called when @qp has something to send and had nothing before.  The RNIC then calls
     * xport_build() until xport_has_more() returns false.
     */
    void (*ready)(void *ctx, struct qp *qp);

    /* Returns the index of the host with address @dgid, for events; EV_HOST_NONE if unknown. */
    uint32_t (*peer_of)(void *ctx, const uint8_t dgid[GID_BYTES]);

    /* Returns true if the RNIC may have a connection to the address @dgid.  Asked when a connected
     * queue pair gets an address vector, for each that is sound otherwise.
     */
    bool (*may_connect)(void *ctx, const uint8_t dgid[GID_BYTES]);

    /* Returns the number of receives that are posted for @qp and not fetched. */
    uint32_t (*receives)(void *ctx, struct qp *qp);

    /* Reports asynchronous event @type (enum async_event) of queue pair @qpn to the guest.  The
     * state change that it reports has already happened.
     */
    void (*event)(void *ctx, uint32_t type, uint32_t qpn);
};

struct xport_counters {
#define COUNTER(name, text) uint64_t name;
#include "emu/facts/counters.def"
#undef COUNTER
};

struct xport {
    struct hca *hca;
    const struct xport_ops *ops;
    void *ctx;
    uint8_t mac[MAC_BYTES]; /* MAC of the port, source of its frames */
    uint32_t tag_bytes;     /* bytes that the port will add to the frame: for tx events */
    uint32_t vlan;          /* the VLAN of that tag, for tx events; 0: none */
    bool shortcut;          /* xport_build(): the peer can be reached by the shortcut */
    struct whole *whole;    /* made by xport_build() in place of a frame, see struct tx_info */
    struct xport_counters count;
};

void xport_init(struct xport *x, struct hca *hca, const struct xport_ops *ops, void *ctx,
                const uint8_t mac[MAC_BYTES]);

/* Destroys all queue pairs of @x. */
void xport_done(struct xport *x);

/* Returns true if @qp is in SQD and work requests that were started are not complete. */
bool xport_is_draining(const struct qp *qp);

/* Moves the queue pairs of the overflowed @cq to ERR and raises QP_FATAL for each.  Those in RESET
 * or ERR are not changed.  Must not be called from within another function of the transport.
 */
void xport_cq_failed(struct xport *x, struct cq *cq);

/* Moves the queue pairs of the failed @srq to ERR.  Those in RESET or ERR are not changed.  Must
 * not be called from within another function of the transport.
 */
void xport_srq_failed(struct xport *x, const struct srq *srq);

/* Processes a doorbell of queue @wq of @qp.  Work posted to a QP in ERR is flushed at once, and so
 * are sends in SQE.  Sends posted before RTS wait.  A receive may queue an acknowledge that
 * announces it (credit.h).
 */
void xport_kick(struct xport *x, struct qp *qp, enum wq wq);

/* Information on a received packet in addition to its bytes. */
struct rx_info {
    ev_id tx;            /* tx event of the packet; 0 if it came from outside the lab */
    uint32_t wire_bytes; /* length of the frame, for events */
    /* GID table of the port that it came by; NULL: that of the device.  Only queue pairs that use
     * this port take it.
     */
    const struct hca_gid *gids;
};

/* Processes a received packet.  packet_parse() has accepted @p or returned DROP_BAD_OPCODE: a
 * reserved opcode may need a NAK.  Emits rx, drop, or both.  Returns DROP_NONE, or the reason if
 * the packet was dropped.  A multicast packet is delivered to each queue pair of the group and
 * counts as dropped if none has taken it.
 */
uint32_t xport_receive(struct xport *x, const struct packet *p, const struct rx_info *info);

/* Handler of SIM_QP_TIMER with argument @arg: carries out the expired timer of a queue pair.  With
 * @held (bus mastering is off) the device can neither retransmit nor complete.  The timer's effect
 * is then delayed until xport_go_on(), unless the timer is stopped before.
 */
void xport_timer(struct xport *x, uint64_t arg, bool held);

/* Carries out the timers that expired while bus mastering was off. */
void xport_go_on(struct xport *x);

/* Returns true if @qp may have a frame to send.  A posted work request that was not fetched counts
 * as one.
 */
bool xport_has_tx(const struct qp *qp);

/* Information on a built frame in addition to its bytes. */
struct tx_info {
    ev_id tx; /* tx event of the frame */
    uint8_t opcode;
    uint32_t dest_qpn;
    struct psn psn;
    uint32_t syndrome; /* enum syndrome; SYN_NONE: the packet has no AETH */
    uint32_t cm;       /* enum cm_message, as packet_message() */
    /* In place of a frame, a message that travels whole.  The caller frees it with its frame. */
    struct whole *whole;
};

/* Builds the next frame of @qp, alternating between answers and requests.  Emits its tx event and
 * arms timers.  @cap is at least XPORT_FRAME_BYTES.  @x->tag_bytes and @x->shortcut must be set.
 * Returns the length of the frame with its description in *@ret, or that of the frames for which a
 * message stands that travels whole (whole.h).  Returns 0 and leaves *@ret unchanged if no frame
 * was built: there is nothing to send, or a request was executed or failed without a packet.
 */
size_t xport_build(struct xport *x, struct qp *qp, uint8_t *frame, size_t cap, struct tx_info *ret);

/* Returns true if @qp may have another frame, after xport_build() and the handling of its frame.
 * If not, ops->ready() is called when it has one again.
 */
bool xport_has_more(struct qp *qp);

/* Checks the invariants of @qp between calls.  Returns NULL if all hold, otherwise a text that
 * describes the violated one.
 */
const char *xport_invariant(const struct qp *qp);

#endif
