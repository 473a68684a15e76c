/* SPDX-License-Identifier: MIT */
/* `why not` for messages of LNet: which ones wait, for what, and who has to give it.
 *
 * A message that LNet hands to the driver may wait at its connection for one of the credits of
 * o2iblnd, see enum lnd_stall.  The last event lnet_stall tells which.  If it is not recorded, the
 * numbers of the peer do.
 */
#include <string.h>

#include "cli/why/why_not_answer.h"
#include "emu/facts/enum/lnd_stall.h"
#include "emu/facts/enum/object.h"
#include "emu/trace/event.h"
#include "rdmalab/inspect.h"

/* A peer of a node, as far as the tree tells. */
struct peer {
    char path[TREE_PATH_BYTES]; /* "h1.lnet.peer[0]" */
    char host[RDL_NAME_BYTES];
    char nid[RDL_VALUE_BYTES];       /* of the peer */
    char other[TREE_PATH_BYTES];     /* what the peer knows of this node; "": it is not known */
    char other_host[RDL_NAME_BYTES]; /* of the peer; "": it is not known */
    char qp[TREE_PATH_BYTES];        /* of the connection; "": it has none */
    unsigned long long queued, active, waiting, tx_queued;
};

/* The search for the entry of a node in the table of its peer. */
struct node_search {
    struct why_not *w;
    const char *nid, *own;
    struct peer *p;
};

static void text_of(const struct why_not *w, const char *node, enum leaf_id id, char *ret,
                    size_t bytes)
{
    struct text t = text_on(ret, bytes);
    struct rdl_value v;

    if (tree_leaf(w->lab, node, id, &v))
        text_add(&t, v.text);
}

/* Finds the node with the NID of the peer on host @key, and the entry of @own there. */
static void each_host(void *ctx, const char *key, const struct rdl_value *v)
{
    struct node_search *s = ctx;
    char node[TREE_PATH_BYTES], nid[RDL_VALUE_BYTES], entry[TREE_PATH_BYTES];
    struct text t;

    if (!tree_value_is(v, NODE_host) || !tree_child(s->w->lab, key, CHILD_host_lnet, node))
        return;
    text_of(s->w, node, LEAF_lnet_nid, nid, sizeof(nid));
    if (strcmp(nid, s->nid) != 0)
        return;
    t = text_on(s->p->other_host, sizeof(s->p->other_host));
    text_add(&t, key);
    for (uint64_t i = 0; tree_element(s->w->lab, node, CHILD_lnet_peer, i, entry); i++) {
        text_of(s->w, entry, LEAF_lnet_peer_nid, nid, sizeof(nid));
        if (strcmp(nid, s->own) != 0)
            continue;
        t = text_on(s->p->other, sizeof(s->p->other));
        text_add(&t, entry);
    }
}

static void read_peer(struct why_not *w, const char *path, struct peer *ret)
{
    char node[TREE_PATH_BYTES], own[RDL_VALUE_BYTES];
    struct node_search s = {.w = w, .nid = ret->nid, .own = own, .p = ret};
    struct text t = text_on(ret->path, sizeof(ret->path)), qp = text_on(ret->qp, sizeof(ret->qp));
    uint32_t qpn;
    size_t at;

    ret->other[0] = ret->other_host[0] = ret->qp[0] = '\0';
    text_add(&t, path);
    tree_host_of(path, ret->host);
    text_of(w, path, LEAF_lnet_peer_nid, ret->nid, sizeof(ret->nid));
    (void)tree_child(w->lab, ret->host, CHILD_host_lnet, node);
    text_of(w, node, LEAF_lnet_nid, own, sizeof(own));
    if (rdl_inspect_list(w->lab, "", each_host, &s, &at) != RDL_OK)
        ret->other[0] = '\0';
    qpn = (uint32_t)tree_number(w->lab, path, LEAF_lnet_peer_qpn);
    if (qpn)
        ev_names_object(w->past->names, &qp, ev_names_find_host(w->past->names, ret->host), OBJ_QP,
                        qpn);
    ret->queued = tree_number(w->lab, path, LEAF_lnet_peer_queued);
    ret->active = tree_number(w->lab, path, LEAF_lnet_peer_active);
    ret->waiting = tree_number(w->lab, path, LEAF_lnet_peer_waiting);
    ret->tx_queued = tree_number(w->lab, path, LEAF_lnet_peer_tx_queued);
}

