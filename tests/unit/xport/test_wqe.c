/* SPDX-License-Identifier: MIT */
/* Send work requests: positions and lists.  test_errors.c tests the rules that refuse one. */
#include "testing.h"

#include <string.h>

#include "emu/facts/device.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/xport/sg.h"
#include "emu/xport/wqe.h"

static void messages_are_cut_at_the_mtu(void **state)
{
    static const struct {
        uint32_t bytes, mtu, pkts;
    } rows[] = {
        {0, 256, 1},     {1, 256, 1},      {256, 256, 1},
        {257, 256, 2},   {768, 256, 3},    {769, 256, 4},
        {4096, 4096, 1}, {12289, 4096, 4}, {0x80000000, 256, 0x800000},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(wqe_pkts(rows[i].bytes, rows[i].mtu), rows[i].pkts);
    assert_int_equal(wqe_position(0, 1), OPP_ONLY);
    assert_int_equal(wqe_position(0, 2), OPP_FIRST);
    assert_int_equal(wqe_position(1, 2), OPP_LAST);
    assert_int_equal(wqe_position(1, 3), OPP_MIDDLE);
    assert_int_equal(wqe_position(2, 3), OPP_LAST);
}

static void a_list_is_walked_piece_by_piece(void **state)
{
    static const struct sge list[] = {{100, 10, 1}, {200, 0, 2}, {300, 5, 3}};
    static const struct {
        uint32_t want;
        struct sge piece;
    } rows[] = {
        {4, {100, 4, 1}}, {100, {104, 6, 1}}, {100, {200, 0, 2}},
        {2, {300, 2, 3}}, {3, {302, 3, 3}},
    };
    struct sge_cur at = {0, 0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct sge got = sge_take(list, &at, rows[i].want);

        assert_int_equal(got.addr, rows[i].piece.addr);
        assert_int_equal(got.bytes, rows[i].piece.bytes);
        assert_int_equal(got.lkey, rows[i].piece.lkey);
    }
    assert_int_equal(at.i, 3);
    assert_int_equal(sge_total(list, 3), 15);
    assert_int_equal(sge_total((struct sge[]){{0, UINT32_MAX, 0}, {0, UINT32_MAX, 0}}, 2),
                     2 * (uint64_t)UINT32_MAX);
}

static void what_refuses_a_request_says_the_limit_and_what_it_found(void **state)
{
    static const struct qp_config config = {
        .type = QPT_RC, .max_send_sge = 2, .max_inline_data = 32};
    const struct wqe_view view = {.config = &config};
    struct sge long_list[2] = {{.bytes = MESSAGE_BYTES_MAX}, {.bytes = 1}};
    const struct {
        struct send_wqe w;
        enum rule rule;
        struct compared want;
    } rows[] = {
        {{.opcode = WR_SEND, .n_sge = {3, 3, false}}, RULE_SQ_SGE_COUNT, {0, 2, 3}},
        {{.opcode = WR_SEND, .n_sge = {2, 1, false}}, RULE_SQ_SGE_COUNT, {1, 1, 2}},
        {{.opcode = WR_SEND, .flags = SF_INLINE, .inline_bytes = 33}, RULE_SQ_INLINE, {0, 32, 33}},
        {{.opcode = WR_SEND, .n_sge = {2, 2, false}, .sge = long_list},
         RULE_SQ_LENGTH,
         {0, MESSAGE_BYTES_MAX, (uint64_t)MESSAGE_BYTES_MAX + 1}},
        {{.opcode = WR_RECV}, RULE_SQ_OPCODE, {0}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct wqe_verdict d = wqe_decide(&view, &rows[i].w);

        assert_int_equal(d.rule, rows[i].rule);
        assert_int_equal(d.values.least, rows[i].want.least);
        assert_int_equal(d.values.most, rows[i].want.most);
        assert_int_equal(d.values.found, rows[i].want.found);
    }
}

/* A datagram names its way itself: the port, an entry of the GID table, and an address of its kind.
 */
static void a_way_that_is_none_is_refused(void **state)
{
    static const struct qp_config config = {.type = QPT_UD, .pdn = 1, .max_send_sge = 2};
    struct hca hca = {.gids = {{.raw = {[10] = 0xff, 0xff, 10, 0, 0, 1}, .valid = true},
                               {.raw = {0xfe, 0x80, [15] = 1}, .valid = true}}};
    const struct wqe_view view = {.hca = &hca, .config = &config};
    static const struct {
        uint32_t port, qpn;
        uint8_t gid_index;
        bool to_ipv4, is_good;
    } rows[] = {
        {HCA_PORT, 2, 0, true, true},          {HCA_PORT, 0xffffff, 1, false, true},
        {HCA_PORT + 1, 2, 0, true, false},     {0, 2, 0, true, false},
        {HCA_PORT, 0x1000000, 0, true, false}, {HCA_PORT, 2, 2, true, false}, /* an empty entry */
        {HCA_PORT, 2, HCA_GIDS, true, false},                                 /* none */
        {HCA_PORT, 2, 1, true, false}, /* the other kind of address */
        {HCA_PORT, 2, 0, false, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct send_wqe w = {
            .opcode = WR_SEND,
            .to = {.av = {.port = (uint8_t)rows[i].port, .sgid_index = rows[i].gid_index},
                   .av_pdn = 1,
                   .qpn = rows[i].qpn}};

        memcpy(w.to.av.dgid, hca.gids[rows[i].to_ipv4 ? 0 : 1].raw, GID_BYTES);
        assert_int_equal(wqe_decide(&view, &w).rule, rows[i].is_good ? RULE_NONE : RULE_SQ_AH);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_cut_at_the_mtu),
        cmocka_unit_test(a_list_is_walked_piece_by_piece),
        cmocka_unit_test(what_refuses_a_request_says_the_limit_and_what_it_found),
        cmocka_unit_test(a_way_that_is_none_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
