/* SPDX-License-Identifier: MIT */
/* Tests of each rule for responses with the smallest capture that breaks it. */
#include "testing.h"

#include "captured.h"
#include "captured_reads.h"
#include "emu/base/assert.h"

static void an_answer_that_comes_twice(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 1), ACK_OF(2, 'b', 1, 1),
                                           ACK_OF(3, 'b', 1, 1)};
    static const struct captured asked[] = {SEND_OF(0, 'a', 1), ACK_OF(2, 'b', 1, 1),
                                            SEND_OF(9000, 'a', 1), ACK_OF(9002, 'b', 1, 1)};

    (void)state;
    SHOWS(rows, "3 ANSWERED_TWICE");
    SHOWS(asked, "3 ANSWER_LOST"); /* it was requested again */
}

#define ACK_WITH_ID(when, at, msns, id)                                                            \
    {                                                                                              \
        .at_us = (when), .from = 'b', .op = OP_RC_ACKNOWLEDGE, .psn = (at), .msn = (msns),         \
        .syndrome = 31, .ip_id = (id)                                                              \
    }

/* The third response is a copy of the first.  The second is equal and is not a copy. */
static void a_copy_among_answers_that_say_the_same(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 1),           ACK_WITH_ID(2, 1, 1, 100),    SEND_OF(9000, 'a', 1),
        ACK_WITH_ID(9002, 1, 1, 101), SEND_OF(9003, 'a', 2),        ACK_WITH_ID(9004, 2, 2, 102),
        SEND_OF(9005, 'a', 3),        ACK_WITH_ID(9006, 3, 3, 103), ACK_WITH_ID(9007, 1, 1, 100),
    };

    (void)state;
    SHOWS(rows, "3 ANSWER_LOST, 9 ANSWERED_TWICE");
}

#define ANSWER_WITH_ID(when, what, at, bytes, msns, id)                                            \
    {                                                                                              \
        .at_us = (when), .from = 'b', .op = (what), .psn = (at), .n = (bytes), .msn = (msns),      \
        .syndrome = 31, .ip_id = (id)                                                              \
    }

#define ASKED(when, what, at, bytes, more)                                                         \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = (what), .psn = (at), .n = (bytes), .ack_req = true,    \
        more                                                                                       \
    }
#define ONLY(when, at, bytes, msns)                                                                \
    ANSWER_WITH_ID(when, OP_RC_RDMA_READ_RESPONSE_ONLY, at, bytes, msns, 0)

/* FLUSH and ATOMIC WRITE: each is answered by a READ response of no bytes. */
static void placement_is_answered_by_empty_responses(void **state)
{
    const struct captured good[] = {
        ASKED(0, OP_RC_ATOMIC_WRITE, 1, 8, .va = 64),
        ASKED(1, OP_RC_FLUSH, 2, 1 << 20, .va = 64),
        ONLY(2, 1, 0, 1),
        ONLY(3, 2, 0, 2),
    };
    const struct captured rxe[] = {
        ASKED(0, OP_RC_FLUSH, 2, 64, .harm = RXES_ICRC),
        ONLY(1, 2, 0, 1),
    };
    const struct captured bytes[] = {
        ASKED(0, OP_RC_FLUSH, 1, 64, .va = 64),
        ONLY(1, 1, 64, 1),
    };
    const struct captured acked[] = {
        ASKED(0, OP_RC_FLUSH, 1, 64, .va = 64),
        ANSWER_WITH_ID(1, OP_RC_ATOMIC_ACKNOWLEDGE, 1, 0, 1, 0),
    };
    const struct captured length[] = {
        ASKED(0, OP_RC_ATOMIC_WRITE, 1, 8, .dma_bytes = 16),
        ANSWER_WITH_ID(1, OP_RC_ACKNOWLEDGE, 1, 0, 0, 0),
    };
    struct captured unaligned[] = {
        ASKED(0, OP_RC_ATOMIC_WRITE, 1, 8, .va = 4),
        {.at_us = 1, .from = 'b', .op = OP_RC_ACKNOWLEDGE, .psn = 1, .syndrome = 0x61},
    };
    struct captured unknown[] = {
        ASKED(0, OP_RC_FLUSH, 1, 64, .va = 64),
        {.at_us = 1, .from = 'b', .op = OP_RC_ACKNOWLEDGE, .psn = 1, .syndrome = 0x61},
    };

    (void)state;
    SHOWS(good, "");
    SHOWS(rxe, "1 FLUSH_ICRC_OF_RXE");
    SHOWS(bytes, "2 BAD_READ_LENGTH");
    SHOWS(acked, "1 NOT_ANSWERED, 2 ANSWER_OF_OTHERS");
    SHOWS(length, "1 BAD_DMA_LENGTH, 1 NOT_ANSWERED, 2 ANSWER_OF_OTHERS"); /* an ACK is no answer */
    SHOWS(unaligned, "2 REFUSED, 2 REFUSED_BECAUSE");
    SHOWS(unknown, "2 REFUSED, 2 REFUSED_BECAUSE");
}

