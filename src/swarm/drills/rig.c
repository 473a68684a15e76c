/* SPDX-License-Identifier: MIT */
#include "swarm/drills/rig.h"

#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/log2.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/mux.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/psn.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/wire/packet.h"
#include "rdmalab/inspect.h"

const uint32_t rig_rights =
    ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;

/* Path MTU of @e, enum mtu. */
static uint32_t mtu_of(const struct rig_end *e)
{
    return e->path_mtu ? e->path_mtu : (uint32_t)MTU_1024;
}

/* max_rd_atomic or max_dest_rd_atomic of an end that is configured with @n. */
static uint32_t rd_atomic_of(uint32_t n)
{
    return n > 0 ? n : 4;
}

uint32_t rig_draw_rxe(struct drill *d)
{
    return drill_one_in(d, 3) ? PROFILE_rxe_7_3 : PROFILE_rxe;
}

bool rig_is_rxe(uint32_t profile)
{
    return profile != PROFILE_iba;
}

/* Adds the machine of host number @i, with the name @name. */
static bool add_machine(struct drill *d, const char *name)
{
    const struct rdl_host_config c = {
        .name = name, .device = DEVICE_virtio, .vfs = 1, .mux = MUX_full};
    rdl_host host;

    drill_say(d, "machine %s vfs=1 mux=full", name);
    return drill_works(d, rdl_host_add(d->lab, &c, &host), "a machine can be added");
}

bool rig_add_hosts(struct drill *d, const struct rig_config *c, rdl_host ret[RIG_HOSTS],
                   rdl_link *ret_link)
{
    static const char *const names[RIG_HOSTS] = {"h1", "h2"};
    static const char *const machines[RIG_HOSTS] = {"m1", "m2"};
    const struct rdl_link_config link = {.a = (c->mux ? machines : names)[0],
                                         .b = (c->mux ? machines : names)[1],
                                         .latency_ns = c->latency_ns ? c->latency_ns : 1000,
                                         .rate_bps = c->rate_bps};
    char rds[32] = "", place[32] = "";

    for (unsigned i = 0; c->mux && i < RIG_HOSTS; i++) {
        if (!add_machine(d, machines[i]))
            return false;
    }
    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        struct rdl_host_config host = {.name = names[i],
                                       .device = drill_device(d, i),
                                       .profile = c->profile,
                                       .features_off = c->features_off,
                                       .max_qp = c->max_qp,
                                       .limits.max_qp_rd_atom = c->max_qp_rd_atom,
                                       .arp = c->arp,
                                       .intx = c->intx,
                                       .ring = c->ring,
                                       .on = c->mux ? machines[i] : NULL,
                                       .shared = c->mux};
        char words[EXTEND_WORDS_BYTES];
        const char *extensions = drill_extend(d, i, &host, words);

        if (c->max_qp_rd_atom)
            snprintf(rds, sizeof(rds), " max_qp_rd_atom=%u", c->max_qp_rd_atom);
        if (c->mux)
            snprintf(place, sizeof(place), " on %s shared", machines[i]);
        drill_say(d, "%s %s%s profile=%s max_qp=%u%s%s%s%s%s%s", c->mux ? "guest" : "host",
                  names[i], place, enum_name(&enum_profile, c->profile), c->max_qp ? c->max_qp : 17,
                  rds, host.device == DEVICE_pvrdma ? " device=pvrdma" : "", c->arp ? " arp" : "",
                  c->intx ? " irq=intx" : "", c->ring == VRING_packed ? " ring=packed" : "",
                  extensions);
        if (!drill_works(d, rdl_host_add(d->lab, &host, &ret[i]), "a host can be added"))
            return false;
    }
    drill_say(d, "link %s %s latency=%" PRIu64 "ns rate=%" PRIu64 "bps", link.a, link.b,
              link.latency_ns, link.rate_bps ? link.rate_bps : UINT64_C(100000000000));
    return drill_works(d, rdl_link_add(d->lab, &link, ret_link), "a link can be added");
}

/* The number that @wanted selects, a member of struct rdl_qp_config. */
static uint32_t selected(uint32_t wanted, uint32_t standard)
{
    return wanted == RDL_QP_NONE ? 0 : wanted ? wanted : standard;
}

