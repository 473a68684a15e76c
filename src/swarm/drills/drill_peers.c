/* SPDX-License-Identifier: MIT */
/* The drill of peers: injecting packets, completions and memory, the connection, and the choice of
 * steps.
 */
#include "swarm/drills/drill_peers.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/virtio/feature.h"
#include "emu/trace/event.h"
#include "emu/wire/parse.h"
#include "rdmalab/events.h"
#include "swarm/drills/kinds.h"

#define STEPS       48u
#define CQ_ENTRIES  64u
#define FRAME_BYTES 1024u

_Static_assert(PEER_ACCESS ==
                   (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC),
               "the rights of the regions and queue pairs");

/* --- Packets ---------------------------------------------------------------------------------- */

/* Cuts the last @cut bytes off @frame: corrects the lengths in its IPv4 and UDP headers, and the
 * IPv4 checksum.
 */
static void shorten(uint8_t *frame, uint32_t cut)
{
    uint8_t *ip = frame + ETH_BYTES, *udp = ip + IPV4_BYTES;

    st_be16(ip + 2, (uint16_t)(ld_be16(ip + 2) - cut));
    st_be16(udp + 4, (uint16_t)(ld_be16(udp + 4) - cut));
    st_be16(ip + 10, 0);
    st_be16(ip + 10, rig_sum(0, ip, IPV4_BYTES));
}

bool peer_send_on(struct drill *d, struct packet *p, const uint8_t *payload)
{
    struct peers *s = d->own;
    uint8_t frame[FRAME_BYTES];
    const size_t bytes = packet_frame_bytes(p) - s->cut;

    RDL_ASSERT(bytes + s->cut <= sizeof(frame));
    if (p->payload_bytes > 0)
        memcpy(packet_build(p, frame), payload, p->payload_bytes);
    else
        packet_build(p, frame);
    if (s->cut > 0)
        shorten(frame, s->cut);
    packet_finish(frame, bytes);
    s->cut = 0;
    s->n_seen = 0;
    s->injected_ns = rdl_now_ns(d->lab);
    d->n_unsaid++;
    return drill_works(d, rdl_inject(d->lab, s->host[0], frame, bytes),
                       "a frame can arrive from anywhere");
}

bool peer_send(struct drill *d, struct packet *p, const uint8_t *payload)
{
    return peer_send_on(d, p, payload) && drill_settle(d);
}

bool peer_seen(struct drill *d, uint32_t i, struct packet *ret)
{
    struct peers *s = d->own;
    size_t bytes;
    const uint8_t *frame = rdl_record_frame(d->lab, s->seen[i].id, &bytes);

    return drill_expect(d, frame && packet_parse(ret, frame, bytes) == DROP_NONE,
                        "what a host sends can be read", "packet %u cannot", i);
}

static void hear(void *ctx, const struct ev *e)
{
    struct peers *s = ctx;

    if (s->n_seen < PEER_SEEN && e->u.tx.host == 0)
        s->seen[s->n_seen++] = (struct peer_seen){e->id, e->at_ns};
}

/* --- Completions and memory ------------------------------------------------------------------- */

bool peer_completes(struct drill *d, uint64_t wr_id, uint32_t status, struct rdl_wc *ret)
{
    struct peers *s = d->own;

    return drill_expect(d, rig_poll(d, s->cq, ret), "what is done completes", "wr_id %u does not",
                        (unsigned)wr_id) &&
           drill_expect(d, ret->wr_id == wr_id && ret->status == status,
                        "requests and receives complete in their order, as their peer decides",
                        "wr_id %u, %s, not %u, %s", (unsigned)ret->wr_id,
                        enum_name(&enum_wc_status, ret->status), (unsigned)wr_id,
                        enum_name(&enum_wc_status, status));
}

