/* SPDX-License-Identifier: MIT */
/* Regions and windows: the requests that the device receives, and the effect of its answers. */
#include "emu/facts/enum/access.h"
#include "guest/virtio_rdma/fake_device.h"

/* The request that was sent last, which is of @cmd. */
#define SENT(f, want_cmd, name, var)                                                               \
    struct rfc_##name var;                                                                         \
    do {                                                                                           \
        struct raw_##name var##_raw;                                                               \
                                                                                                   \
        assert_int_equal((f)->request[0], want_cmd);                                               \
        memcpy(&var##_raw, (f)->request + 1, sizeof(var##_raw));                                   \
        rfc_##name##_get(&var, &var##_raw);                                                        \
    } while (0)

static struct guest_mr *mr_of(struct fake *f, uint64_t h)
{
    return (struct guest_mr *)verbs_get(&f->verbs, OBJ_MR, h);
}

static void the_configuration_says_what_there_is(void **state)
{
    struct fake *f = *state;

    assert_int_equal(f->verbs.limits.max_mw, FAKE_MW);
    assert_int_equal(f->verbs.limits.max_fast_pages, FAKE_FAST_PAGES);
    assert_true(f->verbs.limits.can_rereg);
    f = fake_new(FAKE_MAX, VIRTIO_FEATURE(VF_MW));
    assert_int_equal(fake_boot(f), RDL_OK);
    assert_false(f->verbs.limits.can_rereg);
    fake_free(f);
}

/* The pages at @gpa are those of the memory at @addr. */
static void check_pages(struct fake *f, uint64_t gpa, uint64_t addr, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t entry[8];
        uint64_t want = 0;

        assert_true(ram_read(&f->ram, gpa + 8 * i, entry, sizeof(entry)));
        assert_true(space_translate(&f->space, addr + i * RAM_PAGE_BYTES, &want));
        assert_int_equal(ld_le64(entry), want);
    }
}

static void a_region_has_the_addresses_that_were_asked_for(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct rdl_mr_range range = {.bytes = 5000};
    uint64_t h = 0;

    assert_int_equal(verbs_mem_alloc(&f->verbs, 3 * RAM_PAGE_BYTES, &range.addr), RDL_OK);
    range.addr += 0x123;
    range.iova = 0x77123;
    assert_int_equal(verbs_reg_mr_iova(pd, &range, ACC_REMOTE_READ, NULL, &h), RDL_OK);
    {
        SENT(f, CMD_REG_USER_MR, reg_user_mr, cmd);
        assert_int_equal(cmd.start, range.addr);
        assert_int_equal(cmd.virt_addr, 0x77123);
        assert_int_equal(cmd.npages, 2);
        check_pages(f, cmd.pages, range.addr - 0x123, 2);
    }
    assert_int_equal(verbs_reg_mr(pd, range.addr, 10, ACC_ZERO_BASED, NULL, &h), RDL_OK);
    {
        SENT(f, CMD_REG_USER_MR, reg_user_mr, cmd);
        assert_int_equal(cmd.start, range.addr);
        assert_int_equal(cmd.virt_addr, 0);
        assert_int_equal(cmd.access_flags, ACC_ZERO_BASED);
    }
}

static void a_change_sends_what_changes(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs), *other = new_pd(&f->verbs);
    struct verbs_region to = {
        .what = RDL_REREG_PD | RDL_REREG_ACCESS, .pd = other, .access = ACC_REMOTE_READ};
    const struct rfc_mr_keys keys = {.mrn = 99, .lkey = 0x1234, .rkey = 0x1235};
    uint64_t addr = 0, h = 0;
    struct guest_mr *mr;
    uint32_t mrn;

    assert_int_equal(verbs_mem_alloc(&f->verbs, 3 * RAM_PAGE_BYTES, &addr), RDL_OK);
    assert_int_equal(verbs_reg_mr(pd, addr, 10, 0, NULL, &h), RDL_OK);
    mr = mr_of(f, h);
    mrn = mr->mrn;
    rfc_mr_keys_put((struct raw_mr_keys *)f->response, &keys);
    assert_int_equal(verbs_rereg_mr(mr, &to), RDL_OK);
    {
        SENT(f, CMD_REREG_MR, rereg_mr, cmd);
        assert_int_equal(cmd.mrn, mrn);
        assert_int_equal(cmd.flags, 6);
        assert_int_equal(cmd.pdn, other->pdn);
        assert_int_equal(cmd.access_flags, ACC_REMOTE_READ);
        assert_int_equal(cmd.pages | cmd.npages | cmd.length, 0);
    }
    assert_int_equal(mr->lkey, 0x1234);
    assert_int_equal(mr->rkey, 0x1235);
    assert_int_equal(mr->mrn, mrn); /* an object keeps its number, whatever a device says */

    to = (struct verbs_region){.what = RDL_REREG_TRANSLATION, .range = {addr + 4000, 200, 0x8fa0}};
    assert_int_equal(verbs_rereg_mr(mr, &to), RDL_OK);
    {
        SENT(f, CMD_REREG_MR, rereg_mr, cmd);
        assert_int_equal(cmd.flags, 1);
        assert_int_equal(cmd.start, addr + 4000);
        assert_int_equal(cmd.length, 200);
        assert_int_equal(cmd.virt_addr, 0x8fa0);
        assert_int_equal(cmd.npages, 2);
        assert_int_equal(cmd.pdn | cmd.access_flags, 0);
        check_pages(f, cmd.pages, addr, 2);
    }
    f->refuse = RSP_BUSY;
    assert_int_equal(verbs_rereg_mr(mr, &to), RDL_OK);
    assert_int_equal(mr->lkey, 0x1234);
}

