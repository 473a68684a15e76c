/* SPDX-License-Identifier: MIT */
/* Events are stored in chunks, and a whole chunk is discarded at a time.  See record.h. */
#include "emu/lab/record.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/trace/event.h"
#include "emu/trace/trace.h"

#define CHUNK_EVENTS 1024u

struct chunk {
    struct ev events[CHUNK_EVENTS];
};

struct kept_frame {
    ev_id id;
    size_t bytes;
    uint8_t data[];
};

/* A queue of pointers in an array: entries first .. first + len - 1. */
struct pointers {
    void **v;
    size_t first, len, cap;
};

/* Events and frames that are all after the lab's position, while older ones are forgotten: the lab
 * went back to before them.  Between its position and them are events that are not recorded.
 */
struct later {
    struct pointers chunks;
    size_t events; /* 0: there are none */
    uint64_t end_tick, forgotten, forgotten_frames;
    struct pointers frames;
    size_t frame_bytes;
};

struct record {
    struct pointers chunks;
    struct chunk *spare; /* a discarded chunk for reuse while it is in the cache; or NULL */
    size_t events;       /* in all chunks */
    size_t seen;         /* events visible at the lab's position; the others are ahead */
    uint64_t end_tick;   /* the record is complete up to this tick, except for discarded events */
    size_t events_max;
    uint64_t forgotten;
    uint64_t forgotten_frames; /* of them, events that sent a frame, or may have */
    struct pointers frames;    /* struct kept_frame by ascending id */
    size_t frame_bytes, frame_bytes_max;
    uint64_t gap_from, gap_to; /* ticks during which recording was off at times; 0, 0: none */
    bool paused;
    bool bounded;  /* record_bound() was called */
    bool is_short; /* memory was short since the last record_was_short() */
    struct later later;
};

static bool push(struct pointers *p, void *item)
{
    if (p->first + p->len == p->cap && p->first > p->cap / 2) {
        memmove(p->v, p->v + p->first, p->len * sizeof(*p->v));
        p->first = 0;
    }
    if (p->first + p->len == p->cap) {
        const size_t cap = p->cap ? 2 * p->cap : 64;
        void **v = realloc(p->v, cap * sizeof(*v));

        if (!v)
            return false;
        p->v = v;
        p->cap = cap;
    }
    p->v[p->first + p->len++] = item;
    return true;
}

static void *at(const struct pointers *p, size_t i)
{
    return p->v[p->first + i];
}

static void *shift(struct pointers *p)
{
    p->len--;
    return p->v[p->first++];
}

struct record *record_new(size_t events_max, size_t frame_bytes_max)
{
    struct record *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->events_max = events_max > CHUNK_EVENTS ? events_max : CHUNK_EVENTS;
    r->frame_bytes_max = frame_bytes_max;
    return r;
}

static void drop_later(struct record *r)
{
    struct later *l = &r->later;

    while (l->chunks.len > 0)
        free(shift(&l->chunks));
    while (l->frames.len > 0)
        free(shift(&l->frames));
    free(l->chunks.v);
    free(l->frames.v);
    *l = (struct later){0};
}

void record_free(struct record *r)
{
    if (!r)
        return;
    drop_later(r);
    while (r->chunks.len > 0)
        free(shift(&r->chunks));
    while (r->frames.len > 0)
        free(shift(&r->frames));
    free(r->spare);
    free(r->chunks.v);
    free(r->frames.v);
    free(r);
}

/* Moves the oldest chunk of @from, which has @events, to the spare one.  The chunk is full unless
 * it is the only one.  Returns the number of its events, and of those that sent a frame.
 */
static size_t spare_chunk(struct record *r, struct pointers *from, size_t events,
                          size_t *ret_frames)
{
    const size_t n = from->len > 1 ? CHUNK_EVENTS : events;

    free(r->spare);
    r->spare = shift(from);
    *ret_frames = 0;
    for (size_t i = 0; i < n; i++)
        *ret_frames += event_has_frame(&r->spare->events[i]);
    return n;
}

