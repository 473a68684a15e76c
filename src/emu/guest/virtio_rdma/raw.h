/* SPDX-License-Identifier: MIT */
/* Control requests that are bytes: rdmalab/control.h.
 *
 * Each has a place while it is under way, and keeps it with its answer until a later one needs it:
 * RAW_PLACES are as many as the largest ring could hold at a time.
 */
#ifndef EMU_GUEST_VIRTIO_RDMA_RAW_H
#define EMU_GUEST_VIRTIO_RDMA_RAW_H

#include "rdmalab/control.h"

struct virtio_rdma;

#define RAW_PLACES 64u

struct raw_place {
    uint32_t id; /* 0: never used */
    bool under_way;
    uint16_t head; /* of its chain */
    uint64_t gpa;  /* its bytes in guest RAM: request, then response */
    uint32_t bytes, room;
    struct rdl_control_answer answer;
};

struct raw_requests {
    struct raw_place *places; /* RAW_PLACES; NULL: none was ever sent */
    uint32_t last_id;
    uint32_t n_under_way;
};

/* As rdl_control_send(), rdl_control_answer(). */
enum rdl_status raw_send(struct virtio_rdma *d, const struct rdl_control *request, bool kick,
                         uint32_t *ret_id);
enum rdl_status raw_answer(const struct virtio_rdma *d, uint32_t id,
                           struct rdl_control_answer *ret);

/* Chain @head came back with @len bytes written.  False: it is no request of here. */
bool raw_take(struct virtio_rdma *d, uint16_t head, uint32_t len);

#endif
