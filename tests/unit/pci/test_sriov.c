/* SPDX-License-Identifier: MIT */
/* The registers of SR-IOV, and the configuration space of virtual functions. */
#include "sim_rig.h"

#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/pci/vf.h"
#include "emu/trace/event.h"

#define TOTAL         6u
#define VF_DEVICE     0x1234u
#define AT_EXPRESS    0x50u
#define AT_MSIX       0x90u
#define AT            PCI_EXT_FIRST
#define N_VECTORS     5u
#define GUEST_VECTORS 200u /* their table takes more than half a page */

_Static_assert(PCI_SLOT_RID + PCI_VF_FIRST + SRIOV_VFS_MAX <= PCI_RIDS, "one bus has all VFs");

/* A function with VFs, and one that a guest of VF 2 has. */
struct fixture {
    struct sim_rig rig;
    struct pci_fn fn, guest;
    struct device {
        uint32_t n_reset;
        bool master;
    } of_fn, of_guest;
    uint32_t n_vfs; /* events */
    struct ev last; /* vfs, or an access of a VF */
};

static uint64_t bar_read(void *dev, uint32_t bar, uint32_t offset, uint32_t width)
{
    (void)dev;
    (void)bar;
    (void)offset;
    (void)width;
    return 0;
}

static void bar_write(void *dev, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value)
{
    (void)dev;
    (void)bar;
    (void)offset;
    (void)width;
    (void)value;
}

static void mastering(void *dev, bool on)
{
    ((struct device *)dev)->master = on;
}

