/* SPDX-License-Identifier: MIT */
#include "hostile_host.h"

#include <string.h>

#include "bystanders.h"
#include "emu/device/rdma.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/virtio/net.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/rnic/rnic.h"
#include "rdmalab/inspect.h"
#include "rdmalab/memory.h"
#include "rdmalab/pci.h"
#include "rdmalab/srq.h"

#define H1_RAM_BYTES     (UINT64_C(16) << 20)
#define H1_QPS           6u /* with the one of number 1 */
#define H1_CQS           6u
#define H1_WR            16u
#define MESSAGE_BYTES    3000u
#define GO_ON_TICKS      20000u /* at a time */
#define WAIT_TICKS       10000u
#define GROWTH_MAX       (UINT64_C(16) << 20)
#define NEW_RING_AT      (HOSTILE_PAGE_LIST - 4096u) /* in the zone */
#define NEW_RING_SIZE    4u
#define NEW_DRIVER_NS    100000u
#define CHAIN_PLACES     2u  /* a chain is taken, and given back */
#define CHAINS_OF_OTHERS 64u /* that h2 and h3 take and give back in a tick */

static struct hostile_lab beds[HOSTILE_LAB_COUNT];

/* --- The lab ---------------------------------------------------------------------------------- */

static const struct testbed_config small = {
    .mr_bytes = UINT64_C(2) * HOSTILE_MESSAGES * MESSAGE_BYTES,
    .max_wr = H1_WR,
    .path_mtu = MTU_1024,
    .timeout = 8,
    .retry_cnt = 3,
    .rnr_retry = 3,
    .min_rnr_timer = 1,
    .access = {ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC,
               ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC},
    .max_rd_atomic = {4, 4},
    .max_dest_rd_atomic = {4, 4},
};

static void wait_for(const struct hostile_lab *h, rdl_host host)
{
    struct rdl_response rsp;

    must(rdl_wait(h->lab, host, (struct rdl_limits){.ticks = WAIT_TICKS}, &rsp));
}

static void add_hosts(struct hostile_lab *h, unsigned bits)
{
    struct rdl_host_config c = {.name = "h1",
                                .ram_bytes = H1_RAM_BYTES,
                                .max_cq = H1_CQS,
                                .max_qp = H1_QPS,
                                .max_srq = 2,
                                .ring = bits & HOSTILE_PACKED ? VRING_packed : VRING_split,
                                .limits.max_qp_wr = 64,
                                .limits.max_cqe = 64};
    rdl_host hosts[BYSTANDER_HOSTS];

    if (bits & HOSTILE_PLAIN)
        c.features_off |= VIRTIO_FEATURE(VF_EVENT_IDX) | VIRTIO_FEATURE(VF_INDIRECT_DESC);
    if (bits & HOSTILE_EXTENDED)
        c.extensions = VIRTIO_FEATURE(EXT_ALL);
    if (bits & HOSTILE_MINIMAL)
        c.features_off |= RDMA_FEATURES_OWN;
    bystanders_add_hosts(h->lab, &c, hosts);
    h->host = hosts[0];
    h->h1 = h->lab->state->hosts[0];
    h->other[0].host = hosts[1];
    h->other[1].host = hosts[2];
}

/* The zone, and in it the list of its pages. */
static void make_zone(struct hostile_lab *h)
{
    uint8_t list[8 * HOSTILE_ZONE_BYTES / RAM_PAGE_BYTES];

    h->zone = space_alloc_dma(&h->h1->guest.space, HOSTILE_ZONE_BYTES, RAM_PAGE_BYTES);
    FUZZ_CHECK(h->zone != 0);
    for (uint32_t i = 0; i < sizeof(list) / 8; i++)
        st_le64(list + 8 * (size_t)i, h->zone + (uint64_t)i * RAM_PAGE_BYTES);
    FUZZ_CHECK(ram_write(&h->h1->ram, h->zone + HOSTILE_PAGE_LIST, list, sizeof(list)));
}

