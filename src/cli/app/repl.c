/* SPDX-License-Identifier: MIT */
#include "cli/app/repl.h"
#include "cli/exec/exec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/app/line_input.h"
#include "cli/app/recall_file.h"
#include "cli/app/state_dir.h"
#include "cli/app/tour_prompt.h"
#include "cli/complete/expand.h"
#include "cli/lang/lex.h"
#include "cli/session/advance.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "emu/base/quantity.h"
#include "print/pages.h"
#include "print/version.h"
#include "process/must.h"
#include "process/signals.h"

#define PROMPT_BYTES 128u
#define TOLD_MAX     64u

/* Most ticks of a command at the prompt; it takes half a second. */
#define PROMPT_TICKS_MAX 1000000u
/* Ticks after which the lab counts as stuck.  It is much more than retries with a limit need, and
 * few enough that the recorder keeps all events.
 */
#define PROMPT_STUCK_TICKS 10000u

/* Typed input, as text and parsed. */
struct typed {
    char *text; /* NULL: none */
    size_t len, room;
    size_t lines_before; /* lines of the input before it */
    struct tokens tokens;
    struct lines lines; /* set when the text is complete */
};

struct repl {
    struct session *s;  /* executes the next line: the session of the prompt, or of a lesson */
    bool terminal;      /* lines are edited */
    bool echo;          /* print the lines after the prompt */
    bool lasting;       /* errors do not end the prompt */
    struct typed again; /* repeated by an empty line */
    size_t n_lines;     /* lines read */
    struct recall recall;
    char recall_path[RECALL_PATH_BYTES]; /* history file; "": none */
    struct expand_note told[TOLD_MAX];   /* replaced words that have been explained */
    size_t n_told;
    struct tour_prompt tour;
    int status;
};

static void typed_done(struct typed *t)
{
    script_done(&t->lines.script);
    lex_free(&t->tokens);
    free(t->text);
    *t = (struct typed){.text = NULL};
}

static void make_prompt(const struct repl *r, bool continues, char ret[PROMPT_BYTES])
{
    struct text t = text_on(ret, PROMPT_BYTES);

    if (continues) {
        text_add(&t, "... ");
        return;
    }
    tour_prompt_add(&r->tour, &t);
    if (r->s->prompt.host[0])
        text_addf(&t, "%s ", r->s->prompt.host);
    text_add(&t, "t=");
    quantity_add_time_short(&t, rdl_now_ns(r->s->lab));
    text_addf(&t, " #%llu", (unsigned long long)rdl_tick(r->s->lab));
    if (r->s->history->position.in_past)
        text_addf(&t, " of #%llu", (unsigned long long)position_end(r->s).at.tick);
    text_add(&t, "> ");
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
    /* A NUL would hide the rest of the line.  Replace it by a byte that is invalid in text too. */
    for (ssize_t i = 0; i < n; i++) {
        if (line[i] == '\0')
            line[i] = '\xff';
    }
    if (n > 0 && line[n - 1] == '\n')
        line[n - 1] = '\0';
    return line;
}

/* Returns true for a "q" directly behind a text with a pause: it was meant for the pause. */
static bool is_late_q(const struct repl *r, const char *line)
{
    const char *q = line + strspn(line, " \t");

    return pages_take_went_on() && rdl_tick(r->s->lab) > 0 && q[0] == 'q' &&
           q[1 + strspn(q + 1, " \t")] == '\0';
}

/* Reads one line at a terminal.  A command that was typed at the pause of a long text comes first.
 */
static char *read_at_terminal(const struct line_asked *asked, const struct repl *r, bool *ret_fresh)
{
    char *line = pages_take_line();

    if (line) {
        printf("%s%s\n", asked->prompt, line);
        return line;
    }
    line = line_input_read(asked, ret_fresh);
    while (line && is_late_q(r, line)) {
        puts("the text had ended before this q; type q again, or quit, to leave the lab");
        free(line);
        line = line_input_read(asked, ret_fresh);
    }
    return line;
}

