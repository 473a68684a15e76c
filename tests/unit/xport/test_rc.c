/* SPDX-License-Identifier: MIT */
/* Two reliable connections over a wire that works or loses chosen frames. */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/trace/event.h"
#include "rig.h"

static struct rig *rig_default(void)
{
    const struct rig_config c = rig_defaults();

    return rig_new(&c);
}

/* Shows B58. */
static void a_send_arrives_and_both_sides_complete(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_fill(r, 0, 1);
    rig_recv(r, 7, 4096, 1024);
    rig_send(r, 1, 0, 64);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
    assert_int_equal(r->host[1].wc[WQ_RECV][0].bytes, 64);
    assert_int_equal(r->host[1].wc[WQ_RECV][0].opcode, WC_RECV);
    assert_int_equal(r->host[0].wc[WQ_SEND][0].opcode, WC_SEND);
    assert_true(rig_same(r, 0, 4096, 64));
    assert_int_equal(rig_count(r, EV_tx, ANY, NULL, 0), 2);
    assert_int_equal(rig_event(r, EV_tx, 1, 0)->u.tx.msn, 1);
    assert_int_equal(rig_event(r, EV_tx, 1, 0)->u.tx.psn, 100);
    assert_int_equal(rig_count(r, EV_timer_off, 0, NULL, 0), 1);
    rig_free(r);
}

/* The walk of `why`: every event names the one that led to it, across hosts. */
static void causes_lead_from_completion_to_fetch(void **state)
{
    struct rig *r = rig_default();
    const struct ev *fetch, *key, *tx, *armed, *rx, *ack, *rx_ack, *cqe;

    (void)state;
    rig_recv(r, 7, 0, 64);
    rig_send(r, 1, 0, 64);
    rig_run(r);
    fetch = rig_event(r, EV_fetch, 0, 0);
    key = rig_event(r, EV_key, 0, 0);
    tx = rig_event(r, EV_tx, 0, 0);
    armed = rig_event(r, EV_timer, 0, 0);
    rx = rig_event(r, EV_rx, 1, 0);
    ack = rig_event(r, EV_tx, 1, 0);
    rx_ack = rig_event(r, EV_rx, 0, 0);
    cqe = rig_event(r, EV_cqe, 0, 0);
    assert_int_equal(key->cause, fetch->id);
    assert_int_equal(tx->cause, fetch->id);
    assert_int_equal(armed->cause, tx->id);
    assert_int_equal(rx->cause, tx->id);
    assert_int_equal(rx->u.rx.tx, tx->id);
    assert_int_equal(rig_event(r, EV_dma_write, 1, 0)->cause, rx->id);
    assert_int_equal(rig_event(r, EV_cqe, 1, 0)->cause, rx->id);
    assert_int_equal(ack->cause, rx->id);
    assert_int_equal(rx_ack->cause, ack->id);
    assert_int_equal(cqe->cause, rx_ack->id);
    assert_true(fetch->id < key->id && key->id < tx->id && tx->id < armed->id);
    rig_free(r);
}

/* Shows B78. */
static void immediate_and_solicited_reach_the_receiver(void **state)
{
    struct rig *r = rig_default();
    struct rig_post *p;
    const struct completion *wc;

    (void)state;
    rig_recv(r, 7, 0, 1024);
    p = rig_prepare(r, 0, WQ_SEND, 1, 0, 600);
    p->opcode = WR_SEND_WITH_IMM;
    p->flags |= SF_SOLICITED;
    memcpy(p->imm, "\x01\x02\x03\x04", 4);
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    wc = &r->host[1].wc[WQ_RECV][0];
    assert_int_equal(wc->bytes, 600);
    assert_int_equal(wc->flags, WCF_WITH_IMM);
    assert_true(wc->solicited);
    assert_memory_equal(wc->imm, "\x01\x02\x03\x04", 4);
    assert_int_equal(r->n_solicited, 1); /* of three packets */
    assert_int_equal(rig_event(r, EV_tx, 0, 2)->u.tx.opcode, OP_RC_SEND_LAST_WITH_IMM);
    rig_free(r);
}

/* Only the last packet asks for an acknowledge; every 64th of a long message does too.  Shows
 * B55.
 */
