/* SPDX-License-Identifier: MIT */
/* `why not` for the sends of a queue pair.
 *
 * Sends complete in the order in which they were posted, so the oldest one delays all others.  The
 * tree has the number of pending sends.  They are the newest posts in the record.
 */
#include <string.h>

#include "cli/why/why_not_answer.h"
#include "emu/base/plural.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/roce.h"
#include "emu/facts/wr.h"
#include "emu/past/posted.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"

#define ATTEMPTS_TOLD 3u
#define ALL_DIGITS_NS                                                                              \
    1000000u /* times from here on are printed with all digits, so that they differ */

/* Posts of pending sends; NULL: not recorded. */
struct pending {
    const struct ev *oldest;    /* the oldest */
    const struct ev *signaled;  /* the oldest that will have a completion */
    const struct ev *unfetched; /* the oldest that the device has not fetched */
};

static bool is_post_of(const struct ev *e, const struct why_not_qp *q)
{
    return e->kind == EV_post_send && e->u.post_send.host == q->host &&
           e->u.post_send.qpn == q->qpn;
}

static struct pending find_pending(const struct why_not *w, const struct why_not_qp *q)
{
    struct pending p = {NULL, NULL, NULL};
    uint32_t n = 0;

    for (size_t i = w->past->n; i > 0 && n < why_not_pending(q); i--) {
        const struct ev *e = past_at(w->past, i - 1);

        if (!is_post_of(e, q) || why_not_forgot(w, e->id))
            continue;
        n++;
        if (q->sig_all || (e->u.post_send.flags & SF_SIGNALED))
            p.signaled = e;
        if (n == q->unfetched)
            p.unfetched = e;
        if (n == why_not_pending(q))
            p.oldest = e;
    }
    return p;
}

/* Returns the event that announced @post to the device: a kick, or the decision that no kick is
 * needed.
 */
static const struct ev *find_kick(const struct why_not *w, const struct why_not_qp *q,
                                  const struct ev *post)
{
    for (size_t i = past_lower_bound(w->past, post->id); i < w->past->n; i++) {
        const struct ev *e = past_at(w->past, i);

        if (posted_is_announced(e, q->host, q->queue))
            return e;
        if (e->kind == EV_no_kick && e->u.no_kick.host == q->host &&
            e->u.no_kick.queue == q->queue && e->u.no_kick.function == FN_RDMA)
            return e;
    }
    return NULL;
}

/* Reports a device that needs a reset because it found a broken ring.  Returns false if it needs
 * none.
 */
static bool say_needs_reset(struct why_not *w, const struct why_not_qp *q)
{
    char host[RDL_NAME_BYTES], device[TREE_PATH_BYTES];

    tree_host_of(q->path, host);
    if (!tree_child(w->lab, host, CHILD_host_device, device) ||
        !tree_number(w->lab, device, LEAF_device_needs_reset))
        return false;
    why_not_say(w, "The device found a corrupted ring and needs a reset: it fetches nothing more.");
    why_not_try(w, "show %s", device);
    return true;
}

/* Reports a device fault that affected @kick.  Returns false if there is none. */
static bool say_device_fault(struct why_not *w, const struct why_not_qp *q, const struct ev *kick)
{
    const struct ev *hit = past_queue_fault(w->past, q->host, q->queue, kick->id);
    const bool lost = hit && hit->u.device_fault.by == FLT_LOST_KICK;
    char id[64];
    struct text t = text_on(id, sizeof(id));

    if (!hit)
        return false;
    ev_add_id(&t, hit->id);
    if (lost) {
        why_not_say(w,
                    "The driver has kicked, but %s lost the kick in %s: the device was not told.",
                    hit->u.device_fault.name.s, id);
        why_not_try(w, "kick %s, then run", q->sq);
    } else {
        why_not_say(w, "Since %s the device takes nothing out of the queue: %s has stopped it.", id,
                    hit->u.device_fault.name.s);
        if (hit->u.device_fault.delay)
            why_not_try(w, "run");
        else
            why_not_try(w, "clear %s, then run", hit->u.device_fault.name.s);
    }
    return true;
}

/* Explains why the device has not fetched @post, the oldest unfetched send, in a state in which it
 * fetches.
 */
