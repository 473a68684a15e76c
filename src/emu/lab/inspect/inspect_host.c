/* SPDX-License-Identifier: MIT */
/* Inspect tree: the lab and its hosts. */
#include <string.h>

#include "emu/device/rdma.h"
#include "emu/facts/enum/object.h"
#include "emu/guest/pvrdma/pvrdma.h"
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/lab/lnet.h"
#include "emu/rnic/eswitch.h"
#include "emu/rnic/rnic.h"
#include "emu/wire/addr.h"

static void offer_host(const struct inode *n, struct visit *v, uint32_t i)
{
    struct inode s = *n;

    s.host = n->state->hosts[i];
    s.handle = i + 1;
    if (host_is_there(s.host))
        inspect_named(v, CHILD_lab_host, s.host->name, s);
}

static void offer_switch(const struct inode *n, struct visit *v, uint32_t i)
{
    struct inode s = *n;

    s.number = i;
    inspect_named(v, CHILD_lab_switch, n->state->net.switches[i]->name.s, s);
}

static void offer_ext(const struct inode *n, struct visit *v, uint32_t i)
{
    struct inode s = *n;

    s.number = i;
    s.handle = i + 1;
    inspect_named(v, CHILD_lab_external_port, n->state->net.exts[i].name.s, s);
}

static void offer_link(const struct inode *n, struct visit *v, uint32_t i)
{
    char name[LINK_NAME_BYTES];
    struct inode s = *n;

    s.number = i;
    s.handle = i + 1;
    inspect_named(v, CHILD_lab_link, inspect_link_name(n->state, &n->state->net.links[i], name), s);
}

static void offer_fault(const struct inode *n, struct visit *v, uint32_t i)
{
    const struct net_fault *f = slots_at(&n->state->net.faults, i);
    struct inode s = *n;

    if (!f)
        return;
    s.object = f;
    s.handle = slots_name(&n->state->net.faults, i);
    inspect_named(v, CHILD_lab_fault, f->name.s, s);
}

/* Reports the part that the visit looks up, found by the lab's table of names. */
static void visit_wanted_part(const struct inode *n, struct visit *v)
{
    typedef void offer(const struct inode *n, struct visit *v, uint32_t i);
    static offer *const offers[] = {[PART_HOST] = offer_host,
                                    [PART_SWITCH] = offer_switch,
                                    [PART_PORT] = offer_ext,
                                    [PART_FAULT] = offer_fault};
    const struct part *p = parts_find(&n->state->parts, v->want, v->want_len);
    uint32_t link;

    if (p)
        offers[p->kind](n, v, p->index);
    else if (lab_link_named(n->state, v->want, v->want_len, &link))
        offer_link(n, v, link);
}

static void visit_lab(const struct inode *n, struct visit *v)
{
    const struct net *net = &n->state->net;

    if (v->want) {
        visit_wanted_part(n, v);
        return;
    }
    for (uint32_t i = 0; i < n->state->n_hosts; i++)
        offer_host(n, v, i);
    for (uint32_t i = 0; i < net->n_switches; i++)
        offer_switch(n, v, i);
    for (uint32_t i = 0; i < net->n_exts; i++)
        offer_ext(n, v, i);
    for (uint32_t i = 0; i < net->n_links; i++)
        offer_link(n, v, i);
    for (uint32_t i = 0; i < net->faults.len; i++)
        offer_fault(n, v, i);
}

static void gid_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const bool of_device = list->host->rnic && !list->host->vrnic;
    const struct hca_gid *g = of_device ? &list->host->rnic->hca.gids[i] : NULL;
    char buf[ADDR_TEXT_MAX];

    if (!g)
        inspect_item_text(v, list, key, addr_text(list->host->guest.config.gid[i], buf));
    else
        inspect_item_text(v, list, key, g->valid ? addr_text(g->raw, buf) : "");
}

/* The GID table up to its last entry in use.  Without an RDMA device, and with a virtual one: the
 * addresses of the host.
 */
static struct inode gid_list(const struct inode *n)
{
    const struct rnic *nic = n->host->rnic;
    struct inode s = *n;

    s.item = gid_item;
    s.list_end = nic ? 0 : GUEST_GIDS;
    for (uint64_t i = 0; nic && i < HCA_GIDS; i++) {
        if (nic->hca.gids[i].valid)
            s.list_end = i + 1;
    }
    return s;
}

static void pkey_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    inspect_item_leaf(v, list, key, list->host->rnic->hca.pkeys.v[i]);
}

static struct inode pkey_list(const struct inode *n)
{
    struct inode s = *n;

