/* SPDX-License-Identifier: MIT */
/* Requests for memory regions and windows.  [virtio-rdma RFC, controlq Operation]
 *
 * All requests share one list of pages, so a request that needs it is sent only when no other
 * request is under way.
 */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/base/log2.h"
#include "emu/facts/enum/key_kind.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/guest/virtio_rdma/internal.h"

/* Grows the page list to at least @n entries.  It is never freed. */
static enum rdl_status reserve_pages(struct virtio_rdma *d, uint64_t n)
{
    struct virtio_rdma_ctrl *c = &d->ctrl;
    const uint64_t bytes = pow2_ceil(n * 8 > RAM_PAGE_BYTES ? n * 8 : RAM_PAGE_BYTES);
    uint64_t gpa;

    if (bytes <= c->pages_bytes)
        return RDL_OK;
    gpa = dma_take(d->virtio.pci.dma, bytes);
    if (!gpa)
        return RDL_ERR_NOMEM;
    dma_give(d->virtio.pci.dma, c->pages_gpa, c->pages_bytes);
    c->pages_gpa = gpa;
    c->pages_bytes = bytes;
    return RDL_OK;
}

/* Writes the guest-physical addresses of the @n pages of @range, of the program that has @pd, to
 * @list, as le64.
 */
static enum rdl_status write_list(struct virtio_rdma *d, const struct guest_pd *pd,
                                  const struct rdl_mr_range *range, uint64_t list, uint64_t n)
{
    const uint64_t page = range->addr & ~(uint64_t)(RAM_PAGE_BYTES - 1);

    for (uint64_t i = 0; i < n; i++) {
        uint8_t entry[8];
        uint64_t gpa;

        if (!space_translate(verbs_space(pd), page + i * RAM_PAGE_BYTES, &gpa))
            return RDL_ERR_FAULT;
        st_le64(entry, gpa);
        if (!ram_write(d->virtio.pci.ram, list + 8 * i, entry, sizeof(entry)))
            return RDL_ERR_NOMEM;
    }
    return RDL_OK;
}

/* Writes the page list of @range for a control request.  *@ret_n is the number of pages. */
static enum rdl_status list_pages(struct virtio_rdma *d, const struct guest_pd *pd,
                                  const struct rdl_mr_range *range, uint32_t *ret_n)
{
    const uint64_t n = verbs_pages(range->addr, range->bytes);
    enum rdl_status st = reserve_pages(d, n);

    if (st == RDL_OK)
        st = write_list(d, pd, range, d->ctrl.pages_gpa, n);
    if (st == RDL_OK)
        *ret_n = (uint32_t)n;
    return st;
}

static enum rdl_status reg_user_mr(struct virtio_rdma *d, struct guest_mr *mr)
{
    struct rfc_reg_user_mr cmd = {
        .pdn = mr->pd->pdn,
        .access_flags = mr->access,
        .start = mr->addr,
        .length = mr->bytes,
        .virt_addr = mr->iova,
    };
    struct raw_reg_user_mr raw;
    enum rdl_status st = d->ctrl.n_under_way > 0 ? RDL_ERR_BUSY : RDL_OK;

    if (st == RDL_OK)
        st = list_pages(d, mr->pd, &(struct rdl_mr_range){mr->addr, mr->bytes, mr->iova},
                        &cmd.npages);
    if (st != RDL_OK)
        return st;
    cmd.pages = d->ctrl.pages_gpa;
    rfc_reg_user_mr_put(&raw, &cmd);
    return ctrl_send(d, CMD_REG_USER_MR, &raw, 0);
}

static enum rdl_status get_dma_mr(struct virtio_rdma *d, const struct guest_mr *mr)
{
    const struct rfc_get_dma_mr cmd = {.pdn = mr->pd->pdn, .access_flags = mr->access};
    struct raw_get_dma_mr raw;

    rfc_get_dma_mr_put(&raw, &cmd);
    return ctrl_send(d, CMD_GET_DMA_MR, &raw, 0);
}

static enum rdl_status create_mr(struct virtio_rdma *d, const struct guest_mr *mr)
{
    const struct rfc_create_mr cmd = {
        .pdn = mr->pd->pdn, .access_flags = mr->access, .max_num_sg = mr->max_pages};
    struct raw_create_mr raw;

    rfc_create_mr_put(&raw, &cmd);
    return ctrl_send(d, CMD_CREATE_MR, &raw, 0);
}

enum rdl_status request_reg_mr(struct guest_mr *mr)
{
    struct virtio_rdma *d = driver_of(&mr->o);

    switch (mr->kind) {
    case KEY_DMA_MR:
        return get_dma_mr(d, mr);
    case KEY_FAST_MR:
        return create_mr(d, mr);
    default:
        return reg_user_mr(d, mr);
    }
}

/* Copies the keys from the response.  Returns the number of the region. */
static uint32_t take_keys(struct guest_mr *mr, const uint8_t *data)
{
    struct rfc_mr_keys keys;
    struct raw_mr_keys raw;

    memcpy(&raw, data, sizeof(raw));
    rfc_mr_keys_get(&keys, &raw);
    mr->lkey = keys.lkey;
    mr->rkey = keys.rkey;
    return keys.mrn;
}

static void mr_created(const struct virtio_rdma *d, const uint8_t *data)
{
    struct guest_mr *mr = (struct guest_mr *)asked_about(d);

    verbs_created(&mr->o, take_keys(mr, data));
}

void answer_reg_user_mr(struct virtio_rdma *d, const uint8_t *data)
{
    mr_created(d, data);
}

void answer_get_dma_mr(struct virtio_rdma *d, const uint8_t *data)
{
    mr_created(d, data);
}

