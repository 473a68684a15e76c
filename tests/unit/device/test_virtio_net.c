/* SPDX-License-Identifier: MIT */
/* virtio-net: its configuration, frames out of the transmit queue, frames into receive buffers. */
#define _GNU_SOURCE /* for mmap */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "machine.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/virtio/net.h"
#include "emu/facts/virtio/net_feature.h"

#define OUT_AT BUFFER_AT
#define IN_AT  (BUFFER_AT + 0x8000u)

static const uint8_t other_mac[MAC_BYTES] = {2, 0, 0, 0, 0, 2};

/* Writes a virtio-net header and a frame of @len bytes (0: no frame) to another station. */
static void put_frame(struct machine *m, uint32_t len)
{
    uint8_t bytes[NET_HDR_BYTES + 2048] = {0};

    assert_true(NET_HDR_BYTES + len <= sizeof(bytes));
    for (uint32_t i = 0; i < len; i++)
        bytes[NET_HDR_BYTES + i] = i < MAC_BYTES ? other_mac[i] : (uint8_t)i;
    machine_poke(m, OUT_AT, bytes, NET_HDR_BYTES + len);
}

/* Sends what is at OUT_AT and expects that its buffer comes back. */
static void send_bytes(struct machine *m, uint32_t n)
{
    const struct seg seg = {OUT_AT, n};
    uint32_t head, len;

    ring_post(m, &m->tx, &seg, 1, 0);
    ring_kick(&m->tx);
    machine_run(m);
    assert_true(ring_used(m, &m->tx, &head, &len));
    assert_int_equal(len, 0);
}

static void arrive(struct machine *m, uint32_t len)
{
    uint8_t bytes[100];

    assert_true(len <= sizeof(bytes));
    for (uint32_t i = 0; i < len; i++)
        bytes[i] = i < MAC_BYTES ? machine_mac[i] : (uint8_t)i;
    machine_arrive(m, bytes, len);
}

static void the_configuration_tells_address_mtu_and_link(void **state)
{
    struct machine *m = *state;
    struct virtio_dev *dev = &m->vnet.pci;

    for (uint32_t i = 0; i < MAC_BYTES; i++)
        assert_int_equal(virtio_read(dev, BAR_DEVICE + NET_CONFIG_MAC + i, 1), machine_mac[i]);
    assert_int_equal(virtio_read(dev, BAR_DEVICE + NET_CONFIG_STATUS, 2), 0);
    assert_int_equal(virtio_read(dev, BAR_DEVICE + NET_CONFIG_PAIRS, 2), 1);
    assert_int_equal(virtio_read(dev, BAR_DEVICE + NET_CONFIG_MTU, 2), MACHINE_MTU);
    vnet_link_changed(&m->vnet, true);
    assert_int_equal(virtio_read(dev, BAR_DEVICE + NET_CONFIG_STATUS, 2), NET_STATUS_LINK_UP);
    assert_int_equal(machine_in(dev, REG_CONFIG_GENERATION, 1), 1);
    machine_run(m);
    assert_int_equal(m->n_irq, 1);
    assert_int_equal(m->irq.number, pci_number_of(FN_NET));
    assert_int_equal(m->irq.queue, VIRTIO_IRQ_CONFIG);
    machine_out(dev, REG_DEVICE_STATUS, 1, 0); /* a reset does not unplug the line */
    assert_int_equal(virtio_read(dev, BAR_DEVICE + NET_CONFIG_STATUS, 2), NET_STATUS_LINK_UP);
}

/* It interrupts, and the configuration has another generation, whatever becomes of the line. */
static void a_driver_is_told_of_a_line_that_goes_down_too(void **state)
{
    struct machine *m = *state;
    struct virtio_dev *dev = &m->vnet.pci;

    for (uint32_t n = 1; n <= 4; n++) {
        const bool up = n % 2 == 1;

        vnet_link_changed(&m->vnet, up);
        machine_run(m);
        assert_int_equal(virtio_read(dev, BAR_DEVICE + NET_CONFIG_STATUS, 2),
                         up ? NET_STATUS_LINK_UP : 0);
        assert_int_equal(machine_in(dev, REG_CONFIG_GENERATION, 1), n);
        assert_int_equal(m->n_irq, n);
        assert_int_equal(m->irq.queue, VIRTIO_IRQ_CONFIG);
    }
}

