/* SPDX-License-Identifier: MIT */
/* External ports: incoming frames are answered byte for byte as Scapy builds the answers, meet
 * faults, arrive in order, and cannot do harm.
 */
#include "lab/strangers.h"

#include "emu/base/prng.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/virtio/net.h"
#include "emu/wire/icmp.h"
#include "wire/frames.h"
#include "wire/neighbours.h"

#define ROUNDS 20000u

/* The @i-th frame that went out, and nothing else of its kind. */
static void assert_out(const struct strangers *s, uint64_t i, const uint8_t *bytes, size_t n)
{
    const struct out_frame *f = &s->out[i % STRANGERS_KEPT];

    assert_true(i < s->n_out);
    assert_int_equal(f->n, n);
    assert_memory_equal(f->bytes, bytes, n);
}

static void questions_from_outside_are_answered(void **state)
{
    static const struct {
        const uint8_t *question, *answer;
        size_t n_question, n_answer;
    } rows[] = {
        {arp_request, arp_reply, sizeof(arp_request), sizeof(arp_reply)},
        {echo4_request, echo4_reply, sizeof(echo4_request), sizeof(echo4_reply)},
        {solicit, advert, sizeof(solicit), sizeof(advert)},
        {echo6_request, echo6_reply, sizeof(echo6_request), sizeof(echo6_reply)},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        /* The stranger takes the place of the lab's own h1, which must not answer in between. */
        struct strangers *s = strangers_new(true);
        struct rdl_link_config broken = {.a = "h1", .b = "sw", .loss_ppm = 1000000};
        rdl_link link;

        assert_int_equal(rdl_link_find(s->lab, "h1", "sw", &link), RDL_OK);
        assert_int_equal(rdl_link_set(s->lab, link, &broken), RDL_OK);
        receive(s, rows[i & ~(size_t)1].question, rows[i & ~(size_t)1].n_question);
        go(s);
        s->n_out = 0;
        receive(s, rows[i].question, rows[i].n_question);
        go(s);
        assert_out(s, 0, rows[i].answer, rows[i].n_answer);
        assert_int_equal(s->n_out, 1);
        strangers_free(s);
    }
}

static void duplicate_address_detection_is_answered_to_all(void **state)
{
    struct strangers *s = *state;
    const struct out_frame *f = &s->out[0];

    receive(s, dad, sizeof(dad));
    go(s);
    assert_int_equal(s->n_out, 1);
    assert_int_equal(f->n, sizeof(advert));
    assert_memory_equal(f->bytes, "\x33\x33\0\0\0\x01", 6);        /* MAC of all nodes */
    assert_memory_equal(f->bytes + 38, "\xff\x02\0\0\0\0\0\0", 8); /* ff02::1 */
    assert_int_equal(f->bytes[58], 0x20);                          /* not solicited, override */
    assert_memory_equal(f->bytes + 62, advert + 62, GID_BYTES);    /* the target */
    assert_memory_equal(f->bytes + 80, lab_of(s, 1)->port.mac, 6); /* and where it is */
}

