/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "virtio/function_up.h"

#define STEPS_MAX 100000u
#define DUE_MAX   4096u /* events that may be scheduled at a time */

const uint8_t machine_mac[MAC_BYTES] = {2, 0, 0, 0, 0, 1};
const uint8_t machine_gid[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 1};

static struct pci_fn *function_of(struct machine *m, uint32_t number)
{
    return number == pci_number_of(FN_NET) ? &m->vnet.pci.fn : &m->rdma.pci.fn;
}

static void on_doorbell(void *ctx, struct sim_item item)
{
    struct machine *m = ctx;

    const struct fn_queue q = fn_queue_of(item.arg);
    const struct pci_fn *f = function_of(m, q.number);

    f->ops->doorbell(f->dev, q.queue);
}

static void on_irq(void *ctx, struct sim_item item)
{
    struct machine *m = ctx;
    struct fn_message message;

    m->n_irq++;
    m->irq = fn_irq_of(item.arg);
    assert_true(
        fn_take_message(function_of(m, m->irq.number), m->irq, &message)); /* all are MSI-X */
}

static void on_qp_timer(void *ctx, struct sim_item item)
{
    virtio_rdma_device_ops.timer(&((struct machine *)ctx)->rdma, item.arg);
}

static void on_egress(void *ctx, struct sim_item item)
{
    (void)item;
    eth_port_egress(&((struct machine *)ctx)->port);
}

static void on_arrive(void *ctx, struct sim_item item)
{
    net_arrive(&((struct machine *)ctx)->net, item);
}

