/* SPDX-License-Identifier: MIT */
/* The simulated Ethernet: ports, links, learning switches, faults, ways out of the lab.
 *
 * A link has two ends, and an end is the port of a host, a port of a switch, or an external port.
 * A direction of a link sends one frame at a time: the frame occupies it for (bytes + 24) * 8 /
 * rate, preamble, FCS and gap included, and arrives one latency after its last bit left.
 *
 * A host's port pulls: its device asks net_port_free_at() and sends when the port is free, so hosts
 * never queue inside the network.  A switch stores and forwards; its queue is the time until the
 * direction is free, bounded by NET_QUEUE_BYTES_MAX.
 *
 * An external port is where frames from outside the lab come in and others go out.  What comes in
 * is pushed: it waits for its link as in a switch, with the same bound.
 *
 * Faults act where frames leave a host or an external port; a link's loss acts on every link that a
 * frame crosses.
 *
 * Every frame sent, and every copy that a fault or flooding makes, ends exactly once: delivered to
 * a host or out of the lab, dropped by a switch or port, or lost.  struct net_counts says so, each
 * place counts its own by reason, and the invariants check that the sums agree.
 */
#ifndef EMU_NET_NET_H
#define EMU_NET_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/hash_lists.h"
#include "emu/base/prng.h"
#include "emu/base/slots.h"
#include "emu/net/frame.h"
#include "emu/sim/sim.h"
#include "emu/trace/trace.h"
#include "emu/wire/addr.h"
#include "rdmalab/status.h"

#define NET_LINKS_MAX        65536u
#define NET_SWITCHES_MAX     4096u
#define NET_SWITCH_PORTS_MAX 4096u
#define NET_STATIONS_MAX     65536u /* that a switch remembers; a power of two */
#define NET_FAULTS_MAX       65536u
#define NET_ABOUT_BYTES      96u
#define NET_EXTS_MAX         EV_PORTS_MAX
#define NET_GAP_BYTES        24u        /* preamble 8, FCS 4, inter-frame gap 12 */
#define NET_FRAME_BYTES_MIN  60u        /* without the FCS; shorter ones occupy as much */
#define NET_QUEUE_BYTES_MAX  (4u << 20) /* of a switch's output, or an external port's input */
#define NET_LOOPBACK_NS      100u       /* a frame to the own MAC turns round inside the port */
#define NET_NO_LINK          UINT32_MAX
#define NET_LOST_IN_BURST    UINT32_MAX  /* in the place of a fault's number */
#define NET_TARGET_HOST      0x80000000u /* of SIM_ARRIVE: a host of its own accord, and no link */

enum net_node { NET_HOST, NET_SWITCH, NET_EXT };

struct net_end {
    enum net_node node;
    uint32_t index; /* of the host, switch or external port */
    uint32_t port;  /* of the switch; otherwise 0 */
};

/* What a direction of a link does to frames. */
struct net_way {
    uint64_t latency_ns, rate_bps;
    uint64_t jitter_ns; /* a frame takes up to so much longer; the order stays */
    uint32_t loss_ppm;
    /* Bursts of losses (Gilbert-Elliott): the chance that one begins with a frame, how many frames
     * it lasts on average, and the chance that a frame in it is lost.
     */
    uint32_t burst_ppm, burst_frames, burst_loss_ppm;
};

/* One direction of a link, from end i to end 1 - i. */
struct net_direction {
    uint64_t free_at_ns;
    struct net_way way;
    struct prng rng;     /* of all that is by chance */
    uint64_t arrives_ns; /* when the last frame arrives, as jitter has it */
    bool in_burst;
};

struct net_link {
    struct net_end end[2];
    struct net_direction dir[2];
    uint32_t n_faults, n_held; /* faults that are about this link; frames that wait on it */
    bool at_risk;              /* something may happen to a frame: see net_link_judge() */
    bool down;                 /* nothing enters it; what is on its way still arrives */
    uint64_t carried, lost;    /* frames, either way */
};

/* Where a station was seen last. */
struct net_station {
    uint64_t mac;
    uint32_t port; /* 1 more than its number; 0: this place of the table is free */
};

struct net_switch {
    struct ev_str name;
    uint32_t n_ports, ports_cap;
    uint32_t *link_end;                /* by port: link << 1 | the end that is ours */
    uint64_t rcvd_frames, sent_frames; /* each copy of a flooded one is sent */
    uint64_t drops[DROP_COUNT];
    /* By hash; one whose place is taken has the next free one behind it.  At most half of the
     * places are in use, and their number is a power of two.
     */
    struct net_station *stations;
    uint32_t n_stations, stations_cap;
};

