/* SPDX-License-Identifier: MIT */
/* The model of completions of requests. */
#include <stdlib.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/wr.h"
#include "swarm/worlds/model.h"
#include "swarm/worlds/wire_tap.h"

static const char right_bytes[] = "what is moved arrives in its place, and nothing else is written";

/* --- Success ---------------------------------------------------------------------------------- */

static bool is_written(struct world_run *r, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    const struct host_state *h = &r->host[r->w->end[t->to].host];
    uint8_t *have = r->have, *want = r->want;

    world_bytes(r->w, i, want);
    return t->bytes == 0 ||
           (rdl_mem_read(r->lab, h->host, h->base + t->remote, have, t->bytes) == RDL_OK &&
            memcmp(have, want, t->bytes) == 0);
}

static bool is_fetched(struct world_run *r, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    uint8_t *have = r->have, *want = r->want;

    if (!model_gather(r, i, 0, t->bytes, have))
        return false;
    if (world_is_atomic(t)) {
        r->item[i].found = ld_le64(have);
        return true;
    }
    model_bytes(r, i, want);
    return memcmp(have, want, t->bytes) == 0;
}

static bool may_succeed(const struct item_state *s)
{
    return s->mistake == RIGHT || s->mistake == QKEY_WRONG || s->mistake == TOO_LONG;
}

static void succeed(struct world_run *r, struct life *l, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    struct item_state *s = &r->item[i];

    if (s->phase == ITEM_POSTED)
        model_release_key(r, i, true);
    s->phase = ITEM_OK;
    world_expect(r, may_succeed(s), i, "a wrong request fails");
    if (!model_is_rc(r, l) || world_is_local(t))
        return;
    if (world_fetches(t))
        world_expect(r, is_fetched(r, i), i, right_bytes);
    else if (world_is_write(t) && !l->is_closed && !model_is_overwritten(r, i))
        world_expect(r, is_written(r, i), i, right_bytes);
}

/* --- Failure ---------------------------------------------------------------------------------- */

/* Returns true if @i fails before it is sent. */
static bool fails_unsent(const struct world_run *r, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    const enum world_mistake m = (enum world_mistake)r->item[i].mistake;

    return !world_fetches(t) &&
           (world_is_local_mistake(m) || (m == BOTH_KEYS && world_is_write(t)));
}

/* Returns true if @i may be flushed because of a request that cannot be sent, itself or a later
 * one. Rxe of Linux 7.3 then flushes all requests that are not complete.
 */
static bool is_flushed_unsent(const struct world_run *r, const struct life *l, uint16_t i)
{
    if (!model_profile_is_rxe_7_3(r, l->end))
        return false;
    for (uint16_t k = r->item[i].pos; k < l->n_sends; k++) {
        if (fails_unsent(r, l->send[k]))
            return true;
    }
    return false;
}

/* Returns the status that the mistake of @i leads to; WCS_SUCCESS: none. */
static uint32_t status_of_mistake(const struct world_run *r, const struct life *l, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    const bool is_rxe = model_profile_is_rxe(r, l->end);
    const uint32_t of_key = is_rxe && !world_fetches(t) ? WCS_LOC_QP_OP_ERR : WCS_LOC_PROT_ERR;

    if (model_profile_is_rxe_7_3(r, l->end) && fails_unsent(r, i))
        return WCS_WR_FLUSH_ERR;
    switch ((enum world_mistake)r->item[i].mistake) {
    case LKEY_UNKNOWN:
    case LKEY_ALIEN:
    case LKEY_READ_ONLY:
        return of_key;
    case LKEY_BEHIND:
    case LKEY_BEFORE:
        return WCS_LOC_PROT_ERR;
    case UNALIGNED:
        return WCS_REM_INV_REQ_ERR;
    case BOTH_KEYS: /* a WRITE checks its local key before the remote one */
        return world_is_write(t) ? of_key : WCS_REM_ACCESS_ERR;
    default:
        return world_is_remote_mistake(r->item[i].mistake) ? WCS_REM_ACCESS_ERR : WCS_SUCCESS;
    }
}

