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

/* Allocates the message of xqp->out with room for @n_runs runs and @own_bytes bytes of payload.
 * Returns NULL if the arena is full.
 */
static struct whole *make(struct xport_qp *xqp, uint32_t n_pkts, size_t n_runs, size_t own_bytes)
{
    struct hca *h = xqp->qp.hca;
    const size_t bytes = sizeof(struct whole) + n_runs * sizeof(struct whole_run) + own_bytes;
    struct whole *w = arena_alloc_raw(h->arena, bytes);

    if (!w)
        return NULL;
    *w = (struct whole){.cargo = {bytes},
                        .p = xqp->out,
                        .mtu = xqp->mtu,
                        .n_pkts = n_pkts,
                        .wire_bytes = wire_bytes_of(xqp, n_pkts),
                        .ram = h->ram};
    w->p.op = op_info(w->p.bth.opcode);
    w->p.bth.pad_bytes = (uint8_t)packet_pad_bytes(w->p.payload_bytes);
    w->p.whole = w;
    xqp->x->whole = w;
    return w;
}

/* The number of runs that @bytes of the list @sge take at most. */
static size_t runs_of(const struct sge *sge, struct sge_cur at, uint32_t bytes)
{
    size_t n = 0;

    while (bytes > 0) {
        const struct sge piece = sge_take(sge, &at, bytes);

        n += piece.bytes / RAM_PAGE_BYTES + 2;
        bytes -= piece.bytes;
    }
    return n;
}

/* Adds the pages of @piece, whose key was checked. */
static void add_piece(struct whole *w, const struct hca *h, const struct sge *piece)
{
    uint64_t run;

    for (uint64_t i = 0; i < piece->bytes; i += run) {
        const uint64_t gpa = key_gpa(h, piece->lkey, piece->addr + i, piece->bytes - i, &run);
        struct whole_run *last = w->n_runs ? &w->runs[w->n_runs - 1] : NULL;

        if (last && last->gpa + last->bytes == gpa)
            last->bytes += run;
        else
            w->runs[w->n_runs++] = (struct whole_run){gpa, run};
    }
}

enum rule whole_from_list(struct xport_qp *xqp, uint32_t n_pkts, const struct sg_list *l,
                          struct sge_cur *at, struct sge *reterr_bad)
{
    const struct hca *h = xqp->qp.hca;
    uint32_t left = xqp->out.payload_bytes;
    const enum rule rule = sge_check(h, l, *at, left, reterr_bad);
    struct whole *w;

    if (rule != RULE_NONE)
        return rule;
    w = make(xqp, n_pkts, runs_of(l->sge, *at, left), 0);
    while (w && left > 0) {
        const struct sge piece = sge_take(l->sge, at, left);

        add_piece(w, h, &piece);
        left -= piece.bytes;
    }
    return RULE_NONE;
}

void whole_from_bytes(struct xport_qp *xqp, uint32_t n_pkts, const uint8_t *bytes)
{
    const uint32_t n = xqp->out.payload_bytes;
    struct whole *w = make(xqp, n_pkts, 0, n);

    if (w) {
        memcpy(w->runs, bytes, n);
        w->own = (const uint8_t *)w->runs;
    }
}

void whole_of_headers(struct xport_qp *xqp)
{
    (void)make(xqp, 1, 0, 0);
}

/* A position in the payload of a message. */
struct whole_at {
    const struct whole *w;
    uint32_t run;
    uint64_t at; /* offset in it, or in @w->own */
};

/* Returns the bytes at @from: *@ret_run of them, at most @most, follow each other. */
static const uint8_t *look(const struct whole_at *from, size_t most, size_t *ret_run)
{
    const struct whole_run *r = &from->w->runs[from->run];
    const uint64_t gpa = r->gpa + from->at, left = r->bytes - from->at;

    if (from->w->own) {
        *ret_run = most;
        return from->w->own + from->at;
    }
    *ret_run = ram_run(gpa, left < most ? (size_t)left : most);
    return ram_look(from->w->ram, gpa, *ret_run);
}

static void advance(struct whole_at *from, size_t bytes)
{
    from->at += bytes;
    if (!from->w->own && from->at == from->w->runs[from->run].bytes) {
        from->at = 0;
        from->run++;
    }
}

void whole_copy_in(const struct qp *qp, uint64_t wr_id, const struct sge *sge, struct sge_cur *at,
                   const struct packet *p)
{
    struct whole_at from = {p->whole, 0, 0};
    uint32_t left = p->payload_bytes;
    struct hca *h = qp->hca;

    if (!p->whole) {
        sge_copy_in(qp, wr_id, sge, at, p->payload, left);
        return;
    }
    while (left > 0) {
        const struct sge piece = sge_take(sge, at, left);
        size_t run;

        if (piece.bytes == 0)
            continue;
        for (size_t done = 0; done < piece.bytes; done += run) {
            const uint8_t *bytes = look(&from, piece.bytes - done, &run);

            key_copy_in(h, piece.lkey, piece.addr + done, bytes, run);
            advance(&from, run);
        }
        TRACE(h->trace, dma_write, .host = h->host, .qpn = qp->qpn, .addr = piece.addr,
              .bytes = piece.bytes, .wr_id = wr_id);
        left -= piece.bytes;
    }
}
