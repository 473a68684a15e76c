/* SPDX-License-Identifier: MIT */
/* Inspect tree: a host's Ethernet port, virtio-net and IP stack; switches, external ports, links,
 * faults.
 */
#include <string.h>

#include "emu/device/virtio_net.h"
#include "emu/facts/enum/drop.h"
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/lab/layer.h"
#include "emu/lab/machine.h"
#include "emu/rnic/eswitch.h"
#include "emu/rnic/rnic.h"
#include "emu/virtio/fault.h"
#include "emu/wire/addr.h"

const char *inspect_link_name(const struct lab_state *w, const struct net_link *l, char *buf)
{
    struct text t = text_on(buf, LINK_NAME_BYTES);

    text_addf(&t, "%s-%s", lab_end_name(w, &l->end[0]), lab_end_name(w, &l->end[1]));
    return buf;
}

/* The name of the link whose end @link_end is at the port; "" if there is none. */
static const char *link_at(const struct inode *n, uint32_t link_end, char *buf)
{
    return link_end == NET_NO_LINK
               ? ""
               : inspect_link_name(n->state, &n->state->net.links[link_end >> 1], buf);
}

/* Drop counters of the host, indexed by enum drop_reason. */
static struct inode drops_node(const struct inode *n, const uint64_t *drops)
{
    struct inode s = *n;

    s.object = drops;
    return s;
}

static void tenant_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const struct eth_port *own = &list->host->port;
    const struct eth_port *p = own->sw->ports[own->vport].port;

    while (i-- > 0)
        p = p->next_tenant;
    inspect_item_text(v, list, key, list->state->hosts[p->host]->name);
}

/* The number of hosts that share the port @p of an embedded switch. */
static uint64_t n_tenants(const struct eth_port *p)
{
    uint64_t n = 0;

    for (p = p->sw->ports[p->vport].port; p; p = p->next_tenant)
        n++;
    return n;
}

/* Reports the place of the port at the embedded switch of a machine. */
static void visit_place(const struct inode *n, struct visit *v)
{
    const struct eth_port *p = &n->host->port;

    if (host_is_guest(n->host))
        inspect_text(v, LEAF_port_machine, n->state->hosts[p->sw->host]->name);
    if (host_is_guest(n->host) && p->vport != ESWITCH_PF)
        inspect_leaf(v, LEAF_port_vf, p->vport - 1);
    if (p->sw && n_tenants(p) > 1)
        inspect_child(v, CHILD_port_tenants, inspect_list_of(n, n_tenants(p), tenant_item));
}

void visit_port(const struct inode *n, struct visit *v)
{
    const struct eth_port *p = &n->host->port;
    const struct rnic *nic = n->host->rnic;
    char buf[LINK_NAME_BYTES];

    if (nic)
        inspect_leaf(v, LEAF_port_mtu, mtu_bytes((uint32_t)rnic_active_mtu(nic)));
    inspect_text(v, LEAF_port_state, eth_port_is_up(p) ? "ACTIVE" : "DOWN");
    inspect_text(v, LEAF_port_link, link_at(n, p->sw ? p->sw->link_end : p->link_end, buf));
    inspect_leaf(v, LEAF_port_sent_frames, p->sent_frames);
    inspect_leaf(v, LEAF_port_sent_bytes, p->sent_bytes);
    inspect_leaf(v, LEAF_port_looped_frames, p->looped_frames);
    inspect_leaf(v, LEAF_port_rcvd_frames, p->rcvd_frames);
    inspect_leaf(v, LEAF_port_rcvd_bytes, p->rcvd_bytes);
    if (p->sw && p->sw->shortcut)
        inspect_leaf(v, LEAF_port_copied, p->copied);
    inspect_leaf(v, LEAF_port_taken_frames, p->taken_frames);
    if (nic)
        inspect_leaf(v, LEAF_port_bad_pkeys, nic->bad_pkeys);
    inspect_child(v, CHILD_port_drops, drops_node(n, p->drops));
    inspect_child(v, CHILD_port_tx_drops, drops_node(n, p->tx_drops));
    if (nic)
        inspect_leaf(v, LEAF_port_max_mtu, mtu_bytes((uint32_t)nic->config->max_mtu));
    inspect_leaf(v, LEAF_port_phys_mtu, p->mtu);
    if (nic)
        inspect_leaf(v, LEAF_port_bad_qkeys, nic->bad_qkeys);
    visit_place(n, v);
    if (p->vid) {
        inspect_leaf(v, LEAF_port_vlan, p->vid);
        inspect_leaf(v, LEAF_port_qos, p->pcp);
    }
}

