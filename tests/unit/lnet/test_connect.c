/* SPDX-License-Identifier: MIT */
/* Connections: requests, answers and rejects, with the reasons of o2iblnd-idl.h. */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "lnet/lnd_internal.h"
#include "rig.h"

/* Two nodes; the first one has sent a PUT of nothing. */
struct duo {
    struct loop *l;
    struct loop_node *a, *b;
    struct lnd_config ca, cb;
};

static struct duo duo_new(void)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);

    return (struct duo){.l = loop_new(1), .ca = c, .cb = c};
}

static void start(struct duo *d)
{
    d->a = loop_add(d->l, &d->ca);
    d->b = loop_add(d->l, &d->cb);
}

/* Sends a PUT from @from to @to.  Returns its status. */
static int put(struct loop_node *from, uint32_t to)
{
    const struct lnet_md md = {.threshold = 1};
    struct lnet_call call = {.nid = loop_nid(to)};

    from->n_events = 0;
    assert_int_equal(lnet_bind(from->node, &md, &call.md), 0);
    assert_int_equal(lnet_put(from->node, &call), 0);
    loop_run_for(from->loop, SECOND / 2);
    assert_int_equal(from->n_events, 1);
    return from->events[0].status;
}

static struct lnd_peer_info info(const struct loop_node *n)
{
    struct lnd_peer_info i;

    assert_true(lnd_peer_at(n->lnd, 0, &i));
    return i;
}

static void end(struct duo *d)
{
    loop_stop_all(d->l);
    loop_free(d->l);
}

/* ---- negotiation ---- */

static void a_peer_of_version_1_is_asked_again(void **state)
{
    struct duo d = duo_new();

    (void)state;
    d.cb.version = LNET_VERSION_1;
    start(&d);
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(d.a->last_why, LNET_WHY_FATAL);
    assert_int_equal(info(d.a).version, LNET_VERSION_1);
    assert_int_equal(lnd_counts(d.a->lnd)->connects, 2);
    end(&d);
}

static void a_node_of_2007_is_asked_again(void **state)
{
    struct duo d = duo_new();

    (void)state;
    d.cb = lnd_defaults(0, true);
    start(&d);
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(d.b->n_reject, LNET_REJECT_BYTES_1);
    assert_int_equal(info(d.a).queue_depth, 8);
    end(&d);
}

static void a_request_of_version_1_is_accepted(void **state)
{
    struct duo d = duo_new();

    (void)state;
    d.ca = lnd_defaults(0, true);
    d.cb.peer_credits = 100;
    start(&d);
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(lnd_counts(d.a->lnd)->connects, 1);
    assert_int_equal(info(d.b).version, LNET_VERSION_1);
    assert_int_equal(put(d.b, 1), 0);
    end(&d);
}

static void the_smaller_queue_depth_is_taken(void **state)
{
    struct duo d = duo_new();

    (void)state;
    d.ca.peer_credits = 32;
    start(&d);
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(d.a->last_why, LNET_WHY_MSG_QUEUE_SIZE);
    assert_int_equal(info(d.a).queue_depth, 8);
    assert_int_equal(info(d.b).queue_depth, 8);
    loop_break(d.a);
    loop_run_for(d.l, SECOND);
    assert_int_equal(put(d.b, 1), 0); /* the other way it fits at once */
    assert_int_equal(info(d.b).queue_depth, 8);
    end(&d);
}

static void the_smaller_number_of_fragments_is_taken(void **state)
{
    struct duo d = duo_new();

    (void)state;
    d.cb.max_frags = 16;
    start(&d);
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(d.a->last_why, LNET_WHY_RDMA_FRAGS);
    assert_int_equal(info(d.a).max_frags, 16);
    end(&d);
}

static void queues_that_are_too_long_become_shorter(void **state)
{
    struct duo d = duo_new();

    (void)state;
    start(&d);
    d.b->max_send_wr = 600; /* 2 * 257 is the first that fits */
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(info(d.b).max_frags, 256);
    loop_break(d.a);
    loop_run_for(d.l, SECOND);
    d.b->max_send_wr = 100; /* 1 * 65 */
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(info(d.a).max_frags, 64);
    assert_int_equal(info(d.b).max_frags, 64);
    end(&d);
}

