/* SPDX-License-Identifier: MIT */
/* Control requests whose bytes the program supplies (rdmalab/control.h).
 *
 * Each request occupies one of RAW_PLACES places.  The place keeps the answer until a later request
 * reuses it.  RAW_PLACES is the number of requests that the largest ring can hold.
 */
#ifndef EMU_GUEST_VIRTIO_RDMA_RAW_H
#define EMU_GUEST_VIRTIO_RDMA_RAW_H

#include "emu/guest/machine/rdma_driver.h"
#include "emu/trace/id.h"
#include "rdmalab/control.h"

struct virtio_rdma;

#define RAW_PLACES 64u

struct raw_place {
    uint32_t id; /* number of the request; 0: never used */
    bool under_way;
    uint16_t head;         /* head descriptor of its chain */
    uint64_t gpa;          /* buffers of the request in guest RAM: request, then response */
    uint32_t bytes, room;  /* lengths of request and response buffer */
    struct guest_cq *arms; /* the request is that of raw_rearm_cq(); else NULL */
    ev_id because;         /* ctrl_cause() of its answer */
    struct rdl_control_answer answer; /* valid if @id is not 0 and the request is not under way */
};

struct raw_requests {
    struct raw_place *places; /* RAW_PLACES entries; NULL: no request was sent yet */
    uint32_t last_id;
    uint32_t n_under_way;
};

/* Sends raw requests of programs, and returns the answers. */
extern const struct rdma_control_ops raw_ops;

/* verbs_driver_ops.rearm_cq() */
enum rdl_status raw_rearm_cq(struct guest_cq *cq);

/* Records the answer to the raw request whose chain begins with descriptor @head.  The device wrote
 * @len bytes.  Returns false if the chain is not that of a raw request.
 */
bool raw_take(struct virtio_rdma *d, uint16_t head, uint32_t len);

#endif
