/* SPDX-License-Identifier: MIT */
/* The transport of one device: what turns work requests into packets and packets into completions.
 *
 * It is passive.  The device hands in doorbells, packets and timers, and pulls frames out:
 *
 *	xport_kick()      a doorbell rang: there is work in a send or receive queue
 *	xport_receive()   a decoded packet arrived
 *	xport_timer()     a timer of SIM_QP_TIMER is due
 *	xport_build()     gives the next frame of a queue pair; called after ops->ready()
 *
 * What it needs from the device it gets through struct xport_ops.  None of them may call back into
 * the transport.
 *
 * Work requests are fetched one at a time, when the requester can send the next one.  Deciding and
 * doing are apart: the rules of wqe.c, resp.c and comp.c are pure functions; who writes the state
 * that they look at is said in xport_qp.h.
 *
 * Causes: the fetch of a send is caused by the kick, the first transmission of a packet by the
 * fetch of its work request, the arming of a timer by that transmission, a repetition by the
 * timeout or the `retry` event, an answer and everything else that a packet leads to by its rx.
 *
 * Left out: services other than RC, UC and UD; path migration.
 */
#ifndef EMU_XPORT_XPORT_H
#define EMU_XPORT_XPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/rfc.h"
#include "emu/hca/qp.h"
#include "emu/wire/packet.h"

/* Room that xport_build() needs: the headers over IPv6, the largest MTU, the ICRC, and some. */
#define XPORT_FRAME_BYTES 4224u

struct sge {
    uint64_t addr;
    uint32_t bytes;
    uint32_t lkey;
};

/* A work request as the device read it from a ring.  What is wrong with it is judged by the
 * transport: the device copies what has room, and says how much there was.
 *
 * The caller of fetch_* presets @sge (room for max_send_sge or max_recv_sge) and @inline_data
 * (room for max_inline_data); both may be the same memory, as a WQE has one or the other.
 *
 * Of the union, the member is filled that wr_form() says of the QP's type and the opcode; a SEND
 * that is no datagram has none.
 */
struct send_wqe {
    uint64_t wr_id;
    uint32_t opcode; /* enum wr_opcode, or anything */
    uint32_t flags;  /* set of enum send_flag_bit, or anything */
    uint8_t imm[4];
    uint32_t invalidate_rkey; /* of an opcode that has one, which has no immediate data then */
    union {
        struct {
            uint64_t remote_addr;       /* of WRITE, READ and atomics */
            uint64_t compare_add, swap; /* of atomics */
            uint32_t rkey;
        };
        struct rfc_wr_ud ud;
        struct rfc_wr_reg reg;
        struct rfc_wr_bind bind;
    };
    uint32_t desc;       /* head of its chain, for complete() */
    bool truncated;      /* the chain ends before the fixed part does, or is no WQE at all */
    uint32_t n_sge;      /* as the WQE says */
    uint32_t body_bytes; /* what the chain has after the fixed part */
    ev_id fetched;       /* the event `fetch` that the device emitted */
    struct sge *sge;
    uint8_t *inline_data; /* filled if flags has SF_INLINE: the first body_bytes */
};

struct recv_wqe {
    uint64_t wr_id;
    uint32_t desc;
    bool truncated;
    uint32_t n_sge;
    uint32_t body_bytes;
    struct sge *sge;
    uint64_t holds_bytes; /* all elements together; written by the transport, as each packet asks */
};

/* FETCH_BROKEN: the ring is, and the device will need a reset. */
enum fetch { FETCH_OK, FETCH_EMPTY, FETCH_BROKEN };

enum wq { WQ_SEND, WQ_RECV };

struct xport_ops {
    /* Takes the next chain of the queue's ring (of receives: of the shared queue's, if the queue
     * pair has one), decodes it into @out, emits `fetch`: of a send with
     * the kick as its cause, of a receive with what it is fetched for.
     */
    enum fetch (*fetch_send)(void *ctx, struct qp *qp, struct send_wqe *out);
    enum fetch (*fetch_recv)(void *ctx, struct qp *qp, struct recv_wqe *out);

    /* Returns chain @desc to the guest, then delivers @wc to the queue's CQ; NULL: no completion,
     * the request succeeded unsignaled or its queue was reset.  False: the CQ could not take @wc,
     * which is lost; the QPs of the CQ go to ERR, see xport_cq_failed().
     */
    bool (*complete)(void *ctx, struct qp *qp, enum wq wq, uint32_t desc,
                     const struct completion *wc);

    /* @qp had nothing to send and now has: call xport_build() until !xport_has_more(). */
    void (*ready)(void *ctx, struct qp *qp);

