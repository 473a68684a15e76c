/* SPDX-License-Identifier: MIT */
#include "cli/why/causes.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/lnd_state.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/timer.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/opcode.h"
#include "emu/past/fate.h"
#include "emu/trace/event.h"

#define ROUTINE_MAX 1000u   /* routine events between two others */
#define WHY_RUN_MAX 100000u /* causes of one run */

const struct ev *why_armed_by(const struct past *p, const struct ev *timeout,
                              unsigned *ret_extended)
{
    const struct ev *timer = past_find(p, timeout->cause);

    *ret_extended = 0;
    if (!timer || timer->kind != EV_timer)
        return NULL;
    for (;;) {
        const struct ev *before = past_find(p, timer->cause);

        if (!before || before->kind != EV_timer || before->id >= timer->id ||
            before->u.timer.qpn != timer->u.timer.qpn ||
            before->u.timer.timer != timer->u.timer.timer)
            return timer;
        timer = before;
        ++*ret_extended;
    }
}

/* Returns true if the request of completion @e failed because of a received response. */
static bool failed_on_return(const struct past *p, const struct ev *e)
{
    const struct ev *rx = past_find(p, e->cause);

    return rx && rx->kind == EV_rx && rx->u.rx.act == ACT_FAIL &&
           op_info((uint8_t)rx->u.rx.opcode)->kind != OPK_ACK;
}

const struct ev *why_refused_fetch(const struct past_index *x, const struct ev *cqe)
{
    const struct ev_cqe *c = &cqe->u.cqe;

    if (c->op >= WC_RECV ||
        (c->status != WCS_LOC_PROT_ERR && c->status != WCS_LOC_LEN_ERR &&
         c->status != WCS_LOC_QP_OP_ERR) ||
        failed_on_return(x->past, cqe))
        return NULL;
    return past_fetch_of(x, cqe);
}

const struct ev *why_stopped_by(const struct past_index *x, const struct ev *state)
{
    const struct ev *failed = past_failure_of(x, state);

    return failed && why_refused_fetch(x, failed) ? failed : NULL;
}

const struct ev *why_flushed_by(const struct past_index *x, const struct ev *cqe)
{
    if (cqe->u.cqe.status != WCS_WR_FLUSH_ERR)
        return NULL;
    return past_error_state(x, cqe->u.cqe.host, cqe->u.cqe.qpn, cqe->id);
}

const struct ev *why_forbidden_by(const struct past *p, const struct ev *e)
{
    const struct ev_centre_lookup *l = &e->u.centre_lookup;
    size_t i = past_lower_bound(p, e->id);

    while (l->forbidden && i > 0) {
        const struct ev *rule = past_at(p, --i);
        const struct ev_centre_rule *r = &rule->u.centre_rule;

        if (rule->kind == EV_centre_rule && ((r->group == l->group && r->other == l->other) ||
                                             (r->group == l->other && r->other == l->group)))
            return rule;
    }
    return NULL;
}

const struct ev *why_asked_first(const struct past *p, const struct ev *e, unsigned *ret_n)
{
    const struct ev *before = past_find(p, e->cause);

    *ret_n = 0;
    while (before && before->kind == EV_centre_lookup && before->id < e->id) {
        e = before;
        ++*ret_n;
        before = past_find(p, e->cause);
    }
    return e;
}

/* --- Runs ----------------------------------------------------------------------------------- */

struct why_run why_controls(const struct past *p, const struct ev *e)
{
    struct why_run ret = {.next = e};

    for (unsigned i = 0; i < WHY_RUN_MAX && ret.next; i++) {
        const enum ev_kind kind = ret.next->kind;

        if (kind == EV_ctrl_request) {
            ret.first = ret.next;
            ret.n++;
        } else if (kind != EV_kick && ev_is_for(kind, EV_FOR_WHY)) {
            break;
        }
        ret.next = past_find(p, ret.next->cause);
    }
    return ret;
}

/* Returns the last event before @e in which @host began a connection to @nid. */
static const struct ev *begun_before(const struct past *p, const struct ev *e, uint32_t host,
                                     const char *nid)
{
    for (size_t i = past_lower_bound(p, e->id); i > 0; i--) {
        const struct ev *before = past_at(p, i - 1);

        if (before->kind == EV_lnet_state && before->u.lnet_state.host == host &&
            before->u.lnet_state.state == LND_CONN_INIT &&
            strcmp(before->u.lnet_state.nid.s, nid) == 0)
            return before;
    }
    return NULL;
}

/* Returns the reject because of which a node began a connection in @begun.  Returns NULL if it was
 * for another reason.
 */
static const struct ev *reject_before(const struct past *p, const struct ev *begun)
{
    const struct ev *closing = past_find(p, begun->cause);
    const struct ev *e =
        closing && closing->kind == EV_lnet_state ? past_find(p, closing->cause) : NULL;

    return e && e->kind == EV_lnet_reject && e->u.lnet_reject.rejected ? e : NULL;
}

struct why_run why_rejects(const struct past *p, const struct ev *e)
{
    struct why_run ret = {.next = e};

    while (e && ret.n < WHY_RUN_MAX) {
        ret.first = e;
        ret.n++;
        ret.next = begun_before(p, e, e->u.lnet_reject.host, e->u.lnet_reject.nid.s);
        e = ret.next ? reject_before(p, ret.next) : NULL;
    }
    return ret;
}

/* Returns the CONNREQ or CONNACK of the connection with the queue pair @qpn of @host, if the last
 * that LNet did with this queue pair before @e was to send it.
 */
