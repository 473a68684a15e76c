/* SPDX-License-Identifier: MIT */
/* The standard input, output and error output. */
#ifndef PROCESS_STD_FILES_H
#define PROCESS_STD_FILES_H

/* Opens those that are closed, so that no other file gets their numbers: what is printed would be
 * written to it, and libuv does not close such a file.  They stay useless: to read, or to write, is
 * an error as before.  Called before any file is opened.
 */
void std_files_hold(void);

#endif
