/* SPDX-License-Identifier: MIT */
/* Tests of a ladder for a part of a trace: it shows each packet that left or ended there once.
 *
 * Traces of scenarios are examined through all windows, or through many.  The expected packets are
 * computed here a second time, without the code of the ladder.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "cli/exec/exec.h"
#include "cli/session/scenario.h"
#include "emu/facts/enum/drop.h"
#include "emu/past/past.h"
#include "emu/trace/event.h"
#include "rounds.h"
#include "tree/lab_past.h"
#include "viz/ladder_model.h"

#define MARGIN 8u /* windows also begin with the last events before the first packet */

/* One frame: a packet, or a copy that the network made of it. */
struct flight {
    ev_id tx;
    bool copy;
    ev_id end, also_end; /* an rx and the drop that explains it are one end; 0: none */
    uint32_t host;       /* where it ends */
};

struct lab {
    struct session *s;
    struct scenario sc;
    struct past past;
    FILE *f;
    char *out;
    size_t out_bytes;
    struct flight *flights;
    size_t n;
    size_t first;     /* the event with which the packets begin */
    size_t forgotten; /* number of the oldest events that the ladder does not get */
};

static const struct ev *event_at(const void *ctx, size_t i)
{
    const struct lab *l = ctx;

    return past_at(&l->past, l->forgotten + i);
}

/* Returns the tx event that @e ends, or 0. */
static ev_id ended(const struct lab *l, const struct ev *e)
{
    const struct ev *tx = past_tx_of(&l->past, e);

    if (!tx || (e->kind == EV_drop && e->u.drop.reason == DROP_NOT_FOR_US))
        return 0;
    return e->kind == EV_rx || e->kind == EV_drop || e->kind == EV_lost ? tx->id : 0;
}

static void find_flights(struct lab *l)
{
    l->flights = calloc(l->past.n, sizeof(*l->flights));
    assert_non_null(l->flights);
    for (size_t i = 0; i < l->past.n; i++) {
        const struct ev *e = past_at(&l->past, i);
        const uint32_t host = past_host_of(e);
        const ev_id tx = ended(l, e);
        struct flight *newest = NULL;

        if (e->kind == EV_tx) {
            l->first = l->first ? l->first : i - MARGIN;
            l->flights[l->n++] = (struct flight){.tx = e->id};
        }
        for (size_t k = 0; k < l->n && tx; k++)
            newest = l->flights[k].tx == tx ? &l->flights[k] : newest;
        if (newest && newest->end && ev_tick(newest->end) == ev_tick(e->id) &&
            newest->host == host) {
            newest->also_end = e->id;
        } else if (newest) {
            if (newest->end) {
                newest = &l->flights[l->n++];
                *newest = (struct flight){.tx = tx, .copy = true};
            }
            newest->end = newest->also_end = e->id;
            newest->host = host;
        }
    }
}

static void lab_open(struct lab *l, const char *scenario)
{
    struct session_config config = {.seed = 1};
    const char *dir = getenv("SCENARIOS");
    char name[512];
    struct text t = text_on(name, sizeof(name));

    memset(l, 0, sizeof(*l));
    text_addf(&t, "%s/%s.json", dir ? dir : "scenarios", scenario);
    l->f = open_memstream(&l->out, &l->out_bytes);
    assert_non_null(l->f);
    config.out = config.err = l->f;
    assert_int_equal(scenario_load(&l->sc, name, stderr), EXIT_PASSED);
    assert_int_equal(session_new(&config, &l->s), RDL_OK);
    assert_true(exec_script(l->s, &l->sc.script));
    l->past = past_of_lab(l->s->lab);
    find_flights(l);
}

static void lab_close(struct lab *l)
{
    session_free(l->s);
    scenario_done(&l->sc);
    fclose(l->f);
    free(l->out);
    free(l->flights);
}

static struct ladder *draw(struct lab *l, const struct picture_options *options)
{
    const struct past past = {.at = event_at,
                              .ctx = l,
                              .n = l->past.n - l->forgotten,
                              .forgotten = l->forgotten,
                              .names = l->past.names};
    struct ladder *ladder;

    assert_int_equal(ladder_new(&past, options, &ladder), RDL_OK);
    return ladder;
}

/* Returns how often the flight is drawn, and sets how. */
static size_t drawn(const struct ladder *ladder, const struct flight *f, enum ladder_cut *ret)
{
    size_t n = 0;

    for (uint32_t i = 0; i < ladder->n_arrows; i++) {
        const struct ladder_arrow *a = &ladder->arrows[i];

        if (a->id != f->tx || a->copy != f->copy)
            continue;
        if (f->copy && (a->head == LADDER_NONE || (ladder->stops[a->head].id != f->end &&
                                                   ladder->stops[a->head].id != f->also_end)))
            continue; /* another copy */
        *ret = a->cut;
        n++;
    }
    return n;
}

/* @from and @to are the values of the options; @from_id and @to_id are the events that they mean.
 */
