/* SPDX-License-Identifier: MIT */
/* Address resolution between hosts: ARP, neighbour discovery, ping, MODIFY_QP. */
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/facts/virtio/ring_format.h"
#include "lab/strangers.h"

static const uint8_t nobody[16] = {[10] = 0xff, 0xff, 10, 0, 0, 99};

#define SECOND 1000000000u

static const uint8_t *address(const struct strangers *s, uint32_t host, uint32_t index)
{
    return lab_of(s, host)->guest.config.gid[index];
}

static void the_first_ping_asks_for_the_mac_and_the_second_knows_it(void **state)
{
    struct strangers *s = *state;

    for (uint32_t index = 0; index < 2; index++) {
        const uint32_t question = index ? FRAME_ND_SOLICIT : FRAME_ARP_REQUEST;
        const uint32_t answer = index ? FRAME_ND_ADVERT : FRAME_ARP_REPLY;
        uint64_t first, second;

        assert_int_equal(ping(s, 0, address(s, 1, index), 56, &first), RDL_OK);
        assert_int_equal(ping(s, 0, address(s, 1, index), 56, &second), RDL_OK);
        assert_true(second > 4000 && second < 6000); /* four links of 1 us, and the devices */
        assert_true(first > second + 4000);
        /* Who was asked knows the asker. */
        assert_int_equal(ping(s, 1, address(s, 0, index), 56, &first), RDL_OK);
        assert_true(first < 6000);
        assert_int_equal(events_of(s, EV_eth_tx, question), 1);
        assert_int_equal(events_of(s, EV_eth_tx, answer), 1);
    }
    assert_int_equal(events_of(s, EV_ping_reply, RDL_ANY), 6);
    assert_int_equal(events_of(s, EV_ping_lost, RDL_ANY), 0);
}

static void hosts_that_were_introduced_do_not_ask(void **state)
{
    struct strangers *s = *state;
    uint64_t rtt;

    for (uint32_t index = 0; index < 2; index++)
        assert_int_equal(ping(s, 0, address(s, 1, index), 1000, &rtt), RDL_OK);
    assert_int_equal(events_of(s, EV_neighbour, RDL_ANY), 0);
}

static void every_size_up_to_the_mtu_comes_back(void **state)
{
    struct strangers *s = *state;
    static const uint32_t header[] = {20 + 8, 40 + 8};
    uint64_t rtt;

    for (uint32_t index = 0; index < 2; index++) {
        const uint32_t most = lab_of(s, 0)->guest.net.mtu - header[index];
        const uint32_t sizes[] = {0, 1, 2, 56, 1471, most};
        struct rdl_ping_config c = {.bytes = most + 1};
        rdl_ping_id id;

        for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
            assert_int_equal(ping(s, 0, address(s, 1, index), sizes[i], &rtt), RDL_OK);
        memcpy(c.address, address(s, 1, index), 16);
        assert_int_equal(rdl_ping(s->lab, s->host[0], &c, &id), RDL_ERR_INVAL);
    }
}

/* A frame in receive buffers of any size, split and packed: it is put together again, and the ring
 * goes round.
 */
static void frames_come_back_out_of_small_buffers(void **state)
{
    static const uint32_t buffers[] = {RDL_RX_BUFFER_MIN, 65, 256, 1514, RDL_RX_BUFFER_MAX};

    (void)state;
    for (uint32_t i = 0; i < 2 * ARRAY_LEN(buffers); i++) {
        const struct rdl_host_config like = {
            .rx_buffer = buffers[i / 2], .ring = i % 2 ? VRING_packed : VRING_split, .mtu = 9000};
        struct strangers *s = strangers_like(&like);
        const uint32_t most = lab_of(s, 0)->guest.net.mtu - 28;
        const uint32_t around = like.rx_buffer - NET_HDR_BYTES - 14 - 28; /* fills one buffer */
        uint64_t rtt;

        for (uint32_t bytes = around < 8 ? 8 : around - 8; bytes < around + 8; bytes++)
            assert_int_equal(ping(s, 0, address(s, 1, 0), bytes, &rtt), RDL_OK);
        for (uint32_t n = 0; n < 20; n++)
            assert_int_equal(ping(s, 0, address(s, 1, 0), most, &rtt), RDL_OK);
        assert_int_equal(lab_of(s, 1)->port.taken_frames, lab_of(s, 1)->guest.net.rcvd_frames);
        strangers_free(s);
    }
}

