/* SPDX-License-Identifier: MIT */
/* The queue pair state graph: which moves there are and which attributes each needs.
 *
 * Driver and device ask the same rows; the device asks them again because a driver may not.
 */
#ifndef EMU_FACTS_QP_FSM_H
#define EMU_FACTS_QP_FSM_H

#include <stddef.h>

#include "emu/facts/enum/qp_state.h"
#include "rdmalab/status.h"

struct qp_edge {
    uint32_t type; /* enum qp_type */
    enum qp_state from, to;
    unsigned need; /* set of enum qp_attr_bit: must be given */
    unsigned may;  /* may be given as well */
};

/* All moves but those to RESET and ERR, which are legal from any state and take no attribute. */
extern const struct qp_edge qp_edges[];
extern const size_t n_qp_edges;

/* May a queue pair of @type in @from move to @to with the attributes @given (a mask, QPA_STATE and
 * QPA_CUR_STATE not counted)?
 *
 * Return: RDL_OK
 *	   RDL_ERR_STATE  no such edge; the masks are 0
 *	   RDL_ERR_INVAL  @reterr_missing are needed and not given, @reterr_extra given and not
 *	                  allowed; at least one of them is not 0
 */
enum rdl_status qp_fsm_check(uint32_t type, enum qp_state from, enum qp_state to, unsigned given,
                             unsigned *reterr_missing, unsigned *reterr_extra);

/* What a queue pair of @type needs for the move to @to on its way up, RESET - INIT - RTR - RTS: a
 * set of enum qp_attr_bit, QPA_STATE not counted.
 */
unsigned qp_fsm_needs(uint32_t type, enum qp_state to);

#endif
