/* SPDX-License-Identifier: MIT */
/* LNet: matching, messages and events of one node. */
#include "lnet/lnet.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum/lnet_op.h"
#include "lnet/frags.h"

#define MD_LISTS   64u
#define PEER_LISTS 64u

/* A memory descriptor, and its match entry if it is attached. */
struct lnet_memory {
    struct lnet_memory *next_of_list; /* of the same hash of @handle */
    struct lnet_memory *younger, *older;
    struct lnet_memory *next, *before; /* of the same portal */
    uint64_t handle;
    struct lnet_md md;
    struct lnet_match match;
    bool is_attached;
    uint32_t n_users;   /* transfers, and answers that are expected */
    uint32_t n_answers; /* ACKs and REPLYs that are expected, among n_users */
    uint32_t n_left;    /* operations until it is unlinked; 0: any number */
    bool is_ending;     /* it goes with its last user */
    uint32_t at;        /* offset of the next message, unless the initiator chooses it */
    uint64_t bytes;
};

/* A message under way, which the driver has or which waits for credits of LNet. */
struct lnet_transfer {
    struct lnet_transfer *next; /* in the queue of its peer, or in node.waiting */
    struct lnet_memory *memory; /* NULL: none */
    struct lnet_peer *peer;     /* its credits; NULL: it has none */
    struct lnet_hdr hdr;
    struct lnd_memory part;
    struct lnet_event event; /* when it is over; kind as below */
    bool is_mine;            /* this node has sent it; otherwise it has come */
    bool gets;               /* a GET: its SEND, and then its REPLY */
    bool has_reply;          /* the data of the GET comes with the driver's answer */
    bool wants_ack;          /* a PUT that has come */
};

struct transfer_list {
    struct lnet_transfer *first, *last;
};

struct lnet_peer {
    struct lnet_peer *next_of_list, *next;
    uint64_t nid;
    int32_t credits, min_credits;
    struct transfer_list queue;
    uint32_t n_queued;
};

struct portal {
    struct lnet_memory *first, *last;
};

struct lnet_node {
    const struct lnd_ops *ops;
    void *ctx;
    struct lnd *lnd;
    lnet_listener *listener;
    void *listener_ctx;
    struct portal portals[LNET_PORTALS];
    struct lnet_memory *memories[MD_LISTS], *oldest, *youngest;
    struct lnet_peer *peers[PEER_LISTS], *first_peer, *last_peer;
    uint64_t next_handle;
    int32_t credits;              /* of the interface */
    struct transfer_list waiting; /* for one of these */
    struct transfer_list ready;   /* to be handed over */
    bool is_handing_over;
    struct lnet_counts counts;
};

struct lnet_node *lnet_new(const struct lnd_ops *ops, void *ctx, const struct lnd_config *config,
                           lnet_listener *listener, void *listener_ctx)
{
    struct lnet_node *n = ops->alloc(ctx, sizeof(*n));

    if (!n)
        return NULL;
    n->ops = ops;
    n->ctx = ctx;
    n->listener = listener;
    n->listener_ctx = listener_ctx;
    n->credits = (int32_t)config->credits;
    n->lnd = lnd_new(ops, ctx, config, n);
    if (!n->lnd) {
        ops->free(ctx, n, sizeof(*n));
        return NULL;
    }
    return n;
}

static struct lnet_memory *memory_of(const struct lnet_node *n, uint64_t handle)
{
    struct lnet_memory *m = n->memories[handle % MD_LISTS];

    while (m && m->handle != handle)
        m = m->next_of_list;
    return m;
}

static void detach(struct lnet_node *n, struct lnet_memory *m)
{
    struct portal *p = &n->portals[m->match.portal];

    if (!m->is_attached)
        return;
    m->is_attached = false;
    if (m->before)
        m->before->next = m->next;
    else
        p->first = m->next;
    if (m->next)
        m->next->before = m->before;
    else
        p->last = m->before;
}

