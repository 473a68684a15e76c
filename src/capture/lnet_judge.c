/* SPDX-License-Identifier: MIT */
/* Judges the messages of o2iblnd.  A finding is only made where nothing else explains what was
 * captured: cookies are only judged if every packet of the connection so far was.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/lnet.h"
#include "capture/record.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum_table.h"
#include "process/must.h"

#define AGAIN_LOOK 64u /* earlier messages among which the first sending of one is searched */

/* A cookie that a message gives to the other side. */
struct given {
    uint32_t handshake, kind, side; /* kind: enum lnet_msg_type */
    uint64_t cookie;
};

struct lnet_judging {
    const struct capture_record *r;
    struct found_list *found;
    struct given *given; /* owned, sorted */
    size_t n_given;
    uint8_t *whole; /* owned: for each handshake, an enum known */
};

/* Completeness of a connection: WHOLE_YES if each packet was captured, up to the last one that was.
 */
enum known { WHOLE_UNKNOWN, WHOLE_YES, WHOLE_NO };

static const struct seen *packet_of(const struct lnet_judging *j, const struct lnet_seen *m)
{
    return &j->r->v[m->seen];
}

static const struct flow *flow_of(const struct lnet_judging *j, const struct lnet_seen *m)
{
    return m->flow == SEEN_NONE ? NULL : &j->r->flows[m->flow];
}

/* Adds a finding about message @m. */
static void report(const struct lnet_judging *j, enum finding finding, const struct lnet_seen *m,
                   struct found f)
{
    f.finding = finding;
    f.flow = m->flow;
    f.frame = packet_of(j, m)->number;
    f.psn = packet_of(j, m)->psn;
    f.opcode = (uint8_t)m->gist.type;
    found_add(j->found, &f);
}

/* Returns true if the message was captured before: at another place, or because it was sent again.
 */
static bool is_again(const struct lnet_judging *j, const struct lnet_seen *m)
{
    const struct seen *s = packet_of(j, m);
    const struct lnet_seen *first = j->r->lnet.v;

    if (s->flags & SEEN_AGAIN)
        return true;
    for (uint32_t n = 0; n < AGAIN_LOOK && m > first; n++) {
        m--;
        if (j->r->v[m->seen].psn == s->psn && j->r->v[m->seen].src == s->src &&
            j->r->v[m->seen].dst == s->dst && j->r->v[m->seen].dest_qpn == s->dest_qpn)
            return true;
    }
    return false;
}

/* --- Single messages -------------------------------------------------------------------------- */

static void judge_bytes(const struct lnet_judging *j, const struct lnet_seen *m)
{
    if (m->bad == LNET_BAD_CKSUM)
        report(j, FIND_LNET_BAD_CKSUM, m, (struct found){.value = m->cksum});
    else if (m->bad != LNET_GOOD)
        report(j, FIND_LNET_BAD_MESSAGE, m,
               (struct found){.why = enum_text(&enum_lnet_bad, m->bad)});
    else if (m->gist.nob < m->bytes)
        report(j, FIND_LNET_LONGER, m, (struct found){.n = m->bytes, .value = m->gist.nob});
}

/* --- Connections ------------------------------------------------------------------------------ */

/* Returns the message of o2iblnd in the first message of @kind of a handshake.  Returns false if
 * there is none.
 */
static bool told_in(const struct lnet_judging *j, const struct handshake *k, enum cm_message kind,
                    struct lnet_gist *ret)
{
    const struct cm_seen *m = handshake_first(&j->r->handshakes, k, kind);

    return m && lnet_messages_in_mad(&m->mad, ret) && !ret->is_reject;
}

/* Returns the queue depth of a connection; 0: it is not known. */
static uint32_t depth_of(const struct lnet_judging *j, const struct flow *f)
{
    const struct handshake *k = &j->r->handshakes.v[f->handshake];
    struct lnet_gist g;

    return told_in(j, k, CM_REP, &g) || told_in(j, k, CM_REQ, &g) ? g.queue_depth : 0;
}

static void judge_credits(const struct lnet_judging *j, const struct lnet_seen *m,
                          const struct flow *f)
{
    const uint32_t depth = depth_of(j, f);

    if (depth > 0 && m->gist.credits > depth)
        report(j, FIND_LNET_TOO_MANY_CREDITS, m,
               (struct found){.n = m->gist.credits, .value = depth});
}

/* Returns true if each request of flow @f was captured, from the first PSN that the messages of the
 * connection manager agree on.
 */
