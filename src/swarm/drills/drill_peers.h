/* SPDX-License-Identifier: MIT */
/* A drill of peers: what its files share.
 *
 * Host h1 has a reliable connection to a queue pair that is not there: the drill itself is the
 * peer. It sees each packet that h1 sends and lets any packet arrive, with addresses, PSNs and an
 * ICRC that are right: requests, duplicates, gaps, wrong lengths, keys and orders, and answers of
 * every kind.  For each of them it is known what h1 answers, completes and writes, and nothing else
 * may happen.  The ACK timer does not run.
 */
#ifndef SWARM_DRILLS_DRILL_PEERS_H
#define SWARM_DRILLS_DRILL_PEERS_H

#include "emu/facts/enums.h"
#include "emu/facts/psn.h"
#include "emu/trace/event.h"
#include "emu/wire/packet.h"
#include "rdmalab/fault.h"
#include "rdmalab/trace.h"
#include "swarm/drills/rig.h"

#define PEER_ROOM    16384u /* bytes of memory of h1 */
#define PEER_MTU     256u
#define PEER_QPN     0x4321u /* of the peer, whom nobody else knows */
#define PEER_RECVS   8u
#define PEER_TAKEN   4u /* requests that may be asked for again */
#define PEER_ASKED   4u
#define PEER_PAGES   8u
#define PEER_SEEN    64u
#define PEER_MESSAGE (4u * PEER_MTU)
#define PEER_WORD    8u
#define PEER_ACCESS                                                                                \
    ((uint32_t)(ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC))
#define PEER_RDS 4u /* READs and atomics that h1 takes at a time */

struct peer_recv {
    uint64_t wr_id;
    uint32_t at, bytes;
};

/* A request that h1 has carried out. */
struct peer_taken {
    struct packet p;
    uint32_t n_psns;
    uint64_t found; /* by an atomic */
};

/* A request that h1 has made. */
struct peer_asked {
    uint32_t opcode; /* enum wr_opcode */
    uint64_t wr_id;
    uint32_t psn, n_psns, bytes, at;
    uint64_t remote;
    uint32_t lkey;
    uint32_t n_answered; /* responses of a READ or an atomic */
    bool is_fenced;
    uint8_t data[PEER_MESSAGE];
};

struct peer_seen {
    uint64_t id, at_ns;
};

struct peers {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd;
    rdl_cq cq;
    uint64_t base;
    uint32_t key;
    struct rig_end end, peer;
    struct packet like; /* what all packets for h1 begin with */
    struct rdl_listener *listener;
    struct peer_seen seen[PEER_SEEN]; /* packets that h1 sent since it was asked last */
    uint32_t n_seen;
    uint64_t wr_id, injected_ns;
    uint32_t
        cut; /* bytes that the next packet's payload ends too early: it is no multiple of four */

    /* What h1 was asked. */
    uint32_t expected, msn;
    uint32_t
        acked; /* the last SEND or WRITE packet: only its own answer ends a READ or an atomic */
    enum op_kind open; /* a SEND or WRITE whose last packet has not come; OPK_NONE: there is none */
    uint32_t got;      /* bytes of it */
    uint32_t to, left; /* of a WRITE: where its next bytes go, and how many there are */
    bool has_told_gap, has_told_rnr;
    uint32_t n_recvs;
    struct peer_recv recv[PEER_RECVS];
    uint32_t n_taken;
    struct peer_taken taken[PEER_TAKEN];

    /* What h1 asks. */
    uint32_t next, sent,
        una; /* behind what was posted, and what was sent; the oldest without answer */
    uint32_t go_backs;
    bool is_paused;   /* in SQD: what has not begun waits */
    bool was_implied; /* it has gone back as an answer was missing */
    uint32_t n_asked;
    struct peer_asked asked[PEER_ASKED];

    uint8_t room[PEER_ROOM], have[PEER_ROOM];
};

/* Packets of @bytes. */
static inline uint32_t peer_packets(uint32_t bytes)
{
    return bytes == 0 ? 1 : (bytes + PEER_MTU - 1) / PEER_MTU;
}

static inline uint32_t peer_psn(uint32_t psn)
{
    return psn & PSN_MASK;
}

/* Lets @p arrive at h1 with @payload, and the lab come to rest: what h1 sends is seen then. */
bool peer_send(struct drill *d, struct packet *p, const uint8_t *payload);

/* The same, without a rest: others may arrive with it. */
bool peer_send_on(struct drill *d, struct packet *p, const uint8_t *payload);

/* Packet @i of those that were seen. */
bool peer_seen(struct drill *d, uint32_t i, struct packet *ret);

/* The next completion of h1, which must be of @wr_id with @status. */
bool peer_completes(struct drill *d, uint64_t wr_id, uint32_t status, struct rdl_wc *ret);

/* Nothing else completes, and memory is as it must be. */
bool peer_is_calm(struct drill *d);

/* To RESET, from where all is new. */
bool peer_resets(struct drill *d);

/* The queue pair has failed: its receives and requests but the first @n_done are flushed, and it is
 * connected anew.
 */
bool peer_failed(struct drill *d, uint32_t recvs_done, uint32_t asked_done);

/* Exactly one asynchronous event is told, of @type; ASE_NONE: none is. */
bool peer_event(struct drill *d, bool is_told, uint32_t type);

/* The steps. */
void peer_posts_receive(struct drill *d);
void peer_requests(struct drill *d);
void peer_comes_early(struct drill *d);
void peer_answers(struct drill *d);

#endif
