/* SPDX-License-Identifier: MIT */
/* Finds the post event first, then follows the request forward: its descriptor identifies the fetch
 * and the used event, and the tick of the used event identifies the completion.
 */
#include "cli/show/show_life.h"

#include <stdlib.h>
#include <string.h>

#include "cli/show/show_columns.h"
#include "cli/show/show_rows.h"
#include "cli/why/fate_text.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/past/past_lnet.h"
#include "emu/past/posted.h"
#include "emu/trace/event.h"
#include "print/show_text.h"
#include "tree/tree.h"

#define AGAIN_SHOWN 8u /* retransmitted packets */
#define CAUSES_MAX  8u /* from a completion back to the packet that caused it */

struct request_life {
    const struct past *past;
    struct posted post;
    const struct ev *kick, *fetch, *first, *last, *answer, *cqe, *used, *irq, *poll;
    const struct ev *behind;   /* first packet of the next request of the queue pair */
    const struct ev *overflow; /* the completion queue had no room for its completion */
    const struct ev *again[AGAIN_SHOWN];
    size_t n_again;
};

/* Selects the postings that match. */
struct life_wanted {
    uint32_t host, number; /* QPN or SRQN.  @host EV_HOST_NONE: any host */
    bool sends, recvs, of_srq;
    const struct life_target *target;
};

static bool is_wanted(const struct life_wanted *w, const struct posted *p)
{
    const bool of_srq = p->e->kind == EV_post_srq_recv;

    if (w->target->has_wr_id && p->wr_id != w->target->wr_id)
        return false;
    if (!(p->is_send ? w->sends : w->recvs))
        return false;
    if (w->host == EV_HOST_NONE)
        return true;
    if (p->host != w->host || of_srq != w->of_srq)
        return false;
    return of_srq ? p->e->u.post_srq_recv.number == w->number : p->qpn == w->number;
}

/* Finds the last posting that matches.  For a queue pair, a send is preferred to a receive. */
static bool find_post(const struct past *p, const struct life_wanted *w, struct posted *ret)
{
    bool found = false;

    for (size_t i = p->n; i > 0; i--) {
        struct posted post;

        if (!posted_read(past_at(p, i - 1), &post) || !is_wanted(w, &post))
            continue;
        if (!found || post.is_send)
            *ret = post;
        found = true;
        if (post.is_send || !w->sends)
            return true;
    }
    return found;
}

/* The record and its index. */
struct life_search {
    const struct past *past;
    const struct past_index *index;
};

/* A request identified by its wr_id, among the sends or the receives of a queue pair. */
struct numbered {
    uint32_t host, qpn;
    uint64_t wr_id;
    bool recv;
};

/* Returns the last fetch of @n at or before @e.  Returns NULL if there is none. */
static const struct ev *fetch_of_number(const struct past *p, const struct ev *e,
                                        const struct numbered *n)
{
    for (size_t i = past_lower_bound(p, e->id + 1); i > 0; i--) {
        const struct ev *f = past_at(p, i - 1);

        if (f->kind == EV_fetch && f->u.fetch.host == n->host && f->u.fetch.qpn == n->qpn &&
            f->u.fetch.wr_id == n->wr_id && (f->u.fetch.op == WR_RECV) == n->recv)
            return f;
    }
    return NULL;
}

/* Returns the fetch of the request that completion @e belongs to.  Several requests may have the
 * same wr_id, so it uses the descriptor that was returned just before @e.
 */
static const struct ev *fetch_of_cqe(const struct past *p, const struct ev *e)
{
    const struct numbered n = {e->u.cqe.host, e->u.cqe.qpn, e->u.cqe.wr_id,
                               posted_is_recv(e->u.cqe.op)};
    const struct ev *fetch = fetch_of_number(p, e, &n), *used = NULL;
    struct freed_slot slot = {0, 0, 0};

    for (size_t i = past_lower_bound(p, e->id); fetch && i > 0; i--) {
        const struct ev *f = past_at(p, i - 1);

        if (!used && ev_tick(f->id) != ev_tick(e->id))
            return fetch;
        if (!used && posted_freed(f, &slot) && slot.host == n.host &&
            slot.queue == fetch->u.fetch.queue)
            used = f;
        else if (used && f->kind == EV_fetch && f->u.fetch.host == n.host &&
                 f->u.fetch.queue == slot.queue && f->u.fetch.desc == slot.desc)
            return f;
    }
    return used ? NULL : fetch;
}

