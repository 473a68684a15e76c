/* SPDX-License-Identifier: MIT */
/* The registers: results for a driver that follows the specification and for one that does not. */
#include "sim_rig.h"

#include "emu/base/prng.h"
#include "emu/facts/virtio/feature.h"
#include "emu/trace/event.h"
#include "virtio/function_up.h"

#define N_QUEUES     5u
#define QUEUE_SIZE   64u
#define N_VECTORS    4u
#define CONFIG_BYTES 10u
#define OFF_ALL      UINT64_MAX /* features_off */

struct fixture {
    struct sim_rig rig;
    struct virtio_dev dev;
    uint32_t n_notify, n_reset, n_queue_reset, n_enabled, n_negotiated, n_irq;
    uint32_t last_queue;
    struct fn_irq last_irq;
    uint64_t irq_at;
    bool last_is_message;
    uint32_t events[EV_COUNT];
    struct ev last;
};

static void on_notify(void *ctx, uint32_t queue)
{
    struct fixture *f = ctx;

    f->n_notify++;
    f->last_queue = queue;
}

static void on_reset(void *ctx)
{
    ((struct fixture *)ctx)->n_reset++;
}

static void on_queue_reset(void *ctx, uint32_t queue)
{
    struct fixture *f = ctx;

    f->n_queue_reset++;
    f->last_queue = queue;
}

static void on_enabled(void *ctx, uint32_t queue)
{
    struct fixture *f = ctx;

    f->n_enabled++;
    f->last_queue = queue;
}

static void on_negotiated(void *ctx)
{
    struct fixture *f = ctx;

    f->n_negotiated++;
}

static const struct virtio_ops ops = {.notify = on_notify,
                                      .reset = on_reset,
                                      .queue_reset = on_queue_reset,
                                      .queue_enabled = on_enabled,
                                      .negotiated = on_negotiated};

