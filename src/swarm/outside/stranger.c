/* SPDX-License-Identifier: MIT */
/* The queue pairs of h1 for the stranger, one of each service, and the batches of frames for them.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/qp_fsm.h"
#include "swarm/outside/outside_run.h"
#include "tree/tree.h"

#define BATCH_FRAMES 100u
#define LOOK_EVERY   2u         /* frames between two updates of the expected PSNs */
#define DRAIN_NS     10000000u  /* until all frames sent into the port have arrived */
#define CALM_NS      100000000u /* until their effects are over */
#define RD_ATOMIC    4u         /* READs and atomics in flight, each way */

/* --- The queue pairs for the stranger --------------------------------------------------------- */

static const struct {
    enum qp_type type;
    const char *name, *path;
} strangers[HOSTILE_QPS] = {
    [HOSTILE_RC] = {QPT_RC, "stranger", "h1.stranger"},
    [HOSTILE_UC] = {QPT_UC, "stranger_uc", "h1.stranger_uc"},
    [HOSTILE_UD] = {QPT_UD, "stranger_ud", "h1.stranger_ud"},
};

/* Returns a value of the queue pair @which. */
static uint64_t stranger(const struct outside *o, enum hostile_qp which, enum leaf_id leaf)
{
    return tree_number(o->testbed.lab, strangers[which].path, leaf);
}

static void modify(struct outside *o, enum hostile_qp which, struct rdl_qp_attr *a,
                   enum qp_state to)
{
    const uint32_t mask = QPA_STATE | qp_fsm_needs(strangers[which].type, to);
    struct rdl_modify_error e;

    a->state = (uint32_t)to;
    if (outside_works(o, rdl_modify_qp(o->testbed.lab, o->qp[which], a, mask, false, &e),
                      "a queue pair can be moved"))
        outside_works(o, testbed_wait(&o->testbed, 0), "the device answers");
}

/* Moves the queue pair through RESET to RTS, from any state. */
static void set_up(struct outside *o, enum hostile_qp which, struct rdl_qp_attr *a)
{
    static const enum qp_state states[] = {QPS_RESET, QPS_INIT, QPS_RTR, QPS_RTS};

    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        modify(o, which, a, states[i]);
}

/* Polls all completions.  Their status depends on the stranger and is not checked. */
static void poll_stranger(struct outside *o)
{
    struct rdl_wc wc[8 * DEPTH];
    size_t n = 0;

    outside_works(o, rdl_poll_cq(o->testbed.lab, o->cq, ARRAY_LEN(wc), wc, &n),
                  "a CQ can be polled");
    for (size_t i = 0; i < n; i++) {
        if (wc[i].qp_num == o->hostile.qpn[HOSTILE_RC])
            o->done++;
        else
            o->recvs[wc[i].qp_num == o->hostile.qpn[HOSTILE_UD] ? HOSTILE_UD : HOSTILE_UC]--;
    }
}

static void post_recv(struct outside *o, enum hostile_qp which)
{
    const struct rdl_mr_info *mem = &o->testbed.side[0].mem;
    const struct rdl_sge sge = {mem->addr + STRANGER_AT, MESSAGE_BYTES, mem->lkey};
    const struct rdl_recv_wr recv = {.sge = &sge, .n_sge = 1};

    outside_works(o, rdl_post_recv(o->testbed.lab, o->qp[which], &recv, false),
                  "a receive can be posted");
}

/* Keeps the receive queues of UC and UD full. */
static void post_recvs(struct outside *o)
{
    for (enum hostile_qp which = HOSTILE_UC; which < HOSTILE_QPS; which++) {
        for (; o->recvs[which] < DEPTH && !o->wrong; o->recvs[which]++)
            post_recv(o, which);
    }
}

/* Posts a message, a READ or an atomic.  Only the stranger could answer it. */
static void post_request(struct outside *o, const struct rdl_sge *sge)
{
    static const uint32_t opcodes[] = {WR_SEND,      WR_SEND,      WR_RDMA_WRITE,
                                       WR_RDMA_READ, WR_RDMA_READ, WR_ATOMIC_FETCH_AND_ADD};
    struct rdl_sge part = *sge;
    struct rdl_send_wr wr = {.flags = SF_SIGNALED, .sge = &part, .n_sge = 1};

    wr.opcode = opcodes[prng_below(&o->rng, ARRAY_LEN(opcodes))];
    if (prng_below(&o->rng, 2))
        part.length = (uint32_t)prng_below(&o->rng, 300);
    if (wr.opcode == WR_ATOMIC_FETCH_AND_ADD)
        part.length = ATOMIC_WORD_BYTES;
    outside_works(o, rdl_post_send(o->testbed.lab, o->qp[HOSTILE_RC], &wr, false),
                  "a request can be posted");
    o->posted++;
}

