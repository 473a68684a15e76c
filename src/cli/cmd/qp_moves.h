/* SPDX-License-Identifier: MIT */
/* Text about moves of queue pairs, made from the table of moves (facts/qp_fsm.h). */
#ifndef CLI_CMD_QP_MOVES_H
#define CLI_CMD_QP_MOVES_H

#include "emu/base/text.h"
#include "emu/facts/enum/qp_state.h"
#include "rdmalab/verbs.h"

/* Appends, for each attribute in @extra (set of enum qp_attr_bit), at which moves a queue pair of
 * @type takes it: "ah is taken at INIT -> RTR and SQD -> SQD".  If one move without attributes
 * leads from @from to a state that takes it, appends the command: "modify_qp h1.qp state=SQD".
 */
void qp_moves_add_takes(struct text *t, uint32_t type, enum qp_state from, uint32_t extra,
                        const char *path);

/* Appends the states from which a queue pair of @type can move to @to: "SQD is reached from RTS and
 * SQD".
 */
void qp_moves_add_sources(struct text *t, uint32_t type, enum qp_state to);

/* Appends the value that is out of range and the range: "retry_cnt is 15, and must be 0 to 7". */
void qp_moves_add_range(struct text *t, const struct rdl_attr_range *r);

#endif
