/* SPDX-License-Identifier: MIT */
/* The bytes of all memory regions of a lab at one moment, to be compared with another moment.
 *
 * They are no part of the inspect tree, and of a lab like this there may be gigabytes: of what is
 * beyond TREE_MEMORY_BYTES_MAX nothing is kept, and who compares can say so.  Regions over all of
 * RAM, and those for fast registration, are left out: memory of programs is in the others.
 */
#ifndef TREE_TREE_MEMORY_H
#define TREE_TREE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "rdmalab/inspect.h"
#include "rdmalab/lab.h"
#include "rdmalab/verbs.h"

#define TREE_MEMORY_BYTES_MAX (64u << 20) /* that are kept of one lab */

/* Calls @each for each region of memory of programs, in the order of the tree. */
typedef void tree_region_each(void *ctx, const char *path, rdl_host host,
                              const struct rdl_mr_info *info);
void tree_each_region(const struct rdl_lab *lab, tree_region_each *each, void *ctx);

/* The regions, in the order of their paths. */
struct tree_memory {
    struct tree_memory_region {
        char path[RDL_VALUE_BYTES];
        uint64_t n;
        uint8_t *bytes; /* NULL: they were not looked at, as they are too many or not mapped */
    } * v;
    size_t n, room;
    uint64_t kept; /* bytes of all of them */
};

/* What is in the regions of @lab now.  Free with tree_memory_done(), which takes one that is all
 * zero, too.
 */
void tree_memory_take(struct tree_memory *ret, const struct rdl_lab *lab);
void tree_memory_done(struct tree_memory *memory);

/* Bytes @from to @to, which is not one of them, of a region that two moments do not share. */
struct tree_memory_difference {
    const char *path;
    uint64_t from, to;
    const uint8_t *a, *b; /* the first of them */
};

/* What was compared, and what was not. */
struct tree_memory_compared {
    size_t n_regions;
    uint64_t bytes;
    size_t n_skipped;
    const struct tree_memory_region *skipped; /* the first one; NULL: there is none */
};

/* Calls @each for each difference between regions that both have.  Of two sizes the smaller one is
 * compared.
 */
struct tree_memory_compared
tree_memory_compare(const struct tree_memory *a, const struct tree_memory *b,
                    void (*each)(void *ctx, const struct tree_memory_difference *d), void *ctx);

#endif
