/* SPDX-License-Identifier: MIT */
/* A file from anybody: what is wrong in it is said with its place, and nothing of it is carried
 * out here.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/lang/json_parts.h"
#include "cli/session/files.h"
#include "cli/session_file/session_file.h"
#include "emu/base/assert.h"
#include "emu/base/name.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "print/utf8.h"
#include "process/must.h"

#define WARNINGS_MAX 10u
#define MEMBERS_MAX  8u

struct file_reader {
    const struct source *src;
    struct session_file *w;
    struct script step; /* what is read of one command */
    FILE *err;
    unsigned n_warnings;
    struct diag *d;
    struct place *ends; /* of the commands of the future that is read, and its beginning */
    size_t n_ends, ends_room;
    size_t n_names; /* of places, in all futures */
    const volatile sig_atomic_t *interrupted;
};

static bool fail(struct file_reader *r, struct span at, const char *message)
{
    return diag_set(r->d, DIAG_VALUE, at, "%s", message);
}

/* --- Values ----------------------------------------------------------------------------------- */

static void warn_unknown(struct file_reader *r, const struct json_member *m)
{
    size_t line, col;

    if (++r->n_warnings > WARNINGS_MAX)
        return;
    source_place(r->src, m->key_at.at, &line, &col);
    fprintf(r->err, "%s:%zu:%zu: warning: \"%s\" is not known here, and passed over\n",
            SHOWN_NAME(source_shown_name(r->src)), line, col, SHOWN_NAME(m->key));
}

/* The members of the object @v that @keys names, up to NULL; ret[i].item is NULL where there is
 * none.
 */
static bool members(struct file_reader *r, struct json_value v, const char *const *keys,
                    struct json_value ret[MEMBERS_MAX])
{
    struct json_walk walk;
    struct json_member m;
    size_t i;

    memset(ret, 0, MEMBERS_MAX * sizeof(*ret));
    if (r->interrupted && *r->interrupted)
        return fail(r, v.at, "interrupted");
    if (!cJSON_IsObject(v.item))
        return fail(r, v.at, "this must be an object");
    walk = json_walk(r->src, v);
    while (json_next(&walk, &m)) {
        for (i = 0; keys[i] && strcmp(keys[i], m.key) != 0; i++)
            ;
        if (!keys[i]) {
            warn_unknown(r, &m);
            continue;
        }
        if (ret[i].item)
            return fail(r, m.key_at, "this key is there twice");
        ret[i] = m.value;
    }
    return true;
}

/* Something that must be there is not. */
static bool missing(struct file_reader *r, struct json_value v, const char *key)
{
    return diag_set(r->d, DIAG_VALUE, (struct span){v.at.at, 1}, "\"%s\" is missing here", key);
}

/* A whole number up to @max, as a number or a string; *ret stays where @v is not there. */
static bool read_number(struct file_reader *r, struct json_value v, uint64_t max, uint64_t *ret)
{
    char text[24];
    struct text t = text_on(text, sizeof(text));
    uint64_t n;

    if (!v.item)
        return true;
    if (cJSON_IsString(v.item) && !json_has_nul(r->src, v.at))
        text_add(&t, v.item->valuestring);
    else if (cJSON_IsNumber(v.item))
        text_addn(&t, r->src->text + v.at.at, v.at.len);
    if (t.len == 0 || t.cut || strspn(text, "0123456789") != t.len ||
        quantity_parse(QUANTITY_NUMBER, text, &n))
        return fail(r, v.at, "this must be a whole number");
    if (n > max)
        return diag_set(r->d, DIAG_VALUE, v.at, "this must not be more than %llu",
                        (unsigned long long)max);
    *ret = n;
    return true;
}

/* A string of less than @cap bytes. */
static bool read_text(struct file_reader *r, struct json_value v, char *ret, size_t cap)
{
    struct text t = text_on(ret, cap);

    if (!v.item || !cJSON_IsString(v.item))
        return fail(r, v.at, "this must be a string");
    if (json_has_nul(r->src, v.at))
        return fail(r, v.at, "a string cannot contain \\u0000");
    text_add(&t, v.item->valuestring);
    return !t.cut || fail(r, v.at, "this string is too long");
}

