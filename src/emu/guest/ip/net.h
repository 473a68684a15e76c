/* SPDX-License-Identifier: MIT */
/* The guest's network: its virtio-net driver and a small IP stack.
 *
 *	frame -> receive ring -> interrupt -> ARP | ICMP echo | neighbour discovery
 *	ping -> neighbour's MAC, resolved if necessary -> frame -> transmit ring -> kick
 *	multicast group joined, left or queried -> report -> transmit ring -> kick
 *
 * The guest has the two addresses of its GID table, IPv4 and IPv6, and treats every other address
 * as being on its link.  Frames and callers that wait for a neighbour's MAC continue when the
 * answer comes.  They fail after GUEST_ARP_TRIES unanswered requests.
 *
 * SIMPLIFIED: no routers, fragments, UDP, TCP or duplicate address detection.  The rest is what
 * RoCEv2 between neighbours and ping need.  A learnt neighbour stays valid for GUEST_NEIGHBOUR_NS
 * without being probed.
 */
#ifndef EMU_GUEST_NET_H
#define EMU_GUEST_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/facts/drops.h"
#include "emu/facts/enum/neighbour.h"
#include "emu/facts/roce.h"
#include "emu/facts/virtio/net.h"
#include "emu/guest/ip/directory.h"
#include "emu/guest/pci/driver.h"
#include "emu/guest/virtio/virtio.h"
#include "emu/sim/sim.h"
#include "emu/wire/addr.h"
#include "emu/wire/igmp.h"
#include "rdmalab/status.h"

#define GUEST_ARP_TRIES       3u           /* requests before a neighbour counts as absent */
#define GUEST_ARP_NS          1000000000u  /* time from one request to the next */
#define GUEST_NEIGHBOUR_NS    60000000000u /* time for which a learnt neighbour stays valid */
#define GUEST_NEIGHBOURS_MAX  1024u
#define GUEST_NEIGHBOUR_LISTS 256u
#define GUEST_WAITING_MAX     4u  /* frames queued per neighbour */
#define GUEST_PINGS_MAX       64u /* number of latest pings that are kept */
#define GUEST_GROUPS_MAX      1024u
#define GUEST_NET_QUEUE_SIZE  32u
/* number of receive buffers with MRG_RXBUF, where a frame may take several */
#define GUEST_NET_SMALL_BUFFERS 256u
#define GUEST_NET_VECTOR_RX     1u

/* A frame that is queued until the MAC of its destination is known. */
struct guest_waiting {
    struct guest_waiting *next;
    uint32_t len;
    uint8_t bytes[];
};

struct guest_neighbour {
    uint8_t gid[GID_BYTES];
    uint8_t mac[MAC_BYTES];
    enum neighbour_state state;
    uint32_t next;     /* next in the same hash list: index + 1; 0: none */
    uint32_t attempts; /* number of requests sent, while INCOMPLETE */
    uint64_t heard_ns; /* time of the last answer or request from the neighbour */
    sim_ticket timer;  /* timer of the next request, while INCOMPLETE; 0: none */
    uint32_t n_waiting;
    struct guest_waiting *waiting; /* frames waiting for the MAC, first in, first out */
};

/* Neighbours that are not in the directory: learnt from the network, or being resolved. */
struct guest_neighbours {
    struct guest_neighbour *v; /* a growing array; entries keep their index */
    uint32_t n, cap;
    uint32_t hand; /* index at which the search for a reusable entry goes on */
    uint32_t lists[GUEST_NEIGHBOUR_LISTS]; /* hash lists: index + 1 of the first entry; 0: empty */
};

/* A multicast group that the guest is in, or has left with a report still to be sent. */
struct guest_group {
    uint8_t gid[GID_BYTES];
    uint32_t members; /* number of joins without a leave; 0 while only @timer runs */
    enum group_record
        record;       /* type of the next report while @timer runs, otherwise of the last one */
    uint32_t left;    /* number of reports still to be sent */
    sim_ticket timer; /* timer of the next report; 0: not running */
    uint64_t due_ns;  /* time of the next report; valid while @timer runs */
};

enum guest_ping_state { PING_NONE, PING_UNDER_WAY, PING_ANSWERED, PING_LOST };

struct guest_ping {
    enum guest_ping_state state;
    uint16_t seq;
    uint8_t dst[GID_BYTES];
    uint32_t bytes;           /* length of the data in bytes */
    uint64_t sent_ns, rtt_ns; /* time of the request; round trip time, valid when ANSWERED */
    uint32_t reason;          /* enum drop_reason, valid when LOST; DROP_NONE: timeout */
    sim_ticket timer;
};

struct guest_net_config {
    uint32_t host; /* host number for events */
    uint8_t mac[MAC_BYTES];
    uint8_t gid[GUEST_GIDS][GID_BYTES]; /* addresses of the guest */
    /* GUEST_GIDS further addresses, one behind the other, whose neighbours the guest answers: those
     * on the wire of a virtual RNIC, which its programs do not know.  NULL: none.
     */
    const uint8_t *wire_gid;
    struct trace *trace;
    struct sim *sim;             /* schedules the timers; NULL: there is no network function */
    struct directory *directory; /* addresses that are never resolved over the link; NULL: none */
    uint32_t rx_buffer;          /* bytes of a receive buffer; 0: each holds a whole frame */
    /* Called when a resolution of @gid ends, and when the guest learns a MAC of @gid without one.
     * @mac is NULL if the neighbour did not answer.  resolved can be NULL.
     */
    void (*resolved)(void *ctx, const uint8_t gid[GID_BYTES], const uint8_t *mac);
    void *resolved_ctx;
};

