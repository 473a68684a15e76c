/* SPDX-License-Identifier: MIT */
/* The driver's probe, and its commands, with a device that does as it is told. */
#include "fake_pvrdma.h"

#include <errno.h>

static int not_booted(void **state)
{
    *state = fake_new();
    return 0;
}

/* The value of the write number @i, from 0, of register @reg; fails if there are fewer. */
static uint32_t nth(const struct fake *f, enum pv_reg reg, uint32_t i)
{
    for (uint32_t k = 0; k < f->n_written; k++) {
        if (f->written[k].bar == PV_BAR_REGS && f->written[k].at == (uint32_t)reg && i-- == 0)
            return f->written[k].value;
    }
    fail_msg("register 0x%x was not written so often", (unsigned)reg);
    return 0;
}

/* The high half comes last, although it is 0: the device reads the region then. */
static void it_probes_in_the_order_of_linux(void **state)
{
    static const uint32_t order[] = {PVR_DSRLOW, PVR_DSRHIGH, PVR_IMR,     PVR_CTL,
                                     PVR_CTL,    PVR_REQUEST, PVR_REQUEST, PVR_REQUEST};
    struct fake *f = *state;
    struct pv_dsr dsr;

    assert_int_equal(fake_boot(f), RDL_OK);
    assert_int_equal(f->n_written, ARRAY_LEN(order));
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        assert_int_equal(f->written[i].at, order[i]);
    assert_int_equal(nth(f, PVR_CTL, 0), PV_CTL_ACTIVATE);
    assert_int_equal(nth(f, PVR_CTL, 1), PV_CTL_UNQUIESCE);
    dsr = fake_region(f);
    assert_int_equal(dsr.driver_version, PV_VERSION_MOST);
    assert_int_equal(dsr.uar_pfn, f->driver.uar / PV_UAR_BYTES);
    assert_int_equal(f->verbs.limits.max_qp, 8); /* handles are below max_qp */
    assert_int_equal(f->verbs.limits.max_mw, 0);
}

static void it_refuses_what_linux_refuses(void **state)
{
    static const struct {
        uint32_t version, mode, gid_types, err;
        enum rdl_status st;
    } rows[] = {
        {16, 0, PV_GID_ROCE_V1, 0, RDL_ERR_UNSUPPORTED},
        {17, 0, PV_GID_ROCE_V1, 0, RDL_OK},
        {17, 0, PV_GID_ROCE_V2, 0, RDL_ERR_UNSUPPORTED},
        {18, 0, PV_GID_ROCE_V1, 0, RDL_OK},
        {18, 0, PV_GID_ROCE_V1 | PV_GID_ROCE_V2, 0, RDL_ERR_UNSUPPORTED}, /* both: neither */
        {20, 1, PV_GID_ROCE_V2, 0, RDL_ERR_UNSUPPORTED},
        {20, 0, PV_GID_ROCE_V2, EIO, RDL_ERR_BROKEN}, /* it cannot be activated */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        void *f = fake_new();
        struct fake *fake = f;

        fake->version = rows[i].version;
        fake->caps.mode = (uint8_t)rows[i].mode;
        fake->caps.gid_types = (uint8_t)rows[i].gid_types;
        fake->err = rows[i].err;
        assert_int_equal(fake_boot(fake), rows[i].st);
        fake_tear_down(&f);
    }
}

/* A command that is waited for is answered by vector 0, and by nothing else. */
static void an_answer_comes_by_an_interrupt(void **state)
{
    struct fake *f = *state;
    struct rdl_response rsp;
    uint64_t pd = 0;

    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &pd), RDL_OK);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BUSY);
    fake_interrupt(f, 1);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BUSY);
    fake_interrupt(f, PV_VECTOR_RESPONSE);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_OK);
    assert_int_equal(((struct guest_pd *)verbs_get(&f->verbs, OBJ_PD, pd))->pdn, 3);
}

/* A second request is refused at once, although several create requests may be under way. */
static void a_refused_request_leaves_no_trace(void **state)
{
    struct fake *f = *state;
    struct rdl_response rsp;
    uint64_t pd = 0, other = 0;

    f->verbs.requests_max = 8;
    assert_int_equal(verbs_alloc_pd(&f->verbs, "a", &pd), RDL_OK);
    assert_int_equal(verbs_alloc_pd(&f->verbs, "b", &other), RDL_ERR_BUSY);
    assert_true(other == 0);
    assert_null(verbs_find(&f->verbs, "b"));
    fake_interrupt(f, PV_VECTOR_RESPONSE);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_OK);
    assert_int_equal(((struct guest_pd *)verbs_get(&f->verbs, OBJ_PD, pd))->pdn, 3);
}

