/* SPDX-License-Identifier: MIT */
#include "cli/session/session.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lang/line.h"
#include "cli/live/live.h"
#include "cli/session/advance.h"
#include "cli/session/expr_count.h"
#include "cli/session/history.h"
#include "cli/session/places.h"
#include "cli/session/shown.h"
#include "cli/session/stop_look.h"
#include "cli/session/unmet.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "print/show_text.h"
#include "print/utf8.h"
#include "process/must.h"
#include "rdmalab/trace.h"

#define INDENT_MORE 4u /* of the rest of a long line, behind its own indent */

static void close_lab(struct session *s)
{
    shown_done(&s->display.shown);
    if (s->outside.live)
        s->config.live_ops->close(s->outside.live);
    s->outside.live = NULL;
    rdl_lab_free(s->lab);
    s->lab = NULL;
    s->stops.listener = NULL; /* it was freed with the lab */
}

/* Replaces the lab of the session by an empty one.  If there is no memory for it, the old one
 * stays.
 */
static enum rdl_status open_lab(struct session *s, uint64_t seed, size_t memory_bytes)
{
    const struct rdl_lab_config config = {
        .seed = seed, .arena_bytes_max = memory_bytes, .check_invariants = true};
    struct rdl_lab *lab = NULL;
    enum rdl_status st = rdl_lab_new(&config, &lab);

    if (st == RDL_OK)
        st = rdl_record(lab, 0, 0);
    if (st == RDL_OK)
        st = rdl_hash_start(lab);
    if (st != RDL_OK) {
        rdl_lab_free(lab);
        return st;
    }
    close_lab(s);
    snapshots_done(&s->history->snapshots);
    futures_free(&s->history->futures);
    typed_lines_free(&s->history->typed);
    changes_forget(&s->display.changes);
    conditions_free(&s->conditions);
    remainders_free(&s->run.remainders);
    unmet_free(&s->run.unmet);
    places_free(s);
    vq_looks_done(&s->display.vq_looks);
    s->history->position = (struct position){.in_past = false};
    s->history->replay = (struct replay){.active = false};
    s->history->from_file = false;
    s->outside.was_used = false;
    s->lab = lab;
    s->lab_info.seed = seed;
    s->lab_info.memory_bytes = memory_bytes;
    s->lab_info.memory_full = false;
    st = shown_init(&s->display.shown, lab, s->config.out, s->config.colour, s->config.share);
    if (st == RDL_OK && s->config.observer.opened)
        st = s->config.observer.opened(s->config.observer.ctx, lab);
    s->lab_info.first_tick = rdl_tick(lab);
    if (st == RDL_OK && !stops_move(s))
        st = RDL_ERR_NOMEM;
    return st;
}

void session_no_lab(FILE *err, const struct session_config *config, enum rdl_status st)
{
    fprintf(err, "rdmalab: a lab cannot be made: %s\n", rdl_status_str(st));
    if (st == RDL_ERR_NOMEM && config->memory_bytes)
        fputs("  give it more with --memory, or leave that out\n", err);
    else if (st == RDL_ERR_NOMEM)
        fputs("  it needs 1 GiB of address space; the most that a program gets here is what "
              "\"ulimit -v\" prints, in KiB\n",
              err);
}

enum rdl_status session_new(const struct session_config *config, struct session **ret)
{
    struct session *s = calloc(1, sizeof(*s));
    enum rdl_status st;

    if (!s)
        return RDL_ERR_NOMEM;
    s->history = calloc(1, sizeof(*s->history));
    if (!s->history) {
        free(s);
        return RDL_ERR_NOMEM;
    }
    s->config = *config;
    s->limits.whole.ticks = SCENARIO_TICKS_MAX;
    snapshots_init(&s->history->snapshots, config->history_bytes);
    st = open_lab(s, config->seed, config->memory_bytes);
    if (st != RDL_OK) {
        session_free(s);
        return st;
    }
    *ret = s;
    return RDL_OK;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    snapshots_done(&s->history->snapshots);
    futures_free(&s->history->futures);
    typed_lines_free(&s->history->typed);
    changes_forget(&s->display.changes);
    remainders_free(&s->run.remainders);
    vq_looks_done(&s->display.vq_looks);
    close_lab(s);
    journal_free(&s->history->journal);
    pool_free(&s->history->header_pool);
    pool_free(&s->run.macros.pool);
    unmet_free(&s->run.unmet);
    places_free(s);
    stops_free(&s->stops);
    conditions_free(&s->conditions);
    gate_done(&s->gate);
    free(s->history);
    free(s);
}

