/* SPDX-License-Identifier: MIT */
#include "emu/wire/packet.h"

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/roce.h"
#include "emu/wire/icrc.h"
#include "emu/wire/mad.h"
#include "emu/wire/parse.h"
#include "emu/wire/vlan.h"

_Static_assert(sizeof(((struct packet *)0)->imm_data) == IMM_BYTES, "immediate data has room");

size_t packet_frame_bytes(const struct packet *p)
{
    return ETH_BYTES + ip_header_bytes(p->ip.version) + UDP_BYTES + BTH_BYTES +
           op_headers_bytes(op_info(p->bth.opcode)->headers) + p->payload_bytes +
           packet_pad_bytes(p->payload_bytes) + ICRC_BYTES;
}

/* Parses the Ethernet header, and the tag of a VLAN if there is one. */
static enum drop_reason parse_ethernet(struct packet *out, struct rd_cur *in)
{
    const enum drop_reason why = eth_parse(&out->eth, in);

    out->is_tagged = false;
    out->tci = 0;
    if (why != DROP_NONE || out->eth.ethertype != ETHERTYPE_VLAN)
        return why;
    out->is_tagged = true;
    out->tci = (uint16_t)rd_be(in, 2);
    out->eth.ethertype = (uint16_t)rd_be(in, 2);
    return in->bad ? DROP_SHORT : DROP_NONE;
}

/* Checks everything from the Ethernet header to the UDP header.  @in is then at the BTH and ends
 * with the ICRC.
 */
static enum drop_reason parse_network(struct packet *out, struct rd_cur *in)
{
    struct udp udp;
    enum drop_reason why = parse_ethernet(out, in);

    if (why != DROP_NONE)
        return why;
    if (out->eth.ethertype != ETHERTYPE_IPV4 && out->eth.ethertype != ETHERTYPE_IPV6)
        return DROP_BAD_ETHERTYPE;
    why = ip_parse(&out->ip, in);
    if (why != DROP_NONE)
        return why;
    if ((out->ip.version == 6) != (out->eth.ethertype == ETHERTYPE_IPV6))
        return DROP_BAD_IP_HEADER;
    if (out->ip.protocol != IP_PROTOCOL_UDP)
        return DROP_NOT_ROCE;
    why = udp_parse(&udp, in);
    if (why != DROP_NONE)
        return why;
    if (udp.dst_port != UDP_PORT_ROCE)
        return DROP_NOT_ROCE;
    if (udp.bytes != out->ip.payload_bytes) {
        out->refused = compared_one(out->ip.payload_bytes, udp.bytes);
        return DROP_BAD_UDP_LENGTH;
    }
    out->udp_src_port = udp.src_port;
    return DROP_NONE;
}

/* The bounds of the part that the BTH describes. */
struct extent {
    const uint8_t *ip; /* beginning of what the ICRC covers */
    const uint8_t *bth;
    const uint8_t *icrc; /* end of what the ICRC covers */
};

/* Fast path: recognizes a valid IPv4 packet without options, which nearly every packet is, by its
 * fixed layout.  If it returns false, @out is undefined and the slow path decides.
 */
static inline bool parse_plain(struct packet *out, const uint8_t *frame, size_t len,
                               struct extent *ret)
{
    const uint8_t *ip = frame + ETH_BYTES;
    struct udp udp;

    if (len < ETH_BYTES + IPV4_BYTES + UDP_BYTES + BTH_BYTES + ICRC_BYTES)
        return false;
    eth_read(&out->eth, frame);
    if (out->eth.ethertype != ETHERTYPE_IPV4 || !ipv4_is_sound(ip, len - ETH_BYTES))
        return false;
    ipv4_read(&out->ip, ip);
    udp = udp_read(ip + IPV4_BYTES);
    if (out->ip.protocol != IP_PROTOCOL_UDP || udp.dst_port != UDP_PORT_ROCE ||
        udp.bytes != out->ip.payload_bytes || udp.bytes < UDP_BYTES + BTH_BYTES + ICRC_BYTES)
        return false;
    out->is_tagged = false;
    out->tci = 0;
    out->udp_src_port = udp.src_port;
    ret->ip = ip;
    ret->bth = ip + IPV4_BYTES + UDP_BYTES;
    ret->icrc = ip + IPV4_BYTES + udp.bytes - ICRC_BYTES;
    return true;
}

