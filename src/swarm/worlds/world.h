/* SPDX-License-Identifier: MIT */
/* A random world: its hosts, links and connections, and the actions of its programs in order.  All
 * of it is drawn from a seed before anything runs.  An *end* is one of its queue pairs.
 *
 * A *deed* is one action.  A deed that is impossible when its turn comes is skipped (world_run.h),
 * for example because its queue pair is in another state or its key is being changed.  Any subset
 * of the deeds is therefore a valid world, and a failing world can be reduced by leaving out deeds
 * (shrink.h).
 *
 * An *item* is a request or a receive.  Its memory belongs to it alone: pieces on its host and, for
 * WRITEs, READs and atomics, a *place* on the remote host.  Its bytes are generated from its
 * number, so that received bytes can be attributed.  Only the words that atomics operate on are
 * shared.
 */
#ifndef SWARM_WORLDS_WORLD_H
#define SWARM_WORLDS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/enum/wr_opcode.h"

#define WORLD_HOSTS_MAX  8u
#define WORLD_CONNS_MAX  6u
#define WORLD_ENDS_MAX   (2u * WORLD_CONNS_MAX + WORLD_HOSTS_MAX)
#define WORLD_ITEMS_MAX  1400u
#define WORLD_DEEDS_MAX  4000u
#define WORLD_PIECES_MAX 4u
#define WORLD_CQS        2u /* per host */
#define WORLD_WORDS      4u /* per host, for atomics */
#define WORLD_NONE       UINT16_MAX

#define WORLD_INLINE_MAX 128u
#define WORLD_DEPTH      64u /* entries of a queue */
#define WORLD_SRQ_DEPTH  128u
#define WORLD_QKEY       0x11111111u
#define WORLD_GRH_BYTES  40u
#define WORLD_WORD_BYTES 8u

/* The keys of a host, as rkeys for peers and as lkeys for itself.  All but KEY_EDGE cover all
 * memory.
 */
enum world_key {
    KEY_OPEN,     /* all access */
    KEY_MINE,     /* local access only */
    KEY_LOOK,     /* no write access, remote read */
    KEY_ALIEN,    /* in another protection domain */
    KEY_EDGE,     /* an odd number of bytes, from and to the middle of a page */
    KEY_ANEW,     /* re-registered again and again */
    KEY_FAST,     /* a fast region, made valid by REG_MR */
    KEY_WINDOW_1, /* a memory window of type 1 */
    KEY_WINDOW_2, /* memory windows of type 2, one of each end, for its queue pair */
    WORLD_KEYS
};

/* The deliberate error of an item. */
enum world_mistake {
    RIGHT,
    /* Errors in local keys. */
    LKEY_UNKNOWN,
    LKEY_ALIEN,
    LKEY_READ_ONLY, /* the key of a buffer that will be written permits no writes */
    LKEY_BEHIND,    /* the buffer ends one byte beyond the region */
    LKEY_BEFORE,
    /* Errors in the remote key. */
    RKEY_LOW,     /* the low byte of the key is wrong */
    RKEY_UNKNOWN, /* no region or window has the key */
    RKEY_ALIEN,
    RKEY_ACCESS, /* the region does not permit the operation */
    RKEY_BEHIND,
    RKEY_BEFORE,
    RKEY_STALE,  /* the key before its last change */
    RKEY_OTHERS, /* the key of another queue pair's window */
    BOTH_KEYS,
    UNALIGNED, /* the address of an atomic is not aligned */
    TOO_SHORT, /* the buffer of a receive is too short */
    QKEY_WRONG,
    TOO_LONG, /* a datagram is longer than the MTU */
    WORLD_MISTAKES
};

/* A part of an item's buffer. */
struct world_piece {
    uint32_t at, bytes; /* offset in the memory of its host */
};