/* Reads one line without its end; @before are the earlier lines of the block.  Returns NULL at the
 * end of input.  *@ret_fresh: see line_input_read().
 */
static char *read_line(struct repl *r, const char *before, bool *ret_fresh)
{
    char prompt[PROMPT_BYTES], fresh[PROMPT_BYTES];
    const struct line_asked asked = {prompt, fresh, before};
    char *line;

    *ret_fresh = false;
    make_prompt(r, before != NULL, prompt);
    make_prompt(r, false, fresh);
    if (r->terminal)
        return read_at_terminal(&asked, r, ret_fresh);
    if (r->echo) {
        fputs(prompt, stdout);
        fflush(stdout); /* the reader may be at the other end of a pipe */
    }
    while (advance_idle(r->s, STDIN_FILENO))
        ;
    line = plain_line();
    if (r->echo)
        printf("%s\n", line ? line : "");
    return line;
}

/* Appends @line and a line end.  The buffer grows by doubling, so that the cost is linear. */
static void append(struct typed *t, const char *line)
{
    const size_t n = strlen(line), least = t->len + n + sizeof("\n");

    if (!t->text || t->room < least) {
        t->room = 2 * least;
        t->text = must_realloc(t->text, t->room);
    }
    memcpy(t->text + t->len, line, n);
    memcpy(t->text + t->len + n, "\n", sizeof("\n"));
    t->len += n + 1;
}

/* The typed text as a source.  Lines typed at a prompt have no numbers. */
static struct source typed_source(const struct repl *r, const struct typed *t)
{
    /* The standard input of a script may come from anywhere; with --prompt it is a user's. */
    return (struct source){.name = r->lasting ? NULL : SOURCE_STANDARD,
                           .text = t->text,
                           .len = t->len,
                           .lines_before = t->lines_before,
                           .typed = r->lasting,
                           .home = "."};
}

/* Reads the next statements as one text: several lines if a block is open or a line ends with `\`.
 * Returns false at the end of input.
 */
static bool read_text(struct repl *r, struct typed *ret)
{
    for (;;) {
        bool fresh;
        char *line = read_line(r, ret->text, &fresh);
        struct source src;

        if (fresh)
            typed_done(ret);
        if (!line)
            return ret->text != NULL;
        if (!ret->text)
            ret->lines_before = r->n_lines;
        r->n_lines++;
        append(ret, line);
        free(line);
        src = typed_source(r, ret);
        lex_rest(&ret->tokens, &src);
        if (!lex_wants_more(&ret->tokens, &src))
            return true;
    }
}

/* Returns true for a single command that an empty line may repeat. */
static bool is_repeatable(const struct typed *t)
{
    const struct step *st = t->lines.script.first;

    return t->lines.whole && st && !st->next && (st->cmd->flags & CMD_AGAIN);
}

/* Ends an input of the tour, which succeeded if @ok. */
static bool end_tour_input(struct repl *r, bool ok)
{
    signals_clear_interrupted();
    r->s->run.step.interrupted = false;
    if (!ok)
        r->status = exit_worse(r->status, EXIT_FAILED);
    return !r->s->run.quit;
}

/* Executes the typed text.  Returns false if the session ends. */
static bool run_typed(struct repl *r, const struct typed *t)
{
    bool ok;
    int status;

    if (tour_prompt_statements(&r->tour, &t->lines, &ok))
        return end_tour_input(r, ok);
    if (exec_statements(r->s, &t->lines)) {
        if (pages_take_stopped()) /* otherwise ^C would interrupt the next line, too */
            signals_clear_interrupted();
        tour_prompt_executed(&r->tour, &t->lines);
        if (!tour_prompt_act(&r->tour))
            r->status = exit_worse(r->status, EXIT_FAILED);
        return !r->s->run.quit;
    }
    session_complain(r->s, r->echo ? stdout : stderr);
    tour_prompt_forget(&r->tour);
    tour_prompt_executed(&r->tour, &t->lines);
    status = session_exit_status(r->s);
    signals_clear_interrupted();
    r->s->run.step.interrupted = false;
    r->status = exit_worse(r->status, status);
    return r->lasting && status != EXIT_BROKEN;
}

