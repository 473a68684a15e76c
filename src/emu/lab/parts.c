/* SPDX-License-Identifier: MIT */
#include "emu/lab/parts.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/fnv.h"

#define LISTS_FIRST 16u

void parts_init(struct parts *p, struct arena *a)
{
    *p = (struct parts){.arena = a};
}

/* Where the pointer to the part called @name is, or would be; there are lists. */
static struct part **place(const struct parts *p, const char *name, size_t len)
{
    struct part **at = &p->lists[fnv1a(name, len) & (p->n_lists - 1)];

    while (*at && (strncmp((*at)->name, name, len) != 0 || (*at)->name[len] != '\0'))
        at = &(*at)->next;
    return at;
}

const struct part *parts_find(const struct parts *p, const char *name, size_t len)
{
    return p->n_lists && len < RDL_NAME_BYTES ? *place(p, name, len) : NULL;
}

/* As many lists as there will be parts, or twice as many. */
static bool make_room(struct parts *p)
{
    struct parts more = *p;

    if (p->n < p->n_lists)
        return true;
    more.n_lists = p->n_lists ? 2 * p->n_lists : LISTS_FIRST;
    more.lists = arena_alloc(p->arena, more.n_lists * sizeof(struct part *));
    if (!more.lists)
        return false;
    for (uint32_t i = 0; i < p->n_lists; i++) {
        while (p->lists[i]) {
            struct part *part = p->lists[i], **to;

            p->lists[i] = part->next;
            to = place(&more, part->name, strlen(part->name));
            part->next = NULL;
            *to = part;
        }
    }
    arena_release(p->arena, p->lists, p->n_lists * sizeof(struct part *));
    *p = more;
    return true;
}

bool parts_add(struct parts *p, const char *name, enum part_kind kind, uint32_t index)
{
    struct part *part, **to;

    RDL_ASSERT(strlen(name) < RDL_NAME_BYTES);
    if (!make_room(p))
        return false;
    part = arena_alloc(p->arena, sizeof(*part));
    if (!part)
        return false;
    part->kind = kind;
    part->index = index;
    memcpy(part->name, name, strlen(name));
    to = place(p, name, strlen(name));
    RDL_ASSERT(!*to);
    *to = part;
    p->n++;
    return true;
}

void parts_remove(struct parts *p, const char *name)
{
    struct part **at = place(p, name, strlen(name)), *part = *at;

    RDL_ASSERT(part);
    *at = part->next;
    arena_release(p->arena, part, sizeof(*part));
    p->n--;
}
