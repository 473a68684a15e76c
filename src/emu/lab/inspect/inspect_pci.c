/* SPDX-License-Identifier: MIT */
/* Inspect tree: the PCI functions of a host's slot. */
#include "emu/facts/enum/pci_field.h"
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/pci/vf.h"
#include "emu/rnic/eswitch.h"

static struct inode function_node(const struct inode *n, enum pci_function function)
{
    struct inode s = *n;

    s.function = function;
    return s;
}

void visit_pci(const struct inode *n, struct visit *v)
{
    if (n->host->net)
        inspect_child(v, CHILD_pci_net, function_node(n, FN_NET));
    if (n->host->device.ops)
        inspect_child(v, CHILD_pci_rdma, function_node(n, FN_RDMA));
    inspect_leaf(v, LEAF_pci_line_off, n->host->guest.line_is_off);
}

static const struct pci_fn *function_of(const struct inode *n)
{
    return n->host->functions[pci_number_of((enum pci_function)n->function)];
}

/* Number of BARs, up to the last one that the function has. */
static uint32_t n_bars(const struct pci_fn *f)
{
    uint32_t n = PCI_BARS;

    while (n > 0 && f->bar_bytes[n - 1] == 0)
        n--;
    return n;
}

static void bar_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    inspect_item_leaf(v, list, key, function_of(list)->bar[i]);
}

void visit_pci_function(const struct inode *n, struct visit *v)
{
    const struct pci_fn *f = function_of(n);

    inspect_leaf(v, LEAF_pci_function_vendor_id, fn_config_peek(f, PCI_VENDOR_ID, 2));
    inspect_leaf(v, LEAF_pci_function_device_id, fn_config_peek(f, PCI_DEVICE_ID, 2));
    inspect_leaf(v, LEAF_pci_function_class_code, f->config.class_code);
    inspect_set(v, LEAF_pci_function_command, f->command);
    inspect_set(v, LEAF_pci_function_status, fn_config_peek(f, PCI_STATUS, 2));
    inspect_child(v, CHILD_pci_function_bar, inspect_list_of(n, n_bars(f), bar_item));
    inspect_leaf(v, LEAF_pci_function_msix_enabled, f->msix_enabled);
    inspect_leaf(v, LEAF_pci_function_msix_masked, f->msix_masked);
    inspect_leaf(v, LEAF_pci_function_pending, f->n_pending);
    inspect_leaf(v, LEAF_pci_function_line, fn_line_is_high(f));
    inspect_child(v, CHILD_pci_function_vector,
                  inspect_list_of(n, f->vectors ? f->config.n_vectors : 0, inspect_nth));
    if (f->sriov)
        inspect_child(v, CHILD_pci_function_sriov, *n);
}

static void vf_bar_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    inspect_item_leaf(v, list, key,
                      sriov_get(function_of(list)->sriov, PCI_SRIOV_BAR0 + (uint32_t)i));
}

/* A VF has the BARs of its physical function. */
void visit_sriov(const struct inode *n, struct visit *v)
{
    const struct pci_fn *f = function_of(n);
    const struct sriov *s = f->sriov;

    inspect_leaf(v, LEAF_sriov_total_vfs, s->config.total_vfs);
    inspect_leaf(v, LEAF_sriov_num_vfs, s->num_vfs);
    inspect_set(v, LEAF_sriov_control, s->control);
    inspect_leaf(v, LEAF_sriov_page, (uint64_t)SRIOV_PAGE_BYTES * s->page);
    inspect_child(v, CHILD_sriov_bar, inspect_list_of(n, n_bars(f), vf_bar_item));
    inspect_child(v, CHILD_sriov_vf, inspect_list_of(n, sriov_count(s), inspect_nth));
}

void visit_virtual_function(const struct inode *n, struct visit *v)
{
    const struct pci_fn *f = function_of(n);
    const uint32_t vf = (uint32_t)n->index;
    char guests[RDL_VALUE_BYTES] = "";
    struct text names = text_on(guests, sizeof(guests));

    inspect_guests(&names, n->state, n->host->port.sw->ports[eswitch_port_of_vf(vf)].port);
    inspect_leaf(v, LEAF_virtual_function_rid, PCI_SLOT_RID + sriov_number(f->sriov, vf));
    inspect_leaf(v, LEAF_virtual_function_master, vf_is_master(f, vf));
    inspect_leaf(v, LEAF_virtual_function_msix_enabled,
                 (vf_msix_control(f, vf) & MSIX_ENABLE) != 0);
    inspect_leaf(v, LEAF_virtual_function_msix_masked,
                 (vf_msix_control(f, vf) & MSIX_FUNCTION_MASK) != 0);
    inspect_text(v, LEAF_virtual_function_guest, guests);
}

void visit_vector(const struct inode *n, struct visit *v)
{
    const struct fn_vector *e = &function_of(n)->vectors[n->index];

    inspect_leaf(v, LEAF_vector_address, e->message.address);
    inspect_leaf(v, LEAF_vector_data, e->message.data);
    inspect_leaf(v, LEAF_vector_masked, e->masked);
    inspect_leaf(v, LEAF_vector_pending, e->pending);
}
