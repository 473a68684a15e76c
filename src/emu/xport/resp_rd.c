/* SPDX-License-Identifier: MIT */
/* Responder of RC: READs, atomics, FLUSHes and ATOMIC WRITEs.
 *
 * Each accepted request has an entry in a ring.  A READ reads memory packet by packet when its
 * responses are built, with a key check each time.  An atomic is executed when it is accepted, and
 * its original value is kept.  An ATOMIC WRITE is executed when it is accepted, too, and a FLUSH
 * has nothing to do: every write of the lab is visible as soon as it is carried out.  Both are
 * answered with a READ response of no bytes.  An answered entry stays for duplicates until its
 * place is needed.  [IBTA1 9.4.4, 9.4.5]
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/profile.h"
#include "emu/facts/roce.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"
#include "emu/xport/credit.h"
#include "emu/xport/internal.h"
#include "emu/xport/wqe.h"

static bool is_atomic(const struct resp_rd *rd)
{
    return op_info(rd->opcode)->kind == OPK_ATOMIC;
}

/* Executes the atomic @p.  It is atomic because nothing else runs in the same tick.  Returns the
 * original value.
 */
static uint64_t carry_out(struct xport_qp *xqp, const struct packet *p)
{
    const struct atomic_eth *a = &p->atomic;
    struct hca *h = xqp->qp.hca;
    uint8_t word[ATOMIC_WORD_BYTES];
    uint64_t found, left;

    key_copy_out(h, a->rkey, a->va, word, sizeof(word));
    found = ld_le64(word);
    left = found;
    if (p->bth.opcode == OP_RC_FETCH_ADD)
        left = found + a->swap_add;
    else if (found == a->compare)
        left = a->swap_add;
    st_le64(word, left);
    key_copy_in(h, a->rkey, a->va, word, sizeof(word));
    TRACE(h->trace, atomic, .host = h->host, .qpn = xqp->qp.qpn, .opcode = p->bth.opcode,
          .addr = a->va, .found = found, .left = left);
    return found;
}

/* Executes the ATOMIC WRITE @p. */
static void write_word(struct xport_qp *xqp, const struct packet *p)
{
    const struct sge to = {p->reth.va, ATOMIC_WORD_BYTES, p->reth.rkey};
    struct sge_cur at = {0, 0};

    RDL_ASSERT(p->payload_bytes == ATOMIC_WORD_BYTES && p->reth.dma_bytes == ATOMIC_WORD_BYTES);
    whole_copy_in(&xqp->qp, 0, &to, &at, p);
}

/* Returns the number of bytes that the responses of @rd bring, without the value of an atomic. */
static uint32_t brings(const struct resp_rd *rd)
{
    return op_info(rd->opcode)->kind == OPK_READ ? rd->bytes : 0;
}

/* Advances done to the next entry with responses to send. */
static void skip_sent(struct resp_rds *rds)
{
    while (rds->done != rds->next &&
           resp_rd_at(rds, rds->done)->at == resp_rd_at(rds, rds->done)->n_psns)
        rds->done++;
    if (rds->done - rds->first > rds->answered - rds->first)
        rds->answered = rds->done;
}

/* Removes the oldest entry.  If it is being sent again for a duplicate, that ends. */
static void drop_oldest(struct resp_rds *rds)
{
    const bool is_sent_again = rds->done == rds->first;

    RDL_ASSERT(rds->answered != rds->first);
    rds->first++;
    if (is_sent_again) {
        rds->done = rds->first;
        skip_sent(rds);
    }
}

/* Allocates the ring, at the first READ or atomic.  Returns false if the arena is full. */
static bool make_ring(struct xport_qp *xqp)
{
    struct arena *a = xqp->qp.hca->arena;
    struct resp_rds *rds = &xqp->resp.rds;

    if (!rds->ring)
        rds->ring = arena_alloc_raw(a, rds->size * sizeof(*rds->ring));
    RDL_ASSERT(rds->ring || arena_is_short(a)); /* the lab ends with this tick */
    return rds->ring != NULL;
}

