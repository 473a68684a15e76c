/* SPDX-License-Identifier: MIT */
/* Tests of the packet display: every byte is named exactly once, whatever the frame. */
#include "testing.h"

#include <cjson/cJSON.h>

#include "cli/printed.h"
#include "cli/show/mad_text.h"
#include "cli/show/packet_rows.h"
#include "cli/show/show_packet.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum_table.h"
#include "emu/trace/event.h"
#include "lnet_frames.h"

/* RC_SEND_ONLY to QPN 17, PSN 0x123456, "hello rdma", ID 0x1234, TTL 64.  The ICRC is from zlib. */
static const uint8_t send_only[] = {
    0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00,
    0x45, 0x00, 0x00, 0x38, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0x14, 0x7f, 0x0a, 0x00,
    0x00, 0x01, 0x0a, 0x00, 0x00, 0x02, 0xc1, 0x23, 0x12, 0xb7, 0x00, 0x24, 0x00, 0x00,
    0x04, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x80, 0x12, 0x34, 0x56, 0x68, 0x65,
    0x6c, 0x6c, 0x6f, 0x20, 0x72, 0x64, 0x6d, 0x61, 0x00, 0x00, 0x52, 0xbb, 0x15, 0x38,
};

/* RC_ACKNOWLEDGE, MSN 1, no credits. */
static const uint8_t ack[] = {
    0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x08, 0x00, 0x45, 0x00,
    0x00, 0x30, 0x43, 0x21, 0x40, 0x00, 0x40, 0x11, 0xe3, 0x99, 0x0a, 0x00, 0x00, 0x02, 0x0a, 0x00,
    0x00, 0x01, 0xc4, 0x56, 0x12, 0xb7, 0x00, 0x1c, 0x00, 0x00, 0x11, 0x00, 0xff, 0xff, 0x00, 0x00,
    0x00, 0x12, 0x00, 0x12, 0x34, 0x56, 0x1f, 0x00, 0x00, 0x01, 0x74, 0x8a, 0x9d, 0xa7,
};

struct row_wanted {
    const char *header, *name, *value;
    size_t offset;
    bool found;
};

static void look_for(void *ctx, const struct packet_row *row)
{
    struct row_wanted *w = ctx;

    for (; w->header; w++) {
        if (strcmp(w->header, row->header) == 0 && strcmp(w->name, row->name) == 0 &&
            row->offset == w->offset) {
            assert_string_equal(row->value, w->value);
            w->found = true;
        }
    }
}

static void assert_rows(const uint8_t *frame, size_t bytes, struct row_wanted *rows)
{
    packet_rows(frame, bytes, look_for, rows);
    for (; rows->header; rows++) {
        if (!rows->found)
            fail_msg("no row %s, %s at %zu", rows->header, rows->name, rows->offset);
    }
}

static void a_send_is_taken_apart(void **state)
{
    struct row_wanted rows[] = {
        {"Ethernet", "destination", "02:00:00:00:00:02", 0, false},
        {"Ethernet", "type", "0x0800 IPv4", 12, false},
        {"IPv4", "total length", "56", 16, false},
        {"IPv4", "identification", "0x1234", 18, false},
        {"IPv4", "don't fragment", "1", 20, false},
        {"IPv4", "source", "10.0.0.1", 26, false},
        {"UDP", "destination port", "4791", 36, false},
        {"BTH", "opcode", "0x04 RC_SEND_ONLY", 42, false},
        {"BTH", "destination QPN", "17", 47, false},
        {"BTH", "ack request", "1", 50, false},
        {"BTH", "PSN", "1193046", 51, false},
        {"payload", "data", "12 bytes", 54, false},
        {"ICRC", "invariant CRC", "0x3815bb52, correct", 66, false},
        {NULL, NULL, NULL, 0, false},
    };

    (void)state;
    assert_rows(send_only, sizeof(send_only), rows);
}

static void an_acknowledge_tells_syndrome_and_msn(void **state)
{
    struct row_wanted rows[] = {
        {"AETH", "syndrome", "0x1f ACK, no credits given", 54, false},
        {"AETH", "MSN", "1", 55, false},
        {"ICRC", "invariant CRC", "0xa79d8a74, correct", 58, false},
        {NULL, NULL, NULL, 0, false},
    };

    (void)state;
    assert_rows(ack, sizeof(ack), rows);
}

struct coverage {
    size_t next; /* first byte that no row has named */
};

