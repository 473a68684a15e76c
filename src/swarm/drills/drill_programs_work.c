/* SPDX-License-Identifier: MIT */
/* The drill of programs: datagrams of a host to itself, completions, and events.
 *
 * Datagrams are empty.  Each is over before the next step.
 */
#include <inttypes.h>
#include <string.h>

#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "swarm/drills/drill_programs.h"

#define GRH        40u
#define NOBODY     0xfffffeu /* a QPN that no queue pair has */
#define LIST       4u        /* most requests posted at a time */
#define BURST      24u
#define QKEY_WRONG 0x5555u

/* --- Completions ------------------------------------------------------------------------------ */

/* The model of a completion in @cq. */
static void complete(struct program_thing *cq, uint64_t wr_id, uint32_t qpn, uint32_t src_qpn,
                     bool is_solicited)
{
    cq->waiting[cq->n_waiting++] =
        (struct program_entry){.wr_id = wr_id, .qpn = qpn, .src_qpn = src_qpn};
    cq->completions++;
    if (cq->arm == 2 || (cq->arm == 1 && is_solicited)) {
        cq->arm = 0;
        cq->woken = true;
    }
}

/* Index of the CQ with number @cqn, or PROGRAMS_NOTHING. */
static uint32_t cq_with(const struct programs *s, uint32_t cqn)
{
    for (uint32_t i = 0; i < PROGRAMS_THINGS; i++) {
        if (s->things[i].kind == OBJ_CQ && s->things[i].number == cqn)
            return i;
    }
    return PROGRAMS_NOTHING;
}

bool programs_hear(struct drill *d)
{
    struct programs *s = programs_of(d);
    uint32_t cqn;

    while (drill_cq_event(d, &s->n_heard, &cqn)) {
        const uint32_t i = cq_with(s, cqn);
        struct program_thing *cq;

        if (i == PROGRAMS_NOTHING) /* it was destroyed in this step */
            continue;
        cq = &s->things[i];
        if (!drill_expect(d, cq->armed, "a CQ raises one event each time it is armed", "%s",
                          cq->name))
            return false;
        cq->armed = cq->again;
        cq->woken = cq->again = false;
        cq->events++;
        if (cq->parts[0] != PROGRAMS_NOTHING) {
            struct program_thing *ch = &s->things[cq->parts[0]];

            ch->cq_events[ch->n_cq_events++] = i;
        }
    }
    for (uint32_t i = 0; i < PROGRAMS_THINGS; i++) {
        struct program_thing *t = &s->things[i];

        if (t->kind == OBJ_CQ && !drill_expect(d, !t->woken || !t->armed || t->unsure,
                                               "an armed CQ raises an event", "%s", t->name))
            return false;
        t->woken = t->again = false;
    }
    return true;
}

/* Ends a part of a step: nothing is under way after it. */
static bool rest(struct drill *d)
{
    return !d->wrong && drill_settle(d) && programs_hear(d);
}

static bool poll(struct drill *d, struct program_thing *cq, size_t max)
{
    const size_t want = cq->n_waiting < max ? cq->n_waiting : max;
    struct rdl_wc wc[PROGRAMS_WAITING];
    size_t n = 0;

    if (!drill_works(d, rdl_poll_cq(d->lab, (rdl_cq){cq->raw}, max, wc, &n),
                     "a CQ can be polled") ||
        !drill_expect(d, n == want, "what has completed can be polled", "%s: %zu, and not %zu",
                      cq->name, n, want))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct program_entry *e = &cq->waiting[i];
        const bool is_recv = e->src_qpn != 0;

        if (!drill_expect(
                d,
                wc[i].wr_id == e->wr_id && wc[i].qp_num == e->qpn && wc[i].status == WCS_SUCCESS &&
                    wc[i].src_qp == e->src_qpn &&
                    wc[i].opcode == (is_recv ? (uint32_t)WC_RECV : (uint32_t)WC_SEND) &&
                    (!is_recv || (wc[i].byte_len == GRH && wc[i].wc_flags == (uint32_t)WCF_GRH)),
                "completions come in order, once, and from whom they are",
                "%s: wr_id %" PRIu64 " of QPN %u, status %u, and not %" PRIu64 " of %u", cq->name,
                wc[i].wr_id, wc[i].qp_num, wc[i].status, e->wr_id, e->qpn))
            return false;
    }
    cq->n_waiting -= (uint32_t)n;
    memmove(cq->waiting, cq->waiting + n, cq->n_waiting * sizeof(cq->waiting[0]));
    cq->polled += n;
    return true;
}

