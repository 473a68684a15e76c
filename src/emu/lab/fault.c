/* SPDX-License-Identifier: MIT */
/* Frame faults selected by packet coordinates, and injection of forged frames. */
#include "rdmalab/fault.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/eswitch.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"
#include "emu/wire/field.h"

#define DELAY_NS_MAX ((uint64_t)1 << 50) /* 13 days; delays of several faults add up */

/* Returns true if the fields of @c are valid for its kind. */
static bool check_kind(const struct rdl_fault_config *c)
{
    switch ((enum fault_kind)c->kind) {
    case FLT_DROP:
    case FLT_DUPLICATE:
    case FLT_DELAY:
    case FLT_MARK:
        return c->field == WF_NONE;
    case FLT_CORRUPT:
        return c->field == WF_NONE || field_max((enum wire_field_id)c->field) > 0;
    case FLT_REORDER:
        return c->field == WF_NONE && c->hold_frames > 0 && c->delay_ns > 0;
    case FLT_TRUNCATE:
        return c->field == WF_NONE && c->to_bytes > 0;
    case FLT_FORGE:
        return field_max((enum wire_field_id)c->field) > 0 &&
               c->value <= field_max((enum wire_field_id)c->field);
    case FLT_NONE:
    case FLT_CHANCE:
    case FLT_BURST:
    case FLT_LOST_KICK: /* these are for rdl_device_fault_add() */
    case FLT_LOST_INTERRUPT:
    case FLT_LATE_DATA:
    case FLT_STUCK_QUEUE:
    case FLT_SPURIOUS:
    case FLT_LOST_CQE:
    case FLT_FALSE_DATA:
    case FLT_FALSE_LENGTH:
    case FLT_FALSE_READ:
        break;
    }
    return false;
}

/* Checks the destination, link, packet class and message that @c selects. */
static enum rdl_status check_aim(const struct lab_state *w, const struct rdl_fault_config *c)
{
    if ((c->to.raw && !lab_host(w, c->to.raw)) || c->link.raw > w->net.n_links)
        return RDL_ERR_STALE;
    if (c->packet_class >= enum_packet_class.n_rows || (c->message && !c->qp.raw) ||
        (c->cm && !enum_by_value(&enum_cm_message, c->cm)))
        return RDL_ERR_INVAL;
    return RDL_OK;
}

static enum rdl_status check_fault(const struct lab_state *w, const struct rdl_fault_config *c)
{
    enum rdl_status st;

    if (!check_kind(c) || c->nth == 0 || c->count == 0 || c->delay_ns > DELAY_NS_MAX)
        return RDL_ERR_INVAL;
    if ((c->from.raw && !lab_host(w, c->from.raw)) || c->from_port.raw > w->net.n_exts)
        return RDL_ERR_STALE;
    if (c->from.raw && c->from_port.raw)
        return RDL_ERR_INVAL;
    st = check_aim(w, c);
    if (st != RDL_OK)
        return st;
    return c->name && c->name[0] ? lab_check_name(w, c->name) : RDL_OK;
}

/* Names a fault "f1", "f2" ... by its number, skipping names in use. */
static void name_by_number(const struct lab_state *w, char ret[RDL_NAME_BYTES])
{
    uint32_t i = w->net.faults_made + 1;

    do { /* ends: there are more numbers than names */
        struct text name = text_on(ret, RDL_NAME_BYTES);

        text_addf(&name, "f%u", i++);
    } while (lab_check_name(w, ret) == RDL_ERR_EXISTS);
}

/* The number of the sender that the fault selects, as in events; EV_HOST_NONE: any. */
static uint32_t fault_host(const struct rdl_fault_config *c)
{
    if (c->from_port.raw)
        return EV_PORT_FIRST + c->from_port.raw - 1;
    return c->from.raw ? c->from.raw - 1 : EV_HOST_NONE;
}

static uint64_t mac_of(const struct lab_state *w, uint32_t host)
{
    return ld_be(w->hosts[host - 1]->port.mac, MAC_BYTES);
}

/* Translates the criteria of @c that the fault index does not cover. */
static enum rdl_status aim_of(const struct lab_state *w, const struct rdl_fault_config *c,
                              struct net_aim *ret)
{
    const uint32_t host = verbs_host_of(c->qp.raw);
    struct rdl_qp_info info;
    enum rdl_status st;

    *ret = (struct net_aim){
        .to_mac = c->to.raw ? mac_of(w, c->to.raw) : 0,
        .class = c->packet_class,
        .transmission = c->transmission,
        .message = c->message,
        .cm = c->cm,
        .link = c->link.raw,
        .where = c->where,
        .where_ctx = c->where_ctx,
    };
    if (!c->qp.raw)
        return RDL_OK;
    st = rdl_qp_info(w->lab, c->qp, &info);
    if (st != RDL_OK)
        return st;
    ret->qpn = info.qpn;
    ret->qp_host = host - 1;
    ret->qp_mac = mac_of(w, host);
    return RDL_OK;
}

