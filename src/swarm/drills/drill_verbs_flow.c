/* SPDX-License-Identifier: MIT */
/* The drill of verbs: when requests are sent, retransmitted and held back. */
#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/opcode.h"
#include "emu/trace/event.h"
#include "rdmalab/ip.h"
#include "rdmalab/memory.h"
#include "swarm/drills/verbs.h"

#define CLOSE_NS 5000u    /* longer than a round trip over the link */
#define PING_NS  1000000u /* longer than a ping takes */

static bool pair_up(struct drill *d, struct verbs_pair *p, uint32_t timeout, uint32_t retry_cnt)
{
    struct rdl_qp_config c = {.type = QPT_RC, .max_send_wr = 32, .max_recv_wr = 32};

    memset(p, 0, sizeof(*p));
    p->end[0].timeout = p->end[1].timeout = timeout;
    p->end[0].retry_cnt = p->end[1].retry_cnt = retry_cnt;
    return verbs_pair(d, &c, p) && rig_connect(d, &p->end[0], &p->end[1]);
}

static void mark(struct drill *d)
{
    struct drill_verbs *k = d->own;

    k->mark = drill_events(d);
}

/* Posts a request of @bytes: a READ from h2's lower half, or a SEND or WRITE from h1's lower half.
 */
static bool send_op(struct drill *d, struct verbs_pair *p, uint32_t op, uint32_t flags,
                    uint32_t bytes)
{
    struct drill_verbs *k = d->own;
    const bool is_read = op == WR_RDMA_READ;
    const struct rdl_sge sge = {k->side[0].addr + (is_read ? VERBS_HALF : 0), bytes,
                                k->side[0].lkey};
    struct rdl_send_wr wr = {.opcode = op,
                             .flags = flags | SF_SIGNALED,
                             .sge = &sge,
                             .n_sge = 1,
                             .remote_addr = k->side[1].addr + (is_read ? 0 : VERBS_HALF),
                             .rkey = k->side[1].rkey};

    return verbs_send(d, &p->end[0], &wr);
}

/* Loses one response of a READ; the READ must still complete with the right bytes. */
void verbs_step_read_lost(struct drill *d)
{
    const uint32_t n_pkts = 2 + drill_below(d, 6), bytes = VERBS_MTU * n_pkts;
    const uint32_t lost = drill_below(d, n_pkts);
    struct drill_verbs *k = d->own;
    struct rdl_fault_config f = {.kind = FLT_DROP, .count = 1, .opcode = RDL_ANY};
    struct verbs_pair p;
    struct rdl_wc wc;
    rdl_fault fault;

    if (!pair_up(d, &p, 8 + drill_below(d, 4), 3) || !verbs_fill(d, 1))
        return;
    f.from = k->host[1];
    f.nth = lost + 1;
    if (!verbs_fault(d, &f, &fault) || !send_op(d, &p, WR_RDMA_READ, 0, bytes) ||
        !drill_settle(d) || !verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc) ||
        !drill_expect(d, wc.byte_len == bytes, "a READ tells how many bytes came", "%u of %u",
                      wc.byte_len, bytes) ||
        !verbs_holds(d, 0, VERBS_HALF, k->sent, bytes,
                     "a READ whose responses are lost brings the bytes that were asked for"))
        return;
    if (drill_works(d, rdl_fault_remove(d->lab, fault), "a fault can be taken away"))
        (void)verbs_unpair(d, &p);
}

/* --- Timers ----------------------------------------------------------------------------------- */

/* Checks that the packets of h1 are sent @least ns apart, or up to @more ns later. */
static bool apart(struct drill *d, uint64_t least, uint64_t more, const char *what)
{
    const struct drill_verbs *k = d->own;
    const struct ev *e;
    uint64_t last = 0;

    for (uint64_t at = 0; (e = verbs_event(d, EV_tx, &at));) {
        if (e->u.tx.host + 1 != k->host[0].raw)
            continue;
        if (last > 0 &&
            !drill_expect(d, e->at_ns - last >= least && e->at_ns - last <= least + more, what,
                          "%llu ns, not %llu", (unsigned long long)(e->at_ns - last),
                          (unsigned long long)least))
            return false;
        last = e->at_ns;
    }
    return true;
}

static bool sent_times(struct drill *d, uint32_t want, const char *what)
{
    const uint32_t n = verbs_count_tx(d, 0, RDL_ANY);

    return drill_expect(d, n == want, what, "%u times, not %u", n, want);
}

