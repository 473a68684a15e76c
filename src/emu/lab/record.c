/* SPDX-License-Identifier: MIT */
#include "emu/lab/record.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"

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

struct record {
    struct pointers chunks;
    struct chunk *spare; /* a forgotten one, for the next: memory in use is warm; or NULL */
    size_t events;       /* in all chunks */
    size_t events_max;
    uint64_t forgotten;
    struct pointers frames; /* of struct kept_frame, by ascending id */
    size_t frame_bytes, frame_bytes_max;
    struct rdl_record_gap gap;
    bool bounded;  /* by record_bound() */
    bool is_short; /* memory was, and nobody has asked yet */
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

void record_free(struct record *r)
{
    if (!r)
        return;
    while (r->chunks.len > 0)
        free(shift(&r->chunks));
    while (r->frames.len > 0)
        free(shift(&r->frames));
    free(r->spare);
    free(r->chunks.v);
    free(r->frames.v);
    free(r);
}

/* Drops the oldest chunk, which is full unless it is the only one. */
static void forget_chunk(struct record *r)
{
    const size_t n = r->chunks.len > 1 ? CHUNK_EVENTS : r->events;

    free(r->spare);
    r->spare = shift(&r->chunks);
    r->events -= n;
    r->forgotten += n;
}

static struct chunk *new_chunk(struct record *r)
{
    struct chunk *c = r->spare;

    r->spare = NULL;
    return c ? c : malloc(sizeof(*c));
}

void record_event(struct record *r, const struct ev *e)
{
    struct chunk *c;

    if (r->events % CHUNK_EVENTS == 0) {
        if (r->events + CHUNK_EVENTS > r->events_max && r->chunks.len > 0)
            forget_chunk(r);
        c = new_chunk(r);
        while (!c && r->chunks.len > 0) {
            r->is_short = true;
            forget_chunk(r);
            c = new_chunk(r);
        }
        if (!c || !push(&r->chunks, c)) {
            free(c);
            r->is_short = true;
            r->forgotten++;
            return;
        }
    }
    c = at(&r->chunks, r->chunks.len - 1);
    c->events[r->events++ % CHUNK_EVENTS] = *e;
}

static void forget_frame(struct record *r)
{
    struct kept_frame *f = shift(&r->frames);

    r->frame_bytes -= f->bytes;
    free(f);
}

void record_frame(struct record *r, ev_id id, const uint8_t *bytes, size_t n)
{
    struct kept_frame *f;

    while (r->frames.len > 0 && r->frame_bytes + n > r->frame_bytes_max)
        forget_frame(r);
    if (n > r->frame_bytes_max)
        return; /* nor is this one kept */
    f = malloc(sizeof(*f) + n);
    if (!f) {
        r->is_short = true; /* the event is there, its bytes are not: readers cope with that */
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
    if (r->gap.from == 0)
        r->gap.from = tick + 1;
    r->gap.to = UINT64_MAX;
}

void record_resume(struct record *r, uint64_t tick)
{
    if (!record_paused(r))
        return;
    r->gap.to = tick;
    if (r->gap.to < r->gap.from)
        r->gap = (struct rdl_record_gap){0, 0}; /* nothing happened meanwhile */
}

struct rdl_record_gap record_gap(const struct record *r)
{
    return r->gap;
}

bool record_paused(const struct record *r)
{
    return r->gap.to == UINT64_MAX;
}

/* What is missing when time goes back to @tick. */
static void cut_gap(struct record *r, uint64_t tick)
{
    if (record_paused(r)) {
        if (r->gap.from > tick + 1)
            r->gap.from = tick + 1;
        return;
    }
    if (r->gap.to > tick)
        r->gap.to = tick;
    if (r->gap.to < r->gap.from)
        r->gap = (struct rdl_record_gap){0, 0};
}

void record_bound(struct record *r, size_t events_max, size_t frame_bytes_max)
{
    r->events_max = events_max > CHUNK_EVENTS ? events_max : CHUNK_EVENTS;
    r->frame_bytes_max = frame_bytes_max;
    r->bounded = true;
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
    return r->events;
}

const struct ev *record_at(const struct record *r, size_t i)
{
    const struct chunk *c;

    if (i >= r->events)
        return NULL;
    c = at(&r->chunks, i / CHUNK_EVENTS);
    return &c->events[i % CHUNK_EVENTS];
}

uint64_t record_forgotten(const struct record *r)
{
    return r->forgotten;
}

const uint8_t *record_find_frame(const struct record *r, ev_id id, size_t *ret_bytes)
{
    size_t low = 0, high = r->frames.len;
    const struct kept_frame *f;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        f = at(&r->frames, mid);
        if (f->id < id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == r->frames.len)
        return NULL;
    f = at(&r->frames, low);
    if (f->id != id)
        return NULL;
    *ret_bytes = f->bytes;
    return f->data;
}

void record_cut(struct record *r, uint64_t tick)
{
    cut_gap(r, tick);
    while (r->events > 0 && ev_tick(record_at(r, r->events - 1)->id) > tick) {
        r->events--;
        if (r->events % CHUNK_EVENTS == 0) {
            free(at(&r->chunks, r->chunks.len - 1));
            r->chunks.len--;
        }
    }
    while (r->frames.len > 0) {
        struct kept_frame *f = at(&r->frames, r->frames.len - 1);

        if (ev_tick(f->id) <= tick)
            break;
        r->frame_bytes -= f->bytes;
        r->frames.len--;
        free(f);
    }
}
