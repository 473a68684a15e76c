/* SPDX-License-Identifier: MIT */
/* What the steps of the drill of verbs share: two hosts that stay, and queue pairs that a step
 * makes and takes away again.
 */
#ifndef SWARM_DRILLS_VERBS_H
#define SWARM_DRILLS_VERBS_H

#include "emu/facts/enums.h"
#include "emu/trace/event.h"
#include "rdmalab/fault.h"
#include "rdmalab/trace.h"
#include "swarm/drills/rig.h"

#define VERBS_BUF    16384u /* bytes of the memory at each host */
#define VERBS_HALF   8192u  /* what is sent is read below it, what arrives is written above */
#define VERBS_RIGHTS (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)
#define VERBS_MTU    1024u
#define VERBS_INLINE 256u

/* What a host has all the time. */
struct verbs_side {
    rdl_host host;
    rdl_pd pd;
    uint64_t addr;
    rdl_mr mr;
    uint32_t lkey, rkey;
    rdl_cq scq, rcq;
};

struct drill_verbs {
    bool is_rxe;
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    struct verbs_side side[RIG_HOSTS];
    uint64_t wr_id; /* of the last work request */
    uint64_t mark;  /* events before this one are of earlier steps */
    uint8_t sent[VERBS_HALF], got[VERBS_HALF];
};

/* Two queue pairs: [0] is at h1. */
struct verbs_pair {
    struct rig_end end[RIG_HOSTS];
};

/* Makes a pair as @c says; its PD and completion queues are set here. */
bool verbs_pair(struct drill *d, struct rdl_qp_config *c, struct verbs_pair *p);
/* The same; h2's takes its receives from @srq. */
bool verbs_pair_with_srq(struct drill *d, struct rdl_qp_config *c, rdl_srq srq,
                         struct verbs_pair *p);
bool verbs_unpair(struct drill *d, struct verbs_pair *p);

/* Draws bytes for the lower half of h1's memory, and writes them there. */
bool verbs_fill(struct drill *d, unsigned host);

/* Posts to the queue pair of @e, with the next wr_id. */
bool verbs_send(struct drill *d, const struct rig_end *e, struct rdl_send_wr *wr);
bool verbs_recv(struct drill *d, const struct rig_end *e, uint32_t offset, uint32_t bytes);

/* The next completion must be there, with @status. */
bool verbs_done(struct drill *d, rdl_cq cq, uint32_t status, struct rdl_wc *ret);

/* Nothing is left in any completion queue. */
bool verbs_no_more(struct drill *d);

/* Does the memory of @host at @offset hold these bytes? */
bool verbs_holds(struct drill *d, unsigned host, uint32_t offset, const void *want, uint32_t bytes,
                 const char *what);

/* The next event of @kind since the mark; *@at is where to look, 0 at first. */
const struct ev *verbs_event(struct drill *d, unsigned kind, size_t *at);

/* How many packets did @host send since the mark? */
uint32_t verbs_count_tx(struct drill *d, unsigned host, uint32_t opcode);

bool verbs_fault(struct drill *d, struct rdl_fault_config *c, rdl_fault *ret);

/* The steps. */
void verbs_step_message(struct drill *d);
void verbs_step_limits(struct drill *d);
void verbs_step_read_lost(struct drill *d);
void verbs_step_timeout(struct drill *d);
void verbs_step_rnr(struct drill *d);
void verbs_step_sqd(struct drill *d);
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

#endif
