/* SPDX-License-Identifier: MIT */
/* The drill of the device: queue pairs, their attributes, and multicast groups.
 *
 * A transition gets exactly the attributes that it needs, or some that it permits.  (The drill of
 * verbs tries other sets of attributes.)  Their values are at the edges of their ranges, and
 * sometimes one is beyond.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/psn.h"
#include "emu/wire/addr.h"
#include "swarm/drills/drill_device.h"
#include "swarm/drills/qp_move_case.h"

#define QP_ACCESS (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)
#define NO_MOVE   16u /* a state that does not exist */

/* --- Numbers ---------------------------------------------------------------------------------- */

/* Returns the number of queue pairs of type GSI, or of all other types. */
static uint32_t count_qps(const struct drill_device *s, bool of_gsi)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < DEVICE_SLOTS; i++)
        n += s->qp[i].number != DEVICE_NOTHING && (s->qp[i].type == QPT_GSI) == of_gsi;
    return n;
}

/* Draws a queue pair.  Returns NULL if there is none, and sometimes else; *@ret is then the number
 * of none.
 */
static struct device_qp *draw_qp(struct drill *d, uint32_t *ret)
{
    struct drill_device *s = d->own;
    const uint32_t first = drill_one_in(d, 16) ? DEVICE_SLOTS : drill_below(d, DEVICE_SLOTS);

    for (uint32_t k = 0; k < DEVICE_SLOTS && first < DEVICE_SLOTS; k++) {
        struct device_qp *qp = &s->qp[(first + k) % DEVICE_SLOTS];

        if (qp->number == DEVICE_NOTHING)
            continue;
        *ret = qp->number;
        return qp;
    }
    *ret = drill_one_in(d, 2) ? drill_below(d, DEVICE_FIRST_QP) : UINT32_MAX - drill_below(d, 4);
    if (*ret == DEVICE_GSI && count_qps(s, true) > 0)
        *ret = 0;
    return NULL;
}

static uint32_t resources(const struct drill_device *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < DEVICE_SLOTS; i++)
        n += s->qp[i].number != DEVICE_NOTHING ? s->qp[i].attr.max_dest_rd_atomic : 0;
    return n;
}

/* --- Creating and destroying ------------------------------------------------------------------ */

/* Draws the objects of a queue pair.  Returns REF_NONE, or the reason if one does not exist. */
static uint32_t draw_parts(struct drill *d, struct rfc_create_qp *c, struct device_qp *qp)
{
    struct drill_device *s = d->own;
    const bool has_srq = drill_one_in(d, 3);

    qp->pd = drill_one_in(d, 12) ? DEVICE_SLOTS : device_pick(d, s->pd, DEVICE_SLOTS);
    qp->send_cq = drill_one_in(d, 12) ? DEVICE_SLOTS : device_pick(d, s->cq, DEVICE_SLOTS);
    qp->recv_cq = drill_one_in(d, 12) ? DEVICE_SLOTS : device_pick(d, s->cq, DEVICE_SLOTS);
    qp->srq = has_srq ? device_pick(d, s->srq, DEVICE_SLOTS) : DEVICE_SLOTS;
    c->pdn = qp->pd < DEVICE_SLOTS ? s->pd[qp->pd].number : device_draw_stranger(d, s->pd);
    c->send_cqn =
        qp->send_cq < DEVICE_SLOTS ? s->cq[qp->send_cq].number : device_draw_stranger(d, s->cq);
    c->recv_cqn =
        qp->recv_cq < DEVICE_SLOTS ? s->cq[qp->recv_cq].number : device_draw_stranger(d, s->cq);
    c->srqn = qp->srq < DEVICE_SLOTS ? s->srq[qp->srq].number : 0;
    if (has_srq && qp->srq == DEVICE_SLOTS)
        c->srqn = UINT32_MAX;
    if (qp->pd == DEVICE_SLOTS)
        return REF_PD_HANDLE;
    if (qp->send_cq == DEVICE_SLOTS)
        return REF_QP_SEND_CQ;
    if (qp->recv_cq == DEVICE_SLOTS)
        return REF_QP_RECV_CQ;
    return c->srqn == UINT32_MAX ? REF_QP_SRQ : REF_NONE;
}

