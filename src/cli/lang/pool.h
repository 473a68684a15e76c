/* SPDX-License-Identifier: MIT */
/* Memory pool: many small allocations that are freed together, such as all nodes of a parsed
 * script.
 */
#ifndef CLI_LANG_POOL_H
#define CLI_LANG_POOL_H

#include <stddef.h>

struct pool_chunk;

struct pool {
    struct pool_chunk *first; /* NULL: nothing allocated yet */
};

/* Allocates @bytes zeroed bytes, aligned for any type.  Never returns NULL: if the process has no
 * memory left, it prints an error and exits.
 */
void *pool_alloc(struct pool *p, size_t bytes);

/* Returns a NUL-terminated copy of the @n bytes at @s. */
char *pool_copy(struct pool *p, const char *s, size_t n);

void pool_free(struct pool *p);

/* pool_back() frees everything that was allocated after pool_mark() returned @m. */
struct pool_mark {
    struct pool_chunk *chunk;
    size_t used;
};
struct pool_mark pool_mark(const struct pool *p);
void pool_back(struct pool *p, struct pool_mark m);

#endif
