/* SPDX-License-Identifier: MIT */
/* A program on a host of the lab: its process, and what it prints.
 *
 * The process has its own process group, so that ^C at the prompt reaches only rdmalab.  What it
 * prints is written line by line, behind its name.  When rdmalab stops it, or ends, it gets
 * SIGTERM, and then SIGKILL.  The leash ends what it has started itself: see exec_leash.h.
 */
#ifndef CLI_LIVE_EXEC_PROCESS_H
#define CLI_LIVE_EXEC_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <uv.h>

#include "cli/live/live.h"

#define EXEC_LINE_BYTES 1024u /* a longer line is printed in parts */

/* One of the two streams of a process. */
struct exec_stream {
    struct exec_process *process;
    uv_pipe_t pipe;
    bool open;
    char line[EXEC_LINE_BYTES + 1]; /* the line that is being received */
    size_t n;
};

struct exec_process {
    uv_loop_t *loop;
    FILE *out;
    const char *name; /* what is printed before each line */
    bool alike;       /* its addresses are the same each time */
    bool direct;      /* it has the streams of this process, and is in its process group */
    uv_process_t process;
    struct exec_stream streams[2]; /* its stdout and stderr */
    char chunk[4096];
    bool started;
    uint64_t n_heard; /* times that its end or its output was noticed */
    bool exited;      /* @status is valid */
    bool over;        /* it has ended, and its output was read to the end */
    int64_t status;   /* exit status; 128 plus the signal number if it was killed */
    int signal;       /* that killed it; 0: none did */
};

/* Starts the program @words, ended by NULL, with the environment @env, "NAME=value" each, which is
 * added to that of this process.  Returns false, with the reason in @reterr, on failure.
 */
bool exec_process_start(struct exec_process *p, const char *const *words, const char *const *env,
                        struct live_error *reterr);

/* Returns true if the process has ended, and the loop has not noticed that yet. */
bool exec_process_ends(const struct exec_process *p);

/* Sends @signal to the process group, if it still runs. */
void exec_process_kill(struct exec_process *p, int signal);

/* Waits until the process has ended, for at most @ms, in which it runs the loop; do not call it
 * from the loop.  Returns what is left of @ms.
 */
unsigned exec_process_wait(struct exec_process *p, unsigned ms);

/* Kills the process if it runs, and closes its handles.  Takes at most a second, in which it runs
 * the loop.
 */
void exec_process_stop(struct exec_process *p);

#endif
