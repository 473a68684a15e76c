/* SPDX-License-Identifier: MIT */
/* `display`: values that are printed behind each command. */
#ifndef CLI_SESSION_DISPLAYS_H
#define CLI_SESSION_DISPLAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "rdmalab/inspect.h"

#define DISPLAYS_MAX 16u

struct session;

struct displays {
    char path[DISPLAYS_MAX][RDL_PATH_BYTES];
    size_t n;
};

/* Adds a path.  Returns false if there are DISPLAYS_MAX already.  One that is there stays as it is.
 */
bool displays_add(struct displays *d, const char *path);

/* Removes @path, or all paths if it is NULL.  Returns false if it is not displayed. */
bool displays_remove(struct displays *d, const char *path);

/* Prints each value.  One that is not there (yet) is printed as "-". */
void displays_print(struct session *s);

#endif
