/* SPDX-License-Identifier: MIT */
/* Our libibverbs.so.1, which rdmalab carries inside itself. */
#ifndef PROGRAM_LIBRARY_H
#define PROGRAM_LIBRARY_H

#include <stddef.h>

/* program_library() returns the bytes of the library, program_library_bytes() their number: 0 if
 * this rdmalab was built without libibverbs' headers.
 */
const unsigned char *program_library(void);
size_t program_library_bytes(void);

#endif