static void on_irq(void *ctx, struct sim_item item)
{
    struct fixture *f = ctx;
    struct fn_message message;

    f->n_irq++;
    f->last_irq = fn_irq_of(item.arg);
    f->last_is_message = fn_take_message(&f->dev.fn, f->last_irq, &message);
    f->irq_at = sim_now(&f->rig.sim);
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {[SIM_IRQ] = on_irq};

static void on_event(void *ctx, const struct ev *e)
{
    struct fixture *f = ctx;

    f->events[e->kind]++;
    f->last = *e;
}

static void start(struct fixture *f, uint64_t features_off)
{
    const struct virtio_config config = {
        .host = 3,
        .virtio_id = 1,
        .features_off = features_off,
        .num_queues = N_QUEUES,
        .queue_size = QUEUE_SIZE,
        .n_vectors = N_VECTORS,
        .config_bytes = CONFIG_BYTES,
    };

    assert_true(virtio_init(&f->dev, f->rig.arena, &f->rig.sim, &config, &ops, f));
    function_up(&f->dev.fn);
    for (uint8_t i = 0; i < CONFIG_BYTES; i++)
        f->dev.device_config[i] = (uint8_t)(0x10 + i);
}

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    sim_rig_init(&f->rig, handlers, on_event, f);
    start(f, 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    sim_rig_done(&f->rig);
    test_free(f);
    return 0;
}

static uint64_t rd(struct fixture *f, enum reg reg, uint32_t width)
{
    return virtio_read(&f->dev, (uint32_t)reg, width);
}

static void wr(struct fixture *f, enum reg reg, uint32_t width, uint64_t v)
{
    virtio_write(&f->dev, (uint32_t)reg, width, v);
}

/* Everything up to FEATURES_OK; @features are accepted beside VERSION_1. */
static void negotiate(struct fixture *f, uint64_t features)
{
    features |= VIRTIO_FEATURE(VF_VERSION_1);
    wr(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE);
    wr(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER);
    wr(f, REG_DRIVER_FEATURE_SELECT, 4, 0);
    wr(f, REG_DRIVER_FEATURE, 4, (uint32_t)features);
    wr(f, REG_DRIVER_FEATURE_SELECT, 4, 1);
    wr(f, REG_DRIVER_FEATURE, 4, features >> 32);
    wr(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK);
}

static void enable(struct fixture *f, uint16_t queue)
{
    wr(f, REG_QUEUE_SELECT, 2, queue);
    wr(f, REG_QUEUE_SIZE, 2, 8);
    wr(f, REG_QUEUE_MSIX_VECTOR, 2, queue % N_VECTORS);
    wr(f, REG_QUEUE_DESC, 4, 0x1000);
    wr(f, REG_QUEUE_DESC + 4, 4, 0x1);
    wr(f, REG_QUEUE_DRIVER, 8, 0x2000);
    wr(f, REG_QUEUE_DEVICE, 8, 0x3000);
    wr(f, REG_QUEUE_ENABLE, 2, 1);
}

static void driver_ok(struct fixture *f)
{
    wr(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK | VS_DRIVER_OK);
}

static void a_driver_in_order_gets_a_running_device(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(rd(f, REG_NUM_QUEUES, 2), N_QUEUES);
    wr(f, REG_DEVICE_FEATURE_SELECT, 4, 0);
    assert_int_equal(rd(f, REG_DEVICE_FEATURE, 4), 3u << VF_INDIRECT_DESC);
    wr(f, REG_DEVICE_FEATURE_SELECT, 4, 1);
    assert_int_equal(rd(f, REG_DEVICE_FEATURE, 4),
                     1u << (VF_VERSION_1 - 32) | 1u << (VF_RING_RESET - 32));
    wr(f, REG_DEVICE_FEATURE_SELECT, 4, 2);
    assert_int_equal(rd(f, REG_DEVICE_FEATURE, 4), 0);

    negotiate(f, VIRTIO_FEATURE(VF_EVENT_IDX));
    assert_int_equal(rd(f, REG_DEVICE_STATUS, 1), VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK);
    assert_int_equal(f->events[EV_features], 1);
    enable(f, 2);
    assert_int_equal(f->n_enabled, 1);
    assert_int_equal(f->n_negotiated, 1);
    assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), 1);
    assert_int_equal(rd(f, REG_QUEUE_NOTIFY_OFF, 2), 2);
    assert_int_equal(rd(f, REG_QUEUE_DESC, 8), 0x100001000u);
    assert_true(f->dev.queues[2].event_idx);
    assert_false(f->dev.queues[2].indirect);

    wr(f, REG_NOTIFY + 2 * NOTIFY_MULTIPLIER, 2, 2);
    assert_int_equal(f->n_notify, 0); /* not before DRIVER_OK */
    driver_ok(f);
    assert_true(virtio_running(&f->dev));
    wr(f, REG_NOTIFY + 2 * NOTIFY_MULTIPLIER, 2, 2);
    assert_int_equal(f->n_notify, 1);
    assert_int_equal(f->last_queue, 2);
    wr(f, REG_NOTIFY + 3 * NOTIFY_MULTIPLIER, 2, 3);
    wr(f, REG_NOTIFY + 2 * NOTIFY_MULTIPLIER + 1, 2, 2);
    wr(f, REG_NOTIFY + N_QUEUES * NOTIFY_MULTIPLIER, 2, 2);
    assert_int_equal(f->n_notify, 1); /* off, between two, none */
}

