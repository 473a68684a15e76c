/* SPDX-License-Identifier: MIT */
/* The device is safe against its guest and its network: whatever a ring, a request, a WQE or a
 * frame contains, the lab continues with a defined result.  Run under the sanitizers, these tests
 * also find memory errors.
 */
#include "testing.h"

#include <string.h>

#include "emu/base/prng.h"
#include "emu/device/rdma.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/rfc.h"
#include "emu/guest/virtio_rdma/virtio_rdma.h"
#include "emu/lab/lab_state.h"
#include "emu/trace/event.h"
#include "emu/virtio/vring.h"
#include "rounds.h"
#include "testbed/testbed.h"

#define ROUNDS n_rounds(400)

static const struct rdl_limits bounded = {.ticks = 20000};

static void make(struct testbed *r, uint64_t seed)
{
    const struct testbed_config c = {
        .seed = seed,
        .record = true,
        .mr_bytes = 65536,
        .max_wr = 16,
        .path_mtu = MTU_1024,
        .timeout = 4,
        .retry_cnt = 2,
        .rnr_retry = 2,
        .min_rnr_timer = 1,
        .latency_ns = 1000,
    };

    assert_int_equal(testbed_init(r, &c), RDL_OK);
}

static struct host *host_of(struct testbed *r, unsigned side)
{
    return lab_host(r->lab->state, r->side[side].host.raw);
}

static void go(struct testbed *r)
{
    const enum rdl_status st = rdl_run(r->lab, RDL_NEVER, bounded);

    assert_true(st == RDL_OK || st == RDL_ERR_TIMEOUT);
}

/* Frames that were really sent, for mutating. */
static const uint8_t *some_frame(struct testbed *r, struct prng *rng, size_t *n)
{
    const uint8_t *f = NULL;

    while (!f) {
        const struct ev *e = rdl_record_at(r->lab, prng_below(rng, rdl_record_count(r->lab)));

        if (e->kind == EV_tx)
            f = rdl_record_frame(r->lab, e->id, n);
    }
    return f;
}

static uint64_t all_drops(const uint64_t drops[DROP_COUNT])
{
    uint64_t n = 0;

    for (uint32_t i = 1; i < DROP_COUNT; i++)
        n += drops[i];
    return n;
}

/* At the port, or by the guest, which gets what is not RoCE. */
static uint64_t dropped_as(const struct host *h, enum drop_reason reason)
{
    return h->port.drops[reason] + h->guest.net.drops[reason];
}

static uint64_t dropped(const struct host *h)
{
    return all_drops(h->port.drops) + all_drops(h->guest.net.drops);
}

static void frames_of_any_kind_are_delivered_answered_or_counted(void **state)
{
    struct prng rng = prng_stream(11, 0);
    struct testbed r;
    const struct host *h;
    uint64_t accepted = 0;

    (void)state;
    make(&r, 1);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(testbed_recv(&r, 1, i, 0, 4096), RDL_OK);
        assert_int_equal(testbed_send(&r, 0, i, 0, 3000, SF_SIGNALED), RDL_OK);
    }
    go(&r);
    h = host_of(&r, 1);
    for (uint32_t i = 0; i < ROUNDS * 10; i++) {
        uint8_t frame[5000];
        size_t n;
        const uint8_t *real = some_frame(&r, &rng, &n);

        memcpy(frame, real, n);
        if (prng_below(&rng, 8) == 0) {
            n = 1 + prng_below(&rng, sizeof(frame));
            for (size_t k = 6; k < n; k++)
                frame[k] = (uint8_t)prng_next(&rng);
        }
        if (prng_below(&rng, 2))
            n = 1 + prng_below(&rng, n);
        for (uint64_t k = prng_below(&rng, 4); k > 0; k--) {
            const size_t at = prng_below(&rng, n);

            frame[at] ^= (uint8_t)(1u << prng_below(&rng, 8));
        }
        assert_int_equal(rdl_inject(r.lab, r.side[1].host, frame, n), RDL_OK);
        go(&r);
    }
    for (size_t i = 0; i < rdl_record_count(r.lab); i++) {
        const struct ev *e = rdl_record_at(r.lab, i);

        accepted += e->kind == EV_rx && e->u.rx.host == 1 && e->u.rx.act != ACT_DROP;
    }
    assert_int_equal(rdl_record_forgotten(r.lab), 0);
    assert_true(all_drops(h->port.drops) > ROUNDS);
    /* What was damaged so that it is no RoCEv2 packet any more goes up to the IP stack. */
    assert_true(h->net->rx_frames > 0);
    assert_true(h->port.rcvd_frames == accepted + all_drops(h->port.drops) + h->net->rx_frames);
    assert_true(h->guest.net.rcvd_frames == h->net->rx_frames);
    assert_true(all_drops(h->guest.net.drops) == h->net->rx_frames);
    testbed_done(&r);
}