static bool to_error(struct drill *d, struct verbs_pair *p)
{
    struct rdl_qp_attr a = {0};

    d->n_unsaid++;
    return rig_modify(d, &p->end[0], &a, QPS_ERR, 0);
}

/* Loses every packet of h1: checks the number and the interval of its retransmissions. */
void verbs_step_timeout(struct drill *d)
{
    const uint32_t timeout = drill_one_in(d, 3) ? 0 : 1 + drill_below(d, 20);
    const uint32_t retry_cnt = drill_below(d, 7), pick = drill_below(d, 2);
    struct drill_verbs *k = d->own;
    struct rdl_fault_config f = {.kind = FLT_DROP, .nth = 1, .count = RDL_ANY, .opcode = RDL_ANY};
    struct verbs_pair p;
    struct rdl_wc wc;
    rdl_fault fault;

    if (!pair_up(d, &p, timeout, retry_cnt))
        return;
    f.from = k->host[0];
    if (!verbs_fault(d, &f, &fault))
        return;
    mark(d);
    if (!send_op(d, &p, pick ? WR_RDMA_WRITE : WR_RDMA_READ, 0, 1 + drill_below(d, VERBS_MTU)) ||
        !drill_settle(d))
        return;
    if (timeout == 0) {
        if (!sent_times(d, 1, "timeout 0 means that nothing is ever sent again") ||
            !verbs_no_more(d) || !to_error(d, &p) ||
            !verbs_done(d, k->side[0].scq, WCS_WR_FLUSH_ERR, &wc))
            return;
    } else if (!sent_times(d, retry_cnt + 1, "a packet is sent again retry_cnt times") ||
               !verbs_done(d, k->side[0].scq, WCS_RETRY_EXC_ERR, &wc) ||
               !apart(d, (uint64_t)4096 << timeout, CLOSE_NS,
                      "the ACK timer runs 4.096 us times two to the power of timeout")) {
        return;
    }
    if (drill_works(d, rdl_fault_remove(d->lab, fault), "a fault can be taken away"))
        (void)verbs_unpair(d, &p);
}

/* Returns the time of an RNR timer code in ns.  Code 0 is the longest. */
static uint64_t rnr_ns(uint32_t code)
{
    static const uint32_t us[] = {655360, 10, 20, 30};
    uint64_t step = 20;

    if (code < 4)
        return us[code] * 1000ull;
    for (uint32_t i = 4; i <= code; i += 2)
        step *= 2;
    return (code % 2 == 0 ? step : step + step / 2) * 1000;
}

/* Sends a message without a receive.  One may be posted before the retries are exhausted. */
void verbs_step_rnr(struct drill *d)
{
    const uint32_t code = drill_one_in(d, 4) ? 0 : drill_below(d, 32);
    const uint32_t retry = drill_below(d, 7);
    const bool comes = retry > 0 && drill_one_in(d, 2);
    const uint32_t after = comes ? drill_below(d, retry) : 0;
    struct drill_verbs *k = d->own;
    struct rdl_qp_attr a = {.min_rnr_timer = code};
    struct verbs_pair p;
    struct rdl_wc wc;

    if (!pair_up(d, &p, 14 + drill_below(d, 3), retry) ||
        !rig_modify(d, &p.end[1], &a, QPS_RTS, QPA_MIN_RNR_TIMER))
        return;
    mark(d);
    if (!send_op(d, &p, WR_SEND, 0, 100))
        return;
    if (comes) {
        const uint64_t until =
            rdl_now_ns(d->lab) + after * (rnr_ns(code) + CLOSE_NS / 2) + rnr_ns(code) / 2;

        if (!drill_run_until(d, until) || !verbs_recv(d, &p.end[1], VERBS_HALF, 100))
            return;
    }
    if (!drill_settle(d) ||
        !apart(d, rnr_ns(code), CLOSE_NS, "an RNR NAK is waited out as long as its code says"))
        return;
    if (!comes && !sent_times(d, retry + 1, "a packet is sent again after rnr_retry RNR NAKs"))
        return;
    if (verbs_done(d, k->side[0].scq, comes ? WCS_SUCCESS : WCS_RNR_RETRY_EXC_ERR, &wc) &&
        (!comes || verbs_done(d, k->side[1].rcq, WCS_SUCCESS, &wc)))
        (void)verbs_unpair(d, &p);
}

/* --- Order ------------------------------------------------------------------------------------ */

