/* SPDX-License-Identifier: MIT */
/* A kernel reads the SR-IOV capability of a function that may contradict itself. */
#include "testing.h"

#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/guest/pci/iov.h"

#define AT_EXPRESS 0x40u
#define OTHER      0x100u /* another extended capability */
#define AT         0x140u
#define TOTAL      4u
#define BAR_BYTES  0x2000u

/* Function 1 of the slot, as bytes. */
struct fixture {
    uint8_t config[PCI_CONFIG_BYTES_EXPRESS];
    uint32_t n_reads;
    uint32_t bar_bytes; /* of VF BAR 0, if pages are not larger */
    uint32_t n_vfs;     /* that answer, from function 8 on */
    unsigned read_vfs;  /* set of 1 << VF: those that were read */
    struct pci_bus bus;
    struct guest_iov iov;
};

static uint32_t config_read(void *ctx, uint32_t number, uint32_t offset, uint32_t width)
{
    struct fixture *f = ctx;
    uint8_t le[4] = {0};

    f->n_reads++;
    assert_true(offset % width == 0 && offset + width <= sizeof(f->config));
    if (number != 1) {
        f->read_vfs |= 1u << (number - 8);
        return number - 8 < f->n_vfs ? 0 : UINT32_MAX;
    }
    memcpy(le, f->config + offset, width);
    return ld_le32(le);
}

static void config_write(void *ctx, uint32_t number, uint32_t offset, uint32_t width,
                         uint32_t value)
{
    struct fixture *f = ctx;
    const uint32_t page = SRIOV_PAGE_BYTES * ld_le32(f->config + AT + SRIOV_AT_PAGE);
    uint8_t le[4];

    assert_int_equal(number, 1);
    if (offset == AT + SRIOV_AT_BAR0)
        value &= ~((f->bar_bytes > page ? f->bar_bytes : page) - 1);
    else if (offset > AT + SRIOV_AT_BAR0)
        value = 0;
    st_le32(le, value);
    memcpy(f->config + offset, le, width);
}

static const struct guest_bus bus = {config_read, config_write, NULL, NULL};

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->bus = (struct pci_bus){.bus = &bus, .ctx = f, .next = PCI_MEMORY_FIRST};
    f->bar_bytes = BAR_BYTES;
    f->config[PCI_CAPABILITIES] = AT_EXPRESS;
    f->config[AT_EXPRESS] = PCI_CAP_ID_EXPRESS;
    st_le32(f->config + OTHER, 0x0001 | 1u << PCI_EXT_VERSION_BIT | AT << PCI_EXT_NEXT_BIT);
    st_le32(f->config + AT, PCI_EXT_ID_SRIOV | 1u << PCI_EXT_VERSION_BIT);
    st_le16(f->config + AT + SRIOV_AT_INITIAL_VFS, TOTAL);
    st_le16(f->config + AT + SRIOV_AT_TOTAL_VFS, TOTAL);
    st_le16(f->config + AT + SRIOV_AT_FIRST_OFFSET, 7);
    st_le16(f->config + AT + SRIOV_AT_STRIDE, 1);
    st_le32(f->config + AT + SRIOV_AT_PAGES, SRIOV_PAGES_REQUIRED);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    test_free(*state);
    return 0;
}

static void the_capability_is_found_behind_another(void **state)
{
    struct fixture *f = *state;

    assert_true(iov_probe(&f->iov, &f->bus, 1));
    assert_int_equal(f->iov.at, AT);
    assert_int_equal(f->iov.total_vfs, TOTAL);
    assert_int_equal(ld_le32(f->config + AT + SRIOV_AT_PAGE), 1);
    assert_int_equal(f->iov.bar_bytes[0], BAR_BYTES);
    assert_int_equal(f->iov.bar[0], PCI_MEMORY_FIRST);
    assert_int_equal(f->bus.next, PCI_MEMORY_FIRST + TOTAL * BAR_BYTES);
    assert_int_equal(f->iov.bar_bytes[1], 0);
    assert_int_equal(iov_enable(&f->iov, 3), RDL_OK);
    assert_int_equal(ld_le16(f->config + AT + SRIOV_AT_NUM_VFS), 3);
    assert_int_equal(ld_le16(f->config + AT + SRIOV_AT_CONTROL), SRIOV_ENABLE | SRIOV_MEMORY);
    assert_int_equal(iov_add(&f->iov), 0); /* nobody answers where VFs should be */
    assert_int_equal(f->read_vfs, 7);
    f->n_vfs = TOTAL;
    assert_int_equal(iov_add(&f->iov), 3);
    iov_disable(&f->iov);
    assert_int_equal(ld_le16(f->config + AT + SRIOV_AT_CONTROL), 0);
    assert_int_equal(f->iov.n_vfs, 0);
    iov_removed(&f->iov);
    assert_int_equal(ld_le16(f->config + AT + SRIOV_AT_NUM_VFS), 0);
}

static void vfs_that_somebody_has_enabled_are_disabled(void **state)
{
    struct fixture *f = *state;

    st_le16(f->config + AT + SRIOV_AT_CONTROL, SRIOV_ENABLE);
    assert_true(iov_probe(&f->iov, &f->bus, 1));
    assert_int_equal(ld_le16(f->config + AT + SRIOV_AT_CONTROL), 0);
}