    s.item = pkey_item;
    s.list_end = n->host->rnic ? n->host->rnic->hca.pkeys.n : 0;
    return s;
}

static void ceq_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const uint32_t queue = rdma_ceq(host_rdma(list->host), (uint32_t)i);

    inspect_item(v, list, key, queue_node(list, FN_RDMA, queue));
}

static const enum child_id child_of_object[VERBS_KINDS] = {
    [OBJ_PD] = CHILD_host_pd,
    [OBJ_MR] = CHILD_host_mr,
    [OBJ_CQ] = CHILD_host_cq,
    [OBJ_QP] = CHILD_host_qp,
    [OBJ_AH] = CHILD_host_ah,
    [OBJ_MW] = CHILD_host_mw,
    [OBJ_CHANNEL] = CHILD_host_channel,
    [OBJ_SRQ] = CHILD_host_srq,
    [OBJ_EVENT_CHANNEL] = CHILD_host_event_channel,
    [OBJ_CM_ID] = CHILD_host_cm_id,
};

static void visit_object(const struct inode *n, struct visit *v, const struct guest_object *o)
{
    struct inode s = *n;

    s.object = o;
    s.handle = o->handle;
    inspect_named(v, child_of_object[o->kind], o->name, s);
}

/* Reports all objects of one kind that have a name.  A pending object without a name has none yet.
 */
static void visit_table(const struct inode *n, struct visit *v, const struct slots *table)
{
    for (uint32_t i = 0, left = table->used; left > 0; i++) {
        const struct guest_object *o = slots_at(table, i);

        if (!o)
            continue;
        left--;
        if (o->name[0])
            visit_object(n, v, o);
    }
}

/* Reports the object that the visit looks up, found by the guest's table of names. */
static void visit_wanted(const struct inode *n, struct visit *v)
{
    char name[RDL_NAME_BYTES] = {0};
    const struct guest_object *o;

    if (v->found || v->want_len >= sizeof(name))
        return;
    memcpy(name, v->want, v->want_len);
    o = verbs_find(&n->host->guest.verbs, name);
    if (o)
        visit_object(n, v, o);
}

static void visit_objects(const struct inode *n, struct visit *v)
{
    if (v->want) {
        visit_wanted(n, v);
        return;
    }
    for (unsigned kind = OBJ_PD; kind < VERBS_KINDS; kind++)
        visit_table(n, v, &n->host->guest.verbs.objects[kind]);
}

static void visit_mac(const struct inode *n, struct visit *v)
{
    char buf[MAC_TEXT_MAX];
    struct text mac = text_on(buf, sizeof(buf));

    mac_add(&mac, n->host->port.mac);
    inspect_text(v, LEAF_host_mac, buf);
}

static void visit_host(const struct inode *n, struct visit *v)
{
    const struct host *h = n->host;
    struct inode counters = *n;

    inspect_text(v, LEAF_host_name, h->name);
    if (inspect_asks(v, LEAF_host_mac))
        visit_mac(n, v);
    inspect_child(v, CHILD_host_gid, gid_list(n));
    inspect_leaf(v, LEAF_host_ram_bytes, h->ram.bytes);
    inspect_word(v, LEAF_host_profile, h->guest.config.profile);
    inspect_leaf(v, LEAF_host_irqs, guest_irqs(&h->guest));
    inspect_leaf(v, LEAF_host_external, h->is_external);
    if (h->rnic)
        inspect_child(v, CHILD_host_device, *n);
    if (h->rnic && !h->is_external)
        inspect_child(v, CHILD_host_driver, *n);
    inspect_child(v, CHILD_host_port, *n);
    if (h->net)
        inspect_child(v, CHILD_host_net, *n);
    if (!h->is_external)
        inspect_child(v, CHILD_host_ip, *n);
    if (h->rnic) {
        counters.object = &h->rnic->xport.count;
        inspect_child(v, CHILD_host_counters, counters);
    }
    if (host_rdma(h))
        inspect_child(v, CHILD_host_ctrl, queue_node(n, FN_RDMA, QUEUE_CTRL));
    inspect_child(v, CHILD_host_pkey, pkey_list(n));
    if (h->rnic)
        inspect_child(v, CHILD_host_async, *n);
    if (host_rdma(h) && host_rdma(h)->n_ceqs > 0)
        inspect_child(v, CHILD_host_ceq, inspect_list_of(n, host_rdma(h)->n_ceqs, ceq_item));
    inspect_child(v, CHILD_host_pci, *n);
    if (lab_lnet_node(h))
        inspect_child(v, CHILD_host_lnet, *n);
    if (h->vrnic)
        inspect_child(v, CHILD_host_vrnic, *n);
    if (h->rnic && h->rnic->router)
        inspect_child(v, CHILD_host_router, *n);
    if (host_is_machine(h)) {
        inspect_child(v, CHILD_host_vfs, inspect_list_of(n, eswitch_vfs(h->port.sw), inspect_nth));
        inspect_child(v, CHILD_host_eswitch, *n);
        if (h->port.sw->mux)
            inspect_child(v, CHILD_host_mux, *n);
    }
    if (inspect_is_pvrdma(n))
        inspect_child(v, CHILD_host_dsr, *n);
    visit_objects(n, v);
}

