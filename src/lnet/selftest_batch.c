/* SPDX-License-Identifier: MIT */
/* The tests of a node that run at the same time, and their results.
 *
 * Tests of a batch are numbered in the order in which they were begun.  They stay until the next
 * batch begins, so that results can be read; only their memory is freed before that of the new test
 * is allocated.
 */
#include <errno.h>

#include "lnet/selftest_internal.h"

void selftest_batch_free(struct selftest *st)
{
    while (st->n_tests > 0) {
        struct selftest_client *c = st->tests[--st->n_tests];

        selftest_slots_free(st, &c->slots);
        st->ops->free(st->ctx, c, sizeof(*c));
    }
}

/* RPCs at a time of a test with @config. */
static uint32_t slots_for(const struct selftest_client_config *config)
{
    return config->n_nids * (config->concurrency ? config->concurrency : 1);
}

static bool is_valid(const struct selftest_client_config *config)
{
    return config->n_nids >= 1 && config->n_nids <= SELFTEST_PEERS_MAX &&
           config->concurrency <= SELFTEST_SLOTS_MAX / config->n_nids && config->size <= LNET_MTU &&
           config->op <= SELFTEST_WRITE;
}

/* Allocates test @number.  The first one of a batch takes the place of the memory of the last
 * batch.
 */
static int new_test(struct selftest *st, const struct selftest_client_config *config,
                    uint32_t number, struct selftest_client **ret)
{
    struct selftest_client *c = st->ops->alloc(st->ctx, sizeof(*c));
    int error;

    if (!c)
        return -ENOMEM;
    for (uint32_t i = 0; number == 0 && i < st->n_tests; i++)
        selftest_slots_free(st, &st->tests[i]->slots);
    error = selftest_slots_new(st, &c->slots, slots_for(config), (uint8_t)number);
    if (error) {
        st->ops->free(st->ctx, c, sizeof(*c));
        return error;
    }
    c->number = number;
    c->config = *config;
    c->config.errors_max = config->errors_max ? config->errors_max : 1;
    for (uint32_t i = 0; i < config->n_nids; i++)
        c->peers[i].nid = config->nids[i];
    for (uint32_t i = 0; i < c->slots.n; i++)
        c->slots.slots[i].peer = i % config->n_nids;
    *ret = c;
    return 0;
}

int selftest_run(struct selftest *st, struct lnet_node *node,
                 const struct selftest_client_config *config)
{
    const bool is_first = selftest_is_done(st);
    struct selftest_client *c;
    int error;

    if (!is_valid(config))
        return -EINVAL;
    if (!is_first && st->n_tests == SELFTEST_TESTS_MAX)
        return -EBUSY;
    error = new_test(st, config, is_first ? 0 : st->n_tests, &c);
    if (error)
        return error;
    if (is_first)
        selftest_batch_free(st);
    st->tests[st->n_tests++] = c;
    st->node = node;
    /* No two RPCs of a node have the same bits, also if it was started anew. */
    if (st->next_bits == 0)
        st->next_bits = lnd_config(lnet_lnd(node))->stamp << 24;
    selftest_client_pump(st, c);
    return 0;
}

void selftest_stop(struct selftest *st)
{
    for (uint32_t i = 0; i < st->n_tests; i++)
        st->tests[i]->is_stopped = true;
}

uint32_t selftest_tests(const struct selftest *st)
{
    return st->n_tests;
}

bool selftest_test_is_done(const struct selftest *st, uint32_t i)
{
    return i >= st->n_tests || selftest_client_is_done(st->tests[i]);
}

bool selftest_is_done(const struct selftest *st)
{
    for (uint32_t i = 0; i < st->n_tests; i++) {
        if (!selftest_client_is_done(st->tests[i]))
            return false;
    }
    return true;
}

bool selftest_peer_result(const struct selftest *st, uint32_t test, uint32_t i, uint64_t *ret_nid,
                          struct selftest_result *ret)
{
    if (test >= st->n_tests || i >= st->tests[test]->config.n_nids)
        return false;
    *ret_nid = st->tests[test]->peers[i].nid;
    *ret = st->tests[test]->peers[i].result;
    return true;
}

/* Adds the result @r to @sum. */
static void add(struct selftest_result *sum, const struct selftest_result *r)
{
    if (r->good > 0) {
        sum->min_ns = sum->good == 0 || r->min_ns < sum->min_ns ? r->min_ns : sum->min_ns;
        sum->max_ns = r->max_ns > sum->max_ns ? r->max_ns : sum->max_ns;
    }
    if (sum->begun_ns == 0 || (r->begun_ns > 0 && r->begun_ns < sum->begun_ns))
        sum->begun_ns = r->begun_ns;
    if (r->ended_ns > sum->ended_ns)
        sum->ended_ns = r->ended_ns;
    if (sum->error == 0)
        sum->error = r->error;
    if (sum->corrupt == 0)
        sum->bad_at = r->bad_at;
    sum->started += r->started;
    sum->good += r->good;
    sum->failed += r->failed;
    sum->bytes += r->bytes;
    sum->timeouts += r->timeouts;
    sum->corrupt += r->corrupt;
    sum->bad_bytes += r->bad_bytes;
    sum->sum_ns += r->sum_ns;
}

bool selftest_test_at(const struct selftest *st, uint32_t test, struct selftest_test *ret)
{
    const struct selftest_client *c;

    if (test >= st->n_tests)
        return false;
    c = st->tests[test];
    *ret = (struct selftest_test){.op = c->config.op,
                                  .size = c->config.op == SELFTEST_PING ? 0 : c->config.size,
                                  .n_peers = c->config.n_nids,
                                  .is_done = selftest_client_is_done(c)};
    for (uint32_t i = 0; i < c->config.n_nids; i++)
        add(&ret->result, &c->peers[i].result);
    return true;
}

struct selftest_result selftest_result(const struct selftest *st)
{
    struct selftest_result sum = {0};
    struct selftest_test t;

    for (uint32_t i = 0; selftest_test_at(st, i, &t); i++)
        add(&sum, &t.result);
    return sum;
}
