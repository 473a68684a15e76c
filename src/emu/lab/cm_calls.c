/* SPDX-License-Identifier: MIT */
#include "emu/lab/cm_calls.h"

#include "emu/base/arena.h"
#include "emu/facts/enum/cm_call.h"

struct cm_calls {
    uint64_t n; /* number of calls so far; call i is at[i % RDL_CM_CALLS_MAX] */
    struct rdl_cm_call at[RDL_CM_CALLS_MAX];
};

struct cm_calls *cm_calls_new(struct arena *arena)
{
    return arena_alloc(arena, sizeof(struct cm_calls));
}

void cm_calls_add(struct cm_calls *list, const struct rdl_cm_call *call)
{
    if (list)
        list->at[list->n++ % RDL_CM_CALLS_MAX] = *call;
}

static size_t count(const struct cm_calls *list)
{
    return list->n < RDL_CM_CALLS_MAX ? (size_t)list->n : RDL_CM_CALLS_MAX;
}

/* Returns the call before the last @back ones. */
static struct rdl_cm_call *from_end(struct cm_calls *list, size_t back)
{
    return &list->at[(list->n - 1 - back) % RDL_CM_CALLS_MAX];
}

void cm_calls_turn(struct cm_calls *list, uint32_t host, uint32_t id, uint32_t from, uint32_t to,
                   uint64_t at_ns, uint64_t tick)
{
    struct rdl_cm_call found;
    size_t back = 0;

    for (; list && back < count(list); back++) {
        const struct rdl_cm_call *c = from_end(list, back);

        if (c->call == CM_CALL_rdma_get_cm_event && c->host == host && c->id == id)
            break;
    }
    if (!list || back == count(list) || from_end(list, back)->event != from)
        return;
    found = *from_end(list, back);
    for (; back > 0; back--) /* it becomes the last one: later calls come before it */
        *from_end(list, back) = *from_end(list, back - 1);
    found.event = to;
    found.at_ns = at_ns;
    found.tick = tick;
    *from_end(list, 0) = found;
}

size_t cm_calls_count(const struct cm_calls *list)
{
    return list ? count(list) : 0;
}

const struct rdl_cm_call *cm_calls_at(const struct cm_calls *list, size_t i)
{
    return &list->at[(list->n - count(list) + i) % RDL_CM_CALLS_MAX];
}
