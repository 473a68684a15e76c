/* SPDX-License-Identifier: MIT */
/* The PCI function: configuration space as a kernel reads it, BARs, MSI-X, INTx, the command
 * register, power-on.
 */
#include "testing.h"

#include "emu/base/prng.h"
#include "emu/virtio/function.h"

#define N_QUEUES     5u
#define QUEUE_SIZE   64u
#define N_VECTORS    40u
#define CONFIG_BYTES 10u
#define BAR0_AT      0xfe000000u
#define BAR1_AT      0xfe100000u

struct fixture {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace_sink sink;
    struct trace trace;
    struct sim sim;
    struct virtio_dev dev;
    struct pci_fn fn;
    uint32_t n_notify, n_reset, n_mastering, last_queue;
    uint32_t n_irq, n_line; /* messages, and lines that were still high on arrival */
    struct fn_message message;
    struct virtio_irq irq;
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
    (void)ctx;
    (void)queue;
}

static void on_mastering(void *ctx)
{
    ((struct fixture *)ctx)->n_mastering++;
}

static const struct virtio_ops ops = {.notify = on_notify,
                                      .reset = on_reset,
                                      .queue_reset = on_queue_reset,
                                      .mastering = on_mastering};

static void on_irq(void *ctx, struct sim_item item)
{
    struct fixture *f = ctx;

    f->irq = virtio_irq_of(item.arg);
    if (fn_take_message(&f->fn, f->irq, &f->message))
        f->n_irq++;
    else
        f->n_line += fn_line_is_high(&f->fn);
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {[SIM_IRQ] = on_irq};

static void on_event(void *ctx, const struct ev *e)
{
    struct fixture *f = ctx;

    f->events[e->kind]++;
    f->last = *e;
}

static int set_up(void **state)
{
    const struct virtio_config config = {
        .host = 3,
        .function = FN_NET,
        .num_queues = N_QUEUES,
        .queue_size = QUEUE_SIZE,
        .n_vectors = N_VECTORS,
        .config_bytes = CONFIG_BYTES,
    };
    const struct fn_config fn = {
        .number = 1,
        .virtio_id = 42,
        .class_code = 0x028000,
        .subsystem = 0x6a,
        .multifunction = true,
    };
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->arena = arena_new((size_t)1 << 30);
    assert_non_null(f->arena);
    f->sink = (struct trace_sink){on_event, f, ev_set_all, NULL};
    f->trace.sinks = &f->sinks;
    trace_sink_add(&f->sinks, &f->sink);
    assert_true(sim_init(&f->sim, f->arena, &f->trace, handlers, f));
    assert_true(virtio_init(&f->dev, f->arena, &f->sim, &config, &ops, f));
    fn_init(&f->fn, f->arena, &f->dev, &fn);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_free(f->arena);
    test_free(f);
    return 0;
}

static uint32_t cfg(struct fixture *f, uint32_t offset, uint32_t width)
{
    return fn_config_read(&f->fn, offset, width);
}

static void cfg_put(struct fixture *f, uint32_t offset, uint32_t width, uint32_t value)
{
    fn_config_write(&f->fn, offset, width, value);
}

static void vector_put(struct fixture *f, uint32_t vector, enum msix_field field, uint32_t value)
{
    fn_bar_write(&f->fn, FN_BAR_MSIX, vector * MSIX_ENTRY_BYTES + field, 4, value);
}

static void run(struct fixture *f)
{
    while (sim_next_ns(&f->sim) != UINT64_MAX)
        sim_dispatch(&f->sim);
}

/* MSI-X with a message in @vector, not masked. */
static void use_vector(struct fixture *f, uint32_t vector)
{
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    vector_put(f, vector, MSIX_ADDRESS, MSI_ADDRESS);
    vector_put(f, vector, MSIX_DATA, 0x40 + vector);
    vector_put(f, vector, MSIX_CONTROL, 0);
}

static void put_reg(struct fixture *f, enum reg reg, uint32_t width, uint64_t value)
{
    fn_bar_write(&f->fn, FN_BAR_VIRTIO, (uint32_t)reg, width, value);
}

/* A driver in order: DRIVER_OK, and one queue. */
static void drive(struct fixture *f)
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

static void a_function_says_who_it_is(void **state)
{
    static const struct {
        uint32_t offset, width, want;
    } rows[] = {
        {PCI_VENDOR_ID, 2, 0x1af4},
        {PCI_DEVICE_ID, 2, 0x106a},
        {PCI_VENDOR_ID, 4, 0x106a1af4},
        {PCI_COMMAND, 2, 0},
        {PCI_STATUS, 2, 0x0010},
        {PCI_REVISION_ID, 4, 0x02800001},
        {PCI_CLASS_CODE + 1, 2, 0x0280},
        {PCI_HEADER_TYPE, 1, 0x80},
        {PCI_CARDBUS_CIS, 4, 0},
        {PCI_SUBSYSTEM_VENDOR_ID, 4, 0x006a1af4},
        {PCI_EXPANSION_ROM, 4, 0},
        {PCI_INTERRUPT_LINE, 2, 0x0200},
        {0x35, 1, 0}, /* nobody's */
        {0xfc, 4, 0},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(cfg(f, rows[i].offset, rows[i].width), rows[i].want);
}

/* What a driver that knows the types alone finds: every structure, inside its BAR, once. */
static void the_list_of_capabilities_leads_to_every_structure(void **state)
{
    static const struct {
        uint32_t bar, offset, length;
    } want[] = {
        [VIRTIO_CAP_COMMON] = {0, BAR_COMMON, REG_COMMON_BYTES},
        [VIRTIO_CAP_NOTIFY] = {0, BAR_NOTIFY, N_QUEUES * NOTIFY_MULTIPLIER},
        [VIRTIO_CAP_ISR] = {0, BAR_ISR, 1},
        [VIRTIO_CAP_DEVICE] = {0, BAR_DEVICE, CONFIG_BYTES},
        [VIRTIO_CAP_PCI] = {0, 0, 0},
    };
    struct fixture *f = *state;
    unsigned seen = 0;
    uint32_t at = cfg(f, PCI_CAPABILITIES, 1), n = 0;

    for (; at != 0; at = cfg(f, at + 1, 1), n++) {
        const uint32_t type = cfg(f, at + 3, 1);

        assert_true(n < 6 && at >= 0x40 && at % 4 == 0);
        if (cfg(f, at, 1) == PCI_CAP_ID_MSIX) {
            assert_int_equal(cfg(f, at + 2, 2), N_VECTORS - 1);
            assert_int_equal(cfg(f, at + 4, 4), 1);         /* table: BAR 1, offset 0 */
            assert_int_equal(cfg(f, at + 8, 4), 0x800 | 1); /* pending bits */
            continue;
        }
        assert_int_equal(cfg(f, at, 1), PCI_CAP_ID_VENDOR);
        assert_true(type >= VIRTIO_CAP_COMMON && type <= VIRTIO_CAP_PCI && !(seen & 1u << type));
        seen |= 1u << type;
        assert_int_equal(cfg(f, at + 2, 1),
                         type == VIRTIO_CAP_NOTIFY || type == VIRTIO_CAP_PCI ? 20 : 16);
        assert_int_equal(cfg(f, at + 4, 1), want[type].bar);
        assert_int_equal(cfg(f, at + 8, 4), want[type].offset);
        assert_int_equal(cfg(f, at + 12, 4), want[type].length);
        if (type == VIRTIO_CAP_NOTIFY)
            assert_int_equal(cfg(f, at + 16, 4), NOTIFY_MULTIPLIER);
    }
    assert_int_equal(seen, 0x3e);
    assert_int_equal(n, 6);
}

static void a_bar_that_is_written_with_ones_reads_as_its_size(void **state)
{
    static const uint32_t sizes[PCI_BARS + 1] = {0x20000, 0x1000};
    struct fixture *f = *state;

    for (uint32_t i = 0; i < PCI_BARS; i++) {
        cfg_put(f, PCI_BAR0 + 4 * i, 4, UINT32_MAX);
        assert_int_equal(cfg(f, PCI_BAR0 + 4 * i, 4), sizes[i] ? ~(sizes[i] - 1) : 0);
        cfg_put(f, PCI_BAR0 + 4 * i, 4, BAR0_AT + 0x123);
        assert_int_equal(cfg(f, PCI_BAR0 + 4 * i, 4), sizes[i] ? BAR0_AT : 0);
    }
    cfg_put(f, PCI_EXPANSION_ROM, 4, UINT32_MAX);
    assert_int_equal(cfg(f, PCI_EXPANSION_ROM, 4), 0);
    cfg_put(f, PCI_BAR0 + 3, 1, 0xe0); /* one byte of it */
    assert_int_equal(cfg(f, PCI_BAR0, 4), 0xe0000000u);
}

static void a_bar_has_room_for_what_is_in_it(void **state)
{
    static const struct {
        uint32_t queues, vectors, virtio_bytes, msix_bytes;
    } rows[] = {
        {1, 1, 0x20000, 0x1000},
        {0x4000, 128, 0x20000, 0x1000},
        {0x4001, 129, 0x40000, 0x2000},
        {VIRTIO_QUEUES_MAX, VIRTIO_VECTORS_MAX, 0x80000, 0x10000},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct fn_config fn = {.virtio_id = 1};
        struct virtio_config c = f->dev.config;
        struct virtio_dev dev;
        struct pci_fn g;

        c.num_queues = rows[i].queues;
        c.n_vectors = rows[i].vectors;
        assert_true(virtio_init(&dev, f->arena, &f->sim, &c, &ops, f));
        fn_init(&g, f->arena, &dev, &fn);
        assert_int_equal(g.bar_bytes[FN_BAR_VIRTIO], rows[i].virtio_bytes);
        assert_int_equal(g.bar_bytes[FN_BAR_MSIX], rows[i].msix_bytes);
        assert_int_equal(fn_config_read(&g, PCI_MSIX_CONTROL, 2), rows[i].vectors - 1);
    }
}

static void read_only_bytes_stay_whatever_is_written(void **state)
{
    struct fixture *f = *state;
    uint32_t before[PCI_CONFIG_BYTES / 4];

    for (uint32_t at = 0; at < PCI_CONFIG_BYTES; at += 4)
        before[at / 4] = cfg(f, at, 4);
    for (uint32_t at = 0; at < PCI_CONFIG_BYTES; at += 4)
        cfg_put(f, at, 4, UINT32_MAX);
    for (uint32_t at = 0; at < PCI_CONFIG_BYTES; at += 4) {
        const uint32_t changed = before[at / 4] ^ cfg(f, at, 4);
        uint32_t want;

        switch (at) {
        case PCI_COMMAND:
            want = PCI_CMD_MEMORY | PCI_CMD_MASTER | PCI_CMD_INTX_OFF;
            break;
        case PCI_CACHE_LINE_SIZE:
        case PCI_INTERRUPT_LINE:
        case PCI_ACCESS_BAR:
            want = 0xff;
            break;
        case PCI_BAR0:
            want = 0xfffe0000;
            break;
        case PCI_BAR1:
            want = 0xfffff000;
            break;
        case PCI_ACCESS_OFFSET:
        case PCI_ACCESS_LENGTH:
            want = UINT32_MAX;
            break;
        case PCI_MSIX_CAP:
            want = (MSIX_ENABLE | MSIX_FUNCTION_MASK) << 16;
            break;
        default:
            want = 0;
        }
        assert_int_equal(changed, want);
    }
}

static void odd_accesses_of_configuration_space_find_nobody(void **state)
{
    static const struct {
        uint32_t offset, width, want;
    } rows[] = {
        {PCI_VENDOR_ID, 3, 0xffffff},
        {PCI_VENDOR_ID + 1, 2, 0xffff},
        {PCI_BAR0 + 2, 4, UINT32_MAX},
        {PCI_CONFIG_BYTES, 4, UINT32_MAX},
        {UINT32_MAX - 3, 4, UINT32_MAX},
        {0, 0, UINT32_MAX},
        {0, 8, UINT32_MAX},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(cfg(f, rows[i].offset, rows[i].width), rows[i].want);
        cfg_put(f, rows[i].offset, rows[i].width, UINT32_MAX);
    }
    assert_int_equal(f->events[EV_cfg_read] + f->events[EV_cfg_write], 0);
    assert_int_equal(cfg(f, PCI_BAR0, 4), 0);
}

static void a_bar_answers_where_it_is_while_memory_space_is_on(void **state)
{
    struct fixture *f = *state;
    uint32_t bar, offset;

    assert_false(fn_decode(&f->fn, 0, &bar, &offset));
    cfg_put(f, PCI_BAR0, 4, BAR0_AT);
    cfg_put(f, PCI_BAR1, 4, BAR1_AT);
    assert_false(fn_decode(&f->fn, BAR0_AT, &bar, &offset));
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MEMORY);
    assert_true(fn_decode(&f->fn, BAR0_AT, &bar, &offset));
    assert_int_equal(bar, FN_BAR_VIRTIO);
    assert_int_equal(offset, 0);
    assert_true(fn_decode(&f->fn, BAR0_AT + 0x1ffff, &bar, &offset));
    assert_int_equal(offset, 0x1ffff);
    assert_false(fn_decode(&f->fn, BAR0_AT + 0x20000, &bar, &offset));
    assert_false(fn_decode(&f->fn, BAR0_AT - 1, &bar, &offset));
    assert_false(fn_decode(&f->fn, ((uint64_t)1 << 32) + BAR0_AT, &bar, &offset));
    assert_true(fn_decode(&f->fn, BAR1_AT + 0xfff, &bar, &offset));
    assert_int_equal(bar, FN_BAR_MSIX);
    assert_int_equal(offset, 0xfff);
    cfg_put(f, PCI_BAR0, 4, BAR0_AT + 0x1000000); /* it moves */
    assert_false(fn_decode(&f->fn, BAR0_AT, &bar, &offset));
    assert_true(fn_decode(&f->fn, BAR0_AT + 0x1000000, &bar, &offset));
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    assert_false(fn_decode(&f->fn, BAR0_AT + 0x1000000, &bar, &offset));
}

static void a_vector_that_is_masked_is_pending_until_it_is_not(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    vector_put(f, 33, MSIX_ADDRESS, MSI_ADDRESS | 3);
    vector_put(f, 33, MSIX_ADDRESS_HIGH, 1);
    vector_put(f, 33, MSIX_DATA, 0x55);
    fn_raise(&f->fn, 33, 4);
    fn_raise(&f->fn, 33, 2);
    assert_int_equal(f->events[EV_irq_held], 2);
    assert_int_equal(f->last.u.irq_held.by, HELD_VECTOR);
    run(f);
    assert_int_equal(f->n_irq, 0);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 0x800, 8), (uint64_t)1 << 33);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 0x804, 4), 2);

    vector_put(f, 33, MSIX_CONTROL, 0);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 0x804, 4), 0);
    run(f);
    assert_int_equal(f->n_irq, 1); /* one, however often it was raised */
    assert_true(f->message.address == (((uint64_t)1 << 32) | MSI_ADDRESS));
    assert_int_equal(f->message.data, 0x55);
    assert_int_equal(f->irq.vector, 33);
    assert_int_equal(f->irq.queue, 2);
}

