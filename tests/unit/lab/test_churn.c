/* SPDX-License-Identifier: MIT */
/* Connections that are destroyed, set up and starved while frames are lost, copied, delayed and
 * forged; queue pairs and memory destroyed with packets in flight; a device that is reset at work.
 * No invariant breaks, and everything posted completes once the network is calm.
 */
#include "testing.h"

#include <string.h>

#include "emu/base/prng.h"
#include "emu/device/rdma.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/qp_fsm.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/rnic.h"
#include "emu/xport/xport_qp.h"
#include "rounds.h"
#include "testbed/testbed.h"

#define SEEDS    n_rounds(400)
#define ACTIONS  500u
#define MR_BYTES 16384u
#define ROUNDS   20u
#define ROUND_NS 100000000u /* longer than all retries of a packet */

/* Work requests are told apart by this, as each side has one CQ. */
enum { WR_ID_SEND, WR_ID_RECV };

struct churn {
    struct testbed r;
    struct prng rng;
    uint32_t max_wr;
    uint32_t posted[2], completed[2]; /* sends of this connection */
    bool gone[2];                     /* the side's MR is deregistered */
};

static const struct rdl_limits bounded = {.ticks = 100000};

static uint32_t below(struct churn *c, uint32_t n)
{
    return (uint32_t)prng_below(&c->rng, n);
}

static void go(struct churn *c, uint64_t ns)
{
    const enum rdl_status st = rdl_run(c->r.lab, rdl_now_ns(c->r.lab) + ns, bounded);

    if (rdl_broken_invariant(c->r.lab))
        fail_msg("%s", rdl_broken_invariant(c->r.lab));
    assert_true(st == RDL_OK || st == RDL_ERR_TIMEOUT);
}

/* Waits for what was asked for; false if it was refused, by driver or device. */
static bool done(struct churn *c, unsigned side, enum rdl_status asked)
{
    struct rdl_response rsp;

    return asked == RDL_OK && rdl_wait(c->r.lab, c->r.side[side].host, bounded, &rsp) == RDL_OK;
}

static void move(struct churn *c, unsigned side, struct rdl_qp_attr *a, uint32_t to, uint32_t mask)
{
    struct rdl_modify_error err;

    a->state = to;
    (void)done(c, side,
               rdl_modify_qp(c->r.lab, c->r.side[side].qp, a, QPA_STATE | mask, false, &err));
}

static void poll(struct churn *c, unsigned side)
{
    struct rdl_wc wc[64];
    size_t n = 0;

    assert_int_equal(rdl_poll_cq(c->r.lab, c->r.side[side].cq, ARRAY_LEN(wc), wc, &n), RDL_OK);
    for (size_t i = 0; i < n; i++)
        c->completed[side] += wc[i].wr_id == WR_ID_SEND;
}

/* Through RESET to RTS, with PSNs that may wrap, or only as far as @last. */
static void move_on(struct churn *c, unsigned side, const uint32_t psn[2], uint32_t last)
{
    struct rdl_qp_attr a = {
        .access = ACC_LOCAL_WRITE,
        .port = 1,
        .dest_qpn = c->r.side[1 - side].qpn,
        .rq_psn = psn[1 - side],
        .sq_psn = psn[side],
        .ah.hop_limit = 64,
    };
    uint8_t mac[6];

    a.path_mtu = MTU_256 + below(c, 2);
    a.min_rnr_timer = below(c, 8);
    a.timeout = 3 + below(c, 4);
    a.retry_cnt = below(c, 8);
    a.rnr_retry = below(c, 7);
    assert_int_equal(rdl_host_address(c->r.lab, c->r.side[1 - side].host, 0, a.ah.dgid, mac),
                     RDL_OK);
    move(c, side, &a, QPS_RESET, 0);
    poll(c, side); /* the last of the connection before */
    c->posted[side] = c->completed[side] = 0;
    for (uint32_t to = QPS_INIT; to <= last; to++)
        move(c, side, &a, to, qp_fsm_needs(QPT_RC, (enum qp_state)to));
}

static void change_state(struct churn *c, unsigned side)
{
    const uint32_t psn_a = PSN_MASK - below(c, 40);
    const uint32_t psn_b = below(c, PSN_MASK);
    const uint32_t psn[2] = {psn_a, psn_b};
    struct rdl_qp_attr a = {.timeout = 1 + below(c, 8)};
    const uint32_t last = below(c, QPS_RTR + 1);

    switch (below(c, 5)) {
    case 0:
        move(c, side, &a, QPS_ERR, 0);
        break;
    case 1:
        move_on(c, side, psn, last);
        break;
    case 2:
        move(c, side, &a, QPS_SQD, 0);
        move(c, side, &a, QPS_SQD, QPA_TIMEOUT);
        move(c, side, &a, QPS_RTS, 0);
        break;
    default:
        move_on(c, 0, psn, QPS_RTS);
        move_on(c, 1, psn, QPS_RTS);
        break;
    }
}

