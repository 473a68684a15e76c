/* SPDX-License-Identifier: MIT */
/* Windows and fast regions: every rule of binding, registering and invalidating, what a refusal
 * leaves unchanged, and which accesses reach the memory.
 */
#include "testing.h"

#include <string.h>

#include "emu/hca/mr.h"
#include "emu/hca/mw.h"
#include "stand.h"

#define ADDR  0x20000100u /* 256 bytes into its page */
#define BYTES 6000u
#define ALL   (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC | ACC_MW_BIND)
#define QPN   4u

static const uint64_t pages[] = {9 * 4096, 3 * 4096};

/* A region of each sort, a window of each type, and who uses them. */
struct scene {
    struct stand s;
    uint32_t pdn, other_pdn;
    struct key_user me, other_qp, stranger;
    struct mkey *mr;       /* ALL */
    struct mkey *readable; /* remote read and bind, no local write */
    struct mkey *fast;
    struct mkey *w1, *w2;
};

static struct mkey *region(struct scene *t, unsigned access)
{
    const struct mr_request req = {
        .pdn = t->pdn,
        .access = access,
        .start = ADDR,
        .length = BYTES,
        .virt_addr = access & ACC_ZERO_BASED ? 0 : ADDR,
        .pages = pages,
        .n_pages = 2,
    };
    struct mkey *mr;

    assert_int_equal(hca_mr_create(&t->s.hca, &req, &mr), REF_NONE);
    return mr;
}

static void scene_up(struct scene *t)
{
    stand_up(&t->s, 2);
    t->pdn = stand_pd(&t->s);
    t->other_pdn = stand_pd(&t->s);
    t->me = (struct key_user){t->pdn, QPN};
    t->other_qp = (struct key_user){t->pdn, QPN + 1};
    t->stranger = (struct key_user){t->other_pdn, QPN};
    t->mr = region(t, ALL);
    t->readable = region(t, ACC_REMOTE_READ | ACC_MW_BIND);
    assert_int_equal(hca_fast_mr_create(&t->s.hca, t->pdn, ALL, 3, &t->fast), REF_NONE);
    assert_int_equal(hca_mw_create(&t->s.hca, t->pdn, MW_TYPE_1, &t->w1), REF_NONE);
    assert_int_equal(hca_mw_create(&t->s.hca, t->pdn, MW_TYPE_2, &t->w2), REF_NONE);
}

static struct bind_request bind_2(const struct scene *t)
{
    return (struct bind_request){
        .type = MW_TYPE_2,
        .mw_key = t->w2->key,
        .new_key = 0x77,
        .mr_key = t->mr->key,
        .access = ACC_REMOTE_READ | ACC_REMOTE_WRITE,
        .addr = ADDR + 100,
        .bytes = 5000,
    };
}

static struct bind_request bind_1(const struct scene *t)
{
    struct bind_request req = bind_2(t);

    req.type = MW_TYPE_1;
    req.mw_key = t->w1->key;
    return req;
}

static uint32_t bound(struct scene *t, const struct bind_request *req)
{
    assert_int_equal(key_check_bind(&t->s.hca, &t->me, req).rule, RULE_NONE);
    return key_bind(&t->s.hca, &t->me, req);
}

static void mapped(struct scene *t)
{
    const struct mr_map map = {.start = ADDR, .length = BYTES, .pages = pages, .n_pages = 2};

    assert_int_equal(hca_mr_map(&t->s.hca, key_number(t->fast->key), &map), REF_NONE);
}

static struct reg_request reg(const struct scene *t)
{
    return (struct reg_request){
        .mrn = key_number(t->fast->key),
        .key = (t->fast->key & ~0xffu) | 0x55,
        .access = ACC_LOCAL_WRITE | ACC_REMOTE_READ,
    };
}