static uint32_t n_waiting(const struct vf_pool *p)
{
    uint32_t n = 0;

    for (const struct vrnic *r = p->first_waiting; r; r = r->next_waiting)
        n++;
    return n;
}

void visit_eswitch(const struct inode *n, struct visit *v)
{
    const struct eswitch *s = n->host->port.sw;
    char buf[LINK_NAME_BYTES];
    uint64_t local = 0, copied = 0, copied_bytes = 0;

    for (uint32_t i = 0; i < s->n_ports; i++) {
        local += s->ports[i].counts.local_frames;
        copied += s->ports[i].counts.copied;
        copied_bytes += s->ports[i].counts.copied_bytes;
    }
    inspect_leaf(v, LEAF_eswitch_pool, pool_functions(n->state, n->host));
    inspect_leaf(v, LEAF_eswitch_exhausted, n->host->pool.exhausted);
    inspect_word(v, LEAF_eswitch_when_full, n->host->pool.when_full);
    inspect_leaf(v, LEAF_eswitch_waiting, n_waiting(&n->host->pool));
    inspect_text(v, LEAF_eswitch_link, link_at(n, s->link_end, buf));
    inspect_leaf(v, LEAF_eswitch_sent_frames, s->sent_frames);
    inspect_leaf(v, LEAF_eswitch_sent_bytes, s->sent_bytes);
    inspect_leaf(v, LEAF_eswitch_local_frames, local);
    if (s->shortcut) {
        inspect_leaf(v, LEAF_eswitch_shortcut, true);
        inspect_leaf(v, LEAF_eswitch_copied, copied);
        inspect_leaf(v, LEAF_eswitch_copied_bytes, copied_bytes);
    }
    inspect_leaf(v, LEAF_eswitch_arrived, s->arrived);
    inspect_leaf(v, LEAF_eswitch_passed, s->passed);
    inspect_child(v, CHILD_eswitch_drops, drops_node(n, s->drops));
}

void visit_router(const struct inode *n, struct visit *v)
{
    const struct router *r = n->host->rnic->router;
    const struct lab_state *w = n->state;

    inspect_text(v, LEAF_router_machine, w->hosts[r->process->host]->name);
    inspect_leaf(v, LEAF_router_sends, r->count.sends);
    inspect_leaf(v, LEAF_router_receives, r->count.receives);
    inspect_leaf(v, LEAF_router_completions, r->count.completions);
    inspect_leaf(v, LEAF_router_copies, r->count.copies);
    inspect_leaf(v, LEAF_router_bytes, r->count.bytes);
    inspect_leaf(v, LEAF_router_busy_ns, r->count.busy_ns);
    inspect_leaf(v, LEAF_router_waiting, r->n_turns + r->n_ends);
}

void inspect_guests(struct text *t, const struct lab_state *w, const struct eth_port *first)
{
    for (const struct eth_port *p = first; p; p = p->next_tenant) {
        const char *name = w->hosts[p->host]->name;

        if (t->len + strlen(name) + sizeof(", , ...") > t->cap) { /* no name is cut */
            text_add(t, ", ...");
            return;
        }
        text_addf(t, "%s%s", t->len ? ", " : "", name);
    }
}

