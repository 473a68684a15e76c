/* SPDX-License-Identifier: MIT */
/* A resized completion queue keeps its completions. */
#include "guest/virtio_rdma/fake_device.h"

static void complete(struct fake *f, const struct guest_cq *cq, uint64_t wr_id)
{
    const struct rfc_cqe cqe = {.wr_id = wr_id, .qp_num = 1};

    fake_complete(f, cq, &cqe, sizeof(struct raw_cqe));
}

static void expect_next(struct guest_cq *cq, uint64_t wr_id)
{
    struct rdl_wc wc;
    size_t n = 0;

    assert_int_equal(verbs_poll_cq(cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(wc.wr_id, wr_id);
}

static void expect_empty(struct guest_cq *cq)
{
    struct rdl_wc wc;
    size_t n = 7;

    assert_int_equal(verbs_poll_cq(cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(n, 0);
}

/* Buffers that the device has. */
static uint32_t buffers(struct fake *f, const struct guest_cq *cq)
{
    return virtio_rdma_vq(&f->rdma, cq->cqn)->n_outstanding;
}

static void what_is_there_comes_first_and_takes_room(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 4);

    for (uint64_t i = 0; i < 3; i++)
        complete(f, cq, i);
    expect_next(cq, 0);
    assert_int_equal(verbs_resize_cq(cq, 8), RDL_OK);
    assert_int_equal(cq->cqe, 8);
    assert_int_equal(f->dev.queues[cq->cqn].ring.size, 8);
    assert_int_equal(buffers(f, cq), 6);
    complete(f, cq, 3);
    for (uint64_t i = 1; i < 4; i++)
        expect_next(cq, i);
    expect_empty(cq);
    assert_int_equal(buffers(f, cq), 8);
}

static void two_resizes_keep_the_order(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    struct rdl_cq_info info;

    complete(f, cq, 0);
    complete(f, cq, 1);
    assert_int_equal(verbs_resize_cq(cq, 16), RDL_OK);
    complete(f, cq, 2);
    expect_next(cq, 0);
    assert_int_equal(verbs_resize_cq(cq, 2), RDL_OK);
    assert_int_equal(buffers(f, cq), 0);
    assert_int_equal(verbs_cq_info(cq, &info), RDL_OK);
    assert_int_equal(info.completions, 3);
    expect_next(cq, 1);
    expect_next(cq, 2);
    assert_int_equal(buffers(f, cq), 2);
    complete(f, cq, 3);
    expect_next(cq, 3);
}

/* The device goes on completing until the driver takes its queue. */
static void what_comes_meanwhile_is_kept_too(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 8);

    complete(f, cq, 0);
    f->late = true;
    assert_int_equal(verbs_resize_cq(cq, 2), RDL_OK);
    for (uint64_t i = 1; i < 6; i++)
        complete(f, cq, i);
    assert_true(fake_answer(f));
    while (sim_next_ns(&f->sim) != UINT64_MAX)
        sim_dispatch(&f->sim);
    assert_int_equal(f->verbs.request.n, 0);
    assert_int_equal(buffers(f, cq), 0); /* six are kept, and there is room for two */
    for (uint64_t i = 0; i < 6; i++)
        expect_next(cq, i);
    assert_int_equal(buffers(f, cq), 2);
}

static void what_cannot_be_is_refused(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    size_t live_bytes;

    complete(f, cq, 0);
    complete(f, cq, 1);
    assert_int_equal(verbs_resize_cq(cq, 4), RDL_OK);
    live_bytes = arena_live_bytes(f->arena);
    assert_int_equal(verbs_resize_cq(cq, 0), RDL_ERR_INVAL);
    assert_int_equal(verbs_resize_cq(cq, 1), RDL_ERR_INVAL);
    assert_int_equal(verbs_resize_cq(cq, FAKE_QUEUE + 1), RDL_ERR_LIMIT);
    f->refuse = RSP_INVALID_ARG;
    assert_int_equal(verbs_resize_cq(cq, 8), RDL_OK);
    assert_true(f->verbs.request.refused);
    assert_int_equal(cq->cqe, 4);
    assert_int_equal(arena_live_bytes(f->arena), live_bytes);
    expect_next(cq, 0);
    expect_next(cq, 1);
}

static void a_device_without_the_feature_is_not_asked(void **state)
{
    static const uint64_t off[] = {VIRTIO_FEATURE(VF_RESIZE), VIRTIO_FEATURE(VF_RING_RESET)};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(off); i++) {
        struct fake *f = fake_new(FAKE_MAX, off[i]);
        struct guest_cq *cq;

        assert_int_equal(fake_boot(f), RDL_OK);
        cq = new_cq(&f->verbs, 4);
        assert_int_equal(verbs_resize_cq(cq, 8), RDL_ERR_UNSUPPORTED);
        assert_int_equal(f->verbs.request.n, 0);
        fake_free(f);
    }
}

/* An armed queue stays armed, and completions that are kept wake nobody a second time. */
static void arming_survives(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 4);

    assert_int_equal(verbs_req_notify_cq(cq, false), RDL_OK);
    assert_int_equal(verbs_resize_cq(cq, 8), RDL_OK);
    complete(f, cq, 0);
    assert_true(vq_wants_interrupt(&f->dev.queues[cq->cqn], &f->ram));
    virtio_raise(&f->dev, cq->cqn);
    sim_dispatch(&f->sim);
    assert_int_equal(cq->events, 1);
    assert_false(cq->armed);
}

static void resize_and_destroy(struct fake *f)
{
    struct guest_cq *cq = new_cq(&f->verbs, 4);

    complete(f, cq, 0);
    assert_int_equal(verbs_resize_cq(cq, 300), RDL_OK); /* longer than the ring of boot */
    assert_int_equal(verbs_resize_cq(cq, 20), RDL_OK);
    assert_int_equal(verbs_destroy_cq(cq), RDL_OK); /* with what was kept */
    f->n_cq = 0;
}

static void nothing_stays_behind(void **state)
{
    struct fake *f = *state;
    size_t live_bytes;

    for (uint64_t gpa = 0; gpa < f->ram.bytes; gpa += RAM_PAGE_BYTES)
        assert_true(ram_write(&f->ram, gpa, "", 1)); /* all pages are there from now on */
    resize_and_destroy(f);                           /* and tables */
    live_bytes = arena_live_bytes(f->arena);
    resize_and_destroy(f);
    assert_int_equal(arena_live_bytes(f->arena), live_bytes);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(what_is_there_comes_first_and_takes_room),
        T(two_resizes_keep_the_order),
        T(what_comes_meanwhile_is_kept_too),
        T(what_cannot_be_is_refused),
        cmocka_unit_test(a_device_without_the_feature_is_not_asked),
        T(arming_survives),
        T(nothing_stays_behind),
    };

    return cmocka_run_group_tests_name("resize", tests, NULL, NULL);
}
