/* SPDX-License-Identifier: MIT */
/* Tests of bulk transfers between nodes of all kinds, alone and in batches, in the order that a
 * seed draws.
 */
#include "testing.h"

#include <errno.h>

#include "lnet/selftest_data.h"
#include "rig.h"

static void every_size_arrives(void **state)
{
    static const uint32_t sizes[] = {0, 1, 3976, 3977, 4096, 65536, LNET_MTU};
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct rig r = rig_new(1);

    (void)state;
    rig_add(&r, &c, &(struct selftest_server_config){0});
    rig_add(&r, &c, &(struct selftest_server_config){0});
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        for (uint32_t op = SELFTEST_PING; op <= SELFTEST_WRITE; op++) {
            struct selftest_result res;

            rig_begin(&r, 1, 0, (enum selftest_op)op, sizes[i], 3);
            loop_run(r.l);
            res = selftest_result(r.st[1]);
            assert_true(selftest_is_done(r.st[1]));
            assert_int_equal(res.good, 3);
            assert_int_equal(res.bytes, op == SELFTEST_PING ? 0 : 3 * (uint64_t)sizes[i]);
        }
    }
    assert_int_equal(selftest_served(r.st[0]).good, 3 * 3 * ARRAY_LEN(sizes));
    assert_true(r.l->n_checked > 0);
    rig_free(&r);
}

/* Each allocation of a server may fail: nothing is left, and it can be tried again. */
static void a_server_that_cannot_be_made_leaves_nothing(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    const struct selftest_server_config config = {.slots = 4};
    struct loop *l = loop_new(1);
    struct loop_node *n = loop_add(l, &c);
    struct selftest *st = selftest_new(&loop_ops, n);
    const uint64_t before = n->n_allocs;
    uint32_t nth = 1;

    (void)state;
    for (;; nth++) {
        loop_fail(n, LOOP_ALLOC, nth, -ENOMEM);
        if (selftest_serve(st, n->node, &config) == 0)
            break;
        assert_int_equal(n->n_allocs, before);
    }
    assert_in_range(nth, 6, 10);
    n->fail_in[LOOP_ALLOC] = 0;
    assert_int_equal(selftest_serve(st, n->node, &config), -EBUSY);
    loop_stop_all(l);
    selftest_free(st);
    loop_free(l);
}

/* Each allocation of a test may fail: the last batch keeps its results, and nothing else is left.
 */
static void a_test_that_cannot_be_made_leaves_the_results(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct rig r = rig_new(1);
    const uint64_t peer = loop_nid(2);
    const struct selftest_client_config config = {
        .nids = &peer, .n_nids = 1, .op = SELFTEST_PING, .count = 2};
    uint64_t before;
    uint32_t nth = 1;

    (void)state;
    rig_add(&r, &c, &(struct selftest_server_config){0});
    rig_add(&r, &c, &(struct selftest_server_config){0});
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(selftest_run(r.st[0], r.n[0]->node, &config), 0);
    loop_run(r.l);
    before = r.n[0]->n_allocs;
    for (;; nth++) {
        loop_fail(r.n[0], LOOP_ALLOC, nth, -ENOMEM);
        if (selftest_run(r.st[0], r.n[0]->node, &config) == 0)
            break;
        assert_true(r.n[0]->n_allocs <= before);
        assert_int_equal(selftest_tests(r.st[0]), 2);
        assert_int_equal(selftest_result(r.st[0]).good, 4);
        assert_true(selftest_is_done(r.st[0]));
    }
    r.n[0]->fail_in[LOOP_ALLOC] = 0;
    assert_in_range(nth, 3, 8);
    assert_int_equal(selftest_tests(r.st[0]), 1);
    rig_free(&r);
}

/* Draws the tunables of a node.  Nodes of version 1 do not negotiate: none has a depth below 8. */
static struct lnd_config draw_config(struct prng *d, bool has_old)
{
    static const uint32_t depths[] = {2, 3, 8, 8, 16, 32};
    const bool of_2007 = has_old && prng_below(d, 2) == 0;
    struct lnd_config c = lnd_defaults(loop_nid(1), of_2007);

