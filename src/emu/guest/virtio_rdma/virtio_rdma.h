/* SPDX-License-Identifier: MIT */
/* The driver of a virtio-rdma device: implements the verbs' operations (guest/verbs/driver.h) with
 * registers, virtqueues and the structures of the RFC.
 *
 * Like a kernel driver, it knows only what it reads from registers, rings and responses.  It shares
 * no state with the device model.
 */
#ifndef EMU_GUEST_VIRTIO_RDMA_H
#define EMU_GUEST_VIRTIO_RDMA_H

#include "emu/facts/device.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "emu/guest/machine/rdma_driver.h"
#include "emu/guest/verbs/driver.h"
#include "emu/guest/virtio/virtio.h"
#include "emu/guest/virtio_rdma/event_ring.h"
#include "emu/guest/virtio_rdma/raw.h"

/* Queue sizes that the driver wants; a device may offer less. */
#define GUEST_CTRL_QUEUE_SIZE 64u
#define GUEST_QUEUE_SIZE      256u

/* Devices with RING_RESET and at least GUEST_QUEUES_MANY queues get short queues at boot, because
 * most may never be used: eight such rings share a page.  An object that needs a longer queue gets
 * it when it is created.
 */
#define GUEST_QUEUES_MANY     512u
#define GUEST_QUEUE_SIZE_MANY 16u

/* Entries of the event queue. */
#define GUEST_EVENT_QUEUE_SIZE 16u

/* Entries of a completion event queue: more events wait in the device. */
#define GUEST_CEQ_SIZE 16u

/* MSI-X vectors.  The event queue shares the vector of the control queue.  Completion queues share
 * the vectors from GUEST_VECTOR_CQ on; with fewer than three vectors they share the last one.  With
 * completion event queues these have the vectors, and completion queues none.  Send and receive
 * queues have no vector.
 */
#define GUEST_VECTOR_CONFIG 0u
#define GUEST_VECTOR_CTRL   1u
#define GUEST_VECTOR_CQ     2u

/* The memory of a virtqueue while an object uses it. */
struct guest_queue_mem {
    uint32_t size;       /* entries of the ring */
    uint64_t ring_gpa;   /* 0: the queue uses its ring memory of boot */
    uint64_t slots_gpa;  /* address of the buffers; buffer i belongs to descriptor i */
    uint32_t slot_bytes; /* size of a buffer, a power of two, so that no buffer crosses a page */
};

/* Completions that were in the ring when the CQ was resized, oldest first. */
struct kept_cqes {
    struct raw_cqe *v; /* the completions; NULL: none */
    uint32_t n, first; /* number of completions; number of completions already polled */
};

/* The CQN is also the number of the CQ's virtqueue. */
struct virtio_rdma_cq {
    struct guest_cq cq;
    struct guest_queue_mem mem;
    struct guest_queue_mem new_mem; /* memory after the resize that is under way */
    struct kept_cqes kept;
    /* With the feature CEQ. */
    uint32_t ceq;     /* number of the CEQ that gets its events */
    uint64_t arm_gpa; /* address of its arming; 0: it is armed by REQ_NOTIFY_CQ */
    uint32_t arming;  /* flags of the arming in memory that may have raised no event; 0: none */
    uint32_t armings; /* number of the latest arming in memory */
};

struct virtio_rdma_qp {
    struct guest_qp qp;
    struct guest_queue_mem sq_mem, rq_mem;
    /* Memory after the resize that is under way; size 0: the queue does not change. */
    struct guest_queue_mem new_sq, new_rq;
    /* By descriptor of the send queue: the page list that its request names; NULL without any. */
    struct reg_list **lists;
    uint32_t n_lists; /* entries of @lists */
};

/* A page list for REG_MR, with the feature REG_IN_WQE.  Its users are the region whose last mapping
 * it is, and each posted request that names it: the device reads it when it executes the request.
 */
struct reg_list {
    uint64_t gpa, bytes; /* the list in the DMA area */
    uint64_t start, length;
    uint32_t n_pages;
    uint32_t n_users;
};

struct virtio_rdma_mr {
    struct guest_mr mr;
    struct reg_list *list; /* of the last mapping of a region for fast registration; NULL: none */
};

