/* SPDX-License-Identifier: MIT */
/* Tests of captures from anywhere: link headers, tunnels, several ports, one direction, packed
 * files, and reports about some connections.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "captured.h"
#include "emu/base/assert.h"
#include "emu/wire/pcapng.h"

static const struct exact_limits unlimited = {EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN,
                                              EXACT_UNKNOWN};

/* Checks @v with further facts, and returns the result.  The findings must be exactly @expected. */
static struct check checked(const struct captured *v, size_t n, const struct captured_known *known,
                            const char *expected)
{
    char buf[1000];
    struct check c;

    captured_check(v, n, known, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), expected);
    return c;
}

/* --- Where the packet is in a frame ----------------------------------------------------------- */

#define SEND_BY(when, who, at, how)                                                                \
    {                                                                                              \
        .at_us = (when), .from = (who), .op = OP_RC_SEND_ONLY, .psn = (at), .n = 8,                \
        .ack_req = true, .way = (how)                                                              \
    }
#define ACK_BY(when, who, at, msns, how)                                                           \
    {                                                                                              \
        .at_us = (when), .from = (who), .op = OP_RC_ACKNOWLEDGE, .psn = (at), .msn = (msns),       \
        .syndrome = 31, .way = (how)                                                               \
    }

static void a_packet_is_found_in_each_kind_of_frame(void **state)
{
    static const enum captured_way ways[] = {PLAIN,  HOP,     TAGGED, TAGGED2, VXLAN,
                                             GENEVE, OPTIONS, IN6,    IN6_MORE};
    const struct captured_known nothing = {.limits = unlimited};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        const struct captured rows[] = {SEND_BY(0, 'a', 5, ways[i]), ACK_BY(2, 'b', 5, 1, ways[i]),
                                        SEND_BY(3, 'a', 7, ways[i]), ACK_BY(9, 'b', 5, 1, ways[i])};
        struct check c =
            checked(rows, ARRAY_LEN(rows), &nothing, "3 GAP, 3 NOT_ANSWERED, 4 ANSWERED_TWICE");

        assert_int_equal(c.record.n_roce, 4);
        assert_int_equal(c.record.n_hosts, 2);
        check_done(&c);
    }
}

/* The destination of a packet that is routed by segments is the last one of its list. */
static void the_last_segment_is_the_destination(void **state)
{
    static const struct captured rows[] = {SEND_BY(0, 'a', 5, IN6_MORE), ACK_BY(2, 'b', 5, 1, IN6)};

    (void)state;
    SHOWS(rows, "");
}

static void roce_v1_is_named(void **state)
{
    static const struct captured alone[] = {SEND_BY(0, 'a', 5, ROCE_V1)};
    static const struct captured mixed[] = {SEND_BY(0, 'a', 5, PLAIN), ACK_BY(1, 'b', 5, 1, PLAIN),
                                            SEND_BY(2, 'a', 5, ROCE_V1),
                                            SEND_BY(3, 'a', 6, ROCE_V1)};

    (void)state;
    SHOWS(alone, "1 ROCE_V1");
    SHOWS(mixed, "3 ROCE_V1");
}

static void link_types_that_are_not_read_are_named(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 1),
        {.at_us = 1, .from = 'a', .op = OP_RC_SEND_ONLY, .psn = 9, .n = 8, .port = 1},
        {.at_us = 1, .from = 'a', .op = OP_RC_SEND_ONLY, .psn = 10, .n = 8, .port = 1},
        ACK_OF(2, 'b', 1, 1),
    };
    const struct captured_known wireless = {.limits = unlimited, .link = 105};
    struct check c = checked(rows, ARRAY_LEN(rows), &wireless, "2 UNREAD_LINK");

    (void)state;
    assert_int_equal(c.found.v[0].n, 2);
    assert_int_equal(c.found.v[0].value, 105);
    assert_string_equal(c.found.v[0].why, "IEEE 802.11");
    check_done(&c);
}

#define SEND_TO(when, at, qp)                                                                      \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_SEND_ONLY, .psn = (at), .n = 8, .ack_req = true, \
        .qpn = (qp)                                                                                \
    }
#define ACK_TO(when, at, qp, msns)                                                                 \
    {                                                                                              \
        .at_us = (when), .from = 'b', .op = OP_RC_ACKNOWLEDGE, .psn = (at), .syndrome = 31,        \
        .msn = (msns), .qpn = (qp)                                                                 \
    }

