/* SPDX-License-Identifier: MIT */
/* Two RNICs at the port of one host.  Their queue pairs have the same numbers: the GID to which a
 * packet goes says which RNIC gets it.
 */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/roce.h"
#include "emu/hca/ctrl.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/event.h"
#include "emu/xport/ctrl.h"

#define RNICS  2u
#define RAM    (1u << 20)
#define N_DONE 4u
#define WR_ID  77u

/* A device with one queue pair, whose work is empty messages. */
struct one {
    struct rnic nic;
    struct rnic_config config;
    struct qp *qp;
    uint32_t to_send, to_receive; /* work requests that are posted */
    struct completion done[N_DONE];
    uint32_t n_done;
};

struct bench {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace trace;
    struct sim sim;
    struct ram ram;
    struct net net;
    struct progress progress;
    struct eth_port port;
    struct one one[RNICS];
    uint32_t at_network_device; /* frames */
};

static const uint8_t mac[MAC_BYTES] = {2, 0, 0, 0, 0, 1};

static bool is_driven(const void *ctx)
{
    (void)ctx;
    return true;
}

static enum fetch fetch_send(void *ctx, struct qp *qp, struct send_wqe *out)
{
    struct one *o = ctx;

    (void)qp;
    if (o->to_send == 0)
        return FETCH_EMPTY;
    o->to_send--;
    out->wr_id = WR_ID;
    out->opcode = WR_SEND;
    out->flags = SF_SIGNALED;
    return FETCH_OK;
}

static enum fetch fetch_recv(void *ctx, struct qp *qp, struct recv_wqe *out)
{
    struct one *o = ctx;

    (void)qp;
    if (o->to_receive == 0)
        return FETCH_EMPTY;
    o->to_receive--;
    out->wr_id = WR_ID;
    return FETCH_OK;
}

static uint32_t receives(void *ctx, struct qp *qp)
{
    (void)qp;
    return ((struct one *)ctx)->to_receive;
}

static void event(void *ctx)
{
    (void)ctx;
}

static void release(void *ctx, struct qp *qp, enum wq wq, uint32_t desc)
{
    (void)ctx, (void)qp, (void)wq, (void)desc;
}

static bool complete(void *ctx, struct cq *cq, const struct completion *wc)
{
    struct one *o = ctx;

    (void)cq;
    assert_true(o->n_done < N_DONE);
    o->done[o->n_done++] = *wc;
    return true;
}

static void completed(void *ctx, struct cq *cq)
{
    (void)ctx, (void)cq;
}

static const struct rnic_ops ops = {
    .is_driven = is_driven,
    .is_running = is_driven,
    .fetch_send = fetch_send,
    .fetch_recv = fetch_recv,
    .receives = receives,
    .keeps_events = is_driven,
    .event = event,
    .release = release,
    .complete = complete,
    .completed = completed,
};

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

static void take(void *ctx, const struct frame *f)
{
    (void)f;
    ((struct bench *)ctx)->at_network_device++;
}

static const struct eth_user_ops network_device = {no_frame, nothing, NULL, NULL, take};

static void on_arrive(void *ctx, struct sim_item item)
{
    net_arrive(&((struct bench *)ctx)->net, item);
}

