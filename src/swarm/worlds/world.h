/* SPDX-License-Identifier: MIT */
/* A random world: what hosts there are, how they are linked and connected, and what their programs
 * do, one deed after the other.  All of it is drawn from a seed before anything runs.
 *
 * Whoever carries out the deeds (world_run.h) leaves out one that cannot be done: its queue pair is
 * in another state, or its key is being changed.  So each part of the deeds is a world, too, and a
 * world that shows a fault can be made smaller by leaving out deeds (shrink.h).
 *
 * An item is a request or a receive.  It has memory of its own: pieces on its host and, for WRITE,
 * READ and atomics, a place on the other side.  Its bytes follow from its number, so that whoever
 * finds them knows whose they are.  Only words that atomics count in are shared.
 */
#ifndef SWARM_WORLDS_WORLD_H
#define SWARM_WORLDS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/enums.h"

#define WORLD_HOSTS_MAX  8u
#define WORLD_CONNS_MAX  6u
#define WORLD_ENDS_MAX   (2u * WORLD_CONNS_MAX + WORLD_HOSTS_MAX)
#define WORLD_ITEMS_MAX  1400u
#define WORLD_DEEDS_MAX  4000u
#define WORLD_PIECES_MAX 4u
#define WORLD_CQS        2u /* of a host */
#define WORLD_WORDS      4u /* that atomics count in, of a host */
#define WORLD_NONE       UINT16_MAX

#define WORLD_INLINE_MAX 128u
#define WORLD_DEPTH      64u /* of a queue */
#define WORLD_SRQ_DEPTH  128u
#define WORLD_QKEY       0x11111111u
#define WORLD_GRH_BYTES  40u
#define WORLD_WORD_BYTES 8u

/* The keys of a host that a request may use at the far side, and for its own memory. */
enum world_key {
    KEY_OPEN,     /* all memory, everything is allowed */
    KEY_MINE,     /* all memory, nothing for peers */
    KEY_LOOK,     /* all memory, nobody writes, peers may read */
    KEY_ALIEN,    /* all memory, of another protection domain */
    KEY_EDGE,     /* an odd number of bytes that begins and ends within a page */
    KEY_ANEW,     /* all memory, registered again and again */
    KEY_FAST,     /* all memory, opened by REG_MR */
    KEY_WINDOW_1, /* all memory, a window of type 1 */
    KEY_WINDOW_2, /* the same, of type 2, one of each end: for its queue pair */
    WORLD_KEYS
};

/* What is wrong with an item, on purpose. */
enum world_mistake {
    RIGHT,
    /* The program's own keys. */
    LKEY_UNKNOWN,
    LKEY_ALIEN,
    LKEY_READ_ONLY, /* of what fills memory */
    LKEY_BEHIND,    /* one byte behind the end of the region */
    LKEY_BEFORE,
    /* The keys of the far side. */
    RKEY_LOW,     /* its low byte is that of another life */
    RKEY_UNKNOWN, /* nothing has it */
    RKEY_ALIEN,
    RKEY_ACCESS, /* the region does not let peers do that */
    RKEY_BEHIND,
    RKEY_BEFORE,
    RKEY_STALE,  /* what it was before it was changed */
    RKEY_OTHERS, /* the window of another queue pair */
    BOTH_KEYS,
    UNALIGNED, /* an atomic */
    TOO_SHORT, /* a receive */
    QKEY_WRONG,
    TOO_LONG, /* a datagram */
    WORLD_MISTAKES
};

struct world_piece {
    uint32_t at, bytes; /* in the memory of its host */
};

struct world_item {
    uint16_t end;           /* that posts it */
    uint16_t to;            /* end: its peer, or of a datagram */
    uint16_t again;         /* item whose place at the far side it uses again, which is earlier */
    bool is_recv, is_spare; /* a spare receive is posted in the end, if need be */
    bool to_group;
    uint8_t n_pieces, bad_piece; /* bad_piece: of a wrong lkey */
    uint8_t mistake;             /* enum world_mistake */
    uint8_t key;                 /* enum world_key, at the far side or what it changes */
    uint8_t word;                /* of an atomic */
    uint32_t opcode;             /* enum wr_opcode */
    uint32_t flags;              /* set of enum send_flag_bit */
    uint32_t bytes;              /* of the message; of a receive, that fit */
    uint32_t remote;             /* place in the memory of the far side */
    uint64_t compare_add, swap;
    struct world_piece piece[WORLD_PIECES_MAX];
};

