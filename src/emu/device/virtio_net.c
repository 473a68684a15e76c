/* SPDX-License-Identifier: MIT */
#include "emu/device/virtio_net.h"

#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/net.h"
#include "emu/facts/virtio/net_feature.h"
#include "emu/facts/virtio/pci.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/trace/events/rings.h"
#include "emu/virtio/fault.h"
#include "emu/wire/eth.h"
#include "emu/wire/glance.h"

static struct ev_addr addr_of(const struct glance *g)
{
    char buf[ADDR_TEXT_MAX];

    return ev_addr(g->has_addr ? addr_text(g->addr, buf) : "");
}

static void ring(struct vnet *v)
{
    if (v->doorbell_due)
        return;
    v->doorbell_due = true;
    fn_ring_doorbell(&v->pci.fn, NET_QUEUE_TX, VNET_DOORBELL_NS);
}

static void on_notify(void *ctx, uint32_t queue)
{
    struct vnet *v = ctx;

    if (queue != NET_QUEUE_TX)
        return; /* receive buffers are taken when a frame arrives */
    v->tx_kick = v->trace->cause;
    ring(v);
}

static void on_reset(void *ctx)
{
    struct vnet *v = ctx;

    v->tx_ready = false;
    v->tx_kick = 0;
}

static void on_queue_reset(void *ctx, uint32_t queue)
{
    struct vnet *v = ctx;

    if (queue == NET_QUEUE_TX)
        v->tx_ready = false;
}

static void on_queue_enabled(void *ctx, uint32_t queue)
{
    struct vnet *v = ctx;

    if (!v->pci.bus_master)
        return; /* on_mastering() does it later */
    if (queue == NET_QUEUE_RX)
        vq_refuse_kicks(&v->pci.queues[queue], v->ram);
    else
        vq_started(&v->pci.queues[queue], v->ram);
}

static void on_mastering(void *ctx)
{
    struct vnet *v = ctx;

    for (uint32_t i = 0; i < NET_QUEUES; i++) {
        if (v->pci.queues[i].enabled)
            on_queue_enabled(v, i);
    }
    if (v->tx_ready)
        ring(v);
}

/* Sends the frames in the transmit queue.  Ignores the receive queue, whose buffers are taken when
 * a frame arrives.
 */
static void on_doorbell(void *ctx, uint32_t queue)
{
    struct vnet *v = ctx;

    v->doorbell_due = false;
    if (queue != NET_QUEUE_TX)
        return;
    if (!virtio_running(&v->pci)) { /* reset meanwhile, or no bus mastering */
        virtio_hold_kick(&v->pci, queue);
        return;
    }
    v->tx_ready = true;
    eth_port_wait(v->port, v->port_user);
    eth_port_pump(v->port);
}

static const struct virtio_ops virtio_ops = {
    .notify = on_notify,
    .reset = on_reset,
    .queue_reset = on_queue_reset,
    .queue_enabled = on_queue_enabled,
    .mastering = on_mastering,
    .doorbell = on_doorbell,
};

static void set_status(struct vnet *v, uint16_t status)
{
    st_le16(v->pci.device_config + NET_CONFIG_STATUS, status);
}

void vnet_link_changed(struct vnet *v, bool up)
{
    set_status(v, up ? NET_STATUS_LINK_UP : 0);
    virtio_config_changed(&v->pci);
}

/* Takes the next chain of @queue into v->chain.  Returns false if there is none.  A chain with
 * buffers of the wrong direction breaks the queue.  Also reports a queue that was found broken when
 * its index was read.
 */
static bool pop(struct vnet *v, uint32_t queue)
{
    struct vq *vq = &v->pci.queues[queue];
    enum vq_pop got;

    if (!vq->enabled || !virtio_running(&v->pci) ||
        (v->pci.is_faulty && virtio_is_stuck(&v->pci, queue, v->ram)))
        return false;
    if (vq_turn_is_over(vq, v->ram, v->trace->tick)) {
        if (queue == NET_QUEUE_TX)
            ring(v);
        return false;
    }
    got = vq_pop(vq, v->ram, &v->chain);
    if (got == VQ_EMPTY)
        return false;
    if (got == VQ_GOT && (queue == NET_QUEUE_RX ? v->chain.n_readable : v->chain.n_writable) > 0) {
        vq->broken = VQE_WRONG_DIRECTION;
        got = VQ_BROKEN;
    }
    if (got == VQ_BROKEN)
        virtio_queue_broken(&v->pci, queue);
    else
        v->port->progress->chains++;
    return got == VQ_GOT;
}

