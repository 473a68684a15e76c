/* SPDX-License-Identifier: MIT */
/* Control requests for regions and windows of every kind, and the features that some of them need.
 */
#include "machine.h"

#include <string.h>

#include "emu/hca/mw.h"

#define PAGES_AT 0x100000u /* a list of pages */
#define PAGE     0x5000u   /* the first page on it */
#define ALL      (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_MW_BIND)

static void put_pages(struct machine *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t le[8];

        st_le64(le, PAGE + (uint64_t)i * RAM_PAGE_BYTES);
        machine_poke(m, PAGES_AT + 8 * i, le, sizeof(le));
    }
}

static uint32_t new_pd(struct machine *m)
{
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    return machine_number(m);
}

static struct rfc_mr_keys keys_of(const struct machine *m)
{
    struct rfc_mr_keys keys;

    assert_int_equal(m->rsp_bytes, 13);
    rfc_mr_keys_get(&keys, (const struct raw_mr_keys *)(m->rsp + 1));
    return keys;
}

static struct rfc_mr_keys new_region(struct machine *m, uint32_t pdn)
{
    put_pages(m, 3);
    assert_int_equal(ASK(m, CMD_REG_USER_MR, reg_user_mr, .pdn = pdn, .access_flags = ALL,
                         .start = 0x1000, .length = 8192, .virt_addr = 0x1000, .pages = PAGES_AT,
                         .npages = 2),
                     RSP_OK);
    return keys_of(m);
}

static struct rfc_config config(struct machine *m)
{
    struct raw_config raw;
    struct rfc_config c;

    for (uint32_t i = 0; i < sizeof(raw); i++)
        ((uint8_t *)&raw)[i] = (uint8_t)virtio_read(&m->rdma.pci, BAR_DEVICE + i, 1);
    rfc_config_get(&c, &raw);
    return c;
}

#define CAP_MEM_MGT (UINT64_C(1) << 21)
#define CAP_WINDOWS (UINT64_C(1) << 17 | UINT64_C(1) << 24) /* and those of type 2B */

static void who_accepts_windows_finds_them_in_the_configuration(void **state)
{
    struct machine *m = *state;

    assert_int_equal(config(m).max_mw, RDL_USUAL_max_mw);
    assert_true(config(m).device_cap_flags & CAP_MEM_MGT);
    assert_true((config(m).device_cap_flags & CAP_WINDOWS) == CAP_WINDOWS);
    assert_int_equal(config(m).max_fast_reg_page_list_len, RDL_USUAL_max_fast_reg_page_list_len);
    machine_out(&m->rdma.pci, REG_DEVICE_STATUS, 1, 0);
    assert_int_equal(config(m).max_mw, 0); /* nothing is accepted after a reset */
}

static void who_does_not_sees_the_plain_device_of_the_rfc(void **state)
{
    static const uint8_t ours[] = {CMD_ALLOC_MW, CMD_DEALLOC_MW, CMD_REREG_MR};
    const uint8_t data[64] = {1};
    struct machine *m = *state;

    assert_int_equal(config(m).max_mw, 0);
    assert_int_equal(config(m).device_cap_flags & CAP_WINDOWS, 0);
    assert_true(config(m).device_cap_flags & CAP_MEM_MGT); /* which is the RFC's */
    new_pd(m);
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        assert_int_equal(machine_ask(m, ours[i], data, sizeof(data), ROOM), RSP_UNKNOWN_COMMAND);
    assert_int_equal(
        ASK(m, CMD_CREATE_MR, create_mr, .pdn = 1, .access_flags = ALL, .max_num_sg = 1), RSP_OK);
}

static void what_is_not_offered_is_not_there(void **state)
{
    struct machine *m = *state;

    new_pd(m);
    put_pages(m, 1);
    assert_int_equal(config(m).device_cap_flags & CAP_MEM_MGT, 0);
    assert_int_equal(config(m).max_fast_reg_page_list_len, 0);
    assert_int_equal(ASK(m, CMD_ALLOC_MW, alloc_mw, .pdn = 1, .type = 1), RSP_UNKNOWN_COMMAND);
    assert_int_equal(ASK(m, CMD_CREATE_MR, create_mr, .pdn = 1, .max_num_sg = 1),
                     RSP_NOT_SUPPORTED);
    assert_int_equal(
        ASK(m, CMD_MAP_MR_SG, map_mr_sg, .mrn = 1, .npages = 1, .length = 1, .pages = PAGES_AT),
        RSP_NOT_SUPPORTED);
    assert_int_equal(machine_ask(m, 0x43, NULL, 0, ROOM), RSP_UNKNOWN_COMMAND);
    assert_int_equal(machine_ask(m, 0x20, NULL, 0, ROOM), RSP_UNKNOWN_COMMAND);
    assert_int_equal(machine_ask(m, 0xff, NULL, 0, ROOM), RSP_UNKNOWN_COMMAND);
}

