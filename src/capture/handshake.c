/* SPDX-License-Identifier: MIT */
#include "capture/handshake.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/fnv.h"
#include "emu/facts/enum/cm_answered.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/sidr_status.h"
#include "process/must.h"

#define SLOTS_FIRST 64u
#define LOOK_MAX    64u /* handshakes with the same communication ID that are examined */

/* A communication ID as a message has it; 0 is none. */
struct message_ids {
    uint32_t local, remote;
};

static struct message_ids ids_of(const struct mad *m)
{
    switch (m->head.attr_id) {
    case CM_REQ:
        return (struct message_ids){m->u.req.local_comm_id, 0};
    case CM_MRA:
        return (struct message_ids){m->u.mra.local_comm_id, m->u.mra.remote_comm_id};
    case CM_REJ:
        return (struct message_ids){m->u.rej.local_comm_id, m->u.rej.remote_comm_id};
    case CM_REP:
        return (struct message_ids){m->u.rep.local_comm_id, m->u.rep.remote_comm_id};
    case CM_RTU:
        return (struct message_ids){m->u.rtu.local_comm_id, m->u.rtu.remote_comm_id};
    case CM_DREQ:
        return (struct message_ids){m->u.dreq.local_comm_id, m->u.dreq.remote_comm_id};
    case CM_DREP:
        return (struct message_ids){m->u.drep.local_comm_id, m->u.drep.remote_comm_id};
    case CM_SIDR_REQ:
        return (struct message_ids){m->u.sidr_req.request_id, 0};
    default:
        return (struct message_ids){0, m->u.sidr_rep.request_id};
    }
}

const struct cm_messages *handshake_of(const struct handshake *k, enum cm_message kind)
{
    return &k->of[kind - CM_REQ];
}

/* --- Index ------------------------------------------------------------------------------------ */

static uint32_t slot_of(const struct handshake_index *x, uint32_t host, uint32_t number)
{
    const uint32_t words[] = {host, number};
    uint32_t at = fnv1a(words, sizeof(words)) & (x->n_slots - 1);

    while (x->slots[at].end != HANDSHAKE_NONE &&
           (x->slots[at].host != host || x->slots[at].number != number))
        at = (at + 1) & (x->n_slots - 1);
    return at;
}

static void make_room(struct handshake_index *x)
{
    struct handshake_index old = *x;

    if (2 * (x->n + 1) < x->n_slots)
        return;
    x->n_slots = old.n_slots ? 2 * old.n_slots : SLOTS_FIRST;
    x->slots = must_malloc(x->n_slots * sizeof(x->slots[0]));
    for (uint32_t i = 0; i < x->n_slots; i++)
        x->slots[i].end = HANDSHAKE_NONE;
    for (uint32_t i = 0; i < old.n_slots; i++) {
        if (old.slots[i].end != HANDSHAKE_NONE)
            x->slots[slot_of(x, old.slots[i].host, old.slots[i].number)] = old.slots[i];
    }
    free(old.slots);
}

/* Makes @end the latest one with this number.  Returns the one before it, or HANDSHAKE_NONE. */
static uint32_t put(struct handshake_index *x, uint32_t host, uint32_t number, uint32_t end)
{
    uint32_t at, before;

    make_room(x);
    at = slot_of(x, host, number);
    before = x->slots[at].end;
    x->n += before == HANDSHAKE_NONE;
    x->slots[at].host = host;
    x->slots[at].number = number;
    x->slots[at].end = end;
    return before;
}

static uint32_t get(const struct handshake_index *x, uint32_t host, uint32_t number)
{
    return x->n_slots == 0 ? HANDSHAKE_NONE : x->slots[slot_of(x, host, number)].end;
}

static void set_id(struct handshakes *h, uint32_t at, unsigned side, uint32_t id)
{
    struct handshake *k = &h->v[at];

    if (k->has_id[side] || id == 0)
        return;
    k->has_id[side] = true;
    k->id[side] = id;
    k->chain[side] = put(&h->by_id, k->host[side], id, 2 * at + side);
}

static void set_qpn(struct handshakes *h, uint32_t at, unsigned side, uint32_t qpn)
{
    struct handshake *k = &h->v[at];

    if (k->has_qpn[side])
        return;
    k->has_qpn[side] = true;
    k->qpn[side] = qpn;
    put(&h->by_qpn, k->host[side], qpn, 2 * at + side);
}

/* --- Messages --------------------------------------------------------------------------------- */

