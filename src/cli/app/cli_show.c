/* SPDX-License-Identifier: MIT */
/* `rdmalab show`: answers questions about a saved trace, in the words of the commands `show` and
 * `why`.
 */
#include <errno.h>
#include <string.h>

#include "cli/app/ladder_file.h"
#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/app/trace_export.h"
#include "cli/export/export.h"
#include "cli/lang/expr.h"
#include "cli/lang/line.h"
#include "cli/lang/suggest.h"
#include "cli/lang/words.h"
#include "cli/session/files.h"
#include "cli/show/show.h"
#include "cli/show/show_trace_file.h"
#include "cli/why/why.h"
#include "cli/why/why_not.h"
#include "emu/base/assert.h"
#include "emu/trace/kind.h"
#include "emu/trace/names.h"
#include "print/show_text.h"
#include "print/utf8.h"
#include "process/out_file.h"

#define SHOW_WORDS_MAX 8u

/* A question about a trace. */
struct trace_query {
    const struct trace_file *saved;
    struct past past;
    const char *file;
    struct pool pool;
    struct source src; /* the question as one line */
    struct diag diag;
};

static const char usage[] =
    "usage: rdmalab show FILE.ndjson [QUESTION]\n"
    "  shows a trace that \"export events\" or \"run --events\" wrote; FILE - is the standard "
    "input\n"
    "  (none)                           who wrote it, hosts, how many events, what is missing\n"
    "  events [all | 12.3..15 | 12 | last N] [kinds=tx,rx] [host=h1] [from=12.3]\n"
    "                                   json, ndjson, csv or markdown behind it is its form\n"
    "  life 12.3                        a work request, of a post or another event of it\n"
    "  packet [51.3 | last]             what the trace tells of a frame; its bytes are not in it\n"
    "  why [56.4]                       what led to an event; the last that went wrong\n"
    "  why not 51.3                     why a packet has no answer\n"
    "  export why FILE.svg [56.4]       the same as a graph: .svg, .dot, or .txt\n"
    "  count \"tx, host==h1, psn==101\"   how many events match, as count() in an expectation\n"
    "  --ladder FILE [--from 12.3] [--to 20] [--packets N]\n"
    "                                   the ladder as SVG; as text if FILE is -\n"
    "  --timeline FILE.html               the ladder as a page for a browser; --from and --to, "
    "too\n"
    "  An event is written 12.3, or '#12.3' in quotes, as # begins a comment in a shell.\n"
    "exit status: 0 answered, 1 the trace does not know, or not for certain,\n"
    "  2 usage, or FILE is no trace\n";

/* Prints the error.  Returns the exit status. */
static int complain(struct trace_query *a)
{
    diag_print(stderr, &a->src, &a->diag);
    return a->diag.kind == DIAG_SYNTAX ? EXIT_USAGE : EXIT_FAILED;
}

/* Joins the words of the command line to a line that begins with @verb. */
static void set_line(struct trace_query *a, const char *verb, int n, char **words)
{
    size_t cap = strlen(verb) + 1;
    struct text t;

    for (int i = 0; i < n; i++)
        cap += strlen(words[i]) + 1;
    t = text_on(pool_alloc(&a->pool, cap), cap);
    text_add(&t, verb);
    for (int i = 0; i < n; i++) {
        if (t.len)
            text_add(&t, " ");
        text_add(&t, words[i]);
    }
    a->src = source_of(NULL, t.buf);
}

/* Parses the line as one command. */
static struct step *read_step(struct trace_query *a)
{
    struct script script = {.src = a->src, .pool = a->pool};
    struct line_reader r = {.script = &script};
    struct step *st = NULL, *next = NULL;
    enum line_result result = line_next(&r, &st, &a->diag);

    if (result == LINE_STEP && line_next(&r, &next, &a->diag) != LINE_END) {
        diag_set(&a->diag, DIAG_SYNTAX, next ? next->at : (struct span){a->src.len, 0},
                 "one question at a time");
        result = LINE_BAD;
    }
    a->pool = script.pool;
    return result == LINE_STEP ? st : NULL;
}

