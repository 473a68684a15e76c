/* SPDX-License-Identifier: MIT */
/* The embedded switch of an adapter whose functions have ports of their own.
 *
 *	PF, port 0 ----+
 *	VF 0, port 1 --+-- switch ---- line
 *	VF 1, port 2 --+
 *
 * Each port is the Ethernet port of a host (eth_port.h): that of the machine, or of a guest.  Hosts
 * may share a port, as ipvlan of Linux lets them in its mode l2: they are *tenants* of the port.
 * They have its MAC, its VLAN and its settings, and are told apart by their IP addresses.
 *
 * Transmit: as the port of an ordinary host, the switch takes one frame at a time when the line is
 * free, from its ports in turn.  So frames of guests wait in their queues, and the adapter drops
 * none for want of room.  A port with a guaranteed rate goes first until it has got it.  A port
 * with a maximum waits after each frame until the frame has had its time.  Neither changes the
 * order of the others.  A frame whose source is not the port's MAC is dropped if the spoof check is
 * on.
 *
 * A port is in one VLAN, or in none: that of struct eth_port, which tags and untags.  Ports of
 * other VLANs do not get its frames.
 *
 * Tenants of a port take turns.  A tenant other than the machine may only send from its own IP
 * addresses, or from none, unless the spoof check of a virtual function is off.
 *
 * A frame to the MAC of a port takes NET_LOOPBACK_NS and does not use the line.  A frame to a group
 * leaves by the line, and all other ports get a copy.  Any other frame leaves by the line.  A port
 * whose link is down sends and receives nothing but frames to itself, as any host without a cable.
 *
 * Shortcut: if the adapter has one, a message of a connection between two tenants in one VLAN goes
 * from memory to memory instead, without frames (xport/whole.h).  It takes its turn, its time of a
 * maximum, and NET_LOOPBACK_NS, as frames do.
 *
 * Receive: a frame from the line goes to the port with its destination, or to all ports if that is
 * a group.  A frame that no port takes is dropped.  The reason is OTHER_VLAN if its destination
 * is the MAC of a port in another VLAN, otherwise NOT_FOR_US.
 *
 * Of the tenants of a port the one with the IP destination gets a frame: with the target, of ARP
 * and of neighbour discovery.  If none has it, the first one gets the frame, and drops it as a host
 * with a port of its own would.  A frame to a group goes to all tenants.
 *
 * Port 0 may have a multiplexer of connection managers (cm_mux.h).  It learns from the messages
 * that tenants send, and decides which tenant gets one that arrives.
 *
 * SIMPLIFIED: moving data between functions costs no time on the bus, and a port takes frames to
 * its own MAC alone: there is no promiscuous mode.  [decisions 0066 and 0070]
 */
#ifndef EMU_RNIC_ESWITCH_H
#define EMU_RNIC_ESWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/net/net.h"
#include "rdmalab/machine.h"

#define ESWITCH_LISTS 64u /* hash lists of ports by MAC */
#define ESWITCH_PF    0u  /* port of the physical function */

struct cm_mux;
struct eth_port;

/* Counters of a port, in addition to those of its struct eth_port. */
struct vport_counts {
    uint64_t local_frames; /* sent to other ports of the switch */
    uint64_t copied;       /* messages, answers too, that went whole to other ports */
    uint64_t copied_bytes; /* of their payload */
    uint64_t whole_frames; /* frames that they stand for */
    uint64_t rcvd_broadcast, rcvd_multicast;
    uint64_t tx_dropped; /* frames of its guest that the switch dropped */
};

struct vport {
    struct eth_port *port; /* the first tenant; NULL: no guest uses the function */
    struct eth_port *turn; /* the tenant that sends next if it has a frame */
    struct rdl_vf_settings set;
    struct vport_counts counts;
    uint64_t passed, left; /* frames passed to its tenants; of these, to tenants that have left */
    uint32_t next_in_list; /* next port in the same hash list, counted from 1; 0: none */
    bool is_waiting;       /* the port is in eswitch.queue */
    uint64_t next_ns;      /* earliest time of its next frame, by the maximum */
    /* Clock of the guarantee: each frame moves it forward by its duration at the guaranteed rate.
     * While it is behind the present time, the port has got less than its guarantee.  It is ahead
     * by one frame at most.
     */
    uint64_t paid_ns;
};

