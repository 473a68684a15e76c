/* SPDX-License-Identifier: MIT */
/* Extended queue pairs: what is posted between ibv_wr_start() and ibv_wr_complete() is one system
 * call. */
#include "provider.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lab_batch *lab_batch_new(const struct ibv_qp_cap *limits)
{
    const size_t n = (size_t)limits->max_send_wr + 1;
    struct lab_batch *batch = calloc(1, sizeof(*batch));

    if (!batch)
        return NULL;
    pthread_mutex_init(&batch->mutex, NULL);
    batch->limits = *limits;
    batch->wr = calloc(n, sizeof(*batch->wr));
    batch->sge = calloc(n * (limits->max_send_sge + 1), sizeof(*batch->sge));
    batch->data = calloc(n, (size_t)limits->max_inline_data + 1);
    if (!batch->wr || !batch->sge || !batch->data) {
        lab_batch_free(batch);
        return NULL;
    }
    return batch;
}

void lab_batch_free(struct lab_batch *batch)
{
    if (!batch)
        return;
    pthread_mutex_destroy(&batch->mutex);
    free(batch->wr);
    free(batch->sge);
    free(batch->data);
    free(batch);
}

static struct lab_batch *batch_of(struct ibv_qp_ex *qp)
{
    return lab_qp(&qp->qp_base)->batch;
}

static void fail(struct lab_batch *batch, int error)
{
    if (!batch->error)
        batch->error = error;
}

/* The request that is being written: the last one, or a spare one without a place in the queue. */
static uint32_t current(struct lab_batch *batch)
{
    return batch->n ? batch->n - 1 : batch->limits.max_send_wr;
}

static struct ibv_send_wr *begin(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode)
{
    struct lab_batch *batch = batch_of(qp);
    struct ibv_send_wr *wr;

    if (batch->n > batch->limits.max_send_wr)
        batch->n--; /* the spare one again */
    if (batch->n == batch->limits.max_send_wr)
        fail(batch, ENOMEM);
    wr = &batch->wr[batch->n++];
    *wr = (struct ibv_send_wr){.wr_id = qp->wr_id, .opcode = opcode, .send_flags = qp->wr_flags};
    return wr;
}

static void wr_send(struct ibv_qp_ex *qp)
{
    begin(qp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
    begin(qp, IBV_WR_SEND_WITH_IMM)->imm_data = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
    begin(qp, IBV_WR_SEND_WITH_INV)->invalidate_rkey = rkey;
}

static struct ibv_send_wr *begin_rdma(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode,
                                      uint32_t rkey, uint64_t remote_addr)
{
    struct ibv_send_wr *wr = begin(qp, opcode);

    wr->wr.rdma.rkey = rkey;
    wr->wr.rdma.remote_addr = remote_addr;
    return wr;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    begin_rdma(qp, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    begin_rdma(qp, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                              __be32 imm_data)
{
    begin_rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr)->imm_data = imm_data;
}

static struct ibv_send_wr *begin_atomic(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode,
                                        uint32_t rkey, uint64_t remote_addr, uint64_t compare_add)
{
    struct ibv_send_wr *wr = begin(qp, opcode);

    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.remote_addr = remote_addr;
    wr->wr.atomic.compare_add = compare_add;
    return wr;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                              uint64_t compare, uint64_t swap)
{
    begin_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare)->wr.atomic.swap = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                                uint64_t add)
{
    begin_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, add);
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
                           uint32_t remote_qkey)
{
    struct lab_batch *batch = batch_of(qp);
    struct ibv_send_wr *wr = &batch->wr[current(batch)];

    wr->wr.ud.ah = ah;
    wr->wr.ud.remote_qpn = remote_qpn;
    wr->wr.ud.remote_qkey = remote_qkey;
}

/* Gives the current request room for @n SGEs. Returns NULL if it may not have that many. */
static struct ibv_sge *sges(struct lab_batch *batch, size_t n)
{
    const uint32_t i = current(batch);

    if (n > batch->limits.max_send_sge) {
        fail(batch, EINVAL);
        return NULL;
    }
    batch->wr[i].sg_list = &batch->sge[(size_t)i * (batch->limits.max_send_sge + 1)];
    batch->wr[i].num_sge = (int)n;
    return batch->wr[i].sg_list;
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_sge *list)
{
    struct ibv_sge *to = sges(batch_of(qp), n);

    if (to && n)
        memcpy(to, list, n * sizeof(*list));
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
    const struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

    wr_set_sge_list(qp, 1, &sge);
}

/* The data are copied, since the caller may change them before ibv_wr_complete(). */
static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_data_buf *list)
{
    struct lab_batch *batch = batch_of(qp);
    const uint32_t i = current(batch);
    uint8_t *data = &batch->data[(size_t)i * ((size_t)batch->limits.max_inline_data + 1)];
    struct ibv_sge *to = &batch->sge[(size_t)i * (batch->limits.max_send_sge + 1)];
    size_t bytes = 0;

    for (size_t k = 0; k < n; k++) {
        if (list[k].length > batch->limits.max_inline_data - bytes) {
            fail(batch, EINVAL);
            return;
        }
        if (list[k].length)
            memcpy(data + bytes, list[k].addr, list[k].length);
        bytes += list[k].length;
    }
    *to = (struct ibv_sge){.addr = (uintptr_t)data, .length = (uint32_t)bytes};
    batch->wr[i].sg_list = to;
    batch->wr[i].num_sge = 1;
    batch->wr[i].send_flags |= IBV_SEND_INLINE;
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
    const struct ibv_data_buf buffer = {.addr = addr, .length = length};

    wr_set_inline_data_list(qp, 1, &buffer);
}

static void wr_start(struct ibv_qp_ex *qp)
{
    struct lab_batch *batch = batch_of(qp);

    pthread_mutex_lock(&batch->mutex);
    batch->n = 0;
    batch->error = 0;
}

/* SIMPLIFIED: where the queue has no room for all of them, those before are posted. A program that
 * counts its completions never sees that. */
static int wr_complete(struct ibv_qp_ex *qp)
{
    struct lab_batch *batch = batch_of(qp);
    struct ibv_send_wr *bad;
    int error = batch->error;

    for (uint32_t i = 1; i < batch->n; i++)
        batch->wr[i - 1].next = &batch->wr[i];
    if (!error && batch->n)
        error = ibv_cmd_post_send(&qp->qp_base, batch->wr, &bad);
    pthread_mutex_unlock(&batch->mutex);
    return error;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
    pthread_mutex_unlock(&batch_of(qp)->mutex);
}

void lab_qp_extend(struct lab_qp *qp)
{
    struct ibv_qp_ex *ex = &qp->v.qp_ex;

    ex->wr_send = wr_send;
    ex->wr_send_imm = wr_send_imm;
    ex->wr_send_inv = wr_send_inv;
    ex->wr_rdma_read = wr_rdma_read;
    ex->wr_rdma_write = wr_rdma_write;
    ex->wr_rdma_write_imm = wr_rdma_write_imm;
    ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
    ex->wr_set_ud_addr = wr_set_ud_addr;
    ex->wr_set_sge = wr_set_sge;
    ex->wr_set_sge_list = wr_set_sge_list;
    ex->wr_set_inline_data = wr_set_inline_data;
    ex->wr_set_inline_data_list = wr_set_inline_data_list;
    ex->wr_start = wr_start;
    ex->wr_complete = wr_complete;
    ex->wr_abort = wr_abort;
    qp->v.comp_mask |= VERBS_QP_EX;
}
