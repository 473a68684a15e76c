/* SPDX-License-Identifier: MIT */
/* Setup and teardown of a group of tests that writes files: enters a new directory, and removes it.
 */
#ifndef TESTS_UNIT_CLI_OWN_DIRECTORY_H
#define TESTS_UNIT_CLI_OWN_DIRECTORY_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int own_directory_enter(void **state)
{
    char name[] = "/tmp/rdmalab-test-XXXXXX";

    if (!mkdtemp(name) || chdir(name) != 0)
        return -1;
    *state = strdup(name);
    return 0;
}

static inline int own_directory_leave(void **state)
{
    const int result = chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;

    free(*state);
    return result;
}

#endif
