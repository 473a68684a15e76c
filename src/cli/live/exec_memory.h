/* SPDX-License-Identifier: MIT */
/* The memory of a program, through the descriptor of its /proc/self/mem.
 *
 * The program opens the file itself and passes the descriptor.  The kernel checks access when it is
 * opened, so this works under every setting of Yama and in user namespaces, where another process
 * could not open it.  The descriptor stays with the memory of the process that opened it: after a
 * fork it is the parent's.
 */
#ifndef CLI_LIVE_EXEC_MEMORY_H
#define CLI_LIVE_EXEC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if @fd may be such a descriptor: a file of /proc, open for reading and writing. */
bool exec_memory_is_sound(int fd);

/* Copy @n bytes at the program's address @addr through @fd.  Return false if not all could be
 * copied: nothing is mapped there, the program has ended, or @fd is -1.
 */
bool exec_memory_read(int fd, uint64_t addr, void *out, size_t n);
bool exec_memory_write(int fd, uint64_t addr, const void *in, size_t n);

#endif
