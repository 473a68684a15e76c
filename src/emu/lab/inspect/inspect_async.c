/* SPDX-License-Identifier: MIT */
/* Inspect tree: asynchronous events, completion channels, channels and IDs of rdma_cm. */
#include "emu/base/text.h"
#include "emu/device/rdma.h"
#include "emu/facts/enum/object.h"
#include "emu/guest/machine/rdma_cm.h"
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

/* The private data as text up to the first zero byte. */
static const char *private_text(const struct rdl_cm_param *p, char ret[RDL_VALUE_BYTES])
{
    struct text t = text_on(ret, RDL_VALUE_BYTES);

    for (size_t i = 0; i < p->private_bytes && p->private_data[i]; i++) {
        const uint8_t c = p->private_data[i];

        text_addf(&t, c >= ' ' && c < 0x7f ? "%c" : "\\x%02x", c);
    }
    return ret;
}

/* The event that the program has taken last and not acknowledged. */
static void visit_taken(const struct cma_event *e, struct visit *v)
{
    char text[RDL_VALUE_BYTES];

    inspect_word(v, LEAF_event_channel_taken, e->kind);
    inspect_leaf(v, LEAF_event_channel_status, e->status > 0 ? (uint64_t)e->status : 0);
    inspect_leaf(v, LEAF_event_channel_error, e->status < 0 ? (uint64_t)-e->status : 0);
    inspect_leaf(v, LEAF_event_channel_private_bytes, e->param.private_bytes);
    inspect_text(v, LEAF_event_channel_private_data, private_text(&e->param, text));
    inspect_leaf(v, LEAF_event_channel_responder_resources, e->param.responder_resources);
    inspect_leaf(v, LEAF_event_channel_initiator_depth, e->param.initiator_depth);
}

void visit_event_channel(const struct inode *n, struct visit *v)
{
    const struct guest_cm_object *o = n->object;
    const struct cma_channel *ch = rdma_cm_channel_of(o);
    const struct cma_event *last = NULL;
    uint32_t n_unacked = 0;

    for (const struct cma_event *e = o->taken; e; e = e->next) {
        n_unacked++;
        last = e;
    }
    inspect_leaf(v, LEAF_event_channel_number, o->number);
    inspect_leaf(v, LEAF_event_channel_ids, ch->n_ids);
    inspect_leaf(v, LEAF_event_channel_pending, ch->n_events);
    if (ch->first)
        inspect_word(v, LEAF_event_channel_next, ch->first->kind);
    inspect_leaf(v, LEAF_event_channel_unacked, n_unacked);
    if (last)
        visit_taken(last, v);
}

static void visit_address(struct visit *v, enum leaf_id leaf, const struct rdl_cm_addr *a)
{
    char buf[ADDR_TEXT_MAX];

    if (a->version)
        inspect_text(v, leaf, addr_text(a->gid, buf));
}

/* The name of the queue pair @raw, "" if there is none, or if it was destroyed. */
static const char *qp_name(const struct guest_cm_object *o, uint64_t raw)
{
    const struct guest_object *qp = raw ? verbs_get(o->o.verbs, OBJ_QP, raw) : NULL;

    return qp ? qp->name : "";
}

void visit_cm_id(const struct inode *n, struct visit *v)
{
    const struct guest_cm_object *o = n->object;
    struct rdl_cm_id_info i;

    rdma_cm_id_info(o, &i);
    inspect_leaf(v, LEAF_cm_id_number, o->number);
    inspect_word(v, LEAF_cm_id_state, i.state);
    inspect_word(v, LEAF_cm_id_ib_state, i.ib_state);
    inspect_word(v, LEAF_cm_id_space, i.space);
    inspect_leaf(v, LEAF_cm_id_comm_id, i.comm_id);
    inspect_leaf(v, LEAF_cm_id_remote_comm_id, i.remote_comm_id);
    inspect_text(v, LEAF_cm_id_channel, o->channel->o.name);
    visit_address(v, LEAF_cm_id_local, &i.local);
    inspect_leaf(v, LEAF_cm_id_local_port, i.local.port);
    visit_address(v, LEAF_cm_id_peer, &i.peer);
    inspect_leaf(v, LEAF_cm_id_peer_port, i.peer.port);
    inspect_text(v, LEAF_cm_id_qp, qp_name(o, i.qp.raw));
    inspect_leaf(v, LEAF_cm_id_remote_qpn, i.remote_qpn);
    inspect_leaf(v, LEAF_cm_id_psn, i.psn);
    inspect_leaf(v, LEAF_cm_id_remote_psn, i.remote_psn);
    inspect_leaf(v, LEAF_cm_id_retries, i.retries);
    if (i.due_ns)
        inspect_leaf(v, LEAF_cm_id_due, i.due_ns);
    inspect_leaf(v, LEAF_cm_id_unacked, i.unacked);
}