static void memory_free(struct lnet_node *n, struct lnet_memory *m)
{
    struct lnet_memory **at = &n->memories[m->handle % MD_LISTS];

    detach(n, m);
    while (*at != m)
        at = &(*at)->next_of_list;
    *at = m->next_of_list;
    if (m->older)
        m->older->younger = m->younger;
    else
        n->oldest = m->younger;
    if (m->younger)
        m->younger->older = m->older;
    else
        n->youngest = m->older;
    n->ops->free(n->ctx, m, sizeof(*m));
}

void lnet_free(struct lnet_node *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; i < MD_LISTS; i++) {
        while (n->memories[i])
            memory_free(n, n->memories[i]);
    }
    while (n->first_peer) {
        struct lnet_peer *p = n->first_peer;

        n->first_peer = p->next;
        n->ops->free(n->ctx, p, sizeof(*p));
    }
    lnd_free(n->lnd);
    n->ops->free(n->ctx, n, sizeof(*n));
}

struct lnd *lnet_lnd(const struct lnet_node *n)
{
    return n->lnd;
}

const struct lnet_counts *lnet_counts(const struct lnet_node *n)
{
    return &n->counts;
}

static int memory_new(struct lnet_node *n, const struct lnet_md *md, struct lnet_memory **ret)
{
    const struct frag_list all = {md->frags, md->n};
    const uint64_t bytes = md->n <= LNET_IOV_MAX ? frags_sum(&all) : 0;
    struct lnet_memory *m;

    if (md->n > LNET_IOV_MAX || bytes > UINT32_MAX)
        return -EINVAL;
    m = n->ops->alloc(n->ctx, sizeof(*m));
    if (!m)
        return -ENOMEM;
    m->handle = ++n->next_handle;
    m->md = *md;
    m->n_left = md->threshold;
    m->bytes = bytes;
    m->next_of_list = n->memories[m->handle % MD_LISTS];
    n->memories[m->handle % MD_LISTS] = m;
    m->older = n->youngest;
    if (n->youngest)
        n->youngest->younger = m;
    else
        n->oldest = m;
    n->youngest = m;
    *ret = m;
    return 0;
}

int lnet_bind(struct lnet_node *n, const struct lnet_md *md, uint64_t *ret)
{
    struct lnet_memory *m;
    const int st = memory_new(n, md, &m);

    if (st == 0)
        *ret = m->handle;
    return st;
}

int lnet_attach(struct lnet_node *n, const struct lnet_match *match, const struct lnet_md *md,
                uint64_t *ret)
{
    struct portal *p = &n->portals[match->portal % LNET_PORTALS];
    struct lnet_memory *m;
    int st;

    if (match->portal >= LNET_PORTALS || !(md->options & (LNET_MD_PUT | LNET_MD_GET)))
        return -EINVAL;
    st = memory_new(n, md, &m);
    if (st)
        return st;
    m->match = *match;
    m->is_attached = true;
    m->before = p->last;
    if (p->last)
        p->last->next = m;
    else
        p->first = m;
    p->last = m;
    *ret = m->handle;
    return 0;
}

int lnet_unlink(struct lnet_node *n, uint64_t md)
{
    struct lnet_memory *m = memory_of(n, md);

    if (!m)
        return -ENOENT;
    m->n_users -= m->n_answers; /* an answer may never come; later it finds no memory */
    m->n_answers = 0;
    if (m->n_users > 0) {
        detach(n, m);
        m->is_ending = true;
        return -EBUSY;
    }
    memory_free(n, m);
    return 0;
}

bool lnet_memory_at(const struct lnet_node *n, uint32_t i, struct lnet_memory_info *ret)
{
    const struct lnet_memory *m = n->oldest;

    for (; m && i > 0; i--)
        m = m->younger;
    if (!m)
        return false;
    *ret = (struct lnet_memory_info){m->handle, m->bytes, m->match,  m->is_attached,
                                     m->md.n,   m->at,    m->n_users};
    return true;
}

static void tell(struct lnet_node *n, const struct lnet_event *e)
{
    if (n->listener)
        n->listener(n->listener_ctx, e);
}

/* An operation on @m begins. */
static void use(struct lnet_node *n, struct lnet_memory *m)
{
    m->n_users++;
    if (m->md.threshold > 0 && --m->n_left == 0) {
        m->is_ending = true;
        detach(n, m);
    }
}

