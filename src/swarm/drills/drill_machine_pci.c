/* SPDX-License-Identifier: MIT */
/* The drill of a machine: configuration space, BARs and interrupts of its PCI functions, with a
 * model of each.  [PCI 3.0, 6.2 and 6.8; virtio 1.2, 4.1]
 */
#include <inttypes.h>
#include <stdio.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/pci.h"
#include "swarm/drills/drill_machine.h"

#define BAR_VIRTIO 0u
#define BAR_MSIX   1u
#define HELD_BITS  (PCI_CMD_MEMORY | PCI_CMD_MASTER | PCI_CMD_INTX_OFF)

/* --- Accesses --------------------------------------------------------------------------------- */

static uint64_t reach(struct drill *d, const struct rdl_vm_access *a)
{
    uint64_t v = 0;

    d->n_unsaid++;
    (void)drill_works(d, rdl_vm_access(d->lab, machine_of(d)->host, a, &v),
                      "a machine can access its functions");
    return v;
}

uint32_t machine_config(struct drill *d, uint32_t function, uint32_t at, uint32_t width)
{
    return (uint32_t)reach(
        d,
        &(struct rdl_vm_access){.function = function, .config = true, .bytes = width, .addr = at});
}

void machine_config_put(struct drill *d, uint32_t function, uint32_t at, uint32_t width, uint32_t v)
{
    (void)reach(d, &(struct rdl_vm_access){.function = function,
                                           .config = true,
                                           .write = true,
                                           .bytes = width,
                                           .addr = at,
                                           .value = v});
}

/* Lets the data register of configuration space show @width bytes of @bar at @at.
 * [virtio 1.2, 4.1.4.9]
 */
static void aim(struct drill *d, uint32_t function, uint32_t bar, uint32_t at, uint32_t width)
{
    machine_config_put(d, function, PCI_ACCESS_BAR, 1, bar);
    machine_config_put(d, function, PCI_ACCESS_OFFSET, 4, at);
    machine_config_put(d, function, PCI_ACCESS_LENGTH, 4, width);
}

/* Returns true if an access to @bar goes to its address. */
static bool goes_direct(struct drill *d, const struct machine_function *f, uint32_t bar)
{
    return (f->command & PCI_CMD_MEMORY) && f->bar[bar] != 0 && !drill_one_in(d, 4);
}

uint64_t machine_bar(struct drill *d, uint32_t function, uint32_t bar, uint32_t at, uint32_t width)
{
    const struct machine_function *f = &machine_of(d)->f[function];
    uint64_t low;

    if (goes_direct(d, f, bar))
        return reach(d, &(struct rdl_vm_access){
                            .function = function, .bytes = width, .addr = f->bar[bar] + at});
    aim(d, function, bar, at, width == 8 ? 4 : width);
    low = machine_config(d, function, PCI_ACCESS_DATA, width == 8 ? 4 : width);
    if (width < 8)
        return low;
    aim(d, function, bar, at + 4, 4);
    return low | (uint64_t)machine_config(d, function, PCI_ACCESS_DATA, 4) << 32;
}

void machine_bar_put(struct drill *d, uint32_t function, uint32_t bar, uint32_t at, uint32_t width,
                     uint64_t v)
{
    const struct machine_function *f = &machine_of(d)->f[function];

    if (goes_direct(d, f, bar)) {
        (void)reach(d, &(struct rdl_vm_access){.function = function,
                                               .write = true,
                                               .bytes = width,
                                               .addr = f->bar[bar] + at,
                                               .value = v});
        return;
    }
    aim(d, function, bar, at, width == 8 ? 4 : width);
    machine_config_put(d, function, PCI_ACCESS_DATA, width == 8 ? 4 : width, (uint32_t)v);
    if (width < 8)
        return;
    aim(d, function, bar, at + 4, 4);
    machine_config_put(d, function, PCI_ACCESS_DATA, 4, (uint32_t)(v >> 32));
}

uint64_t machine_reg(struct drill *d, uint32_t function, uint32_t at, uint32_t width)
{
    return machine_bar(d, function, BAR_VIRTIO, at, width);
}

void machine_reg_put(struct drill *d, uint32_t function, uint32_t at, uint32_t width, uint64_t v)
{
    machine_bar_put(d, function, BAR_VIRTIO, at, width, v);
}

/* --- The model of interrupts ------------------------------------------------------------------ */

static uint32_t vectors_used(const struct machine_function *f)
{
    RDL_ASSERT(f->n_vectors > 0);
    return f->n_vectors < MACHINE_VECTORS ? f->n_vectors : MACHINE_VECTORS;
}