static void its_own_features_are_offered_with_the_common_ones(void **state)
{
    const uint64_t own = VIRTIO_FEATURE(NF_MTU) | VIRTIO_FEATURE(NF_MAC) |
                         VIRTIO_FEATURE(NF_STATUS) | VIRTIO_FEATURE(NF_MRG_RXBUF);
    struct machine *m = *state;

    assert_int_equal(m->vnet.pci.offered, VIRTIO_FEATURES_ALL | own);
    assert_int_equal(m->rdma.pci.offered, VIRTIO_FEATURES_ALL | rdma_features(&m->rdma.config));
    assert_int_equal(machine_in(&m->vnet.pci, REG_NUM_QUEUES, 2), 2);
}

static void a_frame_leaves_as_it_was_posted(void **state)
{
    const struct seg seg = {OUT_AT, NET_HDR_BYTES + 100};
    struct machine *m = *state;
    const uint64_t t0 = sim_now(&m->sim);

    put_frame(m, 100);
    ring_post(m, &m->tx, &seg, 1, 0);
    ring_kick(&m->tx);
    sim_dispatch(&m->sim);
    assert_false(m->vnet.tx_ready);   /* it has looked: there is no other */
    assert_false(m->port.egress_due); /* nor does the port wait for one */
    machine_run(m);
    assert_int_equal(m->n_out, 1);
    assert_int_equal(m->out_bytes, 100);
    assert_memory_equal(m->out, other_mac, MAC_BYTES);
    for (uint32_t i = MAC_BYTES; i < 100; i++)
        assert_int_equal(m->out[i], i);
    assert_true(m->last[EV_eth_tx].at_ns == t0 + VNET_DOORBELL_NS);
    assert_int_equal(m->last[EV_eth_tx].u.eth_tx.wire_bytes, 100);
    assert_int_equal(m->out_note.host, 0);
    assert_int_equal(m->vnet.tx_frames, 1);
    assert_int_equal(m->n_irq, 1); /* the buffer is back */
}

static void what_is_no_frame_comes_back_unsent(void **state)
{
    static const struct {
        uint32_t bytes;
        uint8_t flags, gso_type;
        enum drop_reason reason;
    } rows[] = {
        {1, 0, 0, DROP_SHORT},
        {NET_HDR_BYTES - 1, 0, 0, DROP_SHORT},
        {NET_HDR_BYTES + 13, 0, 0, DROP_SHORT},
        {NET_HDR_BYTES + 14, 0, 0, DROP_NONE},
        {NET_HDR_BYTES + 14 + MACHINE_MTU, 0, 0, DROP_NONE},
        {NET_HDR_BYTES + 14 + MACHINE_MTU + 1, 0, 0, DROP_TOO_LONG},
        {NET_HDR_BYTES + 60, 1, 0, DROP_BAD_NET_HEADER},
        {NET_HDR_BYTES + 60, 0, 1, DROP_BAD_NET_HEADER},
    };
    struct machine *m = *state;
    uint32_t n_sent = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint8_t header[2] = {rows[i].flags, rows[i].gso_type};

        put_frame(m, 2000);
        machine_poke(m, OUT_AT, header, sizeof(header));
        send_bytes(m, rows[i].bytes);
        if (rows[i].reason == DROP_NONE)
            n_sent++;
        else
            assert_int_equal(m->last[EV_drop].u.drop.reason, rows[i].reason);
        assert_int_equal(m->n_out, n_sent);
    }
    assert_int_equal(m->vnet.tx_drops[DROP_SHORT], 3);
    assert_int_equal(m->vnet.tx_drops[DROP_TOO_LONG], 1);
    assert_int_equal(m->vnet.tx_drops[DROP_BAD_NET_HEADER], 2);
}

