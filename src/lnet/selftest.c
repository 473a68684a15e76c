/* SPDX-License-Identifier: MIT */
/* The parts common to client and server of a test: requests and replies as bytes, memory
 * descriptors, and the way from an event to its RPC.
 *
 *	request: magic u32, op u32, reply bits u64, bulk bits u64, seed u64, size u32; 64 bytes
 *	reply:   magic u32, status s32, reply bits u64, wrong bytes u64, offset of the first u32; 32
 *
 * Both are little-endian.
 */
#include "lnet/selftest.h"

#include <errno.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "lnet/selftest_internal.h"

#define REQUEST_MAGIC 0x51455253u
#define REPLY_MAGIC   0x50455253u

/* Places in the user value of a memory descriptor. */
#define TAG         0x5e1fu
#define TAG_SHIFT   48u
#define OWNER_SHIFT 40u
#define PART_SHIFT  32u

struct selftest *selftest_new(const struct lnd_ops *ops, void *ctx)
{
    struct selftest *st = ops->alloc(ctx, sizeof(*st));

    if (!st)
        return NULL;
    st->ops = ops;
    st->ctx = ctx;
    return st;
}

void selftest_free(struct selftest *st)
{
    if (!st)
        return;
    selftest_batch_free(st);
    selftest_server_free(st);
    st->ops->free(st->ctx, st, sizeof(*st));
}

int selftest_slots_new(struct selftest *st, struct selftest_slots *s, uint32_t n, uint8_t owner)
{
    s->slots = st->ops->alloc(st->ctx, n * sizeof(*s->slots));
    if (!s->slots)
        return -ENOMEM;
    s->n = n;
    s->pages = st->ops->pages(st->ctx, (uint64_t)n * SELFTEST_BUF_BYTES);
    if (s->pages == 0) {
        selftest_slots_free(st, s);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        s->slots[i].owner = owner;
        s->slots[i].buf = s->pages + (uint64_t)i * SELFTEST_BUF_BYTES;
        s->slots[i].data.ops = st->ops;
        s->slots[i].data.ctx = st->ctx;
    }
    return 0;
}

void selftest_slots_free(struct selftest *st, struct selftest_slots *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        selftest_unlink(st, &s->slots[i]);
        selftest_data_free(&s->slots[i].data);
    }
    if (s->pages)
        st->ops->pages_free(st->ctx, s->pages, (uint64_t)s->n * SELFTEST_BUF_BYTES);
    if (s->slots)
        st->ops->free(st->ctx, s->slots, s->n * sizeof(*s->slots));
    *s = (struct selftest_slots){0};
}

/* Returns the slots of @owner; NULL: there is no such test. */
static const struct selftest_slots *slots_of(const struct selftest *st, uint32_t owner)
{
    if (owner == SELFTEST_SERVER)
        return &st->server.slots;
    return owner < st->n_tests ? &st->tests[owner]->slots : NULL;
}

/* The fragments of part @part of @slot. */
static void fragments_of(const struct selftest_slot *slot, enum selftest_part part,
                         struct lnet_md *ret)
{
    switch (part) {
    case SELFTEST_PART_REQUEST:
        ret->n = 1;
        ret->frags[0] = (struct lnet_frag){SELFTEST_REQUEST_BYTES, slot->buf};
        break;
    case SELFTEST_PART_REPLY:
        ret->n = 1;
        ret->frags[0] =
            (struct lnet_frag){SELFTEST_REPLY_BYTES, slot->buf + SELFTEST_REQUEST_BYTES};
        break;
    default:
        ret->n = slot->data.n;
        memcpy(ret->frags, slot->data.frags, slot->data.n * sizeof(ret->frags[0]));
        break;
    }
}

int selftest_link(struct selftest *st, struct selftest_slot *slot, enum selftest_part part,
                  const struct lnet_match *match, uint32_t options)
{
    const ptrdiff_t i = slot - slots_of(st, slot->owner)->slots;
    struct lnet_md md = {.options = options, .threshold = 1};

    md.user = (uint64_t)TAG << TAG_SHIFT | (uint64_t)slot->owner << OWNER_SHIFT |
              (uint64_t)part << PART_SHIFT | (uint64_t)i;
    fragments_of(slot, part, &md);
    return match ? lnet_attach(st->node, match, &md, &slot->md[part])
                 : lnet_bind(st->node, &md, &slot->md[part]);
}

void selftest_unlink(struct selftest *st, struct selftest_slot *slot)
{
    for (uint32_t i = 0; i < SELFTEST_PARTS; i++) {
        if (slot->md[i] && lnet_unlink(st->node, slot->md[i]) != -EBUSY)
            slot->md[i] = 0;
    }
}

bool selftest_is_unlinked(const struct selftest_slot *slot)
{
    for (uint32_t i = 0; i < SELFTEST_PARTS; i++) {
        if (slot->md[i])
            return false;
    }
    return true;
}

bool selftest_owns(const struct lnet_event *e)
{
    return e->user >> TAG_SHIFT == TAG;
}

