/* SPDX-License-Identifier: MIT */
/* The drill of one-way connections: arbitrary packets for an unreliable connection (UC).
 *
 * Host h1 has an unreliable connection to a queue pair that does not exist.  The drill sends it
 * SENDs and WRITEs with gaps between their PSNs, packets out of order, with wrong lengths, totals,
 * keys and rights, and posts receives that are too small or have a wrong key.  The model knows
 * which packets are dropped, what is written, and what completes.  h1 never answers.
 */
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/psn.h"
#include "emu/facts/virtio/feature.h"
#include "emu/trace/kind.h"
#include "emu/wire/packet.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "swarm/drills/kinds.h"
#include "swarm/drills/rig.h"

#define STEPS       56u
#define ROOM        8192u
#define MTU         256u
#define PEER        0x4321u /* QPN of the peer; no queue pair of the lab has it */
#define RECVS       6u
#define RECV_BYTES  700u
#define FRAME_BYTES 1024u
#define CQ_ENTRIES  32u

struct oneway_recv {
    uint64_t wr_id;
    uint32_t at, bytes;
    bool has_key; /* its key is right */
};

struct oneway {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd;
    rdl_cq cq;
    uint32_t profile;
    uint64_t base;
    uint32_t key;
    struct rig_end end, peer;
    struct packet like; /* the header fields that all packets to h1 share */
    uint64_t wr_id;

    uint32_t expected;
    enum op_kind open; /* OPK_NONE: no message is open */
    uint32_t got;      /* its bytes so far */
    uint32_t left;     /* WRITE: the bytes that are missing */
    uint64_t to;       /* WRITE: the address of the next byte */
    uint32_t rkey;
    uint32_t n_recvs;
    struct oneway_recv recv[RECVS];
    uint64_t n_drops, n_sent; /* events of the lab */
    uint64_t n_gaps, n_pkts, n_taken;

    uint8_t room[ROOM], have[ROOM]; /* the expected memory of h1, and scratch memory */
};

/* --- Packets ---------------------------------------------------------------------------------- */

static bool inject(struct drill *d, struct packet *p, const uint8_t *payload)
{
    struct oneway *s = d->own;
    uint8_t frame[FRAME_BYTES];
    const size_t bytes = packet_frame_bytes(p);

    RDL_ASSERT(bytes <= sizeof(frame));
    if (p->payload_bytes > 0)
        memcpy(packet_build(p, frame), payload, p->payload_bytes);
    else
        packet_build(p, frame);
    packet_finish(frame, bytes);
    d->n_unsaid++;
    return drill_works(d, rdl_inject(d->lab, s->host[0], frame, bytes),
                       "a frame can arrive from anywhere") &&
           drill_settle(d);
}

static uint8_t code_of(enum op_kind kind, enum op_position pos, bool imm)
{
    static const uint8_t sends[] = {[OPP_FIRST] = OP_UC_SEND_FIRST,
                                    [OPP_MIDDLE] = OP_UC_SEND_MIDDLE,
                                    [OPP_LAST] = OP_UC_SEND_LAST,
                                    [OPP_ONLY] = OP_UC_SEND_ONLY};
    static const uint8_t writes[] = {[OPP_FIRST] = OP_UC_RDMA_WRITE_FIRST,
                                     [OPP_MIDDLE] = OP_UC_RDMA_WRITE_MIDDLE,
                                     [OPP_LAST] = OP_UC_RDMA_WRITE_LAST,
                                     [OPP_ONLY] = OP_UC_RDMA_WRITE_ONLY};

    if (imm && pos == OPP_LAST)
        return kind == OPK_SEND ? OP_UC_SEND_LAST_WITH_IMM : OP_UC_RDMA_WRITE_LAST_WITH_IMM;
    if (imm && pos == OPP_ONLY)
        return kind == OPK_SEND ? OP_UC_SEND_ONLY_WITH_IMM : OP_UC_RDMA_WRITE_ONLY_WITH_IMM;
    return kind == OPK_SEND ? sends[pos] : writes[pos];
}

static bool begins(const struct packet *p)
{
    return p->op->pos == OPP_FIRST || p->op->pos == OPP_ONLY;
}

static bool ends(const struct packet *p)
{
    return p->op->pos == OPP_LAST || p->op->pos == OPP_ONLY;
}

static bool is_write(const struct packet *p)
{
    return p->op->kind == OPK_WRITE;
}