static void status_bits_out_of_order_are_ignored(void **state)
{
    static const struct {
        unsigned write, want;
    } rows[] = {
        {VS_DRIVER, 0},
        {VS_FEATURES_OK, 0},
        {VS_DRIVER_OK, 0},
        {VS_ACKNOWLEDGE | VS_DRIVER_OK, VS_ACKNOWLEDGE},
        {VS_ACKNOWLEDGE | VS_DRIVER, VS_ACKNOWLEDGE | VS_DRIVER},
        {VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK,
         VS_ACKNOWLEDGE | VS_DRIVER}, /* no VERSION_1 */
        {0x7f, VS_ACKNOWLEDGE | VS_DRIVER},
        {VS_FAILED, VS_FAILED},
        {VS_DEVICE_NEEDS_RESET, 0},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        wr(f, REG_DEVICE_STATUS, 1, 0);
        wr(f, REG_DEVICE_STATUS, 1, rows[i].write);
        assert_int_equal(rd(f, REG_DEVICE_STATUS, 1), rows[i].want);
    }
    assert_int_equal(f->n_reset, ARRAY_LEN(rows));
    assert_int_equal(f->n_negotiated, 0);

    wr(f, REG_DEVICE_STATUS, 1, 0);
    negotiate(f, 0);
    wr(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE); /* bits are never taken back */
    assert_int_equal(rd(f, REG_DEVICE_STATUS, 1), VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK);
}

static void features_that_were_not_offered_are_refused(void **state)
{
    struct fixture *f = *state;

    start(f, OFF_ALL);
    assert_int_equal(f->dev.offered, VIRTIO_FEATURE(VF_VERSION_1));
    negotiate(f, VIRTIO_FEATURE(VF_EVENT_IDX));
    assert_int_equal(rd(f, REG_DEVICE_STATUS, 1), VS_ACKNOWLEDGE | VS_DRIVER);
    wr(f, REG_DEVICE_STATUS, 1, 0);
    negotiate(f, 0);
    assert_int_equal(rd(f, REG_DEVICE_STATUS, 1) & VS_FEATURES_OK, VS_FEATURES_OK);
    wr(f, REG_DRIVER_FEATURE_SELECT, 4, 0);
    wr(f, REG_DRIVER_FEATURE, 4, UINT32_MAX); /* too late */
    assert_int_equal(f->dev.accepted, VIRTIO_FEATURE(VF_VERSION_1));
}

static void a_queue_is_enabled_only_when_it_is_set_up(void **state)
{
    struct fixture *f = *state;

    enable(f, 1);
    assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), 0); /* before FEATURES_OK */
    assert_int_equal(rd(f, REG_QUEUE_SIZE, 2), QUEUE_SIZE);
    negotiate(f, 0);
    wr(f, REG_QUEUE_ENABLE, 2, 1);
    assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), 0); /* no addresses */
    wr(f, REG_QUEUE_SIZE, 2, 12);
    wr(f, REG_QUEUE_SIZE, 2, 0);
    wr(f, REG_QUEUE_SIZE, 2, 2 * QUEUE_SIZE);
    assert_int_equal(rd(f, REG_QUEUE_SIZE, 2), QUEUE_SIZE);
    wr(f, REG_QUEUE_MSIX_VECTOR, 2, N_VECTORS);
    assert_int_equal(rd(f, REG_QUEUE_MSIX_VECTOR, 2), VIRTIO_NO_VECTOR);
    enable(f, 1);
    assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), 1);
    wr(f, REG_QUEUE_SIZE, 2, 16);
    wr(f, REG_QUEUE_DESC, 8, 0x9000);
    wr(f, REG_QUEUE_ENABLE, 2, 0);
    assert_int_equal(rd(f, REG_QUEUE_SIZE, 2), 8); /* in use: nothing changes */
    assert_int_equal(rd(f, REG_QUEUE_DESC, 8), 0x100001000u);
    assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), 1);

    wr(f, REG_QUEUE_SELECT, 2, 2);
    wr(f, REG_QUEUE_DESC, 8, 0x1008); /* misaligned */
    wr(f, REG_QUEUE_DRIVER, 8, 0x2000);
    wr(f, REG_QUEUE_DEVICE, 8, 0x3000);
    wr(f, REG_QUEUE_ENABLE, 2, 1);
    assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), 0);

    wr(f, REG_QUEUE_SELECT, 2, N_QUEUES); /* no such queue */
    assert_int_equal(rd(f, REG_QUEUE_SIZE, 2), 0);
    wr(f, REG_QUEUE_SIZE, 2, 8);
    wr(f, REG_QUEUE_MSIX_VECTOR, 2, 0);
    assert_int_equal(rd(f, REG_QUEUE_MSIX_VECTOR, 2), VIRTIO_NO_VECTOR); /* it cannot have one */
    wr(f, REG_QUEUE_ENABLE, 2, 1);
    driver_ok(f);
    enable(f, 3);
    assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), 0); /* after DRIVER_OK, without RING_RESET */
}

