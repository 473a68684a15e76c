/* SPDX-License-Identifier: MIT */
/* The layout of the demonstration's structures, compared with copies of its C declarations that the
 * compiler lays out: natural alignment, enumerations of four bytes.  This holds on x86-64, where
 * the demonstration runs.  On other machines, where the compiler may differ, only sizes are
 * compared.
 */
#include "testing.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/virtio_rdma/layout.h"

struct natural_wqe {
    uint32_t num_sge;
    int send_flags, opcode;
    uint64_t wr_id;
    union {
        uint32_t imm_data, invalidate_rkey;
    } ex;
    union {
        struct {
            uint64_t remote_addr;
            uint32_t rkey;
        } rdma;
        struct {
            uint64_t remote_addr, compare_add, swap;
            uint32_t rkey;
        } atomic;
        struct {
            uint32_t remote_qpn, remote_qkey;
            struct {
                uint32_t port, pdn, sl_tclass_flowlabel;
                uint8_t dgid[16], gid_index, static_rate, hop_limit, dmac[6], reserved[6];
            } av;
        } ud;
        struct {
            uint32_t mrn, key, access;
        } reg;
    } wr;
};

struct natural_cqe {
    uint64_t wr_id;
    int status, opcode;
    uint32_t vendor_err, byte_len;
    union {
        uint32_t imm_data, invalidate_rkey;
    } ex;
    uint32_t qp_num, src_qp;
    int wc_flags;
    uint16_t pkey_index, slid;
    uint8_t sl, dlid_path_bits, port_num;
};

union natural_gid {
    uint8_t raw[16];
    struct {
        uint64_t subnet_prefix, interface_id;
    } global;
};

struct natural_ah {
    struct {
        union natural_gid dgid;
        uint32_t flow_label;
        uint8_t sgid_index, hop_limit, traffic_class;
    } grh;
    uint8_t sl, static_rate, port_num, ah_flags, dmac[6];
};

struct natural_attr {
    int qp_state, cur_qp_state, path_mtu, path_mig_state;
    uint32_t qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags;
    uint16_t pkey_index, alt_pkey_index;
    uint8_t en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer,
        port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout;
    uint32_t rate_limit;
    struct {
        uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
    } cap;
    struct natural_ah ah_attr, alt_ah_attr;
};

struct natural_modify {
    uint32_t qpn, attr_mask;
    struct natural_attr attrs;
};

struct natural_port {
    int state, max_mtu, active_mtu;
    uint32_t phys_mtu, gid_tbl_len, port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
    uint16_t pkey_tbl_len;
    uint8_t active_width;
    uint16_t active_speed;
    uint8_t phys_state;
    uint32_t reserved[32];
};

struct natural_reg {
    uint32_t pdn, access_flags;
    uint64_t start, length, virt_addr, pages;
    uint32_t npages;
};

struct natural_map {
    uint32_t mrn, npages;
    uint64_t start, length, pages;
};

struct natural_gid_cmd {
    uint8_t gid[16];
    uint32_t gid_type;
    uint16_t index;
    uint32_t port_num;
};

struct natural_create {
    uint32_t pdn;
    uint8_t qp_type, sq_sig_type;
    uint32_t max_send_wr, max_send_sge, send_cqn, max_recv_wr, max_recv_sge, recv_cqn,
        max_inline_data;
};

struct place {
    const char *structure, *field;
    size_t offset;
};

#define AT(structure, type, field)                                                                 \
    {                                                                                              \
#structure, #field, offsetof(struct type, field)                                           \
    }
#define IN(structure, type, field, in_there)                                                       \
    {                                                                                              \
#structure, #field, offsetof(struct type, in_there)                                        \
    }