/* Returns the status of @i that its peer's receive causes; WCS_SUCCESS: none. */
static uint32_t status_of_recv(const struct world_run *r, const struct life *l, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    const uint16_t recv =
        world_needs_recv(t) && !world_is_write(t) ? model_recv_of(r, l, i) : WORLD_NONE;

    if (recv == WORLD_NONE || t->bytes == 0)
        return WCS_SUCCESS;
    if (t->bytes > r->w->item[recv].bytes)
        return model_profile_is_rxe(r, r->w->end[l->end].peer) ? WCS_REM_OP_ERR
                                                               : WCS_REM_INV_REQ_ERR;
    return world_is_local_mistake(r->w->item[recv].mistake) ? WCS_REM_OP_ERR : WCS_SUCCESS;
}

static bool peer_may_be_silent(const struct world_run *r, const struct life *l)
{
    const struct life *peer = &r->life[l->peer];

    /* rxe answers twice after an RNR NAK, and the second answer counts as a retry. */
    return r->is_faulty || peer->is_closed || model_may_have_failed(r, peer) ||
           model_profile_is_rxe(r, peer->end);
}

/* Returns true if @i, the first request of its life that fails, may have @status. */
static bool may_fail(const struct world_run *r, const struct life *l, uint16_t i, uint32_t status)
{
    const struct world_end *e = &r->w->end[l->end];
    const struct wire_end *wire = r->tap ? &r->tap->end[l - r->life] : NULL;

    if (status == WCS_WR_FLUSH_ERR)
        return model_may_be_in_error(r, l) || l->is_closed || is_flushed_unsent(r, l, i);
    if (model_is_rc(r, l) && status == WCS_RETRY_EXC_ERR)
        return wire && wire->is_told ? wire_end_is_exhausted(wire) : peer_may_be_silent(r, l);
    if (model_is_rc(r, l) && status == WCS_RNR_RETRY_EXC_ERR)
        return e->rnr_retry < 7 && world_needs_recv(&r->w->item[i]) &&
               (!wire || wire_end_is_rnr_exhausted(wire));
    return status == status_of_mistake(r, l, i) ||
           (model_is_rc(r, l) && status == status_of_recv(r, l, i));
}

static void fail(struct world_run *r, struct life *l, uint16_t i, uint32_t status)
{
    struct item_state *s = &r->item[i];

    /* Packets of a failed request may still be in flight, so the key that they use must not change.
     */
    if (s->phase == ITEM_POSTED && !model_uses_changing_key(r, i))
        model_release_key(r, i, false);
    s->phase = ITEM_FAILED;
    s->status = (uint8_t)status;
    if (l->sends_failed) {
        world_expect(r, status == WCS_WR_FLUSH_ERR, i, "after an error everything is flushed");
        return;
    }
    world_expect(r, may_fail(r, l, i, status), i,
                 "a request fails for a reason, which its status says");
    l->sends_failed = true;
    r->tally.met_err = r->tally.met_err || !model_has_sqe(r, l) || status == WCS_WR_FLUSH_ERR;
    if (model_has_sqe(r, l) && status != WCS_WR_FLUSH_ERR)
        l->is_sqe = r->tally.met_sqe = true;
}

/* --- Order ------------------------------------------------------------------------------------ */

void model_send_done(struct world_run *r, struct life *l, uint16_t i, const struct rdl_wc *wc)
{
    const struct item_state *s = &r->item[i];
    const struct world_item *t = &r->w->item[i];

    if (!world_expect(r, s->pos >= l->n_settled, i, "requests complete in the order of posting"))
        return;
    world_expect(r, !l->sends_failed || s->pos == l->n_settled, i,
                 "after an error everything is flushed, and says so");
    world_expect(r, !l->is_sqd || l->sqd_from > s->pos || wc->status != WCS_SUCCESS, i,
                 "what is posted in SQD waits");
    for (uint16_t k = l->n_settled; k < s->pos; k++) {
        const uint16_t before = l->send[k];

        world_expect(r, !model_is_signaled(r, before), before, "what is signaled says so");
        succeed(r, l, before);
    }
    l->n_settled = (uint16_t)(s->pos + 1);
    if (wc->status != WCS_SUCCESS) {
        fail(r, l, i, wc->status);
        return;
    }
    world_expect(r, !l->sends_failed, i, "nothing succeeds after an error");
    world_expect(r, model_is_signaled(r, i), i, "what is not signaled is silent");
    world_expect(r, wc->opcode == wr_completes_as(s->opcode), i,
                 "a completion names its operation");
    world_expect(r, !world_fetches(t) || wc->byte_len == t->bytes, i,
                 "a READ or an atomic says how much it brought");
    succeed(r, l, i);
}
