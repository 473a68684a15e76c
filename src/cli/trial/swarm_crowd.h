/* SPDX-License-Identifier: MIT */
/* The second half of a random run: three hosts behind a switch with queue pairs of every service.
 *
 * Each has reliable and unreliable connections, to others or to itself, and datagrams, also to a
 * multicast group; shared receive queues with limits, end-to-end credits, windows of both types, a
 * fast region, a region that is registered anew, partitions, completion and asynchronous events.
 * What the programs do is drawn as the run goes, and so are mistakes, RESET, ERR, SQD and destroy
 * in the middle.
 *
 * The model: everything that is posted is an item, and has memory of its own, one slot on its host
 * and one on every other.  The bytes of a message follow from the number of its item, which is in
 * its first four bytes or in its immediate data.  So whoever receives something knows what it must
 * be, whoever sent it, and what the network lost on the way.
 *
 * A connection on which somebody made a mistake, or that was torn down, is excused: its requests
 * may fail until it is set up again.  What is written to memory must be right all the same.
 */
#ifndef CLI_TRIAL_SWARM_CROWD_H
#define CLI_TRIAL_SWARM_CROWD_H

#include "cli/programs/rig.h"
#include "cli/trial/swarm.h"
#include "emu/base/prng.h"
#include "emu/facts/enums.h"
#include "rdmalab/events.h"
#include "rdmalab/memory.h"
#include "rdmalab/srq.h"

#define CROWD_HOSTS       3u
#define CROWD_CONNECTIONS 3u
#define CROWD_ENDS        (2u * CROWD_CONNECTIONS + CROWD_HOSTS + 1u) /* the last are of datagrams */
#define CROWD_GROUP       CROWD_ENDS /* what is sent to the group */
#define CROWD_ITEMS       400u
#define CROWD_SLOT_BYTES  4096u
#define CROWD_GRH_BYTES   40u

/* Keys: of each host its open region, window of type 1, fast region and the region that is
 * registered anew, of each end its window.
 */
#define CROWD_OPEN    0u
#define CROWD_TYPE_1  CROWD_HOSTS
#define CROWD_FAST    (2u * CROWD_HOSTS)
#define CROWD_ANEW    (3u * CROWD_HOSTS)
#define CROWD_WINDOWS (4u * CROWD_HOSTS)
#define CROWD_KEYS    (CROWD_WINDOWS + CROWD_ENDS)
#define CROWD_NO_KEY  CROWD_KEYS

enum crowd_wrong {
    CROWD_RIGHT,
    CROWD_WRONG_RKEY, /* of nothing, of another life, of another host, or another's window */
    CROWD_WRONG_LKEY, /* of nothing */
    CROWD_WRONG_QKEY,
    CROWD_TOO_LONG, /* a datagram */
    CROWD_SHORT,    /* a receive */
};

struct crowd_item {
    bool is_recv, is_shared; /* is_shared: a receive of the shared queue of its host */
    unsigned host, end;      /* where it was posted; end: unless it is shared */
    enum wr_opcode opcode;
    unsigned flags;     /* set of enum send_flag_bit */
    uint32_t bytes, at; /* in its slots */
    unsigned to;        /* end, or CROWD_GROUP */
    unsigned key;       /* that it uses or changes, or CROWD_NO_KEY */
    enum crowd_wrong wrong;
    uint32_t qpn;   /* of its sender */
    uint32_t heard; /* set of ends */
    bool is_done, is_ok;
    bool is_gone;   /* its queue pair was reset or destroyed: it may complete, or not */
    bool is_unsure; /* so may its receive, whose queue pair was destroyed */
    bool is_lost;   /* its queue pair is in SQE when its turn comes */
    uint64_t added; /* by an atomic, where it finds what it expects; 0: it does not */
};

struct crowd_end {
    enum qp_type type;
    unsigned host, peer; /* peer: of a connection */
    bool has_srq, credits;
    rdl_qp qp;
    uint32_t qpn;
    uint32_t pkey_index; /* of crowd_pkeys[] */
    bool is_excused, is_sqd;
    bool is_sqe;              /* it is, or will be, as something wrong was posted */
    bool was_excused;         /* in this or an earlier life, whose events may come late */
    uint32_t first;           /* item of this life */
    uint32_t sent_n, heard_n; /* behind the last item that completed, and that it heard of */
    bool is_attached;
    uint32_t left_at; /* number of items when it left the group */
};

struct crowd_key {
    uint32_t rkey, stale; /* stale: what it was; 0: nothing */
    bool is_valid, is_changing, is_broken;
    rdl_mw mw;
    uint64_t shift; /* what its first byte is called, less its address */
};

struct crowd_host {
    struct rig_side s; /* its memory: slots of what is posted, then slots for others */
    rdl_channel channel;
    rdl_srq srq;
    rdl_mr open, fast, anew;
    rdl_ah ah[CROWD_HOSTS], group;
    uint32_t profile, limits; /* limits: events that may still come */
    uint32_t events;          /* of completion, not acknowledged */
    rdl_link link;
};