/* ... and is over, as @e says.  Tells the program. */
static void end_use(struct lnet_node *n, struct lnet_memory *m, struct lnet_event *e)
{
    m->n_users--;
    e->md = m->handle;
    e->user = m->md.user;
    e->unlinked = m->is_ending && m->n_users == 0;
    if (e->unlinked)
        memory_free(n, m);
    tell(n, e);
}

/* ---- credits of LNet ---- */

static struct lnet_peer *peer_of(struct lnet_node *n, uint64_t nid)
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

/* Sends @t, once the peer has a credit for it, and then the interface. */
static void submit(struct lnet_node *n, struct lnet_transfer *t)
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

/* The message to @p is over: its credits let others go. */
static void return_credits(struct lnet_node *n, struct lnet_peer *p)
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

/* ---- messages of this node ---- */

static struct lnet_transfer *transfer_new(struct lnet_node *n, uint64_t nid, uint32_t op)
{
    const uint64_t me = lnd_config(n->lnd)->nid;
    struct lnet_transfer *t = n->ops->alloc(n->ctx, sizeof(*t));

    if (!t)
        return NULL;
    t->peer = peer_of(n, nid);
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
    struct lnet_memory *m = memory_of(n, c->md);
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
    use(n, m);
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
    submit(n, t);
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
    if (!t->has_reply)
        expect_answer(t->memory); /* the REPLY */
    submit(n, t);
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
    submit(n, t);
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
    end_use(n, t->memory, &e);
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
    if (t->has_reply)
        e.kind = LNET_EVENT_REPLY;
    end_use(n, t->memory, &e);
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
            end_use(n, t->memory, &t->event);
    }
    n->ops->free(n->ctx, t, sizeof(*t));
    if (p)
        return_credits(n, p);
}

/* ---- messages of peers ---- */

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

/* Finds the first memory of the portal that takes the message.  [lnet_try_match_md] */
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
            continue;
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
    use(n, f->memory);
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
        t->peer = peer_of(n, hdr->src_nid);
        t->hdr = (struct lnet_hdr){.dest_nid = hdr->src_nid,
                                   .src_nid = hdr->dest_nid,
                                   .dest_pid = hdr->src_pid,
                                   .src_pid = hdr->dest_pid,
                                   .type = LNET_OP_REPLY,
                                   .payload_bytes = t->part.bytes,
                                   .u.reply.dst = hdr->u.get.return_to};
        if (t->peer)
            submit(n, t);
        else
            lnet_finalize(n, t, -ENOMEM, 0);
    }
    lnd_recv(n->lnd, rx, &(struct lnd_memory){0}, NULL);
}

static void reply_came(struct lnet_node *n, const struct lnet_hdr *hdr, struct lnd_rx *rx)
{
    const struct lnet_handle *h = &hdr->u.reply.dst;
    struct lnet_memory *m =
        h->interface == lnd_config(n->lnd)->stamp ? memory_of(n, h->object) : NULL;
    struct lnet_transfer *t;

    if (!m || m->n_answers == 0) {
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
    const struct lnet_handle *h = &hdr->u.ack.dst;
    struct lnet_memory *m =
        h->interface == lnd_config(n->lnd)->stamp ? memory_of(n, h->object) : NULL;
    struct lnet_event e = {.kind = LNET_EVENT_ACK,
                           .initiator = hdr->src_nid,
                           .match_bits = hdr->u.ack.match_bits,
                           .mlength = hdr->u.ack.mlength};

    if (!m || m->n_answers == 0) {
        drop(n, hdr, rx);
        return;
    }
    m->n_answers--;
    lnd_recv(n->lnd, rx, &(struct lnd_memory){0}, NULL);
    end_use(n, m, &e);
}

int lnet_arrived(struct lnet_node *n, const struct lnet_hdr *hdr, uint64_t from, struct lnd_rx *rx)
{
    if (hdr->dest_nid != lnd_config(n->lnd)->nid || hdr->src_nid != from ||
        hdr->type > LNET_OP_REPLY || hdr->payload_bytes > LNET_MTU)
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
