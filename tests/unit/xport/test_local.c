/* SPDX-License-Identifier: MIT */
/* Requests without packets, and invalidated keys: registrations, invalidation by the queue pair
 * itself, by its peer, and by a READ.
 */
#include <string.h>

#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "key_rig.h"

/* The key of a READ's list must live until all its responses are here.  Shows B105. */
static void local_inv_waits_for_what_was_posted_before(void **state)
{
    struct rig *r = rig_default();
    struct mkey *k = fast_region(r, 0, 8192);
    const uint32_t key = k->key;
    struct rig_post *p;

    (void)state;
    rig_rule(r, 1, OP_RC_RDMA_READ_RESPONSE_MIDDLE, ANY, 1, RIG_LOSE);
    reg(r, 0, 1, k, key);
    p = rig_prepare_remote(r, WR_RDMA_READ, 2, 0, 1000, REMOTE);
    p->sge[0] = (struct sge){8192, 1000, key};
    rig_post(r, 0, WQ_SEND);
    inv(r, 0, 3, key);
    rig_send(r, 4, 0, 64);
    rig_recv(r, 7, 0, 64);
    rig_run(r);
    for (uint32_t i = 0; i < 4; i++)
        rig_expect(r, 0, WQ_SEND, i, i + 1, WCS_SUCCESS);
    assert_int_equal(r->host[0].wc[WQ_SEND][0].opcode, WC_REG_MR);
    assert_int_equal(r->host[0].wc[WQ_SEND][2].opcode, WC_LOCAL_INV);
    assert_int_equal(k->state, KEY_FREE);
    assert_int_equal(rig_count(r, EV_invalidate, 0, "bytes", 4096), 1);
    assert_true(place_of(r, EV_invalidate, 0, 0) > place_of(r, EV_dma_write, 0, 3));
    rig_free(r);
}

/* Shows B108. */
static void a_fast_region_is_registered_where_it_stands_in_the_queue(void **state)
{
    struct rig *r = rig_default();
    struct mkey *k = fast_region(r, 0, 8192);
    const uint32_t key = (k->key & ~0xffu) | 0x5a;
    uint8_t sent[32], got[32];

    (void)state;
    memset(sent, 0xc3, sizeof(sent));
    assert_true(ram_write(&r->host[0].ram, 8192 + 100, sent, sizeof(sent)));
    reg(r, 0, 1, k, key);
    rig_prepare_remote(r, WR_RDMA_WRITE, 2, 0, 0, REMOTE)->sge[0] =
        (struct sge){8192 + 100, sizeof(sent), key};
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
    rig_read(r, 1, REMOTE, got, sizeof(got));
    assert_memory_equal(sent, got, sizeof(sent));
    reg(r, 0, 3, k, key + 1); /* it is valid */
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 2, 3, WCS_MW_BIND_ERR);
    assert_int_equal(r->host[0].wc[WQ_SEND][2].rule, RULE_REG_STATE);
    assert_int_equal(r->host[0].qp->state, QPS_ERR);
    assert_int_equal(k->key, key);
    rig_free(r);
}

/* Shows B105. */
static void what_cannot_be_made_invalid_ends_the_queue_pair(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        struct rig *r = rig_default();
        const struct mkey *w = window(r, 0, MW_TYPE_1);
        const uint32_t keys[] = {r->host[0].mr->key, w->key, 0x123456};

        inv(r, 0, 1, keys[i]);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_MW_BIND_ERR);
        assert_int_equal(r->host[0].wc[WQ_SEND][0].rule, i < 2 ? RULE_INV_KIND : RULE_MR_KEY);
        assert_int_equal(r->host[0].qp->state, QPS_ERR);
        rig_free(r);
    }
}

/* A bind between two SENDs is done once, whatever is sent again, and completes between them.
 * Shows B69.
 */
