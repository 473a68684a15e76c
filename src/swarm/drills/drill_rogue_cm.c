/* SPDX-License-Identifier: MIT */
/* The drill of a rogue guest: a connection of rdma_cm between honest hosts, and forged messages
 * about it.
 */
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/roce.h"
#include "emu/wire/mad.h"
#include "emu/wire/packet.h"
#include "rdmalab/cm.h"
#include "rdmalab/layer.h"
#include "swarm/drills/drill_rogue.h"

#define PORT       7471u
#define RESOLVE_NS UINT64_C(1000000000)
#define CM_CLIENT  0u                /* g1 */
#define MESSAGE_NS UINT64_C(1000000) /* longer than messages take, shorter than their timers */

/* Takes the next event of the ID at @side, which must be of @kind. */
static bool event(struct drill *d, uint32_t side, uint32_t kind, rdl_cm_id *ret)
{
    struct rogue_cm *cm = &rogue_of(d)->cm;
    struct rdl_cm_event e = {0};
    size_t n = 0;

    if (!drill_run_for(d, MESSAGE_NS) ||
        !drill_works(d, rdl_cm_get_event(d->lab, cm->channel[side], ret ? "peer" : NULL, &e, &n),
                     "events of connections can be taken") ||
        !drill_expect(d, n == 1 && e.kind == kind, "programs connect", "%zu events, %s", n,
                      enum_name(&enum_rdma_cm_event, e.kind)))
        return false;
    if (ret)
        *ret = e.id;
    return drill_works(d, rdl_cm_ack_event(d->lab, cm->channel[side]),
                       "an event can be acknowledged");
}

static bool listen(struct drill *d, struct rdl_cm_addr *at)
{
    struct rogue_drill *s = rogue_of(d);
    const rdl_host host = s->honest[ROGUE_OUTSIDE].host;
    int error = 0;
    uint8_t mac[6];
    rdl_cm_id id;

    return drill_works(d, rdl_host_address(d->lab, host, 0, at->gid, mac),
                       "a host has an address") &&
           drill_works(d, rdl_cm_create_channel(d->lab, host, "ch", &s->cm.channel[1]),
                       "a channel can be had") &&
           drill_works(d,
                       rdl_cm_create_id(d->lab, s->cm.channel[1], PORT_SPACE_TCP, "listener", &id),
                       "an ID can be had") &&
           drill_works(d, rdl_cm_bind(d->lab, id, at, &error), "an ID can be bound") &&
           drill_works(d, rdl_cm_listen(d->lab, id, 4, &error), "an ID can listen");
}

bool rogue_connect_cm(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);
    struct rogue_cm *cm = &s->cm;
    struct rdl_cm_addr at = {.version = 4, .port = PORT};
    struct rdl_cm_param p = {.qpn = s->pair[1].end[0].qpn, .retry_count = 7};
    int error = 0;

    if (!listen(d, &at) ||
        !drill_works(
            d, rdl_cm_create_channel(d->lab, s->honest[CM_CLIENT].host, "ch", &cm->channel[0]),
            "a channel can be had") ||
        !drill_works(d, rdl_cm_create_id(d->lab, cm->channel[0], PORT_SPACE_TCP, "id", &cm->id[0]),
                     "an ID can be had") ||
        !drill_works(d, rdl_cm_resolve_addr(d->lab, cm->id[0], NULL, &at, RESOLVE_NS, &error),
                     "an address can be resolved") ||
        !event(d, 0, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
        !drill_works(d, rdl_cm_resolve_route(d->lab, cm->id[0], &error),
                     "a route can be resolved") ||
        !event(d, 0, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) ||
        !drill_works(d, rdl_cm_connect(d->lab, cm->id[0], &p, &error), "an ID can connect") ||
        !event(d, 1, RDMA_CM_EVENT_CONNECT_REQUEST, &cm->id[1]))
        return false;
    p.qpn = s->pair[1].end[1].qpn;
    return drill_works(d, rdl_cm_accept(d->lab, cm->id[1], &p, &error), "an ID can accept") &&
           event(d, 0, RDMA_CM_EVENT_CONNECT_RESPONSE, NULL) &&
           drill_works(d, rdl_cm_accept(d->lab, cm->id[0], NULL, &error), "an ID can accept") &&
           event(d, 1, RDMA_CM_EVENT_ESTABLISHED, NULL);
}

