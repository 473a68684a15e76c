/* SPDX-License-Identifier: MIT */
#include "cli/session/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/lang/line.h"
#include "cli/session/session.h"
#include "emu/base/assert.h"
#include "process/beneath.h"
#include "process/must.h"

struct gate_note {
    struct gate_note *next;
    char *text; /* what was asked for, or the path of a file */
    dev_t dev;  /* of a file: the file at the path that was made */
    ino_t ino;
};

/* A command's wish to open one thing. */
struct wish {
    struct session *s;
    const struct step *st;
    const char *param;
    enum opening opening;
    const struct source *src; /* the text that wishes it */
    bool trusted;             /* it may have anything */
    /* Of a file to write: how one begins that may be replaced; NULL: none may. */
    const struct export_mark *mark;
    char path[PATH_MAX]; /* of a file */
};

/* --- The memory of a gate -------------------------------------------------------------------- */

static void notes_free(struct gate_note *n)
{
    while (n) {
        struct gate_note *gone = n;

        n = n->next;
        free(gone->text);
        free(gone);
    }
}

void gate_done(struct gate *g)
{
    notes_free(g->answers);
    notes_free(g->made);
    notes_free(g->read);
    *g = (struct gate){.answers = NULL};
}

static struct gate_note *note_find(struct gate_note *n, const char *text)
{
    while (n && strcmp(n->text, text) != 0)
        n = n->next;
    return n;
}

static struct gate_note *note_add(struct gate_note **list, const char *text)
{
    const size_t n = strlen(text) + 1;
    struct gate_note *note = must_malloc(sizeof(*note));

    *note = (struct gate_note){.next = *list, .text = memcpy(must_malloc(n), text, n)};
    *list = note;
    return note;
}

/* Remembers in @list that the file @f is, or will be, at the path of @w. */
static void note_file(struct gate_note **list, const struct wish *w, FILE *f)
{
    struct gate_note *note = note_find(*list, w->path);
    struct stat info;

    if (fstat(fileno(f), &info) != 0)
        return;
    if (!note)
        note = note_add(list, w->path);
    note->dev = info.st_dev;
    note->ino = info.st_ino;
}

/* Remembers that a stranger has made the file that @f writes. */
static void note_made(const struct wish *w, FILE *f)
{
    note_file(&w->s->gate.made, w, f);
}

static bool is_file(const struct stat *a, dev_t dev, ino_t ino)
{
    return a->st_dev == dev && a->st_ino == ino;
}

/* Returns true if a stranger has made the file at the path of @w in this session. */
static bool was_made_here(const struct wish *w)
{
    const struct gate_note *note = note_find(w->s->gate.made, w->path);
    struct stat info;

    return note && lstat(w->path, &info) == 0 && is_file(&info, note->dev, note->ino);
}

/* Returns true if the session has read the file @info: a script, or what a script has named. */
static bool was_read_here(const struct session *s, const struct stat *info)
{
    for (const struct gate_note *note = s->gate.read; note; note = note->next) {
        if (is_file(info, note->dev, note->ino))
            return true;
    }
    for (const struct block *b = s->run.block; b; b = b->outer) {
        struct stat script;

        if (b->src && source_is_file(b->src) && stat(b->src->name, &script) == 0 &&
            is_file(info, script.st_dev, script.st_ino))
            return true;
    }
    return false;
}

/* Returns true if the file @fd is an export that rdmalab has written with the mark of @w, and that
 * nothing else depends on: it has one name, its owner may write to it, and no script reads it.
 * *@ret tells of this file.
 */
static bool is_old_export(const struct wish *w, int fd, struct stat *ret)
{
    uint8_t begin[EXPORT_MARK_BYTES];
    size_t n = 0;
    ssize_t more = 1;

    if (fstat(fd, ret) != 0 || !S_ISREG(ret->st_mode) || ret->st_nlink != 1 ||
        !(ret->st_mode & S_IWUSR) || was_read_here(w->s, ret))
        return false;
    while (n < sizeof(begin) && more > 0) {
        more = read(fd, begin + n, sizeof(begin) - n);
        n += more > 0 ? (size_t)more : 0;
    }
    return more >= 0 && export_mark_fits(w->mark, begin, n);
}

