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
#include "cli/session/scenario.h"
#include "cli/session/session.h"
#include "cli/tour/tour.h"
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

/* The words behind `rdmalab exec`, of which the last one is completed. */
struct exec_words {
    char **v;
    int n;
    const char *lab; /* of --lab; NULL: the two hosts without it */
    bool is_program; /* the last word belongs to a program */
    bool has_host;   /* the last word is behind a host */
};

static struct exec_words read_exec_words(int n, char **v)
{
    struct exec_words w = {.v = v, .n = n};
    bool options = true; /* --lab is no option behind the first "--" */

    for (int i = 0; i + 1 < n; i++) {
        if (options && strncmp(v[i], "--lab=", strlen("--lab=")) == 0) {
            w.lab = v[i] + strlen("--lab=");
        } else if (options && strcmp(v[i], "--lab") == 0) {
            w.lab = i + 2 < n ? v[++i] : NULL;
        } else if (strcmp(v[i], "--") == 0) {
            options = false;
            w.is_program = true;
        } else if (strcmp(v[i], ":") == 0) {
            w.is_program = w.has_host = false;
        } else if (v[i][0] != '-') {
            w.has_host = i == n - 2 && !w.is_program;
        }
    }
    return w;
}

/* Prints the hosts that the steps of a lab file add, those in its blocks, too. */
static void print_hosts_of(const struct step *first, char *begin)
{
    for (const struct step *st = first; st; st = st->next) {
        const struct arg *names = st->cmd == &cmd_table[CMD_host] ? step_arg(st, "names") : NULL;

        for (size_t i = 0; names && i < names->n; i++) {
            if (!strchr(names->v[i].text, '$'))
                print_word(begin, names->v[i].text);
        }
        print_hosts_of(st->body, begin); /* depth is bounded by the parser */
    }
}

/* Prints the hosts of the lab file @lab; NULL: those of `rdmalab exec` without one. */
static void print_hosts(const char *lab, char *begin)
{
    FILE *nowhere = fopen("/dev/null", "w");
    struct scenario sc = {.wrong_line = 0};

    if (!lab) {
        print_word(begin, "h1");
        print_word(begin, "h2");
    } else if (nowhere && scenario_load(&sc, lab, nowhere) == EXIT_PASSED) {
        print_hosts_of(sc.script.first, begin);
    }
    scenario_done(&sc);
    if (nowhere)
        fclose(nowhere);
}

/* Completes the last word in "exec --lab FILE h1 -- PROGRAM : h2 -- PROGRAM".  Returns false if it
 * may be an option or the value of one.
 */
static bool complete_exec(int n, char **v, char *begin, const char *before)
{
    const struct exec_words w = read_exec_words(n, v);

    if (w.is_program) {
        puts(MODE_FILES);
        print_word(begin, ":");
        return true;
    }
    if (before[0] == '-')
        return false;
    if (w.has_host && w.lab != before)
        print_word(begin, "--");
    else if (begin[0] != '-')
        print_hosts(w.lab, begin);
    return false;
}

/* Prints the operands of @m that are not files. */
static void print_words(const struct mode *m, char *begin)
{
    if (strcmp(m->takes, MODE_HOSTS) == 0)
        return;
    if (strcmp(m->takes, MODE_TOPIC) == 0) {
        for (size_t i = 0; i < N_CMDS; i++)
            print_word(begin, cmd_table[i].name);
        explain_each(print_word, begin);
        c_name_each(print_word, begin);
        return;
    }
    if (m->run == tour_main) {
        print_word(begin, "list");
        for (size_t i = 0; i < n_tour_builtins; i++)
            print_word(begin, tour_builtins[i].name);
    }
    for (size_t i = 0; m->run == quiz_main && i < n_quiz_builtins; i++)
        print_word(begin, quiz_builtins[i].name);
    for (const char *s = m->takes; *s && *s != ':';) {
        const size_t n = strcspn(s, "|");

        if (strncmp(s, begin, strlen(begin)) == 0)
            printf("%.*s\n", (int)n, s);
        s += n + (s[n] == '|');
    }
}

/* Completes the last of the @n words @v behind the mode. */
static void complete_mode(const struct mode *m, int n, char **v, char *begin, char *before)
{
    static char asked[] = OPTIONS_ASKED;
    char mode[16], takes[32];
    char *argv[] = {mode, asked, begin, before, takes, NULL};
    struct text t = text_on(mode, sizeof(mode)), f = text_on(takes, sizeof(takes));

    if (strcmp(m->takes, MODE_HOSTS) == 0 && complete_exec(n, v, begin, before))
        return;
    print_words(m, begin);
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
            complete_mode(&modes[i], argc - 3, argv + 3, begin, before);
            return EXIT_PASSED;
        }
    }
    for (size_t i = 0; i < n && argc <= 3; i++)
        print_word(begin, modes[i].name);
    complete_mode(none, argc - 2, argv + 2, begin, before);
    return EXIT_PASSED;
}
