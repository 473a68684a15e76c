/* SPDX-License-Identifier: MIT */
/* A drill of messages: what its files share.
 *
 * Two hosts, and between them a connection of RC, one of UC, and a queue pair for datagrams each.
 * A step posts a few messages, lets the lab come to rest, and holds completions, events, memory and
 * each frame on the wire against what must be: nothing is lost here, so nothing may differ.
 */
#ifndef SWARM_DRILLS_DRILL_MESSAGES_H
#define SWARM_DRILLS_DRILL_MESSAGES_H

#include "emu/facts/enums.h"
#include "emu/trace/event.h"
#include "rdmalab/events.h"
#include "rdmalab/trace.h"
#include "swarm/drills/rig.h"

#define MSG_SERVICES   (QPT_UD + 1u) /* RC, UC, UD, by enum qp_type */
#define MSG_BATCH      3u
#define MSG_PIECES     3u
#define MSG_ROOM       81920u /* bytes of memory of a host */
#define MSG_BYTES      13000u /* of the longest message */
#define MSG_INLINE     256u
#define MSG_FRAMES     512u /* of a step */
#define MSG_GRH        40u
#define MSG_WORD       8u
#define MSG_COMPLETION 4u * MSG_BATCH

/* Part of a host's memory, in pieces. */
struct msg_place {
    uint32_t n, at[MSG_PIECES], bytes[MSG_PIECES];
};

struct message {
    uint32_t service; /* enum qp_type */
    unsigned from;    /* host */
    uint32_t opcode;  /* enum wr_opcode */
    uint32_t flags;   /* set of enum send_flag_bit */
    uint32_t bytes;
    uint64_t wr_id, recv_id;
    uint8_t imm[4];
    struct msg_place own;    /* its source, or what it fills */
    struct msg_place recv;   /* the receive that it takes */
    uint32_t remote;         /* place at the far side */
    uint64_t compare, swap;  /* of atomics; compare: or what is added */
    uint32_t psn, n_psns;    /* that its requests take */
    uint8_t data[MSG_BYTES]; /* what is moved */
    uint32_t n_sent, n_back; /* packets of it, and of its answer, that were seen */
};

/* A completion that must come. */
struct msg_expected {
    struct rdl_wc wc;
    bool is_recv, is_done;
};

struct messages {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd[RIG_HOSTS];
    rdl_channel channel[RIG_HOSTS];
    rdl_cq cq[RIG_HOSTS];
    rdl_ah ah[RIG_HOSTS]; /* of the other host */
    uint64_t base[RIG_HOSTS];
    uint32_t key[RIG_HOSTS];
    uint32_t mtu; /* of the connections, in bytes */
    struct rig_end end[RIG_HOSTS][MSG_SERVICES];
    uint32_t psn[RIG_HOSTS][MSG_SERVICES]; /* of the next request */
    uint32_t msn[RIG_HOSTS];               /* messages that the RC one has taken */
    uint32_t armed[RIG_HOSTS];             /* 0: no, 1: for solicited ones, 2: for all */
    uint64_t wr_id;

    struct message batch[MSG_BATCH];
    uint32_t n_batch;
    uint32_t from[RIG_HOSTS], used[RIG_HOSTS]; /* the memory that this step uses */
    struct msg_expected expected[RIG_HOSTS][MSG_COMPLETION];
    uint32_t n_expected[RIG_HOSTS];
    struct rdl_listener *listener;
    struct {
        uint64_t id;
        uint32_t host;
    } tx[MSG_FRAMES];
    uint32_t n_tx;
    bool is_answered[RIG_HOSTS]; /* the last RC message from there */
    uint8_t memory[RIG_HOSTS][MSG_ROOM], have[MSG_ROOM];
};

static inline bool msg_is_write(const struct message *m)
{
    return m->opcode == WR_RDMA_WRITE || m->opcode == WR_RDMA_WRITE_WITH_IMM;
}

static inline bool msg_is_atomic(const struct message *m)
{
    return m->opcode == WR_ATOMIC_FETCH_AND_ADD || m->opcode == WR_ATOMIC_CMP_AND_SWP;
}

static inline bool msg_fetches(const struct message *m)
{
    return m->opcode == WR_RDMA_READ || msg_is_atomic(m);
}

static inline bool msg_has_imm(const struct message *m)
{
    return m->opcode == WR_SEND_WITH_IMM || m->opcode == WR_RDMA_WRITE_WITH_IMM;
}

static inline bool msg_takes_recv(const struct message *m)
{
    return m->opcode == WR_SEND || msg_has_imm(m);
}

/* Packets that @bytes take. */
static inline uint32_t msg_packets(const struct messages *s, const struct message *m)
{
    const uint32_t mtu = m->service == QPT_UD ? MSG_BYTES : s->mtu;

    return m->bytes == 0 || msg_is_atomic(m) ? 1 : (m->bytes + mtu - 1) / mtu;
}

/* Copies to or from what is known of a host's memory, over @p, without its first @skip bytes. */
void msg_put(uint8_t *memory, const struct msg_place *p, uint32_t skip, const uint8_t *bytes,
             uint32_t n);

/* What must be of a message, in the order of posting. */
void msg_foresee(struct messages *s, struct message *m);

/* What was seen in this step (drill_messages_judge.c). */
void msg_judge(struct drill *d);

#endif