static void a_queue_is_reset_alone(void **state)
{
    struct fixture *f = *state;

    negotiate(f, VIRTIO_FEATURE(VF_RING_RESET));
    enable(f, 1);
    enable(f, 2);
    driver_ok(f);
    f->dev.queues[2].last_avail = 5;
    wr(f, REG_QUEUE_SELECT, 2, 2);
    wr(f, REG_QUEUE_RESET, 2, 0);
    assert_int_equal(f->n_queue_reset, 0);
    wr(f, REG_QUEUE_RESET, 2, 1);
    assert_int_equal(rd(f, REG_QUEUE_RESET, 2), 0);
    assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), 0);
    assert_int_equal(rd(f, REG_QUEUE_SIZE, 2), QUEUE_SIZE);
    assert_int_equal(f->n_queue_reset, 1);
    assert_int_equal(f->last_queue, 2);
    assert_int_equal(f->events[EV_queue_reset], 1);
    assert_true(f->dev.queues[1].enabled);
    wr(f, REG_QUEUE_RESET, 2, 1); /* is off already */
    assert_int_equal(f->n_queue_reset, 1);
    enable(f, 2);
    assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), 1);
    assert_int_equal(f->dev.queues[2].last_avail, 0);

    wr(f, REG_DEVICE_STATUS, 1, 0);
    negotiate(f, 0); /* not negotiated */
    enable(f, 2);
    driver_ok(f);
    wr(f, REG_QUEUE_RESET, 2, 1);
    assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), 1);
}

static void the_configuration_reads_at_any_width_and_offset(void **state)
{
    struct fixture *f = *state;

    for (uint32_t width = 1; width <= 8; width *= 2) {
        for (uint32_t at = 0; at < CONFIG_BYTES; at++) {
            uint64_t want = 0;

            for (uint32_t i = 0; i < width && at + i < CONFIG_BYTES; i++)
                want |= (uint64_t)(0x10 + at + i) << (8 * i);
            assert_int_equal(virtio_read(&f->dev, BAR_DEVICE + at, width), want);
        }
    }
    virtio_write(&f->dev, BAR_DEVICE, 4, 0); /* MUST NOT, and has no effect */
    assert_int_equal(virtio_read(&f->dev, BAR_DEVICE, 1), 0x10);
    assert_int_equal(virtio_read(&f->dev, BAR_DEVICE + CONFIG_BYTES, 4), 0);
    assert_int_equal(virtio_read(&f->dev, BAR_DEVICE, 3), 0);
}

/* It has 8 bits, so it must not count changes that nobody has seen. */
static void a_read_configuration_that_changed_has_another_generation(void **state)
{
    for (uint32_t changes = 1; changes <= 513; changes++) {
        struct fixture *f = *state;
        uint64_t before;

        virtio_read(&f->dev, BAR_DEVICE, 1);
        before = rd(f, REG_CONFIG_GENERATION, 1);
        for (uint32_t i = 0; i < changes; i++)
            virtio_config_changed(&f->dev);
        assert_int_not_equal(rd(f, REG_CONFIG_GENERATION, 1), before);
    }
}

