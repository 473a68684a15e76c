/* SPDX-License-Identifier: MIT */
/* Queries, memory, events, datagrams, fork(), threads, and the end of the lab. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test_library.h"

void test_memory(void)
{
    void *ro = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *none = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_mr *m;
    struct ibv_td_init_attr ta = {0};
    struct ibv_td *td = ibv_alloc_td(ctx, &ta);
    struct ibv_parent_domain_init_attr pa = {.pd = pd, .td = td};
    struct ibv_pd *par = ibv_alloc_parent_domain(ctx, &pa);
    CHECK(td && par);
    CHECK(ibv_dealloc_pd(pd) == EBUSY);
    m = ibv_reg_mr(par, buf, 100, IBV_ACCESS_LOCAL_WRITE);
    CHECK(m && m->pd == par);
    CHECK(!ibv_dereg_mr(m));
    CHECK(ibv_dereg_mr(m) == EINVAL);
    CHECK(!ibv_dealloc_pd(par));
    CHECK(!ibv_dealloc_td(td));
    errno = 0;
    CHECK(!ibv_reg_mr(pd, ro, 8192, IBV_ACCESS_LOCAL_WRITE) && errno == EFAULT);
    m = ibv_reg_mr(pd, ro, 8192, 0);
    CHECK(m);
    if (m)
        CHECK(!ibv_dereg_mr(m));
    errno = 0;
    CHECK(!ibv_reg_mr(pd, none, 8192, 0) && errno == EFAULT);
    errno = 0;
    CHECK(!ibv_reg_mr(pd, (void *)4096, 8192, 0) && errno == EFAULT);
    errno = 0;
    CHECK(!ibv_reg_mr(pd, buf, 8192, IBV_ACCESS_ON_DEMAND) && errno == EOPNOTSUPP);
    errno = 0;
    CHECK(!ibv_reg_mr(pd, buf, 8192, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL);
    m = ibv_reg_mr(pd, buf, 8192,
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_HUGETLB);
    CHECK(m);
    if (m) {
        CHECK(!ibv_rereg_mr(m, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
        CHECK(ibv_rereg_mr(m, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL, 0, 0) ==
              IBV_REREG_MR_ERR_INPUT);
        CHECK(!ibv_rereg_mr(m, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, buf + 100, 300, 0));
        CHECK(m->addr == buf + 100 && m->length == 300);
        CHECK(!ibv_dereg_mr(m));
    }
    errno = 0;
    CHECK(!ibv_alloc_null_mr(pd) && errno == EOPNOTSUPP);
    CHECK(!ibv_reg_dmabuf_mr(pd, 0, 1, 0, 1, 0) && errno == EOPNOTSUPP);
}

/* Handles are unique only within a kind: a queue pair that is destroyed is not the shared receive
 * queue with its handle.  Runs first, because the first objects of all kinds have the same handle.
 */
void test_same_handles(void)
{
    struct ibv_srq_init_attr si = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &si);
    struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
    struct ibv_sge s = {(uintptr_t)buf, 8, mr->lkey};
    struct ibv_recv_wr *bad, r = {.wr_id = 9, .sg_list = &s, .num_sge = 1};
    struct ibv_qp *qp;
    struct ibv_wc wc[2];
    struct pair p;
    NEED(srq && cq);
    qp = new_qp(cq, IBV_QPT_RC, NULL, 0);
    NEED(qp && qp->handle == srq->handle);
    CHECK(!ibv_destroy_qp(qp));
    connect_pair(&p, IBV_QPT_RC, srq);
    for (int i = 0; i < 20; i++) { /* more than the queue holds */
        CHECK(!ibv_post_srq_recv(srq, &r, &bad));
        CHECK(!post_one(p.a, (struct ibv_send_wr){.sg_list = &s,
                                                  .num_sge = 1,
                                                  .opcode = IBV_WR_SEND,
                                                  .send_flags = IBV_SEND_SIGNALED}));
        CHECK(wait_wc(p.cq, wc, 2) == 2 && !wc[0].status && !wc[1].status);
    }
    done_pair(&p);
    CHECK(!ibv_destroy_cq(cq));
    CHECK(!ibv_destroy_srq(srq));
}

