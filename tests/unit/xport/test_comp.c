/* SPDX-License-Identifier: MIT */
/* The completer's rules, and the limits of retries. */
#include "testing.h"

#include "emu/facts/enum/opcode.h"
#include "emu/xport/comp.h"
#include "emu/xport/retry.h"

#define ACK       0x1f
#define ACK_CRED  0x05 /* with a credit count, which nobody uses here */
#define RNR       0x2e
#define SEQ       0x60
#define INVALID   0x61
#define ACCESS    0x62
#define OPERATION 0x63
#define RESERVED  0x64 /* invalid RD request: there is no RD */

/* Shows B28, B30, B31, B36, B38, B41, B54. */
static void each_response_has_its_verdict(void **state)
{
    static const struct {
        uint32_t psn; /* outstanding are 100 .. 109 */
        uint8_t opcode, syndrome;
        uint32_t retries, rnr_naks; /* of 3 and 2 */
        bool rnr_wait;
        enum pkt_act act;
        enum rule rule;
        enum wc_status status;
        uint32_t n_acked;
    } rows[] = {
        {100, OP_RC_ACKNOWLEDGE, ACK, 0, 0, false, ACT_ACKS, RULE_NONE, WCS_SUCCESS, 1},
        {109, OP_RC_ACKNOWLEDGE, ACK_CRED, 3, 2, false, ACT_ACKS, RULE_NONE, WCS_SUCCESS, 10},
        {104, OP_RC_ACKNOWLEDGE, ACK, 0, 0, true, ACT_ACKS, RULE_NONE, WCS_SUCCESS, 5},
        {99, OP_RC_ACKNOWLEDGE, ACK, 0, 0, false, ACT_DROP, RULE_COMP_WINDOW, WCS_SUCCESS, 0},
        {110, OP_RC_ACKNOWLEDGE, ACK, 0, 0, false, ACT_DROP, RULE_COMP_WINDOW, WCS_SUCCESS, 0},
        {99, OP_RC_ACKNOWLEDGE, ACCESS, 0, 0, false, ACT_DROP, RULE_COMP_WINDOW, WCS_SUCCESS, 0},
        {99, OP_RC_ATOMIC_ACKNOWLEDGE, ACK, 0, 0, false, ACT_DROP, RULE_COMP_WINDOW, WCS_SUCCESS,
         0},
        {104, OP_RC_ATOMIC_ACKNOWLEDGE, ACK, 0, 0, false, ACT_FAIL, RULE_COMP_RESPONSE,
         WCS_BAD_RESP_ERR, 4},
        {104, OP_RC_RDMA_READ_RESPONSE_MIDDLE, 0, 0, 0, false, ACT_FAIL, RULE_COMP_RESPONSE,
         WCS_BAD_RESP_ERR, 4},
        {104, OP_RC_ACKNOWLEDGE, RESERVED, 0, 0, false, ACT_FAIL, RULE_COMP_RESPONSE,
         WCS_BAD_RESP_ERR, 4},
        {104, OP_RC_ACKNOWLEDGE, RNR, 0, 1, false, ACT_WAIT_RNR, RULE_COMP_RNR, WCS_SUCCESS, 4},
        {100, OP_RC_ACKNOWLEDGE, RNR, 0, 1, false, ACT_WAIT_RNR, RULE_COMP_RNR, WCS_SUCCESS, 0},
        {100, OP_RC_ACKNOWLEDGE, RNR, 0, 2, false, ACT_FAIL, RULE_RNR_LIMIT, WCS_RNR_RETRY_EXC_ERR,
         0},
        {101, OP_RC_ACKNOWLEDGE, RNR, 0, 2, false, ACT_WAIT_RNR, RULE_COMP_RNR, WCS_SUCCESS, 1},
        {100, OP_RC_ACKNOWLEDGE, RNR, 0, 2, true, ACT_WAIT_RNR, RULE_COMP_RNR, WCS_SUCCESS, 0},
        {100, OP_RC_ACKNOWLEDGE, SEQ, 3, 0, true, ACT_WAIT_RNR, RULE_COMP_RNR, WCS_SUCCESS, 0},
        {100, OP_RC_ACKNOWLEDGE, SEQ, 2, 0, false, ACT_GO_BACK, RULE_COMP_SEQUENCE, WCS_SUCCESS, 0},
        {100, OP_RC_ACKNOWLEDGE, SEQ, 3, 0, false, ACT_FAIL, RULE_RETRY_LIMIT, WCS_RETRY_EXC_ERR,
         0},
        {105, OP_RC_ACKNOWLEDGE, SEQ, 3, 0, false, ACT_GO_BACK, RULE_COMP_SEQUENCE, WCS_SUCCESS, 5},
        {105, OP_RC_ACKNOWLEDGE, INVALID, 0, 0, false, ACT_FAIL, RULE_COMP_NAK, WCS_REM_INV_REQ_ERR,
         5},
        {105, OP_RC_ACKNOWLEDGE, ACCESS, 0, 0, false, ACT_FAIL, RULE_COMP_NAK, WCS_REM_ACCESS_ERR,
         5},
        {105, OP_RC_ACKNOWLEDGE, OPERATION, 0, 0, true, ACT_FAIL, RULE_COMP_NAK, WCS_REM_OP_ERR, 5},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct comp_view v = {.una = {100},
                                    .out_psns = 10,
                                    .before_rd = 10,
                                    .rnr_wait = rows[i].rnr_wait,
                                    .retries = rows[i].retries,
                                    .retry_cnt = 3,
                                    .rnr_naks = rows[i].rnr_naks,
                                    .rnr_retry = 2};
        const struct packet p = {
            .bth = {.opcode = rows[i].opcode, .psn = {rows[i].psn}},
            .op = op_info(rows[i].opcode),
            .aeth = {.syndrome = rows[i].syndrome},
        };
        struct comp_verdict d;

        comp_decide(&v, &p, &d);
        assert_int_equal(d.act, rows[i].act);
        assert_int_equal(d.rule, rows[i].rule);
        assert_int_equal(d.status, rows[i].status);
        assert_int_equal(d.n_acked, rows[i].n_acked);
    }
}

