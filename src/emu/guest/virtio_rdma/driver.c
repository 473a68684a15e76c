/* SPDX-License-Identifier: MIT */
/* The driver as a guest loads it. */
#include "emu/guest/virtio_rdma/internal.h"

#include "emu/facts/virtio/pci.h"

static bool init(void *driver, struct verbs *verbs, struct arena *a, const struct guest_pci *pci)
{
    struct virtio_rdma *d = driver;

    d->verbs = verbs;
    d->arena = a;
    d->virtio.pci = *pci;
    return ctrl_take_place(d, &d->ctrl.places[0]);
}

static uint64_t irqs(const void *driver)
{
    return ((const struct virtio_rdma *)driver)->irqs;
}

/* Virtual functions need the feature SR_IOV, which the driver accepts before it enables any.
 * [virtio 1.2, 6.1]
 */
static bool may_have_vfs(const void *driver)
{
    const struct guest_virtio *v = &((const struct virtio_rdma *)driver)->virtio;

    return virtio_has_feature(v, VF_SR_IOV) && (reg_read(v, REG_DEVICE_STATUS, 1) & VS_DRIVER_OK);
}

const struct rdma_driver virtio_rdma_driver = {
    .pci =
        {
            .ids = VIRTIO_PCI_IDS(VIRTIO_ID_RDMA),
            .boot = boot_function,
            .start = boot_start,
            .interrupt = irq_message,
            .line = irq_line,
            .may_have_vfs = may_have_vfs,
            .irqs = irqs,
        },
    .verbs = &virtio_rdma_ops,
    .bytes = sizeof(struct virtio_rdma),
    .init = init,
    .control = &raw_ops,
};
