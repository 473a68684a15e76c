/* SPDX-License-Identifier: MIT */
/* The drill of messages: draws and posts messages of every kind without loss, and computes their
 * expected results.
 */
#include "swarm/drills/drill_messages.h"

#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/psn.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/wr.h"
#include "emu/trace/event.h"
#include "rdmalab/ip.h"
#include "swarm/drills/kinds.h"

#define STEPS          16u
#define CQ_ENTRIES     64u
#define GAP            40u
#define DATAGRAM_BYTES 4096u
#define LINE_BYTES     256u
#define PINGS          2u /* that are sent when one is on its way already */
#define PING_BYTES     800u
#define PING_NS        1000000000u

static const char *const service_names[] = {[QPT_RC] = "rc", [QPT_UC] = "uc", [QPT_UD] = "ud"};

/* --- Buffers ---------------------------------------------------------------------------------- */

void msg_put(uint8_t *memory, const struct msg_place *p, uint32_t skip, const uint8_t *bytes,
             uint32_t n)
{
    for (uint32_t i = 0; i < p->n && n > 0; i++) {
        const uint32_t gone = skip < p->bytes[i] ? skip : p->bytes[i];
        const uint32_t room = p->bytes[i] - gone, take = room < n ? room : n;

        memcpy(memory + p->at[i] + gone, bytes, take);
        skip -= gone;
        bytes += take;
        n -= take;
    }
}

static uint32_t take_room(struct drill *d, unsigned host, uint32_t bytes, uint32_t align)
{
    struct messages *s = d->own;
    const uint32_t at = (s->used[host] + drill_below(d, GAP) + align - 1) / align * align;

    s->used[host] = at + bytes;
    RDL_ASSERT(s->used[host] <= MSG_ROOM);
    return at;
}

static struct msg_place take_place(struct drill *d, unsigned host, uint32_t bytes)
{
    struct msg_place p = {.n = drill_one_in(d, 2) ? 1 : 1 + drill_below(d, MSG_PIECES)};
    uint32_t left = bytes;

    for (uint32_t i = 0; i < p.n; i++) {
        p.bytes[i] = i + 1 == p.n ? left : drill_below(d, left + 1);
        p.at[i] = take_room(d, host, p.bytes[i], 1);
        left -= p.bytes[i];
    }
    return p;
}

/* Writes @n bytes to the memory of @host, and to its model. */
static void write_bytes(struct drill *d, unsigned host, uint32_t at, const uint8_t *bytes,
                        uint32_t n)
{
    struct messages *s = d->own;

    if (n == 0)
        return;
    memcpy(s->memory[host] + at, bytes, n);
    drill_works(d, rdl_mem_write(d->lab, s->host[host], s->base[host] + at, bytes, n),
                "memory can be written");
    if (!d->script)
        return;
    fprintf(d->script, "write h%u.mine[%u] hex=", host + 1, at);
    for (uint32_t i = 0; i < n; i++)
        fprintf(d->script, "%02x", bytes[i]);
    fputc('\n', d->script);
}

static void write_place(struct drill *d, unsigned host, const struct msg_place *p,
                        const uint8_t *bytes)
{
    for (uint32_t i = 0; i < p->n; i++) {
        write_bytes(d, host, p->at[i], bytes, p->bytes[i]);
        bytes += p->bytes[i];
    }
}

/* --- Drawing ---------------------------------------------------------------------------------- */

static uint32_t draw_opcode(struct drill *d, uint32_t service)
{
    static const uint32_t rc[] = {
        WR_SEND,      WR_SEND_WITH_IMM,        WR_RDMA_WRITE,        WR_RDMA_WRITE_WITH_IMM,
        WR_RDMA_READ, WR_ATOMIC_FETCH_AND_ADD, WR_ATOMIC_CMP_AND_SWP};
    static const uint32_t uc[] = {WR_SEND, WR_SEND_WITH_IMM, WR_RDMA_WRITE, WR_RDMA_WRITE_WITH_IMM};
    static const uint32_t ud[] = {WR_SEND, WR_SEND_WITH_IMM};

    if (service == QPT_RC)
        return rc[drill_below(d, ARRAY_LEN(rc))];
    return service == QPT_UC ? uc[drill_below(d, ARRAY_LEN(uc))]
                             : ud[drill_below(d, ARRAY_LEN(ud))];
}

