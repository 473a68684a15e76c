/* SPDX-License-Identifier: MIT */
#include "cli/session/standstill.h"

#include "cli/session/advance.h"
#include "cli/session/history.h"
#include "cli/session/stop_look.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/trace/kind.h"
#include "rdmalab/trace.h"

#define SHARE_OF_RUN 8u   /* rounds are looked for in this part of the run */
#define ROUNDS_TOLD  100u /* fewer equal rounds are not worth a sentence */

/* Counts the occurrences since the beginning that programs wait for. */
static uint64_t achieved(const struct rdl_lab *lab)
{
    static const enum ev_kind kinds[] = {EV_fetch, EV_dma_write, EV_cqe, EV_ping_reply};
    uint64_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        n += rdl_total(lab, kinds[i]);
    return n;
}

struct standstill standstill_start(const struct session *s, bool wanted, bool endless)
{
    const uint64_t tick = rdl_tick(s->lab);

    return (struct standstill){.wanted = wanted,
                               .endless = endless,
                               .from = tick,
                               .achieved = achieved(s->lab),
                               .since = tick,
                               .next = tick + STANDSTILL_FIRST_TICKS};
}

void standstill_end(struct standstill *still)
{
    rdl_rounds_free(still->rounds);
    still->rounds = NULL;
}

/* A hash of the values of which the stops depend. */
static uint64_t hash_of_stops(void *ctx)
{
    const struct session *s = ctx;
    uint64_t hash = 0;

    for (const struct stop *stop = s->stops.first; stop && !s->stops.ignored; stop = stop->next) {
        if (stop->enabled)
            stop_add_hash(s, stop, &hash);
    }
    return hash;
}

/* Returns true if a stop may be hit although the rounds of the lab are equal. */
static bool stop_may_be_hit(const struct session *s)
{
    for (const struct stop *stop = s->stops.first; stop && !s->stops.ignored; stop = stop->next) {
        if (stop->enabled && stop_depends_on_time(s, stop))
            return true;
    }
    return false;
}

/* Starts to look for rounds, if it is time to do so.  Lack of memory is no error: then it is not
 * done.
 */
static void begin_rounds(const struct session *s, struct standstill *still)
{
    const uint64_t tick = rdl_tick(s->lab), ticks = tick - still->from;

    if (tick < still->next)
        return;
    still->next = tick + ticks;
    still->enough = tick + ticks / SHARE_OF_RUN;
    if (!stop_may_be_hit(s) && rdl_rounds_new(s->lab, &still->rounds) != RDL_OK)
        still->rounds = NULL;
}

/* Appends "the same 18 ticks, 655.36us, long, came 1000 times in a row". */
static void add_rounds(struct text *t, const struct rdl_round *r)
{
    text_addf(t, "the same %llu tick%s, ", (unsigned long long)r->ticks, plural_s(r->ticks));
    quantity_add_time_short(t, r->ns);
    text_addf(t, " long, came %llu times in a row", (unsigned long long)r->n);
}

/* Adds the remedy.  @endless: the run was given no end. */
static void remedy(struct session *s, bool endless)
{
    diag_remedy(&s->diag, "\"why not\" tells what is missing%s",
                endless ? ", and \"run 10ms\" has an end" : "");
}

/* Returns true, with the error in s->diag, if the last rounds of the lab repeat each other, for
 * ever.
 */
static bool repeats(struct session *s, struct standstill *still, struct span at)
{
    char buf[DIAG_MESSAGE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct rdl_round round;

    if (!still->rounds) {
        begin_rounds(s, still);
        return false;
    }
    rdl_rounds_look(still->rounds, hash_of_stops, s);
    round = rdl_rounds_found(still->rounds);
    if (!rdl_rounds_standstill(still->rounds)) {
        if (round.n == 0 && rdl_tick(s->lab) >= still->enough)
            standstill_end(still);
        return false;
    }
    add_rounds(&t, &round);
    session_fail(s, at, "%s: %s",
                 still->endless ? "this run does not end" : "what this waits for never happens",
                 buf);
    remedy(s, still->endless);
    advance_note_waits(s);
    return true;
}

/* Returns true, with the error in s->diag, if nothing has been completed for so long that the user
 * should be asked.
 */
static bool achieves_nothing(struct session *s, struct standstill *still, struct span at)
{
    const uint64_t tick = rdl_tick(s->lab), n = achieved(s->lab), most = s->limits.standstill_ticks;
    char buf[DIAG_MESSAGE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct rdl_round round = {.n = 0};

    if (n != still->achieved) {
        still->achieved = n;
        still->since = tick;
    }
    if (!most || !still->endless || !session_limit(s).of_step || tick - still->since < most)
        return false;
    if (still->rounds)
        round = rdl_rounds_found(still->rounds);
    session_fail(s, at, "this run does not end: for %llu ticks nothing has been completed",
                 (unsigned long long)(tick - still->since));
    remedy(s, true);
    if (round.n >= ROUNDS_TOLD) {
        add_rounds(&t, &round);
        diag_note(&s->diag, "  %s", buf);
    }
    advance_note_waits(s);
    return true;
}

bool standstill_look(struct session *s, struct standstill *still, struct span at)
{
    if (!still->wanted)
        return false;
    return repeats(s, still, at) || achieves_nothing(s, still, at);
}

uint64_t standstill_ticks(const struct session *s, const struct standstill *still)
{
    if (!still->wanted)
        return UINT64_MAX;
    return still->rounds ? 1 : still->next - rdl_tick(s->lab);
}
