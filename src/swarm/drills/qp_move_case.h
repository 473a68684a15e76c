/* SPDX-License-Identifier: MIT */
/* The transitions of a queue pair as the specification has them, written a second time for the
 * models of the drills: they must not follow a mistake in emu/facts/qp_fsm.c.  [IBTA1 11.2.5.2]
 */
#ifndef SWARM_DRILLS_QP_MOVE_CASE_H
#define SWARM_DRILLS_QP_MOVE_CASE_H

#include <stdint.h>

/* A transition of a queue pair of @type (enum qp_type) between two states (enum qp_state), with the
 * attributes that it requires and those that it permits in addition (sets of enum qp_attr_bit).
 */
struct qp_move_case {
    uint32_t type, from, to, need, may;
};

/* Returns the row of a transition, or NULL if it has none.  RESET and ERR, which any state leads to
 * without attributes, have none.
 */
const struct qp_move_case *qp_move_case(uint32_t type, uint32_t from, uint32_t to);

#endif
