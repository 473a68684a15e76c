/* SPDX-License-Identifier: MIT */
/* Credits: messages that wait for them, NOOPs that return them, keepalives, timeouts.  loop_check()
 * has counted them after each step.
 */
#include "testing.h"

#include <errno.h>

#include "lnet/lnd_internal.h"
#include "rig.h"

#define NOOP 0 /* in lnd_counts */

static struct lnd_config config(uint16_t version, uint32_t depth)
{
    struct lnd_config c = lnd_defaults(loop_nid(1), false);

    c.version = version;
    c.peer_credits = depth;
    return c;
}

static struct lnd_conn *connection_of(const struct loop_node *n)
{
    struct lnd_peer_info i;

    assert_true(lnd_peer_at(n->lnd, 0, &i));
    assert_non_null(i.link);
    return i.link->owner;
}

/* Sends @n PUTs of nothing, which nobody takes, through LNet's own credits. */
static void put_many(struct loop_node *from, uint32_t to, uint32_t n)
{
    struct lnet_md md = {.threshold = n};
    struct lnet_call call = {.nid = loop_nid(to)};

    from->counts_events = true;
    assert_int_equal(lnet_bind(from->node, &md, &call.md), 0);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(lnet_put(from->node, &call), 0);
}

/* @n handles nothing more of its connection. */
static void hold(struct loop *l, const struct loop_node *n)
{
    for (uint32_t i = 0; i < LOOP_IDS; i++) {
        if (l->ids[i].is_used && l->ids[i].node == n)
            l->hold = &l->ids[i];
    }
}

/* Traffic one way only: the far side has no messages that would return credits. */
static void credits_return_when_traffic_goes_one_way(void **state)
{
    static const uint16_t versions[] = {LNET_VERSION_1, LNET_VERSION_2};
    static const uint32_t depths[] = {3, 4, 8};

    (void)state;
    for (size_t v = 0; v < 2; v++) {
        for (size_t d = 0; d < ARRAY_LEN(depths); d++) {
            const struct lnd_config c = config(versions[v], depths[d]);
            struct loop *l = loop_new(1);
            struct loop_node *a = loop_add(l, &c), *b = loop_add(l, &c);

            put_many(a, 2, 100);
            loop_run(l);
            assert_int_equal(a->n_events, 100);
            assert_int_equal(lnd_counts(b->lnd)->received[1], 100);
            assert_in_range(lnd_counts(b->lnd)->sent[NOOP], 100 / depths[d], 100);
            if (versions[v] == LNET_VERSION_2) /* in version 1 a NOOP costs a credit, too */
                assert_int_equal(lnd_counts(a->lnd)->sent[NOOP], 0);
            loop_stop_all(l);
            loop_free(l);
        }
    }
}

static void a_message_waits_for_a_credit(void **state)
{
    const struct lnd_config c = config(LNET_VERSION_2, 4);
    struct loop *l = loop_new(1);
    struct loop_node *a = loop_add(l, &c), *b = loop_add(l, &c);
    struct lnd_memory none = {0};
    struct lnet_hdr hdr = {.dest_nid = loop_nid(2), .src_nid = loop_nid(1), .type = 0 /* ACK */};

    (void)state;
    put_many(a, 2, 1);
    loop_run(l);
    hold(l, b);
    lnd_enter(a->lnd); /* LNet itself would not hand over so many */
    for (uint32_t i = 0; i < 6; i++) {
        struct lnd_peer *p = lnd_peer_of(a->lnd, loop_nid(2));
        struct lnd_tx *tx = lnd_tx_get(a->lnd, LNET_MSG_IMMEDIATE);

        tx->hdr = hdr;
        tx->peer = p;
        assert_int_equal(lnd_tx_build(tx, &none), 0);
        lnd_launch(p, tx);
    }
    lnd_leave(a->lnd);
    loop_run(l);
    assert_int_equal(connection_of(a)->credits, 0);
    assert_int_equal(connection_of(a)->ready.n, 3);    /* one credit was used by the PUT */
    assert_int_equal(a->stalls[LND_STALL_CREDITS], 1); /* the first one, which was tried often */
    l->hold = NULL;
    loop_run(l);
    assert_int_equal(connection_of(a)->ready.n, 0);
    loop_stop_all(l);
    loop_free(l);
}

static void version_1_keeps_the_last_credit_for_a_noop(void **state)
{
    const struct lnd_config c = config(LNET_VERSION_1, 8);
    struct rig r = rig_new(1);

    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        rig_add(&r, &c, &(struct selftest_server_config){0});
    rig_begin(&r, 0, 1, SELFTEST_WRITE, 100, 50);
    rig_begin(&r, 1, 0, SELFTEST_WRITE, 100, 50);
    loop_run(r.l);
    assert_true(rig_is_done(&r));
    assert_true(r.n[0]->stalls[LND_STALL_LAST_CREDIT] + r.n[1]->stalls[LND_STALL_LAST_CREDIT] > 0);
    rig_free(&r);
}

