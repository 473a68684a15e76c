/* SPDX-License-Identifier: MIT */
/* The drill of rings: the drill as a driver of virtio-net.
 *
 * It takes the device away from the host's own driver, resets it, negotiates random features and
 * places rings of random size at random addresses.  Frames that it sends leave the lab through an
 * external port; frames for it enter there.  Chains have every shape (drill_rings_chain.c).  A
 * forbidden chain breaks the device, which is then reset.
 */
#include <inttypes.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/device_status.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/net.h"
#include "emu/facts/virtio/net_feature.h"
#include "emu/facts/virtio/vq_error.h"
#include "emu/trace/kind.h"
#include "rdmalab/inspect.h"
#include "rdmalab/port.h"
#include "rdmalab/trace.h"
#include "swarm/drills/drill_rings.h"

#define RAM_BYTES    ((uint64_t)4 << 20)
#define RINGS_AT     ((uint64_t)2 << 20)
#define ZONE_AT      ((uint64_t)3 << 20)
#define LONGEST_RING 256u
#define VECTORS      3u
#define BIT(n)       ((uint64_t)1 << (n))
#define SPINS        66000u
#define SPIN_ONE_IN  20u

static const uint8_t host_mac[6] = {2, 0, 0, 0, 0, 1};

static struct bare *bare_of(struct drill *d)
{
    return &((struct rings *)d->own)->u.bare;
}

/* --- Registers -------------------------------------------------------------------------------- */

static uint64_t reg(struct drill *d, uint32_t at, uint32_t width)
{
    uint64_t v = 0;

    (void)drill_works(d, rdl_reg_read(d->lab, bare_of(d)->host, FN_NET, at, width, &v),
                      "a register can be read");
    return v;
}

static void reg_put(struct drill *d, uint32_t at, uint32_t width, uint64_t v)
{
    (void)drill_works(d, rdl_reg_write(d->lab, bare_of(d)->host, FN_NET, at, width, v),
                      "a register can be written");
}

static void kick(struct drill *d, const struct bare_ring *r)
{
    reg_put(d, BAR_NOTIFY + r->queue * NOTIFY_MULTIPLIER, 2, r->queue);
}

static bool status_is(struct drill *d, unsigned want, const char *what)
{
    const uint64_t have = reg(d, REG_DEVICE_STATUS, 1);

    return drill_expect(d, have == want, what, "the status is 0x%02x, and not 0x%02x",
                        (unsigned)have, want);
}

static uint64_t offered(struct drill *d)
{
    uint64_t low;

    reg_put(d, REG_DEVICE_FEATURE_SELECT, 4, 0);
    low = reg(d, REG_DEVICE_FEATURE, 4);
    reg_put(d, REG_DEVICE_FEATURE_SELECT, 4, 1);
    return low | reg(d, REG_DEVICE_FEATURE, 4) << 32;
}

static void accept(struct drill *d, uint64_t features)
{
    reg_put(d, REG_DRIVER_FEATURE_SELECT, 4, 0);
    reg_put(d, REG_DRIVER_FEATURE, 4, (uint32_t)features);
    reg_put(d, REG_DRIVER_FEATURE_SELECT, 4, 1);
    reg_put(d, REG_DRIVER_FEATURE, 4, features >> 32);
}

/* Accepts features that the device must refuse by leaving FEATURES_OK clear. */
static bool ask_too_much(struct drill *d)
{
    const struct bare *b = bare_of(d);
    const uint64_t wrong =
        drill_one_in(d, 2) ? b->offered & ~BIT(VF_VERSION_1) : b->offered | BIT(41);

    accept(d, wrong);
    reg_put(d, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK);
    return status_is(d, VS_ACKNOWLEDGE | VS_DRIVER,
                     "a device agrees to nothing without VERSION_1, or that it did not offer");
}

/* Takes the link down and up, which a device that is driven tells by its interrupt status. */
static bool shake_link(struct drill *d)
{
    const struct bare *b = bare_of(d);

    return drill_works(d, rdl_link_raise(d->lab, b->link, false), "a link can be taken down") &&
           drill_works(d, rdl_link_raise(d->lab, b->link, true), "a link can be taken up") &&
           drill_settle(d);
}

