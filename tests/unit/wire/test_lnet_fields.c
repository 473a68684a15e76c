/* SPDX-License-Identifier: MIT */
/* The numbers in a message of o2iblnd are fields of its frame, by which faults select and change.
 */
#include "testing.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/field.h"
#include "emu/wire/lnet_gist.h"
#include "emu/wire/lnet_rows.h"
#include "emu/wire/vlan.h"
#include "lnet_frames.h"

static enum wire_field_id field_named(const char *name)
{
    const struct enum_row *row = enum_by_name(&enum_wire_field, name);

    assert_non_null(row);
    return (enum wire_field_id)row->value;
}

/* Expects that field @name of @frame is @v. */
static void expect(const uint8_t *frame, size_t n, const char *name, uint64_t v)
{
    const struct field_place at = field_place(field_named(name), frame, n);

    assert_true(at.bytes > 0);
    assert_int_equal(field_get(&at, frame), v);
}

static void expect_none(const uint8_t *frame, size_t n, const char *name)
{
    assert_int_equal(field_place(field_named(name), frame, n).bytes, 0);
}

/* Puts the largest value into field @id, and expects that no other byte changes. */
static void expect_put(uint8_t *frame, size_t n, enum wire_field_id id)
{
    const struct field_place at = field_place(id, frame, n);
    uint8_t before[LNET_FRAME_MAX];

    memcpy(before, frame, n);
    field_put(&at, frame, field_max(id));
    assert_true(field_get(&at, frame) == field_max(id) && field_max(id) > 0);
    memcpy(frame + at.at, before + at.at, at.bytes);
    assert_memory_equal(frame, before, n);
}

/* Each field of each part of a message is found in the frame, with its value. */
static unsigned look(uint8_t *frame, size_t n, const struct lnet_found *m, unsigned seen)
{
    for (struct lnet_walk w = lnet_walk(m->bytes, m->n); lnet_next(&w);) {
        const struct lnet_layout *l = &lnet_layouts[w.part];

        if (w.index > 0)
            continue; /* only the first fragment */
        seen |= 1u << w.part;
        for (size_t i = 0; i < l->n_fields; i++) {
            const struct lnet_field *f = &l->fields[i];
            const enum wire_field_id id = (enum wire_field_id)WF_OF_LNET(w.part, f->at);
            const struct field_place at = field_place(id, frame, n);

            if (!f->name)
                continue;
            assert_non_null(enum_by_value(&enum_wire_field, id));
            assert_int_equal(at.at, (size_t)(m->bytes - frame) + w.at + f->at);
            assert_int_equal(at.bytes, f->bytes);
            assert_int_equal(field_get(&at, frame),
                             lnet_field_get(l, f, m->bytes + w.at, w.big_endian));
            assert_ptr_equal(field_words(id), lnet_field_words(f));
            expect_put(frame, n, id);
        }
    }
    return seen;
}

static void each_number_of_each_message_is_a_field(void **state)
{
    unsigned seen = 0;

    (void)state;
    for (size_t i = 0; i < 2 * enum_lnet_msg.n_rows; i++) {
        for (uint32_t op = 0; op < enum_lnet_op.n_rows; op++) {
            struct lnet_msg m =
                lnet_sample((enum lnet_msg_type)enum_lnet_msg.rows[i / 2].value, i % 2);
            uint8_t frame[LNET_FRAME_MAX];
            struct lnet_found found;
            size_t n;

            if (m.type == LNET_MSG_IMMEDIATE)
                m.u.hdr.type = op;
            n = lnet_frame(&m, OP_RC_SEND_FIRST, UINT32_MAX, frame);
            assert_true(lnet_in_frame(frame, n, &found));
            seen |= look(frame, n, &found, 0);
        }
    }
    assert_int_equal(seen, (1u << LNET_PART_COUNT) - 1 - (1u << LNET_PART_REJECT));
}

