/* SPDX-License-Identifier: MIT */
/* Files that must not outlive the process: temporary files until they have their names, and
 * directories for files that are not kept.
 *
 * Whoever makes one removes it.  If the process ends before that, by exit() or by a signal that can
 * be caught (signals.h), it is removed then.
 */
#ifndef PROCESS_LEFTOVERS_H
#define PROCESS_LEFTOVERS_H

#include <stdbool.h>

/* Creates the temporary file @name in the directory @dir, as openat() with @flags does, with the
 * permissions of a new file, and remembers it.  Both must stay until leftovers_forget().  Returns
 * the file descriptor; -1 with errno on failure.
 */
int leftovers_create(int dir, const char *name, int flags);

/* Gives the file @fd, which has no name, the temporary name @name in @dir, and remembers it as
 * leftovers_create() does.  Returns 0, or an errno.
 */
int leftovers_link(int fd, int dir, const char *name);

/* Creates the directory @name, which ends in XXXXXX, as mkdtemp() does, and remembers it.  @name
 * must stay where it is until leftovers_forget().  Returns false, with errno, on failure.
 */
bool leftovers_create_directory(char *name);

/* Forgets @name: it was renamed, or removed. */
void leftovers_forget(const char *name);

/* Removes all that this process has made and not forgotten.  A signal handler may call it. */
void leftovers_remove(void);

#endif
