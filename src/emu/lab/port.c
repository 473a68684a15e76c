/* SPDX-License-Identifier: MIT */
/* External ports: convert frames from outside to frames of the lab, and the reverse. */
#include "rdmalab/port.h"

#include <string.h>

#include "emu/facts/enum/frame_kind.h"
#include "emu/lab/lab_state.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"

static const struct net_ext *ext_of(const struct rdl_lab *lab, rdl_port port)
{
    const struct net *n = &lab->state->net;

    return port.raw >= 1 && port.raw <= n->n_exts ? &n->exts[port.raw - 1] : NULL;
}

enum rdl_status rdl_port_add(struct rdl_lab *lab, const struct rdl_port_config *config,
                             rdl_port *ret)
{
    struct lab_state *w = lab->state;
    const enum rdl_status st = lab_check_name(w, config->name);
    const uint32_t index = w->net.n_exts;

    if (st != RDL_OK)
        return st;
    if (index == NET_EXTS_MAX)
        return RDL_ERR_LIMIT;
    if (!parts_add(&w->parts, config->name, PART_PORT, index))
        return RDL_ERR_NOMEM;
    net_ext_add(&w->net, config->name);
    /* a port of the time before a restore may have had a reader */
    lab->readers[index] = (struct port_reader){0};
    tallies_meet(&lab->tallies, config->name, EV_PORT_FIRST + index);
    lab_act(w);
    TRACE(&w->trace, port_up, .host = EV_PORT_FIRST + index, .name = ev_str(config->name));
    lab_done(w);
    *ret = (rdl_port){index + 1};
    return RDL_OK;
}

enum rdl_status rdl_port_find(const struct rdl_lab *lab, const char *name, rdl_port *ret)
{
    const struct part *p = lab_part(lab->state, name, PART_PORT);

    if (!p)
        return RDL_ERR_NOT_FOUND;
    *ret = (rdl_port){p->index + 1};
    return RDL_OK;
}

enum rdl_status rdl_port_read(struct rdl_lab *lab, rdl_port port, rdl_port_frame *frame, void *ctx)
{
    struct port_reader *r;

    if (!ext_of(lab, port))
        return RDL_ERR_STALE;
    r = &lab->readers[port.raw - 1];
    r->frame = frame;
    r->ctx = ctx;
    return RDL_OK;
}

void port_leave(void *ctx, uint32_t ext, const struct frame *f)
{
    struct lab_state *w = ctx;
    struct port_reader *r = &w->lab->readers[ext];

    TRACE(&w->trace, port_out, .host = EV_PORT_FIRST + ext, .opcode = f->note.opcode,
          .psn = f->note.psn, .wire_bytes = f->len, .tx = f->tx, .cm = f->note.cm);
    if (r->frame)
        r->frame(r->ctx, f->bytes, f->len);
    else
        r->unread++;
}

struct ev_addr lab_addr_of(const struct glance *g)
{
    char buf[ADDR_TEXT_MAX];

    return ev_addr(g->has_addr ? addr_text(g->addr, buf) : "");
}

ev_id lab_announce(struct lab_state *w, uint32_t host, const struct glance *g, uint32_t bytes)
{
    ev_id id;

    if (g->opcode < FRAME_OTHER)
        TRACE_ID(&w->trace, id, tx, .host = host, .opcode = g->opcode, .psn = g->psn.v,
                 .ackreq = g->ack_req, .dest_qpn = g->dest_qpn, .syndrome = (uint32_t)g->syndrome,
                 .msn = g->msn, .bytes = g->payload_bytes, .wire_bytes = bytes,
                 .peer = lab_peer_of(w, g->addr), .cm = g->cm);
    else
        TRACE_ID(&w->trace, id, eth_tx, .host = host, .opcode = g->opcode, .addr = lab_addr_of(g),
                 .wire_bytes = bytes);
    return id;
}

struct frame *lab_frame(struct lab_state *w, uint32_t sender, const void *bytes, size_t n,
                        struct glance *ret)
{
    struct frame *f = frame_new(w->arena, (uint32_t)n);

    if (!f)
        return NULL;
    f->len = (uint32_t)n;
    memcpy(f->bytes, bytes, n);
    *ret = glance(f->bytes, f->len);
    f->note = frame_note_of(sender, ret);
    return f;
}

enum rdl_status rdl_port_receive(struct rdl_lab *lab, rdl_port port, const void *frame,
                                 size_t bytes)
{
    struct lab_state *w = lab->state;
    const uint32_t host = EV_PORT_FIRST + port.raw - 1;
    struct frame *f;
    struct glance g;

    if (!ext_of(lab, port))
        return RDL_ERR_STALE;
    if (bytes == 0 || bytes > RDL_PORT_FRAME_BYTES_MAX)
        return RDL_ERR_INVAL;
    f = lab_frame(w, host, frame, bytes, &g);
    if (!f)
        return RDL_ERR_NOMEM;
    lab_act(w);
    w->progress.packets++;
    f->tx = lab_announce(w, host, &g, f->len);
    net_ext_in(&w->net, port.raw - 1, f);
    lab_done(w);
    return RDL_OK;
}

enum rdl_status rdl_port_info(const struct rdl_lab *lab, rdl_port port, struct rdl_port_info *ret)
{
    const struct net_ext *x = ext_of(lab, port);
    const uint64_t now_ns = rdl_now_ns(lab);
    uint64_t free_at_ns;

    if (!x)
        return RDL_ERR_STALE;
    *ret = (struct rdl_port_info){
        .linked = x->link_end != NET_NO_LINK,
        .in_frames = x->in_frames,
        .in_bytes = x->in_bytes,
        .in_dropped = net_drops_sum(x->drops),
        .out_frames = x->out_frames,
        .out_bytes = x->out_bytes,
        .out_unread = lab->readers[port.raw - 1].unread,
    };
    memcpy(ret->name, x->name.s, sizeof(ret->name));
    if (ret->linked) {
        free_at_ns = net_port_free_at(&lab->state->net, x->link_end);
        ret->busy_ns = free_at_ns > now_ns ? free_at_ns - now_ns : 0;
    }
    return RDL_OK;
}
