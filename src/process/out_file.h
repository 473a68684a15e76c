/* SPDX-License-Identifier: MIT */
/* Files that are replaced as a whole: the old file stays until the new one is complete.  A new one
 * that is never completed does not stay, whatever ends the process: it has no name until then
 * (fd_name.h).  Where the file system has no such files, SIGKILL leaves it (leftovers.h).
 */
#ifndef PROCESS_OUT_FILE_H
#define PROCESS_OUT_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* A file that is being written. */
struct out_file {
    FILE *f;
    int dir;    /* the directory that @name and @part are relative to; AT_FDCWD: the current one */
    char *name; /* name of the complete file */
    /* Name of the temporary file, until out_file_close() renames it to @name.  NULL: there is none,
     * because @name is a device or pipe, or is written in place.
     */
    char *part;
    bool is_unnamed; /* the temporary file does not have its name yet (fd_name.h) */
    bool is_new;     /* out_file_close() fails if somebody else has made the file @name meanwhile */
    bool is_over;    /* out_file_close() fails if the file @name is not @old as it was */
    struct stat old;
};

/* Starts to write the file @name, wherever that is.  Returns NULL on success.  Otherwise returns
 * the reason, and the file need not be closed.
 */
const char *out_file_open(struct out_file *o, const char *name);

/* The places that a file of a stranger may have. */
struct out_file_place {
    const char *below; /* the directory that its name must not lead out of (process/beneath.h) */
    bool makes;        /* missing directories are created, @below too */
    bool replaces;     /* a file that exists is replaced; otherwise the file must be a new one */
    /* If not @replaces: the only file that is replaced, as fstat() told of it when it was opened
     * and looked at.  NULL: none.
     */
    const struct stat *over;
};

/* Like out_file_open(), beneath a directory. */
const char *out_file_open_below(struct out_file *o, const char *name,
                                const struct out_file_place *place);

/* Returns why the file @name could not be written, or NULL.  Creates nothing. */
const char *out_file_judge(const char *name);

/* Completes the file and moves it into place.  Returns NULL on success.  Otherwise returns the
 * reason, and the old file still exists, unless it was written in place.
 */
const char *out_file_close(struct out_file *o);

/* Discards the new file.  The old file stays. */
void out_file_drop(struct out_file *o);

#endif
