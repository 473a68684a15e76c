/* SPDX-License-Identifier: MIT */
/* Draws machines: some hosts share the adapter of an earlier one, with functions of their own, with
 * virtual RNICs, or with the port of the machine itself.
 */
#include "emu/base/assert.h"
#include "emu/base/prng.h"
#include "emu/facts/enum/device_type.h"
#include "swarm/worlds/world_draw.h"

#define STREAM_MACHINES 3u /* the rest of the world does not depend on it */
#define STREAM_SHARED   4u /* what the other stream draws does not depend on it */
#define SPARE_VFS       3u /* a machine has fewer spare functions than this */

/* Returns true if @h can be a machine.  Guests have none of their own. */
static bool can_have_guests(const struct world_host *h)
{
    return h->device == DEVICE_virtio && h->place.on == 0;
}

/* Makes the host number @h a guest of an earlier one, if that one can be a machine. */
static void draw_guest(struct draw *d, uint32_t h)
{
    struct world_place *g = &d->w->host[h].place;
    const uint32_t m = draw_below(d, h);
    const bool is_guest = !draw_one_in(d, 4);

    g->has_vrnic = draw_one_in(d, 2);
    if (!is_guest || !can_have_guests(&d->w->host[m]))
        return;
    g->on = m + 1;
    g->vf = d->w->host[m].place.vfs++;
}

/* Lets some guests share the port of their machine; what would be their functions is spare. */
static void draw_sharing(struct world *w)
{
    struct draw d = {.w = w, .rng = prng_stream(w->seed, STREAM_SHARED)};

    for (uint32_t h = 1; h < w->n_hosts; h++) {
        struct world_place *g = &w->host[h].place;

        g->is_shared = draw_one_in(&d, 3) && g->on && !g->has_vrnic;
    }
}

static void draw_vf(struct draw *d, struct world_vf *f)
{
    static const uint64_t rates[] = {0, 0, UINT64_C(100000000), UINT64_C(1000000000),
                                     UINT64_C(10000000000)};

    f->max_tx_bps = rates[draw_below(d, ARRAY_LEN(rates))];
    f->min_tx_bps = rates[draw_below(d, ARRAY_LEN(rates))];
    if (f->max_tx_bps && f->min_tx_bps > f->max_tx_bps)
        f->min_tx_bps = f->max_tx_bps;
    f->is_always_up = draw_one_in(d, 4);
    f->spoofchk = !draw_one_in(d, 4);
    f->trust = draw_one_in(d, 4);
}

static void draw_machine(struct draw *d, struct world_place *m)
{
    m->vfs += draw_below(d, SPARE_VFS);
    m->pool = draw_below(d, m->vfs + 1);
    for (uint32_t i = 0; i < m->vfs; i++)
        draw_vf(d, &m->set[i]);
}

void world_draw_machines(struct world *w)
{
    struct draw d = {.w = w, .rng = prng_stream(w->seed, STREAM_MACHINES)};

    for (uint32_t h = 1; h < w->n_hosts; h++)
        draw_guest(&d, h);
    draw_sharing(w);
    for (uint32_t h = 0; h < w->n_hosts; h++) {
        if (w->host[h].place.vfs == 0)
            continue;
        draw_machine(&d, &w->host[h].place);
        if (w->n_switches == 0)
            w->n_switches = 1; /* the cable of the machine ends there */
    }
}
