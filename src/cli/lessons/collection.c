/* SPDX-License-Identifier: MIT */
#include "cli/lessons/collection.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "print/utf8.h"
#include "process/must.h"
#include "process/own_path.h"

#define LESSON_LIST_FILE "course.txt"
#define SUFFIX           ".json"
#define LESSONS_MAX      10000u

static bool has_lesson_list(const char *dir)
{
    char path[COLLECTION_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));

    text_addf(&t, "%s/" LESSON_LIST_FILE, dir);
    return !t.cut && access(path, R_OK) == 0;
}

/* The directory installed together with this program; "" if its location is not known. */
static void beside_program(char ret[COLLECTION_PATH_BYTES])
{
    char program[COLLECTION_PATH_BYTES];
    struct text t = text_on(ret, COLLECTION_PATH_BYTES);
    char *slash;

    if (!own_path(program, sizeof(program)))
        return;
    slash = strrchr(program, '/');
    if (!slash)
        return;
    *slash = '\0';
    text_addf(&t, "%s/" RDMALAB_SCENARIOS_FROM_PROGRAM, program);
    if (t.cut)
        ret[0] = '\0';
}

/* Finds the directory.  Returns false if there is none. */
static bool find_directory(char ret[COLLECTION_PATH_BYTES])
{
    char beside[COLLECTION_PATH_BYTES];
    const char *places[] = {"scenarios", beside, RDMALAB_SCENARIOS_INSTALLED,
                            RDMALAB_SCENARIOS_BUILT};
    const char *told = getenv("RDMALAB_SCENARIOS");
    struct text t = text_on(ret, COLLECTION_PATH_BYTES);

    beside_program(beside);
    if (told && told[0]) {
        text_add(&t, told);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (!has_lesson_list(places[i]))
            continue;
        text_add(&t, places[i]);
        return true;
    }
    return false;
}

/* Compares by number, then by name. */
static int by_name(const void *a, const void *b)
{
    const struct lesson *x = a, *y = b;
    const unsigned long n = strtoul(x->name, NULL, 10), m = strtoul(y->name, NULL, 10);

    return n != m ? (n > m) - (n < m) : strcmp(x->name, y->name);
}

/* Returns true for a name that ends in .json and is printed as it is: people type it. */
static bool is_json(const char *file)
{
    const size_t n = strlen(file);

    return n > strlen(SUFFIX) && strcmp(file + n - strlen(SUFFIX), SUFFIX) == 0 &&
           strcmp(SHOWN_LINE(file), file) == 0;
}

/* Returns true unless reading the file may have no end. */
static bool is_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static void add_lesson(struct collection *c, const char *file, FILE *nowhere)
{
    const size_t bytes = strlen(file) - strlen(SUFFIX);
    struct lesson *l = &c->v[c->n];
    char path[COLLECTION_PATH_BYTES];
    struct text name = text_on(l->name, sizeof(l->name)), p = text_on(path, sizeof(path));

    text_addn(&name, file, bytes);
    text_addf(&p, "%s/%s", c->dir, file);
    /* Skip files that are not scenarios. */
    if (!name.cut && !p.cut && is_file(path) && scenario_load(&l->sc, path, nowhere) == EXIT_PASSED)
        c->n++;
    else
        scenario_done(&l->sc);
}

static void read_lessons(struct collection *c, DIR *d, FILE *nowhere)
{
    size_t room = 0;

    for (const struct dirent *e = readdir(d); e && c->n < LESSONS_MAX; e = readdir(d)) {
        if (!is_json(e->d_name))
            continue;
        c->v = must_grow(c->v, c->n, &room, sizeof(*c->v));
        c->v[c->n] = (struct lesson){.name = ""};
        add_lesson(c, e->d_name, nowhere);
    }
    if (c->n > 0)
        qsort(c->v, c->n, sizeof(*c->v), by_name);
}

static void read_lesson_list(struct collection *c)
{
    char path[COLLECTION_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct source src = {0};

    text_addf(&t, "%s/" LESSON_LIST_FILE, c->dir);
    if (t.cut || source_read(path, &src))
        return;
    c->lesson_list = must_realloc(NULL, src.len + 1);
    memcpy(c->lesson_list, src.text, src.len);
    c->lesson_list[src.len] = '\0';
    source_done(&src);
}

static void mark_listed(struct collection *c)
{
    const char *at = c->lesson_list ? c->lesson_list : "";
    struct lesson_line line;

    while (lesson_next(&at, &line)) {
        const struct lesson *l = collection_lesson(c, &line);

        if (l)
            c->v[l - c->v].is_listed = true;
    }
}

const char *collection_read(struct collection *ret)
{
    FILE *nowhere;
    DIR *d;

    *ret = (struct collection){.n = 0};
    if (!find_directory(ret->dir))
        return "the collection of scenarios is not here";
    d = opendir(ret->dir);
    if (!d)
        return "the directory of the collection cannot be read";
    nowhere = fopen("/dev/null", "w");
    if (nowhere) {
        read_lessons(ret, d, nowhere);
        fclose(nowhere);
    }
    closedir(d);
    read_lesson_list(ret);
    mark_listed(ret);
    return ret->n ? NULL : "there is no scenario in the collection's directory";
}

void collection_done(struct collection *c)
{
    for (size_t i = 0; i < c->n; i++)
        scenario_done(&c->v[i].sc);
    free(c->v);
    free(c->lesson_list);
    *c = (struct collection){.n = 0};
}

const struct lesson *collection_lesson(const struct collection *c, const struct lesson_line *line)
{
    return line->kind == LESSON_LINE_SCENARIO ? collection_find(c, line->text) : NULL;
}

/* Returns @name without the number at its beginning. */
static const char *behind_number(const char *name)
{
    const size_t n = strspn(name, "0123456789");

    return n > 0 && name[n] == '-' ? name + n + 1 : name;
}

const struct lesson *collection_find(const struct collection *c, const char *name)
{
    const char *base = text_behind_slash(name);
    const size_t n = strlen(base) - (is_json(base) ? strlen(SUFFIX) : 0);

    for (size_t i = 0; i < c->n; i++) {
        const char *names[] = {c->v[i].name, behind_number(c->v[i].name)};

        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            if (strlen(names[k]) == n && strncasecmp(names[k], base, n) == 0)
                return &c->v[i];
        }
    }
    return NULL;
}

