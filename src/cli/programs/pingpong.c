/* SPDX-License-Identifier: MIT */
#include "cli/programs/pingpong.h"

#include <inttypes.h>
#include <string.h>

#include "cli/lang/words.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/psn.h"
#include "emu/facts/qp_fsm.h"
#include "emu/wire/addr.h"
#include "emu/wire/grh.h"
#include "tree/tree.h"

/* Work request ids of the original.  They are also the bits of pingpong_end.pending. */
#define WR_ID_RECV 1u
#define WR_ID_SEND 2u

/* Values that the original uses, see its pp_connect_ctx(). */
#define MIN_RNR_TIMER 12u
#define TIMEOUT       14u
#define RETRIES       7u
#define HOP_LIMIT     1u
#define QKEY          0x11111111u

/* Time that a program stays after the last frame from its peer: four times the timeout above.  This
 * is the longest time that a requester may wait before it retransmits [IBTA1 9.7.6.1.3].
 */
#define LINGER_NS (4u * (UINT64_C(4096) << TIMEOUT))

const struct pingpong_kind *pingpong_kind(uint32_t program)
{
    static const struct pingpong_kind kinds[] = {
        [PROGRAM_rc_pingpong] = {"rc_pingpong", QPT_RC, 4096, 0, ',', 1, 1, false},
        [PROGRAM_uc_pingpong] = {"uc_pingpong", QPT_UC, 4096, 0, ',', 1, 1, false},
        [PROGRAM_ud_pingpong] = {"ud_pingpong", QPT_UD, 2048, GRH_BYTES, ':', 1, 1, false},
        [PROGRAM_srq_pingpong] = {"srq_pingpong", QPT_RC, 4096, 0, ',', 16, PINGPONG_QPS_MAX, true},
    };

    RDL_ASSERT(program < ARRAY_LEN(kinds) && kinds[program].name);
    return &kinds[program];
}

void pingpong_init(struct pingpong *p, struct rdl_lab *lab, const struct pingpong_config *config,
                   FILE *out)
{
    *p = (struct pingpong){.lab = lab, .config = *config, .out = out, .state = PP_ALLOC_PD};
    p->config.psn &= PSN_MASK;
    if (config->check && !pingpong_data_init(&p->data, config->size))
        pingpong_fail(p, "no memory");
}

void pingpong_done(struct pingpong *p)
{
    pingpong_data_done(&p->data);
}

/* Sets PP_FAILED; p->error has the reason. */
static void fail_here(struct pingpong *p)
{
    p->failed_in = p->state;
    p->state = PP_FAILED;
}

void pingpong_fail(struct pingpong *p, const char *why)
{
    struct text t = text_on(p->error, sizeof(p->error));

    text_add(&t, why);
    fail_here(p);
}

/* The address of the peer, for the queue pair or the address handle. */
static struct rdl_ah_attr address_of(const struct pingpong *p)
{
    const struct pingpong_config *c = &p->config;
    struct rdl_ah_attr ah = {
        .sgid_index = (uint8_t)c->gid_index, .hop_limit = HOP_LIMIT, .sl = c->sl, .port = 1};

    memcpy(ah.dgid, p->ends[p->at].remote_gid, sizeof(ah.dgid));
    return ah;
}

static enum rdl_status modify(struct pingpong *p, enum qp_state to)
{
    const struct pingpong_config *c = &p->config;
    const struct pingpong_end *e = &p->ends[p->at];
    const unsigned mask = QPA_STATE | qp_fsm_needs((enum qp_type)c->kind->qp_type, to);
    struct rdl_modify_error err;
    const struct rdl_qp_attr attr = {
        .state = to,
        .port = 1,
        .qkey = QKEY,
        .path_mtu = c->mtu,
        .dest_qpn = e->remote_qpn,
        .rq_psn = e->remote_psn,
        .sq_psn = c->psn,
        .max_rd_atomic = 1,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = MIN_RNR_TIMER,
        .timeout = TIMEOUT,
        .retry_cnt = RETRIES,
        .rnr_retry = RETRIES,
        .ah = address_of(p),
    };

    return rdl_modify_qp(p->lab, e->qp, &attr, mask, false, &err);
}

/* Address of the receive buffer, which includes the bytes before the message. */
static uint64_t recv_area(const struct pingpong *p)
{
    return p->buf + p->config.size;
}

/* Address of the received message itself. */
static uint64_t recv_buf(const struct pingpong *p)
{
    return recv_area(p) + p->config.kind->front;
}

