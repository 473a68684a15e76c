/* SPDX-License-Identifier: MIT */
/* The virtio-net driver: boot, transmit, receive.  [virtio 1.2, 5.1.6]
 *
 * Receive buffers are posted before DRIVER_OK and posted again as soon as they are read.  A frame
 * takes one buffer, or with MRG_RXBUF as many as it fills.  Transmit buffers are reclaimed when the
 * next frame is sent, without interrupts.  The configuration interrupt has no vector: the driver
 * reads the link state when it needs it.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/log2.h"
#include "emu/facts/virtio/net_feature.h"
#include "emu/facts/virtio/pci.h"
#include "emu/guest/ip/stack.h"
#include "emu/wire/eth.h"

#define FEATURES_WANTED                                                                            \
    (VIRTIO_FEATURES_ALL | VIRTIO_FEATURE(VF_RING_PACKED) | VIRTIO_FEATURE(NF_MTU) |               \
     VIRTIO_FEATURE(NF_MAC) | VIRTIO_FEATURE(NF_STATUS))

#define MTU_DEFAULT 1500u
#define MTU_MIN     68u /* [RFC 791] */

static uint16_t rx_vector(const struct guest_net *net)
{
    return net->virtio.pci.n_vectors > GUEST_NET_VECTOR_RX ? GUEST_NET_VECTOR_RX : 0;
}

/* Reads MTU and MAC.  The MAC must be the configured one, because the host's addresses derive from
 * it.
 */
static enum rdl_status read_config(struct guest_net *net)
{
    net->mtu = MTU_DEFAULT;
    for (uint32_t i = 0; virtio_has_feature(&net->virtio, NF_MAC) && i < MAC_BYTES; i++) {
        if (virtio_config_read(&net->virtio, NET_CONFIG_MAC + i, 1) != net->config.mac[i])
            return RDL_ERR_BROKEN;
    }
    if (virtio_has_feature(&net->virtio, NF_MTU))
        net->mtu = (uint16_t)virtio_config_read(&net->virtio, NET_CONFIG_MTU, 2);
    return net->mtu >= MTU_MIN ? RDL_OK : RDL_ERR_BROKEN;
}

/* Returns true if receive buffers are so small that a frame may need several. */
static bool has_small_buffers(const struct guest_net *net)
{
    return net->config.rx_buffer > 0 && virtio_has_feature(&net->virtio, NF_MRG_RXBUF);
}

/* Chooses the numbers of buffers so that each queue fits half of the DMA area that is left. */
static void choose_sizes(struct guest_net *net)
{
    const uint64_t budget =
        (net->virtio.pci.dma->space->dma_end - net->virtio.pci.dma->space->dma_next) / 2;
    uint32_t n = GUEST_NET_QUEUE_SIZE;

    net->frame_bytes = (uint32_t)pow2_ceil(NET_HDR_BYTES + ETH_BYTES + (uint64_t)net->mtu);
    while (n > 1 && (uint64_t)NET_QUEUES * n * net->frame_bytes > budget)
        n /= 2;
    for (uint32_t i = 0; i < NET_QUEUES; i++)
        net->slots[i] = (struct guest_net_slots){.bytes = net->frame_bytes, .n = n};
    if (has_small_buffers(net)) {
        struct guest_net_slots *rx = &net->slots[NET_QUEUE_RX];

        rx->bytes = net->config.rx_buffer;
        rx->n = GUEST_NET_SMALL_BUFFERS;
        while (rx->n > 1 && (uint64_t)rx->n * rx->bytes > budget)
            rx->n /= 2;
    }
}

static enum rdl_status take_memory(struct guest_net *net)
{
    bool good;

    net->in = arena_alloc_raw(net->arena, net->frame_bytes);
    net->out = arena_alloc_raw(net->arena, net->frame_bytes);
    good = net->in && net->out;
    for (uint32_t i = 0; i < NET_QUEUES; i++) {
        struct guest_net_slots *s = &net->slots[i];

        s->gpa = dma_take(net->virtio.pci.dma, (uint64_t)s->n * s->bytes);
        good = good && s->gpa;
    }
    return good ? RDL_OK : RDL_ERR_NOMEM;
}

static enum rdl_status boot_queue(struct guest_net *net, uint32_t queue, uint16_t vector)
{
    struct guest_queue *q = &net->queues[queue];
    const enum rdl_status st = virtqueue_place(&net->virtio, q, queue, net->slots[queue].n);

