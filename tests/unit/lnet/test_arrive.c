/* SPDX-License-Identifier: MIT */
/* Messages of LNet that come: the memory that takes them, and headers that contradict their bytes.
 * [Lustre, lnet_parse, lnet_mt_match_md, kiblnd_recv]
 */
#include "testing.h"

#include <errno.h>

#include "emu/facts/enum/lnet_op.h"
#include "loopback.h"

#define PORTAL     4u
#define TYPE_AT    72u /* in an IMMEDIATE: of the LNet header */
#define PAYLOAD_AT 76u
#define SINK_AT    112u /* bytes that a GET asks for */

/* Two nodes that are connected; the second one has memory of 300 bytes for PUT and GET. */
struct duo {
    struct loop *l;
    struct loop_node *a, *b;
    uint64_t mine, its;
};

static uint64_t attach(struct loop_node *n, uint64_t addr, uint32_t bytes, uint32_t options)
{
    const struct lnet_match match = {PORTAL, LNET_NID_ANY, 0, 0};
    struct lnet_md md = {.n = 1, .options = LNET_MD_PUT | LNET_MD_GET | options};
    uint64_t handle;

    md.frags[0] = (struct lnet_frag){bytes, addr};
    assert_int_equal(lnet_attach(n->node, &match, &md, &handle), 0);
    return handle;
}

static void call(struct duo *d, bool is_put, uint32_t bytes, uint32_t options)
{
    struct lnet_md md = {.n = 1, .threshold = 1, .options = options};
    struct lnet_call c = {.nid = loop_nid(2), .portal = PORTAL, .wants_ack = is_put};

    d->a->n_events = d->b->n_events = 0;
    md.frags[0] = (struct lnet_frag){bytes, d->mine};
    assert_int_equal(lnet_bind(d->a->node, &md, &c.md), 0);
    assert_int_equal(is_put ? lnet_put(d->a->node, &c) : lnet_get(d->a->node, &c), 0);
}

static struct duo duo_new(uint32_t options)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct duo d = {.l = loop_new(1)};

    d.a = loop_add(d.l, &c);
    d.b = loop_add(d.l, &c);
    d.mine = loop_pages(d.a, 4096);
    d.its = loop_pages(d.b, 4096);
    call(&d, true, 0, 0);
    loop_run(d.l);
    if (options != UINT32_MAX)
        (void)attach(d.b, d.its, 300, LNET_MD_MANAGE_REMOTE | options);
    return d;
}

static void change(struct duo *d, uint32_t at, uint8_t by)
{
    d->l->tamper = LOOP_MESSAGE;
    d->l->tamper_at = at;
    d->l->tamper_xor = by;
}

static void end(struct duo *d)
{
    loop_stop_all(d->l);
    loop_free(d->l);
}

/* The first memory that matches decides: one that is too small drops the message, also if there is
 * larger memory behind it.
 */
static void a_message_is_for_the_first_memory_that_matches(void **state)
{
    struct duo d = duo_new(UINT32_MAX);
    const uint64_t small = attach(d.b, d.its, 50, 0);
    const uint64_t cuts = attach(d.b, d.its + 100, 60, LNET_MD_TRUNCATE);

    (void)state;
    (void)attach(d.b, d.its + 200, 1000, 0);
    for (uint32_t k = 0; k < 2; k++) {
        const uint64_t before = lnet_counts(d.b->node)->dropped;

        call(&d, k == 0, 100, 0);
        loop_run(d.l);
        assert_int_equal(d.b->n_events, 0);
        assert_int_equal(lnet_counts(d.b->node)->dropped, before + 1);
    }
    assert_int_equal(lnet_unlink(d.b->node, small), 0);
    call(&d, true, 100, 0);
    loop_run(d.l);
    assert_int_equal(d.b->events[0].md, cuts);
    assert_int_equal(d.b->events[0].mlength, 60);
    assert_int_equal(lnet_unlink(d.b->node, cuts), 0);
    call(&d, true, 100, 0);
    loop_run(d.l);
    assert_int_equal(d.b->events[0].mlength, 100);
    end(&d);
}

/* A PUT of 100 bytes becomes an ACK or a GET. */
static void an_ack_or_a_get_has_no_payload(void **state)
{
    static const uint8_t to[] = {LNET_OP_PUT ^ LNET_OP_ACK, LNET_OP_PUT ^ LNET_OP_GET};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(to); i++) {
        struct duo d = duo_new(0);

        change(&d, TYPE_AT, to[i]);
        call(&d, true, 100, 0);
        loop_run(d.l);
        assert_int_equal(lnd_counts(d.b->lnd)->bad_messages, 1);
        assert_int_equal(lnd_counts(d.b->lnd)->closes, 1);
        end(&d);
    }
}

/* The header promises 256 bytes more than the message has. */
static void an_immediate_has_the_bytes_that_it_promises(void **state)
{
    struct duo d = duo_new(LNET_MD_TRUNCATE);

    (void)state;
    change(&d, PAYLOAD_AT + 1, 1);
    call(&d, true, 100, 0);
    loop_run(d.l);
    assert_int_equal(lnd_counts(d.b->lnd)->bad_messages, 1);
    assert_int_equal(d.b->n_events, 1);
    assert_int_equal(d.b->events[0].status, -EPROTO);
    assert_int_equal(d.a->n_events, 1); /* SEND, and no ACK */
    change(&d, PAYLOAD_AT + 1, 1);
    call(&d, true, 100, 0);
    assert_int_equal(lnet_unlink(d.b->node, 1),
                     0); /* nobody wants it: it is counted all the same */
    loop_run(d.l);
    assert_int_equal(lnd_counts(d.b->lnd)->bad_messages, 2);
    end(&d);
}

/* A peer returns 228 bytes, and not 100: they are not cut without TRUNCATE. */
static void a_reply_that_is_too_long_is_dropped(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        struct duo d = duo_new(0);

        change(&d, SINK_AT, 0x80);
        call(&d, false, 100, k ? LNET_MD_TRUNCATE : 0);
        loop_run(d.l);
        assert_int_equal(d.a->n_events, 1 + k); /* SEND, and perhaps REPLY */
        assert_int_equal(lnet_counts(d.a->node)->dropped, !k);
        if (k)
            assert_int_equal(d.a->events[1].mlength, 100);
        end(&d);
    }
}

/* A PUT_NAK gives the credit of its PUT_REQ back with it: the receive is posted again by then. */
static void a_put_nak_returns_the_credit_of_its_request(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        struct duo d = duo_new(UINT32_MAX);
        struct lnd_peer_info i;
        const uint64_t big = loop_pages(d.b, 8192);

        if (k) {
            (void)attach(d.b, big, 8192, 0);
            loop_fail(d.b, LOOP_REG_MR, 1, -ENOMEM);
        }
        d.mine = loop_pages(d.a, 8192);
        call(&d, true, 8192, 0);
        loop_run(d.l);
        assert_true(lnd_peer_at(d.b->lnd, 0, &i));
        assert_int_equal(i.outstanding, 0);
        assert_true(lnd_peer_at(d.a->lnd, 0, &i));
        assert_int_equal(i.credits, i.queue_depth);
        end(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_for_the_first_memory_that_matches),
        cmocka_unit_test(an_ack_or_a_get_has_no_payload),
        cmocka_unit_test(an_immediate_has_the_bytes_that_it_promises),
        cmocka_unit_test(a_reply_that_is_too_long_is_dropped),
        cmocka_unit_test(a_put_nak_returns_the_credit_of_its_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