/* One wrong byte, or too few bytes, in a SEND over IPv4. */
static void a_damaged_frame_is_dropped_under_its_name(void **state)
{
    static const struct {
        size_t at, keep; /* the byte that is changed; bytes that are left, 0: all */
        enum drop_reason reason;
    } rows[] = {
        {5, 0, DROP_NOT_FOR_US},       /* destination MAC */
        {12, 0, DROP_BAD_ETHERTYPE},   /* ethertype */
        {14, 0, DROP_BAD_IP_HEADER},   /* IP version and header length */
        {26, 0, DROP_BAD_IP_CHECKSUM}, /* source address */
        {36, 0, DROP_NO_LISTENER},     /* UDP destination port: the guest has no such program */
        {39, 0, DROP_BAD_UDP_LENGTH},  /* UDP length */
        {42, 0, DROP_BAD_ICRC},        /* BTH: opcode */
        {60, 0, DROP_BAD_ICRC},        /* payload */
        {60, 50, DROP_BAD_IP_HEADER},  /* shorter than the IP header says */
        {12, 13, DROP_SHORT},          /* not even an Ethernet header */
    };
    struct prng rng = prng_stream(11, 1);
    const uint8_t *real = NULL;
    uint8_t frame[5000];
    size_t n = 0;
    struct testbed r;

    (void)state;
    make(&r, 1);
    assert_int_equal(testbed_recv(&r, 1, 1, 0, 64), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    go(&r);
    while (n < 100) /* not the ACK */
        real = some_frame(&r, &rng, &n);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct host *h = host_of(&r, 1);
        const uint64_t before = dropped_as(h, rows[i].reason), all = dropped(h);

        memcpy(frame, real, n);
        frame[rows[i].at] ^= 0x10;
        assert_int_equal(rdl_inject(r.lab, r.side[1].host, frame, rows[i].keep ? rows[i].keep : n),
                         RDL_OK);
        go(&r);
        assert_int_equal(dropped_as(h, rows[i].reason) - before, 1);
        assert_int_equal(dropped(h) - all, 1);
    }
    testbed_done(&r);
}

/* Overwrites @n random bytes of a queue's rings or buffers. */
static void scribble(struct host *h, struct prng *rng, uint32_t queue, uint32_t n)
{
    const struct vring *ring = &host_rdma(h)->pci.queues[queue].ring;
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
    uint32_t needs_reset = 0;

    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct prng rng = prng_stream(seed, 1);
        struct testbed r;
        struct host *h;
        struct rdl_wc wc[8];
        uint32_t queues[4];
        size_t n;

        make(&r, seed);
        h = host_of(&r, 0);
        queues[0] = 0;
        queues[1] = 1;
        queues[2] = rdma_sq(host_rdma(h), r.side[0].qpn);
        queues[3] = rdma_rq(host_rdma(h), r.side[0].qpn);
        for (uint32_t i = 0; i < 6; i++) {
            const uint32_t queue = queues[prng_below(&rng, 4)];
            const uint32_t n_bytes = 1 + (uint32_t)prng_below(&rng, 20);

            (void)!testbed_recv(&r, 1, i, 0, 1024);
            (void)!testbed_recv(&r, 0, i, 0, 1024);
            (void)!testbed_send(&r, 0, i, 0, 100, SF_SIGNALED);
            (void)!testbed_send(&r, 1, i, 0, 100, SF_SIGNALED);
            scribble(h, &rng, queue, n_bytes);
            (void)!rdl_query_qp(r.lab, r.side[0].qp);
            (void)!rdl_kick(r.lab, r.side[0].qp, true);
            go(&r);
            (void)!rdl_poll_cq(r.lab, r.side[0].cq, 8, wc, &n);
        }
        needs_reset += rdma_broken(host_rdma(h));
        testbed_done(&r);
    }
    assert_true(needs_reset > ROUNDS / 4);
}

static void a_broken_ring_does_not_harm_the_other_host(void **state)
{
    static const uint8_t far_ahead[2] = {0xff, 0x7f};
    struct testbed r;
    struct host *h;
    struct rdl_response rsp;

    (void)state;
    make(&r, 1);
    h = host_of(&r, 0);
    assert_true(ram_write(
        &h->ram, vring_avail_idx_at(&host_rdma(h)->pci.queues[rdma_sq(host_rdma(h), 2)].ring),
        far_ahead, 2));
    assert_int_equal(rdl_kick(r.lab, r.side[0].qp, true), RDL_OK);
    go(&r);
    assert_true(rdma_broken(host_rdma(h)));
    assert_int_equal(rdl_query_qp(r.lab, r.side[1].qp), RDL_OK);
    assert_int_equal(rdl_wait(r.lab, r.side[1].host, bounded, &rsp), RDL_OK);
    testbed_done(&r);
}

