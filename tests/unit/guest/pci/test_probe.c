/* SPDX-License-Identifier: MIT */
/* A kernel enumerates its slot and a driver probes its function, including malformed functions. */
#include "testing.h"

#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/pci.h"
#include "emu/guest/pci/pci.h"

#define N_FUNCTIONS 8u
#define TABLE_WORDS 64u
#define RDMA_IDS    0x106a1af4u

struct slot_function {
    bool there;
    uint8_t config[PCI_CONFIG_BYTES];
    uint32_t bar_bytes[PCI_BARS];
};

struct fixture {
    struct slot_function functions[N_FUNCTIONS];
    uint32_t n_config; /* accesses of functions that are not there */
    uint64_t at[TABLE_WORDS];
    uint32_t value[TABLE_WORDS], n_written;
    struct pci_bus bus;
    struct guest_pci pci;
};

static uint32_t config_read(void *ctx, uint32_t number, uint32_t offset, uint32_t width)
{
    struct fixture *f = ctx;
    uint8_t le[4] = {0};

    assert_true(number < N_FUNCTIONS && offset % width == 0 && offset < PCI_CONFIG_BYTES);
    if (!f->functions[number].there) {
        f->n_config++;
        return UINT32_MAX;
    }
    memcpy(le, f->functions[number].config + offset, width);
    return ld_le32(le);
}

static void config_write(void *ctx, uint32_t number, uint32_t offset, uint32_t width,
                         uint32_t value)
{
    struct slot_function *s = &((struct fixture *)ctx)->functions[number];
    uint8_t le[4];

    assert_true(s->there);
    if (offset >= PCI_BAR0 && offset <= PCI_BAR5) {
        const uint32_t i = (offset - PCI_BAR0) / 4;
        const uint32_t low = ld_le32(s->config + offset) & 0xfu;

        value = s->bar_bytes[i] ? (value & ~(s->bar_bytes[i] - 1)) | low : 0;
    }
    st_le32(le, value);
    memcpy(s->config + offset, le, width);
}

static uint64_t mem_read(void *ctx, uint64_t gpa, uint32_t width)
{
    (void)ctx;
    (void)gpa;
    return UINT64_MAX >> (64 - 8 * width);
}

static void mem_write(void *ctx, uint64_t gpa, uint32_t width, uint64_t value)
{
    struct fixture *f = ctx;

    assert_int_equal(width, 4);
    assert_true(f->n_written < TABLE_WORDS);
    f->at[f->n_written] = gpa;
    f->value[f->n_written++] = (uint32_t)value;
}

static const struct guest_bus bus = {config_read, config_write, mem_read, mem_write};

/* A capability of virtio at @at. */
static void put_cap(struct slot_function *s, uint32_t at, uint32_t next, uint32_t type,
                    uint32_t offset, uint32_t length)
{
    uint8_t *c = s->config + at;

    c[0] = PCI_CAP_ID_VENDOR;
    c[1] = (uint8_t)next;
    c[2] = VIRTIO_CAP_BYTES;
    c[3] = (uint8_t)type;
    st_le32(c + 8, offset);
    st_le32(c + 12, length);
}

/* A function that a driver can use, with places that are not the lab's: everything in BAR 0, the
 * list backwards, MSI-X of two vectors in the middle of it.
 */
static struct slot_function *put_function(struct fixture *f, uint32_t number)
{
    struct slot_function *s = &f->functions[number];

    s->there = true;
    s->bar_bytes[0] = 0x4000;
    st_le32(s->config, RDMA_IDS);
    st_le16(s->config + PCI_STATUS, PCI_STS_CAP_LIST);
    s->config[PCI_CAPABILITIES] = 0xd0;
    put_cap(s, 0xd0, 0xc0, VIRTIO_CAP_DEVICE, 0x3000, 0x280);
    put_cap(s, 0xc0, 0xb0, VIRTIO_CAP_ISR, 0x2000, 1);
    s->config[0xb0] = PCI_CAP_ID_MSIX;
    s->config[0xb1] = 0x90;
    st_le16(s->config + 0xb2, 1);
    st_le32(s->config + 0xb4, 0x3800);
    st_le32(s->config + 0xb8, 0x3c00);
    put_cap(s, 0x90, 0x80, VIRTIO_CAP_NOTIFY, 0x1000, 0x400);
    st_le32(s->config + 0xa0, 16);
    put_cap(s, 0x80, 0, VIRTIO_CAP_COMMON, 0, 56);
    return s;
}

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->bus = (struct pci_bus){.bus = &bus, .ctx = f};
    f->pci = (struct guest_pci){.bus = &bus, .bus_ctx = f, .slot = &f->bus};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    test_free(*state);
    return 0;
}

static enum rdl_status probe(struct fixture *f)
{
    pci_scan(&f->bus);
    return pci_probe(&f->pci, VIRTIO_ID_RDMA);
}

static void an_empty_slot_has_nobody(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(probe(f), RDL_ERR_UNSUPPORTED);
    assert_int_equal(f->bus.n_functions, 0);
    assert_int_equal(f->n_config, 1);
}

static void other_functions_are_looked_for_if_the_first_says_so(void **state)
{
    struct fixture *f = *state;

    put_function(f, 0);
    put_function(f, 3);
    pci_scan(&f->bus);
    assert_int_equal(f->bus.n_functions, 1);
    f->functions[0].config[PCI_HEADER_TYPE] = 0x80;
    pci_scan(&f->bus);
    assert_int_equal(f->bus.n_functions, 2);
    assert_int_equal(f->bus.functions[1].number, 3);
}

