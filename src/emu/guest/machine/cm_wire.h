/* SPDX-License-Identifier: MIT */
/* Addresses inside messages of the connection manager, for a guest with a virtual layer.
 *
 * A REQ names the addresses of both sides, and the header of rdma_cm in a REQ or SIDR_REQ does so
 * again.  Both sides use them later: for replies, and for the path of the queue pair.  Between two
 * guests of the layer they are virtual.  A peer outside knows addresses on the wire alone.
 *
 *	to a peer outside    own virtual addresses become those on the wire
 *	from a peer outside  own addresses on the wire become virtual
 */
#ifndef EMU_GUEST_CM_WIRE_H
#define EMU_GUEST_CM_WIRE_H

#include "emu/guest/verbs/verbs.h"
#include "emu/wire/mad.h"

/* Replaces the virtual addresses of @v in the @mad of MAD_BYTES, which goes to a peer that the
 * layer does not know.
 */
void cm_wire_out(const struct verbs *v, uint8_t *mad);

/* Replaces the addresses on the wire of @v in the @mad of MAD_BYTES, which has arrived. */
void cm_wire_in(const struct verbs *v, uint8_t *mad);

#endif
