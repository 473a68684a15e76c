/* SPDX-License-Identifier: MIT */
/* Draws machines: some hosts share the adapter of an earlier one, with functions of their own, with
 * virtual RNICs, or with the port of the machine itself. The work of some of them passes a
 * router.  Virtual RNICs are in groups, and the rule between two groups may be taken back.
 */
#include "emu/base/assert.h"
#include "emu/base/prng.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/pool_full.h"
#include "swarm/worlds/world_draw.h"

#define STREAM_MACHINES  3u /* the rest of the world does not depend on it */
#define STREAM_SHARED    4u /* what the other stream draws does not depend on it */
#define STREAM_VRNICS    5u
#define STREAM_ROUTERS   6u
#define STREAM_SHORTCUTS 7u
#define STREAM_GROUPS    8u
#define FUNCTIONS_MAX    3u /* of a virtual RNIC */
#define SPARE_VFS        3u /* a machine has fewer spare functions than this */
#define LARGE_ONE_IN     6u /* one world in so many has machines with WORLD_VFS_MAX functions */
#define APART            3u /* there, guests are at most so many functions apart */

_Static_assert(APART *(WORLD_HOSTS_MAX - 1) <= WORLD_VFS_MAX, "all guests can be on one machine");

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

/* Makes the number of functions of machine number @m large.  Its guests have some of them. */
static void draw_large(struct draw *d, uint32_t m)
{
    struct world_place *p = &d->w->host[m].place;

    for (uint32_t i = p->vfs; i < WORLD_VFS_MAX; i++)
        draw_vf(d, &p->set[i]);
    p->vfs = WORLD_VFS_MAX;
    p->pool = draw_below(d, WORLD_VFS_MAX + 1);
    for (uint32_t h = m + 1; h < d->w->n_hosts; h++) {
        struct world_place *g = &d->w->host[h].place;

        if (g->on == m + 1)
            g->vf = APART * g->vf + draw_below(d, APART);
    }
}

/* Returns true if the host number @h has a virtual RNIC on machine @m, counted from 1. */
static bool has_vrnic_on(const struct world *w, uint32_t h, uint32_t m)
{
    return w->host[h].place.has_vrnic && w->host[h].place.on == m;
}

/* Lets virtual RNICs have several functions, share one, and come from another machine. */
static void draw_vrnic(struct draw *d, uint32_t h)
{
    struct world_place *g = &d->w->host[h].place;
    const uint32_t functions = 1 + draw_below(d, FUNCTIONS_MAX);
    const uint32_t from = draw_below(d, h);
    const bool shares = draw_one_in(d, 3);
    const bool moves = draw_one_in(d, 3);
    uint32_t other = 0;

    g->functions = 1;
    if (!g->on || !g->has_vrnic)
        return;
    g->functions = functions;
    while (other < h && (!has_vrnic_on(d->w, other, g->on) || d->w->host[other].place.from))
        other++;
    if (shares && other < h)
        g->with = other + 1;
    else if (moves && from + 1 != g->on && d->w->host[from].place.vfs > 0)
        g->from = from + 1;
}

/* Leaves virtual RNICs one function that ordinary guests do not have: they share it. */
static void make_short(struct world *w, uint32_t m)
{
    uint32_t used = 0;

    for (uint32_t h = 0; h < w->n_hosts; h++) {
        const struct world_place *g = &w->host[h].place;

        if (g->on == m + 1 && !g->has_vrnic && !g->is_shared && g->vf >= used)
            used = g->vf + 1;
    }
    if (used + 1 < w->host[m].place.vfs)
        w->host[m].place.vfs = used + 1;
}

/* Gives machine @m functions for all that its virtual RNICs may have, or too few.  Programs do not
 * see a machine whose virtual RNICs share; a request that fails or waits they would see.  Functions
 * whose frames belong to several virtual RNICs, or to one of several, have no rates: the wire
 * watcher knows one limit of a host.
 */
static void draw_capacity(struct draw *d, uint32_t m)
{
    struct world_place *p = &d->w->host[m].place;
    const bool is_short = draw_one_in(d, 3);
    uint32_t more = 0;
    bool mixed = false;

    p->when_full = draw_below(d, POOL_share + 1);
    for (uint32_t h = 0; h < d->w->n_hosts; h++) {
        if (has_vrnic_on(d->w, h, m + 1)) {
            more += d->w->host[h].place.functions - 1;
            mixed = mixed || d->w->host[h].place.functions > 1 || d->w->host[h].place.with;
        }
    }
    if (is_short && p->when_full == POOL_share) {
        make_short(d->w, m);
        mixed = true;
    } else if (p->vfs + more <= WORLD_VFS_MAX) {
        for (uint32_t i = p->vfs; i < p->vfs + more; i++)
            p->set[i].spoofchk = true;
        p->vfs += more;
    } else {
        p->when_full = POOL_share;
        mixed = true;
    }
    if (p->pool > p->vfs)
        p->pool = p->vfs;
    for (uint32_t i = 0; i < p->vfs && mixed; i++)
        p->set[i].max_tx_bps = p->set[i].min_tx_bps = 0;
}

