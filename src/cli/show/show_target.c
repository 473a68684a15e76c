/* SPDX-License-Identifier: MIT */
/* Chooses the event that `why` explains. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/why/fate_text.h"
#include "cli/why/overcome.h"
#include "cli/why/why.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/lnd_state.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/rules.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/trace/event.h"
#include "tree/tree.h"

struct target {
    const char *path;          /* as typed by the user */
    uint32_t host, number;     /* number of the host; QPN, CQN, SRQN, a key, or enum async_event */
    uint32_t n;                /* index of the completion */
    char nid[RDL_VALUE_BYTES]; /* of a peer of LNet */
    const struct past_index *index; /* used if the user named no target */
};

typedef bool match_fn(const struct target *t, const struct ev *e);

static bool is_completion(const struct target *t, const struct ev *e)
{
    return e->kind == EV_cqe && e->u.cqe.host == t->host && e->u.cqe.cqn == t->number &&
           e->u.cqe.n == t->n;
}

static bool is_of_cq(const struct target *t, const struct ev *e)
{
    return (e->kind == EV_cqe && e->u.cqe.host == t->host && e->u.cqe.cqn == t->number) ||
           (e->kind == EV_cq_overflow && e->u.cq_overflow.host == t->host &&
            e->u.cq_overflow.cqn == t->number);
}

static bool is_of_qp(const struct target *t, const struct ev *e)
{
    switch (e->kind) {
    case EV_qp_state:
        return e->u.qp_state.host == t->host && e->u.qp_state.qpn == t->number;
    case EV_timeout:
        return e->u.timeout.host == t->host && e->u.timeout.qpn == t->number;
    case EV_probe:
        return e->u.probe.host == t->host && e->u.probe.qpn == t->number;
    case EV_cqe:
        return e->u.cqe.host == t->host && e->u.cqe.qpn == t->number &&
               e->u.cqe.status != WCS_SUCCESS && e->u.cqe.status != WCS_WR_FLUSH_ERR;
    default:
        return false;
    }
}

/* A key is an index and a low byte.  The low byte changes during the life of an object. */
static bool is_same_object(const struct target *t, uint32_t host, uint64_t key)
{
    return host == t->host && key >> 8 == t->number >> 8;
}

/* Returns true for events that change a region or window, or that refuse its key. */
static bool is_of_key(const struct target *t, const struct ev *e)
{
    switch (e->kind) {
    case EV_bind:
        return is_same_object(t, e->u.bind.host, e->u.bind.key);
    case EV_reg_mr:
        return is_same_object(t, e->u.reg_mr.host, e->u.reg_mr.key);
    case EV_invalidate:
        return is_same_object(t, e->u.invalidate.host, e->u.invalidate.key);
    case EV_key:
        return e->u.key.rule != RULE_NONE && is_same_object(t, e->u.key.host, e->u.key.key);
    default:
        return false;
    }
}

static bool is_of_srq(const struct target *t, const struct ev *e)
{
    return e->kind == EV_async_event && e->u.async_event.host == t->host &&
           e->u.async_event.object == OBJ_SRQ && e->u.async_event.number == t->number;
}

static bool is_async_event(const struct target *t, const struct ev *e)
{
    return e->kind == EV_async_event && e->u.async_event.host == t->host &&
           e->u.async_event.event == t->number;
}

static bool is_refusal(const struct target *t, const struct ev *e)
{
    return (e->kind == EV_vq_broken && e->u.vq_broken.host == t->host) ||
           (e->kind == EV_ctrl_execute && e->u.ctrl_execute.host == t->host &&
            e->u.ctrl_execute.rsp != RSP_OK) ||
           (e->kind == EV_command && e->u.command.host == t->host && e->u.command.error != 0) ||
           (e->kind == EV_centre_lookup && e->u.centre_lookup.host == t->host &&
            e->u.centre_lookup.forbidden) ||
           (e->kind == EV_vrnic_lost && e->u.vrnic_lost.host == t->host) ||
           (e->kind == EV_ring_broken && e->u.ring_broken.host == t->host);
}

