/* SPDX-License-Identifier: MIT */
/* Memory regions: what can be registered, who may touch what, and where the bytes end up. */
#include "testing.h"

#include <string.h>

#include "emu/hca/mr.h"
#include "stand.h"

#define ADDR 0x10000000fe0u /* 32 bytes before the end of its page */

static const uint64_t pages[] = {9 * 4096, 3 * 4096, 30 * 4096};

static struct mr_request request(uint32_t pdn)
{
    return (struct mr_request){
        .pdn = pdn,
        .access = ACC_LOCAL_WRITE,
        .start = ADDR,
        .virt_addr = ADDR,
        .length = 32 + 4096 + 10,
        .pages = pages,
        .n_pages = 3,
    };
}

static void requests_that_make_no_sense_are_refused(void **state)
{
    struct stand s;
    struct mr_request req;
    struct mr *mr;
    const uint64_t odd[] = {9 * 4096, 3 * 4096 + 8, 30 * 4096};
    const uint64_t outside[] = {9 * 4096, 3 * 4096, STAND_RAM_BYTES};
    const uint64_t far[] = {9 * 4096, 3 * 4096, UINT64_MAX & ~4095u};
    uint32_t pdn;

    (void)state;
    stand_up(&s, 2);
    pdn = stand_pd(&s);
#define REFUSED(change, rsp)                                                                       \
    do {                                                                                           \
        req = request(pdn);                                                                        \
        change;                                                                                    \
        assert_int_equal(hca_mr_create(&s.hca, &req, &mr), rsp);                                   \
    } while (0)
    REFUSED(req.pdn = 99, RSP_BAD_HANDLE);
    REFUSED(req.pdn = 0, RSP_BAD_HANDLE);
    REFUSED(req.length = 0, RSP_INVALID_ARG);
    REFUSED(req.length = UINT64_MAX, RSP_INVALID_ARG);
    REFUSED(req.length = stand_limits.max_mr_bytes + 1, RSP_INVALID_ARG);
    REFUSED(req.n_pages = 2, RSP_INVALID_ARG);
    REFUSED(req.n_pages = 4, RSP_INVALID_ARG);
    REFUSED(req.virt_addr += 1, RSP_INVALID_ARG);
    REFUSED(req.virt_addr = UINT64_MAX - 31, RSP_INVALID_ARG);
    REFUSED(req.access = 0x100, RSP_INVALID_ARG);
    REFUSED(req.access = ACC_REMOTE_WRITE, RSP_INVALID_ARG);
    REFUSED(req.access = ACC_REMOTE_ATOMIC, RSP_INVALID_ARG);
    REFUSED(req.access = ACC_REMOTE_WRITE | ACC_RELAXED_ORDERING, RSP_INVALID_ARG);
    REFUSED(req.access = 1u << 19, RSP_INVALID_ARG);
    REFUSED(req.access = 1u << 30, RSP_INVALID_ARG);
    REFUSED(req.access = ACC_REMOTE_READ, RSP_OK);
    REFUSED(req.pages = odd, RSP_INVALID_ARG);
    REFUSED(req.pages = outside, RSP_INVALID_ARG);
    REFUSED(req.pages = far, RSP_INVALID_ARG);
    REFUSED(req.length = 32 + 2 * 4096, RSP_OK);
    REFUSED(req.length = 32 + 2 * 4096 + 1, RSP_INVALID_ARG);
    REFUSED(req.virt_addr = 0xfe0, RSP_OK);
    REFUSED((void)0, RSP_OK);
    REFUSED((void)0, RSP_NO_RESOURCES); /* max_mr is 4 */
#undef REFUSED
    assert_int_equal(hca_pd(&s.hca, pdn)->users, 4);
    stand_down(&s);
}

