/* SPDX-License-Identifier: MIT */
/* Draws items: operations, sizes, places, keys and mistakes. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/wr.h"
#include "swarm/worlds/world_draw.h"

#define GAP_MAX      40u
#define PAGE         4096u
#define SHORT_MAX    40u
#define DATAGRAM_MAX 1500u
#define DATAGRAM_MTU 4096u
#define EXTRA_MAX    300u
#define SPARE_BYTES  (20000u + WORLD_GRH_BYTES)
#define NAMELESS_MAX 8u /* bytes; a shorter message cannot be attributed to an item */

/* --- Places ----------------------------------------------------------------------------------- */

/* Reserves @bytes on @host.  Some begin at a page boundary, some end at one, and some cross one. */
static uint32_t take_place(struct draw *d, unsigned host, uint32_t bytes, uint32_t align)
{
    uint32_t at = d->used[host] + 1 + draw_below(d, GAP_MAX);
    const uint32_t pick = draw_below(d, 8), in_page = at % PAGE;

    if (pick == 0 && in_page != 0)
        at += PAGE - in_page;
    else if (pick == 1 && bytes > 1 && in_page + bytes < PAGE)
        at += PAGE - in_page - bytes / 2;
    else if (pick == 2 && (in_page + bytes) % PAGE != 0)
        at += PAGE - (in_page + bytes) % PAGE;
    at = (at + align - 1) / align * align;
    d->used[host] = at + bytes;
    return at;
}

/* Draws @n pieces with @bytes in total. */
static void draw_pieces(struct draw *d, struct world_item *t, unsigned host, uint32_t bytes,
                        uint32_t n)
{
    uint32_t left = bytes;

    t->n_pieces = (uint8_t)n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t take = left;

        if (i + 1 < n && left > 0)
            take = draw_below(d, left + 1);
        t->piece[i].bytes = take;
        t->piece[i].at = take_place(d, host, take, 1);
        left -= take;
    }
}

/* Mostly one. */
static uint32_t draw_piece_count(struct draw *d)
{
    const uint32_t more = draw_below(d, WORLD_PIECES_MAX - 1);

    return draw_one_in(d, 3) ? 1 + more : 1;
}

static uint32_t draw_size(struct draw *d, uint32_t mtu, uint32_t most)
{
    const uint32_t sizes[] = {0, 1, 3, mtu - 1, mtu, mtu + 1, 3 * mtu + 1, 2 * mtu, 4, 64};
    uint32_t bytes;

    if (draw_one_in(d, 3))
        bytes = sizes[draw_below(d, ARRAY_LEN(sizes))];
    else if (draw_one_in(d, 6))
        bytes = draw_below(d, d->w->max_message);
    else
        bytes = draw_below(d, 600);
    return bytes < most ? bytes : most;
}

/* --- Mistakes --------------------------------------------------------------------------------- */

static void draw_local_mistake(struct draw *d, struct world_item *t)
{
    static const uint8_t of_source[] = {LKEY_UNKNOWN, LKEY_ALIEN};
    static const uint8_t of_sink[] = {LKEY_UNKNOWN, LKEY_ALIEN, LKEY_READ_ONLY};
    uint32_t pick;

    if (t->flags & SF_INLINE)
        return;
    t->bad_piece = (uint8_t)draw_below(d, t->n_pieces);
    if (t->piece[t->bad_piece].bytes == 0)
        return;
    pick = draw_below(d, ARRAY_LEN(of_source) * ARRAY_LEN(of_sink));
    t->mistake = world_fetches(t) || t->is_recv ? of_sink[pick % ARRAY_LEN(of_sink)]
                                                : of_source[pick % ARRAY_LEN(of_source)];
    if (!t->is_recv && !world_fetches(t) && draw_one_in(d, 3)) {
        const struct world_host *h = &d->w->host[d->w->end[t->end].host];
        struct world_piece *p = &t->piece[0];

        t->mistake = LKEY_BEHIND;
        p->bytes = t->bytes;
        t->n_pieces = 1;
        t->bad_piece = 0;
        if (p->bytes > h->edge_bytes)
            t->mistake = LKEY_UNKNOWN;
        else if (draw_one_in(d, 2))
            p->at = h->edge_at + h->edge_bytes - p->bytes + 1;
        else {
            t->mistake = LKEY_BEFORE;
            p->at = h->edge_at - 1;
        }
    }
}

