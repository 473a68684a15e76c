/* SPDX-License-Identifier: MIT */
/* Asynchronous events for programs.  [libibverbs, ibv_get_async_event(3)]
 *
 * Events are queued until a program takes them.  At most VERBS_EVENTS_MAX are queued; further
 * events are dropped and counted.  A taken event prevents its object from being destroyed until the
 * program acknowledges it.  Queued events are dropped when their object is destroyed.
 */
#include "emu/facts/async.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/async_event.h"
#include "emu/guest/verbs/internal.h"

static struct rdl_async_event *waiting(struct verbs_async *a, uint32_t i)
{
    return &a->ring[(a->first + i) % VERBS_EVENTS_MAX];
}

/* The object of @kind that has @number, or NULL. */
static const struct guest_object *object_of(const struct verbs *v, enum object_kind kind,
                                            uint32_t number)
{
    if (kind == OBJ_QP)
        return verbs_qp(v, number) ? &verbs_qp(v, number)->o : NULL;
    if (kind == OBJ_CQ)
        return verbs_cq(v, number) ? &verbs_cq(v, number)->o : NULL;
    if (kind == OBJ_SRQ)
        return verbs_srq(v, number) ? &verbs_srq(v, number)->o : NULL;
    return NULL;
}

static void put(struct verbs_async *a, const struct rdl_async_event *e)
{
    if (a->len == VERBS_EVENTS_MAX)
        a->lost++;
    else
        *waiting(a, a->len++) = *e;
}

/* Returns true unless the event is of the time before the program came: the device may have kept it
 * until somebody listened.
 */
static bool is_news(struct guest_program *p, uint32_t type)
{
    const bool knew = p->knows_port;

    if (type == ASE_PORT_ACTIVE || type == ASE_PORT_ERR)
        p->knows_port = type == ASE_PORT_ACTIVE;
    return type != ASE_PORT_ACTIVE || !knew;
}

/* Events of the port and of the device go to everybody, others to the owner of the object. */
void verbs_async(struct verbs *v, uint32_t type, uint32_t number)
{
    const enum object_kind kind = async_object(type);
    const struct guest_object *o = object_of(v, kind, number);
    const struct rdl_async_event e = {type, (uint32_t)kind, o ? o->handle : 0, number};

    v->async.heard++;
    if (type >= ASYNC_EVENTS || (kind != OBJ_NONE && !o)) {
        v->async.strays++;
        return;
    }
    put(o && o->owner ? &o->owner->async : &v->async, &e);
    for (struct guest_program *p = o ? NULL : v->programs; p; p = p->next) {
        if (is_news(p, type))
            put(&p->async, &e);
    }
}

void verbs_async_missed(struct verbs *v)
{
    v->async.missed++;
}

void verbs_async_unnamed(struct verbs *v, uint64_t n)
{
    v->async.unnamed += n;
}

void async_listen(struct verbs *v)
{
    if (v->async.listening)
        return;
    v->async.listening = true;
    v->ops->listen(v);
}

void async_forget(const struct guest_object *o)
{
    struct verbs_async *a = o->owner ? &o->owner->async : &o->verbs->async;
    const uint32_t n = a->len;

    a->len = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct rdl_async_event e = *waiting(a, i);

        if (e.raw != o->handle || e.object != (uint32_t)o->kind)
            *waiting(a, a->len++) = e;
    }
}

const struct rdl_async_event *verbs_async_waiting(const struct verbs *v, uint32_t i)
{
    return i < v->async.len ? &v->async.ring[(v->async.first + i) % VERBS_EVENTS_MAX] : NULL;
}

enum rdl_status verbs_get_async_event(struct verbs *v, struct rdl_async_event *ret, size_t *ret_n)
{
    struct verbs_async *a = v->current ? &v->current->async : &v->async;
    const enum rdl_status st = verbs_usable(v);
    struct guest_object *o;

    if (st != RDL_OK)
        return st;
    async_listen(v);
    *ret_n = 0;
    if (a->len == 0)
        return RDL_OK;
    *ret = *waiting(a, 0);
    *ret_n = 1;
    a->first = (a->first + 1) % VERBS_EVENTS_MAX;
    a->len--;
    if (ret->object == OBJ_NONE)
        return RDL_OK;
    o = verbs_get(v, (enum object_kind)ret->object, ret->raw);
    RDL_ASSERT(o);                     /* async_forget() removed the events of destroyed objects */
    if (o->kept_by == RDL_KERNEL_NONE) /* otherwise the kernel could not destroy it */
        o->n_unacked++;
    return RDL_OK;
}

enum rdl_status verbs_ack_async_event(struct guest_object *o)
{
    if (o->n_unacked == 0)
        return RDL_ERR_STATE;
    o->n_unacked--;
    return RDL_OK;
}
