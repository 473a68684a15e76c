/* SPDX-License-Identifier: MIT */
/* The syntax of names of hosts, switches, external ports, faults and objects. */
#ifndef EMU_BASE_NAME_H
#define EMU_BASE_NAME_H

#include <stdbool.h>

/* The syntax as a regular expression.  The limit of RDL_NAME_BYTES - 1 characters is not in it. */
#define NAME_REGEX "[A-Za-z][A-Za-z0-9_-]*"

/* Returns true if @s is a valid name: an ASCII letter, then letters, digits, _ and -, fewer than
 * RDL_NAME_BYTES in all.
 */
bool name_is_valid(const char *s);

#endif