void programs_poll(struct drill *d)
{
    const uint32_t i = programs_pick(d, OBJ_CQ);

    if (i != PROGRAMS_NOTHING)
        (void)poll(d, &programs_of(d)->things[i],
                   drill_one_in(d, 3) ? PROGRAMS_WAITING : 1 + drill_below(d, 6));
}

static bool arm(struct drill *d, struct program_thing *cq, bool solicited_only)
{
    /* An event of the earlier arming may still come; if it does so before the device has the
     * request, another one follows.
     */
    cq->again = cq->unsure = cq->armed;
    cq->armed = true;
    cq->arm = !solicited_only ? 2 : cq->arm == 0 ? 1 : cq->arm;
    return programs_ends(d, rdl_req_notify_cq(d->lab, (rdl_cq){cq->raw}, solicited_only), RDL_OK, 0,
                         "a CQ can be armed");
}

void programs_arm(struct drill *d)
{
    const uint32_t i = programs_pick(d, OBJ_CQ);

    if (i != PROGRAMS_NOTHING)
        (void)arm(d, &programs_of(d)->things[i], drill_one_in(d, 2));
}

/* --- Receives --------------------------------------------------------------------------------- */

/* Returns the index of a region of @pd that a receive can use, or PROGRAMS_NOTHING. */
static uint32_t pick_memory(const struct programs *s, uint32_t pd)
{
    for (uint32_t i = 0; i < PROGRAMS_THINGS; i++) {
        const struct program_thing *t = &s->things[i];

        if (programs_takes_data(t, pd, GRH))
            return i;
    }
    return PROGRAMS_NOTHING;
}

static enum rdl_status post(struct drill *d, const struct program_thing *t,
                            const struct rdl_recv_wr *wr, size_t n, struct rdl_post_error *err)
{
    return t->kind == OBJ_SRQ ? rdl_post_srq_recv_list(d->lab, (rdl_srq){t->raw}, wr, n, false, err)
                              : rdl_post_recv_list(d->lab, (rdl_qp){t->raw}, wr, n, false, err);
}

/* Posts receives to an SRQ or a queue pair, as many as there is room for, or more. */
void programs_post_recv(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t i = programs_pick(d, drill_one_in(d, 3) ? OBJ_SRQ : OBJ_QP);
    struct program_thing *t = &s->things[i == PROGRAMS_NOTHING ? 0 : i];
    const uint32_t mr = i == PROGRAMS_NOTHING ? i : pick_memory(s, t->parts[0]),
                   n = 1 + drill_below(d, LIST);
    struct rdl_post_error err = {0};
    struct rdl_recv_wr wr[LIST];
    struct rdl_mr_info info;
    struct rdl_sge sge;
    enum rdl_status st, want;
    uint32_t room, posted;

    if (mr == PROGRAMS_NOTHING ||
        !drill_works(d, rdl_mr_info(d->lab, (rdl_mr){s->things[mr].raw}, &info),
                     "a region has keys"))
        return;
    sge = (struct rdl_sge){info.iova, GRH, info.lkey};
    for (uint32_t k = 0; k < n; k++)
        wr[k] = (struct rdl_recv_wr){.wr_id = s->wr_id + 1 + k, .sge = &sge, .n_sge = 1};
    if (t->n_waiting + LIST > PROGRAMS_WAITING)
        return;
    room = t->size - t->n_waiting;
    want = room < n ? RDL_ERR_QUEUE_FULL : RDL_OK;
    if (t->recv_sges < 1 || (t->kind == OBJ_QP && t->parts[3] != PROGRAMS_NOTHING))
        want = RDL_ERR_INVAL;
    if (t->kind == OBJ_QP && t->attr.state == QPS_RESET)
        want = RDL_ERR_STATE;
    if (t->kind == OBJ_QP && t->attr.state == QPS_ERR)
        return;
    posted = want == RDL_OK ? n : want == RDL_ERR_QUEUE_FULL ? room : 0;
    st = post(d, t, wr, n, &err);
    if (!drill_expect(d, st == want && (st == RDL_OK || err.bad == posted),
                      "receives are posted in order while there is room",
                      "%s: %s at %zu, and not %s at %u", t->name, rdl_status_name(st), err.bad,
                      rdl_status_name(want), posted))
        return;
    for (uint32_t k = 0; k < posted; k++)
        t->waiting[t->n_waiting++] =
            (struct program_entry){.wr_id = wr[k].wr_id, .lkey = info.lkey, .iova = info.iova};
    s->wr_id += n;
}

