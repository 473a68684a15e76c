/* SPDX-License-Identifier: MIT */
/* What the programs of the crowd post. */
#include <string.h>

#include "cli/trial/swarm_crowd.h"
#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/enums.h"

#define DEPTH      16u
#define SRQ_DEPTH  60u
#define AT_MAX     900u
#define INLINE_MAX 64u
#define QKEY       0x11111111u
#define WRONG_QKEY 0x22222222u
#define GROUP_QPN  0xffffffu
#define SHORT_MAX  300u
#define ID_BYTES   4u        /* of a message that says its number itself */
#define NO_KEY     0x800000u /* what makes a key one of nothing */
#define KEY_LOW    0xffu     /* the part of a key that its program chooses */
#define REMOTE_ALL (ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

/* One in so many is wrong. */
#define WRONG_ONE_IN 40u

/* --- Keys ------------------------------------------------------------------------------------- */

bool crowd_uses_key(const struct crowd *c, unsigned key)
{
    for (uint32_t i = 0; i < c->n_items; i++) {
        const struct crowd_item *t = &c->item[i];

        if (t->key == key && !t->is_done && !t->is_gone)
            return true;
    }
    return false;
}

/* Which of the keys of the other side @t uses, that are valid. */
static unsigned draw_key(struct crowd *c, const struct crowd_end *peer, unsigned peer_number)
{
    const unsigned keys[] = {CROWD_OPEN + peer->host, CROWD_TYPE_1 + peer->host,
                             CROWD_FAST + peer->host, CROWD_ANEW + peer->host,
                             CROWD_WINDOWS + peer_number};
    const unsigned key = keys[crowd_below(c, ARRAY_LEN(keys))];

    return c->key[key].is_valid ? key : keys[0];
}

static bool opens_something(const struct crowd *c, unsigned host, uint32_t rkey)
{
    if (c->key[CROWD_OPEN + host].rkey == rkey || c->key[CROWD_TYPE_1 + host].rkey == rkey ||
        c->key[CROWD_FAST + host].rkey == rkey || c->key[CROWD_ANEW + host].rkey == rkey)
        return true;
    return false;
}

/* One that does not open what @peer has: that of an earlier life, of another queue pair's window,
 * of another host, or of nothing.
 */
static uint32_t wrong_rkey(struct crowd *c, const struct crowd_end *peer, unsigned peer_number)
{
    const unsigned other = crowd_below(c, 2 * CROWD_CONNECTIONS);
    const unsigned other_host = (peer->host + 1) % CROWD_HOSTS;
    const uint32_t of_nothing = c->key[CROWD_OPEN + peer->host].rkey ^ 0x80u;
    const struct crowd_key *window = &c->key[CROWD_WINDOWS + peer_number];
    uint32_t rkey = of_nothing;

    if (crowd_one_in(c, 3) && c->key[CROWD_ANEW + peer->host].stale)
        rkey = c->key[CROWD_ANEW + peer->host].stale;
    else if (crowd_one_in(c, 2) && window->stale)
        rkey = window->stale;
    else if (crowd_one_in(c, 2) && other != peer_number)
        rkey = c->key[CROWD_WINDOWS + other].rkey;
    else if (crowd_one_in(c, 2))
        rkey = c->key[CROWD_FAST + other_host].rkey;
    return opens_something(c, peer->host, rkey) || rkey == window->rkey ? of_nothing : rkey;
}

/* --- Requests --------------------------------------------------------------------------------- */

static uint32_t draw_bytes(struct crowd *c, uint32_t max)
{
    const uint32_t mtu = c->mtu_bytes;
    const uint32_t shapes[] = {0, 1, 3, ID_BYTES, INLINE_MAX, mtu - 1, mtu, mtu + 1, max};
    const uint32_t chance = crowd_below(c, max + 1);
    const uint32_t pick = crowd_below(c, ARRAY_LEN(shapes) + 3);

    return pick < ARRAY_LEN(shapes) && shapes[pick] <= max ? shapes[pick] : chance;
}

static enum wr_opcode draw_opcode(struct crowd *c, enum qp_type type)
{
    static const enum wr_opcode ops[] = {WR_SEND,
                                         WR_SEND_WITH_IMM, /* UD ends here */
                                         WR_RDMA_WRITE,
                                         WR_RDMA_WRITE_WITH_IMM, /* UC */
                                         WR_RDMA_READ,
                                         WR_RDMA_READ,
                                         WR_SEND_WITH_INV,
                                         WR_ATOMIC_FETCH_AND_ADD,
                                         WR_ATOMIC_CMP_AND_SWP};
    const uint32_t n = type == QPT_UD ? 2 : type == QPT_UC ? 4 : ARRAY_LEN(ops);

    return ops[crowd_below(c, n)];
}