static bool read_name(struct file_reader *r, struct json_value v, char ret[RDL_NAME_BYTES])
{
    return read_text(r, v, ret, RDL_NAME_BYTES) &&
           (name_is_valid(ret) || fail(r, v.at, "this is no name"));
}

/* Reads each element of a list, which may be missing, up to the first that is wrong. */
static bool read_list(struct file_reader *r, struct json_value v,
                      bool (*read_one)(struct file_reader *r, struct json_value v, void *ctx),
                      void *ctx)
{
    struct json_walk walk;
    struct json_member m;

    if (!v.item)
        return true;
    if (!cJSON_IsArray(v.item))
        return fail(r, v.at, "this must be a list");
    walk = json_walk(r->src, v);
    while (json_next(&walk, &m)) {
        if (!read_one(r, m.value, ctx))
            return false;
    }
    return true;
}

/* --- What was done ---------------------------------------------------------------------------- */

enum done_key {
    DONE_STEP,
    DONE_ON,
    DONE_ENDED,
    DONE_TICKS,
    DONE_NS,
    DONE_STEPS,
    DONE_LOG,
    DONE_TIMES
};
static const char *const done_keys[MEMBERS_MAX + 1] = {
    [DONE_STEP] = "step", [DONE_ON] = "on",       [DONE_ENDED] = "ended", [DONE_TICKS] = "ticks",
    [DONE_NS] = "ns",     [DONE_STEPS] = "steps", [DONE_LOG] = "log",     [DONE_TIMES] = "times"};

struct done {
    struct json_value v[MEMBERS_MAX];
    struct step *st;
    char host[RDL_NAME_BYTES];
};

/* Reads the step of @v, and where it was carried out. */
static bool read_done(struct file_reader *r, struct json_value v, struct done *ret)
{
    *ret = (struct done){.st = NULL};
    if (!members(r, v, done_keys, ret->v))
        return false;
    if (!ret->v[DONE_STEP].item)
        return true;
    if (!json_read_step(&r->step, ret->v[DONE_STEP], &ret->st, r->d)) {
        r->d->kind = DIAG_VALUE;
        return false;
    }
    return !ret->v[DONE_ON].item || read_name(r, ret->v[DONE_ON], ret->host);
}

static bool read_outcome(struct file_reader *r, struct json_value v, enum log_outcome *ret)
{
    static const char *const words[] = {
        [LOG_CUT] = "cut", [LOG_REFUSED] = "refused", [LOG_FAILED] = "failed"};

    *ret = LOG_DONE;
    if (!v.item)
        return true;
    for (unsigned i = LOG_CUT; i < ARRAY_LEN(words) && cJSON_IsString(v.item); i++) {
        if (strcmp(words[i], v.item->valuestring) == 0)
            *ret = (enum log_outcome)i;
    }
    return *ret != LOG_DONE || fail(r, v.at, "this must be \"cut\", \"refused\" or \"failed\"");
}

/* Returns true if the session has room for this. */
static bool fits(struct file_reader *r, const struct log *log, const struct json_value *at,
                 uint64_t n, const struct log_entry *one)
{
    const uint64_t entries = one->i, ticks = one->after.tick, ns = one->after.ns;

    if (entries && n > (SESSION_FILE_DONE_MAX - log->n) / entries)
        return fail(r, at->at, "these are more commands than a world may have");
    if ((ticks && n > (SESSION_FILE_MOMENT_MAX - log->end.tick) / ticks) ||
        (ns && n > (SESSION_FILE_MOMENT_MAX - log->end.ns) / ns))
        return fail(r, at->at, "this takes more time than there is");
    return true;
}

/* Nothing that a file says was done may reach out of the lab. */
static bool stays_inside(struct file_reader *r, const struct step *st)
{
    const struct step *out = step_with(st, CMD_OUTSIDE);

    return !out ||
           diag_set(r->d, DIAG_VALUE, out->at,
                    "%s reaches out of the lab, which nothing in a world may", out->cmd->name);
}

