/* SPDX-License-Identifier: MIT */
/* Faults by coordinates, and frames forged from outside. */
#include "rdmalab/fault.h"

#include <string.h>

#include "emu/lab/world.h"

#define DELAY_NS_MAX ((uint64_t)1 << 50) /* 13 days; those of many faults add up */

static enum rdl_status check_fault(const struct world *w, const struct rdl_fault_config *c)
{
    if (c->kind != FLT_DROP && c->kind != FLT_DUPLICATE && c->kind != FLT_DELAY &&
        c->kind != FLT_CORRUPT)
        return RDL_ERR_INVAL;
    if (c->nth == 0 || c->count == 0 || c->delay_ns > DELAY_NS_MAX)
        return RDL_ERR_INVAL;
    if ((c->from.raw && !world_host(w, c->from.raw)) || c->from_port.raw > w->net.n_exts)
        return RDL_ERR_STALE;
    if (c->from.raw && c->from_port.raw)
        return RDL_ERR_INVAL;
    return c->name && c->name[0] ? world_check_name(w, c->name) : RDL_OK;
}

/* "f1" is the first fault of a lab, unless something else has that name. */
static void name_by_number(const struct world *w, char ret[RDL_NAME_BYTES])
{
    uint32_t i = w->net.faults_made + 1;

    do { /* there are more numbers than names */
        struct text name = text_on(ret, RDL_NAME_BYTES);

        text_addf(&name, "f%u", i++);
    } while (world_check_name(w, ret) == RDL_ERR_EXISTS);
}

/* The sender that a fault is about, as frames name it. */
static uint32_t fault_host(const struct rdl_fault_config *c)
{
    if (c->from_port.raw)
        return EV_PORT_FIRST + c->from_port.raw - 1;
    return c->from.raw ? c->from.raw - 1 : EV_HOST_NONE;
}

/* What the network makes of @c. */
static struct net_fault fault_of(const struct world *w, const struct rdl_fault_config *c)
{
    struct net_fault f = {
        .kind = (enum fault_kind)c->kind,
        .match = {{
            [NET_MATCH_HOST] = fault_host(c),
            [NET_MATCH_OPCODE] = c->opcode,
            [NET_MATCH_SYNDROME] = c->syndrome,
            [NET_MATCH_PSN] = c->psn,
            [NET_MATCH_DEST_QPN] = c->dest_qpn,
        }},
        .nth = c->nth,
        .count = c->count,
        .delay_ns = c->delay_ns,
        .corrupt_bit = c->corrupt_bit,
    };

    if (c->name && c->name[0])
        f.name = ev_str(c->name);
    else
        name_by_number(w, f.name.s);
    return f;
}

static void say_made(struct world *w, const struct net_fault *f)
{
    const uint32_t *match = f->match.field;

    world_act(w);
    TRACE(&w->trace, fault_made, .fault = f->number, .name = f->name, .by = (uint32_t)f->kind,
          .host = match[NET_MATCH_HOST], .opcode = match[NET_MATCH_OPCODE],
          .syndrome = match[NET_MATCH_SYNDROME], .psn = match[NET_MATCH_PSN],
          .dest_qpn = match[NET_MATCH_DEST_QPN], .skip = f->nth - 1, .count = f->count,
          .delay = f->delay_ns);
    world_done(w);
}

enum rdl_status rdl_fault_add(struct rdl_lab *lab, const struct rdl_fault_config *config,
                              rdl_fault *ret)
{
    struct world *w = lab->world;
    enum rdl_status st = check_fault(w, config);
    const struct net_fault *made;
    struct net_fault f;
    uint64_t handle;

    if (st != RDL_OK)
        return st;
    f = fault_of(w, config);
    st = net_fault_add(&w->net, &f, &handle);
    if (st != RDL_OK)
        return st;
    made = slots_get(&w->net.faults, handle);
    if (!parts_add(&w->parts, f.name.s, PART_FAULT, slots_index(handle))) {
        net_fault_remove(&w->net, handle);
        return RDL_ERR_NOMEM;
    }
    tallies_meet(&lab->tallies, f.name.s, EV_HOST_NONE);
    say_made(w, made);
    *ret = (rdl_fault){handle};
    return RDL_OK;
}

enum rdl_status rdl_fault_remove(struct rdl_lab *lab, rdl_fault fault)
{
    struct world *w = lab->world;
    struct net *n = &w->net;
    struct net_fault *f = slots_get(&n->faults, fault.raw);

    if (!f)
        return RDL_ERR_STALE;
    world_act(w);
    TRACE(&w->trace, fault_gone, .fault = f->number, .name = f->name);
    world_done(w);
    parts_remove(&w->parts, f->name.s);
    net_fault_remove(n, fault.raw);
    return RDL_OK;
}

enum rdl_status rdl_inject(struct rdl_lab *lab, rdl_host host, const void *frame, size_t bytes)
{
    struct world *w = lab->world;
    struct frame *f;
    struct glance g;

    if (!world_host(w, host.raw))
        return RDL_ERR_STALE;
    if (bytes == 0 || bytes > UINT16_MAX)
        return RDL_ERR_INVAL;
    f = frame_new(w->arena, (uint32_t)bytes);
    if (!f)
        return RDL_ERR_NOMEM;
    f->len = (uint32_t)bytes;
    memcpy(f->bytes, frame, bytes);
    g = glance(f->bytes, f->len);
    f->note = frame_note_of(EV_HOST_NONE, &g);
    w->trace.cause = 0;
    net_inject(&w->net, host.raw - 1, f);
    return RDL_OK;
}
