/* SPDX-License-Identifier: MIT */
/* Queue pairs at work: which requests each state accepts, and which attributes a modify accepts. */
#include "emu/facts/rules.h"
#include "emu/guest/verbs/internal.h"
#include "guest/verbs/one_qp.h"

/* Shows B14, B15. */
static void posts_need_a_state_that_takes_them(void **state)
{
    static const struct {
        enum qp_state state;
        enum rdl_status send, recv;
    } rows[] = {
        {QPS_RESET, RDL_ERR_STATE, RDL_ERR_STATE},
        {QPS_INIT, RDL_ERR_STATE, RDL_OK},
        {QPS_RTR, RDL_ERR_STATE, RDL_OK},
        {QPS_RTS, RDL_OK, RDL_OK},
        {QPS_SQD, RDL_OK, RDL_OK},
        {QPS_ERR, RDL_OK, RDL_OK},
    };
    struct work *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        w->qp->attr.state = rows[i].state;
        assert_int_equal(verbs_post_send(w->qp, &send_wr, false), rows[i].send);
        assert_int_equal(verbs_post_recv(w->qp, &recv_wr, false), rows[i].recv);
    }
}

static void a_request_that_cannot_be_is_refused(void **state)
{
    struct work *w = *state;
    struct rdl_send_wr wr = send_wr;

    move_to_rts(w->qp);
    wr.opcode = WR_RECV;
    assert_int_equal(verbs_post_send(w->qp, &wr, false), RDL_ERR_UNSUPPORTED);
    wr = send_wr, wr.flags = 1u << 4;
    assert_int_equal(verbs_post_send(w->qp, &wr, false), RDL_ERR_INVAL);
    wr = send_wr, wr.n_sge = 5;
    assert_int_equal(verbs_post_send(w->qp, &wr, false), RDL_ERR_INVAL);
    assert_int_equal(verbs_post_recv(w->qp, &(struct rdl_recv_wr){.n_sge = 5}, false),
                     RDL_ERR_INVAL);
    assert_int_equal(w->f->n_sends + w->f->n_recvs, 0);
    wr = send_wr, wr.n_sge = 4, wr.sge = (const struct rdl_sge[4]){{0, 0, 0}};
    assert_int_equal(verbs_post_send(w->qp, &wr, false), RDL_OK); /* as many as may be */
}

/* What libibverbs and its providers refuse, whether or not the operation is carried out.  Shows B7,
 * B9, B10.
 */