static const struct ev *offer_before(const struct past *p, const struct ev *e, uint32_t host,
                                     uint32_t qpn)
{
    for (size_t i = past_lower_bound(p, e->id); i > 0; i--) {
        const struct ev *before = past_at(p, i - 1);

        if (before->kind == EV_lnet_state && before->u.lnet_state.host == host &&
            before->u.lnet_state.qpn == qpn)
            return NULL;
        if (before->kind == EV_lnet_sent && before->u.lnet_sent.host == host &&
            before->u.lnet_sent.qpn == qpn)
            return before;
    }
    return NULL;
}

const struct ev *why_attempt_of(const struct past *p, const struct ev *sent)
{
    const struct ev_cm_sent *cm = &sent->u.cm_sent;
    const struct ev *offer;

    if (sent->kind != EV_cm_sent || cm->qpn == 0 ||
        (cm->message != CM_REQ && cm->message != CM_REP))
        return NULL;
    offer = offer_before(p, sent, cm->host, cm->qpn);
    if (!offer || (offer->u.lnet_sent.message != LNET_MSG_CONNREQ &&
                   offer->u.lnet_sent.message != LNET_MSG_CONNACK))
        return NULL;
    return begun_before(p, offer, cm->host, offer->u.lnet_sent.nid.s);
}

/* --- All causes of an event ------------------------------------------------------------------- */

/* The causes of an event that were found so far. */
struct cause_search {
    const struct past_index *x;
    const struct ev *of;
    struct why_cause *ret;
    size_t n;
};

static void add(struct cause_search *f, const struct ev *e, enum why_link link)
{
    const struct past *p = f->x->past;

    for (unsigned i = 0; e && !ev_is_for(e->kind, EV_FOR_WHY) && i < ROUTINE_MAX; i++)
        e = past_find(p, e->cause);
    if (!e || e == f->of || !ev_is_for(e->kind, EV_FOR_WHY))
        return;
    for (size_t i = 0; i < f->n; i++) {
        if (f->ret[i].e == e)
            return;
    }
    RDL_ASSERT(f->n < WHY_CAUSES_MAX);
    f->ret[f->n++] = (struct why_cause){e, link};
}

static void add_cause(struct cause_search *f)
{
    add(f, past_find(f->x->past, f->of->cause), WHY_CAUSED);
}

/* Adds the end of the frame that @tx sent, if that was before the event.  If the frame arrived, it
 * is the end of its answer.  If neither has ended, it is @tx.
 */
static void add_end(struct cause_search *f, const struct ev *tx)
{
    const struct fate request = fate_of(f->x, tx);
    struct fate answer = {.kind = FATE_UNKNOWN};

    if (request.kind == FATE_ARRIVED && request.answer)
        answer = fate_of(f->x, request.answer);
    if (answer.end && answer.kind != FATE_ARRIVED && answer.end->id < f->of->id)
        add(f, answer.end, WHY_MISSING);
    else if (request.end && request.end->id < f->of->id)
        add(f, request.end, WHY_MISSING);
    else
        add(f, tx, WHY_CAUSED);
}

/* Adds the sending of the frame that the event is about, and the faults that it met. */
static void add_sending(struct cause_search *f)
{
    const struct ev *e = f->of, *tx = past_tx_of(f->x->past, e);
    const struct ev *missed;

    if (!tx) {
        add_cause(f);
        return;
    }
    add(f, tx, WHY_PACKET);
    if (e->kind != EV_rx)
        return;
    add(f, fate_of(f->x, tx).fault, WHY_CAUSED);
    if (e->u.rx.act != ACT_NAK_SEQUENCE)
        return;
    missed = past_last_tx(f->x, tx->u.tx.host, tx->u.tx.qpn, (uint32_t)e->u.rx.least, e->id);
    if (missed)
        add_end(f, missed);
}

/* Adds the packet that was not answered, or what armed the timer. */
static void add_waiting(struct cause_search *f)
{
    const struct ev_timeout *t = &f->of->u.timeout;
    const struct ev *tx = NULL, *timer;
    unsigned n_extended;

    if (t->timer == TMR_ACK)
        tx = past_last_asked(f->x, t->host, t->qpn, t->psn, f->of->id);
    timer = why_armed_by(f->x->past, f->of, &n_extended);
    if (tx)
        add_end(f, tx);
    else if (timer)
        add(f, timer, WHY_CAUSED);
    else
        add_cause(f);
}

/* Adds the rule that forbids it, or what asked first. */
static void add_question(struct cause_search *f)
{
    const struct past *p = f->x->past;
    unsigned n;

    add(f, why_forbidden_by(p, f->of), WHY_CAUSED);
    if (f->n == 0)
        add(f, past_find(p, why_asked_first(p, f->of, &n)->cause), WHY_CAUSED);
}

size_t why_causes(const struct past_index *x, const struct ev *e,
                  struct why_cause ret[WHY_CAUSES_MAX])
{
    struct cause_search f = {.x = x, .of = e, .ret = ret};

    switch (e->kind) {
    case EV_rx:
    case EV_drop:
    case EV_lost:
    case EV_fault:
        add_sending(&f);
        break;
    case EV_timeout:
        add_waiting(&f);
        break;
    case EV_fetch:
        add(&f, past_post_of(x, e), WHY_POSTED);
        add_cause(&f);
        break;
    case EV_cqe:
        add(&f, why_flushed_by(x, e), WHY_CAUSED);
        if (f.n == 0)
            add(&f, why_refused_fetch(x, e), WHY_CAUSED);
        break;
    case EV_qp_state:
        add(&f, why_stopped_by(x, e), WHY_CAUSED);
        break;
    case EV_centre_lookup:
        add_question(&f);
        break;
    default:
        break;
    }
    if (f.n == 0)
        add_cause(&f);
    return f.n;
}
