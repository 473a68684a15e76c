/* SPDX-License-Identifier: MIT */
#include "cli/session/stops.h"

#include <stdlib.h>
#include <string.h>

#include "process/must.h"

static void stop_free(struct stop *stop)
{
    operand_done(&stop->is);
    pool_free(&stop->pool);
    free(stop);
}

void stops_forget(struct stops *list)
{
    while (list->gone) {
        struct stop *gone = list->gone;

        list->gone = gone->next;
        stop_free(gone);
    }
}

void stops_free(struct stops *list)
{
    list->hit = NULL;
    stops_forget(list);
    while (list->first) {
        struct stop *gone = list->first;

        list->first = gone->next;
        stop_free(gone);
    }
}

/* Stops are checked in the order in which they were made. */
static struct stop *add(struct stops *list, enum stop_owner owner)
{
    struct stop **end = &list->first;
    struct stop *stop = must_malloc(sizeof(*stop));

    *stop = (struct stop){.id = ++list->n_made,
                          .owner = owner,
                          .host = "",
                          .enabled = true,
                          .is = {.kind = OPERAND_ABSENT}};
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
    stop->momentary = expr_has_happening(when);
    stop->pool = pool;
    stop->text = pool_copy(&stop->pool, text, strlen(text));
    return stop;
}

void stop_put_steps(struct stop *stop, const struct source *src, const struct step *first)
{
    struct step *last = NULL;

    stop->steps_src = *source_copy(&stop->pool, src);
    for (const struct step *st = first; st; st = st->next) {
        struct step *copy = step_copy(&stop->pool, st);

        if (last)
            last->next = copy;
        else
            stop->steps = copy;
        last = copy;
    }
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
        gone->next = list->gone;
        list->gone = gone;
        return;
    }
}

void stops_refuse(struct stops *list, const struct stop *stop)
{
    list->n_made = stop->id - 1;
    stops_remove(list, stop->id);
}

bool stops_watch(const struct stops *list)
{
    for (const struct stop *stop = list->first; stop; stop = stop->next) {
        if (stop->enabled && stop->watches)
            return true;
    }
    return false;
}

uint64_t stops_ticks(const struct stops *list, uint64_t tick)
{
    uint64_t ticks = UINT64_MAX;

    for (const struct stop *stop = list->first; stop; stop = stop->next) {
        if (!stop->enabled || list->ignored)
            continue;
        if (stop->when->kind != EXPR_EVENT)
            return 1; /* any tick may change what the condition is about */
        if (stop->when->number > tick && stop->when->number - tick < ticks)
            ticks = stop->when->number - tick;
    }
    return ticks;
}
