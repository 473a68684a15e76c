/* SPDX-License-Identifier: MIT */
/* A work request as its post event describes it, and the events that complete it.  The device
 * returns the request's descriptor (used, or slot_free) and directly after that writes its
 * completion (cqe), if it has one.
 */
#ifndef EMU_PAST_POSTED_H
#define EMU_PAST_POSTED_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/trace/id.h"

struct ev;

struct posted {
    const struct ev *e; /* the post event; valid while it is recorded */
    ev_id id;           /* id of the post event */
    uint32_t host, queue, desc;
    uint32_t qpn; /* 0: posted to a shared receive queue, so any QP may take it */
    uint64_t wr_id;
    bool is_send;
};

/* Fills in *@ret from the post event @e.  Returns false and leaves *@ret unchanged if @e is no post
 * event.
 */
bool posted_read(const struct ev *e, struct posted *ret);

/* Returns true if event @e tells the RDMA device of @host of new work in @queue: a kick of virtio,
 * or a doorbell of PVRDMA.
 */
bool posted_is_announced(const struct ev *e, uint32_t host, uint32_t queue);

/* A slot of a work queue that the RDMA device of a host has returned to the driver. */
struct freed_slot {
    uint32_t host, queue, desc;
};

/* Fills in *@ret from event @e: used of virtio, or slot_free of PVRDMA.  Returns false and leaves
 * *@ret unchanged if @e is another event.
 */
bool posted_freed(const struct ev *e, struct freed_slot *ret);

/* posted_frees_any() returns true if in event @e the device returns a descriptor of the request's
 * queue, posted_frees() if it returns the request's own descriptor.
 */
bool posted_frees_any(const struct posted *p, const struct ev *e);
bool posted_frees(const struct posted *p, const struct ev *e);

/* Returns true if @e is a completion with the request's host, QP (any QP for a shared receive),
 * wr_id and direction.  Other requests may have the same wr_id.
 */
bool posted_completes(const struct posted *p, const struct ev *e);

/* Returns true if @wc_opcode (enum wc_opcode) is the opcode of a receive completion. */
bool posted_is_recv(uint32_t wc_opcode);

#endif
