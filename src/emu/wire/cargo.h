/* SPDX-License-Identifier: MIT */
/* A block of the arena that a frame has in place of bytes. */
#ifndef EMU_WIRE_CARGO_H
#define EMU_WIRE_CARGO_H

#include <stddef.h>

/* The block begins with this. */
struct cargo {
    size_t block_bytes; /* size of the block */
};

#endif
