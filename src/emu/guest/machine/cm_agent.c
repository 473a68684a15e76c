/* SPDX-License-Identifier: MIT */
#include "emu/guest/machine/cm_agent.h"

#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/min.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/profile.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/roce.h"
#include "emu/guest/ip/stack.h"
#include "emu/guest/machine/cm_wire.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/cm.h"
#include "emu/wire/grh.h"

#define RECEIVE_BYTES (GRH_BYTES + MAD_BYTES)
#define IS_SEND       0x10000u /* in a wr_id: the buffer is that of a send */
#define POLLS         16u      /* completions of a poll */
#define REARM_NS      1000000u /* until the next try to arm the CQ */
#define PACKET_LIFE   18u      /* code: a second  [Linux, CMA_IBOE_PACKET_LIFETIME] */
#define SHORT_LIFE    16u      /* a quarter  [the same, of newer kernels] */

enum timer_of { TIMER_IB, TIMER_CMA, TIMER_REARM };

static uint64_t now_ns(const struct cm_agent *a)
{
    return a->config.trace->now_ns;
}

/* --- Timers ----------------------------------------------------------------------------------- */

static uint64_t start_timer(const struct cm_agent *a, enum timer_of of, uint32_t number,
                            uint64_t at_ns)
{
    return sim_schedule(a->config.sim, at_ns, SIM_CM_TIMER, a->config.host,
                        (uint64_t)of << 32 | number);
}

static void stop_timer(void *ctx, uint64_t timer)
{
    const struct cm_agent *a = ctx;

    (void)sim_cancel(a->config.sim, timer);
}

static uint64_t ib_now(void *ctx)
{
    return now_ns(ctx);
}

/* Returns true if a message of the present tick, with the present cause, was not sent. */
static bool has_just_lost(const struct cm_agent *a)
{
    const struct trace *t = a->config.trace;

    return a->lost_by && ev_tick(a->lost_by) == t->tick && a->lost_for == t->cause;
}

/* The timer waits for the answer to the message that was sent just before.  If that was lost, this
 * is the reason of what follows.  A timer without such a message has its usual cause.
 */
static uint64_t ib_start_timer(void *ctx, uint32_t local_id, uint64_t at_ns)
{
    struct cm_agent *a = ctx;
    struct trace *t = a->config.trace;
    const ev_id old = trace_because(t, has_just_lost(a) ? a->lost_by : t->cause);
    const uint64_t timer = start_timer(a, TIMER_IB, local_id, at_ns);

    trace_because(t, old);
    a->lost_by = 0;
    return timer;
}

static uint64_t cma_start_timer(void *ctx, uint32_t number, uint64_t ns)
{
    return start_timer(ctx, TIMER_CMA, number, now_ns(ctx) + ns);
}

static void rearm(struct cm_agent *a)
{
    enum rdl_status st;

    if (a->cq->armed)
        return;
    st = verbs_rearm_cq(a->cq);
    if (st == RDL_ERR_QUEUE_FULL)
        (void)start_timer(a, TIMER_REARM, 0, now_ns(a) + REARM_NS);
    else if (st != RDL_OK)
        a->failed = st;
}

void cm_agent_timer(struct cm_agent *a, uint64_t arg)
{
    const uint32_t number = (uint32_t)arg;

    switch ((enum timer_of)(arg >> 32)) {
    case TIMER_IB:
        ib_cm_timer(&a->ib, number);
        break;
    case TIMER_CMA:
        cma_timer(&a->cma, number);
        break;
    case TIMER_REARM:
        rearm(a);
        break;
    }
}

/* --- Messages --------------------------------------------------------------------------------- */

_Static_assert(CM_AGENT_SENDS <= 64, "the set of buffers is a uint64_t");

static uint64_t send_bit(uint64_t buffer)
{
    return (uint64_t)1 << buffer;
}

static bool has_buffer(const struct cm_agent *a)
{
    return a->free_sends != 0;
}

/* The values that events have of a message: only the address if it is none of CM. */
struct told {
    struct mad_gist g;
    struct ev_addr addr; /* of the other side */
};