/* Refuses a question that needs a lab, such as "show h1.qp" or "why h1.cq.wc[0]". */
static int no_state(struct trace_query *a, const char *word, struct span at)
{
    static const char *const known[] = {"events", "packet", "life", "why", "count", "export"};
    struct suggestion near = suggestion_for(word);
    char host[EV_NAME_BYTES];
    struct text t = text_on(host, sizeof(host));
    bool is_host;

    text_addn(&t, word, strcspn(word, ".["));
    is_host = ev_names_find_host(a->past.names, host) != EV_HOST_NONE;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        suggest_offer(&near, known[i]);
    diag_set(&a->diag, DIAG_VALUE, at,
             "a saved trace has no state, so that it does not know \"%s\"", word);
    if (near.best)
        diag_remedy(&a->diag, "did you mean \"%s\"?", near.best);
    else
        diag_remedy(&a->diag, "it knows what happened: events%s%s%s, why 12.3, count \"tx\"",
                    is_host ? " host=" : "", is_host ? host : "",
                    strstr(word, ".wc[") ? " kinds=cqe" : "");
    return complain(a);
}

static int ask_show(struct trace_query *a, const struct step *st)
{
    const struct arg *what = step_arg(st, "what"), *kinds = step_arg(st, "kinds");
    char joined[EV_COUNT * EV_NAME_BYTES] = "";
    struct text t = text_on(joined, sizeof(joined));
    const char *words[SHOW_WORDS_MAX] = {NULL};
    struct show_request rq = {
        .words = words,
        .host = step_text(st, "host"),
        .from = step_text(st, "from"),
        .has_wr_id = step_has(st, "wr_id"),
        .wr_id = step_number_or(st, "wr_id", 0),
        .form = (enum show_form)step_number(st, "format"),
        .colour = modes_colour(),
    };
    struct show_error e = {0};
    struct span at;
    enum rdl_status status;

    for (; rq.n_words < what->n && rq.n_words < SHOW_WORDS_MAX; rq.n_words++)
        words[rq.n_words] = what->v[rq.n_words].text;
    for (size_t i = 0; i < kinds->n; i++)
        text_addf(&t, i ? ",%s" : "%s", kinds->v[i].text);
    rq.kinds = kinds->n ? joined : NULL;
    if (rq.n_words > 1 && show_form_of(words[rq.n_words - 1], &rq.form))
        rq.n_words--;
    status = show(stdout, NULL, &a->past, &rq, &e);
    if (status == RDL_OK)
        return EXIT_PASSED;
    if (status == RDL_ERR_UNSUPPORTED)
        return no_state(a, rq.n_words ? words[0] : "show", what->n ? what->v[0].at : st->at);
    at = e.key ? step_span(st, e.key, e.at) : st->at;
    if (e.word < what->n) {
        at = what->v[e.word].at;
        at.at += e.at;
        at.len -= e.at;
    }
    diag_set(&a->diag, DIAG_VALUE, at, "%s", e.text);
    if (e.remedy[0])
        diag_remedy(&a->diag, "%s", e.remedy);
    return complain(a);
}

/* Answers about a packet, whose events are in the trace.  Any other question needs a lab. */
static int ask_why_not(struct trace_query *a, const char *text, struct span at)
{
    char missing[SHOW_LINE_BYTES];
    struct text t = text_on(missing, sizeof(missing));
    struct why_not *w;
    enum rdl_status status;
    ev_id id;

    if (!ev_id_parse(text, &id)) {
        diag_set(&a->diag, DIAG_VALUE, at, "why not needs the lab, and this is a saved trace");
        diag_remedy(&a->diag, "run the scenario and ask there; of a trace it knows packets: "
                              "why not 12.3");
        return complain(a);
    }
    w = why_not_begin(stdout, NULL, &a->past);
    status = why_not_packet(w, id);
    if (status == RDL_OK) {
        why_not_end(w);
        return EXIT_PASSED;
    }
    why_not_drop(w);
    past_add_not_there(&t, &a->past, id);
    diag_set(&a->diag, DIAG_VALUE, at, "%s", missing);
    return complain(a);
}

/* Reports why there is no answer about the event @target; NULL: none was given. */
static int no_event(struct trace_query *a, const char *target, struct span at,
                    enum rdl_status status)
{
    char why_not[SHOW_LINE_BYTES];
    struct text t = text_on(why_not, sizeof(why_not));
    ev_id id = 0;

