/* SPDX-License-Identifier: MIT */
/* Inspect tree: the lab and its hosts. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/wire/addr.h"

static struct inode sub(const struct inode *n, enum inode_kind kind)
{
    struct inode s = *n;

    s.kind = kind;
    return s;
}

static void visit_lab(const struct inode *n, struct visit *v)
{
    const struct world *w = n->world;

    for (uint32_t i = 0; i < w->n_hosts; i++) {
        struct inode s = sub(n, NODE_HOST);

        s.host = w->hosts[i];
        s.handle = i + 1;
        if (host_is_there(w->hosts[i]))
            child(v, w->hosts[i]->name, s);
    }
    for (uint32_t i = 0; i < w->net.n_switches; i++) {
        struct inode s = sub(n, NODE_SWITCH);

        s.number = i;
        child(v, w->net.switches[i]->name.s, s);
    }
    for (uint32_t i = 0; i < w->net.n_exts; i++) {
        struct inode s = sub(n, NODE_EXT);

        s.number = i;
        s.handle = i + 1;
        child(v, w->net.exts[i].name.s, s);
    }
    for (uint32_t i = 0; i < w->net.n_links; i++) {
        char buf[2 * RDL_NAME_BYTES];
        struct text name = text_on(buf, sizeof(buf));
        struct inode s = sub(n, NODE_LINK);

        inspect_link_name(&name, w, &w->net.links[i]);
        s.number = i;
        s.handle = i + 1;
        child(v, buf, s);
    }
    for (uint32_t i = 0; i < w->net.faults.len && w->net.faults.used; i++) {
        const struct net_fault *f = slots_at(&w->net.faults, i);
        struct inode s = sub(n, NODE_FAULT);

        if (!f)
            continue;
        s.object = f;
        s.handle = slots_name(&w->net.faults, i);
        child(v, f->name.s, s);
    }
}

static void gid_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const struct hca_gid *g = &list->host->dev.hca.gids[i];
    char buf[ADDR_TEXT_MAX];
    struct text t = text_on(buf, sizeof(buf));

    addr_add(&t, g->raw);
    leaf_text(v, key, g->valid ? buf : "");
}

/* The GID table up to its last entry in use. */
static struct inode gid_list(const struct inode *n)
{
    struct inode s = sub(n, NODE_LIST);

    s.item = gid_item;
    for (uint64_t i = 0; i < HCA_GIDS; i++) {
        if (n->host->dev.hca.gids[i].valid)
            s.list_end = i + 1;
    }
    return s;
}

/* Objects of one table that are this host's. */
static void visit_table(const struct inode *n, struct visit *v, const struct slots *table,
                        enum inode_kind kind)
{
    for (uint32_t i = 0, left = table->used; left > 0; i++) {
        const struct guest_object *o = slots_at(table, i);
        struct inode s = sub(n, kind);

        if (!o)
            continue;
        left--;
        if (o->guest != &n->host->guest)
            continue;
        s.object = o;
        s.handle = slots_name(table, i);
        child(v, o->name, s);
    }
}

static enum inode_kind node_of_object(enum object_kind kind)
{
    switch (kind) {
    case OBJ_PD:
        return NODE_PD;
    case OBJ_MR:
        return NODE_MR;
    case OBJ_CQ:
        return NODE_CQ;
    default:
        RDL_ASSERT(kind == OBJ_QP);
        return NODE_QP;
    }
}

/* The object called what the visit looks for, by the guest's own index of names. */
static void visit_wanted(const struct inode *n, struct visit *v)
{
    char name[RDL_NAME_BYTES] = {0};
    const struct guest_object *o;
    struct inode s;

    if (v->found || v->want_len >= sizeof(name))
        return;
    memcpy(name, v->want, v->want_len);
    o = guest_find(&n->host->guest, name);
    if (!o)
        return;
    s = sub(n, node_of_object(o->kind));
    s.object = o;
    s.handle = o->handle;
    child(v, o->name, s);
}

static void visit_objects(const struct inode *n, struct visit *v)
{
    const struct guest_tables *t = &n->world->tables;

    if (v->want) {
        visit_wanted(n, v);
        return;
    }
    visit_table(n, v, &t->pd, NODE_PD);
    visit_table(n, v, &t->mr, NODE_MR);
    visit_table(n, v, &t->cq, NODE_CQ);
    visit_table(n, v, &t->qp, NODE_QP);
}

