/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/facts/rfc.h"

/* Offsets and sizes that the RFC's text gives when it is read packed (virtio 1.2, 1.4). */
static const struct {
    const char *structure, *field;
    size_t offset, bytes;
} places[] = {
    {"config", "phys_port_cnt", 0, 4},
    {"config", "sys_image_guid", 4, 8},
    {"config", "max_qp", 40, 4},
    {"config", "device_cap_flags", 48, 8},
    {"config", "max_send_sge", 56, 4},
    {"config", "max_cq", 68, 4},
    {"config", "atomic_cap", 96, 1},
    {"config", "max_mw", 97, 4},
    {"config", "max_pkeys", 125, 2},
    {"config", "local_ca_ack_delay", 127, 1},
    {"config", "reserved", 128, 512},
    {"port_attr", "phys_mtu", 3, 4},
    {"port_attr", "pkey_tbl_len", 27, 2},
    {"port_attr", "phys_state", 32, 1},
    {"port_attr", "reserved", 33, 128},
    {"reg_user_mr", "virt_addr", 24, 8},
    {"reg_user_mr", "npages", 40, 4},
    {"mr_keys", "rkey", 8, 4},
    {"create_mr", "max_num_sg", 8, 4},
    {"map_mr_sg", "start", 8, 8},
    {"map_mr_sg", "pages", 24, 8},
    {"rereg_mr", "start", 16, 8},
    {"rereg_mr", "npages", 48, 4},
    {"create_qp", "max_send_wr", 6, 4},
    {"create_qp", "recv_cqn", 26, 4},
    {"create_qp", "srqn", 34, 4},
    {"create_qp", "reserved", 38, 24},
    {"create_qp", "create_flags", 62, 4}, /* ours: the last of the reserved words */
    {"qp_attr", "qkey", 4, 4},
    {"qp_attr", "dest_qp_num", 16, 4},
    {"qp_attr", "pkey_index", 24, 2},
    {"qp_attr", "min_rnr_timer", 32, 1},
    {"qp_attr", "rate_limit", 39, 4},
    {"qp_attr", "ah_dgid", 63, 16},
    {"qp_attr", "ah_dmac", 90, 6},
    {"qp_attr", "alt_ah", 96, 33},
    {"modify_qp", "attr_mask", 4, 4},
    {"modify_qp", "attrs", 8, 129},
    {"add_gid", "gid_type", 16, 4},
    {"add_gid", "index", 20, 2},
    {"add_gid", "port_num", 22, 4},
    {"del_gid", "port", 2, 4},
    {"sq_wqe", "num_sge", 0, 4},
    {"sq_wqe", "send_flags", 4, 4},
    {"sq_wqe", "opcode", 8, 4},
    {"sq_wqe", "wr_id", 12, 8},
    {"sq_wqe", "ex", 20, 4},
    {"sq_wqe", "wr", 24, 51},
    {"wr_rdma", "remote_addr", 0, 8},
    {"wr_rdma", "rkey", 8, 4},
    {"wr_atomic", "remote_addr", 0, 8},
    {"wr_atomic", "compare_add", 8, 8},
    {"wr_atomic", "swap", 16, 8},
    {"wr_atomic", "rkey", 24, 4},
    {"wr_ud", "remote_qpn", 0, 4},
    {"wr_ud", "remote_qkey", 4, 4},
    {"wr_ud", "av_port", 8, 4},
    {"wr_ud", "av_pdn", 12, 4},
    {"wr_ud", "av_sl_tclass_flowlabel", 16, 4},
    {"wr_ud", "av_dgid", 20, 16},
    {"wr_ud", "av_gid_index", 36, 1},
    {"wr_ud", "av_static_rate", 37, 1},
    {"wr_ud", "av_hop_limit", 38, 1},
    {"wr_ud", "av_dmac", 39, 6},
    {"wr_ud", "av_reserved", 45, 6},
    {"wr_reg", "mrn", 0, 4},
    {"wr_reg", "key", 4, 4},
    {"wr_reg", "access", 8, 4},
    {"wr_reg_list", "access", 8, 4},
    {"wr_reg_list", "pages", 12, 8},
    {"wr_reg_list", "npages", 20, 4},
    {"wr_reg_list", "start", 24, 8},
    {"wr_reg_list", "length", 32, 8},
    {"wr_bind", "mw_rkey", 0, 4},
    {"wr_bind", "rkey", 4, 4},
    {"wr_bind", "mr_lkey", 8, 4},
    {"wr_bind", "access", 12, 4},
    {"wr_bind", "addr", 16, 8},
    {"wr_bind", "length", 24, 8},
    {"wr_bind", "type", 32, 1},
    {"rq_wqe", "wr_id", 4, 8},
    {"sge", "addr", 0, 8},
    {"sge", "length", 8, 4},
    {"sge", "lkey", 12, 4},
    {"cqe", "wr_id", 0, 8},
    {"cqe", "status", 8, 1},
    {"cqe", "opcode", 9, 1},
    {"cqe", "vendor_err", 10, 4},
    {"cqe", "byte_len", 14, 4},
    {"cqe", "ex", 18, 4},
    {"cqe", "qp_num", 22, 4},
    {"cqe", "src_qp", 26, 4},
    {"cqe", "wc_flags", 30, 4},
    {"cqe", "pkey_index", 34, 2},
    {"cqe", "sl", 36, 1},
    {"cqe", "port_num", 37, 1},
};

