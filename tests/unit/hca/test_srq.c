/* SPDX-License-Identifier: MIT */
/* Shared receive queues: their attributes, their users, and the limit event. */
#include "testing.h"

#include "emu/facts/enum/qp_type.h"
#include "emu/hca/cq.h"
#include "emu/hca/qp.h"
#include "emu/hca/srq.h"
#include "stand.h"

static void only_what_fits_the_limits_is_made(void **state)
{
    static const struct {
        uint32_t pdn, max_wr, max_sge;
        enum refusal_reason why;
    } rows[] = {{1, 64, 4, REF_NONE},      {1, 1, 0, REF_NONE},   {2, 16, 4, REF_PD_HANDLE},
                {0, 16, 4, REF_PD_HANDLE}, {1, 0, 4, REF_SRQ_WR}, {1, 65, 4, REF_SRQ_WR},
                {1, 16, 5, REF_SRQ_SGE}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct srq_config config = {rows[i].pdn, rows[i].max_wr, rows[i].max_sge};
        struct stand s;
        struct srq *srq = NULL;

        stand_up(&s, 2);
        (void)stand_pd(&s);
        assert_int_equal(hca_srq_create(&s.hca, &config, &srq), rows[i].why);
        assert_int_equal(srq != NULL, rows[i].why == REF_NONE);
        assert_int_equal(hca_pd(&s.hca, 1)->users, rows[i].why == REF_NONE);
        stand_down(&s);
    }
}

static void there_are_max_srq_of_them(void **state)
{
    struct stand s;
    struct srq *srq;

    (void)state;
    stand_up(&s, 2);
    (void)stand_pd(&s);
    for (uint32_t i = 1; i <= stand_limits.max_srq; i++) {
        assert_int_equal(hca_srq_create(&s.hca, &(struct srq_config){1, 8, 1}, &srq), REF_NONE);
        assert_int_equal(srq->srqn, i);
        assert_ptr_equal(hca_srq(&s.hca, i), srq);
    }
    assert_int_equal(refusal_kind(hca_srq_create(&s.hca, &(struct srq_config){1, 8, 1}, &srq)),
                     RFK_NO_ROOM);
    assert_null(hca_srq(&s.hca, 0));
    assert_null(hca_srq(&s.hca, stand_limits.max_srq + 1));
    assert_int_equal(refusal_kind(hca_srq_destroy(&s.hca, stand_limits.max_srq + 1)),
                     RFK_NO_OBJECT);
    assert_int_equal(refusal_kind(hca_pd_destroy(&s.hca, 1)), RFK_BUSY);
    assert_int_equal(hca_srq_destroy(&s.hca, 1), REF_NONE);
    assert_int_equal(refusal_kind(hca_srq_destroy(&s.hca, 1)), RFK_NO_OBJECT);
    assert_int_equal(hca_srq_create(&s.hca, &(struct srq_config){1, 8, 1}, &srq), REF_NONE);
    assert_int_equal(srq->srqn, 1);
    stand_down(&s);
}

/* Its own receives mean nothing then, not even if they are above the limits. */
static void a_queue_pair_takes_the_shape_of_its_receives_from_it(void **state)
{
    struct qp_config config = {.pdn = 1,
                               .type = QPT_RC,
                               .send_cqn = 1,
                               .recv_cqn = 1,
                               .max_send_wr = 8,
                               .max_recv_wr = 1000,
                               .max_recv_sge = 1000,
                               .srqn = 1};
    struct stand s;
    struct srq *srq;
    struct qp *qp;
    struct cq *cq;

    (void)state;
    stand_up(&s, 2);
    (void)stand_pd(&s);
    assert_int_equal(hca_cq_create(&s.hca, 8, &cq), REF_NONE);
    assert_int_equal(refusal_kind(hca_qp_create(&s.hca, &config, sizeof(*qp), &qp)), RFK_NO_OBJECT);
    assert_int_equal(hca_srq_create(&s.hca, &(struct srq_config){1, 8, 3}, &srq), REF_NONE);
    assert_int_equal(hca_qp_create(&s.hca, &config, sizeof(*qp), &qp), REF_NONE);
    assert_ptr_equal(qp->srq, srq);
    assert_int_equal(qp->config.max_recv_wr, 0);
    assert_int_equal(qp->config.max_recv_sge, 3);
    assert_int_equal(srq->users, 1);
    assert_int_equal(refusal_kind(hca_srq_destroy(&s.hca, 1)), RFK_BUSY);
    hca_qp_destroy(&s.hca, qp, sizeof(*qp));
    assert_int_equal(hca_srq_destroy(&s.hca, 1), REF_NONE);
    config.srqn = 0;
    assert_int_equal(refusal_kind(hca_qp_create(&s.hca, &config, sizeof(*qp), &qp)), RFK_INVALID);
    stand_down(&s);
}

/* [libibverbs, ibv_modify_srq(3)] */
static void the_limit_is_reached_once(void **state)
{
    struct srq srq = {.max_wr = 8};
    struct stand s;

    (void)state;
    stand_up(&s, 2);
    assert_false(srq_take(&srq, 0)); /* not armed */
    assert_int_equal(refusal_kind(srq_set_limit(&s.hca, &srq, 9)), RFK_INVALID);
    assert_int_equal(srq.limit, 0);
    assert_int_equal(srq_set_limit(&s.hca, &srq, 8), REF_NONE);
    assert_int_equal(srq_set_limit(&s.hca, &srq, 3), REF_NONE);
    assert_false(srq_take(&srq, 4));
    assert_false(srq_take(&srq, 3)); /* not fewer */
    assert_true(srq_take(&srq, 2));
    assert_int_equal(srq.limit, 0);
    assert_false(srq_take(&srq, 1));
    assert_int_equal(srq_set_limit(&s.hca, &srq, 1), REF_NONE);
    assert_int_equal(srq_set_limit(&s.hca, &srq, 0), REF_NONE);
    assert_false(srq_take(&srq, 0)); /* taken back */
    assert_int_equal(srq.taken, 6);
    stand_down(&s);
}

static void a_device_may_have_none(void **state)
{
    struct stand s;
    struct srq *srq;

    (void)state;
    stand_up(&s, 2);
    (void)stand_pd(&s);
    s.hca.limits.max_srq = 0;
    assert_int_equal(refusal_kind(hca_srq_create(&s.hca, &(struct srq_config){1, 8, 1}, &srq)),
                     RFK_NO_ROOM);
    s.hca.limits.max_srq = stand_limits.max_srq; /* as the table of them was made */
    stand_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_fits_the_limits_is_made),
        cmocka_unit_test(there_are_max_srq_of_them),
        cmocka_unit_test(a_queue_pair_takes_the_shape_of_its_receives_from_it),
        cmocka_unit_test(the_limit_is_reached_once),
        cmocka_unit_test(a_device_may_have_none),
    };

    return cmocka_run_group_tests_name("srq", tests, NULL, NULL);
}