/* Draws what comes next, or now and then anything. */
static void draw_operation(struct drill *d, struct packet *p)
{
    static const enum op_position all[] = {OPP_FIRST, OPP_MIDDLE, OPP_LAST, OPP_ONLY};
    const struct oneway *s = d->own;
    enum op_kind kind = s->open;
    enum op_position pos;

    if (kind == OPK_NONE || drill_one_in(d, 12)) {
        kind = drill_one_in(d, 2) ? OPK_SEND : OPK_WRITE;
        pos = drill_one_in(d, 2) ? OPP_ONLY : OPP_FIRST;
    } else if (kind == OPK_WRITE) {
        pos = s->left > MTU ? OPP_MIDDLE : OPP_LAST;
    } else {
        pos = drill_one_in(d, 2) ? OPP_MIDDLE : OPP_LAST;
    }
    if (drill_one_in(d, 12))
        pos = all[drill_below(d, ARRAY_LEN(all))];
    p->bth.opcode = code_of(kind, pos, drill_one_in(d, 3));
    p->op = op_info(p->bth.opcode);
}

static void draw_lengths(struct drill *d, struct packet *p)
{
    const struct oneway *s = d->own;

    if (begins(p))
        p->reth.dma_bytes = p->op->pos == OPP_ONLY ? drill_below(d, MTU + 1)
                            : drill_one_in(d, 8)   ? MTU - drill_below(d, 2)
                                                   : MTU + 1 + drill_below(d, 2 * MTU);
    if (!ends(p))
        p->payload_bytes = MTU;
    else if (is_write(p))
        p->payload_bytes = begins(p) ? p->reth.dma_bytes : s->left < MTU ? s->left : MTU;
    else
        p->payload_bytes = drill_below(d, MTU + 1);
    if (drill_one_in(d, 12) && p->payload_bytes > 0)
        p->payload_bytes -= 1 + drill_below(d, p->payload_bytes);
    else if (drill_one_in(d, 24))
        p->payload_bytes = MTU + 4;
}

static void draw_target(struct drill *d, struct packet *p)
{
    const struct oneway *s = d->own;

    p->reth.rkey = s->key;
    p->reth.va = s->base + drill_below(d, ROOM - 4 * MTU);
    if (drill_one_in(d, 16))
        p->reth.rkey ^= 1 + drill_below(d, 255);
    else if (drill_one_in(d, 16))
        p->reth.va = drill_one_in(d, 2) ? s->base - 1 : s->base + ROOM - p->reth.dma_bytes + 1;
}

static void draw_psn(struct drill *d, struct packet *p)
{
    const struct oneway *s = d->own;
    uint32_t psn = s->expected;

    if (drill_one_in(d, 10))
        psn += drill_one_in(d, 4) ? drill_below(d, PSN_MASK) : 1 + drill_below(d, 3);
    else if (drill_one_in(d, 16))
        psn -= 1 + drill_below(d, 3);
    p->bth.psn.v = psn & PSN_MASK;
}

/* --- The model -------------------------------------------------------------------------------- */

/* Returns true if @p may come now: after the packets before it, and with the rights it needs. */
static bool may_come(const struct oneway *s, const struct packet *p)
{
    if (!begins(p) && (p->bth.psn.v != s->expected || s->open != p->op->kind))
        return false;
    return !is_write(p) || !begins(p) || (s->end.access & ACC_REMOTE_WRITE);
}

/* Returns true if the lengths of @p are right. */
static bool is_well_formed(const struct oneway *s, const struct packet *p)
{
    const uint32_t announced = begins(p) ? p->reth.dma_bytes : s->left, n = p->payload_bytes;

    if (s->profile != PROFILE_rxe &&
        (ends(p) ? n > MTU || (p->op->pos == OPP_LAST && n == 0) : n != MTU))
        return false;
    /* A packet with others behind it has no pad. */
    return !is_write(p) || (ends(p) ? n == announced : n <= announced && n % 4 == 0);
}

/* Returns true if @p may write where it says.  A packet of 0 bytes may with any key. */
static bool may_write(const struct oneway *s, const struct packet *p)
{
    const uint64_t to = begins(p) ? p->reth.va : s->to;
    const uint32_t rkey = begins(p) ? p->reth.rkey : s->rkey;
    const uint32_t bytes = begins(p) ? p->reth.dma_bytes : p->payload_bytes;

    return !is_write(p) || bytes == 0 ||
           (rkey == s->key && to >= s->base && to - s->base <= ROOM - bytes);
}

static bool needs_receive(const struct packet *p)
{
    return !is_write(p) || (p->op->headers & H_IMM);
}

enum oneway_fate { TAKEN, DROPPED, ENDS };

/* Returns what becomes of @p.  ENDS: the first receive fails with *@ret_status, and the queue pair
 * with it.
 */