/* An entry of the log at its end. */
static bool read_entry(struct file_reader *r, struct json_value v, const struct done *done,
                       const struct log *log, struct log_entry *ret)
{
    struct log_entry took = {.i = 1};
    const struct cmd *cmd = done->st->cmd;

    if ((step_flags(done->st) &
         (CMD_LOOKS | CMD_HEADER | CMD_NOTE | CMD_PROMPT_ONLY | CMD_SOURCES)) ||
        ((cmd->flags & CMD_BLOCK) && !(cmd->flags & CMD_AT_ONCE)))
        return diag_set(r->d, DIAG_VALUE, done->st->at, "%s is nothing that a log has", cmd->name);
    *ret = (struct log_entry){.st = done->st, .host = done->host, .before = log->end};
    if (!read_outcome(r, done->v[DONE_ENDED], &ret->outcome) ||
        !read_number(r, done->v[DONE_TICKS], SESSION_FILE_MOMENT_MAX, &took.after.tick) ||
        !read_number(r, done->v[DONE_NS], SESSION_FILE_MOMENT_MAX, &took.after.ns) ||
        !fits(r, log, &v, 1, &took))
        return false;
    /* A command that failed at once is not replayed. */
    if ((ret->outcome == LOG_DONE || took.after.tick || took.after.ns) &&
        !stays_inside(r, done->st))
        return false;
    ret->after = (struct moment){log->end.tick + took.after.tick, log->end.ns + took.after.ns};
    return true;
}

static bool read_log(struct file_reader *r, struct json_value v, struct log *log, size_t depth);

/* Iterations that did the same in the same time. */
static bool read_loop(struct file_reader *r, struct json_value v, const struct done *done,
                      struct log *log, size_t depth)
{
    struct log_entry one = {.i = log->n, .before = log->end};
    struct log_block b;
    uint64_t n = 0;

    if (!read_number(r, done->v[DONE_TIMES], SESSION_FILE_DONE_MAX, &n))
        return false;
    if (n < 2)
        return fail(r, done->v[DONE_TIMES].at, "a loop is done at least twice");
    if (depth + 1 >= LOG_LOOPS_MAX)
        return fail(r, v.at, "too many loops in each other");
    log_open(log, &b);
    if (!read_log(r, done->v[DONE_LOG], log, depth + 1))
        return false;
    one =
        (struct log_entry){.i = log->n - one.i,
                           .after = {log->end.tick - one.before.tick, log->end.ns - one.before.ns}};
    if (one.i == 0)
        return fail(r, v.at, "a loop must have something in it");
    if (!fits(r, log, &v, n - 1, &one))
        return false;
    log_round(log, &b);
    log_again(log, &b, n);
    return true;
}

/* The log that is read, @depth loops deep. */
struct logging {
    struct log *log;
    size_t depth;
};

static bool read_logged(struct file_reader *r, struct json_value v, void *ctx)
{
    const struct logging *l = ctx;
    struct log_entry e;
    struct done done;

    if (!read_done(r, v, &done))
        return false;
    if (done.v[DONE_TIMES].item)
        return read_loop(r, v, &done, l->log, l->depth);
    if (!done.st)
        return missing(r, v, "step");
    if (!read_entry(r, v, &done, l->log, &e))
        return false;
    log_add(l->log, &e);
    return true;
}

/* Depth is bounded by LOG_LOOPS_MAX. */
static bool read_log(struct file_reader *r, struct json_value v, struct log *log, size_t depth)
{
    struct logging l = {log, depth};

    return read_list(r, v, read_logged, &l);
}

static bool read_deed(struct file_reader *r, struct json_value v, void *journal)
{
    struct done done;

    if (!read_done(r, v, &done))
        return false;
    if (!done.st)
        return missing(r, v, "step");
    if (!stays_inside(r, done.st))
        return false;
    journal_put(journal, done.st, done.host);
    return true;
}