static void bars_lie_at_multiples_of_their_size_and_apart(void **state)
{
    static const uint32_t sizes[PCI_BARS] = {0x1000, 0x40000, 0, 0x2000, 0x80, 0x10};
    struct fixture *f = *state;
    struct slot_function *s = put_function(f, 0);
    const struct pci_slot_function *found;

    memcpy(s->bar_bytes, sizes, sizeof(sizes));
    s->config[PCI_BAR5] = 1; /* I/O space */
    pci_scan(&f->bus);
    found = pci_find(&f->bus, VIRTIO_ID_RDMA);
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

static void a_driver_follows_the_list_wherever_it_leads(void **state)
{
    struct fixture *f = *state;
    struct slot_function *s = put_function(f, 0);
    uint64_t base;

    assert_int_equal(probe(f), RDL_OK);
    base = f->pci.found.bar[0];
    assert_int_equal(f->pci.structures[VIRTIO_CAP_COMMON].gpa, base);
    assert_int_equal(f->pci.structures[VIRTIO_CAP_NOTIFY].gpa, base + 0x1000);
    assert_int_equal(f->pci.structures[VIRTIO_CAP_ISR].gpa, base + 0x2000);
    assert_int_equal(f->pci.structures[VIRTIO_CAP_DEVICE].gpa, base + 0x3000);
    assert_int_equal(f->pci.notify_multiplier, 16);
    assert_int_equal(ld_le16(s->config + PCI_COMMAND), PCI_CMD_MEMORY | PCI_CMD_MASTER);

    assert_int_equal(f->pci.n_vectors, 2);
    assert_false(f->pci.use_line);
    assert_int_equal(ld_le16(s->config + 0xb2), MSIX_ENABLE);
    assert_int_equal(f->n_written, 8);
    assert_int_equal(f->at[0], base + 0x3800);
    assert_int_equal(f->value[0], MSI_ADDRESS);
    assert_int_equal(f->at[6], base + 0x3800 + MSIX_ENTRY_BYTES + MSIX_DATA);
    assert_int_equal(f->value[6], 1);
    assert_int_equal(f->value[7], 0);
}

static void without_msix_the_line_is_like_one_vector(void **state)
{
    struct fixture *f = *state;

    put_function(f, 0)->config[0xb0] = 0x05; /* MSI, which no driver of virtio knows */
    assert_int_equal(probe(f), RDL_OK);
    assert_true(f->pci.use_line);
    assert_int_equal(f->pci.n_vectors, 1);
    assert_int_equal(f->n_written, 0);
    assert_int_equal(pci_ask_isr(&f->pci), 0); /* all ones are no answer */
}

static void the_first_capability_of_a_type_counts(void **state)
{
    struct fixture *f = *state;
    struct slot_function *s = put_function(f, 0);

    put_cap(s, 0xe0, 0xd0, VIRTIO_CAP_DEVICE, 0x2800, 0x100);
    s->config[PCI_CAPABILITIES] = 0xe0;
    assert_int_equal(probe(f), RDL_OK);
    assert_int_equal(f->pci.structures[VIRTIO_CAP_DEVICE].gpa, f->pci.found.bar[0] + 0x2800);
}

/* Each of these lacks something; none is let to memory. */
static void a_function_without_all_structures_is_left_alone(void **state)
{
    static const struct {
        uint32_t at, bytes, value;
    } rows[] = {
        {PCI_STATUS, 2, 0},         /* says that there is no list */
        {PCI_CAPABILITIES, 1, 0},   /* the list is empty */
        {0xd1, 1, 0xd0},            /* goes in a circle */
        {0xc1, 1, 0},               /* ends too early */
        {0x83, 1, 9},               /* a type that nobody knows */
        {0xc4, 1, 1},               /* in a BAR that is not there */
        {0xc4, 1, 7},               /* in a BAR that cannot be */
        {0xc8, 4, 0x4000},          /* behind the end of the BAR */
        {0xd8, 4, 0xffffff00u},     /* the end is past all addresses */
        {0xdc, 4, 0x1001},          /* one byte too long */
        {0x8c, 4, 55},              /* the common configuration ends in the middle of a register */
        {PCI_DEVICE_ID, 2, 0x1041}, /* another device */
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture *f = *state;
        struct slot_function *s;
        uint8_t le[4];

        memset(f->functions, 0, sizeof(f->functions));
        f->pci = (struct guest_pci){.bus = &bus, .bus_ctx = f, .slot = &f->bus};
        s = put_function(f, 0);
        st_le32(le, rows[i].value);
        memcpy(s->config + rows[i].at, le, rows[i].bytes);
        assert_int_equal(probe(f), RDL_ERR_UNSUPPORTED);
        assert_int_equal(ld_le16(s->config + PCI_COMMAND) & PCI_CMD_MASTER, 0);
    }
}

static void a_table_outside_its_bar_is_no_msix(void **state)
{
    struct fixture *f = *state;
    struct slot_function *s = put_function(f, 0);

    st_le16(s->config + 0xb2, MSIX_SIZE_MASK); /* 2048 entries do not fit */
    assert_int_equal(probe(f), RDL_OK);
    assert_true(f->pci.use_line);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_empty_slot_has_nobody),
        T(other_functions_are_looked_for_if_the_first_says_so),
        T(bars_lie_at_multiples_of_their_size_and_apart),
        T(a_driver_follows_the_list_wherever_it_leads),
        T(without_msix_the_line_is_like_one_vector),
        T(the_first_capability_of_a_type_counts),
        T(a_function_without_all_structures_is_left_alone),
        T(a_table_outside_its_bar_is_no_msix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