static bool negotiate(struct drill *d)
{
    struct bare *b = bare_of(d);
    uint64_t have;

    if (drill_one_in(d, 2) && !shake_link(d))
        return false;
    reg_put(d, REG_DEVICE_STATUS, 1, 0);
    have = offered(d);
    if (!status_is(d, 0, "a reset clears the status") ||
        !drill_expect(d, reg(d, BAR_ISR, 1) == 0, "a reset clears the interrupt status",
                      "it is not 0") ||
        !drill_expect(d, have == b->offered, "a device offers what it was made with",
                      "0x%" PRIx64 ", and not 0x%" PRIx64, have, b->offered))
        return false;
    reg_put(d, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE);
    reg_put(d, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER);
    if (drill_one_in(d, 4) && !ask_too_much(d))
        return false;
    b->accepted = b->offered;
    if (drill_one_in(d, 2))
        b->accepted &= ~BIT(VF_EVENT_IDX);
    if (drill_one_in(d, 3))
        b->accepted &= ~BIT(VF_INDIRECT_DESC);
    b->event_idx = b->accepted & BIT(VF_EVENT_IDX);
    b->indirect = b->accepted & BIT(VF_INDIRECT_DESC);
    accept(d, b->accepted);
    reg_put(d, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK);
    return status_is(d, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK,
                     "a device agrees to any of the features that it offers");
}

/* --- Rings ------------------------------------------------------------------------------------ */

static uint64_t round_up(uint64_t at, uint64_t align)
{
    return (at + align - 1) / align * align;
}

static bool zero(struct drill *d, uint64_t at, uint32_t bytes)
{
    static const uint8_t zeros[4 + 8 * LONGEST_RING + 2];

    return bare_ram_put(d, at, zeros, bytes);
}

/* Places the parts of @r in RAM from *@at on, and advances *@at. */
static bool place(struct drill *d, struct bare_ring *r, uint64_t *at)
{
    uint64_t *const parts[] = {&r->desc, &r->avail, &r->used};
    static const uint32_t aligns[] = {16, 2, 4};
    const uint32_t bytes[] = {16 * r->size, 6 + 2 * r->size, 6 + 8 * r->size};

    for (unsigned i = 0; i < 3; i++) {
        *parts[i] = round_up(*at + drill_below(d, 300), aligns[i]);
        *at = *parts[i] + bytes[i];
    }
    return zero(d, r->avail, bytes[1]) && zero(d, r->used, bytes[2]);
}

static void put_address(struct drill *d, uint32_t at, uint64_t v)
{
    if (drill_one_in(d, 2)) {
        reg_put(d, at, 8, v);
        return;
    }
    reg_put(d, at, 4, (uint32_t)v);
    reg_put(d, at + 4, 4, v >> 32);
}

static bool add_ring(struct drill *d, struct bare_ring *r, uint32_t queue, uint64_t *at)
{
    const uint32_t vector = drill_one_in(d, 4) ? VIRTIO_NO_VECTOR : drill_below(d, VECTORS);

    *r = (struct bare_ring){
        .queue = queue, .size = 1u << drill_below(d, 9), .has_vector = vector != VIRTIO_NO_VECTOR};
    if (!place(d, r, at))
        return false;
    reg_put(d, REG_QUEUE_SELECT, 2, queue);
    if (!drill_expect(d, reg(d, REG_QUEUE_ENABLE, 2) == 0, "a reset takes all queues away",
                      "queue %u is enabled", queue))
        return false;
    reg_put(d, REG_QUEUE_SIZE, 2, r->size);
    reg_put(d, REG_QUEUE_MSIX_VECTOR, 2, vector);
    put_address(d, REG_QUEUE_DESC, r->desc);
    put_address(d, REG_QUEUE_DRIVER, r->avail);
    put_address(d, REG_QUEUE_DEVICE, r->used);
    reg_put(d, REG_QUEUE_ENABLE, 2, 1);
    return drill_expect(
        d,
        reg(d, REG_QUEUE_SIZE, 2) == r->size && reg(d, REG_QUEUE_DESC, 8) == r->desc &&
            reg(d, REG_QUEUE_DRIVER, 8) == r->avail && reg(d, REG_QUEUE_DEVICE, 8) == r->used &&
            reg(d, REG_QUEUE_ENABLE, 2) == 1,
        "a queue's registers read as they were written", "those of queue %u do not", queue);
}

