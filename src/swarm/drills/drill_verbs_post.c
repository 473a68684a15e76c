/* SPDX-License-Identifier: MIT */
/* The drill of verbs: posting of requests, their results and their limits. */
#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "swarm/drills/verbs.h"

#define BTH_AT 42u /* offset in a frame: after Ethernet, IPv4 and UDP */

static bool pair_up(struct drill *d, struct verbs_pair *p, uint32_t type)
{
    struct rdl_qp_config c = {
        .type = type, .max_inline_data = VERBS_INLINE, .sq_sig_all = drill_one_in(d, 2)};

    memset(p, 0, sizeof(*p));
    p->end[0].timeout = p->end[1].timeout = 14;
    p->end[0].retry_cnt = p->end[1].retry_cnt = 3;
    return verbs_pair(d, &c, p) && rig_connect(d, &p->end[0], &p->end[1]);
}

/* Checks that only the last packet of a solicited message has the SE bit, and counts the packets.
 */
static bool check_frames(struct drill *d, uint32_t n_pkts, bool solicited)
{
    const uint8_t *f = NULL;
    size_t bytes = 0;
    uint32_t seen = 0;

    for (uint64_t at = 0; verbs_frame(d, 0, &at, &f, &bytes);) {
        seen++;
        if (!drill_expect(d, f && bytes > BTH_AT + 12, "a sent frame is recorded", "none") || !f ||
            !drill_expect(d, ((f[BTH_AT + 1] & 0x80u) != 0) == (solicited && seen == n_pkts),
                          "only the last packet of a solicited message has the SE bit",
                          "packet %u of %u has %02x", seen, n_pkts, f[BTH_AT + 1]))
            return false;
    }
    return drill_expect(d, seen == n_pkts, "a message has as many packets as its MTU makes",
                        "%u packets, not %u", seen, n_pkts);
}

struct verbs_message {
    struct rdl_send_wr wr;
    struct rdl_sge sge[4];
    uint32_t bytes;
    bool has_imm, takes_recv;
};

/* Draws a request with its data in one to four pieces or inline. */
static void draw_message(struct drill *d, struct verbs_message *m, bool is_rc)
{
    static const uint32_t ops[] = {WR_SEND, WR_SEND_WITH_IMM, WR_RDMA_WRITE,
                                   WR_RDMA_WRITE_WITH_IMM};
    struct drill_verbs *k = d->own;
    const uint32_t from = drill_below(d, 512);
    uint32_t at = 0, cut;

    m->wr.opcode = ops[drill_below(d, 4)];
    m->has_imm = m->wr.opcode == WR_SEND_WITH_IMM || m->wr.opcode == WR_RDMA_WRITE_WITH_IMM;
    m->takes_recv = m->wr.opcode != WR_RDMA_WRITE;
    m->bytes = drill_one_in(d, 3)   ? VERBS_MTU * (1 + drill_below(d, 3))
               : drill_one_in(d, 2) ? drill_below(d, VERBS_INLINE + 1)
                                    : drill_below(d, 4096);
    for (unsigned i = 0; i < 4; i++)
        m->wr.imm[i] = (uint8_t)drill_below(d, 256);
    m->wr.flags = SF_SIGNALED | (drill_one_in(d, 2) ? SF_SOLICITED : 0);
    if (is_rc && drill_one_in(d, 4))
        m->wr.flags |= SF_FENCE;
    m->wr.remote_addr = k->side[1].addr + VERBS_HALF;
    m->wr.rkey = k->side[1].rkey;
    memmove(k->sent, k->sent + from, VERBS_HALF - from);
    if (m->bytes <= VERBS_INLINE && drill_one_in(d, 2)) {
        m->wr.flags |= SF_INLINE;
        m->wr.inline_data = k->sent;
        m->wr.inline_bytes = m->bytes;
        return;
    }
    while (at < m->bytes) {
        cut = m->wr.n_sge == 3 ? m->bytes - at : 1 + drill_below(d, m->bytes - at);
        m->sge[m->wr.n_sge++] = (struct rdl_sge){k->side[0].addr + from + at, cut, k->side[0].lkey};
        at += cut;
    }
    m->wr.sge = m->sge;
}