/* Draws the sizes.  One may be too large: returns the reason, or REF_NONE. */
static uint32_t draw_sizes(struct drill *d, struct rfc_create_qp *c)
{
    const struct drill_device *s = d->own;
    const struct rdl_device_limits *l = &s->now;
    const struct {
        uint32_t *field, most, why;
        bool of_receives;
    } sizes[] = {
        {&c->max_send_wr, l->max_qp_wr, REF_QP_SEND_WR, false},
        {&c->max_recv_wr, l->max_qp_wr, REF_QP_RECV_WR, true},
        {&c->max_send_sge, l->max_send_sge, REF_QP_SEND_SGE, false},
        {&c->max_recv_sge, l->max_recv_sge, REF_QP_RECV_SGE, true},
        {&c->max_inline_data, l->max_inline_data, REF_QP_INLINE_DATA, false},
    };
    const uint32_t wrong = drill_below(d, 4 * (uint32_t)ARRAY_LEN(sizes));

    for (uint32_t i = 0; i < ARRAY_LEN(sizes); i++)
        *sizes[i].field = device_draw(d, 0, sizes[i].most);
    if (wrong >= ARRAY_LEN(sizes))
        return REF_NONE;
    *sizes[wrong].field = device_draw_above(d, sizes[wrong].most);
    /* A queue pair with a shared receive queue has no receive queue. */
    return sizes[wrong].of_receives && c->srqn ? (uint32_t)REF_NONE : sizes[wrong].why;
}

/* Draws the type and the flags.  Returns REF_NONE, or the reason if they are wrong. */
static uint32_t draw_kind(struct drill *d, struct rfc_create_qp *c)
{
    static const uint8_t types[] = {QPT_RC, QPT_RC, QPT_RC, QPT_UC, QPT_UD};
    static const uint8_t no_types[] = {0, 5, 6, 8, 9, 255};
    const struct drill_device *s = d->own;

    c->qp_type = types[drill_below(d, ARRAY_LEN(types))];
    c->sq_sig_type = (uint8_t)drill_below(d, 2);
    switch (drill_below(d, 16)) {
    case 0:
        c->sq_sig_type = (uint8_t)(2 + drill_below(d, 254));
        return REF_QP_SIG_TYPE;
    case 1:
        c->create_flags = 1u << drill_below(d, 32);
        break;
    case 2:
        c->create_flags = CREATE_BLOCK_SELF_MCAST_LB;
        break;
    case 3:
        c->qp_type = no_types[drill_below(d, ARRAY_LEN(no_types))];
        return REF_QP_TYPE;
    case 4:
        c->qp_type = QPT_GSI;
        break;
    default:
        break;
    }
    if (c->create_flags & ~(rig_is_rxe(s->profile) ? 0 : CREATE_BLOCK_SELF_MCAST_LB))
        return REF_QP_CREATE_FLAGS;
    return c->create_flags && c->qp_type != QPT_UD ? REF_QP_FLAGS_OF_TYPE : REF_NONE;
}

/* The queue pair of type GSI has these values whatever it was given. */
static void keep_gsi(struct device_qp *qp)
{
    if (qp->type != QPT_GSI)
        return;
    qp->attr.qkey = QKEY_GSI;
    qp->attr.pkey_index = 0;
}

