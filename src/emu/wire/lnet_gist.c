/* SPDX-License-Identifier: MIT */
#include "emu/wire/lnet_gist.h"

#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum/lnet_op.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/roce.h"
#include "emu/wire/lnet.h"
#include "emu/wire/lnet_rows.h"
#include "emu/wire/mad.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"

/* --- Finding ---------------------------------------------------------------------------------- */

bool lnet_in_mad(const uint8_t *mad, size_t n, struct lnet_found *ret)
{
    const uint32_t message = mad_message(mad, n);
    size_t bytes;
    struct mad m;

    switch (message) {
    case CM_REQ:
        (void)mad_parse(&m, mad);
        bytes = rdma_cm_has_header(m.u.req.service_id) ? CM_REQ_DATA_BYTES : CM_DATA_BYTES(req);
        break;
    case CM_REP:
        bytes = CM_DATA_BYTES(rep);
        break;
    case CM_REJ:
        bytes = CM_DATA_BYTES(rej);
        break;
    default:
        return false;
    }
    *ret = (struct lnet_found){mad + n - bytes, bytes, message == CM_REJ};
    return ret->is_reject ? lnet_is_reject(ret->bytes, bytes) : lnet_is_message(ret->bytes, bytes);
}

bool lnet_in_packet(const struct packet *p, struct lnet_found *ret)
{
    if (p->whole)
        return false;
    if (p->op->service == OPS_UD && p->bth.dest_qpn == QPN_GSI)
        return lnet_in_mad(p->payload, p->payload_bytes, ret);
    *ret = (struct lnet_found){p->payload, p->payload_bytes, false};
    return p->op->service == OPS_RC && p->op->kind == OPK_SEND && op_starts(p->op) &&
           lnet_is_message(p->payload, p->payload_bytes);
}

bool lnet_in_frame(const uint8_t *frame, size_t len, struct lnet_found *ret)
{
    struct packet p;

    return packet_parse(&p, frame, len) == DROP_NONE && lnet_in_packet(&p, ret);
}

/* --- The gist --------------------------------------------------------------------------------- */

static bool has(const struct lnet_gist *g, enum lnet_part part)
{
    return g->parts >> part & 1u;
}

/* Returns the bytes that an LNet header is about: those of a GET are in the sink, and an ACK tells
 * how many were taken.
 */
static uint32_t bytes_of(const struct lnet_hdr *h)
{
    return h->type == LNET_OP_GET   ? h->u.get.sink_bytes
           : h->type == LNET_OP_ACK ? h->u.ack.mlength
                                    : h->payload_bytes;
}

static void take_body(struct lnet_gist *g, const struct lnet_msg *m)
{
    const struct lnet_rd *rd = m->type == LNET_MSG_GET_REQ ? &m->u.get_req.rd : &m->u.put_ack.rd;

    if (has(g, LNET_PART_HDR)) {
        g->op = m->u.hdr.type;
        g->op_bytes = bytes_of(&m->u.hdr);
    }
    if (has(g, LNET_PART_REQ))
        g->cookie = m->u.put_req.cookie;
    if (has(g, LNET_PART_PUT_ACK)) {
        g->cookie = m->u.put_ack.src_cookie;
        g->dst_cookie = m->u.put_ack.dst_cookie;
    }
    if (has(g, LNET_PART_DONE)) {
        g->cookie = m->u.done.cookie;
        g->status = m->u.done.status;
    }
    if (has(g, LNET_PART_RD))
        g->n_frags = rd->n;
    if (has(g, LNET_PART_CONN)) {
        g->queue_depth = m->u.conn.queue_depth;
        g->max_frags = m->u.conn.max_frags;
    }
}

struct lnet_gist lnet_gist_of(const struct lnet_found *f)
{
    struct lnet_gist g = {.is_reject = f->is_reject};
    struct lnet_reject reject;
    struct lnet_msg m;

    if (f->is_reject) {
        if (lnet_reject_parse(f->bytes, f->n, &reject))
            g.why = reject.why;
        return g;
    }
    g.type = f->bytes[LNET_TYPE_AT];
    g.parts = lnet_peek(f->bytes, f->n, &m);
    if (has(&g, LNET_PART_HEAD)) {
        g.credits = m.credits;
        g.nob = m.nob;
        take_body(&g, &m);
    }
    return g;
}

static void add_number(struct text *t, const char *name, uint64_t v)
{
    text_addf(t, " %s=%llu", name, (unsigned long long)v);
}

static void add_hex(struct text *t, const char *name, uint64_t v)
{
    text_addf(t, " %s=0x%llx", name, (unsigned long long)v);
}

void lnet_gist_add(struct text *t, const struct lnet_gist *g)
{
    if (g->is_reject) {
        text_addf(t, "reject %s", enum_name(&enum_lnet_why, g->why));
        return;
    }
    text_add(t, enum_name(&enum_lnet_msg, g->type));
    if (g->credits || g->type == LNET_MSG_NOOP)
        add_number(t, "credits", g->credits);
    if (has(g, LNET_PART_REQ) || has(g, LNET_PART_PUT_ACK) || has(g, LNET_PART_DONE))
        add_hex(t, "cookie", g->cookie);
    if (has(g, LNET_PART_PUT_ACK))
        add_hex(t, "dst_cookie", g->dst_cookie);
    if (has(g, LNET_PART_DONE))
        text_addf(t, " status=%d", g->status);
    if (has(g, LNET_PART_HDR) || has(g, LNET_PART_RD) || has(g, LNET_PART_CONN))
        text_add(t, ";");
    if (has(g, LNET_PART_HDR)) {
        text_addf(t, " %s", enum_name(&enum_lnet_op, g->op));
        add_number(t, "bytes", g->op_bytes);
    }
    if (has(g, LNET_PART_RD))
        add_number(t, "frags", g->n_frags);
    if (has(g, LNET_PART_CONN)) {
        add_number(t, "depth", g->queue_depth);
        add_number(t, "frags", g->max_frags);
    }
}
