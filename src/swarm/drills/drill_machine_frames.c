/* SPDX-License-Identifier: MIT */
/* The drill of a machine: frames that arrive, and the buffers for them.  Buffers lie anywhere, also
 * across regions, in read-only memory, and where nothing is.
 */
#include "emu/base/cursor.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/device_status.h"
#include "emu/facts/virtio/net.h"
#include "emu/facts/virtio/virtq.h"
#include "rdmalab/fault.h"
#include "rdmalab/port.h"
#include "swarm/drills/drill_machine.h"
#include "swarm/drills/rig.h"

#define FRAME_MOST 1514u

/* The chains of a step, each of one or two buffers, and what must become of them. */
struct machine_batch {
    uint32_t n;
    struct {
        uint32_t head, pieces, bytes;
        uint64_t at[2];
        uint32_t piece_bytes[2];
    } chains[MACHINE_CHAINS];
    bool is_bad; /* the last chain cannot be used */
};

/* A guest-physical address for a buffer of @bytes, which is memory if it is @good, and otherwise
 * not, or not all of it.  MACHINE_NOWHERE if there was none in a few attempts.
 */
static uint64_t draw_place(struct drill *d, uint32_t bytes, bool good)
{
    const struct machine *m = machine_of(d);

    for (uint32_t i = 0; i < 40; i++) {
        const struct machine_chunk *c = &m->chunks[drill_below(d, m->n_chunks)];
        const uint32_t most = c->pages * MACHINE_PAGE;
        const uint64_t at =
            c->gpa + (drill_one_in(d, 3) ? most - drill_below(d, bytes + 1) : drill_below(d, most));

        if (at >= m->chunks[0].gpa && at < m->chunks[0].gpa + MACHINE_QUEUE)
            continue; /* the queue is there */
        if (machine_has_memory(m, at, bytes, false) == good)
            return at;
    }
    return MACHINE_NOWHERE;
}

/* Writes descriptor @i of the queue. */
static void put_desc(struct machine *m, uint32_t i, uint64_t at, uint32_t bytes, bool more)
{
    uint8_t raw[16] = {0};

    st_le64(raw, at);
    st_le32(raw + 8, bytes);
    st_le16(raw + 12, VRING_WRITE | (more ? VRING_NEXT : 0));
    st_le16(raw + 14, (uint16_t)(i + 1));
    machine_cpu_put(m, m->desc + 16 * (uint64_t)i, raw, sizeof(raw));
}

/* Returns true if @bytes at @at overlap a buffer of the first @n chains of @b. */
static bool overlaps(const struct machine_batch *b, uint32_t n, uint64_t at, uint32_t bytes)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < b->chains[i].pieces; k++) {
            if (at < b->chains[i].at[k] + b->chains[i].piece_bytes[k] &&
                b->chains[i].at[k] < at + bytes)
                return true;
        }
    }
    return false;
}

/* Adds a chain of @bytes, in one buffer or two.  If it is not @good, the last one is not, or not
 * wholly, in memory.  Returns false, which is no failure, if no free place was found.
 */
static bool add_chain(struct drill *d, struct machine_batch *b, uint32_t bytes, bool good)
{
    struct machine *m = machine_of(d);
    const uint32_t i = b->n, n = bytes > 1 && drill_one_in(d, 2) ? 2 : 1;
    const uint32_t cut = n == 2 ? 1 + drill_below(d, bytes - 1) : bytes;
    const uint32_t sizes[2] = {cut, bytes - cut};
    uint8_t raw[2];

    b->chains[i].head = 2 * i;
    b->chains[i].bytes = bytes;
    b->chains[i].pieces = 0; /* those that have a place */
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t at = draw_place(d, sizes[k], good || k + 1 < n);

        if (at == MACHINE_NOWHERE || overlaps(b, i + 1, at, sizes[k]))
            return false;
        b->chains[i].at[k] = at;
        b->chains[i].piece_bytes[k] = sizes[k];
        b->chains[i].pieces++;
        put_desc(m, 2 * i + k, at, sizes[k], k + 1 < n);
    }
    st_le16(raw, (uint16_t)b->chains[i].head);
    machine_cpu_put(m, m->avail + 4 + 2 * (uint64_t)((m->avail_idx + i) % m->size), raw,
                    sizeof(raw));
    b->n++;
    return true;
}