static void acks_are_asked_for_at_ends_and_now_and_then(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 65536);
    rig_send(r, 1, 0, 256 * 130);
    rig_run(r);
    assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 130);
    assert_int_equal(rig_count(r, EV_tx, 0, "ackreq", 1), 3);
    assert_int_equal(rig_event(r, EV_tx, 0, 63)->u.tx.ackreq, 1);
    assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 3); /* and only these are acknowledged */
    assert_true(rig_same(r, 0, 0, 256 * 130));
    rig_free(r);
}

/* All sizes around packet borders, at every MTU, into scattered pieces.  Shows B75, B76, I15. */
static void every_size_is_cut_and_put_together(void **state)
{
    (void)state;
    for (uint32_t mtu = MTU_256; mtu <= MTU_4096; mtu++) {
        const uint32_t m = mtu_bytes(mtu);
        const uint32_t sizes[] = {0, 1, 3, m - 1, m, m + 1, 3 * m + 1};
        struct rig_config c = rig_defaults();

        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            const uint32_t n = sizes[i], pkts = n == 0 ? 1 : (n + m - 1) / m;
            struct rig *r;
            struct rig_post *p;

            c.mtu = mtu;
            c.ipv6 = i % 2 == 1;
            r = rig_new(&c);
            rig_fill(r, 0, 3);
            rig_fill(r, 1, 99);
            p = rig_prepare(r, 1, WQ_RECV, 7, 1000, n / 3);
            p->n_sge = 3;
            p->body_bytes = 48;
            p->sge[1] =
                (struct sge){RIG_ADDR + 1000 + n / 3, 0, 0}; /* empty: its key is not read */
            p->sge[2] = (struct sge){RIG_ADDR + 1000 + n / 3, n - n / 3, p->sge[0].lkey};
            rig_post(r, 1, WQ_RECV);
            p = rig_prepare(r, 0, WQ_SEND, 1, 500, n / 2);
            p->n_sge = 2;
            p->body_bytes = 32;
            p->sge[1] = (struct sge){RIG_ADDR + 500 + n / 2, n - n / 2, p->sge[0].lkey};
            rig_post(r, 0, WQ_SEND);
            rig_run(r);
            rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
            rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
            assert_int_equal(r->host[1].wc[WQ_RECV][0].bytes, n);
            assert_true(rig_same(r, 500, 1000, n));
            assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), pkts);
            assert_int_equal(rig_event(r, EV_tx, 0, pkts - 1)->u.tx.psn, 100 + pkts - 1);
            rig_free(r);
        }
    }
}

/* Shows B11. */
static void inline_data_needs_no_key(void **state)
{
    struct rig *r = rig_default();
    struct rig_post *p;
    uint8_t got[40];

    (void)state;
    rig_recv(r, 7, 0, 64);
    p = rig_prepare(r, 0, WQ_SEND, 1, 0, 0);
    p->flags |= SF_INLINE;
    p->n_sge = 0;
    p->body_bytes = 40;
    memset(p->inline_data, 0x5a, 40);
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_read(r, 1, 0, got, 40);
    assert_memory_equal(got, r->host[0].queue[WQ_SEND].posts[0].inline_data, 40);
    assert_int_equal(rig_count(r, EV_key, 0, NULL, 0), 0);
    rig_free(r);
}

/* The device takes no more inline bytes than the smallest packet carries; the transport does, and
 * each packet has those that follow the packet before it, also when it is sent again.
 */
static void inline_data_of_several_packets_goes_on_in_each(void **state)
{
    struct rig *r = rig_default();
    uint8_t got[RIG_INLINE];
    struct rig_post *p;

    (void)state;
    rig_rule(r, 0, OP_RC_SEND_MIDDLE, ANY, 1, RIG_LOSE);
    rig_recv(r, 7, 0, RIG_INLINE);
    p = rig_prepare(r, 0, WQ_SEND, 1, 0, 0);
    p->flags |= SF_INLINE;
    p->n_sge = 0;
    p->body_bytes = RIG_INLINE;
    for (uint32_t i = 0; i < RIG_INLINE; i++)
        p->inline_data[i] = (uint8_t)(i + i / 256);
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
    assert_int_equal(rig_count(r, EV_tx, 0, "psn", 100), 1);
    assert_int_equal(rig_count(r, EV_tx, 0, "psn", 101), 2);
    assert_int_equal(rig_count(r, EV_tx, 0, "psn", 102), 2);
    rig_read(r, 1, 0, got, RIG_INLINE);
    assert_memory_equal(got, r->host[0].queue[WQ_SEND].posts[0].inline_data, RIG_INLINE);
    rig_free(r);
}

