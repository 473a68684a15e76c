/* SPDX-License-Identifier: MIT */
/* Tests of the union of a send WQE, shown in words and field by field. */
#include "cli/printed.h"
#include "cli/show/show_operation.h"
#include "emu/facts/enum/wr_opcode.h"

/* Returns a WQE whose union has the value n + 1 at offset n. */
static struct rfc_sq_wqe numbered(uint32_t opcode)
{
    struct rfc_sq_wqe w = {.opcode = opcode, .ex = {0x11, 0x22, 0x33, 0x44}};

    for (uint32_t i = 0; i < sizeof(w.wr); i++)
        w.wr[i] = (uint8_t)(i + 1);
    return w;
}

static void each_operation_says_what_it_needs(void **state)
{
    static const struct {
        enum qp_type type;
        uint32_t opcode;
        const char *want;
    } rows[] = {
        {QPT_RC, WR_SEND, ""},
        {QPT_RC, WR_SEND_WITH_INV, ", invalidates 0x44332211"},
        {QPT_RC, WR_LOCAL_INV, ", invalidates 0x44332211"},
        {QPT_RC, WR_RDMA_WRITE, ", remote 0x807060504030201 rkey 0xc0b0a09"},
        {QPT_UC, WR_RDMA_WRITE, ", remote 0x807060504030201 rkey 0xc0b0a09"},
        {QPT_RC, WR_RDMA_READ_WITH_INV,
         ", invalidates 0x44332211, remote 0x807060504030201 rkey 0xc0b0a09"},
        {QPT_RC, WR_ATOMIC_CMP_AND_SWP,
         ", compare 1157159078456920585 swap 1735880461161533969, remote 0x807060504030201 rkey "
         "0x1c1b1a19"},
        {QPT_RC, WR_ATOMIC_FETCH_AND_ADD,
         ", add 1157159078456920585, remote 0x807060504030201 rkey 0x1c1b1a19"},
        {QPT_RC, WR_REG_MR, ", MR 67305985 gets key 0x8070605"},
        {QPT_RC, WR_BIND_MW,
         ", window 0x4030201 gets key 0x8070605 and 2314601843866147353 bytes at "
         "0x1817161514131211 of lkey 0xc0b0a09"},
        {QPT_UD, WR_SEND,
         ", to QPN 67305985 qkey 0x8070605 at 1516:1718:191a:1b1c:1d1e:1f20:2122:2324"},
        {QPT_RC, 0x1234, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rfc_sq_wqe w = numbered(rows[i].opcode);
        char buf[256];
        struct text t = text_on(buf, sizeof(buf));

        operation_add_text(&t, rows[i].type, false, &w);
        assert_string_equal(buf, rows[i].want);
    }
}

/* Prints a WQE of @n bytes, and returns how many of them were named. */
static size_t dump(struct printed *p, enum qp_type type, uint32_t opcode, size_t n)
{
    const struct rfc_sq_wqe w = numbered(opcode);
    const struct rfc_sink people = {rfc_print_row, printed_begin(p)->out};
    struct raw_sq_wqe raw;

    rfc_sq_wqe_put(&raw, &w);
    return operation_dump(&people, type, false, (const uint8_t *)&raw, n);
}

static void the_union_is_dumped_as_what_it_is(void **state)
{
    static const struct {
        enum qp_type type;
        uint32_t opcode;
        const char *parts[4]; /* in the output */
    } rows[] = {
        {QPT_RC,
         WR_RDMA_WRITE,
         {"0018  01 02 03 04 05 06 07 08  wr.remote_addr", "0020  09 0a 0b 0c              wr.rkey",
          "0xc0b0a09", "0024  0d 0e 0f 10 11 12 13 14  rest of wr           39 bytes"}},
        {QPT_RC,
         WR_ATOMIC_CMP_AND_SWP,
         {"0020  09 0a 0b 0c 0d 0e 0f 10  wr.compare_add", "0028  11 12 13 14 15 16 17 18  wr.swap",
          "0030  19 1a 1b 1c              wr.rkey", "rest of wr           23 bytes"}},
        {QPT_RC, WR_REG_MR, {"wr.mrn", "wr.key", "wr.access", "rest of wr           39 bytes"}},
        {QPT_RC, WR_BIND_MW, {"wr.mw_rkey", "wr.mr_lkey", "wr.length", "rest of wr           18"}},
        {QPT_UD,
         WR_SEND,
         {"wr.remote_qpn", "1516:1718:191a:1b1c:1d1e:1f20:2122:2324", "28:29:2a:2b:2c:2d",
          "wr.av_reserved"}},
        {QPT_RC, WR_SEND, {"num_sge", "SEND", "ex", "wr                   51 bytes"}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct printed p;

        assert_int_equal(dump(&p, rows[i].type, rows[i].opcode, sizeof(struct raw_sq_wqe)), 75);
        for (size_t k = 0; k < ARRAY_LEN(rows[i].parts); k++)
            assert_prints(&p, rows[i].parts[k]);
        assert_lines_fit(&p);
        printed_end(&p);
    }
}

static void a_wqe_that_ends_early_is_told_as_far_as_it_goes(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof(struct raw_sq_wqe); n++) {
        struct printed p;

        assert_int_equal(dump(&p, QPT_RC, WR_RDMA_WRITE, n), n);
        assert_prints(&p, "ends early");
        printed_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_says_what_it_needs),
        cmocka_unit_test(the_union_is_dumped_as_what_it_is),
        cmocka_unit_test(a_wqe_that_ends_early_is_told_as_far_as_it_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