static void draw_datagram(struct crowd *c, struct crowd_item *t)
{
    t->to = 2 * CROWD_CONNECTIONS + crowd_below(c, CROWD_ENDS + 1 - 2 * CROWD_CONNECTIONS);
    t->bytes = draw_bytes(c, c->mtu_bytes);
    if (crowd_one_in(c, WRONG_ONE_IN)) {
        t->wrong = CROWD_TOO_LONG;
        t->bytes = c->mtu_bytes + 1 + crowd_below(c, c->mtu_bytes);
    } else if (crowd_one_in(c, WRONG_ONE_IN / 4)) {
        t->wrong = CROWD_WRONG_QKEY;
    }
}

static void draw_connected(struct crowd *c, struct crowd_item *t, const struct crowd_end *e)
{
    const unsigned window = CROWD_WINDOWS + e->peer;

    t->to = e->peer;
    t->bytes = draw_bytes(c, c->max_bytes);
    if (t->opcode == WR_SEND_WITH_INV) {
        if (!c->key[window].is_valid || crowd_uses_key(c, window))
            t->opcode = WR_SEND;
        else
            t->key = window;
    } else if (crowd_is_write(t) || crowd_fetches(t)) {
        if (crowd_is_atomic(t)) {
            t->bytes = ATOMIC_WORD_BYTES;
            t->at -= t->at % ATOMIC_WORD_BYTES;
            if (t->opcode == WR_ATOMIC_FETCH_AND_ADD || crowd_one_in(c, 2))
                t->added = 1 + crowd_below(c, 1000000);
        }
        t->key = draw_key(c, &c->end[e->peer], e->peer);
        if (crowd_one_in(c, WRONG_ONE_IN) && t->bytes > 0)
            t->wrong = CROWD_WRONG_RKEY;
    }
}

static struct crowd_item draw_item(struct crowd *c, unsigned end)
{
    const struct crowd_end *e = &c->end[end];
    struct crowd_item t = {.host = e->host, .end = end, .key = CROWD_NO_KEY, .qpn = e->qpn};

    t.opcode = draw_opcode(c, e->type);
    t.at = crowd_below(c, AT_MAX);
    if (!crowd_one_in(c, 4))
        t.flags |= SF_SIGNALED;
    if (crowd_one_in(c, 4))
        t.flags |= SF_SOLICITED;
    if (e->type == QPT_RC && crowd_one_in(c, 8))
        t.flags |= SF_FENCE;
    if (crowd_is_datagram(e))
        draw_datagram(c, &t);
    else
        draw_connected(c, &t, e);
    if (t.opcode == WR_SEND_WITH_INV)
        t.flags |= SF_SIGNALED;
    if (t.bytes < ID_BYTES && t.opcode == WR_SEND_WITH_INV)
        t.bytes = ID_BYTES;
    if (t.bytes < ID_BYTES && t.opcode == WR_SEND)
        t.opcode = WR_SEND_WITH_IMM;
    if (t.bytes <= INLINE_MAX && !crowd_fetches(&t) && crowd_one_in(c, 2))
        t.flags |= SF_INLINE;
    else if (t.wrong == CROWD_RIGHT && t.opcode != WR_SEND_WITH_INV && t.bytes > 0 &&
             crowd_one_in(c, WRONG_ONE_IN))
        t.wrong = CROWD_WRONG_LKEY;
    return t;
}

/* The message in memory, where it is read from. */
static void write_message(struct crowd *c, uint32_t i, const struct crowd_item *t,
                          uint8_t message[CROWD_SLOT_BYTES])
{
    const bool is_there = crowd_fetches(t);
    const struct rig_side *s = &c->host[is_there ? c->end[t->to].host : t->host].s;

    for (uint32_t k = 0; k < t->bytes; k++)
        message[k] = crowd_byte(i, k);
    if (!(t->flags & SF_INLINE))
        crowd_works(c,
                    rdl_mem_write(c->lab, s->host, s->mem.addr + crowd_slot(i, is_there) + t->at,
                                  message, t->bytes),
                    "memory can be written");
}

/* The word of an atomic becomes what it was and @t->added; or stays, if it does not compare. */
static void set_operands(const struct crowd_item *t, uint32_t i, struct rdl_send_wr *wr)
{
    const uint64_t word = crowd_word(i);

    wr->compare_add = t->added;
    if (t->opcode == WR_ATOMIC_CMP_AND_SWP) {
        wr->compare_add = t->added > 0 ? word : word + 1;
        wr->swap = word + (t->added > 0 ? t->added : 2);
    }
}