/* --- Batches of chains ------------------------------------------------------------------------ */

/* Fills @slots with the numbers 0 .. n - 1 in random order. */
static void shuffle(struct drill *d, uint16_t slots[LONGEST_RING], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = drill_below(d, i + 1);

        slots[i] = (uint16_t)i;
        slots[i] = slots[k];
        slots[k] = (uint16_t)i;
    }
}

/* The chains of one step. */
struct batch {
    uint16_t slots[LONGEST_RING];
    uint32_t slots_used, n;
    uint16_t heads[BARE_FRAMES];
    uint32_t len[BARE_FRAMES]; /* length that the device must put into the used element */
    struct bare_chain chains[BARE_FRAMES];
    bool wants_irq;
    uint64_t irqs; /* interrupts before the step */
};

/* Adds a chain of @bytes.  Returns NULL if there is no space. */
static struct bare_chain *add_chain(struct drill *d, const struct bare_ring *r, struct batch *t,
                                    uint32_t bytes, bool writable)
{
    struct bare_chain *c = &t->chains[t->n];

    if (t->n == BARE_FRAMES)
        return NULL;
    *c = (struct bare_chain){.n = 0};
    if (t->slots_used == r->size ||
        !bare_chain_make(d, bytes, writable, t->slots + t->slots_used, r->size - t->slots_used, c))
        return NULL;
    t->slots_used += c->n_slots;
    t->heads[t->n] = c->slots[0];
    t->len[t->n++] = 0;
    return c;
}

/* Tells the device whether and when to send an interrupt. */
static bool choose_irq(struct drill *d, const struct bare_ring *r, struct batch *t)
{
    const struct bare *b = bare_of(d);
    const uint16_t event = (uint16_t)(r->used_idx + drill_below(d, t->n + 4) - 2);
    const bool off = drill_one_in(d, 2);

    t->irqs = rdl_total(d->lab, EV_irq);
    t->wants_irq = b->event_idx ? (uint16_t)(event - r->used_idx) < t->n : !off;
    if (b->event_idx)
        return bare_put16(d, r->avail + 4 + 2 * (uint64_t)r->size, event);
    return bare_put16(d, r->avail, off);
}

static bool publish(struct drill *d, struct bare_ring *r, struct batch *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const uint32_t at = (uint16_t)(r->avail_idx + i) % r->size;

        if (!bare_put16(d, r->avail + 4 + 2 * (uint64_t)at, t->heads[i]))
            return false;
    }
    r->avail_idx = (uint16_t)(r->avail_idx + t->n);
    return choose_irq(d, r, t) && bare_zone_show(d) && bare_put16(d, r->avail + 2, r->avail_idx);
}

static bool used_idx_is(struct drill *d, const struct bare_ring *r, uint16_t want, const char *what)
{
    uint8_t raw[2];

    if (!drill_works(d, rdl_ram_read(d->lab, bare_of(d)->host, r->used + 2, raw, sizeof(raw)),
                     "RAM can be read"))
        return false;
    return drill_expect(d, ld_le16(raw) == want, what, "used.idx is %u, and not %u", ld_le16(raw),
                        want);
}

static bool check_irqs(struct drill *d, const struct bare_ring *r, const struct batch *t)
{
    const uint64_t n = rdl_total(d->lab, EV_irq) - t->irqs;

    if (!t->wants_irq || !r->has_vector)
        return drill_expect(d, n == 0, "a driver that wants no interrupt gets none",
                            "there were %" PRIu64, n);
    return drill_expect(d, n >= 1 && n <= t->n, "a driver that wants an interrupt gets one",
                        "there were %" PRIu64 " for %u chains", n, t->n);
}