/* --- Sends ------------------------------------------------------------------------------------ */

/* Returns an address handle of @pd to the host itself, or PROGRAMS_NOTHING. */
static uint32_t own_handle(const struct programs *s, uint32_t pd)
{
    for (uint32_t i = 0; i < PROGRAMS_THINGS; i++) {
        const struct program_thing *t = &s->things[i];

        if (t->kind == OBJ_AH && t->parts[0] == pd &&
            memcmp(t->ah.dgid, s->gid[t->ah.sgid_index], 16) == 0 &&
            memcmp(t->ah.dmac, s->mac, 6) == 0)
            return i;
    }
    return PROGRAMS_NOTHING;
}

/* The queue of receives of queue pair @qp. */
static struct program_thing *receives_of(struct programs *s, struct program_thing *qp)
{
    return qp->parts[3] == PROGRAMS_NOTHING ? qp : &s->things[qp->parts[3]];
}

/* Returns true if the memory of the first receives of @q, at most LIST, is registered. */
static bool memory_is_there(struct drill *d, const struct program_thing *q)
{
    const struct programs *s = programs_of(d);

    for (uint32_t k = 0; k < q->n_waiting && k < LIST; k++) {
        bool found = false;

        for (uint32_t i = 0; i < PROGRAMS_THINGS; i++) {
            struct rdl_mr_info info;

            found |= programs_takes_data(&s->things[i], q->parts[0], GRH) &&
                     rdl_mr_info(d->lab, (rdl_mr){s->things[i].raw}, &info) == RDL_OK &&
                     info.lkey == q->waiting[k].lkey && info.iova == q->waiting[k].iova;
        }
        if (!found)
            return false;
    }
    return true;
}

struct program_shot {
    uint32_t n, flags, qkey, qpn;
    struct program_thing *from, *to; /* @to NULL: nobody */
};

static bool takes_datagrams(const struct program_thing *t)
{
    return t->kind == OBJ_QP && t->type == QPT_UD &&
           (t->attr.state == QPS_RTS || t->attr.state == QPS_SQD);
}

/* Returns the most completions that may be in @cq. */
static uint32_t most_waiting(const struct program_thing *cq)
{
    return cq->size < PROGRAMS_WAITING ? cq->size : PROGRAMS_WAITING;
}

/* Draws who gets the datagrams of @shot, and how many there are. */
static void draw_target(struct drill *d, struct program_shot *shot)
{
    struct programs *s = programs_of(d);
    struct program_thing *t = &s->things[drill_below(d, PROGRAMS_THINGS)];
    const struct program_thing *scq = &s->things[shot->from->parts[1]];
    const struct program_thing *rcq;

    shot->n = 1 + drill_below(d, LIST);
    shot->qpn = NOBODY;
    for (uint32_t i = 0; i < 20 && !takes_datagrams(t); i++)
        t = &s->things[drill_below(d, PROGRAMS_THINGS)];
    if (!takes_datagrams(t) || !memory_is_there(d, receives_of(s, t)))
        return;
    rcq = &s->things[t->parts[2]];
    if (rcq == scq) /* the order is known of one only */
        shot->n = 1;
    if (rcq->n_waiting + 2 * LIST > most_waiting(rcq))
        return;
    shot->to = t;
    shot->qpn = t->number;
    shot->qkey = t->attr.qkey;
}

/* The model of one datagram that arrives. */
static void arrive(struct drill *d, const struct program_shot *shot)
{
    struct programs *s = programs_of(d);
    struct program_thing *t = shot->to, *q = receives_of(s, t);
    const bool is_other = s->pkeys[t->attr.pkey_index] != s->pkeys[shot->from->attr.pkey_index];

    if (is_other || shot->qkey != t->attr.qkey || q->n_waiting == 0)
        return;
    complete(&s->things[t->parts[2]], q->waiting[0].wr_id, t->number, shot->from->number,
             shot->flags & SF_SOLICITED);
    q->n_waiting--;
    memmove(q->waiting, q->waiting + 1, q->n_waiting * sizeof(q->waiting[0]));
    if (q->kind == OBJ_SRQ && q->n_waiting < q->limit) {
        q->limit = 0;
        q->n_async += s->has_events;
    }
}

