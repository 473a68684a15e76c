/* SPDX-License-Identifier: MIT */
/* Memory regions: what can be registered, which accesses are allowed, and where the bytes go. */
#include "testing.h"

#include <string.h>

#include "emu/hca/mr.h"
#include "emu/hca/mw.h"
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

/* Shows B101. */
static void requests_that_make_no_sense_are_refused(void **state)
{
    struct stand s;
    struct mr_request req;
    struct mkey *mr;
    const uint64_t odd[] = {9 * 4096, 3 * 4096 + 8, 30 * 4096};
    const uint64_t outside[] = {9 * 4096, 3 * 4096, STAND_RAM_BYTES};
    const uint64_t far[] = {9 * 4096, 3 * 4096, UINT64_MAX & ~4095u};
    uint32_t pdn;

    (void)state;
    stand_up(&s, 2);
    pdn = stand_pd(&s);
#define REFUSED(change, why)                                                                       \
    do {                                                                                           \
        req = request(pdn);                                                                        \
        change;                                                                                    \
        assert_int_equal(hca_mr_create(&s.hca, &req, &mr), why);                                   \
    } while (0)
    REFUSED(req.pdn = 99, REF_PD_HANDLE);
    REFUSED(req.pdn = 0, REF_PD_HANDLE);
    REFUSED(req.length = 0, REF_MR_LENGTH);
    REFUSED(req.length = UINT64_MAX, REF_MR_LENGTH);
    REFUSED(req.length = stand_limits.max_mr_bytes + 1, REF_MR_LENGTH);
    REFUSED(req.n_pages = 2, REF_MR_PAGE_COUNT);
    REFUSED(req.n_pages = 4, REF_MR_PAGE_COUNT);
    REFUSED(req.virt_addr += 1, REF_MR_PAGE_OFFSET);
    REFUSED(req.virt_addr = UINT64_MAX - 31, REF_MR_ADDRESS_WRAPS);
    REFUSED(req.access = 0x100, REF_MR_ACCESS_FLAGS);
    REFUSED(req.access = ACC_REMOTE_WRITE, REF_MR_LOCAL_WRITE);
    REFUSED(req.access = ACC_REMOTE_ATOMIC, REF_MR_LOCAL_WRITE);
    REFUSED(req.access = ACC_REMOTE_WRITE | ACC_RELAXED_ORDERING, REF_MR_LOCAL_WRITE);
    REFUSED(req.access = 1u << 19, REF_MR_ACCESS_FLAGS);
    REFUSED(req.access = 1u << 30, REF_MR_ACCESS_FLAGS);
    REFUSED(req.access = ACC_REMOTE_READ, REF_NONE);
    REFUSED(req.access = ACC_ZERO_BASED, REF_MR_PAGE_OFFSET); /* with another address than 0 */
    REFUSED(req.pages = odd, REF_PAGE_MEMORY);
    REFUSED(req.pages = outside, REF_PAGE_MEMORY);
    REFUSED(req.pages = far, REF_PAGE_MEMORY);
    REFUSED(req.length = 32 + 2 * 4096, REF_NONE);
    REFUSED(req.length = 32 + 2 * 4096 + 1, REF_MR_PAGE_COUNT);
    REFUSED(req.virt_addr = 0xfe0, REF_NONE);
    REFUSED((void)0, REF_NONE);
    REFUSED((void)0, REF_MR_LIMIT); /* max_mr is 4 */
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
        const struct key_user who = {.pdn = pdn};
        struct mkey *mr;

        req.access |= hints[i];
        assert_int_equal(hca_mr_create(&s.hca, &req, &mr), REF_NONE);
        assert_int_equal(mr->access, ACC_LOCAL_WRITE);
        assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR, 1, ACC_LOCAL_WRITE), RULE_NONE);
        assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR, 1, ACC_REMOTE_READ),
                         RULE_MR_ACCESS);
    }
    stand_down(&s);
}

