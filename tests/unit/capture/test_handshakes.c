/* SPDX-License-Identifier: MIT */
/* Tests of captures with messages of the connection manager.
 *
 * Host a asks host b.  a begins with PSN 100 and b with PSN 900: each PSN is in the other's
 * message.
 */
#include "testing.h"

#include "captured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_answered.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/sidr_status.h"

#define HEAD(id, attr)                                                                             \
    .head = {                                                                                      \
        .base_version = MAD_BASE_VERSION,                                                          \
        .mgmt_class = MAD_CLASS_CM,                                                                \
        .class_version = MAD_CM_CLASS_VERSION,                                                     \
        .method = MAD_METHOD_SEND,                                                                 \
        .tid = (id),                                                                               \
        .attr_id = (attr),                                                                         \
    }
/* A REQ with communication ID @id of queue pair @qp, whose peer is to begin with @psn. */
#define REQ_OF(id, qp, psn)                                                                        \
    {                                                                                              \
        HEAD(id, CM_REQ), .u.req = {                                                               \
            .local_comm_id = (id),                                                                 \
            .service_id = 0x01061c06,                                                              \
            .local_qpn = (qp),                                                                     \
            .starting_psn = (psn),                                                                 \
            .responder_resources = 2,                                                              \
            .initiator_depth = 1,                                                                  \
            .retry_count = 1,                                                                      \
            .rnr_retry_count = 3,                                                                  \
            .path_mtu = MTU_512,                                                                   \
            .ack_timeout = 4,                                                                      \
        }                                                                                          \
    }
#define REP_OF(id, remote, qp, psn)                                                                \
    {                                                                                              \
        HEAD(remote, CM_REP), .u.rep = {                                                           \
            .local_comm_id = (id),                                                                 \
            .remote_comm_id = (remote),                                                            \
            .local_qpn = (qp),                                                                     \
            .starting_psn = (psn),                                                                 \
            .responder_resources = 1,                                                              \
            .rnr_retry_count = 5,                                                                  \
        }                                                                                          \
    }

static const struct mad req = REQ_OF(0xa1, 17, 900), rep = REP_OF(0xb1, 0xa1, 18, 100);
static const struct mad rtu = {HEAD(0xa1, CM_RTU), .u.rtu = {0xa1, 0xb1, {0}}};
static const struct mad dreq = {HEAD(0xd1, CM_DREQ), .u.dreq = {0xa1, 0xb1, 18, {0}}};
static const struct mad dreq_of_b = {HEAD(0xd2, CM_DREQ), .u.dreq = {0xb1, 0xa1, 17, {0}}};
static const struct mad drep = {HEAD(0xd1, CM_DREP), .u.drep = {0xb1, 0xa1, {0}}};
static const struct mad mra = {
    HEAD(0xa1, CM_MRA),
    .u.mra = {.remote_comm_id = 0xa1, .answered = CM_ANSWERED_REQ, .service_timeout = 20}};
static const struct mad rej = {
    HEAD(0xa1, CM_REJ),
    .u.rej = {.remote_comm_id = 0xa1, .answered = CM_ANSWERED_REQ, .reason = 8}};
static const struct mad rej_of_a = {HEAD(0xa1, CM_REJ),
                                    .u.rej = {.local_comm_id = 0xa1,
                                              .remote_comm_id = 0xb1,
                                              .answered = CM_ANSWERED_REP,
                                              .reason = CM_REASON_CONSUMER_DEFINED}};
static const struct mad rej_timeout = {
    HEAD(0xa1, CM_REJ),
    .u.rej = {.local_comm_id = 0xa1, .answered = CM_ANSWERED_OTHER, .reason = CM_REASON_TIMEOUT}};
static const struct mad sidr_req = {HEAD(7, CM_SIDR_REQ),
                                    .u.sidr_req = {.request_id = 7, .service_id = 0x01111c06}};
static const struct mad sidr_rep = {HEAD(7, CM_SIDR_REP),
                                    .u.sidr_rep = {.request_id = 7, .qpn = 18, .qkey = 0x01234567}};
