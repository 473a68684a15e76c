/* SPDX-License-Identifier: MIT */
/* Asynchronous events from a device to a program. */
#include "strangers.h"

#include "emu/base/cursor.h"
#include "emu/device/rdma.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/object.h"
#include "emu/trace/event.h"

static size_t take(const struct strangers *s, struct rdl_async_event *e)
{
    size_t n = 7;

    assert_int_equal(rdl_get_async_event(s->lab, s->host[0], e, &n), RDL_OK);
    return n;
}

/* A ring that runs away: the device stops, and only its status and an interrupt can say so. */
static void a_device_that_breaks_tells_its_program(void **state)
{
    struct strangers *s = *state;
    struct host *h = lab_of(s, 0);
    const struct vring *ring = &host_rdma(h)->pci.queues[QUEUE_CTRL].ring;
    struct rdl_async_event e;
    uint8_t far[2];
    rdl_pd pd;

    while (take(s, &e) > 0)
        ; /* of the port */
    st_le16(far, 0x7fff);
    assert_true(ram_write(&h->ram, vring_avail_idx_at(ring), far, sizeof(far)));
    virtio_write(&host_rdma(h)->pci, BAR_NOTIFY, 2, QUEUE_CTRL);
    go(s);
    assert_true(rdma_broken(host_rdma(h)));
    assert_int_equal(take(s, &e), 1);
    assert_int_equal(e.type, ASE_DEVICE_FATAL);
    assert_int_equal(e.object, OBJ_NONE);
    assert_int_equal(rdl_ack_async_event(s->lab, &e), RDL_OK); /* nothing waits for it */
    assert_int_equal(take(s, &e), 0);
    assert_int_equal(events_of(s, EV_async_event, 0), 3); /* with PORT_ACTIVE of both hosts */
    assert_int_equal(rdl_alloc_pd(s->lab, s->host[0], NULL, &pd), RDL_ERR_BROKEN);
}

/* Without the event queue nothing is named, and nothing is lost in silence. */
static void a_plain_device_lets_its_driver_count(void **state)
{
    struct strangers *s = *state;
    const struct rdl_host_config c = {.name = "plain", .features_off = 1u << VF_EVENTQ};
    struct rdl_value v;
    rdl_host plain;
    size_t at;

    assert_int_equal(rdl_host_add(s->lab, &c, &plain), RDL_OK);
    strangers_link(s, "plain");
    go(s);
    assert_int_equal(rdl_inspect(s->lab, "plain.async.unnamed", &v, &at), RDL_OK);
    assert_int_equal(v.number, 1);
    assert_int_equal(rdl_inspect(s->lab, "plain.async.queue", &v, &at), RDL_ERR_NOT_FOUND);
}

/* Events are a part of what a checkpoint keeps. */
static void going_back_brings_events_back(void **state)
{
    struct strangers *s = *state;
    struct rdl_checkpoint *then;
    struct rdl_async_event e;

    assert_int_equal(rdl_checkpoint_save(s->lab, &then), RDL_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(take(s, &e), 1);
        assert_int_equal(e.type, ASE_PORT_ACTIVE);
        assert_int_equal(take(s, &e), 0);
        rdl_checkpoint_restore(s->lab, then);
    }
    rdl_checkpoint_free(then);
}

#define T(f) cmocka_unit_test_setup_teardown(f, without_arp, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_device_that_breaks_tells_its_program),
        T(a_plain_device_lets_its_driver_count),
        T(going_back_brings_events_back),
    };

    return cmocka_run_group_tests_name("async", tests, NULL, NULL);
}
