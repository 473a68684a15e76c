/* SPDX-License-Identifier: MIT */
/* PCI enumeration, which a kernel does before its drivers start: finds functions and places BARs.
 */
#include "emu/guest/pci/scan.h"

#include "emu/facts/enum/pci_field.h"

#define NOBODY         0xffffu /* vendor ID of an empty function */
#define BAR_IO         1u      /* I/O space, which no guest here uses */
#define INTERRUPT_LINE 11u     /* both pins are wired to this line */

static uint32_t get(const struct pci_bus *b, uint32_t number, uint32_t field, uint32_t width)
{
    return b->bus->config_read(b->ctx, number, field, width);
}

static void put(const struct pci_bus *b, uint32_t number, uint32_t field, uint32_t width,
                uint32_t value)
{
    b->bus->config_write(b->ctx, number, field, width, value);
}

/* Size in bytes of the BAR register @field; 0: no BAR.  Restores the register's value. */
static uint32_t size_of_bar(const struct pci_bus *b, uint32_t number, uint32_t field)
{
    const uint32_t before = get(b, number, field, 4);
    uint32_t ones;

    put(b, number, field, 4, UINT32_MAX);
    ones = get(b, number, field, 4);
    put(b, number, field, 4, before);
    return ones == 0 || (ones & BAR_IO) ? 0 : ~(ones & ~PCI_BAR_LOW_BITS) + 1;
}

/* Places the BAR behind all others, aligned to its size. */
static void place_bar(struct pci_bus *b, struct pci_slot_function *f, uint32_t i)
{
    const uint32_t bytes = size_of_bar(b, f->number, PCI_BAR0 + 4 * i);

    if (bytes == 0)
        return;
    b->next = (b->next + bytes - 1) & ~(uint64_t)(bytes - 1);
    f->bar[i] = b->next;
    f->bar_bytes[i] = bytes;
    put(b, f->number, PCI_BAR0 + 4 * i, 4, (uint32_t)b->next);
    b->next += bytes;
}

static void scan_function(struct pci_bus *b, uint32_t number, uint32_t ids)
{
    struct pci_slot_function *f = &b->functions[b->n_functions++];

    *f = (struct pci_slot_function){.number = number, .ids = ids};
    /* reads class and subsystem IDs as a kernel does, for display */
    (void)get(b, number, PCI_REVISION_ID, 4);
    (void)get(b, number, PCI_SUBSYSTEM_VENDOR_ID, 4);
    for (uint32_t i = 0; i < PCI_BARS; i++)
        place_bar(b, f, i);
    if (get(b, number, PCI_INTERRUPT_PIN, 1) != 0)
        put(b, number, PCI_INTERRUPT_LINE, 1, INTERRUPT_LINE);
}

void pci_scan(struct pci_bus *b)
{
    b->next = PCI_MEMORY_FIRST;
    b->n_functions = 0;
    for (uint32_t number = 0; number < PCI_FUNCTIONS_MAX; number++) {
        const uint32_t ids = get(b, number, PCI_VENDOR_ID, 4);

        if ((ids & NOBODY) != NOBODY)
            scan_function(b, number, ids);
        if (number == 0 && ((ids & NOBODY) == NOBODY ||
                            !(get(b, number, PCI_HEADER_TYPE, 1) & PCI_HEADER_SEVERAL)))
            break;
    }
}

const struct pci_slot_function *pci_find(const struct pci_bus *b, uint32_t ids)
{
    for (uint32_t i = 0; i < b->n_functions; i++) {
        if (b->functions[i].ids == ids)
            return &b->functions[i];
    }
    return NULL;
}
