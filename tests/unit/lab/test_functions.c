/* SPDX-License-Identifier: MIT */
/* A host whose slot has one function more than a lab gives it: its registers, doorbells and
 * interrupts are its own.
 */
#include "testing.h"

#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/lab/bus.h"
#include "emu/lab/lab_state.h"
#include "emu/trace/event.h"
#include "rdmalab/pci.h"

#define NUMBER    5u /* of the function in its slot */
#define AT_MSIX   0x40u
#define BAR       2u
#define BAR_AT    0xfe000000u
#define BAR_BYTES 4096u
#define MSIX_BAR  4u
#define MSIX_AT   0xfe100000u
#define RAM_AT    0x3000u /* where a message that is no interrupt goes */

struct plain {
    struct pci_fn fn;
    uint32_t reg; /* its only register */
    uint32_t n_doorbells, queue;
};

static uint64_t bar_read(void *dev, uint32_t bar, uint32_t offset, uint32_t width)
{
    const struct plain *p = dev;

    return bar == BAR && offset == 0 && width == 4 ? p->reg : 0;
}

static void bar_write(void *dev, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value)
{
    struct plain *p = dev;

    if (bar == BAR && offset == 0 && width == 4)
        p->reg = (uint32_t)value;
}

static void mastering(void *dev, bool on)
{
    (void)dev;
    (void)on;
}

static void reset(void *dev)
{
    ((struct plain *)dev)->reg = 0;
}

static void interrupt(void *dev, uint32_t queue)
{
    (void)dev;
    (void)queue;
}

static bool has_reason(const void *dev)
{
    (void)dev;
    return false;
}

static void doorbell(void *dev, uint32_t queue)
{
    struct plain *p = dev;

    p->n_doorbells++;
    p->queue = queue;
}

static const struct pci_fn_ops plain_ops = {
    .bar_read = bar_read,
    .bar_write = bar_write,
    .mastering = mastering,
    .reset = reset,
    .interrupt = interrupt,
    .has_reason = has_reason,
    .doorbell = doorbell,
};

static const struct pci_place places[] = {FN_PLACES_MSIX(AT_MSIX, 0)};

struct fixture {
    struct rdl_lab *lab;
    rdl_host host;
    struct host *h;
    struct plain *plain;
    struct ev last; /* interrupt */
};

static void on_event(void *ctx, const struct ev *e)
{
    if (e->kind == EV_irq)
        ((struct fixture *)ctx)->last = *e;
}

static void put(struct fixture *f, enum rdl_pci_space space, uint32_t offset, uint32_t width,
                uint64_t value)
{
    const struct rdl_pci_place place = {NUMBER, space, offset, width};

    assert_int_equal(rdl_pci_write(f->lab, f->host, &place, value), RDL_OK);
}

static uint64_t get(struct fixture *f, uint32_t number, enum rdl_pci_space space, uint32_t offset,
                    uint32_t width)
{
    const struct rdl_pci_place place = {number, space, offset, width};
    uint64_t v;

    assert_int_equal(rdl_pci_read(f->lab, f->host, &place, &v), RDL_OK);
    return v;
}

