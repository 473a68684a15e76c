/* SPDX-License-Identifier: MIT */
/* The union in a send WQE of the RFC, whose members are the operands of an operation.  The opcode
 * and the type of the queue pair decide which member is valid.
 */
#ifndef CLI_SHOW_SHOW_OPERATION_H
#define CLI_SHOW_SHOW_OPERATION_H

#include "cli/explain/rfc_dump.h"
#include "emu/base/text.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/rfc.h"
#include "emu/facts/wr.h"

/* Appends the fields of the union as text: ", remote 0x1000 rkey 0x105".  Many opcodes have none.
 * @lists: REG_MR has its page list, as with the feature REG_IN_WQE.
 */
void operation_add_text(struct text *t, enum qp_type type, bool lists, const struct rfc_sq_wqe *w);

/* Passes the fields of the send WQE at @bytes to @to, including those of its union.  @n is the
 * number of bytes at @bytes: the WQE, and what follows it.  Returns the number of bytes that the
 * fields cover.
 */
size_t operation_dump(const struct rfc_sink *to, enum qp_type type, bool lists,
                      const uint8_t *bytes, size_t n);

#endif
