/* SPDX-License-Identifier: MIT */
/* How work requests and queue pairs fail: the events and completions, and their order. */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/trace/event.h"
#include "emu/xport/internal.h"
#include "emu/xport/resp.h"
#include "rig.h"

static struct rig *rig_default(void)
{
    const struct rig_config c = rig_defaults();

    return rig_new(&c);
}

/* 1 and 2 go out and succeed, 3 is refused, 4 never leaves.  Shows B1, B13. */
static void a_bad_lkey_waits_for_the_earlier_ones_and_flushes_the_later(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        rig_recv(r, i, i * 256, 256);
    for (uint32_t i = 1; i <= 4; i++) {
        struct rig_post *p = rig_prepare(r, 0, WQ_SEND, i, 0, 64);

        p->flags = i == 3 ? 0 : SF_SIGNALED; /* an error completes unsignaled too */
        if (i == 3)
            p->sge[0].lkey ^= 1;
        rig_post(r, 0, WQ_SEND);
    }
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 2, 3, WCS_LOC_PROT_ERR);
    rig_expect(r, 0, WQ_SEND, 3, 4, WCS_WR_FLUSH_ERR);
    assert_int_equal(r->host[0].wc[WQ_SEND][2].rule, RULE_MR_KEY);
    assert_int_equal(r->host[0].wc[WQ_SEND][3].rule, RULE_FLUSH);
    assert_int_equal(r->host[0].qp->state, QPS_ERR);
    assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 2);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 2);
    assert_int_equal(rig_count(r, EV_key, 0, "rule", RULE_MR_KEY), 1);
    rig_free(r);
}

/* Shows B1. */
static void a_refused_request_waits_while_the_earlier_one_is_sent_again(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 1024);
    rig_rule(r, 0, ANY, 101, 1, RIG_LOSE);
    rig_send(r, 1, 0, 3 * 256);
    rig_prepare(r, 0, WQ_SEND, 2, RIG_REGION - 10, 11); /* one byte too many */
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_LOC_PROT_ERR);
    assert_int_equal(r->host[0].wc[WQ_SEND][1].rule, RULE_MR_RANGE);
    rig_free(r);
}

/* Keys are read again when a packet is built: in between the region may go.  Shows B12. */
static void a_region_that_goes_while_a_message_is_sent_ends_it(void **state)
{
    struct rig *r = rig_default();
    struct rig_host *h = &r->host[0];

    (void)state;
    rig_recv(r, 7, 0, 65536);
    rig_send(r, 1, 0, 256 * 100);
    rig_run_until(r, 50 * RIG_EACH_NS);
    assert_int_equal(hca_mr_destroy(&h->hca, key_number(h->mr->key)), REF_NONE);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_LOC_PROT_ERR);
    assert_int_equal(h->wc[WQ_SEND][0].rule, RULE_MR_KEY);
    assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 51);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 0);
    rig_free(r);
}

