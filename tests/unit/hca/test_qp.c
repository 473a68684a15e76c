/* SPDX-License-Identifier: MIT */
/* Queue pairs: numbers, references, and attributes that are refused one by one. */
#include "testing.h"

#include <string.h>

#include "emu/facts/device.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/roce.h"
#include "emu/hca/qp.h"
#include "stand.h"

#define TO_INIT (QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS)
#define TO_RTR                                                                                     \
    (QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN | QPA_MAX_DEST_RD_ATOMIC | QPA_MIN_RNR_TIMER)
#define TO_RTS (QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_SQ_PSN | QPA_MAX_QP_RD_ATOMIC)

static struct qp_config config(struct stand *s)
{
    struct cq *cq;

    assert_int_equal(hca_cq_create(&s->hca, 16, &cq), REF_NONE);
    return (struct qp_config){
        .pdn = stand_pd(s), .type = QPT_RC, .send_cqn = cq->cqn, .recv_cqn = cq->cqn};
}

static struct qp *create(struct stand *s, const struct qp_config *c)
{
    struct qp *qp;

    assert_int_equal(hca_qp_create(&s->hca, c, sizeof(*qp), &qp), REF_NONE);
    return qp;
}

static void numbers_start_at_the_host_s_own_and_wrap(void **state)
{
    static const struct {
        uint32_t first, want[5];
    } rows[] = {
        {2, {2, 3, 4, 5, 6}},
        {4, {4, 5, 6, 2, 3}},
        {6, {6, 2, 3, 4, 5}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stand s;
        struct qp_config c;
        struct qp *qp[5], *more;

        stand_up(&s, rows[i].first);
        c = config(&s);
        for (size_t n = 0; n < 5; n++) {
            qp[n] = create(&s, &c);
            assert_int_equal(qp[n]->qpn, rows[i].want[n]);
            assert_ptr_equal(hca_qp(&s.hca, qp[n]->qpn), qp[n]);
        }
        assert_int_equal(refusal_kind(hca_qp_create(&s.hca, &c, sizeof(*more), &more)),
                         RFK_NO_ROOM);
        assert_null(hca_qp(&s.hca, 0));
        assert_null(hca_qp(&s.hca, QPN_GSI));
        assert_null(hca_qp(&s.hca, stand_limits.max_qp + 1));
        hca_qp_destroy(&s.hca, qp[3], sizeof(*qp[3]));
        assert_null(hca_qp(&s.hca, rows[i].want[3]));
        qp[3] = create(&s, &c);
        assert_int_equal(qp[3]->qpn, rows[i].want[3]);
        for (size_t n = 0; n < 5; n++)
            hca_qp_destroy(&s.hca, qp[n], sizeof(*qp[n]));
        stand_down(&s);
    }
}

/* The GSI takes no number of the others, whether it is created before, among or after them. */
static void the_gsi_has_a_number_of_its_own(void **state)
{
    (void)state;
    for (size_t before = 0; before <= 5; before++) {
        struct stand s;
        struct qp_config c, gsi;
        struct qp *qp[5], *special = NULL, *more;
        size_t live;

        stand_up(&s, 4);
        c = gsi = config(&s);
        gsi.type = QPT_GSI;
        for (size_t n = 0; n <= 5; n++) {
            if (n == before)
                special = create(&s, &gsi);
            if (n < 5)
                qp[n] = create(&s, &c);
        }
        assert_int_equal(special->qpn, QPN_GSI);
        assert_ptr_equal(hca_qp(&s.hca, QPN_GSI), special);
        assert_int_equal(qp[0]->qpn, 4);
        assert_int_equal(qp[4]->qpn, 3);
        live = arena_live_bytes(s.arena);
        assert_int_equal(hca_qp_create(&s.hca, &gsi, sizeof(*more), &more), REF_QP_GSI_LIMIT);
        assert_int_equal(s.hca.refused.values.most, 1);
        assert_int_equal(s.hca.refused.values.found, 2);
        assert_int_equal(arena_live_bytes(s.arena), live);
        assert_int_equal(hca_pd(&s.hca, c.pdn)->users, 6);
        hca_qp_destroy(&s.hca, special, sizeof(*special));
        assert_null(hca_qp(&s.hca, QPN_GSI));
        assert_int_equal(hca_pd(&s.hca, c.pdn)->users, 5);
        assert_int_equal(refusal_kind(hca_qp_create(&s.hca, &c, sizeof(*more), &more)),
                         RFK_NO_ROOM); /* its number is for no other */
        special = create(&s, &gsi);
        assert_int_equal(special->qpn, QPN_GSI);
        hca_qp_destroy(&s.hca, special, sizeof(*special));
        for (size_t n = 0; n < 5; n++)
            hca_qp_destroy(&s.hca, qp[n], sizeof(*qp[n]));
        stand_down(&s);
    }
}

/* A number that was given back is the last to be used again.  Shows B62. */
static void numbers_go_round(void **state)
{
    struct stand s;
    struct qp_config c;

    (void)state;
    stand_up(&s, 4);
    c = config(&s);
    for (size_t n = 0; n < 12; n++) {
        static const uint32_t want[] = {4, 5, 6, 2, 3};
        struct qp *qp = create(&s, &c);

        assert_int_equal(qp->qpn, want[n % ARRAY_LEN(want)]);
        hca_qp_destroy(&s.hca, qp, sizeof(*qp));
    }
    stand_down(&s);
}

static void protection_domains_are_limited(void **state)
{
    struct stand s;
    struct pd *pd;

    (void)state;
    stand_up(&s, 2);
    for (uint32_t n = 1; n <= stand_limits.max_pd; n++)
        assert_int_equal(stand_pd(&s), n);
    assert_int_equal(refusal_kind(hca_pd_create(&s.hca, &pd)), RFK_NO_ROOM);
    assert_int_equal(hca_pd_destroy(&s.hca, 2), REF_NONE);
    assert_int_equal(refusal_kind(hca_pd_destroy(&s.hca, 2)), RFK_NO_OBJECT);
    assert_int_equal(stand_pd(&s), 2);
    stand_down(&s);
}

/* Shows B94, I16. */
static void what_is_in_use_cannot_be_destroyed(void **state)
{
    struct stand s;
    struct qp_config c;
    struct qp *qp;

    (void)state;
    stand_up(&s, 2);
    c = config(&s);
    qp = create(&s, &c);
    assert_int_equal(refusal_kind(hca_pd_destroy(&s.hca, c.pdn)), RFK_BUSY);
    assert_int_equal(refusal_kind(hca_cq_destroy(&s.hca, c.send_cqn)), RFK_BUSY);
    hca_qp_destroy(&s.hca, qp, sizeof(*qp));
    assert_int_equal(hca_pd_destroy(&s.hca, c.pdn), REF_NONE);
    assert_int_equal(refusal_kind(hca_pd_destroy(&s.hca, c.pdn)), RFK_NO_OBJECT);
    assert_int_equal(hca_cq_destroy(&s.hca, c.send_cqn), REF_NONE);
    stand_down(&s);
}

static void configurations_beyond_the_limits_are_refused(void **state)
{
    struct stand s;
    struct qp_config good, c;
    struct qp *qp;

    (void)state;
    stand_up(&s, 2);
    good = config(&s);
#define REFUSED(field, value, why)                                                                 \
    do {                                                                                           \
        c = good;                                                                                  \
        c.field = (value);                                                                         \
        assert_int_equal(hca_qp_create(&s.hca, &c, sizeof(*qp), &qp), why);                        \
    } while (0)
    REFUSED(pdn, 9, REF_PD_HANDLE);
    REFUSED(send_cqn, 0, REF_QP_SEND_CQ);
    REFUSED(recv_cqn, 2, REF_QP_RECV_CQ);
    REFUSED(max_send_wr, stand_limits.max_qp_wr + 1, REF_QP_SEND_WR);
    REFUSED(max_recv_wr, stand_limits.max_qp_wr + 1, REF_QP_RECV_WR);
    REFUSED(max_send_sge, stand_limits.max_send_sge + 1, REF_QP_SEND_SGE);
    REFUSED(max_recv_sge, stand_limits.max_recv_sge + 1, REF_QP_RECV_SGE);
    REFUSED(max_inline_data, stand_limits.max_inline_data + 1, REF_QP_INLINE_DATA);
#undef REFUSED
    assert_int_equal(hca_pd(&s.hca, good.pdn)->users, 0);
    stand_down(&s);
}

static struct qp_attr good_attr(void)
{
    return (struct qp_attr){
        .path_mtu = MTU_1024,
        .access = ACC_REMOTE_READ,
        .port = 1,
        .dest_qpn = 0xffffff,
        .rq_psn = 0xffffff,
        .sq_psn = 0xffffff,
        .max_rd_atomic = 4,
        .max_dest_rd_atomic = 8,
        .min_rnr_timer = 31,
        .timeout = 31,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .av = {.sgid_index = 3, .sl = 15, .port = 1, .flags = AH_FLAG_GRH, .flow_label = 0xfffff},
    };
}

static enum refusal_reason modify(struct qp *qp, uint32_t mask, struct qp_attr a, enum qp_state to)
{
    enum refusal_reason why;

    a.state = to;
    why = hca_qp_check_modify(qp, mask | QPA_STATE, &a);
    if (why == REF_NONE)
        hca_qp_apply_modify(qp, mask | QPA_STATE, &a);
    return why;
}

/* Every attribute, one beyond its range: refused, and neither state nor attributes have moved.
 * Shows B66, B86.
 */
static void a_bad_value_changes_nothing(void **state)
{
    static const uint8_t gid[HCA_GID_BYTES] = {0xfe, 0x80};
    struct stand s;
    struct qp_config c;
    struct qp *qp;
    struct qp_attr a, before;

    (void)state;
    stand_up(&s, 2);
    assert_int_equal(hca_gid_set(&s.hca, 3, gid), REF_NONE);
    c = config(&s);
    qp = create(&s, &c);
#define BAD(mask, to, field, value)                                                                \
    do {                                                                                           \
        a = good_attr();                                                                           \
        a.field = (value);                                                                         \
        before = qp->attr;                                                                         \
        assert_int_equal(refusal_kind(modify(qp, mask, a, to)), RFK_INVALID);                      \
        assert_memory_equal(&qp->attr, &before, sizeof(before));                                   \
    } while (0)
    BAD(TO_INIT, QPS_INIT, pkey_index, 1);
    BAD(TO_INIT, QPS_INIT, port, 0);
    BAD(TO_INIT, QPS_INIT, port, 2);
    BAD(TO_INIT, QPS_INIT, access, 0x100);
    a = good_attr();
    a.access |= ACC_RELAXED_ORDERING | ACC_HUGETLB; /* hints */
    assert_int_equal(modify(qp, TO_INIT, a, QPS_INIT), REF_NONE);
    BAD(TO_RTR, QPS_RTR, path_mtu, 0);
    BAD(TO_RTR, QPS_RTR, path_mtu, 6);
    BAD(TO_RTR, QPS_RTR, path_mtu, MTU_4096); /* the device's largest is 2048 */
    BAD(TO_RTR, QPS_RTR, dest_qpn, 0x1000000);
    BAD(TO_RTR, QPS_RTR, rq_psn, 0x1000000);
    BAD(TO_RTR, QPS_RTR, max_dest_rd_atomic, 9);
    BAD(TO_RTR, QPS_RTR, min_rnr_timer, 32);
    BAD(TO_RTR, QPS_RTR, av.sgid_index, 2); /* empty */
    BAD(TO_RTR, QPS_RTR, av.sgid_index, HCA_GIDS);
    BAD(TO_RTR, QPS_RTR, av.sl, 16);
    BAD(TO_RTR, QPS_RTR, av.flow_label, 0x100000);
    BAD(TO_RTR, QPS_RTR, av.port, 0);
    BAD(TO_RTR, QPS_RTR, av.port, HCA_PORT + 1);
    BAD(TO_RTR, QPS_RTR, av.flags, 0);
    BAD(TO_RTR, QPS_RTR, av.flags, 2);
    assert_int_equal(modify(qp, TO_RTR, good_attr(), QPS_RTR), REF_NONE);
    BAD(TO_RTS, QPS_RTS, sq_psn, 0x1000000);
    BAD(TO_RTS, QPS_RTS, timeout, 32);
    BAD(TO_RTS, QPS_RTS, retry_cnt, 8);
    BAD(TO_RTS, QPS_RTS, rnr_retry, 8);
    BAD(TO_RTS, QPS_RTS, max_rd_atomic, 5);
    assert_int_equal(modify(qp, TO_RTS, good_attr(), QPS_RTS), REF_NONE);
#undef BAD
    assert_int_equal(qp->state, QPS_RTS);
    assert_int_equal(qp->attr.sq_psn, 0xffffff);
    hca_qp_destroy(&s.hca, qp, sizeof(*qp));
    stand_down(&s);
}

/* Shows B85. */
static void moves_that_the_graph_does_not_have_are_refused(void **state)
{
    struct stand s;
    struct qp_config c;
    struct qp *qp;
    struct qp_attr a = good_attr();

    (void)state;
    stand_up(&s, 2);
    c = config(&s);
    qp = create(&s, &c);
    assert_int_equal(refusal_kind(modify(qp, TO_RTR, a, QPS_RTR)), RFK_INVALID);
    assert_int_equal(refusal_kind(modify(qp, TO_INIT | QPA_TIMEOUT, a, QPS_INIT)), RFK_INVALID);
    assert_int_equal(refusal_kind(modify(qp, QPA_PORT, a, QPS_INIT)), RFK_INVALID);
    assert_int_equal(refusal_kind(modify(qp, TO_INIT, a, (enum qp_state)77)), RFK_INVALID);
    assert_int_equal(refusal_kind(modify(qp, TO_INIT | QPA_ALT_PATH, a, QPS_INIT)),
                     RFK_UNSUPPORTED);
    a.cur_state = QPS_RTS;
    assert_int_equal(refusal_kind(modify(qp, TO_INIT | QPA_CUR_STATE, a, QPS_INIT)), RFK_INVALID);
    assert_int_equal(modify(qp, 0, a, QPS_ERR), REF_NONE);
    assert_int_equal(modify(qp, 0, a, QPS_RESET), REF_NONE);
    a.cur_state = QPS_RESET;
    assert_int_equal(modify(qp, TO_INIT | QPA_CUR_STATE, a, QPS_INIT), REF_NONE);
    hca_qp_destroy(&s.hca, qp, sizeof(*qp));
    stand_down(&s);
}

static void set_gid(struct stand *s, uint32_t index, uint8_t last)
{
    const uint8_t gid[HCA_GID_BYTES] = {0xfe, 0x80, [15] = last};

    assert_int_equal(hca_gid_set(&s->hca, index, gid), REF_NONE);
}

/* Checks that entry @index is fixed, and its neighbour is not. */
static void expect_held(struct stand *s, uint32_t index)
{
    for (uint32_t i = 3; i <= 4; i++) {
        const uint8_t same[HCA_GID_BYTES] = {0xfe, 0x80, [15] = (uint8_t)i};
        const uint8_t other[HCA_GID_BYTES] = {0xfe, 0x81};
        const enum refusal_reason want = i == index ? REF_GID_IN_USE : REF_NONE;

        assert_int_equal(hca_gid_set(&s->hca, i, other), want);
        assert_int_equal(hca_gid_set(&s->hca, i, same), REF_NONE);
        assert_int_equal(hca_gid_clear(&s->hca, i), want);
        assert_int_equal(s->hca.gids[i].valid, want == REF_GID_IN_USE);
        set_gid(s, i, (uint8_t)i);
    }
}

static void the_address_of_a_connection_stays(void **state)
{
    static const enum qp_state ends[] = {QPS_ERR, QPS_RESET};
    struct stand s;
    struct qp_config c;
    struct qp_attr a = good_attr();
    struct qp *qp;

    (void)state;
    stand_up(&s, 2);
    set_gid(&s, 3, 3);
    set_gid(&s, 4, 4);
    c = config(&s);
    qp = create(&s, &c);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        expect_held(&s, 0);
        assert_int_equal(modify(qp, TO_INIT, a, QPS_INIT), REF_NONE);
        expect_held(&s, 0);
        a.av.sgid_index = 3;
        assert_int_equal(modify(qp, TO_RTR, a, QPS_RTR), REF_NONE);
        expect_held(&s, 3);
        assert_int_equal(modify(qp, TO_RTS, a, QPS_RTS), REF_NONE);
        expect_held(&s, 3);
        assert_int_equal(modify(qp, 0, a, QPS_SQD), REF_NONE);
        expect_held(&s, 3);
        a.av.sgid_index = 4;
        assert_int_equal(modify(qp, QPA_AV, a, QPS_SQD), REF_NONE);
        expect_held(&s, 4);
        assert_int_equal(modify(qp, 0, a, QPS_RTS), REF_NONE);
        expect_held(&s, 4);
        assert_int_equal(modify(qp, 0, a, ends[i]), REF_NONE);
        expect_held(&s, 0);
        assert_int_equal(modify(qp, 0, a, QPS_RESET), REF_NONE);
    }
    assert_int_equal(modify(qp, TO_INIT, a, QPS_INIT), REF_NONE);
    assert_int_equal(modify(qp, TO_RTR, a, QPS_RTR), REF_NONE);
    expect_held(&s, 4);
    hca_qp_destroy(&s.hca, qp, sizeof(*qp));
    expect_held(&s, 0);
    stand_down(&s);
}

