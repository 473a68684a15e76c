/* SPDX-License-Identifier: MIT */
/* Rows of the profile table: the same situation under both profiles, with the result of each.  Host
 * 0 sends and host 1 receives; each test names the host whose profile matters.
 */
#include "testing.h"

#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/profile.h"
#include "emu/trace/event.h"
#include "emu/xport/resp.h"
#include "rig.h"

static struct rig *rig_with(struct rig_config c, enum profile sender, enum profile receiver)
{
    c.profile[0] = sender;
    c.profile[1] = receiver;
    return rig_new(&c);
}

/* MIGREQ_SET, of both ends: what is sent differs, and everything is taken. */
static void migreq_is_sent_by_profile_and_never_looked_at(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const enum profile sender = i & 1 ? PROFILE_rxe : PROFILE_iba;
        const enum profile receiver = i & 2 ? PROFILE_rxe : PROFILE_iba;
        struct rig *r = rig_with(rig_defaults(), sender, receiver);

        assert_int_equal(rig_rc(r, 0)->out.bth.migrated, sender == PROFILE_iba);
        assert_int_equal(rig_rc(r, 1)->out.bth.migrated, receiver == PROFILE_iba);
        rig_recv(r, 7, 4096, 1024);
        rig_send(r, 1, 0, 600);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
        rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
        assert_int_equal(rig_count(r, EV_drop, ANY, NULL, 0), 0);
        rig_free(r);
    }
}

/* RETRY_7_ENDS, of the sender: nothing ever arrives.  Shows B34. */
static void retry_cnt_7_ends_by_profile(void **state)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    (void)state;
    c.retry_cnt = 7;
    for (enum profile p = PROFILE_iba; p < PROFILE_COUNT; p++) {
        r = rig_with(c, p, PROFILE_iba);
        r->loss = 1000;
        rig_send(r, 1, 0, 64);
        rig_run_until(r, 20 * 65536); /* 20 timeouts */
        if (profile_has(p, TRAIT_RETRY_7_ENDS)) {
            assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 8);
            assert_int_equal(rig_event(r, EV_timeout, 0, 0)->u.timeout.limit, 7);
            rig_expect(r, 0, WQ_SEND, 0, 1, WCS_RETRY_EXC_ERR);
        } else {
            assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 21);
            assert_int_equal(rig_event(r, EV_timeout, 0, 0)->u.timeout.limit, 0);
            assert_int_equal(r->host[0].n_wc[WQ_SEND], 0);
        }
        rig_free(r);
    }
}

/* Six is six for all.  Shows B33. */
static void retry_cnt_6_ends_everywhere(void **state)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    (void)state;
    c.retry_cnt = 6;
    r = rig_with(c, PROFILE_rxe, PROFILE_rxe);
    r->loss = 1000;
    rig_send(r, 1, 0, 64);
    rig_run(r);
    assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 7);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_RETRY_EXC_ERR);
    rig_free(r);
}

/* LENGTH_CHECKED, of the receiver: the sender cuts smaller, or larger, than it.  Shows B24. */
static void lengths_are_checked_by_profile(void **state)
{
    static const enum mtu mtus[][2] = {{MTU_256, MTU_512}, {MTU_512, MTU_256}};
    struct rig_config c = rig_defaults();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(mtus); i++) {
        for (enum profile p = PROFILE_iba; p < PROFILE_COUNT; p++) {
            struct rig *r;

            c.mtu = mtus[i][0];
            c.peer_mtu = mtus[i][1];
            r = rig_with(c, PROFILE_iba, p);
            rig_fill(r, 0, 3);
            rig_recv(r, 7, 4096, 2048);
            rig_send(r, 1, 0, 1300);
            rig_run(r);
            if (profile_has(p, TRAIT_LENGTH_CHECKED)) {
                assert_int_equal(rig_count(r, EV_rx, 1, "rule", RULE_RESP_LENGTH), 1);
                rig_expect(r, 0, WQ_SEND, 0, 1, WCS_REM_INV_REQ_ERR);
            } else {
                rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
                rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
                assert_int_equal(r->host[1].wc[WQ_RECV][0].bytes, 1300);
                assert_true(rig_same(r, 0, 4096, 1300));
            }
            rig_free(r);
        }
    }
}

