/* SPDX-License-Identifier: MIT */
/* Assertions: they catch bugs of rdmalab itself and are never compiled out. */
#ifndef EMU_BASE_ASSERT_H
#define EMU_BASE_ASSERT_H

#include "emu/base/cold.h"

/* Writes @expr and its location to standard error and aborts.  The command line then exits with
 * status 99 and prints a command that replays the failure.
 */
RDL_COLD _Noreturn void assert_fail(const char *expr, const char *file, int line);

#define RDL_ASSERT(expr) ((expr) ? (void)0 : assert_fail(#expr, __FILE__, __LINE__))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
