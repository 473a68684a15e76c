/* SPDX-License-Identifier: MIT */
/* A way for a virtual machine to reach the PCI functions of its host.
 *
 *   QEMU's processor -> socket of a function -> rdl_vm_access() -> reply
 *   device -> regions of rdl_vm_memory(), which are the machine's memory itself
 *   device -> interrupt -> QEMU
 *
 * There are two, each of one QEMU (vm_find.h): vfio-user and x-pci-proxy.  live_vm.c, which starts
 * and ends the machine, knows only this interface.
 */
#ifndef CLI_LIVE_VM_TRANSPORT_H
#define CLI_LIVE_VM_TRANSPORT_H

#include <poll.h>

#include "cli/live/live.h"
#include "cli/live/vm_process.h"
#include "cli/live/vm_socket.h"
#include "rdmalab/vm.h"

#define VM_FUNCTIONS     RDL_VM_FUNCTIONS_MAX
#define VM_SLOT          5u /* of the functions, on the bus pcie.0 */
#define VM_OPTIONS_BYTES 2048u

/* Options and descriptors for the command of a machine. */
struct vm_launch {
    char options[VM_OPTIONS_BYTES]; /* value of $LAB, each followed by a space */
    int fds[VM_FDS]; /* descriptors that the command inherits, from VM_FDS_FIRST on */
    unsigned n_fds;
};

struct vm_counts {
    uint64_t accesses;   /* to registers and configuration space */
    uint64_t maps;       /* memory maps, or changes of one */
    uint64_t interrupts; /* sent to the machine */
    uint64_t merged;     /* not sent, because an equal one was queued */
};

struct vm_transport {
    const struct vm_transport_ops *ops;
    struct rdl_lab *lab;
    rdl_host host;
    struct vm_function {
        bool exists; /* in the lab */
        struct rdl_vm_function is;
    } functions[VM_FUNCTIONS];
};

/* Initializes the members of @t, with the functions that @host has in the lab. */
void vm_transport_init(struct vm_transport *t, const struct vm_transport_ops *ops,
                       struct rdl_lab *lab, rdl_host host);

struct vm_transport_ops {
    const char *speaks; /* for messages: "the protocol of ..." */

    /* Prepares to be reached by a machine that is the guest of @host.  The caller closes ret->fds.
     * Returns NULL with the reason in @reterr on failure.
     */
    struct vm_transport *(*prepare)(struct rdl_lab *lab, rdl_host host, struct vm_launch *ret,
                                    struct live_error *reterr);

    /* Disconnects the machine; its host has no memory then, and its functions are reset.  Frees
     * @t.
     */
    void (*close)(struct vm_transport *t);

    /* receive() reads the next request for @function.  execute() carries it out and replies;
     * returns NULL, or an error after which the machine must end.
     */
    enum vm_got (*receive)(struct vm_transport *t, uint32_t function);
    const char *(*execute)(struct vm_transport *t, uint32_t function);

    /* Disconnects @function, whose client has gone or sends nonsense. */
    void (*disconnect)(struct vm_transport *t, uint32_t function);

    /* Sends an interrupt (rdl_vm_interrupt), or queues it. */
    void (*interrupt)(struct vm_transport *t, uint32_t function, uint64_t address, uint32_t data);

    /* Sends what is queued.  Returns NULL, or an error after which the machine must end. */
    const char *(*flush)(struct vm_transport *t);

    /* Fills @ret with the descriptors to wait for, at most VM_FDS.  Returns their number. */
    unsigned (*fds)(const struct vm_transport *t, struct pollfd *ret);

    void (*count)(const struct vm_transport *t, struct vm_counts *ret);
};

extern const struct vm_transport_ops vm_proxy_ops, vm_vfu_ops;

#endif