/* Shows I4. */
static void an_unsignaled_send_returns_its_chain_without_a_completion(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 64);
    rig_prepare(r, 0, WQ_SEND, 1, 0, 64)->flags = 0;
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    assert_int_equal(r->host[0].n_wc[WQ_SEND], 0);
    assert_int_equal(r->host[0].queue[WQ_SEND].returned, 1);
    rig_free(r);
}

/* Shows B33. */
static void a_lost_request_is_sent_again_after_the_timeout(void **state)
{
    struct rig *r = rig_default();
    const struct ev *timeout, *again;

    (void)state;
    rig_recv(r, 7, 0, 64);
    rig_rule(r, 0, ANY, 100, 1, RIG_LOSE);
    rig_send(r, 1, 0, 64);
    rig_run(r);
    timeout = rig_event(r, EV_timeout, 0, 0);
    again = rig_event(r, EV_tx, 0, 1);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    assert_int_equal(timeout->at_ns, 4096u << 4);
    assert_int_equal(timeout->cause, rig_event(r, EV_timer, 0, 0)->id);
    assert_int_equal(timeout->u.timeout.retry, 1);
    assert_int_equal(again->u.tx.attempt, 2);
    assert_int_equal(again->cause, timeout->id);
    assert_int_equal(rig_event(r, EV_tx, 0, 0)->u.tx.attempt, 0);
    assert_int_equal(rig_rc(r, 0)->count.retries, 1);
    rig_free(r);
}

/* Shows B49, B58. */
static void a_lost_ack_makes_a_duplicate_that_is_acknowledged_again(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 64);
    rig_rule(r, 1, OP_RC_ACKNOWLEDGE, 100, 1, RIG_LOSE);
    rig_send(r, 1, 0, 64);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 1);
    assert_int_equal(rig_count(r, EV_rx, 1, "act", ACT_DUPLICATE), 1);
    assert_int_equal(rig_event(r, EV_tx, 1, 1)->u.tx.msn, 1);
    assert_int_equal(rig_rc(r, 1)->count.duplicate_request, 1);
    rig_free(r);
}

/* One sequence NAK, and everything from the lost packet on is sent twice.  Shows B47, B54, I9. */
static void a_lost_middle_packet_draws_one_nak(void **state)
{
    struct rig *r = rig_default();
    const struct ev *retry;

    (void)state;
    rig_fill(r, 0, 1);
    rig_recv(r, 7, 0, 4096);
    rig_rule(r, 0, OP_RC_SEND_MIDDLE, 101, 1, RIG_LOSE);
    rig_send(r, 1, 0, 5 * 256);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    assert_true(rig_same(r, 0, 0, 5 * 256));
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_PSN_SEQUENCE), 1);
    assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_OUT_OF_SEQUENCE), 2);
    assert_int_equal(rig_count(r, EV_tx, 0, "psn", 100), 1);
    assert_int_equal(rig_count(r, EV_tx, 0, "psn", 101), 2);
    assert_int_equal(rig_count(r, EV_tx, 0, "psn", 104), 2);
    retry = rig_event(r, EV_retry, 0, 0);
    assert_int_equal(retry->u.retry.psn, 101);
    assert_int_equal(rig_event(r, EV_tx, 0, 5)->cause, retry->id);
    assert_int_equal(rig_count(r, EV_timeout, ANY, NULL, 0), 0);
    assert_int_equal(rig_rc(r, 0)->count.rcvd_seq_err, 1);
    assert_int_equal(rig_rc(r, 1)->count.sent_nak, 1);
    assert_int_equal(rig_rc(r, 1)->count.out_of_sequence, 3);
    rig_free(r);
}

