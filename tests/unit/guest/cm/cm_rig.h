/* SPDX-License-Identifier: MIT */
/* Two connection managers, A and B, whose messages a test can lose.  A message arrives a
 * millisecond after it was sent.  What becomes of events is the test's affair: rig_init().
 */
#ifndef UNIT_GUEST_CM_CM_RIG_H
#define UNIT_GUEST_CM_CM_RIG_H

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/guest/cm/ib_cm.h"

#define MS           UINT64_C(1000000)
#define WAITING_MAX  256u
#define RECORDED_MAX 256u
#define ACK_DELAY    15u

enum { A, B };

struct rig;

/* A side.  The test's own struct begins with it. */
struct end {
    struct rig *rig;
    unsigned number;
    struct ib_cm cm;
    bool is_other; /* has another address than that in a REQ */
};

struct waiting {
    uint64_t at_ns;
    unsigned to;                                /* of a message */
    uint32_t arg;                               /* of a timer */
    uint64_t number;                            /* from 1; 0: done */
    void (*timer)(struct end *s, uint32_t arg); /* NULL: a message */
    uint8_t mad[MAD_BYTES];
};

struct rig {
    struct arena *arena;
    struct end *ends[2];
    struct waiting waiting[WAITING_MAX];
    uint64_t now_ns, number;
    struct {
        unsigned from;
        uint32_t message;
        uint64_t at_ns;
    } sent[RECORDED_MAX];
    size_t n_sent;
    uint8_t last_mad[2][MAD_BYTES]; /* of each side */
    uint32_t lose;                  /* enum cm_message; 0: none */
    unsigned n_lose;                /* so many of them */
};

static const uint8_t gids[2][GID_BYTES] = {
    [A] = {[10] = 0xff, 0xff, 10, 0, 0, 1}, [B] = {[10] = 0xff, 0xff, 10, 0, 0, 2}};

static inline struct waiting *rig_wait(struct rig *r, uint64_t at_ns)
{
    for (size_t i = 0; i < WAITING_MAX; i++) {
        if (r->waiting[i].number == 0) {
            r->waiting[i] = (struct waiting){.at_ns = at_ns, .number = ++r->number};
            return &r->waiting[i];
        }
    }
    fail();
    return NULL;
}

static inline uint64_t rig_timer(struct end *s, void (*timer)(struct end *s, uint32_t arg),
                                 uint32_t arg, uint64_t at_ns)
{
    struct waiting *w = rig_wait(s->rig, at_ns);

    w->to = s->number;
    w->arg = arg;
    w->timer = timer;
    return w->number;
}

static inline void rig_stop_timer(void *ctx, uint64_t timer)
{
    struct rig *r = ((struct end *)ctx)->rig;

    for (size_t i = 0; i < WAITING_MAX; i++) {
        if (r->waiting[i].number == timer)
            r->waiting[i].number = 0;
    }
}

static inline void send_mad(void *ctx, const struct ib_cm_path *path, const uint8_t mad[MAD_BYTES])
{
    const struct end *s = ctx;
    struct rig *r = s->rig;
    struct waiting *w;

    assert_true(r->n_sent < RECORDED_MAX);
    assert_memory_equal(path->dgid, gids[!s->number], GID_BYTES);
    r->sent[r->n_sent].from = s->number;
    r->sent[r->n_sent].message = mad[17];
    r->sent[r->n_sent++].at_ns = r->now_ns;
    memcpy(r->last_mad[s->number], mad, MAD_BYTES);
    if (r->n_lose > 0 && r->lose == mad[17]) {
        r->n_lose--;
        return;
    }
    w = rig_wait(r, r->now_ns + MS);
    w->to = !s->number;
    memcpy(w->mad, mad, MAD_BYTES);
}

static inline bool has_gid(void *ctx, const uint8_t gid[GID_BYTES])
{
    const struct end *s = ctx;

    return !s->is_other && memcmp(gid, gids[s->number], GID_BYTES) == 0;
}

static inline uint64_t now_ns(void *ctx)
{
    return ((struct end *)ctx)->rig->now_ns;
}

static inline void ib_cm_due(struct end *s, uint32_t local_id)
{
    ib_cm_timer(&s->cm, local_id);
}

static inline uint64_t start_ib_cm_timer(void *ctx, uint32_t local_id, uint64_t at_ns)
{
    return rig_timer(ctx, ib_cm_due, local_id, at_ns);
}

static inline struct waiting *first(struct rig *r)
{
    struct waiting *found = NULL;

    for (size_t i = 0; i < WAITING_MAX; i++) {
        struct waiting *w = &r->waiting[i];

        if (w->number && (!found || w->at_ns < found->at_ns ||
                          (w->at_ns == found->at_ns && w->number < found->number)))
            found = w;
    }
    return found;
}

/* Lets @ms pass. */
static inline void pass(struct rig *r, uint64_t ms)
{
    const uint64_t until = r->now_ns + ms * MS;

    for (struct waiting *w = first(r); w && w->at_ns <= until; w = first(r)) {
        const struct waiting now = *w;
        struct ib_cm_path path = {.hop_limit = 64};

        w->number = 0;
        r->now_ns = now.at_ns;
        memcpy(path.sgid, gids[now.to], GID_BYTES);
        memcpy(path.dgid, gids[!now.to], GID_BYTES);
        if (now.timer)
            now.timer(r->ends[now.to], now.arg);
        else
            ib_cm_receive(&r->ends[now.to]->cm, &path, now.mad);
    }
    r->now_ns = until;
}

static inline size_t count_sent(const struct rig *r, unsigned from, uint32_t message)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_sent; i++)
        n += r->sent[i].from == from && r->sent[i].message == message;
    return n;
}

/* Connects @a and @b, which are zeroed; @event is ib_cm_ops.event(), with its end as ctx. */
static inline void rig_init(struct rig *r, struct end *a, struct end *b,
                            bool (*event)(void *ctx, struct ib_cm_id *id,
                                          const struct ib_cm_event *e))
{
    struct prng rng = prng_stream(7, 1);

    r->arena = arena_new(1u << 24);
    assert_non_null(r->arena);
    r->ends[A] = a;
    r->ends[B] = b;
    for (unsigned i = 0; i < 2; i++) {
        *r->ends[i] = (struct end){.rig = r, .number = i};
        ib_cm_init(&r->ends[i]->cm,
                   &(struct ib_cm_config){.guid = 0x1111 * (i + 1),
                                          .ack_delay = ACK_DELAY,
                                          .agent = 1,
                                          .arena = r->arena,
                                          .ops = {.send = send_mad,
                                                  .event = event,
                                                  .now_ns = now_ns,
                                                  .start_timer = start_ib_cm_timer,
                                                  .stop_timer = rig_stop_timer,
                                                  .has_gid = has_gid},
                                          .ctx = r->ends[i]},
                   &rng);
    }
}

#endif
