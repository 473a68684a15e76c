/* SPDX-License-Identifier: MIT */
/* The option --ladder of the modes that read a file, with --from, --to and --packets. */
#ifndef CLI_APP_LADDER_FILE_H
#define CLI_APP_LADDER_FILE_H

#include "emu/past/past.h"

/* The options as given on the command line; NULL: not given. */
struct ladder_request {
    const char *file, *from, *to, *packets;
};

/* Draws @p as requested: as text on the standard output if the file is "-".  Prints errors and
 * returns the exit status.
 */
int ladder_file(const struct past *p, const char *title, const struct ladder_request *rq);

#endif
