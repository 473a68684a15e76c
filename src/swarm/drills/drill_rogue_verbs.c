/* SPDX-License-Identifier: MIT */
/* The drill of a rogue guest: what its programs ask of the verbs. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/events.h"
#include "rdmalab/layer.h"
#include "swarm/drills/drill_rogue.h"

#define FLOOD       12u /* messages at once */
#define FLOOD_BYTES 8192u
#define DATAGRAMS   8u
#define OBJECTS_MAX 64u

/* Posts a request of the rogue to its service, which completes with @status. */
static bool post(struct drill *d, struct rdl_send_wr *wr, const struct rdl_sge *sge,
                 uint32_t status)
{
    struct rogue_drill *s = rogue_of(d);

    RDL_ASSERT(s->n_wants < ROGUE_WANTS);
    s->wants[s->n_wants++] = status;
    wr->wr_id = s->n_wants;
    wr->flags = SF_SIGNALED;
    wr->sge = sge;
    wr->n_sge = 1;
    rogue_uses_service(d);
    return drill_works(d, rdl_post_send(d->lab, s->guest.end.qp, wr, false),
                       "a request can be posted");
}

bool rogue_guessed_rkey(struct drill *d, const struct rogue_attack *a)
{
    static const uint32_t ops[] = {WR_RDMA_WRITE, WR_RDMA_READ, WR_ATOMIC_FETCH_AND_ADD};
    struct rogue_drill *s = rogue_of(d);
    const struct rogue_host *victim = &s->honest[drill_below(d, ROGUE_HONEST)];
    const struct rdl_sge sge = {.addr = s->guest.base, .length = 8, .lkey = s->guest.lkey};
    struct rdl_send_wr wr = {.opcode = ops[drill_below(d, (uint32_t)ARRAY_LEN(ops))],
                             .remote_addr = victim->base + 8u * drill_below(d, 1024),
                             .rkey = victim->rkey};

    if (wr.rkey == s->service.rkey || drill_one_in(d, 4))
        wr.rkey = s->service.rkey + 1 + drill_below(d, 1000);
    if (wr.rkey == s->honest[ROGUE_OUTSIDE].rkey)
        wr.remote_addr = s->honest[ROGUE_OUTSIDE].base;
    s->has_failed = true;
    return post(d, &wr, &sge, a->value);
}

bool rogue_guessed_lkey(struct drill *d, const struct rogue_attack *a)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rogue_host *victim = &s->honest[drill_below(d, ROGUE_HONEST)];
    struct rdl_sge sge = {.addr = victim->base, .length = 64, .lkey = victim->lkey};
    struct rdl_send_wr wr = {
        .opcode = WR_RDMA_WRITE, .remote_addr = s->service.base, .rkey = s->service.rkey};

    if (sge.lkey == s->guest.lkey)
        sge.lkey++;
    s->has_failed = true;
    return post(d, &wr, &sge, a->value);
}

bool rogue_other_group(struct drill *d, const struct rogue_attack *a)
{
    struct rogue_drill *s = rogue_of(d);
    struct rdl_ah_attr at = {.hop_limit = 64, .port = 1};
    enum rdl_status st;
    uint8_t mac[6];
    rdl_ah ah;

    if (!s->guest.has_vrnic)
        return true;
    /* Its virtual address, or the one on the wire, which a program can guess. */
    st = drill_one_in(d, 2)
             ? rdl_peer_address(d->lab, s->guest.host, s->honest[1].host, 0, 0, at.dgid, mac)
             : rdl_wire_address(d->lab, s->honest[1].host, 0, 0, at.dgid, mac);
    if (!drill_works(d, st, "a host has an address"))
        return false;
    st = rdl_create_ah(d->lab, s->guest.pd, &at, NULL, &ah);
    return drill_expect(d, (uint32_t)st == a->value, "the centre refuses guests of other groups",
                        "%s", rdl_status_name(st));
}

/* --- Objects ---------------------------------------------------------------------------------- */

/* Creates regions or queue pairs until one is refused.  Sets *@ret_n to their number. */
static enum rdl_status take_all(struct drill *d, bool regions, uint64_t *ret, uint32_t *ret_n)
{
    struct rogue_guest *g = &rogue_of(d)->guest;
    enum rdl_status st = RDL_OK;

    for (*ret_n = 0; *ret_n < OBJECTS_MAX; (*ret_n)++) {
        const struct rdl_qp_config c = {
            .pd = g->pd, .type = QPT_RC, .send_cq = g->cq[0], .recv_cq = g->cq[1]};
        rdl_mr mr = {0};
        rdl_qp qp = {0};

        st = regions ? rdl_reg_mr(d->lab, g->pd, g->base, 4096, rig_rights, NULL, &mr)
                     : rdl_create_qp(d->lab, &c, NULL, &qp);
        if (st == RDL_OK)
            st = drill_answer(d, g->host);
        if (st != RDL_OK)
            break;
        ret[*ret_n] = regions ? mr.raw : qp.raw;
    }
    return st;
}

static bool give_back(struct drill *d, bool regions, const uint64_t *raw, uint32_t n)
{
    const rdl_host host = rogue_of(d)->guest.host;

    for (uint32_t i = 0; i < n; i++) {
        if (!drill_is_done(d, host,
                           regions ? rdl_dereg_mr(d->lab, (rdl_mr){raw[i]})
                                   : rdl_destroy_qp(d->lab, (rdl_qp){raw[i]}),
                           "an object can be destroyed"))
            return false;
    }
    return true;
}

