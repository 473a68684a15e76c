/* SPDX-License-Identifier: MIT */
/* A kernel enumerates its slot, and a driver of any device probes and enables its function. */
#include "emu/facts/enum/pci_field.h"
#include "guest/slot.h"

#define IDS         PCI_IDS(0x15ad, 0x0820)
#define VENDORS_MAX 4u

struct fixture {
    struct fake_slot slot;
    struct guest_pci pci;
    uint32_t vendor_at[VENDORS_MAX], n_vendors; /* offsets of vendor-specific capabilities */
};

/* A function with the capabilities: vendor at 0xd0, MSI-X at 0xb0, vendor at 0x90. */
static struct slot_function *put_function(struct fixture *f, uint32_t number)
{
    struct slot_function *s = slot_add(&f->slot, number, IDS);

    s->config[PCI_CAPABILITIES] = 0xd0;
    s->config[0xd0] = PCI_CAP_ID_VENDOR;
    s->config[0xd1] = 0xb0;
    slot_msix(s, 0xb0, 0x90);
    s->config[0x90] = PCI_CAP_ID_VENDOR;
    return s;
}

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    slot_init(&f->slot, &f->pci);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    test_free(*state);
    return 0;
}

static void note_vendor(void *ctx, uint32_t at)
{
    struct fixture *f = ctx;

    if (f->n_vendors < VENDORS_MAX)
        f->vendor_at[f->n_vendors] = at;
    f->n_vendors++;
}

/* Enumerates the slot, then probes and enables the function with IDS. */
static void probe(struct fixture *f)
{
    const struct pci_slot_function *found;

    pci_scan(&f->slot.bus);
    found = pci_find(&f->slot.bus, IDS);
    assert_non_null(found);
    pci_probe(&f->pci, found, note_vendor, f);
    pci_enable(&f->pci);
}

static void an_empty_slot_has_nobody(void **state)
{
    struct fixture *f = *state;

    pci_scan(&f->slot.bus);
    assert_null(pci_find(&f->slot.bus, IDS));
    assert_int_equal(f->slot.bus.n_functions, 0);
    assert_int_equal(f->slot.n_absent, 1);
}

static void other_functions_are_looked_for_if_the_first_says_so(void **state)
{
    struct fixture *f = *state;

    put_function(f, 0);
    put_function(f, 3);
    pci_scan(&f->slot.bus);
    assert_int_equal(f->slot.bus.n_functions, 1);
    f->slot.functions[0].config[PCI_HEADER_TYPE] = PCI_HEADER_SEVERAL;
    pci_scan(&f->slot.bus);
    assert_int_equal(f->slot.bus.n_functions, 2);
    assert_int_equal(f->slot.bus.functions[1].number, 3);
}

/* A driver recognises its function by both IDs. */
static void a_function_is_found_by_vendor_and_device(void **state)
{
    struct fixture *f = *state;

    slot_add(&f->slot, 0, PCI_IDS(0x15ad, 0x0821))->config[PCI_HEADER_TYPE] = PCI_HEADER_SEVERAL;
    slot_add(&f->slot, 1, PCI_IDS(0x15ae, 0x0820));
    slot_add(&f->slot, 2, IDS);
    pci_scan(&f->slot.bus);
    assert_int_equal(pci_find(&f->slot.bus, IDS)->number, 2);
    assert_null(pci_find(&f->slot.bus, PCI_IDS(0x15ae, 0x0821)));
}

static void bars_lie_at_multiples_of_their_size_and_apart(void **state)
{
    static const uint32_t sizes[PCI_BARS] = {0x1000, 0x40000, 0, 0x2000, 0x80, 0x10};
    struct fixture *f = *state;
    struct slot_function *s = put_function(f, 0);
    const struct pci_slot_function *found;

    memcpy(s->bar_bytes, sizes, sizeof(sizes));
    s->config[PCI_BAR5] = 1; /* I/O space */
    pci_scan(&f->slot.bus);
    found = pci_find(&f->slot.bus, IDS);
    assert_non_null(found);
    for (uint32_t i = 0; i < PCI_BARS; i++) {
        if (sizes[i] == 0 || i == 5) {
            assert_int_equal(found->bar_bytes[i], 0);
            continue;
        }
        assert_int_equal(found->bar_bytes[i], sizes[i]);
        assert_true(found->bar[i] >= PCI_MEMORY_FIRST && found->bar[i] % sizes[i] == 0);
        assert_int_equal(ld_le32(s->config + PCI_BAR0 + 4 * i), found->bar[i]);
        for (uint32_t k = 0; k < i; k++)
            assert_true(found->bar[k] + sizes[k] <= found->bar[i] || sizes[k] == 0);
    }
}

static void a_place_is_within_its_bar(void **state)
{
    struct fixture *f = *state;
    uint64_t base;

    put_function(f, 0);
    probe(f);
    base = f->pci.found->bar[0];
    assert_int_equal(pci_bar_place(&f->pci, 0, 0, SLOT_BAR_BYTES), base);
    assert_int_equal(pci_bar_place(&f->pci, 0, SLOT_BAR_BYTES - 4, 4), base + SLOT_BAR_BYTES - 4);
    assert_int_equal(pci_bar_place(&f->pci, 0, SLOT_BAR_BYTES - 4, 5), 0);
    assert_int_equal(pci_bar_place(&f->pci, 0, SLOT_BAR_BYTES + 4, 0), 0);
    assert_int_equal(pci_bar_place(&f->pci, 0, 4, UINT32_MAX), 0);
    assert_int_equal(pci_bar_place(&f->pci, 1, 0, 4), 0);
    assert_int_equal(pci_bar_place(&f->pci, PCI_BARS, 0, 4), 0);
}

