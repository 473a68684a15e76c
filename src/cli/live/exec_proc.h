/* SPDX-License-Identifier: MIT */
/* Reads from /proc what processes have started, and their TCP sockets.  [proc(5)] */
#ifndef CLI_LIVE_EXEC_PROC_H
#define CLI_LIVE_EXEC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXEC_PROC_DEPTH 8u   /* of processes that one has started, and these again */
#define EXEC_SOCKETS    256u /* of all processes that are looked at; there may be others */

/* Reads the beginning of file @name in the directory @dir, as a text.  Returns false if there is
 * none.
 */
bool exec_proc_read(int dir, const char *name, char *ret, size_t bytes);

/* Returns word number @n of @line, from 0, with all that is behind it; "" if there are fewer. */
const char *exec_proc_word(const char *line, unsigned n);

/* Reads the number with which @text begins, in @base.  *@ret_end is what is behind it; NULL: the
 * caller does not want it.  Returns false if there is no number, or one of more than 64 bits.
 */
bool exec_proc_number(const char *text, int base, uint64_t *ret, const char **ret_end);

/* Calls @visit with the directory of each thread of process @pid.  Ends when that returns false,
 * and returns that.
 */
bool exec_proc_threads(int pid, bool (*visit)(void *ctx, int dir), void *ctx);

/* Calls @visit with process @pid and all that it has started, down to EXEC_PROC_DEPTH.  Ends when
 * that returns false, and returns that.
 */
bool exec_proc_tree(int pid, bool (*visit)(void *ctx, int pid), void *ctx);

/* Returns the process that has started @pid; 0: there is none any more. */
int exec_proc_parent(int pid);

/* Sockets, by their inodes. */
struct exec_sockets {
    uint64_t inode[EXEC_SOCKETS];
    size_t n;
};

/* Adds the sockets of process @pid. */
void exec_sockets_add(struct exec_sockets *s, int pid);

/* A TCP socket: its state, and how many bytes its peer has not got yet. */
struct exec_tcp {
    bool listens;
    unsigned unsent; /* of a socket that listens this means something else */
};

/* Returns true if @is is true of one of @s, in the network of process @pid. */
bool exec_sockets_any(const struct exec_sockets *s, int pid, bool (*is)(const struct exec_tcp *t));

#endif
