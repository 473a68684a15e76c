/* SPDX-License-Identifier: MIT */
/* Multicast as programs use it: attaching, detaching, and the notifications to the IP stack. */
#include "fake_driver.h"
#include "guest/program.h"

static const uint8_t group[GID_BYTES] = {[10] = 0xff, 0xff, 239, 1, 2, 3};
static const uint8_t other[GID_BYTES] = {0xff, 0x0e, [15] = 1};

static struct guest_qp *datagrams(struct fake *f)
{
    struct guest_qp *qp = new_qp(new_pd(&f->verbs), new_cq(&f->verbs, 4), 0);

    qp->type = QPT_UD; /* as if it had been created so */
    return qp;
}

static void who_attaches_joins_and_who_detaches_leaves(void **state)
{
    struct fake *f = *state;
    struct guest_qp *qp = datagrams(f);
    const uint32_t n = f->n_requests;

    assert_int_equal(verbs_attach_mcast(qp, group), RDL_OK);
    assert_int_equal(verbs_attach_mcast(qp, other), RDL_OK);
    assert_int_equal(f->members, 2);
    assert_int_equal(f->n_requests, n + 2);
    assert_int_equal(verbs_attach_mcast(qp, group), RDL_OK); /* it is there: nobody is asked */
    assert_int_equal(f->verbs.request.n, 0);
    assert_int_equal(f->members, 2);
    assert_int_equal(f->n_requests, n + 2);
    assert_int_equal(verbs_destroy_qp(qp), RDL_ERR_BUSY);
    assert_int_equal(verbs_detach_mcast(qp, group), RDL_OK);
    assert_int_equal(verbs_detach_mcast(qp, group), RDL_ERR_INVAL);
    assert_int_equal(f->members, 1);
    assert_memory_equal(qp->groups->gid, other, GID_BYTES);
    assert_null(qp->groups->next);
    assert_int_equal(verbs_detach_mcast(qp, other), RDL_OK);
    assert_int_equal(f->members, 0);
    assert_int_equal(verbs_destroy_qp(qp), RDL_OK);
}

static void what_the_device_refuses_leaves_no_trace(void **state)
{
    struct fake *f = *state;
    struct guest_qp *qp = datagrams(f);
    const size_t live = arena_live_bytes(f->arena);

    f->refuse = ENOMEM;
    assert_int_equal(verbs_attach_mcast(qp, group), RDL_OK);
    assert_null(qp->groups);
    assert_int_equal(f->members, 0);
    f->cannot = RDL_ERR_BROKEN;
    assert_int_equal(verbs_attach_mcast(qp, group), RDL_ERR_BROKEN);
    assert_int_equal(arena_live_bytes(f->arena), live);
    f->cannot = RDL_OK;
    assert_int_equal(verbs_attach_mcast(qp, group), RDL_OK);
    f->refuse = EINVAL;
    assert_int_equal(verbs_detach_mcast(qp, group), RDL_OK);
    assert_non_null(qp->groups); /* it is still in it */
    assert_int_equal(f->members, 1);
    assert_int_equal(verbs_detach_mcast(qp, group), RDL_OK);
    assert_int_equal(arena_live_bytes(f->arena), live);
}

static void what_makes_no_sense_is_refused_at_once(void **state)
{
    static const uint8_t single[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
    struct fake *f = *state;
    struct guest_qp *qp = datagrams(f);
    const uint32_t n = f->n_requests;

    assert_int_equal(verbs_attach_mcast(qp, single), RDL_ERR_INVAL);
    assert_int_equal(verbs_detach_mcast(qp, group), RDL_ERR_INVAL);
    qp->type = QPT_RC;
    assert_int_equal(verbs_attach_mcast(qp, group), RDL_ERR_INVAL);
    qp->type = QPT_GSI;
    assert_int_equal(verbs_attach_mcast(qp, group), RDL_ERR_INVAL);
    qp->type = QPT_UD;
    f->verbs.limits.has_mcast = false;
    assert_int_equal(verbs_attach_mcast(qp, group), RDL_ERR_UNSUPPORTED);
    assert_int_equal(f->n_requests, n);
}

static void the_flag_about_own_copies_is_for_datagrams(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    const struct verbs_qp_parts parts = {new_pd(&f->verbs), cq, cq, NULL};
    const struct rdl_qp_config config = {.type = QPT_RC, .block_self_mcast_lb = true};
    uint64_t h;

    assert_int_equal(verbs_create_qp(&f->verbs, &config, &parts, NULL, &h), RDL_ERR_INVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(who_attaches_joins_and_who_detaches_leaves),
        T(what_the_device_refuses_leaves_no_trace),
        T(what_makes_no_sense_is_refused_at_once),
        T(the_flag_about_own_copies_is_for_datagrams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