/* As if it were not there: neither refused nor a permission. */
static void a_hint_allows_nothing(void **state)
{
    static const uint32_t hints[] = {ACC_RELAXED_ORDERING, ACC_HUGETLB, 1u << 29,
                                     ACC_RELAXED_ORDERING | ACC_HUGETLB | 1u << 25};
    struct stand s;
    uint32_t pdn;

    (void)state;
    stand_up(&s, 2);
    pdn = stand_pd(&s);
    for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
        struct mr_request req = request(pdn);
        struct mr *mr;

        req.access |= hints[i];
        assert_int_equal(hca_mr_create(&s.hca, &req, &mr), RSP_OK);
        assert_int_equal(mr->access, ACC_LOCAL_WRITE);
        assert_int_equal(mr_check(&s.hca, mr->key, pdn, ADDR, 1, ACC_LOCAL_WRITE), RULE_NONE);
        assert_int_equal(mr_check(&s.hca, mr->key, pdn, ADDR, 1, ACC_REMOTE_READ), RULE_MR_ACCESS);
    }
    stand_down(&s);
}

static void each_check_has_its_rule(void **state)
{
    struct stand s;
    struct mr_request req;
    struct mr *mr;
    uint32_t pdn, other;

    (void)state;
    stand_up(&s, 2);
    pdn = stand_pd(&s);
    other = stand_pd(&s);
    req = request(pdn);
    req.access = ACC_REMOTE_READ;
    assert_int_equal(hca_mr_create(&s.hca, &req, &mr), RSP_OK);
    assert_int_equal(mr_check(&s.hca, mr->key, pdn, ADDR, req.length, 0), RULE_NONE);
    assert_int_equal(mr_check(&s.hca, mr->key, pdn, ADDR + req.length, 0, 0), RULE_NONE);
    assert_int_equal(mr_check(&s.hca, mr->key ^ 1, pdn, ADDR, 1, 0), RULE_MR_KEY);
    assert_int_equal(mr_check(&s.hca, 0, pdn, ADDR, 1, 0), RULE_MR_KEY);
    assert_int_equal(mr_check(&s.hca, UINT32_MAX, pdn, ADDR, 1, 0), RULE_MR_KEY);
    assert_int_equal(mr_check(&s.hca, mr->key, other, ADDR, 1, 0), RULE_MR_PD);
    assert_int_equal(mr_check(&s.hca, mr->key, pdn, ADDR - 1, 1, 0), RULE_MR_RANGE);
    assert_int_equal(mr_check(&s.hca, mr->key, pdn, ADDR, req.length + 1, 0), RULE_MR_RANGE);
    assert_int_equal(mr_check(&s.hca, mr->key, pdn, ADDR + req.length, 1, 0), RULE_MR_RANGE);
    assert_int_equal(mr_check(&s.hca, mr->key, pdn, UINT64_MAX, 2, 0), RULE_MR_RANGE);
    assert_int_equal(mr_check(&s.hca, mr->key, pdn, ADDR + 1, UINT64_MAX, 0), RULE_MR_RANGE);
    assert_int_equal(mr_check(&s.hca, mr->key, pdn, ADDR, 1, ACC_LOCAL_WRITE), RULE_MR_ACCESS);
    assert_int_equal(mr_check(&s.hca, mr->key, pdn, ADDR, 1, ACC_REMOTE_READ), RULE_NONE);
    stand_down(&s);
}