/* Without the check any length does; the other rules stay. */
static void other_rules_stay_when_lengths_are_not_checked(void **state)
{
    static const struct {
        uint8_t opcode;
        uint32_t psn, bytes;
        enum rule rule;
    } rows[] = {
        {OP_RC_SEND_ONLY, 0, 4096, RULE_NONE},
        {OP_RC_SEND_FIRST, 0, 0, RULE_NONE},
        {OP_RC_SEND_FIRST, 1, 256, RULE_RESP_PSN},
        {OP_RC_SEND_MIDDLE, 0, 256, RULE_RESP_OP_SEQUENCE},
        {OP_RC_SEND_ONLY, 0, 255, RULE_NONE}, /* nor is the pad */
        {OP_RC_RDMA_WRITE_ONLY, 0, 256, RULE_RESP_QP_ACCESS},
    };
    const struct resp_view v = {.mtu = 256, .profile = PROFILE_rxe};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct packet p = {
            .bth = {.opcode = rows[i].opcode, .psn = {rows[i].psn}},
            .op = op_info(rows[i].opcode),
            .payload_bytes = rows[i].bytes,
        };
        struct resp_verdict d;

        resp_decide(&v, &p, &d);
        assert_int_equal(d.rule, rows[i].rule);
    }
}

/* PAD_CHECKED, of the receiver: five bytes come alone, and the program of the receiver sees five,
 * or nothing. What a SEND_FIRST counts as its pad is no part of the message.  Shows B76.
 */
static void the_pad_is_checked_by_profile(void **state)
{
    static const struct {
        uint8_t opcode, pad;
        uint32_t bytes;
    } rows[] = {
        {OP_RC_SEND_ONLY, 0, 5},
        {OP_RC_SEND_ONLY, 3, 4},
        {OP_RC_SEND_FIRST, 3, 256},
    };
    static const uint8_t payload[256] = {1, 2, 3, 4, 5};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (enum profile p = PROFILE_iba; p < PROFILE_COUNT; p++) {
            struct rig *r = rig_with(rig_defaults(), PROFILE_iba, p);
            struct packet in = rig_packet(r, 1, rows[i].opcode, 100);

            in.payload = payload;
            in.payload_bytes = rows[i].bytes;
            in.bth.pad_bytes = rows[i].pad;
            rig_recv(r, 7, 4096, 1024);
            rig_inject(r, 1, &in);
            rig_run(r);
            assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_INVALID_REQUEST),
                             profile_has(p, TRAIT_PAD_CHECKED));
            if (profile_has(p, TRAIT_PAD_CHECKED)) {
                assert_int_equal(rig_event(r, EV_rx, 1, 0)->u.rx.rule, RULE_RESP_PAD);
                rig_expect(r, 1, WQ_RECV, 0, 7, WCS_WR_FLUSH_ERR);
            } else if (rows[i].opcode == OP_RC_SEND_ONLY) {
                rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
                assert_int_equal(r->host[1].wc[WQ_RECV][0].bytes, rows[i].bytes);
            } else {
                assert_int_equal(rig_rc(r, 1)->resp.received, rows[i].bytes);
            }
            rig_free(r);
        }
    }
}

/* RD_ATOMIC_EXACT, of both: none stays none.  Shows I11. */
static void reads_under_way_are_rounded_up_by_profile(void **state)
{
    static const struct {
        uint32_t told, rounded;
    } rows[] = {{0, 0}, {1, 1}, {2, 2}, {3, 4}, {4, 4}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (enum profile p = PROFILE_iba; p < PROFILE_COUNT; p++) {
            const bool exact = profile_has(p, TRAIT_RD_ATOMIC_EXACT);
            struct rig_config c = rig_defaults();
            struct rig *r;

            c.rd_atomic = rows[i].told;
            r = rig_with(c, p, PROFILE_iba);
            for (uint32_t h = 0; h < 2; h++) {
                const struct qp_attr *a = &rig_rc(r, h)->qp.attr;
                const uint32_t want = h == 0 && !exact ? rows[i].rounded : rows[i].told;

                assert_int_equal(a->max_rd_atomic, want);
                assert_int_equal(a->max_dest_rd_atomic, want);
            }
            rig_free(r);
        }
    }
}

