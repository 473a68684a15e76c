/* SPDX-License-Identifier: MIT */
/* Shared declarations of the network stack's files.
 *
 * nic.c virtio-net driver · stack.c IP input and output · neighbour.c neighbour table ·
 * arp_nd.c ARP and neighbour discovery · ping.c · group.c multicast groups
 */
#ifndef EMU_GUEST_STACK_H
#define EMU_GUEST_STACK_H

#include "emu/base/cursor.h"
#include "emu/guest/ip/net.h"
#include "emu/trace/fields.h"
#include "emu/wire/icmp.h"
#include "emu/wire/ip.h"

/* nic.c.  Returns true if the device's link is up. */
bool nic_link_is_up(const struct guest_net *net);

/* Queues a frame of at most the MTU for transmission and kicks the device.  Drops the frame if the
 * ring is full or the device is broken.
 */
void nic_send(struct guest_net *net, const uint8_t *frame, size_t n);

/* stack.c.  stack_receive() handles a received frame.  stack_drop_tx() counts a frame that could
 * not be sent, and emits an event.
 */
void stack_receive(struct guest_net *net, const uint8_t *frame, size_t n);
void stack_drop_tx(struct guest_net *net, const uint8_t *frame, size_t n, enum drop_reason reason);

/* Send an IP packet.  Fill in version, protocol, ttl, payload_bytes, source and destination of @ip;
 * call stack_begin(), write the payload to the cursor, call stack_end().  stack_end() sends the
 * packet, or queues it until the MAC of its destination is known.  Drops it if the destination
 * cannot be resolved.
 */
struct wr_cur stack_begin(const struct guest_net *net, const struct ip *ip, uint8_t *frame,
                          size_t cap);
void stack_end(struct guest_net *net, const struct ip *ip, uint8_t *frame,
               const struct wr_cur *out);

/* stack_is_own() returns true if @gid is one of the guest's addresses, stack_answers_for() also if
 * it is one of guest_net_config.wire_gid.  stack_is_unicast() returns true if @gid is a unicast
 * address, of any host.
 */
bool stack_is_own(const struct guest_net *net, const uint8_t gid[GID_BYTES]);
bool stack_answers_for(const struct guest_net *net, const uint8_t gid[GID_BYTES]);
bool stack_is_unicast(const uint8_t gid[GID_BYTES]);

/* Returns the guest's address of the same family as @gid, used as source.  Returns NULL if it has
 * none.
 */
const uint8_t *stack_source(const struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* neighbour.c.  Queues a frame until the resolution of @gid ends.  An entry in state INCOMPLETE
 * must exist.  Drops the frame if GUEST_WAITING_MAX frames are queued.
 */
void neighbour_keep(struct guest_net *net, const uint8_t gid[GID_BYTES], const uint8_t *frame,
                    size_t n);

/* Records that the neighbour @gid has the MAC @mac, and ends a resolution of @gid.  With @asked_us
 * the MAC came with a request to this guest, and an unknown neighbour gets an entry in the table.
 * An address in the directory keeps the MAC that it has there.  Returns false if @gid is not a
 * unicast address of another host, or is unknown and gets no entry.
 */
bool neighbour_heard(struct guest_net *net, const uint8_t gid[GID_BYTES],
                     const uint8_t mac[MAC_BYTES], bool asked_us);

/* Handler of the timer of neighbour number @index: sends the next request.  After GUEST_ARP_TRIES
 * requests it ends the resolution without success.
 */
void neighbour_timer(struct guest_net *net, uint32_t index);

/* arp_nd.c: ARP for IPv4 addresses, neighbour discovery for IPv6.  arp_nd_ask() sends a request for
 * the MAC of @gid.  arp_receive() and nd_receive() process a received message.  They return
 * DROP_NONE, or the reason why the message was dropped.
 */
void arp_nd_ask(struct guest_net *net, const uint8_t gid[GID_BYTES]);
enum drop_reason arp_receive(struct guest_net *net, struct rd_cur *in);
enum drop_reason nd_receive(struct guest_net *net, const struct ip *ip, const struct icmp *h,
                            struct rd_cur *in);

/* ping.c.  ping_receive() answers an echo request, or ends the ping that a reply answers; it
 * returns DROP_NONE, or the reason why the message was dropped.  ping_timer() ends ping number @seq
 * as lost.  ping_unreachable() ends all pings to @gid as lost.
 */
enum drop_reason ping_receive(struct guest_net *net, const struct ip *ip, const struct icmp *h,
                              struct rd_cur *in);
void ping_timer(struct guest_net *net, uint32_t seq);
void ping_unreachable(struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* The kinds of timers.  The argument of SIM_GUEST_TIMER consists of a kind and an index. */
enum guest_timer { GUEST_TIMER_NEIGHBOUR, GUEST_TIMER_PING, GUEST_TIMER_GROUP };

static inline uint64_t guest_timer_arg(enum guest_timer what, uint32_t index)
{
    return (uint64_t)what << 32 | index;
}

/* Returns an address in the form that events contain. */
static inline struct ev_addr stack_ev_addr(const uint8_t gid[GID_BYTES])
{
    char buf[ADDR_TEXT_MAX];

    return ev_addr(addr_text(gid, buf));
}

#endif