static void on_lost(void *ctx, struct sim_item item)
{
    net_lost(&((struct machine *)ctx)->net, item);
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {
    [SIM_DOORBELL] = on_doorbell, [SIM_IRQ] = on_irq,       [SIM_QP_TIMER] = on_qp_timer,
    [SIM_EGRESS] = on_egress,     [SIM_ARRIVE] = on_arrive, [SIM_LOST] = on_lost,
};

static void deliver(void *world, uint32_t host, struct frame *f)
{
    (void)host;
    eth_port_deliver(&((struct machine *)world)->port, f);
}

static void leave(void *world, uint32_t ext, const struct frame *f)
{
    struct machine *m = world;

    (void)ext;
    assert_true(f->len <= sizeof(m->out));
    m->n_out++;
    m->out_note = f->note;
    m->out_bytes = f->len;
    memcpy(m->out, f->bytes, f->len);
}

static void keep(void *world, const struct frame *f, bool changed)
{
    (void)world;
    (void)f;
    (void)changed;
}

static const struct net_ops net_ops = {deliver, leave, keep, NULL};

static void on_event(void *ctx, const struct ev *e)
{
    struct machine *m = ctx;

    m->events[e->kind]++;
    m->last[e->kind] = *e;
}

static uint32_t peer_of(void *world, const uint8_t gid[GID_BYTES])
{
    (void)world;
    (void)gid;
    return EV_HOST_NONE;
}

static bool may_connect(void *world, uint32_t host, const uint8_t gid[GID_BYTES])
{
    (void)host;
    (void)gid;
    return !((const struct machine *)world)->is_alone;
}

static void plug_in(struct machine *m)
{
    const struct net_link_config config = {
        .end = {{.node = NET_HOST}, {.node = NET_EXT}},
        .latency_ns = 1000,
        .rate_bps = 100000000000u,
    };
    uint32_t link;

    assert_int_equal(net_ext_add(&m->net, "out"), 0);
    assert_int_equal(net_link_add(&m->net, &config, &link), RDL_OK);
    m->port.link_end = link << 1;
}

/* The clock has room for all that may be due, and will not take more of the arena. */
static void make_room(struct sim *sim)
{
    static sim_ticket tickets[DUE_MAX];

    for (uint32_t i = 0; i < DUE_MAX; i++)
        tickets[i] = sim_schedule(sim, 0, SIM_EGRESS, 0, 0);
    for (uint32_t i = DUE_MAX; i > 0; i--)
        assert_true(sim_cancel(sim, tickets[i - 1]));
}

/* All pages of RAM are there from the start, and will not take more of the arena. */
static void touch_pages(struct ram *ram)
{
    for (uint64_t gpa = 0; gpa < ram->bytes; gpa += RAM_PAGE_BYTES)
        assert_true(ram_write(ram, gpa, "", 1));
}

/* A fault comes and goes: the network's tables of faults are there from now on. */
static void make_room_for_faults(struct net *net)
{
    const struct net_fault fault = {.kind = FLT_DELAY, .nth = 1, .count = 1};
    uint64_t handle;

    assert_int_equal(net_fault_add(net, &fault, &handle), RDL_OK);
    net_fault_remove(net, handle);
}

static void functions_up(struct machine *m)
{
    for (uint32_t i = 0; i < 2; i++) {
        function_up(function_of(m, i));
        fn_raise(function_of(m, i), 0, 0); /* room for what is on its way is there from now on */
    }
    machine_run(m);
    m->n_irq = 0;
}

static int power_on(void **state, uint64_t features_off, uint64_t extensions, uint32_t max_srq,
                    const struct rdl_device_limits *limits)
{
    struct machine *m = test_calloc(1, sizeof(*m));
    struct arena *arena = arena_new((size_t)1 << 30);
    const struct rnic_env rdma_env = {
        .arena = arena,
        .sim = &m->sim,
        .ram = &m->ram,
        .port = &m->port,
        .progress = &m->progress,
        .peer_of = peer_of,
        .may_connect = may_connect,
        .world = m,
    };
    const struct vnet_env vnet_env = {arena, &m->sim, &m->ram, &m->port};
    struct rdma_device_config rdma = {.nic = {.max_cq = MACHINE_MAX_CQ,
                                              .max_qp = MACHINE_MAX_QP,
                                              .first_qpn = 2,
                                              .max_mtu = MTU_1024,
                                              .max_srq = max_srq,
                                              .limits = *limits,
                                              .seed = 1},
                                      .slot = {.number = 1},
                                      .features_off = features_off,
                                      .extensions = extensions,
                                      .ceqs = MACHINE_CEQS};
    struct vnet_config vnet = {.mergeable = true};

    assert_non_null(arena);
    m->arena = arena;
    memcpy(rdma.nic.mac, machine_mac, MAC_BYTES);
    memcpy(vnet.mac, machine_mac, MAC_BYTES);
    m->sink = (struct trace_sink){on_event, m, ev_set_all, NULL};
    m->trace.sinks = &m->sinks;
    trace_sink_add(&m->sinks, &m->sink);
    assert_true(sim_init(&m->sim, m->arena, &m->trace, handlers, m));
    make_room(&m->sim);
    assert_true(ram_init(&m->ram, m->arena, MACHINE_RAM_BYTES));
    touch_pages(&m->ram);
    net_init(&m->net, m->arena, &m->sim, &net_ops, m, 1);
    eth_port_init(&m->port, &m->net, &m->progress, 0, machine_mac, MACHINE_MTU);
    assert_true(rdma_init(&m->rdma, &rdma_env, &rdma));
    assert_true(vnet_init(&m->vnet, &vnet_env, &vnet));
    functions_up(m);
    plug_in(m);
    make_room_for_faults(&m->net);
    m->bare_bytes = arena_live_bytes(arena);
    *state = m;
    return 0;
}

void machine_start(struct machine *m, struct virtio_dev *dev, uint64_t features,
                   struct ring *const *queues, size_t n_queues)
{
    unsigned status = VS_ACKNOWLEDGE | VS_DRIVER;

    features |= VIRTIO_FEATURE(VF_VERSION_1);
    machine_out(dev, REG_DEVICE_STATUS, 1, status);
    for (uint32_t half = 0; half < 2; half++) {
        machine_out(dev, REG_DRIVER_FEATURE_SELECT, 4, half);
        machine_out(dev, REG_DRIVER_FEATURE, 4, (uint32_t)(features >> 32 * half));
    }
    machine_out(dev, REG_DEVICE_STATUS, 1, status |= VS_FEATURES_OK);
    machine_out(dev, REG_CONFIG_MSIX_VECTOR, 2, VECTOR_CONFIG);
    for (size_t i = 0; i < n_queues; i++)
        *queues[i] = ring_enable(m, dev, queues[i]->queue);
    machine_out(dev, REG_DEVICE_STATUS, 1, status | VS_DRIVER_OK);
    assert_true(virtio_running(dev));
}

static const struct rdl_device_limits usual; /* all 0 */

int machine_power_on(void **state)
{
    return power_on(state, 0, 0, 0, &usual);
}

int machine_power_on_ceqs(void **state)
{
    return power_on(state, 0, RDMA_EXTENSIONS, 0, &usual);
}

static int set_up_with(void **state, uint64_t features_off, uint64_t accepted, uint32_t max_srq,
                       const struct rdl_device_limits *limits)
{
    struct machine *m;
    struct rfc_add_gid gid = {.gid_type = GID_TYPE_ROCE_V2, .port_num = HCA_PORT};

    power_on(state, features_off, accepted & RDMA_EXTENSIONS, max_srq, limits);
    m = *state;
    m->rx.queue = 0;
    m->tx.queue = 1;
    machine_start(m, &m->rdma.pci,
                  accepted | VIRTIO_FEATURE(VF_RING_RESET) | VIRTIO_FEATURE(VF_INDIRECT_DESC),
                  (struct ring *const[]){&m->ctrl}, 1);
    machine_start(m, &m->vnet.pci, VIRTIO_FEATURE(VF_RING_RESET),
                  (struct ring *const[]){&m->rx, &m->tx}, 2);
    memcpy(gid.gid, machine_gid, GID_BYTES);
    assert_int_equal(machine_ask_add_gid(m, CMD_ADD_GID, &gid), RSP_OK);
    m->n_irq = 0;
    return 0;
}

static int set_up(void **state, uint64_t features_off, uint64_t accepted, uint32_t max_srq)
{
    return set_up_with(state, features_off, accepted, max_srq, &usual);
}

int machine_set_up_limits(void **state, const struct rdl_device_limits *limits)
{
    /* With REG_IN_WQE MAP_MR_SG is no command. */
    const uint64_t extensions = RDMA_EXTENSIONS & ~VIRTIO_FEATURE(VF_REG_IN_WQE);

    return set_up_with(state, 0, RDMA_FEATURES_OWN | extensions, MACHINE_MAX_SRQ, limits);
}

int machine_set_up(void **state)
{
    return set_up(state, 0, 0, 0);
}

int machine_set_up_windows(void **state)
{
    return set_up(state, 0, VIRTIO_FEATURE(VF_MW), 0);
}

int machine_set_up_no_windows(void **state)
{
    return set_up(state, VIRTIO_FEATURE(VF_MW), 0, 0);
}

int machine_set_up_extensions(void **state)
{
    return set_up(state, 0, VIRTIO_FEATURE(VF_MW) | VIRTIO_FEATURE(VF_EVENT_IDX) | RDMA_EXTENSIONS,
                  0);
}

int machine_set_up_srq(void **state)
{
    return set_up(state, 0, VIRTIO_FEATURE(VF_SRQ), MACHINE_MAX_SRQ);
}

int machine_tear_down(void **state)
{
    struct machine *m = *state;

    machine_out(&m->rdma.pci, REG_DEVICE_STATUS, 1, 0);
    machine_out(&m->vnet.pci, REG_DEVICE_STATUS, 1, 0);
    machine_run(m); /* what is on its way arrives, and is dropped */
    assert_int_equal(arena_live_bytes(m->arena), m->bare_bytes);
    arena_free(m->arena);
    test_free(m);
    return 0;
}

void machine_run(struct machine *m)
{
    for (uint32_t i = 0; sim_next_ns(&m->sim) != UINT64_MAX; i++) {
        assert_true(i < STEPS_MAX);
        sim_dispatch(&m->sim);
    }
}

void machine_arrive(struct machine *m, const uint8_t *bytes, uint32_t len)
{
    struct frame *f = frame_new(m->arena, len);

    assert_non_null(f);
    f->len = len;
    f->note.host = EV_HOST_NONE;
    memcpy(f->bytes, bytes, len);
    eth_port_deliver(&m->port, f);
    frame_unref(m->arena, f);
}

void machine_poke(struct machine *m, uint64_t gpa, const void *bytes, size_t n)
{
    assert_true(ram_write(&m->ram, gpa, bytes, n));
}

void machine_peek(const struct machine *m, uint64_t gpa, void *bytes, size_t n)
{
    assert_true(ram_read(&m->ram, gpa, bytes, n));
}

static void poke16(struct machine *m, uint64_t gpa, uint16_t v)
{
    uint8_t b[2];

    st_le16(b, v);
    machine_poke(m, gpa, b, sizeof(b));
}

struct vring ring_place(const struct virtio_dev *dev, uint32_t queue)
{
    const uint64_t base = dev->config.function == FN_NET ? 0x10000 : 0x1000;

    return vring_place(base + 0x400 * (uint64_t)queue, RING_SIZE, false);
}

struct ring ring_enable(struct machine *m, struct virtio_dev *dev, uint32_t queue)
{
    static const uint8_t zero[0x400];
    const struct ring r = {.dev = dev, .queue = queue, .at = ring_place(dev, queue)};

    assert_true(vring_bytes(RING_SIZE, false) <= sizeof(zero));
    machine_poke(m, r.at.desc, zero, sizeof(zero));
    machine_out(dev, REG_QUEUE_SELECT, 2, queue);
    machine_out(dev, REG_QUEUE_SIZE, 2, RING_SIZE);
    machine_out(dev, REG_QUEUE_MSIX_VECTOR, 2, VECTOR_QUEUE);
    machine_out(dev, REG_QUEUE_DESC, 8, r.at.desc);
    machine_out(dev, REG_QUEUE_DRIVER, 8, r.at.avail);
    machine_out(dev, REG_QUEUE_DEVICE, 8, r.at.used);
    machine_out(dev, REG_QUEUE_ENABLE, 2, 1);
    assert_true(dev->queues[queue].enabled);
    return r;
}

void ring_desc(struct machine *m, const struct ring *r, uint32_t i, struct seg s, unsigned flags,
               uint16_t next)
{
    uint8_t b[VRING_DESC_BYTES];

    st_le64(b, s.gpa);
    st_le32(b + 8, s.bytes);
    st_le16(b + 12, (uint16_t)flags);
    st_le16(b + 14, next);
    machine_poke(m, vring_desc_at(&r->at, i), b, sizeof(b));
}

void ring_offer(struct machine *m, struct ring *r, uint16_t head)
{
    poke16(m, vring_avail_entry_at(&r->at, r->avail_idx), head);
    poke16(m, vring_avail_idx_at(&r->at), ++r->avail_idx);
}

uint16_t ring_post(struct machine *m, struct ring *r, const struct seg *segs, uint32_t n_readable,
                   uint32_t n_writable)
{
    const uint32_t n = n_readable + n_writable;
    const uint16_t head = r->next_desc;

    for (uint32_t i = 0; i < n; i++) {
        const uint16_t at = r->next_desc;
        const unsigned more = i + 1 < n ? VRING_NEXT : 0;

        r->next_desc = (uint16_t)((at + 1) % RING_SIZE);
        ring_desc(m, r, at, segs[i], more | (i < n_readable ? 0 : VRING_WRITE), r->next_desc);
    }
    ring_offer(m, r, head);
    return head;
}

void ring_post_event(struct machine *m, struct ring *r, uint32_t i, uint32_t bytes)
{
    const struct seg seg = {MACHINE_EVENT_AT(i), bytes};

    (void)ring_post(m, r, &seg, 0, 1);
}

void ring_kick(const struct ring *r)
{
    virtio_write(r->dev, BAR_NOTIFY + r->queue * NOTIFY_MULTIPLIER, 2, r->queue);
}

bool ring_used(const struct machine *m, struct ring *r, uint32_t *ret_head, uint32_t *ret_len)
{
    uint8_t idx[2], element[VRING_USED_BYTES];

    machine_peek(m, vring_used_idx_at(&r->at), idx, sizeof(idx));
    if (ld_le16(idx) == r->used_seen)
        return false;
    machine_peek(m, vring_used_entry_at(&r->at, r->used_seen++), element, sizeof(element));
    *ret_head = ld_le32(element);
    *ret_len = ld_le32(element + 4);
    return true;
}

int machine_ask(struct machine *m, uint8_t cmd, const void *data, uint32_t n, uint32_t room)
{
    const struct seg segs[] = {{REQUEST_AT, n + 1}, {RESPONSE_AT, room}};
    uint32_t head;

    memset(m->rsp, 0xee, sizeof(m->rsp));
    machine_poke(m, RESPONSE_AT, m->rsp, sizeof(m->rsp));
    machine_poke(m, REQUEST_AT, &cmd, 1);
    if (n > 0)
        machine_poke(m, REQUEST_AT + 1, data, n);
    ring_post(m, &m->ctrl, segs, 1, 1);
    ring_kick(&m->ctrl);
    machine_run(m);
    assert_true(ring_used(m, &m->ctrl, &head, &m->rsp_bytes));
    machine_peek(m, RESPONSE_AT, m->rsp, sizeof(m->rsp));
    for (uint32_t i = m->rsp_bytes; i < sizeof(m->rsp); i++)
        assert_int_equal(m->rsp[i], 0xee); /* used.len says all that was written */
    return m->rsp_bytes ? m->rsp[0] : -1;
}

static void connect_to(struct machine *m, uint32_t qpn, uint32_t dest_qpn,
                       const uint8_t mac[MAC_BYTES])
{
    const struct rfc_qp_attr init = {.qp_state = QPS_INIT, .port_num = HCA_PORT};
    struct rfc_qp_attr rtr = {.qp_state = QPS_RTR,
                              .path_mtu = MTU_1024,
                              .dest_qp_num = dest_qpn,
                              .rq_psn = PAIR_PSN,
                              .min_rnr_timer = 1,
                              .ah_port_num = HCA_PORT,
                              .ah_flags = AH_FLAG_GRH};
    const struct rfc_qp_attr rts = {
        .qp_state = QPS_RTS, .timeout = 10, .sq_psn = PAIR_PSN, .retry_cnt = 1, .rnr_retry = 1};

    memcpy(rtr.ah_dgid, machine_gid, GID_BYTES);
    memcpy(rtr.ah_dmac, mac, MAC_BYTES);
    assert_int_equal(machine_move(m, qpn, &init), RSP_OK);
    assert_int_equal(machine_move(m, qpn, &rtr), RSP_OK);
    assert_int_equal(machine_move(m, qpn, &rts), RSP_OK);
}

static uint32_t register_memory(struct machine *m)
{
    for (uint32_t i = 0; i < PAIR_MEM_BYTES / RAM_PAGE_BYTES; i++) {
        uint8_t le[8];

        st_le64(le, PAIR_MEM + i * RAM_PAGE_BYTES);
        machine_poke(m, BUFFER_AT + 8 * i, le, sizeof(le));
    }
    assert_int_equal(ASK(m, CMD_REG_USER_MR, reg_user_mr, .pdn = 1, .access_flags = ACC_LOCAL_WRITE,
                         .start = PAIR_MEM, .length = PAIR_MEM_BYTES, .virt_addr = PAIR_MEM,
                         .pages = BUFFER_AT, .npages = PAIR_MEM_BYTES / RAM_PAGE_BYTES),
                     RSP_OK);
    return ld_le32(m->rsp + 5);
}

struct pair machine_pair(struct machine *m, const uint8_t peer_mac[MAC_BYTES])
{
    struct virtio_dev *dev = &m->rdma.pci;
    const bool shared = virtio_has(dev, VF_SRQ);
    struct pair p = {0};

    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = RING_SIZE), RSP_OK);
    p.cq = ring_enable(m, dev, PAIR_CQN);
    if (shared)
        assert_int_equal(
            ASK(m, CMD_CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 8, .max_sge = PAIR_SGES),
            RSP_OK);
    for (uint32_t qpn = PAIR_SENDER; qpn <= PAIR_RECEIVER; qpn++) {
        assert_int_equal(ASK(m, CMD_CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_RC,
                             .sq_sig_type = SIG_REQ_WR, .send_cqn = PAIR_CQN, .recv_cqn = PAIR_CQN,
                             .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = PAIR_SGES,
                             .max_recv_sge = PAIR_SGES, .max_inline_data = PAIR_INLINE,
                             .srqn = shared && qpn == PAIR_RECEIVER ? PAIR_SRQN : 0),
                         RSP_OK);
        assert_int_equal(machine_number(m), qpn);
    }
    p.sq = ring_enable(m, dev, rdma_sq(&m->rdma, PAIR_SENDER));
    p.rq = ring_enable(m, dev,
                       shared ? rdma_srq(&m->rdma, PAIR_SRQN) : rdma_rq(&m->rdma, PAIR_RECEIVER));
    p.lkey = register_memory(m);
    connect_to(m, PAIR_SENDER, PAIR_RECEIVER, peer_mac);
    connect_to(m, PAIR_RECEIVER, PAIR_SENDER, machine_mac);
    m->n_irq = 0;
    return p;
}

