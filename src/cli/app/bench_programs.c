/* SPDX-License-Identifier: MIT */
/* The programs measure themselves, and print a table.  Its last row that begins with a number has
 * the figure, in a column that rows[] names.
 */
#include "cli/app/bench_programs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_tcp.h"
#include "emu/base/assert.h"
#include "process/exit_status.h"
#include "process/own_path.h"

#define TRIES      5u
#define LINE_BYTES 512u
#define NOTHING    (-1.0) /* there is no figure */

/* The ways that are compared. */
enum { ON_LAB, UCX_TCP, LOOPBACK, N_WAYS };

static const char *const ways[N_WAYS] = {"on the lab", "UCX over TCP", "TCP loopback"};
static const char *const way_keys[N_WAYS] = {"lab", "ucx_tcp", "tcp_loopback"};

/* The kinds of figures: a time for one way, messages a second, bytes a second. */
enum measure { ONE_WAY, MESSAGES, BYTES };

static const char *const units[] = {[ONE_WAY] = "us", [MESSAGES] = "k/s", [BYTES] = "MB/s"};

/* A figure: how it is measured.  Both programs of a pair get the same options. */
static const struct row {
    const char *text, *key;
    enum measure measure;
    const char *perftest; /* the program for the lab, with its options */
    unsigned column;
    double scale; /* from its unit to that of @measure */
    const char *ucx;
    unsigned ucx_column;
    double ucx_scale;
    uint32_t bytes, n; /* of TCP */
} rows[] = {
    {"RDMA WRITE, 64 bytes, one way", "write_64_us", ONE_WAY, "ib_write_lat -s 64 -n 20000", 4, 1,
     "tag_lat -s 64 -n 20000", 1, 1, 64, 20000},
    {"SEND, 64 bytes", "send_64_k_per_s", MESSAGES, "ib_send_bw -s 64 -n 50000", 4, 1000,
     "tag_bw -s 64 -n 200000", 7, 1e-3, 64, 200000},
    {"RDMA WRITE, 64 KiB, path MTU 4096", "write_64k_mb_per_s", BYTES,
     "ib_write_bw -s 65536 -m 4096 -n 4000", 3, 1, "tag_bw -s 65536 -n 4000", 5, 1, 65536, 4000},
};

/* --- Programs --------------------------------------------------------------------------------- */

/* Returns the field with index @column of @line; NOTHING if there are not so many. */
static double field(const char *line, unsigned column)
{
    char *end;
    double value = NOTHING;

    for (unsigned i = 0; i <= column; i++) {
        value = strtod(line, &end);
        if (end == line)
            return NOTHING;
        line = end;
    }
    return value;
}

/* Runs @command in a shell.  Returns the figure of its table; NOTHING: it printed none, or failed.
 */
static double read_figure(const char *command, unsigned column)
{
    FILE *out = popen(command, "r"); /* NOLINT(cert-env33-c): the command is one of ours */
    double figure = NOTHING;
    char line[LINE_BYTES];

    while (out && fgets(line, sizeof(line), out)) {
        const char *first = line + strspn(line, " ");

        if (isdigit((unsigned char)*first))
            figure = field(first, column);
    }
    return out && pclose(out) == 0 ? figure : NOTHING;
}

static double on_lab(const struct row *r)
{
    char command[LINE_BYTES];
    double figure;

    snprintf(command, sizeof(command),
             "\"$RDMALAB_BENCH\" exec --timeout 60 h1 -- %s -x 0 -p $RDMALAB_BENCH_PORT : "
             "h2 -- %s -x 0 -p $RDMALAB_BENCH_PORT localhost 2>&1",
             r->perftest, r->perftest);
    figure = read_figure(command, r->column);
    return figure < 0 ? NOTHING : figure * r->scale;
}