/* What the device says of a frame's buffers is looked at between its write and the interrupt. */
static void a_number_of_buffers_that_is_none_breaks_the_driver(void **state)
{
    static const struct {
        uint16_t n;    /* what the first frame says */
        uint32_t more; /* frames that follow it */
        bool broken;
    } rows[] = {
        {0, 0, true},      /* a frame is in something */
        {1, 3, false},     /* it is true */
        {2, 0, false},     /* the rest may come */
        {2, 1, false},     /* and is no frame of ours */
        {100, 99, false},  /* 99 buffers of 72 bytes are no frame, but there is room for them */
        {200, 199, true},  /* longer than any frame */
        {65535, 256, true} /* the same, and the ring has gone round */
    };
    const struct rdl_host_config like = {.rx_buffer = 256};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct strangers *s = strangers_like(&like);
        struct guest_net *net = &lab_of(s, 0)->guest.net;
        const uint8_t count[2] = {(uint8_t)rows[i].n, (uint8_t)(rows[i].n >> 8)};
        const uint8_t frame[60] = {[0] = 2, [5] = 1, [6] = 2, [11] = 9, [12] = 0x12};

        receive(s, frame, sizeof(frame));
        while (net->irqs == 0 && events_of(s, EV_eth_rx, RDL_ANY) == 0)
            assert_int_equal(rdl_step(s->lab, RDL_STEP_TICK, no_limits), RDL_OK);
        assert_int_equal(rdl_ram_write(s->lab, s->host[0],
                                       net->slots[NET_QUEUE_RX].gpa + NET_HDR_NUM_BUFFERS, count,
                                       sizeof(count)),
                         RDL_OK);
        for (uint32_t n = 0; n < rows[i].more; n++) {
            receive(s, frame, sizeof(frame));
            go(s);
        }
        go(s);
        assert_int_equal(net->broken, rows[i].broken);
        rdl_lab_free(s->lab);
        test_free(s);
    }
}

static void a_host_can_ping_itself(void **state)
{
    struct strangers *s = *state;
    uint64_t rtt;

    assert_int_equal(ping(s, 0, address(s, 0, 0), 56, &rtt), RDL_OK);
    assert_int_equal(ping(s, 0, address(s, 0, 1), 56, &rtt), RDL_OK);
    assert_int_equal(events_of(s, EV_forwarded, RDL_ANY) + events_of(s, EV_flooded, RDL_ANY), 0);
}

static void nobody_answers_three_questions(void **state)
{
    struct strangers *s = *state;
    struct rdl_ping_config c = {.bytes = 8, .timeout_ns = 10 * (uint64_t)SECOND};
    struct rdl_ping_result r;
    rdl_ping_id id;

    memcpy(c.address, nobody, 16);
    assert_int_equal(rdl_ping(s->lab, s->host[0], &c, &id), RDL_OK);
    assert_int_equal(rdl_ping_wait(s->lab, id, no_limits), RDL_OK);
    assert_int_equal(rdl_ping_result(s->lab, id, &r), RDL_ERR_NO_ROUTE);
    assert_int_equal(events_of(s, EV_eth_tx, FRAME_ARP_REQUEST), 3);
    assert_true(rdl_now_ns(s->lab) >= 3 * (uint64_t)SECOND);
    assert_true(rdl_now_ns(s->lab) < 4 * (uint64_t)SECOND);
    assert_int_equal(lab_of(s, 0)->guest.net.tx_drops[DROP_UNRESOLVED], 1);
    go(s);
    /* Asked again from the start, it may be there by then. */
    assert_int_equal(rdl_ping(s->lab, s->host[0], &c, &id), RDL_OK);
    assert_int_equal(events_of(s, EV_eth_tx, FRAME_ARP_REQUEST), 3);
    go(s);
    assert_int_equal(events_of(s, EV_eth_tx, FRAME_ARP_REQUEST), 6);
}

