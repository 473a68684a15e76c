/* SPDX-License-Identifier: MIT */
/* Commands of memory regions, completion queues and shared receive queues. */
#include "emu/base/log2.h"
#include "emu/device/pvrdma/internal.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/handle.h"
#include "emu/hca/mr.h"
#include "emu/hca/srq.h"

#define SRQ_BASIC 0u

/* --- Regions ---------------------------------------------------------------------------------- */

/* A region for fast registration has all rights that a registration may give: the command has none.
 */
#define FAST_ACCESS (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

static enum refusal_reason create_user_mr(struct pv_call *c, const struct pv_create_mr *r,
                                          struct mkey **ret)
{
    struct hca *h = &c->d->nic.hca;
    const uint64_t most = ((h->limits.max_mr_bytes + PV_PAGE_BYTES - 1) / PV_PAGE_BYTES) + 1;
    struct mr_request req = {.pdn = r->pd,
                             .access = r->access,
                             .start = r->start,
                             .length = r->length,
                             .virt_addr = r->start,
                             .n_pages = r->pages};
    struct pv_pages pages;
    enum refusal_reason why;

    if (r->pages == 0 || r->pages > most)
        return pv_refuse(c, REF_PAGE_LIST_LENGTH, compared_range(1, most, r->pages));
    why = pv_pages_read(h, &(struct pv_directory){r->pdir, r->pages, r->pages}, &pages);
    if (why != REF_NONE)
        return why;
    req.pages = pages.gpa;
    why = hca_mr_create(h, &req, ret);
    pv_pages_free(h, &pages);
    return why;
}

enum refusal_reason pv_cmd_create_mr(struct pv_call *c)
{
    struct hca *h = &c->d->nic.hca;
    enum refusal_reason why;
    struct mkey *mr;
    bool remote;

    PV_TAKE(c, create_mr, r);
    if (r.flags == PV_MR_DMA)
        why = hca_dma_mr_create(h, r.pd, r.access, &mr);
    else if (r.flags == PV_MR_FAST && !rnic_has_mem_mgt(&c->d->nic))
        why = pv_refuse(c, REF_MEM_MGT_EXTENSIONS, compared_nothing());
    else if (r.flags == PV_MR_FAST)
        why = hca_fast_mr_create(h, r.pd, FAST_ACCESS, r.pages, &mr);
    else if (r.flags == 0)
        why = create_user_mr(c, &r, &mr);
    else
        why = pv_refuse(c, REF_MR_FLAGS, compared_found(r.flags));
    if (why != REF_NONE)
        return why;
    remote = mr->kind == KEY_FAST_MR || (mr->access & KEY_REMOTE_ACCESS);
    PV_ANSWER(c, mr_keys, .handle = key_number(mr->key), .lkey = mr->key,
              .rkey = remote ? mr->key : 0);
    return REF_NONE;
}

enum refusal_reason pv_cmd_destroy_mr(struct pv_call *c)
{
    PV_TAKE(c, handle, r);
    return hca_mr_destroy(&c->d->nic.hca, r.handle);
}

/* --- Completion queues ------------------------------------------------------------------------ */

enum refusal_reason pv_cmd_create_cq(struct pv_call *c)
{
    struct pvrdma *d = c->d;
    struct hca *h = &d->nic.hca;
    struct pv_pages pages;
    enum refusal_reason why;
    struct pv_uc *uc;
    struct cq *cq;

    PV_TAKE(c, create_cq, r);
    uc = pv_uc_at(d, r.ctx);
    if (!uc)
        return pv_refuse(c, REF_UC_HANDLE, compared_found(r.ctx));
    if (r.cqe > h->limits.max_cqe || r.cqe == 0)
        return pv_refuse(c, REF_CQ_ENTRIES, compared_range(1, h->limits.max_cqe, r.cqe));
    if (!is_pow2(r.cqe))
        return pv_refuse(c, REF_RING_SLOTS, compared_found(r.cqe));
    why = pv_pages_read(
        h, &(struct pv_directory){r.pdir, r.pages, 1 + (uint32_t)pv_pages_of(r.cqe, PV_BYTES_cqe)},
        &pages);
    if (why != REF_NONE)
        return why;
    why = hca_cq_create(h, r.cqe, &cq);
    if (why != REF_NONE) {
        pv_pages_free(h, &pages);
        return why;
    }
    uc->users++;
    d->cqs[cq->cqn].uc = r.ctx;
    d->cqs[cq->cqn].pages = pages;
    d->cqs[cq->cqn].ring = (struct pv_ring){.pages = &d->cqs[cq->cqn].pages,
                                            .state_at = PV_RING_RX,
                                            .first_page = 1,
                                            .n = r.cqe,
                                            .slot_bytes = PV_BYTES_cqe,
                                            .most = r.cqe};
    PV_ANSWER(c, cq_made, .handle = pv_handle_of(OBJ_CQ, cq->cqn), .cqe = r.cqe);
    return REF_NONE;
}

enum refusal_reason pv_cmd_resize_cq(struct pv_call *c)
{
    return pv_refuse(c, REF_COMMAND_UNKNOWN, compared_found(PV_CMD_RESIZE_CQ));
}

enum refusal_reason pv_cmd_destroy_cq(struct pv_call *c)
{
    struct pvrdma *d = c->d;
    enum refusal_reason why;
    uint32_t cqn;

