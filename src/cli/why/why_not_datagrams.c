/* SPDX-License-Identifier: MIT */
/* `why not` for datagrams, which have no answer: nobody but the record tells their fate.
 *
 * Of the datagrams that were sent to a queue pair, the last ones that it did not accept are
 * printed.  Those before the last one that it accepted are left out: the question is about the
 * completions after that one.
 */
#include "cli/why/why_not_answer.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/opcode.h"
#include "emu/facts/roce.h"
#include "emu/trace/event.h"

#define DATAGRAMS_TOLD 3u

/* The last datagrams to one queue pair, newest first. */
struct missed_datagrams {
    const struct ev *tx[DATAGRAMS_TOLD];
    const struct ev *end[DATAGRAMS_TOLD]; /* of its copy for the queue pair; NULL: not recorded */
    size_t n, n_left;                     /* number kept, number of older ones */
    const struct ev *taken;               /* end of the last that was accepted; NULL: unknown */
};

/* Returns true if @q is attached to a multicast group. */
static bool in_group(const struct why_not *w, const struct why_not_qp *q)
{
    struct rdl_value v;

    return tree_leaf(w->lab, q->path, LEAF_qp_group, &v);
}

/* Returns true if @tx is a datagram that @q might get. */
static bool is_for(const struct why_not *w, const struct why_not_qp *q, const struct ev *tx)
{
    if (tx->kind != EV_tx || op_info((uint8_t)tx->u.tx.opcode)->service != OPS_UD)
        return false;
    if (tx->u.tx.dest_qpn == QPN_MULTICAST)
        return in_group(w, q);
    return tx->u.tx.peer == q->host && tx->u.tx.dest_qpn == q->qpn;
}

/* Returns the end of the copy of datagram @tx that was for @q.  Returns the loss of a copy if no
 * copy reached the host, and NULL if neither is recorded.
 */
static const struct ev *end_at(const struct why_not *w, const struct why_not_qp *q,
                               const struct ev *tx)
{
    const struct past_index *x = w->index;
    const struct ev *end = NULL;

    for (uint32_t i = past_first_of_frame(x, tx->id); i != PAST_NONE; i = x->after[i]) {
        const struct ev *e = past_at(x->past, i);

        if (e->kind == EV_rx && e->u.rx.host == q->host && e->u.rx.qpn == q->qpn)
            return e;
        if (e->kind == EV_drop && e->u.drop.host == q->host)
            end = e;
        else if (!end &&
                 (e->kind == EV_lost || (e->kind == EV_drop && e->u.drop.host == EV_HOST_NONE)))
            end = e;
    }
    return end;
}

static bool accepted(const struct ev *end)
{
    return end && end->kind == EV_rx && end->u.rx.act != ACT_DROP;
}

/* Finds the last datagrams to @q, back to the last one that @q accepted. */
static struct missed_datagrams find_datagrams(const struct why_not *w, const struct why_not_qp *q)
{
    struct missed_datagrams d = {.n = 0};

    for (size_t i = w->past->n; i > 0; i--) {
        const struct ev *tx = past_at(w->past, i - 1);
        const struct ev *end;

        if (!is_for(w, q, tx))
            continue;
        end = end_at(w, q, tx);
        if (accepted(end)) {
            d.taken = end;
            break;
        }
        if (d.n < DATAGRAMS_TOLD) {
            d.tx[d.n] = tx;
            d.end[d.n++] = end;
        } else {
            d.n_left++;
        }
    }
    return d;
}

/* Prints the datagram @tx and its end: "#76.3 of h1.qp, psn=100, was lost in #78.1, by f1". */
static void say_datagram(struct why_not *w, const struct ev *tx, const struct ev *end)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_id(&t, tx->id);
    text_add(&t, " of ");
    ev_names_object(w->past->names, &t, tx->u.tx.host, OBJ_QP, tx->u.tx.qpn);
    text_addf(&t, ", psn=%u, %s", tx->u.tx.psn,
              end && end->kind == EV_lost && tx->u.tx.dest_qpn == QPN_MULTICAST ? "a copy of it "
                                                                                : "");
    fate_add_end(&t, w->index, tx, end);
    why_not_say(w, "%s.", buf);
}

bool why_not_missed_datagrams(const struct why_not *w, const struct why_not_qp *q)
{
    return qp_type_is_datagram(q->type) && find_datagrams(w, q).n > 0;
}

void why_not_datagrams(struct why_not *w, const struct why_not_qp *q)
{
    const struct missed_datagrams d = find_datagrams(w, q);
    char id[64];
    struct text t = text_on(id, sizeof(id));

    why_not_say(w, "It takes datagrams of anybody who knows its Q_Key.");
    if (d.n == 0 && d.taken) {
        ev_add_id(&t, d.taken->id);
        why_not_say(w, "The last datagram that was sent to it was accepted in %s.", id);
        return;
    }
    if (d.n == 0) {
        why_not_say(w, "%s",
                    why_not_forgot(w, 0) ? "No datagram to it is recorded."
                                         : "No datagram was sent to it so far.");
        return;
    }
    if (d.n == 1)
        why_not_say(w, "A datagram was sent to it, and it has not accepted that:");
    else
        why_not_say(w, "%zu datagrams were sent to it that it has not accepted%s:", d.n + d.n_left,
                    d.n_left ? ", the last" : "");
    w->indent += 2;
    for (size_t i = d.n; i > 0; i--)
        say_datagram(w, d.tx[i - 1], d.end[i - 1]);
    w->indent -= 2;
    if (!d.end[0])
        return;
    why_not_say(w, "Nobody sends a datagram again by itself: what is lost or dropped is gone, and "
                   "its sender's completion says SUCCESS all the same.");
    ev_add_id(&t, d.end[0]->id);
    why_not_try(w, "why %s", id);
}