/* --- Several ports ---------------------------------------------------------------------------- */

#define SEND_AT(when, at, where)                                                                   \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_SEND_ONLY, .psn = (at), .n = 8, .ack_req = true, \
        .port = (where)                                                                            \
    }
#define ACK_AT(when, at, msns, where)                                                              \
    {                                                                                              \
        .at_us = (when), .from = 'b', .op = OP_RC_ACKNOWLEDGE, .psn = (at), .msn = (msns),         \
        .syndrome = 31, .port = (where)                                                            \
    }

/* A frame at the interface of lost ones is no second sight of what was sent. */
static void a_lost_frame_is_a_sign_of_loss(void **state)
{
    static const struct captured rows[] = {
        SEND_AT(0, 1, 0),
        SEND_AT(1, 1, 2),
    };
    const struct captured_known nothing = {.limits = unlimited};
    struct check c = checked(rows, ARRAY_LEN(rows), &nothing, "1 ONE_WAY, 2 LOST_ON_WIRE");

    (void)state;
    assert_int_equal(c.record.n_roce, 1);
    assert_int_equal(c.record.n_copies, 0);
    assert_int_equal(c.record.n_lost, 1);
    assert_int_equal(found_count(&c.found, FINDING_LOSS), 1);
    check_done(&c);
}

static void a_frame_at_two_ports_is_one(void **state)
{
    static const struct captured rows[] = {
        SEND_AT(0, 1, 0), SEND_AT(1, 1, 1), ACK_AT(2, 1, 1, 1), ACK_AT(3, 1, 1, 0),
        SEND_AT(4, 2, 0), SEND_AT(5, 2, 1), ACK_AT(6, 2, 2, 1), ACK_AT(7, 2, 2, 0),
    };
    const struct captured_known nothing = {.limits = unlimited};
    struct check c = checked(rows, ARRAY_LEN(rows), &nothing, "");

    (void)state;
    assert_int_equal(c.record.n_roce, 4);
    assert_int_equal(c.record.n_copies, 4);
    assert_int_equal(c.v[0].sums[0].requests, 2);
    assert_int_equal(c.v[0].sums[0].again, 0);
    check_done(&c);
}

/* Each transmission is counted once, also where one is lost between the ports. */
static void what_is_sent_again_is_no_copy(void **state)
{
    static const struct captured rows[] = {
        SEND_AT(0, 1, 0),     SEND_AT(100, 1, 0),   SEND_AT(101, 1, 1), /* the first one was lost */
        ACK_AT(102, 1, 1, 1), ACK_AT(103, 1, 1, 0),
    };
    static const struct captured doubled[] = {
        SEND_AT(0, 1, 0),   SEND_AT(1, 1, 1),   SEND_AT(2, 1, 1),
        ACK_AT(3, 1, 1, 1), ACK_AT(4, 1, 1, 0),
    };

    (void)state;
    SHOWS(rows, "2 AGAIN_AFTER_TIMEOUT");
    SHOWS(doubled, "3 AGAIN_UNEXPLAINED"); /* nothing tells it from a retransmission */
}

/* One port of a router shows each packet before and behind it. */
static void a_packet_before_and_behind_a_router_is_one(void **state)
{
    static const struct captured rows[] = {SEND_BY(0, 'a', 5, PLAIN), SEND_BY(1, 'a', 5, HOP),
                                           ACK_BY(2, 'b', 5, 1, PLAIN), ACK_BY(3, 'b', 5, 1, HOP)};
    static const struct captured tunnel[] = {SEND_BY(0, 'a', 5, PLAIN), SEND_BY(1, 'a', 5, VXLAN),
                                             ACK_BY(2, 'b', 5, 1, VXLAN),
                                             ACK_BY(3, 'b', 5, 1, PLAIN)};

    (void)state;
    SHOWS(rows, "");
    SHOWS(tunnel, "");
}

