/* SPDX-License-Identifier: MIT */
/* Control requests for memory regions and windows.  [virtio-rdma RFC, controlq Operation]
 *
 * Page lists are flat: npages le64 guest-physical addresses of pages.  Their size follows from
 * their number: see mr.c.  [decision 0063]
 */
#include "emu/device/ctrl.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "emu/hca/mr.h"
#include "emu/hca/mw.h"

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
    struct listed_pages list = {0};
    enum refusal_reason why;

    REQUEST(c, map_mr_sg, r);
    c->number = r.mrn;
    if (virtio_has(&c->d->pci, VF_REG_IN_WQE)) /* REG_MR maps the pages */
        return ctrl_refuse(c, REF_COMMAND_UNKNOWN, compared_found(CMD_MAP_MR_SG));
    if (!rnic_has_mem_mgt(&c->d->nic))
        return ctrl_refuse(c, REF_MEM_MGT_EXTENSIONS, compared_nothing());
    why = hca_list_read(&c->d->nic.hca, r.pages, r.npages, &list);
    if (why != REF_NONE)
        return why;
    why =
        hca_mr_map(&c->d->nic.hca, r.mrn, &(struct mr_map){r.start, r.length, list.gpa, r.npages});
    hca_list_free(&c->d->nic.hca, &list);
    if (why == REF_NONE)
        RESPOND(c, mapped, .npages = r.npages);
    return why;
}

enum refusal_reason ctrl_reg_user_mr(struct call *c)
{
    struct mr_request mr_req;
    struct listed_pages list = {0};
    enum refusal_reason why;
    struct mkey *mr;

    REQUEST(c, reg_user_mr, r);
    why = hca_list_read(&c->d->nic.hca, r.pages, r.npages, &list);
    if (why != REF_NONE)
        return why;
    mr_req = (struct mr_request){r.pdn,       r.access_flags, r.start, r.length,
                                 r.virt_addr, list.gpa,       r.npages};
    why = hca_mr_create(&c->d->nic.hca, &mr_req, &mr);
    hca_list_free(&c->d->nic.hca, &list);
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
    struct listed_pages list = {.gpa = NULL};
    enum refusal_reason why = REF_NONE;
    struct mr_request mr_req;
    struct mkey *mr;

    REQUEST(c, rereg_mr, r);
    c->number = r.mrn;
    if (r.flags & REREG_TRANSLATION)
        why = hca_list_read(&c->d->nic.hca, r.pages, r.npages, &list);
    if (why != REF_NONE)
        return why;
    mr_req = (struct mr_request){r.pdn,       r.access_flags, r.start, r.length,
                                 r.virt_addr, list.gpa,       list.n};
    why = hca_mr_change(&c->d->nic.hca, r.mrn, r.flags, &mr_req, &mr);
    hca_list_free(&c->d->nic.hca, &list);
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