    /* Index of the host with address @dgid for traces, or EV_HOST_NONE. */
    uint32_t (*peer_of)(void *ctx, const uint8_t dgid[GID_BYTES]);

    /* Receives that are posted and were not fetched. */
    uint32_t (*receives)(void *ctx, struct qp *qp);

    /* Tells the guest that @type happened to object @number of @kind, which is the kind that
     * async_object() names.  The state that the event tells of is reached already.
     */
    void (*event)(void *ctx, enum async_event type, enum object_kind kind, uint32_t number);
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
    uint8_t mac[MAC_BYTES]; /* of the port: source of its frames */
    struct xport_counters count;
};

void xport_init(struct xport *x, struct hca *hca, const struct xport_ops *ops, void *ctx,
                const uint8_t mac[MAC_BYTES]);

/* Destroys all queue pairs, as a device reset does. */
void xport_done(struct xport *x);

/* As hca_qp_create(), and RSP_NOT_SUPPORTED for a type that is not carried. */
enum ctrl_rsp xport_qp_create(struct xport *x, const struct qp_config *config, struct qp **ret);

/* Gives the queues of @qp, which have nothing in them where they change, other lengths.
 *
 * Return: RSP_OK, RSP_INVALID_ARG (beyond the limits), RSP_BUSY (a send is not complete)
 */
enum ctrl_rsp xport_qp_resize(struct xport *x, struct qp *qp, uint32_t max_send_wr,
                              uint32_t max_recv_wr);

/* RSP_OK, RSP_BAD_HANDLE.  Its chains stay in the rings, which the driver must reset; a shared
 * receive that it holds is given back without a completion.
 */
enum ctrl_rsp xport_qp_destroy(struct xport *x, uint32_t qpn);

/* As hca_qp_check_modify(); then attributes, state, and what the move means for the transport: to
 * ERR completes all that is posted with WR_FLUSH_ERR, to RESET returns it without completions.
 */
enum ctrl_rsp xport_qp_modify(struct xport *x, struct qp *qp, uint32_t mask,
                              const struct qp_attr *attr);

/* Is it in SQD, and what was started not done yet? */
bool xport_is_draining(const struct qp *qp);

/* Moves the queue pairs of a CQ that overflowed to ERR, and says so.  Call it when no other call is
 * under way.
 */
void xport_cq_failed(struct xport *x, struct cq *cq);

/* The same for those of a shared receive queue that failed. */
void xport_srq_failed(struct xport *x, const struct srq *srq);

/* A doorbell of @qp: something was posted.  What is posted to a QP in ERR is flushed at once; what
 * is posted before RTS waits.
 */
void xport_kick(struct xport *x, struct qp *qp, enum wq wq);

/* What is known of a packet beside its bytes. */
struct rx_info {
    ev_id tx;            /* the event that sent it; 0 if it came from outside */
    uint32_t wire_bytes; /* of the frame, for traces */
};

/* @p was accepted by packet_parse(), or refused with DROP_BAD_OPCODE: a reserved opcode may have to
 * be answered.  Emits rx or drop.  Returns why it was thrown away, DROP_NONE if it was not.
 */
enum drop_reason xport_receive(struct xport *x, const struct packet *p, const struct rx_info *info);

/* @arg of a due SIM_QP_TIMER.  @held: the device cannot reach memory, so that it could neither send
 * again nor complete; what follows waits for xport_go_on(), unless the timer is stopped before.
 */
void xport_timer(struct xport *x, uint64_t arg, bool held);

/* Memory can be reached again: what was held follows now. */
void xport_go_on(struct xport *x);

/* Has @qp a frame to send now?  A posted work request that was not looked at counts as one. */
bool xport_has_tx(const struct qp *qp);

/* What is known of a frame that was built beside its bytes. */
struct tx_info {
    ev_id tx; /* the event that says so */
    uint8_t opcode;
    uint32_t dest_qpn;
    struct psn psn;
    enum syndrome syndrome; /* SYN_NONE: it is no answer */
};

/* Builds the next frame of @qp, answers and requests in turns, emits its tx event and arms timers.
 * @cap is at least XPORT_FRAME_BYTES.  Returns its bytes; 0 if there is nothing after all, and
 * @ret is untouched then.
 */
size_t xport_build(struct xport *x, struct qp *qp, uint8_t *frame, size_t cap, struct tx_info *ret);

/* After xport_build(), and what it led to: has @qp another frame?  If not, ops->ready() will say
 * when it has.
 */
bool xport_has_more(struct qp *qp);

/* What must always hold of @qp between two calls; NULL, or what does not. */
const char *xport_invariant(const struct qp *qp);

#endif