/* Returns how many events of @type were raised about the queue pair of @e. */
static uint32_t count_async(struct drill *d, const struct rig_end *e, uint32_t type)
{
    const struct ev *v;
    uint32_t n = 0;

    for (uint64_t at = 0; (v = verbs_event(d, EV_async_event, &at));)
        n += v->u.async_event.host + 1 == e->host.raw && v->u.async_event.number == e->qpn &&
             (uint32_t)v->u.async_event.event == type;
    return n;
}

/* Checks that h1 started no request after it moved to SQD. */
static bool check_begun(struct drill *d)
{
    const struct drill_verbs *k = d->own;
    const uint64_t forgotten = rdl_record_forgotten(d->lab);
    bool moved = false;
    uint64_t last = 0;

    for (uint64_t i = k->mark; i < drill_events(d); i++) {
        const struct ev *e = rdl_record_at(d->lab, (size_t)(i - forgotten));

        if (e->kind == EV_qp_state && e->u.qp_state.host + 1 == k->host[0].raw)
            moved = true;
        if (e->kind != EV_tx || e->u.tx.host + 1 != k->host[0].raw)
            continue;
        if (!drill_expect(d, !moved || e->u.tx.wr_id <= last, "in SQD no work request begins",
                          "wr_id %llu, the last was %llu", (unsigned long long)e->u.tx.wr_id,
                          (unsigned long long)last))
            return false;
        if (e->u.tx.wr_id > last)
            last = e->u.tx.wr_id;
    }
    return true;
}

/* In SQD no request starts; started ones complete, which raises SQ_DRAINED if it was requested. */
void verbs_step_sqd(struct drill *d)
{
    const uint32_t before = drill_below(d, 9), behind = 1 + drill_below(d, 5);
    const bool asks = drill_one_in(d, 2);
    struct drill_verbs *k = d->own;
    struct rdl_qp_attr a = {.en_sqd_async_notify = asks};
    struct verbs_pair p;
    struct rdl_wc wc;
    uint32_t n, told;

    if (!pair_up(d, &p, 14, 3))
        return;
    mark(d);
    for (uint32_t i = 0; i < before; i++) {
        const uint32_t bytes = 8 + drill_below(d, 4000);

        if (!send_op(d, &p, drill_one_in(d, 2) ? WR_RDMA_WRITE : WR_RDMA_READ, 0, bytes))
            return;
    }
    d->n_unsaid += 2;
    if (!rig_modify(d, &p.end[0], &a, QPS_SQD, asks ? QPA_EN_SQD_ASYNC_NOTIFY : 0) ||
        !drill_settle(d) || !check_begun(d))
        return;
    told = count_async(d, &p.end[0], ASE_SQ_DRAINED);
    if (!drill_expect(d, told == (asks || rig_is_rxe(k->profile)),
                      "SQ_DRAINED is told once, to who asked", "%u times", told))
        return;
    for (n = 0; n <= before && rig_poll(d, k->side[0].scq, &wc); n++)
        ;
    mark(d);
    for (uint32_t i = 0; i < behind; i++) {
        if (!send_op(d, &p, WR_RDMA_WRITE, 0, 8 + drill_below(d, 4000)))
            return;
    }
    if (!drill_settle(d) || !sent_times(d, 0, "in SQD no work request begins") ||
        !rig_modify(d, &p.end[0], &a, QPS_RTS, 0) || !drill_settle(d))
        return;
    for (; n < before + behind; n++) {
        if (!verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc))
            return;
    }
    (void)verbs_unpair(d, &p);
}

/* Changes max_rd_atomic in SQD, while READs wait for each other.  With 0 the next one fails when
 * SQD is left, and those behind it are flushed.
 */
void verbs_step_sqd_limit(struct drill *d)
{
    struct drill_verbs *k = d->own;
    const uint32_t n = 2 + drill_below(d, 3),
                   limit = rig_is_rxe(k->profile) ? 1 : drill_below(d, 3);
    struct rdl_qp_config c = {.type = QPT_RC};
    struct rdl_qp_attr none = {0}, a = {.max_rd_atomic = limit};
    struct verbs_pair p = {0};
    struct rdl_wc wc;

    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        p.end[i].timeout = 16;
        p.end[i].retry_cnt = 3;
        p.end[i].max_rd_atomic = 1;
    }
    if (!verbs_pair(d, &c, &p) || !rig_connect(d, &p.end[0], &p.end[1]))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (!send_op(d, &p, WR_RDMA_READ, 0, 1 + drill_below(d, 3000)))
            return;
    }
    d->n_unsaid += 3;
    if (!rig_modify(d, &p.end[0], &none, QPS_SQD, 0) || !drill_settle(d) ||
        !rig_modify(d, &p.end[0], &a, QPS_SQD, QPA_MAX_QP_RD_ATOMIC) ||
        !rig_modify(d, &p.end[0], &none, QPS_RTS, 0) || !drill_settle(d) ||
        !verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc))
        return;
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t fails = i == 1 ? WCS_LOC_QP_OP_ERR : WCS_WR_FLUSH_ERR;

        if (!verbs_done(d, k->side[0].scq, limit > 0 ? WCS_SUCCESS : fails, &wc))
            return;
    }
    (void)verbs_unpair(d, &p);
}

