/* SPDX-License-Identifier: MIT */
#include "cli/show/show_fields.h"

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/quantity.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/opcode.h"
#include "emu/wire/packet.h"
#include "emu/wire/vlan.h"

static const struct wire_field f_eth[] = {
    {"destination", 0, 6, 0, HOW_MAC},
    {"source", 6, 6, 0, HOW_MAC},
    {"type", 12, 2, 0, HOW_ETHERTYPE},
};

static const struct wire_field f_vlan[] = {
    {"priority", 0, 1, 0xe0, HOW_DEC},
    {"drop eligible", 0, 1, 0x10, HOW_FLAG},
    {"VLAN", 0, 2, 0x0fff, HOW_DEC},
    {"type", 2, 2, 0, HOW_ETHERTYPE},
};

static const struct wire_field f_ipv4[] = {
    {"version", 0, 1, 0xf0, HOW_DEC},
    {"header length", 0, 1, 0x0f, HOW_WORDS},
    {"DSCP", 1, 1, 0xfc, HOW_DEC},
    {"ECN", 1, 1, 0x03, HOW_DEC},
    {"total length", 2, 2, 0, HOW_DEC},
    {"identification", 4, 2, 0, HOW_HEX},
    {"don't fragment", 6, 2, 0x4000, HOW_FLAG},
    {"more fragments", 6, 2, 0x2000, HOW_FLAG},
    {"fragment offset", 6, 2, 0x1fff, HOW_DEC},
    {"time to live", 8, 1, 0, HOW_DEC},
    {"protocol", 9, 1, 0, HOW_PROTOCOL},
    {"header checksum", 10, 2, 0, HOW_HEX},
    {"source", 12, 4, 0, HOW_IPV4},
    {"destination", 16, 4, 0, HOW_IPV4},
};

static const struct wire_field f_ipv6[] = {
    {"version", 0, 1, 0xf0, HOW_DEC},        {"traffic class", 0, 2, 0x0ff0, HOW_DEC},
    {"flow label", 1, 3, 0x0fffff, HOW_HEX}, {"payload length", 4, 2, 0, HOW_DEC},
    {"next header", 6, 1, 0, HOW_PROTOCOL},  {"hop limit", 7, 1, 0, HOW_DEC},
    {"source", 8, 16, 0, HOW_IPV6},          {"destination", 24, 16, 0, HOW_IPV6},
};

static const struct wire_field f_udp[] = {
    {"source port", 0, 2, 0, HOW_DEC},
    {"destination port", 2, 2, 0, HOW_DEC},
    {"length", 4, 2, 0, HOW_DEC},
    {"checksum", 6, 2, 0, HOW_HEX},
};

static const struct wire_field f_bth[] = {
    {"opcode", 0, 1, 0, HOW_OPCODE},
    {"solicited event", 1, 1, 0x80, HOW_FLAG},
    {"migration request", 1, 1, 0x40, HOW_FLAG},
    {"pad count", 1, 1, 0x30, HOW_DEC},
    {"transport version", 1, 1, 0x0f, HOW_DEC},
    {"P_Key", 2, 2, 0, HOW_HEX},
    {"FECN", 4, 1, 0x80, HOW_FLAG},
    {"BECN", 4, 1, 0x40, HOW_FLAG},
    {"reserved", 4, 1, 0x3f, HOW_DEC},
    {"destination QPN", 5, 3, 0, HOW_DEC},
    {"ack request", 8, 1, 0x80, HOW_FLAG},
    {"reserved", 8, 1, 0x7f, HOW_DEC},
    {"PSN", 9, 3, 0, HOW_DEC},
};

static const struct wire_field f_deth[] = {
    {"Q_Key", 0, 4, 0, HOW_HEX},
    {"reserved", 4, 1, 0, HOW_DEC},
    {"source QPN", 5, 3, 0, HOW_DEC},
};

static const struct wire_field f_feth[] = {
    {"reserved", 0, 3, 0, HOW_DEC},
    {"reserved", 3, 1, 0xc0, HOW_DEC},
    {"selectivity level", 3, 1, 0x30, HOW_SELECTIVITY},
    {"placement type", 3, 1, 0x0f, HOW_PLACEMENT},
};

static const struct wire_field f_reth[] = {
    {"virtual address", 0, 8, 0, HOW_HEX},
    {"R_Key", 8, 4, 0, HOW_HEX},
    {"DMA length", 12, 4, 0, HOW_DEC},
};

static const struct wire_field f_atomic[] = {
    {"virtual address", 0, 8, 0, HOW_HEX},
    {"R_Key", 8, 4, 0, HOW_HEX},
    {"swap or add", 12, 8, 0, HOW_HEX},
    {"compare", 20, 8, 0, HOW_HEX},
};

static const struct wire_field f_aeth[] = {
    {"syndrome", 0, 1, 0, HOW_SYNDROME},
    {"MSN", 1, 3, 0, HOW_DEC},
};

static const struct wire_field f_atomic_ack[] = {{"original value", 0, 8, 0, HOW_HEX}};
static const struct wire_field f_imm[] = {{"immediate data", 0, 4, 0, HOW_RAW}};
static const struct wire_field f_ieth[] = {{"R_Key to invalidate", 0, 4, 0, HOW_HEX}};
static const struct wire_field f_cnp[] = {{"reserved", 0, 16, 0, HOW_RAW}};

#define HEADER(name, bytes, fields)                                                                \
    {                                                                                              \
        (name), (bytes), (fields), ARRAY_LEN(fields)                                               \
    }

