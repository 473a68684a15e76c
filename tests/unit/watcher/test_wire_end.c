/* SPDX-License-Identifier: MIT */
/* Tests of each rule of the wire watcher, with packets that obey it and packets that break it. */
#include <string.h>

#include "emu/facts/aeth.h"
#include "emu/facts/enum/opcode.h"
#include "testing.h"
#include "watcher/wire_end.h"

#define SQ_PSN     100u
#define RQ_PSN     0xfffffeu /* the PSNs of the responder wrap */
#define TIMEOUT_NS 1000000u
#define RNR_CODE   1u /* 10 us */

static struct wire_end new_end(void)
{
    const struct wire_rules rules = {
        .mtu_bytes = 1024,
        .timeout_ns = TIMEOUT_NS,
        .late_ns = 2000,
        .knows_timeout = true,
        .retry_cnt = 2,
        .rnr_retry = 1,
        .max_rd_atomic = 2,
        .sq_psn = SQ_PSN,
        .rq_psn = RQ_PSN,
    };
    struct wire_end e;

    wire_end_init(&e, &rules);
    return e;
}

static struct packet packet(enum opcode op, uint32_t psn)
{
    struct packet p = {.op = op_info((uint8_t)op)};

    p.bth.opcode = (uint8_t)op;
    p.bth.psn.v = psn & PSN_MASK;
    p.bth.ack_req = true;
    return p;
}

static struct packet answer(enum syndrome kind, uint32_t psn, uint32_t msn)
{
    struct packet p = packet(OP_RC_ACKNOWLEDGE, psn);

    p.aeth.syndrome = aeth_pack(kind, kind == SYN_ACK ? AETH_NO_CREDITS : RNR_CODE);
    p.aeth.msn = msn;
    p.bth.ack_req = false;
    return p;
}

static void sends(struct wire_end *e, struct packet p, uint64_t now_ns)
{
    wire_end_sent(e, &p, now_ns, 0);
}

static void receives(struct wire_end *e, struct packet p, uint64_t now_ns)
{
    wire_end_arrived(e, &p, now_ns);
}

static const char *text_of(enum finding f)
{
    return f < FIND_COUNT ? finding_rows[f].holds : "nothing is wrong";
}

static void is_fine(const struct wire_end *e)
{
    assert_string_equal(text_of(e->wrong), text_of(FIND_COUNT));
}

static void finds(const struct wire_end *e, enum finding f)
{
    assert_string_equal(text_of(e->wrong), text_of(f));
}

/* --- Requester -------------------------------------------------------------------------------- */

static void requests_follow_one_another(void **state)
{
    struct wire_end e = new_end();
    struct packet read = packet(OP_RC_RDMA_READ_REQUEST, SQ_PSN + 1);

    (void)state;
    read.reth.dma_bytes = 1025; /* two responses */
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 0);
    sends(&e, read, 1);
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN + 3), 2);
    is_fine(&e);
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN + 5), 3);
    finds(&e, FIND_SKIPS_PSNS);
}

static void the_ack_timer_runs_for_its_time(void **state)
{
    static const struct {
        uint64_t at_ns;
        enum finding found;
    } again[] = {
        {TIMEOUT_NS - 1, FIND_AGAIN_TOO_EARLY},
        {TIMEOUT_NS, FIND_COUNT},
        {2 * TIMEOUT_NS, FIND_AGAIN_TOO_LATE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(again); i++) {
        struct wire_end e = new_end();

        sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 0);
        sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), again[i].at_ns);
        finds(&e, again[i].found);
    }
}

/* A line that was busy until then excuses a late retransmission. */
static void a_busy_line_delays_what_is_sent_again(void **state)
{
    struct wire_end e = new_end();
    const struct packet p = packet(OP_RC_SEND_ONLY, SQ_PSN);

    (void)state;
    sends(&e, p, 0);
    wire_end_sent(&e, &p, 2 * TIMEOUT_NS, 2 * TIMEOUT_NS);
    is_fine(&e);
}

static void what_was_answered_starts_the_timer_anew(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 0);
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN + 1), 0);
    receives(&e, answer(SYN_ACK, SQ_PSN, 1), 500);
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN + 1), TIMEOUT_NS + 499);
    finds(&e, FIND_AGAIN_TOO_EARLY);
}

