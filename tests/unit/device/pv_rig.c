/* SPDX-License-Identifier: MIT */
#include "pv_rig.h"

#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/qp_fsm.h"

#define STEPS_MAX 100000u
#define DUE_MAX   4096u
#define PSN       100u

const uint8_t pvrig_mac[MAC_BYTES] = {2, 0, 0, 0, 0, 1};
const uint8_t pvrig_gid[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 1};

/* --- The machine ------------------------------------------------------------------------------ */

static void on_doorbell(void *ctx, struct sim_item item)
{
    struct pv_rig *g = ctx;

    g->d->fn.ops->doorbell(g->d->fn.dev, fn_queue_of(item.arg).queue);
}

static void on_irq(void *ctx, struct sim_item item)
{
    struct pv_rig *g = ctx;
    const struct fn_irq irq = fn_irq_of(item.arg);
    struct fn_message message;

    if (!fn_take_message(&g->d->fn, irq, &message)) {
        g->lines++;
        return;
    }
    assert_true(irq.vector < PV_VECTORS);
    g->irqs[irq.vector]++;
}

static void on_qp_timer(void *ctx, struct sim_item item)
{
    pvrdma_device_ops.timer(((struct pv_rig *)ctx)->d, item.arg);
}

static void on_egress(void *ctx, struct sim_item item)
{
    (void)item;
    eth_port_egress(&((struct pv_rig *)ctx)->port);
}

