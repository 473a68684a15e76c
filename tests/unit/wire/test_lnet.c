/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/prng.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum/lnet_op.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/lnet.h"
#include "emu/wire/lnet_rows.h"
#include "lnet_bytes.h"

/* Writes an LNet header of operation @op, with its first 32 bytes, at byte 48. */
static void put_hdr(struct bytes *b, uint32_t op, uint32_t payload)
{
    put_little(b, 48, 8, 0x000500030a000002);
    put_little(b, 56, 8, 0x000500000a000001);
    put_little(b, 64, 4, 12345);
    put_little(b, 68, 4, 12346);
    put_little(b, 72, 4, op);
    put_little(b, 76, 4, payload);
}

static void put_put(struct bytes *b)
{
    put_little(b, 80, 8, 0x1111222233334444);
    put_little(b, 88, 8, 0x5555666677778888);
    put_little(b, 96, 8, 0x0123456789abcdef);
    put_little(b, 104, 8, 0xfedcba9876543210);
    put_little(b, 112, 4, 7);
    put_little(b, 116, 4, 512);
}

static void expect_head(const struct bytes *b, const struct lnet_msg *m, uint32_t version,
                        enum lnet_msg_type type)
{
    assert_int_equal(m->big_endian, b->big);
    assert_int_equal(m->version, version);
    assert_int_equal(m->type, type);
    assert_int_equal(m->credits, 3);
    assert_int_equal(m->cksum, 0);
    assert_int_equal(m->src_nid, lnet_nid(0, 0x0a000001));
    assert_int_equal(m->src_stamp, 0x0006123456789abc);
    assert_int_equal(m->dst_nid, lnet_nid(3, 0x0a000002));
    assert_int_equal(m->dst_stamp, 0x00060fedcba98765);
}

static void expect_hdr(const struct lnet_hdr *h, enum lnet_op op, uint32_t payload)
{
    assert_int_equal(h->dest_nid, lnet_nid(3, 0x0a000002));
    assert_int_equal(h->src_nid, lnet_nid(0, 0x0a000001));
    assert_int_equal(h->dest_pid, LNET_PID_LUSTRE);
    assert_int_equal(h->src_pid, 12346);
    assert_int_equal(h->type, op);
    assert_int_equal(h->payload_bytes, payload);
}

static void expect_put(const struct lnet_hdr *h)
{
    assert_int_equal(h->u.put.ack.interface, 0x1111222233334444);
    assert_int_equal(h->u.put.ack.object, 0x5555666677778888);
    assert_int_equal(h->u.put.match_bits, 0x0123456789abcdef);
    assert_int_equal(h->u.put.hdr_data, 0xfedcba9876543210);
    assert_int_equal(h->u.put.portal, 7);
    assert_int_equal(h->u.put.offset, 512);
}

/* Parses @b, and expects that building writes the same. */
static struct lnet_msg parse(const struct bytes *b, size_t bytes)
{
    struct lnet_msg m;
    uint8_t again[LNET_MSG_BYTES_MAX];

    assert_int_equal(lnet_parse(b->v, bytes, &m), LNET_GOOD);
    assert_int_equal(m.nob, bytes);
    assert_int_equal(lnet_body_bytes(&m), bytes);
    memset(again, 0xee, sizeof(again));
    assert_int_equal(lnet_build(&m, again), bytes);
    assert_memory_equal(again, b->v, bytes);
    for (size_t i = bytes; i < sizeof(again); i++)
        assert_int_equal(again[i], 0xee);
    return m;
}

/* --- Where the fields are --------------------------------------------------------------------- */

static const struct {
    bool big;
    uint16_t version;
} senders[] = {{false, 0x11}, {false, 0x12}, {true, 0x11}, {true, 0x12}};

