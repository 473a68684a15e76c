/* SPDX-License-Identifier: MIT */
/* The parser reads every field that a fault can change at the position and width of its row. */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/roce.h"
#include "emu/wire/field.h"
#include "emu/wire/glance.h"
#include "emu/wire/mad.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"

#define FRAME_BYTES     256u
#define MAD_FRAME_BYTES 512u

/* A packet of @opcode whose fields all differ from each other. */
static size_t build(uint8_t opcode, unsigned version, uint8_t *frame)
{
    struct packet p = {
        .ip = {.version = (uint8_t)version, .ttl = 64, .tclass = 0x54},
        .udp_src_port = 0xc123,
        .bth = {.opcode = opcode, .pkey = 0x8abc, .dest_qpn = 0x112233, .psn = {0x445566}},
        .deth = {0x01020304, 0x0a0b0c},
        .feth = {FETH_PERSISTENT, FETH_REGION},
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
    {WF_PLACEMENT, OP_RC_FLUSH, 2, 15},
    {WF_SELECTIVITY, OP_RC_FLUSH, 1, 3},
    {WF_VA, OP_RC_FLUSH, 0x1122334455667788, UINT64_MAX},
    {WF_LENGTH, OP_RC_FLUSH, 0x30, 0xffffffff},
    {WF_RKEY, OP_RC_ATOMIC_WRITE, 0x99aabbcc, 0xffffffff},
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

/* A datagram from QPN 1 to QPN 1 with the MAD @m. */
static size_t build_mad(const struct mad *m, uint8_t *frame)
{
    struct packet p = {
        .ip = {.version = 6, .ttl = 64},
        .bth = {.opcode = OP_UD_SEND_ONLY, .pkey = 0xffff, .dest_qpn = QPN_GSI},
        .deth = {QKEY_GSI, QPN_GSI},
        .payload_bytes = MAD_BYTES,
    };
    const size_t n = packet_frame_bytes(&p);

    assert_true(n <= MAD_FRAME_BYTES);
    mad_build(m, packet_build(&p, frame));
    packet_finish(frame, n);
    return n;
}

/* The message with the layout @part; that of the header and of the addresses is a REQ. */
static uint32_t message_of(uint32_t part)
{
    uint32_t message = CM_REQ;

    while (message < CM_SIDR_REP && mad_body(message) != &mad_layouts[part])
        message++;
    return mad_body(message) == &mad_layouts[part] ? message : (uint32_t)CM_REQ;
}

/* Each number of each structure has a name of its own, and is found in the messages that have it,
 * at the place where mad_parse() reads it.
 */
static void numbers_of_a_mad_are_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < enum_wire_field.n_rows; i++) {
        const struct enum_row *r = &enum_wire_field.rows[i];
        const enum wire_field_id id = (enum wire_field_id)r->value;
        struct mad m = {.head = {.base_version = MAD_BASE_VERSION,
                                 .mgmt_class = MAD_CLASS_CM,
                                 .class_version = MAD_CM_CLASS_VERSION,
                                 .method = MAD_METHOD_SEND}};
        uint8_t frame[MAD_FRAME_BYTES], before[MAD_FRAME_BYTES];
        struct field_place at;
        size_t n;

        assert_true(enum_by_value(&enum_wire_field, r->value) == r);
        assert_true(enum_by_name(&enum_wire_field, r->name) == r);
        if (!WF_IS_MAD(r->value))
            continue;
        m.head.attr_id = message_of(WF_MAD_PART(r->value));
        if (m.head.attr_id == CM_REQ)
            m.u.req.service_id = (uint64_t)PORT_SPACE_TCP << 16;
        n = build_mad(&m, frame);
        at = field_place(id, frame, n);
        if (at.bytes == 0)
            fail_msg("%s", r->name);
        memcpy(before, frame, n);
        field_put(&at, frame, field_max(id));
        assert_true(field_get(&at, frame) == field_max(id) && field_max(id) > 0);
        assert_true(
            memcmp(frame, before, at.at) == 0 &&
            memcmp(frame + at.at + at.bytes, before + at.at + at.bytes, n - at.at - at.bytes) == 0);
    }
}

static void a_message_has_no_fields_of_another_one(void **state)
{
    const enum wire_field_id reason =
        (enum wire_field_id)enum_by_name(&enum_wire_field, "rej_reason")->value;
    const enum wire_field_id port =
        (enum wire_field_id)enum_by_name(&enum_wire_field, "rdma_cm_port")->value;
    struct mad m = {
        .head = {MAD_BASE_VERSION, MAD_CLASS_CM, MAD_CM_CLASS_VERSION, .attr_id = CM_REJ}};
    uint8_t frame[MAD_FRAME_BYTES];
    struct field_place at;
    size_t n;

    (void)state;
    m.u.rej.reason = 28;
    n = build_mad(&m, frame);
    at = field_place(reason, frame, n);
    assert_int_equal(field_get(&at, frame), 28);
    assert_true(field_words(reason) == &enum_cm_reason && !field_words(port));
    at = field_place(WF_CM, frame, n);
    assert_int_equal(field_get(&at, frame), CM_REJ);
    assert_true(field_words(WF_CM) == &enum_cm_message && glance(frame, n).cm == CM_REJ);
    assert_int_equal(field_place(port, frame, n).bytes, 0);
    m.head.attr_id = CM_REQ; /* to a service that has no ports */
    n = build_mad(&m, frame);
    assert_int_equal(field_place(reason, frame, n).bytes, 0);
    assert_int_equal(field_place(port, frame, n).bytes, 0);
    m.head.mgmt_class = MAD_CLASS_CM + 1;
    n = build_mad(&m, frame);
    assert_int_equal(field_place(WF_CM, frame, n).bytes, 0);
    assert_int_equal(glance(frame, n).cm, 0);
    n = build(OP_UD_SEND_ONLY, 4, frame); /* to another queue pair */
    assert_int_equal(field_place(WF_CM, frame, n).bytes, 0);
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
        cmocka_unit_test(numbers_of_a_mad_are_fields),
        cmocka_unit_test(a_message_has_no_fields_of_another_one),
        cmocka_unit_test(a_mark_harms_no_checksum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
