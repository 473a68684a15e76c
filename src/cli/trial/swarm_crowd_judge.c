/* SPDX-License-Identifier: MIT */
/* Judges what the crowd sees: completions as they come, and all memory in the end. */
#include <string.h>

#include "cli/tree/tree.h"
#include "cli/trial/swarm_crowd.h"
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/device.h"
#include "emu/facts/psn.h"
#include "emu/facts/wr.h"

static const char right_bytes[] = "what is moved arrives in its place, and nothing else is written";

/* --- Memory ----------------------------------------------------------------------------------- */

enum want {
    NOTHING, /* zero, as it was */
    WHOLE,   /* the message */
    PART,    /* any of its bytes, or none */
    ANYTHING
};

/* Is the slot of @item on @host as @want says of @bytes at @at, and zero elsewhere? */
static bool is_slot(struct crowd *c, unsigned host, uint64_t slot, const struct crowd_item *place,
                    enum want want, uint32_t message)
{
    const struct rig_side *s = &c->host[host].s;
    uint8_t have[CROWD_SLOT_BYTES];
    static const uint8_t zero[CROWD_SLOT_BYTES];
    uint8_t *at = have + place->at;

    if (rdl_mem_read(c->lab, s->host, s->mem.addr + slot, have, sizeof(have)) != RDL_OK)
        return false;
    for (uint32_t k = 0; k < place->bytes && want != NOTHING; k++) {
        const bool right = at[k] == crowd_byte(message, k);

        if ((want == WHOLE && !right) || (want == PART && !right && at[k] != 0))
            return false;
        at[k] = 0;
    }
    return memcmp(have, zero, sizeof(have)) == 0;
}

/* Forgives what an unreliable message left in @recv that lost its end: the next message has taken
 * the same receive, and is @bytes long there.
 */
static void wipe_remains(struct crowd *c, uint32_t id, const struct crowd_item *recv,
                         uint32_t bytes)
{
    static const uint8_t zero[CROWD_SLOT_BYTES];
    const struct rig_side *s = &c->host[recv->host].s;

    crowd_works(c,
                rdl_mem_write(c->lab, s->host,
                              s->mem.addr + crowd_slot(id, false) + recv->at + bytes, zero,
                              recv->bytes - bytes),
                "memory can be written");
}

/* The number of the message in a receive: its immediate data or its first bytes. */
static uint32_t message_of(struct crowd *c, const struct rdl_wc *wc, const struct crowd_item *recv,
                           uint32_t skip)
{
    const struct rig_side *s = &c->host[recv->host].s;
    uint8_t id[4] = {0};
    uint32_t n = 0;

    if (wc->wc_flags & WCF_WITH_IMM)
        memcpy(id, wc->imm, sizeof(id));
    else if (rdl_mem_read(c->lab, s->host,
                          s->mem.addr + crowd_slot((uint32_t)wc->wr_id, false) + recv->at + skip,
                          id, sizeof(id)) != RDL_OK)
        return UINT32_MAX;
    for (uint32_t k = 0; k < sizeof(id); k++)
        n |= (id[k] - 1u) << 7u * k;
    return n;
}

/* --- Receives --------------------------------------------------------------------------------- */

static unsigned end_of(const struct crowd *c, unsigned host, uint32_t qpn)
{
    unsigned end = 0;

    while (end < CROWD_ENDS && (c->end[end].host != host || c->end[end].qpn != qpn))
        end++;
    return end;
}

/* Do the partitions of the two have a full member?  All have the same numbers. */
static bool may_talk(const struct crowd_end *a, const struct crowd_end *b)
{
    const uint16_t p = crowd_pkeys[a->pkey_index], q = crowd_pkeys[b->pkey_index];

    return ((p ^ q) & ~PKEY_FULL_MEMBER) == 0 && ((p | q) & PKEY_FULL_MEMBER);
}

/* May the queue pair @end have heard of @t? */
static bool may_hear(const struct crowd *c, const struct crowd_item *t, unsigned end)
{
    const struct crowd_end *e = &c->end[end];

    if (!crowd_needs_recv(t) || t->wrong != CROWD_RIGHT || t->is_lost ||
        !may_talk(e, &c->end[t->end]))
        return false;
    if (t->to != CROWD_GROUP)
        return t->to == end;
    return crowd_is_datagram(e) && (e->is_attached || (uint32_t)(t - c->item) < e->left_at);
}