static void going_back_passes_over_what_was_carried_out(void **state)
{
    struct rig *r = rig_default();
    const struct mkey *w = window(r, 0, MW_TYPE_1);

    (void)state;
    rig_rule(r, 0, ANY, 100, 1, RIG_LOSE);
    for (uint32_t i = 0; i < 3; i++)
        rig_recv(r, 7 + i, 4096 * i, 4096);
    rig_send(r, 0, 0, 600);
    bind(r, 0, 1, w, REMOTE, 64);
    rig_send(r, 2, 1000, 600);
    bind(r, 0, 3, w, REMOTE, 64); /* refused: the window has another key by now */
    rig_send(r, 4, 2000, 600);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 0, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 1, 1, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 2, 2, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 3, 3, WCS_MW_BIND_ERR);
    rig_expect(r, 0, WQ_SEND, 4, 4, WCS_WR_FLUSH_ERR);
    assert_int_equal(r->host[0].wc[WQ_SEND][3].rule, RULE_BIND_MW);
    assert_int_equal(rig_count(r, EV_bind, 0, NULL, 0), 2);
    rig_free(r);
}

/* Shows B67. */
static void a_fence_holds_a_bind_back(void **state)
{
    (void)state;
    for (uint32_t fence = 0; fence < 2; fence++) {
        struct rig *r = rig_default();
        const struct mkey *w = window(r, 0, MW_TYPE_1);

        rig_prepare_remote(r, WR_RDMA_READ, 1, BACK, 1000, REMOTE);
        rig_post(r, 0, WQ_SEND);
        prepare_bind(r, 0, 2, w, REMOTE, 64)->flags |= fence ? SF_FENCE : 0;
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
        rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
        assert_int_equal(place_of(r, EV_bind, 0, 0) > place_of(r, EV_dma_write, 0, 3), fence);
        rig_free(r);
    }
}

/* Shows B106. */
static void a_send_ends_a_key_of_its_receiver(void **state)
{
    static const uint32_t sizes[] = {0, 1, 256, 257, 1000};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct rig *r = rig_default();
        const struct mkey *w = window(r, 1, MW_TYPE_2);
        const struct completion *wc = &r->host[1].wc[WQ_RECV][0];
        uint32_t key;

        rig_rule(r, 1, OP_RC_ACKNOWLEDGE, ANY, 1, RIG_LOSE); /* it comes twice */
        bind(r, 1, 1, w, REMOTE, 64);
        rig_run(r);
        key = w->key;
        rig_recv(r, 7, 0, 1000);
        send_inv(r, 2, sizes[i], key);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 2, WCS_SUCCESS);
        rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
        assert_int_equal(wc->flags, WCF_WITH_INV);
        assert_int_equal(wc->invalidated_rkey, key);
        assert_int_equal(wc->bytes, sizes[i]);
        assert_int_equal(w->state, KEY_FREE);
        assert_int_equal(r->host[1].mr->n_windows, 0);
        assert_int_equal(rig_count(r, EV_invalidate, 1, NULL, 0), 1);
        assert_true(rig_same(r, 0, 0, sizes[i]));
        rdma_key(r, WR_RDMA_WRITE, 3, 8, RIG_ADDR + REMOTE, key);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 1, 3, WCS_REM_ACCESS_ERR);
        rig_free(r);
    }
}

/* Without a receive no key ends: the far side comes again.  Shows B106. */
static void an_rnr_nak_ends_no_key(void **state)
{
    struct rig *r = rig_default();
    const struct mkey *w = window(r, 1, MW_TYPE_2);

    (void)state;
    bind(r, 1, 1, w, REMOTE, 64);
    rig_run(r);
    send_inv(r, 2, 64, w->key);
    rig_run_until(r, sim_now(&r->sim) + 5000);
    assert_int_equal(rig_count(r, EV_rx, 1, "act", ACT_RNR), 1);
    assert_int_equal(w->state, KEY_VALID);
    rig_recv(r, 7, 0, 1000);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 2, WCS_SUCCESS);
    assert_int_equal(w->state, KEY_FREE);
    rig_free(r);
}