static void say_unfetched(struct why_not *w, const struct why_not_qp *q, const struct ev *post)
{
    const struct ev *kick = post ? find_kick(w, q, post) : NULL;
    char id[64], host[RDL_NAME_BYTES], router[TREE_PATH_BYTES];
    struct text t = text_on(id, sizeof(id));

    if (!post) {
        why_not_say(w, "The device has not fetched it. Whether it was told of it is not recorded "
                       "(any more).");
        why_not_try(w, "kick %s, then run", q->sq);
    } else if (!kick) {
        why_not_say(w, "The device has not fetched it, as nobody has told it that there is work: "
                       "there was no kick.");
        why_not_try(w, "kick %s, then run", q->sq);
    } else if (!say_device_fault(w, q, kick)) {
        ev_add_id(&t, kick->id);
        why_not_say(
            w, "The device was told of it in %s and has not fetched it yet: that takes time.", id);
        tree_host_of(q->path, host);
        if (tree_child(w->lab, host, CHILD_host_router, router))
            why_not_say(w, "It has to pass a router before: show %s.", router);
        why_not_try(w, "run");
    }
}

/* Reports a state in which no send is processed.  Returns false in other states. */
static bool say_state(struct why_not *w, const struct why_not_qp *q)
{
    const char *state = enum_name(&enum_qp_state, q->state);

    switch (q->state) {
    case QPS_RTS:
        return false;
    case QPS_SQD:
        why_not_say(w,
                    "%s is in SQD, where the device finishes what was sent and begins nothing "
                    "new.",
                    q->path);
        why_not_try(w, "modify_qp %s state=RTS, then run", q->path);
        return true;
    case QPS_SQE:
    case QPS_ERR:
        why_not_say(w, "%s is in %s: what is posted to it completes with WR_FLUSH_ERR.", q->path,
                    state);
        if (why_not_pending(q) > 0)
            why_not_try(w, "kick %s, then run", q->sq);
        else
            why_not_try(w, "why not %s.state == RTS", q->path);
        return true;
    default:
        why_not_say(w, "%s is in %s: the device sends nothing before RTS.", q->path, state);
        why_not_try(w, "why not %s.state == RTS", q->path);
        return true;
    }
}

static const struct ev *last_rnr(const struct why_not *w, const struct why_not_qp *q)
{
    for (size_t i = w->past->n; i > 0; i--) {
        const struct ev *e = past_at(w->past, i - 1);

        if (e->kind == EV_rx && e->u.rx.host == q->host && e->u.rx.qpn == q->qpn &&
            e->u.rx.act == ACT_WAIT_RNR)
            return e;
    }
    return NULL;
}

static void add_at(struct text *t, uint64_t ns)
{
    text_add(t, "t=");
    if (ns < ALL_DIGITS_NS)
        quantity_add_time_short(t, ns);
    else
        quantity_add_time(t, ns);
}

static void add_time(struct text *t, const struct why_not *w, const char *qp, enum leaf_id id)
{
    add_at(t, tree_number(w->lab, qp, id));
}

/* Appends how often @q repeats after an RNR NAK: "h1.qp repeats without end (rnr_retry=7)". */
static void add_repeats(struct text *t, const struct why_not *w, const struct why_not_qp *q)
{
    const uint64_t limit = tree_number(w->lab, q->path, LEAF_qp_rnr_retry);

    if (limit == RETRY_FOREVER)
        text_addf(t, "%s repeats without end (rnr_retry=%u)", q->path, RETRY_FOREVER);
    else
        text_addf(t, "%s repeats at most %llu times (rnr_retry=%llu)", q->path,
                  (unsigned long long)limit, (unsigned long long)limit);
}