static void the_mask_of_the_function_holds_all_vectors(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    use_vector(f, 0);
    use_vector(f, 1);
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE | MSIX_FUNCTION_MASK);
    fn_raise(&f->fn, 0, 0);
    fn_raise(&f->fn, 1, VIRTIO_IRQ_CONFIG);
    assert_int_equal(f->last.u.irq_held.by, HELD_FUNCTION);
    vector_put(f, 0, MSIX_CONTROL, 1);
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    run(f);
    assert_int_equal(f->n_irq, 1); /* the other is masked itself */
    assert_int_equal(f->irq.queue, VIRTIO_IRQ_CONFIG);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 0x800, 4), 1);
}

static void without_bus_mastering_no_message_leaves(void **state)
{
    struct fixture *f = *state;

    use_vector(f, 5);
    fn_raise(&f->fn, 5, 1);
    assert_int_equal(f->last.u.irq_held.by, HELD_BUS_MASTER);
    run(f);
    assert_int_equal(f->n_irq, 0);
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    run(f);
    assert_int_equal(f->n_irq, 1);
    assert_int_equal(f->message.data, 0x45);
}

/* Each message is what the table said when it was raised, also if many are on their way. */
static void a_message_on_its_way_does_not_change(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    use_vector(f, 7);
    for (uint32_t i = 0; i < 100; i++) {
        vector_put(f, 7, MSIX_DATA, i);
        fn_raise(&f->fn, 7, 0);
    }
    vector_put(f, 7, MSIX_CONTROL, 1);
    for (uint32_t i = 0; i < 100; i++) {
        sim_dispatch(&f->sim);
        assert_int_equal(f->n_irq, i + 1);
        assert_int_equal(f->message.data, i);
    }
    const uint32_t places = f->fn.sent_cap;

    vector_put(f, 7, MSIX_CONTROL, 0);
    for (uint32_t i = 0; i < 1000; i++) { /* their places are used again */
        fn_raise(&f->fn, 7, 0);
        sim_dispatch(&f->sim);
    }
    assert_int_equal(f->fn.sent_cap, places);
}

