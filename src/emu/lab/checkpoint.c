/* SPDX-License-Identifier: MIT */
/* Checkpoints: save a copy of a lab, and restore it.
 *
 * The whole state of a lab is in its arena, and a checkpoint contains a copy of it.  What happens
 * to the rest on restore:
 *
 *   hash, tally counts, state of the watch    are restored
 *   what changed since the last check         is regarded as everything
 *   record                                    shows the events up to the checkpoint; discarded
 *                                             events stay discarded
 *   names of hosts and objects                stay known until another takes the number
 *   listeners, port readers, record limits    stay as they are
 *   RAM of a virtual machine                  cannot be copied: saving returns RDL_ERR_VM
 */
#include <stdlib.h>

#include "emu/lab/lab_state.h"
#include "emu/trace/event.h"

static bool has_foreign_memory(const struct lab_state *w)
{
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        if (w->hosts[i]->is_external && w->hosts[i]->ram.bytes > 0)
            return true;
    }
    return false;
}

static bool has_programs(const struct lab_state *w)
{
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        if (w->hosts[i]->guest.verbs.programs)
            return true;
    }
    return false;
}

enum rdl_status rdl_checkpoint_save(const struct rdl_lab *lab, struct rdl_checkpoint **ret)
{
    struct rdl_checkpoint *c;

    if (has_foreign_memory(lab->state))
        return RDL_ERR_VM;
    if (has_programs(lab->state))
        return RDL_ERR_PROGRAM;
    c = calloc(1, sizeof(*c));
    if (!c)
        return RDL_ERR_NOMEM;
    c->arena = arena_save(lab->arena);
    c->tallies = tallies_save(&lab->tallies);
    c->n_tallies = lab->tallies.n;
    c->watch = watch_copy(lab->watch);
    if (!c->arena || (c->n_tallies && !c->tallies) || (lab->watch && !c->watch)) {
        rdl_checkpoint_free(c);
        return RDL_ERR_NOMEM;
    }
    c->tick = lab->state->trace.tick;
    c->hash = lab->hash;
    *ret = c;
    return RDL_OK;
}

static uint64_t events_so_far(const struct rdl_lab *lab)
{
    uint64_t n = 0;

    for (unsigned kind = 0; kind < EV_COUNT; kind++)
        n += lab->state->trace.totals[kind];
    return n;
}

void rdl_checkpoint_restore(struct rdl_lab *lab, const struct rdl_checkpoint *c)
{
    const uint64_t from = rdl_tick(lab);

    arena_restore(lab->arena, c->arena);
    lab->hash = c->hash;
    lab->broken[0] = '\0';
    if (lab->record)
        record_place(lab->record, from, c->tick, events_so_far(lab));
    tallies_restore(lab, c->tallies, c->n_tallies);
    if (lab->names)
        ev_names_place(lab->names, ev_id_of(c->tick + 1, 0) - 1);
    if (lab->watch) {
        watch_become(lab->watch, c->watch);
        lab->changed->all = true;
    }
}

size_t rdl_checkpoint_bytes(const struct rdl_checkpoint *c)
{
    return arena_checkpoint_bytes(c->arena);
}

void rdl_checkpoint_free(struct rdl_checkpoint *c)
{
    if (!c)
        return;
    arena_checkpoint_free(c->arena);
    free(c->tallies);
    watch_free(c->watch);
    free(c);
}
