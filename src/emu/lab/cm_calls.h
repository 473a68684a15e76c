/* SPDX-License-Identifier: MIT */
/* The calls of librdmacm that a lab remembers, for pictures: see struct rdl_cm_call.
 *
 * They are in the arena, so that a checkpoint takes them back.
 */
#ifndef EMU_LAB_CM_CALLS_H
#define EMU_LAB_CM_CALLS_H

#include "rdmalab/cm.h"

struct arena;
struct cm_calls;

/* Allocates an empty list.  Returns NULL if memory is short. */
struct cm_calls *cm_calls_new(struct arena *arena);

/* Adds a call, which becomes the last one.  @list may be NULL: nothing is remembered. */
void cm_calls_add(struct cm_calls *list, const struct rdl_cm_call *call);

/* cm_calls_count() returns the number of calls in @list, which may be NULL.  cm_calls_at() returns
 * call @i, 0 for the oldest.
 */
size_t cm_calls_count(const struct cm_calls *list);
const struct rdl_cm_call *cm_calls_at(const struct cm_calls *list, size_t i);

/* Makes the event @from that a program has got last for ID @id of @host the event @to: the call
 * gets it now, at @at_ns after @tick.  Does nothing if the last event of this ID is not @from.
 */
void cm_calls_turn(struct cm_calls *list, uint32_t host, uint32_t id, uint32_t from, uint32_t to,
                   uint64_t at_ns, uint64_t tick);

#endif
