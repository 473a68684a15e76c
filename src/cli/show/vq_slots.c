/* SPDX-License-Identifier: MIT */
#include "cli/show/vq_slots.h"

#include "emu/base/cursor.h"
#include "print/show_text.h"
#include "tree/tree.h"

#define CHAINS_SHOWN_MAX 32u
#define CHAIN_SLOTS_MAX  64u
#define PACKED_SHOWN_MAX 64u
#define TABLE_SHOWN_MAX  8u

enum { COLUMN_WHOSE = 37, COLUMN_WHOSE_PACKED = 52 };

struct wqe_buffer vq_buffer_of(const struct vq_ring *q, uint64_t i, bool written)
{
    return (struct wqe_buffer){
        .role = q->role,
        .addr = ring_desc(q, i, LEAF_desc_addr),
        .bytes = (uint32_t)ring_desc(q, i, LEAF_desc_len),
        .writable = (ring_desc(q, i, LEAF_desc_flags) & VRING_WRITE) != 0,
        .written = written,
    };
}

static const char *whose(const struct wqe_buffer *b)
{
    return b->written ? "driver's again" : b->writable ? "device writes" : "device reads";
}

/* Appends the content of a buffer.  *@command is the command of the control request, for the other
 * buffers of its chain.
 */
static void add_buffer(struct text *t, const struct vq_ring *q, const struct wqe_reader *r,
                       struct wqe_buffer *b, uint8_t *command)
{
    b->command = *command;
    wqe_add_text(t, r, b);
    if (q->role == RING_CTRL && !b->writable)
        *command = wqe_command(r, b->addr);
}

/* Prints the descriptors of an indirect table. */
static void print_table(FILE *out, const struct vq_ring *q, const struct wqe_reader *r,
                        const struct wqe_buffer *table)
{
    const uint32_t n = table->bytes / VRING_DESC_BYTES;
    uint8_t command = 0;

    for (uint32_t i = 0; i < n && i < TABLE_SHOWN_MAX; i++) {
        uint8_t raw[VRING_DESC_BYTES];
        char buf[SHOW_LINE_BYTES];
        struct text t = text_on(buf, sizeof(buf));
        struct wqe_buffer b = *table;

        if (rdl_ram_read(r->lab, r->host, table->addr + (uint64_t)i * VRING_DESC_BYTES, raw,
                         sizeof(raw)) != RDL_OK)
            return;
        b.addr = ld_le64(raw);
        b.bytes = ld_le32(raw + 8);
        b.writable = (ld_le16(raw + (q->packed ? 14 : 12)) & VRING_WRITE) != 0;
        text_addf(&t, "    table %-3u 0x%08llx   %u bytes", i, (unsigned long long)b.addr, b.bytes);
        text_pad_to(&t, q->packed ? COLUMN_WHOSE_PACKED : COLUMN_WHOSE);
        text_addf(&t, "%-15s ", whose(&b));
        add_buffer(&t, q, r, &b, &command);
        show_line(out, &t);
    }
    if (n > TABLE_SHOWN_MAX)
        fprintf(out, "    ...      and %u more\n", n - TABLE_SHOWN_MAX);
}

/* --- Split ------------------------------------------------------------------------------------ */

/* Prints one descriptor of a chain: number, address, length, owner, direction and content. */
static void print_slot(FILE *out, const struct vq_ring *q, const struct wqe_reader *r, uint64_t i,
                       bool returned, uint8_t *command)
{
    const bool is_table = ring_desc(q, i, LEAF_desc_flags) & VRING_INDIRECT;
    struct wqe_buffer b = vq_buffer_of(q, i, returned);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%c desc %-3llu 0x%08llx   %u bytes", ring_desc_changed(q, i) ? '*' : ' ',
              (unsigned long long)i, (unsigned long long)b.addr, b.bytes);
    text_pad_to(&t, COLUMN_WHOSE);
    text_addf(&t, "%-15s ", whose(&b));
    if (is_table)
        text_addf(&t, "a table of %u descriptors", b.bytes / VRING_DESC_BYTES);
    else
        add_buffer(&t, q, r, &b, command);
    show_line(out, &t);
    if (is_table)
        print_table(out, q, r, &b);
}

static void print_chain(FILE *out, const struct vq_ring *q, const struct wqe_reader *r,
                        uint64_t head)
{
    const bool returned = ring_is_returned(q, head);
    uint8_t command = 0;
    uint64_t i = head, n = 0;

    for (; n < CHAIN_SLOTS_MAX && n < q->size && i < q->size; n++) {
        print_slot(out, q, r, i, returned, &command);
        if (!(ring_desc(q, i, LEAF_desc_flags) & VRING_NEXT))
            return;
        i = ring_desc(q, i, LEAF_desc_next);
    }
    if (i >= q->size)
        fprintf(out, "  ...      there is no descriptor %llu\n", (unsigned long long)i);
    else
        fprintf(out, "  ...      %s\n",
                n == q->size ? "the chain does not end" : "the chain goes on");
}

