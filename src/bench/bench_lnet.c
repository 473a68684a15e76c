/* SPDX-License-Identifier: MIT */
/* Two hosts at a cable: an RDMA WRITE, and a PUT of LNet of as many bytes between the same two
 * hosts.
 *
 * A PUT of more than 3976 bytes is a PUT_REQ, a PUT_ACK, the WRITEs and a PUT_DONE.  It is measured
 * in three ways to register memory: a region that grows and soon covers everything, a region for
 * each message, and the region of all memory with a fragment for each page, as in a kernel.  Each
 * figure is processor time of the emulator, and time in the lab.
 */
#include "bench/bench_lnet.h"

#include <stdint.h>
#include <stdio.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/lnet_map.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/inspect.h"
#include "rdmalab/lnet.h"
#include "testbed/testbed.h"

#define TRIES       5u
#define MIN_SECONDS 0.05
#define DEPTH_MAX   8u /* as many as a connection of LNet has credits */
#define PORTAL      4u

static const struct {
    const char *text, *key;
    uint32_t bytes, depth;
} sizes[] = {{"4 KiB", "4k", 4096, DEPTH_MAX}, {"1 MiB", "1m", 1u << 20, 1}};

enum lnet_way { WAY_WRITE, WAY_GROWING, WAY_DEMAND, WAY_KERNEL, N_WAYS };

static const char *const way_texts[N_WAYS] = {"RDMA WRITE", "PUT, growing region",
                                              "PUT, region for each", "PUT, as a kernel"};
static const char *const way_keys[N_WAYS] = {"write", "put_growing", "put_demand", "put_kernel"};

/* A message: processor time, time in the lab, regions that both hosts have registered for it. */
struct figure {
    double cpu_ns, lab_ns, regions;
};

/* The two hosts, their nodes of LNet and the memory of both. */
struct rig {
    struct testbed testbed;
    uint32_t bytes, depth;
    uint64_t source; /* handle of the memory that is put */
};

static const struct rdl_limits none;

static enum rdl_status write_batch(struct rig *r)
{
    struct testbed_side *from = &r->testbed.side[0];
    const struct testbed_side *to = &r->testbed.side[1];
    struct rdl_wc wc[DEPTH_MAX];
    size_t n = 0;
    enum rdl_status st = RDL_OK;

    for (uint32_t i = 0; i < r->depth && st == RDL_OK; i++) {
        const uint64_t at = (uint64_t)i * r->bytes;
        const struct rdl_sge sge = {from->mem.addr + at, r->bytes, from->mem.lkey};
        const struct rdl_send_wr wr = {.wr_id = i,
                                       .opcode = WR_RDMA_WRITE,
                                       .flags = SF_SIGNALED,
                                       .sge = &sge,
                                       .n_sge = 1,
                                       .remote_addr = to->mem.addr + at,
                                       .rkey = to->mem.rkey};

        st = rdl_post_send(r->testbed.lab, from->qp, &wr, false);
    }
    if (st == RDL_OK)
        st = rdl_run(r->testbed.lab, RDL_NEVER, none);
    if (st == RDL_OK)
        st = rdl_poll_cq(r->testbed.lab, from->cq, r->depth, wc, &n);
    if (st == RDL_OK && n != r->depth)
        st = RDL_ERR_IDLE;
    for (size_t i = 0; i < n; i++) {
        if (wc[i].status != WCS_SUCCESS)
            st = RDL_ERR_INVAL;
    }
    return st;
}

/* Returns RDL_ERR_INVAL if one of the last @n events of h1 is no success. */
static enum rdl_status check_events(const struct rig *r, uint64_t n)
{
    const rdl_host host = r->testbed.side[0].host;
    const uint64_t all = rdl_lnet_event_count(r->testbed.lab, host);
    struct rdl_lnet_event e;

    for (uint64_t i = all - n; i < all; i++) {
        if (!rdl_lnet_event_at(r->testbed.lab, host, i, &e) || e.status != 0)
            return RDL_ERR_INVAL;
    }
    return RDL_OK;
}

static enum rdl_status put_batch(struct rig *r)
{
    const struct rdl_lnet_call call = {
        .md = r->source, .peer = r->testbed.side[1].host, .portal = PORTAL};
    const rdl_host host = r->testbed.side[0].host;
    const uint64_t before = rdl_lnet_event_count(r->testbed.lab, host);
    enum rdl_status st = RDL_OK;
    int error;

    for (uint32_t i = 0; i < r->depth && st == RDL_OK; i++)
        st = rdl_lnet_put(r->testbed.lab, host, &call, &error);
    if (st == RDL_OK)
        st = rdl_run(r->testbed.lab, RDL_NEVER, none);
    if (st == RDL_OK && rdl_lnet_event_count(r->testbed.lab, host) != before + r->depth)
        st = RDL_ERR_IDLE;
    return st == RDL_OK ? check_events(r, r->depth) : st;
}

/* Starts the nodes, attaches the memory of h2, and makes that of h1 known. */
static enum rdl_status start_lnet(struct rig *r, enum lnet_way way)
{
    struct rdl_lnet_config c = rdl_lnet_defaults(false);
    struct testbed_side *s = r->testbed.side;
    const struct rdl_lnet_match match = {.portal = PORTAL};
    const struct rdl_lnet_piece from = {s[0].mem.addr, r->bytes}, to = {s[1].mem.addr, r->bytes};
    const struct rdl_lnet_md source = {.pieces = &from, .n = 1};
    const struct rdl_lnet_md sink = {
        .pieces = &to, .n = 1, .options = RDL_LNET_PUT | RDL_LNET_MANAGE_REMOTE};
    enum rdl_status st = RDL_OK;
    uint64_t ignored;
    int error;