static void connect_services(struct hostile_lab *h)
{
    static const uint32_t types[HOSTILE_SERVICES] = {QPT_RC, QPT_UC, QPT_UD};
    struct testbed_config c = small;

    c.mr_bytes = HOSTILE_REGION_BYTES;
    c.mr_access = ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;
    h->ours[0].host = h->host;
    must(testbed_side_memory(h->lab, &h->ours[0], &c));
    h->mem = h->ours[0].mem;
    h->peer[0].host = h->other[0].host;
    must(testbed_side_memory(h->lab, &h->peer[0], &c));
    for (unsigned i = 0; i < HOSTILE_SERVICES; i++) {
        c.type = types[i];
        h->ours[i] = h->ours[0];
        h->peer[i] = h->peer[0];
        must(testbed_side_qp(h->lab, &h->ours[i], &c, false));
        must(testbed_side_qp(h->lab, &h->peer[i], &c, false));
        must(testbed_side_connect(h->lab, &h->ours[i], &h->peer[i], &c, 0));
        must(testbed_side_connect(h->lab, &h->peer[i], &h->ours[i], &c, 1));
        for (uint32_t k = 0; k < H1_WR / 2; k++)
            must(testbed_side_recv(h->lab, &h->peer[i], k, 4096 * (uint64_t)k, 4096));
    }
}

/* Byte @k of message @i that @side sends. */
static uint8_t message_byte(unsigned side, uint32_t i, uint32_t k)
{
    return (uint8_t)(1u + (side * 101u + i * 31u + k * 7u) % 255u);
}

/* Messages that are sent are at the beginning of the memory, those that arrive behind them. */
static void post_messages(struct hostile_lab *h)
{
    uint8_t bytes[MESSAGE_BYTES];

    for (unsigned side = 0; side < 2; side++) {
        struct testbed_side *s = &h->other[side];

        for (uint32_t i = 0; i < HOSTILE_MESSAGES; i++) {
            const uint64_t at = (uint64_t)i * MESSAGE_BYTES;

            for (uint32_t k = 0; k < MESSAGE_BYTES; k++)
                bytes[k] = message_byte(side, i, k);
            must(rdl_mem_write(h->lab, s->host, s->mem.addr + at, bytes, sizeof(bytes)));
            must(testbed_side_recv(h->lab, s, i, at + (uint64_t)HOSTILE_MESSAGES * MESSAGE_BYTES,
                                   MESSAGE_BYTES));
            must(testbed_side_send(h->lab, s, i, at, MESSAGE_BYTES, SF_SIGNALED));
        }
    }
}

static void connect_others(struct hostile_lab *h)
{
    for (unsigned i = 0; i < 2; i++) {
        struct testbed_side *s = &h->other[i];

        if (i == 0) { /* h2 has memory for its connections with h1 already */
            const rdl_host host = s->host;

            must(rdl_alloc_pd(h->lab, host, "own", &s->pd));
            wait_for(h, host);
            must(rdl_mem_alloc(h->lab, host, small.mr_bytes, &s->mem.addr));
            must(rdl_reg_mr(h->lab, s->pd, s->mem.addr, small.mr_bytes, ACC_LOCAL_WRITE, "own_mr",
                            &s->mr));
            wait_for(h, host);
            must(rdl_mr_info(h->lab, s->mr, &s->mem));
        } else {
            must(testbed_side_memory(h->lab, s, &small));
        }
        must(testbed_side_qp(h->lab, s, &small, false));
    }
    must(testbed_side_connect(h->lab, &h->other[0], &h->other[1], &small, 0));
    must(testbed_side_connect(h->lab, &h->other[1], &h->other[0], &small, 1));
}

static void note_places(struct hostile_lab *h)
{
    for (unsigned i = 0; i < RING_COUNT; i++) {
        const struct vqd *q;

        if (!hostile_vq(h, i))
            continue;
        q = hostile_function(i) == FN_NET ? &h->h1->guest.net.queues[hostile_queue(h, i)].vq
                                          : host_rdma_vq(h->h1, hostile_queue(h, i));
        h->places_at_start[i] = (struct hostile_place){q->avail_idx, q->avail, q->free_head};
    }
}

static void note_registers(struct hostile_lab *h)
{
    for (unsigned i = 0; i < HOST_FUNCTIONS; i++)
        memcpy(h->bar[i], h->h1->functions[pci_number_of((enum pci_function)i)]->bar,
               sizeof(h->bar[i]));
}

