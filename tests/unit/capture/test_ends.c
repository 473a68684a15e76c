/* SPDX-License-Identifier: MIT */
/* Tests of captures at one end of a connection, of unreliable services, and of several connections.
 */
#include "testing.h"

#include "captured.h"
#include "captured_reads.h"

#include <string.h>

#include "emu/base/assert.h"

/* --- Captured at one end ---------------------------------------------------------------------- */

static void finds_at(const struct captured *v, size_t n, char at, struct exact_limits limits,
                     const char *expected)
{
    const struct captured_known known = {.at = at, .limits = limits};
    struct check c;
    char buf[500];

    captured_check(v, n, &known, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), expected);
    assert_int_equal(c.v[0].n_exact, 1);
    check_done(&c);
}

static const struct exact_limits unlimited = {EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN,
                                              EXACT_UNKNOWN};

static void at_the_requester_timers_and_limits_are_known(void **state)
{
    static const struct captured early[] = {SEND_OF(0, 'a', 1), SEND_OF(60, 'a', 1),
                                            ACK_OF(61, 'b', 1, 1)};
    static const struct captured late[] = {SEND_OF(0, 'a', 1), SEND_OF(270, 'a', 1),
                                           ACK_OF(271, 'b', 1, 1)};
    static const struct captured often[] = {SEND_OF(0, 'a', 1), SEND_OF(70, 'a', 1),
                                            SEND_OF(140, 'a', 1), ACK_OF(141, 'b', 1, 1)};
    static const struct captured reads[] = {READ(0, 1, 8), READ(1, 2, 8),
                                            RESPONSE(2, ONLY, 1, 8, 1), RESPONSE(3, ONLY, 2, 8, 2)};
    static const struct captured rnr[] = {SEND_OF(0, 'a', 1), NAK_OF(2, 'b', 1, RNR_10US, 0),
                                          SEND_OF(11, 'a', 1), ACK_OF(12, 'b', 1, 1)};
    struct exact_limits limits = unlimited;

    (void)state;
    limits.timeout = 4; /* 65.5 us */
    finds_at(early, ARRAY_LEN(early), 'a', limits, "2 AGAIN_AFTER_TIMEOUT, 2 AGAIN_TOO_EARLY");
    finds_at(late, ARRAY_LEN(late), 'a', limits, "2 AGAIN_AFTER_TIMEOUT, 2 AGAIN_TOO_LATE");
    finds_at(early, ARRAY_LEN(early), 'a', unlimited, "2 AGAIN_AFTER_TIMEOUT");
    limits.retry_cnt = 1;
    finds_at(often, ARRAY_LEN(often), 'a', limits,
             "2 AGAIN_AFTER_TIMEOUT, 3 AGAIN_AFTER_TIMEOUT, 3 AGAIN_TOO_OFTEN");
    limits = unlimited;
    limits.max_rd_atomic = 1;
    finds_at(reads, ARRAY_LEN(reads), 'a', limits, "2 TOO_MANY_RDS");
    finds_at(rnr, ARRAY_LEN(rnr), 'a', unlimited,
             "2 RECEIVER_NOT_READY, 3 AGAIN_IN_RNR_WAIT, 3 RNR_NOT_WAITED");
}

static void at_the_responder_what_has_come_is_known(void **state)
{
    static const struct captured twice[] = {SEND_OF(0, 'a', 1),
                                            SEND_OF(1, 'a', 3),
                                            NAK_OF(2, 'b', 2, NAK_SEQUENCE, 1),
                                            SEND_OF(3, 'a', 4),
                                            {.at_us = 4,
                                             .from = 'b',
                                             .op = OP_RC_ACKNOWLEDGE,
                                             .psn = 2,
                                             .syndrome = NAK_SEQUENCE,
                                             .msn = 1}};

    (void)state;
    finds_at(twice, ARRAY_LEN(twice), 'b', unlimited,
             "2 GAP, 4 NOT_ANSWERED, 5 ANSWERED_TWICE, 5 NAK_TWICE");
}