static void names_begin_with_lnet_and_the_part(void **state)
{
    const struct lnet_msg m = lnet_sample(LNET_MSG_GET_REQ, false);
    uint8_t frame[LNET_FRAME_MAX];
    const size_t n = lnet_frame(&m, OP_RC_SEND_ONLY, UINT32_MAX, frame);

    (void)state;
    expect(frame, n, "lnet_type", LNET_MSG_GET_REQ);
    expect(frame, n, "lnet_credits", 1);
    expect(frame, n, "lnet_src_nid", lnet_nid(0, 0x0a000001));
    expect(frame, n, "lnet_hdr_op", LNET_OP_GET);
    expect(frame, n, "lnet_get_sink_bytes", 8192);
    expect(frame, n, "lnet_req_cookie", 0x2a);
    expect(frame, n, "lnet_rd_n_frags", 3);
    expect(frame, n, "lnet_frag_nob", 4096);
    expect_none(frame, n, "lnet_done_cookie");
    expect_none(frame, n, "lnet_put_match_bits");
    expect_none(frame, n, "lnet_reject_why");
    assert_int_equal(field_max(field_named("lnet_credits")), 255);
    assert_int_equal(field_max(field_named("lnet_req_cookie")), UINT64_MAX);
}

static void a_frame_with_a_tag_has_them_behind_it(void **state)
{
    const struct lnet_msg m = lnet_sample(LNET_MSG_PUT_DONE, true);
    uint8_t frame[LNET_FRAME_MAX];
    size_t n = lnet_frame(&m, OP_RC_SEND_ONLY, UINT32_MAX, frame);

    (void)state;
    vlan_push(frame, n, 5);
    n += VLAN_TAG_BYTES;
    expect(frame, n, "lnet_type", LNET_MSG_PUT_DONE);
    expect(frame, n, "lnet_done_cookie", 0x2b);
    expect(frame, n, "lnet_done_status", (uint32_t)-61);
}

static void private_data_has_them_too(void **state)
{
    const struct lnet_msg m = lnet_sample(LNET_MSG_CONNREQ, false);
    const struct lnet_reject reject = {.big_endian = true,
                                       .magic = LNET_MAGIC,
                                       .version = LNET_VERSION_2,
                                       .why = LNET_WHY_CONN_STALE,
                                       .has_params = true,
                                       .conn = {4, 5, 6}};
    uint8_t bytes[LNET_MSG_BYTES_MAX], frame[LNET_FRAME_MAX];
    size_t n = lnet_build(&m, bytes);

    (void)state;
    n = lnet_frame_cm(CM_REQ, 0x10603db, bytes, n, frame);
    expect(frame, n, "cm", CM_REQ);
    expect(frame, n, "lnet_type", LNET_MSG_CONNREQ);
    expect(frame, n, "lnet_conn_queue_depth", 8);
    expect_none(frame, n, "lnet_reject_why");
    n = lnet_frame_cm(CM_REJ, 0, bytes, lnet_reject_build(&reject, bytes), frame);
    expect(frame, n, "lnet_reject_why", LNET_WHY_CONN_STALE);
    expect(frame, n, "lnet_reject_queue_depth", 4);
    expect_none(frame, n, "lnet_type");
    bytes[0] ^= 1u;
    n = lnet_frame_cm(CM_REJ, 0, bytes, LNET_REJECT_BYTES, frame);
    expect_none(frame, n, "lnet_reject_why");
}

static void other_packets_have_none(void **state)
{
    const struct lnet_msg m = lnet_sample(LNET_MSG_NOOP, false);
    static const uint8_t others[] = {OP_RC_SEND_MIDDLE, OP_RC_SEND_LAST, OP_RC_RDMA_WRITE_ONLY,
                                     OP_UC_SEND_ONLY, OP_UD_SEND_ONLY};
    uint8_t frame[LNET_FRAME_MAX], bytes[LNET_MSG_BYTES_MAX];
    size_t n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        n = lnet_frame(&m, others[i], UINT32_MAX, frame);
        expect_none(frame, n, "lnet_type");
    }
    (void)lnet_build(&m, bytes);
    bytes[3] ^= 1u; /* the magic number */
    n = lnet_frame_of(OP_RC_SEND_ONLY, 17, bytes, LNET_HEAD_BYTES, frame);
    expect_none(frame, n, "lnet_type");
    n = lnet_frame_of(OP_RC_SEND_ONLY, 17, bytes, 0, frame);
    expect_none(frame, n, "lnet_type");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_of_each_message_is_a_field),
        cmocka_unit_test(names_begin_with_lnet_and_the_part),
        cmocka_unit_test(a_frame_with_a_tag_has_them_behind_it),
        cmocka_unit_test(private_data_has_them_too),
        cmocka_unit_test(other_packets_have_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
