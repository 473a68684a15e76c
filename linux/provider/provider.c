/* SPDX-License-Identifier: MIT */
/*
 * Provider of rdma-core for our driver of virtio-rdma. Its virtqueues belong to the kernel, since
 * what is written into them are physical addresses: each post, poll and arming is a system call of
 * uverbs, and nothing is mapped. So there are no data of ours in any command: ABI version 1.
 *
 * These system calls have no LOCAL_INV, BIND_MW or READ_WITH_INV: a window can be allocated, but
 * only the kernel can bind one.
 */
#include "provider.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICE_ID   "virtio:d0000002Av*" /* 42, the number of virtio-rdma in the RFC */
#define ABI_VERSION 1

static int query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                        struct ibv_device_attr_ex *attr, size_t attr_bytes)
{
    struct ib_uverbs_ex_query_device_resp rsp;
    size_t rsp_bytes = sizeof(rsp);
    int error = ibv_cmd_query_device_any(context, input, attr, attr_bytes, &rsp, &rsp_bytes);

    if (!error)
        snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%llu",
                 (unsigned long long)rsp.base.fw_ver);
    return error;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
    struct ibv_query_port cmd;

    return ibv_cmd_query_port(context, port, attr, &cmd, sizeof(cmd));
}

static struct ibv_pd *alloc_pd(struct ibv_context *context)
{
    struct ib_uverbs_alloc_pd_resp rsp;
    struct ibv_alloc_pd cmd;
    struct ibv_pd *pd = calloc(1, sizeof(*pd));

    if (pd && ibv_cmd_alloc_pd(context, pd, &cmd, sizeof(cmd), &rsp, sizeof(rsp))) {
        free(pd);
        return NULL;
    }
    return pd;
}

static int dealloc_pd(struct ibv_pd *pd)
{
    int error = ibv_cmd_dealloc_pd(pd);

    if (!error)
        free(pd);
    return error;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t va, int access)
{
    struct ib_uverbs_reg_mr_resp rsp;
    struct ibv_reg_mr cmd;
    struct verbs_mr *mr = calloc(1, sizeof(*mr));

    if (!mr)
        return NULL;
    if (ibv_cmd_reg_mr(pd, addr, length, va, access, mr, &cmd, sizeof(cmd), &rsp, sizeof(rsp))) {
        free(mr);
        return NULL;
    }
    return &mr->ibv_mr;
}

static int rereg_mr(struct verbs_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
                    int access)
{
    struct ib_uverbs_rereg_mr_resp rsp;
    struct ibv_rereg_mr cmd;

    return ibv_cmd_rereg_mr(mr, flags, addr, length, (uintptr_t)addr, access, pd, &cmd, sizeof(cmd),
                            &rsp, sizeof(rsp));
}

static int dereg_mr(struct verbs_mr *mr)
{
    int error = ibv_cmd_dereg_mr(mr);

    if (!error)
        free(mr);
    return error;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    struct ib_uverbs_alloc_mw_resp rsp;
    struct ibv_alloc_mw cmd;
    struct ibv_mw *mw = calloc(1, sizeof(*mw));

    if (mw && ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &rsp, sizeof(rsp))) {
        free(mw);
        return NULL;
    }
    return mw;
}

static int dealloc_mw(struct ibv_mw *mw)
{
    int error = ibv_cmd_dealloc_mw(mw);

    if (!error)
        free(mw);
    return error;
}

static struct ibv_cq *create_cq(struct ibv_context *context, int cqe,
                                struct ibv_comp_channel *channel, int vector)
{
    struct ib_uverbs_create_cq_resp rsp;
    struct ibv_create_cq cmd;
    struct lab_cq *cq = calloc(1, sizeof(*cq));

    if (!cq)
        return NULL;
    if (ibv_cmd_create_cq(context, cqe, channel, vector, &cq->v.cq, &cmd, sizeof(cmd), &rsp,
                          sizeof(rsp))) {
        free(cq);
        return NULL;
    }
    return &cq->v.cq;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    struct ibv_cq *cq;

    if (attr->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS ||
        attr->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS ||
        (attr->comp_mask && attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    cq = create_cq(context, attr->cqe, attr->channel, attr->comp_vector);
    if (!cq)
        return NULL;
    lab_cq_extend(lab_cq(cq), attr->wc_flags);
    return &lab_cq(cq)->v.cq_ex;
}

static int resize_cq(struct ibv_cq *cq, int cqe)
{
    struct ib_uverbs_resize_cq_resp rsp;
    struct ibv_resize_cq cmd;

    return ibv_cmd_resize_cq(cq, cqe, &cmd, sizeof(cmd), &rsp, sizeof(rsp));
}

static int destroy_cq(struct ibv_cq *cq)
{
    int error = ibv_cmd_destroy_cq(cq);

    if (!error)
        free(lab_cq(cq));
    return error;
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct ib_uverbs_create_srq_resp rsp;
    struct ibv_create_srq cmd;
    struct ibv_srq *srq = calloc(1, sizeof(*srq));

    if (srq && ibv_cmd_create_srq(pd, srq, attr, &cmd, sizeof(cmd), &rsp, sizeof(rsp))) {
        free(srq);
        return NULL;
    }
    return srq;
}

static int modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    struct ibv_modify_srq cmd;

    return ibv_cmd_modify_srq(srq, attr, mask, &cmd, sizeof(cmd));
}

static int query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    struct ibv_query_srq cmd;