/* A line that a driver has not asked for would be nobody's. */
static void without_a_driver_a_change_is_silent(void **state)
{
    struct fixture *f = *state;

    fn_config_write(&f->dev.fn, PCI_MSIX_CONTROL, 2, 0);
    negotiate(f, 0);
    virtio_config_changed(&f->dev);
    assert_int_equal(sim_next_ns(&f->rig.sim), UINT64_MAX);
    assert_int_equal(rd(f, REG_ISR, 1), 0);
    driver_ok(f);
    virtio_config_changed(&f->dev);
    sim_dispatch(&f->rig.sim);
    assert_int_equal(f->n_irq, 1);
    assert_int_equal(rd(f, REG_ISR, 1), VIRTIO_ISR_CONFIG);
    wr(f, REG_DEVICE_STATUS, 1, 0);
    virtio_config_changed(&f->dev);
    assert_int_equal(sim_next_ns(&f->rig.sim), UINT64_MAX);
}

static void an_access_may_cover_parts_of_registers(void **state)
{
    struct fixture *f = *state;

    negotiate(f, 0);
    /* SIZE and MSIX_VECTOR in one. */
    wr(f, REG_QUEUE_SIZE, 4, 0x00020010);
    assert_int_equal(rd(f, REG_QUEUE_SIZE, 2), 0x10);
    assert_int_equal(rd(f, REG_QUEUE_MSIX_VECTOR, 2), 2);
    assert_int_equal(rd(f, REG_QUEUE_SIZE, 4), 0x00020010);
    assert_int_equal(virtio_read(&f->dev, REG_QUEUE_SIZE + 1, 2), 0x0200);
    virtio_write(&f->dev, REG_QUEUE_DESC + 3, 2, 0xabcd);
    assert_int_equal(rd(f, REG_QUEUE_DESC, 8), (uint64_t)0xabcd << 24);
    assert_int_equal(virtio_read(&f->dev, REG_COMMON_BYTES - 1, 8), 0);
}

/* Every byte of the common configuration belongs to one register, and there are no more of them. */
static void a_register_ends_with_its_last_byte(void **state)
{
    static const struct {
        enum reg reg;
        uint32_t bytes;
    } rows[] = {
        {REG_DEVICE_FEATURE_SELECT, 4}, {REG_DEVICE_FEATURE, 4},
        {REG_DRIVER_FEATURE_SELECT, 4}, {REG_DRIVER_FEATURE, 4},
        {REG_CONFIG_MSIX_VECTOR, 2},    {REG_NUM_QUEUES, 2},
        {REG_DEVICE_STATUS, 1},         {REG_CONFIG_GENERATION, 1},
        {REG_QUEUE_SELECT, 2},          {REG_QUEUE_SIZE, 2},
        {REG_QUEUE_MSIX_VECTOR, 2},     {REG_QUEUE_ENABLE, 2},
        {REG_QUEUE_NOTIFY_OFF, 2},      {REG_QUEUE_DESC, 8},
        {REG_QUEUE_DRIVER, 8},          {REG_QUEUE_DEVICE, 8},
        {REG_QUEUE_NOTIFY_DATA, 2},     {REG_QUEUE_RESET, 2},
    };
    struct fixture *f = *state;
    uint32_t at = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(rows[i].reg, at);
        for (uint32_t k = 0; k < rows[i].bytes; k++, at++) {
            f->events[EV_reg_read] = f->events[EV_reg_write] = 0;
            virtio_read(&f->dev, at, 1);
            assert_int_equal(f->events[EV_reg_read], 1);
            assert_int_equal(f->last.u.reg_read.reg, rows[i].reg);
            virtio_write(&f->dev, at, 1, 0);
            assert_int_equal(f->events[EV_reg_write], 1);
            assert_int_equal(f->last.u.reg_write.reg, rows[i].reg);
        }
    }
    assert_int_equal(at, REG_COMMON_BYTES);
    f->events[EV_reg_read] = f->events[EV_reg_write] = 0;
    virtio_read(&f->dev, REG_COMMON_BYTES - 1, 8); /* only its first byte is a register's */
    assert_int_equal(f->events[EV_reg_read], 1);
    virtio_read(&f->dev, REG_COMMON_BYTES, 1);
    virtio_write(&f->dev, REG_COMMON_BYTES, 8, 0);
    virtio_read(&f->dev, BAR_DEVICE + CONFIG_BYTES, 1);
    virtio_write(&f->dev, BAR_DEVICE + CONFIG_BYTES, 1, 0);
    virtio_read(&f->dev, REG_QUEUE_DESC, 16); /* no such width */
    virtio_write(&f->dev, REG_QUEUE_DESC, 16, 0);
    assert_int_equal(f->events[EV_reg_read], 1);
    assert_int_equal(f->events[EV_reg_write], 0);
}

