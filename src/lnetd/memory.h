/* SPDX-License-Identifier: MIT */
/* Memory that the adapter can reach: pages of one range of addresses.
 *
 * A range is reserved once.  Pages are taken from its beginning, and are used again when they are
 * free, but never returned to the system: a region that covers them keeps the pages that it has
 * pinned, and would not know the new ones at the same addresses.  As there are no holes, a growing
 * region can always be registered.
 */
#ifndef LNETD_MEMORY_H
#define LNETD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_free {
    struct memory_free *next;
    uint64_t addr, bytes;
};

struct memory_pool {
    uint64_t base, top, end; /* used: base .. top */
    struct memory_free *free;
};

/* Returns the address of pages for @bytes, zeroed, or 0. */
uint64_t memory_take(struct memory_pool *m, uint64_t bytes);
void memory_give(struct memory_pool *m, uint64_t addr, uint64_t bytes);
/* Returns the memory at @addr; NULL: it is not that of the pool. */
void *memory_at(const struct memory_pool *m, uint64_t addr, uint64_t bytes);
void memory_done(struct memory_pool *m);

#endif
