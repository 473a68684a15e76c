/* SPDX-License-Identifier: MIT */
/* The Ethernet function of a virtual machine that is no function of the lab: the program that runs
 * the machine has it, as QEMU has its vmxnet3.  It is the network device of the host's port.
 *
 *	rdl_vm_send() -> bounded queue -> port's egress -> net
 *	net -> port -> callback of rdl_vm_ethernet()
 */
#ifndef EMU_LAB_OUTER_NET_H
#define EMU_LAB_OUTER_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/net/frame.h"

#define OUTER_NET_FRAMES_MAX 256u /* frames that wait for the line */

struct host;
struct lab_state;

struct outer_net {
    struct lab_state *w;
    struct host *host;
    uint32_t port_user; /* its number at the port */
    struct frame *queue[OUTER_NET_FRAMES_MAX];
    uint32_t first, n; /* of @queue, which is a ring */
};

/* Makes @o the network device of @h.  It must not move afterwards. */
void outer_net_init(struct outer_net *o, struct lab_state *w, struct host *h);

/* Returns true if outer_net_send() may be called. */
static inline bool outer_net_has_room(const struct outer_net *o)
{
    return o->n < OUTER_NET_FRAMES_MAX;
}

/* Queues @f, a frame of the machine.  Takes the reference. */
void outer_net_send(struct outer_net *o, struct frame *f);

#endif
