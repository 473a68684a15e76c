/* SPDX-License-Identifier: MIT */
/* The directory for files of rdmalab that belong to no project: "rdmalab" in the state directory of
 * the XDG Base Directory Specification.
 */
#ifndef CLI_APP_STATE_DIR_H
#define CLI_APP_STATE_DIR_H

#include <stdbool.h>

#include "emu/base/text.h"

/* Writes the path of the directory to @t, which must be empty.  The directory need not exist.
 * Returns false if neither XDG_STATE_HOME nor HOME is an absolute path.
 */
bool state_dir_add(struct text *t);

/* Creates the missing directories of the file @path.  Errors are not reported; opening the file
 * will fail.
 */
void state_dir_make(char *path);

/* Returns true if this user has never been at a prompt.  Then creates the file "greeted", so that
 * it returns false from now on.  Also returns false if the file cannot be created.
 */
bool first_time(void);

/* A greeting with commands to try, as lines. */
extern const char first_time_text[];

#endif
