/* SPDX-License-Identifier: MIT */
/* Work requests: refusals, lists, full queues, ibv_wr_*(), windows. */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "test_library.h"

/* Two elements for sends and receives, and one too many. */
static struct ibv_sge elements[3];

static void init_elements(void)
{
    elements[0] = (struct ibv_sge){(uintptr_t)buf, 16, mr->lkey};
    elements[1] = (struct ibv_sge){(uintptr_t)buf + 16, 16, mr->lkey};
    elements[2] = (struct ibv_sge){(uintptr_t)buf, 1, mr->lkey};
}

int post_one(struct ibv_qp *qp, struct ibv_send_wr wr)
{
    struct ibv_send_wr *bad = NULL;
    const int error = ibv_post_send(qp, &wr, &bad);

    CHECK(!error || bad == &wr);
    return error;
}

/* Requests that are refused at once. */
static void check_refusals(const struct pair *p, struct ibv_send_wr w)
{
    struct ibv_recv_wr *bad, r = {.num_sge = 1, .sg_list = elements};
    struct ibv_qp *fresh = new_qp(p->cq, IBV_QPT_RC, NULL, 0);

    CHECK(post_one(fresh, w) == EINVAL); /* RESET */
    CHECK(ibv_post_recv(fresh, &r, &bad) == EINVAL && bad == &r);
    CHECK(!ibv_destroy_qp(fresh));
    CHECK(ibv_destroy_qp(fresh) == EINVAL);
    CHECK(post_one(fresh, w) == EINVAL);
    r.num_sge = 3;
    CHECK(ibv_post_recv(p->a, &r, &bad) == EINVAL && bad == &r);
    w.num_sge = 3;
    CHECK(post_one(p->a, w) == EINVAL);
    w.num_sge = -1;
    CHECK(post_one(p->a, w) == EINVAL);
    w.num_sge = 2;
    w.opcode = IBV_WR_TSO;
    CHECK(post_one(p->a, w) == EOPNOTSUPP);
    w.opcode = IBV_WR_DRIVER1; /* the lab's number of READ with invalidate */
    CHECK(post_one(p->a, w) == EOPNOTSUPP);
    w.opcode = (enum ibv_wr_opcode)0x20; /* the lab's number of REG_MR */
    CHECK(post_one(p->a, w) == EOPNOTSUPP);
    w.opcode = IBV_WR_SEND;
    w.send_flags = IBV_SEND_IP_CSUM;
    CHECK(post_one(p->a, w) == EINVAL);
    w.send_flags = IBV_SEND_INLINE;
    elements[0].length = 4000;
    CHECK(post_one(p->a, w) == EINVAL);
    elements[0].length = 16;
}

/* Of a list whose second request is wrong, the first is posted. */
static void check_list(const struct pair *p, struct ibv_send_wr w)
{
    struct ibv_send_wr *bad, w2 = w, w3 = w;
    struct ibv_wc wc[2];

    memset(buf, 'x', 64);
    CHECK(!recv1(p->b, 77, 4096, 64));
    w2.num_sge = 3;
    w.next = &w2;
    w2.next = &w3;
    CHECK(ibv_post_send(p->a, &w, &bad) == EINVAL && bad == &w2);
    CHECK(wait_wc(p->cq, wc, 2) == 2);
    CHECK(wc[0].status == 0 && wc[1].status == 0);
    CHECK(buf[4096] == 'x' && buf[4096 + 31] == 'x' && buf[4096 + 32] != 'x');
}

/* Sends that wait for a receive fill the queue. */
static void check_full(const struct pair *p, struct ibv_send_wr w)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;
    struct ibv_wc wc[16];
    int n = 0;

    CHECK(!ibv_query_qp(p->a, &attr, IBV_QP_STATE, &init));
    CHECK(attr.qp_state == IBV_QPS_RTS && init.send_cq == p->cq);
    CHECK(attr.ah_attr.grh.flow_label == 0xfffff);
    w.num_sge = 1;
    while (n < 100 && !post_one(p->a, w))
        n++;
    CHECK(n == (int)init.cap.max_send_wr && n >= 4);
    CHECK(post_one(p->a, w) == ENOMEM);
    for (int i = 0; i < n; i++) {
        CHECK(!recv1(p->b, 5, 4096, 64));
        CHECK(wait_wc(p->cq, wc, 2) == 2);
    }
}