/* Reports that @q waits because the peer had no receive. */
static void say_rnr(struct why_not *w, const struct why_not_qp *q)
{
    const uint64_t naks = tree_number(w->lab, q->path, LEAF_qp_rnr_retries);
    const struct ev *rx = last_rnr(w, q);
    char peer[TREE_PATH_BYTES], queue[TREE_PATH_BYTES], buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    const bool known = why_not_peer(w, q, peer);
    uint64_t n = 0;

    text_addf(&t, "%s had no receive posted, and said so: its RNR NAK", known ? peer : "The peer");
    if (rx) {
        text_add(&t, " arrived in ");
        ev_add_id(&t, rx->id);
        text_add(&t, why_not_forgot(w, rx->id) ? " or later" : "");
    } else {
        text_add(&t, " is not recorded (any more)");
    }
    text_addf(&t, ", number %llu; ", (unsigned long long)naks);
    add_repeats(&t, w, q);
    why_not_say(w, "%s.", buf);
    t = text_on(buf, sizeof(buf));
    add_time(&t, w, q->path, LEAF_qp_rnr_due);
    why_not_say(w, "%s sends again when its RNR timer runs out, at %s.", q->path, buf);
    if (known) {
        n = why_not_receives_posted(w, peer, queue);
        if (n > 0)
            why_not_say(w, "%s has %llu receive%s posted now.", queue, (unsigned long long)n,
                        plural_s(n));
        else
            why_not_say(w, "%s has no receive posted now either.", queue);
    }
    if (known && n == 0)
        why_not_try_receive(w, queue);
    else
        why_not_try(w, "run");
}

struct held_sends {
    struct why_not *w;
    const char *qp;
    size_t n;
};

/* Prints @w if READs or atomics hold back a request of held.qp. */
static void say_held(void *ctx, const struct rdl_wait *w)
{
    struct held_sends *h = ctx;

    if (!w->held_back || strcmp(w->path, h->qp) != 0)
        return;
    h->n++;
    why_not_say(h->w, "%s.", w->sentence);
}

/* Explains why no packet of the oldest request was sent. */
static void say_not_sent(struct why_not *w, const struct why_not_qp *q)
{
    struct held_sends held = {w, q->path, 0};
    const uint64_t ssn = tree_number(w->lab, q->path, LEAF_qp_ssn);
    const uint64_t limit = tree_number(w->lab, q->path, LEAF_qp_credit_ssn);

    if (say_state(w, q))
        return;
    rdl_waits(w->lab, say_held, &held);
    if (held.n == 0 && tree_number(w->lab, q->path, LEAF_qp_credits) && ssn >= limit)
        why_not_say(w,
                    "The device has fetched it and not sent it: with credits the peer has said "
                    "that it has receives up to message %llu, and that many were begun.",
                    (unsigned long long)limit);
    else if (held.n == 0)
        why_not_say(w, "The device has fetched it and not sent it yet: it waits for its turn.");
    why_not_try(w, "run");
}

/* Prints a transmission and its fate. */
static void say_attempt(struct why_not *w, const struct ev *tx, uint32_t psn)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_id(&t, tx->id);
    text_addf(&t, " %s psn=%u, the ", enum_name(&enum_opcode, tx->u.tx.opcode), tx->u.tx.psn);
    text_add_ordinal(&t, tx_attempt(tx));
    text_add(&t, " transmission, at ");
    add_at(&t, tx->at_ns);
    text_add(&t, ", ");
    fate_add_at(&t, w->index, tx, psn, WHY_NOT_END);
    why_not_say(w, "%s.", buf);
}

static void say_attempts(struct why_not *w, const struct why_not_qp *q, uint32_t psn)
{
    const struct ev *told[ATTEMPTS_TOLD], *tx;
    size_t n = 0;

    tx = past_last_asked(w->index, q->host, q->qpn, psn, WHY_NOT_END);
    if (!tx) {
        why_not_say(w, "It was sent, but what became of psn=%u is not recorded (any more).", psn);
        return;
    }
    for (; tx && n < ATTEMPTS_TOLD; n++) {
        told[n] = tx;
        if (tx_attempt(tx) == 1)
            tx = NULL;
        else
            tx = past_last_asked(w->index, q->host, q->qpn, psn, tx->id);
    }
    for (size_t i = n; i > 0; i--)
        say_attempt(w, told[i - 1], psn);
}

