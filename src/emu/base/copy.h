/* SPDX-License-Identifier: MIT */
/* Copying payload.
 *
 * The C library's memcpy() is made for the processor that it finds itself on.  A compiler that
 * knows the length to be at most a page writes instructions of its own instead, which run on every
 * processor and are slow on most; so it is not told.
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
