/* SPDX-License-Identifier: MIT */
/* The driver of a virtio-rdma device: the verbs' operations (guest/verbs/driver.h) by registers,
 * virtqueues and the structures of the RFC.
 *
 * Everything here is what a kernel would know, learnt from registers, rings and responses; the
 * device's own view is elsewhere.
 */
#ifndef EMU_GUEST_VIRTIO_RDMA_H
#define EMU_GUEST_VIRTIO_RDMA_H

#include "emu/facts/rfc.h"
#include "emu/guest/pci/pci.h"
#include "emu/guest/verbs/driver.h"
#include "emu/guest/virtio_rdma/raw.h"

/* Sizes that the driver wants; a device may offer less. */
#define GUEST_CTRL_QUEUE_SIZE 64u
#define GUEST_QUEUE_SIZE      256u

/* A device with so many queues has short ones at boot: eight rings share a page, of which most may
 * never be used.  An object that needs a longer one gets it later.
 */
#define GUEST_QUEUES_MANY     512u
#define GUEST_QUEUE_SIZE_MANY 16u

/* Entries of the event queue. */
#define GUEST_EVENT_QUEUE_SIZE 16u

/* MSI-X vectors.  The event queue shares the control queue's.  Completion queues share the ones
 * from GUEST_VECTOR_CQ on; with fewer than three vectors they share the last one.  Send and receive
 * queues have none.
 */
#define GUEST_VECTOR_CONFIG 0u
#define GUEST_VECTOR_CTRL   1u
#define GUEST_VECTOR_CQ     2u

/* The memory of a virtqueue while an object uses it. */
struct guest_queue_mem {
    uint32_t size;       /* entries of the ring */
    uint64_t ring_gpa;   /* 0: the memory it was booted with is large enough */
    uint64_t slots_gpa;  /* buffer i belongs to descriptor i */
    uint32_t slot_bytes; /* a power of two: a slot never crosses a page */
};

/* Completions that were in the ring when the CQ was resized, the oldest first. */
struct kept_cqes {
    struct raw_cqe *v; /* NULL: there are none */
    uint32_t n, first; /* how many it has room for; how many were polled */
};

/* A CQ's number is also that of its virtqueue. */
struct virtio_rdma_cq {
    struct guest_cq cq;
    struct guest_queue_mem mem;
    struct guest_queue_mem new_mem; /* while a resize is under way */
    struct kept_cqes kept;
};

struct virtio_rdma_qp {
    struct guest_qp qp;
    struct guest_queue_mem sq_mem, rq_mem;
    struct guest_queue_mem new_sq, new_rq; /* while a resize is under way; size 0: as it was */
};

struct virtio_rdma_srq {
    struct guest_srq srq;
    struct guest_queue_mem mem;
};

/* Where a request of verbs and its answer are. */
struct virtio_rdma_request {
    bool under_way;
    uint16_t head; /* in the ring */
    enum ctrl_cmd cmd;
    struct guest_object *object; /* that it is about; NULL: the port */
    uint32_t number;             /* of that object, 0 when it has none yet */
    uint64_t request_gpa, response_gpa;
    uint32_t response_bytes; /* room for it, the status byte included */
};

/* Verbs' requests, one at a time but for those that create objects.  Beside them are those of
 * raw.h.
 */
struct virtio_rdma_ctrl {
    uint32_t n_under_way;
    struct virtio_rdma_request places[RDL_REQUESTS_MAX]; /* their memory is taken at first use */
    enum ctrl_cmd cmd;               /* the last one that was sent or answered */
    uint32_t rsp;                    /* enum ctrl_rsp, of the last answer */
    uint64_t pages_gpa, pages_bytes; /* list of pages, used again and grown */
};

/* Asynchronous events. */
struct virtio_rdma_events {
    uint64_t buffers_gpa; /* buffer i belongs to descriptor i of the event queue */
    bool heard;           /* a program uses the device: it shall interrupt */
    uint64_t counted;     /* without an event queue: how many events the device counts */
};

struct virtio_rdma {
    struct verbs *verbs;
    struct arena *arena;
    struct guest_pci pci;
    bool on_demand; /* it accepts ON_DEMAND, if that is offered */
    uint32_t boot_step;
    struct rfc_config device;
    struct rfc_srq_limits srqs;        /* all 0: it has none, or they are not ours */
    uint32_t n_queues, queue_size_max; /* of the device */
    uint32_t boot_size; /* of the rings of CQs and QPs while unused; 0: they have none */
    struct guest_queue *queues;
    struct virtio_rdma_ctrl ctrl;
    struct raw_requests raw;
    struct virtio_rdma_events events;
    uint64_t irqs; /* interrupts taken */
};

extern const struct verbs_driver_ops virtio_rdma_ops;

/* The driver of @verbs' device behind the function @pci, not booted; the verbs are to be given
 * virtio_rdma_ops and @d.  False when the DMA area is full.
 */
bool virtio_rdma_init(struct virtio_rdma *d, struct verbs *verbs, struct arena *a,
                      const struct guest_pci *pci);

/* Brings the function up in the order of virtio 1.2, 3.1.1, without any request.
 *
 * Return: RDL_OK           nothing was wrong so far
 *	   RDL_ERR_UNSUPPORTED  there is no such function or it lacks a structure, the device does
 *	                    not offer VERSION_1, or refused the features
 *	   RDL_ERR_NOMEM    guest RAM or arena are full
 *	   RDL_ERR_BROKEN   the device's numbers contradict each other
 */
RDL_MUST_CHECK enum rdl_status virtio_rdma_boot(struct virtio_rdma *d);

/* Sends the requests of boot (ADD_GID 0 and 1, which are the addresses; QUERY_PORT), each when the
 * one before it is answered.  A device that answers inside the notification is up when this
 * returns; otherwise interrupts carry on.  verbs->up says so.  RDL_ERR_DEVICE: a request of boot
 * was refused, d->ctrl.cmd, with d->ctrl.rsp.
 */
RDL_MUST_CHECK enum rdl_status virtio_rdma_start(struct virtio_rdma *d);

/* An interrupt was delivered.  Unknown vectors are ignored. */
void virtio_rdma_interrupt(struct virtio_rdma *d, uint32_t vector);

static inline struct vqd *virtio_rdma_vq(const struct virtio_rdma *d, uint32_t queue)
{
    return &d->queues[queue].vq;
}

/* Where buffer @i of a queue lies. */
static inline uint64_t guest_slot_gpa(const struct guest_queue_mem *m, uint32_t i)
{
    return m->slots_gpa + (uint64_t)i * m->slot_bytes;
}

#endif
