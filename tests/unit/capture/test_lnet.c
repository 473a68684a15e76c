/* SPDX-License-Identifier: MIT */
/* Tests of captures with messages of o2iblnd.
 *
 * Node a asks node b for a connection with a queue depth of 8, and both begin with PSN 100.
 */
#include "testing.h"

#include "captured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drawn.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/cm_answered.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum/mtu.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "emu/wire/pcapng.h"
#include "lnet_frames.h"

#define ROWS_MAX  128u
#define BYTES_MAX 65536u
#define DEPTH     8u
#define MTU       1024u

/* A capture that is being written: rows with the bytes of their payloads. */
struct story {
    struct captured rows[ROWS_MAX];
    size_t n;
    uint8_t bytes[BYTES_MAX];
    size_t n_bytes;
    struct mad mads[4];
    uint32_t psn[2]; /* of the next packet of a and of b */
};

static struct captured *add(struct story *s)
{
    assert_true(s->n < ROWS_MAX);
    s->rows[s->n] = (struct captured){.at_us = (uint32_t)s->n};
    return &s->rows[s->n++];
}

/* Adds a SEND of the @n bytes at @bytes, of several packets if it is longer than the MTU. */
static void add_send(struct story *s, char from, const uint8_t *bytes, size_t n)
{
    for (size_t at = 0; at < n || at == 0; at += MTU) {
        const size_t left = n - at, now = left < MTU ? left : MTU;
        struct captured *c = add(s);

        assert_true(s->n_bytes + now <= BYTES_MAX);
        c->from = from;
        c->op = at == 0 ? (left > MTU ? OP_RC_SEND_FIRST : OP_RC_SEND_ONLY)
                        : (left > MTU ? OP_RC_SEND_MIDDLE : OP_RC_SEND_LAST);
        c->psn = s->psn[from == 'b']++;
        c->n = (uint32_t)now;
        c->ack_req = left <= MTU;
        c->bytes = memcpy(s->bytes + s->n_bytes, bytes + at, now);
        s->n_bytes += now;
    }
}

static void add_message(struct story *s, char from, const struct lnet_msg *m)
{
    uint8_t bytes[LNET_MSG_BYTES_MAX];

    add_send(s, from, bytes, lnet_build(m, bytes));
}

/* Adds a message of @type with cookie @cookie, or of a PUT_ACK also @dst_cookie. */
static void add_cookie(struct story *s, char from, enum lnet_msg_type type, uint64_t cookie,
                       uint64_t dst_cookie)
{
    struct lnet_msg m = lnet_sample(type, from == 'b');

    if (type == LNET_MSG_PUT_ACK) {
        m.u.put_ack.src_cookie = cookie;
        m.u.put_ack.dst_cookie = dst_cookie;
    } else if (type == LNET_MSG_PUT_REQ || type == LNET_MSG_GET_REQ) {
        m.u.put_req.cookie = cookie;
    } else {
        m.u.done.cookie = cookie;
    }
    add_message(s, from, &m);
}

static void fill_head(struct mad *m, uint32_t message)
{
    *m = (struct mad){.head = {.base_version = MAD_BASE_VERSION,
                               .mgmt_class = MAD_CLASS_CM,
                               .class_version = MAD_CM_CLASS_VERSION,
                               .method = MAD_METHOD_SEND,
                               .tid = 1,
                               .attr_id = message}};
}

static void add_mad(struct story *s, char from, const struct mad *m)
{
    struct captured *c = add(s);

    c->from = from;
    c->op = OP_UD_SEND_ONLY;
    c->qpn = 1;
    c->n = MAD_BYTES;
    c->mad = m;
}

/* Begins a capture with REQ, REP and RTU; with CONNREQ and CONNACK if @has_lnet. */
static struct story *begin(bool has_lnet)
{
    struct story *s = calloc(1, sizeof(*s));
    struct lnet_msg m = lnet_sample(LNET_MSG_CONNREQ, false);
    struct mad *req = &s->mads[0], *rep = &s->mads[1], *rtu = &s->mads[2];
    uint8_t bytes[LNET_MSG_BYTES_MAX];

