/* SPDX-License-Identifier: MIT */
/* A full arena: whichever allocation fails, the request is refused and leaves nothing of the object
 * behind.
 */
#include "testing.h"

#include "emu/facts/enum/qp_type.h"
#include "emu/hca/cq.h"
#include "emu/hca/mcast.h"
#include "emu/hca/mr.h"
#include "emu/hca/mw.h"
#include "emu/hca/qp.h"
#include "emu/hca/srq.h"
#include "full.h"
#include "stand.h"

#define PAGE 4096u

/* A device with one object of each kind that others need, in an arena that is full otherwise. */
struct bed {
    struct stand s;
    uint32_t pdn, mrn, cqn;
    struct qp *qp;
    struct full full;
};

static const uint64_t pages[] = {9 * PAGE, 3 * PAGE, 30 * PAGE};

static struct mr_request region(const struct bed *b, uint32_t n_pages)
{
    return (struct mr_request){.pdn = b->pdn,
                               .access = ACC_LOCAL_WRITE,
                               .start = PAGE,
                               .virt_addr = PAGE,
                               .length = (uint64_t)n_pages * PAGE,
                               .pages = pages,
                               .n_pages = n_pages};
}

/* @with_region: to be changed; otherwise no key was ever made. */
static struct bed *bed_made(bool with_region)
{
    struct bed *b = test_calloc(1, sizeof(*b));
    struct qp_config config = {.type = QPT_UD};
    struct mr_request req;
    struct mkey *mr;
    struct cq *cq;

    stand_up(&b->s, 2);
    b->pdn = config.pdn = stand_pd(&b->s);
    req = region(b, 1);
    if (with_region) {
        assert_int_equal(hca_mr_create(&b->s.hca, &req, &mr), REF_NONE);
        b->mrn = key_number(mr->key);
    }
    assert_int_equal(hca_cq_create(&b->s.hca, 16, &cq), REF_NONE);
    b->cqn = config.send_cqn = config.recv_cqn = cq->cqn;
    assert_int_equal(hca_qp_create(&b->s.hca, &config, sizeof(*b->qp), &b->qp), REF_NONE);
    full_make(&b->full, b->s.arena);
    return b;
}

static void bed_gone(struct bed *b)
{
    arena_free(b->s.arena);
    test_free(b);
}

static enum refusal_reason make_pd(struct bed *b)
{
    struct pd *pd;

    return hca_pd_create(&b->s.hca, &pd);
}

static enum refusal_reason make_cq(struct bed *b)
{
    struct cq *cq;

    return hca_cq_create(&b->s.hca, 16, &cq);
}

static enum refusal_reason make_mr(struct bed *b)
{
    const struct mr_request req = region(b, 3);
    struct mkey *mr;

    return hca_mr_create(&b->s.hca, &req, &mr);
}

static enum refusal_reason change_mr(struct bed *b)
{
    const struct mr_request req = region(b, 3);
    struct mkey *mr;

    return hca_mr_change(&b->s.hca, b->mrn, REREG_TRANSLATION, &req, &mr);
}

static enum refusal_reason make_fast_mr(struct bed *b)
{
    struct mkey *mr;

    return hca_fast_mr_create(&b->s.hca, b->pdn, ACC_LOCAL_WRITE, 4, &mr);
}

static enum refusal_reason make_mw(struct bed *b)
{
    struct mkey *mw;

    return hca_mw_create(&b->s.hca, b->pdn, MW_TYPE_1, &mw);
}

static enum refusal_reason make_srq(struct bed *b)
{
    struct srq *srq;

    return hca_srq_create(&b->s.hca, &(struct srq_config){b->pdn, 8, 1}, &srq);
}

static enum refusal_reason make_qp(struct bed *b)
{
    const struct qp_config config = {
        .type = QPT_RC, .pdn = b->pdn, .send_cqn = b->cqn, .recv_cqn = b->cqn};
    struct qp *qp;

    return hca_qp_create(&b->s.hca, &config, sizeof(*qp), &qp);
}

static enum refusal_reason attach(struct bed *b)
{
    static const uint8_t gid[MCAST_GID_BYTES] = {0xff, 0x0e, [15] = 1};

    return mcast_attach(&b->s.hca, b->qp, gid);
}

/* Returns true if @make is refused.  Then makes it once more, now that tables have grown, and
 * checks that it leaves everything as it was.
 */
static bool is_refused(struct bed *b, enum refusal_reason (*make)(struct bed *))
{
    const uint32_t users = hca_pd(&b->s.hca, b->pdn)->users;
    const uint32_t n_mr = b->s.hca.n_mr, n_groups = b->s.hca.mcast.groups.n;
    const enum refusal_reason why = make(b);
    size_t live;

    if (why == REF_NONE)
        return false;
    assert_int_equal(refusal_kind(why), RFK_NO_ROOM);
    live = arena_live_bytes(b->s.arena);
    assert_int_equal(refusal_kind(make(b)), RFK_NO_ROOM);
    assert_int_equal(arena_live_bytes(b->s.arena), live);
    assert_int_equal(hca_pd(&b->s.hca, b->pdn)->users, users);
    assert_int_equal(b->s.hca.n_mr, n_mr);
    assert_int_equal(b->s.hca.mcast.groups.n, n_groups);
    return true;
}

/* Tries until it succeeds, with one block more each time.  Returns how often it failed. */
static unsigned tried(enum refusal_reason (*make)(struct bed *), bool large_first)
{
    struct bed *b = bed_made(make == change_mr);
    unsigned n_failed = 0;

    while (is_refused(b, make)) {
        n_failed++;
        assert_true(full_lend(&b->full, large_first));
    }
    bed_gone(b);
    return n_failed;
}

static void no_object_is_half_made(void **state)
{
    static enum refusal_reason (*const makers[])(struct bed *) = {
        make_pd, make_cq, make_mr, change_mr, make_fast_mr, make_mw, make_srq, make_qp, attach};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(makers); i++) {
        for (unsigned large_first = 0; large_first < 2; large_first++)
            assert_true(tried(makers[i], large_first) > 0);
    }
}

/* What nobody can look at later is counted all the same. */
static void a_completion_that_cannot_be_kept_is_counted(void **state)
{
    struct bed *b = bed_made(false);
    struct cq *cq = hca_cq(&b->s.hca, b->cqn);
    const struct completion wc = {.wr_id = 7};

    (void)state;
    assert_false(cq_completed(&b->s.hca, cq, &wc));
    assert_int_equal(cq->n_completed, 1);
    assert_null(cq_log_at(cq, 0));
    bed_gone(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_object_is_half_made),
        cmocka_unit_test(a_completion_that_cannot_be_kept_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
