/* SPDX-License-Identifier: MIT */
/* Names and lifetimes of objects.
 *
 * An object has its handle from the create request on.  It becomes live when the device accepts the
 * request.  An object without a name is then named after its number ("qp2").
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/fnv.h"
#include "emu/base/name.h"
#include "emu/base/text.h"
#include "emu/facts/leaf.h"
#include "emu/guest/verbs/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/lab.h"

_Static_assert(OBJ_CM_ID + 1 == VERBS_KINDS, "there is a table for every kind of object");

static const char *const default_names[VERBS_KINDS] = {
    [OBJ_PD] = "pd",           [OBJ_MR] = "mr",   [OBJ_CQ] = "cq",
    [OBJ_QP] = "qp",           [OBJ_AH] = "ah",   [OBJ_MW] = "mw",
    [OBJ_CHANNEL] = "channel", [OBJ_SRQ] = "srq", [OBJ_EVENT_CHANNEL] = "events",
    [OBJ_CM_ID] = "id",
};

static size_t bytes_of(const struct verbs *v, uint32_t kind)
{
    return kind == OBJ_EVENT_CHANNEL || kind == OBJ_CM_ID ? sizeof(struct guest_cm_object)
                                                          : v->ops->object_bytes[kind];
}

/* Enters @o into the table of its kind, growing the table if necessary, and sets its handle.
 * Returns RDL_OK, RDL_ERR_LIMIT or RDL_ERR_NOMEM.
 */
static enum rdl_status enter_table(struct verbs *v, struct guest_object *o)
{
    struct slots *table = &v->objects[o->kind];
    uint64_t name;

    if (slots_are_full(table))
        return RDL_ERR_LIMIT;
    name = slots_add(table, o);
    if (!name)
        return RDL_ERR_NOMEM;
    o->handle = (uint64_t)(v->config.host + 1) << VERBS_NAME_BITS | name;
    return RDL_OK;
}

static void leave_table(struct guest_object *o)
{
    struct slots *table = &o->verbs->objects[o->kind];

    slots_remove(table, verbs_name_of(o->handle));
}

/* The hash list for objects called @name. */
static struct guest_object **bucket_of(const struct verbs *v, const char *name)
{
    const uint32_t hash = fnv1a(name, strlen(name));

    if (v->more_named)
        return &v->more_named[hash % v->n_buckets];
    return (struct guest_object **)&v->named[hash % GUEST_NAME_BUCKETS];
}

struct guest_object *verbs_find(const struct verbs *v, const char *name)
{
    struct guest_object *o = *bucket_of(v, name);

    while (o && strcmp(o->name, name) != 0)
        o = o->next_named;
    return o;
}

static void link_name(struct verbs *v, struct guest_object *o)
{
    struct guest_object **first = bucket_of(v, o->name);

    o->next_named = *first;
    *first = o;
}

/* Increases the number of hash lists so that each stays short.  Without memory for them the lists
 * grow instead.
 */
static void spread_names(struct verbs *v)
{
    const uint32_t n = v->more_named ? v->n_buckets : GUEST_NAME_BUCKETS, more = 16 * n;
    struct guest_object **old = v->more_named ? v->more_named : v->named;
    struct guest_object **lists = arena_alloc(v->arena, more * sizeof(struct guest_object *));

    if (!lists)
        return;
    v->more_named = lists;
    v->n_buckets = more;
    for (uint32_t i = 0; i < n; i++) {
        while (old[i]) {
            struct guest_object *o = old[i];

            old[i] = o->next_named;
            link_name(v, o);
        }
    }
    if (old != v->named)
        arena_release(v->arena, old, n * sizeof(struct guest_object *));
}

static void enter_name(struct guest_object *o)
{
    struct verbs *v = o->verbs;

    if (++v->n_named > 16 * (v->more_named ? v->n_buckets : GUEST_NAME_BUCKETS))
        spread_names(v);
    link_name(v, o);
}

static void leave_name(struct guest_object *o)
{
    struct guest_object **at = bucket_of(o->verbs, o->name);

    while (*at && *at != o)
        at = &(*at)->next_named;
    if (!*at)
        return;
    *at = o->next_named;
    o->verbs->n_named--;
}

/* Returns true for an object that a layer counts, because its program needs a function.  Those of
 * the kernel itself do not.
 */
static bool is_counted(const struct verbs *v, enum object_kind kind)
{
    return v->config.layer && kind != OBJ_CHANNEL && kind != OBJ_EVENT_CHANNEL && !v->must_poll;
}

/* Returns true if the request that creates an object of @kind can wait for a function.  Objects of
 * other kinds need one of these first; an ID of rdma_cm is created without a request.
 */