void machine_device_reset(struct machine_function *f)
{
    f->isr = 0;
    f->config_vector = f->rx_vector = VIRTIO_NO_VECTOR;
    for (uint32_t i = 0; i < MACHINE_VECTORS; i++)
        f->vectors[i].pending = false;
}

void machine_power_on(struct machine_function *f)
{
    f->command = 0;
    f->bar[0] = f->bar[1] = 0;
    f->interrupt_line = f->cache_line = 0;
    f->msix = f->msix_masked = false;
    machine_device_reset(f);
    for (uint32_t i = 0; i < MACHINE_VECTORS; i++)
        f->vectors[i] = (struct machine_vector){.masked = true};
}

static bool may_send(const struct machine_function *f, const struct machine_vector *v)
{
    return !v->masked && !f->msix_masked && (f->command & PCI_CMD_MASTER);
}

static void expect_message(struct drill *d, uint32_t function, const struct machine_vector *v)
{
    struct machine *m = machine_of(d);

    if (m->n_expected < MACHINE_MESSAGES)
        m->expected[m->n_expected++] = (struct machine_message){function, v->data, v->address};
}

static void raise_vector(struct drill *d, uint32_t function, uint32_t vector)
{
    struct machine_function *f = &machine_of(d)->f[function];

    if (vector == VIRTIO_NO_VECTOR)
        return;
    RDL_ASSERT(vector < vectors_used(f)); /* virtio-net has no more */
    if (may_send(f, &f->vectors[vector]))
        expect_message(d, function, &f->vectors[vector]);
    else
        f->vectors[vector].pending = true;
}

void machine_raise_config(struct drill *d, uint32_t function)
{
    struct machine_function *f = &machine_of(d)->f[function];

    f->isr |= 2;
    if (f->msix)
        raise_vector(d, function, f->config_vector);
}

void machine_raise_rx(struct drill *d, uint32_t function)
{
    struct machine_function *f = &machine_of(d)->f[function];

    if (f->msix)
        raise_vector(d, function, f->rx_vector);
    else
        f->isr |= 1;
}

/* Sends what is pending and can be sent now. */
static void settle(struct drill *d, uint32_t function)
{
    struct machine_function *f = &machine_of(d)->f[function];

    for (uint32_t i = 0; f->msix && i < vectors_used(f); i++) {
        if (!f->vectors[i].pending || !may_send(f, &f->vectors[i]))
            continue;
        f->vectors[i].pending = false;
        expect_message(d, function, &f->vectors[i]);
    }
}

/* Draws the function for a step: mostly the one that interrupts. */
static uint32_t draw_function(struct drill *d)
{
    return drill_one_in(d, 4) ? MACHINE_RDMA : MACHINE_NET;
}

/* Draws a vector, mostly one that is pending if there is one. */
static uint32_t draw_vector(struct drill *d, const struct machine_function *f)
{
    const uint32_t n = vectors_used(f), first = drill_below(d, n);

    for (uint32_t i = 0; i < n; i++) {
        if (f->vectors[(first + i) % n].pending && !drill_one_in(d, 4))
            return (first + i) % n;
    }
    return first;
}

/* --- Steps ------------------------------------------------------------------------------------ */

static bool reads(struct drill *d, uint32_t function, uint32_t at, uint32_t width, uint32_t want,
                  const char *what)
{
    const uint32_t have = machine_config(d, function, at, width);

    return drill_expect(d, have == want, what, "function %u, offset 0x%x: 0x%x, and not 0x%x",
                        function, at, have, want);
}

static void check_constants(struct drill *d, uint32_t function)
{
    const uint32_t id = function == 0 ? VIRTIO_ID_NET : VIRTIO_ID_RDMA;
    const struct {
        uint32_t at, width, value;
    } rows[] = {
        {PCI_VENDOR_ID, 4, PCI_VENDOR_VIRTIO | (PCI_DEVICE_BASE + id) << 16},
        {PCI_SUBSYSTEM_VENDOR_ID, 2, PCI_VENDOR_VIRTIO},
        {PCI_REVISION_ID, 1, 1},
        {PCI_CLASS_CODE + 2, 1, 2}, /* a network controller */
        {PCI_BAR2, 4, 0},
        {PCI_EXPANSION_ROM, 4, 0},
        {PCI_INTERRUPT_PIN, 1, function + 1},
        {PCI_MSIX_CAP, 1, PCI_CAP_ID_MSIX},
        {PCI_HEADER_TYPE, 1, PCI_HEADER_SEVERAL},
    };
    const size_t i = drill_below(d, ARRAY_LEN(rows) - function);

    machine_config_put(d, function, rows[i].at, rows[i].width, (uint32_t)prng_next(&d->rng));
    (void)reads(d, function, rows[i].at, rows[i].width, rows[i].value,
                "a write to a constant of configuration space changes nothing");
}