static void nothing_is_negotiated_with_version_1(void **state)
{
    struct duo d = duo_new();

    (void)state;
    d.ca.version = LNET_VERSION_1;
    d.cb.peer_credits = 4;
    start(&d);
    assert_int_equal(put(d.a, 2), -ECONNREFUSED);
    assert_int_equal(d.a->last_why, LNET_WHY_FATAL);
    assert_int_equal(put(d.b, 1), 0); /* but a depth of 4 can be had */
    end(&d);
}

/* A peer that rejects what it itself has offered is not asked again and again. */
static void a_peer_that_offers_as_much_as_it_rejects_is_not_asked_again(void **state)
{
    static const uint32_t at[] = {48, 50}; /* queue depth 9, 257 fragments */

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        struct duo d = duo_new();

        start(&d);
        d.l->tamper = LOOP_REQ;
        d.l->tamper_at = at[i];
        d.l->tamper_xor = 1;
        assert_int_equal(put(d.a, 2), -EPROTO);
        assert_int_equal(d.a->last_why, i == 0 ? LNET_WHY_MSG_QUEUE_SIZE : LNET_WHY_RDMA_FRAGS);
        assert_int_equal(lnd_counts(d.a->lnd)->connects, 1);
        end(&d);
    }
}

/* ---- rejects ---- */

static void good_request(uint8_t ret[LNET_CONN_BYTES], uint64_t to)
{
    const struct lnet_msg m = {.version = LNET_VERSION_2,
                               .type = LNET_MSG_CONNREQ,
                               .nob = LNET_CONN_BYTES,
                               .src_nid = loop_nid(99),
                               .src_stamp = 5,
                               .dst_nid = to,
                               .u.conn = {8, 256, LNET_MSG_BYTES_MAX}};
    uint8_t bytes[LNET_MSG_BYTES_MAX];

    assert_int_equal(lnet_build(&m, bytes), LNET_CONN_BYTES);
    memcpy(ret, bytes, LNET_CONN_BYTES);
}

static void nobody_listens(void **state)
{
    struct duo d = duo_new();

    (void)state;
    start(&d);
    lnd_stop(d.b->lnd);
    loop_run(d.l);
    assert_int_equal(put(d.a, 2), -EHOSTUNREACH);
    assert_int_equal(d.a->last_why, LNET_WHY_INVALID_SRV_ID);
    lnd_start(d.b->lnd);
    loop_run_for(d.l, 2 * SECOND);
    assert_int_equal(put(d.a, 2), 0);
    end(&d);
}

static void a_node_is_not_up_yet(void **state)
{
    uint8_t bytes[LNET_CONN_BYTES];
    struct duo d = duo_new();

    (void)state;
    start(&d);
    lnd_stop(d.b->lnd);
    loop_run(d.l);
    d.l->is_late = true;
    lnd_start(d.b->lnd);
    while (!d.b->has_dev)
        assert_true(loop_step(d.l));
    d.l->is_late = false;
    d.b->is_ready = true;
    assert_false(lnd_is_up(d.b->lnd));
    good_request(bytes, loop_nid(2));
    assert_false(loop_raw_request(d.b, bytes, sizeof(bytes)));
    assert_int_equal(d.b->last_why, LNET_WHY_EARLY);
    loop_run(d.l);
    end(&d);
}

static void no_resources(void **state)
{
    struct duo d = duo_new();

    (void)state;
    start(&d);
    loop_fail(d.b, LOOP_CREATE_CQ, 1, -ENOMEM);
    assert_int_equal(put(d.a, 2), -ECONNREFUSED);
    assert_int_equal(d.a->last_why, LNET_WHY_NO_RESOURCES);
    loop_run_for(d.l, 2 * SECOND);
    assert_int_equal(put(d.a, 2), 0);
    end(&d);
}