static uint32_t recv_bytes(const struct pingpong *p)
{
    return p->config.kind->front + p->config.size;
}

/* Size of both buffers: the message to send, then the received one. */
static uint64_t mem_bytes(const struct pingpong *p)
{
    return (uint64_t)p->config.size + recv_bytes(p);
}

static enum rdl_status get_memory(struct pingpong *p)
{
    const enum rdl_status st = rdl_mem_alloc(p->lab, p->config.host, mem_bytes(p), &p->buf);

    if (st != RDL_OK)
        return st;
    return rdl_reg_mr(p->lab, p->pd, p->buf, mem_bytes(p), ACC_LOCAL_WRITE, NULL, &p->mr);
}

static enum rdl_status create_qp(struct pingpong *p)
{
    const struct pingpong_config *c = &p->config;
    const struct rdl_qp_config qp = {
        .pd = p->pd,
        .type = c->kind->qp_type,
        .send_cq = p->cq,
        .recv_cq = p->cq,
        .max_send_wr = 1,
        .max_recv_wr = c->rx_depth,
        .max_send_sge = 1,
        .max_recv_sge = 1,
        .srq = p->srq,
    };

    return rdl_create_qp(p->lab, &qp, NULL, &p->ends[p->at].qp);
}

/* Makes the request of the current state. */
static enum rdl_status ask(struct pingpong *p)
{
    const struct pingpong_config *c = &p->config;
    const struct rdl_srq_attr srq = {.max_wr = c->rx_depth, .max_sge = 1};
    const struct rdl_ah_attr ah = address_of(p);
    enum rdl_status st;

    switch (p->state) {
    case PP_ALLOC_PD:
        return rdl_alloc_pd(p->lab, c->host, NULL, &p->pd);
    case PP_REG_MR:
        return get_memory(p);
    case PP_CREATE_CQ:
        return rdl_create_cq(p->lab, c->host, c->rx_depth + c->n_qp, NULL, &p->cq);
    case PP_CREATE_SRQ:
        return rdl_create_srq(p->lab, p->pd, &srq, NULL, &p->srq);
    case PP_CREATE_QP:
        return create_qp(p);
    case PP_INIT:
        return modify(p, QPS_INIT);
    case PP_ARM:
    case PP_RUN:
        return rdl_req_notify_cq(p->lab, p->cq, false);
    case PP_RTR:
        return modify(p, QPS_RTR);
    case PP_RTS:
        return modify(p, QPS_RTS);
    case PP_CREATE_AH:
        return rdl_create_ah(p->lab, p->pd, &ah, NULL, &p->ah);
    case PP_DESTROY_QP:
        return rdl_destroy_qp(p->lab, p->ends[p->at].qp);
    case PP_DESTROY_SRQ:
        return rdl_destroy_srq(p->lab, p->srq);
    case PP_DESTROY_CQ:
        return rdl_destroy_cq(p->lab, p->cq);
    case PP_DEREG_MR:
        return rdl_dereg_mr(p->lab, p->mr);
    case PP_DESTROY_AH:
        return rdl_destroy_ah(p->lab, p->ah);
    case PP_DEALLOC_PD:
        st = rdl_mem_free(p->lab, c->host, p->buf);
        return st != RDL_OK ? st : rdl_dealloc_pd(p->lab, p->pd);
    default:
        return RDL_ERR_STATE;
    }
}

static enum rdl_status post_receive(struct pingpong *p, const struct rdl_recv_wr *wr)
{
    return p->config.kind->has_srq ? rdl_post_srq_recv(p->lab, p->srq, wr, false)
                                   : rdl_post_recv(p->lab, p->ends[0].qp, wr, false);
}

/* Posts receives up to the configured depth. */
static bool post_receives(struct pingpong *p)
{
    const struct rdl_sge sge = {recv_area(p), recv_bytes(p), p->mem.lkey};
    const struct rdl_recv_wr wr = {.wr_id = WR_ID_RECV, .sge = &sge, .n_sge = 1};

    while (p->posted < p->config.rx_depth) {
        if (post_receive(p, &wr) != RDL_OK) {
            pingpong_fail(p, "Couldn't post receive");
            return false;
        }
        p->posted++;
    }
    return true;
}

/* Writes the next message to its memory.  With several queue pairs the messages are all equal,
 * since they are all received in the same buffer.
 */
