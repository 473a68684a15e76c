/* SPDX-License-Identifier: MIT */
#include "emu/guest/machine/guest.h"

#include <string.h>

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

/* The two sides that wait for each other: verbs ask for a MAC, the IP stack answers. */
static void init_verbs(struct guest *g, struct arena *a)
{
    const struct guest_config *c = &g->config;
    struct verbs_config verbs = {
        .host = c->host,
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
        .trace = config->trace,
        .ram = config->ram,
        .dma = &g->dma,
    };

    *g = (struct guest){.config = *config};
    if (!space_init(&g->space, config->ram, rng))
        return false;
    dma_init(&g->dma, &g->space);
    init_verbs(g, a);
    pci.function = FN_NET, pci.bus_ctx = config->net_ctx, pci.n_vectors = config->net_vectors;
    init_net(g, a, &pci);
    pci.function = FN_RDMA, pci.bus_ctx = config->bus_ctx, pci.n_vectors = config->n_vectors;
    return virtio_rdma_init(&g->rdma, &g->verbs, a, &pci);
}

enum rdl_status guest_boot(struct guest *g)
{
    enum rdl_status st = virtio_rdma_boot(&g->rdma);

    if (st == RDL_OK && g->config.net_ctx)
        st = guest_net_boot(&g->net);
    return st == RDL_OK ? virtio_rdma_start(&g->rdma) : st;
}

void guest_interrupt(struct guest *g, enum pci_function function, uint32_t vector)
{
    if (function == FN_NET)
        guest_net_interrupt(&g->net, vector);
    else
        virtio_rdma_interrupt(&g->rdma, vector);
}
