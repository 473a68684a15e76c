/* SPDX-License-Identifier: MIT */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "rounds.h"
#include "testing.h"

struct rig rig_new(uint64_t seed)
{
    return (struct rig){.l = loop_new(seed)};
}

struct loop_node *rig_add(struct rig *r, const struct lnd_config *c,
                          const struct selftest_server_config *server)
{
    const uint32_t i = r->l->n_nodes;
    struct loop_node *n = loop_add_down(r->l, c);

    r->n[i] = n;
    r->st[i] = selftest_new(&loop_ops, n);
    assert_non_null(r->st[i]);
    n->listener = selftest_listener;
    n->listener_ctx = r->st[i];
    lnd_start(n->lnd);
    loop_run(r->l);
    assert_true(lnd_is_up(n->lnd));
    assert_int_equal(selftest_serve(r->st[i], n->node, server), 0);
    return n;
}

void rig_run_for(struct rig *r, uint64_t ns)
{
    for (uint64_t done = 0; done < ns; done += SECOND) {
        loop_run_for(r->l, SECOND);
        for (uint32_t i = 0; i < r->l->n_nodes; i++) {
            const uint64_t due = selftest_deadline_ns(r->st[i]);

            if (due && due <= r->l->now_ns)
                selftest_expire(r->st[i]);
        }
    }
}

bool rig_is_done(const struct rig *r)
{
    for (uint32_t i = 0; i < r->l->n_nodes; i++) {
        if (!selftest_is_done(r->st[i]))
            return false;
    }
    return true;
}

void rig_begin(struct rig *r, uint32_t from, uint32_t to, enum selftest_op op, uint32_t size,
               uint32_t count)
{
    const uint64_t peer = loop_nid(to + 1);
    const struct selftest_client_config c = {.nids = &peer,
                                             .n_nids = 1,
                                             .op = op,
                                             .size = size,
                                             .concurrency = 8,
                                             .count = count,
                                             .errors_max = 100,
                                             .timeout_ns = 60 * SECOND,
                                             .seed = size};

    assert_int_equal(selftest_run(r->st[from], r->n[from]->node, &c), 0);
}

void rig_rounds(unsigned rounds, void (*one)(uint64_t seed))
{
    const char *text = getenv("LNET_SEED");
    uint64_t seed = 1, last = n_rounds(rounds);
    char *end;

    if (text) {
        seed = last = strtoull(text, &end, 10);
        if (strncmp(end, "..", 2) == 0)
            last = strtoull(end + 2, NULL, 10);
    }
    for (; seed <= last; seed++)
        one(seed);
}

void rig_free(struct rig *r)
{
    loop_stop_all(r->l);
    for (uint32_t i = 0; i < r->l->n_nodes; i++)
        selftest_free(r->st[i]);
    loop_free(r->l);
}
