/* SPDX-License-Identifier: MIT */
/* The drill of a rogue guest: frames that software of the rogue writes itself.
 *
 * A frame that one check alone can stop has the right numbers otherwise: address, queue pair, PSN
 * and key.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/psn.h"
#include "emu/wire/packet.h"
#include "emu/wire/vlan.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/layer.h"
#include "rdmalab/machine.h"
#include "swarm/drills/drill_rogue.h"

#define FRAME_BYTES   512u
#define PAYLOAD_BYTES 32u
#define GAP_BYTES     24u
#define FAR           (1u << 22) /* PSNs that are never reached */
#define NO_QPN        0x00fff0u
#define UDP_PORT      0xc123u

static const char *const names[ROGUE_HONEST] = {"g1", "g2", "h1"};
static const uint8_t forged[PAYLOAD_BYTES] = "forged";

/* An end of a pair that the rogue attacks. */
struct rogue_victim {
    struct rig_end *end, *peer;
    uint32_t host, peer_host; /* indices of honest hosts */
};

static uint32_t index_of(const struct rogue_drill *s, rdl_host host)
{
    uint32_t i = 0;

    while (s->honest[i].host.raw != host.raw)
        i++;
    return i;
}

/* Draws a victim: an end of RC. */
static struct rogue_victim draw_victim(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);
    struct rogue_pair *p = &s->pair[drill_below(d, ROGUE_PAIRS - 1)];
    const uint32_t i = drill_below(d, 2);

    return (struct rogue_victim){&p->end[i], &p->end[!i], index_of(s, p->end[i].host),
                                 index_of(s, p->end[!i].host)};
}

/* Reads the PSN that the end @e expects. */
static bool expected_psn(struct drill *d, const struct rogue_victim *v, uint32_t *ret)
{
    char path[64];
    uint64_t n;

    snprintf(path, sizeof(path), "%s.%s.rq_psn", names[v->host], v->end->name);
    if (!drill_number(d, path, &n))
        return false;
    *ret = (uint32_t)n;
    return true;
}

/* Makes the packet of a WRITE to the memory of @v, all of whose numbers are right but the MAC of
 * the source, which is the rogue's own.
 */
static bool right_packet(struct drill *d, const struct rogue_victim *v, struct packet *p)
{
    struct rogue_drill *s = rogue_of(d);
    uint8_t unused[16], mac[6];

    *p = (struct packet){.udp_src_port = UDP_PORT, .payload_bytes = PAYLOAD_BYTES};
    p->ip.version = 4;
    p->ip.ttl = 64;
    p->bth.opcode = OP_RC_RDMA_WRITE_ONLY;
    p->bth.pkey = 0xffff;
    p->bth.dest_qpn = v->end->qpn;
    p->reth.va = s->honest[v->host].base;
    p->reth.rkey = s->honest[v->host].rkey;
    p->reth.dma_bytes = PAYLOAD_BYTES;
    return expected_psn(d, v, &p->bth.psn.v) &&
           drill_works(d, rdl_wire_address(d->lab, v->end->host, 0, 0, p->ip.dst, p->eth.dst),
                       "a host has an address") &&
           drill_works(d, rdl_wire_address(d->lab, v->peer->host, 0, 0, p->ip.src, mac),
                       "a host has an address") &&
           drill_works(d, rdl_wire_address(d->lab, s->guest.host, 0, 0, unused, p->eth.src),
                       "a host has an address");
}

static size_t build(struct packet *p, const void *payload, uint32_t vlan, uint8_t f[FRAME_BYTES])
{
    const size_t n = packet_frame_bytes(p);

    RDL_ASSERT(n + VLAN_TAG_BYTES <= FRAME_BYTES);
    if (p->payload_bytes > 0)
        memcpy(packet_build(p, f), payload, p->payload_bytes);
    else
        packet_build(p, f);
    packet_finish(f, n);
    return vlan ? vlan_push(f, n, vlan_tci(vlan, 0)) : n;
}

static bool inject(struct drill *d, const uint8_t *f, size_t n)
{
    struct rogue_drill *s = rogue_of(d);

    s->line_ns += (n + GAP_BYTES) * 8 * 1000000000u / ROGUE_BPS + 1;
    d->n_unsaid++;
    return drill_works(d, rdl_inject_from(d->lab, s->guest.host, f, n, false),
                       "a guest can send any frame");
}

bool rogue_send(struct drill *d, struct packet *p, const void *payload, uint32_t vlan)
{
    uint8_t f[FRAME_BYTES];
    const size_t n = build(p, payload, vlan, f);

    return inject(d, f, n);
}

