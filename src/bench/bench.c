/* SPDX-License-Identifier: MIT */
/* The benchmark.  Every message takes the whole way from the post to the polled completion.
 *
 * A SEND is posted to a ring, kicked, fetched, parsed as a WQE and split into packets with an ICRC.
 * These are transmitted, checked, copied to a receive, completed, acknowledged, completed at the
 * sender and polled.  The results of the other operations are relative to SEND.
 *
 * Large messages are compared with a bound: the sender and the receiver both copy each byte once
 * and compute its CRC once, so no implementation that does this can be faster.  The copies for the
 * bound go from a large buffer through a frame to another large buffer, because the first-level
 * cache holds a frame but no such message.
 *
 * memcpy and CRC-32 are measured in the same run, so that results of different machines can be
 * compared.  All times are processor time of this process: other work on the machine does not
 * count.
 */
#include "bench/bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/bench_device.h"
#include "bench/bench_ops.h"
#include "bench/bench_scale.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/wire/icrc.h"

#define SMALL_BYTES  64u
#define ATOMIC_BYTES 8u
#define LARGE_BYTES  (1u << 20)
#define SMALL_DEPTH  128u /* outstanding messages */
#define LARGE_DEPTH  1u   /* more would measure the size of the caches */
#define TRIES        9u /* rounds over all operations, so that disturbances hit all of them alike */
#define COPY_BYTES   4096u
#define COPY_ROUNDS  100000u
#define LARGE_ROUNDS 1000u

/* The operations.  In JSON the name of a result is @key with a unit. */
static const struct {
    const char *text, *key;
    struct bench_op op;
} ops[] = {
    {"RC SEND, 64 bytes", "send_64", {QPT_RC, WR_SEND, SMALL_BYTES, SMALL_DEPTH, false}},
    {"  events and frames recorded",
     "send_64_recorded",
     {QPT_RC, WR_SEND, SMALL_BYTES, SMALL_DEPTH, true}},
    {"RC RDMA WRITE, 64 bytes",
     "write_64",
     {QPT_RC, WR_RDMA_WRITE, SMALL_BYTES, SMALL_DEPTH, false}},
    {"RC RDMA READ, 64 bytes", "read_64", {QPT_RC, WR_RDMA_READ, SMALL_BYTES, SMALL_DEPTH, false}},
    {"RC fetch and add",
     "fetch_add",
     {QPT_RC, WR_ATOMIC_FETCH_AND_ADD, ATOMIC_BYTES, SMALL_DEPTH, false}},
    {"UC SEND, 64 bytes", "uc_send_64", {QPT_UC, WR_SEND, SMALL_BYTES, SMALL_DEPTH, false}},
    {"UD SEND, 64 bytes", "ud_send_64", {QPT_UD, WR_SEND, SMALL_BYTES, SMALL_DEPTH, false}},
    {"RC SEND, 1 MiB, MTU 4096", "send_1m", {QPT_RC, WR_SEND, LARGE_BYTES, LARGE_DEPTH, false}},
    {"RC RDMA WRITE, 1 MiB, MTU 4096",
     "write_1m",
     {QPT_RC, WR_RDMA_WRITE, LARGE_BYTES, LARGE_DEPTH, false}},
    {"RC RDMA READ, 1 MiB, MTU 4096",
     "read_1m",
     {QPT_RC, WR_RDMA_READ, LARGE_BYTES, LARGE_DEPTH, false}},
};

/* Indexes into ops[]. */
#define PLAIN    0u
#define RECORDED 1u

double bench_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double copy_gb_s(void)
{
    static uint8_t from[COPY_BYTES], to[COPY_BYTES];
    /* The call through a volatile pointer keeps the compiler from merging or removing copies. */
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    const double start = bench_now_s();

    for (uint32_t i = 0; i < COPY_ROUNDS; i++) {
        from[i % COPY_BYTES]++;
        copy(to, from, COPY_BYTES);
    }
    return (double)COPY_BYTES * COPY_ROUNDS / (bench_now_s() - start) / 1e9;
}