static void a_driver_follows_the_list_wherever_it_leads(void **state)
{
    struct fixture *f = *state;
    const struct slot_function *s = put_function(f, 0);
    uint64_t table;

    probe(f);
    assert_int_equal(f->n_vendors, 2);
    assert_int_equal(f->vendor_at[0], 0xd0);
    assert_int_equal(f->vendor_at[1], 0x90);
    assert_int_equal(ld_le16(s->config + PCI_COMMAND), PCI_CMD_MEMORY | PCI_CMD_MASTER);

    assert_int_equal(f->pci.n_vectors, 2);
    assert_false(pci_uses_line(&f->pci));
    assert_int_equal(ld_le16(s->config + 0xb2), MSIX_ENABLE);
    table = f->pci.found->bar[0] + SLOT_MSIX_OFFSET;
    assert_int_equal(f->slot.n_written, 8);
    assert_int_equal(f->slot.at[0], table);
    assert_int_equal(f->slot.value[0], MSI_ADDRESS);
    assert_int_equal(f->slot.at[6], table + MSIX_ENTRY_BYTES + MSIX_DATA);
    assert_int_equal(f->slot.value[6], 1);
    assert_int_equal(f->slot.value[7], 0);
}

/* The low two bits of a pointer to a capability are reserved.  [PCI 3.0, 6.7] */
static void reserved_bits_of_a_pointer_lead_nowhere_else(void **state)
{
    struct fixture *f = *state;
    struct slot_function *s = put_function(f, 0);

    s->config[PCI_CAPABILITIES] |= 3;
    s->config[0xd1] |= 1;
    s->config[0xb1] |= 2;
    probe(f);
    assert_int_equal(f->n_vendors, 2);
    assert_int_equal(f->vendor_at[0], 0xd0);
    assert_int_equal(f->vendor_at[1], 0x90);
    assert_int_equal(f->pci.n_vectors, 2);
}

/* A function may access no memory before its driver enables it. */
static void probing_enables_no_bus_mastering(void **state)
{
    struct fixture *f = *state;
    const struct slot_function *s = put_function(f, 0);

    pci_scan(&f->slot.bus);
    pci_probe(&f->pci, pci_find(&f->slot.bus, IDS), NULL, NULL);
    assert_int_equal(ld_le16(s->config + PCI_COMMAND), PCI_CMD_MEMORY);
    assert_int_equal(f->pci.n_vectors, 2);
    assert_int_equal(f->slot.n_written, 0);
}

static void a_list_can_be_missing_or_go_in_a_circle(void **state)
{
    struct fixture *f = *state;
    struct slot_function *s = put_function(f, 0);

    s->config[0x91] = 0xb0;
    probe(f);
    assert_int_equal(f->pci.n_vectors, 2);
    assert_true(f->n_vendors > 2 && f->n_vendors <= PCI_CAPS_MAX);
    slot_init(&f->slot, &f->pci);
    f->n_vendors = 0;
    st_le16(put_function(f, 0)->config + PCI_STATUS, 0);
    probe(f);
    assert_int_equal(f->n_vendors, 0);
    assert_true(pci_uses_line(&f->pci));
}

static void without_msix_the_line_is_like_one_vector(void **state)
{
    struct fixture *f = *state;

    put_function(f, 0)->config[0xb0] = 0x05; /* MSI, which no driver here knows */
    assert_false(pci_uses_line(&f->pci));
    probe(f);
    assert_true(pci_uses_line(&f->pci));
    assert_int_equal(f->pci.n_vectors, 1);
    assert_int_equal(f->slot.n_written, 0);
}

static void a_driver_can_prefer_the_line(void **state)
{
    struct fixture *f = *state;
    const struct slot_function *s = put_function(f, 0);

    f->pci.use_line = true;
    probe(f);
    assert_true(pci_uses_line(&f->pci));
    assert_int_equal(f->pci.n_vectors, 1);
    assert_int_equal(ld_le16(s->config + 0xb2) & MSIX_ENABLE, 0);
}

static void a_table_outside_its_bar_is_no_msix(void **state)
{
    struct fixture *f = *state;

    st_le16(put_function(f, 0)->config + 0xb2, MSIX_SIZE_MASK); /* 2048 entries do not fit */
    probe(f);
    assert_true(pci_uses_line(&f->pci));
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_empty_slot_has_nobody),
        T(other_functions_are_looked_for_if_the_first_says_so),
        T(a_function_is_found_by_vendor_and_device),
        T(bars_lie_at_multiples_of_their_size_and_apart),
        T(a_place_is_within_its_bar),
        T(a_driver_follows_the_list_wherever_it_leads),
        T(reserved_bits_of_a_pointer_lead_nowhere_else),
        T(probing_enables_no_bus_mastering),
        T(a_list_can_be_missing_or_go_in_a_circle),
        T(without_msix_the_line_is_like_one_vector),
        T(a_driver_can_prefer_the_line),
        T(a_table_outside_its_bar_is_no_msix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