/* Shows B4, B6, B10. */
static void malformed_requests_complete_with_their_rule(void **state)
{
    static const struct {
        uint32_t opcode, flags, n_sge, body_bytes, sge_bytes;
        bool truncated;
        enum wc_status status;
        enum rule rule;
    } rows[] = {
        {WR_SEND, 0, 1, 16, 8, true, WCS_LOC_QP_OP_ERR, RULE_SQ_FORM},
        {WR_RDMA_READ, SF_INLINE, 0, 8, 8, false, WCS_LOC_QP_OP_ERR, RULE_SQ_INLINE},
        {WR_ATOMIC_FETCH_AND_ADD, 0, 1, 16, 4, false, WCS_LOC_LEN_ERR, RULE_SQ_ATOMIC_LENGTH},
        {WR_ATOMIC_CMP_AND_SWP, 0, 0, 0, 0, false, WCS_LOC_LEN_ERR, RULE_SQ_ATOMIC_LENGTH},
        {0xdeadbeef, 0, 1, 16, 8, false, WCS_LOC_QP_OP_ERR, RULE_SQ_OPCODE},
        {WR_SEND, SF_INLINE, 1, 16, 8, false, WCS_LOC_QP_OP_ERR, RULE_SQ_INLINE},
        {WR_SEND, SF_INLINE, 0, RIG_INLINE + 1, 8, false, WCS_LOC_LEN_ERR, RULE_SQ_INLINE},
        {WR_SEND, 0, RIG_SGES + 1, 16 * (RIG_SGES + 1), 8, false, WCS_LOC_QP_OP_ERR,
         RULE_SQ_SGE_COUNT},
        {WR_SEND, 0, 0x10000001, 16, 8, false, WCS_LOC_QP_OP_ERR, RULE_SQ_SGE_COUNT},
        {WR_SEND, 0, 2, 16, 8, false, WCS_LOC_QP_OP_ERR, RULE_SQ_SGE_COUNT},
        {WR_SEND, 0, 1, 17, 8, false, WCS_LOC_QP_OP_ERR, RULE_SQ_SGE_COUNT},
        {WR_SEND, 0, 1, 16, 0x80000001, false, WCS_LOC_LEN_ERR, RULE_SQ_LENGTH},
        {WR_SEND, 0, 1, 16, 0x80000000, false, WCS_LOC_PROT_ERR, RULE_MR_RANGE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_default();
        struct rig_post *p = rig_prepare(r, 0, WQ_SEND, 1, 0, rows[i].sge_bytes);

        p->opcode = rows[i].opcode;
        p->flags = rows[i].flags;
        p->n_sge = rows[i].n_sge;
        p->body_bytes = rows[i].body_bytes;
        p->truncated = rows[i].truncated;
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, rows[i].status);
        assert_int_equal(r->host[0].wc[WQ_SEND][0].rule, rows[i].rule);
        assert_int_equal(rig_count(r, EV_tx, ANY, NULL, 0), 0);
        rig_free(r);
    }
}

/* The message fits in its first packet, and not in its second.  Shows B20. */
static void a_message_larger_than_its_receive_fails_at_both_ends(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 300);
    rig_recv(r, 8, 512, 300);
    rig_send(r, 1, 0, 301);
    rig_run(r);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_LOC_LEN_ERR);
    rig_expect(r, 1, WQ_RECV, 1, 8, WCS_WR_FLUSH_ERR);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_REM_INV_REQ_ERR);
    assert_int_equal(r->host[1].wc[WQ_RECV][0].rule, RULE_RESP_RECV_LENGTH);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_INVALID_REQUEST), 1);
    assert_int_equal(r->host[1].qp->state, QPS_ERR);
    assert_int_equal(r->host[0].qp->state, QPS_ERR);
    rig_free(r);
}

/* The device looks at the bytes that it touches, not at the receive as a whole.  Shows B21, B22,
 * I7.
 */
static void only_touched_bytes_of_a_receive_are_checked(void **state)
{
    struct rig *r = rig_default();
    uint8_t before[64], after[64];

    (void)state;
    rig_recv(r, 7, RIG_REGION - 64, 1000);
    rig_recv(r, 8, RIG_REGION - 64, 1000);
    rig_send(r, 1, 0, 64);
    rig_run(r);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
    rig_read(r, 1, RIG_REGION - 64, before, 64);
    rig_fill(r, 0, 77);
    rig_send(r, 2, 0, 65);
    rig_run(r);
    rig_read(r, 1, RIG_REGION - 64, after, 64);
    assert_memory_equal(before, after, 64);
    rig_expect(r, 1, WQ_RECV, 1, 8, WCS_LOC_PROT_ERR);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_REM_OP_ERR);
    assert_int_equal(r->host[1].wc[WQ_RECV][1].rule, RULE_MR_RANGE);
    assert_int_equal(rig_count(r, EV_key, 1, "rule", RULE_MR_RANGE), 1);
    rig_free(r);
}