/* Adds the new queue pair @qp, created by @c, to the model. */
static void add_qp(struct drill *d, struct device_qp qp, const struct rfc_create_qp *c)
{
    struct drill_device *s = d->own;
    const struct device_object *srq = qp.srq < DEVICE_SLOTS ? &s->srq[qp.srq] : NULL;
    uint32_t i = 0;

    const uint32_t least = c->qp_type == QPT_GSI ? DEVICE_GSI : DEVICE_FIRST_QP,
                   most = c->qp_type == QPT_GSI ? DEVICE_GSI : s->max_qp;

    for (uint32_t k = 0; k < DEVICE_SLOTS; k++) {
        if (!drill_expect(d,
                          qp.number >= least && qp.number <= most && s->qp[k].number != qp.number,
                          "each queue pair has a number of its own, and the GSI has 1", "%u, of %u",
                          qp.number, s->max_qp))
            return;
    }
    qp.type = c->qp_type;
    qp.attr = (struct rfc_qp_attr){
        .max_send_wr = c->max_send_wr,
        .max_recv_wr = srq ? 0 : c->max_recv_wr,
        .max_send_sge = c->max_send_sge,
        .max_recv_sge = srq ? srq->max_sge : c->max_recv_sge,
        .max_inline_data = c->max_inline_data,
    };
    keep_gsi(&qp);
    while (s->qp[i].number != DEVICE_NOTHING)
        i++;
    RDL_ASSERT(i < DEVICE_SLOTS);
    s->qp[i] = qp;
    s->pd[qp.pd].users++;
    s->cq[qp.send_cq].users++;
    s->cq[qp.recv_cq].users++;
    if (srq)
        s->srq[qp.srq].users++;
}

/* Returns the limit that forbids one more queue pair of @type, or REF_NONE. */
static uint32_t why_full(const struct drill_device *s, uint32_t type)
{
    if (type == QPT_GSI)
        return count_qps(s, true) > 0 ? REF_QP_GSI_LIMIT : REF_NONE;
    return count_qps(s, false) + DEVICE_FIRST_QP > s->max_qp ? REF_QP_LIMIT : REF_NONE;
}

static void create(struct drill *d)
{
    struct drill_device *s = d->own;
    struct rfc_create_qp c = {.pdn = 0};
    struct device_qp qp = {.number = 0};
    const uint32_t kind = draw_kind(d, &c), parts = draw_parts(d, &c, &qp),
                   sizes = draw_sizes(d, &c);
    const uint32_t why = kind ? kind : parts ? parts : sizes ? sizes : why_full(s, c.qp_type);
    struct raw_qp_handle raw;
    struct rfc_qp_handle h;

    if (!ask_create_qp(d, CMD_CREATE_QP, &c, why, &raw, sizeof(raw)) || why)
        return;
    rfc_qp_handle_get(&h, &raw);
    qp.number = h.qpn;
    add_qp(d, qp, &c);
}

static void destroy(struct drill *d)
{
    struct drill_device *s = d->own;
    struct rfc_qp_handle h;
    struct device_qp *qp = draw_qp(d, &h.qpn);

    if (!ask_qp_handle(d, CMD_DESTROY_QP, &h, qp ? REF_NONE : REF_QP_HANDLE, NULL, 0) || !qp)
        return;
    s->pd[qp->pd].users--;
    s->cq[qp->send_cq].users--;
    s->cq[qp->recv_cq].users--;
    if (qp->srq < DEVICE_SLOTS)
        s->srq[qp->srq].users--;
    qp->number = DEVICE_NOTHING;
}

void device_step_qp(struct drill *d)
{
    if (drill_below(d, 3) > 0)
        create(d);
    else
        destroy(d);
}

/* --- Attributes ------------------------------------------------------------------------------- */

/* Draws an address vector that is correct. */
static void draw_path(struct drill *d, struct rfc_qp_attr *a)
{
    struct drill_device *s = d->own;

    a->ah_sgid_index = (uint8_t)drill_below(d, DEVICE_GIDS);
    while (!s->gid[a->ah_sgid_index].is_valid)
        a->ah_sgid_index = (uint8_t)((a->ah_sgid_index + 1) % DEVICE_GIDS);
    memset(a->ah_dgid, 0, sizeof(a->ah_dgid));
    if (gid_is_ipv4(s->gid[a->ah_sgid_index].raw)) {
        a->ah_dgid[10] = a->ah_dgid[11] = 0xff;
        st_be32(a->ah_dgid + 12, 0x0a000000u | drill_below(d, 1u << 24));
    } else {
        a->ah_dgid[0] = 0xfe;
        a->ah_dgid[1] = 0x80;
        st_le64(a->ah_dgid + 8, prng_next(&d->rng));
    }
    a->ah_flow_label = device_draw(d, 0, FLOW_LABEL_MAX);
    a->ah_hop_limit = (uint8_t)device_draw(d, 0, 255);
    a->ah_traffic_class = (uint8_t)device_draw(d, 0, 255);
    a->ah_sl = (uint8_t)device_draw(d, 0, SERVICE_LEVEL_MAX);
    a->ah_static_rate = (uint8_t)drill_below(d, 256);
    a->ah_port_num = 1;
    a->ah_flags = AH_FLAG_GRH;
    for (uint32_t i = 0; i < sizeof(a->ah_dmac); i++)
        a->ah_dmac[i] = (uint8_t)(2 * drill_below(d, 128));
}

