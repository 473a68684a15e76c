/* SPDX-License-Identifier: MIT */
/* Loaded before the C library (LD_PRELOAD): lets one allocation of a program fail, or all from one
 * on.
 *
 *	FAIL_MALLOC=N       the N-th allocation fails (from 1; 0: none does)
 *	FAIL_MALLOC=N+      it and all after it fail
 *	FAIL_MALLOC_COUNT=F how many there were is written to F when the program ends
 *
 * Only the process that was started is meant, not its children.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static unsigned long made, failing;
static int all_after, started;
static pid_t process;

__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("FAIL_MALLOC");

    failing = at ? strtoul(at, NULL, 10) : 0;
    all_after = at && strchr(at, '+') != NULL;
    process = getpid();
    started = 1;
}

__attribute__((destructor)) static void end(void)
{
    const char *name = getenv("FAIL_MALLOC_COUNT");
    FILE *f;

    started = 0;
    f = name && getpid() == process ? fopen(name, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%lu\n", made);
    fclose(f);
}

static int fails(void)
{
    if (!started || getpid() != process)
        return 0;
    made++;
    if (failing == 0 || made < failing || (made > failing && !all_after))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}