void why_not_timer(struct why_not *w, const struct why_not_qp *q)
{
    const uint64_t retries = tree_number(w->lab, q->path, LEAF_qp_retries);
    const uint64_t limit = tree_number(w->lab, q->path, LEAF_qp_retry_cnt);
    /* An RNR NAK is an answer, too: after some of them "no answer" may mislead. */
    const char *without = tree_number(w->lab, q->path, LEAF_qp_rnr_retries)
                              ? "If nothing comes back, not even an RNR NAK,"
                              : "Without an answer";
    char due[64];
    struct text t = text_on(due, sizeof(due));

    if (tree_number(w->lab, q->path, LEAF_qp_timer_due) == 0) {
        if (tree_number(w->lab, q->path, LEAF_qp_timeout) == 0)
            why_not_say(w, "The timeout of %s is 0, for never: it does not send again by itself.",
                        q->path);
        return;
    }
    add_time(&t, w, q->path, LEAF_qp_timer_due);
    if (retries < limit)
        why_not_say(w, "%s the ACK timer runs out at %s, and it is sent again: retry %llu of %llu.",
                    without, due, (unsigned long long)retries + 1, (unsigned long long)limit);
    else
        why_not_say(w,
                    "%s the ACK timer runs out at %s; as all %llu retries are used up, it fails "
                    "then with RETRY_EXC_ERR.",
                    without, due, (unsigned long long)limit);
}

/* Returns true if @q's oldest send takes a receive and its peer has none.  @ret_queue is then the
 * queue to post one to.
 */
static bool misses_receive(const struct why_not *w, const struct why_not_qp *q,
                           const struct pending *p, char ret_queue[TREE_PATH_BYTES])
{
    char peer[TREE_PATH_BYTES];
    struct why_not_qp r;

    return p->oldest && wr_takes_receive(p->oldest->u.post_send.op) && why_not_peer(w, q, peer) &&
           why_not_read_qp(w, peer, &r) && !tree_number(w->lab, peer, LEAF_qp_receiving) &&
           tree_number(w->lab, peer, LEAF_qp_rq_psn) ==
               tree_number(w->lab, q->path, LEAF_qp_acked_psn) &&
           why_not_receives_posted(w, peer, ret_queue) == 0;
}

/* Reports that @q is sending again after RNR NAKs. */
static void say_rnr_again(struct why_not *w, const struct why_not_qp *q)
{
    const uint64_t naks = tree_number(w->lab, q->path, LEAF_qp_rnr_retries);
    char peer[TREE_PATH_BYTES], buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (naks == 0)
        return;
    text_addf(&t, "%s had no receive posted, %llu time%s so far; ",
              why_not_peer(w, q, peer) ? peer : "The peer", (unsigned long long)naks,
              plural_s(naks));
    add_repeats(&t, w, q);
    why_not_say(w, "%s.", buf);
}

/* Explains packets that were sent and not answered. */
static void say_unanswered(struct why_not *w, const struct why_not_qp *q, const struct pending *p)
{
    const uint32_t psn = (uint32_t)tree_number(w->lab, q->path, LEAF_qp_acked_psn);
    const uint64_t n = tree_number(w->lab, q->path, LEAF_qp_outstanding_pkts);
    struct held_sends held = {w, q->path, 0};
    char peer[TREE_PATH_BYTES], queue[TREE_PATH_BYTES];

    say_rnr_again(w, q);
    if (why_not_peer(w, q, peer))
        why_not_say(w, "It was sent, and %s waits for the answer of %s to psn=%u.", q->path, peer,
                    psn);
    else
        why_not_say(w, "It was sent, and %s waits for the answer to psn=%u.", q->path, psn);
    w->indent += 2;
    say_attempts(w, q, psn);
    w->indent -= 2;
    if (n > 1)
        why_not_say(w, "%llu packet%s more behind it %s not acknowledged either.",
                    (unsigned long long)n - 1, plural_s(n - 1), n == 2 ? "is" : "are");
    why_not_timer(w, q);
    rdl_waits(w->lab, say_held, &held);
    if (misses_receive(w, q, p, queue))
        why_not_try_receive(w, queue);
    if (rdl_next_ns(w->lab) != RDL_NEVER)
        why_not_try(w, "run");
}

