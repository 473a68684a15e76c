/* SPDX-License-Identifier: MIT */
/* A PCI function of the lab as a vfio-user client sees it: carries out requests and writes replies.
 * No socket is here; vm_vfu.c has those.
 *
 * A client names a BAR and an offset, not an address.  The function decodes addresses, so an access
 * goes to the address that the client has written to the BAR.
 *
 * The client keeps the MSI-X table for itself, and what is masked in it: the server gets eventfds.
 * So the server fills in the function's table: the message of a vector that has an eventfd has the
 * vector as data, and is not masked.  When the function sends it, the eventfd is signalled.  QEMU
 * then looks into its own table.
 *
 * INTx is a level.  The client masks the line when its eventfd was signalled, and unmasks it when
 * the guest has handled the interrupt; if the line is still high then, it is signalled again.
 */
#ifndef CLI_LIVE_VFU_FUNCTION_H
#define CLI_LIVE_VFU_FUNCTION_H

#include "cli/live/vfu_memory.h"
#include "cli/live/vfu_wire.h"
#include "emu/facts/pci.h"

#define VFU_VECTORS_MAX 2048u

struct vfu_function {
    struct rdl_lab *lab;
    rdl_host host;
    uint32_t number;           /* of the function in its slot */
    struct vfu_memory *memory; /* of the host */

    uint32_t config_bytes;          /* size of configuration space */
    uint32_t bar_bytes[PCI_BARS];   /* sizes; 0: no such BAR */
    uint32_t bars[PCI_BARS];        /* values that the client has written */
    uint32_t command;               /* the same for COMMAND */
    uint32_t express;               /* offset of the PCI Express capability; 0: none */
    uint32_t msix_bar, msix_offset; /* place of the MSI-X table */
    uint32_t n_vectors;             /* 0: no MSI-X */
    bool has_line;                  /* the function has an interrupt pin */

    int eventfds[VFU_VECTORS_MAX];  /* of the vectors; -1: none */
    bool in_table[VFU_VECTORS_MAX]; /* the function may send the vector's message */
    int line_eventfd;               /* of INTx; -1: none */
    bool line_masked;

    uint64_t accesses, maps, interrupts;
    const char *wrong; /* why the guest cannot use the function; NULL: it can */
};

/* Initializes @f for a client that has connected: resets function @number of @host, and finds out
 * what it has.
 */
void vfu_function_init(struct vfu_function *f, struct vfu_memory *memory, uint32_t number);

/* Ends it: unmaps the client's memory, closes eventfds, resets the function. */
void vfu_function_done(struct vfu_function *f);

/* Carries out @message, which is as long as vfu_message_size() has said, and came with @n_fds
 * descriptors @fds.  Descriptors that are kept become -1 in @fds.
 */
void vfu_function_execute(struct vfu_function *f, const uint8_t *message, int *fds, unsigned n_fds,
                          struct vfu_reply *ret);

/* Passes an interrupt on that the function has sent (rdl_vm_interrupt). */
void vfu_function_interrupt(struct vfu_function *f, uint64_t address, uint32_t data);

#endif
