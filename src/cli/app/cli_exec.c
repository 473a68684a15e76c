/* SPDX-License-Identifier: MIT */
/* `rdmalab exec`: programs of the machine on hosts of a lab, from the shell.
 *
 *	rdmalab exec h1 -- ./server : h2 -- ./client
 *
 * The lab is that of --lab, or one of two hosts with a link.  Each program has the input and the
 * output of rdmalab, as if the shell had started it.  This file reads the command line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/app/allow.h"
#include "cli/app/exec_run.h"
#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/export/export.h"
#include "emu/base/assert.h"
#include "print/shell.h"
#include "print/utf8.h"
#include "process/exit_status.h"
#include "process/must.h"
#include "process/signals.h"

#define TIMEOUT_S_MAX 1000000u

static bool is_word(const char *arg, const char *word)
{
    return strcmp(arg, word) == 0;
}

/* Returns the index of the first "--"; @argc if there is none. */
static int find_dashes(int argc, char **argv)
{
    int i = 1;

    while (i < argc && !is_word(argv[i], "--"))
        i++;
    return i;
}

/* --- Options ---------------------------------------------------------------------------------- */

/* @argv[@at] is no option of rdmalab.  The host is @argv[@host]; the program is @argv[@program], or
 * missing if that is 0.
 */
static bool refuse_option(int argc, char **argv, int at, int host, int program)
{
    char line[SHELL_LINE_BYTES];
    struct text t = text_on(line, sizeof(line));

    fprintf(stderr, "rdmalab: %s is no option of rdmalab", SHOWN_NAME(argv[at]));
    if (!program) {
        fputs("; \"rdmalab exec --help\" lists them\n  to start a program: rdmalab exec HOST -- "
              "PROGRAM [ARG...]\n",
              stderr);
        return false;
    }
    text_add(&t, "rdmalab exec");
    for (int i = 1; i < argc; i++) {
        if (i == program)
            text_add(&t, " --");
        shell_add(&t, argv[i]);
    }
    fprintf(stderr, "; if it belongs to %s, put -- before the program", SHOWN_NAME(argv[program]));
    if (t.cut)
        fprintf(stderr, ": rdmalab exec %s -- %s ...\n", SHOWN_NAME(argv[host]),
                SHOWN_NAME(argv[program]));
    else
        fprintf(stderr, ":\n  %s\n", line);
    return false;
}

/* Judges the words before the first "--".  Prints an error and returns false if an unknown option
 * is behind a host, where it may belong to the program.
 */
static bool judge_options(const struct option *rows, size_t n, int argc, char **argv)
{
    const int end = find_dashes(argc, argv);
    int host = 0, program = 0;

    for (int i = 1; i < end; i++) {
        const struct option *o = options_find(rows, n, argv[i]);

        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            if (host && !program)
                program = i;
            if (!host)
                host = i;
        } else if (!o && host) {
            return refuse_option(argc, argv, i, host, program);
        } else if (o && !o->flag && argv[i][strlen(o->name)] == '\0') {
            i++;
        }
    }
    return true;
}

/* Takes the options before the first "--".  All words from there on are operands, too, and so is
 * the "--", unless it is the first operand.
 */
static bool take_options(const struct option *rows, size_t n, int *argc, char **argv)
{
    char *dashes = argv[find_dashes(*argc, argv)];
    const int end = find_dashes(*argc, argv);
    int kept = end;

    if (!judge_options(rows, n, *argc, argv) || !options_take(rows, n, &kept, argv))
        return false;
    if (end == *argc) {
        *argc = kept;
        return true;
    }
    if (kept > 1)
        argv[kept++] = dashes;
    for (int i = end + 1; i < *argc; i++)
        argv[kept++] = argv[i];
    *argc = kept;
    argv[kept] = NULL;
    return true;
}

/* --- Programs --------------------------------------------------------------------------------- */