static const struct mad sidr_refusal = {
    HEAD(7, CM_SIDR_REP), .u.sidr_rep = {.request_id = 7, .status = SIDR_UNSUPPORTED}};

#define MADE MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &rep), MAD_OF(2, 'a', &rtu)

static const struct captured_known nothing = {
    .limits = {EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN}};

/* --- Queue pairs ------------------------------------------------------------------------------ */

static void both_ends_and_their_parameters_are_known(void **state)
{
    static const struct captured rows[] = {MADE,
                                           SEND_OF(3, 'a', 100),
                                           ACK_OF(4, 'b', 100, 1),
                                           SEND_OF(5, 'b', 900),
                                           ACK_OF(6, 'a', 900, 1),
                                           MAD_OF(9, 'a', &dreq),
                                           MAD_OF(10, 'b', &drep)};
    struct agreed a, b;
    const struct handshake *k;
    struct check c;
    char buf[100];

    (void)state;
    captured_check(rows, ARRAY_LEN(rows), &nothing, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), "");
    assert_int_equal(c.record.handshakes.n, 1);
    k = &c.record.handshakes.v[0];
    assert_int_equal(handshake_state(&c.record.handshakes, k), HANDSHAKE_ENDED);
    assert_int_equal(c.record.flows[k->flow[0]].dest_qpn, 18);
    assert_int_equal(c.record.flows[k->flow[1]].dest_qpn, 17);
    assert_int_equal(c.record.flows[k->flow[0]].peer, k->flow[1]);
    a = handshake_agreed(&c.record.handshakes, k, 0);
    b = handshake_agreed(&c.record.handshakes, k, 1);
    assert_int_equal(a.sq_psn, 100);
    assert_int_equal(a.rq_psn, 900);
    assert_int_equal(b.sq_psn, 900);
    assert_int_equal(b.rq_psn, 100);
    assert_int_equal(a.mtu_bytes, 512);
    assert_int_equal(a.retry_cnt, 1);
    assert_int_equal(b.retry_cnt, 1);
    assert_int_equal(a.rnr_retry, 5); /* each is told by the other */
    assert_int_equal(b.rnr_retry, 3);
    assert_int_equal(a.max_rd_atomic, 1);
    assert_int_equal(b.max_rd_atomic, 2);
    assert_int_equal(a.timeout, AGREED_UNKNOWN);
    assert_int_equal(b.timeout, 4);
    check_done(&c);
}

/* Two connections of two hosts use the same PSNs: without messages it is not known which two
 * directions belong together.
 */
static void equal_psns_confuse_nobody(void **state)
{
    static const struct mad req_2 = REQ_OF(0xa2, 27, 900), rep_2 = REP_OF(0xb2, 0xa2, 28, 100);
#define TRAFFIC                                                                                    \
    {.at_us = 5, .from = 'a', .op = OP_RC_SEND_ONLY, .psn = 100, .n = 8, .ack_req = true},         \
        {.at_us = 5,                                                                               \
         .from = 'a',                                                                              \
         .op = OP_RC_SEND_ONLY,                                                                    \
         .psn = 100,                                                                               \
         .n = 8,                                                                                   \
         .ack_req = true,                                                                          \
         .qpn = 28},                                                                               \
        {.at_us = 6,                                                                               \
         .from = 'b',                                                                              \
         .op = OP_RC_ACKNOWLEDGE,                                                                  \
         .psn = 100,                                                                               \
         .msn = 1,                                                                                 \
         .syndrome = 31,                                                                           \
         .qpn = 27},                                                                               \
    {                                                                                              \
        .at_us = 6, .from = 'b', .op = OP_RC_ACKNOWLEDGE, .psn = 100, .msn = 1, .syndrome = 31     \
    }
    static const struct mad rtu_2 = {HEAD(0xa2, CM_RTU), .u.rtu = {0xa2, 0xb2, {0}}};
    static const struct captured rows[] = {MADE, MAD_OF(2, 'a', &req_2), MAD_OF(3, 'b', &rep_2),
                                           MAD_OF(4, 'a', &rtu_2), TRAFFIC};
    static const struct captured alone[] = {TRAFFIC};
    struct check c;
    char buf[100];

    (void)state;
    captured_check(rows, ARRAY_LEN(rows), &nothing, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), "");
    for (size_t i = 0; i < 2; i++) {
        const struct handshake *k = &c.record.handshakes.v[i];

        assert_int_equal(c.record.flows[k->flow[0]].dest_qpn, i == 0 ? 18 : 28);
        assert_int_equal(c.record.flows[k->flow[0]].peer, k->flow[1]);
        assert_int_equal(c.record.flows[k->flow[1]].dest_qpn, i == 0 ? 17 : 27);
    }
    check_done(&c);
    captured_check(alone, ARRAY_LEN(alone), &nothing, &c);
    assert_int_equal(c.record.flows[0].dest_qpn, 18);
    assert_int_equal(c.record.flows[c.record.flows[0].peer].dest_qpn, 27); /* a wrong guess */
    check_done(&c);
}

