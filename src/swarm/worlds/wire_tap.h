/* SPDX-License-Identifier: MIT */
/* Shows every RoCEv2 frame of a world to the watchers of the wire: at the host that sends it, and
 * at the host where it arrives whole.
 */
#ifndef SWARM_WORLDS_WIRE_TAP_H
#define SWARM_WORLDS_WIRE_TAP_H

#include "rdmalab/trace.h"
#include "swarm/worlds/world_run.h"
#include "watcher/wire_end.h"

#define TAP_QPNS    64u /* of a host: more than its queue pairs */
#define TAP_DAMAGED 64u

struct wire_tap {
    struct world_run *r;
    struct rdl_listener *listener;
    struct wire_end end[LIVES_MAX];
    uint16_t life_at[WORLD_HOSTS_MAX][TAP_QPNS]; /* the last that had this QPN, and one more */
    uint64_t line_free_ns[WORLD_HOSTS_MAX];
    uint64_t damaged[TAP_DAMAGED]; /* what the network has made of frames that it changed */
    uint32_t n_damaged;
    struct {
        uint64_t tx, at_ns; /* tx: 0: none */
        struct wire_end *by;
        uint32_t host, bytes;
    } sent; /* whose bytes are not recorded yet */
};

/* Begins to listen to the lab of @r, which records. */
enum rdl_status wire_tap_listen(struct wire_tap *t, struct world_run *r);

/* @life begins. */
void wire_tap_begin(struct wire_tap *t, uint16_t life);

/* Looks at what is left to look at: nothing is under way any more. */
void wire_tap_end(struct wire_tap *t);

#endif
