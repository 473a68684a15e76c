/* SPDX-License-Identifier: MIT */
/* Regions and windows: what is refused before a driver is called, what an answer changes, and the
 * users of a protection domain meanwhile.
 */
#include "emu/facts/enum/access.h"
#include "guest/verbs/fake_driver.h"

#define LW    ACC_LOCAL_WRITE
#define RW    ACC_REMOTE_WRITE
#define RR    ACC_REMOTE_READ
#define RA    ACC_REMOTE_ATOMIC
#define MW    ACC_MW_BIND
#define ZERO  ACC_ZERO_BASED
#define PAGES 4u

/* A device with everything, and memory of four pages. */
static struct fake *begin(void **state, uint64_t *ret_addr)
{
    struct fake *f = *state;

    f->verbs.limits.max_mw = 10;
    f->verbs.limits.max_fast_pages = 3;
    f->verbs.limits.can_rereg = true;
    assert_int_equal(verbs_mem_alloc(&f->verbs, PAGES * RAM_PAGE_BYTES, ret_addr), RDL_OK);
    return f;
}

static struct guest_mr *region(struct guest_pd *pd, uint64_t addr, uint32_t access)
{
    uint64_t h = 0;

    assert_int_equal(verbs_reg_mr(pd, addr, 100, access, NULL, &h), RDL_OK);
    return (struct guest_mr *)verbs_get(pd->o.verbs, OBJ_MR, h);
}

static void access_flags_must_go_together(void **state)
{
    static const struct {
        uint32_t access;
        enum rdl_status st;
    } rows[] = {
        {0, RDL_OK},
        {LW, RDL_OK},
        {RR, RDL_OK},
        {RR | MW, RDL_OK},
        {LW | RW | RR | RA | MW, RDL_OK},
        {RW, RDL_ERR_INVAL},
        {RA, RDL_ERR_INVAL},
        {RR | RA | MW, RDL_ERR_INVAL},
        {1u << 31, RDL_ERR_INVAL},
    };
    uint64_t addr = 0, h = 0;
    struct fake *f = begin(state, &addr);
    struct guest_pd *pd = new_pd(&f->verbs);
    const uint32_t before = f->n_requests;
    uint32_t good = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint32_t access = rows[i].access;

        if (verbs_reg_mr(pd, addr, 10, access, NULL, &h) != rows[i].st ||
            verbs_create_mr(pd, access, 1, NULL, &h) != rows[i].st ||
            verbs_get_dma_mr(pd, access, NULL, &h) != rows[i].st)
            fail_msg("row %zu", i);
        good += rows[i].st == RDL_OK ? 3 : 0;
    }
    assert_int_equal(f->n_requests - before, good);
    assert_int_equal(pd->o.n_users, good);
}

static void a_range_must_be_memory_under_addresses_that_fit(void **state)
{
    uint64_t addr = 0, h = 0;
    struct fake *f = begin(state, &addr);
    struct guest_pd *pd = new_pd(&f->verbs);
    const struct {
        struct rdl_mr_range r;
        uint32_t access;
        enum rdl_status st;
    } rows[] = {
        {{addr, 10, addr}, LW, RDL_OK},
        {{addr, 10, 0}, LW, RDL_OK},
        {{addr + 5, 10, 0x7005}, LW, RDL_OK},
        {{addr + 5, 10, 0x7000}, LW, RDL_ERR_INVAL},
        {{addr + 5, 10, 0}, LW | ZERO, RDL_OK},
        {{addr + 5, 10, 5}, LW | ZERO, RDL_ERR_INVAL},
        {{addr, 0, addr}, LW, RDL_ERR_INVAL},
        {{addr, PAGES * RAM_PAGE_BYTES, addr}, LW, RDL_OK},
        {{addr, PAGES * RAM_PAGE_BYTES + 1, addr}, LW, RDL_ERR_FAULT},
        {{addr - 1, 2, addr - 1}, LW, RDL_ERR_FAULT},
        {{UINT64_MAX - 4095, 8192, 0}, LW, RDL_ERR_FAULT},
        {{addr, 4096, UINT64_MAX - 4095}, LW, RDL_ERR_INVAL},
        {{addr, ((uint64_t)1 << 30) + 1, addr}, LW, RDL_ERR_LIMIT},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (verbs_reg_mr_iova(pd, &rows[i].r, rows[i].access, NULL, &h) != rows[i].st)
            fail_msg("row %zu", i);
    }
}

