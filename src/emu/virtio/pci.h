/* SPDX-License-Identifier: MIT */
/* The registers of a virtio-pci device.  [virtio 1.2, 4.1]
 *
 * One BAR holds common configuration, ISR, device configuration and notifications at fixed offsets
 * (facts/regs.h).  A driver may access any bytes at any width.  An access out of order has a
 * defined result, mostly that the write is ignored:
 *
 *   status      0 resets; bits are only added, each after the one before it (ACKNOWLEDGE, DRIVER,
 *               FEATURES_OK, DRIVER_OK); FEATURES_OK needs VERSION_1 and no feature that was not
 *               offered; FAILED can always be set; the driver cannot change DEVICE_NEEDS_RESET
 *   features    can be written between DRIVER and FEATURES_OK
 *   queues      can be set up from FEATURES_OK on while not enabled; enabling needs aligned
 *               addresses other than 0; after DRIVER_OK only with RING_RESET; a size that is no
 *               power of two only with RING_PACKED
 *   notify      works from DRIVER_OK on, for an enabled queue that is not broken
 *
 * The PCI function around this device decodes addresses and delivers interrupts: function.h, and
 * emu/pci/function.h.  Every access of a register emits an event.
 *
 * While bus mastering is off, the device does nothing that needs memory.  Kicks are remembered and
 * processed when bus mastering is enabled.
 */
#ifndef EMU_VIRTIO_PCI_H
#define EMU_VIRTIO_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/device_status.h"
#include "emu/facts/virtio/pci.h"
#include "emu/pci/function.h"
#include "emu/sim/sim.h"
#include "emu/virtio/vq_device.h"

#define VIRTIO_QUEUES_MAX  57410u
#define VIRTIO_VECTORS_MAX FN_VECTORS_MAX

/* Queue number of a configuration change interrupt. */
#define VIRTIO_IRQ_CONFIG FN_NO_QUEUE

/* Bits of the ISR status.  VIRTIO_ISR_QUEUE is only set while MSI-X is disabled.
 * [virtio 1.2, 4.1.4.5]
 */
#define VIRTIO_ISR_QUEUE  1u
#define VIRTIO_ISR_CONFIG 2u

/* Callbacks into the device.  notify() and mastering() are called not only by accesses of the
 * driver, but also by virtio_take_kick() and virtio_set_mastering().
 */
struct virtio_ops {
    void (*notify)(void *ctx, uint32_t queue);        /* the driver kicked @queue */
    void (*reset)(void *ctx);                         /* the device was reset */
    void (*queue_reset)(void *ctx, uint32_t queue);   /* the queue is disabled and empty now */
    void (*queue_enabled)(void *ctx, uint32_t queue); /* may be NULL; can come before DRIVER_OK */
    void (*negotiated)(void *ctx);                    /* may be NULL: FEATURES_OK was set */
    void (*mastering)(void *ctx);                     /* may be NULL: bus mastering was enabled */
    void (*doorbell)(void *ctx, uint32_t queue);      /* see struct pci_fn_ops */
};

struct virtio_config {
    uint32_t host;         /* host index, for events; target of SIM_IRQ */
    uint32_t function;     /* enum pci_function, for events */
    struct fn_slot slot;   /* its place in the slot of the host */
    uint32_t virtio_id;    /* virtio device type: 1 is net, 42 is rdma */
    uint32_t class_code;   /* PCI class code, 24 bits */
    uint64_t features_off; /* feature bits not to offer; VERSION_1 is always offered */
    uint64_t features_own; /* feature bits of the device type that it offers */
    bool packed;           /* offer RING_PACKED, unless it is in features_off */
    bool platform;         /* the same for ACCESS_PLATFORM */
    uint32_t num_queues;   /* 1 .. VIRTIO_QUEUES_MAX */
    uint32_t queue_size;   /* maximum queue size, a power of two up to VRING_SIZE_MAX */
    uint32_t n_vectors;    /* 1 .. VIRTIO_VECTORS_MAX */
    size_t config_bytes;   /* size of the device configuration */
    uint32_t total_vfs;    /* virtual functions that it can have; 0: no SR-IOV, no PCI Express */
};

struct device_fault; /* pci/fault.h */
struct virtio_stuck;

/* Registers of the capability VIRTIO_CAP_PCI, which gives access to a BAR. */
struct virtio_window {
    uint8_t bar;
    uint32_t offset, length;
};

