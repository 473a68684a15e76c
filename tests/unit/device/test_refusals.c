/* SPDX-License-Identifier: MIT */
/* Every reason to refuse a control request.  A refused request changes nothing: no object, no
 * table, and no memory of the device.
 */
#include "stage.h"

#include <string.h>

#include "emu/facts/refusal.h"
#include "emu/hca/key.h"
#include "emu/hca/mw.h"
#include "emu/rnic/cm_mux.h"
#include "emu/rnic/eswitch.h"
#include "emu/xport/xport_qp.h"

static bool seen[256]; /* by reason: a test has met it */

static void was_refused(const struct machine *m, uint64_t before, int rsp, enum refusal_reason why,
                        int line)
{
    const struct ev *e = &m->last[EV_ctrl_execute];

    if ((enum refusal_reason)e->u.ctrl_execute.refusal != why)
        fail_msg("line %d: %s and not %s", line,
                 enum_name(&enum_refusal, e->u.ctrl_execute.refusal),
                 enum_name(&enum_refusal, (uint32_t)why));
    assert_int_equal(rsp, refusal_rsp(why));
    assert_int_equal(m->rsp_bytes, 1);
    if (stage_digest(m) != before)
        fail_msg("line %d: refused, and something is different", line);
    seen[why] = true;
}