static void queues_and_vectors_are_numbered_up_to_their_last(void **state)
{
    struct fixture *f = *state;

    negotiate(f, 0);
    wr(f, REG_CONFIG_MSIX_VECTOR, 2, N_VECTORS - 1);
    assert_int_equal(rd(f, REG_CONFIG_MSIX_VECTOR, 2), N_VECTORS - 1);
    wr(f, REG_CONFIG_MSIX_VECTOR, 2, N_VECTORS);
    assert_int_equal(rd(f, REG_CONFIG_MSIX_VECTOR, 2), VIRTIO_NO_VECTOR);
    for (uint32_t queue = N_QUEUES - 1; queue <= N_QUEUES; queue++) {
        const bool there = queue < N_QUEUES;

        wr(f, REG_QUEUE_SELECT, 2, queue);
        assert_int_equal(rd(f, REG_QUEUE_SELECT, 2), queue);
        wr(f, REG_QUEUE_SIZE, 2, 8);
        wr(f, REG_QUEUE_MSIX_VECTOR, 2, N_VECTORS - 1);
        wr(f, REG_QUEUE_DESC, 8, 0x1000);
        assert_int_equal(rd(f, REG_QUEUE_SIZE, 2), there ? 8 : 0);
        assert_int_equal(rd(f, REG_QUEUE_MSIX_VECTOR, 2), there ? N_VECTORS - 1 : VIRTIO_NO_VECTOR);
        assert_int_equal(rd(f, REG_QUEUE_DESC, 8), there ? 0x1000 : 0);
        f->events[EV_reg_write] = 0;
        wr(f, REG_NOTIFY + queue * NOTIFY_MULTIPLIER, 2, queue);
        assert_int_equal(f->events[EV_reg_write], there);
    }
    wr(f, REG_QUEUE_SELECT, 2, N_QUEUES - 1);
    wr(f, REG_QUEUE_SIZE, 2, QUEUE_SIZE); /* up to the most, again */
    assert_int_equal(rd(f, REG_QUEUE_SIZE, 2), QUEUE_SIZE);
}

/* There are two halves of feature bits; a third reads as nothing and takes nothing. */
static void feature_bits_have_two_halves(void **state)
{
    struct fixture *f = *state;

    wr(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE);
    wr(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER);
    for (uint32_t half = 0; half < 4; half++) {
        wr(f, REG_DRIVER_FEATURE_SELECT, 4, half);
        wr(f, REG_DRIVER_FEATURE, 4, 0x100 + half);
        assert_int_equal(rd(f, REG_DRIVER_FEATURE, 4), half < 2 ? 0x100 + half : 0);
    }
    assert_int_equal(f->dev.accepted, (uint64_t)0x101 << 32 | 0x100);
}