/* Completes @n chains at once, and interrupts the driver if it requests that. */
static void push(struct vnet *v, uint32_t queue, struct vq_used *used, uint32_t n)
{
    struct vq *vq = &v->pci.queues[queue];

    if (n == 0)
        return;
    for (uint32_t i = 0; i < n && v->pci.is_faulty; i++)
        used[i].len = virtio_length(&v->pci, queue, used[i].head, used[i].len);
    if (!vq_push_all(vq, v->ram, used, n)) {
        virtio_queue_broken(&v->pci, queue);
        return;
    }
    v->port->progress->chains += n;
    for (uint32_t i = 0; i < n; i++)
        TRACE(v->trace, used, .host = v->config.host, .function = FN_NET, .queue = queue,
              .desc = used[i].head, .len = used[i].len,
              .used_idx = (uint16_t)(vq->used_idx - (n - 1 - i)));
    if (v->pci.is_faulty)
        virtio_may_invent(&v->pci, queue, v->ram, used[n - 1].len);
    if (vq_wants_interrupt(vq, v->ram))
        virtio_raise(&v->pci, queue);
    else if (vq->broken != VQE_NONE)
        virtio_queue_broken(&v->pci, queue);
}

/* Checks the frame in v->chain.  Returns DROP_NONE, or the reason why it cannot be sent. */
static enum drop_reason check_tx(const struct vnet *v)
{
    const uint32_t n = v->chain.readable_bytes;
    uint8_t header[NET_HDR_BYTES];

    if (vq_chain_read(v->ram, &v->chain, 0, header, sizeof(header)) < sizeof(header) ||
        n < NET_HDR_BYTES + ETH_BYTES)
        return DROP_SHORT;
    if (header[NET_HDR_FLAGS] != 0 || header[NET_HDR_GSO_TYPE] != 0)
        return DROP_BAD_NET_HEADER;
    return n > NET_HDR_BYTES + ETH_BYTES + v->port->mtu ? DROP_TOO_LONG : DROP_NONE;
}

/* Copies the frame in v->chain out of guest memory.  Returns NULL if the arena is full. */
static struct frame *copy_out(const struct vnet *v)
{
    const uint32_t n = v->chain.readable_bytes - NET_HDR_BYTES;
    struct frame *f = frame_new(v->port->net->arena, n + eth_port_tag_bytes(v->port));

    if (f)
        f->len = (uint32_t)vq_chain_read(v->ram, &v->chain, NET_HDR_BYTES, f->bytes, n);
    return f;
}

/* Emits the tx event of @f, from what glance() finds in it. */
static void announce(struct vnet *v, struct frame *f)
{
    const struct glance g = glance(f->bytes, f->len);
    const ev_id cause = trace_because(v->trace, v->tx_kick);

    f->note = frame_note_of(v->config.host, &g);
    TRACE_ID(v->trace, f->tx, eth_tx, .host = v->config.host, .opcode = g.opcode,
             .addr = addr_of(&g), .wire_bytes = f->len + eth_port_tag_bytes(v->port));
    trace_because(v->trace, cause);
    v->tx_frames++;
}

static bool has_frame(const void *ctx)
{
    const struct vnet *v = ctx;

    return v->tx_ready && virtio_running(&v->pci);
}

/* Requests a notification if no other frame is available.  A frame that a concurrent driver
 * (foreign RAM) has added meanwhile is left for the next turn.
 */
static void look_ahead(struct vnet *v)
{
    struct vq *vq = &v->pci.queues[NET_QUEUE_TX];

    if (vq_avail_count(vq, v->ram) > 0)
        return;
    v->tx_ready = pop(v, NET_QUEUE_TX);
    if (v->tx_ready)
        vq_untake(vq, &(struct vq_used){v->chain.head, 0}, 1);
}

