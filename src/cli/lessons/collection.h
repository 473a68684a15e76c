/* SPDX-License-Identifier: MIT */
/* The collection of scenarios that comes with the program, and the course through it.
 *
 * It is a directory: of the environment variable RDMALAB_SCENARIOS; or scenarios/ where the program
 * was started, if a course is in it; or where it was installed together with the program, wherever
 * that is now; or where rdmalab was to be installed; or where it was built.
 */
#ifndef CLI_LESSONS_COLLECTION_H
#define CLI_LESSONS_COLLECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/session/scenario.h"
#include "emu/base/text.h"

#define COLLECTION_PATH_BYTES 512u
#define COLLECTION_NAME_BYTES 96u

/* One of its scenarios. */
struct lesson {
    char name[COLLECTION_NAME_BYTES]; /* "01-first-send" */
    struct scenario sc;
    bool in_course;
};

struct collection {
    char dir[COLLECTION_PATH_BYTES];
    char *course; /* text of the course; NULL: there is none */
    struct lesson *v;
    size_t n; /* by name, numbers by their value */
};

/* Reads it all.  NULL, or why there is none.  Release with collection_done() in any case. */
const char *collection_read(struct collection *ret);
void collection_done(struct collection *c);

/* The lesson that is called @name: "01-first-send", "first-send", also with ".json" and a directory
 * before it; NULL if there is none.
 */
const struct lesson *collection_find(const struct collection *c, const char *name);

/* The same; also the only one that has the number @name, or that begins like it. */
const struct lesson *collection_find_short(const struct collection *c, const char *name);

/* Appends the file of @l. */
void collection_add_path(struct text *t, const struct collection *c, const struct lesson *l);

/* Is @l about @words, or, @apart, about each of them?  It is part of its name, its title or what it
 * teaches; or it is one of its tags and behaviours; or the name of a row of an enumeration, such as
 * RETRY_EXC_ERR, and one of its steps has it.
 */
bool lesson_is_about(const struct lesson *l, const char *words, bool apart);

/* The next line of the course that says something, from *@at on, which moves behind it; false at
 * the end.
 */
struct course_line {
    bool is_chapter;
    char text[COLLECTION_NAME_BYTES];
};
bool course_next(const char **at, struct course_line *ret);

#endif
