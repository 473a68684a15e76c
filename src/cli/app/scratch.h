/* SPDX-License-Identifier: MIT */
/* A temporary directory for files that the cases of a test write, and that are not kept. */
#ifndef CLI_APP_SCRATCH_H
#define CLI_APP_SCRATCH_H

#include <limits.h>

/* Creates it below TMPDIR, and sets @ret to its path.  Returns NULL, or the reason of a failure. */
const char *scratch_open(char ret[PATH_MAX]);

/* Removes it and all that is in it.  Errors are ignored: they do not concern the tests. */
void scratch_remove(const char *path);

#endif