/* Repeated requests are answered again, and some of the responses are duplicated. */
static void a_copy_among_answers_to_what_was_asked_twice(void **state)
{
    static const struct captured asked = {
        .from = 'a', .op = OP_RC_RDMA_READ_REQUEST, .psn = 1, .n = 512};
    static const struct captured added = {.from = 'a', .op = OP_RC_FETCH_ADD, .psn = 1};
    const struct captured read[] = {
        asked,
        asked,
        ANSWER_WITH_ID(2, OP_RC_RDMA_READ_RESPONSE_FIRST, 1, 256, 1, 100),
        ANSWER_WITH_ID(3, OP_RC_RDMA_READ_RESPONSE_LAST, 2, 256, 1, 101),
        ANSWER_WITH_ID(4, OP_RC_RDMA_READ_RESPONSE_FIRST, 1, 256, 1, 102),
        ANSWER_WITH_ID(5, OP_RC_RDMA_READ_RESPONSE_FIRST, 1, 256, 1, 102),
        ANSWER_WITH_ID(6, OP_RC_RDMA_READ_RESPONSE_LAST, 2, 256, 1, 103),
        ANSWER_WITH_ID(7, OP_RC_RDMA_READ_RESPONSE_LAST, 2, 256, 1, 101),
    };
    const struct captured atomic[] = {
        added,
        added,
        ANSWER_WITH_ID(2, OP_RC_ATOMIC_ACKNOWLEDGE, 1, 0, 1, 100),
        ANSWER_WITH_ID(3, OP_RC_ATOMIC_ACKNOWLEDGE, 1, 0, 1, 101),
        ANSWER_WITH_ID(4, OP_RC_ATOMIC_ACKNOWLEDGE, 1, 0, 1, 102),
        ANSWER_WITH_ID(5, OP_RC_ATOMIC_ACKNOWLEDGE, 1, 0, 1, 101),
    };

    (void)state;
    SHOWS(read, "2 AGAIN_UNEXPLAINED, 6 ANSWERED_TWICE, 8 ANSWERED_TWICE");
    SHOWS(atomic, "2 AGAIN_UNEXPLAINED, 6 ANSWERED_TWICE");
}

/* Two READs lack their responses.  Both are reported, though the first one keeps everything behind
 * it unacknowledged.
 */
static void two_answers_that_are_missing(void **state)
{
    static const struct captured rows[] = {
        READ(0, 1, 100),
        READ(1, 2, 100),
        SEND_OF(2, 'a', 3),
        ACK_OF(4, 'b', 3, 3),
        READ(6, 1, 100),
        READ(7, 2, 100),
        SEND_OF(8, 'a', 3),
        RESPONSE(9, ONLY, 1, 100, 3),
        RESPONSE(10, ONLY, 2, 100, 3),
        ACK_OF(11, 'b', 3, 3),
    };

    (void)state;
    SHOWS(rows, "4 ANSWER_GAP, 4 ANSWER_GAP, 5 AGAIN_AFTER_HOLE");
}

/* A READ is requested three times and answered three times; the responses follow one another. */
static void a_read_that_is_answered_three_times(void **state)
{
    static const struct captured rows[] = {
        READ(0, 1, 600),
        RESPONSE(9000, FIRST, 1, 256, 1),
        RESPONSE(9001, LAST, 3, 88, 1),
        READ(9002, 1, 600),
        READ(18002, 1, 600),
        RESPONSE(18003, FIRST, 1, 256, 1),
        RESPONSE(18004, MIDDLE, 2, 256, 1),
        RESPONSE(18005, LAST, 3, 88, 1),
        RESPONSE(18006, FIRST, 1, 256, 1),
        RESPONSE(18007, MIDDLE, 2, 256, 1),
        RESPONSE(18008, LAST, 3, 88, 1),
    };

    (void)state;
    SHOWS(rows, "3 ANSWER_GAP, 4 AGAIN_AFTER_HOLE, 5 ANSWER_LOST");
}

/* A READ is asked for again and again while it is being answered.  The answers under way go on as
 * if nothing had happened: nothing is missing.
 */