    assert_non_null(s);
    s->psn[0] = s->psn[1] = 100;
    fill_head(req, CM_REQ);
    req->u.req.local_comm_id = 0xa1;
    req->u.req.service_id = 0x010603db;
    req->u.req.local_qpn = 17;
    req->u.req.starting_psn = 100;
    req->u.req.path_mtu = MTU_1024;
    req->u.req.retry_count = 7;
    req->u.req.rnr_retry_count = 7;
    fill_head(rep, CM_REP);
    rep->u.rep.local_comm_id = 0xb1;
    rep->u.rep.remote_comm_id = 0xa1;
    rep->u.rep.local_qpn = 18;
    rep->u.rep.starting_psn = 100;
    rep->u.rep.rnr_retry_count = 7;
    fill_head(rtu, CM_RTU);
    rtu->u.rtu.local_comm_id = 0xa1;
    rtu->u.rtu.remote_comm_id = 0xb1;
    if (has_lnet) {
        memcpy(req->u.req.private_data + RDMA_CM_BYTES, bytes, lnet_build(&m, bytes));
        m.type = LNET_MSG_CONNACK;
        memcpy(rep->u.rep.private_data, bytes, lnet_build(&m, bytes));
    }
    add_mad(s, 'a', req);
    add_mad(s, 'b', rep);
    add_mad(s, 'a', rtu);
    return s;
}

/* The test fails unless the findings about o2iblnd are @expected.  Frees @s. */
static void shows(struct story *s, const char *expected)
{
    const struct captured_known nothing = {
        .limits = {EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN}};
    char buf[1000];
    struct text t = text_on(buf, sizeof(buf));
    struct check c;

    captured_check(s->rows, s->n, &nothing, &c);
    for (uint32_t i = 0; i < c.found.n; i++) {
        const struct found *f = &c.found.v[i];

        if (f->finding < FIND_LNET_BAD_CKSUM)
            continue;
        text_addf(&t, "%s%llu: ", t.len ? "; " : "", (unsigned long long)f->frame);
        found_says(&t, f);
    }
    assert_string_equal(buf, expected);
    check_done(&c);
    free(s);
}

/* --- Sound traffic ---------------------------------------------------------------------------- */

/* A PUT and a GET of each side, a NOOP with all credits. */
static void add_traffic(struct story *s)
{
    struct lnet_msg noop = lnet_sample(LNET_MSG_NOOP, true);

    for (int i = 0; i < 2; i++) {
        const char x = i ? 'b' : 'a', y = i ? 'a' : 'b';

        add_cookie(s, x, LNET_MSG_PUT_REQ, 1, 0);
        add_cookie(s, y, LNET_MSG_PUT_ACK, 1, 2);
        add_cookie(s, x, LNET_MSG_PUT_DONE, 2, 0);
        add_cookie(s, x, LNET_MSG_PUT_REQ, 3, 0);
        add_cookie(s, y, LNET_MSG_PUT_NAK, 3, 0);
        add_cookie(s, x, LNET_MSG_GET_REQ, 4, 0);
        add_cookie(s, y, LNET_MSG_GET_DONE, 4, 0);
        noop.credits = DEPTH;
        add_message(s, x, &noop);
    }
}

static void sound_traffic_shows_nothing(void **state)
{
    struct story *s = begin(true);

    (void)state;
    add_traffic(s);
    shows(s, "");
    s = begin(false);
    add_traffic(s);
    shows(s, "");
}