static enum oneway_fate fate_of(const struct oneway *s, const struct packet *p,
                                uint32_t *ret_status)
{
    const bool is_rxe = rig_is_rxe(s->profile), is_send = !is_write(p);
    const uint32_t got = begins(p) ? 0 : s->got;

    if (!may_come(s, p) || !may_write(s, p) || (needs_receive(p) && s->n_recvs == 0))
        return DROPPED;
    /* Rxe looks at the receive before it looks at the lengths. */
    if (!is_rxe && !is_well_formed(s, p))
        return DROPPED;
    if (is_send && got + p->payload_bytes > s->recv[0].bytes) {
        *ret_status = WCS_LOC_QP_OP_ERR;
        return is_rxe ? ENDS : DROPPED;
    }
    if (is_send && !s->recv[0].has_key && p->payload_bytes > 0) {
        *ret_status = is_rxe ? WCS_LOC_QP_OP_ERR : WCS_LOC_PROT_ERR;
        return ENDS;
    }
    return is_well_formed(s, p) ? TAKEN : DROPPED;
}

/* --- Results ---------------------------------------------------------------------------------- */

static bool completes(struct drill *d, uint64_t wr_id, uint32_t status, struct rdl_wc *ret)
{
    struct oneway *s = d->own;

    return drill_expect(d, rig_poll(d, s->cq, ret), "what is done completes", "wr_id %u does not",
                        (unsigned)wr_id) &&
           drill_expect(
               d, ret->wr_id == wr_id && ret->status == status && ret->qp_num == s->end.qpn,
               "receives complete in their order, as they ended", "wr_id %u, %s, not %u, %s",
               (unsigned)ret->wr_id, enum_name(&enum_wc_status, ret->status), (unsigned)wr_id,
               enum_name(&enum_wc_status, status));
}

static bool counts(struct drill *d, const char *leaf, uint64_t want)
{
    char path[2 * RDL_NAME_BYTES];

    snprintf(path, sizeof(path), "h1.q.counters.%s", leaf);
    return drill_number_is(d, path, want, "a queue pair counts what has come");
}

/* Checks that nothing else has happened. */
static bool is_calm(struct drill *d)
{
    struct oneway *s = d->own;
    struct rdl_wc wc = {0};
    uint32_t k = 0;
    bool is_done;

    if (d->wrong)
        return false;
    is_done = rig_poll(d, s->cq, &wc);
    if (!drill_expect(d, !is_done, "nothing completes before it is done", "wr_id %u, %s",
                      (unsigned)wc.wr_id, enum_name(&enum_wc_status, wc.status)) ||
        !drill_expect(d, rdl_total(d->lab, EV_tx) == s->n_sent,
                      "an unreliable queue pair answers nothing", "it does") ||
        !drill_expect(d, rdl_total(d->lab, EV_drop) == s->n_drops,
                      "each packet is taken or dropped", "%u drops, and not %u",
                      (unsigned)rdl_total(d->lab, EV_drop), (unsigned)s->n_drops) ||
        !counts(d, "out_of_sequence", s->n_gaps) || !counts(d, "rcvd_pkts", s->n_pkts) ||
        !counts(d, "rdma_recvs", s->n_taken) ||
        !drill_works(d, rdl_mem_read(d->lab, s->host[0], s->base, s->have, ROOM),
                     "memory can be read"))
        return false;
    while (k < ROOM && s->have[k] == s->room[k])
        k++;
    return drill_expect(d, k == ROOM, "a peer writes what it may, and nothing else",
                        "byte %u is 0x%02x, not 0x%02x", k, s->have[k % ROOM], s->room[k % ROOM]);
}

static bool has_no_event(struct drill *d)
{
    const struct oneway *s = d->own;
    struct rdl_async_event e;
    size_t n;

    return drill_works(d, rdl_get_async_event(d->lab, s->host[0], &e, &n), "events can be taken") &&
           drill_expect(d, n == 0, "what a completion tells, no event tells", "one does");
}

static void pop_receive(struct oneway *s)
{
    memmove(s->recv, s->recv + 1, (RECVS - 1) * sizeof(s->recv[0]));
    s->n_recvs--;
}

