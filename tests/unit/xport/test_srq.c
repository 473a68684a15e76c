/* SPDX-License-Identifier: MIT */
/* Shared receives: which keys they use, and what happens to them when a queue pair fails.  Host 1
 * uses a shared receive queue of another protection domain, to which its region belongs.
 */
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/rules.h"
#include "emu/hca/ctrl.h"
#include "emu/trace/event.h"
#include "emu/xport/ctrl.h"
#include "rig.h"
#include "testing.h"

static struct rig *shared_rig(void)
{
    struct rig_config c = rig_defaults();

    c.srq = true;
    return rig_new(&c);
}

/* The first half of a message of two packets has arrived: a receive is held. */
static struct rig *rig_in_a_message(void)
{
    struct rig *r = shared_rig();

    rig_rule(r, 0, OP_RC_SEND_LAST, ANY, ANY, RIG_LOSE);
    rig_recv(r, 7, 0, 1000);
    rig_recv(r, 8, 1000, 1000);
    rig_send(r, 1, 0, 512);
    rig_run_until(r, 5000);
    assert_true(rig_rc(r, 1)->resp.has_wqe);
    assert_int_equal(r->host[1].queue[WQ_RECV].taken, 1);
    return r;
}

static void keys_are_of_the_domain_of_the_shared_queue(void **state)
{
    struct rig *r = shared_rig();

    (void)state;
    assert_true(r->host[1].qp->pd != r->host[1].srq->pd);
    rig_fill(r, 0, 7);
    rig_recv(r, 7, 0, 1000);
    rig_send(r, 1, 0, 700);
    rig_run(r);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    assert_true(rig_same(r, 0, 0, 700));
    rig_free(r);
}

static void a_region_of_the_queue_pairs_own_domain_is_refused(void **state)
{
    struct rig *r = shared_rig();
    struct rig_host *h = &r->host[1];
    uint64_t page = 0;
    const struct mr_request req = {.pdn = h->qp->pd->pdn,
                                   .access = ACC_LOCAL_WRITE,
                                   .start = 0,
                                   .virt_addr = 0,
                                   .length = 4096,
                                   .pages = &page,
                                   .n_pages = 1};
    struct rig_post *p;
    struct mkey *mr;

    (void)state;
    assert_int_equal(hca_mr_create(&h->hca, &req, &mr), REF_NONE);
    p = rig_prepare(r, 1, WQ_RECV, 7, 0, 1000);
    p->sge[0] = (struct sge){0, 1000, mr->key};
    rig_post(r, 1, WQ_RECV);
    rig_send(r, 1, 0, 100);
    rig_run(r);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_LOC_PROT_ERR);
    assert_int_equal(h->wc[WQ_RECV][0].rule, RULE_MR_PD);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_REM_OP_ERR);
    rig_free(r);
}

static void none_posted_means_rnr(void **state)
{
    struct rig *r = shared_rig();

    (void)state;
    rig_send(r, 1, 0, 100);
    rig_run_until(r, 5000);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_RNR_NAK), 1);
    rig_recv(r, 7, 0, 1000);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
    rig_free(r);
}

/* The receive that is held completes, then the event comes; what was not taken is left to others.
 */
static void in_err_only_what_is_held_is_flushed(void **state)
{
    struct rig *r = rig_in_a_message();
    const struct rig_queue *q = &r->host[1].queue[WQ_RECV];

    (void)state;
    rig_move(r, 1, QPS_ERR);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_WR_FLUSH_ERR);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 1);
    assert_int_equal(q->taken, 1);
    assert_int_equal(q->returned, 1);
    assert_int_equal(r->host[1].n_async[ASE_QP_LAST_WQE_REACHED], 1);
    assert_true(rig_event(r, EV_cqe, 1, 0)->id < rig_event(r, EV_async_event, 1, 0)->id);
    rig_recv(r, 9, 0, 100); /* a kick in ERR takes nothing either */
    assert_int_equal(q->taken, 1);
    rig_free(r);
}

