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
#include "swarm/draw/extend.h"

#define WORLD_HOSTS_MAX  8u
#define WORLD_CONNS_MAX  6u
#define WORLD_ENDS_MAX   (2u * WORLD_CONNS_MAX + WORLD_HOSTS_MAX)
#define WORLD_ITEMS_MAX  1400u
#define WORLD_DEEDS_MAX  4000u
#define WORLD_PIECES_MAX 4u
#define WORLD_VFS_MAX    24u        /* per machine */
#define WORLD_GROUPS     3u         /* of virtual RNICs */
#define WORLD_CQS        2u         /* per host */
#define WORLD_WORDS      4u         /* per host: words that atomics change */
#define WORLD_NONE       UINT16_MAX /* no item, no end */

#define WORLD_INLINE_MAX 128u
#define WORLD_DEPTH      64u /* max_send_wr and max_recv_wr of a queue pair */
#define WORLD_SRQ_DEPTH  128u
#define WORLD_QKEY       0x11111111u
#define WORLD_GRH_BYTES  40u
#define WORLD_WORD_BYTES 8u

/* The regions and windows of a host, by whose keys a request selects them: peers use the rkey, the
 * host itself the lkey.  All except KEY_EDGE cover the whole memory of the host.
 */
enum world_key {
    KEY_OPEN,     /* permits all access */
    KEY_MINE,     /* permits local access only */
    KEY_LOOK,     /* permits local and remote reads, and no writes */
    KEY_ALIEN,    /* in another protection domain */
    KEY_EDGE,     /* an odd number of bytes that begin and end inside a page */
    KEY_ANEW,     /* re-registered by each DO_REREG, with a new key */
    KEY_FAST,     /* a fast region, made valid by REG_MR */
    KEY_WINDOW_1, /* a memory window of type 1 */
    KEY_WINDOW_2, /* memory windows of type 2: each end has one, bound to its queue pair */
    WORLD_KEYS
};

/* The deliberate error of an item.  RIGHT: none. */
enum world_mistake {
    RIGHT,
    /* Errors in local keys. */
    LKEY_UNKNOWN,   /* no region has the key */
    LKEY_ALIEN,     /* the region is in another protection domain */
    LKEY_READ_ONLY, /* the key of a buffer that will be written permits no writes */
    LKEY_BEHIND,    /* the buffer ends one byte beyond the region */
    LKEY_BEFORE,    /* the buffer begins one byte before the region */
    /* Errors in the remote key. */
    RKEY_LOW,     /* the low byte of the key is wrong */
    RKEY_UNKNOWN, /* no region or window has the key */
    RKEY_ALIEN,   /* the region is in another protection domain */
    RKEY_ACCESS,  /* the region does not permit the operation */
    RKEY_BEHIND,  /* the place ends one byte beyond the region */
    RKEY_BEFORE,  /* the place begins one byte before the region */
    RKEY_STALE,   /* the key before its last change */
    RKEY_OTHERS,  /* the key of another queue pair's window */
    BOTH_KEYS,    /* no region has the local key, nor the remote key */
    UNALIGNED,    /* the address of an atomic is not aligned */
    TOO_SHORT,    /* the buffer of a receive is too short */
    QKEY_WRONG,   /* the Q_Key of a datagram is not that of the receiver */
    TOO_LONG,     /* a datagram is longer than the MTU */
    WORLD_MISTAKES
};

/* A part of an item's buffer. */
struct world_piece {
    uint32_t at, bytes; /* offset in the memory of the item's host, and length */
};

/* A request or a receive. */
struct world_item {
    uint16_t end;                /* the end that posts it */
    uint16_t to;                 /* the end that it goes to */
    uint16_t again;              /* earlier item, whose place it uses too; WORLD_NONE: none */
    bool is_recv, is_spare;      /* is_spare: posted only at the end of the run, and if needed */
    bool to_group;               /* a datagram to the multicast group */
    uint8_t n_pieces, bad_piece; /* bad_piece: index of the piece with the wrong lkey */
    uint8_t mistake;             /* enum world_mistake */
    uint8_t key;                 /* enum world_key: the remote key, or the key that it changes */
    uint8_t word;                /* atomic: index of the word of the remote host */
    uint32_t opcode;             /* enum wr_opcode */
    uint32_t flags;              /* set of enum send_flag_bit */
    uint32_t bytes;              /* length of the message; of a receive, of its buffer */
    uint32_t remote;             /* offset of its place in the memory of the remote host */
    uint64_t compare_add, swap;  /* operands of an atomic, as in struct rdl_send_wr */
    struct world_piece piece[WORLD_PIECES_MAX];
};

/* The kinds of deeds.  Each comment names what @who of struct world_deed is the index of (an item,
 * an end, a host or a fault), and the meaning of @n.
 */
