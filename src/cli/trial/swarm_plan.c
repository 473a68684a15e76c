/* SPDX-License-Identifier: MIT */
#include "cli/trial/swarm_plan.h"

#include <stdlib.h>
#include <string.h>

#include "cli/print/must.h"
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/device.h"

#define PAGE_BYTES     4096u
#define GAP_BYTES      64u /* between pieces */
#define RD_ATOMIC_MAX  16u
#define TIGHT_MAX      2u /* of a peer that can take less than is sent */
#define UNSIGNALED_MAX 6u /* one after the other */
#define NO_RECV        UINT32_MAX

/* What only the drawing of a lane needs to know. */
struct draw {
    struct swarm_plan *p;
    unsigned lane;
    enum swarm_wrong wrong; /* that is still to come, from request wrong_from on */
    uint32_t wrong_from;
    bool is_dead;               /* a wrong request came */
    bool words_are_read;        /* by a READ, which an atomic must wait for */
    bool is_read[SWARM_PLACES]; /* a place at the other side is, which a WRITE must wait for */
    uint32_t unsignaled;        /* so many one after the other */
};

static uint32_t below(struct swarm_plan *p, uint32_t n)
{
    return (uint32_t)prng_below(&p->rng, n);
}

static bool one_in(struct swarm_plan *p, uint32_t n)
{
    return below(p, n) == 0;
}

void swarm_gather(const struct swarm_pieces *s, const uint8_t *memory, uint8_t *message)
{
    for (uint32_t i = 0; i < s->n; i++) {
        memcpy(message, memory + s->piece[i].at, s->piece[i].bytes);
        message += s->piece[i].bytes;
    }
}

void swarm_scatter(const struct swarm_pieces *s, uint8_t *memory, const uint8_t *message,
                   uint32_t bytes)
{
    for (uint32_t i = 0; i < s->n && bytes > 0; i++) {
        const uint32_t n = s->piece[i].bytes < bytes ? s->piece[i].bytes : bytes;

        memcpy(memory + s->piece[i].at, message, n);
        message += n;
        bytes -= n;
    }
}

/* --- What is drawn ---------------------------------------------------------------------------- */

static enum wr_opcode draw_opcode(struct swarm_plan *p)
{
    static const struct {
        enum wr_opcode opcode;
        uint32_t weight;
    } ops[] = {
        {WR_SEND, 4},
        {WR_SEND_WITH_IMM, 2},
        {WR_RDMA_WRITE, 4},
        {WR_RDMA_WRITE_WITH_IMM, 2},
        {WR_RDMA_READ, 5},
        {WR_ATOMIC_FETCH_AND_ADD, 3},
        {WR_ATOMIC_CMP_AND_SWP, 2},
    };
    uint32_t sum = 0, pick;
    size_t i = 0;

    for (size_t k = 0; k < ARRAY_LEN(ops); k++)
        sum += ops[k].weight;
    for (pick = below(p, sum); pick >= ops[i].weight; i++)
        pick -= ops[i].weight;
    return ops[i].opcode;
}

static uint32_t draw_bytes(struct swarm_plan *p)
{
    const uint32_t mtu = p->mtu_bytes;
    const uint32_t shapes[] = {0,   1,       3,           64,          SWARM_INLINE_MAX,   mtu - 1,
                               mtu, mtu + 1, 2 * mtu - 4, 3 * mtu + 1, SWARM_MESSAGE_BYTES};
    const uint32_t pick = below(p, ARRAY_LEN(shapes) + 3);

    return pick < ARRAY_LEN(shapes) ? shapes[pick] : below(p, SWARM_MESSAGE_BYTES);
}

/* Cuts @bytes into pieces, which may be empty, that begin anywhere in the first page of a place. */
static struct swarm_pieces draw_pieces(struct swarm_plan *p, uint32_t place, uint32_t bytes)
{
    struct swarm_pieces s = {.n = 1 + below(p, SWARM_SGES_MAX)};
    uint32_t at = place * SWARM_PLACE_BYTES + below(p, PAGE_BYTES);