/* An adapter may answer while further packets arrive, and its packets may be in flight when a NAK
 * arrives.
 */
static void what_an_adapter_shows_is_not_of_now(void **state)
{
    static const struct captured pipelined[] = {SEND_OF(0, 'a', 1),   SEND_OF(1, 'a', 2),
                                                SEND_OF(2, 'a', 3),   ACK_OF(3, 'b', 1, 1),
                                                ACK_OF(4, 'b', 2, 2), ACK_OF(5, 'b', 3, 3)};
    static const struct captured rnr[] = {SEND_OF(0, 'a', 1),  NAK_OF(2, 'b', 1, RNR_10US, 0),
                                          SEND_OF(3, 'a', 2),  SEND_OF(20, 'a', 1),
                                          SEND_OF(21, 'a', 2), ACK_OF(23, 'b', 2, 2)};

    (void)state;
    finds_at(pipelined, ARRAY_LEN(pipelined), 'b', unlimited, "");
    finds_at(rnr, ARRAY_LEN(rnr), 'a', unlimited, "2 RECEIVER_NOT_READY, 4 AGAIN_AFTER_RNR");
}

/* The requests of the first responses were sent before the capture began. */
static void a_capture_that_begins_with_an_answer(void **state)
{
    static const struct captured nak[] = {NAK_OF(0, 'b', 2, NAK_SEQUENCE, 1), SEND_OF(1, 'a', 2),
                                          SEND_OF(2, 'a', 3), ACK_OF(4, 'b', 3, 3)};
    static const struct captured acks[] = {ACK_OF(0, 'b', 1, 1), SEND_OF(1, 'a', 3),
                                           ACK_OF(2, 'b', 2, 2), ACK_OF(3, 'b', 3, 3)};

    (void)state;
    finds_at(nak, ARRAY_LEN(nak), 'b', unlimited, "");
    finds_at(acks, ARRAY_LEN(acks), 'b', unlimited, "");
}

/* A receiver may keep packets beyond a gap, so that only the missing ones are retransmitted. */
static void what_comes_early_may_be_kept(void **state)
{
    static const struct captured late[] = {SEND_OF(0, 'a', 1), SEND_OF(1, 'a', 3),
                                           SEND_OF(2, 'a', 2), SEND_OF(3, 'a', 4),
                                           ACK_OF(4, 'b', 4, 4)};
    static const struct captured behind[] = {SEND_OF(0, 'a', 1),  SEND_OF(1, 'a', 2),
                                             SEND_OF(2, 'a', 3),  NAK_OF(3, 'b', 2, 0x60, 1),
                                             SEND_OF(90, 'a', 2), ACK_OF(91, 'b', 3, 3)};

    (void)state;
    finds_at(late, ARRAY_LEN(late), 'b', unlimited, "2 GAP, 3 LATE");
    finds_at(behind, ARRAY_LEN(behind), 'b', unlimited, "4 LOST_BEHIND, 5 AGAIN_AFTER_NAK");
}

/* The second response of a READ of five is lost, and the SEND behind it.  A requester may go back
 * at the third response, or wait for its timer as rxe does.  It cannot do both.
 */