/* Measures the copy rate of a large message that is copied twice. */
static double copy_large_gb_s(void)
{
    static uint8_t from[LARGE_BYTES], to[LARGE_BYTES], frame[COPY_BYTES];
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    double start;

    memset(from, 1, sizeof(from)); /* a page exists only after it was written */
    memset(to, 1, sizeof(to));
    start = bench_now_s();
    for (uint32_t i = 0; i < LARGE_ROUNDS; i++) {
        for (size_t at = 0; at < LARGE_BYTES; at += COPY_BYTES) {
            copy(frame, from + at, COPY_BYTES);
            copy(to + at, frame, COPY_BYTES);
        }
    }
    return 2.0 * LARGE_BYTES * LARGE_ROUNDS / (bench_now_s() - start) / 1e9;
}

static double crc_gb_s(uint32_t *sink)
{
    static uint8_t packet[COPY_BYTES] = {0x45};
    const double start = bench_now_s();

    for (uint32_t i = 0; i < COPY_ROUNDS; i++) {
        packet[100 + i % 1000]++;
        *sink ^= icrc_compute(packet, COPY_BYTES);
    }
    return (double)COPY_BYTES * COPY_ROUNDS / (bench_now_s() - start) / 1e9;
}

/* The measured labs: from the smallest to the largest; then many queue pairs on one host, all
 * active, few active, and active one after the other.
 */
static const struct bench_scale scales[] = {
    {2, 1, 1, false},       {64, 1, 1, false},     {512, 1, 1, false},      {4096, 1, 1, false},
    {2, 1024, 1024, false}, {2, 10000, 16, false}, {2, 10000, 10000, true},
};

struct bench_results {
    struct bench_figure op[ARRAY_LEN(ops)];
    struct bench_scaled scaled[ARRAY_LEN(scales)];
    double copy, copy_large, crc; /* GB/s */
};

static double per_s(uint64_t n, const struct bench_figure *f)
{
    return (double)n / f->seconds;
}

/* GB/s of a large message if only two copies and two CRCs of each byte take time. */
static double bound(const struct bench_results *r)
{
    return 1 / (2 / r->copy_large + 2 / r->crc);
}

static bool is_large(size_t op)
{
    return ops[op].op.bytes == LARGE_BYTES;
}

static double large_gb_s(const struct bench_results *r, size_t op)
{
    return per_s(r->op[op].messages * LARGE_BYTES, &r->op[op]) / 1e9;
}

static void print_json(const struct bench_results *r)
{
    putchar('{');
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        if (is_large(i))
            printf("\"%s_gbytes_per_s\":%.3f,", ops[i].key, large_gb_s(r, i));
        else
            printf("\"%s_messages_per_s\":%.0f,", ops[i].key, per_s(r->op[i].messages, &r->op[i]));
    }
    printf("\"bound_gbytes_per_s\":%.3f,\"ticks_per_s\":%.0f,"
           "\"memcpy_gbytes_per_s\":%.1f,\"memcpy_1m_gbytes_per_s\":%.1f,"
           "\"crc32_gbytes_per_s\":%.1f,\"scale\":[",
           bound(r), per_s(r->op[PLAIN].ticks, &r->op[PLAIN]), r->copy, r->copy_large, r->crc);
    for (size_t i = 0; i < ARRAY_LEN(scales); i++)
        printf("%s{\"hosts\":%u,\"qps_per_host\":%u,\"active_qps\":%u,\"build_s\":%.6f,"
               "\"bytes_per_host\":%.0f,\"connect_qp_s\":%.9f,\"messages_per_s\":%.0f}",
               i ? "," : "", scales[i].hosts, scales[i].qps, scales[i].active, r->scaled[i].build_s,
               r->scaled[i].host_bytes, r->scaled[i].connect_s, 1 / r->scaled[i].message_s);
    printf("]}\n");
}