    if (bytes == 0 && one_in(p, 2))
        s.n = 0;
    else if (one_in(p, 2))
        s.n = 1;
    for (uint32_t i = 0; i < s.n; i++) {
        const uint32_t n = i == s.n - 1 ? bytes : below(p, bytes + 1);

        s.piece[i] = (struct swarm_piece){at, n};
        at += n + below(p, GAP_BYTES);
        bytes -= n;
    }
    return s;
}

static unsigned needed_access(const struct swarm_req *r)
{
    if (swarm_is_write(r))
        return ACC_REMOTE_WRITE;
    if (swarm_is_read(r))
        return ACC_REMOTE_READ;
    return swarm_is_atomic(r) ? ACC_REMOTE_ATOMIC : 0;
}

/* Where @r begins: in its own place or, so that the order counts, in that of an earlier READ or
 * WRITE of its lane, mostly at the same byte.
 */
static uint32_t draw_target(struct draw *d, uint32_t i, const struct swarm_req *r)
{
    struct swarm_plan *p = d->p;
    const uint32_t chance = below(p, SWARM_PLACE_BYTES - r->bytes);
    uint32_t place = swarm_place(p, SWARM_TARGET, d->lane, i), offset = chance;
    const struct swarm_req *earlier = NULL;

    if (i > 0 && one_in(p, 2)) {
        earlier = &p->lane[d->lane].req[below(p, i)];
        if (one_in(p, 2))
            earlier = &p->lane[d->lane].req[i - 1];
    }
    if (earlier && needed_access(earlier) && !swarm_is_atomic(earlier) &&
        earlier->remote < SWARM_WORDS_AT && earlier->wrong == SWARM_RIGHT) {
        place = earlier->remote / SWARM_PLACE_BYTES;
        if (!one_in(p, 4))
            offset = earlier->remote % SWARM_PLACE_BYTES;
        if (offset > SWARM_PLACE_BYTES - r->bytes)
            offset = SWARM_PLACE_BYTES - r->bytes;
    }
    return place * SWARM_PLACE_BYTES + offset;
}

/* Where a READ or WRITE begins, which a READ does also where the atomics of its lane work. */
static void draw_remote(struct draw *d, uint32_t i, struct swarm_req *r)
{
    struct swarm_plan *p = d->p;
    const uint32_t words = SWARM_WORDS_OWN * 16u;
    uint32_t place;

    r->remote = draw_target(d, i, r);
    place = r->remote / SWARM_PLACE_BYTES;
    if (swarm_is_read(r) && r->bytes <= words && one_in(p, 4)) {
        r->remote =
            swarm_word_at(d->lane / SWARM_HOSTS * SWARM_WORDS_OWN) + below(p, words - r->bytes + 1);
        d->words_are_read = true;
    } else if (swarm_is_read(r)) {
        d->is_read[place] = true;
    } else if (d->is_read[place]) {
        r->flags |= SF_FENCE;
    }
}

static void draw_atomic(struct draw *d, uint32_t i, struct swarm_req *r)
{
    struct swarm_plan *p = d->p;
    const uint32_t own = d->lane / SWARM_HOSTS * SWARM_WORDS_OWN + below(p, SWARM_WORDS_OWN);
    const uint8_t *there = p->after[swarm_host(swarm_peer(d->lane))];

    r->bytes = ATOMIC_WORD_BYTES;
    r->local = draw_pieces(p, swarm_place(p, SWARM_LOCAL, d->lane, i), ATOMIC_WORD_BYTES);
    r->word = own;
    if (r->opcode == WR_ATOMIC_FETCH_AND_ADD && one_in(p, 2))
        r->word = SWARM_WORDS_SHARED + below(p, SWARM_WORDS - SWARM_WORDS_SHARED);
    r->remote = swarm_word_at(r->word);
    r->compare_add = prng_next(&p->rng);
    r->swap = prng_next(&p->rng);
    if (r->opcode == WR_ATOMIC_CMP_AND_SWP && one_in(p, 2))
        r->compare_add = ld_le64(there + r->remote);
    if (d->words_are_read)
        r->flags |= SF_FENCE;
}

