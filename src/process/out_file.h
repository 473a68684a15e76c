/* SPDX-License-Identifier: MIT */
/* Files that are replaced as a whole: the old file stays until the new one is complete. */
#ifndef PROCESS_OUT_FILE_H
#define PROCESS_OUT_FILE_H

#include <stdio.h>

/* A file that is being written. */
struct out_file {
    FILE *f;
    char *name; /* name of the complete file */
    /* Name of the temporary file, until out_file_close() renames it to @name.  NULL: there is none,
     * because @name is a device or pipe, or is written in place.
     */
    char *part;
};

/* Starts to write the file @name.  If @below is not NULL, it is a directory, and @name is a path in
 * it that must not lead out of it.  Missing directories are then created, @below too.  Returns NULL
 * on success.  Otherwise returns the reason, and the file need not be closed.
 */
const char *out_file_open(struct out_file *o, const char *name, const char *below);

/* Completes the file and moves it into place.  Returns NULL on success.  Otherwise returns the
 * reason, and the old file still exists, unless it was written in place.
 */
const char *out_file_close(struct out_file *o);

/* Discards the new file.  The old file stays. */
void out_file_drop(struct out_file *o);

#endif
