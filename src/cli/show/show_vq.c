/* SPDX-License-Identifier: MIT */
/* A slot belongs to the device from the moment its head is in the avail ring until the device has
 * put it into the used ring; the driver reuses it once it has seen that.  So the avail entries from
 * the driver's used.idx on are the chains of interest, and the used entries from there on name
 * those that the device has given back.
 */
#include "cli/show/show_vq.h"

#include "cli/print/show_text.h"
#include "cli/show/show_wqe.h"
#include "cli/tree/tree.h"
#include "emu/base/assert.h"

#define CHAINS_SHOWN_MAX 32u
#define CHAIN_SLOTS_MAX  64u

enum { COLUMN_DRIVER = 39, COLUMN_DEVICE = 48, COLUMN_NOTE = 57 };

struct ring {
    const struct rdl_lab *lab;
    const struct past *past;
    const char *path;
    enum ring_role role;
    uint64_t number, size;
    struct vq_indexes at;
};

/* A leaf of element @i of a list of the queue, 0 if there is none. */
static uint64_t element(const struct ring *q, enum child_id list, uint64_t i, enum leaf_id leaf)
{
    char path[TREE_PATH_BYTES];

    return tree_element(q->lab, q->path, list, i, path) ? tree_number(q->lab, path, leaf) : 0;
}

/* Of descriptor, and of entry of the used ring, number @i. */
static uint64_t desc(const struct ring *q, uint64_t i, enum leaf_id leaf)
{
    return element(q, CHILD_queue_desc, i, leaf);
}

static uint64_t used(const struct ring *q, uint64_t i, enum leaf_id leaf)
{
    return element(q, CHILD_queue_used, i, leaf);
}

/* Entry number @i of the avail ring. */
static uint64_t avail(const struct ring *q, uint64_t i)
{
    return tree_element_number(q->lab, q->path, CHILD_queue_avail, i);
}

struct vq_indexes vq_indexes_of(const struct rdl_lab *lab, const char *queue)
{
    char driver[TREE_PATH_BYTES], device[TREE_PATH_BYTES];

    (void)tree_child(lab, queue, CHILD_queue_driver, driver);
    (void)tree_child(lab, queue, CHILD_queue_device, device);
    return (struct vq_indexes){
        .driver_avail = (uint16_t)tree_number(lab, driver, LEAF_driver_side_avail_idx),
        .driver_used = (uint16_t)tree_number(lab, driver, LEAF_driver_side_used_idx),
        .device_avail = (uint16_t)tree_number(lab, device, LEAF_device_side_avail_idx),
        .device_used = (uint16_t)tree_number(lab, device, LEAF_device_side_used_idx),
    };
}

static struct ring ring_of(const struct rdl_lab *lab, const struct past *p, const char *path)
{
    return (struct ring){
        .lab = lab,
        .past = p,
        .path = path,
        .role = ring_role_of(path),
        .number = tree_number(lab, path, LEAF_queue_number),
        .size = tree_number(lab, path, LEAF_queue_size),
        .at = vq_indexes_of(lab, path),
    };
}

/* The last notification of the queue; NULL: none is recorded. */
static const struct ev *last_kick(const struct ring *q)
{
    char host[RDL_NAME_BYTES];
    uint32_t number;

    tree_host_of(q->path, host);
    number = ev_names_find_host(q->past->names, host);
    for (size_t i = q->past->n; i > 0; i--) {
        const struct ev *e = past_at(q->past, i - 1);

        if (e->kind == EV_kick && e->u.kick.function == FN_RDMA && e->u.kick.host == number &&
            e->u.kick.queue == q->number)
            return e;
    }
    return NULL;
}