struct crowd {
    uint64_t seed;
    struct prng rng;
    struct rdl_lab *lab;
    struct crowd_host host[CROWD_HOSTS];
    struct crowd_end end[CROWD_ENDS];
    struct crowd_key key[CROWD_KEYS];
    struct crowd_item *item; /* CROWD_ITEMS */
    uint32_t n_items, path_mtu, mtu_bytes, max_bytes, gid_index;
    uint8_t group_gid[16];
    bool is_lossy, is_copying; /* frames may be lost; may come twice or late */
    bool has_faults;
    rdl_fault fault;
    const char *wrong; /* what went wrong, NULL: nothing */
    uint32_t wrong_item;
    enum rdl_status status; /* of the call that went wrong, if it was one */
};

/* The partitions of each host: two, of the second also a limited membership. */
#define CROWD_PKEYS  3u
#define CROWD_FULL   1u /* index of the full membership of the second, */
#define CROWD_MEMBER 2u /* and of the limited one */
extern const uint16_t crowd_pkeys[CROWD_PKEYS];

/* Runs it; false: it went wrong, and what and how to see it again was printed. */
bool swarm_crowd(struct swarm_seed *run);

/* --- Of each other ---------------------------------------------------------------------------- */

bool crowd_expect(struct crowd *c, bool right, uint32_t item, const char *what);
bool crowd_works(struct crowd *c, enum rdl_status st, const char *what);
/* Lets the control request of @host be answered; false: the device refused. */
bool crowd_wait(struct crowd *c, unsigned host);

static inline uint32_t crowd_below(struct crowd *c, uint32_t n)
{
    return (uint32_t)prng_below(&c->rng, n);
}

static inline bool crowd_one_in(struct crowd *c, uint32_t n)
{
    return crowd_below(c, n) == 0;
}

/* Does @t complete a receive at the other side? */
static inline bool crowd_needs_recv(const struct crowd_item *t)
{
    return !t->is_recv && (t->opcode == WR_SEND || t->opcode == WR_SEND_WITH_IMM ||
                           t->opcode == WR_SEND_WITH_INV || t->opcode == WR_RDMA_WRITE_WITH_IMM);
}

static inline bool crowd_is_write(const struct crowd_item *t)
{
    return t->opcode == WR_RDMA_WRITE || t->opcode == WR_RDMA_WRITE_WITH_IMM;
}

/* Does @t change a key, and not use it? */
static inline bool crowd_changes_key(const struct crowd_item *t)
{
    return !t->is_recv &&
           (t->opcode == WR_BIND_MW || t->opcode == WR_REG_MR || t->opcode == WR_LOCAL_INV ||
            t->opcode == WR_SEND_WITH_INV || t->opcode == WR_RDMA_READ_WITH_INV);
}

static inline bool crowd_is_read(const struct crowd_item *t)
{
    return !t->is_recv && (t->opcode == WR_RDMA_READ || t->opcode == WR_RDMA_READ_WITH_INV);
}

static inline bool crowd_is_atomic(const struct crowd_item *t)
{
    return !t->is_recv &&
           (t->opcode == WR_ATOMIC_FETCH_AND_ADD || t->opcode == WR_ATOMIC_CMP_AND_SWP);
}

/* Does it bring something here? */
static inline bool crowd_fetches(const struct crowd_item *t)
{
    return crowd_is_read(t) || crowd_is_atomic(t);
}

static inline bool crowd_is_datagram(const struct crowd_end *e)
{
    return e->type == QPT_UD;
}

/* Offset in the memory of a host of the slot of @item: its own, or that for others. */
static inline uint64_t crowd_slot(uint32_t item, bool of_others)
{
    return ((uint64_t)of_others * CROWD_ITEMS + item) * CROWD_SLOT_BYTES;
}

/* Byte @k of message @item; never 0, which untouched memory is. */
static inline uint8_t crowd_byte(uint32_t item, uint32_t k)
{
    if (k < 4)
        return (uint8_t)(1u + (item >> 7u * k & 127u));
    return (uint8_t)(1u + (item * 31u + k * 7u + k / 251u) % 255u);
}

/* Its first word, as an atomic finds it: the least significant byte comes first. */
static inline uint64_t crowd_word(uint32_t item)
{
    uint64_t word = 0;

    for (uint32_t k = sizeof(word); k-- > 0;)
        word = word << 8 | crowd_byte(item, k);
    return word;
}

/* Sets up the connection or the queue pair of datagrams that @end is of, again if need be. */
void crowd_connect(struct crowd *c, unsigned end);
void crowd_make_end(struct crowd *c, unsigned end);
const char *crowd_name(unsigned end); /* of its queue pair */
void crowd_excuse(struct crowd *c, unsigned end);

/* One action of control, drawn. */
void crowd_control(struct crowd *c);
/* The send queue goes on, if it may, after SQD and after SQE. */
void crowd_resume(struct crowd *c, unsigned end);
void crowd_take_events(struct crowd *c, unsigned host);

void crowd_post_send(struct crowd *c);
/* Is a request under way that uses @key? */
bool crowd_uses_key(const struct crowd *c, unsigned key);
/* A receive for @end, if there are fewer than @max that nobody has heard of. */
void crowd_post_recv(struct crowd *c, unsigned end, uint32_t max);
/* A request that binds, registers or makes invalid. */
void crowd_post_key(struct crowd *c, unsigned end);

void crowd_judge_wc(struct crowd *c, unsigned host, const struct rdl_wc *wc);
void crowd_judge_end(struct crowd *c);

#endif
