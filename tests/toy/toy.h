/* SPDX-License-Identifier: MIT */
/* The toy RNIC: the registers, rings and commands that its device and its driver share.
 *
 * It is the smallest device with which a host can do all verbs but the changes of queue lengths.
 * It proves that RNIC, PCI function, verbs and lab know no device, and it is an example for a new
 * one: docs/a-new-device.md.  It is not meant to be fast, or safe against a hostile driver.
 *
 * Everything in guest memory is a struct of this header, byte for byte.  Most members are the
 * RNIC's own structs, so that the device need not convert them: a real device has formats of its
 * own.  Pointers in them are NULL.
 *
 * A ring is a header and behind it its entries.  Both counters only grow; entry k is at place k %
 * n.
 */
#ifndef TESTS_TOY_TOY_H
#define TESTS_TOY_TOY_H

#include <stdint.h>

#include "emu/hca/mr.h"
#include "emu/hca/qp.h"
#include "emu/hca/srq.h"
#include "emu/xport/xport.h"
#include "rdmalab/limits.h"

#define TOY_VENDOR 0x1234u
#define TOY_DEVICE 0x7057u

#define TOY_BAR      2u /* the registers; BAR 0 has MSI-X, with one vector */
#define TOY_BAR_MSIX 0u

/* Registers: offset, and width in bytes.  All but CAUSE are written only. */
#define TOY_COMMAND   0x00u /* 8: guest-physical address of a struct toy_command to execute */
#define TOY_EVENTS    0x08u /* 8: address of the ring of events, TOY_N_EVENTS entries; 0: resets */
#define TOY_DOORBELL  0x10u /* 4: TOY_SQ() or TOY_RQ() of a queue with new work */
#define TOY_TAKEN     0x14u /* 4: the driver has taken events */
#define TOY_CAUSE     0x18u /* 4: 1 after an interrupt; reading clears it and lowers INTx */
#define TOY_REG_BYTES 0x1cu

/* The number of a work queue.  A shared receive queue has no doorbell. */
#define TOY_SQ(qpn) (2 * (qpn))
#define TOY_RQ(qpn) (2 * (qpn) + 1)

/* Work queues: put counts the requests that the driver has posted, got those that are over.
 * Completion queues and events: put counts what the device has written, got what the driver took.
 */
struct toy_ring {
    uint32_t put, got;
};

/* The entries of work queues: a request, and behind it its SGEs or inline data.  Those of
 * completion queues are struct completion.
 */
union toy_data {
    struct sge sge[RDL_MOST_max_send_sge];
    uint8_t bytes[RDL_MOST_max_inline_data];
};

struct toy_send {
    struct send_wqe wqe; /* without desc and fetched */
    union toy_data data;
};

struct toy_recv {
    struct recv_wqe wqe; /* without desc */
    union toy_data data;
};

/* An entry of the ring of events: an asynchronous event, or a completion event. */
#define TOY_N_EVENTS   4096u
#define TOY_CQ_EVENT   0xffffffffu
#define TOY_EVENT_ROOM 1024u /* entries that asynchronous events leave to completion events */
struct toy_event {
    uint32_t type, number; /* enum async_event, or TOY_CQ_EVENT and a CQN */
    uint32_t missed;       /* 1: asynchronous events before this one were lost */
};

enum toy_op {
    TOY_QUERY_LIMITS,
    TOY_QUERY_PKEY, /* number: an index, then the P_Key */
    TOY_SET_GID,    /* number: an index; flag: set it to gid, or clear it */
    TOY_CREATE_PD,
    TOY_CREATE_MR, /* kind: enum key_kind */
    TOY_REREG_MR,  /* mask: set of REREG_... */
    TOY_MAP_MR,
    TOY_CREATE_MW, /* kind: type of the window */
    TOY_CREATE_CQ, /* value: cqe */
    TOY_ARM_CQ,    /* flag: only for solicited completions */
    TOY_CREATE_SRQ,
    TOY_MODIFY_SRQ, /* value: the limit */
    TOY_QUERY_SRQ,
    TOY_CREATE_QP,
    TOY_MODIFY_QP, /* mask: set of enum qp_attr_bit */
    TOY_QUERY_QP,  /* flag: the answer, the send queue drains */
    TOY_ATTACH,
    TOY_DETACH,
    TOY_DESTROY, /* kind: enum object_kind */
    TOY_OPS
};

struct toy_limits {
    struct rdl_device_limits l;
    uint32_t max_cq, max_qp, max_srq, max_pkeys, active_mtu;
};

/* A command and its answer, in the same place.  The device sets @done last. */
struct toy_command {
    uint32_t op;     /* enum toy_op */
    uint32_t done;   /* 1: answered */
    int32_t error;   /* errno, or 0 */
    uint32_t number; /* of the object: PDN, key number, CQN, SRQN, QPN */
    uint32_t pdn, kind, mask, value;
    uint32_t key; /* answer: key of a region or window; flag: peers may use it */
    bool flag;
    uint64_t ring, recv_ring; /* addresses of the rings of a queue */
    uint64_t pages;           /* address of the list of addresses of a region's pages; 0: none */
    union {
        struct mr_request mr; /* @pages of it is not used */
        struct srq_config srq;
        struct qp_config qp;
        struct qp_attr attr;
        struct toy_limits limits;
        uint8_t gid[GID_BYTES];
    };
};

#endif
