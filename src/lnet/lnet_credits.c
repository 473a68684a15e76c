/* SPDX-License-Identifier: MIT */
/* Credits of LNet: how many messages a peer, and all of them, may have under way. */
#include <stdint.h>

#include "emu/facts/enum/lnet_op.h"
#include "lnet/lnet_internal.h"

struct lnet_peer *lnet_peer_of(struct lnet_node *n, uint64_t nid)
{
    struct lnet_peer **list = &n->peers[nid % PEER_LISTS], *p = *list;

    while (p && p->nid != nid)
        p = p->next_of_list;
    if (p)
        return p;
    p = n->ops->alloc(n->ctx, sizeof(*p));
    if (!p)
        return NULL;
    p->nid = nid;
    p->credits = p->min_credits = (int32_t)lnd_config(n->lnd)->peer_credits;
    p->next_of_list = *list;
    *list = p;
    if (n->first_peer)
        n->last_peer->next = p;
    else
        n->first_peer = p;
    n->last_peer = p;
    return p;
}

static void append(struct transfer_list *l, struct lnet_transfer *t)
{
    t->next = NULL;
    if (l->first)
        l->last->next = t;
    else
        l->first = t;
    l->last = t;
}

/* Takes the first one out of @l; NULL: it is empty. */
static struct lnet_transfer *take_first(struct transfer_list *l)
{
    struct lnet_transfer *t = l->first;

    if (t)
        l->first = t->next;
    return t;
}

/* @t has a credit of its peer, and takes one of the interface or waits for it. */
static void take_interface(struct lnet_node *n, struct lnet_transfer *t)
{
    struct transfer_list *to = --n->credits >= 0 ? &n->ready : &n->waiting;

    append(to, t);
}

/* Hands over the messages that have their credits.  One that fails at once returns its credits
 * inside, which adds further messages to the list, and does not come here a second time.
 */
static void hand_over_ready(struct lnet_node *n)
{
    struct lnet_transfer *t;

    if (n->is_handing_over)
        return;
    n->is_handing_over = true;
    while ((t = take_first(&n->ready)) != NULL) {
        n->counts.sent[t->hdr.type & 3]++;
        lnd_send(n->lnd, t->peer->nid, &t->hdr, &t->part, t);
    }
    n->is_handing_over = false;
}

void lnet_submit(struct lnet_node *n, struct lnet_transfer *t)
{
    struct lnet_peer *p = t->peer;

    if (--p->credits < p->min_credits)
        p->min_credits = p->credits;
    if (p->credits < 0) {
        append(&p->queue, t);
        p->n_queued++;
        return;
    }
    take_interface(n, t);
    hand_over_ready(n);
}

void lnet_return_credits(struct lnet_node *n, struct lnet_peer *p)
{
    struct lnet_transfer *t = take_first(&n->waiting);

    n->credits++;
    if (t)
        append(&n->ready, t);
    p->credits++;
    t = take_first(&p->queue);
    if (t) {
        p->n_queued--;
        take_interface(n, t);
    }
    hand_over_ready(n);
}

bool lnet_peer_at(const struct lnet_node *n, uint32_t i, struct lnet_peer_info *ret)
{
    const struct lnet_peer *p = n->first_peer;

    for (; p && i > 0; i--)
        p = p->next;
    if (!p)
        return false;
    *ret = (struct lnet_peer_info){p->nid, (int32_t)lnd_config(n->lnd)->peer_credits, p->credits,
                                   p->min_credits, p->n_queued};
    return true;
}