/* Checks everything before the BTH: parse_network() handles what parse_plain() does not. */
static enum drop_reason find_extent(struct packet *out, const uint8_t *frame, size_t len,
                                    struct extent *ret)
{
    struct rd_cur in = rd_cur(frame, len);
    enum drop_reason why;

    if (parse_plain(out, frame, len, ret))
        return DROP_NONE;
    why = parse_network(out, &in);
    if (why != DROP_NONE)
        return why;
    if (rd_left(&in) < BTH_BYTES + ICRC_BYTES)
        return DROP_SHORT;
    *ret = (struct extent){frame + ETH_BYTES + (out->is_tagged ? VLAN_TAG_BYTES : 0), in.p,
                           in.end - ICRC_BYTES};
    return DROP_NONE;
}

/* Parses the extension headers at @at, in the order of their bits.  Headers that the packet lacks
 * are set to zero.  Returns false if they extend beyond @end.
 */
static bool parse_extensions(struct packet *out, const uint8_t *at, const uint8_t *end)
{
    const unsigned headers = out->op->headers;
    struct rd_cur in = rd_cur(at, (size_t)(end - at));
    uint8_t reserved[CNP_BYTES];

    out->deth = (struct deth){0};
    out->feth = (struct feth){0};
    out->reth = (struct reth){0};
    out->atomic = (struct atomic_eth){0};
    out->aeth = (struct aeth){0};
    out->atomic_ack = 0;
    memset(out->imm_data, 0, IMM_BYTES);
    out->ieth_rkey = 0;
    if (headers == 0)
        return true;
    if (headers & H_DETH)
        deth_parse(&out->deth, &in);
    if (headers & H_FETH)
        feth_parse(&out->feth, &in);
    if (headers & H_RETH)
        reth_parse(&out->reth, &in);
    if (headers & H_ATOMIC)
        atomic_eth_parse(&out->atomic, &in);
    if (headers & H_AETH)
        aeth_parse(&out->aeth, &in);
    if (headers & H_ATOMIC_ACK)
        out->atomic_ack = rd_be(&in, 8);
    if (headers & H_IMM)
        rd_bytes(&in, out->imm_data, IMM_BYTES);
    if (headers & H_IETH)
        out->ieth_rkey = (uint32_t)rd_be(&in, 4);
    if (headers & H_CNP)
        rd_bytes(&in, reserved, CNP_BYTES);
    return !in.bad;
}

/* Parses the BTH and the headers that it announces.  The rest is the payload. */
static enum drop_reason parse_transport(struct packet *out, const struct extent *e)
{
    const uint8_t *payload;
    size_t left;

    if (bth_peek_version(e->bth) != 0) {
        out->refused = compared_one(0, bth_peek_version(e->bth));
        return DROP_BAD_VERSION;
    }
    bth_read(&out->bth, e->bth);
    out->op = op_info(out->bth.opcode);
    out->payload = NULL;
    out->payload_bytes = 0;
    if (!parse_extensions(out, e->bth + BTH_BYTES, e->icrc))
        return DROP_SHORT;
    if (!out->op->name)
        return DROP_BAD_OPCODE;
    payload = e->bth + BTH_BYTES + op_headers_bytes(out->op->headers);
    left = (size_t)(e->icrc - payload);
    if (out->bth.pad_bytes > left) {
        out->refused = compared_at_most(left, out->bth.pad_bytes);
        return DROP_BAD_PAD;
    }
    out->payload = payload;
    out->payload_bytes = (uint32_t)left - out->bth.pad_bytes;
    return DROP_NONE;
}