    PV_TAKE(c, handle, r);
    cqn = pv_number_of(OBJ_CQ, r.handle);
    why = hca_cq_destroy(&d->nic.hca, cqn);
    if (why != REF_NONE)
        return why;
    d->ucs[d->cqs[cqn].uc].users--;
    if (d->cqs[cqn].note_due)
        d->n_notes_due--;
    pv_pages_free(&d->nic.hca, &d->cqs[cqn].pages);
    d->cqs[cqn] = (struct pv_cq){.note_due = false};
    rnic_events_forget(&d->nic, OBJ_CQ, cqn);
    return REF_NONE;
}

/* --- Shared receive queues -------------------------------------------------------------------- */

/* Checks the sizes of @r, so that the size of its ring can be computed. */
static enum refusal_reason check_srq(struct pv_call *c, const struct pv_create_srq *r)
{
    const struct hca_limits *l = &c->d->nic.hca.limits;

    if (r->type != SRQ_BASIC)
        return pv_refuse(c, REF_SRQ_TYPE, compared_found(r->type));
    if (r->max_wr == 0 || r->max_wr > l->max_qp_wr)
        return pv_refuse(c, REF_SRQ_WR, compared_range(1, l->max_qp_wr, r->max_wr));
    if (!is_pow2(r->max_wr))
        return pv_refuse(c, REF_RING_SLOTS, compared_found(r->max_wr));
    if (r->max_sge > l->max_recv_sge)
        return pv_refuse(c, REF_SRQ_SGE, compared_at_most(l->max_recv_sge, r->max_sge));
    if (r->limit > r->max_wr)
        return pv_refuse(c, REF_SRQ_ARMED_LIMIT, compared_at_most(r->max_wr, r->limit));
    return REF_NONE;
}

enum refusal_reason pv_cmd_create_srq(struct pv_call *c)
{
    struct pvrdma *d = c->d;
    struct hca *h = &d->nic.hca;
    struct pv_pages pages;
    enum refusal_reason why;
    uint32_t slot;
    struct srq *srq;

    PV_TAKE(c, create_srq, r);
    why = check_srq(c, &r);
    if (why != REF_NONE)
        return why;
    slot = pv_slot_bytes(PV_BYTES_rq_wqe, r.max_sge);
    why = pv_pages_read(
        h, &(struct pv_directory){r.pdir, r.pages, 1 + (uint32_t)pv_pages_of(r.max_wr, slot)},
        &pages);
    if (why != REF_NONE)
        return why;
    why = hca_srq_create(h, &(struct srq_config){r.pd, r.max_wr, r.max_sge}, &srq);
    if (why != REF_NONE) {
        pv_pages_free(h, &pages);
        return why;
    }
    srq->limit = r.limit;
    d->srqs[srq->srqn].pages = pages;
    d->srqs[srq->srqn].ring = (struct pv_ring){.pages = &d->srqs[srq->srqn].pages,
                                               .state_at = PV_RING_RX,
                                               .first_page = 1,
                                               .n = r.max_wr,
                                               .slot_bytes = slot};
    PV_ANSWER(c, handle, .handle = pv_handle_of(OBJ_SRQ, srq->srqn));
    return REF_NONE;
}

enum refusal_reason pv_cmd_modify_srq(struct pv_call *c)
{
    struct hca *h = &c->d->nic.hca;
    struct srq *srq;

    PV_TAKE(c, modify_srq, r);
    srq = hca_srq(h, pv_number_of(OBJ_SRQ, r.handle));
    if (!srq)
        return pv_refuse(c, REF_SRQ_HANDLE, compared_found(r.handle));
    if (r.mask & SRQ_MAX_WR)
        return pv_refuse(c, REF_SRQ_ATTR_OFFERED, compared_found(r.mask));
    if (r.mask & ~SRQ_LIMIT)
        return pv_refuse(c, REF_SRQ_ATTR_MASK, compared_found(r.mask));
    return r.mask & SRQ_LIMIT ? srq_set_limit(h, srq, r.limit) : REF_NONE;
}

enum refusal_reason pv_cmd_query_srq(struct pv_call *c)
{
    const struct srq *srq;

    PV_TAKE(c, handle, r);
    srq = hca_srq(&c->d->nic.hca, pv_number_of(OBJ_SRQ, r.handle));
    if (!srq)
        return pv_refuse(c, REF_SRQ_HANDLE, compared_found(r.handle));
    PV_ANSWER(c, srq_attr, .max_wr = srq->max_wr, .max_sge = srq->max_sge, .limit = srq->limit);
    return REF_NONE;
}

enum refusal_reason pv_cmd_destroy_srq(struct pv_call *c)
{
    struct pvrdma *d = c->d;
    enum refusal_reason why;
    uint32_t srqn;

    PV_TAKE(c, handle, r);
    srqn = pv_number_of(OBJ_SRQ, r.handle);
    why = hca_srq_destroy(&d->nic.hca, srqn);
    if (why != REF_NONE)
        return why;
    pv_pages_free(&d->nic.hca, &d->srqs[srqn].pages);
    d->srqs[srqn] = (struct pv_srq){.ring = {.pages = NULL}};
    rnic_events_forget(&d->nic, OBJ_SRQ, srqn);
    return REF_NONE;
}
