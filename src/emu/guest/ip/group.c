/* SPDX-License-Identifier: MIT */
/* Membership reports; group.h describes the protocol. */
#include "emu/guest/ip/group.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/fnv.h"
#include "emu/wire/eth.h"
#include "emu/wire/mld.h"
#include "emu/wire/nd.h"
#include "emu/wire/parse.h"

#define GROUP_REPEAT_NS 1000000000u
#define REPORTS         2u /* reports per change */
#define NS_PER_MS       1000000u

static struct guest_group *find(const struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    for (uint32_t i = 0; i < net->n_groups; i++) {
        if (memcmp(net->groups[i].gid, gid, GID_BYTES) == 0)
            return &net->groups[i];
    }
    return NULL;
}

static bool is_used(const struct guest_group *g)
{
    return g->members > 0 || g->timer != 0;
}

/* Finds the entry of @gid, or makes one.  Returns NULL if GUEST_GROUPS_MAX are in use or the arena
 * is full.
 */
static struct guest_group *enter(struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    struct guest_group *g = find(net, gid), *v;

    for (uint32_t i = 0; i < net->n_groups && !g; i++) {
        if (!is_used(&net->groups[i]))
            g = &net->groups[i];
    }
    if (!g && net->n_groups < GUEST_GROUPS_MAX) {
        v = arena_extend(net->arena, net->groups, &net->groups_cap, net->n_groups,
                         net->n_groups + 1, sizeof(*v));
        if (!v)
            return NULL;
        net->groups = v;
        g = &v[net->n_groups++];
    }
    if (g && !is_used(g)) {
        *g = (struct guest_group){.members = 0};
        memcpy(g->gid, gid, GID_BYTES);
    }
    return g;
}

bool group_is_joined(const struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    const struct guest_group *g = find(net, gid);

    return g && g->members > 0;
}

/* Returns true if the group is reported.  Every host is in 224.0.0.1 and ff02::1, and groups of
 * interface scope never leave the host.  [RFC 3376, 5; RFC 3810, 6]
 */
static bool is_spoken_of(const uint8_t gid[GID_BYTES])
{
    static const uint8_t all_hosts[] = {224, 0, 0, 1};
    uint8_t all_nodes[GID_BYTES];

    if (gid_is_ipv4(gid))
        return memcmp(gid + GID_IPV4_AT, all_hosts, sizeof(all_hosts)) != 0;
    ipv6_all_nodes(all_nodes);
    return (gid[1] & 0xfu) > 1 && memcmp(gid, all_nodes, GID_BYTES) != 0;
}

/* The source address of a report.  MLD reports come from a link-local address, or from the
 * unspecified one.
 */
static void source_of(const struct guest_net *net, const uint8_t gid[GID_BYTES],
                      uint8_t ret[GID_BYTES])
{
    const uint8_t *own = stack_source(net, gid);

    memset(ret, 0, GID_BYTES);
    if (own && (gid_is_ipv4(gid) || (own[0] == 0xfe && (own[1] & 0xc0u) == 0x80)))
        memcpy(ret, own, GID_BYTES);
}

static void report(struct guest_net *net, const struct guest_group *g)
{
    uint8_t frame[ETH_BYTES + MLD_PACKET_BYTES], src[GID_BYTES], routers[GID_BYTES];
    const bool ipv4 = gid_is_ipv4(g->gid);
    struct wr_cur out = wr_cur(frame, sizeof(frame));
    struct eth eth = {.ethertype = ipv4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6};

    (ipv4 ? igmp_routers : mld_routers)(routers);
    mac_from_multicast(eth.dst, routers);
    memcpy(eth.src, net->config.mac, MAC_BYTES);
    source_of(net, g->gid, src);
    eth_build(&eth, &out);
    (ipv4 ? igmp_build : mld_build)(g->record, src, g->gid, &out);
    RDL_ASSERT(!out.bad);
    nic_send(net, frame, (size_t)(out.p - frame));
}