static void each_check_has_its_rule(void **state)
{
    struct stand s;
    struct mr_request req;
    struct mkey *mr;
    struct key_user who, stranger;

    (void)state;
    stand_up(&s, 2);
    who = (struct key_user){.pdn = stand_pd(&s), .qpn = 2};
    stranger = (struct key_user){.pdn = stand_pd(&s), .qpn = 2};
    req = request(who.pdn);
    req.access = ACC_REMOTE_READ;
    assert_int_equal(hca_mr_create(&s.hca, &req, &mr), REF_NONE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR, req.length, 0), RULE_NONE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR + req.length, 0, 0), RULE_NONE);
    assert_int_equal(key_check(&s.hca, mr->key ^ 1, &who, ADDR, 1, 0), RULE_MR_KEY);
    assert_int_equal(key_check(&s.hca, 0, &who, ADDR, 1, 0), RULE_MR_KEY);
    assert_int_equal(key_check(&s.hca, UINT32_MAX, &who, ADDR, 1, 0), RULE_MR_KEY);
    assert_int_equal(key_check(&s.hca, mr->key, &stranger, ADDR, 1, 0), RULE_MR_PD);
    assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR - 1, 1, 0), RULE_MR_RANGE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR, req.length + 1, 0), RULE_MR_RANGE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR + req.length, 1, 0), RULE_MR_RANGE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, UINT64_MAX, 2, 0), RULE_MR_RANGE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR + 1, UINT64_MAX, 0), RULE_MR_RANGE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR, 1, ACC_LOCAL_WRITE), RULE_MR_ACCESS);
    assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR, 1, ACC_REMOTE_READ), RULE_NONE);
    stand_down(&s);
}

static void an_objection_says_what_was_compared(void **state)
{
    struct stand s;
    struct mr_request req;
    struct mkey *mr;
    uint32_t pdn, other;

    (void)state;
    stand_up(&s, 2);
    pdn = stand_pd(&s);
    other = stand_pd(&s);
    req = request(pdn);
    req.access = ACC_REMOTE_READ;
    assert_int_equal(hca_mr_create(&s.hca, &req, &mr), REF_NONE);
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
            const struct key_user who = {.pdn = rows[i].pdn, .qpn = 2};
            const struct objection o = key_objection(&s.hca, rows[i].key, &who, rows[i].addr,
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
    struct mkey *mr;
    uint32_t key, same = 0;

    (void)state;
    stand_up(&s, 2);
    req = request(stand_pd(&s));
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(hca_mr_create(&s.hca, &req, &mr), REF_NONE);
        key = mr->key;
        assert_int_equal(key >> 8, 1);
        assert_int_equal(hca_mr_destroy(&s.hca, key_number(key)), REF_NONE);
        assert_int_equal(refusal_kind(hca_mr_destroy(&s.hca, key_number(key))), RFK_NO_OBJECT);
        assert_int_equal(hca_mr_create(&s.hca, &req, &mr), REF_NONE);
        same += mr->key == key; /* one in 256 */
        assert_int_equal(hca_mr_destroy(&s.hca, key_number(mr->key)), REF_NONE);
    }
    assert_true(same < 10);
    assert_int_equal(hca_pd_destroy(&s.hca, req.pdn), REF_NONE);
    stand_down(&s);
}

static void bytes_go_to_the_pages_of_the_list(void **state)
{
    struct stand s;
    struct mr_request req;
    struct mkey *mr;
    uint8_t in[32 + 4096 + 10], out[sizeof(in)], ram[32];

    (void)state;
    stand_up(&s, 2);
    req = request(stand_pd(&s));
    assert_int_equal(hca_mr_create(&s.hca, &req, &mr), REF_NONE);
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 31 + i / 256);
    key_copy_in(&s.hca, mr->key, ADDR, in, sizeof(in));
    assert_true(ram_read(&s.ram, 9 * 4096 + 0xfe0, ram, 32));
    assert_memory_equal(ram, in, 32);
    assert_true(ram_read(&s.ram, 3 * 4096, ram, 32));
    assert_memory_equal(ram, in + 32, 32);
    assert_true(ram_read(&s.ram, 30 * 4096, ram, 10));
    assert_memory_equal(ram, in + 32 + 4096, 10);
    for (size_t at = 0; at < sizeof(in); at += 137) {
        memset(out, 0, sizeof(out));
        key_copy_out(&s.hca, mr->key, ADDR + at, out, sizeof(in) - at);
        assert_memory_equal(out, in + at, sizeof(in) - at);
    }
    stand_down(&s);
}