static void each_rule_of_posting_objects_to_its_own(void **state)
{
    static const struct {
        enum qp_type type;
        struct rdl_send_wr wr;
        enum rule rule;
    } rows[] = {
        {QPT_RC, {.opcode = WR_RDMA_READ, .n_sge = 4}, RULE_NONE},
        {QPT_RC, {.opcode = WR_ATOMIC_CMP_AND_SWP, .flags = SF_FENCE}, RULE_NONE},
        {QPT_RC, {.opcode = WR_LOCAL_INV, .flags = SF_SIGNALED}, RULE_NONE},
        {QPT_RC, {.opcode = WR_BIND_MW}, RULE_NONE},
        {QPT_RC, {.opcode = WR_RECV}, RULE_POST_OPCODE},
        {QPT_RC, {.opcode = 10}, RULE_POST_OPCODE},
        {QPT_UC, {.opcode = WR_RDMA_WRITE_WITH_IMM}, RULE_NONE},
        {QPT_UC, {.opcode = WR_RDMA_READ}, RULE_POST_OPCODE},
        {QPT_UC, {.opcode = WR_SEND_WITH_INV}, RULE_POST_OPCODE},
        {QPT_UC, {.opcode = WR_SEND, .flags = SF_FENCE}, RULE_POST_FLAGS},
        {QPT_UD, {.opcode = WR_SEND_WITH_IMM, .flags = SF_SOLICITED}, RULE_NONE},
        {QPT_UD, {.opcode = WR_RDMA_WRITE}, RULE_POST_OPCODE},
        {QPT_UD, {.opcode = WR_ATOMIC_FETCH_AND_ADD}, RULE_POST_OPCODE},
        {QPT_UD, {.opcode = WR_SEND, .flags = SF_FENCE}, RULE_POST_FLAGS},
        {QPT_RC, {.opcode = WR_SEND, .flags = 1u << 4}, RULE_POST_FLAGS},
        {QPT_RC, {.opcode = WR_SEND, .flags = SF_INLINE, .inline_bytes = 100}, RULE_NONE},
        {QPT_RC, {.opcode = WR_RDMA_WRITE, .flags = SF_INLINE, .inline_bytes = 100}, RULE_NONE},
        {QPT_RC, {.opcode = WR_RDMA_READ, .flags = SF_INLINE}, RULE_POST_INLINE_OPCODE},
        {QPT_RC, {.opcode = WR_ATOMIC_FETCH_AND_ADD, .flags = SF_INLINE}, RULE_POST_INLINE_OPCODE},
        {QPT_RC, {.opcode = WR_LOCAL_INV, .flags = SF_INLINE}, RULE_POST_INLINE_OPCODE},
        {QPT_RC,
         {.opcode = WR_SEND, .flags = SF_INLINE, .inline_bytes = 101},
         RULE_POST_INLINE_LENGTH},
        {QPT_RC, {.opcode = WR_SEND, .flags = SF_INLINE, .n_sge = 1}, RULE_POST_INLINE_LENGTH},
        {QPT_RC, {.opcode = WR_RDMA_READ, .n_sge = 5}, RULE_POST_SGE_COUNT},
        {QPT_RC, {.opcode = WR_LOCAL_INV, .n_sge = 1}, RULE_POST_SGE_COUNT},
        {QPT_RC, {.opcode = WR_REG_MR, .n_sge = 1}, RULE_POST_SGE_COUNT},
        /* The first of several. */
        {QPT_UD, {.opcode = WR_RDMA_READ, .flags = SF_INLINE, .n_sge = 9}, RULE_POST_OPCODE},
    };
    struct work *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        w->qp->type = rows[i].type;
        assert_int_equal(post_decide_send(w->qp, &rows[i].wr).rule, rows[i].rule);
    }
    w->qp->type = QPT_RC;
    w->qp->o.verbs->limits.max_sge_rd = 3; /* the device's, and a READ keeps to it */
    assert_int_equal(
        post_decide_send(w->qp, &(struct rdl_send_wr){.opcode = WR_RDMA_READ, .n_sge = 4}).rule,
        RULE_POST_SGE_COUNT);
    assert_int_equal(
        post_decide_send(w->qp, &(struct rdl_send_wr){.opcode = WR_SEND, .n_sge = 4}).rule,
        RULE_NONE);
    w->qp->o.verbs->limits.max_sge_rd = 4;
    assert_int_equal(post_decide_recv(w->qp, &(struct rdl_recv_wr){.n_sge = 4}).rule, RULE_NONE);
    assert_int_equal(post_decide_recv(w->qp, &(struct rdl_recv_wr){.n_sge = 5}).rule,
                     RULE_POST_SGE_COUNT);
}