static void a_node_that_was_started_anew_is_asked_again(void **state)
{
    struct duo d = duo_new();

    (void)state;
    start(&d);
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(info(d.a).stamp, 102);
    d.cb.stamp = 7000;
    loop_restart(d.b, &d.cb);
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(d.a->last_why, LNET_WHY_CONN_STALE);
    assert_int_equal(info(d.a).stamp, 7000);
    d.ca.stamp = 8000; /* the other way: the old connection closes first */
    loop_restart(d.a, &d.ca);
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(info(d.b).stamp, 8000);
    end(&d);
}

/* The rules of 2007 have no reason for that, and need none. */
static void a_node_of_2007_that_was_started_anew_accepts_anybody(void **state)
{
    struct duo d = duo_new();

    (void)state;
    d.cb = lnd_defaults(0, true);
    start(&d);
    assert_int_equal(put(d.a, 2), 0);
    d.cb.stamp = 7000;
    loop_restart(d.b, &d.cb);
    assert_int_equal(put(d.a, 2), 0); /* at once: it is not asked for its old incarnation */
    assert_int_equal(info(d.a).stamp, 7000);
    end(&d);
}

/* A connection of the other version closes, although its node is the same. */
static void a_request_of_another_version_closes_connections(void **state)
{
    struct duo d = duo_new();
    uint8_t bytes[LNET_CONN_BYTES];

    (void)state;
    start(&d);
    assert_int_equal(put(d.a, 2), 0);
    good_request(bytes, loop_nid(2));
    bytes[16] = 1; /* 10.0.0.1, and its incarnation */
    bytes[24] = 101;
    assert_true(loop_raw_request(d.b, bytes, sizeof(bytes)));
    assert_int_not_equal(info(d.b).state, UINT32_MAX); /* a second connection, of the same */
    bytes[4] = LNET_VERSION_1;
    assert_false(loop_raw_request(d.b, bytes, sizeof(bytes)));
    assert_int_equal(d.b->last_why, LNET_WHY_CONN_STALE);
    assert_int_equal(info(d.b).error, -ESTALE);
    loop_run(d.l);
    end(&d);
}

/* ---- races ---- */

/* Each of the two puts to the other at the same time. */
static void put_both_ways(struct duo *d)
{
    const struct lnet_md md = {.threshold = 1};
    struct lnet_call call = {0};

    assert_int_equal(lnet_bind(d->a->node, &md, &call.md), 0);
    call.nid = loop_nid(2);
    assert_int_equal(lnet_put(d->a->node, &call), 0);
    assert_int_equal(lnet_bind(d->b->node, &md, &call.md), 0);
    call.nid = loop_nid(1);
    assert_int_equal(lnet_put(d->b->node, &call), 0);
    loop_run(d->l);
}

static void one_connection_wins_a_race(void **state)
{
    struct duo d = duo_new();

    (void)state;
    start(&d);
    put_both_ways(&d);
    assert_int_equal(d.a->events[0].status, 0);
    assert_int_equal(d.b->events[0].status, 0);
    assert_int_equal(d.a->last_why, LNET_WHY_CONN_RACE);
    assert_int_equal(lnd_counts(d.b->lnd)->races, 1); /* the larger NID wins */
    assert_int_equal(lnd_counts(d.a->lnd)->races, 0);
    assert_int_equal(info(d.b).n_races, 0); /* the next race begins anew */
    end(&d);
}

/* After many lost races a node accepts, and there are two connections.  One takes the place of the
 * other.
 */