static void post_work(struct outside *o)
{
    const struct rdl_mr_info *mem = &o->testbed.side[0].mem;
    const struct rdl_sge sge = {mem->addr + STRANGER_AT, MESSAGE_BYTES, mem->lkey};

    for (uint32_t i = 0; i < DEPTH; i++) {
        post_recv(o, HOSTILE_RC);
        o->posted++;
    }
    for (uint64_t i = prng_below(&o->rng, DEPTH + 1); i > 0; i--)
        post_request(o, &sge);
}

/* Attributes of a connection to the stranger with the path of this batch. */
static struct rdl_qp_attr attributes(struct outside *o)
{
    const struct hostile *h = &o->hostile;
    struct rdl_qp_attr a = {
        .port = 1,
        .path_mtu = o->path_mtu,
        .dest_qpn = 2,
        .qkey = h->qkey,
        .min_rnr_timer = 1,
        .timeout = 6,
        .retry_cnt = 7,
        .rnr_retry = 6,
    };

    a.rq_psn = (uint32_t)(PSN_MASK - prng_below(&o->rng, 20));
    a.sq_psn = (uint32_t)(PSN_MASK - prng_below(&o->rng, 20));
    a.ah.sgid_index = (uint8_t)h->gid_index;
    memcpy(a.ah.dgid, h->self.gid[h->gid_index], GID_BYTES);
    memcpy(a.ah.dmac, h->self.mac, MAC_BYTES);
    return a;
}

static void connect_stranger(struct outside *o)
{
    struct rdl_qp_attr a = attributes(o);

    a.max_rd_atomic = 1 + (uint32_t)prng_below(&o->rng, RD_ATOMIC);
    a.max_dest_rd_atomic = 1 + (uint32_t)prng_below(&o->rng, RD_ATOMIC);
    a.access = REMOTE_RIGHTS;
    if (prng_below(&o->rng, 8) == 0)
        a.access &= (uint32_t)prng_next(&o->rng);
    set_up(o, HOSTILE_RC, &a);
    o->posted = o->done = 0;
    post_work(o);
}

/* Connects all queue pairs with a path that is drawn. */
void stranger_connect(struct outside *o)
{
    struct hostile *h = &o->hostile;
    struct rdl_qp_attr a;

    o->path_mtu = MTU_256 + (uint32_t)prng_below(&o->rng, 5);
    h->mtu_bytes = mtu_bytes(o->path_mtu);
    h->gid_index = (unsigned)prng_below(&o->rng, 2);
    connect_stranger(o);
    a = attributes(o);
    a.access = ACC_REMOTE_WRITE;
    set_up(o, HOSTILE_UC, &a);
    set_up(o, HOSTILE_UD, &a);
    post_recvs(o);
}

void stranger_disconnect(struct outside *o)
{
    struct rdl_qp_attr a = {0};

    outside_go_on(o, DRAIN_NS);
    for (enum hostile_qp which = HOSTILE_RC; which < HOSTILE_QPS; which++) {
        outside_expect(o, which == HOSTILE_RC || stranger(o, which, LEAF_qp_state) == QPS_RTS,
                       "no frame ends a queue pair of an unreliable service");
        modify(o, which, &a, QPS_ERR);
    }
    outside_go_on(o, CALM_NS);
    poll_stranger(o);
    outside_expect(o,
                   o->done == o->posted && o->recvs[HOSTILE_UC] == 0 && o->recvs[HOSTILE_UD] == 0,
                   "whatever was posted completes, once");
}

/* --- A batch of frames ------------------------------------------------------------------------ */

/* Reads the PSNs that h1 expects.  Connects the RC queue pair again if damaged frames have ended
 * it.
 */
static void look(struct outside *o)
{
    if (stranger(o, HOSTILE_RC, LEAF_qp_state) == QPS_ERR) {
        outside_go_on(o, DRAIN_NS);
        poll_stranger(o);
        outside_expect(o, o->done == o->posted, "in ERR, everything is flushed");
        connect_stranger(o);
    }
    poll_stranger(o);
    post_recvs(o);
    for (enum hostile_qp which = HOSTILE_RC; which < HOSTILE_QPS; which++)
        o->hostile.expected[which].v = (uint32_t)stranger(o, which, LEAF_qp_rq_psn) & PSN_MASK;
    o->hostile.acked.v = (uint32_t)stranger(o, HOSTILE_RC, LEAF_qp_acked_psn) & PSN_MASK;
}

