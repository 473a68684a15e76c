/* SPDX-License-Identifier: MIT */
/* A chain belongs to the device from the moment its head is in the avail ring until the device has
 * put it into the used ring.  The driver can reuse it when it has seen that.  So the chains of
 * interest are the avail entries from the driver's used.idx on.  The used entries from there on
 * name those that the device has returned.
 */
#include "cli/show/vq_ring.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/trace/event.h"
#include "process/must.h"
#include "tree/tree.h"

#define LOOKS_MAX 4096u /* queues */

/* State of a queue when it was last shown. */
struct vq_look {
    struct vq_look *next;
    char path[TREE_PATH_BYTES];
    uint64_t tick, size;
    struct vq_indexes at;
    uint64_t descs[]; /* ring_sign() of each descriptor */
};

void vq_looks_done(struct vq_looks *looks)
{
    for (struct vq_look *l = looks->first, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    *looks = (struct vq_looks){NULL, 0};
}

static uint64_t element(const struct vq_ring *q, enum child_id list, uint64_t i, enum leaf_id leaf)
{
    char path[TREE_PATH_BYTES];

    return tree_element(q->lab, q->path, list, i, path) ? tree_number(q->lab, path, leaf) : 0;
}

uint64_t ring_desc(const struct vq_ring *q, uint64_t i, enum leaf_id leaf)
{
    return element(q, CHILD_queue_desc, i, leaf);
}

uint64_t ring_used(const struct vq_ring *q, uint64_t i, enum leaf_id leaf)
{
    return element(q, CHILD_queue_used, i, leaf);
}

uint64_t ring_avail(const struct vq_ring *q, uint64_t i)
{
    return tree_element_number(q->lab, q->path, CHILD_queue_avail, i);
}

struct vq_indexes vq_indexes_of(const struct rdl_lab *lab, const char *queue)
{
    char driver[TREE_PATH_BYTES], device[TREE_PATH_BYTES];
    struct vq_indexes at;

    (void)tree_child(lab, queue, CHILD_queue_device, device);
    at.device_avail = (uint16_t)tree_number(lab, device, LEAF_device_side_avail_idx);
    at.device_used = (uint16_t)tree_number(lab, device, LEAF_device_side_used_idx);
    if (tree_child(lab, queue, CHILD_queue_driver, driver)) {
        at.driver_avail = (uint16_t)tree_number(lab, driver, LEAF_driver_side_avail_idx);
        at.driver_used = (uint16_t)tree_number(lab, driver, LEAF_driver_side_used_idx);
    } else {
        at.driver_avail = tree_number(lab, queue, LEAF_queue_enabled) &&
                                  tree_number(lab, queue, LEAF_queue_format) == VRING_split
                              ? (uint16_t)tree_number(lab, queue, LEAF_queue_avail_idx)
                              : at.device_avail;
        at.driver_used = at.device_used;
    }
    return at;
}

bool ring_is_returned(const struct vq_ring *q, uint64_t head)
{
    return head < q->size && q->back[head] < q->size;
}

static void find_returned(struct vq_ring *q)
{
    for (uint16_t i = q->at.driver_used; q->size && i != q->at.device_used; i++) {
        const uint64_t head = ring_used(q, i % q->size, LEAF_used_id);

        if (head < q->size)
            q->back[head] = (uint32_t)head;
    }
}

/* Sets the state of every descriptor in the chain @head. */
static void mark_chain(struct vq_ring *q, uint64_t head, enum slot_state state)
{
    uint64_t i = head;

    for (uint64_t n = 0; n < q->size && i < q->size; n++) {
        q->state[i] = (uint8_t)state;
        if (!(ring_desc(q, i, LEAF_desc_flags) & VRING_NEXT))
            return;
        i = ring_desc(q, i, LEAF_desc_next);
    }
}

static void find_states(struct vq_ring *q)
{
    const uint16_t outstanding = (uint16_t)(q->at.driver_avail - q->at.driver_used);
    const uint16_t taken = (uint16_t)(q->at.device_avail - q->at.driver_used);

    find_returned(q);
    for (uint16_t k = 0; q->size && k < outstanding && k < q->size; k++) {
        const uint64_t head = ring_avail(q, (uint16_t)(q->at.driver_used + k) % q->size);

        mark_chain(q, head,
                   ring_is_returned(q, head) ? SLOT_USED
                   : k < taken               ? SLOT_TAKEN
                                             : SLOT_POSTED);
    }
}

/* --- The four positions in a packed ring ------------------------------------------------------ */

/* The order of the positions around the ring is: driver used, device used, device avail, driver
 * avail.  The owner of a descriptor follows from its position alone.  Which buffer it belongs to
 * matters only until the device has taken it.
 */
static struct vring_pos read_place(const struct rdl_lab *lab, const char *side, enum leaf_id slot,
                                   enum leaf_id wrap)
{
    return (struct vring_pos){(uint16_t)tree_number(lab, side, slot),
                              tree_number(lab, side, wrap) != 0};
}

uint64_t ring_slots_between(const struct vq_ring *q, enum ring_place from, enum ring_place to)
{
    return vring_slots_between(q->place[from], q->place[to], (uint32_t)q->size);
}

uint64_t ring_slots_outstanding(const struct vq_ring *q)
{
    const uint64_t n = ring_slots_between(q, RING_DRIVER_USED, RING_DRIVER_AVAIL);

    return n < q->size ? n : q->size;
}

static void mark(struct vq_ring *q, enum ring_place from, enum ring_place to, enum slot_state state)
{
    const uint64_t n = ring_slots_between(q, from, to);

    for (uint64_t k = 0; k < n && k < q->size; k++)
        q->state[(q->place[from].at + k) % q->size] = (uint8_t)state;
}

/* Assigns the returned slots to used elements.  The driver knows by the id how many slots each
 * buffer had.
 */
static void find_back(struct vq_ring *q, const char *driver)
{
    const uint64_t first = q->place[RING_DRIVER_USED].at;
    const uint64_t end = ring_slots_between(q, RING_DRIVER_USED, RING_DEVICE_USED);

    for (uint64_t k = 0; k < end && k < q->size;) {
        const uint64_t head = (first + k) % q->size;
        const uint64_t n = tree_element_number(q->lab, driver, CHILD_driver_side_slots,
                                               ring_desc(q, head, LEAF_desc_id));

        for (uint64_t j = k; j < k + n && j < q->size; j++)
            q->back[(first + j) % q->size] = (uint32_t)head;
        k += n ? n : 1;
    }
}

static void find_places(struct vq_ring *q)
{
    char driver[TREE_PATH_BYTES], device[TREE_PATH_BYTES];

    (void)tree_child(q->lab, q->path, CHILD_queue_device, device);
    q->place[RING_DEVICE_USED] =
        read_place(q->lab, device, LEAF_device_side_used_slot, LEAF_device_side_used_wrap);
    q->place[RING_DEVICE_AVAIL] =
        read_place(q->lab, device, LEAF_device_side_avail_slot, LEAF_device_side_avail_wrap);
    if (!tree_child(q->lab, q->path, CHILD_queue_driver, driver)) {
        q->place[RING_DRIVER_USED] = q->place[RING_DEVICE_USED];
        q->place[RING_DRIVER_AVAIL] = q->place[RING_DEVICE_AVAIL];
        mark(q, RING_DEVICE_USED, RING_DEVICE_AVAIL, SLOT_TAKEN);
        return;
    }
    q->place[RING_DRIVER_USED] =
        read_place(q->lab, driver, LEAF_driver_side_used_slot, LEAF_driver_side_used_wrap);
    q->place[RING_DRIVER_AVAIL] =
        read_place(q->lab, driver, LEAF_driver_side_avail_slot, LEAF_driver_side_avail_wrap);
    if (q->size == 0)
        return;
    mark(q, RING_DEVICE_AVAIL, RING_DRIVER_AVAIL, SLOT_POSTED);
    mark(q, RING_DEVICE_USED, RING_DEVICE_AVAIL, SLOT_TAKEN);
    mark(q, RING_DRIVER_USED, RING_DEVICE_USED, SLOT_USED);
    find_back(q, driver);
}

/* ---------------------------------------------------------------------------------------------- */

static struct vq_look *find_look(const struct vq_looks *looks, const char *path)
{
    for (struct vq_look *l = looks ? looks->first : NULL; l; l = l->next) {
        if (strcmp(l->path, path) == 0)
            return l;
    }
    return NULL;
}

void ring_init(struct vq_ring *q, const struct rdl_lab *lab, const struct past *p, const char *path,
               const struct vq_looks *looks)
{
    char driver[TREE_PATH_BYTES];

    *q = (struct vq_ring){
        .lab = lab,
        .past = p,
        .path = path,
        .role = ring_role_of(path),
        .number = tree_number(lab, path, LEAF_queue_number),
        .size = tree_number(lab, path, LEAF_queue_size),
        .packed = tree_number(lab, path, LEAF_queue_format) == VRING_packed,
        .driver_is_known = tree_child(lab, path, CHILD_queue_driver, driver),
        .at = vq_indexes_of(lab, path),
        .was = find_look(looks, path),
    };
    q->state = must_malloc((size_t)q->size + 1);
    memset(q->state, SLOT_FREE, (size_t)q->size + 1);
    q->back = must_malloc(((size_t)q->size + 1) * sizeof(*q->back));
    for (uint64_t i = 0; i < q->size; i++)
        q->back[i] = (uint32_t)q->size;
    if (!q->packed)
        find_states(q);
    else if (q->size > 0)
        find_places(q);
    if (q->was && q->was->size != q->size)
        q->was = NULL; /* another queue has the same name now */
}

void ring_done(struct vq_ring *q)
{
    free(q->state);
    free(q->back);
    q->state = NULL;
    q->back = NULL;
}

/* A hash of the content and the state of descriptor @i. */
static uint64_t ring_sign(const struct vq_ring *q, uint64_t i)
{
    const enum leaf_id leaves[] = {LEAF_desc_addr, LEAF_desc_len, LEAF_desc_flags,
                                   q->packed ? LEAF_desc_id : LEAF_desc_next};
    uint64_t h = q->state[i] + UINT64_C(0xcbf29ce484222325); /* FNV-1a over 64-bit words */

    for (size_t k = 0; k < ARRAY_LEN(leaves); k++)
        h = (h ^ ring_desc(q, i, leaves[k])) * UINT64_C(0x100000001b3);
    return h;
}

/* Removes the entry of @path from the list; any entry if the list is full. */
static void forget(struct vq_looks *looks, const char *path)
{
    for (struct vq_look **at = &looks->first; *at; at = &(*at)->next) {
        struct vq_look *l = *at;

        if (strcmp(l->path, path) != 0 && looks->n < LOOKS_MAX)
            continue;
        *at = l->next;
        free(l);
        looks->n--;
        return;
    }
}

void ring_remember(struct vq_looks *looks, const struct vq_ring *q)
{
    struct vq_look *new;
    struct text t;

    if (!looks)
        return;
    new = must_malloc(sizeof(*new) + (size_t)q->size * sizeof(new->descs[0]));
    t = text_on(new->path, sizeof(new->path));
    text_add(&t, q->path);
    new->tick = rdl_tick(q->lab);
    new->size = q->size;
    new->at = q->at;
    for (uint64_t i = 0; i < q->size; i++)
        new->descs[i] = ring_sign(q, i);
    forget(looks, q->path);
    new->next = looks->first;
    looks->first = new;
    looks->n++;
}

bool ring_desc_changed(const struct vq_ring *q, uint64_t i)
{
    return q->was && i < q->size && q->was->descs[i] != ring_sign(q, i);
}

uint64_t ring_look_tick(const struct vq_ring *q)
{
    return q->was->tick;
}

struct vq_indexes ring_look_at(const struct vq_ring *q)
{
    return q->was->at;
}

/* Returns true if @e is a kick of the queue.  That of a virtual machine is a write of a register.
 */
static bool is_kick(const struct vq_ring *q, const struct ev *e, uint32_t host)
{
    if (!q->driver_is_known)
        return e->kind == EV_reg_write && e->u.reg_write.function == FN_RDMA &&
               e->u.reg_write.host == host && e->u.reg_write.reg == REG_NOTIFY &&
               e->u.reg_write.queue == q->number;
    return e->kind == EV_kick && e->u.kick.function == FN_RDMA && e->u.kick.host == host &&
           e->u.kick.queue == q->number;
}

/* Returns the last kick of the queue.  Returns NULL if none is recorded. */
static const struct ev *last_kick(const struct vq_ring *q)
{
    char host[RDL_NAME_BYTES];
    uint32_t number;

    tree_host_of(q->path, host);
    number = ev_names_find_host(q->past->names, host);
    for (size_t i = q->past->n; i > 0; i--) {
        const struct ev *e = past_at(q->past, i - 1);

        if (is_kick(q, e, number))
            return e;
    }
    return NULL;
}

/* Returns the kick that the device has not processed yet.  Returns NULL if there is none.  That of
 * a virtual machine has no index, so it is not known what the device was told.
 */
static const struct ev *pending_kick(const struct vq_ring *q)
{
    const struct ev *kick = q->driver_is_known ? last_kick(q) : NULL;
    /* Buffers posted after a kick need no kick of their own until the device has processed that
     * one.
     */
    const uint16_t told = kick ? (uint16_t)(kick->u.kick.avail_idx - q->at.device_avail) : 0;

    return told && told <= (uint16_t)(q->at.driver_avail - q->at.device_avail) ? kick : NULL;
}

/* Appends the effect of a device fault on @kick: ", but f1 lost the kick".  Returns false if there
 * is none.
 */
static bool add_fault(struct text *t, const struct vq_ring *q, const struct ev *kick)
{
    const struct ev *hit =
        past_queue_fault(q->past, kick->u.kick.host, (uint32_t)q->number, kick->id);

    if (hit)
        text_addf(t, ", but %s %s", hit->u.device_fault.name.s,
                  hit->u.device_fault.by == FLT_LOST_KICK ? "lost the kick"
                                                          : "has stopped the queue");
    return hit != NULL;
}

void ring_add_avail_note(struct text *t, const struct vq_ring *q)
{
    const struct ev *kick;

    if (q->at.driver_avail == q->at.device_avail)
        return;
    if (q->role == RING_RQ || q->role == RING_CQ || q->role == RING_EVENTS || q->role == RING_CEQ) {
        text_add(t, q->role == RING_RQ   ? "the device looks when a packet comes"
                    : q->role == RING_CQ ? "the device looks when it has a completion"
                                         : "the device looks when it has an event");
        return;
    }
    kick = q->driver_is_known ? pending_kick(q) : last_kick(q);
    if (kick) {
        text_add(t, q->driver_is_known ? "kicked in " : "last kicked in ");
        ev_add_id(t, kick->id);
        if (!add_fault(t, q, kick) && q->driver_is_known)
            text_add(t, ": the device will look");
    } else {
        text_add(t, "not kicked: the device has not looked");
    }
}

const char *slot_owner(enum slot_state state)
{
    return state == SLOT_POSTED || state == SLOT_TAKEN ? "device" : "driver";
}

/* Appends the object that owns the queue: "h1.cq" for "h1.cq.queue". */
static void add_object(struct text *t, const struct vq_ring *q)
{
    const char *dot = strrchr(q->path, '.');

    text_addn(t, q->path, dot ? (size_t)(dot - q->path) : strlen(q->path));
}

static void add_why_posted(struct text *t, const struct vq_ring *q)
{
    const struct ev *kick;

    switch (q->role) {
    case RING_RQ:
        text_add(t, "no message has come for it yet");
        break;
    case RING_CQ:
        text_add(t, "it is kept for a completion to come");
        break;
    case RING_EVENTS:
    case RING_CEQ:
        text_add(t, "it is kept for an event to come");
        break;
    default:
        text_add(t, "the device has not taken it yet");
        kick = pending_kick(q);
        if (kick && !add_fault(t, q, kick))
            text_add(t, ", and has been told to look");
        else if (!kick && q->role == RING_SQ && q->driver_is_known)
            text_addf(t, ", and has not been told: kick %s", q->path);
        break;
    }
}

static void add_why_used(struct text *t, const struct vq_ring *q)
{
    text_add(t, "used by the device, but the driver has not taken it back: ");
    switch (q->role) {
    case RING_CQ:
        text_add(t, "poll_cq ");
        add_object(t, q);
        break;
    case RING_SQ:
        text_add(t, "it does when it posts the next send, and not in poll_cq");
        break;
    case RING_RQ:
        text_add(t, "it does when it posts the next receive, and not in poll_cq");
        break;
    default:
        text_add(t, "it does in its interrupt");
        break;
    }
}

void ring_add_why(struct text *t, const struct vq_ring *q, enum slot_state state)
{
    switch (state) {
    case SLOT_FREE:
        break;
    case SLOT_POSTED:
        add_why_posted(t, q);
        break;
    case SLOT_TAKEN:
        text_add(t, q->role == RING_SQ   ? "the device has it, until an answer or an error ends it"
                    : q->role == RING_RQ ? "the device has it: a message is arriving into it"
                                         : "the device has it, and is not done");
        break;
    case SLOT_USED:
        add_why_used(t, q);
        break;
    }
}