static void a_request_is_sent_again_so_often(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    for (uint64_t n = 0; n < 3; n++)
        sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), n * TIMEOUT_NS);
    is_fine(&e);
    assert_true(wire_end_is_exhausted(&e));
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 3 * TIMEOUT_NS);
    finds(&e, FIND_AGAIN_TOO_OFTEN);
}

static void an_answer_forgets_the_retries(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 0);
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), TIMEOUT_NS);
    receives(&e, answer(SYN_ACK, SQ_PSN, 1), TIMEOUT_NS + 1);
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN + 1), TIMEOUT_NS + 2);
    assert_false(wire_end_is_exhausted(&e));
    assert_int_equal(e.go_backs, 0);
}

static void a_nak_is_a_reason(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 0);
    receives(&e, answer(SYN_NAK_PSN_SEQUENCE, SQ_PSN, 0), 10);
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 11);
    is_fine(&e);
    receives(&e, answer(SYN_ACK, SQ_PSN, 1), 20);
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 30);
    finds(&e, FIND_AGAIN_WITHOUT_REASON);
}

static void an_rnr_nak_is_waited_for(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 0);
    receives(&e, answer(SYN_RNR_NAK, SQ_PSN, 0), 100);
    assert_false(wire_end_is_rnr_exhausted(&e));
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 100 + wire_rnr_wait_ns(RNR_CODE));
    is_fine(&e);
    receives(&e, answer(SYN_RNR_NAK, SQ_PSN, 0), 20000);
    assert_true(wire_end_is_rnr_exhausted(&e));
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 20001);
    finds(&e, FIND_RNR_NOT_WAITED);
}

/* The two definitions of the codes must agree. */
/* A NAK that ends the connection ends it at once; a capture may show what was on its way out. */
static void nothing_is_sent_behind_a_refusal(void **state)
{
    struct wire_end strict = new_end(), lagging = new_end();

    (void)state;
    lagging.rules.may_lag = true;
    sends(&strict, packet(OP_RC_SEND_ONLY, SQ_PSN), 0);
    receives(&strict, answer(SYN_NAK_REMOTE_ACCESS, SQ_PSN, 0), 1);
    sends(&strict, packet(OP_RC_SEND_ONLY, SQ_PSN + 1), 2);
    finds(&strict, FIND_SENDS_AFTER_NAK);
    sends(&lagging, packet(OP_RC_SEND_ONLY, SQ_PSN), 0);
    receives(&lagging, answer(SYN_NAK_REMOTE_ACCESS, SQ_PSN, 0), 1);
    sends(&lagging, packet(OP_RC_SEND_ONLY, SQ_PSN + 1), 2);
    is_fine(&lagging);
    receives(&lagging, answer(SYN_ACK, SQ_PSN + 1, 1), 3);
    sends(&lagging, packet(OP_RC_SEND_ONLY, SQ_PSN + 2), 4);
    finds(&lagging, FIND_SENDS_AFTER_NAK);
}

/* Times that are known to a microsecond may be off by nearly that much. */
static void the_unit_of_times_is_borne_with(void **state)
{
    struct wire_end e = new_end(), rnr = new_end();

    (void)state;
    e.rules.clock_ns = rnr.rules.clock_ns = 1000;
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), 0);
    sends(&e, packet(OP_RC_SEND_ONLY, SQ_PSN), TIMEOUT_NS - 1000);
    is_fine(&e);
    sends(&rnr, packet(OP_RC_SEND_ONLY, SQ_PSN), 0);
    receives(&rnr, answer(SYN_RNR_NAK, SQ_PSN, 0), 1000);
    sends(&rnr, packet(OP_RC_SEND_ONLY, SQ_PSN), 1000 + 10000 - 1000);
    is_fine(&rnr);
    receives(&rnr, answer(SYN_RNR_NAK, SQ_PSN, 0), 20000);
    sends(&rnr, packet(OP_RC_SEND_ONLY, SQ_PSN), 20000 + 10000 - 1001);
    finds(&rnr, FIND_RNR_NOT_WAITED);
}

static void codes_of_times_mean_what_they_mean_to_the_device(void **state)
{
    (void)state;
    for (uint8_t code = 0; code < 32; code++) {
        assert_int_equal(wire_ack_timeout_ns(code), ack_timeout_ns(code));
        assert_int_equal(wire_rnr_wait_ns(code), rnr_timer_ns(code));
    }
}

