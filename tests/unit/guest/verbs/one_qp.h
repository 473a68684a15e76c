/* SPDX-License-Identifier: MIT */
/* Fixture: a queue pair of the fake driver, with its CQ and PD. */
#ifndef TESTS_UNIT_GUEST_VERBS_ONE_QP_H
#define TESTS_UNIT_GUEST_VERBS_ONE_QP_H

#include "guest/verbs/fake_driver.h"

struct work {
    struct fake *f;
    struct guest_pd *pd;
    struct guest_cq *cq;
    struct guest_qp *qp;
};

static inline int set_up(void **state)
{
    struct work *w = test_calloc(1, sizeof(*w));

    assert_int_equal(fake_set_up((void **)&w->f), 0);
    w->pd = new_pd(&w->f->verbs);
    w->cq = new_cq(&w->f->verbs, 8);
    w->qp = new_qp(w->pd, w->cq, 0);
    *state = w;
    return 0;
}

static inline int tear_down(void **state)
{
    struct work *w = *state;

    fake_tear_down((void **)&w->f);
    test_free(w);
    return 0;
}

#endif
