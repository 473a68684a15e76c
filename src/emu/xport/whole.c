/* SPDX-License-Identifier: MIT */
#include "emu/xport/whole.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/opcode.h"
#include "emu/facts/roce.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"
#include "emu/wire/eth.h"
#include "emu/wire/icrc.h"
#include "emu/wire/udp.h"
#include "emu/xport/xport_qp.h"

/* The length of the frames that the packet in xqp->out would take, cut into @n_pkts.  Of several
 * READ responses the first and the last have an AETH.
 */
static uint32_t wire_bytes_of(const struct xport_qp *xqp, uint32_t n_pkts)
{
    const struct packet *p = &xqp->out;
    const uint32_t headers =
        ETH_BYTES + xqp->path.ip_bytes + UDP_BYTES + (uint32_t)BTH_BYTES + ICRC_BYTES;

    const struct op_info *op = op_info(p->bth.opcode);
    const uint32_t more =
        op->kind == OPK_READ_RESPONSE && n_pkts > 1 ? (uint32_t)op_headers_bytes(H_AETH) : 0;

    return n_pkts * headers + (uint32_t)op_headers_bytes(op->headers) + more + p->payload_bytes +
           packet_pad_bytes(p->payload_bytes);
}

/* The most that a message has of each. */
struct whole_room {
    size_t pieces, pages, spans, bytes; /* bytes: inline data */
};

/* Allocates the message of xqp->out.  Returns NULL if the arena is full. */
static struct whole *make(struct xport_qp *xqp, uint32_t n_pkts, const struct whole_room *room)
{
    struct hca *h = xqp->qp.hca;
    const size_t bytes = sizeof(struct whole) + room->pieces * sizeof(struct key_piece) +
                         room->pages * sizeof(uint64_t) + room->spans * sizeof(struct whole_span) +
                         room->bytes;
    struct whole *w = arena_alloc_raw(h->arena, bytes);

    if (!w)
        return NULL;
    *w = (struct whole){.cargo = {bytes},
                        .p = xqp->out,
                        .mtu = xqp->mtu,
                        .n_pkts = n_pkts,
                        .wire_bytes = wire_bytes_of(xqp, n_pkts),
                        .ram = h->ram,
                        .forgotten = h->ram->forgotten};
    w->gpa = (uint64_t *)(w->pieces + room->pieces);
    w->spans = (struct whole_span *)(w->gpa + room->pages);
    w->p.op = op_info(w->p.bth.opcode);
    w->p.bth.pad_bytes = (uint8_t)packet_pad_bytes(w->p.payload_bytes);
    w->p.whole = w;
    xqp->x->whole = w;
    return w;
}

/* The room that @bytes of the list @sge take at most. */
static struct whole_room room_of(const struct sge *sge, struct sge_cur at, uint32_t bytes)
{
    struct whole_room room = {0};

    while (bytes > 0) {
        const struct sge piece = sge_take(sge, &at, bytes);

        room.pieces++;
        room.pages += piece.bytes / RAM_PAGE_BYTES + 2;
        bytes -= piece.bytes;
    }
    room.spans = room.pages;
    return room;
}

/* Adds @bytes > 0 at @addr of the region @mr. */
static void add_piece(struct whole *w, const struct mkey *mr, uint64_t addr, uint64_t bytes)
{
    w->n_pages += key_piece(mr, addr, bytes, w->gpa + w->n_pages, &w->pieces[w->n_pieces]);
    w->n_pieces++;
}

/* Adds the same bytes as spans.  Returns false if a page is not there. */
static bool add_spans(struct whole *w, const struct hca *h, struct mkey *mr, uint64_t addr,
                      uint64_t bytes)
{
    size_t run;

    if (mr->pages.lent)
        return false;
    for (uint64_t i = 0; i < bytes; i += run) {
        const struct key_place from = key_stretch(h, mr, addr + i, bytes - i);

        if (!from.bytes)
            return false;
        run = from.run;
        w->spans[w->n_spans++] = (struct whole_span){from.bytes, run};
    }
    return true;
}

enum rule whole_from_list(struct xport_qp *xqp, uint32_t n_pkts, const struct sg_list *l,
                          struct sge_cur *at, struct sge *reterr_bad)
{
    const struct hca *h = xqp->qp.hca;
    uint32_t left = xqp->out.payload_bytes;
    const enum rule rule = sge_check(h, l, *at, left, reterr_bad);
    struct whole_room room;
    bool has_spans = true;
    struct whole *w;

    if (rule != RULE_NONE)
        return rule;
    room = room_of(l->sge, *at, left);
    w = make(xqp, n_pkts, &room);
    while (w && left > 0) {
        const struct sge piece = sge_take(l->sge, at, left);
        uint64_t addr = piece.addr;
        struct mkey *mr;

        left -= piece.bytes;
        if (piece.bytes == 0)
            continue;
        mr = key_region(h, piece.lkey, &addr);
        add_piece(w, mr, addr, piece.bytes);
        has_spans = has_spans && add_spans(w, h, mr, addr, piece.bytes);
    }
    if (w && !has_spans)
        w->n_spans = 0;
    return RULE_NONE;
}

