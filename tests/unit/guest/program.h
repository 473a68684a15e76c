/* SPDX-License-Identifier: MIT */
/* Programs of a guest, for tests of its verbs and of a driver below them: create objects, move a
 * queue pair to RTS, post.
 */
#ifndef TESTS_UNIT_GUEST_PROGRAM_H
#define TESTS_UNIT_GUEST_PROGRAM_H

#include "testing.h"

#include <string.h>

#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/guest/verbs/verbs.h"

static const uint8_t peer_gid[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 2};

static inline struct guest_pd *new_pd(struct verbs *v)
{
    uint64_t h = 0;

    assert_int_equal(verbs_alloc_pd(v, NULL, &h), RDL_OK);
    return (struct guest_pd *)verbs_get(v, OBJ_PD, h);
}

static inline struct guest_cq *new_cq(struct verbs *v, uint32_t cqe)
{
    uint64_t h = 0;

    assert_int_equal(verbs_create_cq(v, cqe, NULL, &h), RDL_OK);
    return (struct guest_cq *)verbs_get(v, OBJ_CQ, h);
}

/* Creates a queue pair of @pd and @cq; @max_wr 0 is the default. */
static inline struct guest_qp *new_qp(struct guest_pd *pd, struct guest_cq *cq, uint32_t max_wr)
{
    const struct rdl_qp_config config = {
        .type = QPT_RC,
        .max_send_wr = max_wr,
        .max_recv_wr = max_wr,
        .max_inline_data = 100,
    };
    const struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq};
    uint64_t h = 0;

    assert_int_equal(verbs_create_qp(pd->o.verbs, &config, &parts, NULL, &h), RDL_OK);
    return (struct guest_qp *)verbs_get(pd->o.verbs, OBJ_QP, h);
}

enum {
    TO_INIT = QPA_STATE | QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS,
    TO_RTR = QPA_STATE | QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN |
             QPA_MAX_DEST_RD_ATOMIC | QPA_MIN_RNR_TIMER,
    TO_RTS =
        QPA_STATE | QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_SQ_PSN | QPA_MAX_QP_RD_ATOMIC
};

/* The attributes for a move to @state on the way to RTS, connected to the neighbour. */
static inline struct rdl_qp_attr attributes(uint32_t state)
{
    struct rdl_qp_attr a = {
        .state = state,
        .path_mtu = MTU_1024,
        .port = 1,
        .dest_qpn = 3,
        .rq_psn = 7,
        .sq_psn = 100,
        .min_rnr_timer = 12,
        .timeout = 4,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .ah.hop_limit = 64,
    };

    memcpy(a.ah.dgid, peer_gid, GID_BYTES);
    return a;
}

static inline enum rdl_status move(struct guest_qp *qp, uint32_t to, uint32_t mask)
{
    const struct rdl_qp_attr a = attributes(to);
    struct rdl_modify_error e;

    return verbs_modify_qp(qp, &a, mask, false, &e);
}

static inline void move_to_rts(struct guest_qp *qp)
{
    assert_int_equal(move(qp, QPS_INIT, TO_INIT), RDL_OK);
    assert_int_equal(move(qp, QPS_RTR, TO_RTR), RDL_OK);
    assert_int_equal(move(qp, QPS_RTS, TO_RTS), RDL_OK);
    assert_int_equal(qp->attr.state, QPS_RTS);
}

static const struct rdl_sge sge[] = {{0x7f0000000000u, 60, 0x101}, {0x7f0000001000u, 4, 0x101}};
static const struct rdl_send_wr send_wr = {
    .wr_id = 0x1122334455667788u, .opcode = WR_SEND, .flags = SF_SIGNALED, .sge = sge, .n_sge = 2};
static const struct rdl_recv_wr recv_wr = {.wr_id = 7, .sge = sge, .n_sge = 1};

#endif