    if (status == RDL_ERR_INVAL) {
        diag_set(&a->diag, DIAG_VALUE, at, "this names no event");
        diag_remedy(&a->diag, "an event is like 12.3, and a tick like 12");
        return complain(a);
    }
    if (target && ev_id_parse(target, &id))
        past_add_not_there(&t, &a->past, id);
    else
        text_add(&t, "there are no events in the trace");
    diag_set(&a->diag, DIAG_VALUE, at, "%s", why_not);
    t = text_on(why_not, sizeof(why_not));
    past_add_absence(&t, &a->past, id);
    diag_remedy(&a->diag, "%s", t.len ? why_not : "\"events last 20\" lists what has happened");
    return complain(a);
}

static int ask_why(struct trace_query *a, const struct step *st)
{
    const char *target = step_text(st, "target");
    const struct span at = step_span(st, "target", 0);
    ev_id id = 0;
    size_t off;
    enum rdl_status status;

    if (step_has(st, "not"))
        return ask_why_not(a, step_text(st, "not"), step_span(st, "not", 0));
    if (target && !ev_id_begins(target))
        return no_state(a, target, at);
    status = why_find(NULL, &a->past, target, &id, &off);
    if (status == RDL_OK && !target)
        why_tell_choice(stdout, &a->past, id);
    if (status == RDL_OK)
        status = why(stdout, &a->past, id);
    return status == RDL_OK ? EXIT_PASSED : no_event(a, target, at, status);
}

static int ask_export(struct trace_query *a, const struct step *st)
{
    const char *target = step_text(st, "target");
    const struct span at = step_span(st, "target", 0);
    enum rdl_status status;
    ev_id id = 0;
    size_t off;

    if (!trace_export_can(st, &a->diag))
        return complain(a);
    if (target && !ev_id_begins(target))
        return no_state(a, target, at);
    status = why_find(NULL, &a->past, target, &id, &off);
    if (status != RDL_OK)
        return no_event(a, target, at, status);
    return trace_export_why(&a->past, st, id, &a->diag) ? EXIT_PASSED : complain(a);
}

/* Parses the question as count(...); "count(" and ")" may be omitted.  Reports an error and returns
 * NULL on failure.
 */
static struct expr *read_count(struct trace_query *a)
{
    static const char call[] = "count(";
    static const char example[] = "for example: count \"tx, host==h1, psn==101\"";
    struct expr *e;

    if (a->src.len == 0) {
        diag_set(&a->diag, DIAG_SYNTAX, (struct span){0, 0}, "count of what?");
        diag_remedy(&a->diag, "%s", example);
        return NULL;
    }
    if (strncmp(a->src.text, call, sizeof(call) - 1) != 0) {
        const size_t cap = a->src.len + sizeof(call) + 1;
        struct text t = text_on(pool_alloc(&a->pool, cap), cap);

        text_addf(&t, "%s%s)", call, a->src.text);
        a->src = source_of(NULL, t.buf);
    }
    e = expr_parse(&a->pool, a->src.text, (struct span){0, a->src.len}, &a->diag);
    if (e && e->kind != EXPR_COUNT) {
        diag_set(&a->diag, DIAG_SYNTAX, e->at, "this is more than one count(...)");
        diag_remedy(&a->diag, "%s", example);
        return NULL;
    }
    return e;
}

/* Returns true if the names in the conditions exist.  Otherwise the trace cannot tell; a->diag has
 * the reason.
 */
static bool can_count(struct trace_query *a, struct expr *e)
{
    const struct ev_condition *c = ev_filter_look_up(e->filter, a->past.names);

    if (c) {
        diag_set(&a->diag, DIAG_VALUE, e->at, "no host of the trace is called \"%s\"", c->text);
        return diag_remedy(&a->diag, "\"rdmalab show %s\" lists them", a->file);
    }
    for (size_t i = 0; i < e->filter->n; i++) {
        c = &e->filter->conditions[i];
        if (!ev_condition_names(c) || c->field->print == EVP_HOST ||
            trace_file_has_part(a->saved, c->text))
            continue;
        diag_set(&a->diag, DIAG_VALUE, e->at,
                 "the trace tells of no switch, and of nothing that a fault did, called \"%s\"",
                 c->text);
        return diag_remedy(&a->diag, "\"rdmalab show %s events kinds=%s\" lists what happened",
                           a->file, ev_schema(e->filter->kind)->name);
    }
    c = trace_file_missing_field(a->saved, e->filter);
    if (c)
        return diag_set(&a->diag, DIAG_VALUE, e->at, "not all %s events of the trace have \"%s\"",
                        ev_schema(e->filter->kind)->name, c->field->name);
    return true;
}

