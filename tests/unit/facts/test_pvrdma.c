/* SPDX-License-Identifier: MIT */
/* The tables of PVRDMA against the offsets and sizes of Linux's pvrdma_dev_api.h and
 * pvrdma_verbs.h, which were got by compiling these headers; and the arithmetic of its rings.
 */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/handle.h"
#include "emu/facts/pvrdma/opcode.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/pvrdma/ring.h"
#include "emu/facts/pvrdma/structs.h"

#define AT(name, field, offset) assert_int_equal(offsetof(struct pv_raw_##name, field), (offset))
/* A field of a request or response, whose offset counts the header. */
#define IN(name, field, offset) AT(name, field, (offset)-16)

static void shared_region_is_that_of_linux(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct pv_raw_dsr), 280);
    AT(dsr, guest_info, 8);
    AT(dsr, command_slot, 16);
    AT(dsr, response_slot, 24);
    AT(dsr, async, 32);
    AT(dsr, cq, 48);
    AT(dsr, uar_pfn, 64);
    AT(dsr, caps, 72);
    AT(ring_pages, pdir, 8);
    assert_int_equal(sizeof(struct pv_raw_ring_pages), 16);
    assert_int_equal(sizeof(struct pv_raw_caps), 208);
    AT(caps, node_guid, 8);
    AT(caps, max_mr_size, 24);
    AT(caps, atomic_arg_sizes, 40);
    AT(caps, vendor_id, 64);
    AT(caps, max_qp, 76);
    AT(caps, device_cap_flags, 84);
    AT(caps, max_sge_rd, 92);
    AT(caps, max_pd, 108);
    AT(caps, max_res_rd_atom, 120);
    AT(caps, max_mw, 140);
    AT(caps, max_mcast_grp, 152);
    AT(caps, max_ah, 164);
    AT(caps, max_srq, 176);
    AT(caps, max_uar, 188);
    AT(caps, max_pkeys, 196);
    AT(caps, phys_port_cnt, 199);
    AT(caps, mode, 200);
    AT(caps, bmme_flags, 202);
    AT(caps, gid_types, 203);
    AT(caps, max_fast_reg_page_list_len, 204);
}

static void commands_have_the_sizes_of_linux(void **state)
{
    static const struct {
        const char *name;
        uint32_t request, response;
        bool waited;
    } rows[] = {
        {"QUERY_PORT", 24, 64, true},    {"QUERY_PKEY", 24, 24, true},
        {"CREATE_PD", 24, 24, true},     {"DESTROY_PD", 24, 16, false},
        {"CREATE_MR", 56, 32, true},     {"DESTROY_MR", 24, 16, false},
        {"CREATE_CQ", 40, 24, true},     {"RESIZE_CQ", 24, 24, true},
        {"DESTROY_CQ", 24, 16, false},   {"CREATE_QP", 80, 48, true},
        {"MODIFY_QP", 184, 16, true},    {"QUERY_QP", 24, 176, true},
        {"DESTROY_QP", 24, 24, false},   {"CREATE_UC", 24, 24, true},
        {"DESTROY_UC", 24, 16, false},   {"CREATE_BIND", 48, 16, false},
        {"DESTROY_BIND", 40, 16, false}, {"CREATE_SRQ", 56, 24, true},
        {"MODIFY_SRQ", 40, 16, false},   {"QUERY_SRQ", 24, 32, true},
        {"DESTROY_SRQ", 24, 16, false},
    };

    (void)state;
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct pv_command_info *c = pv_command_info(i);

        assert_string_equal(c->name, rows[i].name);
        assert_int_equal(c->request_bytes, rows[i].request);
        assert_int_equal(c->response_bytes, rows[i].response);
        assert_int_equal(c->end != PV_END_UNWAITED, rows[i].waited);
        assert_int_equal(c->end == PV_END_ANSWERED, i == PV_CMD_MODIFY_QP);
        assert_true(c->request_bytes <= PV_REQUEST_BYTES_MAX);
        assert_true(c->response_bytes <= PV_RESPONSE_BYTES_MAX);
    }
    assert_null(pv_command_info(ARRAY_LEN(rows)));
    assert_null(pv_command_info(UINT32_MAX));
    assert_int_equal(PV_HEADER_BYTES + sizeof(struct pv_raw_qp_made), 40);
}

static void fields_of_commands_are_where_linux_has_them(void **state)
{
    (void)state;
    AT(request, cmd, 8);
    AT(response, ack, 8);
    AT(response, err, 12);
    IN(create_mr, length, 24);
    IN(create_mr, pdir, 32);
    IN(create_mr, pd, 40);
    IN(create_mr, access, 44);
    IN(create_mr, flags, 48);
    IN(create_mr, pages, 52);
    IN(mr_keys, rkey, 24);
    IN(create_cq, ctx, 24);
    IN(create_cq, pages, 32);
    IN(create_qp, pd, 24);
    IN(create_qp, srq, 36);
    IN(create_qp, max_send_sge, 48);
    IN(create_qp, max_inline_data, 56);
    IN(create_qp, access, 64);
    IN(create_qp, total_pages, 68);
    IN(create_qp, send_pages, 70);
    IN(create_qp, sq_sig_all, 74);
    IN(create_qp, type, 75);
    IN(create_qp, is_srq, 76);
    IN(qp_made, max_inline_data, 36);
    IN(qp_made_v2, handle, 20);
    IN(qp_made_v2, max_inline_data, 40);
    IN(modify_qp, attr, 24);
    IN(create_bind, vlan, 20);
    IN(create_bind, index, 24);
    IN(create_bind, gid, 28);
    IN(create_bind, type, 44);
    IN(destroy_bind, gid, 20);
    IN(create_srq, pages, 28);
    IN(create_srq, max_wr, 32);
    IN(create_srq, type, 48);
    IN(modify_srq, max_wr, 24);
    assert_int_equal(sizeof(struct pv_raw_port_attr), 48);
    AT(port_attr, port_cap_flags, 16);
    AT(port_attr, pkey_tbl_len, 32);
    AT(port_attr, lmc, 38);
    AT(port_attr, active_width, 43);
    AT(port_attr, phys_state, 45);
    assert_int_equal(sizeof(struct pv_raw_qp_attr), 160);
    AT(qp_attr, path_mtu, 8);
    AT(qp_attr, access, 32);
    AT(qp_attr, en_sqd_async_notify, 40);
    AT(qp_attr, port, 45);
    AT(qp_attr, alt_timeout, 50);
    AT(qp_attr, max_send_wr, 56);
    AT(qp_attr, ah, 80);
    AT(qp_attr, alt_ah, 120);
    assert_int_equal(sizeof(struct pv_raw_ah_attr), 40);
    AT(ah_attr, sgid_index, 20);
    AT(ah_attr, dlid, 24);
    AT(ah_attr, sl, 28);
    AT(ah_attr, flags, 31);
    AT(ah_attr, dmac, 33);
}