/* Where the i-th completion, the i-th WQE lie. */
static uint64_t cqe_at(uint32_t i)
{
    return 0x30000 + 0x40 * (uint64_t)i;
}

static uint64_t wqe_at(uint32_t i)
{
    return 0x38000 + 0x200 * (uint64_t)i;
}

void pair_give_cqes(struct machine *m, struct pair *p, uint32_t n, uint32_t bytes)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct seg seg = {cqe_at(p->cq.avail_idx), bytes};

        ring_post(m, &p->cq, &seg, 0, 1);
    }
}

bool pair_completion(const struct machine *m, const struct pair *p, uint32_t i, struct rfc_cqe *ret)
{
    uint8_t element[VRING_USED_BYTES], idx[2];
    struct raw_cqe raw;

    machine_peek(m, vring_used_idx_at(&p->cq.at), idx, sizeof(idx));
    if (i >= ld_le16(idx))
        return false;
    machine_peek(m, vring_used_entry_at(&p->cq.at, (uint16_t)i), element, sizeof(element));
    assert_int_equal(ld_le32(element), i);
    assert_int_equal(ld_le32(element + 4), sizeof(raw));
    machine_peek(m, cqe_at(i), &raw, sizeof(raw));
    rfc_cqe_get(ret, &raw);
    return true;
}

