/* SPDX-License-Identifier: MIT */
/* The simulated Ethernet: ports, links, learning switches, faults, external ports.
 *
 * A link has two ends.  An end is the port of a host, a port of a switch, or an external port.
 * Each direction of a link sends one frame at a time.  A frame occupies the direction for (bytes +
 * 24) * 8 / rate, which includes preamble, FCS and gap.  It arrives one latency after its last bit
 * left.
 *
 * A host's port pulls: its device asks net_port_free_at() and sends when the port is free, so the
 * frames of hosts do not queue in the network.  A switch stores and forwards.  Its queue is the
 * time until the direction is free, bounded by NET_QUEUE_BYTES_MAX.
 *
 * Frames enter and leave the lab through external ports.  An incoming frame queues for its link as
 * in a switch, with the same bound.
 *
 * A fault acts where a frame leaves a host or an external port, or on one link.  The loss of a link
 * acts on every frame that crosses it.
 *
 * Every sent frame, and every copy made by a fault or by flooding, ends exactly once: it is
 * delivered to a host or out of the lab, dropped by a switch or port, or lost. struct net_counts
 * has the totals, each place counts its own drops by reason, and the invariants check that the sums
 * agree.
 */
#ifndef EMU_NET_NET_H
#define EMU_NET_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/hash_lists.h"
#include "emu/base/prng.h"
#include "emu/base/slots.h"
#include "emu/facts/drops.h"
#include "emu/net/frame.h"
#include "emu/sim/sim.h"
#include "emu/trace/fields.h"
#include "emu/wire/addr.h"
#include "rdmalab/status.h"

#define NET_LINKS_MAX        65536u
#define NET_SWITCHES_MAX     4096u
#define NET_SWITCH_PORTS_MAX 4096u
#define NET_STATIONS_MAX     65536u /* MAC addresses that a switch remembers; a power of two */
#define NET_FAULTS_MAX       65536u
#define NET_ABOUT_BYTES      96u /* size of the text in net_fault.about, with the NUL */
#define NET_EXTS_MAX         EV_PORTS_MAX
#define NET_GAP_BYTES        24u /* preamble 8, FCS 4, inter-frame gap 12 */
#define NET_FRAME_BYTES_MIN  60u /* without the FCS; shorter frames occupy the line as long */
#define NET_QUEUE_BYTES_MAX  (4u << 20) /* queue of a switch port or an external port */
#define NET_LOOPBACK_NS      100u       /* delay of a frame to the host's own MAC */
#define NET_NO_LINK          UINT32_MAX
#define NET_LOST_IN_BURST    UINT32_MAX  /* SIM_LOST target: lost in a burst, not by a fault */
#define NET_TARGET_HOST      0x80000000u /* SIM_ARRIVE target: a host, not a link */

enum net_node { NET_HOST, NET_SWITCH, NET_EXT };

struct net_end {
    enum net_node node;
    uint32_t index; /* index of the host, switch or external port */
    uint32_t port;  /* port of a switch; otherwise 0 */
};

/* The properties of one direction of a link. */
struct net_way {
    uint64_t latency_ns, rate_bps;
    uint64_t jitter_ns; /* maximum extra delay of a frame; the order is kept */
    uint32_t loss_ppm;  /* chance that a frame is lost, in parts per million */
    /* Loss bursts (Gilbert-Elliott model).  burst_ppm: chance that a frame starts a burst; 0: there
     * are no bursts.  burst_frames: mean length of a burst.  burst_loss_ppm: chance that a frame in
     * a burst is lost.
     */
    uint32_t burst_ppm, burst_frames, burst_loss_ppm;
};

/* The state of one direction of a link.  dir[i] of a link leads from end[i] to end[1 - i]. */
struct net_direction {
    uint64_t free_at_ns; /* time at which the last frame has left the sender */
    struct net_way way;
    struct prng rng;     /* for all random events of this direction */
    uint64_t arrives_ns; /* arrival of the last frame, with jitter */
    bool in_burst;       /* a burst of losses is in progress */
};

struct net_link {
    struct net_end end[2];
    struct net_direction dir[2];
    /* n_faults: number of active faults of this link.  n_held: number of frames that FLT_REORDER
     * holds on this link.
     */
    uint32_t n_faults, n_held;
    bool at_risk; /* frames may be lost or delayed: see net_link_judge() */
    bool down;    /* no frame can enter; frames on the wire still arrive */
    /* Numbers of frames in both directions together.  carried: frames that the link does not lose.
     * lost: frames that it loses.
     */
    uint64_t carried, lost;
};

