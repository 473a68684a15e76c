/* SPDX-License-Identifier: MIT */
/* The public verbs for memory regions and windows, beyond rdl_reg_mr(). */
#include "rdmalab/memory.h"

#include "emu/facts/enum/object.h"
#include "emu/lab/lab_state.h"

static struct guest_pd *pd_of(const struct rdl_lab *lab, rdl_pd h)
{
    return (struct guest_pd *)lab_object(lab->state, OBJ_PD, h.raw);
}

static struct guest_mr *mr_of(const struct rdl_lab *lab, rdl_mr h)
{
    return (struct guest_mr *)lab_object(lab->state, OBJ_MR, h.raw);
}

static struct guest_mw *mw_of(const struct rdl_lab *lab, rdl_mw h)
{
    return (struct guest_mw *)lab_object(lab->state, OBJ_MW, h.raw);
}

enum rdl_status rdl_reg_mr_iova(struct rdl_lab *lab, rdl_pd pd, const struct rdl_mr_range *range,
                                uint32_t access, const char *name, rdl_mr *ret)
{
    struct guest_pd *p = pd_of(lab, pd);

    ACT_ON(lab, p, verbs_reg_mr_iova(p, range, access, name, &ret->raw));
}

enum rdl_status rdl_rereg_mr(struct rdl_lab *lab, rdl_mr mr, const struct rdl_mr_change *change)
{
    struct guest_mr *m = mr_of(lab, mr);
    const bool moves = change->what & RDL_REREG_PD;
    const struct verbs_region to = {
        .what = change->what,
        .pd = moves ? pd_of(lab, change->pd) : NULL,
        .access = change->access,
        .range = change->range,
    };
    const enum rdl_status st = moves ? lab_may_use(to.pd ? &to.pd->o : NULL) : RDL_OK;

    if (st != RDL_OK)
        return st;
    ACT_ON(lab, m, verbs_rereg_mr(m, &to));
}

enum rdl_status rdl_create_mr(struct rdl_lab *lab, rdl_pd pd, uint32_t access, uint32_t max_pages,
                              const char *name, rdl_mr *ret)
{
    struct guest_pd *p = pd_of(lab, pd);

    ACT_ON(lab, p, verbs_create_mr(p, access, max_pages, name, &ret->raw));
}

enum rdl_status rdl_map_mr_sg(struct rdl_lab *lab, rdl_mr mr, const struct rdl_mr_range *range)
{
    struct guest_mr *m = mr_of(lab, mr);

    ACT_ON(lab, m, verbs_map_mr_sg(m, range));
}

enum rdl_status rdl_get_dma_mr(struct rdl_lab *lab, rdl_pd pd, uint32_t access, const char *name,
                               rdl_mr *ret)
{
    struct guest_pd *p = pd_of(lab, pd);

    ACT_ON(lab, p, verbs_get_dma_mr(p, access, name, &ret->raw));
}

enum rdl_status rdl_alloc_mw(struct rdl_lab *lab, rdl_pd pd, uint32_t type, const char *name,
                             rdl_mw *ret)
{
    struct guest_pd *p = pd_of(lab, pd);

    ACT_ON(lab, p, verbs_alloc_mw(p, type, name, &ret->raw));
}

enum rdl_status rdl_dealloc_mw(struct rdl_lab *lab, rdl_mw mw)
{
    struct guest_mw *m = mw_of(lab, mw);

    ACT_ON(lab, m, verbs_dealloc_mw(m));
}

enum rdl_status rdl_mw_info(const struct rdl_lab *lab, rdl_mw mw, struct rdl_mw_info *ret)
{
    const struct guest_mw *m = mw_of(lab, mw);

    if (!m)
        return RDL_ERR_STALE;
    verbs_mw_info(m, ret);
    return RDL_OK;
}
