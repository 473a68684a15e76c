/* SPDX-License-Identifier: MIT */
/* Memory regions.  Those for fast registration have a directory of their own, whose pages a work
 * request registers: to map pages into it is no business of the device.
 */
#include "emu/facts/enum/key_kind.h"
#include "emu/guest/pvrdma/internal.h"

PVD_BODY(create_mr)

/* Enters the pages of @range, of the program that has @pd, into @dir, which has room. */
static enum rdl_status list_pages(const struct pvrdma_guest *d, const struct guest_pd *pd,
                                  const struct rdl_mr_range *range, const struct pvd_directory *dir)
{
    const uint64_t page = range->addr & ~(uint64_t)(RAM_PAGE_BYTES - 1);
    const uint32_t n = (uint32_t)verbs_pages(range->addr, range->bytes);

    for (uint32_t i = 0; i < n; i++) {
        uint64_t gpa;

        if (!space_translate(verbs_space(pd), page + (uint64_t)i * RAM_PAGE_BYTES, &gpa))
            return RDL_ERR_FAULT;
        pvd_set_page(d, dir, i, gpa);
    }
    return RDL_OK;
}

/* Makes room for @n pages in the directory that all commands share. */
static bool reserve_range(struct pvrdma_guest *d, uint64_t n)
{
    if (n <= d->range.n)
        return true;
    pvd_directory_give(d, &d->range);
    return pvd_directory_take(d, (uint32_t)n, &d->range);
}

/* The device knows one address of a region, by which SGEs and peers name it.  The place of its
 * first byte in a page follows from it.
 */
static enum rdl_status reg_user_mr(struct pvrdma_guest *d, struct guest_mr *mr)
{
    const uint64_t n = verbs_pages(mr->addr, mr->bytes);
    enum rdl_status st;

    if ((mr->addr - mr->iova) % RAM_PAGE_BYTES != 0)
        return RDL_ERR_UNSUPPORTED;
    if (n > PV_PAGES_MAX)
        return RDL_ERR_LIMIT;
    if (!reserve_range(d, n))
        return RDL_ERR_NOMEM;
    st = list_pages(d, mr->pd, &(struct rdl_mr_range){mr->addr, mr->bytes, mr->iova}, &d->range);
    if (st != RDL_OK)
        return st;
    return PVD_SEND(d, PV_CMD_CREATE_MR, create_mr, .start = mr->iova, .length = mr->bytes,
                    .pdir = d->range.gpa, .pd = mr->pd->pdn, .access = mr->access,
                    .pages = (uint32_t)n);
}

static enum rdl_status create_fast_mr(struct pvrdma_guest *d, struct guest_mr *mr)
{
    struct pvd_mr *m = (struct pvd_mr *)mr;
    enum rdl_status st;

    if (!pvd_directory_take(d, mr->max_pages, &m->pages))
        return RDL_ERR_NOMEM;
    st = PVD_SEND(d, PV_CMD_CREATE_MR, create_mr, .pd = mr->pd->pdn, .access = mr->access,
                  .flags = PV_MR_FAST, .pages = mr->max_pages);
    if (st != RDL_OK)
        pvd_give_memory(d, &mr->o);
    return st;
}

enum rdl_status pvd_reg_mr(struct guest_mr *mr)
{
    struct pvrdma_guest *d = driver_of(&mr->o);

    if (d->waits)
        return RDL_ERR_BUSY;
    switch (mr->kind) {
    case KEY_DMA_MR:
        return PVD_SEND(d, PV_CMD_CREATE_MR, create_mr, .pd = mr->pd->pdn, .access = mr->access,
                        .flags = PV_MR_DMA);
    case KEY_FAST_MR:
        return create_fast_mr(d, mr);
    default:
        return reg_user_mr(d, mr);
    }
}

void pvd_mr_created(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    struct guest_mr *mr = (struct guest_mr *)o;

    PVD_TAKE(body, mr_keys, r);
    mr->lkey = r.lkey;
    mr->rkey = r.rkey;
    pvd_created(d, o, r.handle);
}

enum rdl_status pvd_map_mr_sg(struct guest_mr *mr, const struct rdl_mr_range *range)
{
    const struct pvd_mr *m = (const struct pvd_mr *)mr;
    const enum rdl_status st = list_pages(driver_of(&mr->o), mr->pd, range, &m->pages);

    if (st == RDL_OK)
        verbs_mapped(mr);
    return st;
}
