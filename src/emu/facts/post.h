/* SPDX-License-Identifier: MIT */
/* Checks of work requests before posting: those that need no device, and that libibverbs leaves to
 * its providers.
 *
 * The guest's driver (emu/guest/verbs) and the library of programs (program/ibverbs) both use them.
 * The device checks keys and message lengths when it executes the request, and reports errors in
 * the completion.
 */
#ifndef EMU_FACTS_POST_H
#define EMU_FACTS_POST_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/compared.h"

/* The properties of a queue pair that limit its sends. */
struct post_limits {
    uint32_t type; /* enum qp_type */
    uint32_t max_sge, max_sge_rd, max_inline_data;
};

/* The properties of a send that are checked. */
struct post_send {
    uint32_t opcode; /* enum wr_opcode */
    uint32_t flags;  /* set of enum send_flag_bit */
    uint64_t n_sge;
    uint64_t inline_bytes; /* with SF_INLINE, and then n_sge is 0 */
};

/* Returns true if a queue pair in @state (enum qp_state) accepts sends.  In ERR and SQE sends are
 * queued and then flushed; in SQD they wait.  [IBTA1 10.3.1]
 */
bool post_state_takes_sends(uint32_t state);

/* Returns true if a queue pair in @state accepts receives. */
bool post_state_takes_recvs(uint32_t state);

/* Returns the rule that forbids @send on a queue pair with @limits, or RULE_NONE. */
struct objection post_check_send(const struct post_limits *limits, const struct post_send *send);

/* Returns the rule that forbids a receive with @n_sge elements on a queue for @max_sge, or
 * RULE_NONE.
 */
struct objection post_check_recv(uint32_t max_sge, uint64_t n_sge);

#endif