static void a_read_that_is_asked_for_again_while_it_is_answered(void **state)
{
    static const struct captured rows[] = {
        READ(0, 1, 600),
        READ(9000, 1, 600),
        RESPONSE(9001, FIRST, 1, 256, 1),
        RESPONSE(9002, MIDDLE, 2, 256, 1),
        RESPONSE(9003, LAST, 3, 88, 1),
        RESPONSE(9004, FIRST, 1, 256, 1),
        RESPONSE(9005, MIDDLE, 2, 256, 1),
        READ(18000, 1, 600),
        READ(27000, 1, 600),
        RESPONSE(27001, LAST, 3, 88, 1),
        RESPONSE(27002, FIRST, 1, 256, 1),
        RESPONSE(27003, MIDDLE, 2, 256, 1),
        RESPONSE(27004, LAST, 3, 88, 1),
    };

    (void)state;
    SHOWS(rows, "2 AGAIN_AFTER_TIMEOUT, 8 ANSWER_LOST, 9 ANSWER_LOST");
}

/* A repetition asks for the first half only.  Once it is answered, the responses to those of the
 * whole are still followed.
 */
static void a_part_of_a_read_is_asked_for_again(void **state)
{
    static const struct captured rows[] = {
        READ(0, 1, 1000),
        READ(9000, 1, 1000),
        RESPONSE(9001, FIRST, 1, 256, 1),
        READ(18000, 1, 512),
        RESPONSE(18001, FIRST, 1, 256, 1),
        RESPONSE(18002, LAST, 2, 256, 1),
        READ(27000, 1, 1000),
        READ(36000, 1, 1000),
        RESPONSE(36001, MIDDLE, 2, 256, 1),
        RESPONSE(36002, MIDDLE, 3, 256, 1),
        RESPONSE(36003, LAST, 4, 232, 1),
    };

    (void)state;
    SHOWS(rows, "2 AGAIN_AFTER_TIMEOUT, 4 ANSWER_LOST, 7 ANSWER_LOST, 8 ANSWER_LOST");
}

static void an_older_answer_behind_a_newer_one(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 1), SEND_OF(1, 'a', 2),
                                           ACK_OF(4, 'b', 2, 2), ACK_OF(5, 'b', 1, 1)};

    (void)state;
    SHOWS(rows, "4 LATE");
}

static void an_rnr_nak_asks_to_wait(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 1), NAK_OF(2, 'b', 1, RNR_10US, 0),
                                           SEND_OF(12, 'a', 1), ACK_OF(14, 'b', 1, 1)};

    (void)state;
    SHOWS(rows, "2 RECEIVER_NOT_READY, 3 AGAIN_AFTER_RNR");
}

static void what_a_responder_refuses(void **state)
{
    static const struct captured access[] = {SEND_OF(0, 'a', 1), NAK_OF(2, 'b', 1, NAK_ACCESS, 0)};
    static const struct captured reserved[] = {SEND_OF(0, 'a', 1), NAK_OF(2, 'b', 1, 0x7f, 0)};

    (void)state;
    SHOWS(access, "2 REFUSED");
    SHOWS(reserved, "1 NOT_ANSWERED, 2 BAD_SYNDROME");
}

static void the_msn_counts_messages(void **state)
{
    static const struct captured rows[] = {
        SEND_OF(0, 'a', 1), ACK_OF(1, 'b', 1, 41), SEND_OF(2, 'a', 2), ACK_OF(3, 'b', 2, 42),
        SEND_OF(4, 'a', 3), ACK_OF(5, 'b', 3, 44), SEND_OF(6, 'a', 4), ACK_OF(7, 'b', 4, 45)};

    (void)state;
    SHOWS(rows, "6 WRONG_MSN"); /* reported once; then the new MSN is taken as right */
}

static void responses_of_a_read(void **state)
{
    static const struct captured missing[] = {READ(0, 1, 600),
                                              RESPONSE(2, FIRST, 1, 256, 1),
                                              RESPONSE(4, LAST, 3, 88, 1),
                                              {.at_us = 6,
                                               .from = 'a',
                                               .op = OP_RC_RDMA_READ_REQUEST,
                                               .psn = 2,
                                               .n = 344,
                                               .ack_req = true,
                                               .va = 256},
                                              RESPONSE(8, FIRST, 2, 256, 1),
                                              RESPONSE(9, LAST, 3, 88, 1)};
    static const struct captured place[] = {READ(0, 1, 600), RESPONSE(2, FIRST, 1, 256, 1),
                                            RESPONSE(3, LAST, 2, 256, 1),
                                            RESPONSE(4, LAST, 3, 88, 1)};
    static const struct captured size[] = {READ(0, 1, 600), RESPONSE(2, FIRST, 1, 256, 1),
                                           RESPONSE(3, MIDDLE, 2, 256, 1),
                                           RESPONSE(4, LAST, 3, 87, 1)};
    static const struct captured twice[] = {READ(0, 1, 300), RESPONSE(2, FIRST, 1, 256, 1),
                                            RESPONSE(3, FIRST, 1, 256, 1),
                                            RESPONSE(4, LAST, 2, 44, 1)};

    (void)state;
    SHOWS(missing, "3 ANSWER_GAP, 4 AGAIN_AFTER_HOLE");
    SHOWS(place, "3 ANSWER_PLACE");
    SHOWS(size, "4 BAD_READ_LENGTH");
    SHOWS(twice, "3 ANSWERED_TWICE");
}