/* The host asks the outside; the test answers with what Scapy made. */
static void a_host_finds_a_stranger(void **state)
{
    struct strangers *s = *state;
    static const uint8_t stranger[16] = {[10] = 0xff, 0xff, 10, 0, 0, 77};
    struct rdl_ping_config c = {.bytes = 9};
    struct rdl_ping_result r;
    rdl_ping_id id;
    uint8_t answer[sizeof(arp_reply)];
    struct out_frame echo;

    memcpy(c.address, stranger, 16);
    assert_int_equal(rdl_ping(s->lab, s->host[0], &c, &id), RDL_OK);
    assert_int_equal(rdl_run(s->lab, rdl_now_ns(s->lab) + 10000, no_limits), RDL_OK);
    assert_int_equal(s->n_out, 1);
    memcpy(answer, arp_request, sizeof(answer));
    answer[41] = 77;
    assert_out(s, 0, answer, sizeof(answer)); /* ARP request for 10.0.0.77 */
    memcpy(answer, arp_reply, sizeof(answer));
    answer[11] = answer[27] = 0x77; /* its MAC is 02::77 */
    answer[31] = 77;
    receive(s, answer, sizeof(answer));
    assert_int_equal(rdl_run(s->lab, rdl_now_ns(s->lab) + 10000, no_limits), RDL_OK);
    assert_int_equal(s->n_out, 2);
    echo = s->out[1];
    assert_memory_equal(echo.bytes, "\x02\0\0\0\0\x77\x02\0\0\0\0\x01\x08\0", 14);
    /* Turned round by hand: addresses swapped, reply instead of request, checksum adjusted. */
    memcpy(echo.bytes, s->out[1].bytes + 6, 6);
    memcpy(echo.bytes + 6, s->out[1].bytes, 6);
    memcpy(echo.bytes + 26, s->out[1].bytes + 30, 4);
    memcpy(echo.bytes + 30, s->out[1].bytes + 26, 4);
    echo.bytes[34] = 0;
    echo.bytes[36] = (uint8_t)(echo.bytes[36] + 8);
    receive(s, echo.bytes, echo.n);
    assert_int_equal(rdl_ping_wait(s->lab, id, no_limits), RDL_OK);
    assert_int_equal(rdl_ping_result(s->lab, id, &r), RDL_OK);
    /* The same once more is an answer that nobody waits for. */
    receive(s, echo.bytes, echo.n);
    go(s);
    assert_int_equal(lab_of(s, 0)->guest.net.drops[DROP_GHOST_REPLY], 1);
}

/* A RoCEv2 request to h2, QPN 18, from outside. */
static size_t roce(uint8_t frame[FRAME_MAX], uint32_t psn)
{
    struct packet p = sample(4, OP_RC_SEND_ONLY, 32);

    p.bth.psn = (struct psn){psn};
    return build(&p, frame);
}

static void faults_match_frames_from_outside(void **state)
{
    struct strangers *s = *state;
    uint8_t frame[FRAME_MAX];

    add_drop(s, FLT_DROP, s->port, OP_RC_SEND_ONLY, 2);
    add_drop(s, FLT_DUPLICATE, s->port, FRAME_ARP_REQUEST, RDL_ANY);
    for (uint32_t psn = 1; psn <= 3; psn++)
        receive(s, frame, roce(frame, psn));
    receive(s, arp_request, sizeof(arp_request));
    go(s);
    assert_int_equal(events_of(s, EV_tx, OP_RC_SEND_ONLY), 3);
    assert_int_equal(events_of(s, EV_lost, OP_RC_SEND_ONLY), 1);
    assert_int_equal(lab_of(s, 1)->port.drops[DROP_NO_SUCH_QP], 2);
    assert_int_equal(events_of(s, EV_eth_tx, FRAME_ARP_REPLY), 2);
    assert_int_equal(s->n_out, 2);
}

static void a_reader_outlives_a_checkpoint(void **state)
{
    struct strangers *s = *state;
    struct rdl_checkpoint *c;
    struct rdl_port_info info;

    receive(s, arp_request, sizeof(arp_request));
    assert_int_equal(rdl_checkpoint_save(s->lab, &c), RDL_OK);
    go(s);
    assert_int_equal(s->n_out, 1);
    rdl_checkpoint_restore(s->lab, c);
    go(s);
    assert_int_equal(s->n_out, 2);
    rdl_checkpoint_restore(s->lab, c);
    assert_int_equal(rdl_port_read(s->lab, s->port, NULL, NULL), RDL_OK);
    go(s);
    assert_int_equal(s->n_out, 2);
    assert_int_equal(rdl_port_info(s->lab, s->port, &info), RDL_OK);
    assert_string_equal(info.name, "out");
    assert_int_equal(info.out_unread, 1);
    assert_int_equal(info.in_frames, 1);
    assert_int_equal(info.out_frames, 1);
    rdl_checkpoint_free(c);
}