static void a_second_connection_takes_the_place_of_the_first(void **state)
{
    struct duo d = duo_new();
    struct lnd_conn *first;

    (void)state;
    start(&d);
    lnd_peer_of(d.b->lnd, loop_nid(1))->n_races = LND_RACES_MAX;
    put_both_ways(&d);
    assert_int_equal(lnd_counts(d.b->lnd)->accepts, 1);
    assert_int_equal(lnd_counts(d.a->lnd)->accepts, 1);
    assert_non_null(info(d.b).link);
    first = info(d.b).link->owner;
    lnd_cm_event(d.b->lnd, &first->link, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
    assert_non_null(info(d.b).link);
    loop_run_for(d.l, SECOND / 2);
    assert_int_equal(put(d.b, 1), 0);
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(lnd_counts(d.a->lnd)->connects, 1);
    assert_int_equal(lnd_counts(d.b->lnd)->connects, 1);
    end(&d);
}

/* A peer may ask for a connection while an earlier request of it is being accepted: it may have
 * given that one up.
 */
static void two_requests_of_one_peer_are_no_race(void **state)
{
    struct duo d = duo_new();
    uint8_t bytes[LNET_CONN_BYTES];

    (void)state;
    start(&d);
    good_request(bytes, loop_nid(2));
    bytes[16] = 1; /* the smaller NID, which would lose */
    bytes[24] = 101;
    assert_true(loop_raw_request(d.b, bytes, sizeof(bytes)));
    assert_int_equal(info(d.b).n_accepting, 1);
    assert_true(loop_raw_request(d.b, bytes, sizeof(bytes)));
    assert_int_equal(info(d.b).n_accepting, 2);
    loop_run(d.l);
    end(&d);
}

static void the_larger_nid_or_hash_wins(void **state)
{
    const uint64_t a = lnet_nid(0, 0x0a000101), b = lnet_nid(0, 0x0a000002);
    struct duo d = duo_new();

    (void)state;
    d.cb.race_by_hash = true;
    start(&d);
    assert_true(lnd_wins(d.a->lnd, a, b)); /* 10.0.1.1 and 10.0.0.2 */
    assert_false(lnd_wins(d.b->lnd, a, b));
    assert_true(lnd_wins(d.b->lnd, b, a));
    assert_false(lnd_wins(d.a->lnd, a, a));
    end(&d);
}

/* ---- requests and answers that are wrong ---- */

/* A byte of a CONNREQ, CONNACK or message that changes, and the reason or the errno. */
struct change {
    const char *name;
    uint32_t at;
    uint8_t xor ;
    uint32_t why;
    int error;
};

static const struct change requests[] = {
    {"magic", 1, 0x40, LNET_WHY_FATAL, 0},
    {"version 0x13", 4, 0x01, LNET_WHY_FATAL, 0},
    {"type", 6, 0x01, LNET_WHY_FATAL, 0},
    {"type of a message", 6, 0x10, LNET_WHY_FATAL, 0},
    {"length", 8, 0x01, LNET_WHY_FATAL, 0},
    {"checksum", 12, 0x01, LNET_WHY_FATAL, 0},
    {"NID", 32, 0x08, LNET_WHY_FATAL, 0},
    {"net of the NID", 36, 0x01, LNET_WHY_FATAL, 0},
    {"incarnation", 40, 0x01, LNET_WHY_CONN_STALE, 0},
    {"queue depth 9", 48, 0x01, LNET_WHY_MSG_QUEUE_SIZE, 0},
    {"queue depth 0", 48, 0x08, LNET_WHY_FATAL, 0},
    {"257 fragments", 50, 0x01, LNET_WHY_RDMA_FRAGS, 0},
    {"no fragments", 51, 0x01, LNET_WHY_FATAL, 0},
    {"messages of 4097 bytes", 52, 0x01, LNET_WHY_FATAL, 0},
};

static void wrong_requests_are_rejected(void **state)
{
    struct duo d = duo_new();
    uint8_t bytes[LNET_CONN_BYTES];
    struct lnet_reject r;

    (void)state;
    start(&d);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        const struct change *c = &requests[i];

        good_request(bytes, loop_nid(2));
        bytes[c->at] ^= c->xor ;
        if (c->at == 48) /* 8 becomes 9 or 0 */
            bytes[48] = c->xor == 1 ? 9 : 0;
        if (loop_raw_request(d.b, bytes, sizeof(bytes)) || d.b->last_why != c->why)
            fail_msg("%s: reason %u", c->name, d.b->last_why);
        assert_true(lnet_reject_parse(d.b->reject, d.b->n_reject, &r));
        assert_int_equal(r.why, c->why);
        assert_int_equal(r.stamp, 102);
        assert_int_equal(r.conn.queue_depth, 8);
        assert_int_equal(r.conn.max_frags, 256);
    }
    for (uint32_t n = 0; n < LNET_CONN_BYTES; n++) {
        good_request(bytes, loop_nid(2));
        assert_false(loop_raw_request(d.b, bytes, n));
        assert_int_equal(d.b->last_why, LNET_WHY_FATAL);
    }
    good_request(bytes, loop_nid(2));
    assert_true(loop_raw_request(d.b, bytes, sizeof(bytes)));
    loop_run(d.l);
    end(&d);
}

