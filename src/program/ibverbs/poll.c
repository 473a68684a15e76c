/* SPDX-License-Identifier: MIT */
/* Polling: completions are read from the ring that the lab writes, without system calls.
 *
 * An empty poll yields the processor now and then.  If time is virtual, it makes time advance until
 * something happens, and looks once more.
 */
#include "program/ibverbs/internal.h"

static uint64_t written(const struct lib_cq *cq)
{
    return atomic_load_explicit(&cq->ring->written, memory_order_acquire);
}

static void lock(struct lib_cq *cq)
{
    if (!cq->single_threaded)
        pthread_mutex_lock(&cq->lock);
}

static void unlock(struct lib_cq *cq)
{
    if (!cq->single_threaded)
        pthread_mutex_unlock(&cq->lock);
}

/* Learns the state of a queue pair from a completion with an error, number @number of @cq.  The
 * state before it may have been RTR, in which no sends can be posted.
 */
static void learn_from_error(struct lib_cq *cq, const struct program_wc *wc, uint64_t number)
{
    struct lib_qp *qp = object_qp_of(cq->o.context, wc->qpn);
    const struct ibv_cq *self = (const struct ibv_cq *)&cq->pub;

    if (!qp || qp->state < IBV_QPS_INIT)
        return;
    if ((qp->pub.qp_base.send_cq == self && number >= qp->send_cq_from) ||
        (qp->pub.qp_base.recv_cq == self && number >= qp->recv_cq_from))
        qp->state = IBV_QPS_ERR;
}

/* Copies the next completion.  Returns false if there is none.  The caller has the lock, and later
 * calls publish().
 */
static bool take(struct lib_cq *cq, struct program_wc *ret)
{
    const uint64_t n = atomic_load_explicit(&cq->polled, memory_order_relaxed);

    if (!cq->ring || written(cq) == n)
        return false;
    *ret = cq->ring->ring[n & (cq->entries - 1)];
    atomic_store_explicit(&cq->polled, n + 1, memory_order_relaxed);
    if (ret->status != IBV_WC_SUCCESS)
        learn_from_error(cq, ret, n);
    return true;
}

/* Tells the lab how far the program has polled. */
static void publish(struct lib_cq *cq)
{
    if (cq->ring)
        atomic_store_explicit(&cq->ring->polled,
                              atomic_load_explicit(&cq->polled, memory_order_relaxed),
                              memory_order_release);
}

static void wc_to(struct ibv_wc *to, const struct program_wc *from)
{
    *to = (struct ibv_wc){.wr_id = from->wr_id,
                          .status = from->status,
                          .opcode = from->opcode,
                          .vendor_err = from->vendor_err,
                          .byte_len = from->byte_len,
                          .qp_num = from->qpn,
                          .src_qp = from->src_qpn,
                          .wc_flags = from->wc_flags,
                          .sl = (uint8_t)from->sl};
    if (from->wc_flags & IBV_WC_WITH_INV)
        to->invalidated_rkey = from->invalidated_rkey;
    else
        memcpy(&to->imm_data, from->imm, sizeof(to->imm_data));
}

static int poll_once(struct lib_cq *cq, int n, struct ibv_wc *wc)
{
    struct program_wc one;
    int got = 0;

    lock(cq);
    while (got < n && take(cq, &one))
        wc_to(&wc[got++], &one);
    if (got > 0)
        publish(cq);
    unlock(cq);
    return got;
}

/* An empty poll; @seen as for connection_wait().  Returns true if it is worth to look again. */
static bool wait_for_more(struct lib_cq *cq, uint32_t seen)
{
    struct lab_connection *c = &cq->o.context->c;

    if (c->device.is_virtual && connection_wait(c, seen, NULL) == 0)
        return true;
    connection_idle(c);
    return false;
}

/* ibv_poll_cq(3).  Returns the number of completions, or -1 and sets errno: EIO when the lab has
 * ended and no completion is left, EINVAL.
 */