void visit_vf(const struct inode *n, struct visit *v)
{
    struct eth_port sum = {0}; /* over those who share it */
    uint64_t dropped = 0;
    const struct eswitch *s = n->host->port.sw;
    const uint32_t number = eswitch_port_of_vf((uint32_t)n->index);
    const struct vport *p = &s->ports[number];
    const uint8_t *mac = eswitch_mac(s, number);
    char buf[MAC_TEXT_MAX] = "", guests[RDL_VALUE_BYTES] = "";
    struct text t = text_on(buf, sizeof(buf)), names = text_on(guests, sizeof(guests));

    if (mac)
        mac_add(&t, mac);
    inspect_leaf(v, LEAF_vf_enabled, n->index < machine_enabled_vfs(n->host));
    inspect_guests(&names, n->state, p->port);
    for (const struct eth_port *q = p->port; q; q = q->next_tenant) {
        dropped += net_drops_sum(q->drops);
        sum.rcvd_bytes += q->rcvd_bytes + q->whole_rcvd_bytes;
        sum.rcvd_frames += q->rcvd_frames + q->whole_rcvd_frames;
        sum.sent_bytes += q->sent_bytes + q->whole_sent_bytes;
        sum.sent_frames += q->sent_frames + q->whole_sent_frames;
    }
    inspect_text(v, LEAF_vf_guest, guests);
    inspect_text(v, LEAF_vf_mac, buf);
    inspect_word(v, LEAF_vf_state, p->set.state);
    inspect_leaf(v, LEAF_vf_up, eswitch_is_up(s, number));
    inspect_leaf(v, LEAF_vf_spoofchk, p->set.spoofchk);
    inspect_leaf(v, LEAF_vf_trust, p->set.trust);
    inspect_leaf(v, LEAF_vf_vlan, p->set.vlan);
    inspect_leaf(v, LEAF_vf_qos, p->set.qos);
    inspect_leaf(v, LEAF_vf_max_tx_rate, p->set.max_tx_bps);
    inspect_leaf(v, LEAF_vf_min_tx_rate, p->set.min_tx_bps);
    inspect_leaf(v, LEAF_vf_rx_bytes, sum.rcvd_bytes);
    inspect_leaf(v, LEAF_vf_rx_packets, sum.rcvd_frames);
    inspect_leaf(v, LEAF_vf_rx_multicast, p->counts.rcvd_multicast);
    inspect_leaf(v, LEAF_vf_rx_broadcast, p->counts.rcvd_broadcast);
    inspect_leaf(v, LEAF_vf_rx_dropped, dropped);
    inspect_leaf(v, LEAF_vf_tx_bytes, sum.sent_bytes);
    inspect_leaf(v, LEAF_vf_tx_packets, sum.sent_frames);
    inspect_leaf(v, LEAF_vf_tx_local, p->counts.local_frames + p->counts.whole_frames);
    inspect_leaf(v, LEAF_vf_tx_dropped, p->counts.tx_dropped);
}

void visit_drops(const struct inode *n, struct visit *v)
{
    const uint64_t *drops = n->object;

    for (uint32_t i = 1; i < DROP_COUNT; i++)
        inspect_keyed(v, LEAF_drops_reason, enum_by_value(&enum_drop, i), drops[i]);
}

void visit_net(const struct inode *n, struct visit *v)
{
    const struct vnet *d = n->host->net;

    inspect_set(v, LEAF_net_status, d->pci.status);
    inspect_leaf(v, LEAF_net_features_offered, d->pci.offered);
    inspect_leaf(v, LEAF_net_features, d->pci.accepted);
    inspect_leaf(v, LEAF_net_mtu, n->host->port.mtu);
    inspect_leaf(v, LEAF_net_tx_frames, d->tx_frames);
    inspect_leaf(v, LEAF_net_rx_frames, d->rx_frames);
    inspect_child(v, CHILD_net_tx_drops, drops_node(n, d->tx_drops));
    inspect_child(v, CHILD_net_rx, queue_node(n, FN_NET, NET_QUEUE_RX));
    inspect_child(v, CHILD_net_tx, queue_node(n, FN_NET, NET_QUEUE_TX));
    inspect_leaf(v, LEAF_net_isr, d->pci.isr);
    inspect_leaf(v, LEAF_net_config_generation, d->pci.config_generation);
    inspect_word(v, LEAF_net_needs_reset_error, (uint32_t)d->pci.reset_error);
    inspect_leaf(v, LEAF_net_needs_reset_queue, d->pci.reset_queue);
}

/* Number of neighbours from the lab's directory; they come first in the list. */
static uint32_t n_told(const struct inode *n)
{
    const struct directory *d = n->host->guest.net.config.directory;

    return d ? d->n : 0;
}