/* An entry of the table of learnt MAC addresses. */
struct net_station {
    uint64_t key;  /* MAC address, and above it the number of its VLAN; 0: none */
    uint32_t port; /* port number + 1; 0: free entry */
};

struct net_switch {
    struct ev_str name;
    uint32_t n_ports, ports_cap;
    uint32_t *link_end;                /* for each port: link << 1 | end at this switch */
    uint64_t rcvd_frames, sent_frames; /* sent: a flooded frame counts once per port */
    uint64_t drops[DROPS_MAX];
    /* Hash table of MAC addresses in their VLANs, with linear probing.  The number of entries,
     * stations_cap, is 0 or a power of two.  At most half of the entries are used.
     */
    struct net_station *stations;
    uint32_t n_stations, stations_cap;
};

/* An external port.  In events it is host EV_PORT_FIRST + its index. */
struct net_ext {
    struct ev_str name;
    uint32_t link_end; /* link << 1 | own end; NET_NO_LINK: the port has no link */
    uint64_t in_frames, in_bytes;
    uint64_t drops[DROPS_MAX]; /* dropped incoming frames */
    uint64_t out_frames, out_bytes;
};

/* The fields of a frame that a fault can select in the index. */
enum net_match_field {
    NET_MATCH_HOST, /* the sender: a host or external port, frame_note.host */
    NET_MATCH_OPCODE,
    NET_MATCH_SYNDROME,
    NET_MATCH_PSN,
    NET_MATCH_DEST_QPN,
    NET_MATCH_FIELDS
};

#define NET_MATCH_ANY  UINT32_MAX
#define NET_MATCH_SETS (1u << NET_MATCH_FIELDS)

/* Indexed criteria of a fault: the required value of each field of a frame.  NET_MATCH_ANY: any
 * value.
 */
struct net_match {
    uint32_t field[NET_MATCH_FIELDS];
};

/* Other criteria of a fault, which are not indexed.  A criterion that is 0 or NULL does not
 * restrict the fault.
 */
struct net_aim {
    uint64_t to_mac; /* destination MAC of the frame */
    uint64_t qp_mac; /* MAC of host @qp_host */
    /* The frame is a request of queue pair @qpn of host @qp_host, or a response to it.  qpn 0: any
     * frame.
     */
    uint32_t qp_host, qpn;
    uint32_t class;        /* enum packet_class */
    uint32_t transmission; /* 1: the packet is sent for the first time; 2: for the second time */
    /* The frame belongs to this message of the queue pair.  Messages are counted from 1 since the
     * fault was added.
     */
    uint32_t message;
    uint32_t cm;   /* enum cm_message that the frame carries */
    uint32_t link; /* index + 1 of the link on which the fault acts; 0: it acts at the sender */
    /* Condition on the event that sent the frame, and on the frame.  @ctx is @where_ctx. */
    bool (*where)(void *ctx, const struct ev *sent, const uint8_t *frame, size_t bytes);
    void *where_ctx;
    /* If @message is not 0.  begun: number of messages started since the fault was added.  psn:
     * first PSN of message @message.  next_psn: first PSN of the message after it.
     */
    uint32_t begun, psn, next_psn;
};

struct device_fault; /* fault of a device: in the network it has only a handle, number and name */

