/* SPDX-License-Identifier: MIT */
/* Who has which address.  The lab fills the table; a guest that asks the network comes later. */
#include <string.h>

#include "emu/guest/driver.h"

enum rdl_status guest_neighbour_add(struct guest *g, const uint8_t gid[GID_BYTES],
                                    const uint8_t mac[MAC_BYTES])
{
    struct guest_neighbour *all = g->neighbours;

    for (uint32_t i = 0; i < g->n_neighbours; i++) {
        if (memcmp(all[i].gid, gid, GID_BYTES) == 0) {
            memcpy(all[i].mac, mac, MAC_BYTES);
            return RDL_OK;
        }
    }
    if (g->n_neighbours == g->neighbours_cap) {
        const uint32_t cap = g->neighbours_cap ? 2 * g->neighbours_cap : 8;

        all = arena_alloc(g->arena, cap * sizeof(*all));
        if (!all)
            return RDL_ERR_NOMEM;
        if (g->n_neighbours > 0)
            memcpy(all, g->neighbours, g->n_neighbours * sizeof(*all));
        arena_release(g->arena, g->neighbours, g->neighbours_cap * sizeof(*all));
        g->neighbours = all;
        g->neighbours_cap = cap;
    }
    memcpy(all[g->n_neighbours].gid, gid, GID_BYTES);
    memcpy(all[g->n_neighbours].mac, mac, MAC_BYTES);
    g->n_neighbours++;
    return RDL_OK;
}

const uint8_t *guest_neighbour_mac(const struct guest *g, const uint8_t gid[GID_BYTES])
{
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        if (memcmp(g->config.gid[i], gid, GID_BYTES) == 0)
            return g->config.mac;
    }
    for (uint32_t i = 0; i < g->n_neighbours; i++) {
        if (memcmp(g->neighbours[i].gid, gid, GID_BYTES) == 0)
            return g->neighbours[i].mac;
    }
    return NULL;
}
