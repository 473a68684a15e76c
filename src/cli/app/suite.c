/* SPDX-License-Identifier: MIT */
#include "cli/app/suite.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/lang/json.h"
#include "cli/lang/judge.h"
#include "cli/session/files.h"
#include "emu/base/text.h"
#include "print/utf8.h"
#include "process/must.h"

#define DIRECTORY_DEPTH 8u

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Returns true if the file or directory was visited before, under any name. */
static bool seen_before(struct suite *su, const char *path)
{
    char *real = realpath(path, NULL);
    char *name = real ? real : strdup(path);
    void *node = name ? tsearch(name, &su->seen, compare_names) : NULL;
    const bool before = node && *(char **)node != name;

    if (!node)
        su->no_memory = true;
    if (!node || before)
        free(name);
    return before;
}

static void forget_seen(struct suite *su)
{
    while (su->seen) {
        char *name = *(char **)su->seen;

        tdelete(name, &su->seen, compare_names);
        free(name);
    }
}

static void file_done(struct test_file *f)
{
    scenario_done(&f->sc);
    free(f->name);
    free(f->left);
    free(f->wrong);
}

void suite_done(struct suite *su)
{
    for (size_t i = 0; i < su->n_files; i++)
        file_done(&su->files[i]);
    forget_seen(su);
    free(su->files);
    free(su->cases);
    *su = (struct suite){0};
}

static bool has_tag(const struct scenario *sc, const char *tags)
{
    char tag[RDL_NAME_BYTES + 1];

    if (!tags)
        return true;
    for (;;) {
        const size_t n = strcspn(tags, ",");
        struct text t = text_on(tag, sizeof(tag));

        text_addn(&t, tags, n);
        if (scenario_has_tag(sc, tag))
            return true;
        if (tags[n] == '\0')
            return false;
        tags += n + 1;
    }
}

/* Adds a file with a copy of its name. */
static struct test_file *new_file(struct suite *su, const char *name)
{
    struct test_file *f;

    if (su->n_files == su->files_room) {
        const size_t room = su->files_room ? 2 * su->files_room : 16;
        struct test_file *more = realloc(su->files, room * sizeof(*more));

        if (!more)
            return NULL;
        su->files = more;
        su->files_room = room;
    }
    f = &su->files[su->n_files];
    *f = (struct test_file){.name = strdup(name)};
    return f->name ? f : NULL;
}

/* @found: the file was found in a directory.  Then a JSON Schema beside the scenarios is left out.
 */
static void add_file(struct suite *su, const char *name, const char *tags, bool found)
{
    struct test_file *f = new_file(su, name);
    size_t bytes = 0;
    FILE *err = f ? open_memstream(&f->wrong, &bytes) : NULL;

    if (!err) {
        su->no_memory = true;
        if (f)
            file_done(f);
        return;
    }
    f->status = scenario_load_to_run(&f->sc, name, err);
    must_memstream_end(err, &f->wrong);
    /* The tags of a wrong file are not known, so it is always added. */
    if (f->status == EXIT_PASSED
            ? !has_tag(&f->sc, tags)
            : found && f->sc.src.text && files_is_json(name) && json_is_schema(f->sc.src.text))
        file_done(f);
    else
        su->n_files++;
}

/* Adds a file or directory that was found but cannot be read. */
static void add_wrong(struct suite *su, const char *name, const char *why)
{
    struct test_file *f = new_file(su, name);
    char message[PATH_MAX + 128];
    struct text t = text_on(message, sizeof(message));

    if (!f) {
        su->no_memory = true;
        return;
    }
    text_addf(&t, "rdmalab: %s: %s\n", SHOWN_NAME(name), why);
    f->status = EXIT_USAGE;
    f->wrong = strdup(message);
    su->n_files++;
}

/* Returns true if the entry @name of a directory is a directory, a link to nothing, or by its name
 * a scenario.
 */
static bool is_wanted(const char *name)
{
    struct stat info;

    if (files_is_json(name) || files_is_lab(name))
        return true;
    return stat(name, &info) == 0 ? S_ISDIR(info.st_mode) : lstat(name, &info) == 0;
}

