/* SPDX-License-Identifier: MIT */
/* Which event `why` is asked about. */
#include <stdlib.h>
#include <string.h>

#include "cli/show_events.h"
#include "cli/show_tree.h"
#include "cli/why.h"

struct target {
    uint32_t host, number; /* of the host; QPN or CQN */
    uint32_t n;            /* of the completion */
    const char *name;      /* of the fault */
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
    case EV_cqe:
        return e->u.cqe.host == t->host && e->u.cqe.qpn == t->number &&
               e->u.cqe.status != WCS_SUCCESS && e->u.cqe.status != WCS_WR_FLUSH_ERR;
    default:
        return false;
    }
}

static bool is_refusal(const struct target *t, const struct ev *e)
{
    return (e->kind == EV_vq_broken && e->u.vq_broken.host == t->host) ||
           (e->kind == EV_ctrl_execute && e->u.ctrl_execute.host == t->host &&
            e->u.ctrl_execute.rsp != RSP_OK);
}

static bool is_by_fault(const struct target *t, const struct ev *e)
{
    return (e->kind == EV_lost && strcmp(e->u.lost.name.s, t->name) == 0) ||
           (e->kind == EV_fault && strcmp(e->u.fault.name.s, t->name) == 0);
}

/* What a program notices: it was refused something. */
static bool is_failure(const struct target *t, const struct ev *e)
{
    (void)t;
    switch (e->kind) {
    case EV_cqe:
        return e->u.cqe.status != WCS_SUCCESS && e->u.cqe.status != WCS_WR_FLUSH_ERR;
    case EV_ctrl_execute:
        return e->u.ctrl_execute.rsp != RSP_OK;
    case EV_vq_broken:
    case EV_cq_overflow:
        return true;
    default:
        return false;
    }
}

/* What the transport mends by itself. */
static bool is_trouble(const struct target *t, const struct ev *e)
{
    (void)t;
    return e->kind == EV_timeout || e->kind == EV_drop || e->kind == EV_lost;
}

static bool is_any(const struct target *t, const struct ev *e)
{
    (void)t;
    (void)e;
    return true;
}

/* The last event that @match finds; RDL_ERR_NOT_FOUND: there is none. */
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

static enum rdl_status find_wrong(const struct past *p, ev_id *ret)
{
    const struct target any = {.name = ""};

    if (find_last(p, is_failure, &any, ret) == RDL_OK)
        return RDL_OK;
    if (find_last(p, is_trouble, &any, ret) == RDL_OK)
        return RDL_OK;
    return find_last(p, is_any, &any, ret);
}

/* "h1.cq.wc[3]": the completion may be polled and gone from the tree, but not from the record. */
static enum rdl_status find_completion(const struct rdl_lab *lab, const struct past *p,
                                       const char *target, const char *wc, struct target *t,
                                       ev_id *ret, size_t *reterr_at)
{
    char cq[TREE_PATH_BYTES], *end;
    struct text path = text_on(cq, sizeof(cq));
    const char *digits = wc + strlen(".wc[");
    struct rdl_value v;
    enum rdl_status st;

    text_addn(&path, target, (size_t)(wc - target));
    st = rdl_inspect(lab, cq, &v, reterr_at);
    if (st != RDL_OK)
        return st;
    *reterr_at = (size_t)(digits - target);
    t->number = (uint32_t)tree_number(lab, cq, "cqn");
    t->n = (uint32_t)strtoul(digits, &end, 10);
    if (end == digits || *end != ']')
        return RDL_ERR_INVAL;
    return find_last(p, is_completion, t, ret);
}

static enum rdl_status find_object(const struct rdl_lab *lab, const struct past *p,
                                   const char *target, struct target *t, ev_id *ret,
                                   size_t *reterr_at)
{
    struct rdl_value v;
    enum rdl_status st = rdl_inspect(lab, target, &v, reterr_at);

    if (st != RDL_OK)
        return st;
    *reterr_at = 0;
    if (v.type != RDL_NODE)
        return RDL_ERR_INVAL;
    if (strcmp(v.text, "qp") == 0) {
        t->number = (uint32_t)tree_number(lab, target, "qpn");
        return find_last(p, is_of_qp, t, ret);
    }
    if (strcmp(v.text, "cq") == 0) {
        t->number = (uint32_t)tree_number(lab, target, "cqn");
        return find_last(p, is_of_cq, t, ret);
    }
    if (strcmp(v.text, "host") == 0)
        return find_last(p, is_refusal, t, ret);
    if (strcmp(v.text, "fault") == 0) {
        t->name = target;
        return find_last(p, is_by_fault, t, ret);
    }
    return RDL_ERR_INVAL;
}

enum rdl_status why_find(const struct rdl_lab *lab, const struct past *p, const char *target,
                         ev_id *ret, size_t *reterr_at)
{
    struct target t = {.name = ""};
    char host[RDL_NAME_BYTES];
    const char *wc;
    ev_id id;

    *reterr_at = 0;
    if (!target || !target[0])
        return find_wrong(p, ret);
    if (target[0] == '#') {
        if (!event_id_parse(target, &id))
            return RDL_ERR_INVAL;
        if (!past_find(p, id))
            return RDL_ERR_NOT_FOUND;
        *ret = id;
        return RDL_OK;
    }
    if (!lab)
        return RDL_ERR_NOT_FOUND; /* a saved trace has events only */
    tree_host_of(target, host);
    t.host = ev_names_find_host(p->names, host);
    wc = strstr(target, ".wc[");
    if (wc)
        return find_completion(lab, p, target, wc, &t, ret, reterr_at);
    return find_object(lab, p, target, &t, ret, reterr_at);
}
