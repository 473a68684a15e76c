/* SPDX-License-Identifier: MIT */
/* A round sets up its connections, passes a message over each, and tears them down.  All of them
 * exist from the last REQ to the first DREQ.  Nothing is kept from one connection to the next but
 * the memory of messages and the listener, so that the cost of a connection must not depend on
 * their number.
 */
#include "bench/bench_connect.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/bench_connection.h"
#include "emu/base/assert.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "testbed/try.h"

#define MIN_SECONDS 0.2 /* of each try */
#define TRIES       3u
#define TRIED_MAX   1000u /* connections of a round that is tried more than once */
#define BACKLOG     1024u /* requests that wait at a listener [Linux, net.rdma_ucm.max_backlog] */

/* The kinds of rounds: the connections of one, and whether the lab records events and frames. */
static const struct kind {
    uint32_t n;
    bool record;
} kinds[] = {{1, false}, {1, true}, {100, false}, {1000, false}, {1000, true}, {10000, false}};

/* Processor times in seconds, per connection. */
struct connect_cost {
    double set_up_s, message_s, tear_down_s;
    double bytes; /* memory of the lab per connection that exists, of both hosts */
};

/* Returns true if connect_cost.bytes is a figure for connections of @k: the memory of one alone is
 * that of the first pages of tables, and a lab that records has its record.
 */
static bool has_bytes(const struct kind *k)
{
    return k->n > 1 && !k->record;
}

static double sum(const struct connect_cost *m)
{
    return m->set_up_s + m->message_s + m->tear_down_s;
}

/* A listener's backlog bounds the number of requests that may wait at the same time. */
static enum rdl_status set_up(struct connection_lab *l, struct bench_connection *all, uint32_t n)
{
    for (uint32_t from = 0; from < n; from += BACKLOG) {
        const uint32_t to = n - from < BACKLOG ? n : from + BACKLOG;

        for (uint32_t i = from; i < to; i++)
            TRY(connection_dial(l, &all[i], i));
        for (uint32_t i = from; i < to; i++)
            TRY(connection_accept(l, all, n));
        for (uint32_t i = from; i < to; i++)
            TRY(connection_finish(l, &all[i]));
        for (uint32_t i = from; i < to; i++)
            TRY(connection_await(l, &all[i]));
    }
    return RDL_OK;
}

/* Adds the times of a round to those in *@total. */
static enum rdl_status round_of(struct connection_lab *l, struct bench_connection *all, uint32_t n,
                                double (*now_s)(void), struct connect_cost *total)
{
    const double start = now_s();
    const size_t before = rdl_used_bytes(l->lab);
    double then, now;

    TRY(set_up(l, all, n));
    then = now_s();
    total->set_up_s += then - start;
    total->bytes = (double)(rdl_used_bytes(l->lab) - before) / n;
    for (uint32_t i = 0; i < n; i++)
        TRY(connection_message(l, &all[i]));
    now = now_s();
    total->message_s += now - then;
    for (uint32_t i = 0; i < n; i++)
        TRY(connection_end(l, &all[i]));
    total->tear_down_s += now_s() - now;
    return RDL_OK;
}

/* Runs rounds before the measurement: tables grow, pages are written for the first time, and the
 * recorder grows until it drops old events.
 */
static enum rdl_status warm_up(struct connection_lab *l, struct bench_connection *all,
                               const struct kind *k, double (*now_s)(void), double *ret_bytes)
{
    struct connect_cost ignored = {0};

    TRY(round_of(l, all, k->n, now_s, &ignored));
    *ret_bytes = ignored.bytes;
    while (k->record && rdl_record_forgotten(l->lab) == 0)
        TRY(round_of(l, all, k->n, now_s, &ignored));
    return RDL_OK;
}

/* Measures rounds until enough time has passed.  A large round is measured without a warm-up. */
static enum rdl_status measure_rounds(struct connection_lab *l, struct bench_connection *all,
                                      const struct kind *k, double (*now_s)(void),
                                      struct connect_cost *ret)
{
    struct connect_cost total = {0};
    double n = 0, bytes = 0;

    if (k->n <= TRIED_MAX)
        TRY(warm_up(l, all, k, now_s, &bytes));
    do {
        TRY(round_of(l, all, k->n, now_s, &total));
        n += k->n;
    } while (sum(&total) < MIN_SECONDS);
    *ret = (struct connect_cost){.set_up_s = total.set_up_s / n,
                                 .message_s = total.message_s / n,
                                 .tear_down_s = total.tear_down_s / n,
                                 .bytes = k->n <= TRIED_MAX ? bytes : total.bytes};
    return RDL_OK;
}

static enum rdl_status measure_once(const struct kind *k, double (*now_s)(void),
                                    struct connect_cost *ret)
{
    struct bench_connection *all = calloc(k->n, sizeof(*all));
    struct connection_lab l = {.lab = NULL};
    enum rdl_status st = all ? connection_lab_init(&l, k->n, k->record) : RDL_ERR_NOMEM;

    if (st == RDL_OK)
        st = measure_rounds(&l, all, k, now_s, ret);
    connection_lab_done(&l);
    free(all);
    return st;
}

/* Keeps the best of several tries. */
static enum rdl_status measure(const struct kind *k, double (*now_s)(void),
                               struct connect_cost *ret)
{
    const unsigned tries = k->n <= TRIED_MAX ? TRIES : 1;

    for (unsigned i = 0; i < tries; i++) {
        struct connect_cost m;

        TRY(measure_once(k, now_s, &m));
        if (i == 0 || sum(&m) < sum(ret))
            *ret = m;
    }
    return RDL_OK;
}

static void print_text(const struct connect_cost *all)
{
    printf("%-22s %12s %10s %10s %10s %10s %10s\n", "connections that live", "", "per second",
           "set up", "a message", "tear down", "memory");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct connect_cost *m = &all[i];
        char memory[24] = "-";

        if (has_bytes(&kinds[i]))
            snprintf(memory, sizeof(memory), "%.1f KiB", m->bytes / 1024);
        printf("%22u %12s %10.0f %7.1f us %7.1f us %7.1f us %10s\n", kinds[i].n,
               kinds[i].record ? "recorded" : "", 1 / sum(m), 1e6 * m->set_up_s, 1e6 * m->message_s,
               1e6 * m->tear_down_s, memory);
    }
}

static void print_json(const struct connect_cost *all)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct connect_cost *m = &all[i];

        printf("%s{\"connections\":%u,\"recorded\":%s,\"connections_per_s\":%.0f,"
               "\"set_up_s\":%.9f,\"message_s\":%.9f,\"tear_down_s\":%.9f",
               i ? ",\n " : "[", kinds[i].n, kinds[i].record ? "true" : "false", 1 / sum(m),
               m->set_up_s, m->message_s, m->tear_down_s);
        if (has_bytes(&kinds[i]))
            printf(",\"bytes_per_connection\":%.0f", m->bytes);
        putchar('}');
    }
    puts("]");
}

int bench_connect(bool json, double (*now_s)(void))
{
    struct connect_cost all[ARRAY_LEN(kinds)];

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const enum rdl_status st = measure(&kinds[i], now_s, &all[i]);

        if (st != RDL_OK) {
            fprintf(stderr, "rdmalab bench connect: %u connections: %s\n", kinds[i].n,
                    rdl_status_str(st));
            return 1;
        }
    }
    if (json)
        print_json(all);
    else
        print_text(all);
    return 0;
}
