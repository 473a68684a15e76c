/* SPDX-License-Identifier: MIT */
/* Prints PCI functions like `lspci -n -vvv -xxx`, and explains the fields of configuration space.
 */
#ifndef TREE_TREE_PCI_H
#define TREE_TREE_PCI_H

#include <stdio.h>

#include "rdmalab/inspect.h"

/* Prints both functions of the slot at @path, for example "h1.pci", and a line for each virtual
 * function.
 */
void tree_pci_slot(FILE *out, const struct rdl_lab *lab, const char *path);

/* Prints the function at @path, for example "h1.pci.rdma", with an explanation of each field. */
void tree_pci_function(FILE *out, const struct rdl_lab *lab, const char *path);

/* The same of the virtual function at @path, for example "h1.pci.rdma.sriov.vf[0]". */
void tree_pci_vf(FILE *out, const struct rdl_lab *lab, const char *path);

#endif