static void conn_has_its_parameters_in_56_bytes(void **state)
{
    static const enum lnet_msg_type types[] = {LNET_MSG_CONNREQ, LNET_MSG_CONNACK};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(senders) * ARRAY_LEN(types); i++) {
        const uint16_t version = senders[i / 2].version;
        struct bytes b = head(senders[i / 2].big, version, types[i % 2] & 0xffu, 56);
        struct lnet_msg m;

        put(&b, 48, 2, 8);
        put(&b, 50, 2, 256);
        put(&b, 52, 4, 4096);
        m = parse(&b, 56);
        expect_head(&b, &m, version, types[i % 2]);
        assert_int_equal(m.u.conn.queue_depth, 8);
        assert_int_equal(m.u.conn.max_frags, 256);
        assert_int_equal(m.u.conn.max_msg_size, 4096);
    }
}

static void noop_is_a_head(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(senders); i++) {
        const struct bytes b = head(senders[i].big, senders[i].version, 0xd0, 48);
        const struct lnet_msg m = parse(&b, 48);

        expect_head(&b, &m, senders[i].version, LNET_MSG_NOOP);
    }
}

static void put_req_has_its_cookie_behind_the_lnet_header(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(senders); i++) {
        struct bytes b = head(senders[i].big, senders[i].version, 0xd2, 128);
        struct lnet_msg m;

        put_hdr(&b, 1, 65536);
        put_put(&b);
        put(&b, 120, 8, 0x1122334455667788);
        m = parse(&b, 128);
        expect_head(&b, &m, senders[i].version, LNET_MSG_PUT_REQ);
        expect_hdr(&m.u.put_req.hdr, LNET_OP_PUT, 65536);
        expect_put(&m.u.put_req.hdr);
        assert_int_equal(m.u.put_req.cookie, 0x1122334455667788);
    }
}

static void put_ack_has_two_cookies_and_a_descriptor(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(senders); i++) {
        struct bytes b = head(senders[i].big, senders[i].version, 0xd4, 96);
        struct lnet_msg m;

        put(&b, 48, 8, 0x1122334455667788);
        put(&b, 56, 8, 0x99aabbccddeeff00);
        put(&b, 64, 4, 0x10203);
        put(&b, 68, 4, 2);
        put(&b, 72, 4, 4096);
        put(&b, 76, 8, 0x7f0012345000);
        put(&b, 84, 4, 100);
        put(&b, 88, 8, 0x7f0012347000);
        m = parse(&b, 96);
        expect_head(&b, &m, senders[i].version, LNET_MSG_PUT_ACK);
        assert_int_equal(m.u.put_ack.src_cookie, 0x1122334455667788);
        assert_int_equal(m.u.put_ack.dst_cookie, 0x99aabbccddeeff00);
        assert_int_equal(m.u.put_ack.rd.key, 0x10203);
        assert_int_equal(m.u.put_ack.rd.n, 2);
        assert_int_equal(m.u.put_ack.rd.frags[0].nob, 4096);
        assert_int_equal(m.u.put_ack.rd.frags[0].addr, 0x7f0012345000);
        assert_int_equal(m.u.put_ack.rd.frags[1].nob, 100);
        assert_int_equal(m.u.put_ack.rd.frags[1].addr, 0x7f0012347000);
    }
}

static void get_req_has_header_cookie_and_descriptor(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(senders); i++) {
        struct bytes b = head(senders[i].big, senders[i].version, 0xd6, 148);
        struct lnet_msg m;

        put_hdr(&b, 2, 0);
        put_little(&b, 80, 8, 0x1111222233334444);
        put_little(&b, 88, 8, 0x5555666677778888);
        put_little(&b, 96, 8, 0x0123456789abcdef);
        put_little(&b, 104, 4, 9);
        put_little(&b, 108, 4, 4096);
        put_little(&b, 112, 4, 8192);
        put(&b, 120, 8, 0x1122334455667788);
        put(&b, 128, 4, 0x10203);
        put(&b, 132, 4, 1);
        put(&b, 136, 4, 8192);
        put(&b, 140, 8, 0x7f0012345000);
        m = parse(&b, 148);
        expect_head(&b, &m, senders[i].version, LNET_MSG_GET_REQ);
        expect_hdr(&m.u.get_req.hdr, LNET_OP_GET, 0);
        assert_int_equal(m.u.get_req.hdr.u.get.return_to.interface, 0x1111222233334444);
        assert_int_equal(m.u.get_req.hdr.u.get.return_to.object, 0x5555666677778888);
        assert_int_equal(m.u.get_req.hdr.u.get.match_bits, 0x0123456789abcdef);
        assert_int_equal(m.u.get_req.hdr.u.get.portal, 9);
        assert_int_equal(m.u.get_req.hdr.u.get.src_offset, 4096);
        assert_int_equal(m.u.get_req.hdr.u.get.sink_bytes, 8192);
        assert_int_equal(m.u.get_req.cookie, 0x1122334455667788);
        assert_int_equal(m.u.get_req.rd.key, 0x10203);
        assert_int_equal(m.u.get_req.rd.n, 1);
        assert_int_equal(m.u.get_req.rd.frags[0].nob, 8192);
        assert_int_equal(m.u.get_req.rd.frags[0].addr, 0x7f0012345000);
    }
}

