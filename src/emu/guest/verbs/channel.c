/* SPDX-License-Identifier: MIT */
/* Completion channels.  [libibverbs, ibv_create_comp_channel(3), ibv_get_cq_event(3)]
 *
 * A channel belongs to the program; the device does not know it.  Each completion event of a CQ
 * that was created with the channel is queued there until the program takes it.  The program must
 * acknowledge the event before the CQ can be destroyed.
 */
#include "emu/base/assert.h"
#include "emu/guest/verbs/internal.h"

/* Entry @i of the ring of queued events, oldest first. */
static struct guest_cq **waiting(const struct guest_channel *ch, uint32_t i)
{
    RDL_ASSERT(ch->cap > 0);
    return &ch->waiting[(ch->first + i) % ch->cap];
}

enum rdl_status verbs_create_comp_channel(struct verbs *v, const char *name, uint64_t *ret)
{
    enum rdl_status st = v->broken ? RDL_ERR_BROKEN : verbs_usable(v);
    struct guest_object *o;

    if (st == RDL_OK)
        st = object_new(v, OBJ_CHANNEL, name, &o);
    if (st != RDL_OK)
        return st;
    ((struct guest_channel *)o)->number = ++v->n_channels;
    object_live(o, v->n_channels);
    *ret = o->handle;
    return RDL_OK;
}

enum rdl_status verbs_destroy_comp_channel(struct guest_channel *ch)
{
    if (ch->o.n_users > 0)
        return RDL_ERR_BUSY;
    arena_release(ch->o.verbs->arena, ch->waiting, ch->cap * sizeof(struct guest_cq *));
    object_gone(&ch->o);
    return RDL_OK;
}

/* Allocates a larger ring and copies the events to it, oldest first. */
static bool grow(struct guest_channel *ch)
{
    struct arena *a = ch->o.verbs->arena;
    const uint32_t cap = ch->cap ? 2 * ch->cap : CHANNEL_EVENTS_FIRST;
    struct guest_cq **ring = arena_alloc(a, cap * sizeof(struct guest_cq *));

    if (!ring)
        return false; /* the lab stops at the end of this tick */
    for (uint32_t i = 0; i < ch->len; i++)
        ring[i] = *waiting(ch, i);
    arena_release(a, ch->waiting, ch->cap * sizeof(struct guest_cq *));
    ch->waiting = ring;
    ch->cap = cap;
    ch->first = 0;
    return true;
}

void channel_put(struct guest_cq *cq)
{
    struct guest_channel *ch = cq->channel;

    if (ch && (ch->len < ch->cap || grow(ch)))
        *waiting(ch, ch->len++) = cq;
}

void channel_forget(const struct guest_cq *cq)
{
    struct guest_channel *ch = cq->channel;
    const uint32_t n = ch ? ch->len : 0;

    for (uint32_t i = 0, kept = 0; i < n; i++) {
        struct guest_cq *other = *waiting(ch, i);

        if (other != cq)
            *waiting(ch, kept++) = other;
        ch->len = kept;
    }
}

size_t verbs_get_cq_event(struct guest_channel *ch, uint64_t *ret)
{
    struct guest_cq *cq;

    if (ch->len == 0)
        return 0;
    cq = *waiting(ch, 0);
    ch->first = (ch->first + 1) % ch->cap;
    ch->len--;
    cq->n_unacked_events++;
    *ret = cq->o.handle;
    return 1;
}

enum rdl_status verbs_ack_cq_events(struct guest_cq *cq, uint32_t n)
{
    if (n > cq->n_unacked_events)
        return RDL_ERR_STATE;
    cq->n_unacked_events -= n;
    return RDL_OK;
}
