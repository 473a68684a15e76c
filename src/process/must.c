/* SPDX-License-Identifier: MIT */
#include "process/must.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_ROOM 16u

void must_fail(void)
{
    fputs("rdmalab: out of memory\n", stderr);
    exit(EXIT_FAILURE);
}

void *must_realloc(void *p, size_t bytes)
{
    void *moved = realloc(p, bytes);

    if (!moved)
        must_fail();
    return moved;
}

void *must_grow(void *array, size_t n, size_t *room, size_t bytes)
{
    if (n < *room)
        return array;
    *room = *room ? 2 * *room : FIRST_ROOM;
    return must_realloc(array, *room * bytes);
}

void *must_malloc(size_t bytes)
{
    return must_realloc(NULL, bytes);
}

FILE *must_memstream(char **text, size_t *bytes)
{
    FILE *f = open_memstream(text, bytes);

    if (!f)
        must_fail();
    return f;
}

void must_memstream_end(FILE *f, char *const *text)
{
    if (fclose(f) != 0 || !*text)
        must_fail();
}
