/* SPDX-License-Identifier: MIT */
/* The text of what a rule compared. */
#include "testing.h"

#include "emu/facts/compared.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/refusal.h"
#include "emu/facts/rules.h"

static void both_values_are_said_as_the_rule_has_them(void **state)
{
    static const struct {
        enum rule rule;
        struct compared c;
        const char *want;
    } rows[] = {
        {RULE_RESP_PSN, {50, 50, 100}, ", expected psn=50, found psn=100"},
        {RULE_COMP_WINDOW, {100, 103, 99}, ", expected psn=100 to 103, found psn=99"},
        {RULE_COMP_WINDOW, {16777215, 1, 5}, ", expected psn=16777215 to 1, found psn=5"},
        {RULE_RESP_LENGTH, {1024, 1024, 7}, ", expected 1024 bytes, found 7"},
        {RULE_RESP_LENGTH, {1, 1024, 0}, ", expected 1 to 1024 bytes, found 0"},
        {RULE_RESP_LENGTH, {0, 1024, 1025}, ", expected at most 1024 bytes, found 1025"},
        {RULE_RESP_RECV_LENGTH, {0, 0, 5}, ", the receive has room for 0 bytes, 5 have come"},
        {RULE_RESP_PAD, {3, 3, 0}, ", expected 3 bytes of pad, found 0"},
        {RULE_MR_RANGE,
         {0x1000, 0x1fff, 0x2000},
         ", expected address 0x1000 to 0x1fff, found address 0x2000"},
        {RULE_MR_ACCESS,
         {ACC_LOCAL_WRITE, ACC_LOCAL_WRITE, 0},
         ", expected key access lw, found key access none"},
        {RULE_MR_ACCESS,
         {ACC_LOCAL_WRITE, ACC_LOCAL_WRITE, ACC_REMOTE_WRITE | ACC_REMOTE_READ},
         ", expected key access lw, found key access rw,rr"},
        {RULE_RESP_PSN, {50, 50, 50}, ""},   /* no rule objects to that */
        {RULE_RESP_RECV_WQE, {1, 1, 0}, ""}, /* compares nothing */
        {RULE_NONE, {1, 1, 0}, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[128];
        struct text t = text_on(buf, sizeof(buf));

        compared_add_rule(&t, rows[i].rule, &rows[i].c, true);
        assert_string_equal(buf, rows[i].want);
    }
}

static void so_are_those_of_what_was_dropped(void **state)
{
    static const struct {
        enum drop_reason reason;
        struct compared c;
        const char *want;
    } rows[] = {
        {DROP_BAD_ICRC, {0xabcd, 0xabcd, 0xabce}, ", expected 0xabcd, found 0xabce"},
        {DROP_NO_SUCH_QP, {1, 0, 77}, ", found QPN 77"},
        {DROP_QP_NOT_READY,
         {QPS_RTR, QPS_SQD, QPS_INIT},
         ", expected state RTR, RTS or SQD, found INIT"},
        {DROP_WRONG_SOURCE,
         {0x0a000001, 0x0a000001, 0x0a000063},
         ", expected 10.0.0.1, found 10.0.0.99"},
        {DROP_BAD_PKEY, {0xffff, 0xffff, 0x8001}, ", expected 0xffff, found 0x8001"},
        {DROP_FRAGMENT, {1, 1, 0}, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[128];
        struct text t = text_on(buf, sizeof(buf));

        compared_add_drop(&t, rows[i].reason, &rows[i].c, true);
        assert_string_equal(buf, rows[i].want);
    }
}

static void a_psn_that_was_said_is_not_said_again(void **state)
{
    const struct compared psn = {50, 50, 100}, bytes = {1, 9, 0};
    char buf[128];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    compared_add_rule(&t, RULE_RESP_PSN, &psn, false);
    compared_add_drop(&t, DROP_GHOST_ACK, &psn, false);
    compared_add_rule(&t, RULE_RESP_LENGTH, &bytes, false);
    assert_string_equal(buf, ", expected psn=50, expected psn=50, expected 1 to 9 bytes, found 0");
}

/* Of access flags any may be wrong, and those that are known have gaps: no range is expected. */
static void so_are_those_of_a_control_request_that_is_refused(void **state)
{
    static const struct {
        enum refusal_reason why;
        struct compared c;
        const char *want;
    } rows[] = {
        {REF_CQ_ENTRIES, {1, 16, 17}, ", expected 1 to 16 entries, found 17"},
        {REF_QP_SEND_SGE, {0, 4, 5}, ", expected at most 4 SGEs, found 5"},
        {REF_REQUEST_BYTES, {5, UINT64_MAX, 4}, ", expected at least 5 bytes, found 4"},
        {REF_MR_ACCESS_FLAGS, {0, 0, 0x200}, ", found flags 0x200"},
        {REF_QP_CUR_STATE, {QPS_RTS, QPS_RTS, QPS_INIT}, ", expected RTS, found INIT"},
        {REF_QP_MOVE, {0, 0, QPS_RTS}, ", found a move to RTS"},
        {REF_PD_HANDLE, {0, 0, 0}, ", found PD 0"},
        {REF_GROUP_MEMBER, {0, 0, 0}, ""},
        {REF_NONE, {0, 0, 0}, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[128];
        struct text t = text_on(buf, sizeof(buf));

        compared_add_refusal(&t, rows[i].why, &rows[i].c);
        assert_string_equal(buf, rows[i].want);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_values_are_said_as_the_rule_has_them),
        cmocka_unit_test(so_are_those_of_what_was_dropped),
        cmocka_unit_test(so_are_those_of_a_control_request_that_is_refused),
        cmocka_unit_test(a_psn_that_was_said_is_not_said_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