static void a_lost_question_or_answer_is_asked_for_again(void **state)
{
    static const uint32_t kinds[] = {FRAME_ARP_REQUEST, FRAME_ARP_REPLY, FRAME_ND_SOLICIT,
                                     FRAME_ND_ADVERT};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct strangers *s = strangers_new(true);
        struct rdl_ping_config c = {.bytes = 8, .timeout_ns = 5 * (uint64_t)SECOND};
        struct rdl_ping_result r;
        rdl_ping_id id;

        add_drop(s, FLT_DROP, (rdl_port){0}, kinds[i], RDL_ANY);
        memcpy(c.address, address(s, 1, (uint32_t)i / 2), 16);
        assert_int_equal(rdl_ping(s->lab, s->host[0], &c, &id), RDL_OK);
        assert_int_equal(rdl_ping_wait(s->lab, id, no_limits), RDL_OK);
        assert_int_equal(rdl_ping_result(s->lab, id, &r), RDL_OK);
        assert_true(r.rtt_ns > SECOND && r.rtt_ns < 2 * (uint64_t)SECOND);
        assert_int_equal(events_of(s, EV_lost, kinds[i]), 1);
        strangers_free(s);
    }
}

static void a_ping_whose_reply_is_lost_ends_in_time(void **state)
{
    struct strangers *s = *state;
    uint64_t rtt;

    add_drop(s, FLT_DROP, (rdl_port){0}, FRAME_ECHO_REPLY, RDL_ANY);
    assert_int_equal(ping(s, 0, address(s, 1, 0), 8, &rtt), RDL_ERR_TIMEOUT);
    assert_int_equal(events_of(s, EV_ping_lost, RDL_ANY), 1);
    assert_int_equal(ping(s, 0, address(s, 1, 0), 8, &rtt), RDL_OK);
}

static void what_is_known_is_believed_for_a_minute(void **state)
{
    struct strangers *s = *state;
    uint64_t rtt;

    assert_int_equal(ping(s, 0, address(s, 1, 0), 8, &rtt), RDL_OK);
    assert_int_equal(rdl_run(s->lab, 59 * (uint64_t)SECOND, no_limits), RDL_OK);
    assert_int_equal(ping(s, 0, address(s, 1, 0), 8, &rtt), RDL_OK);
    assert_int_equal(events_of(s, EV_eth_tx, FRAME_ARP_REQUEST), 1);
    assert_int_equal(rdl_run(s->lab, 70 * (uint64_t)SECOND, no_limits), RDL_OK);
    assert_int_equal(ping(s, 0, address(s, 1, 0), 8, &rtt), RDL_OK);
    assert_int_equal(events_of(s, EV_eth_tx, FRAME_ARP_REQUEST), 2);
}

static void without_a_link_nobody_can_be_asked(void **state)
{
    struct strangers *s = *state;
    const struct rdl_host_config h3 = {.name = "h3"};
    struct rdl_ping_config c = {.bytes = 8};
    rdl_host alone;
    rdl_ping_id id;

    assert_int_equal(rdl_host_add(s->lab, &h3, &alone), RDL_OK);
    memcpy(c.address, nobody, 16);
    assert_int_equal(rdl_ping(s->lab, alone, &c, &id), RDL_ERR_NO_ROUTE);
    memset(c.address, 0, 16);
    assert_int_equal(rdl_ping(s->lab, alone, &c, &id), RDL_ERR_INVAL);
    c.address[0] = 0xff;
    assert_int_equal(rdl_ping(s->lab, alone, &c, &id), RDL_ERR_INVAL);
    strangers_link(s, "h3");
    memcpy(c.address, nobody, 16);
    assert_int_equal(rdl_ping(s->lab, alone, &c, &id), RDL_OK);
    go(s);
}