static void an_objection_says_what_was_compared(void **state)
{
    struct stand s;
    struct mr_request req;
    struct mr *mr;
    uint32_t pdn, other;

    (void)state;
    stand_up(&s, 2);
    pdn = stand_pd(&s);
    other = stand_pd(&s);
    req = request(pdn);
    req.access = ACC_REMOTE_READ;
    assert_int_equal(hca_mr_create(&s.hca, &req, &mr), RSP_OK);
    {
        const uint64_t last = ADDR + req.length - 1;
        const struct {
            uint32_t key, pdn;
            uint64_t addr, bytes;
            unsigned access;
            struct objection want;
        } rows[] = {
            {mr->key, pdn, ADDR, 1, 0, {RULE_NONE, {0}}},
            {mr->key ^ 1, pdn, ADDR, 1, 0, {RULE_MR_KEY, {mr->key, mr->key, mr->key ^ 1}}},
            {UINT32_MAX, pdn, ADDR, 1, 0, {RULE_MR_KEY, {0}}}, /* nothing was ever there */
            {mr->key, other, ADDR, 1, 0, {RULE_MR_PD, {pdn, pdn, other}}},
            {mr->key, pdn, ADDR - 1, 1, 0, {RULE_MR_RANGE, {ADDR, last, ADDR - 1}}},
            {mr->key, pdn, ADDR + 1, req.length, 0, {RULE_MR_RANGE, {ADDR, last, last + 1}}},
            {mr->key, pdn, last + 1, 1, 0, {RULE_MR_RANGE, {ADDR, last, last + 1}}},
            {mr->key, pdn, ADDR, UINT64_MAX, 0, {RULE_MR_RANGE, {ADDR, last, UINT64_MAX}}},
            {mr->key,
             pdn,
             ADDR,
             1,
             ACC_LOCAL_WRITE,
             {RULE_MR_ACCESS, {ACC_LOCAL_WRITE, ACC_LOCAL_WRITE, ACC_REMOTE_READ}}},
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const struct objection o = mr_objection(&s.hca, rows[i].key, rows[i].pdn, rows[i].addr,
                                                    rows[i].bytes, rows[i].access);

            assert_int_equal(o.rule, rows[i].want.rule);
            assert_int_equal(o.values.least, rows[i].want.values.least);
            assert_int_equal(o.values.most, rows[i].want.values.most);
            assert_int_equal(o.values.found, rows[i].want.values.found);
        }
    }
    stand_down(&s);
}

/* The key of a region that is gone stays dead when its place is used again. */
static void an_old_key_does_not_open_the_new_region(void **state)
{
    struct stand s;
    struct mr_request req;
    struct mr *mr;
    uint32_t key, same = 0;

    (void)state;
    stand_up(&s, 2);
    req = request(stand_pd(&s));
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(hca_mr_create(&s.hca, &req, &mr), RSP_OK);
        key = mr->key;
        assert_int_equal(key >> 8, 1);
        assert_int_equal(hca_mr_destroy(&s.hca, key), RSP_OK);
        assert_int_equal(hca_mr_destroy(&s.hca, key), RSP_BAD_HANDLE);
        assert_int_equal(hca_mr_create(&s.hca, &req, &mr), RSP_OK);
        same += mr->key == key; /* one in 256 */
        assert_int_equal(hca_mr_destroy(&s.hca, mr->key), RSP_OK);
    }
    assert_true(same < 10);
    assert_int_equal(hca_pd_destroy(&s.hca, req.pdn), RSP_OK);
    stand_down(&s);
}

static void bytes_go_to_the_pages_of_the_list(void **state)
{
    struct stand s;
    struct mr_request req;
    struct mr *mr;
    uint8_t in[32 + 4096 + 10], out[sizeof(in)], ram[32];

    (void)state;
    stand_up(&s, 2);
    req = request(stand_pd(&s));
    assert_int_equal(hca_mr_create(&s.hca, &req, &mr), RSP_OK);
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 31 + i / 256);
    mr_copy_in(&s.hca, mr, ADDR, in, sizeof(in));
    assert_true(ram_read(&s.ram, 9 * 4096 + 0xfe0, ram, 32));
    assert_memory_equal(ram, in, 32);
    assert_true(ram_read(&s.ram, 3 * 4096, ram, 32));
    assert_memory_equal(ram, in + 32, 32);
    assert_true(ram_read(&s.ram, 30 * 4096, ram, 10));
    assert_memory_equal(ram, in + 32 + 4096, 10);
    for (size_t at = 0; at < sizeof(in); at += 137) {
        memset(out, 0, sizeof(out));
        mr_copy_out(&s.hca, mr, ADDR + at, out, sizeof(in) - at);
        assert_memory_equal(out, in + at, sizeof(in) - at);
    }
    stand_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_make_no_sense_are_refused),
        cmocka_unit_test(a_hint_allows_nothing),
        cmocka_unit_test(each_check_has_its_rule),
        cmocka_unit_test(an_objection_says_what_was_compared),
        cmocka_unit_test(an_old_key_does_not_open_the_new_region),
        cmocka_unit_test(bytes_go_to_the_pages_of_the_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