static struct told told_of(const uint8_t *bytes, const struct ib_cm_path *path)
{
    char buf[ADDR_TEXT_MAX];
    struct told t = {.addr = ev_addr(addr_text(path->dgid, buf))};
    struct mad m;

    if (mad_parse(&m, bytes))
        t.g = mad_gist_of(&m);
    return t;
}

/* Finds the address on the wire of @ah, if there is a layer.  Returns RDL_OK; RDL_ERR_NOT_FOUND if
 * the peer is outside, or there is no layer; otherwise a rule forbids it, or the peer has no
 * function: the message is lost.
 */
static enum rdl_status find_on_wire(const struct verbs *v, struct rdl_ah_attr *ah)
{
    const struct verbs_layer *l = v->config.layer;
    const enum rdl_status st =
        l ? l->find(v->config.layer_ctx, ah->dgid, 0, ah->dmac) : RDL_ERR_NOT_FOUND;

    if (st == RDL_OK)
        l->wire(v->config.layer_ctx, ah->dgid, 0);
    return st;
}

/* The post and its kick happen because of the message. */
static enum rdl_status post_because(struct cm_agent *a, const struct rdl_send_wr *wr,
                                    const struct rdl_ah_attr *ah, const struct cm_agent_message *m)
{
    struct trace *t = a->config.trace;
    enum rdl_status st;
    struct told is = {.g = {.message = 0}};
    ev_id id, old;

    if (trace_listens(t, EV_cm_sent))
        is = told_of(m->mad, &m->path);
    TRACE_ID(t, id, cm_sent, .host = a->config.host, .message = is.g.message, .addr = is.addr,
             .port = (uint16_t)is.g.service_id, .qpn = is.g.qpn, .psn = is.g.psn,
             .reason = is.g.reason, .status = is.g.status,
             .responder_resources = is.g.responder_resources,
             .initiator_depth = is.g.initiator_depth, .comm_id = is.g.comm_id);
    old = trace_because(t, id);
    st = verbs_post_datagram(a->gsi, wr, ah);
    trace_because(t, old);
    return st;
}

static bool post_mad(struct cm_agent *a, uint32_t buffer, const struct cm_agent_message *m,
                     const uint8_t *mac)
{
    const uint64_t gpa = a->gpa + (uint64_t)buffer * MAD_BYTES;
    const struct rdl_sge sge = {gpa, MAD_BYTES, a->mr->lkey};
    const struct rdl_send_wr wr = {
        .wr_id = IS_SEND | buffer,
        .opcode = WR_SEND,
        .flags = SF_SIGNALED,
        .sge = &sge,
        .n_sge = 1,
        .ud = {.remote_qpn = QPN_GSI, .remote_qkey = QKEY_GSI},
    };
    struct rdl_ah_attr ah = {
        .sgid_index = memcmp(m->path.sgid, a->config.verbs->config.gid[0], GID_BYTES) == 0 ? 0 : 1,
        .hop_limit = m->path.hop_limit,
        .traffic_class = m->path.traffic_class,
        .sl = m->path.sl,
        .flow_label = m->path.flow_label,
        .port = 1,
    };
    uint8_t bytes[MAD_BYTES];
    enum rdl_status st;

    memcpy(bytes, m->mad, MAD_BYTES);
    memcpy(ah.dgid, m->path.dgid, GID_BYTES);
    memcpy(ah.dmac, mac, MAC_BYTES);
    st = find_on_wire(a->config.verbs, &ah);
    if (st == RDL_ERR_NOT_FOUND) {
        cm_wire_out(a->config.verbs, bytes);
    } else if (st != RDL_OK) {
        a->lost_by = trace_last(a->config.trace);
        a->lost_for = a->config.trace->cause;
        return false;
    }
    return verbs_takes_sends(a->gsi) && ram_write(a->config.ram, gpa, bytes, MAD_BYTES) &&
           post_because(a, &wr, &ah, m) == RDL_OK;
}

/* Sends @m if the MAC is known and there is a free buffer.  Returns false if it has to wait; a
 * message that can never be sent is dropped.
 */