void lab_fault_called(const struct lab_state *w, struct net_fault *f, const char *name,
                      const char *about)
{
    if (about) {
        struct text t = text_on(f->about, sizeof(f->about));

        text_add(&t, about);
        if (t.cut)
            memcpy(f->about + sizeof(f->about) - 4, "...", 4);
    }
    if (name && name[0])
        f->name = ev_str(name);
    else
        name_by_number(w, f->name.s);
}

enum rdl_status lab_fault_keep(struct rdl_lab *lab, const struct net_fault *f, rdl_fault *ret)
{
    struct lab_state *w = lab->state;
    uint64_t handle;
    const enum rdl_status st = net_fault_add(&w->net, f, &handle);

    if (st != RDL_OK)
        return st;
    if (!parts_add(&w->parts, f->name.s, PART_FAULT, slots_index(handle))) {
        net_fault_remove(&w->net, handle);
        return RDL_ERR_NOMEM;
    }
    tallies_meet(&lab->tallies, f->name.s, EV_HOST_NONE);
    *ret = (rdl_fault){handle};
    return RDL_OK;
}

/* Translates @c into a fault of the network. */
static struct net_fault fault_of(const struct lab_state *w, const struct rdl_fault_config *c)
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
        .every = c->every ? c->every : 1,
        .count = c->count,
        .delay_ns = c->delay_ns,
        .corrupt_bit = c->corrupt_bit,
        .hold_frames = c->hold_frames,
        .to_bytes = c->to_bytes,
        .field = c->field,
        .value = c->value,
    };

    lab_fault_called(w, &f, c->name, c->about);
    return f;
}

/* Emits fault_aim for the criteria that fault_made has no fields for, if there are any. */
static void say_aim(struct lab_state *w, const struct net_fault *f, uint32_t to)
{
    const struct net_aim *a = &f->aim;

    if (!a->to_mac && !a->qpn && !a->class && !a->transmission && !a->message && !a->link &&
        !a->where && !f->hold_frames && !f->to_bytes && !f->field)
        return;
    TRACE(&w->trace, fault_aim, .fault = f->number, .name = f->name, .to = to, .host = a->qp_host,
          .qpn = a->qpn, .class = a->class, .transmission = a->transmission, .message = a->message,
          .link = a->link, .where = a->where != NULL, .behind = f->hold_frames,
          .to_bytes = f->to_bytes, .field = f->field, .value = f->value);
}

/* Emits fault_cm if @f selects a message of the connection manager. */
static void say_message(struct lab_state *w, const struct net_fault *f)
{
    if (f->aim.cm)
        TRACE(&w->trace, fault_cm, .fault = f->number, .name = f->name, .message = f->aim.cm);
}

static void say_made(struct lab_state *w, const struct net_fault *f, uint32_t to)
{
    const uint32_t *match = f->match.field;

    lab_act(w);
    TRACE(&w->trace, fault_made, .fault = f->number, .name = f->name, .by = (uint32_t)f->kind,
          .host = match[NET_MATCH_HOST], .opcode = match[NET_MATCH_OPCODE],
          .syndrome = match[NET_MATCH_SYNDROME], .psn = match[NET_MATCH_PSN],
          .dest_qpn = match[NET_MATCH_DEST_QPN], .skip = f->nth - 1, .count = f->count,
          .delay = f->delay_ns);
    say_aim(w, f, to);
    say_message(w, f);
    lab_done(w);
}

static void on_sent(void *ctx, const struct ev *e)
{
    *((struct rdl_lab *)ctx)->sent = *e;
}

/* Starts keeping the last tx event, which a fault needs.  It is kept until the lab ends, because a
 * restored checkpoint may have such a fault.
 */
static enum rdl_status sent_hear(struct rdl_lab *lab)
{
    struct ev_set kinds = ev_set_none;

    if (lab->sent)
        return RDL_OK;
    lab->sent = calloc(1, sizeof(*lab->sent));
    if (!lab->sent)
        return RDL_ERR_NOMEM;
    ev_set_add(&kinds, EV_tx);
    lab->sent_sink = (struct trace_sink){on_sent, lab, kinds, NULL};
    trace_sink_add(&lab->sinks, &lab->sent_sink);
    return RDL_OK;
}

const struct ev *lab_sent(void *ctx, const struct frame *f)
{
    const struct lab_state *w = ctx;
    const struct ev *e = w->lab->sent;

    /* A fault that changed the frame gave it another id, but its tx event is still the last one. */
    return e && e->kind == EV_tx && ev_tick(e->id) == w->trace.tick &&
                   e->u.tx.host == f->note.host && e->u.tx.qpn == f->note.qpn &&
                   e->u.tx.psn == f->note.psn && e->u.tx.opcode == f->note.opcode
               ? e
               : NULL;
}

