/* SPDX-License-Identifier: MIT */
/* The answer of `why h1.mr[0:16]`: who wrote these bytes last, from where they came, and when that
 * source was written.
 */
#ifndef CLI_CMD_WHY_BYTES_H
#define CLI_CMD_WHY_BYTES_H

#include "cli/session/resolve.h"
#include "cli/session/session.h"
#include "emu/past/past.h"

/* Returns true if @target is a part of a memory region, like "h1.mr[0:16]". */
bool why_bytes_is_memory(const struct scope *in, const char *target);

/* Prints the answer for @m, which is called @name and is a part of a region, to @out.  Returns the
 * event that wrote these bytes last; NULL: none did, or it is not recorded.
 */
const struct ev *why_bytes_print(struct session *s, FILE *out, const struct past *p,
                                 const char *name, const struct memory *m);

#endif
