/* SPDX-License-Identifier: MIT */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "emu/facts/aeth.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/qp_fsm.h"
#include "emu/hca/ctrl.h"
#include "emu/trace/event.h"
#include "emu/wire/parse.h"
#include "emu/xport/ctrl.h"
#include "testing.h"

#define ARENA_BYTES ((size_t)1 << 30)
#define TICKS_MAX   2000000u

/* The wire. */

static enum rig_fate fate_of(struct rig *r, uint32_t from, const struct packet *p)
{
    const uint64_t dice = prng_below(&r->chance, 1000);

    for (uint32_t i = 0; i < r->n_rules; i++) {
        struct rig_rule *f = &r->rules[i];

        if (f->from != from || (f->opcode != ANY && f->opcode != p->bth.opcode) ||
            (f->psn != ANY && f->psn != p->bth.psn.v))
            continue;
        if (++f->seen == f->nth || f->nth == ANY)
            return f->fate;
    }
    if (dice < r->loss)
        return RIG_LOSE;
    if (dice < r->loss + r->copy)
        return RIG_COPY;
    return dice < r->loss + r->copy + r->delay ? RIG_DELAY : RIG_PASS;
}

/* The place in the block @copy that @at has in the block @w. */
static void *in_copy(struct whole *copy, const struct whole *w, const void *at)
{
    return (uint8_t *)copy + ((const uint8_t *)at - (const uint8_t *)w);
}

/* A copy of @w, or NULL if that is NULL. */
static struct whole *copy_of(struct rig *r, const struct whole *w)
{
    struct whole *copy = w ? arena_alloc_raw(r->arena, w->cargo.block_bytes) : NULL;

    if (!copy)
        return NULL;
    memcpy(copy, w, w->cargo.block_bytes);
    copy->p.whole = copy;
    copy->gpa = in_copy(copy, w, w->gpa);
    copy->spans = in_copy(copy, w, w->spans);
    if (w->is_own)
        copy->spans[0].at = in_copy(copy, w, w->spans[0].at);
    return copy;
}

static void put_on_wire(struct rig *r, uint32_t to, const struct rig_frame *f, uint64_t after_ns)
{
    const uint32_t slot = r->n_frames++ % RIG_FRAMES;

    assert_null(r->frames[slot]);
    r->frames[slot] = malloc(sizeof(*f));
    *r->frames[slot] = *f;
    r->frames[slot]->whole = copy_of(r, f->whole);
    sim_schedule(&r->sim, sim_now(&r->sim) + after_ns, SIM_ARRIVE, to, slot);
}

/* What the transport says of a frame is what its bytes say. */
static void assert_says(const struct tx_info *tx, const struct packet *p)
{
    assert_int_equal(tx->opcode, p->bth.opcode);
    assert_int_equal(tx->dest_qpn, p->bth.dest_qpn);
    assert_int_equal(tx->psn.v, p->bth.psn.v);
    assert_int_equal(tx->syndrome,
                     p->op->headers & H_AETH ? aeth_unpack(p->aeth.syndrome).kind : SYN_NONE);
}

/* An answer asks for no answer, and wakes nobody. */
static void assert_asks_for_nothing_more(const struct packet *p)
{
    if (op_is_response(p->op)) {
        assert_false(p->bth.ack_req);
        assert_false(p->bth.solicited);
    }
}

static bool draw_shortcut(struct rig *r)
{
    return r->shortcut == 1000 || (r->shortcut > 0 && prng_below(&r->chance, 1000) < r->shortcut);
}

static void forget(struct rig *r, struct whole *w)
{
    if (w)
        arena_release(r->arena, w, w->cargo.block_bytes);
}

