/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum/lnet_op.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/lnet.h"
#include "emu/wire/lnet_rows.h"
#include "lnet_bytes.h"

/* --- Rejects ---------------------------------------------------------------------------------- */

static void a_reject_of_24_bytes_has_parameters(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct bytes b = {.big = big};
        struct lnet_reject r;
        uint8_t again[LNET_REJECT_BYTES];

        put(&b, 0, 4, 0x0be91b91);
        put(&b, 4, 2, 0x12);
        b.v[6] = 7;
        put(&b, 8, 8, 0x0006123456789abc);
        put(&b, 16, 2, 8);
        put(&b, 18, 2, 255);
        put(&b, 20, 4, 4096);
        assert_true(lnet_reject_parse(b.v, 148, &r));
        assert_int_equal(r.big_endian, big);
        assert_int_equal(r.magic, LNET_MAGIC);
        assert_int_equal(r.version, 0x12);
        assert_int_equal(r.why, LNET_WHY_MSG_QUEUE_SIZE);
        assert_true(r.has_params);
        assert_int_equal(r.stamp, 0x0006123456789abc);
        assert_int_equal(r.conn.queue_depth, 8);
        assert_int_equal(r.conn.max_frags, 255);
        assert_int_equal(r.conn.max_msg_size, 4096);
        assert_int_equal(lnet_reject_build(&r, again), 24);
        assert_memory_equal(again, b.v, 24);
        assert_true(lnet_reject_parse(b.v, 24, &r));
        assert_true(r.has_params);
        assert_true(lnet_reject_parse(b.v, 23, &r));
        assert_false(r.has_params);
    }
}

static void a_reject_of_7_bytes_has_none(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct bytes b = {.big = big};
        struct lnet_reject r;
        uint8_t again[LNET_REJECT_BYTES] = {0};

        put(&b, 0, 4, 0x0be91b91);
        put(&b, 4, 2, 0x11);
        b.v[6] = 1;
        assert_true(lnet_reject_parse(b.v, 7, &r));
        assert_int_equal(r.version, 0x11);
        assert_int_equal(r.why, LNET_WHY_CONN_RACE);
        assert_false(r.has_params);
        assert_int_equal(lnet_reject_build(&r, again), 7);
        assert_memory_equal(again, b.v, 24);
        put(&b, 16, 2, 8); /* a REJ has 148 bytes, and version 1 no parameters in them */
        assert_true(lnet_reject_parse(b.v, 148, &r));
        assert_false(r.has_params);
        assert_int_equal(r.conn.queue_depth, 0);
        put(&b, 0, 4, 0x45726963);
        assert_true(lnet_reject_parse(b.v, 7, &r));
        assert_int_equal(r.magic, LNET_PROTO_MAGIC);
        assert_int_equal(r.big_endian, big);
        for (size_t n = 0; n < 7; n++)
            assert_false(lnet_reject_parse(b.v, n, &r));
        put(&b, 0, 4, 0x45726964);
        assert_false(lnet_reject_parse(b.v, 148, &r));
    }
}

/* --- NIDs ------------------------------------------------------------------------------------- */

static void nids_as_text(void **state)
{
    static const struct {
        uint64_t nid;
        const char *text;
    } rows[] = {
        {0x000500000a000001, "10.0.0.1@o2ib"},
        {0x000500030a000102, "10.0.1.2@o2ib3"},
        {0x0005ffffffffffff, "255.255.255.255@o2ib65535"},
        {0x0005000000000000, "0.0.0.0@o2ib"},
    };
    static const char *const wrong[] = {"",
                                        "10.0.0.1",
                                        "@o2ib",
                                        "10.0.0.1@tcp",
                                        "10.0.0@o2ib",
                                        "h1@o2ib",
                                        "10.0.0.1@o2ibx",
                                        "10.0.0.1@o2ib-1",
                                        "10.0.0.1@o2ib65536",
                                        "10.0.0.1@o2ib03",
                                        "::1@o2ib",
                                        "10.0.0.256@o2ib",
                                        " 10.0.0.1@o2ib",
                                        "10.0.0.1@o2ib ",
                                        "10.0.0.1 @o2ib",
                                        "10.0.0.1.10.0.0.1@o2ib"};
    char text[LNET_NID_TEXT_MAX];
    uint64_t nid = 17;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_string_equal(lnet_nid_text(rows[i].nid, text), rows[i].text);
        assert_true(lnet_nid_parse(rows[i].text, &nid));
        assert_int_equal(nid, rows[i].nid);
    }
    assert_true(lnet_nid_parse("10.0.0.1@o2ib0", &nid));
    assert_int_equal(nid, lnet_nid(0, 0x0a000001));
    nid = 17;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(lnet_nid_parse(wrong[i], &nid));
    assert_int_equal(nid, 17);
    assert_string_equal(lnet_nid_text(0x000200000a000001, text), "0x200000a000001"); /* tcp */
    assert_string_equal(lnet_nid_text(UINT64_MAX, text), "0xffffffffffffffff");
}