/* The caller is late: what was due before the frame came happens before it. */
static void late_work_runs_in_order(void **state)
{
    struct strangers *s = *state;
    const uint64_t late = 5000000000u;
    uint64_t before = 0, at;
    struct rdl_ping_config c = {.bytes = 8, .address = {[10] = 0xff, 0xff, 10, 0, 0, 99}};
    rdl_ping_id id;

    assert_int_equal(rdl_ping(s->lab, s->host[0], &c, &id), RDL_OK);
    assert_int_equal(rdl_run(s->lab, late, no_limits), RDL_OK);
    assert_true(rdl_now_ns(s->lab) == late);
    receive(s, arp_request, sizeof(arp_request));
    receive(s, echo4_request, sizeof(echo4_request));
    assert_int_equal(rdl_run(s->lab, late + 100000, no_limits), RDL_OK);
    for (size_t i = 0; i < rdl_record_count(s->lab); i++) {
        at = rdl_record_at(s->lab, i)->at_ns;
        assert_true(at >= before);
        before = at;
    }
    assert_int_equal(events_of(s, EV_ping_lost, RDL_ANY), 1);
    assert_int_equal(s->n_out, 3 + 2); /* questions for 10.0.0.99, then the answers */
    assert_int_equal(s->out[3].n, sizeof(arp_reply));
    assert_int_equal(s->out[4].n, sizeof(echo4_reply));
    /* Going back in time is not possible, and not an error: nothing is due. */
    assert_int_equal(rdl_run(s->lab, late, no_limits), RDL_OK);
    assert_true(rdl_now_ns(s->lab) == late + 100000);
}

static void wrong_calls_are_refused(void **state)
{
    struct strangers *s = *state;
    const rdl_port nothing = {7};
    struct rdl_port_config c = {.name = "h1"};
    struct rdl_link_config again = {.a = "out", .b = "sw"};
    struct rdl_fault_config both = {.kind = FLT_DROP, .nth = 1, .count = 1};
    struct rdl_port_info info;
    uint8_t byte = 0;
    rdl_port port;
    rdl_link link;
    rdl_fault f;

    assert_int_equal(rdl_port_add(s->lab, &c, &port), RDL_ERR_EXISTS);
    c.name = "out";
    assert_int_equal(rdl_port_add(s->lab, &c, &port), RDL_ERR_EXISTS);
    c.name = "no way";
    assert_int_equal(rdl_port_add(s->lab, &c, &port), RDL_ERR_INVAL);
    assert_int_equal(rdl_port_find(s->lab, "out", &port), RDL_OK);
    assert_int_equal(port.raw, s->port.raw);
    assert_int_equal(rdl_port_find(s->lab, "h1", &port), RDL_ERR_NOT_FOUND);
    assert_int_equal(rdl_link_add(s->lab, &again, &link), RDL_ERR_BUSY);
    assert_int_equal(rdl_port_receive(s->lab, nothing, &byte, 1), RDL_ERR_STALE);
    assert_int_equal(rdl_port_receive(s->lab, s->port, &byte, 0), RDL_ERR_INVAL);
    assert_int_equal(rdl_port_receive(s->lab, s->port, &byte, RDL_PORT_FRAME_BYTES_MAX + 1),
                     RDL_ERR_INVAL);
    assert_int_equal(rdl_port_info(s->lab, nothing, &info), RDL_ERR_STALE);
    assert_int_equal(rdl_port_read(s->lab, nothing, NULL, NULL), RDL_ERR_STALE);
    both.from = s->host[0];
    both.from_port = s->port;
    assert_int_equal(rdl_fault_add(s->lab, &both, &f), RDL_ERR_INVAL);
    both.from = (rdl_host){0};
    both.from_port = nothing;
    assert_int_equal(rdl_fault_add(s->lab, &both, &f), RDL_ERR_STALE);
    c.name = "alone";
    assert_int_equal(rdl_port_add(s->lab, &c, &port), RDL_OK);
    assert_int_equal(rdl_port_receive(s->lab, port, &byte, 1), RDL_OK);
    assert_int_equal(rdl_port_info(s->lab, port, &info), RDL_OK);
    assert_int_equal(info.in_dropped, 1);
}

