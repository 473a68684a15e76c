/* SPDX-License-Identifier: MIT */
/* The drill of programs: objects are changed, and asked what they are. */
#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/psn.h"
#include "emu/facts/roce.h"
#include "rdmalab/control.h"
#include "swarm/drills/drill_programs.h"
#include "swarm/drills/qp_move_case.h"
#include "swarm/drills/rig.h"

#define QKEYS        0x100u
#define ACCESS_WRONG 16u /* of regions only: a queue pair takes no such flag */

/* --- Draws ------------------------------------------------------------------------------------ */

static bool is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i])
            return false;
    }
    return true;
}

/* Draws the address of @ah.  Returns false if nobody has it. */
static bool draw_dgid(struct drill *d, struct rdl_ah_attr *ah, bool is_connected)
{
    const struct programs *s = programs_of(d);
    const uint32_t family = ah->sgid_index;

    switch (drill_below(d, 8)) {
    case 0: /* nobody */
        memcpy(ah->dgid, s->other_gid[family], 16);
        ah->dgid[15] ^= 0x40;
        return false;
    case 1:
        if (is_connected)
            break;
        memcpy(ah->dgid, s->gid[family], 16);
        ah->dgid[family == 0 ? 12 : 0] = family == 0 ? 0xe0 + (uint8_t)drill_below(d, 16) : 0xff;
        for (uint32_t i = 13; i < 16; i++)
            ah->dgid[i] = (uint8_t)drill_below(d, 256);
        return true;
    case 2:
    case 3:
        if (s->arp && !s->is_up)
            break;
        memcpy(ah->dgid, s->other_gid[family], 16);
        return true;
    default:
        break;
    }
    memcpy(ah->dgid, s->gid[family], 16);
    return true;
}

enum rdl_status programs_draw_ah(struct drill *d, struct rdl_ah_attr *ah, bool is_connected,
                                 bool is_wrong)
{
    const struct programs *s = programs_of(d);
    bool is_there;

    *ah = (struct rdl_ah_attr){.sgid_index = (uint8_t)drill_below(d, 2),
                               .hop_limit = (uint8_t)drill_below(d, 256),
                               .traffic_class = (uint8_t)drill_below(d, 256),
                               .sl = (uint8_t)drill_below(d, 8),
                               .flow_label = drill_one_in(d, 3) ? FLOW_LABEL_MAX
                                                                : drill_below(d, FLOW_LABEL_MAX)};
    is_there = draw_dgid(d, ah, is_connected);
    if (drill_one_in(d, 6)) {
        for (uint32_t i = 0; i < 6; i++)
            ah->dmac[i] = (uint8_t)(2 + 2 * drill_below(d, 100));
    }
    switch (is_wrong ? drill_below(d, 6) : 6) {
    case 0:
        ah->sgid_index = (uint8_t)(2 + drill_below(d, 3));
        return RDL_ERR_INVAL;
    case 1:
        ah->sl = 8;
        return RDL_ERR_INVAL;
    case 2:
        ah->flow_label = FLOW_LABEL_MAX + 1;
        return RDL_ERR_INVAL;
    case 3:
        memcpy(ah->dgid, s->other_gid[1 - ah->sgid_index], 16);
        return RDL_ERR_INVAL;
    case 4:
        memset(ah->dgid, 0, 16);
        return RDL_ERR_INVAL;
    case 5:
        ah->sgid_index ^= 1;
        return RDL_ERR_INVAL;
    default:
        return is_there || !is_zero(ah->dmac, 6) ? RDL_OK : RDL_ERR_NO_ROUTE;
    }
}