/* Checks that the device has used all chains, and the lengths that it reports. */
static bool check_used(struct drill *d, struct bare_ring *r, const struct batch *t)
{
    const struct bare *b = bare_of(d);
    uint8_t raw[8];

    for (uint32_t i = 0; i < t->n; i++) {
        const uint32_t at = (uint16_t)(r->used_idx + i) % r->size;

        if (!drill_works(
                d, rdl_ram_read(d->lab, b->host, r->used + 4 + 8 * (uint64_t)at, raw, sizeof(raw)),
                "RAM can be read") ||
            !drill_expect(d, ld_le32(raw) == t->heads[i] && ld_le32(raw + 4) == t->len[i],
                          "a used element names a chain, and the bytes that were written to it",
                          "descriptor %u, %u bytes, and not %u, %u", ld_le32(raw), ld_le32(raw + 4),
                          t->heads[i], t->len[i]))
            return false;
    }
    r->used_idx = (uint16_t)(r->used_idx + t->n);
    return used_idx_is(d, r, r->used_idx, "all chains that a driver offers come back") &&
           check_irqs(d, r, t) && bare_zone_holds(d);
}

/* --- Frames ----------------------------------------------------------------------------------- */

static void on_frame(void *ctx, const void *frame, size_t bytes)
{
    struct bare *b = ctx;
    struct bare_frame *f = &b->left[b->n_left < BARE_FRAMES ? b->n_left : 0];

    b->n_left++;
    f->bytes = bytes <= BARE_FRAME ? (uint32_t)bytes : 0;
    memcpy(f->b, frame, f->bytes);
}

/* Draws a frame to @mac of random length. */
static void make_frame(struct drill *d, const uint8_t mac[6], struct bare_frame *f)
{
    f->bytes = RIG_ETH_BYTES + (drill_one_in(d, 5) ? drill_below(d, BARE_FRAME - RIG_ETH_BYTES + 1)
                                                   : drill_below(d, 100));
    rig_make_frame(d, mac, f->b, f->bytes);
}

static bool frames_left(struct drill *d, const char *what)
{
    const struct bare *b = bare_of(d);

    if (!drill_expect(d, b->n_left == b->n_asked, what, "%u frames left the host, and not %u",
                      b->n_left, b->n_asked))
        return false;
    for (uint32_t i = 0; i < b->n_asked; i++) {
        const struct bare_frame *f = &b->asked[i], *have = &b->left[i];

        if (!drill_expect(d, have->bytes == f->bytes && memcmp(have->b, f->b, f->bytes) == 0,
                          "a frame leaves as the driver wrote it, whatever its chain looks like",
                          "frame %u of %u bytes left with %u, or others", i, f->bytes, have->bytes))
            return false;
    }
    return true;
}

/* --- Transmission ----------------------------------------------------------------------------- */

static void begin(struct drill *d, const struct bare_ring *r, struct batch *t)
{
    struct bare *b = bare_of(d);

    t->n = t->slots_used = 0;
    shuffle(d, t->slots, r->size);
    bare_zone_clear(d);
    b->n_asked = b->n_left = 0;
}

/* Adds a chain with a frame to send, after the virtio-net header. */
static bool add_sent(struct drill *d, struct batch *t)
{
    static const uint8_t to[6] = {2, 0xbb, 0, 0, 0, 2};
    struct bare *b = bare_of(d);
    uint8_t bytes[NET_HDR_BYTES + BARE_FRAME] = {0};
    struct bare_frame *f = &b->asked[b->n_asked];
    struct bare_chain *c;

    make_frame(d, to, f);
    memcpy(bytes + NET_HDR_BYTES, f->b, f->bytes);
    c = add_chain(d, &b->tx, t, NET_HDR_BYTES + f->bytes, false);
    if (!c)
        return false;
    bare_chain_fill(d, c, bytes, NET_HDR_BYTES + f->bytes);
    b->n_asked++;
    return true;
}

