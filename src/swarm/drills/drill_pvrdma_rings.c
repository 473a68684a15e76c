/* SPDX-License-Identifier: MIT */
/* The drill of pvrdma: work queues, completions, events, notifications and doorbells.
 *
 * Each step finds its queue pair in RESET and leaves it there.
 */
#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/pvrdma/opcode.h"
#include "swarm/drills/drill_pvrdma.h"

#define OWN_GID (HOSTILE_GIDS - 1) /* entry of the host's own address */
#define QKEY    0x1234u
#define WQE_MAX 256u                /* bytes of the longest slot of a work queue */
#define PAYLOAD 1000u               /* bytes of the longest message */
#define SOURCE  (HOSTILE_PAGES - 1) /* pages of a queue pair's place that its rings never use */
#define SINK    (HOSTILE_PAGES - 2)

static uint64_t slot_at(const struct hostile_directory *p, const struct hostile_ring *r,
                        uint32_t idx)
{
    const uint32_t offset = pv_idx_slot(idx, r->n) * r->slot_bytes;

    return p->page[r->first_page + offset / PV_PAGE_BYTES] + offset % PV_PAGE_BYTES;
}

/* --- Events and notifications ----------------------------------------------------------------- */

/* Takes the next entry of @r, a ring that the device fills, into @out.  Returns false if there is
 * none; the drill does not fail.
 */
static bool take_entry(struct drill *d, const struct hostile_directory *p, struct hostile_ring *r,
                       void *out)
{
    const uint32_t tail = hostile_get32(d, r->state + PV_RING_TAIL);

    if (tail == r->idx || !hostile_get(d, slot_at(p, r, r->idx), out, r->slot_bytes))
        return false;
    r->idx = pv_idx_next(r->idx, r->n);
    return hostile_put32(d, r->state + PV_RING_HEAD, r->idx);
}

bool hostile_event(struct drill *d, uint32_t type, uint32_t info)
{
    struct hostile_driver *s = hostile_of(d);
    struct pv_async_event e = {.type = UINT32_MAX};
    struct pv_raw_async_event raw;

    if (take_entry(d, &s->event_pages, &s->events, &raw))
        pv_async_event_get(&e, &raw);
    s->n_interrupts++;
    return drill_expect(d, e.type == type && e.info == info, "a device reports its events in order",
                        "type %u of %u, and not %u of %u", e.type, e.info, type, info);
}

bool hostile_note(struct drill *d, uint32_t cq)
{
    struct hostile_driver *s = hostile_of(d);
    struct pv_cq_note note = {.cq = UINT32_MAX};
    struct pv_raw_cq_note raw;

    if (take_entry(d, &s->note_pages, &s->notes, &raw))
        pv_cq_note_get(&note, &raw);
    s->n_interrupts++;
    return drill_expect(d, note.cq == cq, "an armed completion queue gives one notification",
                        "of CQ %u, and not %u", note.cq, cq);
}

bool hostile_is_quiet(struct drill *d)
{
    const struct hostile_driver *s = hostile_of(d);
    const uint32_t events = hostile_get32(d, s->events.state + PV_RING_TAIL);
    const uint32_t notes = hostile_get32(d, s->notes.state + PV_RING_TAIL);

    return drill_expect(d, events == s->events.idx && notes == s->notes.idx,
                        "a device reports nothing that has not happened",
                        "events up to %u, and not %u; notifications up to %u, and not %u", events,
                        s->events.idx, notes, s->notes.idx);
}

/* Arms a completion queue, or not. */
static void arm(struct drill *d, uint32_t cq)
{
    struct hostile_object *o = hostile_at(d, HOSTILE_CQ, cq);
    const uint32_t bit = drill_one_in(d, 2) ? PV_UAR_ARM : PV_UAR_ARM_SOL;

    if (drill_one_in(d, 2))
        return;
    hostile_doorbell(d, drill_below(d, 2), PV_UAR_AT_CQ, o->handle | bit);
    if (o->armed != PV_UAR_ARM) /* arming for less takes nothing back */
        o->armed = bit;
}

