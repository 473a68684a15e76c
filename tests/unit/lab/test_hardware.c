/* SPDX-License-Identifier: MIT */
/* RAM and registers of a host, accessed by a user or a script instead of its drivers. */
#include "testing.h"

#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/regs.h"
#include "rdmalab/inspect.h"
#include "rdmalab/pci.h"
#include "rdmalab/verbs.h"

#define RAM_BYTES ((uint64_t)64 << 20)

static struct rdl_lab *lab_with_host(rdl_host *ret)
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_host_config host = {.name = "h1"};
    struct rdl_lab *lab;

    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &host, ret), RDL_OK);
    return lab;
}

static uint64_t number(const struct rdl_lab *lab, const char *path)
{
    struct rdl_value v;
    size_t at;

    assert_int_equal(rdl_inspect(lab, path, &v, &at), RDL_OK);
    return v.number;
}

static void ram_is_written_as_a_whole_or_not_at_all(void **state)
{
    uint8_t in[8192], out[8192];
    rdl_host h;
    struct rdl_lab *lab = lab_with_host(&h);

    (void)state;
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 7);
    assert_int_equal(rdl_ram_write(lab, h, RAM_BYTES - sizeof(in), in, sizeof(in)), RDL_OK);
    assert_int_equal(rdl_ram_read(lab, h, RAM_BYTES - sizeof(in), out, sizeof(out)), RDL_OK);
    assert_memory_equal(in, out, sizeof(in));
    assert_int_equal(rdl_ram_write(lab, h, RAM_BYTES - sizeof(in) + 1, in, sizeof(in)),
                     RDL_ERR_FAULT);
    assert_int_equal(rdl_ram_read(lab, h, RAM_BYTES - sizeof(in), out, sizeof(out)), RDL_OK);
    assert_memory_equal(in, out, sizeof(in));
    assert_int_equal(rdl_ram_write(lab, (rdl_host){9}, 0, in, 1), RDL_ERR_STALE);
    rdl_lab_free(lab);
}

static void registers_are_those_of_the_function(void **state)
{
    uint64_t v = 0;
    rdl_host h;
    struct rdl_lab *lab = lab_with_host(&h);

    (void)state;
    assert_int_equal(rdl_reg_read(lab, h, FN_NET, REG_NUM_QUEUES, 2, &v), RDL_OK);
    assert_int_equal(v, 2);
    assert_int_equal(rdl_reg_read(lab, h, FN_RDMA, REG_NUM_QUEUES, 2, &v), RDL_OK);
    assert_int_equal(v, number(lab, "h1.device.num_queues"));
    assert_int_equal(rdl_reg_read(lab, h, 2, REG_NUM_QUEUES, 2, &v), RDL_ERR_INVAL);
    assert_int_equal(rdl_reg_read(lab, h, FN_NET, REG_NUM_QUEUES, 3, &v), RDL_ERR_INVAL);
    assert_int_equal(rdl_reg_write(lab, h, 2, REG_DEVICE_STATUS, 1, 0), RDL_ERR_INVAL);
    assert_int_equal(rdl_reg_write(lab, h, FN_NET, 0x20000, 2, 0), RDL_ERR_INVAL);
    assert_int_equal(rdl_reg_write(lab, (rdl_host){9}, FN_NET, 0, 1, 0), RDL_ERR_STALE);
    rdl_lab_free(lab);
}

/* A device that somebody reset under its driver is no broken invariant. */
static void who_writes_takes_the_device_from_its_driver(void **state)
{
    const struct rdl_limits bounded = {.ticks = 1000};
    uint64_t v = 1;
    struct rdl_response rsp;
    rdl_host h;
    rdl_pd pd;
    struct rdl_lab *lab = lab_with_host(&h);

    (void)state;
    assert_int_equal(rdl_reg_write(lab, h, FN_RDMA, REG_DEVICE_STATUS, 1, 0), RDL_OK);
    assert_int_equal(rdl_reg_read(lab, h, FN_RDMA, REG_DEVICE_STATUS, 1, &v), RDL_OK);
    assert_int_equal(v, 0);
    assert_int_equal(number(lab, "h1.ctrl.enabled"), 0);
    assert_int_equal(rdl_alloc_pd(lab, h, NULL, &pd), RDL_OK);
    assert_int_equal(rdl_wait(lab, h, bounded, &rsp), RDL_ERR_IDLE); /* nobody is there */
    assert_null(rdl_broken_invariant(lab));
    rdl_lab_free(lab);
}

static uint64_t read_at(struct rdl_lab *lab, rdl_host h, const struct rdl_pci_place *place)
{
    uint64_t v = 0;

    assert_int_equal(rdl_pci_read(lab, h, place, &v), RDL_OK);
    return v;
}