void programs_fill_mac(struct drill *d, struct rdl_ah_attr *ah)
{
    const struct programs *s = programs_of(d);
    const uint8_t *g = ah->dgid;

    if (!is_zero(ah->dmac, 6))
        return;
    if (g[0] == 0xff)
        memcpy(ah->dmac, (uint8_t[]){0x33, 0x33, g[12], g[13], g[14], g[15]}, 6);
    else if (g[0] == 0 && (g[12] & 0xf0) == 0xe0)
        memcpy(ah->dmac, (uint8_t[]){1, 0, 0x5e, g[13] & 0x7f, g[14], g[15]}, 6);
    else if (memcmp(g, s->gid[0], 16) == 0 || memcmp(g, s->gid[1], 16) == 0)
        memcpy(ah->dmac, s->mac, 6);
    else
        memcpy(ah->dmac, s->other_mac, 6);
}

/* --- Completion queues ------------------------------------------------------------------------ */

static uint32_t rounded(const struct programs *s, uint32_t n, uint32_t most)
{
    const uint32_t size = rig_queue_size(s->profile, n);

    return size < most ? size : most;
}

void programs_resize_cq(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t most = s->limits.max_cqe, i = programs_pick(d, OBJ_CQ);
    struct program_thing *t = &s->things[i == PROGRAMS_NOTHING ? 0 : i];
    uint32_t cqe;
    enum rdl_status want = RDL_OK;

    if (i == PROGRAMS_NOTHING)
        return;
    cqe = drill_one_in(d, 3)   ? drill_below(d, most + 2)
          : drill_one_in(d, 3) ? t->n_waiting
                               : t->n_waiting + drill_below(d, most + 1 - t->n_waiting);
    if (cqe == 0 || cqe < t->n_waiting)
        want = RDL_ERR_INVAL;
    else if (cqe > most)
        want = RDL_ERR_LIMIT;
    else if (!s->resizes)
        want = RDL_ERR_UNSUPPORTED;
    if (programs_ends(d, rdl_resize_cq(d->lab, (rdl_cq){t->raw}, cqe), want, 0,
                      "a CQ can get any size that its completions fit in") &&
        want == RDL_OK)
        t->size = rounded(s, cqe, most);
}

/* --- Queue pairs ------------------------------------------------------------------------------ */

void programs_resize_qp(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t most = s->limits.max_qp_wr, i = programs_pick(d, OBJ_QP);
    struct program_thing *t = &s->things[i == PROGRAMS_NOTHING ? 0 : i];
    const uint32_t sends = drill_one_in(d, 8) ? RDL_QP_NONE : drill_below(d, most + 1),
                   recvs = drill_one_in(d, 8) ? RDL_QP_NONE : drill_below(d, most + 1);
    const bool shares = t->parts[3] != PROGRAMS_NOTHING, is_long = drill_one_in(d, 8);
    uint32_t max_sends = t->max_sends, max_recvs = t->size;
    enum rdl_status want = s->resizes ? RDL_OK : RDL_ERR_UNSUPPORTED;
    int error = 0;

    if (i == PROGRAMS_NOTHING)
        return;
    if (sends > 0)
        max_sends = rounded(s, sends == RDL_QP_NONE ? 0 : sends, most);
    if (recvs > 0 && !shares)
        max_recvs = rounded(s, recvs == RDL_QP_NONE ? 0 : recvs, most);
    if (is_long) {
        want = RDL_ERR_LIMIT;
    } else if (want == RDL_OK && max_recvs != t->size && t->n_waiting > 0) {
        want = RDL_ERR_DEVICE;
        error = EBUSY;
    }
    if (programs_ends(d, rdl_resize_qp(d->lab, (rdl_qp){t->raw}, is_long ? most + 1 : sends, recvs),
                      want, error, "queues that are empty can get any length") &&
        want == RDL_OK) {
        t->max_sends = max_sends;
        t->size = max_recvs;
    }
}

/* Returns a number of 0..@most, often one at an end. */
static uint32_t draw_to(struct drill *d, uint32_t most)
{
    const uint32_t pick = drill_below(d, 6);

    return pick == 0 ? 0 : pick == 1 ? most : drill_below(d, most + 1);
}

static struct rdl_qp_attr draw_attr(struct drill *d, uint32_t type)
{
    const struct programs *s = programs_of(d);

