/* SPDX-License-Identifier: MIT */
/* A full arena from which blocks are freed one by one.  If both orders of freeing are tried, each
 * allocation of a function with several allocations fails once.
 */
#ifndef TESTS_UNIT_HCA_FULL_H
#define TESTS_UNIT_HCA_FULL_H

#include "testing.h"

#include "emu/base/arena.h"

#define FULL_CLASS_MIN 4u /* smallest class: blocks of 1 << 4 bytes */
#define FULL_CLASS_MAX 24u
#define FULL_LENT      12u /* blocks to be freed, per class */
#define FULL_LENT_MAX  16u /* classes below this have such blocks */

struct full {
    struct arena *arena;
    void *lent[FULL_LENT_MAX][FULL_LENT];
    unsigned left[FULL_LENT_MAX];
};

static inline void full_make(struct full *f, struct arena *a)
{
    *f = (struct full){.arena = a};
    for (unsigned class = FULL_CLASS_MIN; class < FULL_LENT_MAX; class ++) {
        while (f->left[class] < FULL_LENT)
            f->lent[class][f->left[class]++] = arena_alloc_raw(a, (size_t)1 << class);
    }
    for (unsigned class = FULL_CLASS_MAX; class >= FULL_CLASS_MIN; class --) {
        while (arena_alloc_raw(a, (size_t)1 << class))
            continue;
    }
    assert_true(arena_is_short(a));
}

/* Frees one more block, of the largest or smallest left.  Returns false if none is left. */
static inline bool full_lend(struct full *f, bool large_first)
{
    for (unsigned i = FULL_CLASS_MIN; i < FULL_LENT_MAX; i++) {
        const unsigned class = large_first ? FULL_LENT_MAX - 1 - (i - FULL_CLASS_MIN) : i;

        if (f->left[class] > 0) {
            arena_release(f->arena, f->lent[class][--f->left[class]], (size_t)1 << class);
            return true;
        }
    }
    return false;
}

#endif