/* --- The attack ------------------------------------------------------------------------------- */

/* Writes a message to @mad that names the connection @info, with at least one wrong number. */
static void forge(struct drill *d, const struct rdl_cm_id_info *info, uint8_t mad[MAD_BYTES])
{
    static const uint32_t messages[] = {CM_MRA, CM_REJ, CM_RTU, CM_DREQ, CM_DREP};
    struct mad m = {.head = {.base_version = MAD_BASE_VERSION,
                             .mgmt_class = MAD_CLASS_CM,
                             .class_version = MAD_CM_CLASS_VERSION,
                             .method = MAD_METHOD_SEND,
                             .attr_id = messages[drill_below(d, (uint32_t)ARRAY_LEN(messages))]}};
    const uint32_t wrong = drill_below(d, m.head.attr_id == CM_DREQ ? 3 : 2);
    const uint32_t far = 1 + drill_below(d, 1u << 31);
    const uint32_t local = info->remote_comm_id + (wrong == 0 ? far : 0);
    const uint32_t remote = info->comm_id + (wrong == 1 ? far : 0);

    m.head.tid = drill_below(d, 1u << 31);
    memset(mad, 0, MAD_BYTES);
    switch ((enum cm_message)m.head.attr_id) {
    case CM_MRA:
        m.u.mra.local_comm_id = local;
        m.u.mra.remote_comm_id = remote;
        break;
    case CM_REJ:
        m.u.rej.local_comm_id = local;
        m.u.rej.remote_comm_id = remote;
        m.u.rej.reason = 28;
        m.u.rej.answered = 2; /* neither a REQ nor a REP */
        break;
    case CM_DREQ:
        m.u.dreq.local_comm_id = local;
        m.u.dreq.remote_comm_id = remote;
        m.u.dreq.remote_qpn = info->qpn + (wrong == 2 ? 1 + drill_below(d, 1000) : 0);
        break;
    default: /* RTU and DREP have the same members */
        m.u.rtu.local_comm_id = local;
        m.u.rtu.remote_comm_id = remote;
        break;
    }
    mad_build(&m, mad);
}

bool rogue_forged_cm(struct drill *d, const struct rogue_attack *a)
{
    static const char *const sides[2] = {"g1", "h1"};
    /* The kernel takes the message with its queue pair 1. */
    static const char *const of_kernel[] = {"port.", "counters.", "irqs", "device.info.",
                                            "driver."};
    struct rogue_drill *s = rogue_of(d);
    const uint32_t side = drill_below(d, 2);
    const rdl_host victim = s->honest[side ? ROGUE_OUTSIDE : CM_CLIENT].host;
    struct packet p = {.udp_src_port = 0xc000, .payload_bytes = MAD_BYTES};
    struct rdl_cm_id_info info;
    uint8_t mad[MAD_BYTES];

    (void)a;
    s->has_sent_cm = true;
    p.ip.version = 4;
    p.ip.ttl = 64;
    p.bth.opcode = OP_UD_SEND_ONLY;
    p.bth.pkey = 0xffff;
    p.bth.dest_qpn = 1;
    p.deth.qkey = QKEY_GSI;
    p.deth.src_qpn = 1;
    if (!drill_works(d, rdl_cm_id_info(d->lab, s->cm.id[side], &info), "an ID has numbers"))
        return false;
    forge(d, &info, mad);
    for (uint32_t i = 0; i < ARRAY_LEN(of_kernel); i++)
        rogue_differs(d, ROGUE_ANY, "%s.%s", sides[side], of_kernel[i]);
    return drill_works(d, rdl_wire_address(d->lab, victim, 0, 0, p.ip.dst, p.eth.dst),
                       "a host has an address") &&
           drill_works(d, rdl_wire_address(d->lab, s->guest.host, 0, 0, p.ip.src, p.eth.src),
                       "a host has an address") &&
           rogue_send(d, &p, mad, 0);
}