/* Why the device has not looked at what is posted; "" if it has. */
static void add_avail_note(struct text *t, const struct ring *q)
{
    const struct ev *kick;
    uint16_t told;

    if (q->at.driver_avail == q->at.device_avail)
        return;
    if (q->role == RING_RQ || q->role == RING_CQ || q->role == RING_EVENTS) {
        text_add(t, q->role == RING_RQ   ? "the device looks when a packet comes"
                    : q->role == RING_CQ ? "the device looks when it has a completion"
                                         : "the device looks when it has an event");
        return;
    }
    kick = last_kick(q);
    /* What is posted behind a kick that the device has not yet answered needs none of its own. */
    told = kick ? (uint16_t)(kick->u.kick.avail_idx - q->at.device_avail) : 0;
    if (told && told <= (uint16_t)(q->at.driver_avail - q->at.device_avail)) {
        text_add(t, "kicked in ");
        ev_add_id(t, kick->id);
        text_add(t, ": the device will look");
    } else {
        text_add(t, "not kicked: the device has not looked");
    }
}

static void print_index(FILE *out, const char *name, uint16_t driver, uint16_t device,
                        const char *note)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "  %-*s%6u%9u", COLUMN_DRIVER - 2, name, driver, device);
    text_add(&t, "   ");
    text_add(&t, note);
    show_line(out, &t);
}

static void print_head(FILE *out, const struct ring *q)
{
    char buf[SHOW_LINE_BYTES], note[96] = "";
    struct text t = text_on(buf, sizeof(buf)), nt = text_on(note, sizeof(note));

    text_addf(&t, "%s   queue %llu   %llu entries", q->path, (unsigned long long)q->number,
              (unsigned long long)q->size);
    text_pad_to(&t, COLUMN_DRIVER);
    text_add(&t, "driver   device");
    if (!tree_number(q->lab, q->path, LEAF_queue_enabled))
        text_add(&t, "   not enabled");
    if (tree_number(q->lab, q->path, LEAF_queue_broken))
        text_add(&t, "   BROKEN: the device needs a reset");
    show_line(out, &t);
    add_avail_note(&nt, q);
    print_index(out, "avail.idx", q->at.driver_avail, q->at.device_avail, note);
    print_index(out, "used.idx", q->at.driver_used, q->at.device_used,
                q->at.driver_used == q->at.device_used ? "" : "the driver has not looked");
}

/* Has the device given the chain @head back? */
static bool is_returned(const struct ring *q, uint64_t head)
{
    for (uint16_t i = q->at.driver_used; i != q->at.device_used; i++) {
        if (used(q, i % q->size, LEAF_used_id) == head)
            return true;
    }
    return false;
}

/* One descriptor of a chain: number, address, length, who owns it and what the device does with
 * it, and what it says.
 */
static void print_slot(FILE *out, const struct ring *q, const struct wqe_reader *r, uint64_t i,
                       bool returned, uint8_t *command)
{
    const uint64_t flags = desc(q, i, LEAF_desc_flags);
    struct wqe_buffer b = {
        .role = q->role,
        .addr = desc(q, i, LEAF_desc_addr),
        .bytes = (uint32_t)desc(q, i, LEAF_desc_len),
        .writable = (flags & VIRTQ_DESC_WRITE) != 0,
        .written = returned,
        .command = *command,
    };
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "  desc %-3llu 0x%08llx   %u bytes", (unsigned long long)i,
              (unsigned long long)b.addr, b.bytes);
    text_pad_to(&t, 37);
    text_addf(&t, "%-15s ",
              returned     ? "driver's again"
              : b.writable ? "device writes"
                           : "device reads");
    if (flags & VIRTQ_DESC_INDIRECT)
        text_addf(&t, "a table of %u descriptors", b.bytes / 16);
    else
        wqe_add_text(&t, r, &b);
    if (q->role == RING_CTRL && !b.writable)
        *command = wqe_command(r, b.addr);
    show_line(out, &t);
}

static void print_chain(FILE *out, const struct ring *q, const struct wqe_reader *r, uint64_t head)
{
    const bool returned = is_returned(q, head);
    uint8_t command = 0;
    uint64_t i = head, n = 0;

    for (; n < CHAIN_SLOTS_MAX && n < q->size && i < q->size; n++) {
        print_slot(out, q, r, i, returned, &command);
        if (!(desc(q, i, LEAF_desc_flags) & VIRTQ_DESC_NEXT))
            return;
        i = desc(q, i, LEAF_desc_next);
    }
    if (i >= q->size)
        fprintf(out, "  ...      there is no descriptor %llu\n", (unsigned long long)i);
    else
        fprintf(out, "  ...      %s\n",
                n == q->size ? "the chain does not end" : "the chain goes on");
}