static bool is_same_completion(const struct ev *cqe, const struct ev *poll)
{
    return cqe->kind == EV_cqe && poll->kind == EV_poll && cqe->u.cqe.host == poll->u.poll.host &&
           cqe->u.cqe.cqn == poll->u.poll.cqn && cqe->u.cqe.qpn == poll->u.poll.qpn &&
           cqe->u.cqe.wr_id == poll->u.poll.wr_id;
}

/* Returns the completion that @poll returned: the oldest one with the same values that no earlier
 * poll returned.
 */
static const struct ev *cqe_of_poll(const struct past *p, const struct ev *poll)
{
    const size_t end = past_lower_bound(p, poll->id);
    const struct ev *last = NULL;
    size_t there = 0, taken = 0;

    for (size_t i = 0; i < end; i++) {
        const struct ev *e = past_at(p, i);

        if (is_same_completion(e, poll)) {
            last = e;
            there++;
        } else if (last && is_same_completion(last, e) && there > 0) {
            there--;
            taken++;
        }
    }
    for (size_t i = 0; i < end && there > 0; i++) {
        const struct ev *e = past_at(p, i);

        if (is_same_completion(e, poll) && taken-- == 0)
            return e;
    }
    return NULL;
}

/* Finds the posting of the request that event @e belongs to. */
static bool post_of_event(const struct life_search *s, const struct ev *e, struct posted *ret)
{
    const struct past *p = s->past;
    struct numbered n;

    if (posted_read(e, ret))
        return true;
    if (e->kind == EV_poll)
        e = cqe_of_poll(p, e);
    else if (e->kind != EV_fetch && e->kind != EV_cqe)
        e = past_tx_of(p, e);
    if (e && e->kind == EV_cqe) {
        e = fetch_of_cqe(p, e);
    } else if (e && e->kind == EV_tx) {
        n = (struct numbered){e->u.tx.host, e->u.tx.qpn, e->u.tx.wr_id, false};
        e = fetch_of_number(p, e, &n);
    }
    e = e && e->kind == EV_fetch ? past_post_of(s->index, e) : NULL;
    return e && posted_read(e, ret);
}

/* Finds the posting for a path like "h1.cq.wc[3]". */
static enum rdl_status post_of_completion(const struct rdl_lab *lab, const struct life_search *s,
                                          const char *path, const char *wc, struct posted *ret,
                                          size_t *reterr_at)
{
    const struct past *p = s->past;
    char cq[TREE_PATH_BYTES], name[RDL_NAME_BYTES], *end;
    struct text t = text_on(cq, sizeof(cq));
    struct rdl_value v;
    const unsigned long n = strtoul(wc + strlen(".wc["), &end, 10);
    uint32_t host, cqn;
    enum rdl_status st;

    text_addn(&t, path, (size_t)(wc - path));
    st = rdl_inspect(lab, cq, &v, reterr_at);
    if (st != RDL_OK)
        return st;
    *reterr_at = 0;
    if (!tree_value_is(&v, NODE_cq) || *end != ']')
        return RDL_ERR_INVAL;
    tree_host_of(path, name);
    host = ev_names_find_host(p->names, name);
    cqn = (uint32_t)tree_number(lab, cq, LEAF_cq_cqn);
    for (size_t i = p->n; i > 0; i--) {
        const struct ev *e = past_at(p, i - 1);

        if (e->kind == EV_cqe && e->u.cqe.host == host && e->u.cqe.cqn == cqn && e->u.cqe.n == n)
            return post_of_event(s, e, ret) ? RDL_OK : RDL_ERR_NOT_FOUND;
    }
    return RDL_ERR_NOT_FOUND;
}

