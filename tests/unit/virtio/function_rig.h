/* SPDX-License-Identifier: MIT */
/* A PCI function around a dummy device.  Tests can inspect its interrupts and events. */
#ifndef TESTS_UNIT_VIRTIO_FUNCTION_RIG_H
#define TESTS_UNIT_VIRTIO_FUNCTION_RIG_H

#include "sim_rig.h"

#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/virtio/feature.h"
#include "emu/trace/event.h"
#include "emu/virtio/function.h"

#define N_QUEUES     5u
#define QUEUE_SIZE   64u
#define N_VECTORS    40u
#define CONFIG_BYTES 10u
#define BAR0_AT      0xfe000000u
#define BAR1_AT      0xfe100000u

struct fixture {
    struct sim_rig rig;
    struct virtio_dev dev;
    uint32_t n_notify, n_reset, n_mastering, last_queue;
    uint32_t n_irq, n_line; /* messages; INTx interrupts still asserted on arrival */
    struct fn_message message;
    struct fn_irq irq;
    uint32_t events[EV_COUNT];
    struct ev last;
};

static inline void on_notify(void *ctx, uint32_t queue)
{
    struct fixture *f = ctx;

    f->n_notify++;
    f->last_queue = queue;
}

static inline void on_reset(void *ctx)
{
    ((struct fixture *)ctx)->n_reset++;
}

static inline void on_queue_reset(void *ctx, uint32_t queue)
{
    (void)ctx;
    (void)queue;
}

static inline void on_mastering(void *ctx)
{
    ((struct fixture *)ctx)->n_mastering++;
}

static const struct virtio_ops ops = {.notify = on_notify,
                                      .reset = on_reset,
                                      .queue_reset = on_queue_reset,
                                      .mastering = on_mastering};

static inline void on_irq(void *ctx, struct sim_item item)
{
    struct fixture *f = ctx;

    f->irq = fn_irq_of(item.arg);
    if (fn_take_message(&f->dev.fn, f->irq, &f->message))
        f->n_irq++;
    else
        f->n_line += fn_line_is_high(&f->dev.fn);
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {[SIM_IRQ] = on_irq};

static inline void on_event(void *ctx, const struct ev *e)
{
    struct fixture *f = ctx;

    f->events[e->kind]++;
    f->last = *e;
}

static inline int set_up(void **state)
{
    const struct virtio_config config = {
        .host = 3,
        .function = FN_NET,
        .slot = {.number = 1, .multifunction = true},
        .virtio_id = 42,
        .class_code = 0x028000,
        .num_queues = N_QUEUES,
        .queue_size = QUEUE_SIZE,
        .n_vectors = N_VECTORS,
        .config_bytes = CONFIG_BYTES,
    };
    struct fixture *f = test_calloc(1, sizeof(*f));

    sim_rig_init(&f->rig, handlers, on_event, f);
    assert_true(virtio_init(&f->dev, f->rig.arena, &f->rig.sim, &config, &ops, f));
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;

    sim_rig_done(&f->rig);
    test_free(f);
    return 0;
}

static inline uint32_t cfg(struct fixture *f, uint32_t offset, uint32_t width)
{
    return fn_config_read(&f->dev.fn, offset, width);
}

static inline void cfg_put(struct fixture *f, uint32_t offset, uint32_t width, uint32_t value)
{
    fn_config_write(&f->dev.fn, offset, width, value);
}

static inline void vector_put(struct fixture *f, uint32_t vector, enum msix_field field,
                              uint32_t value)
{
    fn_bar_write(&f->dev.fn, VIRTIO_BAR_MSIX, vector * MSIX_ENTRY_BYTES + field, 4, value);
}

static inline void run(struct fixture *f)
{
    while (sim_next_ns(&f->rig.sim) != UINT64_MAX)
        sim_dispatch(&f->rig.sim);
}

/* Enables MSI-X with a message in @vector, unmasked. */
static inline void use_vector(struct fixture *f, uint32_t vector)
{
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    vector_put(f, vector, MSIX_ADDRESS, MSI_ADDRESS);
    vector_put(f, vector, MSIX_DATA, 0x40 + vector);
    vector_put(f, vector, MSIX_CONTROL, 0);
}

static inline void put_reg(struct fixture *f, enum reg reg, uint32_t width, uint64_t value)
{
    fn_bar_write(&f->dev.fn, VIRTIO_BAR, (uint32_t)reg, width, value);
}

/* Initialises like a correct driver: DRIVER_OK and one queue. */
static inline void drive(struct fixture *f)
{
    put_reg(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE);
    put_reg(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER);
    put_reg(f, REG_DRIVER_FEATURE_SELECT, 4, 1);
    put_reg(f, REG_DRIVER_FEATURE, 4, 1u << (VF_VERSION_1 - 32));
    put_reg(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK);
    put_reg(f, REG_QUEUE_SELECT, 2, 2);
    put_reg(f, REG_QUEUE_DESC, 8, 0x1000);
    put_reg(f, REG_QUEUE_DRIVER, 8, 0x2000);
    put_reg(f, REG_QUEUE_DEVICE, 8, 0x3000);
    put_reg(f, REG_QUEUE_ENABLE, 2, 1);
    put_reg(f, REG_DEVICE_STATUS, 1, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK | VS_DRIVER_OK);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