size_t packet_icrc_at(const uint8_t *frame, size_t len)
{
    struct rd_cur in = rd_cur(frame, len);
    struct packet ignored;

    if (parse_network(&ignored, &in) != DROP_NONE || rd_left(&in) < BTH_BYTES + ICRC_BYTES)
        return 0;
    return (size_t)(in.end - frame) - ICRC_BYTES;
}

uint32_t packet_message(const struct packet *p)
{
    if (p->bth.dest_qpn != QPN_GSI || !(op_info(p->bth.opcode)->headers & H_DETH))
        return 0;
    return mad_message(p->payload, p->payload_bytes);
}

/* Returns the offset of the IP header in a frame whose ICRC is at @icrc_at. */
static size_t ip_at(const uint8_t *frame, size_t icrc_at)
{
    return ETH_BYTES + vlan_bytes(frame, icrc_at);
}

/* Returns the offset of the BTH. */
static size_t bth_at(const uint8_t *frame, size_t icrc_at)
{
    const size_t ip = ip_at(frame, icrc_at);

    return ip + ip_header_bytes(frame[ip] >> 4) + UDP_BYTES;
}

uint32_t packet_icrc_of_rxe(const uint8_t *frame, size_t icrc_at)
{
    const uint8_t *bth = frame + bth_at(frame, icrc_at), *ip = frame + ip_at(frame, icrc_at);
    const uint32_t once = icrc_compute(ip, (size_t)(frame + icrc_at - ip));

    return icrc_more(once, bth, (size_t)(frame + icrc_at - bth));
}

bool packet_has_icrc_of_rxe(const uint8_t *frame, size_t icrc_at)
{
    const size_t bth = bth_at(frame, icrc_at);

    return icrc_at >= bth + BTH_BYTES && frame[bth] == OP_RC_FLUSH &&
           ld_le32(frame + icrc_at) == packet_icrc_of_rxe(frame, icrc_at);
}

/* As packet_parse(), but the contents of @out are undefined if the packet is refused. */
static enum drop_reason parse(struct packet *out, const uint8_t *frame, size_t len)
{
    struct extent e;
    const enum drop_reason why = find_extent(out, frame, len, &e);
    uint32_t should;

    if (why != DROP_NONE)
        return why;
    should = icrc_compute(e.ip, (size_t)(e.icrc - e.ip));
    out->icrc_of_rxe =
        ld_le32(e.icrc) != should && packet_has_icrc_of_rxe(frame, (size_t)(e.icrc - frame));
    if (ld_le32(e.icrc) != should && !out->icrc_of_rxe) {
        out->refused = compared_one(should, ld_le32(e.icrc));
        return DROP_BAD_ICRC;
    }
    return parse_transport(out, &e);
}

enum drop_reason packet_parse(struct packet *out, const uint8_t *frame, size_t len)
{
    enum drop_reason why;

    out->refused = (struct compared){0};
    out->whole = NULL;
    why = parse(out, frame, len);
    if (why != DROP_NONE && why != DROP_BAD_OPCODE)
        *out = (struct packet){.refused = out->refused};
    return why;
}

static void build_extensions(const struct packet *p, unsigned headers, uint8_t *to, size_t bytes)
{
    static const uint8_t reserved[CNP_BYTES];
    struct wr_cur out = wr_cur(to, bytes);

    if (headers & H_DETH)
        deth_build(&p->deth, &out);
    if (headers & H_FETH)
        feth_build(&p->feth, &out);
    if (headers & H_RETH)
        reth_build(&p->reth, &out);
    if (headers & H_ATOMIC)
        atomic_eth_build(&p->atomic, &out);
    if (headers & H_AETH)
        aeth_build(&p->aeth, &out);
    if (headers & H_ATOMIC_ACK)
        wr_be(&out, 8, p->atomic_ack);
    if (headers & H_IMM)
        wr_bytes(&out, p->imm_data, IMM_BYTES);
    if (headers & H_IETH)
        wr_be(&out, 4, p->ieth_rkey);
    if (headers & H_CNP)
        wr_bytes(&out, reserved, CNP_BYTES);
    RDL_ASSERT(!out.bad);
}