static void completions_have_cookie_and_status(void **state)
{
    static const struct {
        enum lnet_msg_type type;
        int32_t status;
    } rows[] = {{LNET_MSG_PUT_NAK, 0},
                {LNET_MSG_PUT_NAK, -12},
                {LNET_MSG_PUT_DONE, 0},
                {LNET_MSG_GET_DONE, -61},
                {LNET_MSG_GET_DONE, 1048576}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(senders) * ARRAY_LEN(rows); i++) {
        const size_t s = i / ARRAY_LEN(rows), r = i % ARRAY_LEN(rows);
        struct bytes b = head(senders[s].big, senders[s].version, rows[r].type & 0xffu, 60);
        struct lnet_msg m;

        put(&b, 48, 8, 0x1122334455667788);
        put(&b, 56, 4, (uint32_t)rows[r].status);
        m = parse(&b, 60);
        expect_head(&b, &m, senders[s].version, rows[r].type);
        assert_int_equal(m.u.done.cookie, 0x1122334455667788);
        assert_int_equal(m.u.done.status, rows[r].status);
    }
}

static void immediate_has_its_payload_at_120(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(senders); i++) {
        struct bytes b = head(senders[i].big, senders[i].version, 0xd1, 123);
        struct lnet_msg m;

        put_hdr(&b, 1, 3);
        put_put(&b);
        memcpy(b.v + 120, "abc", 3);
        assert_int_equal(lnet_parse(b.v, 123, &m), LNET_GOOD);
        expect_head(&b, &m, senders[i].version, LNET_MSG_IMMEDIATE);
        expect_hdr(&m.u.hdr, LNET_OP_PUT, 3);
        expect_put(&m.u.hdr);
        assert_int_equal(m.nob, 123);
        assert_int_equal(lnet_body_bytes(&m), LNET_PAYLOAD_AT);
        put(&b, 8, 4, 120); /* no payload */
        (void)parse(&b, 120);
    }
}

static void the_other_operations_of_the_lnet_header(void **state)
{
    struct bytes b = head(false, 0x12, 0xd1, 120);
    struct lnet_msg m;

    (void)state;
    put_hdr(&b, 0, 0);
    put_little(&b, 80, 8, 1);
    put_little(&b, 88, 8, 2);
    put_little(&b, 96, 8, 3);
    put_little(&b, 104, 4, 4);
    m = parse(&b, 120);
    expect_hdr(&m.u.hdr, LNET_OP_ACK, 0);
    assert_int_equal(m.u.hdr.u.ack.dst.interface, 1);
    assert_int_equal(m.u.hdr.u.ack.dst.object, 2);
    assert_int_equal(m.u.hdr.u.ack.match_bits, 3);
    assert_int_equal(m.u.hdr.u.ack.mlength, 4);

    memset(b.v + 80, 0, 40);
    put_hdr(&b, 3, 0);
    put_little(&b, 80, 8, 5);
    put_little(&b, 88, 8, 6);
    m = parse(&b, 120);
    expect_hdr(&m.u.hdr, LNET_OP_REPLY, 0);
    assert_int_equal(m.u.hdr.u.reply.dst.interface, 5);
    assert_int_equal(m.u.hdr.u.reply.dst.object, 6);

    put_hdr(&b, 4, 0);
    put_little(&b, 88, 8, 7);
    m = parse(&b, 120);
    expect_hdr(&m.u.hdr, LNET_OP_HELLO, 0);
    assert_int_equal(m.u.hdr.u.hello.incarnation, 5);
    assert_int_equal(m.u.hdr.u.hello.type, 7);

    memset(b.v + 80, 0, 40);
    put_hdr(&b, 5, 0); /* unknown: without a body */
    m = parse(&b, 120);
    expect_hdr(&m.u.hdr, (enum lnet_op)5, 0);
}