enum deed_kind {
    DO_POST,      /* item */
    DO_POST_LAZY, /* item, without a kick */
    DO_KICK,      /* end, n: its send queue? */
    DO_POLL,      /* host, n: which CQ */
    DO_GO,        /* n ticks */
    DO_WAIT,      /* n ns */
    DO_ARM,       /* host, n: CQ, and 1 << 8: solicited only */
    DO_EVENTS,    /* host: takes its events */
    DO_FAIL,      /* end: to ERR */
    DO_DRAIN,     /* end: to SQD; n: with the event */
    DO_RESUME,    /* end: to RTS, from SQD or SQE */
    DO_CONNECT,   /* end, and its peer: reset, and set up anew */
    DO_REVIVE,    /* end: the same, if it is known to have failed */
    DO_REPLACE,   /* end, and its peer: destroyed, and made anew */
    DO_LOOK,      /* end: query */
    DO_LIMIT,     /* host, n: of its SRQ */
    DO_REREG,     /* host, n: shift in pages of what bytes are called */
    DO_RESIZE,    /* host, n: CQ */
    DO_GROUP,     /* end, n: in or out */
    DO_LINK,      /* host, n: up or down */
    DO_PACE,      /* host, n: new loss in ppm of its link */
    DO_FAULT,     /* fault */
    DO_FORGE,     /* end, n: what is forged */
    DO_INJECT,    /* end, n: what its peer's host is made to send to it */
    DEED_KINDS
};

struct world_deed {
    uint8_t kind; /* enum deed_kind */
    uint16_t who; /* host, end, item or fault */
    uint32_t n;
};

struct world_host {
    uint32_t profile;              /* enum profile */
    uint32_t latency_ns, loss_ppm; /* of its link, as all up to rate_bps */
    uint32_t jitter_ns, burst_ppm, burst_frames, burst_loss_ppm;
    uint64_t rate_bps;
    uint32_t at_switch;
    bool is_plain; /* some feature bits are off */
    uint32_t ring; /* enum ring_format */
    bool indirect; /* its driver has tables of descriptors */
    uint32_t rx_buffer;
    uint32_t memory_bytes;
    uint32_t edge_at, edge_bytes;
    uint32_t words_at;
    bool is_absent; /* a smaller world does without it */
};

struct world_end {
    uint8_t type; /* enum qp_type */
    uint8_t host;
    uint16_t peer; /* of a connection */
    uint8_t send_cq, recv_cq;
    bool is_absent;                           /* a smaller world does without it */
    bool has_srq, sig_all, credits, is_small; /* is_small: its CQ is its own and overflows */
    uint32_t access;                          /* set of enum access_bit */
    uint32_t sq_psn;
    uint32_t path_mtu, timeout, retry_cnt, rnr_retry, min_rnr_timer;
    uint32_t max_rd_atomic, max_dest_rd_atomic;
    uint32_t pkey_index;
};

/* Of the device of an end, at its send queue, at that of its receives, which are its own, or at the
 * completion queue of its sends.  It is ordered together with a fault of frames, and promises
 * nothing about an end: what is posted there ends once faults are cleared and all queues are
 * kicked, in the calm.  To its peer a queue of receives that stands still looks as if nothing had
 * been posted.
 */
struct world_device_fault {
    uint32_t kind; /* FLT_LOST_KICK, FLT_STUCK_QUEUE, FLT_LOST_INTERRUPT; FLT_NONE: there is none */
    uint16_t end;
    bool of_receives; /* of a kick or a queue that is stuck */
    uint32_t nth, count;
    uint32_t time_ns; /* of FLT_STUCK_QUEUE; 0: until it is cleared */
};

/* What is forged changes no data: a receiver drops the packet, or does not look at the field. */
struct world_fault {
    uint32_t kind; /* enum fault_kind */
    uint16_t from; /* host */
    uint16_t end;  /* whose n-th @message it is about, if that is not 0 */
    uint32_t opcode, nth, count, delay_ns, bit; /* opcode: RDL_ANY, or enum opcode */
    uint32_t behind;                            /* of FLT_REORDER */
    uint32_t bytes;                             /* of FLT_TRUNCATE */
    uint32_t field, value;                      /* enum wire_field_id: FLT_FORGE, FLT_CORRUPT */
    uint32_t transmission, message;             /* 0: any */
    bool is_on_link;                            /* of @from: it meets frames there */
    bool is_long;                               /* only what has more payload than WORLD_LONG */
    struct world_device_fault device;
};

