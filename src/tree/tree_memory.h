/* SPDX-License-Identifier: MIT */
/* A snapshot of the contents of all memory regions of a lab, to be compared with another snapshot.
 *
 * Memory is not part of the inspect tree, and a lab may have gigabytes of it.  At most
 * TREE_MEMORY_BYTES_MAX are kept; regions beyond that are reported as skipped.  Regions over all of
 * RAM and those for fast registration are left out: programs use the other regions.
 */
#ifndef TREE_TREE_MEMORY_H
#define TREE_TREE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "rdmalab/inspect.h"
#include "rdmalab/lab.h"
#include "rdmalab/verbs.h"

#define TREE_MEMORY_BYTES_MAX (64u << 20) /* bytes kept per lab */

/* Calls @each for each region that a program has registered, in the order of the tree, with its
 * path and its host.
 */
typedef void tree_region_each(void *ctx, const char *path, rdl_host host,
                              const struct rdl_mr_info *info);
void tree_each_region(const struct rdl_lab *lab, tree_region_each *each, void *ctx);

/* The regions, in the order of their paths. */
struct tree_memory {
    struct tree_memory_region {
        char path[RDL_VALUE_BYTES];
        uint64_t n; /* size of the region in bytes */
        /* Its bytes; NULL: not kept, because there are too many or they are not mapped. */
        uint8_t *bytes;
    } * v;
    size_t n, room; /* number of regions; allocated elements */
    uint64_t kept;  /* number of bytes kept of all regions */
};

/* Takes a snapshot of @lab.  tree_memory_done() frees it; it accepts a zeroed one. */
void tree_memory_take(struct tree_memory *ret, const struct rdl_lab *lab);
void tree_memory_done(struct tree_memory *memory);

/* A range of different bytes: the offsets @from to @to - 1 in the region @path. */
struct tree_memory_difference {
    const char *path;
    uint64_t from, to;
    const uint8_t *a, *b; /* the bytes at @from in each snapshot */
};

/* Summary of a comparison. */
struct tree_memory_compared {
    size_t n_regions; /* number of compared regions */
    uint64_t bytes;   /* number of compared bytes */
    size_t n_skipped; /* number of regions whose bytes a snapshot has not kept */
    const struct tree_memory_region *skipped; /* the first skipped region; NULL: none */
};

/* Calls @each for each range of different bytes, in the regions that exist in both snapshots.  If
 * the sizes of a region differ, compares only the bytes that both have.  Up to 4 equal bytes do not
 * split a range.
 */
struct tree_memory_compared
tree_memory_compare(const struct tree_memory *a, const struct tree_memory *b,
                    void (*each)(void *ctx, const struct tree_memory_difference *d), void *ctx);

#endif