/* Prints only the number if it is certain. */
static int ask_count(struct trace_query *a)
{
    struct expr *e = read_count(a);
    unsigned long long n;

    if (!e || !can_count(a, e))
        return complain(a);
    n = past_count(&a->past, e->filter);
    if (trace_file_is_whole(a->saved)) {
        printf("%llu\n", n);
        return EXIT_PASSED;
    }
    printf("at least %llu\n", n);
    fprintf(stderr, "rdmalab: %s: events are missing, or may be; \"rdmalab show %s\" tells more\n",
            SHOWN_NAME(a->file), SHOWN_NAME(a->file));
    return EXIT_FAILED;
}

static int ask(struct trace_query *a, int n, char **words)
{
    const struct step *st;
    bool is_command;

    if (strcmp(words[0], "show") == 0 && n > 1) {
        n--; /* as typed in a session */
        words++;
    }
    if (strcmp(words[0], "count") == 0 || strncmp(words[0], "count(", 6) == 0) {
        const bool bare = words[0][5] == '\0';

        set_line(a, "", n - bare, words + bare);
        return ask_count(a);
    }
    is_command = strcmp(words[0], "why") == 0 || strcmp(words[0], "export") == 0;
    set_line(a, is_command ? "" : "show", n, words);
    st = read_step(a);
    if (!st)
        return complain(a);
    if (st->cmd == &cmd_table[CMD_export])
        return ask_export(a, st);
    return st->cmd == &cmd_table[CMD_why] ? ask_why(a, st) : ask_show(a, st);
}

/* Reads the trace in @file.  Prints errors and returns the exit status. */
static int load(const char *file, struct trace_file **ret)
{
    const bool standard = strcmp(file, "-") == 0;
    FILE *f = standard ? stdin : fopen(file, "rb");
    struct trace_file_error err = {0};
    enum rdl_status st;

    if (!f) {
        const int status = exit_unopened(errno);

        fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(file), strerror(errno));
        return status;
    }
    st = trace_file_read(f, ret, &err);
    if (st != RDL_OK) {
        if (err.line)
            fprintf(stderr, "rdmalab: %s:%zu: %s\n", SHOWN_NAME(file), err.line, err.text);
        else
            fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(file), err.text);
        if (err.line <= 1)
            fputs("  \"rdmalab run FILE --events FILE.ndjson\" writes a trace\n", stderr);
    }
    if (!standard)
        fclose(f);
    if (st == RDL_OK)
        return EXIT_PASSED;
    return st == RDL_ERR_NOMEM ? EXIT_FAILED : EXIT_USAGE;
}

int show_main(int argc, char **argv)
{
    struct ladder_request ladder = {.file = NULL};
    bool help = false;
    const struct option rows[] = {
        LADDER_OPTIONS(ladder),
        {.name = "--help", .flag = &help},
    };
    struct trace_query a = {0};
    struct trace_file *saved = NULL;
    int status;

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    if (help || argc < 2) {
        fputs(usage, help ? stdout : stderr);
        return help ? EXIT_PASSED : EXIT_USAGE;
    }
    if (ladder_lacks_file(&ladder) || (ladder_is_wanted(&ladder) && argc > 2)) {
        fputs(ladder.file       ? "rdmalab: --ladder and a question: one at a time\n"
              : ladder.timeline ? "rdmalab: --timeline and a question: one at a time\n"
                                : "rdmalab: --from, --to and --packets need --ladder FILE or "
                                  "--timeline FILE\n",
              stderr);
        return EXIT_USAGE;
    }
    if (!options_judge_outputs(rows, ARRAY_LEN(rows), argv[1]))
        return EXIT_USAGE;
    status = load(argv[1], &saved);
    if (status != EXIT_PASSED)
        return status;
    a.saved = saved;
    a.past = trace_file_past(saved);
    a.file = argv[1];
    if (ladder_is_wanted(&ladder) || argc > 2) {
        char lead[512];
        struct text t = text_on(lead, sizeof(lead));

        text_addf(&t, "rdmalab: %s: ", SHOWN_NAME(argv[1]));
        show_trace_file_notes(stderr, lead, saved);
    }
    if (ladder_is_wanted(&ladder))
        status = ladder_file(&a.past, trace_file_info(a.saved)->title, NULL, &ladder);
    else if (argc > 2)
        status = ask(&a, argc - 2, argv + 2);
    else
        show_trace_file(stdout, saved);
    pool_free(&a.pool);
    trace_file_free(saved);
    return status;
}