    return (struct rdl_qp_attr){
        .path_mtu = 1 + drill_below(d, 5),
        .access = drill_below(d, 16),
        .pkey_index = drill_below(d, s->n_pkeys),
        .port = 1,
        .qkey = type == QPT_UD ? QKEYS + drill_below(d, 3) : 0,
        .dest_qpn = 1 + draw_to(d, QPN_MAX - 1),
        .rq_psn = draw_to(d, PSN_MASK),
        .sq_psn = draw_to(d, PSN_MASK),
        .max_rd_atomic = draw_to(d, s->limits.max_qp_init_rd_atom),
        .max_dest_rd_atomic = draw_to(d, s->limits.max_qp_rd_atom),
        .min_rnr_timer = draw_to(d, 31),
        .timeout = draw_to(d, 31),
        .retry_cnt = draw_to(d, 7),
        .rnr_retry = draw_to(d, 7),
        .en_sqd_async_notify = drill_below(d, 2),
    };
}

/* Makes the value of one attribute in @mask wrong.  Returns its bit, or 0 if none can be. */
static uint32_t spoil(struct drill *d, struct rdl_qp_attr *a, uint32_t mask)
{
    const struct programs *s = programs_of(d);
    const struct {
        uint32_t bit, *at, wrong;
    } rows[] = {
        {QPA_ACCESS_FLAGS, &a->access, ACCESS_WRONG},
        {QPA_PKEY_INDEX, &a->pkey_index, s->n_pkeys},
        {QPA_PORT, &a->port, 2 * drill_below(d, 2)},
        {QPA_PATH_MTU, &a->path_mtu, 6 * drill_below(d, 2)},
        {QPA_TIMEOUT, &a->timeout, 32},
        {QPA_RETRY_CNT, &a->retry_cnt, 8},
        {QPA_RNR_RETRY, &a->rnr_retry, 8},
        {QPA_RQ_PSN, &a->rq_psn, PSN_MASK + 1},
        {QPA_SQ_PSN, &a->sq_psn, PSN_MASK + 1},
        {QPA_MAX_QP_RD_ATOMIC, &a->max_rd_atomic, s->limits.max_qp_init_rd_atom + 1},
        {QPA_MAX_DEST_RD_ATOMIC, &a->max_dest_rd_atomic, s->limits.max_qp_rd_atom + 1},
        {QPA_MIN_RNR_TIMER, &a->min_rnr_timer, 32},
        {QPA_DEST_QPN, &a->dest_qpn, drill_one_in(d, 2) ? 0 : QPN_MAX + 1},
        {QPA_EN_SQD_ASYNC_NOTIFY, &a->en_sqd_async_notify, 2},
    };
    const uint32_t first = drill_below(d, ARRAY_LEN(rows));

    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint32_t k = (first + i) % ARRAY_LEN(rows);

        if (mask & rows[k].bit) {
            *rows[k].at = rows[k].wrong;
            return rows[k].bit;
        }
    }
    return 0;
}

/* The model of a modify that works. */
static void merge(struct rdl_qp_attr *to, const struct rdl_qp_attr *a, uint32_t mask)
{
    to->state = a->state;
    to->access = mask & QPA_ACCESS_FLAGS ? a->access : to->access;
    to->pkey_index = mask & QPA_PKEY_INDEX ? a->pkey_index : to->pkey_index;
    to->port = mask & QPA_PORT ? a->port : to->port;
    to->qkey = mask & QPA_QKEY ? a->qkey : to->qkey;
    to->path_mtu = mask & QPA_PATH_MTU ? a->path_mtu : to->path_mtu;
    to->timeout = mask & QPA_TIMEOUT ? a->timeout : to->timeout;
    to->retry_cnt = mask & QPA_RETRY_CNT ? a->retry_cnt : to->retry_cnt;
    to->rnr_retry = mask & QPA_RNR_RETRY ? a->rnr_retry : to->rnr_retry;
    to->rq_psn = mask & QPA_RQ_PSN ? a->rq_psn : to->rq_psn;
    to->sq_psn = mask & QPA_SQ_PSN ? a->sq_psn : to->sq_psn;
    to->max_rd_atomic = mask & QPA_MAX_QP_RD_ATOMIC ? a->max_rd_atomic : to->max_rd_atomic;
    to->max_dest_rd_atomic =
        mask & QPA_MAX_DEST_RD_ATOMIC ? a->max_dest_rd_atomic : to->max_dest_rd_atomic;
    to->min_rnr_timer = mask & QPA_MIN_RNR_TIMER ? a->min_rnr_timer : to->min_rnr_timer;
    to->dest_qpn = mask & QPA_DEST_QPN ? a->dest_qpn : to->dest_qpn;
    to->en_sqd_async_notify =
        mask & QPA_EN_SQD_ASYNC_NOTIFY ? a->en_sqd_async_notify : to->en_sqd_async_notify;
    to->ah = mask & QPA_AV ? a->ah : to->ah;
}

