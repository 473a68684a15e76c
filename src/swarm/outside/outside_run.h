/* SPDX-License-Identifier: MIT */
/* The interface between outside.c and stranger.c.  The *stranger* is the hostile station behind the
 * external port.
 */
#ifndef SWARM_OUTSIDE_OUTSIDE_RUN_H
#define SWARM_OUTSIDE_OUTSIDE_RUN_H

#include "emu/facts/enum/access.h"
#include "rdmalab/cm.h"
#include "rdmalab/port.h"
#include "swarm/outside/hostile.h"
#include "testbed/testbed.h"

#define GAP_NS 20000u /* maximum time between two frames of the stranger */
/* Bytes of each message.  It is no multiple of the page size, so that messages begin and cross
 * pages at different offsets.
 */
#define MESSAGE_BYTES 4099u
#define DEPTH         4u /* max_send_wr and max_recv_wr of each of the stranger's queue pairs */
#define MESSAGES      3u /* messages that h1 and h2 send each other in each batch */
/* Offset, in the memory of h1, of the buffer that the stranger's queue pairs use. */
#define STRANGER_AT    (UINT64_C(2) * MESSAGES * MESSAGE_BYTES)
#define OUTSIDE_SERVED 8u /* most connections of the server of h1 */
#define REMOTE_RIGHTS  (ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

/* State of a run, which is a series of batches of frames.  The *stranger's queue pairs* are those
 * of h1 that are connected with the stranger.
 */
struct outside {
    uint64_t seed;
    struct prng rng;
    struct testbed testbed; /* h1 and h2, whose messages must arrive undisturbed */
    struct hostile hostile;
    rdl_cq cq;                   /* completion queue of the stranger's queue pairs */
    rdl_qp qp[HOSTILE_QPS];      /* the stranger's queue pairs */
    uint32_t path_mtu;           /* path MTU in this batch (enum mtu) */
    uint32_t recvs[HOSTILE_QPS]; /* UC, UD: number of posted receives that are not complete */
    /* Address of memory of h1.  The stranger may access only its middle; the rest must not change.
     */
    uint64_t guard_at;
    uint32_t batch;        /* number of this batch, from 0 */
    uint64_t frames;       /* number of frames that the stranger has sent so far */
    uint32_t posted, done; /* work requests of this batch on its RC queue pair: posted, completed */
    uint16_t echo_seq;     /* sequence number of the stranger's last ping */
    uint32_t echo_replies; /* replies to that ping */
    uint8_t frame[HOSTILE_BYTES];     /* scratch memory for a frame */
    rdl_cm_channel events[2];         /* of h1 and h2 */
    rdl_cm_id served[OUTSIDE_SERVED]; /* IDs of requests to h1 */
    uint32_t n_served;
    const char *wrong; /* the rule that was broken; NULL: none */
};

/* outside_expect() checks that @right is true, outside_works() that @st is RDL_OK.  The first
 * broken rule @what is kept in o->wrong.  They return true if the rule holds.  outside_go_on() runs
 * the lab for @ns of simulated time.
 */
bool outside_expect(struct outside *o, bool right, const char *what);
bool outside_works(struct outside *o, enum rdl_status st, const char *what);
void outside_go_on(struct outside *o, uint64_t ns);
/* Sends the @n bytes @frame into the lab through the stranger's port. */
void outside_receive(struct outside *o, const uint8_t *frame, size_t n);

/* stranger_make() creates the stranger's queue pairs on h1, and returns the status of the failed
 * call or RDL_OK.  stranger_connect() connects the queue pairs with a random path.
 * stranger_disconnect() moves them to ERR and checks that all posted work completes.
 */
RDL_MUST_CHECK enum rdl_status stranger_make(struct outside *o);
void stranger_connect(struct outside *o);
void stranger_disconnect(struct outside *o);

/* outside_cm_make() starts a server at h1.  outside_cm_serve() lets it answer what has come.
 * outside_cm_check() lets it end all connections, checks that h2 can connect, and that nothing is
 * left.
 */
RDL_MUST_CHECK enum rdl_status outside_cm_make(struct outside *o);
void outside_cm_serve(struct outside *o);
void outside_cm_check(struct outside *o);

/* Send one batch of frames: stranger_flood() random ones, stranger_flood_reads() READs, and
 * stranger_overfill() more frames than the port can buffer.
 */
void stranger_flood(struct outside *o);
void stranger_flood_reads(struct outside *o);
void stranger_overfill(struct outside *o);

#endif
