/* SPDX-License-Identifier: MIT */
/* The Ethernet port of a host.  Several devices use it: RNICs, and one network device.
 *
 * Transmit: a user that has frames calls eth_port_wait() and then eth_port_pump().  The port takes
 * one frame at a time when its line is free, from the users in turn.  A frame to the port's own MAC
 * is looped back inside the port.  A RoCEv2 frame to a multicast group that an RNIC is in is sent
 * and also looped back.
 *
 * Receive: frames to the own MAC or to a multicast MAC are accepted.  A RoCEv2 packet to a GID of
 * an RNIC goes to this RNIC, one to a multicast group to all RNICs whose queue pairs are in it. All
 * other frames go to the network device.  The port does not check packets any further: a damaged
 * RoCEv2 packet goes to the RNIC, which drops it with a reason.
 *
 * VLAN: a port with a VLAN tags every frame that it sends, takes only frames with a tag of its
 * VLAN, and removes the tag.  A port without one takes frames without a tag, and those of VLAN 0,
 * whose tag has only a priority.  Users never see the port's tags; events and records of sent
 * frames have the bytes on the wire.
 *
 * The port has a line of its own, or is one of several at an embedded switch (eswitch.h), which
 * then takes its frames and passes it those for its MAC.  Several hosts may share a port of the
 * switch and its MAC: the struct eth_port of each is then a tenant of that port.
 */
#ifndef EMU_RNIC_ETH_PORT_H
#define EMU_RNIC_ETH_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cold.h"
#include "emu/facts/compared.h"
#include "emu/net/net.h"
#include "emu/wire/addr.h"
#include "emu/wire/vlan.h"

#define ETH_PORT_USERS_MAX 8u

/* Numbers of units of work that all devices of a lab have done, by kind of work. */
struct progress {
    uint64_t chains; /* descriptor chains taken or completed */
    uint64_t wqes, packets, timers, cqes;
};

/* Callbacks from the port to a user. */
struct eth_user_ops {
    /* Returns true if the user may have a frame to send.  Only called after eth_port_wait(). */
    bool (*has_frame)(const void *ctx);
    /* Returns the next frame, with its note set and its tx event emitted.  The length in the event
     * includes eth_port_tag_bytes(); the frame should have room for as much.  The port owns the
     * frame then.  Returns NULL if there is none.
     */
    struct frame *(*take_frame)(void *ctx);
    /* Returns true if @dst is a GID of this RNIC.  NULL: the user is the network device. */
    bool (*owns)(const void *ctx, const uint8_t dst[GID_BYTES]);
    /* Returns true if a queue pair of the RNIC is in the multicast group @dst.  NULL exactly if
     * owns is NULL.
     */
    bool (*is_member)(const void *ctx, const uint8_t dst[GID_BYTES]);
    /* Passes the received frame @f to the user.  The port keeps ownership of @f. */
    void (*deliver)(void *ctx, const struct frame *f);
};

struct eswitch;

struct eth_user {
    const struct eth_user_ops *ops;
    void *ctx;
};

struct eth_port {
    uint32_t host;
    uint8_t mac[MAC_BYTES];
    uint32_t mtu; /* maximum length of an IP packet in bytes, for all users */
    uint32_t vid; /* VLAN of the port, 1 to VLAN_VID_MAX; 0: none */
    uint32_t pcp; /* priority in its tags */
    struct net *net;
    struct trace *trace;
    struct progress *progress;
    struct eth_user users[ETH_PORT_USERS_MAX];
    uint32_t n_users;
    unsigned waiting;   /* set of 1 << user: users that may have a frame; the others have none */
    uint32_t turn;      /* user from which the next frame is taken if it has one */
    bool egress_due;    /* a SIM_EGRESS is scheduled */
    uint32_t link_end;  /* the link end that the port is; NET_NO_LINK: no link */
    struct eswitch *sw; /* the switch that the port is at; NULL: it has a line of its own */
    uint32_t vport;     /* its number there */
    struct eth_port *next_tenant; /* of the same port of the switch; NULL: the last one */
    uint64_t rcvd_before;         /* frames that it had received when it joined */
    uint32_t own_vid, own_pcp;    /* its VLAN while none is set for the port of the switch */
    /* IP addresses of its host besides those of its RNICs; NULL: none.  Tenants are told apart by
     * both.
     */
    const uint8_t (*addresses)[GID_BYTES];
    uint32_t n_addresses;
    uint64_t loop_free_at_ns; /* time at which the loopback path is free again */
    uint64_t sent_frames, sent_bytes, rcvd_frames, rcvd_bytes;
    uint64_t looped_frames;       /* frames to the own MAC; included in sent_frames */
    uint64_t tx_drops[DROPS_MAX]; /* frames dropped before transmission, by reason */
    uint64_t drops[DROPS_MAX];    /* frames dropped on reception, by reason */
    uint64_t taken_frames;        /* received frames that a user accepted */
    /* Messages that came whole (xport/whole.h), which are no frames: taken, and those in @drops. */
    uint64_t copied, copied_dropped;
    /* The frames that such messages stand for, and their bytes, tags included. */
    uint64_t whole_sent_frames, whole_sent_bytes, whole_rcvd_frames, whole_rcvd_bytes;
    uint64_t group_copies; /* received frames that a further RNIC accepted or dropped */
};