/* Writes the script line.  It names PD, CQs and SRQ by their paths. */
static void say_qp(struct drill *d, const struct rig_end *e, const struct rdl_qp_config *c)
{
    static const char *const types[] = {[QPT_RC] = "rc", [QPT_UC] = "uc", [QPT_UD] = "ud"};
    char pd[RDL_VALUE_BYTES], send[RDL_VALUE_BYTES], recv[RDL_VALUE_BYTES], srq[RDL_VALUE_BYTES];

    rdl_path_of(d->lab, OBJ_PD, c->pd.raw, pd);
    rdl_path_of(d->lab, OBJ_CQ, c->send_cq.raw, send);
    rdl_path_of(d->lab, OBJ_CQ, c->recv_cq.raw, recv);
    rdl_path_of(d->lab, OBJ_SRQ, c->srq.raw, srq);
    drill_say(d,
              "create_qp %s type=%s send_cq=%s recv_cq=%s max_send_wr=%u max_recv_wr=%u "
              "max_send_sge=%u max_recv_sge=%u max_inline_data=%u%s%s%s as %s",
              pd, types[c->type], send, recv, selected(c->max_send_wr, 16),
              selected(c->max_recv_wr, 16), selected(c->max_send_sge, 4),
              selected(c->max_recv_sge, 4), c->max_inline_data, c->sq_sig_all ? " sq_sig_all" : "",
              c->srq.raw ? " srq=" : "", c->srq.raw ? srq : "", e->name);
}

bool rig_add_qp(struct drill *d, struct rig_end *e, const struct rdl_qp_config *c)
{
    struct rdl_qp_info info;

    if (d->script)
        say_qp(d, e, c);
    if (!drill_is_done(d, e->host, rdl_create_qp(d->lab, c, e->name, &e->qp),
                       "a queue pair can be created") ||
        !drill_works(d, rdl_qp_info(d->lab, e->qp, &info), "a queue pair has a number"))
        return false;
    e->qpn = info.qpn;
    return true;
}

const char *rig_access_text(uint32_t access, char out[32])
{
    snprintf(out, 32, "%s%s%s%s%s", access & ACC_LOCAL_WRITE ? ",lw" : "",
             access & ACC_REMOTE_WRITE ? ",rw" : "", access & ACC_REMOTE_READ ? ",rr" : "",
             access & ACC_REMOTE_ATOMIC ? ",ra" : "", access & ACC_MW_BIND ? ",mw" : "");
    return access == 0 ? "0" : out + 1;
}

bool rig_modify(struct drill *d, struct rig_end *e, struct rdl_qp_attr *a, uint32_t state,
                uint32_t mask)
{
    struct rdl_modify_error err;

    a->state = state;
    return drill_is_done(d, e->host, rdl_modify_qp(d->lab, e->qp, a, QPA_STATE | mask, false, &err),
                         "a queue pair can be moved");
}

static void say_move(struct drill *d, const struct rig_end *e, const struct rig_end *peer,
                     uint32_t type, uint32_t state)
{
    const char *name = e->name;
    const unsigned h = e->number + 1;
    char more[96] = "", rights[32];

    if (state == QPS_INIT) {
        drill_say(d, "modify_qp h%u.%s state=INIT pkey_index=0 port=1 access=%s", h, name,
                  rig_access_text(e->access, rights));
    } else if (state == QPS_RTR) {
        if (type == QPT_RC)
            snprintf(more, sizeof(more), " max_dest_rd_atomic=%u min_rnr_timer=%u%s",
                     rd_atomic_of(e->max_dest_rd_atomic), e->min_rnr_timer,
                     e->credits ? " credits" : "");
        drill_say(d,
                  "modify_qp h%u.%s state=RTR ah=h%u gid_index=%u mtu=%u dest_qpn=%u rq_psn=%u%s",
                  h, name, peer->number + 1, e->gid_index, 128u << mtu_of(e), peer->qpn,
                  peer->sq_psn & PSN_MASK, more);
    } else {
        if (type == QPT_RC)
            snprintf(more, sizeof(more), " timeout=%u retry_cnt=%u rnr_retry=%u max_rd_atomic=%u",
                     e->timeout, e->retry_cnt, e->retry_cnt, rd_atomic_of(e->max_rd_atomic));
        drill_say(d, "modify_qp h%u.%s state=RTS sq_psn=%u%s", h, name, e->sq_psn & PSN_MASK, more);
    }
}