/* --- Expanding and remembering ---------------------------------------------------------------- */

/* Adds the text to the history, with a mark if it failed. */
static void remember(struct repl *r, const char *text, bool failed)
{
    size_t n = strlen(text);

    while (n > 0 && strchr(" \t\n", text[n - 1]))
        n--;
    if (n == 0 || !recall_add(&r->recall, text, n, failed))
        return;
    if (r->terminal)
        line_input_remember(r->recall.v[r->recall.n - 1].text);
    if (r->recall_path[0])
        recall_file_append(r->recall_path, &r->recall);
}

static void open_recall(struct repl *r)
{
    char cwd[RECALL_PATH_BYTES];

    r->s->prompt.recall = &r->recall;
    if (!r->terminal || !getcwd(cwd, sizeof(cwd)) || !recall_file_path(cwd, r->recall_path)) {
        r->recall_path[0] = '\0';
        return;
    }
    recall_file_read(r->recall_path, &r->recall);
    for (size_t i = 0; i < r->recall.n; i++)
        line_input_remember(r->recall.v[i].text);
}

/* Explains a replaced word, once per session. */
static void print_note(struct repl *r, const struct expand_note *n)
{
    const bool dim = r->s->config.colour;

    for (size_t i = 0; i < r->n_told; i++) {
        if (strcmp(r->told[i].written, n->written) == 0 && strcmp(r->told[i].what, n->what) == 0)
            return;
    }
    if (r->n_told < TOLD_MAX)
        r->told[r->n_told++] = *n;
    printf("%s%s: %s%s%s%s%s\n", dim ? "\033[2m" : "", n->word, n->written, n->what[0] ? " (" : "",
           n->what, n->what[0] ? ")" : "", dim ? "\033[22m" : "");
}

/* Replaces the typed text by its expansion.  Returns false if it must not be executed; then it has
 * printed the reason or set the host.
 */
static bool write_out(struct repl *r, struct typed *t, bool *ret_failed)
{
    struct expanded e;

    expand(r->s, t->text, &e);
    *ret_failed = e.wrong;
    for (size_t i = 0; i < e.n_notes && !e.wrong; i++)
        print_note(r, &e.notes[i]);
    if (e.wrong) {
        r->s->diag = e.diag;
        r->s->diag_src = typed_source(r, t);
        session_complain(r->s, r->echo ? stdout : stderr);
        r->status = exit_worse(r->status, EXIT_FAILED);
    } else if (e.context) {
        memcpy(r->s->prompt.host, e.host, sizeof(e.host));
    }
    lex_free(&t->tokens);
    t->tokens = (struct tokens){.v = NULL};
    free(t->text);
    t->text = e.text;
    t->len = e.len;
    t->room = e.len + 1;
    return !e.wrong && !e.context;
}

/* Reads and executes the next statements.  Returns false if the session ends. */
static bool read_and_run(struct repl *r)
{
    struct typed t = {.text = NULL};
    struct source src;
    char *text = NULL;
    bool going = true, failed = false, ok;
    int status;

    if (!read_text(r, &t))
        return false;
    if (r->lasting && tour_prompt_text(&r->tour, t.text, &ok)) {
        typed_done(&t);
        return end_tour_input(r, ok);
    }
    if (r->lasting && t.text[strspn(t.text, " \t\n")] == '\0') {
        typed_done(&t);
        return !r->again.text || run_typed(r, &r->again);
    }
    if (r->lasting)
        text = memcpy(must_malloc(t.len + 1), t.text, t.len + 1);
    if (!r->lasting || write_out(r, &t, &failed)) {
        src = typed_source(r, &t);
        session_read(r->s, &src, r->lasting ? NULL : &t.tokens, r->lasting, &t.lines);
        status = r->status;
        r->status = EXIT_PASSED;
        going = run_typed(r, &t);
        failed = r->status != EXIT_PASSED;
        r->status = exit_worse(status, r->status);
    } else {
        tour_prompt_executed(&r->tour, &t.lines);
    }
    if (text)
        remember(r, text, failed);
    free(text);
    typed_done(&r->again);
    if (r->lasting && !r->tour.is_open && is_repeatable(&t))
        r->again = t;
    else
        typed_done(&t);
    return going;
}