/* Returns the last stall of the connection of @p.  Returns NULL if it is not recorded. */
static const struct ev *last_stall(const struct why_not *w, const struct peer *p)
{
    const uint32_t host = ev_names_find_host(w->past->names, p->host);

    for (size_t i = w->past->n; i > 0; i--) {
        const struct ev *e = past_at(w->past, i - 1);

        if (e->kind == EV_lnet_state && e->u.lnet_state.host == host &&
            strcmp(e->u.lnet_state.nid.s, p->nid) == 0)
            return NULL; /* an earlier one was of another connection */
        if (e->kind == EV_lnet_stall && e->u.lnet_stall.host == host &&
            strcmp(e->u.lnet_stall.nid.s, p->nid) == 0)
            return e;
    }
    return NULL;
}

/* Returns what messages of @p wait for, as the numbers of the connection tell it. */
static enum lnd_stall stall_by_numbers(const struct why_not *w, const struct peer *p)
{
    const uint64_t credits = tree_number(w->lab, p->path, LEAF_lnet_peer_credits);

    if (credits == 0)
        return LND_STALL_CREDITS;
    if (tree_number(w->lab, p->path, LEAF_lnet_peer_reserved) == 0)
        return LND_STALL_RESERVED;
    if (credits == 1 && tree_number(w->lab, p->path, LEAF_lnet_peer_version) == 0x11)
        return LND_STALL_LAST_CREDIT;
    return LND_STALL_SENDS;
}

/* Tells how many credits the peer owes, and when it returns them. */
static void say_owed(struct why_not *w, const struct peer *p)
{
    const unsigned long long depth = tree_number(w->lab, p->path, LEAF_lnet_peer_queue_depth);
    const unsigned long long left = tree_number(w->lab, p->path, LEAF_lnet_peer_credits);
    unsigned long long owed;

    if (!p->other[0]) {
        why_not_say(w, "%s has to return credits, with its next message.", p->nid);
        return;
    }
    owed = tree_number(w->lab, p->other, LEAF_lnet_peer_outstanding);
    why_not_say(w,
                "%s has to return them. Of %llu credits %llu %s left here, and %s owes %llu "
                "(%s.outstanding). They come with its next message, or with a NOOP when it owes "
                "enough (peer_credits_hiw). The others are in messages under way, or in messages "
                "that its software has not handled yet.",
                p->other_host, depth, left, left == 1 ? "is" : "are", p->other_host, owed,
                p->other);
}

/* Tells who has to give what is missing. */
static void say_giver(struct why_not *w, const struct peer *p, enum lnd_stall stall)
{
    const char *peer = p->other_host[0] ? p->other_host : p->nid;

    switch (stall) {
    case LND_STALL_CREDITS:
    case LND_STALL_LAST_CREDIT:
        say_owed(w, p);
        break;
    case LND_STALL_RESERVED:
        why_not_say(w,
                    "%s has to answer an earlier request: each keeps a receive of %s for its "
                    "answer, and gives it back when the answer has come. %llu message%s under way.",
                    peer, p->host, p->active, p->active == 1 ? " is" : "s are");
        break;
    case LND_STALL_SENDS:
        why_not_say(w,
                    "The adapter of %s has to complete a send of %s: then the next message has its "
                    "place. An ACK of the adapter of %s is enough for that.",
                    p->host, p->qp[0] ? p->qp : "the connection", peer);
        break;
    }
}

/* Returns the reasons of the stalls at the connection of @p in the tick of @last, the last of them:
 * messages of several sorts may wait.  The set has 1u << enum lnd_stall.
 */
static unsigned stalls_with(const struct why_not *w, const struct peer *p, const struct ev *last)
{
    unsigned ret = 0;

    for (size_t i = past_lower_bound(w->past, ev_id_of(ev_tick(last->id), 0)); i < w->past->n;
         i++) {
        const struct ev *e = past_at(w->past, i);

        if (e->id > last->id)
            break;
        if (e->kind == EV_lnet_stall && e->u.lnet_stall.host == last->u.lnet_stall.host &&
            strcmp(e->u.lnet_stall.nid.s, p->nid) == 0)
            ret |= 1u << e->u.lnet_stall.stall;
    }
    return ret;
}

