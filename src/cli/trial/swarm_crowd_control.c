/* SPDX-License-Identifier: MIT */
/* The control path of the crowd: queue pairs set up, moved and torn down, groups, limits, events.
 */
#include "cli/trial/swarm_crowd.h"
#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/psn.h"
#include "emu/facts/qp_fsm.h"

#define DEPTH  16u
#define QKEY   0x11111111u
#define INLINE 64u

void crowd_excuse(struct crowd *c, unsigned end)
{
    struct crowd_end *e = &c->end[end], *peer = crowd_is_datagram(e) ? e : &c->end[e->peer];

    e->is_excused = peer->is_excused = true;
    e->was_excused = peer->was_excused = true;
}

/* --- Queue pairs ------------------------------------------------------------------------------ */

/* A new window for the queue pair of @end, whose old one nobody knows the state of. */
static void new_window(struct crowd *c, unsigned end)
{
    struct crowd_key *k = &c->key[CROWD_WINDOWS + end];
    const unsigned h = c->end[end].host;
    const uint32_t stale = k->mw.raw ? k->rkey : 0;
    struct rdl_mw_info info;

    if (k->mw.raw) {
        crowd_works(c, rdl_dealloc_mw(c->lab, k->mw), "a window can be given back");
        crowd_works(c, crowd_wait(c, h) ? RDL_OK : RDL_ERR_DEVICE, "a window goes");
    }
    *k = (struct crowd_key){.stale = stale};
    if (crowd_works(c, rdl_alloc_mw(c->lab, c->host[h].s.pd, 2, NULL, &k->mw),
                    "a window can be had") &&
        crowd_wait(c, h) && crowd_works(c, rdl_mw_info(c->lab, k->mw, &info), "a window has a key"))
        k->rkey = info.rkey;
}

/* What was posted to @end may never complete, and what it was to change is unknown. */
static void forget(struct crowd *c, unsigned end)
{
    for (uint32_t i = c->end[end].first; i < c->n_items; i++) {
        struct crowd_item *t = &c->item[i];

        if (t->is_shared || t->end != end || t->is_done || t->is_gone)
            continue;
        t->is_gone = true;
        if (crowd_changes_key(t) && t->key < CROWD_KEYS)
            c->key[t->key].is_broken = true;
    }
    c->end[end].first = c->n_items;
    c->end[end].sent_n = c->end[end].heard_n = c->n_items;
    c->end[end].is_excused = c->end[end].is_sqd = c->end[end].is_sqe = false;
}

const char *crowd_name(unsigned end)
{
    static const char *const names[CROWD_ENDS] = {"a1", "a2", "b1", "b2", "c1",
                                                  "c2", "u1", "u2", "u3", "u4"};

    return names[end];
}

void crowd_make_end(struct crowd *c, unsigned end)
{
    struct crowd_end *e = &c->end[end];
    const struct crowd_host *h = &c->host[e->host];
    struct rdl_qp_config q = {.pd = h->s.pd,
                              .type = e->type,
                              .send_cq = h->s.cq,
                              .recv_cq = h->s.cq,
                              .max_send_wr = DEPTH,
                              .max_recv_wr = DEPTH,
                              .max_inline_data = INLINE};
    struct rdl_qp_info info;

    if (e->has_srq)
        q.srq = h->srq;
    if (crowd_works(c, rdl_create_qp(c->lab, &q, crowd_name(end), &e->qp),
                    "a queue pair can be created") &&
        crowd_works(c, crowd_wait(c, e->host) ? RDL_OK : RDL_ERR_DEVICE, "the device has room") &&
        crowd_works(c, rdl_qp_info(c->lab, e->qp, &info), "a queue pair has a number"))
        e->qpn = info.qpn;
}

static bool modify(struct crowd *c, unsigned end, struct rdl_qp_attr *a, enum qp_state to,
                   uint32_t mask)
{
    struct rdl_modify_error err;
    enum rdl_status st;

    a->state = to;
    st = rdl_modify_qp(c->lab, c->end[end].qp, a, QPA_STATE | mask, false, &err);
    /* A queue pair may have failed, but the host has no other request under way. */
    crowd_expect(c, st != RDL_ERR_BUSY, UINT32_MAX, "one request follows the other");
    return st == RDL_OK && crowd_wait(c, c->end[end].host);
}

