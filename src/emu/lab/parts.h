/* SPDX-License-Identifier: MIT */
/* What the parts of a lab are called: hosts, switches, external ports and faults share one space of
 * names, in which a part is found however many there are.
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
    struct hash_node node; /* by name */
    enum part_kind kind;
    uint32_t index; /* of the host, switch or port; of a fault, in net->faults */
    char name[RDL_NAME_BYTES];
};

struct parts {
    struct arena *arena;
    struct hash_lists named;
};

void parts_init(struct parts *p, struct arena *a);

/* The part whose name is the @len bytes at @name, or NULL. */
const struct part *parts_find(const struct parts *p, const char *name, size_t len);

/* From now on there is a part called @name, which nothing else is called.  False: the arena is
 * full.
 */
bool parts_add(struct parts *p, const char *name, enum part_kind kind, uint32_t index);

/* The part called @name, which there is, is gone. */
void parts_remove(struct parts *p, const char *name);

#endif
