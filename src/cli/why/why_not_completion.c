/* SPDX-License-Identifier: MIT */
/* `why not` for a missing completion.  It may be one of a send or of a receive, of any queue pair
 * that uses the completion queue.  Queue pairs with pending work are printed first.
 */
#include <string.h>

#include "cli/why/why_not_answer.h"
#include "emu/base/plural.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/opcode.h"
#include "emu/facts/wr.h"
#include "emu/trace/event.h"

#define QPS_TOLD_MAX 8u

enum work { WORK_SENDS, WORK_RECEIVES };

struct completion_search {
    struct why_not *w;
    const char *host, *cq;        /* names */
    bool idle;                    /* print queue pairs without pending work */
    size_t n_qps, n_told, n_left; /* queue pairs that use it, that are printed, that are omitted */
};

static const struct ev *last_packet(const struct why_not *w, const struct why_not_qp *q)
{
    for (size_t i = w->past->n; i > 0; i--) {
        const struct ev *e = past_at(w->past, i - 1);

        if (e->kind == EV_tx && e->u.tx.host == q->host && e->u.tx.qpn == q->qpn &&
            !op_is_response(op_info((uint8_t)e->u.tx.opcode)))
            return e;
    }
    return NULL;
}

/* Prints the last packet of the peer, which has no pending sends. */
static void say_last(struct why_not *w, const struct why_not_qp *peer)
{
    const struct ev *tx = last_packet(w, peer);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!tx) {
        why_not_say(w, "Its peer %s has no send under way%s.", peer->path,
                    why_not_forgot(w, 0) ? "" : ", and has sent nothing so far");
        return;
    }
    ev_add_id(&t, tx->id);
    text_addf(&t, " %s psn=%u, which ", enum_name(&enum_opcode, tx->u.tx.opcode), tx->u.tx.psn);
    fate_add(&t, w->index, tx);
    why_not_say(w, "Its peer %s has no send under way. The last that it sent%s was %s.", peer->path,
                why_not_forgot(w, tx->id) ? " and that is recorded" : "", buf);
}

/* Returns true if @q, which is unreliable, did not accept the last packet that was sent to it. */
static bool missed(const struct why_not *w, const struct why_not_qp *q)
{
    char path[TREE_PATH_BYTES];
    struct why_not_qp peer;
    const struct ev *tx;
    struct fate f;

    if (q->type != QPT_UC)
        return why_not_missed_datagrams(w, q);
    if (!why_not_peer(w, q, path) || !why_not_read_qp(w, path, &peer))
        return false;
    tx = last_packet(w, &peer);
    if (!tx)
        return false;
    f = fate_of(w->index, tx);
    return f.kind == FATE_LOST || f.kind == FATE_DROPPED ||
           (f.kind == FATE_ARRIVED && f.end->u.rx.act == ACT_DROP);
}

void why_not_message(struct why_not *w, const struct why_not_qp *q)
{
    char path[TREE_PATH_BYTES];
    const struct ev *silent;
    struct why_not_qp peer;

    if (qp_type_is_datagram(q->type)) {
        why_not_datagrams(w, q);
        return;
    }
    if (!why_not_peer(w, q, path) || !why_not_read_qp(w, path, &peer)) {
        why_not_say(w, "%s",
                    q->state >= QPS_RTR && q->state != QPS_ERR
                        ? "Its peer is none of this lab's queue pairs: what that does is "
                          "not known here."
                        : "It is not connected to a peer.");
        return;
    }
    silent = why_not_silent(w, q);
    if (silent) {
        why_not_say_silent(w, q, silent);
        return;
    }
    if (why_not_pending(&peer) == 0) {
        say_last(w, &peer);
        why_not_try(w, "post_send %s ..., then run", peer.path);
        return;
    }
    why_not_say(w, "Its peer has sends that are not complete. (A WRITE, READ or atomic takes no "
                   "receive.)");
    w->indent += 2;
    why_not_sends(w, &peer);
    w->indent -= 2;
}

/* Explains that no receive is posted, and what that means for a message. */
static void say_no_receive(struct why_not *w, const struct why_not_qp *q, const char *queue)
{
    why_not_say(w, "%s: no receive is posted%s%s. A message that takes one is %s.", q->path,
                strcmp(queue, q->path) == 0 ? "" : " to ", strcmp(queue, q->path) == 0 ? "" : queue,
                q->type == QPT_RC ? "answered with an RNR NAK" : "dropped");
    why_not_try_receive(w, queue);
}

