/* SPDX-License-Identifier: MIT */
/* Regions, queues and work requests: the operations that are calls of libibverbs. */
#include <errno.h>
#include <stdlib.h>

#include "lnetd/device.h"

int device_reg_mr(void *ctx, uint64_t addr, uint64_t bytes, struct lnd_mr *ret)
{
    struct lnetd_device *d = ctx;
    struct ibv_mr *mr = ibv_reg_mr(d->pd, (void *)(uintptr_t)addr, bytes,
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

    if (!mr)
        return device_failed(d, "ibv_reg_mr", errno);
    *ret = (struct lnd_mr){(uintptr_t)mr, mr->lkey, mr->rkey};
    d->live.mrs++;
    return 0;
}

int device_dereg_mr(void *ctx, struct lnd_mr *mr)
{
    struct lnetd_device *d = ctx;
    const int error = ibv_dereg_mr((struct ibv_mr *)(uintptr_t)mr->handle);

    if (error)
        return device_failed(d, "ibv_dereg_mr", error);
    mr->handle = 0;
    d->live.mrs--;
    return 0;
}

int device_create_cq(void *ctx, struct lnd_link *l, uint32_t cqe)
{
    struct lnetd_device *d = ctx;
    struct rdma_cm_id *id = device_id_of(l);
    struct device_cq *c = calloc(1, sizeof(*c));
    int error;

    if (!c)
        return -ENOMEM;
    if (id->verbs != d->pd->context) { /* the route leads through another adapter */
        free(c);
        return device_failed(d, "ibv_create_cq", ENODEV);
    }
    c->link = l;
    c->cq = ibv_create_cq(id->verbs, (int)cqe, c, d->cq_channel, 0);
    if (!c->cq) {
        free(c);
        return device_failed(d, "ibv_create_cq", errno);
    }
    error = ibv_req_notify_cq(c->cq, 0);
    if (error) {
        ibv_destroy_cq(c->cq);
        free(c);
        return device_failed(d, "ibv_req_notify_cq", error);
    }
    l->cq = (uintptr_t)c;
    d->live.cqs++;
    return 0;
}

int device_destroy_cq(void *ctx, struct lnd_link *l)
{
    struct lnetd_device *d = ctx;
    struct device_cq *c = device_cq_of(l);
    int error;

    ibv_ack_cq_events(c->cq, c->n_unacked);
    error = ibv_destroy_cq(c->cq);
    if (error)
        return device_failed(d, "ibv_destroy_cq", error);
    free(c);
    l->cq = 0;
    d->live.cqs--;
    return 0;
}

int device_create_qp(void *ctx, struct lnd_link *l, uint32_t max_send_wr, uint32_t max_recv_wr)
{
    struct lnetd_device *d = ctx;
    struct rdma_cm_id *id = device_id_of(l);
    struct ibv_cq *cq = device_cq_of(l)->cq;
    struct ibv_qp_init_attr attr = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .cap = {.max_send_wr = max_send_wr,
                                            .max_recv_wr = max_recv_wr,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1},
                                    .qp_type = IBV_QPT_RC};

    if (rdma_create_qp(id, d->pd, &attr))
        return device_failed(d, "rdma_create_qp", errno);
    l->qp = id->qp->qp_num;
    d->live.qps++;
    return 0;
}

int device_destroy_qp(void *ctx, struct lnd_link *l)
{
    struct lnetd_device *d = ctx;

    rdma_destroy_qp(device_id_of(l));
    l->qp = 0;
    d->live.qps--;
    return 0;
}

/* ---- the data path ---- */

int device_post_recv(void *ctx, struct lnd_link *l, const struct lnd_wr *wr)
{
    struct lnetd_device *d = ctx;
    struct ibv_sge sge = {wr->addr, wr->bytes, wr->lkey};
    struct ibv_recv_wr w = {.wr_id = wr->wr_id, .sg_list = &sge, .num_sge = 1}, *bad;
    const int error = ibv_post_recv(device_id_of(l)->qp, &w, &bad);

    return error ? device_failed(d, "ibv_post_recv", error) : 0;
}

int device_post_send(void *ctx, struct lnd_link *l, const struct lnd_wr *wr, uint32_t n)
{
    struct lnetd_device *d = ctx;
    struct ibv_send_wr w[LNET_FRAGS_MAX + 1], *bad;
    struct ibv_sge sge[LNET_FRAGS_MAX + 1];
    int error;

    if (n > LNET_FRAGS_MAX + 1)
        return -EINVAL;
    for (uint32_t i = 0; i < n; i++) {
        sge[i] = (struct ibv_sge){wr[i].addr, wr[i].bytes, wr[i].lkey};
        w[i] = (struct ibv_send_wr){.wr_id = wr[i].wr_id,
                                    .next = i + 1 < n ? &w[i + 1] : NULL,
                                    .sg_list = &sge[i],
                                    .num_sge = 1,
                                    .opcode = wr[i].is_write ? IBV_WR_RDMA_WRITE : IBV_WR_SEND,
                                    .send_flags = wr[i].is_write ? 0 : (unsigned)IBV_SEND_SIGNALED};
        w[i].wr.rdma.remote_addr = wr[i].remote_addr;
        w[i].wr.rdma.rkey = wr[i].rkey;
    }
    error = ibv_post_send(device_id_of(l)->qp, w, &bad);
    return error ? device_failed(d, "ibv_post_send", error) : 0;
}