/* Makes the chains available to the device. */
static void publish(struct machine *m, const struct machine_batch *b)
{
    uint8_t raw[2];

    m->avail_idx = (uint16_t)(m->avail_idx + b->n);
    st_le16(raw, m->avail_idx);
    machine_cpu_put(m, m->avail + 2, raw, sizeof(raw));
}

/* The model of one used element. */
static void expect_used(struct machine *m, uint32_t head, uint32_t bytes)
{
    uint8_t raw[8];

    st_le32(raw, head);
    st_le32(raw + 4, bytes);
    machine_model_put(m, m->used + 4 + 8 * (uint64_t)(m->used_idx % m->size), raw, sizeof(raw));
    m->used_idx++;
    st_le16(raw, m->used_idx);
    machine_model_put(m, m->used + 2, raw, 2);
}

/* The model of @n bytes that are written to a chain, from byte @from of its buffers on.  A device
 * stops at a buffer that is read-only, in part or as a whole.
 */
static void expect_bytes(struct machine *m, const struct machine_batch *b, uint32_t chain,
                         uint32_t from, const uint8_t *bytes, uint32_t n)
{
    for (uint32_t k = 0; k < b->chains[chain].pieces && n > 0; k++) {
        const uint32_t most = b->chains[chain].piece_bytes[k];
        const uint32_t skip = from < most ? from : most;
        const uint32_t part = n < most - skip ? n : most - skip;

        if (!machine_has_memory(m, b->chains[chain].at[k] + skip, part, true))
            return;
        machine_model_put(m, b->chains[chain].at[k] + skip, bytes, part);
        from -= skip;
        bytes += part;
        n -= part;
    }
}

/* The model of taking chain @i.  Returns false if the device gets none. */
static bool expect_taken(struct drill *d, const struct machine_batch *b, uint32_t i)
{
    struct machine *m = machine_of(d);

    if (m->fault.is_stuck || i == b->n)
        return false;
    if (machine_fault_hits(d, FLT_STUCK_QUEUE)) {
        m->fault.is_stuck = m->fault.time_ns == 0; /* otherwise it goes on before the step ends */
        return false;
    }
    m->is_broken = b->is_bad && i + 1 == b->n;
    return !m->is_broken;
}

/* The model of a frame that arrives: its header and its bytes, @n @bytes, fill the chains in order.
 * Sets num_buffers in the header.  Returns the number of chains used, 0 if the frame is dropped.
 * Stores the length of the last one in *@ret_len.
 */
static uint32_t expect_frame(struct drill *d, const struct machine_batch *b, uint8_t *bytes,
                             uint32_t n, uint32_t *ret_len)
{
    struct machine *m = machine_of(d);
    uint32_t parts[MACHINE_CHAINS], part = 0, used = 0, done = 0;
    bool late = false;

    *ret_len = 0;
    while (done < n) {
        const uint32_t header = used == 0 ? NET_HDR_BYTES : 0;

        if (!expect_taken(d, b, used))
            return 0; /* the frame is dropped; its chains were written to, but are not used */
        part = n - done < b->chains[used].bytes ? n - done : b->chains[used].bytes;
        if (used == 0 && part < (m->merges ? NET_HDR_BYTES : n)) { /* too long for its buffer */
            expect_used(m, b->chains[0].head, 0);
            return 1;
        }
        if (used == 0 && part == n)
            late = machine_fault_hits(d, FLT_LATE_DATA);
        bytes[NET_HDR_NUM_BUFFERS] = late; /* written with the header then, otherwise at the end */
        expect_bytes(m, b, used, 0, bytes, header);
        expect_bytes(m, b, used, header, bytes + done + header, part - header);
        parts[used++] = part;
        done += part;
    }
    for (uint32_t i = 0; i < 2 && !late; i++)
        expect_bytes(m, b, 0, NET_HDR_NUM_BUFFERS + i, &(uint8_t){(uint8_t)(used >> (8 * i))}, 1);
    for (uint32_t i = 0; i < used; i++)
        expect_used(m, b->chains[i].head, parts[i]);
    *ret_len = part;
    return used;
}

/* The model of what the device does behind the used elements, the last of which has @len bytes: a
 * fault may invent one more, or lose the interrupt.
 */