static const struct guest_neighbour *neighbour_at(const struct inode *n, uint64_t i)
{
    return &n->host->guest.net.neighbours.v[i - n_told(n)];
}

static void neighbour_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    /* An entry that entered the directory later would be listed twice. */
    if (i < n_told(list) || neighbour_at(list, i)->state != NB_PERMANENT)
        inspect_nth(list, i, v, key);
}

static struct inode neighbour_list(const struct inode *n)
{
    struct inode s = *n;

    s.item = neighbour_item;
    s.list_end = n_told(n) + n->host->guest.net.neighbours.n;
    return s;
}

/* A group without members is listed until its last report is sent. */
static void group_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const struct guest_group *g = &list->host->guest.net.groups[i];

    if (g->members > 0 || g->timer)
        inspect_nth(list, i, v, key);
}

static struct inode group_list(const struct inode *n)
{
    struct inode s = *n;

    s.item = group_item;
    s.list_end = n->host->guest.net.n_groups;
    return s;
}

void visit_group(const struct inode *n, struct visit *v)
{
    const struct guest_group *g = &n->host->guest.net.groups[n->index];
    char addr[ADDR_TEXT_MAX], buf[MAC_TEXT_MAX];
    struct text t = text_on(buf, sizeof(buf));
    uint8_t mac[MAC_BYTES];

    mac_from_multicast(mac, g->gid);
    mac_add(&t, mac);
    inspect_text(v, LEAF_group_addr, addr_text(g->gid, addr));
    inspect_text(v, LEAF_group_mac, buf);
    inspect_leaf(v, LEAF_group_members, g->members);
    inspect_leaf(v, LEAF_group_report_due, g->timer ? g->due_ns : 0);
}

void visit_ip(const struct inode *n, struct visit *v)
{
    const struct guest_net *g = &n->host->guest.net;

    inspect_leaf(v, LEAF_ip_sent_frames, g->sent_frames);
    inspect_leaf(v, LEAF_ip_rcvd_frames, g->rcvd_frames);
    inspect_leaf(v, LEAF_ip_taken_frames, g->taken_frames);
    inspect_leaf(v, LEAF_ip_pings, g->last_seq);
    inspect_child(v, CHILD_ip_drops, drops_node(n, g->drops));
    inspect_child(v, CHILD_ip_tx_drops, drops_node(n, g->tx_drops));
    inspect_child(v, CHILD_ip_neighbours, neighbour_list(n));
    inspect_child(v, CHILD_ip_groups, group_list(n));
}

void visit_neighbour(const struct inode *n, struct visit *v)
{
    const bool told = n->index < n_told(n);
    const struct guest_neighbour *e = told ? NULL : neighbour_at(n, n->index);
    const struct directory_entry *d = told ? &n->state->directory.v[n->index] : NULL;
    const enum neighbour_state state = told ? NB_PERMANENT : e->state;
    char addr[ADDR_TEXT_MAX], buf[MAC_TEXT_MAX];
    struct text mac = text_on(buf, sizeof(buf));

    mac_add(&mac, told ? d->mac : e->mac);
    inspect_text(v, LEAF_neighbour_addr, addr_text(told ? d->gid : e->gid, addr));
    inspect_text(v, LEAF_neighbour_mac, state == NB_INCOMPLETE ? "" : buf);
    inspect_word(v, LEAF_neighbour_state, (uint32_t)state);
    inspect_leaf(v, LEAF_neighbour_attempts, told ? 0 : e->attempts);
    inspect_leaf(v, LEAF_neighbour_waiting, told ? 0 : e->n_waiting);
}

void visit_switch(const struct inode *n, struct visit *v)
{
    const struct net_switch *s = n->state->net.switches[n->number];

    inspect_text(v, LEAF_switch_name, s->name.s);
    inspect_leaf(v, LEAF_switch_ports, s->n_ports);
    inspect_leaf(v, LEAF_switch_rcvd_frames, s->rcvd_frames);
    inspect_leaf(v, LEAF_switch_sent_frames, s->sent_frames);
    inspect_child(v, CHILD_switch_drops, drops_node(n, s->drops));
}