static void requests_wait_for_a_reserved_credit_or_a_post(void **state)
{
    struct lnd_config c = config(LNET_VERSION_2, 8);
    struct rig r = rig_new(1);

    (void)state;
    c.concurrent_sends = 4;
    for (uint32_t i = 0; i < 2; i++)
        rig_add(&r, &c, &(struct selftest_server_config){0});
    rig_begin(&r, 0, 1, SELFTEST_WRITE, 9000, 50);
    rig_begin(&r, 1, 0, SELFTEST_READ, 9000, 50);
    loop_run(r.l);
    assert_true(rig_is_done(&r));
    assert_true(r.n[0]->stalls[LND_STALL_SENDS] + r.n[1]->stalls[LND_STALL_SENDS] > 0);
    rig_free(&r);
}

static void silence_is_broken_by_a_noop(void **state)
{
    static const uint16_t versions[] = {LNET_VERSION_1, LNET_VERSION_2};

    (void)state;
    for (size_t v = 0; v < 2; v++) {
        const struct lnd_config c = config(versions[v], 8);
        struct loop *l = loop_new(1);
        struct loop_node *a = loop_add(l, &c), *b = loop_add(l, &c);

        put_many(a, 2, 1);
        loop_run_for(l, 99 * SECOND);
        assert_int_equal(lnd_counts(a->lnd)->sent[NOOP], 0);
        loop_run_for(l, 2 * SECOND);
        assert_int_equal(lnd_counts(a->lnd)->sent[NOOP], 1);
        assert_int_equal(lnd_counts(b->lnd)->sent[NOOP], 1);
        loop_run_for(l, 1000 * SECOND);
        assert_int_equal(lnd_counts(a->lnd)->sent[NOOP], 11);
        loop_stop_all(l);
        loop_free(l);
    }
}

static void a_message_that_is_not_answered_times_out(void **state)
{
    struct lnd_config c = config(LNET_VERSION_2, 8);
    struct loop *l = loop_new(1);
    struct loop_node *a = loop_add(l, &c);

    (void)state;
    c.timeout_ns = 5 * SECOND;
    a->is_unreachable = true;
    loop_add(l, &c)->is_unreachable = true;
    put_many(a, 2, 1); /* ADDR_ERROR at once: it fails */
    loop_run(l);
    assert_int_equal(a->n_events, 1);
    put_many(a, 2, 1); /* waits for the next attempt, after a second */
    loop_run_for(l, SECOND / 2);
    assert_int_equal(a->n_events, 1);
    loop_run_for(l, SECOND);
    assert_int_equal(a->n_events, 2);
    loop_stop_all(l);
    loop_free(l);
}

/* The time of a message begins when LNet sends it, and anew when it has its connection. */
static void the_wait_for_a_connection_has_its_own_time(void **state)
{
    struct lnd_config c = config(LNET_VERSION_2, 8);
    struct lnet_md md = {.n = 1, .threshold = 1};
    struct lnet_call call = {.nid = loop_nid(2)};
    struct loop *l = loop_new(1);
    struct loop_node *a, *b;

    (void)state;
    c.timeout_ns = 2 * SECOND;
    a = loop_add(l, &c);
    b = loop_add(l, &c);
    b->is_unreachable = true;
    put_many(a, 2, 1); /* fails at once; the next attempt is after a second */
    loop_run(l);
    assert_int_equal(a->n_events, 1);
    b->is_unreachable = false;
    a->counts_events = false;
    a->n_events = 0;
    md.frags[0] = (struct lnet_frag){5000, loop_pages(a, 5000)};
    assert_int_equal(lnet_bind(a->node, &md, &call.md), 0);
    assert_int_equal(lnet_put(a->node, &call), 0);
    assert_int_equal(lnd_counts(a->lnd)->connects, 1);
    l->now_ns += SECOND;
    lnd_wake(a->lnd);
    while (lnd_counts(b->lnd)->accepts == 0)
        assert_true(loop_step(l));
    hold(l, b); /* it does not answer the PUT_REQ */
    loop_run_for(l, 3 * SECOND / 2);
    assert_int_equal(lnd_counts(a->lnd)->sent[2], 1);
    assert_int_equal(lnd_counts(a->lnd)->timeouts, 0);
    loop_run_for(l, SECOND);
    assert_int_equal(lnd_counts(a->lnd)->timeouts, 1);
    l->hold = NULL;
    loop_run(l);
    assert_int_equal(a->n_events, 1);
    assert_int_equal(a->events[0].status, -ETIMEDOUT);
    loop_stop_all(l);
    loop_free(l);
}