static int set_up(void **state)
{
    const struct rdl_lab_config config = {.seed = 1};
    const struct rdl_host_config host = {.name = "h1"};
    const struct fn_config fn = {
        .function = FN_RDMA,
        .slot = {.number = NUMBER, .multifunction = true},
        .vendor = 0x1234,
        .device = 0x5678,
        .config_bytes = PCI_CONFIG_BYTES,
        .bar_bytes[BAR] = BAR_BYTES,
        .msix_bar = MSIX_BAR,
        .n_vectors = 2,
        .places = places,
        .n_places = 5,
    };
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct lab_state *w;

    assert_int_equal(rdl_lab_new(&config, &f->lab), RDL_OK);
    assert_int_equal(rdl_host_add(f->lab, &host, &f->host), RDL_OK);
    w = f->lab->state;
    f->h = w->hosts[0];
    f->plain = arena_alloc(w->arena, sizeof(*f->plain));
    fn_init(&f->plain->fn, w->arena, &w->sim, &fn, &plain_ops, f->plain);
    host_plug(f->h, &f->plain->fn);
    put(f, RDL_PCI_CONFIG, PCI_BAR0 + 4 * BAR, 4, BAR_AT);
    put(f, RDL_PCI_CONFIG, PCI_BAR0 + 4 * MSIX_BAR, 4, MSIX_AT);
    put(f, RDL_PCI_CONFIG, PCI_COMMAND, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    rdl_lab_free(f->lab);
    test_free(f);
    return 0;
}

static void a_function_answers_at_its_number_and_its_addresses(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(get(f, NUMBER, RDL_PCI_CONFIG, PCI_VENDOR_ID, 4), 0x56781234);
    assert_int_equal(get(f, pci_number_of(FN_NET), RDL_PCI_CONFIG, PCI_VENDOR_ID, 2), 0x1af4);
    put(f, RDL_PCI_BAR0 + BAR, 0, 4, 77);
    assert_int_equal(f->plain->reg, 77);
    assert_int_equal(get(f, NUMBER, RDL_PCI_BAR0 + BAR, 0, 4), 77);
    assert_int_equal(host_bus.config_read(f->h, NUMBER - 1, PCI_VENDOR_ID, 4), UINT32_MAX);
    assert_int_equal(host_bus.config_read(f->h, FN_NUMBERS, PCI_VENDOR_ID, 4), UINT32_MAX);
}

static void a_doorbell_reaches_the_function_that_rang(void **state)
{
    struct fixture *f = *state;

    fn_ring_doorbell(&f->plain->fn, 0xfffffffe, 10);
    assert_int_equal(rdl_run(f->lab, RDL_NEVER, (struct rdl_limits){0}), RDL_OK);
    assert_int_equal(f->plain->n_doorbells, 1);
    assert_int_equal(f->plain->queue, 0xfffffffe);
}

/* Vector 0 interrupts the processor with the function's number, and no driver is there.  Vector 1
 * writes to RAM.
 */
static void a_message_is_of_the_function_that_sent_it(void **state)
{
    struct fixture *f = *state;
    const uint64_t before = guest_irqs(&f->h->guest);
    struct rdl_listener *listener;
    uint8_t ram[4] = {0};

    assert_int_equal(rdl_listen(f->lab, on_event, f, &listener), RDL_OK);
    put(f, RDL_PCI_CONFIG, AT_MSIX + MSIX_AT_CONTROL, 2, MSIX_ENABLE);
    put(f, RDL_PCI_BAR0 + MSIX_BAR, 0, 8, MSI_ADDRESS | NUMBER << MSI_CPU_SHIFT);
    put(f, RDL_PCI_BAR0 + MSIX_BAR, 12, 4, 0);
    put(f, RDL_PCI_BAR0 + MSIX_BAR, 16, 8, RAM_AT);
    put(f, RDL_PCI_BAR0 + MSIX_BAR, 24, 4, 0x12345678);
    put(f, RDL_PCI_BAR0 + MSIX_BAR, 28, 4, 0);
    fn_raise(&f->plain->fn, 0, 3);
    assert_int_equal(rdl_run(f->lab, RDL_NEVER, (struct rdl_limits){0}), RDL_OK);
    assert_int_equal(f->last.u.irq.vector, 0);
    assert_int_equal(f->last.u.irq.queue, 3);
    assert_int_equal(guest_irqs(&f->h->guest), before);
    fn_raise(&f->plain->fn, 1, 4);
    assert_int_equal(rdl_run(f->lab, RDL_NEVER, (struct rdl_limits){0}), RDL_OK);
    assert_int_equal(f->last.u.irq.vector, 1);
    assert_int_equal(rdl_ram_read(f->lab, f->host, RAM_AT, ram, sizeof(ram)), RDL_OK);
    assert_memory_equal(ram, "\x78\x56\x34\x12", sizeof(ram));
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_function_answers_at_its_number_and_its_addresses),
        T(a_doorbell_reaches_the_function_that_rang),
        T(a_message_is_of_the_function_that_sent_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