/* Returns true if the peer has pending sends. */
static bool peer_sends(const struct why_not *w, const struct why_not_qp *q)
{
    char path[TREE_PATH_BYTES];
    struct why_not_qp peer;

    return why_not_peer(w, q, path) && why_not_read_qp(w, path, &peer) &&
           why_not_pending(&peer) > 0;
}

static void say_receives(struct why_not *w, const struct why_not_qp *q)
{
    char queue[TREE_PATH_BYTES];
    /* A receive that the device took for a datagram, and dropped the datagram, stays with it. */
    const bool taken = tree_number(w->lab, q->path, LEAF_qp_receiving) != 0;
    const bool receiving = taken && !qp_type_is_datagram(q->type);
    const uint64_t n = why_not_receives_posted(w, q->path, queue) + (taken && !receiving);
    const struct ev *silent = why_not_silent(w, q);
    const char *state = enum_name(&enum_qp_state, q->state);

    if (q->state == QPS_RESET || q->state == QPS_INIT) {
        why_not_say(w, "%s is in %s: packets for it are dropped before RTR.", q->path, state);
        why_not_try(w, "why not %s.state == RTR", q->path);
        return;
    }
    if (q->state == QPS_ERR) {
        why_not_say(w, "%s is in ERR: it takes no packets%s.", q->path,
                    strcmp(queue, q->path) == 0 ? ", and its receives complete with WR_FLUSH_ERR"
                                                : "");
        why_not_try(w, "why not %s.state == RTR", q->path);
        return;
    }
    if (receiving) {
        why_not_say(w, "%s: a message is arriving, and its last packet is not there.", q->path);
    } else if (n == 0 && silent) {
        why_not_say(w, "%s: no receive is posted.", queue);
    } else if (n == 0) {
        say_no_receive(w, q, queue);
        if (q->type == QPT_RC && !peer_sends(w, q))
            return;
    } else {
        why_not_say(w, "%s: %llu receive%s wait%s for a message.", queue, (unsigned long long)n,
                    plural_s(n), singular_s(n));
    }
    w->indent += 2;
    why_not_message(w, q);
    w->indent -= 2;
}

/* Returns true if @q has pending work that would complete into the queue. */
static bool waits(const struct why_not *w, const struct why_not_qp *q, enum work work)
{
    char queue[TREE_PATH_BYTES];

    if (work == WORK_SENDS)
        return why_not_pending(q) > 0;
    return why_not_receives_posted(w, q->path, queue) > 0 ||
           tree_number(w->lab, q->path, LEAF_qp_receiving) != 0 || peer_sends(w, q);
}

static bool is_text(const struct completion_search *a, const char *qp, enum leaf_id id)
{
    struct rdl_value v;

    return tree_leaf(a->w->lab, qp, id, &v) && strcmp(v.text, a->cq) == 0;
}

static void each_qp(void *ctx, const char *key, const struct rdl_value *v)
{
    struct completion_search *a = ctx;
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct why_not_qp q;
    bool sends, receives;

    if (!tree_value_is(v, NODE_qp))
        return;
    tree_join(&t, a->host, key);
    sends = is_text(a, path, LEAF_qp_send_cq);
    receives = is_text(a, path, LEAF_qp_recv_cq);
    if ((!sends && !receives) || !why_not_read_qp(a->w, path, &q))
        return;
    a->n_qps++;
    sends = sends && waits(a->w, &q, WORK_SENDS) != a->idle;
    receives = receives && waits(a->w, &q, WORK_RECEIVES) != a->idle;
    if (!sends && !receives)
        return;
    if (a->n_told >= QPS_TOLD_MAX) {
        a->n_left++;
        return;
    }
    a->n_told++;
    /* That nothing is sent in the other direction misleads. */
    if (sends && !(a->idle && receives && (why_not_silent(a->w, &q) || missed(a->w, &q))))
        why_not_sends(a->w, &q);
    if (receives)
        say_receives(a->w, &q);
}

static void say_qps(struct completion_search *a)
{
    size_t at;

    a->n_qps = 0;
    if (rdl_inspect_list(a->w->lab, a->host, each_qp, a, &at) != RDL_OK)
        a->n_qps = 0;
    if (a->n_left > 0)
        why_not_say(a->w, "And %zu more queue pair%s %s; \"why not %s.qp\", with its name, tells.",
                    a->n_left, plural_s(a->n_left),
                    a->idle ? (a->n_left == 1 ? "uses it" : "use it")
                            : (a->n_left == 1 ? "waits" : "wait"),
                    a->host);
}