bool session_restart(struct session *s, uint64_t seed, size_t memory_bytes)
{
    return open_lab(s, seed, memory_bytes) == RDL_OK;
}

void session_begin_scenario(struct session *s, const struct step *st)
{
    s->limits.whole.ticks = step_number(st, "ticks");
    if (step_has(st, "ticks"))
        s->limits.ticks_per_step = 0;
    s->limits.whole.ns = step_number_or(st, "time", 0);
    s->history->header = step_copy(&s->history->header_pool, st);
}

bool session_fail(struct session *s, struct span at, const char *fmt, ...)
{
    char message[DIAG_MESSAGE_BYTES];
    struct text t = text_on(message, sizeof(message));
    va_list args;

    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    return diag_set(&s->diag, DIAG_FAILED, at, "%s", message);
}

bool session_ignores_error(struct session *s)
{
    const struct source *src = s->run.block ? s->run.block->src : &s->diag_src;
    struct text t;
    size_t line, col;

    if (!s->config.expectations_ignored)
        return false;
    if (s->run.not_held[0] == '\0') {
        t = text_on(s->run.not_held, sizeof(s->run.not_held));
        source_place(src, s->diag.at.at, &line, &col);
        text_addf(&t, "line %zu: %s", line, s->diag.message);
        s->run.not_held_line = line;
    }
    s->diag = (struct diag){0};
    s->diag_src = (struct source){0};
    return true;
}

void session_place(const struct session *s, struct span at, char ret[SESSION_PLACE_BYTES])
{
    const struct source *src = s->run.block ? s->run.block->src : NULL;
    struct text t = text_on(ret, SESSION_PLACE_BYTES);
    size_t line, column;

    if (!src || !src->name)
        return;
    source_place(src, at.at, &line, &column);
    text_addf(&t, "%s:%zu", source_shown_name(src), line);
}

bool session_interrupted(struct session *s, struct span at)
{
    if (!session_is_interrupted(s) || (s->run.block && s->run.block->undisturbed))
        return false;
    s->run.step.interrupted = true;
    session_fail(s, at, "interrupted");
    return true;
}

bool session_fail_status(struct session *s, struct span at, const char *what, enum rdl_status st)
{
    return diag_status(&s->diag, at, what, st);
}

bool session_is_live(const struct session *s)
{
    return s->outside.live && s->config.live_ops->attached(s->outside.live);
}

void session_print_outside(struct session *s, const char *lines)
{
    shown_flush(&s->display.shown);
    if (s->prompt.print_around) {
        s->prompt.print_around(lines);
        return;
    }
    fputs(lines, s->config.out);
    fflush(s->config.out);
}

/* Prints @text.  Its whole lines are broken between words where the terminal is too narrow. */
static void print_lines(FILE *out, char *text)
{
    for (char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        *end = '\0';
        show_long(out, (unsigned)strspn(text, " ") + INDENT_MORE, text);
        fputc('\n', out);
    }
    fputs(text, out);
}

void session_say(struct session *s, const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    size_t n = 0;
    FILE *f;

    /* After the last printed event, answers would have no context. */
    if (!s->config.verbose || s->display.shown.full)
        return;
    shown_flush(&s->display.shown);
    f = must_memstream(&text, &n);
    va_start(args, fmt);
    vfprintf(f, fmt, args);
    va_end(args);
    must_memstream_end(f, &text);
    print_lines(s->config.out, text);
    free(text);
}

