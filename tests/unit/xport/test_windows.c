/* SPDX-License-Identifier: MIT */
/* Memory windows: what a bind opens, why one is refused, and what becomes of the old key. */
#include "key_rig.h"

/* Shows B16, I7. */
static void a_window_shows_its_part_and_allows_what_it_says(void **state)
{
    static const struct {
        unsigned access;
        enum wr_opcode opcode;
        uint64_t offset; /* in the window, which has 64 bytes */
        uint32_t bytes;
        enum wc_status status;
    } rows[] = {
        {ALL, WR_RDMA_WRITE, 0, 64, WCS_SUCCESS},
        {ALL, WR_RDMA_READ, 0, 64, WCS_SUCCESS},
        {ALL, WR_RDMA_WRITE, 63, 1, WCS_SUCCESS},
        {ALL, WR_ATOMIC_FETCH_AND_ADD, 56, 8, WCS_SUCCESS},
        {ALL, WR_RDMA_WRITE, 0, 65, WCS_REM_ACCESS_ERR},
        {ALL, WR_RDMA_READ, 64, 1, WCS_REM_ACCESS_ERR},
        {ALL, WR_RDMA_WRITE, UINT64_MAX, 2, WCS_REM_ACCESS_ERR},
        {ACC_REMOTE_READ, WR_RDMA_READ, 1, 63, WCS_SUCCESS},
        {ACC_REMOTE_READ, WR_RDMA_WRITE, 0, 1, WCS_REM_ACCESS_ERR},
        {ACC_REMOTE_WRITE, WR_RDMA_READ, 0, 1, WCS_REM_ACCESS_ERR},
        {ACC_REMOTE_WRITE, WR_ATOMIC_FETCH_AND_ADD, 0, 8, WCS_REM_ACCESS_ERR},
    };

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        struct rig *r = rig_default();
        const struct mkey *w = window(r, 1, 1 + i % 2);
        const uint64_t base = RIG_ADDR + REMOTE + 16;

        prepare_bind(r, 1, 9, w, REMOTE + 16, 64)->bind.access = rows[i / 2].access;
        rig_post(r, 1, WQ_SEND);
        rig_run(r);
        rig_expect(r, 1, WQ_SEND, 0, 9, WCS_SUCCESS);
        assert_int_equal(r->host[1].wc[WQ_SEND][0].opcode, WC_BIND_MW);
        assert_int_equal(rig_event(r, EV_bind, 1, 0)->u.bind.new_key, w->key);
        assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 0);
        rdma_key(r, rows[i / 2].opcode, 1, rows[i / 2].bytes, base + rows[i / 2].offset, w->key);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, rows[i / 2].status);
        rig_free(r);
    }
}

/* Fills in what makes a bind wrong. */
struct wrong {
    struct rig *r;
    struct mkey *w;
    struct rig_post *p;
};

static void no_such_window(struct wrong *x)
{
    x->p->bind.mw_key++;
}

static void the_other_type(struct wrong *x)
{
    x->p->bind.type = MW_TYPE_1;
}

static void a_window_of_another_domain(struct wrong *x)
{
    x->w->pdn++;
}

static void bound_already(struct wrong *x)
{
    x->w->state = KEY_VALID;
}

static void no_such_region(struct wrong *x)
{
    x->p->bind.mr_key++;
}

static void no_bytes(struct wrong *x)
{
    x->p->bind.bytes = 0;
}

static void a_region_without_windows(struct wrong *x)
{
    x->r->host[1].mr->access &= ~(unsigned)ACC_MW_BIND;
}

static void local_access(struct wrong *x)
{
    x->p->bind.access |= ACC_LOCAL_WRITE;
}

static void a_byte_too_many(struct wrong *x)
{
    x->p->bind.addr = RIG_ADDR + RIG_REGION - 63;
}

/* Shows B102. */
static void a_bind_that_is_refused_ends_the_queue_pair(void **state)
{
    static const struct {
        void (*spoil)(struct wrong *);
        enum rule rule;
    } rows[] = {
        {no_such_window, RULE_BIND_MW},
        {the_other_type, RULE_BIND_TYPE},
        {bound_already, RULE_BIND_STATE},
        {no_such_region, RULE_BIND_REGION},
        {no_bytes, RULE_BIND_ZERO_LENGTH},
        {a_region_without_windows, RULE_BIND_MR_ACCESS},
        {local_access, RULE_BIND_ACCESS},
        {a_byte_too_many, RULE_BIND_RANGE},
        {a_window_of_another_domain, RULE_BIND_PD},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_default();
        struct mkey *w = window(r, 1, MW_TYPE_2);
        struct wrong x = {r, w, prepare_bind(r, 1, 1, w, REMOTE, 64)};
        const uint32_t pdn = w->pdn;

        rows[i].spoil(&x);
        rig_post(r, 1, WQ_SEND);
        bind(r, 1, 2, w, REMOTE, 64);
        rig_run(r);
        rig_expect(r, 1, WQ_SEND, 0, 1, WCS_MW_BIND_ERR);
        assert_int_equal(r->host[1].wc[WQ_SEND][0].rule, rows[i].rule);
        rig_expect(r, 1, WQ_SEND, 1, 2, WCS_WR_FLUSH_ERR);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        assert_int_equal(rig_count(r, EV_bind, 1, "rule", rows[i].rule), 1);
        assert_int_equal(rig_count(r, EV_bind, 1, NULL, 0), 1);
        assert_null(w->region);
        w->pdn = pdn;
        w->state = KEY_FREE;
        rig_free(r);
    }
}

/* Each bind of type 1 gives another key; without bytes it ends the last one.  Shows B103. */
static void an_old_key_of_a_window_opens_nothing(void **state)
{
    (void)state;
    for (uint32_t bytes = 0; bytes <= 64; bytes += 64) {
        struct rig *r = rig_default();
        const struct mkey *w = window(r, 1, MW_TYPE_1);
        uint32_t old;

        bind(r, 1, 1, w, REMOTE, 64);
        rig_run(r);
        old = w->key;
        bind(r, 1, 2, w, REMOTE, bytes);
        rig_run(r);
        rig_expect(r, 1, WQ_SEND, 1, 2, WCS_SUCCESS);
        assert_int_equal(w->key, (old & ~0xffu) | ((old + 1) & 0xff));
        assert_int_equal(r->host[1].mr->n_windows, bytes > 0);
        rdma_key(r, WR_RDMA_WRITE, 3, 8, RIG_ADDR + REMOTE, old);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 3, WCS_REM_ACCESS_ERR);
        rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_shows_its_part_and_allows_what_it_says),
        cmocka_unit_test(a_bind_that_is_refused_ends_the_queue_pair),
        cmocka_unit_test(an_old_key_of_a_window_opens_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
