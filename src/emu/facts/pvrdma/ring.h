/* SPDX-License-Identifier: MIT */
/* Rings and page directories of PVRDMA: arithmetic of indices and places.
 *
 * A ring of n slots has two indices, which its users mask with 2n - 1.  A slot is an index masked
 * with n - 1.  [Linux, pvrdma_ring.h]
 *
 * The rings of the shared region may have an n that is no power of two, with the same masks.  An
 * index then runs from 0 to 2u - 1, and a slot from 0 to u - 1, where u is the largest power of two
 * that divides n.  So each ring is one of u slots.
 */
#ifndef EMU_FACTS_PVRDMA_RING_H
#define EMU_FACTS_PVRDMA_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/log2.h"

#define PV_PAGE_BYTES  4096u
#define PV_TABLE_PAGES 512u /* entries of a page of a directory, and of a table of pages */
#define PV_PAGES_MAX   (PV_TABLE_PAGES * PV_TABLE_PAGES)

/* Pages that Linux gives each ring of the shared region; the first is that of its state. */
#define PV_SHARED_RING_PAGES 4u

/* Numbers of queues, for events, faults and SIM_DOORBELL.  Queue pair 0 does not exist, so the
 * first two are free.  The completion queues and shared receive queues follow those of @max_qp
 * queue pairs.
 */
#define PV_QUEUE_COMMANDS 0u
#define PV_QUEUE_EVENTS   1u /* asynchronous events and notifications */

static inline uint32_t pv_queue_of_sends(uint32_t qpn)
{
    return 2 * qpn;
}

static inline uint32_t pv_queue_of_receives(uint32_t qpn)
{
    return 2 * qpn + 1;
}

static inline uint32_t pv_queue_of_srq(uint32_t max_qp, uint32_t srqn)
{
    return 2 * (max_qp + 1) + srqn;
}

static inline uint32_t pv_queue_of_cq(uint32_t max_qp, uint32_t max_srq, uint32_t cqn)
{
    return pv_queue_of_srq(max_qp, max_srq) + cqn;
}

/* Linux's functions.  pv_idx_is_valid() returns true if @idx can be an index of a ring of @n slots;
 * the others return the next index, and the slot of an index.
 */
static inline bool pv_idx_is_valid(uint32_t idx, uint32_t n)
{
    return (idx & ~(2 * n - 1)) == 0;
}

static inline uint32_t pv_idx_next(uint32_t idx, uint32_t n)
{
    return (idx + 1) & (2 * n - 1);
}

static inline uint32_t pv_idx_slot(uint32_t idx, uint32_t n)
{
    return idx & (n - 1);
}

/* Returns the slots that a ring of @n slots uses. */
static inline uint32_t pv_slots_used(uint32_t n)
{
    return n & (0u - n);
}

/* Returns the slots that a ring of the shared region has in its @pages, 2 to PV_PAGES_MAX, for
 * entries of @bytes.
 */
static inline uint32_t pv_shared_slots(uint32_t pages, uint32_t bytes)
{
    return pv_slots_used((pages - 1) * (PV_PAGE_BYTES / bytes));
}

/* Returns the number of entries between the consumer's index @head and the producer's index @tail
 * of a ring of @n slots, n a power of two, or more than @n if one of them is no index or they are
 * too far apart.
 */
static inline uint32_t pv_idx_distance(uint32_t head, uint32_t tail, uint32_t n)
{
    const uint32_t distance = (tail - head) & (2 * n - 1);

    return pv_idx_is_valid(head, n) && pv_idx_is_valid(tail, n) ? distance : UINT32_MAX;
}

/* Returns the bytes of a slot whose head has @head_bytes, for @max_sge SGEs of 16 bytes. */
static inline uint32_t pv_slot_bytes(uint32_t head_bytes, uint32_t max_sge)
{
    return (uint32_t)pow2_ceil((uint64_t)head_bytes + 16 * (uint64_t)max_sge);
}

/* Returns the pages that @n slots of @bytes need. */
static inline uint64_t pv_pages_of(uint64_t n, uint32_t bytes)
{
    return (n * bytes + PV_PAGE_BYTES - 1) / PV_PAGE_BYTES;
}

#endif
