/* SPDX-License-Identifier: MIT */
/* A program that makes objects of each kind, moves queue pairs to ERR, posts a send that fails, and
 * waits to be ended. tests/tools/check_exec.py builds it in several ways, and compares the lines
 * that are marked with "made:" and a name with what the lab says of these objects.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define QPS 3

static char memory[4096];

static void *need(void *made)
{
    if (!made) {
        perror("makers");
        exit(1);
    }
    return made;
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
    struct ibv_qp_init_attr init = {
        .send_cq = cq, .recv_cq = cq, .cap = {1, 1, 1, 1, 0}, .qp_type = IBV_QPT_RC};
    struct ibv_qp *qp = ibv_create_qp(pd, &init); /* made: qp */

    return need(qp);
}

static struct ibv_qp *make_extended_qp(struct ibv_context *context, struct ibv_pd *pd,
                                       struct ibv_cq *cq)
{
    struct ibv_qp_init_attr_ex init = {.send_cq = cq,
                                       .recv_cq = cq,
                                       .cap = {1, 1, 1, 1, 0},
                                       .qp_type = IBV_QPT_RC,
                                       .comp_mask =
                                           IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
                                       .pd = pd};
    struct ibv_qp *qp = ibv_create_qp_ex(context, &init); /* made: qp_ex */

    return need(qp);
}

static void make_all(struct ibv_context *context, unsigned access)
{
    struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
    struct ibv_qp *qps[QPS];
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    struct ibv_srq_init_attr srq = {.attr = {1, 1, 0}};
    struct ibv_ah_attr ah = {.is_global = 1, .port_num = 1};
    struct ibv_pd *pd = need(ibv_alloc_pd(context));                     /* made: pd */
    struct ibv_cq *cq = need(ibv_create_cq(context, 16, NULL, NULL, 0)); /* made: cq */

    need(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE)); /* made: mr */
    need(ibv_reg_mr(pd, memory, sizeof(memory), access));                 /* made: mr2 */
    need(ibv_alloc_mw(pd, IBV_MW_TYPE_1));                                /* made: mw */
    need(ibv_create_comp_channel(context));                               /* made: channel */
    need(ibv_create_srq(pd, &srq));                                       /* made: srq */
    for (int i = 0; i < QPS; i++)
        qps[i] = make_qp(pd, cq);
    make_extended_qp(context, pd, cq);
    ibv_query_gid(context, 1, 0, &ah.grh.dgid);
    need(ibv_create_ah(pd, &ah)); /* made: ah */
    for (int i = 0; i < QPS; i++) {
        if (ibv_modify_qp(qps[i], &error, IBV_QP_STATE) != 0)
            exit(1);
    }
    if (ibv_post_send(qps[QPS - 1], &send, &bad) != 0) /* tells the check that all objects exist */
        exit(1);
}

/* usage: makers [child]: with "child", a child makes them. */
int main(int argc, char **argv)
{
    struct ibv_device **list;

    (void)argv;
    if (argc > 1 && fork() != 0) {
        wait(NULL);
        return 0;
    }
    list = ibv_get_device_list(NULL);
    make_all(need(ibv_open_device(need(list ? list[0] : NULL))),
             argc > 5 ? 0u : (unsigned)IBV_ACCESS_LOCAL_WRITE);
    for (;;)
        pause();
}