int poll_cq(struct ibv_cq *pub, int n, struct ibv_wc *wc)
{
    struct lib_cq *cq = cq_of(pub);
    int got, error;
    uint32_t seen;

    if (!cq || n < 0)
        return minus_1_because(EINVAL);
    error = connection_state(&cq->o.context->c);
    if (error == EINVAL) /* a child's: it has no ring */
        return minus_1_because(error);
    seen = connection_seen(&cq->o.context->c);
    got = poll_once(cq, n, wc);
    if (got > 0 || n == 0)
        return got;
    if (error)
        return minus_1_because(error);
    return wait_for_more(cq, seen) ? poll_once(cq, n, wc) : 0;
}

/* --- struct ibv_cq_ex ------------------------------------------------------------------------- */

static struct lib_cq *cq_ex_of(struct ibv_cq_ex *pub)
{
    return CONTAINER(pub, struct lib_cq, pub);
}

/* Makes the next completion the current one.  Returns 0 or ENOENT. */
static int advance(struct lib_cq *cq)
{
    if (!take(cq, &cq->now))
        return ENOENT;
    cq->pub.wr_id = cq->now.wr_id;
    cq->pub.status = cq->now.status;
    return 0;
}

/* ibv_start_poll(3).  Returns 0, ENOENT if there is no completion, or another errno value.  The
 * lock is kept until end_poll() if it returns 0.
 */
static int start_poll(struct ibv_cq_ex *pub, struct ibv_poll_cq_attr *attr)
{
    struct lib_cq *cq = cq_of(ibv_cq_ex_to_cq(pub));
    uint32_t seen;
    int error;

    if (!cq || attr->comp_mask)
        return EINVAL;
    error = connection_state(&cq->o.context->c);
    if (error == EINVAL)
        return error;
    seen = connection_seen(&cq->o.context->c);
    lock(cq);
    if (advance(cq) == 0)
        return 0;
    unlock(cq);
    if (error)
        return error;
    if (!wait_for_more(cq, seen))
        return ENOENT;
    lock(cq);
    if (advance(cq) == 0)
        return 0;
    unlock(cq);
    return ENOENT;
}

static int next_poll(struct ibv_cq_ex *pub)
{
    return advance(cq_ex_of(pub));
}

static void end_poll(struct ibv_cq_ex *pub)
{
    struct lib_cq *cq = cq_ex_of(pub);

    publish(cq);
    unlock(cq);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *pub)
{
    return cq_ex_of(pub)->now.opcode;
}

static __be32 read_imm_data(struct ibv_cq_ex *pub)
{
    const struct program_wc *now = &cq_ex_of(pub)->now;
    __be32 imm;

    if (now->wc_flags & IBV_WC_WITH_INV)
        return now->invalidated_rkey;
    memcpy(&imm, now->imm, sizeof(imm));
    return imm;
}

/* X(type, function, value) */
#define READERS(X)                                                                                 \
    X(uint32_t, read_vendor_err, now->vendor_err)                                                  \
    X(uint32_t, read_byte_len, now->byte_len)                                                      \
    X(uint32_t, read_qp_num, now->qpn)                                                             \
    X(uint32_t, read_src_qp, now->src_qpn)                                                         \
    X(unsigned, read_wc_flags, now->wc_flags)                                                      \
    X(uint64_t, read_completion_ts, now->time_ns)                                                  \
    X(uint32_t, read_slid, 0)                                                                      \
    X(uint8_t, read_sl, (uint8_t)now->sl)                                                          \
    X(uint8_t, read_dlid_path_bits, 0)

#define READER(type, name, value)                                                                  \
    static type name(struct ibv_cq_ex *pub)                                                        \
    {                                                                                              \
        const struct program_wc *now = &cq_ex_of(pub)->now;                                        \
                                                                                                   \
        (void)now;                                                                                 \
        return (value);                                                                            \
    }
READERS(READER)

void poll_init_ex(struct ibv_cq_ex *cq)
{
    cq->start_poll = start_poll;
    cq->next_poll = next_poll;
    cq->end_poll = end_poll;
    cq->read_opcode = read_opcode;
    cq->read_imm_data = read_imm_data;
#define SET(type, name, value) cq->name = name;
    READERS(SET)
#undef SET
}
