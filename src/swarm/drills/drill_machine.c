/* SPDX-License-Identifier: MIT */
/* The drill of a machine: a virtual machine with two PCI functions, and the drill is its processor
 * and its driver.  Memory, features, and frames that arrive.
 *
 * The machine's memory is mapped in regions of random places and order, some of them read-only.
 * Its driver gives virtio-net a receive queue whose buffers lie anywhere, also across regions and
 * where nothing is.  The functions themselves are checked in drill_machine_pci.c.
 */
#include "swarm/drills/drill_machine.h"

#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/device_status.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/net.h"
#include "emu/facts/virtio/net_feature.h"
#include "emu/trace/event.h"
#include "emu/trace/kind.h"
#include "rdmalab/port.h"
#include "swarm/drills/kinds.h"

#define STEPS       48u
#define BAR_VIRTIO  0u
#define NET         0u /* function */
#define RDMA        1u
#define BIT(n)      ((uint64_t)1 << (n))
#define ETHERTYPE   0x88b5u /* for local experiments */
#define FRAME_LEAST 14u
#define FRAME_MOST  1514u
#define BUFFERS     8u /* most chains of a step */
#define BASE_STATUS (VS_ACKNOWLEDGE | VS_DRIVER)
#define NOWHERE     UINT64_MAX

struct machine *machine_of(struct drill *d)
{
    return d->own;
}

static uint64_t reg(struct drill *d, uint32_t function, uint32_t at, uint32_t width)
{
    return machine_bar(d, function, BAR_VIRTIO, at, width);
}

static void reg_put(struct drill *d, uint32_t function, uint32_t at, uint32_t width, uint64_t v)
{
    machine_bar_put(d, function, BAR_VIRTIO, at, width, v);
}

/* --- Memory ----------------------------------------------------------------------------------- */

static const struct machine_chunk *chunk_of(const struct machine *m, uint64_t gpa)
{
    for (uint32_t i = 0; i < m->n_chunks; i++) {
        const struct machine_chunk *c = &m->chunks[i];

        if (gpa >= c->gpa && gpa - c->gpa < (uint64_t)c->pages * MACHINE_PAGE)
            return c;
    }
    return NULL;
}

/* The place of guest-physical @gpa in the memory, or NOWHERE. */
static uint64_t place_of(const struct machine *m, uint64_t gpa, bool write)
{
    const struct machine_chunk *c = chunk_of(m, gpa);

    return c && (c->writable || !write) ? (uint64_t)c->first * MACHINE_PAGE + (gpa - c->gpa)
                                        : NOWHERE;
}

static bool is_there(const struct machine *m, uint64_t gpa, uint64_t bytes, bool write)
{
    for (uint64_t i = 0; i < bytes; i++) {
        if (place_of(m, gpa + i, write) == NOWHERE)
            return false;
    }
    return true;
}

/* The model of a write.  All of it must be there. */
static void model_put(struct machine *m, uint64_t gpa, const void *bytes, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        m->model[place_of(m, gpa + i, false)] = ((const uint8_t *)bytes)[i];
}

/* The machine's processor writes its own memory. */
static void cpu_put(struct machine *m, uint64_t gpa, const void *bytes, uint64_t n)
{
    model_put(m, gpa, bytes, n);
    for (uint64_t i = 0; i < n; i++)
        m->memory[place_of(m, gpa + i, false)] = ((const uint8_t *)bytes)[i];
}

/* The device says when it likes that it wants no kicks: bit 0 of the flags of the used ring. */
static void learn_flags(struct machine *m)
{
    if (m->is_driven && m->memory[place_of(m, m->used, true)] == 1)
        model_put(m, m->used, &(uint8_t){1}, 1);
}

static bool memory_holds(struct drill *d)
{
    struct machine *m = machine_of(d);
    uint32_t at = 0;

    learn_flags(m);
    while (at < sizeof(m->memory) && m->memory[at] == m->model[at])
        at++;
    return drill_expect(
        d, at == sizeof(m->memory), "devices write what they are asked to, and nothing else",
        "byte 0x%x of the memory is 0x%02x, and not 0x%02x", at,
        at < sizeof(m->memory) ? m->memory[at] : 0, at < sizeof(m->memory) ? m->model[at] : 0);
}