static void draw_values(struct drill *d, struct rfc_qp_attr *a)
{
    const struct drill_device *s = d->own;

    draw_path(d, a);
    a->path_mtu = (uint8_t)device_draw(d, MTU_256, device_active_mtu(s));
    a->qkey = (uint32_t)prng_next(&d->rng);
    a->rq_psn = device_draw(d, 0, PSN_MASK);
    a->sq_psn = device_draw(d, 0, PSN_MASK);
    a->dest_qp_num = device_draw(d, 0, QPN_MAX);
    a->qp_access_flags = device_draw(d, 0, QP_ACCESS);
    a->pkey_index = (uint16_t)device_draw(d, 0, s->n_pkeys - 1);
    a->en_sqd_async_notify = (uint8_t)drill_below(d, 2);
    a->max_rd_atomic = (uint8_t)device_draw(d, 0, s->now.max_qp_init_rd_atom);
    a->max_dest_rd_atomic = (uint8_t)device_draw(d, 0, s->built.max_qp_rd_atom);
    a->min_rnr_timer = (uint8_t)device_draw(d, 0, TIMER_CODE_MAX);
    a->port_num = 1;
    a->timeout = (uint8_t)device_draw(d, 0, TIMER_CODE_MAX);
    a->retry_cnt = (uint8_t)device_draw(d, 0, RETRY_MAX);
    a->rnr_retry = (uint8_t)device_draw(d, 0, RETRY_MAX);
}

/* Makes one value of an address vector wrong.  Returns the reason. */
static uint32_t spoil_path(struct drill *d, struct rfc_qp_attr *a)
{
    const struct drill_device *s = d->own;

    switch (drill_below(d, 7)) {
    case 0:
        a->ah_flags = (uint8_t)(2 * drill_below(d, 128));
        return REF_AV_GRH;
    case 1:
        a->ah_sgid_index = (uint8_t)(drill_one_in(d, 2) ? DEVICE_GIDS : drill_below(d, 256));
        if (a->ah_sgid_index < DEVICE_GIDS && s->gid[a->ah_sgid_index].is_valid)
            a->ah_sgid_index = 255;
        return REF_AV_SGID_INDEX;
    case 2:
        a->ah_sl = (uint8_t)(SERVICE_LEVEL_MAX + 1 + drill_below(d, 240));
        return REF_AV_SERVICE_LEVEL;
    case 3:
        a->ah_flow_label = device_draw_above(d, FLOW_LABEL_MAX);
        return REF_AV_FLOW_LABEL;
    case 4:
        a->ah_port_num = (uint8_t)(drill_one_in(d, 2) ? 0 : 2 + drill_below(d, 254));
        return REF_PORT_NUMBER;
    case 5:
        a->ah_dgid[10] ^= 0xff; /* an IPv4 address begins with ::ffff */
        if (gid_is_ipv4(s->gid[a->ah_sgid_index].raw))
            return REF_AV_FAMILY;
        memset(a->ah_dgid, 0, 10);
        a->ah_dgid[10] = a->ah_dgid[11] = 0xff;
        return REF_AV_FAMILY;
    default:
        if (gid_is_ipv4(s->gid[a->ah_sgid_index].raw))
            a->ah_dgid[12] = (uint8_t)(0xe0 + drill_below(d, 16));
        else
            a->ah_dgid[0] = 0xff;
        return REF_AV_GROUP;
    }
}

