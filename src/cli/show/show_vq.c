/* SPDX-License-Identifier: MIT */
#include "cli/show/show_vq.h"

#include "cli/show/show_columns.h"
#include "cli/show/show_rows.h"
#include "cli/show/show_wqe.h"
#include "cli/show/vq_ring.h"
#include "cli/show/vq_slots.h"
#include "emu/base/assert.h"
#include "print/show_text.h"
#include "tree/tree.h"

#define ENTRIES_SHOWN_MAX 32u
#define REASON_SLOTS_MAX  8u

enum { COLUMN_DRIVER = 39, COLUMN_DEVICE = 48, COLUMN_NOTE = 57 };

/* Appends @number, or "?" if it is not known, with at least @width characters. */
static void add_known(struct text *t, int width, bool is_known, uint16_t number)
{
    if (is_known)
        text_addf(t, "%*u", width, number);
    else
        text_addf(t, "%*s", width, "?");
}

/* An index of a ring: of the driver, which may be unknown, and of the device. */
struct both_sides {
    bool driver_is_known;
    uint16_t driver, device;
};

/* @was: the indexes when last shown; NULL: never shown. */
static void print_index(FILE *out, const char *name, const struct both_sides *now,
                        const struct both_sides *was, const char *note)
{
    const bool changed = was && (was->driver != now->driver || was->device != now->device);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%c %-*s", changed ? '*' : ' ', COLUMN_DRIVER - 2, name);
    add_known(&t, 6, now->driver_is_known, now->driver);
    text_addf(&t, "%9u   ", now->device);
    if (changed)
        text_addf(&t, "was %u, %u%s", was->driver, was->device, note[0] ? "; " : "");
    text_add(&t, note);
    show_line(out, &t);
}

/* Prints two positions in a packed ring, each a slot and a wrap counter: "  next to offer, to take
 * 3/1      2/1".
 */
static void print_places(FILE *out, const char *name, const struct vq_ring *q,
                         enum ring_place driver, enum ring_place device)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "  %-*s", COLUMN_DRIVER - 2, name);
    add_known(&t, 4, q->driver_is_known, q->place[driver].at);
    text_add(&t, "/");
    add_known(&t, 1, q->driver_is_known, q->place[driver].wrap);
    text_addf(&t, "%7u/%u   desc/wrap counter", q->place[device].at, q->place[device].wrap);
    show_line(out, &t);
}

static void print_head(FILE *out, const struct vq_ring *q)
{
    char buf[SHOW_LINE_BYTES], note[96] = "";
    struct text t = text_on(buf, sizeof(buf)), nt = text_on(note, sizeof(note));
    struct vq_indexes was = {0};

    text_addf(&t, "%s   queue %llu   %llu entries", q->path, (unsigned long long)q->number,
              (unsigned long long)q->size);
    text_pad_to(&t, COLUMN_DRIVER);
    text_add(&t, q->packed ? "driver   device   packed" : "driver   device");
    if (!tree_number(q->lab, q->path, LEAF_queue_enabled))
        text_add(&t, "   not enabled");
    if (tree_number(q->lab, q->path, LEAF_queue_broken))
        text_add(&t, "   BROKEN: the device needs a reset");
    show_line(out, &t);
    if (!q->driver_is_known)
        show_wrap(out, 2,
                  q->packed
                      ? "The driver is that of a virtual machine: where it stands is not "
                        "known.  What it has offered, and the device not taken, counts as free."
                      : "The driver is that of a virtual machine: what it has offered is "
                        "known, not what it has looked at.");
    ring_add_avail_note(&nt, q);
    if (q->was)
        was = ring_look_at(q);
    print_index(out, "avail.idx",
                &(struct both_sides){q->driver_is_known || !q->packed, q->at.driver_avail,
                                     q->at.device_avail},
                q->was ? &(struct both_sides){true, was.driver_avail, was.device_avail} : NULL,
                note);
    print_index(out, "used.idx",
                &(struct both_sides){q->driver_is_known, q->at.driver_used, q->at.device_used},
                q->was ? &(struct both_sides){true, was.driver_used, was.device_used} : NULL,
                q->at.driver_used == q->at.device_used ? "" : "the driver has not looked");
    if (q->packed) {
        print_places(out, "next to offer, to take", q, RING_DRIVER_AVAIL, RING_DEVICE_AVAIL);
        print_places(out, "next to take back, to give back", q, RING_DRIVER_USED, RING_DEVICE_USED);
    }
}

