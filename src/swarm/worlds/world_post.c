/* SPDX-License-Identifier: MIT */
/* Posts items: fills memory, chooses keys and builds the work request. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/text.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/wr.h"
#include "swarm/worlds/model.h"
#include "swarm/worlds/world_run.h"

#define KEY_LOW    0xffu
#define NO_KEY     0x800000u /* XORed to a key: no region has the resulting index */
#define GROUP_QPN  0xffffffu
#define WRONG_QKEY 0x22222222u
#define LINE_BYTES 2048u
#define REMOTE_ALL (ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

static const char *const names[WORLD_KEYS] = {"open", "mine", "look", "alien", "edge",
                                              "anew", "fast", "one",  "w"};

/* --- Memory ----------------------------------------------------------------------------------- */

static void say_bytes(struct world_run *r, unsigned host, uint32_t at, const uint8_t *bytes,
                      uint32_t n)
{
    if (!r->script)
        return;
    fprintf(r->script, "write h%u.open[%u] hex=", host + 1, at);
    for (uint32_t k = 0; k < n; k++)
        fprintf(r->script, "%02x", bytes[k]);
    fputc('\n', r->script);
}

static void put_bytes(struct world_run *r, unsigned host, uint32_t at, const uint8_t *bytes,
                      uint32_t n)
{
    if (n == 0)
        return;
    say_bytes(r, host, at, bytes, n);
    world_works(r, rdl_mem_write(r->lab, r->host[host].host, r->host[host].base + at, bytes, n),
                "memory can be written");
}

/* Writes the message to its source: the pieces, or for a READ the place on the remote host. */
static void write_message(struct world_run *r, uint16_t i, uint8_t *message)
{
    const struct world_item *t = &r->w->item[i];
    const struct item_state *s = &r->item[i];
    const uint8_t *from = message;

    if (t->is_recv || world_is_local(t) || world_is_atomic(t))
        return;
    world_bytes(r->w, i, message);
    if (world_is_read(t)) {
        if (t->again == WORLD_NONE && s->mistake == RIGHT)
            put_bytes(r, r->w->end[t->to].host, t->remote, message, t->bytes);
        return;
    }
    if (world_is_local_mistake(t->mistake) && t->mistake >= LKEY_BEHIND)
        return; /* its buffer overlaps memory of other items */
    for (uint32_t p = 0; p < t->n_pieces; p++) {
        put_bytes(r, r->w->end[t->end].host, t->piece[p].at, from, t->piece[p].bytes);
        from += t->piece[p].bytes;
    }
}

/* --- Keys ------------------------------------------------------------------------------------- */

static uint32_t local_key(const struct world_run *r, const struct world_item *t, uint32_t piece)
{
    const struct host_state *h = &r->host[r->w->end[t->end].host];

    if (!world_is_local_mistake(t->mistake) && t->mistake != BOTH_KEYS)
        return h->lkey[KEY_MINE];
    if (t->mistake == BOTH_KEYS || t->mistake == LKEY_UNKNOWN)
        return h->lkey[KEY_MINE] ^ NO_KEY;
    if (t->mistake == LKEY_BEHIND || t->mistake == LKEY_BEFORE)
        return h->lkey[KEY_EDGE];
    if (piece != t->bad_piece)
        return h->lkey[KEY_MINE];
    return h->lkey[t->mistake == LKEY_ALIEN ? KEY_ALIEN : KEY_LOOK];
}

/* Returns true if requests to @end can use @key now. */
static bool is_open(struct world_run *r, uint8_t key, uint16_t end)
{
    const struct key_story *k = world_key_of(r, key, end);

    return k->is_valid && !k->is_changing && !k->is_broken;
}

/* Returns the key of another type 2 window on the host of @end; 0: there is none. */
static uint32_t others_window(struct world_run *r, uint16_t end)
{
    for (uint16_t i = 0; i < 2 * r->w->n_conns; i++) {
        if (i != end && r->w->end[i].host == r->w->end[end].host && r->end[i].window.is_valid)
            return r->end[i].window.rkey;
    }
    return 0;
}

/* Returns the wrong key for the mistake of @t; 0: no such key exists now. */
static uint32_t wrong_rkey(struct world_run *r, const struct world_item *t)
{
    const struct host_state *h = &r->host[r->w->end[t->to].host];
    const uint32_t open = h->key[KEY_OPEN].rkey;

    switch (t->mistake) {
    case RKEY_LOW:
        return open ^ (1u + t->bytes % KEY_LOW);
    case RKEY_ALIEN:
        return h->key[KEY_ALIEN].rkey;
    case RKEY_ACCESS:
        return h->key[world_is_read(t) ? KEY_MINE : KEY_LOOK].rkey;
    case RKEY_BEHIND:
    case RKEY_BEFORE:
        return h->key[KEY_EDGE].rkey;
    case RKEY_STALE:
        return r->end[t->to].window.stale ? r->end[t->to].window.stale : h->key[KEY_ANEW].stale;
    case RKEY_OTHERS:
        return others_window(r, t->to);
    case UNALIGNED:
        return open;
    default:
        return open ^ NO_KEY;
    }
}

