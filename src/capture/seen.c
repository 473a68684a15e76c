/* SPDX-License-Identifier: MIT */
#include "capture/seen.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/fnv.h"
#include "emu/facts/enum/op_header.h"
#include "emu/wire/icrc.h"
#include "emu/wire/parse.h"

#define ETHERTYPE_VLAN  0x8100u
#define ETHERTYPE_QINQ  0x88a8u
#define ETHERTYPE_QINQ1 0x9100u /* the same, before it was standardized */
#define VLAN_BYTES      4u
#define VLAN_TAGS_MAX   4u
#define SLL_BYTES       16u
#define SLL2_BYTES      20u
#define SLL_SENT        4u /* packet type: sent by this host */
#define ECN_CE          3u
#define FRAME_BYTES_MAX (ETH_BYTES + 65535u + IPV6_BYTES)

/* The IP packet of a frame. */
struct ip_packet {
    const uint8_t *bytes;
    uint32_t n, n_on_wire;
    uint16_t ethertype;
    enum capture_direction direction;
};

static bool find_behind(const struct capture_frame *f, uint32_t head, uint16_t ethertype,
                        struct ip_packet *ret)
{
    for (unsigned i = 0; i < VLAN_TAGS_MAX; i++) {
        if (ethertype != ETHERTYPE_VLAN && ethertype != ETHERTYPE_QINQ &&
            ethertype != ETHERTYPE_QINQ1)
            break;
        if (f->n_bytes < head + VLAN_BYTES)
            return false;
        ethertype = ld_be16(f->bytes + head + 2);
        head += VLAN_BYTES;
    }
    ret->bytes = f->bytes + head;
    ret->n = f->n_bytes - head;
    ret->n_on_wire = f->n_on_wire > f->n_bytes ? f->n_on_wire - head : ret->n;
    ret->ethertype = ethertype;
    return ethertype == ETHERTYPE_IPV4 || ethertype == ETHERTYPE_IPV6;
}

/* Finds the IP packet in @f behind any link header.  Returns false if there is none. */
static bool find_ip(const struct capture_frame *f, struct ip_packet *ret)
{
    ret->direction = f->direction;
    switch (f->link) {
    case CAPTURE_ETHERNET:
        return f->n_bytes >= ETH_BYTES &&
               find_behind(f, ETH_BYTES, ld_be16(f->bytes + ETH_ETHERTYPE_AT), ret);
    case CAPTURE_LINUX_SLL:
        if (f->n_bytes < SLL_BYTES)
            return false;
        ret->direction = ld_be16(f->bytes) == SLL_SENT ? CAPTURE_OUTBOUND : CAPTURE_INBOUND;
        return find_behind(f, SLL_BYTES, ld_be16(f->bytes + 14), ret);
    case CAPTURE_LINUX_SLL2:
        if (f->n_bytes < SLL2_BYTES)
            return false;
        ret->direction = f->bytes[10] == SLL_SENT ? CAPTURE_OUTBOUND : CAPTURE_INBOUND;
        return find_behind(f, SLL2_BYTES, ld_be16(f->bytes), ret);
    case CAPTURE_RAW:
    case CAPTURE_IPV4:
    case CAPTURE_IPV6:
        if (f->n_bytes < 1)
            return false;
        return find_behind(f, 0, f->bytes[0] >> 4 == 6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4, ret);
    default:
        return false;
    }
}

static void add(struct seen_faults *to, struct seen_fault fault)
{
    if (to->n < SEEN_FAULTS_MAX)
        to->v[to->n++] = fault;
}

/* Length of the IP packet according to its header; 0: the header is not complete. */
static uint32_t announced_bytes(const struct ip_packet *ip)
{
    if (ip->ethertype == ETHERTYPE_IPV6)
        return ip->n < IPV6_BYTES ? 0 : IPV6_BYTES + ld_be16(ip->bytes + 4);
    return ip->n < IPV4_BYTES ? 0 : ld_be16(ip->bytes + 2);
}

/* Returns true if the IPv4 header checksum is right, so that the length can be trusted. */
static bool has_right_sum(const struct ip_packet *ip)
{
    return ip->n >= IPV4_BYTES && ip->bytes[0] == IPV4_VERSION_IHL && ipv4_sum_is_right(ip->bytes);
}

/* Makes a frame that packet_parse() accepts even if the capture truncated the packet or a checksum
 * is wrong.  Reports these faults.  Returns its length.
 */
static size_t make_frame(const struct ip_packet *ip, uint8_t frame[FRAME_BYTES_MAX],
                         struct seen *ret, struct seen_faults *faults)
{
    const uint32_t announced = announced_bytes(ip);
    uint32_t n = ip->n;
    size_t icrc_at, bytes;