/* An earlier READ, whose data go on, when it is complete; NULL: there is none. */
static const struct swarm_req *draw_relayed(struct draw *d, uint32_t i)
{
    const struct swarm_lane *l = &d->p->lane[d->lane];
    const struct swarm_req *r;

    if (i == 0 || !one_in(d->p, 4))
        return NULL;
    r = &l->req[below(d->p, i)];
    return swarm_is_read(r) && r->wrong == SWARM_RIGHT ? r : NULL;
}

/* What is sent, or where what is read goes. */
static void draw_data(struct draw *d, uint32_t i, struct swarm_req *r)
{
    struct swarm_plan *p = d->p;
    const struct swarm_req *relayed = swarm_is_read(r) ? NULL : draw_relayed(d, i);

    r->bytes = draw_bytes(p);
    if (relayed) {
        r->bytes = relayed->bytes;
        r->local = relayed->local;
        r->flags |= SF_FENCE;
        return;
    }
    r->local = draw_pieces(p, swarm_place(p, SWARM_LOCAL, d->lane, i), r->bytes);
    if (!swarm_is_read(r) && r->bytes <= SWARM_INLINE_MAX && one_in(p, 2))
        r->flags |= SF_INLINE;
}

static void draw_flags(struct draw *d, uint32_t i, struct swarm_req *r)
{
    struct swarm_plan *p = d->p;

    if (one_in(p, 8))
        r->flags |= SF_FENCE;
    if (one_in(p, 4))
        r->flags |= SF_SOLICITED;
    if (one_in(p, 2) || d->unsignaled == UNSIGNALED_MAX || i == swarm_reqs(p) - 1)
        r->flags |= SF_SIGNALED;
    d->unsignaled = r->flags & SF_SIGNALED ? 0 : d->unsignaled + 1;
}

/* --- Wrong requests --------------------------------------------------------------------------- */

/* Can @r be wrong in this way, so that somebody objects? */
static bool can_be(const struct draw *d, const struct swarm_req *r)
{
    const unsigned access = needed_access(r);

    switch (d->wrong) {
    case SWARM_WRONG_QP_ACCESS:
        return (access & ~d->p->limits[swarm_peer(d->lane)].access) != 0;
    case SWARM_WRONG_ALIGNMENT:
        return swarm_is_atomic(r);
    case SWARM_WRONG_LKEY: /* an atomic would have been carried out all the same */
        return !swarm_is_atomic(r) && !(r->flags & SF_INLINE) && r->bytes > 0;
    case SWARM_WRONG_KEYS:
        return access != 0 && !(r->flags & SF_INLINE) && r->bytes > 0;
    case SWARM_RIGHT:
        return false;
    default:
        return access != 0 && r->bytes > 0;
    }
}

static void make_wrong(struct draw *d, uint32_t i, struct swarm_req *r)
{
    struct swarm_lane *l = &d->p->lane[d->lane];
    uint32_t unit = ATOMIC_WORD_BYTES;

    r->wrong = d->wrong;
    l->wrong = i;
    if (d->wrong == SWARM_WRONG_RANGE) {
        if (!swarm_is_atomic(r))
            unit = r->bytes;
        r->remote = SWARM_MEMORY_BYTES - unit + (swarm_is_atomic(r) ? unit : 1 + below(d->p, unit));
    } else if (d->wrong == SWARM_WRONG_ALIGNMENT) {
        r->remote += 1 + below(d->p, unit - 1);
    }
    /* The key of a sink is looked at when the data come, and others go their way meanwhile. */
    if (d->wrong != SWARM_WRONG_LKEY || !swarm_is_read(r)) {
        l->ends = i;
        d->is_dead = true;
    }
    d->wrong = SWARM_RIGHT;
}

