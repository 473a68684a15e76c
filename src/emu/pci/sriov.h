/* SPDX-License-Identifier: MIT */
/* The SR-IOV capability of a PCI function: its registers and their rules.
 *
 * With it a function, the physical function (PF), has virtual functions (VFs): further functions of
 * the bus, which share its hardware.  The driver of the PF decides how many there are:
 *
 *	NumVFs = n; VF Enable = 1	VFs 0 .. n - 1 exist (vf.h)
 *	VF Enable = 0			no VF exists
 *
 * The routing ID of VF k is that of the PF + First VF Offset + k * VF Stride.  Each VF BAR is one
 * range of memory for all VFs: VF k has the part at k times the size of the BAR.  Software finds
 * that size like that of an ordinary BAR, but reserves it TotalVFs times.  It is a multiple of the
 * system's page size, so that VFs share no page.
 *
 * A write whose effect the specification leaves undefined has none: NumVFs and
 * System Page Size while VF Enable is set, NumVFs above TotalVFs, a System Page Size that is not
 * exactly one of the supported ones.  [PCI Express 5.0, 9.3.3]
 *
 * SIMPLIFIED: VFs do not migrate.  ARI Capable Hierarchy is 0, as it must be for an endpoint that
 * is integrated in the root complex.
 */
#ifndef EMU_PCI_SRIOV_H
#define EMU_PCI_SRIOV_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/pci.h"

/* Most VFs of a function: as many as a ConnectX-3 has.  A bus has routing IDs for 240. */
#define SRIOV_VFS_MAX 126u

/* Routing ID of VF 0 less that of the PF, which is function 1 of the slot. */
#define SRIOV_FIRST_OFFSET (PCI_VF_FIRST - 1)
#define SRIOV_STRIDE       1u

struct sriov_config {
    uint32_t total_vfs;           /* 1 .. SRIOV_VFS_MAX */
    uint32_t number;              /* of the PF in its slot */
    uint16_t vf_device;           /* device ID of the VFs */
    uint32_t bar_bytes[PCI_BARS]; /* size that a VF needs of each BAR, powers of two; 0: no BAR */
};

struct pci_fn;

/* A VF, as the bus of the PF sees it. */
struct sriov_vf {
    bool master;                    /* bus mastering is on */
    bool msix_enabled, msix_masked; /* bits of its MSI-X message control */
    struct pci_fn *device; /* function of the guest that has the VF; then the state above is its */
};

struct sriov {
    struct sriov_config config;
    uint16_t control;       /* set of enum sriov_control_bit */
    uint16_t num_vfs;       /* NumVFs */
    uint32_t page;          /* System Page Size: one bit */
    uint32_t bar[PCI_BARS]; /* values of the VF BARs */
    struct sriov_vf *vfs;   /* config.total_vfs entries */
    /* The adapter of @host is told that the @n VFs from @first on were reset, and that the number
     * of VFs may have changed.  NULL: it need not know.
     */
    void (*changed)(void *ctx, uint32_t host, uint32_t first, uint32_t n);
    void *ctx; /* argument of changed() */
};

/* Sets the registers to their values after power-on.  Ignores s->vfs. */
void sriov_reset(struct sriov *s);

/* Returns true if @field (enum pci_field) belongs to the capability. */
bool sriov_has(uint32_t field);

/* Read and write @field, which belongs to the capability. */
uint32_t sriov_get(const struct sriov *s, uint32_t field);
void sriov_put(struct sriov *s, uint32_t field, uint32_t value);

/* Returns the number of VFs that exist. */
uint32_t sriov_count(const struct sriov *s);

/* Returns the size in bytes of VF BAR @bar for one VF, or 0 if there is no such BAR. */
uint32_t sriov_bar_bytes(const struct sriov *s, uint32_t bar);

/* Returns the number in the slot of the function that is VF @vf. */
uint32_t sriov_number(const struct sriov *s, uint32_t vf);

/* Finds the VF that is function @number of the slot.  Returns false if there is none, or it does
 * not exist now.
 */
bool sriov_find(const struct sriov *s, uint32_t number, uint32_t *ret_vf);

/* The SR-IOV capability at offset @AT, the last extended one; for a table of places (function.h).
 */
#define FN_PLACE_SRIOV(AT, FIELD, MASK)                                                            \
    {                                                                                              \
        (AT), PCI_SRIOV_##FIELD, 0, (MASK), false                                                  \
    }
#define FN_PLACES_SRIOV(AT)                                                                        \
    FN_PLACE_SRIOV((AT), HEADER, 0), FN_PLACE_SRIOV((AT) + SRIOV_AT_CAPS, CAPS, 0),                \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_CONTROL, CONTROL, SRIOV_ENABLE | SRIOV_MEMORY),             \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_STATUS, STATUS, 0),                                         \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_INITIAL_VFS, INITIAL_VFS, 0),                               \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_TOTAL_VFS, TOTAL_VFS, 0),                                   \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_NUM_VFS, NUM_VFS, 0xffff),                                  \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_LINK, LINK, 0),                                             \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_FIRST_OFFSET, FIRST_OFFSET, 0),                             \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_STRIDE, STRIDE, 0),                                         \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_VF_DEVICE_ID, VF_DEVICE_ID, 0),                             \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_PAGES, PAGES, 0),                                           \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_PAGE, PAGE, UINT32_MAX),                                    \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_BAR0, BAR0, ~PCI_BAR_LOW_BITS),                             \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_BAR0 + 4, BAR1, ~PCI_BAR_LOW_BITS),                         \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_BAR0 + 8, BAR2, ~PCI_BAR_LOW_BITS),                         \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_BAR0 + 12, BAR3, ~PCI_BAR_LOW_BITS),                        \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_BAR0 + 16, BAR4, ~PCI_BAR_LOW_BITS),                        \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_BAR0 + 20, BAR5, ~PCI_BAR_LOW_BITS),                        \
        FN_PLACE_SRIOV((AT) + SRIOV_AT_MIGRATION, MIGRATION, 0)

#endif
