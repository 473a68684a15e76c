/* SPDX-License-Identifier: MIT */
#include "emu/wire/field.h"

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/opcode.h"
#include "emu/facts/roce.h"
#include "emu/wire/checksum.h"
#include "emu/wire/eth.h"
#include "emu/wire/icrc.h"
#include "emu/wire/ip.h"
#include "emu/wire/lnet_gist.h"
#include "emu/wire/lnet_rows.h"
#include "emu/wire/mad.h"
#include "emu/wire/packet.h"
#include "emu/wire/udp.h"
#include "emu/wire/vlan.h"

#define IPV4_CHECKSUM_AT 10u

/* Field CM is the attribute ID of a MAD, at byte 16 of its header. */
#define WF_MESSAGE WF_OF_MAD(MAD_PART_HEADER, 16, 0)

/* The header that contains a field. */
enum field_region { IN_ETH, IN_TAG, IN_IPV4, IN_IPV6, IN_UDP, IN_BTH, IN_EXT, IN_PAYLOAD, IN_ICRC };

struct field_row {
    enum wire_field_id id;
    enum field_region in;
    unsigned header; /* enum op_header, if @in is IN_EXT */
    uint32_t at, bytes;
    uint64_t mask; /* 0: all bits */
};

static const struct field_row rows[] = {
    {WF_MAC_DST, IN_ETH, 0, 0, 6, 0},
    {WF_MAC_SRC, IN_ETH, 0, 6, 6, 0},
    {WF_VLAN, IN_TAG, 0, 2, 2, VLAN_VID_MASK},
    {WF_PCP, IN_TAG, 0, 2, 1, 0xe0},
    {WF_DEI, IN_TAG, 0, 2, 1, 0x10},
    {WF_DSCP, IN_IPV4, 0, 1, 1, 0xfc},
    {WF_DSCP, IN_IPV6, 0, 0, 2, 0x0fc0},
    {WF_ECN, IN_IPV4, 0, 1, 1, 0x03},
    {WF_ECN, IN_IPV6, 0, 0, 2, 0x0030},
    {WF_TTL, IN_IPV4, 0, 8, 1, 0},
    {WF_TTL, IN_IPV6, 0, 7, 1, 0},
    {WF_UDP_SRC_PORT, IN_UDP, 0, 0, 2, 0},
    {WF_UDP_DST_PORT, IN_UDP, 0, 2, 2, 0},
    {WF_OPCODE, IN_BTH, 0, 0, 1, 0},
    {WF_SOLICITED, IN_BTH, 0, 1, 1, 0x80},
    {WF_MIGREQ, IN_BTH, 0, 1, 1, 0x40},
    {WF_PAD, IN_BTH, 0, 1, 1, 0x30},
    {WF_TVER, IN_BTH, 0, 1, 1, 0x0f},
    {WF_PKEY, IN_BTH, 0, 2, 2, 0},
    {WF_FECN, IN_BTH, 0, 4, 1, 0x80},
    {WF_BECN, IN_BTH, 0, 4, 1, 0x40},
    {WF_DEST_QPN, IN_BTH, 0, 5, 3, 0},
    {WF_ACKREQ, IN_BTH, 0, 8, 1, 0x80},
    {WF_PSN, IN_BTH, 0, 9, 3, 0},
    {WF_QKEY, IN_EXT, H_DETH, 0, 4, 0},
    {WF_SRC_QPN, IN_EXT, H_DETH, 5, 3, 0},
    {WF_PLACEMENT, IN_EXT, H_FETH, 3, 1, 0x0f},
    {WF_SELECTIVITY, IN_EXT, H_FETH, 3, 1, 0x30},
    {WF_VA, IN_EXT, H_RETH, 0, 8, 0},
    {WF_VA, IN_EXT, H_ATOMIC, 0, 8, 0},
    {WF_RKEY, IN_EXT, H_RETH, 8, 4, 0},
    {WF_RKEY, IN_EXT, H_ATOMIC, 8, 4, 0},
    {WF_LENGTH, IN_EXT, H_RETH, 12, 4, 0},
    {WF_SWAP_ADD, IN_EXT, H_ATOMIC, 12, 8, 0},
    {WF_COMPARE, IN_EXT, H_ATOMIC, 20, 8, 0},
    {WF_SYNDROME, IN_EXT, H_AETH, 0, 1, 0},
    {WF_MSN, IN_EXT, H_AETH, 1, 3, 0},
    {WF_ORIGINAL, IN_EXT, H_ATOMIC_ACK, 0, 8, 0},
    {WF_IMM, IN_EXT, H_IMM, 0, 4, 0},
    {WF_INV_RKEY, IN_EXT, H_IETH, 0, 4, 0},
    {WF_PAYLOAD, IN_PAYLOAD, 0, 0, 1, 0},
    {WF_ICRC, IN_ICRC, 0, 0, 4, 0},
};

