/* SPDX-License-Identifier: MIT */
/* Inspect tree: a host's Ethernet port, virtio-net and IP stack; switches, external ports, links,
 * faults.
 */
#include <string.h>

#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/wire/addr.h"

void inspect_link_name(struct text *t, const struct world *w, const struct net_link *l)
{
    text_addf(t, "%s-%s", world_end_name(w, &l->end[0]), world_end_name(w, &l->end[1]));
}

/* Counters of struct host, by enum drop_reason. */
static struct inode drops_node(const struct inode *n, const uint64_t *drops)
{
    struct inode s = *n;

    s.kind = NODE_DROPS;
    s.object = drops;
    return s;
}

void visit_port(const struct inode *n, struct visit *v)
{
    const struct eth_port *p = &n->host->port;
    const bool up = p->link_end != NET_NO_LINK;
    char buf[2 * RDL_NAME_BYTES];
    struct text name = text_on(buf, sizeof(buf));

    if (up)
        inspect_link_name(&name, n->world, &n->world->net.links[p->link_end >> 1]);
    leaf(v, "mtu", RDL_SIZE, mtu_bytes((uint32_t)n->host->dev.config.max_mtu));
    leaf_text(v, "state", up ? "ACTIVE" : "DOWN");
    leaf_text(v, "link", buf);
    leaf(v, "sent_frames", RDL_NUMBER, p->sent_frames);
    leaf(v, "sent_bytes", RDL_NUMBER, p->sent_bytes);
    leaf(v, "looped_frames", RDL_NUMBER, p->looped_frames);
    leaf(v, "rcvd_frames", RDL_NUMBER, p->rcvd_frames);
    leaf(v, "rcvd_bytes", RDL_NUMBER, p->rcvd_bytes);
    leaf(v, "taken_frames", RDL_NUMBER, p->taken_frames);
    child(v, "drops", drops_node(n, p->drops));
    child(v, "tx_drops", drops_node(n, p->tx_drops));
}

/* Drop reasons by their names, in lower case. */
void visit_drops(const struct inode *n, struct visit *v)
{
    const uint64_t *drops = n->object;

    for (uint32_t i = 1; i < DROP_COUNT; i++) {
        const char *name = enum_name(&enum_drop, i);
        char key[RDL_NAME_BYTES];
        size_t k = 0;

        for (; name[k] && k + 1 < sizeof(key); k++)
            key[k] = (char)(name[k] >= 'A' && name[k] <= 'Z' ? name[k] - 'A' + 'a' : name[k]);
        key[k] = '\0';
        leaf(v, key, RDL_NUMBER, drops[i]);
    }
}

void visit_net(const struct inode *n, struct visit *v)
{
    const struct vnet *d = &n->host->net;

    leaf_set(v, "status", &enum_device_status, d->pci.status);
    leaf(v, "features_offered", RDL_HEX, d->pci.offered);
    leaf(v, "features", RDL_HEX, d->pci.accepted);
    leaf(v, "mtu", RDL_SIZE, d->config.mtu);
    leaf(v, "tx_frames", RDL_NUMBER, d->tx_frames);
    leaf(v, "rx_frames", RDL_NUMBER, d->rx_frames);
    child(v, "tx_drops", drops_node(n, d->tx_drops));
    child(v, "rx", queue_node(n, FN_NET, NET_QUEUE_RX));
    child(v, "tx", queue_node(n, FN_NET, NET_QUEUE_TX));
}

static void neighbour_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    struct inode s = *list;

    s.kind = NODE_NEIGHBOUR;
    s.index = i;
    child(v, key, s);
}

static struct inode neighbour_list(const struct inode *n)
{
    struct inode s = *n;

    s.kind = NODE_LIST;
    s.item = neighbour_item;
    s.list_end = n->host->guest.net.neighbours.n;
    return s;
}

void visit_ip(const struct inode *n, struct visit *v)
{
    const struct guest_net *g = &n->host->guest.net;

    leaf(v, "sent_frames", RDL_NUMBER, g->sent_frames);
    leaf(v, "rcvd_frames", RDL_NUMBER, g->rcvd_frames);
    leaf(v, "taken_frames", RDL_NUMBER, g->taken_frames);
    leaf(v, "pings", RDL_NUMBER, g->last_seq);
    child(v, "drops", drops_node(n, g->drops));
    child(v, "tx_drops", drops_node(n, g->tx_drops));
    child(v, "neighbours", neighbour_list(n));
}