/* Adds up to @n frames to the ring without a kick. */
static bool offer_frames(struct drill *d, struct batch *t, uint32_t n)
{
    struct bare *b = bare_of(d);

    begin(d, &b->tx, t);
    while (n-- > 0 && add_sent(d, t)) {
        if (!bare_chain_put(d, &b->tx, &t->chains[t->n - 1]))
            return false;
    }
    return t->n > 0 && publish(d, &b->tx, t);
}

static void send_frames(struct drill *d)
{
    struct bare *b = bare_of(d);
    struct batch t;

    if (!offer_frames(d, &t, 1 + drill_below(d, 4)))
        return;
    kick(d, &b->tx);
    if (drill_settle(d) && frames_left(d, "all frames that a driver offers leave"))
        (void)check_used(d, &b->tx, &t);
}

/* --- Reception -------------------------------------------------------------------------------- */

/* Adds an empty receive buffer and draws the frame for it.  Sometimes the buffer is too short. */
static bool add_empty(struct drill *d, struct batch *t)
{
    struct bare *b = bare_of(d);
    struct bare_frame *f = &b->asked[t->n];
    uint32_t whole, room;
    const struct bare_chain *c;

    make_frame(d, host_mac, f);
    whole = NET_HDR_BYTES + f->bytes;
    room = drill_one_in(d, 8) ? 1 + drill_below(d, whole - 1) : whole + drill_below(d, 40);
    c = add_chain(d, &b->rx, t, room, true);
    if (!c)
        return false;
    t->len[t->n - 1] = room < whole ? 0 : whole;
    return bare_chain_put(d, &b->rx, c);
}

static bool deliver(struct drill *d, const struct bare_frame *f)
{
    return drill_works(d, rdl_port_receive(d->lab, bare_of(d)->port, f->b, f->bytes),
                       "a frame can come in");
}

/* Writes the expected received frames into the model of the zone. */
static void expect_frames(struct drill *d, const struct batch *t)
{
    const struct bare *b = bare_of(d);
    uint8_t bytes[NET_HDR_BYTES + BARE_FRAME] = {[NET_HDR_NUM_BUFFERS] = 1};

    for (uint32_t i = 0; i < t->n; i++) {
        memcpy(bytes + NET_HDR_BYTES, b->asked[i].b, b->asked[i].bytes);
        bare_chain_fill(d, &t->chains[i], bytes, t->len[i]);
    }
}

static void receive_frames(struct drill *d)
{
    struct bare *b = bare_of(d);
    struct batch t;

    begin(d, &b->rx, &t);
    for (uint32_t n = 1 + drill_below(d, 4); n > 0 && add_empty(d, &t); n--)
        ;
    if (d->wrong || t.n == 0 || !publish(d, &b->rx, &t))
        return;
    if (drill_one_in(d, 3))
        kick(d, &b->rx);
    expect_frames(d, &t);
    for (uint32_t i = 0; i < t.n; i++) {
        if (!deliver(d, &b->asked[i]))
            return;
    }
    if (drill_settle(d))
        (void)check_used(d, &b->rx, &t);
}

/* --- Errors ----------------------------------------------------------------------------------- */

static bool is_broken_by(struct drill *d, const struct bare_ring *r, uint32_t error)
{
    struct rdl_value v = {0};
    size_t at;

    if (!drill_works(d,
                     rdl_inspect(d->lab,
                                 r->queue == NET_QUEUE_TX ? "h1.net.tx.broken" : "h1.net.rx.broken",
                                 &v, &at),
                     "a queue can be inspected") ||
        !drill_expect(d, v.number == error, "a device says what is wrong with a ring",
                      "%s, and not %s", v.text, enum_name(&enum_vq_error, error)))
        return false;
    return status_is(d,
                     VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK | VS_DRIVER_OK |
                         VS_DEVICE_NEEDS_RESET,
                     "a device that finds a broken ring needs a reset") &&
           used_idx_is(d, r, r->used_idx, "a broken ring gets nothing back") && bare_zone_holds(d);
}

