/* SPDX-License-Identifier: MIT */
/* The end of a lab's programs if rdmalab cannot end them: it was killed, or has crashed.
 *
 * A shell reads from a pipe, the *leash*, which process groups there are.  The pipe has an end when
 * rdmalab has one, however that comes: then the shell kills what is left, and removes the directory
 * of the session.
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

/* Starts the shell, whose handle is in @loop.  @directory is that of the session.  Returns false,
 * with the reason in @reterr, on failure.
 */
bool exec_leash_start(struct exec_leash *l, uv_loop_t *loop, const char *directory,
                      struct live_error *reterr);

/* Adds or removes a process, or with a negative @pid its process group. */
void exec_leash_add(const struct exec_leash *l, int pid);
void exec_leash_remove(const struct exec_leash *l, int pid);

/* Ends the shell, and closes its handle, which takes at most a second. */
void exec_leash_end(struct exec_leash *l);

#endif
