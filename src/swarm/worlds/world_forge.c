/* SPDX-License-Identifier: MIT */
#include "swarm/worlds/world_forge.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/psn.h"
#include "emu/trace/event.h"
#include "emu/wire/packet.h"
#include "rdmalab/layer.h"
#include "rdmalab/trace.h"

#define FRAME_BYTES   256u
#define PAYLOAD_BYTES 32u
#define FAR           (1u << 22) /* PSNs that are never reached */
#define LONG_AGO      100000u
#define HOP_LIMIT     64u

#define INJECTED_FROM_PORT 0xc000u /* as the command `inject` sets it */

enum forgery {
    WRONG_ICRC,
    TRUNCATED,
    NOBODYS_QPN,
    FROM_A_STRANGER,
    GHOST_ACK,
    GHOST_NAK,
    OTHER_PARTITION,
    LONG_GONE, /* a duplicate: the host at most acknowledges it */
    FORGERIES
};

/* Builds a packet from the peer of @end. */
static struct packet from_peer(struct world_run *r, uint16_t end)
{
    const struct world_end *e = &r->w->end[end], *peer = &r->w->end[e->peer];
    struct packet p = {.udp_src_port = 0xc123, .payload_bytes = PAYLOAD_BYTES};
    uint8_t here[16], there[16];

    world_works(r,
                rdl_wire_address(r->lab, r->host[e->host].host, r->end[end].qpn, r->w->gid_index,
                                 here, p.eth.dst),
                "a host has an address");
    world_works(r,
                rdl_wire_address(r->lab, r->host[peer->host].host, r->end[e->peer].qpn,
                                 r->w->gid_index, there, p.eth.src),
                "a host has an address");
    memcpy(p.ip.dst, here, sizeof(p.ip.dst));
    memcpy(p.ip.src, there, sizeof(p.ip.src));
    p.ip.version = r->w->gid_index == 0 ? 4 : 6;
    p.ip.ttl = HOP_LIMIT;
    p.bth.opcode = e->type == QPT_UC ? OP_UC_SEND_ONLY : OP_RC_SEND_ONLY;
    p.bth.dest_qpn = r->end[end].qpn;
    p.bth.pkey = world_pkeys[peer->pkey_index];
    p.bth.psn = (struct psn){world_psn(r, e->peer)};
    return p;
}

static void forge(struct packet *p, enum forgery what, uint32_t own_psn)
{
    switch (what) {
    case NOBODYS_QPN:
        p->bth.dest_qpn = 0x00fff0;
        break;
    case FROM_A_STRANGER:
        p->ip.src[15] ^= 0x55;
        break;
    case GHOST_ACK:
    case GHOST_NAK:
        p->bth.opcode = OP_RC_ACKNOWLEDGE;
        p->bth.psn.v = (own_psn + FAR) & PSN_MASK;
        p->aeth.syndrome = what == GHOST_ACK ? 0x1f : 0x62;
        p->payload_bytes = 0;
        break;
    case OTHER_PARTITION:
        p->bth.pkey = 0x8999;
        break;
    case LONG_GONE:
        p->bth.psn.v = (p->bth.psn.v - LONG_AGO) & PSN_MASK;
        break;
    default:
        break;
    }
}

/* Writes the script line `inject` for @p. */
static void say_inject(struct world_run *r, uint16_t end, const struct packet *p, bool wrong)
{
    const struct world_end *e = &r->w->end[end];
    const bool is_ack = p->bth.opcode == OP_RC_ACKNOWLEDGE;
    const struct aeth_word word = aeth_unpack(p->aeth.syndrome);

    world_say(r,
              "inject from=h%u to=h%u opcode=%s dest_qpn=%u psn=%u pkey=0x%x bytes=%u "
              "gid_index=%u%s%s%s",
              r->w->end[e->peer].host + 1u, e->host + 1u, enum_name(&enum_opcode, p->bth.opcode),
              p->bth.dest_qpn, p->bth.psn.v, p->bth.pkey, p->payload_bytes, r->w->gid_index,
              is_ack ? " syndrome=" : "", is_ack ? enum_name(&enum_syndrome, word.kind) : "",
              wrong ? " icrc=wrong" : "");
}