static bool fill_message(struct pingpong *p)
{
    if (!p->config.kind->has_srq)
        pingpong_data_mark(&p->data, p->n_sent);
    return rdl_mem_write(p->lab, p->config.host, p->buf, p->data.want, p->config.size) == RDL_OK;
}

/* Checks the received message; @bytes includes the bytes before it.  Returns false, with state
 * PP_FAILED, if it is wrong.
 */
static bool check_message(struct pingpong *p, uint32_t bytes)
{
    struct text t = text_on(p->error, sizeof(p->error));
    size_t at;

    if (bytes != recv_bytes(p)) {
        text_addf(&t, "message %u has %u bytes, not %u", p->n_rcvd, bytes, recv_bytes(p));
    } else if (p->config.check) {
        if (rdl_mem_read(p->lab, p->config.host, recv_buf(p), p->data.got, p->config.size) !=
            RDL_OK)
            text_add(&t, "Couldn't read memory");
        else if (!pingpong_data_take(&p->data, pingpong_is_server(p), &at))
            text_addf(&t, "invalid data in message %u, byte %zu: 0x%02x, not 0x%02x", p->n_rcvd, at,
                      p->data.got[at], p->data.want[at]);
    }
    if (t.len == 0)
        return true;
    fail_here(p);
    return false;
}

/* Sends a message: a client its own, a server the received one. */
static bool post_send(struct pingpong *p, struct pingpong_end *e)
{
    const struct rdl_sge sge = {pingpong_is_server(p) ? recv_buf(p) : p->buf, p->config.size,
                                p->mem.lkey};
    const struct rdl_send_wr wr = {.wr_id = WR_ID_SEND,
                                   .opcode = WR_SEND,
                                   .flags = SF_SIGNALED,
                                   .sge = &sge,
                                   .n_sge = 1,
                                   .ud = {p->ah, e->remote_qpn, QKEY}};

    if ((!pingpong_is_server(p) && p->config.check && !fill_message(p)) ||
        rdl_post_send(p->lab, e->qp, &wr, false) != RDL_OK) {
        pingpong_fail(p, "Couldn't post send");
        return false;
    }
    e->pending = WR_ID_RECV | WR_ID_SEND;
    return true;
}

static struct pingpong_end *end_of(struct pingpong *p, uint32_t qpn)
{
    for (uint32_t i = 0; i < p->config.n_qp; i++) {
        if (p->ends[i].qpn == qpn)
            return &p->ends[i];
    }
    return NULL;
}

static void on_completion(struct pingpong *p, const struct rdl_wc *wc)
{
    struct pingpong_end *e = end_of(p, wc->qp_num);

    if (!e) {
        pingpong_fail(p, "Couldn't find QPN");
        return;
    }
    if (wc->status != WCS_SUCCESS) {
        struct text t = text_on(p->error, sizeof(p->error));

        text_addf(&t, "Failed status %s (%u) for wr_id %" PRIu64,
                  enum_name(&enum_wc_status, wc->status), wc->status, wc->wr_id);
        fail_here(p);
        return;
    }
    if (wc->wr_id == WR_ID_SEND) {
        p->n_sent++;
    } else {
        if (!check_message(p, wc->byte_len))
            return;
        p->n_rcvd++;
        if (--p->posted <= p->config.n_qp && !post_receives(p))
            return;
    }
    e->pending &= ~(unsigned)wc->wr_id;
    if (p->n_sent < p->config.iters && !e->pending)
        post_send(p, e);
}

static void print_result(const struct pingpong *p)
{
    const uint64_t ns = p->ended_ns - p->started_ns;
    const uint64_t bytes = (uint64_t)p->config.size * p->config.iters * 2;
    const double seconds = (double)ns / 1e9;

    fprintf(p->out, "%" PRIu64 " bytes in %.2f seconds = %.2f Mbit/sec\n", bytes, seconds,
            (double)bytes * 8.0 / 1e6 / seconds);
    fprintf(p->out, "%u iters in %.2f seconds = %.2f usec/iter\n", p->config.iters, seconds,
            seconds * 1e6 / p->config.iters);
}

/* Number of frames that the host has received.  It grows while a peer retransmits. */
static uint64_t heard(const struct pingpong *p)
{
    char port[TREE_PATH_BYTES];

    return tree_child(p->lab, p->config.host_name, CHILD_host_port, port)
               ? tree_number(p->lab, port, LEAF_port_rcvd_frames)
               : 0;
}

static void linger(struct pingpong *p, uint64_t now_ns)
{
    p->heard = heard(p);
    p->linger_ns = now_ns + LINGER_NS;
    p->state = PP_LINGER;
}

