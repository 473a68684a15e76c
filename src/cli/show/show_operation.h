/* SPDX-License-Identifier: MIT */
/* What the union of a send WQE says, which its opcode and the type of its queue pair decide. */
#ifndef CLI_SHOW_SHOW_OPERATION_H
#define CLI_SHOW_SHOW_OPERATION_H

#include "cli/explain/rfc_dump.h"
#include "emu/base/text.h"
#include "emu/facts/rfc.h"
#include "emu/facts/wr.h"

/* Appends what @w says beside its head and SGEs: ", remote 0x1000 rkey 0x105"; often nothing. */
void operation_add_text(struct text *t, enum qp_type type, const struct rfc_sq_wqe *w);

/* Hands out the send WQE at the beginning of the @n bytes, its union field by field.  Returns how
 * many of its bytes there were.
 */
size_t operation_dump(const struct rfc_sink *to, enum qp_type type, const uint8_t *bytes, size_t n);

#endif
