/* SPDX-License-Identifier: MIT */
/* virtio-net is safe against its guest: whatever its rings and headers contain, the lab continues
 * with a defined result.
 */
#include "lab/strangers.h"

#include "emu/base/prng.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rounds.h"
#include "wire/neighbours.h"

#define ROUNDS n_rounds(300)

static const struct rdl_limits bounded = {.ticks = 20000};

static void go_on(const struct strangers *s)
{
    const enum rdl_status st = rdl_run(s->lab, rdl_now_ns(s->lab) + 1000000, bounded);

    assert_true(st == RDL_OK || st == RDL_ERR_TIMEOUT);
}

static void try_ping(struct strangers *s, uint32_t from, uint32_t to)
{
    struct rdl_ping_config c = {.bytes = 56, .timeout_ns = 100000};
    rdl_ping_id id;

    memcpy(c.address, lab_of(s, to)->guest.config.gid[0], 16);
    (void)!rdl_ping(s->lab, s->host[from], &c, &id);
    go_on(s);
}

/* Overwrites @n random bytes of one of the rings. */
static void scribble(struct host *h, struct prng *rng, uint32_t n)
{
    const struct vring *ring = &h->net->pci.queues[prng_below(rng, NET_QUEUES)].ring;
    const uint64_t parts[] = {ring->desc, ring->avail, ring->used};
    const uint64_t bytes[] = {16 * (uint64_t)ring->size, 6 + 2 * (uint64_t)ring->size,
                              6 + 8 * (uint64_t)ring->size};

    while (n-- > 0) {
        const uint64_t part = prng_below(rng, 3);
        const uint8_t b = (uint8_t)prng_next(rng);

        assert_true(ram_write(&h->ram, parts[part] + prng_below(rng, bytes[part]), &b, 1));
    }
}

static void rings_with_random_bytes_leave_the_lab_going(void **state)
{
    uint32_t broken = 0;

    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct strangers *s = strangers_new(seed % 2);
        struct prng rng = prng_stream(seed, 3);
        struct host *h = lab_of(s, 0);

        for (uint32_t i = 0; i < 6; i++) {
            const uint32_t n = 1 + (uint32_t)prng_below(&rng, 20);

            scribble(h, &rng, n);
            try_ping(s, 0, 1);
            try_ping(s, 1, 0);
        }
        broken += (h->net->pci.status & VS_DEVICE_NEEDS_RESET) != 0 || h->guest.net.broken;
        strangers_free(s);
    }
    assert_true(broken > ROUNDS / 4);
}

static void registers_take_anything(void **state)
{
    static const uint32_t widths[] = {1, 2, 4, 8};
    struct prng rng = prng_stream(8, 4);

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct strangers *s = strangers_new(true);
        struct virtio_dev *d = &lab_of(s, 0)->net->pci;

        for (uint32_t i = 0; i < 1000; i++) {
            const uint32_t end = prng_below(&rng, 2) ? 64 : 0x10010;
            const uint32_t offset = (uint32_t)prng_below(&rng, end);
            const uint32_t width = widths[prng_below(&rng, 4)];

            if (prng_below(&rng, 2))
                (void)virtio_read(d, offset, width);
            else
                virtio_write(d, offset, width, prng_next(&rng));
            if (i % 100 == 0)
                try_ping(s, i / 100 % 2, 1 - i / 100 % 2);
        }
        /* What the network brings now finds a device in any state. */
        receive(s, arp_request, sizeof(arp_request));
        go_on(s);
        rdl_lab_free(s->lab); /* invariants of the rings say nothing about a driver gone mad */
        test_free(s);
    }
}