static uint64_t mask_of(const struct field_row *r)
{
    const uint64_t all = r->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * r->bytes) - 1;

    return r->mask ? r->mask : all;
}

static bool is_ipv6(const uint8_t *frame)
{
    return ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV6;
}

/* Returns the offset of extension header @header of the packet whose BTH is at @bth; 0 if it has
 * none.
 */
static size_t ext_at(const uint8_t *frame, size_t bth, unsigned header)
{
    const unsigned headers = op_info(frame[bth])->headers;

    return headers & header ? bth + BTH_BYTES + op_headers_bytes(headers & (header - 1)) : 0;
}

/* Returns the offset in the frame of the header that contains @r; SIZE_MAX if the frame lacks it.
 * A frame with a tag is passed from the end of the tag on, see vlan.h, unless is_at_front(@r).
 */
static size_t begins_at(const struct field_row *r, const uint8_t *frame, size_t icrc)
{
    const size_t udp = ETH_BYTES + (is_ipv6(frame) ? IPV6_BYTES : IPV4_BYTES);
    const size_t bth = udp + UDP_BYTES;
    size_t at;

    switch (r->in) {
    case IN_ETH:
        return 0;
    case IN_TAG:
        return vlan_is_tagged(frame, icrc) ? ETH_ETHERTYPE_AT : SIZE_MAX;
    case IN_IPV4:
        return is_ipv6(frame) ? SIZE_MAX : ETH_BYTES;
    case IN_IPV6:
        return is_ipv6(frame) ? ETH_BYTES : SIZE_MAX;
    case IN_UDP:
        return udp;
    case IN_BTH:
        return bth;
    case IN_EXT:
        at = ext_at(frame, bth, r->header);
        return at ? at : SIZE_MAX;
    case IN_PAYLOAD:
        return bth + BTH_BYTES + op_headers_bytes(op_info(frame[bth])->headers);
    case IN_ICRC:
        break;
    }
    return icrc;
}

/* Returns the number in a MAD that is field @id, or NULL. */
static const struct mad_field *mad_row(uint32_t id)
{
    const uint32_t part = WF_MAD_PART(id);

    if (!WF_IS_MAD(id) || part >= MAD_PART_COUNT)
        return NULL;
    for (size_t i = 0; i < mad_layouts[part].n_fields; i++) {
        const struct mad_field *f = &mad_layouts[part].fields[i];

        if (mad_field_is_number(f) && WF_OF_MAD(part, f->at, f->mask) == id)
            return f;
    }
    return NULL;
}

/* Returns the offset in the payload at @mad of the structure @part; SIZE_MAX if the MAD lacks it.
 */
static size_t part_at(enum mad_part part, const uint8_t *mad, size_t bytes)
{
    const uint32_t message = mad_message(mad, bytes);
    struct mad m;

    if (message == 0)
        return SIZE_MAX;
    if (part == MAD_PART_HEADER)
        return 0;
    if (part != MAD_PART_RDMA_CM)
        return mad_body(message) == &mad_layouts[part] ? MAD_HEADER_BYTES : SIZE_MAX;
    (void)mad_parse(&m, mad);
    if (message == CM_REQ && rdma_cm_has_header(m.u.req.service_id))
        return MAD_BYTES - sizeof(m.u.req.private_data);
    if (message == CM_SIDR_REQ && rdma_cm_has_header(m.u.sidr_req.service_id))
        return MAD_BYTES - sizeof(m.u.sidr_req.private_data);
    return SIZE_MAX;
}