static void egress(void *world, struct sim_item item)
{
    struct rig *r = world;
    struct rig_host *h = &r->host[item.target];
    static struct rig_frame f; /* the tests are one thread */
    struct tx_info tx;
    struct packet p;

    h->egress_due = false;
    h->x.shortcut = draw_shortcut(r);
    f.len = (uint32_t)xport_build(&h->x, h->qp, f.bytes, sizeof(f.bytes), &tx);
    if (xport_has_more(h->qp)) {
        h->egress_due = true;
        sim_schedule(&r->sim, sim_now(&r->sim) + RIG_EACH_NS, SIM_EGRESS, h->number, 0);
    }
    if (f.len == 0)
        return;
    f.whole = tx.whole;
    if (f.whole)
        p = f.whole->p;
    else
        assert_int_equal(packet_parse(&p, f.bytes, f.len), DROP_NONE);
    assert_says(&tx, &p);
    assert_asks_for_nothing_more(&p);
    f.tx = tx.tx;
    r->n_solicited += p.bth.solicited;
    trace_because(&r->trace, f.tx);
    switch (fate_of(r, h->number, &p)) {
    case RIG_LOSE:
        break;
    case RIG_COPY:
        put_on_wire(r, 1 - h->number, &f, RIG_WIRE_NS + r->copy_ns + 3 * RIG_EACH_NS / 2);
        put_on_wire(r, 1 - h->number, &f, RIG_WIRE_NS);
        break;
    case RIG_DELAY:
        put_on_wire(r, 1 - h->number, &f, 2 * RIG_WIRE_NS);
        break;
    case RIG_PASS:
        put_on_wire(r, 1 - h->number, &f, RIG_WIRE_NS);
        break;
    }
    forget(r, f.whole);
}

static void arrive(void *world, struct sim_item item)
{
    struct rig *r = world;
    struct rig_host *h = &r->host[item.target];
    struct rig_frame *f = r->frames[item.arg];
    const struct rx_info info = {.tx = f->tx, .wire_bytes = f->len};
    struct packet p;

    if (!f->whole)
        assert_int_equal(packet_parse(&p, f->bytes, f->len), DROP_NONE);
    xport_receive(&h->x, f->whole ? &f->whole->p : &p, &info);
    forget(r, f->whole);
    free(f);
    r->frames[item.arg] = NULL;
}

