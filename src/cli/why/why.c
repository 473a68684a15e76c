/* SPDX-License-Identifier: MIT */
/* Each kind of event that matters to the user has a tell function.  It prints a line and returns
 * the next event of the chain.  It may combine several events, such as the arrival of a packet, its
 * sending, and the cause of that.  Events of other kinds are skipped.
 */
#include "cli/why/why.h"

#include <string.h>

#include "cli/why/causes.h"
#include "cli/why/failure.h"
#include "cli/why/fate_text.h"
#include "cli/why/work_text.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/timer.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/facts/rules.h"
#include "emu/past/past_lnet.h"
#include "emu/past/posted.h"
#include "emu/trace/event.h"
#include "print/show_text.h"

#define STEPS_MAX     24u /* lines of a chain; the last says how to continue */
#define TIMEOUTS_TOLD 2u  /* consecutive timeouts that are printed; others are counted */
#define TIMEOUTS_MAX  64u
#define INDENT_NOTE   10u
#define UNHEARD_TOLD  4u      /* ACKs that a later ACK replaced */
#define HOPS_MAX      100000u /* causes followed, printed or skipped */

struct why_walk {
    FILE *out;
    const struct past *p;
    const struct past_index *index;  /* of @p */
    const struct ev *asked;          /* event to explain */
    const struct why_places *places; /* NULL: none */
    unsigned timeouts;               /* consecutive ones printed */
    unsigned rnr_rounds;             /* consecutive ones printed */
    const struct ev *missed;         /* last transmission reported as missing */
};

/* Prints "  because of #12.3, which was not recorded". */
static void print_unknown(const struct why_walk *w, const char *what, ev_id id)
{
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_id(&t, id);
    fprintf(w->out, "  %s %s, which %s\n", what, buf,
            past_in_gap(w->p, id) ? "was not recorded" : "the recorder has forgotten");
}

/* Returns the cause of @e.  Returns NULL at the end of the chain. */
static const struct ev *cause_of(const struct why_walk *w, const struct ev *e)
{
    const struct ev *cause = past_find(w->p, e->cause);

    if (!cause && e->cause)
        print_unknown(w, "because of", e->cause);
    return cause;
}

/* Prints "  because #39.1 ACK psn=100 arrived   (note)".  A long note gets lines of its own. */
static void say(const struct why_walk *w, const struct ev *e, const char *what, const char *note)
{
    char lead[64], buf[2 * SHOW_LINE_BYTES];
    struct text l = text_on(lead, sizeof(lead)), t = text_on(buf, sizeof(buf));
    bool fits;

    if (e == w->asked) {
        text_add(&l, "  that is, ");
    } else {
        text_add(&l, "  because ");
        ev_add_id(&l, e->id);
        text_add(&l, " ");
    }
    text_add(&t, what);
    fits = l.len + t.len + strlen(note) + 5 <= show_columns(w->out);
    if (note[0] && fits)
        text_addf(&t, "   (%s)", note);
    show_wrap_behind(w->out, lead, INDENT_NOTE, buf);
    if (note[0] && !fits)
        show_wrap(w->out, INDENT_NOTE, note);
}

static void add_qp(const struct why_walk *w, struct text *t, uint32_t host, uint32_t qpn)
{
    ev_names_object(w->p->names, t, host, OBJ_QP, qpn);
}

static void say_noted(const struct why_walk *w, const struct ev *e, const char *note)
{
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%s: ", ev_schema(e->kind)->name);
    past_add_text(&t, w->p, e);
    say(w, e, buf, note);
}

static void say_plain(const struct why_walk *w, const struct ev *e)
{
    say_noted(w, e, "");
}

static const struct ev *print_plain(struct why_walk *w, const struct ev *e)
{
    say_plain(w, e);
    return cause_of(w, e);
}

/* Appends "duplicate, acknowledged again, expected psn=7, found psn=1; explain RESP_PSN". */
static void add_verdict(struct text *t, const struct ev *e)
{
    const struct enum_row *act = enum_by_value(&enum_pkt_act, e->u.rx.act);

    text_add(t, act ? act->text : "?");
    ev_add_compared(t, e, true);
    if (e->u.rx.rule)
        text_addf(t, "; explain %s", enum_name(&enum_rule, e->u.rx.rule));
}

