/* SPDX-License-Identifier: MIT */
/* A PCI function: configuration space, BARs and interrupts of any device.
 *
 *   configuration space   256 bytes, or 4,096 with PCI Express, as a table of fields
 *                         (facts/enum/pci_field.h): the header, which all functions have, and the
 *                         device's capabilities
 *   the BAR of MSI-X      the MSI-X table, and in the second half the pending bits
 *   the other BARs        the device's registers: struct pci_fn_ops
 *
 * A BAR answers at the address in its register, while memory space is enabled in the command
 * register.  Elsewhere reads return all ones, as on a bus where no device answers.  A BAR register
 * written with all ones reads back as the mask of its size.  Until the driver enables bus
 * mastering, the device must not access memory, and the function sends no message.
 *
 * Interrupts.  With MSI-X enabled, each interrupt is a message: 4 bytes written to an address.
 * Address and data are read from the table when the message is sent.  If the vector or the
 * function is masked, or bus mastering is off, only the pending bit is set.  The message is sent
 * when neither is masked and bus mastering is on.  Without MSI-X the device remembers the reason.
 * The line INTx is high while the device has a reason and INTx is not disabled.  It is a level and
 * lasts until the driver has taken the reason.
 *
 * A message travels as SIM_IRQ.  The handler of SIM_IRQ takes it with fn_take_message().  A rising
 * edge of INTx is a SIM_IRQ, too.  The line may be low again when the edge arrives: see
 * fn_line_is_high().
 *
 * Invariants: while MSI-X is enabled, a pending vector cannot be sent.  The table is allocated when
 * it is first written to or MSI-X is enabled.
 *
 * SIMPLIFIED: no power management.  A function with PCI Express is an endpoint that is integrated
 * in the root complex, so that it has no link.  [PCI Express 5.0, 7.5.3]
 */
#ifndef EMU_PCI_FUNCTION_H
#define EMU_PCI_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/facts/pci.h"
#include "emu/sim/sim.h"

#define FN_NUMBERS     8u    /* functions of a slot are numbered from 0 */
#define FN_VECTORS_MAX 2048u /* entries of an MSI-X table */

/* Delay from raising an interrupt to the driver's handler. */
#define FN_IRQ_NS 100u

/* In place of the number of a queue: an interrupt of the device as a whole. */
#define FN_NO_QUEUE 0xffffffffu
/* Queues that can raise an interrupt have smaller numbers. */
#define FN_QUEUES_MAX 0x1ffffu

/* In place of an MSI-X vector: the line INTx. */
#define FN_LINE 0xffffu

/* A field of a function's configuration space. */
struct pci_place {
    uint16_t at;    /* offset; fields of a table are in this order and do not overlap */
    uint16_t field; /* enum pci_field */
    uint32_t value; /* of a constant field; ignored if the function computes it or @own */
    uint32_t mask;  /* bits that the driver can write */
    bool own;       /* a register of the device: get(), read() and put() of its ops */
};

/* The MSI-X capability at offset @AT, before the capability at @NEXT; for a table of places. */
#define FN_PLACES_MSIX(AT, NEXT)                                                                   \
    {(AT), PCI_MSIX_CAP, PCI_CAP_ID_MSIX, 0, false},                                               \
        {(AT) + PCI_AT_NEXT, PCI_MSIX_NEXT, (NEXT), 0, false},                                     \
        {(AT) + MSIX_AT_CONTROL, PCI_MSIX_CONTROL, 0, MSIX_ENABLE | MSIX_FUNCTION_MASK, false},    \
        {(AT) + MSIX_AT_TABLE, PCI_MSIX_TABLE, 0, 0, false},                                       \
    {                                                                                              \
        (AT) + MSIX_AT_PBA, PCI_MSIX_PBA, 0, 0, false                                              \
    }

/* The same for the PCI Express capability, EXPRESS_CAP_BYTES long. */
#define FN_PLACES_EXPRESS(AT, NEXT)                                                                \
    {(AT), PCI_EXPRESS_CAP, PCI_CAP_ID_EXPRESS, 0, false},                                         \
        {(AT) + PCI_AT_NEXT, PCI_EXPRESS_NEXT, (NEXT), 0, false},                                  \
        {(AT) + EXPRESS_AT_FLAGS, PCI_EXPRESS_FLAGS,                                               \
         EXPRESS_VERSION | EXPRESS_INTEGRATED << EXPRESS_TYPE_BIT, 0, false},                      \
        {(AT) + EXPRESS_AT_CAPS, PCI_EXPRESS_CAPS, EXPRESS_CAPS_ROLE | EXPRESS_CAPS_RESET, 0,      \
         false},                                                                                   \
        {(AT) + EXPRESS_AT_CONTROL, PCI_EXPRESS_CONTROL, 0,                                        \
         EXPRESS_CONTROL_MASK | EXPRESS_CONTROL_RESET, false},                                     \
    {                                                                                              \
        (AT) + EXPRESS_AT_STATUS, PCI_EXPRESS_STATUS, 0, 0, false                                  \
    }