struct net_fault {
    uint64_t handle; /* handle in net->faults */
    /* 1, 2, ... in the order of creation.  A frame meets the faults of its sender in this order,
     * and then the faults of each link in this order.
     */
    uint32_t number;
    struct ev_str name;
    uint32_t kind; /* enum fault_kind */
    struct net_match match;
    uint32_t nth;   /* the first matching frame to hit, from 1 */
    uint32_t every; /* from there on each matching frame of this number is hit; 0, 1: all */
    uint32_t count; /* hits that are left; UINT32_MAX: no limit */
    /* FLT_DELAY: extra delay.  FLT_DUPLICATE: delay of the copy.  FLT_REORDER: the longest time
     * that a frame is held.
     */
    uint64_t delay_ns;
    uint32_t corrupt_bit; /* FLT_CORRUPT: number of the bit, as in struct rdl_fault_config */
    uint32_t hold_frames; /* FLT_REORDER: number of frames that overtake a held one */
    uint32_t to_bytes;    /* FLT_TRUNCATE: bytes that remain of the frame */
    uint32_t field;       /* enum wire_field_id: FLT_FORGE, or FLT_CORRUPT instead of a bit */
    uint64_t value;       /* FLT_FORGE: new value of the field */
    struct net_aim aim;
    char about[NET_ABOUT_BYTES]; /* description of the fault by the user; "": none */
    /* The fault of a device, which hits no frames.  NULL: this is a fault of frames. */
    struct device_fault *device;
    uint32_t host, function; /* where that device is; function: enum pci_function */
    /* Criteria in the index: @match.  If aim.message is not 0: NET_MATCH_ANY in every field. */
    struct net_match key;
    bool on_link; /* in the list net->link_faults; it is then in no group */
    /* seen: number of matching frames while active.  hits: number of frames that it hit. */
    uint32_t seen, hits;
    struct net_fault_group *group; /* group in the index; NULL: not in the index */
    struct net_fault *next, *prev; /* neighbours in the group; next: also in net->link_faults */
};

/* The active faults with the same match, oldest first.  A group is never empty. */
struct net_fault_group {
    struct hash_node node; /* hashed by match */
    struct net_match match;
    struct net_fault *first, *last;
};

/* The groups, indexed by their match.  The match of a group restricts a set of fields.  A frame is
 * looked up once for each set that a group restricts, however many faults there are.
 */
struct net_fault_index {
    struct hash_lists groups;
    uint32_t groups_of[NET_MATCH_SETS]; /* number of groups for each set of fields */
    uint32_t sets;                      /* bit i: groups_of[i] is not 0 */
};

/* Numbers of frames.  sent + copied is always delivered + lost + dropped + in_flight.  Messages
 * that net_carry() carries are not frames.
 */
struct net_counts {
    uint64_t sent, copied;
    uint64_t delivered, lost, dropped, in_flight; /* delivered: to a host, or out of the lab */
};

/* Callbacks to the lab.  deliver() passes a frame to a host, leave() out of the lab.  No callback
 * takes the reference of the frame.
 */
struct net_ops {
    void (*deliver)(void *world, uint32_t host, struct frame *f);
    void (*leave)(void *world, uint32_t ext, const struct frame *f);
    /* Records the bytes of @f under f->tx.  @changed: a fault has changed them. */
    void (*keep)(void *world, const struct frame *f, bool changed);
    /* Returns the event that sent @f, or NULL if the event is unknown.  Called for faults whose
     * criteria need the event.  The result is used only until the next event is emitted.  The
     * callback may be NULL, as if every event were unknown.
     */
    const struct ev *(*sent)(void *world, const struct frame *f);
};

/* A frame that FLT_REORDER holds until other frames have overtaken it, or until latest_ns. */
struct net_held {
    struct frame *frame;
    uint32_t target;    /* target of SIM_ARRIVE: where the frame will arrive */
    uint32_t left;      /* number of frames that must still overtake it */
    sim_ticket ticket;  /* scheduled arrival at latest_ns */
    uint64_t latest_ns; /* time of arrival if too few frames overtake it */
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
    struct slots faults; /* objects are struct net_fault */
    struct net_fault_index fault_index;
    struct net_fault *link_faults; /* active faults of links, oldest first */
    uint32_t n_asking;             /* number of link_faults that need the event that sent a frame */
    struct net_held *held;         /* list of held frames, oldest first */
    uint32_t faults_made;          /* number of the fault that was added last; 0: none yet */
    struct net_counts counts;
};

/* Initializes a network without links.  @world is the argument of the callbacks @ops.  @seed is the
 * seed of all random events of links.
 */
void net_init(struct net *n, struct arena *a, struct sim *sim, const struct net_ops *ops,
              void *world, uint64_t seed);

/* Schedules the arrival of @f at host @host, NET_LOOPBACK_NS from now.  @f has a message in place
 * of bytes (frame.cargo): faults of frames do not meet it, and it is not recorded.  Takes the
 * reference.
 */
void net_carry(struct net *n, uint32_t host, struct frame *f);

/* Returns the sum of @drops over all reasons. */
uint64_t net_drops_sum(const uint64_t drops[DROPS_MAX]);