static void timer(void *world, struct sim_item item)
{
    struct rig *r = world;

    xport_timer(&r->host[item.target].x, item.arg, false);
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {
    [SIM_EGRESS] = egress,
    [SIM_ARRIVE] = arrive,
    [SIM_QP_TIMER] = timer,
};

static void record(void *ctx, const struct ev *e)
{
    struct rig *r = ctx;

    if (r->n_events < RIG_EVENTS)
        r->events[r->n_events++] = *e;
}

/* Setting up. */

struct rig_config rig_defaults(void)
{
    return (struct rig_config){
        .type = QPT_RC,
        .mtu = MTU_256,
        .sq_psn = 100,
        .timeout = 4,
        .retry_cnt = 3,
        .rnr_retry = 2,
        .min_rnr_timer = 1,
        .max_send_wr = 64,
        .rd_atomic = 4,
        .access = ACC_REMOTE_READ | ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC,
    };
}

static void make_region(struct rig_host *h, uint32_t pdn, uint32_t access)
{
    uint64_t pages[RIG_MEMORY / RAM_PAGE_BYTES];
    struct mr_request req = {
        .pdn = pdn,
        .access = ACC_LOCAL_WRITE | access,
        .start = RIG_ADDR,
        .virt_addr = RIG_ADDR,
        .length = RIG_REGION,
        .pages = pages,
    };

    req.n_pages = (uint32_t)(((RIG_ADDR & 4095u) + RIG_REGION + 4095u) / 4096u);
    for (uint32_t i = 0; i < req.n_pages; i++) /* scattered: odd pages first, backwards */
        pages[i] = (uint64_t)(req.n_pages - 1 - i) << RAM_PAGE_BITS;
    assert_int_equal(hca_mr_create(&h->hca, &req, &h->mr), REF_NONE);
}

static void make_host(struct rig *r, uint32_t number, const struct rig_config *c)
{
    static const struct hca_limits limits = {
        .max_pd = 4,
        .max_mr = 16,
        .max_cq = 4,
        .max_qp = 8,
        .max_cqe = 1024,
        .max_qp_wr = 1024,
        .max_send_sge = RIG_SGES,
        .max_recv_sge = RIG_SGES,
        .max_sge_rd = RIG_SGES,
        .max_inline_data = RIG_INLINE,
        .max_rd_atomic = 4,
        .max_dest_rd_atomic = 4,
        .max_res_rd_atom = 32,
        .max_mr_bytes = RIG_MEMORY,
        .page_sizes = RAM_PAGE_BYTES,
        .max_mw = 8,
        .max_fast_pages = 16,
        .max_mtu = MTU_4096,
        .max_srq = 1,
    };
    struct rig_host *h = &r->host[number];
    const struct hca_env env = {
        .arena = r->arena,
        .sim = &r->sim,
        .ram = &h->ram,
        .host = number,
        .profile = c->profile[number],
        .first_qpn = 2 + number,
        .keys = prng_stream(1, number),
    };
    uint8_t gid[GID_BYTES] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = (uint8_t)(1 + number)};
    struct qp_config qc = {
        .type = c->type,
        .max_send_wr = c->max_send_wr,
        .max_recv_wr = 64,
        .max_send_sge = RIG_SGES,
        .max_recv_sge = RIG_SGES,
        .max_sge_rd = RIG_SGES,
        .max_inline_data = RIG_INLINE,
        .sig_all = c->sig_all,
    };
    struct pd *pd;
    struct cq *cq;

    if (c->ipv6)
        gid[0] = 0xfd;
    h->rig = r;
    h->number = number;
    hca_init(&h->hca, &env, &limits);
    assert_int_equal(hca_gid_set(&h->hca, 0, gid), REF_NONE);
    xport_init(&h->x, &h->hca, &rig_device_ops, h,
               (const uint8_t[]){2, 0, 0, 0, 0, (uint8_t)(1 + number)});
    assert_int_equal(hca_pd_create(&h->hca, &pd), REF_NONE);
    assert_int_equal(hca_cq_create(&h->hca, 64, &cq), REF_NONE);
    qc.pdn = pd->pdn;
    if (c->srq && number == 1) {
        assert_int_equal(hca_pd_create(&h->hca, &pd), REF_NONE);
        assert_int_equal(
            hca_srq_create(&h->hca, &(struct srq_config){pd->pdn, 64, RIG_SGES}, &h->srq),
            REF_NONE);
        qc.srqn = h->srq->srqn;
    }
    make_region(h, pd->pdn, c->access);
    qc.send_cqn = qc.recv_cqn = cq->cqn;
    assert_int_equal(xport_qp_create(&h->x, &qc, &h->qp), REF_NONE);
}

static void modify(struct rig_host *h, uint32_t mask, struct qp_attr *a, enum qp_state to)
{
    a->state = to;
    assert_int_equal(xport_qp_modify(&h->x, h->qp, mask | QPA_STATE, a), REF_NONE);
}

static void connect(struct rig *r, uint32_t number, const struct rig_config *c)
{
    struct rig_host *h = &r->host[number], *peer = rig_other(h);
    struct qp_attr a = {
        .path_mtu = number == 1 && c->peer_mtu ? c->peer_mtu : c->mtu,
        .access = c->access,
        .qkey = RIG_QKEY,
        .max_rd_atomic = c->rd_atomic,
        .max_dest_rd_atomic = c->rd_atomic,
        .port = HCA_PORT,
        .dest_qpn = peer->qp->qpn,
        .rq_psn = number == 0 ? 0 : c->sq_psn,
        .sq_psn = number == 0 ? c->sq_psn : 0,
        .min_rnr_timer = c->min_rnr_timer,
        .timeout = c->timeout,
        .retry_cnt = c->retry_cnt,
        .rnr_retry = c->rnr_retry,
        .av = {.port = HCA_PORT, .flags = AH_FLAG_GRH},
    };

    memcpy(a.av.dgid, peer->hca.gids[0].raw, GID_BYTES);
    memcpy(a.av.dmac, peer->x.mac, MAC_BYTES);
    for (int to = QPS_INIT; to <= QPS_RTS; to++)
        modify(h,
               qp_fsm_needs(c->type, (enum qp_state)to) |
                   (to == QPS_RTR && c->credits[number] ? (uint32_t)QPA_CREDITS : 0),
               &a, (enum qp_state)to);
}

