/* SPDX-License-Identifier: MIT */
#include "emu/past/posted.h"

#include "emu/facts/device.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/trace/event.h"

bool posted_read(const struct ev *e, struct posted *ret)
{
    switch (e->kind) {
#define POST(kind_, qpn_, is_send_)                                                                \
    case EV_##kind_:                                                                               \
        *ret = (struct posted){e,                                                                  \
                               e->id,                                                              \
                               e->u.kind_.host,                                                    \
                               e->u.kind_.queue,                                                   \
                               e->u.kind_.desc,                                                    \
                               qpn_,                                                               \
                               e->u.kind_.wr_id,                                                   \
                               is_send_};                                                          \
        return true;
        POST(post_send, e->u.post_send.qpn, true)
        POST(post_recv, e->u.post_recv.qpn, false)
        POST(post_srq_recv, 0, false)
#undef POST
    default:
        return false;
    }
}

bool posted_frees_any(const struct posted *p, const struct ev *e)
{
    return e->kind == EV_used && e->u.used.function == FN_RDMA && e->u.used.host == p->host &&
           e->u.used.queue == p->queue;
}

bool posted_frees(const struct posted *p, const struct ev *e)
{
    return posted_frees_any(p, e) && e->u.used.desc == p->desc;
}

bool posted_is_recv(uint32_t wc_opcode)
{
    return wc_opcode == WC_RECV || wc_opcode == WC_RECV_RDMA_WITH_IMM;
}

bool posted_completes(const struct posted *p, const struct ev *e)
{
    return e->kind == EV_cqe && e->u.cqe.host == p->host && e->u.cqe.wr_id == p->wr_id &&
           (p->qpn == 0 || e->u.cqe.qpn == p->qpn) && posted_is_recv(e->u.cqe.op) == !p->is_send;
}