/* Up from RESET. */
static void raise_end(struct crowd *c, unsigned end, uint32_t sq_psn, uint32_t rq_psn)
{
    static const enum qp_state states[] = {QPS_INIT, QPS_RTR, QPS_RTS};
    struct crowd_end *e = &c->end[end];
    const struct crowd_end *peer = &c->end[e->peer];
    struct rdl_qp_attr a = {
        .path_mtu = c->path_mtu,
        .access = ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC,
        .port = 1,
        .pkey_index = e->pkey_index,
        .qkey = QKEY,
        .dest_qpn = peer->qpn,
        .sq_psn = sq_psn,
        .rq_psn = rq_psn,
        .max_rd_atomic = 4,
        .max_dest_rd_atomic = 4,
        .min_rnr_timer = 1,
        .timeout = 7,
        .retry_cnt = RETRY_MAX,
        .rnr_retry = RETRY_MAX,
        .credits = e->credits,
        .ah.sgid_index = (uint8_t)c->gid_index,
        .ah.hop_limit = 64,
    };
    uint8_t mac[6];

    if (e->type == QPT_UC)
        a.access &= ~(uint32_t)(ACC_REMOTE_READ | ACC_REMOTE_ATOMIC);
    crowd_works(c,
                rdl_host_address(c->lab, c->host[peer->host].s.host, c->gid_index, a.ah.dgid, mac),
                "a host has an address");
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        uint32_t mask = qp_fsm_needs(e->type, states[i]);

        /* With a shared queue nobody knows how many receives there are for it. */
        if (states[i] == QPS_RTR && e->credits && !e->has_srq)
            mask |= QPA_CREDITS;
        crowd_expect(c, modify(c, end, &a, states[i], mask), UINT32_MAX,
                     "a queue pair can be moved up");
    }
}

void crowd_connect(struct crowd *c, unsigned end)
{
    const unsigned peer = c->end[end].peer;
    const uint32_t to = crowd_below(c, PSN_MASK + 1), from = PSN_MASK - crowd_below(c, 100);
    struct rdl_qp_attr a = {0};

    crowd_expect(c, modify(c, end, &a, QPS_RESET, 0), UINT32_MAX, "RESET is allowed from anywhere");
    forget(c, end);
    if (crowd_is_datagram(&c->end[end])) {
        raise_end(c, end, to, 0);
        return;
    }
    crowd_expect(c, modify(c, peer, &a, QPS_RESET, 0), UINT32_MAX,
                 "RESET is allowed from anywhere");
    forget(c, peer);
    new_window(c, end);
    new_window(c, peer);
    raise_end(c, end, to, from);
    raise_end(c, peer, from, to);
}

static void set_group(struct crowd *c, unsigned end, bool attached)
{
    struct crowd_end *e = &c->end[end];

    if (!crowd_is_datagram(e) || e->is_attached == attached)
        return;
    if (attached)
        crowd_works(c, rdl_attach_mcast(c->lab, e->qp, c->group_gid), "a group can be joined");
    else
        crowd_works(c, rdl_detach_mcast(c->lab, e->qp, c->group_gid), "a group can be left");
    crowd_expect(c, crowd_wait(c, e->host), UINT32_MAX, "the device knows groups");
    e->is_attached = attached;
    e->left_at = c->n_items;
}

/* Destroys the queue pair of @end, and sets up another. */
static void replace(struct crowd *c, unsigned end)
{
    struct crowd_end *e = &c->end[end];
    const unsigned h = e->host;

    crowd_take_events(c, h);
    set_group(c, end, false);
    crowd_works(c, rdl_destroy_qp(c->lab, e->qp), "a queue pair can be destroyed");
    crowd_expect(c, crowd_wait(c, h), UINT32_MAX, "a queue pair can be destroyed");
    forget(c, end);
    for (uint32_t i = 0; i < c->n_items; i++)
        c->item[i].is_unsure = c->item[i].is_unsure || c->item[i].to == end;
    if (!c->wrong)
        crowd_make_end(c, end);
    if (!c->wrong)
        crowd_connect(c, end);
}