    if (has_old && prng_below(d, 2) == 0)
        c.version = LNET_VERSION_1;
    c.big_endian = prng_below(d, 4) == 0;
    c.cksum = prng_below(d, 4) == 0;
    c.map = (enum lnet_map)prng_below(d, 3);
    c.frag_bytes = prng_below(d, 3) == 0 ? 4096 : 0;
    c.keepalive_ns = prng_below(d, 2) ? 0 : c.keepalive_ns;
    if (!of_2007) {
        c.peer_credits = depths[prng_below(d, ARRAY_LEN(depths))];
        c.peer_credits = has_old && c.peer_credits < 8 ? 8 : c.peer_credits;
        c.concurrent_sends = (uint32_t)prng_below(d, 2 * c.peer_credits + 1);
        c.peer_credits_hiw = (uint32_t)prng_below(d, c.peer_credits + 1);
    }
    c.ntx = prng_below(d, 3) ? c.ntx : 64;
    c.credits = prng_below(d, 3) ? c.credits : 4;
    return c;
}

static struct selftest_shape draw_shape(struct prng *d)
{
    struct selftest_shape s = {(uint32_t)prng_below(d, 4096), 0, 0};

    s.frag_bytes = 1 + (uint32_t)prng_below(d, 70000);
    s.gap = (uint32_t)prng_below(d, 5000);
    s.offset *= prng_below(d, 3) == 0;
    s.frag_bytes *= prng_below(d, 2) == 0;
    s.gap *= prng_below(d, 2) == 0;
    return s;
}

/* Begins a test of node @i.  Returns how many RPCs it makes. */
static uint64_t begin_client(struct rig *r, uint32_t i, struct prng *d)
{
    static const uint32_t sizes[] = {0, 1, 100, 3976, 3977, 4096, 5000, 65536, 300000};
    const uint32_t n = r->l->n_nodes;
    const uint64_t nids[] = {loop_nid((i + 1) % n + 1), loop_nid((i + 2) % n + 1)};
    struct selftest_client_config c = {.nids = nids, .count = 10, .errors_max = 10};

    c.n_nids = n > 2 ? 1 + (uint32_t)prng_below(d, 2) : 1;
    c.op = (enum selftest_op)prng_below(d, 3);
    c.size = sizes[prng_below(d, ARRAY_LEN(sizes))];
    c.concurrency = 1 + (uint32_t)prng_below(d, 12);
    c.seed = prng_next(d);
    c.shape = draw_shape(d);
    assert_int_equal(selftest_run(r->st[i], r->n[i]->node, &c), 0);
    return c.count * c.n_nids;
}

static void one_order(uint64_t seed)
{
    struct prng d = prng_stream(seed, 1);
    struct rig r = rig_new(seed);
    const uint32_t n_nodes = 2 + (uint32_t)prng_below(&d, 3);
    const bool has_old = prng_below(&d, 2) > 0;

    r.l->is_random = prng_below(&d, 4) > 0;
    r.l->is_late = prng_below(&d, 2) > 0;
    for (uint32_t i = 0; i < n_nodes; i++) {
        const struct lnd_config c = draw_config(&d, has_old);

        rig_add(&r, &c, &(struct selftest_server_config){.slots = 128, .shape = draw_shape(&d)});
        r.n[i]->gap = prng_below(&d, 3) ? 0 : 8192;
    }
    for (uint32_t i = 0; i < n_nodes; i++)
        (void)begin_client(&r, i, &d);
    rig_run_for(&r, 2 * SECOND);
    for (uint32_t i = 0; i < n_nodes; i++) {
        const struct selftest_result res = selftest_result(r.st[i]);

        /* Too many fragments for a descriptor are refused. */
        if (!selftest_is_done(r.st[i]) || (res.failed > 0 && res.error != -EMSGSIZE))
            fail_msg("LNET_SEED=%u: node %u: %u good, %u failed, error %d", (unsigned)seed, i + 1,
                     (unsigned)res.good, (unsigned)res.failed, res.error);
    }
    rig_free(&r);
}

static void all_arrives_in_any_order(void **state)
{
    (void)state;
    rig_rounds(100, one_order);
}

/* The batch of a node, and what each of its tests has to do. */
struct batch {
    uint32_t n;
    uint64_t rpcs[SELFTEST_TESTS_MAX];
};