static void forget_later_chunk(struct record *r)
{
    struct later *l = &r->later;
    size_t frames;
    const size_t n = spare_chunk(r, &l->chunks, l->events, &frames);

    l->events -= n;
    l->forgotten += n;
    l->forgotten_frames += frames;
    if (l->events == 0)
        drop_later(r);
}

/* Discards the oldest chunk: of the events up to the lab's position and those that follow, or of
 * the later ones if these are more.
 */
static void forget_chunk(struct record *r)
{
    size_t n, frames;

    if (r->later.events >= r->events) {
        forget_later_chunk(r);
        return;
    }
    n = spare_chunk(r, &r->chunks, r->events, &frames);
    r->events -= n;
    r->seen -= n < r->seen ? n : r->seen;
    r->forgotten += n;
    r->forgotten_frames += frames;
}

static struct chunk *new_chunk(struct record *r)
{
    struct chunk *c = r->spare;

    r->spare = NULL;
    return c ? c : malloc(sizeof(*c));
}

/* Event @i of those that are stored, including those ahead. */
static const struct ev *kept(const struct record *r, size_t i)
{
    const struct chunk *c = at(&r->chunks, i / CHUNK_EVENTS);

    return &c->events[i % CHUNK_EVENTS];
}

static bool is_same(const struct ev *a, const struct ev *b)
{
    struct trace_hash x = TRACE_HASH_START, y = TRACE_HASH_START;

    if (a->id != b->id || a->kind != b->kind)
        return false;
    trace_hash_event(&x, a);
    trace_hash_event(&y, b);
    return x.value == y.value;
}

/* Discards all but the first @n events, and the frames of @id and later. */
static void keep_first(struct record *r, size_t n, ev_id id)
{
    while (r->events > n) {
        r->events--;
        if (r->events % CHUNK_EVENTS == 0) {
            free(at(&r->chunks, r->chunks.len - 1));
            r->chunks.len--;
        }
    }
    while (r->frames.len > 0) {
        struct kept_frame *f = at(&r->frames, r->frames.len - 1);

        if (f->id < id)
            break;
        r->frame_bytes -= f->bytes;
        r->frames.len--;
        free(f);
    }
    if (r->seen > r->events)
        r->seen = r->events;
}

/* Stores @e behind all others that are not later ones. */
static void store(struct record *r, const struct ev *e)
{
    struct chunk *c;

    if (r->events % CHUNK_EVENTS == 0) {
        if (r->events + r->later.events + CHUNK_EVENTS > r->events_max &&
            r->chunks.len + r->later.chunks.len > 0)
            forget_chunk(r);
        c = new_chunk(r);
        while (!c && r->chunks.len + r->later.chunks.len > 0) {
            r->is_short = true;
            forget_chunk(r);
            c = new_chunk(r);
        }
        if (!c || !push(&r->chunks, c)) {
            free(c);
            r->is_short = true;
            r->forgotten++;
            r->forgotten_frames += event_has_frame(e);
            return;
        }
    }
    c = at(&r->chunks, r->chunks.len - 1);
    c->events[r->events++ % CHUNK_EVENTS] = *e;
}

static void append(struct record *r, const struct ev *e)
{
    store(r, e);
    r->seen = r->events;
}

/* The first of the later events. */
static const struct ev *first_later(const struct record *r)
{
    const struct chunk *c = at(&r->later.chunks, 0);

    return &c->events[0];
}

/* Sets the events and frames aside as later ones.  They are discarded if there are later ones. */
static void set_aside(struct record *r)
{
    if (r->later.events == 0 && r->events > 0 && r->gap_from == 0) {
        r->later = (struct later){r->chunks,           r->events, r->end_tick,   r->forgotten,
                                  r->forgotten_frames, r->frames, r->frame_bytes};
        r->chunks = r->frames = (struct pointers){0};
        r->events = r->seen = r->frame_bytes = 0;
    }
    keep_first(r, 0, 0);
}

/* Replaces the events and frames by the later ones, which are all ahead of the lab then. */
static void take_later(struct record *r)
{
    const struct later l = r->later;

    keep_first(r, 0, 0);
    free(r->chunks.v);
    free(r->frames.v);
    r->later = (struct later){0};
    r->chunks = l.chunks;
    r->events = l.events;
    r->end_tick = l.end_tick;
    r->forgotten = l.forgotten;
    r->forgotten_frames = l.forgotten_frames;
    r->frames = l.frames;
    r->frame_bytes = l.frame_bytes;
}

