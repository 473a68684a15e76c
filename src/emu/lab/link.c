/* SPDX-License-Identifier: MIT */
/* Construction and configuration of links between hosts, switches and external ports. */
#include <string.h>

#include "emu/lab/lab_state.h"
#include "emu/rnic/eswitch.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"

#define RATE_DEFAULT_BPS 100000000000u
#define PPM              1000000u

/* Finds the network node called @name.  Returns RDL_ERR_NOT_FOUND if there is none. */
static enum rdl_status node_named(const struct lab_state *w, const char *name, struct net_end *ret)
{
    static const enum net_node node_of[] = {
        [PART_HOST] = NET_HOST, [PART_SWITCH] = NET_SWITCH, [PART_PORT] = NET_EXT};
    const struct part *p = name ? parts_find(&w->parts, name, strlen(name)) : NULL;

    if (!p || p->kind == PART_FAULT)
        return RDL_ERR_NOT_FOUND;
    *ret = (struct net_end){node_of[p->kind], p->index, 0};
    return RDL_OK;
}

/* The only link end of a host or an external port; NET_NO_LINK if it has no link. */
static uint32_t *only_end(struct lab_state *w, const struct net_end *e)
{
    struct eth_port *p;

    if (e->node == NET_EXT)
        return &w->net.exts[e->index].link_end;
    p = &w->hosts[e->index]->port;
    return p->sw ? &p->sw->link_end : &p->link_end;
}

/* Finds the node called @name for a new link.  Returns RDL_ERR_NOT_FOUND; RDL_ERR_BUSY if it is
 * a host or an external port with a link already; or RDL_ERR_UNSUPPORTED if it is a guest.
 */
static enum rdl_status end_of(struct lab_state *w, const char *name, struct net_end *ret)
{
    const enum rdl_status st = node_named(w, name, ret);

    if (st == RDL_OK && ret->node == NET_HOST &&
        (host_is_guest(w->hosts[ret->index]) || w->hosts[ret->index]->vrnic))
        return RDL_ERR_UNSUPPORTED;
    if (st == RDL_OK && ret->node != NET_SWITCH && *only_end(w, ret) != NET_NO_LINK)
        return RDL_ERR_BUSY;
    return st;
}

/* Notifies the node at @e that the link of its port came up or went down. */
static void notify_node(struct lab_state *w, const struct net_end *e, bool up)
{
    if (e->node != NET_HOST)
        return; /* switches and external ports check the link when they have a frame */
    if (host_is_machine(w->hosts[e->index]))
        machine_link_changed(w, w->hosts[e->index], up);
    else
        host_link_changed(w->hosts[e->index], up);
}

/* Connects the port of the node at @e to link end @link_end. */
static void plug_in(struct lab_state *w, const struct net_end *e, uint32_t link_end)
{
    if (e->node == NET_SWITCH)
        return; /* the network has chosen one of its ports */
    *only_end(w, e) = link_end;
    notify_node(w, e, true);
}

/* Returns true if a part or another link has the name of a link from @a to @b.  Several links from
 * one switch to another may share a name.
 */
static bool name_is_taken(const struct lab_state *w, const char *a, const char *b)
{
    char name[LINK_NAME_BYTES];
    struct text t = text_on(name, sizeof(name));
    uint32_t other;

    text_addf(&t, "%s-%s", a, b);
    if (parts_find(&w->parts, name, t.len))
        return true;
    return lab_link_named(w, name, t.len, &other) &&
           strcmp(lab_end_name(w, &w->net.links[other].end[0]), a) != 0;
}

static enum rdl_status check_link(const struct rdl_link_config *c)
{
    return c->loss_ppm > PPM || c->latency_ns > UINT64_MAX / 4 ? RDL_ERR_INVAL : RDL_OK;
}