/* In every state, and after RESET has cleared all other attributes. */
static void the_gsi_keeps_its_keys(void **state)
{
    struct qp_attr a = {.qkey = 0x1234, .pkey_index = 1, .sq_psn = 7};
    static const struct {
        uint32_t mask;
        enum qp_state to;
    } moves[] = {
        {QPA_PKEY_INDEX | QPA_QKEY, QPS_INIT},
        {QPA_PKEY_INDEX | QPA_QKEY, QPS_INIT},
        {QPA_PKEY_INDEX | QPA_QKEY, QPS_RTR},
        {QPA_SQ_PSN | QPA_QKEY, QPS_RTS},
        {QPA_QKEY, QPS_RTS},
        {0, QPS_SQD},
        {QPA_PKEY_INDEX | QPA_QKEY, QPS_SQD},
        {QPA_QKEY, QPS_RTS},
        {0, QPS_ERR},
        {0, QPS_RESET},
    };
    struct stand s;
    struct qp_config c;
    struct qp *qp;

    (void)state;
    stand_up(&s, 2);
    s.hca.pkeys = (struct hca_pkeys){{0xffff, 0x8001}, 2};
    c = config(&s);
    c.type = QPT_GSI;
    qp = create(&s, &c);
    assert_int_equal(qp->attr.qkey, QKEY_GSI);
    for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
        assert_int_equal(modify(qp, moves[i].mask, a, moves[i].to), REF_NONE);
        assert_int_equal(qp->state, moves[i].to);
        assert_int_equal(qp->attr.qkey, QKEY_GSI);
        assert_int_equal(qp->attr.pkey_index, 0);
    }
    assert_int_equal(qp->attr.sq_psn, 0);
    a.port = HCA_PORT;
    assert_int_equal(modify(qp, QPA_PKEY_INDEX | QPA_QKEY | QPA_PORT, a, QPS_INIT),
                     REF_QP_ATTR_EXTRA);
    a.pkey_index = 2;
    assert_int_equal(modify(qp, QPA_PKEY_INDEX | QPA_QKEY, a, QPS_INIT), REF_QP_PKEY_INDEX);
    hca_qp_destroy(&s.hca, qp, sizeof(*qp));
    stand_down(&s);
}

