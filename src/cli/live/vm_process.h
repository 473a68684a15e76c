/* SPDX-License-Identifier: MIT */
/* The process of a virtual machine: a shell command with sockets as file descriptors, whose output
 * is kept.
 *
 * The command has a process group of its own: ^C at the terminal is for rdmalab alone.  It ends
 * with rdmalab, however that ends: a second shell waits at a pipe whose other end only rdmalab has,
 * and when that is closed takes the whole group down.  (QEMU alone would stay.)
 */
#ifndef CLI_LIVE_VM_PROCESS_H
#define CLI_LIVE_VM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <uv.h>

#include "cli/live/live.h"

#define VM_FDS_FIRST  3  /* number of the first descriptor that the command gets */
#define VM_FDS        3u /* how many */
#define VM_LINE_BYTES 160u

struct vm_process {
    uv_loop_t *loop;
    uv_process_t process;
    uv_pipe_t output; /* of both its output and its errors */
    bool started, output_open;
    bool over; /* it has ended, and its output is read to the end */
    bool exited;
    int64_t status; /* exit status; 128 and the signal's number of one that was killed */
    int leash;      /* rdmalab's end of the pipe; -1 */
    FILE *log;      /* NULL: only the last line is kept */
    int log_error;  /* why it has not all of the output; 0 */
    char chunk[4096];
    char line[VM_LINE_BYTES]; /* the last line that was not empty, as text */
    char next[VM_LINE_BYTES]; /* the one that is being written */
    size_t n_next;
};

/* Starts @command with @fds as descriptors VM_FDS_FIRST and following, which stay the caller's;
 * $LAB in it is @lab.  @log is closed in the end, and stays the caller's if this fails.  False:
 * @reterr says why, and the loop has nothing of @p.
 */
bool vm_process_start(struct vm_process *p, const char *command, const char *lab,
                      const int fds[VM_FDS], FILE *log, struct live_error *reterr);

/* Ends it, if it runs: politely first, then by force.  Takes two seconds at most, in which the loop
 * runs; not to be called from it.  Then the loop has nothing of @p any more: it may go, or be
 * started again.
 */
void vm_process_stop(struct vm_process *p);

#endif
