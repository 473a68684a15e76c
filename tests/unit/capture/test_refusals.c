/* SPDX-License-Identifier: MIT */
/* Tests of refused requests and of what follows them, of answers that must not be, and of PSNs that
 * are used twice.
 */
#include "testing.h"

#include "captured.h"
#include "captured_reads.h"
#include "emu/base/assert.h"

#define ATOMIC_AT(when, at, address)                                                               \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_FETCH_ADD, .psn = (at), .va = (address),         \
        .ack_req = true                                                                            \
    }
#define WRITE(when, at, address)                                                                   \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_RDMA_WRITE_ONLY, .psn = (at), .n = 8,            \
        .va = (address), .ack_req = true                                                           \
    }

static const struct exact_limits unlimited = {EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN,
                                              EXACT_UNKNOWN};

static void finds_at(const struct captured *v, size_t n, char at, const char *expected)
{
    const struct captured_known known = {.at = at, .limits = unlimited};
    struct check c;
    char buf[500];

    captured_check(v, n, &known, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), expected);
    check_done(&c);
}

/* --- Answers ---------------------------------------------------------------------------------- */

static void only_its_response_answers_a_read_or_an_atomic(void **state)
{
    static const struct captured read[] = {READ(0, 1, 100), ACK_OF(2, 'b', 1, 1)};
    static const struct captured atomic[] = {ATOMIC_AT(0, 1, 0), ACK_OF(2, 'b', 1, 1)};
    static const struct captured again[] = {SEND_OF(0, 'a', 1),   ACK_OF(1, 'b', 1, 1),
                                            READ(2, 2, 100),      RESPONSE(3, ONLY, 2, 100, 2),
                                            SEND_OF(999, 'a', 1), ACK_OF(1000, 'b', 2, 2)};
    static const struct captured behind[] = {READ(0, 1, 100), SEND_OF(1, 'a', 2),
                                             RESPONSE(3, ONLY, 1, 100, 2), ACK_OF(4, 'b', 2, 2)};

    (void)state;
    SHOWS(read, "1 NOT_ANSWERED, 2 ANSWER_OF_OTHERS");
    SHOWS(atomic, "1 NOT_ANSWERED, 2 ANSWER_OF_OTHERS");
    SHOWS(again, "5 ANSWER_LOST, 6 ANSWER_OF_OTHERS");
    SHOWS(behind, ""); /* an ACK with the PSN of a later SEND is right */
}

/* An ACK that came to the requester does not answer its READ: asking again is no new life. */
static void a_read_is_asked_for_again_after_an_ack(void **state)
{
    static const struct captured rows[] = {READ(0, 1, 8), RESPONSE(2, ONLY, 1, 8, 1),
                                           ACK_OF(3, 'b', 1, 1), READ(9, 1, 8),
                                           RESPONSE(11, ONLY, 1, 8, 1)};

    (void)state;
    finds_at(rows, ARRAY_LEN(rows), 'a', "3 ANSWER_OF_OTHERS, 4 ANSWER_LOST");
}

/* The atomic is over for the requester: it goes on, and later requests are answered. */
static void a_requester_may_go_on_behind_an_ack_of_its_atomic(void **state)
{
    static const struct captured on[] = {ATOMIC_AT(0, 1, 0), ACK_OF(2, 'b', 1, 1),
                                         SEND_OF(3, 'a', 2), ACK_OF(4, 'b', 2, 2)};
    static const struct captured lost[] = {
        ATOMIC_AT(0, 1, 0),   ACK_OF(2, 'b', 1, 1),   SEND_OF(3, 'a', 2),   ACK_OF(4, 'b', 2, 2),
        SEND_OF(900, 'a', 2), ACK_OF(902, 'b', 2, 2), SEND_OF(903, 'a', 3), ACK_OF(904, 'b', 3, 3)};
    static const struct captured anew[] = {
        ATOMIC_AT(0, 1, 0),   ACK_OF(2, 'b', 1, 1),   SEND_OF(3, 'a', 2),   ACK_OF(4, 'b', 2, 2),
        SEND_OF(900, 'a', 1), ACK_OF(902, 'b', 1, 1), SEND_OF(903, 'a', 2), ACK_OF(904, 'b', 2, 2)};

    (void)state;
    SHOWS(on, "2 ANSWER_OF_OTHERS, 4 ANSWER_GAP");
    SHOWS(lost, "2 ANSWER_OF_OTHERS, 4 ANSWER_GAP, 5 ANSWER_LOST");
    SHOWS(anew, "2 ANSWER_OF_OTHERS, 4 ANSWER_GAP, 5 STARTS_AGAIN");
}