void visit_ext(const struct inode *n, struct visit *v)
{
    const struct net_ext *x = &n->state->net.exts[n->number];
    char buf[LINK_NAME_BYTES];

    inspect_text(v, LEAF_external_port_name, x->name.s);
    inspect_text(v, LEAF_external_port_link, link_at(n, x->link_end, buf));
    inspect_leaf(v, LEAF_external_port_in_frames, x->in_frames);
    inspect_leaf(v, LEAF_external_port_in_bytes, x->in_bytes);
    inspect_leaf(v, LEAF_external_port_in_dropped, net_drops_sum(x->drops));
    inspect_leaf(v, LEAF_external_port_out_frames, x->out_frames);
    inspect_leaf(v, LEAF_external_port_out_bytes, x->out_bytes);
    inspect_leaf(v, LEAF_external_port_out_unread, n->state->lab->readers[n->number].unread);
    inspect_child(v, CHILD_external_port_drops, drops_node(n, x->drops));
}

static struct inode way_node(const struct inode *n, const struct net_direction *d)
{
    struct inode way = *n;

    way.object = d;
    return way;
}

void visit_link(const struct inode *n, struct visit *v)
{
    const struct net_link *l = &n->state->net.links[n->number];

    inspect_text(v, LEAF_link_a, lab_end_name(n->state, &l->end[0]));
    inspect_text(v, LEAF_link_b, lab_end_name(n->state, &l->end[1]));
    inspect_leaf(v, LEAF_link_latency, l->dir[0].way.latency_ns);
    inspect_leaf(v, LEAF_link_rate, l->dir[0].way.rate_bps);
    inspect_leaf(v, LEAF_link_loss_ppm, l->dir[0].way.loss_ppm);
    inspect_leaf(v, LEAF_link_up, !l->down);
    inspect_leaf(v, LEAF_link_carried, l->carried);
    inspect_leaf(v, LEAF_link_lost, l->lost);
    inspect_child(v, CHILD_link_there, way_node(n, &l->dir[0]));
    inspect_child(v, CHILD_link_back, way_node(n, &l->dir[1]));
}

void visit_way(const struct inode *n, struct visit *v)
{
    const struct net_direction *d = n->object;
    const struct net_way *w = &d->way;

    inspect_leaf(v, LEAF_way_latency, w->latency_ns);
    inspect_leaf(v, LEAF_way_rate, w->rate_bps);
    inspect_leaf(v, LEAF_way_loss_ppm, w->loss_ppm);
    inspect_leaf(v, LEAF_way_jitter, w->jitter_ns);
    inspect_leaf(v, LEAF_way_burst_ppm, w->burst_ppm);
    inspect_leaf(v, LEAF_way_burst_frames, w->burst_frames);
    inspect_leaf(v, LEAF_way_burst_loss_ppm, w->burst_loss_ppm);
    inspect_leaf(v, LEAF_way_in_burst, d->in_burst);
}

/* Reports a fault criterion unless it matches everything. */
static void criterion(struct visit *v, enum leaf_id id, uint32_t value)
{
    if (value == UINT32_MAX)
        inspect_text(v, id, "any");
    else if (leaf_rows[id].type == TYPE_WORD)
        inspect_word(v, id, value);
    else
        inspect_leaf(v, id, value);
}

static const char *fault_from(const struct lab_state *w, const struct net_fault *f)
{
    const uint32_t host = f->match.field[NET_MATCH_HOST];

    if (host == NET_MATCH_ANY)
        return "any";
    return host < EV_PORT_FIRST ? w->hosts[host]->name : w->net.exts[host - EV_PORT_FIRST].name.s;
}

/* The name of the host that has this MAC, or "any". */
static const char *station_name(const struct lab_state *w, uint64_t mac)
{
    const uint32_t host = mac ? lab_station(w, mac) : EV_HOST_NONE;

    return host == EV_HOST_NONE ? "any" : w->hosts[host]->name;
}

/* "h1.qp", or "h1 QPN 2" if the queue pair no longer exists. */
static const char *qp_name(const struct lab_state *w, const struct net_aim *a,
                           char ret[RDL_VALUE_BYTES])
{
    struct text t = text_on(ret, RDL_VALUE_BYTES);

    if (a->qpn == 0)
        return "any";
    text_addf(&t, "QPN %u of %s", a->qpn, w->hosts[a->qp_host]->name);
    return ret;
}