/* Draws where the chunks of memory lie.  The first one is writable. */
static void draw_chunks(struct drill *d)
{
    struct machine *m = machine_of(d);
    uint64_t page = drill_one_in(d, 3) ? 0 : drill_below(d, 1u << 20);
    uint32_t first = drill_below(d, 3);

    m->n_chunks = 1 + drill_below(d, MACHINE_CHUNKS);
    for (uint32_t i = 0; i < m->n_chunks; i++) {
        struct machine_chunk *c = &m->chunks[i];

        *c = (struct machine_chunk){.gpa = page * MACHINE_PAGE,
                                    .first = first,
                                    .pages = 1 + drill_below(d, 4),
                                    .writable = i == 0 || !drill_one_in(d, 4)};
        page += c->pages;
        if (drill_one_in(d, 2))
            page += 1 + drill_below(d, 8);
        if (drill_one_in(d, 8))
            page += BIT(20);
        first += c->pages + drill_below(d, 2);
    }
    RDL_ASSERT(first <= MACHINE_PAGES);
    m->chunks[0].pages += m->n_chunks == 1; /* room for the queue, and for buffers */
}

/* Maps the chunks in random order.  A region may have a part of a page at its end, which is not
 * used.
 */
static bool map(struct drill *d)
{
    struct machine *m = machine_of(d);
    struct rdl_vm_region all[MACHINE_CHUNKS];

    for (uint32_t i = 0; i < m->n_chunks; i++) {
        const struct machine_chunk *c = &m->chunks[i];
        const uint32_t k = drill_below(d, i + 1);
        const uint64_t end = c->gpa + (uint64_t)c->pages * MACHINE_PAGE;

        all[i] = all[k];
        all[k] = (struct rdl_vm_region){
            .gpa = c->gpa,
            .bytes = end - c->gpa + (chunk_of(m, end) ? 0 : drill_below(d, MACHINE_PAGE)),
            .at = m->memory + c->first * MACHINE_PAGE,
            .writable = c->writable};
    }
    d->n_unsaid++;
    return drill_works(d, rdl_vm_memory(d->lab, m->host, all, m->n_chunks),
                       "a machine can map its memory");
}

/* --- The driver ------------------------------------------------------------------------------- */

static uint64_t offered(struct drill *d, uint32_t function)
{
    uint64_t low;

    reg_put(d, function, REG_DEVICE_FEATURE_SELECT, 4, 0);
    low = reg(d, function, REG_DEVICE_FEATURE, 4);
    reg_put(d, function, REG_DEVICE_FEATURE_SELECT, 4, 1);
    return low | reg(d, function, REG_DEVICE_FEATURE, 4) << 32;
}

static void reset_device(struct drill *d, uint32_t function)
{
    struct machine *m = machine_of(d);

    reg_put(d, function, REG_DEVICE_STATUS, 1, 0);
    machine_device_reset(&m->f[function]);
    if (function == NET) {
        learn_flags(m);
        m->is_driven = m->is_broken = false;
    }
}

/* Draws a number for a register that has the number of a vector.  Returns what it reads as. */
static uint32_t put_vector(struct drill *d, uint32_t at)
{
    const struct machine_function *f = &machine_of(d)->f[NET];
    const uint32_t n = drill_below(d, f->n_vectors + 2);

    reg_put(d, NET, at, 2, n);
    return n < f->n_vectors ? n : VIRTIO_NO_VECTOR;
}

static void accept(struct drill *d, uint64_t features)
{
    reg_put(d, NET, REG_DRIVER_FEATURE_SELECT, 4, 0);
    reg_put(d, NET, REG_DRIVER_FEATURE, 4, (uint32_t)features);
    reg_put(d, NET, REG_DRIVER_FEATURE_SELECT, 4, 1);
    reg_put(d, NET, REG_DRIVER_FEATURE, 4, features >> 32);
}