    if (n > FRAME_BYTES_MAX - ETH_BYTES)
        n = FRAME_BYTES_MAX - ETH_BYTES;
    memset(frame, 0, ETH_BYTES);
    st_be16(frame + ETH_ETHERTYPE_AT, ip->ethertype);
    memcpy(frame + ETH_BYTES, ip->bytes, n);
    if (announced > n && announced <= FRAME_BYTES_MAX - ETH_BYTES &&
        (ip->n_on_wire >= announced || ip->ethertype == ETHERTYPE_IPV6 || has_right_sum(ip))) {
        memset(frame + ETH_BYTES + n, 0, announced - n);
        n = announced;
        ret->flags |= SEEN_CUT;
    }
    bytes = ETH_BYTES + n;
    if (ip->ethertype == ETHERTYPE_IPV4 && n >= IPV4_BYTES &&
        !ipv4_sum_is_right(frame + ETH_BYTES) && frame[ETH_BYTES] == IPV4_VERSION_IHL) {
        add(faults, (struct seen_fault){.finding = FIND_BAD_IP_CHECKSUM});
        ipv4_set_payload(frame + ETH_BYTES,
                         (uint16_t)(ld_be16(frame + ETH_BYTES + 2) - IPV4_BYTES));
    }
    icrc_at = packet_icrc_at(frame, bytes);
    if (icrc_at != 0) {
        const uint32_t right = icrc_compute(frame + ETH_BYTES, icrc_at - ETH_BYTES);

        if (!(ret->flags & SEEN_CUT) && ld_le32(frame + icrc_at) != right)
            ret->flags |= SEEN_DAMAGED | (ld_le32(frame + icrc_at) == 0 ? SEEN_NO_ICRC : 0);
        st_le32(frame + icrc_at, right);
    }
    return bytes;
}

static uint64_t sum_of_headers(const struct packet *p)
{
    uint64_t h = FNV64_OF_NOTHING;

    h = fnv1a_64(h, &p->reth.va, sizeof(p->reth.va));
    h = fnv1a_64(h, &p->reth.rkey, sizeof(p->reth.rkey));
    h = fnv1a_64(h, &p->reth.dma_bytes, sizeof(p->reth.dma_bytes));
    h = fnv1a_64(h, &p->atomic.va, sizeof(p->atomic.va));
    h = fnv1a_64(h, &p->atomic.rkey, sizeof(p->atomic.rkey));
    h = fnv1a_64(h, &p->atomic.swap_add, sizeof(p->atomic.swap_add));
    h = fnv1a_64(h, &p->atomic.compare, sizeof(p->atomic.compare));
    h = fnv1a_64(h, p->imm_data, IMM_BYTES);
    return fnv1a_64(h, &p->ieth_rkey, sizeof(p->ieth_rkey));
}

static void judge_pad(const struct packet *p, struct seen_faults *faults)
{
    const bool is_more = p->op->pos == OPP_FIRST || p->op->pos == OPP_MIDDLE;

    if ((p->payload_bytes + p->bth.pad_bytes) % 4 != 0 || (is_more && p->bth.pad_bytes != 0))
        add(faults, (struct seen_fault){
                        .finding = FIND_BAD_PAD, .n = p->bth.pad_bytes, .value = p->payload_bytes});
}

static void fill(struct seen *ret, const struct packet *p)
{
    ret->value = p->atomic_ack;
    ret->headers_sum = sum_of_headers(p);
    ret->payload_sum =
        ret->flags & SEEN_CUT ? 0 : fnv1a_64(FNV64_OF_NOTHING, p->payload, p->payload_bytes);
    ret->psn = p->bth.psn.v;
    ret->dest_qpn = p->bth.dest_qpn;
    ret->msn = p->aeth.msn;
    ret->dma_bytes = p->reth.dma_bytes;
    ret->payload_bytes = p->payload_bytes;
    ret->ip_id = p->ip.id;
    ret->opcode = p->bth.opcode;
    ret->syndrome = p->aeth.syndrome;
    ret->pad_bytes = p->bth.pad_bytes;
    ret->flags |=
        (uint8_t)((p->bth.ack_req ? SEEN_ACK_REQ : 0) | (p->bth.solicited ? SEEN_SOLICITED : 0) |
                  ((p->ip.tclass & 3u) == ECN_CE ? SEEN_CE : 0));
}

/* Returns true if the IP packet in @frame ends with its correct ICRC.  Then contradictory headers
 * were written by the sender and are no damage.
 */
static bool ends_in_icrc(const uint8_t *frame, size_t bytes)
{
    const uint8_t *ip = frame + ETH_BYTES;
    const bool is_ipv6 = ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV6;
    const size_t head = is_ipv6 ? IPV6_BYTES : IPV4_BYTES, left = bytes - ETH_BYTES;
    size_t n;

    if (left < head + UDP_BYTES + BTH_BYTES + ICRC_BYTES)
        return false;
    n = is_ipv6 ? IPV6_BYTES + (size_t)ld_be16(ip + 4) : ld_be16(ip + 2);
    return n <= left && n >= head + UDP_BYTES + BTH_BYTES + ICRC_BYTES &&
           ld_le32(ip + n - ICRC_BYTES) == icrc_compute(ip, n - ICRC_BYTES);
}

