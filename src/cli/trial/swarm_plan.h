/* SPDX-License-Identifier: MIT */
/* What the programs of a random run are going to do, and what must come of it: all drawn before the
 * run begins.
 *
 * A lane is one end of a connection: its queue pair posts requests to the other end, and receives
 * for what that one sends.  Two lanes that are connected differ in the lowest bit of their number,
 * which is also the host that they are on.
 *
 * The model is one that needs no time.  Each request has places of its own: one in the memory of
 * its host, one in that of the other, and each receive has one.  A request that meets an earlier
 * one of its lane in a place is one that RC orders behind it, or has a fence.  So carrying out the
 * requests one after the other gives the bytes that memory must have in the end, whatever is lost
 * in between and however the lanes take turns.  Only words that several lanes add to depend on
 * their turns.
 *
 * Where a connection ends early, a byte that a request would have written is the one or the other.
 */
#ifndef CLI_TRIAL_SWARM_PLAN_H
#define CLI_TRIAL_SWARM_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/prng.h"
#include "emu/facts/enums.h"

#define SWARM_HOSTS     2u
#define SWARM_LANES_MAX 4u
#define SWARM_REQS      30u /* of the lanes of a host together, and so of receives */
#define SWARM_SGES_MAX  4u

#define SWARM_MESSAGE_BYTES 18000u /* of the largest message: at MTU 256 more than 64 packets */
#define SWARM_PLACE_BYTES   22528u /* for a message in pieces that begins anywhere in a page */
#define SWARM_INLINE_MAX    128u

/* The memory of a host: places of each kind, then words that atomics work on. */
enum swarm_place_kind { SWARM_LOCAL, SWARM_TARGET, SWARM_RECEIVE, SWARM_PLACE_KINDS };
#define SWARM_PLACES       (SWARM_PLACE_KINDS * SWARM_REQS)
#define SWARM_WORDS_AT     (SWARM_PLACES * SWARM_PLACE_BYTES)
#define SWARM_WORDS        8u /* of a host: for each lane that reaches it, then for all of them */
#define SWARM_WORDS_OWN    3u
#define SWARM_WORDS_SHARED (2u * SWARM_WORDS_OWN) /* number of the first one */
#define SWARM_MEMORY_BYTES (SWARM_WORDS_AT + 4096u)

/* What is wrong with a request, on purpose. */
enum swarm_wrong {
    SWARM_RIGHT,
    SWARM_WRONG_RKEY,      /* no region has it */
    SWARM_WRONG_RANGE,     /* the end is behind that of the region */
    SWARM_WRONG_ACCESS,    /* the region allows nothing to others */
    SWARM_WRONG_QP_ACCESS, /* the region does, the queue pair does not */
    SWARM_WRONG_ALIGNMENT, /* of an atomic */
    SWARM_WRONG_LKEY,      /* the program's own */
    SWARM_WRONG_KEYS,      /* both keys */
    SWARM_WRONGS
};

struct swarm_piece {
    uint32_t at, bytes; /* in the memory of the host */
};

struct swarm_pieces {
    struct swarm_piece piece[SWARM_SGES_MAX];
    uint32_t n;
};

struct swarm_req {
    enum wr_opcode opcode;
    unsigned flags; /* set of enum send_flag_bit */
    uint32_t bytes;
    struct swarm_pieces local; /* of an inline request: where its data are taken from */
    uint32_t remote;           /* in the memory of the other host */
    uint32_t word;             /* of an atomic: number of its word there */
    uint64_t compare_add, swap;
    uint8_t imm[4];
    uint32_t recv; /* number of the receive that it completes; UINT32_MAX: none */
    enum swarm_wrong wrong;
};

struct swarm_recv {
    struct swarm_pieces to;
    uint32_t req; /* number of the request that completes it */
};

struct swarm_lane {
    struct swarm_req req[SWARM_REQS];
    struct swarm_recv recv[SWARM_REQS];
    uint32_t n_reqs, n_recvs;
    uint32_t wrong; /* number of the wrong request; n_reqs: all are right */
    uint32_t ends;  /* number of the first request that cannot have been carried out, like it */
};

/* Who writes a place. */
struct swarm_writers {
    uint32_t n;
    uint32_t lane, first, last; /* requests */
};

/* What a lane's queue pair is given. */
struct swarm_limits {
    uint32_t max_rd_atomic, max_dest_rd_atomic;
    unsigned access; /* set of enum access_bit */
};

struct swarm_plan {
    struct prng rng;
    uint32_t mtu_bytes;
    uint32_t n_lanes;
    struct swarm_lane lane[SWARM_LANES_MAX];
    struct swarm_limits limits[SWARM_LANES_MAX];
    struct swarm_writers writers[SWARM_HOSTS][SWARM_PLACES];
    /* The memory of each host before the run, and behind it.  A message is gathered in @message. */
    uint8_t *before[SWARM_HOSTS], *after[SWARM_HOSTS], *message;
};

/* Draws the plan of @seed; free with swarm_plan_done(). */
void swarm_plan_init(struct swarm_plan *p, uint64_t seed, uint32_t mtu_bytes);
void swarm_plan_done(struct swarm_plan *p);

static inline unsigned swarm_host(unsigned lane)
{
    return lane & 1u;
}

static inline unsigned swarm_peer(unsigned lane)
{
    return lane ^ 1u;
}

/* Requests of each lane. */
static inline uint32_t swarm_reqs(const struct swarm_plan *p)
{
    return SWARM_HOSTS * SWARM_REQS / p->n_lanes;
}

/* Number of a place in the memory of its host: that of request or receive @i of @lane. */
static inline uint32_t swarm_place(const struct swarm_plan *p, enum swarm_place_kind kind,
                                   unsigned lane, uint32_t i)
{
    return (uint32_t)kind * SWARM_REQS + lane / SWARM_HOSTS * swarm_reqs(p) + i;
}

static inline uint32_t swarm_word_at(uint32_t word)
{
    return SWARM_WORDS_AT + word * 2u * 8u; /* with a word between two that nobody touches */
}

static inline bool swarm_is_read(const struct swarm_req *r)
{
    return r->opcode == WR_RDMA_READ;
}

static inline bool swarm_is_atomic(const struct swarm_req *r)
{
    return r->opcode == WR_ATOMIC_FETCH_AND_ADD || r->opcode == WR_ATOMIC_CMP_AND_SWP;
}

static inline bool swarm_is_write(const struct swarm_req *r)
{
    return r->opcode == WR_RDMA_WRITE || r->opcode == WR_RDMA_WRITE_WITH_IMM;
}

static inline bool swarm_has_imm(const struct swarm_req *r)
{
    return r->opcode == WR_SEND_WITH_IMM || r->opcode == WR_RDMA_WRITE_WITH_IMM;
}

/* Is @r an atomic at a word that several lanes add to? */
static inline bool swarm_is_shared(const struct swarm_req *r)
{
    return swarm_is_atomic(r) && r->word >= SWARM_WORDS_SHARED;
}

/* Copies between a message and pieces of a memory. */
void swarm_gather(const struct swarm_pieces *s, const uint8_t *memory, uint8_t *message);
void swarm_scatter(const struct swarm_pieces *s, uint8_t *memory, const uint8_t *message,
                   uint32_t bytes);

#endif
