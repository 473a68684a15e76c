/* SPDX-License-Identifier: MIT */
/* A program that makes one mistake of beginners, whose name is its argument, and fails or hangs.
 * tests/tools/check_exec.py compares what the lab says about it.
 */
#include <infiniband/verbs.h>
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
    return made ? 0 : 3;
}
