/* SPDX-License-Identifier: MIT */
/* `why not` for a state that a queue pair is not in, and without an argument. */
#include <string.h>

#include "cli/why/why_not_answer.h"
#include "emu/base/plural.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"

#define N_STATES 7u

/* Returns the first edge of the shortest path from @from to @to.  Returns NULL if there is none. */
static const struct qp_edge *next_edge(uint32_t type, enum qp_state from, enum qp_state to)
{
    const struct qp_edge *by[N_STATES] = {NULL}; /* for each state, its edge towards @to */
    bool reached[N_STATES] = {false};
    bool more = true;

    reached[to] = true;
    while (more && !reached[from]) {
        bool now[N_STATES];

        more = false;
        memcpy(now, reached, sizeof(now));
        for (size_t i = 0; i < n_qp_edges; i++) {
            const struct qp_edge *e = &qp_edges[i];

            if (e->type != type || !reached[e->to] || now[e->from])
                continue;
            by[e->from] = e;
            now[e->from] = true;
            more = true;
        }
        memcpy(reached, now, sizeof(now));
    }
    return by[from];
}

static void say_edge(struct why_not *w, const struct qp_edge *e)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%s -> %s needs", enum_name(&enum_qp_state, e->from),
              enum_name(&enum_qp_state, e->to));
    for (size_t i = 0, n = 0; i < enum_qp_attr.n_rows; i++) {
        if (e->need & enum_qp_attr.rows[i].value)
            text_addf(&t, n++ ? ", %s" : " %s", enum_qp_attr.rows[i].text);
    }
    if (e->need == 0)
        text_add(&t, " nothing but that somebody asks for it");
    why_not_say(w, "%s.", buf);
}

/* Prints the commands that lead from the current state to @to.  Returns false if there are none. */
static bool say_way(struct why_not *w, const struct why_not_qp *q, enum qp_state to)
{
    enum qp_state at = q->state;
    const struct qp_edge *e = next_edge(q->type, at, to);
    const bool connect = to == QPS_RTS && !qp_type_is_datagram(q->type);

    if (!e) {
        e = at == QPS_RESET ? NULL : next_edge(q->type, QPS_RESET, to);
        if (!e)
            return false;
        why_not_say(w, "From %s the only way goes through RESET, which any state may move to.",
                    enum_name(&enum_qp_state, at));
        at = QPS_RESET;
    }
    if (at != q->state)
        why_not_try(w, "modify_qp %s state=RESET%s", q->path, connect ? ", then connect" : "");
    else
        why_not_try(w, "modify_qp %s state=%s%s%s", q->path, enum_name(&enum_qp_state, e->to),
                    e->need ? " ..." : "",
                    connect && at == QPS_RESET
                        ? ", or connect, which takes two queue pairs in RESET to RTS"
                        : "");
    for (unsigned i = 0; e && i < N_STATES; i++) {
        say_edge(w, e);
        at = e->to;
        e = at == to ? NULL : next_edge(q->type, at, to);
    }
    return at == to;
}

/* Prints the event in which the queue pair left state @to, if it was in it. */
static void say_left(struct why_not *w, const struct why_not_qp *q, enum qp_state to)
{
    char id[64], by[64];
    struct text t = text_on(id, sizeof(id)), b = text_on(by, sizeof(by));

    for (size_t i = w->past->n; i > 0; i--) {
        const struct ev *e = past_at(w->past, i - 1);

        if (e->kind != EV_qp_state || e->u.qp_state.host != q->host ||
            e->u.qp_state.qpn != q->qpn || e->u.qp_state.from != to || e->u.qp_state.to == to)
            continue;
        ev_add_id(&t, e->id);
        text_addf(&b, "why %s", id);
        why_not_say(w, "It was in %s, and left that in %s for %s.", enum_name(&enum_qp_state, to),
                    id, enum_name(&enum_qp_state, e->u.qp_state.to));
        why_not_try(w, "%s", by);
        return;
    }
}

