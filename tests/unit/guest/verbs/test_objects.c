/* SPDX-License-Identifier: MIT */
/* Objects, their names and lifetimes, and what is refused before a driver is called. */
#include "emu/facts/enum/access.h"
#include "guest/verbs/fake_driver.h"

static void nothing_is_asked_of_a_device_that_is_not_up(void **state)
{
    struct fake *f = fake_new();
    uint64_t h = 0;
    struct rdl_response rsp;

    (void)state;
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_ERR_STATE);
    verbs_boot(&f->verbs);
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_ERR_BUSY);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BUSY);
    fake_answer(f);
    assert_true(f->verbs.up);
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_OK);
    verbs_broken(&f->verbs);
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_ERR_BROKEN);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BROKEN);
    fake_tear_down((void **)&f);
}

/* What a driver could not send leaves no object, no name, no user and no request behind. */
static void a_request_that_was_not_sent_leaves_nothing(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    const struct rdl_qp_config config = {.type = QPT_RC};
    const struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq};
    uint64_t addr = 0;
    uint64_t h = 0;

    size_t live_bytes;

    assert_int_equal(verbs_mem_alloc(&f->verbs, 100, &addr), RDL_OK);
    assert_int_equal(verbs_reg_mr(pd, addr, 100, 0, NULL, &h), RDL_OK); /* tables are there */
    assert_int_equal(verbs_dereg_mr((struct guest_mr *)verbs_get(&f->verbs, OBJ_MR, h)), RDL_OK);
    assert_int_equal(verbs_destroy_qp(new_qp(pd, cq, 0)), RDL_OK);
    h = 0;
    live_bytes = arena_live_bytes(f->arena);
    f->cannot = RDL_ERR_NOMEM;
    assert_int_equal(verbs_alloc_pd(&f->verbs, "a", &h), RDL_ERR_NOMEM);
    assert_int_equal(verbs_create_cq(&f->verbs, 4, "a", &h), RDL_ERR_NOMEM);
    assert_int_equal(verbs_reg_mr(pd, addr, 100, 0, "a", &h), RDL_ERR_NOMEM);
    assert_int_equal(verbs_create_qp(&f->verbs, &config, &parts, "a", &h), RDL_ERR_NOMEM);
    assert_int_equal(verbs_req_notify_cq(cq, false), RDL_ERR_NOMEM);
    assert_int_equal(verbs_destroy_cq(cq), RDL_ERR_NOMEM);
    assert_int_equal(h, 0);
    assert_int_equal(arena_live_bytes(f->arena), live_bytes);
    assert_null(verbs_find(&f->verbs, "a"));
    assert_int_equal(f->verbs.request.n, 0);
    assert_false(cq->armed);
    assert_int_equal(cq->o.life, GUEST_LIVE);
    assert_int_equal(pd->o.n_users + cq->o.n_users, 0);
    assert_int_equal(f->verbs.objects[OBJ_PD].used + f->verbs.objects[OBJ_CQ].used +
                         f->verbs.objects[OBJ_QP].used,
                     2);
    f->cannot = RDL_OK;
    assert_int_equal(verbs_destroy_cq(cq), RDL_OK);
}

/* The table is filled by hand, all entries one object: to name so many would take long. */
static void a_full_table_takes_nothing_and_keeps_nothing(void **state)
{
    struct fake *f = *state;
    struct slots *table = &f->verbs.objects[OBJ_PD];
    struct guest_pd *pd = new_pd(&f->verbs);
    uint64_t last = 0, h = 0;
    size_t live_bytes;

    while (!slots_are_full(table))
        last = slots_add(table, pd);
    live_bytes = arena_live_bytes(f->arena);
    assert_int_equal(verbs_alloc_pd(&f->verbs, "more", &h), RDL_ERR_LIMIT);
    assert_int_equal(h, 0);
    assert_int_equal(arena_live_bytes(f->arena), live_bytes);
    assert_null(verbs_find(&f->verbs, "more"));
    slots_remove(table, last);
    assert_int_equal(verbs_alloc_pd(&f->verbs, "more", &h), RDL_OK);
    assert_int_equal(verbs_alloc_pd(&f->verbs, "most", &h), RDL_ERR_LIMIT);
}