void answer_create_mr(struct virtio_rdma *d, const uint8_t *data)
{
    mr_created(d, data);
}

enum rdl_status request_rereg_mr(struct guest_mr *mr, const struct verbs_region *to)
{
    struct virtio_rdma *d = driver_of(&mr->o);
    struct rfc_rereg_mr cmd = {.mrn = mr->mrn, .flags = to->what};
    struct raw_rereg_mr raw;
    enum rdl_status st = RDL_OK;

    if (to->what & RDL_REREG_PD)
        cmd.pdn = to->pd->pdn;
    if (to->what & RDL_REREG_ACCESS)
        cmd.access_flags = to->access;
    if (to->what & RDL_REREG_TRANSLATION) {
        st = list_pages(d, to->what & RDL_REREG_PD ? to->pd : mr->pd, &to->range, &cmd.npages);
        cmd.start = to->range.addr;
        cmd.length = to->range.bytes;
        cmd.virt_addr = to->range.iova;
        cmd.pages = d->ctrl.pages_gpa;
    }
    if (st != RDL_OK)
        return st;
    rfc_rereg_mr_put(&raw, &cmd);
    return ctrl_send(d, CMD_REREG_MR, &raw, mr->mrn);
}

void answer_rereg_mr(struct virtio_rdma *d, const uint8_t *data)
{
    struct guest_mr *mr = (struct guest_mr *)asked_about(d);

    (void)take_keys(mr, data); /* the number stays the same */
    verbs_reregistered(mr);
}

struct reg_list *reg_list_of(const struct guest_mr *mr)
{
    return ((const struct virtio_rdma_mr *)mr)->list;
}

void reg_list_give(struct virtio_rdma *d, struct reg_list *list)
{
    if (!list || --list->n_users > 0)
        return;
    dma_give(d->virtio.pci.dma, list->gpa, list->bytes);
    arena_release(d->arena, list, sizeof(*list));
}

static struct reg_list *reg_list_new(struct virtio_rdma *d, const struct rdl_mr_range *range)
{
    const uint64_t n = verbs_pages(range->addr, range->bytes);
    struct reg_list *list = arena_alloc(d->arena, sizeof(*list));

    if (!list)
        return NULL;
    *list = (struct reg_list){.bytes = pow2_ceil(8 * n),
                              .start = range->iova,
                              .length = range->bytes,
                              .n_pages = (uint32_t)n,
                              .n_users = 1};
    list->gpa = dma_take(d->virtio.pci.dma, list->bytes);
    if (list->gpa)
        return list;
    arena_release(d->arena, list, sizeof(*list));
    return NULL;
}

/* Writes the page list that the next REG_MR brings; the device is not asked.  Requests that are
 * posted already keep theirs.  [decision 0064]
 */
static enum rdl_status keep_pages(struct guest_mr *mr, const struct rdl_mr_range *range)
{
    struct virtio_rdma_mr *m = (struct virtio_rdma_mr *)mr;
    struct virtio_rdma *d = driver_of(&mr->o);
    struct reg_list *list = reg_list_new(d, range);
    enum rdl_status st;

    if (!list)
        return RDL_ERR_NOMEM;
    st = write_list(d, mr->pd, range, list->gpa, list->n_pages);
    if (st != RDL_OK) {
        reg_list_give(d, list);
        return st;
    }
    reg_list_give(d, m->list);
    m->list = list;
    verbs_mapped(mr);
    return RDL_OK;
}

static enum rdl_status map_by_request(struct guest_mr *mr, const struct rdl_mr_range *range)
{
    struct virtio_rdma *d = driver_of(&mr->o);
    struct rfc_map_mr_sg cmd = {.mrn = mr->mrn, .start = range->iova, .length = range->bytes};
    struct raw_map_mr_sg raw;
    const enum rdl_status st = list_pages(d, mr->pd, range, &cmd.npages);

    if (st != RDL_OK)
        return st;
    cmd.pages = d->ctrl.pages_gpa;
    rfc_map_mr_sg_put(&raw, &cmd);
    return ctrl_send(d, CMD_MAP_MR_SG, &raw, mr->mrn);
}

enum rdl_status request_map_mr_sg(struct guest_mr *mr, const struct rdl_mr_range *range)
{
    return virtio_has_feature(&driver_of(&mr->o)->virtio, VF_REG_IN_WQE)
               ? keep_pages(mr, range)
               : map_by_request(mr, range);
}

/* A device that maps fewer pages than it was told of has failed. */
void answer_map_mr_sg(struct virtio_rdma *d, const uint8_t *data)
{
    struct guest_mr *mr = (struct guest_mr *)asked_about(d);
    const struct rdl_mr_range *range = &d->verbs->request.region.range;

    if (ld_le32(data) == verbs_pages(range->addr, range->bytes))
        verbs_mapped(mr);
    else
        ctrl_failed(d, RSP_ERR);
}

enum rdl_status request_alloc_mw(struct guest_mw *mw)
{
    const struct rfc_alloc_mw cmd = {.pdn = mw->pd->pdn, .type = mw->type};
    struct raw_alloc_mw raw;

    rfc_alloc_mw_put(&raw, &cmd);
    return ctrl_send(driver_of(&mw->o), CMD_ALLOC_MW, &raw, 0);
}

void answer_alloc_mw(struct virtio_rdma *d, const uint8_t *data)
{
    struct guest_mw *mw = (struct guest_mw *)asked_about(d);
    struct rfc_mw_keys keys;
    struct raw_mw_keys raw;

    memcpy(&raw, data, sizeof(raw));
    rfc_mw_keys_get(&keys, &raw);
    mw->rkey = keys.rkey;
    verbs_created(&mw->o, keys.mwn);
}