/* A queue pair can be used again after a reset, with all places of its queues. */
static void check_resets(const struct pair *p, struct ibv_send_wr w)
{
    struct ibv_wc wc[16];

    w.num_sge = 1;
    for (int round = 0; round < 3; round++) {
        CHECK(!to_state(p->a, IBV_QPS_RESET) && !to_state(p->b, IBV_QPS_RESET));
        CHECK(post_one(p->a, w) == EINVAL);
        CHECK(!to_init(p->a) && !to_init(p->b));
        CHECK(!to_rtr(p->a, p->b->qp_num) && !to_rtr(p->b, p->a->qp_num));
        CHECK(!to_rts(p->a) && !to_rts(p->b));
        for (int i = 0; i < 4; i++)
            CHECK(!recv1(p->b, (uint64_t)i, 4096, 64));
        for (int i = 0; i < 4; i++)
            CHECK(!post_one(p->a, w));
        CHECK(wait_wc(p->cq, wc, 8) == 8);
        for (int i = 0; i < 8; i++)
            CHECK(wc[i].status == 0);
    }
}

void test_posts(void)
{
    const struct ibv_send_wr w = {.wr_id = 1,
                                  .sg_list = elements,
                                  .num_sge = 2,
                                  .opcode = IBV_WR_SEND,
                                  .send_flags = IBV_SEND_SIGNALED};
    struct ibv_wc wc[4];
    struct pair p;

    init_elements();
    connect_pair(&p, IBV_QPT_RC, NULL);
    check_refusals(&p, w);
    check_list(&p, w);
    check_full(&p, w);
    check_resets(&p, w);
    for (int i = 0; i < 4; i++)
        CHECK(!recv1(p.b, 1, 4096, 64));
    CHECK(!to_state(p.b, IBV_QPS_ERR));
    CHECK(wait_wc(p.cq, wc, 4) == 4 && wc[0].status == IBV_WC_WR_FLUSH_ERR);
    done_pair(&p);
}

/* A write, a read and an atomic of one batch, polled by struct ibv_cq_ex. */
static void check_batch(const struct pair *p, struct ibv_qp_ex *x)
{
    struct ibv_poll_cq_attr pa = {0};

    memset(buf, 0, 8192);
    memcpy(buf, "abcdefgh", 8);
    ibv_wr_start(x);
    x->wr_id = 10;
    x->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(x, mr->rkey, (uintptr_t)buf + 1024);
    ibv_wr_set_sge(x, mr->lkey, (uintptr_t)buf, 8);
    x->wr_id = 11;
    ibv_wr_rdma_read(x, mr->rkey, (uintptr_t)buf + 1024);
    ibv_wr_set_sge(x, mr->lkey, (uintptr_t)buf + 2048, 8);
    x->wr_id = 12;
    ibv_wr_atomic_fetch_add(x, mr->rkey, (uintptr_t)buf + 3072, 5);
    ibv_wr_set_sge(x, mr->lkey, (uintptr_t)buf + 3080, 8);
    CHECK(!ibv_wr_complete(x));
    int got = 0;
    uint64_t last = 0;
    for (long i = 0; got < 3 && i < 20000000; i++) {
        int r = ibv_start_poll(p->cqx, &pa);
        if (r) {
            CHECK(r == ENOENT);
            continue;
        }
        do {
            CHECK(p->cqx->status == 0 && p->cqx->wr_id == 10u + (unsigned)got);
            CHECK(ibv_wc_read_completion_ts(p->cqx) >= last);
            last = ibv_wc_read_completion_ts(p->cqx);
            CHECK(ibv_wc_read_qp_num(p->cqx) == p->a->qp_num);
            CHECK(ibv_wc_read_opcode(p->cqx) == (got == 0   ? IBV_WC_RDMA_WRITE
                                                 : got == 1 ? IBV_WC_RDMA_READ
                                                            : IBV_WC_FETCH_ADD));
            got++;
        } while (ibv_next_poll(p->cqx) == 0);
        ibv_end_poll(p->cqx);
    }
    CHECK(got == 3);
    CHECK(!memcmp(buf + 1024, "abcdefgh", 8) && !memcmp(buf + 2048, "abcdefgh", 8));
    CHECK(*(uint64_t *)(void *)(buf + 3072) == 5);
}

/* Inline data is copied when it is set. */
static void check_inline(const struct pair *p, struct ibv_qp_ex *x)
{
    struct ibv_wc wc[8];

    ibv_wr_start(x);
    ibv_wr_atomic_cmp_swp(x, mr->rkey, (uintptr_t)buf + 3072, 5, 99);
    ibv_wr_set_sge(x, mr->lkey, (uintptr_t)buf + 3080, 8);
    /* inline, several buffers, with immediate */
    CHECK(!recv1(p->b, 4, 4096, 64));
    CHECK(!recv1(p->b, 5, 4200, 64));
    struct ibv_data_buf list[2] = {{buf, 3}, {buf + 4, 4}};
    char tmp[8] = "inline!";
    ibv_wr_send_imm(x, htobe32(0x11223344));
    ibv_wr_set_inline_data_list(x, 2, list);
    ibv_wr_send(x);
    ibv_wr_set_inline_data(x, tmp, 7);
    memset(tmp, 0, 8);
    CHECK(!ibv_wr_complete(x));
    CHECK(wait_wc(p->cq, wc, 5) == 5);
    CHECK(*(uint64_t *)(void *)(buf + 3072) == 99 && *(uint64_t *)(void *)(buf + 3080) == 5);
    CHECK(!memcmp(buf + 4096, "abcefgh", 7));
    CHECK(!memcmp(buf + 4200, "inline!", 7));
    for (int i = 0; i < 5; i++) {
        CHECK(wc[i].status == 0);
        if (wc[i].wr_id == 4)
            CHECK((wc[i].wc_flags & IBV_WC_WITH_IMM) && be32toh(wc[i].imm_data) == 0x11223344 &&
                  wc[i].byte_len == 7);
    }
}