/* The clock has room for all that may be due, and will not take more of the arena. */
static void make_room(struct sim *sim)
{
    static sim_ticket tickets[RIG_DUE_MAX];

    for (uint32_t i = 0; i < RIG_DUE_MAX; i++)
        tickets[i] = sim_schedule(sim, 0, SIM_EGRESS, 0, 0);
    for (uint32_t i = RIG_DUE_MAX; i > 0; i--)
        assert_true(sim_cancel(sim, tickets[i - 1]));
}

/* All pages of RAM are there from the start, and will not take more of the arena. */
static void touch_pages(struct ram *ram)
{
    for (uint64_t gpa = 0; gpa < ram->bytes; gpa += RAM_PAGE_BYTES)
        assert_true(ram_write(ram, gpa, "", 1));
}

struct rig *rig_new(const struct rig_config *c)
{
    struct rig *r = calloc(1, sizeof(*r));

    r->arena = arena_new(ARENA_BYTES);
    r->trace.sinks = &r->sinks;
    r->events = malloc(RIG_EVENTS * sizeof(*r->events));
    r->sink = (struct trace_sink){record, r, ev_set_all, NULL};
    trace_sink_add(&r->sinks, &r->sink);
    r->chance = prng_stream(7, 0);
    assert_true(sim_init(&r->sim, r->arena, &r->trace, handlers, r));
    trace_begin(&r->trace, 0, 0);
    make_room(&r->sim);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(ram_init(&r->host[i].ram, r->arena, RIG_MEMORY));
        touch_pages(&r->host[i].ram);
    }
    r->bare_bytes = arena_live_bytes(r->arena);
    make_host(r, 0, c);
    make_host(r, 1, c);
    connect(r, 0, c);
    connect(r, 1, c);
    return r;
}

void rig_free(struct rig *r)
{
    for (uint32_t i = 0; i < 2; i++) {
        xport_done(&r->host[i].x);
        hca_done(&r->host[i].hca);
    }
    if (!arena_is_short(r->arena)) /* or else a test has filled it */
        assert_int_equal(arena_live_bytes(r->arena), r->bare_bytes);
    for (uint32_t i = 0; i < RIG_FRAMES; i++)
        free(r->frames[i]);
    arena_free(r->arena);
    free(r->events);
    free(r);
}

/* Memory and posts. */

void rig_fill(struct rig *r, uint32_t host, uint8_t seed)
{
    struct rig_host *h = &r->host[host];

    for (uint32_t i = 0; i < RIG_REGION; i++) {
        const uint8_t byte = (uint8_t)(i * 7 + (i >> 8) + seed);

        key_copy_in(&h->hca, h->mr->key, RIG_ADDR + i, &byte, 1);
    }
}

void rig_read(struct rig *r, uint32_t host, uint32_t offset, void *out, uint32_t bytes)
{
    key_copy_out(&r->host[host].hca, r->host[host].mr->key, RIG_ADDR + offset, out, bytes);
}

bool rig_same(struct rig *r, uint32_t offset0, uint32_t offset1, uint32_t bytes)
{
    static uint8_t a[RIG_REGION], b[RIG_REGION];

    rig_read(r, 0, offset0, a, bytes);
    rig_read(r, 1, offset1, b, bytes);
    return memcmp(a, b, bytes) == 0;
}

struct rig_post *rig_prepare(struct rig *r, uint32_t host, enum wq wq, uint64_t wr_id,
                             uint32_t offset, uint32_t bytes)
{
    struct rig_host *h = &r->host[host];
    struct rig_post *p = &h->queue[wq].posts[h->queue[wq].posted % RIG_RING];

    *p = (struct rig_post){
        .wr_id = wr_id,
        .opcode = WR_SEND,
        .flags = SF_SIGNALED,
        .n_sge = 1,
        .body_bytes = 16,
        .sge = {{RIG_ADDR + offset, bytes, h->mr->key}},
    };
    return p;
}

