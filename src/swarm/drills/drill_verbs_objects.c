/* SPDX-License-Identifier: MIT */
/* The drill of verbs: objects, their states and their limits. */
#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/trace/event.h"
#include "rdmalab/events.h"
#include "rdmalab/srq.h"
#include "swarm/drills/qp_move_case.h"
#include "swarm/drills/verbs.h"

static bool pair_of(struct drill *d, struct verbs_pair *p, struct rdl_qp_config *c)
{
    memset(p, 0, sizeof(*p));
    c->type = QPT_RC;
    p->end[0].timeout = p->end[1].timeout = 14;
    p->end[0].retry_cnt = p->end[1].retry_cnt = 3;
    return verbs_pair(d, c, p) && rig_connect(d, &p->end[0], &p->end[1]);
}

static bool send_small(struct drill *d, struct verbs_pair *p, uint32_t op)
{
    struct drill_verbs *k = d->own;
    const struct rdl_sge sge = {k->side[0].addr, 16, k->side[0].lkey};
    struct rdl_send_wr wr = {.opcode = op,
                             .flags = SF_SIGNALED,
                             .sge = &sge,
                             .n_sge = 1,
                             .remote_addr = k->side[1].addr + VERBS_HALF,
                             .rkey = k->side[1].rkey};

    return verbs_send(d, &p->end[0], &wr);
}

static uint32_t count_async(struct drill *d, uint32_t type)
{
    const struct ev *v;
    uint32_t n = 0;

    for (uint64_t at = 0; (v = verbs_event(d, EV_async_event, &at));)
        n += (uint32_t)v->u.async_event.event == type;
    return n;
}

/* --- A shared receive queue of another PD ----------------------------------------------------- */

struct shared {
    rdl_pd pd;
    rdl_mr mr;
    rdl_srq srq;
    uint32_t lkey, n, limit; /* @n: receives in it */
};

static bool make_shared(struct drill *d, struct shared *s)
{
    struct drill_verbs *k = d->own;
    const rdl_host h = k->host[1];
    struct rdl_srq_attr a = {.max_wr = 16, .max_sge = 1};
    struct rdl_mr_info info;

    d->n_unsaid++;
    if (!drill_is_done(d, h, rdl_alloc_pd(d->lab, h, NULL, &s->pd), "a PD can be made") ||
        !drill_is_done(
            d, h,
            rdl_reg_mr(d->lab, s->pd, k->side[1].addr, VERBS_BUF, ACC_LOCAL_WRITE, NULL, &s->mr),
            "memory can be registered twice") ||
        !drill_works(d, rdl_mr_info(d->lab, s->mr, &info), "a region has keys") ||
        !drill_is_done(d, h, rdl_create_srq(d->lab, s->pd, &a, NULL, &s->srq),
                       "a shared receive queue can be made"))
        return false;
    s->lkey = info.lkey;
    a.limit = s->limit = drill_below(d, 8);
    return s->limit == 0 || drill_is_done(d, h, rdl_modify_srq(d->lab, s->srq, &a, RDL_SRQ_LIMIT),
                                          "a shared receive queue can have a limit");
}

static bool unmake_shared(struct drill *d, struct shared *s)
{
    struct drill_verbs *k = d->own;
    const rdl_host h = k->host[1];
    struct rdl_async_event e;
    size_t n = 1;

    while (n > 0 && drill_works(d, rdl_get_async_event(d->lab, h, &e, &n), "events can be taken")) {
        if (n > 0 && !drill_works(d, rdl_ack_async_event(d->lab, &e), "events can be acknowledged"))
            return false;
    }
    return drill_is_done(d, h, rdl_destroy_srq(d->lab, s->srq), "a queue can be destroyed") &&
           drill_is_done(d, h, rdl_dereg_mr(d->lab, s->mr), "a region can be given back") &&
           drill_is_done(d, h, rdl_dealloc_pd(d->lab, s->pd), "a PD can be given back");
}

static bool post_shared(struct drill *d, struct shared *s, uint32_t lkey)
{
    struct drill_verbs *k = d->own;
    const struct rdl_sge sge = {k->side[1].addr + VERBS_HALF, 64, lkey};
    const struct rdl_recv_wr wr = {.wr_id = 7, .sge = &sge, .n_sge = 1};

    s->n++;
    return drill_works(d, rdl_post_srq_recv(d->lab, s->srq, &wr, false),
                       "a receive can be posted to a shared queue");
}

