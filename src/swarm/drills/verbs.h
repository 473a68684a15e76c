/* SPDX-License-Identifier: MIT */
/* The drill of verbs: the interface between its files.  Two hosts exist throughout; each step
 * creates queue pairs between them and destroys them at its end.
 *
 * Functions that return bool return false if the drill failed.
 */
#ifndef SWARM_DRILLS_VERBS_H
#define SWARM_DRILLS_VERBS_H

#include "rdmalab/fault.h"
#include "rdmalab/trace.h"
#include "swarm/drills/rig.h"

#define VERBS_BUF 16384u /* bytes of memory at each host */
/* Data to send is below this offset of the memory; received data is written from it on. */
#define VERBS_HALF   8192u
#define VERBS_MTU    1024u
#define VERBS_INLINE 256u

/* The access flags of all operations, of this host and of a peer: set of enum access_bit. */
extern const uint32_t verbs_rights;

/* The objects of a host that exist throughout. */
struct verbs_side {
    rdl_host host;
    rdl_pd pd;
    uint64_t addr;       /* of its VERBS_BUF bytes of memory */
    rdl_mr mr;           /* region over this memory */
    uint32_t lkey, rkey; /* of @mr */
    rdl_cq scq, rcq;     /* for sends, and for receives */
};

/* State of the drill. */
struct drill_verbs {
    uint32_t profile;  /* of the hosts, enum profile */
    bool is_resizable; /* the devices have RING_RESET, and so queues can get other sizes */
    bool has_line;     /* the devices interrupt by the line INTx, and not by MSI-X */
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    struct verbs_side side[RIG_HOSTS];
    uint64_t wr_id; /* wr_id of the last work request */
    /* Number, from 0, of the first trace event that verbs_event() and verbs_count_tx() look at: the
     * first one of this step, or of a later part of it.
     */
    uint64_t mark;
    uint8_t sent[VERBS_HALF]; /* the bytes that verbs_fill() wrote */
    uint8_t got[VERBS_HALF];  /* scratch memory, for reading */
};

/* Two connected queue pairs; [0] is on h1. */
struct verbs_pair {
    struct rig_end end[RIG_HOSTS];
};

/* Creates a pair of connected queue pairs with the configuration @c.  Sets the PD and the
 * completion queues in @c.
 */
bool verbs_pair(struct drill *d, struct rdl_qp_config *c, struct verbs_pair *p);
/* Like verbs_pair(), but the queue pair on h2 uses @srq. */
bool verbs_pair_with_srq(struct drill *d, struct rdl_qp_config *c, rdl_srq srq,
                         struct verbs_pair *p);
/* Destroys both queue pairs of @p. */
bool verbs_unpair(struct drill *d, struct verbs_pair *p);

/* Fills the lower half of the memory of @host (0: h1) with random bytes, and clears the upper half
 * at the other host.
 */
bool verbs_fill(struct drill *d, unsigned host);

/* verbs_send() posts the request @wr to the queue pair of @e, verbs_recv() a receive for @bytes at
 * @offset of the host's memory.  They set its wr_id to the next number.
 */
bool verbs_send(struct drill *d, const struct rig_end *e, struct rdl_send_wr *wr);
bool verbs_recv(struct drill *d, const struct rig_end *e, uint32_t offset, uint32_t bytes);

/* Polls the next completion of @cq to @ret.  The drill fails unless it has @status (enum
 * wc_status).
 */
bool verbs_done(struct drill *d, rdl_cq cq, uint32_t status, struct rdl_wc *ret);

/* Checks that the completion queues of both sides are empty. */
bool verbs_no_more(struct drill *d);

/* Checks that the memory of @host at @offset holds @want.  @what states the rule. */
bool verbs_holds(struct drill *d, unsigned host, uint32_t offset, const void *want, uint32_t bytes,
                 const char *what);

/* Returns the next trace event of @kind (enum ev_kind) from drill_verbs.mark on, or NULL if there
 * is none.  *@at is the position of the search; set it to 0 before the first call.
 */
const struct ev *verbs_event(struct drill *d, unsigned kind, uint64_t *at);

/* Finds the next frame that @host sent, as verbs_event() finds its event.  @ret gets NULL if it is
 * not recorded.  Returns false if there is none.
 */
bool verbs_frame(struct drill *d, unsigned host, uint64_t *at, const uint8_t **ret,
                 size_t *ret_bytes);

/* Returns the number of packets with @opcode (enum opcode; RDL_ANY: any) that @host has sent since
 * drill_verbs.mark.
 */
uint32_t verbs_count_tx(struct drill *d, unsigned host, uint32_t opcode);

/* Adds the fault @c to the lab.  Sets the syndrome, PSN and destination QPN of @c to RDL_ANY. */
bool verbs_fault(struct drill *d, struct rdl_fault_config *c, rdl_fault *ret);

/* The steps.  Each tests one thing:
 *
 *	message     a message on RC or UC: its packets, completions and bytes
 *	limits      posts that exceed a limit of their queue pair by one
 *	read_lost   a READ of which one response is lost
 *	timeout     number and times of retransmissions when every packet is lost
 *	rnr         a message that finds no receive, or finds one late
 *	sqd         the state SQD: no request starts, and started ones complete
 *	sqd_limit   max_rd_atomic changes in SQD, while READs wait
 *	fence       a fenced request waits for the READs before it
 *	local_inv   REG_MR, a use of the region and LOCAL_INV, posted together, with a lost frame
 *	srq         receives of a shared receive queue, and the event LAST_WQE_REACHED
 *	modify      transitions with right and wrong attributes
 *	gid         a GID that a connection uses cannot be removed
 *	cq          a completion queue that is filled, or overflows
 *	rights      each access flag of a region permits its operation only
 *	datagram    a datagram to a queue pair or a group, whose Q_Key may be wrong
 *	atomics     atomics on one word, of which a packet may be lost
 *	gap         UC messages of which a packet is lost, or that find no receive
 *	flush       ERR flushes all work requests, RESET discards them
 *	wrong       a request that must fail, and the status that it completes with
 *	again       more losses than retry_cnt, with progress after each
 *	turns       a ping between long WRITEs: who sends when
 *	held        interrupts that are held back while messages arrive
 *	master      bus mastering that is off for a time while messages are sent
 */
void verbs_step_message(struct drill *d);
void verbs_step_limits(struct drill *d);
void verbs_step_read_lost(struct drill *d);
void verbs_step_timeout(struct drill *d);
void verbs_step_rnr(struct drill *d);
void verbs_step_sqd(struct drill *d);
void verbs_step_sqd_limit(struct drill *d);
void verbs_step_fence(struct drill *d);
void verbs_step_local_inv(struct drill *d);
void verbs_step_srq(struct drill *d);
void verbs_step_modify(struct drill *d);
void verbs_step_gid(struct drill *d);
void verbs_step_cq(struct drill *d);
void verbs_step_rights(struct drill *d);
void verbs_step_datagram(struct drill *d);
void verbs_step_atomics(struct drill *d);
void verbs_step_gap(struct drill *d);
void verbs_step_flush(struct drill *d);
void verbs_step_wrong(struct drill *d);
void verbs_step_again(struct drill *d);
void verbs_step_turns(struct drill *d);
void verbs_step_held(struct drill *d);
void verbs_step_master(struct drill *d);

#endif
