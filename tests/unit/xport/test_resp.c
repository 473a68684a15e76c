/* SPDX-License-Identifier: MIT */
/* The responder's rules, each with one small view and one packet. */
#include "testing.h"

#include "emu/facts/device.h"
#include "emu/facts/enum/opcode.h"
#include "emu/xport/resp.h"

static struct packet request(uint8_t opcode, uint32_t psn, uint32_t bytes)
{
    return (struct packet){
        .bth = {.opcode = opcode, .psn = {psn}, .pad_bytes = (uint8_t)packet_pad_bytes(bytes)},
        .op = op_info(opcode),
        .payload_bytes = bytes,
    };
}

/* Shows B47, B48. */
static void the_psn_decides_first(void **state)
{
    static const struct {
        uint32_t expected, psn;
        bool seq_nak_out, rnr_nak_out;
        enum pkt_act act;
        enum drop_reason drop;
    } rows[] = {
        {100, 100, false, false, ACT_ACCEPT, DROP_NONE},
        {100, 100, true, true, ACT_ACCEPT, DROP_NONE},
        {100, 99, false, false, ACT_DUPLICATE, DROP_NONE},
        {100, 99, true, true, ACT_DUPLICATE, DROP_NONE}, /* answered even so */
        {100, 101, false, false, ACT_NAK_SEQUENCE, DROP_NONE},
        {100, 101, true, false, ACT_DROP, DROP_OUT_OF_SEQUENCE},
        {100, 101, false, true, ACT_DROP, DROP_AFTER_RNR},
        {0, PSN_MASK, false, false, ACT_DUPLICATE, DROP_NONE},
        {PSN_MASK, 0, false, false, ACT_NAK_SEQUENCE, DROP_NONE},
        {0, 0x7fffff, false, false, ACT_NAK_SEQUENCE, DROP_NONE},
        {0, 0x800000, false, false, ACT_DUPLICATE, DROP_NONE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct resp_view v = {.expected = {rows[i].expected},
                                    .seq_nak_out = rows[i].seq_nak_out,
                                    .rnr_nak_out = rows[i].rnr_nak_out,
                                    .mtu = 256};
        const struct packet p = request(OP_RC_SEND_ONLY, rows[i].psn, 1);
        struct resp_verdict d;

        resp_decide(&v, &p, &d);
        assert_int_equal(d.act, rows[i].act);
        assert_int_equal(d.nak, d.act == ACT_NAK_SEQUENCE ? SYN_NAK_PSN_SEQUENCE : SYN_NONE);
        assert_int_equal(d.drop, rows[i].drop);
        assert_int_equal(d.rule, d.act == ACT_ACCEPT ? RULE_NONE : RULE_RESP_PSN);
        assert_int_equal(d.values.least, d.act == ACT_ACCEPT ? 0 : rows[i].expected);
        assert_int_equal(d.values.most, d.values.least);
        assert_int_equal(d.values.found, d.act == ACT_ACCEPT ? 0 : rows[i].psn);
    }
}

/* A gap is reported before anything else about the packet behind it. */
static void a_reserved_opcode_behind_a_gap_draws_a_sequence_nak(void **state)
{
    const struct resp_view v = {.expected = {5}, .mtu = 256};
    const struct packet p = request(0x1f, 6, 0);
    struct resp_verdict d;

    (void)state;
    resp_decide(&v, &p, &d);
    assert_int_equal(d.act, ACT_NAK_SEQUENCE);
}

/* Shows B18, B24, B25, B26. */
static void positions_and_lengths_have_their_rules(void **state)
{
    enum { NO = 0xff };
    static const struct {
        uint8_t open, opcode;
        uint32_t bytes;
        enum rule rule;
    } rows[] = {
        {NO, OP_RC_SEND_ONLY, 0, RULE_NONE},
        {NO, OP_RC_SEND_ONLY_WITH_IMM, 256, RULE_NONE},
        {NO, OP_RC_SEND_ONLY, 257, RULE_RESP_LENGTH},
        {NO, OP_RC_SEND_FIRST, 256, RULE_NONE},
        {NO, OP_RC_SEND_FIRST, 255, RULE_RESP_LENGTH},
        {NO, OP_RC_SEND_MIDDLE, 256, RULE_RESP_OP_SEQUENCE},
        {NO, OP_RC_SEND_LAST, 1, RULE_RESP_OP_SEQUENCE},
        {OP_RC_SEND_FIRST, OP_RC_SEND_MIDDLE, 256, RULE_NONE},
        {OP_RC_SEND_FIRST, OP_RC_SEND_MIDDLE, 257, RULE_RESP_LENGTH},
        {OP_RC_SEND_MIDDLE, OP_RC_SEND_LAST, 1, RULE_NONE},
        {OP_RC_SEND_MIDDLE, OP_RC_SEND_LAST_WITH_IMM, 256, RULE_NONE},
        {OP_RC_SEND_MIDDLE, OP_RC_SEND_LAST, 0, RULE_RESP_LENGTH},
        {OP_RC_SEND_MIDDLE, OP_RC_SEND_LAST, 257, RULE_RESP_LENGTH},
        {OP_RC_SEND_FIRST, OP_RC_SEND_FIRST, 256, RULE_RESP_OP_SEQUENCE},
        {OP_RC_SEND_FIRST, OP_RC_SEND_ONLY, 1, RULE_RESP_OP_SEQUENCE},
        {NO, OP_RC_RDMA_WRITE_ONLY, 0, RULE_RESP_QP_ACCESS},
        {OP_RC_SEND_FIRST, OP_RC_RDMA_WRITE_MIDDLE, 256, RULE_RESP_OP_SEQUENCE},
        {NO, OP_RC_FETCH_ADD, 0, RULE_RESP_QP_ACCESS},
        {OP_RC_SEND_FIRST, OP_RC_SEND_LAST_WITH_INVALIDATE, 1, RULE_NONE},
        {NO, 0x18, 0, RULE_RESP_OPCODE}, /* reserved */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct resp_view v = {.open = rows[i].open == NO ? NULL : op_info(rows[i].open),
                                    .mtu = 256};
        const struct packet p = request(rows[i].opcode, 0, rows[i].bytes);
        struct resp_verdict d;

        resp_decide(&v, &p, &d);
        assert_int_equal(d.rule, rows[i].rule);
        assert_int_equal(d.act, rows[i].rule == RULE_NONE ? ACT_ACCEPT : ACT_NAK_INVALID);
        assert_int_equal(d.status, WCS_SUCCESS);
    }
}

/* Shows B23. */
static void a_write_says_how_long_it_is(void **state)
{
    static const struct {
        uint8_t opcode;
        uint32_t announced, bytes;
        enum rule rule;
    } rows[] = {
        {OP_RC_RDMA_WRITE_ONLY, 8, 8, RULE_NONE},
        {OP_RC_RDMA_WRITE_ONLY, 9, 8, RULE_RESP_DMA_LENGTH},
        {OP_RC_RDMA_WRITE_ONLY, 7, 8, RULE_RESP_DMA_LENGTH},
        {OP_RC_RDMA_WRITE_FIRST, 257, 256, RULE_NONE},
        {OP_RC_RDMA_WRITE_FIRST, MESSAGE_BYTES_MAX, 256, RULE_NONE},
        {OP_RC_RDMA_WRITE_ONLY, MESSAGE_BYTES_MAX + 1, 8, RULE_RESP_DMA_LENGTH},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct resp_view v = {.mtu = 256, .access = ACC_REMOTE_WRITE};
        struct packet p = request(rows[i].opcode, 0, rows[i].bytes);
        struct resp_verdict d;

        p.reth.dma_bytes = rows[i].announced;
        resp_decide(&v, &p, &d);
        assert_int_equal(d.rule, rows[i].rule);
    }
}

/* What is refused says which right the request needs, and which the queue pair gives. */
static void a_request_needs_the_right_of_its_kind(void **state)
{
    static const struct {
        uint8_t opcode;
        unsigned needs;
    } rows[] = {
        {OP_RC_RDMA_WRITE_ONLY, ACC_REMOTE_WRITE},
        {OP_RC_RDMA_READ_REQUEST, ACC_REMOTE_READ},
        {OP_RC_FETCH_ADD, ACC_REMOTE_ATOMIC},
    };
    const unsigned all = ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct resp_view v = {.mtu = 256, .max_rds = 1, .access = all & ~rows[i].needs};
        const struct packet p = request(rows[i].opcode, 0, 0);
        struct resp_verdict d;

        resp_decide(&v, &p, &d);
        assert_int_equal(d.act, ACT_NAK_INVALID);
        assert_int_equal(d.values.least, rows[i].needs);
        assert_int_equal(d.values.most, rows[i].needs);
        assert_int_equal(d.values.found, v.access);
    }
}