/* Returns the next valid frame of the transmit queue.  Invalid ones are completed and counted.  The
 * loop is bounded, because pop() is bounded by the ring size.
 */
static struct frame *take_frame(void *ctx)
{
    struct vnet *v = ctx;

    while (v->tx_ready && pop(v, NET_QUEUE_TX)) {
        enum drop_reason why = check_tx(v);
        struct frame *f = why == DROP_NONE ? copy_out(v) : NULL;

        if (f)
            announce(v, f);
        else if (why == DROP_NONE)
            why = DROP_NO_BUFFER;
        push(v, NET_QUEUE_TX, &(struct vq_used){v->chain.head, 0}, 1);
        if (f) {
            look_ahead(v);
            return f;
        }
        v->tx_drops[why]++;
        TRACE(v->trace, drop, .host = v->config.host, .opcode = FRAME_OTHER,
              .reason = (uint32_t)why, .wire_bytes = v->chain.readable_bytes);
    }
    v->tx_ready = false;
    return NULL;
}

/* A received frame, and the chains that it is written to. */
struct landing {
    const struct frame *frame;
    uint32_t done;        /* bytes of header and frame written */
    uint32_t n;           /* chains taken */
    uint64_t count_at[2]; /* addresses of both bytes of num_buffers: may be in two buffers */
    struct vq_used used[VNET_QUEUE_SIZE];
};

/* Schedules a late write of the frame to v->chain, which has room for all of it.  SIMPLIFIED: a
 * frame in several buffers is never late, so that a late write only goes to a completed chain.
 */
static void land_late(struct vnet *v, struct landing *l, const struct device_fault *late)
{
    const uint8_t header[NET_HDR_BYTES] = {[NET_HDR_NUM_BUFFERS] = 1};
    struct virtio_write w = {NET_QUEUE_RX, v->ram, &v->chain, 0, header, sizeof(header)};

    virtio_write_late(&v->pci, late, &w);
    w.offset = sizeof(header);
    w.in = l->frame->bytes;
    w.n = l->frame->len;
    virtio_write_late(&v->pci, late, &w);
    l->done = NET_HDR_BYTES + l->frame->len;
    l->used[l->n++] = (struct vq_used){v->chain.head, l->done};
}

/* Writes as much of the frame as fits into v->chain, the next chain of @l. */
static void fill_chain(struct vnet *v, struct landing *l)
{
    static const uint8_t header[NET_HDR_BYTES];
    const uint32_t left = NET_HDR_BYTES + l->frame->len - l->done;
    const uint32_t n = v->chain.writable_bytes < left ? v->chain.writable_bytes : left;
    const uint32_t skip = l->n == 0 ? NET_HDR_BYTES : 0;

    if (l->n == 0) {
        vq_chain_write(v->ram, &v->chain, 0, header, sizeof(header));
        l->count_at[0] = vq_chain_gpa(&v->chain, NET_HDR_NUM_BUFFERS);
        l->count_at[1] = vq_chain_gpa(&v->chain, NET_HDR_NUM_BUFFERS + 1);
    }
    vq_chain_write(v->ram, &v->chain, skip, l->frame->bytes + l->done + skip - NET_HDR_BYTES,
                   n - skip);
    l->used[l->n++] = (struct vq_used){v->chain.head, n};
    l->done += n;
}

/* Writes the frame to receive buffers.  Returns DROP_NONE, or the reason why it is dropped; the
 * chains in @l must then be completed without data.
 */
static enum drop_reason land(struct vnet *v, struct landing *l)
{
    const uint32_t all = NET_HDR_BYTES + l->frame->len;
    const bool merges = v->pci.accepted & VIRTIO_FEATURE(NF_MRG_RXBUF);
    const struct device_fault *late = NULL;

    while (l->done < all) {
        if (l->n == VNET_QUEUE_SIZE || !pop(v, NET_QUEUE_RX)) {
            vq_untake(&v->pci.queues[NET_QUEUE_RX], l->used, l->n);
            l->n = 0;
            return DROP_NO_RX_BUFFER;
        }
        if (l->n == 0 && v->chain.writable_bytes < (merges ? NET_HDR_BYTES : all)) {
            l->used[l->n++] = (struct vq_used){v->chain.head, 0};
            return DROP_TOO_LONG;
        }
        if (l->n == 0 && v->pci.is_faulty && v->chain.writable_bytes >= all)
            late = virtio_fault_hits(&v->pci, FLT_LATE_DATA, NET_QUEUE_RX);
        if (late) {
            land_late(v, l, late);
            return DROP_NONE;
        }
        fill_chain(v, l);
    }
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t byte = (uint8_t)(l->n >> (8 * i));

