/* SPDX-License-Identifier: MIT */
/* The model: lives, posting, and the assignment of completions. */
#include "swarm/worlds/model.h"

#include <string.h>

#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "swarm/worlds/wire_tap.h"

#define SENDS_AT_ONCE 32u
#define RECVS_AT_ONCE 60u

bool model_uses_changing_key(const struct world_run *r, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    const struct item_state *s = &r->item[i];

    return (world_is_write(t) || world_fetches(t)) && !world_is_remote_mistake(s->mistake) &&
           (s->key == KEY_ANEW || s->key >= KEY_FAST);
}

/* --- Posting ---------------------------------------------------------------------------------- */

bool model_has_room(struct world_run *r, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    const struct world_end *e = &r->w->end[t->end];
    const struct life *l = world_life(r, t->end);

    if (l->is_closed || world_cq(r, t->end, true)->is_broken)
        return false;
    if (t->is_recv && e->has_srq)
        return r->host[e->host].n_shared < WORLD_SRQ_DEPTH;
    if (t->is_recv)
        return l->n_recvs < LIFE_RECVS && (uint32_t)(l->n_recvs - l->n_taken) < RECVS_AT_ONCE;
    return l->n_sends < LIFE_SENDS && (uint32_t)(l->n_sends - l->n_settled) < SENDS_AT_ONCE;
}

void model_posted(struct world_run *r, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    struct item_state *s = &r->item[i];
    struct life *l = world_life(r, t->end);

    s->phase = ITEM_POSTED;
    s->life = r->end[t->end].life;
    if (t->is_recv && r->w->end[t->end].has_srq) {
        r->host[r->w->end[t->end].host].n_shared++;
        return;
    }
    if (t->is_recv) {
        s->pos = l->n_recvs;
        l->recv[l->n_recvs++] = i;
        return;
    }
    s->pos = l->n_sends;
    l->send[l->n_sends++] = i;
    r->tally.opcodes[s->opcode % WORLD_OPCODES]++;
    if (world_is_local(t) || s->opcode == WR_SEND_WITH_INV) {
        struct key_story *k = world_key_of(r, t->key, world_is_local(t) ? t->end : t->to);

        k->is_valid = false;
        k->is_changing = true;
    } else if (model_uses_changing_key(r, i)) {
        world_key_of(r, s->key, t->to)->users++;
    }
}

void model_release_key(struct world_run *r, uint16_t i, bool ok)
{
    const struct world_item *t = &r->w->item[i];
    const struct item_state *s = &r->item[i];
    struct key_story *k;

    if (t->is_recv)
        return;
    if (world_is_local(t) || s->opcode == WR_SEND_WITH_INV) {
        k = world_key_of(r, t->key, world_is_local(t) ? t->end : t->to);
        k->is_changing = false;
        k->is_valid = ok && (s->opcode == WR_BIND_MW || s->opcode == WR_REG_MR);
        k->is_broken = k->is_broken || !ok;
        if (ok && !k->is_valid)
            k->stale = k->rkey;
    } else if (model_uses_changing_key(r, i)) {
        k = world_key_of(r, s->key, t->to);
        if (k->users > 0)
            k->users--;
    }
}

/* --- Lives ------------------------------------------------------------------------------------ */

void model_close(struct world_run *r, uint16_t end)
{
    struct life *l = world_life(r, end);

    l->is_closed = true;
    for (uint16_t k = l->n_settled; k < l->n_sends; k++) {
        const uint16_t i = l->send[k];

        if (r->item[i].phase == ITEM_POSTED) {
            r->item[i].phase = ITEM_GONE;
            model_release_key(r, i, false);
        }
    }
    for (uint16_t k = l->n_taken; k < l->n_recvs; k++) {
        if (r->item[l->recv[k]].phase == ITEM_POSTED)
            r->item[l->recv[k]].phase = ITEM_GONE;
    }
}

struct life *model_life_of(struct world_run *r, unsigned host, uint32_t qpn)
{
    for (uint32_t i = r->n_lives; i-- > 0;) {
        if (r->life[i].qpn == qpn && r->w->end[r->life[i].end].host == host)
            return &r->life[i];
    }
    return NULL;
}