static void a_dma_region_has_the_addresses_of_ram(void **state)
{
    struct machine *m = *state;
    const uint32_t pdn = new_pd(m);
    struct rfc_mr_keys keys;
    char got[4];

    assert_int_equal(ASK(m, CMD_GET_DMA_MR, get_dma_mr, .pdn = 9), RSP_BAD_HANDLE);
    assert_int_equal(ASK(m, CMD_GET_DMA_MR, get_dma_mr, .pdn = pdn, .access_flags = 0x100),
                     RSP_INVALID_ARG);
    assert_int_equal(
        ASK(m, CMD_GET_DMA_MR, get_dma_mr, .pdn = pdn, .access_flags = ACC_LOCAL_WRITE), RSP_OK);
    keys = keys_of(m);
    assert_int_equal(keys.mrn, 1);
    assert_int_equal(keys.rkey, 0);
    key_copy_in(&m->rdma.nic.hca, keys.lkey, BUFFER_AT, "dma", 4);
    machine_peek(m, BUFFER_AT, got, sizeof(got));
    assert_string_equal(got, "dma");
    assert_int_equal(ASK(m, CMD_DEREG_MR, mr_handle, .mrn = 1), RSP_OK);
}

static void a_fast_region_takes_its_pages_from_a_list(void **state)
{
    static const struct {
        struct rfc_map_mr_sg r;
        int rsp;
    } rows[] = {
        {{1, 2, 0x7000, 8192, PAGES_AT}, RSP_OK},
        {{1, 3, 0x7010, 8192, PAGES_AT}, RSP_OK},
        {{1, 0, 0x7000, 8192, PAGES_AT}, RSP_INVALID_ARG},
        {{1, 1, 0x7000, 8192, PAGES_AT}, RSP_INVALID_ARG},
        {{1, 4, 0x7000, 4 * 4096, PAGES_AT}, RSP_INVALID_ARG}, /* it has room for 3 */
        {{1, UINT32_MAX, 0x7000, UINT64_MAX, PAGES_AT}, RSP_INVALID_ARG},
        {{1, 2, 0x7000, 8192, MACHINE_RAM_BYTES - 8}, RSP_INVALID_ARG},
        {{1, 2, UINT64_MAX - 4095, 8192, PAGES_AT}, RSP_INVALID_ARG},
        {{2, 2, 0x7000, 8192, PAGES_AT}, RSP_BAD_HANDLE},
        {{0, 2, 0x7000, 8192, PAGES_AT}, RSP_BAD_HANDLE},
    };
    struct machine *m = *state;
    const uint32_t pdn = new_pd(m);
    const size_t before = arena_live_bytes(m->arena);
    struct rfc_mr_keys keys;

    assert_int_equal(ASK(m, CMD_CREATE_MR, create_mr, .pdn = pdn, .access_flags = ALL,
                         .max_num_sg = RDL_USUAL_max_fast_reg_page_list_len + 1),
                     RSP_INVALID_ARG);
    assert_int_equal(
        ASK(m, CMD_CREATE_MR, create_mr, .pdn = pdn, .access_flags = ALL, .max_num_sg = 3), RSP_OK);
    keys = keys_of(m);
    assert_int_equal(keys.lkey, keys.rkey);
    put_pages(m, 4);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (machine_ask_map_mr_sg(m, CMD_MAP_MR_SG, &rows[i].r) != rows[i].rsp)
            fail_msg("row %zu: %s", i, enum_name(&enum_ctrl_rsp, m->rsp[0]));
        if (rows[i].rsp == RSP_OK)
            assert_int_equal(machine_number(m), rows[i].r.npages);
    }
    assert_null(key_find(&m->rdma.nic.hca, keys.lkey)); /* only REG_MR makes it valid */
    assert_int_equal(ASK(m, CMD_DEREG_MR, mr_handle, .mrn = keys.mrn), RSP_OK);
    assert_in_range(arena_live_bytes(m->arena), before, before + 1024); /* the table has grown */
}

