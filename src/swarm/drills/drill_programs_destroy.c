/* SPDX-License-Identifier: MIT */
/* The drill of programs: objects are destroyed, alone or with all that use them. */
#include <string.h>

#include "rdmalab/inspect.h"
#include "swarm/drills/drill_programs.h"

static enum rdl_status destroy(struct drill *d, const struct program_thing *t)
{
    switch (t->kind) {
    case OBJ_PD:
        return rdl_dealloc_pd(d->lab, (rdl_pd){t->raw});
    case OBJ_MR:
        return rdl_dereg_mr(d->lab, (rdl_mr){t->raw});
    case OBJ_CQ:
        return rdl_destroy_cq(d->lab, (rdl_cq){t->raw});
    case OBJ_QP:
        return rdl_destroy_qp(d->lab, (rdl_qp){t->raw});
    case OBJ_AH:
        return rdl_destroy_ah(d->lab, (rdl_ah){t->raw});
    case OBJ_MW:
        return rdl_dealloc_mw(d->lab, (rdl_mw){t->raw});
    case OBJ_SRQ:
        return rdl_destroy_srq(d->lab, (rdl_srq){t->raw});
    default:
        return rdl_destroy_comp_channel(d->lab, (rdl_channel){t->raw});
    }
}

/* Draws the place of any object, rather a free one if there are few. */
static uint32_t draw_any(struct drill *d)
{
    uint32_t i = 0;

    for (uint32_t k = 0; k < 6; k++) {
        i = drill_below(d, PROGRAMS_THINGS);
        if (programs_of(d)->things[i].kind != OBJ_NONE)
            break;
    }
    return i;
}

void programs_destroy(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t i = draw_any(d);
    const struct program_thing t = s->things[i];
    char path[RDL_VALUE_BYTES];
    struct rdl_users users;
    enum rdl_status want, st;
    int error;

    if (t.kind == OBJ_NONE)
        return;
    want = programs_in_use(s, i) ? RDL_ERR_BUSY : RDL_OK;
    st = destroy(d, &t);
    if (st == RDL_OK && t.kind != OBJ_CHANNEL) /* a channel needs no request */
        st = programs_wait(d, st, &error);
    if (!drill_expect(d, st == want, "an object is destroyed exactly if nothing uses it",
                      "%s: %s, and not %s", t.name, rdl_status_name(st), rdl_status_name(want)) ||
        want != RDL_OK)
        return;
    programs_forget(d, i);
    st = rdl_users_of(d->lab, t.kind, t.raw, &users);
    rdl_path_of(d->lab, t.kind, t.raw, path);
    if (drill_expect(d, st == RDL_ERR_STALE && strcmp(path, "?") == 0,
                     "an object that was destroyed has no handle and no name", "%s: %s, %s", t.name,
                     rdl_status_name(st), path)) {
        st = destroy(d, &t);
        (void)drill_expect(d, st == RDL_ERR_STALE, "an object is destroyed once", "%s",
                           rdl_status_name(st));
    }
}

/* Destroys object @i after all that use it.  Returns false if one is still in use, or the drill
 * failed.
 */
static bool retire(struct drill *d, uint32_t i)
{
    struct programs *s = programs_of(d);
    const struct program_thing t = s->things[i];

    for (uint32_t k = 0; k < PROGRAMS_THINGS; k++) {
        if (programs_needs(&s->things[k], i) && !retire(d, k)) /* at most three levels */
            return false;
    }
    if (programs_in_use(s, i) ||
        !programs_ends(d, destroy(d, &t), RDL_OK, 0, "an object that nothing uses is destroyed"))
        return false;
    programs_forget(d, i);
    return true;
}

/* Destroys an object with all its users, also a CQ of which events wait in a channel. */
void programs_retire(struct drill *d)
{
    const uint32_t i = programs_pick(d, drill_one_in(d, 4) ? OBJ_PD : OBJ_CQ);

    if (i != PROGRAMS_NOTHING)
        (void)retire(d, i);
}