static void a_wrong_request_is_named(void **state)
{
    static const struct rdl_send_wr inline_read = {.opcode = WR_RDMA_READ, .flags = SF_INLINE};
    struct work *w = *state;
    struct rdl_post_error e = {.bad = 9};

    move_to_rts(w->qp);
    assert_int_equal(verbs_post_send_list(w->qp, &inline_read, 1, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.bad, 0);
    assert_int_equal(e.rule, RULE_POST_INLINE_OPCODE);
    assert_int_equal(w->f->n_sends, 0);
}

/* A fast registration names a region by its handle. */
static void what_a_request_names_must_live_on_its_host(void **state)
{
    struct work *w = *state;
    struct verbs *v = &w->f->verbs;
    struct rdl_post_error e = {.bad = 9};
    struct rdl_send_wr wr = {.opcode = WR_REG_MR};
    uint64_t addr = 0;

    move_to_rts(w->qp);
    assert_int_equal(verbs_mem_alloc(v, 4096, &addr), RDL_OK);
    assert_int_equal(verbs_reg_mr(w->pd, addr, 4096, ACC_LOCAL_WRITE, NULL, &wr.reg.mr.raw),
                     RDL_OK);
    assert_int_equal(verbs_post_send_list(w->qp, &wr, 1, false, &e), RDL_OK);
    wr.reg.mr.raw += (uint64_t)1 << VERBS_NAME_BITS;
    assert_int_equal(verbs_post_send_list(w->qp, &wr, 1, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.rule, RULE_POST_PARTS);
    wr.reg.mr.raw -= (uint64_t)1 << VERBS_NAME_BITS;
    w->f->late = true;
    assert_int_equal(verbs_dereg_mr((struct guest_mr *)verbs_get(v, OBJ_MR, wr.reg.mr.raw)),
                     RDL_OK);
    assert_int_equal(verbs_post_send_list(w->qp, &wr, 1, false, &e), RDL_ERR_BUSY);
    fake_answer(w->f);
    assert_int_equal(verbs_post_send_list(w->qp, &wr, 1, false, &e), RDL_ERR_STALE);
    wr.reg.mr.raw = 0;
    assert_int_equal(verbs_post_send_list(w->qp, &wr, 1, false, &e), RDL_ERR_STALE);
    assert_int_equal(w->f->n_sends, 1);
}

static struct guest_mw *new_window(struct work *w, uint32_t type, uint64_t *ret_handle)
{
    struct guest_mw *mw;

    w->f->verbs.limits.max_mw = 4;
    assert_int_equal(verbs_alloc_mw(w->pd, type, NULL, ret_handle), RDL_OK);
    mw = (struct guest_mw *)verbs_get(&w->f->verbs, OBJ_MW, *ret_handle);
    mw->rkey = 0x2ff;
    return mw;
}

static struct guest_mr *new_region(struct work *w, uint64_t *ret_handle)
{
    struct verbs *v = &w->f->verbs;
    uint64_t addr = 0;

    assert_int_equal(verbs_mem_alloc(v, 4096, &addr), RDL_OK);
    assert_int_equal(verbs_reg_mr(w->pd, addr, 4096, ACC_LOCAL_WRITE, NULL, ret_handle), RDL_OK);
    return (struct guest_mr *)verbs_get(v, OBJ_MR, *ret_handle);
}

/* The lowest byte goes round, and nothing else of a key changes. */
static void a_bind_gives_a_key_as_soon_as_it_is_posted(void **state)
{
    struct work *w = *state;
    struct rdl_post_error e = {.rule = RULE_NONE};
    struct rdl_send_wr one = {.opcode = WR_BIND_MW, .bind_mw = {.length = 64, .type_1 = true}};
    struct rdl_send_wr two = {.opcode = WR_BIND_MW, .bind_mw = {.length = 64, .rkey = 0x977}};
    struct guest_mw *mw1 = new_window(w, 1, &one.bind_mw.mw.raw);
    struct guest_mw *mw2 = new_window(w, 2, &two.bind_mw.mw.raw);

    (void)new_region(w, &one.bind_mw.mr.raw);
    two.bind_mw.mr = one.bind_mw.mr;
    assert_int_equal(verbs_post_send_list(w->qp, &one, 1, false, &e), RDL_ERR_STATE);
    assert_int_equal(mw1->rkey, 0x2ff);
    move_to_rts(w->qp);
    assert_int_equal(verbs_post_send_list(w->qp, &one, 1, false, &e), RDL_OK);
    assert_int_equal(mw1->rkey, 0x200);
    assert_int_equal(verbs_post_send_list(w->qp, &two, 1, false, &e), RDL_OK);
    assert_int_equal(mw2->rkey, 0x277);
    one.bind_mw.length = 0, one.bind_mw.mr.raw = 0; /* what it shows ends */
    assert_int_equal(verbs_post_send_list(w->qp, &one, 1, false, &e), RDL_OK);
    assert_int_equal(mw1->rkey, 0x201);
    assert_int_equal(w->f->n_sends, 3);
}

static void a_bind_names_a_window_of_its_type_and_a_region(void **state)
{
    struct work *w = *state;
    struct rdl_post_error e = {.rule = RULE_NONE};
    struct rdl_send_wr wr = {.opcode = WR_BIND_MW, .bind_mw = {.length = 64, .type_1 = true}};
    struct guest_mw *mw = new_window(w, 2, &wr.bind_mw.mw.raw);

    (void)new_region(w, &wr.bind_mw.mr.raw);
    move_to_rts(w->qp);
    assert_int_equal(verbs_post_send_list(w->qp, &wr, 1, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.rule, RULE_POST_MW_TYPE);
    wr.bind_mw.type_1 = false, wr.bind_mw.mr.raw = 0;
    assert_int_equal(verbs_post_send_list(w->qp, &wr, 1, false, &e), RDL_ERR_STALE);
    wr.bind_mw.mw.raw += (uint64_t)1 << VERBS_NAME_BITS;
    assert_int_equal(verbs_post_send_list(w->qp, &wr, 1, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.rule, RULE_POST_PARTS);
    wr.bind_mw.mw.raw = 0;
    assert_int_equal(verbs_post_send_list(w->qp, &wr, 1, false, &e), RDL_ERR_STALE);
    assert_int_equal(mw->rkey, 0x2ff);
    assert_int_equal(w->f->n_sends, 0);
}

static void a_registration_gives_a_key_as_soon_as_it_is_posted(void **state)
{
    struct work *w = *state;
    struct rdl_send_wr wr = {.opcode = WR_REG_MR, .reg = {.key = 0x944}};
    struct guest_mr *mr = new_region(w, &wr.reg.mr.raw);

    move_to_rts(w->qp);
    mr->lkey = mr->rkey = 0x5ff;
    assert_int_equal(verbs_post_send(w->qp, &wr, false), RDL_OK);
    assert_int_equal(mr->lkey, 0x544);
    assert_int_equal(mr->rkey, 0x544);
}

/* Shows B9. */
static void a_list_is_posted_up_to_the_request_that_is_refused(void **state)
{
    const struct rdl_send_wr sends[] = {
        send_wr, send_wr, {.opcode = WR_SEND, .n_sge = 5}, send_wr, send_wr};
    const struct rdl_recv_wr recvs[] = {recv_wr, {.n_sge = 7}, recv_wr};
    struct work *w = *state;
    struct rdl_post_error e = {.bad = 9};

    move_to_rts(w->qp);
    assert_int_equal(verbs_post_send_list(w->qp, sends, 5, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.bad, 2);
    assert_int_equal(e.rule, RULE_POST_SGE_COUNT);
    assert_int_equal(e.most, 4);
    assert_int_equal(e.found, 5);
    assert_int_equal(w->f->n_sends, 2);
    assert_int_equal(w->f->n_kicks, 1); /* what is posted is told of */
    assert_int_equal(verbs_post_recv_list(w->qp, recvs, 3, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.bad, 1);
    assert_int_equal(w->f->n_recvs, 1);
    assert_int_equal(w->f->n_kicks, 2);
    /* Nothing was posted: there is nothing to tell. */
    assert_int_equal(verbs_post_send_list(w->qp, sends + 2, 3, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.bad, 0);
    assert_int_equal(w->f->n_kicks, 2);
}

static void a_whole_list_is_kicked_once(void **state)
{
    const struct rdl_send_wr sends[] = {send_wr, send_wr, send_wr};
    const struct rdl_recv_wr recvs[] = {recv_wr, recv_wr};
    struct work *w = *state;
    struct rdl_post_error e = {.bad = 9};

    move_to_rts(w->qp);
    assert_int_equal(verbs_post_send_list(w->qp, sends, 3, false, &e), RDL_OK);
    assert_int_equal(verbs_post_recv_list(w->qp, recvs, 2, false, &e), RDL_OK);
    assert_int_equal(w->f->events[EV_post_send], 3);
    assert_int_equal(w->f->events[EV_post_recv], 2);
    assert_int_equal(w->f->n_kicks, 2);
    assert_int_equal(verbs_post_send_list(w->qp, sends, 3, true, &e), RDL_OK);
    assert_int_equal(verbs_post_send_list(w->qp, sends, 0, false, &e), RDL_OK);
    assert_int_equal(w->f->n_kicks, 2);
    w->f->cannot = RDL_ERR_QUEUE_FULL;
    assert_int_equal(verbs_post_send_list(w->qp, sends, 3, false, &e), RDL_ERR_QUEUE_FULL);
    assert_int_equal(e.bad, 0);
    assert_int_equal(e.rule, RULE_NONE);
}

/* Shows B85. */
static void modify_names_what_is_wrong(void **state)
{
    static const struct {
        enum qp_state from, to;
        uint32_t mask, missing, extra;
        enum rdl_status want;
    } rows[] = {
        {QPS_RESET, QPS_INIT, TO_INIT & ~(uint32_t)QPA_PORT, QPA_PORT, 0, RDL_ERR_INVAL},
        {QPS_RESET, QPS_INIT, TO_INIT | QPA_SQ_PSN, 0, QPA_SQ_PSN, RDL_ERR_INVAL},
        {QPS_INIT, QPS_RTR, QPA_STATE, TO_RTR & ~(uint32_t)QPA_STATE, 0, RDL_ERR_INVAL},
        {QPS_RESET, QPS_RTS, TO_RTS, 0, 0, RDL_ERR_STATE},
        {QPS_RTS, QPS_ERR, QPA_STATE | QPA_TIMEOUT, 0, QPA_TIMEOUT, RDL_ERR_INVAL},
        {QPS_RTS, QPS_ERR, QPA_STATE, 0, 0, RDL_OK},
    };
    struct work *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rdl_qp_attr a = attributes(rows[i].to);
        struct rdl_modify_error e = {0};

        w->qp->attr.state = rows[i].from;
        assert_int_equal(verbs_modify_qp(w->qp, &a, rows[i].mask, false, &e), rows[i].want);
        if (rows[i].want == RDL_OK)
            continue;
        assert_int_equal(e.from, rows[i].from);
        assert_int_equal(e.to, rows[i].to);
        assert_int_equal(e.missing, rows[i].missing);
        assert_int_equal(e.extra, rows[i].extra);
        assert_int_equal(w->qp->attr.state, rows[i].from);
    }
}

/* Shows B86. */
static void modify_checks_every_value(void **state)
{
    struct work *w = *state;
    const uint32_t requests = w->f->n_requests;
    struct rdl_modify_error e = {0};
    struct rdl_qp_attr a = attributes(QPS_INIT);

    a.port = 2;
    a.pkey_index = 1;
    a.access = 1u << 9 | ACC_RELAXED_ORDERING;
    assert_int_equal(verbs_modify_qp(w->qp, &a, TO_INIT, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.bad, QPA_PORT | QPA_PKEY_INDEX | QPA_ACCESS_FLAGS);

    w->qp->attr.state = QPS_INIT;
    a = attributes(QPS_RTR);
    a.path_mtu = 6;
    a.dest_qpn = 1u << 24;
    a.rq_psn = 1u << 24;
    a.min_rnr_timer = 32;
    a.max_dest_rd_atomic = 17;
    a.ah.sgid_index = 1; /* IPv6 to an IPv4 address */
    assert_int_equal(verbs_modify_qp(w->qp, &a, TO_RTR, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.bad, TO_RTR & ~(uint32_t)QPA_STATE);

    w->qp->attr.state = QPS_RTR;
    a = attributes(QPS_RTS);
    a.sq_psn = 1u << 24;
    a.timeout = 32;
    a.retry_cnt = a.rnr_retry = 8;
    a.max_rd_atomic = 17;
    assert_int_equal(verbs_modify_qp(w->qp, &a, TO_RTS, false, &e), RDL_ERR_INVAL);
    assert_int_equal(e.bad, TO_RTS & ~(uint32_t)QPA_STATE);
    assert_int_equal(w->f->n_requests, requests);

    /* A careless driver sends it, and learns from the device. */
    w->f->refuse = EINVAL;
    assert_int_equal(verbs_modify_qp(w->qp, &a, TO_RTS, true, &e), RDL_OK);
    assert_int_equal(w->f->n_requests, requests + 1);
    assert_int_equal(w->qp->attr.state, QPS_RTR);
}

/* Modifies @from -> @to with @a and @mask; the attributes that were refused. */
static uint32_t bad_of(struct work *w, enum qp_state from, const struct rdl_qp_attr *a,
                       uint32_t mask)
{
    struct rdl_modify_error e = {0};

    w->qp->attr = (struct rdl_qp_attr){.state = from};
    if (verbs_modify_qp(w->qp, a, mask, false, &e) == RDL_OK)
        return 0;
    assert_int_equal(e.missing | e.extra, 0);
    assert_int_not_equal(e.bad, 0);
    for (uint32_t i = 0; i < e.n_ranges; i++) {
        assert_true(e.bad & e.range[i].attr);
        assert_true(e.range[i].found < e.range[i].least || e.range[i].found > e.range[i].most);
    }
    assert_true(e.n_ranges > 0 || e.bad == QPA_AV);
    return e.bad;
}

static void modify_takes_each_value_up_to_its_bounds(void **state)
{
#define FIELD(name) offsetof(struct rdl_qp_attr, name)
    static const struct {
        enum qp_state from, to;
        uint32_t mask, bit;
        size_t field; /* of struct rdl_qp_attr, an uint32_t */
        uint32_t min, max;
    } rows[] = {
        {QPS_RESET, QPS_INIT, TO_INIT, QPA_ACCESS_FLAGS, FIELD(access), 0, 15},
        {QPS_RESET, QPS_INIT, TO_INIT, QPA_PKEY_INDEX, FIELD(pkey_index), 0, 0},
        {QPS_RESET, QPS_INIT, TO_INIT, QPA_PORT, FIELD(port), 1, 1},
        {QPS_INIT, QPS_RTR, TO_RTR, QPA_PATH_MTU, FIELD(path_mtu), MTU_256, MTU_4096},
        {QPS_INIT, QPS_RTR, TO_RTR, QPA_DEST_QPN, FIELD(dest_qpn), 1, 0xffffff},
        {QPS_INIT, QPS_RTR, TO_RTR, QPA_RQ_PSN, FIELD(rq_psn), 0, 0xffffff},
        {QPS_INIT, QPS_RTR, TO_RTR, QPA_MAX_DEST_RD_ATOMIC, FIELD(max_dest_rd_atomic), 0, 16},
        {QPS_INIT, QPS_RTR, TO_RTR, QPA_MIN_RNR_TIMER, FIELD(min_rnr_timer), 0, 31},
        {QPS_RTR, QPS_RTS, TO_RTS, QPA_TIMEOUT, FIELD(timeout), 0, 31},
        {QPS_RTR, QPS_RTS, TO_RTS, QPA_RETRY_CNT, FIELD(retry_cnt), 0, 7},
        {QPS_RTR, QPS_RTS, TO_RTS, QPA_RNR_RETRY, FIELD(rnr_retry), 0, 7},
        {QPS_RTR, QPS_RTS, TO_RTS, QPA_SQ_PSN, FIELD(sq_psn), 0, 0xffffff},
        {QPS_RTR, QPS_RTS, TO_RTS, QPA_MAX_QP_RD_ATOMIC, FIELD(max_rd_atomic), 0, 16},
    };
    struct work *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct {
            uint32_t value, bad;
        } tries[] = {
            {rows[i].min, 0},
            {rows[i].max, 0},
            {rows[i].max + 1, rows[i].bit},
            {rows[i].min - 1, rows[i].bit}, /* of 0: UINT32_MAX */
        };

        for (size_t k = 0; k < ARRAY_LEN(tries); k++) {
            struct rdl_qp_attr a = attributes(rows[i].to);

            memcpy((uint8_t *)&a + rows[i].field, &tries[k].value, sizeof(tries[k].value));
            assert_int_equal(bad_of(w, rows[i].from, &a, rows[i].mask), tries[k].bad);
        }
    }
#undef FIELD
}

static void modify_takes_each_address_vector_up_to_its_bounds(void **state)
{
    static const uint8_t ipv6[GID_BYTES] = {0xfe, 0x80, [15] = 2};
    struct work *w = *state;
    struct rdl_qp_attr a = attributes(QPS_RTR);

    a.ah.sl = 7;
    a.ah.flow_label = 0xfffff;
    assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), 0);
    a.ah.sl = 8;
    assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), QPA_AV);
    a = attributes(QPS_RTR);
    a.ah.flow_label = 0x100000;
    assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), QPA_AV);
    a = attributes(QPS_RTR);
    memset(a.ah.dgid, 0, GID_BYTES);
    assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), QPA_AV);
    memcpy(a.ah.dgid, ipv6, GID_BYTES);
    assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), QPA_AV); /* GID 0 is IPv4 */
    a.ah.sgid_index = GUEST_GIDS - 1;
    assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), 0);
    a.ah.sgid_index = GUEST_GIDS; /* what lies behind the last may look like IPv6, or like IPv4 */
    assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), QPA_AV);
    memcpy(a.ah.dgid, peer_gid, GID_BYTES);
    assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), QPA_AV);
}

