/* SPDX-License-Identifier: MIT */
/* The drill of verbs: atomics, UC messages with a lost packet, and flushing. */
#include <string.h>

#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/trace/event.h"
#include "swarm/drills/verbs.h"

static bool pair_of(struct drill *d, struct verbs_pair *p, uint32_t type, bool sig_all)
{
    struct rdl_qp_config c = {.type = type, .sq_sig_all = sig_all, .max_recv_wr = 16};

    memset(p, 0, sizeof(*p));
    p->end[0].timeout = p->end[1].timeout = 8 + drill_below(d, 6);
    p->end[0].retry_cnt = p->end[1].retry_cnt = 3;
    return verbs_pair(d, &c, p) && rig_connect(d, &p->end[0], &p->end[1]);
}

/* --- Atomics ---------------------------------------------------------------------------------- */

static uint64_t draw_word(struct drill *d)
{
    const uint64_t high = drill_below(d, UINT32_MAX);

    return drill_one_in(d, 2) ? UINT32_MAX - drill_below(d, 3) : high << 32 | drill_below(d, 1000);
}

/* Writes a word.  Programs see it in the host's byte order. */
static bool put_word(struct drill *d, unsigned host, uint32_t offset, uint64_t v)
{
    struct drill_verbs *k = d->own;

    return drill_works(d, rdl_mem_write(d->lab, k->host[host], k->side[host].addr + offset, &v, 8),
                       "a program can write to its memory");
}

static bool has_word(struct drill *d, unsigned host, uint32_t offset, uint64_t want,
                     const char *what)
{
    struct drill_verbs *k = d->own;
    uint64_t v = 0;

    return drill_works(d, rdl_mem_read(d->lab, k->host[host], k->side[host].addr + offset, &v, 8),
                       "a program can read its memory") &&
           drill_expect(d, v == want, what, "0x%llx, not 0x%llx", (unsigned long long)v,
                        (unsigned long long)want);
}

/* Executes some atomics on one word.  A request or a response may be lost. */
void verbs_step_atomics(struct drill *d)
{
    const uint32_t n = 1 + drill_below(d, 6), loses = drill_below(d, 3);
    const bool sig_all = drill_one_in(d, 2);
    struct drill_verbs *k = d->own;
    struct rdl_fault_config f = {.kind = FLT_DROP, .count = 1, .opcode = RDL_ANY};
    uint64_t word = draw_word(d), found[6];
    uint32_t n_wc = 0;
    struct verbs_pair p;
    struct rdl_wc wc;
    rdl_fault fault;

    if (!pair_of(d, &p, QPT_RC, sig_all) || !put_word(d, 1, 64, word))
        return;
    f.from = k->host[loses % 2];
    f.nth = 1 + drill_below(d, n);
    if (loses < 2 && !verbs_fault(d, &f, &fault))
        return;
    for (uint32_t i = 0; i < n; i++) {
        const bool adds = drill_one_in(d, 2), signaled = i + 1 == n || drill_one_in(d, 2);
        const uint64_t add = draw_word(d), swap = draw_word(d);
        const struct rdl_sge sge = {k->side[0].addr + VERBS_HALF + 8ull * i, 8, k->side[0].lkey};
        struct rdl_send_wr wr = {.opcode = adds ? WR_ATOMIC_FETCH_AND_ADD : WR_ATOMIC_CMP_AND_SWP,
                                 .flags = signaled ? SF_SIGNALED : 0,
                                 .sge = &sge,
                                 .n_sge = 1,
                                 .remote_addr = k->side[1].addr + 64,
                                 .rkey = k->side[1].rkey,
                                 .compare_add = adds || drill_one_in(d, 2) ? add : word,
                                 .swap = swap};

        n_wc += signaled || sig_all;
        found[i] = word;
        if (adds)
            word += add;
        else if (wr.compare_add == word)
            word = swap;
        if (!verbs_send(d, &p.end[0], &wr))
            return;
    }
    if (!drill_settle(d))
        return;
    for (uint32_t i = 0; i < n_wc; i++) {
        if (!verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc) ||
            !drill_expect(d, wc.byte_len == 8, "an atomic brings eight bytes", "%u", wc.byte_len))
            return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!has_word(d, 0, VERBS_HALF + 8 * i, found[i], "an atomic answers with what it found"))
            return;
    }
    if (has_word(d, 1, 64, word, "each atomic is carried out once") &&
        (loses == 2 ||
         drill_works(d, rdl_fault_remove(d->lab, fault), "a fault can be taken away")))
        (void)verbs_unpair(d, &p);
}

/* --- Lost packets on UC ----------------------------------------------------------------------- */

static bool send_on(struct drill *d, struct verbs_pair *p, uint32_t bytes)
{
    struct drill_verbs *k = d->own;
    const struct rdl_sge sge = {k->side[0].addr, bytes, k->side[0].lkey};
    struct rdl_send_wr wr = {.opcode = WR_SEND, .sge = &sge, .n_sge = 1, .flags = SF_SIGNALED};

    return verbs_send(d, &p->end[0], &wr);
}

/* Checks why the queue pair @qpn of h2 has dropped packets of a message of @n_pkts packets: the one
 * behind the lost packet is out of sequence, and those behind it belong to no message.  @lost:
 * index of the lost packet; @n_pkts: none is lost, but the first one finds no receive.
 */
