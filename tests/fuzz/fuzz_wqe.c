/* SPDX-License-Identifier: MIT */
/* Work requests that no correct driver posts, in well-formed rings.
 *
 * They come from h1 in the lab of hostile_host.h, which the first byte of an input selects: for a
 * queue pair of each service, connected to one of h2, for their receive queues and the shared one.
 * The rest is a list of actions: send and receive requests with arbitrary fields, of any length,
 * split into any buffers; kicks, and time.
 *
 * Checked: what hostile_host.h lists, and that nothing is written without a valid key: at the end
 * the requests, which lie in the zone, are as the driver wrote them.
 */
#include <string.h>

#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/rfc.h"
#include "emu/facts/wr.h"
#include "hostile_host.h"
#include "rdmalab/inspect.h"

#define DEEDS_MAX  40u
#define SGES_MAX   20u
#define PIECES_MAX 4u
#define WQE_ROOM   1024u /* of each deed, in the zone */
#define WQE_MAX    512u  /* 75 bytes and SGEs, or inline data */
#define SETTLE_NS  100000u

enum deed { SEND, RECEIVE, KICK, WAIT, DEED_COUNT };

/* What the driver has written to the zone for this input. */
static struct written {
    uint8_t bytes[DEEDS_MAX * WQE_ROOM];
    uint32_t n;
} written;

static void put_number(uint8_t *to, uint32_t bytes, uint64_t v)
{
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

/* A number of a request: its first byte says of which sort. */
static uint64_t any_number(const struct hostile_lab *h, const struct testbed_side *peer,
                           struct input *in)
{
    const uint8_t how = input_u8(in);

    switch (how >> 5) {
    case 0:
    case 1:
        return how;
    case 2:
        return how & 1 ? h->mem.lkey : h->mem.rkey;
    case 3:
        return peer->mem.rkey;
    case 4:
        return h->mem.iova + (how & 31u) * 1024u;
    case 5:
        return peer->mem.iova + (how & 31u) * 1024u;
    case 6:
        return (uint64_t)1 << (how & 31u);
    default:
        return input_u64(in);
    }
}

/* Changes some fields of @s at @at. */
static void spoil(const struct hostile_lab *h, const struct testbed_side *peer, struct input *in,
                  const struct row_struct *s, uint8_t *at)
{
    uint32_t n = input_u8(in) % 4;

    while (n-- > 0) {
        const struct row_field *f = &s->fields[input_u8(in) % s->n_fields];

        put_number(at + f->offset, f->bytes < 8 ? f->bytes : 8, any_number(h, peer, in));
    }
}

/* SGEs in the region, of which some are spoiled; returns their bytes. */
static uint32_t put_sges(const struct hostile_lab *h, const struct testbed_side *peer,
                         struct input *in, uint32_t n, uint8_t *at)
{
    for (uint32_t i = 0; i < n; i++, at += sizeof(struct raw_sge)) {
        const uint8_t how = input_u8(in);
        const struct rfc_sge sge = {.addr = h->mem.iova + (how & 31u) * 1024u,
                                    .length = how & 0x40 ? input_u16(in) : 8,
                                    .lkey = h->mem.lkey};

        rfc_sge_put((struct raw_sge *)(void *)at, &sge);
        if (how & 0x80)
            spoil(h, peer, in, rfc_find("sge"), at);
    }
    return n * (uint32_t)sizeof(struct raw_sge);
}

/* What its union says, where chance has not changed it. */
static void put_union(const struct hostile_lab *h, const struct testbed_side *peer,
                      struct input *in, enum wr_form form, uint8_t *at)
{
    static const char *const names[] = {
        [WR_FORM_RDMA] = "wr_rdma", [WR_FORM_ATOMIC] = "wr_atomic", [WR_FORM_REG] = "wr_reg_list",
        [WR_FORM_BIND] = "wr_bind", [WR_FORM_UD] = "wr_ud",
    };
    const struct row_struct *s;

    if (form == WR_FORM_NONE)
        return;
    s = rfc_find(names[form]);
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct row_field *f = &s->fields[i];

        if (strcmp(f->name, "remote_addr") == 0)
            put_number(at + f->offset, 8, peer->mem.iova + 512);
        else if (strcmp(f->name, "rkey") == 0)
            put_number(at + f->offset, 4, peer->mem.rkey);
        else if (strcmp(f->name, "remote_qpn") == 0)
            put_number(at + f->offset, 4, peer->qpn);
        else if (strcmp(f->name, "av_dgid") == 0)
            at[f->offset + f->bytes - 1] = 2; /* the rest is for chance */
        else if (strcmp(f->name, "pages") == 0)
            put_number(at + f->offset, 8, h->zone + HOSTILE_PAGE_LIST);
        else if (strcmp(f->name, "npages") == 0)
            put_number(at + f->offset, 4, 1);
        else if (form == WR_FORM_REG && strcmp(f->name, "length") == 0)
            put_number(at + f->offset, 8, RAM_PAGE_BYTES);
    }
    spoil(h, peer, in, s, at);
}

