/* SPDX-License-Identifier: MIT */
/* The PCI function of a virtio device: configuration space, BARs and interrupts.
 *
 *   configuration space   256 bytes, a table of fields (facts/pci.h): IDs, the command register,
 *                         BARs, the list of capabilities
 *   BAR 0                 the virtio structures, at the offsets of facts/regs.h
 *   BAR 1                 the MSI-X table, and in the second half the pending bits
 *
 * A BAR answers at the address in its register, while memory space is enabled in the command
 * register.  Elsewhere reads return all ones, as on a bus where no device answers.  A BAR register
 * written with all ones reads back as the mask of its size.  Until the driver enables bus
 * mastering, the device neither accesses memory (virtio_running()) nor sends a message.
 *
 * Interrupts.  With MSI-X enabled, each interrupt is a message: 4 bytes written to an address.
 * Address and data are read from the table when the message is sent.  If the vector or the
 * function is masked, or bus mastering is off, only the pending bit is set.  The message is sent
 * when neither is masked and bus mastering is on.  Without MSI-X the ISR status holds the reason.
 * The line INTx is high while the ISR status is not 0 and INTx is not disabled.  It is a level and
 * lasts until the driver reads the ISR status.
 *
 * A message travels as SIM_IRQ.  The handler of SIM_IRQ takes it with fn_take_message().  A rising
 * edge of INTx is a SIM_IRQ, too.  The line may be low again when the edge arrives: see
 * fn_line_is_high().
 *
 * Invariants: while MSI-X is enabled, a pending vector cannot be sent.  The table is allocated when
 * it is first written to or MSI-X is enabled.
 *
 * SIMPLIFIED: conventional PCI, without power management and PCI Express, which no driver of virtio
 * needs.
 */
#ifndef EMU_VIRTIO_FUNCTION_H
#define EMU_VIRTIO_FUNCTION_H

#include "emu/facts/pci.h"
#include "emu/virtio/pci.h"

/* BAR numbers. */
#define FN_BAR_VIRTIO 0u
#define FN_BAR_MSIX   1u
#define FN_BARS       2u

struct fn_config {
    uint32_t number;     /* function number in the slot, 0 or 1; selects the interrupt pin */
    uint32_t virtio_id;  /* virtio device type: 1 is net, 42 is rdma */
    uint32_t class_code; /* PCI class code, 24 bits */
    uint16_t subsystem;  /* subsystem ID; its vendor is PCI_VENDOR_VIRTIO */
    bool multifunction;  /* the slot has other functions */
};

/* An MSI-X message: @data is written to @address. */
struct fn_message {
    uint64_t address;
    uint32_t data;
};

/* A message in flight, or a free entry.  In a free entry `unused` is the number of the next free
 * entry, counted from 1; 0: there is no other.
 */
struct fn_sent {
    struct fn_message message;
    uint32_t unused;
};

/* An entry of the MSI-X table. */
struct fn_vector {
    struct fn_message message;
    bool masked, pending;
    uint32_t queue; /* queue that raised it last, or VIRTIO_IRQ_CONFIG */
};

struct pci_fn {
    struct virtio_dev *dev;
    struct arena *arena;
    struct fn_config config;
    uint16_t command;            /* set of enum pci_command_bit */
    uint32_t bar[FN_BARS];       /* values of the BAR registers: guest-physical addresses */
    uint32_t bar_bytes[FN_BARS]; /* sizes of the BARs in bytes, powers of two */
    uint8_t interrupt_line, cache_line;
    struct { /* registers of the capability VIRTIO_CAP_PCI, which gives access to a BAR */
        uint8_t bar;
        uint32_t offset, length;
    } window;
    bool msix_enabled, msix_masked; /* bits of the MSI-X message control */
    uint32_t n_pending;             /* number of pending vectors */
    struct fn_vector *vectors;      /* dev->config.n_vectors entries; NULL: all as after power-on */
    struct fn_sent *sent;           /* messages in flight, and free entries */
    uint32_t sent_cap;
    uint32_t unused;  /* first free entry of @sent, counted from 1; 0: none */
    bool line_rising; /* a SIM_IRQ of the line is scheduled */
};

/* Initializes @f as after power-on, and sets dev->fn.  The memory of @f is freed with the arena. */
void fn_init(struct pci_fn *f, struct arena *a, struct virtio_dev *dev,
             const struct fn_config *config);

/* Resets configuration space, MSI-X table and virtio device, as power-on or a bus reset does.
 * Messages in flight still arrive.
 */
void fn_reset(struct pci_fn *f);

/* Read and write configuration space.  @width is 1, 2 or 4 bytes and @offset a multiple of it.
 * Other accesses and those beyond the end read as all ones and write nothing.
 */
uint32_t fn_config_read(struct pci_fn *f, uint32_t offset, uint32_t width);
void fn_config_write(struct pci_fn *f, uint32_t offset, uint32_t width, uint32_t value);

/* Like fn_config_read(), but emits no event and has no side effect.  The data register of
 * VIRTIO_CAP_PCI reads as 0.
 */
uint32_t fn_config_peek(const struct pci_fn *f, uint32_t offset, uint32_t width);

/* Read and write @bar at @offset, even if memory space is disabled.  BAR 0: as virtio_read() and
 * virtio_write().  BAR 1: as fn_msix_read() and fn_msix_write().  Other BARs read as 0 and ignore
 * writes.
 */
uint64_t fn_bar_read(struct pci_fn *f, uint32_t bar, uint32_t offset, uint32_t width);
void fn_bar_write(struct pci_fn *f, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value);

/* Finds the BAR that answers at guest-physical address @gpa.  Returns true with its number in
 * *@ret_bar and the offset of @gpa in *@ret_offset.  Returns false if no BAR answers.
 */
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

/* Returns true if fn_raise() has an effect with @vector: MSI-X is disabled, or @vector is an entry
 * of the MSI-X table.
 */
bool fn_can_raise(const struct pci_fn *f, uint32_t vector);

/* Raises an interrupt for @queue, or for VIRTIO_IRQ_CONFIG.  With MSI-X enabled, sends the message
 * of @vector, or sets its pending bit and emits irq_held if it cannot be sent now.  Without MSI-X,
 * sets the ISR status and schedules SIM_IRQ if the INTx line rises.  Does nothing unless
 * fn_can_raise().
 */
void fn_raise(struct pci_fn *f, uint32_t vector, uint32_t queue);

/* Clears all pending bits of the MSI-X table.  Called on device reset, because a device must not
 * interrupt after it.  [virtio 1.2, 2.4.1]
 */
void fn_forget_pending(struct pci_fn *f);

/* Schedules SIM_IRQ if the INTx line has risen.  Call it after each change of the ISR status. */
void fn_isr_changed(struct pci_fn *f);

/* Returns true while the function drives the INTx line high. */
static inline bool fn_line_is_high(const struct pci_fn *f)
{
    return f->dev->isr != 0 && !f->msix_enabled && !(f->command & PCI_CMD_INTX_OFF);
}

/* Takes the message that SIM_IRQ with argument @irq delivers.  Call it once per SIM_IRQ.  Returns
 * true with the message in *@ret.  Returns false if @irq is a rising edge of INTx; the line is
 * still high if fn_line_is_high().
 */
bool fn_take_message(struct pci_fn *f, struct virtio_irq irq, struct fn_message *ret);

#endif