/* Shows B31. */
static void the_window_wraps(void **state)
{
    static const struct {
        uint32_t psn;
        bool inside;
    } rows[] = {{0xfffffd, false}, {0xfffffe, true}, {0xffffff, true}, {0, true},
                {3, true},         {4, false},       {0x7ffffe, false}};
    const struct comp_view v = {
        .una = {0xfffffe}, .out_psns = 6, .before_rd = 6, .retry_cnt = 1, .rnr_retry = 1};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct packet p = {.bth = {.opcode = OP_RC_ACKNOWLEDGE, .psn = {rows[i].psn}},
                                 .op = op_info(OP_RC_ACKNOWLEDGE),
                                 .aeth = {.syndrome = ACK}};

        struct comp_verdict d;

        comp_decide(&v, &p, &d);
        assert_int_equal(d.act, rows[i].inside ? ACT_ACKS : ACT_DROP);
        assert_int_equal(d.values.least, rows[i].inside ? 0 : 0xfffffe);
        assert_int_equal(d.values.most, rows[i].inside ? 0 : 3);
        assert_int_equal(d.values.found, rows[i].inside ? 0 : rows[i].psn);
    }
}

/* A READ of 2^31 bytes in packets of 256 takes 2^23 PSNs: comparing them could not tell the two
 * ends apart.  Shows I8.
 */
static void the_widest_window_is_half_the_circle(void **state)
{
    static const struct {
        uint32_t psn;
        enum pkt_act act;
    } rows[] = {{4, ACT_DROP}, {5, ACT_ACKS}, {0x800004, ACT_ACKS}, {0x800005, ACT_DROP}};
    const struct comp_view v = {
        .una = {5}, .out_psns = REQ_WINDOW_PSNS, .before_rd = REQ_WINDOW_PSNS, .retry_cnt = 1};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct packet p = {.bth = {.opcode = OP_RC_ACKNOWLEDGE, .psn = {rows[i].psn}},
                                 .op = op_info(OP_RC_ACKNOWLEDGE),
                                 .aeth = {.syndrome = ACK}};
        struct comp_verdict d;

        comp_decide(&v, &p, &d);
        assert_int_equal(d.act, rows[i].act);
        if (d.act == ACT_ACKS)
            assert_int_equal(d.n_acked, rows[i].psn - 4);
    }
}

