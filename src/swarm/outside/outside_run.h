/* SPDX-License-Identifier: MIT */
/* A run with a stranger, between its files: swarm_outside.c and swarm_stranger.c. */
#ifndef SWARM_OUTSIDE_OUTSIDE_RUN_H
#define SWARM_OUTSIDE_OUTSIDE_RUN_H

#include "rdmalab/port.h"
#include "swarm/outside/hostile.h"
#include "testbed/testbed.h"

#define GAP_NS        20000u /* at the most, between two frames */
#define MESSAGE_BYTES 4099u  /* not a page: each message begins, and crosses pages, elsewhere */
#define DEPTH         4u     /* of posts towards the stranger */
#define MESSAGES      3u     /* each way, in each batch */
#define STRANGER_AT   (UINT64_C(2) * MESSAGES * MESSAGE_BYTES) /* what it reaches of the memory */
#define REMOTE_RIGHTS (ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

struct outside {
    uint64_t seed;
    struct prng rng;
    struct testbed testbed;
    struct hostile hostile;
    rdl_cq cq; /* of the queue pairs for the stranger */
    rdl_qp qp[HOSTILE_QPS];
    uint32_t path_mtu;           /* of this batch */
    uint32_t recvs[HOSTILE_QPS]; /* that wait, of UC and UD */
    uint64_t guard_at;           /* the memory of h1 whose middle is open to the stranger */
    uint32_t batch;
    uint64_t frames;       /* that came in */
    uint32_t posted, done; /* work of this batch on the connection */
    uint16_t echo_seq;     /* of the stranger's last ping */
    uint32_t echo_replies; /* to that one */
    uint8_t frame[HOSTILE_BYTES];
    const char *wrong; /* what went wrong, NULL: nothing */
};

bool outside_expect(struct outside *o, bool right, const char *what);
bool outside_works(struct outside *o, enum rdl_status st, const char *what);
void outside_go_on(struct outside *o, uint64_t ns);
/* A frame comes in. */
void outside_receive(struct outside *o, const uint8_t *frame, size_t n);

/* Creates the queue pairs for the stranger; connects all of them by a path that is drawn; ends
 * them, and what is posted completes.
 */
RDL_MUST_CHECK enum rdl_status stranger_make(struct outside *o);
void stranger_connect(struct outside *o);
void stranger_disconnect(struct outside *o);

/* A batch of frames: of all kinds; of READs; more than a port has room for. */
void stranger_flood(struct outside *o);
void stranger_flood_reads(struct outside *o);
void stranger_overfill(struct outside *o);

#endif