static void so_many_pings_may_be_under_way(void **state)
{
    struct strangers *s = *state;
    struct rdl_ping_config c = {.bytes = 8};
    struct rdl_ping_result r;
    rdl_ping_id first = {0}, id;

    memcpy(c.address, address(s, 1, 0), 16);
    for (uint32_t i = 0; i < GUEST_PINGS_MAX; i++)
        assert_int_equal(rdl_ping(s->lab, s->host[0], &c, i ? &id : &first), RDL_OK);
    assert_int_equal(rdl_ping(s->lab, s->host[0], &c, &id), RDL_ERR_LIMIT);
    go(s);
    /* The transmit ring holds 32; the others had no room and were lost in time. */
    assert_int_equal(events_of(s, EV_ping_reply, RDL_ANY), GUEST_NET_QUEUE_SIZE);
    assert_int_equal(lab_of(s, 0)->guest.net.tx_drops[DROP_QUEUE_FULL],
                     GUEST_PINGS_MAX - GUEST_NET_QUEUE_SIZE);
    assert_int_equal(events_of(s, EV_ping_lost, RDL_ANY), GUEST_PINGS_MAX - GUEST_NET_QUEUE_SIZE);
    assert_int_equal(rdl_ping_result(s->lab, first, &r), RDL_OK);
    assert_int_equal(rdl_ping(s->lab, s->host[0], &c, &id), RDL_OK);
    assert_int_equal(rdl_ping_result(s->lab, first, &r), RDL_ERR_STALE);
    go(s);
}

static void modify_qp_finds_out_the_mac_of_its_address_vector(void **state)
{
    (void)state;
    for (uint8_t index = 0; index < 2; index++) {
        struct strangers *s = strangers_new(true);
        const rdl_qp qp = init_qp(s);
        struct rdl_qp_info info;
        struct rdl_response rsp;
        rdl_pd pd;

        assert_int_equal(move_qp(s, qp, QPS_RTR, address(s, 1, index), index), RDL_OK);
        assert_int_equal(rdl_alloc_pd(s->lab, s->host[0], "pd2", &pd), RDL_ERR_BUSY);
        assert_int_equal(rdl_answer(s->lab, s->host[0], &rsp), RDL_ERR_BUSY);
        assert_int_equal(rdl_wait(s->lab, s->host[0], no_limits, &rsp), RDL_OK);
        assert_int_equal(rdl_answer(s->lab, s->host[0], &rsp), RDL_OK);
        assert_int_equal(rdl_query_qp(s->lab, qp), RDL_OK);
        assert_int_equal(rdl_wait(s->lab, s->host[0], no_limits, &rsp), RDL_OK);
        assert_int_equal(rdl_qp_info(s->lab, qp, &info), RDL_OK);
        assert_int_equal(info.attr.state, QPS_RTR);
        assert_memory_equal(info.attr.ah.dmac, lab_of(s, 1)->port.mac, 6);
        strangers_free(s);
    }
}

static void modify_qp_fails_when_nobody_answers_and_can_be_tried_again(void **state)
{
    struct strangers *s = *state;
    const rdl_qp qp = init_qp(s);
    struct rdl_qp_info info;
    struct rdl_response rsp;

    assert_int_equal(move_qp(s, qp, QPS_RTR, nobody, 0), RDL_OK);
    assert_int_equal(rdl_wait(s->lab, s->host[0], no_limits, &rsp), RDL_ERR_NO_ROUTE);
    assert_int_equal(rdl_qp_info(s->lab, qp, &info), RDL_OK);
    assert_int_equal(info.attr.state, QPS_INIT);
    assert_int_equal(move_qp(s, qp, QPS_RTR, address(s, 1, 0), 0), RDL_OK);
    assert_int_equal(rdl_wait(s->lab, s->host[0], no_limits, &rsp), RDL_OK);
    assert_int_equal(rdl_qp_info(s->lab, qp, &info), RDL_OK);
    assert_int_equal(info.attr.state, QPS_RTR);
}

static void count(void *ctx, const char *key, const struct rdl_value *v)
{
    (void)key, (void)v;
    ++*(uint32_t *)ctx;
}