/* --- Completions ------------------------------------------------------------------------------ */

/* The content that a completion must have. */
struct wanted_cqe {
    uint64_t wr_id;
    uint32_t status, opcode, bytes; /* opcode and bytes count if the status is success */
};

/* Takes a completion of @qp from @cq, which must be @w.  A notification must be there if @cq was
 * armed for it.
 */
static bool completed(struct drill *d, uint32_t cq, const struct hostile_object *qp,
                      const struct wanted_cqe *w)
{
    struct hostile_object *o = hostile_at(d, HOSTILE_CQ, cq);
    struct pv_cqe c = {.wr_id = 0};
    struct pv_raw_cqe raw;

    if (!drill_expect(d, take_entry(d, &o->pages, &o->ring[0], &raw), "each work request completes",
                      "%016" PRIx64 " does not", w->wr_id))
        return false;
    pv_cqe_get(&c, &raw);
    if (!drill_expect(d, c.wr_id == w->wr_id && c.status == w->status && c.qp == qp->handle,
                      "work requests complete in order, with the status that they deserve",
                      "%016" PRIx64 " with %u, and not %016" PRIx64 " with %u", c.wr_id, c.status,
                      w->wr_id, w->status) ||
        !drill_expect(
            d,
            w->status != WCS_SUCCESS || (c.opcode == pv_wc_number(w->opcode) &&
                                         (w->opcode != WC_RECV || c.byte_len == w->bytes)),
            "a completion tells what was completed", "opcode %u, %u bytes", c.opcode, c.byte_len))
        return false;
    if (o->armed == 0 || (o->armed == PV_UAR_ARM_SOL && w->status == WCS_SUCCESS))
        return true;
    o->armed = 0;
    return hostile_note(d, o->handle);
}

static bool nothing_completed(struct drill *d, uint32_t cq)
{
    const struct hostile_object *o = hostile_at(d, HOSTILE_CQ, cq);
    const uint32_t tail = hostile_get32(d, o->ring[0].state + PV_RING_TAIL);

    return drill_expect(d, tail == o->ring[0].idx, "nothing completes that was not posted",
                        "the queue has entries up to %u, and not %u", tail, o->ring[0].idx);
}

/* --- Queue pairs ------------------------------------------------------------------------------ */

/* Modifies @o: @a has the attributes in @mask, and the new state. */
static bool modify(struct drill *d, struct hostile_object *o, struct pv_qp_attr *a, uint32_t state,
                   uint32_t mask)
{
    struct pv_modify_qp m = {.handle = o->handle, .mask = mask | QPA_STATE};
    struct pv_raw_modify_qp raw;
    struct pv_raw_qp_attr attr;
    const struct hostile_command c = {
        .number = PV_CMD_MODIFY_QP, .body = &raw, .bytes = sizeof(raw), .has_effects = true};

    a->state = state;
    pv_qp_attr_put(&attr, a);
    memcpy(m.attr, &attr, sizeof(attr));
    pv_modify_qp_put(&raw, &m);
    if (!hostile_ask(d, &c, NULL, 0) || !drill_settle(d))
        return false;
    o->state = state;
    return true;
}

static bool to_init(struct drill *d, struct hostile_object *o)
{
    struct pv_qp_attr a = {.port = HOSTILE_PORT, .qkey = QKEY, .access = ACC_REMOTE_WRITE};
    const uint32_t mask = o->type == QPT_RC   ? QPA_PORT | QPA_ACCESS_FLAGS
                          : o->type == QPT_UD ? QPA_PORT | QPA_QKEY
                                              : QPA_QKEY;

    return modify(d, o, &a, QPS_INIT, mask | QPA_PKEY_INDEX);
}

/* Moves @o to RESET, and sets the indices of its rings to 0, as a driver does. */
static bool to_reset(struct drill *d, struct hostile_object *o)
{
    struct pv_qp_attr a = {.state = QPS_RESET};

    if (!modify(d, o, &a, QPS_RESET, 0))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        o->ring[i].idx = 0;
        if (!hostile_put32(d, o->ring[i].state + PV_RING_TAIL, 0) ||
            !hostile_put32(d, o->ring[i].state + PV_RING_HEAD, 0))
            return false;
    }
    return true;
}