/* Or the ACK is the sign that the answer is missing, as one with a later PSN is. */
static void a_requester_may_ask_again_after_an_ack_of_its_atomic(void **state)
{
    static const struct captured atomic[] = {ATOMIC_AT(0, 1, 0), ACK_OF(2, 'b', 1, 1),
                                             ATOMIC_AT(12, 1, 0), FOUND(14, 1, 5, 1)};
    static const struct captured behind[] = {
        ATOMIC_AT(0, 1, 0),  SEND_OF(1, 'a', 2),   ACK_OF(2, 'b', 1, 1), ACK_OF(3, 'b', 2, 2),
        ATOMIC_AT(12, 1, 0), SEND_OF(13, 'a', 2),  FOUND(14, 1, 5, 1),   ACK_OF(15, 'b', 2, 2),
        SEND_OF(16, 'a', 3), ACK_OF(17, 'b', 3, 3)};

    (void)state;
    SHOWS(atomic, "2 ANSWER_OF_OTHERS, 3 AGAIN_AFTER_HOLE");
    SHOWS(behind, "3 ANSWER_OF_OTHERS, 4 ANSWER_GAP, 5 AGAIN_AFTER_HOLE");
    finds_at(behind, ARRAY_LEN(behind), 'a',
             "3 ANSWER_OF_OTHERS, 4 ANSWER_GAP, 5 AGAIN_AFTER_HOLE");
}

/* The number of PSNs of a READ is a guess where no packet shows the path MTU. */
static void an_ack_inside_a_read_of_unknown_length_may_be_right(void **state)
{
    static const struct captured rows[] = {READ(0, 1, 2000), RESPONSE(3, ONLY, 1, 2000, 1),
                                           SEND_OF(4, 'a', 2), ACK_OF(5, 'b', 2, 2)};

    (void)state;
    SHOWS(rows, "");
}

static void the_length_of_a_response_is_judged_at_any_mtu(void **state)
{
    static const struct captured only[] = {READ(0, 1, 512), RESPONSE(2, ONLY, 1, 508, 1)};
    static const struct captured more[] = {READ(0, 1, 100), RESPONSE(2, ONLY, 1, 104, 1)};
    static const struct captured first[] = {READ(0, 1, 2000), RESPONSE(2, FIRST, 1, 1000, 1),
                                            RESPONSE(3, LAST, 2, 1000, 1)};
    static const struct captured last[] = {READ(0, 1, 600), RESPONSE(2, FIRST, 1, 256, 1),
                                           RESPONSE(3, MIDDLE, 2, 256, 1),
                                           RESPONSE(4, LAST, 3, 84, 1)};
    static const struct captured nothing[] = {READ(0, 1, 0), RESPONSE(2, ONLY, 1, 0, 1)};

    (void)state;
    SHOWS(only, "2 BAD_READ_LENGTH");
    SHOWS(more, "2 BAD_READ_LENGTH");
    SHOWS(first, "2 BAD_SIZE_AT_ANY_MTU");
    SHOWS(last, "4 BAD_READ_LENGTH");
    SHOWS(nothing, "");
}