static void stop(struct guest_net *net, struct guest_group *g)
{
    if (g->timer)
        sim_cancel(net->config.sim, g->timer);
    g->timer = 0;
    g->left = 0;
}

/* Schedules the next of g->left reports in @delay_ns. */
static void schedule(struct guest_net *net, struct guest_group *g, uint64_t delay_ns)
{
    g->due_ns = sim_now(net->config.sim) + delay_ns;
    g->timer = sim_schedule(net->config.sim, g->due_ns, SIM_GUEST_TIMER, net->config.host,
                            guest_timer_arg(GUEST_TIMER_GROUP, (uint32_t)(g - net->groups)));
}

/* Reports that the host joined or left @g. */
static void changed(struct guest_net *net, struct guest_group *g, enum group_record record)
{
    stop(net, g);
    g->record = record;
    if (!nic_link_is_up(net) || !is_spoken_of(g->gid))
        return; /* no link, or an exempt group: nothing to report */
    report(net, g);
    g->left = REPORTS - 1;
    schedule(net, g, GROUP_REPEAT_NS);
}

void guest_group_join(struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    struct guest_group *g = net->config.sim ? enter(net, gid) : NULL;

    RDL_ASSERT(gid_is_group(gid));
    if (g && g->members++ == 0)
        changed(net, g, GROUP_TO_EXCLUDE);
}

void guest_group_leave(struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    struct guest_group *g = find(net, gid);

    if (g && g->members > 0 && --g->members == 0)
        changed(net, g, GROUP_TO_INCLUDE);
}

void group_timer(struct guest_net *net, uint32_t index)
{
    struct guest_group *g = &net->groups[index];

    RDL_ASSERT(index < net->n_groups && g->timer && g->left > 0);
    g->timer = 0;
    g->left--;
    report(net, g);
    if (g->left > 0)
        schedule(net, g, GROUP_REPEAT_NS);
}

/* A delay of at most @max_ms that differs between stations and groups. */
static uint64_t delay_of(const struct guest_net *net, const struct guest_group *g, uint32_t max_ms)
{
    uint8_t who[MAC_BYTES + GID_BYTES];

    memcpy(who, net->config.mac, MAC_BYTES);
    memcpy(who + MAC_BYTES, g->gid, GID_BYTES);
    return max_ms ? fnv1a_64(FNV64_OF_NOTHING, who, sizeof(who)) % ((uint64_t)max_ms * NS_PER_MS)
                  : 0;
}

/* Schedules the answers to a query.  A group with a report scheduled already needs no other answer.
 */
static void answer(struct guest_net *net, const struct group_query *q, bool ipv4)
{
    static const uint8_t any[GID_BYTES];
    const bool general = memcmp(q->group, any, GID_BYTES) == 0;

    for (uint32_t i = 0; i < net->n_groups; i++) {
        struct guest_group *g = &net->groups[i];

        if (g->members == 0 || g->timer || gid_is_ipv4(g->gid) != ipv4 || !is_spoken_of(g->gid) ||
            (!general && memcmp(q->group, g->gid, GID_BYTES) != 0))
            continue;
        g->record = GROUP_IS_EXCLUDE;
        g->left = 1;
        schedule(net, g, delay_of(net, g, q->max_response_ms));
    }
}

enum drop_reason group_receive_igmp(struct guest_net *net, struct rd_cur *in)
{
    struct group_query q;
    const enum drop_reason why = igmp_parse(&q, in);

    if (why == DROP_NONE)
        answer(net, &q, true);
    return why;
}

enum drop_reason group_receive_mld(struct guest_net *net, const struct ip *ip, struct rd_cur *in)
{
    struct group_query q;
    const enum drop_reason why = mld_parse(&q, ip, in);

    if (why == DROP_NONE)
        answer(net, &q, false);
    return why;
}