static void a_vector_that_does_not_exist_is_silent(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    fn_raise(&f->fn, N_VECTORS, 0);
    fn_raise(&f->fn, VIRTIO_NO_VECTOR, 0);
    run(f);
    assert_int_equal(f->n_irq + f->events[EV_irq_held] + f->dev.isr, 0);
}

static void without_msix_the_line_is_high_until_the_isr_is_read(void **state)
{
    struct fixture *f = *state;

    fn_raise(&f->fn, VIRTIO_NO_VECTOR, 1);
    fn_raise(&f->fn, VIRTIO_NO_VECTOR, 2); /* it is high already */
    assert_true(fn_line_is_high(&f->fn));
    assert_int_equal(cfg(f, PCI_STATUS, 2), 0x0018);
    run(f);
    assert_int_equal(f->n_line, 1);
    assert_true(fn_line_is_high(&f->fn)); /* a level: nobody has asked why */
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_VIRTIO, BAR_ISR, 1), VIRTIO_ISR_QUEUE);
    assert_false(fn_line_is_high(&f->fn));
    assert_int_equal(cfg(f, PCI_STATUS, 2), 0x0010);

    virtio_config_changed(&f->dev);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_VIRTIO, BAR_ISR, 1), VIRTIO_ISR_CONFIG);
    run(f);
    assert_int_equal(f->n_line, 1); /* it was low again when it arrived */
}