/* --- The rows --------------------------------------------------------------------------------- */

static void the_rows_of_a_part_cover_each_byte_once(void **state)
{
    (void)state;
    for (size_t p = 0; p < LNET_PART_COUNT; p++) {
        const struct lnet_layout *l = &lnet_layouts[p];
        uint8_t covered[64] = {0};

        assert_true(l->bytes <= sizeof(covered));
        for (size_t i = 0; i < l->n_fields; i++) {
            assert_true(l->fields[i].at + l->fields[i].bytes <= l->bytes);
            for (size_t b = 0; b < l->fields[i].bytes; b++)
                covered[l->fields[i].at + b]++;
        }
        for (size_t b = 0; b < l->bytes; b++)
            assert_int_equal(covered[b], 1);
    }
}

static void the_fixed_bytes_of_each_type(void **state)
{
    static const struct {
        enum lnet_msg_type type;
        size_t bytes;
    } rows[] = {
        {LNET_MSG_CONNREQ, 56},    {LNET_MSG_CONNACK, 56},  {LNET_MSG_NOOP, 48},
        {LNET_MSG_IMMEDIATE, 120}, {LNET_MSG_PUT_REQ, 128}, {LNET_MSG_PUT_NAK, 60},
        {LNET_MSG_PUT_ACK, 72},    {LNET_MSG_PUT_DONE, 60}, {LNET_MSG_GET_REQ, 136},
        {LNET_MSG_GET_DONE, 60},
    };

    (void)state;
    assert_int_equal(ARRAY_LEN(rows), enum_lnet_msg.n_rows);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(lnet_fixed_bytes(rows[i].type), rows[i].bytes);
    assert_int_equal(lnet_fixed_bytes(0xd8), 0);
}

/* The first bytes of a message are enough to walk over those parts that are there. */
static void a_walk_ends_where_the_bytes_end(void **state)
{
    static const struct {
        enum lnet_part part;
        size_t at;
    } all[] = {{LNET_PART_HEAD, 0},   {LNET_PART_HDR, 48},  {LNET_PART_GET, 80},
               {LNET_PART_REQ, 120},  {LNET_PART_RD, 128},  {LNET_PART_FRAG, 136},
               {LNET_PART_FRAG, 148}, {LNET_PART_FRAG, 160}};
    struct lnet_msg m;
    uint8_t bytes[LNET_MSG_BYTES_MAX];
    const size_t n = sample(LNET_MSG_GET_REQ, true, &m);

    (void)state;
    m.u.get_req.hdr.type = LNET_OP_GET;
    (void)lnet_build(&m, bytes);
    for (size_t k = 0; k <= n; k++) {
        struct lnet_walk w = lnet_walk(bytes, k);
        size_t i = 0, at;

        while (lnet_next(&w)) {
            assert_true(i < ARRAY_LEN(all));
            assert_int_equal(w.part, all[i].part);
            assert_int_equal(w.at, all[i].at);
            i++;
        }
        while (i < ARRAY_LEN(all))
            assert_true(all[i].at + lnet_layouts[all[i].part].bytes > k), i++;
        assert_int_equal(lnet_find_part(bytes, k, LNET_PART_RD, &at), k >= 136);
        assert_false(lnet_find_part(bytes, k, LNET_PART_DONE, &at));
    }
}

static void messages_are_known_by_their_first_bytes(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct bytes b = head(big, 0x11, 0xd2, 0);

        for (size_t n = 0; n <= 48; n++) {
            assert_int_equal(lnet_is_message(b.v, n), n >= 7);
            assert_int_equal(lnet_is_reject(b.v, n), n >= 7);
        }
        assert_int_equal(lnet_is_big_endian(b.v), big);
        put(&b, 4, 2, 0x10);
        assert_false(lnet_is_message(b.v, 48));
        put(&b, 4, 2, 0x12);
        assert_true(lnet_is_message(b.v, 48));
        b.v[6] = 0xc2;
        assert_false(lnet_is_message(b.v, 48));
        b.v[6] = 0xc1;
        put(&b, 0, 4, LNET_PROTO_MAGIC);
        assert_false(lnet_is_message(b.v, 48));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reject_of_24_bytes_has_parameters),
        cmocka_unit_test(a_reject_of_7_bytes_has_none),
        cmocka_unit_test(nids_as_text),
        cmocka_unit_test(the_rows_of_a_part_cover_each_byte_once),
        cmocka_unit_test(the_fixed_bytes_of_each_type),
        cmocka_unit_test(a_walk_ends_where_the_bytes_end),
        cmocka_unit_test(messages_are_known_by_their_first_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