/* A mirror port shows each frame twice.  A few doubled frames are the network's doing. */
static void frames_that_all_come_in_pairs_are_mirrored(void **state)
{
    const struct captured_known nothing = {.limits = unlimited};
    struct captured rows[40];
    struct check c;

    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        rows[4 * i] = (struct captured)SEND_OF(10 * i, 'a', i + 1);
        rows[4 * i + 1] = (struct captured)SEND_OF(10 * i + 1, 'a', i + 1);
        rows[4 * i + 2] = (struct captured)ACK_OF(10 * i + 3, 'b', i + 1, i + 1);
        rows[4 * i + 3] = (struct captured)ACK_OF(10 * i + 4, 'b', i + 1, i + 1);
    }
    c = checked(rows, 40, &nothing, "");
    assert_int_equal(c.record.n_copies, 20);
    check_done(&c);
    c = checked(rows, 8, &nothing, "2 AGAIN_UNEXPLAINED, 6 AGAIN_UNEXPLAINED");
    check_done(&c);
    for (uint32_t i = 0; i < 10; i++) {
        rows[2 * i] = (struct captured)SEND_TO(20 * i, 5, 31 + i); /* sent again, not mirrored */
        rows[2 * i + 1] = (struct captured)SEND_TO(20 * i + 9, 5, 31 + i);
    }
    captured_check(rows, 20, &nothing, &c);
    assert_int_equal(c.record.n_copies, 0);
    check_done(&c);
}

/* A host that forwards sees packets come in and go out.  It is not the host that sent them. */
static void a_host_that_forwards_is_no_end(void **state)
{
    static const struct captured rows[] = {
        {.at_us = 0,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .going = PCAPNG_INBOUND},
        {.at_us = 1,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .going = PCAPNG_OUTBOUND,
         .port = 1},
        {.at_us = 2,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 3,
         .n = 8,
         .ack_req = true,
         .going = PCAPNG_INBOUND},
        {.at_us = 3,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 3,
         .n = 8,
         .ack_req = true,
         .going = PCAPNG_OUTBOUND,
         .port = 1},
        {.at_us = 4,
         .from = 'b',
         .op = OP_RC_ACKNOWLEDGE,
         .psn = 1,
         .msn = 1,
         .syndrome = 31,
         .going = PCAPNG_INBOUND,
         .port = 1},
        {.at_us = 5,
         .from = 'b',
         .op = OP_RC_ACKNOWLEDGE,
         .psn = 1,
         .msn = 1,
         .syndrome = 31,
         .going = PCAPNG_OUTBOUND},
    };
    const struct captured_known nothing = {.limits = unlimited};
    struct check c = checked(rows, ARRAY_LEN(rows), &nothing, "3 GAP, 3 NOT_ANSWERED");

    (void)state;
    assert_int_equal(c.record.n_roce, 3);
    assert_int_equal(c.v[0].n_ends, 0);
    check_done(&c);
}

static void both_directions_of_a_file_are_counted_once(void **state)
{
    static const struct captured rows[] = {
        {.at_us = 0,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .tclass = 3,
         .going = PCAPNG_OUTBOUND},
        {.at_us = 1,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .tclass = 3,
         .going = PCAPNG_INBOUND,
         .port = 1},
        {.at_us = 2, .from = 'b', .op = OP_CNP, .going = PCAPNG_OUTBOUND, .port = 1},
        {.at_us = 3, .from = 'b', .op = OP_CNP, .going = PCAPNG_INBOUND},
        {.at_us = 4,
         .from = 'b',
         .op = OP_RC_ACKNOWLEDGE,
         .psn = 1,
         .msn = 1,
         .syndrome = 31,
         .going = PCAPNG_OUTBOUND,
         .port = 1},
        {.at_us = 5,
         .from = 'b',
         .op = OP_RC_ACKNOWLEDGE,
         .psn = 1,
         .msn = 1,
         .syndrome = 31,
         .going = PCAPNG_INBOUND},
    };
    const struct captured_known nothing = {.limits = unlimited};
    struct check c = checked(rows, ARRAY_LEN(rows), &nothing, "");

    (void)state;
    assert_int_equal(c.record.n_roce, 3);
    assert_int_equal(c.v[0].n_ends, 2);
    assert_int_equal(c.v[0].n_exact, 2);
    for (uint32_t i = 0; i < c.record.n_flows; i++) {
        const struct flow *f = &c.record.flows[i];

        assert_int_equal(f->n_ce, f->dest_qpn == 18);
        assert_int_equal(f->n_cnps, f->dest_qpn == 17);
    }
    check_done(&c);
}

/* --- One direction ---------------------------------------------------------------------------- */

