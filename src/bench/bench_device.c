/* SPDX-License-Identifier: MIT */
/* One host whose queue pairs are connected with each other in pairs, each with a completion queue
 * of its own.  Each queue pair is created and connected, sends and receives one message, and is
 * destroyed.  The cost of each step must not depend on their number.
 */
#include "bench/bench_device.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "rdmalab/inspect.h"
#include "testbed/testbed.h"
#include "testbed/try.h"

#define BYTES     64u
#define DEPTH     16u                   /* entries of each queue, the default of create_qp */
#define RAM_EACH  ((uint64_t)512 << 10) /* one eighth of it is for rings and their buffers */
#define MESSAGES  2u                    /* of each queue pair, in use() */
#define RAM_BYTES ((uint64_t)64 << 20)

/* A device to measure. */
struct size {
    uint32_t n; /* number of queue pairs, even, and of completion queues */
    bool on_demand;
    uint32_t device; /* enum device_type */
};

static const struct size sizes[] = {{256, false, DEVICE_virtio},
                                    {256, false, DEVICE_pvrdma},
                                    {2048, false, DEVICE_virtio},
                                    {2048, false, DEVICE_pvrdma},
                                    {DEVICE_OBJECTS_MAX - 2, false, DEVICE_virtio},
                                    {DEVICE_OBJECTS_MAX - 2, true, DEVICE_virtio},
                                    {DEVICE_OBJECTS_MAX - 2, false, DEVICE_pvrdma}};

/* Processor times in seconds: @boot_s in all, the others per queue pair with its completion queue.
 */
struct measured {
    double boot_s, create_s, connect_s, message_s, destroy_s;
    double idle_bytes;   /* memory of the lab per created pair, in device and driver */
    double device_bytes; /* memory of the lab before the first pair, in device and driver */
    uint64_t n_queues;   /* virtqueues of the device; 0: it has none */
    double guest_bytes;  /* memory that driver and device share, per pair */
    double accesses;     /* reads and writes of registers and doorbells per message */
};

static const struct testbed_config config = {.mr_bytes = (uint64_t)2 * DEPTH * BYTES,
                                             .max_wr = DEPTH,
                                             .path_mtu = MTU_1024,
                                             .timeout = 14,
                                             .retry_cnt = 7,
                                             .rnr_retry = 7,
                                             .min_rnr_timer = 12};

static enum rdl_status boot(struct rdl_lab *lab, const struct size *size,
                            struct testbed_side *sides)
{
    const struct rdl_host_config host = {
        .name = "h1",
        .ram_bytes = RAM_BYTES + size->n * RAM_EACH,
        .max_cq = size->n,
        .max_qp = size->n + 1,
        .on_demand = size->on_demand,
        .device = size->device,
    };
    rdl_host made;

    TRY(rdl_host_add(lab, &host, &made));
    for (uint32_t i = 0; i < size->n; i++)
        sides[i].host = made;
    return RDL_OK;
}

static enum rdl_status create(struct rdl_lab *lab, const struct size *size,
                              struct testbed_side *sides)
{
    for (uint32_t i = 0; i < size->n; i++) {
        if (i > 0)
            sides[i].pd = sides[0].pd, sides[i].mr = sides[0].mr, sides[i].mem = sides[0].mem;
        TRY(testbed_side_qp(lab, &sides[i], &config, i == 0));
    }
    return RDL_OK;
}

static enum rdl_status connect(struct rdl_lab *lab, const struct size *size,
                               struct testbed_side *sides)
{
    for (uint32_t i = 0; i < size->n; i++)
        TRY(testbed_side_connect(lab, &sides[i], &sides[i ^ 1u], &config, 0));
    return RDL_OK;
}

static enum rdl_status poll(struct rdl_lab *lab, const struct testbed_side *side, size_t expected)
{
    struct rdl_wc wc[4];
    size_t n;

    TRY(rdl_poll_cq(lab, side->cq, ARRAY_LEN(wc), wc, &n));
    for (size_t i = 0; i < n; i++) {
        if (wc[i].status != WCS_SUCCESS)
            return RDL_ERR_DEVICE;
    }
    return n == expected ? RDL_OK : RDL_ERR_IDLE;
}

static enum rdl_status use(struct rdl_lab *lab, const struct size *size, struct testbed_side *sides)
{
    const struct rdl_limits none = {0};

    for (uint32_t k = 0; k < MESSAGES; k++) {
        for (uint32_t i = 0; i < size->n; i++)
            TRY(testbed_side_recv(lab, &sides[i], 1, 0, BYTES));
        for (uint32_t i = 0; i < size->n; i++)
            TRY(testbed_side_send(lab, &sides[i], 2, BYTES, BYTES, SF_SIGNALED));
        TRY(rdl_run(lab, RDL_NEVER, none));
        for (uint32_t i = 0; i < size->n; i++)
            TRY(poll(lab, &sides[i], 2));
    }
    return RDL_OK;
}

static enum rdl_status wait(struct rdl_lab *lab, const struct testbed_side *side)
{
    const struct rdl_limits none = {0};
    struct rdl_response rsp;

    return rdl_wait(lab, side->host, none, &rsp);
}

static enum rdl_status destroy(struct rdl_lab *lab, const struct size *size,
                               struct testbed_side *sides)
{
    for (uint32_t i = 0; i < size->n; i++) {
        TRY(rdl_destroy_qp(lab, sides[i].qp));
        TRY(wait(lab, &sides[i]));
        TRY(rdl_destroy_cq(lab, sides[i].cq));
        TRY(wait(lab, &sides[i]));
    }
    return RDL_OK;
}

