/* SPDX-License-Identifier: MIT */
/* Files and directories of exercises and students, for grading.c. */
#ifndef CLI_APP_GRADING_FILES_H
#define CLI_APP_GRADING_FILES_H

#include "cli/app/grading.h"

/* joined() returns the three texts as one, copied() a copy.  The caller frees them. */
char *joined(const char *a, const char *between, const char *b);
char *copied(const char *s);

/* Names in a directory, sorted. */
struct names {
    char **v;
    size_t n, room;
};

/* Lists the directory @dir without hidden names.  Returns false, with errno, if it cannot. */
bool names_read(const char *dir, struct names *ret);
void names_done(struct names *names);

/* is_there() returns true if @top has an entry @name, which may be a link to nothing, and
 * is_directory() if it is a directory, and no link to one.
 */
bool is_there(const char *top, const char *name);
bool is_directory(const char *top, const char *name);

/* Returns true if the file name ends in ".lab". */
bool is_script(const char *name);

/* Prints a warning about each script and each directory of the student @student that no exercise
 * asks for: it may be an answer with a mistake in its name.
 */
void grading_files_warn(const struct grading *g, const char *student);

#endif
