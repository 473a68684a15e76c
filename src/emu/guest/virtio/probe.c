/* SPDX-License-Identifier: MIT */
/* Probing: finds the structures of virtio by the vendor-specific capabilities.  [virtio 1.2, 4.1.4]
 */
#include "emu/facts/virtio/pci.h"
#include "emu/guest/virtio/virtio.h"

/* The part up to and including QUEUE_DEVICE; later registers belong to features of virtio 1.2. */
#define COMMON_BYTES_LEAST 56u

/* Records the structure of the capability @at.  Of each type the first capability counts.
 * [virtio 1.2, 4.1.4.1]
 */
static void take_structure(void *ctx, uint32_t at)
{
    struct guest_virtio *v = ctx;
    const uint32_t type = pci_config_read(&v->pci, at + VIRTIO_AT_TYPE, 1);
    struct guest_structure *s;
    uint32_t bar, offset;

    if (type < VIRTIO_CAP_COMMON || type > VIRTIO_CAP_DEVICE)
        return; /* ignores the PCI configuration access capability and unknown types */
    s = &v->structures[type];
    if (s->gpa)
        return;
    bar = pci_config_read(&v->pci, at + VIRTIO_AT_BAR, 1);
    offset = pci_config_read(&v->pci, at + VIRTIO_AT_OFFSET, 4);
    s->bytes = pci_config_read(&v->pci, at + VIRTIO_AT_LENGTH, 4);
    s->gpa = pci_bar_place(&v->pci, bar, offset, s->bytes);
    if (type == VIRTIO_CAP_NOTIFY)
        v->notify_multiplier = pci_config_read(&v->pci, at + VIRTIO_AT_MULTIPLIER, 4);
}

static bool has_structures(const struct guest_virtio *v)
{
    return v->structures[VIRTIO_CAP_COMMON].gpa &&
           v->structures[VIRTIO_CAP_COMMON].bytes >= COMMON_BYTES_LEAST &&
           v->structures[VIRTIO_CAP_NOTIFY].gpa && v->structures[VIRTIO_CAP_ISR].gpa &&
           v->structures[VIRTIO_CAP_DEVICE].gpa;
}

enum rdl_status virtio_probe(struct guest_virtio *v, const struct pci_slot_function *found)
{
    pci_probe(&v->pci, found, take_structure, v);
    if (!has_structures(v))
        return RDL_ERR_UNSUPPORTED;
    pci_enable(&v->pci);
    return RDL_OK;
}