/* The queue pairs have another connection, in which PSNs, MSNs and requests are others. */
static void a_reused_queue_pair_is_another_connection(void **state)
{
    static const struct mad req_2 = REQ_OF(0xa2, 17, 950), rep_2 = REP_OF(0xb2, 0xa2, 18, 120);
    static const struct mad rtu_2 = {HEAD(0xa2, CM_RTU), .u.rtu = {0xa2, 0xb2, {0}}};
    static const struct captured rows[] = {
        MADE,
        SEND_OF(3, 'a', 100),
        ACK_OF(4, 'b', 100, 1),
        MAD_OF(9, 'a', &dreq),
        MAD_OF(10, 'b', &drep),
        MAD_OF(11, 'a', &req_2),
        MAD_OF(12, 'b', &rep_2),
        MAD_OF(13, 'a', &rtu_2),
        SEND_OF(14, 'a', 120),
        ACK_OF(15, 'b', 120, 1),
    };
    struct check c;
    char buf[100];

    (void)state;
    captured_check(rows, ARRAY_LEN(rows), &nothing, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), "");
    assert_int_equal(c.n, 4); /* messages to a and to b, and two connections */
    assert_int_equal(handshake_state(&c.record.handshakes, &c.record.handshakes.v[0]),
                     HANDSHAKE_ENDED);
    assert_int_equal(handshake_state(&c.record.handshakes, &c.record.handshakes.v[1]),
                     HANDSHAKE_ESTABLISHED);
    check_done(&c);
}

/* --- Rules that need what was agreed on ------------------------------------------------------- */

static void the_first_psn_is_known(void **state)
{
    static const struct captured lost[] = {MADE, SEND_OF(3, 'a', 101),
                                           NAK_OF(4, 'b', 100, NAK_SEQUENCE, 0)};
    static const struct captured not_known[] = {SEND_OF(3, 'a', 101), ACK_OF(4, 'b', 101, 1)};
    static const struct captured before[] = {MADE, SEND_OF(3, 'a', 99)};
    static const struct captured swapped[] = {MADE, SEND_OF(3, 'b', 100)};
    static const struct captured other[] = {MADE, SEND_OF(3, 'a', 50), ACK_OF(4, 'b', 50, 1)};
    /* To b this is an old request: it acknowledges the PSN before the expected one. */
    static const struct captured old[] = {MADE, SEND_OF(3, 'a', 95), ACK_OF(4, 'b', 99, 0),
                                          SEND_OF(200, 'a', 95), ACK_OF(201, 'b', 99, 0)};
    static const struct captured far[] = {MADE, SEND_OF(3, 'a', 500000)};
    struct check c;

    (void)state;
    SHOWS(lost, "4 GAP, 4 NOT_ANSWERED");
    SHOWS(not_known, "");
    SHOWS(before, "4 ONE_WAY, 4 WRONG_FIRST_PSN");
    SHOWS(swapped, "4 ONE_WAY, 4 WRONG_FIRST_PSN");
    SHOWS(other, "4 OTHER_FIRST_PSN");
    SHOWS(old, "4 WRONG_FIRST_PSN, 6 AGAIN_AFTER_TIMEOUT, 6 NOT_ANSWERED");
    SHOWS(far, "4 ONE_WAY, 4 WRONG_FIRST_PSN");
    captured_check(swapped, ARRAY_LEN(swapped), &nothing, &c);
    assert_int_equal(c.found.v[1].psn, 100);
    assert_int_equal(c.found.v[1].value, 900);
    assert_int_equal(c.found.v[1].earlier, 1);
    assert_non_null(strstr(c.found.v[1].why, "its own message"));
    check_done(&c);
}