static void the_size_of_a_request_is_judged_at_any_mtu(void **state)
{
    static const struct captured first[] = {
        {.from = 'a', .op = OP_RC_SEND_FIRST, .psn = 1, .n = 1000},
        {.at_us = 1, .from = 'a', .op = OP_RC_SEND_LAST, .psn = 2, .n = 9, .ack_req = true},
        ACK_OF(2, 'b', 2, 1)};
    static const struct captured only[] = {
        {.from = 'a', .op = OP_RC_SEND_ONLY, .psn = 1, .n = 4100, .ack_req = true},
        ACK_OF(2, 'b', 1, 1)};
    static const struct captured stream[] = {
        {.from = 'a', .op = OP_UC_SEND_ONLY, .psn = 1, .n = 4100},
        {.from = 'a', .op = OP_UC_SEND_ONLY, .psn = 2, .n = 4096}};
    static const struct captured datagram[] = {
        {.from = 'a', .op = OP_UD_SEND_ONLY, .psn = 1, .n = 4096},
        {.from = 'a', .op = OP_UD_SEND_ONLY, .psn = 2, .n = 4097}};

    (void)state;
    SHOWS(first, "1 BAD_SIZE_AT_ANY_MTU");
    SHOWS(only, "1 BAD_SIZE_AT_ANY_MTU");
    SHOWS(stream, "1 BAD_SIZE_AT_ANY_MTU");
    SHOWS(datagram, "2 BAD_SIZE_AT_ANY_MTU");
}

static void an_unaligned_atomic_is_refused(void **state)
{
    static const struct captured done[] = {ATOMIC_AT(0, 1, 4), FOUND(2, 1, 5, 1),
                                           ATOMIC_AT(3, 2, 8), FOUND(4, 2, 5, 2)};
    static const struct captured refused[] = {ATOMIC_AT(0, 1, 4),
                                              NAK_OF(2, 'b', 1, NAK_INVALID, 0)};
    static const struct captured write[] = {WRITE(0, 1, 3), ACK_OF(2, 'b', 1, 1)};

    (void)state;
    SHOWS(done, "2 UNALIGNED_ATOMIC");
    SHOWS(refused, "2 REFUSED, 2 REFUSED_BECAUSE");
    SHOWS(write, "");
}

/* --- Refusals --------------------------------------------------------------------------------- */

static void more_reads_than_are_taken_are_named(void **state)
{
    static const struct captured third[] = {
        READ(0, 1, 8),
        READ(1, 2, 8),
        READ(2, 3, 8),
        RESPONSE(9, ONLY, 1, 8, 1),
        RESPONSE(10, ONLY, 2, 8, 2),
        NAK_OF(11, 'b', 3, NAK_INVALID, 2),
    };
    static const struct captured alone[] = {READ(0, 1, 8), NAK_OF(9, 'b', 1, NAK_INVALID, 0)};
    static const struct captured before[] = {
        /* two were taken before, so that two are not too many */
        READ(0, 1, 8),
        READ(1, 2, 8),
        RESPONSE(9, ONLY, 1, 8, 1),
        RESPONSE(10, ONLY, 2, 8, 2),
        READ(20, 3, 8),
        READ(21, 4, 8),
        RESPONSE(29, ONLY, 3, 8, 3),
        NAK_OF(31, 'b', 4, NAK_INVALID, 3),
    };
    static const struct captured access[] = {
        READ(0, 1, 8), READ(1, 2, 8), RESPONSE(2, ONLY, 1, 8, 1), NAK_OF(9, 'b', 2, NAK_ACCESS, 1)};
    const struct captured_known nothing = {.limits = unlimited};
    struct check c;

    (void)state;
    SHOWS(third, "6 REFUSED, 6 TOO_MANY_READS");
    SHOWS(alone, "2 REFUSED, 2 REFUSED_BECAUSE");
    SHOWS(before, "8 REFUSED");
    SHOWS(access, "4 REFUSED"); /* a key is something else */
    captured_check(third, ARRAY_LEN(third), &nothing, &c);
    assert_int_equal(c.found.v[1].n, 3);
    assert_int_equal(c.found.v[1].value, 2);
    check_done(&c);
}