/* Order, and of RC completeness, of what @end hears in one life of its connection. */
static void judge_order(struct crowd *c, unsigned end, uint32_t message)
{
    struct crowd_end *e = &c->end[end];
    const struct crowd_item *t = &c->item[message];

    if (crowd_is_datagram(e) || message < e->first || message < c->end[t->end].first)
        return;
    crowd_expect(c, message >= e->heard_n || (e->type == QPT_UC && c->is_copying), message,
                 "messages of a connection arrive in the order of posting");
    for (uint32_t i = e->heard_n; i < message && e->type == QPT_RC; i++)
        crowd_expect(
            c, c->item[i].end != t->end || !crowd_needs_recv(&c->item[i]) || c->item[i].is_gone, i,
            "no message of a reliable connection is left out");
    e->heard_n = message + 1;
}

/* Something is in the area of the GRH, which is wiped: the rest of the slot is the message. */
static void take_grh(struct crowd *c, uint32_t id, const struct crowd_item *recv)
{
    static const uint8_t none[CROWD_GRH_BYTES];
    const struct rig_side *s = &c->host[recv->host].s;
    const uint64_t at = s->mem.addr + crowd_slot(id, false) + recv->at;
    uint8_t area[CROWD_GRH_BYTES];

    crowd_works(c, rdl_mem_read(c->lab, s->host, at, area, sizeof(area)), "memory can be read");
    crowd_expect(c, memcmp(area, none, sizeof(none)) != 0, id, "a datagram has a GRH");
    crowd_works(c, rdl_mem_write(c->lab, s->host, at, none, sizeof(none)), "memory can be written");
}

static void judge_message(struct crowd *c, unsigned end, const struct crowd_item *recv,
                          const struct rdl_wc *wc)
{
    const uint32_t skip = crowd_is_datagram(&c->end[end]) ? CROWD_GRH_BYTES : 0;
    const uint32_t message = message_of(c, wc, recv, skip), id = (uint32_t)wc->wr_id;
    struct crowd_item *t = &c->item[message < c->n_items ? message : 0];
    const bool is_write = t->opcode == WR_RDMA_WRITE_WITH_IMM;
    struct crowd_item place = {.at = recv->at + skip, .bytes = t->bytes};
    unsigned flags = skip ? WCF_GRH : 0;

    if (!crowd_expect(c, message < c->n_items && may_hear(c, t, end), id,
                      "a receive has a message that was sent to it"))
        return;
    if (t->opcode == WR_SEND_WITH_IMM || is_write)
        flags |= WCF_WITH_IMM;
    if (t->opcode == WR_SEND_WITH_INV)
        flags |= WCF_WITH_INV;
    crowd_expect(c, !(t->heard & 1u << end) || (c->end[end].type != QPT_RC && c->is_copying), id,
                 "a message arrives once");
    t->heard |= 1u << end;
    judge_order(c, end, message);
    crowd_expect(c, wc->byte_len == t->bytes + skip, id, "a receive says how long its message is");
    crowd_expect(c, wc->wc_flags == flags, id, "a receive says what it has");
    crowd_expect(c, !skip || wc->src_qp == t->qpn, id, "a datagram says who sent it");
    crowd_expect(c, wc->opcode == (is_write ? (uint32_t)WC_RECV_RDMA_WITH_IMM : (uint32_t)WC_RECV),
                 id, "a receive says what completed it");
    if (c->end[end].type == QPT_UC)
        wipe_remains(c, id, recv, is_write ? 0 : t->bytes);
    if (is_write) {
        place.at = t->at;
        crowd_expect(c, is_slot(c, recv->host, crowd_slot(message, true), &place, WHOLE, message),
                     id, right_bytes);
        crowd_expect(c, is_slot(c, recv->host, crowd_slot(id, false), recv, NOTHING, 0), id,
                     "immediate data of a WRITE leave the receive's memory as it is");
        return;
    }
    if (skip)
        take_grh(c, id, recv);
    crowd_expect(c, is_slot(c, recv->host, crowd_slot(id, false), &place, WHOLE, message), id,
                 right_bytes);
}

static void judge_recv(struct crowd *c, struct crowd_item *t, const struct rdl_wc *wc)
{
    const uint32_t id = (uint32_t)wc->wr_id;
    const unsigned end = end_of(c, t->host, wc->qp_num);

    t->is_done = true;
    if (end == CROWD_ENDS) /* it was destroyed */
        return;
    crowd_expect(c, t->is_shared ? c->end[end].has_srq : t->end == end, id,
                 "a completion names its queue pair");
    t->is_ok = wc->status == WCS_SUCCESS;
    if (t->is_ok)
        judge_message(c, end, t, wc);
    else
        crowd_expect(c, c->end[end].is_excused || t->is_gone, id, "a receive fails for a reason");
}

/* --- Requests --------------------------------------------------------------------------------- */