struct packet_path packet_path_of(const struct packet *p)
{
    struct packet_path path = {.ip_bytes = (uint8_t)ip_header_bytes(p->ip.version)};
    struct wr_cur out = wr_cur(path.bytes, sizeof(path.bytes));
    const struct udp udp = {.src_port = p->udp_src_port, .dst_port = UDP_PORT_ROCE};
    struct eth eth = p->eth;
    struct ip ip = p->ip;

    eth.ethertype = ip.version == 6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4;
    ip.protocol = IP_PROTOCOL_UDP;
    ip.payload_bytes = 0;
    eth_build(&eth, &out);
    ip_build(&ip, &out);
    udp_build(&udp, &out);
    RDL_ASSERT(!out.bad);
    return path;
}

/* Writes the headers of @path, for a UDP length of @udp_bytes.  The copies have constant lengths,
 * which compilers turn into a few stores.
 */
static void build_path(const struct packet_path *path, size_t udp_bytes, uint8_t *frame)
{
    const size_t ipv4_end = ETH_BYTES + IPV4_BYTES + UDP_BYTES;
    uint8_t *ip = frame + ETH_BYTES;

    memcpy(frame, path->bytes, ipv4_end);
    if (path->ip_bytes == IPV6_BYTES) {
        memcpy(frame + ipv4_end, path->bytes + ipv4_end, sizeof(path->bytes) - ipv4_end);
        ipv6_set_payload(ip, (uint16_t)udp_bytes);
    } else {
        ipv4_set_payload(ip, (uint16_t)udp_bytes);
    }
    udp_set_bytes(ip + path->ip_bytes, (uint16_t)udp_bytes);
}

struct packet_room packet_build_along(const struct packet_path *path, const struct packet *p,
                                      uint8_t *frame)
{
    const struct op_info *op = op_info(p->bth.opcode);
    const size_t extension_bytes = op_headers_bytes(op->headers);
    const uint32_t pad_bytes = packet_pad_bytes(p->payload_bytes);
    const size_t bth_at = ETH_BYTES + path->ip_bytes + UDP_BYTES;
    const size_t payload_at = bth_at + BTH_BYTES + extension_bytes;
    const size_t icrc_at = payload_at + p->payload_bytes + pad_bytes;
    const size_t frame_bytes = icrc_at + ICRC_BYTES;

    RDL_ASSERT(op->name);
    RDL_ASSERT(frame_bytes - ETH_BYTES <= UINT16_MAX);
    st_le32(frame + icrc_at - 4, 0); /* the pad; payload overwrites what is not pad */
    build_path(path, frame_bytes - ETH_BYTES - path->ip_bytes, frame);
    bth_build(&p->bth, pad_bytes, frame + bth_at);
    if (op->headers != 0)
        build_extensions(p, op->headers, frame + bth_at + BTH_BYTES, extension_bytes);
    return (struct packet_room){frame + payload_at, frame_bytes};
}

uint8_t *packet_build(const struct packet *p, uint8_t *frame)
{
    const struct packet_path path = packet_path_of(p);

    return packet_build_along(&path, p, frame).payload;
}

void packet_finish(uint8_t *frame, size_t frame_bytes)
{
    uint8_t *icrc = frame + frame_bytes - ICRC_BYTES;

    st_le32(icrc, packet_sum(frame + vlan_bytes(frame, frame_bytes), icrc));
}

uint32_t packet_sum(const uint8_t *frame, const uint8_t *payload)
{
    const uint8_t *ip = frame + ETH_BYTES;

    return icrc_compute(ip, (size_t)(payload - ip));
}

void packet_finish_summed(uint8_t *frame, size_t frame_bytes, const uint8_t *end, uint32_t icrc)
{
    uint8_t *at = frame + frame_bytes - ICRC_BYTES;

    if (at != end) /* the pad */
        icrc = icrc_more(icrc, end, (size_t)(at - end));
    st_le32(at, icrc);
}