/* SHORT_RECV_IS_LEN_ERR, of the receiver: refused at the third packet.  Shows B20. */
static void a_short_receive_is_refused_by_profile(void **state)
{
    (void)state;
    for (enum profile p = PROFILE_iba; p < PROFILE_COUNT; p++) {
        const bool is_len_err = profile_has(p, TRAIT_SHORT_RECV_IS_LEN_ERR);
        struct rig *r = rig_with(rig_defaults(), PROFILE_iba, p);

        rig_recv(r, 7, 4096, 700);
        rig_send(r, 1, 0, 701);
        rig_run(r);
        rig_expect(r, 1, WQ_RECV, 0, 7, is_len_err ? WCS_LOC_LEN_ERR : WCS_LOC_QP_OP_ERR);
        rig_expect(r, 0, WQ_SEND, 0, 1, is_len_err ? WCS_REM_INV_REQ_ERR : WCS_REM_OP_ERR);
        assert_int_equal(r->host[1].wc[WQ_RECV][0].rule, RULE_RESP_RECV_LENGTH);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        rig_free(r);
    }
}

/* SEND_KEY_IS_PROT_ERR and LOCAL_ERROR_IS_TOLD, of the sender: a wrong key, and a range that its
 * region has not.
 */
static void a_wrong_key_of_a_request_is_told_by_profile(void **state)
{
    (void)state;
    for (enum profile p = PROFILE_iba; p < PROFILE_COUNT; p++) {
        for (unsigned outside = 0; outside < 2; outside++) {
            const bool prot = outside || profile_has(p, TRAIT_SEND_KEY_IS_PROT_ERR);
            const enum wc_status told = prot ? WCS_LOC_PROT_ERR : WCS_LOC_QP_OP_ERR;
            const bool is_told = profile_has(p, TRAIT_LOCAL_ERROR_IS_TOLD);
            struct rig *r = rig_with(rig_defaults(), p, PROFILE_iba);
            struct rig_post *post =
                rig_prepare(r, 0, WQ_SEND, 1, outside ? RIG_REGION - 10 : 0, 11);

            post->sge[0].lkey ^= !outside;
            rig_post(r, 0, WQ_SEND);
            rig_run(r);
            rig_expect(r, 0, WQ_SEND, 0, 1, is_told ? told : WCS_WR_FLUSH_ERR);
            assert_int_equal(r->host[0].wc[WQ_SEND][0].rule, outside ? RULE_MR_RANGE : RULE_MR_KEY);
            assert_int_equal(r->host[0].qp->state, QPS_ERR);
            assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 0);
            rig_free(r);
        }
    }
}

/* RECV_KEY_IS_PROT_ERR, of the receiver: a wrong key, and a range that its region has not.  The
 * sender is told the same by both.
 */
static void a_wrong_key_of_a_receive_is_told_by_profile(void **state)
{
    (void)state;
    for (enum profile p = PROFILE_iba; p < PROFILE_COUNT; p++) {
        for (unsigned outside = 0; outside < 2; outside++) {
            const bool prot = profile_has(p, TRAIT_RECV_KEY_IS_PROT_ERR);
            const enum rule rule = outside ? RULE_MR_RANGE : RULE_MR_KEY;
            struct rig *r = rig_with(rig_defaults(), PROFILE_iba, p);
            struct rig_post *post =
                rig_prepare(r, 1, WQ_RECV, 7, outside ? RIG_REGION - 10 : 0, 64);

            post->sge[0].lkey ^= !outside;
            rig_post(r, 1, WQ_RECV);
            rig_send(r, 1, 0, 64);
            rig_run(r);
            rig_expect(r, 1, WQ_RECV, 0, 7, prot ? WCS_LOC_PROT_ERR : WCS_LOC_QP_OP_ERR);
            rig_expect(r, 0, WQ_SEND, 0, 1, WCS_REM_OP_ERR);
            assert_int_equal(r->host[1].wc[WQ_RECV][0].rule, rule);
            assert_int_equal(rig_count(r, EV_key, 1, "rule", rule), 1);
            rig_free(r);
        }
    }
}