/* Places the parts of the receive queue in the first chunk, and empties it. */
static void place_queue(struct drill *d)
{
    static const uint8_t zeros[MACHINE_PAGE];
    struct machine *m = machine_of(d);

    m->size = 16; /* at least 2 x BUFFERS descriptors */
    m->desc = m->chunks[0].gpa + 16 * (1 + (uint64_t)drill_below(d, 8)); /* not at 0 */
    m->avail = m->desc + 16 * m->size + 2 * (uint64_t)drill_below(d, 8);
    m->used = (m->avail + 6 + 2 * m->size + 3) / 4 * 4 + 4 * (uint64_t)drill_below(d, 8);
    m->avail_idx = m->used_idx = 0;
    cpu_put(m, m->chunks[0].gpa, zeros, 1024);
}

/* Takes virtio-net from reset to DRIVER_OK. */
static void drive(struct drill *d)
{
    struct machine *m = machine_of(d);
    struct machine_function *f = &m->f[NET];

    if (!machine_enable(d, NET))
        return;
    reset_device(d, NET);
    place_queue(d);
    f->config_vector = put_vector(d, REG_CONFIG_MSIX_VECTOR);
    reg_put(d, NET, REG_DEVICE_STATUS, 1, BASE_STATUS);
    m->merges = (f->offered & BIT(NF_MRG_RXBUF)) && !drill_one_in(d, 3);
    accept(d, BIT(VF_VERSION_1) | (m->merges ? BIT(NF_MRG_RXBUF) : 0));
    reg_put(d, NET, REG_DEVICE_STATUS, 1, BASE_STATUS | VS_FEATURES_OK);
    reg_put(d, NET, REG_QUEUE_SELECT, 2, NET_QUEUE_RX);
    reg_put(d, NET, REG_QUEUE_SIZE, 2, m->size);
    f->rx_vector = put_vector(d, REG_QUEUE_MSIX_VECTOR);
    reg_put(d, NET, REG_QUEUE_DESC, 8, m->desc);
    reg_put(d, NET, REG_QUEUE_DRIVER, 8, m->avail);
    reg_put(d, NET, REG_QUEUE_DEVICE, 8, m->used);
    reg_put(d, NET, REG_QUEUE_ENABLE, 2, 1);
    reg_put(d, NET, REG_DEVICE_STATUS, 1, BASE_STATUS | VS_FEATURES_OK | VS_DRIVER_OK);
    m->is_driven = true;
    if (drill_expect(d,
                     reg(d, NET, REG_QUEUE_MSIX_VECTOR, 2) == f->rx_vector &&
                         reg(d, NET, REG_CONFIG_MSIX_VECTOR, 2) == f->config_vector,
                     "a vector that the device has not reads as no vector", "another was read"))
        (void)drill_expect(
            d, reg(d, NET, REG_DEVICE_STATUS, 1) == (BASE_STATUS | VS_FEATURES_OK | VS_DRIVER_OK),
            "a driver can begin to use the device", "the status is 0x%02x",
            (unsigned)reg(d, NET, REG_DEVICE_STATUS, 1));
}

/* The machine gets other memory.  Its driver begins anew, as one does that went to sleep. */
static void remap(struct drill *d)
{
    reset_device(d, NET);
    draw_chunks(d);
    if (map(d))
        drive(d);
}

/* --- Features --------------------------------------------------------------------------------- */

static bool check_offered(struct drill *d, uint32_t function)
{
    const struct machine_function *f = &machine_of(d)->f[function];
    const uint64_t have = offered(d, function);

    return drill_expect(
        d, have == f->offered, "a function offers all that it can but what is switched off",
        "function %u offers 0x%" PRIx64 ", and not 0x%" PRIx64, function, have, f->offered);
}