static void messages_of_several_packets_are_put_together(void **state)
{
    struct story *s = begin(true);
    struct lnet_msg m = lnet_sample(LNET_MSG_PUT_ACK, true);
    uint8_t bytes[LNET_MSG_BYTES_MAX];
    char expected[100];
    size_t n;

    (void)state;
    add_cookie(s, 'a', LNET_MSG_PUT_REQ, 0x2a, 0);
    m.u.put_ack.rd.n = LNET_FRAGS_MAX;
    m.nob = lnet_body_bytes(&m);
    n = lnet_build(&m, bytes);
    lnet_put_cksum(bytes, n, true);
    add_send(s, 'b', bytes, n);
    s->rows[s->n] = s->rows[s->n - 2]; /* a packet in the middle comes again */
    s->rows[s->n].at_us = (uint32_t)s->n;
    s->n++;
    bytes[n - 1] ^= 1u; /* in the last packet */
    add_send(s, 'b', bytes, n);
    snprintf(expected, sizeof(expected),
             "10: the checksum of its PUT_ACK is wrong: these bytes have 0x%x",
             lnet_cksum(bytes, n));
    shows(s, expected);
}

/* Adds a packet of @n bytes that a sends to queue pair @qpn: the first one of a message of two
 * packets, or the last one.
 */
static void add_half(struct story *s, uint32_t qpn, bool is_last, const uint8_t *bytes, size_t n)
{
    struct captured *c = add(s);

    c->from = 'a';
    c->op = is_last ? OP_RC_SEND_LAST : OP_RC_SEND_FIRST;
    c->psn = 100 + is_last;
    c->qpn = qpn;
    c->n = (uint32_t)n;
    c->bytes = bytes;
}

/* Too many messages wait for their last packet: the oldest is given up, also if one that is older
 * still was completed before.
 */
static void the_oldest_message_is_given_up(void **state)
{
    struct story *s = begin(false);
    struct lnet_msg m = lnet_sample(LNET_MSG_PUT_ACK, false);
    uint8_t bytes[LNET_MSG_BYTES_MAX];
    char expected[200];
    size_t n;

    (void)state;
    m.u.put_ack.rd.n = LNET_FRAGS_MAX / 2;
    m.nob = lnet_body_bytes(&m);
    n = lnet_build(&m, bytes);
    lnet_put_cksum(bytes, n, false);
    bytes[n - 1] ^= 1u; /* in the last packet: a message that is whole is found */
    for (uint32_t qpn = 1000; qpn < 1000 + 3; qpn++)
        add_half(s, qpn, false, bytes, MTU);
    add_half(s, 1000, true, bytes + MTU, n - MTU);
    for (uint32_t qpn = 1000 + 3; qpn < 1000 + LNET_OPEN_MAX + 2; qpn++)
        add_half(s, qpn, false, bytes, MTU); /* the last one is one too many */
    add_half(s, 1001, true, bytes + MTU, n - MTU);
    add_half(s, 1002, true, bytes + MTU, n - MTU);
    snprintf(expected, sizeof(expected), "%s0x%x; %s0x%x",
             "4: the checksum of its PUT_ACK is wrong: these bytes have ", lnet_cksum(bytes, n),
             "6: the checksum of its PUT_ACK is wrong: these bytes have ", lnet_cksum(bytes, n));
    shows(s, expected);
}

/* --- Findings --------------------------------------------------------------------------------- */

static void a_wrong_checksum_is_found(void **state)
{
    struct story *s = begin(false);
    struct lnet_msg m = lnet_sample(LNET_MSG_NOOP, false);
    uint8_t bytes[LNET_MSG_BYTES_MAX];
    const size_t n = lnet_build(&m, bytes);
    char expected[100];

    (void)state;
    lnet_put_cksum(bytes, n, false);
    add_send(s, 'a', bytes, n);
    st_le32(bytes + LNET_CKSUM_AT, 0x1234);
    snprintf(expected, sizeof(expected),
             "5: the checksum of its NOOP is wrong: these bytes have 0x%x", lnet_cksum(bytes, n));
    add_send(s, 'a', bytes, n);
    shows(s, expected);
}