/* Returns flaw number @what of a packet that crosses the links of @w.  A fault that forges it would
 * make a wrong ICRC right again.
 */
static enum forgery flaw_of(const struct world *w, uint32_t what)
{
    static const enum forgery sent[] = {WRONG_ICRC, NOBODYS_QPN,     GHOST_ACK,
                                        GHOST_NAK,  OTHER_PARTITION, LONG_GONE};
    enum forgery f = sent[what % ARRAY_LEN(sent)];

    for (uint32_t i = 0; f == WRONG_ICRC && i < w->n_faults; i++) {
        if (w->fault[i].kind == FLT_FORGE)
            f = NOBODYS_QPN;
    }
    return f;
}

/* Checks that the last event `tx` has the length of @p. */
static void expect_told(struct world_run *r, uint16_t end, const struct packet *p)
{
    size_t i = rdl_record_count(r->lab);

    while (i > 0 && rdl_record_at(r->lab, i - 1)->kind != EV_tx)
        i--;
    world_expect_end(r, i > 0 && rdl_record_at(r->lab, i - 1)->u.tx.bytes == p->payload_bytes, end,
                     "an event tells how long the payload of a packet is");
}

void world_inject(struct world_run *r, uint16_t end, uint32_t what)
{
    const struct world_end *e = &r->w->end[end];
    const enum forgery f = flaw_of(r->w, what);
    const rdl_host from = r->host[r->w->end[e->peer].host].host;
    uint8_t frame[FRAME_BYTES];
    struct packet p;
    size_t bytes;

    if (e->type == QPT_UD || (e->type != QPT_RC && f >= GHOST_ACK))
        return;
    p = from_peer(r, end);
    p.payload_bytes -= what % 4; /* with a pad of any length */
    forge(&p, f, world_psn(r, end));
    if (p.bth.opcode == OP_RC_ACKNOWLEDGE)
        p.aeth.syndrome =
            aeth_pack(f == GHOST_ACK ? SYN_ACK : SYN_NAK_REMOTE_ACCESS, AETH_NO_CREDITS);
    p.udp_src_port = INJECTED_FROM_PORT;
    bytes = packet_frame_bytes(&p);
    RDL_ASSERT(bytes <= sizeof(frame));
    memset(packet_build(&p, frame), 0, p.payload_bytes);
    packet_finish(frame, bytes);
    if (f == WRONG_ICRC)
        frame[bytes - 1] ^= 1;
    say_inject(r, end, &p, f == WRONG_ICRC);
    world_works(r, rdl_inject_from(r->lab, from, frame, bytes, f == WRONG_ICRC),
                "a host can be made to send a packet");
    if (r->tap && !r->wrong)
        expect_told(r, end, &p);
}

void world_forge(struct world_run *r, uint16_t end, uint32_t what)
{
    const struct world_end *e = &r->w->end[end];
    const enum forgery f = (enum forgery)(what % FORGERIES);
    uint8_t frame[FRAME_BYTES];
    struct packet p;
    size_t bytes;

    if (e->type == QPT_UD || (e->type != QPT_RC && f >= GHOST_ACK))
        return;
    if (r->script) {
        r->n_unsaid++;
        return;
    }
    p = from_peer(r, end);
    forge(&p, f, world_psn(r, end));
    bytes = packet_frame_bytes(&p);
    RDL_ASSERT(bytes <= sizeof(frame));
    memset(packet_build(&p, frame), 0x66, p.payload_bytes);
    packet_finish(frame, bytes);
    if (f == WRONG_ICRC)
        frame[bytes - 1] ^= 1;
    if (f == TRUNCATED)
        bytes -= 1 + end % 40;
    world_works(r, rdl_inject(r->lab, r->host[e->host].host, frame, bytes),
                "a frame can arrive from anywhere");
}