static void say_queued(struct why_not *w, const struct peer *p)
{
    const struct ev *e = last_stall(w, p);
    const unsigned stalls = e ? stalls_with(w, p, e) : 1u << stall_by_numbers(w, p);
    char id[64] = "";
    struct text t = text_on(id, sizeof(id));

    if (e) {
        text_add(&t, ", see ");
        ev_add_id(&t, e->id);
    }
    why_not_say(w, "%s: %llu message%s to %s wait%s at the connection%s.", p->path, p->queued,
                p->queued == 1 ? "" : "s", p->nid, p->queued == 1 ? "s" : "", id);
    w->indent += 2;
    for (size_t i = 0; i < enum_lnd_stall.n_rows; i++) {
        const struct enum_row *row = &enum_lnd_stall.rows[i];

        if (!(stalls >> row->value & 1u))
            continue;
        why_not_say(w, "%s: %s.", row->name, row->text);
        say_giver(w, p, (enum lnd_stall)row->value);
    }
    w->indent -= 2;
}

static void say_waiting(struct why_not *w, const struct peer *p)
{
    const uint64_t due = tree_number(w->lab, p->path, LEAF_lnet_peer_reconnect);
    const char *peer = p->other_host[0] ? p->other_host : "the peer";
    char more[SHOW_LINE_BYTES];
    struct text t = text_on(more, sizeof(more));

    if (tree_number(w->lab, p->path, LEAF_lnet_peer_connecting) > 0) {
        text_addf(&t, ", which %s has asked for", p->host);
    } else if (tree_number(w->lab, p->path, LEAF_lnet_peer_accepting) > 0) {
        text_addf(&t, ", which %s has asked for", peer);
    } else if (due > 0) {
        text_add(&t, ", which may be asked for at t=");
        quantity_add_time_short(&t, due);
    }
    why_not_say(w, "%s: %llu message%s to %s wait%s for a connection%s.", p->path, p->waiting,
                p->waiting == 1 ? "" : "s", p->nid, p->waiting == 1 ? "s" : "", more);
}

/* Tells of the messages of @p that are not over.  Returns false if there are none. */
static bool say_peer(struct why_not *w, const struct peer *p)
{
    if (p->queued > 0)
        say_queued(w, p);
    if (p->waiting > 0)
        say_waiting(w, p);
    if (p->tx_queued > 0)
        why_not_say(w,
                    "%s: %llu message%s to %s wait%s in LNet, which hands to its driver as many as "
                    "peer_credits of lnet_start at a time. One that is over makes room.",
                    p->path, p->tx_queued, p->tx_queued == 1 ? "" : "s", p->nid,
                    p->tx_queued == 1 ? "s" : "");
    if (p->active > 0 && p->queued == 0)
        why_not_say(w,
                    "%s: %llu message%s to %s %s sent and not over: %s waits for %s completion, or "
                    "for the answer of %s.",
                    p->path, p->active, p->active == 1 ? "" : "s", p->nid,
                    p->active == 1 ? "is" : "are", p->host, p->active == 1 ? "its" : "their",
                    p->other_host[0] ? p->other_host : "the peer");
    return p->queued + p->waiting + p->tx_queued + p->active > 0;
}

bool why_not_lnet_peer(struct why_not *w, const char *path)
{
    struct peer p;

    read_peer(w, path, &p);
    if (!say_peer(w, &p))
        return false;
    if (p.queued + p.tx_queued > 0)
        why_not_try(w, "show events last 4 kinds=lnet_stall,lnet_received");
    why_not_try(w, "run");
    return true;
}

size_t why_not_lnet(struct why_not *w, const char *host)
{
    char node[TREE_PATH_BYTES], path[TREE_PATH_BYTES];
    size_t n = 0;

    if (!tree_child(w->lab, host, CHILD_host_lnet, node))
        return 0;
    for (uint64_t i = 0; tree_element(w->lab, node, CHILD_lnet_peer, i, path); i++)
        n += why_not_lnet_peer(w, path);
    return n;
}