/* Prints the ring entries from @from to @to: "  avail    0 -> desc 0, 1 -> desc 1". */
static void print_entries(FILE *out, const struct vq_ring *q, bool is_used, uint16_t from,
                          uint16_t to)
{
    char buf[SHOW_LINE_BYTES];
    struct text line = text_on(buf, sizeof(buf));
    unsigned n = 0;

    text_add(&line, is_used ? "  used     " : "  avail    ");
    if (from == to)
        text_add(&line, "(empty)");
    for (uint16_t i = from; i != to && n < ENTRIES_SHOWN_MAX; i++, n++) {
        const uint64_t slot = i % q->size;
        char entry[64];
        struct text t = text_on(entry, sizeof(entry));

        text_addf(
            &t, "%llu -> desc %llu", (unsigned long long)slot,
            (unsigned long long)(is_used ? ring_used(q, slot, LEAF_used_id) : ring_avail(q, slot)));
        if (is_used)
            text_addf(&t, " (%llu bytes)", (unsigned long long)ring_used(q, slot, LEAF_used_len));
        if ((uint16_t)(i + 1) != to)
            text_add(&t, n + 1 < ENTRIES_SHOWN_MAX ? ", " : ", ...");
        if (line.len + t.len > show_columns(out)) {
            show_line(out, &line);
            line = text_on(buf, sizeof(buf));
            text_add(&line, "           ");
        }
        text_add(&line, entry);
    }
    show_line(out, &line);
}

/* Prints a line for each reason: "not free: desc 0, 3 (driver): used by the device, ...". */
static void print_reasons(FILE *out, const struct vq_ring *q)
{
    for (enum slot_state state = SLOT_POSTED; state <= SLOT_USED; state++) {
        char buf[2 * SHOW_LINE_BYTES];
        struct text t = text_on(buf, sizeof(buf));
        unsigned n = 0;

        for (uint64_t i = 0; i < q->size; i++) {
            if (q->state[i] != state)
                continue;
            if (n++ < REASON_SLOTS_MAX)
                text_addf(&t, "%s%llu", n > 1 ? ", " : "desc ", (unsigned long long)i);
        }
        if (n == 0)
            continue;
        if (n > REASON_SLOTS_MAX)
            text_addf(&t, " and %u more", n - REASON_SLOTS_MAX);
        text_addf(&t, ", the %s's: ", slot_owner(state));
        ring_add_why(&t, q, state);
        show_wrap_behind(out, "  not free", 11, buf);
    }
}

/* Prints the number of free descriptors and the meaning of the marks. */
static void print_free(FILE *out, const struct vq_ring *q)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    uint64_t n = 0, changed = 0;

    for (uint64_t i = 0; i < q->size; i++) {
        n += q->state[i] == SLOT_FREE;
        changed += q->state[i] == SLOT_FREE && ring_desc_changed(q, i);
    }
    text_addf(&t, "%llu of %llu descriptors, the driver's", (unsigned long long)n,
              (unsigned long long)q->size);
    if (changed)
        text_addf(&t, "; %llu of them changed", (unsigned long long)changed);
    if (q->was)
        text_addf(&t, "; * is what changed since the last look, at #%llu",
                  (unsigned long long)ring_look_tick(q));
    show_wrap_behind(out, "  free", 11, buf);
}

static void print_ring(FILE *out, const struct vq_ring *q, const struct wqe_reader *r)
{
    const uint64_t flags = tree_number(q->lab, q->path, LEAF_queue_flags);

    print_head(out, q);
    if (q->size == 0)
        return;
    vq_print_slots(out, q, r);
    if (!q->packed) {
        print_entries(out, q, false, q->at.driver_used, q->at.driver_avail);
        print_entries(out, q, true, q->at.driver_used, q->at.device_used);
    }
    print_reasons(out, q);
    print_free(out, q);
    if (flags && !q->packed)
        fprintf(out, "  flags    0x%llx\n", (unsigned long long)flags);
}

static void row_of_entry(struct rows *r, const struct vq_ring *q, const char *entry,
                         const char *owner, bool changed)
{
    const struct rdl_value v = {.type = RDL_FLAG, .number = changed};

    rows_text(r, q->path);
    rows_text(r, entry);
    rows_text(r, owner);
    if (q->was)
        rows_value(r, &v);
    else
        rows_none(r);
}