static void modify_takes_no_group(void **state)
{
    static const struct {
        uint8_t gid[GID_BYTES], index;
        uint32_t bad;
    } rows[] = {
        {{[10] = 0xff, 0xff, 223, 255, 255, 255}, 0, 0},
        {{[10] = 0xff, 0xff, 224, 0, 0, 1}, 0, QPA_AV},
        {{[10] = 0xff, 0xff, 239, 255, 255, 255}, 0, QPA_AV},
        {{0xfe, 0x80, [15] = 1}, 1, 0},
        {{0xff, 0x0e, [15] = 1}, 1, QPA_AV},
    };
    struct work *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rdl_qp_attr a = attributes(QPS_RTR);

        memcpy(a.ah.dgid, rows[i].gid, GID_BYTES);
        a.ah.sgid_index = rows[i].index;
        a.ah.dmac[0] = 2; /* nobody needs to be asked */
        assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), rows[i].bad);
    }
}

/* The MTU is bounded by the port, not only by what there is. */
static void modify_takes_no_mtu_that_the_port_has_not(void **state)
{
    struct work *w = *state;
    struct rdl_qp_attr a = attributes(QPS_RTR);

    w->f->verbs.port.active_mtu = MTU_1024;
    a.path_mtu = MTU_1024;
    assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), 0);
    a.path_mtu = MTU_2048;
    assert_int_equal(bad_of(w, QPS_INIT, &a, TO_RTR), QPA_PATH_MTU);
}

