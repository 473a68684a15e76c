/* SPDX-License-Identifier: MIT */
/* Faults by coordinates: which frame they hit and what becomes of it. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/net/internal.h"
#include "emu/wire/packet.h"

enum rdl_status net_fault_add(struct net *n, const struct net_fault *fault, uint64_t *ret)
{
    struct net_fault *f;

    if (slots_are_full(&n->faults))
        return RDL_ERR_LIMIT;
    f = arena_alloc(n->arena, sizeof(*f));
    if (!f)
        return RDL_ERR_NOMEM;
    *f = *fault;
    f->number = n->faults_made + 1;
    f->seen = 0;
    f->hits = 0;
    f->group = NULL;
    f->handle = slots_add(&n->faults, f);
    if (!f->handle || !fault_index_add(n, f)) {
        if (f->handle)
            slots_remove(&n->faults, f->handle);
        arena_release(n->arena, f, sizeof(*f));
        return RDL_ERR_NOMEM;
    }
    n->faults_made++;
    *ret = f->handle;
    return RDL_OK;
}

void net_fault_remove(struct net *n, uint64_t name)
{
    struct net_fault *f = slots_get(&n->faults, name);

    if (f->group)
        fault_index_remove(n, f);
    slots_remove(&n->faults, name);
    arena_release(n->arena, f, sizeof(*f));
}

/* Is this pass of a matching frame one that the fault acts on?  Counts it. */
static bool takes(struct net *n, struct net_fault *fault)
{
    fault->seen++;
    if (fault->seen < fault->nth)
        return false;
    fault->hits++;
    if (fault->count != UINT32_MAX && --fault->count == 0)
        fault_index_remove(n, fault);
    return true;
}

/* Bit @bit of @f; RDL_ANY: the last one that the ICRC covers, so that the receiver finds it wrong
 * and nothing else, or of a frame without an ICRC the last one of all.
 */
static size_t bit_of(const struct frame *f, uint32_t bit)
{
    size_t end;

    if (bit != UINT32_MAX)
        return bit % (f->len * 8);
    end = packet_icrc_at(f->bytes, f->len);
    return (end ? end : f->len) * 8 - 1;
}

/* A copy of *@f with one bit flipped, recorded under the event that says so. */
static void corrupt(struct net *n, struct frame **f, uint32_t bit, ev_id id)
{
    struct frame *copy = frame_new(n->arena, (*f)->len);
    const size_t at = bit_of(*f, bit);

    if (!copy)
        return; /* out of memory: the frame passes unharmed */
    copy->len = (*f)->len;
    copy->note = (*f)->note;
    copy->tx = id;
    memcpy(copy->bytes, (*f)->bytes, copy->len);
    copy->bytes[at / 8] ^= (uint8_t)(0x80u >> at % 8);
    n->ops->keep(n->world, copy, true);
    frame_unref(n->arena, *f);
    *f = copy;
}

static void act(struct net *n, const struct net_fault *fault, struct frame **f,
                struct net_fate *fate)
{
    const struct frame_note note = (*f)->note;
    ev_id id;

    if (fault->kind == FLT_DROP) {
        fate->lost_by = fault->handle; /* says so itself, where the frame would have been */
        fate->number = fault->number;
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

/* The oldest of the @n faults at @first, which its successor in the group replaces; NULL: none is
 * left.
 */
static struct net_fault *next_fault(struct net_fault *first[], uint32_t n)
{
    struct net_fault **oldest = NULL, *ret;

    for (uint32_t i = 0; i < n; i++) {
        if (first[i] && (!oldest || first[i]->number < (*oldest)->number))
            oldest = &first[i];
    }
    if (!oldest)
        return NULL;
    ret = *oldest;
    *oldest = ret->next;
    return ret;
}

void net_fault_apply(struct net *n, struct frame **f, struct net_fate *ret)
{
    struct net_fault *first[NET_MATCH_SETS], *fault;
    const uint32_t n_groups = fault_index_find(n, &(*f)->note, first);

    *ret = net_untouched;
    while (ret->lost_by == 0 && (fault = next_fault(first, n_groups))) {
        if (takes(n, fault))
            act(n, fault, f, ret);
    }
}