static void take_part(struct drill *d, const struct packet *p, const uint8_t *payload)
{
    struct oneway *s = d->own;
    struct rdl_wc wc;

    if (begins(p)) {
        s->got = 0;
        s->to = p->reth.va;
        s->left = p->reth.dma_bytes;
        s->rkey = p->reth.rkey;
    }
    if (p->payload_bytes > 0)
        memcpy(s->room + (is_write(p) ? s->to - s->base : s->recv[0].at + s->got), payload,
               p->payload_bytes);
    s->got += p->payload_bytes;
    s->to += p->payload_bytes;
    s->left -= is_write(p) ? p->payload_bytes : 0;
    s->open = ends(p) ? OPK_NONE : p->op->kind;
    if (!ends(p) || !needs_receive(p))
        return;
    s->n_taken++;
    if (!completes(d, s->recv[0].wr_id, WCS_SUCCESS, &wc))
        return;
    pop_receive(s);
    drill_expect(d,
                 wc.byte_len == s->got &&
                     wc.opcode == (uint32_t)(is_write(p) ? WC_RECV_RDMA_WITH_IMM : WC_RECV) &&
                     wc.wc_flags == ((p->op->headers & H_IMM ? (uint32_t)WCF_WITH_IMM : 0) |
                                     (rig_is_rxe(s->profile) ? (uint32_t)WCF_GRH : 0)) &&
                     (!(p->op->headers & H_IMM) || memcmp(wc.imm, p->imm_data, 4) == 0),
                 "a receive tells what came", "%u bytes, flags 0x%x, not %u", wc.byte_len,
                 wc.wc_flags, s->got);
}

/* --- The connection --------------------------------------------------------------------------- */

static void begin(struct drill *d)
{
    struct oneway *s = d->own;

    s->end.sq_psn = drill_below(d, PSN_MASK);
    s->peer.sq_psn = s->expected =
        drill_one_in(d, 3) ? PSN_MASK - drill_below(d, 12) : drill_below(d, PSN_MASK);
    s->end.access = ACC_LOCAL_WRITE | (drill_one_in(d, 6) ? 0 : ACC_REMOTE_WRITE);
    s->open = OPK_NONE;
    s->n_recvs = 0;
}

/* Sets the queue pair up anew.  What is posted goes without completions. */
static bool connects_again(struct drill *d)
{
    struct oneway *s = d->own;
    struct rdl_qp_attr a = {0};

    drill_say(d, "modify_qp h1.q state=RESET");
    begin(d);
    return rig_modify(d, &s->end, &a, QPS_RESET, 0) && rig_raise(d, &s->end, &s->peer, QPT_UC);
}

/* The queue pair is in ERR: all receives from number @from on complete as flushed. */
static bool is_flushed(struct drill *d, uint32_t from)
{
    struct oneway *s = d->own;
    struct rdl_qp_info info;
    struct rdl_wc wc;

    if (!drill_is_done(d, s->host[0], rdl_query_qp(d->lab, s->end.qp), "a query is answered") ||
        !drill_works(d, rdl_qp_info(d->lab, s->end.qp, &info), "a queue pair has a state") ||
        !drill_expect(d, info.attr.state == QPS_ERR, "a queue pair that failed is in ERR", "%s",
                      enum_name(&enum_qp_state, info.attr.state)))
        return false;
    for (uint32_t i = from; i < s->n_recvs; i++) {
        if (!completes(d, s->recv[i].wr_id, WCS_WR_FLUSH_ERR, &wc))
            return false;
    }
    return is_calm(d) && has_no_event(d);
}

/* --- Steps ------------------------------------------------------------------------------------ */

static void post_receive(struct drill *d)
{
    struct oneway *s = d->own;
    struct oneway_recv *r = &s->recv[s->n_recvs];
    struct rdl_sge sge;
    const struct rdl_recv_wr wr = {.wr_id = ++s->wr_id, .sge = &sge, .n_sge = 1};

    if (s->n_recvs == RECVS)
        return;
    *r = (struct oneway_recv){.wr_id = wr.wr_id, .at = drill_below(d, ROOM - RECV_BYTES)};
    r->bytes = drill_one_in(d, 3) ? drill_below(d, RECV_BYTES) : RECV_BYTES;
    r->has_key = !drill_one_in(d, 12);
    sge = (struct rdl_sge){s->base + r->at, r->bytes, r->has_key ? s->key : s->key ^ 1u};
    drill_say(d, "post_recv h1.q wr_id=%u sge=mine[%u:%u]", (unsigned)r->wr_id, r->at,
              r->at + r->bytes);
    d->n_unsaid += !r->has_key;
    s->n_recvs++;
    if (drill_works(d, rdl_post_recv(d->lab, s->end.qp, &wr, false), "a receive can be posted") &&
        drill_settle(d))
        (void)is_calm(d);
}

