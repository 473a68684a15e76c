/* SPDX-License-Identifier: MIT */
/* rdmalab complete -- WORD...: what the last word of a command line of the shell can become.
 *
 * Prints a word in each line, and ":files SUFFIX..." where names of files may follow, which a shell
 * finds by itself; without suffixes any.  The shells' own functions are in the directory data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/cmd/dispatch.h"
#include "cli/complete/complete.h"
#include "cli/lang/table.h"
#include "cli/session/exit_status.h"
#include "cli/tell/explain.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"

/* What the modes take: names of files, and options that options_take() knows. */
static const struct {
    const char *mode, *files;
    bool has_options;
} takes[] = {
    {"run", ":files json lab", true},      {"test", ":files json lab", true},
    {"open", ":files json", true},         {"show", ":files ndjson", true},
    {"check", ":files pcap pcapng", true}, {"convert", ":files json lab", false},
};

static bool begins(const char *word, const char *begin)
{
    return strncmp(word, begin, strlen(begin)) == 0;
}

/* The options that a usage text names. */
static void print_usage_options(const char *usage, const char *begin)
{
    for (const char *s = strstr(usage, "-"); s; s = strstr(s + 1, "-")) {
        const size_t n = strspn(s, "-abcdefghijklmnopqrstuvwxyz");

        if (s > usage && strchr("[| ", s[-1]) && n > 1 && strncmp(s, begin, strlen(begin)) == 0)
            printf("%.*s\n", (int)n, s);
    }
}

static void print_word(void *ctx, const char *word)
{
    if (begins(word, ctx))
        printf("%s\n", word);
}

/* A line of the prompt, as -c takes it: the whole line again, which is one word of the shell. */
struct line_offer {
    const char *line;
    size_t kept; /* bytes before its last word */
};

static void print_line(void *ctx, const struct offer *o)
{
    const struct line_offer *l = ctx;

    if (!o->barred)
        printf("%.*s%s\n", (int)l->kept, l->line, o->word);
}

/* Behind -c: in a lab that is empty yet. */
static void complete_lines(const char *line)
{
    const struct session_config config = {
        .dispatch = dispatch, .out = stdout, .err = stderr, .seed = SCENARIO_SEED};
    struct line_offer l = {line, strlen(line)};
    struct session *s = NULL;

    while (l.kept > 0 && !strchr(" ;{}", line[l.kept - 1]))
        l.kept--;
    if (session_new(&config, &s) == RDL_OK)
        (void)complete_line(s, line, print_line, &l);
    session_free(s);
}

static void complete_mode(const struct mode *m, char *begin, char *before)
{
    static char asked[] = OPTIONS_ASKED;
    size_t i = 0;

    while (i < ARRAY_LEN(takes) && strcmp(takes[i].mode, m->name) != 0)
        i++;
    if (strcmp(m->name, "explain") == 0) {
        for (size_t k = 0; k < N_CMDS; k++)
            print_word(begin, cmd_table[k].name);
        explain_each(print_word, begin);
    } else if (strcmp(m->name, "schema") == 0) {
        print_word(begin, "scenario");
        print_word(begin, "show");
    } else if (strcmp(m->name, "scenarios") == 0) {
        print_word(begin, "run");
    } else if (strcmp(m->name, "bench") == 0) {
        print_word(begin, "time");
    }
    if (i < ARRAY_LEN(takes) && takes[i].has_options) {
        char mode[16], files[32];
        char *argv[] = {mode, asked, begin, before, files, NULL};
        struct text t = text_on(mode, sizeof(mode)), f = text_on(files, sizeof(files));

        text_add(&t, m->name);
        text_add(&f, takes[i].files);
        (void)m->run(ARRAY_LEN(argv) - 1, argv);
    } else if (begin[0] == '-') {
        print_usage_options(m->usage, begin);
    } else if (i < ARRAY_LEN(takes)) {
        puts(takes[i].files);
    }
}

int complete_shell(const struct mode *modes, size_t n, int argc, char **argv)
{
    static char none[sizeof("--seed")] = "";
    char *begin, *before;

    if (argc < 2 || strcmp(argv[1], "--") != 0)
        return EXIT_ASK;
    begin = argc > 2 ? argv[argc - 1] : none;
    before = argc > 3 ? argv[argc - 2] : none;
    if (strcmp(before, "-c") == 0) {
        /* A shell hands over the quote, too, behind which it completes. */
        complete_lines(begin[0] == '"' || begin[0] == '\'' ? begin + 1 : begin);
        return EXIT_PASSED;
    }
    for (size_t i = 0; i < n && argc > 3; i++) {
        if (strcmp(modes[i].name, argv[2]) == 0) {
            complete_mode(&modes[i], begin, before);
            return EXIT_PASSED;
        }
    }
    if (begin[0] == '-') {
        static const char *const options[] = {"-c",       "--seed",    "--memory",
                                              "--prompt", "--version", "--help"};

        for (size_t i = 0; i < ARRAY_LEN(options); i++)
            print_word(begin, options[i]);
        return EXIT_PASSED;
    }
    for (size_t i = 0; i < n && argc <= 3; i++)
        print_word(begin, modes[i].name);
    if (strcmp(before, "--seed") != 0)
        puts(":files lab json");
    return EXIT_PASSED;
}
