/* SPDX-License-Identifier: MIT */
/* The drill of messages: compares what was seen with the expected results. */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/psn.h"
#include "emu/facts/wr.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"
#include "swarm/drills/drill_messages.h"

#define AROUND 64u /* bytes around the range of a step that must not change */

/* --- Frames ----------------------------------------------------------------------------------- */

static bool is_between(uint32_t psn, uint32_t first, uint32_t n)
{
    return ((psn - first) & PSN_MASK) < n;
}

/* Returns the position of packet @k of @n packets. */
static enum op_position position(uint32_t k, uint32_t n)
{
    if (n == 1)
        return OPP_ONLY;
    return k == 0 ? OPP_FIRST : k + 1 == n ? OPP_LAST : OPP_MIDDLE;
}

static enum op_kind kind_of(const struct message *m)
{
    if (msg_is_write(m))
        return OPK_WRITE;
    return msg_is_atomic(m) ? OPK_ATOMIC : msg_fetches(m) ? OPK_READ : OPK_SEND;
}

/* Checks the extended headers of packet @k of @m. */
static void judge_operation(struct drill *d, const struct message *m, uint32_t k,
                            const struct packet *p)
{
    const struct messages *s = d->own;
    const uint64_t remote = s->base[!m->from] + m->remote;

    if (m->service == QPT_UD)
        drill_expect(d, p->deth.qkey == RIG_QKEY && p->deth.src_qpn == s->end[m->from][QPT_UD].qpn,
                     "a datagram says its Q_Key and who sent it", "0x%x, 0x%x", p->deth.qkey,
                     p->deth.src_qpn);
    if (msg_is_atomic(m))
        drill_expect(d,
                     p->atomic.va == remote && p->atomic.rkey == s->key[!m->from] &&
                         (m->opcode == WR_ATOMIC_CMP_AND_SWP
                              ? p->atomic.compare == m->compare && p->atomic.swap_add == m->swap
                              : p->atomic.swap_add == m->compare),
                     "an atomic says what it does, and where", "other operands");
    else if (k == 0 && (msg_is_write(m) || msg_fetches(m)))
        drill_expect(d,
                     p->reth.va == remote && p->reth.rkey == s->key[!m->from] &&
                         p->reth.dma_bytes == m->bytes,
                     "the first packet says where all of it goes, or is", "0x%llx, %u bytes",
                     (unsigned long long)p->reth.va, p->reth.dma_bytes);
}

/* Checks @p as packet @k of the @n request packets of @m. */
static void judge_request(struct drill *d, const struct message *m, uint32_t k, uint32_t n,
                          const struct packet *p)
{
    const struct messages *s = d->own;
    const bool is_last = k + 1 == n;
    const uint32_t from = k * s->mtu;
    const uint32_t bytes = msg_fetches(m) ? 0 : is_last ? m->bytes - from : s->mtu;

    drill_expect(d, p->bth.psn.v == ((m->psn + k) & PSN_MASK), "PSNs count packets", "%u, not %u",
                 p->bth.psn.v, (m->psn + k) & PSN_MASK);
    drill_expect(d, p->op->kind == kind_of(m) && p->op->pos == position(k, n),
                 "a message has a first, a last and middle packets, or only one", "%s",
                 p->op->name);
    drill_expect(d,
                 !!(p->op->headers & H_IMM) == (is_last && msg_has_imm(m)) &&
                     (!(p->op->headers & H_IMM) || memcmp(p->imm_data, m->imm, 4) == 0),
                 "the last packet has the immediate data", "%s", p->op->name);
    drill_expect(d, p->bth.solicited == (is_last && (m->flags & SF_SOLICITED)),
                 "the last packet of a solicited message says so, and no other one", "%s",
                 p->op->name);
    drill_expect(d, m->service == QPT_RC || !p->bth.ack_req, "only RC asks for an ACK", "%s",
                 p->op->name);
    drill_expect(d,
                 m->service != QPT_RC || msg_fetches(m) ||
                     p->bth.ack_req == (is_last || (k + 1) % MSG_ASKS == 0),
                 "the last packet of an RC message asks for an ACK, and one of 64 before it",
                 "packet %u of %u, %s", k, n, p->op->name);
    drill_expect(d, p->payload_bytes == bytes && memcmp(p->payload, m->data + from, bytes) == 0,
                 "packets carry the message, in its order", "%u bytes, not %u, or others",
                 p->payload_bytes, bytes);
    drill_expect(d, p->bth.pad_bytes == (-p->payload_bytes & 3u), "a payload is padded to words",
                 "%u behind %u bytes", p->bth.pad_bytes, p->payload_bytes);
    judge_operation(d, m, k, p);
}