static void visit_aim(const struct lab_state *w, const struct net_aim *a, struct visit *v)
{
    char qp[RDL_VALUE_BYTES], link[LINK_NAME_BYTES];

    inspect_word(v, LEAF_fault_class, a->class);
    criterion(v, LEAF_fault_cm, a->cm ? a->cm : UINT32_MAX);
    inspect_text(v, LEAF_fault_to, station_name(w, a->to_mac));
    inspect_text(v, LEAF_fault_qp, qp_name(w, a, qp));
    inspect_text(v, LEAF_fault_link,
                 a->link ? inspect_link_name(w, &w->net.links[a->link - 1], link) : "any");
    inspect_leaf(v, LEAF_fault_transmission, a->transmission);
    inspect_leaf(v, LEAF_fault_message, a->message);
}

/* Reports a device fault with its queue in words: "queue 18 of h1", "every queue of h1.net". */
static void visit_device_fault(const struct lab_state *w, const struct net_fault *f,
                               struct visit *v)
{
    const struct device_fault *d = f->device;
    const char *net = f->function == FN_NET ? ".net" : "";
    char buf[RDL_VALUE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (d->queue == FAULT_QUEUE_ANY)
        text_addf(&t, "every queue of %s%s", w->hosts[f->host]->name, net);
    else
        text_addf(&t, "queue %u of %s%s", d->queue, w->hosts[f->host]->name, net);
    inspect_text(v, LEAF_fault_name, f->name.s);
    inspect_word(v, LEAF_fault_kind, (uint32_t)f->kind);
    inspect_leaf(v, LEAF_fault_nth, d->nth);
    inspect_leaf(v, LEAF_fault_every, d->every);
    criterion(v, LEAF_fault_left, d->count);
    inspect_leaf(v, LEAF_fault_delay, d->time_ns);
    inspect_leaf(v, LEAF_fault_seen, d->seen);
    inspect_leaf(v, LEAF_fault_hits, d->hits);
    inspect_leaf(v, LEAF_fault_number, f->number);
    inspect_text(v, LEAF_fault_about, f->about);
    inspect_text(v, LEAF_fault_queue, buf);
    inspect_leaf(v, LEAF_fault_chance_ppm, d->chance_ppm);
    criterion(v, LEAF_fault_desc, d->id);
    criterion(v, LEAF_fault_byte, d->at);
    criterion(v, LEAF_fault_flip, d->flip);
}

void visit_fault(const struct inode *n, struct visit *v)
{
    const struct net_fault *f = n->object;
    const uint32_t *match = f->match.field;

    if (f->device) {
        visit_device_fault(n->state, f, v);
        return;
    }

    inspect_text(v, LEAF_fault_name, f->name.s);
    inspect_word(v, LEAF_fault_kind, (uint32_t)f->kind);
    inspect_text(v, LEAF_fault_from, fault_from(n->state, f));
    criterion(v, LEAF_fault_opcode, match[NET_MATCH_OPCODE]);
    criterion(v, LEAF_fault_syndrome, match[NET_MATCH_SYNDROME]);
    criterion(v, LEAF_fault_psn, match[NET_MATCH_PSN]);
    criterion(v, LEAF_fault_dest_qpn, match[NET_MATCH_DEST_QPN]);
    inspect_leaf(v, LEAF_fault_nth, f->nth);
    inspect_leaf(v, LEAF_fault_every, f->every);
    criterion(v, LEAF_fault_left, f->count);
    inspect_leaf(v, LEAF_fault_delay, f->delay_ns);
    inspect_leaf(v, LEAF_fault_seen, f->seen);
    inspect_leaf(v, LEAF_fault_hits, f->hits);
    inspect_leaf(v, LEAF_fault_number, f->number);
    inspect_text(v, LEAF_fault_about, f->about);
    visit_aim(n->state, &f->aim, v);
    inspect_leaf(v, LEAF_fault_hold_frames, f->hold_frames);
    inspect_leaf(v, LEAF_fault_to_bytes, f->to_bytes);
    inspect_word(v, LEAF_fault_field, f->field);
    inspect_leaf(v, LEAF_fault_value, f->value);
}