struct rig_post *rig_prepare_remote(struct rig *r, enum wr_opcode opcode, uint64_t wr_id,
                                    uint32_t offset, uint32_t bytes, uint32_t remote)
{
    struct rig_post *p = rig_prepare(r, 0, WQ_SEND, wr_id, offset, bytes);

    p->opcode = (uint32_t)opcode;
    p->remote_addr = RIG_ADDR + remote;
    p->rkey = r->host[1].mr->key;
    return p;
}

void rig_post(struct rig *r, uint32_t host, enum wq wq)
{
    struct rig_host *h = &r->host[host];

    h->queue[wq].posted++;
    xport_kick(&h->x, h->qp, wq);
}

void rig_send(struct rig *r, uint64_t wr_id, uint32_t offset, uint32_t bytes)
{
    rig_prepare(r, 0, WQ_SEND, wr_id, offset, bytes);
    rig_post(r, 0, WQ_SEND);
}

void rig_recv(struct rig *r, uint64_t wr_id, uint32_t offset, uint32_t bytes)
{
    rig_prepare(r, 1, WQ_RECV, wr_id, offset, bytes);
    rig_post(r, 1, WQ_RECV);
}

void rig_rule(struct rig *r, uint32_t from, uint32_t opcode, uint32_t psn, uint32_t nth,
              enum rig_fate fate)
{
    assert_true(r->n_rules < RIG_RULES);
    r->rules[r->n_rules++] = (struct rig_rule){from, opcode, psn, nth, fate, 0};
}

struct packet rig_packet(struct rig *r, uint32_t to, uint8_t opcode, uint32_t psn)
{
    struct packet p = rig_rc(r, 1 - to)->out;

    p.bth.opcode = opcode;
    p.bth.psn = (struct psn){psn};
    p.bth.ack_req = true;
    p.op = op_info(opcode);
    p.payload_bytes = 0;
    return p;
}

void rig_inject(struct rig *r, uint32_t to, const struct packet *p)
{
    xport_receive(&r->host[to].x, p, &(struct rx_info){.tx = 0});
}

/* Running and looking. */

static void step(struct rig *r)
{
    assert_true(r->n_ticks++ < TICKS_MAX);
    sim_dispatch(&r->sim);
    for (uint32_t i = 0; i < 2; i++)
        assert_null(xport_invariant(r->host[i].qp));
}

void rig_run(struct rig *r)
{
    while (sim_next_ns(&r->sim) != UINT64_MAX)
        step(r);
}

void rig_run_until(struct rig *r, uint64_t until_ns)
{
    while (sim_next_ns(&r->sim) <= until_ns)
        step(r);
    sim_advance(&r->sim, until_ns);
}

void rig_move(struct rig *r, uint32_t host, enum qp_state to)
{
    struct qp_attr a = {0};

    modify(&r->host[host], 0, &a, to);
    assert_null(xport_invariant(r->host[host].qp));
}

static bool matches(const struct ev *e, enum ev_kind kind, uint32_t host, const char *field,
                    uint64_t value)
{
    if (e->kind != kind)
        return false;
    if (host != ANY && ev_field_number(e, ev_field_find(kind, "host")) != host)
        return false;
    return !field || ev_field_number(e, ev_field_find(kind, field)) == value;
}

uint32_t rig_count(const struct rig *r, enum ev_kind kind, uint32_t host, const char *field,
                   uint64_t value)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n_events; i++)
        n += matches(&r->events[i], kind, host, field, value);
    return n;
}

const struct ev *rig_event(const struct rig *r, enum ev_kind kind, uint32_t host, uint32_t n)
{
    for (uint32_t i = 0; i < r->n_events; i++) {
        if (matches(&r->events[i], kind, host, NULL, 0) && n-- == 0)
            return &r->events[i];
    }
    fail_msg("no such event");
    return NULL;
}

void rig_expect(const struct rig *r, uint32_t host, enum wq wq, uint32_t n, uint64_t wr_id,
                enum wc_status status)
{
    const struct rig_host *h = &r->host[host];

    assert_true(n < h->n_wc[wq]);
    assert_int_equal(h->wc[wq][n].wr_id, wr_id);
    assert_int_equal(h->wc[wq][n].status, status);
}
