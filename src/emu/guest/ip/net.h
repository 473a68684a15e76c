/* SPDX-License-Identifier: MIT */
/* The guest's network: its virtio-net driver and a small IP stack on top of it.
 *
 *	frame -> receive ring -> interrupt -> ARP | ICMP echo | neighbour discovery
 *	ping -> neighbour's MAC, asked for if need be -> frame -> transmit ring -> kick
 *	multicast group joined, left or asked for -> report -> transmit ring -> kick
 *
 * The guest has the two addresses of its GID table, IPv4 and IPv6, and takes every other address to
 * be on its link.  What waits for a neighbour's MAC, a frame or somebody who was told to wait, goes
 * on when the answer comes, or ends when nobody has answered GUEST_ARP_TRIES times.
 *
 * SIMPLIFIED: no routers, no fragments, no UDP or TCP, no duplicate address detection: what is left
 * is what RoCEv2 between neighbours needs, and ping.  A neighbour that was heard of is believed for
 * GUEST_NEIGHBOUR_NS without being probed.
 */
#ifndef EMU_GUEST_NET_H
#define EMU_GUEST_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/facts/device.h"
#include "emu/facts/enums.h"
#include "emu/facts/virtio/net.h"
#include "emu/guest/ip/directory.h"
#include "emu/guest/pci/pci.h"
#include "emu/sim/sim.h"
#include "emu/trace/trace.h"
#include "emu/wire/addr.h"
#include "emu/wire/igmp.h"
#include "rdmalab/status.h"

#define GUEST_ARP_TRIES         3u /* questions before a neighbour counts as absent */
#define GUEST_ARP_NS            1000000000u
#define GUEST_NEIGHBOUR_NS      60000000000u
#define GUEST_NEIGHBOURS_MAX    1024u
#define GUEST_NEIGHBOUR_LISTS   256u
#define GUEST_WAITING_MAX       4u  /* frames that wait for one neighbour */
#define GUEST_PINGS_MAX         64u /* remembered; so many may be under way */
#define GUEST_GROUPS_MAX        1024u
#define GUEST_NET_QUEUE_SIZE    32u
#define GUEST_NET_SMALL_BUFFERS 256u /* for the longest frame, in the smallest of them */
#define GUEST_NET_VECTOR_RX     1u

/* A frame that waits for a neighbour's MAC. */
struct guest_waiting {
    struct guest_waiting *next;
    uint32_t len;
    uint8_t bytes[];
};

struct guest_neighbour {
    uint8_t gid[GID_BYTES];
    uint8_t mac[MAC_BYTES];
    enum neighbour_state state;
    uint32_t next;     /* of the same hash: index + 1 */
    uint32_t attempts; /* questions asked, while INCOMPLETE */
    uint64_t heard_ns; /* when it was last heard of */
    sim_ticket timer;  /* of the question, while INCOMPLETE */
    uint32_t n_waiting;
    struct guest_waiting *waiting; /* first in, first out */
};

/* Those that are not in the directory: learnt from the network, or asked for. */
struct guest_neighbours {
    struct guest_neighbour *v; /* grows; entries keep their index */
    uint32_t n, cap;
    uint32_t hand;                         /* where the search for one to forget goes on */
    uint32_t lists[GUEST_NEIGHBOUR_LISTS]; /* by hash: index + 1 of the first */
};

/* A multicast group that the guest is in, or has left and still has to say so. */
struct guest_group {
    uint8_t gid[GID_BYTES];
    uint32_t members;         /* who joined it, and did not leave: 0 when only @timer runs */
    enum group_record record; /* of the report that is sent next, or was sent last */
    uint32_t left;            /* reports to be sent */
    sim_ticket timer;         /* until the next one; 0: there is none */
    uint64_t due_ns;
};

enum guest_ping_state { PING_NONE, PING_UNDER_WAY, PING_ANSWERED, PING_LOST };

struct guest_ping {
    enum guest_ping_state state;
    uint16_t seq;
    uint8_t dst[GID_BYTES];
    uint32_t bytes; /* of data */
    uint64_t sent_ns, rtt_ns;
    enum drop_reason reason; /* of a lost one; DROP_NONE: the time was up */
    sim_ticket timer;
};