/* A duplicate is answered if it is what was taken, or the rest of it. */
static void only_what_was_asked_is_asked_again(void **state)
{
    static const struct resp_rd taken[] = {
        {.opcode = OP_RC_RDMA_READ_REQUEST,
         .psn = {PSN_MASK},
         .n_psns = 3,
         .rkey = 7,
         .addr = 4096,
         .bytes = 600},
        {.opcode = OP_RC_FETCH_ADD, .psn = {50}, .n_psns = 1, .rkey = 7, .addr = 4096, .bytes = 8},
    };
    static const struct {
        uint32_t of, opcode, psn, rkey;
        uint64_t addr;
        uint32_t bytes;
        bool is_again;
        uint32_t at;
    } rows[] = {
        {0, OP_RC_RDMA_READ_REQUEST, PSN_MASK, 7, 4096, 600, true, 0},
        {0, OP_RC_RDMA_READ_REQUEST, 0, 7, 4096 + 256, 600 - 256, true, 1},
        {0, OP_RC_RDMA_READ_REQUEST, 1, 7, 4096 + 512, 600 - 512, true, 2},
        {0, OP_RC_RDMA_READ_REQUEST, 2, 7, 4096 + 768, 0, false, 0}, /* behind its end */
        {0, OP_RC_RDMA_READ_REQUEST, 0, 8, 4096 + 256, 600 - 256, false, 0},
        {0, OP_RC_RDMA_READ_REQUEST, 0, 7, 4096, 600 - 256, false, 0},
        {0, OP_RC_RDMA_READ_REQUEST, 0, 7, 4096 + 256, 600, false, 0},
        {0, OP_RC_FETCH_ADD, PSN_MASK, 7, 4096, 600, false, 0},
        {1, OP_RC_FETCH_ADD, 50, 7, 4096, 0, true, 0},
        {1, OP_RC_FETCH_ADD, 50, 8, 4096, 0, false, 0},
        {1, OP_RC_FETCH_ADD, 50, 7, 4104, 0, false, 0},
        {1, OP_RC_COMPARE_SWAP, 50, 7, 4096, 0, false, 0},
        {1, OP_RC_FETCH_ADD, 49, 7, 4096, 0, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct packet p = request((uint8_t)rows[i].opcode, rows[i].psn, 0);
        uint32_t at = 99;

        p.reth = (struct reth){rows[i].addr, rows[i].rkey, rows[i].bytes};
        p.atomic = (struct atomic_eth){.va = rows[i].addr, .rkey = rows[i].rkey};
        assert_int_equal(resp_asks_again(&taken[rows[i].of], &p, 256, &at), rows[i].is_again);
        assert_int_equal(at, rows[i].is_again ? rows[i].at : 99);
    }
}

/* Shows B76. */
static void the_pad_fills_the_last_word_and_no_other(void **state)
{
    enum { NO = 0xff };
    static const struct {
        uint8_t open, opcode;
        uint32_t bytes, pad, wanted;
    } rows[] = {
        {NO, OP_RC_SEND_ONLY, 0, 0, 0},
        {NO, OP_RC_SEND_ONLY, 4, 0, 0},
        {NO, OP_RC_SEND_ONLY, 5, 3, 3},
        {NO, OP_RC_SEND_ONLY_WITH_IMM, 6, 2, 2},
        {NO, OP_RC_SEND_ONLY, 5, 0, 3}, /* ends within a word */
        {NO, OP_RC_SEND_ONLY, 5, 2, 3},
        {NO, OP_RC_SEND_ONLY, 4, 3, 0},
        {NO, OP_RC_SEND_ONLY, 0, 1, 0},
        {NO, OP_RC_SEND_FIRST, 256, 0, 0},
        {NO, OP_RC_SEND_FIRST, 256, 3, 0},
        {OP_RC_SEND_FIRST, OP_RC_SEND_MIDDLE, 256, 0, 0},
        {OP_RC_SEND_FIRST, OP_RC_SEND_MIDDLE, 256, 1, 0},
        {OP_RC_SEND_FIRST, OP_RC_SEND_LAST, 255, 1, 1},
        {OP_RC_SEND_FIRST, OP_RC_SEND_LAST, 255, 0, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct resp_view v = {.open = rows[i].open == NO ? NULL : op_info(rows[i].open),
                                    .mtu = 256};
        struct packet p = request(rows[i].opcode, 0, rows[i].bytes);
        const bool right = rows[i].pad == rows[i].wanted;
        struct resp_verdict d;

        p.bth.pad_bytes = (uint8_t)rows[i].pad;
        resp_decide(&v, &p, &d);
        assert_int_equal(d.act, right ? ACT_ACCEPT : ACT_NAK_INVALID);
        assert_int_equal(d.nak, right ? SYN_NONE : SYN_NAK_INVALID_REQUEST);
        assert_int_equal(d.rule, right ? RULE_NONE : RULE_RESP_PAD);
        assert_int_equal(d.values.least, right ? 0 : rows[i].wanted);
        assert_int_equal(d.values.most, d.values.least);
        assert_int_equal(d.values.found, right ? 0 : rows[i].pad);
    }
}

/* What needs no region: the receive's presence, form and size. test_errors.c has the keys.  Shows
 * B20.
 */
static void a_delivery_needs_a_receive_that_fits(void **state)
{
    static const struct {
        enum fetch got;
        bool truncated;
        uint32_t said, found;
        bool ragged;
        uint32_t received, payload;
        enum pkt_act act;
        enum rule rule;
        enum wc_status status;
    } rows[] = {
        {FETCH_EMPTY, false, 0, 0, false, 0, 0, ACT_RNR, RULE_RESP_RECV_WQE, WCS_SUCCESS},
        {FETCH_BROKEN, false, 0, 0, false, 0, 0, ACT_NAK_OPERATIONAL, RULE_RESP_RECV_FORM,
         WCS_LOC_QP_OP_ERR},
        {FETCH_OK, false, 0, 0, false, 0, 0, ACT_ACCEPT, RULE_NONE, WCS_SUCCESS},
        {FETCH_OK, true, 0, 0, false, 0, 0, ACT_NAK_OPERATIONAL, RULE_RESP_RECV_FORM,
         WCS_LOC_QP_OP_ERR},
        {FETCH_OK, false, 3, 3, false, 0, 0, ACT_NAK_OPERATIONAL, RULE_RESP_RECV_FORM,
         WCS_LOC_QP_OP_ERR},
        {FETCH_OK, false, 2, 1, true, 0, 0, ACT_NAK_OPERATIONAL, RULE_RESP_RECV_FORM,
         WCS_LOC_QP_OP_ERR},
        {FETCH_OK, false, 0, 0, false, 0, 1, ACT_NAK_INVALID, RULE_RESP_RECV_LENGTH,
         WCS_LOC_LEN_ERR},
        {FETCH_OK, false, 2, 2, false, 20, 11, ACT_NAK_INVALID, RULE_RESP_RECV_LENGTH,
         WCS_LOC_LEN_ERR},
        {FETCH_OK, false, 2, 2, false, 30, 0, ACT_ACCEPT, RULE_NONE, WCS_SUCCESS},
    };
    struct sge sge[2] = {{0, 10, 0}, {0, 20, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct recv_wqe w = {.truncated = rows[i].truncated,
                                   .n_sge = {rows[i].said, rows[i].found, rows[i].ragged},
                                   .sge = sge,
                                   .holds_bytes = rows[i].said == 2 ? 30 : 0};
        const struct delivery_view v = {.max_recv_sge = 2,
                                        .bytes = rows[i].payload,
                                        .got = rows[i].got,
                                        .wqe = &w,
                                        .received = rows[i].received};
        const struct packet p = request(OP_RC_SEND_ONLY, 0, rows[i].payload);
        struct resp_verdict d = {.act = ACT_ACCEPT};

        resp_decide_delivery(&v, &p, &d);
        assert_int_equal(d.act, rows[i].act);
        assert_int_equal(d.rule, rows[i].rule);
        assert_int_equal(d.status, rows[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_psn_decides_first),
        cmocka_unit_test(a_reserved_opcode_behind_a_gap_draws_a_sequence_nak),
        cmocka_unit_test(positions_and_lengths_have_their_rules),
        cmocka_unit_test(a_write_says_how_long_it_is),
        cmocka_unit_test(a_request_needs_the_right_of_its_kind),
        cmocka_unit_test(only_what_was_asked_is_asked_again),
        cmocka_unit_test(the_pad_fills_the_last_word_and_no_other),
        cmocka_unit_test(a_delivery_needs_a_receive_that_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