static void a_requester_may_wait_at_a_missing_response(void **state)
{
    static const struct captured waits[] = {
        READ(0, 1, 1033),
        RESPONSE(2, FIRST, 1, 256, 1),
        RESPONSE(3, MIDDLE, 3, 256, 1),
        RESPONSE(4, MIDDLE, 4, 256, 1),
        RESPONSE(5, LAST, 5, 9, 1),
        SEND_OF(40, 'a', 6),
        READ(70, 2, 777),
        SEND_OF(71, 'a', 6),
        RESPONSE(72, FIRST, 2, 256, 1),
        RESPONSE(73, MIDDLE, 3, 256, 1),
        RESPONSE(74, MIDDLE, 4, 256, 1),
        RESPONSE(75, LAST, 5, 9, 1),
        ACK_OF(76, 'b', 6, 2),
    };
    struct captured goes_back[ARRAY_LEN(waits)], hurries[ARRAY_LEN(waits)];
    struct exact_limits limits = unlimited;

    (void)state;
    limits.timeout = 4; /* 65.5 us */
    limits.retry_cnt = 1;
    finds_at(waits, ARRAY_LEN(waits), 'a', limits, "3 ANSWER_GAP, 7 AGAIN_AFTER_HOLE");
    memcpy(goes_back, waits, sizeof(waits));
    memcpy(hurries, waits, sizeof(waits));
    goes_back[5] = (struct captured)READ(6, 2, 777);
    goes_back[6] = (struct captured)SEND_OF(7, 'a', 6);
    goes_back[7] = (struct captured)RESPONSE(8, FIRST, 2, 256, 1);
    memcpy(goes_back + 8, waits + 9, 4 * sizeof(waits[0]));
    finds_at(goes_back, ARRAY_LEN(waits) - 1, 'a', limits, "3 ANSWER_GAP, 6 AGAIN_AFTER_HOLE");
    hurries[6].at_us = 41;
    hurries[7].at_us = 42;
    finds_at(hurries, ARRAY_LEN(waits), 'a', limits,
             "3 ANSWER_GAP, 7 AGAIN_AFTER_HOLE, 7 AGAIN_TOO_EARLY");
}

/* The answers of a SEND and of an atomic are lost.  The acknowledge of the repeated SEND names the
 * atomic, as rxe sends it, and ends it for the requester, as for rxe.
 */
static void an_acknowledge_may_end_an_atomic(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 1),    ATOMIC(1, 2),  SEND_OF(70, 'a', 1), ATOMIC(71, 2),
        ACK_OF(72, 'b', 2, 2), ATOMIC(73, 3), FOUND(74, 2, 5, 2),  FOUND(75, 3, 6, 3),
    };
    static const struct captured early[] = {ATOMIC(0, 1), ATOMIC(1, 2), FOUND(2, 1, 5, 1),
                                            FOUND(3, 2, 6, 2)};
    struct exact_limits limits = unlimited;

    (void)state;
    limits.max_rd_atomic = 1;
    finds_at(rows, ARRAY_LEN(rows), 'a', limits, "3 AGAIN_AFTER_TIMEOUT, 5 ANSWER_OF_OTHERS");
    finds_at(early, ARRAY_LEN(early), 'a', limits, "2 TOO_MANY_RDS");
}

/* --- Adapters and taps ------------------------------------------------------------------------ */

/* The packets of two ports that are captured separately are not in order. */
static void an_answer_may_be_captured_before_what_it_answers(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 1),   ACK_OF(2, 'b', 1, 1),
                                           ACK_OF(3, 'b', 2, 2), SEND_OF(4, 'a', 2),
                                           SEND_OF(5, 'a', 3),   ACK_OF(7, 'b', 3, 3)};

    (void)state;
    SHOWS(rows, "3 OUT_OF_ORDER");
}

/* The responses behind a missing one need not be requested again. */
static void a_read_may_be_asked_for_again_in_parts(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 1),
        ACK_OF(1, 'b', 1, 1),
        READ(2, 2, 1033),
        RESPONSE(10, FIRST, 2, 256, 2),
        RESPONSE(12, MIDDLE, 4, 256, 2),
        RESPONSE(13, MIDDLE, 5, 256, 2),
        RESPONSE(14, LAST, 6, 9, 2),
        READ(20, 3, 256),
        RESPONSE(30, ONLY, 3, 256, 2),
        SEND_OF(31, 'a', 7),
        ACK_OF(32, 'b', 7, 3),
    };

    (void)state;
    SHOWS(rows, "5 ANSWER_GAP, 8 AGAIN_AFTER_HOLE");
}