static void a_change_is_checked_as_what_will_be(void **state)
{
    uint64_t addr = 0, h = 0;
    struct fake *f = begin(state, &addr);
    struct guest_pd *pd = new_pd(&f->verbs), *other = new_pd(&f->verbs);
    struct guest_mr *mr = region(pd, addr + 8, LW);
    const struct rdl_mr_range there = {addr + 4096, 50, 0x3000}, odd = {addr, 50, 1},
                              unmapped = {addr - 4096, 50, 0};
    const struct {
        struct verbs_region to;
        enum rdl_status st;
    } rows[] = {
        {{.what = 0}, RDL_ERR_INVAL},
        {{.what = 8}, RDL_ERR_INVAL},
        {{.what = RDL_REREG_ACCESS, .access = RW}, RDL_ERR_INVAL},
        {{.what = RDL_REREG_ACCESS, .access = LW | ZERO}, RDL_ERR_INVAL},
        {{.what = RDL_REREG_TRANSLATION, .range = odd}, RDL_ERR_INVAL},
        {{.what = RDL_REREG_TRANSLATION, .range = unmapped}, RDL_ERR_FAULT},
        {{.what = RDL_REREG_PD | RDL_REREG_ACCESS, .pd = other, .access = RA}, RDL_ERR_INVAL},
    };
    const struct verbs_region all = {RDL_REREG_TRANSLATION | RDL_REREG_PD | RDL_REREG_ACCESS, other,
                                     RR, there};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint32_t before = f->n_requests;

        if (verbs_rereg_mr(mr, &rows[i].to) != rows[i].st)
            fail_msg("row %zu", i);
        assert_int_equal(f->n_requests, before);
    }
    f->refuse = EBUSY; /* what the device refuses leaves all as it was */
    assert_int_equal(verbs_rereg_mr(mr, &all), RDL_OK);
    assert_ptr_equal(mr->pd, pd);
    assert_int_equal(mr->addr, addr + 8);
    assert_int_equal(mr->access, LW);

    f->late = true; /* nor does anything change before it has answered */
    assert_int_equal(verbs_rereg_mr(mr, &all), RDL_OK);
    assert_int_equal(mr->access, LW);
    assert_int_equal(verbs_dereg_mr(mr), RDL_ERR_BUSY);
    fake_answer(f);
    f->late = false;
    assert_ptr_equal(mr->pd, other);
    assert_int_equal(pd->o.n_users, 0);
    assert_int_equal(other->o.n_users, 1);
    assert_int_equal(mr->addr, addr + 4096);
    assert_int_equal(mr->bytes, 50);
    assert_int_equal(mr->iova, 0x3000);
    assert_int_equal(mr->access, RR);

    f->verbs.limits.can_rereg = false;
    assert_int_equal(verbs_rereg_mr(mr, &all), RDL_ERR_UNSUPPORTED);
    assert_int_equal(verbs_get_dma_mr(pd, 0, NULL, &h), RDL_OK);
    f->verbs.limits.can_rereg = true;
    assert_int_equal(verbs_rereg_mr((struct guest_mr *)verbs_get(&f->verbs, OBJ_MR, h), &all),
                     RDL_ERR_INVAL);
}

