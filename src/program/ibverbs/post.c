/* SPDX-License-Identifier: MIT */
/* Work requests: checked, and written to the ring of posts that the lab reads.
 *
 * A request that can be refused without the lab is refused at once, by the rules of
 * emu/facts/post.h, which the guest's driver uses too.  The lab reports other errors in
 * completions.
 *
 * A list becomes visible to the lab as a whole, unless the ring is full in between.
 */
#include "emu/facts/post.h"
#include "emu/facts/rules.h"
#include "emu/facts/wr.h"
#include "program/ibverbs/internal.h"

#define LIBRARY_OPCODES ((uint32_t)IBV_WR_SEND_WITH_INV + 1) /* those that the lab may have */
/* Flags of a bind that providers ignore: a window has no local access. */
#define BIND_IGNORED                                                                               \
    (unsigned)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)
#define NO_OPCODE UINT32_MAX

/* The objects of a send, and what is computed once. */
struct send_parts {
    uint64_t ah, mr;
    struct lib_mw *mw;
    bool type_1;
    struct post_send checked;
};

/* --- The ring --------------------------------------------------------------------------------- */

static void publish(struct lab_connection *c)
{
    if (atomic_load_explicit(&c->page->posted, memory_order_relaxed) == c->posted)
        return;
    atomic_store(&c->page->posted, c->posted); /* before lab_sleeps is read: both are seq_cst */
    connection_wake(c);
}

/* Waits until @bytes fit into the ring.  Returns 0 or an errno value. */
static int wait_for_room(struct lab_connection *c, uint64_t bytes)
{
    int error = 0;

    while (!error && c->posted + bytes - atomic_load(&c->page->taken) > PROGRAM_POST_BYTES) {
        publish(c);
        if (c->device.is_virtual) {
            error = connection_sync(c);
        } else {
            connection_idle(c);
            error = connection_state(c);
        }
    }
    return error;
}

/* Finds @bytes in a row at the end of the ring.  Returns 0 or an errno value. */
static int reserve(struct lab_connection *c, uint64_t bytes, struct program_post **ret)
{
    uint64_t at = c->posted % PROGRAM_POST_BYTES;
    const uint64_t left = PROGRAM_POST_BYTES - at;
    struct program_post *pad;
    int error;

    if (bytes > PROGRAM_POST_BYTES / 2)
        return ENOMEM;
    if (left < bytes) {
        error = wait_for_room(c, left);
        if (error)
            return error;
        pad = (struct program_post *)(void *)(c->page->posts + at);
        pad->bytes = (uint32_t)left;
        pad->kind = PROGRAM_POST_PAD;
        pad->more = 1;
        c->posted += left;
        at = 0;
    }
    error = wait_for_room(c, bytes);
    if (!error)
        *ret = (struct program_post *)(void *)(c->page->posts + at);
    return error;
}

/* The index of a queue's counters. */
static uint32_t slot_of(const struct lab_connection *c, const struct program_queue *queue)
{
    return (uint32_t)(queue - c->page->queues);
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + PROGRAM_POST_ALIGN - 1) & ~(uint64_t)(PROGRAM_POST_ALIGN - 1);
}

/* Returns 0 if @n more requests fit into a queue, or ENOMEM.  If it is full, the lab may know that
 * it no longer is.
 */
static int check_queue(struct lab_connection *c, const _Atomic uint32_t *over, uint32_t posted,
                       uint32_t n, uint32_t max)
{
    uint32_t used = posted - atomic_load_explicit(over, memory_order_acquire);
    int error;

    if ((uint64_t)used + n <= max)
        return 0;
    publish(c);
    error = connection_sync(c);
    if (error)
        return error;
    used = posted - atomic_load_explicit(over, memory_order_acquire);
    return (uint64_t)used + n <= max ? 0 : ENOMEM;
}

/* --- Sends ------------------------------------------------------------------------------------ */

/* The errno value for a request that violates @rule. */
static int refused_by(uint32_t rule)
{
    if (rule == RULE_NONE)
        return 0;
    return rule == RULE_POST_OPCODE ? EOPNOTSUPP : EINVAL;
}

static uint64_t inline_bytes(const struct ibv_send_wr *wr)
{
    uint64_t sum = 0;

    for (int i = 0; i < wr->num_sge; i++)
        sum += wr->sg_list[i].length;
    return sum;
}

