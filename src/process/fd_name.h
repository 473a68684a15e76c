/* SPDX-License-Identifier: MIT */
/* Files that have no name yet: nothing stays of them if the process ends, not even by SIGKILL.
 * [open(2), O_TMPFILE]
 */
#ifndef PROCESS_FD_NAME_H
#define PROCESS_FD_NAME_H

/* Creates a file without a name for writing, in the file system of the directory of @name, which is
 * relative to @dir.  fd_link() can give it a name there.  Returns its descriptor, or -1 if the file
 * system or the machine has no such files.
 */
int fd_unnamed(int dir, const char *name);

/* Gives the file @fd the name @name in @dir, which no other file must have.  Returns 0, or an
 * errno.
 */
int fd_link(int fd, int dir, const char *name);

#endif