/* Connects @o with itself, and moves it to RTS. */
static bool connect_itself(struct drill *d, struct hostile_object *o)
{
    const struct hostile_driver *s = hostile_of(d);
    struct pv_ah_attr ah = {
        .sgid_index = OWN_GID, .hop_limit = 64, .flags = 1, .port = HOSTILE_PORT};
    struct pv_qp_attr a = {.path_mtu = MTU_256,
                           .dest_qpn = o->handle,
                           .max_rd_atomic = 1,
                           .max_dest_rd_atomic = 1,
                           .min_rnr_timer = 12,
                           .timeout = 14,
                           .retry_cnt = 7,
                           .rnr_retry = 7};
    struct pv_raw_ah_attr raw;

    memcpy(ah.dgid, s->own_gid, sizeof(ah.dgid));
    memcpy(ah.dmac, s->mac, sizeof(ah.dmac));
    pv_ah_attr_put(&raw, &ah);
    memcpy(a.ah, &raw, sizeof(raw));
    return to_init(d, o) &&
           modify(d, o, &a, QPS_RTR,
                  QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN | QPA_MAX_DEST_RD_ATOMIC |
                      QPA_MIN_RNR_TIMER) &&
           modify(d, o, &a, QPS_RTS,
                  QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_SQ_PSN | QPA_MAX_QP_RD_ATOMIC);
}

/* Finds a queue pair of @type, or makes one.  Returns NULL if there is none. */
static struct hostile_object *qp_of(struct drill *d, uint32_t type)
{
    uint32_t i = hostile_pick(d, HOSTILE_QP);

    if (i == HOSTILE_SLOTS || (type && hostile_at(d, HOSTILE_QP, i)->type != type)) {
        if (!hostile_make_qp(d, type ? type : QPT_UD, &i) || i == HOSTILE_SLOTS)
            return NULL;
    }
    return hostile_at(d, HOSTILE_QP, i);
}

/* --- Posting ---------------------------------------------------------------------------------- */

/* Writes a work request of @n bytes into the next slot of the work queue @w (0: sends). */
static bool put_wqe(struct drill *d, struct hostile_object *o, uint32_t w, const void *wqe,
                    size_t n)
{
    struct hostile_ring *r = &o->ring[w];
    uint8_t slot[WQE_MAX];

    RDL_ASSERT(r->slot_bytes <= sizeof(slot) && n <= r->slot_bytes);
    for (uint32_t i = 0; i < r->slot_bytes; i++) /* what is behind a request does not count */
        slot[i] = (uint8_t)drill_below(d, 256);
    memcpy(slot, wqe, n);
    if (!hostile_put(d, slot_at(&o->pages, r, r->idx), slot, r->slot_bytes))
        return false;
    r->idx = pv_idx_next(r->idx, r->n);
    return hostile_put32(d, r->state + PV_RING_TAIL, r->idx);
}

static bool head_is(struct drill *d, const struct hostile_object *o, uint32_t w, uint32_t want)
{
    const uint32_t have = hostile_get32(d, o->ring[w].state + PV_RING_HEAD);

    return drill_expect(d, have == want, "a device frees the slots of what is over, in order",
                        "its index is %u, and not %u", have, want);
}

/* An index that cannot be that of the driver of @r, of which the device has taken @taken entries
 * and ended them all: too far from it, or none at all.
 */
static uint32_t wrong_index(struct drill *d, const struct hostile_ring *r, uint32_t taken)
{
    if (r->n > 1 && drill_one_in(d, 2))
        return (taken + r->n + 1 + drill_below(d, r->n - 1)) & (2 * r->n - 1);
    return 2 * r->n << drill_below(d, 20);
}

/* --- Flushed work ----------------------------------------------------------------------------- */

