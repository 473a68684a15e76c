/* SPDX-License-Identifier: MIT */
#include "capture/handshake_judge.h"

#include <stdlib.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_answered.h"
#include "emu/facts/enum/sidr_status.h"
#include "process/must.h"

struct judging {
    const struct capture_record *r;
    const struct handshakes *all;
    struct found_list *found;
    uint32_t *flows;   /* owned: the flow of each packet */
    uint32_t *arrival; /* owned: for each host, the last packet captured there; SEEN_NONE: none */
};

static uint64_t number_of(const struct judging *j, const struct cm_seen *m)
{
    return j->r->v[m->seen].number;
}

/* Adds a finding about message @m.  It belongs to the connection that the messages make, or else to
 * the flow of the messages.
 */
static void report(const struct judging *j, enum finding finding, const struct cm_seen *m,
                   struct found f)
{
    const struct handshake *k = &j->all->v[m->handshake];

    f.finding = finding;
    f.frame = number_of(j, m);
    f.handshake = m->handshake + 1;
    f.flow = handshake_flow(k) != SEEN_NONE ? handshake_flow(k) : j->flows[m->seen];
    if (f.opcode == 0)
        f.opcode = (uint8_t)m->mad.head.attr_id;
    found_add(j->found, &f);
}

/* Returns true if @m did not come to its host: other packets that came there were captured, also
 * behind it.
 */
static bool has_not_come(const struct judging *j, const struct cm_seen *m)
{
    const uint32_t last = j->arrival[j->all->v[m->handshake].host[1 - m->side]];

    return !m->has_come && last != SEEN_NONE && last > m->seen;
}

/* --- Single messages -------------------------------------------------------------------------- */

/* Returns the number of the frame with the message that the MRA or REJ @m answers; 0: none was
 * captured.
 */
static uint64_t answered_frame(const struct judging *j, const struct cm_seen *m)
{
    return m->about == HANDSHAKE_NONE ? 0 : number_of(j, &j->all->messages[m->about]);
}

static void judge_rejection(const struct judging *j, const struct cm_seen *m)
{
    const struct cm_rej *rej = &m->mad.u.rej;
    const char *text = enum_text(&enum_cm_reason, rej->reason);

    report(j, rej->answered >= CM_ANSWERED_OTHER ? FIND_CM_GIVEN_UP : FIND_CM_REJECTED, m,
           (struct found){
               .opcode = rej->answered == CM_ANSWERED_REP ? CM_REP : CM_REQ,
               .earlier = answered_frame(j, m),
               .value = rej->reason,
               .why = *text ? text : "a reason that is not defined",
           });
}

static void judge_sidr_rep(const struct judging *j, const struct cm_seen *m)
{
    const struct cm_sidr_rep *rep = &m->mad.u.sidr_rep;
    const struct cm_seen *asked = handshake_first(j->all, &j->all->v[m->handshake], CM_SIDR_REQ);
    const char *text = enum_text(&enum_sidr_status, rep->status);

    if (rep->status == SIDR_SUCCESS)
        return;
    report(j, FIND_CM_REJECTED, m,
           (struct found){.opcode = CM_SIDR_REQ,
                          .earlier = asked ? number_of(j, asked) : 0,
                          .value = rep->status,
                          .why = *text ? text : "a status that is not defined"});
}

static void judge_mra(const struct judging *j, const struct cm_seen *m)
{
    const struct cm_mra *mra = &m->mad.u.mra;

    report(j, FIND_CM_DELAYED, m,
           (struct found){.opcode = mra->answered == CM_ANSWERED_REP ? CM_REP : CM_REQ,
                          .earlier = answered_frame(j, m),
                          .time_ns = UINT64_C(4096) << mra->service_timeout});
}

/* Returns true if a MRA was captured between @before and @m: the sender has waited as long as it
 * asked, and asks again.
 */
static bool was_delayed(const struct judging *j, const struct cm_seen *before,
                        const struct cm_seen *m)
{
    for (uint32_t i = before->next; i != HANDSHAKE_NONE && &j->all->messages[i] < m;
         i = j->all->messages[i].next) {
        if (j->all->messages[i].mad.head.attr_id == CM_MRA)
            return true;
    }
    return false;
}

