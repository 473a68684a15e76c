/* SPDX-License-Identifier: MIT */
/* `rdmalab swarm`: random worlds (swarm_worlds.c) and drills (swarm_drills.c), or with --outside
 * random packets from outside the lab (swarm/outside/outside.c).
 */
#include "cli/app/cli_swarm.h"

#include <stdio.h>
#include <string.h>

#include "emu/base/quantity.h"
#include "emu/trace/render.h"
#include "process/exit_status.h"
#include "process/signals.h"
#include "rdmalab/trace.h"
#include "swarm/outside/outside.h"
#include "swarm/seeds/swarm_drills.h"
#include "swarm/seeds/swarm_worlds.h"

#define JOBS_MAX    256u
#define MINUTES_MAX 10000u
#define ONE_IN_MAX  1000000u
#define SEEDS       100u /* default number of seeds */

static void print_event(void *ctx, const struct ev *e)
{
    const struct rdl_lab *lab = ctx;
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_line(&t, e, rdl_names(lab));
    puts(buf);
}

static int outside(const struct swarm_options *o)
{
    uint64_t passed = 0, failed = 0;
    bool any_invariant = false;

    for (uint64_t seed = o->first; seed <= o->last && !*signals_interrupted(); seed++) {
        struct swarm_outside_run run = {.seed = seed, .print = o->print, .hashed = o->hashed};

        signals_replay("rdmalab swarm --outside --seed %llu --events", (unsigned long long)seed);
        if (swarm_outside(&run))
            passed++;
        else
            failed++;
        if (o->hashed)
            printf("seed %llu: hash %016llx\n", (unsigned long long)seed,
                   (unsigned long long)run.ret_hash);
        any_invariant = any_invariant || run.ret_invariant;
    }
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)passed,
           (unsigned long long)failed);
    if (any_invariant)
        return EXIT_BROKEN;
    return failed ? EXIT_FAILED : EXIT_PASSED;
}

/* Parses "A..B" or "A".  Returns false if @s is neither. */
static bool parse_seeds(const char *s, uint64_t *ret_first, uint64_t *ret_last)
{
    const char *why = strstr(s, "..") ? quantity_parse_range(s, ret_first, ret_last)
                                      : quantity_parse(QUANTITY_NUMBER, s, ret_first);

    if (why)
        return false;
    if (!strstr(s, ".."))
        *ret_last = *ret_first;
    return *ret_first <= *ret_last && *ret_last < UINT64_MAX;
}

/* Parses a number from 1 to @most. */
static bool parse_number(const char *s, uint64_t most, uint64_t *ret)
{
    return !quantity_parse(QUANTITY_NUMBER, s, ret) && *ret >= 1 && *ret <= most;
}

/* Parses an option with a value.  Returns false if the option is unknown or the value is invalid.
 */
static bool parse_valued(const char *name, const char *value, struct swarm_options *o)
{
    uint64_t n;

    if (strcmp(name, "--one-in") == 0 && parse_number(value, ONE_IN_MAX, &n)) {
        o->one_in = (uint32_t)n;
        return true;
    }
    if (strcmp(name, "--seed") == 0 || strcmp(name, "--seeds") == 0 || strcmp(name, "--cell") == 0)
        return parse_seeds(value, &o->first, &o->last);
    if (strcmp(name, "--script") == 0) {
        o->script = value;
        return true;
    }
    if (strcmp(name, "--artifacts") == 0) {
        o->artifacts = value;
        return true;
    }
    if (strcmp(name, "--drill") == 0) {
        o->drill = value;
        return swarm_drills_known(value);
    }
    if (strcmp(name, "--minutes") == 0)
        return parse_number(value, MINUTES_MAX, &o->minutes);
    if (strcmp(name, "-j") != 0 || !parse_number(value, JOBS_MAX, &n))
        return false;
    o->jobs = (uint32_t)n;
    return true;
}

/* Parses an option without a value.  Returns false if it is unknown. */
static bool parse_flag(const char *name, struct swarm_options *o, bool *ret_with_stranger)
{
    if (strcmp(name, "--events") == 0)
        o->print = print_event;
    else if (strcmp(name, "--hash") == 0)
        o->hashed = true;
    else if (strcmp(name, "--outside") == 0)
        *ret_with_stranger = true;
    else if (strcmp(name, "--pairs") == 0)
        o->pairs = true;
    else if (strcmp(name, "--matrix") == 0)
        o->is_matrix = true;
    else if (strcmp(name, "--fail-fast") == 0)
        o->fails_fast = true;
    else if (strcmp(name, "--no-shrink") == 0)
        o->shrinks = false;
    else
        return false;
    return true;
}

int swarm_main(int argc, char **argv)
{
    struct swarm_options o = {.first = 1, .last = UINT64_MAX, .jobs = 1, .shrinks = true};
    bool with_stranger = false;

    for (int i = 1; i < argc; i++) {
        if (parse_flag(argv[i], &o, &with_stranger))
            continue;
        if (i + 1 == argc || !parse_valued(argv[i], argv[i + 1], &o))
            return EXIT_ASK;
        i++;
    }
    if (o.last == UINT64_MAX) /* no seeds given */
        o.last = o.is_matrix ? UINT32_MAX : SEEDS;
    o.shrinks = o.shrinks && !o.print;
    return with_stranger ? outside(&o) : swarm_worlds(&o);
}