static bool send_or_drop(struct cm_agent *a, const struct cm_agent_message *m)
{
    const uint8_t *mac = guest_neighbour_mac(a->config.net, m->path.dgid);
    enum rdl_status st = RDL_OK;

    if (!mac)
        st = guest_neighbour_resolve(a->config.net, m->path.dgid, &mac);
    if (st == RDL_ERR_BUSY || (st == RDL_OK && !has_buffer(a)))
        return false;
    if (st == RDL_OK) {
        const uint32_t buffer = (uint32_t)__builtin_ctzll(a->free_sends);

        if (post_mad(a, buffer, m, mac))
            a->free_sends &= ~send_bit(buffer);
    }
    return true;
}

/* Removes the waiting message *@at, which follows @before, or is the first if that is NULL. */
static void leave_queue(struct cm_agent *a, struct cm_agent_message **at,
                        struct cm_agent_message *before)
{
    struct cm_agent_message *m = *at;

    *at = m->next;
    if (a->last == m)
        a->last = before;
    arena_release(a->config.arena, m, sizeof(*m));
}

/* Sends what can be sent now of the messages that wait, in their order.  Their timers were started
 * when they began to wait: a lost one is the cause of no other.
 */
static void flush(struct cm_agent *a)
{
    struct cm_agent_message **at = &a->first, *before = NULL;

    while (*at && has_buffer(a)) {
        if (send_or_drop(a, *at)) {
            leave_queue(a, at, before);
        } else {
            before = *at;
            at = &before->next;
        }
    }
    a->lacks_buffer = *at != NULL;
    a->lost_by = 0;
}

/* Sends the messages that have waited for a buffer.  The others still wait for a MAC. */
static void flush_for_buffers(struct cm_agent *a)
{
    if (a->lacks_buffer && has_buffer(a))
        flush(a);
}

/* A message waits behind those that wait for a buffer.  It does not wait behind those that wait for
 * a MAC: its neighbour is another one, or it waits for the same MAC.
 */
static void ib_send(void *ctx, const struct ib_cm_path *path, const uint8_t mad[MAD_BYTES])
{
    struct cm_agent *a = ctx;
    struct cm_agent_message new = {.path = *path}, *m;

    memcpy(new.mad, mad, MAD_BYTES);
    flush_for_buffers(a);
    a->lost_by = 0;
    if (send_or_drop(a, &new))
        return;
    m = arena_alloc(a->config.arena, sizeof(*m));
    if (!m)
        return; /* as if it were lost */
    *m = new;
    a->lacks_buffer = a->lacks_buffer || !has_buffer(a);
    if (a->last)
        a->last->next = m;
    else
        a->first = m;
    a->last = m;
}

void cm_agent_resolved(struct cm_agent *a, const uint8_t gid[GID_BYTES], const uint8_t *mac)
{
    struct cm_agent_message **at = &a->first, *before = NULL;

    if (!a->is_up)
        return;
    while (!mac && *at) { /* those to a neighbour that does not answer are lost */
        if (memcmp((*at)->path.dgid, gid, GID_BYTES) == 0) {
            leave_queue(a, at, before);
            continue;
        }
        before = *at;
        at = &before->next;
    }
    flush(a);
    cma_resolved(&a->cma, gid, mac != NULL);
}

/* --- Completions ------------------------------------------------------------------------------ */

static uint64_t receive_gpa(const struct cm_agent *a, uint32_t buffer)
{
    return a->gpa + (uint64_t)a->n_sends * MAD_BYTES + (uint64_t)buffer * RECEIVE_BYTES;
}

static bool post_receive(const struct cm_agent *a, uint32_t buffer)
{
    const uint64_t gpa = receive_gpa(a, buffer);
    const struct rdl_sge sge = {gpa, RECEIVE_BYTES, a->mr->lkey};
    const struct rdl_recv_wr wr = {.wr_id = buffer, .sge = &sge, .n_sge = 1};
    struct rdl_post_error ignored;

    return verbs_post_recv_list(a->gsi, &wr, 1, false, &ignored) == RDL_OK;
}

