/* SPDX-License-Identifier: MIT */
/* Tests of each rule for frames and requests with the smallest capture that breaks it: "3 GAP" is
 * the rule GAP, found at frame 3.
 */
#include "testing.h"

#include "captured.h"
#include "captured_reads.h"
#include "emu/base/assert.h"

/* A message of three packets. */
#define FIRST(when, at)                                                                            \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_SEND_FIRST, .psn = (at), .n = CAPTURED_MTU       \
    }
#define MIDDLE(when, at)                                                                           \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_SEND_MIDDLE, .psn = (at), .n = CAPTURED_MTU      \
    }
#define LAST(when, at)                                                                             \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_SEND_LAST, .psn = (at), .n = 9, .ack_req = true  \
    }

/* --- Correct captures ------------------------------------------------------------------------- */

static void what_is_right_shows_nothing(void **state)
{
    static const struct captured rows[] = {
        FIRST(0, 0xfffffe),
        MIDDLE(1, 0xffffff),
        LAST(2, 0), /* the PSN wraps */
        ACK_OF(5, 'b', 0, 1),
        READ(10, 1, 600),
        SEND_OF(11, 'a', 4),
        RESPONSE(12, FIRST, 1, 256, 2),
        RESPONSE(13, MIDDLE, 2, 256, 2),
        RESPONSE(14, LAST, 3, 88, 2),
        ACK_OF(15, 'b', 4, 3),
        ATOMIC(20, 5),
        FOUND(22, 5, 99, 4),
        SEND_OF(23, 'b', 700), /* the other direction */
        ACK_OF(24, 'a', 700, 1),
    };

    (void)state;
    SHOWS(rows, "");
}

static void one_answer_may_be_for_all_before_it(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 10),
        SEND_OF(1, 'a', 11),
        SEND_OF(2, 'a', 12),
        ACK_OF(9, 'b', 12, 3),
    };

    (void)state;
    SHOWS(rows, "");
}

/* --- Single frames ---------------------------------------------------------------------------- */

static void a_damaged_frame_is_nobodys(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 10),
        {.at_us = 1, .from = 'a', .op = OP_RC_SEND_ONLY, .psn = 11, .n = 8, .harm = BAD_BIT},
        SEND_OF(2, 'a', 12),
        ACK_OF(3, 'b', 10, 1),
    };

    (void)state;
    SHOWS(rows, "2 BAD_ICRC, 3 GAP, 3 NOT_ANSWERED");
}

static void frames_that_contradict_themselves(void **state)
{
    static const struct captured length[] = {
        {.from = 'a', .op = OP_RC_SEND_ONLY, .psn = 1, .n = 8, .harm = FALSE_LENGTH}};
    static const struct captured pad[] = {
        {.from = 'a', .op = OP_UC_SEND_FIRST, .psn = 1, .n = 256, .harm = FALSE_PAD}};
    static const struct captured version[] = {
        {.from = 'a', .op = OP_RC_SEND_ONLY, .psn = 1, .n = 8, .harm = FALSE_VERSION}};
    static const struct captured opcode[] = {
        {.from = 'a', .op = OP_RC_SEND_ONLY, .psn = 1, .n = 8, .harm = FALSE_OPCODE}};
    static const struct captured service[] = {
        {.from = 'a', .op = OP_RC_SEND_ONLY, .psn = 1, .n = 8, .harm = OTHER_SERVICE}};
    static const struct captured checksum[] = {
        {.from = 'a', .op = OP_UD_SEND_ONLY, .psn = 1, .n = 8, .harm = FALSE_SUM}};

    (void)state;
    SHOWS(length, "1 BAD_LENGTH");
    SHOWS(pad, "1 BAD_PAD, 1 BAD_SIZE_AT_ANY_MTU");
    SHOWS(version, "1 BAD_VERSION");
    SHOWS(opcode, "1 BAD_OPCODE");
    SHOWS(service, "1 NOT_FOLLOWED"); /* a defined service that is not supported */
    SHOWS(checksum, "1 BAD_IP_CHECKSUM");
}

static void frames_that_are_captured_before_they_have_an_icrc(void **state)
{
    static const struct captured rows[] = {
        {.from = 'a', .op = OP_RC_SEND_ONLY, .psn = 1, .n = 8, .ack_req = true, .harm = NO_ICRC},
        ACK_OF(1, 'b', 1, 1)};

    (void)state;
    SHOWS(rows, "1 ICRC_NOT_WRITTEN");
}