/* Moves a BAR to a random address, after its size was asked for as firmware does. */
static bool move_bar(struct drill *d, uint32_t function, uint32_t bar)
{
    struct machine_function *f = &machine_of(d)->f[function];
    const uint32_t at = PCI_BAR0 + 4 * bar, mask = ~(f->bar_bytes[bar] - 1);
    /* 64 MiB for each BAR, far from the others */
    const uint32_t base = 0x80000000u + (4 * function + bar) * 0x04000000u;
    const uint32_t address = base + (drill_below(d, 0x04000000u - f->bar_bytes[bar]));

    if (drill_one_in(d, 2)) {
        machine_config_put(d, function, at, 4, UINT32_MAX);
        f->bar[bar] = mask;
        if (!reads(d, function, at, 4, mask, "a BAR written with all ones reads as its size"))
            return false;
    }
    machine_config_put(d, function, at, 4, address);
    f->bar[bar] = address & mask;
    return reads(d, function, at, 4, address & mask, "a BAR holds a multiple of its size");
}

bool machine_enable(struct drill *d, uint32_t function)
{
    struct machine_function *f = &machine_of(d)->f[function];

    for (uint32_t bar = 0; bar < 2; bar++) {
        if (!move_bar(d, function, bar))
            return false;
    }
    f->command = PCI_CMD_MEMORY | PCI_CMD_MASTER;
    machine_config_put(d, function, PCI_COMMAND, 2, f->command);
    settle(d, function);
    return !d->wrong;
}

void machine_change_config(struct drill *d)
{
    const uint32_t function = draw_function(d);
    struct machine_function *f = &machine_of(d)->f[function];
    const uint8_t byte = (uint8_t)drill_below(d, 256);

    switch (drill_below(d, 4)) {
    case 0:
        machine_config_put(d, function, PCI_INTERRUPT_LINE, 1, byte);
        f->interrupt_line = byte;
        break;
    case 1:
        machine_config_put(d, function, PCI_CACHE_LINE_SIZE, 1, byte);
        f->cache_line = byte;
        break;
    case 2:
        (void)move_bar(d, function, drill_below(d, 2));
        break;
    default:
        check_constants(d, function);
    }
    if (reads(d, function, PCI_INTERRUPT_LINE, 1, f->interrupt_line, "a register keeps its value"))
        (void)reads(d, function, PCI_CACHE_LINE_SIZE, 1, f->cache_line,
                    "a register keeps its value");
}

void machine_change_command(struct drill *d)
{
    const uint32_t function = draw_function(d);
    struct machine_function *f = &machine_of(d)->f[function];
    const uint32_t likely = PCI_CMD_MEMORY | PCI_CMD_MASTER;
    uint32_t v = (uint32_t)prng_next(&d->rng) & 0xffff;

    if (drill_one_in(d, 2))
        v |= likely;
    if (drill_one_in(d, 4)) /* with a write to the status register behind it */
        machine_config_put(d, function, PCI_COMMAND, 4, v | 0xffff0000u);
    else
        machine_config_put(d, function, PCI_COMMAND, 2, v);
    f->command = v & HELD_BITS;
    settle(d, function);
    (void)reads(d, function, PCI_COMMAND, 2, f->command,
                "the command register has the bits that a function of this kind has");
}

void machine_change_vector(struct drill *d)
{
    const uint32_t function = draw_function(d);
    struct machine_function *f = &machine_of(d)->f[function];
    const uint32_t vector = draw_vector(d, f);
    const uint32_t at = vector * MSIX_ENTRY_BYTES;
    struct machine_vector *v = &f->vectors[vector];
    const uint32_t word = (uint32_t)prng_next(&d->rng);

    switch (drill_below(d, 5)) {
    case 0:
        v->address = (uint64_t)word << 16 & ~3ull;
        machine_bar_put(d, function, BAR_MSIX, at + MSIX_ADDRESS, 8, (uint64_t)word << 16);
        break;
    case 1:
        v->address = (v->address & ~(uint64_t)UINT32_MAX) | (word & ~3u);
        machine_bar_put(d, function, BAR_MSIX, at + MSIX_ADDRESS, 4, word);
        break;
    case 2:
        v->data = word;
        machine_bar_put(d, function, BAR_MSIX, at + MSIX_DATA, 4, word);
        break;
    default:
        v->masked = drill_one_in(d, 3);
        machine_bar_put(d, function, BAR_MSIX, at + MSIX_CONTROL, 4, v->masked);
    }
    settle(d, function);
}