static void the_line_stays_low_while_it_is_disabled(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_INTX_OFF);
    fn_raise(&f->fn, VIRTIO_NO_VECTOR, 1);
    assert_false(fn_line_is_high(&f->fn));
    assert_int_equal(cfg(f, PCI_STATUS, 2), 0x0018); /* the status does not care */
    run(f);
    assert_int_equal(f->n_line, 0);
    cfg_put(f, PCI_COMMAND, 2, 0);
    run(f);
    assert_int_equal(f->n_line, 1);
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    assert_false(fn_line_is_high(&f->fn));
    assert_int_equal(cfg(f, PCI_STATUS, 2), 0x0010);
}

static void a_kick_without_bus_mastering_is_done_when_it_comes(void **state)
{
    struct fixture *f = *state;

    drive(f);
    assert_false(virtio_running(&f->dev));
    put_reg(f, (enum reg)(BAR_NOTIFY + 2 * NOTIFY_MULTIPLIER), 2, 2);
    put_reg(f, (enum reg)(BAR_NOTIFY + 2 * NOTIFY_MULTIPLIER), 2, 2);
    put_reg(f, (enum reg)(BAR_NOTIFY + 1 * NOTIFY_MULTIPLIER), 2, 1); /* not enabled */
    assert_int_equal(f->n_notify, 0);
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    assert_true(virtio_running(&f->dev));
    assert_int_equal(f->n_notify, 1);
    assert_int_equal(f->last_queue, 2);
    assert_int_equal(f->n_mastering, 1);
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    assert_int_equal(f->n_mastering, 1); /* it was on */

    cfg_put(f, PCI_COMMAND, 2, 0);
    put_reg(f, (enum reg)(BAR_NOTIFY + 2 * NOTIFY_MULTIPLIER), 2, 2);
    put_reg(f, REG_DEVICE_STATUS, 1, 0); /* forgets it */
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    assert_int_equal(f->n_notify, 1);
}