static void aim(struct crowd *c, const struct crowd_item *t, uint32_t i, struct rdl_send_wr *wr)
{
    const struct crowd_host *h = &c->host[t->host];

    if (crowd_is_datagram(&c->end[t->end])) {
        wr->ud.ah = t->to == CROWD_GROUP ? h->group : h->ah[c->end[t->to].host];
        wr->ud.remote_qpn = t->to == CROWD_GROUP ? GROUP_QPN : c->end[t->to].qpn;
        wr->ud.remote_qkey = t->wrong == CROWD_WRONG_QKEY ? WRONG_QKEY : QKEY;
    } else if (t->key < CROWD_KEYS) {
        const struct crowd_end *peer = &c->end[t->to];

        wr->remote_addr =
            c->host[peer->host].s.mem.addr + crowd_slot(i, true) + t->at + c->key[t->key].shift;
        wr->rkey = wr->invalidate_rkey = c->key[t->key].rkey;
        if (t->wrong == CROWD_WRONG_RKEY)
            wr->rkey = wrong_rkey(c, peer, t->to);
        if (crowd_is_atomic(t))
            set_operands(t, i, wr);
    }
}

/* Notes that @t was posted as the next item. */
static void note(struct crowd *c, struct crowd_item *t, enum rdl_status st)
{
    crowd_expect(c, st == RDL_OK || st == RDL_ERR_QUEUE_FULL, c->n_items,
                 "whatever there is room for can be posted");
    if (st == RDL_ERR_QUEUE_FULL)
        t->is_done = t->is_gone = true;
    else if (t->wrong == CROWD_SHORT ||
             ((t->wrong == CROWD_WRONG_RKEY || t->wrong == CROWD_WRONG_LKEY) &&
              c->end[t->end].type == QPT_RC))
        crowd_excuse(c, t->end);
    else if (t->wrong == CROWD_WRONG_LKEY)
        c->end[t->end].is_sqe = true;
    t->is_lost = !t->is_recv && c->end[t->end].is_sqe;
    if (crowd_changes_key(t) && st == RDL_OK) {
        c->key[t->key].is_valid = false;
        c->key[t->key].is_changing = true;
    }
    c->item[c->n_items++] = *t;
}

void crowd_post_send(struct crowd *c)
{
    const unsigned end = crowd_below(c, CROWD_ENDS);
    const uint32_t i = c->n_items;
    struct crowd_item t = draw_item(c, end);
    const struct rig_side *s = &c->host[t.host].s;
    const struct rdl_sge sge = {s->mem.addr + crowd_slot(i, false) + t.at, t.bytes,
                                s->mem.lkey ^ (t.wrong == CROWD_WRONG_LKEY ? NO_KEY : 0)};
    struct rdl_send_wr wr = {.wr_id = i, .opcode = t.opcode, .flags = t.flags};
    uint8_t message[CROWD_SLOT_BYTES];

    write_message(c, i, &t, message);
    for (uint32_t k = 0; k < sizeof(wr.imm); k++)
        wr.imm[k] = crowd_byte(i, k);
    if (t.flags & SF_INLINE) {
        wr.inline_data = message;
        wr.inline_bytes = t.bytes;
    } else {
        wr.sge = &sge;
        wr.n_sge = 1;
    }
    aim(c, &t, i, &wr);
    note(c, &t, rdl_post_send(c->lab, c->end[end].qp, &wr, false));
}

/* --- Receives --------------------------------------------------------------------------------- */

static uint32_t count_recvs(const struct crowd *c, const struct crowd_item *like)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n_items; i++) {
        const struct crowd_item *t = &c->item[i];

        n += t->is_recv && !t->is_done && !t->is_gone && t->is_shared == like->is_shared &&
             t->host == like->host && (t->is_shared || t->end == like->end);
    }
    return n;
}

void crowd_post_recv(struct crowd *c, unsigned end, uint32_t max)
{
    const struct crowd_end *e = &c->end[end];
    const struct crowd_host *h = &c->host[e->host];
    struct crowd_item t = {.is_recv = true,
                           .is_shared = e->has_srq,
                           .host = e->host,
                           .end = end,
                           .to = end,
                           .key = CROWD_NO_KEY,
                           .bytes = c->max_bytes + CROWD_GRH_BYTES};
    struct rdl_sge sge = {.lkey = h->s.mem.lkey};
    const struct rdl_recv_wr wr = {.wr_id = c->n_items, .sge = &sge, .n_sge = 1};
    const uint32_t n = count_recvs(c, &t);

    if (c->n_items == CROWD_ITEMS || n >= max || n >= (t.is_shared ? SRQ_DEPTH : DEPTH))
        return;
    t.at = crowd_below(c, AT_MAX);
    if (!t.is_shared && e->type == QPT_RC && crowd_one_in(c, WRONG_ONE_IN)) {
        t.wrong = CROWD_SHORT;
        t.bytes = crowd_below(c, SHORT_MAX);
    }
    sge.addr = h->s.mem.addr + crowd_slot(c->n_items, false) + t.at;
    sge.length = t.bytes;
    note(c, &t,
         t.is_shared ? rdl_post_srq_recv(c->lab, h->srq, &wr, false)
                     : rdl_post_recv(c->lab, e->qp, &wr, false));
}