/* Shows B109. */
static void a_zero_based_region_counts_from_its_first_byte(void **state)
{
    struct stand s;
    struct mr_request req;
    struct mkey *mr;
    struct key_user who;
    uint8_t ram[4];

    (void)state;
    stand_up(&s, 2);
    req = request(stand_pd(&s));
    who = (struct key_user){.pdn = req.pdn, .qpn = 2};
    req.access |= ACC_ZERO_BASED;
    req.virt_addr = 0;
    assert_int_equal(hca_mr_create(&s.hca, &req, &mr), REF_NONE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, 0, req.length, ACC_LOCAL_WRITE), RULE_NONE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, 1, req.length, 0), RULE_MR_RANGE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, ADDR, 1, 0), RULE_MR_RANGE);
    key_copy_in(&s.hca, mr->key, 30, "abcd", 4); /* two bytes in each of two pages */
    assert_true(ram_read(&s.ram, 9 * 4096 + 4094, ram, 2));
    assert_true(ram_read(&s.ram, 3 * 4096, ram + 2, 2));
    assert_memory_equal(ram, "abcd", 4);
    stand_down(&s);
}

/* What is refused changes nothing; what is done makes the old key useless.  Shows B109. */
static void a_region_changes_as_a_whole_or_not_at_all(void **state)
{
    static const uint64_t elsewhere[] = {11 * 4096}, outside[] = {STAND_RAM_BYTES};
    struct stand s;
    struct mkey *mr, before;
    uint32_t pdn, other, mrn;

    (void)state;
    stand_up(&s, 2);
    pdn = stand_pd(&s);
    other = stand_pd(&s);
    {
        const struct mr_request first = request(pdn);
        const struct {
            unsigned what;
            struct mr_request req;
            enum refusal_reason why;
        } rows[] = {
            {0, {0}, REF_REREG_FLAGS},
            {8, {0}, REF_REREG_FLAGS},
            {REREG_PD, {.pdn = 99}, REF_PD_HANDLE},
            {REREG_ACCESS, {.access = ACC_REMOTE_WRITE}, REF_MR_LOCAL_WRITE},
            {REREG_ACCESS, {.access = ACC_ZERO_BASED}, REF_MR_PAGE_OFFSET}, /* it begins at ADDR */
            {REREG_TRANSLATION, {.length = 8, .pages = outside, .n_pages = 1}, REF_PAGE_MEMORY},
            {REREG_TRANSLATION, {.length = 0, .pages = elsewhere, .n_pages = 1}, REF_MR_LENGTH},
            /* One part is sound, the other is not. */
            {REREG_PD | REREG_ACCESS, {.pdn = other, .access = 0x100}, REF_MR_ACCESS_FLAGS},
            {REREG_ACCESS, {.access = ACC_REMOTE_READ}, REF_NONE},
            {REREG_PD, {.pdn = other}, REF_NONE},
            {REREG_TRANSLATION, {.length = 8, .pages = elsewhere, .n_pages = 1}, REF_NONE},
            {REREG_ALL,
             {pdn, ACC_LOCAL_WRITE | ACC_ZERO_BASED, 16, 100, 0, elsewhere, 1},
             REF_NONE},
        };

        assert_int_equal(hca_mr_create(&s.hca, &first, &mr), REF_NONE);
        mrn = key_number(mr->key);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const struct mkey *ret = NULL;

            before = *mr;
            assert_int_equal(
                hca_mr_change(&s.hca, mrn, rows[i].what, &rows[i].req, (struct mkey **)&ret),
                rows[i].why);
            if (rows[i].why != REF_NONE) {
                assert_memory_equal(mr, &before, sizeof(before));
                continue;
            }
            assert_ptr_equal(ret, mr);
            assert_int_equal(key_number(mr->key), mrn);
            assert_int_not_equal(mr->key, before.key);
            assert_null(key_find(&s.hca, before.key));
            assert_ptr_equal(key_find(&s.hca, mr->key), mr);
        }
    }
    assert_int_equal(mr->pdn, pdn);
    assert_int_equal(mr->bytes, 100);
    assert_int_equal(hca_pd(&s.hca, pdn)->users, 1);
    assert_int_equal(hca_pd(&s.hca, other)->users, 0);
    {
        uint8_t ram[3];

        key_copy_in(&s.hca, mr->key, 2, "xyz", 3);
        assert_true(ram_read(&s.ram, 11 * 4096 + 16 + 2, ram, 3));
        assert_memory_equal(ram, "xyz", 3);
    }
    stand_down(&s);
}