/* Moves @t, with @mask and the values of @a, which must end with @want. */
static void move(struct drill *d, struct program_thing *t, struct rdl_qp_attr *a, uint32_t mask,
                 enum rdl_status want, bool unchecked)
{
    struct programs *s = programs_of(d);
    const uint32_t from = t->attr.state;
    struct rdl_modify_error err = {0};
    const enum rdl_status st =
        rdl_modify_qp(d->lab, (rdl_qp){t->raw}, a, QPA_STATE | mask, unchecked, &err);
    const bool refuses = unchecked && want != RDL_OK;

    if (!programs_ends(d, st, refuses ? RDL_ERR_DEVICE : want, refuses ? EINVAL : 0,
                       "a queue pair moves if the transition and all values are right") ||
        want != RDL_OK)
        return;
    if (a->state == QPS_RESET) {
        t->attr = (struct rdl_qp_attr){.state = QPS_RESET};
        if (t->parts[3] == PROGRAMS_NOTHING)
            t->n_waiting = 0;
        return;
    }
    programs_fill_mac(d, &a->ah);
    merge(&t->attr, a, mask);
    if (from == QPS_RTS && a->state == QPS_SQD)
        t->n_async += s->has_events && (rig_is_rxe(s->profile) ||
                                        (mask & QPA_EN_SQD_ASYNC_NOTIFY && a->en_sqd_async_notify));
}

/* Draws the state that @t is to move to. */
static uint32_t draw_state(struct drill *d, const struct program_thing *t)
{
    static const uint32_t next[] = {
        [QPS_RESET] = QPS_INIT, [QPS_INIT] = QPS_RTR, [QPS_RTR] = QPS_RTS,  [QPS_RTS] = QPS_RTS,
        [QPS_SQD] = QPS_RTS,    [QPS_SQE] = QPS_RTS,  [QPS_ERR] = QPS_RESET};
    const uint32_t pick = drill_below(d, 10);

    if (pick == 0 || (pick == 1 && t->attr.state == QPS_RTS))
        return QPS_RESET;
    if (pick < 3)
        return t->attr.state;
    if (t->attr.state == QPS_RTS && pick < 6)
        return QPS_SQD;
    return pick == 9 ? drill_below(d, QPS_SQD + 1) : next[t->attr.state];
}