/* Returns true for the fields of the Ethernet header and of the tag. */
static bool is_at_front(const struct field_row *r)
{
    return r->in == IN_ETH || r->in == IN_TAG;
}

/* As field_place(), for the fields of @rows, of which it uses those with @front. */
static struct field_place row_place(uint32_t id, bool front, const uint8_t *frame, size_t icrc)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct field_row *r = &rows[i];
        const size_t end = r->in == IN_ICRC ? icrc + ICRC_BYTES : icrc;
        size_t at;

        if (r->id != id || is_at_front(r) != front)
            continue;
        at = begins_at(r, frame, icrc);
        if (at != SIZE_MAX && at + r->at + r->bytes <= end)
            return (struct field_place){at + r->at, r->bytes, mask_of(r), false};
    }
    return (struct field_place){.bytes = 0};
}

/* As field_place(), for a number in a MAD. */
static struct field_place mad_place(const struct mad_field *f, enum mad_part part,
                                    const uint8_t *frame, size_t icrc)
{
    const struct field_place payload = row_place(WF_PAYLOAD, false, frame, icrc);
    const struct field_place qpn = row_place(WF_DEST_QPN, false, frame, icrc);
    size_t at;

    if (payload.bytes == 0 || field_get(&qpn, frame) != QPN_GSI ||
        row_place(WF_SRC_QPN, false, frame, icrc).bytes == 0)
        return (struct field_place){.bytes = 0};
    at = part_at(part, frame + payload.at, icrc - payload.at);
    if (at == SIZE_MAX)
        return (struct field_place){.bytes = 0};
    return (struct field_place){payload.at + at + f->at, f->bytes,
                                f->mask ? f->mask : mad_field_max(f), false};
}

/* Returns the number in a message of o2iblnd that is field @id, or NULL. */
static const struct lnet_field *lnet_row(uint32_t id)
{
    const uint32_t part = WF_LNET_PART(id);

    if (!WF_IS_LNET(id) || part >= LNET_PART_COUNT)
        return NULL;
    for (size_t i = 0; i < lnet_layouts[part].n_fields; i++) {
        const struct lnet_field *f = &lnet_layouts[part].fields[i];

        if (f->name && WF_OF_LNET(part, f->at) == id)
            return f;
    }
    return NULL;
}

/* Returns the offset in the message @m of the part @part; SIZE_MAX if it lacks it. */
static size_t lnet_part_at(enum lnet_part part, const struct lnet_found *m)
{
    size_t at = 0;

    if (m->is_reject)
        return part == LNET_PART_REJECT && m->n >= lnet_layouts[part].bytes ? 0 : SIZE_MAX;
    return lnet_find_part(m->bytes, m->n, part, &at) ? at : SIZE_MAX;
}

/* As field_place(), for a number in a message of o2iblnd. */
static struct field_place lnet_place(const struct lnet_field *f, enum lnet_part part,
                                     const uint8_t *frame, size_t icrc)
{
    const struct field_place payload = row_place(WF_PAYLOAD, false, frame, icrc);
    const struct field_place qpn = row_place(WF_DEST_QPN, false, frame, icrc);
    const struct field_place opcode = row_place(WF_OPCODE, false, frame, icrc);
    struct lnet_found m;
    struct packet p = {0};
    size_t at;

    if (payload.bytes == 0)
        return payload;
    p.bth.dest_qpn = (uint32_t)field_get(&qpn, frame);
    p.op = op_info((uint8_t)field_get(&opcode, frame));
    p.payload = frame + payload.at;
    p.payload_bytes = (uint32_t)(icrc - payload.at);
    at = lnet_in_packet(&p, &m) ? lnet_part_at(part, &m) : SIZE_MAX;
    if (at == SIZE_MAX)
        return (struct field_place){.bytes = 0};
    return (struct field_place){(size_t)(m.bytes - frame) + at + f->at, f->bytes, lnet_field_max(f),
                                !lnet_is_big_endian(m.bytes) || lnet_layouts[part].is_little};
}

