/* SPDX-License-Identifier: MIT */
/* Connects the parts of a guest, boots its drivers, and routes interrupts to them. */
#include "emu/guest/machine/guest.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/pci_function.h"

static void neighbour_resolved(void *ctx, const uint8_t gid[GID_BYTES], const uint8_t *mac)
{
    struct guest *g = ctx;

    verbs_resolved(&g->verbs, gid, mac);
    cm_agent_resolved(&g->cm, gid, mac);
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

static void kernel_event(void *ctx, struct guest_cq *cq, bool armed)
{
    struct guest *g = ctx;

    if (cq == g->cm.cq)
        cm_agent_event(&g->cm, armed);
    else
        g->module->cq_event(g->module->ctx, cq, armed);
}

static void answered(void *ctx)
{
    const struct guest *g = ctx;

    if (g->module)
        g->module->answered(g->module->ctx);
}

static void has_cm_event(void *ctx, struct cma_channel *channel)
{
    const struct guest *g = ctx;

    if (g->module)
        g->module->cm_event(g->module->ctx, channel);
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
        .kernel_event = kernel_event,
        .answered = answered,
        .ctx = g,
        .layer = c->layer,
        .layer_ctx = c->layer_ctx,
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

/* The node GUID is that of the device, which comes from the MAC.  [decision 0047] */
static void init_cm(struct guest *g, struct arena *a)
{
    const struct guest_config *c = &g->config;
    const struct cm_agent_config cm = {
        .verbs = &g->verbs,
        .net = &g->net,
        .dma = &g->dma,
        .ram = c->ram,
        .arena = a,
        .sim = c->sim,
        .trace = c->trace,
        .host = c->host,
        .profile = c->profile,
        .rng = c->cm_rng,
        .has_event = has_cm_event,
        .ctx = g,
    };

    cm_agent_init(&g->cm, &cm);
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
    init_cm(g, a);
    pci.function = FN_RDMA;
    return (!rdma || (guest_load(g, &rdma->pci, state) && rdma->init(state, &g->verbs, a, &pci))) &&
           guest_load(g, &guest_net_driver, &g->net);
}

void guest_init_absent(struct guest *g, struct arena *a, const struct guest_config *config)
{
    *g = (struct guest){.config = *config};
    g->config.directory = NULL;
    g->config.rdma = NULL;
    init_verbs(g, a, NULL);
}

bool guest_load(struct guest *g, const struct pci_driver *ops, void *state)
{
    if (g->n_drivers == ARRAY_LEN(g->drivers))
        return false;
    g->drivers[g->n_drivers++] = (struct guest_driver){.ops = ops, .state = state};
    return true;
}

static bool is_bound(const struct guest *g, const struct pci_slot_function *f)
{
    for (uint32_t i = 0; i < g->n_drivers; i++) {
        if (g->drivers[i].found == f)
            return true;
    }
    return false;
}

/* Binds @d to the first function with its IDs that no other driver has.  Boots it if there is one.
 */
static enum rdl_status boot(const struct guest *g, struct guest_driver *d)
{
    for (uint32_t i = 0; !d->found && i < g->slot.n_functions; i++) {
        const struct pci_slot_function *f = &g->slot.functions[i];

        if (f->ids == d->ops->ids && !is_bound(g, f))
            d->found = f;
    }
    return d->found ? d->ops->boot(d->state, d->found) : RDL_OK;
}

static enum rdl_status start(const struct guest_driver *d)
{
    return d->found && d->ops->start ? d->ops->start(d->state) : RDL_OK;
}

/* The driver of the RDMA device was loaded first and boots first: all drivers share the DMA area.
 * None starts before all have booted: its requests come when the guest is complete.
 */
enum rdl_status guest_boot(struct guest *g)
{
    enum rdl_status st = RDL_OK;

    pci_scan(&g->slot);
    for (uint32_t i = 0; g->config.iov && i < g->slot.n_functions && g->iov.at == 0; i++)
        (void)iov_probe(&g->iov, &g->slot, g->slot.functions[i].number);
    for (uint32_t i = 0; st == RDL_OK && i < g->n_drivers; i++)
        st = boot(g, &g->drivers[i]);
    for (uint32_t i = 0; st == RDL_OK && i < g->n_drivers; i++)
        st = start(&g->drivers[i]);
    return st;
}

/* The driver of the function with SR-IOV, or NULL. */
static const struct guest_driver *iov_driver(const struct guest *g)
{
    for (uint32_t i = 0; g->iov.at != 0 && i < g->n_drivers; i++) {
        if (g->drivers[i].found && g->drivers[i].found->number == g->iov.number)
            return &g->drivers[i];
    }
    return NULL;
}

enum rdl_status guest_iov_set(struct guest *g, uint32_t n, bool wait)
{
    const struct guest_driver *d = iov_driver(g);
    enum rdl_status st = RDL_OK;

    if (!d)
        return RDL_ERR_UNSUPPORTED;
    if (n > g->iov.total_vfs)
        return RDL_ERR_LIMIT;
    if (g->iov_waits)
        return RDL_ERR_BUSY;
    if (n == g->iov.n_vfs)
        return RDL_OK;
    if (!d->ops->may_have_vfs || !d->ops->may_have_vfs(d->state))
        return RDL_ERR_UNSUPPORTED;
    if (n != 0 && g->iov.n_vfs != 0)
        return RDL_ERR_BUSY;
    if (n == 0)
        iov_disable(&g->iov);
    else
        st = iov_enable(&g->iov, n);
    if (st != RDL_OK)
        return st;
    g->iov_waits = true;
    if (wait)
        sim_enqueue(g->config.sim,
                    sim_now(g->config.sim) + (n ? SRIOV_ENABLE_NS : SRIOV_DISABLE_NS), SIM_IOV,
                    g->config.host, 0);
    else
        guest_iov_timer(g);
    return RDL_OK;
}

void guest_iov_timer(struct guest *g)
{
    g->iov_waits = false;
    if (g->iov.n_vfs == 0)
        iov_removed(&g->iov);
    else
        (void)iov_add(&g->iov);
}

/* Each function sends its vectors to the processor that has the function's number. */
void guest_message(struct guest *g, uint64_t address, uint32_t data)
{
    const uint64_t cpu = (address - MSI_ADDRESS) >> MSI_CPU_SHIFT;

    for (uint32_t i = 0; i < g->n_drivers; i++) {
        const struct guest_driver *d = &g->drivers[i];

        if (d->found && d->found->number == cpu)
            d->ops->interrupt(d->state, data);
    }
}

/* Asks the driver that was loaded last first: virtio-net, then the RDMA device. */
bool guest_line(struct guest *g)
{
    bool claimed = false;

    for (uint32_t i = g->n_drivers; i > 0; i--) {
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

    for (uint32_t i = 0; i < g->n_drivers; i++) {
        if (g->drivers[i].found)
            n += g->drivers[i].ops->irqs(g->drivers[i].state);
    }
    return n;
}