static void visit_host(const struct inode *n, struct visit *v)
{
    const struct host *h = n->host;
    char buf[ADDR_TEXT_MAX];
    struct text mac = text_on(buf, sizeof(buf));
    struct inode counters = sub(n, NODE_COUNTERS);

    mac_add(&mac, h->dev.config.mac);
    counters.object = &h->dev.xport.count;
    leaf_text(v, "name", h->name);
    leaf_text(v, "mac", buf);
    child(v, "gid", gid_list(n));
    leaf(v, "ram_bytes", RDL_SIZE, h->ram.bytes);
    leaf_word(v, "profile", &enum_profile, h->dev.config.profile);
    leaf(v, "irqs", RDL_NUMBER, h->guest.irqs);
    child(v, "device", sub(n, NODE_DEVICE));
    child(v, "port", sub(n, NODE_PORT));
    child(v, "net", sub(n, NODE_NET));
    child(v, "ip", sub(n, NODE_IP));
    child(v, "counters", counters);
    child(v, "ctrl", queue_node(n, FN_RDMA, 0));
    visit_objects(n, v);
}

static void visit_device(const struct inode *n, struct visit *v)
{
    const struct virtio_dev *d = &n->host->dev.pci;

    leaf_set(v, "status", &enum_device_status, d->status);
    leaf(v, "features_offered", RDL_HEX, d->offered);
    leaf(v, "features", RDL_HEX, d->accepted);
    leaf(v, "isr", RDL_HEX, d->isr);
    leaf(v, "config_generation", RDL_NUMBER, d->config_generation);
    leaf(v, "config_msix_vector", RDL_NUMBER, d->config_vector);
    leaf(v, "queue_select", RDL_NUMBER, d->queue_select);
    leaf(v, "num_queues", RDL_NUMBER, d->config.num_queues);
    leaf(v, "n_vectors", RDL_NUMBER, d->config.n_vectors);
    leaf(v, "needs_reset", RDL_FLAG, rdma_broken(&n->host->dev));
    child(v, "limits", sub(n, NODE_LIMITS));
}

static void visit_limits(const struct inode *n, struct visit *v)
{
    const struct hca_limits *l = &n->host->dev.hca.limits;

    leaf(v, "max_pd", RDL_NUMBER, l->max_pd);
    leaf(v, "max_mr", RDL_NUMBER, l->max_mr);
    leaf(v, "max_cq", RDL_NUMBER, l->max_cq);
    leaf(v, "max_qp", RDL_NUMBER, l->max_qp);
    leaf(v, "max_cqe", RDL_NUMBER, l->max_cqe);
    leaf(v, "max_qp_wr", RDL_NUMBER, l->max_qp_wr);
    leaf(v, "max_send_sge", RDL_NUMBER, l->max_send_sge);
    leaf(v, "max_recv_sge", RDL_NUMBER, l->max_recv_sge);
    leaf(v, "max_inline_data", RDL_SIZE, l->max_inline_data);
    leaf(v, "max_mr_bytes", RDL_SIZE, l->max_mr_bytes);
    leaf(v, "max_rd_atomic", RDL_NUMBER, l->max_rd_atomic);
    leaf(v, "max_dest_rd_atomic", RDL_NUMBER, l->max_dest_rd_atomic);
}

static const struct {
    const char *name;
    void (*visit)(const struct inode *n, struct visit *v);
} kinds[NODE_KIND_COUNT] = {
    [NODE_NONE] = {"leaf", NULL},
    [NODE_LAB] = {"lab", visit_lab},
    [NODE_HOST] = {"host", visit_host},
    [NODE_DEVICE] = {"device", visit_device},
    [NODE_LIMITS] = {"limits", visit_limits},
    [NODE_PORT] = {"port", visit_port},
    [NODE_DROPS] = {"drops", visit_drops},
    [NODE_NET] = {"net", visit_net},
    [NODE_IP] = {"ip", visit_ip},
    [NODE_NEIGHBOUR] = {"neighbour", visit_neighbour},
    [NODE_COUNTERS] = {"counters", visit_counters},
    [NODE_PD] = {"pd", visit_pd},
    [NODE_MR] = {"mr", visit_mr},
    [NODE_CQ] = {"cq", visit_cq},
    [NODE_QP] = {"qp", visit_qp},
    [NODE_QUEUE] = {"queue", visit_queue},
    [NODE_DRIVER_SIDE] = {"driver", visit_driver_side},
    [NODE_DEVICE_SIDE] = {"device side", visit_device_side},
    [NODE_DESC] = {"desc", visit_desc},
    [NODE_USED] = {"used", visit_used},
    [NODE_WC] = {"wc", visit_wc},
    [NODE_SWITCH] = {"switch", visit_switch},
    [NODE_EXT] = {"external port", visit_ext},
    [NODE_LINK] = {"link", visit_link},
    [NODE_FAULT] = {"fault", visit_fault},
    [NODE_LIST] = {"list", NULL},
};

const char *inspect_kind_name(enum inode_kind kind)
{
    return kinds[kind].name;
}

void inspect_visit_kind(const struct inode *n, struct visit *v)
{
    if (kinds[n->kind].visit)
        kinds[n->kind].visit(n, v);
}
