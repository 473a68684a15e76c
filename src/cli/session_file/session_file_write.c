/* SPDX-License-Identifier: MIT */
/* The file, from top to bottom: keys in one order, so that the same session gives the same bytes.
 *
 * A command that did what its text says is one line.  Any other one has what it left behind in
 * "steps", and in "log" what was carried out.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/lang/json_parts.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session_file/session_file.h"
#include "print/print_json.h"
#include "print/version.h"
#include "process/out_file.h"
#include "rdmalab/trace.h"

static const char *const outcomes[] = {
    [LOG_DONE] = NULL, [LOG_CUT] = "cut", [LOG_REFUSED] = "refused", [LOG_FAILED] = "failed"};

static void write_key(FILE *out, const char *key)
{
    print_json_string(out, key);
    fputs(": ", out);
}

static void write_number(FILE *out, const char *key, uint64_t v)
{
    fputs(", ", out);
    write_key(out, key);
    print_json_number(out, v);
}

static void write_text(FILE *out, const char *key, const char *text)
{
    fputs(", ", out);
    write_key(out, key);
    print_json_string(out, text);
}

/* The members of a place behind that key: so many commands, and how far into the next one. */
static void write_place(FILE *out, const struct log *log, const struct place *p)
{
    struct log_cursor c;

    write_key(out, "commands");
    print_json_number(out, p->n_entries);
    if (!log_at(&c, log, p->n_entries))
        return;
    if (p->at.tick > c.entry.before.tick)
        write_number(out, "ticks", p->at.tick - c.entry.before.tick);
    if (p->at.ns > c.entry.before.ns)
        write_number(out, "ns", p->at.ns - c.entry.before.ns);
}

/* A line of its own that begins with @indent blanks. */
static void new_line(FILE *out, bool first, size_t indent)
{
    fprintf(out, "%s\n%*s", first ? "" : ",", (int)indent, "");
}

static void end_list(FILE *out, bool empty, size_t indent)
{
    if (!empty)
        fprintf(out, "\n%*s", (int)indent, "");
    fputc(']', out);
}

static void write_lines(FILE *out, const struct typed_lines *lines)
{
    fputs(",\n      \"lines\": [", out);
    for (size_t i = 0; i < lines->n; i++) {
        new_line(out, i == 0, 8);
        fputs("{\"text\": ", out);
        print_json_string(out, lines->v[i].text);
        write_number(out, "commands", lines->v[i].at.n_entries);
        fputc('}', out);
    }
    end_list(out, lines->n == 0, 6);
}

static void write_marks(FILE *out, const struct marks *marks, const struct log *log)
{
    fputs(",\n      \"names\": [", out);
    for (size_t i = 0; i < marks->n; i++) {
        new_line(out, i == 0, 8);
        fputs("{\"name\": ", out);
        print_json_string(out, marks->v[i].name);
        fputs(", ", out);
        write_place(out, log, &marks->v[i].place);
        fputc('}', out);
    }
    end_list(out, marks->n == 0, 6);
}

/* --- What was done ---------------------------------------------------------------------------- */

/* Steps and entries are members of their lists that begin so, and are not closed. */
static void write_done(FILE *out, const struct step *st, const char *host, size_t indent)
{
    fputs("{\"step\": ", out);
    json_write_step(out, st, indent / 2);
    if (host[0])
        write_text(out, "on", host);
}

static void write_entry(FILE *out, const struct log_entry *e, size_t indent)
{
    const uint64_t ticks = e->after.tick - e->before.tick, ns = e->after.ns - e->before.ns;

    write_done(out, e->st, e->host, indent);
    if (outcomes[e->outcome])
        write_text(out, "ended", outcomes[e->outcome]);
    if (ticks)
        write_number(out, "ticks", ticks);
    if (ns)
        write_number(out, "ns", ns);
    fputc('}', out);
}

/* Returns the number of entries that are over after @c. */
static uint64_t n_over(const struct log_cursor *c)
{
    return c->entry.i + 1;
}

/* Writes the entries up to entry @end. */
static void write_log(FILE *out, struct log_cursor *c, uint64_t end)
{
    size_t indent = 12;
    bool first = true;
    uint64_t times = 0;

    fputc('[', out);
    while (c->depth > 0 || n_over(c) < end) {
        switch (log_next_part(c, &times)) {
        case LOG_PART_ENTRY:
            new_line(out, first, indent);
            write_entry(out, &c->entry, indent);
            first = false;
            break;
        case LOG_PART_LOOP:
            new_line(out, first, indent);
            fprintf(out, "{\"times\": %llu, \"log\": [", (unsigned long long)times);
            indent += 2;
            first = true;
            break;
        case LOG_PART_END:
            indent -= 2;
            end_list(out, false, indent);
            fputc('}', out);
            first = false;
            break;
        case LOG_PART_NONE:
            return; /* marks lead no farther than the log */
        }
    }
    end_list(out, first, 10);
}

/* Writes the deeds from @d up to @end. */
static void write_deeds(FILE *out, const struct deed *d, const struct deed *end)
{
    const bool empty = d == end;

    fputc('[', out);
    for (bool first = true; d != end; d = d->next, first = false) {
        new_line(out, first, 12);
        write_done(out, d->st, d->host, 12);
        fputc('}', out);
    }
    end_list(out, empty, 10);
}