#define WORLD_FAULTS_MAX 8u
#define WORLD_LONG       100u

struct world {
    uint64_t seed;
    uint32_t n_hosts, n_switches; /* no switch: two hosts, and a cable */
    uint32_t n_ends, n_items, n_deeds, n_faults;
    uint32_t n_conns; /* the first 2 * n_conns ends are connected, the others send datagrams */
    uint32_t gid_index;
    uint32_t max_message;
    bool goes_back; /* to a checkpoint, in the middle */
    struct world_host host[WORLD_HOSTS_MAX];
    struct world_end end[WORLD_ENDS_MAX];
    struct world_fault fault[WORLD_FAULTS_MAX];
    struct world_item item[WORLD_ITEMS_MAX];
    struct world_deed deed[WORLD_DEEDS_MAX];
};

#define WORLD_PKEYS  3u
#define WORLD_FULL   1u /* index of the full membership of the second partition, */
#define WORLD_MEMBER 2u /* and of the limited one */
extern const uint16_t world_pkeys[WORLD_PKEYS];

/* Draws the world of @seed.  With @pair it has two hosts. */
void world_draw(struct world *w, uint64_t seed, bool pair);

static inline uint32_t world_mtu_bytes(const struct world_end *e)
{
    return 128u << e->path_mtu;
}

/* The power of two that @n, from 1, is rounded up to: rxe does so with READs under way. */
static inline uint32_t world_round_up(uint32_t n)
{
    uint32_t power = 1;

    while (power < n)
        power *= 2;
    return power;
}

static inline bool world_is_write(const struct world_item *t)
{
    return t->opcode == WR_RDMA_WRITE || t->opcode == WR_RDMA_WRITE_WITH_IMM;
}

static inline bool world_is_read(const struct world_item *t)
{
    return t->opcode == WR_RDMA_READ || t->opcode == WR_RDMA_READ_WITH_INV;
}

static inline bool world_is_atomic(const struct world_item *t)
{
    return t->opcode == WR_ATOMIC_FETCH_AND_ADD || t->opcode == WR_ATOMIC_CMP_AND_SWP;
}

/* Does it fill the program's memory with what comes back? */
static inline bool world_fetches(const struct world_item *t)
{
    return !t->is_recv && (world_is_read(t) || world_is_atomic(t));
}

static inline bool world_is_local(const struct world_item *t)
{
    return t->opcode == WR_BIND_MW || t->opcode == WR_REG_MR || t->opcode == WR_LOCAL_INV;
}

static inline bool world_has_imm(const struct world_item *t)
{
    return t->opcode == WR_SEND_WITH_IMM || t->opcode == WR_RDMA_WRITE_WITH_IMM;
}

/* Does it complete a receive at the other side? */
static inline bool world_needs_recv(const struct world_item *t)
{
    return !t->is_recv && (t->opcode == WR_SEND || t->opcode == WR_SEND_WITH_IMM ||
                           t->opcode == WR_SEND_WITH_INV || t->opcode == WR_RDMA_WRITE_WITH_IMM);
}

/* Does it change a key, and not use it? */
static inline bool world_changes_key(const struct world_item *t)
{
    return !t->is_recv && (world_is_local(t) || t->opcode == WR_SEND_WITH_INV ||
                           t->opcode == WR_RDMA_READ_WITH_INV);
}

/* Is the far side to refuse it? */
static inline bool world_is_remote_mistake(enum world_mistake m)
{
    return m >= RKEY_LOW && m <= UNALIGNED;
}

static inline bool world_is_local_mistake(enum world_mistake m)
{
    return m >= LKEY_UNKNOWN && m <= LKEY_BEFORE;
}

/* The bytes of item @i: what its message is, or what is at its place at the far side.  @from .. of
 * all.  Its four immediate bytes.
 */
void world_bytes(const struct world *w, uint32_t i, uint8_t *out);
void world_imm(uint32_t i, uint8_t out[4]);

#endif