static void reads_under_way_are_bounded(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        sends(&e, packet(OP_RC_FETCH_ADD, SQ_PSN + i), i);
    is_fine(&e);
    sends(&e, packet(OP_RC_FETCH_ADD, SQ_PSN + 2), 2);
    finds(&e, FIND_TOO_MANY_RDS);
}

/* To rxe an acknowledge of the oldest READ or atomic is its response; to others it is not. */
static void an_acknowledge_may_end_a_read(void **state)
{
    for (unsigned is_rxe = 0; is_rxe < 2; is_rxe++) {
        struct wire_end e = new_end();

        (void)state;
        e.rules.ack_ends_read = is_rxe;
        for (uint32_t i = 0; i < 2; i++)
            sends(&e, packet(OP_RC_FETCH_ADD, SQ_PSN + i), i);
        receives(&e, answer(SYN_ACK, SQ_PSN, 1), 10);
        sends(&e, packet(OP_RC_FETCH_ADD, SQ_PSN + 2), 20);
        finds(&e, is_rxe ? FIND_COUNT : FIND_TOO_MANY_RDS);
    }
}

/* An acknowledge of a later request is none of the READ, not even to rxe. */
static void a_later_acknowledge_ends_no_read(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    e.rules.ack_ends_read = true;
    for (uint32_t i = 0; i < 2; i++)
        sends(&e, packet(OP_RC_FETCH_ADD, SQ_PSN + i), i);
    receives(&e, answer(SYN_ACK, SQ_PSN + 1, 2), 10);
    sends(&e, packet(OP_RC_FETCH_ADD, SQ_PSN + 2), 20);
    finds(&e, FIND_TOO_MANY_RDS);
}

/* --- Responder -------------------------------------------------------------------------------- */

static void what_arrived_is_acknowledged(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    receives(&e, packet(OP_RC_SEND_FIRST, RQ_PSN), 0);
    receives(&e, packet(OP_RC_SEND_MIDDLE, RQ_PSN + 1), 1);
    receives(&e, packet(OP_RC_SEND_LAST, RQ_PSN + 2), 2);
    sends(&e, answer(SYN_ACK, RQ_PSN + 2, 1), 3);
    is_fine(&e);
    sends(&e, answer(SYN_ACK, RQ_PSN + 3, 1), 4);
    finds(&e, FIND_ACK_BEFORE_ARRIVAL);
}

static void acknowledges_do_not_go_back(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    receives(&e, packet(OP_RC_SEND_ONLY, RQ_PSN), 0);
    receives(&e, packet(OP_RC_SEND_ONLY, RQ_PSN + 1), 0);
    sends(&e, answer(SYN_ACK, RQ_PSN + 1, 2), 1);
    sends(&e, answer(SYN_ACK, RQ_PSN + 1, 2), 2); /* of a duplicate */
    is_fine(&e);
    sends(&e, answer(SYN_ACK, RQ_PSN, 2), 3);
    finds(&e, FIND_ACK_GOES_BACK);
}

static void the_msn_counts_messages(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    receives(&e, packet(OP_RC_SEND_ONLY, RQ_PSN), 0);
    receives(&e, packet(OP_RC_SEND_ONLY, RQ_PSN), 1); /* a duplicate counts once */
    sends(&e, answer(SYN_ACK, RQ_PSN, 1), 2);
    is_fine(&e);
    receives(&e, packet(OP_RC_SEND_FIRST, RQ_PSN + 1), 3);
    sends(&e, answer(SYN_ACK, RQ_PSN + 1, 2), 4);
    finds(&e, FIND_WRONG_MSN);
}

/* A request that is refused with an RNR NAK was not executed. */
static void a_refused_message_is_not_counted(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    receives(&e, packet(OP_RC_SEND_ONLY, RQ_PSN), 0);
    sends(&e, answer(SYN_RNR_NAK, RQ_PSN, 0), 1);
    is_fine(&e);
    receives(&e, packet(OP_RC_SEND_ONLY, RQ_PSN), 2);
    sends(&e, answer(SYN_ACK, RQ_PSN, 1), 3);
    is_fine(&e);
}