/* Initializes a port without a link.  All pointers must outlive it.  @mtu is ETHERNET_MTU_MIN to
 * ETHERNET_MTU_MAX.
 */
void eth_port_init(struct eth_port *p, struct net *net, struct progress *progress, uint32_t host,
                   const uint8_t mac[MAC_BYTES], uint32_t mtu);

/* Returns the number of bytes that the port adds to each frame of a user. */
static inline uint32_t eth_port_tag_bytes(const struct eth_port *p)
{
    return p->vid ? VLAN_TAG_BYTES : 0;
}

/* Adds a user and returns its number, the argument of eth_port_wait().  The port must get a network
 * device before it receives frames, and only one.
 */
uint32_t eth_port_use(struct eth_port *p, const struct eth_user_ops *ops, void *ctx);

/* Returns true if the port can send: its link, or that of its virtual function, is up. */
bool eth_port_is_up(const struct eth_port *p);

/* Marks user @user as one that may have a frame.  Call eth_port_pump() after it. */
static inline void eth_port_wait(struct eth_port *p, uint32_t user)
{
    p->waiting |= 1u << user;
}

/* Sends one frame if the line is free, and schedules SIM_EGRESS if there are more.  Does nothing
 * while a SIM_EGRESS is scheduled.
 */
void eth_port_pump(struct eth_port *p);

/* Handler of SIM_EGRESS: sends the next frame as eth_port_pump() does. */
void eth_port_egress(struct eth_port *p);

/* For the embedded switch.  eth_port_has_frame() returns true if a user has a frame.
 * eth_port_take() takes one from the user whose turn it is, and counts it as sent; NULL: none has
 * one. eth_port_is_own_group() returns true for RoCEv2 to a multicast group that an RNIC of the
 * port is in.  eth_port_owns() returns true if @addr is an address of its host, or a GID of an
 * RNIC, eth_port_has_gid() only if it is a GID of an RNIC.
 */
bool eth_port_has_frame(struct eth_port *p);
struct frame *eth_port_take(struct eth_port *p);
bool eth_port_is_own_group(const struct eth_port *p, const struct frame *f);
bool eth_port_owns(const struct eth_port *p, const uint8_t addr[GID_BYTES]);
bool eth_port_has_gid(const struct eth_port *p, const uint8_t gid[GID_BYTES]);

/* Checks the invariants of the port between calls.  Returns NULL if all hold, otherwise a text that
 * describes the violated one.
 */
const char *eth_port_invariant(const struct eth_port *p);

/* Processes a frame that arrived over the line: passes it to users, or drops it.  The caller
 * keeps ownership of @f.
 */
void eth_port_deliver(struct eth_port *p, const struct frame *f);

/* Drops a received frame: emits drop and counts it under @reason (enum drop_reason). */
RDL_COLD void eth_port_drop(struct eth_port *p, const struct frame *f, uint32_t reason);

/* Like eth_port_drop(), with the values that the check compared. */
RDL_COLD void eth_port_refuse(struct eth_port *p, const struct frame *f, uint32_t reason,
                              const struct compared *values);

#endif