static const struct change acks[] = {
    {"magic", 1, 0x40, 0, -EPROTO},
    {"version", 4, 0x03, 0, -EPROTO},
    {"type", 6, 0x01, 0, -EPROTO},
    {"source NID", 16, 0x08, 0, -ESTALE},
    {"destination NID", 32, 0x08, 0, -ESTALE},
    {"destination incarnation", 40, 0x01, 0, -ESTALE},
    {"larger queue depth", 48, 0x10, 0, -EPROTO},
    {"no queue depth", 48, 0x08, 0, -EPROTO},
    {"no fragments", 51, 0x01, 0, -EPROTO},
    {"more fragments", 50, 0x01, 0, -EPROTO},
    {"messages of 4097 bytes", 52, 0x01, 0, -EPROTO},
};

static void wrong_answers_close_the_connection(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(acks); i++) {
        struct duo d = duo_new();
        int st;

        start(&d);
        d.l->tamper = LOOP_REP;
        d.l->tamper_at = acks[i].at;
        d.l->tamper_xor = acks[i].xor ;
        st = put(d.a, 2);
        if (st != acks[i].error)
            fail_msg("%s: %d", acks[i].name, st);
        loop_run_for(d.l, 2 * SECOND);
        assert_int_equal(put(d.a, 2), 0);
        end(&d);
    }
}

static const struct change messages[] = {
    {"magic", 1, 0x40, 0, -EPROTO},
    {"version 0x13", 4, 0x01, 0, -EPROTO},
    {"type of a request", 6, 0x10, 0, -EPROTO},
    {"an answer to nothing", 6, 0x04, 0, -EPROTO}, /* IMMEDIATE becomes PUT_DONE */
    {"too many credits", 7, 0xff, 0, -EPROTO},
    {"more bytes than there are", 9, 0x10, 0, -EPROTO},
    {"source NID", 16, 0x08, 0, -EPROTO},
    {"source incarnation", 24, 0x01, 0, -ESTALE},
    {"destination NID", 32, 0x08, 0, -EPROTO},
    {"destination incarnation", 40, 0x01, 0, -ESTALE},
    {"destination of LNet", 48, 0x08, 0, -EPROTO},
    {"source of LNet", 56, 0x08, 0, -EPROTO},
    {"operation of LNet", 72, 0x08, 0, -EPROTO},
};

static void wrong_messages_close_the_connection(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
        struct duo d = duo_new();

        start(&d);
        assert_int_equal(put(d.a, 2), 0);
        d.l->tamper = LOOP_MESSAGE;
        d.l->tamper_at = messages[i].at;
        d.l->tamper_xor = messages[i].xor ;
        (void)put(d.a, 2);
        if (info(d.b).error != messages[i].error || info(d.b).state != UINT32_MAX)
            fail_msg("%s: %d", messages[i].name, info(d.b).error);
        assert_int_equal(lnd_counts(d.b->lnd)->bad_messages, 1);
        assert_int_equal(put(d.a, 2), 0); /* on a new connection */
        end(&d);
    }
}

/* The RTU cannot be sent, the CONNACK is wrong, or the first message cannot be posted: the
 * connection, which the active side establishes itself, ends in the middle of that.
 */