static void nobody_goes_on_after_a_refusal(void **state)
{
    static const struct captured both[] = {
        SEND_OF(0, 'a', 1), NAK_OF(2, 'b', 1, NAK_ACCESS, 0),
        SEND_OF(3, 'a', 2), ACK_OF(5, 'b', 2, 1),
        SEND_OF(6, 'a', 3), ACK_OF(8, 'b', 3, 2),
    };
    static const struct captured pipeline[] = {SEND_OF(0, 'a', 1), NAK_OF(2, 'b', 1, NAK_ACCESS, 0),
                                               SEND_OF(3, 'a', 2), SEND_OF(4, 'a', 3)};
    static const struct captured before[] = {
        /* what was acknowledged had been sent before the refusal */
        SEND_OF(0, 'a', 1), SEND_OF(1, 'a', 2), NAK_OF(2, 'b', 2, NAK_ACCESS, 1),
        ACK_OF(3, 'b', 1, 1)};

    (void)state;
    SHOWS(both, "2 REFUSED, 4 AFTER_THE_END, 5 REQUESTS_AFTER_NAK");
    finds_at(both, ARRAY_LEN(both), 'a',
             "2 REFUSED, 4 AFTER_THE_END, 5 REQUESTS_AFTER_NAK, 5 SENDS_AFTER_NAK");
    SHOWS(pipeline, "2 REFUSED");
    finds_at(pipeline, ARRAY_LEN(pipeline), 'a', "2 REFUSED");
    SHOWS(before, "3 REFUSED");
}

/* A queue pair that was reset after a refusal begins again. */
static void a_new_life_after_a_refusal_is_no_error(void **state)
{
    static const struct captured other[] = {SEND_OF(0, 'a', 1),   NAK_OF(2, 'b', 1, NAK_ACCESS, 0),
                                            WRITE(900, 1, 8),     ACK_OF(902, 'b', 1, 1),
                                            SEND_OF(903, 'a', 2), ACK_OF(905, 'b', 2, 2)};
    static const struct captured same[] = {SEND_OF(0, 'a', 1),   NAK_OF(2, 'b', 1, NAK_ACCESS, 0),
                                           SEND_OF(900, 'a', 1), ACK_OF(902, 'b', 1, 1),
                                           SEND_OF(903, 'a', 2), ACK_OF(905, 'b', 2, 2)};
    static const struct captured later[] = {SEND_OF(0, 'a', 1),    ACK_OF(1, 'b', 1, 1),
                                            SEND_OF(2, 'a', 2),    NAK_OF(3, 'b', 2, NAK_ACCESS, 1),
                                            SEND_OF(900, 'a', 40), ACK_OF(902, 'b', 40, 1)};

    (void)state;
    SHOWS(other, "2 REFUSED, 3 STARTS_AGAIN");
    SHOWS(same, "2 REFUSED, 3 STARTS_AGAIN");
    SHOWS(later, "4 REFUSED, 5 STARTS_AGAIN");
}

/* --- PSNs that are used twice ----------------------------------------------------------------- */

/* The MSN of the answer, or the PSN of the next request, shows that the queue pair was not reset.
 */
static void another_request_under_an_acknowledged_psn(void **state)
{
    static const struct captured msn[] = {
        SEND_OF(0, 'a', 1),   ACK_OF(1, 'b', 1, 1), SEND_OF(2, 'a', 2),
        ACK_OF(3, 'b', 2, 2), WRITE(50, 1, 8),      ACK_OF(51, 'b', 2, 2),
    };
    static const struct captured next[] = {
        SEND_OF(0, 'a', 1), ACK_OF(1, 'b', 1, 1), SEND_OF(2, 'a', 2),    ACK_OF(3, 'b', 2, 2),
        WRITE(50, 1, 8),    SEND_OF(51, 'a', 3),  ACK_OF(52, 'b', 3, 3),
    };

    (void)state;
    SHOWS(msn, "5 REUSED_PSN");
    SHOWS(next, "5 REUSED_PSN");
}