static void a_place_has_the_width_of_what_is_there(void **state)
{
    static const struct {
        struct rdl_pci_place place;
        uint64_t want;
    } rows[] = {
        {{0, RDL_PCI_CONFIG, PCI_DEVICE_ID, 0}, 0x1041},
        {{1, RDL_PCI_CONFIG, PCI_DEVICE_ID, 0}, 0x106a},
        {{1, RDL_PCI_CONFIG, PCI_VENDOR_ID, 4}, 0x106a1af4},
        {{1, RDL_PCI_CONFIG, PCI_CLASS_CODE, 0}, 0x028000},
        {{0, RDL_PCI_CONFIG, PCI_CLASS_CODE, 0}, 0x020000},
        {{0, RDL_PCI_BAR0, REG_NUM_QUEUES, 0}, 2},
        {{0, RDL_PCI_BAR0, REG_DEVICE_STATUS, 0}, 15},
        {{0, RDL_PCI_BAR1, MSIX_ENTRY_BYTES + MSIX_DATA, 0}, 1},
    };
    rdl_host h;
    struct rdl_lab *lab = lab_with_host(&h);
    uint64_t v;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(read_at(lab, h, &rows[i].place), rows[i].want);
        if (rows[i].place.space == RDL_PCI_CONFIG) {
            assert_int_equal(rdl_pci_peek(lab, h, &rows[i].place, &v), RDL_OK);
            assert_int_equal(v, rows[i].want);
        }
    }
    rdl_lab_free(lab);
}

static void what_cannot_be_accessed_is_refused(void **state)
{
    static const struct rdl_pci_place rows[] = {
        {2, RDL_PCI_CONFIG, 0, 4},                                 /* no such function */
        {0, RDL_PCI_CONFIG, 0, 8},                                 /* too wide */
        {0, RDL_PCI_CONFIG, 1, 2},                                 /* not at a multiple */
        {0, RDL_PCI_CONFIG, 256, 4},                               /* behind its end */
        {0, RDL_PCI_BAR0, 0, 3},          {0, RDL_PCI_BAR0, 5, 0}, /* no register begins there */
        {0, (enum rdl_pci_space)3, 0, 4}, {0, RDL_PCI_BAR0, 0x20000, 2},
        {0, RDL_PCI_BAR1, 0x1000, 4}, /* behind the end */
    };
    const struct rdl_pci_place bar = {0, RDL_PCI_BAR0, 0, 4}, config = {0, RDL_PCI_CONFIG, 0, 4};
    rdl_host h;
    struct rdl_lab *lab = lab_with_host(&h);
    uint64_t v;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(rdl_pci_read(lab, h, &rows[i], &v), RDL_ERR_INVAL);
        assert_int_equal(rdl_pci_write(lab, h, &rows[i], 0), RDL_ERR_INVAL);
        assert_int_equal(rdl_pci_peek(lab, h, &rows[i], &v), RDL_ERR_INVAL);
    }
    assert_int_equal(rdl_pci_peek(lab, h, &bar, &v), RDL_ERR_INVAL); /* that would be an access */
    assert_int_equal(rdl_pci_read(lab, (rdl_host){9}, &config, &v), RDL_ERR_STALE);
    assert_int_equal(rdl_pci_write(lab, (rdl_host){9}, &config, 0), RDL_ERR_STALE);
    assert_int_equal(rdl_pci_peek(lab, (rdl_host){9}, &config, &v), RDL_ERR_STALE);
    rdl_lab_free(lab);
}

/* A message to an address that is no processor's is a write to RAM. */
static void a_message_to_memory_is_written_there(void **state)
{
    static const struct {
        struct rdl_pci_place place;
        uint64_t value;
    } rows[] = {
        {{0, RDL_PCI_BAR0, REG_CONFIG_MSIX_VECTOR, 0}, 0},
        {{0, RDL_PCI_BAR1, MSIX_ADDRESS, 0}, 0x3000004},
        {{0, RDL_PCI_BAR1, MSIX_DATA, 0}, 0x12345678},
    };
    const struct rdl_link_config link = {.a = "h1", .b = "h2", .latency_ns = 1};
    const struct rdl_host_config other = {.name = "h2"};
    rdl_host h, h2;
    struct rdl_lab *lab = lab_with_host(&h);
    rdl_link l;
    uint8_t le[4];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(rdl_pci_write(lab, h, &rows[i].place, rows[i].value), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &other, &h2), RDL_OK);
    assert_int_equal(rdl_link_add(lab, &link, &l), RDL_OK); /* a change of its configuration */
    assert_int_equal(rdl_run(lab, RDL_NEVER, (struct rdl_limits){0}), RDL_OK);
    assert_int_equal(rdl_ram_read(lab, h, 0x3000004, le, sizeof(le)), RDL_OK);
    assert_int_equal(ld_le32(le), 0x12345678);
    rdl_lab_free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ram_is_written_as_a_whole_or_not_at_all),
        cmocka_unit_test(registers_are_those_of_the_function),
        cmocka_unit_test(who_writes_takes_the_device_from_its_driver),
        cmocka_unit_test(a_place_has_the_width_of_what_is_there),
        cmocka_unit_test(what_cannot_be_accessed_is_refused),
        cmocka_unit_test(a_message_to_memory_is_written_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