static void check_message(struct drill *d, const struct verbs_message *m, const struct rig_end *to)
{
    struct drill_verbs *k = d->own;
    const bool is_write = m->wr.opcode <= WR_RDMA_WRITE_WITH_IMM;
    struct rdl_wc wc;

    if (!verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc) ||
        !drill_expect(d, wc.wr_id == k->wr_id && wc.opcode == (is_write ? WC_RDMA_WRITE : WC_SEND),
                      "a completion names its request", "wr_id %llu, opcode %u",
                      (unsigned long long)wc.wr_id, wc.opcode))
        return;
    if (m->takes_recv) {
        if (!verbs_done(d, k->side[1].rcq, WCS_SUCCESS, &wc) ||
            !drill_expect(
                d,
                wc.wr_id + 1 == k->wr_id && wc.byte_len == m->bytes && wc.qp_num == to->qpn &&
                    wc.opcode == (is_write ? WC_RECV_RDMA_WITH_IMM : WC_RECV),
                "the completion of a receive says what arrived", "wr_id %llu, %u of %u bytes",
                (unsigned long long)wc.wr_id, wc.byte_len, m->bytes) ||
            !drill_expect(d,
                          ((wc.wc_flags & WCF_WITH_IMM) != 0) == m->has_imm &&
                              (!m->has_imm || memcmp(wc.imm, m->wr.imm, 4) == 0),
                          "immediate data arrive as they were sent", "flags %u", wc.wc_flags))
            return;
    }
    (void)verbs_holds(d, 1, VERBS_HALF, k->sent, m->bytes, "what arrives is what was sent");
}

/* Sends a message on RC or UC and checks everything about it. */
void verbs_step_message(struct drill *d)
{
    struct drill_verbs *k = d->own;
    const uint32_t type = drill_one_in(d, 3) ? QPT_UC : QPT_RC;
    struct verbs_message m = {.bytes = 0};
    struct verbs_pair p;
    struct rdl_cq_info before, after;
    uint8_t kept[64];
    uint32_t n_pkts;

    if (!pair_up(d, &p, type) || !verbs_fill(d, 0))
        return;
    draw_message(d, &m, type == QPT_RC);
    if (m.takes_recv && !verbs_recv(d, &p.end[1], VERBS_HALF, VERBS_HALF))
        return;
    k->mark = drill_events(d);
    if (!drill_works(d, rdl_req_notify_cq(d->lab, k->side[1].rcq, true), "a CQ can be armed") ||
        !drill_works(d, rdl_cq_info(d->lab, k->side[1].rcq, &before), "a CQ can be looked at") ||
        !verbs_send(d, &p.end[0], &m.wr))
        return;
    memcpy(kept, k->sent, sizeof(kept));
    if (m.wr.flags & SF_INLINE)
        memset(k->sent, 0x5a, sizeof(kept));
    if (!drill_settle(d))
        return;
    memcpy(k->sent, kept, sizeof(kept));
    if (!drill_works(d, rdl_cq_info(d->lab, k->side[1].rcq, &after), "a CQ can be looked at") ||
        !drill_expect(
            d, (after.events > before.events) == (m.takes_recv && (m.wr.flags & SF_SOLICITED)),
            "a queue that waits for solicited completions tells of those alone",
            "flags 0x%x, %llu events", m.wr.flags,
            (unsigned long long)(after.events - before.events)))
        return;
    check_message(d, &m, &p.end[1]);
    n_pkts = m.bytes == 0 ? 1 : (m.bytes + VERBS_MTU - 1) / VERBS_MTU;
    if (!d->wrong && check_frames(d, n_pkts, (m.wr.flags & SF_SOLICITED) != 0))
        (void)verbs_unpair(d, &p);
}

/* --- Limits ----------------------------------------------------------------------------------- */

static bool refused(struct drill *d, const struct rig_end *e, const struct rdl_send_wr *wr,
                    const char *what)
{
    const enum rdl_status st = rdl_post_send(d->lab, e->qp, wr, true);

    d->n_unsaid++;
    return drill_expect(d, st == RDL_ERR_INVAL, what, "%s", rdl_status_name(st));
}

