/* SPDX-License-Identifier: MIT */
/* The model of events, and the decision when a world is over. */
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/object.h"
#include "swarm/worlds/model.h"
#include "swarm/worlds/wire_tap.h"

/* --- Completion events ------------------------------------------------------------------------ */

static uint64_t completions_of(struct world_run *r, const struct cq_state *q)
{
    struct rdl_cq_info info = {0};

    world_works(r, rdl_cq_info(r->lab, q->cq, &info), "a CQ can be asked");
    return info.completions;
}

void model_arm(struct world_run *r, struct cq_state *q, bool solicited)
{
    if (q->n_armings == ARMINGS_MAX) {
        q->is_unsure = true;
        return;
    }
    q->arming[q->n_armings++] = (struct arming){completions_of(r, q), solicited};
}

/* A completion between the call and the device's answer may have come before or after the CQ was
 * armed.
 */
void model_armed(struct world_run *r, struct cq_state *q)
{
    if (q->n_armings > 0 && q->arming[q->n_armings - 1].from != completions_of(r, q))
        q->is_unsure = true;
}

void model_group(struct world_run *r, uint16_t end)
{
    (void)r;
    (void)end;
}

/* --- Asynchronous events ---------------------------------------------------------------------- */

static void judge_qp_event(struct world_run *r, struct life *l, uint32_t type)
{
    const struct world_end *e = &r->w->end[l->end];

    switch (type) {
    case ASE_SQ_DRAINED:
        world_expect_end(r, l->drains > 0, l->end, "SQ_DRAINED is told once, to who asked");
        l->drains--;
        break;
    case ASE_QP_LAST_WQE_REACHED:
        world_expect_end(r, e->has_srq && !l->saw_last_wqe && model_may_have_failed(r, l), l->end,
                         "the last shared receive is told of once, after an error");
        l->saw_last_wqe = true;
        break;
    case ASE_QP_FATAL:
    case ASE_QP_REQ_ERR:
    case ASE_QP_ACCESS_ERR:
        world_expect_end(r, model_may_be_in_error(r, l), l->end, "a queue pair fails for a reason");
        break;
    default:
        break;
    }
}

void model_event(struct world_run *r, unsigned host, const struct rdl_async_event *e)
{
    struct life *l;

    switch (e->type) {
    case ASE_SRQ_LIMIT_REACHED:
        world_expect(r, r->host[host].limits > 0, WORLD_NONE, "a limit is told once");
        r->host[host].limits--;
        break;
    case ASE_CQ_ERR:
        for (unsigned i = 0; i < r->w->n_ends; i++) {
            if (r->end[i].small.cq.raw == e->raw) {
                r->end[i].small.is_broken = r->tally.met_broken_cq = true;
                return;
            }
        }
        world_expect(r, false, WORLD_NONE, "a CQ that has room does not fail");
        break;
    case ASE_DEVICE_FATAL:
    case ASE_SRQ_ERR:
        world_expect(r, false, WORLD_NONE, "queues and devices do not fail");
        break;
    default:
        l = e->object == OBJ_QP ? model_life_of(r, host, e->number) : NULL;
        if (l)
            judge_qp_event(r, l, e->type);
        break;
    }
}

void model_say_ack(struct world_run *r, unsigned host, const struct rdl_async_event *e)
{
    const struct life *l = e->object == OBJ_QP ? model_life_of(r, host, e->number) : NULL;

    if (l)
        world_say(r, "ack_async_event h%u.q%u", host + 1, l->end);
    else if (e->object == OBJ_SRQ)
        world_say(r, "ack_async_event h%u.srq", host + 1);
    for (unsigned i = 0; i < r->w->n_ends && e->object == OBJ_CQ; i++) {
        if (r->end[i].small.cq.raw == e->raw)
            world_say(r, "ack_async_event h%u.small%u", host + 1, i);
    }
}

/* --- End of a run ----------------------------------------------------------------------------- */

/* Returns the number of RC messages to the queue pair of @l that it has not received. */
static uint32_t unheard(const struct world_run *r, const struct life *l)
{
    const struct life *peer;
    uint32_t n = 0;

    if (l->peer == WORLD_NONE || !model_is_rc(r, l) || l->is_closed || l->recvs_failed)
        return 0;
    peer = &r->life[l->peer];
    for (uint16_t k = l->heard_pos; k < peer->n_sends; k++)
        n += world_needs_recv(&r->w->item[peer->send[k]]);
    return n;
}