static void make_lab(struct hostile_lab *h, unsigned bits)
{
    const struct rdl_lab_config c = {.seed = 1, .check_invariants = true};
    const struct rdl_srq_attr srq = {.max_wr = H1_WR, .max_sge = 2};
    rdl_srq made;

    must(rdl_lab_new(&c, &h->lab));
    add_hosts(h, bits);
    make_zone(h);
    connect_services(h);
    connect_others(h);
    if (!(bits & HOSTILE_MINIMAL)) {
        must(rdl_create_srq(h->lab, h->ours[0].pd, &srq, "srq", &made));
        wait_for(h, h->host);
    }
    must(rdl_run(h->lab, RDL_NEVER, (struct rdl_limits){.ticks = WAIT_TICKS}));
    post_messages(h);
    note_places(h);
    note_registers(h);
    h->used_bytes = rdl_used_bytes(h->lab);
    must(rdl_checkpoint_save(h->lab, &h->start));
}

void hostile_init(void)
{
    for (unsigned i = 0; i < HOSTILE_LAB_COUNT; i++)
        make_lab(&beds[i], i);
}

struct hostile_lab *hostile_begin(unsigned which)
{
    struct hostile_lab *h = &beds[which % HOSTILE_LAB_COUNT];

    rdl_checkpoint_restore(h->lab, h->start);
    memcpy(h->places, h->places_at_start, sizeof(h->places));
    return h;
}

/* --- Registers and rings ---------------------------------------------------------------------- */

enum pci_function hostile_function(enum hostile_ring ring)
{
    return ring == RING_NET_RECEIVES || ring == RING_NET_SENDS ? FN_NET : FN_RDMA;
}

uint32_t hostile_queue(const struct hostile_lab *h, enum hostile_ring ring)
{
    const uint32_t spare = h->ours[HOSTILE_SERVICES - 1].qpn + 1;
    const unsigned service = ((unsigned)ring - RING_RC_SENDS) / 2;

    switch (ring) {
    case RING_CONTROL:
        return QUEUE_CTRL;
    case RING_CQ:
        return 1;
    case RING_SPARE_CQ:
        return H1_CQS;
    case RING_EVENTS:
        return queue_of_events(H1_CQS, H1_QPS);
    case RING_SHARED:
        return queue_of_srq(H1_CQS, H1_QPS, 1);
    case RING_CEQ: /* a device without has no queue of this number */
        return rdma_first_ceq(&host_rdma(h->h1)->config);
    case RING_SPARE_SENDS:
        return queue_of_sends(H1_CQS, spare);
    case RING_SPARE_RECEIVES:
        return queue_of_receives(H1_CQS, spare);
    case RING_NET_RECEIVES:
        return NET_QUEUE_RX;
    case RING_NET_SENDS:
        return NET_QUEUE_TX;
    default:
        return ((unsigned)ring - RING_RC_SENDS) % 2
                   ? queue_of_receives(H1_CQS, h->ours[service].qpn)
                   : queue_of_sends(H1_CQS, h->ours[service].qpn);
    }
}

static struct virtio_dev *device_of(const struct hostile_lab *h, enum pci_function function)
{
    return function == FN_NET ? &h->h1->net->pci : &host_rdma(h->h1)->pci;
}

struct vq *hostile_vq(const struct hostile_lab *h, enum hostile_ring ring)
{
    const struct virtio_dev *d = device_of(h, hostile_function(ring));
    const uint32_t queue = hostile_queue(h, ring);

    return queue < d->config.num_queues ? &d->queues[queue] : NULL;
}

void hostile_poke(const struct hostile_lab *h, uint64_t gpa, const void *bytes, size_t n)
{
    const enum rdl_status st = rdl_ram_write(h->lab, h->host, gpa, bytes, n);

    FUZZ_CHECK(st == RDL_OK || st == RDL_ERR_FAULT);
}

void hostile_put(const struct hostile_lab *h, enum pci_function function, uint32_t reg,
                 uint32_t width, uint64_t value)
{
    must(rdl_reg_write(h->lab, h->host, function, reg, width, value));
}

void hostile_kick(const struct hostile_lab *h, enum hostile_ring ring)
{
    const uint32_t queue = hostile_queue(h, ring);

    hostile_put(h, hostile_function(ring), BAR_NOTIFY + queue * NOTIFY_MULTIPLIER, 2, queue);
}

/* Flags of a descriptor that has others behind it, or not. */
static uint16_t flags_of(const struct hostile_seg *s, bool next)
{
    return (uint16_t)(((s->writable ? VRING_WRITE : 0u) | (next ? VRING_NEXT : 0u)) ^
                      s->wrong_flags);
}