bool peer_is_calm(struct drill *d)
{
    struct peers *s = d->own;
    struct rdl_wc wc = {0};
    uint32_t k = 0;

    if (d->wrong ||
        !drill_expect(d, !rig_poll(d, s->cq, &wc), "nothing completes before it is done",
                      "wr_id %u, %s", (unsigned)wc.wr_id, enum_name(&enum_wc_status, wc.status)) ||
        !drill_works(d, rdl_mem_read(d->lab, s->host[0], s->base, s->have, PEER_ROOM),
                     "memory can be read"))
        return false;
    while (k < PEER_ROOM && s->have[k] == s->room[k])
        k++;
    return drill_expect(d, k == PEER_ROOM, "a peer writes what it may, and nothing else",
                        "byte %u is 0x%02x, not 0x%02x", k, s->have[k % PEER_ROOM],
                        s->room[k % PEER_ROOM]);
}

bool peer_event(struct drill *d, bool is_told, uint32_t type)
{
    struct peers *s = d->own;
    struct rdl_async_event e;
    size_t n;

    if (!drill_works(d, rdl_get_async_event(d->lab, s->host[0], &e, &n), "events can be taken") ||
        !drill_expect(d, n == is_told && (n == 0 || e.type == type),
                      "a request that is refused is told of, if no completion tells of it",
                      "%s, not %s", n ? enum_name(&enum_async_event, e.type) : "nothing",
                      is_told ? enum_name(&enum_async_event, type) : "nothing"))
        return false;
    drill_say(d, "get_async_event h1");
    return n == 0 ||
           drill_works(d, rdl_ack_async_event(d->lab, &e), "an event can be acknowledged");
}

/* --- The connection --------------------------------------------------------------------------- */

/* Draws new PSNs and attributes, and starts the model as after RESET. */
static void begin(struct drill *d)
{
    struct peers *s = d->own;

    s->end.sq_psn = s->next = s->sent = s->una =
        peer_psn(drill_one_in(d, 3) ? 0u - drill_below(d, 12) : drill_below(d, PSN_MASK));
    s->peer.sq_psn = s->expected =
        peer_psn(drill_one_in(d, 3) ? 0u - drill_below(d, 12) : drill_below(d, PSN_MASK));
    s->end.min_rnr_timer = drill_below(d, 32);
    s->end.access = ACC_LOCAL_WRITE | (drill_one_in(d, 3) ? drill_below(d, 16) : PEER_ACCESS);
    s->end.max_rd_atomic = 1 + drill_below(d, PEER_RDS);
    s->end.max_dest_rd_atomic = 1 + drill_below(d, PEER_RDS);
    s->end.credits = drill_one_in(d, 3);
    s->limit = s->ssn = 0;
    s->is_limited = s->end.credits;
    s->acked = peer_psn(s->expected - 1);
    s->msn = 0;
    s->open = OPK_NONE;
    s->has_told_gap = s->has_told_rnr = s->was_implied = s->is_paused = false;
    s->go_backs = s->n_recvs = s->n_taken = s->n_asked = 0;
}

/* Polls the completions of a failed queue pair.  Each queue must be flushed in its posting order.
 */
static bool poll_flushed(struct drill *d, uint32_t recvs_done, uint32_t asked_done)
{
    struct peers *s = d->own;
    struct rdl_wc wc;

    while (!d->wrong && (recvs_done < s->n_recvs || asked_done < s->n_asked)) {
        bool is_recv, is_asked;

        if (!drill_expect(d, rig_poll(d, s->cq, &wc), "all that is left is flushed",
                          "something is not"))
            return false;
        is_recv = recvs_done < s->n_recvs && wc.wr_id == s->recv[recvs_done].wr_id;
        is_asked = asked_done < s->n_asked && wc.wr_id == s->asked[asked_done].wr_id;
        drill_expect(d, (is_recv || is_asked) && wc.status == WCS_WR_FLUSH_ERR,
                     "what is left is flushed, in its order", "wr_id %u, %s", (unsigned)wc.wr_id,
                     enum_name(&enum_wc_status, wc.status));
        recvs_done += is_recv;
        asked_done += is_asked;
    }
    return !d->wrong;
}

bool peer_resets(struct drill *d)
{
    struct peers *s = d->own;
    struct rdl_qp_attr a = {0};

    drill_say(d, "modify_qp h1.q state=RESET");
    begin(d);
    return rig_modify(d, &s->end, &a, QPS_RESET, 0);
}

