/* SPDX-License-Identifier: MIT */
/* Where rdmalab keeps what is no part of a project: the directory rdmalab in that of the XDG Base
 * Directory Specification for the state of programs.
 */
#ifndef CLI_APP_STATE_DIR_H
#define CLI_APP_STATE_DIR_H

#include <stdbool.h>

#include "emu/base/text.h"

/* Appends its path to @t, which is empty.  False: this user has none. */
bool state_dir_add(struct text *t);

/* Makes the directories on the way to the file @path.  Those that are there stay; what cannot be
 * made is seen when the file is opened.
 */
void state_dir_make(char *path);

/* Was rdmalab never at a prompt before, as far as its files of this person tell?  From now on it
 * was: that is kept there, as a file "greeted".  Where none can be written, nobody is new.
 */
bool first_time(void);

/* What to try then, as lines. */
extern const char first_time_text[];

#endif