/* One command outside of all blocks. */
static bool read_command(struct file_reader *r, struct json_value v, struct journal *j)
{
    struct done done;
    struct log_entry e = {.outcome = LOG_DONE};

    if (!read_done(r, v, &done))
        return false;
    if (!done.st) {
        if (!done.v[DONE_LOG].item || !done.v[DONE_STEPS].item)
            return missing(r, v, done.v[DONE_LOG].item ? "steps" : "step");
        if (!read_list(r, done.v[DONE_STEPS], read_deed, j) ||
            !read_log(r, done.v[DONE_LOG], &j->log, 0))
            return false;
    } else {
        if (!read_entry(r, v, &done, &j->log, &e))
            return false;
        if (e.outcome != LOG_DONE)
            return fail(r, done.v[DONE_ENDED].at, "what ended so has \"steps\" and \"log\"");
        log_add(&j->log, &e);
        journal_put(j, done.st, done.host);
    }
    journal_put_end(j);
    return true;
}

static void add_end(struct file_reader *r, const struct log *log)
{
    r->ends = must_grow(r->ends, r->n_ends, &r->ends_room, sizeof(*r->ends));
    r->ends[r->n_ends++] = (struct place){log->n, log->end};
}

static bool read_next_command(struct file_reader *r, struct json_value v, void *journal)
{
    struct journal *j = journal;
    const bool ok = read_command(r, v, j);

    add_end(r, &j->log);
    pool_free(&r->step.pool);
    return ok;
}

static bool read_journal(struct file_reader *r, struct json_value v, struct journal *j)
{
    r->n_ends = 0;
    add_end(r, &j->log);
    return read_list(r, v, read_next_command, j);
}

/* --- Places ----------------------------------------------------------------------------------- */

enum place_key { PLACE_COMMANDS, PLACE_TICKS, PLACE_NS, PLACE_LABEL };

/* A place, and what is called so by @label. */
static bool read_place(struct file_reader *r, struct json_value v, const char *label,
                       const struct log *log, struct json_value *ret_label, struct place *ret)
{
    const char *const keys[] = {"commands", "ticks", "ns", label, NULL};
    struct json_value m[MEMBERS_MAX];
    struct moment into = {0, 0};
    struct log_cursor c;

    *ret = (struct place){log->n, log->end};
    if (!members(r, v, keys, m))
        return false;
    if (!m[PLACE_COMMANDS].item)
        return missing(r, v, "commands");
    if (label && !m[PLACE_LABEL].item)
        return missing(r, v, label);
    if (!read_number(r, m[PLACE_COMMANDS], log->n, &ret->n_entries) ||
        !read_number(r, m[PLACE_TICKS], SESSION_FILE_MOMENT_MAX, &into.tick) ||
        !read_number(r, m[PLACE_NS], SESSION_FILE_MOMENT_MAX, &into.ns))
        return false;
    if (log_at(&c, log, ret->n_entries)) {
        ret->at = (struct moment){c.entry.before.tick + into.tick, c.entry.before.ns + into.ns};
        if (ret->at.tick > c.entry.after.tick || ret->at.ns > c.entry.after.ns)
            return fail(r, v.at, "this place is behind the command that it is said to be in");
    } else if (into.tick || into.ns) {
        return fail(r, v.at, "this place is behind the end");
    }
    if (label)
        *ret_label = m[PLACE_LABEL];
    return true;
}

static bool read_mark(struct file_reader *r, struct json_value v, void *future)
{
    struct future *f = future;
    struct json_value label = {.item = NULL};
    char name[RDL_NAME_BYTES];
    struct place p;

    if (r->n_names++ >= SESSION_FILE_NAMES_MAX)
        return fail(r, v.at, "these are more names of places than a world may have");
    if (!read_place(r, v, "name", &f->journal.log, &label, &p) || !read_name(r, label, name))
        return false;
    if (marks_find(&f->marks, name))
        return fail(r, label.at, "another place has this name");
    marks_put(&f->marks, name, &p);
    return true;
}

/* Returns the place where the command after the first @n begins.  Returns NULL if no command
 * outside of all blocks begins there.
 */
static const struct place *beginning(const struct file_reader *r, uint64_t n)
{
    size_t low = 0, high = r->n_ends;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (r->ends[mid].n_entries < n)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->n_ends && r->ends[low].n_entries == n ? &r->ends[low] : NULL;
}