static int find_ah(const struct lib_qp *qp, const struct ibv_send_wr *wr, struct send_parts *ret)
{
    const struct lib_ah *ah = ah_of(wr->wr.ud.ah);

    if (!ah || ah->o.context != qp->o.context)
        return EINVAL;
    ret->ah = ah->o.handle;
    return 0;
}

/* A window of type 1 needs no region if the length is 0. */
static int find_bind(const struct lib_qp *qp, const struct ibv_send_wr *wr, struct send_parts *ret)
{
    const struct lib_mr *mr = mr_of(wr->bind_mw.bind_info.mr);

    ret->mw = mw_of(wr->bind_mw.mw);
    if (!ret->mw || ret->mw->o.context != qp->o.context)
        return EINVAL;
    if (ret->type_1 && wr->bind_mw.bind_info.length == 0)
        return 0;
    if (!mr || mr->o.context != qp->o.context)
        return EINVAL;
    ret->mr = mr->o.handle;
    return 0;
}

/* Returns 0 or an errno value.  @ret->type_1 is set by the caller. */
static int check_send(const struct lib_qp *qp, const struct ibv_send_wr *wr, struct send_parts *ret)
{
    const struct post_limits limits = {.type = (uint32_t)qp->pub.qp_base.qp_type,
                                       .max_sge = qp->cap.max_send_sge,
                                       .max_sge_rd = qp->o.context->c.device.max_sge_rd,
                                       .max_inline_data = qp->cap.max_inline_data};
    const bool is_inline = (wr->send_flags & IBV_SEND_INLINE) != 0;
    const uint32_t opcode = (uint32_t)wr->opcode;
    int error;

    if (!post_state_takes_sends(qp->state))
        return EINVAL;
    ret->checked = (struct post_send){.opcode = opcode < LIBRARY_OPCODES ? opcode : NO_OPCODE,
                                      .flags = wr->send_flags,
                                      .n_sge = is_inline ? 0 : (uint64_t)wr->num_sge,
                                      .inline_bytes = is_inline ? inline_bytes(wr) : 0};
    error = refused_by(post_check_send(&limits, &ret->checked).rule);
    if (error)
        return error;
    switch (wr_form(limits.type, opcode)) {
    case WR_FORM_UD:
        return find_ah(qp, wr, ret);
    case WR_FORM_BIND:
        return find_bind(qp, wr, ret);
    default:
        return 0;
    }
}

/* Fills the members of @p that depend on the form of the request. */
static void fill_form(const struct lib_qp *qp, struct program_post *p, const struct ibv_send_wr *wr,
                      const struct send_parts *parts)
{
    switch (wr_form((uint32_t)qp->pub.qp_base.qp_type, (uint32_t)wr->opcode)) {
    case WR_FORM_RDMA:
        p->remote_addr = wr->wr.rdma.remote_addr;
        p->rkey = wr->wr.rdma.rkey;
        break;
    case WR_FORM_ATOMIC:
        p->remote_addr = wr->wr.atomic.remote_addr;
        p->rkey = wr->wr.atomic.rkey;
        p->compare_add = wr->wr.atomic.compare_add;
        p->swap = wr->wr.atomic.swap;
        break;
    case WR_FORM_UD:
        p->ah = parts->ah;
        p->remote_qpn = wr->wr.ud.remote_qpn;
        p->remote_qkey = wr->wr.ud.remote_qkey;
        break;
    case WR_FORM_BIND:
        p->mw = parts->mw->o.handle;
        p->mr = parts->mr;
        p->bind_addr = wr->bind_mw.bind_info.addr;
        p->bind_length = wr->bind_mw.bind_info.length;
        p->bind_access = wr->bind_mw.bind_info.mw_access_flags & ~BIND_IGNORED;
        p->bind_rkey = wr->bind_mw.rkey;
        p->type_1 = parts->type_1;
        break;
    default:
        break;
    }
}

/* The program may use the new key of a window as soon as the request is posted. */
static void learn_key(const struct ibv_send_wr *wr, const struct send_parts *parts)
{
    struct ibv_mw *mw;

    if (wr->opcode != IBV_WR_BIND_MW)
        return;
    mw = &parts->mw->pub;
    mw->rkey =
        parts->type_1 ? ibv_inc_rkey(mw->rkey) : (mw->rkey & ~0xffu) | (wr->bind_mw.rkey & 0xffu);
}