/* A request or a receive. */
struct world_item {
    uint16_t end;           /* the end that posts it */
    uint16_t to;            /* the end that it goes to */
    uint16_t again;         /* earlier item that has the same place; or WORLD_NONE */
    bool is_recv, is_spare; /* a spare item is posted at the end of the run, if needed */
    bool to_group;
    uint8_t n_pieces, bad_piece; /* bad_piece: the one with the wrong lkey */
    uint8_t mistake;             /* enum world_mistake */
    uint8_t key;                 /* enum world_key: the remote key, or the key that it changes */
    uint8_t word;                /* atomic: index of the word */
    uint32_t opcode;             /* enum wr_opcode */
    uint32_t flags;              /* set of enum send_flag_bit */
    uint32_t bytes;              /* length of the message; of a receive, of its buffer */
    uint32_t remote;             /* offset of its place in the memory of the remote host */
    uint64_t compare_add, swap;
    struct world_piece piece[WORLD_PIECES_MAX];
};

/* The kinds of deeds, with the meaning of @who and @n of struct world_deed. */
enum deed_kind {
    DO_POST,      /* item */
    DO_POST_LAZY, /* item, without a kick */
    DO_KICK,      /* end; n: not 0 for its send queue, 0 for its receive queue */
    DO_POLL,      /* host; n: index of the CQ */
    DO_GO,        /* runs n ticks */
    DO_WAIT,      /* runs n ns */
    DO_ARM,       /* host; n: index of the CQ, and 1 << 8 for solicited only */
    DO_EVENTS,    /* host: takes its events */
    DO_FAIL,      /* end: modify to ERR */
    DO_DRAIN,     /* end: modify to SQD; n: with SQ_DRAINED notification */
    DO_RESUME,    /* end: modify to RTS, from SQD or SQE */
    DO_CONNECT,   /* end and its peer: reset and connect */
    DO_REVIVE,    /* end and its peer: reset and connect if one has failed */
    DO_REPLACE,   /* end and its peer: destroy, create and connect */
    DO_LOOK,      /* end: query */
    DO_LIMIT,     /* host; n: limit of its SRQ */
    DO_REREG,     /* host; n: pages by which the iova differs from the address */
    DO_RESIZE,    /* host; n: index of the CQ */
    DO_GROUP,     /* end; n: attach or detach */
    DO_LINK,      /* host; n: link up or down */
    DO_PACE,      /* host; n: new loss of its link in ppm */
    DO_FAULT,     /* fault */
    DO_FORGE,     /* end; n: kind of the forged frame */
    DO_INJECT,    /* end; n: kind of the frame that its peer's host sends to it */
    DEED_KINDS
};

struct world_deed {
    uint8_t kind; /* enum deed_kind */
    uint16_t who; /* index of the host, end, item or fault */
    uint32_t n;
};

/* A host and its link. */
struct world_host {
    uint32_t profile;              /* enum profile */
    uint32_t latency_ns, loss_ppm; /* of its link, like the members up to rate_bps */
    uint32_t jitter_ns, burst_ppm, burst_frames, burst_loss_ppm;
    uint64_t rate_bps;
    uint32_t at_switch;
    bool is_plain; /* some feature bits are not offered */
    uint32_t ring; /* enum ring_format */
    bool indirect; /* the driver uses indirect descriptors */
    uint32_t rx_buffer;
    uint32_t memory_bytes;
    uint32_t edge_at, edge_bytes;
    uint32_t words_at;
    bool is_absent; /* left out of a reduced world */
};

/* A queue pair and its attributes. */
struct world_end {
    uint8_t type; /* enum qp_type */
    uint8_t host;
    uint16_t peer; /* the other end of a connection */
    uint8_t send_cq, recv_cq;
    bool is_absent; /* left out of a reduced world */
    /* is_small: the end has a CQ of its own that is so small that it overflows. */
    bool has_srq, sig_all, credits, is_small;
    uint32_t access; /* set of enum access_bit */
    uint32_t sq_psn;
    uint32_t path_mtu, timeout, retry_cnt, rnr_retry, min_rnr_timer;
    uint32_t max_rd_atomic, max_dest_rd_atomic;
    uint32_t pkey_index;
};

/* A fault of the device of @end.  It affects the send queue, the receive queue if the end has one
 * of its own, or the completion queue of its sends.  It is added together with a frame fault.  At
 * the end of the run all faults are cleared and all queues are kicked, so that all posted work
 * still completes.  To the peer a stuck receive queue looks as if no receive was posted.
 */