void programs_move_qp(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t i = programs_pick(d, OBJ_QP);
    struct program_thing *t = &s->things[i == PROGRAMS_NOTHING ? 0 : i];
    const struct qp_move_case *row;
    struct rdl_qp_attr a;
    enum rdl_status want = RDL_OK;
    uint32_t mask, what = drill_below(d, 24);
    bool unchecked = drill_one_in(d, 2);

    if (i == PROGRAMS_NOTHING)
        return;
    a = draw_attr(d, t->type);
    a.state = draw_state(d, t);
    row = qp_move_case(t->type, t->attr.state, a.state);
    mask = row ? row->need | (row->may & (uint32_t)prng_next(&d->rng)) : 0;
    if (mask & QPA_AV) {
        want = programs_draw_ah(d, &a.ah, true, drill_one_in(d, 10));
        if (want != RDL_OK)
            what = 9;
    }
    if (a.state == QPS_RESET) {
        unchecked = false;
    } else if (!row) {
        want = RDL_ERR_STATE;
    } else if (what == 0 && row->need) {
        mask &= mask - 1; /* without the first one, which may be needed */
        want = (row->need & ~mask) ? RDL_ERR_INVAL : want;
    } else if (what == 1 && (~(row->need | row->may) & QPA_TIMEOUT)) {
        mask |= QPA_TIMEOUT;
        want = RDL_ERR_INVAL;
    } else if (what < 5) {
        want = spoil(d, &a, mask) ? RDL_ERR_INVAL : want;
        unchecked = false;
    } else {
        unchecked = false;
    }
    move(d, t, &a, mask, want, unchecked && want != RDL_OK);
}

/* Moves a UD queue pair to RTS, with what it needs to send datagrams to its own host. */
void programs_launch(struct drill *d)
{
    struct programs *s = programs_of(d);
    uint32_t i = programs_pick(d, OBJ_QP);
    struct program_thing *t;

    for (uint32_t k = 0; k < 8 && i != PROGRAMS_NOTHING && s->things[i].type != QPT_UD; k++)
        i = programs_pick(d, OBJ_QP);
    if (i == PROGRAMS_NOTHING || s->things[i].type != QPT_UD)
        return;
    t = &s->things[i];
    while (t->attr.state != QPS_RTS && !d->wrong) {
        struct rdl_qp_attr a = draw_attr(d, QPT_UD);

        a.state = t->attr.state == QPS_RESET  ? QPS_INIT
                  : t->attr.state == QPS_INIT ? QPS_RTR
                                              : QPS_RTS;
        move(d, t, &a, qp_move_case(QPT_UD, t->attr.state, a.state)->need, RDL_OK, false);
    }
    if (!d->wrong)
        programs_equip(d, i);
}

/* --- SRQs ------------------------------------------------------------------------------------- */

void programs_change_srq(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t i = programs_pick(d, OBJ_SRQ);
    struct program_thing *t = &s->things[i == PROGRAMS_NOTHING ? 0 : i];
    struct rdl_srq_attr a = {0};
    uint32_t mask = drill_one_in(d, 6) ? drill_below(d, 8) : RDL_SRQ_LIMIT;
    enum rdl_status want = RDL_OK;
    struct rdl_srq_info info;

    if (i == PROGRAMS_NOTHING)
        return;
    a.limit = drill_one_in(d, 6) ? t->size + 1 : draw_to(d, t->size);
    if (mask & 4)
        want = RDL_ERR_INVAL;
    else if (mask & RDL_SRQ_MAX_WR)
        want = RDL_ERR_UNSUPPORTED;
    else if ((mask & RDL_SRQ_LIMIT) && a.limit > t->size)
        want = RDL_ERR_INVAL;
    if (!programs_ends(d, rdl_modify_srq(d->lab, (rdl_srq){t->raw}, &a, mask), want, 0,
                       "a shared receive queue can get any limit up to its size"))
        return;
    if (want == RDL_OK && (mask & RDL_SRQ_LIMIT))
        t->limit = a.limit;
    if (programs_ends(d, rdl_query_srq(d->lab, (rdl_srq){t->raw}), RDL_OK, 0,
                      "a shared receive queue can be asked") &&
        drill_works(d, rdl_srq_info(d->lab, (rdl_srq){t->raw}, &info), "and looked at"))
        (void)drill_expect(d, info.attr.limit == t->limit,
                           "the limit of a shared receive queue is the last one that was set",
                           "%u, and not %u", info.attr.limit, t->limit);
}

/* --- Groups ----------------------------------------------------------------------------------- */

