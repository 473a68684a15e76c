/* SPDX-License-Identifier: MIT */
/* The drill of programs: steps that take much: very many names, refusals until memory would be
 * short, and data that come when their queue is gone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/facts/enum/qp_type.h"
#include "process/must.h"
#include "rdmalab/control.h"
#include "rdmalab/inspect.h"
#include "swarm/drills/drill_programs.h"

#define NAMES    1300u /* more than make the guest spread its lists of names */
#define REFUSALS 40u

static bool name_many(struct drill *d, rdl_channel *v)
{
    const struct programs *s = programs_of(d);
    char name[RDL_NAME_BYTES];

    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "many%u", i);
        if (!drill_works(d, rdl_create_comp_channel(d->lab, s->host, name, &v[i]),
                         "a channel can be made"))
            return false;
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        uint64_t raw = 0;

        snprintf(name, sizeof(name), "h1.many%u", i);
        if (!drill_works(d, rdl_find(d->lab, name, OBJ_CHANNEL, &raw), "a name is found") ||
            !drill_expect(d, raw == v[i].raw, "a name is that of one object", "%s", name))
            return false;
    }
    return true;
}

/* Makes very many objects with names, and destroys them in another order. */
void programs_many(struct drill *d)
{
    struct programs *s = programs_of(d);
    rdl_channel *v;

    if (s->had_many || !drill_one_in(d, 20))
        return;
    s->had_many = true;
    v = must_malloc(NAMES * sizeof(*v));
    if (name_many(d, v)) {
        for (uint32_t left = NAMES; left > 0; left--) {
            const uint32_t i = drill_below(d, left);

            if (!drill_works(d, rdl_destroy_comp_channel(d->lab, v[i]),
                             "a channel can be destroyed"))
                break;
            v[i] = v[left - 1];
        }
    }
    s->n_channels += NAMES;
    free(v);
}

/* Requests that are refused again and again, each of which takes back the memory it had. */
void programs_refuse(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t qp = programs_pick(d, OBJ_QP), pd = programs_pick(d, OBJ_PD),
                   cq = programs_pick(d, OBJ_CQ);
    const struct rdl_srq_attr a = {.max_wr = s->limits.max_qp_wr, .max_sge = 1};
    const struct program_thing *t = &s->things[qp == PROGRAMS_NOTHING ? 0 : qp];
    struct rdl_qp_config c = {.type = QPT_RC,
                              .max_send_wr = s->limits.max_qp_wr,
                              .max_recv_wr = s->limits.max_qp_wr,
                              .max_send_sge = 1,
                              .max_recv_sge = 1};
    const bool can_resize =
        s->resizes && qp != PROGRAMS_NOTHING && t->n_waiting > 0 && t->size != s->limits.max_qp_wr;
    const uint32_t pick = drill_below(d, 4);
    rdl_cq new_cq;
    rdl_qp new_qp;
    rdl_srq new_srq;

    if (pd == PROGRAMS_NOTHING || cq == PROGRAMS_NOTHING)
        return;
    c.pd.raw = s->things[pd].raw;
    c.send_cq.raw = c.recv_cq.raw = s->things[cq].raw;
    for (uint32_t i = 0; i < REFUSALS && !d->wrong; i++) {
        const char *what = "a request is refused as before";

        if (pick == 0 && programs_count(s, OBJ_CQ) == s->max[OBJ_CQ])
            (void)programs_ends(d, rdl_create_cq(d->lab, s->host, s->limits.max_cqe, NULL, &new_cq),
                                RDL_ERR_DEVICE, ENOMEM, what);
        else if (pick == 1 && programs_count(s, OBJ_QP) == s->max[OBJ_QP])
            (void)programs_ends(d, rdl_create_qp(d->lab, &c, NULL, &new_qp), RDL_ERR_DEVICE, ENOMEM,
                                what);
        else if (pick == 2 && s->has_srq && programs_count(s, OBJ_SRQ) == s->max[OBJ_SRQ])
            (void)programs_ends(d, rdl_create_srq(d->lab, c.pd, &a, NULL, &new_srq), RDL_ERR_DEVICE,
                                ENOMEM, what);
        else if (pick == 3 && can_resize)
            (void)programs_ends(
                d,
                rdl_resize_qp(d->lab, (rdl_qp){t->raw}, s->limits.max_qp_wr, s->limits.max_qp_wr),
                RDL_ERR_DEVICE, EBUSY, what);
    }
}