static void handles_say_whose_they_are_and_go_stale(void **state)
{
    struct fake *f = *state;
    const uint64_t other_host = (uint64_t)1 << 48;
    uint64_t handles[100], again = 0; /* more than a table begins with */

    for (size_t i = 0; i < ARRAY_LEN(handles); i++) {
        assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &handles[i]), RDL_OK);
        assert_int_equal(verbs_host_of(handles[i]), FAKE_HOST + 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(handles); i++) {
        struct guest_object *o = verbs_get(&f->verbs, OBJ_PD, handles[i]);

        assert_non_null(o);
        assert_int_equal(o->handle, handles[i]);
        assert_null(verbs_get(&f->verbs, OBJ_CQ, handles[i]));
        assert_null(verbs_get(&f->verbs, OBJ_PD, handles[i] + other_host));
        assert_null(verbs_get(&f->verbs, OBJ_PD, handles[i] - other_host));
        assert_int_equal(verbs_dealloc_pd((struct guest_pd *)o), RDL_OK);
        assert_null(verbs_get(&f->verbs, OBJ_PD, handles[i]));
    }
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &again), RDL_OK);
    assert_int_equal(slots_index(again), slots_index(handles[0]));
    assert_null(verbs_get(&f->verbs, OBJ_PD, handles[0]));
    assert_non_null(verbs_get(&f->verbs, OBJ_PD, again));
    assert_null(verbs_get(&f->verbs, OBJ_PD, 0));
}

static void the_port_is_what_the_driver_said_last(void **state)
{
    struct fake *f = *state;

    assert_int_equal(verbs_query_port(&f->verbs), RDL_OK);
    assert_int_equal(f->verbs.port.active_mtu, MTU_2048);
    assert_int_equal(f->verbs.request.n, 0);
}

static void only_entries_of_the_p_key_table_are_asked_for(void **state)
{
    struct fake *f = *state;

    f->verbs.limits.max_pkeys = 2;
    assert_int_equal(verbs_query_pkey(&f->verbs, 1), RDL_OK);
    assert_int_equal(f->verbs.pkey, 0x101);
    assert_int_equal(verbs_query_pkey(&f->verbs, 2), RDL_ERR_INVAL);
    f->late = true;
    assert_int_equal(verbs_query_pkey(&f->verbs, 0), RDL_OK);
    assert_int_equal(verbs_query_pkey(&f->verbs, 0), RDL_ERR_BUSY);
    f->refuse = EINVAL;
    fake_answer(f);
    assert_int_equal(f->verbs.pkey, 0x101);
}

static void only_entries_that_are_addresses_of_the_host_are_set(void **state)
{
    struct fake *f = *state;

    assert_int_equal(verbs_set_gid(&f->verbs, 1, false), RDL_OK);
    assert_int_equal(f->number, 0x201);
    assert_int_equal(verbs_set_gid(&f->verbs, 1, true), RDL_OK);
    assert_int_equal(f->number, 0x101);
    assert_int_equal(verbs_set_gid(&f->verbs, GUEST_GIDS, true), RDL_ERR_INVAL);
    f->refuse = EBUSY;
    assert_int_equal(verbs_set_gid(&f->verbs, 0, false), RDL_OK);
    assert_int_equal(f->verbs.request.n, 0);
}

static void names_are_unique_and_sound(void **state)
{
    static const char *const bad[] = {"a.b",      "a b", "#1", "x[0]", "a-name-of-24-characters-",
                                      "h\xc3\xa9"};
    struct fake *f = *state;
    struct verbs *v = &f->verbs;
    uint64_t h = 0;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(verbs_alloc_pd(v, bad[i], &h), RDL_ERR_INVAL);
    assert_int_equal(verbs_alloc_pd(v, "a-name_of-23-characters", &h), RDL_OK);
    assert_int_equal(verbs_alloc_pd(v, "cq1", &h), RDL_OK);
    assert_int_equal(verbs_create_cq(v, 4, "cq1", &h), RDL_ERR_EXISTS);
    assert_int_equal(verbs_create_cq(v, 4, "counters", &h), RDL_ERR_RESERVED);
    assert_string_equal(new_cq(&f->verbs, 4)->o.name, "cq1-1"); /* the default is taken */
    assert_ptr_equal(verbs_find(v, "cq1-1"), slots_at(&f->verbs.objects[OBJ_CQ], 0));
    assert_null(verbs_find(v, "cq"));
}