/* At the host nothing that was sent before is missing. */
static void at_its_host_a_later_first_psn_is_wrong_too(void **state)
{
    static const struct captured rows[] = {MADE, SEND_OF(3, 'a', 101)};
    struct captured_known known = nothing;
    struct check c;

    (void)state;
    known.at = 'a';
    captured_check(rows, ARRAY_LEN(rows), &known, &c);
    assert_int_equal(c.found.count[FIND_WRONG_FIRST_PSN], 1);
    assert_int_equal(c.found.count[FIND_GAP], 0);
    check_done(&c);
}

static void packets_are_not_larger_than_the_path_mtu(void **state)
{
#define WRITE(when, at, bytes)                                                                     \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_RDMA_WRITE_ONLY, .psn = (at), .n = (bytes),      \
        .ack_req = true                                                                            \
    }
    static const struct captured rows[] = {MADE, WRITE(3, 100, 512), ACK_OF(4, 'b', 100, 1),
                                           WRITE(5, 101, 516), ACK_OF(6, 'b', 101, 2)};

    (void)state;
    SHOWS(rows, "6 BAD_SIZE");
}

static void no_more_reads_are_under_way_than_offered(void **state)
{
#define READ(when, who, at)                                                                        \
    {                                                                                              \
        .at_us = (when), .from = (who), .op = OP_RC_RDMA_READ_REQUEST, .psn = (at), .n = 8,        \
        .ack_req = true                                                                            \
    }
#define RESPONSE(when, who, at, msns)                                                              \
    {                                                                                              \
        .at_us = (when), .from = (who), .op = OP_RC_RDMA_READ_RESPONSE_ONLY, .psn = (at), .n = 8,  \
        .syndrome = 31, .msn = (msns)                                                              \
    }
    static const struct captured of_a[] = {MADE, READ(3, 'a', 100), READ(4, 'a', 101),
                                           RESPONSE(5, 'b', 100, 1), RESPONSE(6, 'b', 101, 2)};
    static const struct captured of_b[] = {MADE, READ(3, 'b', 900), READ(4, 'b', 901),
                                           RESPONSE(5, 'a', 900, 1), RESPONSE(6, 'a', 901, 2)};
    struct captured_known known = nothing;
    struct check c;

    (void)state;
    SHOWS(of_a, "5 MORE_RDS_THAN_AGREED");
    SHOWS(of_b, "");
    known.at = 'a';
    captured_check(of_a, ARRAY_LEN(of_a), &known, &c);
    assert_int_equal(c.found.count[FIND_TOO_MANY_RDS], 1);
    check_done(&c);
}

static void at_its_host_retries_are_held_against_the_req(void **state)
{
    static const struct captured rows[] = {MADE, SEND_OF(10, 'a', 100), SEND_OF(200, 'a', 100),
                                           SEND_OF(400, 'a', 100), ACK_OF(401, 'b', 100, 1)};
    /* The passive side has the timeout of the REQ, 65.5 us. */
    static const struct captured early[] = {MADE, SEND_OF(10, 'b', 900), SEND_OF(40, 'b', 900),
                                            ACK_OF(41, 'a', 900, 1)};
    struct captured_known known = nothing;
    struct check c;

    (void)state;
    known.at = 'a';
    captured_check(rows, ARRAY_LEN(rows), &known, &c);
    assert_int_equal(c.found.count[FIND_AGAIN_TOO_OFTEN], 1);
    check_done(&c);
    known.limits.retry_cnt = 2; /* the user knows better */
    captured_check(rows, ARRAY_LEN(rows), &known, &c);
    assert_int_equal(c.found.count[FIND_AGAIN_TOO_OFTEN], 0);
    check_done(&c);
    known = nothing;
    known.at = 'b';
    captured_check(early, ARRAY_LEN(early), &known, &c);
    assert_int_equal(c.found.count[FIND_AGAIN_TOO_EARLY], 1);
    check_done(&c);
}