/* The interrupt of an earlier command may come late; its response is still in the slot. */
static void a_stale_answer_is_none(void **state)
{
    struct fake *f = *state;
    struct rdl_response rsp;
    uint64_t pd;

    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &pd), RDL_OK);
    fake_interrupt(f, PV_VECTOR_RESPONSE);
    f->late = true;
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &pd), RDL_OK);
    fake_interrupt(f, PV_VECTOR_RESPONSE);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BUSY);
    f->ack_of = PV_CMD_CREATE_CQ; /* of another command */
    fake_answer(f);
    fake_interrupt(f, PV_VECTOR_RESPONSE);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BUSY);
    f->ack_of = UINT32_MAX;
    fake_done(f);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_OK);
}

/* ERR is the answer of a command that failed, and of one that is not waited for. */
static void err_is_an_answer(void **state)
{
    struct fake *f = *state;
    struct rdl_response rsp;
    const uint64_t used = f->dma.used;
    struct guest_pd *pd;
    uint64_t h;

    f->err = ENOMEM;
    assert_int_equal(verbs_create_cq(&f->verbs, 16, NULL, &h), RDL_OK);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_DEVICE);
    assert_int_equal(rsp.error, ENOMEM);
    assert_int_equal(f->dma.used, used); /* its ring is free again */
    f->err = 0;
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_OK);
    fake_done(f);
    pd = (struct guest_pd *)verbs_get(&f->verbs, OBJ_PD, h);
    f->err = EBUSY;
    assert_int_equal(verbs_dealloc_pd(pd), RDL_OK);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_DEVICE);
    f->err = 0;
    assert_int_equal(verbs_dealloc_pd(pd), RDL_OK);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_OK); /* no interrupt */
}

/* A refused MODIFY_QP is good by ERR, and bad by its response. */
static void a_response_can_refuse(void **state)
{
    struct fake *f = *state;
    struct rdl_response rsp;
    uint64_t pd;

    f->answer_err = EINVAL;
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &pd), RDL_OK);
    fake_done(f);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_DEVICE);
    assert_int_equal(rsp.error, EINVAL);
    assert_string_equal(rsp.name, "EINVAL");
}

/* A raw command that cannot be sent changes nothing: the answer to the last one stays. */
static void a_refused_raw_command_leaves_the_last_answer(void **state)
{
    const struct rdl_control good = {.command = PV_CMD_QUERY_PORT};
    const struct rdl_control bad = {.command = PV_CMD_QUERY_PORT, .n_cuts = 1};
    struct fake *f = *state;
    const struct rdma_control_ops *control = pvrdma_driver.control;
    struct rdl_control_answer a;
    uint32_t id = 0, other = 77;

    assert_int_equal(control->send(&f->driver, &good, true, &id), RDL_OK);
    assert_int_equal(control->answer(&f->driver, id, &a), RDL_OK);
    assert_int_equal(control->send(&f->driver, &bad, true, &other), RDL_ERR_INVAL);
    assert_int_equal(other, 77);
    assert_int_equal(control->answer(&f->driver, id, &a), RDL_OK);
    assert_int_equal(a.command, PV_CMD_QUERY_PORT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_probes_in_the_order_of_linux, not_booted,
                                        fake_tear_down),
        cmocka_unit_test(it_refuses_what_linux_refuses),
        cmocka_unit_test_setup_teardown(an_answer_comes_by_an_interrupt, fake_set_up,
                                        fake_tear_down),
        cmocka_unit_test_setup_teardown(a_refused_request_leaves_no_trace, fake_set_up,
                                        fake_tear_down),
        cmocka_unit_test_setup_teardown(a_stale_answer_is_none, fake_set_up, fake_tear_down),
        cmocka_unit_test_setup_teardown(err_is_an_answer, fake_set_up, fake_tear_down),
        cmocka_unit_test_setup_teardown(a_response_can_refuse, fake_set_up, fake_tear_down),
        cmocka_unit_test_setup_teardown(a_refused_raw_command_leaves_the_last_answer, fake_set_up,
                                        fake_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