/* Returns true if the name of a lesson begins with the number @number: "04-lost" with 4, and 04. */
static bool is_numbered(const char *name, const char *number)
{
    char *end;

    return strtoul(name, &end, 10) == strtoul(number, NULL, 10) && end != name && *end == '-';
}

const struct lesson *collection_find_short(const struct collection *c, const char *name)
{
    const struct lesson *exact = collection_find(c, name), *found = NULL;
    const size_t n = strlen(name);
    const bool is_number = n > 0 && strspn(name, "0123456789") == n;

    for (size_t i = 0; i < c->n && !exact; i++) {
        const struct lesson *l = &c->v[i];
        const bool begins = strncasecmp(l->name, name, n) == 0;

        if (is_number ? !is_numbered(l->name, name)
                      : !begins && strncasecmp(behind_number(l->name), name, n) != 0)
            continue;
        if (found)
            return NULL;
        found = l;
    }
    return exact ? exact : found;
}

void collection_add_path(struct text *t, const struct collection *c, const struct lesson *l)
{
    text_addf(t, "%s/%s" SUFFIX, c->dir, l->name);
}

/* Returns true if @text contains @word, ignoring case.  @whole: only as a whole word. */
static bool has_word(const char *text, const char *word, bool whole)
{
    const size_t n = strlen(word);

    for (const char *s = text; *s; s++) {
        if (strncasecmp(s, word, n) != 0)
            continue;
        if (!whole)
            return true;
        if ((s == text || (!isalnum((unsigned char)s[-1]) && s[-1] != '_')) &&
            !isalnum((unsigned char)s[n]) && s[n] != '_')
            return true;
    }
    return false;
}

static bool is_one_of(const struct step *header, const char *key, const char *word, bool whole)
{
    const struct arg *a = step_arg(header, key);

    for (size_t i = 0; i < a->n; i++) {
        if (whole ? strcasecmp(a->v[i].text, word) == 0 : has_word(a->v[i].text, word, false))
            return true;
    }
    return false;
}

static bool is_row(const char *word)
{
    for (const struct enum_table *const *t = enum_tables; *t; t++) {
        if (*t != &enum_object && enum_by_name(*t, word))
            return true;
    }
    return false;
}

static bool is_about(const struct lesson *l, const char *word)
{
    const struct step *header = l->sc.script.header;
    const char *title = scenario_title(&l->sc);

    if (has_word(l->name, word, false) || (title && has_word(title, word, false)))
        return true;
    if (header && (is_one_of(header, "teaches", word, false) ||
                   is_one_of(header, "tags", word, true) || is_one_of(header, "shows", word, true)))
        return true;
    return strchr(word, '_') && is_row(word) && has_word(l->sc.src.text, word, true);
}

bool lesson_is_about(const struct lesson *l, const char *words, bool apart)
{
    if (!apart)
        return is_about(l, words);
    while (*words) {
        const size_t n = strcspn(words, " ");
        char word[COLLECTION_NAME_BYTES];
        struct text t = text_on(word, sizeof(word));

        text_addn(&t, words, n);
        if (n > 0 && (t.cut || !is_about(l, word)))
            return false;
        words += n + (words[n] != '\0');
    }
    return true;
}

bool lesson_is_named(const struct lesson *l, const char *words)
{
    const struct step *header = l->sc.script.header;

    return has_word(l->name, words, true) || (header && is_one_of(header, "tags", words, true));
}

bool lesson_next(const char **at, struct lesson_line *ret)
{
    while (**at) {
        const char *line = *at;
        const size_t n = strcspn(line, "\n");
        struct text t = text_on(ret->text, sizeof(ret->text));
        size_t begins;

        *at += n + (line[n] != '\0');
        if (n == 0 || line[0] == '#' || strspn(line, "=") >= n)
            continue;
        begins = strspn(line, "=") + (strspn(line, "=") > 0);
        ret->kind = line[0] != '='   ? LESSON_LINE_SCENARIO
                    : line[1] == '=' ? LESSON_LINE_COURSE
                                     : LESSON_LINE_CHAPTER;
        text_addn(&t, line + begins, n - begins);
        return true;
    }
    return false;
}