/* No packet has the length of the path MTU and belongs to a longer message: the PSNs or an ONLY
 * packet show it.
 */
static void reads_of_a_whole_path_mtu(void **state)
{
    static const struct captured asked[] = {READ(0, 1, 4096), READ(1, 2, 4096), READ(2, 3, 4096)};
    static const struct captured answered[] = {READ(0, 1, 4096), RESPONSE(1, ONLY, 1, 4096, 1),
                                               READ(2, 2, 4096), RESPONSE(3, ONLY, 2, 4096, 2)};

    (void)state;
    SHOWS(asked, "1 ONE_WAY");
    SHOWS(answered, "");
}

/* A later acknowledgment shows that the response of a READ is missing. */
static void an_answer_that_is_missing_before_another(void **state)
{
    static const struct captured rows[] = {
        READ(0, 1, 100),    SEND_OF(1, 'a', 2),           ACK_OF(3, 'b', 2, 2), READ(5, 1, 100),
        SEND_OF(6, 'a', 2), RESPONSE(8, ONLY, 1, 100, 2), ACK_OF(9, 'b', 2, 2)};

    (void)state;
    SHOWS(rows, "3 ANSWER_GAP, 4 AGAIN_AFTER_HOLE");
}

static void an_atomic_is_answered_as_before(void **state)
{
    static const struct captured rows[] = {ATOMIC(0, 1), FOUND(1, 1, 5, 1), ATOMIC(9000, 1),
                                           FOUND(9001, 1, 6, 1)};
    static const struct captured wrong[] = {ATOMIC(0, 1), RESPONSE(1, ONLY, 1, 8, 1)};

    (void)state;
    SHOWS(rows, "3 ANSWER_LOST, 4 ATOMIC_ANSWERED_OTHERWISE");
    SHOWS(wrong, "1 NOT_ANSWERED, 2 ANSWER_OF_OTHERS");
}

/* A missing packet is an error if the capture is complete.  Otherwise the capture may lack it. */
static void what_is_answered_was_sent(void **state)
{
    static const struct captured nothing[] = {SEND_OF(0, 'a', 1), ACK_OF(1, 'b', 1, 1),
                                              ACK_OF(2, 'b', 2, 2)};
    static const struct captured gap[] = {SEND_OF(0, 'a', 1), SEND_OF(1, 'a', 3),
                                          ACK_OF(2, 'b', 3, 3)};
    const struct captured_known complete = {.is_complete = true};
    struct check c;
    char buf[200];

    (void)state;
    SHOWS(nothing, "3 NOT_CAPTURED");
    SHOWS(gap, "2 GAP, 3 NOT_CAPTURED");
    captured_check(nothing, ARRAY_LEN(nothing), &complete, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), "3 ACK_OF_NOTHING");
    check_done(&c);
    captured_check(gap, ARRAY_LEN(gap), &complete, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), "2 GAP, 3 ACK_BEFORE_ARRIVAL");
    check_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_comes_twice),
        cmocka_unit_test(a_copy_among_answers_that_say_the_same),
        cmocka_unit_test(placement_is_answered_by_empty_responses),
        cmocka_unit_test(a_copy_among_answers_to_what_was_asked_twice),
        cmocka_unit_test(two_answers_that_are_missing),
        cmocka_unit_test(a_read_that_is_answered_three_times),
        cmocka_unit_test(a_read_that_is_asked_for_again_while_it_is_answered),
        cmocka_unit_test(a_part_of_a_read_is_asked_for_again),
        cmocka_unit_test(an_older_answer_behind_a_newer_one),
        cmocka_unit_test(an_rnr_nak_asks_to_wait),
        cmocka_unit_test(what_a_responder_refuses),
        cmocka_unit_test(the_msn_counts_messages),
        cmocka_unit_test(responses_of_a_read),
        cmocka_unit_test(reads_of_a_whole_path_mtu),
        cmocka_unit_test(an_answer_that_is_missing_before_another),
        cmocka_unit_test(an_atomic_is_answered_as_before),
        cmocka_unit_test(what_is_answered_was_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