static void requests_before_and_after_a_connection(void **state)
{
    static const struct captured early[] = {MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &rep),
                                            SEND_OF(2, 'b', 900), MAD_OF(3, 'a', &rtu),
                                            ACK_OF(4, 'a', 900, 1)};
    /* A packet takes the place of the RTU. */
    static const struct captured right[] = {
        MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &rep), SEND_OF(2, 'a', 100),  ACK_OF(3, 'b', 100, 1),
        SEND_OF(4, 'b', 900), MAD_OF(5, 'a', &rtu), ACK_OF(6, 'a', 900, 1)};
    static const struct captured late[] = {MADE,
                                           SEND_OF(3, 'a', 100),
                                           ACK_OF(4, 'b', 100, 1),
                                           MAD_OF(5, 'a', &dreq),
                                           MAD_OF(6, 'b', &drep),
                                           SEND_OF(7, 'a', 101),
                                           ACK_OF(8, 'b', 101, 2)};
    struct captured_known known = nothing;
    struct check c;

    (void)state;
    SHOWS(early, "3 BEFORE_CONNECTION");
    SHOWS(right, "");
    SHOWS(late, "8 AFTER_DISCONNECT");
    known.at = 'a';
    captured_check(late, ARRAY_LEN(late), &known, &c);
    assert_int_equal(c.found.count[FIND_SENDS_AFTER_DISCONNECT], 1);
    assert_int_equal(c.found.count[FIND_AFTER_DISCONNECT], 0);
    check_done(&c);
}

/* --- Messages --------------------------------------------------------------------------------- */

static void state_is(const struct captured *v, size_t n, enum handshake_state is,
                     const char *expected)
{
    struct check c;
    char buf[300];

    captured_check(v, n, &nothing, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), expected);
    assert_int_equal(c.record.handshakes.n, 1);
    assert_int_equal(handshake_state(&c.record.handshakes, &c.record.handshakes.v[0]), is);
    check_done(&c);
}

#define STATE(is, expected, ...)                                                                   \
    do {                                                                                           \
        static const struct captured rows[] = {__VA_ARGS__};                                       \
                                                                                                   \
        state_is(rows, ARRAY_LEN(rows), HANDSHAKE_##is, expected);                                 \
    } while (0)

static void requests_that_fail(void **state)
{
    (void)state;
    STATE(ASKED, "1 CM_OPEN", MAD_OF(0, 'a', &req));
    STATE(ASKED, "2 CM_AGAIN, 3 CM_AGAIN, 3 CM_NOT_ANSWERED", MAD_OF(0, 'a', &req),
          MAD_OF(1000, 'a', &req), MAD_OF(2000, 'a', &req));
    STATE(REJECTED, "2 CM_REJECTED", MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &rej));
    STATE(REJECTED, "2 CM_REJECTED, 3 CM_ANSWER_LOST, 4 CM_REJECTED", MAD_OF(0, 'a', &req),
          MAD_OF(1, 'b', &rej), MAD_OF(1000, 'a', &req), MAD_OF(1001, 'b', &rej));
    STATE(REJECTED, "3 CM_REJECTED", MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &rep),
          MAD_OF(2, 'a', &rej_of_a));
    STATE(ASKED, "2 CM_AGAIN, 2 CM_NOT_ANSWERED, 3 CM_DELAYED", MAD_OF(0, 'a', &req),
          MAD_OF(1000, 'a', &req), MAD_OF(1001, 'b', &mra));
    STATE(REJECTED, "2 CM_AGAIN, 3 CM_DELAYED, 5 CM_DELAYED, 6 CM_REJECTED", MAD_OF(0, 'a', &req),
          MAD_OF(1000, 'a', &req), MAD_OF(1001, 'b', &mra), MAD_OF(9000, 'a', &req),
          MAD_OF(9001, 'b', &mra), MAD_OF(9500, 'b', &rej));
    STATE(REJECTED, "2 CM_GIVEN_UP", MAD_OF(0, 'a', &req), MAD_OF(1, 'a', &rej_timeout));
    STATE(ASKED, "2 CM_AGAIN, 2 CM_NOT_ANSWERED", MAD_OF(0, 'a', &sidr_req),
          MAD_OF(1000, 'a', &sidr_req));
    STATE(REJECTED, "2 CM_REJECTED", MAD_OF(0, 'a', &sidr_req), MAD_OF(1, 'b', &sidr_refusal));
}