/* One that is dropped does not keep those behind it from being sent. */
static void one_kick_sends_all_that_waits(void **state)
{
    const struct seg good = {OUT_AT, NET_HDR_BYTES + 60}, bad = {OUT_AT, 3};
    struct machine *m = *state;
    uint32_t head, len;

    put_frame(m, 60);
    ring_post(m, &m->tx, &bad, 1, 0);
    ring_post(m, &m->tx, &good, 1, 0);
    ring_post(m, &m->tx, &bad, 1, 0);
    ring_post(m, &m->tx, &good, 1, 0);
    ring_kick(&m->tx);
    machine_run(m);
    assert_int_equal(m->n_out, 2);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(ring_used(m, &m->tx, &head, &len));
        assert_int_equal(head, i);
    }
    assert_false(m->vnet.tx_ready);
}

static void a_frame_is_written_behind_a_header_of_its_own(void **state)
{
    const struct seg parts[] = {{IN_AT, 7}, {IN_AT + 7, NET_HDR_BYTES - 7 + 100}};
    uint8_t got[NET_HDR_BYTES + 100];
    struct machine *m = *state;
    uint32_t head, len;

    ring_post(m, &m->rx, parts, 0, 2);
    arrive(m, 100);
    machine_run(m);
    assert_true(ring_used(m, &m->rx, &head, &len));
    assert_int_equal(len, sizeof(got));
    machine_peek(m, IN_AT, got, sizeof(got));
    for (uint32_t i = 0; i < NET_HDR_BYTES; i++)
        assert_int_equal(got[i], i == NET_HDR_NUM_BUFFERS ? 1 : 0);
    assert_memory_equal(got + NET_HDR_BYTES, machine_mac, MAC_BYTES);
    assert_int_equal(got[sizeof(got) - 1], 99);
    assert_int_equal(m->vnet.rx_frames, 1);
    assert_int_equal(m->port.taken_frames, 1);
    assert_int_equal(m->n_irq, 1);
    assert_int_equal(m->irq.queue, NET_QUEUE_RX);
}

static void a_buffer_that_is_too_small_comes_back_empty(void **state)
{
    const struct seg small = {IN_AT, NET_HDR_BYTES + 99};
    struct machine *m = *state;
    uint32_t head, len;

    ring_post(m, &m->rx, &small, 0, 1);
    arrive(m, 100);
    assert_true(ring_used(m, &m->rx, &head, &len));
    assert_int_equal(len, 0);
    assert_int_equal(m->port.drops[DROP_TOO_LONG], 1);
    assert_int_equal(m->port.taken_frames, 0);
    arrive(m, 100); /* and there is no other */
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 1);
    assert_false(rdma_broken(&m->rdma));
}

/* Of MACHINE_MTU and a header: to a driver that accepts MTU, or that does not.  The buffer has room
 * for more.
 */
static void a_frame_longer_than_the_mtu_is_dropped_if_the_driver_knows_it(void **state)
{
    static const struct {
        uint64_t features;
        uint32_t bytes;
        bool taken;
    } rows[] = {
        {VIRTIO_FEATURE(NF_MTU), 14 + MACHINE_MTU, true},
        {VIRTIO_FEATURE(NF_MTU), 14 + MACHINE_MTU + 1, false},
        {0, 14 + MACHINE_MTU + 1, true},
    };
    const struct seg large = {IN_AT, 2048};
    uint8_t frame[14 + MACHINE_MTU + 1] = {0};
    struct machine *m = *state;

    memcpy(frame, machine_mac, MAC_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint64_t dropped = m->port.drops[DROP_TOO_LONG];
        uint32_t head, len;

        machine_out(&m->vnet.pci, REG_DEVICE_STATUS, 1, 0);
        machine_run(m);
        machine_start(m, &m->vnet.pci, rows[i].features, (struct ring *const[]){&m->rx, &m->tx}, 2);
        ring_post(m, &m->rx, &large, 0, 1);
        machine_arrive(m, frame, rows[i].bytes);
        assert_int_equal(ring_used(m, &m->rx, &head, &len), rows[i].taken);
        assert_int_equal(m->port.drops[DROP_TOO_LONG], dropped + !rows[i].taken);
    }
}