/* Two gaps, one after the other: each draws its own NAK.  Shows B47. */
static void a_second_gap_draws_a_second_nak(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 4096);
    rig_rule(r, 0, ANY, 101, 1, RIG_LOSE);
    rig_rule(r, 0, ANY, 103, 2, RIG_LOSE);
    rig_send(r, 1, 0, 6 * 256);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_PSN_SEQUENCE), 2);
    assert_int_equal(rig_count(r, EV_tx, 0, "attempt", 3), 3); /* 103 to 105 */
    assert_int_equal(rig_count(r, EV_timeout, ANY, NULL, 0), 0);
    rig_free(r);
}

/* Every acknowledge that moves the window gives what is left its whole time. */
static void progress_starts_the_timer_anew(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 64);
    rig_recv(r, 8, 0, 64);
    rig_rule(r, 0, ANY, 101, 1, RIG_LOSE);
    rig_send(r, 1, 0, 64);
    rig_send(r, 2, 0, 64);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
    assert_int_equal(rig_event(r, EV_timeout, 0, 0)->at_ns,
                     rig_event(r, EV_rx, 0, 0)->at_ns + (4096u << 4));
    assert_int_equal(rig_event(r, EV_timeout, 0, 0)->cause, rig_event(r, EV_timer, 0, 1)->id);
    rig_free(r);
}

/* Shows B31, B49, I1. */
static void a_copied_packet_is_delivered_once(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 64);
    rig_recv(r, 8, 64, 64);
    rig_rule(r, 0, ANY, 100, 1, RIG_COPY);
    rig_send(r, 1, 0, 64);
    rig_run(r);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 1);
    assert_int_equal(r->host[0].n_wc[WQ_SEND], 1);
    assert_int_equal(rig_rc(r, 0)->count.ghost_acks, 1);
    assert_int_equal(rig_count(r, EV_drop, 0, "reason", DROP_GHOST_ACK), 1);
    rig_free(r);
}

/* Shows B37, B40. */
static void rnr_waits_and_succeeds_when_a_receive_is_posted(void **state)
{
    struct rig *r = rig_default();
    const struct ev *again;

    (void)state;
    rig_send(r, 1, 0, 64);
    rig_send(r, 2, 64, 64);
    rig_run_until(r, 5000);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_RNR_NAK), 1);
    assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_AFTER_RNR), 1);
    rig_recv(r, 7, 0, 64);
    rig_recv(r, 8, 64, 64);
    rig_run(r);
    again = rig_event(r, EV_tx, 0, 2);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
    assert_true(again->at_ns >= rig_event(r, EV_rx, 0, 0)->at_ns + 10000);
    assert_int_equal(again->cause, rig_event(r, EV_timeout, 0, 0)->id);
    assert_int_equal(again->u.tx.attempt, 2);
    assert_int_equal(rig_rc(r, 0)->req.rnr_naks, 0);
    rig_free(r);
}

/* What follows a refused packet is dropped in silence; once it came again, gaps count again. */
static void a_gap_after_an_rnr_nak_is_reported(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_send(r, 1, 0, 64);
    rig_run_until(r, 5000);
    rig_recv(r, 7, 0, 64);
    rig_recv(r, 8, 0, 1024);
    rig_rule(r, 0, ANY, 101, 1, RIG_LOSE);
    rig_send(r, 2, 0, 600);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_PSN_SEQUENCE), 1);
    rig_free(r);
}

/* Shows B38. */
static void rnr_retries_run_out(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_send(r, 1, 0, 64);
    rig_send(r, 2, 0, 64);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_RNR_RETRY_EXC_ERR);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_WR_FLUSH_ERR);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_RNR_NAK), 3); /* rnr_retry + 1 */
    assert_int_equal(r->host[0].wc[WQ_SEND][0].rule, RULE_RNR_LIMIT);
    assert_int_equal(r->host[0].qp->state, QPS_ERR);
    assert_int_equal(rig_rc(r, 0)->count.rnr_retry_exceeded, 1);
    assert_int_equal(rig_rc(r, 0)->count.rcvd_rnr, 3);
    assert_int_equal(rig_rc(r, 1)->count.sent_rnr, 3);
    assert_int_equal(rig_rc(r, 1)->count.sent_nak, 0);
    rig_free(r);
}

/* Shows B38. */
static void rnr_retry_seven_never_ends(void **state)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    (void)state;
    c.rnr_retry = 7;
    r = rig_new(&c);
    rig_send(r, 1, 0, 64);
    rig_run_until(r, 1000000);
    assert_true(rig_count(r, EV_tx, 1, "syndrome", SYN_RNR_NAK) > 20);
    rig_recv(r, 7, 0, 64);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_free(r);
}