static void check_batch(const struct rig *r, uint32_t i, const struct batch *b, uint64_t seed)
{
    struct selftest_result sum = {0};
    struct selftest_test t;

    assert_int_equal(selftest_tests(r->st[i]), b->n);
    for (uint32_t k = 0; selftest_test_at(r->st[i], k, &t); k++) {
        const struct selftest_result *res = &t.result;
        const uint64_t ended = res->good + res->failed;

        if (!t.is_done || res->started != ended || ended > b->rpcs[k] || res->corrupt > 0 ||
            (res->failed ? res->error != -EMSGSIZE : ended != b->rpcs[k]) ||
            res->bytes != res->good * t.size)
            fail_msg("BATCH LNET_SEED=%u: node %u, test %u: %u good, %u failed, error %d",
                     (unsigned)seed, i + 1, k, (unsigned)res->good, (unsigned)res->failed,
                     res->error);
        sum.good += res->good;
        sum.bytes += res->bytes;
    }
    assert_int_equal(selftest_result(r->st[i]).good, sum.good);
    assert_int_equal(selftest_result(r->st[i]).bytes, sum.bytes);
}

/* Tests join batches while others run. */
static void one_batch(uint64_t seed)
{
    struct prng d = prng_stream(seed, 2);
    struct rig r = rig_new(seed);
    const uint32_t n_nodes = 2 + (uint32_t)prng_below(&d, 2);
    struct batch batches[LOOP_NODES] = {0};

    r.l->is_random = prng_below(&d, 4) > 0;
    for (uint32_t i = 0; i < n_nodes; i++) {
        const struct lnd_config c = draw_config(&d, false);

        rig_add(&r, &c, &(struct selftest_server_config){.slots = 256, .shape = draw_shape(&d)});
    }
    for (uint32_t begun = 0; begun < 12; begun++) {
        const uint32_t i = (uint32_t)prng_below(&d, n_nodes);
        struct batch *b = &batches[i];

        if (selftest_is_done(r.st[i])) {
            check_batch(&r, i, b, seed);
            b->n = 0;
        }
        if (b->n < SELFTEST_TESTS_MAX) {
            const uint64_t rpcs = begin_client(&r, i, &d);

            b->rpcs[b->n++] = rpcs;
        }
        for (uint64_t steps = prng_below(&d, 300); steps > 0 && loop_step(r.l); steps--)
            continue;
    }
    rig_run_for(&r, 2 * SECOND);
    for (uint32_t i = 0; i < n_nodes; i++)
        check_batch(&r, i, &batches[i], seed);
    rig_free(&r);
}

static void each_test_of_a_batch_moves_its_own_data(void **state)
{
    (void)state;
    rig_rounds(100, one_batch);
}

/* The numbers of tests, and a batch that is full. */
static void a_batch_has_eight_tests_and_then_another_begins(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    const uint64_t peer = loop_nid(2);
    struct selftest_client_config config = {.nids = &peer, .n_nids = 1, .op = SELFTEST_READ};
    struct rig r = rig_new(1);
    struct selftest_test t;

    (void)state;
    rig_add(&r, &c, &(struct selftest_server_config){0});
    rig_add(&r, &c, &(struct selftest_server_config){0});
    for (uint32_t i = 0; i < SELFTEST_TESTS_MAX; i++) {
        config.count = 3 + i;
        config.size = 1000 * i;
        assert_int_equal(selftest_run(r.st[0], r.n[0]->node, &config), 0);
        assert_int_equal(selftest_tests(r.st[0]), i + 1);
    }
    assert_int_equal(selftest_run(r.st[0], r.n[0]->node, &config), -EBUSY);
    assert_false(selftest_is_done(r.st[0]));
    loop_run(r.l);
    assert_true(selftest_is_done(r.st[0]));
    for (uint32_t i = 0; i < SELFTEST_TESTS_MAX; i++) {
        assert_true(selftest_test_at(r.st[0], i, &t));
        assert_int_equal(t.result.good, 3 + i);
        assert_int_equal(t.result.bytes, (3 + i) * 1000 * i);
    }
    assert_false(selftest_test_at(r.st[0], SELFTEST_TESTS_MAX, &t));
    config.count = 1;
    assert_int_equal(selftest_run(r.st[0], r.n[0]->node, &config), 0);
    assert_int_equal(selftest_tests(r.st[0]), 1);
    loop_run(r.l);
    assert_int_equal(selftest_result(r.st[0]).good, 1);
    rig_free(&r);
}