/* Hands a MAD to ib_cm; its effects have the message as their cause. */
static void hear(struct cm_agent *a, const struct ib_cm_path *from, const uint8_t *mad)
{
    struct trace *t = a->config.trace;
    struct told is = {.g = {.message = 0}};
    ev_id id, old;

    if (trace_listens(t, EV_cm_received))
        is = told_of(mad, from);
    TRACE_ID(t, id, cm_received, .host = a->config.host, .message = is.g.message, .addr = is.addr,
             .port = (uint16_t)is.g.service_id, .peer_qpn = is.g.qpn, .psn = is.g.psn,
             .reason = is.g.reason, .status = is.g.status,
             .responder_resources = is.g.responder_resources,
             .initiator_depth = is.g.initiator_depth, .comm_id = is.g.comm_id);
    old = trace_because(t, id);
    ib_cm_receive(&a->ib, from, mad);
    trace_because(t, old);
}

/* Posts the buffer again, and hears the MAD.  Other datagrams than whole MADs are dropped. */
static void take_receive(struct cm_agent *a, const struct rdl_wc *wc)
{
    const uint32_t buffer = (uint32_t)wc->wr_id;
    const uint64_t gpa = receive_gpa(a, buffer);
    uint8_t bytes[RECEIVE_BYTES];
    struct ib_cm_path from = {.hop_limit = 64};
    struct grh grh;
    bool is_whole =
        wc->byte_len == RECEIVE_BYTES && ram_read(a->config.ram, gpa, bytes, sizeof(bytes));

    if (!post_receive(a, buffer))
        a->failed = RDL_ERR_BROKEN;
    is_whole = is_whole && grh_parse(&grh, bytes);
    if (!is_whole)
        return;
    memcpy(from.sgid, grh.dst, GID_BYTES);
    memcpy(from.dgid, grh.src, GID_BYTES);
    verbs_unwire(a->config.verbs, from.sgid);
    verbs_unwire(a->config.verbs, from.dgid);
    from.traffic_class = grh.tclass;
    from.flow_label = grh.flow_label;
    cm_wire_in(a->config.verbs, bytes + GRH_BYTES);
    hear(a, &from, bytes + GRH_BYTES);
}

/* Takes a completion.  A user of the lab can post to the queues of the agent, too: what is not one
 * of its own requests is ignored.
 */
static void take(struct cm_agent *a, const struct rdl_wc *wc)
{
    const uint64_t send = wc->wr_id - IS_SEND;

    if (wc->qp_num != QPN_GSI)
        return;
    if (send < a->n_sends)
        a->free_sends |= send_bit(send);
    else if (wc->status == WCS_SUCCESS && wc->wr_id < a->n_receives)
        take_receive(a, wc);
}

/* Takes all completions.  While the queue pair is in an error state nothing more comes. */
static void poll(struct cm_agent *a)
{
    struct rdl_wc wc[POLLS];
    size_t n = POLLS;

    while (n == POLLS) {
        if (verbs_poll_cq(a->cq, POLLS, wc, &n) != RDL_OK) {
            a->failed = RDL_ERR_BROKEN;
            return;
        }
        for (size_t i = 0; i < n; i++)
            take(a, &wc[i]);
    }
    flush_for_buffers(a);
}

void cm_agent_event(struct cm_agent *a, bool armed)
{
    if (!armed)
        a->failed = RDL_ERR_DEVICE;
    poll(a);
    if (armed && a->failed == RDL_OK)
        rearm(a);
}

/* --- Start ------------------------------------------------------------------------------------ */

/* Returns the result of a request that was sent with result @st and is answered already. */
static enum rdl_status answer(const struct cm_agent *a, enum rdl_status st)
{
    struct rdl_response ignored;

    return st == RDL_OK ? verbs_answer(a->config.verbs, &ignored) : st;
}

/* Nothing of the agent can be destroyed: each of its objects is in use. */
static void *keep(const struct cm_agent *a, enum object_kind kind, uint64_t handle)
{
    struct guest_object *o = verbs_get(a->config.verbs, kind, handle);

    RDL_ASSERT(o);
    o->n_users++;
    o->kept_by = RDL_KERNEL_CM;
    return o;
}