/* Room for all that can be posted, or more; what is there stays. */
static void change_cq(struct churn *c, unsigned side)
{
    const uint32_t cqe = (2 + below(c, 3)) * c->max_wr;

    (void)done(c, side, rdl_resize_cq(c->r.lab, c->r.side[side].cq, cqe));
}

/* Takes the memory away under messages that are on their way, or gives it back. */
static void change_mr(struct churn *c, unsigned side)
{
    struct testbed_side *s = &c->r.side[side];

    if (!c->gone[side]) {
        c->gone[side] = done(c, side, rdl_dereg_mr(c->r.lab, s->mr));
    } else if (done(c, side,
                    rdl_reg_mr(c->r.lab, s->pd, s->mem.addr, MR_BYTES, ACC_LOCAL_WRITE, "mr",
                               &s->mr))) {
        c->gone[side] = false;
        assert_int_equal(rdl_mr_info(c->r.lab, s->mr, &s->mem), RDL_OK);
    }
}

/* Destroys the queue pair, whatever it does, and makes another.  The peer knows nothing of it: what
 * it sends is dropped, until the two are connected again.
 */
static void change_qp(struct churn *c, unsigned side)
{
    struct testbed_side *s = &c->r.side[side];
    const struct rdl_qp_config config = {.pd = s->pd,
                                         .type = QPT_RC,
                                         .send_cq = s->cq,
                                         .recv_cq = s->cq,
                                         .max_send_wr = c->max_wr,
                                         .max_recv_wr = c->max_wr};
    struct rdl_qp_info info;

    assert_true(done(c, side, rdl_destroy_qp(c->r.lab, s->qp)));
    poll(c, side); /* its last completions; what was outstanding has none */
    c->posted[side] = c->completed[side] = 0;
    assert_true(done(c, side, rdl_create_qp(c->r.lab, &config, "qp", &s->qp)));
    assert_int_equal(rdl_qp_info(c->r.lab, s->qp, &info), RDL_OK);
    s->qpn = info.qpn;
}

static struct host *host_of(struct churn *c, unsigned side)
{
    return lab_host(c->r.lab->state, c->r.side[side].host.raw);
}

/* An answer or a request as the peer might send it, around the PSN that is expected. */
static void forge(struct churn *c, unsigned side)
{
    static const uint8_t opcodes[] = {OP_RC_ACKNOWLEDGE, OP_RC_SEND_ONLY, OP_RC_SEND_LAST};
    const struct host *h = host_of(c, side);
    const struct xport_qp *xqp = xport_of_const(hca_qp(&h->rnic->hca, c->r.side[side].qpn));
    struct packet p = xqp->out;
    uint8_t frame[XPORT_FRAME_BYTES];

    if (xqp->qp.state < QPS_RTR || p.ip.version == 0)
        return; /* it never had a peer */
    memcpy(p.eth.dst, xqp->out.eth.src, sizeof(p.eth.dst));
    memcpy(p.ip.src, xqp->out.ip.dst, sizeof(p.ip.src));
    memcpy(p.ip.dst, xqp->out.ip.src, sizeof(p.ip.dst));
    p.bth.dest_qpn = xqp->qp.qpn;
    p.bth.opcode = opcodes[below(c, (uint32_t)ARRAY_LEN(opcodes))];
    p.bth.psn = psn_add(p.bth.opcode == OP_RC_ACKNOWLEDGE ? xqp->req.una : xqp->resp.expected,
                        below(c, 8) + PSN_MASK - 3);
    p.bth.ack_req = true;
    p.aeth.syndrome = (uint8_t)below(c, 256);
    p.payload_bytes = 64;
    memset(packet_build(&p, frame), 0, p.payload_bytes);
    packet_finish(frame, packet_frame_bytes(&p));
    assert_int_equal(rdl_inject(c->r.lab, c->r.side[side].host, frame, packet_frame_bytes(&p)),
                     RDL_OK);
}

static void add_fault(struct churn *c, unsigned side)
{
    struct rdl_fault_config f = {
        .from = c->r.side[side].host,
        .opcode = RDL_ANY,
        .syndrome = RDL_ANY,
        .psn = RDL_ANY,
        .dest_qpn = RDL_ANY,
        .nth = 1,
    };
    rdl_fault fault;

    f.kind = FLT_DROP + below(c, 4);
    f.count = 1 + below(c, 3);
    f.delay_ns = below(c, 100000);
    f.corrupt_bit = below(c, 4000);
    assert_int_equal(rdl_fault_add(c->r.lab, &f, &fault), RDL_OK);
}