static void judge_key(struct crowd *c, const struct crowd_item *t, bool is_ok)
{
    struct crowd_key *k = &c->key[t->key];

    if (!crowd_changes_key(t) || t->is_gone)
        return;
    k->is_changing = false;
    k->is_valid = is_ok && (t->opcode == WR_BIND_MW || t->opcode == WR_REG_MR);
    k->is_broken = k->is_broken || !is_ok;
    if (is_ok && !k->is_valid)
        k->stale = k->rkey;
}

static void take_success(struct crowd *c, uint32_t i)
{
    struct crowd_item *t = &c->item[i];

    t->is_done = t->is_ok = true;
    judge_key(c, t, true);
    crowd_expect(c, !t->is_lost, i, "what is wrong, and what follows it in SQE, fails");
    if (c->end[t->end].type != QPT_RC)
        return;
    crowd_expect(c, t->wrong == CROWD_RIGHT, i, "a wrong request fails");
    if (crowd_fetches(t))
        crowd_expect(c, is_slot(c, t->host, crowd_slot(i, false), t, WHOLE, i), i, right_bytes);
    else if (crowd_is_write(t))
        crowd_expect(c, is_slot(c, c->end[t->to].host, crowd_slot(i, true), t, WHOLE, i), i,
                     right_bytes);
}

static void judge_failure(struct crowd *c, uint32_t i, const struct rdl_wc *wc)
{
    const struct crowd_item *t = &c->item[i];
    const struct crowd_end *e = &c->end[t->end];
    const bool is_flushed = wc->status == WCS_WR_FLUSH_ERR;
    const uint32_t profile = c->host[t->host].profile;
    const bool is_faulty = c->is_lossy || c->is_copying;

    judge_key(c, t, false);
    if (t->is_gone)
        return;
    crowd_expect(c, e->is_excused || (is_faulty && e->type == QPT_RC) || t->is_lost, i,
                 "a request fails for a reason");
    crowd_expect(c,
                 is_flushed || t->wrong != CROWD_WRONG_LKEY || wc->status == WCS_LOC_PROT_ERR ||
                     (profile == PROFILE_rxe && wc->status == WCS_LOC_QP_OP_ERR) ||
                     wc->status == WCS_RETRY_EXC_ERR,
                 i, "a wrong local key is a protection error");
    crowd_expect(c,
                 is_flushed || t->wrong != CROWD_WRONG_RKEY || wc->status == WCS_REM_ACCESS_ERR ||
                     wc->status == WCS_RETRY_EXC_ERR,
                 i, "a wrong key is an access error");
    if (e->type == QPT_RC || !t->is_lost)
        crowd_excuse(c, t->end);
}

static void judge_send(struct crowd *c, struct crowd_item *t, const struct rdl_wc *wc)
{
    const uint32_t i = (uint32_t)wc->wr_id;
    struct crowd_end *e = &c->end[t->end];
    const bool is_ok = wc->status == WCS_SUCCESS;

    crowd_expect(c, t->is_gone || wc->qp_num == e->qpn, i, "a completion names its queue pair");
    if (!t->is_gone) {
        crowd_expect(c, i >= e->sent_n, i, "requests complete in the order of posting");
        for (uint32_t k = e->sent_n; k < i; k++) {
            struct crowd_item *before = &c->item[k];

            if (before->is_recv || before->end != t->end || before->is_done)
                continue;
            crowd_expect(c, !(before->flags & SF_SIGNALED), k, "what is signaled says so");
            take_success(c, k);
        }
        e->sent_n = i + 1;
    }
    if (is_ok) {
        crowd_expect(c, wc->opcode == wr_completes_as(t->opcode), i,
                     "a completion names its operation");
        crowd_expect(c, (t->flags & SF_SIGNALED) != 0, i, "what is not signaled is silent");
        take_success(c, i);
    } else {
        t->is_done = true;
        judge_failure(c, i, wc);
    }
}

void crowd_judge_wc(struct crowd *c, unsigned host, const struct rdl_wc *wc)
{
    struct crowd_item *t = &c->item[wc->wr_id < c->n_items ? wc->wr_id : 0];

    if (!crowd_expect(c, wc->wr_id < c->n_items && t->host == host && !t->is_done,
                      (uint32_t)wc->wr_id, "what was posted completes, once"))
        return;
    if (t->is_recv)
        judge_recv(c, t, wc);
    else
        judge_send(c, t, wc);
}

/* --- The end ---------------------------------------------------------------------------------- */

