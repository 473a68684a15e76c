/* SPDX-License-Identifier: MIT */
/* Memory for what cannot be given up in good order, such as a table half printed. */
#ifndef PROCESS_MUST_H
#define PROCESS_MUST_H

#include <stddef.h>
#include <stdio.h>

/* There is no memory left: says so and exits, with status 1. */
_Noreturn void must_fail(void);

/* malloc() and realloc(), which never return NULL but fail like that. */
void *must_malloc(size_t bytes);
void *must_realloc(void *p, size_t bytes);

/* @array, with room for one more element of @bytes behind the @n that it has: *@room, 0 at first,
 * is how many it has room for.
 */
void *must_grow(void *array, size_t n, size_t *room, size_t bytes);

/* open_memstream(), which never returns NULL but fails like that. */
FILE *must_memstream(char **text, size_t *bytes);

#endif