static void print_scales(const struct bench_scaled *scaled)
{
    printf("\n%8s %9s %12s %12s %12s %12s %12s\n", "hosts", "QPs each", "active", "to build",
           "a host takes", "a QP more", "a message");
    for (size_t i = 0; i < ARRAY_LEN(scales); i++) {
        const struct bench_scaled *s = &scaled[i];
        char active[24];
        struct text t = text_on(active, sizeof(active));

        text_addf(&t, "%u%s", scales[i].active, scales[i].in_turn ? " in turn" : "");
        printf("%8u %9u %12s %9.0f ms %8.0f KiB %9.1f us %9.0f ns\n", scales[i].hosts,
               scales[i].qps, active, s->build_s * 1e3, s->host_bytes / 1024, s->connect_s * 1e6,
               s->message_s * 1e9);
    }
}

static void print_op(const struct bench_results *r, size_t op)
{
    const double plain = per_s(r->op[PLAIN].messages, &r->op[PLAIN]);
    const double mine = per_s(r->op[op].messages, &r->op[op]);

    if (is_large(op))
        printf("%-30s %10.2f GB/s         (%.0f %% of the bound)\n", ops[op].text,
               large_gb_s(r, op), 100 * large_gb_s(r, op) / bound(r));
    else if (op == PLAIN)
        printf("%-30s %10.0f messages/s   (%.0f ns each)\n", ops[op].text, mine, 1e9 / mine);
    else if (op == RECORDED)
        printf("%-30s %10.0f messages/s   (recording costs %.0f ns each)\n", ops[op].text, mine,
               1e9 / mine - 1e9 / plain);
    else
        printf("%-30s %10.0f messages/s   (%.2f of SEND)\n", ops[op].text, mine, mine / plain);
}

static void print_text(const struct bench_results *r)
{
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        print_op(r, i);
    printf("%-30s %10.0f /s\n", "ticks (64-byte SENDs)", per_s(r->op[PLAIN].ticks, &r->op[PLAIN]));
    printf("%-30s %10.1f GB/s\n", "memcpy, 4 KiB", r->copy);
    printf("%-30s %10.1f GB/s\n", "memcpy, 1 MiB through a frame", r->copy_large);
    printf("%-30s %10.1f GB/s\n", "CRC-32 (ICRC), 4 KiB", r->crc);
    printf("%-30s %10.2f GB/s         (1 / (2 / memcpy + 2 / CRC-32))\n", "the bound", bound(r));
    print_scales(r->scaled);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Keeps the best try of each result, also of those that the bound is computed from; otherwise the
 * bound would be too low.
 */
static enum rdl_status measure(struct bench_results *r, uint32_t *sink)
{
    enum rdl_status st = RDL_OK;

    for (unsigned try = 0; try < TRIES; try++) {
        for (size_t i = 0; i < ARRAY_LEN(ops) && st == RDL_OK; i++)
            st = bench_op(&ops[i].op, BENCH_CABLE, bench_now_s, &r->op[i]);
        r->copy = larger(r->copy, copy_gb_s());
        r->copy_large = larger(r->copy_large, copy_large_gb_s());
        r->crc = larger(r->crc, crc_gb_s(sink));
    }
    for (size_t i = 0; i < ARRAY_LEN(scales) && st == RDL_OK; i++)
        st = bench_scale(&scales[i], bench_now_s, &r->scaled[i]);
    return st;
}

int bench_lab(bool json)
{
    struct bench_results r = {0};
    enum rdl_status st;
    uint32_t sink = 0;

    st = measure(&r, &sink);
    if (st != RDL_OK) {
        fprintf(stderr, "rdmalab bench: %s\n", rdl_status_str(st));
        return 1;
    }
    if (sink == 1) /* keeps the compiler from removing the checksums */
        fputc(' ', stderr);
    if (json)
        print_json(&r);
    else
        print_text(&r);
    return 0;
}
