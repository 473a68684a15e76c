/* SPDX-License-Identifier: MIT */
/* The order of the calls of librdmacm: the states of an ID in which each is possible, and the next
 * call of an ID without a connection.  rdma_cm of a guest refuses calls by it, and errors tell why.
 */
#ifndef EMU_FACTS_CMA_CALLS_H
#define EMU_FACTS_CMA_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/text.h"

enum cma_call {
#define CMA_CALL(call, function, states, ib_states) CMA_CALL_##call,
#include "emu/facts/cma_calls.def"
#undef CMA_CALL
};

/* Returns true if an ID in @state, an enum cma_state, permits @call. */
bool cma_call_is_permitted(enum cma_call call, uint32_t state);

/* The next call of an ID.  In @command, %s is the ID. */
struct cma_step {
    const char *text, *command;
};

/* Returns the next step of an ID in @state, an enum cma_state; NULL: it depends on more than the
 * state.
 */
const struct cma_step *cma_step(uint32_t state);

/* Returns true if @function is about an ID, and not possible in all of its states. */
bool cma_call_needs_state(const char *function);

/* Returns true if the state of an ID, @state, or that of its connection, @ib_state, is the reason
 * why @function was refused.  These are an enum cma_state and an enum cm_state.
 */
bool cma_call_is_early_or_late(const char *function, uint32_t state, uint32_t ib_state);

/* Appends this reason: "h1.id is in state IDLE (new), and must be in ROUTE_RESOLVED".  @id is a
 * name for the ID.
 */
void cma_call_add_reason(struct text *t, const char *function, const char *id, uint32_t state,
                         uint32_t ib_state);

#endif
