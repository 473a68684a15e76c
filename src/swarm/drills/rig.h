/* SPDX-License-Identifier: MIT */
/* What most drills begin with: two hosts on a cable, and queue pairs between them. */
#ifndef SWARM_DRILLS_RIG_H
#define SWARM_DRILLS_RIG_H

#include "rdmalab/verbs.h"
#include "swarm/drills/drill.h"

#define RIG_HOSTS 2u
#define RIG_DEPTH 64u /* of a queue */
#define RIG_QKEY  0x11111111u

/* What a drill may say of its hosts; zeroed: nothing special. */
struct rig_config {
    uint32_t profile;      /* enum profile */
    uint64_t features_off; /* bits of the device that are not offered */
    bool arp;
    uint32_t ring;                 /* enum ring_format: of all virtqueues */
    uint64_t latency_ns, rate_bps; /* 0: 1 us, 100 Gbit/s */
};

/* Adds host h1 and h2 and the link between them. */
bool rig_add_hosts(struct drill *d, const struct rig_config *c, rdl_host ret[RIG_HOSTS],
                   rdl_link *ret_link);

/* A queue pair, and what it needs. */
struct rig_end {
    unsigned number; /* of its host: 0 is h1 */
    rdl_host host;
    char name[RDL_NAME_BYTES];
    rdl_qp qp;
    uint32_t qpn;
    uint32_t sq_psn;
    uint32_t access;             /* set of enum access_bit, for peers */
    uint32_t timeout, retry_cnt; /* retry_cnt: of RNR, too */
    uint32_t path_mtu;           /* enum mtu; 0: 1024 bytes */
    uint32_t min_rnr_timer;
    bool credits; /* end-to-end credits, of RC */
};

/* Makes @e's queue pair as @c says, called e->name: host, number and name are set before. */
bool rig_add_qp(struct drill *d, struct rig_end *e, const struct rdl_qp_config *c);

/* Takes two ends, of RC or UC, from RESET to RTS, connected with each other. */
bool rig_connect(struct drill *d, struct rig_end *a, struct rig_end *b);

/* Moves @e, of @type, to INIT, RTR or RTS, with all that the move needs. */
bool rig_move(struct drill *d, struct rig_end *e, const struct rig_end *peer, uint32_t type,
              uint32_t state);

/* Takes @e, of @type, from RESET to RTS, connected with what @peer says. */
bool rig_raise(struct drill *d, struct rig_end *e, const struct rig_end *peer, uint32_t type);

/* Moves a UD one to RTS. */
bool rig_raise_ud(struct drill *d, struct rig_end *e);

/* To @state, with @mask beside it.  The answer of the device is awaited, and must be OK. */
bool rig_modify(struct drill *d, struct rig_end *e, struct rdl_qp_attr *a, uint32_t state,
                uint32_t mask);

/* Polls the next completion of @cq; false: there is none. */
bool rig_poll(struct drill *d, rdl_cq cq, struct rdl_wc *ret);

/* The checksum of IP, the one's complement of the one's complement sum, of @n bytes and of @sum. */
uint16_t rig_sum(uint32_t sum, const uint8_t *bytes, size_t n);

/* "lw,rw": the words of a line for a set of enum access_bit; "0" for none. */
const char *rig_access_text(uint32_t access, char out[32]);

#endif
