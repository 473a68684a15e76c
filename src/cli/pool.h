/* SPDX-License-Identifier: MIT */
/* Memory that is given back all at once: what one parsed script is made of. */
#ifndef CLI_POOL_H
#define CLI_POOL_H

#include <stddef.h>

struct pool_chunk;

struct pool {
    struct pool_chunk *first; /* NULL: nothing allocated yet */
};

/* Zeroed, aligned for everything.  Never NULL: when the process has no memory left it says so and
 * exits, as nothing could be kept consistent by going on.
 */
void *pool_alloc(struct pool *p, size_t bytes);

/* A NUL-terminated copy of the @n bytes at @s. */
char *pool_copy(struct pool *p, const char *s, size_t n);

void pool_free(struct pool *p);

/* malloc() and realloc() for what cannot be given up in good order, such as a table half printed:
 * when there is no memory left they say so and exit, with status 1.
 */
void *must_malloc(size_t bytes);
void *must_realloc(void *p, size_t bytes);

/* What was allocated since the mark was taken is given back. */
struct pool_mark {
    struct pool_chunk *chunk;
    size_t used;
};
struct pool_mark pool_mark(const struct pool *p);
void pool_back(struct pool *p, struct pool_mark m);

#endif