/* A message that is sent until it is answered came again. */
static void judge_again(const struct judging *j, const struct cm_seen *m)
{
    const struct cm_seen *before = &j->all->messages[m->before];
    const uint64_t ns = j->r->v[m->seen].at_ns - j->r->v[before->seen].at_ns;

    if (m->answer != HANDSHAKE_NONE)
        report(
            j, FIND_CM_ANSWER_LOST, m,
            (struct found){.earlier = number_of(j, &j->all->messages[m->answer]), .time_ns = ns});
    else if (!was_delayed(j, before, m))
        report(j, FIND_CM_AGAIN, m, (struct found){.earlier = number_of(j, before), .time_ns = ns});
}

static void judge_message(const struct judging *j, const struct cm_seen *m)
{
    switch (m->mad.head.attr_id) {
    case CM_REJ:
        judge_rejection(j, m);
        break;
    case CM_MRA:
        judge_mra(j, m);
        break;
    case CM_SIDR_REP:
        judge_sidr_rep(j, m);
        break;
    case CM_REQ:
    case CM_REP:
    case CM_DREQ:
    case CM_SIDR_REQ:
        if (m->before != HANDSHAKE_NONE)
            judge_again(j, m);
        break;
    default:
        break;
    }
    if (has_not_come(j, m))
        report(j, FIND_CM_LOST, m, (struct found){.n = 0});
    if (m->is_late)
        report(j, FIND_CM_LATE, m, (struct found){.n = 0});
}

/* --- Whole handshakes ------------------------------------------------------------------------- */

/* Returns what is known about the way of @m, which got no answer. */
static const char *why_unanswered(const struct judging *j, const struct cm_seen *m)
{
    if (handshake_of(&j->all->v[m->handshake], CM_MRA)->n > 0)
        return "only a MRA came, so the program there has not decided";
    if (m->has_come)
        return "the last one came to its host, so nothing there answered";
    if (has_not_come(j, m))
        return "the last one did not come to its host";
    return "the capture does not show whether it came to its host, or whether an answer was lost";
}

/* Nothing answers the messages of @kind.  If there is only one, the capture may end too early. */
static void judge_silence(const struct judging *j, const struct handshake *k, enum cm_message kind)
{
    const struct cm_messages *of = handshake_of(k, kind);
    const struct cm_seen *first = &j->all->messages[of->first];
    const struct cm_seen *last = &j->all->messages[of->last];

    report(j, of->n > 1 ? FIND_CM_NOT_ANSWERED : FIND_CM_OPEN, last,
           (struct found){.n = of->n,
                          .earlier = number_of(j, first),
                          .time_ns = j->r->v[last->seen].at_ns - j->r->v[first->seen].at_ns,
                          .why = why_unanswered(j, last)});
}

/* The REP was not followed by a RTU. */
static void judge_acceptance(const struct judging *j, const struct handshake *k)
{
    const struct cm_messages *of = handshake_of(k, CM_REP);

    if (k->flow[0] == SEEN_NONE)
        judge_silence(j, k, CM_REP);
    else
        report(j, FIND_CM_NO_RTU, &j->all->messages[of->last],
               (struct found){.earlier = j->r->v[j->r->flows[k->flow[0]].first].number});
}

static void judge_handshake(const struct judging *j, const struct handshake *k)
{
    const enum cm_message question = handshake_question(k);

    if (!handshake_first(j->all, k, question))
        report(j, FIND_CM_IN_PART, &j->all->messages[k->first], (struct found){.n = 0});
    switch (handshake_state(j->all, k)) {
    case HANDSHAKE_ASKED:
        if (handshake_of(k, question)->n > 0)
            judge_silence(j, k, question);
        break;
    case HANDSHAKE_ACCEPTED:
        judge_acceptance(j, k);
        break;
    case HANDSHAKE_ENDING:
        if (handshake_of(k, CM_DREP)->n == 0)
            judge_silence(j, k, CM_DREQ);
        break;
    default:
        break;
    }
}

/* --- Traffic ---------------------------------------------------------------------------------- */

static void report_packet(const struct judging *j, enum finding finding, uint32_t flow, uint32_t i,
                          const struct cm_seen *m)
{
    const struct seen *s = &j->r->v[i];

    found_add(j->found, &(struct found){.finding = finding,
                                        .flow = flow,
                                        .frame = s->number,
                                        .psn = s->psn,
                                        .opcode = s->opcode,
                                        .earlier = number_of(j, m)});
}

