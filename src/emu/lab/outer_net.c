/* SPDX-License-Identifier: MIT */
#include "emu/lab/outer_net.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/drop.h"
#include "emu/lab/bus.h"
#include "emu/lab/lab_state.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"
#include "emu/wire/eth.h"

static bool has_frame(const void *ctx)
{
    const struct outer_net *o = ctx;

    return o->n > 0;
}

static struct frame *take_frame(void *ctx)
{
    struct outer_net *o = ctx;
    struct frame *f;
    struct glance g;

    if (o->n == 0)
        return NULL;
    f = o->queue[o->first];
    o->first = (o->first + 1) % OUTER_NET_FRAMES_MAX;
    o->n--;
    g = glance(f->bytes, f->len);
    f->tx = lab_announce(o->w, o->host->index, &g, f->len + eth_port_tag_bytes(&o->host->port));
    return f;
}

static void deliver(void *ctx, const struct frame *f)
{
    struct outer_net *o = ctx;
    struct eth_port *p = &o->host->port;
    const struct glance g = glance(f->bytes, f->len);

    if (f->len > ETH_BYTES + p->mtu) {
        eth_port_drop(p, f, DROP_TOO_LONG);
        return;
    }
    if (!vm_frame(o->w, o->host, f)) {
        eth_port_drop(p, f, DROP_NO_DRIVER);
        return;
    }
    p->taken_frames++;
    TRACE(&o->w->trace, eth_rx, .host = o->host->index, .opcode = g.opcode, .addr = lab_addr_of(&g),
          .wire_bytes = f->len, .tx = f->tx);
}

static const struct eth_user_ops user_ops = {
    .has_frame = has_frame,
    .take_frame = take_frame,
    .deliver = deliver,
};

void outer_net_init(struct outer_net *o, struct lab_state *w, struct host *h)
{
    *o = (struct outer_net){.w = w, .host = h};
    o->port_user = eth_port_use(&h->port, &user_ops, o);
}

void outer_net_send(struct outer_net *o, struct frame *f)
{
    struct eth_port *p = &o->host->port;

    RDL_ASSERT(outer_net_has_room(o));
    o->queue[(o->first + o->n++) % OUTER_NET_FRAMES_MAX] = f;
    eth_port_wait(p, o->port_user);
    eth_port_pump(p);
}
