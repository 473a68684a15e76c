/* SPDX-License-Identifier: MIT */
/* The calls of a program: each becomes a call of the public API, made as this program. */
#define _GNU_SOURCE /* pipe2() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/live/exec_calls.h"
#include "cli/live/exec_client.h"
#include "cli/live/exec_cm.h"
#include "cli/live/exec_limits.h"
#include "cli/live/exec_maker.h"
#include "rdmalab/events.h"
#include "rdmalab/memory.h"

/* Bits of an access mask that a region can have; others are hints to other adapters. */
#define ACCESS_MASK 0x1003ffu

int exec_error(enum rdl_status st, const struct rdl_response *rsp)
{
    switch (st) {
    case RDL_OK:
        return 0;
    case RDL_ERR_DEVICE:
        return rsp->error ? rsp->error : EINVAL;
    case RDL_ERR_NOMEM:
    case RDL_ERR_LIMIT:
    case RDL_ERR_QUEUE_FULL:
        return ENOMEM;
    case RDL_ERR_BUSY:
        return EBUSY;
    case RDL_ERR_FAULT:
        return EFAULT;
    case RDL_ERR_UNSUPPORTED:
        return EOPNOTSUPP;
    case RDL_ERR_NO_ROUTE:
        return EHOSTUNREACH;
    case RDL_ERR_FORBIDDEN:
        return EPERM;
    case RDL_ERR_NO_FUNCTION:
        return ENOMEM;
    case RDL_ERR_NO_DEVICE:
    case RDL_ERR_NO_GUEST:
        return ENODEV;
    case RDL_ERR_BROKEN:
    case RDL_ERR_RING:
        return EIO;
    default:
        return EINVAL;
    }
}

enum rdl_status exec_asked(struct exec_client *c, enum rdl_status st, uint64_t made)
{
    c->asks = st == RDL_OK;
    c->made = made;
    return st;
}

/* --- Queries ---------------------------------------------------------------------------------- */

static enum rdl_status query_port(struct exec_client *c)
{
    if (c->call.u.query_port.port != 1)
        return RDL_ERR_INVAL;
    return exec_asked(c, rdl_query_port(c->lab, c->host), 0);
}

static enum rdl_status queried_port(struct exec_client *c, struct program_answer *a)
{
    struct rdl_port_attr p;
    const enum rdl_status st = rdl_port_attr(c->lab, c->host, &p);

    if (st == RDL_OK) {
        a->u.query_port.up = p.up;
        a->u.query_port.active_mtu = p.active_mtu;
        a->u.query_port.max_mtu = p.max_mtu;
        a->u.query_port.max_msg_sz = p.max_msg_sz;
    }
    return st;
}

static enum rdl_status query_gid(struct exec_client *c, struct program_answer *a)
{
    uint8_t mac[6];

    return rdl_host_address(c->lab, c->host, c->call.u.query_gid.index, a->u.query_gid.gid, mac);
}

static enum rdl_status query_pkey(struct exec_client *c)
{
    return exec_asked(c, rdl_query_pkey(c->lab, c->host, c->call.u.query_pkey.index), 0);
}

static enum rdl_status queried_pkey(struct exec_client *c, struct program_answer *a)
{
    uint16_t pkey = 0;
    const enum rdl_status st = rdl_pkey(c->lab, c->host, &pkey);

    a->u.query_pkey.pkey = pkey;
    return st;
}

/* --- Memory ----------------------------------------------------------------------------------- */

static enum rdl_status alloc_pd(struct exec_client *c)
{
    rdl_pd made = {0};
    const enum rdl_status st = rdl_alloc_pd(c->lab, c->host, NULL, &made);

    return exec_asked(c, st, made.raw);
}

static enum rdl_status give_handle(struct exec_client *c, struct program_answer *a)
{
    a->u.alloc_pd.handle = c->made;
    return RDL_OK;
}

static enum rdl_status reg_mr(struct exec_client *c)
{
    const struct rdl_mr_range range = {c->call.u.reg_mr.addr, c->call.u.reg_mr.length,
                                       c->call.u.reg_mr.iova};
    rdl_mr made = {0};
    const enum rdl_status st = rdl_reg_mr_iova(c->lab, (rdl_pd){c->call.u.reg_mr.pd}, &range,
                                               c->call.u.reg_mr.access & ACCESS_MASK, NULL, &made);