static void fields_are_where_the_rfc_puts_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct row_struct *s = rfc_find(places[i].structure);
        const struct row_field *f = NULL;

        assert_non_null(s);
        for (size_t k = 0; k < s->n_fields; k++) {
            if (strcmp(s->fields[k].name, places[i].field) == 0)
                f = &s->fields[k];
        }
        assert_non_null(f);
        assert_int_equal(f->offset, places[i].offset);
        assert_int_equal(f->bytes, places[i].bytes);
    }
}

static void structures_have_the_sizes_of_the_rfc(void **state)
{
    static const struct {
        const char *name;
        size_t bytes;
    } rows[] = {
        {"config", 640},     {"query_port", 1}, {"port_attr", 161}, {"create_cq", 4},
        {"reg_user_mr", 44}, {"mr_keys", 12},   {"create_qp", 66},  {"qp_attr", 129},
        {"modify_qp", 137},  {"query_qp", 8},   {"query_pkey", 6},  {"pkey", 2},
        {"add_gid", 26},     {"del_gid", 6},    {"req_notify", 8},  {"sq_wqe", 75},
        {"rq_wqe", 12},      {"sge", 16},       {"cqe", 38},        {"wr_rdma", 12},
        {"wr_atomic", 28},   {"wr_ud", 51},     {"wr_reg", 12},     {"wr_reg_list", 40},
        {"wr_bind", 33},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row_struct *s = rfc_find(rows[i].name);

        assert_non_null(s);
        assert_int_equal(s->bytes, rows[i].bytes);
    }
    assert_null(rfc_find("no_such_structure"));
}

/* No gap, no overlap, nothing beyond the last field. */
static void check_dense(const char *name, size_t raw_bytes)
{
    const struct row_struct *s = rfc_find(name);
    size_t at = 0;

    assert_non_null(s);
    for (size_t i = 0; i < s->n_fields; i++) {
        assert_int_equal(s->fields[i].offset, at);
        assert_true(s->fields[i].type == 'i' || s->fields[i].type == 'b');
        at += s->fields[i].bytes;
    }
    assert_int_equal(s->bytes, at);
    assert_int_equal(raw_bytes, at);
}

static void fields_fill_their_structures(void **state)
{
    (void)state;
#define CHECK(name, list) check_dense(#name, sizeof(struct raw_##name));
    RFC_STRUCTS(CHECK)
#undef CHECK
}

static void fill(void *bytes, size_t n, unsigned start)
{
    uint8_t *b = bytes;

    for (size_t i = 0; i < n; i++)
        b[i] = (uint8_t)(start + i * 7);
}

/* For each structure: any bytes that are decoded and encoded again are the same bytes. */
#define ROUND_TRIP(name, list)                                                                     \
    static void round_trip_##name(unsigned start)                                                  \
    {                                                                                              \
        struct raw_##name raw, again;                                                              \
        struct rfc_##name decoded;                                                                 \
                                                                                                   \
        fill(&raw, sizeof(raw), start);                                                            \
        fill(&again, sizeof(again), start + 1);                                                    \
        rfc_##name##_get(&decoded, &raw);                                                          \
        rfc_##name##_put(&again, &decoded);                                                        \
        assert_memory_equal(&raw, &again, sizeof(raw));                                            \
    }
RFC_STRUCTS(ROUND_TRIP)

static void every_structure_survives_a_round_trip(void **state)
{
    (void)state;
    for (unsigned start = 0; start < 256; start += 17) {
#define CALL(name, list) round_trip_##name(start);
        RFC_STRUCTS(CALL)
#undef CALL
    }
}

static void integers_are_little_endian_and_bytes_are_raw(void **state)
{
    static const uint8_t bytes[38] = {
        1,           2,           3,  4,  5, 6, 7, 8, /* wr_id */
        9,           10,                              /* status, opcode */
        11,          12,          13, 14,             /* vendor_err */
        15,          16,          17, 18,             /* byte_len */
        19,          20,          21, 22,             /* ex */
        [34] = 0x34, [35] = 0x12,
    };
    struct raw_cqe raw;
    struct rfc_cqe c;

    (void)state;
    assert_int_equal(sizeof(raw), sizeof(bytes));
    memcpy(&raw, bytes, sizeof(raw));
    rfc_cqe_get(&c, &raw);
    assert_true(c.wr_id == 0x0807060504030201u);
    assert_int_equal(c.status, 9);
    assert_int_equal(c.opcode, 10);
    assert_int_equal(c.vendor_err, 0x0e0d0c0b);
    assert_int_equal(c.byte_len, 0x1211100f);
    assert_memory_equal(c.ex, bytes + 18, 4);
    assert_int_equal(c.pkey_index, 0x1234);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_where_the_rfc_puts_them),
        cmocka_unit_test(structures_have_the_sizes_of_the_rfc),
        cmocka_unit_test(fields_fill_their_structures),
        cmocka_unit_test(every_structure_survives_a_round_trip),
        cmocka_unit_test(integers_are_little_endian_and_bytes_are_raw),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