/* Returns true if there is such a file at the path of @w. */
static bool finds_old_export(const struct wish *w, struct stat *ret)
{
    int fd = -1;
    bool found;

    if (!w->mark || !w->src->home || beneath_open(w->src->home, step_text(w->st, w->param), &fd))
        return false;
    found = is_old_export(w, fd, ret);
    close(fd);
    return found;
}

/* --- Asking ----------------------------------------------------------------------------------- */

/* Writes where a file really is to w->path: the question shows it. */
static void resolve(struct wish *w)
{
    char *real = realpath(w->path, NULL), *slash = strrchr(w->path, '/');
    char directory[PATH_MAX], last[PATH_MAX];
    struct text t;

    if (!real) {
        t = text_on(last, sizeof(last));
        text_add(&t, slash ? slash + 1 : w->path);
        t = text_on(directory, sizeof(directory));
        text_addn(&t, w->path, slash ? (size_t)(slash - w->path) + 1 : 0);
        real = realpath(directory[0] ? directory : ".", NULL);
        if (!real)
            return;
        t = text_on(w->path, sizeof(w->path));
        text_addf(&t, "%s/%s", strcmp(real, "/") == 0 ? "" : real, last);
    } else {
        t = text_on(w->path, sizeof(w->path));
        text_add(&t, real);
    }
    free(real);
}

/* Returns the question, which the caller frees: the place, the wish, and the whole command. */
static char *make_question(const struct wish *w, const char *what)
{
    const char *name = source_shown_name(w->src);
    char *question = NULL;
    size_t n = 0, line, col;
    FILE *f = must_memstream(&question, &n);

    source_place(w->src, w->st->at.at, &line, &col);
    if (name)
        fprintf(f, "%s:%zu:%zu: this script asks to %s:\n", name, line, col, what);
    else
        fprintf(f, "a script asks to %s:\n", what);
    line_write_step(f, w->st, "  ");
    must_memstream_end(f, &question);
    return question;
}

/* Returns true if there is a user to ask.  Nobody is asked in a test. */
static bool can_ask(const struct session *s)
{
    return s->config.ask && !s->config.files_below;
}

/* Returns true if the user allows @w, which is told as @what.  A question that was answered with
 * yes is not asked again.
 */
static bool user_allows(struct wish *w, const char *what)
{
    const struct session_config *config = &w->s->config;
    char *question;
    bool known, yes;

    if (!can_ask(w->s))
        return false;
    question = make_question(w, what);
    known = note_find(w->s->gate.answers, question);
    yes = known || config->ask(question);
    if (yes && !known)
        note_add(&w->s->gate.answers, question);
    free(question);
    return yes;
}

/* --- Programs and ports ----------------------------------------------------------------------- */

/* Fails: @w is not allowed. */
static bool refuse_program(const struct wish *w)
{
    const enum permit p = opening_permit(w->opening);

    diag_set(&w->s->diag, DIAG_FORBIDDEN, step_span(w->st, w->param, 0), "%s: a script may not %s",
             w->st->cmd->name, opening_asks(w->opening));
    return diag_remedy(&w->s->diag, "look at it; if you trust it, run it with --allow %s",
                       permit_word(p));
}

static bool is_trusted(const struct session *s, const struct source *src, enum opening o)
{
    return src->typed || (s->config.allowed & 1u << opening_permit(o)) != 0;
}

bool gate_may_start(const struct session *s)
{
    return is_trusted(s, s->run.block->src, OPENS_PROGRAM);
}

static bool opens_outside(const struct param *p)
{
    return p->opens == OPENS_PROGRAM || p->opens == OPENS_PORT;
}

bool gate_opens_outside(const struct cmd *cmd)
{
    for (size_t i = 0; i < cmd->n_params; i++) {
        if (opens_outside(&cmd->params[i]))
            return true;
    }
    return false;
}

