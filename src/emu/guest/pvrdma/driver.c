/* SPDX-License-Identifier: MIT */
/* The driver as a guest loads it. */
#include "emu/guest/pvrdma/internal.h"

static bool init(void *driver, struct verbs *verbs, struct arena *a, const struct guest_pci *pci)
{
    struct pvrdma_guest *d = driver;

    (void)a;
    d->verbs = verbs;
    d->pci = *pci;
    return true;
}

static uint64_t irqs(const void *driver)
{
    return ((const struct pvrdma_guest *)driver)->irqs;
}

const struct rdma_driver pvrdma_driver = {
    .pci = {.ids = PCI_IDS(PV_PCI_VENDOR, PV_PCI_DEVICE),
            .boot = pvd_boot,
            .start = pvd_start,
            .interrupt = pvd_interrupt,
            .line = pvd_line,
            .irqs = irqs},
    .verbs = &pvrdma_verbs_ops,
    .bytes = sizeof(struct pvrdma_guest),
    .init = init,
    .control = &pvd_control_ops,
};
