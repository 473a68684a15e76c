/* SPDX-License-Identifier: MIT */
/* A program that makes one mistake of beginners, whose name is its argument, and fails or hangs.
 * tests/tools/check_exec.py compares what the lab says about it.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char memory[64];

static void *create_qp(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_qp_cap cap)
{
    struct ibv_qp_init_attr init = {
        .send_cq = cq, .recv_cq = cq, .cap = cap, .qp_type = IBV_QPT_RC};

    return ibv_create_qp(pd, &init);
}

/* More receives are flushed than @cq has room for.  It polls for ever, as it would on Linux. */
static void overflow(struct ibv_pd *pd, struct ibv_cq *cq)
{
    const struct ibv_qp_cap deep = {4, 64, 1, 1, 0};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    struct ibv_recv_wr wr = {.wr_id = 0}, *bad;
    struct ibv_qp *qp = create_qp(pd, cq, deep);
    struct ibv_wc wc;

    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
        return;
    for (int i = 0; i < 64; i++) {
        if (ibv_post_recv(qp, &wr, &bad) != 0)
            return;
    }
    attr.qp_state = IBV_QPS_ERR;
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE) != 0)
        return;
    for (int got = 0; got < 64;)
        got += ibv_poll_cq(cq, 1, &wc) == 1;
}

/* Returns the attributes for the step to @state of a queue pair, which connect it to @peer. */
static struct ibv_qp_attr attr_to(enum ibv_qp_state state, const struct ibv_qp *peer,
                                  union ibv_gid gid)
{
    struct ibv_qp_attr attr = {.qp_state = state,
                               .port_num = 1,
                               .path_mtu = IBV_MTU_1024,
                               .dest_qp_num = peer->qp_num,
                               .max_dest_rd_atomic = 1,
                               .min_rnr_timer = 12,
                               .timeout = 14,
                               .retry_cnt = 7,
                               .rnr_retry = 7,
                               .max_rd_atomic = 1};

    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.dgid = gid;
    attr.ah_attr.grh.hop_limit = 1;
    return attr;
}

static int connect_to(struct ibv_qp *qp, const struct ibv_qp *peer, union ibv_gid gid)
{
    static const int masks[] = {
        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
            IBV_QP_MAX_QP_RD_ATOMIC,
    };

    for (int i = 0; i < 3; i++) {
        struct ibv_qp_attr attr = attr_to((enum ibv_qp_state)(IBV_QPS_INIT + i), peer, gid);

        if (ibv_modify_qp(qp, &attr, masks[i]) != 0)
            return -1;
    }
    return 0;
}

/* Writes to a queue pair whose qp_access_flags are forgotten.  If @waits, it then waits for a
 * completion that never comes; otherwise it destroys both queue pairs.
 */
static void forget_access(struct ibv_pd *pd, struct ibv_cq *cq, int waits)
{
    const struct ibv_qp_cap small = {4, 4, 1, 1, 0};
    struct ibv_mr *mr =
        ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_qp *qp = create_qp(pd, cq, small), *peer = create_qp(pd, cq, small);
    struct ibv_sge sge = {(uintptr_t)memory, 8, mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 77,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {(uintptr_t)memory + 32, mr->rkey}};
    struct ibv_send_wr *bad;
    union ibv_gid gid;
    struct ibv_wc wc;

    if (ibv_query_gid(pd->context, 1, 0, &gid) != 0 || connect_to(qp, peer, gid) != 0 ||
        connect_to(peer, qp, gid) != 0 || ibv_post_send(qp, &wr, &bad) != 0)
        return;
    for (int got = 0; got < 1 + waits;)
        got += ibv_poll_cq(cq, 1, &wc) == 1;
    ibv_destroy_qp(qp);
    ibv_destroy_qp(peer);
}

int main(int argc, char **argv)
{
    const struct ibv_qp_cap small = {4, 4, 1, 1, 0}, large = {1000000, 4, 1, 1, 0};
    const char *mistake = argc > 1 ? argv[1] : "";
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = ibv_open_device(list[0]);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .port_num = 1};
    struct ibv_srq_init_attr srq = {.attr = {.max_wr = 16, .max_sge = 1000}};
    void *made = NULL;

    if (strcmp(mistake, "access") == 0)
        made = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_REMOTE_WRITE);
    else if (strcmp(mistake, "long") == 0)
        made = create_qp(pd, cq, large);
    else if (strcmp(mistake, "srq") == 0)
        made = ibv_create_srq(pd, &srq);
    else if (strcmp(mistake, "state") == 0)
        made = ibv_modify_qp(create_qp(pd, cq, small), &attr, IBV_QP_STATE) ? NULL : memory;
    else if (strcmp(mistake, "overflow") == 0)
        overflow(pd, cq);
    else if (strcmp(mistake, "forget") == 0 || strcmp(mistake, "wait") == 0)
        forget_access(pd, cq, strcmp(mistake, "wait") == 0);
    return made ? 0 : 3;
}