/* The sender does not learn that its peer has failed, in either profile.  Shows B106. */
static void a_key_that_cannot_end_is_the_receivers_own_error(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        struct rig *r = rig_with(i < 3 ? PROFILE_iba : PROFILE_rxe);
        const struct mkey *w = window(r, 1, MW_TYPE_1);
        uint32_t keys[] = {r->host[1].mr->key, 0, 0x123456};

        bind(r, 1, 1, w, REMOTE, 64);
        rig_run(r);
        keys[1] = w->key;
        rig_recv(r, 7, 0, 1000);
        rig_recv(r, 8, 0, 1000);
        send_inv(r, 2, 600, keys[i % 3]);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 2, WCS_SUCCESS);
        rig_expect(r, 1, WQ_RECV, 0, 7, WCS_REM_INV_REQ_ERR);
        rig_expect(r, 1, WQ_RECV, 1, 8, WCS_WR_FLUSH_ERR);
        assert_int_equal(r->host[1].wc[WQ_RECV][0].rule, i % 3 < 2 ? RULE_INV_KIND : RULE_MR_KEY);
        assert_int_equal(r->host[0].qp->state, QPS_RTS);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        assert_int_equal(rig_count(r, EV_rx, 1, "act", ACT_TAKE_AND_FAIL), 1);
        assert_int_equal(rig_count(r, EV_async_event, 1, NULL, 0), 0);
        assert_int_equal(w->state, KEY_VALID);
        rig_free(r);
    }
}

/* READ with invalidate into @key of host 0. */
static void read_inv(struct rig *r, uint64_t wr_id, uint32_t bytes, uint32_t lkey, uint32_t key)
{
    struct rig_post *p = rig_prepare_remote(r, WR_RDMA_READ_WITH_INV, wr_id, 0, 0, REMOTE);

    p->sge[0] = (struct sge){8192, bytes, lkey};
    p->invalidate_rkey = key;
    rig_post(r, 0, WQ_SEND);
}

/* Shows B107. */
static void a_read_ends_its_key_when_all_of_it_is_here(void **state)
{
    struct rig *r = rig_default();
    struct mkey *k = fast_region(r, 0, 8192);
    const uint32_t key = k->key;

    (void)state;
    rig_rule(r, 1, OP_RC_RDMA_READ_RESPONSE_LAST, ANY, 1, RIG_LOSE);
    reg(r, 0, 1, k, key);
    read_inv(r, 2, 1000, key, key);
    rig_prepare_remote(r, WR_RDMA_WRITE, 3, BACK, 8, REMOTE);
    rig_post(r, 0, WQ_SEND);
    rig_run(r);
    for (uint32_t i = 0; i < 3; i++)
        rig_expect(r, 0, WQ_SEND, i, i + 1, WCS_SUCCESS);
    assert_int_equal(r->host[0].wc[WQ_SEND][1].bytes, 1000);
    assert_int_equal(k->state, KEY_FREE);
    assert_int_equal(rig_count(r, EV_invalidate, 0, NULL, 0), 1);
    assert_true(place_of(r, EV_invalidate, 0, 0) > place_of(r, EV_dma_write, 0, 3));
    rig_free(r);
}