/* Makes one value of @a, of those in @mask, wrong.  Returns the reason, or REF_NONE if the value
 * that was drawn is not in @mask.
 */
static uint32_t spoil(struct drill *d, uint32_t mask, struct rfc_qp_attr *a)
{
    const struct drill_device *s = d->own;
    const struct {
        uint32_t bit, why, most;
        uint8_t *byte;  /* the field, if it has one byte */
        uint32_t *word; /* the field, if it has four */
    } ranges[] = {
        {QPA_PATH_MTU, REF_QP_PATH_MTU, device_active_mtu(s), &a->path_mtu, NULL},
        {QPA_TIMEOUT, REF_QP_TIMEOUT, TIMER_CODE_MAX, &a->timeout, NULL},
        {QPA_RETRY_CNT, REF_QP_RETRY_CNT, RETRY_MAX, &a->retry_cnt, NULL},
        {QPA_RNR_RETRY, REF_QP_RNR_RETRY, RETRY_MAX, &a->rnr_retry, NULL},
        {QPA_MIN_RNR_TIMER, REF_QP_RNR_TIMER, TIMER_CODE_MAX, &a->min_rnr_timer, NULL},
        {QPA_MAX_QP_RD_ATOMIC, REF_QP_RD_ATOMIC, s->now.max_qp_init_rd_atom, &a->max_rd_atomic,
         NULL},
        {QPA_MAX_DEST_RD_ATOMIC, REF_QP_DEST_RD_ATOMIC, s->built.max_qp_rd_atom,
         &a->max_dest_rd_atomic, NULL},
        {QPA_PORT, REF_PORT_NUMBER, 1, &a->port_num, NULL},
        {QPA_RQ_PSN, REF_QP_RQ_PSN, PSN_MASK, NULL, &a->rq_psn},
        {QPA_SQ_PSN, REF_QP_SQ_PSN, PSN_MASK, NULL, &a->sq_psn},
        {QPA_DEST_QPN, REF_QP_DEST_QPN, QPN_MAX, NULL, &a->dest_qp_num},
    };
    const uint32_t i = drill_below(d, (uint32_t)ARRAY_LEN(ranges) + 3);

    if (i == ARRAY_LEN(ranges) && (mask & QPA_AV))
        return spoil_path(d, a);
    if (i == ARRAY_LEN(ranges) + 1 && (mask & QPA_PKEY_INDEX)) {
        a->pkey_index = (uint16_t)(drill_one_in(d, 2) ? s->n_pkeys : 0xffffu - drill_below(d, 9));
        return REF_QP_PKEY_INDEX;
    }
    if (i == ARRAY_LEN(ranges) + 2 && (mask & QPA_ACCESS_FLAGS)) {
        a->qp_access_flags |=
            1u << (drill_one_in(d, 2) ? 4 + drill_below(d, 3) : 8 + drill_below(d, 12));
        return REF_QP_ACCESS_FLAGS;
    }
    if (i >= ARRAY_LEN(ranges) || !(mask & ranges[i].bit))
        return REF_NONE;
    if (ranges[i].word)
        *ranges[i].word = device_draw_above(d, ranges[i].most);
    else if ((ranges[i].bit & (QPA_PATH_MTU | QPA_PORT)) && drill_one_in(d, 2))
        *ranges[i].byte = 0;
    else
        *ranges[i].byte = (uint8_t)(ranges[i].most + 1 + drill_below(d, 255 - ranges[i].most));
    return ranges[i].why;
}

/* --- Transitions ------------------------------------------------------------------------------ */

/* Draws the attributes of a transition: all that it requires, and some that it permits if it has no
 * others.
 */
static uint32_t draw_mask(struct drill *d, uint32_t type, uint32_t from, uint32_t to)
{
    const struct qp_move_case *m = qp_move_case(type, from, to);
    const uint32_t some = (uint32_t)prng_next(&d->rng);

    if (!m)
        return 0;
    return m->need ? m->need : m->may & some;
}

