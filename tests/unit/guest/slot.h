/* SPDX-License-Identifier: MIT */
/* A PCI slot of plain bytes, for tests of enumeration and of probing.  Functions have configuration
 * space and BARs without registers.  Writes to BARs are recorded, reads return all ones.
 */
#ifndef TESTS_UNIT_GUEST_SLOT_H
#define TESTS_UNIT_GUEST_SLOT_H

#include "testing.h"

#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/guest/pci/pci.h"

#define SLOT_FUNCTIONS   8u
#define SLOT_WRITES      64u
#define SLOT_BAR_BYTES   0x4000u
#define SLOT_MSIX_OFFSET 0x3800u /* place of the MSI-X table of slot_msix() in BAR 0 */

struct slot_function {
    bool there;
    uint8_t config[PCI_CONFIG_BYTES];
    uint32_t bar_bytes[PCI_BARS];
};

struct fake_slot {
    struct slot_function functions[SLOT_FUNCTIONS];
    uint32_t n_absent; /* accesses of functions that are not there */
    uint64_t at[SLOT_WRITES];
    uint32_t value[SLOT_WRITES], n_written;
    struct pci_bus bus;
};

static inline uint32_t slot_config_read(void *ctx, uint32_t number, uint32_t offset, uint32_t width)
{
    struct fake_slot *s = ctx;
    uint8_t le[4] = {0};

    assert_true(number < SLOT_FUNCTIONS && offset % width == 0 && offset < PCI_CONFIG_BYTES);
    if (!s->functions[number].there) {
        s->n_absent++;
        return UINT32_MAX;
    }
    memcpy(le, s->functions[number].config + offset, width);
    return ld_le32(le);
}

static inline void slot_config_write(void *ctx, uint32_t number, uint32_t offset, uint32_t width,
                                     uint32_t value)
{
    struct slot_function *f = &((struct fake_slot *)ctx)->functions[number];
    uint8_t le[4];

    assert_true(f->there);
    if (offset >= PCI_BAR0 && offset <= PCI_BAR5) {
        const uint32_t i = (offset - PCI_BAR0) / 4;
        const uint32_t low = ld_le32(f->config + offset) & 0xfu;

        value = f->bar_bytes[i] ? (value & ~(f->bar_bytes[i] - 1)) | low : 0;
    }
    st_le32(le, value);
    memcpy(f->config + offset, le, width);
}

static inline uint64_t slot_mem_read(void *ctx, uint64_t gpa, uint32_t width)
{
    (void)ctx;
    (void)gpa;
    return UINT64_MAX >> (64 - 8 * width);
}

static inline void slot_mem_write(void *ctx, uint64_t gpa, uint32_t width, uint64_t value)
{
    struct fake_slot *s = ctx;

    assert_int_equal(width, 4);
    assert_true(s->n_written < SLOT_WRITES);
    s->at[s->n_written] = gpa;
    s->value[s->n_written++] = (uint32_t)value;
}

static const struct guest_bus slot_bus = {slot_config_read, slot_config_write, slot_mem_read,
                                          slot_mem_write};

/* Makes the slot empty, and @p the driver's side of one of its functions that is not probed. */
static inline void slot_init(struct fake_slot *s, struct guest_pci *p)
{
    *s = (struct fake_slot){.bus = {.bus = &slot_bus, .ctx = s}};
    *p = (struct guest_pci){.bus = &slot_bus, .bus_ctx = s};
}

/* Adds function @number with @ids.  It has BAR 0, and an empty list of capabilities. */
static inline struct slot_function *slot_add(struct fake_slot *s, uint32_t number, uint32_t ids)
{
    struct slot_function *f = &s->functions[number];

    f->there = true;
    f->bar_bytes[0] = SLOT_BAR_BYTES;
    st_le32(f->config, ids);
    st_le16(f->config + PCI_STATUS, PCI_STS_CAP_LIST);
    return f;
}

/* Writes an MSI-X capability of two vectors to @at; the capability after it is at @next. */
static inline void slot_msix(struct slot_function *f, uint32_t at, uint32_t next)
{
    f->config[at] = PCI_CAP_ID_MSIX;
    f->config[at + PCI_AT_NEXT] = (uint8_t)next;
    st_le16(f->config + at + MSIX_AT_CONTROL, 1);
    st_le32(f->config + at + MSIX_AT_TABLE, SLOT_MSIX_OFFSET);
    st_le32(f->config + at + MSIX_AT_PBA, SLOT_MSIX_OFFSET + 0x400);
}

#endif
