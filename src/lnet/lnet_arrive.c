/* SPDX-License-Identifier: MIT */
/* Messages of peers: the memory that they match, and what follows. */
#include <errno.h>

#include "emu/facts/enum/lnet_op.h"
#include "lnet/lnet_internal.h"

/* A match of a message: the memory, and the place in it. */
struct matched {
    struct lnet_memory *memory;
    uint32_t offset, mlength;
};

static bool matches(const struct lnet_memory *m, uint64_t nid, uint64_t bits, uint32_t option)
{
    return (m->md.options & option) && (m->match.nid == LNET_NID_ANY || m->match.nid == nid) &&
           ((m->match.bits ^ bits) & ~m->match.ignore) == 0;
}

/* Finds the memory for the message: the first one of the portal that matches.  If the message is
 * too long for that one, there is none.  [lnet_try_match_md, lnet_mt_match_md]
 */
static bool find(struct lnet_node *n, const struct lnet_hdr *hdr, uint32_t option,
                 struct matched *ret)
{
    const bool is_put = option == LNET_MD_PUT;
    const uint32_t portal = is_put ? hdr->u.put.portal : hdr->u.get.portal;
    const uint64_t bits = is_put ? hdr->u.put.match_bits : hdr->u.get.match_bits;
    const uint32_t wanted = is_put ? hdr->payload_bytes : hdr->u.get.sink_bytes;
    const uint32_t asked = is_put ? hdr->u.put.offset : hdr->u.get.src_offset;

    if (portal >= LNET_PORTALS)
        return false;
    for (struct lnet_memory *m = n->portals[portal].first; m; m = m->next) {
        const uint32_t offset = m->md.options & LNET_MD_MANAGE_REMOTE ? asked : m->at;
        uint64_t room;

        if (!matches(m, hdr->src_nid, bits, option))
            continue;
        room = offset < m->bytes ? m->bytes - offset : 0;
        if (wanted > room && !(m->md.options & LNET_MD_TRUNCATE))
            return false;
        *ret = (struct matched){m, offset, wanted < room ? wanted : (uint32_t)room};
        return true;
    }
    return false;
}

/* The transfer of a message that has come, for @f. */
static struct lnet_transfer *arrival(struct lnet_node *n, const struct lnet_hdr *hdr,
                                     const struct matched *f, uint32_t kind)
{
    struct lnet_transfer *t = n->ops->alloc(n->ctx, sizeof(*t));

    if (!t)
        return NULL;
    t->memory = f->memory;
    t->hdr = *hdr;
    t->part = (struct lnd_memory){f->memory->md.frags, f->memory->md.n, f->offset, f->mlength};
    t->event.kind = kind;
    t->event.initiator = hdr->src_nid;
    t->event.offset = f->offset;
    t->event.mlength = f->mlength;
    f->memory->at = f->offset + f->mlength;
    lnet_use(n, f->memory);
    return t;
}

/* Takes no payload of the message, and counts it. */
static void drop(struct lnet_node *n, const struct lnet_hdr *hdr, struct lnd_rx *rx)
{
    n->counts.dropped++;
    n->counts.drop_bytes += hdr->payload_bytes;
    lnd_recv(n->lnd, rx, &(struct lnd_memory){0}, NULL);
}

static void put_came(struct lnet_node *n, const struct lnet_hdr *hdr, struct lnd_rx *rx)
{
    struct matched f;
    struct lnet_transfer *t =
        find(n, hdr, LNET_MD_PUT, &f) ? arrival(n, hdr, &f, LNET_EVENT_PUT) : NULL;

    if (!t) {
        drop(n, hdr, rx);
        return;
    }
    t->event.match_bits = hdr->u.put.match_bits;
    t->event.hdr_data = hdr->u.put.hdr_data;
    t->event.portal = hdr->u.put.portal;
    t->event.rlength = hdr->payload_bytes;
    t->wants_ack =
        hdr->u.put.ack.interface != LNET_HANDLE_NONE && !(t->memory->md.options & LNET_MD_NO_ACK);
    lnd_recv(n->lnd, rx, &t->part, t);
}