/* Draws the state to move to, or NO_MOVE for one that the queue pair cannot move to. */
static uint32_t draw_target(struct drill *d, uint32_t state)
{
    if (drill_one_in(d, 8))
        return drill_one_in(d, 2) ? QPS_ERR : QPS_RESET;
    if (drill_one_in(d, 12))
        return NO_MOVE;
    if (state < QPS_RTS)
        return state + 1;
    if (state == QPS_ERR)
        return drill_one_in(d, 3) ? QPS_ERR : QPS_RESET;
    return QPS_RTS + drill_below(d, 2);
}

/* Returns the limit of READs and atomics that a queue pair gets that asks for @n of at most @most:
 * rxe rounds up to a power of two.
 */
static uint8_t rd_atomic_of(const struct drill_device *s, uint32_t n, uint32_t most)
{
    uint32_t rounded = n;

    while (rig_is_rxe(s->profile) && (rounded & (rounded - 1)) != 0)
        rounded++;
    return (uint8_t)(rounded < most ? rounded : most);
}

/* Stores the attributes @mask of @a in the model. */
static void apply(const struct drill_device *s, struct device_qp *qp, uint32_t mask,
                  const struct rfc_qp_attr *a)
{
    struct rfc_qp_attr *to = &qp->attr;

#define STORE(bit, field)                                                                          \
    if (mask & (bit))                                                                              \
    to->field = a->field
    STORE(QPA_ACCESS_FLAGS, qp_access_flags);
    STORE(QPA_PKEY_INDEX, pkey_index);
    STORE(QPA_PORT, port_num);
    STORE(QPA_QKEY, qkey);
    STORE(QPA_PATH_MTU, path_mtu);
    STORE(QPA_TIMEOUT, timeout);
    STORE(QPA_RETRY_CNT, retry_cnt);
    STORE(QPA_RNR_RETRY, rnr_retry);
    STORE(QPA_RQ_PSN, rq_psn);
    STORE(QPA_SQ_PSN, sq_psn);
    STORE(QPA_DEST_QPN, dest_qp_num);
    STORE(QPA_MIN_RNR_TIMER, min_rnr_timer);
    STORE(QPA_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
#undef STORE
    if (mask & QPA_MAX_QP_RD_ATOMIC)
        to->max_rd_atomic = rd_atomic_of(s, a->max_rd_atomic, s->now.max_qp_init_rd_atom);
    if (mask & QPA_MAX_DEST_RD_ATOMIC)
        to->max_dest_rd_atomic = rd_atomic_of(s, a->max_dest_rd_atomic, s->built.max_qp_rd_atom);
    if (!(mask & QPA_AV))
        return;
    memcpy(to->ah_dgid, a->ah_dgid, sizeof(to->ah_dgid));
    memcpy(to->ah_dmac, a->ah_dmac, sizeof(to->ah_dmac));
    to->ah_flow_label = a->ah_flow_label;
    to->ah_sgid_index = a->ah_sgid_index;
    to->ah_hop_limit = a->ah_hop_limit;
    to->ah_traffic_class = a->ah_traffic_class;
    to->ah_sl = a->ah_sl;
    to->ah_static_rate = a->ah_static_rate;
    to->ah_port_num = a->ah_port_num;
    to->ah_flags = a->ah_flags;
}

/* Updates the model: the queue pair was moved to @to.  RESET forgets all attributes, but not the
 * sizes.
 */
static void moved(struct device_qp *qp, uint32_t to)
{
    const struct rfc_qp_attr was = qp->attr;

    if (to == QPS_RESET)
        qp->attr = (struct rfc_qp_attr){.max_send_wr = was.max_send_wr,
                                        .max_recv_wr = was.max_recv_wr,
                                        .max_send_sge = was.max_send_sge,
                                        .max_recv_sge = was.max_recv_sge,
                                        .max_inline_data = was.max_inline_data};
    qp->attr.qp_state = qp->attr.cur_qp_state = (uint8_t)to;
}

/* Returns true if @mask sets more READ and atomic resources than the device has left. */
static bool is_beyond_total(const struct drill_device *s, const struct device_qp *qp, uint32_t mask,
                            const struct rfc_qp_attr *a)
{
    return (mask & QPA_MAX_DEST_RD_ATOMIC) &&
           resources(s) - qp->attr.max_dest_rd_atomic +
                   rd_atomic_of(s, a->max_dest_rd_atomic, s->built.max_qp_rd_atom) >
               s->built.max_res_rd_atom;
}

/* Draws a mistake in the request that is none of a value.  Returns the reason, or REF_NONE. */
static uint32_t spoil_mask(struct drill *d, const struct device_qp *qp, uint32_t *mask,
                           struct rfc_qp_attr *a)
{
    static const uint32_t never[] = {QPA_ALT_PATH, QPA_PATH_MIG_STATE, QPA_RATE_LIMIT, QPA_CAP};

    switch (drill_below(d, 16)) {
    case 0:
        *mask |= never[drill_below(d, ARRAY_LEN(never))];
        return REF_QP_ATTR_OFFERED;
    case 1:
        *mask |= QPA_CUR_STATE;
        a->cur_qp_state = (uint8_t)((qp->attr.qp_state + 1 + drill_below(d, 6)) % 7);
        return REF_QP_CUR_STATE;
    case 2:
        *mask |= QPA_CUR_STATE;
        a->cur_qp_state = qp->attr.qp_state;
        return REF_NONE;
    default:
        return REF_NONE;
    }
}

/* Chooses a transition of @qp.  Returns the reason if it does not exist, or REF_NONE. */
static uint32_t choose(struct drill *d, const struct device_qp *qp, uint32_t *mask,
                       struct rfc_qp_attr *a)
{
    const uint32_t from = qp->attr.qp_state, to = draw_target(d, from);

    draw_values(d, a);
    a->qp_state = (uint8_t)to;
    *mask = QPA_STATE;
    if (to == NO_MOVE) {
        /* No queue pair gets back to a state before its own, but to RESET. */
        a->qp_state = (uint8_t)(from > QPS_INIT && from < QPS_ERR ? QPS_INIT : QPS_SQE);
        return REF_QP_MOVE;
    }
    *mask |= draw_mask(d, qp->type, from, to);
    if (from == to && (to == QPS_RTS || to == QPS_SQD) && drill_one_in(d, 2))
        *mask &= ~(uint32_t)QPA_STATE;
    return REF_NONE;
}

static uint32_t why_refused(struct drill *d, const struct device_qp *qp, uint32_t *mask,
                            struct rfc_qp_attr *a)
{
    const struct drill_device *s = d->own;
    uint32_t why = choose(d, qp, mask, a), path = REF_NONE;
    const uint32_t wrong = spoil_mask(d, qp, mask, a);

    if (wrong)
        return wrong;
    if (!why && drill_one_in(d, 3))
        why = spoil(d, *mask, a);
    if (why == REF_AV_FAMILY || why == REF_AV_GROUP) { /* checked after the resources */
        path = why;
        why = REF_NONE;
    }
    if (!why && is_beyond_total(s, qp, *mask, a))
        return REF_RD_ATOMIC_TOTAL;
    return why ? why : path;
}

void device_step_modify(struct drill *d)
{
    struct rfc_modify_qp m = {.qpn = 0};
    struct rfc_qp_attr a = {0};
    struct device_qp *qp = draw_qp(d, &m.qpn);
    struct raw_qp_attr raw;
    uint32_t why = REF_QP_HANDLE;

    if (qp)
        why = why_refused(d, qp, &m.attr_mask, &a);
    rfc_qp_attr_put(&raw, &a);
    memcpy(m.attrs, &raw, sizeof(raw));
    if (!ask_modify_qp(d, CMD_MODIFY_QP, &m, why, NULL, 0) || why)
        return;
    apply(d->own, qp, m.attr_mask, &a);
    if (m.attr_mask & QPA_STATE)
        moved(qp, a.qp_state);
    keep_gsi(qp);
}

/* Compares all of the answer to a query: no field may have another value, or be left out. */
void device_step_query(struct drill *d)
{
    struct rfc_query_qp q = {.attr_mask = UINT32_MAX};
    const struct device_qp *qp = draw_qp(d, &q.qpn);
    struct raw_qp_attr want, have;
    const struct row_struct *of = rfc_find("qp_attr");

    if (!ask_query_qp(d, CMD_QUERY_QP, &q, qp ? REF_NONE : REF_QP_HANDLE, &have, sizeof(have)) ||
        !qp)
        return;
    rfc_qp_attr_put(&want, &qp->attr);
    for (size_t i = 0; i < of->n_fields; i++) {
        const struct row_field *f = &of->fields[i];

        if (!drill_expect(
                d,
                memcmp((uint8_t *)&want + f->offset, (uint8_t *)&have + f->offset, f->bytes) == 0,
                "a query answers with the attributes that a queue pair was given",
                "%s begins with 0x%02x, not 0x%02x", f->name, ((uint8_t *)&have)[f->offset],
                ((uint8_t *)&want)[f->offset]))
            return;
    }
}

/* --- Source addresses --------------------------------------------------------------------------
 */

bool device_gid_is_source(const struct drill_device *s, uint32_t index)
{
    for (uint32_t i = 0; i < DEVICE_SLOTS; i++) {
        const struct device_qp *qp = &s->qp[i];

        const bool is_connected = qp->type == QPT_RC || qp->type == QPT_UC;

        if (qp->number != DEVICE_NOTHING && is_connected && qp->attr.qp_state >= QPS_RTR &&
            qp->attr.qp_state <= QPS_SQE && qp->attr.ah_sgid_index == index)
            return true;
    }
    return false;
}

/* --- Multicast groups ------------------------------------------------------------------------- */

static uint32_t members(const struct drill_device *s, uint32_t group)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < DEVICE_SLOTS; i++)
        n += s->qp[i].number != DEVICE_NOTHING && s->qp[i].is_in[group];
    return n;
}