/* CUR_STATE is what the driver believes, or a state that the device can have gone to by itself; the
 * last state is one to move to.
 */
static void modify_knows_the_states_at_the_end_of_the_list(void **state)
{
    struct work *w = *state;
    struct rdl_qp_attr a = attributes(QPS_ERR);
    struct rdl_modify_error e = {0};

    a.cur_state = QPS_ERR;
    assert_int_equal(bad_of(w, QPS_ERR, &a, QPA_STATE | QPA_CUR_STATE), 0);
    assert_int_equal(bad_of(w, QPS_RTS, &a, QPA_STATE | QPA_CUR_STATE), 0);
    a.cur_state = QPS_RTR;
    assert_int_equal(bad_of(w, QPS_RTS, &a, QPA_STATE | QPA_CUR_STATE), QPA_CUR_STATE);
    for (uint32_t from = QPS_INIT; from <= QPS_SQD; from++) {
        a.cur_state = QPS_SQE;
        w->qp->type = QPT_RC;
        assert_int_equal(bad_of(w, from, &a, QPA_STATE | QPA_CUR_STATE), QPA_CUR_STATE);
        w->qp->type = QPT_UD;
        assert_int_equal(bad_of(w, from, &a, QPA_STATE | QPA_CUR_STATE),
                         from == QPS_RTS ? 0 : QPA_CUR_STATE);
    }
    w->qp->type = QPT_RC;
    a.state = QPS_ERR + 1;
    assert_int_equal(verbs_modify_qp(w->qp, &a, QPA_STATE, false, &e), RDL_ERR_STATE);
    assert_int_equal(e.bad, QPA_STATE);
}