/* It fails when the adapter does not use its memory any more, but not with the error of that. */
static void a_message_that_is_not_sent_in_time_tells_so(void **state)
{
    const struct lnd_config c = config(LNET_VERSION_2, 8);
    struct lnet_md md = {.threshold = 1};
    struct lnet_call call = {.nid = loop_nid(2)};
    struct loop *l = loop_new(1);
    struct loop_node *a = loop_add(l, &c);

    (void)state;
    (void)loop_add(l, &c);
    put_many(a, 2, 1);
    loop_run(l);
    a->counts_events = false;
    a->n_events = 0;
    hold(l, a);
    assert_int_equal(lnet_bind(a->node, &md, &call.md), 0);
    assert_int_equal(lnet_put(a->node, &call), 0);
    loop_run_for(l, 49 * SECOND);
    assert_int_equal(lnd_counts(a->lnd)->timeouts, 0);
    loop_run_for(l, 2 * SECOND);
    assert_int_equal(lnd_counts(a->lnd)->timeouts, 1);
    l->hold = NULL;
    loop_run(l);
    assert_int_equal(a->n_events, 1);
    assert_int_equal(a->events[0].status, -ETIMEDOUT);
    loop_stop_all(l);
    loop_free(l);
}

/* In version 2 they cost no credit, so the peer has only so many receives for them. */
static void only_so_many_noops_are_under_way(void **state)
{
    const struct lnd_config c = config(LNET_VERSION_2, 4);
    struct loop *l = loop_new(1);
    struct loop_node *a = loop_add(l, &c), *b = loop_add(l, &c);

    (void)state;
    put_many(a, 2, 1);
    loop_run(l);
    connection_of(b)->n_noops += LND_NOOPS_MAX; /* as if their completions were late */
    put_many(a, 2, 10);
    loop_run(l);
    assert_int_equal(lnd_counts(b->lnd)->sent[NOOP], 0);
    assert_int_equal(connection_of(a)->credits, 0);
    connection_of(b)->n_noops -= LND_NOOPS_MAX;
    loop_run_for(l, 101 * SECOND); /* its keepalive returns the credits */
    assert_int_equal(a->n_events, 11);
    loop_stop_all(l);
    loop_free(l);
}

/* The high water is a share of the queue depth: of 8 the same as of 32, which was asked for. */
static void the_high_water_is_a_share_of_the_queue_depth(void **state)
{
    const struct lnd_config small = config(LNET_VERSION_2, 8), large = config(LNET_VERSION_2, 32);
    struct loop *l = loop_new(1);
    struct loop_node *a = loop_add(l, &small), *b = loop_add(l, &large);

    (void)state;
    put_many(a, 2, 3);
    loop_run(l);
    assert_int_equal(connection_of(b)->queue_depth, 8);
    assert_int_equal(lnd_counts(b->lnd)->sent[NOOP], 0);
    put_many(a, 2, 1);
    loop_run(l);
    assert_int_equal(lnd_counts(b->lnd)->sent[NOOP], 1);
    loop_stop_all(l);
    loop_free(l);
}

/* A connection without a credit cannot say that it is alive: the next look is a whole interval
 * later.
 */
static void a_keepalive_that_cannot_be_sent_is_not_tried_all_the_time(void **state)
{
    struct lnd_config c = config(LNET_VERSION_1, 4);
    struct loop *l = loop_new(1);
    struct loop_node *a, *b;

    (void)state;
    c.keepalive_ns = 10 * SECOND;
    a = loop_add(l, &c);
    b = loop_add(l, &c);
    put_many(a, 2, 1);
    loop_run(l);
    hold(l, b);
    put_many(a, 2, 10);
    loop_run(l);
    assert_in_range(connection_of(a)->credits, 0, 1);
    connection_of(a)->credits = 0;
    l->now_ns += 11 * SECOND;
    lnd_wake(a->lnd);
    assert_true(a->wake_ns > l->now_ns);
    connection_of(a)->credits = 1;
    l->hold = NULL;
    loop_stop_all(l);
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credits_return_when_traffic_goes_one_way),
        cmocka_unit_test(a_message_waits_for_a_credit),
        cmocka_unit_test(version_1_keeps_the_last_credit_for_a_noop),
        cmocka_unit_test(requests_wait_for_a_reserved_credit_or_a_post),
        cmocka_unit_test(silence_is_broken_by_a_noop),
        cmocka_unit_test(a_message_that_is_not_answered_times_out),
        cmocka_unit_test(the_wait_for_a_connection_has_its_own_time),
        cmocka_unit_test(a_message_that_is_not_sent_in_time_tells_so),
        cmocka_unit_test(only_so_many_noops_are_under_way),
        cmocka_unit_test(the_high_water_is_a_share_of_the_queue_depth),
        cmocka_unit_test(a_keepalive_that_cannot_be_sent_is_not_tried_all_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