/* Appends the fate of the packet of a queue pair that its peer was missing at event @when:
 * "psn=101, #35.1, was lost in #36.1, by f1".  Appends nothing if that packet was the last one
 * reported.
 */
static void add_missed(struct why_walk *w, struct text *n, uint32_t host, uint32_t qpn,
                       uint32_t psn, ev_id when)
{
    const struct ev *missed = past_last_tx(w->index, host, qpn, psn, when);

    if (!missed || missed == w->missed)
        return;
    w->missed = missed;
    text_addf(n, "%spsn=%u, ", n->len ? "; " : "", psn);
    ev_add_id(n, missed->id);
    text_add(n, ", ");
    fate_add_at(n, w->index, missed, psn, when);
}

/* Appends the reason why answer @e, sent by @tx, makes the requester retransmit: the fate of the
 * packet that a sequence NAK asks for, or of the response that an implied NAK misses.
 */
static void add_reason(struct why_walk *w, struct text *n, const struct ev *e, const struct ev *tx)
{
    if (e->u.rx.rule == RULE_COMP_IMPLIED_NAK) {
        if (fate_add_missing(n, w->index, e))
            text_add(n, "; ");
        text_addf(n, "an implied NAK, explain %s", enum_name(&enum_rule, e->u.rx.rule));
        return;
    }
    add_missed(w, n, e->u.rx.host, e->u.rx.qpn, e->u.rx.psn, tx->id);
}

/* Prints the key that was refused when the responder tried to send a response and sent the NAK @tx
 * instead.  The key was valid when the request arrived.
 */
static void show_lost_key(const struct why_walk *w, const struct ev *tx)
{
    const struct ev *key = past_refused_key(w->index, tx->u.tx.host, tx->u.tx.qpn, tx->id, true);

    if (key && ev_tick(tx->cause) != ev_tick(tx->id))
        show_detail(w->out, w->p, key);
}

/* Appends the fate of earlier ACKs that had not arrived before @e, the arrival of the ACK @tx,
 * which covers their PSNs too.
 */
static void add_unheard(const struct why_walk *w, struct text *n, const struct ev *e,
                        const struct ev *tx)
{
    unsigned told = 0;

    for (uint32_t i = past_before(w->index, tx); i != PAST_NONE && told < UNHEARD_TOLD;
         i = w->index->before[i]) {
        const struct ev *ack = past_at(w->p, i);
        const struct fate f = fate_of(w->index, ack);

        if (ack->u.tx.syndrome != SYN_ACK ||
            psn_diff((struct psn){ack->u.tx.psn}, (struct psn){tx->u.tx.psn}) >= 0 ||
            (f.kind == FATE_ARRIVED && f.end->id < e->id))
            return;
        text_addf(n, "%spsn=%u, too: ", told++ ? "; " : "it covers ", ack->u.tx.psn);
        fate_add_answer(n, w->index, ack, e->id);
    }
}

/* Prints an answer: its sender, and for a NAK the fate of the missing packet. */
static void print_answer(struct why_walk *w, const struct ev *e, const struct ev *tx)
{
    const bool acknowledge = op_info((uint8_t)e->u.rx.opcode)->kind == OPK_ACK;
    char what[SHOW_LINE_BYTES], note[SHOW_LINE_BYTES];
    struct text t = text_on(what, sizeof(what)), n = text_on(note, sizeof(note));

    text_addf(&t, "%s psn=%u arrived at ",
              acknowledge ? enum_name(&enum_syndrome, e->u.rx.syndrome)
                          : enum_name(&enum_opcode, e->u.rx.opcode),
              e->u.rx.psn);
    add_qp(w, &t, e->u.rx.host, e->u.rx.qpn);
    if (tx) {
        text_add(&t, ", sent by ");
        add_qp(w, &t, tx->u.tx.host, tx->u.tx.qpn);
        text_add(&t, " in ");
        ev_add_id(&t, tx->id);
        fate_add_faults(&t, w->index, tx);
    }
    if (tx && e->u.rx.act == ACT_GO_BACK)
        add_reason(w, &n, e, tx);
    else if (e->u.rx.act == ACT_DROP)
        add_verdict(&n, e);
    else if (tx && e->u.rx.syndrome == SYN_ACK)
        add_unheard(w, &n, e, tx);
    say(w, e, what, note);
    if (tx && e->u.rx.syndrome == SYN_NAK_REMOTE_ACCESS)
        show_lost_key(w, tx);
}