#define HAS_RULE(o, want_rule, want_least, want_found)                                             \
    do {                                                                                           \
        const struct objection has = (o);                                                          \
                                                                                                   \
        assert_int_equal(has.rule, RULE_##want_rule);                                              \
        assert_int_equal(has.values.least, want_least);                                            \
        assert_int_equal(has.values.found, want_found);                                            \
    } while (0)

/* BIND(type, change, rule, least, found): with @change the request is refused by the rule. */
#define BIND(type, change, rule, least, found)                                                     \
    do {                                                                                           \
        struct bind_request req = bind_##type(&t);                                                 \
                                                                                                   \
        change;                                                                                    \
        HAS_RULE(key_check_bind(&t.s.hca, &who, &req), rule, least, found);                        \
    } while (0)

/* Shows B102. */
static void each_bind_that_is_wrong_has_its_rule(void **state)
{
    struct scene t;
    struct key_user who;
    struct mkey *foreign, *zero;
    struct bind_request window;

    (void)state;
    scene_up(&t);
    who = t.me;
    zero = region(&t, ALL | ACC_ZERO_BASED);
    assert_int_equal(hca_mr_destroy(&t.s.hca, key_number(t.fast->key)), REF_NONE);
    assert_int_equal(hca_dma_mr_create(&t.s.hca, t.other_pdn, ALL, &foreign), REF_NONE);
    BIND(1, (void)0, NONE, 0, 0);
    BIND(2, (void)0, NONE, 0, 0);
    BIND(2, req.mw_key ^= 1, BIND_MW, 0, 0);
    BIND(2, req.mw_key = 0, BIND_MW, 0, 0);
    BIND(2, req.mw_key = t.mr->key, BIND_MW, 0, 0);
    BIND(1, req.type = MW_TYPE_2, BIND_TYPE, 1, 2);
    BIND(2, req.type = MW_TYPE_1, BIND_TYPE, 2, 1);
    BIND(2, who = t.stranger, BIND_PD, t.pdn, t.other_pdn);
    who = t.me;
    BIND(2, req.mr_key = foreign->key, BIND_PD, t.pdn, t.other_pdn);
    BIND(2, req.mr_key ^= 1, BIND_REGION, 0, 0);
    BIND(2, req.mr_key = t.w1->key, BIND_REGION, 0, 0);
    BIND(2, req.bytes = 0, BIND_ZERO_LENGTH, 0, 0);
    BIND(1, (req.bytes = 0, req.mr_key = 0), NONE, 0, 0);
    BIND(1, req.access |= ACC_ZERO_BASED, BIND_ZERO_BASED, 0, 0);
    BIND(1, (req.mr_key = zero->key, req.addr = 0), BIND_ZERO_BASED, 0, 0);
    BIND(2, req.access |= ACC_ZERO_BASED, NONE, 0, 0);
    BIND(2, (req.mr_key = zero->key, req.addr = 0), NONE, 0, 0);
    BIND(2, req.access |= ACC_LOCAL_WRITE, BIND_ACCESS,
         ACC_REMOTE_READ | ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC | ACC_ZERO_BASED,
         ACC_LOCAL_WRITE | ACC_REMOTE_READ | ACC_REMOTE_WRITE);
    BIND(2, req.mr_key = t.readable->key, BIND_ACCESS, ACC_LOCAL_WRITE,
         ACC_REMOTE_READ | ACC_MW_BIND);
    BIND(2, (req.mr_key = t.readable->key, req.access = ACC_REMOTE_ATOMIC), BIND_ACCESS,
         ACC_LOCAL_WRITE, ACC_REMOTE_READ | ACC_MW_BIND);
    BIND(2, (req.mr_key = t.readable->key, req.access = ACC_REMOTE_READ), NONE, 0, 0);
    BIND(2, req.addr = ADDR - 1, BIND_RANGE, ADDR, ADDR - 1);
    BIND(2, req.bytes = BYTES - 100, NONE, 0, 0);
    BIND(2, req.bytes = BYTES - 99, BIND_RANGE, ADDR, ADDR + BYTES);
    BIND(2, (req.addr = ADDR + BYTES, req.bytes = 1), BIND_RANGE, ADDR, ADDR + BYTES);
    BIND(2, req.bytes = UINT64_MAX, BIND_RANGE, ADDR, UINT64_MAX);
    window = bind_1(&t);
    window.mr_key = bound(&t, &window);
    BIND(2, req.mr_key = window.mr_key, BIND_REGION, 0, 0); /* it is bound, and no region */
    t.mr->access &= ~(unsigned)ACC_MW_BIND;
    BIND(2, (void)0, BIND_MR_ACCESS, ACC_MW_BIND, t.mr->access);
    stand_down(&t.s);
}

/* Shows B16, B103, I7. */
static void a_window_opens_its_part_of_the_region_to_peers_only(void **state)
{
    struct scene t;
    struct bind_request req;
    uint8_t got[4];
    uint32_t key;

    (void)state;
    scene_up(&t);
    req = bind_2(&t);
    HAS_RULE(key_objection(&t.s.hca, t.w2->key, &t.me, ADDR + 100, 1, ACC_REMOTE_READ), KEY_FREE, 0,
             0);
    key = bound(&t, &req);
    assert_int_equal(key, (t.w2->key & ~0xffu) | 0x77);
    assert_int_equal(key, t.w2->key);
#define USE(who, addr, bytes, access) key_objection(&t.s.hca, key, &(who), addr, bytes, access)
    HAS_RULE(USE(t.me, ADDR + 100, 5000, ACC_REMOTE_READ), NONE, 0, 0);
    HAS_RULE(USE(t.me, ADDR + 100, 5001, ACC_REMOTE_READ), MR_RANGE, ADDR + 100, ADDR + 5100);
    HAS_RULE(USE(t.me, ADDR + 99, 1, ACC_REMOTE_READ), MR_RANGE, ADDR + 100, ADDR + 99);
    HAS_RULE(USE(t.me, ADDR + 100, 8, ACC_REMOTE_ATOMIC), MR_ACCESS, ACC_REMOTE_ATOMIC, req.access);
    HAS_RULE(USE(t.other_qp, ADDR + 100, 1, ACC_REMOTE_READ), KEY_QP, QPN, QPN + 1);
    HAS_RULE(USE(t.stranger, ADDR + 100, 1, ACC_REMOTE_READ), MR_PD, t.pdn, t.other_pdn);
    HAS_RULE(USE(t.me, ADDR + 100, 1, 0), KEY_WINDOW, 0, 0);
    HAS_RULE(USE(t.me, ADDR + 100, 1, ACC_LOCAL_WRITE), KEY_WINDOW, 0, 0);
#undef USE
    key_copy_in(&t.s.hca, key, ADDR + 3838, "wxyz", 4); /* 3840 is the region's second page */
    key_copy_out(&t.s.hca, t.mr->key, ADDR + 3838, got, 4);
    assert_memory_equal(got, "wxyz", 4);
    assert_true(ram_read(&t.s.ram, 3 * 4096, got, 2));
    assert_memory_equal(got, "yz", 2);
    stand_down(&t.s);
}

/* Shows B109. */
static void a_zero_based_window_counts_from_its_first_byte(void **state)
{
    struct scene t;
    struct bind_request req;
    uint8_t got[2];
    uint32_t key;

    (void)state;
    scene_up(&t);
    req = bind_2(&t);
    req.access |= ACC_ZERO_BASED;
    key = bound(&t, &req);
    HAS_RULE(key_objection(&t.s.hca, key, &t.me, 0, 5000, ACC_REMOTE_READ), NONE, 0, 0);
    HAS_RULE(key_objection(&t.s.hca, key, &t.me, 1, 5000, ACC_REMOTE_READ), MR_RANGE, 0, 5000);
    key_copy_in(&t.s.hca, key, 7, "hi", 2);
    key_copy_out(&t.s.hca, t.mr->key, ADDR + 107, got, 2);
    assert_memory_equal(got, "hi", 2);
    stand_down(&t.s);
}

/* Shows B103. */
static void each_bind_of_type_1_makes_another_key_and_the_old_one_useless(void **state)
{
    struct scene t;
    struct bind_request req;
    uint32_t keys[4];

    (void)state;
    scene_up(&t);
    t.w1->key = (t.w1->key & ~0xffu) | 0xfe; /* so that the low byte goes round */
    keys[0] = t.w1->key;
    for (size_t i = 1; i < ARRAY_LEN(keys); i++) {
        req = bind_1(&t);
        req.addr += i;
        keys[i] = bound(&t, &req);
        assert_int_equal(keys[i], (keys[0] & ~0xffu) | ((keys[0] + i) & 0xff));
        HAS_RULE(key_objection(&t.s.hca, keys[i - 1], &t.me, ADDR + 200, 1, ACC_REMOTE_READ),
                 MR_KEY, keys[i], keys[i - 1]);
        /* Any queue pair of the domain may come with a window of type 1. */
        HAS_RULE(key_objection(&t.s.hca, keys[i], &t.other_qp, ADDR + 200, 1, ACC_REMOTE_READ),
                 NONE, 0, 0);
        assert_int_equal(t.mr->n_windows, 1);
    }
    req = bind_1(&t);
    req.bytes = 0;
    keys[0] = bound(&t, &req);
    HAS_RULE(key_objection(&t.s.hca, keys[0], &t.me, ADDR + 200, 1, ACC_REMOTE_READ), KEY_FREE, 0,
             0);
    assert_int_equal(t.mr->n_windows, 0);
    stand_down(&t.s);
}

/* A region stays as it is while windows are bound to it, and is free when the last has gone.
 * Shows B104, I16.
 */
static void a_region_is_busy_while_windows_are_bound(void **state)
{
    struct scene t;
    struct bind_request req;
    const struct mr_request change = {.access = ACC_REMOTE_READ};
    struct mkey *mr;
    uint32_t mrn;

    (void)state;
    scene_up(&t);
    mrn = key_number(t.mr->key);
    req = bind_1(&t);
    bound(&t, &req);
    req = bind_2(&t);
    bound(&t, &req);
    HAS_RULE(key_check_bind(&t.s.hca, &t.me, &req), BIND_MW, 0, 0); /* its key is another now */
    req = bind_2(&t);
    HAS_RULE(key_check_bind(&t.s.hca, &t.me, &req), BIND_STATE, 0, 0);
    assert_int_equal(t.mr->n_windows, 2);
    assert_int_equal(refusal_kind(hca_mr_destroy(&t.s.hca, mrn)), RFK_BUSY);
    assert_int_equal(refusal_kind(hca_mr_change(&t.s.hca, mrn, REREG_ACCESS, &change, &mr)),
                     RFK_BUSY);
    assert_int_equal(refusal_kind(hca_mw_destroy(&t.s.hca, mrn)), RFK_NO_OBJECT);
    assert_int_equal(refusal_kind(hca_mr_destroy(&t.s.hca, key_number(t.w1->key))), RFK_NO_OBJECT);
    assert_int_equal(hca_mw_destroy(&t.s.hca, key_number(t.w1->key)), REF_NONE);
    assert_int_equal(refusal_kind(hca_mr_destroy(&t.s.hca, mrn)), RFK_BUSY);
    hca_mw_forget_qp(&t.s.hca, QPN + 1);
    assert_int_equal(refusal_kind(hca_mr_destroy(&t.s.hca, mrn)), RFK_BUSY);
    hca_mw_forget_qp(&t.s.hca, QPN);
    assert_int_equal(t.w2->state, KEY_FREE);
    assert_int_equal(hca_mr_destroy(&t.s.hca, mrn), REF_NONE);
    stand_down(&t.s);
}
#undef BIND

/* Shows B108. */
static void a_fast_region_is_registered_by_its_rules(void **state)
{
    struct scene t;
    struct reg_request req;
    struct key_user who;

    (void)state;
    scene_up(&t);
    who = t.me;
#define REG(change, rule, least, found)                                                            \
    do {                                                                                           \
        req = reg(&t);                                                                             \
        change;                                                                                    \
        HAS_RULE(key_check_reg(&t.s.hca, &who, &req), rule, least, found);                         \
    } while (0)
    REG((void)0, REG_PAGES, 0, 0);
    mapped(&t);
    REG((void)0, NONE, 0, 0);
    REG(req.mrn = 99, REG_REGION, 0, 0);
    REG(req.mrn = 0, REG_REGION, 0, 0);
    REG(req.mrn = key_number(t.mr->key), REG_REGION, 0, 0);
    REG((req.mrn = key_number(t.mr->key), req.key = t.mr->key), REG_REGION, 0, 0);
    REG(req.key += 0x100, REG_REGION, 0, 0);
    REG(who = t.stranger, MR_PD, t.pdn, t.other_pdn);
    who = t.me;
    REG(req.access = ACC_REMOTE_WRITE, REG_ACCESS, ALL, ACC_REMOTE_WRITE);
    t.fast->allocated_access = ACC_LOCAL_WRITE;
    REG((void)0, REG_ACCESS, ACC_LOCAL_WRITE, ACC_LOCAL_WRITE | ACC_REMOTE_READ);
    t.fast->allocated_access = ALL;
    REG((void)0, NONE, 0, 0);
    REG(req.access |= ACC_RELAXED_ORDERING, NONE, 0, 0); /* a hint allows nothing */
    key_reg(&t.s.hca, &req);
    REG((void)0, REG_STATE, 0, 0);
#undef REG
    stand_down(&t.s);
}

/* Mapping other pages does nothing to what is registered. */
static void a_mapping_waits_for_its_registration(void **state)
{
    static const uint64_t other[] = {20 * 4096};
    const struct mr_map next = {.start = 0x5010, .length = 16, .pages = other, .n_pages = 1};
    struct scene t;
    struct reg_request req;
    uint32_t mrn, first;
    uint8_t got[3];

    (void)state;
    scene_up(&t);
    mrn = key_number(t.fast->key);
    mapped(&t);
    req = reg(&t);
    key_reg(&t.s.hca, &req);
    first = t.fast->key;
    assert_int_equal(first, req.key);
    assert_int_equal(hca_mr_map(&t.s.hca, mrn, &next), REF_NONE);
    HAS_RULE(key_objection(&t.s.hca, first, &t.me, ADDR, BYTES, ACC_LOCAL_WRITE), NONE, 0, 0);
    key_copy_in(&t.s.hca, first, ADDR, "old", 3);
    assert_true(ram_read(&t.s.ram, 9 * 4096 + 0x100, got, 3));
    assert_memory_equal(got, "old", 3);

    HAS_RULE(key_check_inv(&t.s.hca, first, &t.me), NONE, 0, 0);
    key_inv(&t.s.hca, first);
    HAS_RULE(key_objection(&t.s.hca, first, &t.me, ADDR, 1, 0), KEY_FREE, 0, 0);
    req = reg(&t);
    req.key++;
    req.access |= ACC_ZERO_BASED;
    assert_int_equal(key_check_reg(&t.s.hca, &t.me, &req).rule, RULE_NONE);
    key_reg(&t.s.hca, &req);
    HAS_RULE(key_objection(&t.s.hca, first, &t.me, 0, 1, 0), MR_KEY, req.key, first);
    HAS_RULE(key_objection(&t.s.hca, req.key, &t.me, 0, 17, 0), MR_RANGE, 0, 16);
    key_copy_in(&t.s.hca, req.key, 0, "new", 3);
    assert_true(ram_read(&t.s.ram, 20 * 4096 + 0x10, got, 3));
    assert_memory_equal(got, "new", 3);
    stand_down(&t.s);
}

/* A region notes where its pages were found: until RAM forgets one, and no longer than they are its
 * own.
 */
static void pages_are_looked_for_again_when_one_is_gone(void **state)
{
    static const uint64_t other[] = {20 * 4096, 21 * 4096};
    const struct mr_map next = {.start = ADDR, .length = BYTES, .pages = other, .n_pages = 2};
    struct scene t;
    struct reg_request req;
    uint8_t got[4];

    (void)state;
    scene_up(&t);
    mapped(&t);
    req = reg(&t);
    key_reg(&t.s.hca, &req);
    for (unsigned i = 0; i < 2; i++) /* written, then found */
        key_copy_in(&t.s.hca, req.key, ADDR + 3838, "wxyz", 4);
    ram_forget(&t.s.ram, 3);
    key_copy_out(&t.s.hca, req.key, ADDR + 3838, got, 4);
    assert_memory_equal(got, "wx\0", 4);
    key_copy_in(&t.s.hca, req.key, ADDR + 3838, "abcd", 4);
    assert_true(ram_read(&t.s.ram, 3 * 4096, got, 2));
    assert_memory_equal(got, "cd", 2);

    key_copy_out(&t.s.hca, req.key, ADDR + 3838, got, 4);
    key_inv(&t.s.hca, req.key);
    assert_int_equal(hca_mr_map(&t.s.hca, key_number(t.fast->key), &next), REF_NONE);
    req = reg(&t);
    req.key++;
    key_reg(&t.s.hca, &req);
    key_copy_out(&t.s.hca, req.key, ADDR + 3838, got, 4);
    assert_memory_equal(got, "\0\0\0", 4);
    stand_down(&t.s);
}

static void pages_that_do_not_fit_are_not_mapped(void **state)
{
    static const uint64_t odd[] = {9 * 4096, 3 * 4096 + 8}, outside[] = {9 * 4096, STAND_RAM_BYTES},
                          four[] = {4096, 8192, 12288, 16384};
    static const struct {
        struct mr_map map;
        enum refusal_reason why;
    } rows[] = {
        {{ADDR, BYTES, pages, 2}, REF_NONE},
        {{ADDR, BYTES, pages, 1}, REF_MR_PAGE_COUNT},
        {{ADDR, BYTES, pages, 0}, REF_MR_ROOM},
        {{ADDR, 0, pages, 1}, REF_MR_LENGTH},
        {{ADDR, UINT64_MAX, pages, 2}, REF_MR_LENGTH},
        {{UINT64_MAX - 10, 20, pages, 1}, REF_MR_ADDRESS_WRAPS},
        {{ADDR, BYTES, odd, 2}, REF_PAGE_MEMORY},
        {{ADDR, BYTES, outside, 2}, REF_PAGE_MEMORY},
        {{0, 3 * 4096, four, 3}, REF_NONE},
        {{0, 4 * 4096, four, 4}, REF_MR_ROOM}, /* it was created for 3 */
    };
    struct scene t;
    struct mkey *mr;

    (void)state;
    scene_up(&t);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(hca_mr_map(&t.s.hca, key_number(t.fast->key), &rows[i].map), rows[i].why);
    assert_int_equal(refusal_kind(hca_mr_map(&t.s.hca, key_number(t.mr->key), &rows[0].map)),
                     RFK_INVALID);
    assert_int_equal(refusal_kind(hca_mr_map(&t.s.hca, key_number(t.w1->key), &rows[0].map)),
                     RFK_NO_OBJECT);
    assert_int_equal(refusal_kind(hca_mr_map(&t.s.hca, 99, &rows[0].map)), RFK_NO_OBJECT);
    assert_int_equal(refusal_kind(hca_fast_mr_create(&t.s.hca, 99, 0, 1, &mr)), RFK_NO_OBJECT);
    assert_int_equal(refusal_kind(hca_fast_mr_create(&t.s.hca, t.pdn, 0, 0, &mr)), RFK_INVALID);
    assert_int_equal(refusal_kind(hca_fast_mr_create(&t.s.hca, t.pdn, 0, 5, &mr)), RFK_INVALID);
    assert_int_equal(refusal_kind(hca_fast_mr_create(&t.s.hca, t.pdn, ACC_REMOTE_WRITE, 1, &mr)),
                     RFK_INVALID);
    assert_int_equal(hca_fast_mr_create(&t.s.hca, t.pdn, 0, 4, &mr), REF_NONE);
    assert_int_equal(refusal_kind(hca_fast_mr_create(&t.s.hca, t.pdn, 0, 4, &mr)), RFK_NO_ROOM);
    stand_down(&t.s);
}

/* Shows B105. */
static void each_invalidation_that_is_wrong_has_its_rule(void **state)
{
    struct scene t;
    struct bind_request to_fast;
    struct reg_request req;
    uint32_t key;

    (void)state;
    scene_up(&t);
#define INV(key, who, rule, least, found)                                                          \
    HAS_RULE(key_check_inv(&t.s.hca, key, &(who)), rule, least, found)
    INV(0, t.me, MR_KEY, 0, 0);
    INV(99 << 8, t.me, MR_KEY, 0, 0);
    INV(t.w2->key ^ 1, t.me, MR_KEY, t.w2->key, t.w2->key ^ 1);
    INV(t.mr->key, t.me, INV_KIND, 0, 0);
    INV(t.w1->key, t.me, INV_KIND, 0, 0);
    INV(t.w2->key, t.stranger, MR_PD, t.pdn, t.other_pdn);
    INV(t.w2->key, t.me, NONE, 0, 0); /* it is free already, and stays so */
    key_inv(&t.s.hca, t.w2->key);
    assert_int_equal(t.w2->state, KEY_FREE);

    mapped(&t);
    req = reg(&t);
    req.access |= ACC_MW_BIND | ACC_REMOTE_WRITE;
    key_reg(&t.s.hca, &req);
    to_fast = bind_2(&t);
    to_fast.mr_key = t.fast->key;
    key = bound(&t, &to_fast);
    INV(t.fast->key, t.me, INV_BOUND, 0, 1);
    INV(key, t.other_qp, INV_QP, QPN, QPN + 1);
    INV(key, t.me, NONE, 0, 0);
    key_inv(&t.s.hca, key);
    HAS_RULE(key_objection(&t.s.hca, key, &t.me, ADDR + 100, 1, ACC_REMOTE_READ), KEY_FREE, 0, 0);
    INV(t.fast->key, t.other_qp, NONE, 0, 0); /* a region is of the domain, not of a queue pair */
    key_inv(&t.s.hca, t.fast->key);
#undef INV
    stand_down(&t.s);
}

/* Regions and windows are counted apart, though they share their numbers. */
static void each_kind_has_its_limit(void **state)
{
    struct scene t;
    struct mkey *k;

    (void)state;
    scene_up(&t);
    assert_int_equal(refusal_kind(hca_mw_create(&t.s.hca, 99, MW_TYPE_1, &k)), RFK_NO_OBJECT);
    assert_int_equal(refusal_kind(hca_mw_create(&t.s.hca, t.pdn, 0, &k)), RFK_INVALID);
    assert_int_equal(refusal_kind(hca_mw_create(&t.s.hca, t.pdn, 3, &k)), RFK_INVALID);
    assert_int_equal(hca_mw_create(&t.s.hca, t.pdn, MW_TYPE_1, &k), REF_NONE);
    assert_int_equal(refusal_kind(hca_mw_create(&t.s.hca, t.pdn, MW_TYPE_1, &k)), RFK_NO_ROOM);
    k = region(&t, 0); /* the fourth */
    assert_int_equal(refusal_kind(hca_dma_mr_create(&t.s.hca, t.pdn, 0, &k)), RFK_NO_ROOM);
    assert_int_equal(hca_pd(&t.s.hca, t.pdn)->users, 7);
    assert_int_equal(refusal_kind(hca_pd_destroy(&t.s.hca, t.pdn)), RFK_BUSY);
    assert_int_equal(refusal_kind(hca_mw_destroy(&t.s.hca, 99)), RFK_NO_OBJECT);
    stand_down(&t.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bind_that_is_wrong_has_its_rule),
        cmocka_unit_test(a_window_opens_its_part_of_the_region_to_peers_only),
        cmocka_unit_test(a_zero_based_window_counts_from_its_first_byte),
        cmocka_unit_test(each_bind_of_type_1_makes_another_key_and_the_old_one_useless),
        cmocka_unit_test(a_region_is_busy_while_windows_are_bound),
        cmocka_unit_test(a_fast_region_is_registered_by_its_rules),
        cmocka_unit_test(a_mapping_waits_for_its_registration),
        cmocka_unit_test(pages_are_looked_for_again_when_one_is_gone),
        cmocka_unit_test(pages_that_do_not_fit_are_not_mapped),
        cmocka_unit_test(each_invalidation_that_is_wrong_has_its_rule),
        cmocka_unit_test(each_kind_has_its_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
