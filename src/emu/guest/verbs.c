/* SPDX-License-Identifier: MIT */
/* Verbs for protection domains, memory, memory regions and completion queues. */
#include "emu/guest/verbs.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/log2.h"
#include "emu/guest/internal.h"

/* Flags of REQ_NOTIFY_CQ.  [virtio-rdma RFC, Request Notify CQ] */
#define NOTIFY_SOLICITED       1u
#define NOTIFY_NEXT_COMPLETION 2u

#define ACCESS_ALL                                                                                 \
    (unsigned)(ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

/* A destroying request for @o; the response has no data. */
static enum rdl_status send_destroy(struct guest_object *o, enum ctrl_cmd cmd, uint32_t number)
{
    enum rdl_status st = ctrl_ready(o->guest);
    uint8_t handle[4];

    if (st == RDL_OK)
        st = object_destroyable(o);
    if (st != RDL_OK)
        return st;
    st_le32(handle, number);
    o->life = GUEST_LEAVING;
    st = ctrl_send(o->guest, cmd, handle, sizeof(handle), 0, o, number);
    if (st != RDL_OK)
        o->life = GUEST_LIVE;
    return st;
}

void destroy_refused(struct guest *g)
{
    g->ctrl.object->life = GUEST_LIVE;
}

/* The object that the answered request is about; the first member of each kind. */
static struct guest_pd *answered_pd(const struct guest *g)
{
    return (struct guest_pd *)g->ctrl.object;
}

static struct guest_mr *answered_mr(const struct guest *g)
{
    return (struct guest_mr *)g->ctrl.object;
}

static struct guest_cq *answered_cq(const struct guest *g)
{
    return (struct guest_cq *)g->ctrl.object;
}

enum rdl_status guest_alloc_pd(struct guest *g, const char *name, uint32_t *ret)
{
    enum rdl_status st = ctrl_ready(g);
    struct guest_object *o;
    uint32_t handle;

    if (st == RDL_OK)
        st = object_new(g, OBJ_PD, name, &o);
    if (st != RDL_OK)
        return st;
    handle = o->handle;
    st = ctrl_send(g, CMD_CREATE_PD, NULL, 0, sizeof(struct raw_pd_handle), o, 0);
    if (st != RDL_OK) {
        object_drop(o);
        return st;
    }
    *ret = handle;
    return RDL_OK;
}

void pd_created(struct guest *g, const uint8_t *data)
{
    struct guest_pd *pd = answered_pd(g);

    pd->pdn = ld_le32(data);
    object_live(&pd->o, pd->pdn);
}

void pd_refused(struct guest *g)
{
    object_drop(g->ctrl.object);
}

enum rdl_status guest_dealloc_pd(struct guest_pd *pd)
{
    return send_destroy(&pd->o, CMD_DESTROY_PD, pd->pdn);
}

void pd_destroyed(struct guest *g, const uint8_t *data)
{
    (void)data;
    object_gone(g->ctrl.object, answered_pd(g)->pdn);
}

enum rdl_status guest_mem_alloc(struct guest *g, uint64_t bytes, uint64_t *ret)
{
    const uint64_t addr = bytes <= g->config.ram->bytes ? space_alloc(&g->space, bytes) : 0;

    if (!addr)
        return RDL_ERR_NOMEM;
    *ret = addr;
    return RDL_OK;
}

enum rdl_status guest_mem_read(const struct guest *g, uint64_t addr, void *out, size_t bytes)
{
    return space_read(&g->space, addr, out, bytes) ? RDL_OK : RDL_ERR_FAULT;
}

enum rdl_status guest_mem_write(struct guest *g, uint64_t addr, const void *in, size_t bytes)
{
    if (!space_write(&g->space, addr, in, bytes))
        return RDL_ERR_FAULT;
    TRACE(g->config.trace, mem_write, .host = g->config.host, .addr = addr,
          .bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes);
    return RDL_OK;
}

/* Room for @n entries in the page list, which grows and is never given back for good. */
static enum rdl_status reserve_pages(struct guest *g, uint64_t n)
{
    struct guest_ctrl *c = &g->ctrl;
    const uint64_t bytes = pow2_ceil(n * 8 > RAM_PAGE_BYTES ? n * 8 : RAM_PAGE_BYTES);

    if (bytes <= c->pages_bytes)
        return RDL_OK;
    dma_give(&g->dma, c->pages_gpa, c->pages_bytes);
    c->pages_bytes = 0;
    c->pages_gpa = dma_take(&g->dma, bytes);
    if (!c->pages_gpa)
        return RDL_ERR_NOMEM;
    c->pages_bytes = bytes;
    return RDL_OK;
}

/* Lists the physical pages of @n virtual ones from @page, le64 each. */
static enum rdl_status list_pages(struct guest *g, uint64_t page, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint8_t entry[8];
        uint64_t gpa;

        if (!space_translate(&g->space, page + i * RAM_PAGE_BYTES, &gpa))
            return RDL_ERR_FAULT;
        st_le64(entry, gpa);
        if (!ram_write(g->config.ram, g->ctrl.pages_gpa + 8 * i, entry, sizeof(entry)))
            return RDL_ERR_NOMEM;
    }
    return RDL_OK;
}

