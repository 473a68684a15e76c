/* SPDX-License-Identifier: MIT */
/* The functions of rdmalab/cm.h for one guest: event channels and IDs as objects with names and
 * handles, above the guest's connection manager.
 */
#ifndef EMU_GUEST_RDMA_CM_H
#define EMU_GUEST_RDMA_CM_H

#include "emu/guest/machine/guest.h"
#include "rdmalab/cm.h"

/* Returns the part of an object of the connection manager. */
static inline struct cma_channel *rdma_cm_channel_of(const struct guest_cm_object *o)
{
    return o->part;
}

static inline struct cma_id *rdma_cm_id_of(const struct guest_cm_object *o)
{
    return o->part;
}

RDL_MUST_CHECK enum rdl_status rdma_cm_create_channel(struct guest *g, const char *name,
                                                      uint64_t *ret);
RDL_MUST_CHECK enum rdl_status rdma_cm_destroy_channel(struct guest_cm_object *ch);
RDL_MUST_CHECK enum rdl_status rdma_cm_create_id(struct guest_cm_object *ch, uint32_t space,
                                                 const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status rdma_cm_destroy_id(struct guest_cm_object *id);
RDL_MUST_CHECK enum rdl_status rdma_cm_migrate_id(struct guest_cm_object *id,
                                                  struct guest_cm_object *ch);
RDL_MUST_CHECK enum rdl_status rdma_cm_get_event(struct guest_cm_object *ch, const char *name,
                                                 struct rdl_cm_event *ret, size_t *ret_n);
RDL_MUST_CHECK enum rdl_status rdma_cm_turn_event(struct guest_cm_object *ch, uint32_t kind,
                                                  int status);
RDL_MUST_CHECK enum rdl_status rdma_cm_ack_event(struct guest_cm_object *ch);
/* Acknowledges all events that were taken from the channel of @id. */
void rdma_cm_ack_all(struct guest_cm_object *id);

void rdma_cm_id_info(const struct guest_cm_object *id, struct rdl_cm_id_info *ret);

#endif