struct virtio_rdma_srq {
    struct guest_srq srq;
    struct guest_queue_mem mem;
};

/* A request of the verbs, with the memory of its two buffers. */
struct virtio_rdma_request {
    bool under_way;
    uint16_t head; /* head descriptor of its chain */
    enum ctrl_cmd cmd;
    struct guest_object *object; /* the object it concerns; NULL: the port */
    uint32_t number;             /* number of @object, 0 before it has one */
    uint64_t request_gpa, response_gpa;
    uint32_t response_bytes; /* length of the response buffer, status byte included */
    ev_id because;           /* ctrl_cause() of its answer */
};

/* The verbs' requests.  Only requests that create objects are under way together.  The raw requests
 * of raw.h share the control queue.
 */
struct virtio_rdma_ctrl {
    uint32_t n_under_way;
    /* The buffers of each request are allocated at first use. */
    struct virtio_rdma_request places[RDL_REQUESTS_MAX];
    enum ctrl_cmd cmd;               /* command of the last request sent or answered */
    uint32_t rsp;                    /* enum ctrl_rsp of the last answer */
    uint64_t pages_gpa, pages_bytes; /* list of pages for registrations; reused, and grows */
};

/* Asynchronous events. */
struct virtio_rdma_events {
    struct event_ring ring;
    bool heard;       /* a program uses the device: the interrupt is enabled */
    uint64_t counted; /* the event counter as last read, if there is no event queue */
};

struct virtio_rdma {
    struct verbs *verbs;
    struct arena *arena;
    struct guest_virtio virtio;
    /* Settings, written before boot. */
    bool tables;    /* control requests use indirect descriptor tables if the device offers them */
    bool on_demand; /* accept the feature ON_DEMAND if offered: set up queues when needed */

    uint32_t boot_step;                /* number of boot requests sent */
    struct rfc_config device;          /* the device configuration as last read */
    struct rfc_srq_limits srqs;        /* limits of SRQs; all 0: no shared receive queues */
    uint32_t n_queues, queue_size_max; /* number and maximum size of the device's queues */
    uint32_t boot_size;                /* ring size of unused CQs and QPs; 0: not set up at boot */
    struct guest_queue *queues;
    struct virtio_rdma_ctrl ctrl;
    struct raw_requests raw;
    struct virtio_rdma_events events;
    /* Completion event queues; n_ceqs 0: the device has none. */
    uint32_t n_ceqs, first_ceq; /* their number, and the first virtqueue */
    uint32_t next_ceq;          /* the CEQ of the next CQ */
    struct event_ring ceqs[DEVICE_CEQS_MAX];
    uint64_t irqs; /* interrupts handled */
};

/* The driver as a guest loads it, and its operations for the verbs.  Its state is a struct
 * virtio_rdma.
 *
 * boot() initialises the function in the order of virtio 1.2, 3.1.1, without sending requests.  It
 * returns RDL_ERR_UNSUPPORTED if a structure is missing, VERSION_1 is not offered, or the device
 * refused the features.  start() sends the boot requests one after the other: ADD_GID 0 and 1 with
 * the host's addresses, then QUERY_PORT.  If the device answers during each notification, verbs->up
 * is set on return; otherwise the interrupt handler continues.  If start() returns RDL_ERR_DEVICE,
 * ctrl.cmd is the command that the device refused, and ctrl.rsp the response.
 */
extern const struct rdma_driver virtio_rdma_driver;
extern const struct verbs_driver_ops virtio_rdma_ops;

/* Returns the driver below @v, or NULL if that is no driver of virtio-rdma. */
static inline struct virtio_rdma *virtio_rdma_of(const struct verbs *v)
{
    return v->ops == &virtio_rdma_ops ? v->driver : NULL;
}

/* Returns the driver's side of virtqueue @queue. */
static inline struct vqd *virtio_rdma_vq(const struct virtio_rdma *d, uint32_t queue)
{
    return &d->queues[queue].vq;
}

/* Returns the guest-physical address of buffer @i of a queue. */
static inline uint64_t guest_slot_gpa(const struct guest_queue_mem *m, uint32_t i)
{
    return m->slots_gpa + (uint64_t)i * m->slot_bytes;
}

#endif