/* The words from argv[@at] to before argv[@end] are no program: prints an error. */
static bool refuse_part(char **argv, int at, int end)
{
    const char *where = at > 1 ? "the part after \":\"" : "exec";

    if (at == end)
        fprintf(stderr, "rdmalab: %s needs HOST -- PROGRAM; it is empty\n", where);
    else if (end - at > 1)
        fprintf(stderr, "rdmalab: after \"%s --\" the program is missing\n", SHOWN_NAME(argv[at]));
    else
        fprintf(stderr, "rdmalab: %s needs HOST -- PROGRAM; it is \"%s\"\n", where,
                SHOWN_NAME(argv[at]));
    return false;
}

/* Sets *@ret to the program of the words from argv[*@at] on, up to ":", and *@at behind that. */
static bool read_part(int argc, char **argv, int *at, struct exec_part *ret)
{
    const int first = *at;
    int end = first, program = first + 1;

    while (end < argc && !is_word(argv[end], ":"))
        end++;
    if (program < end && is_word(argv[program], "--"))
        program++;
    if (program >= end || is_word(argv[first], "--"))
        return refuse_part(argv, first, end);
    *ret = (struct exec_part){argv[first], argv + program, end - program};
    /* A colon at the end has an empty part behind it. */
    if (end + 1 == argc)
        return refuse_part(argv, argc, argc);
    *at = end + 1;
    return true;
}

/* Returns all programs, to be freed, and their number in *@ret_n; NULL after a usage error. */
static struct exec_part *read_parts(int argc, char **argv, int *ret_n)
{
    struct exec_part *parts = must_malloc((size_t)argc * sizeof(*parts));

    *ret_n = 0;
    for (int i = 1; i < argc;) {
        if (!read_part(argc, argv, &i, &parts[*ret_n])) {
            free(parts);
            return NULL;
        }
        ++*ret_n;
    }
    return parts;
}

int exec_main(int argc, char **argv)
{
    struct exec_run r = {.lab = NULL};
    const char *seed = NULL, *timeout = NULL;
    struct allow allow = {.text = NULL};
    const struct option rows[] = {
        {.name = "--lab", .value = &r.lab},
        {.name = "--seed", .value = &seed, .words = ""},
        {.name = "--timeout", .value = &timeout, .words = ""},
        {.name = "--events",
         .value = &r.events,
         .output = OPTION_WRITES_FILE,
         .wants_suffix = export_events_suffix},
        {.name = "--pcap",
         .value = &r.pcap,
         .output = OPTION_WRITES_FILE,
         .wants_suffix = export_pcapng_suffix},
        {.name = "--ladder",
         .value = &r.ladder,
         .output = OPTION_WRITES,
         .wants_suffix = export_ladder_suffix},
        {.name = "--timeline",
         .value = &r.timeline,
         .output = OPTION_WRITES,
         .wants_suffix = export_timeline_suffix},
        {.name = "--virtual", .flag = &r.is_virtual},
        {.name = "--hash", .flag = &r.tells_hash, .output = OPTION_PRINTS},
        ALLOW_OPTIONS(allow),
    };
    const bool asked = argc > 1 && is_word(argv[1], OPTIONS_ASKED);
    struct exec_part *parts;
    int status;

    if (asked ? !options_take(rows, ARRAY_LEN(rows), &argc, argv)
              : !take_options(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    r.seed_given = seed != NULL;
    if ((seed && !options_number("--seed", seed, &r.seed)) ||
        (timeout && !options_number_in("--timeout", timeout, 1, TIMEOUT_S_MAX, &r.timeout_s)) ||
        !allow_read(&allow, &r.allowed) || !options_judge_outputs(rows, ARRAY_LEN(rows), r.lab))
        return EXIT_USAGE;
    if (r.tells_hash && !r.is_virtual) {
        fputs("rdmalab: --hash needs --virtual: a lab that follows real time has no hash\n",
              stderr);
        return EXIT_USAGE;
    }
    if (argc == 1)
        return EXIT_ASK;
    parts = read_parts(argc, argv, &r.n_parts);
    if (!parts)
        return EXIT_USAGE;
    r.parts = parts;
    signals_catch_endings();
    status = exec_run(&r);
    free(parts);
    return status;
}