    c.map = way == WAY_GROWING  ? LNET_MAP_growing
            : way == WAY_DEMAND ? LNET_MAP_demand
                                : LNET_MAP_dma;
    for (unsigned i = 0; i < 2 && st == RDL_OK; i++)
        st = rdl_lnet_start(r->testbed.lab, s[i].host, &c);
    if (st == RDL_OK)
        st = rdl_run(r->testbed.lab, RDL_NEVER, none);
    if (st == RDL_OK)
        st = rdl_lnet_attach(r->testbed.lab, s[1].host, &match, &sink, &ignored, &error);
    if (st == RDL_OK)
        st = rdl_lnet_bind(r->testbed.lab, s[0].host, &source, &r->source, &error);
    return st;
}

/* Regions that both nodes have registered so far. */
static uint64_t regions(const struct rig *r)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < 2; i++) {
        struct rdl_value v;
        size_t at;

        if (rdl_inspect(r->testbed.lab, i == 0 ? "h1.lnet.regions" : "h2.lnet.regions", &v, &at) ==
            RDL_OK)
            sum += v.number;
    }
    return sum;
}

/* Measures batches of @way, and replaces @best if a message took less. */
static enum rdl_status measure_batches(struct rig *r, enum lnet_way way, double (*now_s)(void),
                                       struct figure *best)
{
    enum rdl_status (*batch)(struct rig * r) = way == WAY_WRITE ? write_batch : put_batch;
    enum rdl_status st = batch(r); /* the first one connects, and touches memory */
    const uint64_t lab0 = rdl_now_ns(r->testbed.lab), regions0 = regions(r);
    const double start = now_s();
    double seconds = 0, n = 0;

    while (st == RDL_OK && seconds < MIN_SECONDS) {
        st = batch(r);
        n += r->depth;
        seconds = now_s() - start;
    }
    if (st == RDL_OK && (best->cpu_ns == 0 || seconds * 1e9 / n < best->cpu_ns))
        *best = (struct figure){seconds * 1e9 / n, (double)(rdl_now_ns(r->testbed.lab) - lab0) / n,
                                (double)(regions(r) - regions0) / n};
    return st;
}

static enum rdl_status measure(size_t size, enum lnet_way way, double (*now_s)(void),
                               struct figure *best)
{
    const struct testbed_config config = {
        .seed = 1,
        .mr_bytes = (uint64_t)sizes[size].bytes * sizes[size].depth,
        .mr_access = ACC_REMOTE_WRITE,
        .access = {ACC_REMOTE_WRITE, ACC_REMOTE_WRITE},
        .max_wr = DEPTH_MAX,
        .path_mtu = MTU_4096,
        .timeout = 14,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 12,
        .latency_ns = 1000,
    };
    struct rig r = {.bytes = sizes[size].bytes, .depth = sizes[size].depth};
    enum rdl_status st = testbed_init(&r.testbed, &config);

    RDL_ASSERT(r.depth <= DEPTH_MAX);
    if (st == RDL_OK && way != WAY_WRITE)
        st = start_lnet(&r, way);
    if (st == RDL_OK)
        st = measure_batches(&r, way, now_s, best);
    testbed_done(&r.testbed);
    return st;
}

static void print_text(struct figure r[ARRAY_LEN(sizes)][N_WAYS])
{
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        printf("%s, %u at a time %*s %12s %12s %9s %9s\n", sizes[i].text, sizes[i].depth, 5, "",
               "processor", "in the lab", "regions", "of WRITE");
        for (unsigned w = 0; w < N_WAYS; w++)
            printf("  %-22s %9.0f ns %9.0f ns %9.2f %7.0f %%\n", way_texts[w], r[i][w].cpu_ns,
                   r[i][w].lab_ns, r[i][w].regions, 100 * r[i][WAY_WRITE].cpu_ns / r[i][w].cpu_ns);
    }
}

static void print_json(struct figure r[ARRAY_LEN(sizes)][N_WAYS])
{
    printf("{");
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        printf("%s\"%s\":{", i ? "," : "", sizes[i].key);
        for (unsigned w = 0; w < N_WAYS; w++)
            printf("%s\"%s\":{\"cpu_ns\":%.0f,\"lab_ns\":%.0f,\"regions\":%.3f}", w ? "," : "",
                   way_keys[w], r[i][w].cpu_ns, r[i][w].lab_ns, r[i][w].regions);
        printf("}");
    }
    printf("}\n");
}

int bench_lnet(bool json, double (*now_s)(void))
{
    struct figure r[ARRAY_LEN(sizes)][N_WAYS] = {0};
    enum rdl_status st = RDL_OK;

    for (unsigned try = 0; try < TRIES; try++) {
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            for (unsigned w = 0; w < N_WAYS && st == RDL_OK; w++)
                st = measure(i, (enum lnet_way)w, now_s, &r[i][w]);
        }
    }
    if (st != RDL_OK) {
        fprintf(stderr, "rdmalab bench: %s\n", rdl_status_str(st));
        return 1;
    }
    if (json)
        print_json(r);
    else
        print_text(r);
    return 0;
}