static void draw_remote_mistake(struct draw *d, struct world_item *t)
{
    static const uint8_t wrongs[] = {RKEY_LOW,    RKEY_UNKNOWN, RKEY_ALIEN, RKEY_ACCESS,
                                     RKEY_BEHIND, RKEY_BEFORE,  RKEY_STALE, RKEY_OTHERS};
    const struct world_host *h = &d->w->host[d->w->end[t->to].host];
    const uint8_t wrong = wrongs[draw_below(d, ARRAY_LEN(wrongs))];

    t->mistake = wrong;
    t->again = WORLD_NONE;
    t->key = KEY_OPEN;
    if (world_is_atomic(t) && draw_one_in(d, 3)) {
        t->mistake = UNALIGNED;
        t->remote += 1 + draw_below(d, 7);
    } else if (wrong == RKEY_BEHIND && t->bytes <= h->edge_bytes && !world_is_atomic(t)) {
        t->remote = h->edge_at + h->edge_bytes - t->bytes + 1;
    } else if (wrong == RKEY_BEFORE && !world_is_atomic(t)) {
        t->remote = h->edge_at - 1;
    } else if (wrong == RKEY_BEHIND || wrong == RKEY_BEFORE) {
        t->mistake = RKEY_UNKNOWN;
    } else if (wrong == RKEY_UNKNOWN && !(t->flags & SF_INLINE) && draw_one_in(d, 2)) {
        t->mistake = BOTH_KEYS;
    }
}

static void draw_mistake(struct draw *d, struct world_item *t)
{
    const bool is_connected = d->w->end[t->end].type != QPT_UD;

    if (d->mistake_one_in == 0 || !draw_one_in(d, d->mistake_one_in) || t->bytes == 0)
        return;
    if (is_connected && (world_is_write(t) || world_fetches(t)) && !draw_one_in(d, 3) &&
        d->w->end[t->end].type == QPT_RC)
        draw_remote_mistake(d, t);
    else if (t->again == WORLD_NONE && t->opcode != WR_SEND_WITH_INV)
        draw_local_mistake(d, t);
}

/* --- Requests --------------------------------------------------------------------------------- */

static uint32_t draw_opcode(struct draw *d, uint32_t type)
{
    static const uint32_t rc[] = {WR_SEND,
                                  WR_SEND,
                                  WR_SEND_WITH_IMM,
                                  WR_RDMA_WRITE,
                                  WR_RDMA_WRITE,
                                  WR_RDMA_WRITE_WITH_IMM,
                                  WR_RDMA_READ,
                                  WR_RDMA_READ,
                                  WR_ATOMIC_FETCH_AND_ADD,
                                  WR_ATOMIC_CMP_AND_SWP,
                                  WR_SEND_WITH_INV};
    static const uint32_t uc[] = {WR_SEND, WR_SEND_WITH_IMM, WR_RDMA_WRITE, WR_RDMA_WRITE_WITH_IMM};
    static const uint32_t ud[] = {WR_SEND, WR_SEND_WITH_IMM};

    const uint32_t pick = draw_below(d, 1u << 20);

    if (type == QPT_RC)
        return rc[pick % ARRAY_LEN(rc)];
    return type == QPT_UC ? uc[pick % ARRAY_LEN(uc)] : ud[pick % ARRAY_LEN(ud)];
}

/* Places @t in the region of KEY_EDGE while there is space.  The first item begins with the region,
 * the last one ends with it.
 */
static bool take_edge(struct draw *d, struct world_item *t, unsigned host)
{
    const struct world_host *h = &d->w->host[host];
    const uint32_t left = h->edge_bytes - d->edge_used[host];

    if (left == 0 || (t->bytes > left && left > d->w->max_message))
        return false;
    if (t->bytes > left || left < 600)
        t->bytes = left;
    t->remote = h->edge_at + d->edge_used[host];
    d->edge_used[host] += t->bytes;
    t->key = KEY_EDGE;
    return true;
}

