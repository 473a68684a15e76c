/* SPDX-License-Identifier: MIT */
/* The lifelines of a ladder: the hosts with events in the picture, and the hosts at the other ends
 * of its arrows.
 */
#include <string.h>

#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/wc_status.h"
#include "viz/ladder_builder.h"

#define CM_QPN 1u /* of the connection manager, and of nobody else where there is one */

/* Returns false for ladder events that are not drawn: they end no RoCEv2 frame, or they are key
 * checks that passed.
 */
static bool is_drawn(const struct ev *e)
{
    ev_id tx;

    if (e->kind == EV_port_out || e->kind == EV_drop || e->kind == EV_eth_rx)
        return fate_is_end(e, &tx);
    return e->kind != EV_key || e->u.key.rule != 0;
}

uint32_t builder_host(const struct ev *e)
{
    if (!ev_is_for(e->kind, EV_FOR_LADDER) || !is_drawn(e))
        return EV_HOST_NONE;
    return (uint32_t)ev_field_number(e, ev_field_find(e->kind, "host"));
}

/* The QPN that an event is about; 0 if it is unknown or uncertain. */
static uint32_t qpn_of(const struct ev *e)
{
    const struct ev_field *f = ev_field_find(e->kind, "qpn");

    return f && e->kind != EV_drop ? (uint32_t)ev_field_number(e, f) : 0;
}

bool builder_in_range(const struct ladder *l, ev_id id)
{
    return id >= l->options.from && (l->options.to == 0 || id <= l->options.to);
}

uint32_t builder_column(const struct ladder *l, uint32_t host)
{
    for (uint32_t i = 0; i < l->n_columns; i++) {
        if (l->columns[i].host == host)
            return i;
    }
    return LADDER_NONE;
}

/* Finds or inserts the column of @host.  Columns are sorted by host number; the outside
 * (EV_HOST_NONE) comes last.  Returns NULL if there is no room.
 */
static struct ladder_column *column_for(struct ladder *l, uint32_t host)
{
    uint32_t at = 0;

    while (at < l->n_columns && l->columns[at].host < host)
        at++;
    if (at < l->n_columns && l->columns[at].host == host)
        return &l->columns[at];
    if (l->n_columns == LADDER_COLUMNS_MAX) {
        l->left.hosts = true;
        return NULL;
    }
    memmove(&l->columns[at + 1], &l->columns[at], (l->n_columns - at) * sizeof(l->columns[0]));
    l->columns[at] = (struct ladder_column){.host = host};
    l->n_columns++;
    return &l->columns[at];
}

static void need_host(struct ladder *l, uint32_t host)
{
    if (host != EV_HOST_NONE)
        (void)column_for(l, host);
}

/* Adds columns for the hosts at the other end of the arrow that @e belongs to. */
static void need_other_ends(struct builder *b, const struct ev *e)
{
    const struct ev *sent;
    ev_id tx = 0;

    if (e->kind == EV_tx)
        need_host(b->l, e->u.tx.peer);
    if (!fate_is_end(e, &tx))
        return;
    if ((e->kind == EV_rx || e->kind == EV_eth_rx) && tx == 0)
        (void)column_for(b->l, EV_HOST_NONE);
    tx = window_sent(b, tx);
    if (tx == 0 || tx >= b->l->options.from)
        return;
    sent = past_find(b->past, tx);
    if (sent && sent->kind == EV_tx) {
        need_host(b->l, sent->u.tx.host);
        need_host(b->l, sent->u.tx.peer);
    } else if (e->kind == EV_lost) {
        need_host(b->l, e->u.lost.host);
    }
}

/* Finds out which kernels have a connection manager. */
static void find_kernels(struct builder *b)
{
    const struct past *past = b->past;

    for (size_t i = 0; i < past->n; i++) {
        const struct ev *e = past_at(past, i);
        const uint32_t c = e->kind == EV_cm_sent       ? builder_column(b->l, e->u.cm_sent.host)
                           : e->kind == EV_cm_received ? builder_column(b->l, e->u.cm_received.host)
                                                       : LADDER_NONE;

        if (c != LADDER_NONE)
            b->l->columns[c].has_cm = true;
    }
}

static void name_columns(struct builder *b)
{
    struct ladder *l = b->l;
    struct ev e;

    for (uint32_t c = 0; c < l->n_columns; c++) {
        struct ladder_column *col = &l->columns[c];
        struct text t = text_on(col->name, sizeof(col->name));

        if (col->host == EV_HOST_NONE)
            text_add(&t, "outside");
        else
            ev_names_host(b->names, &t, col->host);
    }
    for (size_t at = 0; ev_names_next(b->names, &at, &e);) {
        const uint32_t c = e.kind == EV_host_up ? builder_column(l, e.u.host_up.host) : LADDER_NONE;

        if (c != LADDER_NONE)
            memcpy(l->columns[c].addr, e.u.host_up.addr.s, sizeof(l->columns[c].addr));
    }
}

bool builder_is_of_kernel(const struct builder *b, const struct ev *e)
{
    const uint32_t host = builder_host(e);
    const uint32_t c = host == EV_HOST_NONE ? LADDER_NONE : builder_column(b->l, host);

    if (c == LADDER_NONE || !b->l->columns[c].has_cm || qpn_of(e) != CM_QPN)
        return false;
    return e->kind == EV_post_send || e->kind == EV_post_recv ||
           (e->kind == EV_cqe && e->u.cqe.status == WCS_SUCCESS) ||
           (e->kind == EV_qp_state && e->u.qp_state.to != QPS_ERR);
}

/* Notes which queue pairs the hosts of the picture have: a host with several names them. */
static void find_qps(struct builder *b)
{
    const struct past *past = b->past;

    for (size_t i = past_lower_bound(past, b->l->options.from); i < past->n; i++) {
        const struct ev *e = past_at(past, i);
        const uint32_t host = builder_host(e), qpn = qpn_of(e);
        const uint32_t at = host == EV_HOST_NONE ? LADDER_NONE : builder_column(b->l, host);
        struct ladder_column *c = at == LADDER_NONE ? NULL : &b->l->columns[at];

        if (!builder_in_range(b->l, e->id))
            break;
        if (!c || (c->has_cm && qpn == CM_QPN))
            continue;
        if (c->qpn == 0)
            c->qpn = qpn;
        else if (qpn && qpn != c->qpn)
            c->many_qps = true;
    }
}

void builder_find_columns(struct builder *b)
{
    const struct past *past = b->past;

    for (size_t i = 0; i < past->n_calls; i++) {
        const struct past_call c = past->call(past->ctx, i);

        if (builder_in_range(b->l, c.id))
            need_host(b->l, c.host);
    }
    for (size_t i = past_lower_bound(past, b->l->options.from); i < past->n; i++) {
        const struct ev *e = past_at(past, i);
        const uint32_t host = builder_host(e);

        if (!builder_in_range(b->l, e->id))
            break;
        need_host(b->l, host);
        need_other_ends(b, e);
    }
    find_kernels(b);
    find_qps(b);
    name_columns(b);
}
