/* SPDX-License-Identifier: MIT */
#include "cli/show/packet_rows.h"

#include "cli/show/mad_text.h"
#include "cli/show/show_fields.h"
#include "emu/base/text.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/roce.h"
#include "emu/wire/icrc.h"
#include "emu/wire/lnet.h"
#include "emu/wire/lnet_gist.h"
#include "emu/wire/lnet_rows.h"
#include "emu/wire/mad.h"
#include "emu/wire/packet.h"
#include "emu/wire/vlan.h"

/* Position while walking over a frame from front to back. */
struct packet_walk {
    const uint8_t *frame;
    size_t len, pos;
    void (*each)(void *ctx, const struct packet_row *row);
    void *ctx;
};

static void emit(struct packet_walk *w, const char *header, const char *name, size_t bytes,
                 const char *value)
{
    struct packet_row row = {.header = header, .name = name, .offset = w->pos, .bytes = bytes};
    struct text t = text_on(row.value, sizeof(row.value));

    text_add(&t, value);
    w->each(w->ctx, &row);
    w->pos += bytes;
}

/* Emits the remaining bytes as one row, with the reason why they are not decoded. */
static void emit_rest(struct packet_walk *w, const char *header, const char *why)
{
    if (w->pos < w->len)
        emit(w, header, "bytes", w->len - w->pos, why);
}

static bool walk_header(struct packet_walk *w, const struct wire_header *h)
{
    if (w->len - w->pos < h->bytes) {
        emit_rest(w, h->name, "the frame ends before this header does");
        return false;
    }
    for (size_t i = 0; i < h->n_fields; i++) {
        const struct wire_field *f = &h->fields[i];
        struct packet_row row = {
            .header = h->name,
            .name = f->name,
            .offset = w->pos + f->offset,
            .bytes = f->bytes,
            .mask = f->mask,
        };
        struct text t = text_on(row.value, sizeof(row.value));

        wire_field_add(&t, f, w->frame + w->pos);
        w->each(w->ctx, &row);
    }
    w->pos += h->bytes;
    return true;
}

/* Emits the fields of the Ethernet header and of a tag. */
static bool walk_ethernet(struct packet_walk *w)
{
    return walk_header(w, &header_eth) &&
           (ld_be16(w->frame + ETH_ETHERTYPE_AT) != ETHERTYPE_VLAN || walk_header(w, &header_vlan));
}

/* Emits the Ethernet, IP and UDP fields.  Returns false if no BTH follows. */
static bool walk_network(struct packet_walk *w, size_t *ret_ip, size_t *ret_end)
{
    size_t ethertype, ip_bytes;
    const uint8_t *ip;

    if (!walk_ethernet(w))
        return false;
    ethertype = ld_be16(w->frame + w->pos - 2);
    *ret_ip = w->pos;
    ip = w->frame + w->pos;
    if (ethertype == ETHERTYPE_IPV4) {
        if (!walk_header(w, &header_ipv4))
            return false;
        ip_bytes = (size_t)ip[2] << 8 | ip[3];
    } else if (ethertype == ETHERTYPE_IPV6) {
        if (!walk_header(w, &header_ipv6))
            return false;
        ip_bytes = IPV6_BYTES + ((size_t)ip[4] << 8 | ip[5]);
    } else {
        emit_rest(w, "other", "neither IPv4 nor IPv6");
        return false;
    }
    *ret_end = *ret_ip + ip_bytes < w->len ? *ret_ip + ip_bytes : w->len;
    return walk_header(w, &header_udp);
}

/* Emits the extension headers of the opcode, in wire order. */
static bool walk_extensions(struct packet_walk *w, unsigned headers)
{
    for (size_t i = 0; i < n_op_headers; i++) {
        const struct wire_header h = wire_extension(&op_headers[i]);

        if ((headers & op_headers[i].header) && !walk_header(w, &h))
            return false;
    }
    return true;
}

/* Emits the fields of a structure, up to @n of them. */
static void walk_layout(struct packet_walk *w, const struct mad_layout *l, size_t n)
{
    const size_t begin = w->pos;

    for (size_t i = 0; i < n; i++) {
        const struct mad_field *f = &l->fields[i];
        struct packet_row row = {.header = l->title,
                                 .name = f->title,
                                 .offset = begin + f->at,
                                 .bytes = f->bytes,
                                 .mask = f->mask};
        struct text t = text_on(row.value, sizeof(row.value));

        mad_text_add(&t, f, w->frame + begin);
        w->each(w->ctx, &row);
    }
    w->pos = n < l->n_fields ? begin + l->fields[n].at : begin + l->bytes;
}