/* Prints the last modification of its state that the device refused. */
static void say_refused(struct why_not *w, const struct why_not_qp *q)
{
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    for (size_t i = w->past->n; i > 0; i--) {
        const struct ev *e = past_at(w->past, i - 1);

        if (e->kind != EV_ctrl_execute || e->u.ctrl_execute.host != q->host ||
            e->u.ctrl_execute.number != q->qpn || e->u.ctrl_execute.cmd != CMD_MODIFY_QP)
            continue;
        if (e->u.ctrl_execute.rsp == RSP_OK)
            return;
        ev_add_line(&t, e, w->past->names);
        why_not_say(w, why_not_forgot(w, e->id) ? "The device has refused a change of it:"
                                                : "The device has refused the last change of it:");
        show_wrap(w->out, w->indent + 2, buf);
        return;
    }
}

void why_not_state(struct why_not *w, const char *path, enum qp_state to)
{
    const char *name = enum_name(&enum_qp_state, to);
    struct why_not_qp q;

    if (!why_not_read_qp(w, path, &q)) {
        why_not_qp(w, path);
        return;
    }
    if (q.state == to) {
        w->never = true;
        why_not_say(w, "%s is in %s.", path, name);
        why_not_try(w, "why %s", path);
        return;
    }
    why_not_say(w, "%s is in %s, and not in %s.", path, enum_name(&enum_qp_state, q.state), name);
    say_refused(w, &q);
    if (to == QPS_RESET || to == QPS_ERR) {
        why_not_say(w, "Any state may move to %s; ERR is also where a failure ends.", name);
        why_not_try(w, "modify_qp %s state=%s", path, name);
    } else if (!say_way(w, &q, to)) {
        w->never = true;
        why_not_say(w, "Nobody can ask for %s: it is where a send of UC or UD that fails ends.",
                    name);
    }
    say_left(w, &q, to);
}

/* ---- Without an argument ---- */

struct all {
    struct why_not *w;
    const char *host;
    size_t n;
    bool unread; /* said that a queue pair cannot be read */
};

static void each_qp(void *ctx, const char *key, const struct rdl_value *v)
{
    struct all *a = ctx;
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct why_not_qp q;

    if (!tree_value_is(v, NODE_qp))
        return;
    tree_join(&t, a->host, key);
    if (!why_not_read_qp(a->w, path, &q)) {
        if (!a->unread)
            a->unread = why_not_says_unread(a->w, path);
        return;
    }
    if (why_not_pending(&q) == 0)
        return;
    a->n++;
    why_not_sends(a->w, &q);
}

static uint64_t unpolled(const struct why_not *w, const char *cq)
{
    return tree_number(w->lab, cq, LEAF_cq_count) - tree_number(w->lab, cq, LEAF_cq_polled);
}

/* Appends "h2.cq has 1 completion that nobody has polled". */
static void add_unpolled(struct text *t, const char *cq, uint64_t n)
{
    text_addf(t, "%s has %llu completion%s that nobody has polled", cq, (unsigned long long)n,
              plural_s(n));
}

/* Reports completions in @cq of which no event has told or will tell, as it has a channel and is
 * not armed.  Returns false if there are none.
 */
static bool say_unarmed(struct why_not *w, const char *cq)
{
    const uint64_t n = unpolled(w, cq);
    char host[RDL_NAME_BYTES], channel[TREE_PATH_BYTES], buf[SHOW_LINE_BYTES];
    struct text t = text_on(channel, sizeof(channel)), b = text_on(buf, sizeof(buf));
    struct rdl_value v, armed;

    tree_host_of(cq, host);
    if (n == 0 || !tree_leaf(w->lab, cq, LEAF_cq_channel, &v) || !v.text[0] ||
        !tree_leaf(w->lab, cq, LEAF_cq_armed, &armed) || strcmp(armed.text, "no") != 0)
        return false;
    tree_join(&t, host, v.text);
    if (tree_number(w->lab, channel, LEAF_channel_pending) > 0)
        return false;
    if (why_not_say_event_waits(w, cq))
        return true;
    why_not_say_lost_interrupt(w, cq);
    add_unpolled(&b, cq, n);
    why_not_say(w,
                "%s, and it is not armed: %s gets no event. Arming looks forward only: arm, and "
                "then poll once more.",
                buf, channel);
    why_not_try(w, "req_notify_cq %s", cq);
    return true;
}

