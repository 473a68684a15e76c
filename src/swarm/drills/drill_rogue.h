/* SPDX-License-Identifier: MIT */
/* The drill of a rogue guest: the interface between its files.
 *
 * The machine m1 has two honest guests, g1 with a virtual function and g2 with a virtual RNIC. They
 * send messages to each other and to the host h1 outside.  A third guest of the machine is the
 * rogue.  It has a virtual function or a virtual RNIC in another group, and either device.
 *
 * Each step takes one row of rogue_attacks.def, while the honest hosts send messages.  The drill
 * has two labs with the same hosts, objects and messages.  In the first lab the rogue attacks, in
 * the second, the *twin*, it is silent.  After each step both labs are compared:
 *
 *  - Each completion of an honest host is there with the same contents, at most a bounded time
 * later (rogue_bound_ns()).
 *  - The memory of the honest hosts is equal, byte for byte.
 *  - Everything that can be inspected of them is equal, but for the differences that the attack
 *    announces: rogue_differs().  For example "g1.port.drops.no_such_qp" is larger by one.  If the
 *    attack hits while messages are under way, the number of acknowledgments may differ, too.
 *
 * A rogue whose attack has broken its own device is replaced by a new guest.
 *
 * Functions that return bool return false if the drill failed.
 */
#ifndef SWARM_DRILLS_DRILL_ROGUE_H
#define SWARM_DRILLS_DRILL_ROGUE_H

#include "rdmalab/cm.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "rdmalab/verbs.h"
#include "swarm/drills/rig.h"

struct packet;

#define ROGUE_LABS     2u /* 0: with attacks, 1: the twin */
#define ROGUE_HONEST   3u /* g1, g2, h1 */
#define ROGUE_OUTSIDE  2u /* h1 */
#define ROGUE_PAIRS    4u
#define ROGUE_MESSAGES 8u /* most messages of a step */
#define ROGUE_HALF     32768u
#define ROGUE_ROOM     (2 * ROGUE_HALF) /* bytes of memory of each host */
#define ROGUE_SLOT     4096u            /* part of the upper half, for one message */
#define ROGUE_DONE     64u              /* most completions of a step in one lab */
#define ROGUE_DIFFERS  96u
#define ROGUE_OFFSETS  1024u
#define ROGUE_WANTS    32u
#define ROGUE_GUESTS   6u /* most guests that are rogues, one after the other */
#define ROGUE_BPS      UINT64_C(10000000000)
#define ROGUE_MTU      1024u
#define ROGUE_FRAME    (ROGUE_MTU + 74u) /* bytes: Ethernet, IPv4, UDP, BTH, RETH, ICRC, too */

/* The ends of attacks that the model knows. */
#define ROGUE_STOPS(X)                                                                             \
    X(OWN_DROP) /* the adapter drops the frames of the rogue: enum drop_reason */                  \
    X(DROP)     /* the port or queue pair of the victim drops them: enum drop_reason */            \
    X(ANSWER)   /* the victim answers, and its peer drops the answer: enum drop_reason */          \
    X(STATUS)   /* the rogue's own work request fails: enum wc_status */                           \
    X(REFUSED)  /* the call or request of the rogue fails: enum rdl_status */                      \
    X(REQUEST)  /* its device refuses what its kernel has written: enum refusal_reason */          \
    X(NOTHING)  /* nothing outside of the rogue's device changes */                                \
    X(SHARE)    /* it works, and takes time on the cable: turns bound it */                        \
    X(OPEN)     /* nothing stops it */

#define ROGUE_STOP_MEMBER(name) ROGUE_##name,
enum rogue_stop { ROGUE_STOPS(ROGUE_STOP_MEMBER) };
#undef ROGUE_STOP_MEMBER

struct rogue_attack {
    const char *name;
    enum rogue_stop stop;
    uint32_t value; /* as @stop says, otherwise 0 */
    bool (*act)(struct drill *d, const struct rogue_attack *a);
};

/* Two connected queue pairs of honest hosts. */
struct rogue_pair {
    struct rig_end end[2];
    rdl_cq cq[2][2]; /* of each end: for sends, for receives */
    uint32_t type;
};

/* An honest host.  The handles are equal in both labs. */
struct rogue_host {
    rdl_host host;
    rdl_pd pd;
    rdl_mr mr;
    uint64_t base;
    uint32_t lkey, rkey;
    struct rig_end ud;
    rdl_cq ud_cq[2];
    rdl_ah ah; /* to the next honest host */
};

/* The present rogue, and its end at h1: a service that it may use. */
struct rogue_guest {
    char name[RDL_NAME_BYTES];
    rdl_host host;
    bool has_vrnic;
    bool is_broken; /* its device is: another guest takes its place */
    uint32_t vf, device;
    rdl_pd pd;
    rdl_mr mr;
    uint64_t base;
    uint32_t lkey;
    rdl_cq cq[2], ud_cq[2]; /* for sends, for receives */
    struct rig_end end, ud;
    rdl_ah ah[ROGUE_HONEST]; /* raw 0: the centre forbids it */
};

struct rogue_service {
    rdl_pd pd;
    rdl_mr mr;
    uint64_t base;
    uint32_t rkey;
    rdl_cq cq[2];
    struct rig_end end;
};

/* The connection of rdma_cm between g1 and h1: its queue pairs are those of pair 1. */
struct rogue_cm {
    rdl_cm_channel channel[2];
    rdl_cm_id id[2];
};

/* A message of an honest host. */
struct rogue_message {
    uint32_t pair; /* ROGUE_PAIRS: a datagram */
    uint32_t from; /* index of the end, or of the host of a datagram */
    uint32_t opcode, bytes, at;
    uint64_t wr_id;
};