static void a_gap_is_told_once(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    receives(&e, packet(OP_RC_SEND_ONLY, RQ_PSN + 1), 0);
    sends(&e, answer(SYN_NAK_PSN_SEQUENCE, RQ_PSN, 0), 1);
    is_fine(&e);
    receives(&e, packet(OP_RC_SEND_ONLY, RQ_PSN + 2), 2);
    sends(&e, answer(SYN_NAK_PSN_SEQUENCE, RQ_PSN, 0), 3);
    finds(&e, FIND_NAK_TWICE);
}

static void a_nak_needs_a_gap(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    sends(&e, answer(SYN_NAK_PSN_SEQUENCE, RQ_PSN, 0), 1);
    finds(&e, FIND_NAK_WITHOUT_GAP);
}

static void a_nak_names_what_arrived(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    sends(&e, answer(SYN_NAK_REMOTE_ACCESS, RQ_PSN, 0), 1);
    finds(&e, FIND_NAK_OF_OTHERS);
}

static void an_atomic_is_answered_alike_again(void **state)
{
    struct wire_end e = new_end();
    struct packet p = packet(OP_RC_ATOMIC_ACKNOWLEDGE, RQ_PSN);

    (void)state;
    p.aeth.msn = 1;
    p.atomic_ack = 7;
    receives(&e, packet(OP_RC_FETCH_ADD, RQ_PSN), 0);
    sends(&e, p, 1);
    receives(&e, packet(OP_RC_FETCH_ADD, RQ_PSN), 2);
    sends(&e, p, 3);
    is_fine(&e);
    p.atomic_ack = 8;
    sends(&e, p, 4);
    finds(&e, FIND_ATOMIC_ANSWERED_OTHERWISE);
}

static void a_duplicate_is_answered_too(void **state)
{
    struct wire_end e = new_end();

    (void)state;
    receives(&e, packet(OP_RC_SEND_ONLY, RQ_PSN), 0);
    sends(&e, answer(SYN_ACK, RQ_PSN, 1), 1);
    wire_end_quiet(&e, 2);
    is_fine(&e);
    receives(&e, packet(OP_RC_SEND_ONLY, RQ_PSN), 3);
    wire_end_quiet(&e, 4);
    finds(&e, FIND_UNANSWERED);
}

/* An injected frame is queued on a busy line in addition to the others. */
static void a_line_is_free_behind_all_that_was_given_to_it(void **state)
{
    const uint64_t rate = 1000000000; /* 8 ns per byte */
    const uint64_t first = wire_line_free_ns(0, 100, 976, rate);

    (void)state;
    assert_int_equal(first, 100 + 8000);
    assert_int_equal(wire_line_free_ns(first, 200, 76, rate), first + 800);
    assert_int_equal(wire_line_free_ns(first, first, 76, rate), first + 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_follow_one_another),
        cmocka_unit_test(the_ack_timer_runs_for_its_time),
        cmocka_unit_test(a_busy_line_delays_what_is_sent_again),
        cmocka_unit_test(a_line_is_free_behind_all_that_was_given_to_it),
        cmocka_unit_test(what_was_answered_starts_the_timer_anew),
        cmocka_unit_test(a_request_is_sent_again_so_often),
        cmocka_unit_test(an_answer_forgets_the_retries),
        cmocka_unit_test(a_nak_is_a_reason),
        cmocka_unit_test(an_rnr_nak_is_waited_for),
        cmocka_unit_test(nothing_is_sent_behind_a_refusal),
        cmocka_unit_test(the_unit_of_times_is_borne_with),
        cmocka_unit_test(codes_of_times_mean_what_they_mean_to_the_device),
        cmocka_unit_test(reads_under_way_are_bounded),
        cmocka_unit_test(an_acknowledge_may_end_a_read),
        cmocka_unit_test(a_later_acknowledge_ends_no_read),
        cmocka_unit_test(what_arrived_is_acknowledged),
        cmocka_unit_test(acknowledges_do_not_go_back),
        cmocka_unit_test(the_msn_counts_messages),
        cmocka_unit_test(a_refused_message_is_not_counted),
        cmocka_unit_test(a_gap_is_told_once),
        cmocka_unit_test(a_nak_needs_a_gap),
        cmocka_unit_test(a_nak_names_what_arrived),
        cmocka_unit_test(an_atomic_is_answered_alike_again),
        cmocka_unit_test(a_duplicate_is_answered_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
