/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/wire/ext.h"

static void deth_bytes(void **state)
{
    static const uint8_t bytes[] = {0x80, 0x01, 0x00, 0x00, 0xff, 0x12, 0x34, 0x56};
    static const uint8_t clean[] = {0x80, 0x01, 0x00, 0x00, 0x00, 0x12, 0x34, 0x56};
    uint8_t again[sizeof(bytes)];
    struct rd_cur in = rd_cur(bytes, sizeof(bytes));
    struct wr_cur out = wr_cur(again, sizeof(again));
    struct deth h;

    (void)state;
    deth_parse(&h, &in);
    assert_false(in.bad);
    assert_int_equal(h.qkey, 0x80010000);
    assert_int_equal(h.src_qpn, 0x123456); /* the reserved byte before it is ignored */
    deth_build(&h, &out);
    assert_memory_equal(again, clean, sizeof(clean));
}

/* Reserved bits are ignored, and sent as zero. */
static void feth_bytes(void **state)
{
    static const uint8_t bytes[] = {0x12, 0x34, 0x56, 0xd2}; /* reserved; level 1, placement 2 */
    static const uint8_t clean[] = {0x00, 0x00, 0x00, 0x12};
    uint8_t again[sizeof(bytes)];
    struct rd_cur in = rd_cur(bytes, sizeof(bytes));
    struct wr_cur out = wr_cur(again, sizeof(again));
    struct feth h;

    (void)state;
    feth_parse(&h, &in);
    assert_false(in.bad);
    assert_int_equal(h.placement, FETH_PERSISTENT);
    assert_int_equal(h.level, FETH_REGION);
    feth_build(&h, &out);
    assert_memory_equal(again, clean, sizeof(clean));
}

static void reth_bytes(void **state)
{
    static const uint8_t bytes[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
                                    0xaa, 0xbb, 0xcc, 0xdd, 0x00, 0x01, 0x00, 0x02};
    uint8_t again[sizeof(bytes)];
    struct rd_cur in = rd_cur(bytes, sizeof(bytes));
    struct wr_cur out = wr_cur(again, sizeof(again));
    struct reth h;

    (void)state;
    reth_parse(&h, &in);
    assert_false(in.bad);
    assert_true(h.va == 0x1122334455667788u);
    assert_int_equal(h.rkey, 0xaabbccdd);
    assert_int_equal(h.dma_bytes, 0x10002);
    reth_build(&h, &out);
    assert_memory_equal(again, bytes, sizeof(bytes));
}

static void atomic_eth_bytes(void **state)
{
    static const uint8_t bytes[] = {
        0,    0,    0, 0, 0, 0, 0x10, 0, /* address 0x1000 */
        0xaa, 0xbb, 0, 1,                /* R_Key */
        0,    0,    0, 0, 0, 0, 0,    2, /* swap or add */
        0,    0,    0, 0, 0, 0, 0,    3, /* compare */
    };
    uint8_t again[sizeof(bytes)];
    struct rd_cur in = rd_cur(bytes, sizeof(bytes));
    struct wr_cur out = wr_cur(again, sizeof(again));
    struct atomic_eth h;

    (void)state;
    atomic_eth_parse(&h, &in);
    assert_false(in.bad);
    assert_int_equal(h.va, 0x1000);
    assert_int_equal(h.rkey, 0xaabb0001);
    assert_int_equal(h.swap_add, 2);
    assert_int_equal(h.compare, 3);
    atomic_eth_build(&h, &out);
    assert_memory_equal(again, bytes, sizeof(bytes));
}

static void aeth_bytes(void **state)
{
    static const uint8_t bytes[] = {0x60, 0x12, 0x34, 0x56};
    uint8_t again[sizeof(bytes)];
    struct rd_cur in = rd_cur(bytes, sizeof(bytes));
    struct wr_cur out = wr_cur(again, sizeof(again));
    struct aeth h;

    (void)state;
    aeth_parse(&h, &in);
    assert_false(in.bad);
    assert_int_equal(h.syndrome, 0x60);
    assert_int_equal(h.msn, 0x123456);
    aeth_build(&h, &out);
    assert_memory_equal(again, bytes, sizeof(bytes));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(deth_bytes), cmocka_unit_test(feth_bytes),
        cmocka_unit_test(reth_bytes), cmocka_unit_test(atomic_eth_bytes),
        cmocka_unit_test(aeth_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