static void a_read_whose_key_cannot_end_fails_though_its_data_are_here(void **state)
{
    (void)state;
    for (uint32_t lost = 0; lost < 2; lost++) {
        struct rig *r = rig_default();
        struct mkey *k = fast_region(r, 0, 8192);

        if (lost)
            rig_rule(r, 1, OP_RC_RDMA_READ_RESPONSE_FIRST, ANY, 1, RIG_LOSE);
        reg(r, 0, 1, k, k->key);
        read_inv(r, 2, 1000, k->key, r->host[0].mr->key);
        rig_prepare_remote(r, WR_RDMA_WRITE, 3, BACK, 8, REMOTE);
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 1, 2, WCS_MW_BIND_ERR);
        assert_int_equal(r->host[0].wc[WQ_SEND][1].rule, RULE_INV_KIND);
        rig_expect(r, 0, WQ_SEND, 2, 3, WCS_WR_FLUSH_ERR);
        assert_int_equal(r->host[0].n_wc[WQ_SEND], 3);
        assert_int_equal(r->host[0].qp->state, QPS_ERR);
        assert_int_equal(k->state, KEY_VALID);
        rig_free(r);
    }
}

static void unsignaled_requests_complete_without_a_word(void **state)
{
    struct rig *r = rig_default();
    const struct mkey *w = window(r, 0, MW_TYPE_1);

    (void)state;
    for (uint32_t i = 0; i < 200; i++) { /* more than the ring has places */
        prepare_bind(r, 0, i, w, REMOTE, 64)->flags = 0;
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
    }
    assert_int_equal(r->host[0].n_wc[WQ_SEND], 0);
    assert_int_equal(r->host[0].queue[WQ_SEND].returned, 200);
    rig_free(r);
}

/* One of the operations of the next test, which all succeed in this order on every link. */
static void draw(struct rig *r, uint32_t i, struct mkey *w, struct mkey *k, uint32_t bytes)
{
    const uint32_t key = (k->key & ~0xffu) | ((i / 5) & 0xff);

    switch (i % 5) {
    case 0:
        reg(r, 0, i, k, key);
        break;
    case 1:
        rig_prepare_remote(r, WR_RDMA_WRITE, i, 0, 0, REMOTE)->sge[0] =
            (struct sge){8192, bytes, key};
        rig_post(r, 0, WQ_SEND);
        break;
    case 2:
        prepare_bind(r, 0, i, w, REMOTE, 64)->bind.mw_key =
            (w->key & ~0xffu) | ((w->key + i / 5) & 0xff);
        rig_post(r, 0, WQ_SEND);
        break;
    case 3:
        rig_prepare_remote(r, WR_RDMA_READ, i, BACK, bytes, REMOTE);
        rig_post(r, 0, WQ_SEND);
        break;
    default:
        inv(r, 0, i, key);
        break;
    }
}

/* Shows B69. */
static void nothing_is_done_twice_or_too_early_on_a_bad_link(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 40; seed++) {
        struct rig_config c = rig_defaults();
        struct prng dice = prng_stream(seed, 1);
        struct rig *r;
        struct mkey *w, *k;

        c.retry_cnt = 7;
        c.sq_psn = 0xfffff0;
        c.rd_atomic = 1 + seed % 4;
        r = rig_of(&c);
        r->chance = prng_stream(seed, 2);
        r->loss = 30 + seed;
        r->copy = 30;
        r->delay = 40;
        w = window(r, 0, MW_TYPE_1);
        k = fast_region(r, 0, 8192);
        for (uint32_t i = 0; i < 50; i++)
            draw(r, i, w, k, (uint32_t)prng_below(&dice, 1500));
        rig_run(r);
        assert_int_equal(r->host[0].n_wc[WQ_SEND], 50);
        for (uint32_t i = 0; i < 50; i++)
            rig_expect(r, 0, WQ_SEND, i, i, WCS_SUCCESS);
        assert_int_equal(rig_count(r, EV_bind, 0, NULL, 0), 10);
        assert_int_equal(rig_count(r, EV_reg_mr, 0, NULL, 0), 10);
        assert_int_equal(rig_count(r, EV_invalidate, 0, NULL, 0), 10);
        rig_free(r);
    }
}