#define REFUSED(why, cmd, name, ...)                                                               \
    do {                                                                                           \
        const uint64_t before_ = stage_digest(m);                                                  \
        const int rsp_ = ASK(m, CMD_##cmd, name, __VA_ARGS__);                                     \
                                                                                                   \
        was_refused(m, before_, rsp_, REF_##why, __LINE__);                                        \
    } while (0)

#define REFUSED_RAW(why, cmd, data, n, room)                                                       \
    do {                                                                                           \
        const uint64_t before_ = stage_digest(m);                                                  \
        const int rsp_ = machine_ask(m, cmd, data, n, room);                                       \
                                                                                                   \
        was_refused(m, before_, rsp_, REF_##why, __LINE__);                                        \
    } while (0)

static void requests_without_a_form(void **state)
{
    struct machine *m = *state;
    const struct seg only[] = {{RESPONSE_AT, 5}};
    const uint64_t before = stage_digest(m);
    uint32_t head, len;

    ring_post(m, &m->ctrl, only, 0, 1);
    ring_kick(&m->ctrl);
    machine_run(m);
    assert_true(ring_used(m, &m->ctrl, &head, &len));
    machine_peek(m, RESPONSE_AT, m->rsp, 1);
    m->rsp_bytes = len;
    was_refused(m, before, m->rsp[0], REF_REQUEST_EMPTY, __LINE__);
    REFUSED_RAW(COMMAND_UNKNOWN, 0, NULL, 0, ROOM);
    REFUSED_RAW(COMMAND_UNKNOWN, 19, NULL, 0, ROOM);
    REFUSED_RAW(COMMAND_UNKNOWN, 0xff, NULL, 0, ROOM);
    REFUSED_RAW(REQUEST_BYTES, CMD_CREATE_CQ, "\1\0\0", 3, ROOM);
    REFUSED_RAW(RESPONSE_BYTES, CMD_CREATE_PD, NULL, 0, 4);
    REFUSED(PORT_NUMBER, QUERY_PORT, query_port, .port = 2);
    REFUSED(PORT_NUMBER, QUERY_PKEY, query_pkey, .port = 0);
}

static void domains_and_completion_queues(void **state)
{
    struct machine *m = *state;

    REFUSED(PD_HANDLE, DESTROY_PD, pd_handle, .pdn = 0);
    REFUSED(PD_HANDLE, DESTROY_PD, pd_handle, .pdn = 2);
    REFUSED(PD_IN_USE, DESTROY_PD, pd_handle, .pdn = 1);
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    REFUSED_RAW(PD_LIMIT, CMD_CREATE_PD, NULL, 0, ROOM);

    REFUSED(CQ_ENTRIES, CREATE_CQ, create_cq, .cqe = 0);
    REFUSED(CQ_ENTRIES, CREATE_CQ, create_cq, .cqe = stage_limits.max_cqe + 1);
    OK(CREATE_CQ, create_cq, .cqe = stage_limits.max_cqe);
    OK(CREATE_CQ, create_cq, .cqe = 1);
    REFUSED(CQ_LIMIT, CREATE_CQ, create_cq, .cqe = 1);
    REFUSED(CQ_HANDLE, DESTROY_CQ, cq_handle, .cqn = 0);
    REFUSED(CQ_HANDLE, DESTROY_CQ, cq_handle, .cqn = 4);
    REFUSED(CQ_IN_USE, DESTROY_CQ, cq_handle, .cqn = 1);
    REFUSED(CQ_ENTRIES, RESIZE_CQ, resize_cq, .cqn = 2, .cqe = 33);
    REFUSED(CQ_HANDLE, RESIZE_CQ, resize_cq, .cqn = 4, .cqe = 8);
    hca_cq(&m->rdma.nic.hca, 2)->error = true;
    REFUSED(CQ_OVERFLOWED, RESIZE_CQ, resize_cq, .cqn = 2, .cqe = 8);
    REFUSED(CQ_HANDLE, REQ_NOTIFY_CQ, req_notify, .cqn = 4, .flags = 1);
    REFUSED(NOTIFY_FLAGS, REQ_NOTIFY_CQ, req_notify, .cqn = 1, .flags = 3);
    REFUSED(CQ_CEQ, CREATE_CQ_EX, create_cq_ex, .cqe = 1, .ceq = MACHINE_CEQS);
    REFUSED(CQ_ARM_MEMORY, CREATE_CQ_EX, create_cq_ex, .cqe = 1, .arm = MACHINE_RAM_BYTES);
    REFUSED(CQ_ARM_MEMORY, CREATE_CQ_EX, create_cq_ex, .cqe = 1, .arm = PAGE_AT + 4);
    OK(DESTROY_CQ, cq_handle, .cqn = 3);
    OK(CREATE_CQ_EX, create_cq_ex, .cqe = 1, .arm = PAGE_AT);
    REFUSED(CQ_ARMED_IN_MEMORY, REQ_NOTIFY_CQ, req_notify, .cqn = 3, .flags = 1);
}

/* A region of 4096 bytes at 0x1000, with what is wrong about it. */
#define REG(why, ...)                                                                              \
    REFUSED(why, REG_USER_MR, reg_user_mr, .pdn = 1, .start = 0x1000, .virt_addr = 0x1000,         \
            .pages = PAGES_AT, __VA_ARGS__)

static void user_regions(void **state)
{
    struct machine *m = *state;

    REFUSED(PD_HANDLE, REG_USER_MR, reg_user_mr, .pdn = 2, .length = 1, .pages = PAGES_AT,
            .npages = 1);
    REG(MR_ACCESS_FLAGS, .length = 1, .npages = 1, .access_flags = 1u << 30);
    REG(MR_LOCAL_WRITE, .length = 1, .npages = 1, .access_flags = ACC_REMOTE_WRITE);
    REG(MR_LENGTH, .length = 0, .npages = 1);
    REG(MR_LENGTH, .length = stage_limits.max_mr_size + 1, .npages = 3);
    REFUSED(MR_ADDRESS_WRAPS, REG_USER_MR, reg_user_mr, .pdn = 1, .start = UINT64_MAX,
            .virt_addr = UINT64_MAX, .length = 2, .pages = PAGES_AT, .npages = 2);
    REFUSED(MR_PAGE_OFFSET, REG_USER_MR, reg_user_mr, .pdn = 1, .start = 1, .virt_addr = 2,
            .length = 2, .pages = PAGES_AT, .npages = 1);
    REG(MR_PAGE_OFFSET, .length = 1, .npages = 1, .access_flags = ACC_ZERO_BASED);
    REG(MR_PAGE_COUNT, .length = 4096, .npages = 2);
    REG(PAGE_LIST_LENGTH, .length = 4096, .npages = 0);
    REG(PAGE_LIST_LENGTH, .length = 4096, .npages = 4); /* 8192 bytes are in 3 pages at most */
    REFUSED(PAGE_LIST_MEMORY, REG_USER_MR, reg_user_mr, .pdn = 1, .length = 1,
            .pages = MACHINE_RAM_BYTES, .npages = 1);
    stage_put_pages(m, PAGE_AT + 8, 1);
    REG(PAGE_MEMORY, .length = 4096, .npages = 1);
    stage_put_pages(m, MACHINE_RAM_BYTES, 1);
    REG(PAGE_MEMORY, .length = 4096, .npages = 1);
    stage_put_pages(m, PAGE_AT, 1);
    OK(REG_USER_MR, reg_user_mr, .pdn = 1, .length = 4096, .pages = PAGES_AT, .npages = 1);
    REG(MR_LIMIT, .length = 4096, .npages = 1);
    REFUSED(MR_LIMIT, GET_DMA_MR, get_dma_mr, .pdn = 1);
    REFUSED(PD_HANDLE, GET_DMA_MR, get_dma_mr, .pdn = 2);
    REFUSED(MR_ACCESS_FLAGS, GET_DMA_MR, get_dma_mr, .pdn = 1, .access_flags = 1u << 31);
    REFUSED(MR_HANDLE, DEREG_MR, mr_handle, .mrn = 0);
    REFUSED(MR_HANDLE, DEREG_MR, mr_handle, .mrn = MWN);
}

static void fast_regions_and_windows(void **state)
{
    struct machine *m = *state;
    struct mkey *mr = key_at(&m->rdma.nic.hca, USER_MRN);

    REFUSED(PD_HANDLE, CREATE_MR, create_mr, .pdn = 2, .max_num_sg = 1);
    REFUSED(MR_LOCAL_WRITE, CREATE_MR, create_mr, .pdn = 1, .access_flags = ACC_REMOTE_ATOMIC);
    REFUSED(FAST_PAGES, CREATE_MR, create_mr, .pdn = 1, .max_num_sg = 0);
    REFUSED(FAST_PAGES, CREATE_MR, create_mr, .pdn = 1, .max_num_sg = 5);
    REFUSED(MR_HANDLE, MAP_MR_SG, map_mr_sg, .mrn = 9, .npages = 1, .length = 1, .pages = PAGES_AT);
    REFUSED(MR_KIND, MAP_MR_SG, map_mr_sg, .mrn = USER_MRN, .npages = 1, .length = 1,
            .pages = PAGES_AT);
    REFUSED(MR_ROOM, MAP_MR_SG, map_mr_sg, .mrn = FAST_MRN, .npages = 3, .length = 8192,
            .pages = PAGES_AT);
    REFUSED(MR_LENGTH, MAP_MR_SG, map_mr_sg, .mrn = FAST_MRN, .npages = 1, .pages = PAGES_AT);
    REFUSED(MR_PAGE_COUNT, MAP_MR_SG, map_mr_sg, .mrn = FAST_MRN, .npages = 1, .length = 4097,
            .pages = PAGES_AT);
    REFUSED(MR_KIND, REREG_MR, rereg_mr, .mrn = FAST_MRN, .flags = 2, .pdn = 1);
    REFUSED(REREG_FLAGS, REREG_MR, rereg_mr, .mrn = USER_MRN, .flags = 0);
    REFUSED(REREG_FLAGS, REREG_MR, rereg_mr, .mrn = USER_MRN, .flags = 10, .pdn = 1);
    REFUSED(PD_HANDLE, REREG_MR, rereg_mr, .mrn = USER_MRN, .flags = 2, .pdn = 2);
    REFUSED(MR_ACCESS_FLAGS, REREG_MR, rereg_mr, .mrn = USER_MRN, .flags = 4,
            .access_flags = 1u << 9);
    REFUSED(MR_HANDLE, REREG_MR, rereg_mr, .mrn = 9, .flags = 4);
    mr->n_windows = 1; /* as if one were bound */
    REFUSED(MR_IN_USE, DEREG_MR, mr_handle, .mrn = USER_MRN);
    REFUSED(MR_IN_USE, REREG_MR, rereg_mr, .mrn = USER_MRN, .flags = 4);
    mr->n_windows = 0;

    REFUSED(PD_HANDLE, ALLOC_MW, alloc_mw, .pdn = 2, .type = MW_TYPE_1);
    REFUSED(MW_TYPE, ALLOC_MW, alloc_mw, .pdn = 1, .type = 0);
    REFUSED(MW_TYPE, ALLOC_MW, alloc_mw, .pdn = 1, .type = 3);
    OK(ALLOC_MW, alloc_mw, .pdn = 1, .type = MW_TYPE_2);
    REFUSED(MW_LIMIT, ALLOC_MW, alloc_mw, .pdn = 1, .type = MW_TYPE_2);
    REFUSED(MW_HANDLE, DEALLOC_MW, mw_handle, .mwn = 9);
    REFUSED(MW_HANDLE, DEALLOC_MW, mw_handle, .mwn = USER_MRN);
    m->rdma.nic.hca.limits.max_fast_pages = 0;
    REFUSED(MEM_MGT_EXTENSIONS, CREATE_MR, create_mr, .pdn = 1, .max_num_sg = 1);
    REFUSED(MEM_MGT_EXTENSIONS, MAP_MR_SG, map_mr_sg, .mrn = FAST_MRN, .npages = 1, .length = 1);
}

/* A queue pair of the smallest kind, with what is wrong about it. */
#define QP(why, ...)                                                                               \
    REFUSED(why, CREATE_QP, create_qp, .pdn = 1, .send_cqn = 1, .recv_cqn = 1, __VA_ARGS__)

static void queue_pairs(void **state)
{
    struct machine *m = *state;

    REFUSED(PD_HANDLE, CREATE_QP, create_qp, .pdn = 2, .qp_type = QPT_RC, .send_cqn = 1,
            .recv_cqn = 1);
    REFUSED(QP_SEND_CQ, CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_RC, .send_cqn = 2,
            .recv_cqn = 1);
    REFUSED(QP_RECV_CQ, CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_RC, .send_cqn = 1,
            .recv_cqn = 0);
    QP(QP_SRQ, .qp_type = QPT_RC, .srqn = 2);
    QP(QP_TYPE, .qp_type = QPT_SMI);
    QP(QP_TYPE, .qp_type = 5);
    QP(QP_SIG_TYPE, .qp_type = QPT_RC, .sq_sig_type = 2);
    QP(QP_CREATE_FLAGS, .qp_type = QPT_UD, .create_flags = 4);
    QP(QP_FLAGS_OF_TYPE, .qp_type = QPT_RC, .create_flags = CREATE_BLOCK_SELF_MCAST_LB);
    QP(QP_SEND_WR, .qp_type = QPT_RC, .max_send_wr = stage_limits.max_qp_wr + 1);
    QP(QP_RECV_WR, .qp_type = QPT_RC, .max_recv_wr = stage_limits.max_qp_wr + 1);
    QP(QP_SEND_SGE, .qp_type = QPT_RC, .max_send_sge = stage_limits.max_send_sge + 1);
    QP(QP_RECV_SGE, .qp_type = QPT_RC, .max_recv_sge = stage_limits.max_recv_sge + 1);
    QP(QP_INLINE_DATA, .qp_type = QPT_RC, .max_inline_data = stage_limits.max_inline_data + 1);
    OK(CREATE_QP, create_qp, .pdn = 1, .send_cqn = 1, .recv_cqn = 1, .qp_type = QPT_RC,
       .max_send_wr = stage_limits.max_qp_wr, .max_recv_wr = stage_limits.max_qp_wr,
       .max_send_sge = stage_limits.max_send_sge, .max_recv_sge = stage_limits.max_recv_sge,
       .max_inline_data = stage_limits.max_inline_data);
    assert_int_equal(stage_new_qp(m, QPT_UC), RSP_OK);
    QP(QP_LIMIT, .qp_type = QPT_RC);
    REFUSED(QP_HANDLE, QUERY_QP, query_qp, .qpn = 1);
    assert_int_equal(stage_new_qp(m, QPT_GSI), RSP_OK); /* it takes no number of the others */
    assert_int_equal(machine_number(m), QPN_GSI);
    QP(QP_GSI_LIMIT, .qp_type = QPT_GSI);
    QP(QP_FLAGS_OF_TYPE, .qp_type = QPT_GSI, .create_flags = CREATE_BLOCK_SELF_MCAST_LB);
    REFUSED(QP_HANDLE, QUERY_QP, query_qp, .qpn = 6);
    REFUSED(QP_HANDLE, DESTROY_QP, qp_handle, .qpn = 0);
    REFUSED(QP_HANDLE, MODIFY_QP, modify_qp, .qpn = 6);
}

/* A queue gets another length while nothing is in it. */
static void other_lengths(void **state)
{
    struct machine *m = *state;
    const struct qp *qp = hca_qp(&m->rdma.nic.hca, PAIR_SENDER);
    struct virtio_dev *dev = &m->rdma.pci;
    struct ring rq;

    REFUSED(QP_HANDLE, RESIZE_QP, resize_qp, .qpn = 5, .max_send_wr = 1, .max_recv_wr = 1);
    REFUSED(QP_SEND_WR, RESIZE_QP, resize_qp, .qpn = PAIR_SENDER,
            .max_send_wr = stage_limits.max_qp_wr + 1, .max_recv_wr = 5);
    REFUSED(QP_RECV_WR, RESIZE_QP, resize_qp, .qpn = PAIR_SENDER, .max_send_wr = 4,
            .max_recv_wr = stage_limits.max_qp_wr + 1);
    rq = ring_enable(m, dev, rdma_rq(&m->rdma, PAIR_SENDER));
    ring_post(m, &rq, (const struct seg[]){{BUFFER_AT, 12}}, 1, 0);
    REFUSED(QP_RING_IN_USE, RESIZE_QP, resize_qp, .qpn = PAIR_SENDER, .max_send_wr = 4,
            .max_recv_wr = 8);
    OK(RESIZE_QP, resize_qp, .qpn = PAIR_SENDER, .max_send_wr = 16, .max_recv_wr = 5);
    assert_int_equal(qp->config.max_send_wr, 16);
    machine_out(dev, REG_QUEUE_SELECT, 2, rdma_rq(&m->rdma, PAIR_SENDER));
    machine_out(dev, REG_QUEUE_RESET, 2, 1);
    OK(RESIZE_QP, resize_qp, .qpn = PAIR_SENDER, .max_send_wr = 16, .max_recv_wr = 8);
    assert_int_equal(qp->config.max_recv_wr, 8);
    m->rdma.pci.accepted &= ~VIRTIO_FEATURE(VF_RESIZE);
    REFUSED(COMMAND_UNKNOWN, RESIZE_QP, resize_qp, .qpn = PAIR_SENDER, .max_send_wr = 16,
            .max_recv_wr = 8);
}

/* MODIFY_QP of PAIR_SENDER with all that the move needs and @more, refused because of @why. */
static void move_refused(struct machine *m, const struct rfc_qp_attr *a, uint32_t more,
                         enum refusal_reason why, int line)
{
    const uint64_t before = stage_digest(m);
    const int rsp = machine_modify(m, PAIR_SENDER, machine_mask(a) | more, a);

    was_refused(m, before, rsp, why, line);
}

/* The same with one value of the attributes changed. */
#define BAD(why, to, field, value, more)                                                           \
    do {                                                                                           \
        struct rfc_qp_attr a_ = stage_attr_to(to);                                                 \
                                                                                                   \
        a_.field = (value);                                                                        \
        move_refused(m, &a_, more, REF_##why, __LINE__);                                           \
    } while (0)

static void attributes_of_a_move(void **state)
{
    struct machine *m = *state;
    uint64_t before;

    BAD(QP_MOVE, QPS_RTS, qp_state, QPS_RTS, 0);
    BAD(QP_MOVE, QPS_RTS, qp_state, 7, 0);
    BAD(QP_ATTR_OFFERED, QPS_INIT, qp_state, QPS_INIT, QPA_ALT_PATH);
    BAD(QP_ATTR_OFFERED, QPS_INIT, qp_state, QPS_INIT, QPA_RATE_LIMIT);
    BAD(QP_CUR_STATE, QPS_INIT, cur_qp_state, QPS_RTS, QPA_CUR_STATE);
    BAD(QP_ATTR_EXTRA, QPS_INIT, qp_state, QPS_INIT, QPA_QKEY);
    BAD(QP_ATTR_EXTRA, QPS_INIT, qp_state, QPS_INIT, 1u << 31);
    BAD(PORT_NUMBER, QPS_INIT, port_num, 0, 0);
    BAD(QP_PKEY_INDEX, QPS_INIT, pkey_index, 1, 0);
    BAD(QP_ACCESS_FLAGS, QPS_INIT, qp_access_flags, ACC_MW_BIND, 0);
    before = stage_digest(m);
    was_refused(m, before,
                machine_modify(m, PAIR_SENDER, QPA_STATE | QPA_PORT,
                               &(struct rfc_qp_attr){.qp_state = QPS_INIT, .port_num = 1}),
                REF_QP_ATTR_MISSING, __LINE__);
    MOVE(QPS_INIT);
    BAD(QP_PATH_MTU, QPS_RTR, path_mtu, MTU_2048, 0);
    BAD(QP_PATH_MTU, QPS_RTR, path_mtu, 0, 0);
    BAD(QP_RQ_PSN, QPS_RTR, rq_psn, PSN_MASK + 1, 0);
    BAD(QP_DEST_QPN, QPS_RTR, dest_qp_num, QPN_MAX + 1, 0);
    BAD(QP_DEST_RD_ATOMIC, QPS_RTR, max_dest_rd_atomic, (uint8_t)(stage_limits.max_qp_rd_atom + 1),
        0);
    BAD(QP_RNR_TIMER, QPS_RTR, min_rnr_timer, 32, 0);
    BAD(AV_GRH, QPS_RTR, ah_flags, 0, 0);
    BAD(AV_SGID_INDEX, QPS_RTR, ah_sgid_index, 1, 0);
    BAD(AV_SGID_INDEX, QPS_RTR, ah_sgid_index, HCA_GIDS, 0);
    BAD(AV_SERVICE_LEVEL, QPS_RTR, ah_sl, 16, 0);
    BAD(AV_FLOW_LABEL, QPS_RTR, ah_flow_label, FLOW_LABEL_MAX + 1, 0);
    BAD(PORT_NUMBER, QPS_RTR, ah_port_num, 2, 0);
    BAD(AV_FAMILY, QPS_RTR, ah_dgid[0], 0xfe, 0);
    BAD(AV_GROUP, QPS_RTR, ah_dgid[12], 224, 0);
    m->is_alone = true;
    BAD(AV_FORBIDDEN, QPS_RTR, qp_state, QPS_RTR, 0);
    m->is_alone = false;
    m->rdma.nic.hca.res_rd_atom += 3; /* as if another queue pair had so many */
    BAD(RD_ATOMIC_TOTAL, QPS_RTR, qp_state, QPS_RTR, 0);
    m->rdma.nic.hca.res_rd_atom -= 3;
    MOVE(QPS_RTR);
    assert_int_equal(m->rdma.nic.hca.res_rd_atom, 4);
    BAD(QP_TIMEOUT, QPS_RTS, timeout, 32, 0);
    BAD(QP_RETRY_CNT, QPS_RTS, retry_cnt, 8, 0);
    BAD(QP_RNR_RETRY, QPS_RTS, rnr_retry, 8, 0);
    BAD(QP_SQ_PSN, QPS_RTS, sq_psn, PSN_MASK + 1, 0);
    BAD(QP_RD_ATOMIC, QPS_RTS, max_rd_atomic, (uint8_t)(stage_limits.max_qp_init_rd_atom + 1), 0);
    MOVE(QPS_RTS);
    MOVE(QPS_SQD);
    xport_of(hca_qp(&m->rdma.nic.hca, PAIR_SENDER))->draining = true;
    before = stage_digest(m);
    was_refused(
        m, before,
        machine_modify(m, PAIR_SENDER, QPA_STATE, &(struct rfc_qp_attr){.qp_state = QPS_RTS}),
        REF_QP_DRAINING, __LINE__);
    MOVE(QPS_RESET);
    assert_int_equal(m->rdma.nic.hca.res_rd_atom, 0); /* what it held is free again */
}

static void what_was_not_negotiated(void **state)
{
    struct machine *m = *state;

    m->rdma.pci.accepted &= ~VIRTIO_FEATURE(VF_CREDITS);
    BAD(NOT_NEGOTIATED, QPS_INIT, qp_state, QPS_INIT, QPA_CREDITS);
    m->rdma.pci.accepted &= ~VIRTIO_FEATURE(VF_MW);
    REFUSED(COMMAND_UNKNOWN, ALLOC_MW, alloc_mw, .pdn = 1, .type = MW_TYPE_1);
    m->rdma.pci.accepted &= ~VIRTIO_FEATURE(VF_MCAST);
    REFUSED(COMMAND_UNKNOWN, ATTACH_MCAST, mcast, .qpn = UD_QPN);
    QP(QP_CREATE_FLAGS, .qp_type = QPT_UD, .create_flags = CREATE_BLOCK_SELF_MCAST_LB);
}

static void tables_of_the_port(void **state)
{
    struct machine *m = *state;
    struct rfc_add_gid r = {{0xfd, [15] = 9}, GID_TYPE_ROCE_V2, 0, 1};

    REFUSED(PKEY_INDEX, QUERY_PKEY, query_pkey, .port = 1, .index = 1);
    REFUSED(GID_TYPE, ADD_GID, add_gid, .gid = {0xfd}, .gid_type = 1, .port_num = 1);
    REFUSED(GID_INDEX, ADD_GID, add_gid, .gid = {0xfd}, .gid_type = 2, .index = HCA_GIDS,
            .port_num = 1);
    REFUSED(GID_ADDRESS, ADD_GID, add_gid, .gid_type = 2, .index = 1, .port_num = 1);
    REFUSED(GID_ADDRESS, ADD_GID, add_gid, .gid = {0xff, 0x02}, .gid_type = 2, .port_num = 1);
    REFUSED(PORT_NUMBER, ADD_GID, add_gid, .gid = {0xfd}, .gid_type = 2, .port_num = 2);
    REFUSED(GID_INDEX, DEL_GID, del_gid, .index = HCA_GIDS, .port = 1);
    REFUSED(PORT_NUMBER, DEL_GID, del_gid, .index = 0, .port = 0);
    MOVE(QPS_INIT);
    MOVE(QPS_RTR);
    REFUSED(GID_IN_USE, DEL_GID, del_gid, .index = 0, .port = 1);
    REFUSED(GID_IN_USE, ADD_GID, add_gid, .gid = {0xfd}, .gid_type = 2, .port_num = 1);
    MOVE(QPS_RESET);
    assert_int_equal(machine_ask_add_gid(m, CMD_ADD_GID, &r), RSP_OK);
}

/* Another guest behind the port has registered the GID. */
static void the_multiplexer_of_the_port(void **state)
{
    static const uint8_t gid[GID_BYTES] = {0xfd, [15] = 7};
    struct machine *m = *state;
    struct eswitch sw = {.host = 9};
    struct cm_mux mux;
    bool taken;

    assert_true(cm_mux_init(&mux, m->arena, &m->trace, MUX_full, sw.host));
    assert_int_equal(cm_mux_register(&mux, 5, gid, &taken), MUX_OK);
    sw.mux = &mux;
    m->port.sw = &sw;
    REFUSED(GID_REGISTERED, ADD_GID, add_gid, .gid = {0xfd, [15] = 7}, .gid_type = 2, .index = 3,
            .port_num = 1);
    OK(ADD_GID, add_gid, .gid = {0xfd, [15] = 8}, .gid_type = 2, .index = 3, .port_num = 1);
    assert_int_equal(mux.n_gids, 2);
    OK(ADD_GID, add_gid, .gid = {0xfd, [15] = 8}, .gid_type = 2, .index = 4, .port_num = 1);
    OK(DEL_GID, del_gid, .index = 3, .port = 1);
    assert_int_equal(mux.n_gids, 2); /* the other entry has it */
    OK(ADD_GID, add_gid, .gid = {0xfd, [15] = 9}, .gid_type = 2, .index = 4, .port_num = 1);
    assert_int_equal(mux.n_gids, 2); /* in place of the one before */
    assert_int_equal(
        cm_mux_unregister(&mux, m->rdma.nic.config->host, (uint8_t[GID_BYTES]){0xfd, [15] = 9}),
        MUX_OK);
    m->port.sw = NULL;
    arena_release(m->arena, mux.gids, MUX_GIDS_MAX * sizeof(*mux.gids));
    arena_release(m->arena, mux.ids, MUX_IDS_MAX * sizeof(*mux.ids));
}

static void multicast_groups(void **state)
{
    struct machine *m = *state;

    REFUSED(QP_HANDLE, ATTACH_MCAST, mcast, .gid = {0xff, 0x12}, .qpn = 5);
    REFUSED(GROUP_ADDRESS, ATTACH_MCAST, mcast, .gid = {0xfe, 0x80}, .qpn = UD_QPN);
    REFUSED(GROUP_QP_TYPE, ATTACH_MCAST, mcast, .gid = {0xff, 0x12}, .qpn = PAIR_SENDER);
    assert_int_equal(stage_new_qp(m, QPT_GSI), RSP_OK);
    REFUSED(GROUP_QP_TYPE, ATTACH_MCAST, mcast, .gid = {0xff, 0x12}, .qpn = QPN_GSI);
    REFUSED(GROUP_MEMBER, DETACH_MCAST, mcast, .gid = {0xff, 0x12}, .qpn = UD_QPN);
    assert_int_equal(stage_new_qp(m, QPT_UD), RSP_OK); /* QPN 4 */
    assert_int_equal(stage_new_qp(m, QPT_UD), RSP_OK); /* QPN 5 */
    OK(ATTACH_MCAST, mcast, .gid = {0xff, 0x12, [15] = 1}, .qpn = UD_QPN);
    OK(ATTACH_MCAST, mcast, .gid = {0xff, 0x12, [15] = 1}, .qpn = 4);
    REFUSED(GROUP_QPS, ATTACH_MCAST, mcast, .gid = {0xff, 0x12, [15] = 1}, .qpn = 5);
    OK(ATTACH_MCAST, mcast, .gid = {0xff, 0x12, [15] = 2}, .qpn = UD_QPN);
    REFUSED(GROUP_TOTAL, ATTACH_MCAST, mcast, .gid = {0xff, 0x12, [15] = 2}, .qpn = 4);
    REFUSED(GROUP_LIMIT, ATTACH_MCAST, mcast, .gid = {0xff, 0x12, [15] = 3}, .qpn = 4);
}

static void shared_receive_queues(void **state)
{
    struct machine *m = *state;

    REFUSED(PD_HANDLE, CREATE_SRQ, create_srq, .pdn = 2, .max_wr = 1);
    REFUSED(SRQ_WR, CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 0);
    REFUSED(SRQ_WR, CREATE_SRQ, create_srq, .pdn = 1, .max_wr = stage_limits.max_qp_wr + 1);
    REFUSED(SRQ_SGE, CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 1,
            .max_sge = stage_limits.max_recv_sge + 1);
    REFUSED(SRQ_HANDLE, QUERY_SRQ, srq_handle, .srqn = 2);
    REFUSED(SRQ_HANDLE, DESTROY_SRQ, srq_handle, .srqn = 0);
    REFUSED(SRQ_HANDLE, MODIFY_SRQ, modify_srq, .srqn = 2, .attr_mask = SRQ_LIMIT);
    REFUSED(SRQ_ATTR_OFFERED, MODIFY_SRQ, modify_srq, .srqn = 1, .attr_mask = SRQ_MAX_WR);
    REFUSED(SRQ_ATTR_MASK, MODIFY_SRQ, modify_srq, .srqn = 1, .attr_mask = 4);
    REFUSED(SRQ_ARMED_LIMIT, MODIFY_SRQ, modify_srq, .srqn = 1, .attr_mask = SRQ_LIMIT, .limit = 9);
    OK(CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .srqn = 1);
    REFUSED(SRQ_IN_USE, DESTROY_SRQ, srq_handle, .srqn = 1);
    OK(CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 1);
    REFUSED(SRQ_LIMIT, CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 1);
}

static void no_reason_was_left_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < enum_refusal.n_rows; i++) {
        const struct enum_row *row = &enum_refusal.rows[i];

        if (row->value >= REF_RING_SLOTS)
            continue; /* of PVRDMA: test_pvrdma.c */
        /* The arena of a test does not end: check_memory.py sees to that. */
        if (row->value != REF_NONE && row->value != REF_DEVICE_MEMORY && !seen[row->value])
            fail_msg("%s", row->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_without_a_form, stage_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(domains_and_completion_queues, stage_set_up,
                                        machine_tear_down),
        cmocka_unit_test_setup_teardown(user_regions, stage_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(fast_regions_and_windows, stage_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(queue_pairs, stage_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(other_lengths, stage_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(attributes_of_a_move, stage_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(what_was_not_negotiated, stage_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(tables_of_the_port, stage_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(the_multiplexer_of_the_port, stage_set_up,
                                        machine_tear_down),
        cmocka_unit_test_setup_teardown(multicast_groups, stage_set_up, machine_tear_down),
        cmocka_unit_test_setup_teardown(shared_receive_queues, stage_set_up, machine_tear_down),
        cmocka_unit_test(no_reason_was_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