/* "  avail    0 -> desc 0, 1 -> desc 1": the entries from @from to @to. */
static void print_entries(FILE *out, const struct ring *q, bool is_used, uint16_t from, uint16_t to)
{
    char buf[SHOW_LINE_BYTES];
    struct text line = text_on(buf, sizeof(buf));
    unsigned n = 0;

    text_add(&line, is_used ? "  used     " : "  avail    ");
    if (from == to)
        text_add(&line, "(empty)");
    for (uint16_t i = from; i != to && n < CHAINS_SHOWN_MAX; i++, n++) {
        const uint64_t slot = i % q->size;
        char entry[64];
        struct text t = text_on(entry, sizeof(entry));

        text_addf(&t, "%llu -> desc %llu", (unsigned long long)slot,
                  (unsigned long long)(is_used ? used(q, slot, LEAF_used_id) : avail(q, slot)));
        if (is_used)
            text_addf(&t, " (%llu bytes)", (unsigned long long)used(q, slot, LEAF_used_len));
        if ((uint16_t)(i + 1) != to)
            text_add(&t, n + 1 < CHAINS_SHOWN_MAX ? ", " : ", ...");
        if (line.len + t.len > show_columns(out)) {
            show_line(out, &line);
            line = text_on(buf, sizeof(buf));
            text_add(&line, "           ");
        }
        text_add(&line, entry);
    }
    show_line(out, &line);
}

static void print_ring(FILE *out, const struct ring *q, const struct wqe_reader *r)
{
    const uint16_t outstanding = (uint16_t)(q->at.driver_avail - q->at.driver_used);
    const uint64_t flags = tree_number(q->lab, q->path, LEAF_queue_flags);

    print_head(out, q);
    if (q->size == 0)
        return;
    for (uint16_t k = 0; k < outstanding && k < CHAINS_SHOWN_MAX; k++) {
        const uint64_t slot = (uint16_t)(q->at.driver_used + k) % q->size;

        print_chain(out, q, r, avail(q, slot));
    }
    if (outstanding > CHAINS_SHOWN_MAX)
        fprintf(out, "  ...      and %u more chains\n", outstanding - CHAINS_SHOWN_MAX);
    print_entries(out, q, false, q->at.driver_used, q->at.driver_avail);
    print_entries(out, q, true, q->at.driver_used, q->at.device_used);
    if (flags)
        fprintf(out, "  flags    0x%llx\n", (unsigned long long)flags);
}

static enum rdl_status print_queue(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                   const char *path)
{
    const struct ring q = ring_of(lab, p, path);
    struct wqe_reader r;
    enum rdl_status st = wqe_reader_init(&r, lab, path);

    if (st == RDL_OK)
        print_ring(out, &q, &r);
    wqe_reader_done(&r);
    return st;
}

enum rdl_status show_vq(FILE *out, const struct rdl_lab *lab, const struct past *p,
                        const char *path, size_t *reterr_at)
{
    static const enum child_id below[] = {CHILD_none, CHILD_qp_sq, CHILD_qp_rq, CHILD_cq_queue,
                                          CHILD_host_ctrl};
    struct rdl_value v;
    bool any = false;
    enum rdl_status st = rdl_inspect(lab, path, &v, reterr_at);

    for (size_t i = 0; i < ARRAY_LEN(below) && st == RDL_OK; i++) {
        char queue[TREE_PATH_BYTES];
        struct text t = text_on(queue, sizeof(queue));

        tree_join(&t, path, child_rows[below[i]].key);
        if (ring_role_of(queue) == RING_NONE || !tree_is(lab, queue, NODE_queue))
            continue;
        st = print_queue(out, lab, p, queue);
        any = true;
    }
    if (st == RDL_OK && !any) {
        *reterr_at = 0;
        st = RDL_ERR_INVAL;
    }
    return st;
}