static uint32_t draw_bytes(struct drill *d, uint32_t service, uint32_t mtu)
{
    /* Of the smallest packets, more than may go without asking for an ACK. */
    const uint32_t most = mtu * (mtu == mtu_bytes(MTU_256) ? MSG_ASKS + 1 : 4);
    const uint32_t edges[] = {0, 1, 3, 4, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu + 1, most};
    const uint32_t bytes =
        drill_one_in(d, 2) ? edges[drill_below(d, ARRAY_LEN(edges))] : drill_below(d, 500);

    return service == QPT_UD && bytes > DATAGRAM_BYTES ? DATAGRAM_BYTES : bytes;
}

static void draw_flags(struct drill *d, struct message *m)
{
    if (!drill_one_in(d, 4))
        m->flags |= SF_SIGNALED;
    if (msg_takes_recv(m) && drill_one_in(d, 3))
        m->flags |= SF_SOLICITED;
    if (m->service == QPT_RC && drill_one_in(d, 6))
        m->flags |= SF_FENCE;
    if (!msg_fetches(m) && m->bytes <= MSG_INLINE && drill_one_in(d, 2))
        m->flags |= SF_INLINE;
}

/* Draws the operands of an atomic.  A compare value is often the word's present value, so that the
 * swap happens.
 */
static void draw_atomic(struct drill *d, struct message *m)
{
    struct messages *s = d->own;

    m->bytes = MSG_WORD;
    m->remote = take_room(d, !m->from, MSG_WORD, MSG_WORD);
    m->compare = prng_next(&d->rng);
    m->swap = prng_next(&d->rng);
    if (m->opcode == WR_ATOMIC_CMP_AND_SWP && !drill_one_in(d, 3))
        m->compare = ld_le64(s->memory[!m->from] + m->remote);
}

static void draw_message(struct drill *d, struct message *m)
{
    struct messages *s = d->own;

    memset(m, 0, offsetof(struct message, data));
    m->n_sent = m->n_back = 0;
    m->service = drill_one_in(d, 2)   ? (uint32_t)QPT_RC
                 : drill_one_in(d, 2) ? (uint32_t)QPT_UC
                                      : (uint32_t)QPT_UD;
    m->from = drill_below(d, RIG_HOSTS);
    m->opcode = draw_opcode(d, m->service);
    m->bytes = draw_bytes(d, m->service, s->mtu);
    m->wr_id = ++s->wr_id;
    m->recv_id = ++s->wr_id;
    st_be32(m->imm, (uint32_t)prng_next(&d->rng));
    if (msg_is_atomic(m))
        draw_atomic(d, m);
    else if (msg_is_write(m) || msg_fetches(m))
        m->remote = take_room(d, !m->from, m->bytes, 1);
    for (uint32_t i = 0; i < m->bytes; i++)
        m->data[i] = (uint8_t)prng_next(&d->rng);
    draw_flags(d, m);
    m->own = take_place(d, m->from, m->bytes);
    if (msg_takes_recv(m))
        m->recv = take_place(d, !m->from,
                             (m->service == QPT_UD ? MSG_GRH : 0) + m->bytes + drill_below(d, GAP));
}

/* --- Expected results ------------------------------------------------------------------------- */

static void expect_completion(struct messages *s, unsigned host, const struct rdl_wc *wc,
                              bool is_recv)
{
    RDL_ASSERT(s->n_expected[host] < ARRAY_LEN(s->expected[0]));
    s->expected[host][s->n_expected[host]++] = (struct msg_expected){.wc = *wc, .is_recv = is_recv};
}

