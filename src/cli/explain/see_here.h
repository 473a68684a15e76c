/* SPDX-License-Identifier: MIT */
/* Adapts the commands that `explain` proposes to the lab where the reader stands. */
#ifndef CLI_EXPLAIN_SEE_HERE_H
#define CLI_EXPLAIN_SEE_HERE_H

#include <stdbool.h>

#include "emu/base/text.h"

struct rdl_lab;

#define SEE_HERE_BYTES 1024u

/* Returns true if @lab has no host.  NULL, the shell, counts as a lab without one. */
bool see_is_empty(const struct rdl_lab *lab);

/* Appends the commands of @see that work in @lab.  They are written for the lab of
 * examples_before[] (lang/table.h), with "; " between them: names such as h1.qp are replaced by
 * those of objects of the same kind.  Commands about objects that the lab does not have are left
 * out.
 */
void see_here(struct text *t, const struct rdl_lab *lab, const char *see);

#endif
