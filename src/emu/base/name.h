/* SPDX-License-Identifier: MIT */
/* What hosts, switches, external ports, faults and objects may be called. */
#ifndef EMU_BASE_NAME_H
#define EMU_BASE_NAME_H

#include <stdbool.h>

/* As a regular expression, which does not say that a name has less than RDL_NAME_BYTES. */
#define NAME_REGEX "[A-Za-z][A-Za-z0-9_-]*"

/* Is @s a name: a letter, then letters, digits, _ and -, all of ASCII, and not too many? */
bool name_is_valid(const char *s);

#endif
