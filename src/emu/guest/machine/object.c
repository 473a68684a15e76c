/* SPDX-License-Identifier: MIT */
/* Names and lives of objects.
 *
 * An object has its handle as soon as it is asked for.  It lives when the device has said yes; one
 * without a name of its own is then called after its number ("qp2").
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/fnv.h"
#include "emu/base/text.h"
#include "emu/facts/leaf.h"
#include "emu/guest/machine/internal.h"

static const struct {
    size_t bytes;
    const char *prefix; /* of a default name */
} kinds[] = {
    [OBJ_PD] = {sizeof(struct guest_pd), "pd"},
    [OBJ_MR] = {sizeof(struct guest_mr), "mr"},
    [OBJ_CQ] = {sizeof(struct guest_cq), "cq"},
    [OBJ_QP] = {sizeof(struct guest_qp), "qp"},
};

bool guest_tables_init(struct guest_tables *t, struct arena *a)
{
    *t = (struct guest_tables){0};
    return slots_init(&t->pd, a, GUEST_OBJECTS_MAX) && slots_init(&t->mr, a, GUEST_OBJECTS_MAX) &&
           slots_init(&t->cq, a, GUEST_OBJECTS_MAX) && slots_init(&t->qp, a, GUEST_OBJECTS_MAX);
}

static struct slots *table_of(const struct guest *g, enum object_kind kind)
{
    switch (kind) {
    case OBJ_PD:
        return &g->config.tables->pd;
    case OBJ_MR:
        return &g->config.tables->mr;
    case OBJ_CQ:
        return &g->config.tables->cq;
    default:
        return &g->config.tables->qp;
    }
}

static uint32_t bucket_of(const char *name)
{
    return fnv1a(name, strlen(name)) % GUEST_NAME_BUCKETS;
}

struct guest_object *guest_find(const struct guest *g, const char *name)
{
    struct guest_object *o = g->named[bucket_of(name)];

    while (o && strcmp(o->name, name) != 0)
        o = o->next_named;
    return o;
}

static void enter_name(struct guest_object *o)
{
    struct guest_object **first = &o->guest->named[bucket_of(o->name)];

    o->next_named = *first;
    *first = o;
}

static void leave_name(struct guest_object *o)
{
    struct guest_object **at = &o->guest->named[bucket_of(o->name)];

    while (*at && *at != o)
        at = &(*at)->next_named;
    if (*at)
        *at = o->next_named;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* Letters, digits, - and _, and short enough. */
static bool is_name(const char *s)
{
    const size_t n = strnlen(s, RDL_NAME_BYTES);

    for (size_t i = 0; i < n; i++) {
        if (!is_name_char(s[i]))
            return false;
    }
    return n < RDL_NAME_BYTES;
}

enum rdl_status object_new(struct guest *g, enum object_kind kind, const char *name,
                           struct guest_object **ret)
{
    struct guest_object *o;

    if (!name)
        name = "";
    if (!is_name(name))
        return RDL_ERR_INVAL;
    if (leaf_reserved(NODE_host, name))
        return RDL_ERR_RESERVED;
    if (name[0] && guest_find(g, name))
        return RDL_ERR_EXISTS;
    o = arena_alloc(g->arena, kinds[kind].bytes);
    if (!o)
        return RDL_ERR_NOMEM;
    o->handle = slots_add(table_of(g, kind), o);
    if (!o->handle) {
        arena_release(g->arena, o, kinds[kind].bytes);
        return RDL_ERR_LIMIT;
    }
    o->guest = g;
    o->kind = kind;
    memcpy(o->name, name, strlen(name) + 1);
    if (name[0])
        enter_name(o);
    *ret = o;
    return RDL_OK;
}

/* "qp2", or "qp2-1" and on when somebody took that name: there are more names than objects. */
static void name_by_number(struct guest_object *o, uint32_t number)
{
    for (uint32_t i = 0; i <= GUEST_OBJECTS_MAX * ARRAY_LEN(kinds); i++) {
        struct text t = text_on(o->name, sizeof(o->name));

        text_addf(&t, "%s%u", kinds[o->kind].prefix, number);
        if (i > 0)
            text_addf(&t, "-%u", i);
        if (!guest_find(o->guest, o->name))
            break;
    }
    enter_name(o);
}

void object_live(struct guest_object *o, uint32_t number)
{
    const struct guest *g = o->guest;

    if (!o->name[0])
        name_by_number(o, number);
    o->life = GUEST_LIVE;
    TRACE(g->config.trace, named, .host = g->config.host, .object = o->kind, .number = number,
          .name = ev_str(o->name));
}

void object_drop(struct guest_object *o)
{
    struct guest *g = o->guest;

    if (o->name[0])
        leave_name(o);
    slots_remove(table_of(g, o->kind), o->handle);
    arena_release(g->arena, o, kinds[o->kind].bytes);
}

void object_gone(struct guest_object *o, uint32_t number)
{
    const struct guest *g = o->guest;

    TRACE(g->config.trace, gone, .host = g->config.host, .object = o->kind, .number = number,
          .name = ev_str(o->name));
    object_drop(o);
}

enum rdl_status object_usable(const struct guest_object *o)
{
    return o->life == GUEST_LIVE ? RDL_OK : RDL_ERR_BUSY;
}

enum rdl_status object_destroyable(const struct guest_object *o)
{
    return o->life == GUEST_LIVE && o->n_users == 0 ? RDL_OK : RDL_ERR_BUSY;
}

enum rdl_status object_send_destroy(struct guest_object *o, enum ctrl_cmd cmd, uint32_t number)
{
    enum rdl_status st = ctrl_ready(o->guest);
    uint8_t handle[4]; /* the structures of all destroying requests */

    if (st == RDL_OK)
        st = object_destroyable(o);
    if (st != RDL_OK)
        return st;
    st_le32(handle, number);
    o->life = GUEST_LEAVING;
    st = ctrl_send(o->guest, cmd, handle, o, number);
    if (st != RDL_OK)
        o->life = GUEST_LIVE;
    return st;
}

void destroy_refused(struct guest *g)
{
    g->ctrl.object->life = GUEST_LIVE;
}
