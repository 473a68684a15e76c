/* SPDX-License-Identifier: MIT */
/* The drill of wires: the interface between its files.
 *
 * Frames between external ports, through a learning switch, with faults.  A model of the network
 * computes for each frame when and where it leaves the lab, byte by byte, and what every port,
 * link, switch and fault has counted.  A link sends one frame at a time, so that a slow one fills
 * the queue in front of it.
 */
#ifndef SWARM_DRILLS_DRILL_WIRES_H
#define SWARM_DRILLS_DRILL_WIRES_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmalab/fault.h"
#include "rdmalab/port.h"
#include "swarm/drills/drill.h"

#define PORTS         3u
#define FAULTS        4u
#define FLIGHTS       640u /* most frames on their way at a time, and most that leave in a step */
#define HELD          128u /* most frames that are held, or were and are not overtaken */
#define PREFIX        160u /* bytes of a frame that the model keeps; those behind are 0 */
#define SHORT_FRAMES  12u  /* most frames of a step */
#define LONG_FRAMES   90u  /* of a step that fills a queue of QUEUE_BYTES */
#define LONG_BYTES    60000u
#define QUEUE_BYTES   ((uint64_t)4 << 20)
#define STATIONS      5u
#define GROUP         STATIONS /* the number of a MAC that stands for several stations */
#define LEARNT        256u     /* most MACs that a switch learns: also those that a fault makes */
#define ETHERNET      14u
#define OCCUPIED_MIN  60u /* a shorter frame takes as long on the line */
#define GAP_BYTES     24u
#define NS_PER_S      UINT64_C(1000000000)
#define MOST_APART_NS 4000u
#define ALWAYS_PPM    1000000u

/* A direction of a line: to the switch, or away from it. */
enum way { IN, OUT };

struct frame_copy {
    uint32_t bytes;
    uint8_t b[PREFIX];
};

/* A frame that arrives at the switch or leaves through a port. */
struct flight {
    uint64_t at_ns;
    uint32_t number; /* of several at the same time, the one with the lowest number comes first */
    uint32_t port;
    enum way way;
    struct frame_copy f;
};

/* A frame that is held at the end of a line.  It is the flight @number, which comes at @latest_ns,
 * unless it is overtaken by @left frames before that.
 */
struct wires_held {
    uint32_t number, left, port;
    enum way way;
    uint64_t latest_ns;
};

/* The line between a port and the switch. */
struct line {
    uint64_t latency_ns, rate_bps;
    uint64_t free_at_ns[2]; /* by enum way: when the frames queued so far have been sent */
    bool is_up;
    /* By enum way.  bursts: bursts of one frame come as often as they can, after each frame that is
     * in none.  in_burst: the last frame was in one.
     */
    bool bursts[2], in_burst[2];
    uint64_t carried, lost;
};

struct wire_fault {
    char name[RDL_NAME_BYTES];
    rdl_fault handle;
    bool exists;
    uint32_t kind;
    uint32_t from, line;  /* numbers of a port and a line; PORTS: any */
    uint32_t nth, left;   /* @left: UINT32_MAX for any number */
    uint64_t delay_ns;    /* FLT_REORDER: how long a frame is held at most */
    uint32_t hold_frames; /* FLT_REORDER: how many frames overtake it */
    uint32_t bit, to_bytes;
    uint64_t seen, hits;
};

/* The effect of faults on a frame beside a change of its bytes. */
struct effect {
    bool is_lost, is_double;
    uint64_t delay_ns, double_ns;
    uint32_t hold_frames; /* 0: it is not held */
    uint64_t hold_ns;
};

/* A frame that left the lab.  The callback of a port does not know at_ns. */
struct leaver {
    uint64_t at_ns;
    uint32_t port;
    struct frame_copy f;
};

struct wires {
    struct reader {
        struct wires *w;
        uint32_t port;
    } reader[PORTS]; /* arguments of on_leave() */
    rdl_port port[PORTS];
    rdl_link link[PORTS];
    struct line line[PORTS];
    struct wire_fault fault[FAULTS]; /* in the order of their age, those that exist */
    uint32_t n_faults_made;
    struct learnt {
        uint64_t mac;
        uint32_t port;
    } learnt[LEARNT]; /* in any order; @n_learnt of them */
    uint32_t n_learnt;
    struct rdl_port_info info[PORTS];
    uint64_t rcvd, sent, dropped; /* of the switch; dropped: events of all sorts */
    struct flight flight[FLIGHTS];
    uint32_t n_flights, flights_made;
    struct wires_held held[HELD]; /* in the order in which they came */
    uint32_t n_held;
    struct leaver want[FLIGHTS], have[FLIGHTS];
    uint32_t n_want, n_have;
    uint64_t seen, drops_seen; /* events of the record that were examined */
    uint64_t port_drops[PORTS];
    uint8_t bytes[LONG_BYTES];
};

/* A frame comes in through @port now. */
void wires_come_in(struct wires *w, uint64_t now_ns, uint32_t port, struct frame_copy f);

/* Carries out all that happens until @until_ns, in its order. */
void wires_run(struct wires *w, uint64_t until_ns);

#endif