/* Posts @n requests to the work queue @w of @o.  Their numbers are @first and those behind it. */
static bool post_many(struct drill *d, struct hostile_object *o, uint32_t w, uint32_t n,
                      uint64_t first)
{
    for (uint32_t i = 0; i < n; i++) {
        struct pv_rq_wqe recv = {.wr_id = first + i, .num_sge = (uint32_t)prng_next(&d->rng)};
        struct pv_sq_wqe send = {.wr_id = first + i, .num_sge = (uint32_t)prng_next(&d->rng)};
        struct pv_raw_rq_wqe raw_recv;
        struct pv_raw_sq_wqe raw_send;

        send.opcode = (uint32_t)prng_next(&d->rng);
        pv_rq_wqe_put(&raw_recv, &recv);
        pv_sq_wqe_put(&raw_send, &send);
        if (!(w ? put_wqe(d, o, 1, &raw_recv, sizeof(raw_recv))
                : put_wqe(d, o, 0, &raw_send, sizeof(raw_send))))
            return false;
    }
    return true;
}

/* Posts requests to the work queue @w of @o, which is in ERR or goes there, and finds them flushed.
 * If @lie, the driver's index is wrong: nothing is flushed, and the queue is broken.
 */
static bool flush(struct drill *d, struct hostile_object *o, uint32_t w, bool lie)
{
    const uint32_t cq = w ? o->of[HOSTILE_CQ] : o->send_cq,
                   room = hostile_at(d, HOSTILE_CQ, cq)->ring[0].n;
    const uint32_t most = o->ring[w].n < room ? o->ring[w].n : room;
    const uint32_t n = drill_below(d, most + 1), before = o->ring[w].idx;
    const uint64_t first = prng_next(&d->rng);
    struct pv_qp_attr to_err = {.state = QPS_ERR};

    arm(d, cq);
    if (!post_many(d, o, w, n, first))
        return false;
    if (lie &&
        !hostile_put32(d, o->ring[w].state + PV_RING_TAIL, wrong_index(d, &o->ring[w], before)))
        return false;
    if (o->state == QPS_INIT && !modify(d, o, &to_err, QPS_ERR, 0))
        return false;
    hostile_doorbell(d, 0, PV_UAR_AT_QP,
                     o->handle | (drill_one_in(d, 2) ? PV_UAR_SEND | PV_UAR_RECV
                                  : w                ? PV_UAR_RECV
                                                     : PV_UAR_SEND));
    if (!drill_settle(d))
        return false;
    for (uint32_t i = 0; i < n && !lie; i++) {
        const struct wanted_cqe want = {.wr_id = first + i, .status = WCS_WR_FLUSH_ERR};

        if (!completed(d, cq, o, &want))
            return false;
    }
    return nothing_completed(d, cq) && head_is(d, o, w, lie ? before : o->ring[w].idx);
}

void hostile_step_flush(struct drill *d)
{
    struct hostile_object *o = qp_of(d, 0);
    const bool lie = drill_one_in(d, HOSTILE_LIES);

    if (!o || !to_init(d, o) || !flush(d, o, 1, false))
        return;
    for (uint32_t i = 0; i < 3; i++) {
        if (!flush(d, o, drill_below(d, 2), false))
            return;
    }
    if (lie && !flush(d, o, drill_below(d, 2), true))
        return;
    (void)to_reset(d, o);
}

/* --- Sends to itself -------------------------------------------------------------------------- */

/* Binds the host's own address. */
static bool bind_own(struct drill *d)
{
    struct hostile_driver *s = hostile_of(d);
    struct pv_create_bind r = {.index = OWN_GID, .type = hostile_gid_type(s)};

    memcpy(r.gid, s->own_gid, sizeof(r.gid));
    memcpy(s->gid[OWN_GID].raw, s->own_gid, sizeof(s->own_gid));
    s->gid[OWN_GID].is_set = true;
    return hostile_ask_create_bind(d, PV_CMD_CREATE_BIND, &r, REF_NONE, NULL, 0);
}