/* Describes a defined opcode that is not supported here; NULL: the opcode is reserved. */
static const char *what_is_not_followed(uint8_t opcode)
{
    static const struct {
        uint8_t first, last;
        const char *is;
    } rows[] = {
        {0x1c, 0x1d, "one of the memory placement extensions"},
        {0x40, 0x55, "of the service RD"},
        {0xa0, 0xb4, "of the service XRC"},
        {0xb6, 0xb7, "of the service XRC"},
        {0xbc, 0xbd, "one of the memory placement extensions"},
        {0xc0, 0xff, "left to manufacturers"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (opcode >= rows[i].first && opcode <= rows[i].last)
            return rows[i].is;
    }
    return NULL;
}

/* Reports why a frame to the RoCEv2 UDP port is not a valid packet. */
static void report_refused(enum drop_reason why, const struct packet *p, struct seen_faults *faults)
{
    struct seen_fault fault = {.finding = FIND_BAD_LENGTH,
                               .why = enum_by_value(&enum_drop, why)->text};

    if (why == DROP_BAD_VERSION) {
        fault.finding = FIND_BAD_VERSION;
        fault.n = (uint32_t)p->refused.found;
    } else if (why == DROP_BAD_OPCODE) {
        fault.why = what_is_not_followed(p->bth.opcode);
        fault.finding = fault.why ? FIND_NOT_FOLLOWED : FIND_BAD_OPCODE;
        fault.n = p->bth.opcode;
    }
    add(faults, fault);
}

enum seen_result seen_read(const struct capture_frame *f, struct seen *ret,
                           struct seen_way *ret_way, struct seen_faults *ret_faults)
{
    uint8_t frame[FRAME_BYTES_MAX];
    struct ip_packet ip;
    struct packet p;
    enum drop_reason why;
    size_t bytes;

    *ret = (struct seen){.number = f->number, .at_ns = f->at_ns, .next = SEEN_NONE};
    ret_faults->n = 0;
    if (!find_ip(f, &ip))
        return SEEN_OTHER;
    bytes = make_frame(&ip, frame, ret, ret_faults);
    if (ip.direction == CAPTURE_OUTBOUND)
        ret->flags |= SEEN_SENT;
    else if (ip.direction == CAPTURE_INBOUND)
        ret->flags |= SEEN_CAME;
    why = packet_parse(&p, frame, bytes);
    if (why == DROP_BAD_ETHERTYPE || why == DROP_NOT_ROCE || why == DROP_FRAGMENT ||
        why == DROP_BAD_IP_HEADER || (why == DROP_SHORT && packet_icrc_at(frame, bytes) == 0)) {
        ret_faults->n = 0;
        return SEEN_OTHER;
    }
    if (why != DROP_NONE && (ret->flags & SEEN_DAMAGED ||
                             (why == DROP_BAD_UDP_LENGTH && !ends_in_icrc(frame, bytes)))) {
        add(ret_faults, (struct seen_fault){.finding = FIND_BAD_FRAME});
        return SEEN_BROKEN;
    }
    if (why == DROP_BAD_IP_CHECKSUM)
        return SEEN_BROKEN;
    if (why != DROP_NONE) {
        report_refused(why, &p, ret_faults);
        return SEEN_BROKEN;
    }
    memcpy(ret_way->src, p.ip.src, GID_BYTES);
    memcpy(ret_way->dst, p.ip.dst, GID_BYTES);
    fill(ret, &p);
    if (!(ret->flags & (SEEN_DAMAGED | SEEN_CUT)))
        judge_pad(&p, ret_faults);
    return SEEN_PACKET;
}

struct packet seen_packet(const struct seen *s)
{
    return (struct packet){
        .op = seen_op(s),
        .bth = {.opcode = s->opcode,
                .dest_qpn = s->dest_qpn,
                .psn = {s->psn},
                .ack_req = (s->flags & SEEN_ACK_REQ) != 0},
        .reth = {.dma_bytes = s->dma_bytes},
        .aeth = {.syndrome = s->syndrome, .msn = s->msn},
        .atomic_ack = s->value,
        .payload_bytes = s->payload_bytes,
    };
}

bool seen_same_headers(const struct seen *a, const struct seen *b)
{
    return a->opcode == b->opcode && a->headers_sum == b->headers_sum &&
           a->payload_bytes == b->payload_bytes;
}

bool seen_same_payload(const struct seen *a, const struct seen *b)
{
    return ((a->flags | b->flags) & SEEN_CUT) || a->payload_sum == b->payload_sum;
}