void resp_take_rd(struct xport_qp *xqp, const struct packet *p, ev_id rx)
{
    struct responder *r = &xqp->resp;
    struct resp_rds *rds = &r->rds;
    struct resp_rd *rd;

    if (!make_ring(xqp))
        return;
    rd = resp_rd_at(rds, rds->next);
    if (rds->next - rds->first == rds->size)
        drop_oldest(rds);
    *rd = (struct resp_rd){
        .opcode = p->bth.opcode,
        .psn = p->bth.psn,
        .n_psns = 1,
        .addr = p->atomic.va,
        .rkey = p->atomic.rkey,
        .bytes = ATOMIC_WORD_BYTES,
        .msn = r->msn,
        .cause = rx,
    };
    if (p->op->kind == OPK_ATOMIC) {
        rd->found = carry_out(xqp, p);
    } else {
        rd->addr = p->reth.va;
        rd->rkey = p->reth.rkey;
        rd->bytes = p->reth.dma_bytes;
        rd->placement = p->feth.placement;
        rd->level = p->feth.level;
        rd->n_psns = wqe_pkts(brings(rd), xqp->mtu);
    }
    if (p->op->kind == OPK_ATOMIC_WRITE)
        write_word(xqp, p);
    rds->next++;
    resp_took(r, rd->n_psns);
}

/* Finds the entry that the duplicate @p repeats, and the first response @ret_at that it asks for.
 * Returns NULL if there is none.  Searches from the newest, because an old entry can have the same
 * PSN.
 */
static const struct resp_rd *find_again(const struct xport_qp *xqp, const struct packet *p,
                                        uint32_t *ret_entry, uint32_t *ret_at)
{
    const struct resp_rds *rds = &xqp->resp.rds;
    const uint32_t kept = xqp->qp.attr.max_dest_rd_atomic;
    uint32_t first = rds->first;

    if (!profile_has(xqp->qp.hca->profile, TRAIT_RD_ROOM_CHECKED) && rds->next - first > kept)
        first = rds->next - kept;
    for (uint32_t n = rds->next; n-- != first;) {
        if (resp_asks_again(resp_rd_at(rds, n), p, xqp->mtu, ret_at)) {
            *ret_entry = n;
            return resp_rd_at(rds, n);
        }
    }
    return NULL;
}

struct resp_verdict resp_decide_again(const struct xport_qp *xqp, const struct packet *p)
{
    const struct resp_verdict gone = {
        .act = ACT_DROP, .rule = RULE_RESP_DUPLICATE, .drop = DROP_NOT_KEPT};
    const struct target_view v = {.hca = xqp->qp.hca,
                                  .who = key_user_of(&xqp->qp),
                                  .access = resp_access(p),
                                  .at = resp_target(p, NULL)};
    struct resp_verdict d = {.act = ACT_ACCEPT};
    uint32_t entry, at;

    if (!find_again(xqp, p, &entry, &at))
        return gone;
    if (p->op->kind == OPK_READ)
        resp_decide_memory(&v, &d);
    d.bad = v.at;
    if (d.act == ACT_ACCEPT)
        d = (struct resp_verdict){.act = ACT_REPLAY, .rule = RULE_RESP_PSN};
    return d;
}

void resp_replay(struct xport_qp *xqp, const struct packet *p, ev_id rx)
{
    struct resp_rds *rds = &xqp->resp.rds;
    uint32_t entry, at;
    struct resp_rd *rd;
    const bool is_kept = find_again(xqp, p, &entry, &at) != NULL;

    RDL_ASSERT(is_kept); /* resp_decide_again() has found it */
    rd = resp_rd_at(rds, entry);
    if (at >= rd->at)
        return; /* not sent yet */
    rd->at = at;
    rd->from = at;
    rd->cause = rx;
    if (entry - rds->first < rds->done - rds->first)
        rds->done = entry;
    if (psn_diff(xqp->resp.answer.psn, psn_add(rd->psn, rd->n_psns - 1)) <= 0)
        resp_absorb_ack(xqp); /* keep an acknowledge of a later request */
}

/* Opcode of the next response, or with @whole of all of them.  A request for the rest of a READ is
 * answered like a new READ, starting with FIRST or ONLY.  A responder without
 * TRAIT_READ_REST_IS_A_READ continues with MIDDLE and LAST.
 */
static uint8_t opcode_of(const struct resp_rd *rd, enum profile profile, bool whole)
{
    static const uint8_t codes[] = {
        [OPP_FIRST] = OP_RC_RDMA_READ_RESPONSE_FIRST,
        [OPP_MIDDLE] = OP_RC_RDMA_READ_RESPONSE_MIDDLE,
        [OPP_LAST] = OP_RC_RDMA_READ_RESPONSE_LAST,
        [OPP_ONLY] = OP_RC_RDMA_READ_RESPONSE_ONLY,
    };

    const uint32_t from = profile_has(profile, TRAIT_READ_REST_IS_A_READ) ? rd->from : 0;

    if (is_atomic(rd))
        return OP_RC_ATOMIC_ACKNOWLEDGE;
    return codes[whole ? OPP_ONLY : wqe_position(rd->at - from, rd->n_psns - from)];
}