static void judge_answer(struct drill *d, struct message *m, const struct packet *p)
{
    const struct messages *s = d->own;
    const uint32_t n = msg_packets(s, m), k = m->n_back++, from = k * s->mtu;
    const uint32_t bytes = k + 1 == n ? m->bytes - from : s->mtu;

    if (!drill_expect(d, k < n && p->bth.psn.v == ((m->psn + k) & PSN_MASK),
                      "an answer has the PSNs that its request took", "%u", p->bth.psn.v))
        return;
    if (msg_is_atomic(m))
        drill_expect(d, p->op->kind == OPK_ATOMIC_ACK && p->atomic_ack == ld_le64(m->data),
                     "an atomic is answered with what it found", "%s", p->op->name);
    else
        drill_expect(d,
                     p->op->kind == OPK_READ_RESPONSE && p->op->pos == position(k, n) &&
                         p->payload_bytes == bytes &&
                         memcmp(p->payload, m->data + from, bytes) == 0,
                     "a READ is answered by what is there, in its order", "%s, %u bytes",
                     p->op->name, p->payload_bytes);
}

/* Returns the message whose PSNs include @psn, among the requests of @host; NULL: none. */
static struct message *message_of(struct messages *s, unsigned host, uint32_t service, uint32_t psn)
{
    for (uint32_t i = 0; i < s->n_batch; i++) {
        struct message *m = &s->batch[i];

        if (m->from == host && m->service == service && is_between(psn, m->psn, m->n_psns))
            return m;
    }
    return NULL;
}

static bool is_last_of_rc(const struct messages *s, const struct message *m, uint32_t psn)
{
    for (const struct message *next = m + 1; next < s->batch + s->n_batch; next++) {
        if (next->from == m->from && next->service == QPT_RC)
            return false;
    }
    return psn == ((m->psn + m->n_psns - 1) & PSN_MASK);
}

/* Checks @p, a response that goes to @host. */
static void judge_back(struct drill *d, unsigned host, const struct packet *p)
{
    struct messages *s = d->own;
    struct message *m = message_of(s, host, QPT_RC, p->bth.psn.v);

    if (!drill_expect(d, m != NULL, "an answer is to something that was asked", "%s, psn %u",
                      p->op->name, p->bth.psn.v))
        return;
    if (p->op->kind == OPK_ACK)
        drill_expect(d, aeth_is_ack(p->aeth.syndrome), "nothing is refused", "syndrome 0x%x",
                     p->aeth.syndrome);
    else
        judge_answer(d, m, p);
    if (!is_last_of_rc(s, m, p->bth.psn.v))
        return;
    s->is_answered[host] = true;
    drill_expect(d, !(p->op->headers & H_AETH) || p->aeth.msn == (s->msn[!host] & PSN_MASK),
                 "the MSN counts messages", "%u, not %u", p->aeth.msn, s->msn[!host] & PSN_MASK);
}

/* Checks @p, which @host sent. */
static void judge_frame(struct drill *d, unsigned host, const struct packet *p)
{
    struct messages *s = d->own;
    struct message *m;
    uint32_t service = QPT_RC;

    while (service < MSG_SERVICES && s->end[!host][service].qpn != p->bth.dest_qpn)
        service++;
    if (!drill_expect(d, service < MSG_SERVICES, "packets go to who they are for", "QPN %u",
                      p->bth.dest_qpn))
        return;
    if (p->op->kind == OPK_ACK || p->op->kind == OPK_READ_RESPONSE ||
        p->op->kind == OPK_ATOMIC_ACK) {
        judge_back(d, !host, p);
        return;
    }
    m = message_of(s, host, service, p->bth.psn.v);
    if (!drill_expect(d, m != NULL, "a packet is of a message that was posted", "%s, psn %u",
                      p->op->name, p->bth.psn.v))
        return;
    if (drill_expect(d, m->n_sent < (msg_fetches(m) ? 1 : m->n_psns), "each packet is sent once",
                     "%s, psn %u", p->op->name, p->bth.psn.v))
        judge_request(d, m, m->n_sent, msg_fetches(m) ? 1 : m->n_psns, p);
    m->n_sent++;
}

static void judge_frames(struct drill *d)
{
    struct messages *s = d->own;

    for (uint32_t i = 0; i < s->n_tx && !d->wrong; i++) {
        size_t bytes;
        const uint8_t *frame = rdl_record_frame(d->lab, s->tx[i].id, &bytes);
        struct packet p;

        if (frame && packet_parse(&p, frame, bytes) == DROP_NONE)
            judge_frame(d, s->tx[i].host, &p);
    }
    for (uint32_t i = 0; i < s->n_batch && !d->wrong; i++) {
        const struct message *m = &s->batch[i];

        drill_expect(d,
                     m->n_sent == (msg_fetches(m) ? 1 : m->n_psns) &&
                         m->n_back == (msg_fetches(m) ? m->n_psns : 0),
                     "all of a message is sent, and all of its answer", "%u packets and %u of %u",
                     m->n_sent, m->n_back, m->n_psns);
        drill_expect(d, m->service != QPT_RC || s->is_answered[m->from],
                     "the last message is acknowledged", "it is not");
    }
}

/* --- Completions ------------------------------------------------------------------------------ */

static bool is_alike(const struct rdl_wc *have, const struct rdl_wc *want, bool knows_length)
{
    return have->status == want->status && have->opcode == want->opcode &&
           (!knows_length || have->byte_len == want->byte_len) &&
           have->wc_flags == want->wc_flags && have->src_qp == want->src_qp &&
           (!(want->wc_flags & WCF_WITH_IMM) || memcmp(have->imm, want->imm, 4) == 0);
}