static void a_refused_object_goes_stale_and_its_name_is_free(void **state)
{
    struct fake *f = *state;
    uint64_t a = 0, b = 0;
    struct rdl_response rsp;
    size_t live_bytes;

    f->late = true;
    assert_int_equal(verbs_alloc_pd(&f->verbs, "pd", &a), RDL_OK);
    assert_int_equal(verbs_get(&f->verbs, OBJ_PD, a)->life, GUEST_PENDING);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BUSY);
    live_bytes = arena_live_bytes(f->arena);
    f->refuse = ENOMEM;
    fake_answer(f);
    assert_true(arena_live_bytes(f->arena) < live_bytes);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_DEVICE);
    assert_int_equal(rsp.error, ENOMEM);
    assert_int_equal(rsp.code, FAKE_CODE);
    assert_string_equal(rsp.name, "ODD"); /* the words are the driver's */
    assert_string_equal(rsp.text, "the only code of this device");
    assert_null(verbs_get(&f->verbs, OBJ_PD, a));
    assert_int_equal(f->events[EV_named], 0);
    f->late = false;
    assert_int_equal(verbs_alloc_pd(&f->verbs, "pd", &b), RDL_OK);
    assert_int_not_equal(a, b);
}

/* Shows B94, I16. */
static void an_object_in_use_is_not_destroyed(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    struct guest_qp *qp = new_qp(pd, cq, 0);
    const size_t live_bytes = arena_live_bytes(f->arena);
    struct rdl_response rsp;

    assert_int_equal(verbs_dealloc_pd(pd), RDL_ERR_BUSY);
    assert_int_equal(verbs_destroy_cq(cq), RDL_ERR_BUSY);
    f->refuse = EBUSY;
    assert_int_equal(verbs_destroy_qp(qp), RDL_OK);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_DEVICE);
    assert_int_equal(qp->o.life, GUEST_LIVE); /* the device kept it */
    assert_int_equal(verbs_destroy_qp(qp), RDL_OK);
    assert_int_equal(verbs_destroy_cq(cq), RDL_OK);
    assert_int_equal(verbs_dealloc_pd(pd), RDL_OK);
    assert_int_equal(f->events[EV_gone], 3);
    assert_true(arena_live_bytes(f->arena) <= live_bytes - sizeof(*pd) - sizeof(*cq) - sizeof(*qp));
    assert_int_equal(f->verbs.objects[OBJ_PD].used + f->verbs.objects[OBJ_CQ].used +
                         f->verbs.objects[OBJ_QP].used,
                     0);
}