static bool is_by_fault(const struct target *t, const struct ev *e)
{
    return (e->kind == EV_lost && strcmp(e->u.lost.name.s, t->path) == 0) ||
           (e->kind == EV_fault && strcmp(e->u.fault.name.s, t->path) == 0) ||
           (e->kind == EV_device_fault && strcmp(e->u.device_fault.name.s, t->path) == 0);
}

/* Events of rdma_cm of which no connection comes. */
static bool is_no_connection(const struct ev *e)
{
    static const enum rdma_cm_event kinds[] = {RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR,
                                               RDMA_CM_EVENT_CONNECT_ERROR,
                                               RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_REJECTED};
    size_t i = 0;

    if (e->kind != EV_cm_event)
        return false;
    while (i < ARRAY_LEN(kinds) && e->u.cm_event.event != kinds[i])
        i++;
    return i < ARRAY_LEN(kinds);
}

static bool is_of_cm_id(const struct target *t, const struct ev *e)
{
    return e->kind == EV_cm_event && e->u.cm_event.host == t->host &&
           e->u.cm_event.number == t->number;
}

/* Returns true for what happened to the connections of a node of LNet to one peer. */
static bool is_of_lnet_peer(const struct target *t, const struct ev *e)
{
    switch (e->kind) {
    case EV_lnet_state:
        return e->u.lnet_state.host == t->host && strcmp(e->u.lnet_state.nid.s, t->nid) == 0;
    case EV_lnet_reject:
        return e->u.lnet_reject.host == t->host && strcmp(e->u.lnet_reject.nid.s, t->nid) == 0;
    case EV_lnet_stall:
        return e->u.lnet_stall.host == t->host && strcmp(e->u.lnet_stall.nid.s, t->nid) == 0;
    default:
        return false;
    }
}

/* Returns true for what happened to a node of LNet, and for what failed there. */
static bool is_of_lnet(const struct target *t, const struct ev *e)
{
    switch (e->kind) {
    case EV_lnet_up:
        return e->u.lnet_up.host == t->host;
    case EV_lnet_state:
        return e->u.lnet_state.host == t->host;
    case EV_lnet_reject:
        return e->u.lnet_reject.host == t->host;
    case EV_lnet_event:
        return e->u.lnet_event.host == t->host && e->u.lnet_event.status != 0;
    default:
        return false;
    }
}

/* Returns true for the end of a queue pair whose connection a rule has forbidden. */
static bool is_cut(const struct target *t, const struct ev *e)
{
    const struct ev *cause = past_find(t->index->past, e->cause);

    return cause && cause->kind == EV_centre_rule;
}

/* Returns true if an operation of LNet has failed, or a connection of it was rejected or has
 * broken.  A node that stops closes its connections, and a lost race is no failure.
 */
static bool is_lnet_failure(const struct ev *e)
{
    switch (e->kind) {
    case EV_lnet_event:
        return e->u.lnet_event.status != 0;
    case EV_lnet_reject:
        return e->u.lnet_reject.reason != LNET_WHY_CONN_RACE;
    case EV_lnet_state:
        return e->u.lnet_state.state == LND_CONN_CLOSING && e->u.lnet_state.error != 0 &&
               e->u.lnet_state.error != ESHUTDOWN;
    default:
        return false;
    }
}

/* Returns true for errors that a program sees. */
static bool is_failure(const struct target *t, const struct ev *e)
{
    switch (e->kind) {
    case EV_cqe:
        return e->u.cqe.status != WCS_SUCCESS && e->u.cqe.status != WCS_WR_FLUSH_ERR;
    case EV_ctrl_execute:
        return e->u.ctrl_execute.rsp != RSP_OK;
    case EV_command:
        return e->u.command.error != 0;
    case EV_centre_lookup:
        return e->u.centre_lookup.forbidden;
    case EV_async_event:
        return is_cut(t, e);
    case EV_vrnic_refused:
    case EV_vrnic_given_up:
    case EV_vq_broken:
    case EV_ring_broken:
    case EV_cq_overflow:
    case EV_used_refused:
    case EV_vrnic_lost:
        return true;
    default:
        return (is_no_connection(e) || is_lnet_failure(e)) && !overcome_by(t->index, e);
    }
}