static const struct {
    const uint8_t *bytes;
    size_t n;
} originals[] = {
    {arp_request, sizeof(arp_request)},
    {arp_reply, sizeof(arp_reply)},
    {echo4_request, sizeof(echo4_request)},
    {echo4_reply, sizeof(echo4_reply)},
    {echo6_request, sizeof(echo6_request)},
    {solicit, sizeof(solicit)},
    {advert, sizeof(advert)},
    {dad, sizeof(dad)},
    {router_solicit, sizeof(router_solicit)},
    {tcp, sizeof(tcp)},
    {udp, sizeof(udp)},
};

/* Makes the length of an IPv6 packet and its ICMP checksum those of the @n bytes of @frame. */
static void finish_icmp6(uint8_t *frame, size_t n)
{
    const size_t len = n - 54;
    struct ip ip = {.version = 6, .payload_bytes = (uint16_t)len, .protocol = 58};

    memcpy(ip.src, frame + 22, GID_BYTES);
    memcpy(ip.dst, frame + 38, GID_BYTES);
    frame[18] = (uint8_t)(len >> 8);
    frame[19] = (uint8_t)len;
    if (len >= 4)
        icmp_finish(&ip, frame + 54, len);
}

/* Some frame, most often damaged; checksums are made right again now and then. */
static size_t mutated(struct prng *rng, uint8_t frame[FRAME_MAX])
{
    const uint64_t which = prng_below(rng, ARRAY_LEN(originals) + 2);
    size_t n;

    if (which < ARRAY_LEN(originals)) {
        n = originals[which].n;
        memcpy(frame, originals[which].bytes, n);
    } else {
        n = roce(frame, (uint32_t)which);
    }
    if (prng_below(rng, 3) == 0)
        n = 1 + prng_below(rng, n);
    for (uint64_t k = prng_below(rng, 5); k > 0; k--) {
        const size_t at = prng_below(rng, n);

        frame[at] = (uint8_t)prng_next(rng);
    }
    if (prng_below(rng, 2) && n > 54 && frame[12] == 0x86)
        finish_icmp6(frame, n);
    return n;
}

/* What a host's frames became: everything is accounted for. */
static void assert_accounted(const struct strangers *s, uint32_t i)
{
    const struct host *h = lab_of(s, i);

    assert_true(h->port.rcvd_frames == drops_of(h->port.drops) + h->port.taken_frames);
    assert_true(h->port.taken_frames == h->net->rx_frames); /* nobody has a queue pair */
    assert_true(h->guest.net.rcvd_frames == h->net->rx_frames);
    assert_true(h->guest.net.rcvd_frames ==
                drops_of(h->guest.net.drops) + h->guest.net.taken_frames);
    assert_true(h->guest.net.neighbours.n <= GUEST_NEIGHBOURS_MAX);
}

static void frames_of_any_kind_do_no_harm(void **state)
{
    struct strangers *s = *state;
    struct prng rng = prng_stream(21, 0);
    uint64_t rtt;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint8_t frame[FRAME_MAX];
        const size_t n = mutated(&rng, frame);

        receive(s, frame, n);
        if (i % 8 == 0)
            assert_int_equal(rdl_run(s->lab, rdl_now_ns(s->lab) + 100000, no_limits), RDL_OK);
    }
    go(s);
    for (uint32_t i = 0; i < STRANGERS_HOSTS; i++) {
        assert_accounted(s, i);
        assert_true(drops_of(lab_of(s, i)->guest.net.drops) > 100);
        assert_false(lab_of(s, i)->guest.net.broken);
    }
    /* The lab goes on; what it believes of its own addresses may have been poisoned. */
    (void)ping(s, 0, lab_of(s, 1)->guest.config.gid[0], 56, &rtt);
}