void machine_change_msix(struct drill *d)
{
    const uint32_t function = draw_function(d);
    struct machine_function *f = &machine_of(d)->f[function];

    f->msix = !drill_one_in(d, 3);
    f->msix_masked = drill_one_in(d, 4);
    machine_config_put(d, function, PCI_MSIX_CONTROL, 2,
                       (f->msix ? MSIX_ENABLE : 0) | (f->msix_masked ? MSIX_FUNCTION_MASK : 0) |
                           drill_below(d, 0x800));
    settle(d, function);
    (void)reads(d, function, PCI_MSIX_CONTROL, 2,
                (f->msix ? MSIX_ENABLE : 0) | (f->msix_masked ? MSIX_FUNCTION_MASK : 0) |
                    (f->n_vectors - 1),
                "the control of MSI-X has the number of vectors, and the bits written to it");
}

/* --- Checks ----------------------------------------------------------------------------------- */

static bool messages_came(struct drill *d)
{
    struct machine *m = machine_of(d);

    if (!drill_settle(d) ||
        !drill_expect(d, m->n_got == m->n_expected,
                      "each interrupt that may be sent is sent once, and no other",
                      "%u messages, and not %u", m->n_got, m->n_expected))
        return false;
    for (uint32_t i = 0; i < m->n_got; i++) {
        const struct machine_message *have = &m->got[i], *want = &m->expected[i];

        if (!drill_expect(d,
                          have->function == want->function && have->address == want->address &&
                              have->data == want->data,
                          "a message has address and data of its vector, and comes in order",
                          "0x%" PRIx64 " 0x%x, and not 0x%" PRIx64 " 0x%x", have->address,
                          have->data, want->address, want->data))
            return false;
    }
    m->n_got = m->n_expected = 0;
    return true;
}

static bool check_vector(struct drill *d, uint32_t function, uint32_t vector)
{
    const struct machine_vector *v = &machine_of(d)->f[function].vectors[vector];
    const uint32_t at = vector * MSIX_ENTRY_BYTES;
    const uint64_t address = machine_bar(d, function, BAR_MSIX, at + MSIX_ADDRESS, 8);
    const uint64_t rest = machine_bar(d, function, BAR_MSIX, at + MSIX_DATA, 8);

    return drill_expect(d, address == v->address && rest == (v->data | (uint64_t)v->masked << 32),
                        "an entry of the MSI-X table reads as it was written",
                        "vector %u: 0x%" PRIx64 " 0x%" PRIx64, vector, address, rest);
}

static bool number_is(struct drill *d, uint32_t function, const char *leaf, uint64_t want,
                      const char *what)
{
    char path[48];

    snprintf(path, sizeof(path), "m1.pci.%s.%s", function == MACHINE_NET ? "net" : "rdma", leaf);
    return drill_number_is(d, path, want, what);
}

static bool check_function(struct drill *d, uint32_t function)
{
    const struct machine_function *f = &machine_of(d)->f[function];
    const bool has_reason = f->isr != 0 && !f->msix;
    const uint32_t status = PCI_STS_CAP_LIST | (has_reason ? (uint32_t)PCI_STS_INTERRUPT : 0);
    uint32_t pending = 0, n = 0;
    uint64_t have;

    for (uint32_t i = 0; i < vectors_used(f); i++) {
        pending |= (uint32_t)f->vectors[i].pending << i;
        n += f->vectors[i].pending;
    }
    have =
        machine_bar(d, function, BAR_MSIX, f->bar_bytes[BAR_MSIX] / 2, drill_one_in(d, 2) ? 4 : 8);
    return drill_expect(d, have == pending, "the pending bits tell what was not sent",
                        "function %u: 0x%" PRIx64 ", and not 0x%x", function, have, pending) &&
           reads(d, function, PCI_COMMAND, 4, f->command | status << 16,
                 "the status register tells whether there is an interrupt for the line") &&
           number_is(d, function, "pending", n, "the tree counts the pending vectors") &&
           number_is(d, function, "line", has_reason && !(f->command & PCI_CMD_INTX_OFF),
                     "the line is high while there is a reason, and it is not disabled") &&
           check_vector(d, function, drill_below(d, vectors_used(f)));
}

bool machine_check_interrupts(struct drill *d)
{
    struct machine_function *f;
    uint32_t function;
    uint64_t isr;

    if (d->wrong || !messages_came(d))
        return false;
    function = draw_function(d);
    f = &machine_of(d)->f[function];
    if (!check_function(d, function))
        return false;
    if (!drill_one_in(d, 3))
        return true;
    isr = machine_bar(d, function, BAR_VIRTIO, BAR_ISR, 1);
    if (!drill_expect(d, isr == f->isr, "the interrupt status has the reasons since it was read",
                      "function %u: %u, and not %u", function, (unsigned)isr, f->isr))
        return false;
    f->isr = 0;
    return true;
}