/* --- Carrying out ----------------------------------------------------------------------------- */

static void write_place(struct draw *d, unsigned host, uint32_t at, uint32_t i, uint32_t bytes)
{
    struct swarm_writers *w = &d->p->writers[host][at / SWARM_PLACE_BYTES];

    if (bytes == 0)
        return;
    if (w->n++ == 0)
        w->first = i;
    w->lane = d->lane;
    w->last = i;
}

static void write_pieces(struct draw *d, unsigned host, const struct swarm_pieces *s, uint32_t i,
                         uint32_t bytes)
{
    if (s->n > 0)
        write_place(d, host, s->piece[0].at, i, bytes);
    swarm_scatter(s, d->p->after[host], d->p->message, bytes);
}

static void carry_out_atomic(struct draw *d, uint32_t i, const struct swarm_req *r, uint8_t *word)
{
    const uint64_t found = ld_le64(word);
    uint64_t left = found;

    write_place(d, swarm_host(d->lane), r->local.piece[0].at, i, r->bytes);
    if (swarm_is_shared(r))
        return; /* known when it is done */
    if (r->opcode == WR_ATOMIC_FETCH_AND_ADD)
        left += r->compare_add;
    else if (found == r->compare_add)
        left = r->swap;
    st_le64(d->p->message, found);
    swarm_scatter(&r->local, d->p->after[swarm_host(d->lane)], d->p->message, r->bytes);
    st_le64(word, left);
}

static void carry_out(struct draw *d, uint32_t i, const struct swarm_req *r)
{
    struct swarm_plan *p = d->p;
    const unsigned peer = swarm_peer(d->lane), here = swarm_host(d->lane), there = swarm_host(peer);

    if (swarm_is_atomic(r)) {
        carry_out_atomic(d, i, r, p->after[there] + r->remote);
    } else if (swarm_is_read(r)) {
        memcpy(p->message, p->after[there] + r->remote, r->bytes);
        write_pieces(d, here, &r->local, i, r->bytes);
    } else {
        swarm_gather(&r->local, p->after[here], p->message);
        if (!swarm_is_write(r)) {
            write_pieces(d, there, &p->lane[peer].recv[r->recv].to, i, r->bytes);
        } else {
            write_place(d, there, r->remote, i, r->bytes);
            memcpy(p->after[there] + r->remote, p->message, r->bytes);
        }
    }
}

/* --- A plan ----------------------------------------------------------------------------------- */

/* The receive that @r completes: as long as it needs, or longer. */
static void draw_recv(struct draw *d, uint32_t i, struct swarm_req *r)
{
    struct swarm_plan *p = d->p;
    const unsigned peer = swarm_peer(d->lane);
    struct swarm_lane *l = &p->lane[peer];
    uint32_t bytes = swarm_is_write(r) ? 0 : r->bytes;

    r->recv = NO_RECV;
    if (r->opcode == WR_RDMA_WRITE || needed_access(r) == ACC_REMOTE_READ || swarm_is_atomic(r))
        return;
    if (one_in(p, 2))
        bytes += below(p, SWARM_MESSAGE_BYTES - bytes + 1);
    r->recv = l->n_recvs++;
    l->recv[r->recv] =
        (struct swarm_recv){draw_pieces(p, swarm_place(p, SWARM_RECEIVE, peer, r->recv), bytes), i};
}