/* retry_cnt counts repetitions: 3 and the first make 4. 7 is seven, not for ever.  Shows B33,
 * B34, I12.
 */
static void retries_run_out(void **state)
{
    (void)state;
    for (uint32_t retries = 0; retries <= 7; retries += 7) {
        struct rig_config c = rig_defaults();
        struct rig *r;

        c.retry_cnt = retries;
        r = rig_new(&c);
        rig_rule(r, 0, ANY, ANY, ANY, RIG_LOSE);
        rig_send(r, 1, 0, 64);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_RETRY_EXC_ERR);
        assert_int_equal(r->host[0].wc[WQ_SEND][0].rule, RULE_RETRY_LIMIT);
        assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), retries + 1);
        assert_int_equal(rig_count(r, EV_timeout, 0, NULL, 0), retries + 1);
        assert_int_equal(r->host[0].qp->state, QPS_ERR);
        assert_int_equal(rig_rc(r, 0)->count.retry_exceeded, 1);
        rig_free(r);
    }
}

/* Shows B33. */
static void without_a_timeout_a_lost_packet_waits_for_ever(void **state)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    (void)state;
    c.timeout = 0;
    r = rig_new(&c);
    rig_recv(r, 7, 0, 64);
    rig_rule(r, 0, ANY, 100, 1, RIG_LOSE);
    rig_send(r, 1, 0, 64);
    rig_run(r);
    assert_int_equal(r->host[0].n_wc[WQ_SEND], 0);
    assert_int_equal(rig_count(r, EV_timer, ANY, NULL, 0), 0);
    rig_free(r);
}

/* Shows B46. */
static void psns_wrap_in_the_middle_of_a_message(void **state)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    (void)state;
    c.sq_psn = 0xfffffe;
    r = rig_new(&c);
    rig_fill(r, 0, 5);
    rig_recv(r, 7, 0, 4096);
    rig_recv(r, 8, 4096, 4096);
    rig_rule(r, 0, ANY, 0, 1, RIG_LOSE);
    rig_send(r, 1, 0, 5 * 256);
    rig_send(r, 2, 4096, 300);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
    assert_true(rig_same(r, 0, 0, 5 * 256));
    assert_true(rig_same(r, 4096, 4096, 300));
    assert_int_equal(rig_rc(r, 1)->resp.expected.v, 5);
    rig_free(r);
}

/* The window is full long before the message ends; it goes on as acknowledges come. */
static void a_message_larger_than_the_send_queue_of_packets_flows(void **state)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    (void)state;
    c.max_send_wr = 1;
    r = rig_new(&c);
    rig_fill(r, 0, 9);
    for (uint32_t i = 0; i < 8; i++)
        rig_recv(r, i, i * 16384, 16384);
    for (uint32_t i = 0; i < 8; i++)
        rig_send(r, i, i * 16384, 16384);
    rig_run(r);
    assert_int_equal(r->host[0].n_wc[WQ_SEND], 8);
    assert_true(rig_same(r, 0, 0, 8 * 16384));
    rig_free(r);
}

/* Nothing comes back: the requester stops at its window. */
static void the_window_is_bounded(void **state)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    (void)state;
    c.timeout = 31;
    c.max_send_wr = 256;
    r = rig_new(&c);
    rig_rule(r, 0, ANY, ANY, ANY, RIG_LOSE);
    for (uint32_t i = 0; i < 200; i++)
        rig_send(r, i, 0, 256 * 32);
    rig_run_until(r, 10000000);
    assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), REQ_WINDOW_PKTS);
    rig_free(r);
}