/* Returns true if a responder refused a request for good.  The requester sees a failure only later,
 * and never if its program has ended.
 */
static bool is_refused_request(const struct target *t, const struct ev *e)
{
    (void)t;
    return e->kind == EV_rx &&
           (e->u.rx.act == ACT_NAK_INVALID || e->u.rx.act == ACT_NAK_ACCESS ||
            e->u.rx.act == ACT_NAK_OPERATIONAL || e->u.rx.act == ACT_TAKE_AND_FAIL);
}

/* Returns true for a frame that was dropped by a station that it is not for, if that was its end:
 * no copy reached its destination, and no other drop says more.
 */
static bool is_astray(const struct target *t, const struct ev *e)
{
    const struct past *p = t->index->past;
    const struct ev *sent;
    struct fate f;

    if (e->kind != EV_drop || e->u.drop.reason != DROP_NOT_FOR_US)
        return false;
    sent = past_find(p, past_sent(p, e->u.drop.tx, p->n));
    if (!sent || (sent->kind != EV_tx && sent->kind != EV_eth_tx))
        return false;
    f = fate_of(t->index, sent);
    return f.kind == FATE_DROPPED && f.end->id == e->id;
}

/* Returns true for problems that the transport repairs, that a node of LNet or a program has
 * overcome, or that no program sees.  A frame dropped
 * because it is for another station is one only if no copy of it has arrived: a switch that floods
 * a frame sends it to everybody.
 */
static bool is_trouble(const struct target *t, const struct ev *e)
{
    return e->kind == EV_timeout || e->kind == EV_lost || e->kind == EV_not_sent ||
           e->kind == EV_device_fault ||
           (e->kind == EV_drop && e->u.drop.reason != DROP_NOT_FOR_US &&
            e->u.drop.reason != DROP_NO_SUCH_QP) ||
           is_astray(t, e) || is_no_connection(e) || is_lnet_failure(e);
}

/* Returns true for a packet to a queue pair that does not exist: often one that its program, which
 * has ended, has destroyed.  Other trouble matters more.
 */
static bool is_for_no_qp(const struct target *t, const struct ev *e)
{
    (void)t;
    return e->kind == EV_drop && e->u.drop.reason == DROP_NO_SUCH_QP;
}

/* Returns true for a completion. */
static bool is_completion_of_any(const struct target *t, const struct ev *e)
{
    (void)t;
    return e->kind == EV_cqe;
}

static bool is_step(const struct target *t, const struct ev *e)
{
    (void)t;
    return ev_is_for(e->kind, EV_FOR_WHY);
}

static bool is_any(const struct target *t, const struct ev *e)
{
    (void)t;
    (void)e;
    return true;
}

/* Finds the last event that @match accepts.  Returns RDL_ERR_NOT_FOUND if there is none. */
static enum rdl_status find_last(const struct past *p, match_fn *match, const struct target *t,
                                 ev_id *ret)
{
    for (size_t i = p->n; i > 0; i--) {
        const struct ev *e = past_at(p, i - 1);

        if (match(t, e)) {
            *ret = e->id;
            return RDL_OK;
        }
    }
    return RDL_ERR_NOT_FOUND;
}

/* The events that are worth an explanation if the user named none: problems, the most severe ones
 * first, and without a problem the last completion.
 */
static const struct {
    match_fn *match;
    bool is_problem;
} choices[] = {
    {is_failure, true},   {is_refused_request, true},    {is_trouble, true},
    {is_for_no_qp, true}, {is_completion_of_any, false}, {is_step, false},
    {is_any, false},
};

/* Chooses the last event of the first row that has one. */
static enum rdl_status find_wrong(const struct past *p, ev_id *ret)
{
    struct past_index *index = fate_index(p);
    const struct target any = {.path = "", .index = index};
    enum rdl_status st = RDL_ERR_NOT_FOUND;

    for (size_t i = 0; i < ARRAY_LEN(choices) && st != RDL_OK; i++)
        st = find_last(p, choices[i].match, &any, ret);
    past_index_free(index);
    return st;
}

static bool is_problem(const struct target *t, const struct ev *e)
{
    for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
        if (choices[i].is_problem && choices[i].match(t, e))
            return true;
    }
    return false;
}

