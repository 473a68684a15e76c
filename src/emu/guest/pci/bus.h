/* SPDX-License-Identifier: MIT */
/* The interface between a guest and its devices.
 *
 * A guest reaches a device only through its bus: configuration space, addressed by function number
 * in the slot, and memory accesses to the BARs that the guest placed.  A device reaches the guest
 * only by writing into guest RAM and by interrupts (guest_message(), guest_line()).  Reads that no
 * device answers return all ones.
 */
#ifndef EMU_GUEST_BUS_H
#define EMU_GUEST_BUS_H

#include <stdint.h>

struct guest_bus {
    /* Read and write @width (1, 2, 4) bytes at @offset of the configuration space of function
     * @number.
     */
    uint32_t (*config_read)(void *ctx, uint32_t number, uint32_t offset, uint32_t width);
    void (*config_write)(void *ctx, uint32_t number, uint32_t offset, uint32_t width,
                         uint32_t value);
    /* Read and write @width (1, 2, 4, 8) bytes at the guest-physical address @gpa, which is not
     * RAM.
     */
    uint64_t (*read)(void *ctx, uint64_t gpa, uint32_t width);
    void (*write)(void *ctx, uint64_t gpa, uint32_t width, uint64_t value);
};

#endif