static const struct place places[] = {
    AT(sq_wqe, natural_wqe, num_sge),
    AT(sq_wqe, natural_wqe, send_flags),
    AT(sq_wqe, natural_wqe, opcode),
    AT(sq_wqe, natural_wqe, wr_id),
    AT(sq_wqe, natural_wqe, ex),
    AT(sq_wqe, natural_wqe, wr),
    AT(cqe, natural_cqe, wr_id),
    AT(cqe, natural_cqe, status),
    AT(cqe, natural_cqe, opcode),
    AT(cqe, natural_cqe, vendor_err),
    AT(cqe, natural_cqe, byte_len),
    AT(cqe, natural_cqe, ex),
    AT(cqe, natural_cqe, qp_num),
    AT(cqe, natural_cqe, src_qp),
    AT(cqe, natural_cqe, wc_flags),
    AT(cqe, natural_cqe, pkey_index),
    AT(cqe, natural_cqe, slid),
    AT(cqe, natural_cqe, sl),
    AT(cqe, natural_cqe, dlid_path_bits),
    AT(cqe, natural_cqe, port_num),
    AT(qp_attr, natural_attr, qkey),
    AT(qp_attr, natural_attr, qp_access_flags),
    AT(qp_attr, natural_attr, pkey_index),
    AT(qp_attr, natural_attr, en_sqd_async_notify),
    AT(qp_attr, natural_attr, alt_timeout),
    AT(qp_attr, natural_attr, rate_limit),
    IN(qp_attr, natural_attr, max_send_wr, cap),
    IN(qp_attr, natural_attr, ah_dgid, ah_attr),
    IN(qp_attr, natural_attr, ah_flow_label, ah_attr.grh.flow_label),
    IN(qp_attr, natural_attr, ah_traffic_class, ah_attr.grh.traffic_class),
    IN(qp_attr, natural_attr, ah_sl, ah_attr.sl),
    IN(qp_attr, natural_attr, ah_flags, ah_attr.ah_flags),
    IN(qp_attr, natural_attr, ah_dmac, ah_attr.dmac),
    IN(qp_attr, natural_attr, alt_ah, alt_ah_attr),
    AT(modify_qp, natural_modify, attr_mask),
    AT(modify_qp, natural_modify, attrs),
    AT(port_attr, natural_port, phys_mtu),
    AT(port_attr, natural_port, pkey_tbl_len),
    AT(port_attr, natural_port, active_width),
    AT(port_attr, natural_port, active_speed),
    AT(port_attr, natural_port, phys_state),
    AT(port_attr, natural_port, reserved),
    AT(reg_user_mr, natural_reg, start),
    AT(reg_user_mr, natural_reg, length),
    AT(reg_user_mr, natural_reg, virt_addr),
    AT(reg_user_mr, natural_reg, pages),
    AT(reg_user_mr, natural_reg, npages),
    AT(map_mr_sg, natural_map, pages),
    AT(add_gid, natural_gid_cmd, gid_type),
    AT(add_gid, natural_gid_cmd, index),
    AT(add_gid, natural_gid_cmd, port_num),
    AT(create_qp, natural_create, sq_sig_type),
    AT(create_qp, natural_create, max_send_wr),
    AT(create_qp, natural_create, max_inline_data),
    IN(wr_ud, natural_wqe, av_dgid, wr.ud.av.dgid),
    IN(wr_ud, natural_wqe, av_reserved, wr.ud.av.reserved),
    IN(wr_atomic, natural_wqe, rkey, wr.atomic.rkey),
};

/* The place of a field of the union is counted from the head of the WQE in natural_wqe. */
static size_t base_of(const char *structure)
{
    return strncmp(structure, "wr_", 3) == 0 ? offsetof(struct natural_wqe, wr) : 0;
}

static const struct row_field *field_of(const char *structure, const char *name)
{
    const struct row_struct *s = rfc_laid_out(structure, LAYOUT_DEMO);

    for (size_t i = 0; s && i < s->n_fields; i++) {
        if (strcmp(s->fields[i].name, name) == 0)
            return &s->fields[i];
    }
    fail_msg("%s has no %s", structure, name);
    return NULL;
}