/* Puts the later events and frames behind the others: the lab has come to the first of them.  If
 * events between are not recorded, those before them are discarded.
 */
static void join_later(struct record *r)
{
    struct later l = r->later;

    if (r->forgotten + r->events != l.forgotten) {
        take_later(r);
        return;
    }
    r->later = (struct later){0};
    for (size_t i = 0; i < l.events; i++) {
        struct chunk *c = at(&l.chunks, 0);

        store(r, &c->events[i % CHUNK_EVENTS]);
        if (i % CHUNK_EVENTS == CHUNK_EVENTS - 1 || i == l.events - 1)
            free(shift(&l.chunks));
    }
    while (l.frames.len > 0) {
        struct kept_frame *f = shift(&l.frames);

        r->frame_bytes += f->bytes;
        if (!push(&r->frames, f)) {
            r->frame_bytes -= f->bytes;
            r->is_short = true;
            free(f);
        }
    }
    free(l.chunks.v);
    free(l.frames.v);
    r->end_tick = l.end_tick;
}

void record_event(struct record *r, const struct ev *e)
{
    if (r->later.events > 0 && r->seen == r->events && e->id >= first_later(r)->id)
        join_later(r);
    if (r->seen < r->events) {
        if (is_same(e, kept(r, r->seen))) {
            r->seen++;
            return;
        }
        record_forget_ahead(r, ev_tick(e->id) - 1); /* not the event of the earlier run */
    }
    append(r, e);
}

/* Discards the oldest frame: of the later ones if these have more bytes. */
static void forget_frame(struct record *r)
{
    const bool later = r->later.frame_bytes >= r->frame_bytes;
    struct kept_frame *f = shift(later ? &r->later.frames : &r->frames);

    *(later ? &r->later.frame_bytes : &r->frame_bytes) -= f->bytes;
    free(f);
}

/* The bytes of all frames. */
static size_t frame_bytes(const struct record *r)
{
    return r->frame_bytes + r->later.frame_bytes;
}