static void opcodes_go_there_and_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 256; i++) {
        if (pv_send_opcode(i) != PV_NO_OPCODE)
            assert_int_equal(pv_send_number(pv_send_opcode(i)), i);
        if (pv_wc_opcode(i) != PV_NO_OPCODE)
            assert_int_equal(pv_wc_number(pv_wc_opcode(i)), i);
        assert_int_equal(pv_wc_flag_bits(pv_wc_flags(i)), i & 7);
    }
    assert_int_equal(pv_send_opcode(10), WR_LOCAL_INV); /* which is 7 in verbs */
    assert_int_equal(pv_send_opcode(7), PV_NO_OPCODE);  /* LSO */
    assert_int_equal(pv_send_number(WR_BIND_MW), PV_NO_OPCODE);
    assert_int_equal(pv_wc_number(WC_LOCAL_INV), 7);
}

/* Linux's masks on rings of 1,536 and 3,072 slots make rings of 512 and 1,024. */
static void odd_rings_are_rings_of_a_power_of_two(void **state)
{
    static const struct {
        uint32_t n, used;
    } rows[] = {{1536, 512}, {3072, 1024}, {16, 16}, {1, 1}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint32_t n = rows[i].n, u = rows[i].used;
        uint32_t idx = 0, other = 0;

        assert_int_equal(pv_slots_used(n), u);
        for (uint32_t k = 0; k < 5 * n; k++) {
            assert_true(pv_idx_is_valid(idx, n));
            assert_int_equal(idx, other);
            assert_int_equal(pv_idx_slot(idx, n), pv_idx_slot(other, u));
            idx = pv_idx_next(idx, n);
            other = pv_idx_next(other, u);
        }
    }
}

static void distance_knows_full_empty_and_wrong(void **state)
{
    static const struct {
        uint32_t head, tail, n, distance;
    } rows[] = {
        {0, 0, 8, 0},           {3, 3, 8, 0},
        {0, 8, 8, 8},           {8, 0, 8, 8},
        {15, 0, 8, 1},          {15, 7, 8, 8},
        {0, 9, 8, 9},           {16, 0, 8, UINT32_MAX},
        {0, 16, 8, UINT32_MAX}, {0, UINT32_MAX, 8, UINT32_MAX},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(pv_idx_distance(rows[i].head, rows[i].tail, rows[i].n), rows[i].distance);
}

static void slots_are_rounded_up(void **state)
{
    (void)state;
    assert_int_equal(pv_slot_bytes(sizeof(struct pv_raw_sq_wqe), 1), 128);
    assert_int_equal(pv_slot_bytes(sizeof(struct pv_raw_sq_wqe), 4), 256);
    assert_int_equal(pv_slot_bytes(sizeof(struct pv_raw_rq_wqe), 1), 32);
    assert_int_equal(pv_pages_of(32, 128), 1);
    assert_int_equal(pv_pages_of(33, 128), 2);
    assert_int_equal(pv_pages_of(0, 128), 0);
}

static void handles_of_queues_begin_at_0(void **state)
{
    static const struct {
        enum object_kind kind;
        uint32_t number, handle;
    } rows[] = {
        {OBJ_CQ, 1, 0}, {OBJ_SRQ, 1, 0}, {OBJ_CQ, 0, UINT32_MAX}, {OBJ_QP, 1, 1}, {OBJ_PD, 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(pv_handle_of(rows[i].kind, rows[i].number), rows[i].handle);
        assert_int_equal(pv_number_of(rows[i].kind, rows[i].handle), rows[i].number);
    }
}

static void registers_do_not_overlap(void **state)
{
    uint32_t next = 0;

    (void)state;
#define X(prefix, name, at, text)                                                                  \
    assert_int_equal(at, next);                                                                    \
    next += 4;
    ENUM_PV_REG(X)
#undef X
    assert_int_equal(next, 0x28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_region_is_that_of_linux),
        cmocka_unit_test(commands_have_the_sizes_of_linux),
        cmocka_unit_test(fields_of_commands_are_where_linux_has_them),
        cmocka_unit_test(opcodes_go_there_and_back),
        cmocka_unit_test(odd_rings_are_rings_of_a_power_of_two),
        cmocka_unit_test(distance_knows_full_empty_and_wrong),
        cmocka_unit_test(slots_are_rounded_up),
        cmocka_unit_test(handles_of_queues_begin_at_0),
        cmocka_unit_test(registers_do_not_overlap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