static void connections_that_are_made(void **state)
{
    (void)state;
    STATE(ESTABLISHED, "", MADE);
    STATE(ESTABLISHED, "2 CM_AGAIN", MAD_OF(0, 'a', &req), MAD_OF(1000, 'a', &req),
          MAD_OF(1001, 'b', &rep), MAD_OF(1002, 'a', &rtu));
    STATE(ESTABLISHED, "4 CM_ANSWER_LOST", MADE, MAD_OF(1000, 'b', &rep), MAD_OF(1001, 'a', &rtu));
    STATE(ESTABLISHED, "3 CM_ANSWER_LOST", MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &rep),
          MAD_OF(1000, 'a', &req), MAD_OF(1001, 'a', &rtu));
    STATE(ACCEPTED, "2 CM_OPEN", MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &rep));
    STATE(ACCEPTED, "3 CM_AGAIN, 3 CM_NOT_ANSWERED", MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &rep),
          MAD_OF(1000, 'b', &rep));
    STATE(ACCEPTED, "2 CM_NO_RTU", MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &rep), SEND_OF(2, 'a', 100),
          ACK_OF(3, 'b', 100, 1));
    STATE(RESOLVED, "", MAD_OF(0, 'a', &sidr_req), MAD_OF(1, 'b', &sidr_rep));
}

static void connections_that_end(void **state)
{
    (void)state;
    STATE(ENDED, "", MADE, MAD_OF(5, 'a', &dreq), MAD_OF(6, 'b', &drep));
    STATE(ENDING, "4 CM_OPEN", MADE, MAD_OF(5, 'a', &dreq));
    STATE(ENDING, "5 CM_AGAIN, 5 CM_NOT_ANSWERED", MADE, MAD_OF(5, 'a', &dreq),
          MAD_OF(1000, 'a', &dreq));
    STATE(ENDED, "6 CM_ANSWER_LOST", MADE, MAD_OF(5, 'a', &dreq), MAD_OF(6, 'b', &drep),
          MAD_OF(1000, 'a', &dreq), MAD_OF(1001, 'b', &drep));
    STATE(ENDING, "6 CM_ANSWER_LOST", MADE, MAD_OF(5, 'a', &dreq), MAD_OF(6, 'b', &drep),
          MAD_OF(1000, 'a', &dreq));
    /* Both ask at the same time: neither DREQ is a repetition. */
    STATE(ENDED, "", MADE, MAD_OF(5, 'a', &dreq), MAD_OF(5, 'b', &dreq_of_b),
          MAD_OF(6, 'b', &drep));
    STATE(ENDED, "5 CM_LATE", MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &rep), MAD_OF(2, 'a', &dreq),
          MAD_OF(3, 'b', &drep), MAD_OF(4, 'a', &rtu));
}