/* Returns true if @t may use the place of @before again.  RC orders the two requests. */
static bool may_follow(const struct draw *d, const struct world_item *t,
                       const struct world_item *before)
{
    return d->w->end[t->end].type == QPT_RC && before->mistake == RIGHT && world_is_write(before) &&
           before->key != KEY_EDGE && before->bytes > 0 && !world_is_atomic(t);
}

static void draw_place(struct draw *d, struct world_item *t)
{
    static const uint8_t keys[] = {KEY_OPEN,     KEY_OPEN,     KEY_OPEN,     KEY_ANEW, KEY_FAST,
                                   KEY_WINDOW_1, KEY_WINDOW_2, KEY_WINDOW_2, KEY_EDGE};
    struct world *w = d->w;
    const unsigned host = w->end[t->to].host;
    const uint16_t last = d->last[t->end];

    t->key = keys[draw_below(d, ARRAY_LEN(keys))];
    if (world_is_read(t) && draw_one_in(d, 8))
        t->key = KEY_LOOK;
    if (world_is_atomic(t)) {
        t->key = t->key == KEY_EDGE ? KEY_OPEN : t->key;
        t->bytes = WORLD_WORD_BYTES;
        t->word = (uint8_t)draw_below(d, WORLD_WORDS);
        t->remote = w->host[host].words_at + t->word * 2u * WORLD_WORD_BYTES;
        t->compare_add = 1 + draw_below(d, 1u << 30);
        t->swap = prng_next(&d->rng);
        return;
    }
    if (last != WORLD_NONE && draw_one_in(d, 3) && may_follow(d, t, &w->item[last])) {
        t->again = last;
        t->key = t->key == KEY_EDGE ? KEY_OPEN : t->key;
        t->bytes = w->item[last].bytes;
        t->remote = w->item[last].remote;
        return;
    }
    if (t->key == KEY_EDGE && take_edge(d, t, host))
        return;
    t->key = t->key == KEY_EDGE ? KEY_OPEN : t->key;
    t->remote = take_place(d, host, t->bytes, 1);
}

static void draw_datagram(struct draw *d, struct world_item *t)
{
    struct world *w = d->w;
    const uint32_t first = 2 * w->n_conns;

    t->to = (uint16_t)(first + draw_below(d, w->n_ends - first));
    t->to_group = draw_one_in(d, 4);
    t->bytes = draw_below(d, DATAGRAM_MAX);
    if (draw_one_in(d, 4))
        t->bytes = DATAGRAM_MTU - draw_below(d, 2);
    if (d->mistake_one_in && draw_one_in(d, 12))
        t->mistake = draw_one_in(d, 2) ? QKEY_WRONG : TOO_LONG;
    if (t->mistake == TOO_LONG)
        t->bytes = DATAGRAM_MTU + 1 + draw_below(d, 100);
}

static struct world_item *new_item(struct draw *d, uint16_t end, uint16_t *ret)
{
    struct world *w = d->w;
    struct world_item *t = &w->item[w->n_items];

    if (w->n_items == WORLD_ITEMS_MAX)
        return NULL;
    *t = (struct world_item){.end = end, .to = w->end[end].peer, .again = WORLD_NONE};
    *ret = (uint16_t)w->n_items++;
    return t;
}

static void draw_flags(struct draw *d, struct world_item *t)
{
    if (!draw_one_in(d, 4))
        t->flags |= SF_SIGNALED;
    if (draw_one_in(d, 4))
        t->flags |= SF_SOLICITED;
    if (d->w->end[t->end].type == QPT_RC && draw_one_in(d, 8))
        t->flags |= SF_FENCE;
}