/* Appends a verdict on the checksum @sum of the message, if its bytes are all here. */
static void add_cksum_verdict(struct text *t, const struct lnet_found *f, uint64_t sum)
{
    const struct lnet_gist g = lnet_gist_of(f);

    if (sum == 0)
        text_add(t, ", none");
    else if (g.nob >= LNET_HEAD_BYTES && g.nob <= f->n)
        lnet_cksum(f->bytes, g.nob) == sum
            ? text_add(t, ", correct")
            : text_addf(t, ", WRONG: these bytes have 0x%08x", lnet_cksum(f->bytes, g.nob));
}

/* Emits the fields of part @part of a message of o2iblnd, at the position; @item is that of the
 * rows.
 */
static void walk_lnet_part(struct packet_walk *w, const struct lnet_found *f, enum lnet_part part,
                           uint32_t item)
{
    const struct lnet_layout *l = &lnet_layouts[part];
    const bool big_endian = lnet_is_big_endian(f->bytes);

    for (size_t i = 0; i < l->n_fields; i++) {
        const struct lnet_field *field = &l->fields[i];
        struct packet_row row = {.header = l->title,
                                 .name = field->title,
                                 .item = item,
                                 .offset = w->pos + field->at,
                                 .bytes = field->bytes};
        struct text t = text_on(row.value, sizeof(row.value));
        const uint64_t v =
            field->name ? lnet_field_get(l, field, w->frame + w->pos, big_endian) : 0;

        if (field->name)
            lnet_field_add(&t, field, v);
        else
            text_addf(&t, "%s, %u bytes", field->title, field->bytes);
        if (part == LNET_PART_HEAD && field->at == LNET_CKSUM_AT)
            add_cksum_verdict(&t, f, v);
        w->each(w->ctx, &row);
    }
    w->pos += l->bytes;
}

/* Emits the parts of the message @f, which begins at the position, as far as they are there. */
static void walk_lnet(struct packet_walk *w, const struct lnet_found *f)
{
    const size_t begin = w->pos;

    if (f->is_reject) {
        if (f->n >= lnet_layouts[LNET_PART_REJECT].bytes)
            walk_lnet_part(w, f, LNET_PART_REJECT, 0);
        return;
    }
    for (struct lnet_walk m = lnet_walk(f->bytes, f->n); lnet_next(&m);) {
        if (w->pos < begin + m.at)
            emit(w, lnet_layouts[LNET_PART_HDR].title, "unknown operation", begin + m.at - w->pos,
                 "unknown operation");
        walk_lnet_part(w, f, m.part, m.part == LNET_PART_FRAG ? m.index + 1 : 0);
    }
}

/* Returns true if the private data of @m begins with the addresses of rdma_cm. */
static bool has_addresses(const struct mad *m)
{
    return (m->head.attr_id == CM_REQ && rdma_cm_has_header(m->u.req.service_id)) ||
           (m->head.attr_id == CM_SIDR_REQ && rdma_cm_has_header(m->u.sidr_req.service_id));
}

/* Emits the @n bytes of private data that are not taken apart, with their number. */
static void emit_private(struct packet_walk *w, const struct mad_layout *body, size_t n)
{
    const struct mad_field *f = &body->fields[body->n_fields - 1];
    char value[48];
    struct text t = text_on(value, sizeof(value));

    text_addf(&t, "%s, %zu bytes", f->title, n);
    emit(w, body->title, f->title, n, value);
}

/* Emits the payload if it is a message of the connection manager, of which private data is the last
 * field.  Returns false if it is none.
 */
