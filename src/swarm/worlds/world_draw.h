/* SPDX-License-Identifier: MIT */
/* Drawing worlds: what world_draw.c and world_draw_item.c share. */
#ifndef SWARM_WORLDS_WORLD_DRAW_H
#define SWARM_WORLDS_WORLD_DRAW_H

#include "emu/base/prng.h"
#include "swarm/worlds/world.h"

struct draw {
    struct world *w;
    struct prng rng;
    uint32_t used[WORLD_HOSTS_MAX];      /* bytes of memory that have an owner */
    uint32_t edge_used[WORLD_HOSTS_MAX]; /* of the region with edges */
    uint32_t mistake_one_in;             /* 0: never */
    uint16_t last[WORLD_ENDS_MAX];       /* item of each end that has a place at the far side */
    uint32_t n_sent[WORLD_ENDS_MAX];
};

static inline uint32_t draw_below(struct draw *d, uint32_t n)
{
    return (uint32_t)prng_below(&d->rng, n);
}

static inline bool draw_one_in(struct draw *d, uint32_t n)
{
    return draw_below(d, n) == 0;
}

/* A request of @end, or a receive; the number of the item, WORLD_NONE: there are enough. */
uint16_t draw_request(struct draw *d, uint16_t end);
uint16_t draw_key_request(struct draw *d, uint16_t end);
/* The faults of the world, and what the link of @host does beyond losing frames. */
void draw_faults(struct draw *d);
void draw_link_faults(struct draw *d, struct world_host *host, bool is_lossy);
/* The last request of an end. */
void draw_stop(struct draw *d, uint16_t end);
uint16_t draw_receive(struct draw *d, uint16_t end, bool is_spare);

#endif
