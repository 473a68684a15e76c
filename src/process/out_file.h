/* SPDX-License-Identifier: MIT */
/* Files that are written as a whole: until the last byte is there, the file of before stays. */
#ifndef PROCESS_OUT_FILE_H
#define PROCESS_OUT_FILE_H

#include <stdio.h>

struct out_file {
    FILE *f;
    char *name; /* of the file, once it is whole */
    char *part; /* what it is called until then; NULL: a device or pipe, written in place */
};

/* Begins to write the file @name.  With @below, a directory, @name is a path in it: it must not
 * lead out of it, and directories on the way are made, @below too.  NULL, or why that is not
 * possible; then nothing is to be closed.
 */
const char *out_file_open(struct out_file *o, const char *name, const char *below);

/* Puts what was written in its place.  NULL, or why it could not; then the file of before is still
 * there.
 */
const char *out_file_close(struct out_file *o);

/* Gives up: the file of before stays. */
void out_file_drop(struct out_file *o);

#endif