/* Chooses the key and operation of @i.  Returns false if it cannot be posted. */
static bool choose_key(struct world_run *r, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    struct item_state *s = &r->item[i];

    s->opcode = t->opcode;
    s->key = t->key;
    s->mistake = t->mistake;
    if (t->is_recv || world_is_local(t))
        return true;
    if (t->opcode == WR_SEND_WITH_INV) {
        const struct key_story *k = world_key_of(r, KEY_WINDOW_2, t->to);

        if (!is_open(r, KEY_WINDOW_2, t->to) || k->users > 0)
            s->opcode = WR_SEND;
        s->rkey = k->rkey;
        return true;
    }
    if (!world_is_write(t) && !world_fetches(t))
        return true;
    if (t->again != WORLD_NONE &&
        (r->item[t->again].phase == ITEM_IDLE || r->item[t->again].life != r->end[t->end].life))
        return false;
    if (world_is_remote_mistake(t->mistake)) {
        s->rkey = wrong_rkey(r, t);
        return s->rkey != 0;
    }
    if (!is_open(r, t->key, t->to))
        s->key = KEY_OPEN;
    s->rkey = world_key_of(r, s->key, t->to)->rkey;
    return true;
}

/* --- Requests that change a key --------------------------------------------------------------- */

/* Returns the next key of @k; skips the stale one, which a wrong request may be using. */
static uint32_t next_key(const struct key_story *k)
{
    const uint32_t next = (k->rkey & ~KEY_LOW) | ((k->rkey + 1) & KEY_LOW);

    return next != k->stale ? next : (next & ~KEY_LOW) | ((next + 1) & KEY_LOW);
}

/* Chooses how item @i's key changes next.  Returns false if no change is possible in its current
 * state.
 */
static bool make_change(struct world_run *r, uint16_t i, struct rdl_send_wr *wr)
{
    const struct world_item *t = &r->w->item[i];
    struct item_state *s = &r->item[i];
    const struct key_story *k = world_key_of(r, t->key, t->end);
    const unsigned host = r->w->end[t->end].host;
    const struct host_state *h = &r->host[host];
    const uint32_t next = next_key(k);
    const uint32_t bytes = r->w->host[host].memory_bytes;

    if (k->is_broken || k->is_changing || k->users > 0 || (t->key != KEY_FAST && !k->mw.raw))
        return false;
    if (k->is_valid && t->key != KEY_WINDOW_1) {
        s->opcode = wr->opcode = WR_LOCAL_INV;
        wr->invalidate_rkey = k->rkey;
        world_say(r, "post_send h%u.q%u wr_id=%u op=local_inv inv=0x%x signaled", host + 1, t->end,
                  i, k->rkey);
    } else if (t->key == KEY_FAST) {
        s->opcode = wr->opcode = WR_REG_MR;
        wr->reg.mr = h->mr[KEY_FAST];
        wr->reg.key = next;
        wr->reg.access = ACC_LOCAL_WRITE | REMOTE_ALL;
        world_say(r,
                  "post_send h%u.q%u wr_id=%u op=reg_mr mr=fast key=0x%x access=lw,rw,rr,ra "
                  "signaled",
                  host + 1, t->end, i, next);
    } else {
        s->opcode = wr->opcode = WR_BIND_MW;
        wr->bind_mw.mw = k->mw;
        wr->bind_mw.rkey = next;
        wr->bind_mw.mr = h->mr[KEY_OPEN];
        wr->bind_mw.addr = h->base;
        wr->bind_mw.length = bytes;
        wr->bind_mw.access = REMOTE_ALL;
        wr->bind_mw.type_1 = t->key == KEY_WINDOW_1;
        if (t->key == KEY_WINDOW_1)
            world_say(r, "bind_mw h%u.q%u one mr=open[0:%u] access=rw,rr,ra wr_id=%u signaled",
                      host + 1, t->end, bytes, i);
        else
            world_say(r,
                      "post_send h%u.q%u wr_id=%u op=bind_mw mw=w%u mr=open[0:%u] key=0x%x "
                      "access=rw,rr,ra signaled",
                      host + 1, t->end, i, t->end, bytes, next);
    }
    return true;
}