static bool read_line(struct file_reader *r, struct json_value v, void *future)
{
    static const char *const keys[] = {"text", "commands", NULL};
    struct future *f = future;
    struct json_value m[MEMBERS_MAX];
    char text[TYPED_LINE_BYTES];
    const struct place *at;
    struct source src;
    uint64_t n = 0;

    if (!members(r, v, keys, m))
        return false;
    if (!m[0].item || !m[1].item)
        return missing(r, v, m[0].item ? "commands" : "text");
    if (!read_text(r, m[0], text, sizeof(text)) || !read_number(r, m[1], f->journal.log.n, &n))
        return false;
    at = beginning(r, n);
    if (!at || n == f->journal.log.n ||
        (f->typed.n > 0 && f->typed.v[f->typed.n - 1].at.n_entries >= n))
        return fail(r, m[1].at, "no line begins there");
    src = source_of(NULL, text);
    f->typed.n_runs++;
    typed_lines_add(&f->typed, &src, (struct span){0, 0}, at);
    return true;
}

/* --- The file --------------------------------------------------------------------------------- */

enum future_key { FUT_NAME, FUT_UNNAMED, FUT_HASH, FUT_HERE, FUT_NAMES, FUT_LINES, FUT_DONE };
static const char *const future_keys[] = {
    [FUT_NAME] = "name",   [FUT_UNNAMED] = "unnamed", [FUT_HASH] = "hash", [FUT_HERE] = "here",
    [FUT_NAMES] = "names", [FUT_LINES] = "lines",     [FUT_DONE] = "done", NULL};

static bool read_hash(struct file_reader *r, struct json_value v, uint64_t *ret)
{
    char digits[17], *end = digits;

    if (!v.item)
        return true;
    if (!read_text(r, v, digits, sizeof(digits)))
        return false;
    if (strspn(digits, "0123456789abcdef") == sizeof(digits) - 1)
        *ret = strtoull(digits, &end, 16);
    return end != digits || fail(r, v.at, "a hash has 16 digits of hexadecimal");
}

/* @f is to be freed in any case. */
static bool read_future(struct file_reader *r, struct json_value v, struct future *f)
{
    struct json_value m[MEMBERS_MAX];

    *f = (struct future){.unnamed = false};
    if (!members(r, v, future_keys, m))
        return false;
    if (!m[FUT_NAME].item || !m[FUT_DONE].item || !m[FUT_HERE].item)
        return missing(r, v, !m[FUT_NAME].item ? "name" : !m[FUT_DONE].item ? "done" : "here");
    if (!read_name(r, m[FUT_NAME], f->name))
        return false;
    for (size_t i = 0; &r->w->v[i] != f; i++) {
        if (strcmp(r->w->v[i].name, f->name) == 0)
            return fail(r, m[FUT_NAME].at, "another future has this name");
    }
    f->unnamed = cJSON_IsTrue(m[FUT_UNNAMED].item);
    return read_hash(r, m[FUT_HASH], &f->hash) && read_journal(r, m[FUT_DONE], &f->journal) &&
           read_place(r, m[FUT_HERE], NULL, &f->journal.log, NULL, &f->left) &&
           read_list(r, m[FUT_NAMES], read_mark, f) && read_list(r, m[FUT_LINES], read_line, f);
}

static bool read_next_future(struct file_reader *r, struct json_value v, void *file)
{
    struct session_file *w = file;

    return w->n < SESSION_FILE_FUTURES_MAX
               ? read_future(r, v, &w->v[w->n++])
               : fail(r, v.at, "these are more futures than a world may have");
}

static bool read_futures(struct file_reader *r, struct json_value v)
{
    struct session_file *w = r->w;

    if (cJSON_IsArray(v.item) && !v.item->child)
        return fail(r, v.at, "a world has at least one future");
    w->v = must_malloc(SESSION_FILE_FUTURES_MAX * sizeof(*w->v));
    return read_list(r, v, read_next_future, w);
}

enum session_file_key { W_WORLD, W_RDMALAB, W_SEED, W_MEMORY, W_SCENARIO, W_LEFT, W_FUTURES };
static const char *const session_file_keys[] = {[W_WORLD] = "world",       [W_RDMALAB] = "rdmalab",
                                                [W_SEED] = "seed",         [W_MEMORY] = "memory",
                                                [W_SCENARIO] = "scenario", [W_LEFT] = "left",
                                                [W_FUTURES] = "futures",   NULL};