/* Reports the registers of a virtio device. */
static void visit_registers(const struct virtio_dev *d, struct visit *v)
{
    inspect_set(v, LEAF_device_status, d->status);
    inspect_leaf(v, LEAF_device_features_offered, d->offered);
    inspect_leaf(v, LEAF_device_features, d->accepted);
    inspect_leaf(v, LEAF_device_isr, d->isr);
    inspect_leaf(v, LEAF_device_config_generation, d->config_generation);
    inspect_leaf(v, LEAF_device_config_msix_vector, d->config_vector);
    inspect_leaf(v, LEAF_device_queue_select, d->queue_select);
    inspect_leaf(v, LEAF_device_num_queues, d->config.num_queues);
    inspect_leaf(v, LEAF_device_queue_size, d->config.queue_size);
    inspect_leaf(v, LEAF_device_n_vectors, d->config.n_vectors);
}

static void visit_device(const struct inode *n, struct visit *v)
{
    const struct virtio_dev *d = host_virtio(n->host, FN_RDMA);

    if (d)
        visit_registers(d, v);
    inspect_leaf(v, LEAF_device_needs_reset, host_is_broken(n->host));
    inspect_child(v, CHILD_device_limits, *n);
    inspect_child(v, CHILD_device_objects, *n);
    if (inspect_is_pvrdma(n))
        inspect_child(v, CHILD_device_info, *n);
    if (!d)
        return;
    inspect_word(v, LEAF_device_needs_reset_error, (uint32_t)d->reset_error);
    inspect_leaf(v, LEAF_device_needs_reset_queue, d->reset_queue);
    inspect_child(v, CHILD_device_config, *n);
    inspect_machine_rings(n, v);
}

static void visit_driver(const struct inode *n, struct visit *v)
{
    const struct pvrdma_guest *pvrdma = pvrdma_guest_of(&n->host->guest.verbs);

    inspect_leaf(v, LEAF_driver_reads, n->host->n_reads);
    inspect_leaf(v, LEAF_driver_writes, n->host->n_writes);
    if (pvrdma)
        inspect_leaf(v, LEAF_driver_doorbells, pvrdma->n_doorbells);
    inspect_leaf(v, LEAF_driver_dma_bytes, n->host->guest.dma.used);
}

static void visit_limits(const struct inode *n, struct visit *v)
{
    const struct hca_limits *l = &n->host->rnic->hca.limits;

    inspect_leaf(v, LEAF_limits_max_pd, l->max_pd);
    inspect_leaf(v, LEAF_limits_max_mr, l->max_mr);
    inspect_leaf(v, LEAF_limits_max_cq, l->max_cq);
    inspect_leaf(v, LEAF_limits_max_qp, l->max_qp);
    inspect_leaf(v, LEAF_limits_max_cqe, l->max_cqe);
    inspect_leaf(v, LEAF_limits_max_qp_wr, l->max_qp_wr);
    inspect_leaf(v, LEAF_limits_max_send_sge, l->max_send_sge);
    inspect_leaf(v, LEAF_limits_max_recv_sge, l->max_recv_sge);
    inspect_leaf(v, LEAF_limits_max_inline_data, l->max_inline_data);
    inspect_leaf(v, LEAF_limits_max_mr_bytes, l->max_mr_bytes);
    inspect_leaf(v, LEAF_limits_max_rd_atomic, l->max_rd_atomic);
    inspect_leaf(v, LEAF_limits_max_dest_rd_atomic, l->max_dest_rd_atomic);
    inspect_leaf(v, LEAF_limits_max_mw, l->max_mw);
    inspect_leaf(v, LEAF_limits_max_fast_pages, l->max_fast_pages);
    inspect_leaf(v, LEAF_limits_max_srq, l->max_srq);
    inspect_leaf(v, LEAF_limits_max_sge_rd, l->max_sge_rd);
    inspect_leaf(v, LEAF_limits_max_res_rd_atom, l->max_res_rd_atom);
    inspect_leaf(v, LEAF_limits_max_ah, n->host->rnic->limits.max_ah);
    inspect_leaf(v, LEAF_limits_max_mcast_grp, l->max_mcast_grp);
    inspect_leaf(v, LEAF_limits_max_mcast_qp_attach, l->max_mcast_qp_attach);
    inspect_leaf(v, LEAF_limits_max_total_mcast_qp_attach, l->max_total_mcast_qp_attach);
}

