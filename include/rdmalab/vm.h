/* SPDX-License-Identifier: MIT */
/* Hosts whose guest is a virtual machine that another program runs.
 *
 * Such a host (rdl_host_config.external) has two PCI functions, virtio-net and its RDMA device, and
 * an Ethernet port.  With a PVRDMA device it has no virtio-net: drivers of that device insist on an
 * Ethernet function that the lab does not have, so the program brings one and joins it to the port
 * (rdl_vm_ethernet).  The lab runs no guest on it: calls that need one return RDL_ERR_NO_GUEST. Its
 * only memory is what rdl_vm_memory() maps.  The program that runs the machine passes each access
 * of a function to this API and receives the interrupts through a callback.
 *
 * An access is an action of a guest: a tick without duration, answered when the call returns.  Its
 * consequences (a doorbell, a frame, an interrupt) happen when the lab advances.
 *
 * The machine reads and writes its memory while the lab does.  Such a lab cannot be repeated: its
 * hash is meaningless, and rdl_checkpoint_save() returns RDL_ERR_VM once the memory is mapped.
 */
#ifndef RDMALAB_VM_H
#define RDMALAB_VM_H

#include "rdmalab/lab.h"

#define RDL_VM_REGIONS_MAX 16u
#define RDL_VM_GPA_MAX     ((uint64_t)1 << 52)

/* A region of the machine's memory that this process has mapped.  Only whole pages of 4096 bytes
 * are used.
 */
struct rdl_vm_region {
    uint64_t gpa, bytes; /* guest-physical; the region ends at or before RDL_VM_GPA_MAX */
    void *at;            /* address of the region in this process */
    bool writable;       /* false: the devices may only read it */
};

/* Returns true if @host was added as external: its guest is a virtual machine, connected or not. */
bool rdl_vm_is_guest(const struct rdl_lab *lab, rdl_host host);

/* Replaces the memory of the machine by @regions, which are copied.  When the call returns, the lab
 * no longer uses the previous regions, and they may be unmapped.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STALE  @host
 *	   RDL_ERR_STATE  the lab runs the guest of @host
 *	   RDL_ERR_INVAL  more than RDL_VM_REGIONS_MAX, two overlap, or one is out of range
 */
RDL_MUST_CHECK enum rdl_status rdl_vm_memory(struct rdl_lab *lab, rdl_host host,
                                             const struct rdl_vm_region *regions, uint32_t n);

#define RDL_VM_FUNCTIONS_MAX 2u

/* Describes a function of a host in its slot. */
struct rdl_vm_function {
    /* A write of a register must have been carried out when the processor goes on.  Otherwise it is
     * enough if the function carries out all accesses in their order.
     */
    bool waits_for_writes;
};

/* Fills in *@ret for function number @function of @host.  Returns RDL_ERR_INVAL if the lab has no
 * such function; the other errors as rdl_vm_memory().
 */
RDL_MUST_CHECK enum rdl_status rdl_vm_function(const struct rdl_lab *lab, rdl_host host,
                                               uint32_t function, struct rdl_vm_function *ret);

/* One access to a function of the host by the machine's processor. */
struct rdl_vm_access {
    uint32_t function; /* number in the slot: 0 is virtio-net, 1 is the RDMA device */
    bool config;       /* configuration space; otherwise memory space */
    bool write;
    uint32_t bytes; /* width of the access: 1, 2, 4, or in memory space 8 */
    uint64_t addr;  /* offset in configuration space, or guest-physical address in a BAR */
    uint64_t value; /* value to write */
};

/* Carries out an access.  *@ret is the value read, or 0 for a write.  A read that no function
 * claims returns all ones.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_STATE (the lab runs the guest of the host)
 *	   RDL_ERR_INVAL  no such function, or no such width
 */
RDL_MUST_CHECK enum rdl_status rdl_vm_access(struct rdl_lab *lab, rdl_host host,
                                             const struct rdl_vm_access *access, uint64_t *ret);

/* Sets the features that the functions of @host offer from their next reset on.  @features_off are
 * ring features that neither function offers, and extensions that virtio-rdma does not offer;
 * VERSION_1 is always offered.  @net_off are the features of virtio-net alone that it does not
 * offer.  All other features are offered, except that virtio-rdma offers RESIZE and ON_DEMAND only
 * with RING_RESET, and ARM_MEM only with CEQ.  A running driver keeps its negotiated features.
 * Errors as rdl_vm_memory(), and RDL_ERR_UNSUPPORTED: no function is virtio.
 */
RDL_MUST_CHECK enum rdl_status rdl_vm_offer(struct rdl_lab *lab, rdl_host host,
                                            uint64_t features_off, uint64_t net_off);

/* Resets @function to its state after power-on.  Errors as rdl_vm_access(). */
RDL_MUST_CHECK enum rdl_status rdl_vm_reset(struct rdl_lab *lab, rdl_host host, uint32_t function);

/* Registers the callback for MSI-X messages of the functions of @host, or removes it (NULL).  The
 * receiver must write the 4 bytes @data to guest-physical @address.  If @address is RDL_VM_INTX,
 * the function has no MSI-X enabled, and its line INTx has risen; the bit for interrupts in its
 * register STATUS tells if the line is still high.  The callback runs while the lab advances and
 * must not call the lab.  It is not part of a checkpoint.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_STATE, RDL_ERR_LIMIT (RDL_VMS_MAX hosts have a callback)
 */
#define RDL_VMS_MAX 8u
#define RDL_VM_INTX UINT64_MAX
typedef void rdl_vm_interrupt(void *ctx, uint32_t function, uint64_t address, uint32_t data);
RDL_MUST_CHECK enum rdl_status rdl_vm_listen(struct rdl_lab *lab, rdl_host host,
                                             rdl_vm_interrupt *interrupt, void *ctx);

/* Registers the callback for frames that the Ethernet function of the machine receives, or removes
 * it (NULL).  Only for a host without virtio-net.  The frame begins with the Ethernet header and
 * has no FCS; it is valid only during the call.  Frames are dropped while nobody listens.  The
 * rules of rdl_vm_listen() apply.
 *
 * Return: as rdl_vm_listen()
 *	   RDL_ERR_UNSUPPORTED  the Ethernet function of the host is in the lab
 */
typedef void rdl_vm_frame(void *ctx, const void *frame, size_t bytes);
RDL_MUST_CHECK enum rdl_status rdl_vm_ethernet(struct rdl_lab *lab, rdl_host host,
                                               rdl_vm_frame *frame, void *ctx);

/* Sends a frame of the machine's Ethernet function through the port of @host now, in a tick of its
 * own.  @frame is copied.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_STATE, RDL_ERR_UNSUPPORTED, RDL_ERR_NOMEM
 *	   RDL_ERR_QUEUE_FULL  too many frames wait for the line
 *	   RDL_ERR_INVAL  shorter than an Ethernet header, or longer than the MTU of the port allows
 */
RDL_MUST_CHECK enum rdl_status rdl_vm_send(struct rdl_lab *lab, rdl_host host, const void *frame,
                                           size_t bytes);

#endif
