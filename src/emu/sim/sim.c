/* SPDX-License-Identifier: MIT */
#include "emu/sim/sim.h"

#include "emu/base/assert.h"
#include "emu/base/cold.h"

#define CHUNK 64u /* places are allocated in chunks of this many */

/* Puts the sentinel first into the empty heap. */
static void end_heap(struct sim *s)
{
    s->heap[0] = (struct sim_due){s->end.when, &s->end};
}

/* Allocates another chunk of places.  Returns false when the arena is full. */
static bool grow(struct sim *s)
{
    const uint32_t n = s->n_chunks * CHUNK;
    struct sim_place **chunks = arena_extend(s->arena, s->chunks, &s->chunks_cap, s->n_chunks,
                                             s->n_chunks + 1, sizeof(struct sim_place *));
    struct sim_due *heap =
        arena_extend(s->arena, s->heap, &s->heap_cap, s->heap_len, n + CHUNK, sizeof(*heap));
    struct sim_place *places = arena_alloc(s->arena, CHUNK * sizeof(*places));

    if (chunks)
        s->chunks = chunks;
    if (heap)
        s->heap = heap;
    if (heap && s->heap_len == 0)
        end_heap(s);
    if (!chunks || !heap || !places)
        return false;
    s->chunks[s->n_chunks++] = places;
    for (uint32_t i = CHUNK; i-- > 0;) {
        places[i].slot = n + i + 1;
        places[i].next = s->unused;
        s->unused = &places[i];
    }
    return true;
}

bool sim_init(struct sim *s, struct arena *a, struct trace *t, sim_handler *const *handlers,
              void *world)
{
    *s = (struct sim){.arena = a,
                      .trace = t,
                      .handlers = handlers,
                      .world = world,
                      .end = {.when = {UINT64_MAX, UINT64_MAX}}};
    for (uint32_t i = 0; i < SIM_ROWS; i++)
        s->rows[i].first = &s->end;
    if (!grow(s))
        return false;
    end_heap(s);
    return true;
}

static void put(struct sim *s, uint32_t at, struct sim_due due)
{
    s->heap[at] = due;
    due.place->at = at;
}

/* Sift the hole at index @at up (or down, below) to where @place belongs, and fill it. */
static void sift_up(struct sim *s, uint32_t at, struct sim_place *place)
{
    while (at > 0 && sim_is_before(&place->when, &s->heap[(at - 1) / 2].when)) {
        put(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(s, at, (struct sim_due){place->when, place});
}

static void sift_down(struct sim *s, uint32_t at, struct sim_place *place)
{
    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= s->heap_len)
            break;
        if (child + 1 < s->heap_len &&
            sim_is_before(&s->heap[child + 1].when, &s->heap[child].when))
            child++;
        if (!sim_is_before(&s->heap[child].when, &place->when))
            break;
        put(s, at, s->heap[child]);
        at = child;
    }
    put(s, at, (struct sim_due){place->when, place});
}

static void add_to_heap(struct sim *s, struct sim_place *place)
{
    place->queue = SIM_HEAP;
    sift_up(s, s->heap_len++, place);
}

static void remove_from_heap(struct sim *s, struct sim_place *place)
{
    struct sim_place *last = s->heap[--s->heap_len].place;
    const uint32_t at = place->at;

    place->gen++;
    if (s->heap_len == 0)
        end_heap(s);
    else if (at > 0 && at < s->heap_len && sim_is_before(&last->when, &s->heap[(at - 1) / 2].when))
        sift_up(s, at, last);
    else if (at < s->heap_len)
        sift_down(s, at, last);
}

/* Removes @place from its queue.  In a row it must be the first. */
static void remove_place(struct sim *s, struct sim_place *place)
{
    if (place->queue == SIM_HEAP)
        remove_from_heap(s, place);
    else
        s->rows[place->queue].first = place->next;
    place->next = s->unused;
    s->unused = place;
}

/* Fills an unused place, which must exist. */
static inline struct sim_place *place_new(struct sim *s, uint64_t at_ns, struct sim_item item)
{
    struct sim_place *place = s->unused;

    RDL_ASSERT(at_ns >= sim_now(s));
    s->unused = place->next;
    place->when = (struct sim_when){at_ns, s->seq++};
    place->item = item;
    place->cause = s->trace->cause;
    return place;
}

sim_ticket sim_schedule(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target,
                        uint64_t arg)
{
    struct sim_place *place;

    if (!s->unused && !grow(s))
        return 0; /* the arena is short now: the lab stops */
    place = place_new(s, at_ns, (struct sim_item){arg, target, kind});
    add_to_heap(s, place);
    return (uint64_t)place->gen << 32 | place->slot;
}

/* The path of sim_enqueue() when every place is in use.  It is separate, so that sim_enqueue()
 * itself calls nothing and need not save registers.
 */
RDL_COLD __attribute__((noinline)) static void
grow_and_enqueue(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target, uint64_t arg)
{
    if (grow(s))
        sim_enqueue(s, at_ns, kind, target, arg);
}

void sim_enqueue(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target, uint64_t arg)
{
    const enum sim_queue queue = kind == SIM_ARRIVE ? SIM_FAR : SIM_NEAR;
    struct sim_row *row = &s->rows[queue];
    struct sim_place *place;

    if (!s->unused) {
        grow_and_enqueue(s, at_ns, kind, target, arg);
        return;
    }
    place = place_new(s, at_ns, (struct sim_item){arg, target, kind});
    if (row->first == &s->end) {
        row->first = place;
    } else if (row->last->when.at_ns <= at_ns) {
        row->last->next = place;
    } else {
        add_to_heap(s, place);
        return;
    }
    row->last = place;
    place->queue = queue;
    place->next = &s->end;
}

bool sim_cancel(struct sim *s, sim_ticket ticket)
{
    const uint32_t slot = (uint32_t)ticket;
    struct sim_place *place;

    if (slot == 0 || slot > s->n_chunks * CHUNK)
        return false;
    place = &s->chunks[(slot - 1) / CHUNK][(slot - 1) % CHUNK];
    if (place->gen != ticket >> 32)
        return false;
    remove_place(s, place);
    return true;
}

void sim_dispatch_first(struct sim *s, struct sim_place *first)
{
    const uint64_t at_ns = first->when.at_ns;

    RDL_ASSERT(first != &s->end);
    trace_begin(s->trace, at_ns < s->floor_ns ? s->floor_ns : at_ns, first->cause);
    remove_place(s, first);
    /* The freed place keeps its item until something else is scheduled. */
    s->handlers[first->item.kind](s->world, first->item);
}

void sim_advance(struct sim *s, uint64_t now_ns)
{
    RDL_ASSERT(now_ns >= sim_now(s) && now_ns <= sim_next_ns(s));
    s->trace->now_ns = now_ns;
}
