/* SPDX-License-Identifier: MIT */
/* The calls of a program about queue pairs and address handles. */
#include <stdatomic.h>
#include <string.h>

#include "cli/live/exec_calls.h"
#include "cli/live/exec_limits.h"
#include "cli/live/exec_maker.h"
#include "emu/facts/qp_attrs.h"

/* The lab's own word for none; 0 would ask for its default. */
static uint32_t size_or_none(uint32_t n)
{
    return n ? n : RDL_QP_NONE;
}

/* Programs ask for no room for inline data and use it: adapters give what their queue entries have,
 * which is the room for SGEs.  So does Linux rxe, rxe_qp_init_req().
 */
static uint32_t inline_room(const struct exec_client *c, const struct program_cap *cap)
{
    const uint32_t sges = cap->max_send_sge * (uint32_t)sizeof(struct program_sge);
    struct rdl_device_attr d;

    if (cap->max_inline_data >= sges || rdl_device_attr(c->lab, c->host, &d) != RDL_OK)
        return cap->max_inline_data;
    return sges < d.max_inline_data ? sges : d.max_inline_data;
}

enum rdl_status exec_create_qp(struct exec_client *c)
{
    const struct program_cap *cap = &c->call.u.create_qp.cap;
    const struct rdl_qp_config config = {
        .pd = {c->call.u.create_qp.pd},
        .type = c->call.u.create_qp.type,
        .send_cq = {c->call.u.create_qp.send_cq},
        .recv_cq = {c->call.u.create_qp.recv_cq},
        .srq = {c->call.u.create_qp.srq},
        .max_send_wr = size_or_none(cap->max_send_wr),
        .max_recv_wr = size_or_none(cap->max_recv_wr),
        .max_send_sge = size_or_none(cap->max_send_sge),
        .max_recv_sge = size_or_none(cap->max_recv_sge),
        .max_inline_data = inline_room(c, cap),
        .sq_sig_all = c->call.u.create_qp.sq_sig_all != 0,
        .block_self_mcast_lb = c->call.u.create_qp.block_self_mcast_lb != 0,
    };
    rdl_qp made = {0};
    enum rdl_status st = RDL_ERR_INVAL;

    if (!exec_limit_exceeded(c).name)
        st = rdl_create_qp(c->lab, &config, NULL, &made);
    return exec_asked(c, st, made.raw);
}

static struct program_cap cap_of(const struct rdl_qp_info *info)
{
    return (struct program_cap){
        QP_SIZES(info),
        .max_inline_data = info->max_inline_data,
    };
}

enum rdl_status exec_created_qp(struct exec_client *c, struct program_answer *a)
{
    struct exec_queue *q = exec_new_queue(c);
    struct rdl_qp_info info;
    const enum rdl_status st = rdl_qp_info(c->lab, (rdl_qp){c->made}, &info);

    if (st != RDL_OK || !q)
        return st == RDL_OK ? RDL_ERR_LIMIT : st;
    *q = (struct exec_queue){.handle = c->made};
    a->u.create_qp.handle = c->made;
    a->u.create_qp.cap = cap_of(&info);
    a->u.create_qp.qpn = info.qpn;
    exec_maker_record_qp(c, c->made, info.qpn);
    a->u.create_qp.slot = (uint32_t)(q - c->queues);
    atomic_store(&c->page->queues[q - c->queues].sends_over, 0);
    atomic_store(&c->page->queues[q - c->queues].receives_over, 0);
    return RDL_OK;
}

/* The members of addresses that the lab and the program call the same. */
#define SAME_AV(X)                                                                                 \
    X(sgid_index)                                                                                  \
    X(hop_limit)                                                                                   \
    X(traffic_class)                                                                               \
    X(sl)                                                                                          \
    X(static_rate)
#define COPY(name) .name = p->name,

static struct rdl_ah_attr av_in(const struct program_av *p)
{
    struct rdl_ah_attr ah = {
        SAME_AV(COPY).flow_label = p->flow_label & 0xfffffu, /* the kernel takes 20 bits, too */
        .port = p->port,
    };

    memcpy(ah.dgid, p->dgid, sizeof(ah.dgid));
    return ah;
}

static struct program_av av_out(const struct rdl_ah_attr *p, uint32_t port)
{
    struct program_av av = {
        SAME_AV(COPY).flow_label = p->flow_label,
        .port = (uint8_t)port,
        .is_global = 1,
    };

    memcpy(av.dgid, p->dgid, sizeof(av.dgid));
    return av;
}

enum rdl_status exec_modify_qp(struct exec_client *c)
{
    const struct program_qp_attr *p = &c->call.u.modify_qp.attr;
    struct rdl_qp_attr attr = {.ah = av_in(&p->av)};

    QP_ATTRS_COPY(&attr, p);
    c->modify_error = (struct rdl_modify_error){0};
    return exec_asked(c,
                      rdl_modify_qp(c->lab, (rdl_qp){c->call.u.modify_qp.qp}, &attr,
                                    c->call.u.modify_qp.mask, false, &c->modify_error),
                      0);
}

enum rdl_status exec_query_qp(struct exec_client *c)
{
    return exec_asked(c, rdl_query_qp(c->lab, (rdl_qp){c->call.u.query_qp.qp}),
                      c->call.u.query_qp.qp);
}

enum rdl_status exec_queried_qp(struct exec_client *c, struct program_answer *a)
{
    struct program_qp_attr *to = &a->u.query_qp.attr;
    const struct rdl_qp_attr *p;
    struct rdl_qp_info info;
    const enum rdl_status st = rdl_qp_info(c->lab, (rdl_qp){c->made}, &info);

    if (st != RDL_OK)
        return st;
    p = &info.attr;
    *to = (struct program_qp_attr){
        .sq_draining = p->sq_draining,
        .av = av_out(&p->ah, p->port),
    };
    QP_ATTRS_COPY(to, p);
    to->cur_state = p->state;
    a->u.query_qp.cap = cap_of(&info);
    return RDL_OK;
}

enum rdl_status exec_create_ah(struct exec_client *c)
{
    const struct rdl_ah_attr ah = av_in(&c->call.u.create_ah.av);
    rdl_ah made = {0};
    const enum rdl_status st =
        rdl_create_ah(c->lab, (rdl_pd){c->call.u.create_ah.pd}, &ah, NULL, &made);

    return exec_asked(c, st, made.raw);
}
