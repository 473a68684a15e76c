/* SPDX-License-Identifier: MIT */
/* The objects of programs as the verbs of a guest keep them, and their handles.  What a driver
 * keeps of an object stands behind the struct here (driver.h).
 */
#ifndef EMU_GUEST_VERBS_OBJECTS_H
#define EMU_GUEST_VERBS_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/slots.h"
#include "emu/wire/addr.h"
#include "rdmalab/events.h"
#include "rdmalab/verbs.h"

struct verbs;

/* A handle: the number of its host, from 1 (16 bits), and a slot name of base/slots.h (48 bits). */
#define VERBS_NAME_BITS (2 * SLOTS_INDEX_BITS)

/* Returns the number, from 1, of the host that @handle belongs to. */
static inline uint32_t verbs_host_of(uint64_t handle)
{
    return (uint32_t)(handle >> VERBS_NAME_BITS);
}

/* Returns the slot name of @handle in the table of its object kind. */
static inline uint64_t verbs_name_of(uint64_t handle)
{
    return handle & (((uint64_t)1 << VERBS_NAME_BITS) - 1);
}

enum guest_life {
    GUEST_PENDING, /* the device has not answered the request that creates it */
    GUEST_LIVE,
    GUEST_LEAVING /* the device has not answered the request that destroys it */
};

/* The common head of all objects.  A driver's object begins with the verbs' object (driver.h). */
struct guest_object {
    struct verbs *verbs;
    struct guest_object *next_named; /* next in the same hash list of verbs->named */
    uint32_t kind;                   /* enum object_kind */
    enum guest_life life;
    uint64_t handle;
    struct guest_program *owner;  /* the program to which it belongs; NULL: the lab's user */
    uint32_t n_users;             /* number of references from objects that depend on this one */
    enum rdl_kernel_part kept_by; /* nobody else may destroy it */
    bool counts;                  /* a layer counts it: verbs.n_of_device */
    uint32_t n_unacked;           /* number of asynchronous events taken and not acknowledged */
    char name[RDL_NAME_BYTES];    /* "": named when the object becomes live */
};

struct guest_pd {
    struct guest_object o;
    uint32_t pdn;
};

/* A user region covers the program's memory at addr.  A region for fast registration covers the
 * range that was mapped into it last.  A DMA region covers no memory of the program.
 */
struct guest_mr {
    struct guest_object o;
    struct guest_pd *pd;
    uint32_t kind; /* enum key_kind */
    uint32_t mrn, lkey, rkey, access;
    uint64_t addr, bytes;
    uint64_t iova;      /* address of the first byte in SGEs and in requests of peers */
    uint32_t max_pages; /* region for fast registration: maximum number of mapped pages */
};

struct guest_mw {
    struct guest_object o;
    struct guest_pd *pd;
    uint32_t type; /* window type, 1 or 2 */
    uint32_t mwn, rkey;
};

#define CHANNEL_EVENTS_FIRST 16u /* initial capacity of a channel's ring */

struct guest_channel {
    struct guest_object o;
    uint32_t number;           /* counts the channels of the host in order of creation, from 1 */
    struct guest_cq **waiting; /* ring: the CQ of each event that no program has taken */
    uint32_t cap, first, len;
};

struct guest_cq {
    struct guest_object o;
    struct guest_channel *channel; /* receives the completion events; NULL: they are only counted */
    uint32_t cqn;
    uint32_t cqe;
    uint32_t vector;            /* comp_vector of ibv_create_cq(), or RDL_VECTOR_ANY */
    bool armed;                 /* the device was asked for an event and has raised none since */
    uint64_t polled;            /* number of completions polled so far */
    uint64_t polled_when_armed; /* value of polled at the last arming or event */
    uint64_t events;            /* number of completion events */
    uint32_t n_unacked_events;  /* number of completion events taken and not acknowledged */
    bool of_kernel;             /* its events are for config.kernel_event() */
    void *kernel;               /* of_kernel: of the part of the kernel that has it */
};

struct guest_wq {
    uint32_t queue; /* the queue's number in events, chosen by the driver */
    uint32_t max_wr, max_sge;
};

/* Membership of a queue pair in one multicast group. */
struct guest_membership {
    struct guest_membership *next;
    uint8_t gid[GID_BYTES];
};

struct guest_srq {
    struct guest_object o;
    struct guest_pd *pd;
    uint32_t srqn;
    uint32_t limit; /* armed limit as last set or queried */
    struct guest_wq rq;
};

struct guest_qp {
    struct guest_object o;
    struct guest_pd *pd;
    struct guest_cq *send_cq, *recv_cq;
    struct guest_srq *srq; /* shared receive queue; NULL: the queue pair has its own, rq */
    uint32_t qpn;
    uint32_t type;     /* enum qp_type */
    uint32_t function; /* of a layer: number of the function that it is on, from 0 */
    bool sq_sig_all;
    bool block_self_mcast_lb; /* created with IB_QP_CREATE_BLOCK_SELF_MCAST_LB */
    uint32_t max_inline_data;
    struct guest_membership *groups; /* each counts in o.n_users, which prevents destroying */
    struct rdl_qp_attr attr;         /* attributes as last set, queried, or derived from an error */
    /* Numbers of completions of the two CQs.  Completions before them belong to an earlier use of
     * the queue pair or of its number.
     */
    uint64_t send_cq_from, recv_cq_from;
    /* Sends posted since the last signaled one.  The driver of an adapter frees their entries only
     * when a later send completes with a completion.
     */
    uint32_t n_unsignaled;
    struct guest_wq sq, rq;
};

/* An address handle.  It belongs to the driver: the device has no object for it. */
struct guest_ah {
    struct guest_object o;
    struct guest_pd *pd;
    struct rdl_ah_attr attr;  /* the address vector; its MAC is valid when the handle is live */
    uint8_t asked[GID_BYTES]; /* its GID, as the program knows it */
};

struct cma_event;

/* A moment in the use of the connection manager.  @tick is the last tick that was over; 0: it has
 * not come.
 */
struct cm_moment {
    uint64_t tick, ns;
};

/* An event channel or an ID of the connection manager, which the device does not know. */
struct guest_cm_object {
    struct guest_object o;
    uint32_t number;
    void *part;                      /* struct cma_channel or struct cma_id */
    struct guest_cm_object *channel; /* an ID: where its events come */
    uint64_t qp;            /* an ID: the handle of its queue pair, which may have gone; 0: none */
    void *kernel;           /* an ID: of the part of the kernel that has it; NULL: of a program */
    struct cm_moment moved; /* an ID: when librdmacm began to move its queue pair */
    struct cm_moment began; /* an ID: when the call began that will be remembered next */
    struct cma_event *taken, *last_taken; /* a channel: events to be acknowledged, the oldest first
                                           */
};

#endif
