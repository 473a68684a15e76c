/* SPDX-License-Identifier: MIT */
#include "cli/session/stops.h"

#include <stdlib.h>

#include "cli/print/must.h"

static void stop_free(struct stop *stop)
{
    pool_free(&stop->pool);
    free(stop);
}

void stops_free(struct stops *list)
{
    list->hit = NULL;
    while (list->first) {
        struct stop *gone = list->first;

        list->first = gone->next;
        stop_free(gone);
    }
}

/* Stops are looked at in the order in which they were made. */
static struct stop *add(struct stops *list, enum stop_owner owner)
{
    struct stop **end = &list->first;
    struct stop *stop = must_malloc(sizeof(*stop));

    *stop = (struct stop){.id = ++list->n_made, .owner = owner, .enabled = true};
    while (*end)
        end = &(*end)->next;
    *end = stop;
    return stop;
}

struct stop *stops_add_tick(struct stops *list, enum stop_owner owner, uint64_t tick)
{
    struct stop *stop = add(list, owner);

    stop->when = pool_alloc(&stop->pool, sizeof(*stop->when));
    *stop->when = (struct expr){.kind = EXPR_EVENT, .number = tick};
    return stop;
}

struct stop *stops_add_when(struct stops *list, enum stop_owner owner, const char *text,
                            struct span at, struct diag *reterr)
{
    struct pool pool = {NULL};
    struct expr *when = expr_parse(&pool, text, at, reterr);
    struct stop *stop;

    if (!when) {
        pool_free(&pool);
        return NULL;
    }
    stop = add(list, owner);
    stop->when = when;
    stop->pool = pool;
    return stop;
}

struct stop *stops_find(const struct stops *list, uint32_t id)
{
    for (struct stop *stop = list->first; stop; stop = stop->next) {
        if (stop->id == id)
            return stop;
    }
    return NULL;
}

void stops_remove(struct stops *list, uint32_t id)
{
    for (struct stop **at = &list->first; *at; at = &(*at)->next) {
        struct stop *gone = *at;

        if (gone->id != id)
            continue;
        if (list->hit == gone)
            list->hit = NULL;
        *at = gone->next;
        stop_free(gone);
        return;
    }
}

uint64_t stops_ticks(const struct stops *list, uint64_t tick)
{
    uint64_t ticks = UINT64_MAX;

    for (const struct stop *stop = list->first; stop; stop = stop->next) {
        if (!stop->enabled)
            continue;
        if (stop->when->kind != EXPR_EVENT)
            return 1; /* any tick may change what the condition is about */
        if (stop->when->number > tick && stop->when->number - tick < ticks)
            ticks = stop->when->number - tick;
    }
    return ticks;
}

bool stop_is_hit(struct stop *stop, bool holds)
{
    const bool hit = holds && !stop->held;

    stop->held = holds;
    stop->n_hits += hit;
    return hit;
}
