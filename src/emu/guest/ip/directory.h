/* SPDX-License-Identifier: MIT */
/* A directory of the addresses of a lab's hosts.  Hosts look each other up in it instead of asking
 * the link.
 *
 * All hosts share one directory, so a host costs the same however many other hosts there are.
 */
#ifndef EMU_GUEST_DIRECTORY_H
#define EMU_GUEST_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/wire/addr.h"

struct directory_entry {
    uint8_t gid[GID_BYTES];
    uint8_t mac[MAC_BYTES];
    uint32_t host; /* host number, for traces */
    uint32_t next; /* next in the same hash list: index + 1; 0: none */
};

/* No two entries have the same GID, and no entry is ever removed. */
struct directory {
    struct arena *arena;
    struct directory_entry *v; /* in the order of insertion */
    uint32_t n, cap;
    uint32_t *lists; /* @cap hash lists: index + 1 of the first entry; 0: empty */
    bool asked;      /* a guest has made a neighbour entry for an address that was not in @v */
};

void directory_init(struct directory *d, struct arena *a);

/* Reserves memory for @n more calls of directory_add().  Returns false when the arena is full. */
bool directory_reserve(struct directory *d, uint32_t n);

/* Records that @gid belongs to @mac of @host.  Replaces an earlier entry of @gid.  There must be
 * memory: directory_reserve().
 */
void directory_add(struct directory *d, const uint8_t gid[GID_BYTES], const uint8_t mac[MAC_BYTES],
                   uint32_t host);

/* Returns the entry of @gid, or NULL if no host has it.  The pointer is valid until
 * directory_reserve().
 */
const struct directory_entry *directory_find(const struct directory *d,
                                             const uint8_t gid[GID_BYTES]);

#endif