/* Returns @name, or NULL if an object of the user has it: then the number makes a name. */
static const char *if_free(const struct cm_agent *a, const char *name)
{
    return verbs_find(a->config.verbs, name) ? NULL : name;
}

static enum rdl_status create_memory(struct cm_agent *a)
{
    struct verbs *v = a->config.verbs;
    const struct verbs_limits *l = &v->limits;
    const uint32_t half = l->max_cqe / 2 ? l->max_cqe / 2 : 1;
    uint64_t h;
    enum rdl_status st;

    a->n_sends = min_u32(min_u32(CM_AGENT_SENDS, l->max_qp_wr), half);
    a->free_sends = UINT64_MAX >> (64 - a->n_sends);
    a->n_receives = min_u32(min_u32(CM_AGENT_RECEIVES, l->max_qp_wr), half);
    if (!a->gpa)
        a->gpa = dma_take(a->config.dma, (uint64_t)a->n_sends * MAD_BYTES +
                                             (uint64_t)a->n_receives * RECEIVE_BYTES);
    if (!a->gpa)
        return RDL_ERR_NOMEM;
    if (!a->pd) {
        st = answer(a, verbs_alloc_pd(v, if_free(a, "cm_pd"), &h));
        if (st != RDL_OK)
            return st;
        a->pd = keep(a, OBJ_PD, h);
    }
    if (a->mr)
        return RDL_OK;
    st = answer(a, verbs_get_dma_mr(a->pd, ACC_LOCAL_WRITE, if_free(a, "cm_mr"), &h));
    if (st == RDL_OK)
        a->mr = keep(a, OBJ_MR, h);
    return st;
}

static enum rdl_status create_queues(struct cm_agent *a)
{
    struct verbs *v = a->config.verbs;
    struct rdl_qp_config c = {.type = QPT_GSI,
                              .max_send_wr = a->n_sends,
                              .max_recv_wr = a->n_receives,
                              .max_send_sge = 1,
                              .max_recv_sge = 1};
    struct verbs_qp_parts parts = {.pd = a->pd};
    enum rdl_status st;
    uint64_t h;

    if (!a->cq) {
        st = answer(a, verbs_create_cq(v, a->n_sends + a->n_receives, if_free(a, "cm_cq"), &h));
        if (st != RDL_OK)
            return st;
        a->cq = keep(a, OBJ_CQ, h);
        a->cq->of_kernel = true;
    }
    if (a->gsi)
        return RDL_OK;
    parts.send_cq = parts.recv_cq = a->cq;
    st = answer(a, verbs_create_gsi(v, &c, &parts, if_free(a, "cm_gsi"), &h));
    if (st == RDL_OK)
        a->gsi = keep(a, OBJ_QP, h);
    return st;
}

static enum rdl_status move(struct cm_agent *a, enum qp_state to)
{
    const struct rdl_qp_attr attr = {.state = to, .qkey = QKEY_GSI};
    struct rdl_modify_error error;

    return answer(
        a, verbs_modify_qp(a->gsi, &attr, QPA_STATE | qp_fsm_needs(QPT_GSI, to), false, &error));
}

/* No program calls: the objects are the kernel's, whoever has started it.  Goes on where an earlier
 * start has failed.
 */
static enum rdl_status start(struct cm_agent *a)
{
    enum rdl_status st = create_memory(a);

    if (st == RDL_OK)
        st = create_queues(a);
    while (st == RDL_OK && a->gsi->attr.state != QPS_RTS)
        st = move(a, (enum qp_state)(a->gsi->attr.state + 1));
    for (uint32_t i = 0; st == RDL_OK && i < a->n_receives; i++)
        st = post_receive(a, i) ? RDL_OK : RDL_ERR_BROKEN;
    if (st != RDL_OK)
        return st;
    a->is_up = true;
    rearm(a);
    return a->failed;
}

/* --- The two parts ---------------------------------------------------------------------------- */

static bool ib_event(void *ctx, struct ib_cm_id *id, const struct ib_cm_event *e)
{
    struct cm_agent *a = ctx;

    return cma_ib_event(&a->cma, id, e);
}

