/* SPDX-License-Identifier: MIT */
/* Checks of libibverbs.so.1 of rdmalab, run as a program on a host of a lab:
 *
 *	rdmalab exec h1 -- ./test_library [TEST]
 *
 * Two queue pairs of one device are connected to each other.  Ends with "N passed, M failed".  The
 * test "death", which only runs alone, kills the lab.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "test_library.h"

#define OPS_RC 0x3ffu /* the operations of ibv_wr_*() */
#define OPS_UD 0xcu

int n_passed, n_failed;

void check_at(bool ok, const char *text, int line)
{
    if (ok) {
        n_passed++;
        return;
    }
    n_failed++;
    printf("line %d: %s (errno %d)\n", line, text, errno);
}

struct ibv_context *ctx;
struct ibv_pd *pd;
struct ibv_mr *mr;
uint8_t *buf;
union ibv_gid gid;

struct ibv_qp *new_qp(struct ibv_cq *cq, enum ibv_qp_type type, struct ibv_srq *srq, uint64_t ops)
{
    struct ibv_qp_init_attr_ex init = {.send_cq = cq,
                                       .recv_cq = cq,
                                       .srq = srq,
                                       .qp_type = type,
                                       .cap = {.max_send_wr = 4,
                                               .max_recv_wr = 4,
                                               .max_send_sge = 2,
                                               .max_recv_sge = 2,
                                               .max_inline_data = 32},
                                       .comp_mask = IBV_QP_INIT_ATTR_PD |
                                                    (ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
                                       .pd = pd,
                                       .send_ops_flags = ops};
    return ibv_create_qp_ex(ctx, &init);
}

int to_init(struct ibv_qp *qp)
{
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
                            .port_num = 1,
                            .qkey = 0x1234,
                            .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                               IBV_ACCESS_REMOTE_ATOMIC};
    return ibv_modify_qp(qp, &a,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                             (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

int to_rtr(struct ibv_qp *qp, uint32_t dest)
{
    struct ibv_qp_attr a = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = dest,
        .rq_psn = 7,
        .max_dest_rd_atomic = 4,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1,
                    .port_num = 1,
                    .grh = {.dgid = gid, .hop_limit = 64, .flow_label = 0xffffffff}}};
    if (qp->qp_type == IBV_QPT_UD)
        return ibv_modify_qp(qp, &a, IBV_QP_STATE);
    return ibv_modify_qp(
        qp, &a,
        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
            (qp->qp_type == IBV_QPT_RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
}

int to_rts(struct ibv_qp *qp)
{
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS,
                            .sq_psn = 7,
                            .timeout = 14,
                            .retry_cnt = 7,
                            .rnr_retry = 7,
                            .max_rd_atomic = 4};
    return ibv_modify_qp(
        qp, &a,
        IBV_QP_STATE | IBV_QP_SQ_PSN |
            (qp->qp_type == IBV_QPT_RC
                 ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
                 : 0));
}

int to_state(struct ibv_qp *qp, enum ibv_qp_state s)
{
    struct ibv_qp_attr a = {.qp_state = s};
    return ibv_modify_qp(qp, &a, IBV_QP_STATE);
}

void connect_pair(struct pair *p, enum ibv_qp_type type, struct ibv_srq *srq)
{
    struct ibv_cq_init_attr_ex c = {.cqe = 64,
                                    .cq_context = p,
                                    .wc_flags = IBV_WC_STANDARD_FLAGS |
                                                IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
    p->ch = ibv_create_comp_channel(ctx);
    NEED(p->ch);
    c.channel = p->ch;
    p->cqx = ibv_create_cq_ex(ctx, &c);
    NEED(p->cqx);
    p->cq = ibv_cq_ex_to_cq(p->cqx);
    p->a = new_qp(p->cq, type, NULL, type == IBV_QPT_RC ? OPS_RC : type == IBV_QPT_UD ? 0xc : 0);
    p->b = new_qp(p->cq, type, srq, 0);
    NEED(p->a && p->b);
    NEED(!to_init(p->a) && !to_init(p->b));
    NEED(!to_rtr(p->a, p->b->qp_num) && !to_rtr(p->b, p->a->qp_num));
    NEED(!to_rts(p->a) && !to_rts(p->b));
}

void done_pair(struct pair *p)
{
    CHECK(!ibv_destroy_qp(p->a));
    CHECK(!ibv_destroy_qp(p->b));
    CHECK(ibv_destroy_comp_channel(p->ch) == EBUSY);
    CHECK(!ibv_destroy_cq(p->cq));
    CHECK(ibv_destroy_cq(p->cq) == EINVAL); /* again */
    CHECK(!ibv_destroy_comp_channel(p->ch));
}
/* Polls until there are @n completions, or for a second or so. */
int wait_wc(struct ibv_cq *cq, struct ibv_wc *wc, int n)
{
    int got = 0;
    for (long i = 0; i < 20000000 && got < n; i++) {
        int r = ibv_poll_cq(cq, n - got, wc + got);
        if (r < 0)
            return r;
        got += r;
    }
    return got;
}

int recv1(struct ibv_qp *qp, uint64_t id, size_t off, uint32_t len)
{
    struct ibv_sge s = {(uintptr_t)buf + off, len, mr->lkey};
    struct ibv_recv_wr *bad, w = {.wr_id = id, .sg_list = &s, .num_sge = 1};
    return ibv_post_recv(qp, &w, &bad);
}

/* Opens the device and registers memory. */
static void set_up(void)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                       IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
    int n;
    struct ibv_device **list = ibv_get_device_list(&n);

    NEED(n == 1 && list[0] && !list[1]);
    CHECK(!strcmp(ibv_get_device_name(list[0]), "rdl0"));
    CHECK(ibv_get_device_guid(list[0]) != 0);
    ctx = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    NEED(ctx);
    pd = ibv_alloc_pd(ctx);
    NEED(pd);
    NEED(!ibv_query_gid(ctx, 1, 0, &gid));
    buf = aligned_alloc(4096, BYTES);
    NEED(buf);
    memset(buf, 0, BYTES);
    mr = ibv_reg_mr(pd, buf, BYTES, access);
    NEED(mr);
}

/* Takes the events of the port: it may have become active just now. */
static void take_early_events(void)
{
    struct pollfd f = {ctx->async_fd, POLLIN, 0};
    struct ibv_async_event e;

    while (poll(&f, 1, 100) == 1 && !ibv_get_async_event(ctx, &e))
        ibv_ack_async_event(&e);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
#define ROW(name) {#name, test_##name},
        TESTS(ROW)
#undef ROW
    };

    set_up();
    take_early_events();
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        if (argc < 2 || !strcmp(argv[1], tests[i].name)) {
            printf("%s\n", tests[i].name);
            fflush(stdout);
            tests[i].run();
        }
    if (argc > 1 && !strcmp(argv[1], "death"))
        test_death();
    CHECK(ibv_dealloc_pd(pd) == EBUSY);
    CHECK(!ibv_dereg_mr(mr));
    CHECK(!ibv_dealloc_pd(pd));
    CHECK(ibv_dealloc_pd(pd) == EINVAL);
    CHECK(!ibv_close_device(ctx));
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed != 0;
}