void handshakes_add(struct handshakes *h, const struct mad *m, uint32_t seen)
{
    h->messages = must_grow(h->messages, h->n_messages, &h->messages_cap, sizeof(h->messages[0]));
    h->messages[h->n_messages++] = (struct cm_seen){
        .mad = *m,
        .seen = seen,
        .handshake = HANDSHAKE_NONE,
        .next = HANDSHAKE_NONE,
        .before = HANDSHAKE_NONE,
        .answer = HANDSHAKE_NONE,
        .about = HANDSHAKE_NONE,
    };
}

static uint32_t new_handshake(struct handshakes *h, uint32_t active, uint32_t passive)
{
    h->v = must_grow(h->v, h->n, &h->cap, sizeof(h->v[0]));
    h->v[h->n] = (struct handshake){
        .host = {active, passive},
        .chain = {HANDSHAKE_NONE, HANDSHAKE_NONE},
        .flow = {SEEN_NONE, SEEN_NONE},
        .first = HANDSHAKE_NONE,
    };
    return (uint32_t)h->n++;
}

/* Returns true if a REQ or SIDR_REQ that comes again would be @m, the first one of @k. */
static bool is_again(const struct handshakes *h, const struct handshake *k, const struct mad *m)
{
    const struct cm_seen *first = handshake_first(h, k, (enum cm_message)m->head.attr_id);

    if (!first || first->mad.head.tid != m->head.tid)
        return false;
    return m->head.attr_id == CM_SIDR_REQ
               ? first->mad.u.sidr_req.service_id == m->u.sidr_req.service_id
               : first->mad.u.req.local_qpn == m->u.req.local_qpn &&
                     first->mad.u.req.starting_psn == m->u.req.starting_psn;
}

/* Returns true if handshake @k, in which the sender is on @side, may be the one of @m. */
static bool fits(const struct handshakes *h, const struct handshake *k, unsigned side,
                 const struct mad *m)
{
    const struct message_ids ids = ids_of(m);
    const enum cm_message kind = (enum cm_message)m->head.attr_id;
    const bool is_sidr = kind == CM_SIDR_REQ || kind == CM_SIDR_REP;

    if (k->is_sidr != is_sidr)
        return false;
    if (kind == CM_REQ || kind == CM_SIDR_REQ)
        return side == 0 && is_again(h, k, m);
    if (k->has_sides &&
        ((kind == CM_REP || kind == CM_SIDR_REP) ? side != 1 : kind == CM_RTU && side != 0))
        return false;
    return (ids.local == 0 || !k->has_id[side] || k->id[side] == ids.local) &&
           (ids.remote == 0 || !k->has_id[1 - side] || k->id[1 - side] == ids.remote);
}

/* Searches the handshakes in which host @host has @id.  @is_sender: @host is the sender of @m, and
 * @other its receiver.
 */
static uint32_t find_by(const struct handshakes *h, const struct mad *m, uint32_t host,
                        uint32_t other, uint32_t id, bool is_sender)
{
    uint32_t end = id == 0 ? HANDSHAKE_NONE : get(&h->by_id, host, id);

    for (unsigned n = 0; n < LOOK_MAX && end != HANDSHAKE_NONE; n++) {
        const struct handshake *k = &h->v[end / 2];
        const unsigned side = end % 2, sender = is_sender ? side : 1 - side;

        if (k->host[1 - side] == other && fits(h, k, sender, m))
            return 2 * (end / 2) + sender;
        end = k->chain[side];
    }
    return HANDSHAKE_NONE;
}

/* Returns 2 * handshake + side of the sender for @m; HANDSHAKE_NONE: none fits. */
static uint32_t find(const struct handshakes *h, const struct mad *m, uint32_t src, uint32_t dst)
{
    const struct message_ids ids = ids_of(m);
    const uint32_t end = find_by(h, m, src, dst, ids.local, true);

    return end != HANDSHAKE_NONE ? end : find_by(h, m, dst, src, ids.remote, false);
}

static uint32_t begin(struct handshakes *h, const struct mad *m, uint32_t src, uint32_t dst)
{
    const enum cm_message kind = (enum cm_message)m->head.attr_id;
    const bool is_answer = kind == CM_REP || kind == CM_SIDR_REP;
    const uint32_t at = is_answer ? new_handshake(h, dst, src) : new_handshake(h, src, dst);

    h->v[at].is_sidr = kind == CM_SIDR_REQ || kind == CM_SIDR_REP;
    h->v[at].has_sides = is_answer || kind == CM_REQ || kind == CM_RTU || kind == CM_SIDR_REQ;
    return 2 * at + is_answer;
}

