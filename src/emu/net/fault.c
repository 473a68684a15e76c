/* SPDX-License-Identifier: MIT */
/* Faults of frames: which frames they hit, and their effects. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/turn.h"
#include "emu/facts/enum/fault.h"
#include "emu/net/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"

static const struct net_match match_any = {
    {NET_MATCH_ANY, NET_MATCH_ANY, NET_MATCH_ANY, NET_MATCH_ANY, NET_MATCH_ANY}};

/* Counts the faults of links that need the event with which a frame was sent.  @more is 1, or -1 as
 * an unsigned number.
 */
static void count_asking(struct net *n, const struct net_fault *f, uint32_t more)
{
    if (fault_asks(&f->aim))
        n->n_asking += more;
}

/* Activates the fault: for frames that leave a sender (in the index), or for frames on its link.
 * Returns false when the arena is full.
 */
static bool put_to_work(struct net *n, struct net_fault *f)
{
    struct net_fault **end = &n->link_faults;
    struct net_link *l;

    if (f->device)
        return true;
    if (!f->aim.link)
        return fault_index_add(n, f);
    while (*end)
        end = &(*end)->next;
    *end = f;
    f->next = NULL;
    f->on_link = true;
    count_asking(n, f, 1);
    l = &n->links[f->aim.link - 1];
    l->n_faults++;
    net_link_judge(l);
    return true;
}

/* Deactivates the fault. */
static void take_off_work(struct net *n, struct net_fault *f)
{
    struct net_fault **at = &n->link_faults;
    struct net_link *l;

    if (f->group)
        fault_index_remove(n, f);
    if (!f->on_link)
        return;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    f->on_link = false;
    count_asking(n, f, (uint32_t)-1);
    l = &n->links[f->aim.link - 1];
    l->n_faults--;
    net_link_judge(l);
}

enum rdl_status net_fault_add(struct net *n, const struct net_fault *fault, uint64_t *ret)
{
    struct net_fault *f;

    if (slots_are_full(&n->faults))
        return RDL_ERR_LIMIT;
    f = arena_alloc(n->arena, sizeof(*f));
    if (!f)
        return RDL_ERR_NOMEM;
    *f = *fault;
    f->key = fault->aim.message ? match_any : fault->match;
    f->on_link = false;
    f->number = n->faults_made + 1;
    f->seen = 0;
    f->hits = 0;
    f->group = NULL;
    f->handle = slots_add(&n->faults, f);
    if (!f->handle || !put_to_work(n, f)) {
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

    take_off_work(n, f);
    slots_remove(&n->faults, name);
    arena_release(n->arena, f, sizeof(*f));
}

/* Checks the remaining criteria of a matching fault, counts the frame, and returns true if the
 * fault hits it.
 */
static bool takes(struct net *n, struct net_fault *fault, const struct frame *f)
{
    if (!fault_aims_at(n, fault, f) || !fault_can_change(fault, f))
        return false;
    fault->seen++;
    if (!turn_has_come(fault->seen, fault->nth, fault->every))
        return false;
    fault->hits++;
    if (fault->count != UINT32_MAX && --fault->count == 0)
        take_off_work(n, fault);
    return true;
}

static void act(struct net *n, const struct net_fault *fault, struct frame **f,
                struct net_fate *fate)
{
    const struct frame_note note = (*f)->note;
    ev_id id;

    if (fault->kind == FLT_DROP) {
        fate->lost_by = fault->handle; /* the event is emitted when the frame is lost */
        fate->number = fault->number;
        return;
    }
    TRACE_ID(n->trace, id, fault, .host = note.host, .qpn = note.qpn, .opcode = note.opcode,
             .psn = note.psn, .by = (uint32_t)fault->kind, .fault = fault->number,
             .name = fault->name, .delay = fault->delay_ns, .tx = (*f)->tx, .cm = note.cm);
    if (fault->kind == FLT_DUPLICATE) {
        fate->duplicate = true;
        fate->duplicate_delay_ns = fault->delay_ns;
    } else if (fault->kind == FLT_DELAY) {
        fate->delay_ns += fault->delay_ns;
    } else if (fault->kind == FLT_REORDER) {
        fate->hold_frames = fault->hold_frames;
        fate->hold_ns = fault->delay_ns;
    } else {
        fault_change(n, fault, f, id);
    }
}

/* Takes the oldest of the @n faults at @first; its place gets the next fault of the group.  Returns
 * NULL if none is left.
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
    while ((fault = next_fault(first, n_groups))) {
        if (ret->lost_by)
            fault_misses(n, fault, *f);
        else if (takes(n, fault, *f))
            act(n, fault, f, ret);
    }
}

void net_fault_tell_links(struct net *n, struct frame *f)
{
    const struct ev *tx = n->ops->sent ? n->ops->sent(n->world, f) : NULL;

    frame_remember_sent(n->arena, f, tx);
    for (struct net_fault *fault = n->link_faults; fault; fault = fault->next)
        fault_follow(&fault->aim, f, tx);
}

void net_fault_apply_on_link(struct net *n, uint32_t link, struct frame **f, struct net_fate *ret)
{
    struct net_fault *fault, *next;

    for (fault = n->link_faults; fault && ret->lost_by == 0; fault = next) {
        next = fault->next; /* the hit may deactivate and unlink it */
        if (fault->aim.link == link + 1 && match_holds(&fault->match, &(*f)->note) &&
            takes(n, fault, *f))
            act(n, fault, f, ret);
    }
}