void test_queries(void)
{
    struct ibv_port_attr p;
    struct ibv_device_attr d;
    struct ibv_gid_entry e, t[8];
    __be16 k;
    union ibv_gid g;
    CHECK(!ibv_query_port(ctx, 1, &p) && p.state == IBV_PORT_ACTIVE &&
          p.link_layer == IBV_LINK_LAYER_ETHERNET);
    CHECK(ibv_query_port(ctx, 2, &p) == EINVAL);
    CHECK(!ibv_query_device(ctx, &d) && d.phys_port_cnt == 1);
    CHECK(!ibv_query_gid_ex(ctx, 1, 0, &e, 0) && e.gid_type == IBV_GID_TYPE_ROCE_V2);
    CHECK(ibv_query_gid_ex(ctx, 1, 99, &e, 0) == EINVAL);
    CHECK(ibv_query_gid_ex(ctx, 1, 0, &e, 1) == EOPNOTSUPP);
    CHECK(ibv_query_gid_table(ctx, t, 8, 0) >= 1);
    CHECK(ibv_query_gid_table(ctx, t, 0, 0) == -EINVAL);
    CHECK(ibv_query_gid(ctx, 1, 99, &g) == -1 && errno == EINVAL);
    CHECK(!ibv_query_pkey(ctx, 1, 0, &k) && k == 0xffff);
    CHECK(ibv_query_pkey(ctx, 1, 7, &k) == -1);
    CHECK(ibv_get_pkey_index(ctx, 1, 0xffff) == 0);
    CHECK(ibv_get_pkey_index(ctx, 1, 0x1234) == -1);
}

/* A resize for which the program lacks what @resource limits changes nothing. */
static void resize_without(__rlimit_resource_t resource, struct ibv_cq *cq)
{
    const int before = cq->cqe;
    struct rlimit old, none;

    CHECK(!getrlimit(resource, &old));
    none = old;
    none.rlim_cur = 1;
    CHECK(!setrlimit(resource, &none));
    CHECK(ibv_resize_cq(cq, 1500) != 0);
    CHECK(cq->cqe == before);
    CHECK(!setrlimit(resource, &old));
}