void visit_neighbour(const struct inode *n, struct visit *v)
{
    const struct guest_neighbour *e = &n->host->guest.net.neighbours.v[n->index];
    char addr[ADDR_TEXT_MAX], buf[MAC_TEXT_MAX];
    struct text mac = text_on(buf, sizeof(buf));

    mac_add(&mac, e->mac);
    leaf_text(v, "addr", addr_text(e->gid, addr));
    leaf_text(v, "mac", e->state == NB_INCOMPLETE ? "" : buf);
    leaf_word(v, "state", &enum_neighbour, (uint32_t)e->state);
    leaf(v, "attempts", RDL_NUMBER, e->attempts);
    leaf(v, "waiting", RDL_NUMBER, e->n_waiting);
}

void visit_switch(const struct inode *n, struct visit *v)
{
    const struct net_switch *s = n->world->net.switches[n->number];

    leaf_text(v, "name", s->name.s);
    leaf(v, "ports", RDL_NUMBER, s->n_ports);
    leaf(v, "rcvd_frames", RDL_NUMBER, s->rcvd_frames);
    leaf(v, "sent_frames", RDL_NUMBER, s->sent_frames);
    child(v, "drops", drops_node(n, s->drops));
}

void visit_ext(const struct inode *n, struct visit *v)
{
    const struct net_ext *x = &n->world->net.exts[n->number];
    const bool up = x->link_end != NET_NO_LINK;
    char buf[2 * RDL_NAME_BYTES];
    struct text name = text_on(buf, sizeof(buf));

    if (up)
        inspect_link_name(&name, n->world, &n->world->net.links[x->link_end >> 1]);
    leaf_text(v, "name", x->name.s);
    leaf_text(v, "link", buf);
    leaf(v, "in_frames", RDL_NUMBER, x->in_frames);
    leaf(v, "in_bytes", RDL_NUMBER, x->in_bytes);
    leaf(v, "in_dropped", RDL_NUMBER, net_drops_sum(x->drops));
    leaf(v, "out_frames", RDL_NUMBER, x->out_frames);
    leaf(v, "out_bytes", RDL_NUMBER, x->out_bytes);
    leaf(v, "out_unread", RDL_NUMBER, n->world->lab->readers[n->number].unread);
    child(v, "drops", drops_node(n, x->drops));
}

void visit_link(const struct inode *n, struct visit *v)
{
    const struct net_link *l = &n->world->net.links[n->number];

    leaf_text(v, "a", world_end_name(n->world, &l->end[0]));
    leaf_text(v, "b", world_end_name(n->world, &l->end[1]));
    leaf(v, "latency", RDL_TIME, l->latency_ns);
    leaf(v, "rate", RDL_NUMBER, l->rate_bps);
    leaf(v, "loss_ppm", RDL_NUMBER, l->loss_ppm);
    leaf(v, "carried", RDL_NUMBER, l->carried);
    leaf(v, "lost", RDL_NUMBER, l->lost);
}

/* A criterion that matches everything is not shown. */
static void criterion(struct visit *v, const char *key, const struct enum_table *words,
                      uint32_t value)
{
    if (value == UINT32_MAX)
        leaf_text(v, key, "any");
    else if (words)
        leaf_word(v, key, words, value);
    else
        leaf(v, key, RDL_NUMBER, value);
}

static const char *fault_from(const struct world *w, const struct net_fault *f)
{
    if (f->host == EV_HOST_NONE)
        return "any";
    return f->host < EV_PORT_FIRST ? w->hosts[f->host]->name
                                   : w->net.exts[f->host - EV_PORT_FIRST].name.s;
}

void visit_fault(const struct inode *n, struct visit *v)
{
    const struct net_fault *f = n->object;

    leaf_text(v, "name", f->name.s);
    leaf_word(v, "kind", &enum_fault, (uint32_t)f->kind);
    leaf_text(v, "from", fault_from(n->world, f));
    criterion(v, "opcode", &enum_opcode, f->opcode);
    criterion(v, "syndrome", &enum_syndrome, f->syndrome);
    criterion(v, "psn", NULL, f->psn);
    criterion(v, "dest_qpn", NULL, f->dest_qpn);
    leaf(v, "nth", RDL_NUMBER, f->nth);
    criterion(v, "left", NULL, f->count);
    leaf(v, "delay", RDL_TIME, f->delay_ns);
    leaf(v, "seen", RDL_NUMBER, f->seen);
    leaf(v, "hits", RDL_NUMBER, f->hits);
}
