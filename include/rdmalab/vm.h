/* SPDX-License-Identifier: MIT */
/* Hosts whose guest is a virtual machine that another program runs.
 *
 * Such a host (rdl_host_config.external) has its two PCI functions, virtio-net and virtio-rdma, its
 * Ethernet port and nothing above: no guest of the lab's, so calls for one return RDL_ERR_NO_GUEST,
 * and no memory but what rdl_vm_memory() says.  Whoever runs the machine brings each access of a
 * function here, and is told of interrupts.
 *
 * An access is an action of a guest: a tick that takes no time, answered when the call returns.
 * What it causes (a doorbell, a frame, an interrupt) happens when the lab goes on.
 *
 * The machine reads and writes its memory while the lab does, and a lab with memory that is not its
 * own is the same only once: it has no checkpoints (RDL_ERR_VM), and its hash says nothing.
 */
#ifndef RDMALAB_VM_H
#define RDMALAB_VM_H

#include "rdmalab/lab.h"

#define RDL_VM_REGIONS_MAX 16u
#define RDL_VM_GPA_MAX     ((uint64_t)1 << 52)

/* A part of the machine's memory, as this process has it mapped.  Only whole pages of 4096 bytes
 * count.
 */
struct rdl_vm_region {
    uint64_t gpa, bytes; /* guest-physical; ends at most at RDL_VM_GPA_MAX */
    void *at;
    bool writable;
};

/* The machine's memory is these regions from now on, and nothing else.  When it returns nobody
 * reads or writes what was there before, and it may be unmapped.  @regions are copied.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STALE  @host
 *	   RDL_ERR_STATE  it has a guest of the lab's
 *	   RDL_ERR_INVAL  more than RDL_VM_REGIONS_MAX, two overlap, or one is out of range
 */
RDL_MUST_CHECK enum rdl_status rdl_vm_memory(struct rdl_lab *lab, rdl_host host,
                                             const struct rdl_vm_region *regions, uint32_t n);

#endif
