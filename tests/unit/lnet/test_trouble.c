/* SPDX-License-Identifier: MIT */
/* Trouble at any time: operations that fail, queue pairs that break, peers that are not reachable,
 * nodes that stop.  Whatever happens, each message ends, nothing is left, and the next connection
 * works.
 */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "lnet/lnd_internal.h"
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
                                       LOOP_ALLOC,   LOOP_PAGES,     LOOP_ESTABLISH, LOOP_READ,
                                       LOOP_WRITE,   LOOP_COPY};
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
    r.l->asks = prng_below(&d, 2) > 0;
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

/* ---- one call that fails ---- */

#define PORTAL 4u

static void begin_transfer(struct loop_node *n, bool is_put, uint32_t bytes, uint32_t portal,
                           uint32_t *n_begun)
{
    struct lnet_md md = {.n = 1, .threshold = 1};
    struct lnet_call call = {.nid = loop_nid(2), .portal = portal, .wants_ack = is_put};

    md.frags[0] = (struct lnet_frag){bytes, n->blocks[n->n_blocks - 1].addr};
    if (lnet_bind(n->node, &md, &call.md) == 0 &&
        (is_put ? lnet_put(n->node, &call) : lnet_get(n->node, &call)) == 0)
        (*n_begun)++;
}

/* Returns the number of operations of @n that are over. */
static uint32_t ended(const struct loop_node *n)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < n->n_events; i++)
        sum += n->events[i].kind == LNET_EVENT_SEND;
    return sum;
}

static bool is_idle(const struct loop_node *n)
{
    struct lnd_peer_info p;

    return !lnd_peer_at(n->lnd, 0, &p) || (p.active == 0 && p.queued == 0 && p.waiting == 0);
}

/* Short and long messages in all directions, while call @nth of @op at node @who fails.  Returns
 * false if there were not so many calls.
 */
static bool with_one_failure(enum loop_op op, uint32_t nth, uint32_t who, bool asks)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    const struct lnet_match match = {PORTAL, LNET_NID_ANY, 0, 0};
    struct lnet_md md = {.n = 1, .options = LNET_MD_PUT | LNET_MD_GET | LNET_MD_MANAGE_REMOTE};
    struct loop *l = loop_new(1);
    struct loop_node *n[2] = {loop_add(l, &c), loop_add(l, &c)};
    uint32_t n_begun = 0;
    uint64_t handle;
    bool was_reached;

    l->asks = asks;
    md.frags[0] = (struct lnet_frag){20000, loop_pages(n[1], 20000)};
    assert_int_equal(lnet_attach(n[1]->node, &match, &md, &handle), 0);
    (void)loop_pages(n[0], 20000);
    loop_fail(n[who], op, nth, -ENOMEM);
    for (uint32_t i = 0; i < 2; i++) {
        begin_transfer(n[0], i == 0, 20000, PORTAL, &n_begun);
        begin_transfer(n[0], i == 0, 100, PORTAL, &n_begun);
        begin_transfer(n[0], i == 0, 20000, PORTAL + 1, &n_begun); /* nobody is there */
    }
    loop_run_for(l, 3 * SECOND); /* another attempt to connect, but no timeout */
    was_reached = n[who]->fail_in[op] == 0;
    if (ended(n[0]) != n_begun || !is_idle(n[0]) || !is_idle(n[1]))
        fail_msg("operation %d, call %u of node %u: %u of %u are over", op, nth, who + 1,
                 ended(n[0]), n_begun);
    n[who]->fail_in[op] = 0;
    loop_run_for(l, 2 * SECOND);
    n[0]->n_events = n_begun = 0;
    begin_transfer(n[0], true, 20000, PORTAL, &n_begun);
    loop_run_for(l, SECOND);
    assert_int_equal(n[0]->n_events, 2);
    assert_int_equal(n[0]->events[0].status, 0);
    loop_stop_all(l);
    loop_free(l);
    return was_reached;
}

