/* SPDX-License-Identifier: MIT */
/* Connects the parts of a guest, boots its drivers, and routes interrupts to them. */
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
 * neighbour_resolved().  @driver is the state of the RDMA driver; NULL: none is loaded.
 */
static void init_verbs(struct guest *g, struct arena *a, void *driver)
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
    verbs_init(&g->verbs, a, &verbs, driver ? c->rdma->verbs : NULL, driver);
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
    const struct rdma_driver *rdma = config->rdma;
    void *state = rdma ? arena_alloc(a, rdma->bytes) : NULL;

    *g = (struct guest){.config = *config, .slot = {.bus = config->bus, .ctx = config->bus_ctx}};
    if ((rdma && !state) || !space_init(&g->space, config->ram, rng))
        return false;
    dma_init(&g->dma, &g->space);
    init_verbs(g, a, state);
    pci.function = FN_NET;
    init_net(g, a, &pci);
    g->drivers[FN_NET] = (struct guest_driver){.ops = &guest_net_driver, .state = &g->net};
    if (!rdma)
        return true;
    pci.function = FN_RDMA;
    g->drivers[FN_RDMA] = (struct guest_driver){.ops = &rdma->pci, .state = state};
    return rdma->init(state, &g->verbs, a, &pci);
}

void guest_init_absent(struct guest *g, struct arena *a, const struct guest_config *config)
{
    *g = (struct guest){.config = *config};
    g->config.directory = NULL;
    g->config.rdma = NULL;
    init_verbs(g, a, NULL);
}

/* Binds @d to its function and boots it, if the slot has the function. */
static enum rdl_status boot(const struct guest *g, struct guest_driver *d)
{
    if (d->state)
        d->found = pci_find(&g->slot, d->ops->ids);
    return d->found ? d->ops->boot(d->state, d->found) : RDL_OK;
}

static enum rdl_status start(const struct guest_driver *d)
{
    return d->found && d->ops->start ? d->ops->start(d->state) : RDL_OK;
}

/* The RDMA driver boots first and starts last: both drivers share the DMA area, and its requests
 * come when the guest is complete.
 */
enum rdl_status guest_boot(struct guest *g)
{
    enum rdl_status st = RDL_OK;

    pci_scan(&g->slot);
    for (uint32_t i = 0; st == RDL_OK && i < HOST_FUNCTIONS; i++)
        st = boot(g, &g->drivers[i]);
    for (uint32_t i = 0; st == RDL_OK && i < HOST_FUNCTIONS; i++)
        st = start(&g->drivers[i]);
    return st;
}

/* Each function sends its vectors to the processor that has the function's number. */
void guest_message(struct guest *g, uint64_t address, uint32_t data)
{
    const uint64_t cpu = (address - MSI_ADDRESS) >> MSI_CPU_SHIFT;

    for (uint32_t i = 0; i < HOST_FUNCTIONS; i++) {
        const struct guest_driver *d = &g->drivers[i];

        if (d->found && d->found->number == cpu)
            d->ops->interrupt(d->state, data);
    }
}

/* Asks virtio-net first, then the RDMA device. */
bool guest_line(struct guest *g)
{
    bool claimed = false;

    for (uint32_t i = HOST_FUNCTIONS; i > 0; i--) {
        const struct guest_driver *d = &g->drivers[i - 1];

        if (d->found)
            claimed = d->ops->line(d->state) || claimed;
    }
    g->line_is_off = !claimed;
    return claimed;
}

uint64_t guest_irqs(const struct guest *g)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < HOST_FUNCTIONS; i++) {
        if (g->drivers[i].found)
            n += g->drivers[i].ops->irqs(g->drivers[i].state);
    }
    return n;
}
