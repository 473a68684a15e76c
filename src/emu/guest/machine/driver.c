/* SPDX-License-Identifier: MIT */
/* Boot.  [virtio 1.2, 3.1.1; virtio-rdma RFC, Device Initialization] */
#include "emu/guest/machine/driver.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/guest/machine/internal.h"

/* What this driver can use. */
#define FEATURES_WANTED VIRTIO_FEATURES_ALL

/* The device configuration must hold still while it is read; this often it may not. */
#define CONFIG_TRIES 8u

/* Requests of boot: an ADD_GID for each GID, then QUERY_PORT. */
#define BOOT_STEPS (GUEST_GIDS + 1u)

static void neighbour_resolved(void *ctx, const uint8_t gid[GID_BYTES], const uint8_t *mac)
{
    modify_resolved(ctx, gid, mac);
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
    struct guest_net_config net = {
        .host = config->host,
        .trace = config->trace,
        .sim = config->sim,
        .resolved = neighbour_resolved,
        .ctx = g,
    };

    *g = (struct guest){.config = *config, .arena = a};
    if (!space_init(&g->space, config->ram, rng))
        return false;
    dma_init(&g->dma, &g->space);
    pci.function = FN_RDMA, pci.bus_ctx = config->bus_ctx, pci.n_vectors = config->n_vectors;
    g->pci = pci;
    pci.function = FN_NET, pci.bus_ctx = config->net_ctx, pci.n_vectors = config->net_vectors;
    memcpy(net.mac, config->mac, sizeof(net.mac));
    memcpy(net.gid, config->gid, sizeof(net.gid));
    guest_net_init(&g->net, a, &net, &pci);
    g->ctrl.request_gpa = dma_take(&g->dma, CTRL_BUFFER_BYTES);
    g->ctrl.response_gpa = dma_take(&g->dma, CTRL_BUFFER_BYTES);
    return g->ctrl.request_gpa && g->ctrl.response_gpa;
}

/* One field: aligned words whole, everything else bytewise.  [virtio 1.2, 4.1.3.1] */
static void read_field(const struct guest *g, const struct rfc_field *f, uint8_t *out)
{
    const uint32_t width = f->offset % 4 == 0 && f->bytes % 4 == 0 ? 4 : 1;

    for (uint32_t i = 0; i < f->bytes; i += width) {
        const uint64_t v = pci_config_read(&g->pci, f->offset + i, width);

        for (uint32_t k = 0; k < width; k++)
            out[i + k] = (uint8_t)(v >> (8 * k));
    }
}

/* The device configuration but its reserved tail, all of one generation. */
static enum rdl_status read_config(struct guest *g)
{
    const struct rfc_struct *s = rfc_find("config");
    struct raw_config raw = {0};

    RDL_ASSERT(s && s->bytes == sizeof(raw));
    for (unsigned i = 0; i < CONFIG_TRIES; i++) {
        const uint64_t generation = reg_read(&g->pci, REG_CONFIG_GENERATION, 1);

        for (size_t k = 0; k < s->n_fields; k++) {
            if (strcmp(s->fields[k].name, "reserved") != 0)
                read_field(g, &s->fields[k], (uint8_t *)&raw + s->fields[k].offset);
        }
        if (reg_read(&g->pci, REG_CONFIG_GENERATION, 1) == generation) {
            rfc_config_get(&g->device, &raw);
            return RDL_OK;
        }
    }
    return RDL_ERR_BROKEN;
}

/* The largest ring of boot for CQs and QPs that leaves half of the DMA area to objects. */
static uint32_t choose_boot_size(const struct guest *g)
{
    const uint64_t budget = (g->space.dma_end - g->space.dma_next) / 2;
    uint32_t size = g->queue_size_max < GUEST_QUEUE_SIZE ? g->queue_size_max : GUEST_QUEUE_SIZE;

    while (size > 1 && g->n_queues * pow2_ceil(vring_bytes(size)) > budget)
        size /= 2;
    return size;
}

static enum rdl_status boot_ctrl_queue(struct guest *g)
{
    const uint32_t size =
        g->queue_size_max < GUEST_CTRL_QUEUE_SIZE ? g->queue_size_max : GUEST_CTRL_QUEUE_SIZE;
    struct vqd *q = guest_vq(g, QUEUE_CTRL);
    enum rdl_status st;

    if (size < 2)
        return RDL_ERR_BROKEN; /* a request needs two descriptors */
    st = queue_boot(g, QUEUE_CTRL, size, ctrl_vector(g));
    if (st != RDL_OK)
        return st;
    return vqd_init(q, g->arena, g->config.ram, q->ring, pci_has(&g->pci, VF_EVENT_IDX))
               ? RDL_OK
               : RDL_ERR_NOMEM;
}