bool peer_failed(struct drill *d, uint32_t recvs_done, uint32_t asked_done)
{
    struct peers *s = d->own;
    struct rdl_qp_info info;

    if (!drill_is_done(d, s->host[0], rdl_query_qp(d->lab, s->end.qp), "a query is answered") ||
        !drill_works(d, rdl_qp_info(d->lab, s->end.qp, &info), "a queue pair has a state") ||
        !drill_expect(d, info.attr.state == QPS_ERR, "a queue pair that failed is in ERR", "%s",
                      enum_name(&enum_qp_state, info.attr.state)) ||
        !poll_flushed(d, recvs_done, asked_done) || !peer_is_calm(d))
        return false;
    return peer_resets(d) && rig_raise(d, &s->end, &s->peer, QPT_RC);
}

/* --- The lab ---------------------------------------------------------------------------------- */

static bool add_objects(struct drill *d)
{
    const uint32_t access = PEER_ACCESS;
    struct peers *s = d->own;
    struct rdl_qp_config c = {.type = QPT_RC};
    struct rdl_mr_info info;
    rdl_mr mr;

    drill_say(d, "alloc_pd h1 as pd\ncreate_cq h1 cqe=%u as cq", CQ_ENTRIES);
    drill_say(d, "reg_mr h1.pd len=%u access=lw,rw,rr,ra as mine", PEER_ROOM);
    if (!drill_is_done(d, s->host[0], rdl_alloc_pd(d->lab, s->host[0], "pd", &s->pd),
                       "a domain can be had") ||
        !drill_is_done(d, s->host[0], rdl_create_cq(d->lab, s->host[0], CQ_ENTRIES, "cq", &s->cq),
                       "a CQ can be created") ||
        !drill_works(d, rdl_mem_alloc(d->lab, s->host[0], PEER_ROOM, &s->base),
                     "memory can be had") ||
        !drill_is_done(d, s->host[0],
                       rdl_reg_mr(d->lab, s->pd, s->base, PEER_ROOM, access, "mine", &mr),
                       "memory can be registered") ||
        !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has a key"))
        return false;
    s->key = info.lkey;
    c.pd = s->pd;
    c.max_recv_wr = s->room_for = 2 * PEER_RECVS;
    c.send_cq = c.recv_cq = s->cq;
    s->end = (struct rig_end){
        .number = 0, .host = s->host[0], .name = "q", .retry_cnt = 7, .path_mtu = MTU_256};
    return rig_add_qp(d, &s->end, &c);
}

static void set_up(struct drill *d)
{
    const struct rig_config c = {.profile = PROFILE_iba,
                                 .max_qp_rd_atom = drill_one_in(d, 2) ? PEER_RDS : 0};
    struct peers *s = d->own;
    struct ev_set heard = ev_set_none;

    s->keeps = c.max_qp_rd_atom;
    if (!rig_add_hosts(d, &c, s->host, &s->link) || !add_objects(d))
        return;
    s->peer = (struct rig_end){.number = 1, .host = s->host[1], .name = "nobody", .qpn = PEER_QPN};
    begin(d);
    if (!rig_raise(d, &s->end, &s->peer, QPT_RC) || !rig_like(d, s->host[1], &s->end, &s->like) ||
        !peer_event(d, true, ASE_PORT_ACTIVE) ||
        !drill_works(d, rdl_listen(d->lab, hear, s, &s->listener), "the lab can be listened to"))
        return;
    ev_set_add(&heard, EV_tx);
    rdl_hear(d->lab, s->listener, &heard);
}

static void take(struct drill *d)
{
    const uint32_t pick = drill_below(d, 10);

    if (drill_one_in(d, 30))
        peer_comes_early(d);
    else if (drill_one_in(d, 40))
        peer_resizes(d);
    else if (pick < 2)
        peer_posts_receive(d);
    else if (pick < 8)
        peer_requests(d);
    else
        peer_answers(d);
}

const struct drill_kind drill_of_peers = {.name = "peers",
                                          .bytes = sizeof(struct peers),
                                          .steps = STEPS,
                                          .set_up = set_up,
                                          .take = take,
                                          .extensions = RDMA_EXTENSIONS};