/* A driver that takes mergeable buffers; a reset takes the rings back. */
static void merge(struct machine *m)
{
    machine_out(&m->vnet.pci, REG_DEVICE_STATUS, 1, 0);
    machine_run(m);
    m->n_irq = 0;
    machine_start(m, &m->vnet.pci, VIRTIO_FEATURE(NF_MRG_RXBUF),
                  (struct ring *const[]){&m->rx, &m->tx}, 2);
}

/* Expects that chain @want_head is next, with @want_len bytes. */
static void expect_used(struct machine *m, uint32_t want_head, uint32_t want_len)
{
    uint32_t head, len;

    assert_true(ring_used(m, &m->rx, &head, &len));
    assert_int_equal(head, want_head);
    assert_int_equal(len, want_len);
}

/* num_buffers is cut in two, and the last buffer is not filled. */
static void a_frame_fills_as_many_buffers_as_it_needs(void **state)
{
    const struct seg first[] = {{IN_AT, NET_HDR_NUM_BUFFERS + 1}, {IN_AT + 100, 21}};
    const struct seg middle = {IN_AT + 300, 30}, last = {IN_AT + 400, 60};
    struct machine *m = *state;
    uint8_t header[NET_HDR_BYTES], got[100];
    uint32_t head, len;

    merge(m);
    ring_post(m, &m->rx, first, 0, 2);
    ring_post(m, &m->rx, &middle, 0, 1);
    ring_post(m, &m->rx, &last, 0, 1);
    ring_post(m, &m->rx, &last, 0, 1);
    arrive(m, 100);
    machine_run(m);
    expect_used(m, 0, NET_HDR_BYTES + 20);
    expect_used(m, 2, 30);
    expect_used(m, 3, 50);
    assert_false(ring_used(m, &m->rx, &head, &len));
    machine_peek(m, IN_AT, header, 11);
    machine_peek(m, IN_AT + 100, header + 11, 1);
    assert_int_equal(ld_le16(header + NET_HDR_NUM_BUFFERS), 3);
    machine_peek(m, IN_AT + 101, got, 20);
    machine_peek(m, IN_AT + 300, got + 20, 30);
    machine_peek(m, IN_AT + 400, got + 50, 50);
    assert_memory_equal(got, machine_mac, MAC_BYTES);
    for (uint32_t i = MAC_BYTES; i < 100; i++)
        assert_int_equal(got[i], i);
    assert_int_equal(m->last[EV_eth_rx].u.eth_rx.desc, 0);
    assert_int_equal(m->last[EV_eth_rx].u.eth_rx.more, 2);
    assert_int_equal(m->last[EV_used].u.used.used_idx, 3);
    assert_int_equal(m->n_irq, 1); /* for all of them */
    assert_int_equal(m->vnet.rx_frames, 1);
}

/* They are not given back with a part of a frame, and serve the next one. */
static void buffers_that_are_too_few_stay_the_devices(void **state)
{
    const struct seg seg = {IN_AT, 50};
    struct machine *m = *state;
    uint32_t head, len;

    merge(m);
    ring_post(m, &m->rx, &seg, 0, 1);
    ring_post(m, &m->rx, &seg, 0, 1);
    for (unsigned i = 1; i < 3; i++) {
        arrive(m, 100);
        assert_false(ring_used(m, &m->rx, &head, &len));
        assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], i);
    }
    arrive(m, 20);
    expect_used(m, 0, NET_HDR_BYTES + 20);
    ring_post(m, &m->rx, &seg, 0, 1);
    arrive(m, 60);
    expect_used(m, 1, 50);
    expect_used(m, 2, NET_HDR_BYTES + 60 - 50);
    assert_int_equal(m->vnet.rx_frames, 2);
    assert_true(virtio_running(&m->vnet.pci));
}

