/* SPDX-License-Identifier: MIT */
/* The drill of messages: the interface between its files.
 *
 * Two hosts are connected by an RC and a UC connection; each also has a UD queue pair.  A step
 * posts a few messages and runs the lab until it is idle.  It then compares completions, events,
 * memory and every frame on the wire with the expected ones.  No frame is lost here, so each of
 * them is known exactly.
 */
#ifndef SWARM_DRILLS_DRILL_MESSAGES_H
#define SWARM_DRILLS_DRILL_MESSAGES_H

#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/events.h"
#include "rdmalab/trace.h"
#include "swarm/drills/rig.h"

#define MSG_SERVICES                                                                               \
    (QPT_UD + 1u) /* size of arrays indexed by enum qp_type, of which RC, UC and UD are used */
#define MSG_BATCH      3u      /* most messages of one step */
#define MSG_PIECES     3u      /* most pieces of a buffer */
#define MSG_ROOM       122880u /* bytes of memory per host */
#define MSG_BYTES      18000u  /* bytes of the longest message */
#define MSG_INLINE     256u    /* bytes of the longest inline send */
#define MSG_ASKS       64u     /* packets of a message of which at least one asks for an ACK */
#define MSG_FRAMES     512u    /* frames that one step may send */
#define MSG_TURNS      32u     /* frames whose order is kept */
#define MSG_GRH        40u     /* bytes before a received datagram */
#define MSG_WORD       8u      /* bytes that an atomic changes */
#define MSG_COMPLETION 4u * MSG_BATCH /* most completions of one step at a host */

/* A buffer of @n pieces: @bytes[i] bytes at offset @at[i] of the memory of its host. */
struct msg_place {
    uint32_t n, at[MSG_PIECES], bytes[MSG_PIECES];
};

/* A message of a step, and the expected results. */
struct message {
    uint32_t service;        /* enum qp_type */
    unsigned from;           /* index of the sending host */
    uint32_t opcode;         /* enum wr_opcode */
    uint32_t flags;          /* set of enum send_flag_bit */
    uint32_t bytes;          /* length of the message */
    uint64_t wr_id, recv_id; /* wr_id of the request, and of the receive that it consumes */
    uint8_t imm[4];
    struct msg_place own;    /* buffer of the sender: the source; of a READ or atomic, the target */
    struct msg_place recv;   /* buffer of the receive that it consumes */
    uint32_t remote;         /* WRITE, READ, atomic: offset in the other host's memory */
    uint64_t compare, swap;  /* for atomics; compare: also the addend of a FETCH_AND_ADD */
    uint32_t psn, n_psns;    /* first PSN of its requests, and number of PSNs they take */
    uint8_t data[MSG_BYTES]; /* the bytes that are transferred, in either direction */
    uint32_t n_sent, n_back; /* numbers of packets on the wire so far: requests, and responses */
};

/* An expected completion. */
struct msg_expected {
    struct rdl_wc wc;
    bool is_recv, is_done; /* it is the completion of a receive; it was polled */
};

/* A frame that a host sent. */
struct msg_turn {
    uint32_t host;
    bool is_ip; /* it is not of RDMA */
};

/* State of the drill: its objects on both hosts, the messages of a step, and the model. */
struct messages {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd[RIG_HOSTS];
    rdl_channel channel[RIG_HOSTS];
    rdl_cq cq[RIG_HOSTS];
    rdl_ah ah[RIG_HOSTS];     /* address handle of the other host */
    uint64_t base[RIG_HOSTS]; /* address of the MSG_ROOM bytes of each host */
    uint32_t key[RIG_HOSTS];  /* lkey and rkey of the region over them */
    uint32_t profile;         /* of the hosts, enum profile */
    uint32_t mtu;             /* path MTU of the connections, in bytes */
    uint32_t gid_index;       /* of the addresses: 0: IPv4, 1: IPv6 */
    struct rig_end end[RIG_HOSTS][MSG_SERVICES];
    uint32_t psn[RIG_HOSTS][MSG_SERVICES]; /* PSN of the next request that the host sends */
    uint32_t msn[RIG_HOSTS];               /* number of messages its RC queue pair has received */
    /* State of the CQ: 0: not armed, 1: armed for solicited completions, 2: for all. */
    uint32_t armed[RIG_HOSTS];
    uint64_t wr_id;

    struct message batch[MSG_BATCH]; /* the messages of this step */
    uint32_t n_batch;
    /* This step uses the bytes of the memory of host h from offset from[h] to used[h] - 1. */
    uint32_t from[RIG_HOSTS], used[RIG_HOSTS];
    struct msg_expected expected[RIG_HOSTS][MSG_COMPLETION]; /* completions of this step */
    uint32_t n_expected[RIG_HOSTS];
    struct rdl_listener *listener;
    struct {
        uint64_t id;   /* of the tx event */
        uint32_t host; /* sender: 0 or 1 */
    } tx[MSG_FRAMES];  /* the @n_tx frames that were sent in this step */
    uint32_t n_tx;
    struct msg_turn turn[MSG_TURNS]; /* the first @n_turns frames of the step, in their order */
    uint32_t n_turns;
    bool is_answered[RIG_HOSTS];         /* the last RC message that this host sent was answered */
    uint8_t memory[RIG_HOSTS][MSG_ROOM]; /* the expected content of the memory */
    uint8_t have[MSG_ROOM];              /* scratch memory, for reading it */
};

static inline bool msg_is_write(const struct message *m)
{
    return m->opcode == WR_RDMA_WRITE || m->opcode == WR_RDMA_WRITE_WITH_IMM;
}

static inline bool msg_is_atomic(const struct message *m)
{
    return m->opcode == WR_ATOMIC_FETCH_AND_ADD || m->opcode == WR_ATOMIC_CMP_AND_SWP;
}

/* Returns true if the response of @m has data, which is written to m->own. */
static inline bool msg_fetches(const struct message *m)
{
    return m->opcode == WR_RDMA_READ || msg_is_atomic(m);
}

static inline bool msg_has_imm(const struct message *m)
{
    return m->opcode == WR_SEND_WITH_IMM || m->opcode == WR_RDMA_WRITE_WITH_IMM;
}

/* Returns true if @m consumes a receive of the other side. */
static inline bool msg_takes_recv(const struct message *m)
{
    return m->opcode == WR_SEND || msg_has_imm(m);
}

/* Returns the number of packets of @m; of a READ, the number of its response packets. */
static inline uint32_t msg_packets(const struct messages *s, const struct message *m)
{
    const uint32_t mtu = m->service == QPT_UD ? MSG_BYTES : s->mtu;

    return m->bytes == 0 || msg_is_atomic(m) ? 1 : (m->bytes + mtu - 1) / mtu;
}

/* Copies the @n bytes @bytes to the buffer @p in @memory, after the first @skip bytes of the
 * buffer.
 */
void msg_put(uint8_t *memory, const struct msg_place *p, uint32_t skip, const uint8_t *bytes,
             uint32_t n);

/* Computes the expected results of @m: its PSNs, completions and memory contents.  Call it in the
 * order of posting.
 */
void msg_foresee(struct messages *s, struct message *m);

/* Compares all results of this step with the expected ones (drill_messages_judge.c). */
void msg_judge(struct drill *d);

#endif