void test_events(void)
{
    struct pair p;
    struct ibv_wc wc[8];
    struct ibv_cq *cq;
    void *cx;
    struct ibv_async_event e;
    struct pollfd f;
    struct ibv_send_wr *bad;
    struct ibv_sge s = {(uintptr_t)buf, 8, mr->lkey};
    struct ibv_send_wr w = {
        .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
    connect_pair(&p, IBV_QPT_RC, NULL);
    fcntl(p.ch->fd, F_SETFL, O_NONBLOCK);
    errno = 0;
    CHECK(ibv_get_cq_event(p.ch, &cq, &cx) == -1 && errno == EAGAIN);
    fcntl(p.ch->fd, F_SETFL, 0);
    CHECK(!ibv_req_notify_cq(p.cq, 0));
    w.wr.rdma.remote_addr = (uintptr_t)buf + 512;
    w.wr.rdma.rkey = mr->rkey;
    CHECK(!ibv_post_send(p.a, &w, &bad));
    CHECK(!ibv_get_cq_event(p.ch, &cq, &cx) && cq == p.cq && cx == &p);
    CHECK(wait_wc(p.cq, wc, 1) == 1 && !wc[0].status);
    ibv_ack_cq_events(cq, 1);
    /* an event that nobody reads does not keep the CQ */
    CHECK(!ibv_req_notify_cq(p.cq, 0));
    CHECK(!ibv_post_send(p.a, &w, &bad));
    CHECK(wait_wc(p.cq, wc, 1) == 1);
    f = (struct pollfd){p.ch->fd, POLLIN, 0};
    CHECK(poll(&f, 1, 1000) == 1);
    /* resize with completions in it */
    CHECK(!ibv_post_send(p.a, &w, &bad));
    usleep(20000);
    CHECK(!ibv_resize_cq(p.cq, 300));
    CHECK(p.cq->cqe >= 300);
    CHECK(wait_wc(p.cq, wc, 1) == 1 && !wc[0].status);
    CHECK(!ibv_post_send(p.a, &w, &bad));
    CHECK(wait_wc(p.cq, wc, 1) == 1 && !wc[0].status);
    CHECK(!ibv_post_send(p.a, &w, &bad));
    usleep(20000);
    resize_without(RLIMIT_NOFILE, p.cq);
    resize_without(RLIMIT_AS, p.cq);
    CHECK(wait_wc(p.cq, wc, 1) == 1 && !wc[0].status);
    CHECK(!ibv_post_send(p.a, &w, &bad));
    CHECK(wait_wc(p.cq, wc, 1) == 1 && !wc[0].status);
    CHECK(!ibv_resize_cq(p.cq, 5000));
    CHECK(!ibv_resize_cq(p.cq, 300)); /* the ring stays */
    CHECK(!ibv_post_send(p.a, &w, &bad));
    CHECK(wait_wc(p.cq, wc, 1) == 1 && !wc[0].status);
    /* asynchronous: an access error of the target */
    w.wr.rdma.rkey ^= 0x5a00;
    CHECK(!ibv_post_send(p.a, &w, &bad));
    CHECK(wait_wc(p.cq, wc, 1) == 1 && wc[0].status == IBV_WC_REM_ACCESS_ERR);
    f = (struct pollfd){ctx->async_fd, POLLIN, 0};
    if (poll(&f, 1, 1000) == 1) {
        CHECK(!ibv_get_async_event(ctx, &e));

        CHECK(e.element.qp == p.b);
        ibv_ack_async_event(&e);
    } else
        CHECK(false); /* no event came */
    CHECK(ibv_post_send(p.a, &w, &bad) == 0);
    CHECK(wait_wc(p.cq, wc, 1) == 1 && wc[0].status == IBV_WC_WR_FLUSH_ERR);
    done_pair(&p);
}

/* Completions that were there before a CQ is armed raise no event, unless the user wants it. */
void test_arming(void)
{
    const char *arm = getenv("RDMALAB_ARM");
    const int wanted = arm && !strcmp(arm, "unpolled");
    struct ibv_sge s = {(uintptr_t)buf, 8, mr->lkey};
    struct ibv_send_wr w = {
        .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_wc wc[2];
    struct ibv_cq *cq;
    struct pollfd f;
    struct pair p, later;
    void *x;

    connect_pair(&p, IBV_QPT_RC, NULL);
    connect_pair(&later, IBV_QPT_RC, NULL);
    f = (struct pollfd){p.ch->fd, POLLIN, 0};
    CHECK(!ibv_req_notify_cq(p.cq, 0));
    CHECK(!recv1(p.b, 1, 0, 8) && !post_one(p.a, w));
    CHECK(!ibv_get_cq_event(p.ch, &cq, &x) && cq == p.cq);
    CHECK(wait_wc(p.cq, wc, 1) == 1);
    CHECK(!recv1(later.b, 1, 0, 8) && !post_one(later.a, w));
    CHECK(wait_wc(later.cq, wc, 2) ==
          2); /* so that the second completion of the first pair is there */
    CHECK(!ibv_req_notify_cq(p.cq, 0));
    CHECK(poll(&f, 1, 0) == wanted);
    CHECK(wait_wc(p.cq, wc, 1) == 1);
    if (wanted)
        CHECK(!ibv_get_cq_event(p.ch, &cq, &x) && cq == p.cq);
    ibv_ack_cq_events(p.cq, (unsigned)(1 + wanted));
    CHECK(!ibv_req_notify_cq(p.cq, 0));
    CHECK(poll(&f, 1, 0) == 0); /* all were polled */
    CHECK(!recv1(p.b, 1, 0, 8) && !post_one(p.a, w));
    CHECK(!ibv_get_cq_event(p.ch, &cq, &x));
    ibv_ack_cq_events(p.cq, 1);
    CHECK(!ibv_req_notify_cq(p.cq, 0)); /* an event that nobody reads */
    CHECK(!ibv_destroy_qp(p.a) && !ibv_destroy_qp(p.b) && !ibv_destroy_cq(p.cq));
    CHECK(poll(&f, 1, 0) == 0);
    CHECK(!ibv_destroy_comp_channel(p.ch));
    done_pair(&later);
}

void test_unread_async(void)
{
    struct pair p, q;
    struct ibv_wc wc[2];
    struct ibv_send_wr *bad;
    struct pollfd f = {ctx->async_fd, POLLIN, 0};
    struct ibv_sge s = {(uintptr_t)buf, 8, mr->lkey};
    struct ibv_send_wr w = {
        .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_async_event e;
    connect_pair(&p, IBV_QPT_RC, NULL);
    connect_pair(&q, IBV_QPT_RC, NULL);
    CHECK(!ibv_post_send(p.a, &w, &bad));
    CHECK(!ibv_post_send(q.a, &w, &bad));
    CHECK(wait_wc(p.cq, wc, 1) == 1);
    CHECK(wait_wc(q.cq, wc, 1) == 1);
    usleep(50000);
    CHECK(poll(&f, 1, 100) == 1);
    done_pair(&p);
    CHECK(poll(&f, 1, 0) == 1);
    CHECK(!ibv_get_async_event(ctx, &e) && e.element.qp == q.b);
    ibv_ack_async_event(&e);
    CHECK(poll(&f, 1, 0) == 0);
    done_pair(&q);
}
static struct ibv_async_event kept;
static void *ack_late(void *a)
{
    (void)a;
    usleep(100000);
    ibv_ack_async_event(&kept);
    return NULL;
}
void test_destroy_waits(void)
{
    struct pair p;
    struct ibv_wc wc[2];
    struct ibv_send_wr *bad;
    pthread_t t;
    struct timespec a, b;
    struct ibv_sge s = {(uintptr_t)buf, 8, mr->lkey};
    struct ibv_send_wr w = {
        .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
    connect_pair(&p, IBV_QPT_RC, NULL);
    CHECK(!ibv_post_send(p.a, &w, &bad));
    CHECK(wait_wc(p.cq, wc, 1) == 1);
    CHECK(!ibv_get_async_event(ctx, &kept));
    pthread_create(&t, NULL, ack_late, NULL);
    clock_gettime(CLOCK_MONOTONIC, &a);
    CHECK(!ibv_destroy_qp(p.b));
    clock_gettime(CLOCK_MONOTONIC, &b);
    CHECK((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 >= 80);
    pthread_join(t, NULL);
    CHECK(!ibv_destroy_qp(p.a));
    CHECK(!ibv_destroy_cq(p.cq));
    CHECK(!ibv_destroy_comp_channel(p.ch));
}

static void check_datagram_refusals(struct ibv_qp *qp, struct ibv_send_wr w)
{
    struct ibv_ah *ah = w.wr.ud.ah;

    w.wr.ud.ah = NULL;
    CHECK(post_one(qp, w) == EINVAL);
    w.wr.ud.ah = ah;
    w.send_flags |= IBV_SEND_FENCE;
    CHECK(post_one(qp, w) == EINVAL);
    w.send_flags = 0;
    w.opcode = IBV_WR_RDMA_WRITE;
    CHECK(post_one(qp, w) == EOPNOTSUPP);
}

void test_ud_srq(void)
{
    struct pair p;
    struct ibv_wc wc[4];
    struct ibv_srq_init_attr si = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &si);
    struct ibv_srq_attr sa;
    struct ibv_sge s = {(uintptr_t)buf + 4096, 200, mr->lkey}, s2 = {(uintptr_t)buf, 8, mr->lkey};
    struct ibv_recv_wr *rbad, r = {.wr_id = 9, .sg_list = &s, .num_sge = 1};
    NEED(srq);
    CHECK(!ibv_query_srq(srq, &sa) && sa.max_wr >= 4);
    connect_pair(&p, IBV_QPT_UD, srq);
    CHECK(ibv_destroy_srq(srq) == EBUSY);
    CHECK(recv1(p.b, 1, 0, 8) == EINVAL);
    struct ibv_ah_attr aa = {
        .is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 9, .traffic_class = 0x20}};
    struct ibv_ah *ah = ibv_create_ah(pd, &aa);
    NEED(ah);
    struct ibv_send_wr *bad, w = {.sg_list = &s2,
                                  .num_sge = 1,
                                  .opcode = IBV_WR_SEND,
                                  .send_flags = IBV_SEND_SIGNALED,
                                  .wr.ud = {ah, p.b->qp_num, 0x1234}};
    int n = 0;
    while (n < 100 && !ibv_post_srq_recv(srq, &r, &rbad))
        n++;
    CHECK(n == (int)sa.max_wr);
    CHECK(ibv_post_srq_recv(srq, &r, &rbad) == ENOMEM && rbad == &r);
    CHECK(!ibv_post_send(p.a, &w, &bad));
    CHECK(wait_wc(p.cq, wc, 2) == 2);
    int k = wc[0].opcode & IBV_WC_RECV ? 0 : 1;
    CHECK(wc[k].wr_id == 9 && (wc[k].wc_flags & IBV_WC_GRH) && wc[k].src_qp == p.a->qp_num &&
          wc[k].byte_len == 48);
    CHECK(wc[k].sl == 2 && wc[!k].sl == 0); /* an IPv4 header, as ConnectX says */
    struct ibv_ah *back =
        ibv_create_ah_from_wc(pd, &wc[k], (struct ibv_grh *)(void *)(buf + 4096), 1);
    CHECK(back);
    struct ibv_ah_attr ba;
    CHECK(!ibv_init_ah_from_wc(ctx, 1, &wc[k], (struct ibv_grh *)(void *)(buf + 4096), &ba) &&
          !memcmp(&ba.grh.dgid, &gid, 16) && ba.grh.traffic_class == 0x20 &&
          ba.grh.hop_limit == 9 && ba.sl == 0);
    CHECK(!ibv_post_srq_recv(srq, &r, &rbad));
    check_datagram_refusals(p.a, w);
    struct ibv_qp_ex *x = ibv_qp_to_qp_ex(p.a);
    ibv_wr_start(x);
    x->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send(x);
    ibv_wr_set_ud_addr(x, ah, p.b->qp_num, 0x1234);
    ibv_wr_set_sge(x, mr->lkey, (uintptr_t)buf, 8);
    CHECK(!ibv_wr_complete(x));
    CHECK(wait_wc(p.cq, wc, 2) == 2 && !wc[0].status && !wc[1].status);
    /* multicast */
    union ibv_gid mg = {.raw = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 239, 1, 2, 3}};
    CHECK(!ibv_attach_mcast(p.b, &mg, 0));
    CHECK(ibv_destroy_qp(p.b) == EBUSY);
    CHECK(!ibv_detach_mcast(p.b, &mg, 0));
    CHECK(ibv_attach_mcast(p.b, &gid, 0) == EINVAL);
    sa = (struct ibv_srq_attr){.srq_limit = 2};
    CHECK(!ibv_modify_srq(srq, &sa, IBV_SRQ_LIMIT));
    CHECK(!ibv_query_srq(srq, &sa) && sa.srq_limit == 2);
    if (back)
        CHECK(!ibv_destroy_ah(back));
    CHECK(!ibv_destroy_ah(ah));
    CHECK(ibv_destroy_ah(ah) == EINVAL);
    done_pair(&p);
    CHECK(!ibv_destroy_srq(srq));
}

void test_fork(void)
{
    struct pair p;
    struct ibv_wc wc[2];
    int st;
    struct ibv_send_wr *bad;
    struct ibv_sge s = {(uintptr_t)buf, 8, mr->lkey};
    struct ibv_send_wr w = {
        .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
    connect_pair(&p, IBV_QPT_RC, NULL);
    CHECK(!ibv_fork_init());
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        struct ibv_port_attr a;
        n_failed = 0;
        struct ibv_cq *cq;
        void *cx;
        struct ibv_async_event e;
        struct ibv_pd *d;
        CHECK(ibv_query_port(ctx, 1, &a) == EINVAL);
        CHECK(ibv_poll_cq(p.cq, 1, wc) == -1);
        CHECK(ibv_post_send(p.a, &w, &bad) == EINVAL);
        CHECK(recv1(p.a, 1, 0, 8) == EINVAL);
        CHECK(ibv_get_cq_event(p.ch, &cq, &cx) == -1);
        CHECK(ibv_get_async_event(ctx, &e) == -1);
        CHECK(!ibv_alloc_pd(ctx));
        CHECK(ibv_destroy_qp(p.a) == EINVAL);
        int n;
        struct ibv_device **l = ibv_get_device_list(&n);
        CHECK(n == 1);
        struct ibv_context *mine = n ? ibv_open_device(l[0]) : NULL;
        CHECK(mine);
        if (mine) {
            errno = EDOM;
            d = ibv_alloc_pd(mine);
            CHECK(d && errno == EDOM);
            CHECK(!ibv_dealloc_pd(d));
            CHECK(!ibv_close_device(mine));
        }
        CHECK(!ibv_close_device(ctx));
        fflush(stdout);
        _exit(n_failed);
    }
    waitpid(pid, &st, 0);
    CHECK(st == 0);
    w.wr.rdma.remote_addr = (uintptr_t)buf + 512;
    w.wr.rdma.rkey = mr->rkey;
    buf[0] = 'F';
    CHECK(!ibv_post_send(p.a, &w, &bad));
    CHECK(wait_wc(p.cq, wc, 1) == 1 && !wc[0].status && buf[512] == 'F');
    done_pair(&p);
}

void test_big_ring(void)
{ /* wraps the ring of posts many times: 30000 posts of 32 inline bytes */
    struct pair p;
    struct ibv_wc wc[16];
    struct ibv_send_wr *bad;
    struct ibv_sge s = {(uintptr_t)buf, 29, mr->lkey};
    struct ibv_send_wr w = {.sg_list = &s,
                            .num_sge = 1,
                            .opcode = IBV_WR_RDMA_WRITE,
                            .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
                            .wr.rdma = {(uintptr_t)buf + 512, mr->rkey}};
    int bad_n = 0, left = 0;
    connect_pair(&p, IBV_QPT_RC, NULL);
    for (int i = 0; i < 30000; i++) {
        w.wr_id = (uint64_t)i;
        memcpy(buf, &i, 4);
        if (ibv_post_send(p.a, &w, &bad))
            bad_n++;
        left++;
        if (left == 4) {
            if (wait_wc(p.cq, wc, 4) != 4) {
                bad_n++;
                break;
            }
            for (int k = 0; k < 4; k++)
                if (wc[k].status || wc[k].wr_id != (uint64_t)(i - 3 + k))
                    bad_n++;
            int v;
            memcpy(&v, buf + 512, 4);
            if (v != i)
                bad_n++;
            left = 0;
        }
    }
    CHECK(bad_n == 0);
    done_pair(&p);
}

void test_race(void)
{
    struct pair p;
    struct ibv_wc wc[8];
    int lost = 0;
    connect_pair(&p, IBV_QPT_RC, NULL);
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 4; i++)
            CHECK(!recv1(p.b, 1, 4096, 64));
        CHECK(!to_state(p.b, IBV_QPS_ERR));
        if (wait_wc(p.cq, wc, 4) != 4)
            lost++;
        CHECK(!to_state(p.b, IBV_QPS_RESET) && !to_init(p.b));
    }
    CHECK(lost == 0);
    done_pair(&p);
}
static void *blocked_async(void *a)
{
    struct ibv_async_event e;
    (void)a;
    CHECK(!ibv_get_async_event(ctx, &e) && e.event_type == IBV_EVENT_DEVICE_FATAL);
    ibv_ack_async_event(&e);
    CHECK(ibv_get_async_event(ctx, &e) == -1 && errno == EIO);
    return NULL;
}
static void *blocked_cq(void *a)
{
    struct pair *p = a;
    struct ibv_cq *cq;
    void *cx;
    CHECK(ibv_get_cq_event(p->ch, &cq, &cx) == -1 && errno == EIO);
    return NULL;
}
void test_death(void)
{
    struct pair p;
    struct ibv_wc wc[8];
    pthread_t t[2];
    struct ibv_send_wr *bad;
    int r;
    long n = 0;
    struct ibv_sge s = {(uintptr_t)buf, 8, mr->lkey};
    struct ibv_send_wr w = {.sg_list = &s,
                            .num_sge = 1,
                            .opcode = IBV_WR_RDMA_WRITE,
                            .send_flags = IBV_SEND_SIGNALED,
                            .wr.rdma = {(uintptr_t)buf + 512, mr->rkey}};
    connect_pair(&p, IBV_QPT_RC, NULL);
    pthread_create(&t[0], 0, blocked_async, 0);
    pthread_create(&t[1], 0, blocked_cq, &p);
    kill(getppid(), SIGKILL);
    while ((r = ibv_post_send(p.a, &w, &bad)) == 0 && wait_wc(p.cq, wc, 1) == 1)
        n++;
    printf("posted %ld, then %d\n", n, r);
    while (ibv_poll_cq(p.cq, 1, wc) > 0)
        ;
    CHECK(ibv_poll_cq(p.cq, 1, wc) == -1 && errno == EIO);
    CHECK(ibv_post_send(p.a, &w, &bad) == EIO);
    CHECK(!ibv_alloc_pd(ctx) && errno == EIO);
    CHECK(ibv_destroy_qp(p.a) == EIO);
    CHECK(ibv_req_notify_cq(p.cq, 0) == EIO);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    CHECK(!ibv_close_device(ctx));
    CHECK(ibv_post_send(p.a, &w, &bad) == EIO);
    CHECK(ibv_dereg_mr(mr) == EIO);
    printf("%d passed, %d failed\n", n_passed, n_failed);
    exit(n_failed != 0);
}
static void *churn(void *a)
{
    long bad_n = 0;
    (void)a;
    for (int i = 0; i < 100; i++) {
        struct ibv_pd *d = ibv_alloc_pd(ctx);
        struct ibv_mr *m = d ? ibv_reg_mr(d, buf, 4096, IBV_ACCESS_LOCAL_WRITE) : NULL;
        if (!m || ibv_dereg_mr(m) || ibv_dealloc_pd(d))
            bad_n++;
    }
    return (void *)bad_n;
}
static void *traffic(void *a)
{
    struct pair *p = a;
    long bad_n = 0;
    struct ibv_wc wc[2];
    struct ibv_send_wr *bad;
    struct ibv_sge s = {(uintptr_t)buf, 8, mr->lkey};
    struct ibv_send_wr w = {.sg_list = &s,
                            .num_sge = 1,
                            .opcode = IBV_WR_RDMA_WRITE,
                            .send_flags = IBV_SEND_SIGNALED,
                            .wr.rdma = {(uintptr_t)buf + 512, mr->rkey}};
    for (int i = 0; i < 2000; i++)
        if (ibv_post_send(p->a, &w, &bad) || wait_wc(p->cq, wc, 1) != 1 || wc[0].status)
            bad_n++;
    return (void *)bad_n;
}
void test_threads(void)
{
    struct pair p, q;
    pthread_t t[4];
    void *r;
    connect_pair(&p, IBV_QPT_RC, NULL);
    connect_pair(&q, IBV_QPT_RC, NULL);
    pthread_create(&t[0], 0, churn, 0);
    pthread_create(&t[1], 0, churn, 0);
    pthread_create(&t[2], 0, traffic, &p);
    pthread_create(&t[3], 0, traffic, &q);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], &r);
        CHECK(r == NULL);
    }
    done_pair(&p);
    done_pair(&q);
}
