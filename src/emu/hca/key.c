/* SPDX-License-Identifier: MIT */
#include "emu/hca/key.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/copy.h"
#include "emu/facts/profile.h"
#include "emu/hca/ctrl.h"

/* Memory for each page of a list. */
#define PAGE_ROOM_BYTES (sizeof(uint64_t) + sizeof(uint8_t *))

bool key_pages_new(struct hca *h, uint32_t n, struct key_pages *ret)
{
    *ret = (struct key_pages){.room = n};
    if (n > 0)
        ret->gpa = arena_alloc(h->arena, n * PAGE_ROOM_BYTES);
    if (ret->gpa)
        ret->found = (uint8_t **)(ret->gpa + n);
    return n == 0 || ret->gpa;
}

void key_pages_free(struct hca *h, struct key_pages *p)
{
    if (p->gpa)
        arena_release(h->arena, p->gpa, p->room * PAGE_ROOM_BYTES);
    *p = (struct key_pages){0};
}

static void forget_found(struct key_pages *p)
{
    RDL_ASSERT(p->n > 0);
    memset(p->found, 0, p->n * sizeof(*p->found));
    p->near = p->near_end = 0;
}

void key_pages_set(struct key_pages *p, const struct page_list *list)
{
    const uint64_t page_bytes = (uint64_t)1 << list->bits, *pages = list->gpa;

    RDL_ASSERT(list->n <= p->room);
    p->bits = list->bits;
    p->offset = (uint32_t)(list->start & (page_bytes - 1));
    p->n = list->n;
    memcpy(p->gpa, pages, p->n * sizeof(*pages));
    forget_found(p);
    p->lent = p->n > 0 && ram_is_lent(pages[0]);
    for (uint32_t i = 1; i < p->n && p->lent; i++)
        p->lent = pages[i] == pages[0] + i * page_bytes;
}

uint8_t *key_find_page(const struct hca *h, struct mkey *mr, uint64_t page)
{
    struct key_pages *p = &mr->pages;

    if (p->forgotten != h->ram->forgotten)
        forget_found(p);
    p->forgotten = h->ram->forgotten;
    RDL_ASSERT(!p->found[page]);
    p->found[page] = ram_page(h->ram, p->gpa[page] >> RAM_PAGE_BITS);
    return p->found[page];
}

/* The counter of objects that the limit for @k applies to. */
static uint32_t *count_of(struct hca *h, const struct mkey *k)
{
    return key_is_window(k) ? &h->n_mw : &h->n_mr;
}

static void discard(struct hca *h, struct mkey *k)
{
    key_pages_free(h, &k->pages);
    key_pages_free(h, &k->next);
    arena_release(h->arena, k, sizeof(*k));
}

enum refusal_reason key_new(struct hca *h, enum key_kind kind, struct pd *pd, struct key_room room,
                            struct mkey **ret)
{
    struct mkey *k = arena_alloc(h->arena, sizeof(*k));
    enum refusal_reason why;
    uint32_t *count, max;
    uint64_t name;

    if (!k)
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    *k = (struct mkey){.kind = kind, .state = KEY_FREE, .pdn = pd->pdn};
    count = count_of(h, k);
    max = key_is_window(k) ? h->limits.max_mw : h->limits.max_mr;
    if (*count >= max) { /* the limit may have been reduced */
        why = key_is_window(k) ? REF_MW_LIMIT : REF_MR_LIMIT;
        discard(h, k);
        return hca_refuse(h, why, compared_at_most(max, (uint64_t)max + 1));
    }
    if (!key_pages_new(h, room.pages, &k->pages) || !key_pages_new(h, room.next, &k->next)) {
        discard(h, k);
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    }
    name = slots_add(&h->mkeys, k);
    if (name == 0) {
        discard(h, k);
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    }
    k->key = (slots_index(name) + 1) << 8 | (uint32_t)prng_below(&h->keys, 256);
    ++*count;
    pd->users++;
    *ret = k;
    return REF_NONE;
}

void key_free(struct hca *h, struct mkey *k)
{
    RDL_ASSERT(k->n_windows == 0 && !k->region);
    --*count_of(h, k);
    hca_pd(h, k->pdn)->users--;
    slots_remove(&h->mkeys, slots_name(&h->mkeys, key_number(k->key) - 1));
    discard(h, k);
}

void key_renew(struct hca *h, struct mkey *k)
{
    const uint32_t other = (uint32_t)prng_below(&h->keys, 255) + 1;

    k->key = (k->key & ~0xffu) | ((k->key + other) & 0xffu);
}

bool key_is_lent(const struct hca *h, uint32_t key)
{
    uint64_t addr = 0;

    return key_region(h, key, &addr)->pages.lent;
}

uint32_t key_piece(const struct mkey *mr, uint64_t addr, uint64_t bytes, uint64_t *gpa,
                   struct key_piece *ret)
{
    const struct key_pages *p = &mr->pages;
    uint64_t offset, first, n;