/* Prints the completion, which does exist. */
static void say_there(struct why_not *w, const char *cq, uint64_t n)
{
    char host[RDL_NAME_BYTES], buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    const uint32_t cqn = (uint32_t)tree_number(w->lab, cq, LEAF_cq_cqn);
    uint32_t number;

    tree_host_of(cq, host);
    number = ev_names_find_host(w->past->names, host);
    w->never = true;
    for (size_t i = w->past->n; i > 0; i--) {
        const struct ev *e = past_at(w->past, i - 1);

        if (e->kind != EV_cqe || e->u.cqe.host != number || e->u.cqe.cqn != cqn || e->u.cqe.n != n)
            continue;
        ev_add_line(&t, e, w->past->names);
        why_not_say(w, "It is there:");
        show_wrap(w->out, 2, buf);
        why_not_try(w, "why %s.wc[%llu]", cq, (unsigned long long)n);
        return;
    }
    why_not_say(w,
                "It is there: %s has had %llu completions. The event is not recorded (any more).",
                cq, (unsigned long long)tree_number(w->lab, cq, LEAF_cq_count));
}

/* Prints how many completions the queue has had, and how many more are needed. */
static void say_missing(struct why_not *w, const char *cq, uint64_t n, uint64_t count)
{
    if (count == 0)
        why_not_say(w, "%s has had no completion yet%s.", cq,
                    n == 0 ? "; wc[0] will be the first" : "");
    else
        why_not_say(w, "%s has had %llu completion%s, up to wc[%llu]%s.", cq,
                    (unsigned long long)count, plural_s(count), (unsigned long long)count - 1,
                    n == count ? "; the one you ask for is next" : "");
    if (n > count)
        why_not_say(w, "Before wc[%llu] %llu other%s must come.", (unsigned long long)n,
                    (unsigned long long)(n - count), plural_s(n - count));
}

void why_not_completion(struct why_not *w, const char *cq, uint64_t n)
{
    const uint64_t count = tree_number(w->lab, cq, LEAF_cq_count);
    const uint64_t polled = tree_number(w->lab, cq, LEAF_cq_polled);
    char host[RDL_NAME_BYTES];
    struct completion_search a = {.w = w, .host = host};

    if (n < count)
        say_there(w, cq, n);
    else
        say_missing(w, cq, n, count);
    if (n >= polled && why_not_advise(w, cq, advice_armed))
        why_not_try(w, "poll_cq %s", cq);
    if (n < count)
        return;
    if (tree_number(w->lab, cq, LEAF_cq_error)) {
        w->never = true;
        why_not_say(w, "%s has overflowed: it delivers nothing any more.", cq);
        why_not_advise(w, cq, advice_cq_size);
        why_not_try(w, "why %s", cq);
        return;
    }
    if (count - polled >= tree_number(w->lab, cq, LEAF_cq_cqe)) {
        why_not_say(w,
                    "%s is full, with %llu completions that nobody has polled: one more "
                    "overflows it.",
                    cq, (unsigned long long)(count - polled));
        why_not_try(w, "poll_cq %s", cq);
    }
    tree_host_of(cq, host);
    a.cq = cq + strlen(host) + 1;
    say_qps(&a);
    a.idle = true;
    if (a.n_told == 0)
        say_qps(&a);
    if (a.n_qps == 0)
        why_not_say(w, "No queue pair completes its work into %s.", cq);
    if (why_not_forgot(w, 0))
        why_not_say_forgotten(w);
}

void why_not_qp(struct why_not *w, const char *path)
{
    char host[RDL_NAME_BYTES];
    struct why_not_qp q;

    if (!why_not_read_qp(w, path, &q)) {
        if (why_not_says_unread(w, path))
            return;
        tree_host_of(path, host);
        if (why_not_advise(w, host, advice_function_off))
            return;
        why_not_say(w, "The device has no %s yet: the driver still waits for it.", path);
        why_not_waits(w, "");
        return;
    }
    why_not_say(w, "%s is in %s.", path, enum_name(&enum_qp_state, q.state));
    why_not_sends(w, &q);
    say_receives(w, &q);
    why_not_advise(w, path, advice_unsignaled);
    why_not_advise(w, path, advice_rd_atomic);
}