void rogue_arrives(struct drill *d, uint32_t host, size_t bytes, uint32_t reason)
{
    const char *h = names[host];
    char name[32];

    rogue_differs(d, 1, "%s.port.rcvd_frames", h);
    rogue_differs(d, bytes, "%s.port.rcvd_bytes", h);
    if (reason == DROP_NONE) {
        rogue_differs(d, 1, "%s.port.taken_frames", h);
        return;
    }
    snprintf(name, sizeof(name), "%s", enum_name(&enum_drop, reason));
    for (char *c = name; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 'a' - 'A') : *c;
    rogue_differs(d, 1, "%s.port.drops.%s", h, name);
    if (reason == DROP_BAD_QKEY)
        rogue_differs(d, 1, "%s.port.bad_qkeys", h);
    if (reason == DROP_BAD_PKEY)
        rogue_differs(d, 1, "%s.port.bad_pkeys", h);
}

/* Checks that the adapter has dropped the last frame at the function of the rogue. */
static bool was_own_drop(struct drill *d, const struct rogue_attack *a)
{
    const struct rogue_drill *s = rogue_of(d);
    const struct rogue_heard *h = &s->heard[0];

    return drill_expect(
        d, h->n_drops > 0 && h->last_host == s->guest.host.raw && h->last_reason == a->value,
        "the adapter drops a frame that a function may not send", "%s at host %u",
        enum_name(&enum_drop, h->last_reason), h->last_host);
}

/* --- Attacks that the adapter stops ----------------------------------------------------------- */

bool rogue_forged_mac(struct drill *d, const struct rogue_attack *a)
{
    const struct rogue_victim v = draw_victim(d);
    struct packet p;
    uint8_t unused[16];

    return right_packet(d, &v, &p) &&
           drill_works(d, rdl_wire_address(d->lab, v.peer->host, 0, 0, unused, p.eth.src),
                       "a host has an address") &&
           rogue_send(d, &p, forged, 0) && was_own_drop(d, a);
}

static bool set_vlan(struct drill *d, uint32_t vlan)
{
    struct rogue_drill *s = rogue_of(d);
    struct rdl_vf_settings to;

    if (!drill_works(d, rdl_vf_get(d->lab, s->machine, s->guest.vf, &to), "a function is there"))
        return false;
    to.vlan = vlan;
    return drill_works(d, rdl_vf_set(d->lab, s->machine, s->guest.vf, &to),
                       "a function can be set");
}

bool rogue_other_tag(struct drill *d, const struct rogue_attack *a)
{
    const struct rogue_victim v = draw_victim(d);
    const uint32_t tag = drill_below(d, 2) ? 6 : 0; /* 0: no tag, as the victim's frames */
    struct packet p;

    return right_packet(d, &v, &p) && set_vlan(d, 5) && rogue_send(d, &p, forged, tag) &&
           was_own_drop(d, a) && set_vlan(d, 0);
}

/* --- Attacks that the victim stops ------------------------------------------------------------ */

/* Sends @p, which the victim must drop. */
static bool send_to(struct drill *d, const struct rogue_victim *v, struct packet *p,
                    uint32_t reason)
{
    rogue_arrives(d, v->host, packet_frame_bytes(p), reason);
    return rogue_send(d, p, forged, 0);
}

bool rogue_own_source(struct drill *d, const struct rogue_attack *a)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rogue_victim v = draw_victim(d);
    struct packet p;
    uint8_t mac[6];

    return right_packet(d, &v, &p) &&
           drill_works(d, rdl_wire_address(d->lab, s->guest.host, 0, 0, p.ip.src, mac),
                       "a host has an address") &&
           send_to(d, &v, &p, a->value);
}

bool rogue_no_qp(struct drill *d, const struct rogue_attack *a)
{
    const struct rogue_victim v = draw_victim(d);
    struct packet p;

    if (!right_packet(d, &v, &p))
        return false;
    p.bth.dest_qpn = NO_QPN + drill_below(d, 8);
    return send_to(d, &v, &p, a->value);
}

bool rogue_other_service(struct drill *d, const struct rogue_attack *a)
{
    const struct rogue_victim v = draw_victim(d);
    struct packet p;

    if (!right_packet(d, &v, &p))
        return false;
    p.bth.opcode = OP_UC_RDMA_WRITE_ONLY;
    return send_to(d, &v, &p, a->value);
}

bool rogue_wrong_qkey(struct drill *d, const struct rogue_attack *a)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rogue_victim v = draw_victim(d);
    struct packet p;

    if (!right_packet(d, &v, &p))
        return false;
    p.bth.opcode = OP_UD_SEND_ONLY;
    p.bth.dest_qpn = s->honest[v.host].ud.qpn;
    p.deth.qkey = RIG_QKEY ^ (1u << drill_below(d, 32));
    p.deth.src_qpn = s->guest.ud.qpn;
    return send_to(d, &v, &p, a->value);
}

bool rogue_wrong_pkey(struct drill *d, const struct rogue_attack *a)
{
    const struct rogue_victim v = draw_victim(d);
    struct packet p;

    if (!right_packet(d, &v, &p))
        return false;
    p.bth.pkey = (uint16_t)(0x8000 + drill_below(d, 0x7fff));
    return send_to(d, &v, &p, a->value);
}