static void fields_are_where_a_compiler_puts_them(void **state)
{
    (void)state;
#ifndef __x86_64__
    skip();
#endif
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct place *p = &places[i];

        if (field_of(p->structure, p->field)->offset != p->offset - base_of(p->structure))
            fail_msg("%s.%s is at %u", p->structure, p->field,
                     field_of(p->structure, p->field)->offset);
    }
    assert_int_equal(rfc_laid_out("sq_wqe", LAYOUT_DEMO)->bytes, sizeof(struct natural_wqe));
    assert_int_equal(rfc_laid_out("cqe", LAYOUT_DEMO)->bytes, sizeof(struct natural_cqe));
    assert_int_equal(rfc_laid_out("qp_attr", LAYOUT_DEMO)->bytes, sizeof(struct natural_attr));
    assert_int_equal(rfc_laid_out("modify_qp", LAYOUT_DEMO)->bytes, sizeof(struct natural_modify));
    assert_int_equal(rfc_laid_out("port_attr", LAYOUT_DEMO)->bytes, sizeof(struct natural_port));
    assert_int_equal(rfc_laid_out("reg_user_mr", LAYOUT_DEMO)->bytes, sizeof(struct natural_reg));
    assert_int_equal(rfc_laid_out("create_qp", LAYOUT_DEMO)->bytes, sizeof(struct natural_create));
}

/* What was measured of the demonstration itself. */
static void sizes_are_those_of_the_demonstration(void **state)
{
    static const struct {
        const char *name;
        size_t spec, demo;
    } rows[] = {
        {"config", 640, 131},  {"sq_wqe", 75, 88},      {"rq_wqe", 12, 16},
        {"cqe", 38, 48},       {"sge", 16, 16},         {"port_attr", 161, 172},
        {"qp_attr", 129, 160}, {"modify_qp", 137, 168}, {"create_qp", 66, 36},
        {"add_gid", 26, 28},   {"del_gid", 6, 8},       {"query_pkey", 6, 8},
        {"query_port", 1, 4},  {"map_mr_sg", 32, 32},   {"reg_user_mr", 44, 48},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(rfc_laid_out(rows[i].name, LAYOUT_SPEC)->bytes, rows[i].spec);
        assert_int_equal(rfc_laid_out(rows[i].name, LAYOUT_DEMO)->bytes, rows[i].demo);
    }
    assert_int_equal(field_of("config", "atomic_cap")->offset, 96);
    assert_int_equal(field_of("config", "atomic_cap")->bytes, 4);
    assert_int_equal(field_of("config", "max_mw")->offset, 100);
    assert_int_equal(field_of("config", "max_pkeys")->offset, 128);
    assert_int_equal(field_of("config", "local_ca_ack_delay")->offset, 130);
    assert_null(rfc_laid_out("wr_bind", LAYOUT_DEMO)); /* an extension of ours */
}

/* Every byte of the spec's layout is different, so that none can be mistaken for another. */
static void what_goes_there_comes_back(void **state)
{
    static const char *const names[] = {"rq_wqe",    "sge",       "add_gid", "reg_user_mr",
                                        "map_mr_sg", "create_cq", "mr_keys", "query_qp",
                                        "wr_ud",     "wr_atomic"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const size_t n = rfc_find(names[i])->bytes;
        uint8_t in[RFC_DEMO_BYTES_MAX], demo[RFC_DEMO_BYTES_MAX], back[RFC_DEMO_BYTES_MAX];

        for (size_t k = 0; k < n; k++)
            in[k] = (uint8_t)(k + 1);
        rfc_relay(names[i], WR_FORM_NONE, LAYOUT_SPEC, in, LAYOUT_DEMO, demo);
        rfc_relay(names[i], WR_FORM_NONE, LAYOUT_DEMO, demo, LAYOUT_SPEC, back);
        assert_memory_equal(in, back, n);
    }
}

