/* SPDX-License-Identifier: MIT */
/* Completion queues: which completions raise an event, and which are kept. */
#include "testing.h"

#include "emu/facts/enum/wc_status.h"
#include "emu/hca/cq.h"
#include "stand.h"

/* [behaviour of ibv_req_notify_cq(3)]: one event per arming, "any" wins over "solicited".  Shows
 * B80.
 */
static void arming_wakes_once_and_is_never_lowered(void **state)
{
    enum { NO = 2 };
    static const struct {
        int first, second; /* solicited_only of each arming; NO: none */
        bool solicited;
        enum wc_status status;
        bool wakes;
    } rows[] = {
        {NO, NO, true, WCS_SUCCESS, false},     {0, NO, false, WCS_SUCCESS, true},
        {1, NO, false, WCS_SUCCESS, false},     {1, NO, true, WCS_SUCCESS, true},
        {1, NO, false, WCS_WR_FLUSH_ERR, true}, {0, 1, false, WCS_SUCCESS, true},
        {1, 0, false, WCS_SUCCESS, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct completion wc = {.status = rows[i].status, .solicited = rows[i].solicited};
        struct stand s;
        struct cq *cq;

        stand_up(&s, 2);
        assert_int_equal(hca_cq_create(&s.hca, 16, &cq), REF_NONE);
        if (rows[i].first != NO)
            cq_arm(cq, rows[i].first != 0);
        if (rows[i].second != NO)
            cq_arm(cq, rows[i].second != 0);
        assert_int_equal(cq_completed(&s.hca, cq, &wc), rows[i].wakes);
        if (rows[i].wakes)
            assert_false(cq_completed(&s.hca, cq, &wc));
        stand_down(&s);
    }
}

static void the_log_keeps_the_last_ones(void **state)
{
    struct stand s;
    struct cq *cq;

    (void)state;
    stand_up(&s, 2);
    assert_int_equal(hca_cq_create(&s.hca, 16, &cq), REF_NONE);
    assert_null(cq_log_at(cq, 0));
    for (uint64_t n = 0; n < 3000; n++) {
        const struct completion wc = {.wr_id = n};
        const uint64_t oldest = n < CQ_LOG_MAX ? 0 : n + 1 - CQ_LOG_MAX;

        assert_false(cq_completed(&s.hca, cq, &wc));
        assert_int_equal(cq->n_completed, n + 1);
        assert_int_equal(cq_log_at(cq, n)->wr_id, n);
        assert_int_equal(cq_log_at(cq, oldest)->wr_id, oldest);
        assert_null(cq_log_at(cq, n + 1));
    }
    assert_null(cq_log_at(cq, 3000 - CQ_LOG_MAX - 1));
    stand_down(&s);
}

static void a_queue_can_be_resized_while_it_works(void **state)
{
    static const struct {
        uint32_t cqn, cqe;
        bool error;
        enum refusal_reason why;
    } rows[] = {
        {1, 0, false, REF_CQ_ENTRIES},    {1, 1, false, REF_NONE},
        {2, 16, false, REF_CQ_HANDLE},    {1, UINT32_MAX, false, REF_CQ_ENTRIES},
        {1, 32, true, REF_CQ_OVERFLOWED}, {1, 32, false, REF_NONE},
    };
    uint32_t cqe = 16;
    struct stand s;
    struct cq *cq;

    (void)state;
    stand_up(&s, 2);
    assert_int_equal(hca_cq_create(&s.hca, cqe, &cq), REF_NONE);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        cq->error = rows[i].error;
        assert_int_equal(hca_cq_resize(&s.hca, rows[i].cqn, rows[i].cqe), rows[i].why);
        if (rows[i].why == REF_NONE)
            cqe = rows[i].cqe;
        assert_int_equal(cq->cqe, cqe);
    }
    stand_down(&s);
}

static void numbers_and_limits(void **state)
{
    struct stand s;
    struct cq *cq;

    (void)state;
    stand_up(&s, 2);
    assert_int_equal(refusal_kind(hca_cq_create(&s.hca, 0, &cq)), RFK_INVALID);
    assert_int_equal(refusal_kind(hca_cq_create(&s.hca, stand_limits.max_cqe + 1, &cq)),
                     RFK_INVALID);
    for (uint32_t n = 1; n <= stand_limits.max_cq; n++) {
        assert_int_equal(hca_cq_create(&s.hca, 1, &cq), REF_NONE);
        assert_int_equal(cq->cqn, n);
        assert_ptr_equal(hca_cq(&s.hca, n), cq);
    }
    assert_int_equal(refusal_kind(hca_cq_create(&s.hca, 1, &cq)), RFK_NO_ROOM);
    assert_null(hca_cq(&s.hca, 0));
    assert_int_equal(hca_cq_destroy(&s.hca, 2), REF_NONE);
    assert_int_equal(refusal_kind(hca_cq_destroy(&s.hca, 2)), RFK_NO_OBJECT);
    assert_int_equal(hca_cq_create(&s.hca, 1, &cq), REF_NONE);
    assert_int_equal(cq->cqn, 2);
    stand_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arming_wakes_once_and_is_never_lowered),
        cmocka_unit_test(the_log_keeps_the_last_ones),
        cmocka_unit_test(a_queue_can_be_resized_while_it_works),
        cmocka_unit_test(numbers_and_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
