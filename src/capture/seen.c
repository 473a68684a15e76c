/* SPDX-License-Identifier: MIT */
#include "capture/seen.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/fnv.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/roce.h"
#include "emu/wire/icrc.h"
#include "emu/wire/parse.h"

#define ECN_CE          3u
#define FRAME_BYTES_MAX (ETH_BYTES + 65535u + IPV6_BYTES)

static void add(struct seen_faults *to, struct seen_fault fault)
{
    if (to->n < SEEN_FAULTS_MAX)
        to->v[to->n++] = fault;
}

/* Length of the IP packet according to its header. */
static uint32_t announced_bytes(const struct link_ip *ip)
{
    if (ip->ethertype == ETHERTYPE_IPV6)
        return IPV6_BYTES + ld_be16(ip->head + 4);
    return ld_be16(ip->head + 2);
}

/* Returns true if the IPv4 header checksum is right, so that the length can be trusted. */
static bool has_right_sum(const struct link_ip *ip)
{
    return ip->head[0] == IPV4_VERSION_IHL && ipv4_sum_is_right(ip->head);
}

static void judge_icrc(const uint8_t *frame, size_t icrc_at, struct seen *ret,
                       struct seen_faults *faults)
{
    const uint32_t found = ld_le32(frame + icrc_at);

    if (found == icrc_compute(frame + ETH_BYTES, icrc_at - ETH_BYTES))
        return;
    if (packet_has_icrc_of_rxe(frame, icrc_at))
        add(faults, (struct seen_fault){.finding = FIND_FLUSH_ICRC_OF_RXE});
    else
        ret->flags |= SEEN_DAMAGED | (found == 0 ? SEEN_NO_ICRC : 0);
}

/* Makes a frame that packet_parse() accepts even if the capture truncated the packet or a checksum
 * is wrong.  Reports these faults.  Returns its length.
 */
static size_t make_frame(const struct link_ip *ip, uint8_t frame[FRAME_BYTES_MAX], struct seen *ret,
                         struct seen_faults *faults)
{
    const uint32_t announced = announced_bytes(ip);
    uint32_t n = ip->head_bytes + ip->n_rest;
    size_t icrc_at, bytes;

    if (n > FRAME_BYTES_MAX - ETH_BYTES)
        n = FRAME_BYTES_MAX - ETH_BYTES;
    memset(frame, 0, ETH_BYTES);
    st_be16(frame + ETH_ETHERTYPE_AT, ip->ethertype);
    memcpy(frame + ETH_BYTES, ip->head, ip->head_bytes);
    memcpy(frame + ETH_BYTES + ip->head_bytes, ip->rest, n - ip->head_bytes);
    if (announced > n && announced <= FRAME_BYTES_MAX - ETH_BYTES &&
        (n + ip->n_cut >= announced || ip->ethertype == ETHERTYPE_IPV6 || has_right_sum(ip))) {
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
        /* The specification does not say what an ICRC covers with extension headers. */
        ret->flags |= ip->was_longer ? SEEN_UNSUMMED : 0;
        if (!(ret->flags & SEEN_CUT) && !ip->was_longer)
            judge_icrc(frame, icrc_at, ret, faults);
        st_le32(frame + icrc_at, icrc_compute(frame + ETH_BYTES, icrc_at - ETH_BYTES));
    }
    return bytes;
}