static void a_reset_queue_pair_uses_its_psns_again(void **state)
{
    static const struct captured msn[] = {
        SEND_OF(0, 'a', 1), ACK_OF(1, 'b', 1, 1),  SEND_OF(2, 'a', 2),  ACK_OF(3, 'b', 2, 2),
        WRITE(50, 1, 8),    ACK_OF(51, 'b', 1, 1), SEND_OF(60, 'a', 2), ACK_OF(61, 'b', 2, 2),
    };
    static const struct captured lives[] = {
        /* one request each: nothing tells it from a PSN that is used twice */
        WRITE(0, 1, 0),        ACK_OF(1, 'b', 1, 1), WRITE(50, 1, 8),
        ACK_OF(51, 'b', 1, 1), WRITE(60, 1, 16),     ACK_OF(61, 'b', 1, 1),
    };
    static const struct captured together[] = {
        SEND_OF(0, 'a', 1), SEND_OF(1, 'a', 2),    SEND_OF(2, 'a', 3), ACK_OF(3, 'b', 3, 3),
        WRITE(50, 1, 8),    WRITE(51, 2, 8),       WRITE(52, 3, 8),    ACK_OF(53, 'b', 3, 3),
        WRITE(54, 4, 8),    ACK_OF(55, 'b', 4, 4),
    };

    (void)state;
    SHOWS(msn, "5 STARTS_AGAIN");
    SHOWS(lives, "3 STARTS_AGAIN, 5 STARTS_AGAIN");
    SHOWS(together, "5 STARTS_AGAIN");
}

/* --- RNR NAKs --------------------------------------------------------------------------------- */

static void a_wait_that_is_cut_short_is_no_loss(void **state)
{
    static const struct captured rows[] = {SEND_OF(0, 'a', 1), NAK_OF(2, 'b', 1, RNR_10US, 0),
                                           SEND_OF(11, 'a', 1), ACK_OF(12, 'b', 1, 1)};
    /* both hosts were captured, and the RNR NAK did not come to the requester */
    const struct captured lost[] = {
        {.at_us = 0,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .going = 2},
        {.at_us = 1,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .going = 1,
         .port = 1},
        {.at_us = 2,
         .from = 'b',
         .op = OP_RC_ACKNOWLEDGE,
         .psn = 1,
         .syndrome = 0x2c,
         .going = 2,
         .port = 1},
        {.at_us = 70,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .going = 2},
        {.at_us = 71,
         .from = 'a',
         .op = OP_RC_SEND_ONLY,
         .psn = 1,
         .n = 8,
         .ack_req = true,
         .going = 1,
         .port = 1},
        {.at_us = 72,
         .from = 'b',
         .op = OP_RC_ACKNOWLEDGE,
         .psn = 1,
         .msn = 1,
         .syndrome = 31,
         .going = 2,
         .port = 1},
        {.at_us = 73,
         .from = 'b',
         .op = OP_RC_ACKNOWLEDGE,
         .psn = 1,
         .msn = 1,
         .syndrome = 31,
         .going = 1},
    };

    (void)state;
    SHOWS(rows, "2 RECEIVER_NOT_READY, 3 AGAIN_IN_RNR_WAIT");
    SHOWS(lost, "3 RECEIVER_NOT_READY, 4 AGAIN_AFTER_TIMEOUT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_its_response_answers_a_read_or_an_atomic),
        cmocka_unit_test(a_read_is_asked_for_again_after_an_ack),
        cmocka_unit_test(a_requester_may_go_on_behind_an_ack_of_its_atomic),
        cmocka_unit_test(a_requester_may_ask_again_after_an_ack_of_its_atomic),
        cmocka_unit_test(an_ack_inside_a_read_of_unknown_length_may_be_right),
        cmocka_unit_test(the_length_of_a_response_is_judged_at_any_mtu),
        cmocka_unit_test(the_size_of_a_request_is_judged_at_any_mtu),
        cmocka_unit_test(an_unaligned_atomic_is_refused),
        cmocka_unit_test(more_reads_than_are_taken_are_named),
        cmocka_unit_test(nobody_goes_on_after_a_refusal),
        cmocka_unit_test(a_new_life_after_a_refusal_is_no_error),
        cmocka_unit_test(another_request_under_an_acknowledged_psn),
        cmocka_unit_test(a_reset_queue_pair_uses_its_psns_again),
        cmocka_unit_test(a_wait_that_is_cut_short_is_no_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