    if (mr->kind == KEY_DMA_MR) { /* all of RAM is one page */
        *ret = (struct key_piece){.bits = 63, .bytes = bytes};
        *gpa = addr;
        return 1;
    }
    offset = addr - mr->addr + p->offset;
    first = offset >> p->bits;
    n = ((offset + bytes - 1) >> p->bits) - first + 1;
    *ret = (struct key_piece){p->bits, offset - (first << p->bits), bytes};
    memcpy(gpa, p->gpa + first, n * sizeof(*gpa));
    return (uint32_t)n;
}

/* Extends the pages that are known to follow each other from page @first on, up to page @end, which
 * is the most that there can be.
 */
static void extend_near(const struct hca *h, struct mkey *mr, uint64_t first, uint64_t end)
{
    struct key_pages *p = &mr->pages;

    if (first < p->near || first >= p->near_end) {
        p->near = (uint32_t)first;
        p->near_end = (uint32_t)first + 1;
    }
    while (p->near_end < end) {
        const uint8_t *before = p->found[p->near_end - 1];
        const uint8_t *next =
            p->found[p->near_end] ? p->found[p->near_end] : key_find_page(h, mr, p->near_end);

        if (next != before + RAM_PAGE_BYTES)
            return;
        p->near_end++;
    }
}

struct key_place key_stretch(const struct hca *h, struct mkey *mr, uint64_t addr, size_t bytes)
{
    struct key_place at = key_place(h, mr, addr, bytes);
    uint64_t offset, last, left;

    if (!at.bytes || at.run == bytes)
        return at;
    offset = addr - mr->addr + mr->pages.offset;
    last = (offset + bytes - 1) >> RAM_PAGE_BITS;
    extend_near(h, mr, offset >> RAM_PAGE_BITS, last + 1);
    left = ((uint64_t)mr->pages.near_end << RAM_PAGE_BITS) - offset;
    at.run = left < bytes ? (size_t)left : bytes;
    return at;
}

void key_copy_out(const struct hca *h, uint32_t key, uint64_t addr, void *out, size_t bytes)
{
    uint64_t at = addr;
    struct mkey *mr = key_region(h, key, &at);
    uint8_t *to = out;
    size_t run;

    if (mr->pages.lent) {
        (void)ram_read(h->ram, key_lent_gpa(mr, at), out, bytes);
        return;
    }
    for (; bytes > 0; bytes -= run, addr += run, to += run) {
        const uint8_t *from = key_look(h, key, addr, bytes, &run);

        memcpy(to, from, run);
    }
}

void key_copy_in(struct hca *h, uint32_t key, uint64_t addr, const void *in, size_t bytes)
{
    struct mkey *mr = key_region(h, key, &addr);
    const uint8_t *from = in;

    if (mr->pages.lent) {
        (void)ram_write(h->ram, key_lent_gpa(mr, addr), in, bytes);
        return;
    }
    while (bytes > 0) {
        const struct key_place to = key_place(h, mr, addr, bytes);

        if (to.bytes) {
            copy_payload(to.bytes, from, to.run);
        } else {
            const bool ok = ram_write_run(h->ram, to.gpa, from, to.run);

            /* A full arena ends the lab with this tick.  Foreign RAM may have been removed, lent
             * memory given back.
             */
            RDL_ASSERT(ok || arena_is_short(h->arena) || h->ram->foreign || ram_is_lent(to.gpa));
        }
        bytes -= to.run;
        addr += to.run;
        from += to.run;
    }
}

bool key_reaches_region(const struct hca *h, const struct mkey *k, uint64_t addr, uint64_t bytes)
{
    const struct mkey *r = k->region;

    return r && !profile_has(h->profile, TRAIT_WINDOW_BOUNDS_CHECKED) &&
           !key_is_outside(r->addr, r->bytes, addr - k->addr + k->region_addr, bytes);
}

struct compared key_range_compared(uint64_t start, uint64_t len, uint64_t addr, uint64_t bytes)
{
    const uint64_t most = start + len - 1;
    uint64_t found = addr;

    if (addr >= start && addr <= most)
        found = bytes > UINT64_MAX - addr ? UINT64_MAX : addr + bytes - 1;
    return (struct compared){start, most, found};
}

struct objection key_objection(const struct hca *h, uint32_t key, const struct key_user *user,
                               uint64_t addr, uint64_t bytes, unsigned access)
{
    const struct mkey *k = key_at(h, key_number(key)); /* may have another low byte */
    struct objection o = {.rule = key_check(h, key, user, addr, bytes, access)};

    if (!k)
        return o;
    switch (o.rule) {
    case RULE_MR_KEY:
        o.values = compared_one(k->key, key);
        break;
    case RULE_MR_PD:
        o.values = compared_one(k->pdn, user->pdn);
        break;
    case RULE_KEY_QP:
        o.values = compared_one(k->qpn, user->qpn);
        break;
    case RULE_MR_RANGE:
        o.values = key_range_compared(k->addr, k->bytes, addr, bytes);
        break;
    case RULE_MR_ACCESS:
        o.values = compared_one(access, k->access);
        break;
    default:
        break;
    }
    return o;
}
