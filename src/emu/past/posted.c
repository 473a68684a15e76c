/* SPDX-License-Identifier: MIT */
#include "emu/past/posted.h"

#include "emu/facts/device.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/pvrdma/regs.h"
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

bool posted_is_announced(const struct ev *e, uint32_t host, uint32_t queue)
{
    if (e->kind == EV_kick)
        return e->u.kick.function == FN_RDMA && e->u.kick.host == host && e->u.kick.queue == queue;
    if (e->kind != EV_doorbell || e->u.doorbell.host != host || e->u.doorbell.queue == 0)
        return false;
    return e->u.doorbell.queue == queue ||
           (e->u.doorbell.rings == PVB_SEND_AND_RECV && e->u.doorbell.queue + 1 == queue);
}

bool posted_freed(const struct ev *e, struct freed_slot *ret)
{
    if (e->kind == EV_used && e->u.used.function == FN_RDMA) {
        *ret = (struct freed_slot){e->u.used.host, e->u.used.queue, e->u.used.desc};
        return true;
    }
    if (e->kind == EV_slot_free) {
        *ret = (struct freed_slot){e->u.slot_free.host, e->u.slot_free.queue, e->u.slot_free.desc};
        return true;
    }
    return false;
}

bool posted_frees_any(const struct posted *p, const struct ev *e)
{
    struct freed_slot s;

    return posted_freed(e, &s) && s.host == p->host && s.queue == p->queue;
}

bool posted_frees(const struct posted *p, const struct ev *e)
{
    struct freed_slot s;

    return posted_frees_any(p, e) && posted_freed(e, &s) && s.desc == p->desc;
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
