/* SPDX-License-Identifier: MIT */
/* The drill of programs: steps that take much: very many names, refusals until memory would be
 * short, and data that come when their queue is gone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "process/must.h"
#include "rdmalab/control.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "swarm/drills/drill_programs.h"
#include "swarm/drills/qp_move_case.h"

#define NAMES    1300u /* more than make the guest spread its lists of names */
#define REFUSALS 80u
#define LATE_NS  2000000u
#define NOBODY   0xfffffeu /* a QPN that no queue pair has */

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
    for (uint32_t i = 0; i < REFUSALS && !d->wrong && programs_hear(d); i++) {
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

/* The objects of a step that the model does not have. */
struct late {
    rdl_cq cq;
    rdl_qp qp;
    rdl_ah ah;
    rdl_fault fault;
};

static bool make_late(struct drill *d, struct late *l)
{
    struct programs *s = programs_of(d);
    struct rdl_qp_config c = {.pd = s->pd, .type = QPT_UD, .max_send_wr = 1, .max_send_sge = 1};
    struct rdl_ah_attr ah = {.port = 1};
    struct rdl_qp_attr a = {.port = 1, .qkey = 1};
    const char *what = "a queue pair with its own CQ can be made";
    struct rdl_modify_error err;

    memcpy(ah.dgid, s->gid[0], sizeof(ah.dgid));
    c.max_recv_wr = c.max_recv_sge = 1;
    if (!programs_ends(d, rdl_create_cq(d->lab, s->host, 2, NULL, &l->cq), RDL_OK, 0, what))
        return false;
    c.send_cq = c.recv_cq = l->cq;
    if (!programs_ends(d, rdl_create_qp(d->lab, &c, NULL, &l->qp), RDL_OK, 0, what) ||
        !programs_ends(d, rdl_create_ah(d->lab, s->pd, &ah, NULL, &l->ah), RDL_OK, 0, what))
        return false;
    for (uint32_t from = QPS_RESET; from < QPS_RTS; from++) {
        a.state = from + 1;
        if (!programs_ends(d,
                           rdl_modify_qp(d->lab, l->qp, &a,
                                         QPA_STATE | qp_move_case(QPT_UD, from, from + 1)->need,
                                         false, &err),
                           RDL_OK, 0, what))
            return false;
    }
    return true;
}

/* Sends a datagram whose completion is late, and destroys all objects before it comes. */
static bool leave_early(struct drill *d, struct late *l, uint32_t cqn)
{
    struct programs *s = programs_of(d);
    const struct rdl_device_fault_config c = {.kind = FLT_LATE_DATA,
                                              .host = s->host,
                                              .queue = cqn,
                                              .nth = 1,
                                              .count = 1,
                                              .time_ns = LATE_NS};
    const struct rdl_send_wr wr = {
        .opcode = WR_SEND,
        .flags = SF_SIGNALED,
        .ud = {.ah = l->ah, .remote_qpn = NOBODY, .remote_qkey = 1},
    };
    const char *what = "objects can be destroyed";
    struct rdl_cq_info info;

    return drill_works(d, rdl_device_fault_add(d->lab, &c, &l->fault), "a fault can be ordered") &&
           drill_works(d, rdl_post_send(d->lab, l->qp, &wr, false), "a datagram can be sent") &&
           drill_run_for(d, 20000) &&
           drill_works(d, rdl_cq_info(d->lab, l->cq, &info), "a CQ can be looked at") &&
           drill_expect(d, info.completions == 1, "a completion comes before its data", "none") &&
           programs_ends(d, rdl_destroy_ah(d->lab, l->ah), RDL_OK, 0, what) &&
           programs_ends(d, rdl_destroy_qp(d->lab, l->qp), RDL_OK, 0, what) &&
           programs_ends(d, rdl_destroy_cq(d->lab, l->cq), RDL_OK, 0, what);
}

/* Data that come when their queue is gone are written nowhere. */
void programs_late(struct drill *d)
{
    struct programs *s = programs_of(d);
    const bool has_room = programs_count(s, OBJ_CQ) < s->max[OBJ_CQ] &&
                          programs_count(s, OBJ_QP) < s->max[OBJ_QP] &&
                          programs_count(s, OBJ_AH) < s->max[OBJ_AH];
    uint32_t cqn = 1, qpn;
    uint8_t *before, *after;
    struct late l;

    if (!has_room || !s->on_demand || !s->is_tight || !drill_one_in(d, 2))
        return;
    for (uint32_t i = 0; i < PROGRAMS_THINGS; i++) {
        if (s->things[i].kind == OBJ_CQ && s->things[i].number == cqn) {
            cqn++;
            i = UINT32_MAX; /* from the start again */
        }
    }
    qpn = s->free_qpns[0];
    memmove(s->free_qpns, s->free_qpns + 1, (s->n_free_qpns - 1) * sizeof(s->free_qpns[0]));
    s->free_qpns[s->n_free_qpns - 1] = qpn;
    if (!make_late(d, &l) || !leave_early(d, &l, cqn))
        return;
    before = must_malloc(2 * s->ram_bytes);
    after = before + s->ram_bytes;
    if (drill_works(d, rdl_ram_read(d->lab, s->host, 0, before, s->ram_bytes), "RAM can be read") &&
        drill_run_for(d, 2 * LATE_NS) &&
        drill_works(d, rdl_ram_read(d->lab, s->host, 0, after, s->ram_bytes), "RAM can be read") &&
        drill_expect(d, memcmp(before, after, s->ram_bytes) == 0,
                     "data that come when their queue is gone are written nowhere", "%s",
                     "they are"))
        (void)drill_works(d, rdl_fault_remove(d->lab, l.fault), "a fault can be removed");
    free(before);
}