/* Prints the old and new value of the atomic request @e, which was accepted. */
static void show_atomic(const struct why_walk *w, const struct ev *e)
{
    for (size_t i = past_lower_bound(w->p, e->id); i < w->p->n; i++) {
        const struct ev *at = past_at(w->p, i);

        if (ev_tick(at->id) != ev_tick(e->id))
            return;
        if (at->kind == EV_atomic && at->u.atomic.host == e->u.rx.host &&
            at->u.atomic.qpn == e->u.rx.qpn)
            show_detail(w->out, w->p, at);
    }
}

/* Prints the event that invalidated the key that @refused names: an invalidation by a work request
 * or a message, or a new bind of its window.
 */
static void show_end_of_key(const struct why_walk *w, const struct ev *refused)
{
    const struct ev_key *k = &refused->u.key;

    if (k->rule != RULE_KEY_FREE && k->rule != RULE_MR_KEY)
        return;
    for (size_t i = past_lower_bound(w->p, refused->id); i > 0; i--) {
        const struct ev *e = past_at(w->p, i - 1);

        if ((e->kind == EV_invalidate && e->u.invalidate.host == k->host &&
             e->u.invalidate.key == k->key && e->u.invalidate.rule == RULE_NONE) ||
            (e->kind == EV_bind && e->u.bind.host == k->host && e->u.bind.key == k->key &&
             e->u.bind.rule == RULE_NONE)) {
            show_detail(w->out, w->p, e);
            return;
        }
    }
}

/* Prints a request: the number of its transmission, and the decision of the responder. */
static void print_request(struct why_walk *w, const struct ev *e, const struct ev *tx)
{
    char what[SHOW_LINE_BYTES], note[SHOW_LINE_BYTES];
    struct text t = text_on(what, sizeof(what)), n = text_on(note, sizeof(note));
    const struct ev *key;

    if (tx && work_of_packet(w->index, tx)) {
        work_add_of_packet(&t, w->index, tx);
        text_addf(&t, " (psn=%u) arrived at ", e->u.rx.psn);
    } else {
        text_addf(&t, "psn=%u arrived at ", e->u.rx.psn);
    }
    add_qp(w, &t, e->u.rx.host, e->u.rx.qpn);
    if (tx) {
        text_add(&t, ", the ");
        text_add_ordinal(&t, tx_attempt(tx));
        text_add(&t, " transmission ");
        ev_add_id(&t, tx->id);
        fate_add_faults(&t, w->index, tx);
    }
    if (e->u.rx.act != ACT_ACCEPT)
        add_verdict(&n, e);
    if (tx && e->u.rx.act == ACT_NAK_SEQUENCE)
        add_missed(w, &n, tx->u.tx.host, tx->u.tx.qpn, (uint32_t)e->u.rx.least, e->id);
    say(w, e, what, note);
    key = past_refused_key(w->index, e->u.rx.host, e->u.rx.qpn, e->id, true);
    if (key) {
        show_detail(w->out, w->p, key);
        show_end_of_key(w, key);
        if (key->u.key.key == 0 && key->u.key.rule == RULE_MR_KEY)
            show_wrap(w->out, INDENT_NOTE,
                      "rkey 0: the region allows no remote access, see access= of reg_mr");
    }
    if (e->u.rx.rule == RULE_RESP_OPCODE && op_is_placement(op_info((uint8_t)e->u.rx.opcode)))
        show_wrap(
            w->out, INDENT_NOTE,
            "its device does not have FLUSH and ATOMIC WRITE, the memory placement extensions: "
            "explain PLACEMENT_OFFERED");
    if (e->u.rx.act == ACT_ACCEPT)
        show_atomic(w, e);
}

