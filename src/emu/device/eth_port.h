/* SPDX-License-Identifier: MIT */
/* The Ethernet port of a host, which the functions of its slot share.
 *
 * Out: a function that has frames calls eth_port_wait(), and then eth_port_pump(); the port takes
 * one frame at a time, when its line is free, in turns.  A frame to the own MAC turns round inside
 * the port.
 *
 * In: what is sent to the own MAC or to a group is sorted.  RoCEv2 packets to an address that is a
 * GID of ours are the RDMA function's, everything else is the network function's.  Sorting does not
 * judge: a damaged RoCEv2 packet goes to the RDMA function, which drops it under a name.
 */
#ifndef EMU_DEVICE_ETH_PORT_H
#define EMU_DEVICE_ETH_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cold.h"
#include "emu/facts/compared.h"
#include "emu/net/net.h"
#include "emu/wire/addr.h"

#define ETH_PORT_USERS 2u /* functions, by enum pci_function */

/* What steps count, over all devices of a lab. */
struct progress {
    uint64_t chains; /* of descriptors, taken or given back */
    uint64_t wqes, packets, timers, cqes;
};

/* How the port reaches a function. */
struct eth_user_ops {
    /* Has it, as far as it knows, something to send?  Asked only after eth_port_wait(). */
    bool (*has_frame)(const void *ctx);
    /* The next frame, its note and its tx event in place; NULL: none, or none after all. */
    struct frame *(*take_frame)(void *ctx);
    /* Is @dst a GID of this function?  NULL: it takes no RoCEv2. */
    bool (*owns)(const void *ctx, const uint8_t dst[GID_BYTES]);
    /* Is it in the multicast group @dst?  There if owns() is. */
    bool (*is_member)(const void *ctx, const uint8_t dst[GID_BYTES]);
    void (*deliver)(void *ctx, const struct frame *f); /* borrows @f */
};

struct eth_user {
    const struct eth_user_ops *ops;
    void *ctx;
};

struct eth_port {
    uint32_t host;
    uint8_t mac[MAC_BYTES];
    uint32_t mtu; /* the longest IP packet that it carries, for both functions */
    struct net *net;
    struct trace *trace;
    struct progress *progress;
    struct eth_user users[ETH_PORT_USERS];
    unsigned waiting;  /* set of bits 1 << user: may have a frame; the others have none */
    uint32_t turn;     /* of the user that is asked first for a frame */
    bool egress_due;   /* a SIM_EGRESS is scheduled */
    uint32_t link_end; /* NET_NO_LINK: nothing is plugged in */
    uint64_t loop_free_at_ns;
    uint64_t sent_frames, sent_bytes, rcvd_frames, rcvd_bytes;
    uint64_t looped_frames;        /* of those sent: to the own MAC */
    uint64_t tx_drops[DROP_COUNT]; /* of frames sent */
    uint64_t drops[DROP_COUNT];    /* of frames received */
    uint64_t taken_frames;         /* of those received: by a queue pair, or by virtio-net */
};

/* A port that nothing is plugged into; all pointers outlive it.  @mtu: of ETHERNET_MTU_MIN to
 * ETHERNET_MTU_MAX.
 */
void eth_port_init(struct eth_port *p, struct net *net, struct progress *progress, uint32_t host,
                   const uint8_t mac[MAC_BYTES], uint32_t mtu);

/* @function uses the port from now on. */
void eth_port_use(struct eth_port *p, enum pci_function function, const struct eth_user_ops *ops,
                  void *ctx);

/* @function has a frame, or will when the port asks. */
static inline void eth_port_wait(struct eth_port *p, enum pci_function function)
{
    p->waiting |= 1u << function;
}

/* Some function has a frame, or has had its turn: sends what can be sent now. */
void eth_port_pump(struct eth_port *p);

/* Handler of SIM_EGRESS. */
void eth_port_egress(struct eth_port *p);

/* What must always hold between two calls; NULL, or what does not. */
const char *eth_port_invariant(const struct eth_port *p);

/* A frame arrived over the line; borrowed. */
void eth_port_deliver(struct eth_port *p, const struct frame *f);

/* A frame that arrived is thrown away: says so, and counts. */
RDL_COLD void eth_port_drop(struct eth_port *p, const struct frame *f, enum drop_reason reason);

/* The same, with the values that the check compared. */
RDL_COLD void eth_port_refuse(struct eth_port *p, const struct frame *f, enum drop_reason reason,
                              const struct compared *values);

#endif