static void lengths_that_differ_are_found(void **state)
{
    struct story *s = begin(false);
    struct lnet_msg m = lnet_sample(LNET_MSG_PUT_REQ, false);
    uint8_t bytes[LNET_MSG_BYTES_MAX] = {0};
    const size_t n = lnet_build(&m, bytes);

    (void)state;
    add_send(s, 'a', bytes, n + 4);
    add_send(s, 'a', bytes, n - 1);
    st_le32(bytes + 8, (uint32_t)n - 1);
    add_send(s, 'a', bytes, n - 1);
    shows(s, "4: its PUT_REQ says that it has 128 bytes, and the SEND has 132; "
             "5: its PUT_REQ is refused by a receiver: its length exceeds the bytes that came; "
             "6: its PUT_REQ is refused by a receiver: fewer bytes than its head, its type or its "
             "descriptor needs");
}

static void more_credits_than_the_queue_has_are_found(void **state)
{
    struct story *s = begin(true);
    struct lnet_msg m = lnet_sample(LNET_MSG_NOOP, false);

    (void)state;
    m.credits = DEPTH + 1;
    add_message(s, 'b', &m);
    shows(s, "4: its NOOP returns 9 credits, and the connection was made with a queue depth of 8");
    s = begin(false); /* the queue depth is not known */
    add_message(s, 'b', &m);
    shows(s, "");
}

/* The CONNACK has the last word. */
static void the_queue_depth_is_what_was_agreed_on(void **state)
{
    struct story *s = begin(true);
    struct lnet_msg m = lnet_sample(LNET_MSG_CONNACK, false);
    uint8_t bytes[LNET_MSG_BYTES_MAX];

    (void)state;
    m.u.conn.queue_depth = DEPTH / 2;
    memcpy(s->mads[1].u.rep.private_data, bytes, lnet_build(&m, bytes));
    m = lnet_sample(LNET_MSG_NOOP, false);
    m.credits = DEPTH / 2;
    add_message(s, 'b', &m);
    m.credits++;
    add_message(s, 'a', &m);
    shows(s, "5: its NOOP returns 5 credits, and the connection was made with a queue depth of 4");
}

/* A SEND of 4096 bytes, the last of which is wrong. */
static void the_longest_message_is_judged(void **state)
{
    struct story *s = begin(false);
    struct lnet_msg m = lnet_sample(LNET_MSG_IMMEDIATE, false);
    uint8_t bytes[LNET_MSG_BYTES_MAX] = {0};
    char expected[100];

    (void)state;
    m.nob = LNET_MSG_BYTES_MAX;
    (void)lnet_build(&m, bytes);
    lnet_put_cksum(bytes, LNET_MSG_BYTES_MAX, false);
    add_send(s, 'a', bytes, LNET_MSG_BYTES_MAX);
    bytes[LNET_MSG_BYTES_MAX - 1] ^= 1u;
    add_send(s, 'a', bytes, LNET_MSG_BYTES_MAX);
    snprintf(expected, sizeof(expected),
             "8: the checksum of its IMMEDIATE is wrong: these bytes have 0x%x",
             lnet_cksum(bytes, LNET_MSG_BYTES_MAX));
    shows(s, expected);
}

static void cookies_that_nobody_gave_are_found(void **state)
{
    struct story *s = begin(true);

    (void)state;
    add_cookie(s, 'a', LNET_MSG_PUT_REQ, 1, 0);
    add_cookie(s, 'b', LNET_MSG_PUT_ACK, 7, 2);
    add_cookie(s, 'a', LNET_MSG_PUT_DONE, 1, 0); /* its own cookie, not that of the PUT_ACK */
    add_cookie(s, 'b', LNET_MSG_GET_DONE, 1, 0);
    add_cookie(s, 'a', LNET_MSG_PUT_NAK, 1, 0);
    shows(s, "5: its PUT_ACK names cookie 0x7, which no PUT_REQ of the peer has; "
             "6: its PUT_DONE names cookie 0x1, which no PUT_ACK of the peer has; "
             "7: its GET_DONE names cookie 0x1, which no GET_REQ of the peer has; "
             "8: its PUT_NAK names cookie 0x1, which no PUT_REQ of the peer has");
}