/* Posts the datagrams, and waits until they have arrived. */
static bool shoot(struct drill *d, const struct program_shot *shot, uint32_t ah)
{
    struct programs *s = programs_of(d);
    struct program_thing *scq = &s->things[shot->from->parts[1]];
    const bool is_sqd = shot->from->attr.state == QPS_SQD;
    const uint32_t room = shot->from->max_sends, n = shot->n < room ? shot->n : room;
    const enum rdl_status want = n < shot->n ? RDL_ERR_QUEUE_FULL : RDL_OK;
    struct rdl_send_wr wr[LIST];
    struct rdl_post_error err = {0};
    enum rdl_status st;

    if (is_sqd)
        return true;
    for (uint32_t i = 0; i < shot->n; i++)
        wr[i] = (struct rdl_send_wr){.wr_id = ++s->wr_id,
                                     .opcode = WR_SEND,
                                     .flags = shot->flags,
                                     .ud = {.ah.raw = s->things[ah].raw,
                                            .remote_qpn = shot->qpn,
                                            .remote_qkey = shot->qkey}};
    st = rdl_post_send_list(d->lab, (rdl_qp){shot->from->raw}, wr, shot->n, false, &err);
    if (!drill_expect(d, st == want && (st == RDL_OK || err.bad == n),
                      "datagrams are posted in order while there is room",
                      "%s: %s at %zu of %u, room for %u", shot->from->name, rdl_status_name(st),
                      err.bad, shot->n, room))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (shot->from->all_signaled || (shot->flags & SF_SIGNALED))
            complete(scq, wr[i].wr_id, shot->from->number, 0, false);
        if (shot->to)
            arrive(d, shot);
    }
    return rest(d);
}

/* Draws who sends, and how.  *@ret_ah: its address handle.  Returns false if nobody can. */
static bool draw_shot(struct drill *d, struct program_shot *shot, uint32_t *ret_ah)
{
    struct programs *s = programs_of(d);
    uint32_t i = programs_pick(d, OBJ_QP);

    for (uint32_t k = 0; k < 10 && i != PROGRAMS_NOTHING; k++) {
        if (s->things[i].type == QPT_UD && s->things[i].attr.state == QPS_RTS)
            break;
        i = programs_pick(d, OBJ_QP);
    }
    if (i == PROGRAMS_NOTHING || s->things[i].type != QPT_UD || s->things[i].attr.state != QPS_RTS)
        return false;
    *ret_ah = own_handle(s, s->things[i].parts[0]);
    *shot = (struct program_shot){.from = &s->things[i],
                                  .flags = (drill_one_in(d, 3) ? 0 : (uint32_t)SF_SIGNALED) |
                                           (drill_one_in(d, 3) ? (uint32_t)SF_SOLICITED : 0)};
    return *ret_ah != PROGRAMS_NOTHING;
}

void programs_send(struct drill *d)
{
    struct programs *s = programs_of(d);
    struct program_thing *scq;
    struct program_shot shot;
    uint32_t ah;

    if (!draw_shot(d, &shot, &ah))
        return;
    scq = &s->things[shot.from->parts[1]];
    draw_target(d, &shot);
    if (shot.to && drill_one_in(d, 8))
        shot.qkey = QKEY_WRONG;
    if (scq->n_waiting + 2 * LIST <= most_waiting(scq))
        (void)shoot(d, &shot, ah);
}

