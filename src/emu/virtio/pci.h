/* SPDX-License-Identifier: MIT */
/* The registers of a virtio-pci device.  [virtio 1.2, 4.1]
 *
 * One BAR with common configuration, ISR, device configuration and notifications at fixed places
 * (facts/regs.h).  A driver may access any bytes at any width; what is out of order has a defined
 * result, mostly that the write is ignored:
 *
 *   status      0 resets; bits are only added, each needs the one before it (ACKNOWLEDGE, DRIVER,
 *               FEATURES_OK, DRIVER_OK); FEATURES_OK needs VERSION_1 and nothing that was not
 *               offered; FAILED is always taken; DEVICE_NEEDS_RESET belongs to the device
 *   features    can be written between DRIVER and FEATURES_OK
 *   queues      can be set up from FEATURES_OK on while not enabled; enabling needs aligned
 *               addresses other than 0; after DRIVER_OK only with RING_RESET; sizes that are no
 *               power of two only with RING_PACKED
 *   notify      is heard from DRIVER_OK on, for an enabled, sound queue
 *
 * Who finds these registers, and how interrupts leave, is the function around them (function.h).
 * Every access of a register is an event of the trace.
 *
 * While bus mastering is off the device does nothing that needs memory, and loses nothing that it
 * was told: kicks are held, and given on when it is on again.
 */
#ifndef EMU_VIRTIO_PCI_H
#define EMU_VIRTIO_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/facts/enums.h"
#include "emu/facts/regs.h"
#include "emu/sim/sim.h"
#include "emu/virtio/vq_device.h"

#define VIRTIO_QUEUES_MAX  57346u
#define VIRTIO_VECTORS_MAX 2048u

/* From raising an interrupt to the driver's handler. */
#define VIRTIO_IRQ_NS 100u

/* The queue number of an interrupt that says that the configuration changed. */
#define VIRTIO_IRQ_CONFIG 0xffffffffu

#define VIRTIO_FEATURE(number) ((uint64_t)1 << (number))
#define VIRTIO_FEATURES_ALL                                                                        \
    (VIRTIO_FEATURE(VF_INDIRECT_DESC) | VIRTIO_FEATURE(VF_EVENT_IDX) |                             \
     VIRTIO_FEATURE(VF_VERSION_1) | VIRTIO_FEATURE(VF_RING_RESET))

/* All that are about rings: RING_PACKED is offered only where it was asked for. */
#define VIRTIO_FEATURES_RINGS (VIRTIO_FEATURES_ALL | VIRTIO_FEATURE(VF_RING_PACKED))

/* Bits of the ISR status.  That of queues is only set while there is no MSI-X.
 * [virtio 1.2, 4.1.4.5]
 */
#define VIRTIO_ISR_QUEUE  1u
#define VIRTIO_ISR_CONFIG 2u

/* What the device behind the registers is told.  All are called inside virtio_write(). */
struct virtio_ops {
    void (*notify)(void *ctx, uint32_t queue);        /* the driver kicked */
    void (*reset)(void *ctx);                         /* everything back to the start */
    void (*queue_reset)(void *ctx, uint32_t queue);   /* this queue is empty and off now */
    void (*queue_enabled)(void *ctx, uint32_t queue); /* may be NULL; also before DRIVER_OK */
    void (*negotiated)(void *ctx);                    /* may be NULL: FEATURES_OK was set */
    void (*mastering)(void *ctx);                     /* may be NULL: memory can be reached again */
};

struct virtio_config {
    uint32_t host;              /* named in events; target of SIM_IRQ */
    enum pci_function function; /* which one of the host it is */
    uint64_t features_off;      /* bits that are not offered; VERSION_1 always is */
    uint64_t features_own;      /* bits of this kind of device, offered too */
    bool packed;                /* RING_PACKED is offered, unless it is in features_off */
    uint32_t num_queues;        /* 1 .. VIRTIO_QUEUES_MAX */
    uint32_t queue_size;        /* largest size, a power of two up to VRING_SIZE_MAX */
    uint32_t n_vectors;         /* 1 .. VIRTIO_VECTORS_MAX */
    size_t config_bytes;        /* of the device configuration */
};

struct pci_fn;
struct virtio_fault; /* of the device: fault.h */
struct virtio_stuck;

struct virtio_dev {
    struct arena *arena;
    struct sim *sim;
    struct pci_fn *fn; /* around it; NULL until fn_init() */
    bool bus_master;   /* may it reach memory? */
    const struct virtio_ops *ops;
    void *ctx;
    struct virtio_config config;
    uint64_t offered, accepted; /* feature bits */
    uint64_t possible;          /* that the device could offer */
    uint64_t offers_next;       /* what it offers from its next reset on */
    uint32_t device_feature_select, driver_feature_select;
    unsigned status; /* set of enum device_status_bit */
    unsigned isr;
    enum vq_error reset_error; /* why DEVICE_NEEDS_RESET is set */
    uint32_t reset_queue;      /* which queue has it */
    uint8_t config_generation;
    bool config_is_new; /* it changed since the driver read some of it, or its generation, last */
    uint16_t config_vector;
    uint16_t queue_select;
    struct vq *queues;           /* config.num_queues */
    uint8_t *device_config;      /* config.config_bytes; the device fills it */
    bool is_faulty;              /* there is one of these two: */
    struct virtio_fault *faults; /* at work, by their numbers */
    struct virtio_stuck *stuck;  /* queues that a fault has stopped */
};