static void judge_completion(struct drill *d, unsigned host, const struct rdl_wc *wc)
{
    struct messages *s = d->own;
    struct msg_expected *e = s->expected[host];
    uint32_t i = 0;

    while (i < s->n_expected[host] && (e[i].is_done || e[i].wc.wr_id != wc->wr_id))
        i++;
    if (!drill_expect(d, i < s->n_expected[host] && e[i].wc.qp_num == wc->qp_num,
                      "what is signaled completes, once, and nothing else", "wr_id %u",
                      (unsigned)wc->wr_id))
        return;
    for (uint32_t before = 0; before < i; before++)
        drill_expect(d,
                     e[before].is_done || e[before].wc.qp_num != wc->qp_num ||
                         e[before].is_recv != e[i].is_recv,
                     "a queue completes in the order of posting", "wr_id %u", (unsigned)wc->wr_id);
    e[i].is_done = true;
    drill_expect(d, is_alike(wc, &e[i].wc, e[i].is_recv || wc->opcode == (uint32_t)WC_RDMA_READ),
                 "a completion tells what happened", "wr_id %u: %s, %u bytes, flags 0x%x",
                 (unsigned)wc->wr_id, enum_name(&enum_wc_status, wc->status), wc->byte_len,
                 wc->wc_flags);
}

static void judge_completions(struct drill *d, unsigned host)
{
    struct messages *s = d->own;
    struct rdl_wc wc;

    drill_say(d, "poll_cq h%u.cq max=64", host + 1);
    while (!d->wrong && rig_poll(d, s->cq[host], &wc))
        judge_completion(d, host, &wc);
    for (uint32_t i = 0; i < s->n_expected[host]; i++)
        drill_expect(d, s->expected[host][i].is_done, "what is signaled completes",
                     "wr_id %u does not", (unsigned)s->expected[host][i].wc.wr_id);
}

static bool is_solicited(const struct messages *s, unsigned host)
{
    for (uint32_t i = 0; i < s->n_batch; i++) {
        if (s->batch[i].from != host && (s->batch[i].flags & SF_SOLICITED))
            return true;
    }
    return false;
}

static void judge_event(struct drill *d, unsigned host)
{
    struct messages *s = d->own;
    const bool wakes = (s->armed[host] == 2 && s->n_expected[host] > 0) ||
                       (s->armed[host] == 1 && is_solicited(s, host));
    size_t n = 0;
    rdl_cq cq;

    drill_say(d, "get_cq_event h%u.ch", host + 1);
    if (!drill_works(d, rdl_get_cq_event(d->lab, s->channel[host], &cq, &n),
                     "events can be taken") ||
        !drill_expect(d, (n == 1) == wakes, "a CQ that is armed tells of what it is armed for",
                      "it %s", n == 1 ? "tells" : "does not tell"))
        return;
    if (n == 0)
        return;
    s->armed[host] = 0;
    drill_say(d, "ack_cq_events h%u.cq", host + 1);
    drill_works(d, rdl_ack_cq_events(d->lab, s->cq[host], 1), "an event can be acknowledged");
}

/* --- Memory ----------------------------------------------------------------------------------- */

/* The GRH of a datagram is not modelled here.  Copies the one that was received to the model. */
static void learn_headers(struct messages *s, unsigned host, uint32_t from)
{
    for (uint32_t i = 0; i < s->n_batch; i++) {
        const struct message *m = &s->batch[i];
        uint32_t left = MSG_GRH;

        if (m->service != QPT_UD || m->from == host)
            continue;
        for (uint32_t p = 0; p < m->recv.n && left > 0; p++) {
            const uint32_t n = m->recv.bytes[p] < left ? m->recv.bytes[p] : left;

            memcpy(s->memory[host] + m->recv.at[p], s->have + (m->recv.at[p] - from), n);
            left -= n;
        }
    }
}

static void judge_memory(struct drill *d, unsigned host)
{
    struct messages *s = d->own;
    const uint32_t from = s->from[host] > AROUND ? s->from[host] - AROUND : 0;
    const uint32_t to = s->used[host] + AROUND < MSG_ROOM ? s->used[host] + AROUND : MSG_ROOM;
    uint32_t k = 0;

    if (!drill_works(d,
                     rdl_mem_read(d->lab, s->host[host], s->base[host] + from, s->have, to - from),
                     "memory can be read"))
        return;
    learn_headers(s, host, from);
    while (k < to - from && s->have[k] == s->memory[host][from + k])
        k++;
    drill_expect(d, k == to - from, "memory has what was moved, and nothing else",
                 "byte %u of h%u is 0x%02x, not 0x%02x", from + k, host + 1, s->have[k],
                 s->memory[host][from + k]);
}

void msg_judge(struct drill *d)
{
    for (unsigned h = 0; h < RIG_HOSTS && !d->wrong; h++) {
        judge_completions(d, h);
        judge_event(d, h);
        judge_memory(d, h);
    }
    judge_frames(d);
}
