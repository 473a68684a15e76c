/* SPDX-License-Identifier: MIT */
/* The index of faults by match: finds the faults of a frame without trying all of them. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/fnv.h"
#include "emu/net/internal.h"

_Static_assert(NET_MATCH_SETS <= 32, "a set of fields is a bit of a word");

/* Returns the set of fields that @m restricts. */
static uint32_t set_of(const struct net_match *m)
{
    uint32_t set = 0;

    for (uint32_t i = 0; i < NET_MATCH_FIELDS; i++) {
        if (m->field[i] != NET_MATCH_ANY)
            set |= 1u << i;
    }
    return set;
}

static uint32_t hash_of(const struct net_match *m)
{
    return fnv1a(m, sizeof(*m));
}

/* Returns the group with match @m, or NULL. */
static struct net_fault_group *group_of(const struct net_fault_index *x, const struct net_match *m)
{
    struct hash_node *at = hash_lists_first(&x->groups, hash_of(m));

    for (; at; at = at->next) {
        struct net_fault_group *g = (struct net_fault_group *)at;

        if (memcmp(&g->match, m, sizeof(*m)) == 0)
            return g;
    }
    return NULL;
}

/* Returns the group with match @m, which is created if necessary.  Returns NULL when the arena is
 * full.
 */
static struct net_fault_group *group_for(struct net *n, const struct net_match *m)
{
    struct net_fault_index *x = &n->fault_index;
    struct net_fault_group *g = group_of(x, m);
    const uint32_t set = set_of(m);

    if (g)
        return g;
    g = arena_alloc(n->arena, sizeof(*g));
    if (!g)
        return NULL;
    g->match = *m;
    if (!hash_lists_add(&x->groups, &g->node, hash_of(m))) {
        arena_release(n->arena, g, sizeof(*g));
        return NULL;
    }
    x->groups_of[set]++;
    x->sets |= 1u << set;
    return g;
}

bool fault_index_add(struct net *n, struct net_fault *fault)
{
    struct net_fault_group *g = group_for(n, &fault->key);

    RDL_ASSERT(!fault->group);
    if (!g)
        return false;
    fault->group = g;
    fault->next = NULL;
    fault->prev = g->last;
    if (g->last)
        g->last->next = fault;
    else
        g->first = fault;
    g->last = fault;
    return true;
}

static void group_gone(struct net *n, struct net_fault_group *g)
{
    struct net_fault_index *x = &n->fault_index;
    const uint32_t set = set_of(&g->match);

    hash_lists_remove(&x->groups, &g->node);
    if (--x->groups_of[set] == 0)
        x->sets &= ~(1u << set);
    arena_release(n->arena, g, sizeof(*g));
}

void fault_index_remove(struct net *n, struct net_fault *fault)
{
    struct net_fault_group *g = fault->group;

    if (fault->prev)
        fault->prev->next = fault->next;
    else
        g->first = fault->next;
    if (fault->next)
        fault->next->prev = fault->prev;
    else
        g->last = fault->prev;
    fault->group = NULL;
    if (!g->first)
        group_gone(n, g);
}

uint32_t fault_index_find(const struct net *n, const struct frame_note *note,
                          struct net_fault *ret[NET_MATCH_SETS])
{
    const struct net_fault_index *x = &n->fault_index;
    const struct net_match frame = {{
        [NET_MATCH_HOST] = note->host,
        [NET_MATCH_OPCODE] = note->opcode,
        [NET_MATCH_SYNDROME] = note->syndrome,
        [NET_MATCH_PSN] = note->psn,
        [NET_MATCH_DEST_QPN] = note->dest_qpn,
    }};
    uint32_t found = 0;

    for (uint32_t sets = x->sets; sets; sets &= sets - 1) {
        const uint32_t set = (uint32_t)__builtin_ctz(sets);
        struct net_match m = frame;
        const struct net_fault_group *g;

        for (uint32_t i = 0; i < NET_MATCH_FIELDS; i++) {
            if ((set & 1u << i) == 0)
                m.field[i] = NET_MATCH_ANY;
        }
        g = group_of(x, &m);
        /* A frame that lacks a field has "any" there; such a key must not find a smaller set. */
        if (g && set_of(&m) == set)
            ret[found++] = g->first;
    }
    return found;
}