/* A message that was not captured may have had the cookie. */
static void cookies_are_not_judged_if_anything_is_missing(void **state)
{
    struct story *s;

    (void)state;
    for (int i = 0; i < 5; i++) {
        s = begin(i != 0); /* 0: no messages of o2iblnd in the handshake */
        if (i == 1)
            s->psn[1]++; /* the first packet of b was not captured */
        if (i == 2)
            add_cookie(s, 'b', LNET_MSG_GET_REQ, 5, 0);
        if (i == 2)
            s->psn[1] += 2; /* packets behind it were not captured */
        if (i == 3)
            add_cookie(s, 'b', LNET_MSG_GET_REQ, 5, 0);
        if (i == 3)
            s->rows[s->n - 1].harm = CUT; /* captured in part */
        add_cookie(s, 'a', LNET_MSG_GET_DONE, 1, 0);
        if (i == 4)
            s->rows[0].harm = BAD_BIT; /* the REQ was damaged on its way */
        else
            add_cookie(s, 'b', LNET_MSG_NOOP, 0, 0);
        shows(s, "");
    }
}

/* A message that is sent again, or captured at two places, is found once. */
static void each_message_is_judged_once(void **state)
{
    struct story *s = begin(true);
    struct lnet_msg m = lnet_sample(LNET_MSG_NOOP, false);

    (void)state;
    m.credits = 200;
    add_message(s, 'a', &m);
    s->rows[s->n] = s->rows[s->n - 1];
    s->rows[s->n++].at_us += 1000;
    shows(s, "4: its NOOP returns 200 credits, and the connection was made with a queue depth of "
             "8");
}

/* Captures each packet of @s from row @first on at a second place, too, right after the first:
 * where it comes in if @at_ends, and the first place is where it goes out.
 */
static void capture_twice(struct story *s, size_t first, bool at_ends)
{
    const size_t n = s->n;

    assert_true(2 * n - first <= ROWS_MAX);
    for (size_t i = n; i-- > first;) {
        s->rows[2 * i - first] = s->rows[2 * i - first + 1] = s->rows[i];
        s->rows[2 * i - first].going = at_ends ? PCAPNG_OUTBOUND : 0;
        s->rows[2 * i - first + 1].going = at_ends ? PCAPNG_INBOUND : 0;
        s->rows[2 * i - first + 1].port = 1;
    }
    s->n = 2 * n - first;
    for (size_t i = 0; i < s->n; i++)
        s->rows[i].at_us = (uint32_t)i;
}

/* The packets of a message that are seen at two places, in turn: each place has the whole message.
 */
static struct story *two_places(bool at_ends, char expected[100])
{
    struct story *s = begin(true);
    struct lnet_msg m = lnet_sample(LNET_MSG_PUT_ACK, false);
    uint8_t bytes[LNET_MSG_BYTES_MAX];
    size_t n;

    m.u.put_ack.rd.n = LNET_FRAGS_MAX;
    m.nob = lnet_body_bytes(&m);
    n = lnet_build(&m, bytes);
    lnet_put_cksum(bytes, n, false);
    bytes[n - 1] ^= 1u;
    add_send(s, 'b', bytes, n);
    capture_twice(s, 3, at_ends);
    snprintf(expected, 100, "4: the checksum of its PUT_ACK is wrong: these bytes have 0x%x",
             lnet_cksum(bytes, n));
    return s;
}

static void each_place_has_messages_of_its_own(void **state)
{
    char expected[100];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct story *s = two_places(i > 0, expected);

        shows(s, expected);
    }
}

/* --- The report ------------------------------------------------------------------------------- */

static char *report(struct story *s, bool json)
{
    const struct captured_known nothing = {
        .limits = {EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN}};
    struct check c;
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    captured_check(s->rows, s->n, &nothing, &c);
    if (json)
        check_json(f, &c, "it");
    else
        check_text(f, &c, "it", 0);
    fclose(f);
    check_done(&c);
    free(s);
    return text;
}

static void expect_in(char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in %s", part, text);
}