/* One of the three addresses is missing or misaligned, at a time. */
static void every_address_of_a_queue_must_be_sound(void **state)
{
    static const struct {
        uint64_t desc, avail, used;
        bool good;
    } rows[] = {
        {0x1010, 0x2002, 0x3004, true},  {0, 0x2000, 0x3000, false},
        {0x1000, 0, 0x3000, false},      {0x1000, 0x2000, 0, false},
        {0x1008, 0x2000, 0x3000, false}, {0x1000, 0x2001, 0x3000, false},
        {0x1000, 0x2000, 0x3002, false},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        wr(f, REG_DEVICE_STATUS, 1, 0);
        negotiate(f, 0);
        wr(f, REG_QUEUE_DESC, 8, rows[i].desc);
        wr(f, REG_QUEUE_DRIVER, 8, rows[i].avail);
        wr(f, REG_QUEUE_DEVICE, 8, rows[i].used);
        wr(f, REG_QUEUE_ENABLE, 2, 1);
        assert_int_equal(rd(f, REG_QUEUE_ENABLE, 2), rows[i].good);
    }
}

static void every_access_of_a_register_is_an_event(void **state)
{
    struct fixture *f = *state;

    negotiate(f, 0);
    wr(f, REG_QUEUE_SELECT, 2, 4);
    f->events[EV_reg_write] = f->events[EV_reg_read] = 0;
    wr(f, REG_QUEUE_SIZE, 2, 16);
    assert_int_equal(f->events[EV_reg_write], 1);
    assert_int_equal(f->last.u.reg_write.reg, REG_QUEUE_SIZE);
    assert_int_equal(f->last.u.reg_write.queue, 4);
    assert_int_equal(f->last.u.reg_write.value, 16);
    assert_int_equal(f->last.u.reg_write.host, 3);
    rd(f, REG_DEVICE_STATUS, 1);
    assert_int_equal(f->last.u.reg_read.value, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK);
    assert_int_equal(f->last.u.reg_read.queue, 0);
    wr(f, REG_NOTIFY + 4 * NOTIFY_MULTIPLIER, 2, 4);
    assert_int_equal(f->last.u.reg_write.reg, REG_NOTIFY);
    assert_int_equal(f->last.u.reg_write.queue, 4);
}

static void interrupts_are_delivered_later_and_need_a_vector(void **state)
{
    struct fixture *f = *state;

    negotiate(f, 0);
    enable(f, 3);
    driver_ok(f);
    virtio_raise(&f->dev, 3);
    assert_int_equal(f->n_irq, 0);
    sim_dispatch(&f->rig.sim);
    assert_int_equal(f->n_irq, 1);
    assert_true(f->last_is_message);
    assert_int_equal(f->last_irq.vector, 3);
    assert_int_equal(f->last_irq.queue, 3);
    assert_int_equal(f->irq_at, FN_IRQ_NS);

    virtio_raise(&f->dev, 1); /* has no vector */
    assert_int_equal(sim_next_ns(&f->rig.sim), UINT64_MAX);
}

static void a_configuration_change_has_generation_isr_and_interrupt(void **state)
{
    struct fixture *f = *state;
    const uint64_t generation = rd(f, REG_CONFIG_GENERATION, 1);

    negotiate(f, 0);
    wr(f, REG_CONFIG_MSIX_VECTOR, 2, 1);
    driver_ok(f);
    virtio_config_changed(&f->dev);
    assert_int_equal(rd(f, REG_CONFIG_GENERATION, 1), (uint8_t)(generation + 1));
    assert_int_equal(rd(f, REG_ISR, 1), VIRTIO_ISR_CONFIG);
    assert_int_equal(rd(f, REG_ISR, 1), 0); /* reading clears it */
    sim_dispatch(&f->rig.sim);
    assert_int_equal(f->last_irq.vector, 1);
    assert_int_equal(f->last_irq.queue, VIRTIO_IRQ_CONFIG);
}