void why_tell_choice(FILE *out, const struct past *p, ev_id id)
{
    struct past_index *index = fate_index(p);
    const struct target any = {.path = "", .index = index};
    const struct ev *e = past_find(p, id), *end = e ? overcome_by(index, e) : NULL;
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));

    if (end) {
        ev_add_id(&t, end->id);
        fprintf(out, "nothing has failed for good: this was overcome in %s:\n", buf);
    } else if (e && is_completion_of_any(&any, e) && e->u.cqe.status == WCS_WR_FLUSH_ERR) {
        fputs("nothing failed but what was flushed, and this was flushed last:\n", out);
    } else if (e && !is_problem(&any, e)) {
        fputs("nothing went wrong; this happened last:\n", out);
    }
    past_index_free(index);
}

/* Sets @t to a completion "h1.cq.wc[3]".  It may be polled and no longer in the tree, but still be
 * recorded.
 */
static enum rdl_status aim_at_completion(const struct rdl_lab *lab, struct target *t,
                                         const char *wc, size_t *reterr_at)
{
    char cq[TREE_PATH_BYTES], *end;
    struct text path = text_on(cq, sizeof(cq));
    const char *digits = wc + strlen(".wc[");
    struct rdl_value v;
    enum rdl_status st;

    text_addn(&path, t->path, (size_t)(wc - t->path));
    st = rdl_inspect(lab, cq, &v, reterr_at);
    if (st != RDL_OK)
        return st;
    *reterr_at = (size_t)(digits - t->path);
    /* Other objects have no completions, so that no event matches. */
    if (tree_value_is(&v, NODE_cq))
        t->number = (uint32_t)tree_number(lab, cq, LEAF_cq_cqn);
    t->n = (uint32_t)strtoul(digits, &end, 10);
    return end == digits || *end != ']' ? RDL_ERR_INVAL : RDL_OK;
}

/* The values of an event of LNet for programs that the trace has, too. */
struct lnet_told {
    uint64_t at_ns, bits;
    uint32_t kind, portal, mlength, error;
    char nid[RDL_VALUE_BYTES];
};

/* Reads element @i of the events of the node @node ("h1.lnet").  Returns false if it is gone. */
static bool read_told(const struct rdl_lab *lab, const char *node, uint64_t i,
                      struct lnet_told *ret)
{
    struct text t = text_on(ret->nid, sizeof(ret->nid));
    char path[TREE_PATH_BYTES];

    if (!tree_element(lab, node, CHILD_lnet_event, i, path))
        return false;
    ret->at_ns = tree_number(lab, path, LEAF_lnet_event_at);
    ret->kind = (uint32_t)tree_number(lab, path, LEAF_lnet_event_kind);
    ret->portal = (uint32_t)tree_number(lab, path, LEAF_lnet_event_portal);
    ret->bits = tree_number(lab, path, LEAF_lnet_event_bits);
    ret->mlength = (uint32_t)tree_number(lab, path, LEAF_lnet_event_mlength);
    ret->error = (uint32_t)tree_number(lab, path, LEAF_lnet_event_error);
    tree_add(&t, lab, path, LEAF_lnet_event_initiator);
    return true;
}

static bool is_told(const struct lnet_told *a, const struct ev *e, uint32_t host)
{
    const struct ev_lnet_event *l = &e->u.lnet_event;

    return e->kind == EV_lnet_event && l->host == host && e->at_ns == a->at_ns &&
           l->event == a->kind && l->portal == a->portal && l->bits == a->bits &&
           l->mlength == a->mlength && l->status == a->error && strcmp(l->nid.s, a->nid) == 0;
}

/* Finds the event in which a node of LNet told its program what @target is, "h1.lnet.event[3]".
 * Elements before it may have the same values: these are events before it.
 */
