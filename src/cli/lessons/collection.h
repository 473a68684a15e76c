/* SPDX-License-Identifier: MIT */
/* The collection of scenarios that comes with the program, and the list of those that are lessons.
 *
 * The collection is the directory that the environment variable RDMALAB_SCENARIOS names.  If that
 * is not set, it is the first of these directories that has a list of lessons, course.txt:
 *
 *	1. scenarios/ in the current directory
 *	2. the directory installed together with the program, wherever that is now
 *	3. the configured installation directory
 *	4. the source directory
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

/* One scenario of the collection. */
struct lesson {
    char name[COLLECTION_NAME_BYTES]; /* "01-first-send" */
    struct scenario sc;
    bool is_listed; /* it is in the list of lessons */
};

struct collection {
    char dir[COLLECTION_PATH_BYTES];
    char *lesson_list; /* the text of course.txt; NULL: none */
    struct lesson *v;
    size_t n; /* elements of @v, which are sorted by the number in their name, then by the name */
};

/* Reads the whole collection.  Returns NULL on success, otherwise the reason.  Free with
 * collection_done() in any case.
 */
const char *collection_read(struct collection *ret);
void collection_done(struct collection *c);

/* Finds the scenario called @name: "01-first-send" or "first-send", with or without ".json" and a
 * directory.  Returns NULL if there is none.  It is valid until collection_done().
 */
const struct lesson *collection_find(const struct collection *c, const char *name);

/* Finds a scenario like collection_find(), but also accepts its number alone, or a beginning that
 * only one name has.  Returns NULL if there is none or more than one.
 */
const struct lesson *collection_find_short(const struct collection *c, const char *name);

/* Appends the path of the file of @l. */
void collection_add_path(struct text *t, const struct collection *c, const struct lesson *l);

/* Returns true if @l is about @words as one text or, with @apart, about each word of it alone.  A
 * match is
 *
 *	- a part of its name, of its title or of what it teaches,
 *	- one of its tags or behaviours,
 *	- the name of a row of an enumeration, such as RETRY_EXC_ERR, that is in its text.
 */
bool lesson_is_about(const struct lesson *l, const char *words, bool apart);

/* Returns true if @words are a part of the name of @l, or one of its tags. */
bool lesson_is_named(const struct lesson *l, const char *words);

/* A line of the list of lessons.  A course is named; the first one has no name, and no line. */
enum lesson_line_kind {
    LESSON_LINE_COURSE,  /* the name of a course, which begins here */
    LESSON_LINE_CHAPTER, /* the title of a chapter */
    LESSON_LINE_SCENARIO /* the name of a scenario */
};

struct lesson_line {
    enum lesson_line_kind kind;
    char text[COLLECTION_NAME_BYTES];
};

/* Reads the next line of the list of lessons from *@at on, without empty lines and comments, and
 * advances *@at.  Begin with the member lesson_list of the collection; "" if that is NULL.  Returns
 * false at the end.
 */
bool lesson_next(const char **at, struct lesson_line *ret);

/* Returns the scenario that @line names, or NULL if it names none of the collection. */
const struct lesson *collection_lesson(const struct collection *c, const struct lesson_line *line);

#endif
