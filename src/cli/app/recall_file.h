/* SPDX-License-Identifier: MIT */
/* The history of the prompt in a file: one for each project, so that lines of one do not come up in
 * another.  A project is the directory above, or here, that has a .git, otherwise the directory
 * where the program was started.
 *
 * The file is history/PATH in the directory of state_dir.h, with % for each /, and for its owner
 * alone.  Each text begins with "+ ", or with "x " if it failed; its further lines
 * begin with "| ".
 */
#ifndef CLI_APP_RECALL_FILE_H
#define CLI_APP_RECALL_FILE_H

#include "cli/lang/recall.h"

#define RECALL_PATH_BYTES 1024u

/* The file for @cwd; its directories are made.  False: there is no place for one. */
bool recall_file_path(const char *cwd, char ret[RECALL_PATH_BYTES]);

/* Reads the file; what is not there is empty.  A file that has grown too long is written anew. */
void recall_file_read(const char *path, struct recall *ret);

/* Appends the last text of @r.  What cannot be written is not: it is only a history. */
void recall_file_append(const char *path, const struct recall *r);

#endif