static void the_header_has_to_fit_the_first_buffer(void **state)
{
    const struct seg small = {IN_AT, NET_HDR_BYTES - 1}, good = {IN_AT, NET_HDR_BYTES};
    struct machine *m = *state;

    merge(m);
    ring_post(m, &m->rx, &small, 0, 1);
    ring_post(m, &m->rx, &good, 0, 1);
    ring_post(m, &m->rx, &(struct seg){IN_AT + 100, 100}, 0, 1);
    arrive(m, 100);
    expect_used(m, 0, 0);
    assert_int_equal(m->port.drops[DROP_TOO_LONG], 1);
    arrive(m, 100);
    expect_used(m, 1, NET_HDR_BYTES);
    expect_used(m, 2, 100);
}

static void a_bad_buffer_in_the_middle_of_a_frame_breaks_the_queue(void **state)
{
    const struct seg seg = {IN_AT, 50};
    struct machine *m = *state;
    uint32_t head, len;

    merge(m);
    ring_post(m, &m->rx, &seg, 0, 1);
    ring_post(m, &m->rx, &seg, 1, 0);
    arrive(m, 100);
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.error, VQE_WRONG_DIRECTION);
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 1);
    assert_false(ring_used(m, &m->rx, &head, &len));
}

static void a_buffer_of_the_wrong_direction_breaks_its_queue(void **state)
{
    const struct seg seg = {OUT_AT, NET_HDR_BYTES + 60};
    struct machine *m = *state;
    uint32_t head, len;

    ring_post(m, &m->tx, &seg, 0, 1); /* the device would have to write what it should read */
    ring_kick(&m->tx);
    machine_run(m);
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.error, VQE_WRONG_DIRECTION);
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.queue, NET_QUEUE_TX);
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.function, FN_NET);
    assert_false(virtio_running(&m->vnet.pci));
    assert_true(virtio_running(&m->rdma.pci)); /* the other function goes on */
    assert_false(ring_used(m, &m->tx, &head, &len));
    arrive(m, 60);
    assert_int_equal(m->port.drops[DROP_NO_DRIVER], 1);
}

static void a_receive_buffer_of_the_wrong_direction_breaks_its_queue_too(void **state)
{
    const struct seg seg = {IN_AT, 2000};
    struct machine *m = *state;

    ring_post(m, &m->rx, &seg, 1, 0);
    arrive(m, 60);
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.error, VQE_WRONG_DIRECTION);
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.queue, NET_QUEUE_RX);
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 1);
}

/* The device looks whether there is another frame when it has taken one: what it finds is told. */
static void an_index_that_runs_away_behind_a_frame_breaks_its_queue(void **state)
{
    const struct seg seg = {OUT_AT, NET_HDR_BYTES + 60};
    struct machine *m = *state;
    uint8_t far_away[2];

    put_frame(m, 60);
    ring_post(m, &m->tx, &seg, 1, 0);
    ring_post(m, &m->tx, &seg, 1, 0);
    ring_kick(&m->tx);
    while (m->port.sent_frames == 0)
        sim_dispatch(&m->sim);
    st_le16(far_away, (uint16_t)(m->tx.avail_idx + RING_SIZE + 1));
    machine_poke(m, vring_avail_idx_at(&m->tx.at), far_away, sizeof(far_away));
    machine_run(m);
    assert_int_equal(m->n_out, 2);
    assert_int_equal(m->events[EV_vq_broken], 1);
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.error, VQE_AVAIL_RUNS_AWAY);
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.queue, NET_QUEUE_TX);
    assert_false(virtio_running(&m->vnet.pci));
    assert_int_equal(m->irq.vector, VECTOR_CONFIG);
}

