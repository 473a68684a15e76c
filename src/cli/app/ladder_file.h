/* SPDX-License-Identifier: MIT */
/* The option --ladder of the modes that read a file, with --from, --to and --packets. */
#ifndef CLI_APP_LADDER_FILE_H
#define CLI_APP_LADDER_FILE_H

#include "emu/past/past.h"

/* The options as they were given; NULL: not at all. */
struct ladder_request {
    const char *file, *from, *to, *packets;
};

/* Draws @p as it is asked for: as text on the standard output if the file is "-".  Returns the exit
 * status; what is wrong, the standard error says.
 */
int ladder_file(const struct past *p, const char *title, const struct ladder_request *rq);

#endif