bool gate_pass(struct session *s, const struct step *st)
{
    struct wish w = {.s = s, .st = st, .src = s->run.block->src};

    if (s->config.tested && !(st->cmd->flags & CMD_VIRTUAL))
        return true; /* no test has it: the command says so itself */
    /* Without live ports nothing can be opened: the command says so itself. */
    for (size_t i = 0; i < st->cmd->n_params && s->config.live_ops; i++) {
        const struct param *p = &st->cmd->params[i];

        if (!opens_outside(p) || st->args[i].n == 0 || is_trusted(s, w.src, p->opens))
            continue;
        w.param = p->name;
        w.opening = p->opens;
        if (!user_allows(&w, opening_asks(p->opens)))
            return refuse_program(&w);
    }
    return true;
}

/* --- Files ------------------------------------------------------------------------------------ */

/* Returns true if the file @name is sought in the directory of the text, and that is another one
 * than the current one.
 */
static bool is_at_home(const struct wish *w, const char *name)
{
    const bool in_artifacts = w->s->config.files_below && w->opening == OPENS_WRITE;

    return !w->src->typed && !in_artifacts && w->src->home && name[0] != '/' &&
           strcmp(w->src->home, ".") != 0;
}

/* Fills @w for the file of the parameter @param, whose row says that it opens @opening. */
static bool wish_begin(struct wish *w, struct session *s, const struct step *st, const char *param,
                       enum opening opening)
{
    const char *name = step_text(st, param);
    struct text t = text_on(w->path, sizeof(w->path));

    RDL_ASSERT(step_param(st, param)->opens == opening);
    w->s = s;
    w->st = st;
    w->param = param;
    w->opening = opening;
    w->src = s->run.block->src;
    w->trusted = is_trusted(s, w->src, opening);
    w->mark = NULL;
    if (is_at_home(w, name))
        text_addf(&t, "%s/", w->src->home);
    text_add(&t, name);
    return !t.cut ||
           session_fail(s, step_span(st, param, 0), "%s: %s", name, strerror(ENAMETOOLONG));
}

/* Fails for the reason @why. */
static bool wish_fails(const struct wish *w, const char *why)
{
    struct session *s = w->s;
    const struct span at = step_span(w->st, w->param, 0);
    const char *home = w->src->home;
    const char *may = w->opening == OPENS_READ ? "reads only files" : "makes only new files";

    if (!beneath_forbids(why))
        return session_fail(s, at, "%s: %s", w->path, why);
    diag_set(&s->diag, DIAG_FORBIDDEN, at, "%s: %s", w->path, why);
    if (s->config.files_below)
        return diag_remedy(&s->diag, "a test writes only below its directory of artifacts; "
                                     "\"rdmalab test --no-sandbox\" lets it write anywhere");
    if (why == beneath_exists && w->mark)
        return diag_remedy(&s->diag, "a script replaces only what rdmalab has exported in the same "
                                     "form; if you trust it, run it with --allow files");
    if (!home)
        return diag_remedy(&s->diag, "this script has no directory of its own, so it may use no "
                                     "files; if you trust it, run it with --allow files");
    if (strcmp(home, ".") == 0)
        return diag_remedy(&s->diag,
                           "a script %s below the current directory; if you trust it, "
                           "run it with --allow files",
                           may);
    return diag_remedy(&s->diag,
                       "a script %s below its own directory, %s; if you trust it, run it "
                       "with --allow files",
                       may, home);
}

/* The file of @w cannot be opened for the reason @why.  Returns true if the user allows it: it may
 * then be opened at w->path, wherever that is.
 */
static bool wish_granted(struct wish *w, const char *why)
{
    char what[PATH_MAX + 16];
    struct text t = text_on(what, sizeof(what));

    if (!beneath_forbids(why) || !can_ask(w->s))
        return false;
    resolve(w);
    text_addf(&t, "%s %s", why == beneath_exists ? "replace" : opening_asks(w->opening), w->path);
    w->trusted = user_allows(w, what);
    return w->trusted;
}

/* Makes the open file @fd a stream.  Returns NULL, or why it failed; @fd is closed then. */
static const char *as_stream(int fd, const char *mode, FILE **ret)
{
    const char *why;

    *ret = fdopen(fd, mode);
    if (*ret)
        return NULL;
    why = strerror(errno);
    close(fd);
    return why;
}