const struct wire_header header_eth = HEADER("Ethernet", ETH_BYTES, f_eth);
const struct wire_header header_vlan = HEADER("802.1Q", VLAN_TAG_BYTES, f_vlan);
const struct wire_header header_ipv4 = HEADER("IPv4", IPV4_BYTES, f_ipv4);
const struct wire_header header_ipv6 = HEADER("IPv6", IPV6_BYTES, f_ipv6);
const struct wire_header header_udp = HEADER("UDP", UDP_BYTES, f_udp);
const struct wire_header header_bth = HEADER("BTH", BTH_BYTES, f_bth);

/* Fields of the extension headers, in wire order. */
static const struct {
    enum op_header header;
    const struct wire_field *fields;
    size_t n_fields;
} extensions[] = {
    {H_DETH, f_deth, ARRAY_LEN(f_deth)}, {H_FETH, f_feth, ARRAY_LEN(f_feth)},
    {H_RETH, f_reth, ARRAY_LEN(f_reth)}, {H_ATOMIC, f_atomic, ARRAY_LEN(f_atomic)},
    {H_AETH, f_aeth, ARRAY_LEN(f_aeth)}, {H_ATOMIC_ACK, f_atomic_ack, ARRAY_LEN(f_atomic_ack)},
    {H_IMM, f_imm, ARRAY_LEN(f_imm)},    {H_IETH, f_ieth, ARRAY_LEN(f_ieth)},
    {H_CNP, f_cnp, ARRAY_LEN(f_cnp)},
};

struct wire_header wire_extension(const struct op_header_info *h)
{
    const size_t i = (size_t)(h - op_headers);

    RDL_ASSERT(ARRAY_LEN(extensions) == n_op_headers && extensions[i].header == h->header);
    return (struct wire_header){h->name, h->bytes, extensions[i].fields, extensions[i].n_fields};
}

static void add_syndrome(struct text *t, uint8_t syndrome)
{
    const struct aeth_word w = aeth_unpack(syndrome);

    text_addf(t, "0x%02x %s", syndrome, enum_name(&enum_syndrome, w.kind));
    if (w.kind == SYN_ACK)
        text_addf(t, w.value == AETH_NO_CREDITS ? ", no credits given" : ", credit code %u",
                  w.value);
    if (w.kind == SYN_RNR_NAK) {
        text_addf(t, ", timer code %u: ", w.value);
        quantity_add_time_short(t, rnr_timer_ns(w.value));
    }
}

/* Appends a value that is not an integer, such as an address. */
static void add_bytes(struct text *t, const struct wire_field *f, const uint8_t *at)
{
    uint8_t gid[GID_BYTES];

    switch (f->how) {
    case HOW_MAC:
        mac_add(t, at);
        break;
    case HOW_IPV4:
        gid_from_ipv4(gid, at);
        addr_add(t, gid);
        break;
    case HOW_IPV6:
        addr_add(t, at);
        break;
    default:
        for (size_t i = 0; i < f->bytes; i++)
            text_addf(t, "%02x", at[i]);
        break;
    }
}

static void add_number(struct text *t, const struct wire_field *f, uint64_t v)
{
    switch (f->how) {
    case HOW_HEX:
        text_addf(t, "0x%0*llx", 2 * f->bytes, (unsigned long long)v);
        break;
    case HOW_FLAG:
        text_add(t, v ? "1" : "0");
        break;
    case HOW_WORDS:
        text_addf(t, "%llu words", (unsigned long long)v);
        break;
    case HOW_ETHERTYPE:
        text_addf(t, "0x%04llx%s", (unsigned long long)v,
                  v == ETHERTYPE_IPV4   ? " IPv4"
                  : v == ETHERTYPE_IPV6 ? " IPv6"
                  : v == ETHERTYPE_VLAN ? " tag of a VLAN"
                                        : "");
        break;
    case HOW_PROTOCOL:
        text_addf(t, "%llu%s", (unsigned long long)v, v == IP_PROTOCOL_UDP ? " UDP" : "");
        break;
    case HOW_OPCODE:
        text_addf(t, "0x%02llx %s", (unsigned long long)v, enum_name(&enum_opcode, (uint32_t)v));
        break;
    case HOW_SYNDROME:
        add_syndrome(t, (uint8_t)v);
        break;
    case HOW_PLACEMENT:
        text_addf(t, "0x%llx%s%s", (unsigned long long)v,
                  v & FETH_GLOBAL ? ", global visibility" : "",
                  v & FETH_PERSISTENT ? ", persistence" : "");
        break;
    case HOW_SELECTIVITY:
        text_addf(t, "%llu%s", (unsigned long long)v,
                  v == FETH_RANGE    ? ", a range"
                  : v == FETH_REGION ? ", the whole region"
                                     : "");
        break;
    default:
        text_addf(t, "%llu", (unsigned long long)v);
        break;
    }
}

void wire_field_add(struct text *t, const struct wire_field *f, const uint8_t *bytes)
{
    const uint8_t *at = bytes + f->offset;
    struct rd_cur in = rd_cur(at, f->bytes);
    uint64_t v;

    if (f->how == HOW_MAC || f->how == HOW_IPV4 || f->how == HOW_IPV6 || f->how == HOW_RAW) {
        add_bytes(t, f, at);
        return;
    }
    v = rd_be(&in, f->bytes);
    if (f->mask) {
        v &= f->mask;
        for (uint32_t m = f->mask; !(m & 1u); m >>= 1)
            v >>= 1;
    }
    add_number(t, f, v);
}