static const struct ev *print_rx(struct why_walk *w, const struct ev *e)
{
    const struct ev *tx = past_tx_of(w->p, e);

    if (e->u.rx.syndrome != SYN_NONE || op_is_response(op_info((uint8_t)e->u.rx.opcode)))
        print_answer(w, e, tx);
    else
        print_request(w, e, tx);
    if (!tx) {
        if (e->u.rx.tx)
            print_unknown(w, "        it was sent in", e->u.rx.tx);
        else
            fprintf(w->out, "          it was not sent in this lab\n");
        return NULL;
    }
    return cause_of(w, tx);
}

/* Skips consecutive timeouts, beginning with @e, and prints one line about them.  Returns the cause
 * of the first.
 */
static const struct ev *skip_timeouts(struct why_walk *w, const struct ev *e)
{
    const struct ev *first = e, *next = e;
    unsigned n = 0;

    while (next && next->kind == EV_timeout && n < TIMEOUTS_MAX) {
        const struct ev *tx;

        first = next;
        n++;
        tx = past_last_asked(w->index, next->u.timeout.host, next->u.timeout.qpn,
                             next->u.timeout.psn, next->id);
        next = tx ? past_find(w->p, tx->cause) : NULL;
    }
    if (n == 1)
        say(w, first, "an earlier timeout", "");
    else
        fprintf(w->out, "  because of %u earlier timeouts, the first #%llu.%u\n", n,
                (unsigned long long)ev_tick(first->id), ev_row(first->id));
    return next;
}

/* Returns the RNR NAK whose arrival armed RNR timer @e.  Returns NULL if it is not known. */
static const struct ev *rnr_nak_before(const struct why_walk *w, const struct ev *e)
{
    const struct ev *timer = past_find(w->p, e->cause);
    const struct ev *nak = timer ? past_find(w->p, timer->cause) : NULL;

    return nak && nak->kind == EV_rx ? nak : NULL;
}

/* Returns the expiry of the RNR timer that retransmitted the packet which @nak refuses.  Returns
 * NULL if the packet was sent for another reason.
 */
static const struct ev *rnr_timeout_before(const struct why_walk *w, const struct ev *nak)
{
    const struct ev *answer = past_tx_of(w->p, nak);
    const struct ev *request = answer ? past_find(w->p, answer->cause) : NULL;
    const struct ev *tx = request && request->kind == EV_rx ? past_tx_of(w->p, request) : NULL;
    const struct ev *cause = tx ? past_find(w->p, tx->cause) : NULL;

    return cause && cause->kind == EV_timeout && cause->u.timeout.timer == TMR_RNR ? cause : NULL;
}

/* Skips consecutive rounds of RNR NAK, wait and retransmission, beginning with @e, the expiry of an
 * RNR timer.  Prints one line about them.  Returns the first RNR NAK that is known.
 */
static const struct ev *skip_rnr_rounds(const struct why_walk *w, const struct ev *e)
{
    const struct ev *first = e, *nak = rnr_nak_before(w, e);
    unsigned n = 1;

    while (nak && n < HOPS_MAX) {
        const struct ev *before = rnr_timeout_before(w, nak);

        if (!before)
            break;
        n++;
        first = before;
        nak = rnr_nak_before(w, before);
    }
    fprintf(w->out, "  because of %u such wait%s before, the first until #%llu.%u\n", n,
            plural_s(n), (unsigned long long)ev_tick(first->id), ev_row(first->id));
    return nak;
}