/* Broadcasts frames, more than the port can buffer.  No later batch needs as much memory. */
void stranger_overfill(struct outside *o)
{
    char drops[TREE_PATH_BYTES];

    memset(o->frame, 0xff, HOSTILE_BYTES);
    for (uint32_t i = 0; i < BATCH_FRAMES; i++)
        outside_receive(o, o->frame, HOSTILE_BYTES);
    (void)tree_child(o->testbed.lab, "out", CHILD_external_port_drops, drops);
    outside_expect(o, tree_keyed(o->testbed.lab, drops, LEAF_drops_reason, DROP_NO_BUFFER) > 0,
                   "what waits at a port is bounded");
    outside_go_on(o, DRAIN_NS);
}

/* One batch in eight is sent without pauses. */
void stranger_flood(struct outside *o)
{
    const bool at_once = prng_below(&o->rng, 8) == 0;

    for (uint32_t i = 0; i < BATCH_FRAMES && !o->wrong; i++) {
        if (i % LOOK_EVERY == 0)
            look(o);
        outside_receive(o, o->frame, hostile_frame(&o->hostile, o->frame));
        if (!at_once && prng_below(&o->rng, 2))
            outside_go_on(o, prng_below(&o->rng, GAP_NS));
        poll_stranger(o);
        outside_cm_serve(o);
    }
}

/* Sends READs of all open memory: new ones and repetitions.  Some arrive while others are being
 * answered, or are more than h1 accepts at a time.
 */
void stranger_flood_reads(struct outside *o)
{
    const uint32_t gap = prng_below(&o->rng, 2) ? GAP_NS : 1;

    look(o);
    for (uint32_t i = 0; i < BATCH_FRAMES && !o->wrong; i++) {
        const bool again = i > 0 && prng_below(&o->rng, 2) == 0;

        outside_receive(o, o->frame, hostile_read(&o->hostile, again, o->frame));
        outside_go_on(o, prng_below(&o->rng, gap));
        poll_stranger(o);
        if (stranger(o, HOSTILE_RC, LEAF_qp_state) == QPS_ERR)
            look(o);
    }
}

/* --- Creation --------------------------------------------------------------------------------- */

/* Creates one of the stranger's queue pairs on h1. */
static enum rdl_status make_qp(struct outside *o, enum hostile_qp which)
{
    struct testbed *r = &o->testbed;
    const struct rdl_qp_config c = {.pd = r->side[0].pd,
                                    .type = strangers[which].type,
                                    .send_cq = o->cq,
                                    .recv_cq = o->cq,
                                    .max_send_wr = DEPTH,
                                    .max_recv_wr = DEPTH};
    struct rdl_qp_info info;
    enum rdl_status st = rdl_create_qp(r->lab, &c, strangers[which].name, &o->qp[which]);

    if (st == RDL_OK)
        st = testbed_wait(r, 0);
    if (st == RDL_OK)
        st = rdl_qp_info(r->lab, o->qp[which], &info);
    if (st == RDL_OK)
        o->hostile.qpn[which] = info.qpn;
    return st;
}

/* Attaches the UD queue pair to an IPv4 and an IPv6 group. */
static enum rdl_status join_groups(struct outside *o)
{
    struct hostile *h = &o->hostile;
    enum rdl_status st = RDL_OK;

    (void)addr_parse("239.1.2.3", h->group[0]);
    (void)addr_parse("ff0e::1:2:3", h->group[1]);
    for (size_t i = 0; i < ARRAY_LEN(h->group) && st == RDL_OK; i++) {
        st = rdl_attach_mcast(o->testbed.lab, o->qp[HOSTILE_UD], h->group[i]);
        if (st == RDL_OK)
            st = testbed_wait(&o->testbed, 0);
    }
    return st;
}

enum rdl_status stranger_make(struct outside *o)
{
    struct testbed *r = &o->testbed;
    enum rdl_status st = rdl_create_cq(r->lab, r->side[0].host, 8 * DEPTH, "cq2", &o->cq);

    if (st == RDL_OK)
        st = testbed_wait(r, 0);
    for (enum hostile_qp which = HOSTILE_RC; which < HOSTILE_QPS && st == RDL_OK; which++)
        st = make_qp(o, which);
    o->hostile.qkey = TESTBED_QKEY;
    return st == RDL_OK ? join_groups(o) : st;
}