/* Puts a chain of one readable buffer (and a writable one) straight into the transmit ring. */
static void transmit(struct host *h, const uint8_t *bytes, uint32_t n, bool writable)
{
    struct guest_net *g = &h->guest.net;
    struct vqd *q = &g->queues[NET_QUEUE_TX].vq;
    const uint64_t gpa = g->slots[NET_QUEUE_TX].gpa;
    const struct vqd_seg segs[] = {{gpa, n}, {gpa, 64}};
    uint16_t head;
    uint32_t len;

    while (vqd_take_used(q, &h->ram, &head, &len) == VQD_GOT)
        ;
    assert_true(ram_write(&h->ram, gpa, bytes, n));
    assert_true(vqd_add(q, &h->ram, segs, 1, writable, &head));
    vqd_publish(q, &h->ram);
    virtio_write(&h->net->pci, BAR_NOTIFY + NET_QUEUE_TX * NOTIFY_MULTIPLIER, 2, NET_QUEUE_TX);
}

static void what_is_no_frame_is_given_back_and_counted(void **state)
{
    static const struct {
        uint32_t n;
        size_t at; /* of a 1 in an otherwise empty header */
        enum drop_reason want;
    } rows[] = {
        {1, 40, DROP_SHORT},
        {NET_HDR_BYTES + 13, 40, DROP_SHORT},
        {100, NET_HDR_FLAGS, DROP_BAD_NET_HEADER},
        {100, NET_HDR_GSO_TYPE, DROP_BAD_NET_HEADER},
        {NET_HDR_BYTES + 14 + 4200 + 1, 40, DROP_TOO_LONG},
        {NET_HDR_BYTES + 14 + 4200, 40, DROP_NONE},
        {NET_HDR_BYTES + 14, 40, DROP_NONE},
    };
    struct strangers *s = *state;
    struct host *h = lab_of(s, 0);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint64_t sent = h->net->tx_frames, dropped = h->net->tx_drops[rows[i].want];
        uint8_t bytes[8000] = {0};

        bytes[rows[i].at] = 1;
        transmit(h, bytes, rows[i].n, false);
        go_on(s);
        assert_int_equal(h->net->tx_frames - sent, rows[i].want == DROP_NONE);
        assert_int_equal(h->net->tx_drops[rows[i].want] - dropped, rows[i].want != DROP_NONE);
        assert_int_equal(h->guest.net.queues[NET_QUEUE_TX].vq.avail_idx,
                         h->net->pci.queues[NET_QUEUE_TX].used_idx);
    }
    assert_int_equal(h->net->pci.status & VS_DEVICE_NEEDS_RESET, 0);
    transmit(h, (const uint8_t[100]){0}, 100, true);
    go_on(s);
    assert_int_equal(h->net->pci.queues[NET_QUEUE_TX].broken, VQE_WRONG_DIRECTION);
    try_ping(s, 1, 0);
    try_ping(s, 0, 1);
}

static void frames_of_random_bytes_from_a_guest_do_no_harm(void **state)
{
    struct strangers *s = *state;
    struct prng rng = prng_stream(9, 9);
    struct host *h = lab_of(s, 0);

    for (uint32_t i = 0; i < 20 * ROUNDS; i++) {
        uint8_t bytes[NET_HDR_BYTES + 300] = {0};
        const uint32_t n = NET_HDR_BYTES + 14 + (uint32_t)prng_below(&rng, 280);

        for (uint32_t k = NET_HDR_BYTES; k < n; k++)
            bytes[k] = (uint8_t)prng_next(&rng);
        if (prng_below(&rng, 2))
            memcpy(bytes + NET_HDR_BYTES, solicit, sizeof(solicit) - prng_below(&rng, 30));
        if (prng_below(&rng, 2))
            memcpy(bytes + NET_HDR_BYTES, lab_of(s, (uint32_t)prng_below(&rng, 2))->port.mac, 6);
        transmit(h, bytes, n, false);
        go_on(s);
    }
    assert_int_equal(h->net->tx_frames, 20 * ROUNDS + h->guest.net.sent_frames);
}