/* Breaks the available ring itself: its index is too far ahead, or a head is not a valid index. */
static bool spoil_ring(struct drill *d, struct bare_ring *r, uint32_t *ret_error)
{
    const uint32_t at = (uint16_t)(r->avail_idx - 1) % r->size;

    if (drill_one_in(d, 2)) {
        *ret_error = VQE_BAD_HEAD;
        return bare_put16(d, r->avail + 4 + 2 * (uint64_t)at,
                          (uint16_t)(r->size + (drill_one_in(d, 2) ? 0 : drill_below(d, 1000))));
    }
    *ret_error = VQE_AVAIL_RUNS_AWAY;
    return bare_put16(d, r->avail + 2,
                      (uint16_t)(r->used_idx + r->size + 1 + drill_below(d, r->size)));
}

static bool start(struct drill *d);

/* Offers a forbidden chain or ring.  The device must report it and stop; then resets it. */
static void break_ring(struct drill *d)
{
    struct bare *b = bare_of(d);
    const bool sends = drill_one_in(d, 2);
    struct bare_ring *r = sends ? &b->tx : &b->rx;
    const bool ring = drill_one_in(d, 5);
    uint32_t error = VQE_NONE;
    struct batch t;

    begin(d, r, &t);
    if (!(sends ? add_sent(d, &t) : add_empty(d, &t)))
        return;
    if (!ring)
        error = bare_chain_spoil(d, r, !sends, &t.chains[0]);
    if (!bare_chain_put(d, r, &t.chains[0]) || !publish(d, r, &t) ||
        (ring && !spoil_ring(d, r, &error)))
        return;
    if (sends)
        kick(d, r);
    else if (!deliver(d, &b->asked[0]))
        return;
    b->n_asked = 0;
    if (drill_settle(d) && frames_left(d, "nothing leaves by a chain that is broken") &&
        is_broken_by(d, r, error))
        (void)start(d);
}

/* --- Configuration space ---------------------------------------------------------------------- */

/* Sets the link up or down and checks that the device reports the change. */
static bool change_link(struct drill *d, bool up)
{
    const struct bare *b = bare_of(d);
    uint64_t before, after, isr;

    if (drill_one_in(d, 2))
        (void)reg(d, BAR_ISR, 1);
    before = reg(d, REG_CONFIG_GENERATION, 1);
    if (!drill_works(d, rdl_link_raise(d->lab, b->link, up), "a link can be taken down and up") ||
        !drill_settle(d))
        return false;
    after = reg(d, REG_CONFIG_GENERATION, 1);
    isr = reg(d, BAR_ISR, 1);
    return drill_expect(d, after != before, "the generation of the configuration changes with it",
                        "it is still %u", (unsigned)after) &&
           drill_expect(d, isr & 2, "a change of the configuration is in the interrupt status",
                        "that is %u", (unsigned)isr) &&
           drill_expect(d, reg(d, BAR_ISR, 1) == 0, "reading the interrupt status clears it",
                        "it is not 0") &&
           drill_expect(d, (reg(d, BAR_DEVICE + NET_CONFIG_STATUS, 2) & NET_STATUS_LINK_UP) == up,
                        "the configuration says whether the link is up", "it says %s",
                        up ? "down" : "up");
}

static void change_link_twice(struct drill *d)
{
    if (change_link(d, false))
        (void)change_link(d, true);
}

/* --- Setup ------------------------------------------------------------------------------------ */

/* Offers more chains than a 16-bit index can count.  They are too short for a frame, so that the
 * device uses them at once.
 */
static void spin(struct drill *d)
{
    struct bare *b = bare_of(d);
    struct bare_ring *r = &b->tx;
    uint8_t desc[16] = {0};

    if (r->size < 16)
        return;
    st_le64(desc, b->zone_at);
    st_le32(desc + 8, 5);
    for (uint32_t i = 0; i < r->size; i++) {
        if (!bare_ram_put(d, r->desc + 16 * (uint64_t)i, desc, sizeof(desc)) ||
            !bare_put16(d, r->avail + 4 + 2 * (uint64_t)i, (uint16_t)i))
            return;
    }
    if (!bare_put16(d, r->avail, !b->event_idx) ||
        (b->event_idx && !bare_put16(d, r->avail + 4 + 2 * (uint64_t)r->size, 1)))
        return;
    for (uint32_t n = 0; n < SPINS; n += r->size) {
        r->avail_idx = r->used_idx = (uint16_t)(r->avail_idx + r->size);
        if (!bare_put16(d, r->avail + 2, r->avail_idx))
            return;
        kick(d, r);
        if (!drill_settle(d) ||
            !used_idx_is(d, r, r->used_idx, "indexes of a ring come round to 0 after 65535"))
            return;
    }
}

