/* SPDX-License-Identifier: MIT */
/* Every future of the file is replayed from the beginning.  The one that the lab was in comes last.
 *
 * Nothing in a file is trusted.  Commands that only look could write files; they are not carried
 * out.  Nor are ports and programs, now or in any later replay of this history.
 */
#include "cli/exec/resume.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exec/exec.h"
#include "cli/exec/travel.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "print/utf8.h"
#include "print/version.h"
#include "process/must.h"
#include "rdmalab/trace.h"

static const struct span nowhere = {0, 0};

struct resuming {
    struct session *s;
    const struct session_file *w;
    const char *name;
    FILE *err;
    bool told; /* the message about another version was printed */
};

/* The result of a replay. */
enum replayed { REPLAYED_SAME, REPLAYED_OTHER_EVENTS, REPLAYED_OTHER_WAY, REPLAYED_INTERRUPTED };

static bool is_same_version(const struct session_file *w)
{
    return strcmp(w->version, RDMALAB_VERSION) == 0;
}

/* Makes the history of @f that of the session, which goes to its beginning. */
static void begin(struct session *s, struct future *f)
{
    travel_start_over(s);
    s->history->journal = f->journal;
    s->history->typed = f->typed;
    s->history->futures.marks = f->marks;
    f->journal = (struct journal){.marks = NULL};
    f->typed = (struct typed_lines){.v = NULL};
    f->marks = (struct marks){.v = NULL};
    s->history->position.in_past = s->history->journal.log.n > 0;
}

/* Moves the history of the session back into @f. */
static void end(struct session *s, struct future *f)
{
    f->journal = s->history->journal;
    f->typed = s->history->typed;
    f->marks = s->history->futures.marks;
    f->hash = rdl_hash(s->lab);
    s->history->journal = (struct journal){.marks = NULL};
    s->history->typed = (struct typed_lines){.v = NULL};
    s->history->futures.marks = (struct marks){.v = NULL};
    s->history->position = (struct position){.in_past = false};
}

static enum replayed replay_all(struct session *s, uint64_t hash)
{
    const struct place to = position_end(s);
    const bool arrived = travel_to(s, &to, nowhere);

    if (session_is_interrupted(s))
        return REPLAYED_INTERRUPTED;
    if (!arrived || s->history->position.in_past || rdl_tick(s->lab) != to.at.tick ||
        rdl_now_ns(s->lab) != to.at.ns)
        return REPLAYED_OTHER_WAY;
    return hash && hash != rdl_hash(s->lab) ? REPLAYED_OTHER_EVENTS : REPLAYED_SAME;
}

/* --- Messages --------------------------------------------------------------------------------- */

/* Prints the command at which the replay went another way, as a line. */
static void say_command(const struct resuming *e, const char *future)
{
    struct session *s = e->s;
    char *line = NULL;
    size_t n = 0;
    struct log_cursor c;
    FILE *f;

    if (!log_at(&c, &s->history->journal.log, s->history->position.n_entries))
        return;
    f = must_memstream(&line, &n);
    line_write_step(f, c.entry.st, "");
    must_memstream_end(f, &line);
    line[strcspn(line, "\n")] = '\0';
    fprintf(e->err, "  the first command that went another way, in \"%s\": %s\n", future,
            SHOWN_NAME(line));
    fprintf(e->err,
            "  it ended at #%" PRIu64 ", t=%" PRIu64 "ns, and now at #%" PRIu64 ", t=%" PRIu64
            "ns\n",
            c.entry.after.tick, c.entry.after.ns, rdl_tick(s->lab), rdl_now_ns(s->lab));
    free(line);
}

static void say_version(struct resuming *e)
{
    if (!e->told)
        fprintf(e->err, "rdmalab: %s: warning: rdmalab %s wrote it, and this is %s\n",
                SHOWN_NAME(e->name), SHOWN_NAME(e->w->version), RDMALAB_VERSION);
    e->told = true;
}

/* Prints that the replay went another way, although this version wrote the file. */
static int refuse(const struct resuming *e, const char *future, enum replayed how)
{
    fprintf(e->err, "rdmalab: %s: what it says was done goes another way here\n",
            SHOWN_NAME(e->name));
    if (how == REPLAYED_OTHER_WAY)
        say_command(e, future);
    else
        fprintf(e->err, "  in \"%s\" all takes the same time, but other events happen\n", future);
    fputs("  this version of rdmalab wrote it: the file was changed, or this is a bug of rdmalab\n",
          e->err);
    return EXIT_FAILED;
}

/* --- Steps instead of the log ----------------------------------------------------------------- */

/* Carries out the steps of the journal, as if they were typed.  They become the history. */
static void do_steps(struct resuming *e, const char *future)
{
    struct session *s = e->s;
    const struct session_config config = s->config;
    struct journal old = s->history->journal;
    struct script script = {.first = NULL};
    char *text = NULL;
    size_t n = 0;
    FILE *f = must_memstream(&text, &n);
    struct source src;

    script.first = journal_steps(&old, &script.pool);
    line_write_script(f, &script);
    script_done(&script);
    must_memstream_end(f, &text);
    typed_lines_free(&s->history->typed);
    free(s->history->futures.marks.v);
    s->history->futures.marks = (struct marks){.v = NULL};
    s->history->journal = (struct journal){.marks = NULL};
    travel_start_over(s);
    src = source_of(NULL, text);
    /* The file may be hostile: commands that look can write files, and the world outside cannot be
     * replayed.
     */
    s->config.refused_commands = CMD_LOOKS | CMD_SOURCES | CMD_OUTSIDE;
    s->config.out = fopen("/dev/null", "w");
    if (!s->config.out)
        must_fail();
    s->config.verbose = false;
    if (!exec_lines(s, &src, false) && !session_is_interrupted(s))
        fprintf(e->err, "  \"%s\" stops where a command does not work any more: %s\n", future,
                SHOWN_NAME(s->diag.message));
    fclose(s->config.out);
    s->config = config;
    s->diag.kind = DIAG_NONE;
    s->diag_src = (struct source){0};
    journal_free(&old);
    free(text);
}