        /* Cannot fail: the header was written there. */
        (void)ram_write(v->ram, l->count_at[i], &byte, sizeof(byte));
    }
    return DROP_NONE;
}

/* Returns true if @f is longer than the MTU, and the driver has negotiated NF_MTU.
 * [virtio 1.2, 5.1.4.1]
 */
static bool is_too_long(const struct vnet *v, const struct frame *f)
{
    return f->len > ETH_BYTES + v->port->mtu && (v->pci.accepted & VIRTIO_FEATURE(NF_MTU));
}

static void deliver(void *ctx, const struct frame *f)
{
    struct vnet *v = ctx;
    struct landing l; /* not zeroed: too large to do for each frame */
    enum drop_reason why;
    struct glance g;
    ev_id id, cause;

    if (!virtio_running(&v->pci)) {
        eth_port_drop(v->port, f, virtio_is_driven(&v->pci) ? DROP_NO_BUS_MASTER : DROP_NO_DRIVER);
        return;
    }
    if (is_too_long(v, f)) {
        eth_port_drop(v->port, f, DROP_TOO_LONG);
        return;
    }
    l.frame = f;
    l.done = l.n = 0;
    l.count_at[0] = l.count_at[1] = 0;
    why = land(v, &l);
    if (why != DROP_NONE) {
        eth_port_drop(v->port, f, why);
        push(v, NET_QUEUE_RX, l.used, l.n);
        return;
    }
    v->rx_frames++;
    v->port->taken_frames++;
    g = glance(f->bytes, f->len);
    TRACE_ID(v->trace, id, eth_rx, .host = v->config.host, .opcode = g.opcode, .addr = addr_of(&g),
             .desc = l.used[0].head, .wire_bytes = f->len, .tx = f->tx, .more = l.n - 1);
    cause = trace_because(v->trace, id);
    push(v, NET_QUEUE_RX, l.used, l.n);
    trace_because(v->trace, cause);
}

static const struct eth_user_ops user_ops = {
    .has_frame = has_frame,
    .take_frame = take_frame,
    .deliver = deliver,
};

static void fill_config(struct vnet *v)
{
    uint8_t *c = v->pci.device_config;

    memcpy(c + NET_CONFIG_MAC, v->config.mac, MAC_BYTES);
    set_status(v, 0);
    st_le16(c + NET_CONFIG_PAIRS, 1);
    st_le16(c + NET_CONFIG_MTU, (uint16_t)v->port->mtu);
}

bool vnet_init(struct vnet *v, const struct vnet_env *env, const struct vnet_config *config)
{
    const struct virtio_config pci = {
        .host = config->host,
        .function = FN_NET,
        .slot = config->slot,
        .virtio_id = VIRTIO_ID_NET,
        .class_code = PCI_CLASS_ETHERNET,
        .features_off = config->features_off,
        .features_own = VIRTIO_FEATURE(NF_MTU) | VIRTIO_FEATURE(NF_MAC) |
                        VIRTIO_FEATURE(NF_STATUS) |
                        (config->mergeable ? VIRTIO_FEATURE(NF_MRG_RXBUF) : 0),
        .packed = config->packed,
        .platform = config->platform,
        .num_queues = NET_QUEUES,
        .queue_size = VNET_QUEUE_SIZE,
        .n_vectors = VNET_VECTORS,
        .config_bytes = NET_CONFIG_BYTES,
    };

    *v = (struct vnet){.config = *config,
                       .sim = env->sim,
                       .trace = env->sim->trace,
                       .ram = env->ram,
                       .port = env->port};
    if (!virtio_init(&v->pci, env->arena, env->sim, &pci, &virtio_ops, v))
        return false;
    fill_config(v);
    v->port_user = eth_port_use(env->port, &user_ops, v);
    return true;
}
