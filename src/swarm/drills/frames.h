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

#define FRAMES_PORTS     5u   /* p1 to p5; their indexes are 0 to 4 */
#define FRAMES_SWITCHED  3u   /* number of ports that are at the switch: p1 to p3 */
#define FRAMES_STATIONS  6u   /* number of stations with a MAC of their own */
#define FRAMES_BYTES_MAX 400u /* bytes of a received frame that are kept */
#define FRAMES_KEPT      96u  /* received frames that are kept */
#define FRAMES_FAULTS    4u   /* most faults at a time */
#define FRAMES_GROUPS    8u   /* groups of each IP version that h1 joins to be asked for */
#define FRAMES_NOWHERE   UINT32_MAX

/* A frame that came out of an external port. */
struct frames_seen {
    uint32_t port;  /* index of the port */
    uint64_t at_ns; /* time when it left the lab there */
    size_t bytes;   /* length of the frame; at most FRAMES_BYTES_MAX bytes are kept */
    uint8_t frame[FRAMES_BYTES_MAX];
};

/* A fault on frames that enter the lab at a port. */
struct frames_fault {
    bool is_there; /* the lab has the fault; otherwise the other members are not valid */
    rdl_fault fault;
    uint32_t kind;       /* FLT_DROP, FLT_DELAY, FLT_CORRUPT */
    uint32_t port;       /* index of the port */
    uint32_t nth, count; /* it hits @count frames, from number @nth on; 1 is the first */
    uint32_t seen;       /* number of frames that have entered there since it was added */
    uint32_t bit;        /* FLT_CORRUPT: number of the bit to invert, modulo the frame's length */
    uint64_t delay_ns;   /* FLT_DELAY */
};

struct frames;
/* The argument of the callback for the frames that come out of a port. */
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
    uint64_t latency_ns[FRAMES_PORTS], rate_bps[FRAMES_PORTS]; /* of these links */
    struct frames_reader reader[FRAMES_PORTS];
    /* For each station: index of the port at which the switch has learnt its MAC; FRAMES_NOWHERE:
     * none.
     */
    uint32_t learnt[FRAMES_STATIONS];
    struct frames_fault fault[FRAMES_FAULTS];
    struct frames_seen seen[FRAMES_KEPT]; /* received since frames_forget(); later ones are lost */
    uint32_t n_seen;
    uint64_t out_ns;    /* time when the last frame left the lab */
    uint32_t stranger;  /* number of stations that drill_frames_ip.c has made up so far */
    uint8_t mac[6];     /* MAC of h1 */
    uint8_t gid[2][16]; /* GIDs of h1: IPv4, IPv6 */
    rdl_pd pd;          /* protection domain of h1; the members that follow are of h1, too */
    rdl_cq cq;
    rdl_ah ah;         /* for @group */
    struct rig_end ud; /* UD queue pair */
    uint64_t mem;      /* address of its buffer */
    uint32_t lkey;     /* of the region over the buffer */
    /* Numbers of datagrams with a wrong P_Key, and with a wrong Q_Key, that were sent to it. */
    uint32_t n_bad_pkeys, n_bad_qkeys;
    bool has_receive;  /* a receive is posted to it */
    uint8_t group[16]; /* GID of the multicast group that it sends to and is attached to */
    uint8_t joined[2][FRAMES_GROUPS][16]; /* GIDs of the others: IPv4, IPv6 */
    bool has_left[2][FRAMES_GROUPS];      /* it is in that one no longer */
};

/* frames_forget() clears seen[].  frames_send() clears seen[], sends a frame into the lab through
 * port number @port (0: p1) and runs the lab until it is idle.  It returns false if the drill
 * failed.
 */
void frames_forget(struct frames *k);
bool frames_send(struct drill *d, uint32_t port, const uint8_t *frame, size_t bytes);

/* Takes one step in which frames are for h1 or from it (drill_frames_ip.c). */
void frames_take_host(struct drill *d);

/* --- Correct frames to h1, without checksums (drill_frames_write.c) ----------------------------
 */

/* Clears the frame @f and writes an Ethernet header from station @who to h1. */
void frames_begin(const struct frames *k, uint32_t who, uint16_t type, uint8_t f[FRAMES_BYTES_MAX]);

/* Returns the sum with which the checksum of @bytes bytes of ICMPv6 begins: that of the
 * pseudo-header for the IPv6 header @ip.  [RFC 8200, 8.1]
 */
uint32_t frames_pseudo_sum(const uint8_t *ip, size_t bytes);

/* Write the MAC, and the IPv4 address, of station @who to @at. */
void frames_put_mac(uint8_t *at, uint32_t who);
void frames_put_ip(uint8_t *at, uint32_t who);

/* Writes the address of station @who as a GID. */
void frames_put_address(uint8_t at[16], uint32_t who, bool is_ipv6);

/* Write a frame of station @who to @f, of FRAMES_BYTES_MAX bytes, and return its length.
 *
 * frames_write_arp()           a request for the MAC of @target, or a reply
 * frames_write_echo_4(), _6()  ICMP echo with @data bytes of 0; @type: 8 for a request, 0 for a
 * reply frames_write_solicitation()  a question for the MAC of h1's IPv6 address
 */
size_t frames_write_arp(const struct frames *k, uint32_t who, bool reply, const uint8_t target[4],
                        uint8_t f[FRAMES_BYTES_MAX]);
size_t frames_write_echo_4(const struct frames *k, uint32_t who, uint8_t type, uint32_t data,
                           uint8_t f[FRAMES_BYTES_MAX]);
size_t frames_write_echo_6(const struct frames *k, uint32_t who, uint32_t data,
                           uint8_t f[FRAMES_BYTES_MAX]);
size_t frames_write_solicitation(const struct frames *k, uint32_t who, uint8_t f[FRAMES_BYTES_MAX]);

/* --- Stations that talk with h1 (drill_frames_ip.c) ------------------------------------------- */

/* Returns the number of a new station.  Its port, MAC and addresses follow from the number. */
uint32_t frames_meet(struct drill *d);

/* Sends a frame of station @who into the lab, and lets the lab go on for a while. */
bool frames_send_as(struct drill *d, uint32_t who, const uint8_t *frame, size_t bytes);

/* Returns frame number @skip, from 0, of those that h1 sent to the port of station @who, or NULL.
 */
const uint8_t *frames_heard(struct drill *d, uint32_t who, uint32_t skip);

/* Sends an ARP request of @who, from which h1 learns its addresses.  Checks the reply. */
bool frames_introduce(struct drill *d, uint32_t who);

/* Sends one frame of ARP, ICMP or neighbour discovery with a value at the edge of what is correct
 * (drill_frames_corners.c).
 */
void frames_take_corner(struct drill *d);

/* A station asks whether it may use h1's address (drill_frames_corners.c). */
void frames_take_detection(struct drill *d);

/* frames_add_ud() creates a UD queue pair on h1, and returns false if the drill failed.  The others
 * are steps: frames_take_datagram() sends a datagram to it, which may be wrong, frames_take_group()
 * lets it send one to its multicast group (drill_frames_ud.c).
 */
bool frames_add_ud(struct drill *d);
void frames_take_datagram(struct drill *d);
void frames_take_group(struct drill *d);

/* frames_join_groups() attaches the queue pair to the groups k->joined, and returns false if the
 * drill failed.  frames_take_query() is a step: a router asks for groups (drill_frames_query.c).
 */
bool frames_join_groups(struct drill *d);
void frames_take_query(struct drill *d);

#endif