/* --- What is refused -------------------------------------------------------------------------- */
/* A truncated message is no message, whether its length tells so or not. */
static void every_truncation_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * enum_lnet_msg.n_rows; i++) {
        const enum lnet_msg_type type = (enum lnet_msg_type)enum_lnet_msg.rows[i / 2].value;
        struct bytes b = {.big = i % 2 != 0};
        struct lnet_msg m;
        const size_t n = sample(type, b.big, &m);

        assert_int_equal(lnet_build(&m, b.v), n);
        for (size_t k = 0; k < n; k++) {
            put(&b, 8, 4, n);
            assert_int_equal(lnet_parse(b.v, k, &m),
                             k < LNET_HEAD_BYTES ? LNET_SHORT : LNET_BAD_LENGTH);
            put(&b, 8, 4, k);
            assert_int_equal(lnet_parse(b.v, k, &m), LNET_SHORT);
            assert_int_equal(lnet_parse(b.v, n, &m), LNET_SHORT);
        }
        put(&b, 8, 4, n);
        assert_int_equal(lnet_parse(b.v, n, &m), LNET_GOOD);
        assert_int_equal(lnet_parse(b.v, n + 1, &m), LNET_GOOD); /* the rest is ignored */
    }
}

static void every_bad_value_is_named(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        const struct bytes good = head(big, 0x12, 0xd0, 48);
        struct bytes b = good;
        struct lnet_msg m;

        b.v[0] ^= 1;
        assert_int_equal(lnet_parse(b.v, 48, &m), LNET_BAD_MAGIC);
        b = good;
        put(&b, 0, 4, LNET_PROTO_MAGIC);
        assert_int_equal(lnet_parse(b.v, 48, &m), LNET_BAD_MAGIC);
        b = good;
        put(&b, 4, 2, 0x13);
        assert_int_equal(lnet_parse(b.v, 6, &m), LNET_BAD_VERSION);
        assert_int_equal(m.version, 0x13);
        assert_int_equal(m.big_endian, big);
        assert_int_equal(m.nob, 0); /* not parsed */
        b = good;
        put(&b, 8, 4, 49);
        assert_int_equal(lnet_parse(b.v, 48, &m), LNET_BAD_LENGTH);
        assert_int_equal(m.nob, 49);
        b = good;
        put(&b, 8, 4, UINT32_MAX);
        assert_int_equal(lnet_parse(b.v, 48, &m), LNET_BAD_LENGTH);
        b = good;
        put(&b, 8, 4, 47);
        assert_int_equal(lnet_parse(b.v, 48, &m), LNET_SHORT);
        b = good;
        b.v[6] = 0xd8;
        assert_int_equal(lnet_parse(b.v, 48, &m), LNET_BAD_TYPE);
        assert_int_equal(m.src_nid, lnet_nid(0, 0x0a000001));
        b = good;
        put(&b, 12, 4, 1);
        assert_int_equal(lnet_parse(b.v, 48, &m), LNET_BAD_CKSUM);
    }
}

static void a_descriptor_has_1_to_256_fragments(void **state)
{
    static const struct {
        uint32_t n;
        enum lnet_bad bad;
    } rows[] = {{0, LNET_BAD_FRAGS},   {1, LNET_GOOD},        {256, LNET_GOOD},
                {257, LNET_BAD_FRAGS}, {300, LNET_BAD_FRAGS}, {UINT32_MAX, LNET_BAD_FRAGS}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bytes b = head(i % 2, 0x12, 0xd4, LNET_MSG_BYTES_MAX);
        struct lnet_msg m;

        put(&b, 68, 4, rows[i].n);
        assert_int_equal(lnet_parse(b.v, LNET_MSG_BYTES_MAX, &m), rows[i].bad);
        b.v[6] = 0xd6;
        put(&b, 132, 4, rows[i].n);
        assert_int_equal(lnet_parse(b.v, LNET_MSG_BYTES_MAX, &m), rows[i].bad);
    }
}

