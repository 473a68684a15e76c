/* SPDX-License-Identifier: MIT */
/* The state graph of queue pairs: the legal transitions, and the attributes of each transition.
 *
 * Driver and device use the same rows.  The device checks a transition again because a driver may
 * omit the check.
 */
#ifndef EMU_FACTS_QP_FSM_H
#define EMU_FACTS_QP_FSM_H

#include <stddef.h>

#include "emu/facts/enum/qp_state.h"
#include "rdmalab/status.h"

struct qp_edge {
    uint32_t type; /* enum qp_type */
    enum qp_state from, to;
    unsigned need; /* required attributes, a set of enum qp_attr_bit */
    unsigned may;  /* optional attributes, a set of enum qp_attr_bit */
};

/* All transitions except those to RESET and ERR, which are legal from any state and take no
 * attributes.
 */
extern const struct qp_edge qp_edges[];
extern const size_t n_qp_edges;

/* Checks the transition of a queue pair of @type (enum qp_type) from @from to @to with the
 * attributes @given, a set of enum qp_attr_bit without QPA_STATE and QPA_CUR_STATE.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STATE  no such transition; both masks are 0
 *	   RDL_ERR_INVAL  *@reterr_missing are required attributes that are not given,
 *	                  *@reterr_extra given attributes that are not allowed
 */
enum rdl_status qp_fsm_check(uint32_t type, enum qp_state from, enum qp_state to, unsigned given,
                             unsigned *reterr_missing, unsigned *reterr_extra);

/* Returns the next row of qp_edges after @after (NULL: the first) for a queue pair of @type that
 * requires or takes @attr, one of enum qp_attr_bit.  Returns NULL if there is none.
 */
const struct qp_edge *qp_fsm_takes(uint32_t type, unsigned attr, const struct qp_edge *after);

/* Returns the next row of qp_edges after @after (NULL: the first) for a queue pair of @type that
 * leads to @to.  Returns NULL if there is none.
 */
const struct qp_edge *qp_fsm_leads(uint32_t type, enum qp_state to, const struct qp_edge *after);

/* Returns the required attributes of the transition of a queue pair of @type to @to from the
 * previous state in the order RESET, INIT, RTR, RTS.  The attributes are a set of enum qp_attr_bit
 * without QPA_STATE.  Returns 0 for any other @to.
 */
unsigned qp_fsm_needs(uint32_t type, enum qp_state to);

#endif