static void add_places(struct text *t, const struct vq_ring *q, enum ring_place driver,
                       enum ring_place device)
{
    text_add(t, "; at desc ");
    add_known(t, 1, q->driver_is_known, q->place[driver].at);
    text_add(t, " with wrap counter ");
    add_known(t, 1, q->driver_is_known, q->place[driver].wrap);
    text_addf(t, ", desc %u with %u", q->place[device].at, q->place[device].wrap);
}

/* Adds the cells of a row without a buffer: an index or a ring entry. */
static void rows_plain(struct rows *r, const char *what)
{
    rows_none(r);
    rows_none(r);
    rows_none(r);
    rows_text(r, what);
    rows_none(r);
}

static void row_of_index(struct rows *r, const struct vq_ring *q, bool is_used)
{
    const struct vq_indexes was = q->was ? ring_look_at(q) : q->at;
    const bool changed =
        is_used ? was.driver_used != q->at.driver_used || was.device_used != q->at.device_used
                : was.driver_avail != q->at.driver_avail || was.device_avail != q->at.device_avail;
    char what[160];
    struct text t = text_on(what, sizeof(what));

    text_add(&t, "driver ");
    add_known(&t, 1, q->driver_is_known || !(is_used || q->packed),
              is_used ? q->at.driver_used : q->at.driver_avail);
    text_addf(&t, ", device %u", is_used ? q->at.device_used : q->at.device_avail);
    if (q->packed)
        add_places(&t, q, is_used ? RING_DRIVER_USED : RING_DRIVER_AVAIL,
                   is_used ? RING_DEVICE_USED : RING_DEVICE_AVAIL);
    if (!is_used && q->at.driver_avail != q->at.device_avail) {
        text_add(&t, "; ");
        ring_add_avail_note(&t, q);
    }
    row_of_entry(r, q, is_used ? "used.idx" : "avail.idx", is_used ? "device" : "driver", changed);
    rows_plain(r, what);
}

static void row_of_desc(struct rows *r, const struct vq_ring *q, const struct wqe_reader *reader,
                        uint64_t i)
{
    const enum slot_state state = q->state[i];
    const uint64_t flags = ring_desc(q, i, LEAF_desc_flags);
    struct wqe_buffer b = vq_buffer_of(q, i, state == SLOT_USED);
    char entry[32], buf[SHOW_LINE_BYTES], path[TREE_PATH_BYTES];
    struct text e = text_on(entry, sizeof(entry)), t = text_on(buf, sizeof(buf));

    text_addf(&e, "desc %llu", (unsigned long long)i);
    row_of_entry(r, q, entry, slot_owner(state), ring_desc_changed(q, i));
    if (state == SLOT_FREE) {
        rows_plain(r, "free");
        return;
    }
    if (q->packed) {
        vq_add_packed(&t, q, i);
        text_add(&t, "; ");
        if (state == SLOT_USED)
            vq_add_given_back(&t, q, i);
    }
    if (q->role == RING_CTRL && b.writable &&
        tree_element(q->lab, q->path, CHILD_queue_desc, i, path))
        b.command = wqe_command_before(reader, path);
    rows_hex(r, b.addr);
    rows_number(r, b.bytes);
    rows_text(r, b.writable ? "writes" : "reads");
    if (!(flags & VRING_INDIRECT) && !(q->packed && state == SLOT_USED))
        wqe_add_text(&t, reader, &b);
    rows_text(r, buf);
    t = text_on(buf, sizeof(buf));
    ring_add_why(&t, q, state);
    rows_text(r, buf);
}

/* Adds the ring entries whose chains are not free. */
static void rows_of_ring(struct rows *r, const struct vq_ring *q, bool is_used)
{
    const uint16_t to = is_used ? q->at.device_used : q->at.driver_avail;
    const struct vq_indexes was = q->was ? ring_look_at(q) : q->at;
    const uint16_t seen = is_used ? was.device_used : was.driver_avail;
    const uint16_t n_taken = (uint16_t)(q->at.device_avail - q->at.driver_used);

    for (uint16_t i = q->at.driver_used; i != to; i++) {
        const uint64_t slot = i % q->size;
        const bool taken = (uint16_t)(i - q->at.driver_used) < n_taken;
        const bool is_new = (uint16_t)(to - i) <= (uint16_t)(to - seen);
        char entry[32], what[96];
        struct text e = text_on(entry, sizeof(entry)), t = text_on(what, sizeof(what));

        text_addf(&e, "%s %llu", is_used ? "used" : "avail", (unsigned long long)slot);
        if (is_used)
            text_addf(&t, "-> desc %llu, %llu bytes written",
                      (unsigned long long)ring_used(q, slot, LEAF_used_id),
                      (unsigned long long)ring_used(q, slot, LEAF_used_len));
        else
            text_addf(&t, "-> desc %llu, which the device has %staken",
                      (unsigned long long)ring_avail(q, slot), taken ? "" : "not ");
        row_of_entry(r, q, entry, is_used || taken ? "driver" : "device", is_new);
        rows_plain(r, what);
    }
}

