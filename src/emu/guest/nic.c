/* SPDX-License-Identifier: MIT */
/* The virtio-net driver: boot, frames out, frames in.  [virtio 1.2, 5.1.6]
 *
 * Receive buffers are posted before DRIVER_OK and given back to the ring as soon as their frame was
 * read.  Sent buffers are taken back when the next frame is sent, without interrupts.  The
 * configuration interrupt has no vector: the link's state is read when it matters.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/log2.h"
#include "emu/guest/internal.h"
#include "emu/guest/stack.h"
#include "emu/wire/eth.h"

#define FEATURES_WANTED                                                                            \
    (VIRTIO_FEATURES_ALL | VIRTIO_FEATURE(NF_MTU) | VIRTIO_FEATURE(NF_MAC) |                       \
     VIRTIO_FEATURE(NF_STATUS))

#define MTU_DEFAULT 1500u
#define MTU_MIN     68u /* [RFC 791] */

static uint16_t rx_vector(const struct guest_net *n)
{
    return n->pci.n_vectors > GUEST_NET_VECTOR_RX ? GUEST_NET_VECTOR_RX : 0;
}

/* The MAC must be the one that the host was configured with: its addresses follow it. */
static enum rdl_status read_config(struct guest *g)
{
    struct guest_net *n = &g->net;

    n->mtu = MTU_DEFAULT;
    for (uint32_t i = 0; pci_has(&n->pci, NF_MAC) && i < MAC_BYTES; i++) {
        if (pci_config_read(&n->pci, NET_CONFIG_MAC + i, 1) != g->config.mac[i])
            return RDL_ERR_BROKEN;
    }
    if (pci_has(&n->pci, NF_MTU))
        n->mtu = (uint16_t)pci_config_read(&n->pci, NET_CONFIG_MTU, 2);
    return n->mtu >= MTU_MIN ? RDL_OK : RDL_ERR_BROKEN;
}

/* As many buffers as half of what is left of the DMA area holds. */
static void choose_size(struct guest *g)
{
    struct guest_net *n = &g->net;
    const uint64_t budget = (g->space.dma_end - g->space.dma_next) / 2;

    n->slot_bytes = (uint32_t)pow2_ceil(NET_HDR_BYTES + ETH_BYTES + (uint64_t)n->mtu);
    n->size = GUEST_NET_QUEUE_SIZE;
    while (n->size > 1 && (uint64_t)NET_QUEUES * n->size * n->slot_bytes > budget)
        n->size /= 2;
}

static enum rdl_status take_memory(struct guest *g)
{
    struct guest_net *n = &g->net;

    n->in = arena_alloc_raw(g->arena, n->slot_bytes);
    n->out = arena_alloc_raw(g->arena, n->slot_bytes);
    for (uint32_t i = 0; i < NET_QUEUES; i++)
        n->slots_gpa[i] = dma_take(&g->dma, (uint64_t)n->size * n->slot_bytes);
    return n->in && n->out && n->slots_gpa[NET_QUEUE_RX] && n->slots_gpa[NET_QUEUE_TX]
               ? RDL_OK
               : RDL_ERR_NOMEM;
}

static enum rdl_status boot_queue(struct guest *g, uint32_t queue, uint16_t vector)
{
    struct guest_net *n = &g->net;
    struct guest_queue *q = &n->queues[queue];
    const enum rdl_status st = pci_queue_place(g, &n->pci, q, queue, n->size);

    if (st != RDL_OK)
        return st;
    if (!vqd_init(&q->vq, g->arena, g->config.ram, q->vq.ring, pci_has(&n->pci, VF_EVENT_IDX)))
        return RDL_ERR_NOMEM;
    pci_queue_program(&n->pci, q, vector);
    return RDL_OK;
}

static uint64_t slot_gpa(const struct guest_net *n, uint32_t queue, uint32_t i)
{
    return n->slots_gpa[queue] + (uint64_t)i * n->slot_bytes;
}

/* Posts one receive buffer: the one that belongs to the next free descriptor. */
static void post_buffer(struct guest *g)
{
    struct guest_net *n = &g->net;
    struct vqd *q = &n->queues[NET_QUEUE_RX].vq;
    const struct vqd_seg seg = {slot_gpa(n, NET_QUEUE_RX, vqd_next_head(q)), n->slot_bytes};
    uint16_t head;

    if (!vqd_add(q, g->config.ram, &seg, 0, 1, &head))
        n->broken = true;
}

static void show_buffers(struct guest *g)
{
    struct guest_net *n = &g->net;
    struct guest_queue *q = &n->queues[NET_QUEUE_RX];

    vqd_publish(&q->vq, g->config.ram);
    /* The device looks for buffers when it needs one and asks for no kicks: seldom true. */
    if (vqd_needs_kick(&q->vq, g->config.ram))
        pci_kick_now(g, &n->pci, q, NET_QUEUE_RX);
}

static enum rdl_status set_up(struct guest *g)
{
    struct guest_net *n = &g->net;
    enum rdl_status st = read_config(g);

