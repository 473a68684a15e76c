/* SPDX-License-Identifier: MIT */
/* The drill of aims: the lab, the messages, and their results. */
#include "swarm/drills/drill_aims.h"

#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/psn.h"
#include "emu/facts/virtio/feature.h"
#include "emu/trace/kind.h"
#include "rdmalab/verbs.h"
#include "swarm/drills/kinds.h"

#define STEPS      20u
#define CQ_ENTRIES 64u
#define TIMEOUT    8u /* 1 ms: longer than any fault delays a frame */
#define RETRIES    7u
#define RNR_TIMER  1u    /* 10 us */
#define LATE_NS    8000u /* how long a receive is missing */

static const char *const host_names[AIM_HOSTS] = {"h1", "h2", "h3"};

/* --- Messages --------------------------------------------------------------------------------- */

static bool takes_recv(const struct aim_message *m)
{
    return m->opcode == WR_SEND || m->opcode == WR_SEND_WITH_IMM ||
           m->opcode == WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(const struct aim_message *m)
{
    return m->opcode == WR_SEND_WITH_IMM || m->opcode == WR_RDMA_WRITE_WITH_IMM;
}

static bool fetches(const struct aim_message *m)
{
    return m->opcode == WR_RDMA_READ || m->opcode == WR_ATOMIC_FETCH_AND_ADD;
}

static uint32_t take_room(struct drill *d, uint32_t host, uint32_t bytes)
{
    struct aims *s = d->own;
    const uint32_t at = (s->used[host] + drill_below(d, 40) + AIM_WORD - 1) / AIM_WORD * AIM_WORD;

    s->used[host] = at + bytes;
    RDL_ASSERT(s->used[host] <= AIM_ROOM);
    return at;
}

static void draw_message(struct drill *d, struct aim_message *m)
{
    static const uint32_t opcodes[] = {WR_SEND,       WR_SEND_WITH_IMM,       WR_RDMA_WRITE,
                                       WR_RDMA_WRITE, WR_RDMA_WRITE_WITH_IMM, WR_RDMA_READ,
                                       WR_RDMA_READ,  WR_ATOMIC_FETCH_AND_ADD};
    struct aims *s = d->own;

    *m = (struct aim_message){.number = AIM_NONE, .wr_id = ++s->wr_id, .recv_id = ++s->wr_id};
    m->end = drill_below(d, AIM_ENDS);
    m->opcode = opcodes[drill_below(d, ARRAY_LEN(opcodes))];
    m->bytes = m->opcode == WR_ATOMIC_FETCH_AND_ADD ? AIM_WORD
               : drill_one_in(d, 2)                 ? drill_below(d, AIM_MTU + 1)
                                                    : drill_below(d, AIM_PKTS * AIM_MTU + 1);
    m->own = take_room(d, aim_host(m->end), m->bytes);
    m->far = take_room(d, aim_host(aim_other(m->end)), m->bytes);
    m->add = prng_next(&d->rng);
    for (uint32_t i = 0; i < m->bytes; i++)
        m->data[i] = (uint8_t)prng_next(&d->rng);
    m->psn = s->psn[m->end];
    m->n_psns = m->opcode == WR_ATOMIC_FETCH_AND_ADD || m->bytes == 0
                    ? 1
                    : (m->bytes + AIM_MTU - 1) / AIM_MTU;
    s->psn[m->end] = (m->psn + m->n_psns) & PSN_MASK;
}

static bool write_bytes(struct drill *d, uint32_t host, uint32_t at, const struct aim_message *m)
{
    struct aims *s = d->own;

    memcpy(s->memory[host] + at, m->data, m->bytes);
    return m->bytes == 0 ||
           drill_works(d,
                       rdl_mem_write(d->lab, s->host[host], s->base[host] + at, m->data, m->bytes),
                       "memory can be written");
}

/* Writes what the message moves, and lets it happen in the model. */
static bool prepare(struct drill *d, const struct aim_message *m)
{
    struct aims *s = d->own;
    const uint32_t here = aim_host(m->end), there = aim_host(aim_other(m->end));
    const bool is_fetch = fetches(m);

    if (!write_bytes(d, is_fetch ? there : here, is_fetch ? m->far : m->own, m))
        return false;
    memcpy(s->memory[is_fetch ? here : there] + (is_fetch ? m->own : m->far), m->data, m->bytes);
    if (m->opcode == WR_ATOMIC_FETCH_AND_ADD)
        st_le64(s->memory[there] + m->far, ld_le64(m->data) + m->add);
    return true;
}

static bool post_recv(struct drill *d, const struct aim_message *m)
{
    struct aims *s = d->own;
    const uint32_t end = aim_other(m->end), host = aim_host(end);
    struct rdl_sge sge = {s->base[host] + m->far, m->bytes, s->key[host]};
    const struct rdl_recv_wr wr = {.wr_id = m->recv_id, .sge = &sge, .n_sge = 1};

    return drill_works(d, rdl_post_recv(d->lab, s->end[end].qp, &wr, false),
                       "a receive can be posted");
}

static bool post_send(struct drill *d, const struct aim_message *m)
{
    struct aims *s = d->own;
    const uint32_t host = aim_host(m->end), there = aim_host(aim_other(m->end));
    struct rdl_sge sge = {s->base[host] + m->own, m->bytes, s->key[host]};
    struct rdl_send_wr wr = {.wr_id = m->wr_id,
                             .opcode = m->opcode,
                             .flags = SF_SIGNALED,
                             .sge = &sge,
                             .n_sge = 1,
                             .remote_addr = s->base[there] + m->far,
                             .rkey = s->key[there],
                             .compare_add = m->add};

    st_be32(wr.imm, (uint32_t)m->add);
    return drill_works(d, rdl_post_send(d->lab, s->end[m->end].qp, &wr, false),
                       "a request can be posted");
}

/* --- Results ---------------------------------------------------------------------------------- */

static struct aim_message *message_of(struct aims *s, uint64_t wr_id, bool *ret_recv)
{
    for (uint32_t i = 0; i < s->n_batch; i++) {
        *ret_recv = s->batch[i].recv_id == wr_id;
        if (*ret_recv || s->batch[i].wr_id == wr_id)
            return &s->batch[i];
    }
    return NULL;
}

/* Returns true if a message of the same queue pair before @m has not completed. */
static bool is_early(const struct aims *s, const struct aim_message *m, bool is_recv)
{
    for (const struct aim_message *b = s->batch; b < m; b++) {
        if (b->end == m->end && (is_recv ? takes_recv(b) && !b->is_received : !b->is_done))
            return true;
    }
    return false;
}

static bool completion_is_right(struct drill *d, uint32_t host, const struct rdl_wc *wc)
{
    struct aims *s = d->own;
    bool is_recv = false;
    struct aim_message *m = message_of(s, wc->wr_id, &is_recv);
    uint8_t imm[4];
    uint32_t end;

    if (!drill_expect(d, m != NULL, "what was posted completes, and nothing else", "wr_id %u",
                      (unsigned)wc->wr_id))
        return false;
    end = is_recv ? aim_other(m->end) : m->end;
    st_be32(imm, (uint32_t)m->add);
    if (!drill_expect(d,
                      aim_host(end) == host && wc->qp_num == s->end[end].qpn &&
                          !(is_recv ? m->is_received : m->is_done) && !is_early(s, m, is_recv),
                      "each completes once, at its queue pair, in the order of posting", "wr_id %u",
                      (unsigned)wc->wr_id) ||
        !drill_expect(d, wc->status == WCS_SUCCESS,
                      "faults that lose little do not end a connection", "wr_id %u: %s",
                      (unsigned)wc->wr_id, enum_name(&enum_wc_status, wc->status)) ||
        !drill_expect(d,
                      !is_recv || (wc->byte_len == m->bytes &&
                                   (wc->wc_flags & WCF_WITH_IMM ? true : false) == has_imm(m) &&
                                   (!has_imm(m) || memcmp(wc->imm, imm, 4) == 0)),
                      "a receive tells what has come", "wr_id %u: %u bytes", (unsigned)wc->wr_id,
                      wc->byte_len))
        return false;
    *(is_recv ? &m->is_received : &m->is_done) = true;
    return true;
}

/* An acknowledge completes the last answer of a READ or an atomic that rxe waits for, also if that
 * answer was lost.  So what comes into the memory of rxe last is not judged.
 */
static void learn_answers(struct aims *s, uint32_t host)
{
    for (uint32_t i = 0; i < s->n_batch; i++) {
        const struct aim_message *m = &s->batch[i];
        const uint32_t last = (m->n_psns - 1) * AIM_MTU;

        if (s->is_rxe[host] && aim_host(m->end) == host && fetches(m))
            memcpy(s->memory[host] + m->own + last, s->have + m->own + last, m->bytes - last);
    }
}

static bool memory_is_right(struct drill *d, uint32_t host)
{
    struct aims *s = d->own;
    uint32_t k = 0;

    if (s->used[host] == 0)
        return true;
    if (!drill_works(d, rdl_mem_read(d->lab, s->host[host], s->base[host], s->have, s->used[host]),
                     "memory can be read"))
        return false;
    learn_answers(s, host);
    while (k < s->used[host] && s->have[k] == s->memory[host][k])
        k++;
    return drill_expect(d, k == s->used[host], "memory has what was moved, whatever was lost",
                        "byte %u of h%u is 0x%02x, not 0x%02x", k, host + 1, s->have[k],
                        s->memory[host][k]);
}

static void judge(struct drill *d)
{
    struct aims *s = d->own;
    struct rdl_wc wc;

    for (uint32_t h = 0; h < AIM_HOSTS; h++) {
        while (rig_poll(d, s->cq[h], &wc)) {
            if (!completion_is_right(d, h, &wc))
                return;
        }
        if (d->wrong || !memory_is_right(d, h))
            return;
    }
    for (uint32_t i = 0; i < s->n_batch; i++) {
        const struct aim_message *m = &s->batch[i];

        if (!drill_expect(d, m->is_done && m->is_received == takes_recv(m),
                          "all that was posted completes", "wr_id %u does not", (unsigned)m->wr_id))
            return;
    }
    aim_judges_faults(d);
}

/* --- Steps ------------------------------------------------------------------------------------ */

static bool post_recvs(struct drill *d)
{
    struct aims *s = d->own;

    for (uint32_t i = 0; i < s->n_batch; i++) {
        if (takes_recv(&s->batch[i]) && !post_recv(d, &s->batch[i]))
            return false;
    }
    return true;
}

/* Sends messages.  Sometimes their receives are late, or a fault comes or goes while they are under
 * way.
 */
static void take(struct drill *d)
{
    struct aims *s = d->own;
    const bool is_late = drill_one_in(d, 4), is_changed = drill_one_in(d, 4);

    d->n_unsaid++;
    if (drill_one_in(d, 3))
        aim_removes_fault(d);
    if (!drill_one_in(d, 3))
        aim_adds_fault(d);
    if (drill_one_in(d, 4))
        aim_is_refused(d);
    s->n_hits = s->n_met = s->n_changes = s->n_flights = 0;
    memset(s->used, 0, sizeof(s->used));
    s->n_batch = 1 + drill_below(d, AIM_BATCH);
    for (uint32_t i = 0; i < s->n_batch; i++) {
        draw_message(d, &s->batch[i]);
        if (!prepare(d, &s->batch[i]))
            return;
    }
    if (d->wrong || (!is_late && !post_recvs(d)))
        return;
    for (uint32_t i = 0; i < s->n_batch; i++) {
        if (!post_send(d, &s->batch[i]))
            return;
    }
    if (is_changed) {
        if (!drill_run_for(d, drill_below(d, LATE_NS)))
            return;
        if (drill_one_in(d, 2))
            aim_removes_fault(d);
        else
            aim_adds_fault(d);
    }
    if (is_late && (!drill_run_for(d, LATE_NS) || !post_recvs(d)))
        return;
    if (drill_settle(d))
        judge(d);
}

/* --- The lab ---------------------------------------------------------------------------------- */

static bool add_memory(struct drill *d, uint32_t h)
{
    struct aims *s = d->own;
    struct rdl_mr_info info;
    rdl_mr mr;

    if (!drill_works(d, rdl_mem_alloc(d->lab, s->host[h], AIM_ROOM, &s->base[h]),
                     "memory can be had") ||
        !drill_is_done(d, s->host[h],
                       rdl_reg_mr(d->lab, s->pd[h], s->base[h], AIM_ROOM, rig_rights, "mine", &mr),
                       "memory can be registered") ||
        !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has a key"))
        return false;
    s->key[h] = info.lkey;
    return true;
}

static bool add_end(struct drill *d, uint32_t end)
{
    struct aims *s = d->own;
    const uint32_t h = aim_host(end);
    struct rig_end *e = &s->end[end];
    const struct rdl_qp_config c = {
        .pd = s->pd[h], .type = QPT_RC, .send_cq = s->cq[h], .recv_cq = s->cq[h]};

    *e = (struct rig_end){.number = h,
                          .host = s->host[h],
                          .access = rig_rights,
                          .timeout = TIMEOUT,
                          .retry_cnt = RETRIES,
                          .path_mtu = MTU_256,
                          .min_rnr_timer = RNR_TIMER};
    e->sq_psn = drill_one_in(d, 3) ? PSN_MASK - drill_below(d, 20) : drill_below(d, PSN_MASK);
    s->psn[end] = e->sq_psn;
    snprintf(e->name, sizeof(e->name), "%c", end % 2 == 0 ? 'a' : 'b');
    return rig_add_qp(d, e, &c);
}

static bool add_host(struct drill *d, uint32_t h)
{
    struct aims *s = d->own;
    struct rdl_host_config host = {.name = host_names[h],
                                   .device = drill_device(d, h),
                                   .profile = drill_one_in(d, 3) ? rig_draw_rxe(d) : PROFILE_iba};
    const struct rdl_link_config link = {
        .a = host_names[h], .b = "s1", .latency_ns = 1 + drill_below(d, 3000)};
    const uint32_t first = drill_below(d, 2);
    char words[EXTEND_WORDS_BYTES];

    (void)drill_extend(d, h, &host, words);
    s->is_rxe[h] = rig_is_rxe(host.profile);
    return drill_works(d, rdl_host_add(d->lab, &host, &s->host[h]), "a host can be added") &&
           drill_works(d, rdl_link_add(d->lab, &link, &s->link[h]), "a link can be added") &&
           drill_is_done(d, s->host[h], rdl_alloc_pd(d->lab, s->host[h], "pd", &s->pd[h]),
                         "a domain can be had") &&
           drill_is_done(d, s->host[h],
                         rdl_create_cq(d->lab, s->host[h], CQ_ENTRIES, "cq", &s->cq[h]),
                         "a CQ can be created") &&
           add_memory(d, h) && add_end(d, 2 * h + first) && add_end(d, 2 * h + !first);
}

static void set_up(struct drill *d)
{
    static const enum ev_kind heard[] = {EV_tx, EV_forwarded, EV_flooded, EV_fault, EV_lost};
    struct aims *s = d->own;
    struct ev_set kinds = ev_set_none;
    rdl_switch network;

    s->drill = d;
    if (!drill_works(d, rdl_switch_add(d->lab, "s1", &network), "a switch can be added"))
        return;
    for (uint32_t h = 0; h < AIM_HOSTS; h++) {
        if (!add_host(d, h))
            return;
    }
    for (uint32_t end = 0; end < AIM_ENDS; end += 2) {
        if (!rig_connect(d, &s->end[end], &s->end[aim_other(end)]))
            return;
    }
    if (!drill_works(d, rdl_listen(d->lab, aim_hear, s, &s->listener),
                     "the lab can be listened to"))
        return;
    for (uint32_t i = 0; i < ARRAY_LEN(heard); i++)
        ev_set_add(&kinds, heard[i]);
    rdl_hear(d->lab, s->listener, &kinds);
}

/* Ends the listener, which writes to memory that is freed with the drill. */
static void finish(struct drill *d)
{
    struct aims *s = d->own;

    rdl_unlisten(d->lab, s->listener);
}

const struct drill_kind drill_of_aims = {.name = "aims",
                                         .bytes = sizeof(struct aims),
                                         .steps = STEPS,
                                         .set_up = set_up,
                                         .take = take,
                                         .finish = finish,
                                         .any_device = true,
                                         .extensions = RDMA_EXTENSIONS};
