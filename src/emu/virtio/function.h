/* SPDX-License-Identifier: MIT */
/* The PCI function around a virtio device: what a driver meets before it meets a register.
 *
 *   configuration space   256 bytes, a table of fields (facts/pci.h): who it is, the command
 *                         register, BARs, the list of capabilities
 *   BAR 0                 the virtio structures, where facts/regs.h has them
 *   BAR 1                 the MSI-X table, and from the middle on the pending bits
 *
 * A BAR answers where its register says, and only while memory space is on in the command register;
 * elsewhere reads give all ones, as on a bus where nobody answers.  Written with ones, a BAR's
 * register reads back as its size.  Until a driver has turned bus mastering on, the device neither
 * reaches memory (virtio_running()) nor sends a message.
 *
 * Interrupts.  With MSI-X enabled each is a message, 4 bytes that are written to an address, both
 * out of the table at the moment of raising.  Of a masked vector (or all, by the function's mask,
 * or without bus mastering) only the pending bit is set; the message goes when that ends.  Without
 * MSI-X the ISR status has the reason, and the line INTx is high while it is not 0 and INTx is not
 * disabled: a level, which lasts until the driver reads the ISR status.
 *
 * A message travels as SIM_IRQ: whoever dispatches that takes it with fn_take_message().  A line
 * that rises travels the same way, and may be low again when it arrives: fn_line_is_high().
 *
 * Invariants: what MSI-X has pending may not be sent, or MSI-X is off; the table exists once it was
 * written to or MSI-X was enabled, and not before.
 *
 * SIMPLIFIED: conventional PCI, without power management and PCI Express, which no driver of virtio
 * needs.
 */
#ifndef EMU_VIRTIO_FUNCTION_H
#define EMU_VIRTIO_FUNCTION_H

#include "emu/facts/pci.h"
#include "emu/virtio/pci.h"

/* Which BAR has what. */
#define FN_BAR_VIRTIO 0u
#define FN_BAR_MSIX   1u
#define FN_BARS       2u

struct fn_config {
    uint32_t number;     /* of the function in its slot: 0 or 1; chooses the interrupt pin */
    uint32_t virtio_id;  /* 1 is net, 42 rdma */
    uint32_t class_code; /* 24 bits */
    uint16_t subsystem;  /* of vendor PCI_VENDOR_VIRTIO */
    bool multifunction;  /* there are others in the slot */
};

/* What is written where to interrupt. */
struct fn_message {
    uint64_t address;
    uint32_t data;
};

/* A message on its way, or a place for one: then with the next such place, from 1, or 0. */
struct fn_sent {
    struct fn_message message;
    uint32_t unused;
};

/* A row of the MSI-X table, and what a driver does not see of it. */
struct fn_vector {
    struct fn_message message;
    bool masked, pending;
    uint32_t queue; /* that raised it last, or VIRTIO_IRQ_CONFIG */
};

struct pci_fn {
    struct virtio_dev *dev;
    struct arena *arena;
    struct fn_config config;
    uint16_t command;            /* set of enum pci_command_bit */
    uint32_t bar[FN_BARS];       /* base addresses */
    uint32_t bar_bytes[FN_BARS]; /* powers of two */
    uint8_t interrupt_line, cache_line;
    struct { /* the window of the capability for access */
        uint8_t bar;
        uint32_t offset, length;
    } window;
    bool msix_enabled, msix_masked; /* of the message control */
    uint32_t n_pending;             /* vectors */
    struct fn_vector *vectors;      /* dev->config.n_vectors, or NULL: as after power-on */
    struct fn_sent *sent;           /* messages on their way */
    uint32_t sent_cap;
    uint32_t unused;  /* the first place of @sent that is free, from 1; 0: none */
    bool line_rising; /* SIM_IRQ of the line is on its way */
};

/* Around @dev, which it makes its own: after power-on.  Memory goes with the arena. */
void fn_init(struct pci_fn *f, struct arena *a, struct virtio_dev *dev,
             const struct fn_config *config);

/* Power-on, or the bus's reset: configuration space, MSI-X table and virtio device as at the start.
 * What was sent arrives all the same.
 */
void fn_reset(struct pci_fn *f);

/* An access of configuration space, @width 1, 2 or 4 bytes at a multiple of that; others, and those
 * beyond its end, read as all ones and write nothing.
 */
uint32_t fn_config_read(struct pci_fn *f, uint32_t offset, uint32_t width);
void fn_config_write(struct pci_fn *f, uint32_t offset, uint32_t width, uint32_t value);

/* What fn_config_read() would give, for who only looks: no event, and 0 for the data of the window
 * into a BAR.
 */
uint32_t fn_config_peek(const struct pci_fn *f, uint32_t offset, uint32_t width);

/* An access of @bar, as if it were decoded: virtio_read(), virtio_write() for BAR 0; of BAR 1 at
 * widths 4 and 8 alone, as PCI has it for the MSI-X table.  Others read as 0.
 */
uint64_t fn_bar_read(struct pci_fn *f, uint32_t bar, uint32_t offset, uint32_t width);
void fn_bar_write(struct pci_fn *f, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value);

/* Which BAR answers at guest-physical @gpa, and at what offset of it; false: none. */
static inline bool fn_decode(const struct pci_fn *f, uint64_t gpa, uint32_t *ret_bar,
                             uint32_t *ret_offset)
{
    if (!(f->command & PCI_CMD_MEMORY))
        return false;
    for (uint32_t i = 0; i < FN_BARS; i++) {
        const uint64_t at = gpa - f->bar[i];

        if (gpa >= f->bar[i] && at < f->bar_bytes[i] && f->bar[i] != 0) {
            *ret_bar = i;
            *ret_offset = (uint32_t)at;
            return true;
        }
    }
    return false;
}

/* Does fn_raise() of @vector reach the driver?  With MSI-X it must be one of the table's. */
bool fn_can_raise(const struct pci_fn *f, uint32_t vector);

/* The device interrupts for @queue, or VIRTIO_IRQ_CONFIG, with @vector if it has MSI-X. */
void fn_raise(struct pci_fn *f, uint32_t vector, uint32_t queue);

/* The device was reset: what is pending is forgotten, as it must be silent now.
 * [virtio 1.2, 2.4.1]
 */
void fn_forget_pending(struct pci_fn *f);

/* The ISR status has changed: does the line rise? */
void fn_isr_changed(struct pci_fn *f);

/* Is the INTx line of this function high now? */
static inline bool fn_line_is_high(const struct pci_fn *f)
{
    return f->dev->isr != 0 && !f->msix_enabled && !(f->command & PCI_CMD_INTX_OFF);
}

/* The message that SIM_IRQ with argument @irq delivers, once; false: it is the line, which has
 * risen, fn_line_is_high() says whether it still is high.
 */
bool fn_take_message(struct pci_fn *f, struct virtio_irq irq, struct fn_message *ret);

#endif
