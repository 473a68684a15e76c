/* SPDX-License-Identifier: MIT */
/* Faults by coordinates: which frame they hit and what becomes of it. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/net/internal.h"

static bool agrees(uint32_t want, uint32_t have)
{
    return want == UINT32_MAX || want == have;
}

static bool matches(const struct net_fault *fault, const struct frame_note *note)
{
    return (fault->host == EV_HOST_NONE || fault->host == note->host) &&
           agrees(fault->opcode, note->opcode) && agrees(fault->syndrome, note->syndrome) &&
           agrees(fault->psn, note->psn) && agrees(fault->dest_qpn, note->dest_qpn);
}

/* Is this pass of a matching frame one that the fault acts on?  Counts it. */
static bool takes(struct net_fault *fault)
{
    fault->seen++;
    if (fault->seen < fault->nth || fault->count == 0)
        return false;
    if (fault->count != UINT32_MAX)
        fault->count--;
    fault->hits++;
    return true;
}

/* A copy of *@f with one bit flipped, recorded under the event that says so. */
static void corrupt(struct net *n, struct frame **f, uint32_t bit, ev_id id)
{
    struct frame *copy = frame_new(n->arena, (*f)->len);

    if (!copy)
        return; /* out of memory: the frame passes unharmed */
    copy->len = (*f)->len;
    copy->note = (*f)->note;
    copy->tx = id;
    memcpy(copy->bytes, (*f)->bytes, copy->len);
    bit %= copy->len * 8;
    copy->bytes[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
    n->ops->keep(n->world, copy, true);
    frame_unref(n->arena, *f);
    *f = copy;
}

static void act(struct net *n, const struct net_fault *fault, struct frame **f,
                struct net_fate *fate)
{
    const struct frame_note note = (*f)->note;
    ev_id id;

    fate->fault = fault->number;
    fate->name = fault->name;
    if (fault->kind == FLT_DROP) {
        fate->lost_by = FLT_DROP; /* says so itself, where the frame would have been */
        return;
    }
    TRACE_ID(n->trace, id, fault, .host = note.host, .qpn = note.qpn, .opcode = note.opcode,
             .psn = note.psn, .by = (uint32_t)fault->kind, .fault = fault->number,
             .name = fault->name, .delay = fault->delay_ns, .tx = (*f)->tx);
    if (fault->kind == FLT_DUPLICATE) {
        fate->duplicate = true;
        fate->duplicate_delay_ns = fault->delay_ns;
    } else if (fault->kind == FLT_DELAY) {
        fate->delay_ns += fault->delay_ns;
    } else {
        RDL_ASSERT(fault->kind == FLT_CORRUPT);
        corrupt(n, f, fault->corrupt_bit, id);
    }
}

struct net_fate net_fault_apply(struct net *n, struct frame **f)
{
    struct net_fate fate = {.lost_by = FLT_NONE};

    for (uint32_t i = 0, left = n->faults.used; left > 0 && fate.lost_by == FLT_NONE; i++) {
        struct net_fault *fault = slots_at(&n->faults, i);

        if (!fault)
            continue;
        left--;
        if (matches(fault, &(*f)->note) && takes(fault))
            act(n, fault, f, &fate);
    }
    return fate;
}