static void put_desc(const struct hostile_lab *h, uint64_t at, const struct hostile_seg *s,
                     uint16_t word12, uint16_t word14)
{
    uint8_t b[VRING_DESC_BYTES];

    st_le64(b, s->gpa);
    st_le32(b + 8, s->bytes);
    st_le16(b + 12, word12);
    st_le16(b + 14, word14);
    hostile_poke(h, at, b, sizeof(b));
}

static void put_table(const struct hostile_lab *h, const struct hostile_seg *segs, uint32_t n,
                      uint64_t at, bool packed)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint16_t flags = flags_of(&segs[i], !packed && i + 1 < n);

        put_desc(h, at + VRING_DESC_BYTES * (uint64_t)i, &segs[i], packed ? 0 : flags,
                 packed ? flags : (uint16_t)(i + 1));
    }
}

static void offer_split(struct hostile_lab *h, enum hostile_ring ring,
                        const struct hostile_seg *segs, uint32_t n)
{
    const struct vring *r = &hostile_vq(h, ring)->ring;
    struct hostile_place *p = &h->places[ring];
    const uint32_t first = p->next_desc % r->size;
    uint8_t word[2];

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = p->next_desc++ % r->size;

        put_desc(h, vring_desc_at(r, at), &segs[i], flags_of(&segs[i], i + 1 < n),
                 (uint16_t)(p->next_desc % r->size));
    }
    st_le16(word, (uint16_t)first);
    hostile_poke(h, vring_avail_entry_at(r, p->avail_idx++), word, sizeof(word));
    st_le16(word, p->avail_idx);
    hostile_poke(h, vring_avail_idx_at(r), word, sizeof(word));
}

static void offer_packed(struct hostile_lab *h, enum hostile_ring ring,
                         const struct hostile_seg *segs, uint32_t n)
{
    const struct vring *r = &hostile_vq(h, ring)->ring;
    struct hostile_place *p = &h->places[ring];
    const uint16_t id = p->next_desc++;

    for (uint32_t i = 0; i < n; i++) {
        const unsigned flags = flags_of(&segs[i], i + 1 < n) ^ vring_avail_flags(p->avail);

        put_desc(h, vring_desc_at(r, p->avail.at), &segs[i], (uint16_t)(id % r->size),
                 (uint16_t)flags);
        p->avail = vring_pos_after(p->avail, 1, r->size);
    }
    p->avail_idx++;
}

void hostile_offer(struct hostile_lab *h, enum hostile_ring ring, const struct hostile_seg *segs,
                   uint32_t n, uint32_t n_direct, uint64_t table)
{
    struct hostile_seg direct[VQ_SEGS_MAX];
    const struct vq *vq = hostile_vq(h, ring);

    if (!vq || vq->ring.size == 0 || n == 0 || n >= VQ_SEGS_MAX)
        return;
    memcpy(direct, segs, n * sizeof(*segs));
    if (n_direct < n) {
        put_table(h, segs + n_direct, n - n_direct, table, vq->ring.packed);
        direct[n_direct] =
            (struct hostile_seg){table, VRING_DESC_BYTES * (n - n_direct), false, VRING_INDIRECT};
        n = n_direct + 1;
    }
    if (vq->ring.packed)
        offer_packed(h, ring, direct, n);
    else
        offer_split(h, ring, direct, n);
}

void hostile_move(struct hostile_lab *h, enum hostile_ring ring, const struct vring *to)
{
    const enum pci_function f = hostile_function(ring);

    hostile_put(h, f, REG_QUEUE_SELECT, 2, hostile_queue(h, ring));
    hostile_put(h, f, REG_QUEUE_RESET, 2, 1);
    hostile_put(h, f, REG_QUEUE_SIZE, 2, to->size);
    hostile_put(h, f, REG_QUEUE_DESC, 8, to->desc);
    hostile_put(h, f, REG_QUEUE_DRIVER, 8, to->avail);
    hostile_put(h, f, REG_QUEUE_DEVICE, 8, to->used);
    hostile_put(h, f, REG_QUEUE_ENABLE, 2, 1);
    h->places[ring] = (struct hostile_place){.avail = VRING_POS_START};
}

/* --- Time ------------------------------------------------------------------------------------- */

/* Chains that a tick can take, and give back: what a sound driver can have in the rings. */
static uint64_t chains_max(const struct hostile_lab *h)
{
    uint64_t n = 0;

    for (unsigned f = 0; f < HOST_FUNCTIONS; f++) {
        const struct virtio_dev *d = device_of(h, f);

        for (uint32_t i = 0; i < d->config.num_queues; i++)
            n += d->queues[i].enabled ? d->queues[i].ring.size : 0;
    }
    return CHAIN_PLACES * n;
}