/* A capture that begins in the middle does not know what the REQ said. */
static void what_was_before_the_capture_is_not_known(void **state)
{
    static const struct captured rows[] = {MAD_OF(1, 'b', &rep), MAD_OF(2, 'a', &rtu),
                                           SEND_OF(3, 'a', 105), ACK_OF(4, 'b', 105, 1)};
    static const struct captured end[] = {MAD_OF(5, 'b', &dreq_of_b), MAD_OF(6, 'a', &drep)};
    const struct handshakes *all;
    struct check c;
    uint32_t qpn;

    (void)state;
    captured_check(rows, ARRAY_LEN(rows), &nothing, &c);
    all = &c.record.handshakes;
    assert_int_equal(c.found.count[FIND_CM_IN_PART], 1);
    assert_int_equal(c.found.count[FIND_GAP], 1); /* the REP has the first PSN of a */
    assert_int_equal(handshake_agreed(all, &all->v[0], 1).sq_psn, AGREED_UNKNOWN);
    assert_int_equal(handshake_agreed(all, &all->v[0], 0).mtu_bytes, AGREED_UNKNOWN);
    assert_false(handshake_qpn(all, &all->v[0], 0, &qpn));
    assert_int_equal(c.record.flows[all->v[0].flow[0]].peer != SEEN_NONE, 1); /* by its answers */
    check_done(&c);
    captured_check(end, ARRAY_LEN(end), &nothing, &c);
    all = &c.record.handshakes;
    assert_int_equal(c.found.count[FIND_CM_IN_PART], all->n);
    assert_false(all->v[0].has_sides);
    assert_true(handshake_qpn(all, &all->v[0], 1, &qpn));
    assert_int_equal(qpn, 17);
    check_done(&c);
}

/* The capture has what came to both hosts. */
static void a_message_that_does_not_come(void **state)
{
    static const struct captured rows[] = {
        {.from = 'a', .op = OP_UD_SEND_ONLY, .qpn = 1, .n = MAD_BYTES, .mad = &req, .going = 2},
        {.at_us = 1,
         .from = 'a',
         .op = OP_UD_SEND_ONLY,
         .qpn = 1,
         .n = MAD_BYTES,
         .mad = &req,
         .going = 1,
         .port = 1},
        {.at_us = 2,
         .from = 'b',
         .op = OP_UD_SEND_ONLY,
         .qpn = 1,
         .n = MAD_BYTES,
         .mad = &rep,
         .going = 2,
         .port = 1},
        {.at_us = 3,
         .from = 'b',
         .op = OP_UD_SEND_ONLY,
         .qpn = 1,
         .n = MAD_BYTES,
         .mad = &rep,
         .going = 1},
        {.at_us = 4,
         .from = 'a',
         .op = OP_UD_SEND_ONLY,
         .qpn = 1,
         .n = MAD_BYTES,
         .mad = &rtu,
         .going = 2},
        {.at_us = 5, .from = 'a', .op = OP_RC_SEND_ONLY, .psn = 100, .n = 8, .going = 2},
        {.at_us = 6, .from = 'a', .op = OP_RC_SEND_ONLY, .psn = 100, .n = 8, .going = 1, .port = 1},
    };

    (void)state;
    SHOWS(rows, "5 CM_LOST");
}

static void a_message_that_is_cut_is_not_read(void **state)
{
    static const struct captured rows[] = {
        {.from = 'a', .op = OP_UD_SEND_ONLY, .qpn = 1, .n = MAD_BYTES, .mad = &req, .harm = CUT}};

    (void)state;
    SHOWS(rows, "1 CM_NOT_READ");
}

/* Replaces line ends, with the indentation that follows, by one blank each. */
static void join_lines(char *text)
{
    for (char *at = strchr(text, '\n'); at; at = strchr(at, '\n')) {
        const size_t blanks = strspn(at + 1, " ");

        *at = ' ';
        memmove(at + 1, at + 1 + blanks, strlen(at + 1 + blanks) + 1);
    }
}

/* Checks that the reports have @text about a rejection with @is. */
static void says(const struct cm_rej *is, const char *text)
{
    struct mad m = rej;
    const struct captured rows[] = {MAD_OF(0, 'a', &req), MAD_OF(1, 'b', &m)};
    char *said = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&said, &bytes);
    struct check c;

    m.u.rej = *is;
    m.u.rej.remote_comm_id = 0xa1;
    assert_non_null(out);
    captured_check(rows, ARRAY_LEN(rows), &nothing, &c);
    check_text(out, &c, "x", 0);
    check_json(out, &c, "x");
    fclose(out);
    join_lines(said);
    if (!strstr(said, text))
        fail_msg("%s\n is not in\n%s", text, said);
    free(said);
    check_done(&c);
}