/* Records the new key. */
static void learn_key(struct world_run *r, const struct world_item *t)
{
    struct key_story *k = world_key_of(r, t->key, t->end);
    const struct host_state *h = &r->host[r->w->end[t->end].host];
    struct rdl_mw_info window;
    struct rdl_mr_info region;
    const uint32_t before = k->rkey;

    if (k->mw.raw && world_works(r, rdl_mw_info(r->lab, k->mw, &window), "a window has a key"))
        k->rkey = window.rkey;
    else if (!k->mw.raw &&
             world_works(r, rdl_mr_info(r->lab, h->mr[KEY_FAST], &region), "a region has a key"))
        k->rkey = region.rkey;
    k->stale = before;
}

/* --- Work requests ---------------------------------------------------------------------------- */

/* Writes the script line of the request. */
static void say_request(struct world_run *r, uint16_t i, const struct rdl_send_wr *wr, bool lazy)
{
    const struct world_item *t = &r->w->item[i];
    const struct item_state *s = &r->item[i];
    const unsigned here = r->w->end[t->end].host + 1u, there = r->w->end[t->to].host + 1u;
    char line[LINE_BYTES];
    struct text out = text_on(line, sizeof(line));

    if (!r->script)
        return;
    text_addf(&out, "post_send h%u.q%u wr_id=%u op=%s", here, t->end, i,
              enum_name(&enum_send_opcode, s->opcode));
    for (uint32_t p = 0; p < t->n_pieces; p++)
        text_addf(&out, "%s%s[%u:%u]", p == 0 ? " sge=" : ",",
                  t->mistake == LKEY_ALIEN && p == t->bad_piece       ? "alien"
                  : t->mistake == LKEY_READ_ONLY && p == t->bad_piece ? "look"
                                                                      : "mine",
                  t->piece[p].at, t->piece[p].at + t->piece[p].bytes);
    if (t->mistake == LKEY_UNKNOWN || t->mistake == BOTH_KEYS || t->mistake == LKEY_BEHIND ||
        t->mistake == LKEY_BEFORE)
        text_addf(&out, " lkey=0x%x", local_key(r, t, 0));
    if (world_has_imm(t))
        text_addf(&out, " imm=0x%02x%02x%02x%02x", wr->imm[0], wr->imm[1], wr->imm[2], wr->imm[3]);
    if (s->opcode == WR_SEND_WITH_INV)
        text_addf(&out, " inv=0x%x", wr->invalidate_rkey);
    if (world_is_write(t) || world_fetches(t)) {
        if (wr->remote_addr == r->host[there - 1].base + t->remote)
            text_addf(&out, " remote=h%u.open[%u]", there, t->remote);
        else
            text_addf(&out, " remote=0x%" PRIx64, wr->remote_addr);
        if (s->mistake == RIGHT && s->key < KEY_FAST)
            text_addf(&out, " rkey=h%u.%s", there, names[s->key]);
        else
            text_addf(&out, " rkey=0x%x", wr->rkey);
    }
    if (t->opcode == WR_ATOMIC_FETCH_AND_ADD)
        text_addf(&out, " add=%" PRIu64, wr->compare_add);
    if (t->opcode == WR_ATOMIC_CMP_AND_SWP)
        text_addf(&out, " compare=%" PRIu64 " swap=%" PRIu64, wr->compare_add, wr->swap);
    if (r->w->end[t->end].type == QPT_UD) {
        if (t->to_group)
            text_addf(&out, " ah=ag remote_qpn=%u", GROUP_QPN);
        else
            text_addf(&out, " ah=a%u remote_qpn=%u", there, wr->ud.remote_qpn);
        text_addf(&out, " remote_qkey=0x%x", wr->ud.remote_qkey);
    }
    world_say(r, "%s%s%s%s%s%s", line, t->flags & SF_SIGNALED ? " signaled" : "",
              t->flags & SF_SOLICITED ? " solicited" : "", t->flags & SF_FENCE ? " fence" : "",
              t->flags & SF_INLINE ? " inline" : "", lazy ? " nokick" : "");
}

static void aim(struct world_run *r, uint16_t i, struct rdl_send_wr *wr)
{
    const struct world_item *t = &r->w->item[i];
    struct item_state *s = &r->item[i];
    const struct host_state *here = &r->host[r->w->end[t->end].host];
    const struct host_state *there = &r->host[r->w->end[t->to].host];

    if (r->w->end[t->end].type == QPT_UD) {
        wr->ud.ah = t->to_group ? here->group : here->ah[r->w->end[t->to].host];
        wr->ud.remote_qpn = t->to_group ? GROUP_QPN : r->end[t->to].qpn;
        wr->ud.remote_qkey = t->mistake == QKEY_WRONG ? WRONG_QKEY : WORLD_QKEY;
        return;
    }
    wr->invalidate_rkey = s->rkey;
    wr->rkey = s->rkey;
    wr->remote_addr = there->base + t->remote;
    if (!world_is_remote_mistake(s->mistake) && s->key == KEY_ANEW)
        wr->remote_addr += there->key[KEY_ANEW].shift;
    if (world_is_atomic(t)) {
        uint8_t word[WORLD_WORD_BYTES] = {0};

        wr->compare_add = t->compare_add;
        wr->swap = t->swap;
        if (t->opcode == WR_ATOMIC_CMP_AND_SWP && t->compare_add % 2 != 0) {
            world_works(r,
                        rdl_mem_read(r->lab, there->host, there->base + (t->remote & ~7u), word,
                                     sizeof(word)),
                        "memory can be read");
            wr->compare_add = ld_le64(word);
        }
        s->compare = wr->compare_add;
    }
}