/* Where the device says of which frame it wants to hear, behind the elements of the used ring. */
#define EVENT_AT 0x13000u

static struct machine *interrupted;
static uint8_t *foreign_bytes;

/* The device is about to write there.  Before it can, there is a frame. */
static void on_write(int signal)
{
    const struct seg seg = {OUT_AT, NET_HDR_BYTES + 60};

    (void)signal;
    (void)mprotect(foreign_bytes + EVENT_AT, RAM_PAGE_BYTES, PROT_READ | PROT_WRITE);
    ring_post(interrupted, &interrupted->tx, &seg, 1, 0);
}

/* A driver with EVENT_IDX and a transmit queue, in RAM that is another program's. */
static void start_foreign(struct machine *m, struct arena *a)
{
    struct virtio_dev *dev = &m->vnet.pci;
    struct ram_region all = {0, MACHINE_RAM_BYTES, foreign_bytes, true};

    machine_out(dev, REG_DEVICE_STATUS, 1, 0);
    machine_run(m);
    assert_true(ram_init_foreign(&m->ram, a));
    ram_map(&m->ram, &all, 1);
    machine_start(m, dev, VIRTIO_FEATURE(VF_EVENT_IDX) | VIRTIO_FEATURE(VF_RING_RESET), NULL, 0);
    m->tx = (struct ring){dev, NET_QUEUE_TX, ring_place(dev, NET_QUEUE_TX), 0, 0, 0};
    m->tx.at.used = EVENT_AT - (vring_avail_event_at(&m->tx.at) - m->tx.at.used);
    machine_out(dev, REG_QUEUE_SELECT, 2, NET_QUEUE_TX);
    machine_out(dev, REG_QUEUE_SIZE, 2, RING_SIZE);
    machine_out(dev, REG_QUEUE_DESC, 8, m->tx.at.desc);
    machine_out(dev, REG_QUEUE_DRIVER, 8, m->tx.at.avail);
    machine_out(dev, REG_QUEUE_DEVICE, 8, m->tx.at.used);
    machine_out(dev, REG_QUEUE_ENABLE, 2, 1);
}

/* Its driver runs at the same time, and offers a frame between two looks of the device: it was not
 * asked to kick, so that the device must send what it sees.
 */
static void a_frame_that_comes_while_the_device_asks_is_sent(void **state)
{
    const struct sigaction trap = {.sa_handler = on_write};
    const struct seg seg = {OUT_AT, NET_HDR_BYTES + 60};
    struct machine *m = interrupted = *state;
    const struct ram own = m->ram;
    struct arena *a = arena_new((size_t)1 << 24);
    struct sigaction before;
    uint32_t head, len;

    foreign_bytes =
        mmap(NULL, MACHINE_RAM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(foreign_bytes != MAP_FAILED);
    start_foreign(m, a);
    put_frame(m, 60);
    ring_post(m, &m->tx, &seg, 1, 0);
    assert_int_equal(sigaction(SIGSEGV, &trap, &before), 0);
    assert_int_equal(mprotect(foreign_bytes + EVENT_AT, RAM_PAGE_BYTES, PROT_READ), 0);
    ring_kick(&m->tx);
    machine_run(m);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
    assert_int_equal(m->tx.avail_idx, 2);
    assert_int_equal(m->n_out, 2);
    assert_true(ring_used(m, &m->tx, &head, &len));
    assert_true(ring_used(m, &m->tx, &head, &len));
    assert_int_equal(head, 1);
    machine_out(&m->vnet.pci, REG_DEVICE_STATUS, 1, 0);
    m->ram = own;
    arena_free(a);
    munmap(foreign_bytes, MACHINE_RAM_BYTES);
}

/* A driver that only sends. */
static void without_a_receive_queue_there_is_no_buffer(void **state)
{
    struct machine *m = *state;

    machine_out(&m->vnet.pci, REG_DEVICE_STATUS, 1, 0);
    machine_start(m, &m->vnet.pci, 0, (struct ring *const[]){&m->tx}, 1);
    arrive(m, 60);
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 1);
    assert_int_equal(m->events[EV_vq_broken], 0);
    assert_true(virtio_running(&m->vnet.pci));
}