static void on_arrive(void *ctx, struct sim_item item)
{
    net_arrive(&((struct pv_rig *)ctx)->net, item);
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {
    [SIM_DOORBELL] = on_doorbell, [SIM_IRQ] = on_irq,       [SIM_QP_TIMER] = on_qp_timer,
    [SIM_EGRESS] = on_egress,     [SIM_ARRIVE] = on_arrive,
};

static void deliver(void *world, uint32_t host, struct frame *f)
{
    (void)host;
    eth_port_deliver(&((struct pv_rig *)world)->port, f);
}

static void keep(void *world, const struct frame *f, bool changed)
{
    (void)world, (void)f, (void)changed;
}

static void leave(void *world, uint32_t ext, const struct frame *f)
{
    (void)world, (void)ext, (void)f;
}

static const struct net_ops net_ops = {deliver, leave, keep, NULL};

static bool no_frame(const void *ctx)
{
    (void)ctx;
    return false;
}

static struct frame *nothing(void *ctx)
{
    (void)ctx;
    return NULL;
}

static void ignore(void *ctx, const struct frame *f)
{
    (void)ctx, (void)f;
}

static const struct eth_user_ops network_device = {no_frame, nothing, NULL, NULL, ignore};

static uint32_t no_peer(void *world, const uint8_t gid[GID_BYTES])
{
    (void)world, (void)gid;
    return EV_HOST_NONE;
}

static void on_event(void *ctx, const struct ev *e)
{
    struct pv_rig *g = ctx;

    g->events[e->kind]++;
    g->last[e->kind] = *e;
    if (e->kind == EV_fetch && g->n_fetches < FETCHES_MAX)
        g->fetches[g->n_fetches++] = *e;
}

static void plug_in(struct pv_rig *g)
{
    const struct net_link_config config = {.end = {{.node = NET_HOST}, {.node = NET_EXT}},
                                           .latency_ns = 1000,
                                           .rate_bps = 100000000000u};
    uint32_t link;

    assert_int_equal(net_ext_add(&g->net, "out"), 0);
    assert_int_equal(net_link_add(&g->net, &config, &link), RDL_OK);
    g->port.link_end = link << 1;
}

/* Clock and RAM have room for all that follows, and will not take more of the arena. */
static void make_room(struct pv_rig *g)
{
    static sim_ticket tickets[DUE_MAX];

    for (uint32_t i = 0; i < DUE_MAX; i++)
        tickets[i] = sim_schedule(&g->sim, 0, SIM_EGRESS, 0, 0);
    for (uint32_t i = DUE_MAX; i > 0; i--)
        assert_true(sim_cancel(&g->sim, tickets[i - 1]));
    for (uint64_t gpa = 0; gpa < PVRIG_RAM; gpa += RAM_PAGE_BYTES)
        assert_true(ram_write(&g->ram, gpa, "", 1));
}

static void function_up(struct pci_fn *f)
{
    fn_config_write(f, PCI_COMMAND, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    fn_config_write(f, PCI_BAR0 + 4 * PV_BAR_UAR, 4, PVRIG_UAR);
    fn_config_write(f, 0x80 + MSIX_AT_CONTROL, 2, MSIX_ENABLE);
    for (uint32_t i = 0; i < f->config.n_vectors; i++)
        fn_bar_write(f, PV_BAR_MSIX, i * MSIX_ENTRY_BYTES + 12, 4, 0);
}

struct pv_rig *pvrig_new(uint32_t version, uint32_t vectors)
{
    struct pv_rig *g = test_calloc(1, sizeof(*g));
    struct rdma_device_config config = {.nic = {.max_cq = PVRIG_MAX_CQ,
                                                .max_qp = PVRIG_MAX_QP,
                                                .max_srq = PVRIG_MAX_SRQ,
                                                .first_qpn = 2,
                                                .max_mtu = MTU_1024,
                                                .seed = 1},
                                        .pvrdma = {version, vectors}};

    memcpy(config.nic.mac, pvrig_mac, MAC_BYTES);
    g->arena = arena_new((size_t)1 << 30);
    g->sink = (struct trace_sink){on_event, g, ev_set_all, NULL};
    g->trace.sinks = &g->sinks;
    trace_sink_add(&g->sinks, &g->sink);
    assert_true(sim_init(&g->sim, g->arena, &g->trace, handlers, g));
    assert_true(ram_init(&g->ram, g->arena, PVRIG_RAM));
    make_room(g);
    net_init(&g->net, g->arena, &g->sim, &net_ops, g, 1);
    eth_port_init(&g->port, &g->net, &g->progress, 0, pvrig_mac, ETHERNET_MTU);
    (void)eth_port_use(&g->port, &network_device, g);
    assert_true(pvrdma_new(&g->device,
                           &(struct rnic_env){.arena = g->arena,
                                              .sim = &g->sim,
                                              .ram = &g->ram,
                                              .port = &g->port,
                                              .progress = &g->progress,
                                              .peer_of = no_peer,
                                              .world = g},
                           &config));
    g->d = pvrdma_of(&g->device);
    plug_in(g);
    function_up(&g->d->fn);
    for (uint32_t i = 0; i < DUE_MAX / 4; i++) /* room for messages is there from now on */
        fn_raise(&g->d->fn, 0, 0);
    pvrig_run(g);
    memset(g->irqs, 0, sizeof(g->irqs));
    g->next_page = FREE_AT;
    g->bare_bytes = arena_live_bytes(g->arena);
    return g;
}

int pvrig_set_up(void **state)
{
    struct pv_rig *g = pvrig_new(0, 0);
    struct pv_create_bind bind = {.mtu = 1024, .vlan = 0xfff, .type = PV_GID_ROCE_V2};

    pvrig_start(g, PV_VERSION_MOST);
    memcpy(bind.gid, pvrig_gid, GID_BYTES);
    assert_int_equal(pvrig_ask_create_bind(g, PV_CMD_CREATE_BIND, &bind), 0);
    pvrig_run(g);
    memset(g->irqs, 0, sizeof(g->irqs));
    *state = g;
    return 0;
}

int pvrig_tear_down(void **state)
{
    struct pv_rig *g = *state;

    pvrig_out(g, PVR_CTL, PV_CTL_RESET);
    pvrig_run(g);
    assert_int_equal(arena_live_bytes(g->arena), g->bare_bytes);
    arena_free(g->arena);
    test_free(g);
    return 0;
}

void pvrig_run(struct pv_rig *g)
{
    for (uint32_t i = 0; sim_next_ns(&g->sim) != UINT64_MAX; i++) {
        assert_true(i < STEPS_MAX);
        sim_dispatch(&g->sim);
    }
}

/* --- Registers and memory --------------------------------------------------------------------- */

uint32_t pvrig_in(struct pv_rig *g, enum pv_reg reg)
{
    return (uint32_t)fn_bar_read(&g->d->fn, PV_BAR_REGS, (uint32_t)reg, 4);
}

void pvrig_out(struct pv_rig *g, enum pv_reg reg, uint32_t value)
{
    trace_begin(&g->trace, g->trace.now_ns, 0);
    fn_bar_write(&g->d->fn, PV_BAR_REGS, (uint32_t)reg, 4, value);
}

void pvrig_doorbell(struct pv_rig *g, uint32_t offset, uint32_t value)
{
    trace_begin(&g->trace, g->trace.now_ns, 0);
    fn_bar_write(&g->d->fn, PV_BAR_UAR, offset, 4, value);
}

void pvrig_poke(struct pv_rig *g, uint64_t gpa, const void *in, size_t n)
{
    assert_true(ram_write(&g->ram, gpa, in, n));
}

void pvrig_peek(const struct pv_rig *g, uint64_t gpa, void *out, size_t n)
{
    assert_true(ram_read(&g->ram, gpa, out, n));
}

uint32_t pvrig_peek32(const struct pv_rig *g, uint64_t gpa)
{
    uint8_t le[4];

    pvrig_peek(g, gpa, le, sizeof(le));
    return ld_le32(le);
}

void pvrig_poke32(struct pv_rig *g, uint64_t gpa, uint32_t v)
{
    uint8_t le[4];

    st_le32(le, v);
    pvrig_poke(g, gpa, le, sizeof(le));
}

static void poke64(struct pv_rig *g, uint64_t gpa, uint64_t v)
{
    uint8_t le[8];

    st_le64(le, v);
    pvrig_poke(g, gpa, le, sizeof(le));
}

static uint64_t take_page(struct pv_rig *g)
{
    static const uint8_t zero[PV_PAGE_BYTES];
    const uint64_t at = g->next_page;

    g->next_page += PV_PAGE_BYTES;
    pvrig_poke(g, at, zero, sizeof(zero));
    return at;
}

struct pv_drv_ring pvrig_pages(struct pv_rig *g, uint32_t n_pages)
{
    struct pv_drv_ring r = {.pdir = take_page(g), .n_pages = n_pages};
    const uint64_t table = take_page(g);

    assert_true(n_pages <= PV_TABLE_PAGES);
    poke64(g, r.pdir, table);
    for (uint32_t i = 0; i < n_pages; i++) {
        const uint64_t page = take_page(g);

        r.pages = i == 0 ? page : r.pages;
        poke64(g, table + 8 * i, page);
    }
    return r;
}

static void describe(uint8_t out[16], const struct pv_drv_ring *r)
{
    const struct pv_ring_pages p = {.pages = r->n_pages, .pdir = r->pdir};

    pv_ring_pages_put((struct pv_raw_ring_pages *)out, &p);
}

void pvrig_write_region(struct pv_rig *g, uint32_t driver_version)
{
    struct pv_dsr dsr = {.driver_version = driver_version,
                         .guest_info = 2 | 1 << 2,
                         .command_slot = COMMAND_AT,
                         .response_slot = RESPONSE_AT,
                         .uar_pfn = PVRIG_UAR / PV_PAGE_BYTES};
    struct pv_raw_dsr raw;

    g->async = pvrig_pages(g, PV_SHARED_RING_PAGES);
    g->notes = pvrig_pages(g, PV_SHARED_RING_PAGES);
    describe(dsr.async, &g->async);
    describe(dsr.cq, &g->notes);
    pv_dsr_put(&raw, &dsr);
    pvrig_poke(g, DSR_AT, &raw, sizeof(raw));
}

void pvrig_start(struct pv_rig *g, uint32_t driver_version)
{
    pvrig_write_region(g, driver_version);
    pvrig_out(g, PVR_DSRLOW, DSR_AT);
    pvrig_out(g, PVR_DSRHIGH, 0);
    pvrig_out(g, PVR_IMR, 0);
    pvrig_out(g, PVR_CTL, PV_CTL_ACTIVATE);
    assert_int_equal(pvrig_in(g, PVR_ERR), 0);
    pvrig_out(g, PVR_CTL, PV_CTL_UNQUIESCE);
    assert_int_equal(pvrig_in(g, PVR_ERR), 0);
}

uint32_t pvrig_command(struct pv_rig *g, uint32_t cmd, const void *req, size_t n)
{
    const struct pv_request header = {.response = 0x1122334455667788 + cmd, .cmd = cmd};
    struct pv_raw_request raw;

    if (g->n_sent < SENT_MAX) {
        struct pv_sent *sent = &g->sent[g->n_sent++];

        sent->cmd = cmd;
        sent->n = (uint32_t)n;
        memcpy(sent->body, req, n);
    }
    memset(g->rsp, 0xee, sizeof(g->rsp));
    pvrig_poke(g, RESPONSE_AT, g->rsp, sizeof(g->rsp));
    pv_request_put(&raw, &header);
    pvrig_poke(g, COMMAND_AT, &raw, sizeof(raw));
    pvrig_poke(g, COMMAND_AT + sizeof(raw), req, n);
    pvrig_out(g, PVR_REQUEST, 0);
    pvrig_peek(g, RESPONSE_AT, g->rsp, sizeof(g->rsp));
    return pvrig_in(g, PVR_ERR);
}

/* --- A pair of queue pairs -------------------------------------------------------------------- */

static uint32_t create_qp(struct pv_rig *g, struct pv_pair *p, uint32_t i, uint32_t type,
                          bool shared)
{
    const uint32_t send = (uint32_t)pv_pages_of(PAIR_WR, pv_slot_bytes(80, PAIR_SGE));

    p->qp_ring[i] = pvrig_pages(g, 2 + send);
    p->recv_page = 1 + send;
    assert_int_equal(pvrig_ask(g, CREATE_QP, create_qp, .pdir = p->qp_ring[i].pdir, .pd = p->pd,
                               .send_cq = p->cq, .recv_cq = p->cq, .srq = p->srq,
                               .max_send_wr = PAIR_WR, .max_recv_wr = PAIR_WR,
                               .max_send_sge = PAIR_SGE, .max_recv_sge = PAIR_SGE,
                               .total_pages = (uint16_t)(2 + send), .send_pages = (uint16_t)send,
                               .type = (uint8_t)type, .is_srq = shared),
                     0);
    return pvrig_handle(g); /* the number, which is the handle in each version */
}

struct pv_pair pvrig_pair(struct pv_rig *g, uint32_t type, bool shared)
{
    struct pv_pair p = {.has_srq = shared};
    struct pv_drv_ring mem;

    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), 0);
    p.pd = pvrig_handle(g);
    p.cq_ring = pvrig_pages(g, 2);
    assert_int_equal(
        pvrig_ask(g, CREATE_CQ, create_cq, .pdir = p.cq_ring.pdir, .cqe = PAIR_CQE, .pages = 2), 0);
    p.cq = pvrig_handle(g);
    p.srq_ring = pvrig_pages(g, 3); /* more than it needs, as the library of Linux has */
    if (shared) {
        assert_int_equal(pvrig_ask(g, CREATE_SRQ, create_srq, .pdir = p.srq_ring.pdir, .pd = p.pd,
                                   .pages = 3, .max_wr = PAIR_WR, .max_sge = PAIR_SGE),
                         0);
        p.srq = pvrig_handle(g);
    }
    mem = pvrig_pages(g, 4);
    p.mem = mem.pages;
    assert_int_equal(pvrig_ask(g, CREATE_MR, create_mr, .start = mem.pages,
                               .length = 4 * PV_PAGE_BYTES, .pdir = mem.pdir, .pd = p.pd,
                               .pages = 4,
                               .access = ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ |
                                         ACC_REMOTE_ATOMIC),
                     0);
    p.lkey = ld_le32(g->rsp + PV_HEADER_BYTES + 4);
    p.rkey = ld_le32(g->rsp + PV_HEADER_BYTES + 8);
    for (uint32_t i = 0; i < 2; i++)
        p.qp[i] = create_qp(g, &p, i, type, shared && i == 1);
    for (uint32_t i = 0; i < 2; i++)
        pvrig_connect(g, p.qp[i], type, p.qp[1 - i]);
    pvrig_run(g);
    memset(g->irqs, 0, sizeof(g->irqs));
    return p;
}

