/* SPDX-License-Identifier: MIT */
/* `why not`: reads its question. */
#include <string.h>

#include "cli/cmd/why_not.h"
#include "cli/lang/suggest.h"
#include "cli/session/expr_count.h"
#include "cli/session/expr_eval.h"
#include "cli/why/why_not.h"
#include "emu/facts/leaf.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"
#include "tree/tree.h"

/* A question and its answer so far. */
struct ask {
    struct session *s;
    struct scope in;
    const char *text;
    struct span at;
    struct expr *e;
    struct why_not *w;
};

/* Of @v, which is a part of the lab and no value, nothing is told. */
static bool refuse_node(struct ask *a, const struct rdl_value *v)
{
    char what[RDL_VALUE_BYTES];
    struct text t = text_on(what, sizeof(what));

    node_add_text(&t, v);
    session_fail(a->s, a->at, "this is %s: what of it is missing?", what);
    return diag_remedy(&a->s->diag, "why not knows a completion (h1.cq.wc[0]), a queue pair, a "
                                    "completion channel, a node of LNet (h1.lnet) or a peer of "
                                    "it (h1.lnet.peer[0]), an ID of rdma_cm, also with an event "
                                    "(h1.id == ESTABLISHED), a fault, a "
                                    "packet (#12.3), an event like cqe(host==h1), and "
                                    "any expression, like h1.qp.state == RTS");
}

/* @path is @v, a node of LNet or what it knows of a peer. */
static void answer_lnet(struct ask *a, const char *path, struct rdl_value v)
{
    char host[RDL_NAME_BYTES];

    tree_host_of(path, host);
    if (tree_value_is(&v, NODE_lnet) ? why_not_lnet(a->w, host) > 0 : why_not_lnet_peer(a->w, path))
        return;
    why_not_is_so(a->w);
    why_not_say(a->w, "No message of %s waits for anything.", path);
}

/* @path is @v, a part of the lab and no value. */
static bool answer_node(struct ask *a, const char *path, struct rdl_value v)
{
    if (tree_value_is(&v, NODE_cq))
        why_not_completion(a->w, path, tree_number(a->s->lab, path, LEAF_cq_count));
    else if (tree_value_is(&v, NODE_qp))
        why_not_qp(a->w, path);
    else if (tree_value_is(&v, NODE_channel))
        why_not_channel(a->w, path);
    else if (tree_value_is(&v, NODE_cm_id))
        why_not_cm_id(a->w, path, WHY_NOT_ANY_EVENT);
    else if (tree_value_is(&v, NODE_fault))
        why_not_fault(a->w, path);
    else if (tree_value_is(&v, NODE_host))
        why_not_waits(a->w, path);
    else if (tree_value_is(&v, NODE_lnet) || tree_value_is(&v, NODE_lnet_peer))
        answer_lnet(a, path, v);
    else
        return refuse_node(a, &v);
    return true;
}