void selftest_listener(void *selftest, const struct lnet_event *e)
{
    struct selftest *st = selftest;
    const uint32_t owner = (uint32_t)(e->user >> OWNER_SHIFT & 0xff);
    const struct selftest_slots *s = slots_of(st, owner);
    const enum selftest_part part = (enum selftest_part)(e->user >> PART_SHIFT & 0xff);
    const uint32_t i = (uint32_t)e->user;
    struct selftest_slot *slot;

    if (!selftest_owns(e) || part >= SELFTEST_PARTS || !s || i >= s->n)
        return;
    slot = &s->slots[i];
    if (e->unlinked)
        slot->md[part] = 0;
    if (owner == SELFTEST_SERVER)
        selftest_server_event(st, slot, part, e);
    else
        selftest_client_event(st, slot, part, e);
}

bool selftest_put_request(struct selftest *st, const struct selftest_slot *slot)
{
    const struct selftest_request *r = &slot->request;
    uint8_t b[SELFTEST_REQUEST_BYTES] = {0};

    st_le32(b, REQUEST_MAGIC);
    st_le32(b + 4, r->op);
    st_le64(b + 8, r->reply_bits);
    st_le64(b + 16, r->bulk_bits);
    st_le64(b + 24, r->seed);
    st_le32(b + 32, r->size);
    return st->ops->write(st->ctx, slot->buf, b, sizeof(b));
}

bool selftest_take_request(struct selftest *st, struct selftest_slot *slot)
{
    struct selftest_request *r = &slot->request;
    uint8_t b[SELFTEST_REQUEST_BYTES];

    if (!st->ops->read(st->ctx, slot->buf, b, sizeof(b)) || ld_le32(b) != REQUEST_MAGIC)
        return false;
    r->op = ld_le32(b + 4);
    r->reply_bits = ld_le64(b + 8);
    r->bulk_bits = ld_le64(b + 16);
    r->seed = ld_le64(b + 24);
    r->size = ld_le32(b + 32);
    return r->op <= SELFTEST_WRITE && r->size <= LNET_MTU;
}

bool selftest_put_reply(struct selftest *st, const struct selftest_slot *slot,
                        const struct selftest_reply *r)
{
    uint8_t b[SELFTEST_REPLY_BYTES] = {0};

    st_le32(b, REPLY_MAGIC);
    st_le32(b + 4, (uint32_t)r->status);
    st_le64(b + 8, r->reply_bits);
    st_le64(b + 16, r->bad.n);
    st_le32(b + 24, r->bad.at);
    return st->ops->write(st->ctx, slot->buf + SELFTEST_REQUEST_BYTES, b, sizeof(b));
}

bool selftest_take_reply(struct selftest *st, const struct selftest_slot *slot,
                         struct selftest_reply *ret)
{
    uint8_t b[SELFTEST_REPLY_BYTES];

    if (!st->ops->read(st->ctx, slot->buf + SELFTEST_REQUEST_BYTES, b, sizeof(b)) ||
        ld_le32(b) != REPLY_MAGIC)
        return false;
    ret->status = (int32_t)ld_le32(b + 4);
    ret->reply_bits = ld_le64(b + 8);
    ret->bad.n = ld_le64(b + 16);
    ret->bad.at = ld_le32(b + 24);
    return ret->reply_bits == slot->request.reply_bits && ret->status <= 0;
}

void selftest_count(const struct selftest *st, const struct selftest_slot *slot,
                    struct selftest_result *r)
{
    const uint64_t now = st->ops->now_ns(st->ctx);
    const uint64_t took = now - slot->begun_ns;

    r->ended_ns = now;
    if (slot->status == 0) {
        r->min_ns = r->good == 0 || took < r->min_ns ? took : r->min_ns;
        r->max_ns = took > r->max_ns ? took : r->max_ns;
        r->sum_ns += took;
        r->good++;
        r->bytes += slot->request.op == SELFTEST_PING ? 0 : slot->request.size;
        return;
    }
    if (r->error == 0)
        r->error = slot->status;
    r->failed++;
    r->timeouts += slot->is_late;
    if (slot->bad.n > 0) {
        r->bad_at = r->corrupt == 0 ? slot->bad.at : r->bad_at;
        r->corrupt++;
        r->bad_bytes += slot->bad.n;
    }
}

uint64_t selftest_first_due(const struct selftest_slots *s, uint64_t timeout_ns)
{
    uint64_t first = 0;

    for (uint32_t i = 0; timeout_ns && i < s->n; i++) {
        const struct selftest_slot *slot = &s->slots[i];
        const uint64_t due = slot->begun_ns + timeout_ns;

        if (slot->is_busy && !slot->is_late && (first == 0 || due < first))
            first = due;
    }
    return first;
}

uint64_t selftest_deadline_ns(const struct selftest *st)
{
    uint64_t first = selftest_first_due(&st->server.slots, st->server.config.timeout_ns);

    for (uint32_t i = 0; i < st->n_tests; i++) {
        const struct selftest_client *c = st->tests[i];
        const uint64_t due = selftest_first_due(&c->slots, c->config.timeout_ns);

        if (due > 0 && (first == 0 || due < first))
            first = due;
    }
    return first;
}

void selftest_expire(struct selftest *st)
{
    const uint64_t now = st->ops->now_ns(st->ctx);

    for (uint32_t i = 0; i < st->n_tests; i++)
        selftest_client_expire(st, st->tests[i], now);
    selftest_server_expire(st, now);
}