static uint32_t why_no_member(const struct drill_device *s, const struct device_qp *qp,
                              uint32_t group)
{
    uint32_t n_groups = 0, total = 0;

    for (uint32_t i = 0; i < DEVICE_GROUPS; i++) {
        n_groups += members(s, i) > 0;
        total += members(s, i);
    }
    if (qp->type != QPT_UD)
        return REF_GROUP_QP_TYPE;
    if (qp->is_in[group])
        return REF_NONE; /* attached already */
    if (members(s, group) == 0 && n_groups >= s->now.max_mcast_grp)
        return REF_GROUP_LIMIT;
    if (members(s, group) >= s->now.max_mcast_qp_attach)
        return REF_GROUP_QPS;
    return total >= s->now.max_total_mcast_qp_attach ? REF_GROUP_TOTAL : REF_NONE;
}

void device_step_group(struct drill *d)
{
    struct drill_device *s = d->own;
    const uint32_t group = drill_below(d, DEVICE_GROUPS);
    const bool attaches = drill_below(d, 3) > 0;
    struct rfc_mcast m = {.qpn = 0};
    struct device_qp *qp = draw_qp(d, &m.qpn);
    uint32_t why = REF_QP_HANDLE;

    m.gid[0] = 0xff;
    m.gid[1] = 0x0e;
    m.gid[DEVICE_GID - 1] = (uint8_t)(1 + group);
    if (qp && drill_one_in(d, 8)) {
        m.gid[0] = 0xfe;
        why = REF_GROUP_ADDRESS;
    } else if (qp && attaches) {
        why = why_no_member(s, qp, group);
    } else if (qp) {
        why = qp->is_in[group] ? REF_NONE : REF_GROUP_MEMBER;
    }
    if (ask_mcast(d, attaches ? CMD_ATTACH_MCAST : CMD_DETACH_MCAST, &m, why, NULL, 0) && !why)
        qp->is_in[group] = attaches;
}