    if (st != RDL_OK)
        return st;
    if (!vqd_init(&q->vq, net->arena, net->virtio.pci.ram, q->vq.ring,
                  virtio_has_feature(&net->virtio, VF_EVENT_IDX)))
        return RDL_ERR_NOMEM;
    return virtqueue_program(&net->virtio, q, vector);
}

static uint64_t slot_gpa(const struct guest_net *net, uint32_t queue, uint32_t i)
{
    return net->slots[queue].gpa + (uint64_t)i * net->slots[queue].bytes;
}

/* Posts the receive buffer of the next free descriptor. */
static void post_buffer(struct guest_net *net)
{
    struct vqd *q = &net->queues[NET_QUEUE_RX].vq;
    const struct vqd_seg seg = {slot_gpa(net, NET_QUEUE_RX, vqd_next_head(q)),
                                net->slots[NET_QUEUE_RX].bytes};
    uint16_t head;

    if (!vqd_add(q, net->virtio.pci.ram, &seg, 0, 1, &head))
        net->broken = true;
}

static void show_buffers(struct guest_net *net)
{
    struct guest_queue *q = &net->queues[NET_QUEUE_RX];

    vqd_publish(&q->vq, net->virtio.pci.ram);
    /* Rarely true: the device looks for buffers when it needs one, and suppresses notifications. */
    if (vqd_needs_kick(&q->vq, net->virtio.pci.ram))
        virtqueue_kick_now(&net->virtio, q, NET_QUEUE_RX);
}

static enum rdl_status set_up(struct guest_net *net)
{
    enum rdl_status st = read_config(net);

    if (st != RDL_OK)
        return st;
    if (reg_read(&net->virtio, REG_NUM_QUEUES, 2) < NET_QUEUES)
        return RDL_ERR_BROKEN;
    choose_sizes(net);
    st = take_memory(net);
    if (st == RDL_OK)
        st = boot_queue(net, NET_QUEUE_RX, rx_vector(net));
    if (st == RDL_OK)
        st = boot_queue(net, NET_QUEUE_TX, VIRTIO_NO_VECTOR);
    if (st != RDL_OK)
        return st;
    for (uint32_t i = 0; i < net->slots[NET_QUEUE_RX].n; i++)
        post_buffer(net);
    vqd_publish(&net->queues[NET_QUEUE_RX].vq, net->virtio.pci.ram);
    vqd_want_interrupt(&net->queues[NET_QUEUE_RX].vq, net->virtio.pci.ram, true);
    vqd_want_interrupt(&net->queues[NET_QUEUE_TX].vq, net->virtio.pci.ram, false);
    return net->broken ? RDL_ERR_BROKEN : RDL_OK;
}

static enum rdl_status boot(void *driver, const struct pci_slot_function *found)
{
    struct guest_net *net = driver;
    enum rdl_status st = virtio_probe(&net->virtio, found);

    RDL_ASSERT(net->config.sim);
    if (st != RDL_OK)
        return st;
    st = virtio_negotiate(&net->virtio, net->config.rx_buffer > 0
                                            ? FEATURES_WANTED | VIRTIO_FEATURE(NF_MRG_RXBUF)
                                            : FEATURES_WANTED);
    if (st == RDL_OK)
        st = set_up(net);
    if (st != RDL_OK) {
        virtio_add_status(&net->virtio, VS_FAILED);
        return st;
    }
    virtio_add_status(&net->virtio, VS_DRIVER_OK);
    net->up = true;
    return RDL_OK;
}

bool nic_link_is_up(const struct guest_net *net)
{
    if (!net->up || net->broken)
        return false;
    return !virtio_has_feature(&net->virtio, NF_STATUS) ||
           (virtio_config_read(&net->virtio, NET_CONFIG_STATUS, 2) & NET_STATUS_LINK_UP);
}

/* Reclaims sent buffers.  Returns false if the ring is broken. */
static bool reclaim(struct guest_net *net)
{
    struct vqd *q = &net->queues[NET_QUEUE_TX].vq;
    enum vqd_used got;
    uint16_t head;
    uint32_t len;

    do {
        got = virtqueue_take_used(&net->virtio, q, NET_QUEUE_TX, &head, &len);
    } while (got == VQD_GOT);
    return got == VQD_NONE;
}