enum rdl_status rdl_link_add(struct rdl_lab *lab, const struct rdl_link_config *config,
                             rdl_link *ret)
{
    struct lab_state *w = lab->state;
    const uint64_t rate = config->rate_bps ? config->rate_bps : RATE_DEFAULT_BPS;
    struct net_link_config made = {
        .latency_ns = config->latency_ns, .rate_bps = rate, .loss_ppm = config->loss_ppm};
    enum rdl_status st = end_of(w, config->a, &made.end[0]);
    uint32_t link;

    if (st == RDL_OK)
        st = end_of(w, config->b, &made.end[1]);
    if (st == RDL_OK)
        st = strcmp(config->a, config->b) == 0 ? RDL_ERR_INVAL : check_link(config);
    if (st == RDL_OK && name_is_taken(w, config->a, config->b))
        st = RDL_ERR_EXISTS;
    if (st != RDL_OK)
        return st;
    st = net_link_add(&w->net, &made, &link);
    if (st != RDL_OK)
        return st;
    lab_act(w);
    for (uint32_t i = 0; i < 2; i++)
        plug_in(w, &made.end[i], link << 1 | i);
    TRACE(&w->trace, link_up, .link = link, .a = ev_str(config->a), .b = ev_str(config->b),
          .latency = config->latency_ns, .rate = rate);
    lab_done(w);
    *ret = (rdl_link){link + 1};
    return RDL_OK;
}

enum rdl_status rdl_link_set(struct rdl_lab *lab, rdl_link link,
                             const struct rdl_link_config *config)
{
    struct lab_state *w = lab->state;
    struct net *n = &w->net;
    struct net_link *l;

    if (link.raw == 0 || link.raw > n->n_links)
        return RDL_ERR_STALE;
    if (check_link(config) != RDL_OK)
        return RDL_ERR_INVAL;
    l = &n->links[link.raw - 1];
    for (uint32_t i = 0; i < 2; i++) {
        struct net_way *way = &l->dir[i].way;

        way->latency_ns = config->latency_ns;
        way->rate_bps = config->rate_bps ? config->rate_bps : RATE_DEFAULT_BPS;
        way->loss_ppm = config->loss_ppm;
    }
    net_link_judge(l);
    lab_act(w);
    TRACE(&w->trace, link_set, .link = link.raw - 1, .a = ev_str(lab_end_name(w, &l->end[0])),
          .b = ev_str(lab_end_name(w, &l->end[1])), .latency = config->latency_ns,
          .rate = l->dir[0].way.rate_bps, .loss_ppm = config->loss_ppm);
    lab_done(w);
    return RDL_OK;
}

static bool check_way(const struct rdl_way_config *c)
{
    if (c->latency_ns > UINT64_MAX / 4 || c->jitter_ns > UINT64_MAX / 4 || c->rate_bps == 0)
        return false;
    return c->loss_ppm <= PPM && c->burst_ppm <= PPM && c->burst_loss_ppm <= PPM &&
           (c->burst_ppm == 0 || c->burst_frames > 0);
}

enum rdl_status rdl_link_set_way(struct rdl_lab *lab, rdl_link link, uint32_t end,
                                 const struct rdl_way_config *c)
{
    struct lab_state *w = lab->state;
    struct net_link *l;

    if (link.raw == 0 || link.raw > w->net.n_links)
        return RDL_ERR_STALE;
    if (end > 1 || !check_way(c))
        return RDL_ERR_INVAL;
    l = &w->net.links[link.raw - 1];
    l->dir[end].way = (struct net_way){
        .latency_ns = c->latency_ns,
        .rate_bps = c->rate_bps,
        .jitter_ns = c->jitter_ns,
        .loss_ppm = c->loss_ppm,
        .burst_ppm = c->burst_ppm,
        .burst_frames = c->burst_frames,
        .burst_loss_ppm = c->burst_loss_ppm,
    };
    l->dir[end].in_burst = l->dir[end].in_burst && c->burst_ppm > 0;
    net_link_judge(l);
    lab_act(w);
    TRACE(&w->trace, link_way, .from = ev_str(lab_end_name(w, &l->end[end])),
          .to = ev_str(lab_end_name(w, &l->end[!end])), .latency = c->latency_ns,
          .rate = c->rate_bps, .jitter = c->jitter_ns, .loss_ppm = c->loss_ppm,
          .burst_ppm = c->burst_ppm, .burst_frames = c->burst_ppm ? c->burst_frames : 0,
          .burst_loss_ppm = c->burst_ppm ? c->burst_loss_ppm : 0);
    lab_done(w);
    return RDL_OK;
}

