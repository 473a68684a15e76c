/* SPDX-License-Identifier: MIT */
/* Drawing of worlds: the interface between the world_draw files. */
#ifndef SWARM_WORLDS_WORLD_DRAW_H
#define SWARM_WORLDS_WORLD_DRAW_H

#include "emu/base/prng.h"
#include "swarm/worlds/world.h"

/* State while a world is drawn. */
struct draw {
    struct world *w;
    struct prng rng;
    uint32_t used[WORLD_HOSTS_MAX];      /* bytes of memory that are assigned to items */
    uint32_t edge_used[WORLD_HOSTS_MAX]; /* bytes assigned in the region of KEY_EDGE */
    uint32_t mistake_one_in;             /* one request in so many has a mistake; 0: none has */
    /* For each end: its latest item whose place in memory a later item may share
     * (world_item.again); WORLD_NONE: none.
     */
    uint16_t last[WORLD_ENDS_MAX];
    uint32_t n_sent[WORLD_ENDS_MAX]; /* number of messages that each end sends */
};

/* Draw from d->rng: draw_below() a number less than @n, draw_one_in() true with chance 1 in @n. */
static inline uint32_t draw_below(struct draw *d, uint32_t n)
{
    return (uint32_t)prng_below(&d->rng, n);
}

static inline bool draw_one_in(struct draw *d, uint32_t n)
{
    return draw_below(d, n) == 0;
}

/* draw_request() draws any request of @end, draw_key_request() one that changes a key.  They return
 * the index of the new item, or WORLD_NONE if the world has no room for it.
 */
uint16_t draw_request(struct draw *d, uint16_t end);
uint16_t draw_key_request(struct draw *d, uint16_t end);
/* draw_faults() draws the faults of the world, draw_link_faults() jitter and loss bursts of @host's
 * link.
 */
void draw_faults(struct draw *d);
void draw_link_faults(struct draw *d, struct world_host *host, bool is_lossy);
/* draw_stop() draws the last request of @end, which is posted at the end of the run.
 * draw_receive() draws a receive, a spare one if @is_spare (world_item.is_spare).
 */
void draw_stop(struct draw *d, uint16_t end);
uint16_t draw_receive(struct draw *d, uint16_t end, bool is_spare);

#endif
