/* SPDX-License-Identifier: MIT */
#include "emu/base/hash_lists.h"

#include "emu/base/assert.h"

#define LISTS_FIRST 16u

void hash_lists_init(struct hash_lists *h, struct arena *a)
{
    *h = (struct hash_lists){.arena = a};
}

void hash_lists_done(struct hash_lists *h)
{
    RDL_ASSERT(h->n == 0);
    arena_release(h->arena, h->lists, h->n_lists * sizeof(struct hash_node *));
    h->lists = NULL;
    h->n_lists = 0;
}

static struct hash_node **list_of(const struct hash_lists *h, uint32_t hash)
{
    return &h->lists[hash & (h->n_lists - 1)];
}

static void push(struct hash_node **list, struct hash_node *node)
{
    node->next = *list;
    *list = node;
}

/* Ensures that there are more chains than nodes before one is added, by doubling.  Returns false
 * when the arena is full.
 */
static bool make_room(struct hash_lists *h)
{
    struct hash_lists more = *h;

    if (h->n < h->n_lists)
        return true;
    more.n_lists = h->n_lists ? 2 * h->n_lists : LISTS_FIRST;
    more.lists = arena_alloc(h->arena, more.n_lists * sizeof(struct hash_node *));
    if (!more.lists)
        return false;
    for (uint32_t i = 0; i < h->n_lists; i++) {
        while (h->lists[i]) {
            struct hash_node *node = h->lists[i];

            h->lists[i] = node->next;
            push(list_of(&more, node->hash), node);
        }
    }
    arena_release(h->arena, h->lists, h->n_lists * sizeof(struct hash_node *));
    *h = more;
    return true;
}

bool hash_lists_add(struct hash_lists *h, struct hash_node *node, uint32_t hash)
{
    if (!make_room(h))
        return false;
    node->hash = hash;
    push(list_of(h, hash), node);
    h->n++;
    return true;
}

void hash_lists_remove(struct hash_lists *h, struct hash_node *node)
{
    struct hash_node **at = list_of(h, node->hash);

    while (*at != node) {
        RDL_ASSERT(*at);
        at = &(*at)->next;
    }
    *at = node->next;
    h->n--;
}