/* [virtio 1.2, 4.1.4.9] */
static void the_window_reaches_a_bar_that_is_nowhere(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(cfg(f, PCI_ACCESS_DATA, 4), 0); /* it has no length yet */
    cfg_put(f, PCI_ACCESS_BAR, 1, FN_BAR_VIRTIO);
    cfg_put(f, PCI_ACCESS_OFFSET, 4, REG_NUM_QUEUES);
    cfg_put(f, PCI_ACCESS_LENGTH, 4, 2);
    assert_int_equal(cfg(f, PCI_ACCESS_DATA, 4), N_QUEUES);
    assert_int_equal(cfg(f, PCI_ACCESS_DATA, 2), N_QUEUES);
    cfg_put(f, PCI_ACCESS_OFFSET, 4, REG_DEVICE_STATUS);
    cfg_put(f, PCI_ACCESS_LENGTH, 4, 1);
    cfg_put(f, PCI_ACCESS_DATA, 1, VS_ACKNOWLEDGE);
    assert_int_equal(f->dev.status, VS_ACKNOWLEDGE);

    cfg_put(f, PCI_ACCESS_BAR, 1, FN_BAR_MSIX);
    cfg_put(f, PCI_ACCESS_OFFSET, 4, 2 * MSIX_ENTRY_BYTES + MSIX_DATA);
    cfg_put(f, PCI_ACCESS_LENGTH, 4, 4);
    cfg_put(f, PCI_ACCESS_DATA, 4, 0x77);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 2 * MSIX_ENTRY_BYTES + MSIX_DATA, 4), 0x77);
}

