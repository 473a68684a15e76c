/* SPDX-License-Identifier: MIT */
/* Declarations that the files of the provider share. */
#ifndef RDMALAB_PROVIDER_H
#define RDMALAB_PROVIDER_H

#include <infiniband/driver.h>

/* A completion queue; the completion is the one that an extended poll stands at. */
struct lab_cq {
    struct verbs_cq v;
    struct ibv_wc completion;
};

/* Work requests of an extended queue pair between ibv_wr_start() and ibv_wr_complete(). */
struct lab_batch {
    pthread_mutex_t mutex;
    struct ibv_send_wr *wr; /* limits.max_send_wr, and one for what does not fit */
    struct ibv_sge *sge;    /* limits.max_send_sge for each of them */
    uint8_t *data;          /* limits.max_inline_data for each of them */
    struct ibv_qp_cap limits;
    uint32_t n;
    int error; /* errno of the first mistake, or 0 */
};

struct lab_qp {
    struct verbs_qp v;
    struct lab_batch *batch; /* NULL: an ordinary queue pair */
};

static inline struct lab_cq *lab_cq(struct ibv_cq *cq)
{
    return container_of(cq, struct lab_cq, v.cq);
}

static inline struct lab_qp *lab_qp(struct ibv_qp *qp)
{
    return container_of(qp, struct lab_qp, v.qp);
}

/* extended_cq.c: Makes the functions of an extended poll those of @cq. */
void lab_cq_extend(struct lab_cq *cq, uint64_t wc_flags);

/* extended_qp.c */
#define LAB_SEND_OPS                                                                               \
    (IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |        \
     IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
     IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND_WITH_INV)

/* A batch of requests with at most @limits each, or NULL; lab_batch_free() frees it. */
struct lab_batch *lab_batch_new(const struct ibv_qp_cap *limits);
void lab_batch_free(struct lab_batch *batch);
/* Makes the functions that post by a batch those of @qp. */
void lab_qp_extend(struct lab_qp *qp);

#endif
