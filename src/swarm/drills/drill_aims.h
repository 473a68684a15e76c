/* SPDX-License-Identifier: MIT */
/* The drill of aims: the interface between its files.
 *
 * Three hosts at a switch have reliable connections in a ring, and many queue pairs of one number.
 * Faults select their frames by every criterion that there is, and by several at once: sender,
 * destination, opcode, PSN, queue pair, class, message, transmission, link, and a condition.  The
 * model sees the tx events and what the switch forwards.  It predicts which fault hits which frame,
 * in which order, and what each fault has counted.  Faults lose so little that each message
 * completes, and memory has what was sent.
 *
 * Functions that return bool return false if the drill failed.
 */
#ifndef SWARM_DRILLS_DRILL_AIMS_H
#define SWARM_DRILLS_DRILL_AIMS_H

#include "emu/trace/event.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "swarm/drills/rig.h"

#define AIM_HOSTS   3u
#define AIM_ENDS    (2u * AIM_HOSTS)
#define AIM_MTU     256u
#define AIM_PKTS    5u    /* most packets of a message */
#define AIM_BATCH   8u    /* most messages of a step */
#define AIM_FAULTS  4u    /* most faults at a time */
#define AIM_FLIGHTS 1024u /* most frames that are sent in a step */
#define AIM_EXPECT  1024u /* most hits of a step */
#define AIM_ROOM    32768u
#define AIM_WORD    8u
#define AIM_NONE    UINT32_MAX

/* A message of a step.  It takes its bytes from @own of its host, and they go to @far of the other,
 * or the other way.
 */
struct aim_message {
    uint32_t end; /* the queue pair that sends it */
    uint32_t opcode, bytes, own, far;
    uint64_t wr_id, recv_id, add;
    uint32_t psn, n_psns;
    uint32_t number; /* of its queue pair, in the order in which they began; AIM_NONE: it did not */
    uint32_t sent[AIM_PKTS]; /* how often each packet was sent; a READ has one */
    uint8_t data[AIM_PKTS * AIM_MTU];
    bool is_done, is_received;
};

/* A fault, and what the model counts of it. */
struct aim_fault {
    bool exists;
    char name[RDL_NAME_BYTES];
    rdl_fault handle;
    struct rdl_fault_config c;
    uint32_t number, from, to, end, link; /* AIM_NONE: any */
    uint32_t base;  /* messages that @end had begun when the fault was added */
    uint32_t left;  /* RDL_ANY: no end */
    uint32_t least; /* input of the condition */
    uint64_t seen, hits;
};

/* A frame that was sent in this step. */
struct aim_flight {
    ev_id id; /* of the tx event, or of the last fault that changed it */
    struct ev tx;
    uint32_t message; /* index of its message in the batch, or AIM_NONE */
    uint32_t bytes;
    bool is_kept; /* a fault of a link needed the tx event when it was sent */
};

/* A hit that must come. */
struct aim_hit {
    uint32_t number, kind;
    bool is_met;
    ev_id of; /* the frame that it hits */
};

/* A frame that a fault has changed. */
struct aim_change {
    ev_id before, after;
    uint32_t kind;
};

struct aims {
    rdl_host host[AIM_HOSTS];
    rdl_link link[AIM_HOSTS];
    rdl_pd pd[AIM_HOSTS];
    rdl_cq cq[AIM_HOSTS];
    bool is_rxe[AIM_HOSTS];
    uint64_t base[AIM_HOSTS];
    uint32_t key[AIM_HOSTS], used[AIM_HOSTS];
    struct rig_end end[AIM_ENDS]; /* those of host h are 2 * h and 2 * h + 1 */
    uint32_t psn[AIM_ENDS], begun[AIM_ENDS];
    struct aim_message batch[AIM_BATCH];
    uint32_t n_batch;
    uint64_t wr_id;

    struct aim_fault fault[AIM_FAULTS];
    uint32_t n_faults_made;
    struct rdl_listener *listener;
    struct drill *drill; /* for the listener */
    struct aim_flight flight[AIM_FLIGHTS];
    uint32_t n_flights;
    struct aim_hit hit[AIM_EXPECT]; /* n_met of n_hits have come */
    uint32_t n_hits, n_met;
    struct aim_change change[AIM_EXPECT];
    uint32_t n_changes;

    uint8_t memory[AIM_HOSTS][AIM_ROOM], have[AIM_ROOM];
};

/* The end to which @end is connected, and the host of an end. */
static inline uint32_t aim_other(uint32_t end)
{
    return end % 2 == 0 ? (end + 3) % AIM_ENDS : (end + AIM_ENDS - 3) % AIM_ENDS;
}

static inline uint32_t aim_host(uint32_t end)
{
    return end / 2;
}

/* --- drill_aims_faults.c ---------------------------------------------------------------------- */

/* Takes an event of the lab, of one of the kinds tx, forwarded, flooded, fault and lost.  @ctx is
 * the struct aims.
 */
void aim_hear(void *ctx, const struct ev *e);

/* Adds a fault, if there is room for one; removes one; asks for a fault that is refused. */
void aim_adds_fault(struct drill *d);
void aim_removes_fault(struct drill *d);
void aim_is_refused(struct drill *d);

/* Checks that all hits have come, that each changed frame was changed as its fault says, and what
 * the faults have counted.
 */
void aim_judges_faults(struct drill *d);

#endif
