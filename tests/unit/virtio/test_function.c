/* SPDX-License-Identifier: MIT */
/* The PCI function: configuration space as a kernel reads it, BARs, the window, power-on. */
#include "function_rig.h"

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
        struct virtio_config c = f->dev.config;
        struct virtio_dev dev;

        c.num_queues = rows[i].queues;
        c.n_vectors = rows[i].vectors;
        assert_true(virtio_init(&dev, f->rig.arena, &f->rig.sim, &c, &ops, f));
        assert_int_equal(dev.fn.bar_bytes[VIRTIO_BAR], rows[i].virtio_bytes);
        assert_int_equal(dev.fn.bar_bytes[VIRTIO_BAR_MSIX], rows[i].msix_bytes);
        assert_int_equal(fn_config_read(&dev.fn, PCI_MSIX_CONTROL, 2), rows[i].vectors - 1);
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

    assert_false(fn_decode(&f->dev.fn, 0, &bar, &offset));
    cfg_put(f, PCI_BAR0, 4, BAR0_AT);
    cfg_put(f, PCI_BAR1, 4, BAR1_AT);
    assert_false(fn_decode(&f->dev.fn, BAR0_AT, &bar, &offset));
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MEMORY);
    assert_true(fn_decode(&f->dev.fn, BAR0_AT, &bar, &offset));
    assert_int_equal(bar, VIRTIO_BAR);
    assert_int_equal(offset, 0);
    assert_true(fn_decode(&f->dev.fn, BAR0_AT + 0x1ffff, &bar, &offset));
    assert_int_equal(offset, 0x1ffff);
    assert_false(fn_decode(&f->dev.fn, BAR0_AT + 0x20000, &bar, &offset));
    assert_false(fn_decode(&f->dev.fn, BAR0_AT - 1, &bar, &offset));
    assert_false(fn_decode(&f->dev.fn, ((uint64_t)1 << 32) + BAR0_AT, &bar, &offset));
    assert_true(fn_decode(&f->dev.fn, BAR1_AT + 0xfff, &bar, &offset));
    assert_int_equal(bar, VIRTIO_BAR_MSIX);
    assert_int_equal(offset, 0xfff);
    cfg_put(f, PCI_BAR0, 4, BAR0_AT + 0x1000000); /* it moves */
    assert_false(fn_decode(&f->dev.fn, BAR0_AT, &bar, &offset));
    assert_true(fn_decode(&f->dev.fn, BAR0_AT + 0x1000000, &bar, &offset));
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    assert_false(fn_decode(&f->dev.fn, BAR0_AT + 0x1000000, &bar, &offset));
}

/* [virtio 1.2, 4.1.4.9] */
static void the_window_reaches_a_bar_that_is_nowhere(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(cfg(f, PCI_ACCESS_DATA, 4), 0); /* it has no length yet */
    cfg_put(f, PCI_ACCESS_BAR, 1, VIRTIO_BAR);
    cfg_put(f, PCI_ACCESS_OFFSET, 4, REG_NUM_QUEUES);
    cfg_put(f, PCI_ACCESS_LENGTH, 4, 2);
    assert_int_equal(cfg(f, PCI_ACCESS_DATA, 4), N_QUEUES);
    assert_int_equal(cfg(f, PCI_ACCESS_DATA, 2), N_QUEUES);
    cfg_put(f, PCI_ACCESS_OFFSET, 4, REG_DEVICE_STATUS);
    cfg_put(f, PCI_ACCESS_LENGTH, 4, 1);
    cfg_put(f, PCI_ACCESS_DATA, 1, VS_ACKNOWLEDGE);
    assert_int_equal(f->dev.status, VS_ACKNOWLEDGE);

    cfg_put(f, PCI_ACCESS_BAR, 1, VIRTIO_BAR_MSIX);
    cfg_put(f, PCI_ACCESS_OFFSET, 4, 2 * MSIX_ENTRY_BYTES + MSIX_DATA);
    cfg_put(f, PCI_ACCESS_LENGTH, 4, 4);
    cfg_put(f, PCI_ACCESS_DATA, 4, 0x77);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 2 * MSIX_ENTRY_BYTES + MSIX_DATA, 4),
                     0x77);
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
    fn_raise(&f->dev.fn, 3, 2);
    fn_raise(&f->dev.fn, 4, 1); /* masked: pending */
    f->n_reset = 0;

    fn_reset(&f->dev.fn);
    assert_int_equal(f->n_reset, 1);
    assert_int_equal(f->dev.status, 0);
    assert_false(f->dev.bus_master);
    for (uint32_t at = 0; at < PCI_CONFIG_BYTES; at += 4)
        assert_int_equal(cfg(f, at, 4), fresh[at / 4]);
    assert_int_equal(
        fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 3 * MSIX_ENTRY_BYTES + MSIX_CONTROL, 4), 1);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0x800, 4), 0);
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
    fn_bar_write(&f->dev.fn, VIRTIO_BAR_MSIX, 2 * MSIX_ENTRY_BYTES, 8, 1);
    assert_int_equal(f->events[EV_msix_write], 2);
    assert_int_equal(f->last.u.msix_write.vector, 2);
    assert_int_equal(f->last.u.msix_write.field, MSIX_ADDRESS_HIGH);
    fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0x804, 4);
    assert_int_equal(f->last.u.msix_read.field, MSIX_PENDING);
    assert_int_equal(f->last.u.msix_read.vector, 32);
    f->events[EV_cfg_read] = 0;
    fn_config_peek(&f->dev.fn, 0, 4);
    assert_int_equal(f->events[EV_cfg_read], 0);
}

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
        T(the_window_reaches_a_bar_that_is_nowhere),
        T(a_window_that_makes_no_sense_does_nothing),
        T(power_on_forgets_everything_but_what_is_on_its_way),
        T(each_access_is_an_event_that_names_a_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