static void a_broken_queue_needs_a_reset_of_the_device(void **state)
{
    struct fixture *f = *state;

    negotiate(f, 0);
    wr(f, REG_CONFIG_MSIX_VECTOR, 2, 0);
    enable(f, 1);
    enable(f, 2);
    driver_ok(f);
    f->dev.queues[1].broken = VQE_LOOP;
    virtio_queue_broken(&f->dev, 1);
    assert_int_equal(f->events[EV_vq_broken], 1);
    assert_int_equal(f->last.u.vq_broken.error, VQE_LOOP);
    assert_int_equal(rd(f, REG_DEVICE_STATUS, 1) & VS_DEVICE_NEEDS_RESET, VS_DEVICE_NEEDS_RESET);
    assert_false(virtio_running(&f->dev));
    sim_dispatch(&f->rig.sim);
    assert_int_equal(f->n_irq, 1);
    wr(f, REG_NOTIFY + 2 * NOTIFY_MULTIPLIER, 2, 2);
    assert_int_equal(f->n_notify, 0);
    f->dev.queues[2].broken = VQE_LOOP;
    virtio_queue_broken(&f->dev, 2); /* said once is enough */
    assert_int_equal(sim_next_ns(&f->rig.sim), UINT64_MAX);

    wr(f, REG_DEVICE_STATUS, 1, 0);
    assert_int_equal(rd(f, REG_DEVICE_STATUS, 1), 0);
    assert_int_equal(f->dev.queues[1].broken, VQE_NONE);
    assert_false(f->dev.queues[1].enabled);
}

/* Whatever is written where: no assertion, and no queue is enabled without a sound setup. */
static void random_accesses_leave_a_defined_device(void **state)
{
    static const uint32_t bases[] = {0, BAR_ISR, BAR_DEVICE, BAR_NOTIFY, UINT32_MAX - 63};
    struct fixture *f = *state;
    struct prng rng = prng_stream(3, 3);

    for (uint32_t i = 0; i < 200000; i++) {
        const size_t some = prng_below(&rng, ARRAY_LEN(bases));
        const uint32_t base = bases[prng_below(&rng, 4) ? 0 : some];
        const uint32_t at = base + (uint32_t)prng_below(&rng, 64);
        const uint32_t width = (uint32_t)prng_below(&rng, 10);
        uint64_t value = prng_next(&rng);

        if (prng_below(&rng, 3) == 0) {
            virtio_read(&f->dev, at, width);
            continue;
        }
        if (prng_below(&rng, 200) == 0) {
            wr(f, REG_DEVICE_STATUS, 1, 0);
            negotiate(f, prng_next(&rng) & f->dev.offered);
        }
        if (prng_below(&rng, 2))
            value = value % 16 * 16 + 1;
        virtio_write(&f->dev, at, width, value);
    }
    for (uint32_t i = 0; i < N_QUEUES; i++) {
        const struct vq *vq = &f->dev.queues[i];

        assert_true(vq->ring.size <= QUEUE_SIZE && (vq->ring.size & (vq->ring.size - 1)) == 0);
        assert_true(!vq->enabled || (vq->ring.desc % 16 == 0 && vq->ring.desc));
        assert_true(vq->vector < N_VECTORS || vq->vector == VIRTIO_NO_VECTOR);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_driver_in_order_gets_a_running_device),
        T(status_bits_out_of_order_are_ignored),
        T(features_that_were_not_offered_are_refused),
        T(a_queue_is_enabled_only_when_it_is_set_up),
        T(a_queue_is_reset_alone),
        T(the_configuration_reads_at_any_width_and_offset),
        T(a_read_configuration_that_changed_has_another_generation),
        T(without_a_driver_a_change_is_silent),
        T(an_access_may_cover_parts_of_registers),
        T(a_register_ends_with_its_last_byte),
        T(queues_and_vectors_are_numbered_up_to_their_last),
        T(feature_bits_have_two_halves),
        T(every_address_of_a_queue_must_be_sound),
        T(every_access_of_a_register_is_an_event),
        T(interrupts_are_delivered_later_and_need_a_vector),
        T(a_configuration_change_has_generation_isr_and_interrupt),
        T(a_broken_queue_needs_a_reset_of_the_device),
        T(random_accesses_leave_a_defined_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
