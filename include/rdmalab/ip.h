/* SPDX-License-Identifier: MIT */
/* Ping: ICMP echo from the IP stack of a host. */
#ifndef RDMALAB_IP_H
#define RDMALAB_IP_H

#include "rdmalab/lab.h"

typedef struct {
    uint32_t raw;
} rdl_ping_id;

#define RDL_PINGS_MAX 64u /* pings of one host that are under way or whose results are kept */

struct rdl_ping_config {
    uint8_t address[16]; /* unicast; IPv4 as ::ffff:a.b.c.d */
    uint32_t bytes;      /* length of the payload */
    uint64_t timeout_ns; /* time to wait for the reply; 0: one second */
};

/* Sends an ICMP echo request from @host.  An unknown MAC is resolved first.  A host keeps the
 * results of its last RDL_PINGS_MAX pings.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL     the address is not unicast, or @bytes exceeds the MTU
 *	   RDL_ERR_NO_ROUTE  the MAC of the address is unknown and no link is up to resolve it
 *	   RDL_ERR_LIMIT     RDL_PINGS_MAX are under way
 *	   RDL_ERR_BROKEN    virtio-net needs a reset
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_ping(struct rdl_lab *lab, rdl_host host,
                                        const struct rdl_ping_config *config, rdl_ping_id *ret);

struct rdl_ping_result {
    uint32_t seq;
    uint32_t bytes;
    uint64_t rtt_ns; /* from request to reply, including address resolution */
};

/* Returns the state of @ping, and its result in *@ret.
 *
 * Return: RDL_OK            a reply has come
 *	   RDL_ERR_BUSY      under way
 *	   RDL_ERR_TIMEOUT   lost: no reply in time
 *	   RDL_ERR_NO_ROUTE  lost: no neighbour has the address
 *	   RDL_ERR_STALE     the result is no longer kept
 * *@ret is unchanged if the status is RDL_ERR_STALE.  rtt_ns is 0 unless it is RDL_OK.
 */
RDL_MUST_CHECK enum rdl_status rdl_ping_result(const struct rdl_lab *lab, rdl_ping_id ping,
                                               struct rdl_ping_result *ret);

/* Advances the lab until @ping is no longer under way.
 *
 * Return: RDL_OK         rdl_ping_result() has the result, which may be that the ping was lost
 *	   RDL_ERR_STALE
 *	   RDL_ERR_IDLE, RDL_ERR_TIMEOUT (a limit), RDL_ERR_INVARIANT and others as rdl_step()
 */
RDL_MUST_CHECK enum rdl_status rdl_ping_wait(struct rdl_lab *lab, rdl_ping_id ping,
                                             struct rdl_limits limits);

#endif
