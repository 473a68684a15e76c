/* SPDX-License-Identifier: MIT */
/* The parser reads every field that a fault can change at the position and width of its row. */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/opcode.h"
#include "emu/wire/field.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"

#define FRAME_BYTES 256u

/* A packet of @opcode whose fields all differ from each other. */
static size_t build(uint8_t opcode, unsigned version, uint8_t *frame)
{
    struct packet p = {
        .ip = {.version = (uint8_t)version, .ttl = 64, .tclass = 0x54},
        .udp_src_port = 0xc123,
        .bth = {.opcode = opcode, .pkey = 0x8abc, .dest_qpn = 0x112233, .psn = {0x445566}},
        .deth = {0x01020304, 0x0a0b0c},
        .reth = {0x1122334455667788, 0x99aabbcc, 0x30},
        .atomic = {0x1122334455667788, 0x99aabbcc, 7, 8},
        .aeth = {0x1f, 0x123456},
        .atomic_ack = 0x77,
        .ieth_rkey = 0x5678,
        .imm_data = {1, 2, 3, 4},
        .payload_bytes = op_info(opcode)->kind == OPK_SEND ? 8 : 0,
    };
    const size_t n = packet_frame_bytes(&p);

    assert_true(n <= FRAME_BYTES);
    if (version == 4)
        memcpy(p.ip.src, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1", 16);
    if (version == 4)
        memcpy(p.ip.dst, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\2", 16);
    memset(packet_build(&p, frame), 0x5a, p.payload_bytes);
    packet_finish(frame, n);
    return n;
}

struct row {
    enum wire_field_id field;
    uint8_t opcode;
    uint64_t value, max;
};

static const struct row rows[] = {
    {WF_DSCP, OP_RC_SEND_ONLY, 0x15, 63},
    {WF_ECN, OP_RC_SEND_ONLY, 0, 3},
    {WF_TTL, OP_RC_SEND_ONLY, 64, 255},
    {WF_UDP_SRC_PORT, OP_RC_SEND_ONLY, 0xc123, 65535},
    {WF_UDP_DST_PORT, OP_RC_SEND_ONLY, 4791, 65535},
    {WF_OPCODE, OP_RC_SEND_ONLY, OP_RC_SEND_ONLY, 255},
    {WF_PAD, OP_RC_SEND_ONLY, 0, 3},
    {WF_PKEY, OP_RC_SEND_ONLY, 0x8abc, 0xffff},
    {WF_DEST_QPN, OP_RC_SEND_ONLY, 0x112233, 0xffffff},
    {WF_ACKREQ, OP_RC_SEND_ONLY, 0, 1},
    {WF_PSN, OP_RC_SEND_ONLY, 0x445566, 0xffffff},
    {WF_QKEY, OP_UD_SEND_ONLY, 0x01020304, 0xffffffff},
    {WF_SRC_QPN, OP_UD_SEND_ONLY, 0x0a0b0c, 0xffffff},
    {WF_VA, OP_RC_RDMA_READ_REQUEST, 0x1122334455667788, UINT64_MAX},
    {WF_RKEY, OP_RC_RDMA_READ_REQUEST, 0x99aabbcc, 0xffffffff},
    {WF_LENGTH, OP_RC_RDMA_READ_REQUEST, 0x30, 0xffffffff},
    {WF_VA, OP_RC_COMPARE_SWAP, 0x1122334455667788, UINT64_MAX},
    {WF_RKEY, OP_RC_COMPARE_SWAP, 0x99aabbcc, 0xffffffff},
    {WF_SWAP_ADD, OP_RC_COMPARE_SWAP, 7, UINT64_MAX},
    {WF_COMPARE, OP_RC_COMPARE_SWAP, 8, UINT64_MAX},
    {WF_SYNDROME, OP_RC_ACKNOWLEDGE, 0x1f, 255},
    {WF_MSN, OP_RC_ATOMIC_ACKNOWLEDGE, 0x123456, 0xffffff},
    {WF_ORIGINAL, OP_RC_ATOMIC_ACKNOWLEDGE, 0x77, UINT64_MAX},
    {WF_IMM, OP_RC_SEND_ONLY_WITH_IMM, 0x01020304, 0xffffffff},
    {WF_INV_RKEY, OP_RC_SEND_ONLY_WITH_INVALIDATE, 0x5678, 0xffffffff},
    {WF_PAYLOAD, OP_RC_SEND_ONLY, 0x5a, 255},
};

static void fields_are_where_the_parser_reads_them(void **state)
{
    static const unsigned versions[] = {4, 6};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows) * 2; i++) {
        const struct row *r = &rows[i / 2];
        uint8_t frame[FRAME_BYTES];
        const size_t n = build(r->opcode, versions[i % 2], frame);
        const struct field_place at = field_place(r->field, frame, n);

        if (at.bytes == 0 || field_get(&at, frame) != r->value)
            fail_msg("%s of opcode 0x%02x", enum_name(&enum_wire_field, r->field), r->opcode);
        assert_true(field_max(r->field) == r->max);
    }
}

static void what_is_put_is_read_and_nothing_else_changes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t frame[FRAME_BYTES], before[FRAME_BYTES];
        const size_t n = build(rows[i].opcode, 4, frame);
        const struct field_place at = field_place(rows[i].field, frame, n);

        memcpy(before, frame, n);
        field_put(&at, frame, rows[i].max);
        assert_true(field_get(&at, frame) == rows[i].max);
        field_put(&at, frame, rows[i].value);
        assert_memory_equal(frame, before, n);
        field_flip(&at, frame);
        assert_true(field_get(&at, frame) == (rows[i].value ^ 1));
    }
}

static void a_frame_has_only_the_fields_of_its_opcode(void **state)
{
    uint8_t frame[FRAME_BYTES];
    const size_t n = build(OP_RC_ACKNOWLEDGE, 4, frame);

    (void)state;
    assert_int_equal(field_place(WF_RKEY, frame, n).bytes, 0);
    assert_int_equal(field_place(WF_PAYLOAD, frame, n).bytes, 0);
    assert_int_equal(field_place(WF_PSN, frame, 40).bytes, 0); /* it is cut */
    assert_int_equal(field_place(WF_ICRC, frame, n).at, n - ICRC_BYTES);
    assert_true(field_max(WF_NONE) == 0);
}

/* The checksum of IPv4 is right again, and the ICRC was right all the time: it leaves ECN out. */
static void a_mark_harms_no_checksum(void **state)
{
    static const unsigned versions[] = {4, 6};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        uint8_t frame[FRAME_BYTES];
        const size_t n = build(OP_RC_SEND_ONLY, versions[i], frame);
        struct packet p;

        assert_true(field_is_ip(frame, n));
        field_mark(frame, n);
        assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
        assert_int_equal(p.ip.tclass & 3, ECN_CE);
        assert_int_equal(p.ip.tclass >> 2, 0x15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_where_the_parser_reads_them),
        cmocka_unit_test(what_is_put_is_read_and_nothing_else_changes),
        cmocka_unit_test(a_frame_has_only_the_fields_of_its_opcode),
        cmocka_unit_test(a_mark_harms_no_checksum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