static void what_was_posted_is_counted_and_kicked(void **state)
{
    struct work *w = *state;

    move_to_rts(w->qp);
    assert_int_equal(verbs_post_send(w->qp, &send_wr, true), RDL_OK);
    assert_int_equal(verbs_post_recv(w->qp, &recv_wr, true), RDL_OK);
    assert_int_equal(w->f->n_kicks, 0);
    assert_int_equal(verbs_kick(w->qp, true), RDL_OK);
    assert_int_equal(verbs_post_send(w->qp, &send_wr, false), RDL_OK);
    assert_int_equal(w->f->n_kicks, 2);
    w->f->cannot = RDL_ERR_QUEUE_FULL;
    assert_int_equal(verbs_post_send(w->qp, &send_wr, false), RDL_ERR_QUEUE_FULL);
    assert_int_equal(verbs_post_recv(w->qp, &recv_wr, false), RDL_ERR_QUEUE_FULL);
    assert_int_equal(w->f->n_kicks, 2);
    assert_int_equal(w->f->n_sends, 2);
    assert_int_equal(w->f->n_recvs, 1);
    assert_int_equal(w->f->events[EV_post_send], 2);
    assert_int_equal(w->f->events[EV_post_recv], 1);
}

/* A modify whose neighbour is asked for reaches the driver when it has answered. */
static void modify_waits_for_the_neighbour(void **state)
{
    static const uint8_t mac[MAC_BYTES] = {2, 0, 0, 0, 0, 9}, other_gid[GID_BYTES] = {0xfe, 0x80};
    struct work *w = *state;
    struct verbs *v = &w->f->verbs;
    const uint32_t requests = w->f->n_requests;
    struct rdl_response rsp;

    w->qp->attr.state = QPS_INIT;
    w->f->neighbour = RDL_ERR_BUSY;
    assert_int_equal(move(w->qp, QPS_RTR, TO_RTR), RDL_OK);
    assert_int_equal(verbs_answer(v, &rsp), RDL_ERR_BUSY);
    assert_int_equal(verbs_query_qp(w->qp), RDL_ERR_BUSY);
    verbs_resolved(v, other_gid, mac);
    assert_int_equal(verbs_answer(v, &rsp), RDL_ERR_BUSY);
    assert_int_equal(w->f->n_requests, requests);
    verbs_resolved(v, peer_gid, mac);
    assert_int_equal(verbs_answer(v, &rsp), RDL_OK);
    assert_int_equal(w->f->n_requests, requests + 1);
    assert_memory_equal(w->f->attr.ah.dmac, mac, MAC_BYTES);
    assert_int_equal(w->qp->attr.state, QPS_RTR);

    w->qp->attr.state = QPS_INIT;
    assert_int_equal(move(w->qp, QPS_RTR, TO_RTR), RDL_OK);
    verbs_resolved(v, peer_gid, NULL); /* nobody has answered */
    assert_int_equal(verbs_answer(v, &rsp), RDL_ERR_NO_ROUTE);
    assert_int_equal(w->qp->attr.state, QPS_INIT);
    assert_int_equal(verbs_query_qp(w->qp), RDL_OK);
    assert_int_equal(verbs_answer(v, &rsp), RDL_OK);

    w->qp->attr.state = QPS_INIT;
    w->f->neighbour = RDL_ERR_NO_ROUTE;
    assert_int_equal(move(w->qp, QPS_RTR, TO_RTR), RDL_ERR_NO_ROUTE);
}