/* Finds the key of a region of all of memory in the domain of @o.  Returns 0 if there is none. */
static uint32_t key_for(struct drill *d, const struct hostile_object *o)
{
    for (uint32_t i = 0; i < HOSTILE_SLOTS; i++) {
        const struct hostile_object *mr = hostile_at(d, HOSTILE_MR, i);

        if (mr->handle != HOSTILE_NOTHING && mr->is_dma && mr->of[HOSTILE_PD] == o->of[HOSTILE_PD])
            return mr->lkey;
    }
    return 0;
}

/* A message of a queue pair to itself. */
struct self_send {
    uint32_t lkey, bytes; /* lkey 0: it has no bytes */
    uint64_t send_id, recv_id;
    uint32_t status; /* of the send; FATAL_ERR: the ring is broken, and nothing completes */
};

static void put_sge(uint8_t *out, uint64_t addr, uint32_t bytes, uint32_t lkey)
{
    const struct pv_sge s = {.addr = addr, .length = bytes, .lkey = lkey};
    struct pv_raw_sge raw;

    pv_sge_put(&raw, &s);
    memcpy(out, &raw, sizeof(raw));
}

static bool post_receive(struct drill *d, struct hostile_object *o, const struct self_send *m)
{
    const struct pv_rq_wqe w = {.wr_id = m->recv_id, .num_sge = m->lkey ? 1 : 0};
    uint8_t wqe[sizeof(struct pv_raw_rq_wqe) + sizeof(struct pv_raw_sge)];
    struct pv_raw_rq_wqe raw;

    pv_rq_wqe_put(&raw, &w);
    memcpy(wqe, &raw, sizeof(raw));
    put_sge(wqe + sizeof(raw), o->pages.page[SINK], PAYLOAD, m->lkey);
    return put_wqe(d, o, 1, wqe, m->lkey ? sizeof(wqe) : sizeof(raw));
}

/* Posts the send of @m with a lie of its own, or none, and sets m->status. */
static bool post_send(struct drill *d, struct hostile_object *o, struct self_send *m)
{
    static const uint32_t unknown[] = {7, 12, 13, 14, 15, 0x80, UINT32_MAX};
    struct pv_sq_wqe w = {.wr_id = m->send_id,
                          .num_sge = m->lkey ? 1 : 0,
                          .total_len = (uint32_t)prng_next(&d->rng), /* nobody reads it */
                          .opcode = pv_send_number(WR_SEND),
                          .send_flags = SF_SIGNALED};
    uint8_t wqe[sizeof(struct pv_raw_sq_wqe) + sizeof(struct pv_raw_sge)];
    const uint32_t lie = drill_one_in(d, 2) ? 0 : 1 + drill_below(d, 5);
    uint32_t lkey = m->lkey;
    struct pv_raw_sq_wqe raw;

    m->status = lie ? WCS_LOC_QP_OP_ERR : WCS_SUCCESS;
    if (lie == 1) {
        w.opcode = unknown[drill_below(d, ARRAY_LEN(unknown))];
    } else if (lie == 2) {
        w.num_sge = o->max_send_sge + 1 + drill_below(d, UINT32_MAX - o->max_send_sge);
        w.send_flags |= drill_one_in(d, 2) ? SF_INLINE : 0;
    } else if (lie == 3 && m->lkey && m->bytes) {
        lkey ^= 1u << drill_below(d, 8); /* the index is right, the key is not */
        m->status = WCS_LOC_PROT_ERR;
    } else if (lie == 4 && m->bytes) {
        w.send_flags |= SF_INLINE;
        m->status = WCS_LOC_LEN_ERR;
    } else if (lie == 5) {
        m->status = WCS_FATAL_ERR;
    } else if (lie) {
        m->status = WCS_SUCCESS;
    }
    pv_sq_wqe_put(&raw, &w);
    memcpy(wqe, &raw, sizeof(raw));
    put_sge(wqe + sizeof(raw), o->pages.page[SOURCE], m->bytes, lkey);
    return put_wqe(d, o, 0, wqe, m->lkey ? sizeof(wqe) : sizeof(raw)) &&
           (lie != 5 ||
            hostile_put32(d, o->ring[0].state + PV_RING_TAIL, wrong_index(d, &o->ring[0], 0)));
}

