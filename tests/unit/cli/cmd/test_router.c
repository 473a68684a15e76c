/* SPDX-License-Identifier: MIT */
/* A router in the data path where something else happens meanwhile: moves, resets, no bus
 * mastering, queue pairs that end.  Each row is a script whose expectations hold.
 */
#include "cli/lab_session.h"

#define GUESTS(settings)                                                                           \
    "machine m1 m2 vfs=2; link m1 m2 latency=1us rate=100g\n"                                      \
    "guest g1 on m1 router " settings "\nguest p on m2\n"                                          \
    "on g1,p { alloc_pd as pd; reg_mr pd len=4k access=lw,rw as mr; create_cq cqe=32 as cq\n"      \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect g1.qp p.qp\n"

#define WRITE "post_send g1.qp op=rdma_write sge=mr[0:64] remote=p.mr[0] signaled\n"

static const struct {
    const char *name, *script;
} rows[] = {
    {"a turn takes 500 ns behind the doorbell",
     GUESTS("") WRITE "run for=599ns\nexpect count(tx, host==g1) == 0\n"
                      "run for=1ns\nexpect count(tx, host==g1) == 1\n"},
    {"a turn of an empty ring takes no time",
     GUESTS("") WRITE "run\nexpect g1.router.busy_ns == 1000\n"},
    {"completions keep the order of requests, signaled or not",
     GUESTS("") "repeat 3 { post_send g1.qp op=rdma_write sge=mr[0:64] remote=p.mr[0] }\n" WRITE
                "run\nexpect g1.cq.count == 1 and g1.router.sends == 4 "
                "and g1.router.completions == 1 and g1.router.busy_ns == 2500\n"},
    {"without bus mastering a completion waits",
     GUESTS("") WRITE "until count(router_completion) == 1\n"
                      "reg_write g1 COMMAND 0x0002\nrun\n"
                      "expect g1.cq.count == 0 and g1.router.waiting == 1\n"
                      "reg_write g1 COMMAND 0x0006\nrun\n"
                      "expect g1.cq.count == 1 and g1.router.waiting == 0\n"},
    {"without bus mastering a request waits",
     GUESTS("") WRITE "run for=200ns\nreg_write g1 COMMAND 0x0002\nrun\n"
                      "expect count(tx, host==g1) == 0\n"
                      "reg_write g1 COMMAND 0x0006\nrun\n"
                      "expect g1.cq.count == 1 and g1.router.waiting == 0\n"},
    {"a reset of the device ends everything on the way",
     GUESTS("") WRITE WRITE "until count(router_completion) == 1\nreg_write g1 DEVICE_STATUS 0\n"
                            "expect g1.router.waiting == 0\nrun\n"
                            "expect count(cqe, host==g1) == 0\n"},
    {"a queue pair that is destroyed leaves nothing to the next one with its number",
     GUESTS("device=pvrdma") WRITE "run for=200ns\ndestroy_qp g1.qp\nrun\n"
                                   "expect g1.router.waiting == 0 and count(cqe) == 0\n"
                                   "create_qp g1.pd send_cq=g1.cq recv_cq=g1.cq as qp\n"
                                   "modify_qp p.qp state=RESET; connect g1.qp p.qp\n" WRITE
                                   "run for=599ns\nexpect count(tx, host==g1) == 0\nrun\n"
                                   "expect count(cqe, host==g1, status==SUCCESS) == 1\n"},
    {"the turn of a request runs while the adapter sends the one before",
     GUESTS("") "repeat 2 { post_send g1.qp op=rdma_write sge=mr[0:4k] remote=p.mr[0] }\n"
                "run for=1200ns\nexpect count(tx, host==g1) > 4\n"},
    {"completions of a move to ERR come before its answer",
     GUESTS("") WRITE "run for=700ns\nmodify_qp g1.qp state=ERR\n"
                      "expect g1.cq.count == 1 and g1.router.waiting == 0\n"},
    {"a queue that is reset gets nothing later",
     GUESTS("") WRITE "run for=700ns\nreg_write g1 QUEUE_SELECT 23; reg_write g1 QUEUE_RESET 1\n"
                      "expect g1.qp.state == ERR and g1.router.waiting == 0\n"
                      "expect count(cqe, host==g1, status==WR_FLUSH_ERR) == 1\n"},
    {"what has passed for a queue pair is not for the next one with its number",
     GUESTS("device=pvrdma max_qp=2") "modify_qp g1.qp state=SQD\n" WRITE "run\ndestroy_qp g1.qp\n"
                                      "create_qp g1.pd send_cq=g1.cq recv_cq=g1.cq as qp\n"
                                      "expect g1.qp.qpn == 2\n"
                                      "modify_qp p.qp state=RESET; connect g1.qp p.qp\n" WRITE
                                      "run for=599ns\nexpect count(tx, host==g1) == 0\n"
                                      "run\nexpect count(tx, host==g1) == 1\n"},
    {"the end of a drain comes behind the completions before it",
     GUESTS("") WRITE "run for=700ns\nmodify_qp g1.qp state=SQD en_sqd_async_notify\n"
                      "until count(async_event, event==SQ_DRAINED) == 1\n"
                      "expect count(cqe, host==g1) == 1\n"},
    {"a send that is posted in SQD passes when the queue pair is in RTS again",
     GUESTS("") "modify_qp g1.qp state=SQD\n" WRITE "run\nexpect count(tx, host==g1) == 0\n"
                "modify_qp g1.qp state=RTS\nrun\nexpect g1.cq.count == 1\n"},
    {"a request of a queue pair in ERR is flushed",
     GUESTS("") "modify_qp g1.qp state=ERR\n" WRITE
                "run\nexpect g1.cq.wc[0].status == WR_FLUSH_ERR and g1.router.busy_ns == 500\n"},
    {"shared receives pass when a message needs them",
     GUESTS("") "create_srq g1.pd as srq; create_qp g1.pd send_cq=g1.cq recv_cq=g1.cq srq=srq as "
                "qp2\ncreate_qp p.pd send_cq=p.cq recv_cq=p.cq as qp2\nconnect g1.qp2 p.qp2\n"
                "post_srq_recv g1.srq sge=mr[0:64]\npost_srq_recv g1.srq sge=mr[64:128]\n"
                "post_send p.qp2 op=send sge=mr[0:64] signaled\nrun\n"
                "expect g1.router.receives == 1 and g1.cq.wc[0].opcode == RECV\n"},
    {"inline data are copied with the request",
     GUESTS("") "create_qp g1.pd send_cq=g1.cq recv_cq=g1.cq max_inline_data=64 as qp2\n"
                "create_qp p.pd send_cq=p.cq recv_cq=p.cq as qp2\nconnect g1.qp2 p.qp2\n"
                "post_send g1.qp2 op=rdma_write sge=mr[0:40] remote=p.mr[0] inline\nrun\n"
                "expect g1.router.bytes == 336\n"},
};