enum rdl_status rdl_fault_add(struct rdl_lab *lab, const struct rdl_fault_config *config,
                              rdl_fault *ret)
{
    struct lab_state *w = lab->state;
    enum rdl_status st = check_fault(w, config);
    struct net_fault f;

    if (st != RDL_OK)
        return st;
    f = fault_of(w, config);
    st = aim_of(w, config, &f.aim);
    if (st != RDL_OK)
        return st;
    if (f.aim.transmission || f.aim.message || f.aim.where)
        st = sent_hear(lab);
    if (st == RDL_OK)
        st = lab_fault_keep(lab, &f, ret);
    if (st == RDL_OK)
        say_made(w, slots_get(&w->net.faults, ret->raw),
                 config->to.raw ? (uint32_t)config->to.raw - 1 : EV_HOST_NONE);
    return st;
}

enum rdl_status rdl_fault_remove(struct rdl_lab *lab, rdl_fault fault)
{
    struct lab_state *w = lab->state;
    struct net *n = &w->net;
    struct net_fault *f = slots_get(&n->faults, fault.raw);
    ev_id id;

    if (!f)
        return RDL_ERR_STALE;
    lab_act(w);
    TRACE_ID(&w->trace, id, fault_gone, .fault = f->number, .name = f->name);
    trace_because(&w->trace, id);
    lab_device_fault_gone(w, f);
    lab_done(w);
    parts_remove(&w->parts, f->name.s);
    net_fault_remove(n, fault.raw);
    return RDL_OK;
}

/* The host that @f is for, or EV_HOST_NONE.  Of those that share a MAC it is the one with the
 * address.
 */
static uint32_t receiver_of(const struct lab_state *w, const struct frame *f,
                            const struct glance *g)
{
    const uint64_t mac = ld_be(f->bytes, MAC_BYTES);
    const uint32_t owner = g->has_addr ? lab_peer_of(w, g->addr) : EV_HOST_NONE;

    if (owner != EV_HOST_NONE && ld_be(w->hosts[owner]->port.mac, MAC_BYTES) == mac)
        return owner;
    return lab_station(w, mac);
}

enum rdl_status rdl_inject(struct rdl_lab *lab, rdl_host host, const void *frame, size_t bytes)
{
    struct lab_state *w = lab->state;
    struct frame *f;
    struct glance g;

    if (!lab_host(w, host.raw))
        return RDL_ERR_STALE;
    if (bytes == 0 || bytes > UINT16_MAX)
        return RDL_ERR_INVAL;
    f = lab_frame(w, EV_HOST_NONE, frame, bytes, &g);
    if (!f)
        return RDL_ERR_NOMEM;
    w->trace.cause = 0;
    net_inject(&w->net, host.raw - 1, f);
    return RDL_OK;
}

enum rdl_status rdl_inject_from(struct rdl_lab *lab, rdl_host host, const void *frame, size_t bytes,
                                bool bad_icrc)
{
    struct lab_state *w = lab->state;
    struct eth_port *p;
    struct frame *f;
    struct glance g;
    uint32_t peer;
    ev_id id;

    if (!lab_host(w, host.raw))
        return RDL_ERR_STALE;
    p = &lab_host(w, host.raw)->port;
    if (bytes < MAC_BYTES || bytes > UINT16_MAX)
        return RDL_ERR_INVAL;
    f = lab_frame(w, (uint32_t)host.raw - 1, frame, bytes, &g);
    if (!f)
        return RDL_ERR_NOMEM;
    peer = receiver_of(w, f, &g);
    lab_act(w);
    TRACE_ID(&w->trace, id, inject, .host = f->note.host, .opcode = f->note.opcode,
             .psn = f->note.psn, .dest_qpn = f->note.dest_qpn, .peer = peer, .wire_bytes = f->len,
             .bad_icrc = bad_icrc, .cm = f->note.cm);
    trace_because(&w->trace, id);
    TRACE_ID(&w->trace, f->tx, tx, .host = f->note.host, .opcode = f->note.opcode,
             .psn = f->note.psn, .dest_qpn = f->note.dest_qpn, .syndrome = f->note.syndrome,
             .ackreq = g.ack_req, .msn = g.msn, .bytes = g.payload_bytes, .wire_bytes = f->len,
             .peer = peer, .cm = f->note.cm);
    if (p->sw)
        eswitch_send(p, f);
    else if (peer == f->note.host)
        net_loop_back(&w->net, peer, f);
    else if (!net_send(&w->net, p->link_end, f))
        p->tx_drops[DROP_NO_ROUTE]++;
    lab_done(w);
    return RDL_OK;
}
