/* SPDX-License-Identifier: MIT */
/* finish: runs the lab until one work request is complete.
 *
 * A request is complete when the device has returned its descriptors, with or without a CQE.  The
 * record tells which descriptors those are.
 */
#include "cli/cmd/commands.h"
#include "cli/cmd/waiting.h"
#include "cli/session/advance.h"
#include "emu/facts/device.h"
#include "emu/past/posted.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"
#include "tree/tree.h"

/* The queues whose requests are searched. */
struct poster {
    const char *path;
    uint32_t host;
    uint32_t queues[2]; /* their numbers */
    size_t n_queues;
    bool by_wr_id;
    uint64_t wr_id;
};

static bool is_by(const struct posted *p, const struct poster *by)
{
    bool its = false;

    for (size_t i = 0; i < by->n_queues; i++)
        its = its || p->queue == by->queues[i];
    return its && p->host == by->host && (!by->by_wr_id || p->wr_id == by->wr_id);
}

/* Finds the last posted request; its id is 0 if there is none. */
static struct posted find_posted(const struct session *s, const struct poster *by)
{
    for (size_t i = rdl_record_count(s->lab); i > 0; i--) {
        struct posted p;

        if (posted_read(rdl_record_at(s->lab, i - 1), &p) && is_by(&p, by))
            return p;
    }
    return (struct posted){.e = NULL};
}

/* The end of a request: the device completed it, or its queue was reset. */
struct request_outcome {
    struct posted posted;
    ev_id last; /* the last event that was looked at */
    ev_id given_back, forgotten;
    uint32_t status; /* enum wc_status */
    bool has_cqe;
};

static void see(struct request_outcome *o, const struct ev *e)
{
    const struct posted *p = &o->posted;

    if (posted_frees(p, e) && !o->given_back) {
        o->given_back = e->id;
    } else if (e->kind == EV_queue_reset && e->u.queue_reset.host == p->host &&
               e->u.queue_reset.queue == p->queue && !o->given_back) {
        o->forgotten = e->id;
    } else if (o->given_back && ev_tick(e->id) == ev_tick(o->given_back) &&
               posted_completes(p, e) && !o->has_cqe) {
        o->has_cqe = true;
        o->status = e->u.cqe.status;
    }
}

static bool is_over(struct waiting *w, struct session *s, bool *ret)
{
    struct request_outcome *o = w->ctx;
    const size_t n = rdl_record_count(s->lab);
    size_t i = n;

    while (i > 0 && rdl_record_at(s->lab, i - 1)->id > o->last)
        i--;
    for (; i < n; i++) {
        const struct ev *e = rdl_record_at(s->lab, i);

        if (!o->given_back || ev_tick(e->id) == ev_tick(o->given_back))
            see(o, e);
        o->last = e->id;
    }
    *ret = o->given_back || o->forgotten;
    return true;
}

/* "h1.qp wr_id=2" */
static void add_request(struct text *t, const struct poster *by, const struct posted *p)
{
    text_addf(t, "%s wr_id=%llu", by->path, (unsigned long long)p->wr_id);
}

static void say_outcome(struct session *s, const struct poster *by, const struct request_outcome *o,
                        bool was_over)
{
    char buf[SESSION_PATH_BYTES + 256];
    struct text t = text_on(buf, sizeof(buf));

    add_request(&t, by, &o->posted);
    if (o->forgotten) {
        text_add(&t, " will never complete: its queue was reset in ");
        ev_add_id(&t, o->forgotten);
    } else {
        text_addf(&t, " %s in ", was_over ? "had completed before," : "completed");
        ev_add_id(&t, o->given_back);
        if (o->has_cqe)
            text_addf(&t, ": %s", enum_name(&enum_wc_status, o->status));
        else
            text_add(&t, ", without a completion");
    }
    session_say(s, "%s\n", buf);
}

/* --- Which request ---------------------------------------------------------------------------- */

static void add_queue(struct session *s, struct poster *by, const char *node, enum child_id child)
{
    char path[TREE_PATH_BYTES];

    if (tree_child(s->lab, node, child, path))
        by->queues[by->n_queues++] = (uint32_t)tree_number(
            s->lab, path,
            child_rows[child].below == NODE_ring ? LEAF_ring_number : LEAF_queue_number);
}

/* The queues of what @path names: a queue pair, a shared receive queue, or a queue of one. */
static bool find_queues(struct session *s, struct span at, const char *path, struct poster *by)
{
    if (tree_is(s->lab, path, NODE_qp)) {
        add_queue(s, by, path, CHILD_qp_sq);
        add_queue(s, by, path, CHILD_qp_rq);
        add_queue(s, by, path, CHILD_qp_send_ring);
        add_queue(s, by, path, CHILD_qp_recv_ring);
    } else if (tree_is(s->lab, path, NODE_srq)) {
        add_queue(s, by, path, CHILD_srq_rq);
        add_queue(s, by, path, CHILD_srq_recv_ring);
    } else if (tree_is(s->lab, path, NODE_ring)) {
        by->queues[by->n_queues++] = (uint32_t)tree_number(s->lab, path, LEAF_ring_number);
    } else if (tree_is(s->lab, path, NODE_queue)) {
        by->queues[by->n_queues++] = (uint32_t)tree_number(s->lab, path, LEAF_queue_number);
    } else {
        session_fail(s, at, "%s has no work requests", path);
        return diag_remedy(&s->diag, "a queue pair has, its send queue or its receive queue: "
                                     "finish h1.qp, finish h1.qp.rq wr_id=7");
    }
    return by->n_queues > 0 || session_fail(s, at, "%s has no queue", path);
}