static void visit_device_objects(const struct inode *n, struct visit *v)
{
    const struct hca *h = &n->host->rnic->hca;
    uint32_t n_gids = 0;

    for (uint32_t i = 0; i < HCA_GIDS; i++)
        n_gids += h->gids[i].valid;
    inspect_leaf(v, LEAF_objects_pd, h->pds.used);
    inspect_leaf(v, LEAF_objects_mr, h->n_mr);
    inspect_leaf(v, LEAF_objects_mw, h->n_mw);
    inspect_leaf(v, LEAF_objects_cq, h->cqs.used);
    inspect_leaf(v, LEAF_objects_qp, hca_n_qps(h));
    inspect_leaf(v, LEAF_objects_srq, h->srqs.used);
    inspect_leaf(v, LEAF_objects_gid, n_gids);
}

typedef void visitor(const struct inode *n, struct visit *v);

static visitor *const visitors[NODE_COUNT] = {
    [NODE_lab] = visit_lab,
    [NODE_host] = visit_host,
    [NODE_device] = visit_device,
    [NODE_driver] = visit_driver,
    [NODE_limits] = visit_limits,
    [NODE_objects] = visit_device_objects,
    [NODE_config] = visit_config,
    [NODE_port] = visit_port,
    [NODE_eswitch] = visit_eswitch,
    [NODE_vf] = visit_vf,
    [NODE_lnet] = visit_lnet,
    [NODE_lnet_messages] = visit_lnet_messages,
    [NODE_lnet_test] = visit_lnet_test,
    [NODE_lnet_peer] = visit_lnet_peer,
    [NODE_lnet_region] = visit_lnet_region,
    [NODE_lnet_memory] = visit_lnet_memory,
    [NODE_lnet_event] = visit_lnet_event,
    [NODE_mux] = visit_mux,
    [NODE_mux_gid] = visit_mux_gid,
    [NODE_mux_id] = visit_mux_id,
    [NODE_vrnic] = visit_vrnic,
    [NODE_vrnic_function] = visit_vrnic_function,
    [NODE_vrnic_qp] = visit_vrnic_qp,
    [NODE_vrnic_mr] = visit_vrnic_mr,
    [NODE_vrnic_cq] = visit_vrnic_cq,
    [NODE_router] = visit_router,
    [NODE_drops] = visit_drops,
    [NODE_net] = visit_net,
    [NODE_ip] = visit_ip,
    [NODE_neighbour] = visit_neighbour,
    [NODE_group] = visit_group,
    [NODE_counters] = visit_counters,
    [NODE_async] = visit_async,
    [NODE_async_event] = visit_async_event,
    [NODE_channel] = visit_channel,
    [NODE_event_channel] = visit_event_channel,
    [NODE_cm_id] = visit_cm_id,
    [NODE_pd] = visit_pd,
    [NODE_mr] = visit_mr,
    [NODE_mw] = visit_mw,
    [NODE_cq] = visit_cq,
    [NODE_wc] = visit_wc,
    [NODE_qp] = visit_qp,
    [NODE_ah] = visit_ah,
    [NODE_srq] = visit_srq,
    [NODE_queue] = visit_queue,
    [NODE_pci] = visit_pci,
    [NODE_pci_function] = visit_pci_function,
    [NODE_vector] = visit_vector,
    [NODE_sriov] = visit_sriov,
    [NODE_virtual_function] = visit_virtual_function,
    [NODE_driver_side] = visit_driver_side,
    [NODE_device_side] = visit_device_side,
    [NODE_dsr] = visit_dsr,
    [NODE_uar] = visit_uar,
    [NODE_ring] = visit_ring,
    [NODE_info] = visit_info,
    [NODE_desc] = visit_desc,
    [NODE_used] = visit_used,
    [NODE_switch] = visit_switch,
    [NODE_external_port] = visit_ext,
    [NODE_link] = visit_link,
    [NODE_way] = visit_way,
    [NODE_fault] = visit_fault,
};

void inspect_visit_kind(const struct inode *n, struct visit *v)
{
    if (visitors[n->kind])
        visitors[n->kind](n, v);
}
