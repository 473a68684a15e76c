/* SPDX-License-Identifier: MIT */
/* Files that are replaced as a whole: the old file stays until the new one is complete. */
#ifndef PROCESS_OUT_FILE_H
#define PROCESS_OUT_FILE_H

#include <stdio.h>

/* A file that is being written. */
struct out_file {
    FILE *f;
    char *name; /* name of the complete file */
    /* Temporary name until then; NULL: a device or pipe, or a file that is written in place. */
    char *part;
};

/* Starts to write the file @name.  With @below, a directory, @name is a path in it that must not
 * lead out of it.  Missing directories are created, @below too.  Returns NULL on success, otherwise
 * the reason; then the file need not be closed.
 */
const char *out_file_open(struct out_file *o, const char *name, const char *below);

/* Completes the file and moves it into place.  Returns NULL on success, otherwise the reason; then
 * the old file still exists.
 */
const char *out_file_close(struct out_file *o);

/* Discards the new file.  The old file stays. */
void out_file_drop(struct out_file *o);

#endif
