/* SPDX-License-Identifier: MIT */
#include "bench/bench_ops.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/wire/grh.h"
#include "testbed/testbed.h"

#define MIN_SECONDS  0.05 /* of each try */
#define BATCH_ROUNDS 4u   /* batches between two readings of the clock */
#define FILL_BYTES   4096u
#define ORD          16u /* outstanding READs and atomics */

/* Distance of two messages in the memory of either host. */
static uint64_t stride(const struct bench_op *op)
{
    return op->type == QPT_UD ? op->bytes + GRH_BYTES : op->bytes;
}

/* Writes all memory.  Pages that were never written do not exist, and sending them would cost less.
 */
static enum rdl_status fill(struct testbed *r, uint64_t bytes)
{
    uint8_t page[FILL_BYTES];
    enum rdl_status st = RDL_OK;

    for (size_t i = 0; i < sizeof(page); i++)
        page[i] = (uint8_t)(i * 7 + 1);
    for (uint32_t side = 0; side < 2; side++) {
        for (uint64_t at = 0; at < bytes && st == RDL_OK; at += sizeof(page)) {
            const uint64_t left = bytes - at;

            st = rdl_mem_write(r->lab, r->side[side].host, r->side[side].mem.addr + at, page,
                               left < sizeof(page) ? left : sizeof(page));
        }
    }
    return st;
}

static enum rdl_status post(struct testbed *r, const struct bench_op *op, uint32_t i)
{
    const struct testbed_side *from = &r->side[0], *to = &r->side[1];
    const uint64_t at = i * stride(op);
    const struct rdl_sge sge = {from->mem.addr + at, op->bytes, from->mem.lkey};
    const struct rdl_send_wr wr = {
        .wr_id = i,
        .opcode = op->opcode,
        .flags = SF_SIGNALED,
        .sge = &sge,
        .n_sge = 1,
        .remote_addr = to->mem.addr + at,
        .rkey = to->mem.rkey,
        .compare_add = 1,
        .ud = {.ah = from->ah, .remote_qpn = to->qpn, .remote_qkey = TESTBED_QKEY},
    };

    return rdl_post_send(r->lab, from->qp, &wr, false);
}

/* Polls @n completions of @side, which must be successes in posting order. */
static enum rdl_status poll(struct testbed *r, unsigned side, uint32_t n)
{
    struct rdl_wc wc[BENCH_DEPTH_MAX];
    size_t found;
    enum rdl_status st = rdl_poll_cq(r->lab, r->side[side].cq, n, wc, &found);

    if (st == RDL_OK && found != n)
        st = RDL_ERR_IDLE;
    for (size_t i = 0; st == RDL_OK && i < n; i++) {
        if (wc[i].status != WCS_SUCCESS || wc[i].wr_id != i)
            st = RDL_ERR_INVAL;
    }
    return st;
}

/* Posts @op->depth messages, runs the lab until it is idle, and polls. */
static enum rdl_status batch(struct testbed *r, const struct bench_op *op)
{
    const struct rdl_limits none = {0};
    const bool receives = op->opcode == WR_SEND;
    enum rdl_status st = RDL_OK;

    for (uint32_t i = 0; receives && i < op->depth && st == RDL_OK; i++)
        st = testbed_recv(r, 1, i, i * stride(op), (uint32_t)stride(op));
    for (uint32_t i = 0; i < op->depth && st == RDL_OK; i++)
        st = post(r, op, i);
    if (st == RDL_OK)
        st = rdl_run(r->lab, RDL_NEVER, none);
    if (st == RDL_OK)
        st = poll(r, 0, op->depth);
    if (st == RDL_OK && receives)
        st = poll(r, 1, op->depth);
    return st;
}

/* Runs batches before the measurement: the first access to a page is expensive, and the recorder
 * grows until it drops old events.
 */
static enum rdl_status warm_up(struct testbed *r, const struct bench_op *op)
{
    enum rdl_status st;

    do {
        st = batch(r, op);
    } while (st == RDL_OK && op->record && rdl_record_forgotten(r->lab) == 0);
    return st;
}

enum rdl_status bench_op(const struct bench_op *op, enum bench_place place, double (*now_s)(void),
                         struct bench_figure *best)
{
    const uint32_t access = ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;
    const struct testbed_config config = {
        .seed = 1,
        .record = op->record,
        .machine = place != BENCH_CABLE,
        .shortcut = place == BENCH_SHORTCUT,
        .type = op->type,
        .mr_bytes = stride(op) * op->depth,
        .mr_access = access,
        .access = {access, access},
        .max_rd_atomic = {ORD, ORD},
        .max_dest_rd_atomic = {ORD, ORD},
        .max_wr = op->depth,
        .path_mtu = MTU_4096,
        .timeout = 14,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 12,
        .latency_ns = 1000,
    };
    struct bench_figure f = {0};
    struct testbed testbed;
    enum rdl_status st = testbed_init(&testbed, &config);
    uint64_t tick0;
    double start;

    RDL_ASSERT(op->depth <= BENCH_DEPTH_MAX);
    if (st == RDL_OK)
        st = fill(&testbed, config.mr_bytes);
    if (st == RDL_OK)
        st = warm_up(&testbed, op);
    tick0 = st == RDL_OK ? rdl_tick(testbed.lab) : 0;
    start = now_s();
    while (st == RDL_OK && f.seconds < MIN_SECONDS) {
        for (uint32_t i = 0; i < BATCH_ROUNDS && st == RDL_OK; i++)
            st = batch(&testbed, op);
        f.messages += (uint64_t)BATCH_ROUNDS * op->depth;
        f.seconds = now_s() - start;
    }
    if (st == RDL_OK) {
        f.ticks = rdl_tick(testbed.lab) - tick0;
        if (best->seconds == 0 ||
            (double)f.messages / f.seconds > (double)best->messages / best->seconds)
            *best = f;
    }
    testbed_done(&testbed);
    return st;
}
