/* SPDX-License-Identifier: MIT */
/* Two guests of one machine: each operation by frames through the embedded switch, and by its
 * shortcut, which copies a message once from memory to memory.  memcpy() of as many bytes, between
 * two buffers as large as those of the guests, is measured in the same run: no message can be
 * faster.
 */
#include "bench/bench_shortcut.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench_ops.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/status.h"

#define LARGE_BYTES (1u << 20)
#define SMALL_BYTES 64u
#define SMALL_DEPTH 128u
#define TRIES       9u
#define ROUNDS      400u /* copies of LARGE_BYTES in each try */

static const struct {
    const char *text, *key;
    struct bench_op op;
} ops[] = {
    {"RC SEND, 64 bytes", "send_64", {QPT_RC, WR_SEND, SMALL_BYTES, SMALL_DEPTH, false}},
    {"RC WRITE, 64 bytes", "write_64", {QPT_RC, WR_RDMA_WRITE, SMALL_BYTES, SMALL_DEPTH, false}},
    {"RC fetch and add", "fetch_add", {QPT_RC, WR_ATOMIC_FETCH_AND_ADD, 8, SMALL_DEPTH, false}},
    {"RC SEND, 1 MiB", "send_1m", {QPT_RC, WR_SEND, LARGE_BYTES, 1, false}},
    {"RC WRITE, 1 MiB", "write_1m", {QPT_RC, WR_RDMA_WRITE, LARGE_BYTES, 1, false}},
    {"RC READ, 1 MiB", "read_1m", {QPT_RC, WR_RDMA_READ, LARGE_BYTES, 1, false}},
    {"UC WRITE, 1 MiB", "uc_write_1m", {QPT_UC, WR_RDMA_WRITE, LARGE_BYTES, 1, false}},
};

struct results {
    struct bench_figure frames[ARRAY_LEN(ops)], copied[ARRAY_LEN(ops)];
    double memcpy_s; /* of LARGE_BYTES */
};

static double message_s(const struct bench_figure *f)
{
    return f->seconds / (double)f->messages;
}

/* Measures a plain copy of LARGE_BYTES. */
static void measure_memcpy(double (*now_s)(void), double *best)
{
    static uint8_t from[LARGE_BYTES], to[LARGE_BYTES];
    /* The call through a volatile pointer keeps the compiler from merging or removing copies. */
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    double start, each;

    memset(from, 1, sizeof(from)); /* a page exists only after it was written */
    memset(to, 1, sizeof(to));
    start = now_s();
    for (uint32_t i = 0; i < ROUNDS; i++)
        copy(to, from, LARGE_BYTES);
    each = (now_s() - start) / ROUNDS;
    if (*best == 0 || each < *best)
        *best = each;
}

static enum rdl_status measure(struct results *r, double (*now_s)(void))
{
    enum rdl_status st = RDL_OK;

    for (unsigned try = 0; try < TRIES; try++) {
        measure_memcpy(now_s, &r->memcpy_s);
        for (size_t i = 0; i < ARRAY_LEN(ops) && st == RDL_OK; i++) {
            st = bench_op(&ops[i].op, BENCH_MACHINE, now_s, &r->frames[i]);
            if (st == RDL_OK)
                st = bench_op(&ops[i].op, BENCH_SHORTCUT, now_s, &r->copied[i]);
        }
    }
    return st;
}

/* The rate of memcpy() is 100. */
static double percent_of_memcpy(const struct results *r, size_t op)
{
    return 100 * r->memcpy_s / message_s(&r->copied[op]);
}

static void print_json(const struct results *r)
{
    printf("{\"memcpy_1m_ns\":%.0f", r->memcpy_s * 1e9);
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        printf(",\"%s\":{\"frames_ns\":%.0f,\"shortcut_ns\":%.0f", ops[i].key,
               message_s(&r->frames[i]) * 1e9, message_s(&r->copied[i]) * 1e9);
        if (ops[i].op.bytes == LARGE_BYTES)
            printf(",\"percent_of_memcpy\":%.0f", percent_of_memcpy(r, i));
        putchar('}');
    }
    printf("}\n");
}

static void print_text(const struct results *r)
{
    printf("%-20s %14s %14s\n", "a message takes", "by frames", "by shortcut");
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        const double copied = message_s(&r->copied[i]);

        printf("%-20s %11.0f ns %11.0f ns", ops[i].text, message_s(&r->frames[i]) * 1e9,
               copied * 1e9);
        if (ops[i].op.bytes == LARGE_BYTES)
            printf("   %5.2f GB/s, %.0f %% of memcpy", LARGE_BYTES / copied / 1e9,
                   percent_of_memcpy(r, i));
        putchar('\n');
    }
    printf("%-20s %14s %11.0f ns   %5.2f GB/s\n", "memcpy, 1 MiB", "", r->memcpy_s * 1e9,
           LARGE_BYTES / r->memcpy_s / 1e9);
}

int bench_shortcut(bool json, double (*now_s)(void))
{
    struct results r = {0};
    const enum rdl_status st = measure(&r, now_s);

    if (st != RDL_OK) {
        fprintf(stderr, "rdmalab bench: %s\n", rdl_status_str(st));
        return 1;
    }
    if (json)
        print_json(&r);
    else
        print_text(&r);
    return 0;
}