/* RNR_SILENCES, of the receiver: three packets, and no receive. */
static void what_follows_an_rnr_nak_is_answered_by_profile(void **state)
{
    (void)state;
    for (enum profile p = PROFILE_iba; p < PROFILE_COUNT; p++) {
        const bool silent = profile_has(p, TRAIT_RNR_SILENCES);
        struct rig *r = rig_with(rig_defaults(), PROFILE_iba, p);

        rig_send(r, 1, 0, 3 * 256);
        rig_run_until(r, 5000);
        assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_RNR_NAK), 1);
        assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_PSN_SEQUENCE), !silent);
        assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_AFTER_RNR), silent ? 2 : 0);
        assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_OUT_OF_SEQUENCE), !silent);
        assert_true(rig_rc(r, 0)->req.rnr_wait); /* whatever came behind the RNR NAK */
        rig_recv(r, 7, 4096, 1024);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
        assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 6);
        rig_free(r);
    }
}

/* The RNR NAK waits for the port when the next packet comes: it is not lost for the second NAK. */
static void a_waiting_rnr_nak_is_not_replaced(void **state)
{
    struct rig *r = rig_with(rig_defaults(), PROFILE_iba, PROFILE_rxe);
    const struct packet first = rig_packet(r, 1, OP_RC_SEND_ONLY, 100);
    const struct packet next = rig_packet(r, 1, OP_RC_SEND_ONLY, 101);

    (void)state;
    rig_inject(r, 1, &first);
    rig_inject(r, 1, &next);
    assert_true(rig_rc(r, 1)->resp.answer.pending);
    rig_run(r);
    assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 1);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_RNR_NAK), 1);
    rig_free(r);
}

/* RESERVED_OPCODE_IS_NAKED, of the receiver. */
static void a_reserved_opcode_is_answered_by_profile(void **state)
{
    (void)state;
    for (enum profile p = PROFILE_iba; p < PROFILE_COUNT; p++) {
        const bool answers = profile_has(p, TRAIT_RESERVED_OPCODE_IS_NAKED);
        struct rig *r = rig_with(rig_defaults(), PROFILE_iba, p);
        const struct packet in = rig_packet(r, 1, 0x1f, 100);

        rig_inject(r, 1, &in);
        rig_run(r);
        assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_INVALID_REQUEST), answers);
        assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_BAD_OPCODE), !answers);
        assert_int_equal(r->host[1].qp->state == QPS_ERR, answers);
        rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(migreq_is_sent_by_profile_and_never_looked_at),
        cmocka_unit_test(retry_cnt_7_ends_by_profile),
        cmocka_unit_test(retry_cnt_6_ends_everywhere),
        cmocka_unit_test(lengths_are_checked_by_profile),
        cmocka_unit_test(other_rules_stay_when_lengths_are_not_checked),
        cmocka_unit_test(the_pad_is_checked_by_profile),
        cmocka_unit_test(reads_under_way_are_rounded_up_by_profile),
        cmocka_unit_test(a_short_receive_is_refused_by_profile),
        cmocka_unit_test(a_wrong_key_of_a_request_is_told_by_profile),
        cmocka_unit_test(a_wrong_key_of_a_receive_is_told_by_profile),
        cmocka_unit_test(what_follows_an_rnr_nak_is_answered_by_profile),
        cmocka_unit_test(a_waiting_rnr_nak_is_not_replaced),
        cmocka_unit_test(a_reserved_opcode_is_answered_by_profile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