/* Checks what became of @m. */
static bool message_is_over(struct drill *d, struct hostile_object *o, const struct self_send *m,
                            const uint8_t data[PAYLOAD])
{
    const bool arrives = m->status == WCS_SUCCESS;
    const struct wanted_cqe send = {m->send_id, m->status, WC_SEND, m->bytes};
    const struct wanted_cqe recv = {m->recv_id, arrives ? WCS_SUCCESS : WCS_WR_FLUSH_ERR, WC_RECV,
                                    m->bytes};
    uint8_t have[PAYLOAD];

    if (m->status == WCS_FATAL_ERR) {
        if (!hostile_event(d, ASE_QP_FATAL, o->handle))
            return false;
        o->events++;
    } else if (!arrives && !completed(d, o->send_cq, o, &send)) {
        return false;
    }
    if (!completed(d, o->of[HOSTILE_CQ], o, &recv) ||
        (arrives && !completed(d, o->send_cq, o, &send)))
        return false;
    if (!arrives)
        o->state = QPS_ERR;
    return hostile_get(d, o->pages.page[SINK], have, sizeof(have)) &&
           drill_expect(d, !arrives || memcmp(have, data, m->bytes) == 0,
                        "a message arrives as it was sent", "%u bytes differ", m->bytes) &&
           nothing_completed(d, o->send_cq) && nothing_completed(d, o->of[HOSTILE_CQ]);
}

void hostile_step_send(struct drill *d)
{
    struct hostile_object *o = qp_of(d, QPT_RC);
    struct self_send m = {.send_id = prng_next(&d->rng)};
    uint8_t data[PAYLOAD];
    uint32_t page;

    m.recv_id = prng_next(&d->rng);
    if (!o || !bind_own(d))
        return;
    m.lkey = key_for(d, o);
    m.bytes = m.lkey ? drill_below(d, PAYLOAD + 1) : 0;
    for (uint32_t i = 0; i < PAYLOAD; i++)
        data[i] = (uint8_t)drill_below(d, 256);
    if (!hostile_put(d, o->pages.page[SOURCE], data, sizeof(data)) || !connect_itself(d, o))
        return;
    arm(d, o->send_cq);
    if (drill_one_in(d, 2))
        arm(d, o->of[HOSTILE_CQ]);
    if (!post_receive(d, o, &m) || !post_send(d, o, &m))
        return;
    page = drill_below(d, PV_UAR_PAGES);
    hostile_doorbell(d, page, PV_UAR_AT_QP,
                     o->handle | PV_UAR_SEND | (drill_one_in(d, 2) ? PV_UAR_RECV : 0));
    if (!drill_settle(d) || !message_is_over(d, o, &m, data))
        return;
    (void)to_reset(d, o);
}

/* --- Doorbells -------------------------------------------------------------------------------- */

/* Doorbells of objects that do not exist, without a known bit, or at another offset. */
void hostile_step_doorbell(struct drill *d)
{
    struct hostile_driver *s = hostile_of(d);
    const uint32_t n = 1 + drill_below(d, 8);

    for (uint32_t i = 0; i < n; i++) {
        const bool low = drill_one_in(d, 2);
        const uint32_t at_offset = 4 * drill_below(d, low ? 3 : PV_UAR_BYTES / 4);
        const uint32_t bits = at_offset / 4 > 2 ? drill_below(d, 256) << 24 : 0;
        const uint32_t handle = drill_one_in(d, 2) ? drill_below(d, 8) : PV_UAR_HANDLE;
        /* Handles of objects have no bit that is known; others may have all. */
        const uint32_t all = handle == PV_UAR_HANDLE ? drill_below(d, 256) << 24 : bits;

        hostile_doorbell(d, drill_below(d, PV_UAR_PAGES), at_offset, handle | all);
        s->n_bad++;
        /* At an odd address there is not even a doorbell. */
        hostile_doorbell(d, 0, at_offset + 1 + drill_below(d, 3), handle | all);
    }
    if (drill_settle(d))
        (void)drill_number_is(d, "h1.device.info.uar_bad", s->n_bad,
                              "a doorbell of nothing means nothing, and is counted");
}
