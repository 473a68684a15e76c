/* SPDX-License-Identifier: MIT */
/* The names of a lab's parts.  Hosts, switches, external ports and faults share one name space.  A
 * hash table finds a part by its name.
 */
#ifndef EMU_LAB_PARTS_H
#define EMU_LAB_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/hash_lists.h"
#include "rdmalab/lab.h"

enum part_kind { PART_HOST, PART_SWITCH, PART_PORT, PART_FAULT };

struct part {
    struct hash_node node; /* in parts.named, hashed by name */
    enum part_kind kind;
    uint32_t index; /* index of a host, switch or port; slot of a fault in net->faults */
    char name[RDL_NAME_BYTES];
};

struct parts {
    struct arena *arena;
    struct hash_lists named;
};

void parts_init(struct parts *p, struct arena *a);

/* Returns the part whose name is the @len bytes at @name, or NULL if there is none. */
const struct part *parts_find(const struct parts *p, const char *name, size_t len);

/* Adds a part called @name; no other part may have that name.  Returns false when the arena is
 * full.
 */
bool parts_add(struct parts *p, const char *name, enum part_kind kind, uint32_t index);

/* Removes the part called @name, which must exist. */
void parts_remove(struct parts *p, const char *name);

#endif