uint32_t model_missing_receives(struct world_run *r, uint16_t end)
{
    const struct world_end *e = &r->w->end[end];
    const struct life *l = world_life(r, end);
    uint32_t need = 0, have;

    if (!e->has_srq) {
        need = unheard(r, l);
        have = (uint32_t)(l->n_recvs - l->n_taken);
        return need > have ? need - have : 0;
    }
    for (uint16_t i = 0; i < r->w->n_ends; i++) {
        const struct world_end *other = &r->w->end[i];

        if (!other->is_absent && other->has_srq && other->host == e->host)
            need += unheard(r, world_life(r, i)) + (other->type != QPT_RC);
    }
    /* An unfinished message of a closed life has consumed a receive. */
    for (uint32_t i = 0; i < r->n_lives; i++) {
        const struct world_end *other = &r->w->end[r->life[i].end];

        need += r->life[i].is_closed && other->has_srq && other->host == e->host;
    }
    have = r->host[e->host].n_shared;
    return need > have ? need - have : 0;
}

/* Returns true if @l may retry without end: its peer has failed, and rxe treats retry_cnt 7 as
 * endless.
 */
static bool waits_for_ever(const struct world_run *r, const struct life *l)
{
    const struct world_end *e = &r->w->end[l->end];

    return model_is_rc(r, l) && model_profile_is_rxe(r, l->end) && e->retry_cnt == 7 &&
           model_may_have_failed(r, &r->life[l->peer]);
}

static bool is_life_over(const struct world_run *r, const struct life *l)
{
    const bool failed = l->sends_failed || l->recvs_failed || l->was_failed;

    if (l->is_closed || world_cq((struct world_run *)r, l->end, true)->is_broken ||
        r->w->end[l->end].is_small || r->w->end[r->w->end[l->end].peer].is_small)
        return true;
    if (failed && !model_has_sqe(r, l) && l->n_taken != l->n_recvs)
        return false;
    if (l->n_settled == l->n_sends)
        return true;
    return !failed && waits_for_ever(r, l);
}

bool model_is_over(struct world_run *r, bool tell)
{
    for (uint16_t i = 0; i < r->w->n_ends; i++) {
        const struct life *l = world_life(r, i);

        if (r->w->end[i].is_absent || is_life_over(r, l))
            continue;
        if (tell)
            world_expect(r, false, l->n_settled < l->n_sends ? l->send[l->n_settled] : WORLD_NONE,
                         "once the faults are over everything completes");
        if (tell && r->wrong_end == WORLD_NONE)
            r->wrong_end = i;
        return false;
    }
    return true;
}

/* --- Final checks ----------------------------------------------------------------------------- */

static void check_delivery(struct world_run *r, const struct life *l)
{
    const struct life *peer;

    if (!model_is_rc(r, l) || l->peer == WORLD_NONE)
        return;
    peer = &r->life[l->peer];
    if (r->w->end[peer->end].is_small)
        return;
    for (uint16_t k = peer->heard_pos; k < l->n_sends; k++) {
        const uint16_t i = l->send[k];

        world_expect(r, !world_needs_recv(&r->w->item[i]) || r->item[i].phase != ITEM_OK, i,
                     "what was sent with success was received");
    }
}

static void check_wakings(struct world_run *r, const struct cq_state *q)
{
    if (q->cq.raw == 0 || q->is_unsure || q->is_broken)
        return;
    world_expect(r,
                 q->events <= q->expected_events && q->expected_events - q->events <= q->may_lose,
                 WORLD_NONE, "a CQ that was armed tells of the next completion, once");
}

void model_end(struct world_run *r)
{
    for (uint32_t i = 0; i < r->n_lives; i++)
        check_delivery(r, &r->life[i]);
    for (unsigned h = 0; h < r->w->n_hosts; h++) {
        for (unsigned i = 0; i < WORLD_CQS; i++)
            check_wakings(r, &r->host[h].cq[i]);
    }
    if (!r->wrong && r->tap)
        wire_tap_end(r->tap);
    if (!r->wrong)
        model_check_atomics(r);
    if (!r->wrong)
        model_check_memory(r);
}