struct guest_net {
    struct guest_net_config config;
    struct arena *arena;
    struct guest_virtio virtio;
    uint64_t irqs; /* interrupts handled */
    bool up;       /* the driver has booted */
    bool broken;   /* the device wrote something malformed */
    uint16_t mtu;  /* maximum length of an IP packet in bytes */
    struct guest_queue queues[NET_QUEUES];
    /* Buffer i of a queue belongs to its descriptor i. */
    struct guest_net_slots {
        uint64_t gpa;
        uint32_t bytes, n; /* bytes of each buffer; number of buffers */
    } slots[NET_QUEUES];
    uint32_t frame_bytes; /* the largest frame with its virtio-net header */
    uint8_t *in, *out;    /* frame being received, frame being built: frame_bytes each */
    uint32_t in_bytes;    /* bytes of @in received so far, including the virtio-net header */
    uint32_t in_left;     /* number of buffers that hold the rest of the frame */
    uint64_t sent_frames, rcvd_frames;
    uint64_t taken_frames;        /* received frames that were used or answered */
    uint64_t drops[DROPS_MAX];    /* received frames that were dropped, by reason */
    uint64_t tx_drops[DROPS_MAX]; /* frames that could not be sent, by reason */
    struct guest_neighbours neighbours;
    struct guest_group *groups; /* a growing array; entries keep their index */
    uint32_t n_groups, groups_cap;
    struct guest_ping pings[GUEST_PINGS_MAX]; /* indexed by seq modulo GUEST_PINGS_MAX */
    uint16_t last_seq;
};

/* Initialises a stack that is not booted, for the function that @pci describes. */
void guest_net_init(struct guest_net *net, struct arena *a, const struct guest_net_config *config,
                    const struct guest_pci *pci);

/* The driver of virtio-net, whose state is a struct guest_net.  boot() initialises the function and
 * fills its receive queue.  It returns RDL_ERR_UNSUPPORTED if a structure is missing, VERSION_1 is
 * not offered, or the device refused the features.
 */
extern const struct pci_driver guest_net_driver;

/* Handler of SIM_GUEST_TIMER with argument @arg: carries out the timer of a neighbour, a ping or a
 * group.
 */
void guest_net_timer(struct guest_net *net, uint64_t arg);

/* Called when the directory has got an entry for @gid: ends a resolution of @gid, and makes a
 * learnt entry PERMANENT.
 */
void guest_neighbour_told(struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* Announces that the guest has the IPv4 address @gid, by a request that asks for its own address
 * [RFC 5227]: switches learn where its MAC is now.
 */
void guest_net_announce(struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* Looks up the MAC of @gid, or starts resolving it over the link.
 *
 * Returns RDL_OK with *@ret_mac, which is valid until the neighbours change; RDL_ERR_BUSY if
 * resolution is under way and config.resolved() follows; or RDL_ERR_NO_ROUTE if the link is down,
 * @gid cannot be resolved or too many resolutions are under way.
 */
RDL_MUST_CHECK enum rdl_status guest_neighbour_resolve(struct guest_net *net,
                                                       const uint8_t gid[GID_BYTES],
                                                       const uint8_t **ret_mac);

/* Returns the MAC of @gid, which may be the guest's own address.  Returns NULL if it is not known
 * now.
 */
const uint8_t *guest_neighbour_mac(const struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* Joins the multicast group @gid, or leaves it.  The first join and the last leave are reported to
 * the link.  Joins beyond GUEST_GROUPS_MAX groups are ignored.
 */
void guest_group_join(struct guest_net *net, const uint8_t gid[GID_BYTES]);
void guest_group_leave(struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* Sends an echo request with @bytes of data to @dst.  The ping is lost after @timeout_ns.
 *
 *  Return: RDL_OK           *@ret_seq is its number, for guest_ping_of()
 *	   RDL_ERR_INVAL    @dst is no unicast address, the guest has no address of its IP version,
 *	                    or @bytes is more than the MTU allows
 *	   RDL_ERR_LIMIT    the ping GUEST_PINGS_MAX before this one is still under way
 *	   RDL_ERR_NO_ROUTE the link is down and @dst is not known
 *	   RDL_ERR_BROKEN   virtio-net needs a reset; RDL_ERR_UNSUPPORTED: not booted
 */
RDL_MUST_CHECK enum rdl_status guest_ping(struct guest_net *net, const uint8_t dst[GID_BYTES],
                                          uint32_t bytes, uint64_t timeout_ns, uint16_t *ret_seq);

/* Returns the ping numbered @seq, or NULL if there is none or its entry was reused. */
const struct guest_ping *guest_ping_of(const struct guest_net *net, uint16_t seq);

#endif