static void a_region_for_fast_registration_is_mapped_within_its_pages(void **state)
{
    uint64_t addr = 0, h = 0;
    struct fake *f = begin(state, &addr);
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_mr *user = region(pd, addr, LW), *fast;
    const struct {
        struct rdl_mr_range r;
        enum rdl_status st;
    } rows[] = {
        {{addr, 3 * RAM_PAGE_BYTES, addr}, RDL_OK},
        {{addr + 1, 3 * RAM_PAGE_BYTES, addr + 1}, RDL_ERR_LIMIT},
        {{addr + 4095, 2 * RAM_PAGE_BYTES + 1, 0xfff}, RDL_OK},
        {{addr + 4095, 2 * RAM_PAGE_BYTES + 2, 0xfff}, RDL_ERR_LIMIT},
        {{addr, 10, 1}, RDL_ERR_INVAL},
        {{addr, 0, addr}, RDL_ERR_INVAL},
        {{addr - 1, 1, addr - 1}, RDL_ERR_FAULT},
    };

    assert_int_equal(verbs_create_mr(pd, LW, 0, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(verbs_create_mr(pd, LW, 4, NULL, &h), RDL_ERR_LIMIT);
    assert_int_equal(verbs_create_mr(pd, LW, 3, NULL, &h), RDL_OK);
    fast = (struct guest_mr *)verbs_get(&f->verbs, OBJ_MR, h);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (verbs_map_mr_sg(fast, &rows[i].r) != rows[i].st)
            fail_msg("row %zu", i);
        if (rows[i].st == RDL_OK)
            assert_int_equal(fast->iova, rows[i].r.iova);
    }
    assert_int_equal(verbs_map_mr_sg(user, &rows[0].r), RDL_ERR_INVAL);
    /* Memory that is mapped cannot be given back. */
    assert_int_equal(verbs_dereg_mr(user), RDL_OK);
    assert_int_equal(verbs_mem_free(&f->verbs, addr), RDL_ERR_BUSY);
    assert_int_equal(verbs_dereg_mr(fast), RDL_OK);
    assert_int_equal(verbs_mem_free(&f->verbs, addr), RDL_OK);
    f->verbs.limits.max_fast_pages = 0;
    assert_int_equal(verbs_create_mr(pd, LW, 3, NULL, &h), RDL_ERR_UNSUPPORTED);
}

static void windows_use_their_domain_and_leave_it(void **state)
{
    uint64_t addr = 0, h = 0;
    struct fake *f = begin(state, &addr);
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_mw *mw;
    size_t live_bytes;

    assert_int_equal(verbs_alloc_mw(pd, 0, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(verbs_alloc_mw(pd, 3, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(verbs_alloc_mw(pd, 2, "w", &h), RDL_OK);
    mw = (struct guest_mw *)verbs_get(&f->verbs, OBJ_MW, h);
    assert_int_equal(mw->type, 2);
    assert_ptr_equal(verbs_find(&f->verbs, "w"), mw);
    assert_int_equal(verbs_dealloc_pd(pd), RDL_ERR_BUSY);
    live_bytes = arena_live_bytes(f->arena);
    f->cannot = RDL_ERR_NOMEM;
    assert_int_equal(verbs_alloc_mw(pd, 1, "x", &h), RDL_ERR_NOMEM);
    f->cannot = RDL_OK;
    f->refuse = ENOMEM;
    assert_int_equal(verbs_alloc_mw(pd, 1, "x", &h), RDL_OK);
    assert_null(verbs_find(&f->verbs, "x"));
    assert_int_equal(arena_live_bytes(f->arena), live_bytes);
    assert_int_equal(pd->o.n_users, 1);
    assert_int_equal(verbs_dealloc_mw(mw), RDL_OK);
    assert_int_equal(verbs_dealloc_pd(pd), RDL_OK);
    f->verbs.limits.max_mw = 0;
    assert_int_equal(verbs_alloc_mw(new_pd(&f->verbs), 1, NULL, &h), RDL_ERR_UNSUPPORTED);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(access_flags_must_go_together),
        T(a_range_must_be_memory_under_addresses_that_fit),
        T(a_change_is_checked_as_what_will_be),
        T(a_region_for_fast_registration_is_mapped_within_its_pages),
        T(windows_use_their_domain_and_leave_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