static const struct ev *print_timeout(struct why_walk *w, const struct ev *e)
{
    const bool ack = e->u.timeout.timer == TMR_ACK;
    unsigned n_extended;
    const struct ev *timer = why_armed_by(w->p, e, &n_extended), *tx = NULL;
    char what[SHOW_LINE_BYTES], note[SHOW_LINE_BYTES];
    struct text t = text_on(what, sizeof(what)), n = text_on(note, sizeof(note));

    if (ack && w->timeouts++ >= TIMEOUTS_TOLD)
        return skip_timeouts(w, e);
    if (!ack && w->rnr_rounds++ >= TIMEOUTS_TOLD)
        return skip_rnr_rounds(w, e);
    add_qp(w, &t, e->u.timeout.host, e->u.timeout.qpn);
    text_addf(&t, "'s %s", ack ? "ack timeout" : "RNR timer");
    if (timer) {
        text_add(&t, " armed in ");
        ev_add_id(&t, timer->id);
    }
    text_add(&t, " ran out");
    if (timer && e->at_ns > timer->at_ns) {
        text_add(&t, " after ");
        quantity_add_time_short(&t, e->at_ns - timer->at_ns);
    }
    if (n_extended)
        text_addf(&t, ", extended %u time%s because the lab was late", n_extended,
                  plural_s(n_extended));
    if (ack)
        tx =
            past_last_asked(w->index, e->u.timeout.host, e->u.timeout.qpn, e->u.timeout.psn, e->id);
    if (tx) {
        text_add(&n, "the ");
        text_add_ordinal(&n, tx_attempt(tx));
        text_add(&n, " transmission ");
        ev_add_id(&n, tx->id);
        text_add(&n, " ");
        fate_add_at(&n, w->index, tx, e->u.timeout.psn, e->id);
    }
    say(w, e, what, note);
    /* Continue with the retransmitted packet, not with what armed the timer last. */
    if (tx)
        return cause_of(w, tx);
    return timer ? cause_of(w, timer) : cause_of(w, e);
}

/* Returns true if the driver found, between @post and @fetch, that the queue needs no kick. */
static bool needed_no_kick(const struct why_walk *w, const struct ev *post, const struct ev *fetch)
{
    for (size_t i = past_lower_bound(w->p, post->id); i < w->p->n; i++) {
        const struct ev *e = past_at(w->p, i);

        if (e->id >= fetch->id)
            return false;
        if (e->kind == EV_no_kick && e->u.no_kick.host == fetch->u.fetch.host &&
            e->u.no_kick.function == FN_RDMA && e->u.no_kick.queue == fetch->u.fetch.queue)
            return true;
    }
    return false;
}

/* Returns the last kick of the queue that a fault lost between @post and @fetch.  Returns NULL if
 * there is none.
 */
static const struct ev *lost_kick(const struct why_walk *w, const struct ev *post,
                                  const struct ev *fetch)
{
    const struct ev *found = NULL;

    for (size_t i = past_lower_bound(w->p, post->id); i < w->p->n; i++) {
        const struct ev *e = past_at(w->p, i);

        if (e->id >= fetch->id)
            break;
        if (e->kind == EV_device_fault && e->u.device_fault.by == FLT_LOST_KICK &&
            e->u.device_fault.function == FN_RDMA &&
            e->u.device_fault.host == fetch->u.fetch.host &&
            e->u.device_fault.queue == fetch->u.fetch.queue)
            found = e;
    }
    return found;
}

/* Appends the effect of device faults: a lost kick, a stopped queue. */
static void add_device_fault(struct text *t, const struct why_walk *w, const struct ev *post,
                             const struct ev *fetch, const struct ev *cause)
{
    const struct ev *lost = post ? lost_kick(w, post, fetch) : NULL;

    if (lost) {
        text_addf(t, "; an earlier kick was lost by %s in ", lost->u.device_fault.name.s);
        ev_add_id(t, lost->id);
    }
    if (cause && cause->kind == EV_queue_goes_on) {
        text_addf(t, "; %s had stopped the queue until ", cause->u.queue_goes_on.name.s);
        ev_add_id(t, cause->id);
    }
}

/* Explains a fetch by a kick older than @post.  The device asks for another kick only when it finds
 * the queue empty; what is posted before that needs none.
 */
