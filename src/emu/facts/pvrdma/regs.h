/* SPDX-License-Identifier: MIT */
/* The PCI function of PVRDMA: its IDs, its BARs, the registers of BAR 1, and the doorbells of a
 * page of BAR 2 (UAR).  [Linux, drivers/infiniband/hw/vmw_pvrdma/pvrdma_dev_api.h]
 */
#ifndef EMU_FACTS_PVRDMA_REGS_H
#define EMU_FACTS_PVRDMA_REGS_H

#include "emu/facts/enum_table.h"

#define PV_PCI_VENDOR 0x15adu
#define PV_PCI_DEVICE 0x0820u

#define PV_BAR_MSIX 0u
#define PV_BAR_REGS 1u
#define PV_BAR_UAR  2u

#define PV_REG_BYTES 4096u /* of BAR 1; the registers end long before */
#define PV_UAR_PAGES 512u  /* the capability max_uar: Linux needs a power of two */
#define PV_UAR_BYTES 4096u /* one page */

/* X(prefix, NAME, offset in BAR 1, text).  All are 32 bits wide. */
#define ENUM_PV_REG(X)                                                                             \
    X(PVR, VERSION, 0x00, "version of the device, read only")                                      \
    X(PVR, DSRLOW, 0x04, "address of the shared region, low half")                                 \
    X(PVR, DSRHIGH, 0x08, "its high half, written last: the device then reads the region")         \
    X(PVR, CTL, 0x0c, "0: activate, 1: unquiesce, 2: reset")                                       \
    X(PVR, REQUEST, 0x10, "0: execute the command in the command slot")                            \
    X(PVR, ERR, 0x14, "0, or why the last step failed, read only")                                 \
    X(PVR, ICR, 0x18, "reasons of the interrupt; a read clears them")                              \
    X(PVR, IMR, 0x1c, "reasons that must not interrupt")                                           \
    X(PVR, MACL, 0x20, "MAC address of the port, low half, read only")                             \
    X(PVR, MACH, 0x24, "its high half, read only")

enum pv_reg { ENUM_PV_REG(ENUM_MEMBER) };

/* X(prefix, NAME, number, text): the phases of the device. */
#define ENUM_PV_PHASE(X)                                                                           \
    X(PV, RESET, 0, "the device has no shared region")                                             \
    X(PV, SHARED, 1, "the device has read the shared region and has written its capabilities")     \
    X(PV, ACTIVE, 2, "commands, doorbells and notifications work")

enum pv_phase { ENUM_PV_PHASE(ENUM_MEMBER) };

/* X(prefix, NAME, number, text): the meaning of a write to a page of doorbells. */
#define ENUM_PV_DOORBELL(X)                                                                        \
    X(PVB, NOTHING, 0, "a doorbell of an object that does not exist, or without a known bit")      \
    X(PVB, SEND, 1, "the doorbell of a send queue")                                                \
    X(PVB, RECV, 2, "the doorbell of a receive queue")                                             \
    X(PVB, SEND_AND_RECV, 3, "the doorbell of both work queues of a queue pair")                   \
    X(PVB, ARM, 4, "arms a completion queue for its next completion")                              \
    X(PVB, ARM_SOLICITED, 5, "arms a completion queue for a solicited completion or an error")     \
    X(PVB, POLL, 6, "the driver has found a completion queue empty")                               \
    X(PVB, SRQ_RECV, 7, "the doorbell of a shared receive queue")

enum pv_doorbell { ENUM_PV_DOORBELL(ENUM_MEMBER) };

/* Values of CTL. */
enum pv_ctl { PV_CTL_ACTIVATE, PV_CTL_UNQUIESCE, PV_CTL_RESET };

/* Reasons of interrupts: bits of ICR and IMR, and numbers of MSI-X vectors. */
enum pv_vector { PV_VECTOR_RESPONSE, PV_VECTOR_ASYNC, PV_VECTOR_CQ, PV_VECTORS };

/* Versions.  A later one has what the earlier ones have. */
#define PV_VERSION_ROCE_V1   17u
#define PV_VERSION_ROCE_V2   18u
#define PV_VERSION_PFN_64    19u /* page frame numbers of 64 bits */
#define PV_VERSION_QP_HANDLE 20u /* a queue pair has a handle beside its number */
#define PV_VERSION_LEAST     PV_VERSION_ROCE_V1
#define PV_VERSION_MOST      PV_VERSION_QP_HANDLE

/* GID types: bits of the capability, and the type of CREATE_BIND. */
#define PV_GID_ROCE_V1 1u
#define PV_GID_ROCE_V2 2u

/* Pages that Linux lets a region for fast registration have, whatever the capability is.  Kernel
 * users (NVMe) allocate regions of as many pages as the capability says.
 */
#define PV_FAST_PAGES_MAX 128u

/* Doorbells: offsets in a UAR page, and bits of the value.  The low bits are a handle. */
#define PV_UAR_AT_QP    0u
#define PV_UAR_AT_CQ    4u
#define PV_UAR_AT_SRQ   8u
#define PV_UAR_HANDLE   0x00ffffffu
#define PV_UAR_SEND     (1u << 30) /* QP */
#define PV_UAR_RECV     (1u << 31) /* QP */
#define PV_UAR_ARM_SOL  (1u << 29) /* CQ: for a solicited completion or an error */
#define PV_UAR_ARM      (1u << 30) /* CQ: for the next completion */
#define PV_UAR_POLL     (1u << 31) /* CQ: the driver has found it empty */
#define PV_UAR_SRQ_RECV (1u << 30) /* SRQ */

#endif
