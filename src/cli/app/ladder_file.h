/* SPDX-License-Identifier: MIT */
/* The option --ladder of the modes that read a file, with --from, --to and --packets. */
#ifndef CLI_APP_LADDER_FILE_H
#define CLI_APP_LADDER_FILE_H

#include "emu/past/past.h"

/* The values of the options --ladder, --from, --to and --packets; NULL: not given.  @file must be
 * given.
 */
struct ladder_request {
    const char *file, *from, *to, *packets;
};

/* Draws a ladder of the past @p to the file @rq->file, or as text to the standard output if that is
 * "-".  @title may be NULL.  Prints errors to stderr, and returns the exit status.
 */
int ladder_file(const struct past *p, const char *title, const struct ladder_request *rq);

#endif
