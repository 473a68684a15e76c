/* SPDX-License-Identifier: MIT */
/* The drill of verbs: datagrams. */
#include <string.h>

#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "swarm/drills/verbs.h"

#define GRH_BYTES 40u
#define IP_AT     14u /* offset in a frame */
#define DATA_MAX  256u
#define EVERYBODY 0xffffffu /* destination QPN of multicast datagrams */

struct datagram {
    struct verbs_pair p;
    struct rdl_ah_attr path;
    rdl_ah ah;
    uint32_t bytes;
    bool to_group;
};

static bool make(struct drill *d, struct datagram *g)
{
    struct rdl_qp_config c = {.type = QPT_UD};
    struct drill_verbs *k = d->own;
    uint8_t mac[6];

    memset(g, 0, sizeof(*g));
    if (!verbs_pair(d, &c, &g->p) || !rig_raise_ud(d, &g->p.end[0]) ||
        !rig_raise_ud(d, &g->p.end[1]))
        return false;
    g->bytes = 1 + drill_below(d, DATA_MAX);
    g->to_group = drill_one_in(d, 3);
    g->path.sgid_index = (uint8_t)drill_below(d, 2);
    g->path.hop_limit = (uint8_t)(1 + drill_below(d, 255));
    g->path.traffic_class = (uint8_t)drill_below(d, 256);
    g->path.flow_label = g->path.sgid_index ? drill_below(d, 1u << 20) : 0;
    g->path.port = 1;
    if (!drill_works(d, rdl_host_address(d->lab, k->host[1], g->path.sgid_index, g->path.dgid, mac),
                     "a host has an address"))
        return false;
    if (g->to_group) {
        static const uint8_t group[16] = {0xff, 0x12, [15] = 1};

        g->path.sgid_index = 1;
        memcpy(g->path.dgid, group, sizeof(group));
        g->path.dgid[14] = (uint8_t)drill_below(d, 256);
        for (unsigned i = 0; i < RIG_HOSTS; i++) {
            if (!drill_is_done(d, k->host[i],
                               rdl_attach_mcast(d->lab, g->p.end[i].qp, g->path.dgid),
                               "a queue pair can be attached to a group") ||
                !drill_settle(d))
                return false;
        }
    }
    d->n_unsaid++;
    return drill_is_done(d, k->host[0],
                         rdl_create_ah(d->lab, k->side[0].pd, &g->path, NULL, &g->ah),
                         "an address handle can be made");
}

static bool unmake(struct drill *d, struct datagram *g)
{
    struct drill_verbs *k = d->own;

    for (unsigned i = 0; i < RIG_HOSTS && g->to_group; i++) {
        if (!drill_is_done(d, k->host[i], rdl_detach_mcast(d->lab, g->p.end[i].qp, g->path.dgid),
                           "a queue pair can leave a group"))
            return false;
    }
    return drill_works(d, rdl_destroy_ah(d->lab, g->ah), "an address handle can be destroyed") &&
           verbs_unpair(d, &g->p);
}

/* Checks that the IP header at @ip has the values of the address handle. */
static bool check_ip(struct drill *d, const struct datagram *g, const uint8_t *ip)
{
    const bool is_6 = g->path.sgid_index == 1;
    const uint32_t word =
        (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3];
    const uint32_t class = is_6 ? word >> 20 & 0xffu : ip[1], hops = is_6 ? ip[7] : ip[8];

    return drill_expect(d, class == g->path.traffic_class,
                        "a datagram has the traffic class of its address handle",
                        "0x%02x, not 0x%02x", class, g->path.traffic_class) &&
           drill_expect(d, hops == g->path.hop_limit,
                        "a datagram has the hop limit of its address handle", "%u, not %u", hops,
                        g->path.hop_limit) &&
           drill_expect(d, !is_6 || (word & 0xfffffu) == g->path.flow_label,
                        "a datagram has the flow label of its address handle", "0x%x, not 0x%x",
                        word & 0xfffffu, g->path.flow_label);
}

static bool check_frame(struct drill *d, const struct datagram *g)
{
    const uint8_t *f = NULL;
    size_t bytes = 0;

    for (uint64_t at = 0; verbs_frame(d, 0, &at, &f, &bytes);) {
        if (!drill_expect(d, f && bytes > IP_AT + 40, "a sent frame is recorded", "none") || !f ||
            !check_ip(d, g, f + IP_AT))
            return false;
    }
    return true;
}

static bool check_arrival(struct drill *d, const struct datagram *g, unsigned host)
{
    struct drill_verbs *k = d->own;
    uint8_t grh[GRH_BYTES];
    struct rdl_wc wc;

    return verbs_done(d, k->side[host].rcq, WCS_SUCCESS, &wc) &&
           drill_expect(d, wc.byte_len == g->bytes + GRH_BYTES && (wc.wc_flags & WCF_GRH),
                        "the length of a datagram counts its GRH", "%u and %u bytes", wc.byte_len,
                        g->bytes) &&
           drill_expect(d, wc.src_qp == g->p.end[0].qpn, "a datagram names its sender", "%u",
                        wc.src_qp) &&
           drill_works(
               d,
               rdl_mem_read(d->lab, k->host[host], k->side[host].addr + VERBS_HALF, grh, GRH_BYTES),
               "a program can read its memory") &&
           check_ip(d, g, g->path.sgid_index == 1 ? grh : grh + 20) &&
           verbs_holds(d, host, VERBS_HALF + GRH_BYTES, k->sent, g->bytes,
                       "a datagram arrives as it was sent");
}

/* Sends a datagram to one queue pair or to a group.  Its Q_Key may be wrong. */
void verbs_step_datagram(struct drill *d)
{
    static const uint32_t qkeys[] = {RIG_QKEY, 0x80000000u, 0x80012345u, RIG_QKEY + 1};
    struct drill_verbs *k = d->own;
    const uint32_t which = drill_below(d, 4), rounds = 1 + drill_below(d, 2);
    const bool fits = which < 3;
    struct datagram g;
    struct rdl_wc wc;

    if (!make(d, &g) || !verbs_fill(d, 0))
        return;
    for (uint32_t i = 0; i < rounds; i++) {
        const struct rdl_sge sge = {k->side[0].addr, g.bytes, k->side[0].lkey};
        struct rdl_send_wr wr = {.opcode = WR_SEND,
                                 .flags = SF_SIGNALED,
                                 .sge = &sge,
                                 .n_sge = 1,
                                 .ud.ah = g.ah,
                                 .ud.remote_qpn = g.to_group ? EVERYBODY : g.p.end[1].qpn,
                                 .ud.remote_qkey = qkeys[which]};

        if (!verbs_recv(d, &g.p.end[1], VERBS_HALF, GRH_BYTES + DATA_MAX) ||
            !verbs_recv(d, &g.p.end[0], VERBS_HALF, GRH_BYTES + DATA_MAX))
            return;
        k->mark = drill_events(d);
        if (!verbs_send(d, &g.p.end[0], &wr) || !drill_settle(d) || !check_frame(d, &g) ||
            !verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc))
            return;
        if (fits && !check_arrival(d, &g, 1))
            return;
        if (fits && g.to_group && !check_arrival(d, &g, 0))
            return;
    }
    (void)unmake(d, &g);
}