/* Resets the device and starts it again with a frame in its ring, which no kick has told of. */
static void restart_without_a_kick(struct machine *m)
{
    const struct seg seg = {OUT_AT, NET_HDR_BYTES + 60};
    const uint64_t n = m->port.sent_frames;

    machine_out(&m->vnet.pci, REG_DEVICE_STATUS, 1, 0);
    machine_run(m);
    machine_start(m, &m->vnet.pci, 0, (struct ring *const[]){&m->rx, &m->tx}, 2);
    ring_post(m, &m->tx, &seg, 1, 0);
    eth_port_pump(&m->port); /* as another function does when it has frames */
    machine_run(m);
    assert_int_equal(m->port.sent_frames, n);
    ring_kick(&m->tx);
    machine_run(m);
    assert_int_equal(m->port.sent_frames, n + 1);
}

static void a_reset_takes_back_the_kicks_that_came_before_it(void **state)
{
    const struct seg seg = {OUT_AT, NET_HDR_BYTES + 60};
    struct machine *m = *state;

    put_frame(m, 60);
    ring_post(m, &m->tx, &seg, 1, 0);
    ring_kick(&m->tx);
    restart_without_a_kick(m); /* before the doorbell rang */
    assert_int_equal(m->port.sent_frames, 1);
    ring_post(m, &m->tx, &seg, 1, 0);
    ring_post(m, &m->tx, &seg, 1, 0);
    ring_kick(&m->tx);
    sim_dispatch(&m->sim); /* the doorbell: one frame is under way, the other waits for its turn */
    assert_true(m->vnet.tx_ready);
    restart_without_a_kick(m);
}

/* What waits in it is not sent, nor what is in its next ring before a kick tells of that; the other
 * queue goes on.
 */
static void a_send_queue_that_is_reset_begins_anew(void **state)
{
    const struct seg seg = {OUT_AT, NET_HDR_BYTES + 60};
    struct machine *m = *state;
    struct virtio_dev *dev = &m->vnet.pci;
    struct ring next;

    put_frame(m, 60);
    for (uint32_t i = 0; i < 3; i++)
        ring_post(m, &m->tx, &seg, 1, 0);
    ring_kick(&m->tx);
    sim_dispatch(&m->sim); /* the doorbell: one frame is under way, the others wait */
    assert_true(m->vnet.tx_ready);
    machine_out(dev, REG_QUEUE_SELECT, 2, NET_QUEUE_RX);
    machine_out(dev, REG_QUEUE_RESET, 2, 1);
    assert_true(m->vnet.tx_ready);
    machine_out(dev, REG_QUEUE_SELECT, 2, NET_QUEUE_TX);
    machine_out(dev, REG_QUEUE_RESET, 2, 1);
    assert_false(m->vnet.tx_ready);
    machine_run(m);
    assert_int_equal(m->port.sent_frames, 1);

    next = ring_enable(m, dev, NET_QUEUE_TX);
    ring_post(m, &next, &seg, 1, 0);
    eth_port_pump(&m->port);
    machine_run(m);
    assert_int_equal(m->port.sent_frames, 1);
    ring_kick(&next);
    machine_run(m);
    assert_int_equal(m->port.sent_frames, 2);
}

static void a_receive_queue_asks_for_no_kicks_and_hears_none(void **state)
{
    struct machine *m = *state;
    uint8_t flags[2];

    machine_peek(m, m->rx.at.used, flags, sizeof(flags));
    assert_int_equal(ld_le16(flags), VRING_USED_NO_NOTIFY);
    machine_peek(m, m->tx.at.used, flags, sizeof(flags));
    assert_int_equal(ld_le16(flags), 0);
    ring_kick(&m->rx);
    assert_int_equal(sim_next_ns(&m->sim), UINT64_MAX);
}

