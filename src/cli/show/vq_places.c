/* SPDX-License-Identifier: MIT */
/* The four places of a packed ring, and whose the descriptors between them are.
 *
 * Round the ring come: where the driver takes back, where the device gives back, where the device
 * takes, where the driver offers.  A descriptor belongs to a side by its place alone; which buffer
 * it is of matters only until the device has taken that.
 */
#include "cli/show/vq_ring.h"
#include "cli/tree/tree.h"

static struct place read_place(const struct rdl_lab *lab, const char *side, enum leaf_id slot,
                               enum leaf_id wrap)
{
    return (struct place){(uint32_t)tree_number(lab, side, slot),
                          (unsigned)tree_number(lab, side, wrap)};
}

/* Where it is in two laps, of which the first has the wrap counter 1. */
static uint64_t turn(const struct ring *q, enum ring_place p)
{
    return q->place[p].slot + (q->place[p].wrap ? 0 : q->size);
}

uint64_t ring_slots_between(const struct ring *q, enum ring_place from, enum ring_place to)
{
    return (turn(q, to) + 2 * q->size - turn(q, from)) % (2 * q->size);
}

uint64_t ring_slots_outstanding(const struct ring *q)
{
    const uint64_t n = ring_slots_between(q, RING_DRIVER_USED, RING_DRIVER_AVAIL);

    return n < q->size ? n : q->size;
}

static void mark(struct ring *q, enum ring_place from, enum ring_place to, enum slot_state state)
{
    const uint64_t n = ring_slots_between(q, from, to);

    for (uint64_t k = 0; k < n && k < q->size; k++)
        q->state[(q->place[from].slot + k) % q->size] = (uint8_t)state;
}

void ring_find_places(struct ring *q)
{
    char driver[TREE_PATH_BYTES], device[TREE_PATH_BYTES];

    (void)tree_child(q->lab, q->path, CHILD_queue_driver, driver);
    (void)tree_child(q->lab, q->path, CHILD_queue_device, device);
    q->place[RING_DRIVER_USED] =
        read_place(q->lab, driver, LEAF_driver_side_used_slot, LEAF_driver_side_used_wrap);
    q->place[RING_DEVICE_USED] =
        read_place(q->lab, device, LEAF_device_side_used_slot, LEAF_device_side_used_wrap);
    q->place[RING_DEVICE_AVAIL] =
        read_place(q->lab, device, LEAF_device_side_avail_slot, LEAF_device_side_avail_wrap);
    q->place[RING_DRIVER_AVAIL] =
        read_place(q->lab, driver, LEAF_driver_side_avail_slot, LEAF_driver_side_avail_wrap);
    if (q->size == 0)
        return;
    mark(q, RING_DEVICE_AVAIL, RING_DRIVER_AVAIL, SLOT_POSTED);
    mark(q, RING_DEVICE_USED, RING_DEVICE_AVAIL, SLOT_TAKEN);
    mark(q, RING_DRIVER_USED, RING_DEVICE_USED, SLOT_USED);
}

uint64_t ring_used_head(const struct ring *q, uint64_t i)
{
    const uint64_t first = q->place[RING_DRIVER_USED].slot;
    const uint64_t end = ring_slots_between(q, RING_DRIVER_USED, RING_DEVICE_USED);
    const uint64_t wanted = q->size ? (i + q->size - first) % q->size : 0;
    char driver[TREE_PATH_BYTES];

    (void)tree_child(q->lab, q->path, CHILD_queue_driver, driver);
    for (uint64_t k = 0; k < end && k <= wanted;) {
        const uint64_t head = (first + k) % q->size;
        const uint64_t n = tree_element_number(q->lab, driver, CHILD_driver_side_slots,
                                               ring_desc(q, head, LEAF_desc_id));

        if (wanted < k + n)
            return head;
        k += n ? n : 1;
    }
    return q->size;
}
