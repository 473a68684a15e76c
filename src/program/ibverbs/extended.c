/* SPDX-License-Identifier: MIT */
/* ibv_wr_*(3): the requests between ibv_wr_start() and ibv_wr_complete() are collected as an
 * ordinary list, which is then posted as a whole or not at all.
 */
#include <stdlib.h>

#include "program/ibverbs/internal.h"

#define GROW_FROM 16u

struct staged_wr {
    struct ibv_send_wr wr;
    size_t first_sge;
};

/* An array that grows. */
struct array {
    void *items;
    size_t n, room;
};

struct staged {
    pthread_mutex_t lock; /* from wr_start() to wr_complete() or wr_abort() */
    int error;            /* errno value of the first call that failed, or 0 */
    struct array wrs;     /* of struct staged_wr */
    struct array sges;    /* of struct ibv_sge; of inline data @addr is an index of @bytes */
    struct array bytes;   /* copies of inline data */
};

/* Appends @n items of @size bytes.  Returns the first of them, or NULL. */
static void *append(struct array *a, size_t n, size_t size)
{
    size_t room = a->room ? a->room : GROW_FROM;
    void *items;

    while (room < a->n + n)
        room *= 2;
    if (room > a->room) {
        items = realloc(a->items, room * size);
        if (!items)
            return NULL;
        a->items = items;
        a->room = room;
    }
    a->n += n;
    return (char *)a->items + (a->n - n) * size;
}

static struct staged *staged_of(struct ibv_qp_ex *pub)
{
    return CONTAINER(pub, struct lib_qp, pub)->staged;
}

static void failed(struct staged *s, int error)
{
    if (!s->error)
        s->error = error;
}

/* Begins a request.  Returns a request to fill in, or NULL. */
static struct ibv_send_wr *add(struct ibv_qp_ex *pub, enum ibv_wr_opcode opcode)
{
    struct staged *s = staged_of(pub);
    struct staged_wr *one = append(&s->wrs, 1, sizeof(*one));

    if (!one) {
        failed(s, ENOMEM);
        return NULL;
    }
    *one = (struct staged_wr){.wr = {.wr_id = pub->wr_id,
                                     .opcode = opcode,
                                     .send_flags = pub->wr_flags & ~(unsigned)IBV_SEND_INLINE},
                              .first_sge = s->sges.n};
    return &one->wr;
}

/* The request that the setters change, or NULL. */
static struct staged_wr *current(struct staged *s)
{
    if (s->wrs.n == 0) {
        failed(s, EINVAL);
        return NULL;
    }
    return (struct staged_wr *)s->wrs.items + (s->wrs.n - 1);
}

/* --- Requests --------------------------------------------------------------------------------- */

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                              uint64_t compare, uint64_t swap)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_ATOMIC_CMP_AND_SWP);

    if (!wr)
        return;
    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.remote_addr = remote_addr;
    wr->wr.atomic.compare_add = compare;
    wr->wr.atomic.swap = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                                uint64_t value)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_ATOMIC_FETCH_AND_ADD);

    if (!wr)
        return;
    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.remote_addr = remote_addr;
    wr->wr.atomic.compare_add = value;
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
                       const struct ibv_mw_bind_info *info)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_BIND_MW);

    if (!wr)
        return;
    wr->bind_mw.mw = mw;
    wr->bind_mw.rkey = rkey;
    wr->bind_mw.bind_info = *info;
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_LOCAL_INV);

    if (wr)
        wr->invalidate_rkey = rkey;
}

static void add_rdma(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey,
                     uint64_t remote_addr, __be32 imm)
{
    struct ibv_send_wr *wr = add(qp, opcode);

    if (!wr)
        return;
    wr->imm_data = imm;
    wr->wr.rdma.rkey = rkey;
    wr->wr.rdma.remote_addr = remote_addr;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    add_rdma(qp, IBV_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    add_rdma(qp, IBV_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, __be32 imm)
{
    add_rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr, imm);
}

static void wr_send(struct ibv_qp_ex *qp)
{
    (void)add(qp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_SEND_WITH_IMM);

    if (wr)
        wr->imm_data = imm;
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
    struct ibv_send_wr *wr = add(qp, IBV_WR_SEND_WITH_INV);

    if (wr)
        wr->invalidate_rkey = rkey;
}

static void wr_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
    (void)hdr;
    (void)hdr_sz;
    (void)mss;
    failed(staged_of(qp), EOPNOTSUPP);
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                            const void *data)
{
    (void)rkey;
    (void)remote_addr;
    (void)data;
    failed(staged_of(qp), EOPNOTSUPP);
}

