/* SPDX-License-Identifier: MIT */
#include "emu/hca/mr.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/flush_access.h"
#include "emu/facts/roce.h"
#include "emu/hca/ctrl.h"

#define ACCESS_ALL                                                                                 \
    (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC | ACC_MW_BIND |      \
     ACC_ZERO_BASED)

/* Remote write and atomic access need local write access.
 * [IBTA1 11.2.8.2; ibv_reg_mr(3) says it of both]
 */
static bool has_local_write(unsigned access)
{
    return (access & (ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC)) == 0 || (access & ACC_LOCAL_WRITE);
}

/* The check_...() functions return REF_NONE or RFK_INVALID. */
static enum refusal_reason check_access(struct hca *h, unsigned access)
{
    const unsigned flush = flush_access_of_mr(h->profile);

    if ((access & ~(unsigned)(ACCESS_ALL | ACCESS_HINTS | flush)) != 0)
        return hca_refuse(h, REF_MR_ACCESS_FLAGS, compared_found(access));
    return has_local_write(access) ? REF_NONE
                                   : hca_refuse(h, REF_MR_LOCAL_WRITE, compared_nothing());
}

/* Number of pages of 1 << @bits bytes that hold the @length bytes from @start. */
static uint64_t pages_of(uint64_t start, uint64_t length, uint32_t bits)
{
    const uint64_t mask = ((uint64_t)1 << bits) - 1;

    return ((start & mask) + length + mask) >> bits;
}

/* The smallest page size with which exactly @n pages hold the @length bytes from @start, as its
 * binary logarithm; 0 if there is none.  A driver can use the smallest size that makes its number
 * of pages, so that the number tells the size.  [decision 0063]
 */
static uint32_t page_bits_for(const struct hca *h, uint64_t start, uint64_t length, uint32_t n)
{
    for (uint32_t bits = RAM_PAGE_BITS; bits < 64 && h->limits.page_sizes >> bits; bits++) {
        if ((h->limits.page_sizes >> bits & 1u) && pages_of(start, length, bits) == n)
            return bits;
    }
    return 0;
}

/* Checks that the pages of @list hold exactly the @length bytes from its start, and that all are
 * pages of RAM.  Sets their size.
 */
static enum refusal_reason check_pages(struct hca *h, struct page_list *list, uint64_t length)
{
    list->bits = page_bits_for(h, list->start, length, list->n);
    if (list->bits == 0)
        return hca_refuse(h, REF_MR_PAGE_COUNT,
                          compared_one(pages_of(list->start, length, RAM_PAGE_BITS), list->n));
    for (uint32_t i = 0; i < list->n; i++) {
        const uint64_t page_bytes = (uint64_t)1 << list->bits, at = list->gpa[i];

        if ((at & (page_bytes - 1)) != 0 || !ram_holds(h->ram, at, page_bytes))
            return hca_refuse(h, REF_PAGE_MEMORY, compared_found(at));
    }
    return REF_NONE;
}

static enum refusal_reason check_range(struct hca *h, uint64_t addr, uint64_t length)
{
    if (length == 0 || length > h->limits.max_mr_bytes)
        return hca_refuse(h, REF_MR_LENGTH, compared_range(1, h->limits.max_mr_bytes, length));
    return addr <= UINT64_MAX - length ? REF_NONE
                                       : hca_refuse(h, REF_MR_ADDRESS_WRAPS, compared_nothing());
}

static enum refusal_reason check_offset(struct hca *h, const struct mr_request *req)
{
    const uint64_t start = req->start & KEY_PAGE_MASK, addr = req->virt_addr & KEY_PAGE_MASK;

    if ((req->access & ACC_ZERO_BASED) && req->virt_addr != 0)
        return hca_refuse(h, REF_MR_PAGE_OFFSET, compared_one(0, req->virt_addr));
    if (!(req->access & ACC_ZERO_BASED) && addr != start)
        return hca_refuse(h, REF_MR_PAGE_OFFSET, compared_one(start, addr));
    return REF_NONE;
}