void session_made(struct session *s, const char *host, const char *fmt, ...)
{
    struct made one = {""};
    struct made *made = s->run.block->made ? s->run.block->made : &one;
    struct text t = {made->text, strlen(made->text), sizeof(made->text), false};
    va_list args;

    va_start(args, fmt);
    if (t.len)
        text_add(&t, ", ");
    text_addv(&t, fmt, args);
    va_end(args);
    if (made == &one) /* otherwise the end of the block prints it */
        session_say(s, "%s: %s\n", host, one.text);
}

bool session_is_over(const struct session *s)
{
    return s->run.quit || s->stops.hit;
}

struct scope session_outer_scope(const struct session *s)
{
    return (struct scope){
        .lab = s->lab, .host = "", .live_ops = s->config.live_ops, .live = s->outside.live};
}

struct scope session_scope(const struct session *s)
{
    struct scope in = session_outer_scope(s);

    if (s->run.block)
        in.host = s->run.block->host;
    return in;
}

struct limit session_limit(const struct session *s)
{
    if (s->run.block && s->run.block->last_tick && s->run.block->n_lifted == s->limits.n_lifted)
        return (struct limit){s->run.block->last_tick, false};
    if (s->limits.ticks_per_step)
        return (struct limit){s->run.step.first_tick + s->limits.ticks_per_step, true};
    return (struct limit){s->limits.whole.ticks, false};
}

void session_lift_limits(struct session *s)
{
    s->limits.whole.ticks = 0;
    s->limits.n_lifted++;
    s->outside.was_used = true;
    snapshots_done(&s->history->snapshots);
    snapshots_init(&s->history->snapshots, 0);
}

void session_say_plain(struct session *s, const char *text)
{
    /* A byte becomes at most four characters. */
    const size_t cap = 4 * strlen(text) + 1;
    char *shown = must_malloc(cap);
    struct text t = text_on(shown, cap);

    utf8_add_printable(&t, text, true);
    session_say(s, "%s", shown);
    free(shown);
}

void session_read(const struct session *s, const struct source *src, const struct tokens *tokens,
                  bool abbreviated, struct lines *ret)
{
    struct line_reader r = {.script = &ret->script,
                            .abbreviated = abbreviated,
                            /* Of a file, run_scenario() says why its first line is refused. */
                            .begun = src->typed && session_has_begun(s),
                            .tokens = tokens};
    size_t bad_at;
    const char *why = source_check_text(src, &bad_at);

    *ret = (struct lines){.script = {.src = *src, .known = &s->run.macros.list}};
    if (why)
        diag_set(&ret->wrong, DIAG_SYNTAX, (struct span){bad_at, 1}, "%s", why);
    else
        line_read_rest(&r, ret);
}

void session_complain(struct session *s, FILE *err)
{
    fflush(s->config.out);
    diag_print(err, &s->diag_src, &s->diag);
    fflush(err);
}

int session_exit_status(const struct session *s)
{
    if (s->run.step.interrupted)
        return EXIT_INTERRUPTED;
    switch (s->diag.kind) {
    case DIAG_NONE:
        return EXIT_PASSED;
    case DIAG_SYNTAX:
        return EXIT_USAGE;
    case DIAG_VALUE:
    case DIAG_FAILED:
    case DIAG_LIMIT:
    case DIAG_EXPECT:
    case DIAG_FORBIDDEN:
    case DIAG_MEMORY:
        return EXIT_FAILED;
    case DIAG_TIMEOUT:
        return EXIT_TIMEOUT;
    case DIAG_BROKEN:
        return EXIT_BROKEN;
    }
    return EXIT_FAILED;
}

int session_failure_status(const struct session *s)
{
    return exit_worse(session_exit_status(s), EXIT_FAILED);
}

bool session_programs_late(const struct session *s)
{
    return s->outside.live && (s->diag.kind == DIAG_TIMEOUT || s->diag.kind == DIAG_LIMIT ||
                               (s->diag.kind == DIAG_EXPECT && s->run.unmet.is_late));
}