/* Posts a SEND of 16 packets to a peer that never answers. */
static void post_packets(struct strangers *s)
{
    static const uint8_t h2[16] = {[10] = 0xff, 0xff, 10, 0, 0, 2};
    struct rdl_sge sge = {.length = 16 * 256};
    const struct rdl_send_wr wr = {.opcode = WR_SEND, .sge = &sge, .n_sge = 1};
    struct rdl_mr_info info;
    rdl_pd pd;
    rdl_mr mr;
    const rdl_qp qp = init_qp_of(s, &pd);

    for (uint32_t to = QPS_RTR; to <= QPS_RTS; to++) {
        assert_int_equal(move_qp(s, qp, (enum qp_state)to, h2, 0), RDL_OK);
        answered(s);
    }
    assert_int_equal(rdl_mem_alloc(s->lab, s->host[0], sge.length, &sge.addr), RDL_OK);
    assert_int_equal(rdl_reg_mr(s->lab, pd, sge.addr, sge.length, 0, "mr", &mr), RDL_OK);
    answered(s);
    assert_int_equal(rdl_mr_info(s->lab, mr, &info), RDL_OK);
    sge.lkey = info.lkey;
    assert_int_equal(rdl_post_send(s->lab, qp, &wr, false), RDL_OK);
}

/* Both functions have much to send, and the line is slow: each gets its turns. */
static void functions_share_the_port_in_turns(void **state)
{
    struct strangers *s = *state;
    const struct rdl_link_config slow = {.rate_bps = 1000000};
    const struct rdl_ping_config c = {.bytes = 56, .address = {[10] = 0xff, 0xff, 10, 0, 0, 2}};
    uint32_t n[2] = {0, 0}, longest = 0, run = 0;
    enum ev_kind last = EV_COUNT;
    rdl_link link;
    rdl_ping_id id;

    assert_int_equal(rdl_link_find(s->lab, "h1", "sw", &link), RDL_OK);
    assert_int_equal(rdl_link_set(s->lab, link, &slow), RDL_OK);
    post_packets(s);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(rdl_ping(s->lab, s->host[0], &c, &id), RDL_OK);
    assert_int_equal(rdl_run(s->lab, rdl_now_ns(s->lab) + 2000000000u, bounded), RDL_OK);
    for (size_t i = 0; i < rdl_record_count(s->lab); i++) {
        const struct ev *e = rdl_record_at(s->lab, i);
        const bool rdma = e->kind == EV_tx && e->u.tx.host == 0;

        if (!rdma && !(e->kind == EV_eth_tx && e->u.eth_tx.host == 0))
            continue;
        n[rdma]++;
        run = e->kind == last ? run + 1 : 1;
        longest = run > longest ? run : longest;
        last = e->kind;
    }
    assert_int_equal(n[true], 16);
    assert_int_equal(n[false], 16);
    assert_true(longest <= 2); /* only before both had begun */
}

#define KNOWN(f) cmocka_unit_test_setup_teardown(f, without_arp, tear_down)

/* Its link is not up as far as the guest can tell: nothing is sent that could only be lost. */
static void a_guest_whose_network_function_does_not_work_asks_for_nobody(void **state)
{
    static const uint8_t stranger[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 77};
    struct strangers *s = *state;
    struct guest_net *net = &lab_of(s, 0)->guest.net;
    const uint8_t *mac;

    net->broken = true;
    assert_int_equal(guest_neighbour_resolve(net, stranger, &mac), RDL_ERR_NO_ROUTE);
    net->broken = false;
    net->up = false;
    assert_int_equal(guest_neighbour_resolve(net, stranger, &mac), RDL_ERR_NO_ROUTE);
    net->up = true;
    assert_int_equal(guest_neighbour_resolve(net, stranger, &mac), RDL_ERR_BUSY); /* it is asked */
    go_on(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_with_random_bytes_leave_the_lab_going),
        cmocka_unit_test(registers_take_anything),
        KNOWN(what_is_no_frame_is_given_back_and_counted),
        KNOWN(frames_of_random_bytes_from_a_guest_do_no_harm),
        KNOWN(functions_share_the_port_in_turns),
        KNOWN(a_guest_whose_network_function_does_not_work_asks_for_nobody),
    };

    return cmocka_run_group_tests_name("hostile_net", tests, NULL, NULL);
}