/* Rows for parts of the same bytes share them.  Any other row begins where the last one ended. */
static void cover(void *ctx, const struct packet_row *row)
{
    struct coverage *c = ctx;

    assert_true(row->offset <= c->next);
    if (row->offset + row->bytes > c->next) {
        assert_true(row->mask || row->offset == c->next);
        c->next = row->offset + row->bytes;
    }
}

static void every_byte_is_named_at_every_length(void **state)
{
    static const struct {
        const uint8_t *frame;
        size_t bytes;
    } frames[] = {{send_only, sizeof(send_only)}, {ack, sizeof(ack)}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        for (size_t n = 0; n <= frames[i].bytes; n++) {
            struct coverage c = {0};
            uint8_t *copy = malloc(n ? n : 1); /* so that a sanitizer notices reads behind it */

            memcpy(copy, frames[i].frame, n);
            packet_rows(copy, n, cover, &c);
            assert_int_equal(c.next, n);
            free(copy);
        }
    }
}

/* Prints the frame of a history that has no other. */
static void print_frame(struct printed *p, const uint8_t *frame, size_t bytes)
{
    const struct ev tx = {.id = ev_id_of(1, 1), .kind = EV_tx};
    const struct written w = {&tx, 1, tx.id, frame, bytes};
    const struct past past = past_of_written(&w, NULL);

    assert_int_equal(show_packet(printed_begin(p)->out, &past, 0, false), RDL_OK);
}

static void any_bytes_are_shown(void **state)
{
    uint8_t frame[sizeof(send_only)];
    struct printed p;

    (void)state;
    for (size_t i = 0; i < sizeof(frame); i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct coverage c = {0};

            memcpy(frame, send_only, sizeof(frame));
            frame[i] ^= (uint8_t)(1u << bit);
            packet_rows(frame, sizeof(frame), cover, &c);
            assert_int_equal(c.next, sizeof(frame));
            print_frame(&p, frame, sizeof(frame));
            assert_lines_fit(&p);
            printed_end(&p);
        }
    }
}

static void a_flipped_bit_is_called_wrong(void **state)
{
    uint8_t frame[sizeof(send_only)];
    struct printed p;

    (void)state;
    memcpy(frame, send_only, sizeof(frame));
    frame[60] ^= 1u;
    print_frame(&p, frame, sizeof(frame));
    assert_prints(&p, "WRONG");
    assert_prints(&p, "a receiver drops it: BAD_ICRC");
    printed_end(&p);
}

static void bits_of_a_byte_are_shown_in_place(void **state)
{
    struct printed p;

    (void)state;
    print_frame(&p, send_only, sizeof(send_only));
    assert_prints(&p, "  0032  1... ....                ack request          1\n");
    assert_prints(&p, "  000e  .... 0101                header length        5 words\n");
    assert_prints(&p, "68 65 6c 6c 6f 20 72 64 6d 61 00 00              hello rdma..\n");
    assert_lines_fit(&p);
    printed_end(&p);
}

static void the_frame_of_an_event_is_found(void **state)
{
    const struct ev events[] = {
        {.id = ev_id_of(3, 1), .kind = EV_kick},
        {.id = ev_id_of(3, 2), .kind = EV_tx, .u.tx.opcode = 4},
        {.id = ev_id_of(4, 1), .kind = EV_rx, .u.rx.tx = ev_id_of(3, 2)},
        {.id = ev_id_of(5, 1), .kind = EV_lost, .u.lost.tx = ev_id_of(2, 9)},
    };
    const struct written w = {events, ARRAY_LEN(events), ev_id_of(3, 2), send_only,
                              sizeof(send_only)};
    static const struct {
        ev_id id;
        enum rdl_status want;
    } rows[] = {
        {0, RDL_OK},
        {(ev_id)3 << EV_ROW_BITS, RDL_OK},
        {(ev_id)4 << EV_ROW_BITS | 1, RDL_OK},
        {(ev_id)3 << EV_ROW_BITS | 1, RDL_ERR_INVAL},     /* not about a frame */
        {(ev_id)5 << EV_ROW_BITS | 1, RDL_ERR_NOT_FOUND}, /* its frame is not kept */
        {(ev_id)6 << EV_ROW_BITS, RDL_ERR_NOT_FOUND},     /* no such event */
    };
    const struct past past = past_of_written(&w, NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct printed p;

        assert_int_equal(show_packet(printed_begin(&p)->out, &past, rows[i].id, false),
                         rows[i].want);
        printed_end(&p);
    }
}