static void the_report_counts_them(void **state)
{
    struct story *s = begin(true);
    char *text;

    (void)state;
    add_traffic(s);
    text = report(s, false);
    expect_in(text,
              "\nMessages of o2iblnd, by connection and sender\n"
              "3   10.0.0.1: 1 NOOP, 2 PUT_REQ, 1 PUT_NAK, 1 PUT_ACK, 1 PUT_DONE, 1 GET_REQ,");
    expect_in(text,
              "REQ in frame 1, with CONNREQ credits=1; depth=8\n    frags=256; REP in frame 2");
    free(text);
    s = begin(true);
    add_traffic(s);
    text = report(s, true);
    expect_in(text, ",\"lnet\":{\"NOOP\":1,\"PUT_REQ\":2,\"PUT_NAK\":1,");
    expect_in(text, ",\"lnet\":\"CONNACK credits=1; depth=8 frags=256\"}");
    free(text);
    s = begin(false);
    add_send(s, 'a', (const uint8_t *)"other", 5);
    text = report(s, false);
    assert_null(strstr(text, "o2iblnd"));
    free(text);
}

static void the_report_counts_a_message_of_two_places_once(void **state)
{
    char expected[100];

    (void)state;
    for (int i = 0; i < 2; i++) {
        char *text = report(two_places(i > 0, expected), false);

        expect_in(text, "\n3   10.0.0.2: 1 PUT_ACK\n");
        free(text);
    }
}

static void a_reject_is_named(void **state)
{
    struct story *s = begin(true);
    const struct lnet_reject reject = {
        .magic = LNET_MAGIC, .version = LNET_VERSION_1, .why = LNET_WHY_CONN_RACE};
    struct mad *rej = &s->mads[3];
    uint8_t bytes[LNET_REJECT_BYTES];
    char *text;

    (void)state;
    fill_head(rej, CM_REJ);
    rej->u.rej.local_comm_id = 0xb1;
    rej->u.rej.remote_comm_id = 0xa1;
    rej->u.rej.answered = CM_ANSWERED_REQ;
    rej->u.rej.reason = CM_REASON_CONSUMER_DEFINED;
    memcpy(rej->u.rej.private_data, bytes, lnet_reject_build(&reject, bytes));
    s->n = 1;
    add_mad(s, 'b', rej);
    text = report(s, false);
    expect_in(text, ", with reject\n    CONN_RACE\n");
    free(text);
}

static void the_ladder_names_them(void **state)
{
    const struct captured_known nothing = {
        .limits = {EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN}};
    struct story *s = begin(true);
    struct check c;
    struct drawn d;
    struct past p;
    unsigned n = 0;

    (void)state;
    add_traffic(s);
    captured_check(s->rows, s->n, &nothing, &c);
    drawn_init(&d, &c.record, NULL);
    p = drawn_past(&d);
    for (size_t i = 0; i < p.n; i++) {
        char buf[PAST_LNET_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        n += past_add_lnet(&t, &p, past_at(&p, i), true);
        if (ev_tick(past_at(&p, i)->id) == 4)
            assert_string_equal(buf, "PUT_REQ credits=1 cookie=0x1");
    }
    assert_int_equal(n, 2 * 16); /* where each is sent and where it is received */
    drawn_done(&d);
    check_done(&c);
    free(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_traffic_shows_nothing),
        cmocka_unit_test(messages_of_several_packets_are_put_together),
        cmocka_unit_test(the_oldest_message_is_given_up),
        cmocka_unit_test(a_wrong_checksum_is_found),
        cmocka_unit_test(lengths_that_differ_are_found),
        cmocka_unit_test(more_credits_than_the_queue_has_are_found),
        cmocka_unit_test(the_queue_depth_is_what_was_agreed_on),
        cmocka_unit_test(the_longest_message_is_judged),
        cmocka_unit_test(cookies_that_nobody_gave_are_found),
        cmocka_unit_test(cookies_are_not_judged_if_anything_is_missing),
        cmocka_unit_test(each_message_is_judged_once),
        cmocka_unit_test(each_place_has_messages_of_its_own),
        cmocka_unit_test(the_report_counts_them),
        cmocka_unit_test(the_report_counts_a_message_of_two_places_once),
        cmocka_unit_test(a_reject_is_named),
        cmocka_unit_test(the_ladder_names_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