/* --- Changes of keys -------------------------------------------------------------------------- */

/* What becomes of @key of the host of @t, as it is now. */
static void make_change(struct crowd *c, struct crowd_item *t, struct rdl_send_wr *wr)
{
    struct crowd_key *k = &c->key[t->key];
    const struct crowd_host *h = &c->host[t->host];
    const uint32_t next = (k->rkey & ~KEY_LOW) | ((k->rkey + 1) & KEY_LOW);
    const bool is_type_1 = t->key < CROWD_FAST;

    if (k->is_valid && !is_type_1) {
        t->opcode = crowd_one_in(c, 2) ? WR_LOCAL_INV : WR_RDMA_READ_WITH_INV;
        wr->invalidate_rkey = k->rkey;
    } else if (k->mw.raw) {
        t->opcode = WR_BIND_MW;
        wr->bind_mw.mw = k->mw;
        wr->bind_mw.rkey = next;
        wr->bind_mw.mr = h->open;
        wr->bind_mw.addr = h->s.mem.addr + crowd_slot(0, true);
        wr->bind_mw.length = (uint64_t)CROWD_ITEMS * CROWD_SLOT_BYTES;
        wr->bind_mw.access = REMOTE_ALL;
        wr->bind_mw.type_1 = is_type_1;
    } else {
        t->opcode = WR_REG_MR;
        wr->reg.mr = h->fast;
        wr->reg.key = next;
        wr->reg.access = ACC_LOCAL_WRITE | REMOTE_ALL;
    }
}

/* The key that it has from now on. */
static void learn_key(struct crowd *c, const struct crowd_item *t)
{
    struct crowd_key *k = &c->key[t->key];
    const struct crowd_host *h = &c->host[t->host];
    struct rdl_mw_info window;
    struct rdl_mr_info region;

    if (k->mw.raw && crowd_works(c, rdl_mw_info(c->lab, k->mw, &window), "a window has a key")) {
        k->stale = k->rkey;
        k->rkey = window.rkey;
    } else if (!k->mw.raw &&
               crowd_works(c, rdl_mr_info(c->lab, h->fast, &region), "a region has a key")) {
        k->stale = k->rkey;
        k->rkey = region.rkey;
    }
}

/* A READ that makes its own key invalid, of what is always open there. */
static void make_read(struct crowd *c, struct crowd_item *t, struct rdl_send_wr *wr,
                      struct rdl_sge *sge)
{
    const struct rig_side *here = &c->host[t->host].s;
    const unsigned there = c->end[c->end[t->end].peer].host;
    uint8_t message[CROWD_SLOT_BYTES];

    t->to = c->end[t->end].peer;
    t->bytes = draw_bytes(c, c->max_bytes);
    t->at = crowd_below(c, AT_MAX);
    write_message(c, c->n_items, t, message);
    *sge = (struct rdl_sge){here->mem.addr + crowd_slot(c->n_items, false) + t->at, t->bytes,
                            here->mem.lkey};
    wr->sge = sge;
    wr->n_sge = 1;
    wr->remote_addr = c->host[there].s.mem.addr + crowd_slot(c->n_items, true) + t->at;
    wr->rkey = c->key[CROWD_OPEN + there].rkey;
}

void crowd_post_key(struct crowd *c, unsigned end)
{
    const struct crowd_end *e = &c->end[end];
    const unsigned keys[] = {CROWD_TYPE_1 + e->host, CROWD_FAST + e->host, CROWD_WINDOWS + end,
                             CROWD_WINDOWS + end};
    struct crowd_item t = {
        .host = e->host, .end = end, .to = end, .flags = SF_SIGNALED, .qpn = e->qpn};
    struct rdl_send_wr wr = {.wr_id = c->n_items, .flags = SF_SIGNALED};
    struct rdl_sge sge;
    const struct crowd_key *k;
    enum rdl_status st;

    t.key = keys[crowd_below(c, ARRAY_LEN(keys))];
    k = &c->key[t.key];
    if (e->type != QPT_RC || k->is_broken || k->is_changing || crowd_uses_key(c, t.key))
        return;
    make_change(c, &t, &wr);
    wr.opcode = t.opcode;
    if (crowd_is_read(&t))
        make_read(c, &t, &wr, &sge);
    st = rdl_post_send(c->lab, e->qp, &wr, false);
    note(c, &t, st);
    if (st == RDL_OK && t.opcode != WR_LOCAL_INV && !crowd_is_read(&t))
        learn_key(c, &t);
}
