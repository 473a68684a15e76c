/* SPDX-License-Identifier: MIT */
/* Builds frames of a hostile station, or of one with a bad cable: random bytes, valid frames of
 * every kind, and valid frames with damage.
 *
 * Half of the damaged frames get correct checksums and a correct ICRC again, so that the damage
 * reaches the code behind these checks.  RoCEv2 frames never have a source address of the lab.
 * RoCEv2 trusts addresses: a station that forges them can end every connection.
 */
#ifndef SWARM_OUTSIDE_HOSTILE_H
#define SWARM_OUTSIDE_HOSTILE_H

#include <stddef.h>

#include "emu/base/prng.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/psn.h"
#include "emu/wire/addr.h"
#include "emu/wire/mad.h"

#define HOSTILE_HOSTS 2u
#define HOSTILE_BYTES 65535u /* length of the longest frame */
#define HOSTILE_COMMS 4u     /* communication IDs of host[0] that it remembers */
#define HOSTILE_PORT  7471u  /* host[0] listens there, by TCP and UDP */
/* host[0] says that its connections have this queue pair.  Messages alone know of it. */
#define HOSTILE_CM_QPN 0x1234u

/* The addresses of a station. */
struct hostile_station {
    uint8_t mac[MAC_BYTES];
    uint8_t gid[2][GID_BYTES]; /* IPv4, IPv6 */
};

/* The queue pairs of host[0] that are connected with the hostile station, one of each service. */
enum hostile_qp { HOSTILE_RC, HOSTILE_UC, HOSTILE_UD, HOSTILE_QPS };

/* The hostile station: its PRNG, its addresses, and what it knows about the lab. */
struct hostile {
    struct prng rng;
    struct hostile_station self, host[HOSTILE_HOSTS];
    uint32_t qpn[HOSTILE_QPS]; /* of these queue pairs of host[0] */
    uint32_t qkey;             /* of the UD queue pair */
    unsigned gid_index;        /* index of the addresses that the queue pairs use: 0 IPv4, 1 IPv6 */
    uint32_t mtu_bytes;        /* path MTU */
    uint8_t group[2][GID_BYTES]; /* multicast groups of the UD queue pair */
    /* The memory of host[0] that the hostile station may read and write: address as in requests,
     * length and R_Key.
     */
    uint64_t open_at;
    uint32_t open_bytes, open_rkey;
    /* PSNs that host[0] expects next: in a request to each queue pair; and in an acknowledgment,
     * the oldest PSN of its RC requests that is not acknowledged.
     */
    struct psn expected[HOSTILE_QPS], acked;
    uint32_t comm[HOSTILE_COMMS], n_comms; /* that host[0] has told, and how many so far */
};

/* Builds a random frame with @h->rng.  Returns its length, 1 .. HOSTILE_BYTES. */
size_t hostile_frame(struct hostile *h, uint8_t frame[HOSTILE_BYTES]);

/* Builds a message of a connection manager, right or wrong.  hostile_hear() learns communication
 * IDs of host[0] from a frame that has reached the stranger.
 */
void hostile_mad(struct hostile *h, uint8_t mad[MAD_BYTES]);
void hostile_hear(struct hostile *h, const uint8_t *frame, size_t n);

/* Builds a correct READ request for all of the open memory: the next one, or with @again a
 * repetition of the previous one.  Returns the length of the frame.
 */
size_t hostile_read(struct hostile *h, bool again, uint8_t frame[HOSTILE_BYTES]);

#endif
