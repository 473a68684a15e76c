/* SPDX-License-Identifier: MIT */
/* What the files of the guest's network share.
 *
 * nic.c the virtio-net driver · stack.c IP in and out · neighbour.c who is where · arp_nd.c how to
 * find out · ping.c · group.c multicast groups
 */
#ifndef EMU_GUEST_STACK_H
#define EMU_GUEST_STACK_H

#include "emu/base/cursor.h"
#include "emu/guest/ip/net.h"
#include "emu/wire/icmp.h"
#include "emu/wire/ip.h"

/* nic.c */
bool nic_link_is_up(const struct guest_net *net);

/* Puts a frame of at most the MTU into the transmit ring; drops it when there is no room. */
void nic_send(struct guest_net *net, const uint8_t *frame, size_t n);

/* stack.c.  A frame came up; one does not get away, which is counted, with an event. */
void stack_receive(struct guest_net *net, const uint8_t *frame, size_t n);
void stack_drop_tx(struct guest_net *net, const uint8_t *frame, size_t n, enum drop_reason reason);

/* Sending an IP packet: fill in version, protocol, ttl, payload_bytes, source and destination of
 * @ip, begin in @frame, write the payload to the cursor, end.  It leaves as soon as the MAC of its
 * destination is known.
 */
struct wr_cur stack_begin(const struct guest_net *net, const struct ip *ip, uint8_t *frame,
                          size_t cap);
void stack_end(struct guest_net *net, const struct ip *ip, uint8_t *frame,
               const struct wr_cur *out);

/* Is @gid an own address?  One of a single station? */
bool stack_is_own(const struct guest_net *net, const uint8_t gid[GID_BYTES]);
bool stack_is_unicast(const uint8_t gid[GID_BYTES]);

/* The own address to talk to @gid from. */
const uint8_t *stack_source(const struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* neighbour.c.  Keeps a frame for a neighbour that was asked for, until it answers or did not. */
void neighbour_keep(struct guest_net *net, const uint8_t gid[GID_BYTES], const uint8_t *frame,
                    size_t n);

/* A frame said that @gid is at @mac.  @asked_us: by asking us something, reason enough to remember
 * somebody new.  False: nobody wanted to know.
 */
bool neighbour_heard(struct guest_net *net, const uint8_t gid[GID_BYTES],
                     const uint8_t mac[MAC_BYTES], bool asked_us);
void neighbour_timer(struct guest_net *net, uint32_t index);

/* arp_nd.c: questions and answers, by ARP or neighbour discovery as the address is. */
void arp_nd_ask(struct guest_net *net, const uint8_t gid[GID_BYTES]);
enum drop_reason arp_receive(struct guest_net *net, struct rd_cur *in);
enum drop_reason nd_receive(struct guest_net *net, const struct ip *ip, const struct icmp *h,
                            struct rd_cur *in);

/* ping.c */
enum drop_reason ping_receive(struct guest_net *net, const struct ip *ip, const struct icmp *h,
                              struct rd_cur *in);
void ping_timer(struct guest_net *net, uint32_t seq);
void ping_unreachable(struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* The argument of SIM_GUEST_TIMER. */
enum guest_timer { GUEST_TIMER_NEIGHBOUR, GUEST_TIMER_PING, GUEST_TIMER_GROUP };

static inline uint64_t guest_timer_arg(enum guest_timer what, uint32_t index)
{
    return (uint64_t)what << 32 | index;
}

/* An address for an event. */
static inline struct ev_addr stack_ev_addr(const uint8_t gid[GID_BYTES])
{
    char buf[ADDR_TEXT_MAX];

    return ev_addr(addr_text(gid, buf));
}

#endif