static void a_window_that_makes_no_sense_does_nothing(void **state)
{
    static const struct {
        uint32_t bar, offset, length;
    } rows[] = {
        {0, REG_DEVICE_STATUS, 0}, {0, REG_DEVICE_STATUS, 3}, {0, REG_DEVICE_STATUS, 8},
        {2, REG_DEVICE_STATUS, 1}, {0, 0x20000, 1},           {0, REG_QUEUE_SELECT + 1, 2},
        {0, UINT32_MAX, 1},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        cfg_put(f, PCI_ACCESS_BAR, 1, rows[i].bar);
        cfg_put(f, PCI_ACCESS_OFFSET, 4, rows[i].offset);
        cfg_put(f, PCI_ACCESS_LENGTH, 4, rows[i].length);
        cfg_put(f, PCI_ACCESS_DATA, 4, VS_ACKNOWLEDGE);
        assert_int_equal(cfg(f, PCI_ACCESS_DATA, 4), 0);
    }
    assert_int_equal(f->dev.status, 0);
    assert_int_equal(f->events[EV_reg_read] + f->events[EV_reg_write], 0);
}

static void the_msix_table_is_words_of_four_bytes(void **state)
{
    struct fixture *f = *state;

    assert_null(f->fn.vectors); /* made at first use */
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, MSIX_CONTROL, 4), 1);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 0, 8), 0);
    assert_null(f->fn.vectors);
    fn_bar_write(&f->fn, FN_BAR_MSIX, MSIX_ENTRY_BYTES, 8, 0x1122334455667788u);
    assert_non_null(f->fn.vectors);
    assert_true(fn_bar_read(&f->fn, FN_BAR_MSIX, MSIX_ENTRY_BYTES, 8) == 0x1122334455667788u);
    fn_bar_write(&f->fn, FN_BAR_MSIX, MSIX_ENTRY_BYTES, 2, 0xffff);
    fn_bar_write(&f->fn, FN_BAR_MSIX, MSIX_ENTRY_BYTES + 2, 4, 0xffff);
    fn_bar_write(&f->fn, FN_BAR_MSIX, N_VECTORS * MSIX_ENTRY_BYTES, 4, 0xffff);
    fn_bar_write(&f->fn, FN_BAR_MSIX, 0x800, 4, 0xffff); /* pending bits are the device's */
    fn_bar_write(&f->fn, 2, 0, 4, 0xffff);
    assert_true(fn_bar_read(&f->fn, FN_BAR_MSIX, MSIX_ENTRY_BYTES, 8) == 0x1122334455667788u);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, MSIX_ENTRY_BYTES, 1), 0);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 0x800, 4), 0);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 0xffc, 4), 0);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 0x7ffffff8, 8), 0);
    assert_int_equal(fn_bar_read(&f->fn, 2, 0, 4), 0);
}