/* Exceeds each limit of a queue pair by one. */
void verbs_step_limits(struct drill *d)
{
    struct drill_verbs *k = d->own;
    const struct verbs_side *s = &k->side[0];
    struct rdl_qp_config c = {.type = drill_one_in(d, 2) ? QPT_RC : QPT_UC,
                              .max_send_sge = 1 + drill_below(d, 4),
                              .max_recv_sge = 1 + drill_below(d, 4),
                              .max_inline_data = 1 + drill_below(d, 64)};
    struct rdl_sge sge[8];
    struct rdl_qp_info info;
    struct verbs_pair p = {0};
    struct rdl_send_wr wr = {.opcode = WR_SEND, .flags = SF_SIGNALED, .sge = sge};
    struct rdl_recv_wr recv = {.sge = sge};
    enum rdl_status st;

    p.end[0].timeout = p.end[1].timeout = 14;
    p.end[0].retry_cnt = p.end[1].retry_cnt = 3;
    if (!verbs_pair(d, &c, &p) || !rig_connect(d, &p.end[0], &p.end[1]) ||
        !drill_works(d, rdl_qp_info(d->lab, p.end[0].qp, &info), "a queue pair tells its limits"))
        return;
    for (unsigned i = 0; i < 8; i++)
        sge[i] = (struct rdl_sge){s->addr + i, 1, s->lkey};
    wr.n_sge = info.max_send_sge + 1;
    if (wr.n_sge <= 8 && !refused(d, &p.end[0], &wr, "a request has at most max_send_sge elements"))
        return;
    recv.n_sge = info.max_recv_sge + 1;
    if (recv.n_sge <= 8) {
        st = rdl_post_recv(d->lab, p.end[0].qp, &recv, true);
        if (!drill_expect(d, st == RDL_ERR_INVAL, "a receive has at most max_recv_sge elements",
                          "%s", rdl_status_name(st)))
            return;
    }
    wr.n_sge = 0;
    wr.flags = SF_SIGNALED | SF_INLINE;
    wr.inline_data = k->sent;
    wr.inline_bytes = info.max_inline_data + 1;
    if (!refused(d, &p.end[0], &wr, "inline data have at most max_inline_data bytes"))
        return;
    if (c.type == QPT_RC) {
        wr.opcode = WR_RDMA_READ;
        wr.inline_bytes = 1;
        wr.remote_addr = k->side[1].addr;
        wr.rkey = k->side[1].rkey;
        if (!refused(d, &p.end[0], &wr, "a READ cannot be inline"))
            return;
    } else {
        wr = (struct rdl_send_wr){.opcode = WR_RDMA_WRITE, .flags = SF_FENCE, .sge = sge};
        if (!refused(d, &p.end[0], &wr, "a fence is for reliable connections"))
            return;
    }
    (void)verbs_unpair(d, &p);
}

/* --- Access flags ----------------------------------------------------------------------------- */

/* Each access flag of a region is required by its operation, and by no other. */
void verbs_step_rights(struct drill *d)
{
    static const struct {
        uint32_t op, right, bytes;
    } rows[] = {{WR_RDMA_WRITE, ACC_REMOTE_WRITE, 8},
                {WR_RDMA_READ, ACC_REMOTE_READ, 8},
                {WR_ATOMIC_FETCH_AND_ADD, ACC_REMOTE_ATOMIC, 8}};
    struct drill_verbs *k = d->own;
    struct verbs_side *s = &k->side[1];
    const uint32_t row = drill_below(d, 3), access = ACC_LOCAL_WRITE | drill_below(d, 8) << 1;
    struct rdl_sge sge = {k->side[0].addr, rows[row].bytes, k->side[0].lkey};
    struct rdl_send_wr wr = {.opcode = rows[row].op,
                             .flags = SF_SIGNALED,
                             .sge = &sge,
                             .n_sge = 1,
                             .remote_addr = s->addr + 8ull * drill_below(d, 64)};
    struct verbs_pair p;
    struct rdl_mr_info info;
    struct rdl_wc wc;
    rdl_mr mr;

    d->n_unsaid++;
    if (!pair_up(d, &p, QPT_RC) ||
        !drill_is_done(d, s->host, rdl_reg_mr(d->lab, s->pd, s->addr, VERBS_BUF, access, NULL, &mr),
                       "memory can be registered twice") ||
        !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has keys"))
        return;
    wr.rkey = info.rkey;
    if (verbs_send(d, &p.end[0], &wr) && drill_settle(d) &&
        verbs_done(d, k->side[0].scq, access & rows[row].right ? WCS_SUCCESS : WCS_REM_ACCESS_ERR,
                   &wc) &&
        drill_is_done(d, s->host, rdl_dereg_mr(d->lab, mr), "a region can be given back"))
        (void)verbs_unpair(d, &p);
}
