/* SPDX-License-Identifier: MIT */
/* Verbs for memory regions and windows. */
#include "emu/guest/verbs/verbs.h"

#include "emu/facts/enum/key_kind.h"
#include "emu/facts/flush_access.h"
#include "emu/guest/verbs/internal.h"

#define REREG_ALL (RDL_REREG_TRANSLATION | RDL_REREG_PD | RDL_REREG_ACCESS)

static enum rdl_status check_access(const struct verbs *v, uint32_t access)
{
    const unsigned flush = flush_access_of_mr(v->config.profile);

    if (access & ~(GUEST_ACCESS_MR | ACCESS_HINTS | flush))
        return RDL_ERR_INVAL;
    return (access & (ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC)) && !(access & ACC_LOCAL_WRITE)
               ? RDL_ERR_INVAL
               : RDL_OK;
}

/* Checks whether @r is a valid range for a region that is zero based or not. */
static enum rdl_status check_range(const struct guest_pd *pd, const struct rdl_mr_range *r,
                                   bool zero_based)
{
    const struct space *space = verbs_space(pd);
    const uint64_t in_page = RAM_PAGE_BYTES - 1;

    if (r->bytes == 0)
        return RDL_ERR_INVAL;
    if (zero_based ? r->iova != 0 : ((r->iova ^ r->addr) & in_page) != 0)
        return RDL_ERR_INVAL;
    if (r->bytes > pd->o.verbs->limits.max_mr_bytes)
        return RDL_ERR_LIMIT;
    /* A range larger than RAM cannot be mapped; this check avoids walking its pages. */
    if ((!space->lender && r->bytes > space->ram->bytes) || r->addr > UINT64_MAX - r->bytes)
        return RDL_ERR_FAULT;
    if (r->iova > UINT64_MAX - r->bytes)
        return RDL_ERR_INVAL;
    return space_is_mapped(space, r->addr, r->bytes) ? RDL_OK : RDL_ERR_FAULT;
}

/* Creates a region with the properties of @like, except for its head @like->o. */
static enum rdl_status create_region(const struct guest_mr *like, const char *name, uint64_t *ret)
{
    struct verbs *v = like->pd->o.verbs;
    enum rdl_status st = request_ready_to_create(v);
    struct guest_object *o, begin;
    struct guest_mr *mr;
    uint64_t handle;

    if (st == RDL_OK)
        st = object_usable(&like->pd->o);
    if (st == RDL_OK)
        st = object_new(v, OBJ_MR, name, &o);
    if (st != RDL_OK)
        return st;

    mr = (struct guest_mr *)o;
    begin = mr->o;
    *mr = *like;
    mr->o = begin;
    object_use_parts(o, true);
    handle = o->handle;
    request_begin(v, VERBS_CREATE, o);
    st = object_sent(o, v->ops->reg_mr(mr));
    if (st == RDL_OK)
        *ret = handle;
    return st;
}

enum rdl_status verbs_reg_mr_iova(struct guest_pd *pd, const struct rdl_mr_range *range,
                                  uint32_t access, const char *name, uint64_t *ret)
{
    const struct guest_mr like = {
        .pd = pd,
        .kind = KEY_USER_MR,
        .access = access,
        .addr = range->addr,
        .bytes = range->bytes,
        .iova = range->iova,
    };
    enum rdl_status st = request_ready(pd->o.verbs);

    if (st == RDL_OK)
        st = object_usable(&pd->o);
    if (st == RDL_OK)
        st = check_access(pd->o.verbs, access);
    if (st == RDL_OK)
        st = check_range(pd, range, access & ACC_ZERO_BASED);
    return st == RDL_OK ? create_region(&like, name, ret) : st;
}

enum rdl_status verbs_reg_mr(struct guest_pd *pd, uint64_t addr, uint64_t bytes, uint32_t access,
                             const char *name, uint64_t *ret)
{
    const struct rdl_mr_range range = {addr, bytes, access & ACC_ZERO_BASED ? 0 : addr};

    return verbs_reg_mr_iova(pd, &range, access, name, ret);
}

/* Checks the region as REREG_MR would leave it: the new range with the old flags, or the reverse.
 */
static enum rdl_status check_change(const struct guest_mr *mr, const struct verbs_region *to)
{
    const uint32_t access = to->what & RDL_REREG_ACCESS ? to->access : mr->access;
    const struct rdl_mr_range as_is = {mr->addr, mr->bytes, mr->iova};
    enum rdl_status st = check_access(mr->o.verbs, access);

    if (mr->kind != KEY_USER_MR || to->what == 0 || (to->what & ~REREG_ALL))
        return RDL_ERR_INVAL;
    if (to->what & RDL_REREG_PD) {
        if (to->pd->o.verbs != mr->o.verbs)
            return RDL_ERR_INVAL;
        if (st == RDL_OK)
            st = object_usable(&to->pd->o);
    }
    if (st != RDL_OK)
        return st;
    return check_range(to->what & RDL_REREG_PD ? to->pd : mr->pd,
                       to->what & RDL_REREG_TRANSLATION ? &to->range : &as_is,
                       access & ACC_ZERO_BASED);
}

enum rdl_status verbs_rereg_mr(struct guest_mr *mr, const struct verbs_region *to)
{
    struct verbs *v = mr->o.verbs;
    enum rdl_status st = request_ready(v);

