/* SPDX-License-Identifier: MIT */
/* The only output of the engine: the message of a failed assertion. */
#include "emu/base/assert.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const char *s)
{
    /* Nothing can be done here about a failed write. */
    if (write(STDERR_FILENO, s, strlen(s)) < 0)
        return;
}

_Noreturn void assert_fail(const char *expr, const char *file, int line)
{
    char digits[12];
    size_t i = sizeof(digits);
    unsigned n = line < 0 ? 0u : (unsigned)line;

    digits[--i] = '\0';
    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n && i > 0);
    put("rdmalab: bug: ");
    put(file);
    put(":");
    put(&digits[i]);
    put(": assertion failed: ");
    put(expr);
    put("\n");
    abort();
}