static bool drops_are_right(struct drill *d, uint32_t qpn, uint32_t n_pkts, uint32_t lost)
{
    const bool late = lost == n_pkts;
    const uint32_t left = late ? n_pkts - 1 : n_pkts - 1 - lost;
    const uint32_t first = late ? 1 : left > 0, rest = late ? left : left - (left > 0);
    const struct ev *e;
    uint32_t n_first = 0, n_rest = 0, all = 0;

    for (uint64_t at = 0; (e = verbs_event(d, EV_drop, &at));) {
        if (e->u.drop.host != 1 || e->u.drop.qpn != qpn)
            continue;
        n_first += e->u.drop.reason == (uint32_t)(late ? DROP_NO_RECEIVE : DROP_OUT_OF_SEQUENCE);
        n_rest += e->u.drop.reason == DROP_REFUSED;
        all++;
    }
    return drill_expect(d, n_first == first && n_rest == rest && all == first + rest,
                        "on UC what is left of a message is dropped with it",
                        "%u and %u of %u drops, and not %u and %u", n_first, n_rest, all, first,
                        rest);
}

/* On UC a message is not delivered if one of its packets is lost or if it finds no receive.  Later
 * messages are.
 */
void verbs_step_gap(struct drill *d)
{
    const uint32_t n_pkts = 1 + drill_below(d, 5), n = 1 + drill_below(d, 3);
    const bool late = drill_one_in(d, 3);
    struct drill_verbs *k = d->own;
    struct rdl_fault_config f = {.kind = FLT_DROP, .count = 1, .opcode = RDL_ANY};
    struct verbs_pair p;
    struct rdl_wc wc;
    rdl_fault fault = {0};

    if (!pair_of(d, &p, QPT_UC, false) || !verbs_fill(d, 0))
        return;
    f.from = k->host[0];
    f.nth = 1 + drill_below(d, n_pkts);
    if (!late && (!verbs_fault(d, &f, &fault) || !verbs_recv(d, &p.end[1], VERBS_HALF, 8192)))
        return;
    k->mark = drill_events(d);
    if (!send_on(d, &p, VERBS_MTU * n_pkts) || !drill_settle(d) ||
        !verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc) ||
        !drops_are_right(d, p.end[1].qpn, n_pkts, late ? n_pkts : f.nth - 1))
        return;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bytes = drill_below(d, VERBS_HALF);

        if (((late || i > 0) && !verbs_recv(d, &p.end[1], VERBS_HALF, VERBS_HALF)) ||
            !send_on(d, &p, bytes) || !drill_settle(d) ||
            !verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc) ||
            !verbs_done(d, k->side[1].rcq, WCS_SUCCESS, &wc) ||
            !drill_expect(d, wc.byte_len == bytes,
                          "on UC a message behind a gap arrives, and the one with the gap does not",
                          "%u bytes, not %u", wc.byte_len, bytes) ||
            !verbs_holds(d, 1, VERBS_HALF, k->sent, bytes, "what arrives is what was sent"))
            return;
    }
    if (late || drill_works(d, rdl_fault_remove(d->lab, fault), "a fault can be taken away"))
        (void)verbs_unpair(d, &p);
}

/* --- Flushing --------------------------------------------------------------------------------- */

static bool all_flushed(struct drill *d, rdl_cq cq, uint64_t first, uint32_t n)
{
    struct rdl_wc wc;

    for (uint32_t i = 0; i < n; i++) {
        if (!verbs_done(d, cq, WCS_WR_FLUSH_ERR, &wc) ||
            !drill_expect(d, wc.wr_id == first + i, "what is flushed completes in its order",
                          "wr_id %llu, not %llu", (unsigned long long)wc.wr_id,
                          (unsigned long long)first + i))
            return false;
    }
    return true;
}

/* ERR flushes all work requests; RESET discards them. */
void verbs_step_flush(struct drill *d)
{
    const uint32_t n_recv = drill_below(d, 8), n_send = 1 + drill_below(d, 10);
    const bool resets = drill_one_in(d, 3);
    struct drill_verbs *k = d->own;
    struct rdl_fault_config f = {.kind = FLT_DROP, .nth = 1, .count = RDL_ANY, .opcode = RDL_ANY};
    struct rdl_qp_attr a = {0};
    uint64_t recvs, sends;
    struct verbs_pair p;
    rdl_fault fault;

    if (!pair_of(d, &p, QPT_RC, false))
        return;
    f.from = k->host[0];
    recvs = k->wr_id + 1;
    for (uint32_t i = 0; i < n_recv; i++) {
        if (!verbs_recv(d, &p.end[0], VERBS_HALF, 64))
            return;
    }
    sends = k->wr_id + 1;
    if (!verbs_fault(d, &f, &fault))
        return;
    for (uint32_t i = 0; i < n_send; i++) {
        if (!send_on(d, &p, drill_below(d, 3000)))
            return;
    }
    if (!rig_modify(d, &p.end[0], &a, resets ? QPS_RESET : QPS_ERR, 0) || !drill_settle(d))
        return;
    if (!resets && (!all_flushed(d, k->side[0].scq, sends, n_send) ||
                    !all_flushed(d, k->side[0].rcq, recvs, n_recv)))
        return;
    if (drill_works(d, rdl_fault_remove(d->lab, fault), "a fault can be taken away"))
        (void)verbs_unpair(d, &p);
}