static void regions_of_kernels_have_requests_of_their_own(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct rdl_mr_range range = {.bytes = 2 * RAM_PAGE_BYTES, .iova = 0x5000};
    uint64_t h = 0;
    struct rdl_response rsp;
    struct guest_mr *fast;

    assert_int_equal(verbs_get_dma_mr(pd, ACC_LOCAL_WRITE, "dma", &h), RDL_OK);
    {
        SENT(f, CMD_GET_DMA_MR, get_dma_mr, cmd);
        assert_int_equal(cmd.pdn, pd->pdn);
        assert_int_equal(cmd.access_flags, ACC_LOCAL_WRITE);
    }
    assert_int_equal(mr_of(f, h)->bytes, f->ram.bytes);
    assert_int_equal(verbs_create_mr(pd, ACC_REMOTE_READ, 3, "fast", &h), RDL_OK);
    {
        SENT(f, CMD_CREATE_MR, create_mr, cmd);
        assert_int_equal(cmd.pdn, pd->pdn);
        assert_int_equal(cmd.access_flags, ACC_REMOTE_READ);
        assert_int_equal(cmd.max_num_sg, 3);
    }
    fast = mr_of(f, h);
    assert_int_equal(verbs_mem_alloc(&f->verbs, range.bytes, &range.addr), RDL_OK);
    st_le32(f->response, 2);
    assert_int_equal(verbs_map_mr_sg(fast, &range), RDL_OK);
    {
        SENT(f, CMD_MAP_MR_SG, map_mr_sg, cmd);
        assert_int_equal(cmd.mrn, fast->mrn);
        assert_int_equal(cmd.start, 0x5000);
        assert_int_equal(cmd.length, range.bytes);
        assert_int_equal(cmd.npages, 2);
        check_pages(f, cmd.pages, range.addr, 2);
    }
    assert_int_equal(fast->iova, 0x5000);
    st_le32(f->response, 1); /* a device that maps less than it was told */
    range.iova = 0x6000;
    assert_int_equal(verbs_map_mr_sg(fast, &range), RDL_OK);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_DEVICE);
    assert_int_equal(fast->iova, 0x5000);
}

static void windows_are_asked_for_and_given_back(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_mw *mw;
    uint64_t h = 0;
    uint32_t mwn;

    assert_int_equal(verbs_alloc_mw(pd, 2, NULL, &h), RDL_OK);
    {
        SENT(f, CMD_ALLOC_MW, alloc_mw, cmd);
        assert_int_equal(cmd.pdn, pd->pdn);
        assert_int_equal(cmd.type, 2);
    }
    mw = (struct guest_mw *)verbs_get(&f->verbs, OBJ_MW, h);
    mwn = mw->mwn;
    assert_int_equal(mw->rkey, mwn << 8 | 1);
    assert_int_equal(verbs_dealloc_mw(mw), RDL_OK);
    {
        SENT(f, CMD_DEALLOC_MW, mw_handle, cmd);
        assert_int_equal(cmd.mwn, mwn);
    }
    assert_null(verbs_get(&f->verbs, OBJ_MW, h));
}

#define T(f) cmocka_unit_test_setup_teardown(f, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(the_configuration_says_what_there_is), T(a_region_has_the_addresses_that_were_asked_for),
        T(a_change_sends_what_changes),          T(regions_of_kernels_have_requests_of_their_own),
        T(windows_are_asked_for_and_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