/* What was carried out and waits for an earlier request to complete is flushed as that is. */
static void a_flush_takes_what_was_carried_out(void **state)
{
    struct rig *r = rig_default();
    const struct mkey *w = window(r, 0, MW_TYPE_2);

    (void)state;
    rig_rule(r, 0, ANY, ANY, ANY, RIG_LOSE);
    rig_send(r, 1, 0, 64);
    bind(r, 0, 2, w, REMOTE, 64);
    inv(r, 0, 3, w->key);
    rig_run_until(r, 10 * RIG_EACH_NS);
    assert_int_equal(w->state, KEY_VALID);
    rig_move(r, 0, QPS_ERR);
    for (uint32_t i = 0; i < 3; i++)
        rig_expect(r, 0, WQ_SEND, i, i + 1, WCS_WR_FLUSH_ERR);
    assert_int_equal(w->state, KEY_VALID);
    rig_free(r);
}

/* KEY_WORK_IS_BIND_ERR and LOCAL_ERROR_IS_TOLD, of who posts: each operation on keys, and a key
 * that is nobody's.
 */
static void refused_work_on_keys_is_told_by_profile(void **state)
{
    static const enum wr_opcode works[] = {WR_BIND_MW, WR_REG_MR, WR_LOCAL_INV,
                                           WR_RDMA_READ_WITH_INV};
    enum { NOBODYS = 0x123456 };

    (void)state;
    for (enum profile p = PROFILE_iba; p < PROFILE_COUNT; p++) {
        for (size_t i = 0; i < ARRAY_LEN(works); i++) {
            const bool is_bind_err =
                works[i] == WR_BIND_MW || profile_has(p, TRAIT_KEY_WORK_IS_BIND_ERR);
            const enum wc_status told = is_bind_err ? WCS_MW_BIND_ERR : WCS_LOC_QP_OP_ERR;
            const bool is_told = profile_has(p, TRAIT_LOCAL_ERROR_IS_TOLD);
            struct rig *r = rig_with(p);

            if (works[i] == WR_BIND_MW)
                prepare_local(r, 0, WR_BIND_MW, 1)->bind.mw_key = NOBODYS;
            else if (works[i] == WR_REG_MR)
                prepare_local(r, 0, WR_REG_MR, 1)->reg.mrn = NOBODYS;
            else if (works[i] == WR_LOCAL_INV)
                prepare_local(r, 0, WR_LOCAL_INV, 1)->invalidate_rkey = NOBODYS;
            else
                rig_prepare_remote(r, works[i], 1, BACK, 8, REMOTE)->invalidate_rkey = NOBODYS;
            rig_post(r, 0, WQ_SEND);
            rig_run(r);
            rig_expect(r, 0, WQ_SEND, 0, 1, is_told ? told : WCS_WR_FLUSH_ERR);
            assert_int_equal(r->host[0].qp->state, QPS_ERR);
            rig_free(r);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_inv_waits_for_what_was_posted_before),
        cmocka_unit_test(a_fast_region_is_registered_where_it_stands_in_the_queue),
        cmocka_unit_test(what_cannot_be_made_invalid_ends_the_queue_pair),
        cmocka_unit_test(going_back_passes_over_what_was_carried_out),
        cmocka_unit_test(a_fence_holds_a_bind_back),
        cmocka_unit_test(a_send_ends_a_key_of_its_receiver),
        cmocka_unit_test(an_rnr_nak_ends_no_key),
        cmocka_unit_test(a_key_that_cannot_end_is_the_receivers_own_error),
        cmocka_unit_test(a_read_ends_its_key_when_all_of_it_is_here),
        cmocka_unit_test(a_read_whose_key_cannot_end_fails_though_its_data_are_here),
        cmocka_unit_test(unsignaled_requests_complete_without_a_word),
        cmocka_unit_test(nothing_is_done_twice_or_too_early_on_a_bad_link),
        cmocka_unit_test(a_flush_takes_what_was_carried_out),
        cmocka_unit_test(refused_work_on_keys_is_told_by_profile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
