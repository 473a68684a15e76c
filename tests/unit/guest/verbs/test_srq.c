/* SPDX-License-Identifier: MIT */
/* Shared receive queues as programs use them. */
#include "emu/facts/enum/async_event.h"
#include "emu/facts/rules.h"
#include "guest/verbs/fake_driver.h"

static struct guest_srq *new_srq(struct guest_pd *pd, uint32_t max_wr, uint32_t max_sge)
{
    const struct rdl_srq_attr attr = {.max_wr = max_wr, .max_sge = max_sge, .limit = 77};
    uint64_t h = 0;

    assert_int_equal(verbs_create_srq(pd, &attr, NULL, &h), RDL_OK);
    return (struct guest_srq *)verbs_get(pd->o.verbs, OBJ_SRQ, h);
}

static struct guest_qp *new_sharer(struct guest_pd *pd, struct guest_cq *cq, struct guest_srq *srq)
{
    const struct rdl_qp_config config = {
        .type = QPT_RC, .max_recv_wr = FAKE_WR + 1, .srq = {srq->o.handle}};
    const struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq, .srq = srq};
    uint64_t h = 0;

    assert_int_equal(verbs_create_qp(pd->o.verbs, &config, &parts, NULL, &h), RDL_OK);
    return (struct guest_qp *)verbs_get(pd->o.verbs, OBJ_QP, h);
}

static void only_what_the_device_can_have_is_asked_for(void **state)
{
    static const struct {
        uint32_t max_wr, max_sge;
        enum rdl_status st;
    } rows[] = {{0, 1, RDL_ERR_INVAL},
                {FAKE_WR + 1, 1, RDL_ERR_LIMIT},
                {1, RDL_SGE_MAX + 1, RDL_ERR_LIMIT},
                {FAKE_WR, RDL_SGE_MAX, RDL_OK},
                {1, 0, RDL_OK}};
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    uint64_t h = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rdl_srq_attr attr = {.max_wr = rows[i].max_wr, .max_sge = rows[i].max_sge};
        const uint32_t requests = f->n_requests;

        assert_int_equal(verbs_create_srq(pd, &attr, NULL, &h), rows[i].st);
        assert_int_equal(f->n_requests, requests + (rows[i].st == RDL_OK));
    }
    f->verbs.limits.max_srq = 0;
    assert_int_equal(verbs_create_srq(pd, &(struct rdl_srq_attr){.max_wr = 1}, NULL, &h),
                     RDL_ERR_UNSUPPORTED);
}

static void it_is_called_after_its_number_and_told_about(void **state)
{
    struct fake *f = *state;
    struct guest_srq *srq = new_srq(new_pd(&f->verbs), 8, 0);
    struct rdl_srq_info info;

    assert_string_equal(srq->o.name, "srq1");
    verbs_srq_info(srq, &info);
    assert_int_equal(info.srqn, 1);
    assert_int_equal(info.attr.max_wr, 8);
    assert_int_equal(info.attr.max_sge, 4);
    assert_int_equal(info.attr.limit, 0); /* a new queue has none, whatever was asked for */
    assert_false(verbs_is_free(&f->verbs, OBJ_SRQ, 1));
    assert_true(verbs_is_free(&f->verbs, OBJ_SRQ, FAKE_MAX));
    assert_false(verbs_is_free(&f->verbs, OBJ_SRQ, FAKE_MAX + 1));
    assert_int_equal(verbs_destroy_srq(srq), RDL_OK);
    assert_true(verbs_is_free(&f->verbs, OBJ_SRQ, 1));
}

static void who_uses_it_keeps_it(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 8);
    struct guest_srq *srq = new_srq(pd, 8, 2);
    struct guest_qp *qp = new_sharer(pd, cq, srq);
    struct rdl_users users;

    assert_int_equal(qp->rq.max_sge, 2);
    assert_int_equal(qp->rq.max_wr, 0);
    assert_int_equal(srq->o.n_users, 1);
    assert_int_equal(pd->o.n_users, 2);
    assert_int_equal(verbs_destroy_srq(srq), RDL_ERR_BUSY);
    verbs_users_of(&srq->o, &users);
    assert_int_equal(users.n, 1);
    assert_int_equal(users.raw, qp->o.handle);
    assert_int_equal(verbs_destroy_qp(qp), RDL_OK);
    assert_int_equal(srq->o.n_users, 0);
    assert_int_equal(verbs_destroy_srq(srq), RDL_OK);
    assert_int_equal(pd->o.n_users, 0);
}

static void a_queue_pair_needs_one_that_is_there(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 8);
    const struct rdl_qp_config config = {.type = QPT_RC, .srq = {1}};
    const struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq};
    uint64_t h = 0;

    assert_int_equal(verbs_create_qp(&f->verbs, &config, &parts, NULL, &h), RDL_ERR_STALE);
    assert_int_equal(pd->o.n_users, 0);
}