/* --- Their setters ---------------------------------------------------------------------------- */

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
    struct staged_wr *one = current(staged_of(qp));

    if (!one)
        return;
    one->wr.wr.ud.ah = ah;
    one->wr.wr.ud.remote_qpn = qpn;
    one->wr.wr.ud.remote_qkey = qkey;
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t srqn)
{
    (void)srqn;
    failed(staged_of(qp), EOPNOTSUPP);
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_sge *list)
{
    struct staged *s = staged_of(qp);
    struct staged_wr *one = current(s);
    struct ibv_sge *to;

    if (!one)
        return;
    if (n > CONTAINER(qp, struct lib_qp, pub)->cap.max_send_sge) {
        failed(s, EINVAL);
        return;
    }
    one->first_sge = s->sges.n;
    one->wr.num_sge = (int)n;
    to = append(&s->sges, n, sizeof(*to));
    if (!to)
        failed(s, ENOMEM);
    else if (n > 0)
        memcpy(to, list, n * sizeof(*to));
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
    const struct ibv_sge sge = {addr, length, lkey};

    wr_set_sge_list(qp, 1, &sge);
}

/* Adds a copy of the data, as one element. */
static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_data_buf *list)
{
    struct staged *s = staged_of(qp);
    struct staged_wr *one = current(s);
    struct ibv_sge *sge;
    size_t total = 0;
    uint8_t *to;

    if (!one)
        return;
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(total, list[i].length, &total))
            total = SIZE_MAX / 2;
    if (total > CONTAINER(qp, struct lib_qp, pub)->cap.max_inline_data) {
        failed(s, EINVAL);
        return;
    }
    one->first_sge = s->sges.n;
    sge = append(&s->sges, 1, sizeof(*sge));
    to = append(&s->bytes, total, 1);
    if (!sge || !to) {
        failed(s, ENOMEM);
        return;
    }
    *sge = (struct ibv_sge){.addr = s->bytes.n - total, .length = (uint32_t)total};
    one->wr.num_sge = 1;
    one->wr.send_flags |= IBV_SEND_INLINE;
    for (size_t i = 0; i < n; to += list[i].length, i++)
        if (list[i].length > 0)
            memcpy(to, list[i].addr, list[i].length);
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
    const struct ibv_data_buf one = {addr, length};

    wr_set_inline_data_list(qp, 1, &one);
}

/* --- Start and end ---------------------------------------------------------------------------- */

static void wr_start(struct ibv_qp_ex *qp)
{
    struct staged *s = staged_of(qp);

    pthread_mutex_lock(&s->lock);
    s->error = 0;
    s->wrs.n = s->sges.n = s->bytes.n = 0;
}

/* Links the requests to a list, now that the arrays no longer move. */
static struct ibv_send_wr *link_all(struct staged *s)
{
    struct staged_wr *wrs = s->wrs.items;

    for (size_t i = 0; i < s->wrs.n; i++) {
        struct ibv_send_wr *wr = &wrs[i].wr;

        wr->next = i + 1 < s->wrs.n ? &wrs[i + 1].wr : NULL;
        if (wr->num_sge > 0)
            wr->sg_list = (struct ibv_sge *)s->sges.items + wrs[i].first_sge;
        if (wr->send_flags & IBV_SEND_INLINE)
            wr->sg_list->addr += (uintptr_t)s->bytes.items;
    }
    return s->wrs.n > 0 ? &wrs[0].wr : NULL;
}

/* ibv_wr_complete(3).  Returns 0, or an errno value as ibv_post_send(3); then nothing is posted. */
static int wr_complete(struct ibv_qp_ex *pub)
{
    struct lib_qp *qp = qp_of(&pub->qp_base);
    struct staged *s = staged_of(pub);
    int error = qp ? s->error : EINVAL;

    if (!error)
        error = post_all(qp, link_all(s));
    pthread_mutex_unlock(&s->lock);
    return error;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
    pthread_mutex_unlock(&staged_of(qp)->lock);
}

int extended_init(struct lib_qp *qp)
{
    struct ibv_qp_ex *pub = &qp->pub;

    qp->staged = calloc(1, sizeof(*qp->staged));
    if (!qp->staged)
        return ENOMEM;
    pthread_mutex_init(&qp->staged->lock, NULL);
    qp->is_extended = true;
#define SET(name) pub->name = name
    SET(wr_atomic_cmp_swp);
    SET(wr_atomic_fetch_add);
    SET(wr_atomic_write);
    SET(wr_bind_mw);
    SET(wr_local_inv);
    SET(wr_rdma_read);
    SET(wr_rdma_write);
    SET(wr_rdma_write_imm);
    SET(wr_send);
    SET(wr_send_imm);
    SET(wr_send_inv);
    SET(wr_send_tso);
    SET(wr_set_ud_addr);
    SET(wr_set_xrc_srqn);
    SET(wr_set_inline_data);
    SET(wr_set_inline_data_list);
    SET(wr_set_sge);
    SET(wr_set_sge_list);
    SET(wr_start);
    SET(wr_complete);
    SET(wr_abort);
#undef SET
    return 0;
}

void extended_done(struct lib_qp *qp)
{
    if (!qp->staged)
        return;
    free(qp->staged->wrs.items);
    free(qp->staged->sges.items);
    free(qp->staged->bytes.items);
    free(qp->staged);
    qp->staged = NULL;
}