bool rig_move(struct drill *d, struct rig_end *e, const struct rig_end *peer, uint32_t type,
              uint32_t state)
{
    const uint32_t more = e->credits && state == QPS_RTR ? QPA_CREDITS : 0;
    struct rdl_qp_attr a = {
        .path_mtu = mtu_of(e),
        .access = e->access,
        .port = 1,
        .dest_qpn = peer->qpn,
        .sq_psn = e->sq_psn & PSN_MASK,
        .rq_psn = peer->sq_psn & PSN_MASK,
        .max_rd_atomic = rd_atomic_of(e->max_rd_atomic),
        .max_dest_rd_atomic = rd_atomic_of(e->max_dest_rd_atomic),
        .min_rnr_timer = e->min_rnr_timer,
        .timeout = e->timeout,
        .retry_cnt = e->retry_cnt,
        .rnr_retry = e->retry_cnt,
        .credits = e->credits,
        .ah.hop_limit = 64,
        .ah.sgid_index = (uint8_t)e->gid_index,
    };
    uint8_t mac[6];

    if (!drill_works(d, rdl_host_address(d->lab, peer->host, e->gid_index, a.ah.dgid, mac),
                     "a host has an address"))
        return false;
    say_move(d, e, peer, type, state);
    return rig_modify(d, e, &a, state, qp_fsm_needs(type, state) | more);
}

bool rig_raise(struct drill *d, struct rig_end *e, const struct rig_end *peer, uint32_t type)
{
    return rig_move(d, e, peer, type, QPS_INIT) && rig_move(d, e, peer, type, QPS_RTR) &&
           rig_move(d, e, peer, type, QPS_RTS);
}

bool rig_connect(struct drill *d, struct rig_end *a, struct rig_end *b)
{
    struct rdl_qp_info info;

    return drill_works(d, rdl_qp_info(d->lab, a->qp, &info), "a queue pair has a type") &&
           rig_raise(d, a, b, info.type) && rig_raise(d, b, a, info.type);
}

bool rig_raise_ud(struct drill *d, struct rig_end *e)
{
    struct rdl_qp_attr a = {.port = 1, .qkey = RIG_QKEY, .sq_psn = e->sq_psn & PSN_MASK};

    drill_say(d, "modify_qp h%u.%s state=INIT pkey_index=0 port=1 qkey=0x%x", e->number + 1,
              e->name, RIG_QKEY);
    if (!rig_modify(d, e, &a, QPS_INIT, qp_fsm_needs(QPT_UD, QPS_INIT)))
        return false;
    drill_say(d, "modify_qp h%u.%s state=RTR", e->number + 1, e->name);
    if (!rig_modify(d, e, &a, QPS_RTR, qp_fsm_needs(QPT_UD, QPS_RTR)))
        return false;
    drill_say(d, "modify_qp h%u.%s state=RTS sq_psn=%u", e->number + 1, e->name, a.sq_psn);
    return rig_modify(d, e, &a, QPS_RTS, qp_fsm_needs(QPT_UD, QPS_RTS));
}

bool rig_poll(struct drill *d, rdl_cq cq, struct rdl_wc *ret)
{
    size_t n = 0;

    return drill_works(d, rdl_poll_cq(d->lab, cq, 1, ret, &n), "a CQ can be polled") && n == 1;
}

void rig_make_frame(struct drill *d, const uint8_t to[6], uint8_t *f, uint32_t bytes)
{
    const uint8_t first = (uint8_t)drill_below(d, 256), step = (uint8_t)drill_below(d, 256);

    memcpy(f, to, 6);
    memcpy(f + 6, (const uint8_t[6]){2, 0xaa, 0, 0, 0, 1}, 6);
    st_be16(f + 12, RIG_ETHERTYPE);
    for (uint32_t i = RIG_ETH_BYTES; i < bytes; i++)
        f[i] = (uint8_t)(first + i * step + (i >> 8));
}

uint16_t rig_sum(uint32_t sum, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

uint32_t rig_queue_size(uint32_t profile, uint32_t n)
{
    return rig_is_rxe(profile) ? (uint32_t)pow2_ceil((uint64_t)n + 1) - 1 : n;
}

bool rig_like(struct drill *d, rdl_host from, const struct rig_end *to, struct packet *ret)
{
    *ret = (struct packet){.udp_src_port = 0xc123};
    ret->ip.version = 4;
    ret->ip.ttl = 64;
    ret->bth.pkey = 0xffff;
    ret->bth.dest_qpn = to->qpn;
    return drill_works(d, rdl_host_address(d->lab, to->host, 0, ret->ip.dst, ret->eth.dst),
                       "a host has an address") &&
           drill_works(d, rdl_host_address(d->lab, from, 0, ret->ip.src, ret->eth.src),
                       "a host has an address");
}