static enum rdl_status find_told(const struct rdl_lab *lab, const struct past *p,
                                 const char *target, uint32_t host, ev_id *ret)
{
    const char *at = strstr(target, ".event[");
    char node[TREE_PATH_BYTES];
    struct text t = text_on(node, sizeof(node));
    struct lnet_told wanted, other;
    uint64_t index, before = 0;

    if (!at)
        return RDL_ERR_INVAL;
    text_addn(&t, target, (size_t)(at - target));
    index = strtoull(at + strlen(".event["), NULL, 10);
    if (!read_told(lab, node, index, &wanted))
        return RDL_ERR_NOT_FOUND;
    while (index > 0 && read_told(lab, node, --index, &other) && other.at_ns == wanted.at_ns)
        before += other.kind == wanted.kind && other.portal == wanted.portal &&
                  other.bits == wanted.bits && other.mlength == wanted.mlength &&
                  other.error == wanted.error && strcmp(other.nid, wanted.nid) == 0;
    for (size_t i = 0; i < p->n; i++) {
        if (is_told(&wanted, past_at(p, i), host) && before-- == 0) {
            *ret = past_at(p, i)->id;
            return RDL_OK;
        }
    }
    return RDL_ERR_NOT_FOUND;
}

/* Sets @t and the match function for events of an object. */
static enum rdl_status aim_at_object(const struct rdl_lab *lab, struct target *t,
                                     match_fn **ret_match, size_t *reterr_at)
{
    static const struct {
        enum node_kind kind;
        enum leaf_id number; /* LEAF_none: its events have no number */
        match_fn *match;
    } rows[] = {
        {NODE_qp, LEAF_qp_qpn, is_of_qp},
        {NODE_cq, LEAF_cq_cqn, is_of_cq},
        {NODE_mr, LEAF_mr_lkey, is_of_key},
        {NODE_mw, LEAF_mw_rkey, is_of_key},
        {NODE_srq, LEAF_srq_srqn, is_of_srq},
        {NODE_cm_id, LEAF_cm_id_number, is_of_cm_id},
        {NODE_async_event, LEAF_async_event_event, is_async_event},
        {NODE_host, LEAF_none, is_refusal},
        {NODE_lnet, LEAF_none, is_of_lnet},
        {NODE_lnet_peer, LEAF_none, is_of_lnet_peer},
        {NODE_fault, LEAF_none, is_by_fault},
    };
    struct text nid = text_on(t->nid, sizeof(t->nid));
    struct rdl_value v;
    enum rdl_status st = rdl_inspect(lab, t->path, &v, reterr_at);

    if (st != RDL_OK)
        return st;
    *reterr_at = 0;
    if (tree_value_is(&v, NODE_lnet_peer))
        tree_add(&nid, lab, t->path, LEAF_lnet_peer_nid);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!tree_value_is(&v, rows[i].kind))
            continue;
        if (rows[i].number != LEAF_none)
            t->number = (uint32_t)tree_number(lab, t->path, rows[i].number);
        *ret_match = rows[i].match;
        return RDL_OK;
    }
    return RDL_ERR_INVAL;
}

static enum rdl_status find_id(const struct past *p, const char *target, ev_id *ret)
{
    ev_id id;

    if (!ev_id_parse(target, &id))
        return RDL_ERR_INVAL;
    if (!past_find(p, id))
        return RDL_ERR_NOT_FOUND;
    *ret = id;
    return RDL_OK;
}

enum rdl_status why_find(const struct rdl_lab *lab, const struct past *p, const char *target,
                         ev_id *ret, size_t *reterr_at)
{
    struct target t = {.path = target};
    char host[RDL_NAME_BYTES];
    match_fn *match = is_completion;
    const char *wc;
    enum rdl_status st;

    *reterr_at = 0;
    if (!target || !target[0])
        return find_wrong(p, ret);
    if (ev_id_begins(target))
        return find_id(p, target, ret);
    if (!lab)
        return RDL_ERR_NOT_FOUND; /* a saved trace has only events, no tree */
    tree_host_of(target, host);
    t.host = ev_names_find_host(p->names, host);
    if (tree_is(lab, target, NODE_lnet_event))
        return find_told(lab, p, target, t.host, ret);
    wc = strstr(target, ".wc[");
    st = wc ? aim_at_completion(lab, &t, wc, reterr_at) : aim_at_object(lab, &t, &match, reterr_at);
    return st == RDL_OK ? find_last(p, match, &t, ret) : st;
}
