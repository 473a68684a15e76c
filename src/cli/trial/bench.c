/* SPDX-License-Identifier: MIT */
/* The benchmark: everything goes the whole way, from post to polled completion.
 *
 * A message is posted into a ring, kicked, fetched and parsed as a WQE, cut into packets with ICRC,
 * carried, checked, delivered into a receive, completed, acknowledged, completed again and polled.
 * Beside it stand memcpy and CRC-32 of the same run, so that figures of two machines can be
 * compared. Times are of this process's processor time: other work on the machine does not count.
 */
#include "cli/trial/bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/programs/rig.h"
#include "cli/session/session.h"
#include "cli/trial/bench_scale.h"
#include "emu/base/assert.h"
#include "emu/facts/enums.h"
#include "emu/wire/icrc.h"

#define SMALL_BYTES  64u
#define LARGE_BYTES  (1u << 20)
#define SMALL_DEPTH  128u /* messages outstanding */
#define LARGE_DEPTH  4u
#define MIN_SECONDS  0.5 /* each figure is measured at least so long */
#define COPY_BYTES   4096u
#define COPY_ROUNDS  200000u
#define BATCH_ROUNDS 16u /* batches between two looks at the clock */

struct run {
    uint32_t bytes, depth;
    bool record;
};

struct figure {
    double seconds;
    uint64_t messages, ticks;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Posts @run->depth messages, lets the lab go on until it is idle, and polls both sides. */
static enum rdl_status batch(struct rig *r, const struct run *run)
{
    const struct rdl_limits none = {0};
    struct rdl_wc wc[SMALL_DEPTH];
    enum rdl_status st = RDL_OK;
    size_t n;

    for (uint32_t i = 0; i < run->depth && st == RDL_OK; i++)
        st = rig_recv(r, 1, i, (uint64_t)i * run->bytes, run->bytes);
    for (uint32_t i = 0; i < run->depth && st == RDL_OK; i++)
        st = rig_send(r, 0, i, (uint64_t)i * run->bytes, run->bytes, SF_SIGNALED);
    if (st == RDL_OK)
        st = rdl_run(r->lab, RDL_NEVER, none);
    for (unsigned side = 0; side < 2 && st == RDL_OK; side++) {
        st = rdl_poll_cq(r->lab, r->side[side].cq, run->depth, wc, &n);
        if (st == RDL_OK && n != run->depth)
            st = RDL_ERR_IDLE;
        for (size_t i = 0; st == RDL_OK && i < n; i++) {
            if (wc[i].status != WCS_SUCCESS || wc[i].wr_id != i)
                st = RDL_ERR_INVAL;
        }
    }
    return st;
}

static enum rdl_status measure(const struct run *run, struct figure *ret)
{
    const struct rig_config config = {
        .seed = 1,
        .record = run->record,
        .mr_bytes = (uint64_t)run->bytes * run->depth,
        .max_wr = run->depth,
        .path_mtu = MTU_4096,
        .timeout = 14,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 12,
        .latency_ns = 1000,
    };
    struct rig rig;
    enum rdl_status st = rig_init(&rig, &config);
    uint64_t tick0;
    double start;