/* Overwrites the source of inline data, which a program may do at once. */
static void scribble(struct world_run *r, const struct world_item *t)
{
    uint8_t other[WORLD_INLINE_MAX];

    memset(other, 0xee, sizeof(other));
    for (uint32_t p = 0; p < t->n_pieces; p++)
        put_bytes(r, r->w->end[t->end].host, t->piece[p].at, other, t->piece[p].bytes);
}

static enum rdl_status post_request(struct world_run *r, uint16_t i, bool lazy)
{
    const struct world_item *t = &r->w->item[i];
    const struct item_state *s = &r->item[i];
    const struct host_state *h = &r->host[r->w->end[t->end].host];
    struct rdl_sge sge[WORLD_PIECES_MAX];
    struct rdl_send_wr wr = {.wr_id = i, .opcode = s->opcode, .flags = t->flags};
    uint8_t *message = r->have;
    enum rdl_status st;

    if (world_is_local(t)) {
        if (!make_change(r, i, &wr))
            return RDL_ERR_UNSUPPORTED;
        wr.flags = SF_SIGNALED;
        return rdl_post_send(r->lab, r->end[t->end].qp, &wr, false);
    }
    write_message(r, i, message);
    world_imm(i, wr.imm);
    for (uint32_t p = 0; p < t->n_pieces; p++)
        sge[p] = (struct rdl_sge){h->base + t->piece[p].at, t->piece[p].bytes, local_key(r, t, p)};
    if (t->flags & SF_INLINE) {
        wr.inline_data = message;
        wr.inline_bytes = t->bytes;
    } else {
        wr.sge = sge;
        wr.n_sge = t->n_pieces;
    }
    aim(r, i, &wr);
    say_request(r, i, &wr, lazy);
    st = rdl_post_send(r->lab, r->end[t->end].qp, &wr, lazy);
    if (t->flags & SF_INLINE)
        scribble(r, t);
    return st;
}

static enum rdl_status post_receive(struct world_run *r, uint16_t i, bool lazy)
{
    const struct world_item *t = &r->w->item[i];
    const struct world_end *e = &r->w->end[t->end];
    const struct host_state *h = &r->host[e->host];
    struct rdl_sge sge[WORLD_PIECES_MAX];
    const struct rdl_recv_wr wr = {.wr_id = i, .sge = sge, .n_sge = t->n_pieces};
    char line[LINE_BYTES];
    struct text out = text_on(line, sizeof(line));

    for (uint32_t p = 0; p < t->n_pieces; p++) {
        sge[p] = (struct rdl_sge){h->base + t->piece[p].at, t->piece[p].bytes, local_key(r, t, p)};
        text_addf(&out, "%s%s[%u:%u]", p == 0 ? "" : ",",
                  t->mistake == LKEY_ALIEN       ? "alien"
                  : t->mistake == LKEY_READ_ONLY ? "look"
                                                 : "mine",
                  t->piece[p].at, t->piece[p].at + t->piece[p].bytes);
    }
    if (t->mistake == LKEY_UNKNOWN)
        text_addf(&out, " lkey=0x%x", local_key(r, t, 0));
    if (e->has_srq) {
        world_say(r, "post_srq_recv h%u.srq wr_id=%u sge=%s%s", e->host + 1u, i, line,
                  lazy ? " nokick" : "");
        return rdl_post_srq_recv(r->lab, h->srq, &wr, lazy);
    }
    world_say(r, "post_recv h%u.q%u wr_id=%u sge=%s%s", e->host + 1u, t->end, i, line,
              lazy ? " nokick" : "");
    return rdl_post_recv(r->lab, r->end[t->end].qp, &wr, lazy);
}

void world_post(struct world_run *r, uint16_t i, bool lazy)
{
    const struct world_item *t = &r->w->item[i];
    enum rdl_status st;

    if (r->item[i].phase != ITEM_IDLE || !model_has_room(r, i) || !choose_key(r, i))
        return;
    st = t->is_recv ? post_receive(r, i, lazy) : post_request(r, i, lazy);
    if (st == RDL_ERR_UNSUPPORTED)
        return;
    world_expect(r, st == RDL_OK, i, "whatever there is room for can be posted");
    model_posted(r, i);
    if (world_is_local(t) && r->item[i].opcode != WR_LOCAL_INV)
        learn_key(r, t);
}
