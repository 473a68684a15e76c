/* SPDX-License-Identifier: MIT */
/* The file of a program: the reason why it cannot be started, or cannot use our libibverbs. */
#ifndef CLI_LIVE_EXEC_FILE_H
#define CLI_LIVE_EXEC_FILE_H

#include "cli/live/live.h"

/* Fills @ret with the reason why program @name, as it was typed, was not started, and a remedy.
 * @why is the text of the error that the start returned.
 */
void exec_file_explain(const char *name, const char *why, struct live_error *ret);

/* Returns the reason why the dynamic linker does not lead program @name to our libibverbs, with a
 * remedy: "statically linked, so ...".  Returns NULL if there is none, or if it is not known.
 */
const char *exec_file_warning(const char *name);

#endif