static void foresee_recv(struct messages *s, const struct message *m)
{
    const uint32_t lead = m->service == QPT_UD ? MSG_GRH : 0;
    struct rdl_wc wc = {.wr_id = m->recv_id,
                        .status = WCS_SUCCESS,
                        .opcode = msg_is_write(m) ? WC_RECV_RDMA_WITH_IMM : WC_RECV,
                        .byte_len = m->bytes + lead,
                        .qp_num = s->end[!m->from][m->service].qpn};

    if (msg_has_imm(m)) {
        wc.wc_flags |= WCF_WITH_IMM;
        memcpy(wc.imm, m->imm, sizeof(wc.imm));
    }
    if (m->service == QPT_UD || rig_is_rxe(s->profile))
        wc.wc_flags |= WCF_GRH;
    if (m->service == QPT_UD) {
        wc.src_qp = s->end[m->from][QPT_UD].qpn;
    }
    expect_completion(s, !m->from, &wc, true);
    if (!msg_is_write(m))
        msg_put(s->memory[!m->from], &m->recv, lead, m->data, m->bytes);
}

static void foresee_atomic(struct messages *s, struct message *m)
{
    uint8_t *word = s->memory[!m->from] + m->remote;
    const uint64_t found = ld_le64(word);

    memcpy(m->data, word, MSG_WORD);
    if (m->opcode == WR_ATOMIC_FETCH_AND_ADD)
        st_le64(word, found + m->compare);
    else if (found == m->compare)
        st_le64(word, m->swap);
}

void msg_foresee(struct messages *s, struct message *m)
{
    const struct rdl_wc wc = {.wr_id = m->wr_id,
                              .status = WCS_SUCCESS,
                              .opcode = wr_completes_as(m->opcode),
                              .byte_len = m->bytes,
                              .qp_num = s->end[m->from][m->service].qpn};

    m->psn = s->psn[m->from][m->service];
    m->n_psns = msg_packets(s, m);
    s->psn[m->from][m->service] = (m->psn + m->n_psns) & PSN_MASK;
    if (m->service == QPT_RC) {
        s->msn[!m->from]++;
        s->is_answered[m->from] = false;
    }
    if (m->flags & SF_SIGNALED)
        expect_completion(s, m->from, &wc, false);
    if (msg_is_atomic(m))
        foresee_atomic(s, m);
    else if (msg_is_write(m))
        memcpy(s->memory[!m->from] + m->remote, m->data, m->bytes);
    if (msg_fetches(m))
        msg_put(s->memory[m->from], &m->own, 0, m->data, m->bytes);
    if (msg_takes_recv(m))
        foresee_recv(s, m);
}

/* --- Posting ---------------------------------------------------------------------------------- */

static uint32_t make_sges(const struct messages *s, unsigned host, const struct msg_place *p,
                          struct rdl_sge *sge, char *line)
{
    size_t used = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        sge[i] = (struct rdl_sge){s->base[host] + p->at[i], p->bytes[i], s->key[host]};
        used += (size_t)snprintf(line + used, LINE_BYTES - used, "%smine[%u:%u]", i ? "," : "",
                                 p->at[i], p->at[i] + p->bytes[i]);
    }
    return p->n;
}

static bool post_recv(struct drill *d, const struct message *m)
{
    struct messages *s = d->own;
    struct rdl_sge sge[MSG_PIECES];
    char line[LINE_BYTES];
    const struct rdl_recv_wr wr = {
        .wr_id = m->recv_id, .sge = sge, .n_sge = make_sges(s, !m->from, &m->recv, sge, line)};

    drill_say(d, "post_recv h%u.%s wr_id=%u sge=%s", !m->from + 1u, service_names[m->service],
              (unsigned)m->recv_id, line);
    return drill_works(d, rdl_post_recv(d->lab, s->end[!m->from][m->service].qp, &wr, false),
                       "a receive can be posted");
}

