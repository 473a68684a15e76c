/* SPDX-License-Identifier: MIT */
/* The PVRDMA device: presents an RNIC to a driver as VMware's paravirtual RDMA adapter.
 *
 *	driver -> registers -> shared region, command slot
 *	driver -> page of doorbells (UAR) -> ring | arming of a CQ
 *	RNIC -> work request from a ring | CQE, notification, event and interrupt to the driver
 *
 * Design, states and invariants are in docs/decisions/0056-a-second-device-is-pvrdma.md, the facts
 * in facts/pvrdma.
 *
 * The device is safe against a hostile guest.  Any content of a register, the shared region, a
 * command, a directory or a ring leads to a refusal, an error completion, an asynchronous event, or
 * is ignored and counted.
 */
#ifndef EMU_DEVICE_PVRDMA_PVRDMA_H
#define EMU_DEVICE_PVRDMA_PVRDMA_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/device/pvrdma/ring.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/pci/fault.h"
#include "emu/pci/function.h"
#include "emu/rnic/rdma_device_init.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/id.h"

/* Delay from a doorbell until the device reads the ring, in ns of virtual time. */
#define PV_DOORBELL_NS 100u

/* Largest numbers of queue pairs that the device can have: a handle has 16 bits in completions. */
#define PV_QPS_MAX 65534u

/* A work queue of a queue pair, or a shared receive queue. */
struct pv_queue {
    struct pv_ring ring;
    bool due;    /* a SIM_DOORBELL is scheduled */
    bool held;   /* a doorbell came while the device could not access memory */
    ev_id kick;  /* event of the latest doorbell */
    bool failed; /* the ring is broken, and the queue pair goes to ERR with the next doorbell */
};

struct pv_qp {
    struct pv_pages pages;
    struct pv_queue wq[2]; /* by enum wq */
    uint32_t events;       /* asynchronous events that the driver was told */
};

struct pv_srq {
    struct pv_pages pages;
    struct pv_ring ring;
};

struct pv_cq {
    struct pv_pages pages;
    struct pv_ring ring;
    uint32_t uc;   /* its user context */
    bool note_due; /* a notification waits for room in its ring */
};

/* A user context: a page of doorbells of a program. */
struct pv_uc {
    bool used;
    uint32_t page;  /* of BAR 2 */
    uint32_t users; /* protection domains and completion queues */
};

/* A ring of the shared region. */
struct pv_shared_ring {
    struct pv_pages pages;
    struct pv_ring ring;
};

struct pv_counters {
#define PV_COUNTER(name, text) uint64_t name;
#include "emu/facts/pvrdma/counters.def"
#undef PV_COUNTER
};

/* A response that a fault delays.  A second one does not wait: the first is then sent at once. */
struct pv_late {
    bool due;   /* it is in @bytes */
    bool told;  /* the driver is interrupted when it is there */
    bool timer; /* a SIM_DOORBELL of PV_QUEUE_COMMANDS is scheduled */
    uint32_t n;
    uint32_t fault; /* number of the fault, which may be gone before the response comes */
    struct ev_str name;
    uint8_t bytes[PV_RESPONSE_BYTES_MAX];
};

struct pvrdma {
    struct rdma_device_config config;
    struct rnic nic;
    struct pci_fn fn;
    enum pv_phase phase; /* written by pv_set_phase() alone */
    bool unquiesced;     /* the driver's network interface is up */
    uint32_t version;    /* that counts: the smaller one of device and driver; 0 in PV_RESET */
    uint32_t dsr_low;    /* register */
    uint32_t err;        /* register */
    uint32_t icr, imr;   /* registers: sets of 1u << enum pv_vector */
    uint64_t region;     /* address of the shared region */
    uint64_t command_slot, response_slot;
    struct pv_shared_ring events, notes;
    uint32_t n_notes_due;
    struct pv_qp *qps;   /* indexed by QPN */
    struct pv_cq *cqs;   /* indexed by CQN */
    struct pv_srq *srqs; /* indexed by SRQN */
    uint32_t *pd_uc;     /* user context of each protection domain, indexed by PDN */
    struct pv_uc *ucs;   /* indexed by handle; entry 0, the kernel's, always exists */
    struct pv_counters count;
    struct device_fault *faults; /* active faults, in order of addition */
    struct pv_late late;
    uint8_t wqe[PV_PAGE_BYTES]; /* current work request: too large for the stack */
};

/* The operations of a device as its host has it; @dev is the struct pvrdma. */
extern const struct rdma_device_ops pvrdma_device_ops;

/* pvrdma_new() makes a device as its host has it; pvrdma_of() returns this device, or NULL if @d is
 * of another type or no device.
 */
rdma_device_init pvrdma_new;
struct pvrdma *pvrdma_of(const struct rdma_device *d);

/* Returns true if the device may access memory: it is active, and bus mastering is on. */
static inline bool pv_is_running(const struct pvrdma *d)
{
    return d->phase == PV_ACTIVE && fn_is_master(&d->fn);
}

/* Return the number of the queue of SRQ @srqn, and of CQ @cqn, for events and faults. */
static inline uint32_t pv_srq_queue(const struct pvrdma *d, uint32_t srqn)
{
    return pv_queue_of_srq(d->config.nic.max_qp, srqn);
}

static inline uint32_t pv_cq_queue(const struct pvrdma *d, uint32_t cqn)
{
    return pv_queue_of_cq(d->config.nic.max_qp, d->config.nic.max_srq, cqn);
}

#endif
