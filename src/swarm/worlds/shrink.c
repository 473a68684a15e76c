/* SPDX-License-Identifier: MIT */
/* Reduces a world: leaves out deeds, first in large parts, then one by one, and then unused
 * connections.  Then it simplifies links, profiles, sizes, pieces and flags.  A change is kept if
 * the world still breaks the same rule.
 */
#include "swarm/worlds/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/virtio/ring_format.h"
#include "process/must.h"
#include "swarm/worlds/world_try.h"

struct shrinking {
    struct world *w;
    struct world_run *r; /* run of the smallest world so far */
    struct world *tried;
    struct world_run *run;
    const char *wrong;
    uint32_t runs, runs_max;
};

/* Runs @s->tried.  If it fails in the same way, it becomes the smallest world so far. */
static bool still_fails(struct shrinking *s)
{
    struct world_try how = {0};

    if (s->runs == s->runs_max)
        return false;
    s->runs++;
    if (world_try(s->tried, s->run, &how) || strcmp(s->run->wrong, s->wrong) != 0)
        return false;
    *s->w = *s->tried;
    *s->r = *s->run;
    s->r->w = s->w;
    return true;
}

/* Copies the smallest world so far to @s->tried, to be changed. */
static struct world *begin(struct shrinking *s)
{
    *s->tried = *s->w;
    return s->tried;
}

/* --- Deeds ------------------------------------------------------------------------------------ */

static void leave_out_kind(struct shrinking *s, enum deed_kind kind)
{
    struct world *w = begin(s);
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->n_deeds; i++) {
        if (w->deed[i].kind != kind)
            w->deed[n++] = w->deed[i];
    }
    if (n == w->n_deeds)
        return;
    w->n_deeds = n;
    (void)still_fails(s);
}

static bool leave_out(struct shrinking *s, uint32_t from, uint32_t n)
{
    struct world *w = begin(s);

    memmove(w->deed + from, w->deed + from + n, (w->n_deeds - from - n) * sizeof(w->deed[0]));
    w->n_deeds -= n;
    return still_fails(s);
}

/* Leaves out parts of half the deeds, of a quarter, and so on. */
static void leave_out_parts(struct shrinking *s)
{
    for (uint32_t part = s->w->n_deeds / 2; part > 0; part /= 2) {
        uint32_t from = 0;

        while (from < s->w->n_deeds && s->runs < s->runs_max) {
            const uint32_t left = s->w->n_deeds - from, n = part < left ? part : left;

            if (!leave_out(s, from, n))
                from += n;
        }
    }
}

/* --- Unused ends and hosts -------------------------------------------------------------------- */

static void leave_out_ends(struct shrinking *s)
{
    for (uint32_t i = s->w->n_ends; i-- > 0;) {
        struct world *w = begin(s);

        if (w->end[i].is_absent)
            continue;
        w->end[i].is_absent = w->end[w->end[i].peer].is_absent = true;
        (void)still_fails(s);
    }
    for (uint32_t h = s->w->n_hosts; h-- > 0;) {
        struct world *w = begin(s);
        bool is_used = false;

        for (uint32_t i = 0; i < w->n_ends; i++)
            is_used = is_used || (!w->end[i].is_absent && w->end[i].host == h);
        for (uint32_t g = 0; g < w->n_hosts; g++)
            is_used = is_used || (!w->host[g].is_absent && w->host[g].place.on == h + 1);
        if (is_used || w->n_switches == 0)
            continue;
        w->host[h].is_absent = true;
        (void)still_fails(s);
    }
}

/* --- Simplification --------------------------------------------------------------------------- */

static void plain_host(struct world_host *h)
{
    h->profile = PROFILE_iba;
    h->is_plain = h->indirect = false;
    h->ring = VRING_split;
    h->rx_buffer = 0;
}

static void plain_link(struct world_host *h)
{
    h->latency_ns = 1000;
    h->rate_bps = 0;
    h->loss_ppm = h->jitter_ns = h->burst_ppm = 0;
}

static void plain_end(struct world_end *e)
{
    e->has_srq = e->sig_all = e->credits = e->is_small = false;
    e->pkey_index = 0;
    e->send_cq = e->recv_cq = 0;
}