/* An external port.  In events it is host EV_PORT_FIRST + its index. */
struct net_ext {
    struct ev_str name;
    uint32_t link_end; /* NET_NO_LINK: nothing is plugged in */
    uint64_t in_frames, in_bytes;
    uint64_t drops[DROP_COUNT]; /* of frames that came in */
    uint64_t out_frames, out_bytes;
};

enum net_match_field {
    NET_MATCH_HOST, /* that sends it, or external port */
    NET_MATCH_OPCODE,
    NET_MATCH_SYNDROME,
    NET_MATCH_PSN,
    NET_MATCH_DEST_QPN,
    NET_MATCH_FIELDS
};

#define NET_MATCH_ANY  UINT32_MAX
#define NET_MATCH_SETS (1u << NET_MATCH_FIELDS)

/* Which frames a fault is about: fields of a frame that have these values, or NET_MATCH_ANY. */
struct net_match {
    uint32_t field[NET_MATCH_FIELDS];
};

/* Which frames a fault is about, beside that: what no index finds.  All zero: all of them. */
struct net_aim {
    uint64_t to_mac;       /* the frame is addressed to this station */
    uint64_t qp_mac;       /* of the queue pair whose work the frame is for, its host's, */
    uint32_t qp_host, qpn; /* and itself; 0: any */
    uint32_t class;        /* enum packet_class */
    uint32_t transmission; /* the packet is sent for the n-th time */
    uint32_t message;      /* of the queue pair, counted since the fault is there */
    uint32_t link;         /* 1 + its index: the fault meets the frame there */
    bool (*where)(void *ctx, const struct ev *sent);
    void *where_ctx;
    /* While @message is followed: messages that began, the PSN of the first packet of the one that
     * is meant, and that of the next one.
     */
    uint32_t begun, psn, next_psn;
};

struct virtio_fault; /* of a device: the network only numbers and names it */

struct net_fault {
    uint64_t handle; /* its name in net->faults */
    uint32_t number; /* 1, 2, ... in order of creation, in which they are tried */
    struct ev_str name;
    enum fault_kind kind;
    struct net_match match;
    uint32_t nth;      /* matching frames to let pass, plus 1 */
    uint32_t count;    /* how many are still hit after that; UINT32_MAX: all */
    uint64_t delay_ns; /* FLT_REORDER: how long it is held at most */
    uint32_t corrupt_bit;
    uint32_t hold_frames; /* FLT_REORDER: how many frames overtake it */
    uint32_t to_bytes;    /* FLT_TRUNCATE */
    uint32_t field;       /* enum wire_field_id: FLT_FORGE, and FLT_CORRUPT instead of a bit */
    uint64_t value;       /* FLT_FORGE */
    struct net_aim aim;
    char about[NET_ABOUT_BYTES];   /* what people call it */
    struct virtio_fault *device;   /* it is about this, and meets no frame; NULL: about frames */
    uint32_t host, function;       /* whose that is */
    struct net_match key;          /* what the index finds it by: @match, or anything */
    bool on_link;                  /* at work in net->link_faults, and in no group */
    uint32_t seen, hits;           /* matching frames while it was at work; those that it hit */
    struct net_fault_group *group; /* NULL: its work is done, there is nothing left to hit */
    struct net_fault *next, *prev; /* of the group */
};

/* The faults at work that have the same match, oldest first.  There is one at least. */
struct net_fault_group {
    struct hash_node node; /* by match */
    struct net_match match;
    struct net_fault *first, *last;
};

/* The groups by their match.  A set of fields is in use while a group names just these and leaves
 * the others open: a frame is looked up once for each set in use, however many faults there are.
 */
struct net_fault_index {
    struct hash_lists groups;
    uint32_t groups_of[NET_MATCH_SETS]; /* by set */
    uint32_t sets;                      /* bit set: in use */
};

/* Frames and copies made, and how they ended. */
struct net_counts {
    uint64_t sent, copied;
    uint64_t delivered, lost, dropped, in_flight;
};

/* How the network reaches hosts and the outside, and whoever keeps the bytes of frames.  All borrow
 * the frame.
 */
struct net_ops {
    void (*deliver)(void *world, uint32_t host, struct frame *f);
    void (*leave)(void *world, uint32_t ext, const struct frame *f);
    /* Its bytes, under f->tx.  @changed: by a fault, since they were sent. */
    void (*keep)(void *world, const struct frame *f, bool changed);
    /* The event with which it was sent, for faults that want to know more than its note says; NULL:
     * nobody knows.  May be NULL itself.
     */
    const struct ev *(*sent)(void *world, const struct frame *f);
};