/* Whatever call fails, both sides learn of it at once: nobody waits for a timeout. */
static void a_call_that_fails_leaves_nobody_waiting(void **state)
{
    static const enum loop_op ops[] = {
        LOOP_REG_MR, LOOP_CREATE_CQ, LOOP_CREATE_QP, LOOP_RESOLVE,   LOOP_CONNECT,
        LOOP_ACCEPT, LOOP_ESTABLISH, LOOP_POST_SEND, LOOP_POST_RECV, LOOP_ALLOC,
        LOOP_PAGES,  LOOP_READ,      LOOP_WRITE,     LOOP_COPY};
    uint32_t n_failed = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t nth = 1;

            while (with_one_failure(ops[i], nth, k / 2, k % 2))
                nth++;
            n_failed += nth - 1;
        }
    }
    assert_in_range(n_failed, 200, 1000);
}

/* A completion of something that was not posted closes the connection. */
static void completions_that_are_made_up_are_refused(void **state)
{
    static const struct {
        uint64_t wr_id;
        uint32_t status, bytes;
        bool is_posted; /* once, and it is told twice */
    } rows[] = {
        {UINT64_MAX & ~UINT64_C(3), 0, 0, false},     /* a message beyond all */
        {UINT64_C(1) << 34 | LND_WR_TX, 0, 0, false}, /* whose index has 33 bits */
        {3 << 2 | LND_WR_TX, 0, 0, false},            /* one that is idle */
        {3 << 2 | LND_WR_RDMA, 5, 0, false},          /* its RDMA WRITE */
        {1000000 << 2 | LND_WR_RX, 0, 100, false},    /* a receive beyond all */
        {3, 0, 0, false},                             /* of no kind */
        {0 << 2 | LND_WR_RX, 0, 4097, true},          /* more bytes than a receive has */
        {0 << 2 | LND_WR_RX, 5, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct lnd_config c = lnd_defaults(loop_nid(1), false);
        struct loop *l = loop_new(1);
        struct loop_node *a = loop_add(l, &c);
        struct loop_id *id = l->ids;
        uint32_t n = 0;

        (void)loop_add(l, &c);
        (void)loop_pages(a, 4096);
        begin_transfer(a, true, 100, PORTAL, &n);
        loop_run(l);
        assert_int_equal(a->n_events, 1);
        while (id->node != a)
            id++;
        if (rows[i].is_posted) { /* it goes out of the queue pair */
            assert_int_equal(id->recvs[id->first_recv].wr_id, rows[i].wr_id);
            id->first_recv++;
            id->n_recvs--;
        }
        for (uint32_t k = 0; k <= rows[i].is_posted; k++)
            lnd_completion(a->lnd, id->link, rows[i].wr_id, rows[i].status, rows[i].bytes);
        assert_int_equal(lnd_counts(a->lnd)->closes, 1);
        loop_run_for(l, 2 * SECOND);
        begin_transfer(a, true, 100, PORTAL, &n);
        loop_run(l);
        assert_int_equal(a->n_events, 2);
        assert_int_equal(a->events[1].status, 0);
        loop_stop_all(l);
        loop_free(l);
    }
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
    struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct loop *l = loop_new(1);
    struct stubborn s = {0};
    uint32_t before;

    (void)state;
    c.timeout_ns = 1000 * SECOND; /* so that only the next attempt wakes the driver */
    s.n = loop_add(l, &c);
    s.n->listener = try_again;
    s.n->listener_ctx = &s;
    assert_int_equal(lnet_bind(s.n->node, &(struct lnet_md){0}, &s.md), 0);
    assert_int_equal(lnet_put(s.n->node, &(struct lnet_call){.md = s.md, .nid = loop_nid(2)}), 0);
    loop_run_for(l, 100 * SECOND);
    before = s.tries;
    assert_int_equal(before, 7);              /* after 0, 1, 3, 7, 15, 31, 63 seconds */
    loop_fail(s.n, LOOP_RESOLVE, 1, -ENOMEM); /* the next attempt, which fails at once */
    loop_run_for(l, 100 * SECOND);
    assert_int_equal(s.tries, before + 2); /* after 123 and 183 seconds */
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
        cmocka_unit_test(a_call_that_fails_leaves_nobody_waiting),
        cmocka_unit_test(completions_that_are_made_up_are_refused),
        cmocka_unit_test(a_message_that_is_sent_again_at_once_waits_for_the_next_attempt),
        cmocka_unit_test(many_messages_fail_at_once_without_a_deep_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