static void row_of_area(struct rows *r, const struct vq_ring *q, bool of_device)
{
    char what[128];
    struct text t = text_on(what, sizeof(what));

    vq_add_area(&t, q, of_device);
    row_of_entry(r, q, of_device ? "device area" : "driver area", of_device ? "device" : "driver",
                 false);
    rows_plain(r, what);
}

static void rows_of_queue(struct rows *r, const struct vq_ring *q, const struct wqe_reader *reader)
{
    row_of_index(r, q, false);
    row_of_index(r, q, true);
    for (uint64_t i = 0; i < q->size; i++)
        row_of_desc(r, q, reader, i);
    if (q->size == 0)
        return;
    if (q->packed) {
        row_of_area(r, q, false);
        row_of_area(r, q, true);
        return;
    }
    rows_of_ring(r, q, false);
    rows_of_ring(r, q, true);
}

/* Prints one queue: for people if @r is NULL, else as rows. */
static enum rdl_status print_queue(FILE *out, struct rows *r, const struct rdl_lab *lab,
                                   const struct past *p, const char *path, struct vq_looks *looks)
{
    struct wqe_reader reader;
    enum rdl_status st = wqe_reader_init(&reader, lab, path);
    struct vq_ring q;

    if (st == RDL_OK) {
        ring_init(&q, lab, p, path, looks);
        if (r)
            rows_of_queue(r, &q, &reader);
        else
            print_ring(out, &q, &reader);
        ring_remember(looks, &q);
        ring_done(&q);
    }
    wqe_reader_done(&reader);
    return st;
}

/* Queues that the path of their owner may stand for. */
static const enum child_id below[] = {CHILD_none, CHILD_qp_sq, CHILD_qp_rq, CHILD_cq_queue,
                                      CHILD_host_ctrl};

/* Returns true, and the path in @ret, if a queue is at @path or is its child number @i of below[].
 */
static bool queue_at(const struct rdl_lab *lab, const char *path, size_t i,
                     char ret[TREE_PATH_BYTES])
{
    struct text t = text_on(ret, TREE_PATH_BYTES);

    tree_join(&t, path, child_rows[below[i]].key);
    return ring_role_of(ret) != RING_NONE && tree_is(lab, ret, NODE_queue);
}

enum rdl_status vq_find(const struct rdl_lab *lab, const char *path, char ret[TREE_PATH_BYTES],
                        size_t *reterr_at)
{
    struct rdl_value v;
    const enum rdl_status st = rdl_inspect(lab, path, &v, reterr_at);

    for (size_t i = 0; i < ARRAY_LEN(below) && st == RDL_OK; i++) {
        if (queue_at(lab, path, i, ret))
            return RDL_OK;
    }
    if (st == RDL_OK)
        *reterr_at = 0;
    return st == RDL_OK ? RDL_ERR_INVAL : st;
}

enum rdl_status show_vq(FILE *out, const struct rdl_lab *lab, const struct past *p,
                        const char *path, const struct vq_view *view, size_t *reterr_at)
{
    const enum show_form form = view->form;
    struct rdl_value v;
    struct rows r;
    bool any = false;
    enum rdl_status st = rdl_inspect(lab, path, &v, reterr_at);

    for (size_t i = 0; i < ARRAY_LEN(below) && st == RDL_OK; i++) {
        char queue[TREE_PATH_BYTES];

        if (!queue_at(lab, path, i, queue))
            continue;
        if (!any && form != SHOW_TEXT)
            rows_begin_table(&r, out, form, TABLE_VQ);
        st = print_queue(out, form == SHOW_TEXT ? NULL : &r, lab, p, queue, view->looks);
        any = true;
    }
    if (any && form != SHOW_TEXT)
        rows_end(&r, NULL);
    if (st == RDL_OK && !any) {
        *reterr_at = 0;
        st = RDL_ERR_INVAL;
    }
    return st;
}
