/* SPDX-License-Identifier: MIT */
/* A hash table with chaining that grows with its contents.
 *
 * Each element begins with a struct hash_node.  The table contains hashes, but no keys.  To find a
 * key, the caller follows the nodes from hash_lists_first() by @next and compares the keys.
 */
#ifndef EMU_BASE_HASH_LISTS_H
#define EMU_BASE_HASH_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/arena.h"

struct hash_node {
    struct hash_node *next; /* next node of the same chain */
    uint32_t hash;
};

struct hash_lists {
    struct arena *arena;
    struct hash_node **lists; /* chains; their number is a power of two, or 0 */
    uint32_t n_lists, n;      /* number of chains; number of nodes */
};

/* Initializes an empty table, which allocates from @a as it grows. */
void hash_lists_init(struct hash_lists *h, struct arena *a);

/* Frees the chains.  The table must be empty. */
void hash_lists_done(struct hash_lists *h);

/* Returns a hash of @number whose lower bits depend on all of its bits.  [Fibonacci hashing] */
static inline uint32_t hash_lists_of(uint64_t number)
{
    return (uint32_t)(number * 0x9e3779b97f4a7c15u >> 32);
}

/* Returns the first node of the chain for @hash, or NULL.  The chain may also contain nodes with
 * other hashes.
 */
static inline struct hash_node *hash_lists_first(const struct hash_lists *h, uint32_t hash)
{
    return h->n_lists ? h->lists[hash & (h->n_lists - 1)] : NULL;
}

/* Inserts @node under @hash.  The caller owns the node.  Returns false if the arena is full. */
bool hash_lists_add(struct hash_lists *h, struct hash_node *node, uint32_t hash);

/* Removes @node, which must be in the table. */
void hash_lists_remove(struct hash_lists *h, struct hash_node *node);

#endif
