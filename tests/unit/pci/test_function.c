/* SPDX-License-Identifier: MIT */
/* A PCI Express function of a device that is not virtio: its capabilities are where it likes, its
 * registers in BARs 1 and 4, MSI-X in BAR 0.
 */
#include "sim_rig.h"

#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/pci/function.h"
#include "emu/trace/event.h"

#define AT_VENDOR  0x48u
#define AT_EXPRESS 0x50u
#define AT_MSIX    0xa0u
#define N_VECTORS  3u

struct fixture {
    struct sim_rig rig;
    struct pci_fn fn;
    uint32_t reg[PCI_BARS]; /* one register in each BAR */
    uint32_t data;          /* field ACCESS_DATA */
    uint32_t n_read, n_reset, n_masters;
    bool master;
    uint32_t reason; /* queue + 1 of the interrupt; 0: none */
    uint32_t n_edges;
    struct ev last;
};

static uint64_t bar_read(void *dev, uint32_t bar, uint32_t offset, uint32_t width)
{
    struct fixture *f = dev;

    f->reason = 0;
    return offset == 0 && width == 4 ? f->reg[bar] : 0;
}

static void bar_write(void *dev, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value)
{
    struct fixture *f = dev;

    if (offset == 0 && width == 4)
        f->reg[bar] = (uint32_t)value;
}

static uint32_t reg_bytes(uint32_t bar, uint32_t offset)
{
    return bar == 4 && offset == 0 ? 4 : 0;
}

static uint32_t get(const void *dev, uint32_t field)
{
    const struct fixture *f = dev;

    return field == PCI_ACCESS_DATA ? f->data : 0;
}

static uint32_t read_field(void *dev, uint32_t field)
{
    ((struct fixture *)dev)->n_read++;
    return get(dev, field);
}

static void put(void *dev, uint32_t field, uint32_t value)
{
    assert_int_equal(field, PCI_ACCESS_DATA);
    ((struct fixture *)dev)->data = value;
}

static void mastering(void *dev, bool on)
{
    struct fixture *f = dev;

    f->n_masters++;
    f->master = on;
}

static void reset(void *dev)
{
    ((struct fixture *)dev)->n_reset++;
}

static void interrupt(void *dev, uint32_t queue)
{
    ((struct fixture *)dev)->reason = queue + 1;
}

static bool has_reason(const void *dev)
{
    return ((const struct fixture *)dev)->reason != 0;
}

static const struct pci_fn_ops ops = {
    .bar_read = bar_read,
    .bar_write = bar_write,
    .reg_bytes = reg_bytes,
    .get = get,
    .read = read_field,
    .put = put,
    .mastering = mastering,
    .reset = reset,
    .interrupt = interrupt,
    .has_reason = has_reason,
};

static const struct pci_place places[] = {
    {AT_VENDOR, PCI_ACCESS_CAP, PCI_CAP_ID_VENDOR, 0, false},
    {AT_VENDOR + 1, PCI_ACCESS_NEXT, AT_EXPRESS, 0, false},
    {AT_VENDOR + 2, PCI_ACCESS_LEN, 8, 0, false},
    {AT_VENDOR + 4, PCI_ACCESS_DATA, 0, 0xffff00ff, true},
    FN_PLACES_EXPRESS(AT_EXPRESS, AT_MSIX),
    FN_PLACES_MSIX(AT_MSIX, 0),
};

