/* SPDX-License-Identifier: MIT */
/* The virtual functions of a PCI function, as its bus sees them: configuration space.
 *
 * A VF has 4,096 bytes of configuration space.  Much of it belongs to its physical function (PF),
 * so that the VF can be given to a guest:
 *
 *	vendor, device	ffff: a scan of the bus finds no VF.  The driver of the PF computes where
 *			VFs are, and takes the PF's vendor ID and the capability's VF Device ID
 *	command		bus master alone; memory space is a bit of the PF's SR-IOV control
 *	BARs		0: they are the VF BARs of the PF
 *	INTx		none
 *	Express, MSI-X	its own; Initiate Function Level Reset resets the VF alone
 *
 * A VF that a guest has (vf_attach()) is the guest's function: bus master and MSI-X are those of
 * that function, and a reset resets it.  Any other VF has no device behind it, and costs the few
 * bytes of struct sriov_vf.  [PCI Express 5.0, 9.3.4 and 9.3.5]
 *
 * SIMPLIFIED: nobody answers at the VF BARs, and the virtio capabilities of a VF are only in the
 * guest's own view of its function.  The machine's drivers do not use VFs themselves.
 */
#ifndef EMU_PCI_VF_H
#define EMU_PCI_VF_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/pci/function.h"
#include "emu/pci/sriov.h"

/* Gives @f, a function with PCI Express and places for the capability, @total_vfs VFs with the
 * device ID @vf_device.  Returns false if the arena is full.
 */
bool vf_init(struct pci_fn *f, uint32_t total_vfs, uint16_t vf_device);

/* Makes @device, a function of another slot, the device behind VF @vf of @f; NULL: none. */
void vf_attach(struct pci_fn *f, uint32_t vf, struct pci_fn *device);

/* Resets the capability, as a reset of @f does: no VF exists. */
void vf_reset_all(struct pci_fn *f);

/* Writes @field of the capability of @f.  VFs that begin to exist are as after a reset, and devices
 * of VFs that cease to exist are reset.  Emits vfs if their number changes.
 */
void vf_put_sriov(struct pci_fn *f, uint32_t field, uint32_t value);

/* Returns true while VF @vf of @f may access memory, and its MSI-X Message Control. */
bool vf_is_master(const struct pci_fn *f, uint32_t vf);
uint32_t vf_msix_control(const struct pci_fn *f, uint32_t vf);

/* Read and write configuration space of VF @vf of @f, which exists.  See fn_config_read(). */
uint32_t vf_config_read(struct pci_fn *f, uint32_t vf, uint32_t offset, uint32_t width);
void vf_config_write(struct pci_fn *f, uint32_t vf, uint32_t offset, uint32_t width,
                     uint32_t value);

/* Like vf_config_read(), but emits no event. */
uint32_t vf_config_peek(const struct pci_fn *f, uint32_t vf, uint32_t offset, uint32_t width);

/* As fn_find_field() and fn_field_bytes(), of any VF. */
bool vf_find_field(uint32_t field, uint32_t *ret_offset);
uint32_t vf_field_bytes(uint32_t offset);

#endif