static void silence_is_judged_where_the_place_is_known(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 1), SEND_OF(70, 'a', 1),
                                           SEND_OF(140, 'a', 1)};
    static const struct captured once[] = {SEND_OF(0, 'a', 1)};
    struct captured_known known = {.limits = unlimited};
    struct check c;

    (void)state;
    SHOWS(rows, "1 ONE_WAY, 2 AGAIN_AFTER_TIMEOUT, 3 AGAIN_AFTER_TIMEOUT");
    known.at = 'b';
    c = checked(rows, ARRAY_LEN(rows), &known,
                "2 AGAIN_AFTER_TIMEOUT, 3 AGAIN_AFTER_TIMEOUT, 3 NEVER_ANSWERED");
    check_done(&c);
    known.at = 'a';
    c = checked(once, ARRAY_LEN(once), &known, "1 NOT_ANSWERED");
    check_done(&c);
    known.limits.timeout = 4; /* 65.5 us */
    known.limits.retry_cnt = 2;
    c = checked(rows, ARRAY_LEN(rows), &known,
                "2 AGAIN_AFTER_TIMEOUT, 3 AGAIN_AFTER_TIMEOUT, 3 NEVER_ANSWERED, "
                "3 RETRIES_USED_UP");
    assert_int_equal(c.v[0].n_exact, 1);
    check_done(&c);
    known.limits.retry_cnt = 1;
    c = checked(rows, ARRAY_LEN(rows), &known,
                "2 AGAIN_AFTER_TIMEOUT, 3 AGAIN_AFTER_TIMEOUT, 3 NEVER_ANSWERED, "
                "3 AGAIN_TOO_OFTEN");
    check_done(&c);
    known.limits.timeout = 5; /* 131 us */
    c = checked(rows, ARRAY_LEN(rows), &known,
                "2 AGAIN_AFTER_TIMEOUT, 2 AGAIN_TOO_EARLY, 3 AGAIN_AFTER_TIMEOUT, "
                "3 NEVER_ANSWERED, 3 AGAIN_TOO_EARLY");
    check_done(&c);
}

/* Answers to PSNs that were not sent are no answers, but show what is wrong. */
static void ends_that_do_not_agree_on_the_first_psn(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 100), NAK_OF(1, 'b', 7, NAK_SEQUENCE, 0),
                                           SEND_OF(70, 'a', 100)};
    const struct captured_known known = {.limits = unlimited, .at = 'a'};
    struct check c =
        checked(rows, ARRAY_LEN(rows), &known, "3 AGAIN_AFTER_TIMEOUT, 3 NEVER_ANSWERED");

    (void)state;
    assert_non_null(strstr(c.found.v[1].why, "do not agree on the first PSN"));
    check_done(&c);
    SHOWS(rows, "1 ONE_WAY, 2 ONE_WAY, 3 AGAIN_AFTER_TIMEOUT");
}

/* A capture of what goes out alone does not show that nothing comes. */
static void what_is_not_captured_is_not_silence(void **state)
{
    static const struct captured rows[] = {
        {.at_us = 0,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .going = PCAPNG_OUTBOUND},
        {.at_us = 70,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .going = PCAPNG_OUTBOUND},
    };

    (void)state;
    SHOWS(rows, "1 ONE_WAY, 2 AGAIN_AFTER_TIMEOUT");
}

static void a_host_that_is_not_in_the_file_is_recognized(void **state)
{
    static const struct captured rows[] = {SEND_BY(0, 'a', 5, IN6), ACK_BY(1, 'b', 5, 1, IN6)};
    const struct captured_known at_ipv4 = {.limits = unlimited, .at = 'a'};
    struct check c = checked(rows, ARRAY_LEN(rows), &at_ipv4, "");

    (void)state;
    assert_true(c.is_elsewhere);
    assert_int_equal(c.elsewhere, 0);
    check_done(&c);
}

/* --- Congestion ------------------------------------------------------------------------------- */

static void congestion_has_a_time(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 1),
        ACK_OF(1, 'b', 1, 1),
        {.at_us = 50, .from = 'b', .op = OP_CNP},
        {.at_us = 90, .from = 'a', .op = OP_RC_SEND_ONLY, .n = 1, .way = PFC},
        {.at_us = 91, .from = 'a', .op = OP_RC_SEND_ONLY, .n = 1, .way = PFC},
        {.at_us = 100, .from = 'a', .op = OP_RC_SEND_ONLY, .way = PFC},
    };
    const struct captured_known nothing = {.limits = unlimited};
    struct check c = checked(rows, ARRAY_LEN(rows), &nothing, "");

    (void)state;
    assert_true(axis_is_congested(&c.axis));
    assert_int_equal(c.axis.step_ns, 2001);
    assert_int_equal(c.axis.sum[AXIS_PACKETS], 2);
    assert_int_equal(c.axis.v[AXIS_PACKETS][0], 2);
    assert_int_equal(c.axis.v[AXIS_CNP][24], 1);
    assert_int_equal(c.axis.sum[AXIS_STOP], 2);
    assert_int_equal(c.axis.v[AXIS_STOP][44], 1);
    assert_int_equal(c.axis.v[AXIS_STOP][45], 1);
    assert_int_equal(c.axis.v[AXIS_START][49], 1);
    assert_int_equal(c.axis.priorities, 8);
    check_done(&c);
}