/* Prints which sends are pending, and whether they will have completions. */
static void say_pending(struct why_not *w, const struct why_not_qp *q, const struct pending *p)
{
    const uint32_t n = why_not_pending(q);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (n == 1)
        text_addf(&t, "%s: one send is not complete", q->path);
    else
        text_addf(&t, "%s: %u sends are not complete, the oldest", q->path, n);
    if (p->oldest) {
        text_add(&t, n == 1 ? ", " : " is ");
        why_not_add_post(&t, p->oldest);
        text_add(&t, ".");
    } else {
        text_add(&t, n == 1 ? ". Its posting is not recorded (any more)."
                            : " of which is not recorded (any more).");
    }
    why_not_say(w, "%s", buf);
    t = text_on(buf, sizeof(buf));
    if (p->oldest && !p->signaled) {
        why_not_say(w, "%s `signaled`: when %s, no completion is written.",
                    n == 1 ? "It is not" : "None of them is",
                    n == 1 ? "it succeeds" : "they succeed");
    } else if (p->oldest && p->signaled != p->oldest) {
        why_not_add_post(&t, p->signaled);
        why_not_say(w, "The first of them that is `signaled`, and so writes a completion, is %s.",
                    buf);
    }
}

/* Explains sends that the device has not fetched in addition to those it has. */
static void say_behind(struct why_not *w, const struct why_not_qp *q, const struct pending *p)
{
    if (q->unfetched == 0 || q->outstanding == 0 || !p->unfetched || find_kick(w, q, p->unfetched))
        return;
    why_not_say(w,
                "Behind what the device has fetched %u more %s posted, and nobody has told it: "
                "there was no kick.",
                q->unfetched, q->unfetched == 1 ? "is" : "are");
    why_not_try(w, "kick %s, then run", q->sq);
}

/* End of a posted send; NULL: it did not happen. */
struct send_end {
    const struct ev *used; /* the device returned its descriptor */
    const struct ev *cqe;  /* the completion, written directly after that */
    const struct ev *lost; /* otherwise: it was discarded with its queue */
    /* Otherwise: the adapter has completed it, and a router passes the completion on. */
    const struct ev *passed;
};

static struct send_end end_of(const struct why_not *w, const struct why_not_qp *q,
                              const struct ev *post)
{
    struct send_end end = {.used = NULL};
    struct posted send = {.e = NULL};

    (void)posted_read(post, &send);
    for (size_t i = past_lower_bound(w->past, post->id); i < w->past->n; i++) {
        const struct ev *e = past_at(w->past, i);

        if (end.used && (ev_tick(e->id) != ev_tick(end.used->id) || posted_frees_any(&send, e)))
            break;
        if (posted_frees(&send, e)) {
            end.used = e;
        } else if (!end.used && e->kind == EV_qp_state && e->u.qp_state.host == q->host &&
                   e->u.qp_state.qpn == q->qpn && e->u.qp_state.to == QPS_RESET) {
            end.lost = e;
            break;
        }
        if (e->kind == EV_router_completion && e->u.router_completion.host == q->host &&
            e->u.router_completion.qpn == q->qpn && e->u.router_completion.wr_id == send.wr_id)
            end.passed = e;
        if (end.used && posted_completes(&send, e)) {
            end.cqe = e;
            break;
        }
    }
    return end;
}

/* Prints how @post, the last send of @q, ended. */
static void say_end(struct why_not *w, const struct why_not_qp *q, const struct ev *post)
{
    const struct send_end end = end_of(w, q, post);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    why_not_add_post(&t, post);
    if (end.cqe) {
        text_add(&t, ", was the last send; it is complete since ");
        ev_add_id(&t, end.cqe->id);
        if (end.cqe->u.cqe.status != WCS_SUCCESS)
            text_addf(&t, ", with %s", enum_name(&enum_wc_status, end.cqe->u.cqe.status));
    } else if (end.used && (q->sig_all || (post->u.post_send.flags & SF_SIGNALED))) {
        text_add(&t, ", was the last send; it is done since ");
        ev_add_id(&t, end.used->id);
        text_add(&t, ", but its completion was not written: the completion queue failed");
    } else if (end.used) {
        text_add(&t, ", was the last send; it is done, but it was not posted `signaled`, so that "
                     "its success writes no completion");
    } else if (end.lost) {
        text_add(&t, ", was forgotten when the queue pair moved to RESET in ");
        ev_add_id(&t, end.lost->id);
    } else if (end.passed) {
        text_add(&t, ", is done; its completion passes the router of ");
        ev_names_host(w->past->names, &t, end.passed->u.router_completion.peer);
        text_add(&t, " since ");
        ev_add_id(&t, end.passed->id);
    } else {
        text_add(&t, ", was the last send; its queue was taken away before it was done");
    }
    why_not_say(w, "%s: %s.", q->path, buf);
}

