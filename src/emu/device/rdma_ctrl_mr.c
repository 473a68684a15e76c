/* SPDX-License-Identifier: MIT */
/* Control requests for memory regions and windows.  [virtio-rdma RFC, controlq Operation]
 *
 * Page lists are flat: npages le64 guest-physical addresses of pages.  Their size follows from
 * their number: see mr.c.  [decision 0063]
 */
#include "emu/device/ctrl.h"
#include "emu/hca/mr.h"
#include "emu/hca/mw.h"

/* Number of pages of the longest region allowed.  One more than its length needs, because a region
 * can begin within a page.
 */
static uint64_t list_pages_max(const struct hca *h)
{
    return ((h->limits.max_mr_bytes + RAM_PAGE_BYTES - 1) >> RAM_PAGE_BITS) + 1;
}

/* The page list of a request, in host byte order. */
struct request_pages {
    uint64_t *pages;
    uint32_t n;
};

static void give_list(struct rdma *d, struct request_pages *list)
{
    if (list->pages)
        arena_release(d->nic.arena, list->pages, list->n * sizeof(*list->pages));
    list->pages = NULL;
}

/* Reads a page list of @n entries at @gpa.  Free it with give_list() after the request.  Returns
 * REF_NONE, RFK_INVALID (0 or too many entries, or not in RAM) or RFK_NO_ROOM.
 */
static enum refusal_reason take_list(struct rdma *d, uint64_t gpa, uint32_t n,
                                     struct request_pages *ret)
{
    struct request_pages list = {.n = n};

    if (n == 0 || n > list_pages_max(&d->nic.hca))
        return hca_refuse(&d->nic.hca, REF_PAGE_LIST_LENGTH,
                          compared_range(1, list_pages_max(&d->nic.hca), n));
    list.pages = arena_alloc_raw(d->nic.arena, n * sizeof(*list.pages));
    if (!list.pages)
        return hca_refuse(&d->nic.hca, REF_DEVICE_MEMORY, compared_nothing());
    if (!ram_read(d->nic.ram, gpa, list.pages, n * sizeof(*list.pages))) {
        give_list(d, &list);
        return hca_refuse(&d->nic.hca, REF_PAGE_LIST_MEMORY, compared_found(gpa));
    }
    for (uint32_t i = 0; i < n; i++) {
        uint8_t le[8];

        memcpy(le, &list.pages[i], sizeof(le));
        list.pages[i] = ld_le64(le);
    }
    *ret = list;
    return REF_NONE;
}

/* Responds with the keys of @mr.  The rkey is 0 for a region without remote access, except a fast
 * region, whose access is decided by REG_MR.
 */
static enum refusal_reason respond_keys(struct call *c, const struct mkey *mr)
{
    const bool is_remote = mr->kind == KEY_FAST_MR || (mr->access & KEY_REMOTE_ACCESS);

    c->number = key_number(mr->key);
    RESPOND(c, mr_keys, .mrn = key_number(mr->key), .lkey = mr->key,
            .rkey = is_remote ? mr->key : 0);
    return REF_NONE;
}

enum refusal_reason ctrl_get_dma_mr(struct call *c)
{
    enum refusal_reason why;
    struct mkey *mr;

    REQUEST(c, get_dma_mr, r);
    why = hca_dma_mr_create(&c->d->nic.hca, r.pdn, r.access_flags, &mr);
    return why == REF_NONE ? respond_keys(c, mr) : why;
}

enum refusal_reason ctrl_create_mr(struct call *c)
{
    enum refusal_reason why;
    struct mkey *mr;

    REQUEST(c, create_mr, r);
    if (!rnic_has_mem_mgt(&c->d->nic))
        return ctrl_refuse(c, REF_MEM_MGT_EXTENSIONS, compared_nothing());
    why = hca_fast_mr_create(&c->d->nic.hca, r.pdn, r.access_flags, r.max_num_sg, &mr);
    return why == REF_NONE ? respond_keys(c, mr) : why;
}

enum refusal_reason ctrl_map_mr_sg(struct call *c)
{
    struct request_pages list = {0};
    enum refusal_reason why;

    REQUEST(c, map_mr_sg, r);
    c->number = r.mrn;
    if (!rnic_has_mem_mgt(&c->d->nic))
        return ctrl_refuse(c, REF_MEM_MGT_EXTENSIONS, compared_nothing());
    why = take_list(c->d, r.pages, r.npages, &list);
    if (why != REF_NONE)
        return why;
    why = hca_mr_map(&c->d->nic.hca, r.mrn,
                     &(struct mr_map){r.start, r.length, list.pages, r.npages});
    give_list(c->d, &list);
    if (why == REF_NONE)
        RESPOND(c, mapped, .npages = r.npages);
    return why;
}

enum refusal_reason ctrl_reg_user_mr(struct call *c)
{
    struct mr_request mr_req;
    struct request_pages list = {0};
    enum refusal_reason why;
    struct mkey *mr;

    REQUEST(c, reg_user_mr, r);
    why = take_list(c->d, r.pages, r.npages, &list);
    if (why != REF_NONE)
        return why;
    mr_req = (struct mr_request){r.pdn,       r.access_flags, r.start, r.length,
                                 r.virt_addr, list.pages,     r.npages};
    why = hca_mr_create(&c->d->nic.hca, &mr_req, &mr);
    give_list(c->d, &list);
    return why == REF_NONE ? respond_keys(c, mr) : why;
}

enum refusal_reason ctrl_dereg_mr(struct call *c)
{
    REQUEST(c, mr_handle, r);
    c->number = r.mrn;
    return hca_mr_destroy(&c->d->nic.hca, r.mrn);
}

/* Reads the page list only if the translation is to be changed. */
enum refusal_reason ctrl_rereg_mr(struct call *c)
{
    struct request_pages list = {.pages = NULL};
    enum refusal_reason why = REF_NONE;
    struct mr_request mr_req;
    struct mkey *mr;

    REQUEST(c, rereg_mr, r);
    c->number = r.mrn;
    if (r.flags & REREG_TRANSLATION)
        why = take_list(c->d, r.pages, r.npages, &list);
    if (why != REF_NONE)
        return why;
    mr_req = (struct mr_request){r.pdn,       r.access_flags, r.start, r.length,
                                 r.virt_addr, list.pages,     list.n};
    why = hca_mr_change(&c->d->nic.hca, r.mrn, r.flags, &mr_req, &mr);
    give_list(c->d, &list);
    return why == REF_NONE ? respond_keys(c, mr) : why;
}

enum refusal_reason ctrl_alloc_mw(struct call *c)
{
    enum refusal_reason why;
    struct mkey *mw;

    REQUEST(c, alloc_mw, r);
    why = hca_mw_create(&c->d->nic.hca, r.pdn, r.type, &mw);
    if (why != REF_NONE)
        return why;
    c->number = key_number(mw->key);
    RESPOND(c, mw_keys, .mwn = key_number(mw->key), .rkey = mw->key);
    return REF_NONE;
}

enum refusal_reason ctrl_dealloc_mw(struct call *c)
{
    REQUEST(c, mw_handle, r);
    c->number = r.mwn;
    return hca_mw_destroy(&c->d->nic.hca, r.mwn);
}
