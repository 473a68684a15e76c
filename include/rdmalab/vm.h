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

/* Has @host a virtual machine as its guest, or waits for one? */
bool rdl_vm_is_guest(const struct rdl_lab *lab, rdl_host host);

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

/* An access to a function of the host, as the machine's processor makes it. */
struct rdl_vm_access {
    uint32_t function; /* its number in the slot: 0 is virtio-net, 1 virtio-rdma */
    bool config;       /* to configuration space, and not to memory */
    bool write;
    uint32_t bytes; /* 1, 2 or 4; in memory 8, too */
    uint64_t addr;  /* offset in configuration space; or guest-physical, as the BARs are set */
    uint64_t value; /* that is written */
};

/* *@ret is what was read; of a write 0.  Where nobody answers, all ones are read.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_STATE (the host has a guest of the lab's)
 *	   RDL_ERR_INVAL  no such function, or no such width
 */
RDL_MUST_CHECK enum rdl_status rdl_vm_access(struct rdl_lab *lab, rdl_host host,
                                             const struct rdl_vm_access *access, uint64_t *ret);

/* From their next reset on the functions of @host do not offer these features of virtio's rings,
 * VERSION_1 excepted, nor virtio-net those of its own that are @net_off, and offer all others that
 * they have.  A driver that is there keeps what was agreed on.
 * Errors as rdl_vm_memory().
 */
RDL_MUST_CHECK enum rdl_status rdl_vm_offer(struct rdl_lab *lab, rdl_host host,
                                            uint64_t features_off, uint64_t net_off);

/* The bus resets @function: it is as after power-on.  Errors as rdl_vm_access(). */
RDL_MUST_CHECK enum rdl_status rdl_vm_reset(struct rdl_lab *lab, rdl_host host, uint32_t function);

/* From now on @interrupt gets every message of MSI-X that a function of @host sends: 4 bytes of
 * @data, to be written to @address.  It is called while the lab goes on, must not call the lab, and
 * is no part of a checkpoint; NULL: nobody.  A machine without MSI-X has no interrupts: there is no
 * line INTx to it.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_STATE, RDL_ERR_LIMIT (RDL_VMS_MAX hosts have somebody)
 */
#define RDL_VMS_MAX 8u
typedef void rdl_vm_interrupt(void *ctx, uint32_t function, uint64_t address, uint32_t data);
RDL_MUST_CHECK enum rdl_status rdl_vm_listen(struct rdl_lab *lab, rdl_host host,
                                             rdl_vm_interrupt *interrupt, void *ctx);

#endif