static void power_on_forgets_everything_but_what_is_on_its_way(void **state)
{
    struct fixture *f = *state;
    uint32_t fresh[PCI_CONFIG_BYTES / 4];

    for (uint32_t at = 0; at < PCI_CONFIG_BYTES; at += 4)
        fresh[at / 4] = cfg(f, at, 4);
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER | PCI_CMD_MEMORY);
    cfg_put(f, PCI_BAR0, 4, BAR0_AT);
    cfg_put(f, PCI_INTERRUPT_LINE, 1, 11);
    cfg_put(f, PCI_ACCESS_LENGTH, 4, 4);
    use_vector(f, 3);
    drive(f);
    fn_raise(&f->fn, 3, 2);
    fn_raise(&f->fn, 4, 1); /* masked: pending */
    f->n_reset = 0;

    fn_reset(&f->fn);
    assert_int_equal(f->n_reset, 1);
    assert_int_equal(f->dev.status, 0);
    assert_false(f->dev.bus_master);
    for (uint32_t at = 0; at < PCI_CONFIG_BYTES; at += 4)
        assert_int_equal(cfg(f, at, 4), fresh[at / 4]);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 3 * MSIX_ENTRY_BYTES + MSIX_CONTROL, 4), 1);
    assert_int_equal(fn_bar_read(&f->fn, FN_BAR_MSIX, 0x800, 4), 0);
    run(f);
    assert_int_equal(f->n_irq, 1);
    assert_int_equal(f->message.data, 0x43);
}

