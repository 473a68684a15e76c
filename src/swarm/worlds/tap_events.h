/* SPDX-License-Identifier: MIT */
/* Checks what the events of a packet tell against the bytes of its frame, and against the packets
 * that the queue pair sent before.
 */
#ifndef SWARM_WORLDS_TAP_EVENTS_H
#define SWARM_WORLDS_TAP_EVENTS_H

#include "emu/wire/packet.h"

struct ev_rx;
struct ev_tx;

#define TAP_PACKETS 256u /* latest request packets of a queue pair that are remembered */

/* The request packets that a queue pair has sent, each at its PSN modulo TAP_PACKETS. */
struct tap_sends {
    struct {
        uint64_t wr_id;
        uint32_t psn, times; /* times 0: a free entry */
    } v[TAP_PACKETS];
    uint32_t newest; /* PSN of the last packet that was new; UINT32_MAX: none was sent */
};

void tap_sends_begin(struct tap_sends *s);

/* Returns NULL if @e tells what the frame has that was parsed to @p, @bytes long, and how often the
 * packet was sent; otherwise the rule that is broken.  Counts the packet in @s, which is NULL if
 * the queue pair is not known.
 */
const char *tx_event_check(struct tap_sends *s, const struct ev_tx *e, const struct packet *p,
                           size_t bytes);

/* The same for a packet that arrived, undamaged. */
const char *rx_event_check(const struct ev_rx *e, const struct packet *p);

#endif