struct world_device_fault {
    uint32_t kind; /* FLT_LOST_KICK, FLT_STUCK_QUEUE, FLT_LOST_INTERRUPT; FLT_NONE: no fault */
    uint16_t end;
    bool of_receives; /* a lost kick or a stuck queue affects the receive queue */
    uint32_t nth, count;
    uint32_t time_ns; /* FLT_STUCK_QUEUE: duration; 0: until it is cleared */
};

/* A fault on frames.  Forged fields never change data: the receiver drops the packet or ignores the
 * field.
 */
struct world_fault {
    uint32_t kind; /* enum fault_kind */
    uint16_t from; /* index of the sending host */
    uint16_t end;  /* end whose @message it affects, if @message is not 0 */
    uint32_t opcode, nth, count, delay_ns, bit; /* opcode: enum opcode, or RDL_ANY */
    uint32_t behind;                            /* FLT_REORDER: number of frames that overtake it */
    uint32_t bytes;                             /* FLT_TRUNCATE: number of bytes that are left */
    uint32_t field, value;          /* enum wire_field_id: of FLT_FORGE and FLT_CORRUPT */
    uint32_t transmission, message; /* 0: any */
    bool is_on_link;                /* it acts on the link of @from */
    bool is_long; /* it affects only packets with more than WORLD_LONG bytes of payload */
    struct world_device_fault device;
};

#define WORLD_FAULTS_MAX 8u
#define WORLD_LONG       100u

struct world {
    uint64_t seed;
    uint32_t n_hosts, n_switches; /* n_switches 0: two hosts with a direct link */
    uint32_t n_ends, n_items, n_deeds, n_faults;
    uint32_t n_conns; /* the first 2 * n_conns ends are connected; the others are UD */
    uint32_t gid_index;
    uint32_t max_message;
    bool goes_back; /* runs again from a checkpoint in the middle; the hash must be equal */
    struct world_host host[WORLD_HOSTS_MAX];
    struct world_end end[WORLD_ENDS_MAX];
    struct world_fault fault[WORLD_FAULTS_MAX];
    struct world_item item[WORLD_ITEMS_MAX];
    struct world_deed deed[WORLD_DEEDS_MAX];
};

#define WORLD_PKEYS  3u
#define WORLD_FULL   1u /* index of the full member P_Key of the second partition */
#define WORLD_MEMBER 2u /* index of the limited member P_Key of that partition */
extern const uint16_t world_pkeys[WORLD_PKEYS];

/* Draws the world of @seed.  With @pair it has two hosts. */
void world_draw(struct world *w, uint64_t seed, bool pair);

static inline uint32_t world_mtu_bytes(const struct world_end *e)
{
    return 128u << e->path_mtu;
}

/* Returns @n, which is at least 1, rounded up to a power of two.  rxe does this with max_rd_atomic.
 */
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

/* Returns true if the response is written to the memory of the program. */
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

/* Returns true if the request completes a receive of the remote side. */
static inline bool world_needs_recv(const struct world_item *t)
{
    return !t->is_recv && (t->opcode == WR_SEND || t->opcode == WR_SEND_WITH_IMM ||
                           t->opcode == WR_SEND_WITH_INV || t->opcode == WR_RDMA_WRITE_WITH_IMM);
}

/* Returns true for the mistakes that the remote side must refuse. */
static inline bool world_is_remote_mistake(enum world_mistake m)
{
    return m >= RKEY_LOW && m <= UNALIGNED;
}

static inline bool world_is_local_mistake(enum world_mistake m)
{
    return m >= LKEY_UNKNOWN && m <= LKEY_BEFORE;
}

/* world_bytes() writes the bytes of item @i to @out: its message or, for a READ, the contents of
 * its place.  world_imm() writes its immediate data.
 */
void world_bytes(const struct world *w, uint32_t i, uint8_t *out);
void world_imm(uint32_t i, uint8_t out[4]);

#endif
