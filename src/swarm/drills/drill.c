/* SPDX-License-Identifier: MIT */
#include "swarm/drills/drill.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/device_type.h"
#include "emu/trace/event.h"
#include "process/must.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "swarm/drills/kinds.h"

#define TICKS_MAX 1000000u
/* Of host 0; those of the steps are lower. */
#define STREAM_DEVICES    0x1000u
#define STREAM_EXTENSIONS 0x2000u
#define RECORD_EVENTS     4096u
#define RECORD_BYTES      ((size_t)2 << 20)

#define KIND(name) &drill_of_##name,
const struct drill_kind *const drill_kinds[DRILL_KINDS] = {DRILLS(KIND)};

/* --- For the kinds ---------------------------------------------------------------------------- */

bool drill_expect(struct drill *d, bool right, const char *what, const char *format, ...)
{
    va_list ap;

    if (right || d->wrong)
        return right;
    d->wrong = what;
    va_start(ap, format);
    vsnprintf(d->have, sizeof(d->have), format, ap);
    va_end(ap);
    return false;
}

bool drill_works(struct drill *d, enum rdl_status st, const char *what)
{
    if (st == RDL_ERR_INVARIANT)
        return drill_expect(d, false, rdl_broken_invariant(d->lab), "an invariant broke");
    return drill_expect(d, st == RDL_OK, what, "%s", rdl_status_name(st));
}

bool drill_number(struct drill *d, const char *path, uint64_t *ret)
{
    struct rdl_value v = {0};
    size_t at;

    if (!drill_works(d, rdl_inspect(d->lab, path, &v, &at), "what a lab has can be inspected"))
        return false;
    *ret = v.number;
    return true;
}

bool drill_number_is(struct drill *d, const char *path, uint64_t want, const char *what)
{
    uint64_t have;

    return drill_number(d, path, &have) &&
           drill_expect(d, have == want, what, "%s: %" PRIu64 ", and not %" PRIu64, path, have,
                        want);
}

enum rdl_status drill_answer(struct drill *d, rdl_host host)
{
    const struct rdl_limits limits = {.ticks = TICKS_MAX};
    struct rdl_response rsp;

    return rdl_wait(d->lab, host, limits, &rsp);
}

bool drill_is_done(struct drill *d, rdl_host host, enum rdl_status st, const char *what)
{
    return drill_works(d, st, what) && drill_works(d, drill_answer(d, host), what);
}

bool drill_settle(struct drill *d)
{
    const struct rdl_limits limits = {.ticks = TICKS_MAX};
    const enum rdl_status st = rdl_run(d->lab, RDL_NEVER, limits);

    return drill_works(d, st == RDL_ERR_IDLE ? RDL_OK : st, "a quiet lab comes to rest");
}

bool drill_run_until(struct drill *d, uint64_t until_ns)
{
    const struct rdl_limits limits = {.ticks = TICKS_MAX};
    const enum rdl_status st = rdl_run(d->lab, until_ns, limits);

    return drill_works(d, st == RDL_ERR_IDLE ? RDL_OK : st, "a lab can be let on for a time");
}

bool drill_run_for(struct drill *d, uint64_t ns)
{
    return drill_run_until(d, rdl_now_ns(d->lab) + ns);
}

uint64_t drill_events(const struct drill *d)
{
    return rdl_record_forgotten(d->lab) + rdl_record_count(d->lab);
}

const struct ev *drill_event(const struct drill *d, uint32_t kind, uint64_t *at)
{
    const uint64_t forgotten = rdl_record_forgotten(d->lab);

    if (*at < forgotten)
        *at = forgotten;
    while (*at < drill_events(d)) {
        const struct ev *e = rdl_record_at(d->lab, (size_t)((*at)++ - forgotten));

        if ((uint32_t)e->kind == kind)
            return e;
    }
    return NULL;
}

bool drill_cq_event(const struct drill *d, uint64_t *at, uint32_t *ret_cqn)
{
    const struct ev *e = drill_event(d, EV_cq_event, at);

    if (e)
        *ret_cqn = e->u.cq_event.cqn;
    return e != NULL;
}

/* Takes over the names that events have told since the last call. */
static bool learn_names(struct drill *d)
{
    const uint64_t forgotten = rdl_record_forgotten(d->lab);

    if (!d->names)
        d->names = ev_names_new();
    if (d->n_names_heard < forgotten)
        d->n_names_heard = forgotten;
    for (; d->names && d->n_names_heard < drill_events(d); d->n_names_heard++)
        ev_names_learn(d->names, rdl_record_at(d->lab, (size_t)(d->n_names_heard - forgotten)));
    return d->names != NULL;
}

bool drill_is_named(struct drill *d, rdl_host host, uint32_t kind, uint32_t number,
                    const char *name)
{
    char have[96];
    struct text t = text_on(have, sizeof(have));
    const char *dot;

    if (!learn_names(d))
        return true;
    ev_names_object(d->names, &t, host.raw - 1, kind, number);
    dot = strchr(have, '.');
    return drill_expect(d, dot && strcmp(dot + 1, name) == 0,
                        "events call an object by the name of the one that has its number now",
                        "%s, and not %s", have, name);
}