/* Checks the order of packets: the fenced request goes out after all @n_reads READs are answered.
 */
static bool check_fence(struct drill *d, uint32_t n_reads)
{
    const struct drill_verbs *k = d->own;
    const struct ev *e;
    uint32_t asked = 0, answered = 0;

    for (uint64_t i = k->mark; i < drill_events(d); i++) {
        e = rdl_record_at(d->lab, (size_t)(i - rdl_record_forgotten(d->lab)));
        if (e->kind == EV_rx && e->u.rx.host + 1 == k->host[0].raw) {
            answered += e->u.rx.opcode == OP_RC_RDMA_READ_RESPONSE_ONLY ||
                        e->u.rx.opcode == OP_RC_RDMA_READ_RESPONSE_LAST;
        } else if (e->kind == EV_tx && e->u.tx.host + 1 == k->host[0].raw) {
            if (e->u.tx.opcode == OP_RC_RDMA_READ_REQUEST)
                asked++;
            else if (!drill_expect(d, answered == n_reads,
                                   "a fenced request waits until all READs before it are answered",
                                   "%u of %u were", answered, n_reads))
                return false;
        }
        if (!drill_expect(d, asked <= answered + 4, "at most max_rd_atomic READs are under way",
                          "%u", asked - answered))
            return false;
    }
    return drill_expect(d, asked == n_reads, "each READ is asked for once", "%u of %u", asked,
                        n_reads);
}

void verbs_step_fence(struct drill *d)
{
    const uint32_t n_reads = 1 + drill_below(d, 8);
    struct drill_verbs *k = d->own;
    struct verbs_pair p;
    struct rdl_wc wc;

    if (!pair_up(d, &p, 16, 3))
        return;
    mark(d);
    for (uint32_t i = 0; i < n_reads; i++) {
        if (!send_op(d, &p, WR_RDMA_READ, 0, 1 + drill_below(d, 3000)))
            return;
    }
    if (!send_op(d, &p, WR_RDMA_WRITE, SF_FENCE, 1 + drill_below(d, 3000)) || !drill_settle(d) ||
        !check_fence(d, n_reads))
        return;
    for (uint32_t i = 0; i <= n_reads; i++) {
        if (!verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc))
            return;
    }
    (void)verbs_unpair(d, &p);
}

/* --- LOCAL_INV -------------------------------------------------------------------------------- */

struct fast_mr {
    rdl_mr mr;
    uint32_t key;
};

static bool make_fast(struct drill *d, struct fast_mr *m)
{
    struct drill_verbs *k = d->own;
    const struct verbs_side *s = &k->side[0];
    const struct rdl_mr_range range = {s->addr, VERBS_BUF, s->addr};
    struct rdl_mr_info info;

    if (!drill_is_done(
            d, s->host,
            rdl_create_mr(d->lab, s->pd, ACC_LOCAL_WRITE, VERBS_BUF / 4096u, NULL, &m->mr),
            "a region for fast registration can be made") ||
        !drill_is_done(d, s->host, rdl_map_mr_sg(d->lab, m->mr, &range),
                       "pages can be given to it") ||
        !drill_works(d, rdl_mr_info(d->lab, m->mr, &info), "a region has keys"))
        return false;
    m->key = (info.lkey & ~0xffu) | drill_below(d, 256);
    return true;
}

/* Registers a fast region, uses it and invalidates it, all posted at once.  The request that uses
 * it loses a frame.
 */