/* Calls from a function to the device behind it; @dev is the argument of fn_init(). */
struct pci_fn_ops {
    /* Read and write @bar, which is not that of MSI-X, at @offset, which is in it.  @width is 1, 2,
     * 4 or 8 bytes, at any offset.
     */
    uint64_t (*bar_read)(void *dev, uint32_t bar, uint32_t offset, uint32_t width);
    void (*bar_write)(void *dev, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value);
    /* Returns the width in bytes of the register that begins at @offset of @bar, or 0 if none
     * begins there.  NULL: each register has 4 bytes.
     */
    uint32_t (*reg_bytes)(uint32_t bar, uint32_t offset);

    /* The device's own fields of configuration space; NULL if it has none.  get() has no side
     * effect.  read() is an access of the driver, and may have some.
     */
    uint32_t (*get)(const void *dev, uint32_t field);
    uint32_t (*read)(void *dev, uint32_t field);
    void (*put)(void *dev, uint32_t field, uint32_t value);

    /* The driver has switched bus mastering on or off; or the function is reset: it is off. */
    void (*mastering)(void *dev, bool on);
    /* The function was reset, and so must be the device. */
    void (*reset)(void *dev);

    /* An interrupt of @queue, or FN_NO_QUEUE, was raised without MSI-X: the device remembers the
     * reason.  has_reason() returns true until the driver has taken it.
     */
    void (*interrupt)(void *dev, uint32_t queue);
    bool (*has_reason)(const void *dev);

    /* The handler of SIM_DOORBELL: the device looks at @queue, a number of its own.  NULL: the
     * device never calls fn_ring_doorbell().
     */
    void (*doorbell)(void *dev, uint32_t queue);
};

/* The place of a function in the slot of its host. */
struct fn_slot {
    uint32_t number;    /* less than FN_NUMBERS; selects the interrupt pin */
    bool multifunction; /* the slot has other functions */
};

struct fn_config {
    uint32_t host;     /* host index, for events; target of SIM_IRQ */
    uint32_t function; /* enum pci_function, for events */
    struct fn_slot slot;
    uint16_t vendor, device, subsystem_vendor, subsystem; /* IDs */
    uint8_t revision;
    uint32_t class_code;            /* 24 bits */
    uint32_t config_bytes;          /* PCI_CONFIG_BYTES or PCI_CONFIG_BYTES_EXPRESS */
    uint32_t bar_bytes[PCI_BARS];   /* bytes that the device needs; 0: no such BAR, or MSI-X's */
    uint32_t msix_bar;              /* number of the BAR with the MSI-X table, and nothing else */
    uint32_t n_vectors;             /* 1 .. FN_VECTORS_MAX */
    const struct pci_place *places; /* the capabilities, from offset 0x40 on; not copied */
    size_t n_places;
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
    uint32_t queue; /* queue that raised it last, or FN_NO_QUEUE */
};

struct sriov;

struct pci_fn {
    const struct pci_fn_ops *ops;
    void *dev;
    struct arena *arena;
    struct sim *sim;
    struct fn_config config;
    uint16_t command;             /* set of enum pci_command_bit */
    uint32_t bar[PCI_BARS];       /* values of the BAR registers: guest-physical addresses */
    uint32_t bar_bytes[PCI_BARS]; /* sizes of the BARs in bytes, powers of two; 0: no such BAR */
    uint8_t interrupt_line, cache_line;
    uint16_t express_control;       /* Device Control of PCI Express */
    bool msix_enabled, msix_masked; /* bits of the MSI-X message control */
    uint32_t n_pending;             /* number of pending vectors */
    struct fn_vector *vectors;      /* config.n_vectors entries; NULL: all as after power-on */
    struct fn_sent *sent;           /* messages in flight, and free entries */
    uint32_t sent_cap;
    uint32_t unused;     /* first free entry of @sent, counted from 1; 0: none */
    bool line_rising;    /* a SIM_IRQ of the line is scheduled */
    struct sriov *sriov; /* its virtual functions, see vf.h; NULL: it can have none */
};

/* Initializes @f as after power-on.  The memory of @f is freed with the arena.  @ops and @dev must
 * outlive it.  Calls no function of @ops.
 */
void fn_init(struct pci_fn *f, struct arena *a, struct sim *sim, const struct fn_config *config,
             const struct pci_fn_ops *ops, void *dev);

/* Resets configuration space, MSI-X table and device, as power-on or a bus reset does.  Messages in
 * flight still arrive.
 */
void fn_reset(struct pci_fn *f);

/* Read and write configuration space.  @width is 1, 2 or 4 bytes and @offset a multiple of it.
 * Other accesses and those beyond the end read as all ones and write nothing.
 */