/* Of 100 .. 109 a READ has two responses, 102 and 103, with bytes of 1500 in packets of 1024. */
static void what_comes_for_a_read_has_its_verdict(void **state)
{
    static const struct comp_view whole = {.una = {100},
                                           .out_psns = 10,
                                           .rd = OPK_READ,
                                           .before_rd = 2,
                                           .rd_psns = 2,
                                           .rd_bytes = 1500,
                                           .rd_is_new = true,
                                           .mtu = 1024,
                                           .retries = 3,
                                           .retry_cnt = 3};
    static const struct {
        uint32_t psn;
        uint8_t opcode, syndrome;
        uint32_t bytes, rd_psns, rd_bytes;
        bool implied_nak, credits;
        enum pkt_act act;
        enum rule rule;
        uint32_t n_acked;
    } rows[] = {
        {102, OP_RC_RDMA_READ_RESPONSE_FIRST, ACK, 1024, 2, 1500, false, false, ACT_ACKS, RULE_NONE,
         3},
        {102, OP_RC_RDMA_READ_RESPONSE_FIRST, RNR, 1024, 2, 1500, false, false, ACT_FAIL,
         RULE_COMP_RESPONSE, 2},
        {102, OP_RC_RDMA_READ_RESPONSE_FIRST, ACK, 1023, 2, 1500, false, false, ACT_FAIL,
         RULE_COMP_READ_LENGTH, 2},
        {102, OP_RC_RDMA_READ_RESPONSE_LAST, ACK, 476, 2, 1500, false, false, ACT_FAIL,
         RULE_COMP_READ_LENGTH, 2},
        {102, OP_RC_RDMA_READ_RESPONSE_LAST, ACK, 476, 1, 476, false, false, ACT_FAIL,
         RULE_COMP_READ_LENGTH, 2}, /* one response is ONLY */
        /* what is acknowledged before it is news, and the retries count anew */
        {103, OP_RC_ACKNOWLEDGE, ACK, 0, 2, 1500, true, false, ACT_GO_BACK, RULE_COMP_IMPLIED_NAK,
         2},
        {99, OP_RC_ACKNOWLEDGE, ACK, 0, 2, 1500, false, true, ACT_CREDITS, RULE_NONE, 0},
        {99, OP_RC_ACKNOWLEDGE, SEQ, 0, 2, 1500, false, true, ACT_DROP, RULE_COMP_WINDOW, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct comp_view v = whole;
        const struct packet p = {.bth = {.opcode = rows[i].opcode, .psn = {rows[i].psn}},
                                 .op = op_info(rows[i].opcode),
                                 .aeth = {.syndrome = rows[i].syndrome},
                                 .payload_bytes = rows[i].bytes};
        struct comp_verdict d;

        v.rd_psns = rows[i].rd_psns;
        v.rd_bytes = rows[i].rd_bytes;
        v.implied_nak = rows[i].implied_nak;
        v.credits = rows[i].credits;
        comp_decide(&v, &p, &d);
        assert_int_equal(d.act, rows[i].act);
        assert_int_equal(d.rule, rows[i].rule);
        assert_int_equal(d.n_acked, rows[i].n_acked);
    }
}

/* Shows B31. */
static void with_nothing_outstanding_everything_is_a_ghost(void **state)
{
    const struct comp_view v = {.una = {7}, .out_psns = 0};
    const struct packet p = {.bth = {.opcode = OP_RC_ACKNOWLEDGE, .psn = {7}},
                             .op = op_info(OP_RC_ACKNOWLEDGE),
                             .aeth = {.syndrome = SEQ}};
    struct comp_verdict d;

    (void)state;
    comp_decide(&v, &p, &d);
    assert_int_equal(d.act, ACT_DROP);
    assert_int_equal(d.values.least, 0); /* no PSN would do */
}

/* 7 is seven for retry_cnt, unless the profile differs, and for ever for rnr_retry.  Shows B34,
 * B38, I12.
 */
static void retry_limits(void **state)
{
    (void)state;
    assert_false(retry_allowed(0, 0, PROFILE_iba));
    assert_true(retry_allowed(6, 7, PROFILE_iba));
    assert_false(retry_allowed(7, 7, PROFILE_iba));
    assert_true(retry_allowed(1000, 7, PROFILE_rxe));
    assert_false(retry_allowed(6, 6, PROFILE_rxe));
    assert_int_equal(retry_limit(7, PROFILE_iba), 7);
    assert_int_equal(retry_limit(7, PROFILE_rxe), 0);
    assert_false(rnr_retry_allowed(0, 0));
    assert_true(rnr_retry_allowed(5, 6));
    assert_false(rnr_retry_allowed(6, 6));
    assert_true(rnr_retry_allowed(1000, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_response_has_its_verdict),
        cmocka_unit_test(the_window_wraps),
        cmocka_unit_test(the_widest_window_is_half_the_circle),
        cmocka_unit_test(what_comes_for_a_read_has_its_verdict),
        cmocka_unit_test(with_nothing_outstanding_everything_is_a_ghost),
        cmocka_unit_test(retry_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