static bool take_shared(struct drill *d, struct shared *s, struct verbs_pair *p)
{
    struct drill_verbs *k = d->own;
    const uint32_t told = count_async(d, ASE_SRQ_LIMIT_REACHED);
    uint32_t now, want;
    struct rdl_wc wc;

    if (!send_small(d, p, WR_SEND) || !drill_settle(d) ||
        !verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc) ||
        !verbs_done(d, k->side[1].rcq, WCS_SUCCESS, &wc))
        return false;
    s->n--;
    want = s->n < s->limit;
    if (want)
        s->limit = 0;
    now = count_async(d, ASE_SRQ_LIMIT_REACHED) - told;
    return drill_expect(d, now == want,
                        "SRQ_LIMIT_REACHED comes once, when fewer receives than the limit are left",
                        "%u events with %u receives left", now, s->n);
}

/* A failed queue pair takes no more shared receives and flushes none.  It raises LAST_WQE_REACHED
 * once.
 */
static bool end_shared(struct drill *d, struct verbs_pair *p)
{
    const uint32_t told = count_async(d, ASE_QP_LAST_WQE_REACHED);
    struct rdl_qp_attr a = {0};
    uint32_t now;

    d->n_unsaid++;
    if (!rig_modify(d, &p->end[1], &a, QPS_ERR, 0) || !drill_settle(d) || !verbs_no_more(d))
        return false;
    now = count_async(d, ASE_QP_LAST_WQE_REACHED);
    return drill_expect(
        d, now == told + (((const struct drill_verbs *)d->own)->profile != PROFILE_rxe),
        "a queue pair that fails tells once that it takes no more shared receives, "
        "and rxe of Linux 6.1 never",
        "%u times before, %u after", told, now);
}

/* Connects both queue pairs again, from RESET on. */
static bool revive(struct drill *d, struct verbs_pair *p)
{
    struct rdl_qp_attr a = {0};

    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        drill_say(d, "modify_qp h%u.%s state=RESET", i + 1, p->end[i].name);
        if (!rig_modify(d, &p->end[i], &a, QPS_RESET, 0))
            return false;
    }
    return rig_connect(d, &p->end[0], &p->end[1]);
}

void verbs_step_srq(struct drill *d)
{
    const uint32_t n = 1 + drill_below(d, 10), takes = 1 + drill_below(d, n);
    const bool wrong = drill_one_in(d, 4);
    struct drill_verbs *k = d->own;
    struct shared s = {.n = 0};
    struct verbs_pair p = {0};
    struct rdl_qp_config c = {.type = QPT_RC};
    struct rdl_wc wc;

    if (!make_shared(d, &s))
        return;
    if (!verbs_pair_with_srq(d, &c, s.srq, &p) || !rig_connect(d, &p.end[0], &p.end[1]))
        return;
    k->mark = drill_events(d);
    for (uint32_t i = 0; i < n && !wrong; i++) {
        if (!post_shared(d, &s, s.lkey))
            return;
    }
    for (uint32_t i = 0; i < takes && !wrong; i++) {
        if (!take_shared(d, &s, &p))
            return;
    }
    if (wrong) {
        if (!post_shared(d, &s, k->side[1].lkey) || !send_small(d, &p, WR_SEND) ||
            !drill_settle(d) ||
            !drill_expect(d, rig_poll(d, k->side[0].scq, &wc) && wc.status != WCS_SUCCESS,
                          "memory of a shared receive is of the shared queue's PD", "a success") ||
            !drill_expect(d, rig_poll(d, k->side[1].rcq, &wc) && wc.status != WCS_SUCCESS,
                          "memory of a shared receive is of the shared queue's PD", "a success"))
            return;
    }
    if (!wrong && (!end_shared(d, &p) || !revive(d, &p) || !end_shared(d, &p)))
        return;
    if (verbs_unpair(d, &p))
        (void)unmake_shared(d, &s);
}

/* --- State transitions ------------------------------------------------------------------------ */

/* Draws an attribute.  Those of the alternate path do not occur. */
static uint32_t draw_bit(struct drill *d)
{
    static const uint32_t bits[] = {QPA_EN_SQD_ASYNC_NOTIFY,
                                    QPA_ACCESS_FLAGS,
                                    QPA_PKEY_INDEX,
                                    QPA_PORT,
                                    QPA_QKEY,
                                    QPA_AV,
                                    QPA_PATH_MTU,
                                    QPA_TIMEOUT,
                                    QPA_RETRY_CNT,
                                    QPA_RNR_RETRY,
                                    QPA_RQ_PSN,
                                    QPA_DEST_QPN,
                                    QPA_SQ_PSN,
                                    QPA_MAX_QP_RD_ATOMIC,
                                    QPA_MIN_RNR_TIMER,
                                    QPA_MAX_DEST_RD_ATOMIC};

    return bits[drill_below(d, sizeof(bits) / sizeof(bits[0]))];
}