static void print_chains(FILE *out, const struct vq_ring *q, const struct wqe_reader *r)
{
    const uint16_t outstanding = (uint16_t)(q->at.driver_avail - q->at.driver_used);

    for (uint16_t k = 0; k < outstanding && k < CHAINS_SHOWN_MAX; k++)
        print_chain(out, q, r, ring_avail(q, (uint16_t)(q->at.driver_used + k) % q->size));
    if (outstanding > CHAINS_SHOWN_MAX)
        fprintf(out, "  ...      and %u more chains\n", outstanding - CHAINS_SHOWN_MAX);
}

/* --- Packed ----------------------------------------------------------------------------------- */

void vq_add_packed(struct text *t, const struct vq_ring *q, uint64_t i)
{
    const uint64_t flags = ring_desc(q, i, LEAF_desc_flags);

    text_addf(t, "A%u U%u %sid %llu", (flags & VRING_PACKED_AVAIL) != 0,
              (flags & VRING_PACKED_USED) != 0, flags & VRING_NEXT ? "N " : "",
              (unsigned long long)ring_desc(q, i, LEAF_desc_id));
}

void vq_add_given_back(struct text *t, const struct vq_ring *q, uint64_t i)
{
    const uint64_t head = q->back[i];

    if (head == i)
        text_addf(t, "buffer %llu is back, %llu bytes written",
                  (unsigned long long)ring_desc(q, i, LEAF_desc_id),
                  (unsigned long long)ring_desc(q, i, LEAF_desc_len));
    else if (head < q->size)
        text_addf(t, "passed over: the buffer back at desc %llu had more than one",
                  (unsigned long long)head);
}

/* Returns true if the queue returns its buffers in order.  Then the descriptor still has the
 * address of the buffer that was posted at this slot.
 */
static bool is_in_order(const struct vq_ring *q)
{
    return q->role == RING_CQ || q->role == RING_EVENTS || q->role == RING_CEQ;
}

static void print_packed_slot(FILE *out, const struct vq_ring *q, const struct wqe_reader *r,
                              uint64_t i, uint8_t *command)
{
    const uint64_t flags = ring_desc(q, i, LEAF_desc_flags);
    const bool is_back = q->state[i] == SLOT_USED;
    const bool is_table = !is_back && (flags & VRING_INDIRECT);
    struct wqe_buffer b = vq_buffer_of(q, i, is_back);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%c desc %-3llu ", ring_desc_changed(q, i) ? '*' : ' ', (unsigned long long)i);
    vq_add_packed(&t, q, i);
    text_pad_to(&t, 28);
    if (!is_back)
        text_addf(&t, "0x%08llx   %u bytes", (unsigned long long)b.addr, b.bytes);
    text_pad_to(&t, COLUMN_WHOSE_PACKED);
    text_addf(&t, "%-15s ", whose(&b));
    if (is_back) {
        vq_add_given_back(&t, q, i);
        if (is_in_order(q) && b.bytes > 0) {
            text_add(&t, ": ");
            wqe_add_text(&t, r, &b);
        }
    } else if (is_table) {
        text_addf(&t, "a table of %u descriptors", b.bytes / VRING_DESC_BYTES);
    } else {
        add_buffer(&t, q, r, &b, command);
    }
    show_line(out, &t);
    if (is_table)
        print_table(out, q, r, &b);
    if (!(flags & VRING_NEXT))
        *command = 0;
}

void vq_add_area(struct text *t, const struct vq_ring *q, bool of_device)
{
    const uint64_t flags =
        tree_number(q->lab, q->path, of_device ? LEAF_queue_used_flags : LEAF_queue_flags) &
        VRING_EVENT_FLAGS;
    const struct vring_pos at = vring_event_pos((uint16_t)tree_number(
        q->lab, q->path, of_device ? LEAF_queue_avail_event : LEAF_queue_used_event));

    text_add(t, of_device ? "the device wants " : "the driver wants ");
    if (flags == VRING_EVENT_DISABLE)
        text_add(t, of_device ? "no notifications" : "no interrupts");
    else
        text_add(t, of_device ? "a notification" : "an interrupt");
    if (flags == VRING_EVENT_DESC)
        text_addf(t, " when desc %u is %s with wrap counter %u", at.at,
                  of_device ? "made available" : "used", at.wrap);
    else if (flags == VRING_EVENT_ENABLE)
        text_add(t, " for each buffer");
    else if (flags == VRING_EVENT_FLAGS)
        text_add(t, " in a way that there is not");
}

static void print_area(FILE *out, const struct vq_ring *q, bool of_device)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    vq_add_area(&t, q, of_device);
    show_wrap_behind(out, of_device ? "  device" : "  driver", 11, buf);
}

static void print_packed(FILE *out, const struct vq_ring *q, const struct wqe_reader *r)
{
    const uint64_t first = q->place[RING_DRIVER_USED].at, n = ring_slots_outstanding(q);
    uint8_t command = 0;

    for (uint64_t k = 0; k < n && k < PACKED_SHOWN_MAX; k++)
        print_packed_slot(out, q, r, (first + k) % q->size, &command);
    if (n > PACKED_SHOWN_MAX)
        fprintf(out, "  ...      and %llu more descriptors\n",
                (unsigned long long)(n - PACKED_SHOWN_MAX));
    print_area(out, q, false);
    print_area(out, q, true);
}

void vq_print_slots(FILE *out, const struct vq_ring *q, const struct wqe_reader *r)
{
    if (q->packed)
        print_packed(out, q, r);
    else
        print_chains(out, q, r);
}