/* Greets the user.  @busy: the prompt begins with a command. */
static void banner(const struct repl *r, bool busy)
{
    printf("rdmalab %s   seed %llu   \"help\", \"help verbs\"%s\n", RDMALAB_VERSION,
           (unsigned long long)r->s->lab_info.seed,
           r->terminal && strcmp(line_input_name(), "none") != 0 ? ", TAB" : "");
    if (r->terminal && first_time() && !busy)
        fputs(first_time_text, stdout);
}

/* Sets the limits of a session at a prompt. */
static void set_limits(struct session *s)
{
    if (s->history->header && step_has(s->history->header, "ticks"))
        return;
    s->limits.ticks_per_step = PROMPT_TICKS_MAX;
    s->limits.standstill_ticks = PROMPT_STUCK_TICKS;
}

/* Continues with another session. */
static void use_session(void *ctx, struct session *s)
{
    struct repl *r = ctx;

    if (s != r->tour.own) {
        s->prompt = r->tour.own->prompt;
        s->prompt.host[0] = '\0';
        set_limits(s);
    }
    r->s = s;
    typed_done(&r->again); /* it was read for another session */
    if (r->terminal)
        line_input_use(s);
}

/* Executes the command @line, "tour keys", as if it was typed. */
static void begin_with(struct repl *r, const char *line)
{
    const struct source src = source_typed(line);
    struct typed t = {.text = NULL};

    session_read(r->s, &src, NULL, false, &t.lines);
    (void)run_typed(r, &t);
    script_done(&t.lines.script);
}

/* Says that an error has left input of a script without execution, if there is any.  It does not
 * wait for more, and takes nothing out of a pipe.
 */
static void print_unread(const struct repl *r)
{
    int bytes = 0;

    if (!r->lasting && r->status != EXIT_PASSED && !r->s->run.quit &&
        ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0)
        fprintf(stderr, "  the lines after line %zu were not executed\n", r->n_lines);
}

/* Reads and executes lines up to the end. */
static void read_all(struct repl *r, const char *first)
{
    if (r->lasting)
        tour_prompt_init(&r->tour, r->s, use_session, r);
    if (first)
        begin_with(r, first);
    while (read_and_run(r))
        ;
    print_unread(r);
    if (r->lasting)
        tour_prompt_done(&r->tour);
    r->s = r->tour.own ? r->tour.own : r->s;
}

int repl_run(struct session *s, bool prompt, const char *first)
{
    struct repl r = {.s = s, .terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1};

    r.echo = prompt && !r.terminal;
    r.lasting = prompt || r.terminal;
    s->prompt.at_terminal = r.terminal;
    if (r.lasting) {
        signals_outlast();
        set_limits(s);
        banner(&r, first != NULL);
    }
    if (r.terminal)
        line_input_open(s);
    if (r.lasting)
        open_recall(&r);
    if (!r.terminal)
        setvbuf(stdin, NULL, _IONBF, 0); /* unread input stays in the pipe, see read_line() */
    read_all(&r, first);
    typed_done(&r.again);
    s->prompt.recall = NULL;
    recall_free(&r.recall);
    if (s->outside.program_failed)
        r.status = exit_worse(r.status, EXIT_FAILED);
    if (r.terminal) {
        line_input_close();
        /* The user has seen the errors. */
        return r.status == EXIT_BROKEN ? EXIT_BROKEN : EXIT_PASSED;
    }
    return r.status;
}