static void a_host_that_writes_no_icrc_is_told_of_once(void **state)
{
    static const struct captured rows[] = {
        {.at_us = 0,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .harm = BAD_BIT},
        ACK_OF(1, 'b', 1, 1),
        {.at_us = 2,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 2,
         .n = 8,
         .ack_req = true,
         .harm = BAD_BIT},
        ACK_OF(3, 'b', 2, 2),
        {.at_us = 4,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 4,
         .n = 8,
         .ack_req = true,
         .harm = BAD_BIT},
    };

    (void)state;
    SHOWS(rows, "1 ICRC_NEVER_RIGHT, 5 GAP, 5 NOT_ANSWERED");
}

/* --- Requests --------------------------------------------------------------------------------- */

static void a_gap_is_repaired_after_a_nak(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 10), SEND_OF(2, 'a', 12), NAK_OF(4, 'b', 11, NAK_SEQUENCE, 1),
        SEND_OF(6, 'a', 11), SEND_OF(7, 'a', 12), ACK_OF(9, 'b', 12, 3),
    };
    uint64_t median_ns, worst_ns;
    const struct captured_known nothing = {.at = 0};
    struct check c;

    (void)state;
    SHOWS(rows, "2 GAP, 4 AGAIN_AFTER_NAK");
    captured_check(rows, ARRAY_LEN(rows), &nothing, &c);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.v[0].sums[0].messages, 3);
    assert_int_equal(c.v[0].sums[0].bytes, 24);
    assert_int_equal(c.v[0].sums[0].requests, 4);
    assert_int_equal(c.v[0].sums[0].again, 2);
    assert_int_equal(c.v[0].sums[0].missing, 1);
    assert_int_equal(c.v[0].sums[0].naks, 1);
    assert_true(check_repairs(&c.v[0].sums[0], &median_ns, &worst_ns));
    assert_int_equal(median_ns, 7000);
    assert_int_equal(worst_ns, 7000);
    assert_int_equal(check_goodput(&c.v[0].sums[0]), 24ull * 8 * 1000000 / 9);
    check_done(&c);
}

static void what_was_lost_behind_here(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 10), SEND_OF(1, 'a', 11), NAK_OF(4, 'b', 10, NAK_SEQUENCE, 0),
        SEND_OF(6, 'a', 10), SEND_OF(7, 'a', 11), ACK_OF(9, 'b', 11, 2),
    };

    (void)state;
    SHOWS(rows, "3 LOST_BEHIND, 4 AGAIN_AFTER_NAK");
}

static void a_timeout_is_told_by_its_time(void **state)
{
    static const struct captured slow[] = {SEND_OF(0, 'a', 10), SEND_OF(9, 'a', 10),
                                           ACK_OF(12, 'b', 10, 1)};
    static const struct captured quick[] = {SEND_OF(0, 'a', 10), SEND_OF(8, 'a', 10),
                                            ACK_OF(12, 'b', 10, 1)};

    (void)state;
    SHOWS(slow, "2 AGAIN_AFTER_TIMEOUT");
    SHOWS(quick, "2 AGAIN_UNEXPLAINED"); /* shorter than any ACK timer */
}

static void an_answer_that_was_lost_behind_here(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 10), ACK_OF(2, 'b', 10, 1),
                                           SEND_OF(5000, 'a', 10), ACK_OF(5002, 'b', 10, 1)};

    (void)state;
    SHOWS(rows, "3 ANSWER_LOST");
}

/* A single old packet, while others continue, was not retransmitted. */
static void copies_and_what_was_overtaken(void **state)
{
    static const struct captured copy[] = {SEND_OF(0, 'a', 10), SEND_OF(1, 'a', 11),
                                           SEND_OF(2, 'a', 10), SEND_OF(3, 'a', 12),
                                           ACK_OF(9, 'b', 12, 3)};
    static const struct captured late[] = {SEND_OF(0, 'a', 10), SEND_OF(1, 'a', 12),
                                           SEND_OF(2, 'a', 11), SEND_OF(3, 'a', 13),
                                           ACK_OF(9, 'b', 13, 4)};

    (void)state;
    SHOWS(copy, "3 DOUBLED");
    SHOWS(late, "2 GAP, 3 LATE");
}

