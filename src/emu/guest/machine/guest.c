/* SPDX-License-Identifier: MIT */
/* Connects the drivers of a guest, and routes its interrupts to them. */
#include "emu/guest/machine/guest.h"

#include <string.h>

#include "emu/facts/enum/pci_function.h"

static void neighbour_resolved(void *ctx, const uint8_t gid[GID_BYTES], const uint8_t *mac)
{
    struct guest *g = ctx;

    verbs_resolved(&g->verbs, gid, mac);
}

static enum rdl_status resolve(void *ctx, const uint8_t gid[GID_BYTES], const uint8_t **ret_mac)
{
    struct guest *g = ctx;

    return guest_neighbour_resolve(&g->net, gid, ret_mac);
}

static void member(void *ctx, const uint8_t gid[GID_BYTES], bool joins)
{
    struct guest *g = ctx;

    (joins ? guest_group_join : guest_group_leave)(&g->net, gid);
}

/* Connects verbs and IP stack: the verbs ask for a MAC with resolve(), the stack answers later with
 * neighbour_resolved().
 */
static void init_verbs(struct guest *g, struct arena *a)
{
    const struct guest_config *c = &g->config;
    struct verbs_config verbs = {
        .host = c->host,
        .profile = c->profile,
        .trace = c->trace,
        .space = &g->space,
        .resolve = resolve,
        .member = member,
        .ctx = g,
    };

    memcpy(verbs.gid, c->gid, sizeof(verbs.gid));
    verbs_init(&g->verbs, a, &verbs, &virtio_rdma_ops, &g->rdma);
}

static void init_net(struct guest *g, struct arena *a, const struct guest_pci *pci)
{
    const struct guest_config *c = &g->config;
    struct guest_net_config net = {
        .host = c->host,
        .trace = c->trace,
        .sim = c->sim,
        .directory = c->directory,
        .rx_buffer = c->rx_buffer,
        .resolved = neighbour_resolved,
        .resolved_ctx = g,
    };

    memcpy(net.mac, c->mac, sizeof(net.mac));
    memcpy(net.gid, c->gid, sizeof(net.gid));
    guest_net_init(&g->net, a, &net, pci);
}

bool guest_init(struct guest *g, struct arena *a, const struct guest_config *config,
                struct prng *rng)
{
    struct guest_pci pci = {
        .host = config->host,
        .bus = config->bus,
        .bus_ctx = config->bus_ctx,
        .use_line = config->use_line,
        .trace = config->trace,
        .ram = config->ram,
        .dma = &g->dma,
    };

    *g = (struct guest){.config = *config, .slot = {.bus = config->bus, .ctx = config->bus_ctx}};
    if (!space_init(&g->space, config->ram, rng))
        return false;
    dma_init(&g->dma, &g->space);
    init_verbs(g, a);
    pci.function = FN_NET;
    init_net(g, a, &pci);
    pci.function = FN_RDMA;
    if (!virtio_rdma_init(&g->rdma, &g->verbs, a, &pci))
        return false;
    g->rdma.tables = config->tables;
    g->rdma.on_demand = config->on_demand;
    return true;
}

void guest_init_absent(struct guest *g, struct arena *a, const struct guest_config *config)
{
    *g = (struct guest){.config = *config};
    g->config.directory = NULL;
    init_verbs(g, a);
}

enum rdl_status guest_boot(struct guest *g)
{
    const struct pci_slot_function *rdma, *net;
    enum rdl_status st;

    pci_scan(&g->slot);
    rdma = pci_find(&g->slot, VIRTIO_PCI_IDS(VIRTIO_ID_RDMA));
    net = pci_find(&g->slot, VIRTIO_PCI_IDS(VIRTIO_ID_NET));
    st = rdma ? virtio_rdma_boot(&g->rdma, rdma) : RDL_ERR_UNSUPPORTED;
    if (st == RDL_OK && net)
        st = guest_net_boot(&g->net, net);
    return st == RDL_OK ? virtio_rdma_start(&g->rdma) : st;
}

/* Each function sends its vectors to the processor that has the function's number. */
void guest_message(struct guest *g, uint64_t address, uint32_t data)
{
    const uint64_t cpu = (address - MSI_ADDRESS) >> MSI_CPU_SHIFT;

    if (g->rdma.virtio.pci.found && cpu == g->rdma.virtio.pci.found->number)
        virtio_rdma_interrupt(&g->rdma, data);
    else if (g->net.virtio.pci.found && cpu == g->net.virtio.pci.found->number)
        guest_net_interrupt(&g->net, data);
}

/* Each driver that uses INTx reads its function's ISR status, in a fixed order. */
bool guest_line(struct guest *g)
{
    const unsigned net = virtio_ask_isr(&g->net.virtio);
    unsigned rdma;

    if (net & VIRTIO_ISR_QUEUE)
        guest_net_interrupt(&g->net, 0);
    rdma = virtio_ask_isr(&g->rdma.virtio);
    if (rdma)
        virtio_rdma_interrupt(&g->rdma, 0);
    g->line_is_off = !net && !rdma;
    return !g->line_is_off;
}
