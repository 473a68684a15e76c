/* SPDX-License-Identifier: MIT */
/* Who is in the lab under which address: what its hosts need not ask each other.
 *
 * There is one for all hosts of a lab, so that a host costs the same however many others there are.
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
    uint32_t host; /* its number, for traces */
    uint32_t next; /* of the same hash: index + 1 */
};

/* No two entries have the same GID, and none ever goes away. */
struct directory {
    struct arena *arena;
    struct directory_entry *v; /* in the order in which they came */
    uint32_t n, cap;
    uint32_t *lists; /* by hash, as many as @cap: index + 1 of the first */
    bool asked;      /* a guest has asked the network, or heard, for one that was not here */
};

/* An empty one. */
void directory_init(struct directory *d, struct arena *a);

/* Room for @n more, so that directory_add() succeeds so often.  False: the arena is full. */
bool directory_reserve(struct directory *d, uint32_t n);

/* From now on @gid is at @mac of @host, wherever it was before. */
void directory_add(struct directory *d, const uint8_t gid[GID_BYTES], const uint8_t mac[MAC_BYTES],
                   uint32_t host);

/* NULL: nobody has @gid. */
const struct directory_entry *directory_find(const struct directory *d,
                                             const uint8_t gid[GID_BYTES]);

#endif