/* Unreliable services need less on their way, and come back from SQE.  Shows B82, B83, B85. */
static void unreliable_queue_pairs_have_moves_of_their_own(void **state)
{
    static const struct {
        enum qp_type type;
        uint32_t to_init, to_rtr, wrong;
    } rows[] = {
        {QPT_UC, TO_INIT, QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN, QPA_MIN_RNR_TIMER},
        {QPT_UD, QPA_PKEY_INDEX | QPA_PORT | QPA_QKEY, 0, QPA_AV},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static const uint8_t gid[HCA_GID_BYTES] = {0xfe, 0x80};
        struct qp_attr a = good_attr();
        struct stand s;
        struct qp_config c;
        struct qp *qp;

        stand_up(&s, 2);
        assert_int_equal(hca_gid_set(&s.hca, a.av.sgid_index, gid), REF_NONE);
        c = config(&s);
        c.type = (uint32_t)rows[i].type;
        qp = create(&s, &c);
        a.qkey = 0x80010000;
        assert_int_equal(modify(qp, rows[i].to_init, a, QPS_INIT), REF_NONE);
        assert_int_equal(qp->attr.qkey, rows[i].type == QPT_UD ? 0x80010000 : 0);
        assert_int_equal(refusal_kind(modify(qp, rows[i].to_rtr | rows[i].wrong, a, QPS_RTR)),
                         RFK_INVALID);
        assert_int_equal(modify(qp, rows[i].to_rtr, a, QPS_RTR), REF_NONE);
        assert_int_equal(modify(qp, QPA_SQ_PSN, a, QPS_RTS), REF_NONE);
        qp_set_state(qp, QPS_SQE);
        assert_int_equal(refusal_kind(modify(qp, 0, a, QPS_SQD)), RFK_INVALID);
        assert_int_equal(modify(qp, 0, a, QPS_RTS), REF_NONE);
        hca_qp_destroy(&s.hca, qp, sizeof(*qp));
        stand_down(&s);
    }
}