static void a_change_of_a_region_is_judged_as_a_registration(void **state)
{
    struct machine *m = *state;
    const uint32_t pdn = new_pd(m), other = new_pd(m);
    const struct rfc_mr_keys old = new_region(m, pdn);
    const struct {
        struct rfc_rereg_mr r;
        int rsp;
    } rows[] = {
        {{9, 4, 0, ACC_REMOTE_READ, 0, 0, 0, 0, 0}, RSP_BAD_HANDLE},
        {{1, 0, 0, ACC_REMOTE_READ, 0, 0, 0, 0, 0}, RSP_INVALID_ARG},
        {{1, 8, 0, ACC_REMOTE_READ, 0, 0, 0, 0, 0}, RSP_INVALID_ARG},
        {{1, 2, 9, 0, 0, 0, 0, 0, 0}, RSP_BAD_HANDLE},
        {{1, 1, 0, 0, 0x1000, 8192, 0x1000, PAGES_AT, 1}, RSP_INVALID_ARG},
        {{1, 1, 0, 0, 0x1000, 8192, 0x1000, MACHINE_RAM_BYTES, 2}, RSP_INVALID_ARG},
        {{1, 1, 0, 0, 0x1000, 8192, 0x1001, PAGES_AT, 2}, RSP_INVALID_ARG},
        {{1, 5, 0, ACC_REMOTE_WRITE, 0x1000, 4096, 0x1000, PAGES_AT, 1}, RSP_INVALID_ARG},
        {{1, 7, other, ACC_LOCAL_WRITE, 0x10, 100, 0x9010, PAGES_AT, 1}, RSP_OK},
    };
    struct rfc_mr_keys now;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (machine_ask_rereg_mr(m, CMD_REREG_MR, &rows[i].r) != rows[i].rsp)
            fail_msg("row %zu: %s", i, enum_name(&enum_ctrl_rsp, m->rsp[0]));
        if (rows[i].rsp != RSP_OK)
            assert_non_null(key_find(&m->rdma.nic.hca, old.lkey));
    }
    now = keys_of(m);
    assert_int_equal(now.mrn, 1);
    assert_int_not_equal(now.lkey, old.lkey);
    assert_int_equal(now.rkey, 0);
    assert_null(key_find(&m->rdma.nic.hca, old.lkey));
    assert_int_equal(key_find(&m->rdma.nic.hca, now.lkey)->addr, 0x9010);
    assert_int_equal(ASK(m, CMD_DESTROY_PD, pd_handle, .pdn = pdn), RSP_OK);
    assert_int_equal(ASK(m, CMD_DESTROY_PD, pd_handle, .pdn = other), RSP_BUSY);
}

static void windows_come_and_go_and_hold_their_region(void **state)
{
    struct machine *m = *state;
    const uint32_t pdn = new_pd(m);
    const struct rfc_mr_keys mr = new_region(m, pdn);
    const struct key_user me = {pdn, 2};
    struct rfc_mw_keys mw;
    struct bind_request bind;

    assert_int_equal(ASK(m, CMD_ALLOC_MW, alloc_mw, .pdn = 9, .type = 2), RSP_BAD_HANDLE);
    assert_int_equal(ASK(m, CMD_ALLOC_MW, alloc_mw, .pdn = pdn, .type = 0), RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_ALLOC_MW, alloc_mw, .pdn = pdn, .type = 3), RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_ALLOC_MW, alloc_mw, .pdn = pdn, .type = 2), RSP_OK);
    assert_int_equal(m->rsp_bytes, 9);
    rfc_mw_keys_get(&mw, (const struct raw_mw_keys *)(m->rsp + 1));
    assert_int_equal(mw.mwn, mw.rkey >> 8);
    bind = (struct bind_request){.type = MW_TYPE_2,
                                 .mw_key = mw.rkey,
                                 .mr_key = mr.lkey,
                                 .access = ACC_REMOTE_READ,
                                 .addr = 0x1000,
                                 .bytes = 10};
    assert_int_equal(key_check_bind(&m->rdma.nic.hca, &me, &bind).rule, RULE_NONE);
    key_bind(&m->rdma.nic.hca, &me, &bind);
    assert_int_equal(ASK(m, CMD_DEREG_MR, mr_handle, .mrn = mr.mrn), RSP_BUSY);
    assert_int_equal(
        ASK(m, CMD_REREG_MR, rereg_mr, .mrn = mr.mrn, .flags = 4, .access_flags = ACC_REMOTE_READ),
        RSP_BUSY);
    assert_int_equal(ASK(m, CMD_DEALLOC_MW, mw_handle, .mwn = mr.mrn), RSP_BAD_HANDLE);
    assert_int_equal(ASK(m, CMD_DEREG_MR, mr_handle, .mrn = mw.mwn), RSP_BAD_HANDLE);
    assert_int_equal(ASK(m, CMD_DEALLOC_MW, mw_handle, .mwn = mw.mwn), RSP_OK);
    assert_int_equal(ASK(m, CMD_DEALLOC_MW, mw_handle, .mwn = mw.mwn), RSP_BAD_HANDLE);
    assert_int_equal(ASK(m, CMD_DEREG_MR, mr_handle, .mrn = mr.mrn), RSP_OK);
    assert_int_equal(ASK(m, CMD_DESTROY_PD, pd_handle, .pdn = pdn), RSP_OK);
}

#define TEST(name, set_up) cmocka_unit_test_setup_teardown(name, set_up, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_accepts_windows_finds_them_in_the_configuration, machine_set_up_windows),
        TEST(who_does_not_sees_the_plain_device_of_the_rfc, machine_set_up),
        TEST(what_is_not_offered_is_not_there, machine_set_up_no_windows),
        TEST(a_dma_region_has_the_addresses_of_ram, machine_set_up),
        TEST(a_fast_region_takes_its_pages_from_a_list, machine_set_up_windows),
        TEST(a_change_of_a_region_is_judged_as_a_registration, machine_set_up_windows),
        TEST(windows_come_and_go_and_hold_their_region, machine_set_up_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