/* Switches features off, and checks what the functions offer after a reset. */
static void offer(struct drill *d)
{
    static const uint32_t ring[] = {VF_INDIRECT_DESC, VF_EVENT_IDX, VF_VERSION_1, VF_RING_RESET};
    static const uint32_t net[] = {NF_MAC, NF_MTU, NF_STATUS, NF_MRG_RXBUF};
    struct machine *m = machine_of(d);
    uint64_t rings_off = 0, net_off = 0, lost = BIT(VF_RESIZE) | BIT(VF_ON_DEMAND);

    for (size_t i = 0; i < ARRAY_LEN(ring); i++)
        rings_off |= drill_one_in(d, 3) ? BIT(ring[i]) : 0;
    for (size_t i = 0; i < ARRAY_LEN(net); i++)
        net_off |= drill_one_in(d, 3) ? BIT(net[i]) : 0;
    d->n_unsaid++;
    if (!drill_works(d, rdl_vm_offer(d->lab, m->host, rings_off, net_off),
                     "a machine can be offered less"))
        return;
    rings_off &= ~BIT(VF_VERSION_1);
    m->f[NET].offered = m->f[NET].possible & ~(rings_off | net_off);
    m->f[RDMA].offered =
        m->f[RDMA].possible & ~(rings_off | (rings_off & BIT(VF_RING_RESET) ? lost : 0));
    reset_device(d, NET);
    reset_device(d, RDMA);
    if (check_offered(d, NET) && check_offered(d, RDMA))
        drive(d);
}

/* Resets a function as power-on does. */
static void power_on(struct drill *d)
{
    const uint32_t function = drill_below(d, MACHINE_FUNCTIONS);
    struct machine *m = machine_of(d);

    d->n_unsaid++;
    if (!drill_works(d, rdl_vm_reset(d->lab, m->host, function), "a function can be reset"))
        return;
    machine_power_on(&m->f[function]);
    if (function == RDMA)
        return;
    learn_flags(m);
    m->is_driven = m->is_broken = false;
    if (drill_one_in(d, 2))
        drive(d);
}

/* --- Frames ----------------------------------------------------------------------------------- */

/* The chains of a step, each of one or two buffers, and what must become of them. */
struct machine_batch {
    uint32_t n;
    struct {
        uint32_t head, pieces, bytes;
        uint64_t at[2];
        uint32_t piece_bytes[2];
    } chains[BUFFERS];
    bool is_bad; /* the last chain cannot be used */
};

/* A guest-physical address for a buffer of @bytes, which is memory if it is @good, and otherwise
 * not, or not all of it.  NOWHERE if there was none in a few attempts.
 */
static uint64_t draw_place(struct drill *d, uint32_t bytes, bool good)
{
    const struct machine *m = machine_of(d);

    for (uint32_t i = 0; i < 40; i++) {
        const struct machine_chunk *c = &m->chunks[drill_below(d, m->n_chunks)];
        const uint32_t most = c->pages * MACHINE_PAGE;
        const uint64_t at =
            c->gpa + (drill_one_in(d, 3) ? most - drill_below(d, bytes + 1) : drill_below(d, most));

        if (at >= m->chunks[0].gpa && at < m->chunks[0].gpa + 1024)
            continue; /* the queue is there */
        if (is_there(m, at, bytes, false) == good)
            return at;
    }
    return NOWHERE;
}

/* Writes descriptor @i of the queue. */
static void put_desc(struct machine *m, uint32_t i, uint64_t at, uint32_t bytes, bool more)
{
    uint8_t raw[16] = {0};

    st_le64(raw, at);
    st_le32(raw + 8, bytes);
    st_le16(raw + 12, 2 | more); /* the device writes; another follows */
    st_le16(raw + 14, (uint16_t)(i + 1));
    cpu_put(m, m->desc + 16 * (uint64_t)i, raw, sizeof(raw));
}

