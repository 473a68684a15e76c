/* SPDX-License-Identifier: MIT */
#include "swarm/worlds/world_try.h"

#include <stdlib.h>
#include <string.h>

#include "emu/trace/kind.h"
#include "process/must.h"
#include "rdmalab/trace.h"
#include "swarm/worlds/model.h"
#include "swarm/worlds/wire_tap.h"

/* Executes all deeds from @r->n_deed on.  If the world goes back and @ret_middle is not NULL, saves
 * the state in the middle to @ret_middle and @ret_checkpoint.
 */
static void play(struct world_run *r, struct world_run *ret_middle,
                 struct rdl_checkpoint **ret_checkpoint)
{
    const struct world *w = r->w;

    while (r->n_deed < w->n_deeds && !r->wrong) {
        if (ret_middle && w->goes_back && r->n_deed == w->n_deeds / 2) {
            world_works(r, rdl_checkpoint_save(r->lab, ret_checkpoint),
                        "a checkpoint can be saved");
            *ret_middle = *r;
        }
        world_carry_out(r, &w->deed[r->n_deed++]);
    }
    if (!r->wrong)
        world_finish(r);
}

/* In bytes, at least 1. */
static size_t longest_message(const struct world *w)
{
    size_t bytes = 1;

    for (uint32_t i = 0; i < w->n_items; i++)
        bytes = w->item[i].bytes > bytes ? w->item[i].bytes : bytes;
    return bytes;
}

bool world_try(const struct world *w, struct world_run *r, struct world_try *how)
{
    struct rdl_checkpoint *checkpoint = NULL;
    struct rdl_listener *listener = NULL;
    struct world_run *middle = w->goes_back && !how->script ? must_malloc(sizeof(*middle)) : NULL;

    memset(r, 0, sizeof(*r));
    r->w = w;
    r->script = how->script;
    r->tap = must_malloc(sizeof(*r->tap));
    r->have = must_malloc(longest_message(w));
    r->want = must_malloc(longest_message(w));
    r->wrong_item = r->wrong_end = WORLD_NONE;
    world_build(r);
    if (how->print && !r->wrong)
        world_works(r, rdl_listen(r->lab, how->print, r->lab, &listener),
                    "the lab can be listened to");
    if (!r->wrong)
        play(r, middle, &checkpoint);
    rdl_unlisten(r->lab, listener);
    how->ret_invariant = r->lab && rdl_broken_invariant(r->lab);
    how->ret_hash = r->lab ? rdl_hash(r->lab) : 0;
    how->ret_ticks = r->lab ? rdl_tick(r->lab) : 0;
    how->ret_retries = r->lab ? rdl_total(r->lab, EV_retry) : 0;
    if (!r->wrong && middle && checkpoint) {
        rdl_unlisten(r->lab, r->tap->listener);
        middle->tap = NULL; /* the tap has seen the whole run already */
        rdl_checkpoint_restore(r->lab, checkpoint);
        play(middle, NULL, NULL);
        world_expect(middle, rdl_hash(middle->lab) == how->ret_hash, WORLD_NONE,
                     "going back and on again ends with the same hash");
        middle->tap = r->tap;
        *r = *middle;
    }
    rdl_checkpoint_free(checkpoint);
    free(middle);
    rdl_lab_free(r->lab);
    free(r->tap);
    free(r->have);
    free(r->want);
    r->lab = NULL;
    r->tap = NULL;
    r->have = r->want = NULL;
    return !r->wrong;
}

void world_print_failure(const struct world_run *r, FILE *out)
{
    const struct world *w = r->w;

    fprintf(out, "seed %llu: %s%s%s\n", (unsigned long long)w->seed, r->wrong,
            r->status == RDL_OK ? "" : ", but: ",
            r->status == RDL_OK ? "" : rdl_status_name(r->status));
    if (r->wrong_item != WORLD_NONE) {
        const struct world_item *t = &w->item[r->wrong_item];

        fprintf(out, "  wr_id %u, %s of %u bytes, posted at h%u.q%u: %s\n", r->wrong_item,
                t->is_recv ? "receive" : enum_name(&enum_wr_opcode, r->item[r->wrong_item].opcode),
                t->bytes, w->end[t->end].host + 1u, t->end,
                enum_name(&enum_wc_status, r->item[r->wrong_item].status));
    } else if (r->wrong_end != WORLD_NONE) {
        fprintf(out, "  queue pair h%u.q%u, psn %u\n", w->end[r->wrong_end].host + 1u, r->wrong_end,
                r->wrong_psn);
    } else if (r->wrong_byte != 0) {
        fprintf(out, "  byte %u of the memory of h%u\n", r->wrong_byte, r->wrong_host + 1u);
    }
}