/* Shows B101. */
static void a_region_that_cannot_be_is_refused(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    const uint32_t requests = f->n_requests;
    uint64_t addr = 0;
    uint64_t h = 0;

    assert_int_equal(verbs_mem_alloc(&f->verbs, RAM_PAGE_BYTES, &addr), RDL_OK);
    assert_int_equal(verbs_reg_mr(pd, addr, 0, 0, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(verbs_reg_mr(pd, addr, 1, 1u << 19, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(verbs_reg_mr(pd, addr, 1, 1u << 30, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(verbs_reg_mr(pd, addr, 1, ACC_REMOTE_WRITE | ACC_RELAXED_ORDERING, NULL, &h),
                     RDL_ERR_INVAL);
    assert_int_equal(verbs_reg_mr(pd, addr, 1, ACC_REMOTE_WRITE, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(verbs_reg_mr(pd, addr, 1, ACC_REMOTE_ATOMIC, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(verbs_reg_mr(pd, addr, RAM_PAGE_BYTES + 1, 0, NULL, &h), RDL_ERR_FAULT);
    assert_int_equal(verbs_reg_mr(pd, 0, 1, 0, NULL, &h), RDL_ERR_FAULT);
    assert_int_equal(verbs_reg_mr(pd, UINT64_MAX, 2, 0, NULL, &h), RDL_ERR_FAULT);
    assert_int_equal(verbs_reg_mr(pd, addr, FAKE_RAM_BYTES + 1, 0, NULL, &h), RDL_ERR_FAULT);
    assert_int_equal(verbs_reg_mr(pd, addr, UINT64_MAX, 0, NULL, &h), RDL_ERR_LIMIT);
    assert_int_equal(f->n_requests, requests);
    assert_int_equal(f->verbs.objects[OBJ_MR].used, 0);
    /* Hints are the device's to ignore. */
    assert_int_equal(verbs_reg_mr(pd, addr, 1, ACC_HUGETLB | ACC_RELAXED_ORDERING, NULL, &h),
                     RDL_OK);
    assert_int_equal(f->n_requests, requests + 1);
}

static void limits_of_the_device_are_kept(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    const struct rdl_qp_config good = {.type = QPT_RC};
    struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq};
    struct rdl_qp_config c;
    uint64_t h = 0;

    assert_int_equal(verbs_create_cq(&f->verbs, 0, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(verbs_create_cq(&f->verbs, FAKE_WR + 1, NULL, &h), RDL_ERR_LIMIT);
    c = good, c.max_send_wr = FAKE_WR + 1;
    assert_int_equal(verbs_create_qp(&f->verbs, &c, &parts, NULL, &h), RDL_ERR_LIMIT);
    c = good, c.max_recv_wr = FAKE_WR + 1;
    assert_int_equal(verbs_create_qp(&f->verbs, &c, &parts, NULL, &h), RDL_ERR_LIMIT);
    c = good, c.max_recv_sge = RDL_SGE_MAX + 1;
    assert_int_equal(verbs_create_qp(&f->verbs, &c, &parts, NULL, &h), RDL_ERR_LIMIT);
    c = good, c.max_inline_data = FAKE_INLINE + 1;
    assert_int_equal(verbs_create_qp(&f->verbs, &c, &parts, NULL, &h), RDL_ERR_INVAL);
    c = good, c.type = 17;
    assert_int_equal(verbs_create_qp(&f->verbs, &c, &parts, NULL, &h), RDL_ERR_INVAL);
    c = good, c.type = QPT_SMI;
    assert_int_equal(verbs_create_qp(&f->verbs, &c, &parts, NULL, &h), RDL_ERR_UNSUPPORTED);
    parts.recv_cq = NULL;
    assert_int_equal(verbs_create_qp(&f->verbs, &good, &parts, NULL, &h), RDL_ERR_STALE);
    parts.recv_cq = cq;
    assert_int_equal(pd->o.n_users + cq->o.n_users, 0);
    assert_int_equal(verbs_create_qp(&f->verbs, &good, &parts, NULL, &h), RDL_OK);
    assert_int_equal(pd->o.n_users, 1);
    assert_int_equal(cq->o.n_users, 2);
}

/* The connection manager uses QPN 1 for all programs, so none of them may create it. */
static void the_kernel_creates_the_gsi_and_nothing_else(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    const struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq};
    static const uint32_t others[] = {QPT_SMI, QPT_RC, QPT_UC, QPT_UD};
    struct rdl_qp_config c = {.type = QPT_GSI};
    const struct guest_qp *qp;
    uint64_t h = 0;

    assert_int_equal(verbs_create_qp(&f->verbs, &c, &parts, NULL, &h), RDL_ERR_UNSUPPORTED);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        c.type = others[i];
        assert_int_equal(verbs_create_gsi(&f->verbs, &c, &parts, NULL, &h), RDL_ERR_UNSUPPORTED);
    }
    assert_int_equal(h, 0);
    c.type = QPT_GSI;
    assert_int_equal(verbs_create_gsi(&f->verbs, &c, &parts, "gsi", &h), RDL_OK);
    qp = (struct guest_qp *)verbs_get(&f->verbs, OBJ_QP, h);
    assert_int_equal(qp->type, QPT_GSI);
}

/* 0 selects the standard value, and RDL_QP_NONE 0: one member after the other. */
static void a_queue_pair_may_have_no_room(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    const struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq};

    for (uint32_t none = 0; none <= 4; none++) {
        struct rdl_qp_config c = {.type = QPT_RC};
        uint32_t *const members[] = {&c.max_send_wr, &c.max_recv_wr, &c.max_send_sge,
                                     &c.max_recv_sge};
        struct guest_qp *qp;
        uint64_t h = 0;

        if (none < 4)
            *members[none] = RDL_QP_NONE;
        assert_int_equal(verbs_create_qp(&f->verbs, &c, &parts, NULL, &h), RDL_OK);
        qp = (struct guest_qp *)verbs_get(&f->verbs, OBJ_QP, h);
        assert_int_equal(qp->sq.max_wr, none == 0 ? 0 : 16);
        assert_int_equal(qp->rq.max_wr, none == 1 ? 0 : 16);
        assert_int_equal(qp->sq.max_sge, none == 2 ? 0 : 4);
        assert_int_equal(qp->rq.max_sge, none == 3 ? 0 : 4);
        assert_int_equal(verbs_destroy_qp(qp), RDL_OK);
    }
}

static void numbers_are_free_within_the_limits(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    struct guest_qp *qp = new_qp(pd, cq, 0);
    const uint32_t taken[] = {[OBJ_CQ] = cq->cqn, [OBJ_QP] = qp->qpn};
    static const enum object_kind kinds[] = {OBJ_CQ, OBJ_QP};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        for (uint32_t n = 1; n <= FAKE_MAX; n++)
            assert_int_equal(verbs_is_free(&f->verbs, kinds[i], n), n != taken[kinds[i]]);
        assert_false(verbs_is_free(&f->verbs, kinds[i], 0));
        assert_false(verbs_is_free(&f->verbs, kinds[i], FAKE_MAX + 1));
        assert_false(verbs_is_free(&f->verbs, kinds[i], UINT32_MAX));
    }
}

static void guest_memory_is_read_and_written(void **state)
{
    struct fake *f = *state;
    struct verbs *v = &f->verbs;
    uint64_t addr = 0;
    char out[6] = "";

    assert_int_equal(verbs_mem_alloc(v, 100, &addr), RDL_OK);
    assert_int_equal(verbs_mem_write(v, addr + 10, "hello", 5), RDL_OK);
    assert_int_equal(f->events[EV_mem_write], 1);
    assert_int_equal(verbs_mem_read(v, addr + 10, out, 5), RDL_OK);
    assert_string_equal(out, "hello");
    assert_int_equal(verbs_mem_write(v, addr + RAM_PAGE_BYTES - 2, "hello", 5), RDL_ERR_FAULT);
    assert_int_equal(verbs_mem_read(v, 16, out, 5), RDL_ERR_FAULT);
    assert_int_equal(verbs_mem_alloc(v, FAKE_RAM_BYTES, &addr), RDL_ERR_NOMEM);
    assert_int_equal(verbs_mem_alloc(v, UINT64_MAX, &addr), RDL_ERR_NOMEM);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_asked_of_a_device_that_is_not_up),
        T(a_request_that_was_not_sent_leaves_nothing),
        T(a_full_table_takes_nothing_and_keeps_nothing),
        T(handles_say_whose_they_are_and_go_stale),
        T(the_port_is_what_the_driver_said_last),
        T(only_entries_of_the_p_key_table_are_asked_for),
        T(only_entries_that_are_addresses_of_the_host_are_set),
        T(names_are_unique_and_sound),
        T(a_refused_object_goes_stale_and_its_name_is_free),
        T(an_object_in_use_is_not_destroyed),
        T(a_region_that_cannot_be_is_refused),
        T(limits_of_the_device_are_kept),
        T(the_kernel_creates_the_gsi_and_nothing_else),
        T(a_queue_pair_may_have_no_room),
        T(numbers_are_free_within_the_limits),
        T(guest_memory_is_read_and_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