/* Returns the life that completion @wc of item @i belongs to. */
static struct life *life_of_completion(struct world_run *r, unsigned host, uint16_t i,
                                       const struct rdl_wc *wc)
{
    const struct world_item *t = &r->w->item[i];

    if (t->is_recv && r->w->end[t->end].has_srq)
        return model_life_of(r, host, wc->qp_num);
    return &r->life[r->item[i].life];
}

/* --- Completions ------------------------------------------------------------------------------ */

static void wake(struct cq_state *q, bool solicited)
{
    uint32_t n = 0;

    while (n < q->n_armings && q->arming[n].from <= q->polled) {
        const uint32_t as = q->arming[n].solicited ? 1 : 2;

        q->armed = as > q->armed ? as : q->armed;
        n++;
    }
    q->n_armings -= n;
    memmove(q->arming, q->arming + n, q->n_armings * sizeof(q->arming[0]));
    if (q->armed == 2 || (q->armed == 1 && solicited)) {
        q->expected_events++;
        q->armed = 0;
    }
    q->polled++;
}

void model_completion(struct world_run *r, unsigned host, struct cq_state *q,
                      const struct rdl_wc *wc)
{
    const uint16_t i = wc->wr_id < r->w->n_items ? (uint16_t)wc->wr_id : 0;
    const struct world_item *t = &r->w->item[i];
    struct item_state *s = &r->item[i];
    bool solicited = wc->status != WCS_SUCCESS;
    struct life *l;

    r->tally.statuses[wc->status % WORLD_STATUSES]++;
    if (!world_expect(r,
                      wc->wr_id < r->w->n_items && r->w->end[t->end].host == host &&
                          (s->phase == ITEM_POSTED || s->phase == ITEM_GONE),
                      i, "what was posted completes, once"))
        return;
    l = life_of_completion(r, host, i, wc);
    if (!world_expect(r, l && l->qpn == wc->qp_num, i, "a completion names its queue pair") || !l ||
        !world_expect(r, q == world_cq(r, l->end, !t->is_recv), i,
                      "what completes does so in its CQ"))
        return;
    if (model_profile_is_rxe_7_3(r, l->end)) /* nothing that fails wakes there */
        solicited = false;
    else if (model_profile_is_rxe(r, l->end)) /* of what fails only flushed receives wake there */
        solicited = t->is_recv && wc->status == WCS_WR_FLUSH_ERR;
    if (t->is_recv)
        model_recv_done(r, l, i, wc, &solicited);
    else
        model_send_done(r, l, i, wc);
    wake(q, solicited);
    if (t->is_recv && t->is_spare)
        s->phase = ITEM_IDLE; /* it can be posted again */
}

bool model_gather(struct world_run *r, uint16_t i, uint32_t skip, uint32_t bytes, uint8_t *out)
{
    const struct world_item *t = &r->w->item[i];
    const struct host_state *h = &r->host[r->w->end[t->end].host];

    for (uint32_t p = 0; p < t->n_pieces && bytes > 0; p++) {
        uint32_t from = skip < t->piece[p].bytes ? skip : t->piece[p].bytes;
        uint32_t n = t->piece[p].bytes - from;

        skip -= from;
        n = n < bytes ? n : bytes;
        if (n > 0 &&
            rdl_mem_read(r->lab, h->host, h->base + t->piece[p].at + from, out, n) != RDL_OK)
            return false;
        out += n;
        bytes -= n;
    }
    return bytes == 0;
}

void model_bytes(const struct world_run *r, uint16_t i, uint8_t *out)
{
    const struct world_item *t = &r->w->item[i];

    world_bytes(r->w, world_is_read(t) && t->again != WORLD_NONE ? t->again : i, out);
}

bool model_is_signaled(const struct world_run *r, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];

    return (t->flags & SF_SIGNALED) || r->w->end[t->end].sig_all;
}

bool model_is_overwritten(const struct world_run *r, uint16_t i)
{
    const struct life *l = &r->life[r->item[i].life];

    for (uint16_t k = (uint16_t)(r->item[i].pos + 1); k < l->n_sends; k++) {
        const struct world_item *t = &r->w->item[l->send[k]];

        if (t->again == i && world_is_write(t))
            return true;
    }
    return false;
}

/* --- Failures --------------------------------------------------------------------------------- */