static void fail_end(struct crowd *c, unsigned end)
{
    struct rdl_qp_attr a = {0};

    crowd_excuse(c, end);
    crowd_expect(c, modify(c, end, &a, QPS_ERR, 0), UINT32_MAX, "ERR is allowed from anywhere");
}

static void drain(struct crowd *c, unsigned end)
{
    struct rdl_qp_attr a = {.en_sqd_async_notify = 1};
    const uint32_t mask = crowd_one_in(c, 2) ? QPA_EN_SQD_ASYNC_NOTIFY : 0;

    if (modify(c, end, &a, QPS_SQD, mask))
        c->end[end].is_sqd = true;
    else
        crowd_expect(c,
                     c->end[end].is_excused || c->end[end].is_sqd || c->end[end].is_sqe ||
                         c->is_lossy || c->is_copying,
                     UINT32_MAX, "a queue pair that sends can be drained");
}

/* A queue pair that a wrong request has led to SQE sends again after that. */
static void recover(struct crowd *c, unsigned end)
{
    struct crowd_end *e = &c->end[end];
    struct rdl_qp_attr a = {0};
    struct rdl_qp_info info;

    if (!crowd_works(c, rdl_query_qp(c->lab, e->qp), "a queue pair can be asked") ||
        !crowd_wait(c, e->host) ||
        !crowd_works(c, rdl_qp_info(c->lab, e->qp, &info), "a queue pair can be asked"))
        return;
    if (info.attr.state == QPS_SQE) {
        crowd_expect(c, modify(c, end, &a, QPS_RTS, 0), UINT32_MAX, "SQE is left for RTS");
        e->is_sqe = e->is_sqd = false;
    }
}

void crowd_resume(struct crowd *c, unsigned end)
{
    struct rdl_qp_attr a = {0};

    if (c->end[end].is_sqe && !c->end[end].is_excused)
        recover(c, end);
    if (c->end[end].is_sqd && modify(c, end, &a, QPS_RTS, 0))
        c->end[end].is_sqd = false;
}

/* --- Events ----------------------------------------------------------------------------------- */

static void judge_event(struct crowd *c, unsigned host, const struct rdl_async_event *e)
{
    bool excused = false;

    for (unsigned i = 0; i < CROWD_ENDS; i++) {
        if (c->end[i].host == host && c->end[i].qpn == e->number)
            excused = c->end[i].was_excused;
    }
    switch (e->type) {
    case ASE_SRQ_LIMIT_REACHED:
        crowd_expect(c, c->host[host].limits > 0, UINT32_MAX, "a limit is told once");
        c->host[host].limits--;
        break;
    case ASE_QP_FATAL:
    case ASE_QP_REQ_ERR:
    case ASE_QP_ACCESS_ERR:
        crowd_expect(c, excused, UINT32_MAX, "a queue pair fails for a reason");
        break;
    case ASE_CQ_ERR:
    case ASE_DEVICE_FATAL:
    case ASE_SRQ_ERR:
        crowd_expect(c, false, UINT32_MAX, "queues and devices do not fail");
        break;
    default:
        break;
    }
}

void crowd_take_events(struct crowd *c, unsigned host)
{
    struct crowd_host *h = &c->host[host];
    struct rdl_async_event e;
    rdl_cq cq;
    size_t n = 1;

    while (n > 0 && !c->wrong) {
        crowd_works(c, rdl_get_async_event(c->lab, h->s.host, &e, &n), "events can be taken");
        if (n == 0)
            break;
        judge_event(c, host, &e);
        crowd_works(c, rdl_ack_async_event(c->lab, &e), "an event can be acknowledged");
    }
    for (n = 1; n > 0 && !c->wrong;) {
        crowd_works(c, rdl_get_cq_event(c->lab, h->channel, &cq, &n), "events can be taken");
        h->events += (uint32_t)n;
    }
    if (h->events > 0)
        crowd_works(c, rdl_ack_cq_events(c->lab, h->s.cq, h->events),
                    "completion events can be acknowledged");
    h->events = 0;
}

