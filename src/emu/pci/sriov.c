/* SPDX-License-Identifier: MIT */
#include "emu/pci/sriov.h"

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/enum/pci_field.h"

bool sriov_has(uint32_t field)
{
    return field >= PCI_SRIOV_HEADER && field <= PCI_SRIOV_MIGRATION;
}

void sriov_reset(struct sriov *s)
{
    s->control = 0;
    s->num_vfs = 0;
    s->page = 1;
    for (uint32_t i = 0; i < PCI_BARS; i++)
        s->bar[i] = 0;
}

static bool is_enabled(const struct sriov *s)
{
    return (s->control & SRIOV_ENABLE) != 0;
}

uint32_t sriov_count(const struct sriov *s)
{
    return is_enabled(s) ? s->num_vfs : 0;
}

uint32_t sriov_bar_bytes(const struct sriov *s, uint32_t bar)
{
    const uint32_t page = SRIOV_PAGE_BYTES * s->page, own = s->config.bar_bytes[bar];

    if (own == 0)
        return 0;
    return own < page ? page : own;
}

/* The low bits of a VF BAR are 0: memory, 32 bits, not prefetchable. */
static uint32_t bar_of(const struct sriov *s, uint32_t bar)
{
    const uint32_t bytes = sriov_bar_bytes(s, bar);

    return bytes == 0 ? 0 : s->bar[bar] & ~(bytes - 1);
}

static bool is_bar(uint32_t field)
{
    return field >= PCI_SRIOV_BAR0 && field <= PCI_SRIOV_BAR5;
}

uint32_t sriov_get(const struct sriov *s, uint32_t field)
{
    if (is_bar(field))
        return bar_of(s, field - PCI_SRIOV_BAR0);
    switch (field) {
    case PCI_SRIOV_HEADER:
        return PCI_EXT_ID_SRIOV | SRIOV_VERSION << PCI_EXT_VERSION_BIT;
    case PCI_SRIOV_CONTROL:
        return s->control;
    case PCI_SRIOV_INITIAL_VFS:
    case PCI_SRIOV_TOTAL_VFS:
        return s->config.total_vfs;
    case PCI_SRIOV_NUM_VFS:
        return s->num_vfs;
    case PCI_SRIOV_LINK:
        return s->config.number;
    case PCI_SRIOV_FIRST_OFFSET:
        return SRIOV_FIRST_OFFSET;
    case PCI_SRIOV_STRIDE:
        return SRIOV_STRIDE;
    case PCI_SRIOV_VF_DEVICE_ID:
        return s->config.vf_device;
    case PCI_SRIOV_PAGES:
        return SRIOV_PAGES_REQUIRED;
    case PCI_SRIOV_PAGE:
        return s->page;
    default: /* no migration */
        return 0;
    }
}

void sriov_put(struct sriov *s, uint32_t field, uint32_t value)
{
    if (is_bar(field)) {
        s->bar[field - PCI_SRIOV_BAR0] = value;
        return;
    }
    switch (field) {
    case PCI_SRIOV_CONTROL:
        s->control = (uint16_t)(value & (SRIOV_ENABLE | SRIOV_MEMORY));
        break;
    case PCI_SRIOV_NUM_VFS:
        if (!is_enabled(s) && value <= s->config.total_vfs)
            s->num_vfs = (uint16_t)value;
        break;
    case PCI_SRIOV_PAGE:
        if (!is_enabled(s) && is_pow2(value) && (value & SRIOV_PAGES_REQUIRED))
            s->page = value;
        break;
    default:
        RDL_ASSERT(false); /* all other fields are read-only */
    }
}

uint32_t sriov_number(const struct sriov *s, uint32_t vf)
{
    return s->config.number + SRIOV_FIRST_OFFSET + vf * SRIOV_STRIDE;
}

bool sriov_find(const struct sriov *s, uint32_t number, uint32_t *ret_vf)
{
    const uint32_t first = sriov_number(s, 0);

    if (number < first || (number - first) % SRIOV_STRIDE != 0 ||
        (number - first) / SRIOV_STRIDE >= sriov_count(s))
        return false;
    *ret_vf = (number - first) / SRIOV_STRIDE;
    return true;
}
