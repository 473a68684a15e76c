/* SPDX-License-Identifier: MIT */
/* The directory of a session with programs: private, with our libraries, the socket of the lab, and
 * a file with the hosts of the lab.
 */
#ifndef CLI_LIVE_EXEC_DIRECTORY_H
#define CLI_LIVE_EXEC_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>

#include "cli/live/live.h"

struct exec_directory {
    char path[PATH_MAX]; /* absolute; "": there is none */
    int fd;              /* the directory; -1: closed */
    int listener;        /* the socket @path/socket; -1: closed */
};

/* Makes the directory below $TMPDIR, and opens the socket.  Returns false, with the reason in
 * @reterr, on failure; exec_directory_close() must follow in any case.
 */
bool exec_directory_open(struct exec_directory *d, struct live_error *reterr);

/* Writes the names and addresses of the hosts, for programs that start from now on.  Returns false,
 * with the reason in @reterr, on failure.
 */
bool exec_directory_tell_hosts(const struct exec_directory *d, const struct rdl_lab *lab,
                               struct live_error *reterr);

/* Closes the socket, and deletes the directory, unless there is something else in it. */
void exec_directory_close(struct exec_directory *d);

#endif
