/* SPDX-License-Identifier: MIT */
/* Trouble at any time: operations that fail, queue pairs that break, peers that are not reachable,
 * nodes that stop.  Whatever happens, each message ends, nothing is left, and the next connection
 * works.
 */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "rig.h"

static void begin_runs(struct rig *r, struct prng *d, uint32_t count)
{
    static const uint32_t sizes[] = {0, 100, 3977, 20000};

    for (uint32_t i = 0; i < 2; i++) {
        const enum selftest_op op = (enum selftest_op)prng_below(d, 3);

        rig_begin(r, i, 1 - i, op, sizes[prng_below(d, ARRAY_LEN(sizes))], count);
    }
}

/* Lets time go on until no client is at work. */
static void finish(struct rig *r, uint64_t seed)
{
    for (uint32_t s = 0; s < 400 && !rig_is_done(r); s++)
        rig_run_for(r, SECOND);
    if (!rig_is_done(r))
        fail_msg("LNET_SEED=%u: a message does not end", (unsigned)seed);
    for (uint32_t i = 0; i < 2; i++) {
        if (selftest_result(r->st[i]).corrupt > 0 || selftest_served(r->st[i]).corrupt > 0)
            fail_msg("LNET_SEED=%u: data of node %u is wrong", (unsigned)seed, i + 1);
    }
}

static void cause_trouble(struct rig *r, struct prng *d)
{
    static const int errors[] = {-ENOMEM, -EIO, -EINVAL};
    static const enum loop_op ops[] = {LOOP_REG_MR,  LOOP_CREATE_CQ, LOOP_CREATE_QP, LOOP_RESOLVE,
                                       LOOP_CONNECT, LOOP_ACCEPT,    LOOP_POST_SEND, LOOP_POST_RECV,
                                       LOOP_ALLOC,   LOOP_PAGES};
    struct loop_node *n = r->n[prng_below(d, 2)];
    const enum loop_op op = ops[prng_below(d, ARRAY_LEN(ops))];
    const int error = errors[prng_below(d, ARRAY_LEN(errors))];

    switch (prng_below(d, 4)) {
    case 0:
        loop_break(n);
        break;
    case 1:
        n->is_unreachable = !n->is_unreachable;
        break;
    default:
        loop_fail(n, op, 1 + (uint32_t)prng_below(d, op == LOOP_ALLOC ? 40 : 10), error);
        break;
    }
}

static void some_steps(struct rig *r, struct prng *d)
{
    for (uint64_t k = prng_below(d, 100); k > 0; k--)
        (void)loop_step(r->l);
}

static void one_troubled_run(uint64_t seed)
{
    struct prng d = prng_stream(seed, 2);
    struct rig r = rig_new(seed);
    struct lnd_config c = lnd_defaults(loop_nid(1), false);

    r.l->is_random = prng_below(&d, 4) > 0;
    r.l->is_late = prng_below(&d, 2) > 0;
    c.version = prng_below(&d, 3) ? LNET_VERSION_2 : LNET_VERSION_1;
    c.map = (enum lnet_map)prng_below(&d, 3);
    for (uint32_t i = 0; i < 2; i++)
        rig_add(&r, &c, &(struct selftest_server_config){.timeout_ns = 70 * SECOND});
    begin_runs(&r, &d, 20);
    for (uint32_t i = 0; i < 6; i++) {
        some_steps(&r, &d);
        cause_trouble(&r, &d);
    }
    loop_run_for(r.l, SECOND);
    for (uint32_t i = 0; i < 2; i++) {
        r.n[i]->is_unreachable = false;
        memset(r.n[i]->fail_in, 0, sizeof(r.n[i]->fail_in));
    }
    finish(&r, seed);
    rig_run_for(&r, 70 * SECOND); /* until the next attempt to connect */
    begin_runs(&r, &d, 3);
    finish(&r, seed);
    for (uint32_t i = 0; i < 2; i++) {
        const struct selftest_result res = selftest_result(r.st[i]);

        if (res.good != 3)
            fail_msg("LNET_SEED=%u: node %u: error %d", (unsigned)seed, i + 1, res.error);
    }
    if (prng_below(&d, 2)) {
        begin_runs(&r, &d, 5);
        some_steps(&r, &d);
    }
    rig_free(&r); /* which stops in the middle, and asserts that nothing is left */
}

static void everything_ends_and_works_again(void **state)
{
    (void)state;
    rig_rounds(200, one_troubled_run);
}

/* A program that sends again as soon as a message has failed. */
struct stubborn {
    struct loop_node *n;
    uint64_t md;
    uint32_t tries;
};

static void try_again(void *ctx, const struct lnet_event *e)
{
    struct stubborn *s = ctx;

    assert_int_not_equal(e->status, 0);
    if (s->tries++ < 1000)
        (void)lnet_put(s->n->node, &(struct lnet_call){.md = s->md, .nid = loop_nid(2)});
}

static void a_message_that_is_sent_again_at_once_waits_for_the_next_attempt(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct loop *l = loop_new(1);
    struct stubborn s = {.n = loop_add(l, &c)};

    (void)state;
    s.n->listener = try_again;
    s.n->listener_ctx = &s;
    assert_int_equal(lnet_bind(s.n->node, &(struct lnet_md){0}, &s.md), 0);
    assert_int_equal(lnet_put(s.n->node, &(struct lnet_call){.md = s.md, .nid = loop_nid(2)}), 0);
    loop_run_for(l, 100 * SECOND);
    assert_in_range(s.tries, 5, 10); /* after 1, 3, 7, 15, 31, 63 seconds */
    loop_fail(s.n, LOOP_RESOLVE, 1, -ENOMEM);
    loop_run_for(l, 100 * SECOND);
    assert_in_range(s.tries, 6, 13);
    s.tries = 1000;
    loop_stop_all(l);
    loop_free(l);
}

static void many_messages_fail_at_once_without_a_deep_stack(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct loop *l = loop_new(1);
    struct loop_node *n = loop_add(l, &c);
    struct lnet_md md = {0};
    uint64_t handle;

    (void)state;
    n->counts_events = true;
    assert_int_equal(lnet_bind(n->node, &md, &handle), 0);
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(lnet_put(n->node, &(struct lnet_call){.md = handle, .nid = loop_nid(2)}),
                         0);
    lnd_stop(n->lnd);
    assert_int_equal(n->n_events, 100000);
    loop_run(l);
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_ends_and_works_again),
        cmocka_unit_test(a_message_that_is_sent_again_at_once_waits_for_the_next_attempt),
        cmocka_unit_test(many_messages_fail_at_once_without_a_deep_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
