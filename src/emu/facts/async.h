/* SPDX-License-Identifier: MIT */
/* The kind of object that an asynchronous event names. */
#ifndef EMU_FACTS_ASYNC_H
#define EMU_FACTS_ASYNC_H

#include "emu/facts/enum/object.h"

/* Returns the kind of object that @event (enum async_event) names by number: OBJ_QP, OBJ_CQ or
 * OBJ_SRQ.  Returns OBJ_NONE for events of a port or of the whole device, and for a value that is
 * not in enum async_event.
 */
enum object_kind async_object(uint32_t event);

#endif