static void send_wqes_of_random_bytes_complete_with_an_error_or_not_at_all(void **state)
{
    struct prng rng = prng_stream(5, 2);

    (void)state;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct testbed r;
        struct host *h;
        const struct virtio_rdma_qp *qp;
        uint8_t wqe[140];

        make(&r, seed);
        h = host_of(&r, 0);
        qp = (const struct virtio_rdma_qp *)h->guest.verbs.qp_of[r.side[0].qpn];
        assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
        /* The device has not looked yet: the bytes can still change under it. */
        for (size_t i = 0; i < sizeof(wqe); i++) {
            wqe[i] = (uint8_t)prng_next(&rng);
            if (prng_below(&rng, 3))
                wqe[i] = 0;
        }
        assert_true(ram_write(&h->ram, guest_slot_gpa(&qp->sq_mem, 0), wqe,
                              sizeof(struct raw_sq_wqe) + sizeof(struct raw_sge)));
        go(&r);
        testbed_done(&r);
    }
}

/* Puts a request of any bytes straight into the control queue's ring. */
static void request(struct host *h, const uint8_t *bytes, uint32_t n, uint32_t room)
{
    const uint64_t gpa = dma_take(&h->guest.dma, 1024);
    const struct vqd_seg segs[] = {{gpa, n}, {gpa + 512, room}};
    struct vqd *vq = host_rdma_vq(h, 0);
    uint16_t head;
    uint8_t nothing[64];

    memset(nothing, 0xee, sizeof(nothing));
    assert_true(gpa != 0);
    assert_true(ram_write(&h->ram, gpa, bytes, n));
    assert_true(ram_write(&h->ram, gpa + 512, nothing, sizeof(nothing)));
    assert_true(vqd_add(vq, &h->ram, segs, 1, room > 0, &head));
    vqd_publish(vq, &h->ram);
    virtio_write(&host_rdma(h)->pci, BAR_NOTIFY, 2, 0);
}

static void control_requests_of_any_bytes_are_answered_with_a_known_code(void **state)
{
    struct prng rng = prng_stream(6, 3);
    struct testbed r;
    struct host *h;

    (void)state;
    make(&r, 1);
    h = host_of(&r, 0);
    for (uint32_t i = 0; i < ROUNDS * 5; i++) {
        uint8_t bytes[200];
        const uint32_t n = 1 + (uint32_t)prng_below(&rng, sizeof(bytes));
        size_t before = rdl_record_count(r.lab);
        bool answered = false;
        uint16_t head;
        uint32_t len;

        for (uint32_t k = 0; k < n; k++) {
            bytes[k] = (uint8_t)prng_next(&rng);
            if (prng_below(&rng, 2))
                bytes[k] %= 4;
        }
        bytes[0] = (uint8_t)prng_below(&rng, 24);
        request(h, bytes, n, 1 + (uint32_t)prng_below(&rng, 200));
        go(&r);
        while (vqd_take_used(host_rdma_vq(h, 0), &h->ram, &head, &len) == VQD_GOT)
            ;
        for (; before < rdl_record_count(r.lab); before++) {
            const struct ev *e = rdl_record_at(r.lab, before);

            if (e->kind == EV_ctrl_execute) {
                assert_non_null(enum_by_value(&enum_ctrl_rsp, e->u.ctrl_execute.rsp));
                answered = true;
            }
        }
        assert_true(answered);
        assert_false(rdma_broken(host_rdma(h)));
    }
    testbed_done(&r);
}

static void registers_take_anything(void **state)
{
    struct prng rng = prng_stream(7, 4);
    static const uint32_t widths[] = {1, 2, 4, 8};

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct testbed r;
        struct host *h;

        make(&r, seed);
        h = host_of(&r, 0);
        for (uint32_t i = 0; i < 2000; i++) {
            const uint32_t end = prng_below(&rng, 2) ? 64 : 0x10100;
            const uint32_t offset = (uint32_t)prng_below(&rng, end);
            const uint32_t width = widths[prng_below(&rng, 4)];

            if (prng_below(&rng, 2))
                (void)virtio_read(&host_rdma(h)->pci, offset, width);
            else
                virtio_write(&host_rdma(h)->pci, offset, width, prng_next(&rng));
        }
        go(&r);
        testbed_done(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_any_kind_are_delivered_answered_or_counted),
        cmocka_unit_test(a_damaged_frame_is_dropped_under_its_name),
        cmocka_unit_test(rings_with_random_bytes_leave_the_lab_going),
        cmocka_unit_test(a_broken_ring_does_not_harm_the_other_host),
        cmocka_unit_test(send_wqes_of_random_bytes_complete_with_an_error_or_not_at_all),
        cmocka_unit_test(control_requests_of_any_bytes_are_answered_with_a_known_code),
        cmocka_unit_test(registers_take_anything),
    };

    return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