void whole_from_bytes(struct xport_qp *xqp, uint32_t n_pkts, const uint8_t *bytes)
{
    const uint32_t n = xqp->out.payload_bytes;
    struct whole *w = make(xqp, n_pkts, &(struct whole_room){.spans = 1, .bytes = n});

    if (w) {
        memcpy(w->spans + 1, bytes, n);
        w->is_own = true;
        w->n_spans = 1;
        w->spans[0] = (struct whole_span){(const uint8_t *)(w->spans + 1), n};
    }
}

void whole_of_headers(struct xport_qp *xqp)
{
    (void)make(xqp, 1, &(struct whole_room){0});
}

/* A position in the payload of a message. */
struct whole_at {
    const struct whole *w;
    bool in_spans;  /* @i counts spans, and not pieces */
    uint32_t i;     /* the span or piece */
    uint32_t pages; /* number of pages of the pieces before */
    uint64_t at;    /* offset in the span or piece */
};

static struct whole_at whole_begin(const struct whole *w)
{
    const bool valid = w->is_own || w->forgotten == w->ram->forgotten;

    return (struct whole_at){.w = w, .in_spans = valid && w->n_spans > 0};
}

/* The number of bytes from @from to the end of its span or piece. */
static uint64_t left_at(const struct whole_at *from)
{
    const struct whole *w = from->w;

    return (from->in_spans ? w->spans[from->i].bytes : w->pieces[from->i].bytes) - from->at;
}

/* Returns the bytes at @from: *@ret_run of them, at most @most, follow each other.  They are valid
 * until the next call if they are not in a span.
 */
static const uint8_t *look(const struct whole_at *from, size_t most, size_t *ret_run)
{
    const uint64_t left = left_at(from);
    const struct whole *w = from->w;
    const struct key_piece *p;
    uint64_t offset, gpa;

    *ret_run = left < most ? (size_t)left : most;
    if (from->in_spans)
        return w->spans[from->i].at + from->at;
    p = &w->pieces[from->i];
    offset = p->offset + from->at;
    gpa = w->gpa[from->pages + (offset >> p->bits)] + (offset & (((uint64_t)1 << p->bits) - 1));
    *ret_run = ram_run(gpa, *ret_run);
    return ram_look(w->ram, gpa, *ret_run);
}

static void advance(struct whole_at *from, size_t bytes)
{
    from->at += bytes;
    if (left_at(from) > 0)
        return;
    if (!from->in_spans) {
        const struct key_piece *p = &from->w->pieces[from->i];

        from->pages += (uint32_t)((p->offset + p->bytes - 1) >> p->bits) + 1;
    }
    from->at = 0;
    from->i++;
}

/* Copies @bytes at @from to @addr of the region @mr of @h. */
static void copy_run(struct hca *h, struct mkey *mr, uint64_t addr, const uint8_t *from,
                     size_t bytes)
{
    size_t run;

    for (size_t i = 0; i < bytes; i += run) {
        const struct key_place to = key_stretch(h, mr, addr + i, bytes - i);

        run = to.run;
        /* The places may overlap if a guest has both ends of the connection. */
        if (to.bytes)
            memmove(to.bytes, from + i, run);
        else
            key_copy_in(h, mr->key, addr + i, from + i, run);
    }
}

/* Copies from @from, which is advanced, to @piece. */
static void copy_piece(struct hca *h, const struct sge *piece, struct whole_at *from)
{
    uint64_t addr = piece->addr;
    struct mkey *mr = key_region(h, piece->lkey, &addr);
    size_t run;

    for (size_t done = 0; done < piece->bytes; done += run) {
        const uint8_t *bytes = look(from, piece->bytes - done, &run);

        if (mr->pages.lent)
            key_copy_in(h, mr->key, addr + done, bytes, run);
        else
            copy_run(h, mr, addr + done, bytes, run);
        advance(from, run);
    }
}

void whole_copy_in(const struct qp *qp, uint64_t wr_id, const struct sge *sge, struct sge_cur *at,
                   const struct packet *p)
{
    struct whole_at from;
    uint32_t left = p->payload_bytes;
    struct hca *h = qp->hca;

    if (!p->whole) {
        sge_copy_in(qp, wr_id, sge, at, p->payload, left);
        return;
    }
    from = whole_begin(p->whole);
    while (left > 0) {
        const struct sge piece = sge_take(sge, at, left);

        if (piece.bytes == 0)
            continue;
        copy_piece(h, &piece, &from);
        TRACE(h->trace, dma_write, .host = h->host, .qpn = qp->qpn, .addr = piece.addr,
              .bytes = piece.bytes, .wr_id = wr_id);
        left -= piece.bytes;
    }
}