/* All of them before DRIVER_OK, as virtio wants it. */
static enum rdl_status boot_queues(struct guest *g)
{
    enum rdl_status st = boot_ctrl_queue(g);

    for (uint32_t i = 1; st == RDL_OK && i < g->n_queues; i++)
        st = queue_boot(g, i, g->boot_size,
                        i <= g->device.max_cq ? cq_vector(g, i) : VIRTIO_NO_VECTOR);
    return st;
}

/* Step 7: what the device is, the queues, and memory for what the driver must know. */
static enum rdl_status set_up(struct guest *g)
{
    enum rdl_status st = read_config(g);
    const uint32_t n_cq = g->device.max_cq, n_qp = g->device.max_qp;
    uint32_t n_queues;

    if (st != RDL_OK)
        return st;
    if (n_cq < 1 || n_cq > DEVICE_OBJECTS_MAX || n_qp < 1 || n_qp > DEVICE_OBJECTS_MAX)
        return RDL_ERR_BROKEN;
    n_queues = queue_count(n_cq, n_qp);
    if (reg_read(&g->pci, REG_NUM_QUEUES, 2) < n_queues)
        return RDL_ERR_BROKEN;

    g->queues = arena_alloc(g->arena, n_queues * sizeof(*g->queues));
    g->cq_of = arena_alloc(g->arena, (n_cq + 1) * sizeof(struct guest_cq *));
    g->qp_of = arena_alloc(g->arena, (n_qp + 1) * sizeof(struct guest_qp *));
    if (!g->queues || !g->cq_of || !g->qp_of)
        return RDL_ERR_NOMEM;
    g->n_queues = n_queues;

    reg_write(&g->pci, REG_CONFIG_MSIX_VECTOR, 2, GUEST_VECTOR_CONFIG);
    reg_write(&g->pci, REG_QUEUE_SELECT, 2, 1);
    g->queue_size_max = (uint32_t)reg_read(&g->pci, REG_QUEUE_SIZE, 2);
    if (!is_pow2(g->queue_size_max) || g->queue_size_max > VRING_SIZE_MAX)
        return RDL_ERR_BROKEN;
    g->boot_size = choose_boot_size(g);
    return boot_queues(g);
}

static enum rdl_status add_gid(struct guest *g, uint16_t index)
{
    struct rfc_add_gid cmd = {.gid_type = GID_TYPE_ROCE_V2, .index = index, .port_num = 1};
    struct raw_add_gid raw;

    memcpy(cmd.gid, g->config.gid[index], GID_BYTES);
    rfc_add_gid_put(&raw, &cmd);
    return ctrl_send(g, CMD_ADD_GID, &raw, NULL, index);
}

static enum rdl_status query_port(struct guest *g)
{
    const struct rfc_query_port cmd = {.port = 1};
    struct raw_query_port raw;

    rfc_query_port_put(&raw, &cmd);
    return ctrl_send(g, CMD_QUERY_PORT, &raw, NULL, 0);
}

enum rdl_status boot_on(struct guest *g)
{
    while (!g->ctrl.busy && !g->up) {
        enum rdl_status st;

        if (g->broken)
            return RDL_ERR_BROKEN;
        if (g->boot_step > 0 && g->ctrl.rsp != RSP_OK)
            return RDL_ERR_DEVICE;
        if (g->boot_step == BOOT_STEPS) {
            g->up = true;
            break;
        }
        st = g->boot_step < GUEST_GIDS ? add_gid(g, (uint16_t)g->boot_step) : query_port(g);
        if (st != RDL_OK)
            return st;
        g->boot_step++;
    }
    return RDL_OK;
}

static enum rdl_status boot_rdma(struct guest *g)
{
    enum rdl_status st;

    RDL_ASSERT(!g->queues && g->config.n_vectors >= 1);
    st = pci_negotiate(&g->pci, FEATURES_WANTED);
    if (st == RDL_OK)
        st = set_up(g);
    if (st != RDL_OK) {
        pci_add_status(&g->pci, VS_FAILED);
        return st;
    }
    pci_add_status(&g->pci, VS_DRIVER_OK); /* step 8 */
    return RDL_OK;
}

enum rdl_status guest_boot(struct guest *g)
{
    enum rdl_status st = boot_rdma(g);

    if (st == RDL_OK && g->config.net_ctx)
        st = guest_net_boot(&g->net);
    return st == RDL_OK ? boot_on(g) : st;
}

enum rdl_status guest_query_port(struct guest *g)
{
    const enum rdl_status st = ctrl_ready(g);

    return st == RDL_OK ? query_port(g) : st;
}

void port_queried(struct guest *g, const uint8_t *data)
{
    struct raw_port_attr raw;

    memcpy(&raw, data, sizeof(raw));
    rfc_port_attr_get(&g->port, &raw);
}