static void a_rejection_tells_its_reason_and_information(void **state)
{
    static const struct cm_rej service = {.reason = CM_REASON_INVALID_SERVICE_ID};
    static const struct cm_rej gid = {.reason = CM_REASON_INVALID_GID,
                                      .info_length = 16,
                                      .info = {[10] = 0xff, 0xff, 10, 0, 0, 7}};
    static const struct cm_rej timeout = {
        .reason = CM_REASON_TIMEOUT, .info_length = 8, .info = {1, 2, 3, 4, 5, 6, 7, 0xff}};
    static const struct cm_rej strange = {.reason = 99, .info_length = 127};

    (void)state;
    says(&service,
         "of 10.0.0.2 with reason 8 INVALID_SERVICE_ID: nobody listens at this service ID "
         "path MTU 512");
    says(&gid, "12 INVALID_GID: the primary GID is not that of the receiver, ARI: 10.0.0.7");
    says(&timeout, "4 TIMEOUT: no answer came in time, ARI of 8 bytes: 01020304050607ff");
    says(&timeout, "\"reason\":4,\"reason_name\":\"TIMEOUT\",\"ari\":\"01020304050607ff\"");
    says(&strange, "with reason 99, which is not defined, ARI of 127 bytes: 0000");
}

/* Communication IDs are used again, and the tables grow. */
static void many_connections_are_kept_apart(void **state)
{
    enum { N = 300 };
    struct captured rows[3 * N];
    struct mad mads[3 * N];
    struct check c;
    char buf[100];

    (void)state;
    memset(rows, 0, sizeof(rows));
    for (uint32_t i = 0; i < N; i++) {
        const struct mad of[] = {REQ_OF(1 + i % 50, 1000 + i, i),
                                 REP_OF(1 + i, 1 + i % 50, 2000 + i, i),
                                 {HEAD(1 + i % 50, CM_RTU), .u.rtu = {1 + i % 50, 1 + i, {0}}}};

        for (uint32_t n = 0; n < 3; n++) {
            const struct captured row = MAD_OF(3 * i + n, n == 1 ? 'b' : 'a', &mads[3 * i + n]);

            mads[3 * i + n] = of[n];
            rows[3 * i + n] = row;
            rows[3 * i + n].psn = 3 * i + n;
        }
    }
    captured_check(rows, 3 * N, &nothing, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), "");
    assert_int_equal(c.record.handshakes.n, N);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(c.record.handshakes.v[i].qpn[0], 1000 + i);
        assert_int_equal(c.record.handshakes.v[i].qpn[1], 2000 + i);
        assert_int_equal(handshake_state(&c.record.handshakes, &c.record.handshakes.v[i]),
                         HANDSHAKE_ESTABLISHED);
    }
    check_done(&c);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_and_their_parameters_are_known),
        cmocka_unit_test(equal_psns_confuse_nobody),
        cmocka_unit_test(a_reused_queue_pair_is_another_connection),
        cmocka_unit_test(the_first_psn_is_known),
        cmocka_unit_test(at_its_host_a_later_first_psn_is_wrong_too),
        cmocka_unit_test(packets_are_not_larger_than_the_path_mtu),
        cmocka_unit_test(no_more_reads_are_under_way_than_offered),
        cmocka_unit_test(at_its_host_retries_are_held_against_the_req),
        cmocka_unit_test(requests_before_and_after_a_connection),
        cmocka_unit_test(requests_that_fail),
        cmocka_unit_test(connections_that_are_made),
        cmocka_unit_test(connections_that_end),
        cmocka_unit_test(what_was_before_the_capture_is_not_known),
        cmocka_unit_test(a_message_that_does_not_come),
        cmocka_unit_test(a_message_that_is_cut_is_not_read),
        cmocka_unit_test(a_rejection_tells_its_reason_and_information),
        cmocka_unit_test(many_connections_are_kept_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