/* Returns true if a command did what its text says: its deed, from @d to @end, is its entry. */
static bool is_simple(const struct log_entry *e, const struct deed *d, const struct deed *end)
{
    return d != end && d->next == end && e->outcome == LOG_DONE && strcmp(e->host, d->host) == 0 &&
           step_equal(e->st, d->st);
}

static void write_journal(FILE *out, const struct journal *j)
{
    const struct deed *d = j->done.first;
    struct log_cursor c, ahead;
    uint64_t times;

    log_begin(&c, &j->log);
    fputs(",\n      \"done\": [", out);
    for (size_t i = 0; i < j->n_marks; i++) {
        const struct journal_mark *mark = &j->marks[i];
        const struct deed *end = mark->last ? mark->last->next : d;

        new_line(out, i == 0, 8);
        ahead = c;
        if (mark->n_entries == n_over(&c) + 1 && log_next_part(&ahead, &times) == LOG_PART_ENTRY &&
            is_simple(&ahead.entry, d, end)) {
            c = ahead;
            write_entry(out, &c.entry, 8);
        } else {
            fputs("{\n          \"steps\": ", out);
            write_deeds(out, d, end);
            fputs(",\n          \"log\": ", out);
            write_log(out, &c, mark->n_entries);
            fputs("\n        }", out);
        }
        d = end;
    }
    end_list(out, j->n_marks == 0, 6);
}

/* --- The file --------------------------------------------------------------------------------- */

static void write_future(FILE *out, const struct future *f, bool first)
{
    new_line(out, first, 4);
    fputs("{\n      \"name\": ", out);
    print_json_string(out, f->name);
    if (f->unnamed)
        fputs(", \"unnamed\": true", out);
    if (f->hash)
        fprintf(out, ", \"hash\": \"%016llx\"", (unsigned long long)f->hash);
    fputs(",\n      \"here\": {", out);
    write_place(out, &f->journal.log, &f->left);
    fputc('}', out);
    write_marks(out, &f->marks, &f->journal.log);
    write_lines(out, &f->typed);
    write_journal(out, &f->journal);
    fputs("\n    }", out);
}

/* Returns the current future.  Everything that it points to still belongs to the session. */
static struct future current(const struct session *s, uint64_t hash)
{
    struct future f = {.unnamed = s->history->futures.unnamed,
                       .journal = s->history->journal,
                       .typed = s->history->typed,
                       .marks = s->history->futures.marks,
                       .left = position_here(s),
                       .hash = hash};
    struct text t = text_on(f.name, sizeof(f.name));

    text_add(&t, futures_current(&s->history->futures));
    return f;
}

void session_file_write(const struct session *s, uint64_t hash, FILE *out)
{
    const struct future here = current(s, hash);
    bool begun = false;

    fprintf(out, "{\n  \"world\": %u,\n  \"rdmalab\": ", SESSION_FILE_FORM);
    print_json_string(out, RDMALAB_VERSION);
    fputs(",\n  \"seed\": ", out);
    print_json_number(out, s->lab_info.seed);
    if (s->lab_info.memory_bytes) {
        fputs(",\n  \"memory\": ", out);
        print_json_number(out, s->lab_info.memory_bytes);
    }
    if (s->history->header) {
        fputs(",\n  \"scenario\": {", out);
        json_write_header(out, s->history->header, "    ", &begun);
        fputs(begun ? "\n  }" : "}", out);
    }
    if (s->history->futures.n_unnamed) {
        fputs(",\n  \"left\": ", out);
        print_json_number(out, s->history->futures.n_unnamed);
    }
    fputs(",\n  \"futures\": [", out);
    write_future(out, &here, true);
    for (size_t i = 0; i < s->history->futures.n; i++)
        write_future(out, &s->history->futures.v[i], false);
    fputs("\n  ]\n}\n", out);
}

/* Returns true if @j has a deed that reaches the world outside, also in a block.  Such a session
 * cannot be saved.
 */
static bool reaches_out(const struct journal *j)
{
    for (const struct deed *d = j->done.first; d; d = d->next) {
        if (step_with(d->st, CMD_OUTSIDE))
            return true;
    }
    return false;
}

const char *session_file_obstacle(const struct session *s)
{
    size_t n_names = s->history->futures.marks.n;
    bool out = reaches_out(&s->history->journal);

    for (size_t i = 0; i < s->history->futures.n; i++) {
        n_names += s->history->futures.v[i].marks.n;
        out = out || reaches_out(&s->history->futures.v[i].journal);
    }
    if (s->history->futures.n >= SESSION_FILE_FUTURES_MAX || n_names > SESSION_FILE_NAMES_MAX)
        return "there are too many futures, or names of places, for one file";
    return out ? "what was done asks for ports or programs, which no file may that can be opened"
               : NULL;
}

const char *session_file_save(const struct session *s, uint64_t hash, struct out_file *o)
{
    session_file_write(s, hash, o->f);
    if (o->part && ftello(o->f) > (off_t)SESSION_FILE_BYTES_MAX) {
        out_file_drop(o);
        return "what was done is too much for a file that can be opened again";
    }
    return out_file_close(o);
}