/* RPCs of each test have the time of their own test; selftest_stop() ends all tests. */
static void tests_of_a_batch_time_out_alone_and_stop_together(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    const uint64_t peer = loop_nid(2);
    struct selftest_client_config config = {.nids = &peer, .n_nids = 1, .op = SELFTEST_PING};
    struct rig r = rig_new(1);
    struct selftest_test t;
    uint64_t begun;

    (void)state;
    rig_add(&r, &c, &(struct selftest_server_config){0});
    r.st[1] = NULL;
    r.n[1] = loop_add(r.l, &c); /* it serves nothing */
    begun = r.l->now_ns;
    for (uint32_t i = 0; i < 3; i++) {
        config.timeout_ns = i == 0 ? 0 : (30 - 10 * i) * SECOND;
        assert_int_equal(selftest_run(r.st[0], r.n[0]->node, &config), 0);
    }
    loop_run(r.l);
    assert_int_equal(selftest_deadline_ns(r.st[0]), begun + 10 * SECOND);
    loop_run_for(r.l, 12 * SECOND);
    selftest_expire(r.st[0]);
    assert_true(selftest_test_at(r.st[0], 2, &t));
    assert_true(t.is_done);
    assert_int_equal(t.result.timeouts, 1);
    assert_int_equal(selftest_deadline_ns(r.st[0]), begun + 20 * SECOND);
    selftest_stop(r.st[0]);
    loop_run_for(r.l, 10 * SECOND);
    selftest_expire(r.st[0]);
    assert_true(selftest_test_is_done(r.st[0], 1));
    assert_false(selftest_test_is_done(r.st[0], 0));
    assert_int_equal(selftest_deadline_ns(r.st[0]), 0);
    rig_free(&r);
}

/* Without a checksum, damaged data arrives; the test of bulk transfers notices. */
static void a_wrong_byte_is_noticed(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    const struct selftest_shape shape = {.offset = 4090, .frag_bytes = 1000, .gap = 7};
    struct rig r = rig_new(1);
    struct selftest_data d = {.ops = &loop_ops};
    struct selftest_bad bad;

    (void)state;
    d.ctx = rig_add(&r, &c, &(struct selftest_server_config){0});
    assert_int_equal(selftest_data_lay_out(&d, &shape, 10001), 0);
    assert_int_equal(d.n, 11);
    assert_int_equal(d.frags[0].addr % 4096, 4090);
    assert_true(selftest_data_spoil(&d, 5));
    assert_true(selftest_data_check(&d, 5, &bad));
    assert_int_equal(bad.n, 10001); /* no byte is right by chance */
    assert_true(selftest_data_fill(&d, 5));
    assert_true(selftest_data_check(&d, 5, &bad));
    assert_int_equal(bad.n, 0);
    for (uint32_t i = 0; i < 10001; i++)
        assert_int_equal(loop_at(r.n[0], d.frags[i / 1000].addr + i % 1000, 1)[0],
                         selftest_byte(5, i));
    loop_at(r.n[0], d.frags[3].addr + 17, 1)[0] ^= 1;
    loop_at(r.n[0], d.frags[10].addr + 1, 1)[0] ^= 1; /* behind the last byte */
    assert_true(selftest_data_check(&d, 5, &bad));
    assert_int_equal(bad.n, 2);
    assert_int_equal(bad.at, 3017);
    selftest_data_free(&d);
    rig_free(&r);
}

static void damage_with_a_checksum_closes_the_connection(void **state)
{
    struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct rig r = rig_new(1);

    (void)state;
    c.cksum = true;
    for (uint32_t i = 0; i < 2; i++)
        rig_add(&r, &c, &(struct selftest_server_config){.timeout_ns = 30 * SECOND});
    rig_begin(&r, 0, 1, SELFTEST_WRITE, 2000, 5);
    loop_run(r.l);
    assert_int_equal(selftest_result(r.st[0]).good, 5);
    r.l->damage = 1024;
    rig_begin(&r, 0, 1, SELFTEST_WRITE, 2000, 5);
    loop_run_for(r.l, 10 * SECOND);
    assert_true(lnd_counts(r.n[1]->lnd)->bad_messages > 0);
    r.l->damage = 0;
    rig_run_for(&r, 100 * SECOND);
    assert_true(rig_is_done(&r));
    assert_int_equal(selftest_result(r.st[0]).corrupt, 0);
    rig_begin(&r, 0, 1, SELFTEST_WRITE, 2000, 5);
    loop_run(r.l);
    assert_int_equal(selftest_result(r.st[0]).good, 5);
    rig_free(&r);
}

