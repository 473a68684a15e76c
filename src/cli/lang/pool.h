/* SPDX-License-Identifier: MIT */
/* Memory that is given back all at once: what one parsed script is made of. */
#ifndef CLI_LANG_POOL_H
#define CLI_LANG_POOL_H

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

/* What was allocated since the mark was taken is given back. */
struct pool_mark {
    struct pool_chunk *chunk;
    size_t used;
};
struct pool_mark pool_mark(const struct pool *p);
void pool_back(struct pool *p, struct pool_mark m);

#endif