struct field_place field_place(enum wire_field_id id, const uint8_t *frame, size_t len)
{
    const size_t icrc = packet_icrc_at(frame, len), tag_bytes = vlan_bytes(frame, len);
    const uint32_t row = id == WF_CM ? WF_MESSAGE : (uint32_t)id;
    const struct mad_field *f = mad_row(row);
    const struct lnet_field *lnet = lnet_row(row);
    const uint8_t *behind = frame + tag_bytes;
    struct field_place p = {.bytes = 0};

    if (icrc == 0)
        return p;
    p = row_place(row, true, frame, icrc);
    if (p.bytes > 0)
        return p;
    p = f      ? mad_place(f, (enum mad_part)WF_MAD_PART(row), behind, icrc - tag_bytes)
        : lnet ? lnet_place(lnet, (enum lnet_part)WF_LNET_PART(row), behind, icrc - tag_bytes)
               : row_place(row, false, behind, icrc - tag_bytes);
    p.at += tag_bytes;
    return p;
}

static unsigned shift_of(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask);
}

uint64_t field_max(enum wire_field_id id)
{
    const struct mad_field *f = mad_row(id == WF_CM ? WF_MESSAGE : id);
    const struct lnet_field *lnet = lnet_row(id);

    if (f)
        return mad_field_max(f);
    if (lnet)
        return lnet_field_max(lnet);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].id == id)
            return mask_of(&rows[i]) >> shift_of(mask_of(&rows[i]));
    }
    return 0;
}

const struct enum_table *field_words(enum wire_field_id id)
{
    const struct mad_field *f = mad_row(id == WF_CM ? WF_MESSAGE : id);
    const struct lnet_field *lnet = lnet_row(id);

    return f ? mad_field_words(f) : lnet ? lnet_field_words(lnet) : NULL;
}

static uint64_t load(const struct field_place *p, const uint8_t *frame)
{
    return p->is_little ? ld_le(frame + p->at, p->bytes) : ld_be(frame + p->at, p->bytes);
}

uint64_t field_get(const struct field_place *p, const uint8_t *frame)
{
    return (load(p, frame) & p->mask) >> shift_of(p->mask);
}

void field_put(const struct field_place *p, uint8_t *frame, uint64_t v)
{
    const uint64_t all = (load(p, frame) & ~p->mask) | (v << shift_of(p->mask) & p->mask);

    if (p->is_little)
        st_le(frame + p->at, p->bytes, all);
    else
        st_be(frame + p->at, p->bytes, all);
}

void field_flip(const struct field_place *p, uint8_t *frame)
{
    field_put(p, frame, field_get(p, frame) ^ 1u);
}

void field_mend_ip(uint8_t *frame, size_t len)
{
    const size_t tag_bytes = vlan_bytes(frame, len);
    uint8_t *ip = frame + tag_bytes + ETH_BYTES;

    frame += tag_bytes;
    len -= tag_bytes;
    if (len < ETH_BYTES + IPV4_BYTES || ld_be16(frame + ETH_ETHERTYPE_AT) != ETHERTYPE_IPV4)
        return;
    st_be16(ip + IPV4_CHECKSUM_AT, 0);
    st_be16(ip + IPV4_CHECKSUM_AT, checksum_fold(checksum_add(0, ip, IPV4_BYTES)));
}

bool field_is_ip(const uint8_t *frame, size_t len)
{
    const size_t tag_bytes = vlan_bytes(frame, len);

    frame += tag_bytes;
    len -= tag_bytes;
    if (len < ETH_BYTES + IPV4_BYTES)
        return false;
    return ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV4
               ? frame[ETH_BYTES] == IPV4_VERSION_IHL
               : is_ipv6(frame) && len >= ETH_BYTES + IPV6_BYTES;
}

void field_mark(uint8_t *frame, size_t len)
{
    const size_t tag_bytes = vlan_bytes(frame, len), ip = ETH_BYTES + tag_bytes;

    if (is_ipv6(frame + tag_bytes))
        frame[ip + 1] |= ECN_CE << 4;
    else
        frame[ip + 1] |= ECN_CE;
    field_mend_ip(frame, len);
}
