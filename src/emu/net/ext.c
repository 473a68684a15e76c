/* SPDX-License-Identifier: MIT */
/* External ports: where frames enter and leave the lab. */
#include "emu/net/internal.h"

uint32_t net_ext_add(struct net *n, const char *name)
{
    if (n->n_exts == NET_EXTS_MAX)
        return UINT32_MAX;
    n->exts[n->n_exts] = (struct net_ext){.name = ev_str(name), .link_end = NET_NO_LINK};
    return n->n_exts++;
}

void net_ext_in(struct net *n, uint32_t ext, struct frame *f)
{
    struct net_ext *x = &n->exts[ext];
    const ev_id cause = n->trace->cause;
    struct net_fate room;
    const struct net_fate *fate;
    enum drop_reason reason = DROP_NONE;

    x->in_frames++;
    x->in_bytes += f->len;
    fate = net_depart(n, &f, &room);
    if (!net_is_up(n, x->link_end))
        reason = DROP_NO_ROUTE;
    else if (!net_has_room(n, x->link_end))
        reason = DROP_NO_BUFFER;
    if (reason == DROP_NONE) {
        net_transmit(n, x->link_end, f, fate);
    } else {
        x->drops[reason]++;
        net_drop(n, f, EV_PORT_FIRST + ext, reason);
    }
    trace_because(n->trace, cause);
}

void net_ext_out(struct net *n, uint32_t index, struct frame *f)
{
    struct net_ext *x = &n->exts[index];

    x->out_frames++;
    x->out_bytes += f->len;
    n->counts.in_flight--;
    n->counts.delivered++;
    n->ops->leave(n->world, index, f);
    frame_unref(n->arena, f);
}
