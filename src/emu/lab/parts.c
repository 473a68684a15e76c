/* SPDX-License-Identifier: MIT */
#include "emu/lab/parts.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/fnv.h"

void parts_init(struct parts *p, struct arena *a)
{
    p->arena = a;
    hash_lists_init(&p->named, a);
}

static struct part *find(const struct parts *p, const char *name, size_t len)
{
    struct hash_node *at = hash_lists_first(&p->named, fnv1a(name, len));

    for (; at; at = at->next) {
        struct part *part = (struct part *)at;

        if (strncmp(part->name, name, len) == 0 && part->name[len] == '\0')
            return part;
    }
    return NULL;
}

const struct part *parts_find(const struct parts *p, const char *name, size_t len)
{
    return len < RDL_NAME_BYTES ? find(p, name, len) : NULL;
}

bool parts_add(struct parts *p, const char *name, enum part_kind kind, uint32_t index)
{
    const size_t len = strlen(name);
    struct part *part;

    RDL_ASSERT(len < RDL_NAME_BYTES && !find(p, name, len));
    part = arena_alloc(p->arena, sizeof(*part));
    if (!part)
        return false;
    part->kind = kind;
    part->index = index;
    memcpy(part->name, name, len);
    if (hash_lists_add(&p->named, &part->node, fnv1a(name, len)))
        return true;
    arena_release(p->arena, part, sizeof(*part));
    return false;
}

void parts_remove(struct parts *p, const char *name)
{
    struct part *part = find(p, name, strlen(name));

    RDL_ASSERT(part);
    hash_lists_remove(&p->named, &part->node);
    arena_release(p->arena, part, sizeof(*part));
}