/* One tick.  False: nothing is due until @until_ns. */
static bool tick(const void *lab, uint64_t until_ns)
{
    const struct hostile_lab *h = lab;
    const uint64_t before = rdl_progress(h->lab, RDL_STEP_DESC);
    const uint64_t at_h1 = chains_max(h);
    enum rdl_status st;

    if (rdl_next_ns(h->lab) > until_ns)
        return false;
    st = rdl_step(h->lab, RDL_STEP_TICK, (struct rdl_limits){.ticks = 1});
    FUZZ_CHECK(st == RDL_OK);
    FUZZ_CHECK(rdl_progress(h->lab, RDL_STEP_DESC) - before <= at_h1 + CHAINS_OF_OTHERS);
    return true;
}

static void go_on(const struct hostile_lab *h, uint64_t ns, uint32_t ticks)
{
    const uint64_t until_ns = rdl_now_ns(h->lab) + ns;

    for (uint32_t i = 0; i < ticks && tick(h, until_ns); i++)
        continue;
}

void hostile_go_on(const struct hostile_lab *h, uint64_t ns)
{
    go_on(h, ns, GO_ON_TICKS);
}

/* --- What must have come of it ---------------------------------------------------------------- */

static void check_messages(const struct hostile_lab *h)
{
    uint8_t have[2 * HOSTILE_MESSAGES * MESSAGE_BYTES];

    for (unsigned side = 0; side < 2; side++) {
        must(
            rdl_mem_read(h->lab, h->other[side].host, h->other[side].mem.addr, have, sizeof(have)));
        for (uint32_t i = 0; i < 2 * HOSTILE_MESSAGES; i++) {
            const unsigned from = i < HOSTILE_MESSAGES ? side : 1 - side;

            for (uint32_t k = 0; k < MESSAGE_BYTES; k++)
                FUZZ_CHECK(have[i * MESSAGE_BYTES + k] ==
                           message_byte(from, i % HOSTILE_MESSAGES, k));
        }
    }
}

static void check_queues(const struct virtio_dev *d)
{
    for (uint32_t i = 0; i < d->config.num_queues; i++) {
        const struct vq *vq = &d->queues[i];

        if (!vq->enabled)
            continue;
        FUZZ_CHECK(vq_invariant(vq));
        FUZZ_CHECK(vring_is_sound(&vq->ring) || vq->broken != VQE_NONE);
    }
}

/* Counts that stand in two places are equal. */
static void check_objects(const struct rdma *d)
{
    const struct hca *h = &d->nic.hca;
    uint32_t keys = 0, users = 0, of_pds = 0;

    for (uint32_t i = 0; i < h->mkeys.len; i++)
        keys += slots_at(&h->mkeys, i) != NULL;
    FUZZ_CHECK(keys == h->mkeys.used && keys == h->n_mr + h->n_mw);
    for (uint32_t i = 0; i < h->pds.len; i++) {
        const struct pd *pd = slots_at(&h->pds, i);

        of_pds += pd ? pd->users : 0;
    }
    users = keys + hca_n_qps(h) + h->srqs.used;
    FUZZ_CHECK(of_pds == users);
    for (uint32_t qpn = 1; qpn <= d->config.nic.max_qp; qpn++) {
        const struct qp *qp = hca_qp(h, qpn);

        if (qp)
            FUZZ_CHECK(!xport_invariant(qp));
    }
}

static void check_state(const struct hostile_lab *h)
{
    FUZZ_CHECK(!rdl_broken_invariant(h->lab));
    check_queues(&host_rdma(h->h1)->pci);
    check_queues(&h->h1->net->pci);
    check_objects(host_rdma(h->h1));
    FUZZ_CHECK(!eth_port_invariant(&h->h1->port));
    FUZZ_CHECK(rdl_used_bytes(h->lab) <= h->used_bytes + GROWTH_MAX);
    FUZZ_CHECK(rdl_shortage(h->lab) == RDL_SHORT_OF_NOTHING);
}

/* --- A new driver ----------------------------------------------------------------------------- */

static void put_config(const struct hostile_lab *h, uint32_t function, uint32_t at, uint32_t width,
                       uint64_t value)
{
    const struct rdl_pci_place place = {
        .number = function, .space = RDL_PCI_CONFIG, .offset = at, .width = width};

    must(rdl_pci_write(h->lab, h->host, &place, value));
}

