/* SPDX-License-Identifier: MIT */
#include "cli/session/places.h"

#include <stdlib.h>
#include <string.h>

#include "process/must.h"

struct post_place {
    uint64_t from, to; /* its ticks: from + 1 .. to */
    char place[SESSION_PLACE_BYTES];
};

struct post_places {
    struct post_place v[PLACES_MAX];
    uint64_t n; /* so far */
};

/* Writes the place of @at, without the directory of the file. */
static void write_place(const struct session *s, struct span at, char ret[SESSION_PLACE_BYTES])
{
    const struct source *src = s->run.block ? s->run.block->src : NULL;
    char whole[SESSION_PLACE_BYTES] = "";

    ret[0] = '\0';
    if (!src || !src->name || src->of_lesson)
        return;
    session_place(s, at, whole);
    snprintf(ret, SESSION_PLACE_BYTES, "%s", text_behind_slash(whole));
}

void places_add(struct session *s, struct span at, uint64_t from)
{
    struct post_place *e;

    if (!s->places) {
        s->places = must_malloc(sizeof(*s->places));
        memset(s->places, 0, sizeof(*s->places));
    }
    e = &s->places->v[s->places->n++ % PLACES_MAX];
    e->from = from;
    e->to = rdl_tick(s->lab);
    write_place(s, at, e->place);
}

const char *places_find(const struct session *s, uint64_t tick)
{
    const struct post_places *p = s->places;

    for (uint64_t i = p ? p->n : 0; i > 0 && i + PLACES_MAX > p->n; i--) {
        const struct post_place *e = &p->v[(i - 1) % PLACES_MAX];

        if (tick > e->from && tick <= e->to)
            return e->place;
    }
    return "";
}

void places_free(struct session *s)
{
    free(s->places);
    s->places = NULL;
}
