/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/lnet_op.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/opcode.h"
#include "emu/wire/lnet_gist.h"
#include "lnet_frames.h"

#define LNET_SERVICE_ID 0x00000000010603dbu /* port 987 of port space TCP */

/* Expects that the message in @frame is @text; NULL: there is none. */
static void expect(const uint8_t *frame, size_t n, const char *text)
{
    struct lnet_found found;
    char buf[128];
    struct text t = text_on(buf, sizeof(buf));
    const bool is_there = lnet_in_frame(frame, n, &found);
    struct lnet_gist g;

    assert_int_equal(is_there, text != NULL);
    if (!is_there)
        return;
    g = lnet_gist_of(&found);
    lnet_gist_add(&t, &g);
    assert_string_equal(buf, text);
}

static void each_message_is_named_in_a_few_words(void **state)
{
    static const struct {
        enum lnet_msg_type type;
        const char *text;
    } rows[] = {
        {LNET_MSG_CONNREQ, "CONNREQ credits=1; depth=8 frags=256"},
        {LNET_MSG_CONNACK, "CONNACK credits=1; depth=8 frags=256"},
        {LNET_MSG_NOOP, "NOOP credits=1"},
        {LNET_MSG_IMMEDIATE, "IMMEDIATE credits=1; PUT bytes=0"},
        {LNET_MSG_PUT_REQ, "PUT_REQ credits=1 cookie=0x2a; PUT bytes=65536"},
        {LNET_MSG_PUT_NAK, "PUT_NAK credits=1 cookie=0x2b status=-61"},
        {LNET_MSG_PUT_ACK, "PUT_ACK credits=1 cookie=0x2a dst_cookie=0x2b; frags=3"},
        {LNET_MSG_PUT_DONE, "PUT_DONE credits=1 cookie=0x2b status=-61"},
        {LNET_MSG_GET_REQ, "GET_REQ credits=1 cookie=0x2a; GET bytes=8192 frags=3"},
        {LNET_MSG_GET_DONE, "GET_DONE credits=1 cookie=0x2b status=-61"},
    };

    (void)state;
    assert_int_equal(ARRAY_LEN(rows), enum_lnet_msg.n_rows);
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        const struct lnet_msg m = lnet_sample(rows[i / 2].type, i % 2);
        uint8_t frame[LNET_FRAME_MAX];

        expect(frame, lnet_frame(&m, 0x04, UINT32_MAX, frame), rows[i / 2].text);
    }
}

static void credits_are_named_if_there_are_some_and_in_a_noop(void **state)
{
    struct lnet_msg m = lnet_sample(LNET_MSG_PUT_DONE, false);
    uint8_t frame[LNET_FRAME_MAX];

    (void)state;
    m.credits = 0;
    m.u.done.status = 0;
    expect(frame, lnet_frame(&m, 0x04, UINT32_MAX, frame), "PUT_DONE cookie=0x2b status=0");
    m = lnet_sample(LNET_MSG_NOOP, false);
    m.credits = 0;
    expect(frame, lnet_frame(&m, 0x04, UINT32_MAX, frame), "NOOP credits=0");
}

/* A REPLY has the bytes of its payload, and an ACK tells how many were taken. */
static void an_ack_tells_how_many_bytes_were_taken(void **state)
{
    struct lnet_msg m = lnet_sample(LNET_MSG_IMMEDIATE, false);
    uint8_t frame[LNET_FRAME_MAX];

    (void)state;
    m.u.hdr.type = LNET_OP_ACK;
    m.u.hdr.payload_bytes = 0;
    m.u.hdr.u.ack.mlength = 4096;
    expect(frame, lnet_frame(&m, 0x04, UINT32_MAX, frame), "IMMEDIATE credits=1; ACK bytes=4096");
    m.u.hdr.type = LNET_OP_REPLY;
    m.u.hdr.payload_bytes = 100;
    expect(frame, lnet_frame(&m, 0x04, UINT32_MAX, frame), "IMMEDIATE credits=1; REPLY bytes=100");
}

