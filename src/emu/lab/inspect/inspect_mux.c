/* SPDX-License-Identifier: MIT */
/* Inspect tree: the multiplexer of connection managers at the port of a machine. */
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/rnic/cm_mux.h"
#include "emu/rnic/eswitch.h"
#include "emu/wire/addr.h"

static const struct cm_mux *mux_of(const struct inode *n)
{
    return n->host->port.sw->mux;
}

/* The IDs whose time is over.  The multiplexer removes and counts them with its next message. */
static uint64_t n_unknown(const struct inode *n)
{
    const struct cm_mux *m = mux_of(n);
    uint64_t unknown = 0;

    for (uint32_t i = 0; i < m->n_ids; i++)
        unknown += !cm_mux_knows(m, &m->ids[i], n->state->trace.now_ns);
    return unknown;
}

void visit_mux(const struct inode *n, struct visit *v)
{
    const struct cm_mux *m = mux_of(n);
    const struct mux_counts *c = &m->counts;

    inspect_word(v, LEAF_mux_profile, m->profile);
    inspect_child(v, CHILD_mux_gid, inspect_list_of(n, m->n_gids, inspect_nth));
    inspect_child(v, CHILD_mux_id, inspect_list_of(n, m->n_ids, inspect_nth));
    inspect_leaf(v, LEAF_mux_registered, c->registered);
    inspect_leaf(v, LEAF_mux_refused, c->refused);
    inspect_leaf(v, LEAF_mux_learnt, c->learnt);
    inspect_leaf(v, LEAF_mux_taken, c->taken);
    inspect_leaf(v, LEAF_mux_forgotten, c->forgotten + n_unknown(n));
    inspect_leaf(v, LEAF_mux_passed, c->passed);
    inspect_leaf(v, LEAF_mux_no_message, c->no_message);
    inspect_leaf(v, LEAF_mux_no_gid, c->no_gid);
    inspect_leaf(v, LEAF_mux_no_id, c->no_id);
}

void visit_mux_gid(const struct inode *n, struct visit *v)
{
    const struct mux_gid *g = &mux_of(n)->gids[n->index];
    char addr[ADDR_TEXT_MAX];

    inspect_text(v, LEAF_mux_gid_addr, addr_text(g->gid, addr));
    inspect_text(v, LEAF_mux_gid_guest, n->state->hosts[g->guest]->name);
}

void visit_mux_id(const struct inode *n, struct visit *v)
{
    const struct cm_mux *m = mux_of(n);
    const struct mux_id *id = &m->ids[n->index];
    const uint64_t now_ns = n->state->trace.now_ns;
    char addr[ADDR_TEXT_MAX];

    inspect_leaf(v, LEAF_mux_id_comm_id, id->comm_id);
    inspect_text(v, LEAF_mux_id_guest, n->state->hosts[id->guest]->name);
    inspect_text(v, LEAF_mux_id_addr, addr_text(id->gid, addr));
    if (m->profile == MUX_full)
        inspect_word(v, LEAF_mux_id_phase, id->phase);
    else
        inspect_leaf(v, LEAF_mux_id_sweeps, cm_mux_sweeps(m, id, now_ns));
    inspect_leaf(v, LEAF_mux_id_age, now_ns - id->last_ns);
    inspect_leaf(v, LEAF_mux_id_known, cm_mux_knows(m, id, now_ns));
}