/* The first packet fits into good memory, the second would go where no region is.  Shows B21. */
static void later_packets_are_checked_where_they_go(void **state)
{
    struct rig *r = rig_default();
    struct rig_post *p = rig_prepare(r, 1, WQ_RECV, 7, 0, 256);

    (void)state;
    p->n_sge = 2;
    p->body_bytes = 32;
    p->sge[1] = (struct sge){RIG_ADDR + RIG_REGION, 256, p->sge[0].lkey};
    rig_post(r, 1, WQ_RECV);
    rig_send(r, 1, 0, 512);
    rig_run(r);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_LOC_PROT_ERR);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_REM_OP_ERR);
    assert_int_equal(rig_event(r, EV_key, 1, 0)->u.key.addr, RIG_ADDR + RIG_REGION);
    assert_int_equal(rig_count(r, EV_dma_write, 1, NULL, 0), 1);
    rig_free(r);
}

/* One answer waits: an acknowledge does not hide the NAK, and who does not ask gets none. */
static void a_nak_is_not_replaced_by_an_acknowledge(void **state)
{
    struct rig *r = rig_default();
    struct packet p;

    (void)state;
    rig_recv(r, 7, 0, 64);
    p = rig_packet(r, 1, OP_RC_SEND_ONLY, 100);
    p.bth.ack_req = false;
    rig_inject(r, 1, &p);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 1);
    assert_false(rig_rc(r, 1)->resp.answer.pending);
    p = rig_packet(r, 1, OP_RC_SEND_ONLY, 102);
    rig_inject(r, 1, &p);
    p = rig_packet(r, 1, OP_RC_SEND_ONLY, 100);
    rig_inject(r, 1, &p);
    rig_run(r);
    assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 1);
    assert_int_equal(rig_event(r, EV_tx, 1, 0)->u.tx.syndrome, SYN_NAK_PSN_SEQUENCE);
    assert_int_equal(rig_event(r, EV_tx, 1, 0)->u.tx.psn, 101);
    rig_free(r);
}

static void a_receive_that_is_no_wqe_is_refused(void **state)
{
    static const struct {
        bool truncated, broken;
        uint32_t n_sge, body_bytes;
    } rows[] = {{true, false, 1, 16},
                {false, false, 2, 16},
                {false, false, RIG_SGES + 1, 80},
                {false, true, 1, 16}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_default();
        struct rig_post *p = rig_prepare(r, 1, WQ_RECV, 7, 0, 64);

        p->truncated = rows[i].truncated;
        p->n_sge = rows[i].n_sge;
        p->body_bytes = rows[i].body_bytes;
        r->host[1].queue[WQ_RECV].broken = rows[i].broken;
        rig_post(r, 1, WQ_RECV);
        rig_send(r, 1, 0, 64);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_REM_OP_ERR);
        if (!rows[i].broken)
            rig_expect(r, 1, WQ_RECV, 0, 7, WCS_LOC_QP_OP_ERR);
        assert_int_equal(rig_event(r, EV_rx, 1, 0)->u.rx.rule, RULE_RESP_RECV_FORM);
        rig_free(r);
    }
}

/* Sent and unanswered, refused, not fetched; a receive that is in use, and one that is not.
 * Shows B14, B15, B89, I6.
 */
static void error_flushes_both_queues_in_order(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 50, 0, 4096);
    rig_recv(r, 51, 0, 4096);
    rig_rule(r, 0, OP_RC_SEND_LAST, ANY, ANY, RIG_LOSE);
    for (uint32_t i = 1; i <= 6; i++)
        rig_send(r, i, 0, 600);
    rig_run_until(r, 30000);
    rig_move(r, 0, QPS_ERR);
    rig_move(r, 1, QPS_ERR);
    rig_run(r);
    for (uint32_t i = 0; i < 6; i++)
        rig_expect(r, 0, WQ_SEND, i, i + 1, WCS_WR_FLUSH_ERR);
    rig_expect(r, 1, WQ_RECV, 0, 50, WCS_WR_FLUSH_ERR);
    rig_expect(r, 1, WQ_RECV, 1, 51, WCS_WR_FLUSH_ERR);
    rig_send(r, 7, 0, 64); /* posted to a queue pair in ERR */
    rig_recv(r, 52, 0, 64);
    rig_expect(r, 0, WQ_SEND, 6, 7, WCS_WR_FLUSH_ERR);
    rig_expect(r, 1, WQ_RECV, 2, 52, WCS_WR_FLUSH_ERR);
    rig_free(r);
}