static void say_send(struct drill *d, const struct message *m, const char *sges)
{
    const struct messages *s = d->own;
    char to[96] = "", more[96] = "";

    if (m->service == QPT_UD)
        snprintf(to, sizeof(to), " ah=ah remote_qpn=%u remote_qkey=0x%x",
                 s->end[!m->from][QPT_UD].qpn, RIG_QKEY);
    else if (msg_is_write(m) || msg_fetches(m))
        snprintf(to, sizeof(to), " remote=h%u.mine[%u]", !m->from + 1u, m->remote);
    if (msg_has_imm(m))
        snprintf(more, sizeof(more), " imm=0x%02x%02x%02x%02x", m->imm[0], m->imm[1], m->imm[2],
                 m->imm[3]);
    else if (m->opcode == WR_ATOMIC_FETCH_AND_ADD)
        snprintf(more, sizeof(more), " add=%" PRIu64, m->compare);
    else if (m->opcode == WR_ATOMIC_CMP_AND_SWP)
        snprintf(more, sizeof(more), " compare=%" PRIu64 " swap=%" PRIu64, m->compare, m->swap);
    drill_say(d, "post_send h%u.%s wr_id=%u op=%s sge=%s%s%s%s%s%s%s", m->from + 1u,
              service_names[m->service], (unsigned)m->wr_id,
              enum_name(&enum_send_opcode, m->opcode), sges, to, more,
              m->flags & SF_SIGNALED ? " signaled" : "",
              m->flags & SF_SOLICITED ? " solicited" : "", m->flags & SF_FENCE ? " fence" : "",
              m->flags & SF_INLINE ? " inline" : "");
}

static bool post_send(struct drill *d, const struct message *m)
{
    struct messages *s = d->own;
    struct rdl_sge sge[MSG_PIECES];
    char line[LINE_BYTES];
    struct rdl_send_wr wr = {.wr_id = m->wr_id,
                             .opcode = m->opcode,
                             .flags = m->flags,
                             .remote_addr = s->base[!m->from] + m->remote,
                             .rkey = s->key[!m->from],
                             .compare_add = m->compare,
                             .swap = m->swap};
    const uint32_t n = make_sges(s, m->from, &m->own, sge, line);

    memcpy(wr.imm, m->imm, sizeof(wr.imm));
    if (m->flags & SF_INLINE) {
        wr.inline_data = m->data;
        wr.inline_bytes = m->bytes;
    } else {
        wr.sge = sge;
        wr.n_sge = n;
    }
    if (m->service == QPT_UD) {
        wr.ud.ah = s->ah[m->from];
        wr.ud.remote_qpn = s->end[!m->from][QPT_UD].qpn;
        wr.ud.remote_qkey = RIG_QKEY;
    }
    say_send(d, m, line);
    return drill_works(d, rdl_post_send(d->lab, s->end[m->from][m->service].qp, &wr, false),
                       "a request can be posted");
}

/* Fills the buffers that @m reads from, computes its results and posts the receive that it needs.
 */
static bool prepare(struct drill *d, struct message *m)
{
    struct messages *s = d->own;

    if (m->opcode == WR_RDMA_READ)
        write_bytes(d, !m->from, m->remote, m->data, m->bytes);
    else if (!msg_fetches(m))
        write_place(d, m->from, &m->own, m->data);
    msg_foresee(s, m);
    return !d->wrong && (!msg_takes_recv(m) || post_recv(d, m));
}

/* --- Steps ------------------------------------------------------------------------------------ */

static bool arm(struct drill *d, unsigned host)
{
    struct messages *s = d->own;
    const bool solicited = drill_one_in(d, 2);
    const uint32_t as = solicited ? 1 : 2;

    if (drill_one_in(d, 3))
        return true;
    s->armed[host] = as > s->armed[host] ? as : s->armed[host];
    drill_say(d, "req_notify_cq h%u.cq%s", host + 1, solicited ? " solicited" : "");
    return drill_is_done(d, s->host[host], rdl_req_notify_cq(d->lab, s->cq[host], solicited),
                         "a CQ can be armed");
}

static bool send_pings(struct drill *d, unsigned host, uint32_t n)
{
    const struct messages *s = d->own;
    struct rdl_ping_config c = {.bytes = PING_BYTES, .timeout_ns = PING_NS};
    rdl_ping_id id;
    uint8_t mac[6];

    d->n_unsaid++;
    for (uint32_t i = 0; i < n; i++) {
        if (!drill_works(d, rdl_host_address(d->lab, s->host[!host], 0, c.address, mac),
                         "a host has an address") ||
            !drill_works(d, rdl_ping(d->lab, s->host[host], &c, &id), "a host can send a ping"))
            return false;
    }
    return true;
}

