/* SPDX-License-Identifier: MIT */
/* Loaded before the C library (LD_PRELOAD): a program gets a signal when it is about to give a
 * temporary file its name, so that the file is there and complete.
 *
 *	DIE_WRITING=N       it gets signal N
 *	DIE_WRITING_TIMES=M so many times
 *	DIE_WRITING_NAME=F  only for the file F
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *to)
{
    const char *number = getenv("DIE_WRITING"), *times = getenv("DIE_WRITING_TIMES");
    const char *name = getenv("DIE_WRITING_NAME");

    if (name && strcmp(name, to) != 0)
        return;
    for (long i = times ? strtol(times, NULL, 10) : 1; number && i > 0; i--)
        raise((int)strtol(number, NULL, 10));
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    int (*real)(int, const char *, int, const char *) =
        (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");

    die(to);
    return real(from_dir, from, to_dir, to);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    int (*real)(int, const char *, int, const char *, int) =
        (int (*)(int, const char *, int, const char *, int))dlsym(RTLD_NEXT, "linkat");

    die(to);
    return real(from_dir, from, to_dir, to, flags);
}