    return exec_asked(c, st, made.raw);
}

static enum rdl_status reged_mr(struct exec_client *c, struct program_answer *a)
{
    struct rdl_mr_info mr;
    const enum rdl_status st = rdl_mr_info(c->lab, (rdl_mr){c->made}, &mr);

    if (st == RDL_OK) {
        a->u.reg_mr.handle = c->made;
        a->u.reg_mr.lkey = mr.lkey;
        a->u.reg_mr.rkey = mr.rkey;
    }
    return st;
}

static enum rdl_status rereg_mr(struct exec_client *c)
{
    const struct rdl_mr_change change = {
        .what = c->call.u.rereg_mr.flags,
        .pd = {c->call.u.rereg_mr.pd},
        .access = c->call.u.rereg_mr.access & ACCESS_MASK,
        .range = {c->call.u.rereg_mr.addr, c->call.u.rereg_mr.length, c->call.u.rereg_mr.addr},
    };

    return exec_asked(c, rdl_rereg_mr(c->lab, (rdl_mr){c->call.u.rereg_mr.mr}, &change),
                      c->call.u.rereg_mr.mr);
}

static enum rdl_status alloc_mw(struct exec_client *c)
{
    rdl_mw made = {0};
    const enum rdl_status st =
        rdl_alloc_mw(c->lab, (rdl_pd){c->call.u.alloc_mw.pd}, c->call.u.alloc_mw.type, NULL, &made);

    return exec_asked(c, st, made.raw);
}

static enum rdl_status alloced_mw(struct exec_client *c, struct program_answer *a)
{
    struct rdl_mw_info mw;
    const enum rdl_status st = rdl_mw_info(c->lab, (rdl_mw){c->made}, &mw);

    a->u.alloc_mw.handle = c->made;
    a->u.alloc_mw.rkey = st == RDL_OK ? mw.rkey : 0;
    return st;
}

/* --- Channels and completion queues ----------------------------------------------------------- */

static enum rdl_status create_channel(struct exec_client *c, struct program_answer *a)
{
    void *array = c->channels;
    struct exec_channel *ch = exec_entry_for(&array, &c->n_channels, sizeof(*c->channels));
    enum rdl_status st;
    rdl_channel made;
    int ends[2];

    c->channels = array;
    if (!ch || pipe2(ends, O_CLOEXEC) != 0)
        return RDL_ERR_NOMEM;
    st = rdl_create_comp_channel(c->lab, c->host, NULL, &made);
    if (st != RDL_OK) {
        close(ends[0]);
        close(ends[1]);
        return st;
    }
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK); /* the program's end is its own affair */
    *ch = (struct exec_channel){.handle = made.raw, .pipe.fd = ends[1]};
    a->u.create_channel.handle = made.raw;
    c->answer_fd = ends[0];
    return RDL_OK;
}

static enum rdl_status create_cq(struct exec_client *c)
{
    const struct rdl_cq_config config = {.channel = {c->call.u.create_cq.channel},
                                         .cqe = c->call.u.create_cq.cqe,
                                         .vector = c->call.u.create_cq.vector};
    rdl_cq made = {0};
    const enum rdl_status st = rdl_create_cq_by(c->lab, c->host, &config, NULL, &made);

    return exec_asked(c, st, made.raw);
}

/* Maps a ring for @cqe completions.  Its descriptor goes with the answer. */
static enum rdl_status map_ring(struct exec_client *c, uint32_t cqe, struct exec_ring *ret)
{
    const uint32_t entries = program_ring_entries(cqe);
    const size_t bytes = sizeof(*ret->at) + entries * sizeof(ret->at->ring[0]);
    struct program_cq *at = entries ? exec_share(bytes, &c->answer_fd) : NULL;

    if (!at)
        return RDL_ERR_NOMEM;
    *ret = (struct exec_ring){at, bytes, entries};
    return RDL_OK;
}

static enum rdl_status created_cq(struct exec_client *c, struct program_answer *a)
{
    void *array = c->cqs;
    struct exec_cq *q = exec_entry_for(&array, &c->n_cqs, sizeof(*c->cqs));
    struct rdl_cq_info info;
    enum rdl_status st = rdl_cq_info(c->lab, (rdl_cq){c->made}, &info);

