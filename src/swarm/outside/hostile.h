/* SPDX-License-Identifier: MIT */
/* Frames that a stranger who means no good, or whose cable is bad, might send: chance, valid frames
 * of every kind, and valid frames with damage.
 *
 * Damage is repaired half of the time where it would be noticed first (checksums, ICRC), so that it
 * reaches what lies behind them.  One thing the stranger cannot do: send RoCEv2 from an address of
 * the lab.  RoCEv2 trusts addresses, and whoever can forge them can end every connection.
 */
#ifndef SWARM_OUTSIDE_HOSTILE_H
#define SWARM_OUTSIDE_HOSTILE_H

#include <stddef.h>

#include "emu/base/prng.h"
#include "emu/facts/psn.h"
#include "emu/wire/addr.h"

#define HOSTILE_HOSTS 2u
#define HOSTILE_BYTES 65535u /* of the longest frame */

struct hostile_station {
    uint8_t mac[MAC_BYTES];
    uint8_t gid[2][GID_BYTES]; /* IPv4, IPv6 */
};

/* The queue pairs that host[0] has for the stranger: one of each service. */
enum hostile_qp { HOSTILE_RC, HOSTILE_UC, HOSTILE_UD, HOSTILE_QPS };

struct hostile {
    struct prng rng;
    struct hostile_station self, host[HOSTILE_HOSTS];
    uint32_t qpn[HOSTILE_QPS], qkey;
    unsigned gid_index; /* the address that they use */
    uint32_t mtu_bytes;
    uint8_t group[2][GID_BYTES]; /* that of UD is in */
    /* What host[0] lets it read and write. */
    uint64_t open_at;
    uint32_t open_bytes, open_rkey;
    struct psn expected[HOSTILE_QPS], acked; /* what host[0] waits for: a request, an acknowledge */
};

/* The next frame, of the stream that h->rng is; returns its bytes, 1..HOSTILE_BYTES. */
size_t hostile_frame(struct hostile *h, uint8_t frame[HOSTILE_BYTES]);

/* A READ of all that is open, right in every way but that nobody waits for an answer: the next, or
 * with @again that of before.
 */
size_t hostile_read(struct hostile *h, bool again, uint8_t frame[HOSTILE_BYTES]);

#endif