/* What a device area says: place and flags, of le16 each. */
static uint32_t device_area(const struct machine *m, const struct ring *r)
{
    uint8_t area[4];

    machine_peek(m, r->at.used, area, sizeof(area));
    return ld_le32(area);
}

/* What the rings are to say of kicks they say as soon as memory can be reached. */
static void without_bus_mastering_no_ring_is_written(void **state)
{
    const uint64_t features = VIRTIO_FEATURE(VF_VERSION_1) | VIRTIO_FEATURE(VF_RING_PACKED) |
                              VIRTIO_FEATURE(VF_EVENT_IDX);
    const unsigned status = VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK;
    struct machine *m = *state;
    struct virtio_dev *dev = &m->vnet.pci;

    machine_out(dev, REG_DEVICE_STATUS, 1, 0);
    dev->offered |= features; /* as of a host with packed rings */
    virtio_set_mastering(dev, false);
    machine_out(dev, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER);
    for (uint32_t half = 0; half < 2; half++) {
        machine_out(dev, REG_DRIVER_FEATURE_SELECT, 4, half);
        machine_out(dev, REG_DRIVER_FEATURE, 4, (uint32_t)(features >> 32 * half));
    }
    machine_out(dev, REG_DEVICE_STATUS, 1, status);
    m->rx = ring_enable(m, dev, NET_QUEUE_RX);
    m->tx = ring_enable(m, dev, NET_QUEUE_TX);
    machine_out(dev, REG_DEVICE_STATUS, 1, status | VS_DRIVER_OK);
    assert_int_equal(device_area(m, &m->rx), 0);
    assert_int_equal(device_area(m, &m->tx), 0);
    virtio_set_mastering(dev, true);
    assert_int_equal(device_area(m, &m->rx) >> 16, VRING_EVENT_DISABLE);
    assert_int_equal(device_area(m, &m->tx) >> 16, VRING_EVENT_DESC);
    assert_int_equal(device_area(m, &m->tx) & 0xffff, vring_event_of(VRING_POS_START));
}

#define T(f) cmocka_unit_test_setup_teardown(f, machine_set_up, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(the_configuration_tells_address_mtu_and_link),
        T(a_driver_is_told_of_a_line_that_goes_down_too),
        T(its_own_features_are_offered_with_the_common_ones),
        T(a_frame_leaves_as_it_was_posted),
        T(what_is_no_frame_comes_back_unsent),
        T(one_kick_sends_all_that_waits),
        T(a_frame_is_written_behind_a_header_of_its_own),
        T(a_buffer_that_is_too_small_comes_back_empty),
        T(a_frame_longer_than_the_mtu_is_dropped_if_the_driver_knows_it),
        T(a_frame_fills_as_many_buffers_as_it_needs),
        T(buffers_that_are_too_few_stay_the_devices),
        T(the_header_has_to_fit_the_first_buffer),
        T(a_bad_buffer_in_the_middle_of_a_frame_breaks_the_queue),
        T(a_buffer_of_the_wrong_direction_breaks_its_queue),
        T(a_receive_buffer_of_the_wrong_direction_breaks_its_queue_too),
        T(an_index_that_runs_away_behind_a_frame_breaks_its_queue),
        T(a_frame_that_comes_while_the_device_asks_is_sent),
        T(without_a_receive_queue_there_is_no_buffer),
        T(a_reset_takes_back_the_kicks_that_came_before_it),
        T(a_send_queue_that_is_reset_begins_anew),
        T(a_receive_queue_asks_for_no_kicks_and_hears_none),
        T(without_bus_mastering_no_ring_is_written),
    };

    return cmocka_run_group_tests_name("virtio_net", tests, NULL, NULL);
}
