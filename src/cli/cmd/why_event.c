/* SPDX-License-Identifier: MIT */
#include "cli/cmd/why_event.h"

#include "cli/session/places.h"
#include "cli/show/show_made.h"
#include "cli/why/fate_text.h"
#include "cli/why/why.h"
#include "cli/why/work_text.h"
#include "emu/base/text.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/rules.h"
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

/* Returns the refused check of a key behind event @e, and in *@ret_local if it was an lkey; NULL:
 * there is none.
 */
static const struct ev *refused_key(const struct past_index *x, const struct ev *e, bool *ret_local)
{
    const struct ev *rx = work_refusal_behind(x, e);

    /* A receive has an lkey of its own host, and the peer is told of it as an operational error. */
    *ret_local = !rx || rx->u.rx.act == ACT_NAK_OPERATIONAL;
    if (rx)
        return past_refused_key(x, rx->u.rx.host, rx->u.rx.qpn, rx->id, true);
    if (e->kind != EV_cqe || e->u.cqe.status != WCS_LOC_PROT_ERR)
        return NULL;
    return past_refused_key(x, e->u.cqe.host, e->u.cqe.qpn, e->id, false);
}

/* Names the right key in place of one that was refused, or the region that allows too little. */
static void advise_on_key(const struct event_answer *a, const struct ev *e)
{
    struct past_index *x = fate_index(a->past);
    struct advice_key k = {.key = 0};
    const struct ev *key = refused_key(x, e, &k.is_local);
    char host[RDL_NAME_BYTES], buf[2 * SHOW_LINE_BYTES];
    struct text name = text_on(host, sizeof(host)), t = text_on(buf, sizeof(buf));
    bool applies = false;

    if (key) {
        k.key = key->u.key.key;
        k.addr = key->u.key.addr;
        k.bytes = key->u.key.bytes;
        ev_names_host(a->past->names, &name, key->u.key.host);
        applies = rdl_find_host(a->s->lab, host, &k.host) == RDL_OK &&
                  ((key->u.key.rule == RULE_MR_ACCESS && advice_region_access(&t, a->s->lab, &k)) ||
                   (key->u.key.rule == RULE_MR_KEY && advice_right_key(&t, a->s->lab, &k)));
    }
    if (applies)
        show_wrap(a->out, 2, buf);
    past_index_free(x);
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

static const char *find_place(const void *ctx, uint64_t tick)
{
    return places_find(ctx, tick);
}

bool why_event_print(struct session *s, FILE *out, const struct past *p, ev_id id,
                     const char *target)
{
    const struct event_answer a = {s, out, p};
    const struct why_places places = {find_place, s};
    const struct ev *e = past_find(p, id);

    if (!e || why_placed(out, p, id, &places) != RDL_OK)
        return false;
    advise_on_event(&a, e);
    advise_on_key(&a, e);
    tell_maker(&a, e, target);
    return true;
}

ev_id why_last_with_status(const struct past *past, uint32_t status)
{
    for (size_t i = past->n; i > 0; i--) {
        const struct ev *e = past_at(past, i - 1);

        if (e->kind == EV_cqe && e->u.cqe.status == status)
            return e->id;
    }
    return 0;
}