/* Returns true if the port of the first sender will have packets of RDMA for a while. */
static bool lasts(const struct messages *s)
{
    const struct message *m = &s->batch[0];

    return m->service != QPT_UD && !msg_fetches(m) && msg_packets(s, m) > PINGS;
}

/* RDMA and IP share a port.  When one ping is being sent, and others and a message are there, then
 * they take turns: a packet of the message is next.
 */
static void judge_turns(struct drill *d, unsigned host)
{
    const struct messages *s = d->own;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_turns && n < 2 * PINGS + 1; i++) {
        if (s->turn[i].host != host)
            continue;
        if (!drill_expect(d, s->turn[i].is_ip == (n % 2 == 0),
                          "who has frames for a port takes its turn", "frame %u is of %s", n,
                          s->turn[i].is_ip ? "IP" : "RDMA"))
            return;
        n++;
    }
}

static void take(struct drill *d)
{
    struct messages *s = d->own;
    bool takes_turns;

    s->n_tx = s->n_turns = 0;
    s->n_batch = 1 + drill_below(d, MSG_BATCH);
    for (unsigned h = 0; h < RIG_HOSTS; h++) {
        s->from[h] = s->used[h] = drill_below(d, 2048);
        s->n_expected[h] = 0;
        if (!arm(d, h))
            return;
    }
    for (uint32_t i = 0; i < s->n_batch; i++) {
        draw_message(d, &s->batch[i]);
        if (!prepare(d, &s->batch[i]))
            return;
    }
    takes_turns = drill_one_in(d, 2) && lasts(s);
    if (takes_turns && !send_pings(d, s->batch[0].from, 1))
        return;
    for (uint32_t i = 0; i < s->n_batch; i++) {
        if (!post_send(d, &s->batch[i]))
            return;
    }
    if (takes_turns && !send_pings(d, s->batch[0].from, PINGS))
        return;
    drill_say(d, "run");
    if (!drill_settle(d))
        return;
    msg_judge(d);
    if (takes_turns)
        judge_turns(d, s->batch[0].from);
}

static void hear(void *ctx, const struct ev *e)
{
    struct messages *s = ctx;
    const bool is_ip = e->kind == EV_eth_tx;

    if (s->n_turns < MSG_TURNS)
        s->turn[s->n_turns++] = (struct msg_turn){is_ip ? e->u.eth_tx.host : e->u.tx.host, is_ip};
    if (is_ip || s->n_tx == MSG_FRAMES)
        return;
    s->tx[s->n_tx].id = e->id;
    s->tx[s->n_tx++].host = e->u.tx.host;
}

/* --- The lab ---------------------------------------------------------------------------------- */