static void gids_and_pkeys(void **state)
{
    static const uint8_t gid[HCA_GID_BYTES] = {0xfe, 0x80}, other[HCA_GID_BYTES] = {0xfe, 0x81};
    static const struct {
        uint16_t a, b;
        bool match;
    } rows[] = {
        {0xffff, 0xffff, true},  {0x7fff, 0xffff, true}, {0x7fff, 0x7fff, false},
        {0xffff, 0xfffe, false}, {0x8001, 0x0001, true}, {0x8001, 0x8002, false},
    };
    struct stand s;
    uint16_t pkey;

    (void)state;
    stand_up(&s, 2);
    assert_int_equal(refusal_kind(hca_gid_set(&s.hca, HCA_GIDS, gid)), RFK_INVALID);
    assert_false(hca_gid_is_own(&s.hca, gid));
    assert_int_equal(hca_gid_set(&s.hca, HCA_GIDS - 1, gid), REF_NONE);
    assert_true(hca_gid_is_own(&s.hca, gid));
    assert_false(hca_gid_is_own(&s.hca, other));
    assert_int_equal(hca_gid_clear(&s.hca, HCA_GIDS - 1), REF_NONE);
    assert_false(hca_gid_is_own(&s.hca, gid));
    assert_false(hca_gid_is_own(&s.hca, (const uint8_t[HCA_GID_BYTES]){0})); /* an empty entry */
    assert_int_equal(hca_pkey(&s.hca, 0, &pkey), REF_NONE);
    assert_int_equal(pkey, 0xffff);
    assert_int_equal(refusal_kind(hca_pkey(&s.hca, 1, &pkey)), RFK_INVALID);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(hca_pkey_match(rows[i].a, rows[i].b), rows[i].match);
        assert_int_equal(hca_pkey_match(rows[i].b, rows[i].a), rows[i].match);
    }
    stand_down(&s);
}

