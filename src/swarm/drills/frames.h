/* SPDX-License-Identifier: MIT */
/* The drill of frames: the interface between its files.
 *
 * A switch connects host h1 and the external ports p1 to p3, at which the drill plays stations.
 * The drill writes each frame that the stations send byte by byte, and keeps each frame that
 * reaches them.  Two more ports, p4 and p5, are connected by a link of their own that loses frames.
 */
#ifndef SWARM_DRILLS_FRAMES_H
#define SWARM_DRILLS_FRAMES_H

#include "rdmalab/port.h"
#include "rdmalab/trace.h"
#include "rdmalab/verbs.h"
#include "swarm/drills/drill.h"
#include "swarm/drills/rig.h"

#define FRAMES_PORTS     5u
#define FRAMES_SWITCHED  3u /* number of ports that are at the switch: p1 to p3 */
#define FRAMES_STATIONS  6u
#define FRAMES_BYTES_MAX 400u
#define FRAMES_KEPT      96u
#define FRAMES_FAULTS    4u
#define FRAMES_NOWHERE   UINT32_MAX

/* A frame that came out of an external port. */
struct frames_seen {
    uint32_t port;
    uint64_t at_ns;
    size_t bytes; /* length of the frame; at most FRAMES_BYTES_MAX bytes are kept */
    uint8_t frame[FRAMES_BYTES_MAX];
};

/* A fault on frames that enter at @port; @seen counts these frames.  is_there: the lab has the
 * fault; otherwise the other members are not valid.
 */
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

/* State of the drill: its ports and host, and the model of switch, links and faults. */
struct frames {
    struct drill *d;
    rdl_host host;
    rdl_port port[FRAMES_PORTS];
    /* Links of p1 to p3 to the switch; link[FRAMES_SWITCHED] connects p4 and p5. */
    rdl_link link[FRAMES_PORTS];
    uint64_t latency_ns[FRAMES_PORTS], rate_bps[FRAMES_PORTS];
    struct frames_reader reader[FRAMES_PORTS];
    /* Port at which the switch has learnt the station's MAC; FRAMES_NOWHERE: none. */
    uint32_t learnt[FRAMES_STATIONS];
    struct frames_fault fault[FRAMES_FAULTS];
    struct frames_seen seen[FRAMES_KEPT]; /* received since frames_forget(); later ones are lost */
    uint32_t n_seen;
    uint64_t out_ns;   /* time of the last frame that left the lab */
    uint32_t stranger; /* number of stations that drill_frames_ip.c has used */
    uint8_t mac[6];    /* MAC of h1 */
    uint8_t gid[2][16];
    rdl_pd pd; /* protection domain of h1; the members that follow are of h1, too */
    rdl_cq cq;
    rdl_ah ah;
    struct rig_end ud;
    uint64_t mem;
    uint32_t lkey, n_bad_pkeys;
    bool has_receive;
    uint8_t group[16];
};

/* frames_forget() clears seen[].  frames_send() clears seen[], sends a frame into the lab through
 * @port and runs the lab until it is idle.  It returns false if the drill failed.
 */
void frames_forget(struct frames *k);
bool frames_send(struct drill *d, uint32_t port, const uint8_t *frame, size_t bytes);

/* Takes one step that involves h1 (drill_frames_ip.c). */
void frames_take_host(struct drill *d);

/* frames_add_ud() creates a UD queue pair on h1, and returns false if the drill failed.  The others
 * are the steps that use the queue pair (drill_frames_ud.c).
 */
bool frames_add_ud(struct drill *d);
void frames_take_datagram(struct drill *d);
void frames_take_group(struct drill *d);

#endif
