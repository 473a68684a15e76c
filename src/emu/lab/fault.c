/* SPDX-License-Identifier: MIT */
/* Faults by coordinates, and frames forged from outside. */
#include "rdmalab/fault.h"

#include <string.h>

#include "emu/lab/world.h"

#define DELAY_NS_MAX ((uint64_t)1 << 50) /* 13 days; those of many faults add up */

bool world_has_fault(const struct world *w, const char *name)
{
    for (uint32_t i = 0; i < w->net.faults.len; i++) {
        const struct net_fault *f = slots_at(&w->net.faults, i);

        if (f && strcmp(f->name.s, name) == 0)
            return true;
    }
    return false;
}

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

enum rdl_status rdl_fault_add(struct rdl_lab *lab, const struct rdl_fault_config *config,
                              rdl_fault *ret)
{
    struct world *w = lab->world;
    const enum rdl_status st = check_fault(w, config);
    char name[RDL_NAME_BYTES];
    struct net_fault *f;
    uint64_t handle;

    if (st != RDL_OK)
        return st;
    f = arena_alloc(w->arena, sizeof(*f));
    if (!f)
        return RDL_ERR_NOMEM;
    if (config->name && config->name[0])
        memcpy(name, config->name, strlen(config->name) + 1);
    else
        name_by_number(w, name);
    handle = slots_add(&w->net.faults, f);
    if (!handle) {
        arena_release(w->arena, f, sizeof(*f));
        return RDL_ERR_LIMIT;
    }
    w->net.faults_made++;
    *f = (struct net_fault){
        .number = w->net.faults_made,
        .name = ev_str(name),
        .kind = (enum fault_kind)config->kind,
        .host = fault_host(config),
        .opcode = config->opcode,
        .syndrome = config->syndrome,
        .psn = config->psn,
        .dest_qpn = config->dest_qpn,
        .nth = config->nth,
        .count = config->count,
        .delay_ns = config->delay_ns,
        .corrupt_bit = config->corrupt_bit,
    };
    tallies_meet(&lab->tallies, f->name.s, EV_HOST_NONE);
    world_act(w);
    TRACE(&w->trace, fault_made, .fault = f->number, .name = f->name, .by = config->kind,
          .host = f->host, .opcode = f->opcode, .syndrome = f->syndrome, .psn = f->psn,
          .dest_qpn = f->dest_qpn, .skip = f->nth - 1, .count = f->count, .delay = f->delay_ns);
    world_done(w);
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
    slots_remove(&n->faults, fault.raw);
    arena_release(n->arena, f, sizeof(*f));
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