/* A device after power-on; its memory goes with the arena.  False when that is full. */
bool virtio_init(struct virtio_dev *d, struct arena *a, struct sim *sim,
                 const struct virtio_config *config, const struct virtio_ops *ops, void *ctx);

/* From its next reset on the device offers those of @features that it can, and VERSION_1; at once
 * if no driver has said anything since the last one.
 */
void virtio_offer(struct virtio_dev *d, uint64_t features);

/* An access of the driver, @width 1, 2, 4 or 8 bytes (others: as if nothing were there).  Bytes
 * without a register read as 0 and ignore writes.
 */
uint64_t virtio_read(struct virtio_dev *d, uint32_t offset, uint32_t width);
void virtio_write(struct virtio_dev *d, uint32_t offset, uint32_t width, uint64_t value);

/* Bytes of the register at offset @reg of the BAR; 0: none begins there. */
uint32_t virtio_reg_bytes(uint32_t reg);

static inline bool virtio_has(const struct virtio_dev *d, enum feature_number f)
{
    return (d->accepted & VIRTIO_FEATURE(f)) != 0;
}

/* Has the device a driver: DRIVER_OK, and no reset is needed. */
static inline bool virtio_is_driven(const struct virtio_dev *d)
{
    return (d->status & (VS_DRIVER_OK | VS_DEVICE_NEEDS_RESET)) == VS_DRIVER_OK;
}

/* May the device work: it is driven, and may reach memory. */
static inline bool virtio_running(const struct virtio_dev *d)
{
    return virtio_is_driven(d) && d->bus_master;
}

/* The device looks at @queue, as if the driver had kicked; if it may do that. */
void virtio_tell(struct virtio_dev *d, uint32_t queue);

/* A kick that was heard cannot be done now: if that is for want of bus mastering, it is kept. */
void virtio_hold_kick(struct virtio_dev *d, uint32_t queue);

/* The function says whether memory can be reached. */
void virtio_set_mastering(struct virtio_dev *d, bool on);

/* As power-on leaves it, or a driver that writes 0 to the status. */
void virtio_reset(struct virtio_dev *d);

/* The argument of SIM_DOORBELL, and what it says; its target is the host. */
static inline uint64_t virtio_doorbell_arg(enum pci_function function, uint32_t queue)
{
    return (uint64_t)function << 32 | queue;
}

static inline enum pci_function virtio_doorbell_function(uint64_t arg)
{
    return (enum pci_function)(arg >> 32);
}

static inline uint32_t virtio_doorbell_queue(uint64_t arg)
{
    return (uint32_t)arg;
}

/* What the argument of SIM_IRQ says; its target is the host. */
struct virtio_irq {
    enum pci_function function;
    uint32_t vector; /* or VIRTIO_NO_VECTOR: the line INTx */
    uint32_t queue;  /* or VIRTIO_IRQ_CONFIG */
    uint32_t slot;   /* of the message, see fn_take_message() */
};
struct virtio_irq virtio_irq_of(uint64_t arg);
uint64_t virtio_irq_arg(struct virtio_irq irq);

/* Interrupts the driver for @queue as the function is told to (fn_raise()): SIM_IRQ arrives after
 * VIRTIO_IRQ_NS.  With MSI-X, but without a vector, nothing happens.  Whoever dispatches SIM_IRQ
 * emits the event `irq`.  Ask vq_wants_interrupt() first.
 */
void virtio_raise(struct virtio_dev *d, uint32_t queue);

/* The device configuration is not what it was: a new generation, unless it has one that no read of
 * it or of the configuration has followed.  So a driver finds another one after a read, however
 * many changes there were, although it has only 8 bits.  [virtio 1.2, 4.1.4.3.1]
 */
void virtio_config_new(struct virtio_dev *d);

/* The same, and a driver that runs is interrupted on the configuration vector (queue
 * VIRTIO_IRQ_CONFIG).  Others hear nothing: a device without a driver is silent.
 * [virtio 1.2, 2.4.1]
 */
void virtio_config_changed(struct virtio_dev *d);

/* @queue is broken (its vq->broken says how): emits vq_broken and sets DEVICE_NEEDS_RESET, with a
 * configuration interrupt if the driver runs.
 */
void virtio_queue_broken(struct virtio_dev *d, uint32_t queue);

#endif
