/* SPDX-License-Identifier: MIT */
/* Shared by the files of rdma_cm: cma.c has IDs, ports and events, cma_connect.c connections,
 * cma_group.c multicast.
 */
#ifndef EMU_GUEST_CM_CMA_INTERNAL_H
#define EMU_GUEST_CM_CMA_INTERNAL_H

#include "emu/guest/cm/cma.h"

#define CMA_DATAGRAM_QKEY 0x01234567u /* [Linux, RDMA_UDP_QKEY] */

/* Returns a new event of @id, which is not queued; NULL: no memory. */
struct cma_event *cma_event_new(struct cma_id *id, enum rdma_cm_event kind, int status);

/* Queues @e at the channel of its ID. */
void cma_post(struct cma_event *e);

/* Queues a plain event.  If there is no memory for it, it is lost. */
void cma_tell(struct cma_id *id, enum rdma_cm_event kind, int status);

/* The service ID of a port. */
uint64_t cma_service_id(enum port_space space, uint16_t port);

/* Returns true if @gid is an address of the host. */
bool cma_is_own(const struct cma *cma, const uint8_t gid[GID_BYTES]);

/* Returns true if @a is any address. */
bool cma_is_any(const struct rdl_cm_addr *a);

/* Drops the events of @id that nobody has taken and that the program does not get any more: see
 * is_lost().
 */
void cma_forget_lost(struct cma_id *id);

static inline bool cma_is_datagram(const struct cma_id *id)
{
    return id->space == PORT_SPACE_UDP;
}

/* Takes the route to the peer, with the options that @id has now. */
void cma_take_route(struct cma_id *id);

#endif
