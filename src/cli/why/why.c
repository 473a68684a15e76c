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
#include "cli/why/why_walk.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/lnd_state.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/past/past_lnet.h"
#include "emu/past/posted.h"
#include "emu/trace/event.h"
#include "print/show_text.h"

#define STEPS_MAX     24u /* lines of a chain; the last says how to continue */
#define CONTROLS_TOLD 1u  /* consecutive control requests that are printed; others are counted */
#define REJECTS_TOLD  1u  /* rejects of LNet that are printed with how they came about */

void why_print_unknown(const struct why_walk *w, const char *what, ev_id id)
{
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_id(&t, id);
    fprintf(w->out, "  %s %s, which %s\n", what, buf,
            past_in_gap(w->p, id) ? "was not recorded" : "the recorder has forgotten");
}

const struct ev *why_cause_of(const struct why_walk *w, const struct ev *e)
{
    const struct ev *cause = past_find(w->p, e->cause);

    if (!cause && e->cause)
        why_print_unknown(w, "because of", e->cause);
    return cause;
}

void why_say(const struct why_walk *w, const struct ev *e, const char *what, const char *note)
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
    show_wrap_behind(w->out, lead, WHY_INDENT_NOTE, buf);
    if (note[0] && !fits)
        show_wrap(w->out, WHY_INDENT_NOTE, note);
}

void why_add_qp(const struct why_walk *w, struct text *t, uint32_t host, uint32_t qpn)
{
    ev_names_object(w->p->names, t, host, OBJ_QP, qpn);
}

static void say_noted(const struct why_walk *w, const struct ev *e, const char *note)
{
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%s: ", ev_schema(e->kind)->name);
    past_add_text(&t, w->p, e);
    why_say(w, e, buf, note);
}

static void say_plain(const struct why_walk *w, const struct ev *e)
{
    say_noted(w, e, "");
}

static const struct ev *print_plain(struct why_walk *w, const struct ev *e)
{
    say_plain(w, e);
    return why_cause_of(w, e);
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
    why_add_qp(w, &t, e->u.fetch.host, e->u.fetch.qpn);
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
    why_say(w, e, buf, "");
    if (post)
        return why_cause_of(w, post);
    return kick ? NULL : cause;
}

static const struct ev *print_tx(struct why_walk *w, const struct ev *e)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    why_add_qp(w, &t, e->u.tx.host, e->u.tx.qpn);
    text_addf(&t, " sent %s psn=%u", enum_name(&enum_opcode, e->u.tx.opcode), e->u.tx.psn);
    if (tx_attempt(e) > 1) {
        text_add(&t, ", the ");
        text_add_ordinal(&t, tx_attempt(e));
        text_add(&t, " time");
    }
    fate_add_faults(&t, w->index, e);
    why_say(w, e, buf, "");
    return why_cause_of(w, e);
}

/* Prints the end of a frame.  Its cause is the sending. */
static const struct ev *print_frame(struct why_walk *w, const struct ev *e)
{
    const struct ev *tx = past_tx_of(w->p, e);

    say_plain(w, e);
    return tx ? tx : why_cause_of(w, e);
}

static const struct ev *cause_of_state(const struct why_walk *w, const struct ev *e)
{
    const struct ev *failed = why_stopped_by(w->index, e);

    return failed ? failed : why_cause_of(w, e);
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
    return fetch ? fetch : why_cause_of(w, e);
}

/* Returns the rule that forbids what the question @e asks for, otherwise what asked first. */
static const struct ev *lookup_cause(const struct why_walk *w, const struct ev *e)
{
    const struct ev *rule = why_forbidden_by(w->p, e);
    unsigned before;

    return rule ? rule : why_cause_of(w, why_asked_first(w->p, e, &before));
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

/* Prints the control request @e.  Counts those before it if enough were printed: a driver that
 * makes several objects sends one request after the other.
 */
static const struct ev *print_control(struct why_walk *w, const struct ev *e)
{
    const struct why_run run = why_controls(w->p, e);

    if (w->controls < CONTROLS_TOLD || run.n < 2) {
        w->controls += e->kind == EV_ctrl_request;
        return print_plain(w, e);
    }
    fprintf(w->out, "  because of %u control requests before, the first #%llu.%u\n", run.n,
            (unsigned long long)ev_tick(run.first->id), ev_row(run.first->id));
    return run.next;
}

/* Prints a message of the connection manager.  That of a node of LNet has the attempt to connect as
 * its cause, and not the control requests in between.
 */
static const struct ev *print_cm_sent(struct why_walk *w, const struct ev *e)
{
    const struct ev *begun = why_attempt_of(w->p, e);

    say_plain(w, e);
    return begun ? begun : why_cause_of(w, e);
}

/* Prints a reject of LNet, and of earlier ones only how many there were and why. */
static const struct ev *print_reject(struct why_walk *w, const struct ev *e)
{
    struct why_run run;
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!e->u.lnet_reject.rejected || w->rejects++ < REJECTS_TOLD)
        return print_plain(w, e);
    run = why_rejects(w->p, e);
    if (run.n > 1)
        text_addf(&t, "the last of %u rejects, ", run.n);
    else
        text_add(&t, "an earlier attempt: ");
    past_add_text(&t, w->p, e);
    why_say(w, e, buf, "");
    return run.next;
}

typedef const struct ev *print_fn(struct why_walk *w, const struct ev *e);

/* Kinds of events that need more than one plain line. */
static print_fn *const printers[EV_COUNT] = {
    [EV_fetch] = print_fetch,     [EV_timeout] = why_print_timeout,
    [EV_tx] = print_tx,           [EV_rx] = why_print_rx,
    [EV_drop] = print_frame,      [EV_lost] = print_frame,
    [EV_fault] = print_frame,     [EV_qp_state] = print_state,
    [EV_cqe] = print_completion,  [EV_centre_lookup] = print_lookup,
    [EV_kick] = print_control,    [EV_ctrl_request] = print_control,
    [EV_cm_sent] = print_cm_sent, [EV_lnet_reject] = print_reject,
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
    if (e->kind == EV_cm_sent && why_attempt_of(w->p, e))
        return why_attempt_of(w->p, e);
    return e->kind == EV_qp_state ? cause_of_state(w, e) : why_cause_of(w, e);
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

    for (unsigned hops = 0; e && hops < WHY_HOPS_MAX; hops++) {
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
        e = print ? print(w, e) : why_cause_of(w, e);
        if (kind != EV_timeout && print)
            w->timeouts = 0;
        if (kind != EV_kick && kind != EV_ctrl_request && print)
            w->controls = 0;
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
    w.rejects = e->kind == EV_lnet_state && e->u.lnet_state.state == LND_CONN_CLOSING ? 0 : 1;
    past_add_line(&t, p, e);
    show_hanging(out, WHY_INDENT_NOTE, buf);
    show_failure(out, index, e);
    print_chain(&w, starts_with_itself(e) ? e : first_cause(&w, e));
    past_index_free(index);
    return RDL_OK;
}

enum rdl_status why(FILE *out, const struct past *p, ev_id id)
{
    return why_placed(out, p, id, NULL);
}