/* Fails: there is no such request, as far as the record knows. */
static bool not_posted(struct session *s, const struct step *st, const struct poster *by)
{
    const struct past past = past_of_lab(s->lab);
    char missing[DIAG_REMEDY_BYTES];
    struct text t = text_on(missing, sizeof(missing));

    past_add_missing(&t, &past, 0, 0);
    if (by->by_wr_id)
        session_fail(s, st->at, "no request with wr_id=%llu was posted to %s",
                     (unsigned long long)by->wr_id, by->path);
    else
        session_fail(s, st->at, "no request was posted to %s", by->path);
    return diag_remedy(&s->diag, "%s",
                       missing[0] ? missing
                                  : "\"show events kinds=post_send,post_recv\" lists them");
}

/* Fails if recording was off since @p was posted: its end may not be recorded. */
static bool is_recorded(struct session *s, const struct step *st, const struct poster *by,
                        const struct posted *p)
{
    const struct past past = past_of_lab(s->lab);
    char request[SESSION_PATH_BYTES + 32], gap[DIAG_REMEDY_BYTES];
    struct text r = text_on(request, sizeof(request)), g = text_on(gap, sizeof(gap));

    if (!past_gap_between(&past, p->id, ~(ev_id)0))
        return true;
    add_request(&r, by, p);
    past_add_gap(&g, &past);
    session_fail(s, st->at, "whether %s is complete is not known", request);
    return diag_remedy(&s->diag, "%s; \"record on\" goes on with it", gap);
}

/* The search for the queue with a number. */
struct queue_search {
    const struct rdl_lab *lab;
    uint32_t queue;
    char *path; /* has SESSION_PATH_BYTES; "": not found yet */
};

static void look_at_queue(void *ctx, const char *key, const struct rdl_value *v)
{
    struct queue_search *q = ctx;
    struct text t;

    if (q->path[0] || !(tree_value_is(v, NODE_queue) || tree_value_is(v, NODE_ring)) ||
        tree_number(q->lab, key,
                    tree_value_is(v, NODE_queue) ? LEAF_queue_number : LEAF_ring_number) !=
            q->queue)
        return;
    t = text_on(q->path, SESSION_PATH_BYTES);
    text_add(&t, key);
}

/* Writes the path of the queue to which a request was posted last to @path. */
static bool find_last_queue(struct session *s, const struct step *st, char path[SESSION_PATH_BYTES])
{
    struct queue_search q = {.lab = s->lab, .path = path};
    char host[RDL_NAME_BYTES];
    struct text h;
    size_t bad;

    path[0] = '\0';
    for (size_t i = rdl_record_count(s->lab); i > 0 && !path[0]; i--) {
        struct posted p;

        if (!posted_read(rdl_record_at(s->lab, i - 1), &p))
            continue;
        q.queue = p.queue;
        h = text_on(host, sizeof(host));
        ev_names_host(rdl_names(s->lab), &h, p.host);
        if (rdl_inspect_below(s->lab, host, look_at_queue, &q, &bad) != RDL_OK)
            path[0] = '\0'; /* not a host of this lab any more */
    }
    if (path[0])
        return true;
    session_fail(s, st->at, "no request was posted");
    return diag_remedy(&s->diag,
                       "\"help post_send\" tells how one is; then \"finish\" waits for it");
}

static bool find_request(struct session *s, const struct step *st, struct poster *by,
                         char path[SESSION_PATH_BYTES], struct posted *ret)
{
    const struct scope in = session_scope(s);
    const struct span at = step_span(st, "queue", 0);
    char host[RDL_NAME_BYTES];
    struct rdl_value v;
    size_t bad;

    if (step_has(st, "queue"))
        resolve_path(&in, step_text(st, "queue"), path);
    else if (!find_last_queue(s, st, path))
        return false;
    if (rdl_inspect(s->lab, path, &v, &bad) != RDL_OK)
        return resolve_unknown(&in, at, path, "nothing", &s->diag);
    resolve_host_name(path, host);
    *by = (struct poster){.path = path,
                          .host = ev_names_find_host(rdl_names(s->lab), host),
                          .by_wr_id = step_has(st, "wr_id"),
                          .wr_id = step_number_or(st, "wr_id", 0)};
    if (!find_queues(s, at, path, by))
        return false;
    *ret = find_posted(s, by);
    return ret->id ? is_recorded(s, st, by, ret) : not_posted(s, st, by);
}

/* --- finish ----------------------------------------------------------------------------------- */

/* Fails: the request is not complete, and waiting is over. */
static bool not_complete(struct session *s, const struct step *st, const struct poster *by,
                         const struct request_outcome *o, bool idle)
{
    char buf[SESSION_PATH_BYTES + 32];
    struct text t = text_on(buf, sizeof(buf));

    add_request(&t, by, &o->posted);
    diag_set(&s->diag, DIAG_EXPECT, st->at, "%s is not complete, and %s", buf,
             idle ? "nothing is left to run" : "the time is over");
    advance_note_waits(s);
    return false;
}

bool run_finish(struct session *s, const struct step *st)
{
    const uint64_t before = rdl_tick(s->lab);
    char path[SESSION_PATH_BYTES];
    struct poster by = {.path = path};
    struct request_outcome o = {.last = 0};
    struct waiting w = {.look = is_over, .ctx = &o};

    if (!find_request(s, st, &by, path, &o.posted))
        return false;
    o.last = o.posted.id;
    if (!waiting_go_on(s, st, &w))
        return false;
    if (w.held)
        say_outcome(s, &by, &o, rdl_tick(s->lab) == before);
    return w.held || w.stopped || not_complete(s, st, &by, &o, w.idle) || session_ignores_error(s);
}
