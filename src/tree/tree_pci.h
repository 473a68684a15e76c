/* SPDX-License-Identifier: MIT */
/* PCI functions, as `lspci -n -vvv -xxx` shows them, and what each field of configuration space
 * says.
 */
#ifndef TREE_TREE_PCI_H
#define TREE_TREE_PCI_H

#include <stdio.h>

#include "rdmalab/inspect.h"

/* Both functions at @path, "h1.pci". */
void tree_pci_slot(FILE *out, const struct rdl_lab *lab, const char *path);

/* The function at @path, "h1.pci.rdma", explained field by field. */
void tree_pci_function(FILE *out, const struct rdl_lab *lab, const char *path);

#endif
