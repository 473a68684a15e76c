/* SPDX-License-Identifier: MIT */
/* LNet: messages of this node, and their end. */
#include <errno.h>

#include "emu/facts/enum/lnet_op.h"
#include "lnet/lnet_internal.h"

static struct lnet_transfer *transfer_new(struct lnet_node *n, uint64_t nid, uint32_t op)
{
    const uint64_t me = lnd_config(n->lnd)->nid;
    struct lnet_transfer *t = n->ops->alloc(n->ctx, sizeof(*t));

    if (!t)
        return NULL;
    t->peer = lnet_peer_of(n, nid);
    if (!t->peer) {
        n->ops->free(n->ctx, t, sizeof(*t));
        return NULL;
    }
    t->is_mine = true;
    t->hdr.type = op;
    t->hdr.dest_nid = nid;
    t->hdr.src_nid = me;
    t->hdr.dest_pid = t->hdr.src_pid = LNET_PID_LUSTRE;
    t->event.initiator = me;
    return t;
}

/* Checks @c, and begins to use its memory.  0, or the errors of lnet_put(). */
static int begin_call(struct lnet_node *n, const struct lnet_call *c, uint32_t op,
                      struct lnet_transfer **ret)
{
    struct lnet_memory *m = lnet_memory_of(n, c->md);
    struct lnet_transfer *t;

    if (!m || m->is_ending)
        return -ENOENT;
    if (c->portal >= LNET_PORTALS || c->nid == lnd_config(n->lnd)->nid)
        return -EINVAL;
    if (m->bytes > LNET_MTU)
        return -EMSGSIZE;
    t = transfer_new(n, c->nid, op);
    if (!t)
        return -ENOMEM;
    t->memory = m;
    t->part = (struct lnd_memory){m->md.frags, m->md.n, 0, (uint32_t)m->bytes};
    t->event.kind = LNET_EVENT_SEND;
    t->event.match_bits = c->bits;
    t->event.hdr_data = c->hdr_data;
    t->event.portal = c->portal;
    t->event.rlength = (uint32_t)m->bytes;
    lnet_use(n, m);
    *ret = t;
    return 0;
}

/* @m is in use until an answer is there. */
static void expect_answer(struct lnet_memory *m)
{
    m->n_users++;
    m->n_answers++;
}

int lnet_put(struct lnet_node *n, const struct lnet_call *c)
{
    struct lnet_transfer *t;
    const int st = begin_call(n, c, LNET_OP_PUT, &t);

    if (st)
        return st;
    t->hdr.payload_bytes = t->part.bytes;
    t->hdr.u.put.ack = (struct lnet_handle){LNET_HANDLE_NONE, LNET_HANDLE_NONE};
    if (c->wants_ack)
        t->hdr.u.put.ack = (struct lnet_handle){lnd_config(n->lnd)->stamp, t->memory->handle};
    t->hdr.u.put.match_bits = c->bits;
    t->hdr.u.put.hdr_data = c->hdr_data;
    t->hdr.u.put.portal = c->portal;
    t->hdr.u.put.offset = c->offset;
    if (c->wants_ack)
        expect_answer(t->memory); /* the ACK */
    lnet_submit(n, t);
    return 0;
}

int lnet_get(struct lnet_node *n, const struct lnet_call *c)
{
    struct lnet_transfer *t;
    const int st = begin_call(n, c, LNET_OP_GET, &t);

    if (st)
        return st;
    t->gets = true;
    t->hdr.u.get.return_to = (struct lnet_handle){lnd_config(n->lnd)->stamp, t->memory->handle};
    t->hdr.u.get.match_bits = c->bits;
    t->hdr.u.get.portal = c->portal;
    t->hdr.u.get.src_offset = c->offset;
    t->hdr.u.get.sink_bytes = t->part.bytes;
    t->has_reply = t->part.bytes > LNET_PAYLOAD_MAX;
    if (t->has_reply)
        t->memory->n_users++; /* the REPLY, with which the driver ends the message */
    else
        expect_answer(t->memory); /* the REPLY */
    lnet_submit(n, t);
    return 0;
}

/* Sends the ACK for the PUT @of, of which @mlength bytes were taken. */
static void acknowledge(struct lnet_node *n, const struct lnet_hdr *of, uint32_t mlength)
{
    struct lnet_transfer *t = transfer_new(n, of->src_nid, LNET_OP_ACK);

    if (!t) {
        n->counts.errors++;
        return;
    }
    t->hdr.u.ack.dst = of->u.put.ack;
    t->hdr.u.ack.match_bits = of->u.put.match_bits;
    t->hdr.u.ack.mlength = mlength;
    lnet_submit(n, t);
}

/* A PUT or GET has failed, so that its ACK or REPLY does not come. */
static void give_up_second(struct lnet_node *n, const struct lnet_transfer *t, uint32_t kind)
{
    struct lnet_event e = t->event;

    if (t->memory->n_answers == 0) /* lnet_unlink() has given it up */
        return;
    t->memory->n_answers--;
    e.kind = kind;
    e.mlength = 0;
    lnet_end_use(n, t->memory, &e);
}

/* A message of this node is over. */
static void end_mine(struct lnet_node *n, struct lnet_transfer *t)
{
    const bool wants_ack =
        t->hdr.type == LNET_OP_PUT && t->hdr.u.put.ack.interface != LNET_HANDLE_NONE;
    struct lnet_event e = t->event;

    if (!t->memory)
        return;
    if (e.status && wants_ack)
        give_up_second(n, t, LNET_EVENT_ACK);
    if (e.status && t->gets && !t->has_reply)
        give_up_second(n, t, LNET_EVENT_REPLY);
    if (e.status == 0) /* what arrived is in the ACK or the REPLY */
        e.mlength = t->part.bytes;
    lnet_end_use(n, t->memory, &e);
    if (!t->has_reply)
        return;
    e = t->event;
    e.kind = LNET_EVENT_REPLY;
    e.initiator = t->hdr.dest_nid;
    lnet_end_use(n, t->memory, &e);
}

void lnet_finalize(struct lnet_node *n, struct lnet_transfer *t, int status, uint32_t bytes)
{
    struct lnet_peer *p = t->peer;

    t->event.status = status;
    if (status) {
        t->event.mlength = 0;
        n->counts.errors++;
    } else if (t->is_mine) {
        t->event.mlength = bytes;
    }
    if (t->is_mine) {
        end_mine(n, t);
    } else {
        if (t->wants_ack && status == 0)
            acknowledge(n, &t->hdr, t->event.mlength);
        if (t->memory)
            lnet_end_use(n, t->memory, &t->event);
    }
    n->ops->free(n->ctx, t, sizeof(*t));
    if (p)
        lnet_return_credits(n, p);
}