/* The parts of the expression that decide that it does not hold. */
static void say_terms(struct ask *a)
{
    char buf[DIAG_MESSAGE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct expr_terms terms;

    expr_decide(&a->in, a->e, false, &terms);
    expr_add_terms(&a->in, &terms, a->text, &t);
    why_not_say(a->w, "It does not hold: %s.", buf);
}

/* Returns true if @e is about the state of a queue pair.  Writes its path to @qp, and the
 * state that is asked for to @ret.
 */
static bool is_state(const struct ask *a, const struct expr *e, char qp[SESSION_PATH_BYTES],
                     enum qp_state *ret)
{
    static const char leaf[] = ".state";
    const struct enum_row *row;
    size_t n;

    if (e->kind != EXPR_COMPARE || e->op != CMP_EQ || e->a->kind != EXPR_PATH ||
        e->b->kind != EXPR_PATH)
        return false;
    row = enum_by_name(&enum_qp_state, e->b->text);
    resolve_path(&a->in, e->a->text, qp);
    n = strlen(qp);
    if (!row || n < sizeof(leaf) || strcmp(qp + n - strlen(leaf), leaf) != 0)
        return false;
    qp[n - strlen(leaf)] = '\0';
    *ret = (enum qp_state)row->value;
    return tree_is(a->s->lab, qp, NODE_qp);
}

/* Returns true if @path is a leaf of a completion channel, and writes the path of the channel to
 * @ret.
 */
static bool is_of_channel(const struct ask *a, const char *path, char ret[SESSION_PATH_BYTES])
{
    const char *dot = strrchr(path, '.');
    struct text t = text_on(ret, SESSION_PATH_BYTES);

    if (!dot)
        return false;
    text_addn(&t, path, (size_t)(dot - path));
    return tree_is(a->s->lab, ret, NODE_channel);
}

/* Returns true if @path is a leaf of an ID of rdma_cm, and writes the path of the ID to @ret. */
static bool is_of_cm_id(const struct ask *a, const char *path, char ret[SESSION_PATH_BYTES])
{
    const char *dot = strrchr(path, '.');
    struct text t = text_on(ret, SESSION_PATH_BYTES);

    if (!dot)
        return false;
    text_addn(&t, path, (size_t)(dot - path));
    return tree_is(a->s->lab, ret, NODE_cm_id);
}

/* Adds what else is known about the paths of @e.  Depth is bounded by the parser. */
static void say_paths(struct ask *a, const struct expr *e)
{
    char path[SESSION_PATH_BYTES], cq[TREE_PATH_BYTES], channel[SESSION_PATH_BYTES];
    enum qp_state to;
    uint64_t n;

    if (is_state(a, e, path, &to)) {
        why_not_state(a->w, path, to);
        return;
    }
    if (e->kind == EXPR_PATH) {
        resolve_path(&a->in, e->text, path);
        if (tree_completion(a->s->lab, path, cq, &n))
            why_not_completion(a->w, cq, n);
        else if (is_of_channel(a, path, channel))
            why_not_channel(a->w, channel);
        else if (is_of_cm_id(a, path, channel))
            why_not_cm_id(a->w, channel, WHY_NOT_ANY_EVENT);
        return;
    }
    if (e->kind == EXPR_COUNT) {
        why_not_event(a->w, e->filter);
        return;
    }
    if (e->a)
        say_paths(a, e->a);
    if (e->b)
        say_paths(a, e->b);
}

static bool answer_expression(struct ask *a)
{
    char qp[SESSION_PATH_BYTES];
    enum qp_state to;
    bool holds = false;

    if (!expr_attach(a->s->lab, a->e, a->at, &a->s->diag) ||
        !expr_holds(&a->in, a->e, a->at, &holds, &a->s->diag))
        return false;
    if (holds) {
        why_not_say(a->w, "It holds.");
        why_not_is_so(a->w);
        return true;
    }
    if (!is_state(a, a->e, qp, &to)) /* what that is is told with it */
        say_terms(a);
    say_paths(a, a->e);
    return true;
}

static bool answer_event(struct ask *a, ev_id id, const struct past *past)
{
    char missing[256];
    struct text t = text_on(missing, sizeof(missing));

    if (why_not_packet(a->w, id) == RDL_OK)
        return true;
    past_add_not_there(&t, past, id);
    session_fail(a->s, a->at, "%s", missing);
    t = text_on(missing, sizeof(missing));
    past_add_absence(&t, past, id);
    return diag_remedy(&a->s->diag, "%s",
                       t.len ? missing : "\"show events last 20\" lists what has happened");
}

/* Answers "h1.id == ESTABLISHED", which compares an ID of rdma_cm with an event.  Returns false if
 * the question is another one.
 */
static bool answer_cm_event(struct ask *a)
{
    const struct expr *e = a->e;
    const struct enum_row *event;
    char path[SESSION_PATH_BYTES];

    if (e->kind != EXPR_COMPARE || e->op != CMP_EQ || e->a->kind != EXPR_PATH ||
        e->b->kind != EXPR_PATH)
        return false;
    event = enum_by_name(&enum_rdma_cm_event, e->b->text);
    resolve_path(&a->in, e->a->text, path);
    if (!event || !tree_is(a->s->lab, path, NODE_cm_id))
        return false;
    why_not_cm_id(a->w, path, event->value);
    return true;
}

/* Answers a question that is not about an event. */
static bool answer(struct ask *a)
{
    char path[SESSION_PATH_BYTES], cq[TREE_PATH_BYTES];
    struct rdl_value v;
    uint64_t n;
    size_t off;

    if (a->e->kind == EXPR_HAPPENS) {
        why_not_event(a->w, a->e->filter);
        return true;
    }
    if (a->e->kind != EXPR_PATH)
        return answer_cm_event(a) || answer_expression(a);
    resolve_path(&a->in, a->e->text, path);
    if (tree_completion(a->s->lab, path, cq, &n)) {
        why_not_completion(a->w, cq, n);
        return true;
    }
    if (rdl_inspect(a->s->lab, path, &v, &off) == RDL_OK && v.type == RDL_NODE)
        return answer_node(a, path, v);
    return answer_expression(a);
}

/* Fails because nothing has the name in @e; adds how to ask about an event.  Returns false. */
static bool say_event_of(struct session *s, const struct expr *e)
{
    const char *kind = e && e->kind == EXPR_PATH ? suggest_event(e->text) : NULL;

    if (kind)
        return diag_remedy(
            &s->diag, "of events: why not %s(host==h1)%s", kind,
            strcmp(kind, "tx") == 0 ? "; of a packet without an answer: why not #12.3" : "");
    return false;
}

bool why_not_run(struct session *s, const char *text, struct span at)
{
    const struct past past = past_of_lab(s->lab);
    struct ask a = {.s = s, .in = session_scope(s), .text = text, .at = at};
    struct pool pool = {NULL};
    ev_id id = 0;
    bool ok;

    if (text[0] && !ev_id_parse(text, &id)) {
        a.e = expr_parse(&pool, text, at, &s->diag);
        if (!a.e) {
            pool_free(&pool);
            return false;
        }
    }
    a.w = why_not_begin(s->config.out, s->lab, &past);
    if (text[0] == '\0') {
        why_not_anything(a.w);
        ok = true;
    } else {
        ok = a.e ? answer(&a) : answer_event(&a, id, &past);
    }
    if (ok)
        why_not_end(a.w);
    else
        why_not_drop(a.w);
    if (!ok && !id)
        (void)say_event_of(s, a.e);
    pool_free(&pool);
    return ok;
}