static void each_access_is_an_event_that_names_a_field(void **state)
{
    struct fixture *f = *state;

    cfg(f, PCI_VENDOR_ID, 4);
    assert_int_equal(f->events[EV_cfg_read], 1);
    assert_int_equal(f->last.u.cfg_read.field, PCI_VENDOR_ID);
    assert_int_equal(f->last.u.cfg_read.width, 4);
    assert_int_equal(f->last.u.cfg_read.host, 3);
    assert_int_equal(f->last.u.cfg_read.function, FN_NET);
    assert_int_equal(f->last.u.cfg_read.value, 0x106a1af4);
    cfg_put(f, PCI_CLASS_CODE + 1, 2, 7);
    assert_int_equal(f->last.u.cfg_write.field, PCI_CLASS_CODE);
    assert_int_equal(f->last.u.cfg_write.offset, PCI_CLASS_CODE + 1);
    cfg(f, 0x38, 4);
    assert_int_equal(f->last.u.cfg_read.field, 0x38);
    fn_bar_write(&f->fn, FN_BAR_MSIX, 2 * MSIX_ENTRY_BYTES, 8, 1);
    assert_int_equal(f->events[EV_msix_write], 2);
    assert_int_equal(f->last.u.msix_write.vector, 2);
    assert_int_equal(f->last.u.msix_write.field, MSIX_ADDRESS_HIGH);
    fn_bar_read(&f->fn, FN_BAR_MSIX, 0x804, 4);
    assert_int_equal(f->last.u.msix_read.field, MSIX_PENDING);
    assert_int_equal(f->last.u.msix_read.vector, 32);
    f->events[EV_cfg_read] = 0;
    fn_config_peek(&f->fn, 0, 4);
    assert_int_equal(f->events[EV_cfg_read], 0);
}

/* Whatever is accessed, the function keeps its invariants. */
static void random_accesses_leave_a_function_in_order(void **state)
{
    struct fixture *f = *state;
    struct prng rng = prng_stream(7, 7);

    for (uint32_t i = 0; i < 200000; i++) {
        const uint64_t r = prng_next(&rng);
        const uint32_t width = 1u << (r & 3), at = (uint32_t)(r >> 8);
        const uint32_t bar = (uint32_t)(r >> 4 & 1), value = (uint32_t)prng_next(&rng);

        switch (r >> 60 & 7) {
        case 0:
            cfg(f, at % 0x110, width);
            break;
        case 1:
        case 2:
            cfg_put(f, at % 0x110, width, value);
            break;
        case 3:
            fn_bar_read(&f->fn, bar, at % 0x20000, width);
            break;
        case 4:
            fn_bar_write(&f->fn, bar, at % 0x1000, width, value);
            break;
        case 5:
            fn_raise(&f->fn, value % (N_VECTORS + 2), value >> 8 & 7);
            break;
        case 6:
            run(f);
            break;
        default:
            if (value % 4096 == 0)
                fn_reset(&f->fn);
        }
        uint32_t n = 0;

        for (uint32_t k = 0; f->fn.vectors && k < N_VECTORS; k++) {
            const struct fn_vector *v = &f->fn.vectors[k];

            n += v->pending;
            if (v->pending && f->fn.msix_enabled)
                assert_true(v->masked || f->fn.msix_masked || !(f->fn.command & PCI_CMD_MASTER));
        }
        assert_int_equal(n, f->fn.n_pending);
        assert_true(f->dev.bus_master == ((f->fn.command & PCI_CMD_MASTER) != 0));
    }
    assert_true(f->n_irq > 100 && f->n_line > 100);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_function_says_who_it_is),
        T(the_list_of_capabilities_leads_to_every_structure),
        T(a_bar_that_is_written_with_ones_reads_as_its_size),
        T(a_bar_has_room_for_what_is_in_it),
        T(read_only_bytes_stay_whatever_is_written),
        T(odd_accesses_of_configuration_space_find_nobody),
        T(a_bar_answers_where_it_is_while_memory_space_is_on),
        T(a_vector_that_is_masked_is_pending_until_it_is_not),
        T(the_mask_of_the_function_holds_all_vectors),
        T(without_bus_mastering_no_message_leaves),
        T(a_message_on_its_way_does_not_change),
        T(a_vector_that_does_not_exist_is_silent),
        T(without_msix_the_line_is_high_until_the_isr_is_read),
        T(the_line_stays_low_while_it_is_disabled),
        T(a_kick_without_bus_mastering_is_done_when_it_comes),
        T(the_window_reaches_a_bar_that_is_nowhere),
        T(a_window_that_makes_no_sense_does_nothing),
        T(the_msix_table_is_words_of_four_bytes),
        T(power_on_forgets_everything_but_what_is_on_its_way),
        T(each_access_is_an_event_that_names_a_field),
        T(random_accesses_leave_a_function_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