/* Messages that need no answer are still under way when the client gives up. */
static void an_rpc_without_a_server_times_out(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct rig r = rig_new(1);
    struct selftest_result res;

    (void)state;
    rig_add(&r, &c, &(struct selftest_server_config){.slots = 1});
    rig_add(&r, &c, &(struct selftest_server_config){0});
    rig_begin(&r, 1, 0, SELFTEST_READ, 3000, 8); /* the server drops seven requests of eight */
    rig_run_for(&r, 59 * SECOND);
    assert_false(rig_is_done(&r));
    rig_run_for(&r, 3 * SECOND);
    assert_true(rig_is_done(&r));
    res = selftest_result(r.st[1]);
    assert_int_equal(res.good + res.timeouts, 8);
    assert_true(res.timeouts > 0);
    assert_int_equal(res.error, -ETIMEDOUT);
    rig_free(&r);
}

/* The client has given up before the data came, which it drops: no ACK comes, and the server gives
 * up later.  Its only slot then takes the next request.
 */
static void a_server_takes_requests_after_one_that_was_late(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    const uint64_t server = loop_nid(1);
    const struct selftest_client_config client = {.nids = &server,
                                                  .n_nids = 1,
                                                  .op = SELFTEST_READ,
                                                  .size = 3000,
                                                  .count = 1,
                                                  .timeout_ns = 5 * SECOND};
    struct rig r = rig_new(1);

    (void)state;
    rig_add(&r, &c, &(struct selftest_server_config){.slots = 1, .timeout_ns = 20 * SECOND});
    rig_add(&r, &c, &(struct selftest_server_config){0});
    assert_int_equal(selftest_run(r.st[1], r.n[1]->node, &client), 0);
    while (selftest_served(r.st[0]).started == 0)
        assert_true(loop_step(r.l));
    r.l->now_ns += 6 * SECOND;
    selftest_expire(r.st[1]);
    rig_run_for(&r, 30 * SECOND);
    assert_true(rig_is_done(&r));
    assert_int_equal(selftest_result(r.st[1]).timeouts, 1);
    assert_int_equal(selftest_served(r.st[0]).timeouts, 1);
    rig_begin(&r, 1, 0, SELFTEST_READ, 3000, 1);
    loop_run(r.l);
    assert_int_equal(selftest_result(r.st[1]).good, 1);
    rig_free(&r);
}

/* A test ends after so many failed RPCs in a row: one that succeeds begins a new row. */
static void failures_count_in_a_row(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    const uint64_t server = loop_nid(1);
    const struct selftest_client_config client = {.nids = &server,
                                                  .n_nids = 1,
                                                  .op = SELFTEST_PING,
                                                  .count = 10,
                                                  .errors_max = 2,
                                                  .timeout_ns = 5 * SECOND};
    struct rig r = rig_new(1);

    (void)state;
    rig_add(&r, &c, &(struct selftest_server_config){0});
    rig_add(&r, &c, &(struct selftest_server_config){0});
    assert_int_equal(selftest_run(r.st[1], r.n[1]->node, &client), 0);
    for (uint32_t i = 0; i < 3; i++) {
        r.l->now_ns += 6 * SECOND; /* the RPC that is under way fails, and the next one does not */
        selftest_expire(r.st[1]);
        while (selftest_result(r.st[1]).good == i)
            assert_true(loop_step(r.l));
    }
    assert_int_equal(selftest_result(r.st[1]).failed, 3);
    for (uint32_t i = 0; i < 2; i++) { /* two in a row */
        assert_false(selftest_is_done(r.st[1]));
        r.l->now_ns += 6 * SECOND;
        selftest_expire(r.st[1]);
        while (selftest_result(r.st[1]).failed == 3 + i)
            assert_true(loop_step(r.l));
    }
    assert_true(selftest_is_done(r.st[1]));
    assert_int_equal(selftest_result(r.st[1]).started, 8);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_arrives),
        cmocka_unit_test(a_server_that_cannot_be_made_leaves_nothing),
        cmocka_unit_test(a_test_that_cannot_be_made_leaves_the_results),
        cmocka_unit_test(all_arrives_in_any_order),
        cmocka_unit_test(each_test_of_a_batch_moves_its_own_data),
        cmocka_unit_test(a_batch_has_eight_tests_and_then_another_begins),
        cmocka_unit_test(tests_of_a_batch_time_out_alone_and_stop_together),
        cmocka_unit_test(a_wrong_byte_is_noticed),
        cmocka_unit_test(damage_with_a_checksum_closes_the_connection),
        cmocka_unit_test(an_rpc_without_a_server_times_out),
        cmocka_unit_test(a_server_takes_requests_after_one_that_was_late),
        cmocka_unit_test(failures_count_in_a_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