uint32_t pvrig_modify(struct pv_rig *g, uint32_t handle, uint32_t mask, const struct pv_qp_attr *a)
{
    struct pv_modify_qp r = {.handle = handle, .mask = mask};

    pv_qp_attr_put((struct pv_raw_qp_attr *)r.attr, a);
    assert_int_equal(pvrig_ask_modify_qp(g, PV_CMD_MODIFY_QP, &r), 0); /* the response has it */
    assert_int_equal(pvrig_ack(g), PV_ACK | PV_CMD_MODIFY_QP);
    return g->rsp[12];
}

static void move(struct pv_rig *g, uint32_t handle, uint32_t type, const struct pv_qp_attr *a)
{
    const uint32_t mask = QPA_STATE | qp_fsm_needs((enum qp_type)type, (enum qp_state)a->state);

    assert_int_equal(pvrig_modify(g, handle, mask, a), 0);
}

void pvrig_connect(struct pv_rig *g, uint32_t handle, uint32_t type, uint32_t peer)
{
    struct pv_qp_attr a = {.state = QPS_INIT,
                           .path_mtu = MTU_1024,
                           .qkey = 0x11111111,
                           .rq_psn = PSN,
                           .sq_psn = PSN,
                           .dest_qpn = peer,
                           .access = ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC,
                           .max_rd_atomic = 1,
                           .max_dest_rd_atomic = 1,
                           .min_rnr_timer = 1,
                           .port = HCA_PORT,
                           .timeout = 10,
                           .retry_cnt = 1,
                           .rnr_retry = 1};
    struct pv_ah_attr ah = {.port = HCA_PORT, .flags = AH_FLAG_GRH};

    memcpy(ah.dgid, pvrig_gid, GID_BYTES);
    memcpy(ah.dmac, pvrig_mac, MAC_BYTES);
    pv_ah_attr_put((struct pv_raw_ah_attr *)a.ah, &ah);
    for (a.state = QPS_INIT; a.state <= QPS_RTS; a.state++)
        move(g, handle, type, &a);
}