static void add_path(struct suite *su, const char *path, const char *tags, size_t depth);

/* Adds the entries of @directory.  If it cannot be read, adds it as a wrong file. */
static void add_entries(struct suite *su, const char *directory, const char *tags, size_t depth)
{
    const size_t len = strlen(directory);
    struct dirent **entries;
    const int n = scandir(directory, &entries, NULL, alphasort);

    if (n < 0) {
        add_wrong(su, directory, strerror(errno));
        return;
    }
    for (int i = 0; i < n; i++) {
        char name[PATH_MAX];
        struct text t = text_on(name, sizeof(name));

        text_addf(&t, "%.*s/%s", (int)(len - (directory[len - 1] == '/')), directory,
                  entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && is_wanted(name))
            add_path(su, name, tags, depth);
        free(entries[i]);
    }
    free(entries);
}

/* A pipe or device is read only if it was named itself: one that was found may have no end. */
static void add_path(struct suite *su, const char *path, const char *tags, size_t depth)
{
    struct stat info;
    const bool there = stat(path, &info) == 0;

    if (seen_before(su, path))
        return;
    if (depth > 0 && there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        add_wrong(su, path, "this is no regular file");
    else if (!there || !S_ISDIR(info.st_mode))
        add_file(su, path, tags, depth > 0);
    else if (depth == DIRECTORY_DEPTH)
        add_wrong(su, path,
                  "too many directories in each other; name this one on the command line");
    else
        add_entries(su, path, tags, depth + 1);
}

void suite_add(struct suite *su, const char *path, const char *tags)
{
    add_path(su, path, tags, 0);
}

/* The errors that are found in a file without running it. */
struct found_errors {
    struct diag v[JUDGE_ERRORS_MAX];
    size_t n; /* also those that have no place in @v */
};

static void note_error(void *ctx, const struct diag *d)
{
    struct found_errors *e = ctx;

    if (e->n < JUDGE_ERRORS_MAX)
        e->v[e->n] = *d;
    e->n++;
}

static int compare_places(const void *a, const void *b)
{
    const struct diag *x = a, *y = b;

    return (x->at.at > y->at.at) - (x->at.at < y->at.at);
}

/* Reads @f to its end in spite of errors, and judges what could be read. */
static void find_errors(const struct test_file *f, struct found_errors *e)
{
    struct script_errors errors = {.found = note_error, .ctx = e};
    struct script s = {.src = f->sc.src, .errors = &errors};
    struct diag d = {.kind = DIAG_NONE};

    if (!files_parse(&s, &d))
        note_error(e, &d);
    judge_script(&s, note_error, e);
    script_done(&s);
    script_errors_done(&errors);
}

/* Replaces the message about @f by one about all errors in it. */
static void judge_file(struct test_file *f)
{
    struct found_errors *e;
    size_t bytes, kept;
    char *wrong = NULL;
    FILE *err;

    if (!f->sc.src.text || (f->status != EXIT_PASSED && f->status != EXIT_USAGE))
        return;
    e = must_malloc(sizeof(*e));
    e->n = 0;
    find_errors(f, e);
    kept = e->n < JUDGE_ERRORS_MAX ? e->n : JUDGE_ERRORS_MAX;
    qsort(e->v, kept, sizeof(*e->v), compare_places);
    err = must_memstream(&wrong, &bytes);
    for (size_t i = 0; i < kept; i++)
        diag_print(err, &f->sc.src, &e->v[i]);
    if (e->n > kept)
        fprintf(err, "%zu more errors\n", e->n - kept);
    must_memstream_end(err, &wrong);
    if (e->n > 0) {
        source_place(&f->sc.src, e->v[0].at.at, &f->sc.wrong_line, &f->sc.wrong_col);
        f->status = EXIT_USAGE;
        free(f->wrong);
        f->wrong = wrong;
    } else {
        free(wrong);
    }
    free(e);
}

void suite_judge(struct suite *su)
{
    for (size_t i = 0; i < su->n_files; i++)
        judge_file(&su->files[i]);
}

void suite_pass(struct suite *su)
{
    for (size_t i = 0; i < su->n_cases; i++) {
        struct test_case *c = &su->cases[i];

        if (c->ended)
            continue;
        c->result.status = EXIT_PASSED;
        c->ended = true;
    }
}

/* Sets the result of a case that is not run: its file is wrong, or says skip. */
static void end_at_once(struct test_case *c)
{
    const struct test_file *f = c->file;
    const char *skip = f->status == EXIT_PASSED ? scenario_skip(&f->sc) : NULL;
    struct text t = text_on(c->result.message, TEST_MESSAGE_BYTES);

    if (f->status == EXIT_PASSED && !skip)
        return;
    text_add(&t, skip ? skip : f->wrong ? f->wrong : "out of memory\n");
    c->result.status = skip ? EXIT_SKIPPED : f->status;
    c->result.line = f->sc.wrong_line;
    c->result.col = f->sc.wrong_col;
    c->ended = true;
}

/* Converts the path of a file to one word, "scenarios-01-first-send.json", without characters that
 * artifacts of GitHub Actions may not have.  Returns NULL if there is no memory.
 */
static char *one_word(const char *name)
{
    char *word = strdup(name + strspn(name, "./"));

    for (char *s = word; s && *s; s++) {
        if (strchr("/\\\":<>|*?\r\n", *s))
            *s = '-';
    }
    return word;
}

static int compare_left(const void *a, const void *b)
{
    const struct test_file *const *x = a, *const *y = b;
    const int order = strcmp((*x)->left, (*y)->left);

    return order ? order : (*x > *y) - (*x < *y);
}

/* Renames the second file with the same word to "WORD~2", and so on. */
static bool number_left(struct test_file *f, size_t n)
{
    const size_t room = strlen(f->left) + 24;
    char *numbered = malloc(room);

    if (!numbered)
        return false;
    snprintf(numbered, room, "%s~%zu", f->left, n);
    free(f->left);
    f->left = numbered;
    return true;
}

/* Gives the artifacts of every file a unique name. */
static bool name_left(struct suite *su)
{
    struct test_file **sorted = calloc(su->n_files + 1, sizeof(struct test_file *));
    bool ok = sorted != NULL;
    size_t same = 1;

    for (size_t i = 0; i < su->n_files && ok; i++) {
        sorted[i] = &su->files[i];
        sorted[i]->left = one_word(sorted[i]->name);
        ok = sorted[i]->left != NULL;
    }
    if (ok)
        qsort(sorted, su->n_files, sizeof(struct test_file *), compare_left);
    /* From the last one on, since each is compared with names that have not been changed yet. */
    for (size_t i = su->n_files; i > 1 && ok; i--) {
        for (same = 1; same < i && strcmp(sorted[i - 1]->left, sorted[i - 1 - same]->left) == 0;)
            same++;
        if (same > 1)
            ok = number_left(sorted[i - 1], same);
    }
    free(sorted);
    return ok;
}

const char *suite_make_cases(struct suite *su, const struct suite_seeds *seeds)
{
    const uint64_t n_seeds = seeds->given ? seeds->last - seeds->first + 1 : 1;

    if (n_seeds == 0 || n_seeds > SUITE_CASES_MAX / (su->n_files + 1))
        return "too many cases: fewer seeds, or fewer files at a time";
    su->cases = calloc(su->n_files * (size_t)n_seeds + 1, sizeof(*su->cases));
    if (!su->cases || !name_left(su) || su->no_memory) {
        su->no_memory = true;
        return "out of memory: fewer seeds, or fewer files at a time";
    }
    for (size_t i = 0; i < su->n_files; i++) {
        const struct test_file *f = &su->files[i];
        const bool seeded = seeds->given && f->status == EXIT_PASSED;

        /* A wrong file has only one case, whatever the seeds. */
        for (uint64_t k = 0; k < (seeded ? n_seeds : 1); k++) {
            struct test_case *c = &su->cases[su->n_cases++];

            c->file = f;
            c->seed = seeded ? seeds->first + k : scenario_seed(&f->sc);
            c->seed_given = seeded;
            end_at_once(c);
        }
    }
    return NULL;
}