/* --- Some connections ------------------------------------------------------------------------- */

static void ends_are_named_by_address_and_number(void **state)
{
    static const struct {
        const char *text;
        bool is_right;
        bool hosts[2], qpns[2];
    } rows[] = {
        {"17-0x12", true, {false, false}, {true, true}},
        {"10.0.0.1-18", true, {true, false}, {false, true}},
        {"10.0.0.1:17-10.0.0.2:18", true, {true, true}, {true, true}},
        {"[fd00::1]:17-[fd00::2]:0xffffff", true, {true, true}, {true, true}},
        {"fd00::1-fd00::2", true, {true, true}, {false, false}},
        {"", false, {0}, {0}},
        {"17", false, {0}, {0}},
        {"17-", false, {0}, {0}},
        {"-18", false, {0}, {0}},
        {"17-18-19", false, {0}, {0}},
        {"0x-18", false, {0}, {0}},
        {"17-16777216", false, {0}, {0}},
        {"17-99999999999999999999", false, {0}, {0}},
        {"10.0.0.1:-18", false, {0}, {0}},
        {"10.0.0:1-18", false, {0}, {0}},
        {"[fd00::1:17-18", false, {0}, {0}},
        {"h1-h2", false, {0}, {0}},
    };
    struct choice_end ends[2];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const bool is_right = choice_parse(rows[i].text, ends);

        if (is_right != rows[i].is_right)
            fail_msg("%s", rows[i].text);
        for (unsigned k = 0; k < 2 && is_right; k++) {
            assert_int_equal(ends[k].has_host, rows[i].hosts[k]);
            assert_int_equal(ends[k].has_qpn, rows[i].qpns[k]);
        }
    }
    assert_true(choice_parse("[fd00::1]:0x11-0XFF", ends));
    assert_int_equal(ends[0].qpn, 17);
    assert_int_equal(ends[0].gid[15], 1);
    assert_int_equal(ends[1].qpn, 255);
}

static void a_report_may_be_about_some_connections(void **state)
{
    static const struct captured rows[] = {
        SEND_TO(0, 5, 31),     ACK_TO(1, 5, 41, 1),      SEND_TO(2, 900, 32),
        ACK_TO(3, 900, 42, 1), SEND_TO(4, 902, 32),      SEND_TO(5, 5000, 33),
        SEND_TO(99, 5000, 33), ACK_TO(100, 5000, 43, 1), SEND_TO(101, 5002, 33),
    };
    static const struct {
        const char *ends;
        uint32_t worst;
        const char *found;
        uint32_t n, first;
    } wanted[] = {
        {NULL, 0, "5 GAP, 5 NOT_ANSWERED, 7 AGAIN_AFTER_TIMEOUT, 9 GAP, 9 NOT_ANSWERED", 3, 0},
        {"31-41", 0, "", 1, 0},
        {"42-32", 0, "5 GAP, 5 NOT_ANSWERED", 1, 1},
        {"10.0.0.2:33-10.0.0.1:43", 0, "7 AGAIN_AFTER_TIMEOUT, 9 GAP, 9 NOT_ANSWERED", 1, 2},
        {"10.0.0.1:33-10.0.0.2:43", 0, "", 0, 0},
        {"10.0.0.1-10.0.0.2", 2,
         "5 GAP, 5 NOT_ANSWERED, 7 AGAIN_AFTER_TIMEOUT, 9 GAP, 9 NOT_ANSWERED", 2, 2},
        {NULL, 1, "7 AGAIN_AFTER_TIMEOUT, 9 GAP, 9 NOT_ANSWERED", 1, 2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        struct captured_known known = {.limits = unlimited, .choice = {.worst = wanted[i].worst}};
        struct check c;

        known.choice.by_ends = wanted[i].ends && choice_parse(wanted[i].ends, known.choice.ends);
        assert_int_equal(known.choice.by_ends, wanted[i].ends != NULL);
        c = checked(rows, ARRAY_LEN(rows), &known, wanted[i].found);
        assert_int_equal(c.n, 3);
        assert_int_equal(c.n_shown, wanted[i].n);
        assert_int_equal(c.n_elsewhere + c.found.n, 5);
        if (c.n_shown > 0)
            assert_int_equal(c.shown[0], wanted[i].first);
        check_done(&c);
    }
}

/* --- Packed files ----------------------------------------------------------------------------- */

/* Appends @n bytes, packed by gzip, to @f. */
static void pack(FILE *f, const void *bytes, size_t n)
{
    uint8_t out[4096];
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)n};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = out;
    z.avail_out = sizeof(out);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(fwrite(out, 1, sizeof(out) - z.avail_out, f), sizeof(out) - z.avail_out);
    deflateEnd(&z);
}

