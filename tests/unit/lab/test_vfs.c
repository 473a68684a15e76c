/* SPDX-License-Identifier: MIT */
/* The guest of a host enables virtual functions of its RDMA device. */
#include "testing.h"

#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/virtio/feature.h"
#include "emu/lab/bus.h"
#include "emu/lab/lab_state.h"
#include "emu/pci/vf.h"
#include "emu/trace/event.h"
#include "rdmalab/pci.h"

#define TOTAL 16u
#define MS    UINT64_C(1000000)

struct fixture {
    struct rdl_lab *lab;
    rdl_host host;
};

static int set_up(void **state)
{
    const struct rdl_lab_config config = {.seed = 1};
    const struct rdl_host_config host = {.name = "h1", .vfs = TOTAL, .idle_vfs = TOTAL};
    struct fixture *f = test_calloc(1, sizeof(*f));

    assert_int_equal(rdl_lab_new(&config, &f->lab), RDL_OK);
    assert_int_equal(rdl_host_add(f->lab, &host, &f->host), RDL_OK);
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

static struct host *host_of(const struct fixture *f)
{
    return f->lab->state->hosts[0];
}

static uint32_t field(const struct fixture *f, enum pci_field which)
{
    return sriov_get(host_of(f)->device.fn->sriov, which);
}

static void run_until(struct fixture *f, uint64_t ns)
{
    const enum rdl_status st = rdl_run(f->lab, ns, (struct rdl_limits){0});

    assert_true(st == RDL_OK || st == RDL_ERR_TIMEOUT);
}

/* As Linux at boot: page size and room for all VFs that there can be. */
static void a_kernel_prepares_for_all_vfs(void **state)
{
    struct fixture *f = *state;
    const struct pci_fn *fn = host_of(f)->device.fn;
    const struct sriov *s = fn->sriov;
    const uint32_t bytes = sriov_bar_bytes(s, 0);

    assert_int_equal(field(f, PCI_SRIOV_PAGE), 1);
    assert_int_equal(field(f, PCI_SRIOV_NUM_VFS), 0);
    assert_true(field(f, PCI_SRIOV_BAR0) >= fn->bar[1] + fn->bar_bytes[1]);
    assert_int_equal(field(f, PCI_SRIOV_BAR1) - field(f, PCI_SRIOV_BAR0), TOTAL * bytes);
    assert_true(host_of(f)->guest.verbs.up);
}

static void vfs_are_enabled_and_added_100_ms_later(void **state)
{
    struct fixture *f = *state;
    const struct host *h = host_of(f);
    const uint64_t at = rdl_now_ns(f->lab);

    assert_int_equal(rdl_vfs_set(f->lab, f->host, 4), RDL_OK);
    assert_int_equal(field(f, PCI_SRIOV_CONTROL), SRIOV_ENABLE | SRIOV_MEMORY);
    assert_int_equal(field(f, PCI_SRIOV_NUM_VFS), 4);
    assert_true(h->guest.iov_waits);
    assert_int_equal(rdl_next_ns(f->lab), at + 100 * MS);
    assert_int_equal(rdl_vfs_set(f->lab, f->host, 0), RDL_ERR_BUSY); /* the first write sleeps */
    run_until(f, at + 101 * MS);
    assert_false(h->guest.iov_waits);
    assert_int_equal(host_bus.config_read(host_of(f), 8 + 3, PCI_VENDOR_ID, 4), UINT32_MAX);
    assert_int_equal(host_bus.config_read(host_of(f), 8 + 3, PCI_STATUS, 2), PCI_STS_CAP_LIST);
    assert_int_equal(host_bus.config_read(host_of(f), 8 + 4, PCI_STATUS, 2), UINT32_MAX);
}

/* The errors of sriov_numvfs in Linux. */
static void a_number_that_does_not_fit_is_refused(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(rdl_vfs_set(f->lab, f->host, TOTAL + 1), RDL_ERR_LIMIT); /* ERANGE */
    assert_int_equal(rdl_vfs_set(f->lab, f->host, 0), RDL_OK);                /* there are none */
    assert_int_equal(rdl_vfs_set(f->lab, f->host, TOTAL), RDL_OK);
    run_until(f, rdl_now_ns(f->lab) + 200 * MS);
    assert_int_equal(rdl_vfs_set(f->lab, f->host, TOTAL), RDL_OK);   /* nothing to do */
    assert_int_equal(rdl_vfs_set(f->lab, f->host, 2), RDL_ERR_BUSY); /* EBUSY */
    assert_int_equal(field(f, PCI_SRIOV_NUM_VFS), TOTAL);
    assert_int_equal(rdl_vfs_set(f->lab, f->host, 0), RDL_OK);
    assert_int_equal(field(f, PCI_SRIOV_CONTROL), 0);
    assert_int_equal(field(f, PCI_SRIOV_NUM_VFS), TOTAL); /* not yet */
    assert_int_equal(rdl_vfs_set(f->lab, f->host, 2), RDL_ERR_BUSY);
    run_until(f, rdl_now_ns(f->lab) + 1001 * MS);
    assert_int_equal(field(f, PCI_SRIOV_NUM_VFS), 0);
    assert_int_equal(rdl_vfs_set(f->lab, f->host, 2), RDL_OK);
}

static void a_device_without_the_feature_has_no_vfs(void **state)
{
    static const struct rdl_host_config rows[] = {
        {.name = "h2"},
        {.name = "h3", .vfs = 4, .features_off = VIRTIO_FEATURE(VF_SR_IOV)},
        {.name = "h4", .device = DEVICE_none},
        {.name = "h5", .device = DEVICE_pvrdma},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        rdl_host h;

        assert_int_equal(rdl_host_add(f->lab, &rows[i], &h), RDL_OK);
        assert_int_equal(rdl_vfs_set(f->lab, h, 1), RDL_ERR_UNSUPPORTED);
    }
}

static void only_virtio_of_the_labs_guests_can_have_vfs(void **state)
{
    static const struct rdl_host_config rows[] = {
        {.name = "h2", .vfs = RDL_VFS_MAX + 1},
        {.name = "h2", .vfs = 1, .device = DEVICE_none},
        {.name = "h2", .vfs = 1, .device = DEVICE_pvrdma},
        {.name = "h2", .vfs = 1, .external = true},
    };
    struct fixture *f = *state;
    rdl_host h;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(rdl_host_add(f->lab, &rows[i], &h),
                         rows[i].device == DEVICE_virtio ? RDL_ERR_INVAL : RDL_ERR_UNSUPPORTED);
}

/* As many as there can be, in the numbers of one bus and below the addresses of messages. */
static void all_vfs_fit(void **state)
{
    const struct rdl_host_config most = {.name = "h2", .vfs = RDL_VFS_MAX, .idle_vfs = RDL_VFS_MAX};
    struct fixture *f = *state;
    rdl_host h;
    uint64_t v;

    assert_int_equal(rdl_host_add(f->lab, &most, &h), RDL_OK);
    assert_int_equal(rdl_vfs_set(f->lab, h, RDL_VFS_MAX), RDL_OK);
    run_until(f, rdl_now_ns(f->lab) + 200 * MS);
    for (uint32_t i = 0; i < RDL_VFS_MAX; i++) {
        const struct rdl_pci_place status = {PCI_VF_FIRST + i, RDL_PCI_CONFIG, PCI_STATUS, 0};

        assert_int_equal(rdl_pci_peek(f->lab, h, &status, &v), RDL_OK);
        assert_int_equal(v, PCI_STS_CAP_LIST);
    }
}

/* With large queues the BARs of many VFs do not fit below 4 GiB. */
static void bars_that_do_not_fit_stay_nowhere(void **state)
{
    const struct rdl_host_config large = {.name = "h2",
                                          .vfs = RDL_VFS_MAX,
                                          .max_qp = 16384,
                                          .max_cq = 16384,
                                          .ram_bytes = 8ull << 30};
    struct fixture *f = *state;
    rdl_host h;

    assert_int_equal(rdl_host_add(f->lab, &large, &h), RDL_OK);
    assert_int_equal(rdl_vfs_set(f->lab, h, 1), RDL_ERR_NOMEM);
    assert_int_equal(sriov_count(f->lab->state->hosts[1]->device.fn->sriov), 0);
}

/* Reads of the API: a VF has configuration space and no BARs. */
static void a_vf_is_a_function_of_the_slot(void **state)
{
    struct fixture *f = *state;
    struct rdl_pci_place at = {8, RDL_PCI_CONFIG, PCI_COMMAND, 0};
    uint64_t v;

    assert_int_equal(rdl_pci_read(f->lab, f->host, &at, &v), RDL_ERR_INVAL); /* none yet */
    assert_int_equal(rdl_pci_field(f->lab, f->host, 8, PCI_COMMAND, &at), RDL_ERR_NO_DEVICE);
    assert_int_equal(rdl_vfs_set(f->lab, f->host, 1), RDL_OK);
    assert_int_equal(rdl_pci_write(f->lab, f->host, &at, 0xffff), RDL_OK);
    assert_int_equal(rdl_pci_read(f->lab, f->host, &at, &v), RDL_OK);
    assert_int_equal(v, PCI_CMD_MASTER);
    assert_int_equal(rdl_pci_field(f->lab, f->host, 8, PCI_MSIX_CONTROL, &at), RDL_OK);
    assert_int_equal(rdl_pci_peek(f->lab, f->host, &at, &v), RDL_OK);
    assert_int_equal(rdl_pci_field(f->lab, f->host, 8, PCI_SRIOV_CONTROL, &at), RDL_ERR_INVAL);
    at = (struct rdl_pci_place){8, RDL_PCI_BAR0, 0, 4};
    assert_int_equal(rdl_pci_read(f->lab, f->host, &at, &v), RDL_ERR_INVAL);
    at = (struct rdl_pci_place){8, RDL_PCI_CONFIG, PCI_CLASS_CODE, 0};
    assert_int_equal(rdl_pci_read(f->lab, f->host, &at, &v), RDL_OK);
    assert_int_equal(v, PCI_CLASS_NETWORK_OTHER);
}

static uint64_t vf_field(const struct fixture *f, uint32_t vf, enum pci_field which)
{
    struct rdl_pci_place at;
    uint64_t v;

    assert_int_equal(rdl_pci_field(f->lab, f->host, 8 + vf, which, &at), RDL_OK);
    assert_int_equal(rdl_pci_peek(f->lab, f->host, &at, &v), RDL_OK);
    return v;
}

/* MSI-X of virtio-rdma is in BAR 1, that of PVRDMA in BAR 0. */
static void msix_of_a_vf_is_that_of_its_guest(void **state)
{
    const struct rdl_host_config virtio = {.name = "g1", .on = "h1"},
                                 pvrdma = {
                                     .name = "g2", .on = "h1", .vf = 1, .device = DEVICE_pvrdma};
    struct fixture *f = *state;
    rdl_host guest;

    assert_int_equal(rdl_vfs_set(f->lab, f->host, 3), RDL_OK);
    assert_int_equal(rdl_host_add(f->lab, &virtio, &guest), RDL_OK);
    assert_int_equal(rdl_host_add(f->lab, &pvrdma, &guest), RDL_OK);
    for (uint32_t vf = 0; vf < 3; vf++) {
        const uint32_t bar = vf == 1 ? 0 : 1;

        assert_int_equal(vf_field(f, vf, PCI_MSIX_TABLE), bar);
        assert_int_equal(vf_field(f, vf, PCI_MSIX_PBA) & 7, bar);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_kernel_prepares_for_all_vfs),
        T(vfs_are_enabled_and_added_100_ms_later),
        T(a_number_that_does_not_fit_is_refused),
        T(a_device_without_the_feature_has_no_vfs),
        T(only_virtio_of_the_labs_guests_can_have_vfs),
        T(all_vfs_fit),
        T(bars_that_do_not_fit_stay_nowhere),
        T(a_vf_is_a_function_of_the_slot),
        T(msix_of_a_vf_is_that_of_its_guest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