static void each_cq(void *ctx, const char *key, const struct rdl_value *v)
{
    struct all *a = ctx;
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));

    if (!tree_value_is(v, NODE_cq))
        return;
    tree_join(&t, a->host, key);
    if (why_not_of_kernel(a->w, path)) {
        a->n += unpolled(a->w, path) > 0 && why_not_say_lost_interrupt(a->w, path);
        return;
    }
    if (!why_not_advise(a->w, path, advice_armed) && !say_unarmed(a->w, path))
        return;
    a->n++;
    why_not_try(a->w, "poll_cq %s", path);
}

static void each_channel(void *ctx, const char *key, const struct rdl_value *v)
{
    struct all *a = ctx;
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));

    if (!tree_value_is(v, NODE_channel))
        return;
    tree_join(&t, a->host, key);
    if (tree_number(a->w->lab, path, LEAF_channel_pending) == 0)
        return;
    a->n++;
    why_not_channel(a->w, path);
    a->w->never = false; /* others may still wait */
}

/* Prints which completion queues have completions that nobody has polled. */
static void each_unpolled_cq(void *ctx, const char *key, const struct rdl_value *v)
{
    struct all *a = ctx;
    char path[TREE_PATH_BYTES], buf[SHOW_LINE_BYTES];
    struct text t = text_on(path, sizeof(path)), b = text_on(buf, sizeof(buf));
    uint64_t n;

    if (!tree_value_is(v, NODE_cq))
        return;
    tree_join(&t, a->host, key);
    n = unpolled(a->w, path);
    if (n == 0 || why_not_of_kernel(a->w, path))
        return;
    a->n++;
    add_unpolled(&b, path, n);
    why_not_say(a->w, "%s.", buf);
    why_not_try(a->w, "poll_cq %s", path);
}

static void each_host_unpolled(void *ctx, const char *key, const struct rdl_value *v)
{
    struct all *a = ctx;
    size_t at;

    a->host = key;
    if (tree_value_is(v, NODE_host) &&
        rdl_inspect_list(a->w->lab, key, each_unpolled_cq, a, &at) != RDL_OK)
        a->host = "";
}

static void each_host(void *ctx, const char *key, const struct rdl_value *v)
{
    struct all *a = ctx;
    size_t at;

    if (!tree_value_is(v, NODE_host))
        return;
    a->host = key;
    a->n += why_not_advise(a->w, key, advice_function_off);
    a->n += why_not_lnet(a->w, key);
    if (rdl_inspect_list(a->w->lab, key, each_qp, a, &at) != RDL_OK ||
        rdl_inspect_list(a->w->lab, key, each_channel, a, &at) != RDL_OK ||
        rdl_inspect_list(a->w->lab, key, each_cq, a, &at) != RDL_OK)
        a->host = "";
}

static void count_wait(void *ctx, const struct rdl_wait *w)
{
    struct all *a = ctx;

    a->n++;
    why_not_say(a->w, "%s", w->sentence);
}

void why_not_anything(struct why_not *w)
{
    struct all a = {w, "", 0, false};
    size_t at;

    if (rdl_inspect_list(w->lab, "", each_host, &a, &at) != RDL_OK)
        return;
    if (a.n == 0)
        rdl_waits(w->lab, count_wait, &a);
    if (a.n > 0 || a.unread)
        return;
    w->never = true;
    why_not_say(w, "Nobody waits for anything.");
    if (rdl_inspect_list(w->lab, "", each_host_unpolled, &a, &at) != RDL_OK || a.n > 0)
        return;
    why_not_try(w, "why not h1.cq.wc[0], for a completion that is missing; why not #12.3, for a "
                   "packet without an answer");
    why_not_try(w, "why not h1.qp.state == RTS, for any expression; why not cqe(host==h1), for an "
                   "event");
    why_not_try(w, "why not f1, for a fault that hits nothing");
}