struct virtio_dev {
    struct arena *arena;
    struct sim *sim;
    bool bus_master; /* bus mastering is on */
    const struct virtio_ops *ops;
    void *ctx;
    struct virtio_config config;
    /* offered: set of the feature bits that the device offers.  accepted: set of the feature bits
     * that the driver has accepted, a subset of offered once FEATURES_OK is set.
     */
    uint64_t offered, accepted;
    uint64_t possible;    /* feature bits that the device implements */
    uint64_t offers_next; /* feature bits to offer from the next reset on */
    uint32_t device_feature_select, driver_feature_select;
    unsigned status;           /* set of enum device_status_bit */
    unsigned isr;              /* ISR status: set of VIRTIO_ISR_... */
    enum vq_error reset_error; /* error that set DEVICE_NEEDS_RESET; VQE_NONE: none */
    uint32_t reset_queue;      /* queue with this error; 0 without an error */
    uint8_t config_generation;
    bool config_is_new; /* configuration changed since the driver read it or the generation */
    uint16_t config_vector;
    uint16_t queue_select;
    struct vq *queues;           /* config.num_queues entries */
    uint8_t *device_config;      /* config.config_bytes, filled by the device */
    bool is_faulty;              /* faults or stuck is not NULL */
    struct device_fault *faults; /* active faults, in order of addition */
    struct virtio_stuck *stuck;  /* queues stopped by a fault */
    struct pci_fn fn;
    struct virtio_window window;
};

/* Initializes a device and its PCI function as after power-on.  *@d must not move.  Its memory is
 * freed with the arena.  @ops and @ctx must outlive it.  Returns false if the arena is full.
 */
bool virtio_init(struct virtio_dev *d, struct arena *a, struct sim *sim,
                 const struct virtio_config *config, const struct virtio_ops *ops, void *ctx);

/* Changes the offered features to VERSION_1 and those of @features that the device implements.  The
 * change takes effect at the next reset, or immediately while the status is 0.
 */
void virtio_offer(struct virtio_dev *d, uint64_t features);

/* Read and write registers as the driver does, @width 1, 2, 4 or 8 bytes.  Bytes without a
 * register, and accesses of another width, read as 0 and ignore writes.
 */
uint64_t virtio_read(struct virtio_dev *d, uint32_t offset, uint32_t width);
void virtio_write(struct virtio_dev *d, uint32_t offset, uint32_t width, uint64_t value);

/* Returns the size in bytes of the register that begins at offset @reg of the BAR.  Returns 0 if
 * none begins there.
 */
uint32_t virtio_reg_bytes(uint32_t reg);

/* Returns true if the driver has accepted the feature @f (enum feature_number). */
static inline bool virtio_has(const struct virtio_dev *d, uint32_t f)
{
    return (d->accepted >> f & 1u) != 0;
}

/* Returns true if DRIVER_OK is set and DEVICE_NEEDS_RESET is not. */
static inline bool virtio_is_driven(const struct virtio_dev *d)
{
    return (d->status & (VS_DRIVER_OK | VS_DEVICE_NEEDS_RESET)) == VS_DRIVER_OK;
}

/* Returns true if the device can process queues: it is driven, and bus mastering is on. */
static inline bool virtio_running(const struct virtio_dev *d)
{
    return virtio_is_driven(d) && d->bus_master;
}

/* Processes a kick of @queue: calls ops->notify(), or remembers the kick while bus mastering is
 * off.  Does nothing if the device is not driven, or the queue is disabled or broken.
 */
void virtio_take_kick(struct virtio_dev *d, uint32_t queue);

/* Remembers a kick of @queue if the device is driven and bus mastering is off.  The kick is then
 * processed when bus mastering is enabled.  Otherwise discards a remembered kick of @queue.
 */
void virtio_hold_kick(struct virtio_dev *d, uint32_t queue);

/* Switches bus mastering on or off.  When it is switched on, calls ops->mastering() and then
 * processes the remembered kicks.
 */
void virtio_set_mastering(struct virtio_dev *d, bool on);

/* Resets the device, as power-on or a driver's write of 0 to the status register does. */
void virtio_reset(struct virtio_dev *d);

/* Raises an interrupt of @queue through fn_raise(), unless a fault of kind LOST_INTERRUPT hits.
 * SIM_IRQ arrives after FN_IRQ_NS; its handler emits the event `irq` or `intx`.  With MSI-X
 * enabled but without a vector nothing happens.  Call vq_wants_interrupt() first.
 */
void virtio_raise(struct virtio_dev *d, uint32_t queue);

/* Increments the generation of the device configuration after a change, but only if the driver has
 * read the generation or the configuration since the last increment.  So an 8-bit generation always
 * differs from the one that the driver has read, however often the configuration has changed.
 * [virtio 1.2, 4.1.4.3.1]
 */
void virtio_config_new(struct virtio_dev *d);

/* Like virtio_config_new(), and raises a configuration interrupt (queue VIRTIO_IRQ_CONFIG) if
 * DRIVER_OK is set.  A device must not interrupt before that.  [virtio 1.2, 2.4.1]
 */
void virtio_config_changed(struct virtio_dev *d);

/* Emits vq_broken for @queue, whose vq->broken must be set.  Sets DEVICE_NEEDS_RESET if it is not
 * set yet, with a configuration interrupt if DRIVER_OK is set.
 */
void virtio_queue_broken(struct virtio_dev *d, uint32_t queue);

#endif