uint16_t draw_request(struct draw *d, uint16_t end)
{
    const struct world_end *e = &d->w->end[end];
    uint16_t i;
    struct world_item *t = new_item(d, end, &i);
    uint32_t pieces;

    if (!t)
        return WORLD_NONE;
    t->opcode = draw_opcode(d, e->type);
    draw_flags(d, t);
    t->bytes = draw_size(d, world_mtu_bytes(e), d->w->max_message);
    if (e->type == QPT_UD)
        draw_datagram(d, t);
    else if (world_is_write(t) || world_fetches(t))
        draw_place(d, t);
    if (t->opcode == WR_SEND_WITH_INV) {
        t->key = KEY_WINDOW_2;
        t->flags |= SF_SIGNALED;
    }
    if (e->type != QPT_RC && t->opcode == WR_SEND && t->bytes < NAMELESS_MAX)
        t->bytes = NAMELESS_MAX;
    if (t->bytes <= WORLD_INLINE_MAX && !world_fetches(t) && draw_one_in(d, 2))
        t->flags |= SF_INLINE;
    pieces = draw_piece_count(d);
    draw_pieces(d, t, e->host, t->bytes, pieces);
    if (t->mistake == RIGHT)
        draw_mistake(d, t);
    if (world_is_write(t) && t->mistake == RIGHT)
        d->last[end] = i;
    else if (world_is_read(t))
        d->last[end] = WORLD_NONE; /* a later WRITE might overtake the READ */
    return i;
}

uint16_t draw_key_request(struct draw *d, uint16_t end)
{
    static const uint8_t keys[] = {KEY_WINDOW_1, KEY_FAST, KEY_WINDOW_2, KEY_WINDOW_2};
    uint16_t i;
    struct world_item *t = new_item(d, end, &i);

    if (!t)
        return WORLD_NONE;
    /* The operation is chosen when the item is posted: BIND_MW, REG_MR or LOCAL_INV. */
    t->opcode = WR_BIND_MW;
    t->key = keys[draw_below(d, ARRAY_LEN(keys))];
    t->flags = SF_SIGNALED;
    return i;
}

void draw_stop(struct draw *d, uint16_t end)
{
    const struct world_end *e = &d->w->end[end];
    uint16_t i;
    struct world_item *t = new_item(d, end, &i);

    if (!t)
        return;
    t->is_spare = true;
    t->flags = SF_SIGNALED;
    t->key = KEY_OPEN;
    t->opcode = WR_RDMA_WRITE;
    if (e->type == QPT_UD) {
        t->opcode = WR_SEND;
        t->bytes = NAMELESS_MAX;
    }
    draw_pieces(d, t, e->host, t->bytes, 1);
}

uint16_t draw_receive(struct draw *d, uint16_t end, bool is_spare)
{
    const struct world_end *e = &d->w->end[end];
    const uint32_t lead = e->type == QPT_UD || e->has_srq ? WORLD_GRH_BYTES : 0;
    uint16_t i;
    struct world_item *t = new_item(d, end, &i);
    uint32_t pieces;

    if (!t)
        return WORLD_NONE;
    t->is_recv = true;
    t->is_spare = is_spare;
    t->opcode = WR_RECV;
    t->bytes = e->type == QPT_UD && !e->has_srq ? DATAGRAM_MTU : d->w->max_message;
    if (e->has_srq && d->w->n_ends > 2 * d->w->n_conns && t->bytes < DATAGRAM_MTU)
        t->bytes = DATAGRAM_MTU; /* the receive may get a datagram */
    t->bytes += lead + draw_below(d, EXTRA_MAX);
    if (!is_spare && d->mistake_one_in && !e->has_srq && e->type == QPT_RC &&
        draw_one_in(d, 3 * d->mistake_one_in)) {
        t->mistake = TOO_SHORT;
        t->bytes = draw_below(d, SHORT_MAX);
    }
    pieces = draw_piece_count(d);
    draw_pieces(d, t, e->host, t->bytes, is_spare ? 1 : pieces);
    if (!is_spare && t->mistake == RIGHT && !e->has_srq && e->type == QPT_RC && t->n_pieces == 1 &&
        d->mistake_one_in && draw_one_in(d, 3 * d->mistake_one_in))
        draw_local_mistake(d, t);
    return i;
}

void world_bytes(const struct world *w, uint32_t i, uint8_t *out)
{
    struct prng r = prng_stream(i, 0);

    for (uint32_t k = 0; k < w->item[i].bytes; k++)
        out[k] = (uint8_t)prng_next(&r);
}

void world_imm(uint32_t i, uint8_t out[4])
{
    out[0] = 0x5a;
    out[1] = (uint8_t)(i >> 8);
    out[2] = (uint8_t)i;
    out[3] = 0xc3;
}