static void copy_inline(uint8_t *to, const struct ibv_send_wr *wr)
{
    for (int i = 0; i < wr->num_sge; i++) {
        memcpy(to, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
        to += wr->sg_list[i].length;
    }
}

/* Writes a checked request.  If there is one before it, *@last, that gets more = 1; *@last becomes
 * this one.  Returns 0 or an errno value.
 */
static int write_send(struct lib_qp *qp, const struct ibv_send_wr *wr,
                      const struct send_parts *parts, struct program_post **last)
{
    const struct post_send *s = &parts->checked;
    const uint64_t tail = s->inline_bytes + s->n_sge * sizeof(struct program_sge);
    const uint64_t bytes = aligned(sizeof(struct program_post) + tail);
    struct program_post *p = NULL;
    int error;

    if (*last)
        (*last)->more = 1;
    error = reserve(&qp->o.context->c, bytes, &p);
    if (error)
        return error;
    memset(p, 0, sizeof(*p));
    p->bytes = (uint32_t)bytes;
    p->kind = PROGRAM_POST_SEND;
    p->queue = qp->o.handle;
    p->slot = slot_of(&qp->o.context->c, qp->queue);
    p->wr_id = wr->wr_id;
    p->n_sge = (uint32_t)s->n_sge;
    p->inline_bytes = (uint32_t)s->inline_bytes;
    p->opcode = s->opcode;
    p->flags = s->flags;
    if (s->opcode == IBV_WR_SEND_WITH_INV || s->opcode == IBV_WR_LOCAL_INV)
        p->invalidate_rkey = wr->invalidate_rkey;
    else
        memcpy(p->imm, &wr->imm_data, sizeof(p->imm));
    fill_form(qp, p, wr, parts);
    if (s->flags & IBV_SEND_INLINE)
        copy_inline((uint8_t *)(p + 1), wr);
    else if (s->n_sge > 0)
        memcpy(p + 1, wr->sg_list, s->n_sge * sizeof(struct program_sge));
    qp->o.context->c.posted += bytes;
    qp->sends++;
    learn_key(wr, parts);
    *last = p;
    return 0;
}

static int check_sends_room(struct lib_qp *qp, uint32_t n)
{
    return check_queue(&qp->o.context->c, &qp->queue->sends_over, qp->sends, n,
                       qp->cap.max_send_wr);
}

/* Posts a list.  *@bad is the first request that is not posted. */
static int post_sends(struct lib_qp *qp, struct ibv_send_wr *wr, bool type_1,
                      struct ibv_send_wr **bad)
{
    struct lab_connection *c = &qp->o.context->c;
    struct program_post *last = NULL;
    int error = 0;

    pthread_mutex_lock(&c->post_lock);
    for (; wr; wr = wr->next) {
        struct send_parts parts = {.type_1 = type_1};

        error = check_send(qp, wr, &parts);
        if (!error)
            error = check_sends_room(qp, 1);
        if (!error)
            error = write_send(qp, wr, &parts, &last);
        if (error)
            break;
    }
    publish(c);
    pthread_mutex_unlock(&c->post_lock);
    if (error)
        *bad = wr;
    return error;
}

/* ibv_post_send(3).  Returns 0 or an errno value: EINVAL, EOPNOTSUPP for an opcode that the queue
 * pair does not have, ENOMEM if the queue is full, EIO if the lab has ended.
 */
int post_send(struct ibv_qp *pub, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct lib_qp *qp = qp_of(pub);
    const int error = qp ? connection_state(&qp->o.context->c) : EINVAL;

    if (error) {
        *bad = wr;
        return error;
    }
    return post_sends(qp, wr, false, bad);
}

int post_all(struct lib_qp *qp, struct ibv_send_wr *first)
{
    struct lab_connection *c = &qp->o.context->c;
    struct program_post *last = NULL;
    uint32_t n = 0;
    int error = connection_state(c);

    if (error)
        return error;
    pthread_mutex_lock(&c->post_lock);
    for (const struct ibv_send_wr *wr = first; wr && !error; wr = wr->next, n++) {
        struct send_parts parts = {.type_1 = false};

        error = check_send(qp, wr, &parts);
    }
    if (!error)
        error = check_sends_room(qp, n);
    for (const struct ibv_send_wr *wr = first; wr && !error; wr = wr->next) {
        struct send_parts parts = {.type_1 = false};

        error = check_send(qp, wr, &parts);
        if (!error)
            error = write_send(qp, wr, &parts, &last);
    }
    publish(c);
    pthread_mutex_unlock(&c->post_lock);
    return error;
}

/* ibv_bind_mw(3) of a window of type 1.  Returns 0 or an errno value. */
int post_bind_mw(struct ibv_qp *pub, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    struct lib_qp *qp = qp_of(pub);
    struct ibv_send_wr *bad, wr = {.wr_id = bind->wr_id,
                                   .opcode = IBV_WR_BIND_MW,
                                   .send_flags = bind->send_flags,
                                   .bind_mw = {.mw = mw, .bind_info = bind->bind_info}};
    const int error = qp ? connection_state(&qp->o.context->c) : EINVAL;

    return error ? error : post_sends(qp, &wr, true, &bad);
}

/* --- Receives --------------------------------------------------------------------------------- */

/* A queue of receives: that of a queue pair, or a shared one. */
struct receives {
    struct lab_connection *c;
    uint64_t handle;
    uint32_t kind; /* enum program_post_kind */
    uint32_t slot, max_wr, max_sge;
    uint32_t *posted;
    const _Atomic uint32_t *over;
};

static int write_recv(const struct receives *q, const struct ibv_recv_wr *wr,
                      struct program_post **last)
{
    const uint64_t tail = (uint64_t)wr->num_sge * sizeof(struct program_sge);
    const uint64_t bytes = aligned(sizeof(struct program_post) + tail);
    struct program_post *p = NULL;
    int error;

    if (*last)
        (*last)->more = 1;
    error = reserve(q->c, bytes, &p);
    if (error)
        return error;
    memset(p, 0, sizeof(*p));
    p->bytes = (uint32_t)bytes;
    p->kind = (uint16_t)q->kind;
    p->queue = q->handle;
    p->slot = q->slot;
    p->wr_id = wr->wr_id;
    p->n_sge = (uint32_t)wr->num_sge;
    if (tail > 0)
        memcpy(p + 1, wr->sg_list, tail);
    q->c->posted += bytes;
    ++*q->posted;
    *last = p;
    return 0;
}

static int post_recvs(const struct receives *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct program_post *last = NULL;
    int error = 0;

    pthread_mutex_lock(&q->c->post_lock);
    for (; wr; wr = wr->next) {
        error = refused_by(post_check_recv(q->max_sge, (uint64_t)wr->num_sge).rule);
        if (!error)
            error = check_queue(q->c, q->over, *q->posted, 1, q->max_wr);
        if (!error)
            error = write_recv(q, wr, &last);
        if (error)
            break;
    }
    publish(q->c);
    pthread_mutex_unlock(&q->c->post_lock);
    if (error)
        *bad = wr;
    return error;
}

/* ibv_post_recv(3).  Returns 0 or an errno value: EINVAL, also if the queue pair has a shared
 * receive queue; ENOMEM if the queue is full; EIO if the lab has ended.
 */
int post_recv(struct ibv_qp *pub, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct lib_qp *qp = qp_of(pub);
    int error = qp ? connection_state(&qp->o.context->c) : EINVAL;

    if (!error && (pub->srq || !post_state_takes_recvs(qp->state)))
        error = EINVAL;
    if (error) {
        *bad = wr;
        return error;
    }
    return post_recvs(&(const struct receives){.c = &qp->o.context->c,
                                               .handle = qp->o.handle,
                                               .kind = PROGRAM_POST_RECV,
                                               .slot = slot_of(&qp->o.context->c, qp->queue),
                                               .max_wr = qp->cap.max_recv_wr,
                                               .max_sge = qp->cap.max_recv_sge,
                                               .posted = &qp->receives,
                                               .over = &qp->queue->receives_over},
                      wr, bad);
}

/* ibv_post_srq_recv(3).  Returns 0 or an errno value, as post_recv(). */
int post_srq_recv(struct ibv_srq *pub, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct lib_srq *srq = srq_of(pub);
    const int error = srq ? connection_state(&srq->o.context->c) : EINVAL;

    if (error) {
        *bad = wr;
        return error;
    }
    return post_recvs(&(const struct receives){.c = &srq->o.context->c,
                                               .handle = srq->o.handle,
                                               .kind = PROGRAM_POST_SRQ_RECV,
                                               .slot = slot_of(&srq->o.context->c, srq->queue),
                                               .max_wr = srq->max_wr,
                                               .max_sge = srq->max_sge,
                                               .posted = &srq->posted,
                                               .over = &srq->queue->receives_over},
                      wr, bad);
}