uint32_t fn_config_read(struct pci_fn *f, uint32_t offset, uint32_t width);
void fn_config_write(struct pci_fn *f, uint32_t offset, uint32_t width, uint32_t value);

/* Like fn_config_read(), but emits no event and has no side effect. */
uint32_t fn_config_peek(const struct pci_fn *f, uint32_t offset, uint32_t width);

/* Finds the offset of @field in configuration space.  Returns false if the function does not have
 * the field.  Those of the header that read as 0 count as fields of every function.
 */
bool fn_find_field(const struct pci_fn *f, uint32_t field, uint32_t *ret_offset);

/* Return the width in bytes of the field that begins at @offset of configuration space, or 1 if
 * none does; and of the register that begins at @offset of @bar, or 0 if none does.
 */
uint32_t fn_field_bytes(const struct pci_fn *f, uint32_t offset);
uint32_t fn_reg_bytes(const struct pci_fn *f, uint32_t bar, uint32_t offset);

/* Read and write @bar at @offset, even if memory space is disabled.  The BAR of MSI-X: as
 * fn_msix_read() and fn_msix_write().  BARs that the function does not have read as 0 and ignore
 * writes.
 */
uint64_t fn_bar_read(struct pci_fn *f, uint32_t bar, uint32_t offset, uint32_t width);
void fn_bar_write(struct pci_fn *f, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value);

/* Finds the BAR that answers at guest-physical address @gpa.  Returns true with its number in
 * *@ret_bar and the offset of @gpa in *@ret_offset.  Returns false if no BAR answers.
 */
bool fn_decode(const struct pci_fn *f, uint64_t gpa, uint32_t *ret_bar, uint32_t *ret_offset);

/* Returns true while the driver lets the device access memory. */
bool fn_is_master(const struct pci_fn *f);

/* Switches bus mastering on or off, as a write of the command register does, but emits no event. */
void fn_set_master(struct pci_fn *f, bool on);

/* Return the value of MSI-X Message Control, and the offset of the pending bits in the BAR of
 * MSI-X.
 */
uint32_t fn_msix_control_of(const struct pci_fn *f);
uint32_t fn_pba_offset(const struct pci_fn *f);

/* Returns true if fn_raise() has an effect with @vector: MSI-X is disabled, or @vector is an entry
 * of the MSI-X table.
 */
bool fn_can_raise(const struct pci_fn *f, uint32_t vector);

/* Raises an interrupt for @queue, or for FN_NO_QUEUE.  With MSI-X enabled, sends the message of
 * @vector, or sets its pending bit and emits irq_held if it cannot be sent now.  Without MSI-X,
 * tells the device the reason and schedules SIM_IRQ if the INTx line rises.  Does nothing unless
 * fn_can_raise().
 */
void fn_raise(struct pci_fn *f, uint32_t vector, uint32_t queue);

/* Clears all pending bits of the MSI-X table.  A device that must not interrupt after a reset calls
 * it there.  [virtio 1.2, 2.4.1]
 */
void fn_forget_pending(struct pci_fn *f);

/* Schedules SIM_IRQ if the INTx line has risen.  Call it when a reason remains, or has come
 * otherwise than by fn_raise().
 */
void fn_reason_changed(struct pci_fn *f);

/* Returns true while the function drives the INTx line high. */
bool fn_line_is_high(const struct pci_fn *f);

/* Schedules SIM_DOORBELL, @delay_ns from now: the device is to look at @queue. */
void fn_ring_doorbell(const struct pci_fn *f, uint32_t queue, uint64_t delay_ns);

/* The argument of SIM_DOORBELL and SIM_GO_ON: a queue of a function.  The target is the host. */
struct fn_queue {
    uint32_t number; /* of the function in its slot */
    uint32_t queue;
};

static inline uint64_t fn_queue_arg(const struct pci_fn *f, uint32_t queue)
{
    return (uint64_t)f->config.slot.number << 32 | queue;
}

static inline struct fn_queue fn_queue_of(uint64_t arg)
{
    return (struct fn_queue){.number = (uint32_t)(arg >> 32), .queue = (uint32_t)arg};
}

/* The decoded argument of SIM_IRQ.  The target of SIM_IRQ is the host. */
struct fn_irq {
    uint32_t number; /* of the function in its slot */
    uint32_t vector; /* MSI-X vector, or FN_LINE */
    uint32_t queue;  /* queue that raised it, or FN_NO_QUEUE */
    uint32_t slot;   /* entry of the message in fn->sent; not used for INTx */
};
struct fn_irq fn_irq_of(uint64_t arg);
uint64_t fn_irq_arg(struct fn_irq irq);

/* Takes the message that SIM_IRQ with argument @irq delivers.  Call it once per SIM_IRQ.  Returns
 * true with the message in *@ret.  Returns false if @irq is a rising edge of INTx; the line is
 * still high if fn_line_is_high().
 */
bool fn_take_message(struct pci_fn *f, struct fn_irq irq, struct fn_message *ret);

#endif