/* Adds a chain with room for @bytes.  Returns false if no memory was found for it. */
static bool add_chain(struct drill *d, struct machine_batch *b, uint32_t bytes, bool good)
{
    struct machine *m = machine_of(d);
    const uint32_t i = b->n, pieces = bytes > 1 && drill_one_in(d, 2) ? 2 : 1;
    const uint32_t cut = pieces == 2 ? 1 + drill_below(d, bytes - 1) : bytes;
    const uint32_t sizes[2] = {cut, bytes - cut};
    uint8_t raw[2];

    b->chains[i].head = 2 * i;
    b->chains[i].pieces = pieces;
    b->chains[i].bytes = bytes;
    for (uint32_t k = 0; k < pieces; k++) {
        b->chains[i].at[k] = draw_place(d, sizes[k], good || k + 1 < pieces);
        b->chains[i].piece_bytes[k] = sizes[k];
        if (b->chains[i].at[k] == NOWHERE)
            return false;
        for (uint32_t j = 0; j <= i; j++) { /* no two buffers overlap */
            for (uint32_t l = 0; l < (j == i ? k : b->chains[j].pieces); l++) {
                if (b->chains[i].at[k] < b->chains[j].at[l] + b->chains[j].piece_bytes[l] &&
                    b->chains[j].at[l] < b->chains[i].at[k] + sizes[k])
                    return false;
            }
        }
    }
    for (uint32_t k = 0; k < pieces; k++)
        put_desc(m, 2 * i + k, b->chains[i].at[k], sizes[k], k + 1 < pieces);
    st_le16(raw, (uint16_t)b->chains[i].head);
    cpu_put(m, m->avail + 4 + 2 * (uint64_t)((m->avail_idx + i) % m->size), raw, sizeof(raw));
    b->n++;
    return true;
}

/* Makes the chains available to the device. */
static void publish(struct machine *m, const struct machine_batch *b)
{
    uint8_t raw[2];

    m->avail_idx = (uint16_t)(m->avail_idx + b->n);
    st_le16(raw, m->avail_idx);
    cpu_put(m, m->avail + 2, raw, sizeof(raw));
}

/* The model of one used element. */
static void expect_used(struct machine *m, uint32_t head, uint32_t bytes)
{
    uint8_t raw[8];

    st_le32(raw, head);
    st_le32(raw + 4, bytes);
    model_put(m, m->used + 4 + 8 * (uint64_t)(m->used_idx % m->size), raw, sizeof(raw));
    m->used_idx++;
    st_le16(raw, m->used_idx);
    model_put(m, m->used + 2, raw, 2);
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

        if (!is_there(m, b->chains[chain].at[k] + skip, part, true))
            return;
        model_put(m, b->chains[chain].at[k] + skip, bytes, part);
        from -= skip;
        bytes += part;
        n -= part;
    }
}

/* The model of a frame that arrives: header and frame fill the chains in their order.  Returns how
 * many chains are used.
 */
static uint32_t expect_frame(struct drill *d, const struct machine_batch *b, const uint8_t *bytes,
                             uint32_t n)
{
    struct machine *m = machine_of(d);
    const uint32_t good = b->n - b->is_bad;
    uint32_t room = 0, used = 0, done = 0;

    while (used < good && room < n) {
        room += b->chains[used++].bytes;
        if (!m->merges)
            break;
    }
    if (used == 1 && room < n && !m->merges) { /* too long for its buffer */
        expect_used(m, b->chains[0].head, 0);
        return 1;
    }
    for (uint32_t i = 0; i < used; i++) {
        const uint32_t part = n - done < b->chains[i].bytes ? n - done : b->chains[i].bytes;
        const uint32_t header = i == 0 ? NET_HDR_BYTES : 0;

        expect_bytes(m, b, i, 0, bytes, header);
        expect_bytes(m, b, i, header, bytes + done + header, part - header);
        if (room >= n)
            expect_used(m, b->chains[i].head, part);
        done += part;
    }
    for (uint32_t i = 0; room >= n && i < 2; i++)
        expect_bytes(m, b, 0, NET_HDR_NUM_BUFFERS + i, &(uint8_t){(uint8_t)(used >> (8 * i))}, 1);
    if (room < n)
        return 0; /* the frame is dropped; its chains were written to, but are not used */
    return used;
}