static void on_egress(void *ctx, struct sim_item item)
{
    (void)item;
    eth_port_egress(&((struct bench *)ctx)->port);
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {
    [SIM_ARRIVE] = on_arrive, [SIM_EGRESS] = on_egress};

static void deliver(void *ctx, uint32_t host, struct frame *f)
{
    assert_int_equal(host, 0);
    eth_port_deliver(&((struct bench *)ctx)->port, f);
}

static void keep(void *ctx, const struct frame *f, bool changed)
{
    (void)ctx, (void)f, (void)changed;
}

static const struct net_ops net_ops = {deliver, NULL, keep, NULL};

static uint32_t no_peer(void *world, const uint8_t gid[GID_BYTES])
{
    (void)world, (void)gid;
    return EV_HOST_NONE;
}

static void gid_of(uint32_t i, uint8_t ret[GID_BYTES])
{
    gid_from_ipv4(ret, (const uint8_t[]){10, 0, 0, (uint8_t)(i + 1)});
}

static void modify(struct one *o, uint32_t mask, struct qp_attr attr)
{
    assert_int_equal(xport_qp_modify(&o->nic.xport, o->qp, mask | QPA_STATE, &attr), REF_NONE);
}

/* Gives RNIC @i a GID, and its queue pair the way to @to, where that of the same number is. */
static void connect(struct bench *b, uint32_t i, uint32_t to)
{
    struct one *o = &b->one[i];
    struct qp_attr rtr = {.state = QPS_RTR,
                          .path_mtu = MTU_1024,
                          .dest_qpn = o->qp->qpn,
                          .av = {.port = HCA_PORT, .flags = AH_FLAG_GRH}};

    gid_of(to, rtr.av.dgid);
    memcpy(rtr.av.dmac, mac, sizeof(mac));
    modify(o, QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS,
           (struct qp_attr){.state = QPS_INIT, .port = HCA_PORT});
    modify(o, QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN, rtr);
    modify(o, QPA_SQ_PSN, (struct qp_attr){.state = QPS_RTS});
}

static void add_rnic(struct bench *b, uint32_t i)
{
    struct one *o = &b->one[i];
    struct qp_config qp = {.type = QPT_UC,
                           .max_send_wr = N_DONE,
                           .max_recv_wr = N_DONE,
                           .max_send_sge = 1,
                           .max_recv_sge = 1};
    uint8_t gid[GID_BYTES];
    struct pd *pd;
    struct cq *cq;

    o->config = (struct rnic_config){
        .max_cq = 1, .max_qp = 4, .first_qpn = HCA_QPN_USER, .max_mtu = MTU_4096};
    memcpy(o->config.mac, mac, sizeof(mac));
    assert_true(rnic_init(&o->nic,
                          &(struct rnic_env){.arena = b->arena,
                                             .sim = &b->sim,
                                             .ram = &b->ram,
                                             .port = &b->port,
                                             .progress = &b->progress,
                                             .peer_of = no_peer},
                          &o->config, &ops, o));
    gid_of(i, gid);
    assert_int_equal(rnic_gid_set(&o->nic, 0, gid), REF_NONE);
    assert_int_equal(hca_pd_create(&o->nic.hca, &pd), REF_NONE);
    assert_int_equal(hca_cq_create(&o->nic.hca, N_DONE, &cq), REF_NONE);
    qp.pdn = pd->pdn;
    qp.send_cqn = qp.recv_cqn = cq->cqn;
    assert_int_equal(xport_qp_create(&o->nic.xport, &qp, &o->qp), REF_NONE);
}

static int set_up(void **state)
{
    struct bench *b = test_calloc(1, sizeof(*b));

    b->arena = arena_new((size_t)1 << 30);
    b->trace.sinks = &b->sinks;
    assert_true(sim_init(&b->sim, b->arena, &b->trace, handlers, b));
    assert_true(ram_init(&b->ram, b->arena, RAM));
    net_init(&b->net, b->arena, &b->sim, &net_ops, b, 1);
    eth_port_init(&b->port, &b->net, &b->progress, 0, mac, ETHERNET_MTU);
    add_rnic(b, 0);
    (void)eth_port_use(&b->port, &network_device, b);
    add_rnic(b, 1);
    assert_int_equal(b->one[0].qp->qpn, b->one[1].qp->qpn);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    for (uint32_t i = 0; i < RNICS; i++)
        rnic_reset(&b->one[i].nic);
    arena_free(b->arena);
    test_free(b);
    return 0;
}

static void send(struct bench *b, uint32_t from)
{
    struct one *o = &b->one[from];

    o->to_send++;
    rnic_kick(&o->nic, o->qp, WQ_SEND);
    eth_port_pump(&b->port);
    while (sim_next_ns(&b->sim) != UINT64_MAX)
        sim_dispatch(&b->sim);
}

static void assert_done(const struct one *o, uint32_t n, uint32_t opcode)
{
    assert_int_equal(o->n_done, n);
    assert_int_equal(o->done[n - 1].status, WCS_SUCCESS);
    assert_int_equal(o->done[n - 1].opcode, opcode);
    assert_int_equal(o->done[n - 1].wr_id, WR_ID);
}

static void each_gets_what_is_sent_to_its_gid(void **state)
{
    struct bench *b = *state;

    connect(b, 0, 1);
    connect(b, 1, 0);
    b->one[0].to_receive = b->one[1].to_receive = 1;
    send(b, 0);
    assert_done(&b->one[0], 1, WC_SEND);
    assert_done(&b->one[1], 1, WC_RECV);
    send(b, 1);
    assert_done(&b->one[0], 2, WC_RECV);
    assert_done(&b->one[1], 2, WC_SEND);
    assert_int_equal(b->at_network_device, 0);
}

/* A queue pair that is connected with itself has the number of the one in the other RNIC. */
static void the_other_one_gets_nothing(void **state)
{
    struct bench *b = *state;

    connect(b, 1, 1);
    connect(b, 0, 0);
    b->one[0].to_receive = b->one[1].to_receive = 1;
    send(b, 1);
    assert_int_equal(b->one[0].n_done, 0);
    assert_int_equal(b->one[0].to_receive, 1);
    assert_int_equal(b->one[1].n_done, 2);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(each_gets_what_is_sent_to_its_gid),
        T(the_other_one_gets_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