static bool add_memory(struct drill *d, unsigned host)
{
    const uint32_t access =
        ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;
    struct messages *s = d->own;
    struct rdl_mr_info info;
    rdl_mr mr;

    drill_say(d, "reg_mr h%u.pd len=%u access=lw,rw,rr,ra as mine", host + 1, MSG_ROOM);
    if (!drill_works(d, rdl_mem_alloc(d->lab, s->host[host], MSG_ROOM, &s->base[host]),
                     "memory can be had") ||
        !drill_is_done(
            d, s->host[host],
            rdl_reg_mr(d->lab, s->pd[host], s->base[host], MSG_ROOM, access, "mine", &mr),
            "memory can be registered") ||
        !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has a key"))
        return false;
    s->key[host] = info.lkey;
    return true;
}

static bool add_objects(struct drill *d, unsigned host)
{
    struct messages *s = d->own;
    const rdl_host h = s->host[host];

    drill_say(d, "alloc_pd h%u as pd\ncreate_comp_channel h%u as ch", host + 1, host + 1);
    drill_say(d, "create_cq h%u cqe=%u channel=h%u.ch as cq", host + 1, CQ_ENTRIES, host + 1);
    return drill_is_done(d, h, rdl_alloc_pd(d->lab, h, "pd", &s->pd[host]),
                         "a domain can be had") &&
           drill_works(d, rdl_create_comp_channel(d->lab, h, "ch", &s->channel[host]),
                       "a channel can be created") &&
           drill_is_done(d, h,
                         rdl_create_cq_on(d->lab, s->channel[host], CQ_ENTRIES, "cq", &s->cq[host]),
                         "a CQ can be created") &&
           add_memory(d, host);
}

static bool add_end(struct drill *d, unsigned host, uint32_t service)
{
    struct messages *s = d->own;
    struct rig_end *e = &s->end[host][service];
    const struct rdl_qp_config c = {.pd = s->pd[host],
                                    .type = service,
                                    .send_cq = s->cq[host],
                                    .recv_cq = s->cq[host],
                                    .max_inline_data = MSG_INLINE};

    *e = (struct rig_end){.number = host,
                          .host = s->host[host],
                          .access = ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ |
                                    ACC_REMOTE_ATOMIC,
                          .timeout = 16,
                          .gid_index = s->gid_index,
                          .retry_cnt = 7};
    e->sq_psn = drill_one_in(d, 3) ? PSN_MASK - drill_below(d, 20) : drill_below(d, PSN_MASK);
    while (128u << e->path_mtu < s->mtu)
        e->path_mtu++;
    s->psn[host][service] = e->sq_psn;
    snprintf(e->name, sizeof(e->name), "%s", service_names[service]);
    return rig_add_qp(d, e, &c);
}

/* Creates the address handle that @host uses to reach the other host. */
static bool add_handle(struct drill *d, unsigned host)
{
    struct messages *s = d->own;
    struct rdl_ah_attr a = {.hop_limit = 64, .port = 1, .sgid_index = (uint8_t)s->gid_index};
    uint8_t mac[6];

    drill_say(d, "create_ah h%u.pd dgid=h%u sgid_index=%u as ah", host + 1, !host + 1u,
              s->gid_index);
    return drill_works(d, rdl_host_address(d->lab, s->host[!host], s->gid_index, a.dgid, mac),
                       "a host has an address") &&
           drill_is_done(d, s->host[host],
                         rdl_create_ah(d->lab, s->pd[host], &a, "ah", &s->ah[host]),
                         "an address handle can be created");
}

static bool add_ends(struct drill *d)
{
    struct messages *s = d->own;

    for (uint32_t service = QPT_RC; service < MSG_SERVICES; service++) {
        for (unsigned h = 0; h < RIG_HOSTS; h++) {
            if (!add_end(d, h, service))
                return false;
        }
    }
    return rig_connect(d, &s->end[0][QPT_RC], &s->end[1][QPT_RC]) &&
           rig_connect(d, &s->end[0][QPT_UC], &s->end[1][QPT_UC]) &&
           rig_raise_ud(d, &s->end[0][QPT_UD]) && rig_raise_ud(d, &s->end[1][QPT_UD]);
}

static void set_up(struct drill *d)
{
    struct messages *s = d->own;
    struct ev_set heard = ev_set_none;
    const struct rig_config c = {.profile = drill_one_in(d, 2) ? rig_draw_rxe(d) : PROFILE_iba,
                                 .latency_ns = 1 + drill_below(d, 20000),
                                 .rate_bps = drill_one_in(d, 2) ? 0 : UINT64_C(1000000000)};

    s->profile = c.profile;
    s->mtu = 256u << drill_below(d, 5);
    s->gid_index = drill_one_in(d, 3);
    if (!rig_add_hosts(d, &c, s->host, &s->link) || !add_objects(d, 0) || !add_objects(d, 1) ||
        !add_ends(d) || !add_handle(d, 0) || !add_handle(d, 1))
        return;
    if (drill_works(d, rdl_listen(d->lab, hear, s, &s->listener), "the lab can be listened to")) {
        ev_set_add(&heard, EV_tx);
        ev_set_add(&heard, EV_eth_tx);
        rdl_hear(d->lab, s->listener, &heard);
    }
}

/* Ends the listener, which writes to memory that is freed with the drill. */
static void finish(struct drill *d)
{
    struct messages *s = d->own;

    rdl_unlisten(d->lab, s->listener);
}

const struct drill_kind drill_of_messages = {.name = "messages",
                                             .bytes = sizeof(struct messages),
                                             .steps = STEPS,
                                             .set_up = set_up,
                                             .take = take,
                                             .finish = finish,
                                             .extensions = RDMA_EXTENSIONS};