static void add_older_kick(struct text *t, const struct why_walk *w, const struct ev *kick,
                           const struct ev *post, const struct ev *fetch)
{
    if (needed_no_kick(w, post, fetch)) {
        text_add(
            t,
            "; no kick was needed: the device was still busy with this queue since the kick in ");
        ev_add_id(t, kick->id);
    } else {
        text_addf(t, " without a %s; the last one was ",
                  kick->kind == EV_doorbell ? "doorbell" : "kick");
        ev_add_id(t, kick->id);
    }
}

static const struct ev *print_fetch(struct why_walk *w, const struct ev *e)
{
    const struct ev *cause = past_find(w->p, e->cause), *post = past_post_of(w->index, e);
    const bool announced = cause && posted_is_announced(cause, e->u.fetch.host, e->u.fetch.queue);
    const struct ev *kick = announced ? cause : NULL;
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (e->u.fetch.op == WR_RECV) /* fetched for an incoming packet */
        return print_plain(w, e);
    text_add(&t, "the device fetched ");
    add_qp(w, &t, e->u.fetch.host, e->u.fetch.qpn);
    text_addf(&t, "'s %s wr_id=%llu", enum_name(&enum_wr_opcode, e->u.fetch.op),
              (unsigned long long)e->u.fetch.wr_id);
    if (kick && (!post || kick->id > post->id)) {
        text_add(&t, kick->kind == EV_doorbell ? ", by the doorbell " : ", kicked in ");
        ev_add_id(&t, kick->id);
    }
    if (post) {
        text_add(&t, ", posted in ");
        ev_add_id(&t, post->id);
        if (w->places && w->places->find(w->places->ctx, ev_tick(post->id))[0])
            text_addf(&t, " (%s)", w->places->find(w->places->ctx, ev_tick(post->id)));
        if (post->kind == EV_post_send && (post->u.post_send.flags & SF_FENCE))
            text_add(&t, " with a fence");
    }
    if (kick && post && kick->id < post->id)
        add_older_kick(&t, w, kick, post, e);
    add_device_fault(&t, w, post, e, cause);
    say(w, e, buf, "");
    if (post)
        return cause_of(w, post);
    return kick ? NULL : cause;
}

static const struct ev *print_tx(struct why_walk *w, const struct ev *e)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    add_qp(w, &t, e->u.tx.host, e->u.tx.qpn);
    text_addf(&t, " sent %s psn=%u", enum_name(&enum_opcode, e->u.tx.opcode), e->u.tx.psn);
    if (tx_attempt(e) > 1) {
        text_add(&t, ", the ");
        text_add_ordinal(&t, tx_attempt(e));
        text_add(&t, " time");
    }
    fate_add_faults(&t, w->index, e);
    say(w, e, buf, "");
    return cause_of(w, e);
}

/* Prints the end of a frame.  Its cause is the sending. */
static const struct ev *print_frame(struct why_walk *w, const struct ev *e)
{
    const struct ev *tx = past_tx_of(w->p, e);

    say_plain(w, e);
    return tx ? tx : cause_of(w, e);
}

static const struct ev *cause_of_state(const struct why_walk *w, const struct ev *e)
{
    const struct ev *failed = why_stopped_by(w->index, e);

    return failed ? failed : cause_of(w, e);
}

static const struct ev *print_state(struct why_walk *w, const struct ev *e)
{
    say_plain(w, e);
    return cause_of_state(w, e);
}

static const struct ev *print_completion(struct why_walk *w, const struct ev *e)
{
    const struct ev *fetch = why_refused_fetch(w->index, e);

    say_plain(w, e);
    return fetch ? fetch : cause_of(w, e);
}

/* Returns the rule that forbids what the question @e asks for, otherwise what asked first. */
static const struct ev *lookup_cause(const struct why_walk *w, const struct ev *e)
{
    const struct ev *rule = why_forbidden_by(w->p, e);
    unsigned before;

    return rule ? rule : cause_of(w, why_asked_first(w->p, e, &before));
}

