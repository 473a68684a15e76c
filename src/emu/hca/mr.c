/* SPDX-License-Identifier: MIT */
#include "emu/hca/mr.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/device.h"

#define PAGE_MASK  ((uint64_t)RAM_PAGE_BYTES - 1)
#define ACCESS_ALL (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

/* [IBTA1 11.2.8.2 (unverified); ibv_reg_mr(3) says it of both] */
static bool access_is_sound(unsigned access)
{
    if ((access & ~(unsigned)(ACCESS_ALL | ACCESS_HINTS)) != 0)
        return false;
    return (access & (ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC)) == 0 || (access & ACC_LOCAL_WRITE);
}

static bool range_is_sound(const struct hca *h, const struct mr_request *req)
{
    const uint64_t offset = req->start & PAGE_MASK;

    if (req->length == 0 || req->length > h->limits.max_mr_bytes ||
        req->virt_addr > UINT64_MAX - req->length)
        return false;
    if ((req->virt_addr & PAGE_MASK) != offset)
        return false;
    return req->n_pages == (offset + req->length + PAGE_MASK) >> RAM_PAGE_BITS;
}

static bool pages_are_ram(const struct hca *h, const struct mr_request *req)
{
    for (uint32_t i = 0; i < req->n_pages; i++) {
        if ((req->pages[i] & PAGE_MASK) != 0 || !ram_holds(h->ram, req->pages[i], RAM_PAGE_BYTES))
            return false;
    }
    return true;
}

static void mr_free(struct hca *h, struct mr *mr)
{
    if (!mr)
        return;
    arena_release(h->arena, mr->pages, mr->n_pages * sizeof(*mr->pages));
    arena_release(h->arena, mr, sizeof(*mr));
}

static struct mr *mr_new(struct hca *h, const struct mr_request *req)
{
    struct mr *mr = arena_alloc(h->arena, sizeof(*mr));

    if (!mr)
        return NULL;
    *mr = (struct mr){
        .pdn = req->pdn,
        .access = req->access & ~(unsigned)ACCESS_HINTS,
        .addr = req->virt_addr,
        .bytes = req->length,
        .page_offset = (uint32_t)(req->start & PAGE_MASK),
        .n_pages = req->n_pages,
        .pages = arena_alloc_raw(h->arena, req->n_pages * sizeof(*mr->pages)),
    };
    if (!mr->pages) {
        mr_free(h, mr);
        return NULL;
    }
    memcpy(mr->pages, req->pages, req->n_pages * sizeof(*mr->pages));
    return mr;
}

enum ctrl_rsp hca_mr_create(struct hca *h, const struct mr_request *req, struct mr **ret)
{
    struct pd *pd = hca_pd(h, req->pdn);
    struct mr *mr;
    uint64_t name;

    if (!pd)
        return RSP_BAD_HANDLE;
    if (!access_is_sound(req->access) || !range_is_sound(h, req) || !pages_are_ram(h, req))
        return RSP_INVALID_ARG;
    mr = mr_new(h, req);
    if (!mr)
        return RSP_NO_RESOURCES;
    name = slots_add(&h->mrs, mr);
    if (name == 0) {
        mr_free(h, mr);
        return RSP_NO_RESOURCES;
    }
    mr->key = (slots_index(name) + 1) << 8 | (uint32_t)prng_below(&h->keys, 256);
    pd->users++;
    *ret = mr;
    return RSP_OK;
}

enum ctrl_rsp hca_mr_destroy(struct hca *h, uint32_t key)
{
    struct mr *mr = hca_mr(h, key);

    if (!mr)
        return RSP_BAD_HANDLE;
    hca_pd(h, mr->pdn)->users--;
    slots_remove(&h->mrs, slots_name(&h->mrs, (key >> 8) - 1));
    mr_free(h, mr);
    return RSP_OK;
}

enum rule mr_check(const struct hca *h, uint32_t key, uint32_t pdn, uint64_t addr, uint64_t bytes,
                   unsigned access)
{
    const struct mr *mr = hca_mr(h, key);

    if (!mr)
        return RULE_MR_KEY;
    if (mr->pdn != pdn)
        return RULE_MR_PD;
    if (addr < mr->addr || addr - mr->addr > mr->bytes || bytes > mr->bytes - (addr - mr->addr))
        return RULE_MR_RANGE;
    if ((access & ~mr->access) != 0)
        return RULE_MR_ACCESS;
    return RULE_NONE;
}

/* The address that is outside: the first one, or the last one of an access that begins inside. */
static struct compared range_compared(const struct mr *mr, uint64_t addr, uint64_t bytes)
{
    const uint64_t most = mr->addr + mr->bytes - 1;
    uint64_t found = addr;

    if (addr >= mr->addr && addr <= most)
        found = bytes > UINT64_MAX - addr ? UINT64_MAX : addr + bytes - 1;
    return (struct compared){mr->addr, most, found};
}

struct objection mr_objection(const struct hca *h, uint32_t key, uint32_t pdn, uint64_t addr,
                              uint64_t bytes, unsigned access)
{
    const struct mr *mr = slots_at(&h->mrs, (key >> 8) - 1); /* of this key, or of a later one */
    struct objection o = {.rule = mr_check(h, key, pdn, addr, bytes, access)};

    if (!mr)
        return o;
    switch (o.rule) {
    case RULE_MR_KEY:
        o.values = compared_one(mr->key, key);
        break;
    case RULE_MR_PD:
        o.values = compared_one(mr->pdn, pdn);
        break;
    case RULE_MR_RANGE:
        o.values = range_compared(mr, addr, bytes);
        break;
    case RULE_MR_ACCESS:
        o.values = compared_one(access, mr->access);
        break;
    default:
        break;
    }
    return o;
}

/* The guest-physical place of byte @addr of @mr, and in @ret_run how many of @bytes lie in its
 * page.
 */
static uint64_t place(const struct mr *mr, uint64_t addr, size_t bytes, size_t *ret_run)
{
    const uint64_t offset = addr - mr->addr + mr->page_offset;

    *ret_run = ram_run(offset, bytes);
    return mr->pages[offset >> RAM_PAGE_BITS] + (offset & PAGE_MASK);
}

void mr_copy_out(const struct hca *h, const struct mr *mr, uint64_t addr, void *out, size_t bytes)
{
    uint8_t *to = out;
    size_t run;

    for (; bytes > 0; bytes -= run, addr += run, to += run) {
        const uint64_t gpa = place(mr, addr, bytes, &run);
        const bool ok = ram_read(h->ram, gpa, to, run);

        RDL_ASSERT(ok);
    }
}

void mr_copy_in(struct hca *h, const struct mr *mr, uint64_t addr, const void *in, size_t bytes)
{
    const uint8_t *from = in;
    size_t run;

    for (; bytes > 0; bytes -= run, addr += run, from += run) {
        const uint64_t gpa = place(mr, addr, bytes, &run);
        const bool ok = ram_write(h->ram, gpa, from, run);

        RDL_ASSERT(ok || arena_is_short(h->arena)); /* then the lab ends with this tick */
    }
}