static uint64_t sum_of_headers(const struct packet *p)
{
    uint64_t h = FNV64_OF_NOTHING;

    if (p->op->headers & H_FETH) {
        h = fnv1a_64(h, &p->feth.placement, sizeof(p->feth.placement));
        h = fnv1a_64(h, &p->feth.level, sizeof(p->feth.level));
    }
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

/* Returns true if @p is an atomic or an ATOMIC WRITE whose address is no multiple of 8. */
static bool is_unaligned(const struct packet *p)
{
    const uint64_t va = p->op->kind == OPK_ATOMIC_WRITE ? p->reth.va : p->atomic.va;

    return va % ATOMIC_WORD_BYTES != 0;
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
        (uint16_t)((p->bth.ack_req ? SEEN_ACK_REQ : 0) | (p->bth.solicited ? SEEN_SOLICITED : 0) |
                   ((p->ip.tclass & 3u) == ECN_CE ? SEEN_CE : 0) |
                   (is_unaligned(p) ? SEEN_UNALIGNED : 0));
}

/* Decodes the management datagram in @p, if it is one for the connection manager. */
static void take_mad(const struct packet *p, unsigned flags, struct seen_mad *ret)
{
    if (p->op->service != OPS_UD || p->bth.dest_qpn != QPN_GSI)
        return;
    ret->is_cut = (flags & SEEN_CUT) != 0;
    ret->is_there =
        !ret->is_cut && p->payload_bytes >= MAD_BYTES && mad_parse(&ret->mad, p->payload);
}

/* Copies the payload of a packet of a SEND, if it may be part of a message of o2iblnd. */
static void take_send(const struct packet *p, struct seen_send *ret)
{
    ret->is_there = p->op->service == OPS_RC && p->op->kind == OPK_SEND &&
                    p->payload_bytes <= sizeof(ret->bytes);
    if (!ret->is_there)
        return;
    ret->n = p->payload_bytes;
    memcpy(ret->bytes, p->payload, p->payload_bytes);
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
        {0x40, 0x55, "of the service RD"},
        {0xa0, 0xb4, "of the service XRC"},
        {0xb6, 0xb7, "of the service XRC"},
        {0xbc, 0xbd, "one of the memory placement extensions of the service XRC"},
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

/* Decodes the IP packet @ip. */
static enum seen_result read_packet(const struct link_ip *ip, struct seen *ret,
                                    struct seen_way *ret_way, struct seen_contents *ret_contents,
                                    struct seen_faults *faults)
{
    uint8_t frame[FRAME_BYTES_MAX];
    const size_t bytes = make_frame(ip, frame, ret, faults);
    struct packet p;
    const enum drop_reason why = packet_parse(&p, frame, bytes);

    if (why == DROP_BAD_ETHERTYPE || why == DROP_NOT_ROCE || why == DROP_FRAGMENT ||
        why == DROP_BAD_IP_HEADER || (why == DROP_SHORT && packet_icrc_at(frame, bytes) == 0)) {
        faults->n = 0;
        return SEEN_OTHER;
    }
    if (why != DROP_NONE && (ret->flags & SEEN_DAMAGED ||
                             (why == DROP_BAD_UDP_LENGTH && !ends_in_icrc(frame, bytes)))) {
        add(faults, (struct seen_fault){.finding = FIND_BAD_FRAME});
        return SEEN_BROKEN;
    }
    if (why == DROP_BAD_IP_CHECKSUM)
        return SEEN_BROKEN;
    if (why != DROP_NONE) {
        report_refused(why, &p, faults);
        return SEEN_BROKEN;
    }
    memcpy(ret_way->src, p.ip.src, GID_BYTES);
    memcpy(ret_way->dst, ip->has_goal ? ip->goal : p.ip.dst, GID_BYTES);
    fill(ret, &p);
    take_mad(&p, ret->flags, &ret_contents->mad);
    take_send(&p, &ret_contents->send);
    if (!(ret->flags & (SEEN_DAMAGED | SEEN_CUT)))
        judge_pad(&p, faults);
    return SEEN_PACKET;
}

enum seen_result seen_read(const struct capture_frame *f, struct seen *ret,
                           struct seen_way *ret_way, struct link_pause *ret_pause,
                           struct seen_contents *ret_contents, struct seen_faults *ret_faults)
{
    struct link_ip ip;

    *ret = (struct seen){.number = f->number, .at_ns = f->at_ns, .next = SEEN_NONE};
    ret_faults->n = 0;
    ret_contents->mad.is_cut = ret_contents->mad.is_there = false;
    ret_contents->send.is_there = false;
    switch (link_find(f, &ip, ret_pause)) {
    case LINK_ROCE_V1:
        return SEEN_ROCE_V1;
    case LINK_PAUSE:
        return SEEN_PAUSE;
    case LINK_UNREAD:
        return SEEN_UNREAD;
    case LINK_OTHER:
        return SEEN_OTHER;
    case LINK_IP:
        break;
    }
    ret->place = ip.place;
    ret->vlan = ip.vlan;
    if (ip.direction == CAPTURE_OUTBOUND)
        ret->flags |= SEEN_SENT;
    else if (ip.direction == CAPTURE_INBOUND)
        ret->flags |= SEEN_CAME;
    return read_packet(&ip, ret, ret_way, ret_contents, ret_faults);
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

uint64_t seen_content(const struct seen *s)
{
    const uint32_t words[] = {
        s->src,
        s->dst,
        s->dest_qpn,
        s->psn,
        s->msn,
        s->payload_bytes,
        s->opcode | (uint32_t)s->syndrome << 8 | (uint32_t)s->ip_id << 16,
        s->flags & (SEEN_ACK_REQ | SEEN_SOLICITED | SEEN_DAMAGED | SEEN_NO_ICRC),
    };
    uint64_t h = fnv1a_64_words(FNV64_OF_NOTHING, words, ARRAY_LEN(words));

    h = fnv1a_64(h, &s->headers_sum, sizeof(s->headers_sum));
    return fnv1a_64(h, &s->value, sizeof(s->value));
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
