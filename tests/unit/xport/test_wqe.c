/* SPDX-License-Identifier: MIT */
/* Send work requests: positions and lists.  test_errors.c has the rules that refuse one. */
#include "testing.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_cut_at_the_mtu),
        cmocka_unit_test(a_list_is_walked_piece_by_piece),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