    c->cqs = array;
    if (st == RDL_OK && !q)
        st = RDL_ERR_NOMEM;
    if (st == RDL_OK)
        st = map_ring(c, info.cqe, &q->ring);
    if (st != RDL_OK)
        return st; /* the queue stays with the program, which ends with it */
    a->u.create_cq.cqe = info.cqe;
    a->u.create_cq.entries = q->ring.entries;
    q->handle = c->made;
    q->channel = c->call.u.create_cq.channel;
    a->u.create_cq.handle = c->made;
    return RDL_OK;
}

static enum rdl_status new_ring(struct exec_client *c, struct program_answer *a)
{
    struct exec_cq *q = exec_cq_of(c, c->call.u.new_ring.cq);
    struct rdl_device_attr device;
    enum rdl_status st = q ? rdl_device_attr(c->lab, c->host, &device) : RDL_ERR_STALE;

    if (st == RDL_OK && c->call.u.new_ring.cqe > device.max_cqe)
        st = RDL_ERR_LIMIT;
    if (st != RDL_OK)
        return st;
    exec_ring_unmap(&q->next);
    st = map_ring(c, c->call.u.new_ring.cqe, &q->next);
    a->u.new_ring.entries = q->next.entries;
    return st;
}

static bool must_grow_ring(const struct exec_cq *q, uint32_t cqe)
{
    return q->ring.entries < program_ring_entries(cqe);
}

static enum rdl_status resize_cq(struct exec_client *c)
{
    const struct exec_cq *q = exec_cq_of(c, c->call.u.resize_cq.cq);
    const uint32_t cqe = c->call.u.resize_cq.cqe;

    if (!q)
        return RDL_ERR_STALE;
    if (program_ring_entries(cqe) == 0 ||
        (must_grow_ring(q, cqe) && q->next.entries < program_ring_entries(cqe)))
        return RDL_ERR_INVAL;
    return exec_asked(c, rdl_resize_cq(c->lab, (rdl_cq){q->handle}, cqe), q->handle);
}

/* Moves the completions that were not polled to the larger ring q->next. */
static void change_ring(struct exec_cq *q)
{
    const struct exec_ring *from = &q->ring, *to = &q->next;

    for (uint64_t i = q->polled; i < q->written; i++)
        to->at->ring[i % to->entries] = from->at->ring[i % from->entries];
    atomic_store(&to->at->written, q->written);
    atomic_store(&to->at->polled, q->polled);
    exec_ring_unmap(&q->ring);
    q->ring = q->next;
    q->next = (struct exec_ring){0};
}

static enum rdl_status resized_cq(struct exec_client *c, struct program_answer *a)
{
    struct exec_cq *q = exec_cq_of(c, c->made);
    struct rdl_cq_info info;
    const enum rdl_status st = rdl_cq_info(c->lab, (rdl_cq){c->made}, &info);

    if (st != RDL_OK || !q)
        return st == RDL_OK ? RDL_ERR_STALE : st;
    if (must_grow_ring(q, c->call.u.resize_cq.cqe))
        change_ring(q);
    a->u.resize_cq.cqe = info.cqe;
    a->u.resize_cq.entries = q->ring.entries;
    return RDL_OK;
}

static enum rdl_status arm_cq(struct exec_client *c)
{
    return exec_asked(c,
                      rdl_req_notify_cq(c->lab, (rdl_cq){c->call.u.arm_cq.cq},
                                        c->call.u.arm_cq.solicited_only != 0),
                      0);
}

/* --- Shared receive queues -------------------------------------------------------------------- */

static enum rdl_status create_srq(struct exec_client *c)
{
    const struct rdl_srq_attr attr = {c->call.u.create_srq.max_wr, c->call.u.create_srq.max_sge,
                                      c->call.u.create_srq.limit};
    rdl_srq made = {0};
    enum rdl_status st = RDL_ERR_INVAL;

    if (!exec_limit_exceeded(c).name)
        st = rdl_create_srq(c->lab, (rdl_pd){c->call.u.create_srq.pd}, &attr, NULL, &made);
    return exec_asked(c, st, made.raw);
}

static enum rdl_status created_srq(struct exec_client *c, struct program_answer *a)
{
    struct exec_queue *q = exec_new_queue(c);
    struct rdl_srq_info info;
    const enum rdl_status st = rdl_srq_info(c->lab, (rdl_srq){c->made}, &info);