/* What the slot of @t on its own host has. */
static enum want want_here(const struct crowd_item *t)
{
    if (t->is_recv)
        return ANYTHING;
    if (crowd_fetches(t))
        return t->is_ok ? WHOLE : t->wrong == CROWD_RIGHT ? PART : NOTHING;
    return t->flags & SF_INLINE ? NOTHING : WHOLE; /* requests without data have no bytes */
}

/* What its slot on the other host has. */
static enum want want_there(const struct crowd *c, const struct crowd_item *t)
{
    if (t->is_recv || t->to >= 2 * CROWD_CONNECTIONS)
        return NOTHING;
    if (crowd_fetches(t))
        return WHOLE;
    if (!crowd_is_write(t) || t->wrong != CROWD_RIGHT || t->is_lost)
        return NOTHING;
    return t->is_ok && c->end[t->end].type == QPT_RC ? WHOLE : PART;
}

/* Takes back what atomic @i added at the other side: exactly once if it succeeded, at the most once
 * if it failed, never if it was refused there.
 */
static void take_back(struct crowd *c, uint32_t i)
{
    const struct crowd_item *t = &c->item[i];
    const struct rig_side *s = &c->host[c->end[t->to].host].s;
    const uint64_t at = s->mem.addr + crowd_slot(i, true) + t->at;
    uint8_t word[ATOMIC_WORD_BYTES];
    uint64_t have;

    crowd_works(c, rdl_mem_read(c->lab, s->host, at, word, sizeof(word)), "memory can be read");
    have = ld_le64(word);
    if (!t->is_ok && (have == crowd_word(i) || t->wrong == CROWD_WRONG_RKEY))
        return;
    st_le64(word, have - t->added);
    crowd_works(c, rdl_mem_write(c->lab, s->host, at, word, sizeof(word)), "memory can be written");
}

static uint64_t known(const struct crowd *c, unsigned end, enum leaf_id leaf)
{
    static const char *const hosts[CROWD_HOSTS] = {"h1", "h2", "h3"};
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));

    tree_join(&t, hosts[c->end[end].host], crowd_name(end));
    return tree_number(c->lab, path, leaf);
}

static uint32_t waiting_recvs(const struct crowd *c, unsigned end)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n_items; i++) {
        const struct crowd_item *t = &c->item[i];

        n += t->is_recv && !t->is_shared && t->end == end && !t->is_done && !t->is_gone;
    }
    return n;
}

/* What both sides of a reliable connection know is the same, once all is done. */
static void judge_connection(struct crowd *c, unsigned end)
{
    const struct crowd_end *e = &c->end[end];
    const uint64_t sq_psn = known(c, end, LEAF_qp_sq_psn), ssn = known(c, end, LEAF_qp_ssn);
    const uint64_t ahead = (known(c, end, LEAF_qp_credit_ssn) - ssn) & PSN_MASK;

    /* What is not signaled may still wait for a receive. */
    if (e->type != QPT_RC || e->is_excused || known(c, end, LEAF_qp_acked_psn) != sq_psn)
        return;
    crowd_expect(c, known(c, e->peer, LEAF_qp_rq_psn) == sq_psn, UINT32_MAX,
                 "in the end both sides have the same PSN");
    crowd_expect(c, known(c, e->peer, LEAF_qp_msn) == ssn, UINT32_MAX,
                 "in the end both sides have counted the same messages");
    if (e->credits && !c->end[e->peer].has_srq && ahead <= PSN_MASK / 2)
        crowd_expect(c, ahead <= waiting_recvs(c, e->peer), UINT32_MAX,
                     "nobody has more credits than there are receives");
}

void crowd_judge_end(struct crowd *c)
{
    for (unsigned i = 0; i < 2 * CROWD_CONNECTIONS && !c->wrong; i++)
        judge_connection(c, i);
    for (uint32_t i = 0; i < c->n_items && !c->wrong; i++) {
        const struct crowd_item *t = &c->item[i];
        const unsigned there = t->to < CROWD_ENDS ? c->end[t->to].host : CROWD_HOSTS;

        if (crowd_is_atomic(t))
            take_back(c, i);
        for (unsigned h = 0; h < CROWD_HOSTS; h++) {
            const enum want own = h == t->host ? want_here(t) : NOTHING;
            const enum want others = h == there ? want_there(c, t) : NOTHING;

            crowd_expect(c, is_slot(c, h, crowd_slot(i, false), t, own, i), i, right_bytes);
            crowd_expect(c, is_slot(c, h, crowd_slot(i, true), t, others, i), i, right_bytes);
        }
        crowd_expect(c,
                     !crowd_needs_recv(t) || !t->is_ok || c->end[t->end].type != QPT_RC ||
                         t->heard || t->is_unsure,
                     i, "what was sent with success was received");
    }
}