/* Returns the page list of @req in *@ret_list if the request is allowed. */
static enum refusal_reason check_request(struct hca *h, const struct mr_request *req,
                                         struct page_list *ret_list)
{
    struct page_list list = {.start = req->start, .gpa = req->pages, .n = req->n_pages};
    enum refusal_reason why = check_access(h, req->access);

    if (why == REF_NONE)
        why = check_range(h, req->virt_addr, req->length);
    if (why == REF_NONE)
        why = check_offset(h, req);
    if (why == REF_NONE)
        why = check_pages(h, &list, req->length);
    if (why == REF_NONE)
        *ret_list = list;
    return why;
}

enum refusal_reason hca_mr_create(struct hca *h, const struct mr_request *req, struct mkey **ret)
{
    struct pd *pd = hca_pd(h, req->pdn);
    struct page_list list;
    struct mkey *k;
    enum refusal_reason why;

    if (!pd)
        return hca_refuse(h, REF_PD_HANDLE, compared_found(req->pdn));
    why = check_request(h, req, &list);
    if (why != REF_NONE)
        return why;
    why = key_new(h, KEY_USER_MR, pd, (struct key_room){.pages = req->n_pages}, &k);
    if (why != REF_NONE)
        return why;
    key_pages_set(&k->pages, &list);
    k->addr = req->virt_addr;
    k->bytes = req->length;
    k->access = req->access & ~(unsigned)ACCESS_HINTS;
    k->state = KEY_VALID;
    *ret = k;
    return REF_NONE;
}

/* The complete request for the changed region: parts not in @what are taken from @k. */
static struct mr_request changed(const struct mkey *k, unsigned what, const struct mr_request *req)
{
    struct mr_request r = {
        .pdn = what & REREG_PD ? req->pdn : k->pdn,
        .access = what & REREG_ACCESS ? req->access : k->access,
        .start = k->pages.offset,
        .length = k->bytes,
        .virt_addr = k->addr,
        .pages = k->pages.gpa,
        .n_pages = k->pages.n,
    };

    if (what & REREG_TRANSLATION) {
        r.start = req->start;
        r.length = req->length;
        r.virt_addr = req->virt_addr;
        r.pages = req->pages;
        r.n_pages = req->n_pages;
    }
    return r;
}

enum refusal_reason hca_mr_change(struct hca *h, uint32_t mrn, unsigned what,
                                  const struct mr_request *req, struct mkey **ret)
{
    struct mkey *k = key_at(h, mrn);
    struct page_list list;
    struct key_pages pages;
    struct mr_request r;
    enum refusal_reason why;

    if (!k || key_is_window(k))
        return hca_refuse(h, REF_MR_HANDLE, compared_found(mrn));
    if (k->kind != KEY_USER_MR)
        return hca_refuse(h, REF_MR_KIND, compared_nothing());
    if (what == 0 || (what & ~REREG_ALL) != 0)
        return hca_refuse(h, REF_REREG_FLAGS, compared_range(1, REREG_ALL, what));
    r = changed(k, what, req);
    if (!hca_pd(h, r.pdn))
        return hca_refuse(h, REF_PD_HANDLE, compared_found(r.pdn));
    if (k->n_windows > 0)
        return hca_refuse(h, REF_MR_IN_USE, compared_at_most(0, k->n_windows));
    why = check_request(h, &r, &list);
    if (why != REF_NONE)
        return why;
    if (!key_pages_new(h, r.n_pages, &pages))
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());

    key_pages_set(&pages, &list);
    key_pages_free(h, &k->pages);
    k->pages = pages;
    hca_pd(h, k->pdn)->users--;
    hca_pd(h, r.pdn)->users++;
    k->pdn = r.pdn;
    k->access = r.access & ~(unsigned)ACCESS_HINTS;
    k->addr = r.virt_addr;
    k->bytes = r.length;
    key_renew(h, k);
    *ret = k;
    return REF_NONE;
}

