/* SPDX-License-Identifier: MIT */
/* A guest with the driver of a toy device: boot, and the routing of interrupts.  The machine knows
 * no device, so it takes any driver.
 */
#include "emu/base/arena.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/guest/machine/guest.h"
#include "emu/guest/verbs/driver.h"
#include "emu/trace/trace.h"
#include "guest/slot.h"

#define TOY_IDS   PCI_IDS(0x1234, 0x5678)
#define RAM_BYTES (1u << 20)

/* The state of the toy driver.  @calls has a letter for each call. */
struct toy {
    struct guest_pci pci;
    struct verbs *verbs;
    char calls[16];
    uint32_t n_calls;
    uint32_t vector;            /* of the last message */
    bool has_interrupted;       /* the function asserts INTx */
    enum rdl_status boot_fails; /* the result of boot() */
};

static void note(struct toy *t, char call)
{
    assert_true(t->n_calls + 1 < sizeof(t->calls));
    t->calls[t->n_calls++] = call;
}

static bool toy_init(void *driver, struct verbs *verbs, struct arena *a,
                     const struct guest_pci *pci)
{
    struct toy *t = driver;

    (void)a;
    t->pci = *pci;
    t->verbs = verbs;
    note(t, 'i');
    return true;
}

static enum rdl_status toy_boot(void *driver, const struct pci_slot_function *found)
{
    struct toy *t = driver;

    pci_probe(&t->pci, found, NULL, NULL);
    pci_enable(&t->pci);
    note(t, 'b');
    return t->boot_fails;
}

static enum rdl_status toy_start(void *driver)
{
    struct toy *t = driver;

    note(t, 's');
    verbs_boot(t->verbs);
    verbs_up(t->verbs);
    return RDL_OK;
}

static void toy_interrupt(void *driver, uint32_t vector)
{
    struct toy *t = driver;

    t->vector = vector;
    note(t, 'm');
}

static bool toy_line(void *driver)
{
    struct toy *t = driver;

    note(t, 'l');
    return t->has_interrupted;
}

static uint64_t toy_irqs(const void *driver)
{
    return ((const struct toy *)driver)->n_calls;
}

static const struct verbs_driver_ops toy_verbs = {0}; /* no test calls them */

static const struct rdma_driver toy_driver = {
    .pci = {.ids = TOY_IDS,
            .boot = toy_boot,
            .start = toy_start,
            .interrupt = toy_interrupt,
            .line = toy_line,
            .irqs = toy_irqs},
    .verbs = &toy_verbs,
    .bytes = sizeof(struct toy),
    .init = toy_init,
};

struct fixture {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace trace;
    struct ram ram;
    struct fake_slot slot;
    struct guest guest;
};

/* Makes a guest that loads @driver, not booted, on an empty slot. */
static void make(struct fixture *f, const struct rdma_driver *driver)
{
    const struct guest_config config = {
        .mac = {2, 0, 0, 0, 0, 1},
        .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}, {0xfe, 0x80, [15] = 1}},
        .bus = &slot_bus,
        .bus_ctx = &f->slot,
        .rdma = driver,
        .trace = &f->trace,
        .ram = &f->ram,
    };
    struct prng rng = prng_stream(1, 1);

    assert_true(guest_init(&f->guest, f->arena, &config, &rng));
}

static struct toy *toy_of(struct fixture *f)
{
    return f->guest.verbs.driver;
}

/* Makes a guest with the toy driver, and a slot in which the toy device is function 3. */
static struct toy *make_toy(struct fixture *f)
{
    slot_add(&f->slot, 0, PCI_IDS(1, 1))->config[PCI_HEADER_TYPE] = PCI_HEADER_SEVERAL;
    slot_add(&f->slot, 3, TOY_IDS);
    make(f, &toy_driver);
    return toy_of(f);
}

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->arena = arena_new((size_t)1 << 30);
    assert_non_null(f->arena);
    f->trace.sinks = &f->sinks;
    assert_true(ram_init(&f->ram, f->arena, RAM_BYTES));
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

static void a_driver_is_bound_to_the_function_with_its_ids(void **state)
{
    struct fixture *f = *state;
    const struct toy *t = make_toy(f);

    assert_string_equal(t->calls, "i");
    assert_false(f->guest.verbs.up);
    assert_int_equal(guest_boot(&f->guest), RDL_OK);
    assert_string_equal(t->calls, "ibs");
    assert_int_equal(t->pci.found->number, 3);
    assert_int_equal(t->pci.function, FN_RDMA);
    assert_true(f->guest.verbs.up);
    assert_int_equal(guest_irqs(&f->guest), 3);
}

static void a_driver_without_its_function_is_not_called(void **state)
{
    struct fixture *f = *state;

    slot_add(&f->slot, 0, PCI_IDS(1, 1));
    make(f, &toy_driver);
    assert_int_equal(guest_boot(&f->guest), RDL_OK);
    guest_message(&f->guest, MSI_ADDRESS, 0);
    assert_false(guest_line(&f->guest));
    assert_string_equal(toy_of(f)->calls, "i");
    assert_false(f->guest.verbs.up);
}