static bool read_session_file(struct file_reader *r, struct json_value v)
{
    struct json_value m[MEMBERS_MAX];
    struct session_file *w = r->w;
    uint64_t form = 0, memory = 0, n_unnamed = 0;

    if (!members(r, v, session_file_keys, m) || !read_number(r, m[W_WORLD], UINT32_MAX, &form))
        return false;
    if (form != SESSION_FILE_FORM) {
        diag_set(r->d, DIAG_VALUE, m[W_WORLD].at, "this world has form %llu",
                 (unsigned long long)form);
        return diag_remedy(r->d, "this rdmalab reads form %u; a newer one may read it",
                           SESSION_FILE_FORM);
    }
    for (unsigned i = 0; session_file_keys[i]; i++) {
        if (!m[i].item && (i == W_RDMALAB || i == W_SEED || i == W_FUTURES))
            return missing(r, v, session_file_keys[i]);
    }
    if (!read_text(r, m[W_RDMALAB], w->version, sizeof(w->version)) ||
        !read_number(r, m[W_SEED], UINT64_MAX, &w->seed) ||
        !read_number(r, m[W_MEMORY], SIZE_MAX, &memory) ||
        !read_number(r, m[W_LEFT], UINT32_MAX / 2, &n_unnamed))
        return false;
    w->memory_bytes = (size_t)memory;
    w->n_unnamed = (unsigned)n_unnamed;
    w->script.src = *r->src;
    if (m[W_SCENARIO].item && !json_read_header(&w->script, m[W_SCENARIO], r->d))
        return false;
    return read_futures(r, m[W_FUTURES]);
}

bool session_file_is_scenario(const struct source *src)
{
    struct diag ignored = {.kind = DIAG_NONE};
    cJSON *root = NULL;
    bool is;

    if (src->name && files_is_lab(src->name))
        return true;
    if (src->len > SESSION_FILE_BYTES_MAX || !json_parse(src, &root, &ignored))
        return false;
    is = !cJSON_GetObjectItemCaseSensitive(root, "world") &&
         cJSON_GetObjectItemCaseSensitive(root, "steps");
    cJSON_Delete(root);
    return is;
}

static bool refuse_other_file(const struct source *src, struct diag *d)
{
    const size_t n = src->name ? strlen(src->name) : 0;
    const bool is_trace = n > 7 && strcmp(src->name + n - 7, ".ndjson") == 0;

    diag_set(d, DIAG_VALUE, (struct span){0, 0}, "this is no world and no scenario");
    return diag_remedy(d, "%s",
                       is_trace ? "it may be a saved trace: \"rdmalab show FILE\" asks it"
                                : "\"save world FILE\" at the prompt writes a world");
}

bool session_file_read(const struct source *src, const volatile sig_atomic_t *interrupted,
                       struct session_file *ret, FILE *err, struct diag *d)
{
    struct file_reader r = {.src = src,
                            .w = ret,
                            .step = {.src = *src},
                            .err = err,
                            .d = d,
                            .interrupted = interrupted};
    cJSON *root = NULL;
    bool ok;

    *ret = (struct session_file){.v = NULL};
    if (src->len > SESSION_FILE_BYTES_MAX)
        return diag_set(d, DIAG_VALUE, (struct span){0, 0}, "this is larger than a world may be");
    if (src->text[strspn(src->text, " \t\r\n")] != '{')
        return refuse_other_file(src, d);
    if (!json_parse(src, &root, d)) {
        return false;
    }
    if (!cJSON_GetObjectItemCaseSensitive(root, "world")) {
        ok = refuse_other_file(src, d);
    } else {
        ok = read_session_file(&r, json_root(src, root));
    }
    cJSON_Delete(root);
    pool_free(&r.step.pool);
    free(r.ends);
    return ok;
}

void session_file_done(struct session_file *w)
{
    for (size_t i = 0; i < w->n; i++)
        future_done(&w->v[i]);
    free(w->v);
    script_done(&w->script);
    *w = (struct session_file){.v = NULL};
}