static bool walk_mad(struct packet_walk *w, size_t bytes)
{
    const size_t end = w->pos + bytes;
    const struct mad_layout *body;
    struct lnet_found lnet;
    struct mad m;

    if (bytes != MAD_BYTES || !mad_parse(&m, w->frame + w->pos))
        return false;
    body = mad_body(m.head.attr_id);
    if (!lnet_in_mad(w->frame + w->pos, bytes, &lnet))
        lnet.n = 0;
    walk_layout(w, &mad_layouts[MAD_PART_HEADER], mad_layouts[MAD_PART_HEADER].n_fields);
    walk_layout(w, body, body->n_fields - 1);
    if (has_addresses(&m))
        walk_layout(w, &mad_layouts[MAD_PART_RDMA_CM], mad_layouts[MAD_PART_RDMA_CM].n_fields);
    if (lnet.n > 0)
        walk_lnet(w, &lnet);
    if (w->pos < end)
        emit_private(w, body, end - w->pos);
    return true;
}

/* Emits the beginning of the payload if it is a message of o2iblnd.  Returns the bytes that are
 * left: its payload.
 */
static size_t walk_send(struct packet_walk *w, size_t bytes, uint8_t opcode)
{
    const size_t begin = w->pos;
    const struct packet p = {.op = op_info(opcode),
                             .bth = {.opcode = opcode},
                             .payload = w->frame + begin,
                             .payload_bytes = (uint32_t)bytes};
    struct lnet_found lnet;

    if (lnet_in_packet(&p, &lnet) && !lnet.is_reject)
        walk_lnet(w, &lnet);
    return bytes - (w->pos - begin);
}

static void walk_icrc(struct packet_walk *w, size_t ip)
{
    const uint32_t stored = ld_le32(w->frame + w->pos);
    const unsigned version = ld_be16(w->frame + ip - 2) == ETHERTYPE_IPV4 ? 4 : 6;
    char value[96];
    struct text t = text_on(value, sizeof(value));
    uint32_t right;

    text_addf(&t, "0x%08x", stored);
    if (w->frame[ip] >> 4 != version) {
        text_add(&t, ", unchecked: wrong IP version");
    } else {
        right = icrc_compute(w->frame + ip, w->pos - ip);
        if (stored == right)
            text_add(&t, ", correct");
        else if (packet_has_icrc_of_rxe(w->frame, w->pos))
            text_addf(&t,
                      ", that of rxe: it covers the bytes from the BTH on twice; 0x%08x is correct",
                      right);
        else
            text_addf(&t, ", WRONG: these bytes have 0x%08x", right);
    }
    emit(w, "ICRC", "invariant CRC", ICRC_BYTES, value);
}

static uint32_t dest_qpn_of(const uint8_t *bth)
{
    return (uint32_t)ld_be(bth + 5, 3);
}

/* Emits the payload, pad, ICRC and Ethernet padding.  The IP packet ends at @end. */
static void walk_body(struct packet_walk *w, size_t ip, size_t end, const uint8_t *bth)
{
    size_t pad = bth_peek_pad(bth), body;

    if (end < w->pos + ICRC_BYTES) {
        emit_rest(w, "ICRC", "the frame ends before its ICRC does");
        return;
    }
    body = end - ICRC_BYTES - w->pos;
    if (pad > body)
        pad = 0; /* the pad count is wrong; packet_parse() reports it */
    if (dest_qpn_of(bth) == QPN_GSI && walk_mad(w, body - pad))
        body = pad;
    else
        body = pad + walk_send(w, body - pad, bth[0]);
    if (body > pad) {
        char value[32];
        struct text t = text_on(value, sizeof(value));

        text_addf(&t, "%zu bytes", body - pad);
        emit(w, "payload", "data", body - pad, value);
    }
    if (pad)
        emit(w, "payload", "pad", pad, "to a multiple of 4");
    walk_icrc(w, ip);
    emit_rest(w, "Ethernet", "padding");
}

void packet_row_add_name(struct text *t, const struct packet_row *row)
{
    text_add(t, row->name);
    if (row->item)
        text_addf(t, " [%u]", row->item - 1);
}

void packet_rows(const uint8_t *frame, size_t len,
                 void (*each)(void *ctx, const struct packet_row *row), void *ctx)
{
    struct packet_walk w = {frame, len, 0, each, ctx};
    size_t ip, end, bth;

    if (!walk_network(&w, &ip, &end))
        return;
    bth = w.pos;
    if (!walk_header(&w, &header_bth) || !walk_extensions(&w, op_info(frame[bth])->headers))
        return;
    walk_body(&w, ip, end, frame + bth);
}
