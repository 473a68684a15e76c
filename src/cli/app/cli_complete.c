/* SPDX-License-Identifier: MIT */
/* rdmalab complete -- WORD...: completes the last word of a command line of the shell.
 *
 * Prints one candidate per line, and ":files SUFFIX..." where file names are possible; the shell
 * finds those itself.  Without suffixes, any file is possible.  The shells' functions are in the
 * directory data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/complete/complete.h"
#include "cli/explain/c_names.h"
#include "cli/explain/explain.h"
#include "cli/lang/table.h"
#include "cli/session/session.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "process/exit_status.h"

static bool begins(const char *word, const char *begin)
{
    return strncmp(word, begin, strlen(begin)) == 0;
}

static void print_word(void *ctx, const char *word)
{
    if (begins(word, ctx))
        printf("%s\n", word);
}

/* A candidate for a line of the prompt, the argument of -c.  It must be printed as the whole line,
 * which is one word of the shell.
 */
struct line_offer {
    const char *line;
    size_t kept; /* bytes before the last word */
};

static void print_line(void *ctx, const struct offer *o)
{
    const struct line_offer *l = ctx;

    if (!o->barred)
        printf("%.*s%s\n", (int)l->kept, l->line, o->word);
}

/* Completes the argument of -c, in an empty lab. */
static void complete_lines(const char *line)
{
    const struct session_config config = {.out = stdout, .err = stderr, .seed = SCENARIO_SEED};
    struct line_offer l = {line, strlen(line)};
    struct session *s = NULL;

    while (l.kept > 0 && !strchr(" ;{}", line[l.kept - 1]))
        l.kept--;
    if (session_new(&config, &s) == RDL_OK)
        (void)complete_line(s, line, print_line, &l);
    session_free(s);
}

/* Prints what follows @before in "exec h1 -- PROGRAM : h2 -- PROGRAM". */
static void print_host_words(const struct mode *m, char *begin, const char *before)
{
    static const char *const hosts[] = {"h1", "h2"};

    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        if (strcmp(before, m->name) == 0 || strcmp(before, ":") == 0)
            print_word(begin, hosts[i]);
        else if (strcmp(before, hosts[i]) == 0)
            print_word(begin, "--");
    }
}

/* Prints the operands of @m that are not files. */
static void print_words(const struct mode *m, char *begin, const char *before)
{
    if (strcmp(m->takes, MODE_HOSTS) == 0) {
        print_host_words(m, begin, before);
        return;
    }
    if (strcmp(m->takes, MODE_TOPIC) == 0) {
        for (size_t i = 0; i < N_CMDS; i++)
            print_word(begin, cmd_table[i].name);
        explain_each(print_word, begin);
        c_name_each(print_word, begin);
        return;
    }
    for (const char *s = m->takes; *s && *s != ':';) {
        const size_t n = strcspn(s, "|");

        if (strncmp(s, begin, strlen(begin)) == 0)
            printf("%.*s\n", (int)n, s);
        s += n + (s[n] == '|');
    }
}

static void complete_mode(const struct mode *m, char *begin, char *before)
{
    static char asked[] = OPTIONS_ASKED;
    char mode[16], takes[32];
    char *argv[] = {mode, asked, begin, before, takes, NULL};
    struct text t = text_on(mode, sizeof(mode)), f = text_on(takes, sizeof(takes));

    print_words(m, begin, before);
    text_add(&t, m->name);
    text_add(&f, begins(m->takes, MODE_FILES) ? m->takes : "");
    (void)m->run(ARRAY_LEN(argv) - 1, argv);
}

int complete_shell(const struct mode *modes, size_t n, const struct mode *none, int argc,
                   char **argv)
{
    static char nothing[sizeof("-c")] = "";
    char *begin, *before;

    if (argc < 2 || strcmp(argv[1], "--") != 0)
        return EXIT_ASK;
    begin = argc > 2 ? argv[argc - 1] : nothing;
    before = argc > 3 ? argv[argc - 2] : nothing;
    if (strcmp(before, "-c") == 0) {
        /* The shell includes an opening quote in the word. */
        complete_lines(begin[0] == '"' || begin[0] == '\'' ? begin + 1 : begin);
        return EXIT_PASSED;
    }
    for (size_t i = 0; i < n && argc > 3; i++) {
        if (strcmp(modes[i].name, argv[2]) == 0) {
            complete_mode(&modes[i], begin, before);
            return EXIT_PASSED;
        }
    }
    for (size_t i = 0; i < n && argc <= 3; i++)
        print_word(begin, modes[i].name);
    complete_mode(none, begin, before);
    return EXIT_PASSED;
}
