/* SPDX-License-Identifier: MIT */
/* The IP stack of a host: ping. */
#ifndef RDMALAB_IP_H
#define RDMALAB_IP_H

#include "rdmalab/lab.h"

typedef struct {
    uint32_t raw;
} rdl_ping_id;

#define RDL_PINGS_MAX 64u /* of a host, under way or remembered */

struct rdl_ping_config {
    uint8_t address[16]; /* of one station, IPv4 as ::ffff:a.b.c.d */
    uint32_t bytes;      /* of data */
    uint64_t timeout_ns; /* after which it is lost; 0: one second */
};

/* Sends an ICMP echo request from @host.  The MAC of a stranger is asked for first.  Of the answers
 * of the last 64 pings of a host rdl_ping_result() knows.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL     the address is none of a single station, or @bytes exceeds the MTU
 *	   RDL_ERR_NO_ROUTE  the address is unknown and no link is up
 *	   RDL_ERR_LIMIT     RDL_PINGS_MAX are under way
 *	   RDL_ERR_BROKEN    virtio-net needs a reset
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_ping(struct rdl_lab *lab, rdl_host host,
                                        const struct rdl_ping_config *config, rdl_ping_id *ret);

struct rdl_ping_result {
    uint32_t seq;
    uint32_t bytes;
    uint64_t rtt_ns; /* from the request to its answer; address resolution included */
};

/* Return: RDL_OK            answered
 *	   RDL_ERR_BUSY      under way
 *	   RDL_ERR_TIMEOUT   lost: no answer in time
 *	   RDL_ERR_NO_ROUTE  lost: no neighbour has the address
 *	   RDL_ERR_STALE     forgotten
 * @ret is filled unless it is RDL_ERR_STALE; rtt_ns only if answered.
 */
RDL_MUST_CHECK enum rdl_status rdl_ping_result(const struct rdl_lab *lab, rdl_ping_id ping,
                                               struct rdl_ping_result *ret);

/* Lets the lab go on until @ping is not under way any more.  RDL_OK: see rdl_ping_result();
 * RDL_ERR_IDLE, RDL_ERR_TIMEOUT (a limit), RDL_ERR_INVARIANT as rdl_step(); RDL_ERR_STALE.
 */
RDL_MUST_CHECK enum rdl_status rdl_ping_wait(struct rdl_lab *lab, rdl_ping_id ping,
                                             struct rdl_limits limits);

#endif