void pair_post_send(struct machine *m, struct pair *p, const struct rfc_sq_wqe *wqe,
                    const void *body, uint32_t n_body)
{
    const uint64_t at = wqe_at(p->n_posted++);
    struct raw_sq_wqe raw;
    const struct seg segs[] = {{at, sizeof(raw)}, {at + sizeof(raw), n_body}};

    rfc_sq_wqe_put(&raw, wqe);
    machine_poke(m, at, &raw, sizeof(raw));
    if (n_body > 0)
        machine_poke(m, at + sizeof(raw), body, n_body);
    ring_post(m, &p->sq, segs, n_body > 0 ? 2 : 1, 0);
}

struct raw_sge pair_sge(const struct pair *p, uint64_t gpa, uint32_t bytes)
{
    const struct rfc_sge s = {.addr = gpa, .length = bytes, .lkey = p->lkey};
    struct raw_sge raw;

    rfc_sge_put(&raw, &s);
    return raw;
}

void pair_post_recv(struct machine *m, struct pair *p, uint64_t wr_id, uint64_t gpa, uint32_t bytes)
{
    const struct rfc_rq_wqe wqe = {.num_sge = 1, .wr_id = wr_id};
    const struct raw_sge sge = pair_sge(p, gpa, bytes);
    const uint64_t at = wqe_at(p->n_posted++);
    struct raw_rq_wqe raw;
    const struct seg seg = {at, sizeof(raw) + sizeof(sge)};

    rfc_rq_wqe_put(&raw, &wqe);
    machine_poke(m, at, &raw, sizeof(raw));
    machine_poke(m, at + sizeof(raw), &sge, sizeof(sge));
    ring_post(m, &p->rq, &seg, 1, 0);
}