/* The pages of [@addr, @addr + @bytes), for which a region with @access may be asked. */
static enum rdl_status check_region(const struct guest *g, uint64_t addr, uint64_t bytes,
                                    uint32_t access, uint64_t *ret_n_pages)
{
    const uint64_t page = addr & ~(uint64_t)(RAM_PAGE_BYTES - 1);

    if (bytes == 0 || (access & ~ACCESS_ALL))
        return RDL_ERR_INVAL;
    if ((access & (ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC)) && !(access & ACC_LOCAL_WRITE))
        return RDL_ERR_INVAL;
    if (bytes > g->device.max_mr_size)
        return RDL_ERR_LIMIT;
    /* More than all of RAM cannot be mapped, and need not be listed to find that out. */
    if (bytes > g->config.ram->bytes || addr > UINT64_MAX - bytes)
        return RDL_ERR_FAULT;
    *ret_n_pages = (addr + bytes - 1 - page) / RAM_PAGE_BYTES + 1;
    return RDL_OK;
}

static enum rdl_status send_reg_mr(struct guest_mr *mr, uint64_t n_pages)
{
    struct guest *g = mr->o.guest;
    const struct rfc_reg_user_mr cmd = {
        .pdn = mr->pd->pdn,
        .access_flags = mr->access,
        .start = mr->addr,
        .length = mr->bytes,
        .virt_addr = mr->addr,
        .pages = g->ctrl.pages_gpa,
        .npages = (uint32_t)n_pages,
    };
    struct raw_reg_user_mr raw;

    rfc_reg_user_mr_put(&raw, &cmd);
    return ctrl_send(g, CMD_REG_USER_MR, &raw, sizeof(raw), sizeof(struct raw_mr_keys), &mr->o, 0);
}

static void mr_drop(struct guest_mr *mr)
{
    mr->pd->o.n_users--;
    object_drop(&mr->o);
}

enum rdl_status guest_reg_mr(struct guest_pd *pd, uint64_t addr, uint64_t bytes, uint32_t access,
                             const char *name, uint32_t *ret)
{
    struct guest *g = pd->o.guest;
    enum rdl_status st = ctrl_ready(g);
    struct guest_object *o;
    struct guest_mr *mr;
    uint64_t n_pages;
    uint32_t handle;

    if (st == RDL_OK)
        st = object_usable(&pd->o);
    if (st == RDL_OK)
        st = check_region(g, addr, bytes, access, &n_pages);
    if (st == RDL_OK)
        st = reserve_pages(g, n_pages);
    if (st == RDL_OK)
        st = list_pages(g, addr & ~(uint64_t)(RAM_PAGE_BYTES - 1), n_pages);
    if (st == RDL_OK)
        st = object_new(g, OBJ_MR, name, &o);
    if (st != RDL_OK)
        return st;

    mr = (struct guest_mr *)o;
    mr->pd = pd;
    mr->addr = addr;
    mr->bytes = bytes;
    mr->access = access;
    pd->o.n_users++;
    handle = o->handle;
    st = send_reg_mr(mr, n_pages);
    if (st != RDL_OK) {
        mr_drop(mr);
        return st;
    }
    *ret = handle;
    return RDL_OK;
}

void mr_created(struct guest *g, const uint8_t *data)
{
    struct guest_mr *mr = answered_mr(g);
    struct rfc_mr_keys keys;
    struct raw_mr_keys raw;

    memcpy(&raw, data, sizeof(raw));
    rfc_mr_keys_get(&keys, &raw);
    mr->mrn = keys.mrn;
    mr->lkey = keys.lkey;
    mr->rkey = keys.rkey;
    object_live(&mr->o, mr->mrn);
}

void mr_refused(struct guest *g)
{
    mr_drop(answered_mr(g));
}

enum rdl_status guest_dereg_mr(struct guest_mr *mr)
{
    return send_destroy(&mr->o, CMD_DEREG_MR, mr->mrn);
}

void mr_destroyed(struct guest *g, const uint8_t *data)
{
    struct guest_mr *mr = answered_mr(g);

    (void)data;
    mr->pd->o.n_users--;
    object_gone(&mr->o, mr->mrn);
}

void guest_mr_info(const struct guest_mr *mr, struct rdl_mr_info *ret)
{
    *ret = (struct rdl_mr_info){
        .addr = mr->addr,
        .bytes = mr->bytes,
        .lkey = mr->lkey,
        .rkey = mr->rkey,
        .access = mr->access,
    };
}