    if (st != RDL_OK)
        return st;
    if (reg_read(&n->pci, REG_NUM_QUEUES, 2) < NET_QUEUES)
        return RDL_ERR_BROKEN;
    choose_size(g);
    st = take_memory(g);
    if (st == RDL_OK)
        st = boot_queue(g, NET_QUEUE_RX, rx_vector(n));
    if (st == RDL_OK)
        st = boot_queue(g, NET_QUEUE_TX, VIRTIO_NO_VECTOR);
    if (st != RDL_OK)
        return st;
    for (uint32_t i = 0; i < n->size; i++)
        post_buffer(g);
    vqd_publish(&n->queues[NET_QUEUE_RX].vq, g->config.ram);
    vqd_want_interrupt(&n->queues[NET_QUEUE_RX].vq, g->config.ram, true);
    vqd_want_interrupt(&n->queues[NET_QUEUE_TX].vq, g->config.ram, false);
    return n->broken ? RDL_ERR_BROKEN : RDL_OK;
}

enum rdl_status nic_boot(struct guest *g)
{
    struct guest_net *n = &g->net;
    enum rdl_status st = pci_negotiate(&n->pci, FEATURES_WANTED);

    RDL_ASSERT(g->config.sim && n->pci.n_vectors >= 1);
    if (st == RDL_OK)
        st = set_up(g);
    if (st != RDL_OK) {
        pci_add_status(&n->pci, VS_FAILED);
        return st;
    }
    pci_add_status(&n->pci, VS_DRIVER_OK);
    n->up = true;
    return RDL_OK;
}

bool nic_link_is_up(const struct guest *g)
{
    const struct guest_net *n = &g->net;

    if (!n->up || n->broken)
        return false;
    return !pci_has(&n->pci, NF_STATUS) ||
           (pci_config_read(&n->pci, NET_CONFIG_STATUS, 2) & NET_STATUS_LINK_UP);
}

/* Takes sent buffers back.  False: the device gave back nonsense. */
static bool reclaim(struct guest *g)
{
    struct vqd *q = &g->net.queues[NET_QUEUE_TX].vq;
    enum vqd_used got;
    uint16_t head;
    uint32_t len;

    do {
        got = vqd_take_used(q, g->config.ram, &head, &len);
    } while (got == VQD_GOT);
    return got == VQD_NONE;
}

void nic_send(struct guest *g, const uint8_t *frame, size_t n_bytes)
{
    static const uint8_t header[NET_HDR_BYTES];
    struct guest_net *n = &g->net;
    struct guest_queue *q = &n->queues[NET_QUEUE_TX];
    struct vqd_seg seg;
    uint16_t head;

    RDL_ASSERT(n->up && NET_HDR_BYTES + n_bytes <= n->slot_bytes);
    if (!n->broken && !reclaim(g))
        n->broken = true;
    if (n->broken || q->vq.n_free == 0) {
        stack_drop_tx(g, frame, n_bytes, n->broken ? DROP_NO_DRIVER : DROP_QUEUE_FULL);
        return;
    }
    seg.gpa = slot_gpa(n, NET_QUEUE_TX, vqd_next_head(&q->vq));
    seg.bytes = (uint32_t)(NET_HDR_BYTES + n_bytes);
    if (!ram_write(g->config.ram, seg.gpa, header, sizeof(header)) ||
        !ram_write(g->config.ram, seg.gpa + NET_HDR_BYTES, frame, n_bytes) ||
        !vqd_add(&q->vq, g->config.ram, &seg, 1, 0, &head)) {
        n->broken = true; /* the ring is the driver's own memory: only a full arena gets here */
        return;
    }
    vqd_publish(&q->vq, g->config.ram);
    n->sent_frames++;
    pci_kick(g, &n->pci, q, NET_QUEUE_TX);
}

/* Reads the frame in buffer @i, of which the device wrote @len bytes, and hands it up. */
static void receive(struct guest *g, uint32_t i, uint32_t len)
{
    struct guest_net *n = &g->net;
    const uint64_t gpa = slot_gpa(n, NET_QUEUE_RX, i);

    if (len > n->slot_bytes) {
        n->broken = true;
        return;
    }
    if (len <= NET_HDR_BYTES)
        return; /* the device found the buffer too short, and says so itself */
    if (!ram_read(g->config.ram, gpa + NET_HDR_BYTES, n->in, len - NET_HDR_BYTES))
        return;
    n->rcvd_frames++;
    stack_receive(g, n->in, len - NET_HDR_BYTES);
}

static void receive_all(struct guest *g)
{
    struct vqd *q = &g->net.queues[NET_QUEUE_RX].vq;
    uint16_t head;
    uint32_t len;
    enum vqd_used got = vqd_take_used(q, g->config.ram, &head, &len);

    for (; got == VQD_GOT; got = vqd_take_used(q, g->config.ram, &head, &len)) {
        receive(g, head, len);
        post_buffer(g);
    }
    if (got == VQD_BROKEN)
        g->net.broken = true;
    show_buffers(g);
}

void guest_net_interrupt(struct guest *g, uint32_t vector)
{
    struct guest_net *n = &g->net;
    struct vqd *q = &n->queues[NET_QUEUE_RX].vq;

    if (!n->up || n->broken || vector != rx_vector(n))
        return;
    g->irqs++;
    do { /* what came between the last look and asking for an interrupt would have none */
        vqd_want_interrupt(q, g->config.ram, false);
        receive_all(g);
        vqd_want_interrupt(q, g->config.ram, true);
    } while (!n->broken && vqd_used_count(q, g->config.ram) > 0);
}