enum refusal_reason hca_dma_mr_create(struct hca *h, uint32_t pdn, unsigned access,
                                      struct mkey **ret)
{
    struct pd *pd = hca_pd(h, pdn);
    struct mkey *k;
    enum refusal_reason why;

    if (!pd)
        return hca_refuse(h, REF_PD_HANDLE, compared_found(pdn));
    why = check_access(h, access);
    if (why != REF_NONE)
        return why;
    why = key_new(h, KEY_DMA_MR, pd, (struct key_room){0}, &k);
    if (why != REF_NONE)
        return why;
    k->bytes = h->ram->bytes;
    k->access = access & ~(unsigned)ACCESS_HINTS;
    k->state = KEY_VALID;
    h->ram_is_open = h->ram_is_open || (k->access & ACC_LOCAL_WRITE) != 0;
    *ret = k;
    return REF_NONE;
}

enum refusal_reason hca_fast_mr_create(struct hca *h, uint32_t pdn, unsigned access,
                                       uint32_t max_pages, struct mkey **ret)
{
    struct pd *pd = hca_pd(h, pdn);
    struct mkey *k;
    enum refusal_reason why;

    if (!pd)
        return hca_refuse(h, REF_PD_HANDLE, compared_found(pdn));
    why = check_access(h, access);
    if (why != REF_NONE)
        return why;
    if (max_pages == 0 || max_pages > h->limits.max_fast_pages)
        return hca_refuse(h, REF_FAST_PAGES,
                          compared_range(1, h->limits.max_fast_pages, max_pages));
    why = key_new(h, KEY_FAST_MR, pd, (struct key_room){max_pages, max_pages}, &k);
    if (why != REF_NONE)
        return why;
    k->allocated_access = access & ~(unsigned)ACCESS_HINTS;
    *ret = k;
    return REF_NONE;
}

enum refusal_reason hca_mr_map(struct hca *h, uint32_t mrn, const struct mr_map *map)
{
    struct page_list list = {.start = map->start, .gpa = map->pages, .n = map->n_pages};
    struct mkey *k = key_at(h, mrn);
    enum refusal_reason why;

    if (!k || key_is_window(k))
        return hca_refuse(h, REF_MR_HANDLE, compared_found(mrn));
    if (k->kind != KEY_FAST_MR)
        return hca_refuse(h, REF_MR_KIND, compared_nothing());
    if (map->n_pages == 0 || map->n_pages > k->next.room)
        return hca_refuse(h, REF_MR_ROOM, compared_range(1, k->next.room, map->n_pages));
    why = check_range(h, map->start, map->length);
    if (why == REF_NONE)
        why = check_pages(h, &list, map->length);
    if (why != REF_NONE)
        return why;
    key_pages_set(&k->next, &list);
    k->next_addr = map->start;
    k->next_bytes = map->length;
    return REF_NONE;
}

enum refusal_reason hca_mr_destroy(struct hca *h, uint32_t mrn)
{
    struct mkey *k = key_at(h, mrn);

    if (!k || key_is_window(k))
        return hca_refuse(h, REF_MR_HANDLE, compared_found(mrn));
    if (k->n_windows > 0)
        return hca_refuse(h, REF_MR_IN_USE, compared_at_most(0, k->n_windows));
    key_free(h, k);
    return REF_NONE;
}

/* Number of pages of the longest region allowed.  One more than its length needs, because a region
 * can begin within a page.
 */
static uint64_t list_pages_max(const struct hca *h)
{
    return ((h->limits.max_mr_bytes + RAM_PAGE_BYTES - 1) >> RAM_PAGE_BITS) + 1;
}

void hca_list_free(struct hca *h, struct listed_pages *list)
{
    if (list->gpa)
        arena_release(h->arena, list->gpa, list->n * sizeof(*list->gpa));
    list->gpa = NULL;
}

enum refusal_reason hca_list_read(struct hca *h, uint64_t gpa, uint32_t n, struct listed_pages *ret)
{
    struct listed_pages list = {.n = n};

