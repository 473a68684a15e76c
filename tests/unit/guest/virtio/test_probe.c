/* SPDX-License-Identifier: MIT */
/* The driver of a virtio device finds the structures of its function, and refuses malformed ones.
 */
#include "emu/facts/enum/pci_field.h"
#include "emu/guest/virtio/virtio.h"
#include "guest/slot.h"

struct fixture {
    struct fake_slot slot;
    struct guest_virtio virtio;
};

/* Writes a capability of virtio to @at. */
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
 * list backwards, MSI-X in the middle of it.
 */
static struct slot_function *put_function(struct fixture *f)
{
    struct slot_function *s = slot_add(&f->slot, 0, VIRTIO_PCI_IDS(VIRTIO_ID_RDMA));

    s->config[PCI_CAPABILITIES] = 0xd0;
    put_cap(s, 0xd0, 0xc0, VIRTIO_CAP_DEVICE, 0x3000, 0x280);
    put_cap(s, 0xc0, 0xb0, VIRTIO_CAP_ISR, 0x2000, 1);
    slot_msix(s, 0xb0, 0x90);
    put_cap(s, 0x90, 0x80, VIRTIO_CAP_NOTIFY, 0x1000, 0x400);
    st_le32(s->config + 0xa0, 16);
    put_cap(s, 0x80, 0, VIRTIO_CAP_COMMON, 0, 56);
    return s;
}

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    slot_init(&f->slot, &f->virtio.pci);
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
    const struct pci_slot_function *found;

    pci_scan(&f->slot.bus);
    found = pci_find(&f->slot.bus, VIRTIO_PCI_IDS(VIRTIO_ID_RDMA));
    assert_non_null(found);
    return virtio_probe(&f->virtio, found);
}

static void a_driver_finds_the_structures_wherever_they_are(void **state)
{
    struct fixture *f = *state;
    const struct slot_function *s = put_function(f);
    uint64_t base;

    assert_int_equal(probe(f), RDL_OK);
    base = f->virtio.pci.found->bar[0];
    assert_int_equal(f->virtio.structures[VIRTIO_CAP_COMMON].gpa, base);
    assert_int_equal(f->virtio.structures[VIRTIO_CAP_NOTIFY].gpa, base + 0x1000);
    assert_int_equal(f->virtio.structures[VIRTIO_CAP_ISR].gpa, base + 0x2000);
    assert_int_equal(f->virtio.structures[VIRTIO_CAP_DEVICE].gpa, base + 0x3000);
    assert_int_equal(f->virtio.notify_multiplier, 16);
    assert_int_equal(ld_le16(s->config + PCI_COMMAND), PCI_CMD_MEMORY | PCI_CMD_MASTER);
    assert_int_equal(f->virtio.pci.n_vectors, 2);
    assert_int_equal(virtio_ask_isr(&f->virtio), 0); /* it does not use INTx */
}

static void the_first_capability_of_a_type_counts(void **state)
{
    struct fixture *f = *state;
    struct slot_function *s = put_function(f);

    put_cap(s, 0xe0, 0xd0, VIRTIO_CAP_DEVICE, 0x2800, 0x100);
    s->config[PCI_CAPABILITIES] = 0xe0;
    assert_int_equal(probe(f), RDL_OK);
    assert_int_equal(f->virtio.structures[VIRTIO_CAP_DEVICE].gpa,
                     f->virtio.pci.found->bar[0] + 0x2800);
}

static void a_function_that_does_not_answer_has_not_interrupted(void **state)
{
    struct fixture *f = *state;

    put_function(f)->config[0xb0] = 0x05; /* MSI, which no driver of virtio knows */
    assert_int_equal(probe(f), RDL_OK);
    assert_true(pci_uses_line(&f->virtio.pci));
    assert_int_equal(virtio_ask_isr(&f->virtio), 0); /* all ones */
}

/* Each of these lacks something; none may access memory. */
static void a_function_without_all_structures_is_left_alone(void **state)
{
    static const struct {
        uint32_t at, bytes, value;
    } rows[] = {
        {PCI_STATUS, 2, 0},       /* says that there is no list */
        {PCI_CAPABILITIES, 1, 0}, /* the list is empty */
        {0xd1, 1, 0xd0},          /* goes in a circle */
        {0xc1, 1, 0},             /* ends too early */
        {0x83, 1, 9},             /* a type that nobody knows */
        {0xc4, 1, 1},             /* in a BAR that is not there */
        {0xc4, 1, 7},             /* in a BAR that cannot be */
        {0xc8, 4, 0x4000},        /* behind the end of the BAR */
        {0xd8, 4, 0xffffff00u},   /* the end is past all addresses */
        {0xdc, 4, 0x1001},        /* one byte too long */
        {0x8c, 4, 55},            /* the common configuration ends in the middle of a register */
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture *f = *state;
        struct slot_function *s;
        uint8_t le[4];

        f->virtio = (struct guest_virtio){0};
        slot_init(&f->slot, &f->virtio.pci);
        s = put_function(f);
        st_le32(le, rows[i].value);
        memcpy(s->config + rows[i].at, le, rows[i].bytes);
        assert_int_equal(probe(f), RDL_ERR_UNSUPPORTED);
        assert_int_equal(ld_le16(s->config + PCI_COMMAND) & PCI_CMD_MASTER, 0);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_driver_finds_the_structures_wherever_they_are),
        T(the_first_capability_of_a_type_counts),
        T(a_function_that_does_not_answer_has_not_interrupted),
        T(a_function_without_all_structures_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
