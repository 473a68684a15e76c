/* SPDX-License-Identifier: MIT */
/* Verbs for protection domains and memory. */
#include "emu/guest/verbs/verbs.h"

#include "emu/facts/enum/key_kind.h"
#include "emu/guest/verbs/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/verbs.h"

enum rdl_status verbs_alloc_pd(struct verbs *v, const char *name, uint64_t *ret)
{
    enum rdl_status st = request_ready_to_create(v);
    struct guest_object *o;
    uint64_t handle;

    if (st == RDL_OK)
        st = object_new(v, OBJ_PD, name, &o);
    if (st != RDL_OK)
        return st;
    handle = o->handle;
    request_begin(v, VERBS_CREATE, o);
    st = object_sent(o, object_ask(o));
    if (st == RDL_OK)
        *ret = handle;
    return st;
}

enum rdl_status verbs_dealloc_pd(struct guest_pd *pd)
{
    return object_destroy(&pd->o);
}

enum rdl_status verbs_mem_alloc(struct verbs *v, uint64_t bytes, uint64_t *ret)
{
    struct space *space = v->config.space;
    const uint64_t addr = bytes <= space->ram->bytes ? space_alloc(space, bytes) : 0;

    if (!addr)
        return RDL_ERR_NOMEM;
    *ret = addr;
    return RDL_OK;
}

/* Returns true if a registered region overlaps [@addr, @addr + @bytes). */
static bool is_registered(const struct verbs *v, uint64_t addr, uint64_t bytes)
{
    const struct slots *mrs = &v->objects[OBJ_MR];
    uint32_t left = mrs->used;

    for (uint32_t i = 0; left > 0; i++) {
        const struct guest_mr *mr = slots_at(mrs, i);

        if (!mr)
            continue;
        if (mr->kind != KEY_DMA_MR && mr->addr < addr + bytes && addr < mr->addr + mr->bytes)
            return true;
        left--;
    }
    return false;
}

enum rdl_status verbs_mem_free(struct verbs *v, uint64_t addr)
{
    uint64_t bytes = 0;
    const uint64_t start = space_alloc_at(v->config.space, addr, &bytes);

    if (!start)
        return RDL_ERR_FAULT;
    if (is_registered(v, start, bytes))
        return RDL_ERR_BUSY;
    space_free(v->config.space, start);
    return RDL_OK;
}

enum rdl_status verbs_mem_read(const struct verbs *v, uint64_t addr, void *out, size_t bytes)
{
    return space_read(v->config.space, addr, out, bytes) ? RDL_OK : RDL_ERR_FAULT;
}

enum rdl_status verbs_mem_write(struct verbs *v, uint64_t addr, const void *in, size_t bytes)
{
    if (!space_write(v->config.space, addr, in, bytes))
        return RDL_ERR_FAULT;
    TRACE(v->config.trace, mem_write, .host = v->config.host, .addr = addr,
          .bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes);
    return RDL_OK;
}