/* An address of IPv4 where IPv6 has its own: nobody answers, in neither of them. */
static void an_ipv4_address_in_ipv6_is_refused(void **state)
{
    static const uint8_t mapped[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 2};
    static const uint8_t stranger[MAC_BYTES] = {2, 0, 0, 0, 0, 0x77};
    static const struct {
        const uint8_t *original;
        size_t n, at; /* source, destination, target */
        enum drop_reason want;
    } rows[] = {
        {echo6_request, sizeof(echo6_request), 22, DROP_BAD_IP_HEADER},
        {echo6_request, sizeof(echo6_request), 38, DROP_BAD_IP_HEADER},
        {solicit, sizeof(solicit), 22, DROP_BAD_IP_HEADER},
        {solicit, sizeof(solicit), 62, DROP_BAD_ND},
        {advert, sizeof(advert), 62, DROP_BAD_ND},
    };
    struct strangers *s = *state;
    const struct guest_net *net = &lab_of(s, 1)->guest.net;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint64_t before = net->drops[rows[i].want];
        uint8_t frame[sizeof(solicit)];

        memcpy(frame, rows[i].original, rows[i].n);
        memcpy(frame, lab_of(s, 1)->port.mac, MAC_BYTES);
        memcpy(frame + MAC_BYTES, stranger, MAC_BYTES);
        memcpy(frame + 38, net->config.gid[1], GID_BYTES);
        memcpy(frame + rows[i].at, mapped, GID_BYTES);
        finish_icmp6(frame, rows[i].n);
        receive(s, frame, rows[i].n);
        go(s);
        assert_int_equal(net->drops[rows[i].want], before + 1);
        assert_int_equal(net->neighbours.n, 0);
        assert_int_equal(s->n_out, 0);
    }
}

/* A host may have two addresses of IPv4: it is in no group of IPv6, and has none to answer with. */
static void a_host_without_ipv6_is_in_no_group(void **state)
{
    static const uint8_t all_nodes[GID_BYTES] = {0xff, 0x02, [15] = 1};
    static const uint8_t all_nodes_mac[MAC_BYTES] = {0x33, 0x33, 0, 0, 0, 1};
    const struct rdl_host_config c = {.name = "h3", .ipv6 = {[10] = 0xff, 0xff, 10, 0, 9, 9}};
    struct strangers *s = *state;
    uint8_t frame[sizeof(echo6_request)];
    const struct guest_net *net;
    rdl_host h;

    assert_int_equal(rdl_host_add(s->lab, &c, &h), RDL_OK);
    strangers_link(s, "h3");
    net = &lab_host(s->lab->state, h.raw)->guest.net;
    memcpy(frame, echo6_request, sizeof(frame));
    memcpy(frame, all_nodes_mac, MAC_BYTES);
    memcpy(frame + 38, all_nodes, GID_BYTES);
    finish_icmp6(frame, sizeof(frame));
    receive(s, frame, sizeof(frame));
    go(s);
    assert_true(net->drops[DROP_NO_SUCH_GID] > 0);
    assert_int_equal(net->taken_frames + net->sent_frames, 0);
}

