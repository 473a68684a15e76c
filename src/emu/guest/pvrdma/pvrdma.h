/* SPDX-License-Identifier: MIT */
/* The driver of PVRDMA: probes the function, tells the device the shared region, and implements the
 * operations of the verbs with its commands, rings and doorbells.
 *
 *	verbs --> command in its slot, REQUEST --> device
 *	      <-- response, vector 0 ------------
 *	verbs --> work request in a ring, doorbell --> device
 *	      <-- CQE in a ring; if armed, notification and vector 2 --
 *
 * It does what Linux's vmw_pvrdma does, in the same order, with these differences: its function 0
 * is virtio-net, all objects belong to the kernel's user context, a queue takes no more work
 * requests than the program asked for, though its ring has a power of two, and completions of a
 * queue pair stay in their queue when it is destroyed.  [decision 0057]
 */
#ifndef EMU_GUEST_PVRDMA_PVRDMA_H
#define EMU_GUEST_PVRDMA_PVRDMA_H

#include "emu/facts/pvrdma/structs.h"
#include "emu/guest/machine/rdma_driver.h"
#include "emu/guest/pci/pci.h"
#include "emu/guest/verbs/driver.h"

/* A page directory in guest memory, with its tables. */
struct pvd_directory {
    uint64_t gpa;         /* 0: there is none */
    uint64_t first_table; /* the table of the first 512 pages */
    uint32_t n;           /* pages that it has room for */
};

/* A ring in pages of a directory, whose first page has the indices. */
struct pvd_ring {
    const struct pvd_directory *pages;
    uint64_t state;      /* address of the two indices */
    uint32_t first_page; /* page of slot 0 */
    uint32_t n;          /* slots, a power of two */
    uint32_t slot_bytes; /* a power of two, at most a page */
};

struct pvd_mr {
    struct guest_mr mr;
    struct pvd_directory pages; /* of a region for fast registration: what is mapped into it */
};

struct pvd_cq {
    struct guest_cq cq;
    struct pvd_directory pages;
    struct pvd_ring ring;
};

struct pvd_srq {
    struct guest_srq srq;
    struct pvd_directory pages;
    struct pvd_ring ring;
};

struct pvd_qp {
    struct guest_qp qp;
    uint32_t handle;
    struct pvd_directory pages;
    struct pvd_ring sends, receives;
};

/* One of the two rings of the shared region. */
struct pvd_shared_ring {
    struct pvd_directory pages;
    struct pvd_ring ring;
};

struct pvrdma_guest {
    struct verbs *verbs;
    struct guest_pci pci;
    uint64_t regs, uar;                   /* guest-physical addresses */
    uint64_t region;                      /* of the shared region */
    uint64_t command_slot, response_slot; /* and of the slots */
    struct pvd_shared_ring events, notes;
    uint32_t version; /* of the device */
    struct pv_caps caps;
    uint32_t command; /* enum pv_command: under way, or the last one */
    bool waits;       /* a command is under way */
    uint64_t n_commands;
    bool refused;               /* the device has refused a command before the verbs were up */
    struct pvd_directory range; /* pages of the region to register; all commands share it */
    uint64_t n_doorbells, irqs;
    struct {
        uint32_t id, command;
        uint32_t error; /* the register ERR after it */
        bool sent;      /* the device was told of it */
    } raw;              /* the last command whose bytes a program supplied */
};

extern const struct rdma_driver pvrdma_driver;
extern const struct verbs_driver_ops pvrdma_verbs_ops;

/* Returns the driver of a guest, or NULL if its RDMA device is another one. */
static inline struct pvrdma_guest *pvrdma_guest_of(const struct verbs *v)
{
    return v->ops == &pvrdma_verbs_ops ? v->driver : NULL;
}

#endif
