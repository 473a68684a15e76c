/* SPDX-License-Identifier: MIT */
#include "cli/app/bench_time.h"

#include <stdio.h>
#include <time.h>

#include "cli/exec/exec.h"
#include "cli/exec/travel.h"
#include "cli/session/position.h"
#include "emu/base/prng.h"
#include "rdmalab/trace.h"

#define PLACES 100u
#define TRIES  3u

/* A million ticks: six per WRITE. */
static const char lines[] =
    "host h1 h2; link h1 h2\n"
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rw as mr; create_cq as cq\n"
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
    "connect h1.qp h2.qp\n"
    "repeat 166667 { post_send h1.qp op=rdma_write sge=mr[0:64] remote=h2.mr[0] signaled; run\n"
    "  poll_cq h1.cq }\n";

struct time_results {
    uint64_t ticks;
    double plain_s, kept_s;   /* time of the session without and with snapshots */
    double places_s, worst_s; /* time to go to PLACES places, and the longest of them */
    double event_s, value_s;  /* time to go back to an event and to a value, at its beginning */
    double fork_s, future_s;  /* time to begin a future in the middle, and to come back */
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool carry_out(struct session *s, const char *text)
{
    const struct source src = source_of(NULL, text);

    if (exec_lines(s, &src, false))
        return true;
    session_complain(s, stderr);
    return false;
}

/* Executes @text and returns the time it takes in seconds; negative: it failed. */
static double time_of(struct session *s, const char *text)
{
    const double start = now_s();

    return carry_out(s, text) ? now_s() - start : -1;
}

static struct session *open_session(FILE *nowhere, size_t history_bytes)
{
    const struct session_config config = {
        .out = nowhere, .err = stderr, .seed = 1, .history_bytes = history_bytes};
    struct session *s = NULL;
    const enum rdl_status st = session_new(&config, &s);

    if (st != RDL_OK)
        session_no_lab(stderr, &config, st);
    return s;
}

/* Measures the whole session; the best of several tries. */
static bool measure_session(FILE *nowhere, size_t history_bytes, double *ret)
{
    for (unsigned try = 0; try < TRIES; try++) {
        struct session *s = open_session(nowhere, history_bytes);
        const double took = s ? time_of(s, lines) : -1;

        session_free(s);
        if (took < 0)
            return false;
        *ret = *ret > 0 && *ret < took ? *ret : took;
    }
    return true;
}

static bool measure_places(struct session *s, struct time_results *r)
{
    static const struct span nowhere = {0, 0};
    struct prng rng = prng_stream(1, 1);

    for (unsigned i = 0; i < PLACES; i++) {
        const struct place to = position_of_tick(s, prng_below(&rng, r->ticks + 1));
        const double start = now_s();
        double took;

        if (!travel_to(s, &to, nowhere)) {
            session_complain(s, stderr);
            return false;
        }
        took = now_s() - start;
        r->places_s += took;
        r->worst_s = took > r->worst_s ? took : r->worst_s;
    }
    return carry_out(s, "goto end");
}

static bool measure_all(FILE *nowhere, struct time_results *r)
{
    struct session *s;
    bool ok;

    if (!measure_session(nowhere, 0, &r->plain_s) ||
        !measure_session(nowhere, SNAPSHOTS_BYTES_MAX, &r->kept_s))
        return false;
    s = open_session(nowhere, SNAPSHOTS_BYTES_MAX);
    ok = s && carry_out(s, lines);
    if (ok) {
        r->ticks = rdl_tick(s->lab);
        ok = measure_places(s, r);
        r->event_s = ok ? time_of(s, "back to qp_state(to==RTS)") : -1;
        ok = r->event_s >= 0 && carry_out(s, "goto end");
        r->value_s = ok ? time_of(s, "back to h1.qp.state == RTS") : -1;
        ok = r->value_s >= 0 && carry_out(s, "goto 50%");
        r->fork_s = ok ? time_of(s, "fork other\nwrite h1.mr[0] \"x\"") : -1;
        r->future_s = r->fork_s >= 0 ? time_of(s, "future main\ngoto end") : -1;
        ok = r->future_s >= 0;
    }
    session_free(s);
    return ok;
}

static void print_results(const struct time_results *r, bool json)
{
    const double cost = r->kept_s / r->plain_s - 1;

    if (json) {
        printf("{\"ticks\":%llu,\"session_s\":%.6f,\"with_snapshots_s\":%.6f,\"places\":%u,"
               "\"goto_mean_s\":%.6f,\"goto_worst_s\":%.6f,\"back_to_event_s\":%.6f,"
               "\"back_to_value_s\":%.6f,\"fork_s\":%.6f,\"future_s\":%.6f}\n",
               (unsigned long long)r->ticks, r->plain_s, r->kept_s, PLACES, r->places_s / PLACES,
               r->worst_s, r->event_s, r->value_s, r->fork_s, r->future_s);
        return;
    }
    printf("%-44s %10llu ticks, %.2f s\n", "a session of two hosts", (unsigned long long)r->ticks,
           r->plain_s);
    printf("%-44s %10.1f %%\n", "snapshots cost", 100 * cost);
    printf("%-44s %10.1f ms, the slowest %.1f ms\n", "goto, of 100 random places",
           1e3 * r->places_s / PLACES, 1e3 * r->worst_s);
    printf("%-44s %10.2f s\n", "back to an event at the beginning", r->event_s);
    printf("%-44s %10.2f s\n", "back to where a value began to be", r->value_s);
    printf("%-44s %10.1f ms\n", "fork in the middle", 1e3 * r->fork_s);
    printf("%-44s %10.2f s\n", "back to the other future, to its end", r->future_s);
}

int bench_time(bool json)
{
    struct time_results r = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    bool ok;

    if (!nowhere) {
        perror("/dev/null");
        return 1;
    }
    ok = measure_all(nowhere, &r);
    fclose(nowhere);
    if (ok)
        print_results(&r, json);
    return ok ? 0 : 1;
}
