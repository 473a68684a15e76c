/* SPDX-License-Identifier: MIT */
/* Programs of a host that are other processes: their memory, their events, what is theirs. */
#include "emu/base/assert.h"
#include "emu/guest/verbs/internal.h"

struct guest_program *verbs_program_new(struct verbs *v, uint32_t lender, bool port_is_up)
{
    struct guest_program *p = arena_alloc(v->arena, sizeof(*p));

    if (!p)
        return NULL;
    *p = (struct guest_program){
        .verbs = v, .number = ++v->n_programs, .next = v->programs, .knows_port = port_is_up};
    space_init_lent(&p->space, v->config.space->ram, lender);
    v->programs = p;
    return p;
}

/* Each kind is destroyed before those that it depends on. */
struct guest_object *verbs_program_next(const struct guest_program *p)
{
    static const enum object_kind order[] = {
        OBJ_CM_ID, OBJ_EVENT_CHANNEL, OBJ_QP, OBJ_AH,      OBJ_MW,
        OBJ_MR,    OBJ_SRQ,           OBJ_CQ, OBJ_CHANNEL, OBJ_PD};

    for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++) {
        const struct slots *table = &p->verbs->objects[order[k]];

        for (uint32_t i = 0, left = table->used; left > 0; i++) {
            struct guest_object *o = slots_at(table, i);

            if (!o)
                continue;
            left--;
            if (o->owner != p)
                continue;
            o->n_unacked = 0;
            if (o->kind == OBJ_CQ)
                ((struct guest_cq *)o)->n_unacked_events = 0;
            return o;
        }
    }
    return NULL;
}

void verbs_program_free(struct guest_program *p)
{
    struct guest_program **at = &p->verbs->programs;

    RDL_ASSERT(p->verbs->current != p && !verbs_program_next(p));
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    arena_release(p->verbs->arena, p, sizeof(*p));
}
