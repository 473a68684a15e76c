/* SPDX-License-Identifier: MIT */
/* An RDMA device, as its host has it: an RNIC that a device presents behind a PCI function.
 *
 * The host knows the RNIC for all that is said about queue pairs, keys and GIDs, the function for
 * accesses and interrupts, and the operations of this header for the rest.  Registers, rings and
 * control requests are between the device and its driver.  [decision 0045]
 */
#ifndef EMU_RNIC_RDMA_DEVICE_H
#define EMU_RNIC_RDMA_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct pci_fn;
struct rdl_device_limits;
struct rnic;

struct rdma_device_ops {
    /* The handler of SIM_QP_TIMER; @arg is that of xport_timer(). */
    void (*timer)(void *dev, uint64_t arg);

    /* Implements rdl_host_limit(): changes the limits to those of @to that are not 0, and tells the
     * driver.  Returns false without a change if a limit of @to is larger than at power-on.  NULL:
     * the limits of the device cannot change.
     */
    bool (*limit)(void *dev, const struct rdl_device_limits *to);

    /* Returns the number of receives in the shared receive queue @srqn, which exists, that no queue
     * pair has taken.  Has no side effect.
     */
    uint32_t (*shared_receives)(const void *dev, uint32_t srqn);

    /* Returns true if the device has failed and must be reset.  NULL: it cannot fail. */
    bool (*is_broken)(const void *dev);
};

struct rdma_device {
    const struct rdma_device_ops *ops; /* NULL: the host has no RDMA device */
    void *dev;                         /* argument of ops */
    struct rnic *nic;
    struct pci_fn *fn;
};

#endif