/* Gives guests links of their own, and functions no settings. */
static void simplify_places(struct shrinking *s)
{
    for (uint32_t h = 0; h < s->w->n_hosts; h++) {
        struct world_place *p = &begin(s)->host[h].place;

        p->on = 0;
        if (s->w->host[h].place.on)
            (void)still_fails(s);
        p = &begin(s)->host[h].place;
        p->has_vrnic = false;
        if (s->w->host[h].place.on && s->w->host[h].place.has_vrnic)
            (void)still_fails(s);
        p = &begin(s)->host[h].place;
        p->functions = 1;
        p->with = p->from = 0;
        if (s->w->host[h].place.on && s->w->host[h].place.has_vrnic)
            (void)still_fails(s);
        p = &begin(s)->host[h].place;
        p->group = 1;
        if (s->w->host[h].place.group > 1)
            (void)still_fails(s);
        p = &begin(s)->host[h].place;
        p->is_shared = false;
        if (s->w->host[h].place.is_shared)
            (void)still_fails(s);
        p = &begin(s)->host[h].place;
        p->has_router = false;
        if (s->w->host[h].place.on && s->w->host[h].place.has_router)
            (void)still_fails(s);
        p = &begin(s)->host[h].place;
        for (uint32_t i = 0; i < WORLD_VFS_MAX; i++)
            p->set[i] = (struct world_vf){.spoofchk = true};
        if (p->vfs)
            (void)still_fails(s);
    }
}

static void simplify_hosts(struct shrinking *s)
{
    for (uint32_t h = 0; h < s->w->n_hosts; h++) {
        plain_host(&begin(s)->host[h]);
        (void)still_fails(s);
        plain_link(&begin(s)->host[h]);
        (void)still_fails(s);
    }
    for (uint32_t i = 0; i < s->w->n_ends; i++) {
        if (s->w->end[i].is_absent)
            continue;
        plain_end(&begin(s)->end[i]);
        (void)still_fails(s);
    }
}

/* Returns the first piece of @t that holds @bytes, or n_pieces. */
static uint32_t piece_for(const struct world_item *t, uint32_t bytes)
{
    uint32_t p = 0;

    while (p < t->n_pieces && t->piece[p].bytes < bytes)
        p++;
    return p;
}

/* Shortens the message of item @i to @bytes in one piece. */
static bool shorten(struct shrinking *s, uint32_t i, uint32_t bytes)
{
    struct world_item *t = &begin(s)->item[i];
    const uint32_t p = piece_for(t, bytes);

    if (t->is_recv || world_is_atomic(t) || t->again != WORLD_NONE || t->mistake != RIGHT ||
        p == t->n_pieces)
        return false;
    t->bytes = bytes;
    t->n_pieces = 1;
    t->piece[0] = (struct world_piece){t->piece[p].at, bytes};
    return still_fails(s);
}

static void simplify_item(struct shrinking *s, uint32_t i)
{
    static const uint32_t flags[] = {SF_FENCE, SF_SOLICITED, SF_INLINE};

    for (size_t k = 0; k < ARRAY_LEN(flags); k++) {
        struct world_item *t = &begin(s)->item[i];

        if (t->flags & flags[k]) {
            t->flags &= ~flags[k];
            (void)still_fails(s);
        }
    }
    for (uint32_t bytes = 8; bytes < s->w->item[i].bytes; bytes *= 8) {
        if (shorten(s, i, bytes))
            break;
    }
}

static void simplify_items(struct shrinking *s)
{
    for (uint32_t k = 0; k < s->w->n_deeds && s->runs < s->runs_max; k++) {
        const struct world_deed *d = &s->w->deed[k];

        if (d->kind == DO_POST || d->kind == DO_POST_LAZY)
            simplify_item(s, d->who);
    }
}

/* Replaces posts without a kick by posts with one. */
static void simplify_deeds(struct shrinking *s)
{
    for (uint32_t k = 0; k < s->w->n_deeds && s->runs < s->runs_max; k++) {
        struct world_deed *d = &begin(s)->deed[k];

        if (d->kind != DO_POST_LAZY)
            continue;
        d->kind = DO_POST;
        (void)still_fails(s);
    }
}

uint32_t world_shrink(struct world *w, struct world_run *r, uint32_t runs_max)
{
    struct shrinking s = {.w = w,
                          .r = r,
                          .tried = must_malloc(sizeof(*w)),
                          .run = must_malloc(sizeof(*r)),
                          .wrong = r->wrong,
                          .runs_max = runs_max};
    uint32_t before;

    begin(&s)->goes_back = false;
    (void)still_fails(&s);
    leave_out_kind(&s, DO_FORGE);
    do {
        before = s.w->n_deeds;
        leave_out_parts(&s);
    } while (s.w->n_deeds < before && s.runs < s.runs_max);
    leave_out_ends(&s);
    simplify_places(&s);
    simplify_hosts(&s);
    simplify_deeds(&s);
    simplify_items(&s);
    leave_out_parts(&s);
    free(s.tried);
    free(s.run);
    return s.runs;
}