/* An honest host creates a region and a queue pair, and destroys them, in both labs. */
static bool others_get_theirs(struct drill *d, uint32_t h)
{
    struct rogue_drill *s = rogue_of(d);
    struct rogue_host *host = &s->honest[h];
    struct rdl_mr_info info[ROGUE_LABS];

    for (uint32_t i = 0; i < ROGUE_LABS; i++) {
        rdl_mr mr;

        rogue_switch(d, i);
        if (!drill_is_done(d, host->host,
                           rdl_reg_mr(d->lab, host->pd, host->base, 4096, rig_rights, NULL, &mr),
                           "others create what they may, when the rogue has used up its own") ||
            !drill_works(d, rdl_mr_info(d->lab, mr, &info[i]), "a region has a key") ||
            !drill_is_done(d, host->host, rdl_dereg_mr(d->lab, mr), "a region can go"))
            break;
    }
    rogue_switch(d, 0);
    return drill_expect(d, d->wrong || info[0].rkey == info[1].rkey,
                        "the keys of others do not depend on the rogue", "0x%x, and not 0x%x",
                        info[0].rkey, info[1].rkey) &&
           !d->wrong;
}

bool rogue_used_up(struct drill *d, const struct rogue_attack *a)
{
    const bool regions = drill_one_in(d, 2);
    uint64_t raw[OBJECTS_MAX];
    uint32_t n;
    const enum rdl_status st = take_all(d, regions, raw, &n);

    return drill_expect(d, (uint32_t)st == a->value, "a device has limits", "%s after %u objects",
                        rdl_status_name(st), n) &&
           others_get_theirs(d, drill_below(d, ROGUE_HONEST)) && give_back(d, regions, raw, n);
}

/* --- Load ------------------------------------------------------------------------------------- */

bool rogue_guessed_datagrams(struct drill *d, const struct rogue_attack *a)
{
    struct rogue_drill *s = rogue_of(d);
    const uint32_t victim = s->guest.has_vrnic ? 2 * drill_below(d, 2) : drill_below(d, 3);
    const uint32_t bytes = 4 + 4 * drill_below(d, 200);
    const struct rdl_sge sge = {.addr = s->guest.base, .length = bytes, .lkey = s->guest.lkey};

    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        const struct rdl_send_wr wr = {.opcode = WR_SEND,
                                       .sge = &sge,
                                       .n_sge = 1,
                                       .ud = {s->guest.ah[victim], s->honest[victim].ud.qpn,
                                              RIG_QKEY ^ (1u << drill_below(d, 31))}};

        rogue_arrives(d, victim, 66 + bytes, a->value);
        if (!drill_works(d, rdl_post_send(d->lab, s->guest.ud.qp, &wr, false),
                         "a request can be posted"))
            return false;
    }
    s->most_bytes = 66 + bytes;
    return true;
}

static bool load(struct drill *d, uint32_t opcode)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rdl_sge sge = {
        .addr = s->guest.base, .length = FLOOD_BYTES, .lkey = s->guest.lkey};

    s->most_bytes = ROGUE_FRAME;
    for (uint32_t i = 0; i < FLOOD; i++) {
        struct rdl_send_wr wr = {
            .opcode = opcode, .remote_addr = s->service.base, .rkey = s->service.rkey};

        if (!post(d, &wr, &sge, WCS_SUCCESS))
            return false;
    }
    return true;
}

bool rogue_flood(struct drill *d, const struct rogue_attack *a)
{
    (void)a;
    return load(d, WR_RDMA_WRITE);
}

bool rogue_reads(struct drill *d, const struct rogue_attack *a)
{
    (void)a;
    return load(d, WR_RDMA_READ);
}

/* Nobody has joined the group: each port gives its copy to the network card of its host. */
bool rogue_flooded_group(struct drill *d, const struct rogue_attack *a)
{
    static const uint8_t group[16] = {[10] = 0xff, [11] = 0xff, [12] = 239, [15] = 9};
    struct rogue_drill *s = rogue_of(d);
    struct rdl_ah_attr at = {.hop_limit = 64, .port = 1};
    const struct rdl_sge sge = {.addr = s->guest.base, .length = 512, .lkey = s->guest.lkey};
    rdl_ah ah;

    (void)a;
    memcpy(at.dgid, group, sizeof(group));
    s->most_bytes = ROGUE_FRAME;
    s->has_flooded = true;
    for (uint32_t h = 0; h < ROGUE_HONEST; h++) {
        rogue_differs(d, ROGUE_ANY, "%s.port.", rogue_names[h]);
        rogue_differs(d, ROGUE_ANY, "%s.irqs", rogue_names[h]);
    }
    if (!drill_is_done(d, s->guest.host, rdl_create_ah(d->lab, s->guest.pd, &at, NULL, &ah),
                       "an address handle can be created"))
        return false;
    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        const struct rdl_send_wr wr = {
            .opcode = WR_SEND, .sge = &sge, .n_sge = 1, .ud = {ah, 0xffffff, RIG_QKEY}};

        if (!drill_works(d, rdl_post_send(d->lab, s->guest.ud.qp, &wr, false),
                         "a request can be posted"))
            return false;
    }
    return drill_works(d, rdl_destroy_ah(d->lab, ah), "an address handle can be destroyed");
}
