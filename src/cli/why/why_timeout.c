/* SPDX-License-Identifier: MIT */
/* Timers in a chain of causes: the last timeouts are printed one by one, others are counted. */
#include "cli/why/why_walk.h"

#include "cli/why/causes.h"
#include "cli/why/fate_text.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/timer.h"
#include "emu/past/past.h"
#include "emu/trace/event.h"
#include "print/show_text.h"

#define TIMEOUTS_TOLD 2u /* consecutive timeouts that are printed; others are counted */
#define TIMEOUTS_MAX  64u

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
        why_say(w, first, "an earlier timeout", "");
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

    while (nak && n < WHY_HOPS_MAX) {
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

const struct ev *why_print_timeout(struct why_walk *w, const struct ev *e)
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
    why_add_qp(w, &t, e->u.timeout.host, e->u.timeout.qpn);
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
    why_say(w, e, what, note);
    /* Continue with the retransmitted packet, not with what armed the timer last. */
    if (tx)
        return why_cause_of(w, tx);
    return timer ? why_cause_of(w, timer) : why_cause_of(w, e);
}