/* --- Checksums -------------------------------------------------------------------------------- */

/* The sum of a NOOP whose other bytes are 0: each byte is added as a signed number, and rotated by
 * one bit for each byte that follows.
 */
static void the_checksum_rotates_and_adds_signed_bytes(void **state)
{
    uint8_t one[48] = {0};
    struct bytes b = head(false, 0x12, 0xd0, 48);
    struct lnet_msg m;

    (void)state;
    assert_int_equal(lnet_cksum(one, 48), 1); /* 0 becomes 1 */
    one[47] = 5;
    assert_int_equal(lnet_cksum(one, 48), 5);
    one[47] = 0x80;
    assert_int_equal(lnet_cksum(one, 48), 0xffffff80);
    one[47] = 0;
    one[46] = 0x80; /* ffffff80, rotated */
    assert_int_equal(lnet_cksum(one, 48), 0xffffff01);
    one[46] = 0;
    one[0] = 1; /* rotated 47 times */
    assert_int_equal(lnet_cksum(one, 48), 1u << 15);
    one[12] = 0xff; /* the field itself counts as 0 */
    one[15] = 0xff;
    assert_int_equal(lnet_cksum(one, 48), 1u << 15);

    for (int big = 0; big < 2; big++) {
        b = head(big, 0x11, 0xd1, 123);
        memcpy(b.v + 120, "\x81zz", 3);
        lnet_put_cksum(b.v, 123, big);
        assert_int_equal(lnet_parse(b.v, 123, &m), LNET_GOOD);
        assert_int_equal(m.cksum, lnet_cksum(b.v, 123));
        b.v[122] ^= 1;
        assert_int_equal(lnet_parse(b.v, 123, &m), LNET_BAD_CKSUM);
        b.v[122] ^= 1;
        b.v[123] ^= 1; /* behind the message */
        assert_int_equal(lnet_parse(b.v, 124, &m), LNET_GOOD);
        put(&b, 12, 4, 0); /* none */
        b.v[122] ^= 1;
        assert_int_equal(lnet_parse(b.v, 123, &m), LNET_GOOD);
    }
}

/* --- Random messages -------------------------------------------------------------------------- */

static void fill(struct prng *r, void *at, size_t n)
{
    uint8_t *to = at;

    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)prng_next(r);
}

/* Sets what has no bytes in a message to 0: the unused rest of the LNet header. */
static void clear_rest(struct lnet_hdr *h)
{
    const uint64_t hello = h->u.hello.incarnation;
    const uint32_t type = h->u.hello.type;

    if (h->type == LNET_OP_ACK) {
        memset((uint8_t *)&h->u + 28, 0, sizeof(h->u) - 28);
    } else if (h->type == LNET_OP_GET) {
        memset((uint8_t *)&h->u + 36, 0, sizeof(h->u) - 36);
    } else if (h->type == LNET_OP_REPLY) {
        memset((uint8_t *)&h->u + 16, 0, sizeof(h->u) - 16);
    } else if (h->type == LNET_OP_HELLO) {
        memset(&h->u, 0, sizeof(h->u));
        h->u.hello.incarnation = hello;
        h->u.hello.type = type;
    }
}

static void draw_rd(struct prng *r, struct lnet_rd *rd)
{
    rd->key = (uint32_t)prng_next(r);
    rd->n = 1 + (uint32_t)prng_below(r, LNET_FRAGS_MAX);
    for (uint32_t k = 0; k < rd->n; k++) {
        rd->frags[k].nob = (uint32_t)prng_next(r);
        rd->frags[k].addr = prng_next(r);
    }
}