/* Finds the posting for a path like "h1.qp", "h1.qp.sq", "h1.qp.rq" or "h1.srq". */
static enum rdl_status post_of_queue(const struct rdl_lab *lab, const struct past *p,
                                     const struct life_target *target, struct posted *ret,
                                     size_t *reterr_at)
{
    const char *dot = strrchr(target->path, '.');
    const bool sq = dot && strcmp(dot, ".sq") == 0, rq = dot && strcmp(dot, ".rq") == 0;
    char path[TREE_PATH_BYTES], name[RDL_NAME_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct life_wanted w = {.sends = !rq, .recvs = !sq, .target = target};
    struct rdl_value v;
    enum rdl_status st;

    text_addn(&t, target->path, sq || rq ? (size_t)(dot - target->path) : strlen(target->path));
    st = rdl_inspect(lab, path, &v, reterr_at);
    if (st != RDL_OK)
        return st;
    *reterr_at = 0;
    tree_host_of(path, name);
    w.host = ev_names_find_host(p->names, name);
    w.of_srq = tree_value_is(&v, NODE_srq);
    if (w.of_srq)
        w.number = (uint32_t)tree_number(lab, path, LEAF_srq_srqn);
    else if (tree_value_is(&v, NODE_qp))
        w.number = (uint32_t)tree_number(lab, path, LEAF_qp_qpn);
    else
        return RDL_ERR_INVAL;
    return find_post(p, &w, ret) ? RDL_OK : RDL_ERR_NOT_FOUND;
}

static enum rdl_status find_target(const struct rdl_lab *lab, const struct life_search *s,
                                   const struct life_target *target, struct posted *ret,
                                   size_t *reterr_at)
{
    const struct past *p = s->past;
    const struct life_wanted any = {
        .host = EV_HOST_NONE, .sends = true, .recvs = true, .target = target};
    const char *wc = target->path ? strstr(target->path, ".wc[") : NULL;
    ev_id id;

    *reterr_at = 0;
    if (!target->path)
        return find_post(p, &any, ret) ? RDL_OK : RDL_ERR_NOT_FOUND;
    if (ev_id_parse(target->path, &id)) {
        const struct ev *e = past_find(p, id);

        if (!e)
            return RDL_ERR_NOT_FOUND;
        return post_of_event(s, e, ret) ? RDL_OK : RDL_ERR_INVAL;
    }
    if (!lab)
        return RDL_ERR_UNSUPPORTED;
    return wc ? post_of_completion(lab, s, target->path, wc, ret, reterr_at)
              : post_of_queue(lab, p, target, ret, reterr_at);
}

/* Returns the received packet that caused @e, directly or through other events of the same tick. */
static const struct ev *arrival_behind(const struct past *p, const struct ev *e)
{
    uint64_t tick = e ? ev_tick(e->id) : 0;

    for (unsigned n = 0; e && ev_tick(e->id) == tick && n < CAUSES_MAX; n++) {
        if (e->kind == EV_rx)
            return e;
        e = e->cause ? past_find(p, e->cause) : NULL;
        if (e && e->kind == EV_router_completion)
            tick = ev_tick(e->id); /* the router has passed the completion on meanwhile */
    }
    return NULL;
}

/* Returns the packet, received in the tick of @fetch, that consumed the fetched receive. */
static const struct ev *arrival_with(const struct past *p, const struct ev *fetch)
{
    for (size_t i = past_lower_bound(p, fetch->id); i < p->n; i++) {
        const struct ev *e = past_at(p, i);

        if (ev_tick(e->id) != ev_tick(fetch->id))
            break;
        if (e->kind == EV_rx && e->u.rx.host == fetch->u.fetch.host &&
            e->u.rx.qpn == fetch->u.fetch.qpn)
            return e;
    }
    return NULL;
}

static void take_tx(struct request_life *l, const struct ev *e)
{
    if (!l->first)
        l->first = e;
    if (e->u.tx.attempt <= 1)
        l->last = e;
    else if (l->n_again++ < AGAIN_SHOWN)
        l->again[l->n_again - 1] = e;
}

/* Returns true if @e, a packet of the queue pair, belongs to the request.  Several requests may
 * have the same wr_id.  So a first transmission is matched by the fetch that caused it, a
 * retransmission by its PSN.
 */
static bool is_packet(struct request_life *l, const struct ev *e)
{
    const struct ev *cause = past_begun_by(l->past, e);
    const struct psn psn = {e->u.tx.psn};

    if (cause == l->fetch)
        return true;
    if (cause && cause->kind == EV_fetch) {
        if (l->first && !l->behind)
            l->behind = e;
        return false;
    }
    if (e->u.tx.wr_id != l->post.wr_id)
        return false;
    if (!l->first)
        return e->u.tx.attempt <= 1;
    return psn_diff(psn, (struct psn){l->first->u.tx.psn}) >= 0 &&
           (!l->behind || psn_diff(psn, (struct psn){l->behind->u.tx.psn}) < 0);
}

/* Updates the life with event @e, up to the one in which the device returns the descriptor. */
static void take(struct request_life *l, const struct ev *e)
{
    const struct posted *post = &l->post;

    if (!l->fetch && !l->kick && posted_is_announced(e, post->host, post->queue))
        l->kick = e;
    if (!l->fetch && e->kind == EV_fetch && e->u.fetch.host == post->host &&
        e->u.fetch.queue == post->queue && e->u.fetch.desc == post->desc)
        l->fetch = e;
    if (post->is_send && l->fetch && e->kind == EV_tx && e->u.tx.host == post->host &&
        e->u.tx.qpn == post->qpn && !op_is_response(op_info((uint8_t)e->u.tx.opcode)) &&
        is_packet(l, e))
        take_tx(l, e);
    if (posted_frees(post, e))
        l->used = e;
    else if (l->used && e->kind == EV_cq_overflow)
        l->overflow = e;
    else if (l->used && posted_completes(post, e))
        l->cqe = e;
}

/* Returns the poll that returned the completion: completions with the same values are polled in
 * order, so it counts them.
 */
static const struct ev *find_poll(const struct request_life *l, size_t from)
{
    const struct past *p = l->past;
    const struct ev *c = l->cqe;
    size_t before = 0;

    /* Count the completions with the same values that are still in the queue. */
    for (size_t i = 0; i < from; i++) {
        const struct ev *e = past_at(p, i);

        if (e->kind == EV_cqe && e != c && e->u.cqe.host == c->u.cqe.host &&
            e->u.cqe.cqn == c->u.cqe.cqn && e->u.cqe.qpn == c->u.cqe.qpn &&
            e->u.cqe.wr_id == c->u.cqe.wr_id)
            before++;
        else if (before && is_same_completion(c, e))
            before--;
    }
    for (size_t i = from; i < p->n; i++) {
        const struct ev *e = past_at(p, i);

        if (is_same_completion(c, e) && before-- == 0)
            return e;
    }
    return NULL;
}

/* Returns true if interrupt @e reports completion @cqe: it is that of the CQ, or of a notification
 * of the CQ.
 */
static bool is_interrupt_for(const struct past *p, const struct ev *e, const struct ev *cqe)
{
    const struct ev *cause = past_find(p, e->cause);

    if (e->u.irq.function != FN_RDMA || e->u.irq.host != cqe->u.cqe.host)
        return false;
    if (cause && cause->kind == EV_cq_note)
        return cause->u.cq_note.cqn == cqe->u.cqe.cqn;
    if (cause && (cause->kind == EV_command || cause->kind == EV_event_note))
        return false; /* its queue is a reason of the device */
    return e->u.irq.queue == cqe->u.cqe.cqn;
}

static void follow(struct request_life *l)
{
    const struct past *p = l->past;
    size_t i = past_lower_bound(p, l->post.e->id + 1);
    const struct ev *e;

    /* The completion is in the tick of the used event, before the next used event. */
    for (; i < p->n; i++) {
        e = past_at(p, i);
        if (l->used && (ev_tick(e->id) != ev_tick(l->used->id) || posted_frees_any(&l->post, e)))
            break;
        take(l, e);
    }
    l->answer = arrival_behind(p, l->cqe ? l->cqe : l->used);
    if (!l->post.is_send)
        l->first = l->fetch ? arrival_with(p, l->fetch) : NULL;
    if (!l->cqe)
        return;
    i = past_lower_bound(p, l->cqe->id + 1);
    l->poll = find_poll(l, i);
    for (; i < p->n && !l->irq; i++) {
        e = past_at(p, i);
        if (e == l->poll)
            break;
        if (e->kind == EV_irq && is_interrupt_for(p, e, l->cqe))
            l->irq = e;
    }
}

struct printing {
    const struct request_life *life;
    struct past_index *index;
    struct rows rows;
    uint64_t before_ns;
};

/* Adds a row for event @e of the life.  Without @e, it says why there is none: @otherwise. */
static void add_step(struct printing *pr, const char *step, const struct ev *e,
                     const char *otherwise)
{
    char id[EV_NAME_BYTES] = "", text[EV_TEXT_BYTES];
    struct text i = text_on(id, sizeof(id)), t = text_on(text, sizeof(text));

    rows_text(&pr->rows, step);
    if (!e) {
        rows_none(&pr->rows);
        rows_none(&pr->rows);
        rows_none(&pr->rows);
        rows_text(&pr->rows, otherwise);
        return;
    }
    ev_add_id(&i, e->id);
    past_add_text(&t, pr->life->past, e);
    if (e->kind == EV_tx && fate_of(pr->index, e).kind != FATE_ARRIVED) {
        text_add(&t, ", which ");
        fate_add(&t, pr->index, e);
    }
    rows_text(&pr->rows, id);
    rows_time(&pr->rows, e->at_ns);
    if (e->at_ns >= pr->before_ns)
        rows_time(&pr->rows, e->at_ns - pr->before_ns);
    else
        rows_none(&pr->rows); /* the previous row is about a later event */
    rows_text(&pr->rows, text);
    pr->before_ns = e->at_ns;
}

/* Adds the packets: sent ones and the answer, or received ones for a receive. */
static void add_packets(struct printing *pr, const struct request_life *l)
{
    const char *none = l->used ? "none: no packet was sent for it" : "not yet";

    if (!l->post.is_send) {
        none = l->used ? "none: no message came" : "not yet";
        add_step(pr, "first packet", l->first, none);
        if (l->answer != l->first || !l->answer)
            add_step(pr, "last packet", l->answer, none);
        return;
    }
    add_step(pr, "first packet", l->first, none);
    if (l->last != l->first)
        add_step(pr, "last packet", l->last, none);
    for (size_t i = 0; i < l->n_again && i < AGAIN_SHOWN; i++)
        add_step(pr, "sent again", l->again[i], "");
    if (l->n_again > AGAIN_SHOWN)
        add_step(pr, "sent again", NULL, "and more often: show events kinds=tx");
    add_step(pr, "answer", l->answer, l->used ? "none: nothing that came ended it" : "not yet");
}

static void add_steps(struct printing *pr, const struct request_life *l)
{
    const bool over = l->used != NULL;

    add_step(pr, "post", l->post.e, "");
    add_step(pr, "kick", l->kick,
             l->fetch || !l->post.is_send ? "none of its own: the device looks without one"
                                          : "not yet: kick tells the device");
    add_step(pr, "fetch", l->fetch, over ? "none: it was flushed" : "not yet");
    add_packets(pr, l);
    add_step(pr, "given back", l->used, "not yet");
    add_step(pr, "completion", l->cqe ? l->cqe : l->overflow,
             !over             ? "not yet"
             : l->post.is_send ? "none: it succeeded, and was not signaled"
                               : "none: its completion queue had failed");
    if (over && !l->cqe)
        return;
    add_step(pr, "interrupt", l->irq,
             l->poll ? "none: nobody had asked for one" : "not yet: req_notify_cq asks for one");
    add_step(pr, "poll", l->poll, l->cqe ? "not yet: poll_cq takes it" : "not yet");
}

enum rdl_status show_life(FILE *out, const struct rdl_lab *lab, const struct past *p,
                          const struct life_target *target, enum show_form form, size_t *reterr_at)
{
    struct request_life l = {.past = p};
    struct printing pr = {.life = &l, .index = fate_index(p)};
    const struct life_search search = {p, pr.index};
    const enum rdl_status st = find_target(lab, &search, target, &l.post, reterr_at);

    if (st != RDL_OK) {
        past_index_free(pr.index);
        return st;
    }
    follow(&l);
    pr.before_ns = l.post.e->at_ns;
    rows_begin_table(&pr.rows, out, form, TABLE_LIFE);
    add_steps(&pr, &l);
    rows_end(&pr.rows, NULL);
    past_index_free(pr.index);
    return RDL_OK;
}