/* Index of the first frame whose id is at least @id; r->frames.len if there is none. */
static size_t frame_from(const struct record *r, ev_id id)
{
    size_t low = 0, high = r->frames.len;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const struct kept_frame *f = at(&r->frames, mid);

        if (f->id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Returns true if the frame of event @id is recorded already, or was discarded, when the lab
 * replays.  Discards what is ahead if the frame differs.
 */
static bool was_sent_before(struct record *r, ev_id id, const uint8_t *bytes, size_t n)
{
    const size_t i = frame_from(r, id);
    const struct kept_frame *f = i < r->frames.len ? at(&r->frames, i) : NULL;

    if (!f)
        return false;
    if (f->id != id || (f->bytes == n && memcmp(f->data, bytes, n) == 0))
        return true;
    record_forget_ahead(r, ev_tick(id) - 1);
    return false;
}

void record_frame(struct record *r, ev_id id, const uint8_t *bytes, size_t n)
{
    struct kept_frame *f;

    if (was_sent_before(r, id, bytes, n))
        return;
    while (frame_bytes(r) > 0 && frame_bytes(r) + n > r->frame_bytes_max)
        forget_frame(r);
    if (n > r->frame_bytes_max)
        return; /* larger than the limit: not kept */
    f = malloc(sizeof(*f) + n);
    if (!f) {
        r->is_short = true; /* readers accept events without their frames */
        return;
    }
    f->id = id;
    f->bytes = n;
    memcpy(f->data, bytes, n);
    if (push(&r->frames, f)) {
        r->frame_bytes += n;
    } else {
        r->is_short = true;
        free(f);
    }
}

bool record_was_short(struct record *r)
{
    const bool was = r->is_short;

    r->is_short = false;
    return was;
}

void record_pause(struct record *r, uint64_t tick)
{
    drop_later(r);
    r->paused = true;
    if (r->gap_from == 0)
        r->gap_from = r->gap_to = tick + 1;
}

void record_resume(struct record *r, uint64_t tick)
{
    if (!r->paused)
        return;
    r->paused = false;
    if (r->gap_to < tick + 1)
        r->gap_to = tick + 1;
    if (r->gap_to <= r->gap_from)
        r->gap_from = r->gap_to = 0; /* no event was missed */
}

struct rdl_record_gap record_gap(const struct record *r, uint64_t tick)
{
    if (r->paused)
        return (struct rdl_record_gap){r->gap_from, RDL_NEVER};
    if (r->gap_from == 0 || r->gap_from > tick)
        return (struct rdl_record_gap){0, 0};
    return (struct rdl_record_gap){r->gap_from, r->gap_to - 1 < tick ? r->gap_to - 1 : tick};
}

bool record_paused(const struct record *r)
{
    return r->paused;
}

/* Limits the gap to ticks up to @tick, after the later history was discarded. */
static void cut_gap(struct record *r, uint64_t tick)
{
    if (r->gap_from == 0)
        return;
    if (r->gap_to > tick + 1)
        r->gap_to = tick + 1;
    if (r->gap_from > tick + 1)
        r->gap_from = tick + 1;
    if (r->gap_to <= r->gap_from && !r->paused)
        r->gap_from = r->gap_to = 0;
}

void record_forget_ahead(struct record *r, uint64_t tick)
{
    drop_later(r);
    keep_first(r, r->seen, ev_id_of(tick + 1, 0));
    cut_gap(r, tick);
    r->end_tick = tick;
}

void record_place(struct record *r, uint64_t from, uint64_t tick, uint64_t n_before)
{
    size_t low = 0, high;
    bool before;

    if (r->end_tick < from)
        r->end_tick = from;
    if (r->later.events > 0 && tick >= ev_tick(first_later(r)->id))
        take_later(r);
    before = r->forgotten > 0 && (r->events == 0 || tick < ev_tick(kept(r, 0)->id));
    if (tick > r->end_tick || before) {
        if (before)
            set_aside(r);
        else
            keep_first(r, 0, 0);
        r->forgotten = r->forgotten_frames = n_before;
        r->end_tick = tick;
        r->gap_from = r->gap_to = r->paused ? tick + 1 : 0;
        return;
    }
    high = r->events;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (ev_tick(kept(r, mid)->id) <= tick)
            low = mid + 1;
        else
            high = mid;
    }
    r->seen = low;
}

void record_bound(struct record *r, size_t events_max, size_t frame_bytes_max)
{
    drop_later(r);
    r->events_max = events_max > CHUNK_EVENTS ? events_max : CHUNK_EVENTS;
    r->frame_bytes_max = frame_bytes_max;
    r->bounded = true;
    /* the oldest chunk may contain events that are still ahead of the lab */
    if (r->seen < r->events)
        record_forget_ahead(r, ev_tick(kept(r, r->seen)->id) - 1);
    while (r->chunks.len > 1 && r->events > r->events_max)
        forget_chunk(r);
    while (r->frames.len > 0 && r->frame_bytes > r->frame_bytes_max)
        forget_frame(r);
}

struct rdl_record_limits record_limits(const struct record *r)
{
    return (struct rdl_record_limits){r->events_max, r->frame_bytes_max, r->bounded};
}

size_t record_count(const struct record *r)
{
    return r->seen;
}

const struct ev *record_at(const struct record *r, size_t i)
{
    return i < r->seen ? kept(r, i) : NULL;
}

uint64_t record_forgotten(const struct record *r)
{
    return r->forgotten;
}

uint64_t record_forgotten_frames(const struct record *r)
{
    return r->forgotten_frames;
}

const uint8_t *record_find_frame(const struct record *r, ev_id id, size_t *ret_bytes)
{
    const size_t i = frame_from(r, id);
    const struct kept_frame *f;

    if (i == r->frames.len || (r->seen < r->events && id >= kept(r, r->seen)->id))
        return NULL;
    f = at(&r->frames, i);
    if (f->id != id)
        return NULL;
    *ret_bytes = f->bytes;
    return f->data;
}