/* Returns true if one more queue pair can join @group. */
static bool has_room(const struct programs *s, uint32_t group)
{
    uint32_t in_it = 0, all = 0, groups = 0;

    for (uint32_t g = 0; g < PROGRAMS_GROUPS; g++) {
        uint32_t n = 0;

        for (uint32_t i = 0; i < PROGRAMS_THINGS; i++)
            n += s->things[i].kind == OBJ_QP && s->things[i].in_group[g];
        in_it = g == group ? n : in_it;
        all += n;
        groups += n > 0;
    }
    return (in_it > 0 || groups < s->limits.max_mcast_grp) &&
           in_it < s->limits.max_mcast_qp_attach && all < s->limits.max_total_mcast_qp_attach;
}

void programs_group(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t i = programs_pick(d, OBJ_QP), group = drill_below(d, PROGRAMS_GROUPS);
    struct program_thing *t = &s->things[i == PROGRAMS_NOTHING ? 0 : i];
    const bool joins = !drill_one_in(d, 3), is_wrong = drill_one_in(d, 6);
    uint8_t gid[16] = {[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 1, [14] = 2};
    enum rdl_status want = RDL_OK, st;
    int error = 0;

    if (i == PROGRAMS_NOTHING)
        return;
    gid[15] = (uint8_t)group;
    if (is_wrong)
        gid[12] = 10;
    if (t->type != QPT_UD || is_wrong)
        want = RDL_ERR_INVAL;
    else if (!s->has_mcast)
        want = RDL_ERR_UNSUPPORTED;
    else if (!joins && !t->in_group[group])
        want = RDL_ERR_INVAL;
    else if (joins && !t->in_group[group] && !has_room(s, group)) {
        want = RDL_ERR_DEVICE;
        error = ENOMEM;
    }
    st = joins ? rdl_attach_mcast(d->lab, (rdl_qp){t->raw}, gid)
               : rdl_detach_mcast(d->lab, (rdl_qp){t->raw}, gid);
    if (programs_ends(d, st, want, error, "a group can be joined if there is room, and left") &&
        want == RDL_OK)
        t->in_group[group] = joins;
}

/* --- Questions -------------------------------------------------------------------------------- */

/* Returns max_rd_atomic as the device has it, for a request of @n. */
static uint32_t rd_atomic(const struct programs *s, uint32_t n, uint32_t most)
{
    const uint32_t size = n > 0 ? (uint32_t)pow2_ceil(n) : 0;

    return !rig_is_rxe(s->profile) ? n : size < most ? size : most;
}

static void query_qp(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t i = programs_pick(d, OBJ_QP);
    struct rdl_qp_attr *a = &s->things[i == PROGRAMS_NOTHING ? 0 : i].attr;

    if (i == PROGRAMS_NOTHING || !programs_ends(d, rdl_query_qp(d->lab, (rdl_qp){s->things[i].raw}),
                                                RDL_OK, 0, "a queue pair can be asked"))
        return;
    a->max_rd_atomic = rd_atomic(s, a->max_rd_atomic, s->limits.max_qp_init_rd_atom);
    a->max_dest_rd_atomic = rd_atomic(s, a->max_dest_rd_atomic, s->limits.max_qp_rd_atom);
    (void)programs_check(d, i);
}

static void query_pkey(struct drill *d)
{
    const struct programs *s = programs_of(d);
    const uint32_t i = drill_below(d, s->n_pkeys + 1);
    uint16_t pkey = 0;

    if (programs_ends(d, rdl_query_pkey(d->lab, s->host, i),
                      i < s->n_pkeys ? RDL_OK : RDL_ERR_INVAL, 0,
                      "the P_Key table has its length") &&
        i < s->n_pkeys && drill_works(d, rdl_pkey(d->lab, s->host, &pkey), "a P_Key was asked for"))
        (void)drill_expect(d, pkey == s->pkeys[i], "the P_Key table has its entries",
                           "0x%04x, and not 0x%04x", pkey, s->pkeys[i]);
}

void programs_query(struct drill *d)
{
    switch (drill_below(d, 4)) {
    case 0:
        query_pkey(d);
        break;
    case 1:
        programs_borrow_memory(d);
        break;
    default:
        query_qp(d);
    }
}