static void a_datagram_keeps_its_address(void **state)
{
    struct raw_sq_wqe wqe, back;
    const struct rfc_wr_ud ud = {.remote_qpn = 5,
                                 .remote_qkey = 9,
                                 .av_dgid = {0xfe, 0x80, 1},
                                 .av_dmac = {2, 0, 0, 0, 0, 7}};
    struct rfc_sq_wqe w = {.num_sge = 1, .opcode = WR_SEND, .wr_id = 0x1122334455667788};
    uint8_t demo[RFC_DEMO_BYTES_MAX];

    (void)state;
    rfc_wr_ud_put((struct raw_wr_ud *)w.wr, &ud);
    rfc_sq_wqe_put(&wqe, &w);
    rfc_relay("sq_wqe", WR_FORM_UD, LAYOUT_SPEC, (const uint8_t *)&wqe, LAYOUT_DEMO, demo);
    assert_int_equal(ld_le64(demo + 16), 0x1122334455667788);
    assert_int_equal(ld_le32(demo + 32), 5); /* the union begins at 32 */
    assert_int_equal(demo[32 + 8 + 12], 0xfe);
    rfc_relay("sq_wqe", WR_FORM_UD, LAYOUT_DEMO, demo, LAYOUT_SPEC, (uint8_t *)&back);
    assert_memory_equal(&wqe, &back, sizeof(wqe));
}

static void attributes_are_relayed_in_their_request(void **state)
{
    struct rfc_modify_qp r = {.qpn = 3, .attr_mask = QPA_STATE};
    const struct rfc_qp_attr a = {.qp_state = QPS_RTS, .timeout = 14, .ah_sl = 3, .rate_limit = 9};
    struct raw_modify_qp in, back;
    uint8_t demo[RFC_DEMO_BYTES_MAX];

    (void)state;
    rfc_qp_attr_put((struct raw_qp_attr *)r.attrs, &a);
    rfc_modify_qp_put(&in, &r);
    rfc_relay("modify_qp", WR_FORM_NONE, LAYOUT_SPEC, (const uint8_t *)&in, LAYOUT_DEMO, demo);
    assert_int_equal(ld_le32(demo + 8), QPS_RTS);
    assert_int_equal(demo[8 + 104], 3); /* the service level, behind the padding of the GRH */
    rfc_relay("modify_qp", WR_FORM_NONE, LAYOUT_DEMO, demo, LAYOUT_SPEC, (uint8_t *)&back);
    assert_memory_equal(&in, &back, sizeof(in));
}

static void the_flag_of_an_invalidated_key_is_another_one(void **state)
{
    const struct rfc_cqe c = {.status = 5, .opcode = WC_RECV, .wc_flags = WCF_WITH_INV | 1};
    struct raw_cqe in, back;
    uint8_t demo[RFC_DEMO_BYTES_MAX];

    (void)state;
    rfc_cqe_put(&in, &c);
    rfc_relay("cqe", WR_FORM_NONE, LAYOUT_SPEC, (const uint8_t *)&in, LAYOUT_DEMO, demo);
    assert_int_equal(ld_le32(demo + 8), 5); /* four bytes there */
    assert_int_equal(ld_le32(demo + 36), 5);
    rfc_relay("cqe", WR_FORM_NONE, LAYOUT_DEMO, demo, LAYOUT_SPEC, (uint8_t *)&back);
    assert_memory_equal(&in, &back, sizeof(in));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_where_a_compiler_puts_them),
        cmocka_unit_test(sizes_are_those_of_the_demonstration),
        cmocka_unit_test(what_goes_there_comes_back),
        cmocka_unit_test(a_datagram_keeps_its_address),
        cmocka_unit_test(attributes_are_relayed_in_their_request),
        cmocka_unit_test(the_flag_of_an_invalidated_key_is_another_one),
    };

    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