static bool check_move(struct drill *d, const struct rig_end *e, uint32_t type, uint32_t *state)
{
    struct drill_verbs *k = d->own;
    const uint32_t to =
        drill_one_in(d, 3) ? drill_below(d, 5) : (*state < QPS_SQD ? *state + 1 : QPS_RTS);
    const struct qp_move_case *m = qp_move_case(type, *state, to);
    const bool unchecked = drill_one_in(d, 2), plain = to == QPS_RESET || to == QPS_ERR;
    struct rdl_qp_attr a = {.state = to,
                            .path_mtu = MTU_1024,
                            .port = 1,
                            .qkey = 5,
                            .dest_qpn = 17,
                            .max_rd_atomic = 1,
                            .max_dest_rd_atomic = 1,
                            .min_rnr_timer = 3,
                            .timeout = 14,
                            .retry_cnt = 1,
                            .ah.hop_limit = 9};
    uint32_t mask = m ? m->need : 0;
    struct rdl_modify_error err;
    enum rdl_status st;
    bool right;
    uint8_t mac[6];

    if (!drill_works(d, rdl_host_address(d->lab, k->host[1], 0, a.ah.dgid, mac), "an address"))
        return false;
    for (uint32_t i = drill_below(d, 4); m && i > 0; i--)
        mask |= draw_bit(d) & m->may;
    if (drill_one_in(d, 3))
        mask ^= draw_bit(d);
    right = m ? (mask & m->need) == m->need && !(mask & ~(m->need | m->may)) : plain && mask == 0;
    if (drill_one_in(d, 3)) {
        a.cur_state = drill_one_in(d, 2) ? *state : drill_below(d, QPS_ERR + 1);
        mask |= QPA_CUR_STATE;
        right = right && a.cur_state == *state;
    }
    d->n_unsaid++;
    st = rdl_modify_qp(d->lab, e->qp, &a, mask | QPA_STATE, unchecked, &err);
    if (st == RDL_OK)
        st = drill_answer(d, e->host);
    if (!drill_expect(d, (st == RDL_OK) == right,
                      "a queue pair is moved as its states and their attributes allow, else not",
                      "%s -> %s with 0x%x: %s", enum_name(&enum_qp_state, *state),
                      enum_name(&enum_qp_state, to), mask, rdl_status_name(st)))
        return false;
    if (right)
        *state = to;
    return true;
}

void verbs_step_modify(struct drill *d)
{
    static const uint32_t types[] = {QPT_RC, QPT_UC, QPT_UD};
    struct drill_verbs *k = d->own;
    struct rdl_qp_config c = {.type = types[drill_below(d, 3)]};
    struct rdl_qp_info info;
    struct verbs_pair p = {0};
    uint32_t state = QPS_RESET;

    if (!verbs_pair(d, &c, &p))
        return;
    for (uint32_t i = 0; i < 10; i++) {
        if (!check_move(d, &p.end[0], c.type, &state))
            return;
    }
    if (drill_is_done(d, k->host[0], rdl_query_qp(d->lab, p.end[0].qp), "a queue pair is asked") &&
        drill_works(d, rdl_qp_info(d->lab, p.end[0].qp, &info), "a queue pair can be looked at") &&
        drill_expect(d, info.attr.state == state, "a query tells the state", "%s in place of %s",
                     enum_name(&enum_qp_state, info.attr.state), enum_name(&enum_qp_state, state)))
        (void)verbs_unpair(d, &p);
}

/* --- GIDs in use ------------------------------------------------------------------------------ */

static bool set_gid(struct drill *d, rdl_host h, bool valid, bool right, const char *what)
{
    enum rdl_status st = rdl_set_gid(d->lab, h, 0, valid);

    d->n_unsaid++;
    if (st == RDL_OK)
        st = drill_answer(d, h);
    return drill_expect(d, (st == RDL_OK) == right, what, "%s", rdl_status_name(st));
}

/* Sends from memory that the queue pair of UC may not use, which moves it to SQE, or to ERR at rxe.
 */
static bool to_sqe(struct drill *d, const struct rig_end *e)
{
    struct drill_verbs *k = d->own;
    const struct verbs_side *side = &k->side[e->number];
    const struct rdl_sge sge = {side->addr, 16, side->lkey ^ 1u};
    struct rdl_send_wr wr = {.opcode = WR_SEND, .flags = SF_SIGNALED, .sge = &sge, .n_sge = 1};
    struct rdl_wc wc;

    return verbs_send(d, e, &wr) && drill_settle(d) && rig_poll(d, side->scq, &wc) &&
           drill_expect(d, wc.status != WCS_SUCCESS, "a wrong key is not used", "a success");
}

