/* SPDX-License-Identifier: MIT */
/* The drill of wires: the model of the network. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/fault.h"
#include "swarm/drills/drill_wires.h"

/* --- The model -------------------------------------------------------------------------------- */

static uint64_t occupied_ns(uint32_t bytes, uint64_t rate_bps)
{
    const uint64_t bits = (uint64_t)((bytes < OCCUPIED_MIN ? OCCUPIED_MIN : bytes) + GAP_BYTES) * 8;

    return (bits * NS_PER_S + rate_bps - 1) / rate_bps;
}

/* Returns true if the queue in front of the line has room for one more frame. */
static bool has_room(const struct line *l, enum way way, uint64_t now_ns)
{
    return l->free_at_ns[way] <= now_ns ||
           l->free_at_ns[way] - now_ns <= QUEUE_BYTES * 8 * NS_PER_S / l->rate_bps;
}

static void change(const struct wire_fault *t, struct frame_copy *f, struct effect *effect)
{
    const uint32_t bit = t->bit % (f->bytes * 8);

    switch (t->kind) {
    case FLT_DROP:
        effect->is_lost = true;
        break;
    case FLT_DELAY:
        effect->delay_ns += t->delay_ns;
        break;
    case FLT_DUPLICATE:
        effect->is_double = true;
        effect->double_ns = t->delay_ns;
        break;
    case FLT_REORDER:
        effect->hold_frames = t->hold_frames;
        effect->hold_ns = t->delay_ns;
        break;
    case FLT_TRUNCATE:
        f->bytes = t->to_bytes;
        if (f->bytes < PREFIX)
            memset(f->b + f->bytes, 0, PREFIX - f->bytes);
        break;
    default:
        if (bit / 8 < PREFIX)
            f->b[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
    }
}

/* Lets the faults act that a frame meets where it comes in (@from: its port, @line: PORTS), or at a
 * line (@from: PORTS).
 */
static void meet(struct wires *w, uint32_t from, uint32_t line, struct frame_copy *f,
                 struct effect *effect)
{
    for (uint32_t i = 0; i < FAULTS && !effect->is_lost; i++) {
        struct wire_fault *t = &w->fault[i];
        const bool is_here = line < PORTS
                                 ? t->line == line
                                 : t->line == PORTS && (t->from == PORTS || t->from == from);

        if (!t->exists || t->left == 0 || !is_here ||
            (t->kind == FLT_TRUNCATE && f->bytes <= t->to_bytes))
            continue;
        if (++t->seen < t->nth)
            continue;
        t->hits++;
        t->left -= t->left != UINT32_MAX;
        change(t, f, effect);
    }
}

static void fly(struct wires *w, uint64_t at_ns, uint32_t port, enum way way,
                const struct frame_copy *f)
{
    RDL_ASSERT(w->n_flights < FLIGHTS);
    w->flight[w->n_flights++] = (struct flight){
        .at_ns = at_ns, .number = w->flights_made++, .port = port, .way = way, .f = *f};
}

/* A frame that is not held arrives at @at_ns.  Those that are held and have waited for it come
 * directly behind it, unless they came before.
 */
static void overtake(struct wires *w, uint64_t at_ns, uint32_t port, enum way way)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->n_held; i++) {
        struct wires_held h = w->held[i];
        uint32_t k = 0;

        if (h.port != port || h.way != way || --h.left > 0) {
            w->held[n++] = h;
            continue;
        }
        while (k < w->n_flights && w->flight[k].number != h.number)
            k++;
        if (k == w->n_flights || at_ns > h.latest_ns)
            continue;
        w->flight[k].at_ns = at_ns;
        w->flight[k].number = w->flights_made++;
    }
    w->n_held = n;
}

static void transmit(struct wires *w, uint64_t now_ns, uint32_t port, enum way way,
                     struct frame_copy *f, struct effect *effect)
{
    struct line *l = &w->line[port];
    uint64_t *free_at = &l->free_at_ns[way], arrives;

