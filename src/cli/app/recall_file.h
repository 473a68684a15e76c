/* SPDX-License-Identifier: MIT */
/* The history of the prompt in a file, one for each project.  The project is the current directory
 * or the nearest one above it that has a .git; otherwise the current directory.
 *
 * The file is history/PATH in the directory of state_dir.h, with % for each /.  Only its owner can
 * read it.  It contains the typed texts, which may have several lines.  The first line of each
 * begins with "+ ", or with "x " if the text failed; further lines of it begin with "| ".
 */
#ifndef CLI_APP_RECALL_FILE_H
#define CLI_APP_RECALL_FILE_H

#include "cli/lang/recall.h"

#define RECALL_PATH_BYTES 1024u

/* Computes the path of the file for the directory @cwd and creates its directories.  Returns false
 * if the user has no state directory or the path is too long.
 */
bool recall_file_path(const char *cwd, char ret[RECALL_PATH_BYTES]);

/* Reads the file into @ret; a missing file is empty.  A file that has grown well beyond RECALL_MAX
 * texts is rewritten with the last RECALL_MAX.
 */
void recall_file_read(const char *path, struct recall *ret);

/* Appends the last text of @r.  Write errors are ignored. */
void recall_file_append(const char *path, const struct recall *r);

#endif