/* Shows B89. */
static void reset_gives_everything_back_without_completions(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 50, 0, 4096);
    rig_recv(r, 51, 0, 4096);
    rig_rule(r, 0, OP_RC_SEND_LAST, ANY, ANY, RIG_LOSE);
    for (uint32_t i = 1; i <= 3; i++)
        rig_send(r, i, 0, 600);
    rig_run_until(r, 30000);
    rig_move(r, 0, QPS_RESET);
    rig_move(r, 1, QPS_RESET);
    rig_run(r);
    assert_int_equal(r->host[0].queue[WQ_SEND].returned, 3);
    assert_int_equal(r->host[1].queue[WQ_RECV].returned, 2);
    assert_int_equal(r->host[0].n_wc[WQ_SEND] + r->host[1].n_wc[WQ_RECV], 0);
    assert_int_equal(req_high(&rig_rc(r, 0)->req).v, 0);
    rig_free(r);
}

/* SQD: what was started is finished, what was not waits for RTS.  Shows B88. */
static void a_drained_queue_finishes_what_it_started(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 65536);
    rig_recv(r, 8, 0, 65536);
    rig_send(r, 1, 0, 256 * 100);
    rig_send(r, 2, 0, 64);
    rig_run_until(r, 10 * RIG_EACH_NS);
    rig_move(r, 0, QPS_SQD);
    rig_run(r);
    assert_int_equal(r->host[0].n_wc[WQ_SEND], 1);
    assert_int_equal(r->host[0].queue[WQ_SEND].taken, 1);
    rig_move(r, 0, QPS_RTS);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
    rig_free(r);
}

/* The NAK is sent although its queue pair is in ERR by then.  Shows B24, B25, B26, B76. */
static void requests_out_of_form_are_answered_and_end_the_responder(void **state)
{
    static const struct {
        uint8_t first, second; /* opcodes; first 0xff: none */
        uint32_t bytes;        /* of the second's payload */
        enum rule rule;
    } rows[] = {
        {0xff, 0x15, 0, RULE_RESP_OPCODE}, /* reserved */
        {0xff, OP_RC_RDMA_READ_REQUEST, 4, RULE_RESP_LENGTH},
        {0xff, OP_RC_SEND_LAST, 10, RULE_RESP_OP_SEQUENCE},
        {0xff, OP_RC_SEND_MIDDLE, 256, RULE_RESP_OP_SEQUENCE},
        {OP_RC_SEND_FIRST, OP_RC_SEND_ONLY, 10, RULE_RESP_OP_SEQUENCE},
        {0xff, OP_RC_SEND_FIRST, 255, RULE_RESP_LENGTH},
        {0xff, OP_RC_SEND_ONLY, 257, RULE_RESP_LENGTH},
        {OP_RC_SEND_FIRST, OP_RC_SEND_LAST, 0, RULE_RESP_LENGTH},
        {OP_RC_SEND_FIRST, OP_RC_SEND_LAST, 257, RULE_RESP_LENGTH},
        {0xff, OP_RC_SEND_ONLY, 5, RULE_RESP_PAD}, /* none of them has a pad */
        {OP_RC_SEND_FIRST, OP_RC_SEND_LAST, 255, RULE_RESP_PAD},
    };
    static const uint8_t payload[300] = {1};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_default();
        struct packet p;
        uint32_t psn = 100;

        rig_recv(r, 7, 0, 4096);
        if (rows[i].first != 0xff) {
            p = rig_packet(r, 1, rows[i].first, psn++);
            p.payload = payload;
            p.payload_bytes = 256;
            rig_inject(r, 1, &p);
        }
        p = rig_packet(r, 1, rows[i].second, psn);
        p.payload = payload;
        p.payload_bytes = rows[i].bytes;
        rig_inject(r, 1, &p);
        rig_run(r);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        assert_int_equal(rig_event(r, EV_rx, 1, psn - 100)->u.rx.rule, rows[i].rule);
        assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_INVALID_REQUEST), 1);
        assert_int_equal(rig_count(r, EV_tx, 1, "psn", psn), 1);
        rig_expect(r, 1, WQ_RECV, 0, 7,
                   rows[i].first == 0xff ? WCS_WR_FLUSH_ERR : WCS_REM_INV_REQ_ERR);
        rig_free(r);
    }
}