static void reset(void *dev)
{
    ((struct device *)dev)->n_reset++;
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

static const struct pci_fn_ops ops = {.bar_read = bar_read,
                                      .bar_write = bar_write,
                                      .mastering = mastering,
                                      .reset = reset,
                                      .interrupt = interrupt,
                                      .has_reason = has_reason};

static const struct pci_place places[] = {
    FN_PLACES_EXPRESS(AT_EXPRESS, AT_MSIX),
    FN_PLACES_MSIX(AT_MSIX, 0),
    FN_PLACES_SRIOV(AT),
};
static const struct pci_place guest_places[] = {FN_PLACES_MSIX(0x40, 0)};

static sim_handler *const handlers[SIM_KIND_COUNT];

static void on_event(void *ctx, const struct ev *e)
{
    struct fixture *f = ctx;

    f->n_vfs += e->kind == EV_vfs;
    if (e->kind == EV_vfs || e->kind == EV_vf_read || e->kind == EV_vf_write)
        f->last = *e;
}

static int set_up(void **state)
{
    struct fn_config config = {
        .host = 3,
        .function = FN_RDMA,
        .slot = {.number = 1, .multifunction = true},
        .vendor = 0x1af4,
        .device = VF_DEVICE,
        .subsystem_vendor = 0x1111,
        .subsystem = 0x2222,
        .revision = 7,
        .class_code = 0x028000,
        .config_bytes = PCI_CONFIG_BYTES_EXPRESS,
        .bar_bytes = {[0] = 0x3000},
        .msix_bar = 1,
        .n_vectors = N_VECTORS,
        .places = places,
        .n_places = ARRAY_LEN(places),
    };
    struct fixture *f = test_calloc(1, sizeof(*f));

    sim_rig_init(&f->rig, handlers, on_event, f);
    fn_init(&f->fn, f->rig.arena, &f->rig.sim, &config, &ops, &f->of_fn);
    assert_true(vf_init(&f->fn, TOTAL, VF_DEVICE));
    config.host = 4;
    config.config_bytes = PCI_CONFIG_BYTES;
    config.n_vectors = GUEST_VECTORS;
    config.places = guest_places;
    config.n_places = ARRAY_LEN(guest_places);
    fn_init(&f->guest, f->rig.arena, &f->rig.sim, &config, &ops, &f->of_guest);
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

static uint32_t get(struct fixture *f, uint32_t offset, uint32_t width)
{
    return fn_config_read(&f->fn, AT + offset, width);
}

static void put(struct fixture *f, uint32_t offset, uint32_t width, uint32_t value)
{
    fn_config_write(&f->fn, AT + offset, width, value);
}

static void enable(struct fixture *f, uint32_t n)
{
    put(f, SRIOV_AT_NUM_VFS, 2, n);
    put(f, SRIOV_AT_CONTROL, 2, SRIOV_ENABLE | SRIOV_MEMORY);
}

static void the_capability_says_what_the_function_can_do(void **state)
{
    static const struct {
        uint32_t offset, width, want;
    } rows[] = {
        {0, 4, 0x00010010}, /* ID 0x10, version 1, the last one */
        {SRIOV_AT_CAPS, 4, 0},
        {SRIOV_AT_CONTROL, 4, 0},
        {SRIOV_AT_INITIAL_VFS, 2, TOTAL},
        {SRIOV_AT_TOTAL_VFS, 2, TOTAL},
        {SRIOV_AT_NUM_VFS, 2, 0},
        {SRIOV_AT_LINK, 1, 1}, /* itself */
        {SRIOV_AT_FIRST_OFFSET, 4, 0x00010007},
        {0x18, 4, VF_DEVICE << 16},
        {SRIOV_AT_PAGES, 4, 0x553},
        {SRIOV_AT_PAGE, 4, 1},
        {SRIOV_AT_MIGRATION, 4, 0},
        {SRIOV_CAP_BYTES, 4, 0},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(get(f, rows[i].offset, rows[i].width), rows[i].want);
    for (uint32_t i = 0; i < SRIOV_CAP_BYTES; i += 4) { /* only these can be written */
        const bool rw = i == SRIOV_AT_CONTROL || i == SRIOV_AT_NUM_VFS || i == SRIOV_AT_PAGE ||
                        (i >= SRIOV_AT_BAR0 && i < SRIOV_AT_MIGRATION);
        const uint32_t before = get(f, i, 4);

        if (rw)
            continue;
        put(f, i, 4, UINT32_MAX);
        assert_int_equal(get(f, i, 4), before);
    }
}

static void control_has_two_bits(void **state)
{
    struct fixture *f = *state;

    put(f, SRIOV_AT_CONTROL, 2, 0xffff); /* ARI and migration are read-only */
    assert_int_equal(get(f, SRIOV_AT_CONTROL, 2), SRIOV_ENABLE | SRIOV_MEMORY);
    assert_int_equal(f->n_vfs, 0); /* NumVFs is 0 */
    put(f, SRIOV_AT_CONTROL, 2, 0);
    assert_int_equal(get(f, SRIOV_AT_CONTROL, 2), 0);
}

static void the_number_is_locked_while_vfs_exist(void **state)
{
    struct fixture *f = *state;

    enable(f, 3);
    assert_int_equal(f->n_vfs, 1);
    assert_int_equal(f->last.u.vfs.host, 3);
    assert_int_equal(f->last.u.vfs.vfs, 3);
    put(f, SRIOV_AT_NUM_VFS, 2, 4);
    assert_int_equal(get(f, SRIOV_AT_NUM_VFS, 2), 3);
    put(f, SRIOV_AT_NUM_VFS, 2, 0);
    assert_int_equal(get(f, SRIOV_AT_NUM_VFS, 2), 3);
    assert_int_equal(f->n_vfs, 1);
    put(f, SRIOV_AT_CONTROL, 2, 0);
    assert_int_equal(f->last.u.vfs.vfs, 0);
    put(f, SRIOV_AT_NUM_VFS, 2, 4);
    assert_int_equal(get(f, SRIOV_AT_NUM_VFS, 2), 4);
}

static void more_than_there_can_be_is_ignored(void **state)
{
    struct fixture *f = *state;

    put(f, SRIOV_AT_NUM_VFS, 2, TOTAL);
    put(f, SRIOV_AT_NUM_VFS, 2, TOTAL + 1);
    assert_int_equal(get(f, SRIOV_AT_NUM_VFS, 2), TOTAL);
    put(f, SRIOV_AT_NUM_VFS, 2, 0xffff);
    assert_int_equal(get(f, SRIOV_AT_NUM_VFS, 2), TOTAL);
}

static void the_page_is_one_that_is_supported(void **state)
{
    struct fixture *f = *state;

    put(f, SRIOV_AT_PAGE, 4, 0x10); /* 64 KiB */
    assert_int_equal(get(f, SRIOV_AT_PAGE, 4), 0x10);
    put(f, SRIOV_AT_PAGE, 4, 0x11); /* two */
    put(f, SRIOV_AT_PAGE, 4, 0);    /* none */
    put(f, SRIOV_AT_PAGE, 4, 0x20); /* 128 KiB, which is not supported */
    assert_int_equal(get(f, SRIOV_AT_PAGE, 4), 0x10);
    enable(f, 1);
    put(f, SRIOV_AT_PAGE, 4, 1);
    assert_int_equal(get(f, SRIOV_AT_PAGE, 4), 0x10);
}

/* The mask is that of one VF.  It grows with the page, as VFs share no page. */
static void bars_have_the_size_of_one_vf(void **state)
{
    static const struct {
        uint32_t page, bar0, bar1;
    } rows[] = {
        {0x1, 0x4000, 0x1000},    /* 4 KiB */
        {0x2, 0x4000, 0x2000},    /* 8 KiB */
        {0x10, 0x10000, 0x10000}, /* 64 KiB */
        {0x400, 0x400000, 0x400000},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        put(f, SRIOV_AT_PAGE, 4, rows[i].page);
        put(f, SRIOV_AT_BAR0, 4, UINT32_MAX);
        put(f, SRIOV_AT_BAR0 + 4, 4, UINT32_MAX);
        put(f, SRIOV_AT_BAR0 + 8, 4, UINT32_MAX);
        assert_int_equal(get(f, SRIOV_AT_BAR0, 4), ~(rows[i].bar0 - 1));
        assert_int_equal(get(f, SRIOV_AT_BAR0 + 4, 4), ~(rows[i].bar1 - 1));
        assert_int_equal(get(f, SRIOV_AT_BAR0 + 8, 4), 0); /* there is none */
    }
    put(f, SRIOV_AT_PAGE, 4, 1);
    put(f, SRIOV_AT_BAR0, 4, 0xfd084000);
    assert_int_equal(get(f, SRIOV_AT_BAR0, 4), 0xfd084000);
}

static void vfs_are_where_offset_and_stride_say(void **state)
{
    struct fixture *f = *state;
    uint32_t vf;

    assert_false(sriov_find(f->fn.sriov, 8, &vf));
    enable(f, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(sriov_number(f->fn.sriov, i), 1 + 7 + i);
        assert_true(sriov_find(f->fn.sriov, 8 + i, &vf));
        assert_int_equal(vf, i);
    }
    assert_false(sriov_find(f->fn.sriov, 7, &vf));
    assert_false(sriov_find(f->fn.sriov, 1, &vf));
    assert_false(sriov_find(f->fn.sriov, 11, &vf)); /* not enabled */
    /* all that a function can have are on its bus */
}

static void a_vf_has_the_identity_of_none(void **state)
{
    static const struct {
        uint32_t offset, width, want;
    } rows[] = {
        {PCI_VENDOR_ID, 4, 0xffffffff},
        {PCI_COMMAND, 2, 0},
        {PCI_STATUS, 2, PCI_STS_CAP_LIST},
        {PCI_REVISION_ID, 4, 0x02800007},
        {PCI_HEADER_TYPE, 1, 0},
        {PCI_BAR0, 4, 0},
        {PCI_BAR1, 4, 0},
        {PCI_SUBSYSTEM_VENDOR_ID, 4, 0x22221111},
        {PCI_CAPABILITIES, 1, 0x40},
        {PCI_INTERRUPT_LINE, 2, 0},
        {0x40, 4, 0x00927c10},        /* PCI Express, an endpoint of the root complex */
        {0x44, 4, 0x10008000},        /* it can be reset */
        {0x48, 4, 0},                 /* Device Control is that of the PF */
        {0x7c, 4, 0x00040011},        /* MSI-X, 5 vectors */
        {0x80, 4, 1},                 /* in BAR 1 */
        {0x84, 4, 0x801},             /* the second half of it */
        {0x100, 4, 0},                /* no extended capabilities */
        {0x1000, 4, UINT32_MAX},      /* beyond the end */
        {PCI_VENDOR_ID, 3, 0xffffff}, /* no access */
    };
    struct fixture *f = *state;

    enable(f, 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(vf_config_read(&f->fn, 0, rows[i].offset, rows[i].width), rows[i].want);
    assert_int_equal(vf_config_read(&f->fn, 0, PCI_COMMAND, 2), 0);
    assert_int_equal(f->last.kind, EV_vf_read);
    assert_int_equal(f->last.u.vf_read.vf, 0);
    assert_int_equal(f->last.u.vf_read.field, PCI_COMMAND);
    assert_int_equal(vf_config_read(&f->fn, 0, 0x88, 4), 0); /* behind the last capability */
    assert_int_equal(f->last.u.vf_read.field, 0xffff);       /* none */
}

static void a_vf_can_be_a_master_and_have_messages(void **state)
{
    struct fixture *f = *state;

    enable(f, 2);
    vf_config_write(&f->fn, 1, PCI_COMMAND, 2, 0xffff);
    assert_int_equal(f->last.kind, EV_vf_write);
    assert_int_equal(f->last.u.vf_write.vf, 1);
    assert_int_equal(vf_config_peek(&f->fn, 1, PCI_COMMAND, 2), PCI_CMD_MASTER);
    assert_int_equal(vf_config_peek(&f->fn, 0, PCI_COMMAND, 2), 0);
    vf_config_write(&f->fn, 1, PCI_BAR0, 4, UINT32_MAX);
    assert_int_equal(vf_config_peek(&f->fn, 1, PCI_BAR0, 4), 0);
    vf_config_write(&f->fn, 1, 0x7e, 2, 0xffff);
    assert_int_equal(vf_config_peek(&f->fn, 1, 0x7e, 2), 0xc004);
    vf_config_write(&f->fn, 1, 0x48, 2, 0x7fff); /* all bits but the one that resets */
    assert_int_equal(vf_config_peek(&f->fn, 1, 0x48, 2), 0);
    assert_true(vf_is_master(&f->fn, 1));
    vf_config_write(&f->fn, 1, 0x48, 2, EXPRESS_CONTROL_RESET);
    assert_false(vf_is_master(&f->fn, 1));
    assert_int_equal(vf_config_peek(&f->fn, 1, 0x7e, 2), 4);
    vf_config_write(&f->fn, 1, 0x7d, 2, 0xffff); /* no access: it is not aligned */
    vf_config_write(&f->fn, 1, PCI_COMMAND - 1, 4, UINT32_MAX);
    assert_int_equal(vf_config_peek(&f->fn, 1, 0x7e, 2), 4);
    assert_false(vf_is_master(&f->fn, 1));
    assert_int_equal(vf_config_read(&f->fn, 1, PCI_STATUS + 1, 2), 0xffff);
    assert_int_equal(get(f, SRIOV_AT_NUM_VFS, 2), 2); /* the PF is as it was */
}

static void vfs_that_are_enabled_again_are_new(void **state)
{
    struct fixture *f = *state;

    enable(f, 2);
    vf_config_write(&f->fn, 1, PCI_COMMAND, 2, PCI_CMD_MASTER);
    put(f, SRIOV_AT_CONTROL, 2, 0);
    put(f, SRIOV_AT_CONTROL, 2, SRIOV_ENABLE);
    assert_false(vf_is_master(&f->fn, 1));
}

static void a_reset_of_the_function_ends_its_vfs(void **state)
{
    struct fixture *f = *state;
    uint32_t vf;

    put(f, SRIOV_AT_PAGE, 4, 2);
    enable(f, 2);
    put(f, SRIOV_AT_BAR0, 4, 0xfd000000);
    fn_config_write(&f->fn, AT_EXPRESS + EXPRESS_AT_CONTROL, 2, EXPRESS_CONTROL_RESET);
    assert_int_equal(get(f, SRIOV_AT_CONTROL, 2), 0);
    assert_int_equal(get(f, SRIOV_AT_NUM_VFS, 2), 0);
    assert_int_equal(get(f, SRIOV_AT_BAR0, 4), 0);
    assert_int_equal(get(f, SRIOV_AT_PAGE, 4), 1);
    assert_int_equal(f->last.kind, EV_vfs);
    assert_int_equal(f->last.u.vfs.vfs, 0);
    assert_false(sriov_find(f->fn.sriov, 8, &vf));
}

/* A VF with a guest is the guest's function, as the machine sees it. */
static void a_vf_of_a_guest_is_the_guests_function(void **state)
{
    struct fixture *f = *state;

    vf_attach(&f->fn, 1, &f->guest);
    enable(f, 2);
    assert_int_equal(vf_config_peek(&f->fn, 1, 0x7e, 2), GUEST_VECTORS - 1);
    assert_int_equal(vf_config_peek(&f->fn, 0, 0x7e, 2), N_VECTORS - 1);
    assert_int_equal(vf_config_peek(&f->fn, 1, 0x84, 4), f->fn.config.msix_bar + 0x1000);
    assert_int_equal(vf_config_peek(&f->fn, 0, 0x84, 4), f->fn.config.msix_bar + 0x800);
    fn_config_write(&f->guest, PCI_COMMAND, 2, PCI_CMD_MASTER | PCI_CMD_MEMORY);
    fn_config_write(&f->guest, 0x42, 2, MSIX_ENABLE);
    assert_int_equal(vf_config_peek(&f->fn, 1, PCI_COMMAND, 2), PCI_CMD_MASTER);
    assert_int_equal(vf_config_peek(&f->fn, 1, 0x7e, 2), MSIX_ENABLE | (GUEST_VECTORS - 1));
    vf_config_write(&f->fn, 1, PCI_COMMAND, 2, 0); /* the machine stops its DMA */
    assert_false(f->of_guest.master);
    assert_int_equal(fn_config_peek(&f->guest, PCI_COMMAND, 2), PCI_CMD_MEMORY);
    vf_config_write(&f->fn, 1, 0x7e, 2, MSIX_ENABLE | MSIX_FUNCTION_MASK);
    assert_int_equal(fn_config_peek(&f->guest, 0x42, 2),
                     MSIX_ENABLE | MSIX_FUNCTION_MASK | (GUEST_VECTORS - 1));
    vf_config_write(&f->fn, 1, 0x48, 2, EXPRESS_CONTROL_RESET);
    assert_int_equal(f->of_guest.n_reset, 1);
    assert_int_equal(fn_config_peek(&f->guest, PCI_COMMAND, 2), 0);
    put(f, SRIOV_AT_CONTROL, 2, 0); /* its device ceases to exist */
    assert_int_equal(f->of_guest.n_reset, 2);
}

static void fields_of_a_vf_are_found(void **state)
{
    uint32_t at;

    (void)state;
    assert_true(vf_find_field(PCI_VENDOR_ID, &at));
    assert_int_equal(at, 0);
    assert_true(vf_find_field(PCI_MSIX_CONTROL, &at));
    assert_int_equal(at, 0x7e);
    assert_int_equal(vf_field_bytes(at), 2);
    assert_int_equal(vf_field_bytes(PCI_CLASS_CODE), 3);
    assert_int_equal(vf_field_bytes(0x60), 1);
    assert_false(vf_find_field(PCI_SRIOV_CONTROL, &at));
    assert_false(vf_find_field(PCI_COMMON_CAP, &at));
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(the_capability_says_what_the_function_can_do),
        T(control_has_two_bits),
        T(the_number_is_locked_while_vfs_exist),
        T(more_than_there_can_be_is_ignored),
        T(the_page_is_one_that_is_supported),
        T(bars_have_the_size_of_one_vf),
        T(vfs_are_where_offset_and_stride_say),
        T(a_vf_has_the_identity_of_none),
        T(a_vf_can_be_a_master_and_have_messages),
        T(vfs_that_are_enabled_again_are_new),
        T(a_reset_of_the_function_ends_its_vfs),
        T(a_vf_of_a_guest_is_the_guests_function),
        cmocka_unit_test(fields_of_a_vf_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