/* Moves @e to @state, from RTS. */
static bool bring_to(struct drill *d, struct rig_end *e, uint32_t state)
{
    struct rdl_qp_attr a = {0};

    if (state == QPS_RTS)
        return true;
    if (state == QPS_SQE)
        return to_sqe(d, e);
    d->n_unsaid++;
    return rig_modify(d, e, &a, state, 0) && drill_settle(d);
}

/* A connection has its source address in use from RTR to SQE, and not in ERR and RESET. */
void verbs_step_gid(struct drill *d)
{
    static const uint32_t states[] = {QPS_RTS, QPS_SQD, QPS_SQE, QPS_ERR, QPS_RESET};
    struct drill_verbs *k = d->own;
    const unsigned i = drill_below(d, 2);
    const bool is_uc = drill_one_in(d, 2);
    struct rdl_qp_config c = {.type = is_uc ? QPT_UC : QPT_RC};
    uint32_t state = states[drill_below(d, sizeof(states) / sizeof(states[0]))];
    struct verbs_pair p = {0};
    bool is_free;

    if (!is_uc && state == QPS_SQE)
        state = QPS_RTS;
    is_free =
        state == QPS_ERR || state == QPS_RESET || (rig_is_rxe(k->profile) && state == QPS_SQE);
    p.end[0].timeout = p.end[1].timeout = 14;
    if (!verbs_pair(d, &c, &p) || !rig_connect(d, &p.end[0], &p.end[1]) ||
        !bring_to(d, &p.end[i], state) ||
        !set_gid(d, k->host[i], false, is_free, "an address is taken away when nobody uses it") ||
        (is_free && !set_gid(d, k->host[i], true, true, "an address can be given back")) ||
        !verbs_unpair(d, &p))
        return;
    if (set_gid(d, k->host[i], false, true, "an address that nobody uses can be taken away"))
        (void)set_gid(d, k->host[i], true, true, "an address can be given back");
}

/* --- Completion queues ------------------------------------------------------------------------ */

static bool resize(struct drill *d, rdl_cq cq, uint32_t cqe, enum rdl_status want, const char *what)
{
    const struct drill_verbs *k = d->own;
    enum rdl_status st = rdl_resize_cq(d->lab, cq, cqe);

    d->n_unsaid++;
    if (st == RDL_OK)
        st = drill_answer(d, k->host[0]);
    return drill_expect(d, st == want, what, "%s", rdl_status_name(st));
}

/* Fills a completion queue, or overflows it by one completion. */
void verbs_step_cq(struct drill *d)
{
    struct drill_verbs *k = d->own;
    const rdl_cq before = k->side[0].scq;
    const uint32_t asked = 2 + drill_below(d, 12), over = drill_one_in(d, 2);
    const uint32_t cqe = rig_queue_size(k->profile, asked);
    const uint32_t n = over ? cqe + 1 : 2 + drill_below(d, cqe - 1);
    struct rdl_qp_config c = {0};
    struct verbs_pair p;
    struct rdl_wc wc;
    uint64_t first = k->wr_id + 1;
    rdl_cq cq;

    d->n_unsaid++;
    if (!drill_is_done(d, k->host[0], rdl_create_cq(d->lab, k->host[0], asked, NULL, &cq), "a CQ"))
        return;
    k->side[0].scq = cq;
    (void)pair_of(d, &p, &c);
    k->side[0].scq = before;
    for (uint32_t i = 0; i < n && !d->wrong; i++)
        (void)send_small(d, &p, WR_RDMA_WRITE);
    if (d->wrong || !drill_settle(d) ||
        !drill_expect(d, count_async(d, ASE_CQ_ERR) == over,
                      "a completion queue that overflows raises CQ_ERR, and no other does",
                      "%u events for %u completions in %u", count_async(d, ASE_CQ_ERR), n, cqe))
        return;
    if (!over) {
        if (k->is_resizable &&
            (!resize(d, cq, n - 1, RDL_ERR_INVAL, "a CQ is not made smaller than what it holds") ||
             !resize(d, cq, n + drill_below(d, 4), RDL_OK, "a CQ can have another size")))
            return;
        for (uint32_t i = 0; i < n; i++) {
            if (!verbs_done(d, cq, WCS_SUCCESS, &wc) ||
                !drill_expect(d, wc.wr_id == first + i, "completions stay in their order", "%llu",
                              (unsigned long long)wc.wr_id))
                return;
        }
    }
    if (verbs_unpair(d, &p))
        drill_is_done(d, k->host[0], rdl_destroy_cq(d->lab, cq), "a CQ can be destroyed");
}