static void cq_drop(struct guest_cq *cq)
{
    queue_mem_give(cq->o.guest, &cq->mem);
    object_drop(&cq->o);
}

enum rdl_status guest_create_cq(struct guest *g, uint32_t cqe, const char *name, uint32_t *ret)
{
    enum rdl_status st = ctrl_ready(g);
    struct guest_object *o;
    struct guest_cq *cq;
    uint8_t request[sizeof(struct raw_create_cq)];
    uint32_t handle;

    if (st == RDL_OK && cqe == 0)
        st = RDL_ERR_INVAL;
    if (st == RDL_OK && cqe > g->device.max_cqe)
        st = RDL_ERR_LIMIT;
    if (st == RDL_OK)
        st = object_new(g, OBJ_CQ, name, &o);
    if (st != RDL_OK)
        return st;

    cq = (struct guest_cq *)o;
    cq->cqe = cqe;
    handle = o->handle;
    st_le32(request, cqe);
    st = queue_mem_take(g, cqe, sizeof(struct raw_cqe), &cq->mem);
    if (st == RDL_OK)
        st = ctrl_send(g, CMD_CREATE_CQ, request, sizeof(request), sizeof(struct raw_cq_handle), o,
                       0);
    if (st != RDL_OK) {
        cq_drop(cq);
        return st;
    }
    *ret = handle;
    return RDL_OK;
}

/* Gives the device a buffer for each entry; no interrupt until the CQ is armed. */
static void fill(struct guest_cq *cq)
{
    struct guest *g = cq->o.guest;
    struct vqd *q = guest_vq(g, cq->cqn);

    for (uint32_t i = 0; i < cq->cqe; i++) {
        const struct vqd_seg seg = {guest_slot_gpa(&cq->mem, vqd_next_head(q)),
                                    sizeof(struct raw_cqe)};
        uint16_t head;

        if (!vqd_add(q, g->config.ram, &seg, 0, 1, &head))
            break; /* only a broken ring is too short */
    }
    vqd_want_interrupt(q, g->config.ram, false);
    vqd_publish(q, g->config.ram);
    queue_kick(g, cq->cqn);
}

void cq_created(struct guest *g, const uint8_t *data)
{
    struct guest_cq *cq = answered_cq(g);
    const uint32_t cqn = ld_le32(data);

    if (cqn < 1 || cqn > g->device.max_cq || g->cq_of[cqn] ||
        queue_attach(g, cqn, &cq->mem, cq_vector(g, cqn)) != RDL_OK) {
        g->broken = true;
        cq_drop(cq);
        return;
    }
    cq->cqn = cqn;
    g->cq_of[cqn] = cq;
    object_live(&cq->o, cqn);
    fill(cq);
}

void cq_refused(struct guest *g)
{
    cq_drop(answered_cq(g));
}

enum rdl_status guest_destroy_cq(struct guest_cq *cq)
{
    return send_destroy(&cq->o, CMD_DESTROY_CQ, cq->cqn);
}

void cq_destroyed(struct guest *g, const uint8_t *data)
{
    struct guest_cq *cq = answered_cq(g);

    (void)data;
    g->cq_of[cq->cqn] = NULL;
    queue_detach(g, cq->cqn, cq_vector(g, cq->cqn));
    queue_mem_give(g, &cq->mem);
    object_gone(&cq->o, cq->cqn);
}

enum rdl_status guest_req_notify_cq(struct guest_cq *cq, bool solicited_only)
{
    struct guest *g = cq->o.guest;
    const struct rfc_req_notify cmd = {
        .cqn = cq->cqn,
        .flags = solicited_only ? NOTIFY_SOLICITED : NOTIFY_NEXT_COMPLETION,
    };
    struct raw_req_notify raw;
    enum rdl_status st = ctrl_ready(g);

    if (st == RDL_OK)
        st = object_usable(&cq->o);
    if (st != RDL_OK)
        return st;
    rfc_req_notify_put(&raw, &cmd);
    /* Before the device may raise it, so that an event right after the answer is not missed. */
    cq->armed = true;
    vqd_want_interrupt(guest_vq(g, cq->cqn), g->config.ram, true);
    st = ctrl_send(g, CMD_REQ_NOTIFY_CQ, &raw, sizeof(raw), 0, &cq->o, cq->cqn);
    if (st != RDL_OK)
        cq->armed = false;
    return st;
}

void notify_refused(struct guest *g)
{
    answered_cq(g)->armed = false;
}

uint64_t cq_completions(const struct guest_cq *cq)
{
    const struct guest *g = cq->o.guest;

    return cq->polled + vqd_used_count(guest_vq(g, cq->cqn), g->config.ram);
}