static void on_irq(void *ctx, struct sim_item item)
{
    struct fixture *f = ctx;
    struct fn_message m;

    assert_false(fn_take_message(&f->fn, fn_irq_of(item.arg), &m));
    f->n_edges++;
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {[SIM_IRQ] = on_irq};

static void on_event(void *ctx, const struct ev *e)
{
    ((struct fixture *)ctx)->last = *e;
}

static int set_up(void **state)
{
    const struct fn_config config = {
        .host = 2,
        .function = FN_RDMA,
        .slot = {.number = 5},
        .vendor = 0x15ad,
        .device = 0x0820,
        .subsystem_vendor = 0x1111,
        .subsystem = 0x2222,
        .revision = 7,
        .class_code = 0x028001,
        .config_bytes = PCI_CONFIG_BYTES_EXPRESS,
        .bar_bytes = {[1] = 100, [4] = 5000},
        .msix_bar = 0,
        .n_vectors = N_VECTORS,
        .places = places,
        .n_places = ARRAY_LEN(places),
    };
    struct fixture *f = test_calloc(1, sizeof(*f));

    sim_rig_init(&f->rig, handlers, on_event, f);
    fn_init(&f->fn, f->rig.arena, &f->rig.sim, &config, &ops, f);
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

static uint32_t cfg(struct fixture *f, uint32_t offset, uint32_t width)
{
    return fn_config_read(&f->fn, offset, width);
}

static void a_function_says_who_it_is(void **state)
{
    static const struct {
        uint32_t offset, width, want;
    } rows[] = {
        {PCI_VENDOR_ID, 4, 0x082015ad},
        {PCI_REVISION_ID, 4, 0x02800107},
        {PCI_HEADER_TYPE, 1, 0}, /* alone in its slot */
        {PCI_SUBSYSTEM_VENDOR_ID, 4, 0x22221111},
        {PCI_CAPABILITIES, 1, AT_VENDOR},
        {PCI_INTERRUPT_PIN, 1, 2}, /* function 5: there are four pins */
        {AT_VENDOR, 4, 0x00085009},
        {AT_EXPRESS, 4, 0x0092a010},
        {AT_EXPRESS + 4, 4, 0x10008000},
        {AT_EXPRESS + 8, 4, 0x00002810},
        {AT_EXPRESS + 12, 4, 0}, /* no link */
        {AT_MSIX, 4, 0x00020011},
        {AT_MSIX + 4, 4, 0},
        {AT_MSIX + 8, 4, 0x800},
        {0x100, 4, 0}, /* no extended capabilities */
        {0xffc, 4, 0},
        {0x1000, 4, UINT32_MAX}, /* beyond the end */
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(cfg(f, rows[i].offset, rows[i].width), rows[i].want);
}

static void bars_are_those_that_the_device_has(void **state)
{
    static const uint32_t sizes[PCI_BARS] = {0x1000, 0x1000, 0, 0, 0x2000, 0};
    struct fixture *f = *state;

    for (uint32_t i = 0; i < PCI_BARS; i++) {
        const uint32_t at = 0xfe000000u + 0x10000 * i;
        uint32_t bar, offset;

        fn_config_write(&f->fn, PCI_BAR0 + 4 * i, 4, UINT32_MAX);
        assert_int_equal(cfg(f, PCI_BAR0 + 4 * i, 4), sizes[i] ? ~(sizes[i] - 1) : 0);
        fn_config_write(&f->fn, PCI_BAR0 + 4 * i, 4, at);
        fn_config_write(&f->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY);
        assert_int_equal(fn_decode(&f->fn, at + 0x10, &bar, &offset), sizes[i] != 0);
        if (sizes[i]) {
            assert_int_equal(bar, i);
            assert_int_equal(offset, 0x10);
        }
        fn_bar_write(&f->fn, i, 0, 4, 0x100 + i);
        assert_int_equal(fn_bar_read(&f->fn, i, 0, 4), sizes[i] ? 0x100 + i : 0);
    }
    assert_int_equal(f->reg[0], 0); /* MSI-X is not the device's */
    assert_int_equal(fn_reg_bytes(&f->fn, 0, 8), 4);
    assert_int_equal(fn_reg_bytes(&f->fn, 4, 0), 4);
    assert_int_equal(fn_reg_bytes(&f->fn, 4, 4), 0);
}

/* The device sees accesses of its own fields, and only the bits that can be written. */
static void a_field_of_the_device_is_the_devices(void **state)
{
    struct fixture *f = *state;

    fn_config_write(&f->fn, AT_VENDOR + 4, 4, 0x12345678);
    assert_int_equal(f->data, 0x12340078);
    fn_config_write(&f->fn, AT_VENDOR + 6, 2, 0xabcd);
    assert_int_equal(f->data, 0xabcd0078);
    assert_int_equal(fn_config_peek(&f->fn, AT_VENDOR + 4, 4), 0xabcd0078u);
    assert_int_equal(f->n_read, 0);
    assert_int_equal(cfg(f, AT_VENDOR + 6, 2), 0xabcd);
    assert_int_equal(f->n_read, 1);
    assert_int_equal(f->last.kind, EV_cfg_read);
    assert_int_equal(f->last.u.cfg_read.field, PCI_ACCESS_DATA);
    assert_int_equal(f->last.u.cfg_read.offset, AT_VENDOR + 6);
}

static void a_field_is_found_where_the_function_has_it(void **state)
{
    static const struct {
        enum pci_field field;
        bool there;
        uint32_t at, bytes;
    } rows[] = {
        {PCI_CLASS_CODE, true, PCI_CLASS_CODE, 3},
        {PCI_BAR5, true, PCI_BAR5, 4},
        {PCI_MSIX_CONTROL, true, AT_MSIX + 2, 2},
        {PCI_EXPRESS_CONTROL, true, AT_EXPRESS + 8, 2},
        {PCI_EXPRESS_CAPS, true, AT_EXPRESS + 4, 4},
        {PCI_ACCESS_DATA, true, AT_VENDOR + 4, 4},
        {PCI_COMMON_CAP, false, 0, 0},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t at;

        assert_int_equal(fn_find_field(&f->fn, rows[i].field, &at), rows[i].there);
        if (!rows[i].there)
            continue;
        assert_int_equal(at, rows[i].at);
        assert_int_equal(fn_field_bytes(&f->fn, at), rows[i].bytes);
    }
    assert_int_equal(fn_field_bytes(&f->fn, 0x60), 1);
}

/* Function level reset: Device Control keeps its bits, but for the one that resets. */
static void device_control_resets_the_function(void **state)
{
    struct fixture *f = *state;

    fn_config_write(&f->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    fn_config_write(&f->fn, PCI_BAR0 + 4, 4, 0xfe000000u);
    fn_config_write(&f->fn, AT_EXPRESS + 8, 2, 0x7fff);
    assert_int_equal(cfg(f, AT_EXPRESS + 8, 2), 0x78ff);
    assert_int_equal(f->n_reset, 0);
    assert_true(f->master);
    fn_config_write(&f->fn, AT_EXPRESS + 9, 1, 0x80); /* the upper byte alone */
    assert_int_equal(f->n_reset, 1);
    assert_false(f->master);
    assert_int_equal(cfg(f, AT_EXPRESS + 8, 2), 0x28f0); /* the size of payloads stays */
    assert_int_equal(cfg(f, PCI_COMMAND, 2), 0);
    assert_int_equal(cfg(f, PCI_BAR0 + 4, 4), 0);
    fn_config_write(&f->fn, AT_EXPRESS + 8, 2, 0x8000);
    assert_int_equal(f->n_reset, 2);
    assert_int_equal(cfg(f, AT_EXPRESS + 8, 2), 0x2810);
}

/* The device hears of each change, and of nothing else. */
static void mastering_is_told_when_it_changes(void **state)
{
    struct fixture *f = *state;

    fn_config_write(&f->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY);
    assert_int_equal(f->n_masters, 0);
    fn_config_write(&f->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    fn_config_write(&f->fn, PCI_COMMAND, 2, PCI_CMD_MASTER);
    assert_int_equal(f->n_masters, 1);
    assert_true(f->master);
    fn_config_write(&f->fn, PCI_COMMAND, 2, 0);
    assert_int_equal(f->n_masters, 2);
    assert_false(f->master);
}

/* Fields beyond the header have numbers of their own, which are no offsets: an access between
 * fields must not have the number of one.
 */
static void an_access_of_no_field_has_the_number_of_none(void **state)
{
    static const uint32_t offsets[] = {0x44, 0x64, 0x70, 0xf0};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
        (void)fn_config_read(&f->fn, offsets[i], 4);
        assert_int_equal(f->last.u.cfg_read.offset, offsets[i]);
        assert_null(enum_by_value(&enum_pci_field, f->last.u.cfg_read.field));
    }
}

/* The line is as high as the device's reason lasts; status and line agree. */
static void the_line_follows_the_devices_reason(void **state)
{
    struct fixture *f = *state;

    fn_raise(&f->fn, 0, 9);
    assert_int_equal(f->reason, 10);
    assert_true(fn_line_is_high(&f->fn));
    assert_int_equal(cfg(f, PCI_STATUS, 2), PCI_STS_CAP_LIST | PCI_STS_INTERRUPT);
    while (sim_next_ns(&f->rig.sim) != UINT64_MAX)
        sim_dispatch(&f->rig.sim);
    assert_int_equal(f->n_edges, 1);
    (void)fn_bar_read(&f->fn, 1, 0, 4); /* the driver takes the reason */
    assert_false(fn_line_is_high(&f->fn));
    assert_int_equal(cfg(f, PCI_STATUS, 2), PCI_STS_CAP_LIST);
}

static void the_argument_of_an_interrupt_has_all_its_parts(void **state)
{
    static const struct fn_irq rows[] = {
        {0, 0, 0, 0},
        {7, FN_VECTORS_MAX - 1, FN_QUEUES_MAX - 1, (1u << 27) - 1},
        {1, FN_LINE, FN_NO_QUEUE, 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct fn_irq irq = fn_irq_of(fn_irq_arg(rows[i]));

        assert_memory_equal(&irq, &rows[i], sizeof(irq));
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_function_says_who_it_is),
        T(bars_are_those_that_the_device_has),
        T(a_field_of_the_device_is_the_devices),
        T(a_field_is_found_where_the_function_has_it),
        T(device_control_resets_the_function),
        T(mastering_is_told_when_it_changes),
        T(an_access_of_no_field_has_the_number_of_none),
        T(the_line_follows_the_devices_reason),
        cmocka_unit_test(the_argument_of_an_interrupt_has_all_its_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