static void put_sges(struct pv_rig *g, uint64_t at, const struct pv_sge *sges, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct pv_raw_sge raw;

        pv_sge_put(&raw, &sges[i]);
        pvrig_poke(g, at + i * sizeof(raw), &raw, sizeof(raw));
    }
}

void pvrig_post_send(struct pv_rig *g, struct pv_pair *p, uint32_t i, struct pv_sq_wqe wqe,
                     const struct pv_sge *sges)
{
    const uint64_t pages = p->qp_ring[i].pages;
    const uint64_t at =
        pages + PV_PAGE_BYTES + pv_idx_slot(p->sent[i], PAIR_WR) * pv_slot_bytes(80, PAIR_SGE);
    struct pv_raw_sq_wqe raw;

    pv_sq_wqe_put(&raw, &wqe);
    pvrig_poke(g, at, &raw, sizeof(raw));
    put_sges(g, at + sizeof(raw), sges, wqe.num_sge);
    p->sent[i] = pv_idx_next(p->sent[i], PAIR_WR);
    pvrig_poke32(g, pages, p->sent[i]);
}

void pvrig_post_recv(struct pv_rig *g, struct pv_pair *p, uint32_t i, uint64_t wr_id,
                     struct pv_sge sge)
{
    const bool shared = p->has_srq && i == 1;
    const uint64_t pages = shared ? p->srq_ring.pages : p->qp_ring[i].pages;
    const uint64_t first = pages + PV_PAGE_BYTES * (shared ? 1u : p->recv_page);
    uint32_t *idx = shared ? &p->shared : &p->received[i];
    const struct pv_rq_wqe wqe = {.wr_id = wr_id, .num_sge = 1, .total_len = sge.length};
    const uint64_t at = first + pv_idx_slot(*idx, PAIR_WR) * pv_slot_bytes(16, PAIR_SGE);
    struct pv_raw_rq_wqe raw;

    pv_rq_wqe_put(&raw, &wqe);
    pvrig_poke(g, at, &raw, sizeof(raw));
    put_sges(g, at + sizeof(raw), &sge, 1);
    *idx = pv_idx_next(*idx, PAIR_WR);
    pvrig_poke32(g, pages + 8, *idx);
}

void pvrig_kick(struct pv_rig *g, const struct pv_pair *p, uint32_t i, uint32_t bits)
{
    pvrig_doorbell(g, PV_UAR_AT_QP, p->qp[i] | bits);
}

bool pvrig_poll(struct pv_rig *g, struct pv_pair *p, struct pv_cqe *ret)
{
    const uint64_t pages = p->cq_ring.pages;
    struct pv_raw_cqe raw;

    if (pvrig_peek32(g, pages + 8) == p->polled)
        return false;
    pvrig_peek(g, pages + PV_PAGE_BYTES + pv_idx_slot(p->polled, PAIR_CQE) * sizeof(raw), &raw,
               sizeof(raw));
    pv_cqe_get(ret, &raw);
    p->polled = pv_idx_next(p->polled, PAIR_CQE);
    pvrig_poke32(g, pages + 12, p->polled);
    return true;
}