enum deed_kind {
    DO_POST,      /* item */
    DO_POST_LAZY, /* item; the device is not kicked */
    DO_KICK,      /* end; n: not 0 for its send queue, 0 for its receive queue */
    DO_POLL,      /* host; n: index of the CQ */
    DO_GO,        /* n: number of ticks to run; @who is not used */
    DO_WAIT,      /* n: ns of simulated time to run; @who is not used */
    DO_ARM,       /* host; n: index of the CQ, plus 1 << 8 to arm for solicited events only */
    DO_EVENTS,    /* host: takes its asynchronous and completion events */
    DO_FAIL,      /* end: modify to ERR */
    DO_DRAIN,     /* end: modify to SQD; n: not 0 to request the event SQ_DRAINED */
    DO_RESUME,    /* end: modify to RTS, from SQD or SQE */
    DO_CONNECT,   /* end and its peer: reset and connect */
    DO_REVIVE,    /* end and its peer: reset and connect if one has failed */
    DO_REPLACE,   /* end and its peer: destroy, create and connect */
    DO_LOOK,      /* end: query the queue pair, and check its state */
    DO_LIMIT,     /* host; n: limit of its SRQ */
    DO_REREG,     /* host; n: pages by which the iova differs from the address */
    DO_RESIZE,    /* host; n: index of the CQ; its size changes between 2048 and 4096 */
    DO_GROUP,     /* end; n: not 0 to attach to the multicast group, 0 to detach */
    DO_LINK,      /* host; n: not 0 to take its link up, 0 to take it down */
    DO_PACE,      /* host; n: new loss of its link in ppm */
    DO_FAULT,     /* fault */
    DO_FORGE,     /* end; n: kind of the forged frame */
    DO_INJECT,    /* end; n: kind of the frame that its peer's host sends to it */
    DO_RULE, /* group; n: another group.  The centre takes their rule back and makes it again */
    DEED_KINDS
};

struct world_deed {
    uint8_t kind; /* enum deed_kind */
    uint16_t who; /* index of the host, end, item or fault */
    uint32_t n;   /* see enum deed_kind */
};

/* The administrator's settings of a virtual function. */
struct world_vf {
    uint64_t max_tx_bps, min_tx_bps; /* 0: no limit, no guarantee */
    bool is_always_up;               /* whatever the link of the machine is */
    bool spoofchk, trust;
};

/* The place of a host that shares the adapter of a machine, or that is a machine.  Programs do not
 * see it.
 */
struct world_place {
    uint32_t vfs;  /* not 0: a machine with so many virtual functions */
    uint32_t pool; /* of a machine: functions in the pool for virtual RNICs at first; 0: all */
    bool shortcut; /* of a machine: it has one between its functions */
    uint32_t on;   /* not 0: a guest; host number @on, counted from 1, is its machine */
    uint32_t vf;   /* of a guest without a virtual RNIC: its function */
    bool has_vrnic;
    uint32_t group; /* of a guest with a virtual RNIC: 1 .. WORLD_GROUPS; else 0 */
    /* Of a guest with a virtual RNIC: the most functions that it has; the host, counted from 1,
     * with which it shares one, or 0; the machine, counted from 1, from which it moves before it
     * has an object, or 0.
     */
    uint32_t functions, with, from;
    uint32_t when_full; /* of a machine: enum pool_full */
    bool is_shared;     /* of a guest: it shares the port of its machine itself */
    bool has_router;    /* of a guest: its work requests pass the router of its machine */
    struct world_vf set[WORLD_VFS_MAX]; /* of a machine */
};

/* A host and its link.  A guest has none, and uses that of its machine: world_plug(). */
struct world_host {
    uint32_t profile;              /* enum profile */
    uint32_t device;               /* enum device_type */
    struct extend extend;          /* extensions of virtio-rdma that it is offered */
    uint32_t latency_ns, loss_ppm; /* these and the members up to rate_bps are of its link */
    uint32_t jitter_ns, burst_ppm, burst_frames, burst_loss_ppm;
    uint64_t rate_bps;            /* 0: 100 Gbit/s */
    uint32_t at_switch;           /* index of its switch; not used in a world without switches */
    bool is_plain;                /* the device does not offer INDIRECT_DESC and EVENT_IDX */
    uint32_t ring;                /* enum ring_format */
    bool indirect;                /* the driver uses indirect descriptors */
    uint32_t rx_buffer;           /* bytes of a receive buffer of virtio-net; 0: fits a frame */
    uint32_t memory_bytes;        /* size of the memory for items, words and KEY_EDGE */
    uint32_t edge_at, edge_bytes; /* range of the region of KEY_EDGE in the memory */
    uint32_t words_at;            /* offset of the words of atomics in the memory */
    struct world_place place;
    bool is_absent; /* left out of a reduced world */
};

/* A queue pair and its attributes. */
struct world_end {
    uint8_t type; /* enum qp_type */
    uint8_t host;
    uint16_t peer;            /* the other end of the connection; UD: this end itself */
    uint8_t send_cq, recv_cq; /* indexes of the CQs of its host */
    bool is_absent;           /* left out of a reduced world */
    /* is_small: the end has a CQ of its own, which is so small that it may overflow. */
    bool has_srq, sig_all, credits, is_small;
    uint32_t access; /* set of enum access_bit */
    uint32_t sq_psn; /* first PSN that it sends; see world_psn() for later lives */
    uint32_t path_mtu, timeout, retry_cnt, rnr_retry, min_rnr_timer;
    uint32_t max_rd_atomic, max_dest_rd_atomic;
    uint32_t pkey_index;
};