static const char *open_anywhere(const char *path, FILE **ret)
{
    *ret = fopen(path, "r");
    return *ret ? NULL : strerror(errno);
}

static const char *open_beneath(const struct wish *w, FILE **ret)
{
    int fd = -1;
    const char *why =
        w->src->home ? beneath_open(w->src->home, step_text(w->st, w->param), &fd) : beneath_out;

    return why ? why : as_stream(fd, "r", ret);
}

/* Opens the file of @w for reading. */
static bool wish_read(struct wish *w, FILE **ret)
{
    const char *why = w->trusted ? open_anywhere(w->path, ret) : open_beneath(w, ret);

    if (why && !w->trusted && wish_granted(w, why))
        why = open_anywhere(w->path, ret);
    if (why) {
        wish_fails(w, why);
        return false;
    }
    note_file(&w->s->gate.read, w, *ret);
    return true;
}

bool gate_read(struct session *s, const struct step *st, const char *param, FILE **ret)
{
    struct wish w;

    return wish_begin(&w, s, st, param, OPENS_READ) && wish_read(&w, ret);
}

bool gate_source(struct session *s, const struct step *st, const char *param, struct source *ret)
{
    const bool standard = strcmp(step_text(st, param), SOURCE_STANDARD) == 0;
    struct wish w;
    const char *why;
    FILE *f = stdin;

    if (!wish_begin(&w, s, st, param, OPENS_READ) || (!standard && !wish_read(&w, &f)))
        return false;
    why = source_read_file(f, standard ? SOURCE_STANDARD : w.path,
                           w.src->typed ? NULL : w.src->home, ret);
    if (!standard)
        fclose(f);
    return !why || wish_fails(&w, why);
}

bool gate_path(struct session *s, const struct step *st, const char *param, char ret[PATH_MAX])
{
    struct wish w;
    FILE *f;

    if (!wish_begin(&w, s, st, param, OPENS_READ))
        return false;
    if (!w.trusted) {
        if (!wish_read(&w, &f))
            return false;
        fclose(f);
    }
    memcpy(ret, w.path, sizeof(w.path));
    return true;
}

static const char *write_below(const struct wish *w, struct out_file *ret)
{
    const char *tests = w->s->config.files_below;
    struct stat old;
    struct out_file_place place = {.below = tests ? tests : w->src->home,
                                   .makes = tests != NULL,
                                   .replaces = tests || was_made_here(w)};

    if (!place.replaces && finds_old_export(w, &old))
        place.over = &old;
    return place.below ? out_file_open_below(ret, step_text(w->st, w->param), &place) : beneath_out;
}

bool gate_write(struct session *s, const struct step *st, const char *param,
                const struct export_mark *mark, struct out_file *ret)
{
    struct wish w;
    const char *why;

    if (!wish_begin(&w, s, st, param, OPENS_WRITE))
        return false;
    w.mark = mark;
    w.trusted = w.trusted && !s->config.files_below;
    why = w.trusted ? out_file_open(ret, w.path) : write_below(&w, ret);
    if (why && !w.trusted && wish_granted(&w, why))
        why = out_file_open(ret, w.path);
    if (!why && !w.trusted)
        note_made(&w, ret->f);
    return !why || wish_fails(&w, why);
}

static const char *log_anywhere(const char *path, FILE **ret)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    return fd < 0 ? strerror(errno) : as_stream(fd, "w", ret);
}

static const char *log_beneath(const struct wish *w, FILE **ret)
{
    int fd = -1;
    const char *why =
        w->src->home ? beneath_make(w->src->home, step_text(w->st, w->param), was_made_here(w), &fd)
                     : beneath_out;

    return why ? why : as_stream(fd, "w", ret);
}

bool gate_log(struct session *s, const struct step *st, const char *param, FILE **ret)
{
    struct wish w;
    const char *why;

    if (!wish_begin(&w, s, st, param, OPENS_WRITE))
        return false;
    why = w.trusted ? log_anywhere(w.path, ret) : log_beneath(&w, ret);
    if (why && !w.trusted && wish_granted(&w, why))
        why = log_anywhere(w.path, ret);
    if (!why && !w.trusted)
        note_made(&w, *ret);
    return !why || wish_fails(&w, why);
}