/* A step, and the measurement of its processor time per queue pair. */
typedef enum rdl_status step(struct rdl_lab *lab, const struct size *size,
                             struct testbed_side *sides);

static enum rdl_status timed(step *run, struct rdl_lab *lab, const struct size *size,
                             struct testbed_side *sides, double (*now_s)(void), double *ret)
{
    const double start = now_s();

    TRY(run(lab, size, sides));
    *ret = (now_s() - start) / size->n;
    return RDL_OK;
}

static enum rdl_status number(const struct rdl_lab *lab, const char *path, uint64_t *ret)
{
    struct rdl_value v;
    size_t at;

    TRY(rdl_inspect(lab, path, &v, &at));
    *ret = v.number;
    return RDL_OK;
}

/* The accesses to the device so far. */
static enum rdl_status accesses(const struct rdl_lab *lab, uint64_t *ret)
{
    uint64_t reads, writes;

    TRY(number(lab, "h1.driver.reads", &reads));
    TRY(number(lab, "h1.driver.writes", &writes));
    *ret = reads + writes;
    return RDL_OK;
}

static enum rdl_status measure_lab(struct rdl_lab *lab, const struct size *size,
                                   struct testbed_side *sides, double (*now_s)(void),
                                   struct measured *ret)
{
    const size_t empty = rdl_used_bytes(lab);
    uint64_t shared, shared_after, before_use, after_use;
    size_t before;

    TRY(timed(boot, lab, size, sides, now_s, &ret->boot_s));
    ret->boot_s *= size->n;
    ret->device_bytes = (double)(rdl_used_bytes(lab) - empty);
    if (size->device == DEVICE_virtio)
        TRY(number(lab, "h1.device.num_queues", &ret->n_queues));
    TRY(testbed_side_memory(lab, &sides[0], &config));
    before = rdl_used_bytes(lab);
    TRY(number(lab, "h1.driver.dma_bytes", &shared));
    TRY(timed(create, lab, size, sides, now_s, &ret->create_s));
    TRY(number(lab, "h1.driver.dma_bytes", &shared_after));
    ret->guest_bytes = (double)(shared_after - shared) / size->n;
    ret->idle_bytes = (double)(rdl_used_bytes(lab) - before) / size->n;
    TRY(timed(connect, lab, size, sides, now_s, &ret->connect_s));
    TRY(accesses(lab, &before_use));
    TRY(timed(use, lab, size, sides, now_s, &ret->message_s));
    TRY(accesses(lab, &after_use));
    ret->message_s /= MESSAGES;
    ret->accesses = (double)(after_use - before_use) / size->n / MESSAGES;
    return timed(destroy, lab, size, sides, now_s, &ret->destroy_s);
}

static enum rdl_status measure(const struct size *size, double (*now_s)(void), struct measured *ret)
{
    const struct rdl_lab_config lab_config = {.seed = 1};
    struct testbed_side *sides = calloc(size->n, sizeof(*sides));
    struct rdl_lab *lab = NULL;
    enum rdl_status st = sides ? rdl_lab_new(&lab_config, &lab) : RDL_ERR_NOMEM;

    if (st == RDL_OK)
        st = measure_lab(lab, size, sides, now_s, ret);
    rdl_lab_free(lab);
    free(sides);
    return st;
}

static void print(const struct size *size, const struct measured *m)
{
    printf("%s: %u queue pairs, %u completion queues", rdl_device_name(size->device), size->n,
           size->n);
    if (m->n_queues > 0)
        printf(", %llu virtqueues", (unsigned long long)m->n_queues);
    puts(size->on_demand ? ", on demand" : "");
    printf("  %-42s %10.1f ms, %.1f MB\n", "boot", 1e3 * m->boot_s, m->device_bytes / 1e6);
    printf("  %-42s %10.1f us, %.0f bytes idle, %.0f of the guest\n",
           "create a pair and its completion queue", 1e6 * m->create_s, m->idle_bytes,
           m->guest_bytes);
    printf("  %-42s %10.1f us\n", "connect it", 1e6 * m->connect_s);
    printf("  %-42s %10.1f us, %.0f messages/s, %.1f accesses to the device each\n",
           "send and receive 64 bytes", 1e6 * m->message_s, 1 / m->message_s, m->accesses);
    printf("  %-42s %10.1f us\n", "destroy it", 1e6 * m->destroy_s);
}

static void print_json(const struct size *size, const struct measured *m, bool first)
{
    printf("%s{\"device\":\"%s\",\"qps\":%u,\"cqs\":%u,\"virtqueues\":%llu,\"on_demand\":%s,"
           "\"boot_s\":%.6f,\"device_bytes\":%.0f,\"create_s\":%.9f,\"idle_bytes\":%.0f,"
           "\"guest_bytes\":%.0f,\"connect_s\":%.9f,\"message_s\":%.9f,\"accesses\":%.3f,"
           "\"destroy_s\":%.9f}",
           first ? "[" : ",\n ", rdl_device_name(size->device), size->n, size->n,
           (unsigned long long)m->n_queues, size->on_demand ? "true" : "false", m->boot_s,
           m->device_bytes, m->create_s, m->idle_bytes, m->guest_bytes, m->connect_s, m->message_s,
           m->accesses, m->destroy_s);
}

int bench_device(bool json, double (*now_s)(void))
{
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct measured m = {0};
        const enum rdl_status st = measure(&sizes[i], now_s, &m);

        if (st != RDL_OK) {
            fprintf(stderr, "rdmalab bench device: %s\n", rdl_status_str(st));
            return 1;
        }
        if (json)
            print_json(&sizes[i], &m, i == 0);
        else
            print(&sizes[i], &m);
    }
    if (json)
        puts("]");
    return 0;
}