/* Notes the numbers that @m tells about the queue pairs. */
static void take_qpns(struct handshakes *h, uint32_t at, unsigned side, const struct mad *m)
{
    switch (m->head.attr_id) {
    case CM_REQ:
        set_qpn(h, at, side, m->u.req.local_qpn);
        break;
    case CM_REP:
        set_qpn(h, at, side, m->u.rep.local_qpn);
        break;
    case CM_SIDR_REP:
        if (m->u.sidr_rep.status == SIDR_SUCCESS) {
            h->v[at].has_qpn[1] = true; /* a service has many peers */
            h->v[at].qpn[1] = m->u.sidr_rep.qpn;
        }
        break;
    default:
        break;
    }
}

/* Returns the message that had answered a message of @kind from @side of @k; HANDSHAKE_NONE: none.
 */
static uint32_t answer_to(const struct handshakes *h, const struct handshake *k,
                          enum cm_message kind, unsigned side)
{
    static const struct {
        uint8_t kind, answer;
    } rows[] = {
        {CM_REQ, CM_REP}, {CM_REQ, CM_REJ},   {CM_REP, CM_RTU},
        {CM_REP, CM_REJ}, {CM_DREQ, CM_DREP}, {CM_SIDR_REQ, CM_SIDR_REP},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct cm_messages *of = handshake_of(k, (enum cm_message)rows[i].answer);

        if (rows[i].kind == kind && of->n > 0 && h->messages[of->last].side != side)
            return of->last;
    }
    return HANDSHAKE_NONE;
}

/* Returns the latest message so far that @m, a MRA or REJ, answers; HANDSHAKE_NONE: none. */
static uint32_t about_of(const struct handshake *k, const struct mad *m)
{
    const uint32_t what = m->head.attr_id == CM_MRA   ? m->u.mra.answered
                          : m->head.attr_id == CM_REJ ? m->u.rej.answered
                                                      : CM_ANSWERED_OTHER;
    const struct cm_messages *of = handshake_of(k, what == CM_ANSWERED_REQ ? CM_REQ : CM_REP);

    return what >= CM_ANSWERED_OTHER || of->n == 0 ? HANDSHAKE_NONE : of->last;
}

/* Returns true if a message of @kind comes although a rejection or the end of the connection came
 * before it.  What is sent again until an answer comes is not late.
 */
static bool is_late(const struct handshake *k, const struct cm_seen *m)
{
    const enum cm_message kind = (enum cm_message)m->mad.head.attr_id;
    const bool is_over = handshake_of(k, CM_REJ)->n > 0 || handshake_of(k, CM_DREQ)->n > 0;

    return is_over && (kind == CM_REP || kind == CM_RTU || kind == CM_MRA) &&
           m->before == HANDSHAKE_NONE;
}

void handshakes_take(struct handshakes *h, uint32_t i, uint32_t src, uint32_t dst)
{
    struct cm_seen *m = &h->messages[i];
    const enum cm_message kind = (enum cm_message)m->mad.head.attr_id;
    const struct message_ids ids = ids_of(&m->mad);
    uint32_t end = find(h, &m->mad, src, dst);
    struct cm_messages *of;
    struct handshake *k;

    if (end == HANDSHAKE_NONE)
        end = begin(h, &m->mad, src, dst);
    m->handshake = end / 2;
    m->side = (uint8_t)(end % 2);
    k = &h->v[m->handshake];
    of = &k->of[kind - CM_REQ];
    set_id(h, m->handshake, m->side, ids.local);
    set_id(h, m->handshake, 1 - m->side, ids.remote);
    take_qpns(h, m->handshake, m->side, &m->mad);
    if (of->n > 0 && h->messages[of->last].side == m->side)
        m->before = of->last;
    m->about = about_of(k, &m->mad);
    m->answer = answer_to(h, k, kind, m->side);
    m->is_late = is_late(k, m);
    if (of->n++ == 0)
        of->first = i;
    of->last = i;
    if (k->first == HANDSHAKE_NONE)
        k->first = i;
    else
        h->messages[k->last].next = i;
    k->last = i;
}

void handshakes_done(struct handshakes *h)
{
    free(h->messages);
    free(h->v);
    free(h->by_id.slots);
    free(h->by_qpn.slots);
    *h = (struct handshakes){0};
}

/* --- Queries ---------------------------------------------------------------------------------- */

/* Returns true if the request was rejected: its queue pair has got no connection. */
static bool was_refused(const struct handshake *k)
{
    return handshake_of(k, CM_REJ)->n > 0 && handshake_of(k, CM_REP)->n == 0;
}

uint32_t handshakes_of_qp(const struct handshakes *h, uint32_t src, uint32_t dst, uint32_t qpn,
                          unsigned *ret_side)
{
    const uint32_t end = get(&h->by_qpn, dst, qpn);

    if (end == HANDSHAKE_NONE || h->v[end / 2].host[1 - end % 2] != src ||
        was_refused(&h->v[end / 2]))
        return HANDSHAKE_NONE;
    *ret_side = 1 - end % 2;
    return end / 2;
}

