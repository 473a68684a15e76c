/* SPDX-License-Identifier: MIT */
/* Drills of frames: what their files share.
 *
 * A switch has a host, h1, and strangers p1 to p3, which are external ports: whatever they send is
 * written here byte by byte, and whatever comes to them is kept.  Two more strangers, p4 and p5,
 * have a link of their own, on which frames are lost.
 */
#ifndef SWARM_DRILLS_FRAMES_H
#define SWARM_DRILLS_FRAMES_H

#include "rdmalab/port.h"
#include "rdmalab/trace.h"
#include "rdmalab/verbs.h"
#include "swarm/drills/drill.h"
#include "swarm/drills/rig.h"

#define FRAMES_PORTS     5u
#define FRAMES_SWITCHED  3u /* of them are at the switch */
#define FRAMES_STATIONS  6u
#define FRAMES_BYTES_MAX 400u
#define FRAMES_KEPT      96u
#define FRAMES_FAULTS    4u
#define FRAMES_NOWHERE   UINT32_MAX

/* A frame that came to a stranger. */
struct frames_seen {
    uint32_t port;
    uint64_t at_ns;
    size_t bytes; /* all of them; at most FRAMES_BYTES_MAX are kept */
    uint8_t frame[FRAMES_BYTES_MAX];
};

struct frames_fault {
    bool is_there;
    rdl_fault fault;
    uint32_t kind, port, nth, count, seen, bit;
    uint64_t delay_ns;
};

struct frames;
struct frames_reader {
    struct frames *k;
    uint32_t port;
};

struct frames {
    struct drill *d;
    rdl_host host;
    rdl_port port[FRAMES_PORTS];
    rdl_link link[FRAMES_PORTS]; /* of each switched stranger, and at last of p4 and p5 */
    uint64_t latency_ns[FRAMES_PORTS], rate_bps[FRAMES_PORTS];
    struct frames_reader reader[FRAMES_PORTS];
    uint32_t learnt[FRAMES_STATIONS]; /* at which port the switch has heard it */
    struct frames_fault fault[FRAMES_FAULTS];
    struct frames_seen seen[FRAMES_KEPT]; /* since frames_forget() */
    uint32_t n_seen;
    uint64_t out_ns;   /* of the last frame that left the lab */
    uint32_t stranger; /* the last that said who it is */
    uint8_t mac[6];    /* h1's */
    uint8_t gid[2][16];
    rdl_pd pd; /* of h1's, as what follows */
    rdl_cq cq;
    rdl_ah ah;
    struct rig_end ud;
    uint64_t mem;
    uint32_t lkey, n_bad_pkeys;
    bool has_receive;
    uint8_t group[16];
};

/* Forgets what was seen; sends a frame; waits until all is quiet. */
void frames_forget(struct frames *k);
bool frames_send(struct drill *d, uint32_t port, const uint8_t *frame, size_t bytes);

/* A step with h1, the host. */
void frames_take_host(struct drill *d);

/* Gives it a UD queue pair; the steps with that. */
bool frames_add_ud(struct drill *d);
void frames_take_datagram(struct drill *d);
void frames_take_group(struct drill *d);

#endif