/* Only a function with PCI Express has bytes from 0x100 on. */
static void without_express_nothing_extended_is_read(void **state)
{
    struct fixture *f = *state;

    f->config[AT_EXPRESS] = PCI_CAP_ID_VENDOR;
    assert_false(iov_probe(&f->iov, &f->bus, 1));
    assert_int_equal(f->iov.at, 0);
}

static void a_list_that_is_a_cycle_ends(void **state)
{
    struct fixture *f = *state;

    st_le32(f->config + OTHER, 0x0001 | 1u << PCI_EXT_VERSION_BIT | OTHER << PCI_EXT_NEXT_BIT);
    assert_false(iov_probe(&f->iov, &f->bus, 1));
    assert_true(f->n_reads < 1000);
    st_le32(f->config + OTHER, 0x0001 | 1u << PCI_EXT_VERSION_BIT | 0x40u << PCI_EXT_NEXT_BIT);
    assert_false(iov_probe(&f->iov, &f->bus, 1)); /* no extended capability begins there */
}

static void a_capability_of_no_vfs_is_none(void **state)
{
    struct fixture *f = *state;

    st_le16(f->config + AT + SRIOV_AT_TOTAL_VFS, 0);
    assert_false(iov_probe(&f->iov, &f->bus, 1));
    assert_int_equal(f->iov.at, 0);
    st_le16(f->config + AT + SRIOV_AT_TOTAL_VFS, TOTAL);
    st_le32(f->config + AT + SRIOV_AT_PAGES, 0); /* no page fits */
    assert_false(iov_probe(&f->iov, &f->bus, 1));
}

static void numbers_that_contradict_each_other_are_refused(void **state)
{
    struct fixture *f = *state;

    assert_true(iov_probe(&f->iov, &f->bus, 1));
    st_le16(f->config + AT + SRIOV_AT_INITIAL_VFS, TOTAL - 1);
    assert_int_equal(iov_enable(&f->iov, 1), RDL_ERR_DEVICE);
    st_le16(f->config + AT + SRIOV_AT_INITIAL_VFS, TOTAL);
    st_le16(f->config + AT + SRIOV_AT_FIRST_OFFSET, 0xff); /* another bus */
    assert_int_equal(iov_enable(&f->iov, 1), RDL_ERR_NOMEM);
    assert_int_equal(ld_le16(f->config + AT + SRIOV_AT_NUM_VFS), 0);
    assert_int_equal(ld_le16(f->config + AT + SRIOV_AT_CONTROL), 0);
}

/* The last routing ID of the bus is one. */
static void vfs_fill_the_bus(void **state)
{
    struct fixture *f = *state;

    assert_true(iov_probe(&f->iov, &f->bus, 1));
    st_le16(f->config + AT + SRIOV_AT_FIRST_OFFSET, PCI_RIDS - PCI_SLOT_RID - 1 - 2);
    assert_int_equal(iov_enable(&f->iov, 3), RDL_ERR_NOMEM);
    assert_int_equal(iov_enable(&f->iov, 2), RDL_OK);
}

/* A device whose pages are larger than those of the kernel: its BARs are, too. */
static void the_page_is_chosen_before_bars_are_measured(void **state)
{
    struct fixture *f = *state;

    st_le32(f->config + AT + SRIOV_AT_PAGE, 1);
    st_le32(f->config + AT + SRIOV_AT_PAGES, 0x10);
    assert_true(iov_probe(&f->iov, &f->bus, 1));
    assert_int_equal(ld_le32(f->config + AT + SRIOV_AT_PAGE), 0x10);
    assert_int_equal(f->iov.bar_bytes[0], 0x10000);
    assert_int_equal(f->bus.next, PCI_MEMORY_FIRST + TOTAL * 0x10000);
}

static void bars_without_room_are_refused(void **state)
{
    struct fixture *f = *state;

    f->bus.next = MSI_ADDRESS - TOTAL * BAR_BYTES + 1;
    assert_true(iov_probe(&f->iov, &f->bus, 1));
    assert_int_equal(f->iov.bar[0], 0);
    assert_int_equal(iov_enable(&f->iov, 1), RDL_ERR_NOMEM);
    f->bus.next = MSI_ADDRESS - TOTAL * BAR_BYTES;
    assert_true(iov_probe(&f->iov, &f->bus, 1));
    assert_int_equal(iov_enable(&f->iov, 1), RDL_OK);
    f->bus.next = 0x40000000;
    f->bar_bytes = 0x40000000; /* of 4 VFs: 4 GiB, which 32 bits cannot say */
    st_le16(f->config + AT + SRIOV_AT_NUM_VFS, 0);
    assert_true(iov_probe(&f->iov, &f->bus, 1));
    assert_int_equal(f->iov.bar_bytes[0], 0x40000000);
    assert_int_equal(iov_enable(&f->iov, 1), RDL_ERR_NOMEM);
    assert_int_equal(f->bus.next, 0x40000000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(the_capability_is_found_behind_another),
        T(vfs_that_somebody_has_enabled_are_disabled),
        T(without_express_nothing_extended_is_read),
        T(a_list_that_is_a_cycle_ends),
        T(a_capability_of_no_vfs_is_none),
        T(numbers_that_contradict_each_other_are_refused),
        T(vfs_fill_the_bus),
        T(the_page_is_chosen_before_bars_are_measured),
        T(bars_without_room_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