    return ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

static int destroy_srq(struct ibv_srq *srq)
{
    int error = ibv_cmd_destroy_srq(srq);

    if (!error)
        free(srq);
    return error;
}

static void free_qp(struct lab_qp *qp)
{
    lab_batch_free(qp->batch);
    free(qp);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    const bool is_extended = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    struct ib_uverbs_create_qp_resp rsp;
    struct ibv_create_qp cmd = {};
    struct lab_qp *qp;
    int error;

    if (attr->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
        (is_extended && attr->send_ops_flags & ~(uint64_t)LAB_SEND_OPS)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    qp = calloc(1, sizeof(*qp));
    if (!qp)
        return NULL;
    /* Older libraries do not know the bit of what is only the provider's matter. */
    attr->comp_mask &= ~(uint32_t)IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    error = ibv_cmd_create_qp_ex(context, &qp->v, attr, &cmd, sizeof(cmd), &rsp, sizeof(rsp));
    attr->comp_mask |= is_extended ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0;
    if (error) {
        errno = error;
        goto fail;
    }
    if (!is_extended)
        return &qp->v.qp;
    qp->batch = lab_batch_new(&attr->cap);
    if (!qp->batch) {
        ibv_cmd_destroy_qp(&qp->v.qp);
        errno = ENOMEM;
        goto fail;
    }
    lab_qp_extend(qp);
    return &qp->v.qp;

fail:
    free_qp(qp);
    return NULL;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_init_attr_ex extended = {
        .qp_context = attr->qp_context,
        .send_cq = attr->send_cq,
        .recv_cq = attr->recv_cq,
        .srq = attr->srq,
        .cap = attr->cap,
        .qp_type = attr->qp_type,
        .sq_sig_all = attr->sq_sig_all,
        .comp_mask = IBV_QP_INIT_ATTR_PD,
        .pd = pd,
    };
    struct ibv_qp *qp = create_qp_ex(pd->context, &extended);

    if (qp)
        attr->cap = extended.cap;
    return qp;
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    struct ibv_modify_qp cmd = {};

    return ibv_cmd_modify_qp(qp, attr, mask, &cmd, sizeof(cmd));
}

static int query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                    struct ibv_qp_init_attr *init)
{
    struct ibv_query_qp cmd;

    return ibv_cmd_query_qp(qp, attr, mask, init, &cmd, sizeof(cmd));
}

static int destroy_qp(struct ibv_qp *qp)
{
    int error = ibv_cmd_destroy_qp(qp);

    if (!error)
        free_qp(lab_qp(qp));
    return error;
}

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    struct ib_uverbs_create_ah_resp rsp;
    struct ibv_ah *ah = calloc(1, sizeof(*ah));

    if (ah && ibv_cmd_create_ah(pd, ah, attr, &rsp, sizeof(rsp))) {
        free(ah);
        return NULL;
    }
    return ah;
}

static int destroy_ah(struct ibv_ah *ah)
{
    int error = ibv_cmd_destroy_ah(ah);

    if (!error)
        free(ah);
    return error;
}

static void free_context(struct ibv_context *context)
{
    struct verbs_context *v = verbs_get_ctx(context);

    verbs_uninit_context(v);
    free(v);
}

static const struct verbs_context_ops operations = {
    .query_device_ex = query_device,
    .query_port = query_port,
    .alloc_pd = alloc_pd,
    .dealloc_pd = dealloc_pd,
    .reg_mr = reg_mr,
    .rereg_mr = rereg_mr,
    .dereg_mr = dereg_mr,
    .alloc_mw = alloc_mw,
    .dealloc_mw = dealloc_mw,
    .create_cq = create_cq,
    .create_cq_ex = create_cq_ex,
    .resize_cq = resize_cq,
    .destroy_cq = destroy_cq,
    .poll_cq = ibv_cmd_poll_cq,
    .req_notify_cq = ibv_cmd_req_notify_cq,
    .create_srq = create_srq,
    .modify_srq = modify_srq,
    .query_srq = query_srq,
    .destroy_srq = destroy_srq,
    .post_srq_recv = ibv_cmd_post_srq_recv,
    .create_qp = create_qp,
    .create_qp_ex = create_qp_ex,
    .modify_qp = modify_qp,
    .query_qp = query_qp,
    .destroy_qp = destroy_qp,
    .post_send = ibv_cmd_post_send,
    .post_recv = ibv_cmd_post_recv,
    .create_ah = create_ah,
    .destroy_ah = destroy_ah,
    .attach_mcast = ibv_cmd_attach_mcast,
    .detach_mcast = ibv_cmd_detach_mcast,
    .free_context = free_context,
};

static struct verbs_context *alloc_context(struct ibv_device *device, int fd, void *unused)
{
    struct ib_uverbs_get_context_resp rsp;
    struct ibv_get_context cmd;
    struct {
        struct verbs_context v;
    } *context = verbs_init_and_alloc_context(device, fd, context, v, RDMA_DRIVER_UNKNOWN);

    (void)unused;
    if (!context)
        return NULL;
    if (ibv_cmd_get_context(&context->v, &cmd, sizeof(cmd), &rsp, sizeof(rsp))) {
        verbs_uninit_context(&context->v);
        free(context);
        return NULL;
    }
    verbs_set_ops(&context->v, &operations);
    return &context->v;
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs)
{
    (void)sysfs;
    return calloc(1, sizeof(struct verbs_device));
}

static void uninit_device(struct verbs_device *device)
{
    free(device);
}

static const struct verbs_match_ent matches[] = {
    VERBS_MODALIAS_MATCH(DEVICE_ID, NULL),
    {},
};

static const struct verbs_device_ops device_operations = {
    .name = "rdmalab",
    .match_min_abi_version = ABI_VERSION,
    .match_max_abi_version = ABI_VERSION,
    .match_table = matches,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
    .alloc_context = alloc_context,
};
PROVIDER_DRIVER(rdmalab, device_operations);