enum rdl_status rdl_link_raise(struct rdl_lab *lab, rdl_link link, bool up)
{
    struct lab_state *w = lab->state;
    struct net_link *l;
    const char *a, *b;
    ev_id id;

    if (link.raw == 0 || link.raw > w->net.n_links)
        return RDL_ERR_STALE;
    l = &w->net.links[link.raw - 1];
    if (l->down == !up)
        return RDL_OK;
    a = lab_end_name(w, &l->end[0]);
    b = lab_end_name(w, &l->end[1]);
    lab_act(w);
    l->down = !up;
    if (up)
        TRACE_ID(&w->trace, id, link_up, .link = link.raw - 1, .a = ev_str(a), .b = ev_str(b),
                 .latency = l->dir[0].way.latency_ns, .rate = l->dir[0].way.rate_bps);
    else
        TRACE_ID(&w->trace, id, link_down, .link = link.raw - 1, .a = ev_str(a), .b = ev_str(b));
    trace_because(&w->trace, id);
    for (uint32_t i = 0; i < 2; i++)
        notify_node(w, &l->end[i], up);
    lab_done(w);
    return RDL_OK;
}

const char *lab_end_name(const struct lab_state *w, const struct net_end *e)
{
    switch (e->node) {
    case NET_HOST:
        return w->hosts[e->index]->name;
    case NET_SWITCH:
        return w->net.switches[e->index]->name.s;
    case NET_EXT:
        break;
    }
    return w->net.exts[e->index].name.s;
}

/* The link ends at the node @e; *@ret_n is their number. */
static const uint32_t *ends_at(struct lab_state *w, const struct net_end *e, uint32_t *ret_n)
{
    const uint32_t *one;

    if (e->node == NET_SWITCH) {
        *ret_n = w->net.switches[e->index]->n_ports;
        return w->net.switches[e->index]->link_end;
    }
    one = only_end(w, e);
    *ret_n = *one != NET_NO_LINK;
    return one;
}

enum rdl_status rdl_link_find(const struct rdl_lab *lab, const char *a, const char *b,
                              rdl_link *ret)
{
    struct lab_state *w = lab->state;
    struct net_end end[2];
    const uint32_t *ends[2];
    uint32_t n[2], i;
    bool found = false;

    if (node_named(w, a, &end[0]) != RDL_OK || node_named(w, b, &end[1]) != RDL_OK)
        return RDL_ERR_NOT_FOUND;
    for (i = 0; i < 2; i++)
        ends[i] = ends_at(w, &end[i], &n[i]);
    i = n[1] < n[0]; /* searches from the node with fewer links */
    for (uint32_t k = 0; k < n[i]; k++) {
        const uint32_t link = ends[i][k] >> 1, ours = ends[i][k] & 1;
        const struct net_end *other = &w->net.links[link].end[!ours];

        if (other->node != end[!i].node || other->index != end[!i].index)
            continue;
        /* of several links between two switches, prefers one from @a to @b */
        if (ours == i || !found)
            *ret = (rdl_link){link + 1};
        found = true;
        if (ours == i)
            break;
    }
    return found ? RDL_OK : RDL_ERR_NOT_FOUND;
}

bool lab_link_named(const struct lab_state *w, const char *name, size_t len, uint32_t *ret)
{
    char a[LINK_NAME_BYTES] = {0}, *b;
    rdl_link link;

    if (len >= sizeof(a))
        return false;
    memcpy(a, name, len);
    for (b = strchr(a, '-'); b; b = strchr(b + 1, '-')) { /* a name may contain "-" */
        *b = '\0';
        if (rdl_link_find(w->lab, a, b + 1, &link) == RDL_OK &&
            strcmp(lab_end_name(w, &w->net.links[link.raw - 1].end[0]), a) == 0) {
            *ret = link.raw - 1;
            return true;
        }
        *b = '-';
    }
    return false;
}