/* Refuses a READ whose key became invalid between two responses.  The NAK names the response that
 * cannot be given, or without TRAIT_READ_NAK_NAMES_RESPONSE the PSN of the request.
 */
static void refuse_read(struct xport_qp *xqp, const struct resp_rd *rd, const struct sge *bad,
                        enum rule rule)
{
    const bool names_response = profile_has(xqp->qp.hca->profile, TRAIT_READ_NAK_NAMES_RESPONSE);
    struct resp_verdict d = resp_nak(ACT_NAK_ACCESS, WCS_SUCCESS);

    d.rule = rule;
    xport_trace_key(xqp, bad, rule, ACC_REMOTE_READ);
    resp_refuse(xqp, &d, psn_add(rd->psn, names_response ? rd->at : rd->from), rd->cause);
    resp_forget_rds(xqp);
}

/* Makes the packet in xqp->out, which carries the memory @list.  Returns as xport_fill(). */
static enum rule make(struct xport_qp *xqp, const struct sg_list *list, uint8_t *frame,
                      size_t *ret_bytes, struct sge *reterr_bad)
{
    const struct packet_room room = packet_build_along(&xqp->path, &xqp->out, frame);
    struct sge_cur at = {0, 0};

    *ret_bytes = room.frame_bytes;
    return xport_fill(xqp, frame, &room, list, &at, reterr_bad);
}

/* As make(), for all responses of a request at once, which travel whole. */
static enum rule name_whole(struct xport_qp *xqp, uint32_t n_psns, const struct sg_list *list,
                            size_t *ret_bytes, struct sge *reterr_bad)
{
    struct sge_cur at = {0, 0};
    const enum rule rule = whole_from_list(xqp, n_psns, list, &at, reterr_bad);

    if (xqp->x->whole)
        *ret_bytes = xqp->x->whole->wire_bytes;
    return rule;
}

size_t resp_build_rd(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx)
{
    struct resp_rds *rds = &xqp->resp.rds;
    struct resp_rd *rd = resp_rd_at(rds, rds->done);
    const bool whole = rd->at == 0 && xqp->x->shortcut;
    const uint32_t offset = rd->at * xqp->mtu, left = brings(rd) - offset;
    const uint32_t bytes = left < xqp->mtu || whole ? left : xqp->mtu;
    const struct sge target = {rd->addr + offset, bytes, rd->rkey};
    const struct sg_list list = {&target, key_user_of(&xqp->qp), ACC_REMOTE_READ};
    const ev_id before = trace_because(xport_trace(xqp), rd->cause);
    size_t frame_bytes = 0;
    struct sge bad;
    enum rule rule;

    resp_headers(xqp, opcode_of(rd, xqp->qp.hca->profile, whole), psn_add(rd->psn, rd->at), bytes);
    xqp->out.aeth = (struct aeth){aeth_pack(SYN_ACK, credit_code(xqp)), rd->msn};
    xqp->out.atomic_ack = rd->found;
    rule = whole ? name_whole(xqp, rd->n_psns, &list, &frame_bytes, &bad)
                 : make(xqp, &list, frame, &frame_bytes, &bad);
    if (rule == RULE_NONE) {
        resp_sent(xqp, frame_bytes, ret_tx);
        rd->at += xport_built_pkts(xqp);
        skip_sent(rds);
    } else {
        frame_bytes = 0;
        refuse_read(xqp, rd, &bad, rule);
    }
    trace_because(xport_trace(xqp), before);
    return frame_bytes;
}

/* Returns true if the queued acknowledge covers PSNs at or behind an unsent response. */
static bool ack_is_behind_responses(const struct xport_qp *xqp)
{
    const struct resp_rds *rds = &xqp->resp.rds;
    const struct resp_rd *rd;

    if (rds->done == rds->next)
        return false;
    rd = resp_rd_at(rds, rds->done);
    return psn_diff(xqp->resp.answer.psn, psn_add(rd->psn, rd->at)) >= 0;
}

void resp_forget_rds(struct xport_qp *xqp)
{
    struct resp_rds *rds = &xqp->resp.rds;

    if (ack_is_behind_responses(xqp))
        resp_absorb_ack(xqp); /* answers are sent in order, and those before it will not be sent */
    rds->first = rds->done = rds->answered = rds->next;
}