/* Adds a switch.  *@ret is its index.
 *
 * Return: RDL_OK
 *	   RDL_ERR_LIMIT  there are NET_SWITCHES_MAX switches
 *	   RDL_ERR_NOMEM  the arena is full
 */
enum rdl_status net_switch_add(struct net *n, const char *name, uint32_t *ret);

/* Adds an external port without a link.  Returns its index, or UINT32_MAX if there are NET_EXTS_MAX
 * ports.
 */
uint32_t net_ext_add(struct net *n, const char *name);

/* The configuration of a new link.  net_link_add() chooses the port of a switch. */
struct net_link_config {
    struct net_end end[2];
    uint64_t latency_ns, rate_bps;
    uint32_t loss_ppm;
};

/* Sets l->at_risk if the link has faults, held frames, loss, bursts or jitter; otherwise clears it.
 * Call it after each change of these properties.
 */
void net_link_judge(struct net_link *l);

/* Adds a link.  *@ret is its index.
 *
 * Return: RDL_OK
 *	   RDL_ERR_LIMIT  there are NET_LINKS_MAX links, or NET_SWITCH_PORTS_MAX at a switch
 *	   RDL_ERR_NOMEM  the arena is full
 */
enum rdl_status net_link_add(struct net *n, const struct net_link_config *config, uint32_t *ret);

/* Adds a copy of @fault and activates the copy.  Ignores the handle, number, key, on_link, seen,
 * hits and group of @fault.  *@ret is the handle of the new fault.
 *
 * Return: RDL_OK
 *	   RDL_ERR_LIMIT  there are NET_FAULTS_MAX faults
 *	   RDL_ERR_NOMEM  the arena is full
 */
enum rdl_status net_fault_add(struct net *n, const struct net_fault *fault, uint64_t *ret);

/* Deactivates and frees the fault with the handle @name, which must be valid. */
void net_fault_remove(struct net *n, uint64_t name);

/* Returns true if a frame can leave over @link_end (link << 1 | own end): @link_end is not
 * NET_NO_LINK, and the link is up.
 */
static inline bool net_is_up(const struct net *n, uint32_t link_end)
{
    return link_end != NET_NO_LINK && !n->links[link_end >> 1].down;
}

/* Returns the time in ns at which the direction that leaves @link_end (link << 1 | own end) can
 * send the next frame.  The time is not later than now if the direction is free.
 */
uint64_t net_port_free_at(const struct net *n, uint32_t link_end);

/* Sends @f from a host now.  @link_end is link << 1 | own end, or NET_NO_LINK.  If the port has no
 * link or the link is down, drops @f with an event and returns false; the caller counts the drop.
 * Takes the reference.
 */
bool net_send(struct net *n, uint32_t link_end, struct frame *f);

/* Drops @f at @host, whose port was about to send it: counts and records it as sent.  The caller
 * counts the drop.  Takes the reference.
 */
void net_refuse(struct net *n, struct frame *f, uint32_t host, uint32_t reason);

/* Sends @f from @host to itself: it arrives after NET_LOOPBACK_NS.  Faults of the sender apply.
 * Takes the reference.
 */
void net_loop_back(struct net *n, uint32_t host, struct frame *f);

/* Brings @f into the lab through external port @ext now.  The caller has set f->note.host.  The
 * frame is dropped with an event, and counted in the port's drops, if the port has no link that is
 * up or its queue is full.  Takes the reference.
 */
void net_ext_in(struct net *n, uint32_t ext, struct frame *f);

/* Sends a copy of @f back to its sender @host, after NET_LOOPBACK_NS.  @f is a frame that @host
 * sends to a multicast group.  Faults do not apply to the copy.  The reference of @f stays with the
 * caller.
 */
void net_loop_copy(struct net *n, uint32_t host, const struct frame *f);

/* Schedules the delivery of a frame from outside the lab to the port of @host: a SIM_ARRIVE at the
 * present time.  Takes the reference.
 */
void net_inject(struct net *n, uint32_t host, struct frame *f);

/* net_arrive() is the handler of SIM_ARRIVE: a frame arrives at the end of a link or at a host.
 * net_lost() is the handler of SIM_LOST: a frame is lost.
 */
void net_arrive(struct net *n, struct sim_item item);
void net_lost(struct net *n, struct sim_item item);

#endif
