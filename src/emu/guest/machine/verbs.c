/* SPDX-License-Identifier: MIT */
/* Verbs for protection domains, memory and memory regions. */
#include "emu/guest/machine/verbs.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/log2.h"
#include "emu/guest/machine/internal.h"

/* The object that the answered request is about; the first member of each kind. */
static struct guest_pd *answered_pd(const struct guest *g)
{
    return (struct guest_pd *)g->ctrl.object;
}

static struct guest_mr *answered_mr(const struct guest *g)
{
    return (struct guest_mr *)g->ctrl.object;
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
    st = ctrl_send(g, CMD_CREATE_PD, NULL, o, 0);
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
    return object_send_destroy(&pd->o, CMD_DESTROY_PD, pd->pdn);
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

    if (bytes == 0 || (access & ~GUEST_ACCESS_ALL))
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
    return ctrl_send(g, CMD_REG_USER_MR, &raw, &mr->o, 0);
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
    return object_send_destroy(&mr->o, CMD_DEREG_MR, mr->mrn);
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