static void a_table_of_partitions_has_the_entries_that_it_was_given(void **state)
{
    const struct hca_pkeys three = {{0xffff, 0x8001, 0x0002}, 3};
    struct stand s;
    struct qp_config c;
    struct qp *qp;
    uint16_t pkey;

    (void)state;
    stand_up_with(&s, 2, &three);
    for (uint32_t i = 0; i < three.n; i++) {
        assert_int_equal(hca_pkey(&s.hca, i, &pkey), REF_NONE);
        assert_int_equal(pkey, three.v[i]);
    }
    assert_int_equal(refusal_kind(hca_pkey(&s.hca, three.n, &pkey)), RFK_INVALID);
    assert_int_equal(refusal_kind(hca_pkey(&s.hca, UINT32_MAX, &pkey)), RFK_INVALID);

    c = config(&s);
    qp = create(&s, &c);
    for (uint32_t i = 0; i < three.n + 2; i++) {
        struct qp_attr a = good_attr();

        a.pkey_index = i;
        assert_int_equal(modify(qp, TO_INIT, a, QPS_INIT),
                         i < three.n ? REF_NONE : REF_QP_PKEY_INDEX);
        assert_int_equal(modify(qp, 0, a, QPS_RESET), REF_NONE);
    }
    hca_qp_destroy(&s.hca, qp, sizeof(*qp));
    stand_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_start_at_the_host_s_own_and_wrap),
        cmocka_unit_test(the_gsi_has_a_number_of_its_own),
        cmocka_unit_test(the_gsi_keeps_its_keys),
        cmocka_unit_test(numbers_go_round),
        cmocka_unit_test(protection_domains_are_limited),
        cmocka_unit_test(what_is_in_use_cannot_be_destroyed),
        cmocka_unit_test(configurations_beyond_the_limits_are_refused),
        cmocka_unit_test(a_bad_value_changes_nothing),
        cmocka_unit_test(moves_that_the_graph_does_not_have_are_refused),
        cmocka_unit_test(the_address_of_a_connection_stays),
        cmocka_unit_test(unreliable_queue_pairs_have_moves_of_their_own),
        cmocka_unit_test(gids_and_pkeys),
        cmocka_unit_test(a_table_of_partitions_has_the_entries_that_it_was_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
