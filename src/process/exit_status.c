/* SPDX-License-Identifier: MIT */
#include "process/exit_status.h"

#include <errno.h>
#include <stddef.h>

#include "emu/base/assert.h"

int exit_worse(int a, int b)
{
    static const int worst_first[] = {EXIT_BROKEN, EXIT_TIMEOUT, EXIT_USAGE, EXIT_FAILED};

    if (a >= EXIT_SIGNALS || b >= EXIT_SIGNALS)
        return a >= EXIT_SIGNALS ? a : b;
    for (size_t i = 0; i < ARRAY_LEN(worst_first); i++) {
        if (a == worst_first[i] || b == worst_first[i])
            return worst_first[i];
    }
    return a ? a : b;
}

int exit_unopened(int error)
{
    return error == ENOMEM ? EXIT_FAILED : EXIT_USAGE;
}
