/* SPDX-License-Identifier: MIT */
/* A virtio function from its driver's side: the functions that all drivers of virtio devices share.
 *
 * Initialisation has the order of virtio 1.2, 3.1.1:
 *
 *	virtio_probe()       finds the structures in the BARs
 *	virtio_negotiate()   resets the device and agrees on features
 *	virtqueue_place(), virtqueue_program()   for each queue
 *	virtio_add_status(VS_DRIVER_OK)
 */
#ifndef EMU_GUEST_VIRTIO_H
#define EMU_GUEST_VIRTIO_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cold.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/pci.h"
#include "emu/guest/pci/pci.h"
#include "emu/virtio/pci.h"
#include "emu/virtio/vq_driver.h"
#include "rdmalab/status.h"

/* PCI_IDS() of the functions of virtio device type @virtio_id. */
#define VIRTIO_PCI_IDS(virtio_id) PCI_IDS(PCI_VENDOR_VIRTIO, PCI_DEVICE_BASE + (virtio_id))

/* Location of a virtio structure; indexed by type, VIRTIO_CAP_*. */
struct guest_structure {
    uint64_t gpa; /* guest-physical address; 0: not found */
    uint32_t bytes;
};

struct guest_virtio {
    struct guest_pci pci;
    /* Filled in by virtio_probe(). */
    struct guest_structure structures[VIRTIO_CAP_DEVICE + 1];
    uint32_t notify_multiplier;
    uint64_t features; /* negotiated features, filled in by virtio_negotiate() */
};

/* The driver's side of a virtqueue, with its ring memory of boot. */
struct guest_queue {
    struct vqd vq;
    uint64_t boot_gpa;  /* ring memory of boot; 0: none */
    uint32_t size_max;  /* maximum size that the device offers */
    uint64_t notify_at; /* guest-physical address for notifications */
};

/* Probes the function @found: finds its structures and its vectors, then enables bus mastering and
 * interrupts.  Returns RDL_OK, or RDL_ERR_UNSUPPORTED if a structure is missing.
 */
enum rdl_status virtio_probe(struct guest_virtio *v, const struct pci_slot_function *found);

/* Reads and returns the ISR status, a set of VIRTIO_ISR_*.  Reading it deasserts INTx.  Returns 0
 * if the function did not interrupt, or does not use INTx.
 */
unsigned virtio_ask_isr(const struct guest_virtio *v);

/* Read and write the register @reg of the common configuration.  @width is its width in bytes.
 * [virtio 1.2, 4.1.3.1]
 */
uint64_t reg_read(const struct guest_virtio *v, enum reg reg, uint32_t width);
void reg_write(const struct guest_virtio *v, enum reg reg, uint32_t width, uint64_t value);

/* Returns @width bytes of the device configuration at @offset, as a little-endian number. */
uint64_t virtio_config_read(const struct guest_virtio *v, uint32_t offset, uint32_t width);

/* Returns true if the feature was negotiated. */
static inline bool virtio_has_feature(const struct guest_virtio *v, uint32_t feature_number)
{
    return (v->features >> feature_number & 1u) != 0;
}

/* virtqueue_ring() returns a ring of @size entries at @base in the negotiated format,
 * virtqueue_ring_bytes() the length of such a ring in bytes.
 */
static inline struct vring virtqueue_ring(const struct guest_virtio *v, uint64_t base,
                                          uint32_t size)
{
    return vring_place(base, size, virtio_has_feature(v, VF_RING_PACKED));
}

static inline uint64_t virtqueue_ring_bytes(const struct guest_virtio *v, uint32_t size)
{
    return vring_bytes(size, virtio_has_feature(v, VF_RING_PACKED));
}

/* Sets the device status bit @bit (enum device_status_bit). */
void virtio_add_status(const struct guest_virtio *v, unsigned bit);

/* Carries out steps 1 to 6 of virtio 1.2, 3.1.1: reset, ACKNOWLEDGE, DRIVER, accept the @wanted
 * features that are offered, FEATURES_OK and its check.
 *
 * Return: RDL_OK
 *	   RDL_ERR_BROKEN       the reset failed
 *	   RDL_ERR_UNSUPPORTED  VERSION_1 is not offered, or the device refused the features
 */
enum rdl_status virtio_negotiate(struct guest_virtio *v, uint64_t wanted);

/* Writes @vector into @reg, CONFIG_MSIX_VECTOR or QUEUE_MSIX_VECTOR.  With INTx, does nothing and
 * returns true.  Returns false if the device did not accept it: the register then reads back
 * another value.  [virtio 1.2, 4.1.5.1.2]
 */
bool virtio_map_vector(const struct guest_virtio *v, enum reg reg, uint16_t vector);

/* Selects @queue and reads its maximum size and notification address into @q. */
void virtqueue_find(const struct guest_virtio *v, struct guest_queue *q, uint32_t queue);

/* Selects @queue and allocates ring memory for @size entries.  Does not enable the queue.  Returns
 * RDL_OK, RDL_ERR_NOMEM, or RDL_ERR_BROKEN if @size exceeds the maximum.
 */
enum rdl_status virtqueue_place(const struct guest_virtio *v, struct guest_queue *q, uint32_t queue,
                                uint32_t size);

/* Programs the registers of the selected queue and enables it.  With VIRTIO_NO_VECTOR the queue has
 * no interrupt of its own.  Returns RDL_OK, or RDL_ERR_BROKEN without enabling the queue if the
 * device did not accept @vector.  [virtio 1.2, 4.1.5.1.3]
 */
enum rdl_status virtqueue_program(const struct guest_virtio *v, const struct guest_queue *q,
                                  uint16_t vector);

/* Emits the event used_refused: the device returned a descriptor that was not outstanding. */
RDL_COLD void virtqueue_say_refused(const struct guest_virtio *v, const struct vqd *q,
                                    uint32_t queue);

/* Calls vqd_take_used() for @q, which is queue number @queue, and returns its result.  Emits
 * used_refused if that breaks the queue.
 */
static inline enum vqd_used virtqueue_take_used(const struct guest_virtio *v, struct vqd *q,
                                                uint32_t queue, uint16_t *ret_head,
                                                uint32_t *ret_len)
{
    const bool was_broken = q->broken;
    const enum vqd_used got = vqd_take_used(q, v->pci.ram, ret_head, ret_len);

    if (got == VQD_BROKEN && !was_broken)
        virtqueue_say_refused(v, q, queue);
    return got;
}

/* virtqueue_kick() notifies the device unless it suppresses notifications, and emits kick or
 * no_kick.  virtqueue_kick_now() always notifies.
 */
void virtqueue_kick(const struct guest_virtio *v, struct guest_queue *q, uint32_t queue);
void virtqueue_kick_now(const struct guest_virtio *v, const struct guest_queue *q, uint32_t queue);

#endif