/* A packet that was requested again is no copy, even if it comes alone. */
static void only_what_a_nak_asks_for_may_be_sent_again(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 1),   SEND_OF(1, 'a', 2),
                                           SEND_OF(2, 'a', 3),   NAK_OF(3, 'b', 2, NAK_SEQUENCE, 1),
                                           SEND_OF(90, 'a', 2),  SEND_OF(91, 'a', 4),
                                           ACK_OF(93, 'b', 4, 4)};

    (void)state;
    SHOWS(rows, "4 LOST_BEHIND, 5 AGAIN_AFTER_NAK");
}

/* The new life begins near the old PSN; only the MSN, which starts at 0, shows it. */
static void an_msn_that_goes_back_is_of_a_new_life(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 1),    ACK_OF(1, 'b', 1, 50),
                                           SEND_OF(2, 'a', 2),    ACK_OF(3, 'b', 2, 51),
                                           SEND_OF(900, 'a', 9),  ACK_OF(901, 'b', 9, 1),
                                           SEND_OF(902, 'a', 10), ACK_OF(903, 'b', 10, 2)};

    (void)state;
    SHOWS(rows, "5 STARTS_AGAIN");
}

/* Packets that no rule covers leave gaps.  A complete capture must report no more than that. */
static void what_is_not_followed_may_be_what_is_missing(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 1),
        ACK_OF(1, 'b', 1, 1),
        ACK_OF(2, 'b', 3, 3),
        {.from = 'a', .op = OP_RC_SEND_ONLY, .n = 8, .harm = OTHER_SERVICE},
    };
    const struct captured_known lost_nothing = {.is_complete = true};
    char buf[500];
    struct check c;

    (void)state;
    captured_check(rows, 3, &lost_nothing, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), "3 ACK_OF_NOTHING");
    check_done(&c);
    captured_check(rows, 4, &lost_nothing, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), "3 NOT_CAPTURED, 4 NOT_FOLLOWED");
    check_done(&c);
}

/* --- Other services, congestion --------------------------------------------------------------- */

static void an_unreliable_connection_loses_and_goes_on(void **state)
{
    static const struct captured rows[] = {
        {.at_us = 0, .from = 'a', .op = OP_UC_SEND_ONLY, .psn = 1, .n = 8},
        {.at_us = 1, .from = 'a', .op = OP_UC_SEND_ONLY, .psn = 3, .n = 8},
        {.at_us = 2, .from = 'a', .op = OP_UC_SEND_ONLY, .psn = 2, .n = 8},
        {.at_us = 3, .from = 'a', .op = OP_UC_SEND_ONLY, .psn = 4, .n = 8},
        {.at_us = 4, .from = 'a', .op = OP_UC_SEND_ONLY, .psn = 4, .n = 8},
        {.at_us = 5, .from = 'a', .op = OP_UC_SEND_FIRST, .psn = 5, .n = 256},
        {.at_us = 6, .from = 'a', .op = OP_UC_SEND_ONLY, .psn = 6, .n = 8},
        {.at_us = 7, .from = 'a', .op = OP_UC_SEND_ONLY, .psn = 900000, .n = 8},
    };

    (void)state;
    SHOWS(rows, "2 GAP, 3 LATE, 5 DOUBLED, 7 BAD_ORDER, 8 STARTS_AGAIN");
}

static void a_message_whose_beginning_is_missing_has_no_known_length(void **state)
{
    static const struct captured rows[] = {
        {.at_us = 0, .from = 'a', .op = OP_UC_RDMA_WRITE_MIDDLE, .psn = 1, .n = 256},
        {.at_us = 1, .from = 'a', .op = OP_UC_RDMA_WRITE_LAST, .psn = 2, .n = 8},
        {.at_us = 2, .from = 'a', .op = OP_UC_RDMA_WRITE_FIRST, .psn = 3, .n = 256},
        {.at_us = 3, .from = 'a', .op = OP_UC_RDMA_WRITE_MIDDLE, .psn = 5, .n = 256},
        {.at_us = 4, .from = 'a', .op = OP_UC_RDMA_WRITE_LAST, .psn = 6, .n = 8},
        {.at_us = 5, .from = 'a', .op = OP_UC_RDMA_WRITE_ONLY, .psn = 7, .n = 8, .dma_bytes = 9},
    };

    (void)state;
    SHOWS(rows, "4 GAP, 6 BAD_DMA_LENGTH");
}