/* What waits for a host that is not there goes on when it comes; it is a neighbour like others. */
static void a_host_that_comes_is_asked_for_no_more(void **state)
{
    static const uint8_t third[16] = {[10] = 0xff, 0xff, 10, 0, 0, 3};
    const struct rdl_host_config c = {.name = "h3"};
    struct strangers *s = *state;
    const rdl_qp qp = init_qp(s);
    struct rdl_qp_info info;
    struct rdl_value v;
    struct rdl_response rsp;
    uint32_t n = 0;
    rdl_host h;
    size_t at;

    assert_int_equal(move_qp(s, qp, QPS_RTR, third, 0), RDL_OK);
    assert_int_equal(rdl_inspect(s->lab, "h1.ip.neighbours[4].state", &v, &at), RDL_OK);
    assert_int_equal(v.number, NB_INCOMPLETE);
    assert_int_equal(rdl_host_add(s->lab, &c, &h), RDL_OK);
    assert_int_equal(rdl_wait(s->lab, s->host[0], no_limits, &rsp), RDL_OK);
    assert_int_equal(rdl_qp_info(s->lab, qp, &info), RDL_OK);
    assert_memory_equal(info.attr.ah.dmac, lab_host(s->lab->state, h.raw)->port.mac, 6);
    assert_int_equal(events_of(s, EV_neighbour, RDL_ANY), 2); /* asked for, and told */
    go(s);
    assert_int_equal(events_of(s, EV_neighbour, RDL_ANY), 2);
    assert_int_equal(rdl_inspect_list(s->lab, "h1.ip.neighbours", count, &n, &at), RDL_OK);
    assert_int_equal(n, 6); /* two addresses of each host */
    assert_int_equal(rdl_inspect(s->lab, "h1.ip.neighbours[4].state", &v, &at), RDL_OK);
    assert_int_equal(v.number, NB_PERMANENT);
}

/* Everything of this file's lab again, from a checkpoint in the middle of a question. */
static void a_checkpoint_keeps_what_waits(void **state)
{
    struct strangers *s = *state;
    struct rdl_checkpoint *c;
    const rdl_qp qp = init_qp(s);
    uint64_t hash;
    struct rdl_response rsp;

    assert_int_equal(move_qp(s, qp, QPS_RTR, address(s, 1, 1), 1), RDL_OK);
    assert_int_equal(rdl_checkpoint_save(s->lab, &c), RDL_OK);
    assert_int_equal(rdl_wait(s->lab, s->host[0], no_limits, &rsp), RDL_OK);
    go(s);
    hash = rdl_hash(s->lab);
    rdl_checkpoint_restore(s->lab, c);
    assert_int_equal(rdl_wait(s->lab, s->host[0], no_limits, &rsp), RDL_OK);
    go(s);
    assert_true(rdl_hash(s->lab) == hash);
    rdl_checkpoint_free(c);
}

#define ARP(f)   cmocka_unit_test_setup_teardown(f, with_arp, tear_down)
#define KNOWN(f) cmocka_unit_test_setup_teardown(f, without_arp, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARP(the_first_ping_asks_for_the_mac_and_the_second_knows_it),
        KNOWN(hosts_that_were_introduced_do_not_ask),
        ARP(every_size_up_to_the_mtu_comes_back),
        cmocka_unit_test(frames_come_back_out_of_small_buffers),
        cmocka_unit_test(a_number_of_buffers_that_is_none_breaks_the_driver),
        ARP(a_host_can_ping_itself),
        ARP(nobody_answers_three_questions),
        cmocka_unit_test(a_lost_question_or_answer_is_asked_for_again),
        ARP(a_ping_whose_reply_is_lost_ends_in_time),
        ARP(what_is_known_is_believed_for_a_minute),
        ARP(without_a_link_nobody_can_be_asked),
        KNOWN(so_many_pings_may_be_under_way),
        cmocka_unit_test(modify_qp_finds_out_the_mac_of_its_address_vector),
        ARP(modify_qp_fails_when_nobody_answers_and_can_be_tried_again),
        KNOWN(a_host_that_comes_is_asked_for_no_more),
        ARP(a_checkpoint_keeps_what_waits),
    };

    return cmocka_run_group_tests_name("ip", tests, NULL, NULL);
}
