/* SPDX-License-Identifier: MIT */
/* The event queue from its driver's side, with a device that writes arbitrary bytes. */
#include "emu/facts/enum/async_event.h"
#include "guest/virtio_rdma/fake_device.h"

static struct vq *event_queue(struct fake *f)
{
    return &f->dev.queues[queue_of_events(FAKE_MAX, FAKE_MAX)];
}

/* Writes @n of the bytes of an event into the next buffer. */
static void tell(struct fake *f, uint32_t type, uint32_t number, uint32_t n)
{
    const struct rfc_async_event event = {type, number};
    struct raw_async_event raw;
    struct vq_chain c;

    rfc_async_event_put(&raw, &event);
    assert_int_equal(vq_pop(event_queue(f), &f->ram, &c), VQ_GOT);
    vq_chain_write(&f->ram, &c, 0, &raw, n);
    assert_true(vq_push(event_queue(f), &f->ram, c.head, n));
    if (vq_wants_interrupt(event_queue(f), &f->ram))
        virtio_raise(&f->dev, queue_of_events(FAKE_MAX, FAKE_MAX));
}

static void run(struct fake *f)
{
    while (sim_next_ns(&f->sim) != UINT64_MAX)
        sim_dispatch(&f->sim);
}

static uint32_t pending(const struct fake *f)
{
    return f->verbs.async.len;
}

static void events_interrupt_once_a_program_is_there(void **state)
{
    struct fake *f = *state;
    struct rdl_async_event e;
    size_t n;

    tell(f, ASE_PORT_ACTIVE, 1, sizeof(struct raw_async_event));
    assert_true(sim_next_ns(&f->sim) == UINT64_MAX); /* it waits in the ring */
    assert_int_equal(verbs_get_async_event(&f->verbs, &e, &n), RDL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(e.type, ASE_PORT_ACTIVE);
    tell(f, ASE_GID_CHANGE, 1, sizeof(struct raw_async_event));
    assert_int_equal(pending(f), 0);
    run(f);
    assert_int_equal(pending(f), 1);
}

static void buffers_go_round(void **state)
{
    struct fake *f = *state;

    (void)new_pd(&f->verbs);
    for (uint32_t i = 0; i < 100 * GUEST_EVENT_QUEUE_SIZE; i++) {
        struct rdl_async_event e;
        size_t n;

        tell(f, ASE_GID_CHANGE, i, sizeof(struct raw_async_event));
        run(f);
        assert_int_equal(verbs_get_async_event(&f->verbs, &e, &n), RDL_OK);
        assert_int_equal(n, 1);
        assert_int_equal(e.number, i);
    }
}

static void what_the_device_forgot_is_known(void **state)
{
    struct fake *f = *state;

    (void)new_pd(&f->verbs);
    tell(f, ASE_GID_CHANGE | ASYNC_EVENTS_MISSED, 1, sizeof(struct raw_async_event));
    run(f);
    assert_int_equal(pending(f), 1);
    assert_int_equal(f->verbs.async.missed, 1);
}

static void what_is_no_event_breaks_the_device(void **state)
{
    struct fake *f = *state;

    (void)new_pd(&f->verbs);
    tell(f, ASE_GID_CHANGE, 1, 3);
    run(f);
    assert_true(f->verbs.broken);
}

/* An event about a queue that is destroyed at the same time is not the next one's. */
static void an_event_in_the_ring_is_about_what_was_there(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    const uint32_t cqn = cq->cqn;

    f->late = true;
    assert_int_equal(verbs_destroy_cq(cq), RDL_OK);
    tell(f, ASE_CQ_ERR, cqn, sizeof(struct raw_async_event));
    assert_true(fake_answer(f));
    run(f);
    assert_int_equal(pending(f), 0);
    assert_int_equal(f->verbs.async.heard, 1);
    assert_int_equal(f->verbs.async.strays, 0);
}

/* A device without the queue says only how many there were. */
static void a_plain_device_only_counts(void **state)
{
    struct fake *f = fake_new(FAKE_MAX, VIRTIO_FEATURE(VF_EVENTQ));
    const size_t at = offsetof(struct raw_config, reserved);

    (void)state;
    assert_int_equal(fake_boot(f), RDL_OK);
    assert_int_equal(f->rdma.n_queues, 1 + 3 * FAKE_MAX);
    st_le64(f->dev.device_config + at, 3);
    virtio_config_changed(&f->dev);
    run(f);
    assert_int_equal(f->verbs.async.unnamed, 3);
    st_le64(f->dev.device_config + at, 5);
    virtio_config_changed(&f->dev);
    run(f);
    assert_int_equal(f->verbs.async.unnamed, 5);
    assert_int_equal(pending(f), 0);
    fake_free(f);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(events_interrupt_once_a_program_is_there),
        T(buffers_go_round),
        T(what_the_device_forgot_is_known),
        T(what_is_no_event_breaks_the_device),
        T(an_event_in_the_ring_is_about_what_was_there),
        cmocka_unit_test(a_plain_device_only_counts),
    };

    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