    if (st == RDL_OK)
        st = object_usable(&mr->o);
    if (st == RDL_OK && !v->limits.can_rereg)
        st = RDL_ERR_UNSUPPORTED;
    if (st == RDL_OK)
        st = check_change(mr, to);
    if (st != RDL_OK)
        return st;
    v->request.region = *to;
    request_begin(v, VERBS_REREG_MR, &mr->o);
    return request_sent(v, v->ops->rereg_mr(mr, to));
}

void mr_apply_change(struct guest_mr *mr)
{
    const struct verbs_region *to = &mr->o.verbs->request.region;

    if (to->what & RDL_REREG_PD) {
        object_use_parts(&mr->o, false);
        mr->pd = to->pd;
        object_use_parts(&mr->o, true);
    }
    if (to->what & RDL_REREG_ACCESS)
        mr->access = to->access;
    if (to->what & RDL_REREG_TRANSLATION)
        mr_apply_map(mr);
}

void mr_apply_map(struct guest_mr *mr)
{
    const struct rdl_mr_range *r = &mr->o.verbs->request.region.range;

    mr->addr = r->addr;
    mr->bytes = r->bytes;
    mr->iova = r->iova;
}

enum rdl_status verbs_dereg_mr(struct guest_mr *mr)
{
    return object_destroy(&mr->o);
}

enum rdl_status verbs_create_mr(struct guest_pd *pd, uint32_t access, uint32_t max_pages,
                                const char *name, uint64_t *ret)
{
    const struct verbs_limits *limits = &pd->o.verbs->limits;
    const struct guest_mr like = {
        .pd = pd, .kind = KEY_FAST_MR, .access = access, .max_pages = max_pages};
    enum rdl_status st = request_ready(pd->o.verbs);

    if (st == RDL_OK && limits->max_fast_pages == 0)
        st = RDL_ERR_UNSUPPORTED;
    if (st == RDL_OK)
        st = max_pages == 0 ? RDL_ERR_INVAL : check_access(pd->o.verbs, access);
    if (st == RDL_OK && max_pages > limits->max_fast_pages)
        st = RDL_ERR_LIMIT;
    return st == RDL_OK ? create_region(&like, name, ret) : st;
}

enum rdl_status verbs_map_mr_sg(struct guest_mr *mr, const struct rdl_mr_range *range)
{
    struct verbs *v = mr->o.verbs;
    enum rdl_status st = request_ready(v);

    if (st == RDL_OK)
        st = object_usable(&mr->o);
    if (st == RDL_OK && mr->kind != KEY_FAST_MR)
        st = RDL_ERR_INVAL;
    if (st == RDL_OK)
        st = check_range(mr->pd, range, false);
    if (st == RDL_OK && verbs_pages(range->addr, range->bytes) > mr->max_pages)
        st = RDL_ERR_LIMIT;
    if (st != RDL_OK)
        return st;
    v->request.region = (struct verbs_region){.range = *range};
    request_begin(v, VERBS_MAP_MR_SG, &mr->o);
    return request_sent(v, v->ops->map_mr_sg(mr, range));
}

enum rdl_status verbs_get_dma_mr(struct guest_pd *pd, uint32_t access, const char *name,
                                 uint64_t *ret)
{
    const struct guest_mr like = {.pd = pd,
                                  .kind = KEY_DMA_MR,
                                  .access = access,
                                  .bytes = pd->o.verbs->config.space->ram->bytes};
    const enum rdl_status st = check_access(pd->o.verbs, access);

    return st == RDL_OK ? create_region(&like, name, ret) : st;
}

enum rdl_status verbs_alloc_mw(struct guest_pd *pd, uint32_t type, const char *name, uint64_t *ret)
{
    struct verbs *v = pd->o.verbs;
    enum rdl_status st = request_ready_to_create(v);
    struct guest_object *o;
    struct guest_mw *mw;
    uint64_t handle;

    if (st == RDL_OK)
        st = object_usable(&pd->o);
    if (st == RDL_OK && v->limits.max_mw == 0)
        st = RDL_ERR_UNSUPPORTED;
    if (st == RDL_OK && type != 1 && type != 2)
        st = RDL_ERR_INVAL;
    if (st == RDL_OK)
        st = object_new(v, OBJ_MW, name, &o);
    if (st != RDL_OK)
        return st;

    mw = (struct guest_mw *)o;
    mw->pd = pd;
    mw->type = type;
    object_use_parts(o, true);
    handle = o->handle;
    request_begin(v, VERBS_CREATE, o);
    st = object_sent(o, v->ops->alloc_mw(mw));
    if (st == RDL_OK)
        *ret = handle;
    return st;
}

enum rdl_status verbs_dealloc_mw(struct guest_mw *mw)
{
    return object_destroy(&mw->o);
}

void verbs_mr_info(const struct guest_mr *mr, struct rdl_mr_info *ret)
{
    *ret = (struct rdl_mr_info){
        .addr = mr->addr,
        .bytes = mr->bytes,
        .lkey = mr->lkey,
        .rkey = mr->rkey,
        .access = mr->access,
        .iova = mr->iova,
        .kind = mr->kind,
    };
}

void verbs_mw_info(const struct guest_mw *mw, struct rdl_mw_info *ret)
{
    *ret = (struct rdl_mw_info){.type = mw->type, .rkey = mw->rkey};
}