/* Programs of a host without an RDMA device get an error from each request. */
static void without_a_driver_the_verbs_stay_down(void **state)
{
    struct fixture *f = *state;
    struct verbs *v = &f->guest.verbs;
    struct rdl_async_event event;
    uint64_t handle, addr;
    size_t n;

    make(f, NULL);
    slot_add(&f->slot, 0, TOY_IDS);
    assert_int_equal(guest_boot(&f->guest), RDL_OK);
    assert_false(v->up);
    assert_int_equal(verbs_alloc_pd(v, NULL, &handle), RDL_ERR_NO_DEVICE);
    assert_int_equal(verbs_create_cq(v, 1, NULL, &handle), RDL_ERR_NO_DEVICE);
    assert_int_equal(verbs_create_comp_channel(v, NULL, &handle), RDL_ERR_NO_DEVICE);
    assert_int_equal(verbs_query_port(v), RDL_ERR_NO_DEVICE);
    assert_int_equal(verbs_get_async_event(v, &event, &n), RDL_ERR_NO_DEVICE);
    assert_null(verbs_qp(v, 0));
    assert_null(verbs_cq(v, 0));
    assert_null(verbs_srq(v, 0));
    assert_int_equal(verbs_mem_alloc(v, 1, &addr), RDL_OK);
    assert_int_equal(guest_irqs(&f->guest), 0);
}

static void a_failed_boot_is_the_last_call(void **state)
{
    struct fixture *f = *state;
    struct toy *t = make_toy(f);

    t->boot_fails = RDL_ERR_NOMEM;
    assert_int_equal(guest_boot(&f->guest), RDL_ERR_NOMEM);
    assert_string_equal(t->calls, "ib");
}

/* The processor of a message is the number of the function, its data the vector. */
static void a_message_goes_to_the_driver_of_its_function(void **state)
{
    struct fixture *f = *state;
    const struct toy *t = make_toy(f);

    assert_int_equal(guest_boot(&f->guest), RDL_OK);
    guest_message(&f->guest, MSI_ADDRESS | 3u << MSI_CPU_SHIFT, 70000);
    assert_string_equal(t->calls, "ibsm");
    assert_int_equal(t->vector, 70000); /* the driver ignores what it does not know */
    guest_message(&f->guest, MSI_ADDRESS, 1);
    guest_message(&f->guest, MSI_ADDRESS | 2u << MSI_CPU_SHIFT, 1);
    guest_message(&f->guest, MSI_ADDRESS | 255u << MSI_CPU_SHIFT, 1);
    assert_string_equal(t->calls, "ibsm");
}

static void a_line_that_no_driver_claims_is_masked(void **state)
{
    struct fixture *f = *state;
    struct toy *t = make_toy(f);

    assert_int_equal(guest_boot(&f->guest), RDL_OK);
    t->has_interrupted = true;
    assert_true(guest_line(&f->guest));
    assert_false(f->guest.line_is_off);
    t->has_interrupted = false;
    assert_false(guest_line(&f->guest));
    assert_true(f->guest.line_is_off);
    assert_string_equal(t->calls, "ibsll");
}

/* A guest with two RNICs of one kind: each has a driver, and verbs of its own.  Interrupts go to
 * the driver of the function that raised them.
 */
static void two_functions_of_one_kind_have_two_drivers(void **state)
{
    struct fixture *f = *state;
    struct toy *first = make_toy(f), second = {0};
    struct verbs verbs;

    slot_add(&f->slot, 6, TOY_IDS);
    verbs_init(&verbs, f->arena, &(struct verbs_config){.trace = &f->trace}, &toy_verbs, &second);
    assert_true(toy_init(&second, &verbs, f->arena, &first->pci));
    assert_true(guest_load(&f->guest, &toy_driver.pci, &second));
    assert_int_equal(guest_boot(&f->guest), RDL_OK);
    assert_int_equal(first->pci.found->number, 3);
    assert_int_equal(second.pci.found->number, 6);
    assert_true(f->guest.verbs.up && verbs.up);

    guest_message(&f->guest, MSI_ADDRESS | 6u << MSI_CPU_SHIFT, 9);
    assert_string_equal(first->calls, "ibs");
    assert_string_equal(second.calls, "ibsm");
    assert_int_equal(second.vector, 9);
    guest_message(&f->guest, MSI_ADDRESS | 3u << MSI_CPU_SHIFT, 8);
    assert_string_equal(first->calls, "ibsm");
    assert_string_equal(second.calls, "ibsm");

    second.has_interrupted = true; /* INTx: all are asked, also behind one that claims it */
    assert_true(guest_line(&f->guest));
    assert_string_equal(first->calls, "ibsml");
    assert_string_equal(second.calls, "ibsml");
}

static void a_second_driver_needs_a_second_function(void **state)
{
    struct fixture *f = *state;
    struct toy *first = make_toy(f), second = {0};

    assert_true(guest_load(&f->guest, &toy_driver.pci, &second));
    assert_int_equal(guest_boot(&f->guest), RDL_OK);
    assert_string_equal(first->calls, "ibs");
    assert_string_equal(second.calls, "");
}

static void there_are_as_many_drivers_as_functions(void **state)
{
    struct fixture *f = *state;
    struct toy more = {0};

    (void)make_toy(f);
    while (f->guest.n_drivers < PCI_FUNCTIONS_MAX)
        assert_true(guest_load(&f->guest, &toy_driver.pci, &more));
    assert_false(guest_load(&f->guest, &toy_driver.pci, &more));
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_driver_is_bound_to_the_function_with_its_ids),
        T(a_driver_without_its_function_is_not_called),
        T(without_a_driver_the_verbs_stay_down),
        T(a_failed_boot_is_the_last_call),
        T(a_message_goes_to_the_driver_of_its_function),
        T(a_line_that_no_driver_claims_is_masked),
        T(two_functions_of_one_kind_have_two_drivers),
        T(a_second_driver_needs_a_second_function),
        T(there_are_as_many_drivers_as_functions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
