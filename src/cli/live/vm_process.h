/* SPDX-License-Identifier: MIT */
/* The process of a virtual machine: a shell command that inherits sockets, and whose output is
 * captured.
 *
 * The command has its own process group, so ^C at the terminal reaches only rdmalab.  It must end
 * with rdmalab, however that ends.  For this a second shell reads from a pipe, the *leash*, whose
 * other end only rdmalab has open.  When the pipe is closed, that shell kills the process group.
 * (QEMU would not end by itself.)
 */
#ifndef CLI_LIVE_VM_PROCESS_H
#define CLI_LIVE_VM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <uv.h>

#include "cli/live/live.h"

struct vm_launch;

#define VM_FDS_FIRST  3  /* file descriptor of the first socket that the command inherits */
#define VM_FDS        3u /* most sockets that the command inherits */
#define VM_LINE_BYTES 160u

struct vm_process {
    uv_loop_t *loop;
    uv_process_t process;
    uv_pipe_t output;          /* stdout and stderr */
    bool started, output_open; /* the loop has the handle @process, @output */
    bool over;                 /* the process has ended, and its output was read to the end */
    bool exited;               /* the process has ended; @status is valid */
    int64_t status;            /* exit status; 128 plus the signal number if it was killed */
    int leash;                 /* rdmalab's end of the pipe; -1: closed */
    FILE *log;                 /* NULL: only the last line is kept */
    int log_error;             /* errno of a write error, after which the log ends; 0: none */
    char chunk[4096];          /* receives output */
    char line[VM_LINE_BYTES];  /* last non-empty line, as printable text */
    char next[VM_LINE_BYTES];  /* the line that is being received */
    size_t n_next;
};

/* Starts @command with launch->options as $LAB, and the descriptors of @launch, which the caller
 * keeps.  On success vm_process_stop() closes @log; on failure it stays open.  Returns false, with
 * the reason in @reterr, on failure; then the loop has no handle of @p.
 */
bool vm_process_start(struct vm_process *p, const char *command, const struct vm_launch *launch,
                      FILE *log, struct live_error *reterr);

/* Stops the process if it runs: with SIGTERM, then with SIGKILL.  Takes at most two seconds, in
 * which it runs the loop; do not call it from the loop.  After that the loop has no handle of @p,
 * which may be freed or started again.
 */
void vm_process_stop(struct vm_process *p);

#endif