#define WITH_ID(when, at, id)                                                                      \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_SEND_ONLY, .psn = (at), .n = 8, .ack_req = true, \
        .ip_id = (id)                                                                              \
    }

/* The IP identification distinguishes a copy from a retransmission even if nothing follows. */
static void an_identification_of_ip_is_a_name(void **state)
{
    static const struct captured copy[] = {WITH_ID(0, 10, 1),    WITH_ID(1, 11, 2),
                                           WITH_ID(2, 12, 3),    WITH_ID(3, 13, 4),
                                           WITH_ID(5000, 13, 4), ACK_OF(5009, 'b', 13, 4)};
    static const struct captured again[] = {WITH_ID(0, 10, 1),    WITH_ID(1, 11, 2),
                                            WITH_ID(2, 12, 3),    WITH_ID(3, 13, 4),
                                            WITH_ID(5000, 13, 5), ACK_OF(5009, 'b', 13, 4)};
    static const struct captured late[] = {WITH_ID(0, 10, 1),    WITH_ID(1, 12, 3),
                                           WITH_ID(2, 13, 4),    WITH_ID(3, 14, 5),
                                           WITH_ID(5000, 11, 2), ACK_OF(5009, 'b', 14, 5)};

    (void)state;
    SHOWS(copy, "5 DOUBLED");
    SHOWS(again, "5 AGAIN_AFTER_TIMEOUT");
    SHOWS(late, "2 GAP, 5 LATE");
}

/* What @row has, but to queue pair @to. */
static struct captured to_qp(uint32_t to, struct captured row)
{
    row.qpn = to;
    return row;
}

/* One connection after the other starts at PSN 1, and of the second one that PSN is lost at first.
 * What has been answered once is not what the responses to the second one are about.
 */
static void a_connection_that_starts_where_an_earlier_one_did(void **state)
{
    struct captured rows[28];
    size_t n = 0;

    (void)state;
    for (uint32_t psn = 1; psn <= 3; psn++) {
        rows[n++] = (struct captured)SEND_OF(10 * psn, 'a', psn);
        rows[n++] = (struct captured)ACK_OF(10 * psn + 1, 'b', psn, psn);
    }
    rows[n++] = to_qp(20, (struct captured)SEND_OF(100, 'a', 2));
    rows[n++] = to_qp(19, (struct captured)NAK_OF(101, 'b', 1, NAK_SEQUENCE, 0));
    for (uint32_t psn = 1; psn <= 3; psn++) {
        rows[n++] = to_qp(20, (struct captured)SEND_OF(100 + 10 * psn, 'a', psn));
        rows[n++] = to_qp(19, (struct captured)ACK_OF(101 + 10 * psn, 'b', psn, psn));
    }
    for (uint32_t i = 1; i <= 4; i++) {
        rows[n++] = to_qp(20, (struct captured)SEND_OF(5000 * i, 'a', 1));
        rows[n++] = to_qp(19, (struct captured)ACK_OF(5000 * i + 1, 'b', 3, 3));
    }
    captured_shows(rows, n,
                   "7 GAP, 9 AGAIN_AFTER_NAK, 15 ANSWER_LOST, 17 ANSWER_LOST, 19 ANSWER_LOST, "
                   "21 ANSWER_LOST");
}

static void another_request_with_the_same_psn(void **state)
{
    static const struct captured rows[] = {
        {.at_us = 0,
         .from = 'a',
         .op = OP_RC_RDMA_WRITE_ONLY,
         .psn = 5,
         .n = 8,
         .ack_req = true,
         .va = 1},
        SEND_OF(1, 'a', 6),
        {.at_us = 5000,
         .from = 'a',
         .op = OP_RC_RDMA_WRITE_ONLY,
         .psn = 5,
         .n = 8,
         .ack_req = true,
         .va = 2},
        SEND_OF(5001, 'a', 6),
        ACK_OF(5009, 'b', 6, 2),
    };
    static const struct captured memory[] = {
        SEND_OF(0, 'a', 5),
        {.at_us = 5000,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 5,
         .n = 8,
         .ack_req = true,
         .fill = 1},
        ACK_OF(5009, 'b', 5, 1),
    };

    (void)state;
    SHOWS(rows, "3 AGAIN_AFTER_TIMEOUT, 3 CHANGED_REQUEST");
    SHOWS(memory, "2 AGAIN_AFTER_TIMEOUT, 2 CHANGED_PAYLOAD");
}