/* Many completion events of one CQ, of which the program takes few. */
void programs_burst(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t n = drill_below(d, BURST);
    struct program_thing *scq;
    struct program_shot shot;
    uint32_t ah;

    if (!draw_shot(d, &shot, &ah))
        return;
    shot.n = 1;
    shot.flags |= (uint32_t)SF_SIGNALED;
    shot.qpn = NOBODY;
    scq = &s->things[shot.from->parts[1]];
    if (scq->parts[0] != PROGRAMS_NOTHING && s->things[scq->parts[0]].n_cq_events > 100)
        return;
    for (uint32_t i = 0; i < n && !d->wrong; i++) {
        if (!poll(d, scq, PROGRAMS_WAITING) || !arm(d, scq, false) || !rest(d))
            return;
        if (!shoot(d, &shot, ah))
            return;
    }
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Takes some events of a channel. */
static bool take_channel(struct drill *d, struct program_thing *ch)
{
    struct programs *s = programs_of(d);
    const uint32_t n = drill_below(d, ch->n_cq_events + 2);
    rdl_cq cq;

    for (uint32_t i = 0; i < n; i++) {
        const bool is_there = ch->n_cq_events > 0;
        size_t got = 0;

        if (!drill_works(d, rdl_get_cq_event(d->lab, (rdl_channel){ch->raw}, &cq, &got),
                         "a channel can be asked") ||
            !drill_expect(
                d, got == is_there && (got == 0 || cq.raw == s->things[ch->cq_events[0]].raw),
                "a channel gives its events in order", "%s: %zu of %u, event %u", ch->name, got,
                ch->n_cq_events, i))
            return false;
        if (!is_there)
            return true;
        s->things[ch->cq_events[0]].unacked++;
        ch->n_cq_events--;
        memmove(ch->cq_events, ch->cq_events + 1, ch->n_cq_events * sizeof(ch->cq_events[0]));
    }
    return true;
}

/* Takes all asynchronous events.  Those of objects are of SRQs and queue pairs that expect one. */
static bool take_async(struct drill *d)
{
    struct programs *s = programs_of(d);
    struct rdl_async_event e;
    size_t n = 1;

    while (drill_works(d, rdl_get_async_event(d->lab, s->host, &e, &n), "events can be taken") &&
           n > 0) {
        uint32_t i = 0;

        if (e.object == OBJ_NONE)
            continue;
        while (i < PROGRAMS_THINGS && !(s->things[i].kind == e.object && s->things[i].raw == e.raw))
            i++;
        if (!drill_expect(d,
                          i < PROGRAMS_THINGS && s->things[i].number == e.number &&
                              s->things[i].n_async > 0 &&
                              e.type == (e.object == OBJ_SRQ ? (uint32_t)ASE_SRQ_LIMIT_REACHED
                                                             : (uint32_t)ASE_SQ_DRAINED),
                          "each event is of an object to which it has happened",
                          "type %u of number %u", e.type, e.number))
            return false;
        s->things[i].n_async--;
        s->things[i].async_unacked++;
    }
    for (uint32_t i = 0; i < PROGRAMS_THINGS; i++) {
        const struct program_thing *t = &s->things[i];

        if (t->kind != OBJ_NONE &&
            !drill_expect(d, t->n_async == 0, "what happens to an object is told", "%s", t->name))
            return false;
    }
    return !d->wrong;
}

void programs_take_events(struct drill *d)
{
    const uint32_t ch = programs_pick(d, OBJ_CHANNEL);

    if (drill_one_in(d, 3))
        (void)take_async(d);
    else if (ch != PROGRAMS_NOTHING)
        (void)take_channel(d, &programs_of(d)->things[ch]);
}

static void ack_cq(struct drill *d, struct program_thing *cq)
{
    const uint32_t n = drill_one_in(d, 2) ? cq->unacked : drill_below(d, cq->unacked + 2);
    const enum rdl_status st = rdl_ack_cq_events(d->lab, (rdl_cq){cq->raw}, n);
    const enum rdl_status want = n > cq->unacked ? RDL_ERR_STATE : RDL_OK;

    if (drill_expect(d, st == want, "as many events are acknowledged as were taken",
                     "%s: %u of %u: %s", cq->name, n, cq->unacked, rdl_status_name(st)) &&
        st == RDL_OK)
        cq->unacked -= n;
}

void programs_ack(struct drill *d)
{
    struct programs *s = programs_of(d);

    for (uint32_t i = 0; i < PROGRAMS_THINGS && !d->wrong; i++) {
        struct program_thing *t = &s->things[i];
        const struct rdl_async_event e = {.object = t->kind, .raw = t->raw, .number = t->number};
        enum rdl_status st;

        if (t->kind == OBJ_CQ)
            ack_cq(d, t);
        if (t->kind != OBJ_SRQ && t->kind != OBJ_QP)
            continue;
        st = rdl_ack_async_event(d->lab, &e);
        if (drill_expect(d, st == (t->async_unacked > 0 ? RDL_OK : RDL_ERR_STATE),
                         "an event is acknowledged once", "%s: %s", t->name, rdl_status_name(st)) &&
            st == RDL_OK)
            t->async_unacked--;
    }
}

void programs_link(struct drill *d)
{
    struct programs *s = programs_of(d);

    s->is_up = s->is_up ? !drill_one_in(d, 2) : true;
    (void)drill_works(d, rdl_link_raise(d->lab, s->link, s->is_up), "a link goes up and down");
}