static void set_limit(struct crowd *c, unsigned host)
{
    const struct rdl_srq_attr a = {.limit = crowd_below(c, 8)};

    crowd_take_events(c, host);
    crowd_works(c, rdl_modify_srq(c->lab, c->host[host].srq, &a, RDL_SRQ_LIMIT),
                "a limit can be set");
    crowd_expect(c, crowd_wait(c, host), UINT32_MAX, "a limit can be set");
    c->host[host].limits += a.limit > 0;
}

/* --- What is drawn ---------------------------------------------------------------------------- */

static void look(struct crowd *c, unsigned end)
{
    const struct crowd_end *e = &c->end[end];
    struct rdl_qp_info info;

    if (!crowd_works(c, rdl_query_qp(c->lab, e->qp), "a queue pair can be asked") ||
        !crowd_wait(c, e->host) ||
        !crowd_works(c, rdl_qp_info(c->lab, e->qp, &info), "a queue pair can be asked"))
        return;
    crowd_expect(c,
                 e->is_excused || e->is_sqe || c->is_lossy || c->is_copying ||
                     info.attr.state == (e->is_sqd ? (uint32_t)QPS_SQD : (uint32_t)QPS_RTS),
                 UINT32_MAX, "a queue pair is where it was moved to");
}

/* The region has other keys then, and its bytes may be called otherwise. */
static void register_anew(struct crowd *c, unsigned host)
{
    struct crowd_key *k = &c->key[CROWD_ANEW + host];
    const struct crowd_host *h = &c->host[host];
    struct rdl_mr_change change = {.what = RDL_REREG_TRANSLATION | RDL_REREG_ACCESS};
    struct rdl_mr_info info;

    if (crowd_uses_key(c, CROWD_ANEW + host))
        return;
    k->shift = (uint64_t)crowd_below(c, 100) * CROWD_SLOT_BYTES;
    change.access = ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;
    change.range.addr = h->s.mem.addr + crowd_slot(0, true);
    change.range.bytes = (uint64_t)CROWD_ITEMS * CROWD_SLOT_BYTES;
    change.range.iova = change.range.addr + k->shift;
    if (!crowd_works(c, rdl_rereg_mr(c->lab, h->anew, &change), "a region can be registered anew"))
        return;
    crowd_expect(c, crowd_wait(c, host), UINT32_MAX, "a region can be registered anew");
    k->stale = k->rkey;
    crowd_works(c, rdl_mr_info(c->lab, h->anew, &info), "a region has a key");
    k->rkey = info.rkey;
}

void crowd_control(struct crowd *c)
{
    const unsigned end = crowd_below(c, CROWD_ENDS), host = c->end[end].host;
    const struct crowd_host *h = &c->host[host];

    switch (crowd_below(c, 16)) {
    case 0:
        fail_end(c, end);
        break;
    case 1:
        crowd_connect(c, end);
        break;
    case 2:
        replace(c, end);
        break;
    case 3:
        drain(c, end);
        break;
    case 4:
    case 5:
        crowd_resume(c, end);
        break;
    case 6:
        set_limit(c, host);
        break;
    case 7:
        crowd_works(c, rdl_req_notify_cq(c->lab, h->s.cq, crowd_one_in(c, 2)), "a CQ can be armed");
        crowd_expect(c, crowd_wait(c, host), UINT32_MAX, "a CQ can be armed");
        break;
    case 8:
        crowd_take_events(c, host);
        break;
    case 9:
        look(c, end);
        break;
    case 10:
        crowd_works(c, rdl_resize_cq(c->lab, h->s.cq, 2u * CROWD_ITEMS + crowd_below(c, 100)),
                    "a CQ can be resized");
        crowd_expect(c, crowd_wait(c, host), UINT32_MAX, "a CQ can be resized");
        break;
    case 11:
    case 12:
        register_anew(c, host);
        break;
    default:
        set_group(c, end, !c->end[end].is_attached || crowd_one_in(c, 2));
        break;
    }
}