static bool can_wait(enum object_kind kind)
{
    return kind == OBJ_PD || kind == OBJ_CQ;
}

enum rdl_status object_new(struct verbs *v, enum object_kind kind, const char *name,
                           struct guest_object **ret)
{
    const size_t bytes = bytes_of(v, kind);
    struct guest_object *o;
    enum rdl_status st;
    bool waits = false;

    if (!name)
        name = "";
    if (name[0] && !name_is_valid(name))
        return RDL_ERR_INVAL;
    if (name[0] && leaf_reserved(NODE_host, name))
        return RDL_ERR_RESERVED;
    if (name[0] && verbs_find(v, name))
        return RDL_ERR_EXISTS;
    if (is_counted(v, kind)) {
        st = v->config.layer->create(v->config.layer_ctx, can_wait(kind));
        waits = st == RDL_ERR_BUSY;
        if (st != RDL_OK && !waits)
            return st;
    }
    o = arena_alloc(v->arena, bytes);
    if (!o)
        return RDL_ERR_NOMEM;
    o->verbs = v;
    o->kind = kind;
    o->owner = v->current;
    st = enter_table(v, o);
    if (st != RDL_OK) {
        if (is_counted(v, kind))
            v->config.layer->gone(v->config.layer_ctx, v->n_of_device);
        arena_release(v->arena, o, bytes);
        return st;
    }
    o->counts = is_counted(v, kind);
    v->n_of_device += o->counts;
    if (waits)
        v->request.waiting = true;
    memcpy(o->name, name, strlen(name) + 1);
    if (name[0])
        enter_name(o);
    *ret = o;
    return RDL_OK;
}

/* Names @o "qp2", or "qp2-1", "qp2-2" ... if the name is taken.  The loop ends because there are
 * more candidates than objects.
 */
static void name_by_number(struct guest_object *o, uint32_t number)
{
    for (uint32_t i = 0; i <= VERBS_OBJECTS_MAX * VERBS_KINDS; i++) {
        struct text t = text_on(o->name, sizeof(o->name));

        text_addf(&t, "%s%u", default_names[o->kind], number);
        if (i > 0)
            text_addf(&t, "-%u", i);
        if (!verbs_find(o->verbs, o->name))
            break;
    }
    enter_name(o);
}

void object_live(struct guest_object *o, uint32_t number)
{
    const struct verbs *v = o->verbs;

    if (!o->name[0])
        name_by_number(o, number);
    o->life = GUEST_LIVE;
    TRACE(v->config.trace, named, .host = v->config.host, .object = o->kind, .number = number,
          .name = ev_str(o->name));
}

void object_drop(struct guest_object *o)
{
    struct verbs *v = o->verbs;

    if (o->name[0])
        leave_name(o);
    leave_table(o);
    if (o->counts && o->kind == OBJ_QP)
        v->config.layer->left(v->config.layer_ctx, ((struct guest_qp *)o)->function);
    if (o->counts)
        v->config.layer->gone(v->config.layer_ctx, --v->n_of_device);
    arena_release(v->arena, o, bytes_of(v, o->kind));
}

void object_gone(struct guest_object *o)
{
    const struct verbs *v = o->verbs;

    TRACE(v->config.trace, gone, .host = v->config.host, .object = o->kind,
          .number = verbs_number(o), .name = ev_str(o->name));
    object_drop(o);
}

enum rdl_status verbs_add_object(struct verbs *v, uint32_t kind, const char *name,
                                 struct guest_object **ret)
{
    return object_new(v, (enum object_kind)kind, name, ret);
}

void verbs_name_object(struct guest_object *o, uint32_t number)
{
    ((struct guest_cm_object *)o)->number = number;
    object_live(o, number);
}

void verbs_drop_object(struct guest_object *o)
{
    object_drop(o);
}

void verbs_remove_object(struct guest_object *o)
{
    object_gone(o);
}

enum rdl_status object_usable(const struct guest_object *o)
{
    return o->life == GUEST_LIVE ? RDL_OK : RDL_ERR_BUSY;
}

#define PARTS_MAX 4u /* the most objects that one object depends on */