const struct cm_seen *handshake_first(const struct handshakes *h, const struct handshake *k,
                                      enum cm_message kind)
{
    const struct cm_messages *of = handshake_of(k, kind);

    return of->n > 0 ? &h->messages[of->first] : NULL;
}

enum cm_message handshake_question(const struct handshake *k)
{
    return k->is_sidr ? CM_SIDR_REQ : CM_REQ;
}

bool handshake_service(const struct handshakes *h, const struct handshake *k, uint64_t *ret)
{
    const struct cm_seen *asked = handshake_first(h, k, handshake_question(k));

    if (asked)
        *ret = k->is_sidr ? asked->mad.u.sidr_req.service_id : asked->mad.u.req.service_id;
    return asked != NULL;
}

uint32_t handshake_flow(const struct handshake *k)
{
    return k->flow[0] != SEEN_NONE ? k->flow[0] : k->flow[1];
}

static enum handshake_state sidr_state(const struct handshakes *h, const struct handshake *k)
{
    const struct cm_seen *rep = handshake_first(h, k, CM_SIDR_REP);

    if (!rep)
        return HANDSHAKE_ASKED;
    return rep->mad.u.sidr_rep.status == SIDR_SUCCESS ? HANDSHAKE_RESOLVED : HANDSHAKE_REJECTED;
}

bool handshake_qpn(const struct handshakes *h, const struct handshake *k, unsigned side,
                   uint32_t *ret)
{
    const struct cm_seen *end = handshake_first(h, k, CM_DREQ);

    if (k->has_qpn[side])
        *ret = k->qpn[side];
    else if (end && end->side != side)
        *ret = end->mad.u.dreq.remote_qpn;
    else
        return false;
    return true;
}

enum handshake_state handshake_state(const struct handshakes *h, const struct handshake *k)
{
    const struct cm_messages *end = handshake_of(k, CM_DREQ), *ended = handshake_of(k, CM_DREP);

    if (k->is_sidr)
        return sidr_state(h, k);
    if (handshake_of(k, CM_REJ)->n > 0)
        return HANDSHAKE_REJECTED;
    if (ended->n > 0 && (end->n == 0 || end->last < ended->last))
        return HANDSHAKE_ENDED;
    if (end->n > 0)
        return HANDSHAKE_ENDING;
    if (handshake_of(k, CM_RTU)->n > 0)
        return HANDSHAKE_ESTABLISHED;
    if (handshake_of(k, CM_REP)->n > 0)
        return HANDSHAKE_ACCEPTED;
    return handshake_of(k, CM_REQ)->n > 0 ? HANDSHAKE_ASKED : HANDSHAKE_IN_PART;
}

static const struct {
    const char *name, *text;
} states[] = {
#define HANDSHAKE_STATE(NAME, name, text) [HANDSHAKE_##NAME] = {(name), (text)},
    HANDSHAKE_STATES(HANDSHAKE_STATE)
#undef HANDSHAKE_STATE
};

const char *handshake_state_name(enum handshake_state s)
{
    return states[s].name;
}

const char *handshake_state_text(enum handshake_state s)
{
    return states[s].text;
}

struct agreed handshake_agreed(const struct handshakes *h, const struct handshake *k, unsigned side)
{
    const struct cm_seen *asked = handshake_first(h, k, CM_REQ);
    const struct cm_seen *replied = handshake_first(h, k, CM_REP);
    struct agreed a = {AGREED_UNKNOWN, AGREED_UNKNOWN, AGREED_UNKNOWN, AGREED_UNKNOWN,
                       AGREED_UNKNOWN, AGREED_UNKNOWN, AGREED_UNKNOWN};

    if (asked) {
        const struct cm_req *req = &asked->mad.u.req;

        *(side == 0 ? &a.rq_psn : &a.sq_psn) = req->starting_psn;
        a.retry_cnt = req->retry_count;
        if (mtu_bytes(req->path_mtu) != 0)
            a.mtu_bytes = mtu_bytes(req->path_mtu);
        if (side == 1) {
            a.rnr_retry = req->rnr_retry_count;
            a.timeout = req->ack_timeout;
            a.max_rd_atomic = req->responder_resources;
        }
    }
    if (replied) {
        const struct cm_rep *rep = &replied->mad.u.rep;

        *(side == 0 ? &a.sq_psn : &a.rq_psn) = rep->starting_psn;
        if (side == 0) {
            a.rnr_retry = rep->rnr_retry_count;
            a.max_rd_atomic = rep->responder_resources;
        }
    }
    return a;
}
