/* SPDX-License-Identifier: MIT */
#include "cli/app/repl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/app/line_input.h"
#include "cli/lang/lex.h"
#include "cli/lang/line.h"
#include "cli/print/version.h"
#include "cli/session/advance.h"
#include "cli/session/signals.h"
#include "emu/base/quantity.h"

#define PROMPT_BYTES 64u

/* A step of a person that takes more ticks is stopped: half a second. */
#define PROMPT_TICKS_MAX 1000000u

struct repl {
    struct session *s;
    bool terminal; /* lines are edited */
    bool echo;     /* lines are printed behind the prompt */
    bool lasting;  /* errors do not end it */
    char *again;   /* what an empty line repeats; NULL: nothing */
    int status;
};

static void make_prompt(const struct repl *r, bool continues, char ret[PROMPT_BYTES])
{
    struct text t = text_on(ret, PROMPT_BYTES);

    if (continues) {
        text_add(&t, "... ");
        return;
    }
    text_add(&t, "t=");
    quantity_add_time_short(&t, rdl_now_ns(r->s->lab));
    text_addf(&t, " #%llu> ", (unsigned long long)rdl_tick(r->s->lab));
}

static char *plain_line(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n = getline(&line, &cap, stdin);

    if (n < 0) {
        free(line);
        return NULL;
    }
    /* A NUL would hide the rest of the line: a byte takes its place that is no text either. */
    for (ssize_t i = 0; i < n; i++) {
        if (line[i] == '\0')
            line[i] = '\xff';
    }
    if (n > 0 && line[n - 1] == '\n')
        line[n - 1] = '\0';
    return line;
}

/* One line without its end; NULL at the end of input.  *ret_fresh: as line_input_read() has it. */
static char *read_line(struct repl *r, bool continues, bool *ret_fresh)
{
    char prompt[PROMPT_BYTES], fresh[PROMPT_BYTES];
    char *line;

    *ret_fresh = false;
    make_prompt(r, continues, prompt);
    make_prompt(r, false, fresh);
    if (r->terminal)
        return line_input_read(prompt, fresh, ret_fresh);
    if (r->echo) {
        fputs(prompt, stdout);
        fflush(stdout); /* who waits for it may sit behind a pipe */
    }
    while (advance_idle(r->s, STDIN_FILENO))
        ;
    line = plain_line();
    if (r->echo)
        printf("%s\n", line ? line : "");
    return line;
}

/* Appends @line and a line end to @text, which is reallocated.  False: no memory. */
static bool append(char **text, const char *line)
{
    const size_t n = *text ? strlen(*text) : 0, cap = n + strlen(line) + 2;
    char *more = realloc(*text, cap);
    struct text t;

    if (!more)
        return false;
    more[n] = '\0';
    t = (struct text){more, n, cap, false};
    text_add(&t, line);
    text_add(&t, "\n");
    *text = more;
    return true;
}

/* The next statements as one text: several lines if a block or a `\` asks for them. */
static char *read_text(struct repl *r)
{
    char *text = NULL;

    for (;;) {
        bool ok, fresh;
        char *line = read_line(r, text != NULL, &fresh);
        struct source src;

        if (fresh) {
            free(text);
            text = NULL;
        }
        if (!line)
            return text;
        ok = append(&text, line);
        free(line);
        if (!ok)
            return text;
        src = (struct source){NULL, text, strlen(text)};
        if (!lex_wants_more(&src))
            return text;
    }
}

/* Is it one command that an empty line may repeat? */
static bool is_repeatable(const struct repl *r, const char *text)
{
    struct script script = {.src = {NULL, text, strlen(text)}};
    struct line_reader reader = {.script = &script, .abbreviated = true, .begun = true};
    struct step *st = NULL, *more = NULL;
    struct diag ignored;
    bool ok = r->lasting && line_next(&reader, &st, &ignored) == LINE_STEP &&
              (st->cmd->flags & CMD_AGAIN) && line_next(&reader, &more, &ignored) == LINE_END;

    script_done(&script);
    return ok;
}

/* Carries out one text; false if the session ends. */
static bool run_text(struct repl *r, const char *text)
{
    const struct source src = {NULL, text, strlen(text)};
    int status;

    if (r->lasting)
        signals_clear_interrupted(); /* ^C was for the line before */
    if (session_lines(r->s, &src, r->lasting))
        return !r->s->quit;
    session_complain(r->s, r->echo ? stdout : stderr);
    status = session_exit_status(r->s);
    signals_clear_interrupted();
    r->s->step.interrupted = false;
    r->status = exit_worse(r->status, status);
    return r->lasting && status != EXIT_BROKEN;
}

static void banner(const struct repl *r)
{
    printf("rdmalab %s   seed %llu   \"help\", \"help verbs\"%s\n", RDMALAB_VERSION,
           (unsigned long long)r->s->seed,
           r->terminal && strcmp(line_input_name(), "none") != 0 ? ", TAB" : "");
}

int repl_run(struct session *s, bool prompt)
{
    struct repl r = {.s = s, .terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1};
    bool going = true;

    r.echo = prompt && !r.terminal;
    r.lasting = prompt || r.terminal;
    if (r.lasting) {
        signals_outlast();
        s->bounds.patience = PROMPT_TICKS_MAX;
        banner(&r);
    }
    if (r.terminal)
        line_input_open(s);
    else
        setvbuf(stdin, NULL, _IONBF, 0); /* what was not read yet is in the pipe: see read_line() */
    while (going) {
        char *text = read_text(&r);

        if (!text)
            break;
        if (r.lasting && text[strspn(text, " \t\n")] == '\0') {
            going = !r.again || run_text(&r, r.again);
            free(text);
            continue;
        }
        free(r.again);
        r.again = is_repeatable(&r, text) ? strdup(text) : NULL;
        going = run_text(&r, text);
        free(text);
    }
    free(r.again);
    if (s->failed_idle)
        r.status = exit_worse(r.status, EXIT_FAILED);
    if (r.terminal) {
        line_input_close();
        /* Somebody who leaves a prompt has seen what went wrong. */
        return r.status == EXIT_BROKEN ? EXIT_BROKEN : EXIT_PASSED;
    }
    return r.status;
}