/* Lists the objects that @o depends on.  Entries may be NULL, and two may be the same. */
static size_t parts_of(const struct guest_object *o, struct guest_object *ret[PARTS_MAX])
{
    const struct guest_qp *qp = (const struct guest_qp *)o;
    struct guest_channel *ch;

    switch (o->kind) {
    case OBJ_MR:
        ret[0] = &((const struct guest_mr *)o)->pd->o;
        return 1;
    case OBJ_AH:
        ret[0] = &((const struct guest_ah *)o)->pd->o;
        return 1;
    case OBJ_MW:
        ret[0] = &((const struct guest_mw *)o)->pd->o;
        return 1;
    case OBJ_CQ:
        ch = ((const struct guest_cq *)o)->channel;
        ret[0] = ch ? &ch->o : NULL;
        return 1;
    case OBJ_SRQ:
        ret[0] = &((const struct guest_srq *)o)->pd->o;
        return 1;
    case OBJ_CM_ID:
        ret[0] = &((const struct guest_cm_object *)o)->channel->o;
        return 1;
    case OBJ_QP:
        ret[0] = &qp->pd->o;
        ret[1] = &qp->send_cq->o;
        ret[2] = &qp->recv_cq->o;
        ret[3] = qp->srq ? &qp->srq->o : NULL;
        return 4;
    default:
        return 0;
    }
}

void object_use_parts(struct guest_object *o, bool use)
{
    struct guest_object *parts[PARTS_MAX];
    const size_t n = parts_of(o, parts);

    for (size_t i = 0; i < n; i++) {
        if (!parts[i])
            continue;
        parts[i]->n_users += use ? 1u : UINT32_MAX;
        if (use && parts[i]->owner)
            o->owner = parts[i]->owner;
    }
}

static bool needs(const struct guest_object *o, const struct guest_object *part)
{
    struct guest_object *parts[PARTS_MAX];
    const size_t n = parts_of(o, parts);

    for (size_t i = 0; i < n; i++) {
        if (parts[i] == part)
            return true;
    }
    return false;
}

/* Completion events of @o that a program took and did not acknowledge. */
static uint32_t unacked_completions(const struct guest_object *o)
{
    return o->kind == OBJ_CQ ? ((const struct guest_cq *)o)->n_unacked_events : 0;
}

/* Number of multicast groups that @o is in. */
static uint32_t groups_of(const struct guest_object *o)
{
    const struct guest_membership *m =
        o->kind == OBJ_QP ? ((const struct guest_qp *)o)->groups : NULL;
    uint32_t n = 0;

    for (; m; m = m->next)
        n++;
    return n;
}

/* Scans all objects; called only after a refusal. */
void verbs_users_of(const struct guest_object *o, struct rdl_users *ret)
{
    *ret = (struct rdl_users){.async_events = o->n_unacked,
                              .completion_events = unacked_completions(o),
                              .groups = groups_of(o),
                              .kept_by = o->kept_by};
    for (uint32_t kind = 0; kind < VERBS_KINDS && o->n_users > 0; kind++) {
        const struct slots *table = &o->verbs->objects[kind];

        for (uint32_t i = 0; i < table->len; i++) {
            const struct guest_object *user = slots_at(table, i);

            if (!user || !needs(user, o))
                continue;
            if (ret->n++ == 0) {
                ret->kind = (uint32_t)user->kind;
                ret->raw = user->handle;
            }
        }
    }
}

static enum rdl_status destroyable(const struct guest_object *o)
{
    if (o->kept_by != RDL_KERNEL_NONE)
        return RDL_ERR_KERNEL;
    return o->life == GUEST_LIVE && o->n_users == 0 && o->n_unacked == 0 &&
                   unacked_completions(o) == 0
               ? RDL_OK
               : RDL_ERR_BUSY;
}

enum rdl_status object_sent(struct guest_object *o, enum rdl_status st)
{
    if (st == RDL_OK)
        return st; /* the answer may have come and @o may be freed */
    object_use_parts(o, false);
    (void)request_sent(o->verbs, st);
    object_drop(o);
    return st;
}

enum rdl_status object_ask(struct guest_object *o)
{
    const struct verbs *v = o->verbs;

    if (v->request.waiting)
        return RDL_OK;
    return o->kind == OBJ_PD ? v->ops->create_pd((struct guest_pd *)o)
                             : v->ops->create_cq((struct guest_cq *)o);
}

void verbs_function(struct verbs *v, bool there)
{
    struct verbs_request *r = &v->request;

    RDL_ASSERT(r->waiting);
    r->waiting = false;
    if (there) {
        if (object_ask(r->object) != RDL_OK)
            verbs_broken(v); /* the control queue was working and empty before */
        return;
    }
    r->n--;
    r->no_function = true;
    object_use_parts(r->object, false);
    object_drop(r->object);
    r->object = NULL;
    request_is_over(v);
}

enum rdl_status object_destroy(struct guest_object *o)
{
    struct verbs *v = o->verbs;
    enum rdl_status st = request_ready(v);

    if (st == RDL_OK)
        st = destroyable(o);
    if (st != RDL_OK)
        return st;
    o->life = GUEST_LEAVING;
    request_begin(v, VERBS_DESTROY, o);
    st = request_sent(v, v->ops->destroy(o));
    if (st != RDL_OK)
        o->life = GUEST_LIVE;
    return st;
}