static void json_is_json(void **state)
{
    const struct ev tx = {.id = ev_id_of(3, 2), .kind = EV_tx};
    const struct written w = {&tx, 1, ev_id_of(3, 2), send_only, sizeof(send_only)};
    const struct past past = past_of_written(&w, NULL);
    struct printed p;
    cJSON *j;

    (void)state;
    assert_int_equal(show_packet(printed_begin(&p)->out, &past, 0, true), RDL_OK);
    j = cJSON_Parse(printed_text(&p));
    assert_non_null(j);
    assert_string_equal(cJSON_GetObjectItem(j, "verdict")->valuestring, "NONE");
    assert_int_equal(cJSON_GetObjectItem(j, "bytes")->valueint, sizeof(send_only));
    assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(j, "fields")) > 30);
    cJSON_Delete(j);
    printed_end(&p);
}

/* The ACK timeout alone means that there is none if it is 0.  The others are times of 4.096 us. */
static void an_ack_timeout_of_0_is_none(void **state)
{
    static const struct {
        const char *name;
        uint64_t code;
        const char *text;
    } rows[] = {
        {"ack_timeout", 0, "0, no timeout"},
        {"alt_ack_timeout", 0, "0, no timeout"},
        {"ack_timeout", 1, "1, 8.19us"},
        {"local_cm_timeout", 0, "0, 4.09us"},
    };
    const struct mad_layout *req = mad_body(CM_REQ);
    uint8_t body[MAD_BYTES] = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct mad_field *f = req->fields;
        char buf[64];
        struct text t = text_on(buf, sizeof(buf));

        while (!f->name || strcmp(f->name, rows[i].name) != 0)
            f++;
        mad_field_put(f, rows[i].code, body);
        mad_text_add(&t, f, body);
        assert_string_equal(buf, rows[i].text);
    }
}

static void a_message_of_o2iblnd_is_taken_apart(void **state)
{
    struct row_wanted rows[] = {
        {"BTH", "opcode", "0x04 RC_SEND_ONLY", 42, false},
        {"o2iblnd", "magic number", "0x0be91b91", 54, false},
        {"o2iblnd", "version", "0x0012", 58, false},
        {"o2iblnd", "type", "0xd6 GET_REQ", 60, false},
        {"o2iblnd", "credits returned", "1", 61, false},
        {"o2iblnd", "bytes of the message", "172", 62, false},
        {"o2iblnd", "checksum", "0x00000000, none", 66, false},
        {"o2iblnd", "source NID", "10.0.0.1@o2ib", 70, false},
        {"LNet", "operation", "2 GET", 126, false},
        {"LNet GET", "match bits", "0x0000000000000077", 150, false},
        {"LNet GET", "bytes of the sink", "8192", 166, false},
        {"o2iblnd request", "cookie", "0x000000000000002a", 174, false},
        {"o2iblnd descriptor", "key", "0x00001234", 182, false},
        {"o2iblnd descriptor", "fragments", "3", 186, false},
        {"o2iblnd fragment", "bytes", "4096", 190, false},
        {"o2iblnd fragment", "address", "0x00007f0000001000", 194, false},
        {"o2iblnd fragment", "address", "0x00007f0000003000", 218, false},
        {NULL, NULL, NULL, 0, false},
    };

    (void)state;
    for (int big = 0; big < 2; big++) {
        const struct lnet_msg m = lnet_sample(LNET_MSG_GET_REQ, big);
        uint8_t frame[LNET_FRAME_MAX];
        struct printed p;

        assert_rows(frame, lnet_frame(&m, 0x04, UINT32_MAX, frame), rows);
        for (struct row_wanted *r = rows; r->header; r++)
            r->found = false;
        print_frame(&p, frame, lnet_frame(&m, 0x04, UINT32_MAX, frame));
        assert_prints(&p, "address [2]          0x00007f0000003000\n");
        assert_lines_fit(&p);
        printed_end(&p);
    }
}