/* A frame that a fault holds back until others have overtaken it, or until it goes anyway. */
struct net_held {
    struct frame *frame;
    uint32_t target;    /* of SIM_ARRIVE */
    uint32_t left;      /* frames that are still to overtake it */
    sim_ticket ticket;  /* it goes anyway, */
    uint64_t latest_ns; /* then */
    struct net_held *next;
};

struct net {
    struct arena *arena;
    struct trace *trace;
    struct sim *sim;
    const struct net_ops *ops;
    void *world;
    uint64_t seed;
    struct net_link *links;
    uint32_t n_links, links_cap;
    struct net_switch **switches;
    uint32_t n_switches, switches_cap;
    struct net_ext exts[NET_EXTS_MAX];
    uint32_t n_exts;
    struct slots faults; /* of struct net_fault */
    struct net_fault_index fault_index;
    struct net_fault *link_faults; /* at work, that are about one link each, oldest first */
    uint32_t n_asking;             /* of these want to know with which event a frame was sent */
    struct net_held *held;         /* in the order in which they were held */
    uint32_t faults_made;
    struct net_counts counts;
};

void net_init(struct net *n, struct arena *a, struct sim *sim, const struct net_ops *ops,
              void *world, uint64_t seed);

/* All of them, whatever the reason. */
uint64_t net_drops_sum(const uint64_t drops[DROP_COUNT]);

/* The index of a new switch.  RDL_OK, RDL_ERR_LIMIT: NET_SWITCHES_MAX are there; RDL_ERR_NOMEM. */
enum rdl_status net_switch_add(struct net *n, const char *name, uint32_t *ret);

/* The index of a new external port, of which there are not yet NET_EXTS_MAX. */
uint32_t net_ext_add(struct net *n, const char *name);

/* What a link is made of: its ends, of which a switch's port is chosen when it is made. */
struct net_link_config {
    struct net_end end[2];
    uint64_t latency_ns, rate_bps;
    uint32_t loss_ppm;
};

/* Looks anew whether something may happen to a frame on the link. */
void net_link_judge(struct net_link *l);

/* The index of a new link.  RDL_OK, RDL_ERR_LIMIT: NET_LINKS_MAX are there, or
 * NET_SWITCH_PORTS_MAX of a switch; RDL_ERR_NOMEM.
 */
enum rdl_status net_link_add(struct net *n, const struct net_link_config *config, uint32_t *ret);

/* Makes a copy of @fault, whose number, counts and group are not looked at, one that is tried on
 * what is sent.  @ret is its name in n->faults.  RDL_OK, RDL_ERR_LIMIT: NET_FAULTS_MAX are there;
 * RDL_ERR_NOMEM.
 */
enum rdl_status net_fault_add(struct net *n, const struct net_fault *fault, uint64_t *ret);

/* The fault called @name in n->faults is gone.  There is one. */
void net_fault_remove(struct net *n, uint64_t name);

/* Can a frame leave over @link_end?  Not over NET_NO_LINK. */
static inline bool net_is_up(const struct net *n, uint32_t link_end)
{
    return link_end != NET_NO_LINK && !n->links[link_end >> 1].down;
}

/* When the direction that leaves a node over @link_end is free. */
uint64_t net_port_free_at(const struct net *n, uint32_t link_end);

/* Sends @f from a host now.  @link_end is link << 1 | own end, or NET_NO_LINK; false: it is not up,
 * @f was dropped with an event, and the host counts it.  Takes the reference.
 */
bool net_send(struct net *n, uint32_t link_end, struct frame *f);

/* Turns @f round to host @host itself.  Faults apply.  Takes the reference. */
void net_loop_back(struct net *n, uint32_t host, struct frame *f);

/* A frame from outside comes in through external port @ext now; f->note.host says so already.
 * Takes the reference.
 */
void net_ext_in(struct net *n, uint32_t ext, struct frame *f);

/* A copy of @f, which is about to be sent to a group, comes back to its own port.  Faults do not
 * meet it: it is on no line.
 */
void net_loop_copy(struct net *n, uint32_t host, const struct frame *f);

/* A frame from outside the lab arrives at @host's port in a tick of its own, now.  Takes the
 * reference.
 */
void net_inject(struct net *n, uint32_t host, struct frame *f);

/* Handlers of SIM_ARRIVE and SIM_LOST. */
void net_arrive(struct net *n, struct sim_item item);
void net_lost(struct net *n, struct sim_item item);

#endif
