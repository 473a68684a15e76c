/* SPDX-License-Identifier: MIT */
#include "cli/app/grading_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/lang/suggest.h"
#include "print/utf8.h"
#include "process/must.h"

#define ANSWER "answer.lab"

char *joined(const char *a, const char *between, const char *b)
{
    const size_t room = strlen(a) + strlen(between) + strlen(b) + 1;
    char *path = must_malloc(room);
    struct text t = text_on(path, room);

    text_addf(&t, "%s%s%s", a, between, b);
    return path;
}

char *copied(const char *s)
{
    return joined(s, "", "");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void names_done(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->v[i]);
    free(names->v);
}

bool names_read(const char *dir, struct names *ret)
{
    DIR *d = opendir(dir);
    const struct dirent *e;

    *ret = (struct names){0};
    if (!d)
        return false;
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        ret->v = must_grow(ret->v, ret->n, &ret->room, sizeof(*ret->v));
        ret->v[ret->n++] = copied(e->d_name);
    }
    closedir(d);
    if (ret->n)
        qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
    return true;
}

static bool stat_of(const char *top, const char *name, struct stat *ret)
{
    char *path = joined(top, "/", name);
    const bool ok = lstat(path, ret) == 0;

    free(path);
    return ok;
}

bool is_there(const char *top, const char *name)
{
    struct stat info;

    return stat_of(top, name, &info);
}

bool is_directory(const char *top, const char *name)
{
    struct stat info;

    return stat_of(top, name, &info) && S_ISDIR(info.st_mode);
}

bool is_script(const char *name)
{
    const size_t n = strlen(name);

    return n > 4 && strcmp(name + n - 4, ".lab") == 0;
}

/* --- Warnings ----------------------------------------------------------------------------------
 */

/* Prints that the file @name in the directory @dir is not graded; @near, unless it is NULL, is the
 * name that was perhaps meant, and @suffix is the end of it.
 */
static void warn(const char *dir, const char *name, const char *near, const char *suffix)
{
    fprintf(stderr, "rdmalab: %s/%s: no exercise asks for this: it is not graded\n",
            SHOWN_NAME(dir), SHOWN_NAME(name));
    if (near)
        fprintf(stderr, "  did you mean \"%s%s\"?\n", SHOWN_NAME(near), suffix);
}

/* Warns of the scripts in the directory of the exercise @exercise that are neither its answer nor
 * beside its checks.
 */
static void warn_inside(const struct grading *g, const char *dir, const char *exercise)
{
    char *given = joined(g->top, "/", exercise), *own = joined(dir, "/", exercise);
    const bool answered = is_there(own, ANSWER);
    struct names names = {0};

    if (names_read(own, &names)) {
        for (size_t i = 0; i < names.n; i++) {
            if (is_script(names.v[i]) && strcmp(names.v[i], ANSWER) != 0 &&
                !is_there(given, names.v[i]))
                warn(own, names.v[i], answered ? NULL : "answer", ".lab");
        }
        names_done(&names);
    }
    free(given);
    free(own);
}

/* Warns of the entry @name in the directory @dir of a student. */
static void warn_of(const struct grading *g, const char *dir, const char *name)
{
    const bool script = is_script(name);
    bool known = false;
    char *exercise = copied(name);
    struct suggestion near;

    if (script)
        exercise[strlen(exercise) - 4] = '\0';
    near = suggestion_for(exercise);
    for (size_t i = 0; i < g->n_names; i++) {
        known = known || strcmp(g->names[i], exercise) == 0;
        suggest_offer(&near, g->names[i]);
    }
    if (!known) {
        warn(dir, name, near.best, script ? ".lab" : "/" ANSWER);
    } else if (!script) {
        warn_inside(g, dir, exercise);
    } else {
        char *inside = joined(exercise, "/", ANSWER);

        if (is_there(dir, inside))
            fprintf(stderr, "rdmalab: %s/%s: it is not graded, but %s is\n", SHOWN_NAME(dir),
                    SHOWN_NAME(name), SHOWN_NAME(inside));
        free(inside);
    }
    free(exercise);
}

void grading_files_warn(const struct grading *g, const char *student)
{
    char *dir = joined(g->students_in, "/", student);
    struct names names = {0};

    if (names_read(dir, &names)) {
        for (size_t i = 0; i < names.n; i++) {
            if (is_script(names.v[i]) || is_directory(dir, names.v[i]))
                warn_of(g, dir, names.v[i]);
        }
        names_done(&names);
    }
    free(dir);
}
