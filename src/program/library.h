/* SPDX-License-Identifier: MIT */
/* The libraries for programs, which rdmalab carries inside itself. */
#ifndef PROGRAM_LIBRARY_H
#define PROGRAM_LIBRARY_H

#include <stddef.h>

struct program_library {
    const char *name; /* of the file */
    const unsigned char *bytes;
    size_t n_bytes;
};

#define PROGRAM_LIBRARIES 2u
#define PROGRAM_PRELOADED "librdmalab-files.so"

/* Returns library @i, of PROGRAM_LIBRARIES: libibverbs.so.1 and PROGRAM_PRELOADED; or one without
 * bytes, if this rdmalab was built without libibverbs' headers.
 */
struct program_library program_library(size_t i);

#endif