/* Once in each life of the queue pair. */
static void the_last_receive_is_told_of_once(void **state)
{
    struct rig *r = shared_rig();

    (void)state;
    rig_move(r, 1, QPS_ERR);
    rig_move(r, 1, QPS_ERR);
    assert_int_equal(r->host[1].n_async[ASE_QP_LAST_WQE_REACHED], 1);
    assert_int_equal(r->host[0].n_async[ASE_QP_LAST_WQE_REACHED], 0);
    rig_move(r, 1, QPS_RESET);
    rig_move(r, 1, QPS_ERR);
    assert_int_equal(r->host[1].n_async[ASE_QP_LAST_WQE_REACHED], 2);
    rig_move(r, 0, QPS_ERR); /* it has a queue of its own */
    assert_int_equal(r->host[0].n_async[ASE_QP_LAST_WQE_REACHED], 0);
    rig_free(r);
}

static void a_reset_gives_back_what_is_held_without_a_word(void **state)
{
    struct rig *r = rig_in_a_message();

    (void)state;
    rig_move(r, 1, QPS_RESET);
    assert_int_equal(r->host[1].queue[WQ_RECV].returned, 1);
    assert_int_equal(r->host[1].queue[WQ_RECV].taken, 1);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 0);
    assert_int_equal(r->host[1].n_async[ASE_QP_LAST_WQE_REACHED], 0);
    rig_free(r);
}

/* Its ring lives on, and must not lose an entry. */
static void a_queue_pair_that_is_destroyed_gives_back_what_it_holds(void **state)
{
    struct rig *r = rig_in_a_message();
    struct rig_host *h = &r->host[1];

    (void)state;
    assert_int_equal(refusal_kind(hca_srq_destroy(&h->hca, h->srq->srqn)), RFK_BUSY);
    assert_int_equal(xport_qp_destroy(&h->x, h->qp->qpn), REF_NONE);
    assert_int_equal(h->queue[WQ_RECV].returned, 1);
    assert_int_equal(h->n_wc[WQ_RECV], 0);
    assert_int_equal(hca_srq_destroy(&h->hca, h->srq->srqn), REF_NONE);
    rig_free(r);
}

static void a_queue_that_fails_takes_its_queue_pairs_with_it(void **state)
{
    struct rig *r = rig_in_a_message();

    (void)state;
    xport_srq_failed(&r->host[1].x, r->host[1].srq);
    assert_int_equal(r->host[1].qp->state, QPS_ERR);
    rig_expect(r, 1, WQ_RECV, 0, 7, WCS_WR_FLUSH_ERR);
    xport_srq_failed(&r->host[0].x, r->host[1].srq);
    assert_int_equal(r->host[0].qp->state, QPS_RTS);
    rig_free(r);
}

static void a_queue_pair_in_reset_outlives_its_queue(void **state)
{
    struct rig *r = rig_in_a_message();

    (void)state;
    rig_move(r, 1, QPS_RESET);
    xport_srq_failed(&r->host[1].x, r->host[1].srq);
    assert_int_equal(r->host[1].qp->state, QPS_RESET);
    rig_free(r);
}

/* An answer never promises receives that another queue pair may take. */
static void no_credits_are_advertised(void **state)
{
    struct rig *r = shared_rig();

    (void)state;
    for (uint32_t i = 0; i < 8; i++)
        rig_recv(r, i, 0, 1000);
    rig_send(r, 1, 0, 100);
    rig_run(r);
    assert_int_equal(rig_rc(r, 1)->out.aeth.syndrome & 0x1f, 0x1f);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_of_the_domain_of_the_shared_queue),
        cmocka_unit_test(a_region_of_the_queue_pairs_own_domain_is_refused),
        cmocka_unit_test(none_posted_means_rnr),
        cmocka_unit_test(in_err_only_what_is_held_is_flushed),
        cmocka_unit_test(the_last_receive_is_told_of_once),
        cmocka_unit_test(a_reset_gives_back_what_is_held_without_a_word),
        cmocka_unit_test(a_queue_pair_that_is_destroyed_gives_back_what_it_holds),
        cmocka_unit_test(a_queue_that_fails_takes_its_queue_pairs_with_it),
        cmocka_unit_test(a_queue_pair_in_reset_outlives_its_queue),
        cmocka_unit_test(no_credits_are_advertised),
    };

    return cmocka_run_group_tests_name("srq", tests, NULL, NULL);
}
