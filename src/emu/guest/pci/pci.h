/* SPDX-License-Identifier: MIT */
/* A PCI function from its driver's side, and the functions that all drivers share. */
#ifndef EMU_GUEST_PCI_H
#define EMU_GUEST_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cold.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/feature.h"
#include "emu/guest/pci/bus.h"
#include "emu/guest/pci/dma.h"
#include "emu/guest/pci/scan.h"
#include "emu/virtio/pci.h"
#include "emu/virtio/vq_driver.h"
#include "rdmalab/status.h"

/* Location of a virtio structure; indexed by type, VIRTIO_CAP_*. */
struct guest_structure {
    uint64_t gpa; /* guest-physical address; 0: not found */
    uint32_t bytes;
};

struct guest_pci {
    uint32_t function; /* enum pci_function, for events */
    uint32_t host;     /* host number, for events */
    bool tables;       /* use indirect descriptor tables if the feature is negotiated */
    const struct guest_bus *bus;
    void *bus_ctx;
    const struct pci_bus *slot; /* the functions that pci_scan() found on @bus */
    struct trace *trace;
    struct ram *ram;
    struct dma_pool *dma; /* allocates in @ram */
    bool use_line;        /* use INTx, by request or because there is no MSI-X */
    /* Filled in by pci_probe() and pci_negotiate(). */
    struct pci_slot_function found;
    struct guest_structure structures[VIRTIO_CAP_DEVICE + 1];
    uint32_t notify_multiplier;
    uint32_t msix_at;   /* offset of the MSI-X capability */
    uint64_t msix_gpa;  /* address of the MSI-X table */
    uint32_t n_vectors; /* MSI-X vectors; 1 if INTx is used */
    uint64_t features;  /* negotiated features */
};

/* The driver's side of a virtqueue, with its ring memory of boot. */
struct guest_queue {
    struct vqd vq;
    uint64_t boot_gpa;  /* ring memory of boot; 0: none */
    uint32_t size_max;  /* maximum size that the device offers */
    uint64_t notify_at; /* guest-physical address for notifications */
};

/* Finds the function of virtio device type @virtio_id in the slot, its structures and its vectors.
 * Enables memory access, bus mastering and interrupts.  Returns RDL_OK, or RDL_ERR_UNSUPPORTED if
 * there is no such function or a structure is missing.
 */
enum rdl_status pci_probe(struct guest_pci *p, uint32_t virtio_id);

/* Reads and returns the ISR status, a set of VIRTIO_ISR_*.  Reading it deasserts INTx.  Returns 0
 * if the function did not interrupt.
 */
unsigned pci_ask_isr(const struct guest_pci *p);

/* Read and write the register @reg of the common configuration.  @width is its width in bytes.
 * [virtio 1.2, 4.1.3.1]
 */
uint64_t reg_read(const struct guest_pci *p, enum reg reg, uint32_t width);
void reg_write(const struct guest_pci *p, enum reg reg, uint32_t width, uint64_t value);

/* Returns @width bytes of the device configuration at @offset, as a little-endian number. */
uint64_t pci_config_read(const struct guest_pci *p, uint32_t offset, uint32_t width);

/* Returns true if the feature was negotiated. */
static inline bool pci_has(const struct guest_pci *p, uint32_t feature_number)
{
    return (p->features >> feature_number & 1u) != 0;
}

/* pci_ring() returns a ring of @size entries at @base in the negotiated format, pci_ring_bytes()
 * the length of such a ring in bytes.
 */
static inline struct vring pci_ring(const struct guest_pci *p, uint64_t base, uint32_t size)
{
    return vring_place(base, size, pci_has(p, VF_RING_PACKED));
}

static inline uint64_t pci_ring_bytes(const struct guest_pci *p, uint32_t size)
{
    return vring_bytes(size, pci_has(p, VF_RING_PACKED));
}

/* Sets the device status bit @bit (enum device_status_bit). */
void pci_add_status(const struct guest_pci *p, unsigned bit);

/* Carries out steps 1 to 6 of virtio 1.2, 3.1.1: reset, ACKNOWLEDGE, DRIVER, accept the @wanted
 * features that are offered, FEATURES_OK and its check.
 *
 * Return: RDL_OK
 *	   RDL_ERR_BROKEN       the reset failed
 *	   RDL_ERR_UNSUPPORTED  VERSION_1 is not offered, or the device refused the features
 */
enum rdl_status pci_negotiate(struct guest_pci *p, uint64_t wanted);

/* Selects @queue and reads its maximum size and notification address into @q. */
void pci_queue_find(const struct guest_pci *p, struct guest_queue *q, uint32_t queue);

/* Selects @queue and allocates ring memory for @size entries.  Does not enable the queue.  Returns
 * RDL_OK, RDL_ERR_NOMEM, or RDL_ERR_BROKEN if @size exceeds the maximum.
 */
enum rdl_status pci_queue_place(const struct guest_pci *p, struct guest_queue *q, uint32_t queue,
                                uint32_t size);

/* Writes @vector into @reg, CONFIG_MSIX_VECTOR or QUEUE_MSIX_VECTOR.  With INTx, does nothing and
 * returns true.  Returns false if the device did not accept it: the register then reads back
 * another value.  [virtio 1.2, 4.1.5.1.2]
 */
bool pci_map_vector(const struct guest_pci *p, enum reg reg, uint16_t vector);

/* Programs the registers of the selected queue and enables it.  With VIRTIO_NO_VECTOR the queue has
 * no interrupt of its own.  Returns RDL_OK, or RDL_ERR_BROKEN without enabling the queue if the
 * device did not accept @vector.  [virtio 1.2, 4.1.5.1.3]
 */
enum rdl_status pci_queue_program(const struct guest_pci *p, const struct guest_queue *q,
                                  uint16_t vector);

/* Emits the event used_refused: the device returned a descriptor that was not outstanding. */
RDL_COLD void pci_say_refused(const struct guest_pci *p, const struct vqd *q, uint32_t queue);

/* Calls vqd_take_used() for @q, which is queue number @queue, and returns its result.  Emits
 * used_refused if that breaks the queue.
 */
static inline enum vqd_used pci_take_used(const struct guest_pci *p, struct vqd *q, uint32_t queue,
                                          uint16_t *ret_head, uint32_t *ret_len)
{
    const bool was_broken = q->broken;
    const enum vqd_used got = vqd_take_used(q, p->ram, ret_head, ret_len);

    if (got == VQD_BROKEN && !was_broken)
        pci_say_refused(p, q, queue);
    return got;
}

/* pci_kick() notifies the device unless it suppresses notifications, and emits kick or no_kick.
 * pci_kick_now() always notifies.
 */
void pci_kick(const struct guest_pci *p, struct guest_queue *q, uint32_t queue);
void pci_kick_now(const struct guest_pci *p, const struct guest_queue *q, uint32_t queue);

#endif