static void expect_behind_used(struct drill *d, uint32_t len)
{
    struct machine *m = machine_of(d);
    const struct machine_function *f = &m->f[MACHINE_NET];
    uint16_t idx = m->used_idx;

    if (machine_fault_hits(d, FLT_SPURIOUS)) {
        expect_used(m, m->fault.id == RDL_ANY ? m->size : m->fault.id, len);
        m->used_idx = idx;
    }
    if (f->msix && f->rx_vector == VIRTIO_NO_VECTOR)
        return;
    if (!machine_fault_hits(d, FLT_LOST_INTERRUPT))
        machine_raise_rx(d, MACHINE_NET);
}

/* Gives the device buffers for a frame of @n bytes with its header, or for less.  Returns false,
 * which is no failure, if no place was found for a buffer.
 */
static bool add_chains(struct drill *d, struct machine_batch *b, uint32_t n)
{
    const struct machine *m = machine_of(d);
    const bool is_bad = drill_one_in(d, 6);
    uint32_t left = n;

    *b = (struct machine_batch){.n = 0};
    if (m->merges) {
        const uint32_t part = n / (1 + drill_below(d, MACHINE_CHAINS - 2)) + NET_HDR_BYTES;

        while (b->n + 2 < MACHINE_CHAINS && left > 0 && !(b->n > 0 && drill_one_in(d, 20))) {
            const uint32_t bytes = drill_one_in(d, 3) ? NET_HDR_BYTES + drill_below(d, part) : part;

            if (!add_chain(d, b, bytes, true))
                return false;
            left -= left < bytes ? left : bytes;
        }
    } else if (!is_bad &&
               !add_chain(d, b, drill_one_in(d, 8) ? n - 1 : n + drill_below(d, 30), true)) {
        return false;
    }
    if (is_bad && add_chain(d, b, 1 + drill_below(d, 300), false))
        b->is_bad = true;
    return b->n > 0;
}

static bool check_status(struct drill *d)
{
    const struct machine *m = machine_of(d);
    const bool needs = machine_reg(d, MACHINE_NET, REG_DEVICE_STATUS, 1) & VS_DEVICE_NEEDS_RESET;

    return drill_expect(d, needs == m->is_broken,
                        "a device needs a reset after a buffer that is not there, and else never",
                        needs ? "it needs one" : "it needs none");
}

/* Empties the queue by a reset of it, or of the device. */
static void begin_anew(struct drill *d)
{
    const struct machine *m = machine_of(d);

    if (!machine_check_interrupts(d))
        return;
    if (m->resets && !m->is_broken && drill_one_in(d, 2))
        machine_reset_queue(d);
    else
        machine_drive(d);
}

/* A frame for the machine arrives. */
void machine_receive(struct drill *d)
{
    struct machine *m = machine_of(d);
    uint8_t bytes[NET_HDR_BYTES + FRAME_MOST] = {0};
    const uint32_t n =
        RIG_ETH_BYTES + drill_below(d, drill_one_in(d, 3) ? FRAME_MOST - RIG_ETH_BYTES + 1 : 200);
    const uint64_t from = drill_events(d);
    struct machine_batch b;
    uint32_t used, len;

    if (!m->is_driven || m->is_broken || !m->link_is_up ||
        !(m->f[MACHINE_NET].command & PCI_CMD_MASTER))
        return;
    rig_make_frame(d, m->mac, bytes + NET_HDR_BYTES, n);
    if (!add_chains(d, &b, NET_HDR_BYTES + n)) {
        begin_anew(d);
        return;
    }
    publish(m, &b);
    machine_fault_begin(d);
    d->n_unsaid++;
    if (!drill_works(d, rdl_port_receive(d->lab, m->port, bytes + NET_HDR_BYTES, n),
                     "a port takes a frame") ||
        !drill_settle(d))
        return;
    used = expect_frame(d, &b, bytes, NET_HDR_BYTES + n, &len);
    if (used > 0)
        expect_behind_used(d, len);
    if (m->is_broken)
        machine_raise_config(d, MACHINE_NET);
    if (machine_check_fault(d) && machine_check_used(d, from, used) && check_status(d) &&
        machine_memory_holds(d) && (used < b.n || drill_one_in(d, 8)))
        begin_anew(d);
}