/* A fault of the device of @end.  A lost kick or a stuck queue affects the end's send queue or, if
 * the end has one of its own, its receive queue.  A lost interrupt affects the completion queue of
 * its sends.  The fault is added together with the fault on frames that contains this struct.  At
 * the end of the run all faults are cleared and all queues are kicked, so that all posted work
 * still completes.  To the peer a stuck receive queue looks as if no receive was posted.
 */
struct world_device_fault {
    uint32_t kind; /* FLT_LOST_KICK, FLT_STUCK_QUEUE, FLT_LOST_INTERRUPT; FLT_NONE: no fault */
    uint16_t end;
    bool of_receives;    /* a lost kick or a stuck queue affects the receive queue */
    uint32_t nth, count; /* as in struct rdl_device_fault_config */
    uint32_t time_ns;    /* FLT_STUCK_QUEUE: duration; 0: until it is cleared */
};

/* A fault on frames that host @from sends.  The members are those of struct rdl_fault_config.  The
 * fields that FLT_FORGE changes never lead to wrong data: the receiver drops the packet or ignores
 * the field.
 */
struct world_fault {
    uint32_t kind; /* enum fault_kind */
    uint16_t from; /* index of the sending host */
    uint16_t end;  /* the end whose messages @message counts; not used if @message is 0 */
    uint32_t opcode, nth, count, delay_ns, bit; /* opcode: enum opcode, or RDL_ANY */
    uint32_t behind; /* FLT_REORDER: number of frames that overtake the held frame */
    uint32_t bytes;  /* FLT_TRUNCATE: number of bytes of the frame that are left */
    /* field: enum wire_field_id of the field that FLT_FORGE sets to @value, or in which FLT_CORRUPT
     * inverts a bit.  FLT_CORRUPT with field 0 inverts bit number @bit of the frame.
     */
    uint32_t field, value;
    /* Numbers from 1; 0: any.  transmission: only requests that are transmitted for the n-th time.
     * message: only frames of the n-th message that @end starts after the fault was added.
     */
    uint32_t transmission, message;
    bool is_on_link; /* acts where frames enter the link of @from, not where they leave @from */
    bool is_long;    /* affects only packets with more than WORLD_LONG bytes of payload */
    struct world_device_fault device;
};

#define WORLD_FAULTS_MAX 8u
#define WORLD_LONG       100u /* bytes, see world_fault.is_long */

struct world {
    uint64_t seed;
    uint32_t n_hosts, n_switches; /* n_switches: 0 means two hosts with a direct link */
    uint32_t n_ends, n_items, n_deeds, n_faults;
    uint32_t n_conns;     /* the first 2 * n_conns ends are connected; the others are UD */
    uint32_t gid_index;   /* of the GIDs that all ends use */
    uint32_t max_message; /* bytes of the longest message */
    /* The run goes back to a checkpoint in its middle and is repeated from there; the hash of all
     * events must be the same.
     */
    bool goes_back;
    struct world_host host[WORLD_HOSTS_MAX];
    struct world_end end[WORLD_ENDS_MAX];
    struct world_fault fault[WORLD_FAULTS_MAX];
    struct world_item item[WORLD_ITEMS_MAX];
    struct world_deed deed[WORLD_DEEDS_MAX];
};

#define WORLD_PKEYS  3u
#define WORLD_FULL   1u /* index in world_pkeys of a full member P_Key */
#define WORLD_MEMBER 2u /* index of the limited member P_Key of the same partition */
extern const uint16_t world_pkeys[WORLD_PKEYS];

/* Draws the world of @seed.  With @pair it has two hosts, otherwise 2 to WORLD_HOSTS_MAX. */
void world_draw(struct world *w, uint64_t seed, bool pair);

/* Draws the RDMA device of each host of the drawn world: virtio-rdma or PVRDMA.  Whatever a device
 * does not have is replaced.
 */
void world_draw_devices(struct world *w);

/* Draws extensions of virtio-rdma for the hosts of the drawn world.  Programs do not see them. */
void world_draw_extensions(struct world *w);

/* Makes hosts of the drawn world machines, and others their guests.  Deeds and faults of the link
 * of a guest then affect that of its machine.
 */
void world_draw_machines(struct world *w);

/* Returns the index of the host whose link carries the frames of @host. */
static inline unsigned world_plug(const struct world *w, unsigned host)
{
    if (w->n_switches == 0)
        return 0;
    return w->host[host].place.on ? w->host[host].place.on - 1 : host;
}

/* Returns true if frames between the hosts @a and @b do not leave the adapter of their machine. */
static inline bool world_is_inside(const struct world *w, unsigned a, unsigned b)
{
    return w->n_switches > 0 && world_plug(w, a) == world_plug(w, b);
}

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

/* Returns true if @t is a READ or an atomic: its response is written to the memory of the program.
 */
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

/* Returns true for the mistakes that the remote side must refuse: errors in the remote key or in
 * the alignment.
 */
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
