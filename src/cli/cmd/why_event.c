/* SPDX-License-Identifier: MIT */
#include "cli/cmd/why_event.h"

#include "cli/show/show_made.h"
#include "cli/why/why.h"
#include "emu/base/text.h"
#include "emu/facts/enum/object.h"
#include "emu/trace/event.h"
#include "print/show_text.h"
#include "tree/advice.h"
#include "tree/tree.h"

/* The answer about one event. */
struct event_answer {
    struct session *s;
    FILE *out;
    const struct past *past;
};

/* Prints @advice if it applies to the object @kind with @number on @host. */
static void advise(const struct event_answer *a, enum object_kind kind, uint32_t host,
                   uint32_t number,
                   bool (*advice)(struct text *, const struct rdl_lab *, const char *))
{
    const enum node_kind node = kind == OBJ_CQ ? NODE_cq : NODE_qp;
    char path[TREE_PATH_BYTES], buf[2 * SHOW_LINE_BYTES];
    struct text name = text_on(path, sizeof(path)), t = text_on(buf, sizeof(buf));

    ev_names_object(a->past->names, &name, host, kind, number);
    if (tree_is(a->s->lab, path, node) && advice(&t, a->s->lab, path))
        show_wrap(a->out, 2, buf);
}

/* Prints what to do about a CQ that overflowed in the tick of @e, and about the queue pair of @e.
 */
static void advise_on_event(const struct event_answer *a, const struct ev *e)
{
    const struct past *p = a->past;
    const uint32_t host = past_host_of(e);
    const struct ev_field *qpn = ev_field_find(e->kind, "qpn");

    if (host == EV_HOST_NONE)
        return;
    for (size_t i = past_lower_bound(p, ev_id_of(ev_tick(e->id), 0));
         i < p->n && ev_tick(past_at(p, i)->id) == ev_tick(e->id); i++) {
        const struct ev *near = past_at(p, i);

        if (near->kind == EV_cq_overflow && near->u.cq_overflow.host == host)
            advise(a, OBJ_CQ, host, near->u.cq_overflow.cqn, advice_cq_size);
    }
    if (!qpn)
        return;
    advise(a, OBJ_QP, host, (uint32_t)ev_field_number(e, qpn), advice_unsignaled);
    advise(a, OBJ_QP, host, (uint32_t)ev_field_number(e, qpn), advice_rd_atomic);
}

/* Tells who made the object that was asked about, or else the queue pair of event @e. */
static void tell_maker(const struct event_answer *a, const struct ev *e, const char *target)
{
    const struct ev_field *qpn = ev_field_find(e->kind, "qpn");
    char path[TREE_PATH_BYTES];
    struct text name = text_on(path, sizeof(path));

    if (target && !ev_id_begins(target))
        text_add(&name, target);
    else if (qpn && past_host_of(e) != EV_HOST_NONE)
        ev_names_object(a->past->names, &name, past_host_of(e), OBJ_QP,
                        (uint32_t)ev_field_number(e, qpn));
    show_made(a->out, a->s->lab, a->s->config.live_ops, a->s->outside.live, path, true);
}

bool why_event_print(struct session *s, FILE *out, const struct past *p, ev_id id,
                     const char *target)
{
    const struct event_answer a = {s, out, p};
    const struct ev *e = past_find(p, id);

    if (!e || why(out, p, id) != RDL_OK)
        return false;
    advise_on_event(&a, e);
    tell_maker(&a, e, target);
    return true;
}