    if (st != RDL_OK || !q)
        return st == RDL_OK ? RDL_ERR_LIMIT : st;
    *q = (struct exec_queue){.handle = c->made, .is_srq = true};
    a->u.create_srq.handle = c->made;
    a->u.create_srq.max_wr = info.attr.max_wr;
    a->u.create_srq.max_sge = info.attr.max_sge;
    a->u.create_srq.srqn = info.srqn;
    a->u.create_srq.slot = (uint32_t)(q - c->queues);
    atomic_store(&c->page->queues[q - c->queues].receives_over, 0);
    return RDL_OK;
}

static enum rdl_status modify_srq(struct exec_client *c)
{
    const struct rdl_srq_attr attr = {.max_wr = c->call.u.modify_srq.max_wr,
                                      .limit = c->call.u.modify_srq.limit};

    return exec_asked(c,
                      rdl_modify_srq(c->lab, (rdl_srq){c->call.u.modify_srq.srq}, &attr,
                                     c->call.u.modify_srq.mask),
                      0);
}

static enum rdl_status query_srq(struct exec_client *c)
{
    return exec_asked(c, rdl_query_srq(c->lab, (rdl_srq){c->call.u.query_srq.srq}),
                      c->call.u.query_srq.srq);
}

static enum rdl_status queried_srq(struct exec_client *c, struct program_answer *a)
{
    struct rdl_srq_info info;
    const enum rdl_status st = rdl_srq_info(c->lab, (rdl_srq){c->made}, &info);

    if (st == RDL_OK) {
        a->u.query_srq.max_wr = info.attr.max_wr;
        a->u.query_srq.max_sge = info.attr.max_sge;
        a->u.query_srq.limit = info.attr.limit;
    }
    return st;
}

/* --- Groups ----------------------------------------------------------------------------------- */

static enum rdl_status attach_mcast(struct exec_client *c)
{
    return exec_asked(
        c,
        rdl_attach_mcast(c->lab, (rdl_qp){c->call.u.attach_mcast.qp}, c->call.u.attach_mcast.gid),
        0);
}

static struct exec_member *member_of(const struct exec_client *c, uint64_t qp, const uint8_t *gid)
{
    for (size_t i = 0; i < c->n_members; i++) {
        if (c->members[i].qp == qp && memcmp(c->members[i].gid, gid, 16) == 0)
            return &c->members[i];
    }
    return NULL;
}

/* Remembers the group, which the queue pair leaves when the program ends. */
static enum rdl_status attached_mcast(struct exec_client *c, struct program_answer *a)
{
    const uint64_t qp = c->call.u.attach_mcast.qp;
    void *array = c->members;
    struct exec_member *m = member_of(c, qp, c->call.u.attach_mcast.gid);

    (void)a;
    if (!m)
        m = exec_entry_for(&array, &c->n_members, sizeof(*c->members));
    c->members = array;
    if (!m)
        return RDL_ERR_NOMEM;
    m->qp = qp;
    memcpy(m->gid, c->call.u.attach_mcast.gid, sizeof(m->gid));
    return RDL_OK;
}

static enum rdl_status detach_mcast(struct exec_client *c)
{
    return exec_asked(
        c,
        rdl_detach_mcast(c->lab, (rdl_qp){c->call.u.detach_mcast.qp}, c->call.u.detach_mcast.gid),
        0);
}

static enum rdl_status detached_mcast(struct exec_client *c, struct program_answer *a)
{
    struct exec_member *m = member_of(c, c->call.u.detach_mcast.qp, c->call.u.detach_mcast.gid);

    (void)a;
    if (m)
        *m = (struct exec_member){0};
    return RDL_OK;
}

/* --- Destroying ------------------------------------------------------------------------------- */

static enum rdl_status destroy(struct exec_client *c)
{
    return exec_asked(c, exec_destroy(c->lab, c->call.u.destroy.kind, c->call.u.destroy.handle), 0);
}

static enum rdl_status destroyed(struct exec_client *c, struct program_answer *a)
{
    const uint64_t raw = c->call.u.destroy.handle;
    const enum program_kind kind = (enum program_kind)c->call.u.destroy.kind;
    const struct exec_cq *cq = kind == PROGRAM_CQ ? exec_cq_of(c, raw) : NULL;
    const struct exec_queue *q = exec_queue_of(c, kind, raw, 0);