/* [behaviour of ibv_post_recv(3)] */
static void a_queue_pair_that_shares_has_no_receives_of_its_own(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_srq *srq = new_srq(pd, 8, 1);
    struct guest_qp *qp = new_sharer(pd, new_cq(&f->verbs, 8), srq);
    const struct rdl_recv_wr wr[2] = {{.wr_id = 1}, {.wr_id = 2}};
    struct rdl_post_error e = {0};

    move_to_rts(qp);
    assert_int_equal(verbs_post_recv_list(qp, wr, 1, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.rule, RULE_POST_SRQ);
    assert_int_equal(f->n_recvs, 0);
    assert_int_equal(verbs_post_srq_recv_list(srq, wr, 2, false, &e), RDL_OK);
    assert_int_equal(f->n_shared, 2);
    assert_int_equal(f->n_kicks, 1);
    assert_int_equal(f->events[EV_post_srq_recv], 2);
    assert_int_equal(verbs_post_srq_recv_list(srq, wr, 1, true, &e), RDL_OK);
    assert_int_equal(f->n_kicks, 1);
}

static void one_that_is_refused_ends_the_list(void **state)
{
    struct fake *f = *state;
    struct guest_srq *srq = new_srq(new_pd(&f->verbs), 8, 1);
    const struct rdl_sge two[2] = {{0}};
    const struct rdl_recv_wr wr[] = {{.wr_id = 1}, {.sge = two, .n_sge = 2}, {.wr_id = 3}};
    struct rdl_post_error e = {0};

    assert_int_equal(verbs_post_srq_recv_list(srq, wr, 3, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.bad, 1);
    assert_int_equal(e.rule, RULE_POST_SGE_COUNT);
    assert_int_equal(e.most, 1);
    assert_int_equal(e.found, 2);
    assert_int_equal(f->n_shared, 1);
    assert_int_equal(f->n_kicks, 1); /* what was posted is kicked */
    f->cannot = RDL_ERR_QUEUE_FULL;
    assert_int_equal(verbs_post_srq_recv_list(srq, wr, 1, false, &e), RDL_ERR_QUEUE_FULL);
    assert_int_equal(e.bad, 0);
    assert_int_equal(f->n_kicks, 1);
}

static void the_limit_can_be_changed_and_the_length_not(void **state)
{
    struct fake *f = *state;
    struct guest_srq *srq = new_srq(new_pd(&f->verbs), 8, 1);
    struct rdl_srq_attr attr = {.max_wr = 16, .limit = 9};

    assert_int_equal(verbs_modify_srq(srq, &attr, RDL_SRQ_LIMIT), RDL_ERR_INVAL);
    assert_int_equal(verbs_modify_srq(srq, &attr, RDL_SRQ_MAX_WR), RDL_ERR_UNSUPPORTED);
    assert_int_equal(verbs_modify_srq(srq, &attr, 4), RDL_ERR_INVAL);
    attr.limit = 8;
    assert_int_equal(verbs_modify_srq(srq, &attr, RDL_SRQ_LIMIT), RDL_OK);
    assert_int_equal(f->limit, 8);
    assert_int_equal(srq->limit, 8);
    f->refuse = EIO;
    attr.limit = 2;
    assert_int_equal(verbs_modify_srq(srq, &attr, RDL_SRQ_LIMIT), RDL_OK);
    assert_int_equal(srq->limit, 8); /* the device said no */
    f->limit = 0;                    /* the event was raised meanwhile */
    assert_int_equal(verbs_query_srq(srq), RDL_OK);
    assert_int_equal(srq->limit, 0);
}

static void its_events_name_it_and_keep_it(void **state)
{
    struct fake *f = *state;
    struct verbs *v = &f->verbs;
    struct guest_srq *srq = new_srq(new_pd(v), 8, 1);
    struct rdl_async_event e;
    size_t n;

    verbs_async(v, ASE_SRQ_LIMIT_REACHED, srq->srqn + 1); /* nobody has this number */
    assert_int_equal(v->async.strays, 1);
    verbs_async(v, ASE_SRQ_LIMIT_REACHED, srq->srqn);
    verbs_async(v, ASE_SRQ_ERR, srq->srqn);
    assert_int_equal(verbs_get_async_event(v, &e, &n), RDL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(e.type, ASE_SRQ_LIMIT_REACHED);
    assert_int_equal(e.object, OBJ_SRQ);
    assert_int_equal(e.raw, srq->o.handle);
    assert_int_equal(verbs_destroy_srq(srq), RDL_ERR_BUSY);
    assert_int_equal(verbs_ack_async_event(&srq->o), RDL_OK);
    assert_int_equal(verbs_destroy_srq(srq), RDL_OK);
    assert_int_equal(v->async.len, 0); /* the one that nobody took went with it */
}

#define T(f) cmocka_unit_test_setup_teardown(f, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(only_what_the_device_can_have_is_asked_for),
        T(it_is_called_after_its_number_and_told_about),
        T(who_uses_it_keeps_it),
        T(a_queue_pair_needs_one_that_is_there),
        T(a_queue_pair_that_shares_has_no_receives_of_its_own),
        T(one_that_is_refused_ends_the_list),
        T(the_limit_can_be_changed_and_the_length_not),
        T(its_events_name_it_and_keep_it),
    };

    return cmocka_run_group_tests_name("srq", tests, NULL, NULL);
}
