/* SPDX-License-Identifier: MIT */
/* `rdmalab open`: starts the prompt with a saved session, or with a scenario that was run. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/app/allow.h"
#include "cli/app/device_option.h"
#include "cli/app/modes.h"
#include "cli/app/open.h"
#include "cli/app/options.h"
#include "cli/app/repl.h"
#include "cli/exec/exec.h"
#include "cli/exec/resume.h"
#include "cli/session/files.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session_file/session_file.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "print/shell.h"
#include "print/utf8.h"
#include "process/signals.h"
#include "rdmalab/trace.h"

static int complain(const char *file, const char *why)
{
    fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(file), why);
    return EXIT_USAGE;
}

/* Reads the text of the file, and prints errors.  The caller frees *@ret_src with source_done(). */
static int load_text(const char *file, struct source *ret_src)
{
    struct stat info;

    if (stat(file, &info) == 0) {
        /* A pipe or a device may have no end.  For a directory, reading reports the error. */
        if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
            return complain(file, "this is no regular file");
        if (info.st_size > (off_t)SESSION_FILE_BYTES_MAX)
            return complain(file, "this is larger than a world may be");
    }
    return files_read(file, ret_src, stderr);
}

/* Reads the session in @src and prints errors.  If it returns EXIT_PASSED, the caller frees *@ret
 * with session_file_done().
 */
static int load(const struct source *src, struct session_file *ret)
{
    const volatile sig_atomic_t *interrupted = signals_interrupted();
    struct diag d = {.kind = DIAG_NONE};

    if (session_file_read(src, interrupted, ret, stderr, &d))
        return EXIT_PASSED;
    if (*interrupted)
        return EXIT_INTERRUPTED;
    diag_print(stderr, src, &d);
    return EXIT_USAGE;
}

static void say_where(const struct session *s, const char *file, uint64_t ticks)
{
    printf("%s: %llu tick%s done again", SHOWN_NAME(file), (unsigned long long)ticks,
           plural_s(ticks));
    if (s->history->position.in_past)
        printf(", at #%llu of #%llu", (unsigned long long)rdl_tick(s->lab),
               (unsigned long long)position_end(s).at.tick);
    else
        printf(", at the end, #%llu", (unsigned long long)rdl_tick(s->lab));
    if (s->history->futures.n > 0)
        printf(", in \"%s\"; \"futures\" lists the others", futures_current(&s->history->futures));
    fputc('\n', stdout);
}

/* Number of ticks in all futures. */
static uint64_t ticks_of(const struct session *s)
{
    uint64_t n = position_end(s).at.tick;

    for (size_t i = 0; i < s->history->futures.n; i++)
        n += s->history->futures.v[i].journal.log.end.tick;
    return n;
}

int open_prompt(struct session *s, const struct open_options *o)
{
    struct source src;

    if (!o->lines)
        return repl_run(s, o->prompt, NULL);
    src = source_typed(o->lines);
    if (exec_lines(s, &src, false))
        return EXIT_PASSED;
    session_complain(s, stderr);
    return session_exit_status(s);
}

struct session *open_session(struct session_config *config, const struct open_options *o)
{
    struct session *s = NULL;
    char line[SHELL_LINE_BYTES];
    struct text again = text_on(line, sizeof(line));
    enum rdl_status st;

    allow_ask(config);
    st = session_new(config, &s);
    if (st != RDL_OK) {
        session_no_lab(stderr, config, st);
        return NULL;
    }
    text_add(&again, "rdmalab open");
    shell_add_option(&again, "-c", o->lines);
    shell_add_option(&again, "--seed", o->seed_text);
    shell_add_option(&again, "--fault", o->fault_text);
    shell_add_option(&again, "--device", o->device_text);
    shell_add_option(&again, "--extensions", o->extensions_text);
    shell_add_option(&again, "--guests", o->guests_text);
    text_add(&again, o->is_virtual ? " --virtual" : "");
    allow_add(&again, &o->allow);
    shell_add_file(&again, o->file);
    signals_replay("%s", line);
    return s;
}

static int go_on(const struct open_options *o, struct session_file *w)
{
    struct session_config config = modes_session();
    struct session *s;
    int status;

    config.seed = w->seed;
    config.allowed = o->allowed;
    s = open_session(&config, o);
    if (!s)
        return EXIT_FAILED;
    status = resume_session(s, w, o->file, stderr);
    if (status == EXIT_PASSED) {
        say_where(s, o->file, ticks_of(s));
        status = open_prompt(s, o);
    }
    session_free(s);
    return status;
}

static int open_world(const struct source *src, const struct open_options *o)
{
    struct session_file w = {.v = NULL};
    int status = EXIT_USAGE;

    if (o->seed_text)
        fputs("rdmalab: --seed: a world has its seed, from which all in it came\n"
              "  \"session save FILE.lab\" in it, and then \"rdmalab run FILE.lab --seed S\"\n",
              stderr);
    else if (o->fault_text)
        fputs("rdmalab: --fault is for scenarios: a world has its packets already\n", stderr);
    else if (o->device_text)
        fputs("rdmalab: --device is for scenarios: the hosts of a world have their devices\n",
              stderr);
    else if (o->extensions_text)
        fputs("rdmalab: --extensions is for scenarios: the hosts of a world have their devices\n",
              stderr);
    else if (o->guests_text)
        fputs("rdmalab: --guests is for scenarios: the hosts of a world are where they are\n",
              stderr);
    else if (o->is_virtual)
        fputs("rdmalab: --virtual is for scenarios: no program can be in a world\n", stderr);
    else
        status = load(src, &w);
    if (status == EXIT_PASSED)
        status = go_on(o, &w);
    session_file_done(&w);
    return status;
}

int open_main(int argc, char **argv)
{
    struct open_options o = {.file = NULL};
    const struct option rows[] = {
        {.name = "-c", .lines = &o.lines, .words = ""},
        {.name = "--prompt", .flag = &o.prompt},
        {.name = "--virtual", .flag = &o.is_virtual},
        ALLOW_OPTIONS(o.allow),
        {.name = "--fault", .value = &o.fault_text, .words = ""},
        {.name = "--device", .value = &o.device_text, .words = DEVICE_OPTION_WORDS},
        {.name = "--extensions", .value = &o.extensions_text, .words = ""},
        {.name = "--guests", .value = &o.guests_text, .words = GUESTS_OPTION_WORDS},
        {.name = "--seed", .value = &o.seed_text, .words = ""}};
    struct source src = {0};
    int status = EXIT_USAGE;

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        goto out;
    if (argc != 2) {
        status = EXIT_ASK;
        goto out;
    }
    if ((o.seed_text && !options_number("--seed", o.seed_text, &o.seed)) ||
        (o.fault_text && !fault_choice_read(o.fault_text, &o.choice)) ||
        !allow_read(&o.allow, &o.allowed) || !device_option_read(o.device_text, &o.devices) ||
        !extensions_option_read(o.extensions_text, &o.devices) ||
        !guests_option_read(o.guests_text, &o.devices))
        goto out;
    o.file = argv[1];
    status = load_text(o.file, &src);
    if (status == EXIT_PASSED)
        status = session_file_is_scenario(&src) ? open_scenario(&src, &o) : open_world(&src, &o);
out:
    source_done(&src);
    free(o.lines);
    return status;
}