/* @shortcut: per mille of messages that may go whole. */
static void random_trouble(uint64_t seed, uint32_t loss, uint32_t copy, uint32_t delay,
                           uint32_t shortcut)
{
    struct rig_config c = rig_defaults();
    struct prng dice = prng_stream(seed, 1);
    struct rig *r;
    uint32_t at = 0;

    c.retry_cnt = 7;
    c.rnr_retry = 7;
    c.mtu = MTU_256 + (uint32_t)prng_below(&dice, 3);
    c.sq_psn = 0xffffc0;
    c.profile[0] = seed % 2 ? PROFILE_iba : PROFILE_rxe;
    c.profile[1] = seed / 2 % 2 ? PROFILE_rxe : PROFILE_iba;
    r = rig_new(&c);
    r->chance = prng_stream(seed, 0);
    rig_fill(r, 0, (uint8_t)seed);
    for (uint32_t i = 0; i < 40; i++) {
        const uint32_t bytes = (uint32_t)prng_below(&dice, 6000);

        rig_send(r, i, at, bytes);
        rig_prepare(r, 1, WQ_RECV, i, at, bytes);
        r->host[1].queue[WQ_RECV].posted++;
        at += bytes;
    }
    r->host[1].queue[WQ_RECV].posted = 20;
    r->loss = loss;
    r->copy = copy;
    r->delay = delay;
    r->shortcut = shortcut;
    rig_run_until(r, 200000);
    while (r->host[1].queue[WQ_RECV].posted < 40) { /* in the meantime there are RNR NAKs */
        r->host[1].queue[WQ_RECV].posted++;
        rig_run_until(r, sim_now(&r->sim) + 50000);
    }
    rig_run(r);
    for (uint32_t i = 0; i < 40; i++) {
        rig_expect(r, 0, WQ_SEND, i, i, WCS_SUCCESS);
        rig_expect(r, 1, WQ_RECV, i, i, WCS_SUCCESS);
    }
    assert_int_equal(r->host[0].n_wc[WQ_SEND], 40);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 40);
    assert_true(rig_same(r, 0, 0, at));
    rig_free(r);
}

/* Shows I1, I3, I15. */
static void whatever_the_wire_does_every_byte_arrives_once(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        random_trouble(seed, 20, 20, 20, 0);
        random_trouble(seed, 0, 0, 100, 0);
        random_trouble(seed, 0, 200, 0, 0);
        random_trouble(seed, 50, 0, 0, 0);
    }
}

/* The shortcut loses nothing, but the transport does not rely on that; nor on a shortcut that was
 * there for the last message.
 */
static void every_byte_arrives_once_by_frames_and_by_the_shortcut(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        random_trouble(seed, 0, 0, 0, 1000);
        random_trouble(seed, 0, 0, 0, 500);
        random_trouble(seed, 20, 20, 20, 500);
        random_trouble(seed, 50, 0, 0, 900);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_send_arrives_and_both_sides_complete),
        cmocka_unit_test(causes_lead_from_completion_to_fetch),
        cmocka_unit_test(immediate_and_solicited_reach_the_receiver),
        cmocka_unit_test(acks_are_asked_for_at_ends_and_now_and_then),
        cmocka_unit_test(every_size_is_cut_and_put_together),
        cmocka_unit_test(inline_data_needs_no_key),
        cmocka_unit_test(inline_data_of_several_packets_goes_on_in_each),
        cmocka_unit_test(an_unsignaled_send_returns_its_chain_without_a_completion),
        cmocka_unit_test(a_lost_request_is_sent_again_after_the_timeout),
        cmocka_unit_test(a_lost_ack_makes_a_duplicate_that_is_acknowledged_again),
        cmocka_unit_test(a_lost_middle_packet_draws_one_nak),
        cmocka_unit_test(a_second_gap_draws_a_second_nak),
        cmocka_unit_test(progress_starts_the_timer_anew),
        cmocka_unit_test(a_copied_packet_is_delivered_once),
        cmocka_unit_test(rnr_waits_and_succeeds_when_a_receive_is_posted),
        cmocka_unit_test(a_gap_after_an_rnr_nak_is_reported),
        cmocka_unit_test(rnr_retries_run_out),
        cmocka_unit_test(rnr_retry_seven_never_ends),
        cmocka_unit_test(retries_run_out),
        cmocka_unit_test(without_a_timeout_a_lost_packet_waits_for_ever),
        cmocka_unit_test(psns_wrap_in_the_middle_of_a_message),
        cmocka_unit_test(a_message_larger_than_the_send_queue_of_packets_flows),
        cmocka_unit_test(the_window_is_bounded),
        cmocka_unit_test(whatever_the_wire_does_every_byte_arrives_once),
        cmocka_unit_test(every_byte_arrives_once_by_frames_and_by_the_shortcut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
