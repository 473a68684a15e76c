/* SPDX-License-Identifier: MIT */
/* copy_payload(): memcpy() for payload.
 *
 * The C library's memcpy() selects the best code for the processor at run time.  If the compiler
 * knows that the length is at most a page, it emits its own generic instructions instead, which are
 * slower on most processors.  The empty asm hides the length from the compiler.
 */
#ifndef EMU_BASE_COPY_H
#define EMU_BASE_COPY_H

#include <stddef.h>
#include <string.h>

static inline void copy_payload(void *to, const void *from, size_t bytes)
{
    __asm__("" : "+r"(bytes));
    memcpy(to, from, bytes);
}

#endif