static size_t read_all(FILE *f, uint8_t *to, size_t cap, struct unpack **ret)
{
    size_t n = 0, got;

    rewind(f);
    *ret = unpack_new(f);
    assert_non_null(*ret);
    while ((got = unpack_read(*ret, to + n, n + 7 < cap ? 7 : cap - n)) > 0)
        n += got;
    return n;
}

static void a_packed_file_is_read_like_any(void **state)
{
    static const char text[] = "the bytes of a file, the bytes of a file, the bytes of a file";
    uint8_t got[400];
    struct unpack *u;
    FILE *f = tmpfile();
    long whole;
    size_t n;

    (void)state;
    assert_non_null(f);
    pack(f, text, 20);
    pack(f, text + 20, sizeof(text) - 20); /* a second member */
    whole = ftell(f);
    fputs("no member", f);
    n = read_all(f, got, sizeof(got), &u);
    assert_int_equal(n, sizeof(text));
    assert_memory_equal(got, text, n);
    assert_null(unpack_wrong(u));
    assert_false(unpack_was_cut(u));
    unpack_free(u);
    assert_int_equal(ftruncate(fileno(f), whole - 3), 0);
    read_all(f, got, sizeof(got), &u);
    assert_true(unpack_was_cut(u));
    unpack_free(u);
    assert_int_equal(fseek(f, whole - 8, SEEK_SET), 0);
    assert_int_equal(fputc(0x55, f), 0x55); /* the sum of the second member */
    assert_int_equal(ftruncate(fileno(f), whole), 0);
    read_all(f, got, sizeof(got), &u);
    assert_non_null(unpack_wrong(u));
    unpack_free(u);
    fclose(f);
}

static void other_packers_are_named(void **state)
{
    static const uint8_t xz[8] = {0xfd, '7', 'z', 'X', 'Z', 0, 0, 4};
    struct capture c;
    FILE *f = tmpfile();

    (void)state;
    assert_non_null(f);
    assert_int_equal(fwrite(xz, 1, sizeof(xz), f), sizeof(xz));
    rewind(f);
    assert_false(capture_begin(&c, f));
    assert_non_null(strstr(c.wrong, "packed by xz"));
    capture_done(&c);
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_is_found_in_each_kind_of_frame),
        cmocka_unit_test(the_last_segment_is_the_destination),
        cmocka_unit_test(roce_v1_is_named),
        cmocka_unit_test(link_types_that_are_not_read_are_named),
        cmocka_unit_test(a_lost_frame_is_a_sign_of_loss),
        cmocka_unit_test(a_frame_at_two_ports_is_one),
        cmocka_unit_test(what_is_sent_again_is_no_copy),
        cmocka_unit_test(a_packet_before_and_behind_a_router_is_one),
        cmocka_unit_test(frames_that_all_come_in_pairs_are_mirrored),
        cmocka_unit_test(a_host_that_forwards_is_no_end),
        cmocka_unit_test(both_directions_of_a_file_are_counted_once),
        cmocka_unit_test(silence_is_judged_where_the_place_is_known),
        cmocka_unit_test(ends_that_do_not_agree_on_the_first_psn),
        cmocka_unit_test(what_is_not_captured_is_not_silence),
        cmocka_unit_test(a_host_that_is_not_in_the_file_is_recognized),
        cmocka_unit_test(congestion_has_a_time),
        cmocka_unit_test(ends_are_named_by_address_and_number),
        cmocka_unit_test(a_report_may_be_about_some_connections),
        cmocka_unit_test(a_packed_file_is_read_like_any),
        cmocka_unit_test(other_packers_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