static void draw_vrnics(struct world *w)
{
    struct draw d = {.w = w, .rng = prng_stream(w->seed, STREAM_VRNICS)};

    for (uint32_t h = 1; h < w->n_hosts; h++)
        draw_vrnic(&d, h);
    for (uint32_t h = 0; h < w->n_hosts; h++) {
        if (w->host[h].place.vfs > 0)
            draw_capacity(&d, h);
    }
}

static void draw_shortcuts(struct world *w)
{
    struct draw d = {.w = w, .rng = prng_stream(w->seed, STREAM_SHORTCUTS)};

    for (uint32_t h = 0; h < w->n_hosts; h++)
        w->host[h].place.shortcut = draw_one_in(&d, 2) && w->host[h].place.vfs > 0;
}

/* Puts a deed in front of deed number @at. */
static void insert_deed(struct world *w, uint32_t at, const struct world_deed *deed)
{
    for (uint32_t i = w->n_deeds; i > at; i--)
        w->deed[i] = w->deed[i - 1];
    w->deed[at] = *deed;
    w->n_deeds++;
}

/* Returns true if both ends of connection @conn have a virtual RNIC, not the same. */
static bool is_of_vrnics(const struct world *w, uint32_t conn)
{
    const unsigned from = w->end[2 * conn].host, to = w->end[2 * conn + 1].host;

    return from != to && w->host[from].place.group && w->host[to].place.group;
}

/* Draws groups of virtual RNICs.  If some of them are connected, two of these are in two groups,
 * and the rule between those is taken back at some time.
 */
static void draw_groups(struct world *w)
{
    struct draw d = {.w = w, .rng = prng_stream(w->seed, STREAM_GROUPS)};
    const uint32_t first = draw_below(&d, w->n_conns);
    const uint32_t at = draw_below(&d, w->n_deeds + 1);
    uint32_t conn = 0, a, *b;

    for (uint32_t h = 1; h < w->n_hosts; h++) {
        const uint32_t group = 1 + draw_below(&d, WORLD_GROUPS);
        struct world_place *g = &w->host[h].place;

        g->group = g->on && g->has_vrnic ? group : 0;
    }
    while (conn < w->n_conns && !is_of_vrnics(w, (first + conn) % w->n_conns))
        conn++;
    if (conn == w->n_conns || w->n_deeds == WORLD_DEEDS_MAX)
        return;
    conn = (first + conn) % w->n_conns;
    a = w->host[w->end[2 * conn].host].place.group;
    b = &w->host[w->end[2 * conn + 1].host].place.group;
    if (a == *b)
        *b = a % WORLD_GROUPS + 1;
    insert_deed(w, at, &(struct world_deed){DO_RULE, (uint16_t)a, *b});
}

void world_draw_machines(struct world *w)
{
    struct draw d = {.w = w, .rng = prng_stream(w->seed, STREAM_MACHINES)};
    struct draw routers = {.w = w, .rng = prng_stream(w->seed, STREAM_ROUTERS)};

    for (uint32_t h = 1; h < w->n_hosts; h++)
        draw_guest(&d, h);
    draw_sharing(w);
    for (uint32_t h = 1; h < w->n_hosts; h++) {
        const bool has_router = draw_one_in(&routers, 3);

        w->host[h].place.has_router = has_router && w->host[h].place.on;
    }
    for (uint32_t h = 0; h < w->n_hosts; h++) {
        if (w->host[h].place.vfs == 0)
            continue;
        draw_machine(&d, &w->host[h].place);
        if (w->n_switches == 0)
            w->n_switches = 1; /* the cable of the machine ends there */
    }
    if (draw_one_in(&d, LARGE_ONE_IN)) {
        for (uint32_t h = 0; h < w->n_hosts; h++) {
            if (w->host[h].place.vfs > 0)
                draw_large(&d, h);
        }
    }
    draw_vrnics(w);
    draw_shortcuts(w);
    draw_groups(w);
}