/* Processes up to two completions, like the originals.  Returns true if there may be more;
 * srq_pingpong processes all.
 */
static bool poll(struct pingpong *p)
{
    struct rdl_wc wc[2];
    size_t n;

    if (rdl_poll_cq(p->lab, p->cq, ARRAY_LEN(wc), wc, &n) != RDL_OK) {
        pingpong_fail(p, "poll CQ failed");
        return false;
    }
    for (size_t i = 0; i < n && p->state == PP_RUN; i++)
        on_completion(p, &wc[i]);
    return n == ARRAY_LEN(wc);
}

/* Returns true if there may be completions.  With -e: an event has announced them, and the queue
 * has been armed again.
 */
static bool may_poll(struct pingpong *p)
{
    struct rdl_cq_info info;
    struct rdl_response rsp;

    if (p->asked) {
        const enum rdl_status st = rdl_answer(p->lab, p->config.host, &rsp);

        if (st == RDL_ERR_BUSY)
            return false;
        p->asked = false;
        if (st != RDL_OK)
            pingpong_fail(p, "Couldn't request CQ notification");
        return st == RDL_OK;
    }
    if (rdl_cq_info(p->lab, p->cq, &info) != RDL_OK)
        return false;
    if (!p->config.use_events)
        return info.completions > info.polled;
    if (info.events > p->events_seen && ask(p) == RDL_OK) {
        p->events_seen++;
        p->asked = true;
    }
    return false;
}

/* Ends the program if nothing has completed for too long.  @n_before: completions before this look.
 */
static void look_at_clock(struct pingpong *p, uint32_t n_before, uint64_t now_ns)
{
    struct text t;

    if (p->n_sent + p->n_rcvd != n_before)
        p->moved_ns = now_ns;
    if (p->state != PP_RUN || !patience_is_over(p->config.patience.silence_ns, p->moved_ns, now_ns))
        return;
    t = text_on(p->error, sizeof(p->error));
    text_add(&t, "the other side is silent: for ");
    quantity_add(&t, QUANTITY_TIME, p->config.patience.silence_ns);
    text_addf(&t, " nothing was sent or received, after %u and %u of %u messages", p->n_sent,
              p->n_rcvd, p->config.iters);
    fail_here(p);
}

static void run_now(struct pingpong *p, uint64_t now_ns)
{
    if (!may_poll(p))
        return;
    while (poll(p) && p->state == PP_RUN && (p->config.kind->has_srq || !p->config.use_events))
        ;
    if (p->state == PP_RUN && p->n_sent >= p->config.iters && p->n_rcvd >= p->config.iters) {
        p->ended_ns = now_ns;
        print_result(p);
        if (p->config.kind->qp_type == QPT_RC)
            linger(p, now_ns);
        else
            p->state = PP_DESTROY_QP; /* UC and UD peers do not retransmit */
    }
}

static void run(struct pingpong *p, uint64_t now_ns)
{
    const uint32_t n_before = p->n_sent + p->n_rcvd;

    run_now(p, now_ns);
    look_at_clock(p, n_before, now_ns);
}

/* Returns true if a program of this kind, with these options, has the state @state. */
static bool has_state(const struct pingpong *p, enum pingpong_state state)
{
    if (state == PP_ARM)
        return p->config.use_events;
    if (state == PP_CREATE_AH || state == PP_DESTROY_AH)
        return p->config.kind->qp_type == QPT_UD;
    if (state == PP_CREATE_SRQ || state == PP_DESTROY_SRQ)
        return p->config.kind->has_srq;
    return true;
}

/* Returns true if the request of @state is made once per queue pair. */
static bool is_of_each(enum pingpong_state state)
{
    return state == PP_CREATE_QP || state == PP_INIT || state == PP_RTR || state == PP_RTS ||
           state == PP_DESTROY_QP;
}

/* Prints the addresses of this side. */
static void print_addresses(struct pingpong *p)
{
    uint8_t mac[6];

    if (rdl_host_address(p->lab, p->config.host, p->config.gid_index, p->gid, mac) != RDL_OK) {
        pingpong_fail(p, "Could not get local gid");
        return;
    }
    for (uint32_t i = 0; i < p->config.n_qp; i++)
        pingpong_print_side(p, i, true);
}

