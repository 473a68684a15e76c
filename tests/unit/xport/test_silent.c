/* SPDX-License-Identifier: MIT */
/* Listeners make no difference: the same events happen at the same times with the same ids. */
#include <string.h>

#include "key_rig.h"

/* A bind, a registration, their ends, and an atomic. */
static void keys_and_an_atomic(struct rig *r)
{
    struct mkey *w = window(r, 0, MW_TYPE_2), *k = fast_region(r, 0, 4096);
    struct rig_post *p;

    r->host[0].mr->access |= ACC_MW_BIND;
    bind(r, 0, 1, w, 0, 64);
    reg(r, 0, 2, k, k->key);
    inv(r, 0, 3, k->key);
    p = rig_prepare_remote(r, WR_ATOMIC_FETCH_AND_ADD, 4, 0, 8, REMOTE);
    p->compare_add = 5;
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    for (uint32_t i = 0; i < 4; i++)
        rig_expect(r, 0, WQ_SEND, i, i + 1, WCS_SUCCESS);
}

/* A probe without a receive, and the news of some. */
static void credits(struct rig *r)
{
    rig_send(r, 1, 0, 64);
    rig_send(r, 2, 0, 64);
    rig_run_until(r, 5000);
    for (uint32_t i = 0; i < 3; i++)
        rig_recv(r, 7, REMOTE, 64);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
}

/* A datagram that is longer than a packet, which is not sent. */
static void a_long_datagram(struct rig *r)
{
    struct rig_post *p = rig_prepare(r, 0, WQ_SEND, 1, 0, 8192);
    const struct hca *h = &r->host[0].hca;

    p->to = (struct datagram_to){
        .av.port = HCA_PORT, .av_pdn = r->host[0].qp->config.pdn, .qpn = r->host[1].qp->qpn};
    memcpy(p->to.av.dgid, h->gids[0].raw, GID_BYTES);
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
}

static struct rig *rig_after(void (*work)(struct rig *), enum qp_type type, bool credit,
                             bool silent)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    c.type = type;
    c.credits[0] = c.credits[1] = credit;
    c.rnr_retry = 7;
    r = rig_new(&c);
    if (silent)
        trace_sink_remove(&r->sinks, &r->sink);
    work(r);
    return r;
}

static void who_listens_changes_nothing(void **state)
{
    static const struct {
        void (*work)(struct rig *r);
        enum qp_type type;
        bool credits;
        enum ev_kind says; /* among others */
    } rows[] = {
        {keys_and_an_atomic, QPT_RC, false, EV_bind},
        {keys_and_an_atomic, QPT_RC, false, EV_reg_mr},
        {keys_and_an_atomic, QPT_RC, false, EV_invalidate},
        {keys_and_an_atomic, QPT_RC, false, EV_atomic},
        {credits, QPT_RC, true, EV_probe},
        {credits, QPT_RC, true, EV_credits},
        {a_long_datagram, QPT_UD, false, EV_not_sent},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *heard = rig_after(rows[i].work, rows[i].type, rows[i].credits, false);
        struct rig *silent = rig_after(rows[i].work, rows[i].type, rows[i].credits, true);

        assert_true(rig_count(heard, rows[i].says, ANY, NULL, 0) > 0);
        assert_int_equal(rig_count(silent, rows[i].says, ANY, NULL, 0), 0);
        assert_memory_equal(heard->trace.totals, silent->trace.totals, sizeof(heard->trace.totals));
        assert_int_equal(heard->trace.tick, silent->trace.tick);
        assert_int_equal(heard->trace.now_ns, silent->trace.now_ns);
        for (uint32_t h = 0; h < 2; h++)
            assert_memory_equal(&heard->host[h].x.count, &silent->host[h].x.count,
                                sizeof(heard->host[h].x.count));
        rig_free(heard);
        rig_free(silent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_listens_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
