/* SPDX-License-Identifier: MIT */
/* Inspect tree: asynchronous events and completion channels. */
#include "emu/device/rdma.h"
#include "emu/facts/enum/object.h"
#include "emu/lab/inspect/inspect_nodes.h"

/* The queued asynchronous events, numbered from the oldest. */
static struct inode event_list(const struct inode *n)
{
    struct inode s = *n;

    s.item = inspect_nth;
    s.list_end = n->host->guest.verbs.async.len;
    return s;
}

void visit_async(const struct inode *n, struct visit *v)
{
    const struct rnic_events *e = &n->host->rnic->events;
    const struct rdma *d = host_rdma(n->host);
    const struct verbs_async *a = &n->host->guest.verbs.async;

    inspect_leaf(v, LEAF_async_raised, e->raised);
    inspect_leaf(v, LEAF_async_queued, e->len);
    inspect_leaf(v, LEAF_async_missed, e->lost);
    inspect_leaf(v, LEAF_async_told, a->heard);
    inspect_leaf(v, LEAF_async_pending, a->len);
    inspect_leaf(v, LEAF_async_lost, a->lost);
    inspect_leaf(v, LEAF_async_strays, a->strays);
    inspect_leaf(v, LEAF_async_unnamed, a->unnamed);
    inspect_child(v, CHILD_async_events, event_list(n));
    if (d && rdma_offers(&d->config, VF_EVENTQ))
        inspect_child(
            v, CHILD_async_queue,
            queue_node(n, FN_RDMA, queue_of_events(d->config.nic.max_cq, d->config.nic.max_qp)));
}

void visit_async_event(const struct inode *n, struct visit *v)
{
    const struct verbs *verbs = &n->host->guest.verbs;
    const struct rdl_async_event *e = verbs_async_waiting(verbs, (uint32_t)n->index);
    const struct guest_object *o;

    if (!e)
        return;
    o = e->object ? verbs_get(verbs, (enum object_kind)e->object, e->raw) : NULL;
    inspect_word(v, LEAF_async_event_event, e->type);
    inspect_text(v, LEAF_async_event_object, o ? o->name : "");
    inspect_leaf(v, LEAF_async_event_number, e->number);
}

void visit_channel(const struct inode *n, struct visit *v)
{
    const struct guest_channel *ch = n->object;

    inspect_leaf(v, LEAF_channel_number, ch->number);
    inspect_leaf(v, LEAF_channel_users, ch->o.n_users);
    inspect_leaf(v, LEAF_channel_pending, ch->len);
    inspect_text(v, LEAF_channel_next, ch->len ? ch->waiting[ch->first]->o.name : "");
}
