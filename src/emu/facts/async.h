/* SPDX-License-Identifier: MIT */
/* What an asynchronous event is about. */
#ifndef EMU_FACTS_ASYNC_H
#define EMU_FACTS_ASYNC_H

#include "emu/facts/enum/object.h"

/* The kind of object whose number goes with @event; OBJ_NONE: the number is that of a port, or (of
 * DEVICE_FATAL) none.  Any value may be given: what is no event is about nothing.
 */
enum object_kind async_object(uint32_t event);

#endif