static void a_dma_region_is_all_of_ram_and_no_more(void **state)
{
    struct stand s;
    struct mkey *mr;
    struct key_user who;
    uint8_t ram[4];

    (void)state;
    stand_up(&s, 2);
    who = (struct key_user){.pdn = stand_pd(&s), .qpn = 2};
    assert_int_equal(refusal_kind(hca_dma_mr_create(&s.hca, 99, 0, &mr)), RFK_NO_OBJECT);
    assert_int_equal(refusal_kind(hca_dma_mr_create(&s.hca, who.pdn, ACC_REMOTE_WRITE, &mr)),
                     RFK_INVALID);
    assert_int_equal(hca_dma_mr_create(&s.hca, who.pdn, ACC_LOCAL_WRITE, &mr), REF_NONE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, 0, STAND_RAM_BYTES, ACC_LOCAL_WRITE),
                     RULE_NONE);
    assert_int_equal(key_check(&s.hca, mr->key, &who, STAND_RAM_BYTES - 1, 2, 0), RULE_MR_RANGE);
    key_copy_in(&s.hca, mr->key, 5 * 4096 - 2, "abcd", 4);
    assert_true(ram_read(&s.ram, 5 * 4096 - 2, ram, 4));
    assert_memory_equal(ram, "abcd", 4);
    stand_down(&s);
}

/* Only a region over memory of a program can be registered again. */
static void what_is_no_region_of_a_program_cannot_be_changed(void **state)
{
    struct stand s;
    struct mkey *dma, *fast, *window;
    struct mr_request req;
    uint32_t pdn;

    (void)state;
    stand_up(&s, 2);
    pdn = stand_pd(&s);
    req = request(pdn);
    assert_int_equal(hca_dma_mr_create(&s.hca, pdn, ACC_LOCAL_WRITE, &dma), REF_NONE);
    assert_int_equal(hca_fast_mr_create(&s.hca, pdn, ACC_LOCAL_WRITE, 2, &fast), REF_NONE);
    assert_int_equal(hca_mw_create(&s.hca, pdn, MW_TYPE_1, &window), REF_NONE);
#define CHANGED(k) hca_mr_change(&s.hca, key_number((k)->key), REREG_ACCESS, &req, &(k))
    assert_int_equal(refusal_kind(CHANGED(dma)), RFK_INVALID);
    assert_int_equal(refusal_kind(CHANGED(fast)), RFK_INVALID);
    assert_int_equal(refusal_kind(CHANGED(window)), RFK_NO_OBJECT);
#undef CHANGED
    stand_down(&s);
}

/* Who has a key to all of RAM can change rings: the lab does not vouch for them any more. */
static void ram_is_open_once_a_key_to_it_can_write(void **state)
{
    static const struct {
        unsigned access;
        bool is_open;
    } rows[] = {
        {0, false}, {ACC_REMOTE_READ, false}, {ACC_LOCAL_WRITE, true}, {ACC_REMOTE_READ, true}};
    struct stand s;
    uint32_t pdn;

    (void)state;
    stand_up(&s, 2);
    pdn = stand_pd(&s);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct mkey *mr;

        assert_int_equal(hca_dma_mr_create(&s.hca, pdn, rows[i].access, &mr), REF_NONE);
        assert_int_equal(s.hca.ram_is_open, rows[i].is_open);
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
        cmocka_unit_test(a_zero_based_region_counts_from_its_first_byte),
        cmocka_unit_test(a_region_changes_as_a_whole_or_not_at_all),
        cmocka_unit_test(a_dma_region_is_all_of_ram_and_no_more),
        cmocka_unit_test(what_is_no_region_of_a_program_cannot_be_changed),
        cmocka_unit_test(ram_is_open_once_a_key_to_it_can_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