static void send_packet(struct drill *d)
{
    struct oneway *s = d->own;
    struct packet p = s->like;
    uint8_t payload[MTU + 4];
    uint32_t status = WCS_SUCCESS;
    enum oneway_fate fate;
    struct rdl_wc wc;

    draw_operation(d, &p);
    draw_lengths(d, &p);
    draw_target(d, &p);
    draw_psn(d, &p);
    p.bth.ack_req = drill_one_in(d, 3);
    st_be32(p.imm_data, (uint32_t)prng_next(&d->rng));
    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)prng_next(&d->rng);
    fate = fate_of(s, &p, &status);
    s->n_pkts++;
    if (!inject(d, &p, payload))
        return;
    if (fate == ENDS) {
        if (completes(d, s->recv[0].wr_id, status, &wc) && is_flushed(d, 1))
            (void)connects_again(d);
        return;
    }
    if (fate == DROPPED) {
        s->n_gaps += !begins(&p) && p.bth.psn.v != s->expected;
        s->n_drops++;
        s->open = OPK_NONE;
    } else {
        take_part(d, &p, payload);
    }
    s->expected = (p.bth.psn.v + 1) & PSN_MASK;
    if (is_calm(d))
        (void)has_no_event(d);
}

/* Ends the connection, perhaps while a message is open, and sets it up again. */
static void end_connection(struct drill *d)
{
    struct oneway *s = d->own;
    struct rdl_qp_attr a = {0};

    if (drill_one_in(d, 2)) {
        drill_say(d, "modify_qp h1.q state=ERR");
        if (!rig_modify(d, &s->end, &a, QPS_ERR, 0) || !is_flushed(d, 0))
            return;
    }
    if (connects_again(d))
        (void)is_calm(d);
}

static void take(struct drill *d)
{
    const uint32_t pick = drill_below(d, 10);

    if (drill_one_in(d, 24))
        end_connection(d);
    else if (pick < 3)
        post_receive(d);
    else
        send_packet(d);
}

/* --- The lab ---------------------------------------------------------------------------------- */

static bool add_objects(struct drill *d)
{
    struct oneway *s = d->own;
    struct rdl_qp_config c = {.type = QPT_UC};
    struct rdl_mr_info info;
    rdl_mr mr;

    drill_say(d, "alloc_pd h1 as pd\ncreate_cq h1 cqe=%u as cq", CQ_ENTRIES);
    drill_say(d, "reg_mr h1.pd len=%u access=lw,rw as mine", ROOM);
    if (!drill_is_done(d, s->host[0], rdl_alloc_pd(d->lab, s->host[0], "pd", &s->pd),
                       "a domain can be had") ||
        !drill_is_done(d, s->host[0], rdl_create_cq(d->lab, s->host[0], CQ_ENTRIES, "cq", &s->cq),
                       "a CQ can be created") ||
        !drill_works(d, rdl_mem_alloc(d->lab, s->host[0], ROOM, &s->base), "memory can be had") ||
        !drill_is_done(d, s->host[0],
                       rdl_reg_mr(d->lab, s->pd, s->base, ROOM, ACC_LOCAL_WRITE | ACC_REMOTE_WRITE,
                                  "mine", &mr),
                       "memory can be registered") ||
        !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has a key"))
        return false;
    s->key = info.lkey;
    c.pd = s->pd;
    c.send_cq = c.recv_cq = s->cq;
    s->end = (struct rig_end){.host = s->host[0], .name = "q", .path_mtu = MTU_256};
    return rig_add_qp(d, &s->end, &c);
}

static void set_up(struct drill *d)
{
    const struct rig_config c = {.profile = drill_one_in(d, 3) ? rig_draw_rxe(d) : PROFILE_iba};
    struct oneway *s = d->own;
    struct rdl_async_event e;
    size_t n;

    s->profile = c.profile;
    if (!rig_add_hosts(d, &c, s->host, &s->link) || !add_objects(d))
        return;
    s->peer = (struct rig_end){.number = 1, .host = s->host[1], .name = "nobody", .qpn = PEER};
    begin(d);
    if (!rig_raise(d, &s->end, &s->peer, QPT_UC) || !rig_like(d, s->host[1], &s->end, &s->like) ||
        !drill_works(d, rdl_get_async_event(d->lab, s->host[0], &e, &n), "events can be taken") ||
        !drill_expect(d, n == 1, "a port tells that it is active", "it does not"))
        return;
    (void)drill_works(d, rdl_ack_async_event(d->lab, &e), "an event can be acknowledged");
    s->n_sent = rdl_total(d->lab, EV_tx);
    s->n_drops = rdl_total(d->lab, EV_drop);
}

const struct drill_kind drill_of_oneway = {.name = "oneway",
                                           .bytes = sizeof(struct oneway),
                                           .steps = STEPS,
                                           .set_up = set_up,
                                           .take = take,
                                           .extensions = RDMA_EXTENSIONS};