static void a_queue_pair_may_begin_again(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 1000000),
        ACK_OF(1, 'b', 1000000, 1),
        SEND_OF(2, 'a', 7),
        ACK_OF(3, 'b', 7, 1),
    };

    (void)state;
    SHOWS(rows, "3 STARTS_AGAIN");
}

/* The old connection ended before everything was acknowledged. */
static void a_queue_pair_may_begin_again_before_all_is_answered(void **state)
{
    static const struct captured same[] = {
        SEND_OF(0, 'a', 50),
        ACK_OF(1, 'b', 50, 1),
        SEND_OF(2, 'a', 51),
        {.at_us = 9000, .from = 'a', .op = OP_RC_RDMA_WRITE_ONLY, .psn = 50, .n = 8},
        SEND_OF(9001, 'a', 51),
        ACK_OF(9002, 'b', 51, 2),
    };
    static const struct captured before[] = {
        SEND_OF(0, 'a', 50), ACK_OF(1, 'b', 50, 1),  FIRST(2, 51),
        SEND_OF(9, 'a', 20), ACK_OF(10, 'b', 20, 1),
    };

    (void)state;
    SHOWS(same, "4 STARTS_AGAIN");
    SHOWS(before, "4 STARTS_AGAIN");
}

static void messages_have_an_order_and_lengths(void **state)
{
    static const struct captured order[] = {FIRST(0, 1), SEND_OF(1, 'a', 2), ACK_OF(9, 'b', 2, 1)};
    static const struct captured middle[] = {SEND_OF(0, 'a', 1), MIDDLE(1, 2), LAST(2, 3),
                                             ACK_OF(9, 'b', 3, 2)};
    static const struct captured size[] = {
        FIRST(0, 1),
        MIDDLE(1, 2),
        {.at_us = 2, .from = 'a', .op = OP_RC_SEND_MIDDLE, .psn = 3, .n = 252},
        LAST(3, 4),
        ACK_OF(9, 'b', 4, 1)};
    static const struct captured nothing[] = {
        FIRST(0, 1),
        {.at_us = 2, .from = 'a', .op = OP_RC_SEND_LAST, .psn = 2, .n = 0, .ack_req = true},
        ACK_OF(9, 'b', 2, 1)};
    static const struct captured dma[] = {
        {.from = 'a', .op = OP_RC_RDMA_WRITE_FIRST, .psn = 1, .n = 256, .dma_bytes = 300},
        {.at_us = 1, .from = 'a', .op = OP_RC_RDMA_WRITE_LAST, .psn = 2, .n = 43, .ack_req = true},
        ACK_OF(9, 'b', 2, 1)};

    (void)state;
    SHOWS(order, "2 BAD_ORDER");
    SHOWS(middle, "2 BAD_ORDER");
    SHOWS(size, "3 BAD_SIZE");
    SHOWS(nothing, "2 BAD_SIZE");
    SHOWS(dma, "2 BAD_DMA_LENGTH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_right_shows_nothing),
        cmocka_unit_test(one_answer_may_be_for_all_before_it),
        cmocka_unit_test(a_damaged_frame_is_nobodys),
        cmocka_unit_test(frames_that_contradict_themselves),
        cmocka_unit_test(frames_that_are_captured_before_they_have_an_icrc),
        cmocka_unit_test(a_host_that_writes_no_icrc_is_told_of_once),
        cmocka_unit_test(a_gap_is_repaired_after_a_nak),
        cmocka_unit_test(what_was_lost_behind_here),
        cmocka_unit_test(a_timeout_is_told_by_its_time),
        cmocka_unit_test(an_answer_that_was_lost_behind_here),
        cmocka_unit_test(copies_and_what_was_overtaken),
        cmocka_unit_test(an_identification_of_ip_is_a_name),
        cmocka_unit_test(a_connection_that_starts_where_an_earlier_one_did),
        cmocka_unit_test(another_request_with_the_same_psn),
        cmocka_unit_test(a_queue_pair_may_begin_again),
        cmocka_unit_test(a_queue_pair_may_begin_again_before_all_is_answered),
        cmocka_unit_test(messages_have_an_order_and_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