static const uint32_t opcodes[] = {
    WR_RDMA_WRITE,    WR_RDMA_WRITE_WITH_IMM, WR_SEND,      WR_SEND_WITH_IMM,
    WR_RDMA_READ,     WR_ATOMIC_CMP_AND_SWP,  WR_LOCAL_INV, WR_ATOMIC_FETCH_AND_ADD,
    WR_SEND_WITH_INV, WR_RDMA_READ_WITH_INV,  WR_REG_MR,    WR_BIND_MW,
};

static uint32_t make_send(const struct hostile_lab *h, unsigned service, struct input *in,
                          uint8_t *at)
{
    static const enum qp_type types[HOSTILE_SERVICES] = {QPT_RC, QPT_UC, QPT_UD};
    const struct testbed_side *peer = &h->peer[service];
    const uint8_t which = input_u8(in), flags = input_u8(in), shape = input_u8(in);
    const struct rfc_sq_wqe wqe = {.num_sge = flags & SF_INLINE ? 0 : shape % SGES_MAX,
                                   .send_flags = flags & 0x1f,
                                   .opcode = opcodes[which % ARRAY_LEN(opcodes)],
                                   .wr_id = which};
    uint8_t *body = at + sizeof(struct raw_sq_wqe);
    uint32_t n = (uint32_t)sizeof(struct raw_sq_wqe);

    rfc_sq_wqe_put((struct raw_sq_wqe *)(void *)at, &wqe);
    put_union(h, peer, in, wr_form(types[service], wqe.opcode),
              at + row_field_find(rfc_find("sq_wqe"), "wr")->offset);
    n += flags & SF_INLINE ? shape : put_sges(h, peer, in, wqe.num_sge, body);
    if (flags & 0x80)
        spoil(h, peer, in, rfc_find("sq_wqe"), at);
    return n;
}

static uint32_t make_receive(const struct hostile_lab *h, unsigned service, struct input *in,
                             uint8_t *at)
{
    const struct testbed_side *peer = &h->peer[service];
    const uint8_t how = input_u8(in);
    const struct rfc_rq_wqe wqe = {.num_sge = how % SGES_MAX, .wr_id = how};
    uint32_t n = (uint32_t)sizeof(struct raw_rq_wqe);

    rfc_rq_wqe_put((struct raw_rq_wqe *)(void *)at, &wqe);
    n += put_sges(h, peer, in, wqe.num_sge, at + n);
    if (how & 0x80)
        spoil(h, peer, in, rfc_find("rq_wqe"), at);
    return n;
}

/* @bytes in the zone, cut into buffers, into @ring. */
static void offer(struct hostile_lab *h, struct input *in, enum hostile_ring ring, uint64_t at,
                  uint32_t bytes)
{
    const uint8_t how = input_u8(in);
    struct hostile_seg segs[PIECES_MAX];
    uint32_t n = 0;

    if (how & 0x80) /* shorter than it says */
        bytes = input_u16(in) % (WQE_MAX + 1);
    while (bytes > 0 && n < PIECES_MAX) {
        const bool last = n + 1 == 1 + (uint32_t)how % PIECES_MAX;
        const uint32_t some = last ? bytes : 1 + input_u8(in) % bytes;

        segs[n++] = (struct hostile_seg){at, some, false, 0};
        at += some;
        bytes -= some;
    }
    hostile_offer(h, ring, segs, n, how & 0x40 ? 0 : n, h->zone + DEEDS_MAX * WQE_ROOM);
    hostile_kick(h, ring);
}

static void post(struct hostile_lab *h, struct input *in, bool is_send)
{
    const uint8_t which = input_u8(in);
    const unsigned service = which % HOSTILE_SERVICES;
    const uint64_t at = h->zone + written.n;
    uint8_t *wqe = written.bytes + written.n;
    enum hostile_ring ring = (enum hostile_ring)(RING_RC_SENDS + 2 * service);
    uint32_t n;

    if (is_send) {
        n = make_send(h, service, in, wqe);
    } else {
        n = make_receive(h, service, in, wqe);
        ring = which & 0x80 ? RING_SHARED : (enum hostile_ring)((unsigned)ring + 1);
    }
    hostile_poke(h, at, wqe, WQE_ROOM);
    written.n += WQE_ROOM;
    offer(h, in, ring, at, n);
}

static void do_deed(struct hostile_lab *h, struct input *in)
{
    switch (input_u8(in) % DEED_COUNT) {
    case SEND:
        post(h, in, true);
        break;
    case RECEIVE:
        post(h, in, false);
        break;
    case KICK:
        hostile_do_kick(h, in);
        break;
    default:
        hostile_do_wait(h, in);
    }
}

static void begin(void)
{
    memset(&written, 0, sizeof(written));
}

/* What no key names is as it was written. */
static void end(const struct hostile_lab *h)
{
    static uint8_t have[sizeof(written.bytes)];

    hostile_go_on(h, SETTLE_NS);
    FUZZ_CHECK(rdl_ram_read(h->lab, h->host, h->zone, have, written.n) == RDL_OK);
    FUZZ_CHECK(memcmp(have, written.bytes, written.n) == 0);
}

const struct hostile_target hostile_target = {
    .deeds_max = DEEDS_MAX, .deed = do_deed, .begin = begin, .end = end};