/* An ID of ib_cm that is no program's, or not yet, has no name. */
static void changed(void *ctx, const struct ib_cm_id *ib, uint32_t from)
{
    const struct cm_agent *a = ctx;
    const struct cma_id *id = ib->user;

    if (id)
        TRACE(a->config.trace, cm_state, .host = a->config.host, .object = OBJ_CM_ID,
              .number = id->number, .from = from, .to = ib->state);
}

static bool has_gid(void *ctx, const uint8_t gid[GID_BYTES])
{
    return stack_is_own(((const struct cm_agent *)ctx)->config.net, gid);
}

static int resolve(void *ctx, const uint8_t gid[GID_BYTES])
{
    const struct cm_agent *a = ctx;
    const uint8_t *mac = guest_neighbour_mac(a->config.net, gid);
    enum rdl_status st = RDL_OK;

    if (!mac)
        st = guest_neighbour_resolve(a->config.net, gid, &mac);
    return st == RDL_OK ? 0 : st == RDL_ERR_BUSY ? EAGAIN : ENETUNREACH;
}

/* Whoever waits for the event looks at the queue.  The status of an event has three meanings: a
 * reason of a REJ, an errno if it is negative, or the status of a SIDR_REP.
 */
static void has_event(void *ctx, struct cma_channel *ch)
{
    const struct cm_agent *a = ctx;
    const struct cma_event *e = ch->last;
    const bool rejected = e->kind == RDMA_CM_EVENT_REJECTED;
    const bool unreachable = e->kind == RDMA_CM_EVENT_UNREACHABLE;

    TRACE(a->config.trace, cm_event, .host = a->config.host, .object = OBJ_CM_ID,
          .number = e->id->number, .event = e->kind, .reason = rejected ? (uint32_t)e->status : 0,
          .error = !rejected && e->status < 0 ? (uint32_t)-e->status : 0,
          .status = unreachable && e->status > 0 ? (uint32_t)e->status : 0);
    a->config.has_event(a->config.ctx, ch);
}

void cm_agent_init(struct cm_agent *a, const struct cm_agent_config *config)
{
    *a = (struct cm_agent){.config = *config};
}

static void init_parts(struct cm_agent *a)
{
    const struct verbs *v = a->config.verbs;
    struct prng rng = a->config.rng;
    const struct ib_cm_config ib = {
        .guid = ld_be(v->limits.guid, sizeof(v->limits.guid)),
        .ack_delay = v->limits.ack_delay,
        .agent = 1,
        .arena = a->config.arena,
        .ops = {ib_send, ib_event, ib_now, ib_start_timer, stop_timer, has_gid, changed},
        .ctx = a,
    };
    struct cma_config cma = {
        .arena = a->config.arena,
        .path_mtu = v->port.active_mtu,
        .ack_delay = v->limits.ack_delay,
        .packet_life =
            profile_has(a->config.profile, TRAIT_PATH_LIFE_18) ? PACKET_LIFE : SHORT_LIFE,
        .max_rd_atomic = v->limits.max_rd_atomic,
        .ib = &a->ib,
        .ops = {resolve, cma_start_timer, stop_timer, has_event},
        .ctx = a,
    };

    memcpy(cma.gid, v->config.gid, sizeof(cma.gid));
    ib_cm_init(&a->ib, &ib, &rng);
    cma_init(&a->cma, &cma, rng);
}

void cm_agent_start(struct cm_agent *a)
{
    struct verbs *v = a->config.verbs;
    struct guest_program *caller = v->current;

    if (a->is_up)
        return;
    a->failed = RDL_OK;
    init_parts(a);
    v->current = NULL;
    v->must_poll = true;
    a->failed = start(a);
    v->must_poll = false;
    v->current = caller;
}

void cm_agent_counts(const struct cm_agent *a, struct rdl_cm_counts *ret)
{
    *ret = (struct rdl_cm_counts){.ids = a->cma.n_ids,
                                  .comm_ids = a->ib.n_ids,
                                  .services = cma_services(&a->cma),
                                  .rules = a->ib.rules};
    for (const struct cm_agent_message *m = a->first; m; m = m->next)
        ret->messages++;
}
