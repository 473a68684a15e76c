/* SPDX-License-Identifier: MIT */
/* Passes every RoCEv2 frame of a world to the wire watchers (watcher/wire_end.h): to that of the
 * sending queue pair, and to that of the receiving one if the frame arrives undamaged.
 */
#ifndef SWARM_WORLDS_WIRE_TAP_H
#define SWARM_WORLDS_WIRE_TAP_H

#include "rdmalab/trace.h"
#include "swarm/worlds/tap_events.h"
#include "swarm/worlds/world_run.h"
#include "watcher/wire_end.h"

#define TAP_QPNS    64u /* the QPNs of a host are less than this */
#define TAP_DAMAGED 64u /* damaged frames that are remembered */

/* The numbers of the events with which faults have damaged frames.  @n counts all; the oldest ones
 * are overwritten.
 */
struct tap_damaged {
    uint64_t tx[TAP_DAMAGED];
    uint32_t n;
};

struct wire_tap {
    struct world_run *r;
    struct rdl_listener *listener;
    struct wire_end end[LIVES_MAX];    /* the watcher of each life */
    struct tap_sends sends[LIVES_MAX]; /* what each life has sent */
    /* For each host and QPN: 1 + index of the latest life of that queue pair; 0: none. */
    uint16_t life_at[WORLD_HOSTS_MAX][TAP_QPNS];
    uint64_t line_free_ns[WORLD_HOSTS_MAX]; /* time when the host's line is free again */
    /* For each guest: time from which its function may send again, by its maximum. */
    uint64_t may_send_ns[WORLD_HOSTS_MAX];
    struct tap_damaged damaged;
    struct {
        uint64_t tx, at_ns;  /* number of the event, and time; tx 0: no frame */
        struct wire_end *by; /* watcher of the sending queue pair; NULL: none */
        uint32_t host, peer, bytes;
    } sent; /* the last sent frame: the recorder has its bytes only at the next event */
};

/* Starts to listen to the lab of @r, which must record frames.  Returns the errors of rdl_listen().
 */
enum rdl_status wire_tap_listen(struct wire_tap *t, struct world_run *r);

/* Initializes the watcher of the life with index @life, which begins now. */
void wire_tap_begin(struct wire_tap *t, uint16_t life);

/* Makes the final checks of all watchers.  Call it when no frame is in flight any more. */
void wire_tap_end(struct wire_tap *t);

#endif
