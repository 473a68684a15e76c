/* SPDX-License-Identifier: MIT */
/* The page sizes that a device can support.  A value is the binary logarithm of the size, which is
 * the number of its bit in page_size_cap.
 */
#ifndef EMU_FACTS_ENUM_PAGE_SIZE_H
#define EMU_FACTS_ENUM_PAGE_SIZE_H

#include "emu/facts/enum_table.h"

#define ENUM_PAGE_SIZE(X)                                                                          \
    X(PAGE, 4k, 12, "4096 bytes, which every device supports")                                     \
    X(PAGE, 64k, 16, "65536 bytes")                                                                \
    X(PAGE, 2m, 21, "2 MiB")

enum page_size { ENUM_PAGE_SIZE(ENUM_MEMBER) };

#define PAGE_SIZES_ALL (1u << PAGE_4k | 1u << PAGE_64k | 1u << PAGE_2m)

#endif
