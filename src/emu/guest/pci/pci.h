/* SPDX-License-Identifier: MIT */
/* One PCI function as its driver sees it, and what all drivers do alike. */
#ifndef EMU_GUEST_PCI_H
#define EMU_GUEST_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cold.h"
#include "emu/facts/enums.h"
#include "emu/facts/regs.h"
#include "emu/guest/pci/bus.h"
#include "emu/guest/pci/dma.h"
#include "emu/guest/pci/scan.h"
#include "emu/trace/trace.h"
#include "emu/virtio/pci.h"
#include "emu/virtio/vq_driver.h"
#include "rdmalab/status.h"

/* Where a virtio structure was found: by type, VIRTIO_CAP_*. */
struct guest_structure {
    uint64_t gpa; /* 0: nowhere */
    uint32_t bytes;
};

struct guest_pci {
    enum pci_function function; /* named in events */
    uint32_t host;              /* named in events */
    bool tables; /* chains of several descriptors have them in a table, if that can be */
    const struct guest_bus *bus;
    void *bus_ctx;
    const struct pci_bus *slot; /* as pci_scan() found it, through the same bus */
    struct trace *trace;
    struct ram *ram;
    struct dma_pool *dma; /* of the same RAM */
    bool use_line;        /* interrupts by INTx: it was told so, or there is no MSI-X */
    /* What pci_probe() found. */
    struct pci_slot_function found;
    struct guest_structure structures[VIRTIO_CAP_DEVICE + 1];
    uint32_t notify_multiplier;
    uint32_t msix_at;   /* of the capability */
    uint64_t msix_gpa;  /* of the table */
    uint32_t n_vectors; /* MSI-X, from 1; 1 if the line is used */
    uint64_t features;  /* accepted */
};

/* One virtqueue: the driver's side, and the ring memory it was booted with. */
struct guest_queue {
    struct vqd vq;
    uint64_t boot_gpa;
    uint32_t size_max;  /* that the device offers */
    uint64_t notify_at; /* guest-physical */
};

/* Finds the function of @virtio_id among those of the slot, its structures and vectors, and lets it
 * answer, reach memory and interrupt.  RDL_ERR_UNSUPPORTED: there is none, or it lacks a structure.
 */
enum rdl_status pci_probe(struct guest_pci *p, uint32_t virtio_id);

/* Why it interrupted, which lets its line go low; 0: it did not.  Set of VIRTIO_ISR_*. */
unsigned pci_ask_isr(const struct guest_pci *p);

/* Registers, by their own width.  [virtio 1.2, 4.1.3.1] */
uint64_t reg_read(const struct guest_pci *p, enum reg reg, uint32_t width);
void reg_write(const struct guest_pci *p, enum reg reg, uint32_t width, uint64_t value);

/* @width bytes of the device configuration. */
uint64_t pci_config_read(const struct guest_pci *p, uint32_t offset, uint32_t width);

static inline bool pci_has(const struct guest_pci *p, uint32_t feature_number)
{
    return (p->features & VIRTIO_FEATURE(feature_number)) != 0;
}

/* A ring of @size entries at @base, in the format that was agreed on, and how long that is. */
static inline struct vring pci_ring(const struct guest_pci *p, uint64_t base, uint32_t size)
{
    return vring_place(base, size, pci_has(p, VF_RING_PACKED));
}

static inline uint64_t pci_ring_bytes(const struct guest_pci *p, uint32_t size)
{
    return vring_bytes(size, pci_has(p, VF_RING_PACKED));
}

void pci_add_status(const struct guest_pci *p, unsigned bit);

/* Steps 1 to 6 of virtio 1.2, 3.1.1: reset, ACKNOWLEDGE, DRIVER, those of the @wanted features that
 * are offered, FEATURES_OK and a second look.  RDL_ERR_BROKEN: the reset did not work;
 * RDL_ERR_UNSUPPORTED: no VERSION_1, or the features were refused.
 */
enum rdl_status pci_negotiate(struct guest_pci *p, uint64_t wanted);

/* Asks the device how long @queue can be and where it is notified, and keeps it selected. */
void pci_queue_find(const struct guest_pci *p, struct guest_queue *q, uint32_t queue);

/* Selects queue number @queue and takes ring memory for @size entries; nothing is enabled. */
enum rdl_status pci_queue_place(const struct guest_pci *p, struct guest_queue *q, uint32_t queue,
                                uint32_t size);

/* Writes @vector into @reg, CONFIG_MSIX_VECTOR or QUEUE_MSIX_VECTOR, unless the line is used.
 * False: the device did not take it, which it says by the value that is read back.
 * [virtio 1.2, 4.1.5.1.2]
 */
bool pci_map_vector(const struct guest_pci *p, enum reg reg, uint16_t vector);

/* Fills in the registers of the selected queue and enables it.  RDL_ERR_BROKEN: the device did not
 * take @vector, and the queue is not enabled.  [virtio 1.2, 4.1.5.1.3]
 */
enum rdl_status pci_queue_program(const struct guest_pci *p, const struct guest_queue *q,
                                  uint16_t vector);

/* The device gave back what it had not: event used_refused. */
RDL_COLD void pci_say_refused(const struct guest_pci *p, const struct vqd *q, uint32_t queue);

/* vqd_take_used() for @q, which is queue number @queue; says so if that breaks it. */
static inline enum vqd_used pci_take_used(const struct guest_pci *p, struct vqd *q, uint32_t queue,
                                          uint16_t *ret_head, uint32_t *ret_len)
{
    const bool was_broken = q->broken;
    const enum vqd_used got = vqd_take_used(q, p->ram, ret_head, ret_len);

    if (got == VQD_BROKEN && !was_broken)
        pci_say_refused(p, q, queue);
    return got;
}

/* Notifies the device unless it asked for none: events kick and no_kick; or in any case. */
void pci_kick(const struct guest_pci *p, struct guest_queue *q, uint32_t queue);
void pci_kick_now(const struct guest_pci *p, const struct guest_queue *q, uint32_t queue);

#endif
