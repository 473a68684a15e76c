/* SPDX-License-Identifier: MIT */
#include "emu/hca/mr.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/device.h"

#define ACCESS_ALL                                                                                 \
    (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC | ACC_MW_BIND |      \
     ACC_ZERO_BASED)

/* [IBTA1 11.2.8.2; ibv_reg_mr(3) says it of both] */
static bool access_is_sound(unsigned access)
{
    if ((access & ~(unsigned)(ACCESS_ALL | ACCESS_HINTS)) != 0)
        return false;
    return (access & (ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC)) == 0 || (access & ACC_LOCAL_WRITE);
}

/* Do @n pages hold @length bytes from @start on? */
static bool pages_fit(uint64_t start, uint64_t length, uint32_t n)
{
    return n == ((start & KEY_PAGE_MASK) + length + KEY_PAGE_MASK) >> RAM_PAGE_BITS;
}

static bool range_is_sound(const struct hca *h, const struct mr_request *req)
{
    if (req->length == 0 || req->length > h->limits.max_mr_bytes ||
        req->virt_addr > UINT64_MAX - req->length)
        return false;
    if (req->access & ACC_ZERO_BASED ? req->virt_addr != 0
                                     : ((req->virt_addr ^ req->start) & KEY_PAGE_MASK) != 0)
        return false;
    return pages_fit(req->start, req->length, req->n_pages);
}

static bool pages_are_ram(const struct hca *h, const uint64_t *pages, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if ((pages[i] & KEY_PAGE_MASK) != 0 || !ram_holds(h->ram, pages[i], RAM_PAGE_BYTES))
            return false;
    }
    return true;
}

static bool is_sound(const struct hca *h, const struct mr_request *req)
{
    return access_is_sound(req->access) && range_is_sound(h, req) &&
           pages_are_ram(h, req->pages, req->n_pages);
}

enum ctrl_rsp hca_mr_create(struct hca *h, const struct mr_request *req, struct mkey **ret)
{
    struct pd *pd = hca_pd(h, req->pdn);
    struct mkey *k;
    enum ctrl_rsp rsp;

    if (!pd)
        return RSP_BAD_HANDLE;
    if (!is_sound(h, req))
        return RSP_INVALID_ARG;
    rsp = key_new(h, KEY_USER_MR, pd, (struct key_room){.pages = req->n_pages}, &k);
    if (rsp != RSP_OK)
        return rsp;
    key_pages_set(&k->pages, req->start, req->pages, req->n_pages);
    k->addr = req->virt_addr;
    k->bytes = req->length;
    k->access = req->access & ~(unsigned)ACCESS_HINTS;
    k->state = KEY_VALID;
    *ret = k;
    return RSP_OK;
}

/* The region as it will be: what is not changed is as it was. */
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

enum ctrl_rsp hca_mr_change(struct hca *h, uint32_t mrn, unsigned what,
                            const struct mr_request *req, struct mkey **ret)
{
    struct mkey *k = key_at(h, mrn);
    struct key_pages pages;
    struct mr_request r;

    if (!k || key_is_window(k))
        return RSP_BAD_HANDLE;
    if (k->kind != KEY_USER_MR || what == 0 || (what & ~REREG_ALL) != 0)
        return RSP_INVALID_ARG;
    r = changed(k, what, req);
    if (!hca_pd(h, r.pdn))
        return RSP_BAD_HANDLE;
    if (k->n_windows > 0)
        return RSP_BUSY;
    if (!is_sound(h, &r))
        return RSP_INVALID_ARG;
    if (!key_pages_new(h, r.n_pages, &pages))
        return RSP_NO_RESOURCES;

    key_pages_set(&pages, r.start, r.pages, r.n_pages);
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
    return RSP_OK;
}

enum ctrl_rsp hca_dma_mr_create(struct hca *h, uint32_t pdn, unsigned access, struct mkey **ret)
{
    struct pd *pd = hca_pd(h, pdn);
    struct mkey *k;
    enum ctrl_rsp rsp;

    if (!pd)
        return RSP_BAD_HANDLE;
    if (!access_is_sound(access))
        return RSP_INVALID_ARG;
    rsp = key_new(h, KEY_DMA_MR, pd, (struct key_room){0}, &k);
    if (rsp != RSP_OK)
        return rsp;
    k->bytes = h->ram->bytes;
    k->access = access & ~(unsigned)ACCESS_HINTS;
    k->state = KEY_VALID;
    h->ram_is_open = h->ram_is_open || (k->access & ACC_LOCAL_WRITE) != 0;
    *ret = k;
    return RSP_OK;
}

enum ctrl_rsp hca_fast_mr_create(struct hca *h, uint32_t pdn, unsigned access, uint32_t max_pages,
                                 struct mkey **ret)
{
    struct pd *pd = hca_pd(h, pdn);
    struct mkey *k;
    enum ctrl_rsp rsp;

    if (!pd)
        return RSP_BAD_HANDLE;
    if (!access_is_sound(access) || max_pages == 0 || max_pages > h->limits.max_fast_pages)
        return RSP_INVALID_ARG;
    rsp = key_new(h, KEY_FAST_MR, pd, (struct key_room){max_pages, max_pages}, &k);
    if (rsp != RSP_OK)
        return rsp;
    k->allocated_access = access & ~(unsigned)ACCESS_HINTS;
    *ret = k;
    return RSP_OK;
}

enum ctrl_rsp hca_mr_map(struct hca *h, uint32_t mrn, const struct mr_map *map)
{
    struct mkey *k = key_at(h, mrn);

    if (!k || key_is_window(k))
        return RSP_BAD_HANDLE;
    if (k->kind != KEY_FAST_MR || map->n_pages == 0 || map->n_pages > k->next.room)
        return RSP_INVALID_ARG;
    if (map->length == 0 || map->length > h->limits.max_mr_bytes ||
        map->start > UINT64_MAX - map->length ||
        !pages_fit(map->start, map->length, map->n_pages) ||
        !pages_are_ram(h, map->pages, map->n_pages))
        return RSP_INVALID_ARG;
    key_pages_set(&k->next, map->start, map->pages, map->n_pages);
    k->next_addr = map->start;
    k->next_bytes = map->length;
    return RSP_OK;
}

enum ctrl_rsp hca_mr_destroy(struct hca *h, uint32_t mrn)
{
    struct mkey *k = key_at(h, mrn);

    if (!k || key_is_window(k))
        return RSP_BAD_HANDLE;
    if (k->n_windows > 0)
        return RSP_BUSY;
    key_free(h, k);
    return RSP_OK;
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
    if (k->next.n == 0)
        return (struct objection){.rule = RULE_REG_PAGES};
    if (!access_is_sound(access) || (access & ~(k->allocated_access | ACC_ZERO_BASED)) != 0)
        return (struct objection){RULE_REG_ACCESS, compared_one(k->allocated_access, access)};
    return (struct objection){.rule = RULE_NONE};
}

void key_reg(struct hca *h, const struct reg_request *req)
{
    struct mkey *k = key_at(h, req->mrn);

    RDL_ASSERT(k && k->kind == KEY_FAST_MR && k->state == KEY_FREE && k->next.n > 0);
    key_pages_set(&k->pages, k->next.offset, k->next.gpa, k->next.n);
    k->key = req->key;
    k->access = req->access & ~(unsigned)ACCESS_HINTS;
    k->addr = req->access & ACC_ZERO_BASED ? 0 : k->next_addr;
    k->bytes = k->next_bytes;
    k->state = KEY_VALID;
}