uint16_t model_recv_of(const struct world_run *r, const struct life *l, uint16_t i)
{
    const struct life *peer;
    uint16_t n = 0;

    if (l->peer == WORLD_NONE || r->w->end[r->w->end[l->end].peer].has_srq)
        return WORLD_NONE;
    peer = &r->life[l->peer];
    for (uint16_t k = 0; k < r->item[i].pos; k++)
        n += world_needs_recv(&r->w->item[l->send[k]]);
    return n < peer->n_recvs ? peer->recv[n] : WORLD_NONE;
}

/* Returns true if a late or repeated READ may meet a changed key.  Where frames are delayed,
 * duplicated or lost, a copy of the READ can arrive after its completion.
 */
static bool may_come_too_late(const struct world_run *r, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    const struct key_story *k;

    if (!r->is_faulty || !world_fetches(t) || !model_uses_changing_key(r, i))
        return false;
    k = world_key_of((struct world_run *)r, r->item[i].key, t->to);
    return k->stale != 0 || !k->is_valid;
}

/* Returns true if the peer of @l has posted a request that makes the queue pair of @l fail. */
static bool may_be_struck(const struct world_run *r, const struct life *l)
{
    const struct life *peer;

    if (l->peer == WORLD_NONE)
        return false;
    peer = &r->life[l->peer];
    for (uint16_t k = 0; k < peer->n_sends; k++) {
        const uint16_t i = peer->send[k];
        const uint16_t recv =
            world_needs_recv(&r->w->item[i]) ? model_recv_of(r, peer, i) : WORLD_NONE;

        if (world_is_remote_mistake(r->item[i].mistake) || may_come_too_late(r, i))
            return true;
        if (recv != WORLD_NONE && r->w->item[recv].mistake != RIGHT)
            return true;
    }
    return false;
}

bool model_may_be_in_error(const struct world_run *r, const struct life *l)
{
    return l->was_failed || l->is_attacked || l->recvs_failed ||
           (l->sends_failed && !model_has_sqe(r, l)) || (model_is_rc(r, l) && may_be_struck(r, l));
}

/* Returns true if @l has an uncompleted request with a mistake. */
static bool has_mistake_under_way(const struct world_run *r, const struct life *l)
{
    for (uint16_t k = l->n_settled; k < l->n_sends; k++) {
        if (r->item[l->send[k]].mistake != RIGHT)
            return true;
    }
    return false;
}

/* Returns true if @l has exhausted its retries.  Without faults this happens, too, if the ACK
 * timeout is shorter than the wait for a slow link.
 */
static bool has_given_up(const struct world_run *r, const struct life *l)
{
    const struct wire_end *wire = r->tap ? &r->tap->end[l - r->life] : NULL;

    return model_is_rc(r, l) && wire && wire->is_told && wire->over_ns > 0 &&
           wire_end_is_exhausted(wire);
}

bool model_may_have_failed(const struct world_run *r, const struct life *l)
{
    const struct life *peer = l->peer == WORLD_NONE ? NULL : &r->life[l->peer];

    if (model_may_be_in_error(r, l) || has_mistake_under_way(r, l) || has_given_up(r, l))
        return true;
    return model_is_rc(r, l) && peer &&
           (r->is_faulty || model_may_be_in_error(r, peer) || has_mistake_under_way(r, peer) ||
            model_profile_is_rxe(r, peer->end) || r->w->end[l->end].rnr_retry < 7 ||
            r->w->end[peer->end].rnr_retry < 7);
}

void model_state(struct world_run *r, uint16_t end, uint32_t state)
{
    struct life *l = world_life(r, end);

    if (l->was_failed)
        world_expect_end(r, state == QPS_ERR, end, "a queue pair stays in ERR");
    else if (state == QPS_ERR)
        world_expect_end(r, model_may_have_failed(r, l), end, "a queue pair fails for a reason");
    else if (state == QPS_SQE)
        world_expect_end(r, model_has_sqe(r, l) && (l->is_sqe || model_may_have_failed(r, l)), end,
                         "a send queue fails for a reason");
    else
        world_expect_end(r, state == (l->is_sqd ? (uint32_t)QPS_SQD : (uint32_t)QPS_RTS), end,
                         "a queue pair is where it was moved to");
}

void model_expect_failure(struct world_run *r, uint16_t end)
{
    const struct life *l = world_life(r, end);
    const bool is_draining = l->is_sqd && l->n_settled < l->sqd_from;

    world_expect_end(r, is_draining || model_may_have_failed(r, l), end,
                     "a queue pair that is drained sends again when it is told to");
}