/* --- Resuming --------------------------------------------------------------------------------- */

/* Replays @f.  EXIT_PASSED: the lab is at its end. */
static int enter_future(struct resuming *e, struct future *f)
{
    struct session *s = e->s;
    enum replayed how;

    begin(s, f);
    how = replay_all(s, f->hash);
    if (how == REPLAYED_SAME)
        return EXIT_PASSED;
    if (how == REPLAYED_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (is_same_version(e->w))
        return refuse(e, f->name, how);
    say_version(e);
    if (how == REPLAYED_OTHER_EVENTS) {
        fprintf(e->err, "  in \"%s\" all takes the same time, but other events happen\n", f->name);
        return EXIT_PASSED;
    }
    say_command(e, f->name);
    fprintf(e->err,
            "  so \"%s\" is what its steps do now: you are at its end, and what was typed "
            "is the lines that \"session save\" writes\n",
            f->name);
    do_steps(e, f->name);
    f->left = position_end(s);
    return session_is_interrupted(s) ? EXIT_INTERRUPTED : EXIT_PASSED;
}

/* Begins to count the events that expressions in @log ask for. */
static void count_log(const struct session *s, const struct log *log)
{
    struct log_cursor c;
    uint64_t times;

    log_begin(&c, log);
    for (;;) {
        switch (log_next_part(&c, &times)) {
        case LOG_PART_NONE:
            return;
        case LOG_PART_ENTRY:
            session_count_ahead(s, c.entry.st);
            break;
        case LOG_PART_LOOP:
        case LOG_PART_END:
            break;
        }
    }
}

/* Makes an empty lab with the seed and the limits of the file. */
static bool make_lab(struct resuming *e)
{
    const struct place start = {0, {0, 0}};
    struct session *s = e->s;
    const struct session_file *w = e->w;

    journal_free(&s->history->journal);
    if (!session_restart(s, w->seed, w->memory_bytes))
        return false;
    if (w->script.header)
        session_begin_scenario(s, w->script.header);
    for (size_t i = 0; i < w->n; i++)
        count_log(s, &w->v[i].journal.log);
    snapshots_pass(&s->history->snapshots, s->lab, &start, true);
    return s->history->snapshots.n > 0;
}

static int enter_all(struct resuming *e, struct session_file *w)
{
    struct session *s = e->s;
    int status = EXIT_PASSED;

    for (size_t i = 1; i < w->n && status == EXIT_PASSED; i++) {
        struct future *f = &w->v[i];

        status = enter_future(e, f);
        end(s, f);
    }
    if (status == EXIT_PASSED)
        status = enter_future(e, &w->v[0]);
    if (status != EXIT_PASSED)
        return status;
    for (size_t i = 1; i < w->n; i++)
        futures_put(&s->history->futures, &w->v[i]);
    w->n = 1; /* the others are the session's */
    futures_rename(&s->history->futures, w->v[0].name, w->v[0].unnamed);
    s->history->futures.n_unnamed = w->n_unnamed;
    if (travel_to(s, &w->v[0].left, nowhere))
        return EXIT_PASSED;
    if (session_is_interrupted(s))
        return EXIT_INTERRUPTED;
    fprintf(e->err, "rdmalab: %s: the place where it was left cannot be reached: %s\n",
            SHOWN_NAME(e->name), SHOWN_NAME(s->diag.message));
    return EXIT_FAILED;
}

int resume_session(struct session *s, struct session_file *w, const char *name, FILE *err)
{
    struct resuming e = {.s = s, .w = w, .name = name, .err = err};
    const struct live_ops *live_ops = s->config.live_ops;
    int status;

    /* A prompt may have made more ticks than a scenario may: the limit is for each step here. */
    s->limits.ticks_per_step = SCENARIO_TICKS_MAX;
    if (!make_lab(&e)) {
        fprintf(err, "rdmalab: %s: there is no memory for its lab\n", SHOWN_NAME(name));
        return EXIT_FAILED;
    }
    s->config.live_ops = NULL;
    s->history->replay.first_time = true;
    s->history->replay.interrupted = s->config.interrupted;
    status = enter_all(&e, w);
    s->history->replay.first_time = false;
    s->history->replay.interrupted = NULL;
    s->history->from_file = true;
    s->config.live_ops = live_ops;
    s->diag.kind = DIAG_NONE;
    if (!is_same_version(w) && !e.told && status == EXIT_PASSED)
        fprintf(err, "rdmalab: %s: rdmalab %s wrote it, and in %s all goes as it did\n",
                SHOWN_NAME(name), SHOWN_NAME(w->version), RDMALAB_VERSION);
    return status;
}