    if (st == RDL_OK)
        st = batch(&rig, run); /* warm up */
    tick0 = st == RDL_OK ? rdl_tick(rig.lab) : 0;
    start = now_s();
    *ret = (struct figure){0};
    while (st == RDL_OK && ret->seconds < MIN_SECONDS) {
        for (uint32_t i = 0; i < BATCH_ROUNDS && st == RDL_OK; i++)
            st = batch(&rig, run);
        ret->messages += (uint64_t)BATCH_ROUNDS * run->depth;
        ret->seconds = now_s() - start;
    }
    if (st == RDL_OK)
        ret->ticks = rdl_tick(rig.lab) - tick0;
    rig_done(&rig);
    return st;
}

static double copy_gb_s(void)
{
    static uint8_t from[COPY_BYTES], to[COPY_BYTES];
    /* Called through a volatile pointer, so that no copy is merged or dropped. */
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    const double start = now_s();

    for (uint32_t i = 0; i < COPY_ROUNDS; i++) {
        from[i % COPY_BYTES]++;
        copy(to, from, COPY_BYTES);
    }
    return (double)COPY_BYTES * COPY_ROUNDS / (now_s() - start) / 1e9;
}

static double crc_gb_s(uint32_t *sink)
{
    static uint8_t packet[COPY_BYTES] = {0x45};
    const double start = now_s();

    for (uint32_t i = 0; i < COPY_ROUNDS; i++) {
        packet[100 + i % 1000]++;
        *sink ^= icrc_compute(packet, COPY_BYTES);
    }
    return (double)COPY_BYTES * COPY_ROUNDS / (now_s() - start) / 1e9;
}

/* From the smallest lab to the largest, and the queue pairs of one host. */
static const struct bench_scale scales[] = {{2, 1},    {64, 1},   {512, 1},
                                            {4096, 1}, {2, 1024}, {2, 8192}};

struct results {
    struct figure small, large, traced;
    struct bench_scaled scaled[ARRAY_LEN(scales)];
    double copy, crc;
};

static double per_s(uint64_t n, const struct figure *f)
{
    return (double)n / f->seconds;
}

static void print_json(const struct results *r)
{
    printf("{\"send_64_messages_per_s\":%.0f,\"send_64_recorded_messages_per_s\":%.0f,"
           "\"send_1m_gbytes_per_s\":%.3f,\"ticks_per_s\":%.0f,"
           "\"memcpy_gbytes_per_s\":%.1f,\"crc32_gbytes_per_s\":%.1f,\"scale\":[",
           per_s(r->small.messages, &r->small), per_s(r->traced.messages, &r->traced),
           per_s(r->large.messages * LARGE_BYTES, &r->large) / 1e9,
           per_s(r->small.ticks, &r->small), r->copy, r->crc);
    for (size_t i = 0; i < ARRAY_LEN(scales); i++)
        printf("%s{\"hosts\":%u,\"qps_per_host\":%u,\"build_s\":%.6f,\"bytes_per_host\":%.0f,"
               "\"connect_qp_s\":%.9f,\"messages_per_s\":%.0f}",
               i ? "," : "", scales[i].hosts, scales[i].qps, r->scaled[i].build_s,
               r->scaled[i].host_bytes, r->scaled[i].connect_s, 1 / r->scaled[i].message_s);
    printf("]}\n");
}

static void print_scales(const struct bench_scaled *scaled)
{
    printf("\n%8s %9s %12s %12s %12s %12s\n", "hosts", "QPs each", "to build", "a host takes",
           "a QP more", "a message");
    for (size_t i = 0; i < ARRAY_LEN(scales); i++) {
        const struct bench_scaled *s = &scaled[i];

        printf("%8u %9u %9.0f ms %8.0f KiB %9.1f us %9.0f ns\n", scales[i].hosts, scales[i].qps,
               s->build_s * 1e3, s->host_bytes / 1024, s->connect_s * 1e6, s->message_s * 1e9);
    }
}

static void print_text(const struct results *r)
{
    const double plain = per_s(r->small.messages, &r->small);
    const double traced = per_s(r->traced.messages, &r->traced);

    printf("RC SEND, 64 bytes            %10.0f messages/s   (%.0f ns each)\n", plain, 1e9 / plain);
    printf("  events and frames recorded %10.0f messages/s   (recording costs %.0f ns each)\n",
           traced, 1e9 / traced - 1e9 / plain);
    printf("RC SEND, 1 MiB, MTU 4096     %10.2f GB/s\n",
           per_s(r->large.messages * LARGE_BYTES, &r->large) / 1e9);
    printf("ticks (64-byte SENDs)        %10.0f /s\n", per_s(r->small.ticks, &r->small));
    printf("memcpy, 4 KiB                %10.1f GB/s\n", r->copy);
    printf("CRC-32 (ICRC), 4 KiB         %10.1f GB/s\n", r->crc);
    print_scales(r->scaled);
}

int bench_main(int argc, char **argv)
{
    const bool json = argc == 3 && strcmp(argv[1], "--format") == 0 && strcmp(argv[2], "json") == 0;
    const bool text = argc == 1 || (argc == 3 && strcmp(argv[1], "--format") == 0 &&
                                    strcmp(argv[2], "text") == 0);
    struct results r;
    enum rdl_status st;
    uint32_t sink = 0;

    if (!json && !text)
        return EXIT_ASK;
    st = measure(&(struct run){SMALL_BYTES, SMALL_DEPTH, false}, &r.small);
    if (st == RDL_OK)
        st = measure(&(struct run){SMALL_BYTES, SMALL_DEPTH, true}, &r.traced);
    if (st == RDL_OK)
        st = measure(&(struct run){LARGE_BYTES, LARGE_DEPTH, false}, &r.large);
    for (size_t i = 0; i < ARRAY_LEN(scales) && st == RDL_OK; i++)
        st = bench_scale(&scales[i], now_s, &r.scaled[i]);
    if (st != RDL_OK) {
        fprintf(stderr, "rdmalab bench: %s\n", rdl_status_str(st));
        return 1;
    }
    r.copy = copy_gb_s();
    r.crc = crc_gb_s(&sink);
    if (sink == 1) /* keeps the checksums from being optimised away */
        fputc(' ', stderr);
    if (json)
        print_json(&r);
    else
        print_text(&r);
    return 0;
}
