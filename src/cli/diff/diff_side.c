/* SPDX-License-Identifier: MIT */
/* Stores data of one future, and finds the first difference between two. */
#include <stdlib.h>
#include <string.h>

#include "cli/diff/diff.h"
#include "cli/session/position.h"
#include "emu/base/fnv.h"
#include "emu/trace/event.h"
#include "emu/trace/trace.h"
#include "process/must.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"
#include "viz/file_sink.h"
#include "viz/ladder.h"
#include "viz/picture.h"

#define PACKETS_DRAWN 40u /* per ladder, unless all are requested */

/* --- Events and frames ------------------------------------------------------------------------ */

static struct happened happened(const struct rdl_lab *lab, const struct ev *e)
{
    const bool sends = event_has_frame(e);
    struct happened ret = {.id = e->id};
    struct trace_hash h = TRACE_HASH_START;
    size_t n = 0;
    const uint8_t *bytes = sends || e->kind == EV_fault ? rdl_record_frame(lab, e->id, &n) : NULL;

    trace_hash_event(&h, e);
    ret.hash = h.value;
    if (bytes) {
        ret.frame = FRAME_KEPT;
        ret.frame_hash = fnv1a_64(FNV64_OF_NOTHING, bytes, n);
    } else if (sends) {
        ret.frame = FRAME_GONE;
    }
    return ret;
}

/* Determines which events after the common place are missing from the record. */
static void take_missing(const struct past *p, struct diff_side *side)
{
    const ev_id from = ev_id_of(side->common + 1, 0);
    struct text t = text_on(side->missing, sizeof(side->missing));

    past_add_missing(&t, p, from, 0);
    side->sure_until = RDL_NEVER;
    if (p->gap_from && p->gap_to > side->common)
        side->sure_until = p->gap_from > side->common ? p->gap_from - 1 : side->common;
    if (p->forgotten && (p->n == 0 || past_at(p, 0)->id > from))
        side->sure_until = side->common;
}

void diff_take_events(struct session *s, uint64_t common, struct diff_side *side)
{
    const struct past past = past_of_lab(s->lab);
    const size_t first = past_lower_bound(&past, ev_id_of(common + 1, 0));

    side->common = common;
    side->end = position_here(s).at;
    take_missing(&past, side);
    side->n = past.n - first;
    side->v = must_malloc((side->n + 1) * sizeof(*side->v));
    for (size_t i = 0; i < side->n; i++)
        side->v[i] = happened(s->lab, past_at(&past, first + i));
}

/* Number of events up to tick @until, where the complete part of both records ends. */
static size_t count_sure(const struct diff_side *side, uint64_t until)
{
    size_t n = side->n;

    while (n > 0 && ev_tick(side->v[n - 1].id) > until)
        n--;
    return n;
}

static void compare_frames(struct diff *d, size_t i)
{
    const struct happened *x = &d->a.v[i], *y = &d->b.v[i];

    if (x->frame == FRAME_NONE && y->frame == FRAME_NONE)
        return;
    if (x->frame != FRAME_KEPT || y->frame != FRAME_KEPT) {
        d->n_gone++;
        return;
    }
    d->n_frames++;
    if (x->frame_hash != y->frame_hash && d->n_differ++ == 0)
        d->first = i;
}

/* Returns event @i of @side if it is in the complete part of the record, else 0. */
static ev_id sure_event(const struct diff_side *side, size_t i)
{
    return i < count_sure(side, side->sure_until) ? side->v[i].id : 0;
}

void diff_find_parting(struct diff *d)
{
    struct diff_side *a = &d->a, *b = &d->b;
    const uint64_t sure = a->sure_until < b->sure_until ? a->sure_until : b->sure_until;
    const size_t n_a = count_sure(a, sure), n_b = count_sure(b, sure);
    size_t i = 0;

    for (; i < n_a && i < n_b && a->v[i].hash == b->v[i].hash; i++)
        compare_frames(d, i);
    d->n_same = i;
    a->parts = b->parts = 0;
    if (i < n_a || i < n_b) {
        a->parts = sure_event(a, i);
        b->parts = sure_event(b, i);
    }
    d->is_sure = sure == RDL_NEVER || (a->parts && b->parts);
}

/* --- At the end ------------------------------------------------------------------------------- */

/* Returns true if the last line of the picture says that it is incomplete. */
static bool is_cut(const char *picture)
{
    const char *last = picture;

    for (const char *end = strchr(last, '\n'); end && end[1]; end = strchr(last, '\n'))
        last = end + 1;
    return strncmp(last, "... ", 4) == 0;
}

/* Draws the ladder from the first different event on. */
static void draw(struct session *s, const struct diff *d, struct diff_side *side)
{
    const struct past past = past_of_lab(s->lab);
    const struct picture_options options = {.from = side->parts,
                                            .width = d->width,
                                            .n_packets =
                                                d->all ? LADDER_PACKETS_MAX : PACKETS_DRAWN};
    size_t n;
    FILE *f = open_memstream(&side->ladder, &n);
    const struct viz_sink sink = file_sink(f);

    if (!f || ladder_draw(&past, &options, false, &sink) != RDL_OK)
        must_fail();
    must_memstream_end(f, &side->ladder);
    side->is_cut = is_cut(side->ladder);
}

static void take_frame(const struct session *s, const struct diff *d, struct diff_side *side)
{
    size_t n;
    const uint8_t *bytes = d->n_differ ? rdl_record_frame(s->lab, side->v[d->first].id, &n) : NULL;

    if (!bytes)
        return;
    side->frame = must_malloc(n + 1);
    memcpy(side->frame, bytes, n);
    side->frame_bytes = n;
}

void diff_take_end(struct session *s, const struct diff *d, struct diff_side *side)
{
    const struct past past = past_of_lab(s->lab);
    const struct ev *e = past_find(&past, side->parts);
    struct text t = text_on(side->event, sizeof(side->event));

    take_frame(s, d, side);
    if (!side->parts || !e)
        return;
    ev_add_line(&t, e, rdl_names(s->lab));
    draw(s, d, side);
}

void diff_take_state(struct session *s, struct diff_side *side)
{
    side->there = position_here(s).at;
    tree_state_take(&side->state, s->lab);
    tree_memory_take(&side->memory, s->lab);
}

void diff_side_done(struct diff_side *side)
{
    tree_state_done(&side->state);
    tree_memory_done(&side->memory);
    free(side->v);
    free(side->frame);
    free(side->ladder);
}