void nic_send(struct guest_net *net, const uint8_t *frame, size_t n_bytes)
{
    static const uint8_t header[NET_HDR_BYTES];
    struct guest_queue *q = &net->queues[NET_QUEUE_TX];
    struct vqd_seg seg;
    uint16_t head;

    RDL_ASSERT(net->up && NET_HDR_BYTES + n_bytes <= net->frame_bytes);
    if (!net->broken && !reclaim(net))
        net->broken = true;
    if (net->broken || q->vq.n_free == 0) {
        stack_drop_tx(net, frame, n_bytes, net->broken ? DROP_NO_DRIVER : DROP_QUEUE_FULL);
        return;
    }
    seg.gpa = slot_gpa(net, NET_QUEUE_TX, vqd_next_head(&q->vq));
    seg.bytes = (uint32_t)(NET_HDR_BYTES + n_bytes);
    if (!ram_write(net->virtio.pci.ram, seg.gpa, header, sizeof(header)) ||
        !ram_write(net->virtio.pci.ram, seg.gpa + NET_HDR_BYTES, frame, n_bytes) ||
        !vqd_add(&q->vq, net->virtio.pci.ram, &seg, 1, 0, &head)) {
        net->broken = true; /* only a full arena leads here: the ring is in the driver's memory */
        return;
    }
    vqd_publish(&q->vq, net->virtio.pci.ram);
    net->sent_frames++;
    virtqueue_kick(&net->virtio, q, NET_QUEUE_TX);
}

/* Number of buffers of the frame that begins at @gpa; 0: the field cannot be read or is 0. */
static uint32_t count_buffers(const struct guest_net *net, uint64_t gpa)
{
    uint8_t n[2];

    if (!has_small_buffers(net))
        return 1; /* the field is always 1 */
    return ram_read(net->virtio.pci.ram, gpa + NET_HDR_NUM_BUFFERS, n, sizeof(n)) ? ld_le16(n) : 0;
}

/* Reads buffer @i, to which the device wrote @len bytes.  Passes the frame to the stack if it ends
 * in this buffer.  A frame that is too long or has no buffers sets net->broken.
 */
static void receive(struct guest_net *net, uint32_t i, uint32_t len)
{
    const uint64_t gpa = slot_gpa(net, NET_QUEUE_RX, i);

    if (net->in_left == 0) {
        if (len <= NET_HDR_BYTES && !has_small_buffers(net))
            return; /* the buffer was too short; the device has reported it */
        net->in_bytes = 0;
        net->in_left = len < NET_HDR_BYTES ? 0 : count_buffers(net, gpa);
    }
    if (net->in_left == 0 || len > net->slots[NET_QUEUE_RX].bytes ||
        len > net->frame_bytes - net->in_bytes ||
        !ram_read(net->virtio.pci.ram, gpa, net->in + net->in_bytes, len)) {
        net->broken = true;
        return;
    }
    net->in_bytes += len;
    if (--net->in_left > 0)
        return;
    net->rcvd_frames++;
    stack_receive(net, net->in + NET_HDR_BYTES, net->in_bytes - NET_HDR_BYTES);
}

static void receive_all(struct guest_net *net)
{
    struct vqd *q = &net->queues[NET_QUEUE_RX].vq;
    uint16_t head;
    uint32_t len;
    enum vqd_used got = virtqueue_take_used(&net->virtio, q, NET_QUEUE_RX, &head, &len);

    for (; got == VQD_GOT; got = virtqueue_take_used(&net->virtio, q, NET_QUEUE_RX, &head, &len)) {
        receive(net, head, len);
        post_buffer(net);
    }
    if (got == VQD_BROKEN)
        net->broken = true;
    show_buffers(net);
}

static void interrupt(void *driver, uint32_t vector)
{
    struct guest_net *net = driver;
    struct vqd *q = &net->queues[NET_QUEUE_RX].vq;

    if (!net->up || net->broken || vector != rx_vector(net))
        return;
    net->irqs++;
    do { /* frames that arrive before the interrupt is enabled raise none */
        vqd_want_interrupt(q, net->virtio.pci.ram, false);
        receive_all(net);
        vqd_want_interrupt(q, net->virtio.pci.ram, true);
    } while (!net->broken && vqd_used_count(q, net->virtio.pci.ram) > 0);
}

/* With INTx there is one vector, 0.  A change of the configuration needs no action. */
static bool line(void *driver)
{
    struct guest_net *net = driver;
    const unsigned isr = virtio_ask_isr(&net->virtio);

    if (isr & VIRTIO_ISR_QUEUE)
        interrupt(net, 0);
    return isr != 0;
}

static uint64_t irqs(const void *driver)
{
    return ((const struct guest_net *)driver)->irqs;
}

const struct pci_driver guest_net_driver = {
    .ids = VIRTIO_PCI_IDS(VIRTIO_ID_NET),
    .boot = boot,
    .interrupt = interrupt,
    .line = line,
    .irqs = irqs,
};