static void an_unchecked_modify_does_not_wait(void **state)
{
    static const uint8_t none[MAC_BYTES];
    const struct rdl_qp_attr a = attributes(QPS_RTR);
    struct work *w = *state;
    struct rdl_modify_error e;

    for (unsigned i = 0; i < 2; i++) {
        w->f->neighbour = i ? RDL_ERR_NO_ROUTE : RDL_ERR_BUSY;
        w->f->mask = 0;
        assert_int_equal(verbs_modify_qp(w->qp, &a, TO_RTR, true, &e), RDL_OK);
        assert_int_equal(w->f->verbs.request.n, 0);
        assert_int_equal(w->f->mask, TO_RTR);
        assert_memory_equal(w->f->attr.ah.dmac, none, MAC_BYTES);
    }
}

static void an_event_disarms_the_cq(void **state)
{
    struct work *w = *state;
    struct rdl_cq_info info;

    assert_int_equal(verbs_req_notify_cq(w->cq, false), RDL_OK);
    assert_true(w->cq->armed);
    verbs_cq_event(w->cq);
    assert_false(w->cq->armed);
    w->f->refuse = EIO;
    assert_int_equal(verbs_req_notify_cq(w->cq, false), RDL_OK);
    assert_false(w->cq->armed); /* the device has refused */
    assert_int_equal(verbs_cq_info(w->cq, &info), RDL_OK);
    assert_int_equal(info.events, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(posts_need_a_state_that_takes_them),
        T(a_request_that_cannot_be_is_refused),
        T(each_rule_of_posting_objects_to_its_own),
        T(a_wrong_request_is_named),
        T(a_bind_gives_a_key_as_soon_as_it_is_posted),
        T(a_bind_names_a_window_of_its_type_and_a_region),
        T(a_registration_gives_a_key_as_soon_as_it_is_posted),
        T(what_a_request_names_must_live_on_its_host),
        T(a_list_is_posted_up_to_the_request_that_is_refused),
        T(a_whole_list_is_kicked_once),
        T(modify_names_what_is_wrong),
        T(modify_checks_every_value),
        T(modify_takes_each_value_up_to_its_bounds),
        T(modify_takes_each_address_vector_up_to_its_bounds),
        T(modify_takes_no_group),
        T(modify_takes_no_mtu_that_the_port_has_not),
        T(modify_knows_the_states_at_the_end_of_the_list),
        T(what_was_posted_is_counted_and_kicked),
        T(modify_waits_for_the_neighbour),
        T(an_unchecked_modify_does_not_wait),
        T(an_event_disarms_the_cq),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