    if (n == 0 || n > list_pages_max(h))
        return hca_refuse(h, REF_PAGE_LIST_LENGTH, compared_range(1, list_pages_max(h), n));
    list.gpa = arena_alloc_raw(h->arena, n * sizeof(*list.gpa));
    if (!list.gpa)
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    if (!ram_read(h->ram, gpa, list.gpa, n * sizeof(*list.gpa))) {
        hca_list_free(h, &list);
        return hca_refuse(h, REF_PAGE_LIST_MEMORY, compared_found(gpa));
    }
    for (uint32_t i = 0; i < n; i++) {
        uint8_t le[8];

        memcpy(le, &list.gpa[i], sizeof(le));
        list.gpa[i] = ld_le64(le);
    }
    *ret = list;
    return REF_NONE;
}

/* The rule of a work request that stands for @why, by which a page list is refused. */
static enum rule list_rule(enum refusal_reason why)
{
    switch (why) {
    case REF_NONE:
        return RULE_NONE;
    case REF_MR_LENGTH:
    case REF_MR_ADDRESS_WRAPS:
        return RULE_REG_LIST_LENGTH;
    case REF_PAGE_LIST_MEMORY:
    case REF_PAGE_MEMORY:
        return RULE_REG_LIST_MEMORY;
    default:
        return RULE_REG_LIST_PAGES;
    }
}

struct objection key_map_list(struct hca *h, const struct reg_request *req)
{
    const struct refused before = h->refused; /* of a control request that is executed */
    const struct mkey *k = key_at(h, req->mrn);
    struct listed_pages list = {0};
    enum refusal_reason why = REF_NONE;
    struct objection out;

    if (req->n_pages > k->next.room)
        why = hca_refuse(h, REF_MR_ROOM, compared_range(1, k->next.room, req->n_pages));
    if (why == REF_NONE)
        why = hca_list_read(h, req->pages, req->n_pages, &list);
    if (why == REF_NONE)
        why = hca_mr_map(h, req->mrn,
                         &(struct mr_map){req->start, req->length, list.gpa, req->n_pages});
    hca_list_free(h, &list);
    out = (struct objection){list_rule(why), h->refused.values};
    if (why == REF_NONE || why == REF_DEVICE_MEMORY)
        out.values = compared_nothing();
    h->refused = before;
    return out;
}

struct objection key_check_reg(const struct hca *h, const struct key_user *user,
                               const struct reg_request *req)
{
    const struct mkey *k = key_at(h, req->mrn);
    const unsigned access = req->access & ~(unsigned)ACCESS_HINTS;

    if (!k || k->kind != KEY_FAST_MR || key_number(req->key) != req->mrn)
        return (struct objection){.rule = RULE_REG_REGION};
    if (k->pdn != user->pdn)
        return (struct objection){RULE_MR_PD, compared_one(k->pdn, user->pdn)};
    if (k->state != KEY_FREE)
        return (struct objection){.rule = RULE_REG_STATE};
    if ((req->has_list ? req->n_pages : k->next.n) == 0)
        return (struct objection){.rule = RULE_REG_PAGES};
    if (!has_local_write(access) || (access & ~(k->allocated_access | ACC_ZERO_BASED)) != 0)
        return (struct objection){RULE_REG_ACCESS, compared_one(k->allocated_access, access)};
    return (struct objection){.rule = RULE_NONE};
}

void key_reg(struct hca *h, const struct reg_request *req)
{
    struct mkey *k = key_at(h, req->mrn);

    RDL_ASSERT(k && k->kind == KEY_FAST_MR && k->state == KEY_FREE && k->next.n > 0);
    key_pages_set(&k->pages,
                  &(struct page_list){k->next.offset, k->next.gpa, k->next.n, k->next.bits});
    k->key = req->key;
    k->access = req->access & ~(unsigned)ACCESS_HINTS;
    k->addr = req->access & ACC_ZERO_BASED ? 0 : k->next_addr;
    k->bytes = k->next_bytes;
    k->state = KEY_VALID;
}