struct eswitch {
    uint32_t host; /* the machine: where SIM_EGRESS and frames of the line arrive */
    struct net *net;
    uint32_t link_end; /* NET_NO_LINK: no cable */
    struct vport *ports;
    uint32_t n_ports;
    uint32_t n_enabled; /* virtual functions that exist: the first ones; others have no link */
    uint32_t lists[ESWITCH_LISTS]; /* first port of each hash list, counted from 1; 0: none */
    bool shortcut;                 /* the adapter has one */
    uint32_t n_guaranteed;         /* number of ports with a guarantee */
    uint32_t *queue;               /* ring of n_ports: ports that may have a frame */
    uint32_t first, len;
    bool egress_due; /* SIM_EGRESS is scheduled for egress_ns */
    uint64_t egress_ns;
    sim_ticket egress;
    uint64_t local_free_at_ns;        /* time at which the way between ports is free again */
    uint64_t sent_frames, sent_bytes; /* by the line */
    uint64_t arrived;                 /* frames that came from the line or from a port */
    uint64_t passed, copies;          /* frames passed to ports; passed to a further port */
    uint64_t drops[DROPS_MAX];        /* frames that no port took, by reason */
    uint64_t lost;      /* messages that went whole and no port took, in @drops, too */
    struct cm_mux *mux; /* of ESWITCH_PF; NULL: there is none */
    /* Passes @f to the host of @p, which calls eth_port_deliver(). */
    void (*pass)(void *world, struct eth_port *p, const struct frame *f);
    void *world;
};

/* Returns the message that @f has in place of bytes; NULL: it has bytes. */
static inline const struct whole *whole_of(const struct frame *f)
{
    return (const struct whole *)(const void *)f->cargo;
}

/* Returns the bytes that the frames of the message @f would take at its sender or receiver @p. */
uint64_t eswitch_whole_bytes(const struct eth_port *p, const struct frame *f);

/* The port of virtual function @vf, and the number of virtual functions: port 0 is the PF's. */
static inline uint32_t eswitch_port_of_vf(uint32_t vf)
{
    return vf + 1;
}
static inline uint32_t eswitch_vfs(const struct eswitch *s)
{
    return s->n_ports - 1;
}

/* Initializes a switch with @n_ports ports, which no host uses.  Returns false if the arena is
 * full.  @pass is called with @world.
 */
bool eswitch_init(struct eswitch *s, struct arena *a, struct net *net, uint32_t host,
                  uint32_t n_ports,
                  void (*pass)(void *world, struct eth_port *p, const struct frame *f),
                  void *world);

/* Makes @p the last tenant of port @number.  Unless it is the only one, it has the MAC of the port,
 * eswitch_mac(); while it is a tenant, its VLAN is that of the first one.
 */
void eswitch_join(struct eswitch *s, uint32_t number, struct eth_port *p);

/* Takes the tenant @p from its port.  The settings of the port stay. */
void eswitch_leave(struct eth_port *p);

/* Changes the settings of port @number to @to, which rdl_vf_set() has checked. */
void eswitch_set(struct eswitch *s, uint32_t number, const struct rdl_vf_settings *to);

/* Returns the MAC that counts as that of port @number; NULL: nobody uses it, and none was set. */
const uint8_t *eswitch_mac(const struct eswitch *s, uint32_t number);

/* Returns true if port @number can send and receive. */
bool eswitch_is_up(const struct eswitch *s, uint32_t number);

/* Returns true if the tenant @p reaches the RNIC with the GID @gid at the MAC @mac by the shortcut:
 * frames from the one to the other would be passed.
 */
bool eswitch_reaches(const struct eth_port *p, const uint8_t mac[MAC_BYTES],
                     const uint8_t gid[GID_BYTES]);

/* Adds port @number, which may have a frame, to the queue.  Sends a frame of the port whose turn it
 * is if the line is free, and schedules SIM_EGRESS for the next.
 */
void eswitch_pump(struct eswitch *s, uint32_t number);

/* Handler of SIM_EGRESS. */
void eswitch_egress(struct eswitch *s);

/* Sends @f from the tenant @p now, whether the line is free or not.  Takes the reference. */
void eswitch_send(struct eth_port *p, struct frame *f);

/* Processes a frame that came by the line or from a port.  The caller keeps ownership of @f. */
void eswitch_deliver(struct eswitch *s, const struct frame *f);

/* Checks the invariants of port @number, which a host uses, and of the counters of the switch,
 * between calls.  Returns NULL if all hold, otherwise a text that describes the violated one.
 */
const char *eswitch_invariant(const struct eswitch *s, uint32_t number);

#endif
