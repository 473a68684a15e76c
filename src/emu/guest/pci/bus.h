/* SPDX-License-Identifier: MIT */
/* The seam between a guest and its devices.
 *
 * A guest sees a device as what answers on its bus: configuration space, by the number of the
 * function in its slot, and memory where the guest has put BARs; as whatever the device writes into
 * guest RAM; and as interrupts (guest_message(), guest_line()).  There is no other way across.
 * Where nobody answers, reads give all ones.
 */
#ifndef EMU_GUEST_BUS_H
#define EMU_GUEST_BUS_H

#include <stdint.h>

struct guest_bus {
    /* An access of @width (1, 2, 4) bytes at @offset of function @number's configuration space. */
    uint32_t (*config_read)(void *ctx, uint32_t number, uint32_t offset, uint32_t width);
    void (*config_write)(void *ctx, uint32_t number, uint32_t offset, uint32_t width,
                         uint32_t value);
    /* An access of @width (1, 2, 4, 8) bytes at guest-physical @gpa, which is no RAM. */
    uint64_t (*read)(void *ctx, uint64_t gpa, uint32_t width);
    void (*write)(void *ctx, uint64_t gpa, uint32_t width, uint64_t value);
};

#endif
