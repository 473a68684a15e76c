/* SPDX-License-Identifier: MIT */
/* The virtual layer of machines, as the construction of hosts and the inspect tree see it. */
#ifndef EMU_LAB_LAYER_H
#define EMU_LAB_LAYER_H

#include "emu/lab/lab_state.h"
#include "rdmalab/layer.h"

#define VRNIC_UNMAPPED UINT32_MAX

/* The virtual RNIC of a guest. */
struct vrnic {
    struct lab_state *world;
    struct host *host, *machine;
    uint32_t vf;    /* the virtual function that it has; VRNIC_UNMAPPED: none */
    uint32_t group; /* of the control centre */
    bool has_moved; /* its MAC was last seen at another machine */
    uint8_t wire[GUEST_GIDS][GID_BYTES]; /* its addresses on the wire while it has a function */
    uint64_t n_maps, n_moves, n_lookups, n_forbidden;
};

/* Gives @h a virtual RNIC, as @c says.  Returns false if the arena is full. */
bool layer_join(struct lab_state *w, struct host *h, const struct rdl_host_config *c);

extern const struct verbs_layer layer_ops;

#endif
