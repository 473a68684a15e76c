/* SPDX-License-Identifier: MIT */
/* The seam between a guest and its device.
 *
 * A guest sees a device as registers behind these two functions, as whatever the device writes into
 * guest RAM, and as interrupts (guest_interrupt()).  There is no other way across.
 */
#ifndef EMU_GUEST_BUS_H
#define EMU_GUEST_BUS_H

#include <stdint.h>

struct guest_bus {
    /* An access of @width (1, 2, 4) bytes at @offset of the device's BAR. */
    uint64_t (*read)(void *ctx, uint32_t offset, uint32_t width);
    void (*write)(void *ctx, uint32_t offset, uint32_t width, uint64_t value);
};

#endif