/* The first packet of a longer message has the gist as far as it goes. */
static void a_first_packet_is_enough(void **state)
{
    static const struct {
        uint32_t bytes;
        const char *text;
    } rows[] = {
        {136, "GET_REQ credits=1 cookie=0x2a; GET bytes=8192 frags=3"},
        {135, "GET_REQ credits=1 cookie=0x2a; GET bytes=8192"},
        {127, "GET_REQ credits=1; GET bytes=8192"},
        {119, "GET_REQ credits=1; GET bytes=0"},
        {79, "GET_REQ credits=1"},
        {47, "GET_REQ"},
        {7, "GET_REQ"},
        {6, NULL},
        {0, NULL},
    };
    const struct lnet_msg m = lnet_sample(LNET_MSG_GET_REQ, true);
    uint8_t frame[LNET_FRAME_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect(frame, lnet_frame(&m, 0x00, rows[i].bytes, frame), rows[i].text);
}

static void only_the_first_packet_of_a_reliable_send_has_one(void **state)
{
    const struct lnet_msg m = lnet_sample(LNET_MSG_NOOP, false);
    uint8_t frame[LNET_FRAME_MAX];

    (void)state;
    for (unsigned code = 0; code < 256; code++) {
        const struct op_info *op = op_info((uint8_t)code);
        const bool has = op->service == OPS_RC && op->kind == OPK_SEND && op_starts(op);

        if (op->name)
            expect(frame, lnet_frame(&m, (uint8_t)code, UINT32_MAX, frame),
                   has ? "NOOP credits=1" : NULL);
    }
}

static void private_data_has_connreq_connack_and_reject(void **state)
{
    struct lnet_msg m = lnet_sample(LNET_MSG_CONNREQ, false);
    const struct lnet_reject reject = {
        .magic = LNET_MAGIC, .version = LNET_VERSION_1, .why = LNET_WHY_CONN_RACE};
    uint8_t bytes[LNET_MSG_BYTES_MAX], frame[LNET_FRAME_MAX];

    (void)state;
    m.credits = 0;
    (void)lnet_build(&m, bytes);
    expect(frame, lnet_frame_cm(CM_REQ, LNET_SERVICE_ID, bytes, LNET_CONN_BYTES, frame),
           "CONNREQ; depth=8 frags=256");
    expect(frame, lnet_frame_cm(CM_REQ, 0x1234, bytes, LNET_CONN_BYTES, frame),
           "CONNREQ; depth=8 frags=256"); /* not of rdma_cm */
    expect(frame, lnet_frame_cm(CM_RTU, 0, bytes, LNET_CONN_BYTES, frame), NULL);
    bytes[6] = LNET_MSG_CONNACK & 0xffu;
    expect(frame, lnet_frame_cm(CM_REP, 0, bytes, LNET_CONN_BYTES, frame),
           "CONNACK; depth=8 frags=256");
    bytes[0] ^= 1u;
    expect(frame, lnet_frame_cm(CM_REP, 0, bytes, LNET_CONN_BYTES, frame), NULL);
    (void)lnet_reject_build(&reject, bytes);
    expect(frame, lnet_frame_cm(CM_REJ, 0, bytes, LNET_REJECT_BYTES_1, frame), "reject CONN_RACE");
    bytes[6] = 77;
    expect(frame, lnet_frame_cm(CM_REJ, 0, bytes, LNET_REJECT_BYTES_1, frame), "reject ?");
    bytes[0] ^= 1u;
    expect(frame, lnet_frame_cm(CM_REJ, 0, bytes, LNET_REJECT_BYTES_1, frame), NULL);
}

static void a_damaged_frame_has_none(void **state)
{
    const struct lnet_msg m = lnet_sample(LNET_MSG_NOOP, false);
    uint8_t frame[LNET_FRAME_MAX];
    const size_t n = lnet_frame(&m, 0x04, UINT32_MAX, frame);

    (void)state;
    for (size_t k = 0; k < n; k++)
        expect(frame, k, NULL);
    frame[n - 1] ^= 1u;
    expect(frame, n, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_is_named_in_a_few_words),
        cmocka_unit_test(credits_are_named_if_there_are_some_and_in_a_noop),
        cmocka_unit_test(an_ack_tells_how_many_bytes_were_taken),
        cmocka_unit_test(a_first_packet_is_enough),
        cmocka_unit_test(only_the_first_packet_of_a_reliable_send_has_one),
        cmocka_unit_test(private_data_has_connreq_connack_and_reject),
        cmocka_unit_test(a_damaged_frame_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