struct rogue_done {
    uint32_t host, qpn, status, op;
    uint64_t wr_id, at_ns;
};

struct rogue_difference {
    char path[RDL_PATH_BYTES];
    uint64_t by;
    bool is_seen; /* the tree has the path */
};

/* The events of a step in one lab. */
struct rogue_heard {
    const struct rogue_drill *drill;
    struct rogue_done done[ROGUE_DONE];
    uint32_t n_done;
    uint32_t frames;      /* that honest hosts have sent */
    uint64_t longest_ns;  /* time of the longest of them on the cable */
    uint32_t last_reason; /* of the last drop, with its host */
    uint32_t last_host, n_drops;
};

struct rogue_drill {
    struct rdl_lab *lab[ROGUE_LABS];
    struct rdl_listener *listener[ROGUE_LABS];
    struct rogue_heard heard[ROGUE_LABS];
    FILE *script; /* drill.script */
    rdl_host machine;
    uint64_t guarantee_bps; /* of the function of g1; 0: none */
    struct rogue_host honest[ROGUE_HONEST];
    struct rogue_pair pair[ROGUE_PAIRS];
    struct rogue_guest guest;
    struct rogue_service service;
    struct rogue_cm cm;
    uint32_t n_guests, n_functions; /* rogues so far; those with a virtual function */
    uint64_t wr_id;
    uint32_t n_messages;
    struct rogue_message message[ROGUE_MESSAGES];
    /* Of the present step. */
    bool is_quiet; /* the attack is over before honest messages are posted */
    uint32_t n_differs;
    struct rogue_difference differs[ROGUE_DIFFERS];
    /* Of all steps: by how much numbers are larger than in the twin, modulo 2^64. */
    uint32_t n_offsets;
    struct rogue_difference offset[ROGUE_OFFSETS];
    uint64_t line_ns;    /* time on the cable of frames that leave without a turn */
    uint32_t most_bytes; /* of a frame that takes its turn */
    uint8_t room[ROGUE_LABS][ROGUE_ROOM];
    bool has_flooded; /* network cards of honest hosts have got frames of the rogue */
    bool has_sent_cm; /* their connection managers have got messages of the rogue */
    bool has_uc;      /* the last pair is UC */
    bool has_failed;  /* the connection of the rogue will be in ERR */
    uint32_t n_wants; /* completions of the rogue that this step must have, in their order */
    uint32_t wants[ROGUE_WANTS]; /* enum wc_status */
};

static inline struct rogue_drill *rogue_of(struct drill *d)
{
    return d->own;
}

extern const char *const rogue_names[ROGUE_HONEST]; /* of the honest hosts */
extern const struct rogue_attack rogue_attacks[];
extern const uint32_t rogue_attacks_n;

/* --- Both labs (drill_rogue_twin.c) ----------------------------------------------------------- */

/* Makes lab @i the one that d->lab is. */
void rogue_switch(struct drill *d, uint32_t i);

/* Creates the twin and listens to both labs.  rogue_close() frees what rogue_open() has made. */
bool rogue_open(struct drill *d);
void rogue_close(struct drill *d);

/* Lets both labs advance for @ns. */
bool rogue_run_for(struct drill *d, uint64_t ns);

/* Lets the labs come to rest, and then brings both to the same time. */
bool rogue_settle(struct drill *d);

/* Announces that the number at the path @format is larger by @by than in the twin.  ROGUE_ANY: all
 * below that path may differ, because the rogue and its service use it, too.
 */
#define ROGUE_ANY UINT64_MAX
void rogue_differs(struct drill *d, uint64_t by, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Compares both labs after a step, and forgets the differences.  @all: see compare_tree(). */
bool rogue_compare(struct drill *d, bool all);

/* Time for which honest messages may be late in this step, in ns. */
uint64_t rogue_bound_ns(const struct rogue_drill *s);

/* --- The honest hosts and the objects of the rogue (drill_rogue_setup.c) ---------------------- */

/* Builds the labs. */
bool rogue_set_up(struct drill *d);

/* Adds a guest that is the rogue, to both labs. */
bool rogue_add_guest(struct drill *d);

/* Draws messages, and posts them in both labs. */
bool rogue_draw_messages(struct drill *d);
bool rogue_post_messages(struct drill *d);

/* Takes all completions of the honest hosts in both labs, and compares them. */
bool rogue_poll(struct drill *d);

/* Announces that the counters of h1's port and device differ: its service was used. */
void rogue_uses_service(struct drill *d);

/* Takes the completions of the rogue and checks that they are those that the attack wants. */
bool rogue_completes(struct drill *d);

/* Brings the connection of the rogue and its service to RTS again, in both labs. */
bool rogue_reconnect(struct drill *d);

/* Connects g1 and h1 by rdma_cm in the present lab (drill_rogue_cm.c). */
bool rogue_connect_cm(struct drill *d);

/* --- Frames (drill_rogue_frames.c) ------------------------------------------------------------ */

/* Sends the frame of @p from the rogue, with the tag of @vlan unless that is 0. */
bool rogue_send(struct drill *d, struct packet *p, const void *payload, uint32_t vlan);

/* Announces the counters of honest host @host that a frame of @bytes bytes changes, which arrives
 * there and is dropped for @reason; DROP_NONE: it is taken.
 */
void rogue_arrives(struct drill *d, uint32_t host, size_t bytes, uint32_t reason);

#define ATTACK(name, stop, value, ...)                                                             \
    bool rogue_##name(struct drill *d, const struct rogue_attack *a);
#define TOLD(...)
#include "swarm/drills/rogue_attacks.def"
#undef ATTACK
#undef TOLD

#endif