struct guest_net_config {
    uint32_t host; /* named in events */
    uint8_t mac[MAC_BYTES];
    uint8_t gid[GUEST_GIDS][GID_BYTES]; /* its addresses */
    struct trace *trace;
    struct sim *sim;             /* for timers; NULL: there is no network function */
    struct directory *directory; /* who needs not be asked for; NULL: everybody is */
    uint32_t rx_buffer;          /* bytes of a receive buffer; 0: one has room for a whole frame */
    /* Somebody who got RDL_ERR_BUSY from guest_neighbour_resolve() may wait for this: the neighbour
     * @gid has answered, or (@mac is NULL) has not.
     */
    void (*resolved)(void *ctx, const uint8_t gid[GID_BYTES], const uint8_t *mac);
    void *resolved_ctx;
};

struct guest_net {
    struct guest_net_config config;
    struct arena *arena;
    struct guest_pci pci;
    uint64_t irqs; /* interrupts taken */
    bool up;       /* booted */
    bool broken;   /* the device gave back nonsense */
    uint16_t mtu;
    struct guest_queue queues[NET_QUEUES];
    /* Buffer i of a queue belongs to its descriptor i. */
    struct guest_net_slots {
        uint64_t gpa;
        uint32_t bytes, n; /* of each; how many there are */
    } slots[NET_QUEUES];
    uint32_t frame_bytes; /* room for a frame and its header */
    uint8_t *in, *out;    /* the frame being read, the one being built: frame_bytes each */
    uint32_t in_bytes;    /* header and frame that are read so far, */
    uint32_t in_left;     /* and buffers that the rest of it is in */
    uint64_t sent_frames, rcvd_frames;
    uint64_t taken_frames;      /* of those received: that said something new, or were answered */
    uint64_t drops[DROP_COUNT]; /* of frames received */
    uint64_t tx_drops[DROP_COUNT]; /* of frames that did not get away */
    struct guest_neighbours neighbours;
    struct guest_group *groups; /* grows; entries keep their index */
    uint32_t n_groups, groups_cap;
    struct guest_ping pings[GUEST_PINGS_MAX]; /* by seq modulo their number */
    uint16_t last_seq;
};

/* A stack that is not booted, on the function that @pci names. */
void guest_net_init(struct guest_net *net, struct arena *a, const struct guest_net_config *config,
                    const struct guest_pci *pci);

/* Brings the function up.  RDL_ERR_UNSUPPORTED: the device does not offer VERSION_1, or refused
 * the features.  RDL_ERR_NOMEM.  RDL_ERR_BROKEN: its numbers contradict each other.
 */
RDL_MUST_CHECK enum rdl_status guest_net_boot(struct guest_net *net);

/* An interrupt of virtio-net was delivered.  Unknown vectors are ignored. */
void guest_net_interrupt(struct guest_net *net, uint32_t vector);

/* @arg of a due SIM_GUEST_TIMER. */
void guest_net_timer(struct guest_net *net, uint64_t arg);

/* The directory has @gid from now on: if it is asked for, or was heard of, that is over. */
void guest_neighbour_told(struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* Finds the MAC of @gid, for *@ret_mac, or asks the link for it.
 *
 * RDL_OK: here it is.  RDL_ERR_BUSY: asked; what waits is told, by config.resolved() too.
 * RDL_ERR_NO_ROUTE: cannot ask, as the link is down or too many questions are open.
 */
RDL_MUST_CHECK enum rdl_status guest_neighbour_resolve(struct guest_net *net,
                                                       const uint8_t gid[GID_BYTES],
                                                       const uint8_t **ret_mac);

/* The MAC of @gid, also of an own one; NULL when none is known now. */
const uint8_t *guest_neighbour_mac(const struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* Somebody joins the multicast group @gid, or leaves it again: the link is told of the first and of
 * the last.  Beyond GUEST_GROUPS_MAX nobody is told anything.
 */
void guest_group_join(struct guest_net *net, const uint8_t gid[GID_BYTES]);
void guest_group_leave(struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* Sends an echo request with @bytes of data to @dst; given up after @timeout_ns.
 *
 * Return: RDL_OK           *@ret_seq is its number, for guest_ping_of()
 *	   RDL_ERR_INVAL    @dst is a group or none, or @bytes is more than the MTU allows
 *	   RDL_ERR_LIMIT    too many are under way
 *	   RDL_ERR_NO_ROUTE the link is down and @dst not known
 *	   RDL_ERR_BROKEN   virtio-net needs a reset; RDL_ERR_UNSUPPORTED: there is none
 */
RDL_MUST_CHECK enum rdl_status guest_ping(struct guest_net *net, const uint8_t dst[GID_BYTES],
                                          uint32_t bytes, uint64_t timeout_ns, uint16_t *ret_seq);

/* The ping numbered @seq; NULL when it was forgotten. */
const struct guest_ping *guest_ping_of(const struct guest_net *net, uint16_t seq);

#endif
