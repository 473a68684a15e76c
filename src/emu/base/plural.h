/* SPDX-License-Identifier: MIT */
/* The ending of a word behind a number: "1 frame waits", "2 frames wait". */
#ifndef EMU_BASE_PLURAL_H
#define EMU_BASE_PLURAL_H

#include <stdint.h>

/* Returns the ending of a noun behind @n: "" for one, otherwise "s". */
static inline const char *plural_s(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Returns the ending of the verb of @n things: "s" for one, otherwise "". */
static inline const char *singular_s(uint64_t n)
{
    return n == 1 ? "s" : "";
}

#endif