static void a_connection_may_close_while_it_is_established(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        struct duo d = duo_new();

        start(&d);
        d.l->asks = true;
        d.l->is_late = i >= 3;
        if (i % 3 == 0) {
            loop_fail(d.a, LOOP_ESTABLISH, 1, -ENOMEM);
        } else if (i % 3 == 1) {
            d.l->tamper = LOOP_REP;
            d.l->tamper_at = 6; /* its type */
            d.l->tamper_xor = 1;
        } else {
            loop_fail(d.a, LOOP_POST_SEND, 1, -ENOMEM);
        }
        assert_int_not_equal(put(d.a, 2), 0);
        assert_null(d.a->lnd->conns);
        loop_run_for(d.l, 2 * SECOND);
        assert_int_equal(put(d.a, 2), 0);
        end(&d);
    }
}

/* A GET_DONE tells of more bytes than there is memory. */
static void a_peer_cannot_say_that_it_has_written_more_than_was_asked_for(void **state)
{
    struct duo d = duo_new();
    const struct lnet_match match = {4, LNET_NID_ANY, 0, 0};
    struct lnet_md md = {.n = 1, .options = LNET_MD_GET};
    struct lnet_call call = {.nid = loop_nid(2), .portal = 4};
    uint64_t handle;

    (void)state;
    start(&d);
    md.frags[0] = (struct lnet_frag){20000, loop_pages(d.b, 20000)};
    assert_int_equal(lnet_attach(d.b->node, &match, &md, &handle), 0);
    md.frags[0].addr = loop_pages(d.a, 20000);
    assert_int_equal(lnet_bind(d.a->node, &md, &call.md), 0);
    assert_int_equal(lnet_get(d.a->node, &call), 0);
    while (lnd_counts(d.b->lnd)->sent[lnd_count_index(LNET_MSG_GET_DONE)] == 0)
        assert_true(loop_step(d.l));
    d.l->tamper = LOOP_MESSAGE;
    d.l->tamper_at = LNET_HEAD_BYTES + 8 + 2; /* byte 2 of the status: 65536 bytes more */
    d.l->tamper_xor = 1;
    loop_run_for(d.l, SECOND / 2);
    assert_int_equal(d.a->n_events, 2); /* SEND and REPLY */
    assert_int_not_equal(d.a->events[1].status, 0);
    assert_int_equal(lnd_counts(d.a->lnd)->bad_messages, 1);
    end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_of_version_1_is_asked_again),
        cmocka_unit_test(a_node_of_2007_is_asked_again),
        cmocka_unit_test(a_request_of_version_1_is_accepted),
        cmocka_unit_test(the_smaller_queue_depth_is_taken),
        cmocka_unit_test(the_smaller_number_of_fragments_is_taken),
        cmocka_unit_test(queues_that_are_too_long_become_shorter),
        cmocka_unit_test(nothing_is_negotiated_with_version_1),
        cmocka_unit_test(a_peer_that_offers_as_much_as_it_rejects_is_not_asked_again),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(a_node_is_not_up_yet),
        cmocka_unit_test(no_resources),
        cmocka_unit_test(a_node_that_was_started_anew_is_asked_again),
        cmocka_unit_test(a_node_of_2007_that_was_started_anew_accepts_anybody),
        cmocka_unit_test(a_request_of_another_version_closes_connections),
        cmocka_unit_test(one_connection_wins_a_race),
        cmocka_unit_test(a_second_connection_takes_the_place_of_the_first),
        cmocka_unit_test(two_requests_of_one_peer_are_no_race),
        cmocka_unit_test(the_larger_nid_or_hash_wins),
        cmocka_unit_test(wrong_requests_are_rejected),
        cmocka_unit_test(wrong_answers_close_the_connection),
        cmocka_unit_test(wrong_messages_close_the_connection),
        cmocka_unit_test(a_connection_may_close_while_it_is_established),
        cmocka_unit_test(a_peer_cannot_say_that_it_has_written_more_than_was_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
