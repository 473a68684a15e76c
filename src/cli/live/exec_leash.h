/* SPDX-License-Identifier: MIT */
/* The end of all that programs of a lab have left, also if rdmalab was killed, or has crashed.
 *
 * A shell reads from a pipe, the *leash*, that ends when rdmalab does.  Then it kills every process
 * whose environment leads it to the socket of the session, and removes the directory of the
 * session.
 */
#ifndef CLI_LIVE_EXEC_LEASH_H
#define CLI_LIVE_EXEC_LEASH_H

#include <stdbool.h>
#include <uv.h>

#include "cli/live/live.h"

struct exec_leash {
    uv_process_t process;
    int fd; /* the end that is written to; -1: there is no shell */
    bool exited;
};

/* Starts the shell, whose handle is in @loop.  @directory is that of the session; its socket is
 * @directory/socket.  Returns false, with the reason in @reterr, on failure.
 */
bool exec_leash_start(struct exec_leash *l, uv_loop_t *loop, const char *directory,
                      struct live_error *reterr);

/* Lets the shell do its work, and closes its handle, which takes at most a second. */
void exec_leash_end(struct exec_leash *l);

#endif