/* What is refused for good is told as what it is, and ends the receive as the verdict says. */
static void a_refusal_is_answered_with_the_nak_of_its_verdict(void **state)
{
    static const struct {
        enum pkt_act act;
        enum syndrome nak;
        enum wc_status status, receive, request;
    } rows[] = {
        {ACT_NAK_INVALID, SYN_NAK_INVALID_REQUEST, WCS_LOC_LEN_ERR, WCS_LOC_LEN_ERR,
         WCS_REM_INV_REQ_ERR},
        {ACT_NAK_ACCESS, SYN_NAK_REMOTE_ACCESS, WCS_SUCCESS, WCS_WR_FLUSH_ERR, WCS_REM_ACCESS_ERR},
        {ACT_NAK_OPERATIONAL, SYN_NAK_REMOTE_OPERATIONAL, WCS_LOC_PROT_ERR, WCS_LOC_PROT_ERR,
         WCS_REM_OP_ERR},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct resp_verdict d = resp_nak(rows[i].act, rows[i].status);
        struct rig *r = rig_default();

        assert_int_equal(d.act, rows[i].act);
        assert_int_equal(d.nak, rows[i].nak);
        rig_recv(r, 7, 0, 1024);
        rig_send(r, 1, 0, 257);
        rig_rule(r, 0, ANY, 101, 1, RIG_LOSE);
        rig_run_until(r, 5000); /* the receive is held: half of its message is there */
        resp_refuse(xport_of(r->host[1].qp), &d, rig_rc(r, 1)->resp.expected, 0);
        xport_wake(xport_of(r->host[1].qp));
        rig_run(r);
        assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", rows[i].nak), 1);
        assert_int_equal(rig_event(r, EV_tx, 1, 0)->u.tx.psn, 101);
        rig_expect(r, 1, WQ_RECV, 0, 7, rows[i].receive);
        rig_expect(r, 0, WQ_SEND, 0, 1, rows[i].request);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        rig_free(r);
    }
}

/* 1 is acknowledged by the NAK for 2; 2 ends with what the NAK says; 3 is flushed.  Shows B54. */
static void every_nak_ends_the_request_that_it_names(void **state)
{
    static const struct {
        uint8_t opcode, syndrome;
        enum wc_status status;
        enum rule rule;
    } rows[] = {
        {OP_RC_ACKNOWLEDGE, 0x61, WCS_REM_INV_REQ_ERR, RULE_COMP_NAK},
        {OP_RC_ACKNOWLEDGE, 0x62, WCS_REM_ACCESS_ERR, RULE_COMP_NAK},
        {OP_RC_ACKNOWLEDGE, 0x63, WCS_REM_OP_ERR, RULE_COMP_NAK},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_default();
        struct packet p;

        rig_rule(r, 0, ANY, ANY, ANY, RIG_LOSE);
        for (uint32_t n = 1; n <= 3; n++)
            rig_send(r, n, 0, 64);
        rig_run_until(r, 1000);
        p = rig_packet(r, 0, rows[i].opcode, 101);
        p.aeth.syndrome = rows[i].syndrome;
        rig_inject(r, 0, &p);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
        rig_expect(r, 0, WQ_SEND, 1, 2, rows[i].status);
        rig_expect(r, 0, WQ_SEND, 2, 3, WCS_WR_FLUSH_ERR);
        assert_int_equal(r->host[0].wc[WQ_SEND][1].rule, rows[i].rule);
        rig_free(r);
    }
}