bool rogue_damaged(struct drill *d, const struct rogue_attack *a)
{
    const struct rogue_victim v = draw_victim(d);
    uint8_t f[FRAME_BYTES];
    struct packet p;
    size_t n;

    if (!right_packet(d, &v, &p))
        return false;
    n = build(&p, forged, 0, f);
    f[n - 1 - drill_below(d, 4 + PAYLOAD_BYTES)] ^= (uint8_t)(1 + drill_below(d, 255));
    rogue_arrives(d, v.host, n, a->value);
    return inject(d, f, n);
}

/* Announces the counter @name of the queue pair of @v, and of its device. */
static void counts(struct drill *d, const struct rogue_victim *v, const char *name)
{
    rogue_differs(d, 1, "%s.counters.%s", names[v->host], name);
    rogue_differs(d, 1, "%s.%s.counters.%s", names[v->host], v->end->name, name);
}

bool rogue_ghost_ack(struct drill *d, const struct rogue_attack *a)
{
    static const uint8_t syndromes[] = {0x1f, 0x60, 0x62, 0x63, 0x20};
    const struct rogue_victim v = draw_victim(d);
    struct packet p;

    if (!right_packet(d, &v, &p))
        return false;
    p.bth.opcode = OP_RC_ACKNOWLEDGE;
    p.payload_bytes = 0;
    p.aeth.syndrome = syndromes[drill_below(d, (uint32_t)ARRAY_LEN(syndromes))];
    p.bth.psn.v = (v.end->sq_psn + FAR + drill_below(d, FAR)) & PSN_MASK;
    counts(d, &v, "rcvd_pkts");
    counts(d, &v, "ghost_acks");
    return send_to(d, &v, &p, a->value);
}

/* The victim answers with a NAK if the PSN is ahead, and with an ACK if it has seen the PSN.  Its
 * peer has no such request outstanding and drops the answer.
 */
static void is_answered(struct drill *d, const struct rogue_victim *v, bool is_ahead,
                        uint32_t reason)
{
    const struct packet answer = {.ip.version = 4, .bth.opcode = OP_RC_ACKNOWLEDGE};
    const struct rogue_victim peer = {v->peer, v->end, v->peer_host, v->host};
    const size_t bytes = packet_frame_bytes(&answer);

    counts(d, v, "sent_pkts");
    if (is_ahead)
        counts(d, v, "sent_nak");
    rogue_differs(d, 1, "%s.port.sent_frames", names[v->host]);
    rogue_differs(d, bytes, "%s.port.sent_bytes", names[v->host]);
    rogue_arrives(d, v->peer_host, bytes, reason);
    counts(d, &peer, "rcvd_pkts");
    counts(d, &peer, "ghost_acks");
}

/* This attack is quiet: an answer that meets an outstanding request may do more. */
bool rogue_wrong_psn(struct drill *d, const struct rogue_attack *a)
{
    const struct rogue_victim v = draw_victim(d);
    const bool is_ahead = drill_one_in(d, 2);
    const uint32_t far = 1 + drill_below(d, FAR);
    uint64_t has_told;
    struct packet p;
    char path[64];

    if (!rogue_of(d)->is_quiet)
        return true;
    snprintf(path, sizeof(path), "%s.%s.nak_outstanding", names[v.host], v.end->name);
    if (!right_packet(d, &v, &p) || !drill_number(d, path, &has_told))
        return false;
    p.bth.ack_req = true;
    p.bth.psn.v = (p.bth.psn.v + (is_ahead ? far : 0u - far)) & PSN_MASK;
    counts(d, &v, "rcvd_pkts");
    counts(d, &v, is_ahead ? "out_of_sequence" : "duplicate_request");
    rogue_arrives(d, v.host, packet_frame_bytes(&p),
                  is_ahead && has_told ? DROP_OUT_OF_SEQUENCE : DROP_NONE);
    if (!is_ahead || !has_told)
        is_answered(d, &v, is_ahead, a->value);
    return rogue_send(d, &p, forged, 0);
}

/* Nobody is in the VLAN of the tag.  The embedded switch knows no function of that VLAN, so that
 * the frame leaves by the cable, whatever its destination is.
 */
bool rogue_other_vlan(struct drill *d, const struct rogue_attack *a)
{
    const struct rogue_victim v = draw_victim(d);
    struct packet p;

    if (!right_packet(d, &v, &p))
        return false;
    rogue_arrives(d, ROGUE_OUTSIDE, packet_frame_bytes(&p) + VLAN_TAG_BYTES,
                  v.host == ROGUE_OUTSIDE ? a->value : DROP_NOT_FOR_US);
    return rogue_send(d, &p, forged, 1 + drill_below(d, VLAN_VID_MAX));
}