static void take_functions(const struct hostile_lab *h)
{
    for (uint32_t i = 0; i < HOST_FUNCTIONS; i++) {
        put_config(h, i, PCI_COMMAND, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER | PCI_CMD_INTX_OFF);
        put_config(h, i, PCI_BAR0, 4, h->bar[i][0]);
        put_config(h, i, PCI_BAR1, 4, h->bar[i][1]);
        put_config(h, i, PCI_AT_MSIX + MSIX_AT_CONTROL, 2, 0);
    }
}

static void status_is(const struct hostile_lab *h, unsigned want)
{
    uint64_t have;

    must(rdl_reg_read(h->lab, h->host, FN_RDMA, REG_DEVICE_STATUS, 1, &have));
    FUZZ_CHECK(have == want);
}

static void set_status(const struct hostile_lab *h, unsigned status)
{
    hostile_put(h, FN_RDMA, REG_DEVICE_STATUS, 1, status);
    status_is(h, status);
}

/* The control queue, with a split ring; returns where that is. */
static struct vring initialize(const struct hostile_lab *h)
{
    static const uint8_t zeros[4096];
    const struct vring r = vring_place(h->zone + NEW_RING_AT, NEW_RING_SIZE, false);

    set_status(h, 0);
    for (uint32_t i = 0; i < host_rdma(h->h1)->pci.config.num_queues; i++)
        FUZZ_CHECK(!host_rdma(h->h1)->pci.queues[i].enabled);
    hostile_poke(h, h->zone + NEW_RING_AT, zeros, sizeof(zeros));
    set_status(h, VS_ACKNOWLEDGE);
    set_status(h, VS_ACKNOWLEDGE | VS_DRIVER);
    hostile_put(h, FN_RDMA, REG_DRIVER_FEATURE_SELECT, 4, VF_VERSION_1 / 32);
    hostile_put(h, FN_RDMA, REG_DRIVER_FEATURE, 4, 1u << VF_VERSION_1 % 32);
    hostile_put(h, FN_RDMA, REG_DRIVER_FEATURE_SELECT, 4, 0);
    hostile_put(h, FN_RDMA, REG_DRIVER_FEATURE, 4, 0);
    set_status(h, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK);
    hostile_put(h, FN_RDMA, REG_QUEUE_SELECT, 2, QUEUE_CTRL);
    hostile_put(h, FN_RDMA, REG_QUEUE_SIZE, 2, r.size);
    hostile_put(h, FN_RDMA, REG_QUEUE_DESC, 8, r.desc);
    hostile_put(h, FN_RDMA, REG_QUEUE_DRIVER, 8, r.avail);
    hostile_put(h, FN_RDMA, REG_QUEUE_DEVICE, 8, r.used);
    hostile_put(h, FN_RDMA, REG_QUEUE_ENABLE, 2, 1);
    set_status(h, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK | VS_DRIVER_OK);
    return r;
}

/* The first object of a device without any has number 1. */
static void check_new_driver(struct hostile_lab *h)
{
    const uint64_t request = h->zone + NEW_RING_AT + 1024, answer = request + 64;
    const struct hostile_seg segs[] = {{request, 1, false, 0}, {answer, 5, true, 0}};
    const uint8_t command = CMD_CREATE_PD;
    uint8_t used[2], rsp[5];
    struct vring r;

    take_functions(h);
    r = initialize(h);
    h->places[RING_CONTROL] = (struct hostile_place){.avail = VRING_POS_START};
    hostile_poke(h, request, &command, 1);
    hostile_offer(h, RING_CONTROL, segs, ARRAY_LEN(segs), ARRAY_LEN(segs), 0);
    hostile_kick(h, RING_CONTROL);
    go_on(h, NEW_DRIVER_NS, BYSTANDER_TICKS);
    must(rdl_ram_read(h->lab, h->host, vring_used_idx_at(&r), used, sizeof(used)));
    must(rdl_ram_read(h->lab, h->host, answer, rsp, sizeof(rsp)));
    FUZZ_CHECK(ld_le16(used) == 1 && rsp[0] == RSP_OK && ld_le32(rsp + 1) == 1);
}

void hostile_end(struct hostile_lab *h)
{
    bystanders_finish(h->lab, h->other, HOSTILE_MESSAGES, tick, h);
    check_messages(h);
    check_state(h);
    check_new_driver(h);
    check_state(h);
}