/* Checks that the last @n events `used` have the indexes of their own elements. */
static bool check_used_events(struct drill *d, uint64_t from, uint32_t n)
{
    const struct machine *m = machine_of(d);
    const struct ev *e = drill_event(d, EV_used, &from);
    uint16_t want = (uint16_t)(m->used_idx - n);

    for (; e; e = drill_event(d, EV_used, &from)) {
        want++;
        if (!drill_expect(d, e->u.used.used_idx == want,
                          "each used element is told with the index behind it", "%u, and not %u",
                          e->u.used.used_idx, want))
            return false;
    }
    return drill_expect(d, want == m->used_idx, "each used element is told", "%u are not",
                        (uint32_t)(uint16_t)(m->used_idx - want));
}

static void make_frame(struct drill *d, uint8_t *f, uint32_t n)
{
    const uint8_t first = (uint8_t)drill_below(d, 256), step = (uint8_t)(2 * drill_below(d, 128));

    memcpy(f, (const uint8_t[12]){2, 0, 0, 0, 0, 1, 2, 0xaa, 0, 0, 0, 1}, 12);
    st_be16(f + 12, ETHERTYPE);
    for (uint32_t i = FRAME_LEAST; i < n; i++)
        f[i] = (uint8_t)(first + i * (step + 1u) + (i >> 8));
}