static void draw_request(struct draw *d, uint32_t i)
{
    struct swarm_plan *p = d->p;
    struct swarm_req r = {.opcode = draw_opcode(p)};

    draw_flags(d, i, &r);
    for (uint32_t k = 0; k < sizeof(r.imm); k++)
        r.imm[k] = (uint8_t)prng_next(&p->rng);
    if (swarm_is_atomic(&r)) {
        draw_atomic(d, i, &r);
    } else {
        draw_data(d, i, &r);
        if (needed_access(&r))
            draw_remote(d, i, &r);
    }
    draw_recv(d, i, &r);
    if (i >= d->wrong_from && can_be(d, &r))
        make_wrong(d, i, &r);
    p->lane[d->lane].req[i] = r;
    if (!d->is_dead && r.wrong == SWARM_RIGHT)
        carry_out(d, i, &r);
}

/* One lane in a few runs posts something wrong; one in a few has more READs and atomics on their
 * way than its peer can take.
 */
static void draw_limits(struct swarm_plan *p, unsigned lane, bool more_than_peer)
{
    struct swarm_limits *own = &p->limits[lane], *peer = &p->limits[swarm_peer(lane)];

    own->max_rd_atomic = 1 + below(p, RD_ATOMIC_MAX);
    peer->max_dest_rd_atomic = own->max_rd_atomic;
    if (more_than_peer && own->max_rd_atomic > TIGHT_MAX)
        peer->max_dest_rd_atomic = 1 + below(p, TIGHT_MAX);
    else if (one_in(p, 2))
        peer->max_dest_rd_atomic += below(p, RD_ATOMIC_MAX - own->max_rd_atomic + 1);
    peer->access = ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;
}

static void draw_lane(struct swarm_plan *p, unsigned lane, enum swarm_wrong wrong)
{
    static const unsigned rights[] = {ACC_REMOTE_WRITE, ACC_REMOTE_READ, ACC_REMOTE_ATOMIC};
    struct draw d = {.p = p, .lane = lane, .wrong = wrong};
    const uint32_t n = swarm_reqs(p);

    p->lane[lane].n_reqs = p->lane[lane].wrong = p->lane[lane].ends = n;
    if (wrong == SWARM_WRONG_QP_ACCESS)
        p->limits[swarm_peer(lane)].access &= ~rights[below(p, ARRAY_LEN(rights))];
    else if (wrong != SWARM_RIGHT)
        d.wrong_from = below(p, n);
    for (uint32_t i = 0; i < n; i++)
        draw_request(&d, i);
}

void swarm_plan_init(struct swarm_plan *p, uint64_t seed, uint32_t mtu_bytes)
{
    *p = (struct swarm_plan){.rng = prng_stream(seed, 1), .mtu_bytes = mtu_bytes};
    const uint32_t wrong_lane = below(p, SWARM_LANES_MAX + 1);
    const uint32_t tight_lane = below(p, 3 * SWARM_LANES_MAX);

    p->n_lanes = one_in(p, 3) ? SWARM_LANES_MAX : SWARM_HOSTS;
    p->message = must_malloc(SWARM_MESSAGE_BYTES);
    for (unsigned h = 0; h < SWARM_HOSTS; h++) {
        p->before[h] = must_malloc(SWARM_MEMORY_BYTES);
        p->after[h] = must_malloc(SWARM_MEMORY_BYTES);
        for (uint32_t k = 0; k < SWARM_MEMORY_BYTES; k += sizeof(uint64_t))
            st_le64(p->before[h] + k, prng_next(&p->rng));
        memcpy(p->after[h], p->before[h], SWARM_MEMORY_BYTES);
    }
    for (unsigned lane = 0; lane < p->n_lanes; lane++)
        draw_limits(p, lane, lane == tight_lane);
    for (unsigned lane = 0; lane < p->n_lanes; lane++) {
        const uint32_t wrong = 1 + below(p, SWARM_WRONGS - 1);

        draw_lane(p, lane, lane == wrong_lane ? (enum swarm_wrong)wrong : SWARM_RIGHT);
    }
}

void swarm_plan_done(struct swarm_plan *p)
{
    free(p->message);
    for (unsigned h = 0; h < SWARM_HOSTS; h++) {
        free(p->before[h]);
        free(p->after[h]);
    }
}