static void check_window(struct lab *l, ev_id from, ev_id to)
{
    const struct picture_options options = {
        .from = from, .to = to, .n_packets = LADDER_PACKETS_MAX, .all_rounds = true};
    struct ladder *ladder = draw(l, &options);
    const ev_id last = ev_id_last(to);
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct flight *f = &l->flights[i];
        const bool leaves = !f->copy && f->tx >= from && f->tx <= last;
        const bool ends = f->end && f->also_end >= from && f->end <= last;
        /* It is not known where a copy was before it ended. */
        const enum ladder_cut cut = leaves && ends ? CUT_NONE : leaves ? CUT_HEAD : CUT_TAIL;
        enum ladder_cut is = CUT_NONE;
        const size_t times = drawn(ladder, f, &is);

        n += leaves || ends;
        if (times != (leaves || ends))
            fail_msg("#%llu.%u, from #%llu.%u to #%llu.%u, is drawn %zu times",
                     (unsigned long long)ev_tick(f->tx), ev_row(f->tx),
                     (unsigned long long)ev_tick(from), ev_row(from),
                     (unsigned long long)ev_tick(to), ev_row(to), times);
        if (times && is != cut && !f->copy)
            fail_msg("#%llu.%u, from #%llu.%u to #%llu.%u, is not cut as it should be",
                     (unsigned long long)ev_tick(f->tx), ev_row(f->tx),
                     (unsigned long long)ev_tick(from), ev_row(from),
                     (unsigned long long)ev_tick(to), ev_row(to));
    }
    assert_int_equal(n, ladder->n_arrows);
    for (uint32_t i = 0; i < ladder->n_arrows; i++)
        assert_int_equal(ladder->arrows[i].cut != CUT_NONE, ladder->arrows[i].beyond[0] != '\0');
    ladder_free(ladder);
}

static void every_window_shows_what_happened_in_it(void **state)
{
    static const struct {
        const char *scenario;
        size_t step, most; /* events between windows; events in a window */
    } rows[] = {{"04-lost-request", 1, SIZE_MAX}, {"06-lost-middle", 1, SIZE_MAX},
                {"08-duplicate", 1, SIZE_MAX},    {"22-switch", 1, SIZE_MAX},
                {"24-loopback", 1, SIZE_MAX},     {"26-unreliable-link", 97, 800}};

    (void)state;
    for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
        struct lab l;

        const size_t step = rows[r].step * rounds_divisor();

        lab_open(&l, rows[r].scenario);
        for (size_t i = l.first; i < l.past.n; i += step) {
            for (size_t k = i; k < l.past.n && k - i < rows[r].most; k += step) {
                const ev_id from = past_at(&l.past, i)->id, to = past_at(&l.past, k)->id;

                check_window(&l, from, to);
                check_window(&l, ev_id_of(ev_tick(from), 0), ev_id_of(ev_tick(to), 0));
            }
        }
        lab_close(&l);
    }
}

/* A record with a dropped start equals a window that begins there. */
static void what_is_forgotten_is_cut_off_like_what_is_outside(void **state)
{
    static const char *const scenarios[] = {"04-lost-request", "06-lost-middle"};

    (void)state;
    for (size_t r = 0; r < ARRAY_LEN(scenarios); r++) {
        struct lab l;

        lab_open(&l, scenarios[r]);
        for (l.forgotten = l.first; l.forgotten < l.past.n; l.forgotten++)
            check_window(&l, past_at(&l.past, l.forgotten)->id, past_at(&l.past, l.past.n - 1)->id);
        lab_close(&l);
    }
}

/* Consecutive pictures of at most ten packets each: no departure is lost between them. */
static void pictures_one_after_the_other_show_each_packet_leave_once(void **state)
{
    struct picture_options options = {.n_packets = 10};
    struct lab l;
    size_t n = 0, sent = 0;

    (void)state;
    lab_open(&l, "26-unreliable-link");
    do {
        struct ladder *ladder = draw(&l, &options);
        size_t packets = 0;

        for (uint32_t i = 0; i < ladder->n_arrows; i++) {
            packets += !ladder->arrows[i].copy;
            n += ladder->arrows[i].tail != LADDER_NONE;
        }
        assert_true(packets <= 10 && packets > 0);
        assert_true(ladder->left.from == 0 || ladder->left.from > options.from);
        options.from = ladder->left.from;
        ladder_free(ladder);
    } while (options.from);
    for (size_t i = 0; i < l.n; i++)
        sent += !l.flights[i].copy;
    assert_int_equal(n, sent);
    lab_close(&l);
}

static void a_window_from_its_end_to_its_beginning_is_empty(void **state)
{
    struct picture_options options = {0};
    struct ladder *ladder;
    struct lab l;

    (void)state;
    lab_open(&l, "04-lost-request");
    options.from = past_at(&l.past, l.past.n - 1)->id;
    options.to = past_at(&l.past, l.first)->id;
    ladder = draw(&l, &options);
    assert_int_equal(ladder->n_stops + ladder->n_arrows + ladder->n_columns, 0);
    ladder_free(ladder);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_window_shows_what_happened_in_it),
        cmocka_unit_test(what_is_forgotten_is_cut_off_like_what_is_outside),
        cmocka_unit_test(pictures_one_after_the_other_show_each_packet_leave_once),
        cmocka_unit_test(a_window_from_its_end_to_its_beginning_is_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