/* Prints a question to the control centre, the questions before it for the same message, and the
 * rule that forbids it.  Returns the rule, or what asked first.
 */
static const struct ev *print_lookup(struct why_walk *w, const struct ev *e)
{
    const struct ev *first;
    char note[SHOW_LINE_BYTES] = "";
    struct text n = text_on(note, sizeof(note));
    unsigned before;

    first = why_asked_first(w->p, e, &before);
    if (before)
        text_addf(&n, "asked %u times since #%llu.%u", before + 1,
                  (unsigned long long)ev_tick(first->id), ev_row(first->id));
    say_noted(w, e, note);
    if (e != w->asked)
        show_failure(w->out, w->index, e);
    return lookup_cause(w, e);
}

typedef const struct ev *print_fn(struct why_walk *w, const struct ev *e);

/* Kinds of events that need more than one plain line. */
static print_fn *const printers[EV_COUNT] = {
    [EV_fetch] = print_fetch,    [EV_timeout] = print_timeout,
    [EV_tx] = print_tx,          [EV_rx] = print_rx,
    [EV_drop] = print_frame,     [EV_lost] = print_frame,
    [EV_fault] = print_frame,    [EV_qp_state] = print_state,
    [EV_cqe] = print_completion, [EV_centre_lookup] = print_lookup,
};

/* Returns NULL if events of this kind are skipped. */
static print_fn *printer_of(enum ev_kind kind)
{
    if (!ev_is_for(kind, EV_FOR_WHY))
        return NULL;
    return printers[kind] ? printers[kind] : print_plain;
}

/* Returns the first event of the chain for @e. */
static const struct ev *first_cause(const struct why_walk *w, const struct ev *e)
{
    const struct ev *tx = NULL;

    if (e->kind == EV_lost || e->kind == EV_drop || e->kind == EV_fault)
        tx = past_tx_of(w->p, e);
    if (tx)
        return tx;
    if (e->kind == EV_cqe) {
        const struct ev *state = why_flushed_by(w->index, e);
        const struct ev *fetch = state ? NULL : why_refused_fetch(w->index, e);

        if (state || fetch)
            return state ? state : fetch;
    }
    if (e->kind == EV_centre_lookup)
        return lookup_cause(w, e);
    return e->kind == EV_qp_state ? cause_of_state(w, e) : cause_of(w, e);
}

/* Returns true if @e itself needs its print function, since that combines it with other events. */
static bool starts_with_itself(const struct ev *e)
{
    return e->kind == EV_rx || e->kind == EV_timeout || e->kind == EV_fetch;
}

/* Prints the chain of causes of @e. */
static void print_chain(struct why_walk *w, const struct ev *e)
{
    unsigned steps = 0;

    for (unsigned hops = 0; e && hops < HOPS_MAX; hops++) {
        const enum ev_kind kind = e->kind;
        print_fn *print = printer_of(kind);

        if (steps == STEPS_MAX) {
            char buf[64];
            struct text t = text_on(buf, sizeof(buf));

            ev_add_id(&t, e->id);
            fprintf(w->out, "  ... and so on: why %s\n", buf);
            break;
        }
        steps += print != NULL;
        e = print ? print(w, e) : cause_of(w, e);
        if (kind != EV_timeout && print)
            w->timeouts = 0;
    }
}

enum rdl_status why_placed(FILE *out, const struct past *p, ev_id id,
                           const struct why_places *places)
{
    const struct ev *e = past_find(p, id);
    struct past_index *index;
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct why_walk w;

    if (!e)
        return RDL_ERR_NOT_FOUND;
    index = fate_index(p);
    w = (struct why_walk){.out = out, .p = p, .index = index, .asked = e, .places = places};
    past_add_line(&t, p, e);
    show_hanging(out, INDENT_NOTE, buf);
    show_failure(out, index, e);
    print_chain(&w, starts_with_itself(e) ? e : first_cause(&w, e));
    past_index_free(index);
    return RDL_OK;
}

enum rdl_status why(FILE *out, const struct past *p, ev_id id)
{
    return why_placed(out, p, id, NULL);
}