/* Gives the device buffers for a frame of @n bytes with its header, or for less. */
static bool add_chains(struct drill *d, struct machine_batch *b, uint32_t n)
{
    const struct machine *m = machine_of(d);
    const bool is_bad = drill_one_in(d, 6);
    uint32_t left = n;

    *b = (struct machine_batch){.n = 0};
    if (m->merges) {
        const uint32_t part = n / (1 + drill_below(d, BUFFERS - 2)) + NET_HDR_BYTES;

        while (b->n + 2 < BUFFERS && left > 0 && !(b->n > 0 && drill_one_in(d, 20))) {
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

/* Undoes what is left of the queue by a reset of the device. */
static void begin_anew(struct drill *d)
{
    if (machine_check_interrupts(d))
        drive(d);
}

/* A frame for the machine arrives. */
static void receive(struct drill *d)
{
    struct machine *m = machine_of(d);
    uint8_t bytes[NET_HDR_BYTES + FRAME_MOST] = {0};
    const uint32_t n =
        FRAME_LEAST + drill_below(d, drill_one_in(d, 3) ? FRAME_MOST - FRAME_LEAST + 1 : 200);
    const uint64_t from = drill_events(d);
    struct machine_batch b;
    uint32_t used, room = 0;

    if (!m->is_driven || m->is_broken || !m->link_is_up || !(m->f[NET].command & PCI_CMD_MASTER))
        return;
    make_frame(d, bytes + NET_HDR_BYTES, n);
    if (!add_chains(d, &b, NET_HDR_BYTES + n)) {
        begin_anew(d);
        return;
    }
    publish(m, &b);
    for (uint32_t i = 0; i + b.is_bad < b.n; i++)
        room += b.chains[i].bytes;
    used = expect_frame(d, &b, bytes, NET_HDR_BYTES + n);
    m->is_broken = b.is_bad && used == 0 && room < NET_HDR_BYTES + n;
    if (used > 0)
        machine_raise_rx(d, NET);
    else if (m->is_broken)
        machine_raise_config(d, NET);
    d->n_unsaid++;
    if (!drill_works(d, rdl_port_receive(d->lab, m->port, bytes + NET_HDR_BYTES, n),
                     "a port takes a frame") ||
        !drill_settle(d))
        return;
    if (check_used_events(d, from, used) &&
        drill_expect(d,
                     !m->is_broken == !(reg(d, NET, REG_DEVICE_STATUS, 1) & VS_DEVICE_NEEDS_RESET),
                     "a device needs a reset after a buffer that is not there, and else never",
                     m->is_broken ? "it needs none" : "it needs one") &&
        memory_holds(d) && (used < b.n || drill_one_in(d, 8)))
        begin_anew(d);
}

/* The link goes down or up, which is a change of the device's configuration. */
static void change_link(struct drill *d)
{
    struct machine *m = machine_of(d);

    m->link_is_up = !m->link_is_up;
    if (!drill_works(d, rdl_link_raise(d->lab, m->link, m->link_is_up),
                     "a link can be taken down and up"))
        return;
    if (m->is_driven)
        machine_raise_config(d, NET);
    (void)drill_settle(d);
}

/* Reads where no function answers. */
static void read_nowhere(struct drill *d)
{
    static const uint32_t widths[] = {1, 2, 4, 8};
    const uint32_t bytes = widths[drill_below(d, ARRAY_LEN(widths))];
    const struct machine *m = machine_of(d);
    const struct rdl_vm_access a = {.bytes = bytes, .addr = 0x10000000u + drill_below(d, 1u << 30)};
    uint64_t v = 0;

    d->n_unsaid++;
    if (drill_works(d, rdl_vm_access(d->lab, m->host, &a, &v), "a machine can read anywhere"))
        (void)drill_expect(d, v == UINT64_MAX >> (64 - 8 * bytes),
                           "what nobody answers reads as all ones", "0x%" PRIx64, v);
}

/* --- Setup and steps -------------------------------------------------------------------------- */

static void on_interrupt(void *ctx, uint32_t function, uint64_t address, uint32_t data)
{
    struct machine *m = ctx;

    if (m->n_got < MACHINE_MESSAGES)
        m->got[m->n_got] = (struct machine_message){function, data, address};
    m->n_got++;
}

static bool add_port(struct drill *d)
{
    const struct rdl_link_config link = {.a = "m1", .b = "out", .latency_ns = 100};
    const struct rdl_port_config port = {.name = "out"};
    struct machine *m = machine_of(d);

    m->link_is_up = true;
    return drill_works(d, rdl_port_add(d->lab, &port, &m->port), "a port can be added") &&
           drill_works(d, rdl_link_add(d->lab, &link, &m->link), "a link can be added") &&
           drill_settle(d);
}

/* Learns from the device what the model cannot know: sizes, and what it offers. */
static bool learn(struct drill *d, uint32_t function)
{
    struct machine_function *f = &machine_of(d)->f[function];

    machine_power_on(f);
    for (uint32_t bar = 0; bar < 2; bar++) {
        machine_config_put(d, function, PCI_BAR0 + 4 * bar, 4, UINT32_MAX);
        f->bar_bytes[bar] = 0 - machine_config(d, function, PCI_BAR0 + 4 * bar, 4);
    }
    f->n_vectors = 1 + (machine_config(d, function, PCI_MSIX_CONTROL, 2) & MSIX_SIZE_MASK);
    if (!machine_enable(d, function))
        return false;
    f->possible = f->offered = offered(d, function);
    return drill_expect(d, f->offered & BIT(VF_VERSION_1), "a device offers VERSION_1",
                        "it does not");
}

static void set_up(struct drill *d)
{
    const struct rdl_host_config host = {.name = "m1", .external = true};
    struct machine *m = machine_of(d);

    drill_say(d, "host m1 vm");
    if (!drill_works(d, rdl_host_add(d->lab, &host, &m->host), "a host can be added") ||
        !add_port(d) ||
        !drill_works(d, rdl_vm_listen(d->lab, m->host, on_interrupt, m),
                     "a machine can hear its interrupts") ||
        !learn(d, NET) || !learn(d, RDMA))
        return;
    draw_chunks(d);
    if (map(d))
        drive(d);
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {receive,
                                                    receive,
                                                    receive,
                                                    change_link,
                                                    change_link,
                                                    machine_change_config,
                                                    remap,
                                                    read_nowhere,
                                                    machine_change_command,
                                                    offer,
                                                    power_on,
                                                    machine_change_vector,
                                                    drive,
                                                    machine_change_vector,
                                                    machine_change_vector,
                                                    machine_change_msix,
                                                    machine_change_msix};

    steps[drill_below(d, ARRAY_LEN(steps))](d);
    if (machine_check_interrupts(d))
        (void)memory_holds(d);
}

const struct drill_kind drill_of_machine = {.name = "machine",
                                            .bytes = sizeof(struct machine),
                                            .steps = STEPS,
                                            .set_up = set_up,
                                            .take = take};