static bool is_flow_whole(const struct capture_record *r, const struct flow *f)
{
    const uint32_t first = record_agreed(r, f).sq_psn;
    uint32_t n = 0;
    uint8_t *has;

    if (first == AGREED_UNKNOWN)
        return false;
    has = must_malloc(f->n + 1);
    memset(has, 0, f->n + 1);
    for (uint32_t i = f->first; i != SEEN_NONE; i = r->v[i].next) {
        const int32_t at = psn_diff(seen_psn(&r->v[i]), (struct psn){first});

        if (!record_is_request(&r->v[i]))
            continue;
        if (at < 0 || (uint32_t)at >= f->n) /* more PSNs than packets: some are missing */
            n = UINT32_MAX;
        else
            has[at] = 1;
    }
    while (n < f->n && has[n])
        n++;
    for (uint32_t i = n; n != UINT32_MAX && i < f->n; i++)
        n = has[i] ? UINT32_MAX : n;
    free(has);
    return n != UINT32_MAX;
}

/* Returns true if all messages of the connection are known.  collect() has excluded those with a
 * message that was captured in part.
 */
static bool is_whole(const struct lnet_judging *j, uint32_t handshake)
{
    const struct handshake *k = &j->r->handshakes.v[handshake];
    struct lnet_gist g;

    if (!told_in(j, k, CM_REQ, &g) || !told_in(j, k, CM_REP, &g))
        return false;
    for (unsigned side = 0; side < 2; side++) {
        if (k->flow[side] == SEEN_NONE || !is_flow_whole(j->r, &j->r->flows[k->flow[side]]))
            return false;
    }
    return true;
}

static int by_cookie(const void *va, const void *vb)
{
    return memcmp(va, vb, sizeof(struct given));
}

/* Collects the cookies that PUT_REQ, GET_REQ and PUT_ACK give. */
static void collect(struct lnet_judging *j)
{
    const struct lnet_messages *all = &j->r->lnet;

    j->given = must_malloc((all->n + 1) * sizeof(j->given[0]));
    for (size_t i = 0; i < all->n; i++) {
        const struct lnet_seen *m = &all->v[i];
        const struct flow *f = flow_of(j, m);
        struct given *g = &j->given[j->n_given];

        if (f && f->handshake != HANDSHAKE_NONE && !m->is_whole)
            j->whole[f->handshake] = WHOLE_NO;
        if (!f || f->handshake == HANDSHAKE_NONE ||
            (m->gist.type != LNET_MSG_PUT_REQ && m->gist.type != LNET_MSG_GET_REQ &&
             m->gist.type != LNET_MSG_PUT_ACK))
            continue;
        memset(g, 0, sizeof(*g));
        g->handshake = f->handshake;
        g->kind = m->gist.type;
        g->side = f->side;
        g->cookie = m->gist.type == LNET_MSG_PUT_ACK ? m->gist.dst_cookie : m->gist.cookie;
        j->n_given++;
    }
    qsort(j->given, j->n_given, sizeof(j->given[0]), by_cookie);
}

/* Returns the message whose cookie a message of @type names, an enum lnet_msg_type; 0: none. */
static uint32_t answered_by(uint32_t type)
{
    switch (type) {
    case LNET_MSG_PUT_ACK:
    case LNET_MSG_PUT_NAK:
        return LNET_MSG_PUT_REQ;
    case LNET_MSG_PUT_DONE:
        return LNET_MSG_PUT_ACK;
    case LNET_MSG_GET_DONE:
        return LNET_MSG_GET_REQ;
    default:
        return 0;
    }
}

static void judge_cookie(const struct lnet_judging *j, const struct lnet_seen *m,
                         const struct flow *f)
{
    const uint32_t kind = answered_by(m->gist.type);
    struct given key;

    if (kind == 0)
        return;
    if (j->whole[f->handshake] == WHOLE_UNKNOWN)
        j->whole[f->handshake] = is_whole(j, f->handshake) ? WHOLE_YES : WHOLE_NO;
    if (j->whole[f->handshake] == WHOLE_NO)
        return;
    memset(&key, 0, sizeof(key));
    key.handshake = f->handshake;
    key.kind = kind;
    key.side = 1u - f->side;
    key.cookie = m->gist.cookie;
    if (!bsearch(&key, j->given, j->n_given, sizeof(key), by_cookie))
        report(j, FIND_LNET_UNKNOWN_COOKIE, m,
               (struct found){.value = key.cookie, .why = enum_name(&enum_lnet_msg, kind)});
}

void lnet_messages_judge(const struct capture_record *r, struct found_list *found)
{
    struct lnet_judging j = {.r = r, .found = found};

    if (r->lnet.n == 0)
        return;
    j.whole = must_malloc(r->handshakes.n + 1);
    memset(j.whole, WHOLE_UNKNOWN, r->handshakes.n + 1);
    collect(&j);
    for (size_t i = 0; i < r->lnet.n; i++) {
        const struct lnet_seen *m = &r->lnet.v[i];
        const struct flow *f = flow_of(&j, m);

        if (!m->is_whole || !f || is_again(&j, m))
            continue;
        judge_bytes(&j, m);
        if (f->handshake == HANDSHAKE_NONE || m->bad != LNET_GOOD)
            continue;
        judge_credits(&j, m, f);
        judge_cookie(&j, m, f);
    }
    free(j.given);
    free(j.whole);
}