static void every_expectation_holds(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;

        lab_open(&l, false);
        if (!lab_try(&l, rows[i].script))
            fail_msg("%s: %s\n%s", rows[i].name, l.s->diag.message, l.s->diag.remedy);
        lab_close(&l);
    }
}

/* Questions while a request is on its way, and behind it. */
static void questions_know_the_router(void **state)
{
    static const struct {
        const char *script, *says, *never; /* never: what the answer must not have */
    } questions[] = {
        {GUESTS("") WRITE "run for=300ns\nwhy not g1.cq.wc[0]\n",
         "It has to pass a router before: "
         "show g1.router.",
         NULL},
        {GUESTS("") WRITE "until count(router_completion) == 1\nwhy not g1.cq.wc[0]\n",
         "its completion passes the router of m1 since", NULL},
        {GUESTS("") WRITE "run\nwhy g1.cq.wc[0]\n", "router_post: g1.qp's RDMA_WRITE wr_id=0",
         NULL},
        {GUESTS("") WRITE "run\nwhy g1.cq.wc[0]\n", "router_completion: g1.cq wr_id=0 SUCCESS",
         NULL},
        {GUESTS("") WRITE "run\nshow life g1.qp\n", "g1.qp RC_ACKNOWLEDGE psn=0 ACK msn=1", NULL},
        {GUESTS("") WRITE WRITE "run\nshow life g1.cq.wc[0]\n", "first packet", "last packet"},
        {GUESTS("") WRITE "run for=300ns\nshow due\n", "g1: the router passes a message on", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, questions[i].script);
        fflush(l.f);
        if (!strstr(l.out, questions[i].says))
            fail_msg("no \"%s\" in\n%s", questions[i].says, l.out);
        if (questions[i].never && strstr(l.out, questions[i].never))
            fail_msg("\"%s\" in\n%s", questions[i].never, l.out);
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_expectation_holds),
        cmocka_unit_test(questions_know_the_router),
    };

    return cmocka_run_group_tests_name("router", tests, NULL, NULL);
}