/* Posting is refused where the state or the room does not allow it. */
static void post_send(struct churn *c, unsigned side)
{
    if (testbed_send(&c->r, side, WR_ID_SEND, 0, below(c, 1500), SF_SIGNALED) == RDL_OK)
        c->posted[side]++;
}

static bool post_recv(struct churn *c, unsigned side)
{
    return testbed_recv(&c->r, side, WR_ID_RECV, 0, MR_BYTES) == RDL_OK;
}

static void act(struct churn *c)
{
    const unsigned side = below(c, 2);
    const uint32_t what = below(c, 42);

    if (what < 12)
        post_send(c, side);
    else if (what < 22)
        post_recv(c, side);
    else if (what < 35)
        go(c, below(c, 5000));
    else if (what == 35)
        change_state(c, side);
    else if (what == 36)
        change_mr(c, side);
    else if (what == 37)
        change_qp(c, side);
    else if (what == 38)
        forge(c, side);
    else if (what == 39)
        change_cq(c, side);
    else
        add_fault(c, side);
    poll(c, 0);
    poll(c, 1);
}

/* A queue pair whose drain was under way when it was asked to go on is asked again. */
static void leave_sqd(struct churn *c, unsigned side)
{
    struct rdl_qp_attr a = {0};
    struct rdl_qp_info info;

    if (rdl_qp_info(c->r.lab, c->r.side[side].qp, &info) == RDL_OK && info.attr.state == QPS_SQD)
        move(c, side, &a, QPS_RTS, 0);
}

/* The network is calm, and there are receives: all sends of @first..1 come to an end. */
static void everything_ends(struct churn *c, unsigned first)
{
    const struct rdl_link_config calm = {.latency_ns = 1000};

    assert_int_equal(rdl_link_set(c->r.lab, c->r.link, &calm), RDL_OK);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (unsigned side = first; side < 2; side++) {
            leave_sqd(c, side);
            while (post_recv(c, side))
                ;
        }
        go(c, ROUND_NS);
        for (unsigned side = first; side < 2; side++)
            poll(c, side);
    }
    for (unsigned side = first; side < 2; side++)
        assert_int_equal(c->completed[side], c->posted[side]);
}

static void churn_begin(struct churn *c, uint64_t seed)
{
    const struct testbed_config config = {
        .seed = seed,
        .check_invariants = true,
        .mr_bytes = MR_BYTES,
        .max_wr = 1 + (uint32_t)seed % 20,
        .path_mtu = MTU_256,
        .timeout = 4,
        .retry_cnt = 7,
        .rnr_retry = 6,
        .min_rnr_timer = 1,
        .latency_ns = 500 * (seed % 4),
        .loss_ppm = seed % 2 ? 20000 : 0,
    };

    *c = (struct churn){.rng = prng_stream(seed, 5), .max_wr = config.max_wr};
    assert_int_equal(testbed_init(&c->r, &config), RDL_OK);
}

static void whatever_is_posted_ends(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct churn c;

        churn_begin(&c, seed);
        for (uint32_t i = 0; i < ACTIONS; i++)
            act(&c);
        everything_ends(&c, 0);
        testbed_done(&c.r);
    }
}

/* The driver of h1 is told nothing, and knows queue pairs that its device has forgotten. */
static void a_device_reset_at_work_ends_what_its_peer_has_posted(void **state)
{
    uint64_t dropped = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct churn c;
        struct host *h;
        uint64_t before;

        churn_begin(&c, seed);
        for (uint32_t i = below(&c, ACTIONS); i > 0; i--)
            act(&c);
        for (uint32_t i = 0; i < c.max_wr; i++) {
            post_send(&c, 0);
            post_send(&c, 1);
        }
        go(&c, below(&c, 3000));
        h = host_of(&c, 0);
        before = h->guest.net.drops[DROP_NO_LISTENER];
        virtio_write(&host_rdma(h)->pci, REG_DEVICE_STATUS, 1, 0);
        everything_ends(&c, 1);
        post_send(&c, 0); /* into a ring that nobody reads */
        go(&c, ROUND_NS);
        /* Without a device that has its address, RoCEv2 is UDP like any other. */
        dropped += h->guest.net.drops[DROP_NO_LISTENER] - before;
        testbed_done(&c.r);
    }
    assert_true(dropped > SEEDS); /* there was work: the peer has asked in vain */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_posted_ends),
        cmocka_unit_test(a_device_reset_at_work_ends_what_its_peer_has_posted),
    };

    return cmocka_run_group_tests_name("churn", tests, NULL, NULL);
}