static void get_came(struct lnet_node *n, const struct lnet_hdr *hdr, struct lnd_rx *rx)
{
    struct matched f;
    struct lnet_transfer *t =
        find(n, hdr, LNET_MD_GET, &f) ? arrival(n, hdr, &f, LNET_EVENT_GET) : NULL;

    if (!t) {
        drop(n, hdr, rx);
        return;
    }
    t->event.match_bits = hdr->u.get.match_bits;
    t->event.portal = hdr->u.get.portal;
    t->event.rlength = hdr->u.get.sink_bytes;
    if (lnd_wants_reply(rx)) {
        lnd_reply(n->lnd, rx, &t->part, 0, t);
    } else {
        t->peer = lnet_peer_of(n, hdr->src_nid);
        t->hdr = (struct lnet_hdr){.dest_nid = hdr->src_nid,
                                   .src_nid = hdr->dest_nid,
                                   .dest_pid = hdr->src_pid,
                                   .src_pid = hdr->dest_pid,
                                   .type = LNET_OP_REPLY,
                                   .payload_bytes = t->part.bytes,
                                   .u.reply.dst = hdr->u.get.return_to};
        if (t->peer)
            lnet_submit(n, t);
        else
            lnet_finalize(n, t, -ENOMEM, 0);
    }
    lnd_recv(n->lnd, rx, &(struct lnd_memory){0}, NULL);
}

/* Finds the memory that an ACK or REPLY to @h answers, of this incarnation; NULL: it is gone, or
 * waits for none.
 */
static struct lnet_memory *asker(const struct lnet_node *n, const struct lnet_handle *h)
{
    struct lnet_memory *m =
        h->interface == lnd_config(n->lnd)->stamp ? lnet_memory_of(n, h->object) : NULL;

    return m && m->n_answers > 0 ? m : NULL;
}

static void reply_came(struct lnet_node *n, const struct lnet_hdr *hdr, struct lnd_rx *rx)
{
    struct lnet_memory *m = asker(n, &hdr->u.reply.dst);
    struct lnet_transfer *t;

    if (!m || (hdr->payload_bytes > m->bytes && !(m->md.options & LNET_MD_TRUNCATE))) {
        drop(n, hdr, rx);
        return;
    }
    t = n->ops->alloc(n->ctx, sizeof(*t));
    if (!t) {
        drop(n, hdr, rx);
        return;
    }
    m->n_answers--;
    t->memory = m;
    t->hdr = *hdr;
    t->part = (struct lnd_memory){m->md.frags, m->md.n, 0,
                                  hdr->payload_bytes < m->bytes ? hdr->payload_bytes
                                                                : (uint32_t)m->bytes};
    t->event.kind = LNET_EVENT_REPLY;
    t->event.initiator = hdr->src_nid;
    t->event.rlength = hdr->payload_bytes;
    t->event.mlength = t->part.bytes;
    lnd_recv(n->lnd, rx, &t->part, t);
}

static void ack_came(struct lnet_node *n, const struct lnet_hdr *hdr, struct lnd_rx *rx)
{
    struct lnet_memory *m = asker(n, &hdr->u.ack.dst);
    struct lnet_event e = {.kind = LNET_EVENT_ACK,
                           .initiator = hdr->src_nid,
                           .match_bits = hdr->u.ack.match_bits,
                           .mlength = hdr->u.ack.mlength};

    if (!m) {
        drop(n, hdr, rx);
        return;
    }
    m->n_answers--;
    lnd_recv(n->lnd, rx, &(struct lnd_memory){0}, NULL);
    lnet_end_use(n, m, &e);
}

int lnet_arrived(struct lnet_node *n, const struct lnet_hdr *hdr, uint64_t from, struct lnd_rx *rx)
{
    const bool has_payload = hdr->type == LNET_OP_PUT || hdr->type == LNET_OP_REPLY;

    if (hdr->dest_nid != lnd_config(n->lnd)->nid || hdr->src_nid != from ||
        hdr->type > LNET_OP_REPLY || hdr->payload_bytes > (has_payload ? LNET_MTU : 0))
        return -EPROTO;
    n->counts.received[hdr->type]++;
    switch (hdr->type) {
    case LNET_OP_PUT:
        put_came(n, hdr, rx);
        break;
    case LNET_OP_GET:
        get_came(n, hdr, rx);
        break;
    case LNET_OP_REPLY:
        reply_came(n, hdr, rx);
        break;
    default:
        ack_came(n, hdr, rx);
        break;
    }
    return 0;
}