/* The passive side may send when the RTU or a packet of the active side has come to it. */
static void judge_beginning(const struct judging *j, const struct handshake *k)
{
    const struct cm_seen *rep = handshake_first(j->all, k, CM_REP);
    const struct cm_seen *rtu = handshake_first(j->all, k, CM_RTU);
    uint32_t from = rtu ? rtu->seen : SEEN_NONE, i = j->r->flows[k->flow[1]].first;

    if (k->flow[0] != SEEN_NONE && j->r->flows[k->flow[0]].first < from)
        from = j->r->flows[k->flow[0]].first;
    if (!rep || from == SEEN_NONE)
        return; /* it is not known when it was established */
    while (i != SEEN_NONE && !record_is_request(&j->r->v[i]))
        i = j->r->v[i].next;
    if (i != SEEN_NONE && i < from)
        report_packet(j, FIND_BEFORE_CONNECTION, k->flow[1], i, rep);
}

/* Returns the message with which @side gave up the connection: its own DREQ, DREP or REJ; NULL:
 * none.
 */
static const struct cm_seen *end_of(const struct judging *j, const struct handshake *k,
                                    unsigned side)
{
    static const enum cm_message kinds[] = {CM_DREQ, CM_DREP, CM_REJ};
    const struct cm_seen *end = NULL;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct cm_seen *m = handshake_first(j->all, k, kinds[i]);

        if (m && m->side == side && (!end || m < end))
            end = m;
    }
    return end;
}

/* At its host it is certain that it sent in this order.  A PSN that does not go on belongs to a
 * queue pair that was connected in another way.
 */
static void judge_end(const struct judging *j, const struct handshake *k, unsigned side)
{
    const struct seen *v = j->r->v;
    const struct cm_seen *end = end_of(j, k, side);
    const uint32_t flow = k->flow[side];
    uint32_t before = SEEN_NONE;

    if (!end)
        return;
    for (uint32_t i = j->r->flows[flow].first; i != SEEN_NONE; i = v[i].next) {
        bool goes_on;

        if (!record_is_request(&v[i]) || !record_counts(&j->r->flows[flow], &v[i]))
            continue;
        if (i < end->seen) {
            before = i;
            continue;
        }
        goes_on = before != SEEN_NONE && v[i].psn == psn_add(seen_psn(&v[before]), 1).v &&
                  v[i].flags & SEEN_SENT && v[end->seen].flags & SEEN_SENT;
        report_packet(j, goes_on ? FIND_SENDS_AFTER_DISCONNECT : FIND_AFTER_DISCONNECT, flow, i,
                      end);
        return;
    }
}

static void judge_traffic(const struct judging *j, const struct handshake *k)
{
    if (k->flow[1] != SEEN_NONE)
        judge_beginning(j, k);
    for (unsigned side = 0; side < 2; side++) {
        if (k->flow[side] != SEEN_NONE)
            judge_end(j, k, side);
    }
}

/* ---------------------------------------------------------------------------------------------- */

void handshakes_judge(const struct capture_record *r, struct found_list *found)
{
    struct judging j = {.r = r, .all = &r->handshakes, .found = found};

    if (j.all->n_cut > 0)
        found_add(found, &(struct found){.finding = FIND_CM_NOT_READ,
                                         .flow = FOUND_NOWHERE,
                                         .frame = r->v[j.all->first_cut].number,
                                         .n = j.all->n_cut});
    if (j.all->n == 0)
        return;
    j.flows = record_flows(r);
    j.arrival = must_malloc((r->n_hosts + (size_t)1) * sizeof(j.arrival[0]));
    for (uint32_t i = 0; i < r->n_hosts; i++)
        j.arrival[i] = SEEN_NONE;
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->v[i].flags & SEEN_CAME)
            j.arrival[r->v[i].dst] = i;
    }
    for (size_t i = 0; i < j.all->n_messages; i++) {
        if (j.all->messages[i].handshake != HANDSHAKE_NONE)
            judge_message(&j, &j.all->messages[i]);
    }
    for (size_t i = 0; i < j.all->n; i++) {
        judge_handshake(&j, &j.all->v[i]);
        judge_traffic(&j, &j.all->v[i]);
    }
    free(j.flows);
    free(j.arrival);
}
