/* SPDX-License-Identifier: MIT */
/* Draws the RDMA device of each host, and takes out of a drawn world what PVRDMA does not have.
 * Draws extensions of virtio-rdma.
 */
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/virtio/feature.h"
#include "swarm/worlds/world_draw.h"

/* Streams of their own: the rest of the world does not depend on them. */
#define STREAM_DEVICES    1u
#define STREAM_EXTENSIONS 2u

static bool is_pvrdma(const struct world *w, uint32_t end)
{
    return w->host[w->end[end].host].device == DEVICE_pvrdma;
}

/* UC becomes RC, which takes all that was drawn for UC. */
static void fit_end(struct world *w, uint32_t i)
{
    struct world_end *e = &w->end[i];
    const bool either = is_pvrdma(w, i) || is_pvrdma(w, e->peer);

    if (either && e->type == QPT_UC) {
        e->type = QPT_RC;
        e->access |= ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;
    }
    if (either)
        e->credits = false;
}

static bool is_of_window(uint32_t key)
{
    return key == KEY_WINDOW_1 || key == KEY_WINDOW_2;
}

static void fit_item(const struct world *w, struct world_item *t)
{
    if (is_pvrdma(w, t->end)) {
        t->flags &= ~(uint32_t)SF_INLINE;
        t->to_group = false;
        if (t->opcode == WR_BIND_MW)
            t->key = KEY_FAST;
    }
    if (t->is_recv || !is_pvrdma(w, t->to) || t->opcode == WR_BIND_MW)
        return;
    if (t->opcode == WR_SEND_WITH_INV)
        t->opcode = WR_SEND;
    if (is_of_window(t->key))
        t->key = KEY_OPEN;
    if (t->mistake == RKEY_STALE || t->mistake == RKEY_OTHERS)
        t->mistake = RKEY_UNKNOWN;
}

static void fit_deed(const struct world *w, struct world_deed *o)
{
    const bool is_of_host = o->kind == DO_REREG || o->kind == DO_RESIZE;

    if (is_of_host && w->host[o->who].device == DEVICE_pvrdma)
        *o = (struct world_deed){.kind = DO_EVENTS, .who = o->who};
    else if (o->kind == DO_GROUP && is_pvrdma(w, o->who))
        *o = (struct world_deed){.kind = DO_LOOK, .who = o->who};
}

void world_draw_devices(struct world *w)
{
    struct draw d = {.w = w, .rng = prng_stream(w->seed, STREAM_DEVICES)};

    for (uint32_t h = 0; h < w->n_hosts; h++) {
        if (draw_one_in(&d, 2))
            continue;
        w->host[h].device = DEVICE_pvrdma;
        w->host[h].indirect = false;
    }
    for (uint32_t i = 0; i < w->n_ends; i++)
        fit_end(w, i);
    for (uint32_t i = 0; i < w->n_items; i++)
        fit_item(w, &w->item[i]);
    for (uint32_t i = 0; i < w->n_deeds; i++)
        fit_deed(w, &w->deed[i]);
    for (uint32_t i = 0; i < w->n_faults; i++) {
        if (is_pvrdma(w, w->fault[i].device.end))
            w->fault[i].device.kind = FLT_NONE; /* its queues are no virtqueues */
    }
}

void world_draw_extensions(struct world *w)
{
    struct prng rng = prng_stream(w->seed, STREAM_EXTENSIONS);

    for (uint32_t h = 0; h < w->n_hosts; h++) {
        struct extend e = extend_draw(&rng);

        e.extensions &= EXTEND_UNSEEN; /* the model expects all completions */
        if (w->host[h].device == DEVICE_virtio)
            w->host[h].extend = e;
    }
}