/* Shows B28, B30. */
static void a_response_of_the_wrong_kind_is_a_bad_response(void **state)
{
    static const struct {
        uint8_t opcode, syndrome;
    } rows[] = {
        {OP_RC_RDMA_READ_RESPONSE_ONLY, 0x1f},
        {OP_RC_ATOMIC_ACKNOWLEDGE, 0x1f},
        {OP_RC_ACKNOWLEDGE, 0x65},
        {OP_RC_ACKNOWLEDGE, 0x9f},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_default();
        struct packet p;

        rig_rule(r, 0, ANY, ANY, ANY, RIG_LOSE);
        rig_send(r, 1, 0, 64);
        rig_run_until(r, 1000);
        p = rig_packet(r, 0, rows[i].opcode, 100);
        p.aeth.syndrome = rows[i].syndrome;
        rig_inject(r, 0, &p);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_BAD_RESP_ERR);
        assert_int_equal(r->host[0].wc[WQ_SEND][0].rule, RULE_COMP_RESPONSE);
        rig_free(r);
    }
}

/* Shows B31. */
static void ghosts_change_nothing(void **state)
{
    static const uint32_t psns[] = {99, 101, 0xffffff, 0x800064, 0};
    struct rig *r = rig_default();
    struct packet p;

    (void)state;
    rig_rule(r, 0, ANY, ANY, 1, RIG_LOSE);
    rig_recv(r, 7, 0, 64);
    rig_send(r, 1, 0, 64);
    rig_run_until(r, 1000);
    for (size_t i = 0; i < ARRAY_LEN(psns); i++) {
        p = rig_packet(r, 0, OP_RC_ACKNOWLEDGE, psns[i]);
        p.aeth.syndrome = i % 2 ? 0x62 : 0x1f;
        rig_inject(r, 0, &p);
    }
    assert_int_equal(rig_count(r, EV_drop, 0, "reason", DROP_GHOST_ACK), ARRAY_LEN(psns));
    assert_int_equal(r->host[0].n_wc[WQ_SEND], 0);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_free(r);
}

/* An acknowledge of the third completes three; a NAK says so of what is before it.  Shows B53. */
static void acknowledges_are_cumulative(void **state)
{
    struct rig *r = rig_default();
    struct packet p;

    (void)state;
    rig_rule(r, 0, ANY, ANY, ANY, RIG_LOSE);
    for (uint32_t n = 1; n <= 4; n++)
        rig_send(r, n, 0, 300);
    rig_run_until(r, 2000);
    p = rig_packet(r, 0, OP_RC_ACKNOWLEDGE, 105);
    p.aeth.syndrome = 0x1f;
    rig_inject(r, 0, &p);
    assert_int_equal(r->host[0].n_wc[WQ_SEND], 3);
    assert_int_equal(rig_rc(r, 0)->req.una.v, 106);
    rig_free(r);
}

static void a_nak_for_the_packet_that_is_waited_out_says_nothing_new(void **state)
{
    struct rig *r = rig_default();
    struct packet p;

    (void)state;
    rig_rule(r, 0, ANY, ANY, ANY, RIG_LOSE);
    rig_send(r, 1, 0, 64);
    rig_run_until(r, 1000);
    p = rig_packet(r, 0, OP_RC_ACKNOWLEDGE, 100);
    p.aeth.syndrome = 0x21;
    rig_inject(r, 0, &p);
    rig_inject(r, 0, &p);
    p.aeth.syndrome = 0x60;
    rig_inject(r, 0, &p);
    assert_int_equal(rig_rc(r, 0)->req.rnr_naks, 1);
    assert_int_equal(rig_rc(r, 0)->req.retries, 0);
    p.aeth.syndrome = 0x1f; /* the wait is over when it turns out to have arrived */
    rig_inject(r, 0, &p);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    assert_false(rig_rc(r, 0)->req.rnr_wait);
    assert_null(xport_invariant(r->host[0].qp));
    rig_free(r);
}