/* The client tries again until the server listens. */
static double over_ucx(const struct row *r)
{
    char command[LINE_BYTES];
    double figure;

    snprintf(
        command, sizeof(command),
        "export UCX_TLS=tcp UCX_LOG_LEVEL=fatal\n"
        "timeout 60 ucx_perftest -f -p $RDMALAB_BENCH_PORT >/dev/null 2>&1 & server=$!\n"
        "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2\n"
        "timeout 60 ucx_perftest localhost -f -p $RDMALAB_BENCH_PORT -t %s 2>/dev/null && break\n"
        "done; kill $server 2>/dev/null; wait $server 2>/dev/null; exit 0",
        r->ucx);
    figure = read_figure(command, r->ucx_column);
    return figure < 0 ? NOTHING : figure * r->ucx_scale;
}

static double over_tcp(const struct row *r)
{
    double s;

    if (!bench_tcp(r->bytes, r->n, r->measure != ONE_WAY, &s) || s <= 0)
        return NOTHING;
    if (r->measure == ONE_WAY)
        return s / r->n / 2 * 1e6;
    return r->measure == MESSAGES ? r->n / s / 1e3 : (double)r->bytes * r->n / s / 1e6;
}

/* --- Figures ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Returns the median; NOTHING if a figure is missing. */
static double median(double of[TRIES])
{
    qsort(of, TRIES, sizeof(*of), compare);
    return of[0] < 0 ? NOTHING : of[TRIES / 2];
}

static void print_text(double figures[][N_WAYS])
{
    printf("median of %-26u", TRIES);
    for (unsigned w = 0; w < N_WAYS; w++)
        printf(" %14s", ways[w]);
    printf("\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        printf("%-36s", rows[i].text);
        for (unsigned w = 0; w < N_WAYS; w++) {
            if (figures[i][w] < 0)
                printf(" %14s", "-");
            else
                printf(" %14.1f", figures[i][w]);
        }
        printf(" %s\n", units[rows[i].measure]);
    }
}

static void print_json(double figures[][N_WAYS])
{
    printf("{");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        printf("%s\n  \"%s\": {", i ? "," : "", rows[i].key);
        for (unsigned w = 0; w < N_WAYS; w++) {
            printf("%s\"%s\": ", w ? ", " : "", way_keys[w]);
            if (figures[i][w] < 0)
                printf("null");
            else
                printf("%.3f", figures[i][w]);
        }
        printf("}");
    }
    printf("\n}\n");
}

/* Prints an error if figures are missing.  Returns false if one of them is a figure of the lab. */
static bool complain(double figures[][N_WAYS])
{
    bool lab = true, ucx = true;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        lab = lab && figures[i][ON_LAB] >= 0;
        ucx = ucx && figures[i][UCX_TCP] >= 0;
    }
    if (!lab)
        fputs("rdmalab: perftest failed on the lab, or is not installed (package perftest)\n",
              stderr);
    if (!ucx)
        fputs("rdmalab: ucx_perftest failed, or is not installed (package ucx-utils)\n", stderr);
    return lab;
}

/* Tells the commands where this program is, and a TCP port that is probably free.  Returns false if
 * the path is not known.
 */
static bool tell_commands(void)
{
    char path[4096], port[16];

    if (!own_path(path, sizeof(path)))
        return false;
    snprintf(port, sizeof(port), "%u", 20000u + (unsigned)getpid() % 10000u);
    return setenv("RDMALAB_BENCH", path, 1) == 0 && setenv("RDMALAB_BENCH_PORT", port, 1) == 0;
}

int bench_programs(bool json)
{
    double tries[ARRAY_LEN(rows)][N_WAYS][TRIES], figures[ARRAY_LEN(rows)][N_WAYS];

    if (!tell_commands()) {
        fputs("rdmalab: /proc does not say where this program is\n", stderr);
        return EXIT_FAILED;
    }
    for (unsigned t = 0; t < TRIES; t++) {
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            tries[i][ON_LAB][t] = on_lab(&rows[i]);
            tries[i][UCX_TCP][t] = over_ucx(&rows[i]);
            tries[i][LOOPBACK][t] = over_tcp(&rows[i]);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (unsigned w = 0; w < N_WAYS; w++)
            figures[i][w] = median(tries[i][w]);
    }
    if (json)
        print_json(figures);
    else
        print_text(figures);
    return complain(figures) ? EXIT_PASSED : EXIT_FAILED;
}
