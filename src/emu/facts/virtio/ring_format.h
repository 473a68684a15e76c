/* SPDX-License-Identifier: MIT */
/* The formats of virtqueues.  [virtio 1.2, 2.7 and 2.8] */
#ifndef EMU_FACTS_VIRTIO_RING_FORMAT_H
#define EMU_FACTS_VIRTIO_RING_FORMAT_H

#include "emu/facts/enum_table.h"

#define ENUM_RING_FORMAT(X)                                                                        \
    X(VRING, split, 0, "a table of descriptors, and a ring of each side that names them")          \
    X(VRING, packed, 1, "one ring of descriptors, which both sides write")

enum ring_format { ENUM_RING_FORMAT(ENUM_MEMBER) };

#endif