static void draw_body(struct prng *r, struct lnet_msg *m)
{
    switch (m->type) {
    case LNET_MSG_CONNREQ:
    case LNET_MSG_CONNACK:
        fill(r, &m->u.conn, sizeof(m->u.conn));
        break;
    case LNET_MSG_IMMEDIATE:
    case LNET_MSG_PUT_REQ:
    case LNET_MSG_GET_REQ:
        fill(r, &m->u.put_req,
             m->type == LNET_MSG_IMMEDIATE ? sizeof(m->u.hdr) : sizeof(m->u.put_req));
        m->u.hdr.type = (uint32_t)prng_below(r, enum_lnet_op.n_rows);
        clear_rest(&m->u.hdr);
        if (m->type == LNET_MSG_GET_REQ)
            draw_rd(r, &m->u.get_req.rd);
        break;
    case LNET_MSG_PUT_ACK:
        fill(r, &m->u.put_ack, offsetof(struct lnet_put_ack, rd));
        draw_rd(r, &m->u.put_ack.rd);
        break;
    case LNET_MSG_NOOP:
        break;
    default:
        m->u.done.cookie = prng_next(r);
        m->u.done.status = (int32_t)(uint32_t)prng_next(r);
        break;
    }
}

static void random_messages_come_back(void **state)
{
    struct prng r = prng_stream(1, 0);

    (void)state;
    for (int i = 0; i < 3000; i++) {
        const uint32_t row = (uint32_t)prng_below(&r, enum_lnet_msg.n_rows);
        struct lnet_msg m, back;
        uint8_t bytes[LNET_MSG_BYTES_MAX];

        memset(&m, 0, sizeof(m));
        memset(&back, 0, sizeof(back));
        fill(&r, &m.src_nid, 4 * sizeof(m.src_nid));
        m.big_endian = prng_below(&r, 2);
        m.version = (uint16_t)(0x11 + prng_below(&r, 2));
        m.type = (enum lnet_msg_type)enum_lnet_msg.rows[row].value;
        m.credits = (uint8_t)prng_next(&r);
        draw_body(&r, &m);
        m.nob = lnet_body_bytes(&m);
        assert_int_equal(lnet_build(&m, bytes), m.nob);
        if (prng_below(&r, 2)) {
            lnet_put_cksum(bytes, m.nob, m.big_endian);
            m.cksum = lnet_cksum(bytes, m.nob);
        }
        assert_int_equal(lnet_parse(bytes, m.nob, &back), LNET_GOOD);
        assert_memory_equal(&back, &m, sizeof(m));
    }
}

/* Nothing is read behind the bytes that came: the buffer has just these. */
static void random_bytes_are_parsed_within_their_bounds(void **state)
{
    struct prng r = prng_stream(2, 0);

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const size_t n = prng_below(&r, 200);
        const uint32_t version = 0x11 + (uint32_t)prng_below(&r, 2);
        const uint64_t type = prng_below(&r, enum_lnet_msg.n_rows);
        struct bytes b = head(i % 2, version, enum_lnet_msg.rows[type].value, 0);
        uint8_t *bytes = test_malloc(n + 1);
        struct lnet_msg m;
        struct lnet_reject reject;

        put(&b, 8, 4, prng_below(&r, n + 3));
        fill(&r, bytes, n);
        memcpy(bytes, b.v, n < 12 ? n : 12);
        (void)lnet_parse(bytes, n, &m);
        (void)lnet_reject_parse(bytes, n, &reject);
        for (struct lnet_walk w = lnet_walk(bytes, n); lnet_next(&w);)
            assert_true(w.at + lnet_layouts[w.part].bytes <= n);
        test_free(bytes);
    }
}
int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(conn_has_its_parameters_in_56_bytes),
        cmocka_unit_test(noop_is_a_head),
        cmocka_unit_test(put_req_has_its_cookie_behind_the_lnet_header),
        cmocka_unit_test(put_ack_has_two_cookies_and_a_descriptor),
        cmocka_unit_test(get_req_has_header_cookie_and_descriptor),
        cmocka_unit_test(completions_have_cookie_and_status),
        cmocka_unit_test(immediate_has_its_payload_at_120),
        cmocka_unit_test(the_other_operations_of_the_lnet_header),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_bad_value_is_named),
        cmocka_unit_test(a_descriptor_has_1_to_256_fragments),
        cmocka_unit_test(the_checksum_rotates_and_adds_signed_bytes),
        cmocka_unit_test(random_messages_come_back),
        cmocka_unit_test(random_bytes_are_parsed_within_their_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