void drill_say(struct drill *d, const char *format, ...)
{
    va_list ap;

    if (!d->script)
        return;
    va_start(ap, format);
    vfprintf(d->script, format, ap);
    va_end(ap);
    fputc('\n', d->script);
}

/* --- One drill -------------------------------------------------------------------------------- */

static void open_lab(struct drill *d, const struct drill_run *run)
{
    const struct rdl_lab_config config = {.seed = run->seed, .check_invariants = true};

    if (!drill_works(d, rdl_lab_new(&config, &d->lab), "a lab can be made") ||
        !drill_works(d, rdl_hash_start(d->lab), "events can be hashed"))
        return;
    drill_works(d, rdl_record(d->lab, RECORD_EVENTS, RECORD_BYTES), "events can be recorded");
}

static void take_steps(struct drill *d, const struct drill_run *run)
{
    d->rng = prng_stream(run->seed, 0);
    d->kind->set_up(d);
    while (d->step < d->kind->steps && !d->wrong) {
        d->rng = prng_stream(run->seed, d->step + 1);
        if (!run->is_left_out || !run->is_left_out[d->step])
            d->kind->take(d);
        if (!d->wrong)
            d->step++;
    }
    if (!d->wrong && d->kind->finish)
        d->kind->finish(d);
}

uint32_t drill_device(const struct drill *d, uint32_t host)
{
    struct prng rng = prng_stream(d->seed, STREAM_DEVICES + host);

    return d->devices && prng_below(&rng, 2) ? DEVICE_pvrdma : DEVICE_virtio;
}

const char *drill_extend(const struct drill *d, uint32_t host, struct rdl_host_config *c,
                         char words[EXTEND_WORDS_BYTES])
{
    struct prng rng = prng_stream(d->seed, STREAM_EXTENSIONS + host);
    struct extend e = {0};

    if (d->extensions && c->device == DEVICE_virtio)
        e = extend_draw(&rng);
    e.extensions &= d->kind->extensions;
    c->extensions = e.extensions;
    c->ceqs = e.ceqs;
    return extend_words(&e, words);
}

struct drill_run drill_again(const struct drill_run *run, const bool *is_left_out)
{
    return (struct drill_run){.seed = run->seed,
                              .devices = run->devices,
                              .extensions = run->extensions,
                              .is_left_out = is_left_out};
}

bool drill_run(const struct drill_kind *kind, struct drill_run *run)
{
    struct drill d = {.kind = kind,
                      .seed = run->seed,
                      .devices = run->devices,
                      .extensions = run->extensions,
                      .script = run->script,
                      .own = must_malloc(kind->bytes)};
    struct rdl_listener *listener = NULL;

    RDL_ASSERT(kind->steps <= DRILL_STEPS_MAX);
    memset(d.own, 0, kind->bytes);
    open_lab(&d, run);
    if (run->print && !d.wrong)
        drill_works(&d, rdl_listen(d.lab, run->print, d.lab, &listener),
                    "the lab can be listened to");
    if (!d.wrong)
        take_steps(&d, run);
    if (kind->close)
        kind->close(&d);
    run->ret_wrong = d.wrong;
    memcpy(run->ret_have, d.have, sizeof(d.have));
    run->ret_step = d.step;
    run->ret_unsaid = d.n_unsaid;
    run->ret_messages = d.n_messages;
    run->ret_bytes = d.n_bytes;
    run->ret_hash = d.lab ? rdl_hash(d.lab) : 0;
    run->ret_invariant = d.lab && rdl_broken_invariant(d.lab);
    if (d.lab)
        rdl_unlisten(d.lab, listener);
    rdl_lab_free(d.lab);
    ev_names_free(d.names);
    if (kind->done)
        kind->done(&d);
    free(d.own);
    return !d.wrong;
}

/* --- Shrinking -------------------------------------------------------------------------------- */

/* Number of steps that are taken. */
static uint32_t count_left(const struct drill_kind *kind, const bool *is_left_out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < kind->steps; i++)
        n += !is_left_out[i];
    return n;
}

uint32_t drill_shrink(const struct drill_kind *kind, const struct drill_run *run, uint32_t runs_max,
                      bool *is_left_out)
{
    bool tried[DRILL_STEPS_MAX];
    uint32_t runs = 0;

    memset(is_left_out, false, DRILL_STEPS_MAX);
    for (uint32_t i = run->ret_step + 1; i < kind->steps; i++)
        is_left_out[i] = true;
    for (uint32_t part = kind->steps; part > 0; part /= 2) {
        for (uint32_t from = 0; from < kind->steps && runs < runs_max; from += part) {
            struct drill_run again = drill_again(run, tried);
            const uint32_t before = count_left(kind, is_left_out);

            memcpy(tried, is_left_out, sizeof(tried));
            for (uint32_t i = from; i < from + part && i < kind->steps; i++)
                tried[i] = true;
            if (count_left(kind, tried) == before)
                continue;
            runs++;
            if (!drill_run(kind, &again) && strcmp(again.ret_wrong, run->ret_wrong) == 0)
                memcpy(is_left_out, tried, sizeof(tried));
        }
    }
    return count_left(kind, is_left_out);
}
