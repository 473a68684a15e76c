/* SPDX-License-Identifier: MIT */
/* Lists by hash that grow with what is in them, for whoever looks something up by a key.
 *
 * What is entered begins with a struct hash_node.  Keys are the caller's: it walks from
 * hash_lists_first() along @next and compares.
 */
#ifndef EMU_BASE_HASH_LISTS_H
#define EMU_BASE_HASH_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/arena.h"

struct hash_node {
    struct hash_node *next; /* of the same list */
    uint32_t hash;
};

struct hash_lists {
    struct arena *arena;
    struct hash_node **lists; /* their number is a power of two, or 0 */
    uint32_t n_lists, n;      /* n: nodes */
};

/* Empty lists, which take their memory from @a later. */
void hash_lists_init(struct hash_lists *h, struct arena *a);

/* Gives the memory of the lists back; nothing is entered any more. */
void hash_lists_done(struct hash_lists *h);

/* The first node of the list that has those with @hash, and others; NULL: there is none. */
static inline struct hash_node *hash_lists_first(const struct hash_lists *h, uint32_t hash)
{
    return h->n_lists ? h->lists[hash & (h->n_lists - 1)] : NULL;
}

/* Enters @node, which stays the caller's.  False when the arena is full. */
bool hash_lists_add(struct hash_lists *h, struct hash_node *node, uint32_t hash);

/* @node, which is entered, is no more. */
void hash_lists_remove(struct hash_lists *h, struct hash_node *node);

#endif