/* Returns the last recorded post of @q, or NULL. */
static const struct ev *last_post(const struct why_not *w, const struct why_not_qp *q)
{
    for (size_t i = w->past->n; i > 0; i--) {
        if (is_post_of(past_at(w->past, i - 1), q))
            return past_at(w->past, i - 1);
    }
    return NULL;
}

/* Reports that no send is pending. */
static void say_done(struct why_not *w, const struct why_not_qp *q)
{
    const struct ev *last = last_post(w, q);

    if (!last || why_not_forgot(w, last->id))
        why_not_say(w, "%s: no send is posted%s.", q->path,
                    why_not_forgot(w, 0) ? " that is not done" : "");
    else
        say_end(w, q, last);
    if (q->state != QPS_RTS)
        (void)say_state(w, q);
    else
        why_not_try(w, "post_send %s ... signaled, then run", q->path);
}

const struct ev *why_not_silent(const struct why_not *w, const struct why_not_qp *q)
{
    const struct ev *post, *own = last_post(w, q);
    char path[TREE_PATH_BYTES];
    struct why_not_qp peer;
    struct send_end end;

    if (!why_not_peer(w, q, path) || !why_not_read_qp(w, path, &peer) || why_not_pending(&peer) > 0)
        return NULL;
    post = last_post(w, &peer);
    if (!post || why_not_forgot(w, post->id) || wr_takes_receive(post->u.post_send.op) ||
        !wr_info(post->u.post_send.op) || wr_info(post->u.post_send.op)->local ||
        (own && own->id > post->id))
        return NULL;
    end = end_of(w, &peer, post);
    return end.used && (!end.cqe || end.cqe->u.cqe.status == WCS_SUCCESS) ? post : NULL;
}

void why_not_say_silent(struct why_not *w, const struct why_not_qp *q, const struct ev *post)
{
    const char *op = enum_name(&enum_wr_opcode, post->u.post_send.op);
    char peer[TREE_PATH_BYTES], queue[TREE_PATH_BYTES], id[64], receive[SHOW_LINE_BYTES] = "";
    struct text t = text_on(id, sizeof(id));

    (void)why_not_peer(w, q, peer);
    ev_add_id(&t, post->id);
    why_not_say(w,
                "The %s of %s (%s) was carried out. It takes no receive and gives its target no "
                "completion.",
                op, peer, id);
    if (post->u.post_send.op != WR_RDMA_WRITE)
        return;
    why_not_say(w, "To tell the target: op=rdma_write_with_imm with a posted receive, or a SEND "
                   "behind the WRITE.");
    if (w->for_program)
        return; /* it takes no commands */
    if (why_not_receives_posted(w, q->path, queue) == 0) {
        struct text r = text_on(receive, sizeof(receive));

        why_not_add_receive(&r, w, queue);
        text_add(&r, "; ");
    }
    why_not_try(w, "%spost_send %s op=rdma_write_with_imm imm=1 sge=... remote=..., then run",
                receive, peer);
}

void why_not_sends(struct why_not *w, const struct why_not_qp *q)
{
    const struct pending p = find_pending(w, q);

    if (why_not_pending(q) == 0) {
        say_done(w, q);
        return;
    }
    say_pending(w, q, &p);
    w->indent += 2;
    if (q->outstanding == 0) {
        if (!say_needs_reset(w, q) && !say_state(w, q))
            say_unfetched(w, q, p.unfetched);
    } else if (tree_number(w->lab, q->path, LEAF_qp_rnr_wait)) {
        say_rnr(w, q);
    } else if (tree_number(w->lab, q->path, LEAF_qp_outstanding_pkts) == 0) {
        say_not_sent(w, q);
    } else {
        say_unanswered(w, q, &p);
    }
    say_behind(w, q, &p);
    w->indent -= 2;
    if (p.oldest && !p.signaled)
        why_not_try(w, "post_send %s ... signaled, for one that writes a completion", q->path);
}