static void congestion_is_counted(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'b', 1),
        ACK_OF(1, 'a', 1, 1),
        {.at_us = 2,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .tclass = 3},
        {.at_us = 3, .from = 'b', .op = OP_CNP},
        ACK_OF(4, 'b', 1, 1),
        {.at_us = 5, .from = 'b', .op = OP_CNP, .qpn = 99},
    };
    const struct captured_known nothing = {.at = 0};
    struct check c;

    (void)state;
    captured_check(rows, ARRAY_LEN(rows), &nothing, &c);
    assert_int_equal(c.found.n, 0);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.record.n_cnps, 1); /* of a queue pair without other packets */
    for (uint32_t i = 0; i < c.record.n_flows; i++) {
        const struct flow *f = &c.record.flows[i];

        assert_int_equal(f->n_ce, f->dest_qpn == 18);
        assert_int_equal(f->n_cnps, f->dest_qpn == 17);
    }
    check_done(&c);
}

/* --- Pairing of flows ------------------------------------------------------------------------- */

static void connections_are_told_apart_by_their_answers(void **state)
{
    static const struct captured rows[] = {
        {.at_us = 0,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 5,
         .n = 8,
         .ack_req = true,
         .qpn = 31},
        {.at_us = 1,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 900,
         .n = 8,
         .ack_req = true,
         .qpn = 32},
        {.at_us = 2,
         .from = 'b',
         .op = OP_RC_ACKNOWLEDGE,
         .psn = 900,
         .syndrome = 31,
         .msn = 1,
         .qpn = 41},
        {.at_us = 3,
         .from = 'b',
         .op = OP_RC_ACKNOWLEDGE,
         .psn = 5,
         .syndrome = 31,
         .msn = 1,
         .qpn = 42},
    };
    const struct captured_known nothing = {.at = 0};
    struct check c;

    (void)state;
    captured_check(rows, ARRAY_LEN(rows), &nothing, &c);
    assert_int_equal(c.found.n, 0);
    assert_int_equal(c.n, 2);
    for (uint32_t i = 0; i < c.record.n_flows; i++) {
        const struct flow *f = &c.record.flows[i];

        if (f->dest_qpn == 31)
            assert_int_equal(c.record.flows[f->peer].dest_qpn, 42);
        if (f->dest_qpn == 32)
            assert_int_equal(c.record.flows[f->peer].dest_qpn, 41);
    }
    check_done(&c);
}

static void one_direction_alone_is_told_of(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 1), SEND_OF(1, 'a', 2)};

    (void)state;
    SHOWS(rows, "1 ONE_WAY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_requester_timers_and_limits_are_known),
        cmocka_unit_test(at_the_responder_what_has_come_is_known),
        cmocka_unit_test(what_an_adapter_shows_is_not_of_now),
        cmocka_unit_test(a_capture_that_begins_with_an_answer),
        cmocka_unit_test(what_comes_early_may_be_kept),
        cmocka_unit_test(a_requester_may_wait_at_a_missing_response),
        cmocka_unit_test(an_acknowledge_may_end_an_atomic),
        cmocka_unit_test(an_answer_may_be_captured_before_what_it_answers),
        cmocka_unit_test(a_read_may_be_asked_for_again_in_parts),
        cmocka_unit_test(only_what_a_nak_asks_for_may_be_sent_again),
        cmocka_unit_test(an_msn_that_goes_back_is_of_a_new_life),
        cmocka_unit_test(what_is_not_followed_may_be_what_is_missing),
        cmocka_unit_test(an_unreliable_connection_loses_and_goes_on),
        cmocka_unit_test(a_message_whose_beginning_is_missing_has_no_known_length),
        cmocka_unit_test(congestion_is_counted),
        cmocka_unit_test(connections_are_told_apart_by_their_answers),
        cmocka_unit_test(one_direction_alone_is_told_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