/* Packets of all opcodes with PSNs around the expected ones, and whatever in the other fields. */
static void whatever_arrives_the_invariants_hold(void **state)
{
    static const uint8_t payload[4096];
    struct prng dice = prng_stream(3, 3);

    (void)state;
    for (uint32_t round = 0; round < 60; round++) {
        struct rig *r = rig_default();

        for (uint32_t i = 0; i < 20; i++) {
            rig_recv(r, i, i * 600, 600);
            rig_send(r, i, i * 600, 500);
        }
        for (uint32_t i = 0; i < 300; i++) {
            const uint32_t to = (uint32_t)prng_below(&dice, 2);
            const struct xport_qp *xqp = rig_rc(r, to);
            struct packet p = rig_packet(r, to, (uint8_t)prng_below(&dice, 32), 0);
            const bool response = op_is_response(p.op);
            const struct psn near = response ? xqp->req.una : xqp->resp.expected;

            if (prng_below(&dice, 4) > 0) /* let the queue pairs live for a while */
                p.bth.opcode = response ? OP_RC_ACKNOWLEDGE : OP_RC_SEND_ONLY;
            p.op = op_info(p.bth.opcode);
            p.bth.psn = psn_add(near, (uint32_t)prng_below(&dice, 5) + PSN_MASK - 1);
            p.bth.ack_req = prng_below(&dice, 2) == 0;
            p.aeth.syndrome = (uint8_t)prng_below(&dice, round % 2 ? 256 : 64);
            p.payload = payload;
            p.payload_bytes = (uint32_t)prng_below(&dice, round % 3 ? 257 : 4097);
            p.bth.pad_bytes = (uint8_t)packet_pad_bytes(p.payload_bytes);
            if (prng_below(&dice, 16) == 0)
                p.bth.pad_bytes ^= 1;
            rig_inject(r, to, &p);
            assert_null(xport_invariant(r->host[to].qp));
            rig_run_until(r, sim_now(&r->sim) + prng_below(&dice, 500));
        }
        rig_run(r);
        rig_free(r);
    }
}

/* What goes back needs memory to count what is sent again; it goes on without, and the lab ends. */
static void a_full_arena_is_no_bug_of_who_sends_again(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 6, 0, 1024); /* the first message makes the rings */
    rig_send(r, 9, 0, 64);
    rig_run(r);
    rig_recv(r, 7, 0, 1024);
    rig_rule(r, 0, ANY, 102, 1, RIG_LOSE);
    rig_send(r, 1, 0, 3 * 256);
    for (size_t bytes = (size_t)1 << 30; bytes >= REQ_SENDS_BYTES; bytes /= 2) {
        while (arena_alloc_raw(r->arena, bytes))
            ;
    }
    rig_run(r);
    assert_true(arena_is_short(r->arena));
    rig_expect(r, 0, WQ_SEND, 1, 1, WCS_SUCCESS);
    assert_true(rig_count(r, EV_tx, 0, NULL, 0) > 4); /* it went back */
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_lkey_waits_for_the_earlier_ones_and_flushes_the_later),
        cmocka_unit_test(a_refused_request_waits_while_the_earlier_one_is_sent_again),
        cmocka_unit_test(a_region_that_goes_while_a_message_is_sent_ends_it),
        cmocka_unit_test(malformed_requests_complete_with_their_rule),
        cmocka_unit_test(a_message_larger_than_its_receive_fails_at_both_ends),
        cmocka_unit_test(only_touched_bytes_of_a_receive_are_checked),
        cmocka_unit_test(later_packets_are_checked_where_they_go),
        cmocka_unit_test(a_nak_is_not_replaced_by_an_acknowledge),
        cmocka_unit_test(a_receive_that_is_no_wqe_is_refused),
        cmocka_unit_test(error_flushes_both_queues_in_order),
        cmocka_unit_test(reset_gives_everything_back_without_completions),
        cmocka_unit_test(a_drained_queue_finishes_what_it_started),
        cmocka_unit_test(requests_out_of_form_are_answered_and_end_the_responder),
        cmocka_unit_test(a_refusal_is_answered_with_the_nak_of_its_verdict),
        cmocka_unit_test(every_nak_ends_the_request_that_it_names),
        cmocka_unit_test(a_response_of_the_wrong_kind_is_a_bad_response),
        cmocka_unit_test(ghosts_change_nothing),
        cmocka_unit_test(acknowledges_are_cumulative),
        cmocka_unit_test(a_nak_for_the_packet_that_is_waited_out_says_nothing_new),
        cmocka_unit_test(whatever_arrives_the_invariants_hold),
        cmocka_unit_test(a_full_arena_is_no_bug_of_who_sends_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