/* Handles the successful answer to the request of the state. */
static void answered(struct pingpong *p)
{
    struct pingpong_end *e = &p->ends[p->at];
    const bool more = is_of_each(p->state) && p->at + 1 < p->config.n_qp;
    struct rdl_qp_info info;

    if (p->state == PP_CREATE_QP) {
        if (rdl_qp_info(p->lab, e->qp, &info) == RDL_OK)
            e->qpn = info.qpn;
        if (rdl_mr_info(p->lab, p->mr, &p->mem) != RDL_OK) {
            pingpong_fail(p, "Couldn't register MR");
            return;
        }
    } else if (p->state == PP_INIT && !more && !post_receives(p)) {
        return;
    }
    if (more) {
        p->at++;
        return;
    }
    p->at = 0;
    do {
        p->state++;
    } while (!has_state(p, p->state));
    if (p->state == PP_EXCHANGE)
        print_addresses(p);
    if (p->state == PP_DONE)
        pingpong_data_done(&p->data);
}

static const struct {
    const char *name;    /* for people */
    const char *failure; /* message if the request of the state fails */
} states[] = {
    [PP_ALLOC_PD] = {"setting up", "Couldn't allocate PD"},
    [PP_REG_MR] = {"setting up", "Couldn't register MR"},
    [PP_CREATE_CQ] = {"setting up", "Couldn't create CQ"},
    [PP_CREATE_SRQ] = {"setting up", "Couldn't create SRQ"},
    [PP_CREATE_QP] = {"setting up", "Couldn't create QP"},
    [PP_INIT] = {"setting up", "Failed to modify QP to INIT"},
    [PP_ARM] = {"setting up", "Couldn't request CQ notification"},
    [PP_EXCHANGE] = {"waiting for the other side", NULL},
    [PP_RTR] = {"connecting", "Failed to modify QP to RTR"},
    [PP_RTS] = {"connecting", "Failed to modify QP to RTS"},
    [PP_CREATE_AH] = {"connecting", "Failed to create AH"},
    [PP_CONNECTED] = {"connected", NULL},
    [PP_RUN] = {"running", NULL},
    [PP_LINGER] = {"done, answers what is repeated", NULL},
    [PP_DESTROY_QP] = {"cleaning up", "Couldn't destroy QP"},
    [PP_DESTROY_SRQ] = {"cleaning up", "Couldn't destroy SRQ"},
    [PP_DESTROY_CQ] = {"cleaning up", "Couldn't destroy CQ"},
    [PP_DEREG_MR] = {"cleaning up", "Couldn't deregister MR"},
    [PP_DESTROY_AH] = {"cleaning up", "Couldn't destroy AH"},
    [PP_DEALLOC_PD] = {"cleaning up", "Couldn't deallocate PD"},
    [PP_DONE] = {"done", NULL},
    [PP_FAILED] = {"failed", NULL},
};

const char *pingpong_state_name(enum pingpong_state state)
{
    return states[state].name;
}

/* Makes the request of the state, or reads its answer.  Returns false if there is nothing to do
 * now.
 */
static bool request(struct pingpong *p)
{
    struct text t = text_on(p->error, sizeof(p->error));
    struct rdl_response rsp;
    enum rdl_status st = rdl_answer(p->lab, p->config.host, &rsp);

    if (st == RDL_ERR_BUSY)
        return false;
    if (!p->asked) {
        st = ask(p);
        p->asked = st == RDL_OK;
        if (st == RDL_OK || st == RDL_ERR_BUSY)
            return false;
    }
    p->asked = false;
    if (st == RDL_OK) {
        answered(p);
        return p->state != PP_FAILED;
    }
    text_addf(&t, "%s: %s", states[p->state].failure, rdl_status_str(st));
    fail_here(p);
    return false;
}

void pingpong_go(struct pingpong *p, uint64_t now_ns)
{
    if (p->state == PP_RUN)
        run(p, now_ns);
    if (p->state == PP_LINGER && now_ns >= p->linger_ns) {
        if (heard(p) == p->heard)
            p->state = PP_DESTROY_QP;
        else
            linger(p, now_ns);
    }
    while (states[p->state].failure && request(p))
        ;
}

void pingpong_start(struct pingpong *p, uint64_t now_ns)
{
    p->state = PP_RUN;
    p->started_ns = p->moved_ns = now_ns;
    for (uint32_t i = 0; i < p->config.n_qp && p->state == PP_RUN; i++) {
        p->ends[i].pending = WR_ID_RECV;
        if (!pingpong_is_server(p))
            post_send(p, &p->ends[i]);
    }
}
