/* SPDX-License-Identifier: MIT */
/* The drill of a rogue guest: requests that its kernel writes itself, past its verbs. */
#include <string.h>

#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/refusal.h"
#include "emu/facts/rfc.h"
#include "emu/facts/roce.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "rdmalab/control.h"
#include "rdmalab/layer.h"
#include "swarm/drills/drill_rogue.h"

#define ADDRESSES 2u /* of a host: IPv4 and IPv6 */

/* A move to RTR: the queue pair, and the address of its peer. */
struct rogue_move {
    uint32_t qpn, mask, dest_qpn;
    uint8_t index; /* of the own address */
    uint8_t dgid[16], dmac[6];
};

struct rogue_request {
    uint32_t command, bytes;
    uint8_t data[RDL_CONTROL_BYTES_MAX];
};

static struct rogue_request virtio_request(const struct rogue_move *m)
{
    struct rfc_qp_attr a = {.qp_state = QPS_RTR,
                            .path_mtu = MTU_1024,
                            .dest_qp_num = m->dest_qpn,
                            .max_dest_rd_atomic = 1,
                            .min_rnr_timer = 1,
                            .ah_sgid_index = m->index,
                            .ah_hop_limit = 64,
                            .ah_port_num = 1,
                            .ah_flags = AH_FLAG_GRH};
    struct rfc_modify_qp to = {.qpn = m->qpn, .attr_mask = m->mask};
    struct rogue_request ret = {.command = CMD_MODIFY_QP, .bytes = sizeof(struct raw_modify_qp)};
    struct raw_modify_qp raw;
    struct raw_qp_attr attrs;

    memcpy(a.ah_dgid, m->dgid, sizeof(a.ah_dgid));
    memcpy(a.ah_dmac, m->dmac, sizeof(a.ah_dmac));
    rfc_qp_attr_put(&attrs, &a);
    memcpy(to.attrs, &attrs, sizeof(attrs));
    rfc_modify_qp_put(&raw, &to);
    memcpy(ret.data, &raw, sizeof(raw));
    return ret;
}

static struct rogue_request pvrdma_request(const struct rogue_move *m)
{
    struct pv_qp_attr a = {.state = QPS_RTR,
                           .path_mtu = MTU_1024,
                           .dest_qpn = m->dest_qpn,
                           .max_dest_rd_atomic = 1,
                           .min_rnr_timer = 1};
    struct pv_ah_attr ah = {
        .sgid_index = m->index, .hop_limit = 64, .flags = AH_FLAG_GRH, .port = 1};
    struct pv_modify_qp to = {.handle = m->qpn, .mask = m->mask};
    struct rogue_request ret = {.command = PV_CMD_MODIFY_QP,
                                .bytes = sizeof(struct pv_raw_modify_qp)};
    struct pv_raw_modify_qp raw;
    struct pv_raw_qp_attr attrs;
    struct pv_raw_ah_attr path;

    memcpy(ah.dgid, m->dgid, sizeof(ah.dgid));
    memcpy(ah.dmac, m->dmac, sizeof(ah.dmac));
    pv_ah_attr_put(&path, &ah);
    memcpy(a.ah, &path, sizeof(path));
    pv_qp_attr_put(&attrs, &a);
    memcpy(to.attr, &attrs, sizeof(attrs));
    pv_modify_qp_put(&raw, &to);
    memcpy(ret.data, &raw, sizeof(raw));
    return ret;
}

/* Sends @r to the device of the rogue, which must refuse it because of @why. */
static bool is_refused(struct drill *d, const struct rogue_request *r, uint32_t why)
{
    const rdl_host host = rogue_of(d)->guest.host;
    const struct rdl_control c = {
        .command = (uint8_t)r->command, .data = r->data, .bytes = r->bytes, .room = 1};
    struct rdl_control_answer answer;
    struct rdl_refusal refusal;
    uint32_t id;

    return drill_works(d, rdl_control_send(d->lab, host, &c, true, &id),
                       "a kernel can write a request") &&
           drill_settle(d) &&
           drill_works(d, rdl_control_answer(d->lab, host, id, &answer),
                       "a device answers each request") &&
           drill_works(d, rdl_last_refusal(d->lab, host, &refusal), "a device can refuse") &&
           drill_expect(d, refusal.reason == why,
                        "a device does not connect to guests that the centre forbids", "%s",
                        enum_name(&enum_refusal, refusal.reason));
}

/* A queue pair of the rogue in INIT. */
static bool add_qp(struct drill *d, struct rig_end *e, uint32_t type)
{
    struct rogue_guest *g = &rogue_of(d)->guest;
    const struct rdl_qp_config c = {
        .pd = g->pd, .type = type, .send_cq = g->cq[0], .recv_cq = g->cq[1]};
    struct rdl_qp_attr a = {.access = rig_rights, .port = 1};

    return rig_add_qp(d, e, &c) && rig_modify(d, e, &a, QPS_INIT, qp_fsm_needs(type, QPS_INIT));
}

/* The address of g2: virtual, or the one on the wire. */
static bool choose_address(struct drill *d, struct rogue_move *m)
{
    const struct rogue_drill *s = rogue_of(d);
    const rdl_host victim = s->honest[1].host;

    m->index = (uint8_t)drill_below(d, ADDRESSES);
    return drill_works(
        d,
        drill_one_in(d, 2)
            ? rdl_peer_address(d->lab, s->guest.host, victim, 0, m->index, m->dgid, m->dmac)
            : rdl_wire_address(d->lab, victim, 0, m->index, m->dgid, m->dmac),
        "a host has an address");
}

bool rogue_around_centre(struct drill *d, const struct rogue_attack *a)
{
    const struct rogue_drill *s = rogue_of(d);
    const bool is_pvrdma = s->guest.device == DEVICE_pvrdma;
    const uint32_t type = !is_pvrdma && drill_one_in(d, 2) ? QPT_UC : QPT_RC;
    struct rig_end e = {.host = s->guest.host, .name = "own"};
    struct rogue_move m = {.mask = QPA_STATE | qp_fsm_needs(type, QPS_RTR),
                           .dest_qpn = s->pair[0].end[1].qpn};
    struct rogue_request r;

    if (!s->guest.has_vrnic)
        return true;
    if (!add_qp(d, &e, type) || !choose_address(d, &m))
        return false;
    m.qpn = e.qpn;
    r = is_pvrdma ? pvrdma_request(&m) : virtio_request(&m);
    return is_refused(d, &r, a->value) &&
           drill_is_done(d, s->guest.host, rdl_destroy_qp(d->lab, e.qp),
                         "a queue pair can be destroyed");
}