static void the_checksum_of_a_message_is_judged(void **state)
{
    struct lnet_msg m = lnet_sample(LNET_MSG_PUT_NAK, false);
    uint8_t bytes[LNET_MSG_BYTES_MAX], frame[LNET_FRAME_MAX];
    const uint32_t n = (uint32_t)lnet_build(&m, bytes);
    struct printed p;

    (void)state;
    lnet_put_cksum(bytes, n, false);
    print_frame(&p, frame, lnet_frame_of(0x04, 17, bytes, n, frame));
    assert_prints(&p, ", correct");
    assert_null(strstr(printed_text(&p), "WRONG"));
    printed_end(&p);
    bytes[n - 1] ^= 1u;
    print_frame(&p, frame, lnet_frame_of(0x04, 17, bytes, n, frame));
    assert_prints(&p, ", WRONG: these bytes have 0x");
    printed_end(&p);
    print_frame(&p, frame, lnet_frame_of(0x00, 17, bytes, n - 1, frame)); /* not all of it */
    assert_null(strstr(printed_text(&p), "WRONG"));
    printed_end(&p);
}

/* Whatever the packet has of a message, each byte is in one row. */
static void every_byte_of_a_message_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < enum_lnet_msg.n_rows; i++) {
        struct lnet_msg m = lnet_sample((enum lnet_msg_type)enum_lnet_msg.rows[i].value, i % 2);

        for (int odd = 0; odd < 2; odd++) {
            if (odd && m.type != LNET_MSG_PUT_REQ && m.type != LNET_MSG_IMMEDIATE)
                continue;
            if (odd)
                m.u.hdr.type = 77; /* an unknown operation */
            for (uint32_t k = 0; k <= lnet_body_bytes(&m); k++) {
                uint8_t frame[LNET_FRAME_MAX];
                const size_t n = lnet_frame(&m, 0x00, k, frame);
                struct coverage c = {0};

                packet_rows(frame, n, cover, &c);
                assert_int_equal(c.next, n);
            }
        }
    }
}

static void private_data_of_o2iblnd_is_taken_apart(void **state)
{
    struct row_wanted req[] = {
        {"rdma_cm", "source port", "0", 228, false},
        {"o2iblnd", "type", "0xc0 CONNREQ", 268, false},
        {"o2iblnd connection", "queue depth", "8", 310, false},
        {NULL, NULL, NULL, 0, false},
    };
    struct row_wanted rej[] = {
        {"CM REJ", "reason", "0", 96, false},
        {"o2iblnd reject", "magic number", "0x0be91b91", 170, false},
        {"o2iblnd reject", "reason", "7 MSG_QUEUE_SIZE", 176, false},
        {"o2iblnd reject", "queue depth", "4", 186, false},
        {"CM REJ", "private data", "private data, 124 bytes", 194, false},
        {NULL, NULL, NULL, 0, false},
    };
    const struct lnet_msg m = lnet_sample(LNET_MSG_CONNREQ, true);
    const struct lnet_reject reject = {.magic = LNET_MAGIC,
                                       .version = LNET_VERSION_2,
                                       .why = LNET_WHY_MSG_QUEUE_SIZE,
                                       .has_params = true,
                                       .conn = {4, 256, 4096}};
    uint8_t bytes[LNET_MSG_BYTES_MAX], frame[LNET_FRAME_MAX];
    size_t n = lnet_build(&m, bytes);
    struct coverage c = {0};

    (void)state;
    n = lnet_frame_cm(CM_REQ, 0x10603db, bytes, n, frame);
    assert_rows(frame, n, req);
    packet_rows(frame, n, cover, &c);
    assert_int_equal(c.next, n);
    c.next = 0;
    n = lnet_frame_cm(CM_REJ, 0, bytes, lnet_reject_build(&reject, bytes), frame);
    assert_rows(frame, n, rej);
    packet_rows(frame, n, cover, &c);
    assert_int_equal(c.next, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_send_is_taken_apart),
        cmocka_unit_test(an_acknowledge_tells_syndrome_and_msn),
        cmocka_unit_test(every_byte_is_named_at_every_length),
        cmocka_unit_test(any_bytes_are_shown),
        cmocka_unit_test(a_flipped_bit_is_called_wrong),
        cmocka_unit_test(bits_of_a_byte_are_shown_in_place),
        cmocka_unit_test(the_frame_of_an_event_is_found),
        cmocka_unit_test(json_is_json),
        cmocka_unit_test(an_ack_timeout_of_0_is_none),
        cmocka_unit_test(a_message_of_o2iblnd_is_taken_apart),
        cmocka_unit_test(the_checksum_of_a_message_is_judged),
        cmocka_unit_test(every_byte_of_a_message_is_named),
        cmocka_unit_test(private_data_of_o2iblnd_is_taken_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