static void check_bad_batches(const struct pair *p, struct ibv_qp_ex *x)
{
    struct ibv_wc wc[8];

    /* nothing of a bad batch is posted */
    ibv_wr_start(x);
    ibv_wr_send(x);
    ibv_wr_set_sge(x, mr->lkey, (uintptr_t)buf, 8);
    ibv_wr_send(x);
    ibv_wr_set_inline_data(x, buf, 5000);
    CHECK(ibv_wr_complete(x) == EINVAL);
    ibv_wr_start(x);
    for (int i = 0; i < 50; i++)
        ibv_wr_send(x);
    CHECK(ibv_wr_complete(x) == ENOMEM);
    ibv_wr_start(x);
    ibv_wr_send(x);
    ibv_wr_abort(x);
    ibv_wr_start(x);
    CHECK(ibv_wr_complete(x) == 0);
    usleep(20000);
    CHECK(ibv_poll_cq(p->cq, 8, wc) == 0);
}

static void check_windows(const struct pair *p, struct ibv_qp_ex *x)
{
    struct ibv_wc wc[8];

    /* windows: type 1, type 2 */
    struct ibv_mr *bm = ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    struct ibv_mw *m1 = ibv_alloc_mw(pd, IBV_MW_TYPE_1), *m2 = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
    CHECK(bm && m1 && m2);
    if (bm && m1 && m2) {
        uint32_t old = m1->rkey;
        struct ibv_mw_bind b = {.wr_id = 3,
                                .send_flags = IBV_SEND_SIGNALED,
                                .bind_info = {bm, (uintptr_t)buf, 512, IBV_ACCESS_REMOTE_WRITE}};
        CHECK(!ibv_bind_mw(p->b, m1, &b));
        CHECK(wait_wc(p->cq, wc, 1) == 1);
        CHECK(wc[0].status == 0 && wc[0].opcode == IBV_WC_BIND_MW && wc[0].wr_id == 3);
        CHECK(m1->rkey == ibv_inc_rkey(old));
        struct ibv_send_wr *bad,
            w = {.opcode = IBV_WR_BIND_MW,
                 .send_flags = IBV_SEND_SIGNALED,
                 .bind_mw = {m2,
                             ibv_inc_rkey(m2->rkey),
                             {bm, (uintptr_t)buf, 512, IBV_ACCESS_REMOTE_WRITE}}};
        CHECK(!ibv_post_send(p->b, &w, &bad));
        CHECK(wait_wc(p->cq, wc, 1) == 1);
        CHECK(wc[0].status == 0);
        ibv_wr_start(x);
        ibv_wr_rdma_write(x, m1->rkey, (uintptr_t)buf + 256);
        ibv_wr_set_sge(x, mr->lkey, (uintptr_t)buf, 8);
        ibv_wr_rdma_write(x, m2->rkey, (uintptr_t)buf + 264);
        ibv_wr_set_sge(x, mr->lkey, (uintptr_t)buf, 8);
        CHECK(!ibv_wr_complete(x));
        CHECK(wait_wc(p->cq, wc, 2) == 2);
        CHECK(!wc[0].status && !wc[1].status);
        CHECK(!memcmp(buf + 256, "abcdefghabcdefgh", 16));
        struct ibv_send_wr inv = {.opcode = IBV_WR_LOCAL_INV,
                                  .send_flags = IBV_SEND_SIGNALED,
                                  .invalidate_rkey = m2->rkey};
        CHECK(!ibv_post_send(p->b, &inv, &bad));
        CHECK(wait_wc(p->cq, wc, 1) == 1 && !wc[0].status && wc[0].opcode == IBV_WC_LOCAL_INV);
        CHECK(!ibv_dealloc_mw(m1) && !ibv_dealloc_mw(m2));
        CHECK(!ibv_dereg_mr(bm));
    }
}

void test_extended(void)
{
    struct ibv_qp_ex *x;
    struct pair p;

    connect_pair(&p, IBV_QPT_RC, NULL);
    x = ibv_qp_to_qp_ex(p.a);
    NEED(x);
    CHECK(!ibv_qp_to_qp_ex(p.b));
    check_batch(&p, x);
    check_inline(&p, x);
    check_bad_batches(&p, x);
    check_windows(&p, x);
    done_pair(&p);
}