    meet(w, PORTS, port, f, effect);
    *free_at = (*free_at > now_ns ? *free_at : now_ns) + occupied_ns(f->bytes, l->rate_bps);
    l->in_burst[way] = l->bursts[way] && !l->in_burst[way];
    if (effect->is_lost || l->in_burst[way]) {
        l->lost++;
        return;
    }
    l->carried++;
    arrives = *free_at + l->latency_ns + effect->delay_ns;
    if (effect->is_double)
        fly(w, arrives + effect->double_ns, port, way, f);
    fly(w, arrives + (effect->hold_frames ? effect->hold_ns : 0), port, way, f);
    if (effect->hold_frames == 0) {
        overtake(w, arrives, port, way);
        return;
    }
    RDL_ASSERT(w->n_held < HELD);
    w->held[w->n_held++] = (struct wires_held){.number = w->flights_made - 1,
                                               .left = effect->hold_frames,
                                               .port = port,
                                               .way = way,
                                               .latest_ns = arrives + effect->hold_ns};
}

void wires_come_in(struct wires *w, uint64_t now_ns, uint32_t port, struct frame_copy f)
{
    struct line *l = &w->line[port];
    struct effect effect = {0};

    w->info[port].in_frames++;
    w->info[port].in_bytes += f.bytes;
    meet(w, port, PORTS, &f, &effect);
    if (l->is_up && has_room(l, IN, now_ns)) {
        transmit(w, now_ns, port, IN, &f, &effect);
        return;
    }
    w->info[port].in_dropped++;
    w->dropped++;
}

/* The entry of the switch for @mac, a new one if it has none and @makes.  NULL: there is none. */
static struct learnt *learnt_of(struct wires *w, uint64_t mac, bool makes)
{
    for (uint32_t i = 0; i < w->n_learnt; i++) {
        if (w->learnt[i].mac == mac)
            return &w->learnt[i];
    }
    if (!makes)
        return NULL;
    RDL_ASSERT(w->n_learnt < LEARNT);
    w->learnt[w->n_learnt] = (struct learnt){.mac = mac};
    return &w->learnt[w->n_learnt++];
}

static void switch_out(struct wires *w, uint64_t now_ns, uint32_t port, const struct frame_copy *f)
{
    struct line *l = &w->line[port];
    struct frame_copy copy = *f;
    struct effect effect = {0};

    if (!l->is_up || !has_room(l, OUT, now_ns)) {
        w->dropped++;
        return;
    }
    w->sent++;
    transmit(w, now_ns, port, OUT, &copy, &effect);
}

static void switch_in(struct wires *w, const struct flight *t)
{
    const struct learnt *to;

    w->rcvd++;
    if (t->f.bytes < ETHERNET) {
        w->dropped++;
        return;
    }
    learnt_of(w, ld_be(t->f.b + 6, 6), true)->port = t->port;
    to = t->f.b[0] & 1 ? NULL : learnt_of(w, ld_be(t->f.b, 6), false);
    if (to && to->port == t->port) {
        w->dropped++;
    } else if (to) {
        switch_out(w, t->at_ns, to->port, &t->f);
    } else {
        for (uint32_t i = 0; i < PORTS; i++) {
            if (i != t->port)
                switch_out(w, t->at_ns, i, &t->f);
        }
    }
}

void wires_run(struct wires *w, uint64_t until_ns)
{
    for (;;) {
        uint32_t next = w->n_flights;
        struct flight t;

        for (uint32_t i = 0; i < w->n_flights; i++) {
            const struct flight *a = &w->flight[i], *b = &w->flight[next];

            if (a->at_ns <= until_ns && (next == w->n_flights || a->at_ns < b->at_ns ||
                                         (a->at_ns == b->at_ns && a->number < b->number)))
                next = i;
        }
        if (next == w->n_flights)
            return;
        t = w->flight[next];
        w->flight[next] = w->flight[--w->n_flights];
        if (t.way == IN) {
            switch_in(w, &t);
            continue;
        }
        RDL_ASSERT(w->n_want < FLIGHTS);
        w->info[t.port].out_frames++;
        w->info[t.port].out_bytes += t.f.bytes;
        w->want[w->n_want++] = (struct leaver){t.at_ns, t.port, t.f};
    }
}
