/* SPDX-License-Identifier: MIT */
/* Copies through scatter/gather lists: in pieces, and only as far as the keys allow. */
#include "testing.h"

#include <string.h>

#include "emu/trace/event.h"
#include "emu/xport/sg.h"
#include "rig.h"

#define OUT 1000u /* offset in the region */
#define IN  8000u

/* The region from @offset on, in pieces of these lengths. */
static void make_list(struct rig *r, uint32_t offset, const uint32_t *lengths, uint32_t n,
                      struct sge *ret)
{
    for (uint32_t i = 0; i < n; i++) {
        ret[i] = (struct sge){RIG_ADDR + offset, lengths[i], r->host[0].mr->key};
        offset += lengths[i];
    }
}

/* However the two sides are cut, and however many bytes go at a time. */
static void what_is_copied_out_and_in_again_is_the_same(void **state)
{
    static const uint32_t from[] = {7, 0, 4096, 1, 0, 300}, to[] = {0, 300, 4000, 104};
    static const uint32_t steps[] = {1, 13, 256, 4404};
    const struct rig_config c = rig_defaults();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct rig *r = rig_new(&c);
        const struct qp *qp = r->host[0].qp;
        struct sge src[ARRAY_LEN(from)], dst[ARRAY_LEN(to)], bad;
        const struct sg_list l = {src, key_user_of(qp), 0};
        struct sge_cur at_src = {0, 0}, at_dst = {0, 0};
        static uint8_t a[4404], b[4404];

        rig_fill(r, 0, 3);
        make_list(r, OUT, from, ARRAY_LEN(from), src);
        make_list(r, IN + 1, to, ARRAY_LEN(to), dst);
        assert_int_equal(sge_total(src, ARRAY_LEN(from)), sizeof(a));
        assert_int_equal(sge_total(dst, ARRAY_LEN(to)), sizeof(a));
        for (uint32_t done = 0; done < sizeof(a);) {
            const uint32_t left = (uint32_t)sizeof(a) - done;
            const uint32_t n = left < steps[i] ? left : steps[i];

            assert_int_equal(
                sge_copy_out(qp->hca, &l, &at_src, &(struct sg_sink){a + done, n, NULL}, &bad),
                RULE_NONE);
            sge_copy_in(qp, 7, dst, &at_dst, a + done, n);
            done += n;
        }
        rig_read(r, 0, IN + 1, b, sizeof(b));
        assert_memory_equal(a, b, sizeof(a));
        rig_read(r, 0, OUT, b, sizeof(b));
        assert_memory_equal(a, b, sizeof(a));
        rig_free(r);
    }
}

static void each_piece_is_told_and_empty_ones_are_not(void **state)
{
    static const uint32_t lengths[] = {10, 0, 20};
    const struct rig_config c = rig_defaults();
    struct rig *r = rig_new(&c);
    struct sge list[ARRAY_LEN(lengths)];
    struct sge_cur at = {0, 4};

    (void)state;
    make_list(r, IN, lengths, ARRAY_LEN(lengths), list);
    list[1].lkey ^= 1; /* nobody looks at it */
    sge_copy_in(r->host[0].qp, 7, list, &at, (const uint8_t *)"0123456789", 10);
    assert_int_equal(rig_count(r, EV_dma_write, 0, NULL, 0), 2);
    assert_int_equal(rig_event(r, EV_dma_write, 0, 0)->u.dma_write.addr, RIG_ADDR + IN + 4);
    assert_int_equal(rig_event(r, EV_dma_write, 0, 0)->u.dma_write.bytes, 6);
    assert_int_equal(rig_event(r, EV_dma_write, 0, 1)->u.dma_write.addr, RIG_ADDR + IN + 10);
    assert_int_equal(rig_event(r, EV_dma_write, 0, 1)->u.dma_write.bytes, 4);
    assert_int_equal(rig_event(r, EV_dma_write, 0, 1)->u.dma_write.wr_id, 7);
    assert_int_equal(at.i, 2);
    assert_int_equal(at.at, 4);
    rig_free(r);
}

/* The second element may not be read: what is before it can be, what reaches it cannot. */
static void a_copy_ends_where_a_key_refuses(void **state)
{
    static const uint32_t lengths[] = {10, 20};
    const struct rig_config c = rig_defaults();
    struct rig *r = rig_new(&c);
    struct sge list[ARRAY_LEN(lengths)], bad;
    const struct sg_list l = {list, key_user_of(r->host[0].qp), 0};
    struct sge_cur at = {0, 0};
    uint8_t to[30];

    (void)state;
    make_list(r, OUT, lengths, ARRAY_LEN(lengths), list);
    list[1].lkey ^= 1;
    assert_int_equal(sge_copy_out(&r->host[0].hca, &l, &at, &(struct sg_sink){to, 10, NULL}, &bad),
                     RULE_NONE);
    assert_int_equal(at.i, 1);
    at = (struct sge_cur){0, 3};
    memset(&bad, 0, sizeof(bad));
    assert_int_equal(sge_copy_out(&r->host[0].hca, &l, &at, &(struct sg_sink){to, 12, NULL}, &bad),
                     RULE_MR_KEY);
    assert_int_equal(bad.addr, RIG_ADDR + OUT + 10);
    assert_int_equal(bad.bytes, 5);
    assert_int_equal(bad.lkey, list[1].lkey);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_copied_out_and_in_again_is_the_same),
        cmocka_unit_test(each_piece_is_told_and_empty_ones_are_not),
        cmocka_unit_test(a_copy_ends_where_a_key_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