void verbs_step_local_inv(struct drill *d)
{
    const uint32_t n_pkts = 1 + drill_below(d, 6), bytes = VERBS_MTU * n_pkts;
    const bool reads = drill_one_in(d, 2);
    struct drill_verbs *k = d->own;
    struct rdl_fault_config f = {.kind = FLT_DROP, .count = 1, .opcode = RDL_ANY};
    struct rdl_send_wr reg = {.opcode = WR_REG_MR, .flags = SF_SIGNALED};
    struct rdl_send_wr inv = {.opcode = WR_LOCAL_INV, .flags = SF_SIGNALED};
    struct rdl_sge sge = {k->side[0].addr + (reads ? VERBS_HALF : 0), bytes, 0};
    struct rdl_send_wr use = {.opcode = reads ? WR_RDMA_READ : WR_RDMA_WRITE,
                              .flags = SF_SIGNALED,
                              .sge = &sge,
                              .n_sge = 1,
                              .remote_addr = k->side[1].addr + (reads ? 0 : VERBS_HALF),
                              .rkey = k->side[1].rkey};
    struct verbs_pair p;
    struct fast_mr m;
    struct rdl_wc wc;
    rdl_fault fault;

    if (!pair_up(d, &p, 8 + drill_below(d, 4), 3) || !make_fast(d, &m) || !verbs_fill(d, reads))
        return;
    f.from = k->host[reads];
    f.nth = 1 + drill_below(d, n_pkts);
    reg.reg.mr = m.mr;
    reg.reg.key = sge.lkey = inv.invalidate_rkey = m.key;
    reg.reg.access = ACC_LOCAL_WRITE;
    if (!verbs_fault(d, &f, &fault) || !verbs_send(d, &p.end[0], &reg) ||
        !verbs_send(d, &p.end[0], &use) || !verbs_send(d, &p.end[0], &inv) || !drill_settle(d))
        return;
    for (uint32_t i = 0; i < 3; i++) {
        if (!verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc))
            return;
    }
    if (verbs_holds(d, !reads, VERBS_HALF, k->sent, bytes,
                    "what uses a key is done before LOCAL_INV ends the key") &&
        drill_works(d, rdl_fault_remove(d->lab, fault), "a fault can be taken away") &&
        drill_is_done(d, k->host[0], rdl_dereg_mr(d->lab, m.mr), "a region can be given back"))
        (void)verbs_unpair(d, &p);
}

/* --- The port --------------------------------------------------------------------------------- */

/* Counts the packets of h1's queue pairs that were sent after its virtio-net function had a frame
 * and before it sent it (*@ret_between), and those behind (*@ret_behind).
 */
static void count_around_net(struct drill *d, uint32_t *ret_between, uint32_t *ret_behind)
{
    const struct drill_verbs *k = d->own;
    const uint32_t h1 = k->host[0].raw - 1;
    const struct ev *kick = NULL, *net = NULL, *e;

    *ret_between = *ret_behind = 0;
    for (size_t at = 0; !kick && (e = verbs_event(d, EV_kick, &at));)
        kick = e->u.kick.host == h1 && e->u.kick.function == FN_NET ? e : NULL;
    for (size_t at = 0; !net && (e = verbs_event(d, EV_eth_tx, &at));)
        net = e->u.eth_tx.host == h1 ? e : NULL;
    for (size_t at = 0; kick && net && (e = verbs_event(d, EV_tx, &at));) {
        *ret_between += e->u.tx.host == h1 && e->id > kick->id && e->id < net->id;
        *ret_behind += e->u.tx.host == h1 && e->id > net->id;
    }
}

/* A ping in the middle of long WRITEs: the two functions of the port take turns. */
void verbs_step_turns(struct drill *d)
{
    const uint32_t n_wrs = 8, n_pkts = n_wrs * (VERBS_HALF / VERBS_MTU);
    struct drill_verbs *k = d->own;
    struct rdl_ping_config c = {.bytes = 1 + drill_below(d, 100), .timeout_ns = PING_NS};
    struct verbs_pair p;
    struct rdl_wc wc;
    rdl_ping_id ping;
    uint32_t between, behind;
    uint8_t mac[6];

    if (!pair_up(d, &p, 14, 7) || !verbs_fill(d, 0) ||
        !drill_works(d, rdl_host_address(d->lab, k->host[1], 0, c.address, mac),
                     "a host has an address"))
        return;
    mark(d);
    d->n_unsaid++;
    for (uint32_t i = 0; i < n_wrs; i++) {
        if (!send_op(d, &p, WR_RDMA_WRITE, 0, VERBS_HALF))
            return;
    }
    if (!drill_works(d, rdl_ping(d->lab, k->host[0], &c, &ping), "a host can send a ping") ||
        !drill_settle(d))
        return;
    for (uint32_t i = 0; i < n_wrs; i++) {
        if (!verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc))
            return;
    }
    count_around_net(d, &between, &behind);
    if (drill_expect(
            d, between <= 2 && behind > n_pkts / 4,
            "the functions of a port take turns: a frame does not wait for all of the other's",
            "%u packets between, %u behind", between, behind))
        (void)verbs_unpair(d, &p);
}
