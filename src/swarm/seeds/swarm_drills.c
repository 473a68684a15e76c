/* SPDX-License-Identifier: MIT */
#include "swarm/seeds/swarm_drills.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/plural.h"
#include "print/shell.h"
#include "print/utf8.h"
#include "print/version.h"
#include "swarm/drills/drill.h"

#define SHRINKING_RUNS 400u

static bool is_asked(const struct swarm_options *o, const struct drill_kind *kind)
{
    if (o->machines || (o->devices && !kind->any_device) || (o->extensions && !kind->extensions))
        return false;
    return !o->drill || strcmp(o->drill, "all") == 0 || strcmp(o->drill, kind->name) == 0;
}

void swarm_drills_words(struct text *t)
{
    for (uint32_t i = 0; i < DRILL_KINDS; i++)
        text_addf(t, "%s|", drill_kinds[i]->name);
    text_add(t, "all");
}

uint32_t swarm_drills_asked(const struct swarm_options *o)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < DRILL_KINDS; i++)
        n += is_asked(o, drill_kinds[i]);
    return n;
}

bool swarm_drills_known(const char *name)
{
    return swarm_drills_asked(&(struct swarm_options){.drill = name}) > 0;
}

static FILE *open_script(const char *name, const struct drill_kind *kind, uint64_t seed)
{
    FILE *f = fopen(name, "w");

    if (f)
        fprintf(f, "scenario title=\"A drill of %s, seed %llu\" seed=%llu\n", kind->name,
                (unsigned long long)seed, (unsigned long long)seed);
    else
        fprintf(stderr, "rdmalab: %s cannot be written\n", SHOWN_NAME(name));
    return f;
}

/* Prints the command that runs the script @name. */
static void print_command(const char *name)
{
    char line[SHELL_LINE_BYTES];
    struct text t = text_on(line, sizeof(line));

    text_add(&t, "rdmalab run");
    shell_add_file(&t, name);
    printf("  as a scenario: %s\n", t.cut ? name : line);
}

/* Closes the script that @run has written, and says how to use it. */
static void close_script(FILE *f, const char *name, const struct drill_run *run)
{
    const bool is_whole = !ferror(f);

    if (fclose(f) != 0 || !is_whole)
        fprintf(stderr, "rdmalab: %s could not be written to its end\n", name);
    else if (run->ret_unsaid > 0)
        printf("  %s is no scenario: it lacks %u thing%s that no line of a script can say\n", name,
               run->ret_unsaid, plural_s(run->ret_unsaid));
    else
        print_command(name);
}

/* Reduces the drill of @run and writes it to a file. */
static void write_smaller(const struct swarm_options *o, const struct drill_kind *kind,
                          const struct drill_run *run)
{
    bool is_left_out[DRILL_STEPS_MAX];
    const uint32_t left = drill_shrink(kind, run, SHRINKING_RUNS, is_left_out);
    struct drill_run smaller = drill_again(run, is_left_out);
    char name[PATH_MAX];

    printf("  %u of its %u steps show it\n", left, run->ret_step + 1);
    snprintf(name, sizeof(name), "%s%sswarm-%llu-%s.lab", o->artifacts ? o->artifacts : "",
             o->artifacts ? "/" : "", (unsigned long long)run->seed, kind->name);
    smaller.script = open_script(name, kind, run->seed);
    if (!smaller.script)
        return;
    (void)drill_run(kind, &smaller);
    if (smaller.ret_wrong)
        fprintf(smaller.script, "note \"%s\"\n", smaller.ret_wrong);
    close_script(smaller.script, name, &smaller);
}

static void print_failure(const struct swarm_options *o, const struct drill_kind *kind,
                          const struct drill_run *run)
{
    struct swarm_options one = *o;
    char again[SWARM_AGAIN_BYTES];

    one.drill = kind->name;
    swarm_again(&one, run->seed, again);
    printf("seed %llu, a drill of %s: %s, but: %s\n", (unsigned long long)run->seed, kind->name,
           run->ret_wrong, run->ret_have);
    printf("  again: %s\n  this is version %s\n", again, RDMALAB_VERSION);
    if (o->shrinks)
        write_smaller(o, kind, run);
    fflush(stdout);
}

bool swarm_drills(const struct swarm_options *o, uint64_t seed, struct swarm_drills_met *ret)
{
    bool all_right = true;

    *ret = (struct swarm_drills_met){0};
    for (uint32_t i = 0; i < DRILL_KINDS; i++) {
        const struct drill_kind *kind = drill_kinds[i];
        struct drill_run run = {
            .seed = seed, .devices = o->devices, .extensions = o->extensions, .print = o->print};

        if (!is_asked(o, kind))
            continue;
        if (o->drill && o->script && seed == o->first)
            run.script = open_script(o->script, kind, seed);
        if (!drill_run(kind, &run)) {
            print_failure(o, kind, &run);
            all_right = false;
            ret->broke = ret->broke || run.ret_invariant;
        }
        ret->messages += run.ret_messages;
        ret->bytes += run.ret_bytes;
        if (run.script)
            close_script(run.script, o->script, &run);
        if (o->hashed)
            printf("seed %llu, a drill of %s: hash %016llx\n", (unsigned long long)seed, kind->name,
                   (unsigned long long)run.ret_hash);
    }
    return all_right;
}