/* ARP requests from ever new senders. */
static void a_flood_of_strangers_is_forgotten_again(void **state)
{
    struct strangers *s = *state;
    const struct guest_neighbours *t = &lab_of(s, 1)->guest.net.neighbours;
    uint8_t frame[sizeof(arp_request)];
    uint64_t rtt;

    memcpy(frame, arp_request, sizeof(frame));
    for (uint32_t i = 0; i < 5 * GUEST_NEIGHBOURS_MAX; i++) {
        frame[29] = (uint8_t)(1 + (i >> 16));
        frame[30] = (uint8_t)(i >> 8);
        frame[31] = (uint8_t)(i | 128);
        frame[27] = frame[31];
        receive(s, frame, sizeof(frame));
        assert_int_equal(rdl_run(s->lab, rdl_now_ns(s->lab) + 20000, no_limits), RDL_OK);
    }
    assert_true(t->n <= GUEST_NEIGHBOURS_MAX);
    assert_int_equal(ping(s, 0, lab_of(s, 1)->guest.config.gid[0], 56, &rtt), RDL_OK);
    assert_int_equal(ping(s, 1, lab_of(s, 0)->guest.config.gid[1], 56, &rtt), RDL_OK);
}

static void without_receive_buffers_frames_are_counted_not_lost_silently(void **state)
{
    struct strangers *s = *state;
    struct host *h = lab_of(s, 1);
    struct vq *rx = &h->net->pci.queues[NET_QUEUE_RX];
    const uint32_t n = GUEST_NET_QUEUE_SIZE + 8;

    rx->vector = VIRTIO_NO_VECTOR; /* the guest does not hear */
    for (uint32_t i = 0; i < n; i++)
        receive(s, echo4_request, sizeof(echo4_request));
    go(s);
    assert_int_equal(h->net->rx_frames, GUEST_NET_QUEUE_SIZE);
    assert_int_equal(h->port.drops[DROP_NO_RX_BUFFER], 8);
    assert_int_equal(h->guest.net.rcvd_frames, 0);
    rx->vector = GUEST_NET_VECTOR_RX;
    virtio_raise(&h->net->pci, NET_QUEUE_RX);
    go(s);
    assert_int_equal(h->guest.net.rcvd_frames, GUEST_NET_QUEUE_SIZE);
    receive(s, echo4_request, sizeof(echo4_request));
    go(s);
    assert_int_equal(h->net->rx_frames, GUEST_NET_QUEUE_SIZE + 1);
}

static void a_frame_longer_than_the_buffer_is_dropped(void **state)
{
    struct strangers *s = *state;
    struct host *h = lab_of(s, 1);
    static uint8_t jumbo[9000];

    memcpy(jumbo, tcp, sizeof(tcp));
    for (uint32_t i = 0; i < 3 * GUEST_NET_QUEUE_SIZE; i++) {
        receive(s, jumbo, sizeof(jumbo));
        go(s);
    }
    assert_int_equal(h->port.drops[DROP_TOO_LONG], 3 * GUEST_NET_QUEUE_SIZE);
    assert_int_equal(h->port.drops[DROP_NO_RX_BUFFER], 0); /* the buffers came back */
}

#define IN_LAB(f) cmocka_unit_test_setup_teardown(f, with_arp, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_from_outside_are_answered),
        IN_LAB(duplicate_address_detection_is_answered_to_all),
        IN_LAB(a_host_finds_a_stranger),
        IN_LAB(faults_match_frames_from_outside),
        IN_LAB(a_reader_outlives_a_checkpoint),
        IN_LAB(late_work_runs_in_order),
        IN_LAB(wrong_calls_are_refused),
        IN_LAB(frames_of_any_kind_do_no_harm),
        IN_LAB(an_ipv4_address_in_ipv6_is_refused),
        IN_LAB(a_host_without_ipv6_is_in_no_group),
        IN_LAB(a_flood_of_strangers_is_forgotten_again),
        cmocka_unit_test_setup_teardown(
            without_receive_buffers_frames_are_counted_not_lost_silently, without_arp, tear_down),
        IN_LAB(a_frame_longer_than_the_buffer_is_dropped),
    };

    return cmocka_run_group_tests_name("port", tests, NULL, NULL);
}