    a->u.destroy.completion_events = cq ? cq->completion_events : 0;
    a->u.destroy.async_events = cq ? cq->async_events : q ? q->async_events : 0;
    exec_forget(c, kind, raw);
    exec_maker_forget(c, c->call.u.destroy.kind, raw);
    return RDL_OK;
}

/* --- Connections ------------------------------------------------------------------------------ */

static enum rdl_status cm_open(struct exec_client *c, struct program_answer *a)
{
    return exec_cm_open(c, &a->u.cm_open.handle, &c->answer_fd);
}

static enum rdl_status cm_close(struct exec_client *c, struct program_answer *a)
{
    (void)a;
    return exec_cm_close(c, c->call.u.cm_close.file);
}

static enum rdl_status cm_write(struct exec_client *c, struct program_answer *a)
{
    a->u.cm_write.error = exec_cm_write(c);
    return RDL_OK;
}

/* --- All -------------------------------------------------------------------------------------- */

/* Each call: how it begins, NULL if it needs no answer of the device; how its answer is completed,
 * NULL if there is nothing to add; and whether completions and events are passed on before it, so
 * that what was polled has left the queue, and events of an object precede its end.
 */
static const struct {
    exec_begin *begin;
    exec_finish *finish;
    bool after_work;
} calls[PROGRAM_OP_COUNT] = {
    [PROGRAM_QUERY_PORT] = {query_port, queried_port, false},
    [PROGRAM_QUERY_GID] = {NULL, query_gid, false},
    [PROGRAM_QUERY_PKEY] = {query_pkey, queried_pkey, false},
    [PROGRAM_ALLOC_PD] = {alloc_pd, give_handle, false},
    [PROGRAM_REG_MR] = {reg_mr, reged_mr, false},
    [PROGRAM_REREG_MR] = {rereg_mr, reged_mr, false},
    [PROGRAM_ALLOC_MW] = {alloc_mw, alloced_mw, false},
    [PROGRAM_CREATE_CHANNEL] = {NULL, create_channel, false},
    [PROGRAM_CREATE_CQ] = {create_cq, created_cq, false},
    [PROGRAM_NEW_RING] = {NULL, new_ring, false},
    [PROGRAM_RESIZE_CQ] = {resize_cq, resized_cq, true},
    [PROGRAM_ARM_CQ] = {arm_cq, NULL, true},
    [PROGRAM_CREATE_SRQ] = {create_srq, created_srq, false},
    [PROGRAM_MODIFY_SRQ] = {modify_srq, NULL, false},
    [PROGRAM_QUERY_SRQ] = {query_srq, queried_srq, false},
    [PROGRAM_CREATE_QP] = {exec_create_qp, exec_created_qp, false},
    [PROGRAM_MODIFY_QP] = {exec_modify_qp, NULL, false},
    [PROGRAM_QUERY_QP] = {exec_query_qp, exec_queried_qp, false},
    [PROGRAM_CREATE_AH] = {exec_create_ah, give_handle, false},
    [PROGRAM_ATTACH_MCAST] = {attach_mcast, attached_mcast, false},
    [PROGRAM_DETACH_MCAST] = {detach_mcast, detached_mcast, false},
    [PROGRAM_DESTROY] = {destroy, destroyed, true},
    [PROGRAM_CM_OPEN] = {NULL, cm_open, false},
    [PROGRAM_CM_CLOSE] = {NULL, cm_close, false},
    [PROGRAM_CM_WRITE] = {NULL, cm_write, false},
};

enum rdl_status exec_call_begin(struct exec_client *c)
{
    enum rdl_status st = RDL_OK;

    c->asks = false;
    c->made = 0;
    c->answer_fd = -1;
    if (c->call.op >= PROGRAM_OP_COUNT || (!calls[c->call.op].begin && !calls[c->call.op].finish))
        return RDL_ERR_UNSUPPORTED;
    if (calls[c->call.op].after_work)
        (void)exec_work(c); /* not in between: it ends the calls of the program */
    rdl_program_calls(c->lab, c->program);
    if (calls[c->call.op].begin)
        st = calls[c->call.op].begin(c);
    rdl_program_called(c->lab, c->program);
    return st;
}

enum rdl_status exec_call_finish(struct exec_client *c, struct program_answer *a)
{
    enum rdl_status st = RDL_OK;

    rdl_program_calls(c->lab, c->program);
    if (calls[c->call.op].finish)
        st = calls[c->call.op].finish(c, a);
    rdl_program_called(c->lab, c->program);
    return st;
}
