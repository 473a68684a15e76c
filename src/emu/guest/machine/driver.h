/* SPDX-License-Identifier: MIT */
/* The drivers: boot, control queue, interrupts.  virtio-net's own: net.h. */
#ifndef EMU_GUEST_DRIVER_H
#define EMU_GUEST_DRIVER_H

#include "emu/base/prng.h"
#include "emu/guest/machine/guest.h"

/* Sizes that the driver wants; a device may offer less. */
#define GUEST_CTRL_QUEUE_SIZE 64u
#define GUEST_QUEUE_SIZE      256u

/* MSI-X vectors.  Completion queues share the ones from GUEST_VECTOR_CQ on; with fewer than three
 * vectors they share the last one.  Send and receive queues have none.
 */
#define GUEST_VECTOR_CONFIG 0u
#define GUEST_VECTOR_CTRL   1u
#define GUEST_VECTOR_CQ     2u

/* The tables of a lab.  False when the arena is full. */
bool guest_tables_init(struct guest_tables *t, struct arena *a);

/* A guest that is not booted.  @rng scatters its pages.  False when the arena is full. */
bool guest_init(struct guest *g, struct arena *a, const struct guest_config *config,
                struct prng *rng);

/* Brings both functions up in the order of virtio 1.2, 3.1.1, then sends the requests of boot
 * (ADD_GID 0 and 1, which are the addresses; QUERY_PORT), each when the one before it is answered.
 * A device that answers inside the notification is up when this returns; otherwise interrupts carry
 * on.  g->up says so.
 *
 * Return: RDL_OK           nothing was wrong so far
 *	   RDL_ERR_UNSUPPORTED  the device does not offer VERSION_1, or refused the features
 *	   RDL_ERR_NOMEM    guest RAM or arena are full
 *	   RDL_ERR_DEVICE   a request of boot was refused: g->ctrl.cmd, g->ctrl.rsp
 *	   RDL_ERR_BROKEN   the device's numbers contradict each other
 */
RDL_MUST_CHECK enum rdl_status guest_boot(struct guest *g);

/* An interrupt of virtio-rdma was delivered.  Unknown vectors are ignored. */
void guest_interrupt(struct guest *g, uint32_t vector);

/* What became of the last control request: RDL_ERR_BUSY while it is under way, RDL_OK,
 * RDL_ERR_DEVICE with *@reterr_rsp (enum ctrl_rsp), RDL_ERR_NO_ROUTE (a modify whose neighbour did
 * not answer), or RDL_ERR_BROKEN.
 */
RDL_MUST_CHECK enum rdl_status guest_answer(const struct guest *g, uint32_t *reterr_rsp);

#endif
