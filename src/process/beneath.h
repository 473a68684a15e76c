/* SPDX-License-Identifier: MIT */
/* Paths that a stranger has written: they are followed beneath one directory and nowhere else.
 *
 * A path is walked one name at a time.  Each directory is opened relative to the one before it, and
 * no link is followed.  So the walk cannot leave the directory, even if somebody exchanges a part
 * of the path for a link meanwhile.  `..` is refused, and so are names that begin with a dot, which
 * configure other programs: .bashrc, .git/hooks.
 */
#ifndef PROCESS_BENEATH_H
#define PROCESS_BENEATH_H

#include <stdbool.h>

/* The reasons why a path is not followed, as opposed to those of the system ("No such file").  They
 * follow the path in a message.
 */
extern const char beneath_out[];     /* an absolute path, `..`, another file system */
extern const char beneath_link[];    /* a symbolic link */
extern const char beneath_hidden[];  /* a name that begins with a dot */
extern const char beneath_special[]; /* no regular file: a device, a pipe */
extern const char beneath_exists[];  /* the file to be made is there already */

/* Returns true if @why is one of the above: the path leads to what a stranger may not use. */
bool beneath_forbids(const char *why);

/* Opens the directory of the file @name, which is a path beneath the directory @top.  @make:
 * creates missing directories, @top too.  Returns NULL on success: *@ret_dir is a file descriptor,
 * and
 * *@ret_last the last name in the path.  Otherwise returns the reason.
 */
const char *beneath_directory(const char *top, const char *name, bool make, int *ret_dir,
                              const char **ret_last);

/* Opens the regular file @name beneath @top for reading.  Returns NULL on success: *@ret_fd is a
 * file descriptor.  Otherwise returns the reason.
 */
const char *beneath_open(const char *top, const char *name, int *ret_fd);

/* Makes the file @name beneath @top, and opens it for writing in place.  A file that exists is
 * refused, unless @again: then it is opened as it is.  Returns as beneath_open() does.
 */
const char *beneath_make(const char *top, const char *name, bool again, int *ret_fd);

#endif