/* Offers chains and kicks before DRIVER_OK.  The device must ignore the kick. */
static bool kick_too_early(struct drill *d, struct batch *t)
{
    const struct bare *b = bare_of(d);

    if (!offer_frames(d, t, 1 + drill_below(d, 2)))
        return false;
    kick(d, &b->tx);
    if (drill_one_in(d, 2) && !drill_settle(d))
        return false;
    return used_idx_is(d, &b->tx, 0, "a device does nothing before DRIVER_OK");
}

/* Initialises the device from reset to DRIVER_OK. */
static bool start(struct drill *d)
{
    struct bare *b = bare_of(d);
    uint64_t at = RINGS_AT + drill_below(d, 4096);
    const bool early = drill_one_in(d, 3);
    struct batch t;

    b->zone_at = ZONE_AT + drill_below(d, 8192);
    if (!negotiate(d) || !add_ring(d, &b->rx, NET_QUEUE_RX, &at) ||
        !add_ring(d, &b->tx, NET_QUEUE_TX, &at) || (early && !kick_too_early(d, &t)))
        return false;
    reg_put(d, REG_CONFIG_MSIX_VECTOR, 2, drill_one_in(d, 2) ? VIRTIO_NO_VECTOR : 0);
    reg_put(d, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK | VS_DRIVER_OK);
    if (!early || !drill_settle(d))
        return !d->wrong;
    if (!drill_expect(d, b->n_left == 0, "a kick before DRIVER_OK is not heard",
                      "%u frames left the host", b->n_left))
        return false;
    kick(d, &b->tx);
    return drill_settle(d) && frames_left(d, "all frames that a driver offers leave") &&
           check_used(d, &b->tx, &t);
}

static bool add_port(struct drill *d)
{
    const struct rdl_link_config link = {.a = "h1", .b = "out", .latency_ns = 100};
    const struct rdl_port_config port = {.name = "out"};
    struct bare *b = bare_of(d);

    return drill_works(d, rdl_port_add(d->lab, &port, &b->port), "a port can be added") &&
           drill_works(d, rdl_link_add(d->lab, &link, &b->link), "a link can be added") &&
           drill_works(d, rdl_port_read(d->lab, b->port, on_frame, b), "a port can be read") &&
           drill_settle(d);
}

static void set_up(struct drill *d)
{
    struct bare *b = bare_of(d);
    struct rdl_host_config host = {.name = "h1", .ram_bytes = RAM_BYTES};

    if (drill_one_in(d, 4))
        host.features_off |= BIT(VF_EVENT_IDX);
    if (drill_one_in(d, 4))
        host.features_off |= BIT(VF_INDIRECT_DESC);
    b->ram_bytes = RAM_BYTES;
    b->offered = (BIT(VF_INDIRECT_DESC) | BIT(VF_EVENT_IDX) | BIT(VF_VERSION_1) |
                  BIT(VF_RING_RESET) | BIT(NF_MTU) | BIT(NF_MAC) | BIT(NF_STATUS)) &
                 ~host.features_off;
    d->n_unsaid++;
    if (!drill_works(d, rdl_host_add(d->lab, &host, &b->host), "a host can be added") ||
        !add_port(d) || !start(d))
        return;
    if (drill_one_in(d, SPIN_ONE_IN))
        spin(d);
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {send_frames,    send_frames, receive_frames,
                                                    receive_frames, break_ring,  change_link_twice};

    d->n_unsaid++;
    steps[drill_below(d, ARRAY_LEN(steps))](d);
}

const struct rings_part rings_of_driver = {set_up, take};
